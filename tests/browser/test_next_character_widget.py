"""The explorable NextCharacter on a page without a kernel: typing, cutting, writing on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import NextCharacter
from pages import page_of
from watching import Record, watched_page

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=720, height=1000) as (page, record):
        yield page, record
        assert record.errors == [] and record.outside == []


@pytest.fixture
def widget(opened: tuple[Page, Record], tmp_path: Path) -> Locator:
    page, _ = opened
    (tmp_path / "page.html").write_text(page_of(NextCharacter(text="the tide clo")), encoding="utf-8")
    page.goto(f"{tmp_path.as_uri()}/page.html")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(1)
    return page.locator(".d2lrnn-widget")


def rows(widget: Locator) -> list[list[str]]:
    texts = widget.locator(".next-row:visible .next-seen").all_inner_texts()
    return [re.split(r"\s+", text.strip()) for text in texts]


def test_the_first_rows_are_those_that_python_computes(widget: Locator) -> None:
    shown = rows(widget)
    expected = NextCharacter(text="the tide clo").ranked[: len(shown)]
    assert len(shown) == 9
    for (name, before, after), (character, p, _) in zip(shown, expected):
        assert name == character.replace(" ", "␣") and before == after
        if p > 0.1:
            assert float(before) == pytest.approx(p, abs=0.0051)


def test_typing_changes_the_prediction(widget: Locator) -> None:
    field = widget.get_by_label("It has read")
    field.press_sequentially("ck")
    expect(widget.locator(".next-row .next-name").first).to_have_text("␣")
    field.fill("The <b>SEA</b>\u0000👩 " + "wave " * 30_000)
    assert field.evaluate("(e) => e.value.length") > 400, "what the reader typed is left alone"
    expect(widget.locator(".next-hint")).to_have_text("Only the last 400 characters are kept.")
    field.fill("")
    expect(widget.locator(".next-summary")).to_contain_text("It has read nothing yet")


def test_a_cut_takes_rows_away_from_the_draw_and_reset_gives_them_back(widget: Locator) -> None:
    slider = widget.get_by_label(re.compile("^top-k"))
    for _ in range(2):
        slider.press("ArrowRight")
    shown = rows(widget)
    assert [row[2] != "0" for row in shown] == [True] * 2 + [False] * 7
    assert shown[0][1] != shown[0][2]
    expect(widget.get_by_role("status")).to_contain_text("2 characters can be drawn")
    widget.get_by_label(re.compile("^temperature")).press("Home")
    assert rows(widget)[0][2] == "1"
    widget.get_by_role("button", name="Reset").press("Enter")
    assert all(before == after for _, before, after in rows(widget))


def test_it_writes_one_letter_and_on_and_stops(widget: Locator) -> None:
    field = widget.get_by_label("It has read")
    widget.get_by_role("button", name="Write one letter").click()
    expect(field).to_have_value(re.compile(r"^the tide clo[a-z ]$"))
    widget.get_by_role("button", name="Write on", exact=True).click()
    expect(field).to_have_value(re.compile(r"^the tide clo.{6,}$"))
    widget.get_by_role("button", name="Pause").click()
    value = field.input_value()
    field.page.wait_for_timeout(300)
    assert field.input_value() == value
    widget.get_by_role("button", name="Empty").click()
    expect(field).to_have_value("")


def test_a_link_brings_back_text_and_settings(widget: Locator, opened: tuple[Page, Record]) -> None:
    page, _ = opened
    widget.get_by_label("It has read").fill("phoebe ")
    widget.get_by_label(re.compile("^top-p")).press("Home")
    expected = rows(widget)
    widget.get_by_role("button", name="Link to this").click()
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(widget.get_by_label("It has read")).to_have_value("phoebe ")
    assert rows(widget) == expected


def test_removed_from_the_page_it_stops_writing(widget: Locator, opened: tuple[Page, Record]) -> None:
    page, _ = opened
    page.evaluate(
        "() => { globalThis.cleared = 0; const f = clearInterval;"
        " globalThis.clearInterval = (t) => { if (t) cleared += 1; f(t); }; }"
    )
    widget.get_by_role("button", name="Write on", exact=True).click()
    page.evaluate("() => document.querySelector('.d2lrnn-widget').remove()")
    page.wait_for_function("() => globalThis.cleared >= 1")


def test_the_compact_form_is_a_field_five_rows_and_buttons(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    (tmp_path / "page.html").write_text(page_of(NextCharacter(text="the ", compact=True)), encoding="utf-8")
    page.goto(f"{tmp_path.as_uri()}/page.html")
    widget = page.locator('.d2lrnn-widget[data-ready="1"]')
    expect(widget.locator(".next-row:visible")).to_have_count(5)
    expect(widget.get_by_role("slider")).to_have_count(0)
    expect(widget.get_by_text("How to read it")).to_be_hidden()
