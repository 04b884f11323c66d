"""The windows explorable on a page without a kernel: what it shows is what Python cuts, and nothing typed breaks it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import Windows
from pages import LOW_CONTRAST, page_of, served
from watching import Record, watched_page

pytestmark = pytest.mark.browser

HOSTILE = ["", "</script><img src=x>", "'\"&amp;{k}"]
HOSTILE += ["👩\u200d💻👩", "\u0000\u0007\u202e", "e\u0301" * 30, "x" * 100_000]

# The arrays as they stand on the page: [["X of row 0", "Y of row 0"], ...].
ARRAYS = """(e) => [...e.querySelectorAll(".win-table")].map((table) =>
  [...table.rows].map((row) => [...row.cells].slice(1).map((cell) => cell.textContent)))"""


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=760, height=1000) as (page, record):
        yield page, record
        assert record.errors == [] and record.outside == []


def show(page: Page, folder: Path, *widgets: Windows, address: str | None = None, **arguments: str) -> Locator:
    (folder / "page.html").write_text(page_of(*widgets, **arguments), encoding="utf-8")
    page.goto(f"{address or folder.as_uri()}/page.html")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(len(widgets))
    return page.locator(".d2lrnn-widget").first


def choice(widget: Locator, name: str) -> Locator:
    return widget.locator(f".win-{name} select")


def slider(widget: Locator, name: str) -> Locator:
    return widget.get_by_label(name)


def place(widget: Locator) -> Locator:
    return widget.locator(".win-bar .win-caption")


def arrays(widget: Locator) -> list[list[list[str]]]:
    return widget.evaluate(ARRAYS)


def expected(python: Windows) -> list[list[list[str]]]:
    tokens = [token.replace(" ", "␣") for token in python.tokens]
    starts, steps = python.starts[python.minibatch - 1], python.num_steps
    return [[tokens[s : s + steps], tokens[s + 1 : s + steps + 1]] for s in starts]


@pytest.mark.parametrize("scheme", ["http", "file"])
def test_it_mounts_and_answers_keys(opened: tuple[Page, Record], tmp_path: Path, scheme: str) -> None:
    page, _ = opened
    with served(tmp_path) as addresses:
        widget = show(page, tmp_path, Windows(), address=addresses[scheme])
        expect(place(widget)).to_have_text("minibatch 1 of 11")
        expect(widget.locator(".win-state")).to_have_text(["starts from zeros: the epoch begins"] * 2)
        expect(widget.locator(".win-strip .win-badge")).to_have_text(["0", "1"])
        expect(widget.locator(".win-strip .win-now")).to_have_text(["0the tide c", "1pinned ins"])
        assert arrays(widget) == expected(Windows())
        following = widget.get_by_role("button", name="Next")
        following.focus()
        page.keyboard.press("Enter")
        expect(place(widget)).to_have_text("minibatch 2 of 11")
        goes_on = [f"goes on from row {row} of minibatch 1" for row in (0, 1)]
        expect(widget.locator(".win-state")).to_have_text(goes_on)
        expect(widget.locator(".win-strip .win-memory")).to_have_text(["the tide c", "pinned ins"])
        assert arrays(widget) == expected(Windows(minibatch=2))
        slider(widget, "Steps").press("ArrowRight")
        expect(widget.locator(".win-sums")).to_have_text(
            "One epoch: minibatches 10 · pairs read 220 of 239 · never read 19"
        )
        assert arrays(widget) == expected(Windows(num_steps=11, minibatch=2))
        place(widget).locator("xpath=ancestor::label").locator("input").press("End")
        expect(place(widget)).to_have_text("minibatch 10 of 10")
        following.press("Enter")
        expect(place(widget)).to_have_text("minibatch 10 of 10")
        expect(following).to_have_attribute("aria-disabled", "true")
        expect(following).to_be_focused()


def test_the_examples(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows())
    ten = {"source": "numbers", "length": 10, "batch_size": 1, "num_steps": 4}
    d2l = {"source": "numbers", "length": 35, "num_steps": 5}
    shown = {
        "five": (2, Windows(source="row", batch_size=1, num_steps=5)),
        "ten_random": (2, Windows(**ten, sampling="random", seed=68)),
        "ten_sequence": (2, Windows(**ten)),
        "d2l_random": (3, Windows(**d2l, sampling="adjoining", seed=19)),
        "d2l_sequence": (3, Windows(**d2l)),
        "dlfs2": (49, Windows(source="numbers", length=1000)),
    }
    for name, (count, python) in shown.items():
        choice(widget, "example").select_option(name)
        expect(place(widget)).to_have_text(f"minibatch 1 of {count}")
        assert arrays(widget) == expected(python), name
        widget.get_by_role("button", name="Next").click()
        python.minibatch = 2
        assert arrays(widget) == expected(python), name
        state = "goes on from row 0 of minibatch 1" if python.carries_state else "starts from zeros: row 0 had stopped"
        expect(widget.locator(".win-state").first).to_contain_text(state)
        expect(choice(widget, "example")).to_have_value(name)
    expect(widget.locator(".win-map-labels small")).to_have_text(["from 0", "from 500"])
    expect(widget.locator(".win-fold").first).to_have_text("… 24 to 487 …")
    assert widget.locator(".win-strip .win-token").count() < 90
    widget.get_by_label("How many").fill("1001")
    expect(place(widget)).to_have_text("minibatch 2 of 50")
    expect(choice(widget, "example")).to_have_value("")


def test_at_random_nothing_is_carried_and_a_new_draw_is_another(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows())
    choice(widget, "sampling").select_option("random")
    expect(widget.get_by_label("Offset")).to_be_hidden()
    assert arrays(widget) == expected(Windows(sampling="random"))
    widget.get_by_role("button", name="Next").click()
    expect(widget.locator(".win-strip .win-memory")).to_have_count(0)
    assert widget.locator(".win-strip .win-before").count() > 0
    read = Windows(sampling="random").num_pairs_read
    expect(widget.locator(".win-sums")).to_contain_text(f"pairs read {read} of 239 · never read {239 - read}")
    widget.get_by_role("button", name="Draw again").click()
    expect(place(widget)).to_have_text("minibatch 1 of 11")
    assert arrays(widget) == expected(Windows(sampling="random", seed=1))


def test_reset_and_links(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows(source="numbers", length=60, num_steps=4))
    choice(widget, "source").select_option("own")
    widget.locator("textarea").fill("Low tide at four. High tide at ten!")
    slider(widget, "Batch size").fill("3")
    slider(widget, "Offset").fill("2")
    widget.get_by_role("button", name="Next").click()
    kept = arrays(widget)
    text = "Low tide at four. High tide at ten!"
    assert kept == expected(Windows(source="own", own_text=text, batch_size=3, num_steps=4, offset=2, minibatch=2))
    widget.get_by_role("button", name="Link to this").click()
    address = page.url
    widget.get_by_role("button", name="Reset").click()
    expect(place(widget)).to_have_text("minibatch 1 of 7")
    assert arrays(widget) == expected(Windows(source="numbers", length=60, num_steps=4))
    page.goto("about:blank")
    page.goto(address)
    expect(place(widget)).to_have_text("minibatch 2 of 2")
    assert arrays(widget) == kept
    expect(widget.locator("textarea")).to_have_value("low tide at four high tide at ten ")
    for state in ('{"minibatch":900,"offset":999,"num_steps":3}', '{"own_text":"<b>","batch_size":99,"num_steps":3}'):
        page.evaluate("(s) => { location.hash = `#explore=Windows.0&state=${encodeURIComponent(s)}` }", state)
        expect(slider(widget, "Steps")).to_have_value("3")
        assert not re.search(r"NaN|undefined|null|\[object", widget.inner_text())
        expect(widget.locator(".win-table")).to_have_count(2)


def test_typed_text_is_data(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows(source="own", batch_size=1, num_steps=4))
    field, trouble = widget.locator("textarea"), widget.locator(".win-trouble")
    for text in HOSTILE:
        field.fill(text)
        used = Windows(source="own", own_text=text[:1000], batch_size=1, num_steps=4)
        if len(used.tokens) < 5:
            expect(trouble).to_contain_text(f"This text has {len(used.tokens)} tokens")
            expect(widget.locator(".win-arrays")).to_be_hidden()
            expect(place(widget)).to_have_text("no minibatch")
        else:
            expect(trouble).to_be_hidden()
            assert arrays(widget) == expected(used), text[:20]
        assert not re.search(r"NaN|undefined|null|\[object", widget.inner_text())
    expect(widget.locator(".win-note")).to_have_text("Only the first 1000 characters are used.")
    assert len(field.input_value()) == 1000
    assert page.locator("img").count() == 0
    length = widget.get_by_role("spinbutton", name="Characters")
    choice(widget, "source").select_option("story")
    for bad in ("", "1", "99999", "2.5"):
        length.fill(bad)
        expect(length).to_have_attribute("aria-invalid", "true")
        length.blur()
        expect(length).to_have_value("240")
    length.fill("30")
    expect(length).not_to_have_attribute("aria-invalid", "true")
    assert arrays(widget) == expected(Windows(length=30, batch_size=1, num_steps=4))


def test_it_says_what_it_shows(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows(source="numbers", length=35, num_steps=5))
    region = widget.get_by_role("status")
    expect(region).to_have_text("")
    widget.get_by_role("button", name="Next").click()
    expect(region).to_have_text(
        "Minibatch 2 of 3. Row 0 reads places 5 to 9 and goes on from row 0 of minibatch 1. "
        "Row 1 reads places 22 to 26 and goes on from row 1 of minibatch 1."
    )
    strip = widget.get_by_role("img", name=re.compile("^The text, 35 tokens"))
    expect(strip).to_have_accessible_name(re.compile("row 0 reads places 5 to 9; row 1 reads places 22 to 26"))
    slider(widget, "Batch size").fill("6")
    slider(widget, "Steps").fill("32")
    expect(region).to_have_text(re.compile("^This text has 35 tokens. A minibatch of 6 . 32 .* needs 193: take"))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast(opened: tuple[Page, Record], tmp_path: Path, theme: str) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Windows(batch_size=6, num_steps=5, minibatch=3), theme=theme)
    widget.locator("summary").click()
    # Tints are mixed colours, which the measure cannot read: take the picture's own, painted on a canvas.
    page.evaluate("""() => { const draw = document.createElement("canvas").getContext("2d");
      const plain = (colour) => { draw.clearRect(0, 0, 1, 1); draw.fillStyle = colour; draw.fillRect(0, 0, 1, 1);
        const [r, g, b] = draw.getImageData(0, 0, 1, 1).data; return `rgb(${r}, ${g}, ${b})`; };
      const tint = (row) => { const probe = document.querySelector(".win").appendChild(document.createElement("i"));
        probe.style.backgroundColor = `var(--win-tint-${row})`; const found = getComputedStyle(probe).backgroundColor;
        probe.remove(); return plain(found); };
      for (const node of document.querySelectorAll(".win-token.win-now, .win-x td")) {
        const row = (node.closest("[class*=win-row-]").className.match(/win-row-(\\d)/))[1];
        node.style.setProperty("background", tint(row), "important"); } }""")
    result = page.evaluate(LOW_CONTRAST, 4.5)
    assert result["checked"] > 80 and result["found"] == []
    # On hatching, the text must be readable on the lines as well.
    page.add_style_tag(content=".win-token.win-never { background: var(--d2lrnn-line) !important }")
    never = widget.locator(".win-strip .win-never").first
    assert never.evaluate("(e) => getComputedStyle(e).backgroundColor") != "rgba(0, 0, 0, 0)"
    assert page.evaluate(LOW_CONTRAST, 3.9)["found"] == []


def test_a_page_may_clear_its_own_tables(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    rule = "main table :is(th, td) { background: none !important; padding: 0.45rem 0.8rem }"
    widget = show(page, tmp_path, Windows(), head=f"<style>{rule}</style>")
    look = "(e) => [getComputedStyle(e).backgroundColor, getComputedStyle(e).paddingTop]"
    first, second = (widget.locator(".win-x td:last-child").nth(row).evaluate(look) for row in (0, 1))
    assert first[0] != second[0] and first[0] != "rgba(0, 0, 0, 0)" and float(first[1][:-2]) < 3


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_phone(browser: Browser, tmp_path: Path, theme: str) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    page = context.new_page()
    head = "<style>body { margin: 0 } main { padding: 0 16px }</style>"
    widget = show(page, tmp_path, Windows(), head=head, theme=theme)
    for name in ("story", "dlfs2", "d2l_random", "five"):
        choice(widget, "example").select_option(name)
        if name == "dlfs2":
            slider(widget, "Steps").fill("32")
        assert page.evaluate("document.documentElement.scrollWidth") == 360, name
        clipped = widget.evaluate(
            "(e) => [...e.querySelectorAll('.d2lrnn-view *')].filter((x) => x.getBoundingClientRect().right >"
            " e.getBoundingClientRect().right + 0.5 && !x.closest('.d2lrnn-hidden, .win-rows')).map((x) => x.className)"
        )
        assert clipped == [], name
        # Only a box that scrolls is a stop for the keyboard.
        wide = name == "dlfs2"
        expect(widget.locator(".win-rows[tabindex='0']")).to_have_count(1 if wide else 0)
        assert widget.locator(".win-rows").evaluate("(e) => e.scrollWidth > e.clientWidth + 1") == wide
    sizes = widget.evaluate(
        "(e) => [...e.querySelectorAll('button, input:not(.win-bar input), select')].filter((x) => x.checkVisibility())"
        ".map((x) => x.getBoundingClientRect()).map((box) => [box.width, box.height])"
    )
    assert all(width >= 44 and height >= 36 for width, height in sizes), sizes
    bar = widget.locator(".win-bar input").bounding_box()
    assert bar["height"] >= 24
    context.close()


def test_control_and_effect_share_a_phone_screen(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    widget = show(page, tmp_path, Windows(), head="<style>body { margin: 0 }</style>")
    span = "(e) => e.querySelector('.win-arrays').getBoundingClientRect().bottom - e.getBoundingClientRect().top"
    assert widget.evaluate(span) <= 844
    context.close()
