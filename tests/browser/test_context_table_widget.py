"""The table of contexts on a page without a kernel: it counts, answers, writes, and takes whatever is typed."""

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
MARKS = ("absent", "empty")


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=820, height=1000) as (page, record):
        yield page, record
        assert record.errors == [] and record.outside == []


def show(page: Page, folder: Path, *tables: ContextTable, address: str | None = None, **arguments: str) -> Locator:
    """Write the page, open it and wait until the story is counted; return the first table."""
    (folder / "page.html").write_text(page_of(*tables, **arguments), encoding="utf-8")
    page.goto(f"{address or folder.as_uri()}/page.html")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(len(tables))
    expect(page.locator(".ctx-waiting")).to_have_count(0)
    return page.locator(".d2lrnn-widget").first


def order(widget: Locator, n: int) -> Locator:
    return widget.get_by_role("button", name=re.compile(f"^n = {n},"))


def plate(widget: Locator) -> Locator:
    return widget.locator(".ctx-label")


def bar(widget: Locator, rank: int) -> Locator:
    return widget.locator(".ctx-bar").nth(rank)


def written(widget: Locator) -> str:
    return widget.locator(".ctx-sample").text_content()


@pytest.mark.parametrize("scheme", ["http", "file"])
def test_it_counts_and_answers_keys(opened: tuple[Page, Record], tmp_path: Path, scheme: str) -> None:
    page, _ = opened
    with served(tmp_path) as addresses:
        widget = show(page, tmp_path, ContextTable(), address=addresses[scheme])
        expect(plate(widget)).to_have_text("he␣r")
        expect(widget.locator(".ctx-fill")).to_have_text("counted 91 times, with 5 different letters after it")
        expect(bar(widget, 0)).to_have_text("o0.4541")
        expect(widget.locator(".ctx-chain tbody tr")).to_have_text(
            ["he␣r91595%", "e␣r11155.0%", "␣r30650.22%", "r3\u202f79623<0.01%", "any place94\u202f99927<0.01%",
             "knows nothing: 1/27 each<0.01%"]
        )  # fmt: skip
        expect(widget.locator(".ctx-level-now")).to_have_text("5531\u202f4418\u202f7701.7%3.63 ▾ lowest")
        expect(widget.locator(".d2lrnn-fallback")).to_be_hidden()
        order(widget, 3).focus()
        page.keyboard.press("Enter")
        expect(order(widget, 3)).to_have_attribute("aria-pressed", "true")
        expect(plate(widget)).to_have_text("␣r")
        expect(widget.locator(".ctx-level-now")).to_have_text("3729404" + "55%5.41")
        said = re.compile(r"^n = 3, after ␣r, counted 306 times: o 0\.35, e 0\.31, a 0\.13\.$")
        expect(widget.get_by_role("status")).to_have_text(said)


def test_a_bar_adds_its_letter(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(order=5, past="the tide"))
    first = bar(widget, 0)
    expect(first).to_have_accessible_name("space: probability 0.89, counted 12 times. Add it to the text.")
    first.focus()
    page.keyboard.press("Enter")
    expect(widget.get_by_label("Text so far")).to_have_value("the tide ")
    expect(plate(widget)).to_have_text("ide␣")
    expect(first).to_be_focused()
    widget.get_by_text("the other 19 letters").click()
    last = bar(widget, 26)
    letter = last.locator(".ctx-letter").inner_text()
    last.click()
    expect(widget.get_by_label("Text so far")).to_have_value(f"the tide {letter}")
    expect(widget.locator(".ctx-fill")).to_contain_text("never seen: it asks the shorter context")


def test_bars_are_as_long_as_their_parts(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(order=5, past="the tide"))
    parts = "(tracks) => tracks.map((track) => [...track.children].map((x) => parseFloat(x.style.width)))"
    own, advice = zip(*widget.locator(".ctx-drawer .ctx-track").evaluate_all(parts))
    assert sum(own) == pytest.approx(100 * 13 / 15, abs=0.2) and own[0] == pytest.approx(80)
    assert sum(own) + sum(advice) == pytest.approx(100, abs=0.4)


