"""The explorable Truncation on a page without a kernel: the cut dragged in either picture, keys, steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import Truncation
from pages import page_of
from watching import Record, watched_page

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=760, height=900) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        yield page, record
        assert record.errors == [] and record.outside == []


def show(page: Page, folder: Path, widget: Truncation) -> Locator:
    (folder / "page.html").write_text(page_of(widget), encoding="utf-8")
    page.goto(f"{folder.as_uri()}/page.html")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(1)
    return page.locator(".d2lrnn-widget")


def now(widget: Locator) -> Locator:
    return widget.locator(".d2lrnn-now")


def drag_to(page: Page, widget: Locator, way: str, start: int, end: int) -> None:
    """Drag the cut from the right edge of a column to that of another, in the picture of one way."""
    box = widget.locator(f".trunc-{way} .trunc-picture").bounding_box()
    scale, y = box["width"] / 314, box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + (46 + 22 * start) * scale, y)
    page.mouse.down()
    page.mouse.move(box["x"] + (46 + 22 * end) * scale, y, steps=3)
    page.mouse.up()


def test_the_cut_can_be_dragged_in_either_picture(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    kept = {way: widget.locator(f".trunc-{way} rect.trunc-kept") for way in ("windows", "losses")}
    expect(now(widget)).to_have_text(Truncation().static_sentence())
    expect(kept["windows"]).to_have_count(42)
    expect(kept["losses"]).to_have_count(72)
    expect(widget.locator(".trunc-start")).to_have_count(1)
    drag_to(page, widget, "windows", 6, 10)
    expect(now(widget)).to_have_text(Truncation(tau=10).static_sentence())
    expect(kept["windows"]).to_have_count(55 + 3)
    drag_to(page, widget, "windows", 10, 15)
    expect(now(widget)).to_have_text(Truncation(tau=12).static_sentence())
    drag_to(page, widget, "losses", 12, 5)
    expect(now(widget)).to_have_text(Truncation(tau=5).static_sentence())
    expect(kept["losses"]).to_have_count(60)
    widget.get_by_role("button", name="Reset").click()
    expect(now(widget)).to_have_text(Truncation().static_sentence())


def test_each_way_says_what_it_loses_and_what_it_costs(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    flow = Truncation(tau=4)
    widget = show(page, tmp_path, flow)
    expect(widget.locator(".trunc-title")).to_have_text(["Windows of 4", "Always 4 back"])
    expect(widget.locator(".trunc-fact-lost b")).to_have_text([f"{100 * share:.0f} %" for share in flow.lost.values()])
    expect(widget.locator(".trunc-windows .trunc-arrow")).to_have_count(3)  # a way back for each window
    expect(widget.locator(".trunc-losses .trunc-arrow")).to_have_count(12)  # and one for each loss
    told = re.compile(r"^Cut after 4 steps, a loss loses 0\.8 . 0\.8 . … \(4 times\) = 41 %\.$")
    expect(widget.locator(".trunc-sum")).to_have_text(told)
    expect(widget.locator(".trunc-fact-work b")).to_have_text(["12 steps", "48 steps"])
    widths = widget.locator(".trunc-bar").evaluate_all("(bars) => bars.map((bar) => bar.getBoundingClientRect().width)")
    assert widths[0] > widths[2] and widths[3] == pytest.approx(4 * widths[1], rel=0.01)


def test_keys_move_the_cut_and_the_memory(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    cut = widget.get_by_label(re.compile("^Steps back"))
    cut.press("ArrowRight")
    expect(now(widget)).to_have_text(Truncation(tau=7).static_sentence())
    assert cut.get_attribute("aria-valuetext") == "Steps back before the cut: τ = 7"
    cut.press("Home")
    expect(now(widget)).to_have_text(Truncation(tau=1).static_sentence())
    memory = widget.get_by_label(re.compile("^Each step back"))
    memory.press("Home")
    expect(now(widget)).to_have_text(Truncation(tau=1, factor=0.5).static_sentence())
    assert "0.5" in memory.get_attribute("aria-valuetext")
    memory.press("End")
    expect(widget.get_by_role("status")).to_contain_text(Truncation(tau=1, factor=0.95).static_sentence())


def test_a_step_asks_first_and_tells_after_a_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    outcome, work = widget.locator(".d2lrnn-outcome"), widget.locator(".trunc-fact-work").last
    for i, (answer, told) in enumerate(
        (
            ("31 %", "Right. 31 %: the first losses"),
            ("Twice", "No. 6 times: 72 steps back instead of 12."),
            ("Less", "Right. Windows of 6 lose 16 %, always 6 back only 1.6 %"),
        )
    ):
        widget.locator(".d2lrnn-step-title").nth(i).click()
        expect(outcome).to_be_hidden()
        expect(work).to_have_css("visibility", "hidden" if i == 1 else "visible")  # it would tell the answer
        expect(now(widget)).to_have_text(Truncation().static_sentence())
        widget.get_by_role("button", name=answer, exact=True).click()
        expect(outcome).to_contain_text(told)
        expect(work).to_have_css("visibility", "visible")
    widget.get_by_role("button", name="Reset").click()
    expect(now(widget)).to_have_text(Truncation().static_sentence())


def test_it_fits_a_narrow_phone(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        for settings in ({"tau": 12}, {"tau": 1, "factor": 0.95}):
            widget = show(page, tmp_path, Truncation(**settings))
            assert page.evaluate("() => document.documentElement.scrollWidth") <= width
            assert widget.locator(".d2lrnn-step-titles").bounding_box()["y"] - widget.bounding_box()["y"] < 700
            right = widget.bounding_box()["x"] + widget.bounding_box()["width"]
            ends = widget.locator("text, label, .d2lrnn-button, rect, b").evaluate_all(
                "(all) => all.map((one) => one.getBoundingClientRect().right)"
            )
            assert max(ends) <= right
