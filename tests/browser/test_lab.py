"""The explorable in JupyterLab with a live kernel: Python sees what the reader does, and can do it as well."""

from __future__ import annotations

import ast
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jupyter_client import BlockingKernelClient
from playwright.sync_api import Browser, Locator, Page, expect

from watching import OUTSIDE

pytestmark = pytest.mark.browser

START_S = 90  # a busy machine takes its time; every wait ends as soon as it can
KERNEL_MS = 90_000

CELLS = [
    "from d2lrnn.widgets import Perplexity\nw = Perplexity(word='rnn', probs=[0.5, 0.125])\nw",
    "print('seen', w.word, w.probs, round(w.perplexity, 4))",
    "w.probs = [0.2, 0.2]",
    "w.word = 'gated'",
    "w.update(word='lstm', probs=[0.8, 0.8, 0.8])",
]
NOTEBOOK = "explorables.ipynb"
SHOW, PRINT, SET_PROBS, SET_WORD, SET_BOTH = range(len(CELLS))

ROOT = Path(__file__).resolve().parent.parent.parent
MAKES_ONE = re.compile(r"^d\.widgets\.(\w+)\(", re.M)


def chapter_cells() -> dict[str, str]:
    """The cells of the chapters that show an explorable, by its name, word for word."""
    found = {}
    for chapter in sorted((ROOT / "chapters").glob("*.ipynb")):
        for cell in json.loads(chapter.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code" and (match := MAKES_ONE.search(source)):
                found[match[1]] = f"import d2lrnn as d\n\n{source}"
    return found


CHAPTER_CELLS = chapter_cells()
OWN_CORPUS = 'TrainingLab("own.txt", num_hiddens=16, num_steps=8, batch_size=4, learning_rate=0.02)'
ALL_CELLS = [*CELLS, *CHAPTER_CELLS.values(), OWN_CORPUS]
PLACES = {name: len(CELLS) + i for i, name in enumerate(CHAPTER_CELLS)}
OWN = len(ALL_CELLS) - 1


@dataclass
class Move:
    """The reader moves a control, which sets a trait; then Python sets the trait, which moves the control."""

    label: str | re.Pattern[str]
    how: str  # a key, or what is typed or chosen
    trait: str
    value: Any
    set_to: Any
    shown: str
    first: str = ""  # a trait that Python sets before, so that the control is in sight


MOVES = {
    "Attention": Move("Your text", "low tide", "text", "low tide", "high tide", "high tide"),
    "Clipping": Move("limit θ", "End", "clip", 70.0, 1.0, "1"),
    "Concatenation": Move(re.compile("^Numbers in H"), "End", "num_hiddens", 4, 2, "2"),
    "ContextTable": Move("Go on from", "low tide", "start", "low tide", "a ship", "a ship", "view = 'write'"),
    "Gates": Move("Push the gates", "End", "bias", 4.0, 1.0, "1", "bias = 1.0"),
    "GradientFlow": Move("factor of each step", "End", "radius", 1.6, 0.5, "50"),
    "HiddenState": Move("Your own text", "low tide at four", "text", "low tide at four", "a boat", "a boat"),
    "NextCharacter": Move("Your text", "low tide", "text", "low tide", "a ship", "a ship"),
    "Perplexity": Move("Word", "rnn", "word", "rnn", "gated", "gated"),
    "Scan": Move(re.compile("^Round"), "End", "step", 7, 2, "2"),
    "SurpriseMap": Move("Your own text", "low tide", "text", "low tide", "high tide", "high tide"),
    "TrainingLab": Move("learning rate", "End", "learning_rate", 5.0, 0.01, "4"),
    "Truncation": Move("Each letter passes on", "End", "factor", 0.95, 0.5, "10"),
    "Windows": Move("Batch size", "End", "batch_size", 6, 2, "2"),
}


@dataclass
class Lab:
    address: str
    token: str
    runtime: Path

    def kernel_of(self, notebook: str) -> Path:
        """The file that says how to reach the kernel of an open notebook."""
        with urllib.request.urlopen(f"{self.address}api/sessions?token={self.token}") as answer:
            sessions = json.load(answer)
        [kernel] = [session["kernel"]["id"] for session in sessions if session["path"] == notebook]
        return self.runtime / f"kernel-{kernel}.json"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab on a free port, with folders of its own: nobody's settings come in, nothing is left behind."""
    import nbformat  # takes a second and a half, in each process that collects these tests

    home = tmp_path_factory.mktemp("lab")
    notebooks = home / "notebooks"
    notebooks.mkdir()
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in ALL_CELLS])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, notebooks / NOTEBOOK)
    (notebooks / "own.txt").write_text("low tide at four and high tide at ten " * 80, encoding="utf-8")

    environment = {key: value for key, value in os.environ.items() if not key.startswith("JUPYTER")}
    environment.pop("D2LRNN_STATIC", None)  # this is the live front end that the variable denies
    folders = {"CONFIG_DIR": "config", "DATA_DIR": "data", "RUNTIME_DIR": "runtime"}
    environment |= {f"JUPYTER_{name}": str(home / folder) for name, folder in folders.items()}
    environment |= {f"JUPYTERLAB_{name}_DIR": str(home / name.lower()) for name in ("SETTINGS", "WORKSPACES")}
    environment |= {"IPYTHONDIR": str(home / "ipython"), "OMP_NUM_THREADS": "1"}
    token = secrets.token_hex(16)
    log = home / "lab.log"
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", "--port=0",
        f"--ServerApp.root_dir={notebooks}", f"--IdentityProvider.token={token}", "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--LabApp.extension_manager=readonly",
    ]  # fmt: skip
    with log.open("wb") as output:
        server = subprocess.Popen(command, env=environment, cwd=home, stdout=output, stderr=output)
    try:
        yield Lab(_address(server, home / "runtime", log), token, home / "runtime")
    finally:
        server.send_signal(signal.SIGTERM)  # the server ends its kernels before itself
        try:
            server.wait(timeout=30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _address(server: subprocess.Popen[bytes], runtime: Path, log: Path) -> str:
    """Wait for the file in which the server says where it listens."""
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        if server.poll() is not None:
            break
        for file in runtime.glob("jpserver-*.json"):
            try:
                return json.loads(file.read_text())["url"]
            except (json.JSONDecodeError, KeyError):
                pass  # it is still being written
        time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")


@contextmanager
def opened(lab: Lab, browser: Browser) -> Iterator[Page]:
    """The notebook in JupyterLab, its kernel connected."""
    # Not a watched page: that refuses every web socket, and the kernel speaks through one.
    context = browser.new_context(viewport={"width": 1200, "height": 1600}, reduced_motion="reduce")
    outside: list[str] = []
    context.on("request", lambda request: outside.append(request.url) if OUTSIDE.match(request.url) else None)
    context.route(OUTSIDE, lambda route: route.abort())
    page = context.new_page()
    page.goto(f"{lab.address}lab/tree/{NOTEBOOK}?token={lab.token}")
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(len(ALL_CELLS), timeout=START_S * 1000)
    # A cell that is run before the kernel is connected is dropped without a word. (The notebook's own indicator says
    # "idle" from the first moment.)
    expect(page.locator("#jp-main-statusbar")).to_contain_text("Python 3 (ipykernel) | Idle", timeout=KERNEL_MS)
    yield page
    context.close()
    assert outside == [], "something was asked of the network"


class Kernel:
    """A second client of the kernel that the notebook uses: it sees the same objects."""

    def __init__(self, connection: Path) -> None:
        self._client = BlockingKernelClient(connection_file=str(connection))
        self._client.load_connection_file()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=START_S)

    def run(self, code: str) -> None:
        self.value("None", code)

    def value(self, expression: str, code: str = "") -> Any:
        """What an expression is worth in the kernel."""
        expressions = {"value": expression}
        reply = self._client.execute(
            code, silent=True, user_expressions=expressions, reply=True, timeout=KERNEL_MS / 1000
        )["content"]
        assert reply["status"] == "ok", reply
        answer = reply["user_expressions"]["value"]
        assert answer["status"] == "ok", answer
        return ast.literal_eval(answer["data"]["text/plain"])

    def wait_for(self, expression: str) -> None:
        until = time.monotonic() + KERNEL_MS / 1000
        while not self.value(expression):
            assert time.monotonic() < until, f"never came about: {expression}"
            time.sleep(0.05)

    def close(self) -> None:
        self._client.stop_channels()


