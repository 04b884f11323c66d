"""Hygiene of the chapters: what they store, how long their cells are, what a reader or a translator needs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode
from sphinx_external_toc.parsing import parse_toc_yaml

from store_outputs import CHECKED, METADATA

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
LINES_OF_A_CELL = 14
IMAGE_FILE = re.compile(r"\.(png|svg|jpe?g|gif)$|[/\\]\S+$", re.IGNORECASE)
TITLE = re.compile(r"(\([\w-]+\)=\n)*# \S")  # labels may stand before it
CODE_AND_MATH = re.compile(r"(`{3,}|~{3,}).*?\1|`+[^`]+`+|\$\$.*?\$\$|\$[^$]+\$", re.DOTALL)
REFERENCE_LINK = re.compile(r"\[[^\]\n]+\]\[[^\]\n]*\]|^\s{0,3}\[[^\]\n]+\]:\s", re.MULTILINE)


@pytest.fixture(params=CHAPTERS, ids=lambda path: path.stem, scope="module")
def chapter(request: pytest.FixtureRequest) -> NotebookNode:
    return nbformat.read(request.param, as_version=4)


def code_cells(notebook: NotebookNode) -> Iterator[tuple[str, NotebookNode]]:
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            yield f"cell {index} ({cell.source.strip().splitlines()[0] if cell.source.strip() else 'empty'})", cell


def is_checked(cell: NotebookNode) -> bool:
    return CHECKED in cell.metadata.get("tags", [])


def syntax_tree(cell: NotebookNode) -> ast.Module:
    return ast.parse(TransformerManager().transform_cell(cell.source))


def calls_at_cell_level(tree: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls that the cell makes itself, leaving out the bodies of functions and classes that it defines."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.Call):
            yield node
        yield from calls_at_cell_level(node)


def draws(cell: NotebookNode) -> bool:
    for call in calls_at_cell_level(syntax_tree(cell)):
        name = ast.unparse(call.func)
        if name.rpartition(".")[2].startswith("plot_") or re.match(r"plt\.(?!rc|style|close)", name):
            return True
    return False


def test_the_table_of_contents_names_every_chapter() -> None:
    pages = {page for page in parse_toc_yaml(ROOT / "_toc.yml") if page.startswith("chapters/")}
    assert pages == {f"chapters/{path.stem}" for path in CHAPTERS}


def test_every_page_of_the_table_of_contents_exists() -> None:
    for page in parse_toc_yaml(ROOT / "_toc.yml"):
        assert any((ROOT / f"{page}{suffix}").is_file() for suffix in (".ipynb", ".md")), f"_toc.yml names {page}"


def test_chapter_is_valid_and_runs_on_any_python3_kernel(chapter: NotebookNode) -> None:
    nbformat.validate(chapter)
    assert chapter.nbformat == 4 and chapter.nbformat_minor >= 5, "cells need ids (nbformat 4.5)"
    assert chapter.metadata.kernelspec == METADATA["kernelspec"], "run `make outputs`"
    assert "widgets" not in chapter.metadata, "widget state is stored: run `make outputs`"


def test_chapter_opens_with_its_only_title(chapter: NotebookNode) -> None:
    prose = [cell.source for cell in chapter.cells if cell.cell_type == "markdown"]
    assert chapter.cells[0].cell_type == "markdown" and TITLE.match(chapter.cells[0].source)
    titles = [title for text in prose for title in re.findall(r"^# .+", CODE_AND_MATH.sub("", text), re.MULTILINE)]
    assert len(titles) == 1, f"one heading of the first level a chapter, found {titles}"


def test_checked_cells_have_an_output_and_no_other_cell_has_one(chapter: NotebookNode) -> None:
    for name, cell in code_cells(chapter):
        if is_checked(cell):
            assert cell.outputs, f"{name} is checked but has no stored output, so nbval would compare nothing"
            assert cell.execution_count == 1, f"{name}: nbval ignores a cell without a count; run `make outputs`"
        else:
            assert not cell.outputs, f"{name} stores an output but is not tagged {CHECKED}; run `make outputs`"
            assert cell.execution_count is None, f"{name} stores an execution count; run `make outputs`"


def test_checked_outputs_can_be_compared(chapter: NotebookNode) -> None:
    for name, cell in code_cells(chapter):
        for output in cell.outputs:
            assert output.output_type != "error", f"{name} stores an error"
            assert output.get("name") != "stderr", f"{name} stores what went to stderr"
            for kind in output.get("data", {}):
                assert kind.startswith("text/"), f"{name} stores {kind}, which nbval does not compare"
            text = output.get("text", "") + "".join(map(str, output.get("data", {}).values()))
            assert not re.search(r"\b0x[0-9a-f]{6,}", text), f"{name} stores a memory address"


def test_chapter_has_checked_cells(chapter: NotebookNode) -> None:
    assert any(is_checked(cell) for _, cell in code_cells(chapter))


def test_cells_are_short(chapter: NotebookNode) -> None:
    for name, cell in code_cells(chapter):
        lines = [line for line in cell.source.splitlines() if line.strip()]
        assert 0 < len(lines) <= LINES_OF_A_CELL, f"{name} has {len(lines)} lines, at most {LINES_OF_A_CELL} read well"


def test_chapter_calls_the_package(chapter: NotebookNode) -> None:
    imported = set()
    for _, cell in code_cells(chapter):
        for node in ast.walk(syntax_tree(cell)):
            if isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").split(".")[0])
            elif isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
    assert "d2lrnn" in imported


def test_drawings_have_a_text_alternative(chapter: NotebookNode) -> None:
    found = []
    for name, cell in code_cells(chapter):
        if draws(cell):
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
            assert len(alt) >= 30, f"{name} draws: say what is to be seen in its metadata, mystnb.image.alt"
            assert not IMAGE_FILE.search(alt), f"{name}: {alt!r} is the name of a file"
            found.append(alt)
    assert len(set(found)) == len(found), "two figures have the same text alternative"


def test_links_are_inline(chapter: NotebookNode) -> None:
    for cell in chapter.cells:
        if cell.cell_type == "markdown":
            found = REFERENCE_LINK.findall(CODE_AND_MATH.sub("", cell.source))
            assert not found, f"reference-style links get lost in translation: {found}"
