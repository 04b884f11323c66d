"""The surprise map in a page: the page pales, letters are pointed at, tapped and walked, steps ask before they show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import SurpriseMap
from d2lrnn.widgets.page import page_of as whole_page_of
from pages import page_of
from watching import Record, watched_page

pytestmark = pytest.mark.browser

NOW, DETAIL = ".d2lrnn-now", ".map-detail"


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=720, height=1000) as (page, record):
        page.emulate_media(reduced_motion="reduce")  # else it plays by itself at first
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


def test_it_opens_on_a_letter_that_the_training_makes_easy(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    expect(widget.locator(DETAIL)).to_have_text("After “…the␣feelin” it gave 4.2% to g: 4.58 bits.")
    guesses = widget.locator(".map-tops")
    label = re.compile(r"^Its top guesses: q\s5\.2%, f\s4\.9%, k\s4\.7%\. Of 27, g is guess 5\.$")
    expect(guesses).to_have_attribute("aria-label", label)
    assert guesses.locator(".map-guess").all_inner_texts() == ["1. q 5.2%", "2. f 4.9%", "3. k 4.7%", "5. g 4.2%"]
    expect(guesses.locator(".map-real")).to_have_text("5. g 4.2%")
    expect(widget.locator(".map-here")).to_have_count(1)
    widget.get_by_role("slider", name="Training").press("End")
    expect(widget.locator(DETAIL)).to_have_text("After “…the␣feelin” it gave 98% to g: 0.03 bits.")


def test_a_letter_that_costs_more_than_before_says_why(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, SurpriseMap(stage="trained", place=37))
    told = "After “…feeling␣i␣” it gave 2.8% to p: 5.18 bits. Before training: 4.66."
    expect(widget.locator(DETAIL)).to_have_text(told)
    widget.locator(".map-letter").nth(6).click()
    expect(widget.locator(DETAIL)).to_contain_text(" to a space: ")
    expect(widget.locator(DETAIL)).not_to_contain_text("Before")


def test_letters_are_pointed_at_tapped_and_walked(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, SurpriseMap(text="the tide clock"))
    before = widget.locator(DETAIL).inner_text()
    letter = widget.locator(".map-letter")
    letter.nth(1).hover()
    expect(widget.locator(DETAIL)).to_have_text(re.compile(r"^After “t” it gave .+ to h: "))
    page.mouse.move(1, 1)
    expect(widget.locator(DETAIL)).to_have_text(before)
    letter.nth(4).click()
    page.mouse.move(1, 1)
    expect(widget.locator(DETAIL)).to_have_text(re.compile(r"^After “the␣” it gave .+ to t: "))
    keys = widget.get_by_role("slider", name="Letter")
    keys.focus()
    page.keyboard.press("ArrowRight")
    expect(widget.locator(DETAIL)).to_have_text(re.compile(r"^After “the␣t” it gave .+ to i: "))
    expect(keys).to_have_attribute("aria-valuetext", re.compile(r"^i, \d\.\d\d bits$"))
    assert letter.nth(5).locator(".map-glyph").evaluate("(e) => getComputedStyle(e).outlineWidth") == "3px", (
        "the focus is seen"
    )
    letter.nth(0).click()  # it is given, not guessed
    expect(widget.locator(DETAIL)).to_have_text("The first letter, t, is given: no network has to guess it.")
    page.mouse.move(1, 1)
    expect(widget.locator(DETAIL)).to_have_text(re.compile(r"^After “the␣t” it gave .+ to i: "))
    letter.nth(8).click()
    page.keyboard.press("ArrowLeft")  # the keys go on from the letter that was clicked
    expect(widget.locator(DETAIL)).to_have_text(re.compile(r"^After “the␣tid” it gave .+ to e: "))


def test_the_page_pales_along_the_training(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    training = widget.get_by_role("slider", name="Training on a story: updates")
    training.focus()
    page.keyboard.press("Home")
    expect(widget.locator(NOW)).to_have_text("Before training: 4.81 bits a letter, like choosing among 28.1.")
    levels = [darkness(widget)]
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        levels.append(darkness(widget))
    assert levels == sorted(levels, reverse=True) and levels[0] > 2 * levels[-1]
    expect(widget.locator(NOW)).to_contain_text("1.99 bits a letter, like choosing among 4.0.")


def test_it_plays_the_training_and_a_hand_stops_it(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    widget.get_by_role("button", name="Watch it learn").click()  # from before training it moves on at once
    expect(widget.locator(NOW)).to_contain_text("After 40 updates: 4.11 bits a letter", timeout=1000)
    expect(widget.locator(NOW)).to_contain_text("After 300 updates", timeout=9000)
    widget.get_by_role("button", name="Pause").click()
    page.wait_for_timeout(3500)
    expect(widget.locator(NOW)).to_contain_text("After 300 updates")
    widget.get_by_role("button", name="Watch it learn").click()  # it goes on
    expect(widget.locator(NOW)).to_contain_text("4.0")
    expect(widget.locator(NOW)).to_contain_text("1.99 bits a letter", timeout=9000)
    expect(widget.get_by_role("button", name="Pause")).to_have_count(0, timeout=1000)  # at the end nothing is to pause
    widget.get_by_role("button", name="Again").click()
    expect(widget.locator(NOW)).to_contain_text("Before training: 4.81")
    widget.get_by_label("Your own text").fill("quixotl")
    expect(widget.locator(NOW)).to_have_text("6.42 bits a letter, like choosing among 85.7: worse than blind.")
    page.wait_for_timeout(3500)
    expect(widget.locator(NOW)).to_contain_text("85.7")


def test_one_letter_stays_framed_while_the_training_plays(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    framed = "(e) => [...e.querySelectorAll('.map-letter')].findIndex((x) => x.classList.contains('map-here'))"
    at = widget.evaluate(framed)
    for stage in ("Home", "ArrowRight", "ArrowRight"):
        widget.get_by_role("slider", name="updates").press(stage)
        assert widget.evaluate(framed) == at


def test_a_short_text_is_written_large(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    letters, size = widget.locator(".map-letters"), "(e) => parseFloat(getComputedStyle(e).fontSize)"
    small = letters.evaluate(size)
    widget.get_by_label("Your own text").fill("quixotl")
    assert letters.evaluate(size) > 2 * small
    widget.get_by_role("slider", name="Training").press("End")
    page.mouse.move(1, 1)
    bars = widget.locator(".map-bar")
    tall = [bars.nth(i).bounding_box()["height"] for i in (3, 6)]
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
        "The hardest letters",
        "later letters",
        "No. First letters (full colour): 3.47 bits on average, later ones 1.78, spaces 1.07.",
    ),
    (
        "A made-up word",
        "no, even more",
        "Right. After “quixot” it bets 64% on a space, as if the word ended; the l costs 12.16",
    ),
]


@pytest.mark.parametrize(("title", "guess", "told"), STEPS)
def test_a_step_asks_first_and_shows_then(
    opened: tuple[Page, Record], tmp_path: Path, title: str, guess: str, told: str
) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    before = widget.locator(NOW).inner_text()
    widget.get_by_role("slider", name="Training").press("End")
    widget.get_by_role("button", name=title).click()
    expect(widget.locator(NOW)).to_contain_text("Before training")
    expect(widget.locator(".d2lrnn-outcome")).to_be_hidden()
    widget.get_by_role("button", name=guess).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text(told)
    expect(widget.locator(NOW)).not_to_contain_text("Before training")
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(NOW)).to_have_text(before)


def test_an_answer_lets_the_letters_it_is_about_stand_out(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    text = SurpriseMap().text
    first = [i for i in range(1, len(text)) if text[i] != " " and text[i - 1] == " "]
    strong = """(all) => all.flatMap((e, i) => (i > 0 && getComputedStyle(e).opacity === "1" ? [i] : []))"""
    widget.get_by_role("button", name="The hardest letters").click()
    assert len(widget.locator(".map-bar").evaluate_all(strong)) == len(text) - 1
    widget.get_by_role("button", name="first letters of words").click()
    page.wait_for_timeout(600)
    assert widget.locator(".map-bar").evaluate_all(strong) == first
    widget.get_by_role("slider", name="Training").press("Home")
    page.wait_for_timeout(600)
    assert len(widget.locator(".map-bar").evaluate_all(strong)) == len(text) - 1


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
    assert widget.locator(".map-glyph").all_inner_texts() == ["z", "o", "e"]
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
    expect(widget.locator(DETAIL)).to_contain_text("it gave 1 in ")
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
        "Right. “zdzislaw”: like choosing among 26.4 before training, among 1\u202f105 now. It expects what it has"
    )
    box.fill("ming")  # another name: the question is asked again
    expect(told).to_be_hidden()
    expect(widget.locator(NOW)).to_contain_text("Before training")
    widget.get_by_role("button", name="no, more").click()
    expect(told).to_contain_text("No. “ming”: like choosing among 23.8 before training, among 4.7 now.")
    expect(told).to_contain_text("Its letters follow each other as in the story")
    expect(widget.locator(".d2lrnn-right")).to_have_text("yes, less")
    box.fill("alexander")
    widget.get_by_role("button", name="about the same").click()
    expect(told).to_contain_text("Right. “alexander”: like choosing among 27.1 before training, among 26.7 now.")
    expect(told).to_contain_text("the x after “ale” cost most, 15.33 bits.")
    expect(widget.locator(DETAIL)).to_have_text(re.compile(r"^After “ale” it gave .+ to x: "))  # the frame goes to it
    widget.get_by_role("button", name="A made-up word").click()
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


def test_a_question_is_drawn_on_a_scale_that_gives_no_answer_away(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    ten = "(e) => e.style.getPropertyValue('--map-ten')"
    widget.get_by_role("button", name="A made-up word").click()
    assert widget.locator(".map-letters").evaluate(ten) == "1.000"
    widget.get_by_role("button", name="no, even more").click()
    assert widget.locator(".map-letters").evaluate(ten) == "0.769", "the highest bar, 12.16 bits, has room"


@pytest.mark.parametrize("width", [360, 390, 720])
def test_the_lines_are_named_at_the_edge_and_given_touches_no_bar(browser: Browser, tmp_path: Path, width: int) -> None:
    with watched_page(browser, width=width, height=900) as (page, record):
        for text in ("phoebe", "fatima nguyen", SurpriseMap().text):
            widget = show(page, tmp_path, SurpriseMap(text=text))
            note = widget.locator(".map-note > span").bounding_box()
            bar = widget.locator(".map-bar").nth(1).bounding_box()
            assert note["x"] + note["width"] <= bar["x"] + 0.5, text
            first, edge = (
                widget.locator(".map-letter").first.bounding_box(),
                widget.locator(".map-letters").bounding_box(),
            )
            assert first["x"] - edge["x"] < 30, "the names of the lines stand left of the first letter"
        assert record.errors == []


# Of every row: how high its line stands, as a share of the highest bar; whether it crosses the row; its style.
BLIND = """(e) => [...e.querySelectorAll(".map-row")].map((row) => {
  const line = getComputedStyle(row, "::after"), bar = getComputedStyle(row.querySelector(".map-bar"));
  const height = parseFloat(line.bottom) + parseFloat(line.borderTopWidth) / 2 - parseFloat(bar.bottom);
  const isWide = row.offsetLeft + parseFloat(line.width) >= e.querySelector(".map-letters").clientWidth;
  return [height / parseFloat(bar.height), isWide, line.borderTopStyle]; })"""


@pytest.mark.parametrize(("text", "scale"), [(SurpriseMap().text, 10), ("quixotl", 13)])
def test_a_blind_guess_is_a_line_before_the_bars_of_every_row(
    opened: tuple[Page, Record], tmp_path: Path, text: str, scale: int
) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 390, "height": 900})
    widget = show(page, tmp_path, SurpriseMap(text=text, stage="trained"))
    expect(widget.locator(".map-key")).to_have_text("a blind guess among 27: 4.75 bits")
    rows = widget.evaluate(BLIND)
    assert len(rows) == (1 if text == "quixotl" else 2)
    for share, is_wide, style in rows:
        assert scale * share == pytest.approx(4.75, abs=0.1) and is_wide and style == "solid"
    name = "(all) => all.map((e) => getComputedStyle(e.querySelector('.map-glyph'), '::before').content)"
    assert set(widget.locator(".map-row").evaluate_all(name)) == {'"4.75"'}
    # the framed letter, too, lies behind it
    front = widget.locator(".map-row").first.evaluate("(e) => Number(getComputedStyle(e, '::after').zIndex)")
    assert front > widget.locator(".map-here").evaluate("(e) => Number(getComputedStyle(e).zIndex)")


def test_a_bar_is_as_strong_as_any_other_and_its_height_alone_tells(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path, SurpriseMap(stage="trained"))
    colours = "(all) => [...new Set(all.slice(1).map((e) => getComputedStyle(e).backgroundColor))]"
    assert len(widget.locator(".map-bar").evaluate_all(colours)) == 1


@pytest.mark.parametrize("width", [320, 360, 390, 720])
def test_every_guess_has_room_for_its_rank(browser: Browser, tmp_path: Path, width: int) -> None:
    with watched_page(browser, width=width, height=900) as (page, record):
        widget = show(page, tmp_path, SurpriseMap(text="quixotl", stage="trained"))
        expect(widget.locator(".map-real")).to_have_text("20. l <0.1%")
        room = "(all) => all.map((e) => e.getBoundingClientRect().right - e.firstChild.getBoundingClientRect().right)"
        assert min(widget.locator(".map-guess").evaluate_all(room)) >= 0
        assert record.errors == []


def test_on_a_wide_page_the_beginnings_text_is_one_row(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(whole_page_of(SurpriseMap()), encoding="utf-8")
    with watched_page(browser, width=1280, height=800) as (page, record):
        page.goto(f"{tmp_path.as_uri()}/page.html")
        widget = page.locator('.d2lrnn-widget[data-ready="1"]')
        expect(widget.locator(".map-row")).to_have_count(1)
        widget.get_by_role("button", name="The hardest letters").click()
        widget.get_by_role("button", name="later letters").click()
        assert widget.locator(".d2lrnn-shape").bounding_box()["height"] <= 768, "the answer stands on the same screen"
        assert record.errors == []


def test_every_row_of_the_text_has_its_lines_named(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, SurpriseMap(text=f"{SurpriseMap().text} to eleven"))
    tops = widget.locator(".map-letter").evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().top)")
    assert len(set(tops)) > 1
    expect(widget.locator(".map-row")).to_have_count(len(set(tops)))
    page.set_viewport_size({"width": 360, "height": 800})
    expect(widget.locator(".map-row")).not_to_have_count(len(set(tops)))


def test_an_open_question_stays_while_a_hand_looks_for_its_answer(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    question, table = widget.locator(".d2lrnn-question"), widget.locator("summary")
    widget.get_by_role("button", name="A made-up word").click()
    for look in (
        lambda: widget.get_by_role("slider", name="Training").press("End"),
        lambda: widget.get_by_role("button", name="Again").click(),
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
    expect(lead).to_contain_text("lines that are new to it")
    box.fill("phoebe")
    expect(lead).to_have_text("A network guesses each next letter of this text.")
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
        assert len(places) == 1
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
