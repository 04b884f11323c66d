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

NOW = ".d2lrnn-now"
# How many numbers lie on a bar or outside the figure.
COVERED = """(e) => {
  const boxes = (selector) => [...e.querySelectorAll(selector)].map((x) => x.getBoundingClientRect());
  const [area] = boxes(".att-stage");
  const bars = boxes(".att-read .att-bar");
  const meet = (a, b) => a.right > b.left + 0.5 && a.left < b.right - 0.5
    && a.bottom > b.top + 0.5 && a.top < b.bottom - 0.5;
  const isWrong = (box) =>
    box.right > area.right + 0.5 || box.left < area.left - 0.5 || bars.some((x) => meet(x, box));
  return boxes(".att-value:not(:empty)").filter(isWrong).length; }"""


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=720, height=1000) as (page, record):
        yield page, record
        assert record.errors == [] and record.outside == []


def show(page: Page, folder: Path, widget: Attention | None = None) -> Locator:
    (folder / "page.html").write_text(page_of(widget or Attention()), encoding="utf-8")
    page.goto(f"{folder.as_uri()}/page.html")
    found = page.locator('.d2lrnn-widget[data-ready="1"]')
    expect(found).to_have_count(1)
    return found


def test_it_rests_at_what_it_says(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    expect(widget.locator(NOW)).to_have_text(Attention().static_sentence())
    page.wait_for_timeout(300)
    expect(widget.locator(".att-read")).to_have_count(20)
    expect(widget.locator(".att-told")).to_have_text("33%d0.3%")
    expect(widget.locator(".att-expects")).to_have_text("Next letter: attention guesses ␣ (96%), the state ␣ (92%).")
    widget.get_by_text("Four heads, two networks").click()
    told = widget.locator(".d2lrnn-fold > p")
    expect(told).to_contain_text("Attention keeps 128 numbers for each letter, here 2\u202f560.")
    expect(told).to_contain_text(
        "the state is as unsure as among 3.88 equally likely letters, attention as among 4.06."
    )
    expect(told).to_contain_text(re.compile("Attention has 13.179 learned numbers, the network with a state 23.451"))


def test_both_halves_have_one_scale(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    shown = Attention()
    widget = show(page, tmp_path, shown)
    page.wait_for_timeout(300)  # the bars have come to rest
    tops = widget.locator(".att-tick-up").evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().top)")
    unit = 2 * (tops[1] - tops[0])
    letters = widget.locator(".att-bar-down").first.bounding_box()
    half = widget.locator(".att-tick-down").bounding_box()["y"] - letters["y"]
    assert half == pytest.approx(unit / 2, abs=1)
    for side, values in (("up", shown.attention_weights[2].tolist()), ("down", shown.state_changes)):
        heights = widget.locator(f".att-bar-{side}").evaluate_all("(all) => all.map((e) => e.offsetHeight)")
        assert heights == pytest.approx([max(2, unit * value) for value in values], abs=1)


def test_the_text_is_dragged_and_walked(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    column = widget.locator(".att-column")
    box = column.nth(19).bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(column.nth(12).bounding_box()["x"] + 3, box["y"] + 5, steps=4)
    page.mouse.up()
    expect(widget.locator(".att-read")).to_have_count(13)
    column.nth(15).click()
    expect(widget.locator(".att-read")).to_have_count(16)
    column.nth(12).hover()
    page.mouse.down()
    page.mouse.up()
    expect(widget.locator(".att-read")).to_have_count(16)  # a tap on a letter that is read marks it
    for _ in range(3):
        widget.get_by_role("slider", name="The letter read last").press("ArrowLeft")
    keys = widget.get_by_role("slider", name="The letter read last")
    keys.focus()
    page.keyboard.press("ArrowLeft")
    expect(widget.locator(".att-read")).to_have_count(12)
    expect(keys).to_have_attribute("aria-valuetext", "p, letter 12 of 20")
    page.mouse.move(1, 1)
    page.keyboard.press("Home")
    expect(widget.locator(NOW)).to_contain_text("100% of its look on a, the letter just read")


def test_a_letter_is_pointed_at(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    column = widget.locator(".att-column")
    column.nth(14).hover()
    expect(widget.locator(NOW)).to_contain_text(
        "attention puts 0.3% of its look on y, 5 letters back. In the state it is"
    )
    column.nth(15).hover()
    expect(widget.locator(NOW)).to_contain_text("on ␣, 4 letters back")
    page.mouse.move(1, 1)
    expect(widget.locator(NOW)).to_contain_text("33% of its look on d, 17 letters back")
    column.nth(14).click()
    page.mouse.move(1, 1)
    expect(widget.locator(NOW)).to_contain_text("0.3% of its look on y")
    marks = widget.get_by_role("slider", name="The marked letter")
    marks.press("ArrowLeft")
    expect(widget.locator(NOW)).to_contain_text("on n, 6 letters back")
    expect(marks).to_have_attribute("aria-valuetext", "n, letter 14 of 20")
    widget.get_by_text("Four heads, two networks").click()
    widget.get_by_role("button", name="look 2").click()
    expect(widget.locator(NOW)).to_contain_text("98% of its look on k")


@pytest.mark.parametrize("width", [720, 390])
def test_the_numbers_keep_off_the_bars_and_inside(browser: Browser, tmp_path: Path, width: int) -> None:
    with watched_page(browser, width=width, height=900) as (page, record):
        widget = show(page, tmp_path, Attention(letter=20))
        page.wait_for_timeout(300)
        for letter in (19, 18, 17, 2, 0):
            widget.get_by_role("slider", name="The marked letter").fill(str(letter + 1))
            expect(widget.locator(".att-column").nth(letter)).to_have_class(re.compile("att-told"))
            page.wait_for_timeout(200)
            assert widget.evaluate(COVERED) == 0, letter
        assert record.errors == []


def test_on_a_phone_any_text_is_one_row(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=390, height=800) as (page, record):
        widget = show(page, tmp_path)
        height = widget.bounding_box()["height"]
        widget.locator(".att-column").nth(3).click()
        expect(widget.locator(".att-told")).to_contain_text("␣")
        widget.get_by_role("slider", name="The letter read last").fill("4")
        expect(widget.locator(".att-read")).to_have_count(4)
        widget.get_by_label("Text", exact=True).fill("the harbour and the sea and the tide")
        expect(widget.locator(".att-column")).to_have_count(36)
        boxes = [box.bounding_box() for box in widget.locator(".att-letter").all()]
        assert len({box["y"] for box in boxes}) == 1 and boxes[-1]["x"] + boxes[-1]["width"] < 390
        assert widget.bounding_box()["height"] == pytest.approx(height, abs=2)
        assert record.errors == []


def test_each_head_is_shown_small_and_enlarged(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    heights = "(e) => [...e.querySelectorAll('.att-bar-up')].map((x) => x.style.getPropertyValue('--att-share')).join()"
    seen = {widget.evaluate(heights)}
    widget.get_by_text("Four heads, two networks").click()
    for head in (1, 2, 4):
        button = widget.get_by_role("button", name=f"look {head}")
        assert button.locator("i").count() == 20
        button.click()
        expect(widget.locator(".att-title").first).to_have_text(f"Attention: where it looks, in % (look {head} of 4)")
        seen.add(widget.evaluate(heights))
    assert len(seen) == 4


def test_it_reads_and_a_hand_stops_it(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser) as (page, record):
        widget = show(page, tmp_path)
        widget.get_by_role("button", name="Read it").click()
        expect(widget.locator(NOW)).to_contain_text("At a, ")
        expect(widget.locator(".att-read")).to_have_count(20, timeout=10_000)
        widget.get_by_role("button", name="Read it").click()
        expect(widget.locator(NOW)).to_contain_text("At a, ")
        widget.get_by_label("Text", exact=True).fill("the tide")
        page.wait_for_timeout(1000)
        expect(widget.locator(".att-read")).to_have_count(8)
        assert record.errors == []


STEPS = [
    ("Another k", 13, "at the o before it", "with a space instead of this d, the guess ␣ falls from 88% to 77%.", 14),
    ("Forgetting", 3, "3%", "Right. 3.3%. Each new letter is mixed into the same 128 numbers", 11),
    ("Who guesses better?", 20, "the state", "It is as unsure as among 3.88 letters, attention as among 4.06.", 20),
]


@pytest.mark.parametrize(("title", "first", "guess", "told", "last"), STEPS)
def test_a_step_asks_first_and_shows_then(
    opened: tuple[Page, Record], tmp_path: Path, title: str, first: int, guess: str, told: str, last: int
) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    before = widget.locator(NOW).inner_text()
    widget.get_by_role("button", name=title).click()
    expect(widget.locator(".d2lrnn-outcome")).to_be_hidden()
    expect(widget.locator(".att-read")).to_have_count(first)
    widget.get_by_role("button", name=guess, exact=True).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text(told)
    expect(widget.locator(".att-read")).to_have_count(last)
    if title == "Forgetting":
        expect(widget.locator(NOW)).to_contain_text("on d, 8 letters back")
        expect(widget.locator(NOW)).to_contain_text("almost gone: 3.3%")
        expect(widget.locator(".att-told .att-bar-down")).to_have_text("3.3%")
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(NOW)).to_have_text(before)


def test_own_text_closes_a_step_about_another(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    widget.get_by_role("button", name="Another k").click()
    expect(widget.locator(".d2lrnn-question")).to_be_visible()
    widget.get_by_label("Text", exact=True).fill("low tide")
    expect(widget.locator(".d2lrnn-question")).to_be_hidden()


def test_own_text_and_none(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    box = widget.get_by_label("Text", exact=True)
    box.fill("Low, tide!")
    expect(widget.locator(".att-column")).to_have_count(9)
    expect(widget.locator(NOW)).to_contain_text("At ␣, attention puts")
    expect(widget.locator(".att-hint")).to_have_text("Only a to z is read. Taken as spaces: , ! (2 in all).")
    box.fill("")
    expect(widget.locator(NOW)).to_have_text("Type a text.")
    box.fill("z" * 60)
    expect(widget.locator(".att-column")).to_have_count(36)
    expect(widget.locator(".att-hint")).to_be_visible()
    assert not re.search("NaN|undefined", widget.inner_text())
