"""Write the chapters as notebooks for students: without solutions, with the exercises' checks and cells to answer in.

The folder stands by itself: the drawings that the chapters show lie in it where the notebooks look for them.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path

import nbformat
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "_build" / "student"
# A gated solution may hold cells of code: it begins in one cell and ends in another.
GATE = re.compile(r"(?P<fence>`{3,}|:{3,})\{(?P<what>exercise-start|solution-start|solution-end)\}\s*(?P<label>\S*)")
BLOCK = re.compile(r"(?P<fence>`{3,}|:{3,})\{solution\}")
PICTURE = re.compile(r"\.\./(book/figures/[\w.-]+)")
ANSWER = "# Your answer\n"


def without_solutions(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook without solutions and outputs; where only a solution had code, an empty cell waits for it."""
    cells: list[NotebookNode] = []
    in_solution, has_cell, label = False, False, ""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            if not in_solution:
                cells.append(cell)
            elif not has_cell:
                waiting = nbformat.v4.new_code_cell(ANSWER)
                waiting.id = f"{label}-answer"[:64]
                cells.append(waiting)
            has_cell = True
            continue
        kept, fence = [], ""
        for line in cell.source.splitlines():
            if fence:  # within a block that closes with the fence it opened with
                fence = "" if line.strip() == fence else fence
            elif match := GATE.match(line):
                if match["what"] == "exercise-start":
                    has_cell = False
                    kept.append(line)
                else:
                    in_solution, label = match["what"] == "solution-start", match["label"]
                    fence = match["fence"]
            elif not in_solution:
                if match := BLOCK.match(line):
                    fence = match["fence"]
                else:
                    kept.append(line)
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
        if text:
            cell.source = text
            cells.append(cell)
    if in_solution:
        raise ValueError("a solution has no end")
    notebook.cells = cells
    for cell in cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbformat.validate(notebook)
    return notebook


def write_all(out: Path) -> int:
    """Write every chapter and its drawings; return the number of chapters."""
    chapters = sorted((ROOT / "chapters").glob("*.ipynb"))
    (out / "chapters").mkdir(parents=True)
    for path in chapters:
        notebook = without_solutions(nbformat.read(path, as_version=4))
        nbformat.write(notebook, out / "chapters" / path.name)
        for picture in PICTURE.findall("".join(cell.source for cell in notebook.cells)):
            (out / picture).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / picture, out / picture)
    return len(chapters)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT, help="a folder that is not there yet")
    out = parser.parse_args().out
    if out == OUT:
        shutil.rmtree(out, ignore_errors=True)
    elif out.exists():
        print(f"{out} is there already: choose a folder that is not.", file=sys.stderr)
        return 1
    print(f"{write_all(out)} notebooks without solutions are in {out / 'chapters'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