def test_walking_along_a_line(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable())
    cells = widget.locator(".ctx-cell")
    pressed = widget.locator('.ctx-cell[aria-checked="true"]')
    expect(pressed).to_have_accessible_name("Read up to ␣the␣r")
    expect(widget.locator(".ctx-came")).to_have_text("In the story “o” comes next: probability 0.45.")
    expect(widget.locator(".ctx-is-next .ctx-letter")).to_have_text("o")
    bar(widget, 0).click()  # the letter that really came: the mark moves on
    expect(plate(widget)).to_have_text("e␣ro")
    assert cells.nth(27).get_attribute("aria-checked") == "true"
    assert widget.locator('.ctx-cell[tabindex="0"]').count() == 1

    widget.get_by_label("or read").select_option("2")
    expect(widget.locator(".ctx-strip")).to_have_text("the␣red␣since␣the␣last␣boat␣was␣too␣")
    cells.nth(21).click()
    page.keyboard.press("ArrowRight")
    expect(cells.nth(22)).to_be_focused()
    expect(plate(widget)).to_have_text("ast␣")
    expect(widget.locator(".ctx-came")).to_have_text(
        "In the story “b” comes next, which is not in this drawer: probability 0.013."
    )
    page.keyboard.press("End")
    expect(cells.nth(35)).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(cells.nth(35)).to_be_focused()
    page.keyboard.press("Home")
    expect(plate(widget)).to_have_text("or␣t")

    widget.get_by_label("or read").select_option("3")
    order(widget, 6).click()
    cells.nth(20).click()
    expect(widget.locator(".ctx-never")).to_have_text("never seen: it asks the shorter context. “f” answers.")
    expect(widget.locator(".ctx-row-never")).to_have_count(4)
    expect(widget.locator(".ctx-row-answers")).to_contain_text("1\u202f558")
    widget.get_by_label("Text so far").fill("typed")
    expect(pressed).to_have_count(0)
    expect(widget.locator(".ctx-came")).to_have_text("")


