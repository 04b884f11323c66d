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
from d2lrnn.model import RNNLM, map_state

__all__ = ["CudaGraph", "record_cuda_graph"]

#: Inputs, targets and state give loss and next state.
_Step = Callable[[torch.Tensor, torch.Tensor, State | None], tuple[float, State]]


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
    """The engine: the model's own forward and backward pass, captured for each shape of minibatch and state.

    No state is a case of its own: what a model begins with need not be zeros, and may be learned. Clipping and update
    are not in the graph, because they must know whether the loss is finite.

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
        self._captured: dict[tuple[torch.Size, ...], _Step] = {}

    def __call__(self, X: torch.Tensor, Y: torch.Tensor, state: State | None) -> tuple[float, State]:
        shapes = X.shape, *(part.shape for part in _parts(state))
        if shapes not in self._captured:
            self._captured[shapes] = self._capture(X, Y, state)
        return self._captured[shapes](X, Y, state)

    def _capture(self, X: torch.Tensor, Y: torch.Tensor, state: State | None) -> _Step:
        """Give inputs, states and loss their memory, and record the step between them."""
        inputs, targets = X.clone(), Y.clone()
        before = None if state is None else map_state(torch.clone, state)
        # These runs draw random numbers (dropout) that no training step has seen.
        random = torch.cuda.get_rng_state(X.device) if X.is_cuda else torch.get_rng_state()
        with torch.no_grad():
            after = map_state(torch.zeros_like, self.model(inputs, before)[1])
        mean_loss = torch.zeros((), dtype=self.grad.dtype, device=X.device)

        def task() -> None:
            logits, state = self.model(inputs, before)
            loss = self.model.loss(logits, targets)
            self.grad.zero_()
            loss.backward()
            for memory, part in zip(_parts(after), _parts(state)):
                memory.copy_(part.detach())
            mean_loss.copy_(loss.detach())

        if X.is_cuda:
            with torch.cuda.device(X.device):
                replay = self._record(task)
            torch.cuda.set_rng_state(random, X.device)
        else:
            replay = self._record(task)
            torch.set_rng_state(random)

        def step(X: torch.Tensor, Y: torch.Tensor, state: State | None) -> tuple[float, State]:
            inputs.copy_(X)
            targets.copy_(Y)
            for memory, part in zip(_parts(before), _parts(state)):
                memory.copy_(part)
            replay()
            return mean_loss.item(), map_state(torch.clone, after)

        return step


def _parts(state: State | None) -> tuple[torch.Tensor, ...]:
    return state if isinstance(state, tuple) else () if state is None else (state,)
