"""A page of the book, opened once for all tests of it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, CDPSession, ElementHandle, Page, TimeoutError

from pages import PAGES, settle
from watching import watched_page

PHONE = {"width": 360, "height": 740}
LAPTOP = {"width": 1280, "height": 900}
MOUNTED_WITHIN_MS = 20_000
# Every page twice, on a phone over http and on a laptop from disk: width and transport have nothing to do with each
# other. axe comes along on the laptop.
ON_A_PHONE = [(page, "phone") for page in PAGES]
ON_A_LAPTOP = [(page, "laptop") for page in PAGES]
VISITS = [visit for both in zip(ON_A_PHONE, ON_A_LAPTOP, strict=True) for visit in both]

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

# What sticks out to the right of the screen and lies in no box that scrolls, nor in one that ends in an ellipsis.
TOO_WIDE = """() => {
  const scrolls = (e) => {
    for (let box = e.parentElement; box && box !== document.body; box = box.parentElement)
      if (["auto", "scroll"].includes(getComputedStyle(box).overflowX)
        || getComputedStyle(box).textOverflow === "ellipsis") return true;
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
CHANGED = f"([widget, control, before]) => ({SHOWN})([widget, control]) !== before"

ALL_READY = "() => [...document.querySelectorAll('.d2lrnn-widget')].every((widget) => widget.dataset.ready === '1')"
FOLDER = "_static/d2lrnn/"
OPENED = """() => {
  const loaded = performance.getEntriesByType("resource");
  const ofExplorables = ({ name }) => name.includes("FOLDER");
  return {
    scripts: loaded.filter(ofExplorables).map(({ name }) => name.split("/").at(-1)),
    hashes: [...document.querySelectorAll(".d2lrnn-widget > script[data-hash]")].map((e) => e.dataset.hash),
    furniture: loaded
      .filter((entry) => entry.initiatorType !== "img" && !ofExplorables(entry) && entry.decodedBodySize)
      .map((entry) => [new URL(entry.name).pathname, entry.decodedBodySize]),
  };
}""".replace("FOLDER", FOLDER)

# Thousands of spans: what a reader hears of a formula is KaTeX's business, and the colours of code are those of a theme
# made for contrast.
MOST_OF_IT = {"exclude": [[".katex"], [".highlight"]]}
# It is not even there while axe looks: of its thousands of elements each would be measured again and again. Its text
# and its size stay. `PUT_BACK` brings it back.
LEAVE_OUT = """() => {
  const found = [...document.querySelectorAll(".katex, .highlight pre")].map((e) => {
    const { width, height } = e.getBoundingClientRect();
    return { e, children: [...e.childNodes], width: Math.max(width, e.scrollWidth), height };
  });
  for (const { e, width, height } of found) {
    const stand = document.createElement("span");
    stand.textContent = e.textContent;
    if (e.matches(".katex")) {
      const size = `width: ${width}px; height: ${height}px`;
      stand.style = `display: inline-block; overflow: hidden; vertical-align: top; ${size}`;
    }
    e.replaceChildren(stand);
  }
  return found;
}"""
PUT_BACK = "(taken) => taken.forEach(({ e, children }) => e.replaceChildren(...children))"
# What is far from the screen is not laid out, and what is not laid out axe can't judge; nor what glides to its colour.
LAY_OUT_ALL = "section { content-visibility: visible !important; } * { transition: none !important; }"
SET_THEME = "(theme) => { document.documentElement.dataset.theme = theme; }"
GRAVE = {"serious", "critical"}
ABOUT_COLOURS = ["color-contrast", "link-in-text-block"]


@dataclass
class AxeFound:
    passes: int
    grave: list[tuple[str, str]]  # the rule, and the element


@dataclass
class Widget:
    """What became of one widget: its data-ready, and whether a key pressed on its control changed what it shows."""

    name: str
    ready: str | None
    text: str
    control: str | None = None
    answered: bool = False


@dataclass
class Opening:
    """What a page had loaded, and what it had cost, when its explorables were alive and nobody had touched it."""

    scripts: list[str]  # of explorables, as often as they were loaded
    hashes: list[str]  # of the blocks that the explorables on the page ask for
    furniture: dict[str, int]  # all but the page, its pictures and its explorables: decoded bytes
    thread_ms: float


@dataclass
class Visit:
    """One page, opened, read and operated once; tests look at the findings."""

    name: str
    errors: list[str]
    outside: list[str]
    opening: Opening
    prose: str
    outputs: str
    mathematics: dict[str, Any]
    images: list[dict[str, Any]]
    axe: dict[str, AxeFound]  # by theme; none on a phone
    # After every explorable has been operated:
    widgets: list[Widget] = field(default_factory=list)
    too_wide: list[str] = field(default_factory=list)
    scrolls_sideways: bool = False


def first_control(widget: ElementHandle) -> ElementHandle | None:
    selectors = ("input[type=range]", "[role=slider]", "input", "select", "textarea", "button", "[tabindex='0']")
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
        at_end = control.evaluate("(e) => e.ariaValueMax !== null && Number(e.ariaValueNow) >= Number(e.ariaValueMax)")
        page.keyboard.press("ArrowLeft" if at_end else "ArrowRight")


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
    with suppress(TimeoutError):
        page.wait_for_function(CHANGED, arg=[widget, control, before], timeout=2000)
        found.answered = True
    return found


def opening(page: Page, session: CDPSession) -> Opening:
    with suppress(TimeoutError):
        page.wait_for_function(ALL_READY, timeout=MOUNTED_WITHIN_MS)
    metrics = {entry["name"]: entry["value"] for entry in session.send("Performance.getMetrics")["metrics"]}
    found = page.evaluate(OPENED)
    return Opening(found["scripts"], found["hashes"], dict(found["furniture"]), metrics["TaskDuration"] * 1000)


def _ask_axe(page: Page, **options: object) -> AxeFound:
    options |= {"resultTypes": ["violations"], "preload": False}  # sheets can't be asked for again from disk
    found = page.evaluate("([context, options]) => axe.run(context, options)", [MOST_OF_IT, options])
    return AxeFound(
        len(found["passes"]),
        [
            (violation["id"], node["html"][:120])
            for violation in found["violations"]
            if violation["impact"] in GRAVE
            for node in violation["nodes"]
        ],
    )


def ask_axe(page: Page) -> dict[str, AxeFound]:
    """Ask for everything in the light theme, and of the same page in the dark one for what colours can change."""
    theme = page.evaluate("document.documentElement.dataset.theme")
    page.emulate_media(reduced_motion="reduce")  # a figure that comes into view shows its end, not a pale way there
    style = page.add_style_tag(content=LAY_OUT_ALL)
    taken = page.evaluate_handle(LEAVE_OUT)
    page.evaluate(Axe().axe_script)
    page.evaluate(SET_THEME, "light")
    found = {"light": _ask_axe(page)}
    page.evaluate(SET_THEME, "dark")
    found["dark"] = _ask_axe(page, runOnly=ABOUT_COLOURS)
    page.evaluate(SET_THEME, theme)
    taken.evaluate(PUT_BACK)
    style.evaluate("(e) => e.remove()")
    page.emulate_media(reduced_motion="no-preference")
    return found


def visit(browser: Browser, address: str, name: str, size: dict[str, int], *, axe: bool) -> Visit:
    """Open a page and look at all of it.

    A context of its own: what one page has loaded or compiled helps no other.
    """
    with watched_page(browser, **size) as (page, record):
        # The thread's own time: waiting for a core on a busy machine is not counted.
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(f"{address}/{name}.html")
        opened = opening(page, session)
        settle(page)
        found = Visit(
            name=name,
            errors=record.errors,
            outside=record.outside,
            opening=opened,
            prose=page.evaluate(PROSE),
            outputs="\n".join(page.locator("main .cell_output").all_inner_texts()),
            mathematics=page.evaluate(MATHEMATICS),
            images=page.evaluate(IMAGES),
            axe=ask_axe(page) if axe else {},
        )
        found.widgets = [operate(page, widget) for widget in page.query_selector_all(".d2lrnn-widget")]
        found.too_wide = page.evaluate(TOO_WIDE)
        found.scrolls_sideways = page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
        return found
