"""The explorable Truncation on a page without a kernel: the cut dragged, rows asked, keys, steps."""

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


def place(widget: Locator, column: float, y: float) -> tuple[float, float]:
    """Where the edge of a column lies on the screen, at a height of the drawing."""
    box = widget.locator(".trunc-picture").bounding_box()
    scale = box["width"] / 366
    return box["x"] + (24 + 13.8 * column) * scale, box["y"] + y * scale


def drag_to(page: Page, widget: Locator, start: int, end: int) -> None:
    page.mouse.move(*place(widget, start, 26))
    page.mouse.down()
    page.mouse.move(*place(widget, end, 26), steps=3)
    page.mouse.up()


def test_the_cut_can_be_dragged_both_ways(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    expect(now(widget)).to_have_text(Truncation().static_sentence())
    expect(widget.locator("rect.trunc-kept")).to_have_count(84 + 1)  # and the one of the key
    drag_to(page, widget, 6, 12)
    expect(now(widget)).to_have_text(Truncation(tau=12).static_sentence())
    expect(widget.locator("rect.trunc-kept")).to_have_count(156 + 1)
    drag_to(page, widget, 12, 40)
    expect(now(widget)).to_have_text(Truncation(tau=24).static_sentence())
    widget.get_by_role("button", name="Reset").click()
    widget.get_by_role("button", name="from each loss", exact=True).click()
    drag_to(page, widget, 18, 14)
    expect(now(widget)).to_have_text(Truncation(tau=10, way="losses").static_sentence())


def test_a_row_says_how_far_its_loss_goes_back(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    told = widget.locator(".trunc-told")
    expect(told).to_have_text("")
    page.mouse.move(*place(widget, 3, 50 + 9.4 * 8.5))
    expect(told).to_have_text("The loss of step 9 goes back to step 7.")
    expect(widget.locator(".trunc-bead.trunc-reached")).to_have_count(3)
    page.mouse.move(2, 2)
    expect(told).to_have_text("")


def test_keys_move_the_cut_and_the_radius(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    widget.get_by_label(re.compile("^cut after")).press("Home")
    expect(now(widget)).to_have_text(Truncation(tau=1).static_sentence())
    radius = widget.get_by_label(re.compile("^spectral radius"))
    radius.press("Home")
    expect(now(widget)).to_have_text(Truncation(tau=1, radius=0.5).static_sentence())
    radius.press("End")
    expect(widget.get_by_role("status")).to_contain_text(Truncation(tau=1, radius=1.1).static_sentence())


def test_a_step_asks_first_and_tells_after_a_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    outcome = widget.locator(".d2lrnn-outcome")
    for i, (answer, told) in enumerate((
        ("6.5", "Yes. The last loss of a window goes back through 12, the first one through 1: (12 + 1)/2 = 6.5."),
        ("More", "No. 19 %."),
        ("Less", "Yes. 20 % instead of 52 %"),
    )):
        widget.locator(".d2lrnn-step-title").nth(i).click()
        expect(outcome).to_be_hidden()
        assert "19 %" not in widget.inner_text()
        widget.get_by_role("button", name=answer, exact=True).click()
        expect(outcome).to_contain_text(told)
    widget.get_by_role("button", name="Reset").click()
    expect(now(widget)).to_have_text(Truncation().static_sentence())


def test_it_fits_a_narrow_phone(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        widget = show(page, tmp_path, Truncation())
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        assert widget.locator(".d2lrnn-step-titles").bounding_box()["y"] - widget.bounding_box()["y"] < 700
