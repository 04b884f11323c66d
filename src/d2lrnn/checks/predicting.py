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


def only_the_drawer(followers: Mapping[str, int], shorter: Table, x: str) -> float:
    return followers.get(x, 0) / sum(followers.values()) if followers else shorter[x]


def drawers() -> list[tuple]:
    contents = ({"a": 3, "b": 1}, {"a": 1}, {"a": 2, "b": 1, "c": 1, "d": 5}, {})
    return [(followers, shorter, x) for followers in contents for shorter in (UNIFORM, SKEWED) for x in "abd"]


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        label="ex-predicting-1",
        solution=(6, 20**5, 20**6, 20**5 * 19),
        mistakes=(
            Mistake(
                (5, 20**5, 20**6, 20**5 * 19),
                "The drawers are right, their name is not: the n of n-gram counts the predicted symbol too.",
            ),
            Mistake(
                (6, 20**6, 20**7, 20**6 * 19),
                "A drawer is labelled with the waves that came before. The wave to be predicted is on no label: it is "
                "what you hope to find inside.",
            ),
            Mistake(
                (6, 20**5, 20**6, 20**6 - 1),
                "You let all the numbers of the whole cabinet sum to 1 together. Each drawer is a distribution of its "
                "own: how many sums are there?",
            ),
            Mistake(
                (6, 20**5, 20**6, 20**6),
                "Not all of them are free: whoever has filled in all but one of a drawer's numbers has no choice left.",
            ),
        ),
        praise="Twenty times as much for every further wave, and hardly any sea to fill it with.",
        rtol=0,
        atol=0,
    ),
    Exercise(
        label="ex-predicting-2",
        solution=string_probability,
        mistakes=(
            Mistake(
                without_start,
                "Your chain has no beginning: the first symbol has a probability as well, and nothing before it to "
                "look it up under.",
            ),
            Mistake(
                independent,
                "You used the table for beginnings at every step. That is the heap again: what came before must have a "
                "say from the second symbol on.",
            ),
            Mistake(
                turned_round,
                "You went through the table the wrong way round: follow[a][b] is the probability of b given a, and a "
                "comes first.",
            ),
            Mistake(
                summed,
                "You added up, and a sum of probabilities may exceed 1. Which rule joins 'this and then that'?",
            ),
        ),
        praise="One factor for the beginning, one for each step: the chain rule, with a memory of one symbol.",
        probes=strings,
    ),
    Exercise(
        label="ex-predicting-3",
        solution=smoothed,
        mistakes=(
            Mistake(
                events_not_types,
                "You counted every bean as a novelty, so that the adviser always gets half. T counts the different "
                "symbols in the drawer.",
            ),
            Mistake(
                one_novelty,
                "You counted one novelty in all. How many times was the drawer caught out while it was being filled?",
            ),
            Mistake(
                sums_to_more,
                "Your probabilities sum to more than 1: what is added to the numerators has to be added below as well.",
            ),
            Mistake(
                only_the_unseen,
                "You asked the adviser about unseen symbols only, so the probabilities sum to less than 1. In the "
                "formula it has a say in every symbol.",
            ),
            Mistake(
                only_the_drawer,
                "That is the relative frequency, and it is 0 for whatever has not come yet. Ask the adviser.",
            ),
        ),
        praise="Stack a few of these on a uniform adviser, and you have the baseline of this book.",
        probes=drawers,
    ),
    Exercise(
        label="ex-predicting-5",
        solution={"C", "D"},
        mistakes=(
            Mistake(
                {"D"},
                "You compared the next symbol only. Let one more b come after each past, and compare again.",
            ),
            Mistake(
                {"B", "C", "D"},
                "You count all the b's. Does the source make a difference between none of them and three?",
            ),
            Mistake(
                {"A", "B", "C", "D", "E"},
                "These are all different pasts, and a perfect memory tells them all apart. But which of them must be, "
                "for the sake of the future?",
            ),
            Mistake(
                {"A", "B", "E"},
                "These are just the pairs that may be merged; the question was about the others.",
            ),
        ),
        praise="C looks harmless for one step, and is not. Three states will do, and two will not.",
    ),
)
