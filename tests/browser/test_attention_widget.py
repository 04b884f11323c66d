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

NOW, COMPARED = ".d2lrnn-now", ".att-compared"


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
    expect(widget.locator(NOW)).to_have_text(Attention().static_sentence())
    expect(widget.locator(".att-expects").first).to_contain_text("expects ␣ 0.9")
    expect(widget.locator(".att-kept")).to_contain_text("26 × 128 = 3\u202f328")  # noqa: RUF001
    expect(widget.locator(".att-read")).to_have_count(26)


def test_letters_are_tapped_dragged_and_walked(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    column = widget.locator(".att-column")
    column.nth(8).click()
    expect(widget.locator(NOW)).to_contain_text("To predict what follows “and then ”")
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
    expect(keys).to_have_attribute("aria-valuetext", "e, letter 12 of 26")
    page.keyboard.press("Home")
    expect(widget.locator(NOW)).to_contain_text("there is little to look back at")


def test_a_letter_is_pointed_at(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    shown = Attention()
    widget = show(page, tmp_path, shown)
    column = widget.locator(".att-column")
    weights = shown.attention_weights.mean(dim=0).tolist()
    column.nth(20).hover()
    expect(widget.locator(COMPARED)).to_have_text(
        f"n, 6 back: attention <0.01, state {shown.state_changes[20]:.2f}."
    )
    column.nth(24).hover()
    expect(widget.locator(COMPARED)).to_contain_text("e, 2 back")
    page.mouse.move(1, 1)
    most = max(range(26), key=weights.__getitem__)
    expect(widget.locator(COMPARED)).to_contain_text(f"{shown.text[most]}, {26 - most} back")


def test_each_head_has_weights_of_its_own(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    heights = "(e) => [...e.querySelectorAll('.att-bar-up')].map((x) => x.style.height).join()"
    seen = {widget.evaluate(heights)}
    for head in range(1, 5):
        widget.get_by_role("button", name=f"head {head}").click()
        expect(widget.locator(NOW)).to_contain_text(f"head {head} of attention gives")
        seen.add(widget.evaluate(heights))
    assert len(seen) == 5


def test_it_reads_and_a_hand_stops_it(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser) as (page, record):
        widget = show(page, tmp_path)
        expect(widget.locator(NOW)).to_contain_text("there is little to look back at")  # by itself, when seen
        expect(widget.locator(".att-read")).to_have_count(26, timeout=10_000)
        widget.get_by_role("button", name="Read it").click()
        expect(widget.locator(NOW)).to_contain_text("there is little")
        widget.get_by_label("Text", exact=True).fill("the tide")
        page.wait_for_timeout(1000)
        expect(widget.locator(".att-read")).to_have_count(8)
        assert record.errors == []


STEPS = [
    ("How far back?", "about 0.5", "No. It is 0.81"),
    ("What fades", "about 0.2", "Yes. By 0.18 of its length, and for the letter 20 back by 0.01"),
    ("Four heads", "each at another", "Yes. Most weight: head 1: h (3 back, 0.82), head 2: e (2 back, 0.99)"),
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
        expect(widget.locator(".att-read")).to_have_count(2)
    widget.get_by_role("button", name=guess, exact=True).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text(told)
    expect(widget.locator(".att-read")).to_have_count(26)
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(NOW)).to_have_text(before)


def test_own_text_and_none(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    box = widget.get_by_label("Text", exact=True)
    box.fill("Low, tide!")
    expect(widget.locator(".att-column")).to_have_count(9)
    expect(widget.locator(NOW)).to_contain_text("low tide ")
    box.fill("")
    expect(widget.locator(NOW)).to_have_text("Type a text.")
    box.fill("z" * 60)
    expect(widget.locator(".att-column")).to_have_count(36)
    expect(widget.locator(".att-hint")).to_be_visible()
    assert not re.search("NaN|undefined", widget.inner_text())
