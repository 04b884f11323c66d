"""Links lead to the figures: from *Play*, from the top of a lesson, from another site."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from sphinx_external_toc.parsing import parse_toc_yaml

from d2lrnn import widgets
from pages import settle
from watching import watched_page

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parent.parent.parent
NAMES = [name for name in widgets.__all__ if name != "Explorable"]
PAGES = [page for page in parse_toc_yaml(ROOT / "_toc.yml") if page.startswith("chapters/")]
LESSONS = [page for page in PAGES if not any(page.startswith(f"{other}_") for other in PAGES)]
WIDTHS = {1280: 900, 390: 844}
# Everything that could still move the page is there, and for half a second nothing has.
AT_REST = """async () => {
  const alive = () => [...document.querySelectorAll(".d2lrnn-widget")].every((e) => e.dataset.ready === "1");
  const later = () => new Promise((done) => setTimeout(() => requestAnimationFrame(done), 50));
  await document.fonts.ready;
  let [last, since] = ["", performance.now()];
  for (const end = performance.now() + 20_000; performance.now() < end; await later()) {
    const now = `${document.readyState} ${alive()} ${scrollY} ${document.documentElement.scrollHeight}`;
    if (now !== last) [last, since] = [now, performance.now()];
    else if (now.startsWith("complete true") && performance.now() - since > 500) return;
  }
  throw new Error("the page does not come to rest");
}"""
TOP = "(e) => e.getBoundingClientRect().top"


def is_on_top(page: Page, name: str) -> None:
    figure = page.locator(f'.d2lrnn-widget[data-widget="{name}"][data-ready="1"]').first
    expect(figure).to_be_attached(timeout=20_000)
    page.evaluate(AT_REST)
    top = figure.evaluate(TOP)
    at_the_end = page.evaluate("scrollY + innerHeight >= document.documentElement.scrollHeight - 2")
    assert -2 <= top <= 80 or (at_the_end and top >= 0), f"{name} is at {top}"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_a_tile_leads_to_its_figure(browser: Browser, addresses: dict[str, str], name: str, width: int) -> None:
    with watched_page(browser, width=width, height=WIDTHS[width]) as (page, record):
        page.goto(f"{addresses['file']}/book/play.html")
        tile = page.locator(f'.hs-tile > a[href*="#explore={name}"]').filter(visible=True)
        tile.first.click()
        is_on_top(page, name)
        assert record.errors == []


@pytest.mark.parametrize("width", WIDTHS)
def test_a_link_lands_on_its_figure_in_the_state_that_it_names(
    browser: Browser, addresses: dict[str, str], width: int
) -> None:
    with watched_page(browser, width=width, height=WIDTHS[width]) as (page, record):
        page.goto(f"{addresses['http']}/chapters/06_perplexity.html#explore=SurpriseMap&text=quixotl")
        is_on_top(page, "SurpriseMap")
        controls = page.locator('[data-widget="SurpriseMap"] :is(input, textarea)')
        assert "quixotl" in controls.evaluate_all("(all) => all.map((e) => e.value)")
        assert record.errors == []


@pytest.mark.parametrize("width", WIDTHS)
def test_the_top_of_a_lesson_leads_to_its_figure(browser: Browser, addresses: dict[str, str], width: int) -> None:
    ways = 0
    with watched_page(browser, width=width, height=WIDTHS[width]) as (page, record):
        for lesson in LESSONS:
            page.goto(f"{addresses['file']}/{lesson}.html")
            way = page.locator("a.hs-to-figure")
            assert way.count() == min(1, page.locator(".d2lrnn-widget").count()), lesson
            if way.count():
                name = way.get_attribute("href").removeprefix("#explore=")
                expect(page.locator(f'.d2lrnn-widget[data-widget="{name}"][data-ready="1"]')).to_be_attached()
                assert way.evaluate(TOP) < WIDTHS[width] / 2, "after the time, on the first screen"
                way.click()
                is_on_top(page, name)
                ways += 1
        assert record.errors == []
    assert ways >= 8


@pytest.mark.parametrize("width", WIDTHS)
def test_the_first_page_has_a_figure_in_sight_and_leads_to_play(
    browser: Browser, addresses: dict[str, str], width: int
) -> None:
    with watched_page(browser, width=width, height=WIDTHS[width]) as (page, _):
        page.goto(f"{addresses['file']}/book/index.html")
        glimpse = page.locator('.d2lrnn-widget[data-ready="1"]')
        expect(glimpse).to_be_attached()
        box = glimpse.bounding_box()
        assert box["y"] + (box["height"] if width == 1280 else 100) <= WIDTHS[width]
        page.get_by_role("link", name="Play").filter(visible=True).last.click()
        expect(page.locator(".hs-tile")).to_have_count(len(NAMES))


def test_the_pictures_of_play_move_once_and_not_for_those_who_want_none(
    browser: Browser, addresses: dict[str, str]
) -> None:
    running = "() => document.getAnimations().length"
    with watched_page(browser) as (page, _):
        page.goto(f"{addresses['file']}/book/play.html")
        page.wait_for_function(f"({running})() > 5")
        page.wait_for_function(f"({running})() === 0")
        page.wait_for_function("document.querySelector('.hs-seen') === null")
        page.locator(".hs-tile").first.hover()
        page.wait_for_function(f"({running})() > 3")  # four bars
        page.emulate_media(reduced_motion="reduce")
        page.reload()
        page.locator(".hs-tile").first.hover()
        page.wait_for_timeout(600)
        assert page.evaluate(running) == 0


FRAMED = '<!DOCTYPE html><title>Slides</title><body style="margin: 0">{line}</body>'


@pytest.mark.parametrize("name", NAMES)
def test_the_line_to_copy_embeds_a_page_that_fills_its_frame(
    browser: Browser, addresses: dict[str, str], tmp_path: Path, name: str
) -> None:
    with watched_page(browser, width=720) as (page, record):
        page.goto(f"{addresses['http']}/book/play.html")
        tile = page.locator(".hs-tile", has=page.locator(f'[href*="#explore={name}"]')).filter(
            has=page.locator(f'[href$="explorables/{name}.html"]')
        )
        tile.locator("summary").click()
        line = tile.locator("pre").inner_text()
        (tmp_path / "slides.html").write_text(FRAMED.format(line=line), encoding="utf-8")
        page.goto((tmp_path / "slides.html").as_uri())
        frame = page.frame_locator("iframe")
        figure = frame.locator('.d2lrnn-widget[data-ready="1"]')
        expect(figure).to_be_attached()
        figure.evaluate("(e) => new Promise((resolve) => setTimeout(resolve, 500))")  # until what it drew has its size
        box, outer = figure.bounding_box(), page.locator("iframe").bounding_box()
        assert box["width"] >= outer["width"] - 1, "give the tile in book/play.md a greater height"
        assert outer["height"] - 1 <= box["height"] <= outer["height"] + 1

        light = figure.evaluate("(e) => getComputedStyle(e).backgroundColor")
        page.emulate_media(color_scheme="dark")
        assert figure.evaluate("(e) => getComputedStyle(e).backgroundColor") != light
        page.goto(f"{addresses['file']}/explorables/{name}.html?theme=light")
        alone = page.locator('.d2lrnn-widget[data-ready="1"]')
        assert alone.evaluate("(e) => getComputedStyle(e).backgroundColor") == light
        assert page.evaluate("[document.documentElement.lang, document.title.length > 10]") == ["en", True]
        page.set_viewport_size({"width": 320, "height": 500})
        page.wait_for_function("document.documentElement.scrollWidth <= 320")
        assert record.errors == [] and record.outside == []


def test_the_list_of_contents_follows_the_reader(browser: Browser, addresses: dict[str, str]) -> None:
    with watched_page(browser, height=420) as (page, _):  # so low that the list scrolls in itself
        page.goto(f"{addresses['file']}/{LESSONS[0]}.html")
        settle(page)
        links = page.locator(".bd-sidebar-secondary a.nav-link")
        assert links.count() > 8
        for share in (0.2, 0.95, 0.6, 0.05, 1):
            page.evaluate("(share) => scrollTo(0, share * document.documentElement.scrollHeight)", share)
            page.wait_for_timeout(500)
            here = page.evaluate(
                """() => [...document.querySelectorAll(".bd-sidebar-secondary a.nav-link")]
                  .filter((a) => document.getElementById(a.hash.slice(1)).getBoundingClientRect().top < innerHeight / 3)
                  .at(-1)?.hash"""
            )
            active = page.locator(".bd-sidebar-secondary a.nav-link.active")
            if here is None:
                expect(active).to_have_count(0)
                continue
            expect(active).to_have_count(1)
            assert active.get_attribute("href") == here
            expect(active).to_be_in_viewport(ratio=0.9)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_ends_with_its_footer_and_nothing_hangs_over_it(
    browser: Browser, addresses: dict[str, str], width: int
) -> None:
    with watched_page(browser, width=width, height=WIDTHS[width]) as (page, _):
        for lesson in LESSONS[::3]:
            page.goto(f"{addresses['file']}/{lesson}.html")
            settle(page)
            for _ in range(3):  # the last sections are laid out on arrival
                page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
                page.wait_for_timeout(150)
            bottom = page.locator("footer.bd-footer").evaluate("(e) => e.getBoundingClientRect().bottom")
            assert abs(bottom - WIDTHS[width]) < 4, lesson
            page.mouse.wheel(0, -600)  # upwards: now the theme shows its button
            page.wait_for_timeout(300)
            if width == 390:
                assert page.locator("#pst-back-to-top").is_hidden()
