"""One training step behind one small interface: loss, gradient, clipping, update, and the state that goes on.

:func:`make_stepper` picks the engine. Whatever it is, all weights lie in one flat vector while it works, so that the
gradient's norm, clipping and the update are a few operations each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import nn

from d2lrnn.engines.closed_form import Buffers, Weights, loss_and_gradients, threads_for
from d2lrnn.engines.cuda_graph import record_cuda_graph
from d2lrnn.model import RNNLM, State, closed_form_weights, detach_state, no_closed_form
from d2lrnn.optim import SGD, AdamW

__all__ = ["AutogradStepper", "ClosedFormStepper", "FlatParameters", "GraphedStepper", "Stepper", "make_stepper"]

Engine = Literal["auto", "autograd", "closed-form", "cuda-graph"]


class FlatParameters:
    """All trainable weights of a model as one vector, and their gradients as another, for as long as a ``with`` lasts.

    Inside, each parameter and its ``grad`` are views of their part; the parts do not overlap, and what two modules
    share is there once. Afterwards each parameter has memory of its own again, with the values of that moment, and no
    ``grad``.

    Parameters
    ----------
    model : nn.Module
        On any device.

    Attributes
    ----------
    data, grad : Tensor, shape (num_weights,)
        Between the parts there may be a few zeros, so that each begins where processors like it.

    Raises
    ------
    ValueError
        If there is nothing to train, or the parameters are of different types or on different devices.

    Examples
    --------
    >>> model = nn.Linear(2, 1)
    >>> with FlatParameters(model) as flat:
    ...     _ = flat.data.fill_(0.5)
    >>> model.weight.tolist(), model.bias.tolist()
    ([[0.5, 0.5]], [0.5])
    """

    _ALIGN_BYTES = 64

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._packed = _packed_as_cudnn_wants(model)
        self._parameters = [p for p in dict.fromkeys([*self._packed, *model.parameters()]) if p.requires_grad]
        if not self._parameters:
            raise ValueError("The model has no parameter that requires a gradient; there is nothing to train.")
        kinds = {(p.dtype, p.device) for p in self._parameters}
        if len(kinds) > 1:
            words = ", ".join(sorted(f"{dtype} on {device}" for dtype, device in kinds))
            raise ValueError(f"The parameters differ in type or device ({words}); bring them together: model.to(...).")

    def __enter__(self) -> FlatParameters:
        first = self._parameters[0]
        unit = max(1, self._ALIGN_BYTES // first.element_size())
        places, end = [], 0
        for number, parameter in enumerate(self._parameters):
            if number >= len(self._packed):
                end = -(-end // unit) * unit  # rounded up
            places.append(slice(end, end + parameter.numel()))
            end += parameter.numel()
        self.data = torch.zeros(end, dtype=first.dtype, device=first.device)
        self.grad = torch.zeros_like(self.data)
        for parameter, place in zip(self._parameters, places):
            self.data[place] = parameter.detach().reshape(-1)
            parameter.data = self.data[place].view(parameter.shape)
            parameter.grad = self.grad[place].view(parameter.shape)
        return self

    def __exit__(self, *_: object) -> None:
        for parameter in self._parameters:
            parameter.data = parameter.detach().clone()
            parameter.grad = None
        for layer in _torchs_own_layers(self._model):
            layer.flatten_parameters()  # on a GPU cuDNN's layers have one memory for all that is theirs


def _torchs_own_layers(model: nn.Module) -> list[nn.RNNBase]:
    return [module for module in model.modules() if isinstance(module, nn.RNNBase)]


def _packed_as_cudnn_wants(model: nn.Module) -> list[nn.Parameter]:
    """The parameters of the model's one layer of torch's own: at the very beginning, without gaps, matrices before
    biases. Found otherwise, cuDNN copies them together at every call, and torch warns."""
    layers = _torchs_own_layers(model)
    parameters = list(layers[0].parameters()) if len(layers) == 1 else []
    return sorted(parameters, key=lambda p: p.dim() == 1) if all(p.requires_grad for p in parameters) else []


class Stepper:
    """What every engine does alike; a subclass says how loss and gradients come about.

    A context manager: the model's weights are flat inside, see :class:`FlatParameters`.

    Parameters
    ----------
    model : nn.Module
        Trained in place.
    optimizer : "adamw" or "sgd"
    clip : float or None
        Greatest global gradient norm.

    Attributes
    ----------
    state : Tensor, tuple of Tensors, or None
        With which the next step begins, cut off from the gradient; None for zeros. May be set.
    average : callable or None
        Where several processes train together: takes this one's flat gradient and loss, leaves everyone's mean in the
        gradient, and returns everyone's mean loss. See :mod:`d2lrnn.ops.ranks`.
    flat : FlatParameters
    optimizer : SGD or AdamW
        There from the beginning of the ``with``.

    Raises
    ------
    ValueError
        If a setting is out of range or nothing can be trained.
    """

    def __init__(self, model: RNNLM, *, optimizer: str = "adamw", clip: float | None = 1.0) -> None:
        if optimizer not in ("sgd", "adamw"):
            raise ValueError(f"optimizer is {optimizer!r}; it must be 'sgd' or 'adamw'.")
        self.model = model
        self.max_norm = math.inf if clip is None else clip
        self.flat = FlatParameters(model)
        self._make_optimizer = SGD if optimizer == "sgd" else AdamW
        self.state: State | None = None
        self.average: Callable[[torch.Tensor, float], float] | None = None

    def __enter__(self) -> Any:
        self.flat.__enter__()
        self.optimizer: SGD | AdamW = self._make_optimizer(self.flat.data)
        return self

    def __exit__(self, *error: object) -> None:
        self.flat.__exit__(*error)

    def reset_state(self) -> None:
        """The next step begins with zeros."""
        self.state = None

    def step(self, X: torch.Tensor, Y: torch.Tensor, lr: float, momentum: float | None = None) -> tuple[float, float]:
        """Learn from one minibatch.

        Parameters
        ----------
        X, Y : integer Tensors, each of shape (batch_size, num_steps)
            On the model's device.
        lr : float
        momentum : float, optional
            Of this step, see :func:`d2lrnn.optim.cycled_momentum`.

        Returns
        -------
        loss_nats : float
            Mean over the minibatch, before the update.
        grad_norm : float
            Before clipping. Where it or the loss is not finite, weights and state are as before.
        """
        loss_nats, state = self._loss_and_gradients(X, Y)
        grad = self.flat.grad
        if self.average is not None:  # before clipping: it is the whole minibatch's gradient that must not be too long
            loss_nats = self.average(grad, loss_nats)
        grad_norm = math.sqrt(torch.dot(grad, grad))  # on one long vector faster than a function for norms
        if math.isfinite(loss_nats) and math.isfinite(grad_norm):
            if grad_norm > self.max_norm:
                grad.mul_(self.max_norm / grad_norm)
            self.optimizer.update(grad, lr, momentum)
            self.state = state
        return loss_nats, grad_norm

    def _loss_and_gradients(self, X: torch.Tensor, Y: torch.Tensor) -> tuple[float, State]:
        """Mean loss in nats, and the state after the last step; the gradients stand in ``self.flat.grad``."""
        raise NotImplementedError


class AutogradStepper(Stepper):
    """Any model that takes ``(X, state)`` and has a ``loss``, on any device: the gradients are autograd's."""

    def _loss_and_gradients(self, X: torch.Tensor, Y: torch.Tensor) -> tuple[float, State]:
        logits, state = self.model(X, self.state)
        loss = self.model.loss(logits, Y)
        self.flat.grad.zero_()
        loss.backward()  # adds into the views
        # Truncation: the state's value goes on into the next window, its gradient does not.
        return loss.item(), detach_state(state)


