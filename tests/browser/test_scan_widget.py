"""The explorable Scan on a page without a kernel: stepping, running, choosing cells and numbers, links."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import Scan
from d2lrnn.widgets.scan import format_value, preset_values
from pages import LOW_CONTRAST, page_of, served
from watching import Record, watched_page

pytestmark = pytest.mark.browser

A_FRAME_MS = 16.7


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=760, height=1000) as (page, record):
        yield page, record
        assert record.errors == [] and record.outside == []


def show(page: Page, folder: Path, widget: Scan, address: str | None = None, theme: str | None = None) -> Locator:
    (folder / "page.html").write_text(page_of(widget, theme=theme), encoding="utf-8")
    page.goto(f"{address or folder.as_uri()}/page.html")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(1)
    found = page.locator(".d2lrnn-widget")
    expect(found.locator(".scan-picture rect").first).to_be_attached()
    return found


@pytest.fixture
def widget(opened: tuple[Page, Record], tmp_path: Path) -> Locator:
    return show(opened[0], tmp_path, Scan())


def slider(widget: Locator, name: str) -> Locator:
    return widget.get_by_role("slider", name=re.compile(rf"^{name}"))


def press(widget: Locator, name: str) -> None:
    widget.get_by_role("button", name=name, exact=True).click()


def counts(widget: Locator) -> list[list[str]]:
    rows = widget.locator(".scan-counts tbody tr")
    return [[cell.split("\n")[0].strip() for cell in row.locator("td").all_inner_texts()] for row in rows.all()]


def states(widget: Locator) -> list[str]:
    """The bold numbers, in the order in which they are drawn: the loop's, then those of the scan's cells."""
    return widget.locator("text.scan-state").all_text_contents()


def shown(values: list[float]) -> list[str]:
    return [format_value(value) for value in values]


def test_the_first_picture_over_http_and_from_disk(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    expected = shown(Scan().states_by_loop.tolist())
    with served(tmp_path) as addresses:
        for address in addresses.values():
            widget = show(page, tmp_path, Scan(), address)
            assert counts(widget) == [["3 of 7"] * 3, ["3 of 3 done", "17 of 17", "30 of 30"]]
            found = states(widget)
            assert found[:4] == expected[:4] and found[-8:] == expected
            expect(widget.locator("path.scan-take")).to_have_count(7 + 17)
            expect(widget.locator(".scan-hand").first).to_contain_text("= 0.9 × 1.72 + 3 = 4.55")  # noqa: RUF001
            expect(widget.locator(".scan-hand").last).to_contain_text("so 4.34 is h₈")


def test_both_go_one_parallel_step_at_a_time(widget: Locator) -> None:
    step = slider(widget, "Parallel step")
    step.press("Home")
    assert counts(widget) == [["0 of 7"] * 3, ["0 of 3", "0 of 17", "0 of 30"]]
    assert len(states(widget)) == 1 + 1, "h1 of the loop, and the scan's first cell"
    expect(widget.locator(".scan-hand").first).to_contain_text("h₁ = a₁ × 0 + x₁ = 2")  # noqa: RUF001
    press(widget, "Next")
    assert counts(widget) == [["1 of 7"] * 3, ["1 of 3", "7 of 17", "14 of 30"]]
    expect(widget.locator("path.scan-take.scan-now")).to_have_count(1 + 7)
    expect(widget.locator(".scan-hand").last).to_contain_text("(0.9, 0) • step")
    step.press("End")
    assert counts(widget) == [["7 of 7 done", "7 of 7", "7 of 7"], ["3 of 3 done", "17 of 17", "30 of 30"]]
    expect(widget.locator(".scan-hand").last).to_contain_text("done for 4 parallel steps")
    press(widget, "Next")
    press(widget, "Back")
    expect(step).to_have_attribute("aria-valuetext", "6 of 7")
    expect(widget.get_by_role("status")).to_have_text(
        "Parallel step 6 of 7: the loop has 7 of 8 states, the scan is done."
    )


def test_run_begins_at_the_beginning_pauses_and_ends_at_the_end(widget: Locator) -> None:
    slider(widget, "Time steps").fill("4")
    press(widget, "Run")
    expect(slider(widget, "Parallel step")).to_have_value("0")
    expect(slider(widget, "Parallel step")).to_have_value("1")
    press(widget, "Pause")
    widget.page.wait_for_timeout(1100)
    expect(slider(widget, "Parallel step")).to_have_value("1")
    press(widget, "Run")
    expect(slider(widget, "Parallel step")).to_have_value("3")
    expect(widget.get_by_role("button", name="Run", exact=True)).to_be_visible()


def test_examples_schedules_and_lengths(widget: Locator) -> None:
    widget.get_by_label("Example").select_option("sum")
    assert states(widget)[-8:] == [str(count) for count in range(1, 9)]
    expect(widget.locator(".scan-equal")).to_contain_text("bit for bit")
    slider(widget, "Time steps").press("End")
    widget.get_by_label("Scan by").select_option("two-sweep")
    slider(widget, "Parallel step").press("End")
    assert counts(widget)[1] == ["7 of 7 done", "26 of 26", "45 of 45"]
    for name in ("fading", "halving", "gates", "explodes"):
        widget.get_by_label("Example").select_option(name)
        python = Scan(**preset_values(name, 16), method="two-sweep")
        found = states(widget)
        assert found[:16] == shown(python.states_by_loop.tolist())
        assert found[-16:] == shown(python.states_by_scan.tolist())
    slider(widget, "Time steps").press("Home")
    assert counts(widget) == [["1 of 1 done", "1 of 1", "1 of 1"]] * 2
    expect(slider(widget, "Look at t")).to_have_value("2")


def test_a_cell_in_hand_and_its_numbers(widget: Locator) -> None:
    look = slider(widget, "Look at t")
    look.fill("3")
    chips = widget.locator(".scan-weights li")
    assert [text.split()[0] for text in chips.all_inner_texts()] == ["0.81", "0.9", "1"]
    factor = slider(widget, "a₃")
    for _ in range(9):
        factor.press("ArrowLeft")
    assert [text.split()[0] for text in chips.all_inner_texts()] == ["0", "0", "1"]
    expect(widget.get_by_label("Example")).to_have_value("own")
    slider(widget, "x₃").press("End")
    expect(widget.locator(".scan-made")).to_contain_text("h₃ = 3:")
    slider(widget, "Parallel step").fill("1")
    expect(widget.locator(".scan-weights .scan-waiting")).to_have_count(1)
    expect(widget.locator(".scan-hand").last).to_contain_text("(0.9, −1) • step")  # noqa: RUF001
    row = widget.locator(".scan-here").bounding_box()
    widget.page.mouse.click(row["x"] + 20, row["y"] + 2.5 * row["height"])
    expect(look).to_have_value("5")
    expect(widget.get_by_role("status")).to_contain_text("(0.9,\u00a03)")


def test_reset_and_link_bring_back_what_they_should(widget: Locator, opened: tuple[Page, Record]) -> None:
    page, _ = opened
    before = widget.locator(".scan").inner_text()
    widget.get_by_label("Example").select_option("gates")
    slider(widget, "Time steps").fill("13")
    slider(widget, "Look at t").fill("7")
    slider(widget, "x₇").press("ArrowRight")
    slider(widget, "Parallel step").fill("2")
    expected = widget.locator(".scan").inner_text()
    press(widget, "Link to this")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(slider(widget, "Look at t")).to_have_value("7")
    assert widget.locator(".scan").inner_text() == expected
    press(widget, "Run")
    press(widget, "Reset")
    expect(widget.locator(".scan-weights li")).to_have_count(8)
    assert widget.locator(".scan").inner_text() == before
    page.wait_for_timeout(1000)
    expect(slider(widget, "Parallel step")).to_have_value("3")


@pytest.mark.parametrize(
    "state",
    [
        {"a": [9e9, 1], "x": ["<img src=x>", "1"], "method": "<b>", "step": -1, "place": 99},
        {"a": [], "x": []},
        {"a": [1, 1, 1], "x": [1] * 16, "step": 15, "place": 16},
        {"a": [[1], [1]], "x": {"0": 1}},
    ],
)
def test_a_link_can_set_nothing_out_of_bounds(widget: Locator, state: dict[str, object]) -> None:
    page = widget.page
    page.evaluate("(s) => { location.hash = `#explore=Scan.0&state=${s}` }", quote(json.dumps(state)))
    page.wait_for_timeout(100)
    expect(widget).to_have_attribute("data-ready", "1")
    assert not re.search(r"NaN|undefined|Infinity", widget.inner_text())
    assert page.locator("img").count() == 0
    expect(slider(widget, "Time steps")).to_have_value("3" if len(state["a"]) == 3 else "8")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_largest_figure_fits_a_phone(opened: tuple[Page, Record], tmp_path: Path, theme: str) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 360, "height": 780})
    numbers = {"a": [-1.5] * 16, "x": [-2.5] * 16}
    widget = show(page, tmp_path, Scan(**numbers, method="two-sweep", step=5, place=11), theme=theme)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
    contrast = page.evaluate(LOW_CONTRAST, 4.5)
    assert contrast["checked"] > 60 and contrast["found"] == []
    frame = widget.locator(".scan-picture").bounding_box()
    texts = widget.locator(".scan-picture text")
    boxes = texts.evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().toJSON())")
    for box in boxes:
        assert box["left"] >= frame["x"] - 1 and box["right"] <= frame["x"] + frame["width"] + 1
    lines = sorted((round(box["top"]), box["left"], box["right"]) for box in boxes)
    for (top, _, right), (next_top, left, _) in itertools.pairwise(lines):
        assert top != next_top or right <= left, "numbers of one line overlap"


def test_a_control_answers_within_a_frame(widget: Locator) -> None:
    slider(widget, "Time steps").press("End")
    # The quickest of eight: what else the machine does can only add to it.
    quickest = widget.evaluate("""async (widget) => {
      const found = {};
      for (const range of widget.querySelectorAll("input[type=range]")) {
        const name = range.labels[0].textContent;
        found[name] = Infinity;
        for (let i = 0; i < 8; i += 1) {
          range.value = i % 2 ? range.max : Number(range.max) - Number(range.step);
          const start = performance.now();
          range.dispatchEvent(new Event("input"));
          await Promise.resolve();
          await Promise.resolve();
          found[name] = Math.min(found[name], performance.now() - start);
        }
      }
      return found;
    }""")
    assert len(quickest) == 5 and max(quickest.values()) < A_FRAME_MS, quickest


def test_removed_from_the_page_it_stops_walking(widget: Locator) -> None:
    page = widget.page
    page.evaluate(
        "() => { globalThis.cleared = 0; const f = clearTimeout;"
        " globalThis.clearTimeout = (timer) => { if (timer) cleared += 1; f(timer); }; }"
    )
    press(widget, "Run")
    page.evaluate("() => { cleared = 0; document.querySelector('.d2lrnn-widget').remove(); }")
    page.wait_for_function("() => globalThis.cleared >= 1")
