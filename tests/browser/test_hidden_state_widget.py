"""The explorable HiddenState on a page without a kernel: scissors, guesses, the thread, the steps, the numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import HiddenState
from pages import LOW_CONTRAST, page_of
from watching import Record, watched_page

pytestmark = pytest.mark.browser

SOFT = (0x54, 0x60, 0x6C)

PIXELS = """(c) => { const { width, height } = c;
  return [width, height, [...c.getContext("2d").getImageData(0, 0, width, height).data]]; }"""


TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"

# The cuts and the guesses that are shown one after the other, once the scissors have begun to walk.
WATCH_THE_CUT = """globalThis.cuts = []; globalThis.guesses = [];
new MutationObserver(() => {
  const cut = Number(document.querySelector(".cut-handle")?.getAttribute("aria-valuenow"));
  if (cut === 26 || (cuts.length > 0 && cut !== cuts.at(-1))) {
    if (cut !== cuts.at(-1)) cuts.push(cut);
    guesses.push(document.querySelector(".cut-card-other .cut-word").textContent);
  }
}).observe(document, { subtree: true, childList: true, attributes: true });"""


def show(page: Page, folder: Path, **given: object) -> Locator:
    (folder / "page.html").write_text(page_of(HiddenState(**given)), encoding="utf-8")
    page.goto(f"{folder.as_uri()}/page.html")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(1)
    expect(page.locator(".cut-picture").first).to_have_attribute("height", re.compile("^[0-9]+$"))
    return page.locator(".d2lrnn-widget")


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=760, height=1000) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        yield page, record
        assert record.errors == [] and record.outside == []


@pytest.fixture
def widget(opened: tuple[Page, Record], tmp_path: Path) -> Locator:
    return show(opened[0], tmp_path)


def handle(widget: Locator) -> Locator:
    return widget.get_by_role("slider", name="Cut the memory after")


def words(widget: Locator) -> list[str]:
    return widget.locator(".cut-word").all_inner_texts()


def thread(widget: Locator) -> list[float]:
    """How far the cut memory hangs under the other, in pixels, from the cut on."""
    line = float(re.search(r"[ML][\d.]+ ([\d.]+)H", widget.locator(".cut-whole").get_attribute("d"))[1])
    heights = re.findall(r"[ML][\d.]+ ([\d.]+)", widget.locator(".cut-other").get_attribute("d"))
    return [float(height) - line for height in heights]


def shares(widget: Locator) -> list[str]:
    """How much of the difference is left, as it is written at the end of the thread."""
    return widget.locator(".cut-share").all_text_contents()


def captions(widget: Locator) -> list[str]:
    return [text.replace(" \n", "\n") for text in widget.locator(".cut-caption").all_inner_texts()]


def kept(widget: Locator) -> str:
    """What is left in memory, as it stands beside the guess."""
    return captions(widget)[1].split("\n")[0]


def press(widget: Locator, name: str) -> None:
    widget.get_by_role("button", name=name, exact=True).click()


def test_it_opens_on_the_cut_and_the_two_guesses(widget: Locator) -> None:
    assert words(widget) == ["another␣", "there␣"]
    expect(widget.locator(".d2lrnn-now")).to_have_text("With only “ther” in memory, it guesses e, not a space.")
    python = HiddenState()
    whole, other = (f"{float(probs.max()):.0%}" for probs in (python.probs, python.cut_probs))
    assert captions(widget) == [f"full memory\nguess: a space, {whole}", f"only “ther”\nguess: e, {other}"]
    left = python.distances[25] / python.distances[21]
    assert shares(widget) == [f"{left:.0%}"]
    expect(widget.locator(".cut-label").last).to_have_text("difference in memory: 100% at the cut")
    hanging = thread(widget)
    assert [depth / hanging[0] for depth in hanging] == pytest.approx(
        [distance / python.distances[21] for distance in python.distances[21:]], abs=0.01
    )
    expect(widget.locator(".cut-letter.cut-forgotten")).to_have_count(len("and then there was ano".replace(" ", "")))


def test_a_difference_that_grows_after_the_cut_is_said_and_the_scale_stays(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    first = thread(show(page, tmp_path))[0]
    for given, most in (({"cut": 1}, 1.1), ({"cut": 9}, 1), ({"text": "zqzqzqzqzq", "cut": 1}, 1.2)):
        widget, python = show(page, tmp_path, **given), HiddenState(**given)
        distances = python.distances[python.cut - 1 :]
        highest = max(distances) / distances[0]
        assert highest == pytest.approx(most, abs=0.07)
        end = distances[-1] / distances[0]
        told = [f"{end:.0%}" if end >= 0.005 else "<1%"] + ([f"{highest:.0%}"] if highest > 1 else [])
        assert shares(widget) == told, given
        if highest < 1.15:
            assert thread(widget)[0] == pytest.approx(first, abs=0.1), "100% hangs as low"
        words = [label.bounding_box() for label in widget.locator(".cut-share, .cut-label").all()]
        lowest = max(words, key=lambda box: box["y"])
        assert all(box["y"] + box["height"] <= lowest["y"] + 4 for box in words if box is not lowest), given


def test_labels_stay_on_their_side_while_the_cut_is_dragged(widget: Locator, opened: tuple[Page, Record]) -> None:
    page, _ = opened
    memory, drag = widget.locator(".cut-label-whole"), widget.locator(".cut-drag")
    places = []
    for key in ("End", *["PageDown"] * 5, "Home"):
        handle(widget).press(key)
        places.append(memory.bounding_box())
    assert len({box["y"] for box in places}) == 1
    assert max(box["x"] for box in places) - min(box["x"] for box in places) < 110
    grip = handle(widget).bounding_box()
    page.mouse.move(grip["x"] + 28, grip["y"] + 28)
    expect(drag).to_be_visible()
    page.mouse.down()
    page.mouse.move(grip["x"] + 300, grip["y"] + 28, steps=4)
    expect(drag).to_be_hidden()
    page.mouse.up()
    expect(drag).to_be_visible()


def test_the_map_is_the_shared_memory_in_grey_and_then_the_difference(widget: Locator) -> None:
    python = HiddenState()
    difference = python.states - python.cut_states
    width, height, data = widget.locator("canvas").evaluate(PIXELS)
    assert (width, height) == (27, 128)
    for unit in (0, 9, 64, 127):
        for column in (0, 21, 22, 24, 26):
            at = 4 * (unit * width + column)
            if column < 22:
                state = float(python.states[column - 1, unit]) if column > 0 else 0.0
                expected = [255 + 0.22 * abs(state) * (colour - 255) for colour in SOFT]
                assert data[at : at + 3] == pytest.approx(expected, abs=1)
                continue
            apart = min(1.0, abs(float(difference[column - 1, unit])))
            expected = [255 + apart * (colour - 255) for colour in (0xD5, 0x5E, 0x00)]
            assert data[at : at + 3] == pytest.approx(expected, abs=1)


def test_the_scissors_answer_to_the_keyboard(widget: Locator) -> None:
    slider = handle(widget)
    slider.press("ArrowLeft")
    assert words(widget) == ["another␣", "other␣"]
    expect(widget.locator(".d2lrnn-now")).to_have_text("With only “other” in memory, it guesses a space too.")
    expect(widget.get_by_role("status")).to_contain_text("With only “other” in memory")
    slider.press("End")
    expect(slider).to_have_attribute("aria-valuenow", "26")
    assert captions(widget)[1] == "nothing\nguess: a, 5%"
    assert words(widget)[1] == "and␣"
    expect(widget.locator(".d2lrnn-now")).to_have_text("With nothing in memory, it can hardly guess.")
    slider.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuenow", "26")
    slider.press("PageDown")
    expect(slider).to_have_attribute("aria-valuenow", "21")
    slider.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^“a”; “nd then"))
    assert max(thread(widget)) > 1.1 * thread(widget)[0], "the difference may grow at first"
    slider.press("Tab")
    expect(widget.get_by_label("Your own text")).to_be_focused()
    press(widget, "Reset")
    assert words(widget) == ["another␣", "there␣"]


def test_the_cut_is_dragged_anywhere_on_the_picture(widget: Locator, opened: tuple[Page, Record]) -> None:
    page, _ = opened
    letters = widget.locator(".cut-letter")
    boxes = [letters.nth(i).bounding_box() for i in range(letters.count())]
    y = boxes[0]["y"] + 5
    grip = handle(widget).bounding_box()
    page.mouse.move(grip["x"] + 28, grip["y"] + 28)
    page.mouse.down()
    page.mouse.move(boxes[2]["x"] + boxes[2]["width"] + 3, y, steps=6)  # right of "and"
    page.mouse.up()
    expect(handle(widget)).to_have_attribute("aria-valuenow", "3")
    page.keyboard.press("ArrowRight")  # from where it was dragged to
    expect(handle(widget)).to_have_attribute("aria-valuenow", "4")
    page.keyboard.press("ArrowLeft")
    page.mouse.move(boxes[10]["x"], y)
    expect(handle(widget)).to_have_attribute("aria-valuenow", "3")
    stage = widget.locator(".cut-stage").bounding_box()
    page.mouse.click(stage["x"] + stage["width"] - 4, stage["y"] + stage["height"] - 10)
    expect(handle(widget)).to_have_attribute("aria-valuenow", "26")


def test_the_two_guesses_begin_in_one_column_and_are_seen_whole(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    for given in ({}, {"cut": 21}, {"cut": 26}, {"text": "the extraordinarily", "cut": 5}):
        widget = show(page, tmp_path, **given)
        for width in (320, 390, 760):
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate(TWO_FRAMES)
            first = widget.locator(".cut-first").evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().left)")
            assert first[0] == pytest.approx(first[1], abs=0.5), (given, width)
            assert "cut-card-whole" in widget.locator(".cut-card").first.get_attribute("class")
            more = widget.locator(".cut-word").evaluate_all("(all) => all.map((e) => e.scrollWidth - e.clientWidth)")
            assert len(more) == 2 and max(more) <= 1, (given, width)


def test_a_step_hides_its_answer_until_a_guess_is_pressed(widget: Locator) -> None:
    press(widget, "One letter more")
    assert words(widget) == ["another␣", "other?"], "it stands where its answer will be"
    expect(widget.locator(".d2lrnn-now")).to_have_text("Only “other” is left in memory. Guess first, then see.")
    expect(widget.locator(".d2lrnn-outcome")).to_be_hidden()
    assert captions(widget)[1] == "only “other”\nwhat comes next?", "nothing gives the answer away"
    expect(widget.locator(".cut-dot")).to_have_count(1)
    assert shares(widget) == []
    spoken = widget.locator(".cut-picture").first.get_attribute("aria-label")
    assert "Cut: ?. " in spoken and spoken.endswith(": ?.")
    width, _, data = widget.locator("canvas").evaluate(PIXELS)
    assert all(data[4 * (unit * width + 23) + 1] == 255 for unit in range(128))
    press(widget, "a space: the word is over")
    assert words(widget) == ["another␣", "other␣"]
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Right. A space, 98%: here, one letter more")
    assert len(thread(widget)) == 6
    width, _, data = widget.locator("canvas").evaluate(PIXELS)
    assert any(data[4 * (unit * width + 23) + 1] < 200 for unit in range(128))
    press(widget, "A new text")
    assert words(widget) == ["ever␣", "ever?"]
    handle(widget).press("ArrowRight")  # a reader may look elsewhere meanwhile
    assert words(widget)[1] != "ever?"
    press(widget, "“m”, as in “evermore”")
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Not so. “y”, 67%. The full memory is not sure: a space")
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text(
        "a space 59%, “y” 34%. A difference of only 14% changes its guess."
    )
    assert words(widget) == ["ever␣", "every␣"]
    expect(widget.locator(".d2lrnn-outcome")).not_to_contain_text("step 1")  # one text, one idea
    press(widget, "How fast it fades")
    press(widget, "about 1%")
    python = HiddenState(cut=9)
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text(
        f"Right. Only {python.distances[-1] / python.distances[8]:.0%} different: in this text, what came before"
    )
    press(widget, "Reset")
    expect(widget.locator(".d2lrnn-step")).to_be_hidden()
    assert words(widget) == ["another␣", "there␣"]


def test_seen_for_the_first_time_the_scissors_walk_and_a_touch_or_a_pointer_ends_it(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="no-preference")
    page.add_init_script(WATCH_THE_CUT)
    widget = show(page, tmp_path)
    slider = handle(widget)
    page.wait_for_function("() => cuts.at(-1) === 22")
    assert page.evaluate("() => cuts") == [26, 25, 24, 23, 22]
    assert "other␣" not in page.evaluate("() => guesses"), "it is what the first step asks"
    page.reload()
    page.wait_for_function("() => cuts.includes(25)")
    slider.press("Tab")
    expect(slider).to_have_attribute("aria-valuenow", "22")
    page.wait_for_timeout(800)
    expect(slider).to_have_attribute("aria-valuenow", "22")
    page.reload()
    page.wait_for_function("() => cuts.includes(25)")
    page.mouse.move(300, 150)
    page.mouse.move(310, 160)
    page.wait_for_function("() => cuts.at(-1) === 22")
    assert 23 not in page.evaluate("() => cuts")


def test_whatever_is_typed_is_letters_and_bounded_and_the_same_letters_are_left(widget: Locator) -> None:
    field = widget.get_by_label("Your own text")
    field.press("End")
    field.press("Backspace")
    assert kept(widget) == "only “othe”"
    field.fill("<img src=x onerror=alert(1)>\u0000👩" + "wave " * 20_000)
    expect(widget.locator(".cut-hint").nth(0)).to_contain_text("Only the last 40 letters are read")
    expect(handle(widget)).to_have_attribute("aria-valuenow", "36")
    assert widget.locator("img").count() == 0
    field.fill("")
    expect(widget.locator(".d2lrnn-now")).to_have_text("Type at least one letter below.")
    expect(widget.locator(".cut-figure")).to_be_hidden()
    expect(handle(widget)).to_be_hidden()
    field.fill("my brother asked")
    assert kept(widget) == "only “sked”"
    handle(widget).press("Home")
    field.fill("")
    field.fill("my brother")  # another text begins as the figure does: the last four letters are left
    assert kept(widget) == "only “ther”"
    field.fill("q")
    assert kept(widget) == "nothing"
    field.fill("quickly")  # as many letters as the reader had left before
    assert kept(widget) == "only “ckly”"
    assert not re.search("NaN|undefined", widget.inner_text())
    widget.get_by_role("button", name="How fast it fades").click()
    expect(widget.locator(".d2lrnn-step")).to_be_visible()
    field.fill("another text")
    expect(widget.locator(".d2lrnn-step")).to_be_hidden()  # its question was of "there was another"


def test_an_open_question_and_its_outcome_are_seen_whole(widget: Locator, opened: tuple[Page, Record]) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 760, "height": 620})
    widget.get_by_role("button", name="One letter more").focus()
    page.keyboard.press("Enter")
    expect(widget.locator(".d2lrnn-answers button").last).to_be_in_viewport(ratio=1)
    widget.locator(".d2lrnn-answers button").first.focus()
    page.keyboard.press("Enter")
    expect(widget.locator(".d2lrnn-outcome")).to_be_in_viewport(ratio=1)


def test_the_second_run_begins_at_the_cut_and_the_number_that_differs_most_is_that_of_the_text(widget: Locator) -> None:
    widget.locator("summary").click()
    lines = [widget.locator(f".cut-memory .cut-picture .d2lrnn-line-{i}") for i in (1, 2)]
    expect(lines[1]).to_have_count(1)  # it is drawn once it has a width
    runs = [line.get_attribute("d") for line in lines]
    ends = widget.locator(".cut-memory .cut-picture").evaluate(
        "(e) => [...e.querySelectorAll('.d2lrnn-line')].map((x) => x.getBoundingClientRect().right)"
    )
    ticks = widget.locator(".cut-memory .d2lrnn-tick").all()
    assert len(ticks) == 3 and all(tick.bounding_box()["x"] >= max(ends) - 1 for tick in ticks), "clear of the curves"
    points = [len(re.findall("[ML]", run)) for run in runs]
    assert points == [27, 27 - 22]
    label, number = widget.locator(".cut-memory label"), widget.get_by_role("slider", name="Number")
    for cut in (22, 21):
        python = HiddenState(cut=cut)
        most = int((python.states[-1] - python.cut_states[-1]).abs().argmax())
        expect(label).to_have_text(f"Number {most}, which differs most at the end")
        assert number.input_value() == str(most), "the plot shows the number that is named"
        spoken = widget.locator(".cut-memory .cut-picture").get_attribute("aria-label")
        assert spoken.startswith(f"Number {most}. ")
        handle(widget).press("ArrowLeft")
    number.press("Home")
    expect(label).to_have_text("Number 0")
    handle(widget).press("ArrowLeft")
    expect(label).to_have_text("Number 0")  # a number that was chosen stays
    press(widget, "Reset")
    press(widget, "One letter more")
    expect(label).not_to_contain_text("differs most")


def test_nothing_slides_under_the_scissors(widget: Locator, opened: tuple[Page, Record]) -> None:
    page, _ = opened
    for width in (390, 760, 1280):
        page.set_viewport_size({"width": width, "height": 1000})
        page.evaluate(TWO_FRAMES)
        places = set()
        for key in ("Home", *["PageUp"] * 5):
            handle(widget).press(key)
            places.add(widget.locator(".cut-figure").bounding_box()["y"])
        assert len(places) == 1, width


def test_the_numbers_are_folded_and_one_of_them_is_marked_in_the_map(widget: Locator) -> None:
    expect(widget.locator("canvas")).to_be_hidden()
    widget.locator("summary").click()
    expect(widget.locator("canvas")).to_be_visible()
    number = widget.get_by_role("slider", name="Number")
    map_box, mark = (widget.locator(part).bounding_box() for part in ("canvas", ".cut-mark"))
    middle = mark["y"] + mark["height"] / 2
    assert middle == pytest.approx(map_box["y"] + int(number.input_value()) + 0.5, abs=1.5)
    assert mark["x"] >= map_box["x"] + map_box["width"]
    assert mark["x"] + mark["width"] <= widget.bounding_box()["x"] + widget.bounding_box()["width"]
    widget.locator("canvas").click(position={"x": 20, "y": 64})
    assert abs(int(number.input_value()) - 64) <= 1
    number.press("Home")
    expect(number).to_have_attribute("aria-valuetext", "0 of 128")
    python = HiddenState()
    spoken = widget.locator(".cut-memory .cut-picture").first.get_attribute("aria-label")
    value = f"{float(python.states[2, 0]):+.2f}".replace("-", "\u2212")
    assert f"d {value}, " in spoken
    assert widget.locator(".cut-memory .d2lrnn-line-1").first.get_attribute("d") != widget.locator(
        ".cut-memory .d2lrnn-line-2"
    ).first.get_attribute("d")


def test_a_link_brings_back_everything_and_words_in_the_text_set_the_cut(
    widget: Locator, opened: tuple[Page, Record]
) -> None:
    page, _ = opened
    widget.get_by_label("Your own text").fill("my brother asked")
    handle(widget).press("ArrowLeft")
    expected = words(widget)
    press(widget, "Link to this")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(widget.get_by_label("Your own text")).to_have_value("my brother asked")
    assert words(widget) == expected
    page.evaluate(
        "() => { const a = document.createElement('a'); a.href = '#explore=HiddenState&cut=21'; a.textContent = 'cut';"
        " document.querySelector('main').prepend(a); }"
    )
    page.get_by_role("link", name="cut", exact=True).click()
    expect(handle(widget)).to_have_attribute("aria-valuenow", "21")
    assert words(widget) == ["another␣", "other␣"]


def test_the_map_follows_the_theme(widget: Locator, opened: tuple[Page, Record]) -> None:
    page, _ = opened
    page.evaluate("() => { document.documentElement.dataset.theme = 'dark'; }")
    page.wait_for_function(
        "() => document.querySelector('canvas').getContext('2d').getImageData(0, 0, 1, 1).data[0] < 40"
    )
    assert widget.locator("canvas").evaluate(PIXELS)[2][:3] == [0x16, 0x1B, 0x22]
    contrast = page.evaluate(LOW_CONTRAST, 4.5)
    assert contrast["checked"] > 30 and contrast["found"] == []
    # the colours are asked for once a theme, not at each move of the cut
    page.evaluate(
        "() => { globalThis.asked = 0; const real = getComputedStyle;"
        " globalThis.getComputedStyle = (...of) => { asked += 1; return real(...of); }; }"
    )
    for _ in range(3):
        handle(widget).press("ArrowLeft")
    expect(handle(widget)).to_have_attribute("aria-valuenow", "19")
    assert page.evaluate("asked") == 0
    assert widget.locator("canvas").evaluate(PIXELS)[2][:3] == [0x16, 0x1B, 0x22]
    page.evaluate("() => { document.documentElement.dataset.theme = 'light'; }")
    page.wait_for_function(
        "() => document.querySelector('canvas').getContext('2d').getImageData(0, 0, 1, 1).data[0] === 255"
    )


def test_on_a_phone_scissors_and_guesses_share_a_screen(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, text="x" * 40)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    bottom = widget.locator(".cut-cards").bounding_box()
    assert bottom["y"] + bottom["height"] - widget.bounding_box()["y"] <= 600
    stage = widget.locator(".cut-stage").bounding_box()
    page.touchscreen.tap(stage["x"] + 18, stage["y"] + 150)
    expect(handle(widget)).to_have_attribute("aria-valuenow", re.compile("^[12]$"))
    page.touchscreen.tap(stage["x"] + stage["width"] - 40, stage["y"] + 60)
    expect(handle(widget)).to_have_attribute("aria-valuenow", re.compile("^3[5-9]$"))
    swipe = page.context.new_cdp_session(page)
    at = [{"x": stage["x"] + 100, "y": stage["y"] + 150}]
    for kind, points in (("touchStart", at), ("touchMove", [{**at[0], "y": at[0]["y"] - 60}]), ("touchEnd", [])):
        swipe.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    expect(handle(widget)).to_have_attribute("aria-valuenow", re.compile("^3[5-9]$"))
    letters = widget.locator(".cut-letter").first.evaluate("(e) => parseFloat(getComputedStyle(e).fontSize)")
    assert letters >= 9
    page.set_viewport_size({"width": 320, "height": 640})
    page.wait_for_timeout(200)
    stage, caption = (widget.locator(part).last.bounding_box() for part in (".cut-stage", ".cut-label"))
    assert caption["x"] >= stage["x"] and caption["x"] + caption["width"] <= stage["x"] + stage["width"]
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    context.close()


def test_it_leaves_no_listener_behind(widget: Locator, opened: tuple[Page, Record]) -> None:
    page, record = opened
    page.evaluate("() => { globalThis.root = document.querySelector('.d2lrnn-widget'); root.remove(); }")
    page.wait_for_function("() => root.dataset.ready === undefined && !root.querySelector('.cut')")
    page.evaluate("() => { document.documentElement.dataset.theme = 'dark'; }")
    page.set_viewport_size({"width": 500, "height": 800})
    page.wait_for_timeout(100)
    assert record.errors == []
