r"""Gradient descent and AdamW on one long vector of weights, clipping, and the learning rate along a run.

While it trains, all weights of a model lie in one flat tensor, so an update is a handful of operations whatever the
number of matrices, on the CPU and on a GPU. Results are those of ``torch.optim`` to float32 rounding. There the
first optimiser of a process has to wait until ``torch._dynamo`` is imported, a second or more in every kernel.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal, Protocol

import torch

__all__ = ["SGD", "AdamW", "Optimizer", "clip_gradients", "cycled_momentum", "learning_rate"]

Schedule = Literal["constant", "one-cycle"]

# Of the one-cycle schedule: torch's defaults.
_RISE = 0.3  # share of the steps
_START_DIVISOR, _END_DIVISOR = 25.0, 1e4
_MOMENTUM_LOW, _MOMENTUM_HIGH = 0.85, 0.95


class Optimizer(Protocol):
    """What `fit` asks of an optimiser: made with the flat vector of weights, which it updates in place.

    Only :class:`d2lrnn.Checkpointing` needs ``state_dict`` and ``load_state_dict``.

    Examples
    --------
    >>> class SignSGD:  # an optimiser of your own: every weight moves by lr, in the direction of its gradient
    ...     def __init__(self, weights):
    ...         self.weights = weights
    ...     def update(self, grad, lr, momentum=None):
    ...         self.weights -= lr * grad.sign()
    """

    def update(self, grad: torch.Tensor, lr: float, momentum: float | None = None) -> None: ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state: dict[str, Any]) -> None: ...


class HasGrad(Protocol):
    @property
    def grad(self) -> torch.Tensor | None: ...


class SGD:
    r"""Gradient descent with weight decay.

    .. math::
        \mathbf w \leftarrow \mathbf w - \eta (\mathbf g + \lambda \mathbf w)

    Parameters
    ----------
    weights : Tensor, shape (num_weights,)
        Updated in place.
    weight_decay : float, default 0
        :math:`\lambda`.

    Notes
    -----
    Taught in the chapters *A character language model* and *By hand, in numpy*; equal to ``torch.optim.SGD``
    without momentum.

    Examples
    --------
    >>> weights = torch.tensor([1.0, 2.0])
    >>> SGD(weights).update(torch.tensor([1.0, -1.0]), lr=0.5)
    >>> weights.tolist()
    [0.5, 2.5]
    """

    def __init__(self, weights: torch.Tensor, *, weight_decay: float = 0.0) -> None:
        self.weights = weights
        self.weight_decay = weight_decay

    def update(self, grad: torch.Tensor, lr: float, momentum: float | None = None) -> None:
        r"""Make one step.

        Parameters
        ----------
        grad : Tensor, shape (num_weights,)
        lr : float
            :math:`\eta`.
        momentum : float, optional
            Of a schedule; plain gradient descent has none, and leaves it.
        """
        if self.weight_decay:
            grad = grad.add(self.weights, alpha=self.weight_decay)
        self.weights.add_(grad, alpha=-lr)

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint needs: nothing."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where :meth:`state_dict` was taken."""


