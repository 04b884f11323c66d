"""axe-core on every page of the built book, light and dark: nothing serious and nothing critical."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from pages import PAGES, settle
from watching import watched_page

pytestmark = pytest.mark.browser

# Thousands of spans: what a reader hears of a formula is KaTeX's business, and the colours of code are those of a theme
# made for contrast.
MOST_OF_IT = {"exclude": [[".katex"], [".highlight"]]}
# What is far from the screen is not laid out, and what is not laid out axe can't judge.
LAY_OUT_ALL = "section { content-visibility: visible !important; }"
GRAVE = {"serious", "critical"}


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_grave(browser: Browser, addresses: dict[str, str], name: str) -> None:
    with watched_page(browser) as (page, _):
        page.goto(f"{addresses['file']}/{name}.html")
        page.wait_for_function(
            "() => [...document.querySelectorAll('.d2lrnn-widget')].every((widget) => widget.dataset.ready === '1')"
        )
        settle(page)
        page.add_style_tag(content=LAY_OUT_ALL)
        for theme in ("light", "dark"):
            page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
            page.wait_for_timeout(600)  # colours glide from one theme to the other
            found = Axe().run(page, context=MOST_OF_IT, options={"resultTypes": ["violations"]}).response
            assert len(found["passes"]) > 5, "axe has looked at nothing"
            grave = [
                (violation["id"], node["html"][:120])
                for violation in found["violations"]
                if violation["impact"] in GRAVE
                for node in violation["nodes"]
            ]
            assert grave == [], theme
