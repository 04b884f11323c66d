"""What a self-checking exercise is made of, and how an answer is judged.

An answer is a value (number, text, shape, array) or a function. A value is compared with the solution; a function is
called with the exercise's probes, and what it returns is compared with what the solution returns. An answer that is
wrong in a way that somebody foresaw gets the hint that belongs to that mistake.
"""

from __future__ import annotations

import copy
import math
import reprlib
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

__all__ = ["Exercise", "Mistake", "Verdict"]

SIGNS = {"right": "✓", "wrong": "✗", "blank": "…"}


@dataclass(frozen=True)
class Verdict:
    """What a check says of an answer; true if the answer is right.

    Attributes
    ----------
    status : {"right", "wrong", "blank"}
    message : str
    """

    status: Literal["right", "wrong", "blank"]
    message: str

    def __bool__(self) -> bool:
        return self.status == "right"

    def __repr__(self) -> str:
        # A notebook does not break the lines of an output: on a phone the end of a long one would be out of sight.
        return textwrap.fill(f"{SIGNS[self.status]} {self.message}", width=64, subsequent_indent="  ")


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that can be foreseen, and the hint that names what went wrong.

    Attributes
    ----------
    answer : Any
        The wrong value, or a function that makes the mistake.
    hint : str
        Names the mistake without giving the solution away.
    """

    answer: Any
    hint: str


@dataclass(frozen=True)
class Exercise:
    """An exercise that checks itself.

    Attributes
    ----------
    label : str
        The exercise's label in the book, ``"ex-<chapter>-<number>"``.
    solution : Any
        The right value, or a function that computes it.
    mistakes : tuple of Mistake
        The first one that behaves as the answer does gives its hint.
    praise : str
        What to notice once the answer is right.
    probes : callable, optional
        Returns the argument tuples that a function is called with; made anew for every check, so that a function that
        changes its arguments harms nobody. Needed if and only if the solution is a function.
    rtol, atol : float
        How closely numbers must agree: ``|answer - solution| <= atol + rtol * |solution|``.
    """

    label: str
    solution: Any
    mistakes: tuple[Mistake, ...]
    praise: str = ""
    probes: Callable[[], Sequence[tuple]] | None = None
    rtol: float = 1e-3
    atol: float = 1e-6

    def judge(self, answer: Any) -> Verdict:
        """Compare an answer with the solution, then with the mistakes.

        Parameters
        ----------
        answer : Any
            A value or a function, as the exercise asks for; ``None`` and ``...`` count as not attempted.

        Returns
        -------
        Verdict
        """
        if is_blank(answer):
            return self._blank()
        if callable(self.solution):
            return self._judge_function(answer)
        if callable(answer):
            return Verdict("wrong", f"This exercise asks for {describe(self.solution)}, and you passed a function.")
        if self._agree(answer, self.solution):
            return self._right()
        for mistake in self.mistakes:
            if self._agree(answer, mistake.answer):
                return Verdict("wrong", mistake.hint)
        if problem := misfit(answer, self.solution):
            return Verdict("wrong", problem)
        return Verdict("wrong", "Not yet. Read the exercise once more, and check the steps one at a time.")

    def _judge_function(self, function: Any) -> Verdict:
        if not callable(function):
            return Verdict(
                "wrong",
                f"This exercise asks for a function, and you passed {describe(function)}. "
                "Pass the function itself, by its name and without parentheses.",
            )
        results = []
        for arguments in self._probes():
            try:
                results.append(function(*arguments))
            except NotImplementedError:
                return self._blank()
            except Exception as error:  # whatever a learner's code may raise is told, not raised
                shown = ", ".join(map(brief, arguments))
                return Verdict("wrong", f"Your function, called with ({shown}), raised {type(error).__name__}: {error}")
        if all(is_blank(result) for result in results):
            return self._blank()
        expected = [self.solution(*arguments) for arguments in self._probes()]
        if self._agree(results, expected):
            return self._right()
        for mistake in self.mistakes:
            try:
                mistaken = [mistake.answer(*arguments) for arguments in self._probes()]
            except ArithmeticError:
                continue
            if self._agree(results, mistaken):
                return Verdict("wrong", mistake.hint)
        for arguments, result, wanted in zip(self._probes(), results, expected):
            if not self._agree(result, wanted):
                call = f"called with ({', '.join(map(brief, arguments))}) your function"
                if problem := misfit(result, wanted):
                    return Verdict("wrong", f"{call} gives the wrong kind of result: {problem}")
                return Verdict("wrong", f"Not yet: {call} returns {brief(result)}, which is not right.")
        raise AssertionError("results that differ as a whole differ somewhere")  # pragma: no cover

    def _probes(self) -> Sequence[tuple]:
        assert self.probes is not None, f"{self.label}: a function needs probes"
        return [copy.deepcopy(arguments) for arguments in self.probes()]

    def _agree(self, answer: Any, reference: Any) -> bool:
        return agree(answer, reference, self.rtol, self.atol)

    def _right(self) -> Verdict:
        return Verdict("right", f"Right. {self.praise}".rstrip())

    def _blank(self) -> Verdict:
        return Verdict("blank", "Not attempted yet: put your answer in place of the dots.")


def is_blank(answer: Any) -> bool:
    """Whether nothing was filled in: ``None``, ``...``, or a non-empty collection with one of those in it."""
    if answer is None or answer is ...:
        return True
    if isinstance(answer, Mapping):
        return any(is_blank(item) for item in answer.values())
    return isinstance(answer, list | tuple) and any(is_blank(item) for item in answer)


def plain(value: Any) -> Any:
    """Tensors, numpy arrays and numpy numbers as numpy arrays; all else as it is."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy()
    return np.asarray(value) if isinstance(value, np.generic) else value


