"""What holds for every explorable: it mounts from disk and over http, fits a phone, can be read and used by everybody,
survives whatever its controls are moved to, and comes back from a reset."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn import widgets
from pages import LOW_CONTRAST, page_of, served
from watching import Record, watched_page

pytestmark = pytest.mark.browser

NAMES = [name for name in widgets.__all__ if name != "Explorable"]
MOVES = 120
TEXTS = ["", "the tide", "</script><img src=x onerror=alert(1)>", "👩\u200d💻", "\u202eevil\u0000", "z" * 5000, "1,5,2"]
KEYS = ["ArrowRight", "ArrowLeft", "Home", "End", "PageUp"]
NAME_OF = "(e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent || '').trim()"
VALUES = """(widget) => [...widget.querySelectorAll("input, select, textarea")].map(
  (e) => (e.type === "checkbox" || e.type === "radio" ? e.checked : e.value))"""
# Numbers that have no business on a page.
NONSENSE = re.compile(r"\bNaN\b|\bundefined\b|\bInfinity\b|\[object")


def show(page: Page, folder: Path, name: str, address: str | None = None, theme: str | None = None) -> Locator:
    widget = getattr(widgets, name)()
    (folder / "page.html").write_text(page_of(widget, theme=theme), encoding="utf-8")
    page.goto(f"{address or folder.as_uri()}/page.html")
    found = page.locator('.d2lrnn-widget[data-ready="1"]')
    expect(found).to_have_count(1)
    return found


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=390, height=844) as (page, record):
        yield page, record
        assert record.errors == [] and record.outside == []


@pytest.mark.parametrize("name", NAMES)
def test_it_mounts_over_http_and_from_disk(opened: tuple[Page, Record], tmp_path: Path, name: str) -> None:
    page, _ = opened
    with served(tmp_path) as addresses:
        for address in addresses.values():
            widget = show(page, tmp_path, name, address)
            assert widget.locator(".d2lrnn-fallback").is_hidden()
            assert len(widget.locator(".d2lrnn-view").inner_text()) > 100
            assert not NONSENSE.search(widget.inner_text())


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_it_fits_a_narrow_phone_and_can_be_read(
    opened: tuple[Page, Record], tmp_path: Path, name: str, theme: str
) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 360, "height": 780})
    show(page, tmp_path, name, theme=theme)
    page.wait_for_timeout(400)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
    contrast = page.evaluate(LOW_CONTRAST, 4.5)
    assert contrast["checked"] > 10 and contrast["found"] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_control_has_a_name_a_size_and_the_keyboard(
    opened: tuple[Page, Record], tmp_path: Path, name: str
) -> None:
    page, _ = opened
    widget = show(page, tmp_path, name)
    controls = widget.locator("button:visible, input:visible, select:visible, textarea:visible, summary:visible")
    count = controls.count()
    assert count >= 3
    for i in range(count):
        control = controls.nth(i)
        box = control.bounding_box()
        described = control.evaluate("(e) => e.outerHTML.slice(0, 120)")
        assert box["height"] >= 24 and box["width"] >= 24, described
        assert control.evaluate(f"(e) => {NAME_OF}"), f"no name: {described}"
        roving = "e.closest('[role=radiogroup], [role=grid], [role=listbox]') !== null"
        assert control.evaluate(f"(e) => e.tabIndex >= 0 || {roving}"), described


def move(widget: Locator, rng: random.Random) -> str:
    """One move of one control that is there now; returns what was done."""
    controls = widget.locator("button:visible:enabled, input:visible:enabled, select:visible:enabled, textarea:visible")
    control = controls.nth(rng.randrange(controls.count()))
    kind = control.evaluate("(e) => e.tagName === 'INPUT' ? e.type : e.tagName.toLowerCase()")
    label = control.evaluate(f"(e) => {NAME_OF}")
    if kind in ("text", "textarea", "search"):
        text = rng.choice(TEXTS)
        control.fill(text)
        return f"{label!r}: fill {text[:20]!r}"
    if kind == "range":
        key = rng.choice(KEYS)
        control.press(key)
        return f"{label!r}: {key}"
    if kind == "select":
        options = control.locator("option")
        control.select_option(index=rng.randrange(options.count()))
        return f"{label!r}: an option"
    if kind in ("checkbox", "radio"):
        control.dispatch_event("click")
        return f"{label!r}: click"
    if kind == "number":
        control.fill(rng.choice(["", "0", "-3", "1e9", "7"]))
        return f"{label!r}: a number"
    control.dispatch_event("click")
    return f"{label!r}: press"


@pytest.mark.parametrize("name", NAMES)
def test_random_moves_break_nothing_and_reset_brings_back_the_beginning(
    opened: tuple[Page, Record], tmp_path: Path, name: str
) -> None:
    page, record = opened
    widget = show(page, tmp_path, name)
    rng = random.Random(name)
    done: list[str] = []
    for i in range(MOVES):
        done.append(move(widget, rng))
        if i % 10 == 9:
            expect(widget).to_have_attribute("data-ready", "1")
            assert not (found := NONSENSE.search(widget.inner_text())), f"{found} after {done[-10:]}"
            assert record.errors == [], f"after {done[-10:]}"
    widget.get_by_role("button", name="Reset", exact=True).first.dispatch_event("click")
    page.wait_for_timeout(300)
    after = widget.evaluate(VALUES)
    fresh = show(page, tmp_path, name)
    page.wait_for_timeout(300)
    assert after == fresh.evaluate(VALUES), f"a reset does not bring back the beginning; last moves {done[-10:]}"


@pytest.mark.parametrize("name", NAMES)
def test_it_leaves_the_page_without_a_trace(opened: tuple[Page, Record], tmp_path: Path, name: str) -> None:
    page, _ = opened
    page.add_init_script(
        "globalThis.workers = 0; const W = Worker; globalThis.Worker = class extends W {"
        " constructor(...a) { super(...a); workers += 1; } terminate() { super.terminate(); workers -= 1; } };"
    )
    show(page, tmp_path, name)
    page.evaluate("() => document.querySelector('.d2lrnn-widget').remove()")
    page.wait_for_function("() => globalThis.workers === 0")
    page.wait_for_timeout(200)


@pytest.mark.parametrize("name", NAMES)
def test_without_javascript_a_picture_and_a_sentence_stand_there(browser: Browser, tmp_path: Path, name: str) -> None:
    (tmp_path / "page.html").write_text(page_of(getattr(widgets, name)()), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844})
    try:
        page = context.new_page()
        page.goto(f"{tmp_path.as_uri()}/page.html")
        picture = page.locator(".d2lrnn-fallback svg")
        expect(picture).to_be_visible()
        assert picture.bounding_box()["width"] > 250
        expect(page.locator(".d2lrnn-fallback p")).to_be_visible()
    finally:
        context.close()
