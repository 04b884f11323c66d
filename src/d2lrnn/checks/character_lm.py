"""The self-checking exercises of the chapter *A character language model*."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from d2lrnn.checks.exercise import Exercise, Mistake

Floats = Sequence[float] | torch.Tensor

SHAPES = {"W_xh": (100, 64), "W_hh": (64, 64), "b_h": (64,), "W_hq": (64, 5000), "b_q": (5000,)}


def as_row(values: Floats | Sequence[Sequence[float]]) -> torch.Tensor:
    return torch.as_tensor(values, dtype=torch.float64)


def sharpen(probs: Floats, temperature: float) -> torch.Tensor:
    powers = as_row(probs) ** (1 / temperature)
    return powers / powers.sum()


def nucleus_size(probs: Floats, top_p: float) -> int:
    ranked = as_row(probs).sort(descending=True).values
    return int((ranked.cumsum(0) - ranked < top_p).sum())


def from_the_rarest(probs: Floats, top_p: float) -> int:
    ranked = as_row(probs).sort().values
    return int((ranked.cumsum(0) - ranked < top_p).sum())


def likeliest_pair(first: Floats, second: Floats) -> tuple[int, int]:
    joint = as_row(first).unsqueeze(1) * as_row(second)  # (vocab_size, vocab_size)
    return divmod(int(joint.argmax()), joint.shape[1])


def greedy_pair(first: Floats, second: Floats) -> tuple[int, int]:
    start = int(as_row(first).argmax())
    return start, int(as_row(second)[start].argmax())


def distributions() -> list[tuple[torch.Tensor, float]]:
    probs = as_row([0.5, 0.3, 0.15, 0.05])
    return [(probs, 0.5), (probs, 1.0), (probs, 2.0), (as_row([0.9, 0.1]), 0.25)]


def nuclei() -> list[tuple[torch.Tensor, float]]:
    # sums of these are exact in binary, so that "reaches" is not a matter of rounding
    probs = as_row([0.125, 0.5, 0.0625, 0.25, 0.0625])
    return [(probs, 0.75), (probs, 0.8), (probs, 0.4), (probs, 1.0), (as_row([0.25] * 4), 0.5)]


def two_steps() -> list[tuple[torch.Tensor, torch.Tensor]]:
    second = as_row([[0.4, 0.3, 0.3], [0.05, 0.05, 0.9], [0.3, 0.5, 0.2]])
    return [
        (as_row([0.5, 0.4, 0.1]), second),
        (as_row([0.2, 0.2, 0.6]), second),
        (as_row([0.85, 0.1, 0.05]), second),
    ]


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        label="ex-character-lm-1",
        solution=SHAPES,
        mistakes=(
            Mistake(
                {**SHAPES, "W_hq": (64, 100), "b_q": (100,)},
                "An output of 100 numbers has the width of the vectors that come in. What must softmax share out "
                "its probability between?",
            ),
            Mistake(
                {**SHAPES, "W_xh": (5000, 64)},
                "That W_xh reads one-hot vectors. This model has an embedding in front: what reaches the recurrence?",
            ),
            Mistake(
                {"W_xh": (64, 100), "W_hh": (64, 64), "b_h": (64,), "W_hq": (5000, 64), "b_q": (5000,)},
                "The sizes are right and stand the other way round: rows are examples here, and weights multiply from "
                "the right, so read an index from left to right.",
            ),
            Mistake(
                {**SHAPES, "b_q": (64,)},
                "A bias has as many numbers as the thing that it is added to. What is b_q added to?",
            ),
        ),
        praise="The output is as wide as the vocabulary, whatever the tokens are and however they come in.",
    ),
    Exercise(
        label="ex-character-lm-3",
        solution=sharpen,
        mistakes=(
            Mistake(
                lambda probs, temperature: as_row(probs) ** temperature / (as_row(probs) ** temperature).sum(),
                "The right kind of formula, the wrong way round: a low temperature has to make the favourite stronger.",
            ),
            Mistake(
                lambda probs, temperature: as_row(probs) ** (1 / temperature),
                "Nearly: look at the sum of what you return.",
            ),
            Mistake(
                lambda probs, temperature: torch.softmax(as_row(probs) / temperature, 0),
                "Softmax wants logits, and these are probabilities already. What are the logits of a probability?",
            ),
            Mistake(
                lambda probs, temperature: as_row(probs) / temperature / (as_row(probs) / temperature).sum(),
                "Dividing probabilities by a number is undone when they are made to sum to 1. The temperature divides "
                "the logits, which are logarithms.",
            ),
        ),
        praise="A distribution to the power of 1 / temperature, scaled to sum to 1: no logits needed.",
        probes=distributions,
    ),
    Exercise(
        label="ex-character-lm-4",
        solution=nucleus_size,
        mistakes=(
            Mistake(
                lambda probs, top_p: int((as_row(probs).sort(descending=True).values.cumsum(0) < top_p).sum()),
                "You stop one token too early: the token with which the sum reaches top_p belongs to the nucleus.",
            ),
            Mistake(
                lambda probs, top_p: int((as_row(probs).sort(descending=True).values.cumsum(0) <= top_p).sum()),
                "You count the sums that do not exceed top_p. Which token makes a sum reach it, and do you count that?",
            ),
            Mistake(
                lambda probs, top_p: int((as_row(probs).cumsum(0) - as_row(probs) < top_p).sum()),
                "You went through the tokens in the order of the vocabulary. Which of them should come first?",
            ),
            Mistake(
                from_the_rarest,
                "You began with the least likely token, which gives the largest set, not the smallest.",
            ),
            Mistake(
                lambda probs, top_p: int((as_row(probs) >= top_p).sum()),
                "You compare single probabilities with top_p. It is their sum, likeliest first, that has to reach it.",
            ),
        ),
        praise="One token where the model is sure, many where it is not: that is what top-k can't do.",
        probes=nuclei,
    ),
    Exercise(
        label="ex-character-lm-decoding-1",
        solution=likeliest_pair,
        mistakes=(
            Mistake(
                greedy_pair,
                "That is the greedy pair: the best first token, then the best second one after it. Is there a pair "
                "with a larger product?",
            ),
            Mistake(
                lambda first, second: tuple(reversed(likeliest_pair(first, second))),
                "The right two tokens in the wrong order: row i of `second` belongs to the first token i.",
            ),
            Mistake(
                lambda first, second: divmod(int(as_row(second).argmax()), len(second)),
                "That is the largest entry of `second` alone. How likely is it that its row is ever reached?",
            ),
        ),
        praise="The likeliest text need not begin with the likeliest token.",
        probes=two_steps,
    ),
)
