"""The explorable NextCharacter on a page without a kernel: a writing, its bars, the cut, and the small form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import NextCharacter
from pages import LOW_CONTRAST, page_of
from watching import Record, watched_page

pytestmark = pytest.mark.browser

NOW = "3 of 80 letters are unlikely."
BEGINNING = "the tide of "


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=720, height=1000) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        yield page, record
        assert record.errors == [] and record.outside == []


def show(page: Page, folder: Path, widget: NextCharacter, **arguments: str) -> Locator:
    (folder / "page.html").write_text(page_of(widget, **arguments), encoding="utf-8")
    page.goto(f"{folder.as_uri()}/page.html")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(1)
    return page.locator(".d2lrnn-widget")


@pytest.fixture
def widget(opened: tuple[Page, Record], tmp_path: Path) -> Locator:
    return show(opened[0], tmp_path, NextCharacter())


def written(widget: Locator) -> list[str]:
    """What is in sight of the writing, in the large form without the text that it goes on from."""
    return text_of(widget.locator(".next-written, .next-large"))


def others(widget: Locator) -> list[str]:
    """The writings at the fixed temperatures, under their title."""
    return text_of(widget.locator(".next-other"))


def text_of(boxes: Locator) -> list[str]:
    return boxes.evaluate_all(
        "(all) => all.map((box) => [...box.children].filter((e) => !e.matches('.next-to-come, .next-begun'))"
        ".map((e) => e.textContent).join(''))"
    )


def python_writes(**traits: Any) -> list[str]:
    """What Python writes at the reader's temperature."""
    python = NextCharacter(**traits)
    return [python.writings[python.temperature]]


def others_together(python: NextCharacter) -> float:
    """The probability, at the reader's temperature, of all letters but the ten likeliest."""
    powers = [p ** (1 / python.temperature) for _, p, _ in python.ranked]
    return sum(powers[10:]) / sum(powers)


def temperature(widget: Locator) -> Locator:
    return widget.locator(".next-own .d2lrnn-range")


def cut(widget: Locator) -> Locator:
    slider = widget.get_by_role("slider", name=re.compile("^Drag to cut"))
    if slider.count() == 0:
        widget.locator("summary", has_text="Cut: top-k").click()
        expect(slider).to_have_count(1)
    return slider


def test_it_writes_what_python_writes(widget: Locator) -> None:
    python = NextCharacter()
    assert written(widget) == [python.writings[0.7]]
    expect(widget.locator(".d2lrnn-now")).to_have_text(NOW)
    assert widget.locator(".next-written .next-improbable").count() == 3
    names = widget.locator(".next-row > :first-child")
    assert [name.inner_text().strip() for name in names.all()] == [
        "0 careful come again",
        "1 as it learned",
        "1.5 bold",
    ]
    together = others_together(python)
    expect(widget.locator(".next-more")).to_have_text(f"17 others together {100 * together:.2g}%")
    assert others(widget) == [python.writings[kappa] for kappa in (0, 1, 1.5)]
    assert widget.locator(".next-other").nth(2).locator(".next-improbable").count() == 28
    again = widget.locator(".next-other").first.locator(".next-lap").all_text_contents()
    assert "".join(again) == " the sea had been told and th", "what is repeated is underlined"
    widget.get_by_role("button", name="Write again").press("Enter")
    python.seed += 1
    assert written(widget) == [python.writings[0.7]]
    assert others(widget) == [python.writings[kappa] for kappa in (0, 1, 1.5)]


def test_it_writes_letter_by_letter(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=720, height=1000) as (page, record):
        widget = show(page, tmp_path, NextCharacter())
        seen = widget.evaluate("""async (widget) => {
            const seen = [];
            const lengths = new Set();
            while (seen.length < 2000 && (seen.at(-1)?.[0] !== 80 || lengths.size <= 3)) {
              await new Promise(requestAnimationFrame);
              const page = widget.querySelector('.next-page').getBoundingClientRect();
              const letters = widget.querySelectorAll('.next-written > :not(.next-to-come, .next-begun)');
              const length = [...letters].reduce((sum, letter) => sum + letter.textContent.length, 0);
              lengths.add(length);
              seen.push([length, page.height, widget.querySelector('.d2lrnn-now').innerText]);
            }
            return seen;
        }""")
        lengths, heights, sentences = map(set, zip(*seen))
        told = {pair for sentence in sentences for pair in re.findall(r"(\d+) of (\d+)", sentence)}
        assert len(lengths) > 3 and 80 in lengths and len(heights) == 1
        letters = widget.locator(".next-written .next-letter")
        rare = letters.evaluate_all("(all) => all.map((e) => e.classList.contains('next-improbable'))")
        assert told <= {(str(sum(rare)), "80")}, "nothing is counted before it is written"
        expect(widget.locator(".d2lrnn-now")).to_have_text(NOW)
        assert record.errors == []