def test_it_writes_what_python_writes(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    table = ContextTable(order=6, past="be truthf", seed=1, num_written=120)
    widget = show(page, tmp_path, table)
    assert written(widget) == "be truthf" + table.written
    keys = widget.locator(".ctx-writing .ctx-key")
    absent, empty = ("".join(widget.locator(f".ctx-sample .ctx-{kind}").all_text_contents()) for kind in MARKS)
    expect(keys).to_contain_text(f"not in the drawer: {len(absent)} of 120")
    expect(keys).to_contain_text(f"drawer empty: {len(empty)} of 120")
    assert absent and empty.startswith(table.written[0])

    button = widget.get_by_role("button", name="Write on")
    button.focus()
    for length in (180, 240):
        page.keyboard.press("Enter")
        expect(keys).to_contain_text(f"of {length}")
    table.num_written = 240
    assert written(widget) == "be truthf" + table.written
    for _ in range(7):
        page.keyboard.press("Enter")
    expect(keys).to_contain_text("of 600")
    expect(button).to_have_attribute("aria-disabled", "true")
    expect(widget.get_by_role("status")).to_contain_text("It stops at 600 letters")
    widget.get_by_role("button", name="Another").click()
    table.update(seed=2, num_written=600)
    assert written(widget) == "be truthf" + table.written
    order(widget, 2).click()
    table.order = 2
    assert written(widget) == "be truthf" + table.written
    expect(widget.locator(".ctx-sample .ctx-empty")).to_have_count(0)


def test_reset_and_link(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(order=4, past="low tide"))
    start = widget.locator(".ctx").inner_text()
    widget.get_by_label("Text so far").fill("The Sea")
    order(widget, 6).click()
    widget.get_by_role("button", name="Write on").click()
    widget.get_by_label("or read").select_option("1")
    widget.get_by_label("Text so far").fill("The Sea")
    shown = widget.locator(".ctx-main").inner_text()
    widget.get_by_role("button", name="Link to this").click()
    address = page.url
    assert "#explore=ContextTable.0&state=" in address
    page.goto("about:blank")
    page.goto(address)
    expect(plate(widget)).to_have_text("e␣sea")
    expect(widget.get_by_label("Text so far")).to_have_value("the sea")
    assert widget.locator(".ctx-main").inner_text() == shown.replace("The Sea", "the sea")
    widget.get_by_role("button", name="Reset").click()
    expect(widget.get_by_label("Text so far")).to_have_value("low tide")
    assert widget.locator(".ctx").inner_text() == start
    for state in ('{"order":99,"past":"ok","line":50}', '{"past":["x"],"seed":1e9}', "[1]"):
        page.evaluate("(s) => { location.hash = `#explore=ContextTable.0&state=${encodeURIComponent(s)}` }", state)
        expect(order(widget, 4)).to_have_attribute("aria-pressed", "true")
    expect(widget).to_have_attribute("data-ready", "1")


def test_whatever_is_typed_is_text(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(order=6))
    field = widget.get_by_label("Text so far")
    for text in HOSTILE:
        field.fill(text)
        expect(widget.locator(".ctx-bar")).to_have_count(27)
        assert not re.search(r"NaN|undefined|null|\[object", widget.inner_text()), text
        assert widget.locator(".d2lrnn-view").locator("img, script").count() == 0
    field.fill("")
    young = re.compile(r"^Only 0 of 5 letters are there\. counted 94\u202f999 times")
    expect(widget.locator(".ctx-fill")).to_have_text(young)
    field.evaluate("(e) => { e.value = 'the tide </b> '.repeat(8000); e.dispatchEvent(new Event('input')); }")
    expect(plate(widget)).to_have_text("de␣b␣")
    assert len(field.input_value()) == 40


def test_counting_lets_the_page_have_a_turn_after_every_slice(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    # On a clock that leaps 10 ms at every look each step is a slice of its own; a timer of ours runs between them.
    page.add_init_script(
        "let now = 0; performance.now = () => (now += 10); globalThis.turns = 0;"
        "const tick = () => { if (!document.querySelector('.ctx-bar')) { turns += 1; setTimeout(tick, 0); } };"
        "const begin = () => { if (document.querySelector('.ctx-waiting')) { wait.disconnect(); tick(); } };"
        "const wait = new MutationObserver(begin);"
        "wait.observe(document, { childList: true, subtree: true });"
    )
    show(page, tmp_path, ContextTable())
    assert page.evaluate("turns") >= 20


def test_a_view_ends_with_its_element(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(), ContextTable(order=2))
    expect(page.locator(".ctx-bar")).to_have_count(54)
    page.evaluate("() => { globalThis.root = document.querySelector('.d2lrnn-widget'); root.remove(); }")
    page.wait_for_function("() => root.dataset.ready === undefined && !root.querySelector('.ctx')")
    order(widget, 4).click()  # the other one, now the first
    expect(order(widget, 4)).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast(browser: Browser, tmp_path: Path, theme: str) -> None:
    with watched_page(browser, width=820) as (page, record):
        widget = show(page, tmp_path, ContextTable(order=6, past="be truthf"), theme=theme)
        for summary in widget.locator("summary").all():
            summary.click()
        background = widget.evaluate("(e) => getComputedStyle(e).backgroundColor")
        assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 27, 34)"}[theme]
        result = page.evaluate(LOW_CONTRAST, 4.5)
        assert result["checked"] > 200 and result["found"] == []
        assert record.errors == []


@pytest.mark.parametrize("width", [320, 360, 390])
def test_phone(browser: Browser, tmp_path: Path, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    widget = show(page, tmp_path, ContextTable(), head="<style>body { margin: 0 } main { padding: 0 16px }</style>")
    for n in (1, 5, 6):
        order(widget, n).click()
        assert page.evaluate("document.documentElement.scrollWidth") == width, n
        clipped = widget.evaluate(
            "(e) => [...e.querySelectorAll('.d2lrnn-view *')].filter((x) => x.getBoundingClientRect().right >"
            " e.getBoundingClientRect().right + 0.5 && !x.closest('.d2lrnn-hidden'))"
            ".map((x) => x.className || x.tagName)"
        )
        assert clipped == [], n
    for summary in widget.locator("summary").all():
        summary.click()
    sizes = widget.evaluate(
        "(e) => [...e.querySelectorAll('button, input, select, summary')]"
        ".map((x) => [x, x.getBoundingClientRect()]).map(([x, box]) => [x.className, box.width, box.height])"
    )
    assert len(sizes) > 70 and all(w >= 24 and h >= 24 for _, w, h in sizes), sizes
    # n stays in sight while its effect is read further down.
    widget.locator(".ctx-sample").evaluate("(e) => e.scrollIntoView({ block: 'center' })")
    assert page.evaluate("scrollY") > 100
    expect(order(widget, 6)).to_be_in_viewport(ratio=1)
    expect(widget.locator(".ctx-sample")).to_be_in_viewport(ratio=1)
    context.close()


def test_control_and_effect_share_a_phone_screen(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    widget = show(page, tmp_path, ContextTable(), head="<style>body { margin: 0 }</style>")
    height = "(e) => e.querySelector('.ctx-came').getBoundingClientRect().bottom - e.getBoundingClientRect().top"
    assert widget.evaluate(height) <= 844
    context.close()


def test_the_picture_stands_in_print_and_without_javascript(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(page_of(ContextTable()), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False, viewport={"width": 360, "height": 740})
    page = context.new_page()
    page.goto(f"{tmp_path.as_uri()}/page.html")
    picture = page.get_by_role("img", name=re.compile("table of an n-gram model"))
    expect(picture).to_be_visible()
    expect(page.get_by_text("With n = 5, what came after “he␣r” in the story")).to_be_visible()
    assert picture.bounding_box()["width"] <= 360 and picture.bounding_box()["height"] > 100
    context.close()
