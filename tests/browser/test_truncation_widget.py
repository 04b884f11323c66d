"""The explorable Truncation on a page without a kernel: cuts dragged, letters touched, keys, steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import Truncation
from pages import page_of
from watching import Record, watched_page

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=760, height=900) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        yield page, record
        assert record.errors == [] and record.outside == []


def show(page: Page, folder: Path, widget: Truncation) -> Locator:
    (folder / "page.html").write_text(page_of(widget), encoding="utf-8")
    page.goto(f"{folder.as_uri()}/page.html")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(1)
    return page.locator(".d2lrnn-widget")


def now(widget: Locator) -> Locator:
    return widget.locator(".d2lrnn-now")


def drag(page: Page, widget: Locator, letters: int) -> None:
    """Drag the scissors by so many letters."""
    grip = widget.locator(".trunc-grip").bounding_box()
    letter = widget.locator(".trunc-bars").bounding_box()["width"] / 24
    x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + letters * letter, y, steps=3)
    page.mouse.up()


def sent(widget: Locator, kind: str = "kept") -> list[float]:
    """What each letter of the way back gets, or would get, as shares of what the last gets."""
    shares = "(all) => all.map((one) => parseFloat(one.style.height) / 100)"
    return widget.locator(f".trunc-is-{kind}").evaluate_all(shares)


def cuts(widget: Locator) -> Locator:
    return widget.locator(".trunc-cut:not([hidden])")


def test_the_scissors_move_all_cuts(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    expect(now(widget)).to_have_text(Truncation().static_sentence())
    expect(cuts(widget)).to_have_count(4)
    drag(page, widget, 2)
    expect(now(widget)).to_have_text(Truncation(tau=8).static_sentence())
    expect(cuts(widget)).to_have_count(3)
    drag(page, widget, -4)
    expect(now(widget)).to_have_text(Truncation(tau=4).static_sentence())
    drag(page, widget, 30)
    expect(now(widget)).to_have_text(Truncation(tau=24).static_sentence())
    widget.get_by_role("button", name="Reset").click()
    expect(now(widget)).to_have_text(Truncation().static_sentence())


def test_the_other_way_has_one_cut_that_follows_the_letter(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    arrows = widget.locator(".trunc-arrow:not([hidden])")
    expect(arrows).to_have_count(4)  # one way back for each window
    work, done = widget.locator(".trunc-work"), "(one) => one.offsetWidth / one.parentNode.clientWidth"
    expect(work).to_have_text("Work24 steps back")
    assert work.locator(".trunc-fill").evaluate(done) == pytest.approx(24 / 24**2, abs=0.02)
    widget.locator(".trunc-ways").get_by_role("button", name="Always 6 back").click()
    expect(now(widget)).to_have_text(Truncation(way="losses").static_sentence())
    expect(cuts(widget)).to_have_count(1)
    expect(arrows).to_have_count(1)  # of the chosen guess
    expect(work).to_have_text("Work144 steps back")
    assert work.locator(".trunc-fill").evaluate(done) == pytest.approx(144 / 24**2, abs=0.02)
    expect(widget.locator(".trunc-states")).to_have_text("Storage6 letters kept")
    drag(page, widget, 3)  # nearer to the letter: the way back is shorter
    expect(now(widget)).to_have_text(Truncation(way="losses", tau=3).static_sentence())
    assert sent(widget) == pytest.approx([0.64, 0.8, 1])


def test_a_letter_shows_how_far_back_it_reaches(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    told, sums = widget.locator(".trunc-told"), widget.locator(".trunc-sum")
    cannot = "cannot teach the network to remember"
    expect(told).to_have_text(f"The guess after e {cannot} ships.")
    missed = widget.locator(".trunc-missed")
    expect(missed).to_have_text([*"ships"])
    counted = widget.locator(".trunc-counted")
    expect(counted).to_have_text("The guess after e: 3.36 out of 5 is 67% (5 = 1 + 0.8 + 0.64 + …).")
    expect(sums).to_have_text(["← 33% cut off", "67% left"])
    cut, kept = cuts(widget).first.bounding_box(), widget.locator(".trunc-is-kept").first.bounding_box()
    assert abs(cut["x"] + cut["width"] / 2 - kept["x"]) < 4, "the cut that is dragged is the one of this guess"
    drag(page, widget, 6)
    expect(told).to_have_text("The guess after e reaches 11 letters, its own included.")
    drag(page, widget, -6)
    widget.locator(".trunc-letter").nth(11).click()
    expect(told).to_have_text(f"The guess after ␣ {cannot} ships.")
    expect(missed).to_have_text([*"ships"])
    assert sent(widget) == pytest.approx([0.8**lag for lag in range(5, -1, -1)], abs=1e-3)
    assert sent(widget, "cut") == pytest.approx([0.8**lag for lag in range(13, 5, -1)], abs=1e-3)  # two before the line
    assert sum(0.2 * share for share in sent(widget)) == pytest.approx(Truncation().kept[11], abs=1e-3)
    expect(sums).to_have_text(["← 26% cut off", "74% left"])
    line = widget.locator(".trunc-bars").bounding_box()
    page.mouse.click(line["x"] + line["width"] / 2 + 2, line["y"] + 20)  # beside a cut it is a letter, too
    expect(told).to_have_text(f"The guess after a {cannot} leave.")
    widget.locator(".trunc-letter").nth(11).click()
    letters = widget.get_by_role("slider", name="The guess after")
    letters.press("ArrowLeft")
    expect(sums).to_have_text(["← 33% cut off", "67% left"])
    assert letters.get_attribute("aria-valuetext") == "letter 11 of 24, e: 67% left"
    letters.press("Home")
    # no word lies before it; what is cut off lies left of the line
    expect(told).to_have_text("The guess after s reaches its own letter alone.")
    assert sent(widget, "cut") == pytest.approx([0.64, 0.8], abs=1e-3)
    line, part = widget.locator(".trunc-bars").bounding_box(), widget.locator(".trunc-is-cut").last.bounding_box()
    assert part["x"] + part["width"] < line["x"] + 1 and part["x"] >= widget.bounding_box()["x"]
    widget.get_by_role("button", name="Reset").click()
    expect(told).to_have_text(f"The guess after e {cannot} ships.")


def test_a_word_that_a_cut_divides_is_not_named(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation(tau=8))  # ships le|ave afte|r sunset
    for place, word in ((12, "ships"), (17, "leave"), (4, "")):
        widget.locator(".trunc-letter").nth(place).click()
        expect(widget.locator(".trunc-missed")).to_have_text([*word])


def test_the_bars_are_as_high_as_what_gets_through(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    flow = Truncation(tau=4)
    widget = show(page, tmp_path, flow)
    heights = "(all) => all.map((one) => one.offsetHeight / one.parentNode.offsetHeight)"
    found = widget.locator(".trunc-bars .trunc-fill").evaluate_all(heights)
    assert found == pytest.approx(flow.kept.tolist(), abs=0.01)


def test_keys_move_the_cut_and_the_memory(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    cut = widget.get_by_role("slider", name="Letters from cut to cut")
    cut.press("ArrowRight")
    expect(now(widget)).to_have_text(Truncation(tau=8).static_sentence())
    assert cut.get_attribute("aria-valuetext") == "8"
    cut.press("Home")
    expect(now(widget)).to_have_text(Truncation(tau=1).static_sentence())
    memory = widget.get_by_label(re.compile("^Each letter keeps"))
    memory.press("Home")
    expect(now(widget)).to_have_text(Truncation(tau=1, factor=0.5).static_sentence())
    assert "0.5" in memory.get_attribute("aria-valuetext")
    memory.press("End")
    expect(widget.get_by_role("status")).to_contain_text(Truncation(tau=1, factor=0.95).static_sentence())


def test_a_step_asks_first_and_tells_after_a_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    outcome, work = widget.locator(".d2lrnn-outcome"), widget.locator(".trunc-work > .trunc-row-value")
    height = page.evaluate("() => document.querySelector('.trunc-figure').offsetHeight")
    states = ({}, {"way": "losses"}, {"factor": 0.5})
    for i, (answer, told) in enumerate(
        (
            ("all as little", "20% of its signal is left, and the past gets nothing. Five letters later, 74% is left."),
            ("48", "letters = 144 steps. Now all keep as much: 26% is cut off, not 49%."),
            ("Less is cut off", "Right. 16%, not 49%"),
        )
    ):
        widget.locator(".d2lrnn-step-title").nth(i).click()
        expect(outcome).to_be_hidden()
        expect(widget.locator(".trunc-bars .trunc-fill").last).to_be_visible(visible=i > 0)
        expect(work).to_have_text("24 steps back")
        expect(now(widget)).to_have_text(Truncation().static_sentence())
        widget.get_by_role("button", name=answer, exact=True).click()
        expect(outcome).to_contain_text(told)
        if i == 0:  # the bars were hidden while it was asked
            expect(widget.locator(".trunc-letter.trunc-chosen")).to_have_text("l")
            expect(widget.locator(".trunc-sum")).to_have_text(["← 80% cut off", "20% left"])
        marks = widget.locator(".trunc-ghost path").get_attribute("d")
        ghosts = [(int(float(x)), 1 - float(y)) for x, y in re.findall(r"M([\d.]+) ([\d.]+)", marks)]
        before, after = Truncation().kept.tolist(), Truncation(**states[i]).kept.tolist()
        grown = [(place, was) for place, (was, share) in enumerate(zip(before, after)) if share > was + 1e-9]
        assert [place for place, _ in ghosts] == [place for place, _ in grown]  # the bars that grew, as they were
        assert [was for _, was in ghosts] == pytest.approx([was for _, was in grown], abs=0.01)
        expect(work).to_have_text(f"{144 if i == 1 else 24} steps back")
        assert page.evaluate("() => document.querySelector('.trunc-figure').offsetHeight") == height, "nothing moves"
        memory = "Each letter keeps " + ("0.5 of the signal (was 0.8)" if i == 2 else "0.8 of the signal")
        expect(widget.locator(".trunc-memory .trunc-caption")).to_have_text(memory)
    widget.get_by_role("button", name="Reset").click()
    expect(now(widget)).to_have_text(Truncation().static_sentence())
    expect(widget.locator(".trunc-ghost:visible")).to_have_count(0)


def test_it_opens_at_rest(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="no-preference")
    show(page, tmp_path, Truncation())
    told = "() => document.querySelector('.trunc').innerHTML"
    before = page.evaluate(told)
    page.wait_for_timeout(700)
    assert page.evaluate(told) == before


def test_a_cut_beyond_the_line_is_said_to_be_there(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation(tau=24, way="losses"))
    told, line = widget.locator(".trunc-drag"), "(one) => getComputedStyle(one, '::before').visibility"
    expect(told).to_have_text("cut 13 letters before this line")
    assert cuts(widget).evaluate(line) == "hidden"
    grip, words = widget.locator(".trunc-grip").bounding_box(), told.bounding_box()
    assert words["x"] >= grip["x"] + grip["width"]
    expect(widget.locator(".trunc-told")).to_have_text("The guess after e reaches 24 letters, its own included.")
    widget.locator(".trunc-letter").nth(21).click()  # two letters before the line, where those are drawn
    assert cuts(widget).evaluate(line) == "visible"
    cut, parts = cuts(widget).bounding_box(), widget.locator(".trunc-is-kept").first.bounding_box()
    assert abs(cut["x"] + cut["width"] / 2 - parts["x"]) < 4


def test_the_storage_grows_with_the_window(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    share = "(one) => one.offsetWidth / one.parentNode.clientWidth"
    for tau, way in ((6, "windows"), (24, "windows"), (12, "losses")):
        widget = show(page, tmp_path, Truncation(tau=tau, way=way))
        expect(widget.locator(".trunc-states")).to_have_text(f"Storage{tau} letters kept")
        assert widget.locator(".trunc-states .trunc-fill").evaluate(share) == pytest.approx(tau / 24, abs=0.02)


def test_the_last_row_stays_when_the_link_is_told(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    link = widget.get_by_role("button", name="Link to this")
    box, whole = link.bounding_box(), widget.bounding_box()
    link.click()
    told = widget.locator(".d2lrnn-told")
    expect(told).not_to_be_empty()
    assert link.bounding_box() == box and widget.bounding_box() == whole
    below = told.bounding_box()
    assert below["y"] + below["height"] <= whole["y"] + whole["height"] and below["x"] >= whole["x"]


def test_it_fits_a_narrow_phone(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    sides = "(all) => all.map((one) => one.getBoundingClientRect()).filter((one) => one.width)"
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        losses = [{"tau": tau, "way": "losses"} for tau in (6, 24)]
        for settings in ({"tau": 24}, {"tau": 1, "factor": 0.95}, *losses):
            widget = show(page, tmp_path, Truncation(**settings))
            assert page.evaluate("() => document.documentElement.scrollWidth") <= width
            assert widget.locator(".d2lrnn-step-titles").bounding_box()["y"] - widget.bounding_box()["y"] < 700
            told, letters = widget.locator(".trunc-told"), widget.locator(".trunc-letters")
            heights = set()
            for key in ("Home", "ArrowRight", "End"):
                letters.press(key)
                heights.add(round(told.bounding_box()["height"]))
            assert len(heights) == 1, "nothing below it moves"
            box = widget.bounding_box()
            parts = widget.locator(".d2lrnn-view :is(p, span, label, button, b)").evaluate_all(sides)
            assert all(box["x"] <= part["left"] and part["right"] <= box["x"] + box["width"] for part in parts)
