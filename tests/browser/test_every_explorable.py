"""What holds for every explorable: it mounts from disk and over http, fits a phone, can be read and used by everybody,
survives whatever its controls are moved to, and comes back from a reset."""

from __future__ import annotations

import json
import os
import re
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn import widgets
from d2lrnn.widgets.page import page_of as page_of_its_own
from gallery import read_tiles
from pages import LOW_CONTRAST, page_of, served
from watching import Record, watched_page

pytestmark = pytest.mark.browser

NAMES = [name for name in widgets.__all__ if name != "Explorable"]
# Fourteen explorables, ten thousand moves. Another seed: D2LRNN_MOVES_SEED=7 make browser
SEED = int(os.environ.get("D2LRNN_MOVES_SEED", "0"))
MOVES, WARM_UP = 720, 300
# What a move may leave behind, far below what forgetting one listener, node or list would come to.
LEFT_BEHIND = {"JSEventListeners": 0.25, "Nodes": 0.25, "JSHeapUsedSize": 500}
DRIVER = (Path(__file__).parent / "random_moves.js").read_text(encoding="utf-8")
TEXTS = ["", "the tide", "</script><img src=x onerror=alert(1)>", "👩\u200d💻", "\u202eevil\u0000", "z" * 5000, "1,5,2"]
NAME_OF = "(e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent || '').trim()"
# Numbers that have no business on a page.
NONSENSE = re.compile(r"\bNaN\b|\bundefined\b|\bInfinity\b|\[object")


def show(page: Page, folder: Path, name: str, address: str | None = None, theme: str | None = None) -> Locator:
    widget = getattr(widgets, name)()
    (folder / "page.html").write_text(page_of(widget, theme=theme), encoding="utf-8")
    page.goto(f"{address or folder.as_uri()}/page.html")
    found = page.locator('.d2lrnn-widget[data-ready="1"]')
    expect(found).to_have_count(1)
    return found


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=390, height=844) as (page, record):
        yield page, record
        assert record.errors == [] and record.outside == []


# Who speaks to the machine says what can be read on a control. (axe counts the rule as experimental.)
RULE = "label-content-name-mismatch"
NAMES_AS_SHOWN = {"runOnly": [RULE], "rules": {RULE: {"enabled": True}}}
MISMATCHED = """async (options) => (await axe.run(".d2lrnn-view", options)).violations
  .flatMap((violation) => violation.nodes.map((node) => node.html.slice(0, 120)))"""
AXE = Axe().axe_script
# What glides in is there, or was stopped.
AT_REST = """() => Promise.race([
  Promise.allSettled(document.getAnimations().map((animation) => animation.finished)),
  new Promise((done) => setTimeout(done, 1000)),
]).then(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0))))"""
WORKERS = (
    "globalThis.workers = 0; const W = Worker; globalThis.Worker = class extends W {"
    " constructor(...a) { super(...a); workers += 1; } terminate() { super.terminate(); workers -= 1; } };"
)
# Of every control: what it is, its size, its name, and whether the keyboard comes to it, alone or within a group.
CONTROLS = f"""() => [...document.querySelectorAll(".d2lrnn-widget :is(button, input, select, textarea, summary)")]
  .filter((e) => e.checkVisibility({{ visibilityProperty: true }}) && e.getBoundingClientRect().width > 0)
  .map((e) => {{
    const {{ width, height }} = e.getBoundingClientRect();
    const roving = e.closest("[role=radiogroup], [role=grid], [role=listbox]") !== null;
    const keyboard = e.tabIndex >= 0 || roving;
    return {{ described: e.outerHTML.slice(0, 120), width, height, name: {NAME_OF}, keyboard }};
  }})"""


def mounts_fits_and_can_be_read(page: Page, widget: Locator) -> None:
    assert widget.locator(".d2lrnn-fallback").is_hidden()
    assert len(widget.locator(".d2lrnn-view").inner_text()) > 100
    assert not NONSENSE.search(widget.inner_text())
    page.evaluate(AT_REST)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
    contrast = page.evaluate(LOW_CONTRAST, 4.5)
    assert contrast["checked"] > 10 and contrast["found"] == []


