"""The windows explorable on a page without a kernel: it shows what Python cuts, whatever is dragged or typed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import Windows
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
    const place = (x, box) => starts[Math.round((box.top - text.top - 19) / 45)] + Math.round((x - text.left) / cell);
    return [place(parts[0].left, parts[0]), place(parts.at(-1).right, parts.at(-1))]; }); }"""


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=760, height=1000) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        yield page, record
        assert record.errors == [] and record.outside == []


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


def arrays(widget: Locator) -> list[list[list[str]]]:
    return widget.evaluate(ARRAYS)


def expected(python: Windows) -> list[list[list[str]]]:
    tokens = [token.replace(" ", "␣") for token in python.tokens]
    starts, steps = python.starts[python.minibatch - 1], python.num_steps
    return [[tokens[s : s + steps], tokens[s + 1 : s + steps + 1]] for s in starts]


def check(widget: Locator, python: Windows) -> None:
    """Arrays and picture are those of Python."""
    expect(place(widget)).to_have_text(f"minibatch {python.minibatch} of {python.num_minibatches}")
    assert arrays(widget) == expected(python)
    assert widget.evaluate(PLACES) == [
        [start, start + python.num_steps] for start in python.starts[python.minibatch - 1]
    ]


@pytest.mark.parametrize("scheme", ["http", "file"])
def test_it_mounts_and_answers_keys(opened: tuple[Page, Record], tmp_path: Path, scheme: str) -> None:
    page, _ = opened
    with served(tmp_path) as addresses:
        widget = show(page, tmp_path, Windows(), address=addresses[scheme])
        check(widget, Windows())
        expect(widget.locator(".win-state")).to_have_text(["starts with an empty memory (zeros): its first piece"] * 2)
        now, case = widget.locator(".d2lrnn-now"), widget.locator(".win-case")
        expect(now).to_have_text("Each reader starts with an empty memory.")
        expect(case).to_have_text("empty memory9 letters")
        along = widget.get_by_role("slider", name="minibatch 1 of 11")
        along.press("ArrowRight")
        check(widget, Windows(minibatch=2))
        expect(now).to_have_text("Each reader goes on where it stopped, so it keeps its memory.")
        expect(case).to_have_text("memory kept4 letters")
        expect(widget.locator(".win-state")).to_have_text(["goes on from minibatch 1: it keeps its memory"] * 2)
        control(widget, "Steps").fill("11")
        check(widget, Windows(num_steps=11, minibatch=2))
        widget.get_by_role("slider", name="minibatch 2 of 10").press("End")
        check(widget, Windows(num_steps=11, minibatch=10))
        legend = widget.locator(".win-legend-item:visible").last
        expect(legend).to_have_text("2 never read")
        control(widget, "Steps").fill("9")
        widget.locator(".win-along input").press("End")
        expect(legend).to_have_text("6 never read")
        wide = "(all) => all.reduce((sum, one) => sum + one.getBoundingClientRect().width, 0)"
        veiled, kept = (widget.locator(f".win-trail.win-{kind}").evaluate_all(wide) for kind in ("never", "kept"))
        assert veiled == pytest.approx(kept * 6 / 198, rel=0.02), "all 6 are pale, beside 198 that were read before"


def test_play_reads_the_epoch_and_stops(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=760, height=1000) as (page, record):
        widget = show(page, tmp_path, Windows(source="row", batch_size=1, num_steps=2))
        play = widget.get_by_role("button", name="Play")
        play.click()
        expect(widget.get_by_role("button", name="Pause")).to_be_visible()
        expect(place(widget)).to_have_text("minibatch 3 of 5", timeout=15_000)
        widget.get_by_role("button", name="Pause").click()
        stopped = place(widget).inner_text()
        page.wait_for_timeout(2000)
        expect(place(widget)).to_have_text(stopped)
        check(widget, Windows(source="row", batch_size=1, num_steps=2, minibatch=int(stopped.split()[1])))
        play.click()
        expect(widget.locator(".win-legend")).to_contain_text("1 never read", timeout=15_000)
        expect(play).to_be_visible(timeout=5000)
        check(widget, Windows(source="row", batch_size=1, num_steps=2, minibatch=5))
        play.click()
        expect(place(widget)).to_have_text("minibatch 1 of 5")
        widget.get_by_role("button", name="Reset").click()
        expect(play).to_be_visible()
        assert record.errors == []