def agree(answer: Any, reference: Any, rtol: float, atol: float) -> bool:
    """Whether two values are equal: numbers within the tolerance, texts but for case and surrounding blanks."""
    answer, reference = plain(answer), plain(reference)
    if isinstance(reference, bool | np.bool_) or isinstance(answer, bool | np.bool_):
        return isinstance(answer, bool | np.bool_) and bool(answer) == reference
    if isinstance(reference, str) or isinstance(answer, str):
        both = isinstance(answer, str) and isinstance(reference, str)
        return both and answer.strip().casefold() == reference.strip().casefold()
    if isinstance(reference, Mapping):
        return (
            isinstance(answer, Mapping)
            and answer.keys() == reference.keys()
            and all(agree(answer[key], reference[key], rtol, atol) for key in reference)
        )
    if isinstance(reference, set | frozenset):
        return isinstance(answer, set | frozenset) and answer == reference
    if isinstance(reference, list | tuple) and isinstance(answer, list | tuple):
        return len(answer) == len(reference) and all(agree(a, r, rtol, atol) for a, r in zip(answer, reference))
    try:
        left, right = np.asarray(answer), np.asarray(reference)
        return left.shape == right.shape and bool(np.allclose(left, right, rtol=rtol, atol=atol, equal_nan=True))
    except (TypeError, ValueError):
        # What numpy makes no array of: a ragged sequence, an object of some other kind.
        return answer is reference


def misfit(answer: Any, reference: Any) -> str | None:
    """Say in what way an answer can't even be compared with the reference, if that is so."""
    wanted, given = describe(reference), describe(answer)
    return None if wanted == given else f"expected {wanted}, got {given}."


def describe(value: Any) -> str:
    """Name the kind of a value, with its shape or length."""
    value = plain(value)
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape}"
    if isinstance(value, bool | np.bool_):
        return "True or False"
    if isinstance(value, int | float | np.ndarray):
        number = float(value)
        return "a number" if math.isfinite(number) else "a number that is not finite"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, list | tuple):
        return f"a sequence of {len(value)}"
    if isinstance(value, Mapping):
        return f"a dictionary with the keys {sorted(map(str, value))}"
    return f"an object of type {type(value).__name__}"


def brief(value: Any) -> str:
    """A value in a few characters, arrays by their shape if they are large."""
    array = plain(value)
    if isinstance(array, np.ndarray):
        return f"<array of shape {array.shape}>" if array.size > 6 else str(np.round(array, 4).tolist())
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return f"{value:.6g}" if isinstance(value, float) else reprlib.repr(value)
