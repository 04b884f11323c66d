"""The explorable in JupyterLab with a live kernel: Python sees what the reader does, and can do it as well."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
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
SHOW, PRINT, SET_PROBS, SET_WORD, SET_BOTH = range(len(CELLS))


@dataclass
class Lab:
    address: str
    token: str
    log: Path


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab on a free port, with folders of its own: nobody's settings come in, nothing is left behind."""
    home = tmp_path_factory.mktemp("lab")
    notebooks = home / "notebooks"
    notebooks.mkdir()
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, notebooks / "explorable.ipynb")

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
        yield Lab(_address(server, home / "runtime", log), token, log)
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


@pytest.fixture
def notebook(lab: Lab, browser: Browser) -> Iterator[Page]:
    # Not a watched page: that refuses every web socket, and the kernel speaks through one.
    context = browser.new_context(viewport={"width": 1200, "height": 1600})
    outside: list[str] = []
    context.on("request", lambda request: outside.append(request.url) if OUTSIDE.match(request.url) else None)
    context.route(OUTSIDE, lambda route: route.abort())
    page = context.new_page()
    page.goto(f"{lab.address}lab/tree/explorable.ipynb?token={lab.token}")
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(len(CELLS), timeout=START_S * 1000)
    # A cell that is run before the kernel is connected is dropped without a word. (The notebook's own indicator says
    # "idle" from the first moment.)
    expect(page.locator("#jp-main-statusbar")).to_contain_text("Python 3 (ipykernel) | Idle", timeout=KERNEL_MS)
    yield page
    context.close()
    assert outside == [], "something was asked of the network"


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
    expect(number).to_have_text("4.00")
    assert widget.bounding_box()["width"] > 500, "it takes the width of the output area"

    # The reader moves, Python sees.
    first = widget.locator("input[type=range]").first
    first.focus()
    page.keyboard.press("End")
    expect(number).to_have_text("2.83")
    seen_by_python(page, "seen rnn [1.0, 0.125] 2.8284")
    widget.get_by_label("Word").fill("rnns")
    seen_by_python(page, f"seen rnns [1.0, 0.125, {1 / 27}] 6.0")

    # Python moves, the reader sees.
    widget.get_by_role("button", name="Reset").click()
    expect(number).to_have_text("4.00")
    run_cell(page, SET_PROBS)
    expect(number).to_have_text("5.00")
    expect(widget.locator(".ppl-p").first).to_have_text("0.20")
    run_cell(page, SET_WORD)
    expect(widget.get_by_label("Word")).to_have_value("gated")
    expect(widget.locator("input[type=range]")).to_have_count(4)
    seen_by_python(page, f"seen gated [0.2, 0.2, {1 / 27}, {1 / 27}] 11.619")
    run_cell(page, SET_BOTH)
    expect(number).to_have_text("1.25")

    # The reset of the view restores what the author gave, in Python too.
    widget.get_by_role("button", name="Reset").click()
    expect(number).to_have_text("4.00")
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
    views.last.get_by_role("button", name="unsure").click()
    for view in (views.first, views.last):
        expect(view.locator(".ppl-number")).to_have_text("5.00")
