"""How long lessons and closer looks are, whether the stated minutes are honest, and that a reader may jump."""

from __future__ import annotations

import re
import symtable
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode
from sphinx_external_toc.parsing import parse_toc_yaml

ROOT = Path(__file__).resolve().parent.parent
SITE = parse_toc_yaml(ROOT / "_toc.yml")
CHAPTERS = [name for name in SITE if name.startswith("chapters/")]
LESSONS = [str(item) for tree in SITE["book/index"].subtrees for item in tree.items if str(item) in CHAPTERS]
CLOSER_LOOKS = [name for name in CHAPTERS if name not in LESSONS]

# Directives whose body is no prose; those of notes, exercises and theorems is.
NO_PROSE = re.compile(
    r"^(`{3,}|~{3,}|:{3,})(?:\{(?:math|code|code-block|figure|image|list-table)\}|\w|$).*?^\1\s*$", re.M | re.S
)
MATHEMATICS = re.compile(r"\$\$.*?\$\$|\$[^$]+\$", re.S)
MARKUP = re.compile(r"^:\w[\w-]*:.*$|\{[\w:]+\}|\]\([^)]*\)|^[`~:]{3,}.*$", re.M)
WORD = re.compile(r"[A-Za-z0-9][\w'’.,-]*")  # noqa: RUF001
EXERCISES = re.compile(r"^## Exercises", re.M)
SECTION = re.compile(r"^## ", re.M)


def num_words(markdown: str) -> int:
    """Words of prose; a formula in a sentence counts as one.

    >>> num_words("Let $x$ be **large**.\\n```python\\nx = 3\\n```\\n$$y$$")
    5
    """
    return len(WORD.findall(MARKUP.sub(" ", MATHEMATICS.sub(" x ", NO_PROSE.sub(" ", markdown)))))


def read(name: str) -> NotebookNode:
    return nbformat.read(ROOT / f"{name}.ipynb", as_version=4)


def before_exercises(notebook: NotebookNode) -> list[NotebookNode]:
    cells = notebook.cells
    marks = (i for i, c in enumerate(cells) if c.cell_type == "markdown" and EXERCISES.search(c.source))
    return cells[: next(marks, len(cells))]


def shown_code(cells: list[NotebookNode]) -> list[str]:
    hidden = {"hide-cell", "remove-cell"}
    return [c.source for c in cells if c.cell_type == "code" and not hidden & set(c.metadata.get("tags", []))]


def minutes(cells: list[NotebookNode]) -> float:
    """200 words a minute, 20 seconds a cell, 3 minutes an explorable."""
    words = sum(num_words(cell.source) for cell in cells if cell.cell_type == "markdown")
    code = shown_code(cells)
    explorables = sum("widgets." in source for source in code)
    return words / 200 + (len(code) - explorables) / 3 + 3 * explorables


def test_there_are_eleven_lessons_and_their_closer_looks() -> None:
    assert len(LESSONS) == 11 and len(CLOSER_LOOKS) > 20
    assert all(any(look.startswith(f"{lesson.split('_')[0]}_") for lesson in LESSONS) for look in CLOSER_LOOKS)


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_is_short(name: str) -> None:
    cells = before_exercises(read(name))
    assert sum(num_words(cell.source) for cell in cells if cell.cell_type == "markdown") <= 2500
    assert len(shown_code(cells)) <= 30


@pytest.mark.parametrize("name", CLOSER_LOOKS)
def test_a_closer_look_is_short(name: str) -> None:
    assert sum(num_words(cell.source) for cell in read(name).cells if cell.cell_type == "markdown") <= 3500


def test_the_whole_text_is_short() -> None:
    cells = [cell for name in CHAPTERS for cell in read(name).cells if cell.cell_type == "markdown"]
    assert sum(num_words(cell.source) for cell in cells) <= 60_000


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_stated_minutes_are_honest(name: str) -> None:
    notebook = read(name)
    stated = re.search(r"[Aa]bout (\d+) minutes", "".join(cell.source for cell in notebook.cells[:3]))
    if stated is None:
        assert name in CLOSER_LOOKS, "a lesson says its time"
        return
    told, counted = int(stated[1]), minutes(before_exercises(notebook))
    if name in LESSONS:
        assert abs(told - counted) <= 3
    else:  # proofs take longer than their words
        assert counted - 3 <= told <= 2 * counted + 5


def names(source: str) -> tuple[set[str], set[str]]:
    """Names that a cell assigns, and those that it reads from outside of its own functions.

    >>> [sorted(found) for found in names("def f(a):\\n    return a + b\\nc = f(d)")]
    [['c', 'f'], ['b', 'd', 'f']]
    """
    try:
        table = symtable.symtable(TransformerManager().transform_cell(source), "cell", "exec")
    except SyntaxError:
        return set(), set()  # to be filled in
    assigned = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}

    def read_in(block: symtable.SymbolTable) -> Iterator[str]:
        for symbol in block.get_symbols():
            if symbol.is_referenced() and (block is table or symbol.is_global()):
                yield symbol.get_name()
        for inner in block.get_children():
            yield from read_in(inner)

    return assigned, set(read_in(table))


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_name_stands_for_two_things(name: str) -> None:
    """A name that two sections assign is assigned again by each later section that reads it: a reader may jump."""
    sections: list[tuple[set[str], set[str]]] = [(set(), set())]
    for cell in read(name).cells:
        if cell.cell_type == "markdown" and SECTION.search(cell.source):
            sections.append((set(), set()))
        elif cell.cell_type == "code":
            assigned, used = names(cell.source)
            mine, missing = sections[-1]
            missing |= used - mine - assigned
            mine |= assigned
    for i, (_, missing) in enumerate(sections):
        for wanted in missing:
            places = [j for j, (assigned, _) in enumerate(sections[:i]) if wanted in assigned]
            assert len(places) <= 1, f"section {i} reads {wanted!r}, which sections {places} assign"
