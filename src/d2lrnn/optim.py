r"""Gradient descent and AdamW on one long vector of weights, and the learning rate along a run.

All weights of a model lie in one flat tensor (:class:`d2lrnn.engines.stepper.FlatParameters`), so an update is a handful of
operations whatever the number of matrices, on the CPU and on a GPU. Results are those of ``torch.optim`` to float32
rounding; that package takes a second to import, in every kernel, which is more than many a training step in this book.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import torch

__all__ = ["SGD", "AdamW", "cycled_momentum", "learning_rate"]

Number = float | torch.Tensor
Schedule = Literal["constant", "one-cycle"]

# Of the one-cycle schedule: torch's defaults, which are those of the article.
_RISE = 0.3  # share of the steps
_START_DIVISOR, _END_DIVISOR = 25.0, 1e4
_MOMENTUM_LOW, _MOMENTUM_HIGH = 0.85, 0.95


class SGD:
    r"""Gradient descent with momentum and weight decay.

    .. math::
        \mathbf g \leftarrow \mathbf g + \lambda \mathbf w, \qquad
        \mathbf v \leftarrow \mu \mathbf v + \mathbf g, \qquad
        \mathbf w \leftarrow \mathbf w - \eta \mathbf v

    Parameters
    ----------
    weights : Tensor, shape (num_weights,)
        Updated in place.
    weight_decay : float, default 0
        :math:`\lambda`.

    Notes
    -----
    Taught in the chapters *A character language model* and *By hand, in numpy*; equal to ``torch.optim.SGD``.

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
        self.velocity: torch.Tensor | None = None  # made by the first update with momentum

    def update(self, grad: torch.Tensor, lr: float, momentum: float | None = None) -> None:
        r"""Make one step.

        Parameters
        ----------
        grad : Tensor, shape (num_weights,)
        lr : float
            :math:`\eta`.
        momentum : float, optional
            :math:`\mu`; none if left out.
        """
        if self.weight_decay:
            grad = grad.add(self.weights, alpha=self.weight_decay)
        if momentum:
            if self.velocity is None:
                self.velocity = torch.zeros_like(self.weights)
            grad = self.velocity.mul_(momentum).add_(grad)
        self.weights.add_(grad, alpha=-lr)

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint needs: tensors and numbers (the tensors are the live ones, not copies)."""
        return {} if self.velocity is None else {"velocity": self.velocity}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where :meth:`state_dict` was taken."""
        self.velocity = state["velocity"].to(self.weights, copy=True) if "velocity" in state else None


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
        self.apply(grad, *self.advance(lr, momentum))

    def advance(self, lr: float, momentum: float | None = None) -> tuple[float, float, float, float]:
        """Count one update, and return the four numbers in which it differs from the others: see :meth:`apply`."""
        beta_1 = self.betas[0] if momentum is None else momentum
        self.num_updates += 1
        step_length = lr / (1 - beta_1**self.num_updates)
        correction = math.sqrt(1 - self.betas[1] ** self.num_updates)
        return 1 - lr * self.weight_decay, 1 - beta_1, 1 / (correction * step_length), self.eps / step_length

    def apply(self, grad: torch.Tensor, keep: Number, fresh: Number, scale: Number, floor: Number) -> None:
        """The arithmetic of one step. Its numbers may be 0-dimensional tensors on the device: so a recorded CUDA graph
        can be replayed with new ones."""
        self.weights.mul_(keep)
        self.mean.lerp_(grad, fresh)
        self.mean_square.mul_(self.betas[1]).addcmul_(grad, grad, value=1 - self.betas[1])
        # the learning rate and both corrections of the young means are in `scale` and `floor`
        torch.sqrt(self.mean_square, out=self._root).mul_(scale).add_(floor)
        self.weights.addcdiv_(self.mean, self._root, value=-1)

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint needs: tensors and numbers (the tensors are the live ones, not copies)."""
        return {"num_updates": self.num_updates, "mean": self.mean, "mean_square": self.mean_square}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where :meth:`state_dict` was taken."""
        self.num_updates = int(state["num_updates"])
        self.mean.copy_(state["mean"])
        self.mean_square.copy_(state["mean_square"])


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
        arXiv:1803.09820). Equal to ``torch.optim.lr_scheduler.OneCycleLR``.

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
        own: 0.9 for AdamW, none for SGD.

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
