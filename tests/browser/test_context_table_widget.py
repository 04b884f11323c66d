"""The table of contexts on a page without a kernel: six models write, and a reader walks along a line of new text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import ContextTable
from pages import LOW_CONTRAST, page_of, served
from watching import Record, watched_page

pytestmark = pytest.mark.browser

HOSTILE = ["", "</script>", "<img src=x onerror=alert(1)>", "👩\u200d💻👩", "שלום", "\u202eevil\u0000", "{x}", "  "]


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=720, height=1000) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        yield page, record
        assert record.errors == [] and record.outside == []


def show(page: Page, folder: Path, *tables: ContextTable, address: str | None = None, **arguments: str) -> Locator:
    """Write the page, open it and wait until the story is counted; return the first table."""
    (folder / "page.html").write_text(page_of(*tables, **arguments), encoding="utf-8")
    page.goto(f"{address or folder.as_uri()}/page.html")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(len(tables))
    expect(page.locator(".ctx-waiting")).to_have_count(0)
    return page.locator(".d2lrnn-widget").first


def written(widget: Locator) -> dict[int, str]:
    """What is in sight of the six writings."""
    texts = widget.locator(".ctx-text").evaluate_all(
        "(all) => all.map((text) => [...text.childNodes]"
        ".filter((e) => !['ctx-prompt', 'ctx-to-come'].includes(e.className)).map((e) => e.textContent).join(''))"
    )
    return dict(enumerate(reversed(texts), start=1))  # the longest stands first


def line(widget: Locator) -> Locator:
    return widget.get_by_role("slider", name="Place in the held-out line")


def read(widget: Locator) -> None:
    widget.get_by_role("button", name="Reading new text").click()


@pytest.mark.parametrize("scheme", ["http", "file"])
def test_it_writes_what_python_writes_and_says_what_is_copied(
    opened: tuple[Page, Record], tmp_path: Path, scheme: str
) -> None:
    page, _ = opened
    table = ContextTable(view="write")
    with served(tmp_path) as addresses:
        widget = show(page, tmp_path, table, address=addresses[scheme])
        assert written(widget) == table.writings
        expect(widget.locator(".ctx-prompt")).to_have_text(["the␣tide␣"] * 6)
        shares = [sum(end - begin for begin, end in table.copies[n]) / 64 for n in range(6, 0, -1)]
        expect(widget.locator("li .ctx-copied-share")).to_have_text([f"{share:.0%}" for share in shares])
        expect(widget.locator(".d2lrnn-now")).to_have_text(table.static_sentence())
        scores = ["3.7 letters", "3.6 letters best", "4.0 letters", "5.4 letters", "8.9 letters", "15.9 letters"]
        expect(widget.locator("li .ctx-score")).to_have_text(scores)
        copies = [table.writings[n][begin:end] for n in range(6, 0, -1) for begin, end in table.copies[n]]
        assert widget.locator(".ctx-text .ctx-copy").all_text_contents() == copies
        widget.get_by_role("button", name="Write again").press("Enter")
        table.seed += 1
        assert written(widget) == table.writings
        expect(widget.get_by_role("status")).to_have_text(table.static_sentence())


def test_it_rests_at_once_and_writes_again_letter_by_letter(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=720, height=1000) as (page, record):
        table = ContextTable(view="write")
        widget = show(page, tmp_path, table)
        assert written(widget) == table.writings
        table.seed += 1
        widget.get_by_role("button", name="Write again").click()
        lengths, heights, told = set(), set(), set()
        for _ in range(400):
            texts = written(widget)
            assert len({len(text) for text in texts.values()}) == 1, "all six at once"
            lengths.add(len(texts[6]))
            heights.add(widget.bounding_box()["height"])
            told.add(widget.locator(".d2lrnn-now").inner_text())
            if len(texts[6]) == 64 and len(lengths) > 3:
                break
        assert len(lengths) > 3 and len(heights) == 1
        assert written(widget) == table.writings
        expect(widget.locator(".d2lrnn-now")).to_have_text(table.static_sentence())
        assert told <= {"All six go on from the same beginning, with the same random numbers…", table.static_sentence()}
        assert record.errors == []


def test_another_beginning(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(view="write"))
    widget.get_by_label("Go on from").fill("Mr. Keld ")
    assert written(widget) == ContextTable(start="mr keld ").writings
    expect(widget.get_by_label("Go on from")).to_have_value("Mr. Keld ")
    note = widget.locator(".ctx-note")
    expect(note).to_have_text("Read as “mr keld ”: the story has only a to z and spaces.")
    widget.get_by_label("Go on from").fill("Привет!")
    expect(note).to_have_text("Read as nothing: the story has only a to z and spaces.")
    widget.get_by_label("Go on from").fill("the sea was grey and the wind blew from the north all day")
    told = "Only the last 40 of these 57 letters and spaces are read: “and the wind blew from the north all day”."
    expect(note).to_have_text(told)
    widget.get_by_label("Go on from").fill("The sea")
    expect(note).to_be_hidden()


def test_walking_along_the_line(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(view="write"))
    expect(line(widget)).to_have_count(0)
    read(widget)
    slider, now = line(widget), widget.locator(".d2lrnn-now")
    expect(slider).to_have_attribute("aria-valuenow", "12")
    slider.focus()
    page.keyboard.press("Home")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    expect(now).to_have_text("The story has “here␣” 196 times. The 6-gram guesses “w” (32%): right.")
    expect(widget.locator(".ctx-known")).to_have_text(["h", "e", "r", "e", "␣"])
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    expect(now).to_have_text(re.compile("^The story has “␣a␣pe” "))
    page.keyboard.press("ArrowRight")
    expect(now).to_have_text(re.compile("^The story has no “a␣pet”, only “␣?pet”. "))
    page.keyboard.press("PageUp")
    page.keyboard.press("PageDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(now).to_have_text(
        "The story has no “petit”, only “it”. The 6-gram guesses a space (64%), but “i” comes: it gave that 0.56%."
    )
    expect(widget.locator(".ctx-lost")).to_have_text(["p", "e", "t"])
    expect(widget.locator(".ctx-known")).to_have_text(["i", "t"])
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^Letter i. The story has no “petit”"))
    expect(widget.get_by_role("status")).to_contain_text("only “it”")

    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 60)
    expect(slider).to_have_attribute("aria-valuenow", "34")
    page.mouse.move(box["x"] - 200, box["y"] + 60)
    page.mouse.up()
    expect(slider).to_have_attribute("aria-valuenow", "5")
    page.keyboard.press("End")
    expect(slider).to_have_attribute("aria-valuenow", "37")
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuenow", "37")


def test_there_are_as_many_blocks_as_known_letters_in_a_row(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    table = ContextTable(view="read", place=30)
    widget = show(page, tmp_path, table)
    heights = widget.locator(".ctx-stack").evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().height)")
    orders = [step["order"] for step in table.walk]
    assert heights == pytest.approx([12 * (n - 1) for n in [1] * 5 + orders], abs=0.1)
    expect(widget.locator(".ctx-stack.ctx-ahead")).to_have_count(7)
    fewer = sum(n < 6 for n in orders)
    expect(widget.locator(".ctx-stack.ctx-fewer")).to_have_count(fewer)
    assert all(not each.is_visible() for each in widget.locator(".ctx-stack.ctx-ahead").all())
    widget.get_by_role("button", name="A new word").click()
    for told in (".ctx-told", ".ctx-guess", ".ctx-came"):
        assert all(not each.is_visible() for each in widget.locator(told).all()), "a step that asks tells nothing ahead"
    expect(widget.get_by_role("status")).to_have_text("The story has no “titio”, only “tio”.")
    widget.get_by_role("button", name="50%").click()
    for told in (".ctx-told", ".ctx-guess", ".ctx-heads .ctx-came", "li:not(.ctx-unseen) > .ctx-came"):
        assert all(each.is_visible() for each in widget.locator(told).all())
    widget.get_by_role("button", name="A known phrase").click()
    line(widget).press("ArrowLeft")
    expect(widget.locator(".d2lrnn-question")).to_be_hidden()
    assert widget.locator(".ctx-told").is_visible(), "who walks on is asked no more"


def test_each_n_says_what_it_expects(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(view="read", place=21))
    expect(widget.locator("li.ctx-knows")).to_have_text(
        ["6-gram petit never asks the 5-gram", "5-gram etit never asks the 4-gram", "4-gram tit never asks the 3-gram",
         "3-gram it 924 ␣ 64% 0.56%", "2-gram t 7\u202f676 h 39% 2.7%", "1-gram none ␣ 21% 4.8%"]
    )  # fmt: skip
    widths = "(all) => all.map((bar) => bar.offsetWidth / bar.parentElement.offsetWidth)"
    expect(widget.locator(".ctx-heads .ctx-came")).to_have_text("for i, which came")
    came = widget.locator(".ctx-came .ctx-bar").evaluate_all(widths)
    assert came[3:] == pytest.approx([0.0056, 0.027, 0.048], abs=0.01)
    expect(widget.locator(".ctx-right")).to_have_count(0)
    line(widget).press("ArrowRight")
    line(widget).press("ArrowRight")
    expect(widget.locator(".ctx-right")).to_have_text(["n >99%", "n 91%"])
    line(widget).press("ArrowLeft")
    line(widget).press("ArrowLeft")
    expect(widget.locator(".ctx-answers .ctx-name")).to_have_text("3-gram")


def test_one_of_the_two_is_in_sight_and_nothing_moves(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(view="write"))
    height = widget.bounding_box()["height"]
    read(widget)
    expect(widget.get_by_role("button", name="Write again")).to_have_count(0)
    expect(widget.locator(".d2lrnn-now")).to_contain_text("The story has “re␣wa” 42 times.")
    assert widget.bounding_box()["height"] == height
    widget.get_by_role("button", name="Writing").click()
    expect(widget.get_by_role("button", name="Write again")).to_be_visible()


def test_the_steps(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable())
    start = widget.inner_text()
    told = widget.locator(".d2lrnn-outcome")
    widget.get_by_role("button", name="A new word").click()
    expect(line(widget)).to_have_attribute("aria-valuenow", "23")
    widget.get_by_role("button", name="50%").click()
    expect(told).to_have_text(
        "No. >99%. The story has “tio” 18 times, each time with n next. Three letters are enough here."
    )
    expect(widget.locator(".ctx-stack.ctx-fewer:not(.ctx-ahead)")).to_have_count(5)
    widget.get_by_role("button", name="A known phrase").click()
    expect(line(widget)).to_have_attribute("aria-valuenow", "34")
    widget.get_by_role("button", name="less than 1%").click()
    expect(told).to_contain_text("Right. 0.01%. The story has “ll th” 47 times, never with o next.")
    expect(widget.locator(".d2lrnn-now")).to_contain_text(
        "The 6-gram guesses “e” (64%), but “o” comes: it gave that 0.01%."
    )
    widget.get_by_role("button", name="6-gram or 5-gram?").click()
    expect(widget.locator(".ctx-score").first).to_be_hidden()
    widget.get_by_role("button", name="the 5-gram").click()
    expect(told).to_contain_text(
        "Right. The 5-gram. Where the 6-gram is surer, it gives the right letter 1.2 times as much"
    )
    expect(widget.locator(".ctx-best")).to_have_text("3.6 letters best")
    widget.get_by_role("button", name="Reset").click()
    assert widget.inner_text() == start


def test_an_own_beginning_closes_a_step(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(view="write"))
    widget.get_by_role("button", name="6-gram or 5-gram?").click()
    widget.get_by_role("button", name="the 6-gram").click()
    widget.get_by_label("Go on from", exact=True).fill("a ship ")
    expect(widget.locator(".d2lrnn-question")).to_be_hidden()


def test_reset_and_link(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(start="low tide", seed=3, view="write"))
    start = widget.locator(".ctx").inner_text()
    widget.get_by_label("Go on from").fill("The Sea")
    widget.get_by_role("button", name="Write again").click()
    shown = written(widget)
    read(widget)
    line(widget).press("Home")
    widget.get_by_role("button", name="Link to this").click()
    address = page.url
    assert "#explore=ContextTable.0&state=" in address
    page.goto("about:blank")
    page.goto(address)
    expect(line(widget)).to_have_attribute("aria-valuenow", "5")
    widget.get_by_role("button", name="Writing").click()
    expect(widget.get_by_label("Go on from")).to_have_value("the sea")
    assert written(widget) == shown
    widget.get_by_role("button", name="Reset").click()
    expect(widget.get_by_label("Go on from")).to_have_value("low tide")
    assert widget.locator(".ctx").inner_text() == start
    for state in ('{"place":99,"seed":-1}', '{"start":["x"],"seed":1e9}', "[1]"):
        page.evaluate("(s) => { location.hash = `#explore=ContextTable.0&state=${encodeURIComponent(s)}` }", state)
        assert written(widget) == ContextTable(start="low tide", seed=3).writings
    page.evaluate("() => { location.hash = '#explore=ContextTable&start=Mr.+Keld&place=20' }")
    expect(widget.get_by_label("Go on from")).to_have_value("mr keld")
    expect(widget).to_have_attribute("data-ready", "1")


def test_whatever_is_typed_is_text(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(view="write"))
    field = widget.get_by_label("Go on from")
    for text in HOSTILE:
        field.fill(text)
        assert all(len(each) == 64 for each in written(widget).values())
        assert not re.search(r"NaN|undefined|null|\[object", widget.inner_text()), text
        assert widget.locator(".d2lrnn-view").locator("img, script").count() == 0
    field.evaluate("(e) => { e.value = 'the tide </b> '.repeat(8000); e.dispatchEvent(new Event('input')); }")
    expect(widget).to_have_attribute("data-ready", "1")


def test_counting_lets_the_page_have_a_turn_after_every_slice(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    # On a clock that leaps 10 ms at every look each step is a slice of its own; a timer of ours runs between them.
    page.add_init_script(
        "let now = 0; performance.now = () => (now += 10); globalThis.turns = 0;"
        "const tick = () => { if (document.querySelector('.ctx-waiting')) { turns += 1; setTimeout(tick, 0); } };"
        "const begin = () => { if (document.querySelector('.ctx-waiting')) { wait.disconnect(); tick(); } };"
        "const wait = new MutationObserver(begin);"
        "wait.observe(document, { childList: true, subtree: true });"
    )
    show(page, tmp_path, ContextTable(view="write"))
    assert page.evaluate("turns") >= 20


def test_a_view_ends_with_its_element(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(view="write"), ContextTable(seed=2, view="write"))
    expect(page.locator(".ctx-text")).to_have_count(12)
    page.evaluate("() => { globalThis.root = document.querySelector('.d2lrnn-widget'); root.remove(); }")
    page.wait_for_function("() => root.dataset.ready === undefined && !root.querySelector('.ctx')")
    widget.get_by_role("button", name="Write again").click()  # the other one, now the first
    assert written(widget) == ContextTable(seed=3).writings


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", ["write", "read"])
def test_contrast(opened: tuple[Page, Record], tmp_path: Path, theme: str, view: str) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(view=view), theme=theme)
    widget.locator("summary").click()
    background = widget.evaluate("(e) => getComputedStyle(e).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 27, 34)"}[theme]
    result = page.evaluate(LOW_CONTRAST, 4.5)
    assert result["checked"] > 30 and result["found"] == []


@pytest.mark.parametrize("width", [320, 360, 390])
def test_phone(browser: Browser, tmp_path: Path, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, ContextTable(), head="<style>body { margin: 0 } main { padding: 0 12px }</style>")
    height = "(e) => e.querySelector('.d2lrnn-step-titles').getBoundingClientRect().top - e.getBoundingClientRect().top"
    if width == 390:
        assert widget.evaluate(height) <= 700
        tops = widget.locator(".d2lrnn-step-title").evaluate_all(
            "(all) => all.map((e) => e.getBoundingClientRect().top)"
        )
        assert len(set(tops)) == 1, "the steps stand in one row"
    widget.get_by_role("button", name="A new word").click()
    widget.get_by_role("button", name="50%").click()
    widget.locator("summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    clipped = widget.evaluate(
        "(e) => [...e.querySelectorAll('.d2lrnn-view *')].filter((x) => x.getBoundingClientRect().right >"
        " e.getBoundingClientRect().right + 0.5 && !x.closest('.d2lrnn-hidden'))"
        ".map((x) => x.className || x.tagName)"
    )
    assert clipped == []
    box = line(widget).bounding_box()
    line(widget).tap(position={"x": box["width"] / 2, "y": box["height"] * 0.75})  # the second of two rows
    expect(line(widget)).to_have_attribute("aria-valuenow", "28")
    context.close()
