"""The explorable HiddenState on a page without a kernel: cutting, comparing, choosing a unit."""

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

PIXELS = """(c) => { const { width, height } = c;
  return [width, height, [...c.getContext("2d").getImageData(0, 0, width, height).data]]; }"""


def show(page: Page, folder: Path, **given: object) -> Locator:
    (folder / "page.html").write_text(page_of(HiddenState(**given)), encoding="utf-8")
    page.goto(f"{folder.as_uri()}/page.html")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(1)
    expect(page.locator(".state-frame")).to_have_count(2)
    return page.locator(".d2lrnn-widget")


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=760, height=1000) as (page, record):
        yield page, record
        assert record.errors == [] and record.outside == []


@pytest.fixture
def widget(opened: tuple[Page, Record], tmp_path: Path) -> Locator:
    return show(opened[0], tmp_path)


def rows(widget: Locator) -> list[list[str]]:
    return [re.split(r"\s+", text.strip()) for text in widget.locator(".state-row .state-seen").all_inner_texts()]


def assert_rows(widget: Locator, python: HiddenState) -> None:
    shown = rows(widget)
    assert [row[0] for row in shown] == [name.replace(" ", "␣") for name, _, _ in python.likeliest]
    for (_, *found), (_, *expected) in zip(shown, python.likeliest):
        for text, p in zip(found, expected, strict=True):
            assert float(text) == pytest.approx(p, abs=0.0051)


def signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "\u2212")


def slider(widget: Locator, name: str) -> Locator:
    return widget.get_by_role("slider", name=re.compile(f"^{name}"))


def test_it_opens_on_a_cut_with_the_odds_of_python(widget: Locator) -> None:
    assert_rows(widget, HiddenState())
    expect(widget.locator(".state-summary")).to_have_text(
        "Read since the cut: 4. States 3.9 apart (at the cut 9.1), predictions 24% in common."
    )
    expect(widget.locator(".state-head span").last).to_have_text("has read “ther”")
    expect(widget.get_by_label("Compare with")).to_be_hidden()


def test_the_maps_are_the_states_in_their_order(widget: Locator) -> None:
    python = HiddenState()
    for i, states in enumerate((python.states, python.other_states)):
        width, height, data = widget.locator("canvas").nth(i).evaluate(PIXELS)
        assert (width, height) == (26, 128)
        for row, step in [(0, 0), (17, 9), (64, 21), (127, 25)]:
            value = float(states[step, python.order[row]])
            end = (0xD5, 0x5E, 0x00) if value > 0 else (0x00, 0x72, 0xB2)
            expected = [255 + abs(value) * (colour - 255) for colour in end]
            at = 4 * (row * width + step)
            assert data[at : at + 3] == pytest.approx(expected, abs=1)


def test_a_cut_moved_by_keyboard_changes_what_it_has_read(widget: Locator) -> None:
    cut = slider(widget, "Cut after")
    cut.press("ArrowLeft")
    expect(widget.locator(".state-head span").last).to_have_text("has read “other”")
    assert_rows(widget, HiddenState(cut=21))
    expect(widget.get_by_role("status")).to_contain_text("Read since the cut: 5.")
    slider(widget, "Look after").press("Home")
    expect(widget.locator(".state-summary")).to_contain_text("Before the cut both runs are the same: states 0.0 apart")
    widget.get_by_role("button", name="Reset").press("Enter")
    assert_rows(widget, HiddenState())
    expect(cut).to_have_value("22")


def test_two_texts_are_compared(widget: Locator) -> None:
    widget.get_by_role("button", name="Compare two texts").click()
    assert_rows(widget, HiddenState(mode="compare"))
    expect(widget.locator(".state-summary")).to_contain_text("Read of the shared ending: 4. States 5.3 apart")
    expect(widget.get_by_role("slider", name=re.compile("^Cut"))).to_have_count(0)
    for name in ("Text", "Compare with"):
        field = widget.get_by_label(re.compile(f"^{name}"))
        field.press("End")
        field.press_sequentially(" man")
    texts = [widget.get_by_label(re.compile(f"^{name}")).input_value() for name in ("Text", "Compare with")]
    assert_rows(widget, HiddenState(mode="compare", text=texts[0], second=texts[1]))
    expect(widget.locator(".state-summary")).to_contain_text("Read of the shared ending: 8.")


def test_a_unit_is_chosen_by_pointer_and_by_keyboard(widget: Locator, opened: tuple[Page, Record]) -> None:
    page, _ = opened
    python = HiddenState()
    canvas = widget.locator("canvas").first
    box = canvas.bounding_box()
    unit = slider(widget, "Unit")
    before = widget.locator(".state-svg .d2lrnn-line-1").get_attribute("d")
    x, y = box["x"] + 9.5 * box["width"] / 26, box["y"] + 100.5 * box["height"] / 128
    page.mouse.move(x, y)
    chosen = python.order[100]
    expect(widget.locator(".state-title").last).to_contain_text(f"unit {chosen},")
    assert widget.locator(".state-svg .d2lrnn-line-1").get_attribute("d") != before
    page.mouse.move(5, 5)
    expect(widget.locator(".state-title").last).to_contain_text("unit 9,")
    assert widget.locator(".state-svg .d2lrnn-line-1").get_attribute("d") == before
    page.mouse.click(x, y)
    expect(unit).to_have_value("101")
    expect(slider(widget, "Look after")).to_have_value("10")
    value = float(python.states[9, chosen])
    words = f"Unit {chosen}: whole {signed(value)}, cut "
    expect(unit).to_have_attribute("aria-valuetext", re.compile(f"^{re.escape(words)}"))
    unit.press("Home")
    expect(widget.locator(".state-title").last).to_contain_text(f"unit {python.order[0]},")
    spoken = widget.locator(".state-svg").get_attribute("aria-label")
    assert f"d {signed(float(python.states[2, python.order[0]]))}, " in spoken


