"""The explorable Scan on a page without a kernel: ticks, running, cells and their cones, the steps, links."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import Scan
from d2lrnn.widgets.scan import format_value, preset_values
from pages import LOW_CONTRAST, page_of
from watching import Record, watched_page

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=760, height=1000) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        yield page, record
        assert record.errors == [] and record.outside == []


def show(page: Page, folder: Path, widget: Scan, theme: str | None = None) -> Locator:
    (folder / "page.html").write_text(page_of(widget, theme=theme), encoding="utf-8")
    page.goto(f"{folder.as_uri()}/page.html")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(1)
    found = page.locator(".d2lrnn-widget")
    expect(found.locator(".scan-picture text").first).to_be_attached()
    return found


@pytest.fixture
def widget(opened: tuple[Page, Record], tmp_path: Path) -> Locator:
    return show(opened[0], tmp_path, Scan())


START = "Loop: step by step. Scan: two steps become one. Who wins?"
ASKED = "{} steps. A round is all that can be done at the same time."


def now(widget: Locator) -> Locator:
    return widget.locator(".d2lrnn-now")


def slider(widget: Locator, name: str) -> Locator:
    if name == "Steps":
        widget.locator("details").evaluate("(e) => (e.open = true)")
    return widget.get_by_role("slider", name=re.compile(rf"^{name}"))


def press(widget: Locator, name: str) -> None:
    widget.get_by_role("button", name=name, exact=True).click()


def tick(widget: Locator) -> None:
    slider(widget, "Round").press("ArrowRight")


def states(widget: Locator) -> list[str]:
    """The bold numbers, in the order in which they are drawn: the loop's, then those of the scan's cells."""
    return widget.locator("text.scan-state").all_text_contents()


def rects(widget: Locator, selector: str) -> list[dict[str, float]]:
    """Where all these stand, measured at one moment: a figure that is drawn anew between two calls holds others."""
    return widget.evaluate(
        "(e, of) => [...e.querySelectorAll(of)].map((one) => one.getBoundingClientRect().toJSON())", selector
    )


def resize(widget: Locator, width: int, height: int) -> None:
    """Another size of the window; the picture has been drawn for it."""
    widget.page.set_viewport_size({"width": width, "height": height})
    widget.page.wait_for_function(
        "() => { const e = document.querySelector('.scan-picture');"
        " return e.viewBox.baseVal.width === Math.round(e.parentElement.clientWidth); }"
    )


def drawn_joins(widget: Locator, kind: str = "") -> int:
    """How many slanted lines of the scan are drawn."""
    paths = widget.locator(f"path.scan-take{kind}").evaluate_all("(all) => all.map((e) => e.getAttribute('d'))")
    return "".join(paths).count("L")


def shown(values: list[float]) -> list[str]:
    return [format_value(value) for value in values]


def test_it_opens_before_the_first_tick_and_says_nothing_of_the_end(widget: Locator) -> None:
    expect(now(widget)).to_have_text(START)
    assert states(widget) == ["2", "2"], "h1 of the loop, and the first cell of the scan"
    expect(widget.locator("path.scan-take.scan-now, path.scan-take.scan-past")).to_have_count(0)
    expect(widget.locator(".scan-hand")).to_be_hidden()
    heads = widget.locator(".scan-picture text").all_text_contents()
    assert [text for text in heads if text.startswith("round")] == []
    expect(widget.locator("rect.scan-cell")).to_have_count(8 + 8 + 3 * 8)
    expect(widget.locator("rect.scan-open")).to_have_count(7 + 3 * 8)  # of the loop, and of three rounds of the scan
    expect(widget.locator(".scan-cover")).to_have_count(0)
    assert drawn_joins(widget, ".scan-next-step") == 7 + 6 + 4, "and all joins to come, quiet"
    assert drawn_joins(widget, ".scan-kin") == 1, "but for the example's"
    expect(widget.locator("rect.scan-kin")).to_have_count(2 + 1)  # two boxes, and the frame of what they will make
    expect(widget.locator("rect.scan-open.scan-sample")).to_have_count(1)
    expect(widget.locator(".scan-hand-mark")).to_have_count(0)
    expect(widget.locator(".scan-controls label")).to_have_css("opacity", "0")  # the slider comes with the first round
    expect(widget.locator(".scan-lane b")).to_have_text(["1 of 8 states", "1 of 8 states"])
    trick = widget.locator(".scan-trick")  # what a step is, and how two become one
    tops = [widget.locator(part).bounding_box()["y"] for part in (".d2lrnn-now", ".scan-trick", ".scan-picture")]
    assert tops == sorted(tops), "beside the boxes that it explains"
    expect(trick.locator(".trick-op")).to_have_text(["×0.9", "+3", "×0.9", "\u22122"])  # noqa: RUF001
    expect(trick.locator(".trick-through")).to_have_text("+2.7")  # the +3, through ×0.9
    expect(trick.locator(".trick-result")).to_have_text(["×0.81", "+0.7"])  # noqa: RUF001
    expect(trick.locator(".trick-state")).to_have_text(["?"] * 4)
    name_ends = max(box["bottom"] for box in rects(trick, ".trick-name")[:4])
    assert name_ends + 2 <= rects(trick, ".trick-box")[0]["top"], "a name keeps apart from its box"
    names = ["state 3", "state 5", "step 4", "step 5", "steps 4\u2060\u2013\u20605"]
    expect(trick.locator(".trick-name")).to_have_text(names)  # a name once
    expect(trick.locator(".trick-says")).to_have_text("Whatever ? is, two steps make one.")
    sums = trick.locator(".trick-sums")  # where there is room, both sums in two lines, on a phone in one
    lines = ["×:", "0.9 × 0.9 = 0.81", "+:", "3 × 0.9 \u2212 2 = 0.7"]  # noqa: RUF001
    resize(widget, 390, 844)
    expect(sums.locator("span:visible")).to_have_text(lines[1::2])
    assert len({box["y"] for box in rects(trick, ".trick-sums span:nth-child(even)")}) == 1
    resize(widget, 760, 1000)
    expect(sums.locator("span")).to_have_text(lines)
    spots = rects(sums, "span")
    assert spots[1]["x"] == spots[3]["x"] and spots[2]["y"] >= spots[0]["bottom"] - 1
    assert rects(trick, ".trick-sums")[0]["bottom"] <= rects(trick, ".trick-drawn")[0]["bottom"]
    told = "No state is needed for that. 0.9 × 0.9 = 0.81 and 3 × 0.9 \u2212 2 = 0.7."  # noqa: RUF001
    assert trick.get_attribute("aria-label").endswith(told)
    expect(widget.locator("text.scan-step").first).to_have_css("fill", "rgb(27, 33, 40)")  # its words are ink
    expect(widget.locator(".d2lrnn-lead").first).to_contain_text("many sums at once")
    expect(widget.locator(".d2lrnn-lead").first).not_to_contain_text("more work")  # it is the answer to a question
    expect(widget.locator(".scan-hint")).to_have_text(
        "One round: the loop takes one step, the scan makes a whole column at the same time."
    )
    spoken = widget.locator(".scan-picture").get_attribute("aria-label")
    assert "Levels of the scan: 0; states: 1;" in spoken


def test_a_box_in_hand_shows_how_it_joins_before_any_state_is_known(widget: Locator) -> None:
    picture = widget.get_by_role("application")
    for _ in range(6):
        picture.press("ArrowUp")  # from the last box to that of step 3
    trick = widget.locator(".scan-trick")
    rule = "Two steps make one: × 0.9 \u2212 1, then × 0.9 + 1, is × 0.81 + 0.1. "  # noqa: RUF001
    sums = "0.9 × 0.9 = 0.81 and \u22121 × 0.9 + 1 = 0.1."  # noqa: RUF001
    assert trick.get_attribute("aria-label") == f"{rule}No state is needed for that. {sums}"
    steps = ["×0.9", "\u22121", "×0.9", "+1"]  # noqa: RUF001
    expect(trick.locator(".trick-op")).to_have_text(steps)
    expect(trick.locator(".trick-through")).to_have_text("\u22120.9")
    expect(trick.locator(".trick-result")).to_have_text(["×0.81", "+0.1"])  # noqa: RUF001
    expect(trick.locator(".trick-state")).to_have_text(["?"] * 4)  # state 1 is given, and does not enter
    expect(trick.locator(".trick-says")).to_have_text("Whatever ? is, two steps make one.")
    expect(widget.locator("text.scan-sample")).to_have_text("×0.81 +0.1")  # noqa: RUF001
    expect(widget.locator("path.scan-line.scan-kin")).to_have_count(2)  # its two arms
    colour = "(node) => getComputedStyle(node).fill"  # as in the picture: the same boxes and colours
    for i, box in enumerate(
        ("rect.scan-part:not(.scan-sample)", "rect.scan-part:not(.scan-sample)", "rect.scan-sample")
    ):
        fill = widget.locator(box).first.evaluate(colour)
        assert trick.locator(".trick-box").nth(i).evaluate(colour) == fill
    slider(widget, "Round").press("End")
    expect(trick.locator(".trick-op")).to_have_text(steps)
    expect(trick.locator(".trick-state")).to_have_text(["2", "1.72", "2", "1.72"])
    expect(trick.locator(".trick-says")).to_have_text("From 2 both ways lead to 1.72.")
    rule = f"{rule}From 2 both ways lead to 1.72. "
    assert trick.get_attribute("aria-label") == f"{rule}{sums}"
    kin = widget.locator("rect.scan-cell.scan-kin")  # at the end as at the start: both boxes, and what they made
    expect(kin).to_have_count(2 + 1)
    expect(widget.locator("path.scan-line.scan-kin")).to_have_count(2)
    expect(widget.locator("rect.scan-made.scan-kin")).to_have_count(1)
    for _ in range(2):
        picture.press("ArrowUp")  # the box of step 1, which goes through that of step 2
    expect(kin).to_have_count(1)
    picture.press("ArrowDown")
    expect(kin).to_have_count(2 + 1)
    expect(trick.locator(".trick-says")).to_have_text("2 × 0.9 \u2212 1 = 0.8")  # noqa: RUF001


def test_before_the_first_round_a_box_to_come_answers(widget: Locator) -> None:
    says, sample = widget.locator(".trick-says"), widget.locator("text.scan-sample")
    dashed = widget.locator("rect.scan-open.scan-sample").bounding_box()
    at = (dashed["x"] + dashed["width"] / 2, dashed["y"] + dashed["height"] / 2)
    figure = widget.locator(".scan-figure")
    empty = rects(widget, "rect.scan-open")[-1]  # of round 3
    widget.page.mouse.move(empty["x"] + 20, empty["y"] + 10)
    expect(figure).to_have_css("cursor", "auto")
    widget.page.mouse.move(*at)
    expect(figure).to_have_css("cursor", "pointer")
    expect(sample).to_have_text("×0.81 +0.7")  # noqa: RUF001
    widget.page.mouse.click(*at)
    widget.page.mouse.move(5, 5)
    expect(sample).to_have_text("×0.81 +0.7")  # noqa: RUF001
    expect(widget.locator(".scan-hint")).to_contain_text("Lit up: steps 4\u2060\u2013\u20605 become one box")
    widget.page.mouse.click(*at)  # and a second tap lets it go
    widget.page.mouse.move(5, 5)
    expect(widget.locator("rect.scan-open.scan-sample")).to_have_count(1)
    box = widget.locator("rect.scan-part:not(.scan-sample)").first.bounding_box()  # step 2
    widget.page.mouse.click(box["x"] + 20, box["y"] + 10)
    expect(sample).to_have_text("0.8")  # as the picture, so the card
    expect(widget.locator(".trick-state")).to_have_text(["2", "0.8"])
    expect(says).to_have_text("2 × 0.9 \u2212 1 = 0.8")  # noqa: RUF001


def test_both_go_one_tick_at_a_time(widget: Locator) -> None:
    python = Scan()
    expected = shown(python.states_by_loop.tolist())
    tick(widget)
    expect(now(widget)).to_have_text("Round 1: the loop fills 1 box, the scan 7 at the same time.")
    tick(widget)
    share = "(e) => e.getBoundingClientRect().width / e.parentElement.getBoundingClientRect().width"
    for rounds, known, joined in ((1, 2, 6), (2, 4, 4)):  # the headline's 1 and 7 boxes, in the bars
        slider(widget, "Round").fill(str(rounds))
        labels = [f"{rounds + 1} of 8 states", f"{known} known, {joined} joined"]
        expect(widget.locator(".scan-lane b")).to_have_text(labels)
        shares = widget.locator(".scan-fill-joined").evaluate_all(f"(all) => all.map({share})")
        assert shares == pytest.approx([0, joined / 8], abs=0.001)
    expect(now(widget)).to_have_text("Round 2: the loop knows 3 of 8 states, the scan 4.")
    expect(widget.get_by_role("status")).to_have_text("Round 2: the loop knows 3 of 8 states, the scan 4.")
    expect(widget.locator(".scan-controls label")).to_have_css("opacity", "1")
    trick = widget.locator(".scan-trick")  # it tells the join of the lit box, the last of the newest round
    expect(trick.locator(".trick-state")).to_have_text(["?"] * 4)  # the picture shows state 4: it does not enter yet
    expect(trick.locator(".trick-says")).to_have_text("Whatever ? is, two boxes make one.")
    assert trick.get_attribute("aria-label").startswith("Two boxes make one: × 0.81 \u2212 0.8, then")  # noqa: RUF001
    expect(trick.locator(".trick-op")).to_have_text(["×0.81", "\u22120.8", "×0.81", "+2"])  # noqa: RUF001
    expect(trick.locator(".trick-result")).to_have_text(["×0.66", "+1.35"])  # noqa: RUF001
    expect(trick.locator(".trick-name").last).to_have_text("steps 5\u2060\u2013\u20608")
    expect(trick.locator(".trick-joined")).to_have_count(3)
    tick(widget)
    expect(trick.locator(".trick-state")).to_have_text(["≈4.55", "≈4.34"] * 2)  # now it enters; both rows stay
    names = [
        "state 4",
        "state 8",
        "steps 5\u2060\u2013\u20606",
        "steps 7\u2060\u2013\u20608",
        "steps 5\u2060\u2013\u20608",
    ]
    expect(trick.locator(".trick-name")).to_have_text(names)
    expect(trick.locator(".trick-says")).to_have_text("From ≈4.55 both ways lead to ≈4.34.")
    expect(trick.locator(".trick-sums")).to_have_text("4.548 × 0.656 + 1.352 ≈ 4.34")  # noqa: RUF001
    expect(now(widget)).to_have_text("Round 3: the scan knows all 8 states. The loop knows 4.")
    expect(widget.locator(".scan-lane b")).to_have_text(["4 of 8 states", "✓ 3 rounds"])
    expect(widget.locator(".scan-home")).to_have_count(1)
    heads = widget.locator(".scan-picture text").all_text_contents()
    assert [text for text in heads if text.startswith("round")] == ["round 1", "round 2", "round 3"]
    assert [text for text in heads if text.startswith("up to")] == ["up to 2 steps", "up to 4 steps", "up to 8 steps"]
    found = states(widget)
    assert found[:4] == expected[:4] and found[-8:] == expected
    hint = widget.locator(".scan-hint")
    expect(hint).to_have_text(
        "Lit up: state 4 through the box of steps 5\u2060\u2013\u20608 gives state 8. Tap any filled box."
    )
    tick(widget)
    expect(now(widget)).to_have_text("Round 4: the loop knows 5 of 8. The scan finished in round 3.")
    for _ in range(3):
        tick(widget)
    told = "Lit up: state 4 through the box of steps 5\u2060\u2013\u20608 gives state 8."
    expect(hint).to_have_text(told)  # when all is done
    expect(trick.locator(".trick-state")).to_have_text(["≈4.55", "≈4.34"] * 2)
    expect(now(widget)).to_have_text("The same 8 states: 7 rounds for the loop, only 3 for the scan.")
    assert states(widget)[:8] == expected
    label = widget.locator(".scan-controls .scan-slider-label").first
    expect(label).to_have_text("Round 7")  # not of 7: the scan has 3
    slider(widget, "Round").press("Home")
    assert states(widget) == ["2", "2"]


def test_run_stays_under_the_pointer(widget: Locator) -> None:
    for width in (360, 390, 720, 1280):
        resize(widget, width, 1000)
        slider(widget, "Round").press("Home")
        top = rects(widget, ".scan-run")[0]["y"]
        for rounds in range(1, 8):
            tick(widget)
            assert rects(widget, ".scan-run")[0]["y"] == top, f"{width}, round {rounds}"


def test_run_shows_one_round_goes_on_pauses_and_ends_at_the_end(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.clock.install()
    widget = show(page, tmp_path, Scan())
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    slider(widget, "Steps").fill("4")
    for start in (False, True):  # and so again after a reset
        if start:
            press(widget, "Reset")
            slider(widget, "Steps").fill("4")
        press(widget, "Run")
        page.clock.run_for(300)
        expect(now(widget)).to_have_text("Round 1: the loop fills 1 box, the scan 3 at the same time.")
        page.clock.run_for(9000)
        expect(now(widget)).to_contain_text("Round 1:")
        expect(widget.locator(".scan-hint")).to_contain_text("Press Go on: these join again.")
        expect(widget.locator(".scan-waits .scan-run")).to_have_css("outline-style", "solid")
    press(widget, "Go on")
    expect(widget.locator(".scan-hint")).not_to_contain_text("Press Go on")
    page.clock.run_for(300)
    expect(now(widget)).to_contain_text("Round 2:")
    press(widget, "Pause")
    page.clock.run_for(9000)
    expect(now(widget)).to_contain_text("Round 2:")
    press(widget, "Go on")
    page.clock.run_for(9000)
    expect(now(widget)).to_contain_text("The same 4 states: 3 rounds for the loop")
    press(widget, "Run")
    expect(now(widget)).to_have_text(START)
    page.clock.run_for(9000)
    expect(now(widget)).to_contain_text("The same 4 states")  # a round has been seen


def test_a_run_rests_where_the_scan_is_done(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.clock.install()
    widget = show(page, tmp_path, Scan(step=2))
    press(widget, "Go on")
    seen = []
    for _ in range(60):
        page.clock.run_for(100)
        seen.append(slider(widget, "Round").input_value())
    assert seen.count("3") > 2 * seen.count("4") > 0


def test_the_first_run_also_stops_where_boxes_of_two_steps_join(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.clock.install()
    widget = show(page, tmp_path, Scan())
    hint = widget.locator(".scan-hint")
    for rounds, run in ((1, "Run"), (2, "Go on")):
        press(widget, run)
        page.clock.run_for(9000)
        expect(slider(widget, "Round")).to_have_value(str(rounds))
    expect(hint).to_have_text("Lit up: two boxes join: 2 + 2 steps = 4. Press Go on: these join again.")
    press(widget, "Go on")
    page.clock.run_for(9000)
    expect(slider(widget, "Round")).to_have_value("7")


def test_a_step_hides_its_answer_until_a_guess_is_pressed(widget: Locator) -> None:
    tick(widget)
    press(widget, "16 steps?")
    expect(now(widget)).to_have_text(ASKED.format(16))  # to run is to see the answer
    expect(widget.locator(".d2lrnn-outcome")).to_be_hidden()
    for _ in range(4):
        tick(widget)
    expect(widget.locator(".d2lrnn-step")).to_be_visible()  # the reader may look, and is not told
    expect(now(widget)).to_have_text("Round 4: the loop knows 5 of 16 states. And the scan?")
    expect(widget.get_by_role("status")).to_have_text("Round 4: the loop knows 5 of 16 states. And the scan?")
    press(widget, "16 steps?")  # closed, it is told
    expect(now(widget)).to_have_text("Round 4: the scan knows all 16 states. The loop knows 5.")
    press(widget, "16 steps?")
    expect(widget.locator(".scan-trick")).to_be_visible()  # nothing jumps
    top = rects(widget, ".scan-figure")[0]["y"]
    press(widget, "Cost?")
    assert rects(widget, ".scan-figure")[0]["y"] == top
    press(widget, "16 steps?")
    press(widget, "8")
    expect(widget.locator(".d2lrnn-outcome")).to_have_text(
        "Not so. A box covers twice as many steps every round. "
        "4 rounds: joining needs no state, so all boxes join at once: 2, 4, 8, then 16 steps."
    )
    expect(now(widget)).to_contain_text("Round 4: the scan knows all 16 states. The loop knows 5.")
    press(widget, "64 steps?")
    expect(now(widget)).to_have_text(ASKED.format(64))
    cover = widget.locator(".scan-cover")
    expect(widget.locator(".scan-cover-sign")).to_have_text(["How many", "rounds?"])
    expect(cover).to_be_visible()  # no column, no join before the guess
    expect(widget.locator(".scan-picture text", has_text=re.compile(r"^round \d"))).to_have_count(0)
    assert drawn_joins(widget) == 0
    press(widget, "32")
    expect(cover).to_have_count(0)
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text(
        "Not so. Twice the steps cost only one round more. "
        "Only 6: a box covers 2, 4, 8, 16, 32, 64 steps. For 1000 steps 10 rounds, not 999. "
        "An ordinary network bends each state (tanh): its steps cannot join."
    )
    expect(now(widget)).to_contain_text("Round 6: the scan knows all 64 states. The loop knows 7.")
    widget.locator("summary").click()
    slider(widget, "Round").press("End")
    for answer in (".scan-counts", ".scan-filled", ".scan-price"):  # to the next question
        expect(widget.locator(f"{answer}:visible")).to_have_count(0)
    press(widget, "Cost?")
    expect(cover).to_be_visible()
    expect(widget.locator(".scan-cover-sign")).to_have_text(["How many", "boxes?"])
    expect(widget.locator(".scan-picture text", has_text=re.compile(r"^round \d"))).to_have_count(0)  # it may be first
    clock = widget.page.clock
    clock.install()
    clock.pause_at(widget.page.evaluate("Date.now() + 1000"))
    for act in (lambda: press(widget, "Run"), lambda: tick(widget)):  # its columns are the answer: no question stays
        act()
        clock.run_for(200)
        expect(widget.locator(".d2lrnn-step")).to_be_hidden()
        expect(now(widget)).to_have_text("Round 1: the loop fills 1 box, the scan 63 at the same time.")
        expect(widget.locator(".scan-trick")).to_be_visible()
        press(widget, "Cost?")
    clock.resume()
    press(widget, "about 320")
    expect(widget.locator(".scan-counts")).to_contain_text("321")
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text(
        "Right. The sum under the picture is 321: about 5 times as many. "
        "It pays only where many processors work at once."
    )
    expect(widget.locator(".scan-filled-count")).to_have_text(["63", "62", "60", "56", "48", "32"])
    made = widget.locator(".scan-dot.scan-made").evaluate_all("(all) => all.map((e) => e.getAttribute('d'))")
    assert "".join(made).count("M") == 321, "as many boxes are drawn as filled"
    expect(widget.locator(".scan-hint")).to_contain_text(
        "Filled: 63 + 62 + 60 + 56 + 48 + 32 = 321 boxes, the loop 63."
    )
    columns = re.findall(r"M([\d.]+) [^M]*", "".join(made))  # where each drawn box stands
    assert [columns.count(x) for x in sorted(set(columns), key=float)] == [63, 62, 60, 56, 48, 32]
    drawn = "(all) => all.map((e) => e.getAttribute('d')).join('')"
    assert re.findall(r"v([\d.]+)", widget.locator(".scan-dot.scan-made").evaluate_all(drawn)) == ["3"] * 321
    free = re.findall(r"v([\d.]+)", widget.locator(".scan-dot:not(.scan-made)").evaluate_all(drawn))
    assert sorted(free) == ["1"] * (1 + 7 * 64 - 321) + ["3"] * 63, "what is given or copied is thin, but not the loop"
    fills = "(all) => [...new Set(all.map((e) => getComputedStyle(e).fill))]"
    [orange] = widget.locator(".scan-dot.scan-made.scan-part").evaluate_all(fills)  # and as in step 2
    [blue] = widget.locator(".scan-dot.scan-made.scan-state").evaluate_all(fills)
    assert orange != blue
    expect(widget.locator("details")).to_have_attribute("open", "")
    widget.get_by_label("Scan by").select_option("two-sweep")  # of which the step does not tell
    expect(widget.locator(".d2lrnn-step")).to_be_hidden()
    expect(widget.locator(".scan-hint")).to_contain_text("= 120 boxes, the loop 63.")
    slider(widget, "Round").press("ArrowLeft")
    slider(widget, "Round").press("End")
    expect(widget.locator(".scan-price")).to_have_count(0)
    press(widget, "Reset")
    expect(widget.locator("details")).not_to_have_attribute("open", "")
    expect(widget.locator(".d2lrnn-step")).to_be_hidden()
    assert states(widget) == ["2", "2"]


def test_headline_picture_and_answer_are_seen_at_one_look(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 1000, "height": 800})
    widget = show(page, tmp_path, Scan())
    for i in range(3):
        widget.locator(".d2lrnn-step-title").nth(i).click()
        widget.locator(".d2lrnn-answers button").first.click()
        expect(widget.locator(".d2lrnn-outcome")).to_be_in_viewport(ratio=1)
        told = ".scan-hint" if i == 2 else ".scan-trick"  # the sum of the price, or how the lit box was made
        expect(widget.locator(told)).to_be_in_viewport(ratio=1)
        headline, picture = (widget.locator(part).bounding_box() for part in (".d2lrnn-now", ".scan-figure"))
        assert headline["y"] >= 0 and headline["y"] + headline["height"] <= picture["y"] + 1, i
        shows = "([x, y]) => document.elementFromPoint(x, y)?.closest('.d2lrnn-now') !== null"
        assert page.evaluate(shows, [headline["x"] + 40, headline["y"] + headline["height"] / 2]), (
            "nothing lies over it"
        )


def test_with_motion_a_guess_runs_the_race(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="no-preference")
    page.clock.install()
    widget = show(page, tmp_path, Scan())
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    press(widget, "16 steps?")
    press(widget, "8")
    outcome, right = widget.locator(".d2lrnn-outcome"), widget.locator(".d2lrnn-answers button").first
    mark = "(e) => getComputedStyle(e, '::after').content"
    expect(now(widget)).to_have_text(START)
    page.clock.run_for(800)
    expect(now(widget)).to_contain_text("Round 1:")
    expect(widget.locator("rect.scan-slot")).to_have_count(16 + 15)  # what comes in stands in its frame, but for a copy
    expect(outcome).to_be_hidden()  # the picture shows it first, and the panel says so
    told = "(e) => { const s = getComputedStyle(e, '::before'); return s.visibility === 'visible' ? s.content : ''; }"
    assert outcome.evaluate(told) == '"Watch: one round after the other."'
    resize(widget, 390, 844)
    expect(widget.locator(".d2lrnn-answers button:visible")).to_have_text(["4", "8", "15"])
    resize(widget, 760, 1000)
    assert right.evaluate(mark) == "none"
    page.clock.run_for(1800)
    expect(outcome).to_be_visible()
    assert right.evaluate(mark) != "none"
    expect(now(widget)).to_contain_text("Round 4: the scan knows all 16 states. The loop knows 5.")
    page.clock.run_for(9000)
    expect(now(widget)).to_contain_text("Round 4:")
    expect(outcome).not_to_have_class(re.compile("d2lrnn-past"))
    press(widget, "64 steps?")
    press(widget, "6")
    blue = widget.locator(".d2lrnn-step-title[aria-expanded=true]").evaluate("(e) => getComputedStyle(e).borderColor")
    expect(right).to_have_css("border-color", blue)  # chosen, and not yet judged
    page.clock.run_for(300)
    expect(now(widget)).to_contain_text("Round 1:")
    expect(widget.locator(".scan-new").first).to_have_css("animation-name", "scan-fill")  # it fills where it stands
    expect(widget.locator(".scan-slot")).to_have_count(0)  # nothing shines through pale boxes
    press(widget, "64 steps?")  # closed while it plays: it stops, and opened again it plays anew
    expect(widget.get_by_role("button", name="Go on", exact=True)).to_be_visible()
    press(widget, "64 steps?")
    expect(outcome).to_be_hidden()
    page.clock.run_for(4000)
    expect(outcome).to_contain_text("Right. Only 6: a box covers 2, 4, 8, 16, 32, 64 steps.")
    press(widget, "16")
    page.clock.run_for(4000)
    expect(outcome).to_contain_text("Not so. From 16 to 64 the steps double only twice: two rounds more. Only 6")


def test_a_tapped_cell_lights_up_its_cone_and_can_be_changed(widget: Locator) -> None:
    for _ in range(3):
        tick(widget)
    cells = widget.locator("rect.scan-cell")
    last = cells.nth(cells.count() - 2)  # t = 7 after the last level
    box = last.bounding_box()
    widget.page.mouse.click(box["x"] + 20, box["y"] + 10)
    hand = widget.locator(".scan-hand")
    expect(widget.locator(".trick-sums")).to_have_text("1.72 × 0.656 + 1.467 ≈ 2.60")  # noqa: RUF001
    expect(widget.locator("rect.scan-cell.scan-kin")).to_have_count(7 + 4 + 2 + 1)
    expect(hand).to_be_hidden()  # it is made of seven steps
    for _ in range(3):
        widget.get_by_role("application").press("ArrowLeft")
    expect(widget.locator(".trick-op")).to_have_text(["×0.9", "+1", "×0.9", "+0"])  # noqa: RUF001
    factor = slider(widget, "step 7: times")
    factor.fill("0")
    assert states(widget)[-2] == "0"
    slider(widget, "step 7: add").press("End")
    assert states(widget)[-2] == "3"
    for _ in range(6):
        widget.get_by_role("application").press("ArrowUp")
    expect(slider(widget, "step 1: times")).to_have_count(0)  # it meets a state of zero
    slider(widget, "state 1").press("End")
    assert states(widget)[-8] == "3"
    widget.locator("summary").click()
    expect(widget.get_by_label("Example")).to_have_value("own")
    for _ in range(2):
        widget.page.mouse.click(box["x"] + 20, box["y"] + 10)
    expect(hand).to_be_hidden()
    widget.page.mouse.move(5, 5)
    expect(widget.locator("rect.scan-cell.scan-kin")).to_have_count(8 + 4 + 2 + 1)  # the last cell's, by itself


def test_a_box_dragged_to_its_neighbour_joins_it(widget: Locator) -> None:
    page = widget.page

    def drag(one: int, other: int) -> None:
        boxes = [widget.locator("rect.scan-part:not(.scan-sample)").nth(i).bounding_box() for i in (one, other)]
        for act, box in zip((page.mouse.down, page.mouse.up), boxes):
            page.mouse.move(box["x"] + 20, box["y"] + 8, steps=3)
            act()

    for one, other in ((2, 3), (3, 2)):  # steps 4 and 5: the example and the picture show their join
        drag(one, other)
        expect(widget.locator("text.scan-sample")).to_have_text("×0.81 +0.7")  # noqa: RUF001
        expect(widget.locator(".trick-op")).to_have_text(["×0.9", "+3", "×0.9", "\u22122"])  # noqa: RUF001
        expect(widget.locator("rect.scan-kin:not(.scan-sample)")).to_have_count(2)
        widget.get_by_role("application").press("Escape")
    assert page.evaluate("() => String(getSelection())") == ""
    tick(widget)
    drag(2, 3)
    expect(widget.locator(".trick-result")).to_have_text(["×0.81", "+0.7"])  # noqa: RUF001
    expect(widget.locator(".scan-hint")).to_contain_text("Lit up: steps 4\u2060\u2013\u20605 become one box")


def test_a_tap_moves_nothing_and_changes_no_answer(widget: Locator) -> None:
    press(widget, "16 steps?")
    press(widget, "4")
    for width in (720, 800, 1280):
        resize(widget, width, 1200)
        moved = widget.evaluate(
            """async (root) => {
              const parts = [...root.querySelectorAll(".scan-run, .d2lrnn-steps, .d2lrnn-fold")];
              const tops = () => parts.map((e) => e.getBoundingClientRect().y).join();
              const figure = root.querySelector(".scan-figure");
              const start = tops();
              const moved = [];
              for (let i = 0; i < 16 + 5 * 16; i += 1) {
                const { x, y } = root.querySelectorAll("rect.scan-cell")[i].getBoundingClientRect();
                const at = { clientX: x + 10, clientY: y + 10 };
                for (const kind of ["pointerdown", "click"]) figure.dispatchEvent(new PointerEvent(kind, at));
                await new Promise((done) => requestAnimationFrame(done));
                if (tops() !== start) moved.push(i);
              }
              return moved;
            }"""
        )
        assert moved == [], width
        expect(widget.locator(".scan-trick")).to_be_visible()
        expect(widget.locator(".scan-hand")).to_be_hidden()  # the step is about these numbers
        expect(widget.locator(".d2lrnn-outcome")).not_to_contain_text("Your earlier guess")
    slider(widget, "Round").press("ArrowRight")
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Your earlier guess")


def test_in_a_narrow_place_and_with_long_numbers_all_texts_have_a_length(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, record = opened
    for width in (120, 160, 200):
        page.set_viewport_size({"width": width, "height": 800})
        show(page, tmp_path, Scan(**preset_values("gates", 16), method="two-sweep", step=5))
    assert record.errors == []


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_large_numbers_of_the_card_stand_in_their_frames(widget: Locator, width: int) -> None:
    """Smaller; squeezed only where they would be too small; and apart from their neighbours."""
    widget.page.set_viewport_size({"width": width, "height": 900})
    widget.locator("summary").click()
    widget.get_by_label("Example").select_option("explodes")
    slider(widget, "Steps").fill("64")
    apart = """(e) => {
      const box = (x) => x.getBoundingClientRect();
      const all = [...e.querySelectorAll(".trick-op, .trick-result, .trick-state, .trick-chip > text")];
      const seen = all.filter((x) => (x.closest("[opacity]")?.getAttribute("opacity") ?? "1") !== "0");
      const meet = (a, b) => a.right > b.left - 1 && a.left < b.right + 1 && a.bottom > b.top && a.top < b.bottom;
      const frames = [...e.querySelectorAll(".trick-box, .trick-state-box")].map(box);
      const chips = [...e.querySelectorAll(".trick-chip > rect")].filter((x) => x.closest("g").getAttribute("opacity") !== "0");
      const times = seen.filter((x) => x.textContent.startsWith("×"));
      return {
        outside: seen.map(box).filter((b) => !frames.concat(chips.map(box)).some((f) => b.left >= f.left && b.right <= f.right)).length,
        met: times.filter((x) => chips.some((chip) => meet(box(x), box(chip)))).map((x) => x.textContent),
        small: Math.min(...seen.map((x) => parseFloat(getComputedStyle(x).fontSize))),
      }; }"""  # noqa: E501, RUF001
    for method, steps in (("doubling", (3, 4, 5, 6)), ("two-sweep", (4, 6, 7, 9))):
        widget.get_by_label("Scan by").select_option(method)
        for step in steps:
            slider(widget, "Round").fill(str(step))
            found = widget.locator(".scan-trick").evaluate(apart)
            assert (found["outside"], found["met"]) == (0, []), (method, step)
            assert found["small"] >= 10, (method, step)
    if width == 1280:
        expect(widget.locator(".trick-picture [textLength]")).to_have_count(0)


def test_the_pointer_of_the_card_hangs_below_it(widget: Locator) -> None:
    """Of the turned square only the lower half is drawn: nothing in the card is covered."""
    clip = "(e) => getComputedStyle(e, '::after').clipPath"
    assert widget.locator(".scan-trick").evaluate(clip) == "polygon(100% -2px, 100% 100%, -2px 100%)"


def test_a_run_is_told_of_although_a_box_is_in_hand(widget: Locator) -> None:
    widget.locator("summary").click()
    widget.get_by_label("Example").select_option("own")
    widget.get_by_label("Scan by").select_option("two-sweep")
    names = widget.locator(".trick-name")
    expect(names.first).to_have_text("state 1")  # of step 2, in hand
    widget.page.emulate_media(reduced_motion="reduce")
    run = widget.locator(".scan-run")
    run.click()
    newest = ["state 4", "state 6", "step 5", "step 6", "steps 5\u2060\u2013\u20606"]
    expect(names).to_have_text(newest)
    expect(run).not_to_have_text("Pause")
    expect(names).to_have_text(newest)
    expect(widget.locator(".scan-hand")).to_be_visible()
    slider(widget, "step 2: add").fill("2")
    expect(names.first).to_have_text("state 1")  # the box in hand again


def test_the_key_of_two_sweeps_has_both_colours_of_copies(widget: Locator) -> None:
    sign = "(e) => getComputedStyle(e, '::before').backgroundImage"
    key = widget.locator(".scan-key-copied")
    assert key.evaluate(sign) == "none"
    widget.locator("summary").click()
    widget.get_by_label("Scan by").select_option("two-sweep")
    assert key.evaluate(sign).startswith("linear-gradient")


@pytest.mark.parametrize("height", [844, 760])
def test_on_a_phone_an_open_step_leaves_the_key_free(widget: Locator, height: int) -> None:
    widget.page.set_viewport_size({"width": 390, "height": height})
    widget.get_by_role("button", name="64 steps?").click()
    widget.locator(".d2lrnn-answers button").first.click()
    widget.page.wait_for_timeout(400)
    both = "(e) => ['.scan-key', '.d2lrnn-steps'].map((part) => e.querySelector(part).getBoundingClientRect())"
    key, sheet = widget.evaluate(both)
    assert key["bottom"] + 4 <= sheet["top"], (key, sheet)


def test_step_numbers_of_a_dense_figure_keep_apart(widget: Locator) -> None:
    for count in (17, 18, 31, 33, 34, 49, 50, 63):
        slider(widget, "Steps").fill(str(count))
        left = rects(widget, ".scan-picture")[0]["x"]
        tops = sorted(box["y"] for box in rects(widget, ".scan-picture text") if box["x"] < left + 20)[1:]  # "step"
        assert len(tops) > 1
        assert all(b - a >= 15 for a, b in itertools.pairwise(tops)), count


def test_the_example_is_the_tapped_join(widget: Locator) -> None:
    hint, ops, says, sums = (
        widget.locator(f".{part}") for part in ("scan-hint", "trick-op", "trick-says", "trick-sums")
    )
    results, states, names = (widget.locator(f".trick-{part}") for part in ("result", "state", "name"))
    picture = widget.get_by_role("application")
    tick(widget)
    tick(widget)
    start = widget.locator(".scan-picture").bounding_box()
    picture.press("ArrowDown")
    picture.press("ArrowUp")  # the box of steps 4 to 7
    expect(ops).to_have_text(["×0.81", "+0.7", "×0.81", "+0.9"])  # noqa: RUF001
    expect(results).to_have_text(["×0.66", "+1.47"])  # noqa: RUF001
    expect(states).to_have_text(["?"] * 4)
    expect(hint).to_contain_text("Lit up: two boxes join: 2 + 2 steps = 4.")
    for _ in range(3):
        picture.press("ArrowUp")
    expect(states).to_have_text(["0.8", "≈4.55"] * 2)  # a blue box was made from a state and a box
    expect(names).to_have_text(["state 2", "state 4", "step 3", "step 4", "steps 3\u2060\u2013\u20604"])
    expect(results).to_have_text(["×0.81", "+3.9"])  # noqa: RUF001
    expect(says).to_have_text("From 0.8 both ways lead to ≈4.55.")
    expect(sums).to_have_text("0.8 × 0.81 + 3.9 ≈ 4.55")  # noqa: RUF001
    expect(hint).to_contain_text("Lit up: state 2 through the box of steps 3\u2060\u2013\u20604 gives state 4.")
    label = "State 2, 0.8, then × 0.81 + 3.9, is state 4, 4.55."  # noqa: RUF001
    expect(widget.locator(".scan-trick")).to_have_attribute("aria-label", label)
    for _ in range(3):
        picture.press("ArrowUp")
    expect(states).to_have_text(["2"])  # nothing is joined in the first
    expect(says).to_have_text("State 1 is given.")
    expect(hint).to_contain_text("Lit up: a copy of the box on its left.")
    expect(widget.locator(".trick-box")).to_have_count(0)
    for _ in range(2):
        picture.press("ArrowLeft")
    expect(hint).to_contain_text("Lit up: state 1 is given: 2.")
    for _ in range(6):
        picture.press("ArrowDown")
    expect(ops).to_have_text(["×0.9", "+1", "×0.9", "+0"])  # noqa: RUF001
    assert widget.locator(".scan-picture").bounding_box() == start, "nothing jumps"


def test_heads_of_two_sweeps_keep_apart_and_on_a_phone_one_column_holds_the_numbers(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    widget = show(opened[0], tmp_path, Scan(method="two-sweep", step=5))
    for width in (390, 800, 840, 880):
        resize(widget, width, 1000)
        step = widget.locator("text.scan-soft", has_text="step").first.bounding_box()
        heads = rects(widget, "text.scan-text")
        line = sorted((box["x"], box["right"]) for box in heads if abs(box["y"] - step["y"]) < 6)
        (_, step_ends), (state_starts, _) = line[:2]
        assert step_ends + (6 if width == 390 else 12) < state_starts, width
        assert len(line) > 4 and all(right + 12 < left for (_, right), (left, _) in itertools.pairwise(line[1:])), width
        is_small = widget.locator("path.scan-dot").count() > 0  # then its boxes hold no numbers
        assert is_small == (width == 390)
        expect(widget.locator(".scan-picture text", has_text=re.compile("^newest"))).to_have_count(int(is_small))


def test_on_a_phone_every_box_of_eight_steps_keeps_its_number(widget: Locator) -> None:
    python = Scan()
    slider(widget, "Round").press("End")
    expected = shown(python.states_by_loop.tolist())
    reach = 1
    for a, b in python.trace:
        for place, (p, q) in enumerate(zip(shown(a.tolist()), shown(b.tolist()))):
            sign = "" if q.startswith("\u2212") else "+"
            expected += [q] if place < reach else [f"×{p}", sign + q]  # noqa: RUF001
        reach *= 2
    roomy = ["1 step", "up to 2", "up to 4", "up to 8", "round 1", "round 2", "round 3"]
    for width in (340, 360, 390):
        resize(widget, width, 844)
        texts = widget.locator(".scan-picture text").all_text_contents()
        assert texts[-len(expected) :] == expected, width
        heads = roomy if width >= 360 else ["steps per box, up to"]  # that all numbers below share
        known = (*roomy, "steps per box, up to", "newest column")
        assert sorted(text for text in texts if text in known) == sorted(heads), width
        assert "step" in texts and "state" in texts
        above = rects(widget, ".scan-picture text:is(.scan-head, .scan-level, .scan-soft)")
        for line in ([box for box in above if abs(box["bottom"] - y) < 6] for y in {box["bottom"] for box in above}):
            ends = sorted((box["left"], box["right"]) for box in line)
            assert all(right + 3 < left for (_, right), (left, _) in itertools.pairwise(ends)), width
        boxes = rects(widget, "rect.scan-cell")
        assert len(boxes) == 8 + 4 * 8
        for text in rects(widget, "text:is(.scan-state, .scan-part)"):  # in its box
            x, y = (text["left"] + text["right"]) / 2, (text["top"] + text["bottom"]) / 2
            [box] = [one for one in boxes if one["left"] < x < one["right"] and one["top"] < y < one["bottom"]]
            assert box["left"] < text["left"] and text["right"] < box["right"], width
            assert box["top"] - 1 < text["top"] and text["bottom"] < box["bottom"] + 1, width


def test_a_mouse_over_a_cell_lights_it_up_and_leaves_no_trace(widget: Locator) -> None:
    tick(widget)
    loop = widget.locator("rect.scan-cell").nth(1).bounding_box()
    widget.page.mouse.move(loop["x"] + 10, loop["y"] + 10)
    expect(widget.locator("rect.scan-cell.scan-kin")).to_have_count(2 + 2)  # two states, and the pairs of two steps
    expect(widget.locator(".scan-hand")).to_be_hidden()
    single = widget.locator("rect.scan-cell").nth(8 + 5).bounding_box()
    widget.page.mouse.move(single["x"] + 10, single["y"] + 10)
    expect(widget.locator("rect.scan-cell.scan-kin")).to_have_count(2 + 1)  # a step, its partner, what they made
    widget.page.mouse.move(5, 5)
    expect(widget.locator("rect.scan-cell.scan-kin")).to_have_count(2 + 1)  # again the newest column's last box


def test_behind_a_chosen_box_of_the_loop_the_scan_steps_back(widget: Locator) -> None:
    slider(widget, "Round").press("End")
    strong = widget.locator("rect.scan-cell.scan-aside")
    expect(strong).to_have_count(8 + 8)  # the loop, and the scan's last column
    box = widget.locator("rect.scan-cell").nth(3).bounding_box()
    widget.page.mouse.click(box["x"] + 10, box["y"] + 10)
    expect(strong).to_have_count(8)  # the loop
    expect(widget.locator("rect.scan-cell.scan-kin")).to_have_count(4 + 4)  # states of the loop, and the steps


def test_with_two_steps_nothing_joins(opened: tuple[Page, Record], tmp_path: Path) -> None:
    widget = show(opened[0], tmp_path, Scan(**preset_values("fading", 2)))
    expect(widget.locator(".trick-both")).to_have_count(0)
    expect(now(widget)).to_have_text("So few steps: loop and scan need the same number of rounds.")


def test_cells_are_chosen_by_the_keyboard(widget: Locator) -> None:
    tick(widget)
    picture = widget.get_by_role("application")
    picture.press("ArrowDown")
    names, hand = widget.locator(".trick-name"), widget.locator(".scan-hand")
    expect(names.last).to_have_text("steps 7\u2060\u2013\u20608")
    picture.press("ArrowUp")
    expect(names.last).to_have_text("steps 6\u2060\u2013\u20607")
    expect(hand).to_be_hidden()
    picture.press("ArrowLeft")
    expect(hand).to_contain_text("step 7: times 0.9")
    picture.press("ArrowLeft")
    expect(names).to_have_text(["state 1", "step 2", "state 2"])
    expect(widget.locator(".trick-says")).to_have_text("2 × 0.9 \u2212 1 = 0.8")  # noqa: RUF001
    picture.press("Escape")
    expect(widget.locator(".scan-hand")).to_be_hidden()


def test_more_holds_examples_schedules_counts_and_the_difference(widget: Locator) -> None:
    widget.locator("summary").click()
    slider(widget, "Steps").fill("16")
    widget.get_by_label("Scan by").select_option("two-sweep")
    ticks = slider(widget, "Round")
    equal = widget.locator(".scan-equal")
    for name in ("sum", "fading", "halving", "gates", "explodes"):
        widget.get_by_label("Example").select_option(name)
        ticks.fill("0")
        expect(equal).to_be_hidden()
        ticks.fill("15")
        python = Scan(**preset_values(name, 16), method="two-sweep")
        assert states(widget)[:16] == shown(python.states_by_loop.tolist())
        assert states(widget)[-16:] == shown(python.states_by_scan.tolist())
        found = python.differences
        expect(equal).to_contain_text("exactly the same" if found["float64"] == 0 else "differ by at most")
        assert "at most 0 " not in equal.inner_text()
    expect(widget.locator(".scan-growth")).to_have_text(
        "From 8 to 64 steps the loop goes from 7 to 63 rounds, the scan from 5 to 11."
    )
    rows = widget.locator(".scan-counts tbody tr").all_inner_texts()
    assert [re.findall(r"\d+", row) for row in rows] == [["15", "15", "15"], ["7", "26", "37"]]
    slider(widget, "Steps").press("Home")
    tick(widget)
    expect(now(widget)).to_contain_text("Round 1: both know all 2 states.")


def test_your_own_opens_the_numbers_of_a_step(widget: Locator) -> None:
    widget.locator("summary").click()
    example = widget.get_by_label("Example")
    example.select_option("own")
    expect(example).to_have_value("own")
    expect(slider(widget, "step 2: times")).to_be_in_viewport()
    expect(slider(widget, "step 2: times")).to_be_focused()
    slider(widget, "step 2: add").press("Home")
    tick(widget)
    assert states(widget)[1] == "\u22121.2"
    expect(example).to_have_value("own")
    example.select_option("fading")
    assert states(widget)[1] == "0.8"
    example.select_option("own")
    press(widget, "Reset")
    expect(example).to_have_value("fading")
    expect(widget.locator(".scan-hand")).to_be_hidden()


def test_a_state_reads_the_same_beside_its_box(opened: tuple[Page, Record], tmp_path: Path) -> None:
    gates = Scan(**preset_values("gates", 16), method="two-sweep", step=4)
    trick = show(opened[0], tmp_path, gates).locator(".scan-trick")
    expect(trick.locator(".trick-state")).to_have_text(["3.6", "≈2.10"] * 2)  # 2.095


def test_the_cells_hold_steps_and_the_last_ones_parts_light_up(widget: Locator) -> None:
    tick(widget)
    steps = widget.locator("text.scan-step").all_text_contents()
    a, b = Scan().trace[1]
    signed = [("" if q < 0 else "+") + format_value(q) for q in b.tolist()]
    assert steps[7:] == [f"×{format_value(p)} {q}" for p, q in zip(a.tolist(), signed)][2:]  # noqa: RUF001
    expect(widget.locator("text.scan-copy")).to_have_text("2")
    told = "Lit up: steps 4\u2060\u2013\u20605 become one box, before state 3 is known. Press Go on: these join again."
    expect(widget.locator(".scan-hint")).to_have_text(told)
    expect(widget.locator("rect.scan-cell.scan-kin")).to_have_count(2 + 1)
    assert drawn_joins(widget, ".scan-kin") == 1 and drawn_joins(widget) == 7 + 6 + 4
    for _ in range(2):
        tick(widget)
    assert drawn_joins(widget, ".scan-kin") == 7
    expect(widget.locator("rect.scan-cell.scan-kin")).to_have_count(8 + 4 + 2 + 1)


def test_of_many_joins_only_those_of_the_lit_box_are_drawn(widget: Locator) -> None:
    slider(widget, "Steps").press("End")
    assert drawn_joins(widget) == 0
    for rounds, joins in ((3, 1 + 2 + 4), (6, 63)):  # down to the steps that are joined: at the end the whole tree
        slider(widget, "Round").fill(str(rounds))
        assert drawn_joins(widget, ".scan-kin") == drawn_joins(widget) == joins
    expect(widget.locator(".scan-hint")).to_contain_text("Lines: what one box is made of.")
    strong, quiet = (
        float(widget.locator(f"path.scan-take{kind}").first.evaluate("(e) => getComputedStyle(e).strokeOpacity"))
        for kind in (":not(.scan-far)", ".scan-far")
    )
    assert strong > 2 * quiet


def test_the_join_shows_itself_when_it_is_seen_and_when_it_is_tapped(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="no-preference")
    widget = show(page, tmp_path, Scan())
    trick = widget.locator(".scan-trick")
    seen = "(all) => all.map((e) => e.getAttribute('opacity')).join('')"
    shows = "(e) => e.getAttribute('opacity') === '1'"
    riders, result = trick.locator(".trick-chip.trick-rider"), trick.locator(".trick-result")
    expect(riders).to_have_text(["+3", "+2.7", "+0.7"])
    for i in range(3):  # it rides, is multiplied, and added to
        page.wait_for_function(shows, arg=riders.nth(i).element_handle())
        assert result.evaluate_all(seen) == "10", "×0.81 stands, the sum comes last"  # noqa: RUF001
    page.wait_for_function(shows, arg=result.last.element_handle())
    assert result.evaluate_all(seen) == "11" and riders.evaluate_all(seen) == "000"
    trick.click()
    expect(riders.first).to_have_attribute("opacity", "1")
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, Scan())
    still = "(all) => all.every((e) => e.getAttribute('opacity') === '1')"
    assert trick.locator(".trick-ride, .trick-chip:not(.trick-rider), .trick-result").evaluate_all(
        f"(all) => all.length === 5 + 3 + 2 && ({still})(all.filter((e) => e.hasAttribute('opacity')))"
    ), "still: the whole way is seen"


def test_at_no_moment_of_the_join_one_number_lies_over_another(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="no-preference")
    page.clock.install()
    widget = show(page, tmp_path, Scan())
    page.clock.pause_at(page.evaluate("Date.now() + 9000"))
    overprinted = """(trick) => {
      const seen = [...trick.querySelectorAll("text, g")].filter((e) => !e.matches("g text"))
        .filter((e) => e.getAttribute("opacity") !== "0" && !(e.matches("g") && e.childElementCount < 2))
        .map((e) => ({ text: e.textContent, ...e.getBoundingClientRect().toJSON() }));
      const laps = (p, q) => p.left < q.right && q.left < p.right && p.top + 3 < q.bottom && q.top + 3 < p.bottom;
      return seen.flatMap((p, i) => seen.slice(i + 1).filter((q) => laps(p, q)).map((q) => [p.text, q.text]));
    }"""
    for width in (320, 390, 1280):
        resize(widget, width, 844)
        trick = widget.locator(".scan-trick")
        trick.click()
        bold = set()
        for moment in range(22):
            page.clock.run_for(200)
            assert trick.evaluate(overprinted) == [], f"{width}, {moment}"
            bold.add(tuple(trick.locator(":is(text, span).trick-rider").all_text_contents()))
        factors, added = "0.9 × 0.9 = 0.81", "3 × 0.9 \u2212 2 = 0.7"  # noqa: RUF001
        steps = {("×0.9", "×0.9", factors), ("×0.9", added), ("\u22122", added), ()}  # noqa: RUF001
        assert {tuple(sorted(one, key=len)) for one in bold} == steps, "what is computed now"


def test_a_finger_on_a_box_brings_its_sliders_on_the_screen(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 390, "height": 640})
    widget = show(page, tmp_path, Scan())
    box = widget.locator("rect.scan-part:not(.scan-sample)").nth(2)  # step 4, before the first round
    box.scroll_into_view_if_needed()
    box.click(force=True)
    for name in ("times", "add"):
        expect(slider(widget, f"step 4: {name}")).to_be_in_viewport(ratio=1)
    expect(box).to_be_in_viewport(ratio=1)
    hint = widget.locator(".scan-hint")  # and the way on
    expect(hint).to_contain_text("before state 2 is known. Tap another, or press Run.")
    tick(widget)
    expect(hint).to_contain_text("Tap another, or press Go on.")
    slider(widget, "Round").press("End")
    expect(hint).to_contain_text("Tap another, or press Run.")


def test_reset_and_link_bring_back_what_they_should(widget: Locator, opened: tuple[Page, Record]) -> None:
    page, _ = opened
    length = slider(widget, "Steps")
    before = widget.locator(".scan").inner_text()
    length.fill("13")
    tick(widget)
    tick(widget)
    for key in ("ArrowUp", "ArrowLeft", "ArrowLeft"):
        widget.get_by_role("application").press(key)
    slider(widget, "step 13: add").press("ArrowRight")
    expected = widget.locator(".scan").inner_text()
    press(widget, "Link to this")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(slider(widget, "Steps")).to_have_value("13")
    expect(widget.locator(".scan")).to_have_text(expected, use_inner_text=True)
    press(widget, "Go on")
    press(widget, "Reset")
    expect(slider(widget, "Steps")).to_have_value("8")
    expect(widget.locator(".scan")).to_have_text(before, use_inner_text=True)
    page.wait_for_timeout(1000)
    assert states(widget) == ["2", "2"]


@pytest.mark.parametrize(
    "state",
    [
        {"a": [9e9, 1], "x": ["<img src=x>", "1"], "method": "<b>", "step": -1, "place": 99},
        {"a": [], "x": []},
        {"a": [1, 1, 1], "x": [1] * 16, "step": 15, "place": 16, "level": 11},
        {"a": [[1], [1]], "x": {"0": 1}},
    ],
)
def test_a_link_can_set_nothing_out_of_bounds(widget: Locator, state: dict[str, object]) -> None:
    page = widget.page
    page.evaluate("(s) => { location.hash = `#explore=Scan.0&state=${s}` }", quote(json.dumps(state)))
    page.wait_for_timeout(100)
    expect(widget).to_have_attribute("data-ready", "1")
    assert not re.search(r"NaN|undefined|Infinity", widget.inner_text())
    assert page.locator("img").count() == 0
    expect(slider(widget, "Steps")).to_have_value("3" if len(state["a"]) == 3 else "8")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_largest_figure_with_numbers_fits_a_phone(opened: tuple[Page, Record], tmp_path: Path, theme: str) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 320, "height": 780})
    numbers = {"a": [-1.5] * 16, "x": [-2.5] * 16}
    widget = show(page, tmp_path, Scan(**numbers, method="two-sweep", step=5, place=11), theme=theme)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 320
    contrast = page.evaluate(LOW_CONTRAST, 4.5)
    assert contrast["checked"] > 60 and contrast["found"] == []
    frame = widget.locator(".scan-picture").bounding_box()
    texts = widget.locator(".scan-picture text")
    boxes = texts.evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().toJSON())")
    for box in boxes:
        assert box["left"] >= frame["x"] - 1 and box["right"] <= frame["x"] + frame["width"] + 1
    lines = sorted((round(box["top"]), box["left"], box["right"]) for box in boxes)
    for (top, _, right), (next_top, left, _) in itertools.pairwise(lines):
        assert top != next_top or right <= left, "numbers of one line overlap"


def apart(boxes: list[dict[str, float]], gap: float) -> bool:
    """These texts of one line stand in the picture and keep apart."""
    boxes = sorted(boxes, key=lambda box: box["left"])
    return len(boxes) > 1 and all(one["right"] + gap <= other["left"] for one, other in itertools.pairwise(boxes))


@pytest.mark.parametrize("num_steps, method", [(8, "doubling"), (64, "doubling"), (64, "two-sweep")])
def test_the_heads_stand_apart(opened: tuple[Page, Record], tmp_path: Path, num_steps: int, method: str) -> None:
    widget = show(opened[0], tmp_path, Scan(**preset_values("fading", num_steps), method=method, step=num_steps - 1))
    for width in (320, 360, 390, *((580, 720, 1280) if method == "doubling" else ())):
        resize(widget, width, 844)
        right = rects(widget, ".scan-picture")[0]["right"]
        boxes = rects(widget, ".scan-picture :is(.scan-head, .scan-level)")
        for top in {box["top"] for box in boxes}:
            line = [box for box in boxes if box["top"] == top]
            assert len(line) < 2 or apart(line, 4), width
        for rounds in (5, num_steps - 1):  # each with its neighbours
            slider(widget, "Round").fill(str(rounds))
            for y in ("14.5", "35.5"):
                line = rects(widget, f'.scan-picture text[y="{y}"]')
                assert apart(line, 4 if width > 400 else 1.5), f"{width} {rounds} {y}"
                assert max(box["right"] for box in line) <= right + (0 if width > 400 else 1), f"{width} {rounds} {y}"


def test_the_picture_keeps_its_width_in_every_round(widget: Locator) -> None:
    slider(widget, "Steps").press("End")
    for width in (320, 390, 720):
        resize(widget, width, 844)
        widths = set()
        for rounds in range(8):
            slider(widget, "Round").fill(str(rounds))
            labels = widget.locator(".scan-lane b").evaluate_all(
                "(all) => all.map((e) => e.scrollWidth - e.clientWidth)"
            )
            assert max(labels) <= 0, f"{width}, round {rounds}"
            widths.add(rects(widget, ".scan-figure")[0]["width"])
            trick, *boxes = rects(
                widget, ".scan-trick, .trick-picture :is(rect, text), :is(.trick-says, .trick-sums span)"
            )
            assert max(box["right"] for box in boxes) <= trick["right"] + 0.5, f"{width}, round {rounds}"
            low, top = rects(widget, ".trick-picture rect"), rects(widget, ".trick-says b")
            if width < 720:  # under the strip, with air between
                assert all(box["top"] >= max(one["bottom"] for one in low) + 1 for box in top), f"{width}, {rounds}"
        assert len(widths) == 1, width


def test_on_a_phone_run_and_picture_share_a_screen(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.emulate_media(reduced_motion="reduce")
    for num_steps in (8, 16, 64):
        widget = show(page, tmp_path, Scan(**preset_values("fading", num_steps), step=3))
        picture = widget.locator(".scan-picture").bounding_box()
        foot = picture["y"] + picture["height"]
        assert foot - widget.bounding_box()["y"] <= (780 if num_steps == 16 else 700)
    box = widget.locator(".scan-figure").bounding_box()
    page.touchscreen.tap(box["x"] + 42, box["y"] + 56)
    expect(widget.locator(".scan-hint")).to_contain_text("Lit up: state 3 through the box of step 4 gives state 4.")
    context.close()


def test_on_a_phone_an_open_step_leaves_the_figure_in_sight(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, Scan())

    def sees(*parts: str) -> None:
        page.wait_for_timeout(200)
        foot = widget.locator(".d2lrnn-steps").bounding_box()["y"]
        for part in parts:
            box = widget.locator(part).bounding_box()
            assert box["y"] >= 0 and box["y"] + box["height"] <= foot + 1, part

    for i, title in enumerate(("16 steps?", "64 steps?", "Cost?")):
        press(widget, title)
        sees(*([".scan-trick"] if i < 2 else []), ".d2lrnn-now", ".scan-run", ".scan-picture")
        widget.locator(".d2lrnn-answers button").nth(2 if i == 2 else 0).click()
        sees(".d2lrnn-now", ".scan-run", ".scan-picture")
        if i == 0:  # how the last box was made
            expect(widget.locator(".trick-sums")).to_have_text("4.34 × 0.43 + 2.55 ≈ 4.42")  # noqa: RUF001
            sees(".scan-trick")
    context.close()


def test_removed_from_the_page_it_stops_walking(widget: Locator) -> None:
    page = widget.page
    page.evaluate(
        "() => { globalThis.cleared = 0; const f = clearTimeout;"
        " globalThis.clearTimeout = (timer) => { if (timer) cleared += 1; f(timer); }; }"
    )
    press(widget, "Run")
    page.evaluate("() => { cleared = 0; document.querySelector('.d2lrnn-widget').remove(); }")
    page.wait_for_function("() => globalThis.cleared >= 1")


def test_a_key_tells_every_colour_and_stays_where_a_copy_is_lit(opened: tuple[Page, Record], tmp_path: Path) -> None:
    lit = {"method": "two-sweep", "step": 11, "level": 4, "place": 10}
    widget = show(opened[0], tmp_path, Scan(**preset_values("fading", 64), **lit))
    expect(widget.locator(".scan-hint")).to_have_text("Lit up: a copy of the box on its left.")
    key = widget.locator(".scan-key > :visible")
    expect(key).to_have_text(["state known", "joined", "1 step", "copied"])
    line = "(e) => getComputedStyle(e, '::before').height"
    assert key.last.evaluate(line) == "2px", "its sign is a line, as a copy is"
    heights = "(all) => [...new Set(all.flatMap((e) => e.getAttribute('d').match(/v[0-9.]+/g)))]"
    for kind, tall in ((".scan-made", "v3"), (".scan-copy", "v1")):
        assert widget.locator(f".scan-dot{kind}").evaluate_all(heights) == [tall], kind
    widget.get_by_role("application").press("Escape")
    expect(key).to_have_text(["state known", "joined", "1 step", "copied"])
    slider(widget, "Steps").fill("16")  # there a box says what it does
    expect(key).to_have_text(["state known", "joined", "copied"])
    expect(widget.locator(".scan-hint")).to_have_text("Tap a filled box: its numbers stand above.")


def test_a_copy_is_a_number_on_a_line_without_a_box(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """From the box that it copies: as far as the column's edge, but for the number."""
    widget = show(opened[0], tmp_path, Scan(step=3, level=2, place=8))
    paint = "(all) => [...new Set(all.map((e) => { const s = getComputedStyle(e); return s.fill + ' ' + s.stroke; }))]"
    copied = widget.locator("rect.scan-cell.scan-copy")
    assert copied.evaluate_all(paint) == ["none none"]
    boxes = widget.locator("rect.scan-cell:not(.scan-copy)")
    assert all("none" not in each for each in boxes.evaluate_all(paint))
    wires = widget.locator("path.scan-wire").evaluate_all("(all) => all.map((e) => e.getAttribute('d')).join('')")
    assert wires.count("M") == 2 * (1 + 2 + 4), "left and right of each number"
    numbers = rects(widget, "text.scan-copy")
    copies = rects(widget, "rect.scan-cell.scan-copy")
    left = rects(widget, ".scan-picture")[0]["left"]
    found = re.findall(r"M([\d.]+) ([\d.]+)H([\d.]+)M([\d.]+) [\d.]+H([\d.]+)", wires)
    assert len(found) == 7
    for start, _, end, other, last in [[float(x) + left for x in each] for each in found]:
        assert any(end < number["left"] and number["right"] < other for number in numbers)
        assert any(start < box["left"] and last == pytest.approx(box["right"], abs=0.4) for box in copies)
    widget = show(opened[0], tmp_path, Scan(method="two-sweep", step=7))  # there what is lit was copied too
    expect(widget.locator("rect.scan-copy.scan-kin")).not_to_have_count(0)
    assert widget.locator("rect.scan-cell.scan-copy").evaluate_all(paint) == ["none none"]


