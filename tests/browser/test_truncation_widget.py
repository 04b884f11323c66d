"""The explorable Truncation on a page without a kernel: cuts dragged, letters touched, keys, steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import Truncation
from pages import page_of
from watching import Record, watched_page

pytestmark = pytest.mark.browser

LAST = 11  # the guess that is shown, until another is touched


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


def lines(python: Truncation, place: int = LAST) -> list[int]:
    """Where a line stands: at each cut in sight (two letters before the line are), or at the one of the guess."""
    if python.way == "windows":
        return list(range(12 - python.tau, -3, -python.tau))[::-1]
    return [place + 1 - python.tau]


def is_of(widget: Locator, python: Truncation, place: int = LAST, *, is_work: bool = False) -> None:
    """Sentence, bars, average, lines and scissors are those of Python; `place` is the chosen guess.

    `is_work`: the ways back are drawn over the bars.
    """
    share, mean = kept_share(python.kept[place]), kept_share(python.kept.mean())
    last = f"{kept_share(python.kept[python.letter - 1])} of"
    told = python.static_sentence()
    assert told.count(last) == 1
    steps = 12 if python.way == "windows" else 12 * python.tau
    expect(widget.locator(".trunc-price")).to_have_text(
        f"Letters kept to go back: {python.tau} \u00b7 Work: {steps} steps"
    )
    expect(now(widget)).to_have_text(told.replace(last, f"{share} of"))
    expect(widget.locator(".trunc-sum-kept")).to_have_text(f"{share} arrives")
    expect(widget.locator(".trunc-walks")).to_be_visible(visible=is_work)
    expect(widget.locator(".trunc-own-kept")).to_be_visible(visible=not is_work)
    bars_are_of(widget, python, place, share, mean)
    left, letter = grid(widget)
    assert [(x - left) / letter for x in middles(cuts(widget))] == pytest.approx(lines(python, place), abs=0.05)
    handle = place - place % python.tau if python.way == "windows" else place + 1 - python.tau
    assert [(x - left) / letter for x in middles(scissors(widget))] == pytest.approx([handle], abs=0.05)
    expect(widget.locator(".trunc-letter.trunc-chosen")).to_have_text([*"after␣sunset"][place])


def bars_are_of(widget: Locator, python: Truncation, place: int, share: str, mean: str) -> None:
    expect(widget.locator(".trunc-own-kept > b")).to_have_text(share)
    left, letter = grid(widget)
    if widget.locator(".trunc-own-kept").is_visible():
        (own,) = middles(widget.locator(".trunc-own-kept > b"))
        assert (own - left) / letter == pytest.approx(place + 0.5, abs=0.05)
    expect(widget.locator(".trunc-average")).to_have_text(f"average {mean}")
    bars, line = widget.locator(".trunc-bars").bounding_box(), widget.locator(".trunc-average").bounding_box()
    height = (bars["y"] + bars["height"] - line["y"] - line["height"] / 2) / bars["height"]
    assert height == pytest.approx(python.kept.mean(), abs=0.02)
    assert line["x"] <= bars["x"] and line["x"] + line["width"] >= bars["x"] + bars["width"] - 1
    heights = "(all) => all.map((one) => parseFloat(one.style.height) / 100)"
    assert widget.locator(".trunc-bars .trunc-fill").evaluate_all(heights) == pytest.approx(
        python.kept.tolist(), abs=1e-3
    )


def kept_share(kept: float) -> str:
    """74%, 93.1%: with a decimal where less than a tenth is lost."""
    return f"{kept:.0%}" if 1 - kept >= 0.0995 else f"{100 * kept:.1f}%"


def grid(widget: Locator) -> tuple[float, float]:
    """Where the line of letters begins, and how wide a letter is."""
    box = widget.locator(".trunc-letters").bounding_box()
    return box["x"], box["width"] / 12


def middles(nodes: Locator) -> list[float]:
    return nodes.evaluate_all(
        "(all) => all.map((e) => e.getBoundingClientRect()).map(({ left, right }) => (left + right) / 2)"
    )


def scissors(widget: Locator) -> Locator:
    return widget.locator(".trunc-scissors")


def scissors_tau(widget: Locator) -> int:
    return int(scissors(widget).get_attribute("aria-valuenow"))


def drag(page: Page, widget: Locator, letters: int) -> None:
    """Drag the scissors by so many letters."""
    grip = widget.locator(".trunc-grip").bounding_box()
    _, letter = grid(widget)
    x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + letters * letter, y, steps=3)
    page.mouse.up()


def sent(widget: Locator, kind: str = "kept") -> list[float]:
    """What each letter of the way back takes of the message, or would take: full height is 50%, the most there is."""
    shares = "(all) => all.map((one) => parseFloat(one.style.height) / 200)"
    return widget.locator(f".trunc-is-{kind}").evaluate_all(shares)


def cuts(widget: Locator) -> Locator:
    return widget.locator(".trunc-line-cut:not([hidden])")


@pytest.mark.parametrize("way", ["windows", "losses"])
def test_farther_left_is_farther_back(opened: tuple[Page, Record], tmp_path: Path, way: str) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation(way=way))
    is_of(widget, Truncation(way=way))
    for letters, tau in ((2, 4), (30, 1), (-1, 2), (-1, 3), (-7, 12), (5, 6), (-30, 12), (6, 6)):
        drag(page, widget, letters)
        is_of(widget, Truncation(tau=tau, way=way))  # always of the last guess
    drag(page, widget, 3)
    widget.get_by_role("button", name="Reset").click()
    is_of(widget, Truncation(way=way))


def test_the_handle_is_at_the_cut_of_the_guess_where_that_is_the_only_one(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    shares = widget.locator(".trunc-sums").text_content()
    widget.locator(".trunc-ways").get_by_role("button", name="Always 6 back").click()
    is_of(widget, Truncation(way="losses"))
    expect(cuts(widget)).to_have_count(1)
    expect(widget.locator(".trunc-sums")).to_have_text(shares)
    drag(page, widget, 3)
    assert sent(widget) == pytest.approx([0.128, 0.16, 0.2], abs=1e-4)
    widget.locator(".trunc-letter").nth(7).click()  # its cut is its own, and the scissors are there
    is_of(widget, Truncation(way="losses", tau=3), 7)
    drag(page, widget, -3)  # and no drag chooses a guess
    is_of(widget, Truncation(way="losses", tau=6), 7)
    widget.locator(".trunc-ways").get_by_role("button", name="Every 6 letters").click()
    is_of(widget, Truncation(), 7)


def test_the_scissors_are_at_the_cut_of_the_guess_and_any_drag_moves_them_on(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    for place in (0, 4, 6, 9):
        widget.locator(".trunc-letter").nth(place).click()
        for letters, tau in ((2, 4), (30, 1), (-1, 2), (-1, 3), (-7, 12), (6, 6)):  # as from the last guess
            is_of(widget, Truncation(tau=scissors_tau(widget)), place)
            drag(page, widget, letters)
            is_of(widget, Truncation(tau=tau), place)


def test_whatever_is_dragged_the_cut_is_where_it_is_drawn(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """Line, border of the colours and shares are at an allowed place at every moment; the handle is near."""
    page, _ = opened
    for way in ("windows", "losses"):
        widget = show(page, tmp_path, Truncation(way=way))
        left, letter = grid(widget)
        stops = [(x - left) / letter for x in middles(widget.locator(".trunc-rail > span"))]
        assert stops == pytest.approx([11, 10, 9, 8, 6, 0], abs=0.05)
        grip = widget.locator(".trunc-grip")
        x, y = middles(grip)[0], grip.bounding_box()["y"] + 9
        page.mouse.move(x, y)
        page.mouse.down()
        kept = []
        for place in (5.1, 4, 3.1, 2.9, 1.2, 0.1, 2.8, 3.2, 6.4, 7.2, 8.4, 9.6, 11.3):
            page.mouse.move(left + place * letter, y)
            tau = 12 - min((0, 6, 8, 9, 10, 11), key=lambda stop: abs(stop - place))
            is_of(widget, Truncation(tau=tau, way=way))
            edge = widget.locator(".trunc-is-kept").first.bounding_box()["x"]
            assert edge == pytest.approx(left + (12 - tau) * letter, abs=3)
            pull = (middles(grip)[0] - left) / letter - (12 - tau)
            assert pull * (place - (12 - tau)) >= 0 and abs(pull) < 0.65
            kept.append((tau, float(widget.locator(".trunc-sum-kept b").text_content().rstrip("%"))))
        page.mouse.up()
        assert middles(grip)[0] == pytest.approx(left + 11 * letter, abs=2)
        assert kept == [(tau, pytest.approx(100 - 100 * 0.8**tau, abs=0.5)) for tau, _ in kept]


def test_shares_stand_at_the_cut_of_the_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """What is cut off is named left of its cut and what is kept told right of it, beside the line, wherever it is."""
    page, _ = opened
    box = "(e) => { const { left, right } = e.getBoundingClientRect(); return [left, right]; }"
    for width in (760, 390, 320):
        page.set_viewport_size({"width": width, "height": 900})
        for way in ("windows", "losses"):
            for tau in (1, 2, 3, 4, 6, 12):
                widget = show(page, tmp_path, Truncation(tau=tau, way=way))
                for place in (LAST, 10, 4):
                    if place != LAST:
                        widget.locator(".trunc-letter").nth(place).click()
                    own, kept = widget.locator(".trunc-line-cut.trunc-own"), widget.locator(".trunc-sum-kept")
                    start = place + 1 - Truncation(tau=tau, way=way).reaches[place]
                    if start < 0:
                        assert way == "losses"
                        expect(widget.locator(".trunc-sum-cut")).to_be_hidden()
                    else:
                        (line,), kept_at = middles(own), kept.evaluate(box)
                        cut_at = widget.locator(".trunc-sum-cut").evaluate(box)
                        assert 3 < line - cut_at[1] < 10 and 3 < kept_at[0] - line < 10
                        assert cut_at[0] >= 0 and kept_at[1] <= width
                        edge = widget.locator(".trunc-is-kept").first.bounding_box()["x"]
                        assert abs(line - edge) < 4


def test_a_letter_shows_how_far_back_it_reaches(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    sides = widget.locator(".trunc-sum")
    told = "Cut every 6 letters: {} of this guess\u2019s message arrives."
    expect(now(widget)).to_have_text(told.format("74%"))
    expect(sides).to_have_text(["26% cut off", "74% arrives"])
    asks = widget.locator(".trunc-asks")
    expect(widget.locator(".trunc-guessed")).to_have_text("")  # nobody knows what comes after the text
    left, letter = grid(widget)
    assert middles(asks) == pytest.approx([left + 12.5 * letter], abs=1)
    counted = widget.locator(".trunc-counted")
    expect(counted).to_have_text(
        "Of the message, t takes 20%, the letter before it 16%, then 13%, …: without cuts 100% in all. "
        "Here 6 letters take 74%."
    )
    lost = "This guess cannot teach the network what to store at “{}”, or at anything before."
    expect(widget.locator(".trunc-lost")).to_have_text(lost.format("after"))
    assert sent(widget) == pytest.approx([0.2 * 0.8**lag for lag in range(5, -1, -1)], abs=1e-4)
    beyond = [0.2 * 0.8**lag for lag in range(14, 5, -1)]
    assert sent(widget, "cut") == pytest.approx(beyond, abs=1e-4)  # 3 before the line
    assert sum(sent(widget)) == pytest.approx(Truncation().kept[LAST], abs=1e-3)
    expect(widget.locator(".trunc-before > span")).to_have_text([*"ve␣"])  # each of them has its letter
    line = widget.locator(".trunc-bars").bounding_box()
    page.mouse.click(line["x"] + line["width"] / 2 + 2, line["y"] + 20)  # beside a cut it is a letter, too
    expect(sides).to_have_text(["80% cut off", "20% arrives"])
    expect(widget.locator(".trunc-guessed")).to_have_text("u")
    assert middles(asks) == pytest.approx(middles(widget.locator(".trunc-guessed")), abs=1)
    expect(widget.locator(".trunc-later")).to_have_text([*"unset"])  # not read yet
    expect(now(widget)).to_have_text(told.format("20%"))
    letters = widget.get_by_role("slider", name="The guess after")
    letters.press("ArrowLeft")
    expect(sides.last).to_have_text("74% arrives")
    letters.press("ArrowLeft")
    expect(sides.last).to_have_text("67% arrives")
    assert letters.get_attribute("aria-valuetext") == "letter 5 of 12, r: 67% arrives"
    letters.press("Home")
    expect(widget.locator(".trunc-lost")).to_have_text(lost.format("leave"))
    # what is cut off lies left of the line
    expect(sides).to_have_text(["80% cut off", "20% arrives"])
    assert sent(widget, "cut") == pytest.approx([0.1024, 0.128, 0.16], abs=1e-4)
    line, part = widget.locator(".trunc-bars").bounding_box(), widget.locator(".trunc-is-cut").last.bounding_box()
    assert part["x"] + part["width"] < line["x"] + 1 and part["x"] >= widget.bounding_box()["x"]
    widget.get_by_role("button", name="Reset").click()
    expect(sides).to_have_text(["26% cut off", "74% arrives"])


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
    cut.press("ArrowLeft")  # the cut goes where the arrow points
    is_of(widget, Truncation(tau=12))
    assert cut.get_attribute("aria-valuetext") == "12"
    cut.press("ArrowRight")
    is_of(widget, Truncation(tau=6))
    cut.press("ArrowUp")
    is_of(widget, Truncation(tau=12))
    cut.press("ArrowDown")
    is_of(widget, Truncation(tau=6))
    cut.press("Home")
    is_of(widget, Truncation(tau=1))
    widget.get_by_text("How it is counted").click()
    memory = widget.get_by_label(re.compile("^Each letter passes on"))
    memory.press("Home")
    is_of(widget, Truncation(tau=1, factor=0.5))
    assert "50%" in memory.get_attribute("aria-valuetext")
    expect(widget.locator(".d2lrnn-lead")).to_contain_text("Say each letter takes 50%")  # it is a supposition
    memory.press("End")
    expect(widget.get_by_role("status")).to_contain_text(Truncation(tau=1, factor=0.95).static_sentence())


def test_a_step_asks_first_and_tells_after_a_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    outcome = widget.locator(".d2lrnn-outcome")
    height = page.evaluate("() => document.querySelector('.trunc-figure').offsetHeight")
    states = ({"tau": 12, "letter": 1}, {"way": "losses"}, {"factor": 0.5})
    for i, (answer, told) in enumerate(
        (
            (
                "twice as much",
                "No. “a” is still just past a cut: it alone takes its part, 20%. "
                "Other guesses gain, but to keep twice as much lifts the average only from 51% to 69%.",
            ),
            (
                "twice as much",
                "No. 72 steps back, not 12: before, one route served 6 guesses at once, now each takes its own. "
                "So training mostly cuts at fixed places, though only 51% arrives on average.",
            ),
            (
                "a larger one",
                "Right. 84% on average, not 51%: near letters take more. "
                "That is no gain: the first “s” of “sunset” gets 1.6%, not 6.6%, so less is learned from far back.",
            ),
        )
    ):
        widget.locator(".d2lrnn-step-title").nth(i).click()
        expect(outcome).to_be_hidden()
        is_of(widget, Truncation(), 0 if i == 0 else LAST, is_work=i == 1)
        expect(widget.locator(".trunc-memory")).to_be_hidden()  # it would tell that, and how, it can be changed
        widget.get_by_role("button", name=answer, exact=True).click()
        is_of(widget, Truncation(**states[i]), 0 if i == 0 else LAST, is_work=i == 1)
        parts, share = sent(widget), Truncation(**states[i]).kept[0 if i == 0 else LAST]
        assert sum(parts) == pytest.approx(share, abs=1e-3) and parts[-1] == pytest.approx(0.5 if i == 2 else 0.2)
        for shown in (widget.get_by_text("tap a letter"), widget.locator(".trunc-was")):
            expect(shown).to_be_visible(visible=i != 1)
        expect(outcome).to_contain_text(told)
        marks = widget.locator(".trunc-ghost path").get_attribute("d")
        ghosts = [(int(float(x)), 1 - float(y)) for x, y in re.findall(r"M([\d.]+) ([\d.]+)", marks)]
        before, after = Truncation().kept.tolist(), Truncation(**states[i]).kept.tolist()
        grown = [(place, was) for place, (was, share) in enumerate(zip(before, after)) if share > was + 1e-9]
        assert [place for place, _ in ghosts] == [place for place, _ in grown]  # the bars that grew, as they were
        assert [was for _, was in ghosts] == pytest.approx([was for _, was in grown], abs=0.01)
        assert page.evaluate("() => document.querySelector('.trunc-figure').offsetHeight") == height, "nothing moves"
        memory = "Each letter passes on {} of what it gets and takes the rest{}"
        memory = memory.format(*(("50%", " (was 80%)") if i == 2 else ("80%", "")))
        expect(widget.locator(".trunc-memory .trunc-caption")).to_have_text(memory)
        expect(widget.locator(".trunc-memory")).to_be_visible(visible=i == 2)
    widget.get_by_role("button", name="Reset").click()
    is_of(widget, Truncation())
    expect(widget.locator(".trunc-ghost:visible")).to_have_count(0)


def test_a_line_that_is_not_of_the_guess_is_called_a_cut(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """Beside the scissors, too; where cuts are close together one of them is."""
    page, _ = opened
    for width in (760, 320):
        page.set_viewport_size({"width": width, "height": 900})
        for tau, place, named in (
            (6, LAST, [0]), (6, 4, [6]), (4, LAST, [0, 4]), (3, 4, [9]), (2, LAST, [0]), (1, 2, [11]), (12, 3, [])
        ):  # fmt: skip
            widget = show(page, tmp_path, Truncation(tau=tau))
            widget.locator(".trunc-letter").nth(place).click()
            words = widget.locator(".trunc-line-cut > span:visible")
            expect(words).to_have_text(["cut"] * len(named))
            left, letter = grid(widget)
            assert [(x - left) / letter for x in middles(words)] == pytest.approx(named, abs=0.1)
            boxes = [one.bounding_box() for one in [*words.all(), *widget.locator(".trunc-sum:visible").all()]]
            boxes.sort(key=lambda box: box["x"])
            assert all(one["x"] + one["width"] <= other["x"] + 5 for one, other in pairwise(boxes))


def test_the_word_at_the_handle_covers_no_place(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    for width in (1000, 390, 320):
        page.set_viewport_size({"width": width, "height": 900})
        for way in ("windows", "losses"):
            widget = show(page, tmp_path, Truncation(way=way))
            expect(widget.locator(".trunc-drag")).to_have_text("drag")
            for place in range(12):
                widget.locator(".trunc-letter").nth(place).click()
                word = widget.locator(".trunc-drag").bounding_box()
                for stop in widget.locator(".trunc-rail > span:visible").all() if word else []:
                    box = stop.bounding_box()
                    assert box["x"] + box["width"] < word["x"] or word["x"] + word["width"] < box["x"]


@pytest.mark.parametrize("width", [1000, 390, 320])
def test_controls_stay_whatever_the_words_are(opened: tuple[Page, Record], tmp_path: Path, width: int) -> None:
    page, _ = opened
    page.set_viewport_size({"width": width, "height": 1000})
    found = set()
    for factor in (0.5, 0.8, 0.95):
        for way in ("windows", "losses"):
            for tau in (1, 6, 12):
                widget = show(page, tmp_path, Truncation(tau=tau, way=way, factor=factor))
                for key in ("End", "Home"):
                    widget.locator(".trunc-letters").press(key)
                    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
                    parts = (".trunc-rail", ".trunc-bars", ".trunc-ways", ".d2lrnn-step-titles")
                    found.add(tuple(round(widget.locator(part).bounding_box()["y"]) for part in parts))
    assert len(found) == 1, found


def test_it_opens_at_rest(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="no-preference")
    show(page, tmp_path, Truncation())
    told = "() => document.querySelector('.trunc').innerHTML"
    before = page.evaluate(told)
    page.wait_for_timeout(700)
    assert page.evaluate(told) == before


def test_a_message_runs_back_to_its_cut(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    run = """() => {
      const key = new KeyboardEvent("keydown", { key: "ArrowLeft" });
      document.querySelector(".trunc-letters").dispatchEvent(key);
      return document.getAnimations().map(({ effect }) => effect.target.className);
    }"""
    moved = ["", *5 * ["trunc-part trunc-is-kept"]]  # the scissors, and the five letters from the cut to the fifth
    for wish, expected in (("no-preference", moved), ("reduce", [])):
        page.emulate_media(reduced_motion=wish)
        show(page, tmp_path, Truncation())
        assert sorted(page.evaluate(run)) == expected


def test_a_cut_beyond_the_line_is_said_to_be_there(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation(tau=12, way="losses"))
    widget.locator(".trunc-letter").nth(5).click()
    kept, cut = widget.locator(".trunc-sum-kept"), widget.locator(".trunc-sum-cut")
    expect(kept).to_have_text("93.1% arrives; its cut is farther left")
    expect(cut).to_be_hidden()
    expect(cuts(widget)).to_have_count(0)
    expect(widget.locator(".trunc-is-cut")).to_have_count(0)
    expect(widget.locator(".trunc-scissors.trunc-beyond")).to_have_count(1)
    left, letter = grid(widget)
    assert middles(scissors(widget)) == pytest.approx([left - 2 * letter], abs=1)  # as far left as there is room
    drag(page, widget, 2)
    is_of(widget, Truncation(tau=6, way="losses"), 5)
    drag(page, widget, -3)  # and back out of sight
    expect(kept).to_have_text("93.1% arrives; its cut is farther left")
    widget.locator(".trunc-letter").nth(9).click()  # two letters before the line, where those are drawn
    expect(kept).to_have_text("93.1% arrives")
    parts = widget.locator(".trunc-is-kept").first.bounding_box()
    assert middles(cuts(widget)) == pytest.approx([parts["x"]], abs=4)
    widget.locator(".trunc-letter").nth(LAST).click()
    is_of(widget, Truncation(tau=12, way="losses"))


def test_a_cut_at_the_left_edge_is_drawn_there(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation(way="losses", letter=3))
    expect(widget.locator(".trunc-sum-kept")).to_have_text("74% arrives; cut at the left edge")
    expect(cuts(widget)).to_have_count(1)
    expect(widget.locator(".trunc-whole")).to_have_css("mask-image", "none")  # all that arrives is in sight
    assert sum(sent(widget)) == pytest.approx(Truncation(way="losses").kept[2], abs=1e-3)
    left, letter = grid(widget)
    assert (middles(cuts(widget))[0] - left) / letter == pytest.approx(-3, abs=0.05)


def test_a_cut_stops_what_goes_back(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """The lines of the cuts end at the letters: the text itself is not cut."""
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    letters = widget.locator(".trunc-letters").bounding_box()
    ends = "(all) => all.map((e) => e.getBoundingClientRect().bottom)"
    for end in cuts(widget).evaluate_all(ends):
        assert abs(end - letters["y"]) < 2


@pytest.mark.parametrize(
    ("way", "tau"), [("windows", 6), ("windows", 12), ("windows", 1), ("losses", 6), ("losses", 3)]
)
def test_the_ways_back_are_as_long_as_the_work(opened: tuple[Page, Record], tmp_path: Path, way: str, tau: int) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    widget.locator(".d2lrnn-step-title").nth(1).click()  # it asks about the work
    widget.locator(".trunc-ways button").nth(int(way == "losses")).click()
    scissors(widget).press("Home")
    for _ in range((1, 2, 3, 4, 6, 12).index(tau)):
        scissors(widget).press("ArrowUp")
    left, letter = grid(widget)
    ways = widget.locator(".trunc-walks > :not(.trunc-joins) > .trunc-way")
    spans = ways.evaluate_all(
        "(all) => all.map((e) => e.getBoundingClientRect()).map(({ left, right, top }) => [left, right, top])"
    )
    passed = 12 * tau if way == "losses" else 12
    expect(widget.locator(".trunc-title").first).to_contain_text(f"Work: {passed} steps back")
    unseen = sum(max(0, tau - place - 4) for place in range(12)) if way == "losses" else 0  # three are shown
    assert sum(end - start for start, end, _ in spans) / letter == pytest.approx(passed - unseen, abs=0.05)
    number = {1: "1 shared route", 2: "2 shared routes", 12: "12 separate routes"}[len(spans)]
    expect(widget.locator(".trunc-num-ways")).to_have_text(number)
    ends = range(tau, 13, tau) if way == "windows" else range(1, 13)
    assert [(end - left) / letter for _, end, _ in spans] == pytest.approx([*ends], abs=0.05)
    rows = [top for _, _, top in spans]
    assert len({*rows}) == (12 if way == "losses" else 1)
    row = """(all) => Math.min(...all.map((e) => {
      const { top, height } = getComputedStyle(e, "::after"), { height: room } = e.getBoundingClientRect();
      return Math.min(parseFloat(top), room - parseFloat(top)) - parseFloat(height) / 2;
    }))"""
    assert widget.locator(".trunc-walks > [class]").evaluate_all(row) >= 0, "no dot is cut off"


def test_a_tap_on_a_place_moves_the_scissors_there(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    for way, place in (("windows", LAST), ("losses", 5)):
        widget = show(page, tmp_path, Truncation(way=way, letter=place + 1))
        stops = widget.locator(".trunc-rail > span:visible")
        for i, tau in ((2, 3), (4, 6), (0, 1), (3, 4)):
            box = stops.nth(i).bounding_box()
            page.mouse.click(box["x"] + 4, box["y"] + 14)  # a finger is larger than a dot
            is_of(widget, Truncation(way=way, tau=tau), place)


def test_letters_before_the_first_guess_show_none(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    for letter in widget.locator(".trunc-before > span, .trunc-next").all():
        box = letter.bounding_box()
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        is_of(widget, Truncation())
    # but they are tinted where they are reached
    widget.locator(".trunc-ways").get_by_role("button", name="Always 6 back").click()
    widget.locator(".trunc-letter").nth(3).click()
    assert sorted(widget.locator(".trunc-reached").all_text_contents()) == sorted("e\u2423aft")


def test_a_link_keeps_the_letter(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    widget.locator(".trunc-letter").nth(6).click()
    widget.get_by_role("button", name="Link to this").click()
    expect(widget.locator(".d2lrnn-told")).not_to_be_empty()
    page.reload()
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(1)
    is_of(widget, Truncation(letter=7), 6)


def test_the_last_row_stays_when_the_link_is_told(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    link = widget.get_by_role("button", name="Link to this")
    box, whole = link.bounding_box(), widget.bounding_box()
    link.click()
    told = widget.locator(".d2lrnn-told")
    expect(told).not_to_be_empty()
    assert link.bounding_box() == box and widget.bounding_box() == whole
    widget.get_by_text("How it is counted").click()  # nor do they go to the left
    assert link.bounding_box()["x"] == box["x"]
    widget.get_by_text("How it is counted").click()
    below = told.bounding_box()
    assert below["y"] + below["height"] <= whole["y"] + whole["height"] and below["x"] >= whole["x"]


def test_it_fits_a_narrow_phone(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    sides = "(all) => all.map((one) => one.getBoundingClientRect()).filter((one) => one.width)"
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        losses = [{"tau": tau, "way": "losses"} for tau in (6, 12)]
        for settings in ({"tau": 12}, {"tau": 1, "factor": 0.95}, *losses):
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