def test_in_sequence_a_window_moves_along_and_at_random_it_jumps(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=760, height=1000) as (page, record):
        widget = show(page, tmp_path, Windows(length=239, minibatch=2))
        page.evaluate(
            f"""() => {{ const places = {PLACES}; const e = document.querySelector(".d2lrnn-widget");
              window.stood = []; window.pale = [];
              const look = () => {{ const place = places(e)[0][0];
                if (place !== stood.at(-1)) stood.push(place);
                pale.push(+getComputedStyle(e.querySelector(".win-part")).opacity);
                requestAnimationFrame(look); }};
              look(); }}"""
        )
        widget.locator(".win-along input").press("ArrowRight")
        page.wait_for_function("() => stood.at(-1) === 20")
        stood = page.evaluate("stood")
        assert stood == sorted(stood) and stood[0] == 10 and len(stood) > 3
        assert set(page.evaluate("pale")) == {1}
        check(widget, Windows(length=239, minibatch=3))
        widget.get_by_role("button", name="At random").click()
        starts = [minibatch[0] for minibatch in Windows(length=239, sampling="random").starts]
        page.wait_for_function("(place) => stood.at(-1) === place", arg=starts[2])
        page.evaluate("stood.length = pale.length = 0")
        widget.locator(".win-along input").press("ArrowRight")
        page.wait_for_function("(place) => stood.at(-1) === place && pale.at(-1) === 1", arg=starts[3])
        assert page.evaluate("stood") == starts[2:4], "it is only ever at the start of one"
        assert min(page.evaluate("pale")) < 0.1
        check(widget, Windows(length=239, sampling="random", minibatch=4))
        assert record.errors == []


def test_a_hurried_reader_sees_the_windows(browser: Browser, tmp_path: Path) -> None:
    """One press more while the windows are on their way: they are there at once, and not away between two places."""
    with watched_page(browser, width=760, height=1000) as (page, record):
        widget = show(page, tmp_path, Windows(sampling="random"))
        along = widget.locator(".win-along input")
        pale = "(e) => +getComputedStyle(e.querySelector('.win-part')).opacity"
        along.press("ArrowRight")
        page.wait_for_function(f"() => ({pale})(document) < 0.5")
        along.press("ArrowRight")
        assert widget.evaluate(pale) == 1
        check(widget, Windows(sampling="random", minibatch=3))
        assert record.errors == []


def test_playing_sentence_and_slider_tell_the_same(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=760, height=1000) as (page, record):
        widget = show(page, tmp_path, Windows(sampling="random"))
        page.evaluate(
            """() => { const seen = window.seen = new Set();
              const place = () => document.querySelector(".win-part").getAttribute("style");
              const before = place();
              const text = (query) => document.querySelector(query).textContent;
              const look = () => { // "minibatch 2 of 11", "the memory is emptied"
                const told = text(".d2lrnn-now").match(/starts|emptied/) + ", " + text(".win-case");
                seen.add(text(".win-place").split(" ")[1] + ": " + told);
                if (seen.size === 2) window.isThere ??= place() === before;
                requestAnimationFrame(look); };
              look(); }"""
        )
        widget.get_by_role("button", name="Play").click()
        page.wait_for_function("() => window.seen.size > 2", timeout=15_000)
        assert page.evaluate("window.isThere"), "told before the window leaves"
        case = "empty memory9 letters"
        together = [f"1: starts, {case}", f"2: emptied, {case}", f"3: emptied, {case}"]
        assert page.evaluate("[...window.seen].slice(0, 3)") == together
        assert record.errors == []


