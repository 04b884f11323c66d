"""The concatenation figure on a page without a kernel: blocks that glue, sums that are true, guesses before answers."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from random import Random
from urllib.parse import unquote

import pytest
import torch
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import Concatenation
from d2lrnn.widgets import page as standalone
from pages import LOW_CONTRAST, page_of
from watching import Record, watched_page

pytestmark = pytest.mark.browser

APART, GLUED = "X @ W_xh + H @ W_hh", "torch.cat((X, H), 1) @ torch.cat((W_xh, W_hh), 0)"
SWAPPED = "torch.cat((X, H), 1) @ torch.cat((W_hh, W_xh), 0)"
BOTH = "torch.cat((H, X), 1) @ torch.cat((W_hh, W_xh), 0)"
# Left, top, right and bottom of a block's numbers.
PLACE = """(e) => { const box = e.querySelector(".glue-grid").getBoundingClientRect();
  return [box.left, box.top, box.right, box.bottom]; }"""

# The same of nodes.
BOXES = """(all) => all.map((e) => e.getBoundingClientRect())
  .map(({ left, top, right, bottom }) => [left, top, right, bottom])"""
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=760, height=900) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        yield page, record
        assert record.errors == [] and record.outside == []


@pytest.fixture
def moving(browser: Browser) -> Iterator[Page]:
    """A page whose time stands still unless a test lets it pass."""
    with watched_page(browser, width=760, height=900) as (page, record):
        page.clock.install(time=0)
        page.clock.pause_at(1000)
        yield page
        assert record.errors == [] and record.outside == []


def pass_until(page: Page, condition: str) -> None:
    latest = time.monotonic() + 30
    while not page.evaluate(condition):
        assert time.monotonic() < latest, condition
        page.clock.run_for(50)


def come_to_rest(page: Page) -> None:
    """One motion follows another: each needs a frame to begin and one to end."""
    for _ in range(12):
        page.clock.fast_forward(5000)


def resize(page: Page, width: int, height: int = 1000) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(DRAWN)


def show(page: Page, folder: Path, widget: Concatenation, **arguments: str) -> Locator:
    (folder / "page.html").write_text(page_of(widget, **arguments), encoding="utf-8")
    page.goto(f"{folder.as_uri()}/page.html")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(1)
    return page.locator(".d2lrnn-widget")


def places(widget: Locator) -> dict[str, list[float]]:
    return {name: widget.locator(f".glue-{name}").evaluate(PLACE) for name in ("X", "H", "W_xh", "W_hh", "sum")}


def is_glued(widget: Locator) -> bool:
    at = places(widget)
    return abs(at["X"][2] - at["H"][0]) < 1 and abs(at["W_xh"][3] - at["W_hh"][1]) < 1


WITHOUT_PARTS = """(lines) => lines.map((line) => {
  const copy = line.cloneNode(true);
  for (const part of copy.querySelectorAll(".glue-group > .glue-part")) part.remove();
  return copy.textContent; })"""


def check_sums(widget: Locator) -> None:
    """What is printed adds up, to the last digit."""
    for line in widget.locator(".glue-rows p").filter(visible=True).evaluate_all(WITHOUT_PARTS):
        terms, total = re.sub(r"^(letter|state)", "", line.replace("\u2212", "-")).split("=")
        terms = terms.replace("\u00d7", "*").replace("\n", " ")
        expected = eval(re.sub(r"-?\d+\.\d+", lambda match: f"Decimal('{match[0]}')", terms))
        assert expected == Decimal(total.strip()), line


def test_the_blocks_glue_and_come_apart(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Concatenation())
    button, code, now = widget.locator(".glue-button"), widget.locator(".glue-code"), widget.locator(".d2lrnn-now")
    result = widget.locator(".glue-sum .glue-name")
    expect(widget.locator(".glue-r .glue-name")).to_have_text(["", "", "sum"])
    names = widget.locator(".glue-stage .glue-block:not(.glue-r) .glue-name")
    expect(names).to_have_text(["X a letter", "H the old state", "weights for XW_xh", "weights for HW_hh"])
    assert not is_glued(widget)
    expect(code).to_have_text(APART)
    expect(now).to_have_text("0.73 from X and 0.30 from H make 1.03. Can one table do both?")
    check_sums(widget)
    button.focus()
    page.keyboard.press("Enter")
    expect(code).to_have_text(GLUED)
    expect(now).to_have_text("One weight table gives the same 1.03: the state is just more inputs.")
    expect(result).to_have_text("= same result")
    expect(widget.locator(".glue-from_x")).to_be_hidden()
    expect(widget.locator(".glue-r .glue-name").filter(visible=True)).to_have_count(1)  # one product
    expect(widget.locator(".glue-group > .glue-part")).to_have_text(["0.73", "0.30"])  # the brackets below the one sum
    assert is_glued(widget)
    check_sums(widget)
    expect(button).to_have_text("Take apart")
    button.click()
    expect(code).to_have_text(APART)
    assert not is_glued(widget)


LIT = """(e) => ["X", "H", "W_xh", "W_hh"].map((name) => e.querySelectorAll(`.glue-${name} .glue-marked`).length)"""


def test_every_number_of_the_result(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    python = Concatenation(batch_size=3, num_inputs=2, num_hiddens=4, seed=11)
    widget = show(page, tmp_path, python)
    numbers = widget.get_by_role("radio")
    assert numbers.count() == 12
    for glued in (False, True):
        for i in range(3):
            for j in range(4):
                number = numbers.nth(4 * i + j)
                number.dispatch_event("click")
                expect(number).to_be_checked()
                printed = f"{python.two_products[i, j]:.2f}".replace("-", "\u2212")
                expect(number).to_have_accessible_name(f"Row {i + 1}, column {j + 1}: {printed}")
                expect(widget.locator(".d2lrnn-now b").last).to_have_text(printed)
                assert widget.evaluate(LIT) == [2, 4, 2, 4]
                check_sums(widget)
        widget.locator(".glue-button").click()
        expect(widget.locator(".glue-code")).to_have_text(APART if glued else GLUED)
    assert "-" not in "".join(widget.locator(".glue-cell").all_inner_texts()), "a true minus"


def test_keys_a_mouse_and_a_finger(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Concatenation(batch_size=2))
    numbers, now = widget.get_by_role("radio"), widget.locator(".d2lrnn-now")
    numbers.nth(1).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(numbers.nth(5)).to_be_focused()
    expect(numbers.nth(5)).to_be_checked()
    page.keyboard.press("ArrowDown")
    expect(numbers.nth(5)).to_be_focused()
    chosen = now.inner_text()
    numbers.nth(0).hover()
    expect(now).not_to_have_text(chosen)
    page.mouse.move(2, 2)
    expect(now).to_have_text(chosen)
    expect(numbers.nth(5)).to_be_checked()
    for name, chosen in (("W_hh", 3), ("H", 0), ("X", 0), ("W_xh", 0)):
        widget.locator(f".glue-{name} .glue-cell").first.click()
        expect(numbers.nth(chosen)).to_be_checked()
    numbers.nth(2).click()
    # H follows the mouse pixel by pixel: let go early it goes back, let go past the middle it stays.
    code = widget.locator(".glue-code")
    for part, glued in ((0.3, False), (0.7, True)):
        widget.evaluate("(e) => e.scrollIntoView()")
        at = places(widget)
        (left, top, right, bottom), high = at["H"], at["X"][3]
        page.mouse.move((left + right) / 2, (top + bottom) / 2)
        page.mouse.down()
        page.mouse.move((left + right) / 2, (top + bottom) / 2 + (high - top) * part, steps=4)
        moved = places(widget)
        assert moved["H"][1] - top == pytest.approx((high - top) * part, abs=1)
        assert moved["X"] == at["X"] and moved["W_hh"] == at["W_hh"]
        page.mouse.up()
        expect(code).to_have_text(GLUED if glued else APART)
        assert is_glued(widget) == glued
    expect(numbers.nth(2)).to_be_checked(), "what was dragged was not pressed"


def test_a_block_is_glued_where_it_is_let_go_and_comes_off(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Concatenation())
    code = widget.locator(".glue-code")
    for width in (1280, 390):
        resize(page, width)
        for name, partner in (("H", "X"), ("X", "H"), ("W_hh", "W_xh"), ("W_xh", "W_hh")):
            at = places(widget)
            here, there = ([(box[0] + box[2]) / 2, (box[1] + box[3]) / 2] for box in (at[name], at[partner]))
            page.mouse.move(*here)
            page.mouse.down()
            near = widget.locator(".glue-near")
            if name == "H":  # on its way it covers no weight, and half of no name
                [left, top, *_] = at["W_hh"]
                page.mouse.move(here[0] + 20, top + 20, steps=2)
                assert places(widget)["H"][2] > left + 8
                over = (
                    "([x, y]) => document.elementFromPoint(x, y).closest('.glue-block').classList.contains('glue-W_hh')"
                )
                assert page.evaluate(over, [left + 6, top + 20])
                expect(widget.locator(".glue-W_hh .glue-name")).to_have_css("opacity", "0")
                expect(widget.locator(".glue-W_xh .glue-name")).to_have_css("opacity", "1")
            page.mouse.move(*there, steps=4)
            expect(widget.locator(".glue-W_hh .glue-name")).to_have_css("opacity", "1")
            expect(near).to_have_count(2)
            expect(near.first.locator(".glue-grid")).to_have_css("outline-width", "3px")
            page.mouse.move(*here)
            expect(near).to_have_count(0)
            page.mouse.move(*there, steps=2)
            if name == "H":  # it stays under the hand
                held = places(widget)[name]
                assert [(held[0] + held[2]) / 2, (held[1] + held[3]) / 2] == pytest.approx(there, abs=1)
            expect(code).to_have_text(APART)
            page.mouse.up()
            expect(code).to_have_text(GLUED)
            expect(near).to_have_count(0)
            assert is_glued(widget), (width, name)
            left, top, right, bottom = places(widget)[name]
            for by, glued in ((12, True), (90, False)):
                page.mouse.move((left + right) / 2, (top + bottom) / 2)
                page.mouse.down()
                away = by if name in ("H", "W_hh") else -by  # not past its partner: that would swap them
                page.mouse.move((left + right) / 2 - by, (top + bottom) / 2 + away, steps=2)
                page.mouse.up()
                expect(code).to_have_text(GLUED if glued else APART)
            assert places(widget) == at, (width, name)
        widget.locator(".glue-button").click()
        glued = places(widget)  # the result is never covered by a table in a hand, and nothing else comes up behind it
        (x, y), (right, _) = ([(box[0] + box[2]) / 2, (box[1] + box[3]) / 2] for box in (glued["X"], glued["sum"]))
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(right, y, steps=3)
        assert page.evaluate("([x, y]) => document.elementFromPoint(x, y).matches('.glue-sum .glue-cell')", [right, y])
        rest = widget.locator(".glue-sign, .glue-from_x .glue-cell, .glue-from_h .glue-cell")
        seen = (
            "(all) => all.filter((e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true })).length"
        )
        assert rest.evaluate_all(seen) == 0
        page.mouse.up()
        widget.get_by_role("button", name="Reset").click()
    assert page.evaluate("getSelection().toString()") == ""


def test_a_line_leads_from_each_number_to_the_weights_that_it_meets(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    ends = """(all) => all.map((path) => {
      const [from, to] = [0, path.getTotalLength()].map((along) => path.getPointAtLength(along));
      const at = path.getScreenCTM();
      return [from.x + at.e, from.y + at.f, to.x + at.e, to.y + at.f]; })"""
    page, _ = opened
    widget = show(page, tmp_path, Concatenation())
    for width in (1280, 390):
        resize(page, width)
        for press, order in (
            (None, ("W_xh", "W_hh")),
            (".glue-button", ("W_xh", "W_hh")),
            (".glue-swap-weights", ("W_hh", "W_xh")),
            (".glue-swap-rows", ("W_hh", "W_xh")),
        ):
            if press:
                widget.locator(press).click()
            at, lines = places(widget), widget.locator(".glue-ties path").evaluate_all(ends)
            starts = [
                box for name in ("X", "H") for box in widget.locator(f".glue-{name} .glue-cell").evaluate_all(BOXES)
            ]
            rows = [(name, i) for name in order for i in range({"W_xh": 2, "W_hh": 3}[name])]
            if press == ".glue-swap-rows":  # the first two lines are those of X, the last numbers now
                rows = [*rows[3:], *rows[:3]]
            assert len(lines) == len(starts) == len(rows) == 5
            for (x, y, right, high), (start, above, end, _), (name, i) in zip(lines, starts, rows):
                assert start < x < end and y == pytest.approx(above, abs=3), (width, press)
                left, top, _, bottom = at[name]
                tall = (bottom - top) / {"W_xh": 2, "W_hh": 3}[name]
                assert right == pytest.approx(left, abs=3) and high == pytest.approx(top + (i + 0.5) * tall, abs=2)
        widget.locator(".glue-button").click()


def test_swapped_weights_give_a_wrong_result(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Concatenation())
    swap, rows = widget.locator(".glue-swap-weights"), widget.locator(".glue-swap-rows")
    code, now = widget.locator(".glue-code"), widget.locator(".d2lrnn-now")
    result = widget.locator(".glue-sum .glue-name")
    for width in (1280, 390):
        resize(page, width)
        expect(swap).to_be_hidden()
        widget.locator(".glue-button").click()
        right = places(widget)
        swap.click()
        expect(code).to_have_text(SWAPPED)
        expect(now).to_have_text("Wrong order, but all sizes fit: 0.76, not 1.03, and no error.")
        expect(result).to_have_text("\u2260 wrong result")
        expect(widget.locator(".glue-mixed").filter(visible=True)).to_have_count(4)
        own = "(all) => all.map((e) => getComputedStyle(e, '::after').content)"
        owned = [f'"needs {weight}"' for weight in ("0.4", "0.5", "0.2", "0.1", "0.3")]
        terms = widget.locator(".glue-one .glue-term")
        assert terms.evaluate_all(own) == owned
        heights = "(all) => all.map((e) => e.getBoundingClientRect().height)"
        assert max(terms.evaluate_all(heights)) < 30, "in one line"
        # no line leads through a word
        heights = "(all) => all.map((e) => e.getPointAtLength(e.getTotalLength()).y + e.getScreenCTM().f)"
        ends = widget.locator(".glue-ties path").evaluate_all(heights)
        for _, top, _, bottom in widget.locator(".glue-stage .glue-name").filter(visible=True).evaluate_all(BOXES):
            assert all(not top < end < bottom for end in ends), (width, top)
        expect(widget.get_by_role("radio").nth(1)).to_have_text("0.76")
        check_sums(widget)
        wrong = places(widget)
        assert wrong["W_hh"][3] == pytest.approx(wrong["W_xh"][1], abs=1) and wrong["X"] == right["X"]
        assert wrong["W_hh"][1] == pytest.approx(right["W_xh"][1], abs=1)
        swap.click()
        expect(result).to_have_text("= same result")
        assert places(widget) == right
        left, top, on_right, bottom = right["W_hh"]  # carried up past W_xh, it changes places with it
        page.mouse.move((left + on_right) / 2, (top + bottom) / 2)
        page.mouse.down()
        page.mouse.move((left + on_right) / 2, right["W_xh"][1], steps=5)
        page.mouse.up()
        expect(code).to_have_text(SWAPPED)
        assert places(widget) == wrong
        rows.click()
        expect(code).to_have_text(BOTH)
        expect(now).to_have_text("Both swapped: each number meets its own weights again, so again 1.03.")
        expect(result).to_have_text("= same result")
        expect(widget.locator(".glue-wrongly").filter(visible=True)).to_have_count(0)
        check_sums(widget)
        both = places(widget)
        assert both["H"][2] == pytest.approx(both["X"][0], abs=1)
        assert both["H"][0] == pytest.approx(right["X"][0], abs=1)
        left, top, on_right, bottom = both["H"]  # carried past X, it changes places with it
        page.mouse.move((left + on_right) / 2, (top + bottom) / 2)
        page.mouse.down()
        page.mouse.move(both["X"][2], (top + bottom) / 2, steps=5)
        page.mouse.up()
        expect(code).to_have_text(SWAPPED)
        assert places(widget) == wrong
        rows.click()
        widget.locator(".glue-button").click()
        expect(code).to_have_text(APART)
        widget.locator(".glue-button").click()
        expect(code).to_have_text(GLUED)
        widget.locator(".glue-button").click()


def test_on_a_phone_the_glued_tables_fill_the_room_of_those_apart(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 390, "height": 844})
    widget = show(page, tmp_path, Concatenation())
    stage = widget.locator(".glue-stage").bounding_box()
    cell = widget.locator(".glue-X .glue-cell").first
    apart, near = cell.bounding_box(), places(widget)
    assert stage and apart and apart["width"] > 48
    assert near["W_xh"][1] == pytest.approx(stage["y"], abs=2)
    assert near["X"][2] == pytest.approx(near["H"][2], abs=1)
    widget.locator(".glue-button").click()
    glued, at = cell.bounding_box(), places(widget)
    assert glued and glued["height"] > 1.4 * apart["height"]
    assert (
        at["W_xh"][1] - stage["y"] < 8 and stage["y"] + stage["height"] - at["X"][3] < 52
    )  # its words and the way back stand there
    widget.locator(".glue-button").click()
    assert places(widget) == near


def test_nothing_below_the_figure_moves(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    for sizes in ({}, {"batch_size": 3, "num_inputs": 1, "num_hiddens": 4}):
        widget = show(page, tmp_path, Concatenation(**sizes))
        for width in (1280, 390):
            resize(page, width, 900)
            heights = []
            for _ in range(4):
                heights.append(widget.evaluate("(e) => e.getBoundingClientRect().height"))
                widget.locator(".glue-button").dispatch_event("click")
            assert max(heights) - min(heights) < 1, (width, sizes, heights)


def test_terms_move_from_two_rows_into_one(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=760, height=900) as (page, record):
        widget = show(page, tmp_path, Concatenation(num_inputs=2, num_hiddens=3))
        terms = """(e) => [...e.querySelectorAll(":not(.glue-ghost) > p .glue-term")].map((x) => [x.textContent,
          x.className.match(/glue-[xh]/)[0], Math.round(x.getBoundingClientRect().top)])"""
        apart = widget.evaluate(terms)
        early = widget.evaluate(f"(e) => {{ e.querySelector('.glue-button').click(); return ({terms})(e); }}")
        assert len({top for *_, top in early}) == 2, "they set out from where they were"
        expect(widget.locator(".glue-code")).to_have_text(GLUED)
        page.wait_for_function("() => ![...document.querySelectorAll('.glue-term')].some((x) => x.style.transform)")
        glued = widget.evaluate(terms)
        assert [term[:2] for term in glued] == [term[:2] for term in apart]
        assert [len({top for *_, top in state}) for state in (apart, glued)] == [2, 1]
        assert record.errors == []


WHOLE = """() => {
  const e = document.querySelector(".glue-terms");
  const shown = (x) => getComputedStyle(x).opacity === "1" && getComputedStyle(x).color !== "rgba(0, 0, 0, 0)";
  const parts = [...e.querySelectorAll(":not(.glue-ghost) > p :is(.glue-plus, .glue-total, .glue-term)")];
  const brackets = [...e.querySelectorAll(":not(.glue-ghost) > p .glue-group")];
  return parts.every(shown) && parts.every((x) => !x.style.transform) && !e.textContent.includes("\u2026")
    && brackets.every((x) => getComputedStyle(x, "::before").opacity === "1");
}"""


def test_the_sum_ends_whole_after_every_step(moving: Page, tmp_path: Path) -> None:
    """Also for a reader who answers while the blocks of the question are still on their way."""
    page, widget = moving, show(moving, tmp_path, Concatenation())
    for pause in (0, 300):
        for step, right, total in ((1, 2, "1.03"), (2, 2, "0.76"), (3, 1, "1.03")):
            widget.locator(".d2lrnn-step-title").nth(step - 1).click()
            page.clock.run_for(pause)
            widget.locator(".d2lrnn-answers button").nth(right - 1).click()
            come_to_rest(page)
            expect(widget.locator(".glue-one .glue-total")).to_have_text(f"= {total}")
            page.wait_for_function(WHOLE)
            check_sums(widget)
        widget.get_by_role("button", name="Reset").click()


def test_the_sum_ends_whole_after_any_interrupted_motion(moving: Page, tmp_path: Path) -> None:
    page, widget = moving, show(moving, tmp_path, Concatenation())
    random = Random(3)
    for _ in range(6):
        for _ in range(4):
            presses = [".glue-button", ".glue-swap", ".glue-sum .glue-cell", ".d2lrnn-step-title"]
            choices = widget.locator(random.choice(presses)).filter(visible=True)
            if choices.count() > 0:
                choices.nth(random.randrange(choices.count())).click()
            page.clock.run_for(random.choice([0, 100, 500]))
        come_to_rest(page)
        page.wait_for_function(WHOLE)
        check_sums(widget)


def test_the_sum_ends_whole_after_taking_apart_the_largest(moving: Page, tmp_path: Path) -> None:
    """Also where the blocks grow while they are glued, and where they come apart before the glued sum is whole."""
    page = moving
    widget = show(page, tmp_path, Concatenation(batch_size=4, num_inputs=4, num_hiddens=4))
    button = widget.locator(".glue-button")
    for width in (390, 760, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        for pause in (None, 700):
            button.click()
            if pause is None:
                come_to_rest(page)
            else:
                page.clock.run_for(pause)
            button.click()
            come_to_rest(page)
            page.wait_for_function(WHOLE)
            expect(widget.locator(".glue-one")).to_be_hidden()
            assert widget.locator(".glue-rows p").filter(visible=True).count() == 2
            check_sums(widget)


def test_a_result_that_is_right_by_chance_is_equal(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Concatenation(batch_size=1, num_inputs=1, num_hiddens=1, column=0, glued=True))
    result, off = widget.locator(".glue-sum .glue-name"), widget.locator(".glue-off")
    seen = set()
    widget.get_by_text("Numbers, sizes, code").click()
    widget.locator(".glue-swap-weights").click()
    for _ in range(200):
        told = widget.locator(".d2lrnn-now").inner_text()
        seen.add(chance := "by chance" in told)
        expect(result).to_have_text("= by chance" if chance else "\u2260 wrong result")
        expect(off).to_have_count(0 if chance else 1)
        if len(seen) == 2:
            return
        widget.get_by_role("button", name="New numbers").click()
    raise AssertionError("numbers of both kinds")


def test_the_largest_tables_can_be_read_on_a_phone(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Concatenation(batch_size=4, num_inputs=4, num_hiddens=4))
    # a line that would lead through the name of a table passes behind it
    paint = "(e) => getComputedStyle(e).backgroundColor"
    surface = widget.evaluate("(e) => getComputedStyle(e).backgroundColor")
    assert [widget.locator(f".glue-{name} .glue-name").evaluate(paint) for name in ("W_xh", "W_hh")] == [surface] * 2
    sizes = "(all) => all.map((e) => parseFloat(getComputedStyle(e).fontSize))"
    for width in (390, 320):
        resize(page, width, 844)
        for state in ("apart", "glued"):
            least = min(widget.locator(".glue-cell").filter(visible=True).evaluate_all(sizes))
            assert least >= 12, (width, state)
            widget.locator(".glue-button").click()


def test_a_slider_stays_under_the_hand_while_the_picture_grows(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 390, "height": 844})
    widget = show(page, tmp_path, Concatenation())
    widget.get_by_text("Numbers, sizes, code").click()
    slider = widget.get_by_role("slider").first
    slider.evaluate("(e) => e.scrollIntoView({ block: 'end' })")
    height, top = widget.bounding_box()["height"], slider.bounding_box()["y"]
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        slider.press(key)
        assert slider.bounding_box()["y"] == pytest.approx(top, abs=1)
        assert widget.locator(".glue-sum .glue-grid").bounding_box()["y"] > 0
    assert widget.bounding_box()["height"] > height + 20


def test_the_line_of_the_product_that_is_added_is_thick_and_none_has_a_wrong_colour(
    moving: Page, tmp_path: Path
) -> None:
    page, widget = moving, show(moving, tmp_path, Concatenation())
    pass_until(page, "document.querySelectorAll('.glue-ties .glue-now').length === 1")
    lines, colors = widget.locator(".glue-ties path"), "(all) => all.map((e) => getComputedStyle(e).stroke)"
    widths = "(all) => all.map((e) => getComputedStyle(e).strokeWidth).sort()"
    assert lines.evaluate_all(widths) == ["1.5px"] * 4 + ["3px"]
    frames = "(all) => all.map((e) => getComputedStyle(e).boxShadow.match(/^rgba?\\(.*?\\)/)[0])"
    [chosen] = widget.locator(".glue-sum .glue-marked").evaluate_all(frames)
    added = widget.locator(".glue-now:is(.glue-cell, .glue-term)").evaluate_all(frames)
    assert len(added) == 3 and len(set(added)) == 1 and chosen not in added, "what is chosen looks otherwise"
    widget.locator(".d2lrnn-now").click()
    assert lines.evaluate_all(widths) == ["1.5px"] * 5
    x, *_, h = own = lines.evaluate_all(colors)
    assert own == [x, x, h, h, h] and x != h
    for press, colours in ((".glue-button", own), (".glue-swap-weights", None), (".glue-swap-weights", own)):
        widget.locator(press).click()
        if "swap" in press:  # hidden from the first frame on, while the tables pass each other
            expect(widget.locator(".glue-ties")).to_be_hidden()
        come_to_rest(page)
        expect(widget.locator(".glue-ties")).to_be_visible()
        marked = widget.locator(".glue-frame").evaluate_all(
            "(all) => all.map((e) => getComputedStyle(e).animationName)"
        )
        assert marked == (["glue-click"] * 2 if press == ".glue-button" else ["none", "glue-click"]), "only what moved"
        if press == ".glue-button":
            rim = "(e) => parseFloat(getComputedStyle(e).outlineWidth) + parseFloat(getComputedStyle(e).outlineOffset)"
            names = widget.locator(".glue-stage .glue-name").filter(visible=True).evaluate_all(BOXES)
            for frame in widget.locator(".glue-frame").all():  # and its rim lies on no name
                wide = frame.evaluate(rim)
                left, top, right, bottom = frame.evaluate_all(BOXES)[0]
                assert all(
                    a >= right + wide or c <= left - wide or b >= bottom + wide or d <= top - wide
                    for a, b, c, d in names
                )
        found = lines.evaluate_all(colors)
        dotted = "(all) => all.every((e) => getComputedStyle(e).strokeDasharray !== 'none')"
        assert lines.evaluate_all(dotted) == (colours is None), "in no colour alone"
        assert found == colours if colours else len(set(found)) == 1 and not {x, h} & set(found)
        pressed = widget.locator(".glue-swap-weights")
        expect(pressed).to_have_attribute("aria-pressed", "true" if colours is None else "false")


COVERED = """() => {
  const seen = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const shown = (query) => [...document.querySelectorAll(query)].filter(seen);
  const box = (e) => e.getBoundingClientRect();
  const areOver = (a, b) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  const sums = shown(".glue-part, :is(.glue-from_x, .glue-from_h) .glue-cell").map(box);
  const rest = shown(".glue-term, .glue-grid:not(:is(.glue-from_x, .glue-from_h) > *)").map(box);
  return sums.filter((a, i) => [...rest, ...sums.slice(0, i)].some((b) => areOver(a, b))).length;
}"""


def test_no_part_of_a_sum_lies_on_another_number_and_the_weights_keep_their_names(moving: Page, tmp_path: Path) -> None:
    page = moving
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        widget = show(page, tmp_path, Concatenation())
        come_to_rest(page)
        parts = widget.locator(".glue-group > .glue-part")
        for _ in ("glued", "apart"):
            widget.locator(".glue-button").click()
            for _ in range(50):
                page.clock.run_for(50)
                assert page.evaluate(COVERED) == 0, width
                names = widget.locator(".glue-W_xh .glue-name, .glue-W_hh .glue-name")
                expect(names.filter(visible=True)).to_have_count(2)
            come_to_rest(page)
            if not is_glued(widget):
                continue
            expect(widget.locator(".glue-from_x")).to_be_hidden()
            assert parts.evaluate_all("(all) => all.every((e) => e.checkVisibility({ opacityProperty: true }))")
            if width == 390:  # one sum stands in one line, with its spaces, and so do the brackets below it
                terms = widget.locator(".glue-one .glue-term")
                for each in (terms, parts):
                    tops = [top for _, top, *_ in each.evaluate_all(BOXES)]
                    assert max(tops) - min(tops) < 8
                boxes = terms.evaluate_all(BOXES)
                assert all(b[0] - a[2] > 11 for a, b in pairwise(boxes)), "a sign between two products"
                spaces = "(e) => parseFloat(getComputedStyle(e).wordSpacing) / parseFloat(getComputedStyle(e).fontSize)"
                assert terms.first.evaluate(spaces) > -0.15


# Whether what a term needs is no broader than the term, which stands on no other.
NEEDS = """(terms) => terms.map((e) => {
  const [style, probe] = [getComputedStyle(e, "::after"), document.createElement("span")];
  Object.assign(probe.style, { position: "absolute", font: style.font, whiteSpace: "nowrap" });
  probe.textContent = e.dataset.own;
  e.parentNode.append(probe);
  const wide = probe.getBoundingClientRect().width;
  probe.remove();
  return wide <= e.getBoundingClientRect().width + 0.5; })"""


def test_terms_that_do_not_fit_in_a_line_stand_in_two_and_what_they_need_can_be_read(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Concatenation(glued=True))
    numbers, groups = widget.get_by_role("radio"), widget.locator(".glue-one .glue-group")
    terms, ends = widget.locator(".glue-one .glue-term"), widget.locator(".glue-one :is(.glue-term, .glue-total b)")
    for swap in (None, ".glue-swap-weights", ".glue-swap-rows"):
        if swap:
            widget.locator(swap).click()
        for width, chosen, two in ((1280, 2, False), (390, 0, True), (390, 1, False), (390, 2, True), (320, 2, True)):
            resize(page, width)
            numbers.nth(chosen).click()
            [begin, _, end, _] = widget.locator(".glue-made").evaluate_all(BOXES)[0]
            boxes = ends.evaluate_all(BOXES)
            assert all(begin - 0.1 <= left and right <= end + 0.1 for left, _, right, _ in boxes), (swap, width, chosen)
            middles = [(top + bottom) / 2 for _, top, _, bottom in boxes]
            first = groups.first.locator(".glue-term").count()
            for line in (middles[:first], middles[first:-1]):
                assert max(line) - min(line) < 4, (swap, width, chosen)
            assert (middles[-2] - middles[0] > 30) == two, (swap, width, chosen)
            if two or width == 1280:  # the sum stands behind the last of its terms, or has a line of its own
                assert middles[-1] == pytest.approx(middles[-2], abs=4), (swap, width, chosen)
            else:  # in its middle
                [[left, _, right, _]] = widget.locator(".glue-one .glue-total").evaluate_all(BOXES)
                ends_of_terms = (boxes[0][0] + boxes[-2][2]) / 2
                assert (left + right) / 2 == pytest.approx(ends_of_terms, abs=6), (swap, width, chosen)
                assert middles[-1] > middles[-2] + 30, (swap, width, chosen)
            for a, b in pairwise(boxes[:-1]):
                assert a[2] + 5 < b[0] or b[1] > a[3], (swap, width, chosen)
            if swap == ".glue-swap-weights":
                assert all(terms.evaluate_all(NEEDS)), (width, chosen)


def test_what_comes_out_is_the_next_h(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Concatenation())
    loop, words = widget.locator(".glue-loop"), widget.locator(".glue-next")
    opacity = "(e) => getComputedStyle(e).opacity"
    for width, told in ((1280, "tanh: 0.77, next H"), (390, "tanh: 0.77, next H"), (320, "tanh: next H")):
        resize(page, width)
        assert loop.evaluate(opacity) == "0"
        widget.locator(".glue-button").click()
        expect(loop).to_have_css("opacity", "1")
        if width == 390:
            expect(widget.locator(".glue-W_xh .glue-name")).to_contain_text("for X", use_inner_text=True)
        expect(words).to_have_text(told)
        for press in (None, ".glue-swap-weights", ".glue-swap-rows"):
            if press:
                widget.locator(press).click()
            if press == ".glue-swap-weights":
                expect(loop).to_have_css("opacity", "0")  # the result is wrong
                continue
            at, [way] = places(widget), loop.locator("path").evaluate_all(BOXES)
            ends = sorted((at[name][0] + at[name][2]) / 2 for name in ("H", "sum"))
            assert [way[0], way[2]] == pytest.approx(ends, abs=6)  # the second of three results, in the middle
            assert 0 < way[1] - at["sum"][3] < 10 and way[3] - at["sum"][3] < 26  # from the result to the number
            others = widget.locator(".glue-stage .glue-name").filter(visible=True).evaluate_all(BOXES)
            [word] = words.evaluate_all(BOXES)
            if width == 1280 and press is None:  # it is that of the number that is told of
                for chosen, value in ((2, 0.35), (1, 1.03)):
                    widget.get_by_role("radio").nth(chosen).click()
                    expect(words).to_have_text(f"tanh: {math.tanh(value):.2f}, next H")
                    # from that result to the number of H that it replaces
                    [moved] = loop.locator("path").evaluate_all(BOXES)
                    by = (chosen - 1) * (at["sum"][2] - at["sum"][0]) / 3
                    assert [moved[0] - way[0], moved[2] - way[2]] == pytest.approx([by, by], abs=1)
            assert (
                way[0] + 4 < word[0]
                and word[2] < way[2] - 4
                and all(bottom < at["sum"][3] or word[3] <= top + 2 for _, top, _, bottom in others)
            )
        widget.get_by_role("button", name="Reset").click()


def test_the_way_back_starts_below_no_other_row(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    python = Concatenation(batch_size=2, glued=True)
    widget = show(page, tmp_path, python)
    results, loop = widget.get_by_role("radio"), widget.locator(".glue-loop")
    expect(results.nth(1)).to_be_checked()
    expect(loop).to_be_hidden()  # it would start below the second row
    for chosen, column in ((3, 0), (5, 2)):
        results.nth(chosen).click()
        expect(loop).to_be_visible()
        value = math.tanh(python.two_products[1, column])
        expect(loop).to_have_text(f"tanh: {value:.2f}, next H".replace("-", "\u2212"))
        [way] = loop.locator("path").evaluate_all(BOXES)
        [box] = results.nth(chosen).evaluate_all(BOXES)
        assert way[2] == pytest.approx((box[0] + box[2]) / 2, abs=4) and 0 < way[1] - box[3] < 10
    results.nth(1).hover()
    expect(loop).to_be_hidden()
    page.mouse.move(2, 2)
    expect(loop).to_be_visible()


def test_where_the_way_back_is_short_its_words_stand_beside_its_head(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Concatenation(num_inputs=1, num_hiddens=1, column=0, glued=True))
    for width in (1280, 390, 320):
        resize(page, width)
        [way], [word] = (widget.locator(query).evaluate_all(BOXES) for query in (".glue-loop path", ".glue-next"))
        [[begin, *_]] = widget.locator(".glue-stage").evaluate_all(BOXES)
        if width < 400:  # here narrow words just fit between the ends
            assert way[0] + 6 <= word[0] and word[2] <= way[2] - 6
        else:
            assert begin <= word[0] and word[2] <= way[0] + 1, width


def test_a_weight_that_is_the_right_one_by_chance_is_not_called_wrong(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    python = Concatenation(num_inputs=1, num_hiddens=1, column=0, glued=True, swapped=True, seed=7080)
    _, W_xh, _, W_hh = python.matrices
    assert W_xh.item() == W_hh.item()
    widget = show(page, tmp_path, python)
    expect(widget.locator(".glue-wrongly")).to_have_count(0)
    expect(widget.locator(".glue-one .glue-mixed")).to_have_count(2)


DRAG_WHILE_TERMS_MOVE = """async () => {
  document.querySelector(".glue-button").click();
  while (!document.querySelector(".glue-moving")) await new Promise(requestAnimationFrame);
  const at = (kind, clientX) => document.querySelector(".glue-H")
    .dispatchEvent(new PointerEvent(kind, { clientX, clientY: 0, bubbles: true }));
  at("pointerdown", 0);
  at("pointermove", 9);
  const isAtRest = !document.querySelector(".glue-moving");
  at("pointerup", 9);
  return isAtRest; }"""


def test_the_sum_runs_after_a_hand_stopped_its_terms(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=760, height=900) as (page, record):
        widget = show(page, tmp_path, Concatenation())
        assert page.evaluate(DRAG_WHILE_TERMS_MOVE)
        expect(widget.locator(".glue-button")).to_have_text("Take apart")  # let go near where it was
        widget.locator(".glue-button").click()
        expect(widget.locator(".glue-two .glue-now")).to_have_count(1)
        assert record.errors == []


def test_words_below_the_result_keep_off_the_words_below_h(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 390, "height": 900})
    for columns in (1, 3):
        widget = show(page, tmp_path, Concatenation(num_hiddens=columns, glued=True))
        memory, result = (widget.locator(f".glue-{name} .glue-name").bounding_box() for name in ("frame-rows", "sum"))
        assert memory and result and memory["x"] + memory["width"] < result["x"], columns


def test_the_first_motion_moves_no_block_and_stops_at_a_touch(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=760, height=900) as (page, record):
        widget = show(page, tmp_path, Concatenation())
        page.wait_for_function("() => document.querySelector('.glue-terms .glue-later')")
        at = places(widget)
        page.wait_for_timeout(500)
        assert places(widget) == at
        widget.locator(".d2lrnn-now").click()
        expect(widget.locator(".glue-later, .glue-stage .glue-now")).to_have_count(0)
        assert places(widget) == at and record.errors == []


def test_no_name_leaves_the_figure(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    for batch_size in (1, 3):
        widget = show(page, tmp_path, Concatenation(batch_size=batch_size))
        for width in (1000, 680, 640, 390, 320):
            resize(page, width)
            [[begin, _, end, _]] = widget.locator(".glue-stage").evaluate_all(BOXES)
            names = widget.locator(".glue-stage .glue-name:not(:empty)").filter(visible=True).evaluate_all(BOXES)
            assert len(names) == 5, "of four tables and the result"
            assert all(begin <= left and right <= end + 1 for left, _, right, _ in names), (batch_size, width)


def test_what_is_glued_has_its_name_at_its_frame(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    for rows, inputs, hiddens in ((1, 2, 3), (2, 1, 4), (4, 4, 4), (1, 1, 1)):
        python = Concatenation(batch_size=rows, num_inputs=inputs, num_hiddens=hiddens, row=0, column=0)
        X, W_xh, H, W_hh = python.matrices
        shapes = [torch.cat((X, H), 1).shape, torch.cat((W_xh, W_hh)).shape]
        widget = show(page, tmp_path, python)
        names = widget.locator(".glue-frame .glue-name")
        for width in (1280, 390, 320):
            resize(page, width)
            expect(names.first).to_be_hidden()
            widget.locator(".glue-button").dispatch_event("click")
            for press, order in ((None, "XH"), (".glue-swap-rows", "HX")):
                if press:
                    widget.locator(press).dispatch_event("click")
                expect(names.filter(visible=True)).to_have_text(
                    [
                        re.compile(rf"^{text} {high}\u00d7{wide}(, |$)")
                        for text, (high, wide) in zip((order, "W"), shapes)
                    ]
                )
                boxes = widget.locator(".glue-stage .glue-name").filter(visible=True).evaluate_all(BOXES)
                assert len(boxes) == 5, "of both frames, both blocks of weights and the result"
                for i, a in enumerate(boxes):
                    for b in boxes[:i]:
                        beside = a[2] <= b[0] or b[2] <= a[0]
                        assert beside or a[3] <= b[1] + 1 or b[3] <= a[1] + 1, (rows, inputs, hiddens, width, order)
            widget.locator(".glue-button").dispatch_event("click")
        expect(names.first).to_be_hidden()


TOLD_AT_ONCE = """() => {
  window.told = new Set();
  const at = (query) => document.querySelector(`.glue ${query}`);
  const look = () => {
    const sentence = at(".d2lrnn-now").textContent.split(":")[0];
    const result = at("[role=radio]:nth-child(2)").textContent + at("[role=radio][aria-checked=true]").textContent;
    const total = at(":is(.glue-one, .glue-two):not(.glue-ghost) p:last-of-type .glue-total b").textContent;
    const sums = at(".glue-two").classList.contains("glue-ghost") ? "one sum" : "two sums";
    if (sentence.startsWith("One weight") && !at(".glue-done")) window.told.add("early");
    if (sentence.startsWith("The tables") && at(".glue-done")) window.told.add("late");
    window.told.add([sentence, at(".glue-sum .glue-name").textContent, result, total, sums].join("|"));
    requestAnimationFrame(look);
  };
  look(); }"""


def test_joined_tables_are_told_of_once_they_are_let_go(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=1000, height=900) as (page, record):
        widget = show(page, tmp_path, Concatenation())
        page.evaluate(TOLD_AT_ONCE)
        at = places(widget)
        page.mouse.move(at["H"][0] + 50, at["H"][1] + 15)
        page.mouse.down()
        page.mouse.move(at["X"][0] + 50, at["X"][1] + 15, steps=8)
        expect(widget.locator(".glue-near")).to_have_count(2)
        assert not is_glued(widget)
        page.mouse.up()
        expect(widget.locator(".glue-sum .glue-name")).to_have_text("= same result", timeout=10_000)
        assert is_glued(widget)
        assert set(page.evaluate("[...window.told]")) == {
            "0.73 from X and 0.30 from H make 1.03. Can one table do both?|sum|1.031.03|0.30|two sums",
            "The tables move, and the numbers stay.|sum|1.031.03|0.30|two sums",
            "One weight table gives the same 1.03|= same result|1.031.03|1.03|one sum",
        }
        assert record.errors == []


def test_a_result_that_comes_under_a_mouse_is_not_told_of_until_the_mouse_moves(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Concatenation(glued=True))
    button, told = widget.locator(".glue-button"), widget.locator(".d2lrnn-now b").last
    left, top, *_ = widget.locator(".glue-sum .glue-cell").first.evaluate_all(BOXES)[0]
    button.click()
    page.mouse.move(left + 20, top + 20)
    button.press("Enter")
    page.evaluate(DRAWN)
    expect(told).to_have_text("1.03")
    page.mouse.move(left + 22, top + 20)
    expect(told).to_have_text("0.71")


def test_it_moves_by_itself_once_the_hint_stays_and_all_comes_to_rest(moving: Page, tmp_path: Path) -> None:
    page = moving
    for width in (320, 390, 760):
        page.set_viewport_size({"width": width, "height": 900})
        widget = show(page, tmp_path, Concatenation())
        pass_until(page, "document.querySelector('.glue-terms .glue-now') && document.querySelector('.glue-later')")
        said = widget.locator(".glue-hint")
        expect(said).to_have_text("or drag X and H together. Press a result to see its sum.")
        top = widget.locator(".glue-stage").bounding_box()
        come_to_rest(page)
        expect(widget.locator(".glue-terms .glue-later, .glue-stage .glue-now")).to_have_count(0)
        expect(said).to_have_text("or drag X and H together. Press a result to see its sum.")
        assert widget.locator(".glue-stage").bounding_box() == top, width
        assert not is_glued(widget)
        check_sums(widget)
    widget.locator(".glue-button").click()
    pass_until(page, "document.querySelector('.glue-terms .glue-later')")  # arrived, the sum runs
    assert is_glued(widget)


def test_answers_come_after_the_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Concatenation())
    shape = widget.locator(".d2lrnn-shape")  # without what the live region says
    fresh = shape.inner_text()
    told = widget.locator(".d2lrnn-outcome")
    for step, right, asked, code in ((1, 2, APART, GLUED), (2, 2, GLUED, SWAPPED), (3, 1, SWAPPED, BOTH)):
        widget.locator(".d2lrnn-step-title").nth(step - 1).click()
        expect(told).to_be_hidden()
        expect(widget.locator(".glue-code")).to_have_text(asked)
        widget.locator(".d2lrnn-answers button").nth(right - 1).click()
        expect(told).to_have_text(re.compile("^Right"))
        expect(widget.locator(".glue-code")).to_have_text(code)
        if step == 1:
            expect(told).to_have_text(
                re.compile("one ordinary layer with 5 inputs: so any layer you know can get a memory.$")
            )
        if step == 2:
            expect(told).to_contain_text("0.7 meets 0.2 but needs 0.4: 0.76 is wrong, and no error")
            expect(widget.locator(".glue-one .glue-term").first).to_have_text("0.7 \u00d7 0.2")
            swapped = "(all) => all.filter((e) => e.matches('.glue-x')).length"  # a letter with weights of the memory
            assert widget.locator(".glue-one .glue-mixed").evaluate_all(swapped) == 2
            expect(widget.locator(".glue-one .glue-wrongly")).to_have_count(5)
        if step == 3:
            expect(told).to_contain_text("Either may be first, if X, H and their weights stand in the same order")
            expect(widget.locator(".glue-wrongly").filter(visible=True)).to_have_count(0)
    # A wrong answer is tried, and the reader makes the repair.
    answers, results = widget.locator(".d2lrnn-answers button"), widget.get_by_role("radio")
    marked, pressed = widget.locator(".glue-sum [data-mark]"), widget.locator(".d2lrnn-fold > .glue-soft").last
    marks = "(all) => all.map((e) => e.dataset.mark)"
    wrong, tried, right = ["0.10", "0.76", "\u22120.39"], ["0.37", "1.03", "\u22120.12"], ["0.71", "1.03", "0.35"]
    for chosen, numbers in ((2, wrong), (1, tried), (0, right), (1, tried)):
        answers.nth(chosen).click()
        expect(told).to_have_text(re.compile("^Not so" if chosen else "^Right"))
        expect(results).to_have_text(numbers)
        expect(widget.locator(".glue-code")).to_have_text(
            BOTH if chosen == 0 else f"{SWAPPED} + 0.27" if chosen == 1 else SWAPPED
        )
        bias = "0.27" if chosen == 1 else "0"
        expect(pressed).to_contain_text(f"(its bias, here {bias})")
        ends = "1.03 becomes 0.77 in the next state." if chosen == 0 else "From wrong results comes a wrong next state."
        expect(pressed).to_have_text(re.compile(f"{re.escape(ends)}$"))
        expect(marked).to_have_count(3 if chosen == 1 else 0)
        check_sums(widget)
    assert marked.evaluate_all(marks) == ["\u2717", "\u2713", "\u2717"]
    expect(widget.locator(".d2lrnn-now")).to_have_text("With 0.27 added to each result, 2 of 3 are wrong.")
    expect(widget.locator(".glue-sum .glue-name")).to_have_text("each + 0.27")
    results.last.click()  # it has its own sum
    expect(widget.locator(".glue-one .glue-total")).to_have_text("+ 0.27 = \u22120.12")
    check_sums(widget)
    # A link shows it, and so does what is said of the figure.
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    widget.get_by_role("button", name="Link to this").click()
    state = json.loads(unquote(page.evaluate("location.hash").split("&state=")[1]))
    assert state["added"] == 0.27 and state["swapped"] is True
    with page.expect_navigation():
        page.reload()
    expect(results).to_have_text(tried)
    expect(widget.locator(".glue-one .glue-total")).to_have_text("+ 0.27 = \u22120.12")
    results.nth(1).click()
    expect(widget.locator("[aria-live]")).to_have_text(
        "Glued, but only one side is swapped, and 0.27 is added to each result. Row 1, column 2: 1.03; 1.03 is right."
    )
    for answer in (0, 1):  # it must stay on top: where it does not, the question is no longer asked
        widget.locator(".d2lrnn-step-title").last.click()
        answers.nth(answer).click()
        expect(marked).to_have_count(3 if answer == 1 else 0)
        widget.locator(".glue-swap-weights").click()
        expect(told).to_be_hidden()
        expect(answers.filter(visible=True)).to_have_count(0)
        expect(marked).to_have_count(0)
    widget.locator(".d2lrnn-step-title").last.click()
    expect(answers.nth(1)).to_have_attribute("aria-pressed", "true")  # its answer is still there
    expect(results).to_have_text(tried)
    expect(marked).to_have_count(3)
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(".glue-code")).to_have_text(APART)
    assert shape.inner_text() == fresh
    widget = show(page, tmp_path, Concatenation(glued=True, swapped=True))  # as the last question finds it
    widget.locator(".d2lrnn-step-title").last.click()
    answers.nth(1).click()
    expect(marked).to_have_count(3)
    widget.get_by_role("button", name="Reset").click()
    expect(marked).to_have_count(0)


REASONS = {
    1: ["Nothing drops out: 15 again.", "The same numbers meet: 15 again.", "Nothing is added: 15 again."],
    2: [
        "The weights moved, but X and H did not.",
        "Each number meets another row.",
        "All sizes still fit: 5 numbers, 5 rows.",
    ],
    3: [
        "Each number meets its own weights again.",
        "It repairs 0.76 only: 0.37 and \u22120.12 are wrong. \u201cswap X and H\u201d repairs all three.",
        "Then all three stay wrong. The orange weights stay on top, but H can come first: \u201cswap X and H\u201d.",
    ],
}


def test_each_answer_gets_its_own_reason_and_leaves_the_whole_figure_on_a_phone(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 390, "height": 844})
    (tmp_path / "alone.html").write_text(standalone.page_of(Concatenation()), encoding="utf-8")
    page.goto((tmp_path / "alone.html").as_uri())
    widget = page.locator('.d2lrnn-widget[data-ready="1"]')
    told, results = widget.locator(".d2lrnn-outcome"), widget.get_by_role("radio")
    for step, reasons in REASONS.items():
        title = widget.locator(".d2lrnn-step-title").nth(step - 1)
        for chosen, reason in enumerate(reasons):
            title.click()
            results.last.click()  # what was asked is what is told of
            widget.locator(".d2lrnn-answers button").nth(chosen).click()
            expect(told).to_contain_text(reason)
            expect(results.nth(1)).to_be_checked()
            assert len(told.inner_text().split()) <= 36  # of them one is the verdict
            page.evaluate(DRAWN)
            lead, made, panel = widget.locator(".d2lrnn-lead, .glue-made, .d2lrnn-steps").evaluate_all(BOXES)
            assert lead[1] >= 0 and made[3] <= panel[1] + 1 and panel[3] <= 845, (step, chosen)
            widget.locator(".glue-button").click()  # two rows fill the room of the sum, and keep off the panel
            expect(widget.locator(".d2lrnn-past")).to_be_visible()
            page.evaluate(DRAWN)
            row, panel = widget.locator(".glue-two p:last-child, .d2lrnn-steps").evaluate_all(BOXES)
            assert row[3] + 20 < panel[1] and panel[3] <= 845, (step, chosen)
            widget.get_by_role("button", name="Reset").click()
            page.evaluate("scrollTo(0, 0)")


def test_a_swap_that_is_asked_about_waits_for_the_guess_or_is_the_answer(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Concatenation())
    titles, answers = widget.locator(".d2lrnn-step-title"), widget.locator(".d2lrnn-answers button")
    told, code = widget.locator(".d2lrnn-outcome"), widget.locator(".glue-code")

    def carry(name: str, to: str, side: int) -> None:
        left, top, right, bottom = places(widget)[name]
        goal = places(widget)[to][side]
        x, y = (left + right) / 2, (top + bottom) / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(*((x, goal) if name.startswith("W") else (goal, y)), steps=5)
        page.mouse.up()

    titles.nth(1).click()
    right = places(widget)
    for act in (
        lambda: widget.locator(".glue-swap-weights").click(),
        lambda: carry("W_hh", "W_xh", 1),
    ):
        act()
        expect(widget.get_by_role("status")).to_have_text("Guess first: the picture waits.")
        expect(told).to_be_hidden()
        expect(code).to_have_text(GLUED)
        assert places(widget) == right, "a table that was carried is back"
    widget.locator(".glue-swap-rows").click()  # of this it does not ask
    expect(code).to_have_text("torch.cat((H, X), 1) @ torch.cat((W_xh, W_hh), 0)")
    widget.locator(".glue-swap-rows").click()
    answers.nth(1).click()
    expect(told).to_have_text(re.compile("^Right"))
    expect(code).to_have_text(SWAPPED)
    widget.locator(".glue-swap-weights").click()  # it is told: now all moves
    expect(code).to_have_text(GLUED)
    for act in (lambda: widget.locator(".glue-swap-rows").click(), lambda: carry("H", "X", 0)):
        titles.nth(2).click()
        expect(code).to_have_text(SWAPPED)
        act()
        expect(code).to_have_text(BOTH)
        expect(told).to_have_text(re.compile("^Right"))
        expect(answers.first).to_have_attribute("aria-pressed", "true")
        widget.get_by_role("button", name="Reset").click()


def test_the_steps_stand_in_a_row_on_a_phone(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    (tmp_path / "alone.html").write_text(standalone.page_of(Concatenation()), encoding="utf-8")
    for width in (390, 375, 360):
        page.set_viewport_size({"width": width, "height": 740})
        page.goto((tmp_path / "alone.html").as_uri())
        titles = page.locator(".d2lrnn-step-title")
        expect(titles).to_have_text([re.compile(name) for name in ("Less work glued", "Swap one", "Repair")])
        assert len({top for _, top, _, _ in titles.evaluate_all(BOXES)}) == 1, width


def test_on_a_wide_page_the_glued_tables_are_as_broad_as_their_column(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 1280, "height": 800})
    (tmp_path / "alone.html").write_text(standalone.page_of(Concatenation(glued=True)), encoding="utf-8")
    page.goto((tmp_path / "alone.html").as_uri())
    widget = page.locator('.d2lrnn-widget[data-ready="1"]')
    frame, result, stage = (
        widget.locator(part).evaluate_all(BOXES)[0]
        for part in (".glue-frame-rows", ".glue-sum .glue-grid", ".glue-box")
    )
    assert result[2] - frame[0] > 0.9 * (stage[2] - stage[0])
    foot = widget.locator(".d2lrnn-foot").evaluate_all(BOXES)[0]
    assert foot[3] <= 800, "and all of it is in sight"


def test_the_first_question_leaves_glued_what_is_glued(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Concatenation(glued=True))
    widget.locator(".d2lrnn-step-title").first.click()
    expect(widget.locator(".d2lrnn-question")).to_be_visible()
    assert is_glued(widget)
    widget.locator(".d2lrnn-answers button").nth(1).click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Right. The same numbers meet: 15 again.")
    assert is_glued(widget)


def test_new_numbers_make_the_same_result_both_ways(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Concatenation())
    printed = widget.locator(".d2lrnn-now b").last
    widget.get_by_text("Numbers, sizes, code").click()
    for seed in range(71693, 71696):
        widget.get_by_role("button", name="New numbers").click()
        right = f"{Concatenation(seed=seed).two_products[0, 1]:.2f}".replace("-", "\u2212")
        for _ in ("apart", "glued"):
            expect(printed).to_have_text(right)
            check_sums(widget)
            widget.locator(".glue-button").click()


def test_tables_that_go_on_to_the_left_say_so(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=600, height=900) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        widget = show(page, tmp_path, Concatenation(num_inputs=4, num_hiddens=4, glued=True))
        expect(widget.locator(".glue-scrolls")).to_be_hidden()  # all of it fits
        page.set_viewport_size({"width": 320, "height": 900})
        expect(widget.locator(".glue-scrolls")).to_be_visible()
        expect(widget.locator(".glue-more")).to_have_count(1)
        box, name = (widget.locator(query).bounding_box() for query in (".glue-box", ".glue-frame-rows .glue-name"))
        assert box and name and box["x"] + 3 * 16 < name["x"], "its name is not cut nor faded"
        widget.locator(".glue-box").evaluate("(e) => e.scrollTo(0, 0)")
        expect(widget.locator(".glue-more")).to_have_count(0)
        page.set_viewport_size({"width": 390, "height": 900})
        for glued, count in ((True, 1), (False, 0)):  # apart, all of it is in sight
            widget = show(page, tmp_path, Concatenation(num_inputs=4, num_hiddens=4, glued=glued, seed=7080))
            expect(widget.locator(".glue-scrolls").filter(visible=True)).to_have_count(count)
            expect(widget.locator(".glue-more")).to_have_count(count)
        for width in (390, 320):
            page.set_viewport_size({"width": width, "height": 900})
            widget = show(page, tmp_path, Concatenation())
            expect(widget.locator(".glue-scrolls")).to_be_hidden()
        assert record.errors == []


def test_the_narrowest_phone(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(
        viewport={"width": 320, "height": 700}, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    page = context.new_page()
    head = "<style>body { margin: 0 } main { padding: 0 8px }</style>"
    for size in (2, 4):
        widget = show(page, tmp_path, Concatenation(batch_size=size, num_inputs=size, num_hiddens=size), head=head)
        for glued in (False, True):
            assert page.evaluate("document.documentElement.scrollWidth") == 320
            spilt = widget.evaluate(
                "(e) => [...e.querySelectorAll('.glue-cell')].filter((x) => x.checkVisibility())"
                ".filter((x) => x.scrollWidth > x.clientWidth + 1).map((x) => x.textContent)"
            )
            assert spilt == []
            boxes = widget.get_by_role("radio").evaluate_all(BOXES)
            assert all(right - left >= 24 and bottom - top >= 24 for left, top, right, bottom in boxes)
            assert len({round(top) for _, top, *_ in boxes}) == size, "one line for each row"
            for theme in ("light", "dark"):
                page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
                assert page.evaluate(LOW_CONTRAST, 4.5)["found"] == [], (size, glued, theme)
            if not glued:
                widget.locator(".glue-button").click()
                expect(widget.locator(".glue-code")).to_have_text(GLUED)
    context.close()


def test_control_and_effect_share_a_phone_screen(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    widget = show(page, tmp_path, Concatenation(), head="<style>body { margin: 0 }</style>")
    assert (
        widget.evaluate(
            "(e) => e.querySelector('.d2lrnn-step-titles').getBoundingClientRect().top - e.getBoundingClientRect().top"
        )
        <= 720
    )
    context.close()


def test_sentence_label_result_and_sum_change_together(moving: Page, tmp_path: Path) -> None:
    page = moving
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        widget = show(page, tmp_path, Concatenation())
        page.evaluate(TOLD_AT_ONCE)
        code = widget.locator(".glue-code")
        swaps = ((".glue-swap-weights", SWAPPED), (".glue-swap-rows", BOTH))
        for press, end in ((".glue-button", GLUED), *swaps, (".glue-button", APART)):
            widget.locator(press).click()
            page.clock.run_for(3000)
            expect(code).to_have_text(end)
        widget.locator(".d2lrnn-step-title").nth(2).click()
        widget.locator(".d2lrnn-answers button").first.click()
        page.clock.run_for(3000)
        expect(code).to_have_text(BOTH)
        assert set(page.evaluate("[...window.told]")) == {
            "0.73 from X and 0.30 from H make 1.03. Can one table do both?|sum|1.031.03|0.30|two sums",
            "The tables move, and the numbers stay.|sum|1.031.03|0.30|two sums",
            "One weight table gives the same 1.03|= same result|1.031.03|1.03|one sum",
            "Wrong order, but all sizes fit|\u2260 wrong result|0.760.76|0.76|one sum",
            "Both swapped|= same result|1.031.03|1.03|one sum",
        }, width
