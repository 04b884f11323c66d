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

from visits import FOLDER, ON_A_PHONE, Visit
from watching import watched_page

pytestmark = pytest.mark.browser

MOST_BYTES = 700_000
MOST_FURNITURE_BYTES = 325_000
MOST_PLAY_BYTES = 285_000  # the page of all explorables, with everything that it loads
MOST_THREAD_MS = 700  # from an empty tab to the last explorable alive

# What stands in the page itself, by its hash: styles, and blocks that the build has not moved to a file.
INLINE = re.compile(r'<(style|script)\b[^>]*\bdata-hash="(?P<hash>[0-9a-f]+)"[^>]*>(?P<content>[^<]*)</\1>')


@pytest.mark.parametrize("visit", ON_A_PHONE, ids="-".join, indirect=True, scope="session")
def test_a_page_is_light_and_loads_nothing_twice(book: Path, visit: Visit) -> None:
    source = (book / f"{visit.name}.html").read_text(encoding="utf-8")
    asked = Counter(re.findall(rf'<script src="(?:\.\./)*{FOLDER}(\w+\.js)"></script>', source))
    inline = [(match["hash"], len(match["content"].encode())) for match in INLINE.finditer(source)]
    filled = Counter(key for key, size in inline if size)
    assert set(asked.values()) <= {1}, f"asked for more than once: {asked}"
    assert set(filled.values()) <= {1}, f"in the page more than once: {filled}"
    assert not filled.keys() & {file.removesuffix(".js") for file in asked}, "in the page, and in a file as well"

    assert Counter(visit.opening.scripts) == asked, "what the browser loaded is what the page asks for"
    unused = {file.removesuffix(".js") for file in asked} - set(visit.opening.hashes)
    assert not unused, "loaded, and of no use to any explorable here"

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


@pytest.mark.parametrize("visit", ON_A_PHONE, ids="-".join, indirect=True, scope="session")
def test_a_page_opens_at_once(visit: Visit) -> None:
    furniture = visit.opening.furniture
    assert sum(furniture.values()) < MOST_FURNITURE_BYTES, sorted(furniture.items(), key=lambda item: -item[1])
    assert not any("mathjax" in path or "fontawesome.js" in path for path in furniture)
    assert visit.opening.thread_ms < MOST_THREAD_MS
