"""Execute the chapters that have changed, a few at a time, and hand the results to the cache from which Sphinx renders.

A result holds as long as the chapter's code, the environment and every file of the project that the chapter opened are
what they were: opened_files.py keeps the record. So a change of the package executes the chapters that import what
changed, and an earlier state of it finds its earlier results. Sphinx alone would execute one chapter after the other,
would stop at the first that fails, and would not see a change of the package.

The stored outputs of tagged cells are compared with those of the execution.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shutil
import sys
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import nbformat
import yaml
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from jupyter_client.manager import AsyncKernelManager
from nbformat import NotebookNode
from sphinx_external_toc.parsing import parse_toc_yaml

from fingerprint import NOT_EXECUTED, data_files, digest, environment_fingerprint, file_digest, package_files
from store_outputs import CHECKED
from warm_kernels import warm_kernels

ROOT = Path(__file__).resolve().parent.parent
WATCH = str(Path(__file__).resolve().parent / "opened_files.py")
RESULTS_KEPT = 4  # of each chapter
WARM_FROM = 4  # chapters: for fewer a warm process is not worth its start
# A cell that shows source or documentation depends on every letter of it.
SHOWS_SOURCE = re.compile(r"\bgetsource|\bgetdoc|\bhelp\(|__doc__|\?\s*$", re.MULTILINE)

# Kernels started by the build inherit these: widgets open no comm and progress bars are silent, and the numbers
# printed do not depend on how many cores the machine has.
os.environ["D2LRNN_STATIC"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"


class ChapterError(Exception):
    """A chapter failed; the message says how."""


def execution_folder(root: Path) -> Path:
    return root / "_build" / "execution"


def cache_folder(root: Path) -> Path:
    """Return the folder from which Sphinx takes what was executed."""
    return execution_folder(root) / "cache"


def notebooks_of_the_toc(root: Path = ROOT) -> list[Path]:
    """Return the notebooks that the book shows, in their order."""
    pages = parse_toc_yaml(root / "_toc.yml")
    return [path for page in pages if (path := root / f"{page}.ipynb").exists()]


def _cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _code_digest(notebook: NotebookNode) -> str:
    tags = [json.dumps(cell.metadata.get("tags", [])) for cell in _cells(notebook)]
    return digest(text.encode() for text in [*(cell.source for cell in _cells(notebook)), *tags])


@dataclass
class Result:
    """A chapter that was executed: its notebook with outputs, and what it depended on."""

    notebook: Path
    depends: Path

    @classmethod
    def place(cls, root: Path, chapter: Path, key: str) -> Result:
        folder = execution_folder(root) / "results"
        return cls(folder / f"{chapter.stem}-{key}.ipynb", folder / f"{chapter.stem}-{key}.json")

    def holds(self, root: Path, code: str) -> bool:
        if not self.notebook.is_file():
            return False
        record = json.loads(self.depends.read_text())
        if record["code"] != code or record["environment"] != environment_fingerprint(root):
            return False
        whole = record["files letter by letter"]
        return all(_digest(root / name, whole) == value for name, value in record["files"].items())

    def remove(self) -> None:
        self.notebook.unlink(missing_ok=True)
        self.depends.unlink(missing_ok=True)


def _digest(path: Path, letter_by_letter: bool) -> str:
    if letter_by_letter and path.is_file():
        return digest([path.read_bytes()])
    return file_digest(path)


def _results(root: Path, chapter: Path) -> list[Result]:
    """Return what is stored of a chapter, the latest first."""
    records = (execution_folder(root) / "results").glob(f"{chapter.stem}-*.json")
    own = [path for path in records if path.stem.rpartition("-")[0] == chapter.stem]
    own.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    return [Result(path.with_suffix(".ipynb"), path) for path in own]


def _depended_on(root: Path, record: Path) -> list[Path]:
    """Return the files that a chapter opened, and more where what it opened can't be known."""
    lines = record.read_text().splitlines()
    if "*" in lines:
        return package_files(root)
    files = set(data_files(root))
    for line in lines:
        path = Path(line)
        if path.parent.name == "__pycache__":
            path = path.parent.parent / f"{path.name.partition('.')[0]}.py"
        if path.suffix not in NOT_EXECUTED and path.is_file() and not {"_build", ".venv"} & set(path.parts):
            files.add(path)
    return sorted(files)


def _text(output: NotebookNode) -> str:
    if output.output_type == "stream":
        return output.text
    return output.get("data", {}).get("text/plain", "")


def _compare(before: NotebookNode, after: NotebookNode) -> None:
    """Raise if a tagged cell printed something else than what is stored with it."""
    for old, new in zip(_cells(before), _cells(after), strict=True):
        if CHECKED in old.metadata.get("tags", []):
            stored, printed = ("".join(map(_text, cell.outputs)).rstrip() for cell in (old, new))
            if stored != printed:
                lines = difflib.unified_diff(
                    stored.splitlines(), printed.splitlines(), "stored", "printed now", lineterm=""
                )
                raise ChapterError("\n".join(["A checked cell prints something else:", old.source, "", *lines]))


