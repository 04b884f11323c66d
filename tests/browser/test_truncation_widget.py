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


def point(widget: Locator, column: float, y: float) -> tuple[float, float]:
    """Where the edge of a column lies on the screen, at a height of the drawing."""
    box = widget.locator(".trunc-picture").bounding_box()
    scale = box["width"] / 366
    return box["x"] + (40 + 13.4 * column) * scale, box["y"] + y * scale


def row(step: int) -> float:
    """Height of the row of a step's loss."""
    return 94 + 9.4 * (step - 0.5)


def drag_to(page: Page, widget: Locator, start: int, end: int) -> None:
    page.mouse.move(*point(widget, start, 20))
    page.mouse.down()
    page.mouse.move(*point(widget, end, 20), steps=3)
    page.mouse.up()


def test_the_cut_can_be_dragged_both_ways(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    expect(now(widget)).to_have_text(Truncation().static_sentence())
    expect(widget.locator("rect.trunc-kept")).to_have_count(84)
    drag_to(page, widget, 6, 12)
    expect(now(widget)).to_have_text(Truncation(tau=12).static_sentence())
    expect(widget.locator("rect.trunc-kept")).to_have_count(156)
    drag_to(page, widget, 12, 40)
    expect(now(widget)).to_have_text(Truncation(tau=24).static_sentence())
    expect(widget.locator(".trunc-arrow")).to_have_count(1)
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(".trunc-arrow")).to_have_count(3)
    widget.get_by_role("button", name="from each loss", exact=True).click()
    drag_to(page, widget, 9, 5)  # from the loss of step 15
    expect(now(widget)).to_have_text(Truncation(tau=10, way="losses").static_sentence())


def test_one_loss_says_which_of_its_routes_are_lost(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    told = widget.locator(".trunc-told")
    at_first = "The loss of step 15 goes back to step 13. Its routes to steps 1 to 12 are lost."
    expect(told).to_have_text(at_first)
    page.mouse.move(*point(widget, 3, row(9)))
    expect(told).to_have_text("The loss of step 9 goes back to step 7. Its routes to steps 1 to 6 are lost.")
    expect(widget.locator(".trunc-reached")).to_have_count(2)
    expect(widget.locator(".trunc-unreached")).to_have_count(6)
    page.mouse.move(*point(widget, 6.5, 65))
    expect(told).to_have_text("The loss of step 7 goes back to no earlier step. Its routes to steps 1 to 6 are lost.")
    page.mouse.move(2, 2)
    loss = widget.get_by_role("slider", name="loss")
    loss.press("ArrowUp")
    expect(told).to_have_text("The loss of step 6 goes back to step 1. None of its routes is lost.")
    loss.press("End")
    assert loss.get_attribute("aria-valuenow") == "24"
    widget.get_by_role("button", name="Reset").click()
    expect(told).to_have_text(at_first)


@pytest.mark.parametrize("tau", [1, 12, 16, 24])
@pytest.mark.parametrize("way", ["windows", "losses"])
def test_the_arrows_have_their_own_place(opened: tuple[Page, Record], tmp_path: Path, tau: int, way: str) -> None:
    page, _ = opened
    for radius in (0.5, 0.9, 1.1):
        widget = show(page, tmp_path, Truncation(tau=tau, way=way, radius=radius))
        assert page.evaluate("""() => {
            const box = (node) => node.getBoundingClientRect();
            const found = [...document.querySelectorAll('.trunc-vectors > *')].map(box);
            const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
            const picture = box(document.querySelector('.trunc-picture'));
            const others = [...document.querySelectorAll('.trunc-square, .trunc-bead, .trunc-handle')].map(box);
            return found.every((a) => a.right <= picture.right && others.every((b) => apart(a, b)));
        }""")
        expect(now(widget)).to_have_text(Truncation(tau=tau, way=way, radius=radius).static_sentence())


def test_keys_move_the_cut_and_the_radius(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    cut = widget.get_by_role("slider", name="τ, where the way back is cut")
    cut.press("ArrowRight")
    expect(now(widget)).to_have_text(Truncation(tau=7).static_sentence())
    cut.press("Home")
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
        ("6.5", "Yes. The last loss of a window reaches 12 steps, the first one only 1: (12 + 1)/2 = 6.5."),
        ("More", "No. 19 %."),
        ("It gets smaller", "Yes. 20 % instead of 52 %"),
    )):
        widget.locator(".d2lrnn-step-title").nth(i).click()
        expect(outcome).to_be_hidden()
        assert "19 %" not in widget.inner_text() and "20 %" not in widget.inner_text()
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
