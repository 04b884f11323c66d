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
TOLD = ".att-letter.att-told"  # the place of the erased letter, in both rows
# Does what is said of a guess stay inside the figure and off the letters?
COVERED = """(e) => {
  const boxes = (selector) => [...e.querySelectorAll(selector)].map((x) => x.getBoundingClientRect());
  const [area] = boxes(".att-figure");
  const meet = (a, b) => a.right > b.left + 0.5 && a.left < b.right - 0.5
    && a.bottom > b.top + 0.5 && a.top < b.bottom - 0.5;
  const others = boxes(".att-letter, .att-name b, .att-bead");
  const isWrong = (box) =>
    box.right > area.right + 0.5 || box.left < area.left - 0.5 || others.some((x) => meet(x, box));
  return boxes(".att-guess").filter(isWrong).length; }"""


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


ABOVE, BELOW = ".att-columns-attention", ".att-columns-state"


def letters(widget: Locator, row: str = ABOVE) -> Locator:
    return widget.locator(f"{row} .att-letter")


def test_it_rests_at_what_it_says(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    expect(widget.locator(NOW)).to_have_text(Attention().static_sentence())
    expect(widget.locator(".att-band")).to_have_count(15)
    expect(widget.locator(".att-bead")).to_have_count(15)
    for row in (ABOVE, BELOW):
        assert "".join(letters(widget, row).all_inner_texts()) == "went\u2423quite\u2423slac"
    expect(widget.locator(TOLD)).to_have_count(0)
    expect(widget.locator(".att-guess")).to_have_text(["k72%e20%", "k86%e10%"])
    expect(widget.locator(".att-such")).to_have_text(["q", "q"])  # the one that the line on top names
    expect(widget.locator(".att-band").nth(5)).to_have_class("att-band att-dark")  # and its line
    expect(widget.locator(".att-dark")).to_have_count(2)
    expect(widget.locator(".att-name-attention")).to_contain_text("Marked: the\u00a0q, 3%.")
    expect(widget.locator(".att-averages")).to_be_hidden()
    widget.get_by_text("How it is measured").click()
    models = widget.locator(".d2lrnn-fold > p").last
    expect(models).to_contain_text("as among 4.06 (this number is called perplexity")
    expect(models).to_contain_text(re.compile("23.451 against 13.179"))


@pytest.mark.parametrize("row", [ABOVE, BELOW])
def test_a_letter_is_erased_in_both_rows_and_put_back(opened: tuple[Page, Record], tmp_path: Path, row: str) -> None:
    page, _ = opened
    text = "went quite slac"
    widget = show(page, tmp_path, Attention(text=text))
    letter = letters(widget, row).nth(5)
    letter.click()
    expect(widget.locator(NOW)).to_have_text(Attention(text=text, letter=6).static_sentence())
    expect(widget.locator(".att-changed")).to_have_text("e45%k36%before: k 72%")
    expect(widget.locator(".att-guess-state")).to_have_text("k88%e8%before: 86%")
    expect(widget.locator(TOLD)).to_have_text(["\u2423", "\u2423"])  # what the networks read there
    expect(widget.locator(".att-such")).to_have_count(0)
    boxes = [box.bounding_box() for box in widget.locator(f"{TOLD}, .att-letter:nth-child(5)").all()]
    assert len({round(box["height"]) for box in boxes}) == 1, "the erased place is as high"
    expect(widget.locator(".att-name-attention")).to_have_text(
        "Attention Dashed: the erased line, 3% of its attention. Even a thin line can tip a guess."
    )
    expect(widget.locator(".att-lost")).to_have_count(1)
    letters(widget, row).nth(13).click()  # a thick line: nobody is surprised
    told = widget.locator(".att-name-attention")
    expect(told).to_have_text("Attention Dashed: the erased line, 27% of its attention.")
    letter.click()
    expect(widget.locator(".att-name-state")).to_have_text(
        "State Band: what this changes in the memory. At the end 15% of it is left."
    )
    outline = "(e) => getComputedStyle(e).outlineStyle"
    assert widget.locator(".att-told").first.evaluate(outline) == "none", "a hand has seen what it moved"
    page.keyboard.press("ArrowRight")
    expect(letters(widget, row).nth(6)).to_have_class(re.compile("att-told"))
    assert widget.locator(".att-told").first.evaluate(outline) == "solid"
    page.keyboard.press("ArrowLeft")
    letter.click()
    expect(widget.locator(NOW)).to_have_text(Attention(text=text).static_sentence())
    expect(letter).to_have_text("q")
    keys = widget.get_by_role("slider", name="The letter that is erased")
    expect(keys).to_have_attribute("aria-valuetext", "no letter")
    keys.focus()
    page.keyboard.press("ArrowRight")
    expect(keys).to_have_attribute("aria-valuetext", "w, letter 1 of 15")
    expect(widget.locator(NOW)).to_contain_text("Without the\u00a0w")


def test_a_legend_tells_of_a_space_and_of_a_memory_that_differs_more_at_the_end(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    grown = next(
        Attention(text="along the shel", letter=letter)
        for letter in range(1, 14)
        if Attention(text="along the shel", letter=letter).differs[letter - 1 :][[0, -1]].diff() > 0.02
    )
    share = 100 * grown.differs[-1] / grown.differs[grown.letter - 1]
    assert share > 101
    expect(show(page, tmp_path, grown).locator(".att-name-state")).to_have_text(
        "State Band: what this changes in the memory. It can grow, too: "
        f"at the end it is {share:.0f}% of what it was at first."
    )
    widget = show(page, tmp_path, Attention(letter=5))
    expect(widget.locator(TOLD)).to_have_text(["e", "e"])


def test_a_line_is_as_thick_as_attention_looks_and_a_circle_as_deep_as_the_memory_differs(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    for text, letter in (("went quite slac", 0), ("went quite slac", 6), ("old before ever", 15)):
        shown = Attention(text=text, letter=letter)
        widget = show(page, tmp_path, shown)
        at_letter = "(all) => all.map((e) => e.getPointAtLength(0).x)"
        ends = """(all) => all.map((e) => [0, e.getTotalLength()].map((at) => e.getPointAtLength(at).x))"""
        middles = widget.locator(".att-line").evaluate_all(at_letter)
        lefts = widget.locator(".att-band").evaluate_all(ends)
        wide = [2 * (middle - left) for middle, (left, _) in zip(middles, lefts, strict=True)]
        assert wide == pytest.approx([1.2 * weight for weight in shown.weights.tolist()], abs=0.002)
        expect(widget.locator(".att-lost")).to_have_count(min(letter, 1))
        if letter == 0:
            continue
        beads = widget.locator(".att-bead")
        deep = beads.evaluate_all("(all) => all.map((e) => Number(e.style.getPropertyValue('--att-differs')))")
        assert deep == pytest.approx([min(1, value) for value in shown.differs.tolist()], abs=0.001)
        colours = beads.evaluate_all("(all) => all.map((e) => getComputedStyle(e).backgroundColor)")
        assert len(set(colours[: letter - 1])) == 1 and colours[letter - 1] != colours[0]


def test_attention_lines_arrive_at_the_box_of_its_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    box = widget.locator(".att-guess-attention").bounding_box()
    for band in widget.locator(".att-line").all():
        x, y = band.evaluate(
            "(e) => { const { x, y } = e.getPointAtLength(e.getTotalLength()).matrixTransform(e.getScreenCTM());"
            " return [x, y]; }"
        )
        assert y == pytest.approx(box["y"] + box["height"], abs=0.5)
        assert box["x"] < x < box["x"] + box["width"]


def test_a_drag_replaces_one_letter_after_another(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    letter = letters(widget)
    box = letter.nth(13).bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + box["height"] / 2)
    page.mouse.down()
    expect(letter.nth(13)).to_have_class(re.compile("att-told"))
    page.mouse.move(letter.nth(4).bounding_box()["x"] + 5, box["y"] + 5, steps=4)
    page.mouse.up()
    expect(letter.nth(4)).to_have_class(re.compile("att-told"))
    expect(widget.locator(TOLD)).to_have_count(2)


@pytest.mark.parametrize("width", [720, 390, 320])
def test_the_guesses_keep_off_the_letters_and_inside(browser: Browser, tmp_path: Path, width: int) -> None:
    with watched_page(browser, width=width, height=900) as (page, record):
        for text in ("went quite slac", "and the sea www ", "x"):
            widget = show(page, tmp_path, Attention(text=text))
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            for letter in {len(text), 1}:
                widget.get_by_role("slider", name="The letter that is erased").fill(str(letter))
                expect(letters(widget).nth(letter - 1)).to_have_class(re.compile("att-told"))
                assert widget.evaluate(COVERED) == 0, letter
        assert record.errors == []


@pytest.mark.parametrize("width", [1280, 760, 390, 360, 320])
def test_nothing_below_the_picture_moves(browser: Browser, tmp_path: Path, width: int) -> None:
    with watched_page(browser, width=width, height=800) as (page, record):
        widget = show(page, tmp_path)
        below = "(e) => [e.offsetHeight, e.querySelector('.att-tools').offsetTop]"
        at_rest = widget.evaluate(below)
        for letter in range(1, 16):
            widget.get_by_role("slider", name="The letter that is erased").fill(str(letter))
            expect(letters(widget).nth(letter - 1)).to_have_class(re.compile("att-told"))
            assert widget.evaluate(below) == at_rest, letter
        widget.get_by_label("Your text", exact=True).fill("and the sea www ")
        expect(letters(widget)).to_have_count(16)
        assert widget.evaluate(below) == at_rest
        for row in (ABOVE, BELOW):
            boxes = [box.bounding_box() for box in letters(widget, row).all()]
            assert len({box["y"] for box in boxes}) == 1 and boxes[-1]["x"] + boxes[-1]["width"] < width
        widget = show(page, tmp_path, Attention(view="mean"))
        assert widget.evaluate(below) == at_rest
        assert record.errors == []


def test_the_averages_stand_in_place_of_the_text_and_lead_back_to_it(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Attention(view="mean"))
    expect(widget.locator(NOW)).to_have_text(Attention(view="mean").static_sentence())
    expect(widget.locator(".att-stage")).to_be_hidden()
    shares = widget.locator(".att-read > span")
    expect(shares).to_have_text(["Attention <1%", "State 10%"])
    expect(widget.locator(".att-cell.att-told")).to_have_text("8")
    plot = widget.locator(".att-plot").bounding_box()
    dot = widget.locator(".att-dot-state").bounding_box()
    high = (plot["y"] + plot["height"] - dot["y"] - dot["height"] / 2) / plot["height"]
    assert high == pytest.approx(232 / 2223, abs=0.01)
    page.mouse.click(plot["x"] + plot["width"] - 5, plot["y"] + 40)
    expect(shares).to_have_text(["Attention 95%", "State 89%"])
    expect(widget.locator(NOW)).to_have_text(Attention(view="mean", letter=16).static_sentence())
    page.keyboard.press("ArrowLeft")  # the keys go on from there
    expect(widget.locator(NOW)).to_contain_text("the letter 1 before the last")
    keys = widget.get_by_role("slider", name="The letter that is erased")
    expect(keys).to_have_attribute("aria-valuetext", "the letter 1 before the last")
    page.keyboard.press("Home")
    expect(shares).to_have_text(["Attention <1%", "State 2%"])
    expect(keys).to_have_attribute("aria-valuetext", "the letter 15 before the last")
    widget.get_by_role("button", name="Back to the text").click()
    expect(widget.locator(NOW)).to_have_text(Attention().static_sentence())
    expect(widget.locator(".att-averages")).to_be_hidden()
    widget = show(page, tmp_path, Attention(view="mean"))
    widget.get_by_label("Your text", exact=True).fill("low tide")
    expect(widget.locator(NOW)).to_have_text(Attention(text="low tide").static_sentence())


STEPS = [
    (
        "Further back?",
        "attention\u2019s",
        "its line goes straight to the q, and without it e gets ahead",
        ["e44%k37%before: k 48%", "k83%e10%before: 84%"],
        "q",
    ),
    (
        "Who needs the r?",
        "the state\u2019s",
        "42% of the change is left at the end, and that tips its guess",
        ["y52%\u242343%before: 51%", "\u242382%y14%before: y 97%"],
        "r",
    ),
    (
        "And on average?",
        "the state\u2019s",
        "232 times against 10",
        ["k72%e20%", "k86%e10%"],
        "",
    ),
]


@pytest.mark.parametrize(("title", "guess", "told", "marked", "asked"), STEPS)
def test_a_step_asks_first_and_shows_then(
    opened: tuple[Page, Record], tmp_path: Path, title: str, guess: str, told: str, marked: list[str], asked: str
) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    before = widget.locator(NOW).inner_text()
    widget.get_by_role("button", name=title).click()
    expect(widget.locator(".d2lrnn-outcome")).to_be_hidden()
    expect(widget.locator(f"{TOLD}, .att-changed")).to_have_count(0)
    expect(widget.locator(".att-such")).to_have_text([asked] * 2 if asked else [])  # the letter of the question
    expect(widget.locator(NOW)).to_have_text(re.compile(r"^Both guess \w next\.$"))  # the question alone asks
    expect(widget.locator(".att-averages")).to_be_hidden()
    widget.get_by_role("button", name=guess, exact=True).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Right.")
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text(told)
    expect(widget.locator(".att-guess")).to_have_text(marked)
    expect(widget.locator(".att-averages")).to_be_visible(visible=title == "And on average?")
    if not asked:  # a drag along the chart is what the answer asks for
        widget.locator(".att-plot").click(position={"x": 20, "y": 20})
        expect(widget.locator(".att-read")).to_contain_text("State 2%")
        expect(widget.locator(".d2lrnn-outcome")).not_to_contain_text("Before your change")
        widget.get_by_role("button", name="Back to the text").click()
        expect(widget.locator(".d2lrnn-step")).to_be_hidden()  # there is no chart any more to drag along
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(NOW)).to_have_text(before)
    expect(widget.locator(TOLD)).to_have_count(0)
    expect(widget.locator(".att-such")).to_have_text(["q", "q"])
    if asked:
        widget.get_by_role("button", name=title).click()
        widget.get_by_role("button", name=title).click()  # closed again, the line on top asks
        expect(widget.locator(NOW)).to_contain_text(re.compile(f"Press the\u00a0(first )?{asked} "))


@pytest.mark.parametrize("width", [1280, 760, 390, 320])
def test_what_a_guess_was_stays_within_its_box(browser: Browser, tmp_path: Path, width: int) -> None:
    wide = """(e) => [...e.querySelectorAll(".att-guess")].map((guess) => {
      const box = guess.getBoundingClientRect();
      return [...guess.querySelectorAll(".att-guess-note, .att-guess-row > :not(i)")].map((note) => {
        const range = document.createRange();
        range.selectNodeContents(note);
        const text = range.getBoundingClientRect();
        return text.left - box.left >= -0.5 && box.right - text.right >= -0.5; }).every(Boolean); })"""
    with watched_page(browser, width=width, height=900) as (page, record):
        for text in ("went quite slac", "old before ever", "the fathom"):
            widget = show(page, tmp_path, Attention(text=text))
            for letter in range(1, len(text) + 1):
                widget.get_by_role("slider", name="The letter that is erased").fill(str(letter))
                expect(letters(widget).nth(letter - 1)).to_have_class(re.compile("att-told"))
                assert widget.evaluate(wide) == [True, True], (text, letter)
            widget.locator(".att-guess-attention .att-guess-note").evaluate(
                "(e) => { e.textContent = 'before: m >99%'; e.closest('.att-guess').classList.add('att-changed'); }"
            )
            assert widget.evaluate(wide) == [True, True]
        assert record.errors == []


def test_an_open_question_stays_where_a_letter_is_pressed(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    widget.get_by_role("button", name="Further back?").click()
    letters(widget).nth(11).click()
    expect(widget.locator(".d2lrnn-question")).to_be_visible()
    expect(widget.locator(NOW)).to_contain_text("With an e for that space")
    page.keyboard.press("ArrowRight")  # the keys go on from the letter that was pressed
    expect(widget.locator(NOW)).to_contain_text("Without the\u00a0s")
    widget.get_by_role("button", name="attention\u2019s", exact=True).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Right.")
    letters(widget).nth(10).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Before your change:")


def test_a_reset_closes_a_question_where_nothing_else_changes(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    before = widget.locator(NOW).inner_text()
    widget.get_by_role("button", name="And on average?").click()
    expect(widget.locator(NOW)).not_to_have_text(before)
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(NOW)).to_have_text(before)


def test_own_text_closes_a_step_about_another(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    widget.get_by_role("button", name="Further back?").click()
    expect(widget.locator(".d2lrnn-question")).to_be_visible()
    widget.get_by_label("Your text", exact=True).fill("low tide")
    expect(widget.locator(".d2lrnn-question")).to_be_hidden()
    expect(widget.locator(".att-band")).to_have_count(8)


def test_own_text_and_none(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    box = widget.get_by_label("Your text", exact=True)
    box.fill("Low, tide!")
    expect(letters(widget)).to_have_count(9)
    expect(widget.locator(NOW)).to_contain_text("to erase it")
    expect(widget.locator(".att-hint")).to_have_text(
        "Only a to z is read: , ! became spaces, and spaces in a row are one."
    )
    box.fill("É été")
    expect(widget.locator(".att-hint")).to_have_text("Read as plain letters: é as e.")
    box.fill("")
    expect(widget.locator(NOW)).to_have_text("Type a text.")
    expect(widget.locator(".att-stage")).to_be_hidden()
    box.fill("the queen of hearts")
    expect(letters(widget)).to_have_count(15)
    expect(widget.locator(".att-hint")).to_have_text("Both read only its last 15 letters.")
    box.fill("z" * 60)
    expect(letters(widget)).to_have_count(16)
    expect(widget.locator(".att-hint")).to_have_text("Both read only its last 16 letters.")
    assert not re.search("NaN|undefined", widget.inner_text())


def test_one_letter_leaves_the_figure_as_high(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    height = widget.bounding_box()["height"]
    box = widget.get_by_label("Your text", exact=True)
    for text in ("x", "tide"):
        box.fill(text)
        expect(letters(widget)).to_have_count(len(text))
        assert widget.bounding_box()["height"] == pytest.approx(height, abs=2)
