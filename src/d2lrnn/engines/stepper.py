"""One training step: an engine gives loss and gradients, then clipping and update, whatever the engine."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Literal, NamedTuple, Protocol

import torch

from d2lrnn import optim
from d2lrnn.engines.closed_form import ClosedForm
from d2lrnn.engines.cuda_graph import CudaGraph
from d2lrnn.engines.eligible import why_not
from d2lrnn.engines.flat import FlatParameters
from d2lrnn.layers import State
from d2lrnn.model import RNNLM, evaluating, map_state

__all__ = ["Autograd", "Engine", "EngineName", "SelfChecked", "Step", "Stepper"]

EngineName = Literal["auto", "autograd", "closed-form", "cuda-graph"]
OptimizerName = Literal["adamw", "sgd"]


class Step(NamedTuple):
    """What one training step came to: mean loss before the update, gradient norm before clipping."""

    loss_nats: float
    grad_norm: float

    @property
    def is_finite(self) -> bool:
        return math.isfinite(self.loss_nats) and math.isfinite(self.grad_norm)


class Engine(Protocol):
    """Computes the mean loss of a minibatch in nats, its gradients, which it leaves in the parameters' ``grad``, and
    the state after the last step, cut off from the gradient."""

    def __call__(self, X: torch.Tensor, Y: torch.Tensor, state: State | None) -> tuple[float, State]: ...


class Autograd:
    """Any model that takes ``(X, state)`` and has a ``loss``, on any device."""

    def __init__(self, model: RNNLM, grad: torch.Tensor) -> None:
        self.model, self.grad = model, grad

    def __call__(self, X: torch.Tensor, Y: torch.Tensor, state: State | None) -> tuple[float, State]:
        logits, state = self.model(X, state)
        loss = self.model.loss(logits, Y)
        self.grad.zero_()
        loss.backward()  # adds into the parameters' grad, which are views of this one
        # Truncation: the state's value goes on into the next window, its gradient does not.
        return loss.item(), map_state(torch.Tensor.detach, state)


class SelfChecked:
    """A fast engine that compares itself with autograd on its first minibatch, and steps aside where it differs.

    What a reader changes in the model changes what is trained: a fast engine does the package's mathematics and nothing
    else, so it has to prove that the model still does the same.
    """

    def __init__(self, name: str, fast: Engine, autograd: Autograd) -> None:
        self.name, self._engine, self._fast, self._autograd = name, self._first_minibatch, fast, autograd

    def __call__(self, X: torch.Tensor, Y: torch.Tensor, state: State | None) -> tuple[float, State]:
        return self._engine(X, Y, state)

    def _first_minibatch(self, X: torch.Tensor, Y: torch.Tensor, state: State | None) -> tuple[float, State]:
        grad = self._autograd.grad
        loss, after = self._fast(X, Y, state)
        fast = grad.clone()
        expected_loss, expected_after = self._autograd(X, Y, state)
        if not (math.isfinite(loss + expected_loss) and (torch.dot(fast, fast) + torch.dot(grad, grad)).isfinite()):
            return expected_loss, expected_after  # the training diverges: nothing can be compared
        losses_agree = same(grad.new_tensor(loss), grad.new_tensor(expected_loss))
        if losses_agree and same(fast, grad) and same(after, expected_after):
            self._engine = self._fast
            grad.copy_(fast)
            return loss, after
        warnings.warn(
            f"The engine {self.name!r} and the model's own forward pass give different numbers (loss {loss:.6g} and "
            f"{expected_loss:.6g}, gradient norm {fast.norm():.6g} and {grad.norm():.6g}): training goes on by "
            "autograd, which runs the model as it is written.",
            stacklevel=5,
        )
        self.name, self._engine = "autograd", self._autograd
        return expected_loss, expected_after


def same(fast: State, expected: State) -> bool:
    """Whether two results are equal up to the rounding of their type.

    >>> same(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0 + 1e-6])), same(torch.zeros(2), torch.ones(2))
    (True, False)
    """
    if isinstance(expected, tuple) or isinstance(fast, tuple):
        return type(fast) is type(expected) and len(fast) == len(expected) and all(map(same, fast, expected))
    if fast.shape != expected.shape:
        return False
    tolerance = 1e-9 if expected.dtype == torch.float64 else 1e-4
    fast, expected = fast.double(), expected.double()
    return float((fast - expected).norm()) <= tolerance * float(expected.norm()) + tolerance**2


class Stepper:
    """Learns from one minibatch after the other. A context manager: the model's weights are flat inside.

    Parameters
    ----------
    model : RNNLM
        Trained in place, on the device where it is.
    optimizer : "adamw", "sgd", or a callable
        A callable takes the flat vector of weights and returns a :class:`d2lrnn.optim.Optimizer`, for example
        ``lambda weights: d2lrnn.optim.AdamW(weights, weight_decay=0)``.
    clip : float or None
        Greatest global gradient norm.
    engine : "auto", "autograd", "closed-form" or "cuda-graph"
        ``"auto"`` takes the closed form where there is one (the tanh model from scratch, on the CPU), else autograd.
        ``"cuda-graph"`` records autograd's step on a GPU and replays it. All give the same numbers but for rounding;
        the closed form proves that on the first minibatch (:class:`SelfChecked`), a recording is not compared.

    Attributes
    ----------
    state : State or None
        With which the next step begins; None for what the layer begins with by itself, mostly zeros. May be set.
    reduce : callable
        Where several processes train together: takes this one's flat gradient and loss, leaves everyone's mean in the
        gradient, and returns everyone's mean loss.
    flat : FlatParameters
    optimizer : Optimizer
        There from the beginning of the ``with``.

    Raises
    ------
    ValueError
        If a setting is out of range, or there is no closed form for the model and it was asked for.
    TypeError
        If the optimiser is of another kind.

    Examples
    --------
    >>> from d2lrnn import RNNScratch
    >>> X, Y = torch.tensor([[0, 1]]), torch.tensor([[1, 2]])
    >>> with Stepper(RNNLM(RNNScratch(3, 4), vocab_size=3)) as stepper:
    ...     losses = [stepper(X, Y, lr=0.1).loss_nats for _ in range(2)]
    >>> losses[1] < losses[0], stepper.engine_name
    (True, 'closed-form')
    """

    def __init__(
        self,
        model: RNNLM,
        *,
        optimizer: OptimizerName | Callable[[torch.Tensor], optim.Optimizer] = "adamw",
        clip: float | None = 1.0,
        engine: EngineName = "auto",
    ) -> None:
        self.model = model
        self.max_norm = math.inf if clip is None else clip
        self.flat = FlatParameters(model)
        self.state: State | None = None
        self.reduce: Callable[[torch.Tensor, float], float] = lambda grad, loss_nats: loss_nats
        self._make_optimizer = _optimizer(optimizer)
        self._engine_name, self._why_autograd = _choose_engine(model, engine)
        self._forward_checked = False
        self._stack = ExitStack()

    def __enter__(self) -> Stepper:
        with ExitStack() as stack:
            stack.enter_context(self.flat)
            self.optimizer = self._make_optimizer(self.flat.data)
            if not callable(getattr(self.optimizer, "update", None)):
                raise TypeError(
                    f"The callable optimizer made a {type(self.optimizer).__name__}, which has no update(grad, lr, "
                    f"momentum); {_EXPECTED}"
                )
            self._autograd = Autograd(self.model, self.flat.grad)
            if self._engine_name == "closed-form":
                self._closed_form = stack.enter_context(ClosedForm(self.model))
                self.engine: Engine = SelfChecked("closed-form", self._closed_form, self._autograd)
            elif self._engine_name == "cuda-graph":
                self.engine = CudaGraph(self.model, self.flat.grad)  # records what the model does when it is recorded
            else:
                self.engine = self._autograd
            self._stack = stack.pop_all()
        return self

    def check_engine(self) -> None:
        """Leave the work to autograd from here on, if somebody has changed the model since the closed form was chosen.

        `fit` asks for it at the beginning of every epoch.
        """
        if self._engine_name == "closed-form" and (reason := why_not(self.model)):
            self._engine_name, self._why_autograd, self.engine = "autograd", reason, self._autograd

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def engine_name(self) -> str:
        """Who computes the gradients, and why it is autograd where that is a change of the model's."""
        name = getattr(self.engine, "name", "autograd")
        return f"autograd ({self._why_autograd})" if name == "autograd" and self._why_autograd else name

    def __call__(self, X: torch.Tensor, Y: torch.Tensor, lr: float, momentum: float | None = None) -> Step:
        """Learn from inputs and targets, each of shape (batch_size, num_steps), on the model's device.

        Where the loss or the gradient is not finite, weights and state stay as they were.
        """
        loss_nats, state = self.engine(X, Y, self.state)
        loss_nats = self.reduce(self.flat.grad, loss_nats)
        step = Step(loss_nats, optim.clip_gradients([self.flat], self.max_norm))
        if step.is_finite:
            self.optimizer.update(self.flat.grad, lr, momentum)
            self.state = state
        return step

    def forward(self, X: torch.Tensor, state: State | None) -> tuple[torch.Tensor, State]:
        """The model's forward pass for scoring, by a faster way that has proven itself on the first piece."""
        if self._engine_name != "closed-form":
            return self.model(X, state)
        logits, after = self._closed_form.forward(X, state)
        if not self._forward_checked:
            with evaluating(self.model):
                expected, expected_after = self.model(X, state)
            if not (same(logits, expected) and same(after, expected_after)):
                self._engine_name = "autograd"
                return expected, expected_after
            self._forward_checked = True
        return logits, after