def test_another_beginning_and_whatever_is_typed(widget: Locator) -> None:
    field = widget.get_by_label("Your text")
    field.fill("Mr. Keld ")
    assert written(widget) == python_writes(text="mr keld ")
    for text in ("", "</script><img src=x onerror=alert(1)>", "👩\u200d💻", "\u202eevil\u0000", "wave " * 30_000):
        field.fill(text)
        assert all(len(each) == 80 for each in written(widget))
        assert not re.search(r"NaN|undefined|null|\[object", widget.inner_text()), text
        assert widget.locator(".d2lrnn-view").locator("img, script").count() == 0


def test_what_is_not_read_is_counted(widget: Locator) -> None:
    field, now, notice = (
        widget.get_by_label("Your text"),
        widget.locator(".d2lrnn-now"),
        widget.locator(".next-notice"),
    )
    page = widget.locator(".next-page").bounding_box()["y"]
    lost = {"the tide Привет 12": "8 signs are read as spaces", "the tidé straße 7": "1 sign is read as a space"}
    for text, told in lost.items():
        field.fill(text)
        expect(notice).to_have_text(f"Only a to z: {told}.")
        expect(now).to_contain_text("of 80 letters")  # the result stays
        assert widget.locator(".next-page").bounding_box()["y"] == page, "nothing is pushed down"
    field.fill("the tidé ")
    expect(notice).to_be_empty()
    field.fill("what the sea keeps it keeps")
    expect(notice).to_have_text("All of your text is read. Below, only its end is shown.")
    field.fill("wave " * 20)
    expect(notice).to_contain_text("Only the last 60 letters are read.")
    field.fill("the tide 1")
    widget.get_by_role("button", name="Reset").click()
    expect(now).to_have_text(NOW)
    expect(notice).to_be_empty()
    assert widget.locator(".next-page").bounding_box()["y"] == page


def test_a_step_gives_back_the_readers_own_text(widget: Locator) -> None:
    field, step = widget.get_by_label("Your text"), widget.get_by_role("button", name="Full risk")
    field.fill("my aunt ")
    step.click()
    expect(field).to_have_value(BEGINNING)
    widget.get_by_role("button", name="nearly all").click()
    widget.get_by_role("button", name="Cut the risk", exact=True).click()
    expect(field).to_have_value(BEGINNING)
    widget.get_by_role("button", name="Cut the risk", exact=True).click()
    expect(field).to_have_value("my aunt ")
    step.click()
    field.fill("the sea ")  # what is typed meanwhile stays
    step.click()
    expect(field).to_have_value("the sea ")
    widget.get_by_role("button", name="Reset").click()
    expect(field).to_have_value(BEGINNING)


def test_a_letter_that_is_pressed_shows_what_else_could_have_come(widget: Locator) -> None:
    caption = widget.locator(".next-caption")
    expect(caption).to_have_text("“t” after “the␣tide␣of␣” 67% at temperature 0.7 45% as it learned")
    told = "“t” after “the␣tide␣of␣”: 67% at temperature 0.7, 45% as it learned."
    expect(widget.get_by_role("img", name=told)).to_have_count(1)
    expect(widget.locator(".next-came")).to_have_text("t")
    widget.locator(".next-written .next-letter").nth(1).click()
    expect(caption).to_contain_text("“h” after “…he␣tide␣of␣t” ")
    expect(widget.locator(".next-here")).to_have_text("h")
    column = widget.get_by_role("slider", name="Written at temperature 0.7", exact=True)
    expect(column).to_have_value("2")
    column.press("ArrowRight")
    expect(column).to_have_attribute("aria-valuetext", re.compile(r"^Letter 3, e: [\d.]+%$"))
    column.press("End")
    expect(column).to_have_value("80")
    walk = [widget.get_by_role("button", name=f"The letter {where}") for where in ("before", "after")]
    for button, place in ((walk[1], "80"), (walk[0], "79"), (walk[1], "80")):
        button.click()
        expect(column).to_have_value(place)
    temperature(widget).press("Home")
    widget.get_by_role("slider", name="Written at temperature 0", exact=True).press("Home")
    widget.get_by_role("slider", name="Written at temperature 0", exact=True).press("ArrowRight")
    expect(caption).to_have_text("“h” after “…he␣tide␣of␣t” 100% at temperature 0 96% as it learned")
    temperature(widget).press("End")
    expect(caption).to_contain_text("at temperature 2")


