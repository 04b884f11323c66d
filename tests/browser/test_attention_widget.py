"""Attention beside a state in a page: letters are tapped, dragged, walked, pointed at; steps ask before they show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import Attention
from pages import page_of
from watching import Record, watched_page

pytestmark = pytest.mark.browser

NOW, LOOKS, MOVES = ".d2lrnn-now", ".att-title-attention", ".att-title-state"


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=720, height=1000) as (page, record):
        page.emulate_media(reduced_motion="reduce")  # else it reads by itself at first
        yield page, record
        assert record.errors == [] and record.outside == []


def show(page: Page, folder: Path, widget: Attention | None = None) -> Locator:
    (folder / "page.html").write_text(page_of(widget or Attention()), encoding="utf-8")
    page.goto(f"{folder.as_uri()}/page.html")
    found = page.locator('.d2lrnn-widget[data-ready="1"]')
    expect(found).to_have_count(1)
    return found


def test_it_says_what_each_looks_back_at(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    said = " ".join(widget.locator(part).inner_text() for part in (NOW, LOOKS, MOVES))
    assert said == Attention().static_sentence()
    expect(widget.locator(".att-told")).to_have_text(re.compile("d"))
    expect(widget.locator(".att-kept")).to_contain_text("20 × 128 = 2\u202f560")  # noqa: RUF001
    expect(widget.locator(".att-read")).to_have_count(20)
    widget.get_by_text("The two models").click()
    expect(widget.locator(".d2lrnn-fold p")).to_contain_text("Attention expects ␣ 0.96")


def test_letters_are_tapped_dragged_and_walked(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    column = widget.locator(".att-column")
    column.nth(8).click()
    expect(widget.locator(NOW)).to_contain_text("Here after “and the c”")
    expect(widget.locator(".att-read")).to_have_count(9)
    box = column.nth(8).bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(column.nth(12).bounding_box()["x"] + 3, box["y"] + 5, steps=4)
    page.mouse.up()
    expect(widget.locator(".att-read")).to_have_count(13)
    keys = widget.get_by_role("slider", name="The letter read last")
    keys.focus()
    page.keyboard.press("ArrowLeft")
    expect(widget.locator(".att-read")).to_have_count(12)
    expect(keys).to_have_attribute("aria-valuetext", "p, letter 12 of 20")
    page.keyboard.press("Home")
    expect(widget.locator(LOOKS)).to_contain_text("1.00 of its weight lies on a, the letter itself")


def test_a_letter_is_pointed_at(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    shown = Attention()
    widget = show(page, tmp_path, shown)
    column = widget.locator(".att-column")
    column.nth(14).hover()
    expect(widget.locator(LOOKS)).to_contain_text("<0.01 of its weight lies on y, 5 letters earlier")
    expect(widget.locator(MOVES)).to_have_text(
        f"State: replace this y by a space, and the state moves by {shown.state_changes[14]:.2f} of its length."
    )
    column.nth(15).hover()
    expect(widget.locator(MOVES)).to_contain_text("replace this ␣ by e")
    page.mouse.move(1, 1)
    expect(widget.locator(LOOKS)).to_contain_text("0.33 of its weight lies on d, 17 letters earlier")


def test_on_a_phone_letters_stand_in_rows_and_each_can_be_hit(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=390, height=800) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        widget = show(page, tmp_path)
        column = widget.locator(".att-column")
        boxes = [column.nth(s).bounding_box() for s in range(20)]
        assert len({box["y"] for box in boxes}) == 2 and min(box["width"] for box in boxes) >= 24
        for s in (3, 13):
            column.nth(s).click()
            expect(widget.locator(".att-read")).to_have_count(s + 1)
        assert record.errors == []


def test_each_head_has_weights_of_its_own(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    heights = "(e) => [...e.querySelectorAll('.att-bar-up')].map((x) => x.style.getPropertyValue('--att-share')).join()"
    seen = {widget.evaluate(heights)}
    for head in (1, 2, 4):
        widget.get_by_role("button", name=f"head {head}").click()
        expect(widget.locator(LOOKS)).to_contain_text(f"Attention, head {head}:")
        seen.add(widget.evaluate(heights))
    widget.get_by_role("button", name="mean of 4").click()
    expect(widget.locator(LOOKS)).to_contain_text("mean of 4 heads")
    seen.add(widget.evaluate(heights))
    assert len(seen) == 5


def test_it_reads_and_a_hand_stops_it(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser) as (page, record):
        widget = show(page, tmp_path)
        expect(widget.locator(NOW)).to_contain_text("“a”")  # by itself, when seen
        expect(widget.locator(".att-read")).to_have_count(20, timeout=10_000)
        widget.get_by_role("button", name="Read it").click()
        expect(widget.locator(NOW)).to_contain_text("“a”")
        widget.get_by_label("Text", exact=True).fill("the tide")
        page.wait_for_timeout(1000)
        expect(widget.locator(".att-read")).to_have_count(8)
        assert record.errors == []


STEPS = [
    ("Looking back", "the o before it", "No. The d gets 0.33"),
    ("What fades", "less than 0.01", "Yes. By 0.006, and for the o before the k by 0.99"),
    (
        "Four heads",
        "each at a different one",
        "Yes. Most weight: head 1: o, 2 letters earlier (0.66); head 2: k, the letter itself (0.98); "
        "head 3: d, 17 letters earlier (0.33); head 4: o, 1 letter earlier (0.68).",
    ),
]


@pytest.mark.parametrize(("title", "guess", "told"), STEPS)
def test_a_step_asks_first_and_shows_then(
    opened: tuple[Page, Record], tmp_path: Path, title: str, guess: str, told: str
) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    before = widget.locator(NOW).inner_text()
    widget.get_by_role("button", name=title).click()
    expect(widget.locator(".d2lrnn-outcome")).to_be_hidden()
    if title != "Four heads":
        expect(widget.locator(".att-read")).to_have_count(3)
    widget.get_by_role("button", name=guess, exact=True).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text(told)
    expect(widget.locator(".att-read")).to_have_count(20)
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(NOW)).to_have_text(before)


def test_own_text_and_none(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    box = widget.get_by_label("Text", exact=True)
    box.fill("Low, tide!")
    expect(widget.locator(".att-column")).to_have_count(9)
    expect(widget.locator(NOW)).to_contain_text("low tide ")
    expect(widget.locator(".att-hint")).to_have_text("Only a to z is read. Taken as spaces: , ! (2 in all).")
    box.fill("")
    expect(widget.locator(NOW)).to_have_text("Type a text.")
    box.fill("z" * 60)
    expect(widget.locator(".att-column")).to_have_count(36)
    expect(widget.locator(".att-hint")).to_be_visible()
    assert not re.search("NaN|undefined", widget.inner_text())