def test_spaces_are_seen_and_the_answers_with_the_arrays(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows())
    spaces = Windows().text[:222].count(" ")
    expect(widget.locator(".win-space")).to_have_count(spaces)
    expect(widget.locator(".win-target:visible")).to_have_count(0)
    widget.get_by_text("Arrays X and Y").click()
    expect(widget.locator(".win-text .win-target:visible")).to_have_count(2)
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
    widget = show(page, tmp_path, Windows(num_steps=15))
    cell = widget.evaluate("(e) => parseFloat(e.querySelector('.win-text').style.getPropertyValue('--win-cell'))")
    drag(page, widget.locator(".win-part").first, (30.3 * cell, 0))
    check(widget, Windows(num_steps=15, minibatch=3))
    # A window goes no further than the epoch.
    control(widget, "Steps").fill("32")
    drag(page, widget.locator(".win-part").first, (500, 300))
    check(widget, Windows(num_steps=32, minibatch=3))
    widget.get_by_role("button", name="At random").click()
    python = Windows(sampling="random", num_steps=32, minibatch=3)
    check(widget, python)
    assert widget.locator(".win-window:not([hidden])").count() == 2


def test_the_examples(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows())
    ten = {"source": "numbers", "length": 10, "batch_size": 1, "num_steps": 4}
    d2l = {"source": "numbers", "length": 35, "num_steps": 5}
    shown = {
        "five": Windows(source="row", batch_size=1, num_steps=5),
        "ten_random": Windows(**ten, sampling="random", seed=68),
        "ten_sequence": Windows(**ten),
        "d2l_random": Windows(**d2l, sampling="adjoining", seed=19),
        "d2l_sequence": Windows(**d2l),
        "dlfs2": Windows(source="numbers", length=1000),
    }
    example = control(widget, "Example")
    for name, python in shown.items():
        example.select_option(name)
        expect(place(widget)).to_have_text(f"minibatch 1 of {python.num_minibatches}")
        assert arrays(widget) == expected(python), name
        widget.locator(".win-along input").press("ArrowRight")
        python.minibatch = 2
        assert arrays(widget) == expected(python), name
        state = (
            "goes on from minibatch 1: it keeps its memory"
            if python.carries_state
            else "starts with an empty memory (zeros): its last piece ended at"
        )
        expect(widget.locator(".win-state").first).to_contain_text(state)
        expect(example).to_have_value(name)
    folds = widget.locator(".win-text .win-fold")
    expect(folds).to_have_count(2)
    assert re.fullmatch(r"… \d+ to 4\d\d …", folds.first.inner_text())
    assert widget.locator(".win-line").count() < 14
    control(widget, "Length").fill("1001")
    expect(place(widget)).to_have_text("minibatch 2 of 50")
    expect(example).to_have_value("")


def test_at_random_nothing_is_carried_and_a_new_draw_is_another(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows())
    offset = control(widget, "Offset")
    widget.get_by_role("button", name="At random").click()
    expect(offset).to_be_hidden()
    check(widget, Windows(sampling="random"))
    now, case = widget.locator(".d2lrnn-now"), widget.locator(".win-case")
    expect(now).to_have_text("Each reader starts with an empty memory.")
    along = widget.locator(".win-along input")
    along.press("ArrowRight")
    along.press("ArrowRight")
    expect(now).to_have_text("Each reader jumps, so its memory is emptied.")
    expect(case).to_have_text("empty memory9 letters")
    assert widget.locator(".win-trails .win-once").count() > 0
    along.press("End")
    read = Windows(sampling="random").num_pairs_read
    expect(widget.locator(".win-legend-item:visible").last).to_have_text(f"{222 - read} never read")
    widget.get_by_role("button", name="Play").click()  # again from the start: another pass, other pieces
    widget.get_by_role("button", name="Pause").click()
    stopped = int(place(widget).inner_text().split()[1])
    check(widget, Windows(sampling="random", seed=1, minibatch=stopped))
    widget.get_by_role("button", name="Draw again").click()
    check(widget, Windows(sampling="random", seed=2))