def test_letters_are_forbidden_by_dragging_and_by_keys(widget: Locator) -> None:
    slider, value = cut(widget), widget.locator(".next-value")
    expect(value).to_have_text("Drag the line. Letters to its right may not come.")
    expect(slider).to_have_attribute("aria-valuetext", "top-p all keeps 27 of 27.")
    box = widget.locator(".next-cells").bounding_box()
    y = box["y"] + 40
    widget.page.mouse.move(box["x"] + box["width"] - 2, y)
    widget.page.mouse.down()
    widget.page.mouse.move(box["x"] + box["width"] * 12.2 / 27, y)
    widget.page.mouse.up()
    told = widget.locator(".next-caption").inner_text()
    widget.page.mouse.move(box["x"] + 2, y)  # the sentence does not follow a pointer that cuts
    assert told.startswith("“t”") and widget.locator(".next-caption").inner_text() == told
    expect(slider).to_have_attribute("aria-valuenow", "12")
    expect(widget.locator(".next-cut")).to_have_count(15)
    assert written(widget) != python_writes()
    top_p = float(re.search(r"top-p ([\d.]+): here, the 12 likeliest", value.inner_text())[1])
    assert written(widget) == python_writes(top_p=top_p)
    slider.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuenow", "11")
    slider.press("Home")
    expect(value).to_contain_text("here, only the likeliest may come, because it alone reaches")

    slider.press("ArrowRight")
    top_p = slider.get_attribute("aria-valuetext")
    fixed = others(widget)
    expect(widget.locator(".next-caption")).to_contain_text("at 0.7, cut")
    expect(slider).to_have_attribute("aria-valuenow", "2")
    widget.get_by_role("button", name="top-k").click()  # the other kind begins with as many
    expect(slider).to_have_attribute("aria-valuetext", "top-k 2 keeps 2 of 27.")
    slider.press("End")
    expect(widget.locator(".next-caption")).to_contain_text("at temperature 0.7")
    widget.get_by_role("button", name="top-p").click()
    expect(slider).to_have_attribute("aria-valuetext", top_p)  # and each keeps its own
    widget.get_by_role("button", name="top-k").click()
    slider.press("End")
    slider.press("PageDown")
    expect(value).to_contain_text("top-k 22: only the 22 likeliest letters may come.")
    assert written(widget) == python_writes(kind="top-k", top_k=22)
    assert others(widget) == fixed == list(NextCharacter().writings.values())[:3], "the reader's text alone is cut"
    expect(widget.locator(".next-compare-title")).to_have_text("The same at 0, 1 and 1.5, without the cut")
    slider.press("End")
    expect(widget.get_by_role("status")).to_contain_text("top-k all keeps 27 of 27.")


def test_the_knob_can_be_taken_on_both_sides(widget: Locator) -> None:
    slider = cut(widget)
    for side in (-20, 20):
        slider.press("End")
        box = widget.locator(".next-line").bounding_box()
        told = widget.locator(".next-caption").bounding_box()
        assert told["y"] + told["height"] <= box["y"] + 2, "the line crosses no words"
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] - 2
        widget.page.mouse.move(x + side, y)
        widget.page.mouse.down()
        widget.page.mouse.move(x - 150, y)
        widget.page.mouse.up()
        assert int(slider.get_attribute("aria-valuenow")) < 25


