"""The surprise map in a page: the page pales, letters are pointed at, tapped and walked, steps ask before they show."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Literal

import pytest
import torch
from playwright.sync_api import Browser, Locator, Page, expect

import d2lrnn as d
from d2lrnn.widgets import SurpriseMap
from d2lrnn.widgets.page import page_of as whole_page_of
from pages import page_of
from watching import Record, watched_page

pytestmark = pytest.mark.browser

NOW, DETAIL, AVERAGE, BOX = ".d2lrnn-now", ".map-detail", ".map-average", "Type your name, or your own text"


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=720, height=1000) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        yield page, record
        assert record.errors == [] and record.outside == []


def show(page: Page, folder: Path, widget: SurpriseMap | None = None) -> Locator:
    (folder / "page.html").write_text(page_of(widget or SurpriseMap()), encoding="utf-8")
    page.goto(f"{folder.as_uri()}/page.html")
    found = page.locator('.d2lrnn-widget[data-ready="1"]')
    expect(found).to_have_count(1)
    return found


def darkness(widget: Locator) -> float:
    """Mean height of all bars, in bits."""
    return widget.evaluate(
        "(e) => { const l = [...e.querySelectorAll('.map-letter')].map("
        "(x) => +x.style.getPropertyValue('--map-bits'));"
        " return l.reduce((a, b) => a + b) / l.length; }"
    )


def room(widget: Locator) -> float:
    """How high the highest column may be, in pixels: the room over a letter."""
    return widget.locator(".map-letter").nth(1).evaluate("(e) => parseFloat(getComputedStyle(e).paddingTop)")


def column(widget: Locator, place: int) -> float:
    """How high the column over a letter stands, in pixels."""
    bar = widget.locator(".map-letter").nth(place)
    paints = "(e) => getComputedStyle(e).backgroundImage.split('linear-gradient').at(-2)"
    return room(widget) - float(re.findall(r"([\d.]+)px", bar.evaluate(paints))[0])


def bit(widget: Locator) -> float:
    """How high one bit is, in pixels."""
    return widget.locator(".map-letters").evaluate(
        "(e) => parseFloat(getComputedStyle(e).getPropertyValue('--map-bit'))"
    )


def test_it_opens_trained_and_says_where_the_surprises_are(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    expect(widget.locator(NOW)).to_have_text("After training on one story, first letters surprise most on average.")
    expect(widget.locator(AVERAGE)).to_have_text("on average, like choosing among 4 letters (blind:\u00a027)")
    expect(widget.locator(DETAIL)).to_have_text(
        "After “…with␣”, “b” comes. It guessed:a  36%t  27%h  6.0%b  1 in 130: worse than a blind guess"
    )
    expect(widget.locator(".map-here")).to_have_count(1)
    widget.get_by_role("slider", name="Training").press("Home")
    expect(widget.locator(NOW)).to_have_text("Before training, every letter is close to a blind guess.")
    expect(widget.locator(AVERAGE)).to_have_text("on average, like choosing among 28 letters (blind:\u00a027)")
    expect(widget.locator(DETAIL)).to_contain_text("b  3.2%: near a blind guess (3.7%)")  # as the headline says


def test_a_letter_that_it_knows_and_a_space_are_told(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, SurpriseMap(place=14))
    expect(widget.locator(DETAIL)).to_have_text(
        re.compile("^After “…red lanter”, “n” comes. It guessed:n  [^:]+%: its first guess[^:]+$")
    )
    widget.locator(".map-letter").nth(7).click()
    expect(widget.locator(DETAIL)).to_have_text(re.compile("^After “the red”, “␣” comes. It guessed:␣  [^a-z]+: "))
    sign, row = (widget.locator(f".map-comes {part}").bounding_box() for part in (".map-raised", "b"))
    assert sign and row and sign["y"] <= row["y"] - 3, "a space stands higher in its box than a letter"


def test_the_guesses_are_bars_as_long_as_their_chances_and_the_letter_that_comes_is_marked(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    text, network = SurpriseMap().text, d.load_pretrained()
    widget = show(page, tmp_path)
    rows = widget.locator(".map-guess")
    for place in (1, 4, 5, 8, 22):
        widget.get_by_role("slider", name="Letter").fill(str(place), force=True)
        with torch.no_grad():
            probs = network.model(torch.tensor(network.vocab.encode(text))[None, :place])[0][0, -1].softmax(-1)
        order = probs.argsort(descending=True).tolist()
        comes = network.vocab.encode(text)[place]
        told = order[:4] if order.index(comes) < 4 else [*order[:3], comes]
        signs = [network.vocab.decode([sign]).replace(" ", "␣") for sign in told]
        assert rows.locator("b").all_inner_texts() == signs, place
        widths = rows.locator(".map-chance").evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().width)")
        full = 13 * 16
        assert widths == pytest.approx([max(1, full * float(probs[sign])) for sign in told], abs=0.3), place
        framed = "(all) => all.map((e) => getComputedStyle(e).outlineStyle !== 'none')"
        assert rows.locator("b").evaluate_all(framed) == [sign == comes for sign in told], place
        p = float(probs[comes])
        times = 1 / 27 / p
        grade = ": far worse than a" if times >= 10 else ": worse than a" if times > 1.6 else ": near a"
        blind = " (3.7%)" if grade == ": near a" else ""
        note = f"{grade} blind guess{blind}" if times > 1 / 1.6 else ": its first guess" if order[0] == comes else ""
        chance = f"{100 * p:#.2g}".rstrip(".") + "%" if p >= 0.01 else f"1 in {1 / p:.2g}".replace("1.3e+02", "130")
        expect(widget.locator(".map-comes")).to_have_text(re.compile(f" {re.escape(chance + note)}$"))


def test_letters_are_pointed_at_tapped_and_walked(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, SurpriseMap(text="the tide clock"))
    before = widget.locator(DETAIL).text_content()
    letter = widget.locator(".map-letter")
    letter.nth(1).hover()
    expect(widget.locator(DETAIL)).to_have_text(re.compile(r"^After “t”, “h” comes. It guessed:.*h [^a-z]+"))
    page.mouse.move(1, 1)
    expect(widget.locator(DETAIL)).to_have_text(before)
    letter.nth(4).click()
    page.mouse.move(1, 1)
    expect(widget.locator(DETAIL)).to_have_text(re.compile(r"^After “the␣”, “t” comes. It guessed:.*t [^a-z]+"))
    keys = widget.get_by_role("slider", name="Letter")
    keys.focus()
    page.keyboard.press("ArrowRight")
    expect(widget.locator(DETAIL)).to_have_text(re.compile(r"^After “the t”, “i” comes. It guessed:.*i [^a-z]+"))
    expect(keys).to_have_attribute("aria-valuetext", re.compile(r"^i, [\d.]+%(: its first guess)?$"))
    assert letter.nth(5).evaluate("(e) => getComputedStyle(e, '::after').outlineWidth") == "3px", "the focus is seen"
    letter.nth(0).click()  # it is given, not guessed
    expect(widget.locator(DETAIL)).to_have_text("The first letter, “t”, is given: no network has to guess it.")
    page.mouse.move(1, 1)
    expect(widget.locator(DETAIL)).to_have_text(re.compile(r"^After “the t”, “i” comes. It guessed:.*i [^a-z]+"))
    letter.nth(8).click()
    page.keyboard.press("ArrowLeft")  # the keys go on from the letter that was clicked
    expect(widget.locator(DETAIL)).to_have_text(re.compile(r"^After “the tid”, “e” comes. It guessed:.*e [^a-z]+"))


def test_the_page_pales_along_the_training(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    training = widget.get_by_role("slider", name="Training on a story")
    training.focus()
    page.keyboard.press("Home")
    levels, told = [darkness(widget)], [widget.locator(NOW).inner_text()]
    framed = "(e) => [...e.querySelectorAll('.map-letter')].findIndex((x) => x.classList.contains('map-here'))"
    at = widget.evaluate(framed)
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        levels.append(darkness(widget))
        told.append(widget.locator(NOW).inner_text())
        assert widget.evaluate(framed) == at, "one letter stays framed"
    assert levels == sorted(levels, reverse=True) and levels[0] > 2 * levels[-1]
    assert told == [
        "Before training, every letter is close to a blind guess.",
        "After some training, spaces surprise least on average.",
        "After more training, first letters surprise most on average.",
        "After training on one story, first letters surprise most on average.",
    ]
    expect(training).to_have_attribute("aria-valuetext", "1\u202f840 corrections")


def test_it_plays_the_training_and_a_hand_stops_it(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.clock.install()
    widget = show(page, tmp_path)
    play = widget.get_by_role("button", name="Watch it learn")
    play.click()  # from the end it begins again, at once
    expect(widget.locator(NOW)).to_contain_text("Before training")
    for when in ("After some training", "After more training"):
        page.clock.run_for(1600)
        expect(widget.locator(NOW)).to_contain_text(when)
    widget.get_by_role("button", name="Pause").click()
    page.clock.run_for(2500)
    expect(widget.locator(NOW)).to_contain_text("After more training")
    play.click()  # it goes on
    expect(widget.locator(AVERAGE)).to_contain_text("among 28\u00a0→\u00a04 letters")
    expect(widget.get_by_role("button", name="Pause")).to_have_count(0)  # at the end nothing is to pause
    play.click()
    expect(widget.locator(AVERAGE)).to_contain_text("among 28 letters")
    widget.get_by_label(BOX).fill("quixotl")
    expect(widget.locator(NOW)).to_have_text("After training on one story, letters surprise more on average.")
    page.clock.run_for(2500)
    expect(widget.locator(AVERAGE)).to_have_text("like choosing among 29 → 86 letters (worse than blind: 27)")


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_bars_and_knob_glide_from_stage_to_stage_and_the_numbers_are_pale_until_they_are_there(
    opened: tuple[Page, Record], tmp_path: Path, motion: Literal["no-preference", "reduce"]
) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion=motion)
    widget = show(page, tmp_path)
    page.wait_for_timeout(800)  # what opens glides too
    widget.evaluate("""(e) => {
      const bar = e.querySelectorAll('.map-letter')[14], range = e.querySelector('.map-training input');
      const opacity = (name) => Number(getComputedStyle(e.querySelector(name)).opacity);
      globalThis.frames = [];
      const note = () => {
        frames.push([Number(getComputedStyle(bar).getPropertyValue('--map-bits')), Number(range.value),
          [...e.querySelectorAll('.map-mark')].findIndex((mark) => mark.matches('.map-chosen')),
          ...['.d2lrnn-now', '.map-detail', '.map-average'].map(opacity),
          Number(getComputedStyle(bar).getPropertyValue('--map-real') || 1)]);
        requestAnimationFrame(note);
      };
      note();
    }""")
    widget.get_by_role("button", name="Watch it learn").click()
    expect(widget.locator(NOW)).to_contain_text("Before training")
    expect(widget.locator(NOW)).to_have_css("opacity", "1")
    frames = page.evaluate("frames")
    low, high = (SurpriseMap(stage=stage).bits[13] for stage in ("trained", "untrained"))
    assert (frames[0][0], frames[-1][0]) == pytest.approx((low, high), abs=0.01)
    assert (frames[0][1], frames[-1][1]) == (3, 0)
    assert all(mark == math.floor(knob + 0.5) for _, knob, mark, *_ in frames), "the words follow the knob"
    on_the_way = [frame for frame in frames if low + 0.2 < frame[0] < high - 0.2 or 0.1 < frame[1] < 2.9]
    if motion == "reduce":
        assert on_the_way == []
        return
    assert len({frame[0] for frame in on_the_way}) > 4 and len({frame[1] for frame in on_the_way}) > 4
    levels = [frame[0] for frame in frames]
    assert levels == sorted(levels)
    assert {opacity for frame in on_the_way for opacity in frame[3:]} == {0.4}


def test_a_hand_that_takes_the_knob_on_its_way_sets_a_stage(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="no-preference")
    page.clock.install()
    widget = show(page, tmp_path)
    widget.get_by_role("button", name="Watch it learn").click()
    training = widget.get_by_role("slider", name="Training")
    for _ in range(20):  # on a busy machine it sets out later
        page.clock.run_for(100)
        if on_its_way := float(training.input_value()):
            break
    assert 0 < on_its_way < 3
    training.press("End")
    expect(widget.locator(NOW)).to_have_css("opacity", "1")
    expect(widget.locator(AVERAGE)).to_contain_text("among 28\u00a0→\u00a04 letters")
    expect(training).to_have_value("3")
    page.clock.run_for(2500)
    expect(training).to_have_value("3")


def test_a_finger_slides_over_the_letters(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=390, height=844) as (page, record):
        widget = show(page, tmp_path)
        box = widget.locator(".map-letter").nth(20).bounding_box()
        assert box
        at = {"clientX": box["x"] + 5, "clientY": box["y"] + 20, "pointerType": "touch", "bubbles": True}
        widget.locator(".map-letter").nth(30).dispatch_event("pointermove", at)
        assert widget.locator(".map-letter").nth(20).evaluate("(e) => e.classList.contains('map-here')")
        expect(widget.locator(DETAIL)).to_contain_text("After “…lantern with”, “␣” comes. It guessed:")
        assert record.errors == []


def test_a_short_text_is_written_large(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    letters, size = widget.locator(".map-letters"), "(e) => parseFloat(getComputedStyle(e).fontSize)"
    small = letters.evaluate(size)
    widget.get_by_label(BOX).fill("quixotl")
    assert letters.evaluate(size) > 1.5 * small
    page.mouse.move(1, 1)
    tall = [column(widget, i) for i in (3, 6)]
    assert tall[1] > 1.15 * tall[0], "12.16 bits stand higher than 10.22"
    assert tall[1] > 0.9 * room(widget), "the highest bar uses the room"
    for width, name in ((390, "quixotl"), (390, "li"), (720, "phoebe"), (720, "wei")):
        page.set_viewport_size({"width": width, "height": 844})
        widget.get_by_label(BOX).fill(name)
        first, last = (
            widget.locator(".map-letter").first.bounding_box(),
            widget.locator(".map-letter").last.bounding_box(),
        )
        assert first and last and last["x"] + last["width"] - first["x"] > 0.9 * (width - 30), (
            "and the letters the width"
        )


def test_on_a_wide_page_of_its_own_a_name_stands_in_one_row(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(whole_page_of(SurpriseMap()), encoding="utf-8")
    with watched_page(browser, width=1280, height=800) as (page, record):
        page.goto(f"{tmp_path.as_uri()}/page.html")
        widget = page.locator('.d2lrnn-widget[data-ready="1"]')
        widget.get_by_label(BOX).fill("fatima nguyen")
        letters = widget.locator(".map-letter")
        expect(letters).to_have_count(13)
        assert len(set(letters.evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().top)"))) == 1
        lead, view, steps = (widget.locator(f".d2lrnn-{part}").bounding_box() for part in ("lead", "view", "steps"))
        assert view["width"] == 52 * 16
        assert widget.locator(NOW).bounding_box()["y"] - lead["y"] - lead["height"] >= 11
        assert lead["x"] + steps["x"] + steps["width"] == pytest.approx(1280, abs=1)  # both together in the middle
        assert record.errors == []


STEPS = [
    (
        "No training",
        "rare letters",
        "Not so. Every bar ends near the dashed line, a blind guess. So training made most bars low.",
    ),
    (
        "Made-up word",
        "no, even more",
        "Right. After “quixot”, it was 64% sure of a space; the “l” got only 1 in 4\u202f600. To be sure and wrong is",
    ),
]


def test_a_step_asks_first_and_shows_then(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    before = widget.locator(NOW).inner_text()
    for title, guess, told in STEPS:
        widget.get_by_role("slider", name="Training").press("ArrowLeft")
        widget.get_by_role("button", name=title).click()
        asked = widget.locator(NOW).inner_text()
        expect(widget.locator(".d2lrnn-outcome")).to_be_hidden()
        widget.get_by_role("button", name=guess).click()
        expect(widget.locator(".d2lrnn-outcome")).to_contain_text(told)
        expect(widget.locator(NOW)).not_to_have_text(asked)
        assert "Before training" in {asked[:15], widget.locator(NOW).inner_text()[:15]}
        widget.get_by_role("button", name="Reset").click()
        expect(widget.locator(NOW)).to_have_text(before)


def test_what_is_not_read_is_counted_and_a_long_text_says_that_it_goes_on(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    scroll, box = widget.locator(".map-scroll"), widget.get_by_label(BOX)
    expect(scroll).to_be_hidden()
    box.fill("Über die Zeit: Привет")
    lost = "Only a to z and spaces are read: “é” as “e”, any other sign as a space or not at all."
    expect(widget.get_by_text(lost)).to_be_visible()
    box.fill("Zoë")
    expect(widget.get_by_text(lost)).to_be_visible()
    assert widget.locator(".map-letter").all_inner_texts() == ["z", "o", "e"]
    expect(widget.locator(".map-given")).to_have_text("z")
    box.fill("the tide clock " * 50)
    expect(widget.get_by_text("any other sign")).to_be_hidden()
    expect(scroll).to_be_visible()
    keys = widget.get_by_role("slider", name="Letter")
    keys.press("End")
    expect(scroll).to_be_hidden()
    expect(widget.locator(".map-here")).to_be_in_viewport()
    keys.press("Home")
    expect(scroll).to_be_visible()
    box.fill("q" * 12)
    widget.get_by_role("slider", name="Training").press("End")
    expect(widget.locator(DETAIL)).to_have_text(re.compile("q  1 in [^a-z]+: far worse than a blind guess"))
    widget.get_by_role("button", name="Reset").click()
    expect(widget.get_by_text("any other sign")).to_be_hidden()


def test_the_third_step_takes_the_readers_own_name(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    widget.get_by_role("button", name="Your name").click()
    box, told = widget.get_by_label(BOX), widget.locator(".d2lrnn-outcome")
    expect(box).to_be_focused()
    page.keyboard.type("Zdzisław")  # it replaces what is selected
    average = widget.locator(AVERAGE)
    expect(average).to_have_text(
        re.compile(r"among \d+ letters \(blind:\s27\)$")
    )  # the question does not tell its answer
    box.fill("tom")
    expect(widget.locator(NOW)).to_contain_text("Before training")
    widget.get_by_role("button", name="no", exact=True).click()
    expect(told).to_have_text(
        "Not so. “tom”: before training like choosing among 29 letters, after it 21 (blind:\u00a027)."
    )
    expect(average).to_have_text("on average, like choosing among 29 → 21 letters (blind:\u00a027)")
    expect(widget.locator(".d2lrnn-right")).to_have_text("yes, less")
    box.fill("alexander")  # another name: its result is told, and no guess is judged
    expect(widget.locator(NOW)).to_have_text("After training on one story, letters surprise about as much as before.")
    result = (
        "“alexander”: before training like choosing among 27 letters, after it about the same, 27 (blind:\u00a027)."
        " Most bars are lower, but the “x” after “ale” is higher: it gets 1 in 41\u202f000."
    )
    expect(told).to_have_text(result)
    page.evaluate("new Promise((done) => setTimeout(() => setTimeout(done)))")  # nothing is put before it later
    expect(told).to_have_text(result)
    expect(told).to_have_css("color", widget.evaluate("(e) => getComputedStyle(e).color"))
    expect(widget.locator(".d2lrnn-right, .d2lrnn-answers [aria-pressed='true']")).to_have_count(0)
    expect(average).to_have_text("on average, like choosing among 27 → 27 letters (blind:\u00a027)")
    expect(widget.locator(DETAIL)).to_have_text(
        re.compile("^After “ale”, “x” comes. .+x  1 in [^a-z]+: far worse than a blind guess")
    )
    box.fill("")
    expect(told).to_have_text("Type at least two letters.")
    answers = (
        ("ming", 0, "24 letters, after it 5 (blind:\u00a027). It has learned what follows “min”: it gives the “g” "),
        ("zdzislaw", 1, " letters, after it 1\u202f100 (worse than blind: 27). It guesses what it has read"),
    )
    for name, right, verdict in answers:
        box.fill(name)
        answer = widget.locator(".d2lrnn-answers button").nth(right)
        answer.click()
        expect(widget.locator(".d2lrnn-right")).to_have_text(answer.inner_text())  # and no other
        expect(told).to_contain_text(f"Right. “{name}”: before training like choosing among")
        expect(told).to_contain_text(verdict)
    widget.get_by_role("slider", name="Training").press("Home")
    expect(told).to_contain_text("Your earlier guess: Right. “zdzislaw”")
    widget.get_by_role("button", name="Made-up word").click()
    box.fill("the sea")
    expect(widget.locator(".d2lrnn-step")).to_be_hidden()


def test_enter_and_a_space_at_the_end_change_nothing(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    box = widget.get_by_label(BOX)
    box.focus()
    page.keyboard.type("Anna")
    told = widget.locator(NOW).inner_text() + widget.locator(AVERAGE).inner_text()
    assert "surprise less on average" in told
    page.keyboard.type(" ")
    assert widget.locator(NOW).inner_text() + widget.locator(AVERAGE).inner_text() == told
    expect(widget.locator(".map-letter")).to_have_count(4)
    page.keyboard.press("Enter")  # closes a phone's keyboard
    expect(box).to_have_value("Anna ")
    expect(box).not_to_be_focused()
    page.keyboard.press("Shift+Tab")
    box.focus()
    page.keyboard.press("End")
    page.keyboard.type("Lee")  # the space before it counts again
    assert widget.locator(".map-letter").all_inner_texts() == [*"anna", "\u00a0", *"lee"]


def test_a_long_text_scrolls_to_the_letter_that_is_told(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=390, height=844) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        widget = show(page, tmp_path)
        text = "i went to school in the morning and my mother gave me some bread with butter"
        widget.get_by_role("button", name="Your name").click()
        inside = """(e) => { const [here, box] = ['.map-here', '.map-letters'].map((name) =>
          e.querySelector(name).getBoundingClientRect());
          const fade = e.querySelector('.map-scroll').offsetHeight;
          return here.top >= box.top && here.bottom <= box.bottom - fade + 1; }"""
        drawn = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
        for typed in (text, " ".join([text, "and a cup of milk"] * 3)):
            widget.get_by_label(BOX).fill(typed)
            page.wait_for_function(drawn)
            assert widget.evaluate(inside), "the most surprising letter"
            assert widget.locator(".map-letters").evaluate("(e) => e.scrollTop > 0")
            letter = widget.get_by_role("slider", name="Letter")
            for place in (1, len(typed) // 2, len(typed) - 20, len(typed) - 1, 1):
                page_top = page.evaluate("scrollY")
                letter.fill(str(place), force=True)
                page.wait_for_function(drawn)
                assert widget.evaluate(inside) and page.evaluate("scrollY") == page_top, place
        widget.get_by_label(BOX).fill(text)
        widget.get_by_role("button", name="yes, less").click()
        page.wait_for_function(drawn)
        expect(widget.locator(DETAIL)).to_contain_text("After “…with but”, “t” comes.")
        assert widget.evaluate(inside)
        assert record.errors == []


def test_a_stage_that_is_worse_says_so(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, SurpriseMap(text="phoebe", stage="half_way"))
    expect(widget.locator(NOW)).to_have_text("After more training, letters surprise more on average.")
    expect(widget.locator(AVERAGE)).to_have_text("like choosing among 27 → 37 letters (worse than blind: 27)")
    widget.get_by_role("slider", name="Training").press("End")
    expect(widget.locator(NOW)).to_have_text("After training on one story, letters surprise less on average.")
    expect(widget.locator(AVERAGE)).to_have_text("on average, like choosing among 27 → 4 letters (blind:\u00a027)")


def test_no_guess_is_wrong_about_a_name_that_surprises_about_as_much_as_before(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    widget = show(opened[0], tmp_path)
    widget.get_by_role("button", name="Your name").click()
    widget.get_by_label(BOX).fill("hush")
    for answer in ("yes, less", "no"):
        widget.get_by_role("button", name=answer, exact=True).click()
        expect(widget.locator(".d2lrnn-outcome")).to_contain_text(re.compile("^“hush”: before .* about the same, "))
        expect(widget.locator(".d2lrnn-answers .d2lrnn-right")).to_have_count(0)


def test_the_third_step_keeps_a_name_that_was_typed(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    box, question = widget.get_by_label(BOX), widget.locator(".d2lrnn-question")
    box.fill("José")
    for title in ("Made-up word", "Your name"):
        widget.get_by_role("button", name=title).click()
    expect(question).to_contain_text("or keep “jose”.")
    expect(box).to_have_value("jose")
    expect(widget.locator(NOW)).to_contain_text("Before training")
    box.fill("the sea " * 9)  # no name
    widget.get_by_role("button", name="Made-up word").click()
    widget.get_by_role("button", name="Your name").click()
    expect(question).to_contain_text("or keep “phoebe”.")
    box.fill("tom")
    widget.get_by_role("button", name="Reset").click()
    widget.get_by_role("button", name="Your name").click()
    expect(box).to_have_value("phoebe")


def test_under_a_finger_the_third_step_opens_no_keyboard(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    widget = show(page, tmp_path)
    widget.get_by_role("button", name="Your name").tap()
    expect(widget.locator(".d2lrnn-question")).to_be_visible()
    expect(widget.get_by_label(BOX)).not_to_be_focused()
    context.close()


def test_under_the_headline_stands_why_it_is_so_where_that_is_known(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    because, training = widget.locator(".map-because"), widget.get_by_role("slider", name="Training on a story")
    words = "Many words can come next; inside a word, few letters fit."
    expect(because).to_have_text(words)
    for stage, why in enumerate(
        (
            "It has learned nothing yet: its numbers are random.",
            "It has learned that no letter comes as often as a space. before training",  # with the key of the grey bars
            f"{words} before training",
            f"{words} before training",
        )
    ):
        training.fill(str(stage))
        expect(because).to_have_text(why)
    for text, why in (
        ("the red lantern and a small boat on water", words),
        ("the red lantern with both the hands", " before training"),  # where a word comes again, it may be foreseen
    ):
        widget.get_by_label(BOX).fill(text)
        expect(widget.locator(NOW)).to_contain_text("first letters surprise most")
        expect(because).to_have_text(why)
        expect(because).to_be_visible()
    widget.get_by_label(BOX).fill("phoebe")
    expect(because).to_be_hidden()  # the keys of a name stand in its place


def test_the_costs_are_folded_away_and_say_what_is_counted(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, SurpriseMap(text="phoebe"))
    expect(widget.locator(".map-costs")).to_be_hidden()
    height = widget.bounding_box()["height"]
    widget.get_by_label(BOX).fill("")
    assert abs(widget.bounding_box()["height"] - height) < 40, "an empty text leaves its room"
    widget.get_by_label(BOX).fill("phoebe")
    widget.locator("summary").click()
    expect(widget.locator(".map-costs")).to_contain_text(
        "As plain text 5 bytes of 8 bits, one for each letter that is guessed."
    )
    expect(widget.locator(".map-costs")).to_contain_text("A blind guess among 27, a to z and the space, is 4.75 bits.")
    expect(widget.locator(".map-costs")).to_contain_text(
        "Before training a letter costs only about 4.75 bits: so even then a program can pack the text."
    )
    expect(widget.locator("tbody tr")).to_have_count(4)
    widget.get_by_label(BOX).fill("")
    expect(widget.locator(NOW)).to_contain_text("Type at least two letters")
    expect(widget.locator("tbody td").first).to_have_text("\u2013")


def test_all_stages_of_a_text_are_drawn_on_one_scale(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    places = "(all) => all.map((e) => getComputedStyle(e.parentElement, '::after').top)"
    widget.get_by_role("button", name="Made-up word").click()
    before = widget.locator(".map-letter").evaluate_all(places)
    assert column(widget, 1) == pytest.approx(
        bit(widget) * SurpriseMap(text="quixotl", stage="untrained").bits[0], abs=0.1
    )
    widget.get_by_role("button", name="no, even more").click()
    assert column(widget, 6) == pytest.approx(bit(widget) * SurpriseMap(text="quixotl").bits[5], abs=0.1), "12.16 bits"
    assert widget.locator(".map-letter").evaluate_all(places) == before


def test_a_column_is_as_high_and_as_strong_as_its_bits(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    bits = SurpriseMap().bits
    page.mouse.move(1, 1)
    for place in (1, 4, 8, 22, 33):
        assert column(widget, place) == pytest.approx(bit(widget) * bits[place - 1], abs=0.1)
    fill = """(e) => { const parts = getComputedStyle(e).backgroundImage.match(/color\\(srgb[^)]*\\)/g);
      return Number(parts.at(-1).match(/[\\d.]+/g)[2]); }"""  # how much blue is left of the white
    paleness = {cost: widget.locator(".map-letter").nth(i + 1).evaluate(fill) for i, cost in enumerate(bits)}
    told = [paleness[cost] for cost in sorted(paleness)]
    assert told == sorted(told, reverse=True) and len(set(told)) > 30


def test_a_bit_is_as_high_in_every_text_and_a_line_says_how_high_a_blind_guess_is(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    lines = set()
    for text in (
        "tom",
        "quixotl",
        "christopher robin",
        "zhang wei",
        "alexander",
        "xxxxxxxx",
        "xxxx " * 12,
        SurpriseMap().text,
    ):
        widget.get_by_label(BOX).fill(text)
        page.mouse.move(1, 1)
        bits = SurpriseMap(text=text).bits
        for width in (320, 390, 720):
            page.set_viewport_size({"width": width, "height": 1000})
            at, foot, high = f"{text} at {width}", room(widget), bit(widget)
            assert foot >= high * min(13, max(bits)), at
            assert column(widget, bits.index(max(bits)) + 1) == pytest.approx(high * min(13, max(bits)), abs=0.1), at
            letter = widget.locator(".map-letter").nth(1)
            on_line = widget.get_by_text("a blind guess: 1 in 27 (a to z, space)")
            legend = widget.get_by_text("a blind guess: 1 in 27", exact=True)
            has_room = text == SurpriseMap().text
            expect(on_line).to_be_visible(visible=has_room)  # where no bar stands behind it
            expect(legend).to_be_visible(visible=not has_room)
            tick = on_line if has_room else legend
            line = foot - letter.evaluate("(e) => parseFloat(getComputedStyle(e.parentElement, '::after').top)")
            assert line == pytest.approx(high * math.log2(27), abs=0.5), at
            label, box = tick.bounding_box(), letter.bounding_box()
            assert label and box
            page_box = widget.locator(".map-letters").bounding_box()
            assert label["x"] + label["width"] <= page_box["x"] + page_box["width"], at
            if has_room:
                assert label["y"] + label["height"] == pytest.approx(box["y"] + foot - line - high / 2, abs=1), at
                expect(tick).to_have_css("background-color", "rgba(0, 0, 0, 0)")  # the words hide no bar
                assert page_box["y"] - 1 <= label["y"], at
                width_of_low = 20 * box["width"]
                assert label["width"] <= width_of_low, f"20 letters are room enough: {at}"
            else:
                assert label["y"] + label["height"] <= page_box["y"] + 1, f"over the picture: {at}"
                dash = legend.evaluate("(e) => getComputedStyle(e, '::before').borderTopStyle")
                line_style = "(e) => getComputedStyle(e.parentElement, '::after').borderTopStyle"
                assert dash == "dashed" == letter.evaluate(line_style)
            assert widget.locator(".map-given").bounding_box()["x"] <= widget.locator(NOW).bounding_box()["x"] + 1, at
            thousand = widget.get_by_text("1 in 1\u202f000", exact=True)
            bars = widget.locator(".map-letter")
            is_free = "xxxx" not in text  # else no bar leaves room for its words
            expect(thousand).to_be_visible(visible=is_free and (len(text) <= 24 or width == 720 or max(bits) > 10))
            if thousand.is_visible():
                words = thousand.bounding_box()
                for i, cost in enumerate(bits):
                    bar = bars.nth(i + 1).bounding_box()
                    if words and bar and cost > 10 and bar["y"] < words["y"] < bar["y"] + foot:
                        apart = bar["x"] + bar["width"] <= words["x"] or words["x"] + words["width"] <= bar["x"]
                        assert apart, f"they lie on no bar: {at}, letter {i + 1}"
            if max(bits) > 13:
                key = widget.locator(".map-clipped").bounding_box()
                assert key and key["y"] + key["height"] <= page_box["y"], "the key has a row of its own"
            if len(text) <= 40 or width < 720:  # rows of a longer text are lower on a wide page
                lines.add((width, round(line, 1)))
            assert page.evaluate("document.documentElement.scrollWidth") <= width, at
        expect(widget.locator(".map-clipped")).to_have_text("< 1 in 8\u202f000")
        expect(widget.locator(".map-clipped")).to_be_visible(visible=max(bits) > 13)
        cut = widget.locator(".map-cut")
        expect(cut).to_have_count(sum(cost > 13 for cost in bits))
        assert all(
            roof == (6 if len(text) <= 40 else 5)  # on a text of one row lies the mark of before training
            for roof in cut.evaluate_all(
                "(all) => all.map((e) => getComputedStyle(e).backgroundImage.split('linear').length)"
            )
        )
    assert len(lines) == 3, "the line stands at one height for all texts"


def test_first_letters_others_and_spaces_have_a_mark_at_their_average_in_long_texts_too(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    text, means = SurpriseMap().text, widget.locator(".map-mean")
    expect(means).to_have_text(["1 in 26first letters", "1 in 3other letters", "1 in 1.2spaces"])
    height = "(all) => all.map((e) => Number(getComputedStyle(e).getPropertyValue('--map-bits')))"
    for key, stage in (("End", "trained"), ("Home", "untrained")):
        widget.get_by_role("slider", name="Training").press(key)
        bits = SurpriseMap(stage=stage).bits
        kinds = ["spaces" if here == " " else "first" if past == " " else "other" for past, here in pairwise(text)]
        of = [
            [cost for cost, of in zip(bits, kinds, strict=True) if of == kind] for kind in ("first", "other", "spaces")
        ]
        told = [sum(costs) / len(costs) for costs in of]
        assert means.evaluate_all(height) == pytest.approx(told, abs=0.01)
        marks = means.evaluate_all(
            "(all) => all.map((e) => parseFloat(getComputedStyle(e).backgroundPositionY.match(/[-\\d.]+px/)[0]))"
        )
        assert marks == pytest.approx([room(widget) - bit(widget) * mean - 2 for mean in told], abs=0.5)
        numbers = widget.locator(".map-number").all_inner_texts()
        assert numbers == [f"1 in {2**mean:.1f}" if 2**mean < 2.95 else f"1 in {2**mean:.0f}" for mean in told]
    for width in (320, 390, 720):
        page.set_viewport_size({"width": width, "height": 1000})
        last, mean = widget.locator(".map-letter").last.bounding_box(), means.first.bounding_box()
        assert last and mean and last["y"] == pytest.approx(mean["y"], abs=1), f"in the row of the last word: {width}"
    for width in (390, 720):
        page.set_viewport_size({"width": width, "height": 1000})
        widget.get_by_label(BOX).fill(" ".join([text] * 5))
        tops = widget.locator(".map-letter").evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().top)")
        box = widget.locator(".map-means").bounding_box()
        assert box and box["y"] >= max(tops) - 1, "after the whole text, whose rows have all the width"
        widget.get_by_label(BOX).fill("the tide clock " * 5)  # its bars are low
        title, box = (widget.locator(f".map-means{part}").bounding_box() for part in ("-name", ""))
        assert title and box and title["y"] >= box["y"] - 1, "and over no letter of the row before"
    widget.get_by_label(BOX).fill("phoebe")
    expect(means).to_have_count(0)


@pytest.mark.parametrize(
    "text",
    [
        SurpriseMap().text,
        "sphinx of black quartz judge my vow",
        "the the the the the the",
        "i went to school in the morning and my mother gave me some bread with butter",
        "qqqqqqqqqqqq qqqqqqqqqqqqq zzzzzzzzz qqqqqqq zzzz qqq",
    ],
)
def test_the_numbers_of_the_averages_touch_no_mark_no_title_and_no_other_number(
    opened: tuple[Page, Record], tmp_path: Path, text: str
) -> None:
    page, _ = opened
    widget = show(page, tmp_path, SurpriseMap(text=text))
    boxes = """(e) => {
      const box = (x) => ['left', 'right', 'top', 'bottom'].map((side) => x.getBoundingClientRect()[side]);
      const styles = getComputedStyle(e.querySelector('.map-letters'));
      const bit = parseFloat(styles.getPropertyValue('--map-bit'));
      const room = parseFloat(getComputedStyle(e.querySelector('.map-letter')).paddingTop);
      const marks = [...e.querySelectorAll('.map-mean')].map((mean) => {
        const { left, right, top } = mean.getBoundingClientRect();
        const at = top + room - bit * Number(getComputedStyle(mean).getPropertyValue('--map-bits'));
        return [left + 0.15 * (right - left), right - 0.15 * (right - left), at - 2, at + 2];
      });
      const words = [...e.querySelectorAll('.map-number, .map-means-name')].map(box);
      return [words, marks, box(e.querySelector('.map-means'))];
    }"""
    for width in (320, 360, 390, 720, 1280):
        page.set_viewport_size({"width": width, "height": 1000})
        for stage in range(4):
            widget.get_by_role("slider", name="Training").fill(str(stage))
            words, marks, panel = widget.evaluate(boxes)
            assert len(words) == 4 and len(marks) == 3
            for i, (left, right, top, bottom) in enumerate(words):
                assert top >= panel[2] - 0.5, f"not in the row before: {width}, {stage}"
                for other in [*words[i + 1 :], *marks]:
                    apart = other[0] >= right or other[1] <= left or other[2] >= bottom - 0.5 or other[3] <= top + 0.5
                    assert apart, f"{width}, {stage}: {words[i]} and {other}"


def test_behind_the_bars_of_the_opening_text_too_once_it_was_seen_without_training(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    grey = "(e) => getComputedStyle(e).backgroundImage.split('linear-gradient').at(-1).includes('color(srgb')"
    letter, key = widget.locator(".map-letter").nth(5), widget.locator(".map-because .map-before")
    assert not letter.evaluate(grey)  # the first step asks about it
    training = widget.get_by_role("slider", name="Training")
    training.press("Home")
    assert not letter.evaluate(grey)
    training.press("End")
    assert letter.evaluate(grey)
    expect(key).to_be_visible()
    assert "color(srgb" in key.evaluate("(e) => getComputedStyle(e, '::before').backgroundColor")
    widget.get_by_label(BOX).fill("sphinx of black quartz judge my vow")  # no step asks about it
    assert letter.evaluate(grey)
    expect(widget.locator(".map-key .map-before")).to_be_visible()
    widget.get_by_label(BOX).fill(" ".join([SurpriseMap().text] * 2))
    assert not letter.evaluate(grey), "rows of a long text stay plain"
    widget.get_by_role("button", name="Reset").click()
    assert not letter.evaluate(grey)
    expect(widget.locator(".map-before").filter(visible=True)).to_have_count(0)


def test_behind_the_bars_of_a_name_stand_those_of_before_training(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    legend = widget.get_by_text("before training", exact=True)
    paints = "(e) => getComputedStyle(e).backgroundImage.split('linear-gradient').at(-1)"
    expect(legend).to_be_hidden()  # the first step asks about it
    widget.get_by_label(BOX).fill("phoebe")
    expect(legend).to_be_visible()
    before = SurpriseMap(text="phoebe", stage="untrained").bits
    grey = widget.locator(".map-letter").nth(5).evaluate(paints)
    tops = [float(px) for px in re.findall(r"([\d.]+)px", grey)]
    assert tops[0] == pytest.approx(room(widget) - bit(widget) * before[4], abs=0.1) and "color(srgb" in grey
    widget.get_by_label(BOX).fill("zoe")
    assert min(SurpriseMap(text="zoe").bits) > max(SurpriseMap(text="zoe", stage="untrained").bits)
    expect(legend).to_be_visible()  # a higher bar has a grey mark
    was = SurpriseMap(text="zoe", stage="untrained").bits
    for place in (1, 2):
        mark = (
            widget.locator(".map-letter")
            .nth(place)
            .evaluate("(e) => getComputedStyle(e).backgroundImage.split('linear-gradient').slice(1)")[0]
        )
        at = [float(px) for px in re.findall(r"([\d.]+)px", mark)]
        assert sum(at[:3:2]) / 2 == pytest.approx(room(widget) - bit(widget) * was[place - 1], abs=0.1), mark
    widget.get_by_label(BOX).fill("phoebe")
    expect(legend).to_be_visible()
    widget.get_by_role("slider", name="Training").press("Home")
    expect(legend).to_be_hidden()
    assert "color(srgb" not in widget.locator(".map-letter").nth(5).evaluate(paints)


def test_a_mouse_that_is_dragged_over_the_letters_selects_no_text(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    letter = widget.locator(".map-letter")
    letter.nth(8).hover()
    page.mouse.down()
    letter.nth(20).hover()
    page.mouse.up()
    assert page.evaluate("getSelection().toString()") == ""
    expect(letter.nth(20)).to_have_class(re.compile("map-here"))


def test_the_letters_that_the_headline_speaks_of_are_bold(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    bold = "(all) => all.filter((e) => getComputedStyle(e).fontWeight === '700').map((e) => e.textContent).join('')"
    letters = widget.locator(".map-letter")
    assert letters.evaluate_all(bold) == "rlwbmh"
    widget.get_by_role("slider", name="Training").press("Home")
    assert letters.evaluate_all(bold) == ""


def test_nothing_below_moves_while_a_name_is_typed(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(whole_page_of(SurpriseMap()), encoding="utf-8")
    with watched_page(browser, width=1280, height=900) as (page, record):
        page.goto(f"{tmp_path.as_uri()}/page.html")
        widget = page.locator('.d2lrnn-widget[data-ready="1"]')
        for width in (390, 800, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            tops = []
            for text in (SurpriseMap().text, "tom", "quixotl", "alexander"):
                widget.get_by_label(BOX).fill(text)
                tops.append(widget.locator(".map-training").bounding_box()["y"])
            assert max(tops[1:]) - min(tops[1:]) <= 1, width
            assert width == 390 or abs(tops[0] - tops[1]) <= 1, width
        assert record.errors == []


def test_no_column_stands_behind_a_letter(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, SurpriseMap(text="qqqqzzzz"))
    themes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    styles = """(all) => all.slice(1).map((e) =>
      [getComputedStyle(e).backgroundImage.split(', linear-gradient').at(-2), getComputedStyle(e).paddingTop])"""
    for theme in themes:
        page.emulate_media(color_scheme=theme)
        for paints, room in widget.locator(".map-letter").evaluate_all(styles):
            *_, line, below = (float(px) for px in re.findall(r"([\d.]+)px", paints))
            assert line == below == pytest.approx(float(room[:-2]) + 1, abs=0.1), f"it ends on its line: {theme}"
            assert re.search(r"rgba\(0, 0, 0, 0\) [\d.]+px\)$", paints), f"and nothing is under it: {theme}"


def test_the_beginnings_text_fills_two_rows_of_a_phone_and_one_of_a_wide_page(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(whole_page_of(SurpriseMap()), encoding="utf-8")
    with watched_page(browser, width=1280, height=800) as (page, record):
        page.goto(f"{tmp_path.as_uri()}/page.html")
        widget = page.locator('.d2lrnn-widget[data-ready="1"]')
        for width, rows in ((360, 2), (390, 2), (640, 1), (1280, 1)):
            page.set_viewport_size({"width": width, "height": 800})
            tops = widget.locator(".map-letter").evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().top)")
            assert len(set(tops)) == rows, width
        widget.get_by_role("button", name="No training").click()
        widget.get_by_role("button", name="rare letters").click()
        assert widget.locator(".d2lrnn-shape").bounding_box()["height"] <= 768, "the answer stands on the same screen"
        assert record.errors == []


def test_an_open_question_stays_while_a_hand_looks_for_its_answer(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    question, table = widget.locator(".d2lrnn-question"), widget.locator("summary")
    widget.get_by_role("button", name="Made-up word").click()
    for look in (
        lambda: widget.get_by_role("slider", name="Training").press("End"),
        lambda: widget.get_by_role("button", name="Watch it learn").click(),
        table.click,
    ):
        look()
        expect(question).to_be_visible()
    expect(widget.locator(".map-costs")).to_be_visible()
    widget.get_by_role("button", name="no, even more").click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Right.")
    widget.get_by_role("button", name="Your name").click()  # the table has its answer
    expect(widget.locator(".map-costs")).to_be_hidden()


def test_the_beginnings_text_stands_in_the_picture_alone(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    box = widget.get_by_label(BOX)
    expect(box).to_have_value("")
    box.focus()
    assert box.evaluate("(e) => getComputedStyle(e).outlineColor") == "rgb(0, 114, 178)", "the focus ring of all"
    box.fill("phoebe")
    widget.get_by_role("button", name="Reset").click()
    expect(box).to_have_value("")
    expect(widget.locator(".map-letter")).to_have_count(len(SurpriseMap().text))


def test_nothing_moves_while_it_learns(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    for text in (SurpriseMap().text, "quixotl"):
        widget = show(page, tmp_path, SurpriseMap(text=text))
        for width in (320, 360, 390, 600, 720, 1280):
            page.set_viewport_size({"width": width, "height": 1000})
            told, places = widget.evaluate("""(e) => {
              const told = new Set(), places = new Set();
              const set = (range, value) => {
                range.value = value;
                range.dispatchEvent(new InputEvent('input', { bubbles: true }));
                told.add(e.querySelector('.d2lrnn-now').textContent + e.querySelector('.map-detail').textContent);
                places.add(e.querySelector('.map-own').getBoundingClientRect().y);
              };
              for (let stage = 0; stage < 4; stage += 1) set(e.querySelector('.map-training input'), stage);
              const letters = e.querySelector('.map-keys');
              for (let place = 1; place <= letters.max; place += 1) set(letters, place); // nor whichever letter is told
              return [told.size, [...places]];
            }""")
            assert told >= len(text) - 1 + 3, "every stage and every letter was shown"
            assert len(places) == 1, f"“{text}” at {width}"
            assert page.evaluate("document.documentElement.scrollWidth") <= width, f"“{text}” at {width}"


def test_a_phone_shows_figure_text_box_and_open_step_on_one_screen(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=390, height=844) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        widget = show(page, tmp_path)
        edges = """(e) => { const box = (name) => e.querySelector(name).getBoundingClientRect();
          return [box('.d2lrnn-now').top, box('.map-own').bottom, box('.d2lrnn-steps > .d2lrnn-step-titles').top,
            box('.d2lrnn-step').bottom]; }"""
        for title, guess in (
            ("No training", "rare letters"),
            ("Made-up word", "yes, far less"),
            ("Your name", "yes, less"),
        ):
            for name in (title, guess):
                widget.get_by_role("button", name=name).click()
                page.wait_for_function(
                    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
                )
                headline, box, sheet, end = widget.evaluate(edges)
                assert headline >= 0 and box <= sheet and end <= 844, (name, headline, box, sheet, end)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert record.errors == []
