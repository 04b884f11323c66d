"""Exercises that check themselves.

Every chapter has some exercises with a cell to fill in. The last line of the cell hands the answer to :func:`check`,
which says whether it is right, names the mistake if it is one of the usual ones, and otherwise says what it can.

>>> from d2lrnn import checks
>>> checks.check("ex-hidden-state-1", ...)
… Not attempted yet: put your answer in place of the dots.

The solutions stand in the modules of this package, one a chapter: read them after you have tried.
"""

from __future__ import annotations

import difflib
from typing import Any

from d2lrnn.checks import (
    after_the_chain,
    bptt,
    by_hand,
    character_lm,
    concatenation,
    fast,
    gates,
    hidden_state,
    minibatches,
    perplexity,
    predicting,
)
from d2lrnn.checks.exercise import Exercise, Mistake, Verdict

__all__ = ["EXERCISES", "Exercise", "Mistake", "Verdict", "check"]

CHAPTERS = (
    predicting,
    hidden_state,
    concatenation,
    minibatches,
    character_lm,
    perplexity,
    bptt,
    by_hand,
    gates,
    fast,
    after_the_chain,
)

EXERCISES: dict[str, Exercise] = {exercise.label: exercise for chapter in CHAPTERS for exercise in chapter.EXERCISES}


def check(label: str, answer: Any) -> Verdict:
    """Judge the answer to an exercise of the book.

    Parameters
    ----------
    label : str
        The exercise's label, as it stands in the cell: ``"ex-<chapter>-<number>"``.
    answer : Any
        Your value or your function; ``...`` if you have not got one yet.

    Returns
    -------
    Verdict
        True as a condition if the answer is right; prints as one line.

    Raises
    ------
    ValueError
        If no exercise has that label.

    Examples
    --------
    >>> check("ex-hidden-state-1", {"W_xh": 10_000, "W_hh": 10_000, "b_h": 100, "W_hq": 41_800, "b_q": 418}).status
    'right'
    >>> bool(check("ex-hidden-state-1", 5))
    False
    """
    if label not in EXERCISES:
        near = difflib.get_close_matches(label, EXERCISES, n=1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"No exercise that checks itself has the label {label!r}.{meant} There are: {', '.join(EXERCISES)}."
        )
    return EXERCISES[label].judge(answer)
