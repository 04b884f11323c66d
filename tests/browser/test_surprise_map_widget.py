"""The surprise map in a page: the page pales, letters are pointed at, tapped and walked, steps ask before they show."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
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

NOW, DETAIL, AVERAGE = ".d2lrnn-now", ".map-detail", ".map-average"


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
    """Mean level of all letters."""
    return widget.evaluate(
        "(e) => { const l = [...e.querySelectorAll('.map-letter')].map("
        "(x) => +x.style.getPropertyValue('--map-level'));"
        " return l.reduce((a, b) => a + b) / l.length; }"
    )


def room(widget: Locator) -> float:
    """How high the highest column may be, in pixels: the room over a letter."""
    return widget.locator(".map-letter").nth(1).evaluate("(e) => parseFloat(getComputedStyle(e).paddingTop)")


def column(widget: Locator, place: int) -> float:
    """How high the column over a letter stands, in pixels."""
    bar = widget.locator(".map-letter").nth(place)
    return room(widget) - bar.evaluate("(e) => Number(/([\\d.]+)px/.exec(getComputedStyle(e).backgroundImage)[1])")


def test_it_opens_trained_and_says_where_the_surprises_are(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    expect(widget.locator(NOW)).to_have_text("After training, first letters surprise it most, on average.")
    expect(widget.locator(AVERAGE)).to_have_text("1.99 bits a letter: like choosing among 4")
    expect(widget.locator(DETAIL)).to_have_text(
        "After “…feeling i␣”, it expects:h  22%s  18%w  17%p  2.8% = 5.18 bits"
        "“p” comes, guess 10 of 27: a big surprise."
    )
    expect(widget.locator(".map-here")).to_have_count(1)
    widget.get_by_role("slider", name="Training").press("Home")
    expect(widget.locator(NOW)).to_have_text("Before training, every letter is a big surprise.")
    expect(widget.locator(AVERAGE)).to_have_text("4.81 bits a letter: about like a blind guess among 27")


def test_a_letter_that_it_knows_and_a_space_are_told(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, SurpriseMap(place=33))
    expect(widget.locator(DETAIL)).to_have_text(
        re.compile("^After “…the feelin”, it expects:g  98% = 0.03 bits␣ .+“g” comes, guess 1 of 27: no surprise.$")
    )
    widget.locator(".map-letter").nth(6).click()
    expect(widget.locator(DETAIL)).to_have_text(re.compile("^After “i shut”, it expects:␣ .+“␣” comes, guess"))


@pytest.mark.parametrize("place", [1, 12, 33, 37])
def test_the_guesses_are_bars_as_long_as_their_chances_and_the_letter_that_comes_is_marked(
    opened: tuple[Page, Record], tmp_path: Path, place: int
) -> None:
    page, _ = opened
    text, network = SurpriseMap().text, d.load_pretrained()
    ids = torch.tensor(network.vocab.encode(text))
    with torch.no_grad():
        probs = network.model(ids[None, :place])[0][0, -1].softmax(-1)
    order = probs.argsort(descending=True).tolist()
    comes = int(ids[place])
    rank = order.index(comes) + 1
    told = order[:4] if rank <= 4 else [*order[:3], comes]
    widget = show(page, tmp_path, SurpriseMap(place=place))
    rows = widget.locator(".map-guess")
    signs = [network.vocab.decode([sign]).replace(" ", "␣") for sign in told]
    assert rows.locator("b").all_inner_texts() == signs
    widths = rows.locator(".map-chance").evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().width)")
    full = 13 * 16
    assert widths == pytest.approx([max(1, full * float(probs[sign])) for sign in told], abs=0.3)
    framed = "(all) => all.map((e) => getComputedStyle(e).outlineStyle !== 'none')"
    marked = rows.locator("b").evaluate_all(framed)
    assert marked == [sign == comes for sign in told]
    expect(widget.locator(".map-comes")).to_contain_text(f" = {SurpriseMap().bits[place - 1]:.2f} bits")
    expect(widget.locator(DETAIL)).to_contain_text(f"comes, guess {rank} of 27:")


def test_letters_are_pointed_at_tapped_and_walked(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, SurpriseMap(text="the tide clock"))
    before = widget.locator(DETAIL).text_content()
    letter = widget.locator(".map-letter")
    letter.nth(1).hover()
    expect(widget.locator(DETAIL)).to_have_text(re.compile(r"^After “t”, it expects:.+“h” comes, "))
    page.mouse.move(1, 1)
    expect(widget.locator(DETAIL)).to_have_text(before)
    letter.nth(4).click()
    page.mouse.move(1, 1)
    expect(widget.locator(DETAIL)).to_have_text(re.compile(r"^After “the␣”, it expects:.+“t” comes, "))
    keys = widget.get_by_role("slider", name="Letter")
    keys.focus()
    page.keyboard.press("ArrowRight")
    expect(widget.locator(DETAIL)).to_have_text(re.compile(r"^After “the t”, it expects:.+“i” comes, "))
    expect(keys).to_have_attribute("aria-valuetext", re.compile(r"^i, \d\.\d\d bits$"))
    assert letter.nth(5).evaluate("(e) => getComputedStyle(e, '::after').outlineWidth") == "3px", "the focus is seen"
    letter.nth(0).click()  # it is given, not guessed
    expect(widget.locator(DETAIL)).to_have_text("The first letter, “t”, is given: no network has to guess it.")
    page.mouse.move(1, 1)
    expect(widget.locator(DETAIL)).to_have_text(re.compile(r"^After “the t”, it expects:.+“i” comes, "))
    letter.nth(8).click()
    page.keyboard.press("ArrowLeft")  # the keys go on from the letter that was clicked
    expect(widget.locator(DETAIL)).to_have_text(re.compile(r"^After “the tid”, it expects:.+“e” comes, "))


def test_the_page_pales_along_the_training(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    training = widget.get_by_role("slider", name="Training on a story")
    training.focus()
    page.keyboard.press("Home")
    levels, told = [darkness(widget)], [widget.locator(NOW).inner_text()]
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        levels.append(darkness(widget))
        told.append(widget.locator(NOW).inner_text())
    assert levels == sorted(levels, reverse=True) and levels[0] > 2 * levels[-1]
    assert told == [
        "Before training, every letter is a big surprise.",
        "After a little training, spaces surprise it least, on average.",
        "After more training, first letters surprise it most, on average.",
        "After training, first letters surprise it most, on average.",
    ]
    expect(training).to_have_attribute("aria-valuetext", "1\u202f840 corrections")


def test_it_plays_the_training_and_a_hand_stops_it(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    play = widget.get_by_role("button", name="Watch it learn")
    play.click()  # from the end it begins again, at once
    expect(widget.locator(NOW)).to_contain_text("Before training", timeout=1000)
    expect(widget.locator(NOW)).to_contain_text("After more training", timeout=9000)
    widget.get_by_role("button", name="Pause").click()
    page.wait_for_timeout(2500)
    expect(widget.locator(NOW)).to_contain_text("After more training")
    play.click()  # it goes on
    expect(widget.locator(AVERAGE)).to_contain_text("1.99 bits", timeout=9000)
    expect(widget.get_by_role("button", name="Pause")).to_have_count(0, timeout=1000)  # at the end nothing is to pause
    play.click()
    expect(widget.locator(AVERAGE)).to_contain_text("4.81 bits")
    widget.get_by_label("Your own text").fill("quixotl")
    expect(widget.locator(NOW)).to_have_text("After training, it does worse than a blind guess.")
    page.wait_for_timeout(2500)
    expect(widget.locator(AVERAGE)).to_have_text("6.42 bits a letter: worse than a blind guess among 27")


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_bars_and_knob_glide_from_stage_to_stage_and_the_numbers_are_pale_until_they_are_there(
    opened: tuple[Page, Record], tmp_path: Path, motion: Literal["no-preference", "reduce"]
) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion=motion)
    widget = show(page, tmp_path)
    page.wait_for_timeout(800)  # what opens glides too
    widget.evaluate("""(e) => {
      const bar = e.querySelectorAll('.map-letter')[33], range = e.querySelector('.map-training input');
      const opacity = (name) => Number(getComputedStyle(e.querySelector(name)).opacity);
      globalThis.frames = [];
      const note = () => {
        frames.push([Number(getComputedStyle(bar).getPropertyValue('--map-level')), Number(range.value),
          ...['.d2lrnn-now', '.map-kinds', '.map-detail', '.map-average'].map(opacity)]);
        requestAnimationFrame(note);
      };
      note();
    }""")
    widget.get_by_role("button", name="Watch it learn").click()
    expect(widget.locator(NOW)).to_contain_text("Before training")
    expect(widget.locator(NOW)).to_have_css("opacity", "1")
    frames = page.evaluate("frames")
    low, high = (SurpriseMap(stage=stage).bits[32] / 10 for stage in ("trained", "untrained"))
    assert (frames[0][0], frames[-1][0]) == pytest.approx((low, high), abs=0.001)
    assert (frames[0][1], frames[-1][1]) == (3, 0)
    on_the_way = [frame for frame in frames if low + 0.02 < frame[0] < high - 0.02 or 0.1 < frame[1] < 2.9]
    if motion == "reduce":
        assert on_the_way == []
        return
    assert len({frame[0] for frame in on_the_way}) > 4 and len({frame[1] for frame in on_the_way}) > 4
    levels = [frame[0] for frame in frames]
    assert levels == sorted(levels)
    assert {opacity for frame in on_the_way for opacity in frame[2:]} == {0.4}


def test_a_hand_that_takes_the_knob_on_its_way_sets_a_stage(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="no-preference")
    widget = show(page, tmp_path)
    widget.get_by_role("button", name="Watch it learn").click()
    page.wait_for_timeout(700)
    training = widget.get_by_role("slider", name="Training")
    training.press("End")
    expect(widget.locator(NOW)).to_have_css("opacity", "1")
    expect(widget.locator(AVERAGE)).to_contain_text("1.99 bits")
    expect(training).to_have_value("3")
    page.wait_for_timeout(2500)
    expect(training).to_have_value("3")


def test_a_finger_slides_over_the_letters(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=390, height=844) as (page, record):
        widget = show(page, tmp_path)
        box = widget.locator(".map-letter").nth(20).bounding_box()
        assert box
        at = {"clientX": box["x"] + 5, "clientY": box["y"] + 20, "pointerType": "touch", "bubbles": True}
        widget.locator(".map-letter").nth(30).dispatch_event("pointermove", at)
        assert widget.locator(".map-letter").nth(20).evaluate("(e) => e.classList.contains('map-here')")
        expect(widget.locator(DETAIL)).to_contain_text("After “…eyes i ask”, it expects:")
        assert record.errors == []


def test_one_letter_stays_framed_while_the_training_plays(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    framed = "(e) => [...e.querySelectorAll('.map-letter')].findIndex((x) => x.classList.contains('map-here'))"
    at = widget.evaluate(framed)
    for stage in ("Home", "ArrowRight", "ArrowRight"):
        widget.get_by_role("slider", name="Training").press(stage)
        assert widget.evaluate(framed) == at


def test_a_short_text_is_written_large(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    letters, size = widget.locator(".map-letters"), "(e) => parseFloat(getComputedStyle(e).fontSize)"
    small = letters.evaluate(size)
    widget.get_by_label("Your own text").fill("quixotl")
    assert letters.evaluate(size) > 1.5 * small
    page.mouse.move(1, 1)
    tall = [column(widget, i) for i in (3, 6)]
    assert tall[1] > 1.15 * tall[0], "12.16 bits stand higher than 10.22"


def test_on_a_wide_page_of_its_own_a_name_stands_in_one_row(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(whole_page_of(SurpriseMap()), encoding="utf-8")
    with watched_page(browser, width=1280, height=800) as (page, record):
        page.goto(f"{tmp_path.as_uri()}/page.html")
        widget = page.locator('.d2lrnn-widget[data-ready="1"]')
        widget.get_by_label("Your own text").fill("fatima nguyen")
        letters = widget.locator(".map-letter")
        expect(letters).to_have_count(13)
        assert len(set(letters.evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().top)"))) == 1
        view, page_width = widget.locator(".d2lrnn-view").bounding_box(), page.evaluate("innerWidth")
        assert view["width"] == 52 * 16 and abs(2 * view["x"] + view["width"] - page_width) <= 1  # in the middle
        assert record.errors == []


STEPS = [
    (
        "No training",
        "only rare letters",
        "No. Every letter costs 4.4 to 5.2 bits: like a blind guess among 27 signs, 4.75 bits. So what made bars low",
    ),
    (
        "Made-up word",
        "no, even more",
        "Right. 4.85 bits a letter before training, 6.42 now. After “quixot” it was 64% sure of a space: the “l” is a",
    ),
]


@pytest.mark.parametrize(("title", "guess", "told"), STEPS)
def test_a_step_asks_first_and_shows_then(
    opened: tuple[Page, Record], tmp_path: Path, title: str, guess: str, told: str
) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    before = widget.locator(NOW).inner_text()
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
    scroll, box = widget.locator(".map-scroll"), widget.get_by_label("Your own text")
    expect(scroll).to_be_hidden()
    box.fill("Über die Zeit: Привет")
    lost = "accents are left out, other signs count as spaces, but not at the ends."
    expect(widget.get_by_text(lost)).to_be_visible()
    box.fill("Zoë")
    expect(widget.get_by_text(lost)).to_be_visible()
    assert widget.locator(".map-letter").all_inner_texts() == ["z", "o", "e"]
    expect(widget.locator(".map-given")).to_have_text("z")
    box.fill("the tide clock " * 50)
    expect(widget.get_by_text("other signs")).to_be_hidden()
    expect(scroll).to_be_visible()
    keys = widget.get_by_role("slider", name="Letter")
    keys.press("End")
    expect(scroll).to_be_hidden()
    expect(widget.locator(".map-here")).to_be_in_viewport()
    keys.press("Home")
    expect(scroll).to_be_visible()
    box.fill("q" * 12)
    widget.get_by_role("slider", name="Training").press("End")
    expect(widget.locator(DETAIL)).to_have_text(re.compile("q  1 in .+ bits“q” comes, .+: a shock"))
    widget.get_by_role("button", name="Reset").click()
    expect(widget.get_by_text("other signs")).to_be_hidden()


def test_the_third_step_takes_the_readers_own_name(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    widget.get_by_role("button", name="Your name").click()
    box, told = widget.get_by_label("Your own text"), widget.locator(".d2lrnn-outcome")
    expect(box).to_be_focused()
    page.keyboard.type("Zdzisław")  # it replaces what is selected
    widget.get_by_role("button", name="no, more").click()
    expect(told).to_contain_text(
        "Right. “zdzislaw”: 4.72 bits a letter before training, 10.11 now. It expects what it has"
    )
    box.fill("ming")  # another name: the question is asked again
    expect(told).to_be_hidden()
    expect(widget.locator(NOW)).to_contain_text("Before training")
    widget.get_by_role("button", name="no, more").click()
    expect(told).to_contain_text("No. “ming”: 4.58 bits a letter before training, 2.22 now.")
    expect(told).to_contain_text(re.compile(r"It has learned what follows “min”: the “g” costs only [01]\.\d\d bits"))
    expect(widget.locator(".d2lrnn-right")).to_have_text("yes, less")
    box.fill("alexander")
    widget.get_by_role("button", name="about the same").click()
    expect(told).to_contain_text("Right. “alexander”: 4.76 bits a letter before training, 4.74 now.")
    expect(told).to_contain_text("Most letters cost less, but the “x” after “ale” more: 15.33 bits.")
    expect(widget.locator(DETAIL)).to_have_text(re.compile("^After “ale”, .+“x” comes, .+: a shock"))
    for name, before, after in (("tom", "4.87", "4.41"), ("emma", "4.74", "4.30")):  # a tenth of what it was before
        box.fill(name)
        widget.get_by_role("button", name="yes, less").click()
        expect(told).to_contain_text(f"No. “{name}”: {before} bits a letter before training, {after} now.")
        expect(widget.locator(".d2lrnn-right")).to_have_text("about the same (±10%)")
        expect(told).not_to_contain_text("learned")
    widget.get_by_role("button", name="Made-up word").click()
    box.fill("the sea")
    expect(widget.locator(".d2lrnn-step")).to_be_hidden()


def test_the_costs_are_folded_away_and_say_what_is_counted(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, SurpriseMap(text="phoebe"))
    expect(widget.locator(".map-costs")).to_be_hidden()
    widget.locator("summary").click()
    expect(widget.locator(".map-costs")).to_contain_text("As plain text 5 bytes, one for each letter that is guessed;")
    expect(widget.locator(".map-costs")).to_contain_text("4.75 bits are a blind guess among the 27 signs,")
    expect(widget.locator("tbody tr")).to_have_count(4)
    widget.get_by_label("Your own text").fill("")
    expect(widget.locator(NOW)).to_contain_text("Type at least two letters")
    expect(widget.locator("tbody td").first).to_have_text("\u2013")


def test_an_empty_text_leaves_its_room(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, SurpriseMap(text="phoebe"))
    height = widget.bounding_box()["height"]
    widget.get_by_label("Your own text").fill("")
    assert abs(widget.bounding_box()["height"] - height) < 40


def test_all_stages_of_a_text_are_drawn_on_one_scale(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    first = "(all) => Number(all[1].style.getPropertyValue('--map-level'))"
    widget.get_by_role("button", name="Made-up word").click()
    before = widget.locator(".map-letter").evaluate_all(first)
    assert before == pytest.approx(SurpriseMap(text="quixotl", stage="untrained").bits[0] / 13, abs=0.001)
    widget.get_by_role("button", name="no, even more").click()
    after = widget.locator(".map-letter").evaluate_all(first)
    assert after == pytest.approx(SurpriseMap(text="quixotl").bits[0] / 13, abs=0.001), "12.16 bits have room"


def test_a_column_is_as_high_and_as_strong_as_its_bits(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    bits = SurpriseMap().bits
    page.mouse.move(1, 1)
    for place in (1, 11, 30, 33, 37):
        assert column(widget, place) == pytest.approx(room(widget) * bits[place - 1] / 10, abs=0.1)
    fill = """(e) => { const parts = getComputedStyle(e).backgroundImage.match(/color\\(srgb[^)]*\\)/g);
      return Number(parts.at(-1).match(/[\\d.]+/g)[2]); }"""  # how much blue is left of the white
    paleness = {cost: widget.locator(".map-letter").nth(i + 1).evaluate(fill) for i, cost in enumerate(bits)}
    told = [paleness[cost] for cost in sorted(paleness)]
    assert told == sorted(told, reverse=True) and len(set(told)) > 30


@pytest.mark.parametrize("width", [320, 390, 720])
def test_a_bit_is_as_high_in_every_text_and_a_line_says_what_a_blind_guess_costs(
    opened: tuple[Page, Record], tmp_path: Path, width: int
) -> None:
    page, _ = opened
    page.set_viewport_size({"width": width, "height": 1000})
    widget = show(page, tmp_path)
    heights, lines = [], []
    for text in (SurpriseMap().text, "tom", "quixotl", "christopher robin"):
        widget.get_by_label("Your own text").fill(text)
        page.mouse.move(1, 1)
        bits = SurpriseMap(text=text).bits
        highest = bits.index(max(bits))
        heights.append(column(widget, highest + 1) / bits[highest])
        letter = widget.locator(".map-letter").nth(1)
        foot = room(widget)
        lines.append(foot - letter.evaluate("(e) => parseFloat(getComputedStyle(e, '::before').top)"))
        label, page_box = widget.locator(".map-blind").bounding_box(), widget.locator(".map-page").bounding_box()
        assert label and page_box and label["y"] + label["height"] <= page_box["y"], "over all columns"
        assert label["x"] + label["width"] <= width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert heights == pytest.approx([heights[0]] * 4, rel=0.02)
    assert lines == pytest.approx([heights[0] * math.log2(27)] * 4, abs=0.5)


def test_the_letters_that_the_headline_speaks_of_are_bold(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    bold = "(all) => all.filter((e) => getComputedStyle(e).fontWeight === '700').map((e) => e.textContent).join('')"
    letters = widget.locator(".map-letter")
    assert letters.evaluate_all(bold) == "smeiatfiptr"
    text, bits = SurpriseMap().text, SurpriseMap().bits
    kinds: dict[str, list[float]] = {"first letters": [], "later": [], "spaces": []}
    for place in range(1, len(text)):
        kind = "spaces" if text[place] == " " else "first letters" if text[place - 1] == " " else "later"
        kinds[kind].append(bits[place - 1])
    told = " ".join(f"{kind} {sum(costs) / len(costs):.1f}" for kind, costs in kinds.items())
    expect(widget.locator(".map-kinds")).to_have_text(f"mean bits: {told}")
    tall = "(all) => all.map((e) => parseFloat(getComputedStyle(e, '::before').height))"
    means = [sum(costs) / len(costs) for costs in kinds.values()]
    heights = widget.locator(".map-kind").evaluate_all(tall)
    assert heights == pytest.approx([0.15 * 16 * mean for mean in means], abs=0.1), "the legend has bars too"
    widget.get_by_role("slider", name="Training").press("Home")
    assert letters.evaluate_all(bold) == ""


@pytest.mark.parametrize("width", [800, 1280])
def test_nothing_below_moves_while_a_name_is_typed(browser: Browser, tmp_path: Path, width: int) -> None:
    (tmp_path / "page.html").write_text(whole_page_of(SurpriseMap()), encoding="utf-8")
    with watched_page(browser, width=width, height=900) as (page, record):
        page.goto(f"{tmp_path.as_uri()}/page.html")
        widget = page.locator('.d2lrnn-widget[data-ready="1"]')
        tops = [widget.locator(".map-training").bounding_box()["y"]]
        for text in ("tom", "quixotl", "alexander"):
            widget.get_by_label("Your own text").fill(text)
            tops.append(widget.locator(".map-training").bounding_box()["y"])
        assert max(tops) - min(tops) <= 1
        assert record.errors == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_column_stands_behind_a_letter(
    opened: tuple[Page, Record], tmp_path: Path, theme: Literal["light", "dark"]
) -> None:
    page, _ = opened
    page.emulate_media(color_scheme=theme)
    widget = show(page, tmp_path, SurpriseMap(text="qqqqzzzz"))
    for letter in widget.locator(".map-letter").all()[1:]:
        paints = letter.evaluate("(e) => getComputedStyle(e).backgroundImage")
        room = letter.evaluate("(e) => parseFloat(getComputedStyle(e).paddingTop)")
        *_, line, below = (float(px) for px in re.findall(r"([\d.]+)px", paints))
        assert (line, below) == pytest.approx((room + 1, room + 1), abs=0.1), "it ends on its line"
        assert re.search(r"rgba\(0, 0, 0, 0\) [\d.]+px\)$", paints), "and nothing is under it"


@pytest.mark.parametrize(("width", "rows"), [(360, 2), (390, 2), (1280, 1)])
def test_the_beginnings_text_fills_two_rows_of_a_phone_and_one_of_a_wide_page(
    browser: Browser, tmp_path: Path, width: int, rows: int
) -> None:
    (tmp_path / "page.html").write_text(whole_page_of(SurpriseMap()), encoding="utf-8")
    with watched_page(browser, width=width, height=800) as (page, record):
        page.goto(f"{tmp_path.as_uri()}/page.html")
        widget = page.locator('.d2lrnn-widget[data-ready="1"]')
        tops = widget.locator(".map-letter").evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().top)")
        assert len(set(tops)) == rows
        if rows > 1:
            return
        widget.get_by_role("button", name="No training").click()
        widget.get_by_role("button", name="only rare letters").click()
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
    box, lead = widget.get_by_label("Your own text"), widget.locator(".d2lrnn-lead")
    expect(box).to_have_value("")
    expect(lead).to_contain_text("a line that is new to it")
    box.fill("phoebe")
    expect(lead).to_have_text("A network guesses this text, letter by letter. A high bar is a surprise: tap a letter.")
    widget.get_by_role("button", name="Reset").click()
    expect(box).to_have_value("")
    expect(widget.locator(".map-letter")).to_have_count(len(SurpriseMap().text))


@pytest.mark.parametrize("text", [SurpriseMap().text, "quixotl"])
@pytest.mark.parametrize("width", [360, 390, 600, 720, 1280])
def test_nothing_moves_while_it_learns(browser: Browser, tmp_path: Path, width: int, text: str) -> None:
    with watched_page(browser, width=width, height=1000) as (page, record):
        widget = show(page, tmp_path, SurpriseMap(text=text))
        places = set()
        for key in ("Home", "ArrowRight", "ArrowRight", "ArrowRight"):
            widget.get_by_role("slider", name="Training").press(key)
            places.add(widget.locator(".map-own").bounding_box()["y"])
        keys = widget.get_by_role("slider", name="Letter")
        keys.press("Home")
        for _ in text[1:]:  # nor whichever letter is told
            keys.press("ArrowRight")
            places.add(widget.locator(".map-own").bounding_box()["y"])
        assert len(places) == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert record.errors == []


def test_the_text_box_has_the_focus_ring_of_all(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    box = widget.get_by_label("Your own text")
    box.focus()
    assert box.evaluate("(e) => getComputedStyle(e).outlineColor") == "rgb(0, 114, 178)"


def test_a_phone_shows_control_and_effect_on_one_screen(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=390, height=800) as (page, record):
        widget = show(page, tmp_path)
        assert widget.locator(".d2lrnn-step-titles").bounding_box()["y"] - widget.bounding_box()["y"] <= 700
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert record.errors == []
