"""Record what a GPU does once, and replay it: for small networks, which keep a GPU waiting for its next order.

On a GPU every operation is an order given by the processor, and an order costs some microseconds whatever it asks for.
The step of a small recurrent network is hundreds of orders of next to no work. CUDA can record a sequence of orders and
give them all with one: a *CUDA graph*. What is recorded is memory and operations, so minibatches have one shape, and
inputs, state and gradients each keep their place.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

__all__ = ["record_cuda_graph"]


def record_cuda_graph(task: Callable[[], None]) -> Callable[[], None]:
    """Record what `task` does on the GPU, and return what does it again.

    Parameters
    ----------
    task : callable
        Always the same operations on the same memory, no look at a result, all on one CUDA device. It is run a few
        times while recording.

    Returns
    -------
    callable
        Replays the record.

    Notes
    -----
    The warm-up on a stream of its own is what torch's documentation of CUDA graphs asks for, so that libraries have set
    themselves up and autograd's buffers exist before the recording begins.
    """
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            task()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        task()
    return graph.replay
