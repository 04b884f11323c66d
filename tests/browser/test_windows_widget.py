"""The windows explorable on a page without a kernel: it shows what Python cuts, whatever is dragged or typed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import Windows
from d2lrnn.widgets.spec import Words
from d2lrnn.widgets.windows import _chances
from pages import LOW_CONTRAST, page_of, served
from watching import Record, watched_page

pytestmark = pytest.mark.browser

HOSTILE = ["", "</script><img src=x>", "'\"&amp;{k}"]
HOSTILE += ["👩\u200d💻👩", "\u0000\u0007\u202e", "e\u0301" * 30, "x" * 100_000]

# The arrays as they stand on the page: [["X of row 0", "Y of row 0"], ...].
ARRAYS = """(e) => [...e.querySelectorAll(".win-table")].map((table) =>
  [...table.rows].map((row) => [...row.cells].slice(1).map((cell) => cell.textContent)))"""


# Where the windows stand: { row: [first place, place after the last] }, read off the picture.
PLACES = """(e) => { const text = e.querySelector(".win-text").getBoundingClientRect();
  const cell = parseFloat(e.querySelector(".win-text").style.getPropertyValue("--win-cell"));
  const starts = [0];
  for (const line of e.querySelectorAll(".win-line")) {
    const isText = line.textContent === "" || !line.closest(".win-numbers");
    starts.push(starts.at(-1) + (isText ? line.textContent.length : line.children.length)); }
  return [...e.querySelectorAll(".win-window:not([hidden])")].map((row) => {
    const parts = [...row.querySelectorAll(".win-part:not([hidden])")].map((part) => part.getBoundingClientRect())
      .sort((a, b) => a.top - b.top);
    const place = (x, box) => starts[Math.round((box.top - text.top - 15) / 38)] + Math.round((x - text.left) / cell);
    return [place(parts[0].left, parts[0]), place(parts.at(-1).right, parts.at(-1))]; }); }"""


# How far the tint of each letter is from the surface, in the channel where they differ most (of 255).
PALE = """(all) => { const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const channels = (color) => { pixel.fillStyle = color; pixel.fillRect(0, 0, 1, 1);
    return [...pixel.getImageData(0, 0, 1, 1).data]; };
  const probe = all[0].appendChild(document.createElement("i"));
  probe.style.color = "var(--d2lrnn-surface)";
  const surface = channels(getComputedStyle(probe).color);
  probe.remove();
  return all.map((e) => channels(getComputedStyle(e).backgroundColor).map((x, i) => Math.abs(x - surface[i])))
    .map((far) => Math.max(...far)); }"""


@pytest.fixture(scope="module")
def one_page(browser: Browser) -> Iterator[tuple[Page, Record]]:
    """One page for all: to open another costs more than most of these tests."""
    with watched_page(browser) as (page, record):
        yield page, record


@pytest.fixture
def opened(one_page: tuple[Page, Record]) -> Iterator[tuple[Page, Record]]:
    page, record = one_page
    record.errors.clear()
    record.outside.clear()
    page.set_viewport_size({"width": 760, "height": 1000})
    page.emulate_media(reduced_motion="reduce")
    yield page, record
    assert record.errors == [] and record.outside == []


def two(**traits: object) -> Windows:
    """Two readers of a longer text, at its beginning."""
    return Windows(**{"batch_size": 2, "length": 222, "num_steps": 10, "minibatch": 1, **traits})


def show(page: Page, folder: Path, *widgets: Windows, address: str | None = None, **arguments: str) -> Locator:
    (folder / "page.html").write_text(page_of(*widgets, **arguments), encoding="utf-8")
    page.goto(f"{address or folder.as_uri()}/page.html")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(len(widgets))
    return page.locator(".d2lrnn-widget").first


def control(widget: Locator, name: str) -> Locator:
    """A control behind "Change text and sizes"."""
    if widget.locator(".d2lrnn-fold[open] .win-controls").count() == 0:
        widget.get_by_text("Change text and sizes").click()
    return widget.locator(".win-controls").get_by_label(name).first


def place(widget: Locator) -> Locator:
    return widget.locator(".win-place")


def per_cent(chance: float) -> str:
    return "<1%" if chance < 0.005 else f"{chance:.0%}"


def jump_words(python: Windows) -> tuple[str, list[str]]:
    """What is told of a jump, and the better memory where it matters."""
    kept, empty = map(per_cent, python.first_guess)
    apart = round(100 * python.first_guess[0]) - round(100 * python.first_guess[1])
    if abs(apart) < 6:
        return f"Reader 1 jumps. Its old memory would change little: {kept} with, {empty} without.", []
    effect = "mislead" if apart < 0 else "help by luck"
    return f"Reader 1 jumps. If it kept its memory, that would {effect}: {kept}, not {empty}.", [
        "memory emptied" if apart < 0 else "memory kept"
    ]


def averages(python: Windows) -> str:
    """What is told of lines: their first guesses on average, or those of all jumps, with this memory alone."""
    kept, empty = map(per_cent, python.jump_guess or python.average_guesses[0])
    memory, now = ("kept", kept) if python.memory == "kept" else ("emptied", empty)
    if python.carries_state:
        return f"Memory {memory}: framed letters have an average chance of {now}."
    return f"All possible jumps, memory {memory}: an average chance of {now}."


def check_firsts(widget: Locator, python: Windows, *, hidden: bool = False) -> None:
    """The two bars of the average: as long as they say, on tracks of one length; of what is hidden none."""
    title = "Framed letters: average" if python.carries_state else "All possible jumps"
    expect(widget.locator(".win-firsts-title")).to_have_text(title)
    framed = per_cent(python.average_guesses[0][python.memory == "empty"])  # of those in sight
    expect(widget.locator(".win-these")).to_have_text(
        f"lines 2 to {python.num_minibatches}" if python.carries_state else f"framed here: {framed}"
    )
    found = widget.locator(".win-first").evaluate_all(
        """(all) => all.map((e) => ["", "-bar", "-track"].map((x) => e.querySelector(`.win-chance${x}`)))
          .map(([value, bar, track]) => [value.textContent, parseFloat(bar.style.width), track.getBoundingClientRect()])
          .map(([value, bar, { left, width }]) => [value, bar, left, width])"""
    )
    means = python.jump_guess or python.average_guesses[0]
    for (value, bar, *track), mean, memory in zip(found, means, ("kept", "empty"), strict=True):
        is_told = not hidden or memory == python.memory
        assert value == (per_cent(mean) if is_told else "?")
        assert bar == pytest.approx(100 * mean if is_told else 0, abs=0.01)
        assert track == found[0][2:] and track[1] > 60


@cache
def pieces_of(length: int, num_steps: int, sampling: str, seed: int) -> list[list[tuple[float, float]]]:
    """The guesses in each line."""
    python = Windows(length=length, num_steps=num_steps, sampling=sampling, seed=seed)
    return [python._guesses_in(k) for k in range(python.num_minibatches)]


@cache
def chance_of_c(start: int) -> float:
    """How likely the c of "clock" is, where the memory is emptied before this place."""
    return Windows(offset=start, minibatch=1).guesses[11 - start][1]


def check_lines(widget: Locator, python: Windows, *, hidden: bool = False) -> None:
    """Letters, memories and tints of all lines are those of Python, and so is the guess that is chosen."""
    text = "".join(python.tokens)
    starts = [start for (start,) in python.starts]
    found = widget.locator(".win-piece").evaluate_all("(all) => all.map((e) => e.textContent)")
    pasts = [""] * len(starts)
    if python.memory == "kept":
        pasts = ["", *(text[: start + python.num_steps][-4:] for start in starts[:-1])]
    assert found == [past + text[start : start + python.num_steps] for past, start in zip(pasts, starts)]
    level = "(all) => all.map((e) => +getComputedStyle(e).getPropertyValue('--win-level'))"
    tints = widget.locator(".win-page .win-cell").evaluate_all(level)
    pieces = pieces_of(python.length, python.num_steps, python.sampling, python.seed)
    chances = [guess[python.memory == "empty"] for piece in pieces for guess in piece[:-1]]
    assert tints == pytest.approx([min(1, -math.log2(chance) / 8) for chance in chances], abs=2e-3)
    # a letter below a third has a tint and a bar, each to be seen; no other has one
    bars = widget.locator(".win-page .win-cell").evaluate_all(
        "(all) => all.map((e) => parseFloat(getComputedStyle(e, '::after').height))"
    )
    pale = widget.locator(".win-page .win-cell").evaluate_all(PALE)
    for chance, bar, far in zip(chances, bars, pale, strict=True):
        assert (bar >= 0.9 and far > 15) if chance < 1 / 3 else (bar == 0 and far == 0), chance
    expect(widget.locator(".win-piece-chosen")).to_have_attribute("data-line", str(python.minibatch - 1))
    check_firsts(widget, python, hidden=hidden)
    said = told(python)
    if hidden and python.minibatch > 1:  # what the other memory, never switched on, would give
        said[python.memory == "kept"][-1] = ""
    assert guesses(widget) == said
    assert arrays(widget) == expected(python)
    expect(widget.locator(".win-state")).to_have_text(python._state_words(Words("windows"), 0))


def check_cuts(widget: Locator, cut: int, *, asked: bool = False, jumps: bool = False) -> None:
    """The c of "clock": its line begins at this cut, or (`jumps`) at each in turn; what is `asked` is not shown."""
    found, letters, (at, tint, p, mark) = widget.locator(".win-met-page").evaluate(
        """(e) => { const all = (x) => [...e.querySelectorAll(x)], one = (x) => e.querySelector(x);
          const number = (x, name) => +x.style.getPropertyValue(name);
          const values = all(".win-met-value");
          return [all(".win-met-track").map((x, i) => [x.classList.contains("win-met-lit"),
              parseFloat(x.firstChild.style.height), values[i].textContent]),
            [all(".win-met-letter, .win-framed"), all(".win-known")].map((some) =>
              some.map((x) => x.textContent).join("")),
            [number(e, "--win-at"), number(one(".win-framed"), "--win-level"),
              number(one(".win-met-level"), "--win-p"), one(".win-met-level b").textContent]]; }"""
    )
    text, chances = "the tide clock", [chance_of_c(start) for start in range(1, 12)]
    for i, (is_lit, height, value) in enumerate(found, start=1):
        assert is_lit == (jumps or i == cut)
        p_here = chances[i - 1]
        is_shown = is_lit or not asked
        assert height == pytest.approx(100 * p_here if is_shown else 0, abs=0.01), i
        assert value == (per_cent(p_here)[:-1] if is_shown else "")
    told = sum(chances) / 11 if jumps else chances[cut - 1]
    assert len(found) == 11 and letters == [text, "" if jumps else text[cut:12]] and at == cut
    # with jumps all cuts are alike: none is chosen, and none has a handle
    expect(widget.locator(".win-met-value.win-met-chosen")).to_have_count(0 if jumps else 1)
    expect(widget.locator(".win-cut")).to_be_visible(visible=not jumps)
    assert [p, tint] == [pytest.approx(told, abs=1e-4), pytest.approx(min(1, -math.log2(told) / 8), abs=2e-3)]
    assert mark == per_cent(told)
    first = text[cut].replace(" ", "␣")
    said = f"the line begins with {first}, and c has a chance of {per_cent(told)}"
    if cut == 9:  # another c
        said = f"the line begins with the first c; the framed c has a chance of {per_cent(told)}"
    now = f"{said}."
    if jumps:
        now = f"Jump: every beginning gets its turn. On average, c has a chance of {per_cent(told)}."
    else:  # only one cut is that of reading on
        now = f"Read on: each time, {now}" if cut == 11 else f"Your cut: {now}"
    expect(widget.locator(".d2lrnn-now")).to_have_text(now)
    expect(widget.locator(".d2lrnn-lead")).to_have_text(
        "Here, every line starts with an empty memory. How well is the framed c guessed? ", use_inner_text=True
    )
    bar = float(
        widget.locator(".win-met .win-framed").evaluate("(e) => parseFloat(getComputedStyle(e, '::after').height)")
    )
    assert (bar > 0.9) == (told < 1 / 3), "with a tint it has a bar, as in the lines"
    expect(widget.locator(".win-ways")).to_be_visible(visible=not asked)
    if not asked:
        expect(widget.locator(".win-way > b")).to_have_text(["11%", "31%", "38%"])
        widths = widget.locator(".win-way .win-chance-bar").evaluate_all(
            "(all) => all.map((e) => parseFloat(e.style.width))"
        )
        assert widths == pytest.approx([11, 31, 38], abs=0.5)
        jump = per_cent(Windows(sampling="random").jump_guess[1])
        expect(widget.locator(".win-ways > p").last).to_have_text(re.compile(f"^Step 2.s {jump} was only the first"))
    if jumps:
        said = f"every beginning in turn: on average, c has a chance of {per_cent(told)}"
    expect(widget.locator(".win-met-page")).to_have_attribute("aria-valuetext", said)
    order = "Jump" if jumps else "Read on" if cut == 11 else None
    pressed = widget.locator(".win-orders [aria-pressed=true]").all_text_contents()
    assert pressed == ([] if order is None else [order])


def gains(python: Windows) -> list[float]:
    """What a memory is worth to the first guess of each line, read on."""
    text, starts = "".join(python.tokens), [start for (start,) in python.starts]
    kept = _chances("", text)
    return [kept[start] - _chances("", text[start : start + 2])[0] for start in starts]


def guesses(widget: Locator) -> list[list[str]]:
    """The two rows: what was read before, the letter, the right one, the chance."""
    return widget.locator(".win-guess").evaluate_all(
        "(all) => all.map((e) => [...e.querySelectorAll('.win-seen > *, .win-chance')].map((x) => x.textContent))"
    )


def told(python: Windows) -> list[list[str]]:
    """The same in Python."""
    starts, k = python.starts, python.minibatch - 1
    text = "".join(python.tokens)
    start = starts[k][0]
    memory = text[starts[0][0] : start] if python.carries_state else text[starts[k - 1][0] :][: python.num_steps]
    memory = "" if k == 0 else memory if len(memory) <= 11 else "…" + memory[-10:]
    chip = [text[start], text[start + 1].replace(" ", "␣")]
    kept, empty = python.first_guess
    return [[memory, *chip, per_cent(kept)], ["", *chip, per_cent(empty)]]


def arrays(widget: Locator) -> list[list[list[str]]]:
    return widget.evaluate(ARRAYS)


def expected(python: Windows) -> list[list[list[str]]]:
    tokens = [token.replace(" ", "␣") for token in python.tokens]
    starts, steps = python.starts[python.minibatch - 1], python.num_steps
    return [[tokens[s : s + steps], tokens[s + 1 : s + steps + 1]] for s in starts]


def check(widget: Locator, python: Windows) -> None:
    """Arrays and picture are those of Python."""
    expect(place(widget)).to_contain_text(f"piece {python.minibatch} of {python.num_minibatches}")
    assert arrays(widget) == expected(python)
    assert widget.evaluate(PLACES) == [
        [start, start + python.num_steps] for start in python.starts[python.minibatch - 1]
    ]


@pytest.mark.parametrize("scheme", ["http", "file"])
def test_it_mounts_and_answers_keys(opened: tuple[Page, Record], tmp_path: Path, scheme: str) -> None:
    page, _ = opened
    with served(tmp_path) as addresses:
        widget = show(page, tmp_path, two(), address=addresses[scheme])
        check(widget, two())
        expect(widget.locator(".win-state")).to_have_text(["starts with an empty memory (zeros): its first piece"] * 2)
        now, piece = widget.locator(".d2lrnn-now"), widget.get_by_role("slider", name="Piece", exact=True)
        expect(now).to_have_text("Reader 1 begins to read: its memory is still empty.")
        assert piece.get_attribute("aria-valuetext") == "piece 1 of 11"
        piece.press("ArrowRight")
        check(widget, two(minibatch=2))
        expect(now).to_have_text(re.compile("^Reader 1 reads on, so its memory helps its first guess: 74%, not 14%"))
        expect(widget.locator(".win-state")).to_have_text(["goes on from piece 1: it keeps its memory"] * 2)
        control(widget, "Steps").fill("11")
        check(widget, two(num_steps=11, minibatch=2))
        piece.press("End")
        check(widget, two(num_steps=11, minibatch=10))
        expect(place(widget)).to_have_text("piece 10 of 10, 2 letters never read")
        control(widget, "Steps").fill("9")
        piece.press("End")
        expect(place(widget)).to_have_text("piece 12 of 12, 6 letters never read")
        wide = "(all) => all.reduce((sum, one) => sum + one.getBoundingClientRect().width, 0)"
        veiled, kept = (widget.locator(f".win-trail.win-{kind}").evaluate_all(wide) for kind in ("never", "kept"))
        assert veiled == pytest.approx(kept * 6 / 198, rel=0.02), "all 6 are pale, beside 198 that were read before"


def test_the_button_reads_the_epoch_and_begins_again(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, two(source="row", batch_size=1, num_steps=2))
    following = widget.get_by_role("button", name="Next piece")
    for k in (2, 3, 4, 5):
        following.click()
        check(widget, two(source="row", batch_size=1, num_steps=2, minibatch=k))
    expect(place(widget)).to_have_text("piece 5 of 5, 1 number never read")
    grip = "(e) => parseFloat(getComputedStyle(e, '::after').top) - e.clientHeight"
    assert widget.locator(".win-grip").evaluate(grip) >= 0, "it stands below its numbers"
    following.click()
    expect(place(widget)).to_have_text("piece 1 of 5")
    expect(widget.locator(".win-guesses")).to_be_hidden()  # no network reads numbers
    expect(widget.locator(".d2lrnn-now")).to_have_text("It begins to read: its memory is still empty.")
    following.click()
    expect(widget.locator(".d2lrnn-now")).to_have_text("It reads on.")


def test_the_guesses_of_several_readers_are_the_network_s(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """With the memory that is tinted in the text and without, whatever is moved."""
    page, _ = opened
    widget = show(page, tmp_path, two(minibatch=2))
    assert guesses(widget) == told(two(minibatch=2))
    best = widget.locator(".win-strong > .win-guess-name")
    expect(best).to_have_text(["memory kept"])
    following = widget.get_by_role("button", name="Next piece")
    for k in (3, 4):
        following.click()
        assert guesses(widget) == told(two(minibatch=k))
    widget.get_by_role("button", name="Jump", exact=True).click()
    effects = set()
    for k in range(4, 11):
        python = two(sampling="random", minibatch=k)
        assert guesses(widget) == told(python)
        sentence, better = jump_words(python)
        effects.add(str(better))
        expect(widget.locator(".d2lrnn-now")).to_have_text(sentence)
        expect(best).to_have_text(better)
        following.click()
    assert len(effects) > 1
    bars = "(all) => all.map((e) => e.offsetWidth / e.parentNode.offsetWidth)"
    found = widget.locator(".win-guess .win-chance-bar").evaluate_all(bars)
    assert found == pytest.approx(two(sampling="random", minibatch=11).first_guess, abs=0.01)
    for settings in ({"num_steps": 7, "offset": 3, "minibatch": 5}, {"sampling": "adjoining", "minibatch": 5}):
        widget = show(page, tmp_path, two(**settings))
        assert guesses(widget) == told(two(**settings))


def test_the_lines_are_the_network_s(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """Every letter's tint, with either memory, read on or drawn; and what is said of them all."""
    page, _ = opened
    widget = show(page, tmp_path, Windows())
    now = widget.locator(".d2lrnn-now")
    for sampling, press in (("sequential", "Read on"), ("random", "Jump")):
        for memory, name in (("empty", "emptied"), ("kept", "kept")):
            for label in (press, name):
                widget.get_by_role("button", name=label, exact=True).click()
                expect(widget.get_by_role("button", name=label, exact=True)).to_have_attribute("aria-pressed", "true")
            python = Windows(sampling=sampling, memory=memory)
            is_first = (sampling, memory) == ("sequential", "empty")
            check_lines(widget, python, hidden=is_first)
            expect(now).to_have_text(averages(python))
    again = widget.get_by_role("button", name="Jump anew")
    again.click()
    check_lines(widget, Windows(sampling="random", memory="kept", seed=Windows().seed + 1))
    expect(now).to_have_text("All possible jumps, memory kept: an average chance of 13%.")  # of all
    framed = {Windows(sampling="random", seed=Windows().seed + i).average_guesses[0][0] for i in (0, 1)}
    assert len({*map(per_cent, framed)}) == 2, "so a press is seen to do something"
    widget.get_by_role("button", name="Read on", exact=True).click()
    expect(again).to_be_hidden()
    assert averages(Windows()).endswith("an average chance of 11%.")
    # the other memory, never switched on, is one "?" that switches it on; before line 1 there is nothing
    for name, memory in (("? Empty the memory", "empty"), ("? Keep the memory", "kept")):
        python = Windows(sampling="random", seed=8, memory="kept" if memory == "empty" else "empty")
        widget = show(page, tmp_path, python)
        expect(now).to_have_text(averages(python))
        widget.locator(".win-given").first.click()
        expect(widget.locator(".win-guess-title")).to_have_text(
            re.compile("^Line 1: chance of .[.] No line before it, so both are the same.$")
        )
        python.minibatch = 1
        check_lines(widget, python, hidden=True)
        widget.locator(".win-given").nth(1).click()
        widget.get_by_role("button", name=name, exact=True).click()
        expect(widget.locator(".win-memories :focus")).to_have_text("kept" if memory == "kept" else "emptied")
        check_lines(widget, Windows(sampling="random", seed=8, memory=memory))
        assert "?" not in widget.locator(".win-chance").all_text_contents()


