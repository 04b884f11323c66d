"""The explorable Truncation on a page without a kernel: the cut dragged, one loss asked, keys, steps."""

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


def drag_to(page: Page, widget: Locator, start: int, end: int) -> None:
    """Drag the cut from the right edge of a column to that of another."""
    box = widget.locator(".trunc-picture").bounding_box()
    scale = box["width"] / 400
    page.mouse.move(box["x"] + (42 + 22 * start) * scale, box["y"] + 17 * scale)
    page.mouse.down()
    page.mouse.move(box["x"] + (42 + 22 * end) * scale, box["y"] + 17 * scale, steps=3)
    page.mouse.up()


def test_the_cut_can_be_dragged_both_ways(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    expect(now(widget)).to_have_text(Truncation().static_sentence())
    expect(widget.locator("rect.trunc-kept")).to_have_count(42)
    expect(widget.locator(".trunc-start")).to_have_count(1)
    drag_to(page, widget, 6, 10)
    expect(now(widget)).to_have_text(Truncation(tau=10).static_sentence())
    expect(widget.locator("rect.trunc-kept")).to_have_count(55 + 3)
    drag_to(page, widget, 10, 15)
    expect(now(widget)).to_have_text(Truncation(tau=12).static_sentence())
    widget.get_by_role("button", name="always 12 back").click()
    drag_to(page, widget, 12, 5)
    expect(now(widget)).to_have_text(Truncation(tau=5, way="losses").static_sentence())
    expect(widget.locator("rect.trunc-kept")).to_have_count(60)
    widget.get_by_role("button", name="Reset").click()
    expect(now(widget)).to_have_text(Truncation().static_sentence())


def test_the_rows_say_what_each_loss_loses(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation(tau=4))
    shares = [f"{100 * share:.0f} %" for share in Truncation().lost_by_reach[:4]]
    expect(widget.locator(".trunc-share")).to_have_text(3 * shares)
    widths = widget.locator(".trunc-bar").evaluate_all("(bars) => bars.map((bar) => Number(bar.getAttribute('width')))")
    assert widths[:4] == sorted(widths[:4], reverse=True) and widths[:4] == widths[4:8]


def test_a_press_on_the_curve_sets_the_cut(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    box = widget.locator(".trunc-curve").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 240 / 250, box["y"] + box["height"] / 2)
    expect(now(widget)).to_have_text(Truncation(tau=12).static_sentence())
    expect(widget.locator(".trunc-line-windows.trunc-active")).to_have_count(1)


def test_the_curve_is_drawn_as_far_as_the_cut_was_moved(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    line = widget.locator(".trunc-curve .trunc-line")

    def points() -> list[int]:
        return line.evaluate_all("(lines) => lines.map((line) => line.getAttribute('d').split('L').length)")

    assert points() == [1], "nothing is told before the reader moves"
    drag_to(page, widget, 6, 10)
    assert points() == [5]
    widget.get_by_role("button", name="always 10 back").click()
    assert points() == [5, 1]
    widget.get_by_role("button", name="Reset").click()
    assert points() == [1]


def test_keys_move_the_cut_and_the_memory(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    cut = widget.get_by_role("slider", name="τ, where the way back is cut")
    cut.press("ArrowRight")
    expect(now(widget)).to_have_text(Truncation(tau=7).static_sentence())
    assert cut.get_attribute("aria-valuetext") == "τ = 7"
    cut.press("Home")
    expect(now(widget)).to_have_text(Truncation(tau=1).static_sentence())
    memory = widget.get_by_label(re.compile("^Memory"))
    memory.press("Home")
    expect(now(widget)).to_have_text(Truncation(tau=1, radius=0.5).static_sentence())
    assert memory.get_attribute("aria-valuetext").endswith("0.47")
    memory.press("End")
    expect(widget.get_by_role("status")).to_contain_text(Truncation(tau=1, radius=1.1).static_sentence())


def test_a_step_asks_first_and_tells_after_a_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    outcome, lines = widget.locator(".d2lrnn-outcome"), widget.locator(".trunc-lines")
    for i, (answer, told) in enumerate(
        (
            ("About 40 %", "Right. 38 % instead of 52 %."),
            ("More: 65 %", "No. 25 % instead of 52 %"),
            ("Less than 52 %", "Right. 22 % instead of 52 %"),
        )
    ):
        widget.locator(".d2lrnn-step-title").nth(i).click()
        expect(outcome).to_be_hidden()
        expect(lines).to_have_css("visibility", "hidden")  # the chart would tell the answer
        expect(now(widget)).to_have_text(Truncation().static_sentence())
        widget.get_by_role("button", name=answer, exact=True).click()
        expect(outcome).to_contain_text(told)
        expect(lines).to_have_css("visibility", "visible")
    widget.locator(".d2lrnn-step-title").nth(1).click()
    widget.locator(".d2lrnn-step-title").nth(1).click()  # closed without an answer
    expect(lines).to_have_css("visibility", "visible")
    widget.get_by_role("button", name="Reset").click()
    expect(now(widget)).to_have_text(Truncation().static_sentence())


def test_it_fits_a_narrow_phone(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        for settings in ({"tau": 12}, {"way": "losses", "radius": 1.1}):
            widget = show(page, tmp_path, Truncation(**settings))
            assert page.evaluate("() => document.documentElement.scrollWidth") <= width
            assert widget.locator(".d2lrnn-step-titles").bounding_box()["y"] - widget.bounding_box()["y"] < 700
            right = widget.bounding_box()["x"] + widget.bounding_box()["width"]
            ends = widget.locator("text, label, .d2lrnn-button, rect").evaluate_all(
                "(all) => all.map((one) => one.getBoundingClientRect().right)"
            )
            assert max(ends) <= right