def test_in_a_long_race_of_boxes_an_example_lights_up_no_more_than_the_strip_tells(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    opened[0].set_viewport_size({"width": 1280, "height": 900})
    widget = show(opened[0], tmp_path, Scan(**preset_values("fading", 16), step=3))
    kin = widget.locator("rect.scan-cell.scan-kin")
    expect(kin).to_have_count(2 + 1)
    tick(widget)  # a state through a box, and how both were made
    expect(kin).to_have_count(4 + 2 + 1)
    box = rects(widget, "rect.scan-cell.scan-end")[-1]
    opened[0].mouse.click(box["x"] + 10, box["y"] + 5)  # the reader's: all that it is made of
    expect(kin).to_have_count(16 + 8 + 4 + 2 + 1)


def test_the_strip_points_at_the_column_of_the_box_that_it_tells_of(widget: Locator) -> None:
    points = """(e) => {
      const s = getComputedStyle(e, "::after");
      return s.content === "none" ? null : e.offsetLeft + parseFloat(s.left) + parseFloat(s.width) / 2; }"""
    trick, left = widget.locator(".scan-trick"), rects(widget, ".scan-play")[0]["left"]
    for rounds, box in enumerate(("rect.scan-sample", *["rect.scan-made.scan-kin"] * 2, "rect.scan-end.scan-kin")):
        if rounds:
            tick(widget)
        at = rects(widget, box)[-1]
        assert trick.evaluate(points) == pytest.approx((at["left"] + at["right"]) / 2 - left, abs=1.5), rounds
    press(widget, "64 steps?")
    assert trick.evaluate(points) is None, "a question hides the columns"
