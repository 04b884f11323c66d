"""The self-checking exercises of the chapter *Perplexity*."""

from __future__ import annotations

import math

import torch

from d2lrnn.checks.exercise import Exercise, Mistake

Pieces = list[tuple[float, int]]


def whole_perplexity(pieces: Pieces) -> float:
    """Perplexity of a text from those of its pieces, each with its number of tokens."""
    total_nats = sum(num_tokens * math.log(perplexity) for perplexity, num_tokens in pieces)
    return math.exp(total_nats / sum(num_tokens for _, num_tokens in pieces))


def _plain_mean(pieces: Pieces) -> float:
    return sum(perplexity for perplexity, _ in pieces) / len(pieces)


def _weighted_mean(pieces: Pieces) -> float:
    return sum(perplexity * n for perplexity, n in pieces) / sum(n for _, n in pieces)


def _unweighted_geometric_mean(pieces: Pieces) -> float:
    return math.exp(sum(math.log(perplexity) for perplexity, _ in pieces) / len(pieces))


def _weighted_harmonic_mean(pieces: Pieces) -> float:
    return sum(n for _, n in pieces) / sum(n / perplexity for perplexity, n in pieces)


def _mean_nats(pieces: Pieces) -> float:
    return math.log(whole_perplexity(pieces))


def _mixed_bases(pieces: Pieces) -> float:
    return 2 ** _mean_nats(pieces)


def bits_per_character(perplexity: float, num_tokens: int, num_characters: int) -> float:
    """Bits per character of a text from the perplexity of its tokens, whatever these are."""
    return num_tokens * math.log2(perplexity) / num_characters


def floor(pi: torch.Tensor, P: torch.Tensor) -> float:
    """Lowest perplexity on a source whose state is known: 2 to the entropy rate."""
    return 2 ** float(pi @ _entropies(P))


def _entropies(P: torch.Tensor) -> torch.Tensor:
    return -torch.xlogy(P, P).sum(-1) / math.log(2)  # bits, (num_states,)


def _sources() -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Two states of which one has no doubts; the lime carts of the chapter."""
    carts = torch.tensor([[0.5, 0.0, 0.5], [0.3, 0.0, 0.7], [0.0, 0.6, 0.4]], dtype=torch.float64)
    lamp = torch.tensor([[0.5, 0.5], [1.0, 0.0]], dtype=torch.float64)
    return [
        (torch.tensor([6, 10, 5], dtype=torch.float64) / 21, carts),
        (torch.tensor([2, 1], dtype=torch.float64) / 3, lamp),
    ]


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        label="ex-perplexity-1",
        solution=4.0,
        mistakes=(
            Mistake(2.0, "That is the mean surprisal, in bits. A perplexity counts choices: one step is missing."),
            Mistake(6.0, "That is the arithmetic mean of the choices. Which mean keeps the number of endings?"),
            Mistake(
                64 / 21,
                "That is the harmonic mean of the choices, which is too small. Take the mean of the surprisals.",
            ),
            Mistake(math.exp(2), "The mean is in bits, and you raised e to it: base and unit belong together."),
            Mistake(256.0, "The whole text has so many endings. What number of choices, four times over, gives them?"),
            Mistake(
                1 / 4,
                "That is the geometric mean of the probabilities. A perplexity is never below 1: turn it over.",
            ),
        ),
        praise="Four steps with 4 choices each have 256 endings, as many as 2 · 2 · 4 · 16.",
    ),
    Exercise(
        label="ex-perplexity-2",
        solution=whole_perplexity,
        mistakes=(
            Mistake(
                _plain_mean,
                "That is the plain mean of the perplexities. They do not add, and the pieces are not equally long.",
            ),
            Mistake(
                _weighted_mean,
                "You gave every piece its right weight; but it is surprisals that add, and not perplexities.",
            ),
            Mistake(
                _unweighted_geometric_mean,
                "The right kind of mean, but a short piece counts as much as a long one. How many tokens has each?",
            ),
            Mistake(_weighted_harmonic_mean, "That is a harmonic mean of choices. Go back to what can be added up."),
            Mistake(_mean_nats, "That is the mean surprisal in nats, and a perplexity was asked for."),
            Mistake(_mixed_bases, "A natural logarithm on the way in and a power of 2 on the way out: take one base."),
        ),
        probes=lambda: [
            ([(2.0, 6), (32.0, 2)],),
            ([(8.0, 1), (2.0, 3), (5.0, 4)],),
            ([(27.0, 10)],),
        ],
        praise="It is what adding two Scores does: nats to nats, tokens to tokens, and one division.",
    ),
    Exercise(
        label="ex-perplexity-3",
        solution=bits_per_character,
        mistakes=(
            Mistake(
                lambda perplexity, num_tokens, num_characters: math.log2(perplexity),
                "Those are bits per token. How many bits is that for the whole text, and who has to share them?",
            ),
            Mistake(
                lambda perplexity, num_tokens, num_characters: num_tokens * math.log(perplexity) / num_characters,
                "Those are nats per character: the natural logarithm gives nats.",
            ),
            Mistake(
                lambda perplexity, num_tokens, num_characters: perplexity * num_tokens / num_characters,
                "You shared out the perplexity. Choices multiply; what is it that adds, and so can be shared out?",
            ),
            Mistake(
                lambda perplexity, num_tokens, num_characters: perplexity ** (num_tokens / num_characters),
                "That is the perplexity per character, a good number too; but bits were asked for.",
            ),
            Mistake(
                lambda perplexity, num_tokens, num_characters: num_characters * math.log2(perplexity) / num_tokens,
                "A word has several characters, so each should get less than the word. Which count divides which?",
            ),
        ),
        probes=lambda: [(3.9, 10_000, 10_000), (500.0, 2_000, 10_000), (16.0, 300, 600)],
        praise="Bits for the whole text do not ask how it was cut, so they can be compared.",
    ),
    Exercise(
        label="ex-perplexity-floor-1",
        solution=floor,
        mistakes=(
            Mistake(
                lambda pi, P: 2 ** float(_entropies(P).mean()),
                "You let every state count alike. In which of them does the source spend more of its time?",
            ),
            Mistake(
                lambda pi, P: float(pi @ 2 ** _entropies(P)),
                "That is the arithmetic mean of the states' branching factors. Which mean is right for choices?",
            ),
            Mistake(
                lambda pi, P: 2 ** float(_entropies(pi @ P)),
                "That is the best one can do without looking back, by how often each output comes. Who knows the state "
                "does better.",
            ),
            Mistake(lambda pi, P: float(pi @ _entropies(P)), "That is the entropy rate in bits. Turn it into choices."),
            Mistake(
                lambda pi, P: 2 ** float(pi @ _entropies(P) * math.log(2)),
                "The entropies are in nats and the power is one of 2: base and unit belong together.",
            ),
            Mistake(
                lambda pi, P: math.exp(float(pi @ _entropies(P))),
                "The entropies are in bits and the power is one of e: base and unit belong together.",
            ),
            Mistake(
                lambda pi, P: 2 ** -float(pi @ (P * P.log2()).sum(-1)),
                "P has zeros, and 0 times the logarithm of 0 comes out as nan. What never happens costs nothing.",
            ),
        ),
        probes=_sources,
        praise="A weighted geometric mean: each state's branching factor to the power of its share of the time.",
    ),
)
