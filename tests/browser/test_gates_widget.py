"""The explorable Gates on a page without a kernel: letters, units, the forget bias, the guided steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import Gates
from pages import page_of
from watching import Record, watched_page

pytestmark = pytest.mark.browser

KEEP, FORGET = "\u00d71 keep", "\u00d70 forget"


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
    """The line on top, the picture's name and the surprisal are Python's."""
    python = Gates(**given)
    told = re.escape(f"“{python.text}”. {python._now()} ")
    expect(widget.locator(".gates-strips")).to_have_attribute("aria-label", re.compile(told))
    if len(python.text) > 1:
        expect(widget.locator(".d2lrnn-now")).to_have_text(python._now())
        choices = 2**python.bits
        shown = ">1\u202f000" if choices > 1000 else f"{choices:.{1 if choices < 100 else 0}f}"
        expect(widget.locator(".gates-perplexity b")).to_have_text(shown)


def shares(widget: Locator, kind: str) -> list[float]:
    """What the boxes of the unit show: what is `left`, or the `gate`."""
    cells = widget.locator(".gates-cell")
    return [float(x) for x in cells.evaluate_all(f"(all) => all.map((e) => e.style.getPropertyValue('--{kind}'))")]


def button(widget: Locator, name: str) -> Locator:
    return widget.get_by_role("button", name=name, exact=True)


def letter(widget: Locator) -> Locator:
    return widget.get_by_role("slider", name="letter")


def unit(widget: Locator) -> Locator:
    return widget.get_by_role("slider", name="unit", exact=True)


def bias(widget: Locator) -> Locator:
    return widget.get_by_role("slider", name=re.compile("Push the gates"))


def press_at(page: Page, node: Locator, x: float, y: float) -> None:
    node.scroll_into_view_if_needed()
    box = node.bounding_box()
    page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])


def test_it_opens_with_the_numbers_of_python(widget: Locator) -> None:
    says(widget)
    widget.locator("summary").click()
    for unit in (29, 16):
        button(widget, f"Unit {unit}").click()
        says(widget, unit=unit)
        python = Gates(unit=unit)
        assert shares(widget, "left") == pytest.approx([0.0] * 7 + python._left(), abs=0.0006)
        assert shares(widget, "gate") == pytest.approx(python.forget_gates[:, unit].tolist(), abs=0.0006)
        expect(widget.locator(".gates-head")).to_have_text(f"Unit {unit}: what is left of {python._sum()['written']}")
        told = widget.locator(".gates-cell.is-told")
        expect(told).to_have_count(1)
        expect(told.locator("b")).to_have_text({29: "13% left", 16: "94% left"}[unit])
        assert told.get_attribute("style").startswith({29: "--i: 8;", 16: "--i: 17;"}[unit]), "where the line says"
    button(widget, "Unit 29").click()
    expect(widget.locator(".gates-guesses .is-right")).to_have_count(12)
    expect(widget.locator(".gates-cost")).to_have_text("Guesses: 12 of 17 right")
    widget.locator("summary").click()
    numbers = "(all) => all.map((e) => [e.dataset.gate, e.dataset.brief])"
    numbers = widget.locator(".gates-number").evaluate_all(numbers)
    assert [numbers[i] for i in (8, 12)] == [[".13", ".1"], [".01", "0"]]
    expect(widget.locator(".d2lrnn-fold")).not_to_have_attribute("open", "")


def test_control_and_effect_fit_in_one_phone_screen(widget: Locator) -> None:
    top, slider = widget.bounding_box()["y"], widget.locator(".gates-trying").bounding_box()
    assert slider["y"] + slider["height"] - top < 640


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width, height", [(1280, 800), (390, 844)])
def test_an_answered_step_fits_the_screen(
    browser: Browser, tmp_path: Path, width: int, height: int, scheme: str
) -> None:
    with watched_page(browser, width=width, height=height) as (page, record):
        page.emulate_media(color_scheme=scheme)
        widget = show(page, tmp_path)
        for step in range(3):
            page.evaluate("scrollTo(0, 0)")
            widget.locator(".d2lrnn-step-title").nth(step).click()
            widget.locator(".d2lrnn-answers button").first.click()
            expect(widget.locator(".d2lrnn-outcome")).to_be_visible()
            page.wait_for_function(
                "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => true)"
            )
            bottom = widget.locator(".d2lrnn-step").evaluate("(e) => e.getBoundingClientRect().bottom")
            now = widget.locator(".d2lrnn-now").evaluate("(e) => e.getBoundingClientRect().top")
            assert now >= 0 and bottom <= height, (step, now, bottom)
            widget.locator(".d2lrnn-step-title").nth(step).click()
        assert record.errors == []


SMALL = (
    {"place": 1},
    {"place": 17},
    {"spaces": "keep"},
    {"unit": 16, "spaces": "forget"},
    {"unit": 18, "view": "memory"},
    {"text": "a" * 40},
    {"text": "quick", "bias": -4.0},
)


@pytest.mark.parametrize("given", SMALL)
def test_nothing_stands_over_the_edge_of_a_small_phone(
    opened: tuple[Page, Record], tmp_path: Path, given: dict[str, object]
) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 320, "height": 900})
    widget = show(page, tmp_path, **given)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    edge = "(e) => e.getBoundingClientRect().right"
    rights = widget.locator(".gates-cell > b").evaluate_all(f"(all) => all.map({edge})")
    assert max(rights) <= widget.locator(".gates-lines").evaluate(edge) + 1


def test_a_letter_is_chosen_by_a_tap_a_drag_and_the_keys(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    text = "kept what it had been given to keep"
    widget = show(page, tmp_path, text=text)  # two lines on a phone
    tiles, cells = widget.locator(".gates-letters:not(.gates-guesses) > .gates-tile"), widget.locator(".gates-cell")
    tiles.nth(10).click()
    says(widget, text=text, place=11)
    box = cells.nth(4).bounding_box()  # in the picture below
    page.mouse.move(box["x"] + 3, box["y"] + 5)
    page.mouse.down()
    says(widget, text=text, place=5)
    box = tiles.nth(34).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    says(widget, text=text, place=35)
    letter(widget).press("ArrowLeft")
    says(widget, text=text, place=34)
    letter(widget).press("Home")
    says(widget, text=text, place=1)
    expect(letter(widget)).to_have_attribute("aria-valuetext", re.compile("^the k of “kept”: forget gate 0.62, cell "))


def test_a_finger_goes_from_letter_to_letter_by_two_arrows(widget: Locator) -> None:
    later = widget.get_by_role("button", name="letter after")
    box = later.bounding_box()
    assert box["width"] >= 44 and box["height"] >= 36
    later.click()
    says(widget, place=9)
    for _ in range(10):
        widget.get_by_role("button", name="letter before").click()
    says(widget, place=1)


def test_a_unit_is_chosen_among_a_dozen_and_by_the_keys(opened: tuple[Page, Record], widget: Locator) -> None:
    page, _ = opened
    widget.locator("summary").click()
    expect(widget.locator(".gates-units span")).to_have_count(12)
    names = widget.locator(".gates-units").inner_text().split()
    for row in (0, 7, 11):
        press_at(page, widget.locator(".gates-map"), 0.2, (row + 0.5) / 12)
        expect(unit(widget)).to_have_attribute("aria-valuenow", str(row))
        says(widget, unit=int(names[row]))
        assert widget.locator(".gates-units").inner_text().split() == names, "all rows stay where they are"
        expect(widget.locator(".gates-head")).to_contain_text(f"Unit {names[row]}")
    kept = [sum(Gates(unit=unit)._left()) for unit in range(32)]
    assert kept[int(names[0])] == pytest.approx(max(kept), abs=1e-6), "the one that keeps most"
    press_at(page, widget.locator(".gates-map"), 0.2, 1.5 / 12)
    says(widget, unit=int(names[1]))
    unit(widget).press("End")
    expect(unit(widget)).to_have_attribute("aria-valuenow", "11")


def test_a_unit_from_the_fold_keeps_a_button(widget: Locator) -> None:
    widget.locator("summary").click()
    expect(widget.locator(".gates-two button:visible")).to_have_text(["29", "16"])
    unit(widget).press("Home")
    unit(widget).press("ArrowDown")
    chosen = widget.locator(".gates-two [aria-pressed=true]").inner_text()
    assert chosen not in ("29", "16")
    button(widget, "Unit 29").click()
    says(widget)
    button(widget, f"Unit {chosen}").click()
    says(widget, unit=int(chosen))
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(".gates-two button:visible")).to_have_text(["29", "16"])


def test_the_bias_changes_gates_and_guesses_beside_those_that_were_trained(widget: Locator) -> None:
    bias(widget).press("End")
    says(widget, bias=4.0)
    assert shares(widget, "left")[7:] == pytest.approx(Gates(bias=4.0)._left(), abs=0.0006)
    expect(widget.locator(".gates-cost")).to_have_text("Guesses: 5 of 17 right, not 12changed")
    told = "Perplexity of this text: like guessing among 14.7 letters (as trained: 3.4)"
    expect(widget.locator(".gates-perplexity")).to_have_text(told)
    expect(widget.locator(".gates-guesses .is-right")).to_have_count(5)
    bias(widget).press("Home")
    says(widget, bias=-4.0)
    expect(widget.get_by_role("status")).to_contain_text("unit 29 adds")


def test_the_gate_of_a_unit_can_be_held_at_spaces(widget: Locator) -> None:
    changed = widget.locator(".gates-guesses .is-changed")
    expect(changed).to_have_count(0)
    widget.locator("summary").click()
    button(widget, "Unit 16").click()
    forget = button(widget, FORGET)
    forget.click()
    says(widget, unit=16, spaces="forget")
    expect(forget).to_have_attribute("aria-pressed", "true")
    expect(widget.locator(".gates-cell.is-told b")).to_have_text("nothing left")  # times 0
    expect(changed).to_have_text(["e"])
    expect(widget.locator(".gates-cost")).to_have_text("Guesses: 11 of 17 right, not 12changed")
    gates = [Gates(unit=16, spaces=spaces).forget_gates[:, 16].tolist() for spaces in ("trained", "forget")]
    other = [i for i, (own, now) in enumerate(zip(*gates, strict=True)) if f"{own:.2f}" != f"{now:.2f}"]
    assert set(other) > {4, 8, 12}
    cells = widget.locator(".gates-cell")
    found = "(all, kind) => all.flatMap((e, i) => e.matches(kind) ? [i] : [])"
    assert cells.evaluate_all(found, ".is-held") == [4, 8, 12], "outlined"
    assert cells.evaluate_all(found, ".is-other") == other, "with a line where the gate was"
    assert shares(widget, "own") == pytest.approx(gates[0], abs=0.0006)
    assert shares(widget, "gate") == pytest.approx(gates[1], abs=0.0006)
    button(widget, "Unit 29").click()
    button(widget, KEEP).click()
    says(widget, spaces="keep")
    expect(forget).to_have_attribute("aria-pressed", "false")
    expect(widget.locator(".gates-swatch.is-own")).to_be_visible()
    trained = button(widget, "free")
    trained.click()
    says(widget)
    expect(widget.locator(".gates-cost")).to_have_text("Guesses: 12 of 17 right")
    expect(changed).to_have_count(0)
    expect(trained).to_have_attribute("aria-pressed", "true")
    expect(widget.locator(".gates-swatch.is-own")).to_be_hidden()


def test_a_text_of_ones_own(widget: Locator) -> None:
    widget.locator("summary").click()
    field = widget.get_by_label("Another text")
    field.fill("A <b>boat</b>")
    says(widget, text="a b boat b ", place=1)
    field.fill("")
    says(widget, text="")
    expect(unit(widget)).to_be_hidden()
    field.fill("zoe")
    says(widget, text="zoe", place=1)
    expect(widget.locator(".gates-cell:not(.is-before)")).to_have_count(2)
    letter(widget).press("End")
    says(widget, text="zoe", place=3)
    expect(widget.locator(".gates-units-box")).to_contain_text("No letter follows the e of “zoe”")
    field.fill("z")
    says(widget, text="z")
    expect(widget.locator(".gates-trying")).to_be_hidden()
    expect(widget.locator(".gates-cost")).to_be_hidden()
    lost = widget.locator(".gates-text + .gates-caption")
    expect(lost).to_be_hidden()
    field.fill("tide, 42!")
    expect(lost).to_contain_text("Only the letters a to z and spaces are read; 4 other")
    field.fill("a text of more than forty letters, all of them read?")
    expect(lost).to_contain_text("Read: the first 40 of 51 characters.")
    says(widget, text="a text of more than forty letters all of"[:40], place=1)
    widget.get_by_role("button", name="Reset").click()
    says(widget)
    expect(field).to_have_value(Gates().text)
    expect(lost).to_be_hidden()


def test_without_a_text_the_field_for_one_stands_open(opened: tuple[Page, Record], tmp_path: Path) -> None:
    widget = show(opened[0], tmp_path, text="")
    expect(widget.get_by_label("Another text")).to_be_visible()
    expect(widget.locator(".d2lrnn-now")).to_have_text("Type at least two letters, or press Reset.")


@pytest.mark.parametrize(
    "title, right, before, state, outcome",
    [
        (
            "Keep more?",
            "fewer",
            {},
            {"spaces": "keep"},
            "Right. 7 of 17, not 12: the unit now mixes the old word into the next one. For “sea” it guesses ttv.",
        ),
        ("Why forget?", "about the same", {}, {"view": "memory", "place": 9}, "Right. About 1 each time"),
        (
            "All units?",
            "neither",
            {},
            {"bias": 4.0},
            "Right. Toward 0, 6 of 17 are right; toward 1, 5 (move the slider). As trained, 12",
        ),
    ],
)
def test_a_guess_comes_before_the_answer(
    widget: Locator, title: str, right: str, before: dict[str, object], state: dict[str, object], outcome: str
) -> None:
    letter(widget).press("End")
    widget.get_by_role("button", name=title).click()
    says(widget, **before)  # the figure as the question finds it
    expect(widget.locator(".d2lrnn-outcome")).to_be_hidden()
    widget.get_by_role("button", name=right, exact=True).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text(outcome)
    says(widget, **state)
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(".d2lrnn-step")).to_be_hidden()
    says(widget)


@pytest.mark.parametrize("width", [1280, 760, 390, 360, 320])
def test_nothing_below_the_sentence_moves(browser: Browser, tmp_path: Path, width: int) -> None:
    """Its lines are reserved: whatever letter, unit, gate and view."""
    with watched_page(browser, width=width, height=900) as (page, record):
        widget = show(page, tmp_path)
        below, tops = widget.locator(".gates-lane, .gates-guesses, .d2lrnn-step-titles, .d2lrnn-foot"), set()
        bias(widget).press("End")
        names = "Unit 29", KEEP, "Unit 16", FORGET, "Unit 29", "free"
        for view in ("what is left", "all it holds"):
            widget.locator("summary").click()
            button(widget, view).click()
            widget.locator("summary").click()
            for name in names:
                if name.startswith("Unit"):
                    widget.locator("summary").click()
                button(widget, name).click()
                if name.startswith("Unit"):
                    widget.locator("summary").click()
                letter(widget).press("Home")
                for _ in range(18):
                    tops.add(tuple(below.evaluate_all("(all) => all.map((e) => Math.round(e.offsetTop))")))
                    letter(widget).press("ArrowRight")
        assert len(tops) == 1
        assert record.errors == []


@pytest.mark.parametrize("width, lines", [(1280, 1), (390, 2)])
def test_a_long_text_stands_in_one_line_where_there_is_room(
    browser: Browser, tmp_path: Path, width: int, lines: int
) -> None:
    with watched_page(browser, width=width, height=900) as (page, record):
        widget = show(page, tmp_path, text="kept what it had been given to keep")
        rows = widget.locator(".gates-letters:not(.gates-map-letters), .gates-lane")
        tops = rows.evaluate_all("(all) => all.map((e) => Math.round(e.getBoundingClientRect().top))")
        assert (len(tops), len(set(tops))) == (6, 3 * lines)
        assert record.errors == []


def test_what_the_unit_holds_after_each_space(widget: Locator) -> None:
    widget.get_by_role("button", name="Why forget?").click()
    expect(widget.locator(".gates-cell.is-memory")).to_have_count(0)
    widget.get_by_role("button", name="almost 0").click()
    told = widget.locator(".gates-cell.is-told")
    expect(told.locator("b")).to_have_text(["1.0", "1.0", "0.9"])
    expect(widget.locator(".gates-head")).to_have_text("Unit 29: all it holds after each letter")
    button(widget, KEEP).click()
    says(widget, view="memory", spaces="keep", place=9)
    expect(told.locator("b")).to_have_text(["0.2", "0.4", "\u22120.1"])
    expect(told.locator("u:visible")).to_have_count(3)  # as trained
    memories = [Gates(spaces=spaces)._read()["cell"][:, 29] for spaces in ("trained", "keep")]
    low, high = min(m.min().item() for m in memories), max(m.max().item() for m in memories)  # one scale
    for kind, edge in (("from", memories[1].clamp(max=0)), ("to", memories[1].clamp(min=0)), ("trained", memories[0])):
        assert shares(widget, kind) == pytest.approx(((edge - low) / (high - low)).tolist(), abs=0.0006)
    widget.locator(".gates-letters:not(.gates-guesses) > .gates-tile").nth(9).click()
    says(widget, place=10, spaces="keep", view="memory")
    expect(told.locator("b")).to_have_count(4)
    widget.locator("summary").click()
    button(widget, "what is left").click()
    says(widget, place=10, spaces="keep")
    expect(widget.locator(".gates-cell.is-memory")).to_have_count(0)


def test_a_question_that_a_press_answers_is_closed(widget: Locator) -> None:
    question = widget.locator(".d2lrnn-question")
    widget.get_by_role("button", name="Keep more?").click()
    letter(widget).press("Home")  # a letter tells nothing
    expect(question).to_be_visible()
    button(widget, KEEP).click()
    expect(question).to_be_hidden()
    widget.get_by_role("button", name="Keep more?").click()
    widget.get_by_role("button", name="fewer").click()
    button(widget, FORGET).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Before your change:")


def test_the_push_that_was_chosen_is_shown(widget: Locator) -> None:
    for answer, push, right in (("toward 0 (forget)", -4.0, 6), ("toward 1 (keep)", 4.0, 5), ("neither", 4.0, 5)):
        widget.get_by_role("button", name="All units?").click()
        widget.get_by_role("button", name=answer, exact=True).click()
        says(widget, bias=push)
        expect(widget.locator(".gates-guesses .is-right")).to_have_count(right)
        expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Toward 0, 6 of 17 are right; toward 1, 5")
        expect(widget.locator(".d2lrnn-outcome")).not_to_contain_text("Before your change:")
        widget.get_by_role("button", name="All units?").click()


def test_another_letter_is_no_change_of_the_network(widget: Locator) -> None:
    widget.get_by_role("button", name="Why forget?").click()
    widget.get_by_role("button", name="almost 0").click()
    widget.locator(".gates-letters:not(.gates-guesses) > .gates-tile").nth(3).click()
    says(widget, view="memory", place=4)
    widget.evaluate("() => new Promise((done) => setTimeout(done))")  # what compares comes after the press
    expect(widget.locator(".d2lrnn-outcome")).not_to_contain_text("Before your change:")
    button(widget, KEEP).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Before your change:")


def test_a_wrong_space_is_struck_through(widget: Locator) -> None:
    wrong = widget.locator(".gates-guesses .is-space:not(.is-right)")
    expect(wrong).to_have_count(1)
    assert "gradient" in wrong.evaluate("(e) => getComputedStyle(e).backgroundImage")
    right = widget.locator(".gates-guesses .is-space.is-right").first
    assert right.evaluate("(e) => getComputedStyle(e).backgroundImage") == "none"


def test_numbers_keep_apart_on_a_phone(widget: Locator) -> None:
    """Under the letters and above the bars, at the first letter too."""
    box = """(all, kind) => all.map((e) => {
      const range = new Range();
      range.selectNodeContents(e);
      const { left, right } = range.getBoundingClientRect();
      return [left, right];
    })"""
    size = "(all) => all.map((e) => parseFloat(getComputedStyle(e, '::before').fontSize))"
    assert min(widget.locator(".gates-number").evaluate_all(size)) >= 12
    widget.get_by_role("button", name="Why forget?").click()
    widget.get_by_role("button", name="almost 0").click()
    letter(widget).press("Home")
    told = widget.locator(".gates-cell.is-told > b").evaluate_all(box)
    edge = widget.locator(".gates-lines").bounding_box()["x"]
    assert told[0][0] >= edge - 0.5 and all(a[1] < b[0] for a, b in pairwise(told))


def test_what_is_left_is_pale_before_the_text_is_read(opened: tuple[Page, Record], tmp_path: Path) -> None:
    opened[0].add_init_script("IntersectionObserver.prototype.observe = () => {}")  # nothing is seen: no reading begins
    widget = show(opened[0], tmp_path)
    band, picture = widget.locator(".gates-cell").nth(17), widget.locator(".gates-strips")
    colour = "(e) => getComputedStyle(e, '::before').backgroundColor"
    full = band.evaluate(colour)
    picture.evaluate("(e) => e.style.setProperty('--read', 0)")
    page = widget.evaluate("(e) => getComputedStyle(e).backgroundColor")
    assert len({full, band.evaluate(colour), page}) == 3


def test_pushed_gates_are_named_and_marked(widget: Locator) -> None:
    bias(widget).press("End")
    expect(widget.locator(".gates-bias b")).to_have_text("+4.0")
    expect(button(widget, "free")).to_have_attribute("aria-pressed", "true")
    assert widget.locator(".gates-cell.is-other").count() > 6


def test_a_link_sets_the_figure(opened: tuple[Page, Record], tmp_path: Path) -> None:
    widget = show(opened[0], tmp_path, "#explore=Gates&unit=16&bias=-1.5")
    says(widget, unit=16, bias=-1.5)


def test_with_less_movement_the_picture_is_whole_at_once(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=390, height=900) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        widget = show(page, tmp_path)
        page.wait_for_timeout(100)
        strips = widget.locator(".gates-strips")
        assert strips.evaluate("(e) => e.style.getPropertyValue('--read')") == ""
        assert record.errors == []