class ClosedFormStepper(Stepper):
    """The tanh language model on the CPU by :func:`d2lrnn.engines.closed_form.loss_and_gradients`.

    Small networks run in one thread, unless the batch is large (torch's setting comes back at the end).
    """

    def __init__(self, model: RNNLM, *, optimizer: str = "adamw", clip: float | None = 1.0) -> None:
        super().__init__(model, optimizer=optimizer, clip=clip)
        if reason := no_closed_form(model):
            raise ValueError(f"There is no closed form for this model: {reason}. Take engine='auto' or 'autograd'.")
        self._room: Buffers | None = None

    def __enter__(self) -> Any:
        super().__enter__()
        weights = closed_form_weights(self.model)
        self._grads = Weights(*(None if weight is None else weight.grad for weight in weights))
        self._weights = Weights(*(None if weight is None else weight.detach() for weight in weights))
        self._threads = threads_for(len(weights.W_hh))
        self._threads.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._threads.__exit__(None, None, None)
        super().__exit__(*error)

    def _loss_and_gradients(self, X: torch.Tensor, Y: torch.Tensor) -> tuple[float, State]:
        if X.shape != Y.shape or X.dim() != 2 or X.is_floating_point() or Y.is_floating_point():
            raise ValueError(
                f"X is {X.dtype} of shape {tuple(X.shape)} and Y {Y.dtype} of shape {tuple(Y.shape)}; "
                "expected integers, both of shape (batch_size, num_steps)."
            )
        if self._room is None or self._room.shape != X.shape:
            self._room = Buffers(self._weights, *X.shape)
            self._threads.__exit__(None, None, None)
            self._threads = threads_for(len(self._weights.W_hh), len(X))
            self._threads.__enter__()
        first, last = self._room.first_state, self._room.last_state
        if self.state is None:
            first.zero_()
        elif self.state.shape != first.shape:
            raise ValueError(
                f"the state has shape {tuple(self.state.shape)}; expected {tuple(first.shape)}: one row for each "
                "sequence of the batch. Start with None when the batch changes."
            )
        else:
            first.copy_(self.state)
        loss_nats = loss_and_gradients(self._weights, self._grads, X, Y, self._room)
        return loss_nats, last.clone()