def _choose_engine(model: RNNLM, engine: str) -> tuple[str, str | None]:
    """The engine's name, and why it is autograd where a model of the closed form's kind has been changed."""
    if engine not in ("auto", "autograd", "closed-form", "cuda-graph"):
        raise ValueError(f"engine is {engine!r}; it must be 'auto', 'autograd', 'closed-form' or 'cuda-graph'.")
    if engine == "cuda-graph" and model.device.type != "cuda":
        raise ValueError(f"The model is on {model.device}; a CUDA graph needs it on a CUDA device. Take engine='auto'.")
    reason = why_not(model)
    if engine == "closed-form" and reason:
        raise ValueError(f"There is no closed form for this model: {reason}. Take engine='auto' or 'autograd'.")
    if engine == "auto":
        return ("autograd", reason) if reason else ("closed-form", None)
    return engine, None


_EXPECTED = (
    "expected 'adamw', 'sgd', or a callable that makes a d2lrnn.optim.Optimizer from the flat vector of weights, such "
    "as lambda weights: d2lrnn.optim.AdamW(weights, weight_decay=0). Those of torch.optim have another interface."
)


def _optimizer(optimizer: Any) -> Callable[[torch.Tensor], optim.Optimizer]:
    is_torchs = isinstance(optimizer, type) and issubclass(optimizer, torch.optim.Optimizer)
    if callable(optimizer) and not is_torchs:
        return optimizer
    known = {"adamw": optim.AdamW, "sgd": optim.SGD}
    if not isinstance(optimizer, str):
        name = f"torch's {optimizer.__name__}" if is_torchs else f"a {type(optimizer).__name__}"
        raise TypeError(f"optimizer is {name}; {_EXPECTED}")
    if optimizer not in known:
        raise ValueError(f"optimizer is {optimizer!r}; it must be 'sgd' or 'adamw'.")
    return known[optimizer]
