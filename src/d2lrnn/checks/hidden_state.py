"""The self-checking exercises of the chapter *Hidden state*."""

from __future__ import annotations

from d2lrnn.checks.exercise import Exercise, Mistake

SIZES = {"W_xh": 100 * 100, "W_hh": 100 * 100, "b_h": 100, "W_hq": 100 * 418, "b_q": 418}

EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        label="ex-hidden-state-1",
        solution=SIZES,
        mistakes=(
            Mistake(
                {**SIZES, "W_xh": 418 * 100},
                "W_xh has a row for every number that comes in at one step: the words come as vectors of 100 numbers, "
                "not as one-hot vectors.",
            ),
            Mistake(
                {**SIZES, "b_q": 100},
                "A bias has as many numbers as the thing it is added to. What does b_q shift: the state or the output?",
            ),
        ),
        praise="None of the five knows how long the text is, or how many texts are read at once.",
    ),
)