class GraphedStepper(Stepper):
    """Any language model on a CUDA device: forward and backward pass are one recorded graph.

    Clipping and update follow as in every :class:`Stepper`, since they must know whether the loss is finite.

    Parameters
    ----------
    model, optimizer, clip
        As for :class:`Stepper`.
    record : callable, default :func:`record_cuda_graph`
        Turns the step into what repeats it.

    Raises
    ------
    ValueError
        If the model is not on a CUDA device, or a setting is out of range.

    Examples
    --------
    >>> from d2lrnn import RNNScratch
    >>> GraphedStepper(RNNLM(RNNScratch(3, 4), vocab_size=3))
    Traceback (most recent call last):
    ValueError: The model is on cpu; a CUDA graph needs it on a CUDA device. Take engine='auto'.
    """

    def __init__(
        self,
        model: RNNLM,
        *,
        optimizer: str = "adamw",
        clip: float | None = 1.0,
        record: Callable[[Callable[[], None]], Callable[[], None]] = record_cuda_graph,
    ) -> None:
        super().__init__(model, optimizer=optimizer, clip=clip)
        if record is record_cuda_graph and model.device.type != "cuda":
            raise ValueError(
                f"The model is on {model.device}; a CUDA graph needs it on a CUDA device. Take engine='auto'."
            )
        self._record = record
        self._shape: torch.Size | None = None

    def _prepare(self, X: torch.Tensor, Y: torch.Tensor) -> None:
        """Give inputs, states and loss their places, and record the step between them."""
        self._shape = X.shape
        self._X, self._Y = X.clone(), Y.clone()
        with torch.no_grad():
            _, state = self.model(X)
        pair = isinstance(state, tuple)
        self._before = [torch.zeros_like(part) for part in (state if pair else (state,))]
        self._after = [torch.zeros_like(part) for part in self._before]
        self._loss = torch.zeros((), dtype=self.flat.grad.dtype, device=X.device)

        def task() -> None:
            logits, state = self.model(self._X, tuple(self._before) if pair else self._before[0])
            loss = self.model.loss(logits, self._Y)
            self.flat.grad.zero_()
            loss.backward()
            state = detach_state(state)
            for place, part in zip(self._after, state if pair else (state,)):
                place.copy_(part)
            self._loss.copy_(loss.detach())

        self._replay = self._record(task)

    def _loss_and_gradients(self, X: torch.Tensor, Y: torch.Tensor) -> tuple[float, State]:
        if X.shape != self._shape:
            self._prepare(X, Y)
        self._X.copy_(X)
        self._Y.copy_(Y)
        if self.state is None:
            for place in self._before:
                place.zero_()
        else:
            for place, part in zip(self._before, self.state if isinstance(self.state, tuple) else (self.state,)):
                if part.shape != place.shape:
                    raise ValueError(
                        f"the state has shape {tuple(part.shape)}; expected {tuple(place.shape)}: one row for each "
                        "sequence of the batch. Start with None when the batch changes."
                    )
                place.copy_(part)
        self._replay()
        after = tuple(part.clone() for part in self._after)
        return self._loss.item(), after if len(after) > 1 else after[0]


def make_stepper(
    model: RNNLM, *, optimizer: str = "adamw", clip: float | None = 1.0, engine: Engine = "auto"
) -> Stepper:
    """The stepper that suits a model.

    Parameters
    ----------
    model : RNNLM
        On the device where it is to be trained.
    optimizer, clip
        As for :class:`Stepper`.
    engine : "auto", "autograd", "closed-form" or "cuda-graph"
        ``"auto"`` takes the closed form where there is one (the tanh model from scratch, on the CPU), else autograd.
        ``"cuda-graph"`` records autograd's step on a GPU and replays it. All give the same numbers but for rounding.

    Returns
    -------
    Stepper
        To be used in a ``with``.

    Raises
    ------
    ValueError
        If a setting is out of range, or there is no closed form for the model and it was asked for.

    Examples
    --------
    >>> from d2lrnn import RNNLM, RNNScratch
    >>> X, Y = torch.tensor([[0, 1]]), torch.tensor([[1, 2]])
    >>> with make_stepper(RNNLM(RNNScratch(3, 4), vocab_size=3)) as stepper:
    ...     losses = [stepper.step(X, Y, lr=0.1)[0] for _ in range(2)]
    >>> losses[1] < losses[0], type(stepper).__name__
    (True, 'ClosedFormStepper')
    """
    if engine not in ("auto", "autograd", "closed-form", "cuda-graph"):
        raise ValueError(f"engine is {engine!r}; it must be 'auto', 'autograd', 'closed-form' or 'cuda-graph'.")
    if engine == "cuda-graph":
        return GraphedStepper(model, optimizer=optimizer, clip=clip)
    closed_form = engine == "closed-form" or (engine == "auto" and no_closed_form(model) is None)
    return (ClosedFormStepper if closed_form else AutogradStepper)(model, optimizer=optimizer, clip=clip)
