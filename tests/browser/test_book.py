"""Every page of the built book in a real browser, over http and from disk, with the network blocked."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ElementHandle, Page, TimeoutError, expect

from pages import PAGES, REFERENCE, served, settle
from watching import watched_page

ROOT = Path(__file__).resolve().parent.parent.parent
CHAPTER = [page for page in PAGES if page.startswith("chapters/")][-1]
SCHEMES = ["http", "file"]
PHONE = {"width": 360, "height": 740}
MOUNTED_WITHIN_MS = 20_000

pytestmark = pytest.mark.browser

# Words on the page outside of code and of typeset mathematics.
PROSE = """() => {
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const words = [];
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (!parent.closest("code, pre, script, style, textarea, .katex")) words.push(walker.currentNode.data);
  }
  return words.join(" ");
}"""

MATHEMATICS = """() => ({
  written: document.querySelectorAll("main .math").length,
  unrendered: [...document.querySelectorAll("main .math")]
    .filter((e) => !e.querySelector(".katex-html") || !e.querySelector("math annotation")?.textContent)
    .map((e) => e.textContent),
})"""

IMAGES = """() => [...document.querySelectorAll("main img")].map((image) => ({
  source: image.getAttribute("src"), alt: image.getAttribute("alt"), loaded: image.complete && image.naturalWidth > 0,
}))"""

# What sticks out to the right of the screen and lies in no box that scrolls.
TOO_WIDE = """() => {
  const scrolls = (e) => {
    for (let box = e.parentElement; box && box !== document.body; box = box.parentElement)
      if (["auto", "scroll"].includes(getComputedStyle(box).overflowX)) return true;
    return false;
  };
  const hidden = (e) => e.closest(".katex-mathml, .katex svg, .visually-hidden, .sr-only, dialog:not([open])");
  const sticksOut = (e) => {
    const box = e.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && box.right > window.innerWidth + 1 && !hidden(e) && !scrolls(e);
  };
  const all = [...document.querySelectorAll("main article *, .prev-next-area *, footer *")];
  return all.filter((e) => sticksOut(e) && !sticksOut(e.parentElement))
    .map((e) => `${e.tagName.toLowerCase()}.${e.getAttribute("class")}: ${e.textContent.trim().slice(0, 60)}`);
}"""

# All that a widget shows except the control itself, which moves even when it is connected to nothing.
SHOWN = """([widget, control]) => JSON.stringify([
  widget.innerText,
  [...widget.querySelectorAll("input, select, output, meter, progress")]
    .filter((e) => e !== control).map((e) => e.value),
])"""


@dataclass
class Widget:
    """What became of one widget: its data-ready, and whether a key pressed on its control changed what it shows."""

    name: str
    ready: str | None
    text: str
    control: str | None = None
    answered: bool = False


@dataclass
class Report:
    """One page, opened, read, operated and narrowed once; the tests below look at the findings."""

    errors: list[str]
    outside: list[str]
    prose: str
    outputs: str
    mathematics: dict[str, Any]
    images: list[dict[str, Any]]
    widgets: list[Widget]
    too_wide_on_a_laptop: list[str]
    too_wide_on_a_phone: list[str]
    scrolls_sideways_on_a_phone: bool


def first_control(widget: ElementHandle) -> ElementHandle | None:
    selectors = ("input[type=range]", "input", "select", "textarea", "button", "[tabindex='0']")
    for selector in selectors:
        for control in widget.query_selector_all(selector):
            if control.is_visible() and control.is_enabled():
                return control
    return None


def press(page: Page, control: ElementHandle) -> None:
    """Press the key to which this kind of control answers: towards the end of a range that has room."""
    control.focus()
    kind = control.evaluate("(e) => e.type ?? e.getAttribute('role')")
    if kind == "range":
        at_end = control.evaluate("(e) => Number(e.value) >= Number(e.max)")
        page.keyboard.press("ArrowLeft" if at_end else "ArrowRight")
    elif kind in ("text", "search", "textarea"):
        page.keyboard.press("e")
    elif kind == "checkbox":
        page.keyboard.press("Space")
    elif kind in ("button", "submit", "reset"):
        page.keyboard.press("Enter")
    else:
        page.keyboard.press("ArrowRight")


def operate(page: Page, widget: ElementHandle) -> Widget:
    widget.scroll_into_view_if_needed()
    with suppress(TimeoutError):
        page.wait_for_function("(e) => e.dataset.ready !== undefined", arg=widget, timeout=MOUNTED_WITHIN_MS)
    found = Widget(widget.get_attribute("data-widget") or "?", widget.get_attribute("data-ready"), widget.inner_text())
    control = first_control(widget)
    if control is None or found.ready != "1":
        return found
    found.control = control.evaluate("(e) => e.outerHTML.slice(0, 200)")
    before = page.evaluate(SHOWN, [widget, control])
    press(page, control)
    for _ in range(40):
        if page.evaluate(SHOWN, [widget, control]) != before:
            found.answered = True
            break
        page.wait_for_timeout(50)
    return found


@pytest.fixture(params=[(page, scheme) for page in PAGES for scheme in SCHEMES], ids="-".join, scope="module")
def report(request: pytest.FixtureRequest, browser: Browser, addresses: dict[str, str]) -> Report:
    name, scheme = request.param
    with watched_page(browser) as (page, record):
        page.goto(f"{addresses[scheme]}/{name}.html")
        settle(page)
        prose = page.evaluate(PROSE)
        mathematics = page.evaluate(MATHEMATICS)
        images = page.evaluate(IMAGES)
        outputs = "\n".join(page.locator("main .cell_output").all_inner_texts())
        widgets = [operate(page, widget) for widget in page.query_selector_all(".d2lrnn-widget")]
        too_wide_on_a_laptop = page.evaluate(TOO_WIDE)
        page.set_viewport_size(PHONE)
        page.reload()
        settle(page)
        for widget in page.query_selector_all(".d2lrnn-widget"):
            operate(page, widget)
        return Report(
            errors=record.errors,
            outside=record.outside,
            prose=prose,
            outputs=outputs,
            mathematics=mathematics,
            images=images,
            widgets=widgets,
            too_wide_on_a_laptop=too_wide_on_a_laptop,
            too_wide_on_a_phone=page.evaluate(TOO_WIDE),
            scrolls_sideways_on_a_phone=page.evaluate("document.documentElement.scrollWidth > window.innerWidth"),
        )


def test_no_error(report: Report) -> None:
    assert report.errors == []


def test_nothing_is_asked_of_other_hosts(report: Report) -> None:
    assert report.outside == []


def test_page_has_words(report: Report) -> None:
    assert len(report.prose.split()) > 50


def test_mathematics_is_typeset(report: Report) -> None:
    assert report.mathematics["unrendered"] == []
    assert not re.search(r"\\[(\[\])]|\$\$|\\(begin|frac|mathbf|sum|in|times)\b", report.prose), "raw TeX on the page"


def test_no_object_shows_its_address(report: Report) -> None:
    assert not re.search(r"\b0x[0-9a-f]{6,}|<(Axes|Figure)\b", report.outputs), (
        "end the line of a plot with a semicolon"
    )


def test_images_are_there_and_described(report: Report) -> None:
    for image in report.images:
        assert image["loaded"], f"{image['source']} did not load"
        assert image["alt"], f"{image['source']} has no text alternative"
        assert not re.search(r"\.(png|svg|jpe?g|gif)$|_images/", image["alt"]), (
            f"the alt text is a path: {image['alt']}"
        )


def test_widgets_mount(report: Report) -> None:
    for widget in report.widgets:
        assert widget.ready == "1", f"{widget.name}: data-ready is {widget.ready!r}; it shows: {widget.text}"


def test_widgets_answer_a_key_press(report: Report) -> None:
    for widget in report.widgets:
        assert widget.control, f"{widget.name} has no control that the keyboard can reach"
        assert widget.answered, f"{widget.name}: nothing moved when a key was pressed on {widget.control}"


def test_nothing_sticks_out(report: Report) -> None:
    assert report.too_wide_on_a_laptop == []
    assert report.too_wide_on_a_phone == []
    assert not report.scrolls_sideways_on_a_phone


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