def _execute(root: Path, path: Path, timeout: float, manager: type) -> float:
    """Execute a chapter and store the result; return the seconds that it took."""
    notebook = nbformat.read(path, as_version=4)
    code = _code_digest(notebook)
    letter_by_letter = any(SHOWS_SOURCE.search(cell.source) for cell in _cells(notebook))
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "opened"
        watch = f"__import__('runpy').run_path({WATCH!r})['record']({str(record)!r}, {str(root)!r})"
        executed = single_nb_execution(
            notebook,
            cwd=str(path.parent),
            timeout=timeout,
            allow_errors=False,
            kernel_manager_class=manager,
            # No warning about an unencrypted kernel among the lines of progress.
            extra_arguments=["--log-level=ERROR", f"--IPKernelApp.exec_lines={watch}"],
        )
        if executed.exc_string:
            raise ChapterError(executed.exc_string)
        files = _depended_on(root, record)
    depends = {
        "code": code,
        "environment": environment_fingerprint(root),
        "files letter by letter": letter_by_letter,
        "files": {file.relative_to(root).as_posix(): _digest(file, letter_by_letter) for file in files},
        "seconds": round(executed.time, 1),
    }
    text = json.dumps(depends, indent=1)
    result = Result.place(root, path, digest([text.encode()]))
    result.notebook.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(executed.nb, result.notebook)
    result.depends.write_text(text)
    for old in _results(root, path)[RESULTS_KEPT:]:
        old.remove()
    return executed.time


def _hand_over(root: Path, chapters: list[Path]) -> dict[str, str]:
    """Fill the cache of Sphinx with the results that hold; return what is wrong with a chapter's checked outputs."""
    shutil.rmtree(cache_folder(root), ignore_errors=True)
    cache = get_cache(cache_folder(root))
    wrong: dict[str, str] = {}
    for path in chapters:
        if (result := _find(root, path)) is None:
            continue
        notebook, executed = (nbformat.read(file, as_version=4) for file in (path, result.notebook))
        try:
            _compare(notebook, executed)
        except ChapterError as error:
            wrong[path.stem] = str(error)
        for cell, done in zip(_cells(notebook), _cells(executed), strict=True):
            cell.outputs, cell.execution_count = done.outputs, done.execution_count
        seconds = json.loads(result.depends.read_text())["seconds"]
        bundle = CacheBundleIn(notebook, str(path), data={"execution_seconds": seconds})
        cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
    return wrong


def _find(root: Path, chapter: Path) -> Result | None:
    try:
        code = _code_digest(nbformat.read(chapter, as_version=4))
    except Exception:  # no notebook at all, which will show when it is executed
        return None
    found = next((result for result in _results(root, chapter) if result.holds(root, code)), None)
    if found:
        found.depends.touch()  # the last to go
    return found


def execute_chapters(root: Path = ROOT, jobs: int = 1) -> list[str]:
    """Execute what no stored result holds for, and return the names of the chapters that failed."""
    timeout = yaml.safe_load((root / "_config.yml").read_text())["execute"]["timeout"]
    chapters = notebooks_of_the_toc(root)
    width = max((len(path.stem) for path in chapters), default=0)
    changed = [path for path in chapters if _find(root, path) is None]
    print(f"Chapters: {len(chapters)}, of which {len(changed)} to execute ({jobs} at a time)", flush=True)
    failed: list[str] = []
    # A fork of a process with torch in it is safe on Linux alone.
    warm = warm_kernels() if len(changed) >= WARM_FROM and sys.platform == "linux" else nullcontext(AsyncKernelManager)
    with warm as manager, ThreadPoolExecutor(jobs) as pool:
        running: dict[Future[float], Path] = {
            pool.submit(_execute, root, path, timeout, manager): path for path in changed
        }
        try:
            for number, future in enumerate(as_completed(running), 1):
                path, place = running[future], f"[{number}/{len(changed)}]"
                try:
                    print(f"{place:7} {path.stem:{width}}  {future.result():5.1f} s", flush=True)
                except Exception as error:  # a cell, a kernel that died, a notebook that is no notebook
                    failed.append(path.stem)
                    problem = str(error) if isinstance(error, ChapterError) else f"{type(error).__name__}: {error}"
                    print(f"{place:7} {path.stem:{width}}  FAILED\n{problem}", flush=True)
        except KeyboardInterrupt:
            # Waiting for the other chapters would take minutes; their kernels end when this process is gone.
            print("Interrupted: a book in _build/html is an earlier one.", file=sys.stderr, flush=True)
            os._exit(130)
    for name, problem in _hand_over(root, chapters).items():
        failed.append(name)
        print(f"{name}  FAILED\n{problem}", flush=True)
    return failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1, help="chapters executed at a time")
    names = execute_chapters(ROOT, parser.parse_args().jobs)
    if names:
        print(f"Failed: {', '.join(names)}", file=sys.stderr)
    sys.exit(bool(names))