def test_answers_come_after_the_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows())
    shape = widget.locator(".d2lrnn-shape")  # without what the live region says
    fresh = shape.inner_text()
    told = widget.locator(".d2lrnn-outcome")
    first = [["memory kept", "4 letters", 400 / 27], ["empty memory", "9 letters", 900 / 27]]
    unknown, wrong = ["wrong memory", "?", 0], ["wrong memory", "25 letters", 2500 / 27]
    shown = [[*first, wrong]]
    shown += [[["guess 1", "9 against 4", 90], ["guess 3", "5 against 4", 50], ["guess 10", "4 against 4", 40]]]
    shown += [[["pieces of 8", "4.5 against 4.1", 90], ["pieces of 32", "4.2 against 4.1", 84]]]
    outcomes = ["A memory of another place misleads", "At about guess 10", "Smaller: few of 32 letters"]

    def costs() -> list[list[object]]:
        return widget.locator(".win-cost-one").evaluate_all(
            "(all) => all.map((e) => [e.firstChild.textContent, e.lastChild.textContent,"
            " parseFloat(e.querySelector('.win-cost-bar').style.width)])"
        )

    def near(rows: list[list[object]]) -> list[list[object]]:
        return [[name, value, pytest.approx(share, abs=0.01)] for name, value, share in rows]

    assert costs() == near([*first, unknown]), "what a wrong memory costs is asked first"
    for step, (right, outcome) in enumerate(zip((2, 1, 2), outcomes)):
        widget.locator(".d2lrnn-step-title").nth(step).click()
        expect(told).to_be_hidden()
        assert costs() == near([*first, wrong if step > 0 else unknown])
        widget.locator(".d2lrnn-answers button").nth(right).click()
        expect(told).to_have_text(re.compile(f"^Right. {outcome}"))
        assert costs() == near(shown[step])
    marks = widget.locator(".win-costs .win-cost-mark")
    assert marks.evaluate_all("(all) => all.map((e) => parseFloat(e.style.left))") == pytest.approx([82, 82])
    widget.get_by_role("button", name="Reset").click()
    check(widget, Windows())
    assert shape.inner_text() == fresh
    # what is measured stays true of other sizes and of the other order: an answer stays, and says that it was before
    widget.locator(".d2lrnn-step-title").first.click()
    widget.locator(".d2lrnn-answers button").first.click()
    expect(widget.locator(".win-case")).to_contain_text("wrong memory")
    widget.get_by_role("button", name="In sequence").click()
    expect(told).to_have_text(re.compile("^Before your change: No. A memory of another place"))
    expect(widget.locator(".win-case")).to_contain_text("memory kept")
    control(widget, "Text").select_option("numbers")
    expect(widget.locator(".win-cost")).to_be_hidden()  # it was measured on letters


