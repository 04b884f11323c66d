"""The surprise map in a page: the page pales, letters are pointed at, tapped and walked, steps ask before they show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import SurpriseMap
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


def test_it_opens_on_the_letter_with_most_bits(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    shown = SurpriseMap()
    widget = show(page, tmp_path, shown)
    most = max(range(len(shown.bits)), key=shown.bits.__getitem__) + 1
    context = shown.text[max(0, most - 12) : most]
    expect(widget.locator(DETAIL)).to_contain_text(f"After “{context}” it gave {shown.text[most]} the probability")
    expect(widget.locator(".map-here")).to_have_count(1)


def test_letters_are_pointed_at_tapped_and_walked(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, SurpriseMap(text="the tide clock"))
    before = widget.locator(DETAIL).inner_text()
    letter = widget.locator(".map-letter")
    letter.nth(1).hover()
    expect(widget.locator(DETAIL)).to_contain_text("After “t” it gave h")
    page.mouse.move(1, 1)
    expect(widget.locator(DETAIL)).to_have_text(before)
    letter.nth(4).click()
    page.mouse.move(1, 1)
    expect(widget.locator(DETAIL)).to_contain_text("After “the ” it gave t")
    keys = widget.get_by_role("slider", name="Letter")
    keys.focus()
    page.keyboard.press("ArrowRight")
    expect(widget.locator(DETAIL)).to_contain_text("After “the t” it gave i")
    expect(keys).to_have_attribute("aria-valuetext", re.compile(r"^i, \d\.\d\d bits$"))
    assert letter.nth(5).evaluate("(e) => getComputedStyle(e).outlineWidth") == "3px", "the focus is seen"
    letter.nth(0).click()  # it is given, not guessed
    page.mouse.move(1, 1)
    expect(widget.locator(DETAIL)).to_contain_text("After “the t” it gave i")


def test_the_page_pales_along_the_training(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    training = widget.get_by_role("slider", name="four moments of the training")
    training.focus()
    page.keyboard.press("Home")
    expect(widget.locator(NOW)).to_contain_text("Before its training the network pays 4.81 bits")
    levels = [darkness(widget)]
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        levels.append(darkness(widget))
    assert levels == sorted(levels, reverse=True) and levels[0] > 2 * levels[-1]
    expect(widget.locator(NOW)).to_contain_text("as unsure as among 3.38 letters, less than the 28.11 before training")


def test_it_plays_the_training_and_a_hand_stops_it(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    widget.get_by_role("button", name="Watch it learn").click()
    expect(widget.locator(NOW)).to_contain_text("Before its training")
    expect(widget.locator(NOW)).to_contain_text("After 300 updates")
    expect(widget.locator(NOW)).to_contain_text("3.38")
    widget.get_by_role("button", name="Watch it learn").click()
    expect(widget.locator(NOW)).to_contain_text("Before its training")
    widget.get_by_label("Your own text").fill("quixotl")
    expect(widget.locator(NOW)).to_contain_text("85.69 letters, more than the 28.90 before training")
    page.wait_for_timeout(2000)
    expect(widget.locator(NOW)).to_contain_text("85.69")


def test_it_plays_once_by_itself_when_seen(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser) as (page, record):
        widget = show(page, tmp_path)
        expect(widget.locator(NOW)).to_contain_text("Before its training")
        expect(widget.locator(NOW)).to_contain_text("3.38")
        page.wait_for_timeout(1500)
        expect(widget.locator(NOW)).to_contain_text("3.38")
        assert record.errors == []


STEPS = [
    ("Where the bits are", "inside words", "3.32 bits, as among 10 letters; a later letter costs 1.64, a space 0.51."),
    ("A made-up word", "even more", "Yes. Perplexity 28.90 before the training, 85.69 after it. The trained"),
]


@pytest.mark.parametrize(("title", "guess", "told"), STEPS)
def test_a_step_asks_first_and_shows_then(
    opened: tuple[Page, Record], tmp_path: Path, title: str, guess: str, told: str
) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    before = widget.locator(NOW).inner_text()
    widget.get_by_role("button", name=title).click()
    expect(widget.locator(NOW)).to_contain_text("Before its training")
    expect(widget.locator(".d2lrnn-outcome")).to_be_hidden()
    widget.get_by_role("button", name=guess).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text(told)
    expect(widget.locator(NOW)).to_contain_text("After")
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
    expect(widget.get_by_text("Only the letters a to z and spaces are read: 8 left out.")).to_be_visible()
    box.fill("the tide clock " * 50)
    expect(widget.get_by_text("left out")).to_be_hidden()
    expect(scroll).to_be_visible()
    keys = widget.get_by_role("slider", name="Letter")
    keys.press("End")
    expect(scroll).to_be_hidden()
    expect(widget.locator(".map-here")).to_be_in_viewport()
    keys.press("Home")
    expect(scroll).to_be_visible()
    box.fill("q" * 12)
    expect(widget.locator(DETAIL)).to_contain_text("the probability 1 in ")
    widget.get_by_role("button", name="Reset").click()
    expect(widget.get_by_text("left out")).to_be_hidden()


def test_the_third_step_takes_the_readers_own_name(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    widget.get_by_role("button", name="Your name").click()
    widget.get_by_label("Your own text").fill("Zdzisław")
    widget.get_by_role("button", name="no", exact=True).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("“zdzis aw”: perplexity")
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("The trained network is more surprised")


def test_the_costs_are_folded_away_and_say_what_is_counted(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, SurpriseMap(text="phoebe"))
    expect(widget.locator(".map-costs")).to_be_hidden()
    widget.locator("summary").click()
    expect(widget.locator(".map-costs")).to_contain_text("As plain text 5 bytes, one for each letter that is guessed.")
    expect(widget.locator("tbody tr")).to_have_count(4)
    widget.get_by_label("Your own text").fill("")
    expect(widget.locator(NOW)).to_contain_text("Type at least two letters")
    expect(widget.locator("tbody td").first).to_have_text("\u2013")


def test_the_text_box_has_the_focus_ring_of_all(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    box = widget.get_by_label("Your own text")
    box.focus()
    assert box.evaluate("(e) => getComputedStyle(e).outlineColor") == "rgb(0, 114, 178)"