def test_the_frame_stands_as_a_sign_where_framed_letters_are_told(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows())
    sign = "(e) => getComputedStyle(e, '::before').borderTopWidth"
    for width in (1280, 760, 390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        for order, at in (("Jump", ".win-these"), ("Read on", ".win-firsts-title")):
            widget.get_by_role("button", name=order, exact=True).click()
            expect(widget.locator(".win-firsts")).to_have_class(re.compile("jumps" if order == "Jump" else "firsts$"))
            signs = [
                part for part in (".win-these", ".win-firsts-title") if widget.locator(part).evaluate(sign) == "2px"
            ]
            assert signs == [at], (width, order)
            lines = widget.locator(".win-firsts-title").evaluate(
                "(e) => e.offsetHeight / parseFloat(getComputedStyle(e).lineHeight)"
            )
            assert lines < 1.5, (width, "its title is one line")
            told = widget.locator(".win-guess-title b")
            left, title = (
                part.evaluate("(e) => e.getBoundingClientRect().left") for part in (told, told.locator(".."))
            )
            assert left > title + 15, (width, "the letter stands on no line of its own")


def test_the_lead_tells_what_the_text_is_and_of_whom_the_guesses_are(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    for source, lead in (
        (
            "story",
            "A network guesses each next letter of a story (title, chapter I, …), with a memory of those before.",
        ),
        ("own", "This text is cut into lines. A network guesses each next letter."),
    ):
        widget = show(page, tmp_path, Windows(source=source, num_steps=6))
        expect(widget.locator(".d2lrnn-lead")).to_contain_text(lead)
        expect(widget.locator(".d2lrnn-lead")).to_contain_text("Keep it between lines?")
        expect(widget.locator(".win-measured p").first).to_have_text(
            "The guesses are those of the book’s network, which has learned the story The Tide Clock."  # noqa: RUF001
        )


def test_a_letter_of_the_lines_is_chosen(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows(memory="kept"))
    letters, title = widget.get_by_role("slider", name="Letter in the lines"), widget.locator(".win-guess-title")
    expect(title).to_have_text("Line 2: chance of c")
    expect(title.locator("b")).to_have_text("c")
    # framed there, and wherever it is told, as it is in the lines
    framed = """(all, kind) => all.map((e) => getComputedStyle(e))
      .map((look) => `${look[kind + 'Style']} ${look[kind + 'Width']}`)"""
    for part, kind, count in ((title.locator("b"), "outline", 1), (widget.locator(".win-right"), "borderTop", 2)):
        assert part.evaluate_all(framed, kind) == ["solid 2px"] * count
    expect(widget.locator(".win-legend")).to_have_text("chance < 1/3")  # the picture tells what its colour means
    for memory in ("emptied", "kept"):  # so that both are told
        widget.get_by_role("button", name=memory, exact=True).click()

    def chosen(k: int, n: int, right: str, more: str = "") -> None:
        expect(title).to_have_text(f"Line {k}: chance of {right}{more}")
        kept, empty = map(per_cent, Windows(minibatch=k).guesses[n - 1])
        assert [row[-1] for row in guesses(widget)] == [kept, empty]
        expect(widget.locator(".win-tap")).to_be_visible(visible=more == "")
        here = widget.locator(".win-here")
        expect(here).to_have_count(1)
        expect(here).to_have_text(right.replace("␣", " "), use_inner_text=False)
        said = letters.get_attribute("aria-valuetext")
        assert said.startswith(f"line {k}, guess {n}: after ")
        assert said.endswith(f" comes {right}, with a chance of {kept}")

    widget.locator(".win-piece").nth(4).locator(".win-cell").nth(1).click()
    chosen(5, 2, "m", ". On average, memory helps; here, it misleads.")
    check_lines_of = Windows(minibatch=5, memory="kept")
    assert arrays(widget) == expected(check_lines_of)
    for key, place in {
        "ArrowLeft": (5, 1, "a"), "ArrowUp": (4, 1, "w"), "ArrowRight": (4, 2, "␣"),
        "ArrowDown": (5, 2, "m", ". On average, memory helps; here, it misleads."),
        "Home": (1, 1, "h", ". No line before it, so both are the same."), "End": (12, 10, "d"),
    }.items():  # fmt: skip
        letters.press(key)
        chosen(*place)
    widget.locator(".win-piece").nth(2).locator(".win-past").click()
    chosen(3, 1, "r")
    expect(widget.locator(".win-strong > .win-guess-name")).to_have_text(
        ["memory kept", "kept"]
    )  # the one that is switched on
    # the first guesses that the averages are of are framed: those of the lines from the second on, without a gap
    frames = widget.locator(".win-piece").evaluate_all(
        """(all) => all.map((line) => { const first = line.querySelector(".win-cell");
          const { top, height } = first.getBoundingClientRect(), frame = getComputedStyle(first, "::before");
          return frame.content !== "none" && [top + parseFloat(frame.top), top + height - parseFloat(frame.bottom),
            frame.borderLeftWidth, frame.borderRightWidth, frame.borderTopWidth, frame.borderBottomWidth]; })"""
    )
    assert frames[0] is False and len(frames) == 12
    for (_, end, *_), (begin, *_) in pairwise(frames[1:]):
        assert begin <= end + 0.5
    sides = [["2px", "2px", "2px", "0px"], *[["2px", "2px", "0px", "0px"]] * 9, ["2px", "2px", "0px", "2px"]]
    assert [frame[2:] for frame in frames[1:]] == sides
    # after a jump a memory may help by luck; it is told where on average it does not
    widget.get_by_role("button", name="Jump", exact=True).click()
    jumps = Windows(sampling="random")
    for line, n, note in ((8, 0, ". On average, memory misleads; here, it helps by luck."), (5, 6, "")):
        widget.locator(".win-piece").nth(line - 1).locator(".win-cell").nth(n).click()
        jumps.minibatch = line
        (kept, empty), (usual, other) = jumps.guesses[n], jumps.average_guesses[n]
        assert kept > empty + 0.06 and (usual < other) == (note != "")
        expect(title).to_have_text(re.compile(f"^Line {line}: chance of .{re.escape(note)}$"))
    # all lines of a long text are there
    widget = show(page, tmp_path, Windows(length=1200, num_steps=5))
    page_box = widget.locator(".win-page")
    expect(page_box.locator(".win-piece")).to_have_count(239)
    for width in (390, 760):  # its names stand there whole, and half a line, paler, says that there are more
        page.set_viewport_size({"width": width, "height": 1000})
        names = widget.locator(".win-head-first").evaluate(
            "(e) => [e, ...e.children].map((x) => x.getBoundingClientRect()).map((x) => [x.left, x.right, x.bottom])"
        )
        assert all(x <= names[0][1] + 0.5 and y <= names[0][2] + 3 for _, x, y in names[1:])
        assert names[1][1] < names[2][0], width
        box, piece = page_box.bounding_box(), page_box.locator(".win-piece").nth(12).bounding_box()
        assert 0.4 < (box["y"] + box["height"] - piece["y"]) / piece["height"] < 0.7
        expect(widget.locator(".win-below")).to_have_count(1)
    letters.press("End")
    box, last = page_box.bounding_box(), page_box.locator(".win-piece").last.bounding_box()
    assert box["height"] < 450 and last["y"] + last["height"] <= box["y"] + box["height"] + 1
    expect(widget.locator(".win-below")).to_have_count(0)


def test_memory_and_piece_are_named_at_their_places(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    boxes = (  # the tag, and the first of the parts: that of the highest line
        "(e, [tag, part]) => [tag, part].map((x) => [...e.querySelectorAll(x)].map((y) => y.getBoundingClientRect())"
        ".sort((a, b) => a.top - b.top)[0]).map((box) => [box.left, box.top])"
    )
    for sampling in ("sequential", "random"):
        page.set_viewport_size({"width": 760, "height": 900})
        widget = show(page, tmp_path, Windows(source="numbers", sampling=sampling, minibatch=4))
        for width in (760, 390):
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
            assert widget.locator(".win-narrow").count() == (width < 400)
            expect(widget.locator(".win-tag:visible")).to_have_text(
                ["its memory" if sampling == "sequential" else "old memory", "new piece"], use_inner_text=True
            )
            for tag, part in ((".win-tag-memory", ".win-kept"), (".win-window .win-tag", ".win-part:not([hidden])")):
                (left, top), (x, y) = widget.evaluate(boxes, [tag, part])
                assert abs(left - x) < 90 and 0 < y - top < 22, "above it, pushed aside at most by the other"
    widget = show(page, tmp_path, Windows(source="numbers", minibatch=1))
    expect(widget.locator(".win-tag:visible")).to_have_text(["new piece"])


def test_in_sequence_a_window_moves_along_and_at_random_it_jumps(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="no-preference")
    widget = show(page, tmp_path, two(length=239, minibatch=2))
    page.evaluate(
        f"""() => {{ const places = {PLACES}; const e = document.querySelector(".d2lrnn-widget");
          window.stood = []; window.pale = [];
          const look = () => {{ const place = places(e)[0][0];
            if (place !== stood.at(-1)) stood.push(place);
            pale.push(+getComputedStyle(e.querySelector(".win-part")).opacity);
            requestAnimationFrame(look); }};
          look(); }}"""
    )
    widget.locator(".win-windows").press("ArrowRight")
    page.wait_for_function("() => stood.at(-1) === 20")
    stood = page.evaluate("stood")
    assert stood == sorted(stood) and stood[0] == 10 and len(stood) > 3
    assert set(page.evaluate("pale")) == {1}
    check(widget, two(length=239, minibatch=3))
    widget.get_by_role("button", name="Jump", exact=True).click()
    starts = [minibatch[0] for minibatch in two(length=239, sampling="random").starts]
    page.wait_for_function("(place) => stood.at(-1) === place", arg=starts[2])
    page.evaluate("stood.length = pale.length = 0")
    widget.locator(".win-windows").press("ArrowRight")
    page.wait_for_function("(place) => stood.at(-1) === place && pale.at(-1) === 1", arg=starts[3])
    assert page.evaluate("stood") == starts[2:4], "it is only ever at the start of one"
    assert min(page.evaluate("pale")) < 0.1
    check(widget, two(length=239, sampling="random", minibatch=4))


def test_a_hurried_reader_sees_the_windows(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """One press more while the windows are on their way: they are there at once, and not away between two places."""
    page, _ = opened
    page.emulate_media(reduced_motion="no-preference")
    widget = show(page, tmp_path, two(sampling="random"))
    along = widget.locator(".win-windows")
    along.press("ArrowRight")
    # while the old windows leave, at once and in the page: a busy machine would come too late
    opacity = page.evaluate(
        """() => new Promise((done) => {
          const pale = () => +getComputedStyle(document.querySelector(".win-part")).opacity;
          const press = () => document.querySelector(".win-windows").dispatchEvent(
            new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
          const look = () => {
            if (pale() >= 0.5) return requestAnimationFrame(look);
            press();
            return setTimeout(() => done(pale()));
          };
          look(); })"""
    )
    assert opacity == 1
    check(widget, two(sampling="random", minibatch=3))


def test_what_is_told_is_of_the_piece_that_comes(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """While the old piece leaves, sentence, place and guess are of the new one, all three."""
    page, _ = opened
    page.emulate_media(reduced_motion="no-preference")
    widget = show(page, tmp_path, two(sampling="random", minibatch=5))
    seen = page.evaluate(
        """() => new Promise((done) => { // what is told as soon as the old piece begins to pale, where it still is
          const part = document.querySelector(".win-part");
          const before = part.style.left;
          const text = (query) => document.querySelector(query).textContent;
          const look = () => (+getComputedStyle(part).opacity < 1
            ? done([".win-place", ".d2lrnn-now", ".win-guess .win-chance"].map(text).concat(part.style.left === before))
            : requestAnimationFrame(look));
          document.querySelector(".win-next").click();
          look(); })"""
    )
    python = two(sampling="random", minibatch=6)
    assert seen == ["piece 6 of 11", jump_words(python)[0], per_cent(python.first_guess[0]), True]
    page.wait_for_function("() => +getComputedStyle(document.querySelector('.win-part')).opacity === 1")
    check(widget, python)
    assert guesses(widget) == told(python)


def test_spaces_are_seen_and_the_answers_with_the_arrays(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, two())
    spaces = two().text[:222].count(" ")
    expect(widget.locator(".win-text .win-space")).to_have_count(spaces)
    expect(widget.locator(".win-target:visible")).to_have_count(0)
    widget.get_by_text("Arrays X and Y").click()
    expect(widget.locator(".win-text .win-target:visible")).to_have_count(2)
    names, caption = widget.locator(".win-name"), widget.locator(".win-arrays .win-title")
    expect(names).to_have_text(["reader 1", "reader 2"])
    expect(caption).to_contain_text("minibatch")
    control(widget, "Batch size").fill("1")  # and where there is one reader, nothing is said of readers
    expect(names).to_have_text(["line 1"])
    given = "The last (dashed) is given in line 2, but guessed here."
    expect(caption).to_contain_text(given)  # Y ends with the letter that the next line begins with
    assert arrays(widget)[0][1][-1] == widget.locator(".win-given").nth(1).text_content().replace(" ", "␣")
    for press in ("Jump", "Read on"):
        expect(caption).to_contain_text(given if press == "Jump" else "The last (dashed) stands after the line.")
        widget.get_by_role("button", name=press, exact=True).click()
    widget.get_by_role("slider", name="Letter in the lines").press("End")
    expect(caption).to_contain_text("The last (dashed) stands after the line.")
    widget.get_by_role("slider", name="Letter in the lines").press("Home")
    expect(caption).not_to_contain_text("minibatch")
    # Wide arrays say that there is more, until the end is reached.
    control(widget, "Steps").fill("32")
    control(widget, "Batch size").fill("6")
    page.set_viewport_size({"width": 400, "height": 900})
    expect(widget.locator(".win-scrolls")).to_be_visible()
    expect(widget.locator(".win-more")).to_have_count(1)
    widget.locator(".win-arrays-rows").evaluate("(e) => e.scrollTo(9999, 0)")
    expect(widget.locator(".win-more")).to_have_count(0)


def drag(page: Page, node: Locator, by: tuple[float, float]) -> None:
    box = node.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by[0], y + by[1], steps=5)
    page.mouse.up()


def test_windows_are_dragged(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, two(num_steps=15))
    cell = widget.evaluate("(e) => parseFloat(e.querySelector('.win-text').style.getPropertyValue('--win-cell'))")
    drag(page, widget.locator(".win-part").first, (30.3 * cell, 0))
    check(widget, two(num_steps=15, minibatch=3))
    # A window goes no further than the epoch.
    control(widget, "Steps").fill("32")
    drag(page, widget.locator(".win-part").first, (500, 300))
    check(widget, two(num_steps=32, minibatch=3))
    widget.get_by_role("button", name="Jump", exact=True).click()
    python = two(sampling="random", num_steps=32, minibatch=3)
    check(widget, python)
    assert widget.locator(".win-window:not([hidden])").count() == 2


def test_the_examples(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, two())
    ten = {"source": "numbers", "length": 10, "batch_size": 1, "num_steps": 4}
    d2l = {"source": "numbers", "length": 35, "num_steps": 5}
    shown = {
        "five": two(source="row", batch_size=1, num_steps=5),
        "ten_random": two(**ten, sampling="random", seed=68),
        "ten_sequence": two(**ten),
        "d2l_random": two(**d2l, sampling="adjoining", seed=19),
        "d2l_sequence": two(**d2l),
        "dlfs2": two(source="numbers", length=1000),
    }
    example = control(widget, "Example")
    for name, python in shown.items():
        example.select_option(name)
        expect(place(widget)).to_contain_text(f"piece 1 of {python.num_minibatches}")
        assert arrays(widget) == expected(python), name
        widget.locator(".win-windows").press("ArrowRight")
        python.minibatch = 2
        assert arrays(widget) == expected(python), name
        state = (
            "goes on from piece 1: it keeps its memory"
            if python.carries_state
            else "starts with an empty memory (zeros): its last piece ended at number"
        )
        expect(widget.locator(".win-state").first).to_contain_text(state)
        expect(example).to_have_value(name)
    folds = widget.locator(".win-text .win-fold")
    expect(folds).to_have_count(2)
    assert re.fullmatch(r"… \d+ to 4\d\d …", folds.first.inner_text())
    assert widget.locator(".win-line").count() < 14
    control(widget, "Length").fill("1001")
    expect(place(widget)).to_contain_text("piece 2 of 50")
    expect(example).to_have_value("")


def test_at_random_nothing_is_carried_and_a_new_draw_is_another(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, two())
    offset = control(widget, "Offset")
    widget.get_by_role("button", name="Jump", exact=True).click()
    expect(offset).to_be_hidden()
    check(widget, two(sampling="random"))
    expect(widget.locator(".win-state").first).to_contain_text("nothing is known of what came before")
    along = widget.locator(".win-windows")
    along.press("ArrowRight")
    along.press("ArrowRight")
    expect(widget.locator(".d2lrnn-now")).to_contain_text("Reader 1 jumps")
    along.press("End")
    read = two(sampling="random").num_pairs_read
    expect(place(widget)).to_have_text(f"piece 11 of 11, {222 - read} letters never read")
    widget.get_by_role("button", name="Next piece").click()  # again from the start: another pass, other pieces
    check(widget, two(sampling="random", seed=two().seed + 1))
    widget.get_by_role("button", name="Draw again").click()
    check(widget, two(sampling="random", seed=two().seed + 2))


def test_answers_come_after_the_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows())
    shape = widget.locator(".d2lrnn-shape")  # without what the live region says
    fresh = shape.inner_text()
    outcome, now = widget.locator(".d2lrnn-outcome"), widget.locator(".d2lrnn-now")
    region = widget.get_by_role("status")
    random = {"sampling": "random"}
    asked = [Windows(), Windows(**random), Windows()]
    shown = [Windows(memory="kept"), Windows(**random, memory="kept"), Windows(**random)]
    # the c of "clock", by the number of the letters before it that are read
    average = sum(map(chance_of_c, range(1, 12))) / 11
    began = "Most cuts split a word. A memory that is kept knows how it began: 38%, not 11%."
    outcomes = [
        f"{began} Where the text goes on, keep it.",
        "The memory is of another place and misleads: 13%, not 17%. After a jump, empty the memory.",
        "Reading on cuts at the same places in every reading, so c always comes second: only o is seen, 1%."
        f" Jumps mostly show more letters: {per_cent(average)}."
        f" Best is to read on and keep the memory: {per_cent(Windows().first_guess[0])}.",
    ]
    for step, (right, expected_outcome) in enumerate(zip((0, 1, 1), outcomes)):
        widget.locator(".d2lrnn-step-title").nth(step).click()
        expect(outcome).to_be_hidden()
        is_open = step < 2  # of the memory kept
        if is_open:
            expect(now).to_have_text(averages(asked[step]))
            check_firsts(widget, asked[step], hidden=True)
        else:  # and of the other beginnings nothing is seen
            check_cuts(widget, 11, asked=True)
        empty = per_cent(asked[step].first_guess[1])
        kept = "" if is_open else per_cent(asked[step].first_guess[0])
        assert [row[-1] for row in guesses(widget)] == [kept, empty], "what is asked is not shown"
        assert f" {per_cent(shown[step].first_guess[0])}" not in region.text_content() or not is_open
        widget.locator(".d2lrnn-answers button").nth(right).click()
        expect(outcome).to_contain_text(f"Right. {expected_outcome}")
        if step < 2:
            check_lines(widget, shown[step])
            expect(now).to_have_text(averages(shown[step]))
        # the third picture is of an empty memory
        parts = [".win-block", ".win-firsts", ".win-guesses", ".win-memories", ".win-xy"]
        for part, is_there in ((".win-met", not is_open), *((part, is_open) for part in parts)):
            expect(widget.locator(part)).to_be_visible(visible=is_there)
    check_cuts(widget, 11, jumps=True)
    widget.get_by_role("button", name="Read on", exact=True).click()
    check_cuts(widget, 11)
    assert not outcome.text_content().startswith("Your earlier"), "it holds for both"
    widget.locator(".d2lrnn-step-title").nth(1).click()
    expect(widget.locator(".win-met")).to_be_hidden()
    check_lines(widget, shown[1])  # with the answer that it got
    widget.get_by_role("button", name="Reset").click()
    check_lines(widget, Windows(), hidden=True)
    assert shape.inner_text() == fresh
    # a question that is left gives the numbers back, and an answer says that it was of before
    widget.get_by_role("button", name="kept", exact=True).click()
    expect(now).to_have_text(averages(Windows(memory="kept")))
    widget.locator(".d2lrnn-step-title").first.click()
    check_firsts(widget, Windows(), hidden=True)
    widget.locator(".d2lrnn-step-title").first.click()
    check_firsts(widget, Windows())
    widget.locator(".d2lrnn-step-title").first.click()
    widget.locator(".d2lrnn-answers button").nth(1).click()
    widget.locator(".win-cell").nth(55).click()  # another line is no other figure
    expect(outcome).to_have_text(re.compile(f"^Not so. {began}"))
    widget.get_by_role("button", name="Jump", exact=True).click()
    expect(outcome).to_have_text(re.compile(f"^Your earlier guess: Not so. {began}"))
    # the picture of a question and its answer is the story in lines: both go with it
    question = widget.locator(".d2lrnn-question")
    for name, other in (("Example", "d2l_sequence"), ("Text", "own"), ("Batch size", "2")):
        for answered in (False, True):
            widget.locator(".d2lrnn-step-title").nth(1).click()
            if answered:
                widget.locator(".d2lrnn-answers button").nth(1).click()
            expect(outcome).to_be_visible(visible=answered)
            changed = control(widget, name)
            (changed.fill if name == "Batch size" else changed.select_option)(other)
            for part in (question, outcome):
                expect(part).to_be_hidden()
        widget.get_by_role("button", name="Reset").click()
    # an order that is set below answers no question either
    for step in (2, 0):
        widget.locator(".d2lrnn-step-title").nth(step).click()
        expect(question).to_be_visible()
        control(widget, "Pieces").select_option("random")
        expect(question).to_be_hidden()
        expect(widget.locator(".win-met")).to_be_hidden()


def test_the_cut_is_dragged_and_answers_at_once(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows())
    widget.locator(".d2lrnn-step-title").nth(2).click()
    slider = widget.get_by_role("slider", name="Where the line begins")
    orders = {name: widget.locator(".win-orders").get_by_role("button", name=name) for name in ("Read on", "Jump")}
    letter = widget.locator(".win-met-letter").first.bounding_box()["width"]
    drag(page, widget.locator(".win-cut"), (-2.4 * letter, 3))  # while a question waits, nothing gives the answer away
    widget.locator(".win-met-track").nth(2).click()
    slider.press("Home")
    expect(slider).to_have_attribute("aria-disabled", "true")
    expect(orders["Jump"]).to_be_disabled()
    why = widget.get_by_text("guess first")
    expect(why).to_be_visible()
    expect(widget.locator(".win-met-head > span").last).to_be_hidden()
    check_cuts(widget, 11, asked=True)
    widget.locator(".d2lrnn-answers button").first.click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("so c always comes second:")
    expect(why).to_be_hidden()
    check_cuts(widget, 11, jumps=True)
    drag(page, widget.locator(".win-cut"), (-2.4 * letter, 3))  # as far as the hand; it is one cut then, no more all
    check_cuts(widget, 9)
    region, now = widget.get_by_role("status"), widget.locator(".d2lrnn-now")
    expect(region).to_have_text(re.compile(f"{re.escape(now.inner_text())}$"))  # it speaks of the last cut
    note = widget.locator(".win-measured", has_text="In step 3")
    expect(note).to_have_count(1)
    expect(slider).to_have_attribute("aria-disabled", "false")
    drag(page, widget.locator(".win-cut"), (-2 * letter, 3 * letter))  # a hand that moves upwards or down scrolls
    check_cuts(widget, 9)
    widget.locator(".win-met-track").nth(2).click()
    check_cuts(widget, 3)
    for key, cut in {"ArrowRight": 4, "End": 11, "ArrowUp": 11, "ArrowLeft": 10, "ArrowDown": 9, "Home": 1}.items():
        slider.press(key)
        check_cuts(widget, cut)
    assert slider.get_attribute("aria-valuetext") == "the line begins with h, and c has a chance of 51%"
    expect(region).to_have_text(now.inner_text())  # what is said is the last cut, no earlier one
    orders["Read on"].click()
    expect(region).to_have_text("Read on: each time, the line begins with o, and c has a chance of 1%.")
    for press in ("Jump", "Read on"):  # each brings its own cut back
        orders[press].click()
        check_cuts(widget, 11, jumps=press == "Jump")
        drag(page, widget.locator(".win-met-letter").nth(6), (letter, 0))
        check_cuts(widget, 7)
    orders["Jump"].click()
    widget.locator(".win-met-track").nth(10).click()
    check_cuts(widget, 11)
    assert not widget.locator(".d2lrnn-outcome").text_content().startswith("Your earlier"), "it holds for each cut"
    for _ in range(2):  # closed and opened again, it shows its answer
        widget.locator(".d2lrnn-step-title").nth(2).click()
    check_cuts(widget, 11, jumps=True)
    expect(region).to_contain_text("Not so.")
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(".win-met")).to_be_hidden()
    expect(widget.locator(".win-block")).to_be_visible()
    expect(region).to_have_text(now.inner_text())
    expect(note).to_have_count(0)  # it is of that picture alone


def test_a_reset_after_numbers_forgets_the_letter_that_was_chosen_before(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, record = opened
    widget = show(page, tmp_path, Windows())
    widget.get_by_role("slider", name="Letter in the lines").press("ArrowRight")
    expect(widget.locator(".win-guesses > p")).to_have_text("Line 2: chance of k")
    control(widget, "Text").select_option("numbers")
    expect(widget.locator(".win-guesses")).to_be_hidden()
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(".win-guesses > p")).to_have_text("Line 2: chance of c")
    assert record.errors == []


def test_every_guess_of_the_piece_can_be_chosen(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """A pair of bars for each letter; the one that is chosen stands above, with what was read."""
    page, _ = opened
    widget = show(page, tmp_path, two(minibatch=5))
    letters, title = widget.get_by_role("slider", name="Letter of the piece"), widget.locator(".win-guesses > p")
    heights = "(all) => all.map((e) => [...e.querySelectorAll('i')].map((i) => parseFloat(i.style.height) / 100))"
    bars = widget.locator(".win-letter")
    for found, chances in zip(bars.evaluate_all(heights), two(minibatch=5).guesses, strict=True):
        assert found == pytest.approx(chances, abs=1e-3)
    letters.press("End")
    kept, empty = map(per_cent, two(minibatch=5).guesses[-1])
    expect(title).to_have_text("Reader 1\u2019s guess 10: how likely is the right letter?")
    assert [row[-1] for row in guesses(widget)] == [kept, empty]
    now = widget.locator(".d2lrnn-now")
    for n in range(10, 1, -1):  # the line above is of the guess that is chosen
        kept, empty = two(minibatch=5).guesses[n - 1]
        apart = round(100 * kept) - round(100 * empty)
        said = "It matters little." if abs(apart) < 6 else f"Keeping it {'helps' if apart > 0 else 'misleads'}."
        expect(now).to_have_text(
            f"Reader 1\u2019s guess {n}: memory kept {per_cent(kept)}, emptied {per_cent(empty)}. {said}"
        )
        best = [] if abs(apart) < 6 else ["memory kept" if apart > 0 else "memory emptied"]
        expect(widget.locator(".win-strong > .win-guess-name")).to_have_text(best)
        letters.press("ArrowLeft")
    expect(now).to_contain_text("its memory helps its first guess")
    letters.press("End")
    kept, empty = map(per_cent, two(minibatch=5).guesses[-1])
    assert letters.get_attribute("aria-valuetext") == (
        f"after t, letter 10 of 10: {kept} with its memory kept, {empty} with it emptied"
    )
    bars.nth(2).click()
    expect(widget.locator(".win-chosen")).to_have_text("i")
    kept, empty = map(per_cent, two(minibatch=5).guesses[2])
    assert guesses(widget) == [["…low wate", "r i", "␣", kept], ["", "r i", "␣", empty]]
    widget.get_by_role("button", name="Next piece").click()
    assert guesses(widget) == told(two(minibatch=6)), "a new piece begins with its first guess"


def test_numbers_ask_nothing_of_a_memory(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows(source="numbers"))
    expect(widget.locator(".d2lrnn-lead")).to_have_text(re.compile("^A network reads numbers in pieces"))
    question, block, text = (
        widget.get_by_text("Keep it between lines?"),
        widget.locator(".win-block"),
        widget.locator(".win-text"),
    )
    for hidden in (question, block, widget.locator(".win-guesses"), widget.locator(".win-memories")):
        expect(hidden).to_be_hidden()
    expect(text).to_be_visible()
    control(widget, "Text").select_option("story")
    for shown in (question, block, widget.locator(".win-guesses"), widget.locator(".win-memories")):
        expect(shown).to_be_visible()
    expect(text).to_be_hidden()
    worth = gains(Windows())
    telling = 1 + worth.index(max(worth))  # it opens where a memory helps most
    expect(widget.locator(".win-piece-chosen")).to_have_attribute("data-line", str(telling - 1))
    control(widget, "Batch size").fill("2")
    expect(text).to_be_visible()
    first = 11 * (min(telling, 6) - 1)
    assert widget.evaluate(PLACES) == [[first, first + 11], [66 + first, 77 + first]], "it is laid out as it comes"


def test_a_window_on_its_way_is_held_at_once(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """It stands where it goes as soon as it is touched, and can be dragged from there."""
    page, _ = opened
    page.emulate_media(reduced_motion="no-preference")
    widget = show(page, tmp_path, two(num_steps=11, minibatch=2))
    part = widget.locator(".win-part:visible").first.bounding_box()
    cell = widget.evaluate("(e) => parseFloat(e.querySelector('.win-text').style.getPropertyValue('--win-cell'))")
    x, y = part["x"] + 14.5 * cell, part["y"] + part["height"] / 2
    page.mouse.move(x, y)
    widget.locator(".win-windows").press("ArrowRight")
    page.mouse.down()
    expect(widget.locator(".win-glides")).to_have_count(0)
    check(widget, two(num_steps=11, minibatch=3))
    assert widget.locator(".win-windows").evaluate("(e) => e.classList.contains('win-held')")
    page.mouse.move(x + 11 * cell, y, steps=4)
    page.mouse.up()
    check(widget, two(num_steps=11, minibatch=4))
    assert widget.locator(".win-part").first.evaluate("(e) => getComputedStyle(e).cursor") == "grab"


def test_a_press_leaves_a_question_and_nothing_is_told_before_a_guess(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows())
    region, question = widget.get_by_role("status"), widget.locator(".d2lrnn-question")
    for step, python in ((0, Windows()), (1, Windows(sampling="random"))):
        widget.locator(".d2lrnn-step-title").nth(step).click()
        assert per_cent((python.jump_guess or python.average_guesses[0])[0]) not in region.text_content()
        expect(widget.locator(".d2lrnn-now")).to_have_text(averages(python))
        expect(question).to_be_visible()
        widget.locator(".win-piece").nth(7).click()  # it stays beside another line, and tells nothing of it
        assert guesses(widget)[0][-1] == ""
    for press in ("kept", "Jump anew"):
        widget.locator(".d2lrnn-step-title").nth(1).click()
        if not question.is_visible():
            widget.locator(".d2lrnn-step-title").nth(1).click()
        widget.get_by_role("button", name=press, exact=True).click()
        expect(question).to_be_hidden()
        assert "?" not in widget.locator(".win-chance").all_text_contents()
    widget.locator(".d2lrnn-step-title").first.click()
    control(widget, "Batch size").fill("2")  # there are no lines to ask about
    expect(question).to_be_hidden()


def test_a_place_that_is_touched_brings_the_piece(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, two())
    line = widget.locator(".win-line").nth(1).bounding_box()
    page.mouse.click(line["x"] + 40, line["y"] + 12)
    place_touched = widget.evaluate(
        """(e) => { const lines = [...e.querySelectorAll(".win-line")];
          const cell = parseFloat(e.querySelector(".win-text").style.getPropertyValue("--win-cell"));
          return lines[0].textContent.length + Math.floor(40 / cell); }"""
    )
    check(widget, two(minibatch=place_touched // 10 + 1))


def test_the_names_of_readers_stand_side_by_side(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, two(sampling="random", batch_size=3, num_steps=4))
    for _ in range(18):
        boxes = widget.evaluate(
            "(e) => [...e.querySelectorAll('.win-text .win-tag')].filter((x) => x.checkVisibility()).map((x) => {"
            " const box = x.getBoundingClientRect(); return [box.left, box.right, Math.round(box.top / 20)]; })"
        )
        assert len(boxes) == 3
        for i, (left, right, line) in enumerate(boxes):
            assert all(line != other[2] or right <= other[0] or left >= other[1] for other in boxes[i + 1 :])
        widget.locator(".win-windows").press("ArrowRight")


def test_impossible_sizes_cannot_be_set(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, two())
    control(widget, "Steps").fill("32")
    control(widget, "Batch size").fill("6")
    check(widget, two(num_steps=32, batch_size=6))
    offset = control(widget, "Offset")
    assert offset.get_attribute("max") == "29", "222 - 6 x 32 - 1"
    offset.press("End")
    check(widget, two(num_steps=32, batch_size=6, offset=29))
    assert control(widget, "Length").get_attribute("min") == "222"
    control(widget, "Text").select_option("row")
    expect(place(widget)).to_contain_text("piece 1 of 1")
    expect(widget.locator(".d2lrnn-error")).to_have_count(0)


def test_reset_and_links(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, two(source="numbers", length=60, num_steps=4))
    control(widget, "Text").select_option("own")
    text = "Low tide at four. High tide at ten!"
    widget.locator("textarea").fill(text)
    control(widget, "Batch size").fill("3")
    control(widget, "Offset").fill("2")
    widget.locator(".win-windows").press("ArrowRight")
    kept = two(source="own", own_text=text, batch_size=3, num_steps=4, offset=2, minibatch=2)
    check(widget, kept)
    widget.get_by_role("button", name="Link to this").click()
    address = page.url
    widget.get_by_role("button", name="Reset").click()
    check(widget, two(source="numbers", length=60, num_steps=4))
    page.goto("about:blank")
    page.goto(address)
    check(widget, kept)
    expect(widget.locator("textarea")).to_have_value("low tide at four high tide at ten ")
    for state in ('{"minibatch":900,"offset":999,"num_steps":3}', '{"own_text":5,"batch_size":99,"num_steps":3}'):
        page.evaluate("(s) => { location.hash = `#explore=Windows.0&state=${encodeURIComponent(s)}` }", state)
        expect(control(widget, "Steps")).to_have_value("3")
        assert not re.search(r"NaN|undefined|null|\[object", widget.inner_text())
        expect(widget.locator(".win-table")).to_have_count(2)


def test_a_link_and_python_show_the_cut(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows())
    widget.locator(".d2lrnn-step-title").nth(2).click()
    widget.locator(".d2lrnn-answers button").first.click()
    widget.locator(".win-met-track").nth(5).click()
    check_cuts(widget, 6)
    expect(widget.locator(".d2lrnn-now")).to_contain_text("begins with d,")
    widget.get_by_role("button", name="Link to this").click()
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    check_cuts(widget, 6)
    widget.locator(".d2lrnn-step-title").nth(2).click()  # its question hides the other chances again
    check_cuts(widget, 11, asked=True)
    widget.locator(".d2lrnn-step-title").nth(2).click()
    check_lines(widget, Windows(), hidden=True)
    widget.locator(".d2lrnn-step-title").nth(2).click()
    widget.locator(".d2lrnn-answers button").first.click()
    control(widget, "Steps").press("ArrowLeft")  # the answer goes with its picture, and neither comes back
    expect(widget.locator(".d2lrnn-outcome")).to_be_hidden()
    control(widget, "Steps").press("ArrowRight")
    expect(widget.locator(".win-met")).to_be_hidden()
    widget = show(page, tmp_path, Windows(cut_at=6))
    check_cuts(widget, 6)
    control(widget, "Steps").press("ArrowLeft")  # of lines cut otherwise there is no such picture
    expect(widget.locator(".win-met")).to_be_hidden()
    widget.get_by_role("button", name="Reset").click()
    check_cuts(widget, 6)
    widget = show(page, tmp_path, Windows(cut_at=11, sampling="random"))
    check_cuts(widget, 11, jumps=True)


def test_a_press_measures_nothing(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """Whether arrays are wide, and a text long, is measured in the next frame, however often it is drawn until then."""
    page, _ = opened
    widget = show(page, tmp_path, Windows())
    measured = widget.evaluate(
        """async (e) => { let count = 0;
          const known = Object.getOwnPropertyDescriptor(Element.prototype, "scrollHeight");
          const counted = { ...known, get() { count += 1; return known.get.call(this); } };
          Object.defineProperty(Element.prototype, "scrollHeight", counted);
          const counts = [];
          for (const name of ["kept", "emptied", "kept"])
            [...e.querySelectorAll(".win-memories button")].find((x) => x.textContent === name).click();
          counts.push(count);
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
          Object.defineProperty(Element.prototype, "scrollHeight", known);
          return [...counts, count]; }"""
    )
    assert measured == [0, 1]


def test_what_is_in_the_memory_is_coloured_in_the_text(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, two(batch_size=3, minibatch=4))
    cells = """(all) => all.map((e) => [+e.className.match(/row-(.)/)[1],
      Math.round(e.offsetWidth / parseFloat(getComputedStyle(e).getPropertyValue("--win-cell")))])"""

    def letters() -> list[int]:
        found = [0, 0, 0]
        for row, count in widget.locator(".win-kept").evaluate_all(cells):
            found[row] += count
        return found

    assert letters() == [30] * 3, "three windows of ten letters, and a fourth is read now"
    widget.get_by_role("button", name="Jump", exact=True).click()
    assert letters() == [10] * 3, "the last window of each"
    widget.locator(".win-windows").press("Home")
    assert letters() == [0] * 3


def test_nothing_moves_below_the_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows())
    for width in (320, 360, 390, 720, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        tops, guesses_at, clipped = widget.evaluate(
            """async (e) => { const tops = [], guesses = [], clipped = [];
              const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
              await drawn();
              for (const order of e.querySelectorAll(".win-orders button"))
                for (const memory of e.querySelectorAll(".win-memories button")) {
                  order.click();
                  memory.click();
                  for (const key of ["Home", "ArrowRight", "ArrowDown", "ArrowDown", "End"]) {
                    e.querySelector(".win-page").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
                    await drawn();
                    tops.push(e.querySelector(".d2lrnn-step-titles").offsetTop);
                    guesses.push(e.querySelector(".win-guesses").offsetTop);
                    const parts = [...e.querySelectorAll(".win-guess > *")];
                    clipped.push(...parts.filter((x) => x.scrollWidth > x.clientWidth + 1).map((x) => x.className)); } }
              return [tops, guesses, clipped]; }"""
        )
        for places in (tops, guesses_at):
            assert len(places) == 20 and len({*map(round, places)}) == 1, width
        assert clipped == [], width


def test_a_text_that_is_too_short_moves_no_slider(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, two(source="own", sampling="adjoining"))
    steps = control(widget, "Steps")
    widget.locator("textarea").fill("low tide")
    needed = "This text has 8 letters. A minibatch needs 30: 2 readers \u00d7 10 steps + 1 last answer + 9 of room"
    expect(widget.locator(".d2lrnn-now")).to_contain_text(needed)
    assert [steps.get_attribute("max"), steps.input_value()] == ["32", "10"]
    steps.fill("3")
    expect(widget.locator(".d2lrnn-now")).to_contain_text("needs 9: 2 readers \u00d7 3 steps")


def test_typed_text_is_data(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, two(source="own", batch_size=1, num_steps=4))
    control(widget, "Text")
    field, now = widget.locator("textarea"), widget.locator(".d2lrnn-now")
    for text in HOSTILE:
        field.fill(text)
        used = two(source="own", own_text=text[:1000], batch_size=1, num_steps=4)
        if len(used.tokens) < 5:
            unit = "letter" if len(used.tokens) == 1 else "letters"
            expect(now).to_contain_text(f"This text has {len(used.tokens)} {unit}. ")
            expect(now).to_contain_text(": 1 reader \u00d7 4 steps")
            expect(widget.locator(".win-arrays")).to_be_hidden()
            expect(place(widget)).to_have_text("no piece")
            expect(widget.locator(".win-next")).to_be_disabled()
            expect(widget.locator(".win-guesses")).to_be_hidden()
        else:
            expect(now).to_contain_text("One piece only" if used.num_minibatches == 1 else "Memory emptied:")
            shown = int(widget.locator(".win-piece-chosen").get_attribute("data-line"))
            worth = gains(used)
            assert worth[shown] == pytest.approx(max(worth), abs=1e-5), "it opens where a memory helps most"
            used.minibatch = shown + 1
            assert arrays(widget) == expected(used), text[:20]
        assert not re.search(r"NaN|undefined|null|\[object", widget.inner_text())
    expect(widget.locator(".win-note")).to_have_text("Only the first 1000 characters are used.")
    assert len(field.input_value()) == 1000
    assert page.locator("img").count() == 0


def test_it_says_what_it_shows(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, two(source="numbers", length=35, num_steps=5))
    region = widget.get_by_role("status")
    expect(region).to_have_text("")
    widget.locator(".win-windows").press("ArrowRight")
    expect(region).to_have_text("piece 2 of 3. Reader 1 reads on.")
    strip = widget.get_by_role("img", name=re.compile("^The text, 35 tokens"))
    expect(strip).to_have_accessible_name(re.compile("reader 1 reads places 5 to 9; reader 2 reads places 22 to 26"))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast(opened: tuple[Page, Record], tmp_path: Path, theme: str) -> None:
    page, _ = opened
    show(page, tmp_path, Windows(memory="kept", sampling="random"), theme=theme)  # its hottest letters are full
    result = page.evaluate(LOW_CONTRAST, 4.5)
    assert result["checked"] > 130 and result["found"] == []
    assert min(far for far in page.locator(".win-page .win-cell").evaluate_all(PALE) if far > 0) > 15
    widget = show(page, tmp_path, two(batch_size=6, num_steps=5, minibatch=3), theme=theme)
    control(widget, "Text")
    widget.get_by_text("Arrays X and Y").click()
    result = page.evaluate(LOW_CONTRAST, 4.5)
    assert result["checked"] > 80 and result["found"] == []


def test_a_page_may_clear_its_own_tables(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    rule = "main table :is(th, td) { background: none !important; padding: 0.45rem 0.8rem }"
    widget = show(page, tmp_path, two(), head=f"<style>{rule}</style>")
    look = "(e) => [getComputedStyle(e).backgroundColor, getComputedStyle(e).paddingTop]"
    first, second = (widget.locator(".win-x td:last-child").nth(row).evaluate(look) for row in (0, 1))
    assert first[0] != second[0] and first[0] != "rgba(0, 0, 0, 0)" and float(first[1][:-2]) < 3


def test_phone(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(
        viewport={"width": 320, "height": 740}, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    page = context.new_page()
    head = "<style>body { margin: 0 } main { padding: 0 8px }</style>"
    widget = show(page, tmp_path, two(), head=head)
    widget.get_by_text("Arrays X and Y").click()
    for name in ("story", "dlfs2", "d2l_random", "five"):
        control(widget, "Example").select_option(name)
        if name == "dlfs2":
            control(widget, "Steps").fill("32")
        assert page.evaluate("document.documentElement.scrollWidth") == 320, name
        clipped = widget.evaluate(
            "(e) => [...e.querySelectorAll('.d2lrnn-view *')].filter((x) => x.getBoundingClientRect().right >"
            " e.getBoundingClientRect().right + 0.5 && !x.closest('.d2lrnn-hidden, .win-arrays-rows'))"
            ".map((x) => x.className)"
        )
        assert clipped == [], name
        # Only a box that scrolls is a stop for the keyboard.
        wide = widget.locator(".win-arrays-rows").evaluate("(e) => e.scrollWidth > e.clientWidth + 1")
        expect(widget.locator(".win-arrays-rows[tabindex='0']")).to_have_count(1 if wide else 0)
    sizes = widget.evaluate(
        "(e) => [...e.querySelectorAll('button, input, select')]"
        ".filter((x) => x.checkVisibility())"
        ".map((x) => x.getBoundingClientRect()).map((box) => [box.width, box.height])"
    )
    assert all(width >= 44 and height >= 36 for width, height in sizes), sizes
    assert widget.locator(".win-windows").bounding_box()["height"] >= 24
    context.close()


def test_control_and_effect_share_a_phone_screen(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    span = "(e) => e.querySelector('.d2lrnn-step-titles').getBoundingClientRect().{} - e.getBoundingClientRect().top"
    for python, edge, most in ((two(), "top", 640), (Windows(), "bottom", 844)):
        widget = show(page, tmp_path, python, head="<style>body { margin: 0; padding-bottom: 200px }</style>")
        assert widget.evaluate(span.format(edge)) <= most
    # with a step open, asked and answered, from the controls to the example nothing is covered, and Jump anew neither
    parts = [".win-bar", ".win-firsts", ".win-guesses"]
    for step in (0, 1):
        widget.locator(".d2lrnn-step-title").nth(step).tap()
        for answered in (False, True):
            if answered:
                widget.locator(".d2lrnn-answers button").nth(step).tap()
                expect(widget.locator(".d2lrnn-outcome")).to_be_visible()
            page.wait_for_function(
                """(parts) => { const boxes = parts.map((x) => document.querySelector(x).getBoundingClientRect());
                  const sheet = document.querySelector(".d2lrnn-steps").getBoundingClientRect();
                  return boxes.every((box) => box.top >= 0 && box.bottom <= sheet.top); }""",
                arg=[".d2lrnn-now", *parts, *[".win-again"] * step],
            )
    # a finger that scrolls over the third picture moves no cut, one that moves sideways does
    widget.locator(".d2lrnn-step-title").nth(2).tap()
    widget.locator(".d2lrnn-answers button").first.tap()
    widget.locator(".win-orders").get_by_role("button", name="Read on").tap()
    fingers = context.new_cdp_session(page)

    def swipe(by: tuple[int, int]) -> None:
        box = widget.locator(".win-met-page").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        fingers.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        for step in range(1, 9):
            point = {"x": x + by[0] * step / 8, "y": y + by[1] * step / 8}
            fingers.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
        fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    page.evaluate("scrollTo(0, 0)")
    scrolled = page.evaluate("scrollY")
    swipe((10, -120))
    page.wait_for_function("(before) => scrollY > before + 40", arg=scrolled)
    check_cuts(widget, 11)
    swipe((-60, 10))
    expect(widget.locator(".win-met-page")).not_to_have_attribute("aria-valuenow", "11")
    context.close()
