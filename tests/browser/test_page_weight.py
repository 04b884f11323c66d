"""What a page weighs, before compression, and how long it keeps the processor until it can be used.

Of explorables: scripts, weights, texts and styles, and nothing of it twice. Of the book: what the theme and the
formulas load.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from pages import PAGES
from watching import watched_page

pytestmark = pytest.mark.browser

MOST_BYTES = 700_000
MOST_FURNITURE_BYTES = 450_000
MOST_PLAY_BYTES = 450_000  # the page of all explorables, with everything that it loads
MOST_THREAD_MS = 700  # from an empty tab to the last explorable alive

FOLDER = "_static/d2lrnn/"
# What stands in the page itself, by its hash: styles, and blocks that the build has not moved to a file.
INLINE = re.compile(r'<(style|script)\b[^>]*\bdata-hash="(?P<hash>[0-9a-f]+)"[^>]*>(?P<content>[^<]*)</\1>')
LOADED = f"""() => performance.getEntriesByType("resource").map((entry) => entry.name)
  .filter((name) => name.includes("{FOLDER}")).map((name) => name.split("/").at(-1))"""
HASHES = """() => [...document.querySelectorAll(".d2lrnn-widget > script[data-hash]")].map((e) => e.dataset.hash)"""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_light_and_loads_nothing_twice(
    browser: Browser, book: Path, addresses: dict[str, str], name: str
) -> None:
    source = (book / f"{name}.html").read_text(encoding="utf-8")
    asked = Counter(re.findall(rf'<script src="(?:\.\./)*{FOLDER}(\w+\.js)"></script>', source))
    inline = [(match["hash"], len(match["content"].encode())) for match in INLINE.finditer(source)]
    filled = Counter(key for key, size in inline if size)
    assert set(asked.values()) <= {1}, f"asked for more than once: {asked}"
    assert set(filled.values()) <= {1}, f"in the page more than once: {filled}"
    assert not filled.keys() & {file.removesuffix(".js") for file in asked}, "in the page, and in a file as well"

    with watched_page(browser) as (page, record):
        page.goto(f"{addresses['http']}/{name}.html")
        page.wait_for_function(
            "() => [...document.querySelectorAll('.d2lrnn-widget')].every((widget) => widget.dataset.ready === '1')"
        )
        assert Counter(page.evaluate(LOADED)) == asked, "what the browser loaded is what the page asks for"
        used = set(page.evaluate(HASHES))
        assert {file.removesuffix(".js") for file in asked} <= used, "loaded, and of no use to any explorable here"
        assert record.errors == []

    sizes = {file: (book / FOLDER / file).stat().st_size for file in asked}
    total = sum(sizes.values()) + sum(size for _, size in inline)
    assert bool(asked) == ('class="d2lrnn-widget"' in source)
    assert total < MOST_BYTES, f"{total} bytes: {sizes}"


EVERYTHING = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .map((entry) => [new URL(entry.name).pathname, entry.decodedBodySize])"""


def test_play_is_light(browser: Browser, addresses: dict[str, str]) -> None:
    with watched_page(browser) as (page, _):
        page.goto(f"{addresses['http']}/book/play.html")
        page.wait_for_function("document.readyState === 'complete'")
        sizes = dict(page.evaluate(EVERYTHING))
    assert sum(sizes.values()) < MOST_PLAY_BYTES, sorted(sizes.items(), key=lambda item: -item[1])


# Everything but the page itself, its pictures and what its explorables carry: the name and size of each.
FURNITURE = f"""() => performance.getEntriesByType("resource")
  .filter((entry) => entry.initiatorType !== "img" && !entry.name.includes("{FOLDER}") && entry.decodedBodySize)
  .map((entry) => [new URL(entry.name).pathname, entry.decodedBodySize])"""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_at_once(browser: Browser, addresses: dict[str, str], name: str) -> None:
    with watched_page(browser, width=390, height=844) as (page, _):
        # The thread's own time: waiting for a core on a busy machine is not counted.
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(f"{addresses['http']}/{name}.html")
        page.wait_for_function(
            "() => [...document.querySelectorAll('.d2lrnn-widget')].every((widget) => widget.dataset.ready === '1')"
        )
        metrics = {entry["name"]: entry["value"] for entry in session.send("Performance.getMetrics")["metrics"]}
        furniture = dict(page.evaluate(FURNITURE))
    assert sum(furniture.values()) < MOST_FURNITURE_BYTES, sorted(furniture.items(), key=lambda item: -item[1])
    assert not any("mathjax" in path or "fontawesome.js" in path for path in furniture)
    assert metrics["TaskDuration"] * 1000 < MOST_THREAD_MS