# Which nodes of a figure look different below another copy of the shared sheet, all in one task.
CHANGED_LOOKS = """(sheet) => {
  const names = ["color", "background-color", "border-top-color", "font-family", "font-size", "font-weight",
    "line-height", "padding-top", "padding-left", "min-height", "display", "row-gap", "fill", "stroke"];
  const nodes = [...document.querySelectorAll(".d2lrnn-view, .d2lrnn-view *")];
  const looks = () => nodes.map((e) => names.map((name) => `${name}: ${getComputedStyle(e).getPropertyValue(name)}`));
  const add = (text) => document.body.append(Object.assign(document.createElement("style"), { textContent: text }));
  add("* { transition: none !important; }");
  const alone = looks();
  add(sheet);
  const beside = looks();
  return [nodes.length, nodes.flatMap((e, i) => beside[i].filter((look, k) => look !== alone[i][k])
    .map((look) => `${e.getAttribute("class")} has ${look}`))];
}"""


def keeps_its_look_where_another_stands_below(page: Page) -> None:
    page.evaluate("() => document.querySelectorAll('details').forEach((fold) => (fold.open = true))")
    sheet = Path(widgets.__file__).with_name("base.css").read_text(encoding="utf-8")
    count, changed = page.evaluate(CHANGED_LOOKS, sheet)
    assert count > 20 and changed == []


PLAY = Path(__file__).resolve().parents[2] / "book/play.md"
[TILES] = re.findall(r"^```\{gallery\}\n(.*?)^```$", PLAY.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
FRAMES = {tile["explorable"]: 16 * tile["height"] for tile in read_tiles(TILES)}


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_is_no_higher_than_the_frame_that_the_page_of_all_gives_it(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    (tmp_path / "page.html").write_text(page_of_its_own(getattr(widgets, name)()), encoding="utf-8")
    with watched_page(browser, width=720, height=100) as (page, _):
        page.goto((tmp_path / "page.html").as_uri())
        figure = page.locator('.d2lrnn-widget[data-ready="1"]')
        expect(figure).to_be_attached()
        figure.evaluate("(e) => new Promise((resolve) => setTimeout(resolve, 500))")  # until what it drew has its size
        needed = figure.bounding_box()["height"]
        assert needed <= FRAMES[name] + 1, f"give {name} in book/play.md a height of {-int(-needed // 16)} rem"


@pytest.mark.parametrize("name", [name for name in NAMES if name != "TrainingLab"])
def test_on_a_wide_page_of_its_own_a_step_stands_beside_the_figure_all_of_it_in_sight_and_keeps_its_answer(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    (tmp_path / "page.html").write_text(page_of_its_own(getattr(widgets, name)()), encoding="utf-8")
    with watched_page(browser, width=1280, height=800) as (page, _):
        page.emulate_media(reduced_motion="reduce")
        page.goto((tmp_path / "page.html").as_uri())
        figure = page.locator('.d2lrnn-widget[data-ready="1"]')
        shape = figure.locator(".d2lrnn-shape").bounding_box()
        titles, outcome = figure.locator(".d2lrnn-step-title").all(), figure.locator(".d2lrnn-outcome")
        answer = figure.locator(".d2lrnn-answers button").first
        told = []
        for title in titles:
            title.click()
            expect(outcome).to_be_hidden()
            answer.click()
            expect(outcome).to_be_visible()
            told.append(outcome.inner_text())
            step = figure.locator(".d2lrnn-step").bounding_box()
            assert shape["x"] + shape["width"] < step["x"] and step["x"] + step["width"] < 1280
            assert step["y"] + step["height"] < 800
        for title, before in zip(titles, told, strict=True):  # opened again
            title.click()
            expect(answer).to_have_attribute("aria-pressed", "true")
            expect(outcome).to_have_text(before)
        as_at_first(page)
        for title in titles:
            title.click()
            expect(outcome).to_be_hidden()
        assert page.evaluate("() => document.documentElement.scrollWidth") == 1280


@pytest.mark.parametrize("name", NAMES)
def test_light_over_http_it_mounts_fits_a_narrow_phone_can_be_read_and_reached(
    opened: tuple[Page, Record], tmp_path: Path, name: str
) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 360, "height": 780})
    with served(tmp_path) as addresses:
        mounts_fits_and_can_be_read(page, show(page, tmp_path, name, addresses["http"], theme="light"))
        controls = page.evaluate(CONTROLS)
        assert len(controls) >= 3
        for control in controls:
            assert control["height"] >= 24 and control["width"] >= 24, control
            assert control["name"] and control["keyboard"], control
        keeps_its_look_where_another_stands_below(page)


@pytest.mark.parametrize("name", NAMES)
def test_dark_from_disk_it_mounts_fits_a_narrow_phone_can_be_read_named_and_removed(
    opened: tuple[Page, Record], tmp_path: Path, name: str
) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 360, "height": 780})
    page.add_init_script(WORKERS)
    widget = show(page, tmp_path, name, theme="dark")
    mounts_fits_and_can_be_read(page, widget)

    # What is read on a control is in its name, at the beginning and in every step, answered.
    page.evaluate(AXE)
    for summary in widget.locator("summary:visible").all():
        summary.click()
    steps = widget.locator(".d2lrnn-step-title")
    for i in range(-1, steps.count()):
        if i >= 0:
            steps.nth(i).click()
            widget.locator(".d2lrnn-answers button").first.click()
        assert page.evaluate(MISMATCHED, NAMES_AS_SHOWN) == [], f"step {i + 1}"

    # It leaves the page without a trace.
    page.evaluate("() => document.querySelector('.d2lrnn-widget').remove()")
    page.wait_for_function("() => globalThis.workers === 0")
    page.evaluate(AT_REST)


