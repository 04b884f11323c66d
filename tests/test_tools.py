"""The scripts behind `make`: results are used again only while they hold, and a failed chapter fails every time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from fingerprint import package_fingerprint, write_chapter_fingerprints
from store_outputs import CHECKED

TOOLS = Path(__file__).resolve().parent.parent / "tools"
EXECUTE = """
import sys
from pathlib import Path
from execute_chapters import execute_chapters
failed = execute_chapters(Path(sys.argv[1]), jobs=2)
print("failed:", *sorted(failed))
"""

CONFIG = "execute:\n  timeout: 60\n"
TOC = "format: jb-book\nroot: chapters/one\nchapters:\n  - file: chapters/two\n"


def write_notebook(path: Path, *sources: str, tags: tuple[str, ...] = ()) -> None:
    cells = [nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)}) for source in sources]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})))


def run_python(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    # A process of its own, as in `make`: nbclient leaves event loops open behind it.
    environment = os.environ | {"PYTHONPATH": str(TOOLS)}
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True)


def execute(root: Path) -> str:
    done = run_python("-c", EXECUTE, root)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A book of two chapters with a package of two modules."""
    for folder in ("src/d2lrnn", "chapters"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "src/d2lrnn/text.py").write_text("ONE = 1\n")
    (tmp_path / "src/d2lrnn/metrics.py").write_text("TWO = 2\n")
    (tmp_path / "requirements.txt").write_text("torch\n")
    (tmp_path / "_config.yml").write_text(CONFIG)
    (tmp_path / "_toc.yml").write_text(TOC)
    write_notebook(tmp_path / "chapters/one.ipynb", "print(1)")
    write_notebook(tmp_path / "chapters/two.ipynb", "print(2)")
    return tmp_path


def test_a_fingerprint_depends_on_contents_and_names_alone(root: Path) -> None:
    module = root / "src/d2lrnn/text.py"
    before = package_fingerprint(root)
    os.utime(module)
    (root / "src/d2lrnn/__pycache__").mkdir()
    (root / "src/d2lrnn/__pycache__/text.pyc").write_bytes(b"0")
    assert package_fingerprint(root) == before
    module.rename(module.with_name("words.py"))
    assert package_fingerprint(root) != before


@pytest.mark.parametrize("name", ["src/d2lrnn/metrics.py", "requirements.txt"])
def test_a_change_that_keeps_the_date_changes_the_fingerprint(root: Path, name: str) -> None:
    path, before = root / name, package_fingerprint(root)
    date = path.stat().st_mtime_ns
    path.write_text("other\n")
    os.utime(path, ns=(date, date))
    assert package_fingerprint(root) != before


def test_a_deleted_module_changes_the_fingerprint(root: Path) -> None:
    before = package_fingerprint(root)
    (root / "src/d2lrnn/metrics.py").unlink()
    assert package_fingerprint(root) != before


def test_only_the_changed_chapter_gets_a_new_fingerprint(root: Path) -> None:
    folder = root / "_build"
    write_chapter_fingerprints(folder, root)
    for path in folder.iterdir():
        os.utime(path, (0, 0))
    write_notebook(root / "chapters/two.ipynb", "print(3)")
    write_chapter_fingerprints(folder, root)
    assert (folder / "one.fingerprint").stat().st_mtime == 0
    assert (folder / "two.fingerprint").stat().st_mtime > 0


def test_a_failed_chapter_fails_every_time_and_the_others_are_kept(root: Path) -> None:
    write_notebook(root / "chapters/two.ipynb", "x = 1", "assert x == 2, 'x is one'")
    first = execute(root)
    assert "2 to execute" in first and "x is one" in first and first.endswith("failed: two\n")
    again = execute(root)
    assert "1 to execute" in again and again.endswith("failed: two\n")

    write_notebook(root / "chapters/two.ipynb", "x = 2", "assert x == 2, 'x is one'")
    mended = execute(root)
    assert "1 to execute" in mended and mended.endswith("failed:\n")
    assert "0 to execute" in execute(root)
    (root / "src/d2lrnn/metrics.py").write_text("TWO = 3\n")
    assert "2 to execute" in execute(root)


def test_what_is_no_notebook_and_a_kernel_that_dies_fail(root: Path) -> None:
    (root / "chapters/one.ipynb").write_text("{")
    write_notebook(root / "chapters/two.ipynb", "import os; os._exit(3)")
    assert execute(root).endswith("failed: one two\n")


def test_only_outputs_of_checked_cells_are_stored(root: Path) -> None:
    for name, tags in (("one", ()), ("two", (CHECKED,))):
        write_notebook(root / f"chapters/{name}.ipynb", "print(1, flush=True)\nprint(2)", tags=tags)
        done = run_python(TOOLS / "store_outputs.py", root / f"chapters/{name}.ipynb")
        assert done.returncode == 0, done.stderr
    plain, checked = (nbformat.read(root / f"chapters/{name}.ipynb", 4).cells[0] for name in ("one", "two"))
    assert (plain.outputs, plain.execution_count) == ([], None)
    assert [output.text for output in checked.outputs] == ["1\n2\n"]
    assert checked.execution_count == 1


def test_outputs_stay_as_they_are_when_a_cell_fails(root: Path) -> None:
    path = root / "chapters/one.ipynb"
    write_notebook(path, "print(1)", "1 / 0", tags=(CHECKED,))
    before = path.read_text()
    done = run_python(TOOLS / "store_outputs.py", path)
    assert done.returncode != 0 and "ZeroDivisionError" in done.stderr
    assert path.read_text() == before