def test_the_probability_of_any_bar_is_told(widget: Locator) -> None:
    caption = widget.locator(".next-caption")
    widget.locator(".next-cell").first.hover()
    expect(caption).to_have_text("“t” after “the␣tide␣of␣” 67% at temperature 0.7 45% as it learned")
    widget.locator(".next-cell").nth(1).hover()
    expect(caption).to_have_text("“a” instead of “t” 12% at temperature 0.7 13% as it learned")
    paint = "(e) => getComputedStyle(e).backgroundColor"
    came = widget.locator(".next-came .next-name")
    assert came.evaluate(paint) == "rgba(0, 0, 0, 0)", "one letter is marked, not two"
    widget.locator(".d2lrnn-now").hover()
    assert came.evaluate(paint) == widget.locator(".next-here").evaluate(paint) != "rgba(0, 0, 0, 0)", "as in the text"
    expect(caption).to_have_text("“t” after “the␣tide␣of␣” 67% at temperature 0.7 45% as it learned")
    expect(widget.locator(".next-marks > *")).to_have_text(["0 careful", "1 as it learned", "2 bold"])


def test_the_temperature_is_the_readers(widget: Locator) -> None:
    slider = widget.get_by_role("slider", name="Temperature 0.7").and_(widget.locator(".d2lrnn-range"))
    expect(slider).to_have_value("0.7")
    before, fixed = written(widget), others(widget)
    slider.press("End")
    expect(widget.locator(".next-caption")).to_contain_text("at temperature 2")
    expect(widget.locator(".next-number")).to_have_text("2")
    assert written(widget) == python_writes(temperature=2)
    assert others(widget) == fixed
    temperature(widget).press("Home")
    assert written(widget) == fixed[:1]
    line = "(e) => getComputedStyle(e).textDecorationLine"
    marks = widget.locator(".next-written .next-lap:not(.next-blank), .d2lrnn-now .next-lap")
    assert set(marks.evaluate_all(f"(all) => all.map({line})")) == {"underline"}
    expect(widget.locator(".d2lrnn-now .next-lap")).to_have_text("come again")  # so it says what the line means
    expect(widget.locator(".d2lrnn-now")).to_have_text("26 letters and spaces come again.")
    widget.get_by_role("button", name="Reset").click()
    assert written(widget) == before


def test_the_bars_are_as_high_as_the_axis_says(widget: Locator) -> None:
    own = NextCharacter().ranked[0][1]
    for keys in (["Home"], ["ArrowRight"] * 7, ["End"]):
        for key in keys:
            temperature(widget).press(key)
        expect(widget.locator(".next-level")).to_have_text(["50%", "100%"])  # it never jumps
        track = widget.locator(".next-cell .next-track").first.bounding_box()
        outline = widget.locator(".next-outline").first.bounding_box()["height"]
        assert outline == pytest.approx(track["height"] * own, abs=2)
        half = widget.locator(".next-level").first.bounding_box()["y"]
        assert half == pytest.approx(track["y"] + track["height"] / 2, abs=2)


def test_the_text_stands_before_what_goes_on_with_it(widget: Locator) -> None:
    begun = widget.locator(".next-begun")
    assert begun.all_text_contents() == [BEGINNING] * 4
    widget.get_by_label("Your text").fill("what the sea keeps")
    assert begun.all_text_contents() == ["…e sea keeps"] * 4


def test_a_cut_is_written_under_the_hand_that_drags_it(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=720, height=1000) as (page, record):  # where motion is wanted
        widget = show(page, tmp_path, NextCharacter())
        slider = cut(widget)
        page.wait_for_function("() => document.querySelectorAll('.next-to-come').length === 0")
        for key in ("Home", "ArrowRight", "ArrowRight"):
            slider.press(key)
            assert all(len(text) == 80 for text in written(widget))
        assert record.errors == []


def test_the_box_is_dragged_along_the_letters_and_goes_on_by_keys(widget: Locator) -> None:
    page, letters = widget.page, widget.locator(".next-written .next-letter")
    boxes = [letters.nth(i).bounding_box() for i in (2, 9)]
    page.mouse.move(boxes[0]["x"] + 3, boxes[0]["y"] + 8)
    page.mouse.down()
    expect(letters.nth(2)).to_have_class(re.compile("next-here"))
    page.mouse.move(boxes[1]["x"] + 3, boxes[1]["y"] + 8, steps=4)
    expect(letters.nth(9)).to_have_class(re.compile("next-here"))
    page.mouse.up()
    assert page.evaluate("() => getSelection().toString()") == ""
    page.keyboard.press("ArrowRight")
    expect(letters.nth(10)).to_have_class(re.compile("next-here"))
    letters.nth(5).click()
    page.keyboard.press("ArrowLeft")
    expect(letters.nth(4)).to_have_class(re.compile("next-here"))


