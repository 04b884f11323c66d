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
# How many numbers lie on a letter or a guess, or outside the figure.
COVERED = """(e) => {
  const boxes = (selector) => [...e.querySelectorAll(selector)].map((x) => x.getBoundingClientRect());
  const [area] = boxes(".att-stage");
  const others = boxes(".att-letter, .att-guess-letter, .att-guess-note, .att-name b");
  const meet = (a, b) => a.right > b.left + 0.5 && a.left < b.right - 0.5
    && a.bottom > b.top + 0.5 && a.top < b.bottom - 0.5;
  const isWrong = (box) =>
    box.right > area.right + 0.5 || box.left < area.left - 0.5 || others.some((x) => meet(x, box));
  return boxes(".att-value:not(:empty)").filter(isWrong).length; }"""

# How wide the strips are at their letters, in columns.
WIDTHS = """(all) => all.flatMap((e) => [...e.querySelectorAll("path")]).map((path) => {
  const d = path.getAttribute("d");
  const end = d.match(/H([\\d.]+)V0Z$/) ?? d.match(/([\\d.]+) 1[.0]*Z$/);
  return end[1] - d.match(/^M([\\d.]+)/)[1]; })"""


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


def guesses(widget: Locator) -> list[str]:
    """What each of the two guesses, as it is seen."""
    return [" ".join(text.split()) for text in widget.locator(".att-guess").all_inner_texts()]


