"""Every page of the built book in a real browser, with the network blocked: a phone over http, a laptop from disk."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from pages import PAGES, REFERENCE, served, settle
from visits import PHONE, Visit
from watching import watched_page

ROOT = Path(__file__).resolve().parent.parent.parent
CHAPTER = [page for page in PAGES if page.startswith("chapters/")][-1]
SCHEMES = ["http", "file"]

pytestmark = pytest.mark.browser


def test_no_error(visit: Visit) -> None:
    assert visit.errors == []


def test_nothing_is_asked_of_other_hosts(visit: Visit) -> None:
    assert visit.outside == []


def test_page_has_words(visit: Visit) -> None:
    assert len(visit.prose.split()) > 50


def test_mathematics_is_typeset(visit: Visit) -> None:
    assert visit.mathematics["unrendered"] == []
    assert not re.search(r"\\[(\[\])]|\$\$|\\(begin|frac|mathbf|sum|in|times)\b", visit.prose), "raw TeX on the page"


def test_no_object_shows_its_address(visit: Visit) -> None:
    assert not re.search(r"\b0x[0-9a-f]{6,}|<(Axes|Figure)\b", visit.outputs), (
        "end the line of a plot with a semicolon"
    )


def test_images_are_there_and_described(visit: Visit) -> None:
    for image in visit.images:
        assert image["loaded"], f"{image['source']} did not load"
        assert image["alt"], f"{image['source']} has no text alternative"
        assert not re.search(r"\.(png|svg|jpe?g|gif)$|_images/", image["alt"]), (
            f"the alt text is a path: {image['alt']}"
        )


def test_widgets_mount(visit: Visit) -> None:
    for widget in visit.widgets:
        assert widget.ready == "1", f"{widget.name}: data-ready is {widget.ready!r}; it shows: {widget.text}"


def test_widgets_answer_a_key_press(visit: Visit) -> None:
    for widget in visit.widgets:
        assert widget.control, f"{widget.name} has no control that the keyboard can reach"
        assert widget.answered, f"{widget.name}: nothing moved when a key was pressed on {widget.control}"


def test_nothing_sticks_out(visit: Visit) -> None:
    assert visit.too_wide == []
    assert not visit.scrolls_sideways


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_address_of_the_book_leads_to_its_first_page(
    browser: Browser, addresses: dict[str, str], scheme: str
) -> None:
    with watched_page(browser) as (page, record):
        page.goto(f"{addresses[scheme]}/index.html")
        page.wait_for_url(f"**/{PAGES[0]}.html")
        assert page.locator("article h1").count() == 1
        assert record.errors == [] and record.outside == []


def test_a_copied_formula_is_tex(browser: Browser, addresses: dict[str, str]) -> None:
    with watched_page(browser) as (page, record):
        page.goto(f"{addresses['file']}/book/notation.html")
        formula = page.locator("main span.math").first
        tex = formula.locator("annotation").text_content()
        copied = formula.evaluate(
            """(e) => {
              getSelection().selectAllChildren(e);
              const clipboardData = new DataTransfer();
              document.dispatchEvent(new ClipboardEvent("copy", { clipboardData, bubbles: true }));
              return clipboardData.getData("text/plain");
            }"""
        )
        assert copied == f"${tex}$"
        assert record.errors == []


def test_a_reference_leads_to_its_equation(book: Path) -> None:
    references = 0
    for path in book.glob("chapters/*.html"):
        html = path.read_text(encoding="utf-8")
        for page, target, number in re.findall(
            r'<a class="reference internal" href="([\w.]*)#(equation-[\w-]+)">\(([\d.]+)\)</a>', html
        ):
            there = (path.parent / page).read_text(encoding="utf-8") if page else html
            equation = rf'id="{target}">\s*<span class="eqno">\({re.escape(number)}\)'
            assert re.search(equation, there), (path.name, target)
            references += 1
    assert references > 5


@pytest.mark.parametrize("width", [390, 1280])
def test_a_link_into_a_page_lands_where_it_should(browser: Browser, addresses: dict[str, str], width: int) -> None:
    """Sections far from the screen are not laid out; their guessed heights move nobody from where they went."""
    with watched_page(browser, width=width) as (page, _):
        address = f"{addresses['http']}/{CHAPTER}.html"
        page.goto(address)
        names = page.evaluate("[...document.querySelectorAll('article section section')].map((e) => e.id)")
        for name in (names[-1], names[1], names[len(names) // 2]):
            page.goto(f"{address}#{name}")
            page.wait_for_function(
                """(id) => Math.abs(document.getElementById(id).getBoundingClientRect().top - 64) < 8
                    || scrollY + innerHeight > document.documentElement.scrollHeight - 8""",  # the end is on screen
                arg=name,
            )


def test_the_folder_works_as_a_part_of_another_site(browser: Browser, book: Path) -> None:
    assert (book / ".nojekyll").is_file(), "GitHub Pages would leave out _static and _images"
    with served(book.parent) as address, watched_page(browser) as (page, record):
        for name in (PAGES[0], CHAPTER, "search"):
            page.goto(f"{address['http']}/{book.name}/{name}.html")
            settle(page)
        assert record.errors == [] and record.outside == []


@pytest.mark.parametrize("width", [320, 390])
def test_the_index_fits_a_phone(browser: Browser, addresses: dict[str, str], width: int) -> None:
    with watched_page(browser, width=width) as (page, _):
        page.goto(f"{addresses['file']}/genindex.html")
        expect(page.get_by_role("link", name="associative operation", exact=True)).to_be_visible()
        assert page.evaluate("() => document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("scheme", SCHEMES)
def test_search_finds_a_chapter(browser: Browser, addresses: dict[str, str], scheme: str) -> None:
    with watched_page(browser) as (page, record):
        page.goto(f"{addresses[scheme]}/search.html?q=perplexity")
        expect(page.locator("#search-results li a[href*='chapters/']").first).to_be_visible()
        page.wait_for_timeout(500)  # excerpts of the hits are fetched after they are listed
        assert record.errors == [] and record.outside == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_light_and_dark_can_be_chosen(browser: Browser, addresses: dict[str, str], scheme: str) -> None:
    with watched_page(browser) as (page, record):
        page.goto(f"{addresses[scheme]}/{PAGES[0]}.html")
        seen = set()
        for _ in range(3):
            page.locator("button.theme-switch-button:visible").first.click()
            theme = page.evaluate("document.documentElement.dataset.theme")
            seen.add((theme, page.evaluate("getComputedStyle(document.body).backgroundColor")))
        assert {theme for theme, _ in seen} == {"light", "dark"}
        assert len({background for _, background in seen}) == 2
        assert record.errors == []


def test_the_menu_of_the_page_opens_and_closes_and_every_picture_button_has_a_title(
    browser: Browser, addresses: dict[str, str]
) -> None:
    with watched_page(browser) as (page, record):
        page.goto(f"{addresses['file']}/{PAGES[0]}.html")
        page.wait_for_load_state()
        button, menu = page.locator(".dropdown-toggle"), page.locator(".dropdown-menu")
        for close in (lambda: page.keyboard.press("Escape"), lambda: page.mouse.click(640, 700)):
            button.focus()
            page.keyboard.press("Enter")
            expect(menu).to_be_visible()
            expect(button).to_have_attribute("aria-expanded", "true")
            close()
            expect(menu).to_be_hidden()
            expect(button).to_have_attribute("aria-expanded", "false")
        for icon in page.locator(".article-header-buttons button:visible").all():
            assert icon.get_attribute("title") or icon.get_attribute("aria-label")
        assert record.errors == []


def test_code_and_prose_lead_to_the_reference_and_back(browser: Browser, addresses: dict[str, str]) -> None:
    with watched_page(browser) as (page, record):
        page.goto(f"{addresses['file']}/chapters/05_character_lm.html")
        in_code = page.locator('.highlight a.sphinx-codeautolink-a[href$="training.html#d2lrnn.training.fit"]')
        assert in_code.count() >= 1
        in_prose = page.locator('p a.reference[href*="book/reference/"] code')
        assert in_prose.count() >= 1
        page.goto(in_code.first.evaluate("(link) => link.href"))
        entry = page.locator("dl:has(> dt[id='d2lrnn.training.fit'])")
        expect(entry).to_be_visible()
        back = entry.locator("a[href$='chapters/05_character_lm.html']")
        back.first.click()
        page.wait_for_url("**/chapters/05_character_lm.html")
        assert record.errors == []


def test_the_search_knows_the_names_of_the_package(browser: Browser, addresses: dict[str, str]) -> None:
    with watched_page(browser) as (page, _):
        page.goto(f"{addresses['file']}/search.html?q=clip_gradients")
        expect(page.locator("#search-results a[href*='optim.html']").first).to_be_visible()


def test_no_page_of_the_reference_is_wider_than_a_phone(browser: Browser, book: Path) -> None:
    with watched_page(browser, **PHONE) as (page, _):
        for file in sorted((book / REFERENCE).glob("*.html")):
            page.goto(file.as_uri())
            assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"], file.name
