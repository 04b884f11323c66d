"""Attention beside a state in a page: letters are tapped, dragged and walked; steps ask before they show."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import Attention
from pages import COUNT_URGES, page_of
from watching import Record, watched_page

pytestmark = pytest.mark.browser

NOW = ".d2lrnn-now"
LEAD = ".d2lrnn-lead"
BARS = (".att-bars-attention", ".att-bars-state")
TOLD = ".att-letter.att-told"  # the place of the erased letter
WIDE = {"width": 720, "height": 1000}
# Of a text and of each of its letters erased: is what is said of a guess inside the figure, inside its box, off the
# letters? Where does what is below stand, on which lines do the letters?
EACH_ERASED = """async (e, [text, longest]) => {
  const drawn = () => new Promise((done) => setTimeout(done));
  const put = async (input, value) => { input.value = value; input.dispatchEvent(new Event("input")); await drawn(); };
  const boxes = (selector) => [...e.querySelectorAll(selector)].map((x) => x.getBoundingClientRect());
  const meet = (a, b) => a.right > b.left + 0.5 && a.left < b.right - 0.5
    && a.bottom > b.top + 0.5 && a.top < b.bottom - 0.5;
  const isInside = (box, area) => box.left >= area.left - 0.5 && box.right <= area.right + 0.5;
  const written = (node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return range.getBoundingClientRect();
  };
  const hold = () => [...e.querySelectorAll(".att-guess")].every((guess) =>
    [...guess.querySelectorAll(".att-guess-note, .att-guess-row > :not(i)")]
      .every((part) => isInside(written(part), guess.getBoundingClientRect())));
  const measured = () => {
    const [area] = boxes(".att-figure");
    const others = boxes(".att-letter, .att-name b, .att-bead");
    return {
      told: [...e.querySelectorAll(".att-letter")].findIndex((cell) => cell.matches(".att-told")) + 1,
      free: boxes(".att-guess").every((box) => isInside(box, area) && !others.some((x) => meet(x, box))),
      hold: hold(),
      below: [e.offsetHeight, e.querySelector(".att-tools").offsetTop],
      lines: new Set(boxes(".att-letter").map(({ y }) => y)).size,
      names: boxes(".att-name b").map(({ y }) => y),
      overflow: document.documentElement.scrollWidth - innerWidth,
    };
  };
  await put(e.querySelector(".att-text"), text);
  const found = [measured()];
  for (let letter = 1; letter <= text.length; letter += 1) {
    await put(e.querySelector(".att-keys"), letter);
    found.push(measured());
  }
  const guess = e.querySelector(".att-guess-attention");
  guess.classList.add("att-changed");
  guess.querySelector(".att-guess-note").textContent = longest;
  return [found, hold()]; }"""


@pytest.fixture(scope="module")
def opened(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Page, Record]]:
    """One page for all: a figure at rest."""
    place = tmp_path_factory.mktemp("attention") / "page.html"
    place.write_text(page_of(Attention()), encoding="utf-8")
    with watched_page(browser, **WIDE) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        page.goto(place.as_uri())
        expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(1)
        yield page, record


@pytest.fixture
def widget(opened: tuple[Page, Record]) -> Iterator[Locator]:
    page, record = opened
    page.set_viewport_size(WIDE)
    found = page.locator(".d2lrnn-widget")
    page.evaluate("document.activeElement.blur()")
    found.get_by_role("button", name="Reset").evaluate("(e) => e.click()")
    expect(found.locator(NOW)).to_have_text(Attention().static_sentence())
    yield found
    assert record.errors == [] and record.outside == []


def show(widget: Locator, **state: Any) -> Attention:
    """The figure as a link in the text sets it."""
    wanted = Attention(**state)
    widget.evaluate(
        "(e, href) => { const a = document.createElement('a'); a.href = href; e.after(a); a.click(); a.remove(); }",
        f"#explore=Attention&{urlencode(state)}",
    )
    expect(widget.locator(NOW)).to_have_text(wanted.static_sentence())
    return wanted


def letters(widget: Locator) -> Locator:
    return widget.locator(".att-letter")


def test_it_rests_at_what_it_says(widget: Locator) -> None:
    expect(widget.locator(LEAD)).to_have_text(
        "Two networks guess the next letter. Erase a letter: does a guess change?"
    )
    assert "".join(letters(widget).all_inner_texts()) == "in\u2423the\u2423middle\u2423o"
    for kind, count in ((".att-line", 15), (".att-bead", 15), (".att-bar", 30), (TOLD, 0)):
        expect(widget.locator(kind)).to_have_count(count)
    expect(widget.locator(".att-guess")).to_have_text(["f57%n26%the next letter", "f67%n22%the next letter"])
    expect(widget.locator(".att-letter.att-such")).to_have_text("m")  # the one that the line on top names
    expect(widget.locator(".att-line").nth(7)).to_have_class("att-line att-such")  # and its line
    strong = "(all) => all.map((e) => e.matches('.att-strong'))"  # what the guess needs
    assert widget.locator(".att-bars-attention .att-bar").evaluate_all(strong) == [False] * 12 + [True] * 3
    expect(widget.get_by_role("button", name="Back to the text")).to_be_hidden()
    *measured, models = widget.locator(".d2lrnn-fold > p").all()
    assert sum(len(part.text_content().split()) for part in [*measured, models]) <= 200
    expect(measured[-1]).to_contain_text(
        "bars of at least 10% reach back 3 letters or fewer, the RNN\u2019s 8 or fewer."
    )
    expect(models).to_contain_text(re.compile("RNN has 23.451 learned numbers, attention 13.179"))


def test_a_letter_is_erased_and_put_back(widget: Locator) -> None:
    text = "went quite slac"
    show(widget, text=text)
    letter = letters(widget).nth(5)
    letter.click()
    expect(widget.locator(NOW)).to_have_text(Attention(text=text, letter=6).static_sentence())
    expect(widget.locator(".att-changed")).to_have_text("e45%k36%before: k 72%")
    expect(widget.locator(".att-guess-state")).to_have_text("k88%e8%before: 86%")
    expect(widget.locator(TOLD)).to_have_text(["\u2423"])  # what the networks read there
    expect(widget.locator(".att-such")).to_have_count(0)
    expect(widget.locator(".att-line.att-told")).to_have_count(1)
    expect(widget.locator(".att-key")).to_have_text(["Line: 3%, now <1%.", "Bar: guess moves 36%."])
    for row in BARS:
        pale = widget.locator(f"{row} .att-bar").evaluate_all(
            "(all) => all.flatMap((e, s) => getComputedStyle(e, '::after').opacity === '0.4' ? [s] : [])"
        )
        assert pale == [s for s in range(15) if s != 5], "the bar of what is erased stands out"
    gloss = widget.locator(".att-name-state > span")
    expect(gloss).to_have_text("Colour: how much the memory changes. A little can turn the guess.")
    expect(widget.locator(LEAD)).to_have_text("Both now read a space there.")
    outline = "(e) => getComputedStyle(e).outlineStyle"
    assert widget.locator(TOLD).evaluate(outline) == "dashed", "a hand has seen what it moved"
    widget.page.keyboard.press("ArrowRight")
    expect(letters(widget).nth(6)).to_have_class(re.compile("att-told"))
    assert widget.locator(TOLD).evaluate(outline) == "solid"
    widget.page.keyboard.press("ArrowLeft")
    letter.click()
    expect(widget.locator(NOW)).to_have_text(Attention(text=text).static_sentence())
    expect(letter).to_have_text("q")
    keys = widget.get_by_role("slider", name="The letter that is erased")
    expect(keys).to_have_attribute("aria-valuetext", "no letter")
    keys.fill("6")
    said = "q, letter 6 of 15. Attention\u2019s weight on it: 3%. Without it, 36% of attention\u2019s guess moves, "
    expect(keys).to_have_attribute("aria-valuetext", f"{said}3% of the RNN\u2019s")
    show(widget, letter=3)
    expect(widget.locator(TOLD)).to_have_text(["e"])  # in place of a space
    expect(widget.locator(LEAD)).to_have_text("Both now read an e there.")


def test_a_bar_is_as_high_as_a_guess_moves_and_a_circle_as_deep_as_the_memory_differs(widget: Locator) -> None:
    high = "(all) => all.map((e) => parseFloat(getComputedStyle(e, '::after').height) / e.clientHeight)"
    for state in ({}, {"text": "went quite slac", "letter": 6}):
        shown = show(widget, **state) if state else Attention()
        for row, effects, reach in zip(BARS, shown.effects.tolist(), shown.reaches, strict=True):
            bars = widget.locator(f"{row} .att-bar")
            assert bars.evaluate_all(high) == pytest.approx(effects, abs=0.01)
            strong = bars.evaluate_all("(all) => all.map((e) => e.classList.contains('att-strong'))")
            assert len(strong) - strong.index(True) == reach, "the farthest of at least 10%"
            shadows = bars.evaluate_all("(all) => all.map((e) => getComputedStyle(e).boxShadow)")
            assert set(shadows) == {"none"}, "no frames"
        beads = widget.locator(".att-bead")
        deep = beads.evaluate_all("(all) => all.map((e) => Number(e.style.getPropertyValue('--att-differs')))")
        assert deep == pytest.approx([min(1, value) for value in shown.differs.tolist()], abs=0.001)
        colours = beads.evaluate_all("(all) => all.map((e) => getComputedStyle(e).backgroundColor)")
        assert len(set(colours[:5])) == 1 and (colours[5] != colours[0]) == (shown.letter == 6)


def test_a_line_is_as_thick_as_attention_looks_there(widget: Locator) -> None:
    thick = "(all) => all.map((e) => parseFloat(getComputedStyle(e).strokeWidth))"
    lines = widget.locator(".att-line")
    for width, whole in ((720, 20), (390, 16)):
        widget.page.set_viewport_size({"width": width, "height": 900})
        for state in ({"letter": 15}, {"text": "head upon her k"}, {"text": "head upon her k", "letter": 4}):
            shown = show(widget, **state)
            looks = shown._looks(shown._replaced(shown._ids())[None])[0]  # at what it now reads
            wanted = [1 + whole * weight for weight in looks.tolist()]
            assert lines.evaluate_all(thick) == pytest.approx(wanted, abs=0.02), (width, state)
            if state == {"text": "head upon her k"}:
                assert wanted[3] > 2 > max(wanted[:3] + wanted[4:10]), "of the letters far back only the d"
                deep = lines.evaluate_all("(all) => all.map((e) => Number(getComputedStyle(e).opacity))")
                wished = [1 if s == 3 else min(1, 0.3 + 8 * w) for s, w in enumerate(looks.tolist())]
                assert deep == pytest.approx(wished, abs=0.01), "a line fades with its weight"
        show(widget, view="mean")
        found = lines.evaluate_all(thick)
        assert found[-1] == pytest.approx(1 + 0.3641 * whole, abs=0.02) and max(found[:10]) < 1.1


def test_lines_and_memory_lead_to_the_boxes(widget: Locator) -> None:
    at = """(all) => all.map((e) => {
      const { x, y } = e.getPointAtLength(%s).matrixTransform(e.getScreenCTM());
      return [x, y]; })"""
    starts, ends = at % "0", at % "e.getTotalLength()"
    stems = "(all) => all.map((e) => parseFloat(getComputedStyle(e, '::before').height))"
    for width in (720, 390):
        widget.page.set_viewport_size({"width": width, "height": 900})
        box = widget.locator(".att-guess-attention").bounding_box()
        found = widget.locator(".att-line").evaluate_all(ends)
        assert len(found) == 15
        for x, y in found:
            assert y == pytest.approx(box["y"] + box["height"], abs=0.5), width
            assert box["x"] < x < box["x"] + box["width"], width
        letter = letters(widget).last.bounding_box()
        [[x, y]] = widget.locator(".att-line").last.evaluate_all(starts)
        assert x == pytest.approx(letter["x"] + letter["width"] / 2, abs=0.5), width
        assert y < widget.locator(".att-bars-attention").bounding_box()["y"] - 3, "apart from the highest bar"
        [stem] = letters(widget).last.evaluate_all(stems)
        assert stem == pytest.approx(letter["y"] - y, abs=0.5), f"{width}: a stem leads to it"
        memory = widget.locator(".att-memory").bounding_box()
        box = widget.locator(".att-guess-state").bounding_box()
        assert memory["y"] + memory["height"] == pytest.approx(box["y"], abs=0.5), width


KEYS = {
    "text": ["Line: it looks there.", "Bar: it needs the letter.", "Bar: it needs the letter.", "Circles: its memory."],
    "mean": ["Line: it looks there.", "Bar: guess changes.", "Bar: guess changes.", "Circles: its memory."],
    "order": [],
}


def test_a_key_beside_both_names_tells_what_is_drawn(widget: Locator) -> None:
    """Each behind a sign of the shape and colour of what it means, and inside the room left of the guesses."""
    sign = "(all) => all.map((e) => getComputedStyle(e, '::before').%s)"
    free = """(e) => [...e.querySelectorAll(".att-name")].every((name) => {
      const [box, guess] = [name, name.nextElementSibling].map((each) => each.getBoundingClientRect());
      return [...name.querySelectorAll(".att-key")].every((key) => {
        const { right, bottom } = key.getBoundingClientRect();
        return right <= guess.left && bottom <= box.bottom + 0.5 && key.scrollWidth <= key.clientWidth;
      }); })"""
    for width in (1280, 720, 390, 360, 320):
        widget.page.set_viewport_size({"width": width, "height": 900})
        for view, said in KEYS.items():
            show(widget, view=view)
            expect(widget.locator(".att-key")).to_have_text(said)
            assert widget.evaluate(free), (width, view)
        for letter in (6, 15):
            show(widget, text="went quite slac", letter=letter)
            assert widget.evaluate(free), (width, letter)
    show(widget, view="text")
    keys = widget.locator(".att-key")
    strong = "(e) => getComputedStyle(e, '::after').backgroundColor"
    bead = widget.locator(".att-bead").last.evaluate("(e) => getComputedStyle(e).borderTopColor")
    line, *bars, _ = keys.evaluate_all(sign % "backgroundColor")
    assert line == widget.locator(".att-line").last.evaluate("(e) => getComputedStyle(e).stroke")
    assert bars == [widget.locator(f"{row} .att-bar").last.evaluate(strong) for row in BARS]
    assert keys.last.evaluate("(e) => getComputedStyle(e, '::before').borderTopColor") == bead
    wide, high = (
        [float(size.removesuffix("px")) for size in keys.evaluate_all(sign % side)] for side in ("width", "height")
    )
    assert wide[0] >= 3 * high[0] and all(high[k] > wide[k] for k in (1, 2)) and high[3] == wide[3]


def test_a_finger_finds_each_letter_of_a_phone(widget: Locator) -> None:
    widget.page.set_viewport_size({"width": 390, "height": 844})
    left = "(all) => all.map((e) => e.getBoundingClientRect().left)"
    places = letters(widget).evaluate_all(left)
    assert min(b - a for a, b in itertools.pairwise(places)) >= 24


def test_a_bar_under_each_guess_is_as_long_as_it_is_likely(widget: Locator) -> None:
    """Of the room beside the number, which it never reaches: on a phone too it is long enough to compare."""
    rows = """(all) => all.map((e) => {
      const [bar, number] = ["i", "span"].map((part) => e.querySelector(part).getBoundingClientRect());
      const range = document.createRange();
      range.selectNodeContents(e.querySelector("span"));
      return [bar.width / (number.left - bar.left), bar.width, range.getBoundingClientRect().left - number.left]; })"""
    for width in (1280, 390, 320):
        widget.page.set_viewport_size({"width": width, "height": 900})
        found = widget.locator(".att-guess-row").evaluate_all(rows)
        likely = Attention().probs.topk(2).values.flatten().tolist()
        assert [share for share, *_ in found] == pytest.approx(likely, abs=0.01), width
        assert min(free for *_, free in found) >= 2, (width, "a full bar ends before the number")
    widget.page.set_viewport_size({"width": 390, "height": 900})
    assert widget.locator(".att-guess-letter").evaluate_all(rows)[0][1] >= 45


def test_keys_lead_from_no_letter_to_one_and_back(widget: Locator) -> None:
    keys = widget.get_by_role("slider", name="The letter that is erased")
    keys.focus()
    place = "(all) => all.findIndex((e) => e.matches('.att-told')) + 1"
    for key, letter in (
        ("ArrowLeft", 15), ("ArrowLeft", 14), ("Escape", 0), ("Home", 1), ("End", 15), ("Home", 1), ("Escape", 0),
        ("ArrowRight", 1), ("ArrowLeft", 0), ("Escape", 0),
    ):  # fmt: skip
        widget.page.keyboard.press(key)
        expect(keys).to_have_value(str(letter))
        assert letters(widget).evaluate_all(place) == letter, key
    expect(widget.locator(NOW)).to_have_text(Attention().static_sentence())


def test_a_drag_replaces_one_letter_after_another(widget: Locator) -> None:
    mouse, letter = widget.page.mouse, letters(widget)
    box = letter.nth(13).bounding_box()
    mouse.move(box["x"] + 5, box["y"] + box["height"] / 2)
    mouse.down()
    expect(letter.nth(13)).to_have_class(re.compile("att-told"))
    mouse.move(letter.nth(4).bounding_box()["x"] + 5, box["y"] + 5, steps=4)
    mouse.up()
    expect(letter.nth(4)).to_have_class(re.compile("att-told"))
    expect(widget.locator(TOLD)).to_have_count(1)


def test_whatever_is_erased_the_guesses_keep_their_place_and_nothing_below_moves(widget: Locator) -> None:
    texts = ("in the middle o", "head upon her k", "and the sea www ", "the fathom", "x")
    for width in (1280, 760, 720, 390, 360, 320):
        widget.page.set_viewport_size({"width": width, "height": 900})
        at_rest = None
        for text in texts:
            found, is_longest_held = widget.evaluate(EACH_ERASED, [text, "before: m >99%"])
            for told, one in enumerate(found):
                where = (width, text, told)
                at_rest = at_rest or one["below"]
                assert one["told"] == told, where
                assert one["free"], where
                assert one["hold"], where
                assert one["below"] == at_rest, where
                assert one["lines"] == 1, where
                assert one["names"] == found[0]["names"], where
                assert one["overflow"] <= 0, where
            assert is_longest_held, (width, text)
        for view in ("mean", "order"):
            show(widget, view=view)
            below = "(e) => [e.offsetHeight, e.querySelector('.att-tools').offsetTop]"
            assert widget.evaluate(below) == at_rest, (width, view)


def test_a_phone_has_two_lines_above_the_figure_and_one_of_steps(widget: Locator) -> None:
    widget.page.set_viewport_size({"width": 390, "height": 844})
    lines = "(e) => Math.round(e.getBoundingClientRect().height / parseFloat(getComputedStyle(e).lineHeight))"
    for state in ({}, {"letter": 8}, {"view": "mean"}, {"view": "order"}):
        if state:
            show(widget, **state)
        for part in (".d2lrnn-lead", NOW):
            assert widget.locator(part).evaluate(lines) == 2, (state, part)
    tops = "(all) => new Set(all.map((e) => e.getBoundingClientRect().top)).size"
    for width in (390, 360, 320):
        widget.page.set_viewport_size({"width": width, "height": 844})
        assert widget.locator(".d2lrnn-step-title").evaluate_all(tops) == 1, width


def test_the_averages_stand_in_place_of_the_text_and_lead_back_to_it(widget: Locator) -> None:
    show(widget, view="mean")
    expect(widget.locator(".d2lrnn-lead")).to_have_text(re.compile("^In 2.223 new passages we erase a letter\\."))
    boxes = widget.locator(".att-guess")
    expect(boxes).to_have_text([f"{each} of 2\u202f223guess changes" for each in (10, 232)])
    expect(widget.locator(".att-name-state")).to_have_text("RNN Bar: guess changes.Circles: its memory.")
    ends = "(e) => [e.getBoundingClientRect().bottom, e.lastChild.getBoundingClientRect().bottom]"
    for width in (390, 320):
        widget.page.set_viewport_size({"width": width, "height": 900})
        for state in ({"letter": 8}, {"view": "mean"}):
            show(widget, **state)
            [room, end] = widget.locator(".att-name-state").evaluate(ends)
            assert end <= room + 0.5, (width, state)
        expect(widget.locator(LEAD).get_by_role("button", name="Back to the text")).to_be_visible()
    widget.page.set_viewport_size(WIDE)
    expect(widget.locator(TOLD)).to_have_text(["9"])
    expect(widget.locator(".att-line").nth(7)).to_have_class("att-line att-told")
    expect(widget.locator(".att-bar:not(.att-strong)")).to_have_count(0)  # no tenth is told of
    bar = widget.locator(".att-bars-state .att-bar").nth(7)
    high = bar.evaluate("(e) => parseFloat(getComputedStyle(e, '::after').height) / e.clientHeight")
    assert high == pytest.approx(232 / 2223, abs=0.01)
    letters(widget).last.click()
    expect(boxes).to_have_text([re.compile("^2\u202f104 of"), re.compile("^1\u202f974 of")])
    expect(widget.locator(NOW)).to_have_text(Attention(view="mean", letter=16).static_sentence())
    widget.page.keyboard.press("ArrowLeft")  # the keys go on from there
    expect(widget.locator(NOW)).to_contain_text("Letter 2:")
    keys = widget.get_by_role("slider", name="The letter that is erased")
    expect(keys).to_have_attribute("aria-valuetext", "letter 2 from the end")
    widget.page.keyboard.press("Home")
    expect(boxes.last).to_contain_text("40 of")
    expect(keys).to_have_attribute("aria-valuetext", "letter 16 from the end")
    letters(widget).first.click()  # one of them is always told
    expect(widget.locator(TOLD)).to_have_text(["16"])
    widget.get_by_role("button", name="Back to the text").click()
    expect(widget.locator(NOW)).to_have_text(Attention().static_sentence())
    expect(letters(widget).first).to_have_text("i")
    show(widget, view="mean")
    widget.get_by_label("Your text", exact=True).fill("low tide")
    expect(widget.locator(NOW)).to_have_text(Attention(text="low tide").static_sentence())


def test_the_order_of_computing_is_drawn_and_a_letter_leads_back_to_the_text(widget: Locator) -> None:
    """Without bars: each line and each circle with its round; lines keep what they weigh."""
    tall = "(all) => Math.max(...all.map((e) => parseFloat(getComputedStyle(e, '::after').height)))"
    thick = "(all) => all.map((e) => getComputedStyle(e).strokeWidth)"
    turns, beads = widget.locator(".att-bars-attention .att-bar"), widget.locator(".att-bead")
    for width in (720, 390, 320):
        widget.page.set_viewport_size({"width": width, "height": 900})
        show(widget, view="text")
        before = widget.locator(".att-line").evaluate_all(thick)
        show(widget, view="order")
        assert widget.locator(".att-bar").evaluate_all(tall) == 0
        assert widget.locator(".att-line").evaluate_all(thick) == before, "a line stays as thick as its weight"
        expect(turns).to_have_text(["1"] * 15)
        [wide, high] = turns.first.evaluate("(e) => [e.offsetWidth, e.offsetHeight]")
        assert wide == high, "a circle"
        expect(beads).to_have_text([str(turn) for turn in range(1, 16)])
        boxes = [bead.bounding_box() for bead in (beads.nth(13), beads.nth(14))]
        assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"] - 3, "circles stand apart"
        tip = "(e) => parseFloat(getComputedStyle(e).getPropertyValue('--att-tip')) * 16"
        memory = widget.locator(".att-memory")
        arrow = memory.bounding_box()["y"] + memory.bounding_box()["height"] - memory.evaluate(tip)
        assert boxes[1]["y"] + boxes[1]["height"] <= arrow, "the arrow's head is below the last"
        spare = "(all) => Math.min(...all.map((e) => e.offsetWidth - e.scrollWidth))"
        assert beads.evaluate_all(spare) >= 2, "the numbers stand in them"
    expect(widget.locator(".att-guess")).to_have_text(["f57%n26%1 + 4 rounds", "f67%n22%15 rounds"])
    letters(widget).nth(7).click()
    expect(widget.locator(NOW)).to_have_text(Attention(letter=8).static_sentence())
    for cells in (turns, beads):
        expect(cells).to_have_text([""] * 15)
    assert widget.locator(".att-bar").evaluate_all(tall) > 0


def test_circles_fill_one_after_another_and_lines_at_once(widget: Locator) -> None:
    widget.page.emulate_media(reduced_motion="no-preference")
    show(widget, view="order")
    starts = """(all) => all.map((e) => e.getAnimations().filter((a) => a.animationName?.startsWith("att-"))
      .map((a) => a.effect.getTiming().delay))"""
    expect(widget.locator(".att-guess-state .att-guess-note")).to_have_text("0 rounds")
    hidden = "(e) => getComputedStyle(e).opacity === '0'"
    assert widget.locator(NOW).evaluate(hidden), "the sentence waits until the rounds are counted"
    delays = widget.locator(".att-bead").evaluate_all(starts)
    bars = "(all) => Math.max(...all.map((e) => parseFloat(getComputedStyle(e, '::after').transitionDuration)))"
    cleared = 1000 * widget.locator(".att-bar").evaluate_all(bars)
    at_once = widget.locator(".att-line, .att-bars-attention .att-bar").evaluate_all(starts)
    counted = """(e) => new Promise((done) => {
      const found = [];
      new MutationObserver(() => {
        found.push(e.textContent);
        if (e.textContent === "15 rounds") done(found);
      }).observe(e, { childList: true }); })"""
    found = widget.locator(".att-guess-state .att-guess-note").evaluate(counted)
    assert found == ["1 round", *(f"{count} rounds" for count in range(2, 16))][-len(found) :]
    widget.page.wait_for_function(
        "(e) => getComputedStyle(e).opacity === '1'", arg=widget.locator(NOW).element_handle()
    )
    widget.page.emulate_media(reduced_motion="reduce")
    show(widget, view="text")
    show(widget, view="order")
    expect(widget.locator(".att-guess-state .att-guess-note")).to_have_text("15 rounds")
    assert [len(each) for each in delays] == [1] * 15
    flat = [delay for [delay] in delays]
    assert flat == sorted(set(flat)) and flat[0] >= cleared, "when the bars are gone"
    assert at_once == [[flat[0]]] * 30, "all lines and their rounds light up with the first circle"
    moving = "(all) => all.some((e) => e.getAnimations().length > 0)"
    assert not widget.locator(".att-bead, .att-line").evaluate_all(moving)


@pytest.mark.parametrize(("width", "height"), [(390, 664), (320, 700)])
def test_a_low_phone_shows_the_sentence_the_figure_and_the_outcome(widget: Locator, width: int, height: int) -> None:
    widget.page.set_viewport_size({"width": width, "height": height})
    widget.page.evaluate("scrollTo(0, 120)")  # as a hand leaves it that has looked for the steps
    widget.get_by_role("button", name="r or d?").click()
    fits = """(e) => {
      const [now, figure, sheet] = [".d2lrnn-now", ".att-figure", ".d2lrnn-steps"]
        .map((part) => e.querySelector(part).getBoundingClientRect());
      return now.top >= 0 && figure.bottom <= sheet.top + 0.5 && sheet.bottom <= innerHeight + 0.5; }"""
    widget.page.wait_for_function(fits, arg=widget.element_handle())
    widget.get_by_role("button", name="the d", exact=True).click()
    widget.page.wait_for_function(fits, arg=widget.element_handle())


STEPS = [
    ("r or d?", "the d", "n 55% \u2192 e 63%", ["e63%n34%before: n 55%", "e54%n33%before: 50%"], [(3, "d"), (12, "r")]),
    (
        "How far?",
        "the RNN\u2019s",
        "232 times against 10",
        [re.compile("^10 of"), re.compile("^232 of")],
        [(7, "9")],
    ),
    ("At once", "all lines", "15 rounds", ["f57%n26%1 + 4 rounds", "f67%n22%15 rounds"], []),
]


@pytest.mark.parametrize(("title", "guess", "told", "boxes", "asked"), STEPS)
def test_a_step_asks_first_and_shows_then(
    widget: Locator,
    title: str,
    guess: str,
    told: str,
    boxes: list[str | re.Pattern[str]],
    asked: list[tuple[int, str]],
) -> None:
    high = "(all) => all.filter((e) => parseFloat(getComputedStyle(e, '::after').height) > 0).length"
    before = Attention().static_sentence()
    widget.get_by_role("button", name=title).click()
    expect(widget.locator(".d2lrnn-outcome")).to_be_hidden()
    expect(widget.locator(".att-changed")).to_have_count(0)
    framed = widget.locator(".att-letter").evaluate_all(
        "(all) => all.flatMap((e, s) => e.matches('.att-such, .att-told') ? [[s, e.textContent]] : [])"
    )
    assert framed == [list(one) for one in asked], "the letters of the question"
    is_thick = title == "r or d?"
    asking = {"How far?": "A passage: 16 letters, counted from its end.", "At once": "Both guess f next."}
    expect(widget.locator(NOW)).to_have_text(asking.get(title, "Attention guesses n next, the RNN e."))
    if title == "How far?":
        expect(widget.locator(".att-guess")).to_have_text(["? of 2\u202f223guess changes"] * 2)
        expect(widget.get_by_role("button", name="Back to the text")).to_be_hidden()
    assert widget.locator(".att-bar").evaluate_all(high) == 0, "no bar tells the answer"
    expect(widget.locator(LEAD)).to_have_text("Two networks guess the next letter.")
    gloss = "Line: it looks there." if is_thick else "Sees all letters at once."  # no key of what is not drawn
    expect(widget.locator(".att-name-attention > span")).to_have_text(gloss)
    alike = "(all) => new Set(all.map((e) => getComputedStyle(e).strokeWidth)).size === 1"
    assert widget.locator(".att-line").evaluate_all(alike) != is_thick, "nor a line"
    widget.get_by_role("button", name=guess, exact=True).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Right.")
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text(told)
    expect(widget.locator(".att-guess")).to_have_text(boxes)
    assert (widget.locator(".att-bar").evaluate_all(high) == 0) == (title == "At once"), "no bars in the order"
    if title == "How far?":
        letters(widget).first.click()
        expect(widget.locator(".att-guess-state")).to_contain_text("40 of")
        expect(widget.locator(".d2lrnn-outcome")).not_to_contain_text("Your earlier guess")
        widget.get_by_role("button", name="Back to the text").click()
        expect(widget.locator(".d2lrnn-step")).to_be_hidden()  # there are no averages any more
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(NOW)).to_have_text(before)
    expect(widget.locator(TOLD)).to_have_count(0)
    expect(widget.locator(".att-letter.att-such")).to_have_text("m")
    if is_thick:
        widget.get_by_role("button", name=title).click()
        widget.get_by_role("button", name=title).click()  # closed again, the line on top asks
        expect(widget.locator(NOW)).to_contain_text("Erase the\u00a0d: press or drag.")


def test_the_picture_waits_for_the_guess_and_the_answers_ask_for_it(widget: Locator) -> None:
    now, said = widget.locator(NOW), widget.get_by_role("status")
    answers = widget.locator(".d2lrnn-answers")
    widget.page.evaluate(COUNT_URGES)
    for i, title in enumerate(("How far?", "At once", "r or d?"), 1):
        answers.evaluate("(e) => e.getAnimations().forEach((asking) => asking.finish())")
        widget.get_by_role("button", name=title).click()
        question = widget.locator(".d2lrnn-question").inner_text()
        keys = widget.get_by_role("slider", name="The letter that is erased")
        before = [now.inner_text(), keys.input_value(), widget.locator(".att-figure").inner_text()]
        letters(widget).nth(4).click()
        assert widget.page.evaluate("urges") == i
        widget.page.keyboard.press("ArrowRight")
        expect(said).to_contain_text("Guess first: the picture waits.")
        expect(widget.locator(".d2lrnn-question")).to_have_text(question)
        expect(widget.locator(".d2lrnn-outcome")).to_be_hidden()
        assert [now.inner_text(), keys.input_value(), widget.locator(".att-figure").inner_text()] == before
        widget.locator(".d2lrnn-answers button").last.click()
        expect(widget.locator(".d2lrnn-outcome")).to_be_visible()
    widget.get_by_role("button", name="r or d?").click()
    widget.get_by_role("button", name="r or d?").click()
    widget.get_by_role("button", name="the r", exact=True).click()
    expect(widget.locator(".d2lrnn-outcome")).to_have_text(re.compile("^Not so\\. The d: n 55%"))
    widget.get_by_role("button", name="r or d?").click()
    widget.get_by_role("button", name="r or d?").click()
    widget.locator(".d2lrnn-answers").get_by_text("the d", exact=True).click()
    expect(widget.locator(NOW)).to_have_text("Without the\u00a0d, attention\u2019s guess changes: both guess e.")
    letters(widget).nth(12).click()  # as the outcome tells: the r
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Your earlier guess:")
    expect(widget.locator(NOW)).to_have_text("Without the\u00a0r, the RNN guesses i, attention still n.")


def test_a_reset_closes_a_question_where_nothing_else_changes(widget: Locator) -> None:
    before = widget.locator(NOW).inner_text()
    widget.get_by_role("button", name="How far?").click()
    expect(widget.locator(NOW)).not_to_have_text(before)
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(NOW)).to_have_text(before)


def test_own_text_closes_a_step_about_another(widget: Locator) -> None:
    widget.get_by_role("button", name="r or d?").click()
    expect(widget.locator(".d2lrnn-question")).to_be_visible()
    widget.get_by_label("Your text", exact=True).fill("low tide")
    expect(widget.locator(".d2lrnn-question")).to_be_hidden()
    expect(letters(widget)).to_have_count(8)


def test_own_text_and_none(widget: Locator) -> None:
    box = widget.get_by_label("Your text", exact=True)
    box.fill("Low, tide!")
    expect(letters(widget)).to_have_count(9)
    expect(widget.locator(NOW)).to_contain_text("Erase the")
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


def test_a_note_on_what_was_typed_goes_with_it(widget: Locator) -> None:
    box, hint = widget.get_by_label("Your text", exact=True), widget.locator(".att-hint")
    for typed, title, text in (
        ("The Time Traveller", "r or d?", "head upon her k"),
        ("The Year 1895!", "At once", "in the middle o"),
        ("low tide!", "How far?", "in the middle o"),
    ):
        box.fill(typed)
        expect(hint).to_be_visible()
        widget.get_by_role("button", name=title).click()
        expect(box).to_have_value(text)
        expect(hint).to_be_hidden()
    box.fill("In the middle \u00f3")  # read as the text that is shown at first
    expect(hint).to_be_visible()
    widget.get_by_role("button", name="Reset").click()
    expect(box).to_have_value("in the middle o")
    expect(hint).to_be_hidden()


def test_one_letter_leaves_the_figure_as_high(widget: Locator) -> None:
    height = widget.bounding_box()["height"]
    box = widget.get_by_label("Your text", exact=True)
    for text in ("x", "tide"):
        box.fill(text)
        expect(letters(widget)).to_have_count(len(text))
        assert widget.bounding_box()["height"] == pytest.approx(height, abs=2)