def test_the_slider_keeps_its_length_whatever_stands_beside_it(widget: Locator) -> None:
    page, place = widget.page, temperature(widget)
    for width in (320, 390, 720):
        page.set_viewport_size({"width": width, "height": 1000})
        widget.get_by_role("button", name="Reset").click()
        heights = set()
        place.press("End")
        for _ in range(6):
            heights.add(widget.locator(".next-page").bounding_box()["height"])
            widget.get_by_role("button", name="Write again").click()
        assert len(heights) == 1, f"{width}: any text fits its lines"
        boxes = [place.bounding_box()]
        for key in ("Home", "ArrowRight", "End"):
            place.press(key)
            boxes.append(place.bounding_box())
        page.evaluate(
            "(width) => { location.hash = `#explore=NextCharacter&temperature=2&kind=top-k&top_k=3&seed=${width}` }",
            width,
        )
        expect(widget.locator(".next-caption")).to_contain_text("at 2, cut")
        boxes.append(place.bounding_box())
        assert len({(box["x"], box["width"]) for box in boxes}) == 1, width
        assert boxes[0]["width"] > 0.7 * width - 40


def test_an_answer_ends_the_writing_so_that_all_numbers_agree(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=720, height=1000) as (page, record):
        widget = show(page, tmp_path, NextCharacter())
        widget.get_by_role("button", name="Cut the risk", exact=True).click()
        widget.get_by_role("button", name="hardly any").click()
        told = re.search(r"(\d+) instead of 41", widget.locator(".d2lrnn-outcome").inner_text())[1]
        assert all(len(text) == 80 for text in written(widget))
        expect(widget.locator(".d2lrnn-now")).to_have_text(f"{told} of 80 letters are unlikely.")
        # Other dice are thrown before the reader's eyes, and the text comes again.
        widget.get_by_role("button", name="No risk").click()
        [old] = written(widget)
        widget.get_by_role("button", name="nothing").click()
        [begun] = written(widget)
        assert old.startswith(begun) and len(begun) < 80
        page.wait_for_function("() => document.querySelectorAll('.next-to-come').length === 0")
        assert written(widget) == [old]
        assert record.errors == []


def test_an_open_question_leaves_no_hole(widget: Locator) -> None:
    compare, told = widget.locator(".next-compare"), widget.locator(".d2lrnn-outcome")
    titles = widget.locator(".d2lrnn-step-title")
    for step in range(titles.count()):
        titles.nth(step).click()
        expect(told).to_be_hidden()
        expect(compare).to_have_css("visibility", "visible")
        # What stands there answers none of the questions: neither other dice, nor 2, nor a cut.
        expect(compare.locator(".next-row b")).to_have_text(["0", "1", "1.5"])
        assert others(widget) == [NextCharacter().writings[kappa] for kappa in (0, 1, 1.5)]
        expect(compare).not_to_contain_text(written(widget)[0] if step > 0 else "temperature")


def test_others_open_and_close(widget: Locator) -> None:
    chart, cells = widget.locator(".next-chart"), widget.locator(".next-cell").filter(visible=True)
    more, fewer = widget.locator(".next-more"), widget.locator(".next-fewer")
    caption = widget.locator(".next-caption").text_content()
    for width in (390, 720):
        widget.page.set_viewport_size({"width": width, "height": 1000})
        expect(fewer).to_be_hidden()
        more.click()
        expect(cells).to_have_count(27)
        assert widget.locator(".next-caption").text_content() == caption
        last, box = cells.last.bounding_box(), fewer.bounding_box()
        assert last["x"] + last["width"] <= box["x"] + 1, "it stands beside the letters"
        assert box["x"] + box["width"] <= chart.bounding_box()["x"] + chart.bounding_box()["width"] + 1
        fewer.click()
        expect(cells).to_have_count(10)
        expect(more).to_be_visible()
    cut(widget)
    expect(fewer).to_be_hidden()  # who cuts sees each letter


