"""Attention beside a state in a page: letters are tapped, dragged and walked; steps ask before they show."""

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


def rows(widget: Locator) -> list[str]:
    """What each of the two guesses, as it is seen."""
    return [" ".join(text.split()) for text in widget.locator(".att-row").all_inner_texts()]


def test_it_rests_at_what_it_says(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    expect(widget.locator(NOW)).to_have_text(Attention().static_sentence())
    expect(widget.locator(".att-seen")).to_have_count(24)
    expect(widget.locator(".att-told")).to_have_count(0)
    assert rows(widget) == ["Attention guesses k 70%", "State guesses k 85%"]
    widget.get_by_text("How it is measured").click()
    expect(widget.locator(".d2lrnn-fold > p").last).to_contain_text("attention 4.06, the network with a state 3.88")
    expect(widget.locator(".d2lrnn-fold > p").last).to_contain_text(re.compile("13.179 and 23.451"))
    expect(widget.locator(".att-small")).to_have_count(4)
    assert widget.locator(".att-small").last.locator("i").count() == 24


def test_a_letter_is_replaced_and_put_back(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    letter = widget.locator(".att-column").nth(14)
    letter.click()
    expect(widget.locator(NOW)).to_have_text(Attention(letter=15).static_sentence())
    assert rows(widget) == ["Attention guesses k 70% → e 47%", "State guesses k 85% → k 88%"]
    expect(widget.locator(".att-changed")).to_have_count(1)
    expect(widget.locator(".att-told")).to_have_text("37%␣2.3%")
    expect(widget.locator(".att-tip")).to_contain_text("37% (attention) and 2.3% (state) move to other letters")
    letter.click()
    expect(widget.locator(NOW)).to_have_text(Attention().static_sentence())
    expect(letter.locator(".att-letter")).to_have_text("q")
    letters = widget.get_by_role("slider", name="The replaced letter")
    expect(letters).to_have_attribute("aria-valuetext", "no letter")
    letters.focus()
    page.keyboard.press("ArrowRight")
    expect(letters).to_have_attribute("aria-valuetext", "t, letter 1 of 24")
    expect(widget.locator(NOW)).to_contain_text("With a space for the t, 23 letters back")


def test_both_rows_of_bars_have_one_scale(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    shown = Attention()
    widget = show(page, tmp_path, shown)
    page.wait_for_timeout(2000)  # the bars have grown
    for side, values in zip(("up", "down"), shown.effects.tolist(), strict=True):
        ticks = widget.locator(f".att-tick-{side}")
        tops = ticks.evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().top)")
        unit = 2 * abs(tops[1] - tops[0])
        heights = widget.locator(f".att-bar-{side}").evaluate_all("(all) => all.map((e) => e.offsetHeight)")
        assert heights == pytest.approx([max(2, unit * value) for value in values], abs=1)


def test_a_drag_replaces_one_letter_after_another(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    column = widget.locator(".att-column")
    box = column.nth(23).bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + box["height"] / 2)
    page.mouse.down()
    expect(column.nth(23)).to_have_class(re.compile("att-told"))
    page.mouse.move(column.nth(12).bounding_box()["x"] + 3, box["y"] + 5, steps=4)
    page.mouse.up()
    expect(column.nth(12)).to_have_class(re.compile("att-told"))
    expect(widget.locator(".att-told")).to_have_count(1)


@pytest.mark.parametrize("width", [720, 390])
def test_the_numbers_keep_off_the_bars_and_inside(browser: Browser, tmp_path: Path, width: int) -> None:
    with watched_page(browser, width=width, height=900) as (page, record):
        widget = show(page, tmp_path, Attention(letter=20))
        page.wait_for_timeout(2000)
        for letter in (23, 22, 21, 20, 14, 0):
            widget.get_by_role("slider", name="The replaced letter").fill(str(letter + 1))
            expect(widget.locator(".att-column").nth(letter)).to_have_class(re.compile("att-told"))
            page.wait_for_timeout(300)
            assert widget.evaluate(COVERED) == 0, letter
        assert record.errors == []


def test_on_a_phone_any_text_is_one_row(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=390, height=800) as (page, record):
        widget = show(page, tmp_path)
        height = widget.bounding_box()["height"]
        widget.locator(".att-column").nth(3).click()
        expect(widget.locator(".att-told")).to_contain_text("e")
        widget.get_by_label("Your text", exact=True).fill("harbour and the sea www ")
        expect(widget.locator(".att-told")).to_have_count(0)
        expect(widget.locator(".att-column")).to_have_count(24)
        boxes = [box.bounding_box() for box in widget.locator(".att-letter").all()]
        assert len({box["y"] for box in boxes}) == 1 and boxes[-1]["x"] + boxes[-1]["width"] < 390
        assert widget.bounding_box()["height"] == pytest.approx(height, abs=2)
        assert record.errors == []


STEPS = [
    ("A far letter", "neither", "In the state the q has faded: only 2.3%", "37%␣2.3%"),
    ("A nearer letter", "the state\u2019s", "Right. The state mixes in every letter it reads", "0.3%␣65%"),
    (
        "On average",
        "the state\u2019s",
        "Right. On average 20% of the state\u2019s guess changed, 0.6% of attention\u2019s.",
        "2.1%␣35%",
    ),
]


@pytest.mark.parametrize(("title", "guess", "told", "marked"), STEPS)
def test_a_step_asks_first_and_shows_then(
    opened: tuple[Page, Record], tmp_path: Path, title: str, guess: str, told: str, marked: str
) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    before = widget.locator(NOW).inner_text()
    widget.get_by_role("button", name=title).click()
    expect(widget.locator(".d2lrnn-outcome")).to_be_hidden()
    expect(widget.locator(".att-seen")).to_have_count(0)  # the bars would tell the answer
    widget.get_by_role("button", name=guess, exact=True).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text(told)
    expect(widget.locator(".att-seen")).to_have_count(24)
    expect(widget.locator(".att-told")).to_have_text(marked)
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(NOW)).to_have_text(before)
    expect(widget.locator(".att-told")).to_have_count(0)


def test_own_text_closes_a_step_about_another(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    widget.get_by_role("button", name="A far letter").click()
    expect(widget.locator(".d2lrnn-question")).to_be_visible()
    widget.get_by_label("Your text", exact=True).fill("low tide")
    expect(widget.locator(".d2lrnn-question")).to_be_hidden()
    expect(widget.locator(".att-seen")).to_have_count(8)


def test_own_text_and_none(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    box = widget.get_by_label("Your text", exact=True)
    box.fill("Low, tide!")
    expect(widget.locator(".att-column")).to_have_count(9)
    expect(widget.locator(NOW)).to_contain_text("as the next letter")
    expect(widget.locator(".att-hint")).to_have_text("Only a to z is read. Taken as spaces: , ! (2 in all).")
    box.fill("")
    expect(widget.locator(NOW)).to_have_text("Type a text.")
    for part in (".att-figure", ".att-heads"):
        expect(widget.locator(part)).to_be_hidden()
    box.fill("z" * 60)
    expect(widget.locator(".att-column")).to_have_count(24)
    expect(widget.locator(".att-hint")).to_have_text("Both read only its last 24 letters.")
    assert not re.search("NaN|undefined", widget.inner_text())