def test_an_answer_shows_the_figure_of_its_question(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """Also when the text was taken away in between: then there was no minibatch to tell about."""
    page, _ = opened
    widget = show(page, tmp_path, Windows())
    widget.locator(".d2lrnn-step-title").first.click()
    control(widget, "Text").select_option("own")
    widget.locator("textarea").fill("")
    expect(place(widget)).to_have_text("no minibatch")
    widget.locator(".d2lrnn-answers button").first.click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("A memory of another place misleads")
    check(widget, Windows(sampling="random", seed=1, minibatch=3))


def test_the_names_of_readers_stand_side_by_side(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows(sampling="random", batch_size=3, num_steps=4))
    for _ in range(18):
        boxes = widget.evaluate(
            "(e) => [...e.querySelectorAll('.win-text .win-tag')].filter((x) => x.checkVisibility()).map((x) => {"
            " const box = x.getBoundingClientRect(); return [box.left, box.right, Math.round(box.top / 20)]; })"
        )
        assert len(boxes) == 3
        for i, (left, right, line) in enumerate(boxes):
            assert all(line != other[2] or right <= other[0] or left >= other[1] for other in boxes[i + 1 :])
        widget.locator(".win-along input").press("ArrowRight")


def test_impossible_sizes_cannot_be_set(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows())
    control(widget, "Steps").fill("32")
    control(widget, "Batch size").fill("6")
    check(widget, Windows(num_steps=32, batch_size=6))
    offset = control(widget, "Offset")
    assert offset.get_attribute("max") == "29", "222 - 6 x 32 - 1"
    offset.press("End")
    check(widget, Windows(num_steps=32, batch_size=6, offset=29))
    assert control(widget, "Length").get_attribute("min") == "222"
    control(widget, "Text").select_option("row")
    expect(place(widget)).to_have_text("minibatch 1 of 1")
    expect(widget.locator(".d2lrnn-error")).to_have_count(0)


def test_reset_and_links(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows(source="numbers", length=60, num_steps=4))
    control(widget, "Text").select_option("own")
    text = "Low tide at four. High tide at ten!"
    widget.locator("textarea").fill(text)
    control(widget, "Batch size").fill("3")
    control(widget, "Offset").fill("2")
    widget.locator(".win-along input").press("ArrowRight")
    kept = Windows(source="own", own_text=text, batch_size=3, num_steps=4, offset=2, minibatch=2)
    check(widget, kept)
    widget.get_by_role("button", name="Link to this").click()
    address = page.url
    widget.get_by_role("button", name="Reset").click()
    check(widget, Windows(source="numbers", length=60, num_steps=4))
    page.goto("about:blank")
    page.goto(address)
    check(widget, kept)
    expect(widget.locator("textarea")).to_have_value("low tide at four high tide at ten ")
    for state in ('{"minibatch":900,"offset":999,"num_steps":3}', '{"own_text":5,"batch_size":99,"num_steps":3}'):
        page.evaluate("(s) => { location.hash = `#explore=Windows.0&state=${encodeURIComponent(s)}` }", state)
        expect(control(widget, "Steps")).to_have_value("3")
        assert not re.search(r"NaN|undefined|null|\[object", widget.inner_text())
        expect(widget.locator(".win-table")).to_have_count(2)


def test_the_looks_of_the_text_are_named(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """A legend for what is there, and only for that."""
    page, _ = opened
    widget = show(page, tmp_path, Windows())
    legend = widget.locator(".win-legend-item:visible")
    hint = widget.get_by_text("Drag a piece along.")
    expect(hint).to_be_visible()
    expect(legend).to_have_count(0)
    widget.locator(".win-along input").press("ArrowRight")
    expect(legend).to_have_text(["read, memory kept"])
    expect(legend.locator(".win-sample")).to_have_count(2)  # of each reader
    expect(hint).to_be_hidden()
    widget.locator(".win-along input").press("ArrowLeft")
    widget.get_by_role("button", name="At random").click()
    expect(hint).to_be_visible()
    widget.locator(".win-along input").press("End")
    never = f"{222 - Windows(sampling='random').num_pairs_read} never read"
    expect(legend).to_have_text(["read, memory lost", never])
    look = "(e) => getComputedStyle(e).backgroundColor"
    looks = {widget.locator(f"{x}.win-once").first.evaluate(look) for x in (".win-trail", ".win-sample")}
    assert len(looks) == 1 and looks.isdisjoint({"rgba(0, 0, 0, 0)"})


def test_what_is_in_the_memory_is_coloured_in_the_text(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows(batch_size=3, minibatch=4))
    kept, lost = widget.locator(".win-kept:not(.win-sample)"), widget.locator(".win-trails .win-once")
    cells = """(all) => all.map((e) => [+e.className.match(/row-(.)/)[1],
      Math.round(e.offsetWidth / parseFloat(getComputedStyle(e).getPropertyValue("--win-cell")))])"""
    letters = [0, 0, 0]
    for row, count in kept.evaluate_all(cells):
        letters[row] += count
    assert letters == [30] * 3, "three windows of ten letters, and a fourth is read now"
    expect(lost).to_have_count(0)
    widget.get_by_role("button", name="At random").click()
    expect(kept).to_have_count(0)
    assert lost.count() > 0


@pytest.mark.parametrize("width", [320, 390, 720])
def test_measured_values_stand_in_one_line(browser: Browser, tmp_path: Path, width: int) -> None:
    with watched_page(browser, width=width, height=800) as (page, record):
        widget = show(page, tmp_path, Windows())
        for step in (1, 2, 3):
            widget.locator(".d2lrnn-step-title").nth(step - 1).click()
            widget.locator(".d2lrnn-answers button").first.click()
            values = widget.locator(".win-cost-one > :is(:first-child, :last-child)")
            expect(values.first).to_be_visible()
            heights = values.evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().height)")
            assert max(heights) < 30, "two lines of this size are higher"
            assert values.evaluate_all("(all) => all.every((e) => e.scrollWidth <= e.clientWidth)")
        assert record.errors == []


def test_a_text_that_is_too_short_moves_no_slider(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows(source="own", sampling="adjoining"))
    steps = control(widget, "Steps")
    widget.locator("textarea").fill("low tide")
    needed = "This text has 8 letters. A minibatch needs 30: 2 readers \u00d7 10 steps + 1 last answer + 9 of room"
    expect(widget.locator(".d2lrnn-now")).to_contain_text(needed)
    assert [steps.get_attribute("max"), steps.input_value()] == ["32", "10"]
    steps.fill("3")
    expect(widget.locator(".d2lrnn-now")).to_contain_text("needs 9: 2 readers \u00d7 3 steps")


def test_typed_text_is_data(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows(source="own", batch_size=1, num_steps=4))
    control(widget, "Text")
    field, now = widget.locator("textarea"), widget.locator(".d2lrnn-now")
    for text in HOSTILE:
        field.fill(text)
        used = Windows(source="own", own_text=text[:1000], batch_size=1, num_steps=4)
        if len(used.tokens) < 5:
            expect(now).to_contain_text(f"This text has {len(used.tokens)} letters")
            expect(widget.locator(".win-arrays")).to_be_hidden()
            expect(place(widget)).to_have_text("no minibatch")
            expect(widget.locator(".win-play")).to_be_disabled()
            expect(widget.get_by_text("Drag a piece")).to_be_hidden()
        else:
            expect(now).to_contain_text("The reader starts with an empty memory.")
            assert arrays(widget) == expected(used), text[:20]
        assert not re.search(r"NaN|undefined|null|\[object", widget.inner_text())
    expect(widget.locator(".win-note")).to_have_text("Only the first 1000 characters are used.")
    assert len(field.input_value()) == 1000
    assert page.locator("img").count() == 0


def test_it_says_what_it_shows(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows(source="numbers", length=35, num_steps=5))
    region = widget.get_by_role("status")
    expect(region).to_have_text("")
    widget.locator(".win-along input").press("ArrowRight")
    expect(region).to_have_text(
        "Minibatch 2 of 3. Reader 1 reads places 5 to 9 and goes on from minibatch 1: it keeps its memory. "
        "Reader 2 reads places 22 to 26 and goes on from minibatch 1: it keeps its memory."
    )
    strip = widget.get_by_role("img", name=re.compile("^The text, 35 tokens"))
    expect(strip).to_have_accessible_name(re.compile("reader 1 reads places 5 to 9; reader 2 reads places 22 to 26"))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast(opened: tuple[Page, Record], tmp_path: Path, theme: str) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows(batch_size=6, num_steps=5, minibatch=3), theme=theme)
    control(widget, "Text")
    widget.get_by_text("Arrays X and Y").click()
    result = page.evaluate(LOW_CONTRAST, 4.5)
    assert result["checked"] > 80 and result["found"] == []


