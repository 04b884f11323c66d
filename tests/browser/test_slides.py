"""Slides of a chapter: from disk, one thing to look at on each, explorables alive, keys where they belong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser
from playwright.sync_api import Page as BrowserPage

from make_slides import SlidesError, make_slides

pytestmark = pytest.mark.browser

LESSON = "07_bptt"


@pytest.fixture(scope="module")
def deck(book: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The slides of a lesson in a folder that shares the book's files, and leaves the book as it is."""
    html = tmp_path_factory.mktemp("slides") / "html"
    (html / "_static").mkdir(parents=True)
    for folder, shared in ((html, book), (html / "_static", book / "_static")):
        for path in shared.iterdir():
            if path.name not in ("_static", "slides", "reveal", "slides.css"):
                (folder / path.name).symlink_to(path)
    (written,) = make_slides([LESSON], html)
    assert written == html / "slides" / f"{LESSON}.html"
    return written


@pytest.fixture
def page(browser: Browser, deck: Path) -> Iterator[BrowserPage]:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("requestfailed", lambda request: problems.append(request.url))
    page.goto(deck.as_uri())
    page.wait_for_function("() => window.Reveal?.isReady()")
    yield page
    page.close()
    assert not problems


def test_all_that_a_slide_names_is_there(deck: Path) -> None:
    soup = BeautifulSoup(deck.read_text(), "html.parser")
    found = [tag.get("href") or tag.get("src") for tag in soup.select("[href], [src]")]
    paths = {urldefrag(address)[0] for address in found if not address.startswith(("http", "data:", "#"))}
    assert len(paths) > 20
    missing = [path for path in paths if not (deck.parent / unquote(path.split("?")[0])).resolve().exists()]
    assert not missing


def test_the_chapter_is_on_the_slides_without_its_solutions(deck: Path, book: Path) -> None:
    chapter = BeautifulSoup((book / f"chapters/{LESSON}.html").read_text(), "html.parser").select_one(".bd-article")
    slides = BeautifulSoup(deck.read_text(), "html.parser")
    for what in ("div.math", "figure", ".d2lrnn-widget", ".exercise", "table"):
        whole = [part for part in chapter.select(what) if not part.find_parent(class_=["solution", "tag_hide-cell"])]
        assert whole
        assert len(slides.select(f"section {what}")) == len(whole), what
    assert "Solution to Exercise" not in slides.get_text()
    assert not slides.select("section section"), "one thing after another, no slides within slides"
    assert max(len(slide.select(".d2lrnn-widget")) for slide in slides.select("section")) == 1
    said = [note.get_text() for note in slides.select("aside.notes") if "h_t" in note.get_text()]
    assert said, "the speaker's notes have formulas as TeX"


def test_the_explorable_is_alive_and_keeps_its_keys(page: BrowserPage) -> None:
    slide = "Reveal.getIndices().h"
    page.evaluate(
        "() => Reveal.slide([...document.querySelectorAll('.slides > section')]"
        ".findIndex((slide) => slide.querySelector('[data-widget=GradientFlow]')))"
    )
    here = page.evaluate(slide)
    figure = page.locator("section.present .d2lrnn-widget")
    page.wait_for_function("() => document.querySelector('section.present .d2lrnn-widget').dataset.ready === '1'")
    handles = figure.locator("[role=slider]:visible, input[type=range]:visible").all()
    value = "(node) => node.getAttribute('aria-valuenow') ?? node.value"
    moved = 0
    for handle in handles:
        handle.focus()
        before = handle.evaluate(value)
        page.keyboard.press("ArrowLeft")
        moved += handle.evaluate(value) != before
    assert moved
    assert page.evaluate(slide) == here
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(slide) == here - 1


def test_a_chapter_that_is_not_there_is_named(book: Path) -> None:
    with pytest.raises(SlidesError, match="no chapter 07_nothing"):
        make_slides(["07_nothing"], book)
    with pytest.raises(SlidesError, match="make book"):
        make_slides([LESSON], book / "chapters")