# A page takes JupyterLab some five seconds of a core, a kernel some three: all tests share one. The last closes it.
@pytest.fixture(scope="module")
def chapters(lab: Lab, browser: Browser) -> Iterator[tuple[Page, Kernel]]:
    with opened(lab, browser) as page:
        kernel = Kernel(lab.kernel_of(NOTEBOOK))
        try:
            yield page, kernel
        finally:
            kernel.close()


@pytest.fixture
def notebook(chapters: tuple[Page, Kernel]) -> Page:
    return chapters[0]


def run_cell(page: Page, index: int) -> Locator:
    """Run one cell and wait until it has run once more than before; return it."""
    cell = page.locator(".jp-Notebook .jp-CodeCell").nth(index)
    prompt = cell.locator(".jp-InputPrompt")
    before = prompt.inner_text()
    cell.locator(".cm-content").click()
    expect(cell.locator(".cm-editor.cm-focused")).to_have_count(1)
    page.keyboard.press("Control+Enter")
    expect(prompt).not_to_have_text(before, timeout=KERNEL_MS)
    expect(prompt).not_to_have_text("[*]:", timeout=KERNEL_MS)
    return cell


def seen_by_python(page: Page, expected: str) -> None:
    cell = run_cell(page, PRINT)
    expect(cell.locator(".jp-OutputArea-output")).to_have_text(expected, timeout=KERNEL_MS)


