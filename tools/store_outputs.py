"""Execute notebooks and store the outputs of their checked cells, and nothing else; ``--strip`` executes nothing.

A cell tagged ``nbval-check-output`` keeps its output, against which nbval compares later runs; every other cell is
stored without, so that a notebook's diff shows what its author changed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

CHECKED = "nbval-check-output"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
KEPT_METADATA = ("mystnb", "myst")
NOISE = ("execution", "collapsed", "scrolled", "trusted", "ExecuteTime", "jp-MarkdownHeadingCollapsed")


def normalise(notebook: nbformat.NotebookNode) -> None:
    """Strip, in place, everything that differs from run to run or from machine to machine."""
    kept = {key: value for key, value in notebook.metadata.items() if key in KEPT_METADATA}
    notebook.metadata = nbformat.from_dict(METADATA | kept)
    for cell in notebook.cells:
        for key in NOISE:
            cell.metadata.pop(key, None)
        if cell.cell_type != "code":
            continue
        checked = CHECKED in cell.metadata.get("tags", [])
        # nbval takes a cell without a count for one that never ran and compares nothing; the number itself is noise.
        cell.execution_count = 1 if checked else None
        if not checked:
            cell.outputs = []
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = cell.execution_count


def strip_outputs(path: Path) -> None:
    """Take out what a run in a notebook's editor has stored; a file that holds nothing of it is left alone."""
    text = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=4)
    normalise(notebook)
    stripped = nbformat.writes(notebook) + "\n"
    if nbformat.reads(text, as_version=4) != notebook:
        path.write_text(stripped, encoding="utf-8")


def store_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(path.parent)}}
    quiet = ["--log-level=ERROR"]
    NotebookClient(notebook, timeout=300, coalesce_streams=True, extra_arguments=quiet, resources=where).execute()
    normalise(notebook)
    nbformat.validate(notebook)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


if __name__ == "__main__":
    strip = "--strip" in sys.argv
    for name in sys.argv[1:]:
        if name != "--strip":
            print(name, flush=True)
            (strip_outputs if strip else store_outputs)(Path(name))
