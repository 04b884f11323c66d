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


def shown_first(python: Truncation) -> int:
    """The guess that is shown where none was touched: beyond the first cut, or the last."""
    return 23 if python.way == "losses" else min(23, max(python.tau, 2 * python.tau - 2))


def is_of(widget: Locator, python: Truncation, place: int | None = None) -> None:
    """Sentence, bars and cuts are those of Python; `place` is the chosen guess."""
    place = shown_first(python) if place is None else place
    lost = 1 - python.kept[place]
    share = f"{lost:.0%}" if lost >= 0.0995 else f"{100 * lost:.1f}%"
    expect(now(widget)).to_have_text(python.static_sentence())
    expect(widget.locator(".trunc-sum-cut")).to_have_text(f"{share} cut off")
    heights = "(all) => all.map((one) => parseFloat(one.style.height) / 100)"
    assert widget.locator(".trunc-bars .trunc-fill").evaluate_all(heights) == pytest.approx(
        python.kept.tolist(), abs=1e-3
    )
    expect(cuts(widget)).to_have_count(24 // python.tau if python.way == "windows" else 1)


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
    is_of(widget, Truncation())
    expect(cuts(widget)).to_have_count(4)
    drag(page, widget, 2)
    is_of(widget, Truncation(tau=8))
    expect(cuts(widget)).to_have_count(3)
    drag(page, widget, -4)
    is_of(widget, Truncation(tau=4))
    drag(page, widget, 30)
    is_of(widget, Truncation(tau=24))
    drag(page, widget, -23)
    is_of(widget, Truncation(tau=1))
    widget.get_by_role("button", name="Reset").click()
    is_of(widget, Truncation())


def test_the_other_way_has_one_cut_that_follows_the_letter(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    widget.locator(".trunc-ways").get_by_role("button", name="Always 6 back").click()
    is_of(widget, Truncation(way="losses"))
    expect(cuts(widget)).to_have_count(1)
    drag(page, widget, 3)  # nearer to the letter: the way back is shorter
    is_of(widget, Truncation(way="losses", tau=3))
    assert sent(widget) == pytest.approx([0.64, 0.8, 1], abs=1e-3)
    drag(page, widget, -30)
    is_of(widget, Truncation(way="losses", tau=24))
    cut = widget.get_by_role("slider", name="Letters back")
    place = cut.bounding_box()["x"]
    cut.press("ArrowRight")  # the cut goes where the arrow points
    is_of(widget, Truncation(way="losses", tau=12))
    assert cut.bounding_box()["x"] > place
    cut.press("ArrowUp")
    is_of(widget, Truncation(way="losses", tau=24))


def test_the_scissors_follow_the_finger_and_snap(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    grip, letter = widget.locator(".trunc-grip"), widget.locator(".trunc-bars").bounding_box()["width"] / 24
    middle = "(e) => e.getBoundingClientRect().x + e.offsetWidth / 2"
    x, y = grip.evaluate(middle), grip.bounding_box()["y"] + 9
    page.mouse.move(x, y)
    page.mouse.down()
    for letters in (0.4, 3.3, 4.6):
        page.mouse.move(x + letters * letter, y)
        assert grip.evaluate(middle) == pytest.approx(x + letters * letter, abs=2)
    is_of(widget, Truncation(tau=12))
    page.mouse.up()
    assert grip.evaluate(middle) == pytest.approx(x + 6 * letter, abs=2)


def test_scissors_and_shares_stand_at_the_cut_of_the_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    box = "(e) => { const { left, right } = e.getBoundingClientRect(); return [left, right]; }"
    for width in (760, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for way in ("windows", "losses"):
            for tau in (1, 2, 3, 4, 6, 8, 12, 24):
                widget = show(page, tmp_path, Truncation(tau=tau, way=way))
                edge = widget.locator(".trunc-is-kept").first.evaluate(box)[0]
                letter = widget.locator(".trunc-bars").bounding_box()["width"] / 24
                (cut_left, cut_right), (kept_left, kept_right) = (
                    widget.locator(f".trunc-sum-{kind}").evaluate(box) for kind in ("cut", "kept")
                )
                assert cut_right <= kept_left or kept_right <= cut_left
                assert abs(kept_left - edge) < (16 if shown_first(Truncation(tau=tau, way=way)) < 22 else 7 * letter)
                assert cut_left >= 0 and max(cut_right, kept_right) <= width
                if (tau, way) != (24, "windows"):  # it has no cut in the line but its end
                    line = widget.locator(".trunc-cut[role]").bounding_box()
                    assert abs(line["x"] + line["width"] / 2 - edge) < 4
    widget = show(page, tmp_path, Truncation())
    widget.locator(".trunc-letter").nth(20).click()
    line, kept = widget.locator(".trunc-cut[role]").bounding_box(), widget.locator(".trunc-is-kept").first.evaluate(box)
    assert abs(line["x"] + line["width"] / 2 - kept[0]) < 4


def test_a_letter_shows_how_far_back_it_reaches(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    sides, missed = widget.locator(".trunc-sum"), widget.locator(".trunc-missed")
    expect(now(widget)).to_have_text("Cut every 6 letters: 49% of the corrections is lost; 6 letters are stored.")
    expect(sides).to_have_text(["33% cut off", "67% kept"])
    expect(missed).to_have_text([*"ships"])
    expect(widget.locator(".trunc-guessed")).to_have_text("␣")
    counted = widget.locator(".trunc-counted")
    expect(counted).to_have_text("The guess after e: 3.36 out of 5 is 67% (5 = 1 + 0.8 + 0.64 + …).")
    cut, kept = cuts(widget).first.bounding_box(), widget.locator(".trunc-is-kept").first.bounding_box()
    assert abs(cut["x"] + cut["width"] / 2 - kept["x"]) < 4, "the cut that is dragged is the one of this guess"
    widget.locator(".trunc-letter").nth(11).click()
    expect(sides).to_have_text(["26% cut off", "74% kept"])
    expect(missed).to_have_text([*"ships"])
    assert sent(widget) == pytest.approx([0.8**lag for lag in range(5, -1, -1)], abs=1e-3)
    assert sent(widget, "cut") == pytest.approx([0.8**lag for lag in range(13, 5, -1)], abs=1e-3)  # two before the line
    assert sum(0.2 * share for share in sent(widget)) == pytest.approx(Truncation().kept[11], abs=1e-3)
    line = widget.locator(".trunc-bars").bounding_box()
    page.mouse.click(line["x"] + line["width"] / 2 + 2, line["y"] + 20)  # beside a cut it is a letter, too
    expect(sides).to_have_text(["80% cut off", "20% kept"])
    expect(missed).to_have_text([*"leave"])
    widget.locator(".trunc-letter").nth(11).click()
    letters = widget.get_by_role("slider", name="The guess after")
    letters.press("ArrowLeft")
    expect(sides.first).to_have_text("33% cut off")
    assert letters.get_attribute("aria-valuetext") == "letter 11 of 24, e: 67% kept"
    letters.press("Home")
    # no word lies before it; what is cut off lies left of the line
    expect(sides).to_have_text(["80% cut off", "20% kept"])
    expect(missed).to_have_count(0)
    assert sent(widget, "cut") == pytest.approx([0.64, 0.8], abs=1e-3)
    line, part = widget.locator(".trunc-bars").bounding_box(), widget.locator(".trunc-is-cut").last.bounding_box()
    assert part["x"] + part["width"] < line["x"] + 1 and part["x"] >= widget.bounding_box()["x"]
    widget.get_by_role("button", name="Reset").click()
    expect(sides).to_have_text(["33% cut off", "67% kept"])


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
    is_of(widget, Truncation(tau=8))
    assert cut.get_attribute("aria-valuetext") == "8"
    cut.press("Home")
    is_of(widget, Truncation(tau=1))
    widget.get_by_text("How it is counted").click()
    memory = widget.get_by_label(re.compile("^Each letter back passes on"))
    memory.press("Home")
    is_of(widget, Truncation(tau=1, factor=0.5))
    assert "0.5" in memory.get_attribute("aria-valuetext")
    memory.press("End")
    expect(widget.get_by_role("status")).to_contain_text(Truncation(tau=1, factor=0.95).static_sentence())


def test_a_step_asks_first_and_tells_after_a_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    outcome = widget.locator(".d2lrnn-outcome")
    height = page.evaluate("() => document.querySelector('.trunc-figure').offsetHeight")
    states = ({}, {"way": "losses"}, {"factor": 0.5})
    for i, (answer, told) in enumerate(
        (
            (
                "all learn the same",
                "its own letter alone: 20% is kept. Five letters later, 74% is kept. On average 49% is lost",
            ),
            ("48", "letters = 144 steps. Each loses 26%, not 49% on average, with the same 6 letters stored."),
            ("Less is cut off", "Right. 16% on average, not 49%"),
        )
    ):
        widget.locator(".d2lrnn-step-title").nth(i).click()
        expect(outcome).to_be_hidden()
        expect(widget.locator(".trunc-bars .trunc-fill").last).to_be_visible(visible=i > 0)
        is_of(widget, Truncation())
        widget.get_by_role("button", name=answer, exact=True).click()
        is_of(widget, Truncation(**states[i]), 6 if i == 0 else None)
        expect(outcome).to_contain_text(told)
        if i == 0:  # the bars were hidden while it was asked
            expect(widget.locator(".trunc-letter.trunc-chosen")).to_have_text("l")
            expect(widget.locator(".trunc-sum-cut")).to_have_text("80% cut off")
        marks = widget.locator(".trunc-ghost path").get_attribute("d")
        ghosts = [(int(float(x)), 1 - float(y)) for x, y in re.findall(r"M([\d.]+) ([\d.]+)", marks)]
        before, after = Truncation().kept.tolist(), Truncation(**states[i]).kept.tolist()
        grown = [(place, was) for place, (was, share) in enumerate(zip(before, after)) if share > was + 1e-9]
        assert [place for place, _ in ghosts] == [place for place, _ in grown]  # the bars that grew, as they were
        assert [was for _, was in ghosts] == pytest.approx([was for _, was in grown], abs=0.01)
        assert page.evaluate("() => document.querySelector('.trunc-figure').offsetHeight") == height, "nothing moves"
        memory = "Each letter back passes on " + (
            "0.5 of the correction (was 0.8)" if i == 2 else "0.8 of the correction"
        )
        expect(widget.locator(".trunc-memory .trunc-caption")).to_have_text(memory)
        expect(widget.locator(".trunc-memory")).to_be_visible(visible=i == 2)
    widget.get_by_role("button", name="Reset").click()
    is_of(widget, Truncation())
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
    widget.locator(".trunc-letter").nth(10).click()
    told, line = widget.locator(".trunc-drag"), "(one) => getComputedStyle(one, '::before').visibility"
    expect(told).to_have_text("cut 13 letters before this line")
    assert cuts(widget).evaluate(line) == "hidden"
    grip, words = widget.locator(".trunc-grip").bounding_box(), told.bounding_box()
    assert words["x"] >= grip["x"] + grip["width"]
    expect(widget.locator(".trunc-sum-cut")).to_be_hidden()
    expect(widget.locator(".trunc-sum-kept")).to_have_text("99.5% kept")
    widget.locator(".trunc-letter").nth(21).click()  # two letters before the line, where those are drawn
    assert cuts(widget).evaluate(line) == "visible"
    cut, parts = cuts(widget).bounding_box(), widget.locator(".trunc-is-kept").first.bounding_box()
    assert abs(cut["x"] + cut["width"] / 2 - parts["x"]) < 4


def test_a_cut_stops_what_goes_back_and_not_the_memory(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """The lines of the cuts end at the letters; below them the memory's way goes through the whole text."""
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    letters, forth = widget.locator(".trunc-letters").bounding_box(), widget.locator(".trunc-forth").bounding_box()
    ends = "(all) => all.map((e) => e.getBoundingClientRect().bottom)"
    for end in cuts(widget).evaluate_all(ends):
        assert abs(end - letters["y"]) < 2
    assert forth["y"] >= letters["y"] + letters["height"]
    assert forth["x"] + forth["width"] == pytest.approx(letters["x"] + letters["width"], abs=1)
    expect(widget.locator(".trunc-forth")).to_have_text("the memory goes on, past every cut")


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
            told, letters = now(widget), widget.locator(".trunc-letters")
            heights = set()
            for key in ("Home", "ArrowRight", "End"):
                letters.press(key)
                heights.add(round(told.bounding_box()["height"]))
            assert len(heights) == 1, "nothing below it moves"
            box = widget.bounding_box()
            parts = widget.locator(".d2lrnn-view :is(p, span, label, button, b)").evaluate_all(sides)
            assert all(box["x"] <= part["left"] and part["right"] <= box["x"] + box["width"] for part in parts)
