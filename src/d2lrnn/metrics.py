r"""Surprisal, cross-entropy and perplexity: sum first, divide once.

A language model is scored by the probability it gave to each token that really came next. With
:math:`p_t` that probability for the :math:`t`-th of :math:`N` tokens,

.. math::
    \text{surprisal}_t = -\log p_t, \qquad
    L = \frac1N \sum_{t=1}^N -\log p_t, \qquad
    \text{perplexity} = e^{L} = \Bigl(\prod_{t=1}^N \frac1{p_t}\Bigr)^{1/N}.

Perplexity is therefore the *geometric* mean of the number of choices :math:`1/p_t`. Some texts call it a
harmonic mean, which is a different and smaller number.

Natural logarithms give nats, base-2 logarithms bits: one nat is :math:`1/\ln 2 \approx 1.4427` bits.
Scores of several batches are *added* (nats to nats, tokens to tokens) and divided once at the end. The mean of
the batches' perplexities is another number: never a smaller one for batches of equal size, and either for unequal ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch

from d2lrnn.text import check_integers

__all__ = ["Score", "bits_per_token", "mean_surprisal", "perplexity", "score_logits", "surprisal_bits"]


@dataclass(frozen=True)
class Score:
    """Total surprisal of some tokens, in nats, and how many tokens there were.

    Scores add, so a text may be scored in batches of any size.

    Parameters
    ----------
    total_nats : float
        Sum of ``-ln p`` over the tokens; ``inf`` if a token had probability 0.
    num_tokens : int
        Number of tokens in the sum.

    Raises
    ------
    ValueError
        If ``num_tokens`` is negative, or ``total_nats`` is negative or not a number.

    Examples
    --------
    >>> short, long = Score(total_nats=1.0, num_tokens=1), Score(total_nats=6.0, num_tokens=3)
    >>> both = short + long
    >>> both.nats_per_token
    1.75
    >>> round(both.perplexity, 3)
    5.755
    >>> sum([short, long]) == both
    True
    """

    total_nats: float
    num_tokens: int

    def __post_init__(self) -> None:
        if self.num_tokens < 0:
            raise ValueError(f"num_tokens is {self.num_tokens}; a count of tokens cannot be negative.")
        if not self.total_nats >= 0:  # also catches NaN
            raise ValueError(f"total_nats is {self.total_nats}; a sum of -ln p is never negative and must be a number.")

    def __add__(self, other: Score) -> Score:
        if not isinstance(other, Score):
            return NotImplemented
        return Score(self.total_nats + other.total_nats, self.num_tokens + other.num_tokens)

    def __radd__(self, other: int) -> Score:
        return self if other == 0 else NotImplemented  # with 0 the builtin sum begins

    @property
    def nats_per_token(self) -> float:
        """Cross-entropy: mean surprisal, in nats per token."""
        if self.num_tokens == 0:
            raise ValueError("No tokens were scored, so there is no mean; score at least one token.")
        return self.total_nats / self.num_tokens

    @property
    def bits_per_token(self) -> float:
        """Mean surprisal in bits per token (bits per character, where tokens are characters)."""
        return self.nats_per_token / math.log(2)

    @property
    def perplexity(self) -> float:
        """``exp(total_nats / num_tokens)``; ``inf`` where that overflows."""
        try:
            return math.exp(self.nats_per_token)
        except OverflowError:
            return math.inf


def _check_probabilities(probabilities: Iterable[float]) -> list[float]:
    values = [float(p) for p in probabilities]
    if not values:
        raise ValueError("No probabilities were given; give one for each token that was predicted.")
    for position, p in enumerate(values):
        if not 0.0 <= p <= 1.0:  # also catches NaN
            raise ValueError(f"probability {position} is {p}; a probability lies between 0 and 1.")
    return values


def surprisal_bits(probabilities: Iterable[float]) -> list[float]:
    """Surprisal ``-log2 p`` of each token, in bits; ``inf`` where p is 0.

    Parameters
    ----------
    probabilities : iterable of float, length n
        The probability the model gave to each token that really came.

    Returns
    -------
    list of float, length n
        Bits, each at least 0.

    Raises
    ------
    ValueError
        If the list is empty or a value is not in [0, 1].

    Examples
    --------
    >>> surprisal_bits([1, 0.5, 0.125, 0])
    [0.0, 1.0, 3.0, inf]
    """
    # The `+ 0.0` turns -log2(1) = -0.0 into a plain zero.
    return [-math.log2(p) + 0.0 if p > 0 else math.inf for p in _check_probabilities(probabilities)]


def mean_surprisal(probabilities: Iterable[float]) -> float:
    """Mean surprisal ``-(1/n) sum ln p``, in nats per token.

    Parameters, errors: as in :func:`surprisal_bits`.

    Examples
    --------
    >>> round(mean_surprisal([0.8]), 4)
    0.2231
    """
    values = _check_probabilities(probabilities)
    total_nats = math.fsum(-math.log(p) if p > 0 else math.inf for p in values)
    return total_nats / len(values)


def bits_per_token(probabilities: Iterable[float]) -> float:
    """Mean surprisal ``-(1/n) sum log2 p``, in bits per token: the mean of :func:`surprisal_bits`.

    Parameters, errors: as in :func:`surprisal_bits`.

    Examples
    --------
    >>> bits_per_token([0.5, 0.125])
    2.0
    """
    bits = surprisal_bits(probabilities)
    return math.fsum(bits) / len(bits)


def perplexity(probabilities: Iterable[float]) -> float:
    r"""Perplexity :math:`\exp(-\frac1N\sum_t \ln p_t)`: the geometric mean of the choices ``1 / p``.

    It is 1 for a model that is always certain and right, infinite for one that ever gives 0 to what happens, and
    the size of the vocabulary for one that guesses uniformly. Taught in the chapter *Perplexity*.

    Parameters, errors: as in :func:`surprisal_bits`.

    Examples
    --------
    >>> round(perplexity([0.8]), 6), round(perplexity([0.2]), 6)
    (1.25, 5.0)
    >>> perplexity([1.0, 1.0]), perplexity([0.9, 0.0])
    (1.0, inf)
    >>> round(perplexity([1 / 27] * 10), 6)
    27.0
    """
    return Score(mean_surprisal(probabilities), 1).perplexity


def score_logits(logits: torch.Tensor, targets: torch.Tensor) -> Score:
    """Score logits against the tokens that really came.

    Parameters
    ----------
    logits : Tensor, shape (..., vocab_size)
        Unnormalised log-probabilities.
    targets : integer Tensor, shape (...)
        Index of the token that really came.

    Returns
    -------
    Score
        Nats are summed in float64, so that long texts lose nothing to rounding.

    Raises
    ------
    ValueError
        If the shapes do not belong together, or the logits give no number.
    TypeError
        If the targets are not integers.

    Examples
    --------
    >>> score = score_logits(torch.zeros(2, 3, 27), torch.zeros(2, 3, dtype=torch.long))
    >>> score.num_tokens, round(score.perplexity, 4)
    (6, 27.0)
    """
    if logits.shape[:-1] != targets.shape:
        raise ValueError(
            f"logits have shape {tuple(logits.shape)} and targets {tuple(targets.shape)}; "
            "targets must have the shape of the logits without the last axis."
        )
    check_integers(targets, "targets")
    log_probs = torch.log_softmax(logits.detach(), dim=-1)
    nats = -log_probs.gather(-1, targets.long().unsqueeze(-1))
    # float64 is not available on MPS, so the summation happens on the CPU.
    total_nats = float(nats.cpu().double().sum())
    if math.isnan(total_nats):
        raise not_finite()
    return Score(total_nats, targets.numel())


def not_finite() -> ValueError:
    return ValueError(
        "The logits are not finite numbers, so they give no probabilities. That comes from weights that are NaN or "
        "infinite, as after a training that diverged: train anew with a lower learning rate or with clipping, or load "
        "an earlier model."
    )