def test_python_and_the_reader_see_each_other(notebook: Page) -> None:
    page = notebook
    shown = run_cell(page, SHOW)
    widget = shown.locator('.d2lrnn-widget[data-ready="1"]')
    expect(widget).to_have_count(1, timeout=KERNEL_MS)
    expect(widget.locator(".d2lrnn-fallback")).to_have_count(0)  # the live view, not the HTML
    number = widget.locator(".ppl-number")
    expect(number).to_have_text("4")
    assert widget.bounding_box()["width"] > 500, "it takes the width of the output area"

    # The reader moves, Python sees.
    first = widget.locator("input[type=range]").first
    first.focus()
    page.keyboard.press("Home")
    expect(number).to_have_text("2.83")
    seen_by_python(page, "seen rnn [1.0, 0.125] 2.8284")
    widget.get_by_text("Your own word").click()
    widget.get_by_label("Word").fill("rnns")
    seen_by_python(page, f"seen rnns {[1 / 27] * 3} 27.0")  # a new word begins anew

    # The arrow keys are the slider's, not the notebook's; letters typed on it are nobody's. Shortcuts with Ctrl are.
    first.focus()
    for key, moves in (("ArrowRight", 1), ("ArrowUp", 1), ("ArrowLeft", -1), ("ArrowDown", -1)):
        before = int(first.input_value())
        page.keyboard.press(key)
        expect(first).to_have_value(str(before + moves))
        expect(first).to_be_focused()
    page.keyboard.type("ddb")
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(len(ALL_CELLS))
    page.keyboard.press("Control+s")
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)

    # Python moves, the reader sees.
    widget.get_by_role("button", name="Reset").click()
    expect(number).to_have_text("4")
    run_cell(page, SET_PROBS)
    expect(number).to_have_text("5")
    expect(widget.locator(".ppl-p").first).to_have_text("20%")
    run_cell(page, SET_WORD)
    expect(widget.get_by_label("Word")).to_have_value("gated")
    expect(widget.locator("input[type=range]")).to_have_count(4)
    seen_by_python(page, f"seen gated [0.2, 0.2, {1 / 27}, {1 / 27}] 11.619")
    run_cell(page, SET_BOTH)
    expect(number).to_have_text("1.25")

    # The reset of the view restores what the author gave, in Python too.
    widget.get_by_role("button", name="Reset").click()
    expect(number).to_have_text("4")
    seen_by_python(page, "seen rnn [0.5, 0.125] 4.0")