def test_a_name_without_what_is_read_is_found(opened: tuple[Page, Record]) -> None:
    page, _ = opened
    page.set_content('<div class="d2lrnn-view"><button aria-label="the next letter">a 0.5</button></div>')
    page.evaluate(AXE)
    assert len(page.evaluate(MISMATCHED, NAMES_AS_SHOWN)) == 1


def steps_of(name: str) -> list[dict[str, Any]]:
    folder = Path(str(sys.modules[getattr(widgets, name).__module__].__file__)).parent
    return json.loads((folder / "spec.json").read_text(encoding="utf-8")).get("steps", [])


# The part that a step asks about, and the step, on a phone's screen.
IN_SIGHT = """([selector]) => {
  const part = document.querySelector(selector).getBoundingClientRect();
  const sheet = document.querySelector(".d2lrnn-steps").getBoundingClientRect();
  return { top: part.top, bottom: part.bottom, room: innerHeight - sheet.height, foot: sheet.bottom - innerHeight };
}"""
# What a worker says comes half a second late, as on a slow phone.
LATE = """const W = Worker; globalThis.Worker = class extends W {
  set onmessage(hear) { super.onmessage = (event) => setTimeout(() => hear(event), 500); }
};"""


def as_at_first(page: Page) -> None:
    """One page does for all steps of a figure: a reset brings back the beginning (see the random moves below)."""
    page.get_by_role("button", name="Reset", exact=True).click()
    page.evaluate("() => scrollTo(0, 0)")


WITH_STEPS = [name for name in NAMES if steps_of(name)]


