"""The scripts behind `make`: results are used again only while they hold, and a failed chapter fails every time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from book_extension import refresh_sources, share_blocks
from book_math import display_tex, typeset
from fingerprint import environment_fingerprint, file_digest, package_files
from lighten import purge
from store_outputs import CHECKED, METADATA, strip_outputs

TOOLS = Path(__file__).resolve().parent.parent / "tools"
# One process for the whole story: what is done to the book, and what an execution of its chapters says after it.
EXECUTE = """
import json, sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
import execute_chapters as execution
root, execution.WARM_FROM = Path(sys.argv[1]), int(sys.argv[3])
for changes in json.loads(sys.argv[2]):
    for name, text in changes.items():
        (root / name).write_text(text)
    with redirect_stdout(StringIO()) as said:
        failed = execution.execute_chapters(root, jobs=2)
    print(json.dumps([sorted(failed), said.getvalue()]))
"""
CONFIG = "execute:\n  timeout: 60\n"
TOC = "format: jb-book\nroot: chapters/one\nchapters:\n  - file: chapters/two\n"


def notebook(*sources: str, tags: tuple[str, ...] = ()) -> str:
    cells = [nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)}) for source in sources]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.writes(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}))


def run_python(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    # A process of its own, as in `make`: nbclient leaves event loops open behind it.
    environment = os.environ | {"PYTHONPATH": str(TOOLS), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True)


def execute(root: Path, *steps: dict[str, str], warm_from: int = 9) -> list[tuple[list[str], str]]:
    """Make the changes of each step and execute the chapters; return what failed and what was printed at each."""
    done = run_python("-c", EXECUTE, root, json.dumps(steps), str(warm_from))
    assert done.returncode == 0, done.stderr
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A book of two chapters with a package of two modules."""
    for folder in ("src/d2lrnn", "chapters"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "src/d2lrnn/__init__.py").write_text("")
    (tmp_path / "src/d2lrnn/text.py").write_text("ONE = 1\n")
    (tmp_path / "src/d2lrnn/metrics.py").write_text("TWO = 2\n")
    (tmp_path / "requirements.txt").write_text("torch\n")
    (tmp_path / "_config.yml").write_text(CONFIG)
    (tmp_path / "_toc.yml").write_text(TOC)
    (tmp_path / "chapters/one.ipynb").write_text(notebook("print(1)"))
    (tmp_path / "chapters/two.ipynb").write_text(notebook("print(2)"))
    return tmp_path


@pytest.mark.parametrize(
    ("before", "after", "is_another"),
    [
        ("A = 1\n", "A = 1  # one\n", False),
        ("A = 1\n", '"""Doc."""\n\nA = 1\n', False),
        ("def f():\n    return 1\n", 'def f():\n    """Doc."""\n    return 1\n', False),
        ("A = 1\n", "A = 2\n", True),
        ('A = "text"\n', 'A = "other"\n', True),
        ("def f(x=1): ...\n", "def f(x=2): ...\n", True),
        ("A = (\n", "A = ((\n", True),
    ],
)
def test_python_counts_by_what_it_does(tmp_path: Path, before: str, after: str, is_another: bool) -> None:
    path = tmp_path / "module.py"
    path.write_text(before)
    digest = file_digest(path)
    path.write_text(after)
    assert (file_digest(path) != digest) == is_another


