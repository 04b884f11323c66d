"""The explorable Gates on a page without a kernel: letters, units, the forget bias, the guided steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import Gates
from pages import page_of
from watching import Record, watched_page

pytestmark = pytest.mark.browser


def show(page: Page, folder: Path, fragment: str = "", **given: object) -> Locator:
    (folder / "page.html").write_text(page_of(Gates(**given)), encoding="utf-8")
    page.goto(f"{folder.as_uri()}/page.html{fragment}")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(1)
    return page.locator(".d2lrnn-widget")


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=390, height=900) as (page, record):
        yield page, record
        assert record.errors == [] and record.outside == []


@pytest.fixture
def widget(opened: tuple[Page, Record], tmp_path: Path) -> Locator:
    return show(opened[0], tmp_path)


def says(widget: Locator, **given: object) -> None:
    """The sentence, and the surprisal, are Python's."""
    python = Gates(**given)
    expect(widget.locator(".d2lrnn-now")).to_have_text(python._now())
    if len(python.text) > 1:
        expect(widget.locator(".gates-cost b").first).to_have_text(f"{python.bits:.2f}")


def letter(widget: Locator) -> Locator:
    return widget.get_by_role("slider", name="letter")


def unit(widget: Locator) -> Locator:
    return widget.get_by_role("slider", name="unit", exact=True)


def bias(widget: Locator) -> Locator:
    return widget.get_by_role("slider", name=re.compile("forget bias"))


def press_at(page: Page, node: Locator, x: float, y: float) -> None:
    box = node.bounding_box()
    page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])


def test_it_opens_with_the_numbers_of_python(widget: Locator) -> None:
    says(widget)
    expect(widget.locator(".gates-letters span")).to_have_count(len(Gates().text))
    expect(widget.locator(".gates-stream")).to_have_count(len(Gates().text))
    read = Gates()._read()
    shown = widget.locator(".gates-term b").all_inner_texts()
    expected = [float(read[kind][5, 18]) for kind in ("forget", "input", "candidate", "cell")]
    found = [float(text.replace("\u2212", "-")) for text in (shown[1], shown[3], shown[4], shown[5])]
    assert shown[0] == "w" and found == pytest.approx(expected, abs=0.0051)


def test_control_and_effect_fit_in_one_phone_screen(widget: Locator) -> None:
    top, bottom = widget.bounding_box()["y"], widget.locator(".d2lrnn-step-titles").bounding_box()["y"]
    assert bottom - top < 720


def test_a_letter_is_chosen_by_a_tap_a_drag_and_the_keys(opened: tuple[Page, Record], widget: Locator) -> None:
    page, _ = opened
    press_at(page, widget.locator(".gates-river"), 10.5 / 35, 0.5)
    says(widget, place=11)
    box = widget.locator(".gates-river").bounding_box()
    page.mouse.move(box["x"] + 0.1 * box["width"], box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 34.9 / 35 * box["width"], box["y"] + 40, steps=5)
    page.mouse.up()
    says(widget, place=35)
    letter(widget).press("ArrowLeft")
    says(widget, place=34)
    letter(widget).press("Home")
    says(widget, place=1)
    expect(letter(widget)).to_have_attribute("aria-valuetext", re.compile("^the k of “kept”: forget gate 0.07, cell "))


def test_a_unit_is_chosen_on_the_map_and_by_the_keys(opened: tuple[Page, Record], widget: Locator) -> None:
    page, _ = opened
    press_at(page, widget.locator(".gates-map"), 5.5 / 35, 0.5 / 32)
    says(widget, unit=16)
    expect(unit(widget)).to_have_attribute("aria-valuenow", "0")
    unit(widget).press("ArrowDown")
    chosen = int(re.search(r"unit (\d+)", widget.locator(".d2lrnn-now").inner_text())[1])
    assert chosen != 16
    says(widget, unit=chosen)
    unit(widget).press("End")
    expect(unit(widget)).to_have_attribute("aria-valuenow", "31")


def test_the_bias_changes_gates_half_life_and_surprisal(widget: Locator) -> None:
    before = widget.locator(".gates-open").get_attribute("d")
    for _ in range(4):
        bias(widget).press("ArrowRight")
    says(widget, bias=2.0)
    assert widget.locator(".gates-open").get_attribute("d") != before
    expect(widget.locator(".gates-cost")).to_contain_text("instead of 1.88")
    bias(widget).press("Home")
    says(widget, bias=-4.0)
    expect(widget.get_by_role("status")).to_contain_text("The text costs 3.50 bits a letter")


def test_a_text_of_ones_own(widget: Locator) -> None:
    widget.get_by_text("More", exact=True).click()
    field = widget.get_by_label("Another text")
    field.fill("A <b>boat</b>")
    says(widget, text="a b boat b ")
    field.fill("")
    says(widget, text="")
    field.fill("z")
    says(widget, text="z")
    widget.get_by_role("button", name="Reset").click()
    says(widget)
    expect(field).to_have_value(Gates().text)


@pytest.mark.parametrize(
    "title, right, state, outcome",
    [
        ("A longer memory", "after 10 or more", {"bias": 2.0}, "Yes. After 13 letters."),
        ("Better predictions?", "worse", {"bias": 2.0}, "Yes. 1.88 bits a letter became 2.65."),
        ("Do all let go?", "some keep on", {"unit": 16, "place": 9}, "Yes. Unit 16 keeps "),
    ],
)
def test_a_guess_comes_before_the_answer(
    widget: Locator, title: str, right: str, state: dict[str, object], outcome: str
) -> None:
    letter(widget).press("End")
    widget.get_by_role("button", name=title).click()
    says(widget)  # the figure as the question finds it
    expect(widget.locator(".d2lrnn-outcome")).to_be_hidden()
    widget.get_by_role("button", name=right, exact=True).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text(outcome)
    says(widget, **state)
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(".d2lrnn-step")).to_be_hidden()
    says(widget)


def test_a_link_sets_the_figure(opened: tuple[Page, Record], tmp_path: Path) -> None:
    widget = show(opened[0], tmp_path, "#explore=Gates&unit=16&bias=-1.5")
    says(widget, unit=16, bias=-1.5)


def test_with_less_movement_the_picture_is_whole_at_once(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=390, height=900) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        widget = show(page, tmp_path)
        page.wait_for_timeout(100)
        assert widget.locator(".gates-water").evaluate("(e) => e.style.clipPath") == ""
        assert record.errors == []
