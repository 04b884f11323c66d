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
        expect(widget.locator(".gates-cost b").first).to_have_text(f"{2**python.bits:.1f}")


def bars(widget: Locator, kind: str) -> list[float]:
    """The heights of the bars of a kind."""
    drawn = widget.locator(f".gates-field path.{kind}").first.get_attribute("d")
    return [-float(height) for height in re.findall(r"v(-[\d.]+)h", drawn)]


def letter(widget: Locator) -> Locator:
    return widget.get_by_role("slider", name="letter")


def unit(widget: Locator) -> Locator:
    return widget.get_by_role("slider", name="unit", exact=True)


def bias(widget: Locator) -> Locator:
    return widget.get_by_role("slider", name=re.compile("forget bias"))


def press_at(page: Page, node: Locator, x: float, y: float) -> None:
    node.scroll_into_view_if_needed()
    box = node.bounding_box()
    page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])


def test_it_opens_with_the_numbers_of_python(widget: Locator) -> None:
    says(widget)
    python = Gates()
    expect(widget.locator(".gates-letters span")).to_have_count(len(python.text))
    assert bars(widget, "gates-left") == pytest.approx(python._left(), abs=0.0006)
    gates = python.forget_gates[:, 18].tolist()
    assert bars(widget, "gates-open") == pytest.approx(gates[6:], abs=0.0006)
    expect(widget.get_by_text("1.00 × 0.96 × 0.87 × 0.06 gives 5%.")).to_be_visible()  # noqa: RUF001
    expect(widget.locator(".gates-mark")).to_have_text("5% left")
    assert widget.locator(".gates-ghost").first.get_attribute("d") == ""
    expect(widget.locator(".d2lrnn-fold")).not_to_have_attribute("open", "")


def test_control_and_effect_fit_in_one_phone_screen(widget: Locator) -> None:
    top, bottom = widget.bounding_box()["y"], widget.locator(".d2lrnn-step-titles").bounding_box()["y"]
    assert bottom - top < 720


def test_a_letter_is_chosen_by_a_tap_a_drag_and_the_keys(opened: tuple[Page, Record], widget: Locator) -> None:
    page, _ = opened
    press_at(page, widget.locator(".gates-chart"), 10.5 / 35, 0.5)
    says(widget, place=11)
    box = widget.locator(".gates-chart").bounding_box()
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


def test_a_finger_goes_from_letter_to_letter_by_two_arrows(widget: Locator) -> None:
    later = widget.get_by_role("button", name="letter after")
    box = later.bounding_box()
    assert box["width"] >= 44 and box["height"] >= 36
    later.click()
    says(widget, place=7)
    for _ in range(9):
        widget.get_by_role("button", name="letter before").click()
    says(widget, place=1)


def test_the_first_bar_under_half_is_marked(widget: Locator) -> None:
    outline = widget.locator(".gates-hit").get_attribute("d")
    assert outline.startswith("M9.08 ")
    letter(widget).press("End")
    assert widget.locator(".gates-hit").get_attribute("d") == ""


def test_a_unit_is_chosen_among_a_dozen_and_by_the_keys(opened: tuple[Page, Record], widget: Locator) -> None:
    page, _ = opened
    widget.locator("summary").click()
    expect(widget.locator(".gates-units span")).to_have_count(12)
    press_at(page, widget.locator(".gates-map"), 0.2, 0.5 / 12)
    says(widget, unit=16)
    expect(unit(widget)).to_have_attribute("aria-valuenow", "0")
    unit(widget).press("ArrowDown")
    chosen = int(re.search(r"Unit (\d+)", widget.locator(".d2lrnn-now").inner_text())[1])
    assert chosen != 16
    says(widget, unit=chosen)
    unit(widget).press("End")
    expect(unit(widget)).to_have_attribute("aria-valuenow", "11")


def test_the_bias_changes_gates_and_bars_beside_those_that_were_trained(widget: Locator) -> None:
    before = bars(widget, "gates-left")
    for _ in range(4):
        bias(widget).press("ArrowRight")
    says(widget, bias=2.0)
    assert bars(widget, "gates-left") == pytest.approx(Gates(bias=2.0)._left(), abs=0.0006)
    ghost = widget.locator(".gates-ghost").first.get_attribute("d")
    edges = [1 - float(y) for y in re.findall(r"(?:M5 |V)([\d.]+)H", ghost)]
    assert edges == pytest.approx(before, abs=0.001)
    expect(widget.locator(".gates-keys").get_by_text("as trained")).to_be_visible()
    expect(widget.locator(".gates-cost")).to_contain_text("as trained: 3.7")
    expect(widget.locator(".gates-cost")).to_contain_text("Fewer is better; blind guessing: 27.")
    bias(widget).press("End")
    expect(widget.locator(".gates-cost")).to_contain_text("among 36.0 letters")
    expect(widget.locator(".gates-cost")).to_contain_text("That is worse than blind guessing: 27.")
    bias(widget).press("Home")
    says(widget, bias=-4.0)
    expect(widget.get_by_role("status")).to_contain_text("Less than half is left after 1 character: 47%.")


def test_a_text_of_ones_own(widget: Locator) -> None:
    widget.locator("summary").click()
    field = widget.get_by_label("Another text")
    field.fill("A <b>boat</b>")
    says(widget, text="a b boat b ")
    field.fill("")
    says(widget, text="")
    expect(unit(widget)).to_be_hidden()
    field.fill("z")
    says(widget, text="z")
    assert bars(widget, "gates-left") == []
    expect(widget.locator(".gates-mark")).to_have_text("nothing to follow yet")
    lost = widget.get_by_text("other signs")
    expect(lost).to_be_hidden()
    field.fill("tide, 42!")
    expect(lost).to_contain_text("Only the letters a to z and spaces are read; 4 other")
    widget.get_by_role("button", name="Reset").click()
    says(widget)
    expect(field).to_have_value(Gates().text)
    expect(lost).to_be_hidden()


def test_without_a_text_the_field_for_one_stands_open(opened: tuple[Page, Record], tmp_path: Path) -> None:
    widget = show(opened[0], tmp_path, text="")
    expect(widget.get_by_label("Another text")).to_be_visible()
    expect(widget.locator(".d2lrnn-now")).to_have_text("Type at least two letters, or press Reset.")


@pytest.mark.parametrize(
    "title, right, state, outcome",
    [
        ("A longer memory", "after 10 or more", {"bias": 2.0}, "Right. After 13 characters."),
        ("Better predictions?", "worse", {"bias": 2.0}, "Right. Guessing is like choosing among 6.3 letters instead"),
        (
            "Do all forget?",
            "some keep it",
            {"unit": 16, "place": 9},
            "Right. At spaces, unit 18 (dashed) keeps 4% on average, unit 16 over 99%. "
            "Unit 16 passes 4 spaces and forgets at the i of “given”.",
        ),
    ],
)
def test_a_guess_comes_before_the_answer(
    widget: Locator, title: str, right: str, state: dict[str, object], outcome: str
) -> None:
    letter(widget).press("End")
    widget.get_by_role("button", name=title).click()
    says(widget, place=9 if "unit" in state else 6)  # the figure as the question finds it
    expect(widget.locator(".d2lrnn-outcome")).to_be_hidden()
    expect(widget.locator(".gates-cost")).to_be_hidden()
    widget.get_by_role("button", name=right, exact=True).click()
    cost = expect(widget.locator(".gates-cost"))
    if title == "A longer memory":
        cost.to_be_hidden()  # it is the answer to the next question
    else:
        cost.to_be_visible()
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