def test_the_chart_marks_the_unlikely_letters_and_adds_them_up(widget: Locator) -> None:
    ranked = NextCharacter().ranked
    unlikely = [letter for letter, p, _ in ranked if p < 1 / 16]
    names = widget.locator(".next-rare .next-name")
    assert names.all_text_contents() == ["␣" if letter == " " else letter for letter in unlikely]
    red = widget.locator(".next-key .next-improbable").evaluate("(e) => getComputedStyle(e).color")
    expect(names.first).to_have_css("color", red)
    expect(widget.locator(".next-more-name")).to_have_css("color", red)
    total, learned = widget.locator(".next-rare-sum"), [p for _, p, _ in ranked]
    for key, kappa in ((None, 0.7), ("End", 2), ("Home", 0)):
        if key:
            temperature(widget).press(key)
        powers = [p ** (1 / kappa) if kappa else float(p == max(learned)) for p in learned]
        share = sum(power for power, p in zip(powers, learned) if p < 1 / 16) / sum(powers)
        expect(total).to_have_text(f"all unlikely: 27% → {100 * share:.2g}%")
        cells, box = widget.locator(".next-cells").bounding_box(), total.bounding_box()
        for part in (".next-cell .next-outline", ".next-more .next-bar"):
            bar = widget.locator(part).first.bounding_box()
            assert bar["x"] + bar["width"] <= box["x"] or bar["y"] >= box["y"] + box["height"], "it covers no bar"
        assert box["x"] >= cells["x"]


def test_a_step_that_is_opened_again_can_be_answered_anew(widget: Locator) -> None:
    told = widget.locator(".d2lrnn-outcome")
    for title, answer in (("Full risk", "nearly all"), ("No risk", "every letter"), ("Full risk", None)):
        widget.get_by_role("button", name=title).click()
        if answer is not None:
            widget.get_by_role("button", name=answer, exact=True).click()
    expect(told).to_contain_text("Not so. 41 of 80.")
    assert written(widget) == python_writes(temperature=2)
    widget.get_by_role("button", name="about half of all").click()
    expect(told).to_contain_text("Right. 41 of 80.")
    assert written(widget) == python_writes(temperature=2)


def test_a_pressed_unlikely_letter_keeps_a_mark(widget: Locator) -> None:
    letter = widget.locator(".next-written .next-improbable").first
    letter.click()
    expect(widget.locator(".next-written .next-here.next-improbable")).to_have_count(1)
    assert letter.evaluate("(e) => getComputedStyle(e).boxShadow") != "none"


def test_the_guided_steps(widget: Locator) -> None:
    told = widget.locator(".d2lrnn-outcome")
    widget.get_by_role("button", name="Cut the risk", exact=True).click()
    expect(told).to_be_hidden()
    expect(widget.locator(".d2lrnn-question")).to_have_text(
        "At 2, 41 letters are unlikely. How many if only the 3 likeliest letters may come?"
    )
    assert written(widget) == python_writes(temperature=2), "the question finds it uncut"
    widget.get_by_role("button", name="hardly any").click()
    expect(told).to_contain_text(re.compile(r"^Right\. \d instead of 41:"))
    widget.get_by_role("button", name="Full risk").click()
    expect(widget.locator(".d2lrnn-question")).to_contain_text("At 0.7, 3 of 80 letters are unlikely.")
    widget.get_by_role("button", name="nearly all").click()
    expect(widget.locator(".d2lrnn-now")).to_have_text("41 of 80 letters are unlikely.")
    expect(told).to_have_text(
        "Not so. 41 of 80. At the first letter, all unlikely ones together had 27% as learned, and have 57% at 2. "
        "So a bold choice is often an unlikely one."
    )
    learned = [p for _, p, _ in NextCharacter().ranked]
    unlikely = [p for p in learned if p < 1 / 16]
    assert round(sum(unlikely), 2) == 0.27
    assert round(sum(p**0.5 for p in unlikely) / sum(p**0.5 for p in learned), 2) == 0.57
    widget.locator("summary", has_text="arithmetic").click()
    axis = widget.locator(".next-axis")
    power = "p1/temperature"
    expect(widget.locator(".next-formula")).to_contain_text(f"A bar is {power} divided by the sum of {power}")
    pattern = r"^([\d.]+) to the power 1/2 is ([\d.]+)\. .* the (\d+) letters .* is ([\d.]+)\. .* = ([\d.]+)\.$"

    def reckoned() -> int:
        own, raised, count, total, p = map(float, re.search(pattern, axis.inner_text()).groups())
        assert abs(own**0.5 - raised) < 2e-3 and round(raised / total, 2) == p
        return int(count)

    assert reckoned() == 27
    slider = cut(widget)
    widget.get_by_role("button", name="top-k").click()
    slider.press("Home")
    for _ in range(2):
        slider.press("ArrowRight")
    assert reckoned() == 3
    slider.press("Home")
    assert written(widget) == python_writes(temperature=0), "who may take the likeliest only writes what 0 writes"
    widget.get_by_role("button", name="No risk").click()
    expect(widget.locator(".next-cutting")).to_have_count(0)
    assert written(widget) == python_writes(temperature=0)
    widget.get_by_role("button", name="nothing").click()
    assert written(widget) == python_writes(temperature=0, seed=3459) == python_writes(temperature=0)
    expect(told).to_have_text(
        "Right. Nothing changes: at 0 it always takes the likeliest letter."
        " There is no chance in it, and here it soon goes round in a circle."
    )