def test_whatever_is_typed_is_letters_and_bounded(widget: Locator) -> None:
    field = widget.get_by_label(re.compile("^Text"))
    field.fill("<img src=x onerror=alert(1)>\u0000👩" + "wave " * 20_000)
    expect(widget.locator(".state-hint")).to_have_text("Only the first 40 characters of a text are read.")
    assert len(widget.locator(".state-letter").all_inner_texts()) == 40
    assert widget.locator("img").count() == 0
    field.fill("")
    expect(widget.locator(".state-summary")).to_have_text("Type at least one letter.")
    expect(slider(widget, "Cut after")).to_be_disabled()
    assert_rows(widget, HiddenState(text=""))
    field.fill("q")
    expect(widget.locator(".state-head span").last).to_have_text("has read nothing")
    assert_rows(widget, HiddenState(text="q"))


def test_a_link_brings_back_everything(widget: Locator, opened: tuple[Page, Record]) -> None:
    page, _ = opened
    widget.get_by_role("button", name="Compare two texts").click()
    widget.get_by_label("Compare with").fill("my brother")
    slider(widget, "Unit").press("End")
    slider(widget, "Look after").press("ArrowLeft")
    expected = rows(widget)
    widget.get_by_role("button", name="Link to this").click()
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(widget.get_by_label("Compare with")).to_have_value("my brother")
    expect(slider(widget, "Unit")).to_have_value("128")
    assert rows(widget) == expected


def test_the_maps_follow_the_theme(widget: Locator, opened: tuple[Page, Record]) -> None:
    page, _ = opened
    cut = widget.locator("canvas").last
    at = 4 * (21 * 1)  # row 0, the column of the cut: zero, the surface
    assert cut.evaluate(PIXELS)[2][at : at + 3] == [255, 255, 255]
    page.evaluate("() => { document.documentElement.dataset.theme = 'dark'; }")
    page.wait_for_function(
        "() => [...document.querySelectorAll('canvas')].at(-1).getContext('2d').getImageData(21, 0, 1, 1).data[0] < 40"
    )
    assert cut.evaluate(PIXELS)[2][at : at + 3] == [0x16, 0x1B, 0x22]
    contrast = page.evaluate(LOW_CONTRAST, 4.5)
    assert contrast["checked"] > 60 and contrast["found"] == []


def test_on_a_phone_a_tap_chooses_and_control_and_effect_share_a_screen(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    widget = show(page, tmp_path, text="x" * 40)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    box = widget.locator("canvas").last.bounding_box()
    page.touchscreen.tap(box["x"] + 0.5 * box["width"] / 40, box["y"] + box["height"] - 0.3)
    expect(slider(widget, "Look after")).to_have_value("1")
    expect(slider(widget, "Unit")).to_have_value("128")
    height = """(e) => e.querySelector(".state-odds").getBoundingClientRect().bottom
      - e.querySelector(".state-figure").getBoundingClientRect().top"""
    for name in ("Cut the memory", "Compare two texts"):
        widget.get_by_role("button", name=name).click()
        assert widget.evaluate(height) <= 844, name
    letters = widget.locator(".state-letter").first.evaluate("(e) => parseFloat(getComputedStyle(e).fontSize)")
    assert letters >= 9
    context.close()


def test_controls_answer_at_once(widget: Locator) -> None:
    widget.get_by_label(re.compile("^Text")).fill("i asked mr keld about the instrument now")
    slowest = widget.evaluate(
        """async (e) => { const times = [];
        const inputs = [...e.querySelectorAll("input")].filter((x) => x.checkVisibility());
        for (const input of inputs) {
          for (let i = 0; i < 8; i += 1) {
            if (input.type === "range") input.stepDown(); else input.value = input.value.slice(0, -1) + "xy"[i % 2];
            const start = performance.now();
            input.dispatchEvent(new Event("input")); await Promise.resolve();
            times.push(performance.now() - start);
          } } return times.sort((a, b) => a - b).at(-2); }"""
    )
    assert slowest < 100


def test_it_leaves_no_listener_behind(widget: Locator, opened: tuple[Page, Record]) -> None:
    page, record = opened
    page.evaluate("() => { globalThis.root = document.querySelector('.d2lrnn-widget'); root.remove(); }")
    page.wait_for_function("() => root.dataset.ready === undefined && !root.querySelector('.state')")
    page.evaluate("() => { document.documentElement.dataset.theme = 'dark'; }")
    page.set_viewport_size({"width": 500, "height": 800})
    page.wait_for_timeout(100)
    assert record.errors == []
