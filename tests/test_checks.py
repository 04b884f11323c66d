"""Self-checking exercises: the right answer passes, the usual wrong ones get their hint, a blank says so."""

from __future__ import annotations

import math
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch

from d2lrnn import checks
from d2lrnn.checks.exercise import Exercise, Mistake, agree

CHAPTERS = Path(__file__).resolve().parent.parent / "chapters"
ALL = [pytest.param(exercise, id=label) for label, exercise in checks.EXERCISES.items()]
MISTAKES = [
    pytest.param(exercise, mistake, id=f"{label}-{number}")
    for label, exercise in checks.EXERCISES.items()
    for number, mistake in enumerate(exercise.mistakes, start=1)
]


@pytest.mark.parametrize("exercise", ALL)
def test_the_solution_is_right(exercise: Exercise) -> None:
    verdict = checks.check(exercise.label, exercise.solution)
    assert verdict and verdict.status == "right", verdict


@pytest.mark.parametrize(("exercise", "mistake"), MISTAKES)
def test_a_foreseen_mistake_gets_its_own_hint(exercise: Exercise, mistake: Mistake) -> None:
    verdict = checks.check(exercise.label, mistake.answer)
    assert not verdict and verdict.status == "wrong"
    assert verdict.message == mistake.hint


@pytest.mark.parametrize("exercise", ALL)
def test_a_blank_is_not_attempted(exercise: Exercise) -> None:
    blanks = [None, ..., (..., ...), {"answer": ...}]
    if callable(exercise.solution):
        blanks += [lambda *arguments: ..., lambda *arguments: None]
    for blank in blanks:
        verdict = checks.check(exercise.label, blank)
        assert not verdict and verdict.status == "blank" and "Not attempted" in str(verdict)


@pytest.mark.parametrize("exercise", ALL)
def test_nonsense_is_wrong_and_raises_nothing(exercise: Exercise) -> None:
    def breaks(*arguments: object) -> None:
        raise KeyError("deliberately")

    for answer in ["nonsense", -123.456, [], math.nan, torch.zeros(2, 3, 4), object(), breaks]:
        verdict = checks.check(exercise.label, answer)
        assert not verdict and verdict.status == "wrong" and len(verdict.message) > 20
    for result in (object(), torch.zeros(7, 5), np.zeros(3), [[1, 2], [3]], "", -1, {"a": 1}, {1}):
        verdict = checks.check(exercise.label, lambda *_, result=result: result)
        assert not verdict and verdict.status == "wrong" and len(verdict.message) > 20


@pytest.mark.parametrize("exercise", ALL)
def test_an_exercise_foresees_a_mistake_and_hints_without_blame(exercise: Exercise) -> None:
    assert exercise.mistakes
    assert len({mistake.hint for mistake in exercise.mistakes}) == len(exercise.mistakes)
    for mistake in exercise.mistakes:
        assert len(mistake.hint) > 30
    assert callable(exercise.solution) == (exercise.probes is not None)


NOTEBOOKS = sorted(CHAPTERS.glob("*.ipynb"))


def is_closer_look(path: Path) -> bool:
    """A sub-page of a lesson: 05_character_lm_decoding belongs to 05_character_lm."""
    return any(path.stem.startswith(f"{lesson.stem}_") for lesson in NOTEBOOKS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_lesson_has_exercises_that_fold_and_that_check_themselves(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    slug = path.stem[3:].replace("_", "-")
    exercises = re.findall(rf":label: (ex-{slug}-\d+)\n", prose)
    solved = re.findall(rf"{{solution(?:-start)?}} (ex-{slug}-\d+)\n:class: dropdown", prose)
    asked = re.findall(r'check\(\s*"(ex-[\w-]+)"', code)
    assert len(re.findall(r"\{exercise(?:-start)?\}", prose)) == len(exercises), "labels say where an exercise stands"
    assert exercises == [f"ex-{slug}-{n}" for n in range(1, len(exercises) + 1)]
    assert solved == exercises, "every exercise has one worked solution, folded, in the same order"
    assert is_closer_look(path) or (len(exercises) >= 5 and len(set(asked)) >= 2)
    assert set(asked) <= set(exercises)
    assert set(asked) == {label for label in checks.EXERCISES if re.fullmatch(rf"ex-{slug}-\d+", label)}
    for label in set(asked):
        calls = re.findall(rf'check\(\s*"{label}"', code)
        assert len(calls) >= 2, f"{label}: a cell to fill in, and one in the solution that passes"


def test_an_unknown_label_names_the_nearest_one() -> None:
    with pytest.raises(ValueError, match="Did you mean 'ex-hidden-state-1'"):
        checks.check("ex-hiden-state-1", 3)


def double(**keywords: object) -> Exercise:
    settings: dict = {
        "label": "ex-test-1",
        "solution": lambda x: 2 * x,
        "mistakes": (Mistake(lambda x: x**2, "That is the square, and the double was asked for."),),
        "probes": lambda: [(1.0,), (2.0,), (torch.tensor([3.0, 4.0]),)],
    }
    return Exercise(**(settings | keywords))


def test_a_function_is_judged_by_what_it_returns() -> None:
    assert double().judge(lambda x: x + x)
    assert "square" in double().judge(lambda x: x * x).message
    assert "returns 4" in double().judge(lambda x: x + 3).message
    assert "raised ZeroDivisionError" in double().judge(lambda x: 1 / 0).message
    assert "expected a number, got a text" in double().judge(lambda x: "two").message
    assert "Pass the function itself" in double().judge(2.0).message


def test_a_function_that_changes_its_arguments_harms_nobody() -> None:
    def in_place(x: float | torch.Tensor) -> float | torch.Tensor:
        x *= 2
        return x

    exercise = double()
    assert exercise.judge(in_place) and exercise.judge(in_place)


def test_not_implemented_counts_as_blank() -> None:
    def later(x: float) -> float:
        raise NotImplementedError

    assert double().judge(later).status == "blank"


def test_what_counts_as_equal() -> None:
    equal = [
        ((2, 3), [2, 3]),
        (torch.Size([2, 3]), (2, 3)),
        (np.float32(0.5), 0.5),
        (torch.tensor(0.5), 0.5),
        (torch.tensor([1.0, 2.0]), np.array([1.0, 2.0])),
        (torch.tensor([1, 2]), [1, 2]),
        (" Geometric ", "geometric"),
        ({"a": 1.0}, {"a": 1.0000001}),
        ({1, 2}, {2, 1}),
        (True, np.bool_(True)),
    ]
    different = [
        ((2, 3), (3, 2)),
        ((2, 3), (2, 3, 1)),
        (1, True),
        (0, False),
        ("2", 2),
        ({"a": 1}, {"b": 1}),
        (torch.zeros(2, 1), torch.zeros(2)),
        (torch.zeros(1), 0.0),
        (math.nan, 0.0),
        ([1], 1),
        ({1}, [1]),
    ]
    for answer, reference in equal:
        assert agree(answer, reference, 1e-3, 1e-6), (answer, reference)
    for answer, reference in different:
        assert not agree(answer, reference, 1e-3, 1e-6), (answer, reference)