class AdamW:
    r"""Adam with weight decay apart from the gradient.

    .. math::
        \mathbf m \leftarrow \beta_1 \mathbf m + (1 - \beta_1) \mathbf g, \qquad
        \mathbf v \leftarrow \beta_2 \mathbf v + (1 - \beta_2) \mathbf g^2, \qquad
        \mathbf w \leftarrow (1 - \eta \lambda) \mathbf w
            - \eta \frac{\mathbf m / (1 - \beta_1^t)}{\sqrt{\mathbf v / (1 - \beta_2^t)} + \varepsilon}

    Parameters
    ----------
    weights : Tensor, shape (num_weights,)
        Updated in place.
    weight_decay : float, default 0.01
        :math:`\lambda`.
    betas : (float, float), default (0.9, 0.999)
        :math:`\beta_1, \beta_2`: how much of the running means of gradient and squared gradient is kept.
    eps : float, default 1e-8
        :math:`\varepsilon`.

    Notes
    -----
    Kingma and Ba, "Adam", ICLR 2015; Loshchilov and Hutter, "Decoupled weight decay regularization", ICLR 2019.
    Equal to ``torch.optim.AdamW``.

    Examples
    --------
    >>> weights = torch.tensor([1.0, 2.0])
    >>> AdamW(weights, weight_decay=0).update(torch.tensor([30.0, -0.2]), lr=0.5)
    >>> weights.tolist()  # the first step has the length lr, whatever the gradient's
    [0.5, 2.5]
    """

    def __init__(
        self,
        weights: torch.Tensor,
        *,
        weight_decay: float = 0.01,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        self.weights = weights
        self.weight_decay, self.betas, self.eps = weight_decay, betas, eps
        self.num_updates = 0
        self.mean = torch.zeros_like(weights)
        self.mean_square = torch.zeros_like(weights)
        self._root = torch.empty_like(weights)

    def update(self, grad: torch.Tensor, lr: float, momentum: float | None = None) -> None:
        r"""Make one step.

        Parameters
        ----------
        grad : Tensor, shape (num_weights,)
        lr : float
            :math:`\eta`.
        momentum : float, optional
            :math:`\beta_1` of this step; that of the constructor if left out.
        """
        beta_1, beta_2 = (self.betas[0] if momentum is None else momentum), self.betas[1]
        self.num_updates += 1
        self.weights.mul_(1 - lr * self.weight_decay)
        self.mean.lerp_(grad, 1 - beta_1)
        self.mean_square.mul_(beta_2).addcmul_(grad, grad, value=1 - beta_2)
        # The means are young, and too small at first: both corrections go into the step.
        torch.sqrt(self.mean_square, out=self._root).div_(math.sqrt(1 - beta_2**self.num_updates)).add_(self.eps)
        self.weights.addcdiv_(self.mean, self._root, value=-lr / (1 - beta_1**self.num_updates))

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint needs: tensors and numbers (the tensors are the live ones, not copies)."""
        return {"num_updates": self.num_updates, "mean": self.mean, "mean_square": self.mean_square}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where :meth:`state_dict` was taken."""
        self.num_updates = int(state["num_updates"])
        self.mean.copy_(state["mean"])
        self.mean_square.copy_(state["mean_square"])


def clip_gradients(parameters: Iterable[HasGrad], max_norm: float) -> float:
    r"""Shrink the gradient to a given length if it is longer, and leave its direction alone.

    .. math:: \mathbf g \leftarrow \min\left(1, \frac{\theta}{\|\mathbf g\|}\right) \mathbf g,

    where :math:`\mathbf g` is *all* parameters' gradients as one long vector and :math:`\theta` is `max_norm`.

    Parameters
    ----------
    parameters : iterable of Parameter, or of anything with a ``grad``
        Those without a gradient are passed over. Gradients are changed in place.
    max_norm : float
        Greatest length allowed; more than 0, and ``inf`` to measure only.

    Returns
    -------
    float
        The norm before clipping. A norm that is not finite is returned as it is, and nothing is changed.

    Raises
    ------
    ValueError
        If `max_norm` is not more than 0.
    TypeError
        If a model is given in place of its parameters.

    Notes
    -----
    Taught in the chapter *Backpropagation through time*; Pascanu, Mikolov and Bengio, "On the difficulty of training
    recurrent neural networks", ICML 2013.

    Examples
    --------
    >>> w = torch.nn.Parameter(torch.zeros(2)); w.grad = torch.tensor([3.0, 4.0])
    >>> norm = clip_gradients([w], max_norm=1.0)
    >>> round(norm, 4), [round(g, 4) for g in w.grad.tolist()]
    (5.0, [0.6, 0.8])
    """
    if not max_norm > 0:  # also catches NaN
        raise ValueError(
            f"max_norm is {max_norm}; it must be more than 0 (zero would stop all learning). To measure only, take "
            "math.inf."
        )
    if isinstance(parameters, torch.nn.Module):
        raise TypeError(
            f"parameters is of type {type(parameters).__name__}; expected the parameters of a model: "
            "clip_gradients(model.parameters(), max_norm)."
        )
    if isinstance(parameters, torch.Tensor):
        parameters = [parameters]
    grads = [p.grad for p in parameters if p.grad is not None]
    if not grads:
        return 0.0
    norm = math.sqrt(sum(torch.dot(g.flatten(), g.flatten()).item() for g in grads))
    if math.isfinite(norm) and norm > max_norm:
        for grad in grads:
            grad.mul_(max_norm / norm)
    return norm


def _cosine(start: float, end: float, share: float) -> float:
    """From `start` to `end` along half a cosine."""
    return end + (start - end) / 2 * (1 + math.cos(math.pi * share))


def _along_the_cycle(step: int, total_steps: int, start: float, middle: float, end: float) -> float:
    top, last = _RISE * total_steps - 1, total_steps - 1
    if step <= top:
        return _cosine(start, middle, step / top)
    return _cosine(middle, end, (step - top) / (last - top))


def _check_step(step: int, total_steps: int, schedule: str) -> None:
    if schedule not in ("constant", "one-cycle"):
        raise ValueError(f"schedule is {schedule!r}; it must be 'constant' or 'one-cycle'.")
    if not 0 <= step < total_steps:
        raise ValueError(f"step is {step}; a run of {total_steps} steps has 0 to {total_steps - 1}.")


def learning_rate(step: int, total_steps: int, lr: float, schedule: Schedule = "constant") -> float:
    """Learning rate of one step of a run.

    Parameters
    ----------
    step : int
        Counted from 0.
    total_steps : int
    lr : float
        With ``"one-cycle"`` the highest one.
    schedule : "constant" or "one-cycle"
        One cycle rises along half a cosine from ``lr / 25`` to `lr` over the first 30% of the steps, and falls along
        another to ``lr / 250,000`` at the last (Smith, "A disciplined approach to neural network hyper-parameters",
        arXiv:1803.09820). A run of fewer than four steps has no rise: it begins within the fall. Equal to
        ``torch.optim.lr_scheduler.OneCycleLR``.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the schedule is unknown or the step is outside the run.

    Examples
    --------
    >>> [round(learning_rate(step, 20, 1.0, "one-cycle"), 3) for step in (0, 5, 12, 19)]
    [0.04, 1.0, 0.5, 0.0]
    """
    _check_step(step, total_steps, schedule)
    if schedule == "constant":
        return lr
    return _along_the_cycle(step, total_steps, lr / _START_DIVISOR, lr, lr / _START_DIVISOR / _END_DIVISOR)


def cycled_momentum(step: int, total_steps: int, schedule: Schedule = "constant") -> float | None:
    """Momentum (for AdamW its first beta) of one step of a run: it goes down while the learning rate goes up.

    Parameters
    ----------
    step, total_steps, schedule
        As for :func:`learning_rate`.

    Returns
    -------
    float or None
        With ``"one-cycle"`` from 0.95 down to 0.85 and back; with ``"constant"`` None, which leaves the optimiser its
        own: 0.9 for AdamW, none for SGD (to which `fit` gives none with ``"one-cycle"`` either).

    Raises
    ------
    ValueError
        As for :func:`learning_rate`.

    Examples
    --------
    >>> [round(cycled_momentum(step, 20, "one-cycle"), 3) for step in (0, 5, 12, 19)]
    [0.95, 0.85, 0.9, 0.95]
    """
    _check_step(step, total_steps, schedule)
    if schedule == "constant":
        return None
    return _along_the_cycle(step, total_steps, _MOMENTUM_HIGH, _MOMENTUM_LOW, _MOMENTUM_HIGH)
