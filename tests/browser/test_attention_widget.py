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
TOLD = ".att-letter.att-told"  # the place of the erased letter
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


def letters(widget: Locator) -> Locator:
    return widget.locator(".att-letter")


def test_it_rests_at_what_it_says(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    expect(widget.locator(NOW)).to_have_text(Attention().static_sentence())
    assert "".join(letters(widget).all_inner_texts()) == "in\u2423the\u2423middle\u2423o"
    for kind, count in ((".att-line", 15), (".att-bead", 15), (".att-bar", 30), (TOLD, 0)):
        expect(widget.locator(kind)).to_have_count(count)
    expect(widget.locator(".att-guess")).to_have_text(["f57%n26%", "f67%n22%"])
    expect(widget.locator(".att-letter.att-such")).to_have_text("m")  # the one that the line on top names
    expect(widget.locator(".att-line").nth(7)).to_have_class("att-line att-such")  # and its line
    expect(widget.get_by_role("button", name="Back to the text")).to_be_hidden()
    widget.get_by_text("How it is measured").click()
    measured, models = widget.locator(".d2lrnn-fold > p").all()
    expect(measured).to_contain_text("reaches back 3 letters or fewer, and the RNN\u2019s 8 or fewer.")
    expect(models).to_contain_text("Perplexity 3.6 means: as unsure as a fair choice among 3.6 letters.")
    expect(models).to_contain_text(re.compile("the RNN has 23.451 learned numbers, attention 13.179"))


def test_a_letter_is_erased_and_put_back(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    text = "went quite slac"
    widget = show(page, tmp_path, Attention(text=text))
    letter = letters(widget).nth(5)
    letter.click()
    expect(widget.locator(NOW)).to_have_text(Attention(text=text, letter=6).static_sentence())
    expect(widget.locator(".att-changed")).to_have_text("e45%k36%before: k 72%")
    expect(widget.locator(".att-guess-state")).to_have_text("k88%e8%before: 86%")
    expect(widget.locator(TOLD)).to_have_text(["\u2423"])  # what the networks read there
    expect(widget.locator(".att-such")).to_have_count(0)
    expect(widget.locator(".att-line.att-told")).to_have_count(1)
    gloss = widget.locator(".att-name-state > span")
    expect(gloss).to_have_text("More colour: the erased letter changes more of the memory.")
    gloss = widget.locator(".att-name-attention > span")
    expect(gloss).to_have_text("Both now read a space in place of the q.")
    outline = "(e) => getComputedStyle(e).outlineStyle"
    assert widget.locator(TOLD).evaluate(outline) == "dashed", "a hand has seen what it moved"
    page.keyboard.press("ArrowRight")
    expect(letters(widget).nth(6)).to_have_class(re.compile("att-told"))
    assert widget.locator(TOLD).evaluate(outline) == "solid"
    page.keyboard.press("ArrowLeft")
    letter.click()
    expect(widget.locator(NOW)).to_have_text(Attention(text=text).static_sentence())
    expect(letter).to_have_text("q")
    keys = widget.get_by_role("slider", name="The letter that is erased")
    expect(keys).to_have_attribute("aria-valuetext", "no letter")
    keys.fill("6")
    said = "q, letter 6 of 15. Without it, 36% of attention\u2019s guess moves, 3% of the RNN\u2019s"
    expect(keys).to_have_attribute("aria-valuetext", said)
    widget = show(page, tmp_path, Attention(text=text, letter=5))
    expect(widget.locator(TOLD)).to_have_text(["e"])  # in place of a space
    expect(widget.locator(".att-name-attention > span")).to_have_text("Both now read an e in place of the space.")


def test_a_bar_is_as_high_as_a_guess_moves_and_a_circle_as_deep_as_the_memory_differs(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    high = "(all) => all.map((e) => parseFloat(getComputedStyle(e, '::after').height) / e.clientHeight)"
    for shown in (Attention(), Attention(text="went quite slac", letter=6)):
        widget = show(page, tmp_path, shown)
        for name, effects, reach in zip(("attention", "state"), shown.effects.tolist(), shown.reaches, strict=True):
            bars = widget.locator(f".att-bars-{name} .att-bar")
            assert bars.evaluate_all(high) == pytest.approx(effects, abs=0.01)
            strong = bars.evaluate_all("(all) => all.map((e) => e.classList.contains('att-strong'))")
            assert len(strong) - strong.index(True) == reach, "the one that the line on top counts to"
            row = widget.locator(f".att-bars-{name}")
            tinted = row.evaluate("(e) => parseFloat(getComputedStyle(e, '::before').width) / e.clientWidth")
            assert tinted == pytest.approx(reach / 15, abs=0.01)
            tenth = "(e) => { const s = getComputedStyle(e, '::after'); return [s.content, s.top, s.bottom]; }"
            label, *sides = row.evaluate(tenth)
            side = float(sides[name == "attention"].removesuffix("px"))
            assert label == '"10%"' and side == pytest.approx(row.bounding_box()["height"] / 10, abs=0.5)
        beads = widget.locator(".att-bead")
        deep = beads.evaluate_all("(all) => all.map((e) => Number(e.style.getPropertyValue('--att-differs')))")
        assert deep == pytest.approx([min(1, value) for value in shown.differs.tolist()], abs=0.001)
        colours = beads.evaluate_all("(all) => all.map((e) => getComputedStyle(e).backgroundColor)")
        assert len(set(colours[:5])) == 1 and (colours[5] != colours[0]) == (shown.letter == 6)


@pytest.mark.parametrize("width", [720, 390])
def test_lines_and_memory_lead_to_the_boxes(browser: Browser, tmp_path: Path, width: int) -> None:
    with watched_page(browser, width=width, height=900) as (page, record):
        widget = show(page, tmp_path)
        box = widget.locator(".att-guess-attention").bounding_box()
        for line in widget.locator(".att-line").all():
            x, y = line.evaluate(
                "(e) => { const { x, y } = e.getPointAtLength(e.getTotalLength()).matrixTransform(e.getScreenCTM());"
                " return [x, y]; }"
            )
            assert y == pytest.approx(box["y"] + box["height"], abs=0.5)
            assert box["x"] < x < box["x"] + box["width"]
        memory = widget.locator(".att-memory").bounding_box()
        box = widget.locator(".att-guess-state").bounding_box()
        assert memory["y"] + memory["height"] == pytest.approx(box["y"], abs=0.5)
        assert record.errors == []


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
    expect(widget.locator(TOLD)).to_have_count(1)


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
        boxes = [box.bounding_box() for box in letters(widget).all()]
        assert len({box["y"] for box in boxes}) == 1 and boxes[-1]["x"] + boxes[-1]["width"] < width
        for view in ("mean", "equal"):
            widget = show(page, tmp_path, Attention(view=view))
            assert widget.evaluate(below) == at_rest, view
        assert record.errors == []


def test_the_averages_stand_in_place_of_the_text_and_lead_back_to_it(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, Attention(view="mean"))
    expect(widget.locator(NOW)).to_have_text(Attention(view="mean").static_sentence())
    expect(widget.locator(".d2lrnn-lead")).to_contain_text("in what share of passages")
    boxes = widget.locator(".att-guess")
    expect(boxes).to_have_text(["<1%10 of 2\u202f223", "10%232 of 2\u202f223"])
    expect(widget.locator(TOLD)).to_have_text(["9"])
    expect(widget.locator(".att-line").nth(7)).to_have_class("att-line att-told")
    expect(widget.locator(".att-bar:not(.att-strong)")).to_have_count(0)  # no tenth is told of
    bar = widget.locator(".att-bars-state .att-bar").nth(7)
    high = bar.evaluate("(e) => parseFloat(getComputedStyle(e, '::after').height) / e.clientHeight")
    assert high == pytest.approx(232 / 2223, abs=0.01)
    letters(widget).last.click()
    expect(boxes).to_have_text(["95%2\u202f104 of 2\u202f223", "89%1\u202f974 of 2\u202f223"])
    expect(widget.locator(NOW)).to_have_text(Attention(view="mean", letter=16).static_sentence())
    page.keyboard.press("ArrowLeft")  # the keys go on from there
    expect(widget.locator(NOW)).to_contain_text("letter 2 from the end")
    keys = widget.get_by_role("slider", name="The letter that is erased")
    expect(keys).to_have_attribute("aria-valuetext", "letter 2 from the end")
    page.keyboard.press("Home")
    expect(boxes.last).to_contain_text("2%")
    expect(keys).to_have_attribute("aria-valuetext", "letter 16 from the end")
    letters(widget).first.click()  # one of them is always told
    expect(widget.locator(TOLD)).to_have_text(["16"])
    widget.get_by_role("button", name="Back to the text").click()
    expect(widget.locator(NOW)).to_have_text(Attention().static_sentence())
    expect(letters(widget).first).to_have_text("i")
    widget = show(page, tmp_path, Attention(view="mean"))
    widget.get_by_label("Your text", exact=True).fill("low tide")
    expect(widget.locator(NOW)).to_have_text(Attention(text="low tide").static_sentence())


def test_the_order_of_computing_is_drawn_and_a_letter_leads_back_to_the_text(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, Attention(view="equal"))
    expect(widget.locator(NOW)).to_have_text(Attention(view="equal").static_sentence())
    expect(widget.locator(".att-bars-attention .att-bar")).to_have_text(["1"] * 15)
    bars = widget.locator(".att-bars-state .att-bar")
    expect(bars).to_have_text([str(step) for step in range(1, 16)])
    high = bars.evaluate_all("(all) => all.map((e) => parseFloat(getComputedStyle(e, '::after').height))")
    assert high == pytest.approx([high[-1] * step / 15 for step in range(1, 16)], abs=0.1)
    row = widget.locator(".att-bars-state").bounding_box()
    last = bars.last.bounding_box()
    assert last["y"] + last["height"] <= row["y"] + row["height"] + 0.5, "its number stands in the row"
    wide = "(all) => all.map((e) => e.getBoundingClientRect().width)"
    looks, holds = widget.locator(".att-guess-letter i").evaluate_all(wide)
    assert holds / looks == pytest.approx(3.57 / 4.18, abs=0.02), "the perplexities"
    letters(widget).nth(7).click()
    expect(widget.locator(NOW)).to_have_text(Attention(letter=8).static_sentence())
    expect(bars).to_have_text([""] * 15)


def test_circles_fill_one_after_another_and_lines_at_once(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Attention(view="equal"))
    delay = "(all) => all.map((e) => parseFloat(getComputedStyle(e).transitionDelay))"
    delays = widget.locator(".att-bead").evaluate_all(delay)
    assert delays == sorted(set(delays)) and len(delays) == 15
    lines = "(all) => [...new Set(all.map((e) => `${getComputedStyle(e).animation}`))]"
    [flash] = widget.locator(".att-line").evaluate_all(lines)
    assert "att-flash" in flash


STEPS = [
    ("A far letter", "attention\u2019s", "to 15%.", ["e45%k36%before: k 72%", "k88%e8%before: 86%"], "q"),
    ("Is that usual?", "the RNN\u2019s", "232 times against 10", ["<1%10 of 2\u202f223", "10%232 of 2\u202f223"], ""),
    ("Equal sizes?", "the RNN", "computed at once", ["4.2shorter is better", "3.6shorter is better"], ""),
]


@pytest.mark.parametrize(("title", "guess", "told", "boxes", "asked"), STEPS)
def test_a_step_asks_first_and_shows_then(
    opened: tuple[Page, Record], tmp_path: Path, title: str, guess: str, told: str, boxes: list[str], asked: str
) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    high = "(all) => all.filter((e) => parseFloat(getComputedStyle(e, '::after').height) > 0).length"
    widget = show(page, tmp_path)
    before = widget.locator(NOW).inner_text()
    widget.get_by_role("button", name=title).click()
    expect(widget.locator(".d2lrnn-outcome")).to_be_hidden()
    expect(widget.locator(f"{TOLD}, .att-changed")).to_have_count(0)
    expect(widget.locator(".att-letter.att-such")).to_have_text([asked] if asked else [])  # that of the question
    expect(widget.locator(NOW)).to_have_text(re.compile(r"^Both guess \w next\.$"))  # the question alone asks
    assert (widget.locator(".att-bar").evaluate_all(high) == 0) == bool(asked), "no bar tells the answer"
    wide = "(all) => all.map((e) => parseFloat(getComputedStyle(e, '::before').width))"
    assert (widget.locator(".att-bars").evaluate_all(wide) == [0, 0]) == bool(asked), "nor a tinted field"
    widget.get_by_role("button", name=guess, exact=True).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Right.")
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text(told)
    expect(widget.locator(".att-guess")).to_have_text(boxes)
    assert widget.locator(".att-bar").evaluate_all(high) > 0
    if title == "Is that usual?":
        letters(widget).first.click()
        expect(widget.locator(".att-guess-state")).to_contain_text("40 of")
        expect(widget.locator(".d2lrnn-outcome")).not_to_contain_text("Your earlier guess")
        widget.get_by_role("button", name="Back to the text").click()
        expect(widget.locator(".d2lrnn-step")).to_be_hidden()  # there are no averages any more
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(NOW)).to_have_text(before)
    expect(widget.locator(TOLD)).to_have_count(0)
    expect(widget.locator(".att-letter.att-such")).to_have_text("m")
    if asked:
        widget.get_by_role("button", name=title).click()
        widget.get_by_role("button", name=title).click()  # closed again, the line on top asks
        expect(widget.locator(NOW)).to_contain_text(f"Press the\u00a0{asked} ")


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
        for text in ("went quite slac", "in the middle o", "the fathom"):
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
    widget.get_by_role("button", name="A far letter").click()
    letters(widget).nth(10).click()
    expect(widget.locator(".d2lrnn-question")).to_be_visible()
    expect(widget.locator(NOW)).to_contain_text("With an e for that space")
    page.keyboard.press("ArrowRight")  # the keys go on from the letter that was pressed
    expect(widget.locator(NOW)).to_contain_text("Without the\u00a0s")
    widget.get_by_role("button", name="attention\u2019s", exact=True).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Right.")
    letters(widget).nth(12).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Your earlier guess:")


def test_a_reset_closes_a_question_where_nothing_else_changes(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    before = widget.locator(NOW).inner_text()
    widget.get_by_role("button", name="Is that usual?").click()
    expect(widget.locator(NOW)).not_to_have_text(before)
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(NOW)).to_have_text(before)


def test_own_text_closes_a_step_about_another(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    widget.get_by_role("button", name="A far letter").click()
    expect(widget.locator(".d2lrnn-question")).to_be_visible()
    widget.get_by_label("Your text", exact=True).fill("low tide")
    expect(widget.locator(".d2lrnn-question")).to_be_hidden()
    expect(letters(widget)).to_have_count(8)


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
    expect(widget.locator(".att-columns")).to_be_hidden()
    expect(widget.locator(".att-name-attention")).to_be_visible()
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
