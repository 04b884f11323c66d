"""The page of exercises and solutions lists every exercise, as the chapters have it, and its answers hold."""

from __future__ import annotations

import ast
import inspect
import math
import re
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import pytest
import torch

from d2lrnn import checks

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "book" / "solutions.md").read_text(encoding="utf-8")
EXERCISE = re.compile(r"\{exercise(?:-start)?\} ([^\n]*)\n:label: (\S+)\n")
ROW = re.compile(r"^\* - \{ref\}`(.+) <(.+)>`\n  - (yes|no)\n  - (.+(?:\n    .+)*)\n", re.MULTILINE)
# Answers that the page gives as code, in one of its bits of inline code: a value, or an expression in the arguments.
GIVEN_AS_CODE = [
    "ex-predicting-4",
    "ex-hidden-state-3",
    "ex-hidden-state-5",
    "ex-concatenation-3",
    "ex-minibatches-1",
    "ex-minibatches-2",
    "ex-minibatches-3",
    "ex-minibatches-5",
    "ex-minibatches-cutting-1",
    "ex-minibatches-subwords-2",
    "ex-perplexity-3",
    "ex-bptt-1",
    "ex-bptt-5",
    "ex-by-hand-2",
    "ex-by-hand-3",
    "ex-gates-1",
    "ex-gates-2",
    "ex-fast-1",
    "ex-fast-2",
    "ex-fast-ranks-3",
    "ex-after-the-chain-1",
]


class Row(NamedTuple):
    title: str
    label: str
    checks_itself: str
    answer: str


def chapters() -> dict[str, list[tuple[str, str]]]:
    """Title of every page that has exercises, with their titles and labels, in the order of the book."""
    found = {}
    for path in sorted((ROOT / "chapters").glob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        [title] = re.findall(r"^# (.+)$", prose.split("\n## ")[0], re.MULTILINE)
        if exercises := EXERCISE.findall(prose):
            found[title] = exercises
    return found


def sections() -> dict[str, list[Row]]:
    parts = re.split(r"^## (.+)\n", PAGE, flags=re.MULTILINE)
    return {title: [Row(*row) for row in ROW.findall(body)] for title, body in zip(parts[1::2], parts[2::2])}


ROWS = {row.label: row for rows in sections().values() for row in rows}


def test_every_exercise_is_listed_once_in_order_with_its_title() -> None:
    missing = [label for exercises in chapters().values() for _, label in exercises if label not in ROWS]
    assert not missing, f"book/solutions.md has no row for {', '.join(missing)}"
    listed = {title: [(row.title, row.label) for row in rows] for title, rows in sections().items()}
    assert listed == chapters()
    assert list(listed) == list(chapters()), "the chapters in the order of the book"


def test_no_row_is_overlooked() -> None:
    headers = len(sections())
    assert len(re.findall(r"^\* - ", PAGE, re.MULTILINE)) - headers == sum(map(len, sections().values()))


def test_those_that_check_themselves_are_marked() -> None:
    marked = [row.label for rows in sections().values() for row in rows if row.checks_itself == "yes"]
    assert sorted(marked) == sorted(checks.EXERCISES)


@pytest.mark.parametrize("label", ROWS)
def test_an_answer_is_a_sentence_or_a_few(label: str) -> None:
    answer = ROWS[label].answer
    assert 20 <= len(answer) <= 700, "in brief"
    assert answer.endswith("."), "one sentence or formula a line, with a full stop"


def as_answer(code: str, solution: Any) -> Any:
    """What stands in inline code, as a learner would hand it in; None if it is no answer to this exercise."""
    if not callable(solution):
        try:
            return ast.literal_eval(code)
        except (ValueError, SyntaxError):
            return None
    arguments = ", ".join(inspect.signature(solution).parameters)
    try:
        ast.parse(code, mode="eval")
    except SyntaxError:
        return None
    return eval(f"lambda {arguments}: ({code})", {"torch": torch, "log2": math.log2})


@pytest.mark.parametrize("label", GIVEN_AS_CODE)
def test_an_answer_given_as_code_is_right(label: str) -> None:
    solution = checks.EXERCISES[label].solution
    pieces = re.findall(r"(?<!`)`([^`\n]+)`", ROWS[label].answer)
    verdicts = {piece: checks.check(label, as_answer(piece, solution)) for piece in pieces}
    assert any(verdicts.values()), verdicts
