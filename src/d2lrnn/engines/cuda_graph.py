"""Capture a training step as a CUDA graph and replay it: for small networks, whose time on a GPU is kernel launches.

On a GPU every operation is a kernel that the processor launches, and a launch costs some microseconds whatever the
kernel does. The step of a small recurrent network is hundreds of launches of next to no work: it is *launch-bound*.
CUDA can capture a sequence of kernels and launch all of them at once. What is captured is memory and operations, so
minibatches have one shape, and inputs, state and gradients each keep their memory.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from d2lrnn.layers import State
from d2lrnn.model import RNNLM

__all__ = ["CudaGraph", "record_cuda_graph"]


def record_cuda_graph(task: Callable[[], None]) -> Callable[[], None]:
    """Capture what `task` does on the current CUDA device, and return what replays it.

    Parameters
    ----------
    task : callable
        Always the same operations on the same memory, no look at a result, all on one CUDA device. It is run a few
        times while recording.

    Returns
    -------
    callable
        Replays the graph.

    Notes
    -----
    The warm-up on a stream of its own is what torch's documentation of CUDA graphs asks for, so that libraries have set
    themselves up and autograd's buffers exist before the capture begins.
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


class CudaGraph:
    """The engine: the model's own forward and backward pass, captured for each shape of minibatch.

    Clipping and update are not in the graph, because they must know whether the loss is finite.

    Parameters
    ----------
    model : RNNLM
        On a CUDA device, with a ``grad`` for each parameter.
    grad : Tensor, shape (num_weights,)
        The flat gradient, of which those are views.
    record : callable, default :func:`record_cuda_graph`
        Turns the step into what repeats it.
    """

    name = "cuda-graph"

    def __init__(
        self,
        model: RNNLM,
        grad: torch.Tensor,
        record: Callable[[Callable[[], None]], Callable[[], None]] = record_cuda_graph,
    ) -> None:
        self.model, self.grad = model, grad
        self._record = record
        self._shape: torch.Size | None = None

    def __call__(self, X: torch.Tensor, Y: torch.Tensor, state: State | None) -> tuple[float, State]:
        if X.shape != self._shape:
            self._capture(X, Y)
        self._X.copy_(X)
        self._Y.copy_(Y)
        parts = state if isinstance(state, tuple) else (state,) * len(self._before)
        for memory, part in zip(self._before, parts):
            if part is None:
                memory.zero_()
            elif part.shape != memory.shape:
                raise ValueError(
                    f"the state has shape {tuple(part.shape)}; expected {tuple(memory.shape)}: one row for each "
                    "sequence of the batch. Start with None when the batch changes."
                )
            else:
                memory.copy_(part)
        self._replay()
        after = tuple(part.clone() for part in self._after)
        return self._loss.item(), after if self._is_pair else after[0]

    def _capture(self, X: torch.Tensor, Y: torch.Tensor) -> None:
        """Give inputs, states and loss their memory, and record the step between them."""
        self._X, self._Y = X.clone(), Y.clone()
        # These runs draw random numbers (dropout) that no training step has seen.
        random = torch.cuda.get_rng_state(X.device) if X.is_cuda else torch.get_rng_state()
        with torch.no_grad():
            _, state = self.model(X)
        self._is_pair = isinstance(state, tuple)
        self._before = [torch.zeros_like(part) for part in (state if self._is_pair else (state,))]
        self._after = [torch.zeros_like(part) for part in self._before]
        self._loss = torch.zeros((), dtype=self.grad.dtype, device=X.device)

        def task() -> None:
            logits, state = self.model(self._X, tuple(self._before) if self._is_pair else self._before[0])
            loss = self.model.loss(logits, self._Y)
            self.grad.zero_()
            loss.backward()
            for memory, part in zip(self._after, state if self._is_pair else (state,)):
                memory.copy_(part.detach())
            self._loss.copy_(loss.detach())

        if X.is_cuda:
            with torch.cuda.device(X.device):
                self._replay = self._record(task)
            torch.cuda.set_rng_state(random, X.device)
        else:
            self._replay = self._record(task)
            torch.set_rng_state(random)
        self._shape = X.shape
