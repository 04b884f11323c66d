"""Handouts: a lesson on paper, its solutions where they belong, its links, and two pages joined to one document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from playwright.sync_api import Page as BrowserPage
from pypdf import PageObject, PdfReader
from pypdf.generic import ArrayObject

from make_pdf import PrintError, join, levels, numbers, print_book, print_page
from pages import ROOT
from serving import served

pytestmark = pytest.mark.browser

LESSON, CLOSER_LOOK = "chapters/06_perplexity", "chapters/06_perplexity_floor"


@pytest.fixture
def page(browser: Browser) -> Iterator[BrowserPage]:
    page = browser.new_page(color_scheme="light", viewport={"width": 760, "height": 1100})
    yield page
    page.close()


def document(page: BrowserPage, book: Path, folder: Path, solutions: str, *names: str) -> PdfReader:
    with served(book) as address:
        parts = []
        for name in names:
            parts.append(print_page(page, address, name, solutions))
            page.emulate_media(media="screen")
        parts[-1].level = len(parts) - 1
        writer = join(parts, address, numbers(page, sum(part.sheets for part in parts), "Hidden State"))
    writer.write(folder / "some.pdf")
    return PdfReader(folder / "some.pdf")


def targets(sheet: PageObject) -> list[str]:
    links = [annotation.get_object() for annotation in sheet.get("/Annots", [])]
    return [str(link["/A"]["/URI"]) for link in links if "/A" in link and "/URI" in link["/A"]]


def test_a_lesson_with_its_solutions_at_the_end(page: BrowserPage, book: Path, tmp_path: Path) -> None:
    pdf = document(page, book, tmp_path, "end", LESSON)
    texts = [sheet.extract_text() for sheet in pdf.pages]
    whole = "\n".join(texts)
    assert pdf.outline[0].title == "Perplexity"
    for number, text in enumerate(texts, 1):
        assert f"Hidden State · {number}" in text
    last_exercise = max(i for i, text in enumerate(texts) if "Exercise 6.5" in text.split("Solution to")[0])
    first_solution = min(i for i, text in enumerate(texts) if "Solution to Exercise 6.1" in text)
    assert last_exercise < first_solution, "solutions begin on a sheet of their own"
    assert "To move it, open chapters/06_perplexity.html#explore=Perplexity.0 in the book." in whole
    assert "def bits_per_character(perplexity, num_tokens, num_characters):" in whole
    for box in (sheet.mediabox for sheet in pdf.pages):
        assert (box.width, box.height) == pytest.approx((595.3, 841.9), abs=2), "A4, in points"


def test_without_solutions(page: BrowserPage, book: Path, tmp_path: Path) -> None:
    whole = "\n".join(sheet.extract_text() for sheet in document(page, book, tmp_path, "no", LESSON).pages)
    assert "Exercise 6.5" in whole and "Solution to" not in whole and "Solutions" not in whole


def test_links_lead_to_the_other_part_or_outside(page: BrowserPage, book: Path, tmp_path: Path) -> None:
    pdf = document(page, book, tmp_path, "no", LESSON, CLOSER_LOOK)
    assert [pdf.outline[0].title, pdf.outline[1][0].title] == ["Perplexity", pdf.outline[1][0].title]
    outside = [target for sheet in pdf.pages for target in targets(sheet)]
    assert all(target.startswith("https://") for target in outside), outside
    links = [a.get_object() for sheet in pdf.pages for a in sheet.get("/Annots", [])]
    inner = [link["/Dest"][0].get_object() for link in links if isinstance(link.get("/Dest"), ArrayObject)]
    second = pdf.get_destination_page_number(pdf.outline[1][0])
    assert second in {pdf.get_page_number(sheet) for sheet in inner}


def test_the_cheat_sheet_is_one_sheet(page: BrowserPage, book: Path, tmp_path: Path) -> None:
    assert len(document(page, book, tmp_path, "no", "book/cheat_sheet").pages) == 1


def test_what_cannot_be_printed(book: Path, tmp_path: Path) -> None:
    with pytest.raises(PrintError, match="run `make book` first"):
        print_book("end", [], tmp_path, tmp_path)
    with pytest.raises(PrintError, match=r"there is no page chapters/12; pages are named as in _toc\.yml"):
        print_book("end", ["chapters/12"], book, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_closer_looks_stand_below_their_lesson() -> None:
    depth = levels(ROOT / "_toc.yml")
    assert depth[LESSON] == 0 and depth[CLOSER_LOOK] == 1 and depth["book/index"] == 0
