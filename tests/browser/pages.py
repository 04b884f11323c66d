"""Small pages that hold explorables and nothing else, over http and from disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page
from sphinx_external_toc.parsing import parse_toc_yaml

import serving
from d2lrnn.widgets import Explorable

ROOT = Path(__file__).resolve().parent.parent.parent
# Every page of the book. The reference's pages come from one mould: five of them stand for all.
REFERENCE = "book/reference/"
OF_THE_REFERENCE = {REFERENCE + name for name in ("index", "layers", "study_bptt", "widgets", "command_line")}
PAGES = [p for p in parse_toc_yaml(ROOT / "_toc.yml") if not p.startswith(REFERENCE) or p in OF_THE_REFERENCE]


@contextmanager
def served(folder: Path) -> Iterator[dict[str, str]]:
    """The folder's address by scheme, ``http`` and ``file``, as long as the block lasts."""
    with serving.served(folder) as address:
        yield {"http": address, "file": folder.as_uri()}


def page_of(*widgets: Explorable, theme: str | None = None, head: str = "") -> str:
    """A page in the manner of the book: a language, a theme, and each widget's HTML."""
    named = f' data-theme="{theme}"' if theme else ""
    # The empty icon keeps a browser from asking the server for one.
    return "\n".join(
        (
            f'<!doctype html><html lang="en-GB"{named}><head><meta charset="utf-8"><title>Explorables</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">',
            f"{head}</head><body><main>",
            *(f"<section>{widget.static_html()}</section>" for widget in widgets),
            "</main></body></html>",
        )
    )


# Every text on the page whose contrast with what lies behind it is below the bound, as [text, ratio].
LOW_CONTRAST = """(bound) => {
  const parse = (colour) => {
    // rgb(255 0 0 / 1), or what color-mix() gives: color(srgb 1 0 0 / 1)
    const [r, g, b, a = 1] = colour.replace("color(srgb", "(").match(/[\\d.]+/g).map(Number);
    const most = colour.startsWith("color(srgb") ? 255 : 1;
    return { r: r * most, g: g * most, b: b * most, a };
  };
  const luminance = ({ r, g, b }) => {
    const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (node) => {
    for (let box = node; box; box = box.parentElement) {
      const colour = parse(getComputedStyle(box).backgroundColor);
      if (colour.a === 1) return colour;
      if (colour.a > 0) throw new Error(`half-transparent background on ${box.className}`);
    }
    return { r: 255, g: 255, b: 255 };
  };
  const found = [];
  let checked = 0;
  for (const node of document.querySelectorAll(".d2lrnn-widget *")) {
    const texts = [...node.childNodes].filter((child) => child.nodeType === Node.TEXT_NODE && child.data.trim());
    const value = node.matches("input[type=text]") ? node.value : texts.map((text) => text.data).join("");
    if (!value || !node.checkVisibility() || node.matches("script, style, title, desc")) continue;
    const style = getComputedStyle(node);
    const colour = parse(node instanceof SVGElement ? style.fill : style.color);
    const [light, dark] = [luminance(colour), luminance(behind(node))].sort((a, b) => b - a);
    checked += 1;
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < bound) found.push([value, Number(ratio.toFixed(2))]);
  }
  return { checked, found };
}"""


# How often the answers of a step ask for the guess, counted in `urges`: a busy machine may miss the motion itself.
COUNT_URGES = """() => {
  const { animate } = Element.prototype;
  globalThis.urges = 0;
  Element.prototype.animate = function (...how) {
    if (this.matches(".d2lrnn-answers")) urges += 1;
    return animate.apply(this, how);
  };
}"""


# Section by section, as a reader would: what comes on screen is laid out and looked after.
SCROLL_THROUGH = """async () => {
  const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  await document.fonts.ready;
  for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight) {
    scrollTo(0, y);
    await drawn();
  }
  await Promise.all([...document.querySelectorAll("main img")].map((image) => {
    image.loading = "eager";
    return image.complete || new Promise((done) => { image.onload = image.onerror = done; });
  }));
  scrollTo(0, 0);
  await drawn();
}"""


def settle(page: Page) -> None:
    """Wait for everything, however far down the page."""
    page.evaluate(SCROLL_THROUGH)