def test_a_page_may_clear_its_own_tables(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    rule = "main table :is(th, td) { background: none !important; padding: 0.45rem 0.8rem }"
    widget = show(page, tmp_path, Windows(), head=f"<style>{rule}</style>")
    look = "(e) => [getComputedStyle(e).backgroundColor, getComputedStyle(e).paddingTop]"
    first, second = (widget.locator(".win-x td:last-child").nth(row).evaluate(look) for row in (0, 1))
    assert first[0] != second[0] and first[0] != "rgba(0, 0, 0, 0)" and float(first[1][:-2]) < 3


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_phone(browser: Browser, tmp_path: Path, theme: str) -> None:
    context = browser.new_context(
        viewport={"width": 320, "height": 740}, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    page = context.new_page()
    head = "<style>body { margin: 0 } main { padding: 0 8px }</style>"
    widget = show(page, tmp_path, Windows(), head=head, theme=theme)
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
        "(e) => [...e.querySelectorAll('button, input:not(.win-along input), select')]"
        ".filter((x) => x.checkVisibility())"
        ".map((x) => x.getBoundingClientRect()).map((box) => [box.width, box.height])"
    )
    assert all(width >= 44 and height >= 36 for width, height in sizes), sizes
    assert widget.locator(".win-along input").bounding_box()["height"] >= 24
    context.close()


def test_control_and_effect_share_a_phone_screen(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    widget = show(page, tmp_path, Windows(), head="<style>body { margin: 0 }</style>")
    span = "(e) => e.querySelector('.d2lrnn-step-titles').getBoundingClientRect().top - e.getBoundingClientRect().top"
    assert widget.evaluate(span) <= 640
    context.close()