@pytest.mark.parametrize("name", WITH_STEPS)
def test_on_a_phone_what_a_step_asks_about_stands_above_it_and_answered_it_folds_away_or_keeps_quiet(
    opened: tuple[Page, Record], tmp_path: Path, name: str
) -> None:
    page, _ = opened
    low, high = {"width": 390, "height": 700}, {"width": 390, "height": 800}
    page.set_viewport_size(low)
    page.emulate_media(reduced_motion="reduce")
    page.add_init_script(LATE)
    widget = show(page, tmp_path, name)
    page.evaluate("() => document.body.style.paddingBlock = '100vh'")  # there is a page before and after it
    question, answers = widget.locator(".d2lrnn-question"), widget.locator(".d2lrnn-answers button")

    def whole_in_sight(look: str, when: str) -> None:
        expect(page.locator(look)).to_be_visible()
        page.evaluate(AT_REST)
        found = page.evaluate(IN_SIGHT, [look])
        assert found["top"] >= -1 and found["bottom"] <= found["room"] + 1, f"{when}: {found}"
        assert found["foot"] <= 1, f"{when}, the step is in sight: {found}"

    for i, step in enumerate(steps_of(name)):
        widget.locator(".d2lrnn-step-title").nth(i).click()
        expect(question).to_be_visible()
        if "look" in step:
            whole_in_sight(step["look"], f"step {i + 1} asked")
        answers.first.click()
        if "look" in step:
            whole_in_sight(step["look"], f"step {i + 1} answered")
        expect(widget.locator(".d2lrnn-outcome")).to_be_visible()
        kept = "(e) => e.ariaPressed === 'true' || e.classList.contains('d2lrnn-right')"
        for answer in answers.all():  # what was pressed, and what is right
            expect(answer).to_be_visible(visible=answer.evaluate(kept))
        whole = "(step) => [step.scrollHeight - step.clientHeight, innerHeight - step.offsetHeight]"
        for screen in (high, low):
            page.set_viewport_size(screen)
            expect(question).to_be_visible(visible=screen == high)
            hidden, above = widget.locator(".d2lrnn-step").evaluate(whole)
            assert hidden <= 1 and above > 0.65 * screen["height"], f"step {i + 1}, {screen}"
        widget.get_by_role("button", name="The whole question").click()
        expect(question).to_be_visible()
        as_at_first(page)


# The lab's stories end instead, where a run of the reader's own begins (test_training_lab_widget.py).
WITH_OUTCOMES = [name for name in WITH_STEPS if name != "TrainingLab"]


def an_outcome_is_said_to_be_of_before_once_the_reader_has_changed_the_figure(
    page: Page, widget: Locator, step: int
) -> None:
    outcome = widget.locator(".d2lrnn-outcome")

    def answered() -> str:
        widget.locator(".d2lrnn-step-title").nth(step).click()
        widget.locator(".d2lrnn-answers button").first.click()
        expect(outcome).to_be_visible()
        return outcome.inner_text()

    told = answered()
    expect(widget.get_by_role("status")).to_contain_text(told)  # and what the figure then says of itself
    widget.locator(".d2lrnn-now").first.click()  # that changes nothing
    page.wait_for_timeout(100)
    assert outcome.inner_text() == told and not told.startswith("Before")
    for fold in widget.locator("details").all():
        fold.evaluate("(e) => { e.open = true }")
    # Whatever can be moved: a control that changes the figure leaves the outcome marked, or closes its question.
    for control in widget.locator("input[type=range]:enabled, button:enabled").element_handles():
        outside = "(e) => e.isConnected && e.checkVisibility() && !e.closest('.d2lrnn-steps, .d2lrnn-foot')"
        if not control.evaluate(outside):
            continue
        if control.get_attribute("type") == "range":
            for key in ("ArrowLeft", "ArrowRight", "ArrowRight"):
                control.press(key)
        else:
            control.dispatch_event("click")
        page.wait_for_timeout(20)
        if not outcome.is_visible():
            told = answered()
        elif outcome.inner_text() != told:
            break
    assert outcome.inner_text() == f"Your earlier guess: {told}"
    widget.locator(".d2lrnn-answers button").first.dispatch_event("click")
    assert outcome.inner_text() == told