def test_who_rolls_the_dice_is_no_longer_asked_what_they_change(widget: Locator) -> None:
    step = widget.locator(".d2lrnn-step")
    assert "likeliest" not in widget.inner_text(), "nothing at rest gives its answer away"
    widget.get_by_role("button", name="No risk").click()
    expect(step).to_be_visible()
    widget.get_by_role("button", name="Write again").click()
    expect(step).to_be_hidden()


def test_a_link_brings_back_text_and_cut(widget: Locator, opened: tuple[Page, Record]) -> None:
    page, _ = opened
    widget.get_by_label("Your text").fill("phoebe ")
    cut(widget).press("Home")
    expected = written(widget)
    widget.get_by_role("button", name="Link to this").click()
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(widget.get_by_label("Your text")).to_have_value("phoebe ")
    assert written(widget) == expected
    page.evaluate("() => { location.hash = '#explore=NextCharacter&kind=top-k&top_k=3' }")
    expect(widget.locator(".next-value")).to_contain_text("top-k 3: only the 3 likeliest letters may come.")


# So many letters are left by keys; how far the line then is from where they end.
CUT_BY_KEYS = """async (slider, count) => {
  const press = async (key) => {
    slider.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    await null; // it draws
  };
  await press('End');
  for (let i = 0; i < 27 && Number(slider.getAttribute('aria-valuenow')) > count; i += 1) await press('ArrowLeft');
  const boxOf = (name) => document.querySelector(name).getBoundingClientRect();
  const [cells, line] = [boxOf('.next-cells'), boxOf('.next-line')];
  return [slider.getAttribute('aria-valuenow'), line.x + line.width / 2 - cells.x - (cells.width * count) / 27];
}"""


