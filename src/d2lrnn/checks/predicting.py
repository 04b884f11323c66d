"""The self-checking exercises of the chapter *Predicting what comes next*."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import prod

from d2lrnn.checks.exercise import Exercise, Mistake

Table = Mapping[str, float]

START: Table = {"c": 0.7, "r": 0.3}
FOLLOW: Mapping[str, Table] = {"c": {"c": 0.8, "r": 0.2}, "r": {"c": 0.6, "r": 0.4}}
UNIFORM: Table = dict.fromkeys("abcd", 0.25)
SKEWED: Table = {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}


def string_probability(string: str, start: Table, follow: Mapping[str, Table]) -> float:
    return start[string[0]] * prod(follow[a][b] for a, b in pairwise(string))


def without_start(string: str, start: Table, follow: Mapping[str, Table]) -> float:
    return prod((follow[a][b] for a, b in pairwise(string)), start=1.0)


def independent(string: str, start: Table, follow: Mapping[str, Table]) -> float:
    return prod(start[x] for x in string)


def turned_round(string: str, start: Table, follow: Mapping[str, Table]) -> float:
    return start[string[0]] * prod(follow[b][a] for a, b in pairwise(string))


def summed(string: str, start: Table, follow: Mapping[str, Table]) -> float:
    return start[string[0]] + sum(follow[a][b] for a, b in pairwise(string))


def strings() -> list[tuple]:
    return [(string, START, FOLLOW) for string in ("c", "r", "ccr", "rcc", "crrc", "rrcr")]


def smoothed(followers: Mapping[str, int], shorter: Table, x: str) -> float:
    num_events = sum(followers.values()) + len(followers)
    return (followers.get(x, 0) + len(followers) * shorter[x]) / num_events if followers else shorter[x]


def events_not_types(followers: Mapping[str, int], shorter: Table, x: str) -> float:
    total = sum(followers.values())
    return (followers.get(x, 0) + total * shorter[x]) / (2 * total) if followers else shorter[x]


def one_novelty(followers: Mapping[str, int], shorter: Table, x: str) -> float:
    return (followers.get(x, 0) + shorter[x]) / (sum(followers.values()) + 1) if followers else shorter[x]


def sums_to_more(followers: Mapping[str, int], shorter: Table, x: str) -> float:
    total = sum(followers.values())
    return (followers.get(x, 0) + len(followers) * shorter[x]) / total if followers else shorter[x]


def only_the_unseen(followers: Mapping[str, int], shorter: Table, x: str) -> float:
    if not followers:
        return shorter[x]
    num_events = sum(followers.values()) + len(followers)
    return (followers[x] if x in followers else len(followers) * shorter[x]) / num_events


def only_the_counts(followers: Mapping[str, int], shorter: Table, x: str) -> float:
    return followers.get(x, 0) / sum(followers.values()) if followers else shorter[x]


def contexts() -> list[tuple]:
    counts: tuple[dict[str, int], ...] = ({"a": 3, "b": 1}, {"a": 1}, {"a": 2, "b": 1, "c": 1, "d": 5}, {})
    return [(followers, shorter, x) for followers in counts for shorter in (UNIFORM, SKEWED) for x in "abd"]


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        label="ex-predicting-1",
        solution=(6, 20**5, 20**6, 20**5 * 19),
        mistakes=(
            Mistake(
                (5, 20**5, 20**6, 20**5 * 19),
                "The contexts are right, the name is not: the n of n-gram counts the predicted symbol too.",
            ),
            Mistake(
                (6, 20**6, 20**7, 20**6 * 19),
                "A context holds only the marks that came before. The predicted mark is not part of it.",
            ),
            Mistake(
                (6, 20**5, 20**6, 20**6 - 1),
                "You let all the numbers of the whole table sum to 1 together. Each context has a distribution of its "
                "own: how many sums are there?",
            ),
            Mistake(
                (6, 20**5, 20**6, 20**6),
                "Not all of them are free: when all but one of a context's numbers are chosen, the last one is fixed.",
            ),
        ),
        praise="Every further mark makes the table twenty times as large, with the same data to fill it.",
        rtol=0,
        atol=0,
    ),
    Exercise(
        label="ex-predicting-2",
        solution=string_probability,
        mistakes=(
            Mistake(
                without_start,
                "The first symbol is missing: it has a probability as well, and no symbol before it. Which table has "
                "it?",
            ),
            Mistake(
                independent,
                "You used the table `start` at every step, as if the symbols were independent. From the second symbol "
                "on, the one before it matters.",
            ),
            Mistake(
                turned_round,
                "You read the table the wrong way round: follow[a][b] is the probability of b given a, and a comes "
                "first.",
            ),
            Mistake(
                summed,
                "You added, and a sum of probabilities can be greater than 1. What joins 'this and then that'?",
            ),
        ),
        praise="One factor for the beginning and one for each step: the chain rule with a context of one symbol.",
        probes=strings,
    ),
    Exercise(
        label="ex-predicting-3",
        solution=smoothed,
        mistakes=(
            Mistake(
                events_not_types,
                "You used the number of all symbols that came, so the shorter context always gets half. D counts the "
                "different ones.",
            ),
            Mistake(
                one_novelty,
                "You counted one new symbol in all. How many times did a symbol come that was new to this context?",
            ),
            Mistake(
                sums_to_more,
                "Your probabilities sum to more than 1: what is added to the numerators belongs in the denominator "
                "as well.",
            ),
            Mistake(
                only_the_unseen,
                "You asked the shorter context about unseen symbols only, so the probabilities sum to less than 1. In "
                "the formula it contributes to every symbol.",
            ),
            Mistake(
                only_the_counts,
                "That is the relative frequency, which is 0 for whatever has not come yet. Add the shorter context.",
            ),
        ),
        praise="Repeat this from the uniform distribution up to a context of four, and you have the book's baseline.",
        probes=contexts,
    ),
    Exercise(
        label="ex-predicting-4",
        solution={"C", "D"},
        mistakes=(
            Mistake(
                {"D"},
                "You compared the next symbol only. Let one more b come after each past, and compare again.",
            ),
            Mistake(
                {"B", "C", "D"},
                "You count all the b's. Does the source distinguish none of them from three?",
            ),
            Mistake(
                {"A", "B", "C", "D", "E"},
                "These are all different pasts, and a perfect memory tells them all apart. Which of them have "
                "different futures?",
            ),
            Mistake(
                {"A", "B", "E"},
                "These are the pairs that may share a state; the question was about the others.",
            ),
        ),
        praise="C looks the same for one step and differs at the next. Three states are enough, and two are not.",
    ),
)
