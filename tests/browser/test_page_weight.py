"""What a page's explorables weigh: scripts, weights, texts and styles, before compression; and nothing of it twice."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from sphinx_external_toc.parsing import parse_toc_yaml

from watching import watched_page

pytestmark = pytest.mark.browser

PAGES = list(parse_toc_yaml(Path(__file__).resolve().parent.parent.parent / "_toc.yml"))
MOST_BYTES = 700_000

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