def test_data_counts_by_its_bytes_and_not_by_its_date(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text("{}")
    before = file_digest(path)
    os.utime(path, (0, 0))
    assert file_digest(path) == before
    path.write_text("[]")
    os.utime(path, (0, 0))
    assert file_digest(path) != before
    path.unlink()
    assert file_digest(path) == "missing"


def test_the_environment_counts(root: Path) -> None:
    before = environment_fingerprint(root)
    (root / "requirements.txt").write_text("numpy\n")
    assert environment_fingerprint(root) != before


def test_sources_of_pages_are_no_reason_to_execute(root: Path) -> None:
    for name in ("a.css", "a.mjs", "a.js", "a.json"):
        (root / "src/d2lrnn" / name).write_text("x")
    assert [path.name for path in package_files(root)] == ["__init__.py", "a.json", "metrics.py", "text.py"]


@pytest.mark.slow
def test_a_failed_chapter_fails_every_time_and_the_others_are_kept(root: Path) -> None:
    failing = notebook("x = 1", "assert x == 2, 'x is one'")
    mended = notebook("x = 2", "assert x == 2, 'x is one'")
    first, again, after_mending, unchanged = execute(
        root, {"chapters/two.ipynb": failing}, {}, {"chapters/two.ipynb": mended}, {}
    )
    assert first[0] == ["two"] and "2 to execute" in first[1] and "x is one" in first[1]
    assert again[0] == ["two"] and "1 to execute" in again[1]
    assert after_mending[0] == [] and "1 to execute" in after_mending[1]
    assert unchanged[0] == [] and "0 to execute" in unchanged[1]


@pytest.mark.slow
def test_a_change_executes_the_chapters_that_opened_what_changed(root: Path) -> None:
    importing = notebook("import sys; sys.path.insert(0, '../src')", "from d2lrnn.text import ONE; print(ONE)")
    started = notebook("import subprocess, sys; subprocess.run([sys.executable, '-c', '0'], check=True)")
    steps = execute(
        root,
        {"chapters/one.ipynb": importing, "chapters/two.ipynb": started},
        {"src/d2lrnn/text.py": "ONE = 1  # a comment\n"},
        {"src/d2lrnn/text.py": "ONE = 2\n"},
        {"src/d2lrnn/metrics.py": "TWO = 3\n"},
        {"src/d2lrnn/text.py": "ONE = 1\n", "src/d2lrnn/metrics.py": "TWO = 2\n"},
        {"requirements.txt": "numpy\n"},
    )
    executed = [[name for name in ("one", "two") if f"]   {name} " in said] for _, said in steps]
    # A chapter that starts another Python may depend on all of the package. An earlier state finds its results.
    assert executed == [["one", "two"], [], ["one", "two"], ["two"], [], ["one", "two"]]


@pytest.mark.slow
def test_a_checked_cell_that_prints_something_else_fails_the_chapter(root: Path) -> None:
    tagged = nbformat.reads(notebook("print(2)", tags=(CHECKED,)), 4)
    tagged.cells[0].outputs = [nbformat.v4.new_output("stream", text="1\n")]
    other = nbformat.writes(tagged)
    tagged.cells[0].outputs[0]["text"] = "2\n"
    wrong, again, right = execute(
        root, {"chapters/two.ipynb": other}, {}, {"chapters/two.ipynb": nbformat.writes(tagged)}
    )
    assert wrong[0] == again[0] == ["two"] and "-1\n+2" in wrong[1] and "0 to execute" in again[1]
    assert right[0] == []


@pytest.mark.slow
def test_a_failed_build_leaves_the_last_good_book_and_a_good_one_takes_its_place(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
import build_book
root, sys.argv = Path(sys.argv[1]), ["build_book.py"]
build_book.BOOK, build_book.STAGING = root / "html", root / "staging"
build_book.execute_chapters = lambda root, jobs: []
build_book._missing_pages = lambda html: []
def sphinx(source, html, **options):
    html.mkdir(parents=True)
    (html / "page").write_text("new")
    return status
build_book.build_sphinx = sphinx
for status in (1, 0):
    print(build_book.main(), (root / "html/page").read_text(), (root / "staging").exists())
"""
    (tmp_path / "html").mkdir()
    (tmp_path / "html/page").write_text("old")
    done = run_python("-c", code, tmp_path)
    assert [line for line in done.stdout.splitlines() if line[:2] in ("1 ", "0 ")] == ["1 old True", "0 new False"]
    assert "the last one that was good" in done.stderr


@pytest.mark.slow
def test_what_is_no_notebook_and_a_kernel_that_dies_fail(root: Path) -> None:
    broken = {"chapters/one.ipynb": "{", "chapters/two.ipynb": notebook("import os; os._exit(3)")}
    assert execute(root, broken)[0][0] == ["one", "two"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux alone")
def test_forked_kernels_are_kernels_as_others_are(root: Path) -> None:
    importing = notebook(
        "import os, sys; sys.path.insert(0, '../src'); assert os.path.basename(os.getcwd()) == 'chapters'",
        "assert 'torch' in sys.modules and 'd2lrnn' not in sys.modules, 'torch alone is there before the first cell'",
        "import matplotlib; assert 'inline' in matplotlib.get_backend()",
        "from d2lrnn.text import ONE; x = 1",
    )
    dying = notebook("assert 'x' not in globals()", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    failing = notebook("print(ONE)")
    both, changed = execute(
        root,
        {"chapters/one.ipynb": importing, "chapters/two.ipynb": dying},
        {"src/d2lrnn/text.py": "ONE = 2\n", "chapters/two.ipynb": failing},
        warm_from=2,
    )
    assert both[0] == ["two"] and "Kernel died" in both[1]
    assert changed[0] == ["two"] and "2 to execute" in changed[1] and "NameError" in changed[1]


@pytest.mark.slow
def test_outputs_of_checked_cells_alone_are_stored_and_none_when_a_cell_fails(root: Path) -> None:
    printing = ("print(1, flush=True)\nprint(2)",)
    failing = notebook("print(1)", "1 / 0", tags=(CHECKED,))
    paths = [root / f"chapters/{name}.ipynb" for name in ("plain", "checked", "failing")]
    for path, text in zip(paths, (notebook(*printing), notebook(*printing, tags=(CHECKED,)), failing), strict=True):
        path.write_text(text)
    done = run_python(TOOLS / "store_outputs.py", *paths)
    assert done.returncode != 0 and "ZeroDivisionError" in done.stderr

    plain, checked = (nbformat.read(path, 4).cells[0] for path in paths[:2])
    assert (plain.outputs, plain.execution_count) == ([], None)
    assert [output.text for output in checked.outputs] == ["1\n2\n"]
    assert checked.execution_count == 1
    assert paths[2].read_text() == failing


def test_what_a_run_in_an_editor_stored_is_stripped_and_nothing_else_is_touched(tmp_path: Path) -> None:
    path = tmp_path / "run.ipynb"
    run = nbformat.reads(notebook("print(1)"), 4)
    run.cells += nbformat.reads(notebook("print(2)", tags=(CHECKED,)), 4).cells
    for count, cell in enumerate(run.cells, 7):
        cell.outputs = [nbformat.v4.new_output("stream", text=f"{count - 6}\n")]
        cell.execution_count, cell.metadata["execution"] = count, {"iopub.execute_input": "now"}
    run.metadata = {"kernelspec": {"name": "mine", "display_name": "Mine"}, "widgets": {"state": {}}}
    path.write_text(nbformat.writes(run))
    strip_outputs(path)
    stripped = nbformat.read(path, 4)
    assert stripped.metadata == METADATA
    assert [cell.execution_count for cell in stripped.cells] == [None, 1]
    assert [[output.text for output in cell.outputs] for cell in stripped.cells] == [[], ["2\n"]]
    assert all("execution" not in cell.metadata for cell in stripped.cells)
    text = path.read_text().replace('"metadata": {', '"metadata":   {', 1)  # somebody else's way to write JSON
    path.write_text(text)
    strip_outputs(path)
    assert path.read_text() == text


def test_shared_blocks_move_to_one_file_each() -> None:
    block = '<script type="application/json" class="d2lrnn-{}" data-hash="{}"{}>{}</script>'
    weights = block.format("shared", "ab12", ' data-name="weights" data-kind="base64"', '"AAH\\u003c/"')
    state = block.format("state", "cd34", "", '{"a":1}')
    files: dict[str, str] = {}
    page = share_blocks(f"<p>{weights}{state}</p><p>{weights}</p>", "../_static/", files)
    assert list(files) == ["ab12.js"]
    assert files["ab12.js"] == "(globalThis.d2lrnnBlocks ??= new Map()).set('ab12', \"AAH\\u003c/\");\n"
    assert page.count('<script src="../_static/ab12.js"></script>') == 1
    assert page.count('data-name="weights" data-kind="base64"></script>') == 2
    assert state in page, "what belongs to one widget stays with it"
    assert share_blocks(page, "../_static/", files) == page


@pytest.mark.parametrize("display", [False, True])
def test_a_formula_is_typeset_and_carries_mathml_and_its_tex(display: bool) -> None:
    html = typeset(r"\mathbf{H} = \tanh(\mathbf{X}\, W)", display)
    assert '<math xmlns="http://www.w3.org/1998/Math/MathML"' in html
    assert r'<annotation encoding="application/x-tex">\mathbf{H} = \tanh(\mathbf{X}\, W)</annotation>' in html
    assert '<span class="katex-html" aria-hidden="true">' in html
    assert ("katex-display" in html) == display


def test_a_formula_may_use_the_books_macros_and_no_unknown_command() -> None:
    with pytest.raises(ValueError, match=r"Undefined control sequence: .state at position 1"):
        typeset(r"\state_t")
    assert r"\mathbf" not in typeset(r"\state_t", macros={r"\state": r"\mathbf{H}"}).split("katex-html")[1]


def test_lines_of_a_block_are_aligned_as_sphinx_does_it() -> None:
    assert display_tex("a = b") == "a = b"
    assert display_tex(r"a &= b \\ &= c") == r"\begin{split}a &= b \\ &= c\end{split}"
    assert display_tex("a\n\nb") == r"\begin{aligned}a \\ b\end{aligned}"


def test_rules_of_names_that_no_page_has_are_dropped_and_others_kept() -> None:
    css = """/*! licence */ /* note */ p, .used > a:hover, .unused a { color: red }
    .used:not(.unused) { margin: 0 } #gone { margin: 0 } .sd-1\\/2 { width: 50% }
    @media print { .unused { color: red } } @media (max-width: 9px) { .used { --a: "\uf062" } }
    @font-face { font-family: x; src: url(x.woff2) }"""
    lines = purge(css, {"used", "sd-1/2"}).splitlines()
    assert lines == [
        "/*! licence */",
        "p,.used > a:hover{color: red}",
        ".used:not(.unused){margin: 0}",
        ".sd-1\\/2{width: 50%}",
        '@media (max-width: 9px) {.used{--a: "\uf062"}}',
        "@font-face { font-family: x; src: url(x.woff2) }",
    ]


def test_a_page_gets_the_sources_of_now() -> None:
    from d2lrnn.widgets import Perplexity

    html = Perplexity(word="rnn").static_html()
    assert refresh_sources(html) == html
    old = re.sub(r"<style data-hash=.*?</style>", '<style data-hash="00">old</style>', html, flags=re.DOTALL)
    old = re.sub(r'(class="d2lrnn-(module|shim)" data-hash=)"\w+">[^<]*<', r'\1"00">"old"<', old)
    old = old.replace("<script>", "<script>old();", 1)
    assert old.count("old") == 4
    assert refresh_sources(f"<p>{old}</p><p>{html}</p>") == f"<p>{html}</p><p>{html}</p>"
