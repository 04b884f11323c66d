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
    expect(widget.locator(".att-read")).to_have_count(24)
    expect(widget.locator(".att-told")).to_have_count(0)
    expect(widget.locator(".att-guesses tbody tr")).to_have_text(["as writtenk70%k85%", "replaced??"])
    widget.get_by_text("Four heads, two networks").click()
    expect(widget.locator(".d2lrnn-fold > p")).to_contain_text("attention 4.06, the network with a state 3.88")


def test_a_letter_is_replaced_and_put_back(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    letter = widget.locator(".att-column").nth(14)
    letter.click()
    expect(widget.locator(NOW)).to_have_text(Attention(letter=15).static_sentence())
    expect(widget.locator(".att-guesses tbody tr")).to_have_text(["as writtenk70%k85%", "q → ␣e47%k88%"])
    expect(widget.locator(".att-guess-new")).to_have_count(1)
    expect(widget.locator(".att-told")).to_have_text("12%q14%")
    letter.click()
    expect(widget.locator(NOW)).to_have_text(Attention().static_sentence())
    letters = widget.get_by_role("slider", name="The replaced letter")
    expect(letters).to_have_attribute("aria-valuetext", "no letter")
    letters.focus()
    page.keyboard.press("ArrowRight")
    expect(letters).to_have_attribute("aria-valuetext", "t, letter 1 of 24")
    expect(widget.locator(NOW)).to_contain_text("With a space for t, 23 letters back")


def test_the_bars_have_their_scales(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    shown = Attention()
    widget = show(page, tmp_path, shown)
    page.wait_for_timeout(300)  # the bars have come to rest
    tops = widget.locator(".att-tick-up").evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().top)")
    unit = 2 * (tops[1] - tops[0])
    letters = widget.locator(".att-bar-down").first.bounding_box()
    whole = widget.locator(".att-tick-down").first.bounding_box()["y"] - letters["y"]
    assert whole == pytest.approx(unit / 2, abs=1)
    for side, values in (("up", shown.attention_weights[1].tolist()), ("down", [x / 2 for x in shown.state_traces])):
        heights = widget.locator(f".att-bar-{side}").evaluate_all("(all) => all.map((e) => e.offsetHeight)")
        assert heights == pytest.approx([max(2, unit * value) for value in values], abs=1)


def test_the_text_is_dragged_and_walked(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    column = widget.locator(".att-column")
    box = column.nth(23).bounding_box()
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
    expect(keys).to_have_attribute("aria-valuetext", "n, letter 12 of 24")
    page.keyboard.press("Home")
    expect(keys).to_have_attribute("aria-valuetext", "t, letter 1 of 24")


@pytest.mark.parametrize("width", [720, 390])
def test_the_numbers_keep_off_the_bars_and_inside(browser: Browser, tmp_path: Path, width: int) -> None:
    with watched_page(browser, width=width, height=900) as (page, record):
        widget = show(page, tmp_path, Attention(letter=20))
        page.wait_for_timeout(300)
        for letter in (23, 22, 21, 20, 14, 0):
            widget.get_by_role("slider", name="The replaced letter").fill(str(letter + 1))
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
    for head in (1, 3, 4):
        button = widget.get_by_role("button", name=f"look {head}")
        assert button.locator("i").count() == 24
        button.click()
        expect(widget.locator(".att-title").first).to_have_text(
            f"Attention: where it looks, in % (look {head} of the 4 that it takes at once)"
        )
        seen.add(widget.evaluate(heights))
    assert len(seen) == 4


def test_it_reads_and_a_hand_stops_it(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser) as (page, record):
        widget = show(page, tmp_path, Attention(letter=2))
        read, values = widget.locator(".att-read"), widget.locator(".att-told .att-value").first
        expect(values).to_be_visible()
        widget.get_by_role("button", name="Read it").click()
        expect(widget.locator(".att-figure")).to_have_class(re.compile("att-reading"))
        expect(values).to_be_hidden(timeout=1000)  # no number beside a bar that moves
        expect(read).to_have_count(24, timeout=10_000)
        expect(values).to_be_visible()
        widget.get_by_role("button", name="Read it").click()
        expect(widget.locator(".att-figure")).to_have_class(re.compile("att-reading"))
        widget.get_by_label("Text", exact=True).fill("the tide")
        page.wait_for_timeout(1000)
        expect(read).to_have_count(8)
        assert record.errors == []


STEPS = [
    ("A far letter", 24, "neither", "Attention now guesses e (47%), the state still k (88%).", 24),
    (
        "Forgetting",
        3,
        "less than a fifth",
        "Right. 8.8% is left. Each new letter is mixed into the same 128 numbers",
        11,
    ),
    (
        "Who guesses better?",
        24,
        "the state",
        "is as unsure as a choice among 3.88 letters, attention as among 4.06.",
        24,
    ),
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
        expect(widget.locator(".att-told .att-bar-down")).to_have_text("8.8%")
    if title == "Who guesses better?":
        expect(widget.locator(".d2lrnn-outcome")).to_contain_text(re.compile("23.451 against 13.179 learned numbers"))
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(NOW)).to_have_text(before)


def test_own_text_closes_a_step_about_another(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    widget.get_by_role("button", name="A far letter").click()
    expect(widget.locator(".d2lrnn-question")).to_be_visible()
    widget.get_by_label("Text", exact=True).fill("low tide")
    expect(widget.locator(".d2lrnn-question")).to_be_hidden()


def test_own_text_and_none(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    box = widget.get_by_label("Text", exact=True)
    box.fill("Low, tide!")
    expect(widget.locator(".att-column")).to_have_count(9)
    expect(widget.locator(NOW)).to_contain_text("Attention guesses")
    expect(widget.locator(".att-hint")).to_have_text("Only a to z is read. Taken as spaces: , ! (2 in all).")
    box.fill("")
    expect(widget.locator(NOW)).to_have_text("Type a text.")
    box.fill("z" * 60)
    expect(widget.locator(".att-column")).to_have_count(36)
    expect(widget.locator(".att-hint")).to_have_text(
        "Only the first 36 characters are read, up to “zzzzzzzz”. The rest is not read."
    )
    assert not re.search("NaN|undefined", widget.inner_text())