def test_it_rests_at_what_it_says(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    expect(widget.locator(NOW)).to_have_text(Attention().static_sentence())
    expect(widget.locator(".att-strips path")).to_have_count(28)
    expect(widget.locator(".att-told")).to_have_count(0)
    assert guesses(widget)[0] == "f 47% guess" and sorted(guesses(widget)[1].split()) == ["22%", "f", "guess"]
    sure = widget.locator(".att-guess-letter").evaluate_all(
        "(all) => all.map((e) => Number(e.style.getPropertyValue('--att-sure')))"
    )
    assert sure == pytest.approx(Attention().probs.max(dim=1).values.tolist(), abs=0.001)
    expect(widget.locator(".att-bead")).to_have_count(14)
    widget.get_by_text("How it is measured").click()
    models = widget.locator(".d2lrnn-fold > p").last
    expect(models).to_contain_text("as among 4.06 (this number is called perplexity")
    expect(models).to_contain_text(re.compile("23.451 against 13.179"))


def test_a_letter_is_replaced_and_put_back(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    text = "went quite slac"
    widget = show(page, tmp_path, Attention(text=text))
    letter = widget.locator(".att-letter").nth(5)
    letter.click()
    expect(widget.locator(NOW)).to_have_text(Attention(text=text, letter=6).static_sentence())
    expect(widget.locator(".att-changed")).to_have_text("e45%was k")
    expect(widget.locator(".att-guess-state")).to_have_text("k88%still k")
    expect(widget.locator(".att-lit")).to_have_count(2)
    expect(widget.locator(".att-value")).to_have_text(["36%", "2.6%"])
    expect(widget.locator(".att-tip")).to_have_text("At the strips: how much probability moves to other letters.")
    expect(widget.locator(".att-name-state")).to_have_text("State differs in the coloured circles")
    letter.click()
    expect(widget.locator(NOW)).to_have_text(Attention(text=text).static_sentence())
    expect(letter).to_have_text("q")
    letters = widget.get_by_role("slider", name="The letter that is replaced")
    expect(letters).to_have_attribute("aria-valuetext", "no letter")
    letters.focus()
    page.keyboard.press("ArrowRight")
    expect(letters).to_have_attribute("aria-valuetext", "w, letter 1 of 15")
    expect(widget.locator(NOW)).to_contain_text("The w becomes a space")


def test_a_strip_is_as_wide_as_the_effect(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    shown = Attention()
    widget = show(page, tmp_path, shown)
    page.wait_for_timeout(1500)  # the strips have unfolded
    one = widget.locator(".att-letter").first.evaluate("(e) => e.getBoundingClientRect().width + 2")
    for half, values in zip(widget.locator(".att-strips").all(), shown.effects.tolist(), strict=True):
        widths = half.locator("path").evaluate_all(
            """(all) => all.map((path) => {
              const picture = path.ownerSVGElement, d = path.getAttribute("d");
              const scale = picture.getBoundingClientRect().width / picture.viewBox.baseVal.width;
              const end = d.match(/H([\\d.]+)V0Z$/) ?? d.match(/([\\d.]+) 1[.0]*Z$/);
              return (end[1] - path.getPointAtLength(0).x) * scale; })"""
        )
        assert widths == pytest.approx([0.92 * one * value + 0.008 * one for value in values], abs=0.7)


def test_a_drag_replaces_one_letter_after_another(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    letter = widget.locator(".att-letter")
    box = letter.nth(13).bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + box["height"] / 2)
    page.mouse.down()
    expect(letter.nth(13)).to_have_class(re.compile("att-told"))
    page.mouse.move(letter.nth(4).bounding_box()["x"] + 5, box["y"] + 5, steps=4)
    page.mouse.up()
    expect(letter.nth(4)).to_have_class(re.compile("att-told"))
    expect(widget.locator(".att-told")).to_have_count(1)


@pytest.mark.parametrize("width", [720, 390])
def test_the_numbers_keep_off_the_letters_and_inside(browser: Browser, tmp_path: Path, width: int) -> None:
    with watched_page(browser, width=width, height=900) as (page, record):
        for view in ("text", "mean"):
            widget = show(page, tmp_path, Attention(view=view))
            for letter in (13, 12, 10, 5, 0):
                widget.get_by_role("slider", name="The letter that is replaced").fill(str(letter + 1))
                expect(widget.locator(".att-letter").nth(letter)).to_have_class(re.compile("att-told"))
                assert widget.evaluate(COVERED) == 0, letter
        assert record.errors == []


def test_on_a_phone_any_text_is_one_row(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=390, height=800) as (page, record):
        widget = show(page, tmp_path)
        height = widget.bounding_box()["height"]
        widget.locator(".att-letter").nth(3).click()
        expect(widget.locator(".att-told")).to_have_count(1)
        below = widget.locator(".att-tools").bounding_box()["y"]
        for letter in (6, 9, 13):
            widget.locator(".att-letter").nth(letter).click()
            assert widget.locator(".att-tools").bounding_box()["y"] == pytest.approx(below, abs=1)
        widget.get_by_label("Your text", exact=True).fill("and the sea www ")
        expect(widget.locator(".att-told")).to_have_count(0)
        expect(widget.locator(".att-letter")).to_have_count(16)
        boxes = [box.bounding_box() for box in widget.locator(".att-letter").all()]
        assert len({box["y"] for box in boxes}) == 1 and boxes[-1]["x"] + boxes[-1]["width"] < 390
        assert widget.bounding_box()["height"] == pytest.approx(height, abs=2)
        assert record.errors == []


def test_on_a_phone_a_pressed_average_moves_nothing(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=390, height=800) as (page, record):
        widget = show(page, tmp_path, Attention(view="mean"))
        below = "(e) => e.querySelector('.att-tools').offsetTop"
        top = widget.evaluate(below)
        for letter in ("16", "15", "11", "1"):
            widget.get_by_role("slider", name="The letter that is replaced").fill(letter)
            expect(widget.locator(NOW)).to_contain_text("of attention\u2019s probability")
            assert widget.evaluate(below) == top, letter
        assert record.errors == []


def test_the_averages_are_of_no_text(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Attention(view="mean"))
    box = widget.get_by_label("Your text", exact=True)
    expect(box).to_have_value("")
    expect(widget.locator(".att-letters")).to_have_text("1514131211109876543210")
    assert [guess.strip() for guess in guesses(widget)] == ["guess", "guess"]
    names = widget.locator(".att-name")
    expect(names).to_have_text(["Attention reads every letter directly", "State hands a memory on, letter by letter"])
    expect(widget.locator(".att-far")).to_have_text(["1% of passages", "17% of passages"])
    expect(widget.locator(".att-is-far")).to_have_count(8)
    widget.locator(".att-letter").nth(10).click()
    expect(widget.locator(NOW)).to_have_text(Attention(view="mean", letter=11).static_sentence())
    box.fill("low tide")
    expect(widget.locator(NOW)).to_have_text(Attention(text="low tide").static_sentence())


STEPS = [
    ("Who sees the q?", "neither", "Attention looks straight at the q: one step.", ["45% was k", "88% still k"]),
    ("Who needs the r?", "neither", "only 0.7% of its probability moves.", ["49% still y", "80% was y"]),
    ("Who looks far?", "the state\u2019s", "The state\u2019s: in 17% of the passages, against 1%.", ["", ""]),
]


@pytest.mark.parametrize(("title", "guess", "told", "marked"), STEPS)
def test_a_step_asks_first_and_shows_then(
    opened: tuple[Page, Record], tmp_path: Path, title: str, guess: str, told: str, marked: list[str]
) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    before = widget.locator(NOW).inner_text()
    widget.get_by_role("button", name=title).click()
    expect(widget.locator(".d2lrnn-outcome")).to_be_hidden()
    expect(widget.locator(".att-off")).to_have_count(2)  # the strips would tell the answer
    widths = widget.locator(".att-strips").evaluate_all(WIDTHS)
    assert max(widths) < 0.02, "threads of one width"
    expect(widget.locator(".att-tip")).to_have_text("The strips appear with the answer.")
    widget.get_by_role("button", name=guess, exact=True).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text(told)
    expect(widget.locator(".att-off")).to_have_count(0)
    notes = widget.locator(".att-guess-note").all_inner_texts()
    assert [" ".join(note.split()) for note in notes] == marked
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(NOW)).to_have_text(before)
    expect(widget.locator(".att-told")).to_have_count(0)


def test_an_open_question_stays_and_a_press_shows_its_own_letter_alone(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    widget.get_by_role("button", name="Who sees the q?").click()
    widget.locator(".att-letter").nth(10).click()
    expect(widget.locator(".d2lrnn-question")).to_be_visible()
    expect(widget.locator(NOW)).to_contain_text("The space becomes an e")
    expect(widget.locator(".att-value")).to_have_text(["11%", "66%"])
    widths = widget.locator(".att-strips").evaluate_all(WIDTHS)
    assert sum(width > 0.02 for width in widths) == 2, "one letter's strip above and one below"
    page.keyboard.press("ArrowRight")  # the keys go on from the letter that was pressed
    expect(widget.locator(NOW)).to_contain_text("The s becomes a space")
    widget.get_by_role("button", name="attention\u2019s", exact=True).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Right.")
    widget.locator(".att-letter").nth(10).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Before your change:")
    widths = widget.locator(".att-strips").evaluate_all(WIDTHS)
    assert sum(width > 0.02 for width in widths) > 6, "all strips"


def test_on_a_phone_two_arrows_go_from_letter_to_letter(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=390, height=844) as (page, record):
        widget = show(page, tmp_path)
        before, after = (widget.get_by_role("button", name=f"letter {name}") for name in ("before", "after"))
        box = before.bounding_box()
        assert box["width"] >= 44 and box["height"] >= 36
        before.click()
        expect(widget.locator(".att-letter").last).to_have_class(re.compile("att-told"))
        after.click()
        before.click()
        expect(widget.locator(".att-letter").nth(12)).to_have_class(re.compile("att-told"))
        assert record.errors == []


def test_own_text_closes_a_step_about_another(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    widget.get_by_role("button", name="Who sees the q?").click()
    expect(widget.locator(".d2lrnn-question")).to_be_visible()
    widget.get_by_label("Your text", exact=True).fill("low tide")
    expect(widget.locator(".d2lrnn-question")).to_be_hidden()
    expect(widget.locator(".att-strips path")).to_have_count(16)


def test_own_text_and_none(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    box = widget.get_by_label("Your text", exact=True)
    box.fill("Low, tide!")
    expect(widget.locator(".att-letter")).to_have_count(9)
    expect(widget.locator(NOW)).to_contain_text("it becomes a space")
    expect(widget.locator(".att-hint")).to_have_text("Only a to z is read. Taken as spaces: , ! (2 in all).")
    box.fill("")
    expect(widget.locator(NOW)).to_have_text("Type a text.")
    expect(widget.locator(".att-stage")).to_be_hidden()
    box.fill("z" * 60)
    expect(widget.locator(".att-letter")).to_have_count(16)
    expect(widget.locator(".att-hint")).to_have_text("Both read only its last 16 letters.")
    assert not re.search("NaN|undefined", widget.inner_text())


def test_one_letter_leaves_the_figure_as_high(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    height = widget.bounding_box()["height"]
    box = widget.get_by_label("Your text", exact=True)
    for text in ("x", "tide"):
        box.fill(text)
        expect(widget.locator(".att-letter")).to_have_count(len(text))
        assert widget.bounding_box()["height"] == pytest.approx(height, abs=2)
