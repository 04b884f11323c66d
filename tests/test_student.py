"""Notebooks for students: no solution is left, every exercise and check is, and nothing misses what was taken out."""

from __future__ import annotations

import ast
import builtins
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

from student import ANSWER, ROOT, without_solutions, write_all

CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
CHECK = re.compile(r'^checks\.check\("([\w-]+)"', re.MULTILINE)
LABEL = re.compile(r"^:label: (ex-[\w-]+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("student") / "out"
    assert write_all(out) == len(CHAPTERS)
    return out


def code(notebook: NotebookNode) -> list[str]:
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def prose(notebook: NotebookNode) -> str:
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def names(sources: list[str], kind: type) -> set[str]:
    tree = ast.parse("\n".join(TransformerManager().transform_cell(source) for source in sources))
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, kind)}
    if kind is ast.Store:
        defined = ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef
        found |= {node.name for node in ast.walk(tree) if isinstance(node, defined)}
        found |= {str(node.name) for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)}
        found |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        imports = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
        found |= {(alias.asname or alias.name).split(".")[0] for node in imports for alias in node.names}
    return found


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_solutions_go_and_exercises_stay(folder: Path, path: Path) -> None:
    before, after = nbformat.read(path, as_version=4), nbformat.read(folder / "chapters" / path.name, as_version=4)
    assert "{solution" not in prose(after)
    assert LABEL.findall(prose(after)) == LABEL.findall(prose(before))
    started, ended = (prose(after).count(f"{{exercise-{gate}}}") for gate in ("start", "end"))
    assert started == ended == prose(before).count("{exercise-start}")
    assert all(not cell.get("outputs") for cell in after.cells)
    kept = [source for source in code(after) if source != ANSWER]
    assert kept == [source for source in code(before) if source in kept]
    checked = CHECK.findall("\n".join(kept))
    assert sorted(checked) == sorted(set(CHECK.findall("\n".join(code(before))))), "each check once, unsolved"
    missing = names(code(after), ast.Load) - names(code(after), ast.Store) - set(dir(builtins))
    assert missing - {"get_ipython", "display"} == set(), "a cell needs what only a solution defines"
    for picture in re.findall(r"\.\./(book/[\w./-]+)", prose(after)):
        assert (folder / picture).is_file()


def test_every_exercise_has_a_cell_to_answer_in(folder: Path) -> None:
    checks, waiting = 0, 0
    for path in (folder / "chapters").glob("*.ipynb"):
        cells = code(nbformat.read(path, as_version=4))
        checks += sum("checks.check(" in source for source in cells)
        waiting += cells.count(ANSWER)
    assert checks > 40 and waiting > 20


def test_a_solution_is_taken_out_of_the_middle_of_a_cell() -> None:
    exercise = "```{exercise-start}\n:label: ex-a\n```\n\nDo it."
    end = "```{exercise-end}\n```"
    block = "`````{solution} ex-b\n```\nx\n```\n`````"
    make = {"text": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    sources = [
        ("text", exercise),
        ("text", f"{end}\n\n```{{solution-start}} ex-a\n:class: dropdown\n```\n\nSo."),
        ("code", "answer = 1"),
        ("code", "answer"),
        ("text", f"And so.\n\n```{{solution-end}}\n```\n\nGo on.\n\n{block}\n\nEnd."),
    ]
    notebook = nbformat.v4.new_notebook(cells=[make[kind](source) for kind, source in sources])
    cells = [cell.source for cell in without_solutions(notebook).cells]
    assert cells == [exercise, end, ANSWER, "Go on.\n\nEnd."]


@pytest.mark.slow
def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    command = [sys.executable, ROOT / "tools" / "student.py", "--out", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and "is there already" in done.stderr and not any(tmp_path.iterdir())
