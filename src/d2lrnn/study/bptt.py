r"""Backpropagation through time, written out by hand.

For :math:`\mathbf H_t = \tanh(\mathbf X_t \mathbf W_{xh} + \mathbf H_{t-1} \mathbf W_{hh} + \mathbf b_h)`, going one
step back multiplies a gradient by the slope of tanh and by :math:`\mathbf W_{hh}^\top`:

.. math::
    \frac{\partial L}{\partial \mathbf H_{t-1}} =
    \Bigl(\frac{\partial L}{\partial \mathbf H_t} \odot (1 - \mathbf H_t^2)\Bigr) \mathbf W_{hh}^\top .

:func:`bptt` does that for all steps and adds up the gradients of the weights; :func:`gradients_by_lag` keeps the sum
apart by the number of steps that a gradient has travelled.

Truncation multiplies what goes from one step to the step before by a factor: 1 lets it pass and 0 cuts it off.
:func:`truncate_every` puts a 0 where a window begins, :func:`truncate_at_random` draws factors of mean 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch

__all__ = [
    "Gradients",
    "LagGradients",
    "bptt",
    "gradients_by_lag",
    "scale_to_spectral_radius",
    "spectral_radius",
    "step_jacobian",
    "truncate_at_random",
    "truncate_every",
]


def _check_square(W_hh: torch.Tensor) -> None:
    if W_hh.dim() != 2 or W_hh.shape[0] != W_hh.shape[1]:
        raise ValueError(f"W_hh has shape {tuple(W_hh.shape)}; expected a square matrix.")


def _states_before(
    H: torch.Tensor, dH: torch.Tensor, W_hh: torch.Tensor, H_0: torch.Tensor | None
) -> torch.Tensor:
    """Check all shapes and return the state before each step, (num_steps, batch_size, num_hiddens)."""
    _check_square(W_hh)
    if H.dim() != 3 or H.shape != dH.shape or H.shape[2] != W_hh.shape[0]:
        raise ValueError(
            f"H has shape {tuple(H.shape)} and dH {tuple(dH.shape)}; expected both to be "
            f"(num_steps, batch_size, {W_hh.shape[0]})."
        )
    if H_0 is None:
        H_0 = torch.zeros_like(H[0])
    elif H_0.shape != H.shape[1:]:
        raise ValueError(f"H_0 has shape {tuple(H_0.shape)}; expected {tuple(H.shape[1:])}.")
    return torch.cat([H_0.unsqueeze(0), H[:-1]])


def spectral_radius(W_hh: torch.Tensor) -> float:
    r"""Largest absolute value of an eigenvalue, :math:`\rho(\mathbf W) = \max_i |\lambda_i|`.

    It says how :math:`\|\mathbf W^k\|` behaves for large :math:`k`; the largest singular value only says how much *one*
    multiplication can stretch.

    Parameters
    ----------
    W_hh : Tensor, shape (num_hiddens, num_hiddens)

    Raises
    ------
    ValueError
        If the matrix is not square.

    Examples
    --------
    >>> W = torch.tensor([[0.5, 10.0], [0.0, 0.5]])
    >>> spectral_radius(W), round(float(torch.linalg.matrix_norm(W, 2)), 2)
    (0.5, 10.02)
    """
    _check_square(W_hh)
    return float(torch.linalg.eigvals(W_hh.detach().cpu().double()).abs().max())


def scale_to_spectral_radius(W_hh: torch.Tensor, radius: float) -> torch.Tensor:
    """A multiple of a matrix that has the given spectral radius.

    Parameters
    ----------
    W_hh : Tensor, shape (num_hiddens, num_hiddens)
    radius : float
        At least 0.

    Returns
    -------
    Tensor, shape (num_hiddens, num_hiddens)
        A new tensor.

    Raises
    ------
    ValueError
        If the matrix is not square or has only zero eigenvalues, or the radius is negative.

    Examples
    --------
    >>> round(spectral_radius(scale_to_spectral_radius(torch.randn(8, 8), 0.9)), 5)
    0.9
    """
    if not radius >= 0:
        raise ValueError(f"radius is {radius}; a spectral radius is at least 0.")
    current = spectral_radius(W_hh)
    if current == 0:
        raise ValueError("All eigenvalues of W_hh are 0, and no multiple of it has another spectral radius.")
    return W_hh.detach() * (radius / current)


def step_jacobian(H_t: torch.Tensor, W_hh: torch.Tensor) -> torch.Tensor:
    r"""How the state after a step depends on the state before it.

    .. math:: J_{ij} = \frac{\partial (\mathbf h_t)_i}{\partial (\mathbf h_{t-1})_j}
              = \bigl(1 - (\mathbf h_t)_i^2\bigr) (\mathbf W_{hh})_{ji}

    Parameters
    ----------
    H_t : Tensor, shape (..., num_hiddens)
        State *after* the step.
    W_hh : Tensor, shape (num_hiddens, num_hiddens)

    Returns
    -------
    Tensor, shape (..., num_hiddens, num_hiddens)

    Raises
    ------
    ValueError
        If the matrix is not square or the state does not fit it.

    Examples
    --------
    >>> step_jacobian(torch.zeros(2), torch.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    """
    _check_square(W_hh)
    if H_t.shape[-1] != W_hh.shape[0]:
        raise ValueError(f"The state has {H_t.shape[-1]} units and W_hh is for {W_hh.shape[0]}.")
    return (1 - H_t**2).unsqueeze(-1) * W_hh.T


class Gradients(NamedTuple):
    """What :func:`bptt` returns. With several draws of factors, each has ``num_draws`` as its first axis.

    Attributes
    ----------
    dW_xh : Tensor, shape (num_inputs, num_hiddens)
    dW_hh : Tensor, shape (num_hiddens, num_hiddens)
    db_h : Tensor, shape (num_hiddens,)
    dH_0 : Tensor, shape (batch_size, num_hiddens)
    """

    dW_xh: torch.Tensor
    dW_hh: torch.Tensor
    db_h: torch.Tensor
    dH_0: torch.Tensor


@torch.no_grad()
def bptt(
    inputs: torch.Tensor,
    H: torch.Tensor,
    dH: torch.Tensor,
    W_hh: torch.Tensor,
    *,
    H_0: torch.Tensor | None = None,
    factors: torch.Tensor | None = None,
) -> Gradients:
    r"""Backpropagation through time for a tanh recurrence.

    From the last step to the first, with :math:`\xi_t = 1` where no factors are given,

    .. math::
        \boldsymbol\Delta_t = \Bigl(\frac{\partial L_t}{\partial \mathbf H_t}
        + \xi_{t+1} \boldsymbol\Delta_{t+1} \mathbf W_{hh}^\top\Bigr) \odot (1 - \mathbf H_t^2), \qquad
        \mathrm d\mathbf W_{xh} = \sum_t \mathbf X_t^\top \boldsymbol\Delta_t, \qquad
        \mathrm d\mathbf W_{hh} = \sum_t \mathbf H_{t-1}^\top \boldsymbol\Delta_t .

    Parameters
    ----------
    inputs : Tensor, shape (num_steps, batch_size, num_inputs)
    H : Tensor, shape (num_steps, batch_size, num_hiddens)
        The state after each step.
    dH : Tensor, shape (num_steps, batch_size, num_hiddens)
        Gradient of the loss *of each step* with respect to the state of that step, as the output layer returns it:
        nothing in it has come through later states.
    W_hh : Tensor, shape (num_hiddens, num_hiddens)
    H_0 : Tensor, shape (batch_size, num_hiddens), optional
        State before the first step; zeros if left out.
    factors : Tensor, shape (num_steps,) or (num_draws, num_steps), optional
        ``factors[t]`` multiplies what goes from the state of step `t` to the state before it. Ones give the full
        gradient, :func:`truncate_every` that of windows with the state carried over, :func:`truncate_at_random` an
        unbiased estimate of the full one.

    Returns
    -------
    Gradients
        ``(dW_xh, dW_hh, db_h, dH_0)``; several draws of factors go back together and give one gradient each.

    Raises
    ------
    ValueError
        If shapes do not fit.

    Notes
    -----
    Taught in the chapter *Backpropagation through time*; Werbos, "Backpropagation through time: what it does and how to
    do it", Proceedings of the IEEE 78 (1990).

    Examples
    --------
    >>> import d2lrnn as d
    >>> rnn = d.RNNScratch(3, 4)
    >>> inputs = torch.randn(5, 2, 3)
    >>> H, _ = rnn(inputs)
    >>> (H**2).sum().backward()  # so dH is 2 * H
    >>> gradients = bptt(inputs, H, 2 * H, rnn.W_hh)
    >>> torch.testing.assert_close(gradients.dW_hh, rnn.W_hh.grad)
    """
    H_before = _states_before(H, dH, W_hh, H_0)
    if inputs.dim() != 3 or inputs.shape[:2] != H.shape[:2]:
        raise ValueError(
            f"inputs have shape {tuple(inputs.shape)}; expected ({H.shape[0]}, {H.shape[1]}, num_inputs), as many "
            "steps and rows as H has."
        )
    factors = torch.ones(len(H)) if factors is None else factors
    if factors.dim() not in (1, 2) or factors.shape[-1] != len(H):
        raise ValueError(
            f"factors have shape {tuple(factors.shape)}; expected ({len(H)},), one for each step, "
            f"or (num_draws, {len(H)})."
        )
    factors = factors.to(W_hh)[..., None, None]  # (..., num_steps, 1, 1)
    draws = factors.shape[:-3]
    dW_xh = W_hh.new_zeros(*draws, inputs.shape[2], len(W_hh))
    dW_hh = W_hh.new_zeros(*draws, len(W_hh), len(W_hh))
    db_h = W_hh.new_zeros(*draws, len(W_hh))
    from_later = W_hh.new_zeros(*draws, *H.shape[1:])
    for t in reversed(range(len(H))):
        delta = (dH[t] + from_later) * (1 - H[t] ** 2)  # (..., batch_size, num_hiddens)
        dW_xh += inputs[t].T @ delta
        dW_hh += H_before[t].T @ delta
        db_h += delta.sum(dim=-2)
        from_later = factors[..., t, :, :] * (delta @ W_hh.T)
    return Gradients(dW_xh, dW_hh, db_h, from_later)


@dataclass(frozen=True)
class LagGradients:
    r"""The gradient with respect to `W_hh`, taken apart by lag.

    Lag :math:`k` is the part that travelled :math:`k` steps back from the loss of a step :math:`t` to the use of `W_hh`
    at step :math:`t - k`. The sum of all lags is the full gradient of backpropagation through time; the sum of the
    first :math:`\tau` is the truncated one.

    Attributes
    ----------
    state_norms : Tensor, shape (num_lags,)
        Norm of :math:`\partial L_t / \partial \mathbf H_{t-k}`, over the batch and over all steps that reach back so
        far.
    dW_hh : Tensor, shape (num_lags, num_hiddens, num_hiddens)
        Contribution of each lag.
    """

    state_norms: torch.Tensor
    dW_hh: torch.Tensor

    def truncated(self, num_lags: int) -> torch.Tensor:
        """Gradient of `W_hh` when each loss is followed `num_lags` steps back: shape (num_hiddens, num_hiddens).

        Raises
        ------
        ValueError
            If `num_lags` is below 1.
        """
        if num_lags < 1:
            raise ValueError(f"num_lags is {num_lags}; at least the step of the loss itself must count: 1 or more.")
        return self.dW_hh[:num_lags].sum(0)

    @property
    def full(self) -> torch.Tensor:
        """Gradient of `W_hh` with nothing cut off: shape (num_hiddens, num_hiddens)."""
        return self.dW_hh.sum(0)


@torch.no_grad()
def gradients_by_lag(
    H: torch.Tensor, dH: torch.Tensor, W_hh: torch.Tensor, H_0: torch.Tensor | None = None
) -> LagGradients:
    r"""The gradient of :func:`bptt` with respect to `W_hh`, taken apart by lag.

    With :math:`\mathbf D_0(t) = \partial L_t / \partial \mathbf H_t` given, all steps go back together:

    .. math::
        \boldsymbol\Delta_k(t) = \mathbf D_k(t) \odot (1 - \mathbf H_{t-k}^2), \qquad
        \mathbf D_{k+1}(t) = \boldsymbol\Delta_k(t) \mathbf W_{hh}^\top, \qquad
        \frac{\partial L}{\partial \mathbf W_{hh}} = \sum_k \sum_t \mathbf H_{t-k-1}^\top \boldsymbol\Delta_k(t) .

    Parameters
    ----------
    H : Tensor, shape (num_steps, batch_size, num_hiddens)
        States of a tanh recurrence.
    dH : Tensor, shape (num_steps, batch_size, num_hiddens)
        Gradient of the loss *of each step* with respect to the state of that step, as for :func:`bptt`. If all but the
        last are zeros, the result follows a single loss back.
    W_hh : Tensor, shape (num_hiddens, num_hiddens)
    H_0 : Tensor, shape (batch_size, num_hiddens), optional
        State before the first step; zeros if left out.

    Returns
    -------
    LagGradients
        With ``num_lags = num_steps``.

    Raises
    ------
    ValueError
        If shapes do not fit.

    Notes
    -----
    Taught in the chapter *Backpropagation through time*.

    Examples
    --------
    >>> H = torch.zeros(3, 1, 2)                         # unsaturated: the slope of tanh is 1
    >>> dH = torch.zeros(3, 1, 2); dH[-1] = 1.0
    >>> [round(n, 3) for n in gradients_by_lag(H, dH, 0.5 * torch.eye(2)).state_norms.tolist()]
    [1.414, 0.707, 0.354]
    """
    H_before = _states_before(H, dH, W_hh, H_0)
    slope = 1 - H**2
    D = dH
    norms, contributions = [], []
    for _ in range(len(H)):
        # D[i] belongs to the loss of step i + lag and stands at the state of step i
        norms.append(torch.linalg.vector_norm(D))
        delta = D * slope[: len(D)]  # (num_steps - lag, batch_size, num_hiddens)
        contributions.append(H_before[: len(D)].flatten(0, 1).T @ delta.flatten(0, 1))
        D = (delta @ W_hh.T)[1:]
    return LagGradients(torch.stack(norms), torch.stack(contributions))


def truncate_every(num_steps: int, window_size: int) -> torch.Tensor:
    r"""Factors that cut the way back into windows of equal length.

    .. math:: \xi_t = \begin{cases} 0 & \text{if a window begins with step } t \\ 1 & \text{otherwise} \end{cases}

    Parameters
    ----------
    num_steps : int
    window_size : int
        Steps of a window; the last window has fewer where the division leaves a rest.

    Returns
    -------
    Tensor, shape (num_steps,)
        In double precision, for :func:`bptt`.

    Raises
    ------
    ValueError
        If a number is below 1.

    Examples
    --------
    >>> truncate_every(6, 3).tolist()
    [0.0, 1.0, 1.0, 0.0, 1.0, 1.0]
    """
    for name, number in (("num_steps", num_steps), ("window_size", window_size)):
        if number < 1:
            raise ValueError(f"{name} is {number}; it must be at least 1.")
    return (torch.arange(num_steps) % window_size != 0).double()


def truncate_at_random(
    num_steps: int,
    keep_prob: float | torch.Tensor,
    num_draws: int | None = None,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    r"""Factors that cut the way back at random, with mean 1.

    .. math:: P(\xi_t = 1 / \pi_t) = \pi_t, \qquad P(\xi_t = 0) = 1 - \pi_t, \qquad \operatorname E[\xi_t] = 1 .

    A route of lag :math:`k` is multiplied by :math:`k` of them. Its weight has the mean 1 and, if all :math:`\pi_t` are
    :math:`\pi`, the variance :math:`\pi^{-k} - 1`.

    Parameters
    ----------
    num_steps : int
    keep_prob : float, or Tensor of shape (num_steps,)
        :math:`\pi`, or :math:`\pi_t` for each step; above 0 and at most 1. Between two cuts lie :math:`1 / (1 - \pi)`
        steps on average.
    num_draws : int, optional
        Number of independent draws.
    generator : torch.Generator, optional
        Of the CPU, where the factors are drawn; torch's own if left out.

    Returns
    -------
    Tensor, shape (num_steps,), or (num_draws, num_steps) if `num_draws` is given
        In double precision, for :func:`bptt`.

    Raises
    ------
    ValueError
        If `num_steps` or `num_draws` is below 1, a probability is not above 0 and at most 1, or there is not one for
        each step.

    Notes
    -----
    Taught in the chapter *Backpropagation through time*; Tallec and Ollivier, "Unbiasing truncated backpropagation
    through time", arXiv:1705.08209 (2017).

    Examples
    --------
    >>> factors = truncate_at_random(6, keep_prob=0.5, num_draws=1000)
    >>> factors.shape, factors.unique().tolist()
    (torch.Size([1000, 6]), [0.0, 2.0])
    """
    for name, number in (("num_steps", num_steps), ("num_draws", num_draws)):
        if number is not None and number < 1:
            raise ValueError(f"{name} is {number}; it must be at least 1.")
    keep = torch.as_tensor(keep_prob, dtype=torch.float64, device="cpu")
    if keep.shape not in ((), (num_steps,)):
        raise ValueError(f"keep_prob has shape {tuple(keep.shape)}; expected one number, or {num_steps}.")
    if not ((keep > 0) & (keep <= 1)).all():
        raise ValueError("keep_prob must be above 0 and at most 1: a step that is always cut has no unbiased estimate.")
    shape = (num_steps,) if num_draws is None else (num_draws, num_steps)
    kept = torch.rand(shape, generator=generator, dtype=torch.float64) < keep
    return kept / keep