def test_two_views_of_one_widget_move_together(notebook: Page) -> None:
    page = notebook
    shown = run_cell(page, SHOW)
    expect(shown.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(1, timeout=KERNEL_MS)
    cell = page.locator(".jp-Notebook .jp-CodeCell").nth(SET_PROBS)
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("w")
    page.keyboard.press("Control+Enter")
    views = page.locator('.d2lrnn-widget[data-ready="1"]')
    expect(views).to_have_count(2, timeout=KERNEL_MS)
    views.last.get_by_text("Your own word").click()
    views.last.get_by_role("button", name="unlikely").click()
    for view in (views.first, views.last):
        expect(view.locator(".ppl-number")).to_have_text("5")


def show(page: Page, kernel: Kernel, index: int) -> Locator:
    """Run the cell of an explorable; it is `w` in the kernel then."""
    widget = run_cell(page, index).locator('.d2lrnn-widget[data-ready="1"]')
    expect(widget).to_have_count(1, timeout=KERNEL_MS)
    expect(widget.locator(".d2lrnn-fallback")).to_have_count(0)
    kernel.run("w = _")
    return widget


def text_unlike(before: str, widget: Locator) -> str:
    """What a widget says as soon as it says something else."""
    widget.page.wait_for_function("([e, before]) => e.innerText !== before", arg=[widget.element_handle(), before])
    return widget.inner_text()


def test_every_explorable_of_the_chapters_is_alive_and_moves_both_ways(chapters: tuple[Page, Kernel]) -> None:
    page, kernel = chapters
    assert CHAPTER_CELLS.keys() == MOVES.keys()
    for name, place in PLACES.items():
        widget, move = show(page, kernel, place), MOVES[name]
        widget.locator("details").evaluate_all("(folds) => folds.forEach((fold) => { fold.open = true; })")
        assert kernel.value("type(w).__name__") == name
        if move.first:
            kernel.run(f"w.{move.first}")
            expect(page.get_by_label(move.label)).to_be_visible()
        assert len(widget.inner_text()) > 100
        is_handle = name == "Clipping"  # it has no other control than handles and buttons
        controls = widget.locator("[role=slider]" if is_handle else "input, select, textarea")
        control = controls.and_(page.get_by_label(move.label, exact=move.label in ("Text", "limit θ")))
        before = widget.inner_text()
        assert kernel.value(f"w.{move.trait}") != move.value

        if control.evaluate("(e) => e.localName") == "select":
            control.select_option(move.how)
        elif is_handle or control.get_attribute("type") == "range":
            control.press(move.how)
        else:
            control.fill(move.how)
        kernel.wait_for(f"w.{move.trait} == {move.value!r}")
        moved = text_unlike(before, widget)

        kernel.run(f"w.{move.trait} = {move.set_to!r}")
        if is_handle:
            expect(control).to_have_attribute("aria-valuenow", move.shown)
        else:
            expect(control).to_have_value(move.shown)
        text_unlike(moved, widget)
        kernel.run("w.close()")


TRAINS = "[thread.name for thread in __import__('threading').enumerate() if 'training lab' in thread.name]"


def perplexity(lab: Locator) -> float:
    """What stands at the end of the curve."""
    return float(lab.locator(".lab-now-value").text_content().replace("\u202f", ""))


def updates(lab: Locator) -> int:
    return int(lab.locator(".lab-count").inner_text().partition(" correction")[0].replace("\u202f", ""))


def waited_for(page: Page, condition: Callable[[], bool]) -> None:
    until = time.monotonic() + KERNEL_MS / 1000
    while not condition():
        assert time.monotonic() < until, "it never came about"
        page.wait_for_timeout(50)


def test_the_training_lab_trains_with_torch(chapters: tuple[Page, Kernel]) -> None:
    page, kernel = chapters
    lab = show(page, kernel, PLACES["TrainingLab"])
    assert kernel.value("w.engine") == "torch"
    lab.locator(".lab-now-value").wait_for(state="attached", timeout=KERNEL_MS)
    start = kernel.value("w.heldout_perplexity")
    assert 20 < start < 40 and updates(lab) == 0 and perplexity(lab) == pytest.approx(start, abs=0.051)
    assert kernel.value(TRAINS) == []

    lab.get_by_role("button", name="fast", exact=True).click()
    lab.get_by_role("button", name="Start", exact=True).click()
    device = kernel.value("str(__import__('d2lrnn').describe_device(w.model.device))")
    drawn = set()
    waited_for(page, lambda: drawn.add(updates(lab)) or len(drawn) > 3)  # the curve comes bit by bit
    expect(lab.locator(".lab-count")).to_contain_text(device)
    waited_for(page, lambda: perplexity(lab) < 0.7 * start)
    assert kernel.value("(w.report['status'], type(w.model).__name__)") == ("running", "RNNLM")
    assert kernel.value(TRAINS) == ["d2lrnn training lab"]
    assert kernel.value("w.heldout_perplexity") < 0.8 * start
    assert lab.locator(".lab-letter").count() == 96

    lab.get_by_role("button", name="Pause", exact=True).click()
    kernel.wait_for(f"w.report['status'] == 'paused' and {TRAINS} == []")
    steps = kernel.value("w.report['steps']")
    waited_for(page, lambda: updates(lab) == steps)

    lab.locator("summary", has_text="More settings").click()
    lab.get_by_label("memory units").press("Home")  # a change of size begins anew
    kernel.wait_for("w.report['steps'] == 0 and w.model.rnn.num_hiddens == 2")
    lab.get_by_role("button", name="GRU", exact=True).click()
    kernel.wait_for("w.report['steps'] == 0 and type(w.model.rnn).__name__ == 'GRU'")
    lab.get_by_role("button", name="Reset", exact=True).click()
    kernel.wait_for("w.num_hiddens == 64 and w.report['steps'] == 0 and w.model.rnn.num_hiddens == 64")
    waited_for(page, lambda: updates(lab) == 0)


def test_it_learns_a_text_that_the_reader_names_and_stops_when_the_notebook_is_closed(
    chapters: tuple[Page, Kernel],
) -> None:
    page, kernel = chapters
    kernel.run("from d2lrnn.widgets import TrainingLab")
    lab = show(page, kernel, OWN)
    kernel.run("own = w")
    lab.get_by_role("button", name="normal").click()
    lab.get_by_role("button", name="Start", exact=True).click()
    lab.locator(".lab-now-value").wait_for(state="attached", timeout=KERNEL_MS)
    waited_for(page, lambda: perplexity(lab) < 2 and "tide at" in lab.locator(".lab-writes").inner_text())
    lab.get_by_role("button", name="slow").click()  # at a quicker pace it would soon be at its end
    kernel.wait_for("w.speed == 'slow'")
    assert kernel.value(TRAINS) == ["d2lrnn training lab"]

    page.locator(".lm-TabBar-tab.jp-mod-current .lm-TabBar-tabCloseIcon").click()
    page.get_by_role("button", name="Discard").click()
    expect(page.locator(".jp-NotebookPanel")).to_have_count(0)
    kernel.wait_for(f"{TRAINS} == []")
    assert kernel.value("own.report['status']") == "paused"
