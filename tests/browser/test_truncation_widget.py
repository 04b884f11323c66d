"""The explorable Truncation on a page without a kernel: cuts dragged, letters touched, keys, steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import Truncation
from pages import page_of
from watching import Record, watched_page

pytestmark = pytest.mark.browser

LAST = 11  # the guess that is shown, until another is touched
TAUS = (1, 2, 3, 4, 6, 12)
OPENS = {1: 0, LAST: 4}  # where the bracket opens that a guess closes


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
    """Where a line stands: at each cut in sight (two letters before the line are), or at the one of the guess.

    That at the end of the guess's window is drawn around its ?.
    """
    if python.way == "windows":
        return [cut for cut in range(12 - python.tau, -3, -python.tau) if cut != place + 1][::-1]
    return [place + 1 - python.tau]


def own_cut(way: str, tau: int, place: int) -> int:
    """Where the way back of a guess is cut."""
    return place - place % tau if way == "windows" else place + 1 - tau


def ticks(python: Truncation, place: int) -> list[float]:
    """Each place in sight where that cut can be, of the lengths from the shortest on that is the next to this one."""
    nearest = {}
    for i in sorted(range(6), key=lambda i: abs(i - TAUS.index(python.tau))):
        nearest.setdefault(own_cut(python.way, TAUS[i], place), i)
    return [cut for cut in sorted(nearest, key=nearest.__getitem__) if cut >= -3]


# What the figure shows: texts, and places in letters from the begin of the line.
FACTS = """() => {
  const all = (query) => [...document.querySelectorAll(query)];
  const texts = (query) => all(query).map((one) => one.textContent.replace(/\\s+/g, " ").trim());
  const line = document.querySelector(".trunc-letters").getBoundingClientRect();
  const places = (query) => all(query).map((one) => one.getBoundingClientRect())
    .filter(({ width, height }) => width || height)
    .map(({ left, right }) => ((left + right) / 2 - line.left) / line.width * 12);
  const edges = (query) => all(query).map((one) => one.getBoundingClientRect())
    .flatMap(({ left, right }) => [left, right]).map((x) => (x - line.left) / line.width * 12);
  return {
    now: texts(".d2lrnn-now"), kept: texts(".trunc-sum-kept"), fading: texts(".trunc-fading"),
    memory: texts(".trunc-memory .trunc-caption"),
    work: texts(".trunc-choice > p"), more: texts(".trunc-more"), takes: texts(".trunc-taken > span"),
    heard: texts(".trunc-heard"), unheard: texts(".trunc-unheard"), guessed: texts(".trunc-guessed"),
    rows: all(".trunc-all .trunc-kept").map((one) => one.getBBox()).map(({ x, y, width }) => [x, x + width, y]),
    lines: places(".trunc-line-cut:not([hidden], .trunc-around)"), around: edges(".trunc-around:not([hidden])"),
    scissors: places(".trunc-scissors"),
    stops: places(".trunc-stop"), grip: texts(".trunc-grip > b"), ends: texts(".trunc-step.trunc-end").length,
    same: all(".trunc-same").map((one) => one.innerText),
    keptBack: texts(".trunc-kept-back"), dots: places(".trunc-dots > .trunc-is-kept"),
    bracket: edges(".trunc-bracket"),
  };
}"""


def is_of(widget: Locator, python: Truncation, place: int = LAST) -> None:
    """Sentence, shares, rows, lines and scissors are those of Python; `place` is of the letter before the guess."""
    python = Truncation(tau=python.tau, way=python.way, factor=python.factor, letter=place + 1)
    shown = widget.page.evaluate(FACTS)
    assert shown["now"] == [python.static_sentence()]
    share, mean = kept_share(python.kept[place]), kept_share(python.kept.mean())
    others = [
        str(tau)
        for tau in TAUS
        if tau != python.tau and own_cut(python.way, tau, place) == own_cut(python.way, python.tau, place)
    ]
    assert shown["same"] == ([f"same cut\nwith {', '.join(others)}"] if others else [])
    begin = own_cut(python.way, python.tau, place)
    farther = "" if begin > -3 else "; cut at the left edge" if begin == -3 else "; its cut is farther left"
    assert shown["kept"] == [f"{share} teaches{farther}"]
    assert f"All 12 guesses: on average {mean} of an error teaches." in shown["more"][0]
    gets = f"Each letter gets {1 - python.factor:.0%} of it, passes on {python.factor:.0%}"
    assert shown["fading"] == [f"Tap a letter in a box. Height: what is left of the error (gradient). {gets}."]
    assert shown["memory"] == [f"Each letter passes on {python.factor:.0%}"]
    assert shown["keptBack"] == [
        f"states stored {'from cut to cut' if python.way == 'windows' else 'for the way back'}: {python.tau}"
    ]
    assert shown["bracket"] == pytest.approx([max(-3, begin), begin + python.tau], abs=0.1)
    kept = [letter + 0.5 for letter in range(max(-3, begin), begin + python.tau)]
    assert shown["dots"] == pytest.approx(kept, abs=0.05)
    steps = 12 if python.way == "windows" else 12 * python.tau
    assert shown["work"][0] == f"Work: {steps} steps back"
    part = python.open_part if place in OPENS else None
    if part is not None:
        first = f"{part:.0%}" if part >= 0.0995 else f"{round(100 * part, 1):g}%" if part > 0 else "0%"
        name = "" if begin < OPENS[place] and part > 0 else "\u201c(\u201d gets "  # it begins the row
        assert shown["takes"][3 + OPENS[place]] == f"{name}{first}"
    for kind, is_shown in (("heard", part), ("unheard", part == 0)):  # of the guess that needs it
        assert shown[kind] == (["("] if is_shown else [])
    # A row of each guess ends at its letter, and is blue back to its cut.
    for row, (left, right, _) in enumerate(shown["rows"]):
        assert (left, right) == pytest.approx((max(-3, row + 1 - python.reaches[row]), row + 1), abs=0.01)
    levels = [y for *_, y in shown["rows"]]
    assert len(levels) == 12 and levels == sorted(levels)
    assert shown["lines"] == pytest.approx(lines(python, place), abs=0.05)
    ends_window = python.way == "windows" and (place + 1) % python.tau == 0 and place < LAST
    assert shown["around"] == pytest.approx([place + 1, place + 2] if ends_window else [], abs=0.05)
    assert shown["scissors"] == pytest.approx([max(-3, begin)], abs=0.05)  # at the cut of the guess that is chosen
    assert shown["ends"] == (python.tau in (1, 12))
    assert shown["grip"] == [str(python.tau)]  # the number that is chosen
    assert shown["stops"] == pytest.approx(ticks(python, place), abs=0.05)
    assert shown["guessed"] == [[*"b)\u2423(at\u2423noon)"][place]]


def sweep(page: Page, states: list[dict[str, object]], look: str) -> list[object]:
    """Set the figure as a link in the text would, again and again, and what is seen each time."""
    script = f"""async (fragments) => {{
      const look = {look};
      const anchor = document.body.appendChild(document.createElement("a"));
      const seen = [];
      for (const fragment of fragments) {{
        anchor.href = `#explore=Truncation&${{fragment}}`;
        anchor.click();
        await null; // it is drawn
        seen.push(look());
      }}
      anchor.remove();
      return seen;
    }}"""
    settings = [{"tau": 6} | one for one in states]  # a link without any leads there and sets nothing
    return page.evaluate(script, ["&".join(f"{name}={value}" for name, value in one.items()) for one in settings])


BOX = "(query) => document.querySelector(query).getBoundingClientRect()"


def kept_share(kept: float) -> str:
    """74%, 93.1%: with a decimal where less than a tenth is lost."""
    return f"{kept:.0%}" if 1 - kept >= 0.0995 else f"{round(100 * kept, 1):g}%"


def grid(widget: Locator) -> tuple[float, float]:
    """Where the line of letters begins, and how wide a letter is."""
    box = widget.locator(".trunc-letters").bounding_box()
    return box["x"], box["width"] / 12


def middles(nodes: Locator) -> list[float]:
    return nodes.evaluate_all(
        "(all) => all.map((e) => e.getBoundingClientRect()).map(({ left, right }) => (left + right) / 2)"
    )


def guess(widget: Locator, place: int) -> Locator:
    """The letter that is guessed after the one at that place."""
    return widget.locator(".trunc-letter").nth(place + 1)


def scissors(widget: Locator) -> Locator:
    return widget.locator(".trunc-scissors")


def drag(page: Page, widget: Locator, letters: int) -> None:
    """Drag the scissors by so many letters."""
    grip = widget.locator(".trunc-grip").bounding_box()
    _, letter = grid(widget)
    x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + letters * letter, y, steps=3)
    page.mouse.up()


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


def test_the_scissors_are_at_the_cut_of_the_guess_that_is_chosen(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """To whichever place they are dragged; of the lengths with that cut they take the next to the one before."""
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    shares = widget.locator(".trunc-sums").text_content()
    expect(widget.locator(".trunc-rail > .trunc-name")).to_have_text("cut every")
    expect(widget.locator(".trunc-stop")).to_have_text([*"12346", "12"])
    for way, places in (("windows", (0, 4, 6, 9)), ("losses", (LAST, 7))):
        if way == "losses":  # each guess has a cut of its own
            widget.get_by_role("button", name="Reset").click()
            widget.get_by_text("Other cuts").click()
            widget.locator(".trunc-ways").get_by_role("button", name="Always 6 back").click()
            expect(cuts(widget)).to_have_count(1)
            expect(widget.locator(".trunc-sums")).to_have_text(shares)
            expect(widget.locator(".trunc-rail > .trunc-name")).to_have_text("go back")
        for place in places:
            guess(widget, place).click()
            is_of(widget, Truncation(way=way), place)
            tau = 6
            for wish in (4, 1, 2, 3, 6):  # and no drag chooses a guess
                target = own_cut(way, wish, place)
                drag(page, widget, target - own_cut(way, tau, place))
                tau = min(
                    (one for one in TAUS if own_cut(way, one, place) == target),
                    key=lambda one, tau=tau: abs(TAUS.index(one) - TAUS.index(tau)),
                )
                is_of(widget, Truncation(tau=tau, way=way), place)
            scissors(widget).press("End")
            scissors(widget).press("ArrowRight")
            is_of(widget, Truncation(way=way), place)
    widget.locator(".trunc-ways").get_by_role("button", name="Every 6 letters").click()
    is_of(widget, Truncation(), 7)


@pytest.mark.parametrize("width", [1000, 390, 320])
def test_a_press_on_a_side_of_the_handle_steps(browser: Browser, tmp_path: Path, width: int) -> None:
    """Mouse or finger: to the next length, also where the cut of the guess stays; a drag from there drags."""
    is_phone = width < 500
    context = browser.new_context(
        viewport={"width": width, "height": 900}, has_touch=is_phone, is_mobile=is_phone, reduced_motion="reduce"
    )
    with closing(context):
        page = context.new_page()
        widget = show(page, tmp_path, Truncation())
        sides = widget.locator(".trunc-step")
        for place in (LAST, 1):
            for side, lengths in ((0, (12, 12)), (1, (6, 4, 3, 2, 1, 1)), (0, (2, 3, 4, 6))):
                for tau in lengths:
                    box = sides.nth(side).bounding_box()
                    assert box["width"] >= 24 and box["height"] >= 24
                    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
                    if is_phone:
                        page.touchscreen.tap(x, y)
                    else:
                        page.mouse.click(x, y)
                    is_of(widget, Truncation(tau=tau), place)
                    assert widget.locator(".trunc-grip").evaluate("(e) => e.scrollWidth <= e.clientWidth + 5")
            guess(widget, 1).click()
        guess(widget, LAST).click()
        box, (_, letter) = sides.nth(1).bounding_box(), grid(widget)
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] / 2 - 6 * letter, box["y"] + 20, steps=3)
        page.mouse.up()
        is_of(widget, Truncation(tau=12))


def test_what_is_told_of_the_same_cut_has_room(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    show(page, tmp_path, Truncation())
    states = [{"tau": tau, "letter": letter} for tau in TAUS for letter in range(1, 13)]
    look = """() => [...document.querySelectorAll(".trunc-same, .trunc-sum")].map((one) => one.getBoundingClientRect())
      .map(({ left, right, bottom }) => [left, right, bottom]).sort((one, other) => one[0] - other[0])"""
    for width in (1000, 760, 390, 360, 320):
        page.set_viewport_size({"width": width, "height": 900})
        is_told = set()
        for state, boxes in zip(states, sweep(page, states, look), strict=True):
            is_told.add(len(boxes))
            assert boxes[0][0] >= 0 and max(right for _, right, _ in boxes) <= width, (width, state)
            assert all(one[1] < other[0] for one, other in pairwise(boxes)), (width, state)
            assert max(bottom for *_, bottom in boxes) - min(bottom for *_, bottom in boxes) < 1, (width, state)
        assert is_told == {2, 3}


def test_whatever_is_dragged_the_cut_is_where_it_is_drawn(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """Line, border of the colours and shares are at an allowed place at every moment; the handle is at the pointer."""
    page, _ = opened
    for way in ("windows", "losses"):
        widget = show(page, tmp_path, Truncation(way=way))
        left, letter = grid(widget)
        stops = [(x - left) / letter for x in middles(widget.locator(".trunc-stop"))]
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
            edge = widget.locator(".trunc-stream .trunc-kept").bounding_box()["x"]
            assert edge == pytest.approx(left + (12 - tau) * letter, abs=3)
            assert (middles(grip)[0] - left) / letter == pytest.approx(min(11, place), abs=0.05)
            kept.append((tau, float(widget.locator(".trunc-sum-kept b").text_content().rstrip("%"))))
        page.mouse.up()
        assert middles(grip)[0] == pytest.approx(left + 11 * letter, abs=2)
        assert kept == [(tau, pytest.approx(100 - 100 * 0.8**tau, abs=0.5)) for tau, _ in kept]


def test_shares_stand_at_the_cut_of_the_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """What is cut off is named left of its cut and what is kept told right of it, beside the line, wherever it is."""
    page, _ = opened
    show(page, tmp_path, Truncation())
    ways, lengths = ("windows", "losses"), (1, 2, 3, 4, 6, 12)
    states = [
        {"way": way, "tau": tau, "letter": place + 1} for way in ways for tau in lengths for place in (LAST, 10, 4)
    ]
    look = f"""() => [".trunc-sum-cut", ".trunc-sum-kept", ".trunc-own", ".trunc-stream .trunc-kept"].map((query) => {{
      const box = document.querySelector(query) && ({BOX})(query);
      return box && [box.left, box.right];
    }})"""
    for width in (760, 390, 320):
        page.set_viewport_size({"width": width, "height": 900})
        for state, (cut, kept, own, blue) in zip(states, sweep(page, states, look), strict=True):
            python = Truncation(**state)
            if python.letter - python.reaches[python.letter - 1] < 0:
                assert python.way == "losses" and cut == [0, 0], (width, state)  # hidden
                continue
            line = sum(own) / 2
            assert 3 < line - cut[1] < 10 and 3 < kept[0] - line < 10, (width, state)
            assert cut[0] >= 0 and kept[1] <= width, (width, state)
            assert abs(line - blue[0]) < 4, (width, state)


def test_a_letter_shows_how_far_back_it_reaches(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    sides = widget.locator(".trunc-sum")
    expect(now(widget)).to_have_text(Truncation().static_sentence())
    expect(sides).to_have_text(["26% cut off", "74% teaches"])
    asks = widget.locator(".trunc-asks")
    expect(widget.locator(".trunc-guessed")).to_have_text(")")
    left, letter = grid(widget)
    assert middles(asks) == pytest.approx([left + 12.5 * letter], abs=1)
    takes = widget.locator(".trunc-taken > span")
    shares = ["7%", "8%", "10%", "13%", "16%", "20%"]
    expect(takes).to_have_text([*7 * [""], "\u201c(\u201d gets 0%", "", *shares, "same weights"])
    expect(widget.locator(".trunc-before > span")).to_have_text([*"de␣"])  # each of them has its letter
    line = widget.locator(".trunc-letters").bounding_box()
    page.mouse.click(line["x"] + 7 / 12 * line["width"] + 2, line["y"] + 20)  # beside a cut it is a letter, too
    expect(sides).to_have_text(["80% cut off", "20% teaches"])
    expect(widget.locator(".trunc-guessed")).to_have_text("␣")
    assert middles(asks) == pytest.approx(middles(widget.locator(".trunc-guessed")), abs=1)
    expect(widget.locator(".trunc-later")).to_have_text([*"noon)"])  # not read yet
    expect(now(widget)).to_have_text(Truncation(letter=7).static_sentence())
    letters = widget.get_by_role("slider", name="The guess")
    letters.press("ArrowLeft")
    expect(sides.last).to_have_text("74% teaches")
    letters.press("ArrowLeft")
    expect(sides.last).to_have_text("67% teaches")
    assert letters.get_attribute("aria-valuetext") == "5 of 12, a: 67% teaches"
    letters.press("Home")
    expect(sides).to_have_text(["80% cut off", "20% teaches"])  # what is cut off lies left of the line
    widget.get_by_role("button", name="Reset").click()
    expect(sides).to_have_text(["26% cut off", "74% teaches"])


def test_what_the_letters_take_is_told_on_a_phone_too(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """Beside each other, and the name of the row with the first of them."""
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    told = (
        ({}, [0, 7, 8, 10, 13, 16, 20]),
        ({"tau": 12}, [2, 2, 3, 3, 4.2, 5, 7, 8, 10, 13, 16, 20]),  # the letters left of "(" too
        ({"tau": 12, "factor": 0.5}, [0.4, 1, 2, 3, 6, 13, 25, 50]),  # each is rounded for itself
        ({"factor": 0.95}, [0, 4, 4, 4, 5, 5, 5]),
        ({"way": "losses", "letter": 4}, [7, 8, 10, 13, 16, 20]),  # two before the line
        ({"way": "losses", "letter": 3}, [7, 8, 10, 13, 16, 20]),  # no room for a name
        ({"letter": 2}, [16, 20]),
        ({"letter": 5}, [8, 10, 13, 16, 20]),
    )
    look = """() => [...document.querySelectorAll(".trunc-taken > :not(.trunc-weights) :is(span, b)")].map((one) => {
      const { left, right } = one.getBoundingClientRect();
      return [one.innerText, left, right];
    })"""
    for width in (760, 390, 320):
        page.set_viewport_size({"width": width, "height": 900})
        seen = sweep(page, [settings for settings, _ in told], look)
        for (settings, shares), parts in zip(told, seen, strict=True):
            texts = [text for text, *_ in parts]
            if settings.get("letter") == 3:
                texts = ["", *texts]
            else:
                is_opener_first = settings.get("letter") not in (4, 5) and settings != {"tau": 12}
                assert texts[0] == ("\u201c(\u201d gets" if is_opener_first else "gets")
            assert [float(text.rstrip("%")) for text in texts[1:]] == shares
            assert texts[-1].endswith("%") and all(text.endswith("%") == (width == 760) for text in texts[2:-1] if text)
            assert all(one[2] <= other[1] for one, other in pairwise(parts)), (width, settings)
            assert settings.get("letter") != 2 or parts[2][1] - parts[1][2] >= 6  # a bold number, and a large one
            assert parts[0][1] >= widget.bounding_box()["x"]


def test_the_error_is_as_thick_as_what_is_left_of_it(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation(tau=4))
    height = "(e) => e.getBBox().height"
    assert widget.locator(".trunc-stream .trunc-kept").evaluate(height) == pytest.approx(1)
    assert widget.locator(".trunc-stream .trunc-cut").evaluate(height) == pytest.approx(0.8**4, abs=1e-3)
    measure, whole = (widget.locator(part).bounding_box() for part in (".trunc-height", ".trunc-stream"))
    assert measure["height"] == pytest.approx(0.8**4 * whole["height"], abs=1)  # at the cut it says so
    assert measure["y"] + measure["height"] / 2 == pytest.approx(whole["y"] + whole["height"] / 2, abs=1)
    lost = widget.locator(".trunc-all .trunc-cut").evaluate_all(f"(all) => all.map({height})")
    assert lost == pytest.approx(0.86 * (1 - Truncation(tau=4).kept), abs=1e-3)


def test_the_first_picture_holds_one_error(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """Those of all guesses are folded away, under the letters that they reach."""
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    rows = widget.locator(".trunc-all")
    for width in (1000, 390):
        page.set_viewport_size({"width": width, "height": 900})
        expect(rows).to_be_hidden()
        widget.get_by_text("Other cuts").click()
        expect(rows).to_be_visible()
        left, letter = grid(widget)
        box = rows.bounding_box()
        assert ((box["x"] - left) / letter, box["width"] / letter) == pytest.approx((-3, 15), abs=0.1)
        for place in (0, 6, 3):
            guess(widget, place).click()
            (chosen,) = widget.locator(".trunc-all .trunc-kept.trunc-chosen").all()
            assert chosen.evaluate("(e) => { const { x, width } = e.getBBox(); return x + width; }") == place + 1
        widget.get_by_text("Other cuts").click()


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
    widget.get_by_text("Other cuts").click()
    memory = widget.get_by_label(re.compile("^Each letter passes on"))
    expect(widget.locator(".trunc-ends > span")).to_have_text(["50%", "95%"])
    memory.press("Home")
    is_of(widget, Truncation(tau=1, factor=0.5))
    assert "50%" in memory.get_attribute("aria-valuetext")
    memory.press("End")
    faint = Truncation(tau=1, factor=0.95)
    expect(widget.get_by_role("status")).to_contain_text(
        f"{faint.static_sentence()} Of its error 5% teaches; on average 5%."
    )


def test_a_step_asks_first_and_tells_after_a_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    outcome = widget.locator(".d2lrnn-outcome")
    height = page.evaluate("() => document.querySelector('.trunc-figure').offsetHeight")
    befores, states = ({}, {}, {"tau": 12}), ({"letter": 2}, {"tau": 12}, {"tau": 12, "factor": 0.5})
    for i, (answer, told) in enumerate(
        (
            (
                "only by luck",
                "Not so. A cut stops teaching, not memory. Cut every 6 letters, “(b)” stays whole, so it can teach the "
                "weights to keep “(”. The same weights can close “(at noon)”: harder, but not luck.",
            ),
            (
                "still 0%",
                "Not so. 4.2%: no cut is between the brackets now, but the error fades on the way. "
                "The price: 12 states are stored for the way back, not 6.",
            ),
            (
                "almost nothing",
                "Right. 0.4%, not 4.2%. The cut takes almost nothing: 99.98% of the error teaches. But nearly "
                "all of it teaches letters near the guess. Far back, little can be learned, cut or no cut.",
            ),
        )
    ):
        widget.locator(".d2lrnn-step-title").nth(i).click()
        expect(outcome).to_be_hidden()
        is_of(widget, Truncation(**befores[i]))
        expect(widget.locator(".trunc-read")).to_be_hidden()  # it would tell
        widget.get_by_role("button", name=answer, exact=True).click()
        if i < 2:
            is_of(widget, Truncation(**states[i]), Truncation(**states[i]).letter - 1)
        after = Truncation(**states[i])
        expect(now(widget)).to_have_text(after.static_sentence())
        expect(widget.locator(".trunc-read")).to_be_visible(visible=i == 0)
        expect(widget.locator(".trunc-profits")).to_have_text(["(", ")"] if i == 0 else [])  # the long pair
        expect(widget.locator(".trunc-needed")).to_be_visible()
        expect(outcome).to_contain_text(told)
        assert page.evaluate("() => document.querySelector('.trunc-figure').offsetHeight") == height, "nothing moves"
    expect(widget.locator(".trunc-needed")).to_have_text("“(” gets 0.4%")
    expect(widget.locator(".trunc-sum-kept")).to_have_text("99.98% teaches")
    expect(widget.locator(".trunc-height")).to_be_hidden()  # too thin to measure
    widget.get_by_role("button", name="Reset").click()
    is_of(widget, Truncation())


def test_what_was_read_goes_on_over_the_cut(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """The first answer marks memory from bracket to bracket of the long pair, and what teaches it, while it does."""
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    widget.locator(".d2lrnn-step-title").first.click()
    weights, read = widget.locator(".trunc-weights"), widget.locator(".trunc-read")
    expect(weights).to_be_hidden()
    widget.get_by_role("button", name="yes, it can", exact=True).click()
    expect(weights).to_have_text("same weights")
    expect(read).to_have_text("can be remembered")
    for part in (".trunc-dots", ".trunc-bracket", ".trunc-kept-back"):  # beside it they would be too much
        expect(widget.locator(part)).to_be_hidden()
    for width in (1000, 320):
        page.set_viewport_size({"width": width, "height": 900})
        left, letter = grid(widget)
        ends = []
        for part in (read, weights):
            box = part.bounding_box()
            ends += [(x - left) / letter for x in (box["x"], box["x"] + box["width"])]
        assert ends == pytest.approx([4.5, 13, 3, 4.5], abs=0.1)
        places = [(x - left) / letter for x in middles(widget.locator(".trunc-ahead:not([hidden])"))]
        assert places == pytest.approx([6], abs=0.05) and ends[0] < 6 < ends[1]
        letters, top = widget.locator(".trunc-letters").bounding_box(), weights.bounding_box()["y"]
        assert top - 8 < letters["y"] + letters["height"] <= top  # it ends at the bracket
        share = widget.locator(".trunc-last > b").bounding_box()
        assert share["x"] + share["width"] < weights.bounding_box()["x"]  # and begins beside the last number
    scissors(widget).press("Home")  # a cut inside the short pair
    expect(weights).to_be_hidden()
    expect(read).to_have_text("not taught here")
    expect(widget.locator(".trunc-profits")).to_have_count(0)
    expect(widget.locator(".trunc-needed")).to_have_text("“(” gets 0%")
    scissors(widget).press("ArrowLeft")
    expect(read).to_have_text("can be remembered")
    expect(widget.locator(".trunc-profits")).to_have_text(["(", ")"])
    for place in (LAST, 6):  # of another guess it says nothing
        guess(widget, place).click()
        expect(weights).to_be_hidden()
        expect(read).to_be_hidden()
        is_of(widget, Truncation(tau=2), place)
        for part in (".trunc-dots", ".trunc-bracket", ".trunc-kept-back"):
            expect(widget.locator(part)).to_be_visible()
        expect(widget.locator(".trunc-profits")).to_have_count(0)
    guess(widget, 1).click()
    expect(read).to_have_text("can be remembered")


def test_no_other_number_stands_over_the_cut_of_the_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """A number stands where the cut of the guess would be, and the handle at the one that is."""
    page, _ = opened
    show(page, tmp_path, Truncation())
    look = f"""() => [
      [...document.querySelectorAll(".trunc-stop:not([hidden])")].map((one) => one.textContent),
      [".trunc-grip", ".trunc-own", ".trunc-rail > .trunc-name"].map((part) => ({BOX})(part))
        .map(({{ left, right, top, bottom }}) => [left, right, top, bottom]),
    ]"""
    every = [*"12346", "12"]
    told = (
        ({}, every),
        ({"letter": 7}, ["4", "6", "12"]),
        ({"letter": 6}, ["1", "3", "4", "6"]),
        ({"letter": 2}, ["1", "6"]),
        ({"tau": 1, "letter": 9}, ["1", "3", "12"]),
        ({"tau": 12, "letter": 9}, ["4", "6", "12"]),
        ({"way": "losses", "letter": 3}, [*"12346"]),
        ({"way": "losses", "letter": 5}, [*"12346"]),
    )
    for width in (1000, 760, 390, 320):
        page.set_viewport_size({"width": width, "height": 900})
        for (settings, numbers), seen in zip(told, sweep(page, [settings for settings, _ in told], look), strict=True):
            assert seen[0] == numbers, (width, settings)
            grip, own, name = seen[1]
            assert abs(own[2] - grip[3]) < 2 and grip[0] - 1 <= own[0] and own[1] <= grip[1], (width, settings)
            assert grip[0] >= 0 and (name[1] == 0 or name[1] < grip[0] - 1), (width, settings)
            assert settings.get("way") == "losses" or abs(sum(grip[:2]) - sum(own[:2])) < 2, (width, settings)


def test_the_word_at_the_handle_covers_no_place(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    expect(widget.locator(".trunc-drag")).to_have_text("drag")
    ways, lengths = ("windows", "losses"), (6, 1, 2, 3, 4, 12)
    states = [{"tau": tau, "way": way, "letter": letter} for tau in lengths for way in ways for letter in range(1, 13)]
    look = """() => [".trunc-drag", ".trunc-stop"].map((query) => [...document.querySelectorAll(query)]
      .map((one) => one.getBoundingClientRect()).filter(({ width }) => width)
      .map(({ left, right }) => [left, right]))"""
    for width in (1000, 390, 320):
        page.set_viewport_size({"width": width, "height": 900})
        seen = sweep(page, states, look)
        sweep(page, [{"tau": 12}], "() => 0")
        name, grip = (widget.locator(part).bounding_box() for part in (".trunc-rail > .trunc-name", ".trunc-grip"))
        assert name["x"] + name["width"] < grip["x"], width  # nor does the handle cover the word of its track
        assert seen[11][0] and seen[23][0], width
        for state, (words, places) in zip(states, seen, strict=True):
            for left, right in words:
                assert places and all(b < left or right < a for a, b in places), (width, state)
    word = widget.locator(".trunc-drag")
    sweep(page, [{}], "() => 0")
    expect(word).to_be_visible()
    x, y = middles(scissors(widget))[0], scissors(widget).bounding_box()["y"] + 10
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 8, y)  # not far enough for another cut, and the handle comes nearer
    expect(word).to_be_hidden()
    page.mouse.up()


def test_controls_stay_whatever_the_words_are(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    show(page, tmp_path, Truncation())
    states = [
        {"factor": factor, "way": way, "tau": tau, "letter": letter}
        for factor in (0.5, 0.8, 0.95)
        for way in ("windows", "losses")
        for tau in (1, 6, 12)
        for letter in (12, 1)
    ]
    parts = [".trunc-rail", ".trunc-letters", ".trunc-fading", ".d2lrnn-step-titles"]
    tops = f"{parts}.map((part) => Math.round(({BOX})(part).y + scrollY))"
    look = f"() => [document.documentElement.scrollWidth, ...{tops}]"
    for width in (1000, 760, 600, 390, 360, 320):
        page.set_viewport_size({"width": width, "height": 1000})
        seen = sweep(page, states, look)
        assert all(wide <= width for wide, *_ in seen), width
        assert len({tuple(ys) for _, *ys in seen}) == 1, (width, seen)


def test_it_opens_at_rest(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="no-preference")
    show(page, tmp_path, Truncation())
    told = "() => document.querySelector('.trunc').innerHTML"
    before = page.evaluate(told)
    page.wait_for_timeout(700)
    assert page.evaluate(told) == before


def test_an_error_runs_back_to_its_cut(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    run = """() => {
      const key = new KeyboardEvent("keydown", { key: "ArrowLeft" });
      document.querySelector(".trunc-letters").dispatchEvent(key);
      return document.getAnimations().map(({ effect }) => effect.target.className?.baseVal ?? effect.target.className);
    }"""
    moved = [*5 * [""], "trunc-asks", "trunc-cut", "trunc-first", "trunc-last"]  # error, scissors, the ?, shares
    for wish, expected in (("no-preference", moved), ("reduce", [])):
        page.emulate_media(reduced_motion=wish)
        show(page, tmp_path, Truncation())
        assert sorted(page.evaluate(run)) == expected


def test_a_tap_on_the_bracket_of_the_pair_shows_again_what_comes_to_it(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="no-preference")
    widget = show(page, tmp_path, Truncation())
    widget.locator(".trunc-unheard").click()
    assert page.evaluate("() => document.getAnimations().length") > 0
    page.emulate_media(reduced_motion="reduce")
    is_of(widget, Truncation())
    guess(widget, 6).click()
    guess(widget, 3).click()  # of another guess it is a letter like all
    is_of(widget, Truncation(), 3)


def test_a_cut_beyond_the_line_is_said_to_be_there(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation(tau=12, way="losses"))
    guess(widget, 5).click()
    kept, cut = widget.locator(".trunc-sum-kept"), widget.locator(".trunc-sum-cut")
    expect(kept).to_have_text("93.1% teaches; its cut is farther left")
    expect(cut).to_be_hidden()
    expect(cuts(widget)).to_have_count(0)
    expect(widget.locator(".trunc-bracket")).to_have_css("border-left-width", "0px")  # nor is the bracket's begin
    drag(page, widget, 3)  # the handle waits at the edge
    is_of(widget, Truncation(tau=6, way="losses"), 5)
    drag(page, widget, -3)  # and back out of sight
    expect(kept).to_have_text("93.1% teaches; its cut is farther left")
    guess(widget, 9).click()  # two letters before the line, where those are drawn
    expect(kept).to_have_text("93.1% teaches")
    parts = widget.locator(".trunc-stream .trunc-kept").bounding_box()
    assert middles(cuts(widget)) == pytest.approx([parts["x"]], abs=4)
    guess(widget, LAST).click()
    is_of(widget, Truncation(tau=12, way="losses"))


def test_a_cut_at_the_left_edge_is_drawn_there(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation(way="losses", letter=3))
    expect(widget.locator(".trunc-sum-kept")).to_have_text("74% teaches; cut at the left edge")
    expect(widget.locator(".trunc-taken > span")).to_have_text(
        ["7%", "8%", "10%", "13%", "16%", "20%", *9 * [""], "same weights"]
    )
    expect(widget.locator(".trunc-is-kept")).to_have_count(6)  # as the bracket says, and each at its letter
    dots = middles(widget.locator(".trunc-dots > span"))
    assert dots[:3] == pytest.approx(middles(widget.locator(".trunc-before > span")), abs=1)
    expect(cuts(widget)).to_have_count(1)
    expect(widget.locator(".trunc-whole")).to_have_css("mask-image", "none")  # all that is used is in sight
    left, letter = grid(widget)
    assert (middles(cuts(widget))[0] - left) / letter == pytest.approx(-3, abs=0.05)


def test_a_cut_stops_what_goes_back(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """The lines of the cuts end over memory."""
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    memory, ends = widget.locator(".trunc-reading").bounding_box(), []
    for end in cuts(widget).evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().bottom)"):
        ends.append(abs(end - memory["y"]) < 2)
    assert ends == [True, True]
    signs = cuts(widget).evaluate_all("(all) => all.map((e) => getComputedStyle(e, '::before').content)")
    assert [sign.strip('"\ufe0e') for sign in signs] == ["\u2702", "none"]  # the handle has its own
    expect(widget.locator(".trunc-reading > .trunc-name")).to_have_text("memory (states)")
    name = f"() => [({BOX})('.trunc-error')].map(({{ left, right, width, height }}) => [left, right, width > height])"
    for width in (1000, 760, 320):  # the name of what it stops stands in what teaches, if there is room
        page.set_viewport_size({"width": width, "height": 900})
        left, letter = grid(widget)
        for reach, seen in zip((6, 2, 1), sweep(page, [{"tau": tau} for tau in (6, 2, 1)], name), strict=True):
            ((begin, end, is_shown),) = seen
            assert is_shown or (width, reach) == (320, 1), (width, reach)
            assert not is_shown or (left + (12 - reach) * letter < begin and end < left + 12 * letter), (width, reach)


def test_the_asked_letter_stands_on_its_side_of_the_cut(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """The last guess of a window is made before the cut: its line goes around the ?, as high as the error."""
    page, _ = opened
    show(page, tmp_path, Truncation())
    states = [{"tau": 6, "letter": 6}, {"tau": 3, "letter": 6}, {"tau": 1, "letter": 4}]
    parts = [".trunc-around:not([hidden])", ".trunc-asks", ".trunc-stream"]
    look = f"""() => [
      ...{parts}.map((part) => ({BOX})(part)).map(({{ left, right, top, bottom }}) => [left, right, top, bottom]),
    ]"""
    for width in (1000, 390, 320):
        page.set_viewport_size({"width": width, "height": 900})
        for state, (line, asks, stream) in zip(states, sweep(page, states, look), strict=True):
            assert line[0] <= asks[0] and asks[1] <= line[1], (width, state)
            assert line[2:] == pytest.approx(stream[2:], abs=1), (width, state)


def test_a_tap_on_a_place_moves_the_scissors_there(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    for way, place in (("windows", LAST), ("losses", 5)):
        widget = show(page, tmp_path, Truncation(way=way, letter=place + 1))
        stops = widget.locator(".trunc-stop")
        for i, tau in ((2, 3), (4, 6), (0, 1), (3, 4)):
            assert stops.nth(i).text_content() == str(tau)
            box = stops.nth(i).bounding_box()
            page.mouse.click(box["x"] + 4, box["y"] + 14)  # a finger is larger than a number
            is_of(widget, Truncation(way=way, tau=tau), place)


SOFT = "() => getComputedStyle(document.querySelector('.trunc-rail > .trunc-name')).color"


def test_letters_before_the_first_guess_choose_none(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    for letter in [*widget.locator(".trunc-before > span").all(), widget.locator(".trunc-letter").first]:
        expect(letter).to_have_css("cursor", "default")
        box = letter.bounding_box()
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        is_of(widget, Truncation())
        expect(letter).to_have_css("box-shadow", "none")
        expect(letter).to_have_css("color", page.evaluate(SOFT))  # nor does it look like one that can be tapped
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 5)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] + 4, box["y"] + 8)  # a finger trembles
        page.mouse.up()
        is_of(widget, Truncation())
    for place in range(12):  # what can be tapped has a box, as the figure says
        expect(guess(widget, place)).to_have_css("box-shadow", re.compile("inset$"))
    expect(guess(widget, 0)).to_have_css("cursor", "pointer")
    # and they are tinted where they are reached
    widget.get_by_text("Other cuts").click()
    widget.locator(".trunc-ways").get_by_role("button", name="Always 6 back").click()
    guess(widget, 6).click()
    guess(widget, 3).click()
    assert sorted(widget.locator(".trunc-reached").all_text_contents()) == sorted("e\u2423(b)\u2423")


def test_a_link_keeps_the_letter(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Truncation())
    guess(widget, 6).click()
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
    widget.get_by_text("Other cuts").click()  # nor do they go to the left
    assert link.bounding_box()["x"] == box["x"]
    widget.get_by_text("Other cuts").click()
    below = told.bounding_box()
    assert below["y"] + below["height"] <= whole["y"] + whole["height"] and below["x"] >= whole["x"]


def test_it_fits_a_narrow_phone(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    sides = "(all) => all.map((one) => one.getBoundingClientRect()).filter((one) => one.width)"
    widget = show(page, tmp_path, Truncation())
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        losses = [{"tau": tau, "way": "losses"} for tau in (6, 12)]
        for settings in ({"tau": 12}, {"tau": 1, "factor": 0.95}, *losses):
            sweep(page, [settings], "() => 0")
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