@pytest.mark.parametrize("name", NAMES)
def test_what_is_told_of_a_link_or_an_outcome_goes_with_the_state_that_it_shows(
    opened: tuple[Page, Record], tmp_path: Path, name: str
) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, name)
    told = widget.locator(".d2lrnn-told")
    for fold in widget.locator("details").all():
        fold.evaluate("(e) => { e.open = true }")
    controls = widget.locator("input[type=range]:enabled, button:enabled").element_handles()
    widget.get_by_role("button", name="Link to this").click()
    expect(told).to_be_visible()
    expect(told).not_to_be_empty()
    widget.locator(".d2lrnn-now").first.click()  # that changes nothing
    page.wait_for_timeout(100)
    assert told.is_visible()
    for control in controls:  # whatever can be moved, until the figure is another
        if not control.evaluate("(e) => e.isConnected && e.checkVisibility() && !e.closest('.d2lrnn-foot')"):
            continue
        if control.get_attribute("type") == "range":
            for key in ("ArrowLeft", "ArrowRight", "ArrowRight"):
                control.press(key)
        else:
            control.dispatch_event("click")
        page.wait_for_timeout(20)
        if not told.is_visible():
            break
    expect(told).to_be_hidden()
    assert told.bounding_box()["height"] > 0, "its room stays"
    widget.get_by_role("button", name="Link to this").click()
    expect(told).to_be_visible()
    assert f"#explore={name}" in page.url
    widget.get_by_role("button", name="Reset").click()
    expect(told).to_be_empty()
    assert "#" not in page.url, "loaded again, the page begins at the beginning too"
    if name in WITH_OUTCOMES:
        # the averages of Attention's first step belong to it wherever one looks at them
        step = 1 if name == "Attention" else 0
        an_outcome_is_said_to_be_of_before_once_the_reader_has_changed_the_figure(page, widget, step)


def memory(page: Page) -> dict[str, float]:
    """Live bytes of JavaScript, nodes and listeners of a page, after all that can go is gone."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    session.send("HeapProfiler.enable")
    for _ in range(3):  # what a finaliser lets go goes with the next one
        session.send("HeapProfiler.collectGarbage")
    metrics = {metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]}
    session.detach()
    return {name: metrics[name] for name in ("JSHeapUsedSize", "Nodes", "JSEventListeners")}


@pytest.mark.parametrize("name", NAMES)
def test_ten_thousand_random_moves_break_nothing_and_leave_nothing_behind(
    opened: tuple[Page, Record], tmp_path: Path, name: str
) -> None:
    page, record = opened
    show(page, tmp_path, name)
    driver = page.evaluate_handle(DRIVER, [SEED + zlib.crc32(name.encode()) % 2**31, TEXTS])
    fresh = driver.evaluate("(driver) => driver.shown()")
    found: dict[int, dict[str, float]] = {}

    def left_behind(first: int, last: int) -> list[str]:
        bound = {what: of_a_move * (last - first) for what, of_a_move in LEFT_BEHIND.items()}
        return [what for what, most in bound.items() if found[last][what] - found[first][what] >= most]

    # What a figure forgets to let go grows with every move; code that the engine compiles late grows but once.
    for first, last in ((0, WARM_UP), (WARM_UP, MOVES), (MOVES, 2 * MOVES - WARM_UP)):
        made = driver.evaluate("(driver, [first, last]) => driver.moves(first, last)", [first, last])
        assert made["wrong"] == [], f"seed {SEED}, after move {made['moves']}: {made['last']}"
        assert made["moves"] == last and record.errors == [], f"seed {SEED}"
        driver.evaluate("(driver) => driver.reset()")
        again = driver.evaluate("(driver, fresh) => driver.shownAgain(fresh)", fresh)
        assert again == fresh, f"seed {SEED}: a reset brings back the beginning"
        found[last] = memory(page)
        if first and not left_behind(first, last):
            return
    pytest.fail(f"seed {SEED}: {left_behind(first, last)} grow with every move: {found}")


@pytest.mark.parametrize("name", NAMES)
def test_without_javascript_a_picture_and_a_sentence_stand_there(browser: Browser, tmp_path: Path, name: str) -> None:
    (tmp_path / "page.html").write_text(page_of(getattr(widgets, name)()), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844})
    try:
        page = context.new_page()
        page.goto(f"{tmp_path.as_uri()}/page.html")
        picture = page.locator(".d2lrnn-fallback svg")
        expect(picture).to_be_visible()
        assert picture.bounding_box()["width"] > 250
        expect(page.locator(".d2lrnn-fallback p")).to_be_visible()
    finally:
        context.close()
