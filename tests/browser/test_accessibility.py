"""axe-core on every page of the built book, light and dark: nothing serious and nothing critical."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from visits import ON_A_LAPTOP, Visit, ask_axe
from watching import watched_page

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("visit", ON_A_LAPTOP, ids="-".join, indirect=True, scope="session")
def test_axe_finds_nothing_grave(visit: Visit) -> None:
    assert visit.axe["light"].passes > 5 and visit.axe["dark"].passes > 0, "axe has looked at nothing"
    assert visit.axe["light"].grave == []
    assert visit.axe["dark"].grave == []


# Faults beside what axe is not to look at: a formula wider than its box, and code.
FAULTS = """<!doctype html><html lang="en" data-theme="light"><title>Faults</title>
<style>
  body { background: #fff; color: #000; } .katex { display: block; white-space: nowrap; }
  .katex-display { display: block; overflow-x: auto; width: 50px; }
</style><main><h1>Faults</h1>
<p>A formula <span class="katex"><b>x</b></span> <i style="color: #aaa">and pale words</i></p>
<div class="katex-display"><span class="katex"><span>a wide formula a wide formula</span></span></div>
<div class="highlight"><pre><span>code</span></pre></div><p style="color: #aaa">pale after code</p>
<button></button></main>"""


def test_axe_finds_faults_beside_formulas_and_code_and_leaves_the_page_as_it_was(browser: Browser) -> None:
    with watched_page(browser) as (page, _):
        page.set_content(FAULTS)
        before = page.content()
        found = ask_axe(page)
        assert page.content() == before
    about = sorted(rule for rule, _ in found["light"].grave)
    assert about == ["button-name", "color-contrast", "color-contrast", "scrollable-region-focusable"]
    assert [rule for rule, _ in found["dark"].grave] == ["color-contrast"] * 2
