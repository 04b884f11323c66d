"""Perplexity and its relatives, in numbers."""

from __future__ import annotations

import math
import statistics

import pytest
import torch
from torch.nn import functional as F

import d2lrnn as d


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        ([1.0], 1.0),  # the best case
        ([0.0], math.inf),  # the worst
        ([0.9, 0.0, 0.9], math.inf),  # one zero is enough
        ([1 / 27] * 5, 27.0),  # uniform: the size of the vocabulary
        ([0.8], 1.25),
        ([0.2], 5.0),
        ([0.5, 0.125], 4.0),
        ([1e-300] * 3, 1e300),
    ],
)
def test_perplexity(probabilities: list[float], expected: float) -> None:
    assert d.perplexity(probabilities) == pytest.approx(expected, rel=1e-12)


def test_perplexity_is_the_geometric_mean_of_choices_and_not_the_harmonic() -> None:
    probabilities = [0.5, 0.125, 0.9, 0.03]
    choices = [1 / p for p in probabilities]
    assert d.perplexity(probabilities) == pytest.approx(statistics.geometric_mean(choices), rel=1e-12)
    assert d.perplexity(probabilities) > 1.5 * statistics.harmonic_mean(choices)
    assert d.perplexity(probabilities) < statistics.mean(choices)


def test_bits_and_nats_are_the_same_thing_in_two_units() -> None:
    probabilities = [0.5, 0.125, 0.9]
    assert d.surprisal_bits(probabilities) == pytest.approx([1.0, 3.0, math.log2(1 / 0.9)])
    assert d.bits_per_token(probabilities) == pytest.approx(sum(d.surprisal_bits(probabilities)) / 3)
    assert d.bits_per_token(probabilities) == pytest.approx(d.mean_surprisal(probabilities) / math.log(2))
    assert d.perplexity(probabilities) == pytest.approx(2 ** d.bits_per_token(probabilities))


@pytest.mark.parametrize("function", [d.perplexity, d.mean_surprisal, d.bits_per_token, d.surprisal_bits])
@pytest.mark.parametrize("bad", [[], [1.1], [-0.1], [math.nan], [0.5, math.inf]])
def test_what_is_not_a_probability_is_refused(function, bad: list[float]) -> None:
    with pytest.raises(ValueError, match="probabilit"):
        function(bad)


def test_unequal_batches_score_as_one() -> None:
    torch.manual_seed(0)
    logits, targets = torch.randn(100, 27) * 3, torch.randint(27, (100,))
    whole = d.score_logits(logits, targets)
    parts = sum(
        (d.score_logits(part, target) for part, target in zip(logits.split([1, 60, 39]), targets.split([1, 60, 39]))),
        start=d.Score(0.0, 0),
    )
    assert parts.num_tokens == whole.num_tokens == 100
    assert parts.perplexity == pytest.approx(whole.perplexity, rel=1e-12)
    assert whole.nats_per_token == pytest.approx(F.cross_entropy(logits, targets).item(), rel=1e-6)
    # what some training loops plot instead is a different number
    of_batches = [
        d.score_logits(a, b).perplexity for a, b in zip(logits.split([1, 60, 39]), targets.split([1, 60, 39]))
    ]
    assert abs(statistics.mean(of_batches) / whole.perplexity - 1) > 0.05


def test_the_builtin_sum_adds_scores() -> None:
    assert sum([d.Score(1.0, 1), d.Score(2.0, 3)]) == d.Score(3.0, 4)
    with pytest.raises(TypeError):
        sum([d.Score(1.0, 1)], start=1)  # type: ignore[list-item]


def test_score_in_bits() -> None:
    assert d.Score(3 * math.log(8), 3).bits_per_token == pytest.approx(3.0)


def test_score_edges() -> None:
    assert d.Score(math.inf, 3).perplexity == math.inf
    assert d.Score(1e6, 1).perplexity == math.inf  # exp overflows
    assert d.Score(0.0, 4).perplexity == 1.0
    assert str(d.mean_surprisal([1.0])) == "0.0", "a zero has no sign before it"
    with pytest.raises(ValueError, match="No tokens"):
        _ = d.Score(0.0, 0).perplexity
    for nats, tokens in [(-1.0, 1), (math.nan, 1), (1.0, -1)]:
        with pytest.raises(ValueError):
            d.Score(nats, tokens)
    with pytest.raises(TypeError):
        _ = d.Score(1.0, 1) + 1


def test_score_logits_wants_matching_shapes() -> None:
    with pytest.raises(ValueError, match="without the last axis"):
        d.score_logits(torch.zeros(2, 3, 5), torch.zeros(3, 2, dtype=torch.long))
    with pytest.raises(TypeError, match=r"targets are of type torch.float32; they must be integers"):
        d.score_logits(torch.zeros(2, 3, 5), torch.zeros(2, 3))
    with pytest.raises(ValueError, match="logits are not finite"):
        d.score_logits(torch.full((2, 3, 5), math.nan), torch.zeros(2, 3, dtype=torch.long))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32])
def test_targets_of_any_integer_type(dtype: torch.dtype) -> None:
    logits, targets = torch.randn(2, 3, 5), torch.tensor([[0, 4, 1], [2, 3, 0]])
    assert d.score_logits(logits, targets.to(dtype)) == d.score_logits(logits, targets)