@pytest.mark.parametrize("compact", [False, True])
def test_phone(browser: Browser, tmp_path: Path, compact: bool) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.emulate_media(reduced_motion="reduce")
    head = "<style>body { margin: 0 } main { padding: 0 12px }</style>"
    widget = show(page, tmp_path, NextCharacter(compact=compact), head=head)
    expect(widget.locator(".next-to-come")).to_have_count(0)
    height = "(e) => e.querySelector('.next-figure').getBoundingClientRect().bottom - e.getBoundingClientRect().top"
    for width in (320, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        if compact:
            continue
        cells = widget.locator(".next-cell").filter(visible=True)
        expect(cells).to_have_count(10)
        together = others_together(NextCharacter())
        expect(widget.locator(".next-more")).to_contain_text(f"{100 * together:.2g}%")
        widget.locator(".next-more").click()
        expect(cells).to_have_count(27)
        widget.get_by_role("button", name="Reset").click()
        expect(cells).to_have_count(10)
        slider = cut(widget)
        expect(cells).to_have_count(27)  # what is cut is seen
        for count in (10, 27, 20, 3):
            left, off = slider.evaluate(CUT_BY_KEYS, count)
            assert left == str(count) and abs(off) < 2, (width, count)
        widget.get_by_role("button", name="Reset").click()
        if width == 390:
            assert widget.evaluate(height) <= 700
    context.close()


def test_a_step_on_a_phone_covers_no_part_of_the_chart(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, NextCharacter(), head="<style>body { margin: 0 } main { padding: 0 }</style>")
    for title, answer in (("No risk", "nothing"), ("Full risk", "nearly all"), ("Cut the risk", "as many")):
        widget.get_by_role("button", name=title, exact=True).tap()
        for _ in range(2):  # when it is asked, and when it is answered
            sheet, chart = widget.locator(".d2lrnn-steps").bounding_box(), widget.locator(".next-chart").bounding_box()
            assert chart["y"] + chart["height"] <= sheet["y"], title  # the knob of the cut stands at its lower end
            if widget.locator(".d2lrnn-outcome").is_hidden():
                widget.get_by_role("button", name=answer, exact=True).tap()
                page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast_in_every_state(opened: tuple[Page, Record], tmp_path: Path, theme: str) -> None:
    page, _ = opened
    for compact in (False, True):
        widget = show(page, tmp_path, NextCharacter(compact=compact, kind="top-k", top_k=9), theme=theme)
        if not compact:
            widget.get_by_role("button", name="Write again").click()
        result = page.evaluate(LOW_CONTRAST, 4.5)
        assert result["checked"] > 60 and result["found"] == []


# ---- the small form ----


def test_the_small_form_writes_by_itself_once_it_is_seen(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=720, height=1000) as (page, record):
        widget = show(page, tmp_path, NextCharacter(text="the tide ", temperature=0.7, compact=True))
        expected = "the tide " + NextCharacter(text="the tide ").writings[0.7]
        expect(widget.locator(".next-option")).to_have_count(5)
        for told in ("temperature", "top-", "draw", "0."):
            assert told not in widget.inner_text()
        expect(widget.get_by_role("slider")).to_have_count(0)
        expect(widget.get_by_role("button", name="Pause")).to_have_count(1)
        page.wait_for_function("() => document.querySelectorAll('.next-letter:not(.next-to-come)').length > 8")
        widget.get_by_role("button", name="Pause").click()
        [text] = written(widget)
        assert expected.startswith(text) and len(text) < len(expected)
        page.wait_for_timeout(400)
        assert written(widget) == [text]
        # The reader chooses a letter, and the network goes on from it.
        option = widget.locator(".next-option").nth(2)
        letter = option.locator(".next-name").inner_text()
        option.click()
        page.wait_for_function(
            "(text) => document.querySelector('.next-given').textContent === text",
            arg=text + (" " if letter == "space" else letter),
        )
        widget.get_by_role("button", name="my aunt …").click()
        page.wait_for_function("() => document.querySelector('.next-given').textContent === 'my aunt '")
        page.evaluate("() => document.querySelector('.d2lrnn-widget').remove()")
        page.wait_for_timeout(200)
        assert record.errors == []


def test_the_small_form_waits_until_it_is_seen(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=720, height=500) as (page, _):
        head = "<style>main::before { content: ''; display: block; height: 1500px }</style>"
        widget = show(page, tmp_path, NextCharacter(compact=True), head=head)
        page.wait_for_timeout(500)
        assert written(widget) == [BEGINNING]
        widget.scroll_into_view_if_needed()
        page.wait_for_function("() => document.querySelectorAll('.next-letter:not(.next-to-come)').length > 3")


def test_the_small_form_goes_on_when_it_has_ended(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, NextCharacter(compact=True))
    first = BEGINNING + NextCharacter().writings[0.7]
    expect(widget.locator(".next-to-come")).to_have_count(0)
    assert written(widget) == [first]
    shown = [name.replace("space", " ") for name in widget.locator(".next-option").all_inner_texts()]
    assert shown == [character for character, _, _ in NextCharacter(text=first[-60:]).ranked[:5]]
    widget.get_by_role("button", name="Write on").click()
    expect(widget.locator(".next-given")).to_have_text(first[-60:])
    widget.get_by_role("button", name="the tide …").click()
    expect(widget.locator(".next-given")).to_have_text("the tide ")
    assert written(widget) == ["the tide " + NextCharacter(text="the tide ").writings[0.7]]
