"""The explorable Clipping on a page without a kernel: the arrow and the threshold dragged, keys, steps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import Clipping
from pages import page_of
from watching import Record, watched_page

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=760, height=900) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        yield page, record
        assert record.errors == [] and record.outside == []


def show(page: Page, folder: Path, widget: Clipping) -> Locator:
    (folder / "page.html").write_text(page_of(widget), encoding="utf-8")
    page.goto(f"{folder.as_uri()}/page.html")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(1)
    return page.locator(".d2lrnn-widget")


def now(widget: Locator) -> Locator:
    return widget.locator(".d2lrnn-now")


def drag(page: Page, widget: Locator, start: tuple[float, float], end: tuple[float, float]) -> None:
    """From one point of the plane to another, in its units."""
    box = widget.locator(".clip-plane").bounding_box()
    unit, middle = box["width"] / 13.6, (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    places = [(middle[0] + x * unit, middle[1] - y * unit) for x, y in (start, end)]
    page.mouse.move(*places[0])
    page.mouse.down()
    page.mouse.move(*places[1], steps=3)
    page.mouse.up()


def test_the_arrow_and_the_threshold_can_be_dragged(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    expect(now(widget)).to_have_text(Clipping().static_sentence())
    expect(widget.locator(".clip-plane .clip-arrow-clipped")).to_have_count(1)
    drag(page, widget, (4, 3), (1, -1))
    expect(now(widget)).to_have_text(Clipping(g_1=1.0, g_2=-1.0).static_sentence())
    expect(widget.locator(".clip-plane .clip-arrow-clipped")).to_have_count(0)
    drag(page, widget, (-2, 0), (-1, 0))
    expect(now(widget)).to_have_text(Clipping(g_1=1.0, g_2=-1.0, clip=1.0).static_sentence())
    drag(page, widget, (1, -1), (-3, 1))  # the edge is held where it was
    drag(page, widget, (-1, 0), (-1.5, -0.3))
    expect(now(widget)).to_have_text(Clipping(g_1=-3.0, g_2=1.0, clip=1.5).static_sentence())
    drag(page, widget, (-1.5, 0), (-1, 0))
    drag(page, widget, (-3, 1), (20, -20))
    expect(now(widget)).to_have_text(Clipping(g_1=6.0, g_2=-6.0, clip=1.0).static_sentence())
    widget.get_by_role("button", name="Reset").click()
    expect(now(widget)).to_have_text(Clipping().static_sentence())


def test_keys_move_the_arrow_and_the_threshold(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    tip = widget.get_by_role("slider", name="gradient of the two weights")
    tip.press("ArrowRight")
    tip.press("Shift+ArrowDown")
    assert tip.get_attribute("aria-valuetext") == "(4.1, 2.0), length 4.56"
    edge = widget.get_by_role("slider", name="limit θ")
    edge.press("ArrowLeft")
    expect(now(widget)).to_have_text(Clipping(g_1=4.1, g_2=2.0, clip=1.9).static_sentence())
    edge.press("End")
    expect(now(widget)).to_have_text(Clipping(g_1=4.1, g_2=2.0, clip=5.0).static_sentence())
    assert edge.get_attribute("aria-valuetext") == "5.0"
    expect(widget.get_by_role("status")).to_contain_text("clipping leaves it as it is")


def test_the_example_shows_what_the_step_does(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    rows = widget.locator(".clip-row")
    expect(rows).to_have_text(["not clipped: loss rises, 2.95 → 3.87", "clipped: loss falls, 2.95 → 1.03"])
    assert "loss rises, 2.95" in widget.locator(".clip-loss").get_attribute("aria-label")
    expect(widget.locator(".clip-here")).to_have_text("slope 5.00:")
    expect(widget.locator(".clip-flight")).to_have_count(2)
    widget.get_by_role("button", name="values").click()
    expect(rows.last).to_have_text("clipped: turned by 8°, off this curve")
    expect(widget.locator(".clip-flight")).to_have_count(1)
    widget.get_by_role("button", name="norm").click()
    drag(page, widget, (4, 3), (0.2, 0.1))
    expect(rows).to_have_text(["one step: loss falls, 4.86 → 4.79"])
    drag(page, widget, (0.2, 0.1), (0, 0))
    expect(widget.locator(".clip-told")).to_have_text("No gradient, no step.")


def test_by_value_the_arrow_turns(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping(g_1=4.8, g_2=1.0, clip=1.0))
    expect(widget.locator(".clip-angle")).to_have_count(0)
    widget.get_by_role("button", name="values").click()
    expect(now(widget)).to_contain_text("(1.0, 1.0), turned by 33°.")
    expect(widget.locator(".clip-angle")).to_have_text("33°")
    assert "33 degrees" in widget.locator(".clip-plane").get_attribute("aria-label")


def test_a_step_asks_first_and_tells_after_a_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    outcome = widget.locator(".d2lrnn-outcome")
    for i, (answer, told) in enumerate((
        ("It doubles, too", "No. 3.00 is clipped to 2.00, and so is 6.00"),
        ("Towards the diagonal", "Right. It turns by 33°"),
        ("It leaves it as it is", "Right. 0.25 is less than θ = 2.0"),
    )):
        widget.locator(".d2lrnn-step-title").nth(i).click()
        expect(outcome).to_be_hidden()
        widget.get_by_role("button", name=answer).click()
        expect(outcome).to_contain_text(told)
    widget.get_by_role("button", name="Reset").click()
    expect(now(widget)).to_have_text(Clipping().static_sentence())


def test_the_limit_keeps_its_words_and_its_handle_leaves_a_short_arrow_free(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    for tip in ((4.0, 3.0), (-4.0, -1.0), (0.2, 0.1)):
        widget = show(page, tmp_path, Clipping(g_1=tip[0], g_2=tip[1], clip=0.5))
        expect(widget.locator(".clip-edge-text")).to_be_visible()
        plane, grip = widget.locator(".clip-plane").bounding_box(), widget.locator(".clip-handle-edge").bounding_box()
        assert grip["x"] + grip["width"] < plane["x"] + plane["width"] * (0.5 - 0.45 / 13.6)


def test_it_fits_a_narrow_phone(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 320, "height": 700})
    widget = show(page, tmp_path, Clipping())
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 320
    assert widget.locator(".d2lrnn-step-titles").bounding_box()["y"] - widget.bounding_box()["y"] < 700


def test_the_handles_are_as_large_as_a_finger(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 390, "height": 800})
    widget = show(page, tmp_path, Clipping())
    for handle in widget.locator(".clip-handle").all():
        assert min(handle.bounding_box()[side] for side in ("width", "height")) >= 44


@pytest.mark.parametrize("tip", [(6.0, -6.0), (-6.0, -6.0), (6.0, 6.0), (-6.0, 6.0), (0.4, -4.1), (-6.0, 4.1)])
@pytest.mark.parametrize("by", ["norm", "value"])
def test_no_label_is_cut_off_in_a_corner(
    opened: tuple[Page, Record], tmp_path: Path, tip: tuple[float, float], by: str
) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping(g_1=tip[0], g_2=tip[1], clip=5.0, by=by))
    frame = widget.locator(".clip-plane").bounding_box()
    for label in widget.locator(".clip-plane text:visible").all():
        box = label.bounding_box()
        assert frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"]
        assert frame["y"] <= box["y"] and box["y"] + box["height"] <= frame["y"] + frame["height"]


def test_the_opening_motion_moves_words_and_picture_together(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="no-preference")
    page.add_init_script("""addEventListener('DOMContentLoaded', () => new MutationObserver(() => {
        const long = document.querySelector('.clip-long'), now = document.querySelector('.d2lrnn-now');
        if (long && now) (window.pairs ??= []).push([long.textContent.split(' ')[1], now.textContent]);
    }).observe(document, { subtree: true, childList: true }))""")
    widget = show(page, tmp_path, Clipping())
    page.wait_for_function("window.pairs?.length > 3")
    expect(now(widget)).to_have_text(Clipping().static_sentence())
    assert all(f" {length} long, " in words.replace("\u00a0", " ") for length, words in page.evaluate("window.pairs"))
