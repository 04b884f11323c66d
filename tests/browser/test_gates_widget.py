"""The explorable Gates on a page without a kernel: letters, units, the forget bias, the guided steps."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import Gates
from pages import COUNT_URGES, page_of
from watching import Record, watched_page

pytestmark = pytest.mark.browser

SPACES = (4, 8, 12)  # of the default text
FOLLOWED = 7  # the h of "the", of which the first step asks


def following(**given: object) -> Gates:
    """A figure in which a letter is followed, this one if no other is named."""
    return Gates(**{"place": FOLLOWED, **given})


def at_spaces(gate: float) -> list[float]:
    return [gate if letter == " " else -1.0 for letter in following().text]


def show(page: Page, folder: Path, fragment: str = "", **given: object) -> Locator:
    (folder / "page.html").write_text(page_of(following(**given)), encoding="utf-8")
    page.goto(f"{folder.as_uri()}/page.html{fragment}")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(1)
    return page.locator(".d2lrnn-widget")


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=390, height=900) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        yield page, record
        assert record.errors == [] and record.outside == []


@pytest.fixture
def widget(opened: tuple[Page, Record], tmp_path: Path) -> Locator:
    return show(opened[0], tmp_path)


FOLLOW = """(fragment) => new Promise((done) => {
  addEventListener("hashchange", () => {
    dispatchEvent(new Event("wheel")); // a link's scrolling ends
    setTimeout(done);
  }, { once: true });
  location.hash = fragment;
})"""


def resize(page: Page, width: int) -> None:
    """Another width, at which the text may break elsewhere."""
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def link(page: Page, **given: object) -> None:
    """Set the open figure as a link does."""
    values = {"place": FOLLOWED, **given}
    pairs = (f"&{key}={quote(x if isinstance(x, str) else json.dumps(x))}" for key, x in values.items())
    page.evaluate(FOLLOW, f"#explore=Gates{''.join(pairs)}")


def says(widget: Locator, **given: object) -> None:
    """The line on top, the picture's name and the surprisal are Python's."""
    python = following(**given)
    told = re.escape(f"“{python.text}”. {python._now()} ")
    expect(widget.locator(".gates-strips")).to_have_attribute("aria-label", re.compile(told))
    if len(python.text) > 1:
        expect(widget.locator(".d2lrnn-now")).to_have_text(python._now())
        choices = 2**python.bits
        shown = ">1\u202f000" if choices > 1000 else f"{choices:.{1 if choices < 100 else 0}f}"
        expect(widget.locator(".gates-perplexity b")).to_have_text(shown)


def shares(widget: Locator, kind: str) -> list[float]:
    """What the columns of the unit show: the `gate`, or its `own` value as learned."""
    cells = widget.locator(".gates-fader")
    return [float(x) for x in cells.evaluate_all(f"(all) => all.map((e) => e.style.getPropertyValue('--{kind}'))")]


def bars(widget: Locator) -> list[float]:
    """The numbers as drawn, above or under 0."""
    drawn = """(all) => all.map((e) => {
      const { top, bottom } = getComputedStyle(e, "::before");
      const zero = Number(e.closest(".gates-lines").style.getPropertyValue("--zero"));
      return 2 * zero - 1 + (parseFloat(bottom) - parseFloat(top)) / e.getBoundingClientRect().height;
    })"""
    return widget.locator(".gates-cell").evaluate_all(drawn)


def parts(widget: Locator, kind: str) -> list[tuple[float, float]]:
    """Where the `kept` or the `added` part of each number ends: its lower and its upper end, above or under 0."""
    drawn = """(all) => all.map((e) => {
      const { top, bottom } = getComputedStyle(e);
      const zero = Number(e.closest(".gates-lines").style.getPropertyValue("--zero"));
      const high = e.parentElement.getBoundingClientRect().height;
      return [zero - 1 + parseFloat(bottom) / high, zero - parseFloat(top) / high];
    })"""
    return [(low, high) for low, high in widget.locator(f".gates-{kind}").evaluate_all(drawn)]


def kept(widget: Gates) -> list[float]:
    """What the gate keeps of the old number at each letter."""
    return [a * b for a, b in zip([0.0, *numbers(widget)], widget.forget_gates[:, widget.unit].tolist(), strict=False)]


def short(value: float) -> str:
    """One decimal, more where that would be 0, a true minus."""
    text = next(filter(float, (f"{value:.{count}f}" for count in (1, 2, 3))), "0.0")
    return text.replace("-", "\u2212")


def band(widget: Locator) -> list[tuple[float, float]]:
    """How high the band of what is left is drawn at each letter: before its gate, and after."""
    drawn = """(all) => all.map((e) => {
      const points = getComputedStyle(e, "::before").clipPath.match(/[-.\\d]+(?=%?[,)])/g).map(Number);
      return [1 - points[0] / 100, 1 - points[2] / 100];
    })"""
    return [(come, left) for come, left in widget.locator(".gates-band").evaluate_all(drawn)]


def numbers(widget: Gates) -> list[float]:
    """The number of the unit after each letter."""
    return widget._read()["cell"][:, widget.unit].tolist()


def shows(widget: Locator, python: Gates, whole: float) -> None:
    """The picture is that of Python, the numbers on a scale of `whole` from end to end."""
    expect(widget.locator(".gates-number")).to_have_text([short(value) for value in numbers(python)])
    assert bars(widget) == pytest.approx([value / whole for value in numbers(python)], abs=0.001)
    ends = zip(kept(python), numbers(python), strict=True)
    for drawn, part, end in zip(
        zip(parts(widget, "kept"), parts(widget, "added"), strict=True), *zip(*ends, strict=True), strict=True
    ):
        for one, (start, stop) in zip(drawn, ((0.0, part), (part, end)), strict=True):
            assert one == pytest.approx(sorted((start / whole, stop / whole)), abs=0.001)
    left = [0.0] * python._at + python._left()
    come = [*left[: python._at], 1.0, *left[python._at : -1]]
    for drawn, wanted in zip(zip(*band(widget), strict=True), (come, left), strict=True):
        assert drawn == pytest.approx(wanted, abs=0.001)


def percent(share: float) -> str:
    if share > 0.99:
        return ">99%" if share < 1 else "100%"
    return "<1%" if share < 0.01 else f"{share:.0%}"


def button(widget: Locator, name: str) -> Locator:
    return widget.get_by_role("button", name=name, exact=True)


def letter(widget: Locator) -> Locator:
    return widget.get_by_role("slider", name="letter", exact=True)


def gate(widget: Locator) -> Locator:
    return widget.get_by_role("slider", name="gate", exact=True)


def drag_gate(page: Page, widget: Locator, i: int, to: float) -> None:
    """Drag the grip of a gate from where it is."""
    fader = widget.locator(".gates-fader").nth(i)
    fader.scroll_into_view_if_needed()
    grip, lane = fader.locator(".gates-grip").bounding_box(), fader.locator(".gates-band").bounding_box()
    now = float(fader.evaluate("(e) => e.style.getPropertyValue('--gate')"))
    travel = lane["y"] - fader.bounding_box()["y"] - grip["height"]
    x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 3  # not its middle: it does not jump
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 3, y + travel * (now - to), steps=4)
    page.mouse.up()


def open_folds(widget: Locator) -> None:
    for summary in widget.locator("summary").all():
        summary.click()


def unit(widget: Locator) -> Locator:
    return widget.get_by_role("slider", name="unit", exact=True)


def bias(widget: Locator) -> Locator:
    return widget.get_by_role("slider", name=re.compile("Push the gates"))


def press_at(page: Page, node: Locator, x: float, y: float) -> None:
    node.scroll_into_view_if_needed()
    box = node.bounding_box()
    page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])


def test_it_opens_with_the_number_and_its_rule_and_no_letter(opened: tuple[Page, Record], tmp_path: Path) -> None:
    widget = show(opened[0], tmp_path, place=Gates().place)
    said = "Unit 29: above 0 until a word\u2019s first vowel, then below 0: true at 18 of 18."
    expect(widget.locator(".d2lrnn-now")).to_have_text(said)
    says(widget, place=0)
    python = Gates()
    assert bars(widget) == pytest.approx([value / 3 for value in numbers(python)], abs=0.001)
    assert shares(widget, "gate") == pytest.approx(python.forget_gates[:, 29].tolist(), abs=0.0006)
    for row in widget.locator(".gates-part").all():
        labels = [" ".join(name.split()) for name in row.locator(".gates-labels > span").all_text_contents()]
        assert labels == ["guess", "text", "keep", "gate", "forget", "", "no vowelunit 29vowel"]
    seen = "(all) => all.filter((e) => getComputedStyle(e).visibility === 'visible').length"
    assert widget.locator(".gates-band, .gates-share").evaluate_all(seen) == 0, "no letter is followed"
    expect(widget.locator(".gates-text-row > .is-chosen")).to_have_count(0)
    expect(widget.locator(".gates-tile.is-before")).to_have_count(0)
    paint = "(all, part) => all.map((e) => getComputedStyle(e, part).backgroundColor)"
    drawn = widget.locator(".gates-cell").evaluate_all(paint, "::before")
    for keys in (".is-rule b:nth-of-type(-n + 2)", ".gates-part:first-child .gates-labels i"):
        named = widget.locator(keys).evaluate_all(paint)
        assert drawn == [named[value < 0] for value in numbers(python)], "the words are the key to the colours"
    for width, least in ((1280, 140), (390, 70), (320, 70)):
        resize(opened[0], width)
        assert widget.locator(".gates-cell").first.bounding_box()["height"] > least, "bars that can be compared"
    idle = widget.locator(".gates-fader").evaluate_all(
        "(all) => all.flatMap((e, i) => e.matches('.is-idle') ? [i] : [])"
    )
    assert idle == [0], "only the first gate has nothing to multiply"
    grips = widget.locator(".gates-grip").all_text_contents()
    assert [i for i, text in enumerate(grips) if text] == list(SPACES)
    expect(letter(widget)).to_have_attribute("aria-valuetext", "no letter")


def test_a_tap_follows_a_letter_and_a_second_lets_it_go(opened: tuple[Page, Record], tmp_path: Path) -> None:
    widget = show(opened[0], tmp_path, place=0)
    tile = widget.locator(".gates-text-row > .gates-tile").nth(6)
    tile.click()
    says(widget)
    tile.click()
    says(widget, place=0)
    letter(widget).press("ArrowRight")
    says(widget, place=1)
    letter(widget).press("ArrowLeft")
    says(widget, place=0)


def test_a_number_is_what_is_kept_and_what_is_added(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, place=0)
    line = widget.locator(".gates-parts")
    expect(line).to_have_text("kept + added = unit 29")
    for place, said in (
        (5, "kept \u22120.75 \u00d7 .01 + added 0.99 = 0.98"),
        (7, "kept 0.82 \u00d7 .67 + added 0.83 = 1.38"),
        (1, "kept 0 \u00d7 .25 + added 0.03 = 0.03"),
    ):
        letter(widget).fill(str(place))
        expect(line).to_have_text(said)
    letter(widget).fill("15")  # two numbers with a minus
    for width in (1280, 390, 320):
        resize(page, width)
        ends = line.evaluate("""(e) => {
          const range = new Range();
          range.selectNodeContents(e);
          return [range.getBoundingClientRect().right, e.parentElement.getBoundingClientRect().right];
        }""")
        assert ends[0] <= ends[1], width
    paint = "(e, part) => getComputedStyle(e, part).backgroundColor"
    for kind in ("kept", "added"):
        key = widget.locator(f".gates-parts > .gates-key-{kind}").evaluate(paint, "::before")
        assert widget.locator(f".gates-{kind}").first.evaluate(paint, None) == key
    sides = """(all) => all.map((e) => [e, ...e.querySelectorAll(".gates-kept, .gates-added")].map((x, i) => {
      const { left, right, width } = getComputedStyle(x, i ? null : "::before");
      return [parseFloat(left), parseFloat(width)];
    }))"""
    for bar, old, own in widget.locator(".gates-cell").evaluate_all(sides):
        assert old[0] + old[1] <= own[0] + 0.1 and own[0] + own[1] < bar[0], "the parts stand before their sum"
        assert bar[1] > 2.5 * own[1], "which is read first"


def test_escape_lets_the_letter_go_and_nothing_covers_the_ring(widget: Locator) -> None:
    letter(widget).press("ArrowRight")
    says(widget, place=8)
    chosen = widget.locator(".gates-text-row > .is-chosen")
    assert chosen.evaluate("(e) => [getComputedStyle(e).outlineStyle, getComputedStyle(e).zIndex]") == ["solid", "1"]
    gate(widget).press("ArrowLeft")
    pointed = widget.locator(".is-pointed")
    assert pointed.evaluate("(e) => [getComputedStyle(e).outlineStyle, getComputedStyle(e).zIndex]") == ["solid", "3"]
    gate(widget).press("Escape")
    says(widget, place=0)
    letter(widget).fill("2")
    letter(widget).press("Escape")
    says(widget, place=0)


def test_the_first_gate_says_why_it_is_pale(opened: tuple[Page, Record], tmp_path: Path) -> None:
    widget = show(opened[0], tmp_path, place=0)
    told = "no number yet, nothing to keep"
    expect(widget.locator(".gates-grip").first).to_have_attribute("title", told)
    expect(widget.locator(".gates-grip[title]")).to_have_count(1)
    for _ in range(SPACES[0]):
        gate(widget).press("ArrowLeft")
    expect(gate(widget)).to_have_attribute("aria-valuetext", f"0.25 at the w of “what”. {told}")


def test_what_did_not_move_stands_back(opened: tuple[Page, Record], tmp_path: Path) -> None:
    gates = [-1.0] * 4 + [0.9]
    widget = show(opened[0], tmp_path, place=0, gates=gates)
    own, now = Gates(), Gates(gates=gates)
    moved = [i for i, (a, b) in enumerate(zip(numbers(own), numbers(now), strict=True)) if abs(a - b) >= 0.05]
    assert 2 < len(moved) < 9
    faders = widget.locator(".gates-fader")
    calm = faders.evaluate_all("(all) => all.flatMap((e, i) => e.matches('.is-calm') ? [i] : [])")
    assert calm == [i for i in range(18) if i not in moved]
    opacity = "(e, part) => Number(getComputedStyle(e, part).opacity)"
    for i, wanted in ((0, (0.7, 0.4)), (4, (1.0, 1.0))):
        cell = faders.nth(i).locator(".gates-cell")
        assert (cell.evaluate(opacity, "::before"), cell.locator(".gates-kept").evaluate(opacity, None)) == wanted
    seen = "(all) => all.flatMap((e, i) => getComputedStyle(e).visibility === 'visible' ? [i] : [])"
    resize(opened[0], 1280)
    assert widget.locator(".gates-number").evaluate_all(seen) == moved
    grips = widget.locator(".gates-grip").all_text_contents()
    assert [i for i, text in enumerate(grips) if text] == [4]
    widget.locator(".gates-back").click()
    expect(widget.locator(".is-calm")).to_have_count(0)


def test_the_rule_is_counted_anew_for_gates_texts_and_units(opened: tuple[Page, Record], tmp_path: Path) -> None:
    widget = show(opened[0], tmp_path, place=0)
    drag_gate(opened[0], widget, 12, 1.2)
    given: dict[str, object] = {"place": 0, "gates": [-1.0] * 12 + [1.0]}
    says(widget, **given)
    expect(widget.locator(".d2lrnn-now")).to_contain_text("true at 15 of 18.")
    expect(widget.locator(".gates-fader.is-held")).to_have_count(1)
    shaded = widget.locator(".is-shaded")
    assert shaded.locator(".gates-number").all_text_contents() == ["\u22120.1", "\u22120.4", "0.01"]
    assert {box.is_visible() for box in shaded.locator(".gates-number").all()} == {True}, "each says why"
    expect(widget.locator(".gates-legend")).to_have_text("Thin frame: as learned. Shaded: against the rule.")
    given = {"place": 0, "unit": 16}
    link(opened[0], **given)
    says(widget, **given)
    expect(widget.locator(".d2lrnn-now")).to_have_text("Unit 16 is above 0 at 18 of 18 places.")
    expect(widget.locator(".gates-labels i")).to_have_count(0)


def test_it_shows_the_numbers_of_python(opened: tuple[Page, Record], tmp_path: Path) -> None:
    widget = show(opened[0], tmp_path, unit=16)
    for unit, left in ((16, ">99%"), (29, "48%")):
        link(opened[0], unit=unit)
        says(widget, unit=unit)
        python = following(unit=unit)
        assert shares(widget, "gate") == pytest.approx(python.forget_gates[:, unit].tolist(), abs=0.0006)
        told = widget.locator(".gates-fader").nth(7)
        expect(widget.locator(".is-told")).to_have_count(1)
        expect(told).to_have_class(re.compile("is-told"))
        expect(told.locator(".gates-share")).to_have_text(left)
    expect(widget.locator(".gates-guesses .is-right")).to_have_count(12)
    expect(widget.locator(".gates-guesses .is-other")).to_have_count(0)
    expect(widget.locator(".gates-head > span").first).to_have_text("12 of 17 guessed right, with spaces")
    for row in widget.locator(".gates-part").all():
        labels = [" ".join(name.split()) for name in row.locator(".gates-labels > span").all_text_contents()]
        assert labels == ["guess", "text", "keep", "gate", "forget", "left of h", "no vowelunit 29vowel"]
    grips = widget.locator(".gates-grip").all_text_contents()
    assert [grips[i] for i in (6, 7, 8, 12)] == [".67", ".48", ".13", ""]
    expect(widget.locator(".d2lrnn-fold[open]")).to_have_count(0)


def signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "\u2212").replace("0.", ".", 1).replace("1.00", "1.0")


def test_what_is_left_of_the_letter_falls_at_each_gate_and_the_number_stands_under_it(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    given: dict[str, object]
    for given, whole in (({}, 3.0), ({"place": 9}, 3.0), ({"unit": 16}, 8.0), ({"gates": at_spaces(1.0)}, 3.0)):
        link(page, **given)
        shows(widget, following(**given), whole)
    own, now = numbers(following()), numbers(following(gates=at_spaces(1.0)))
    other = [i for i, (a, b) in enumerate(zip(own, now, strict=True)) if abs(a - b) >= 0.05]
    assert set(SPACES) < set(other), "thin frames show what was learned"
    found = widget.locator(".gates-cell").evaluate_all(
        "(all) => all.flatMap((e, i) => e.matches('.is-other') ? [i] : [])"
    )
    assert found == other
    was = widget.locator(".gates-was").nth(8)
    assert was.evaluate("(e) => [getComputedStyle(e).borderStyle, e.offsetHeight / e.parentElement.clientHeight]") == [
        "solid",
        pytest.approx(own[8] / 3, abs=0.03),
    ]
    seen = "(all) => all.flatMap((e, i) => getComputedStyle(e).visibility === 'visible' ? [i] : [])"
    at = following()._at
    resize(page, 1280)
    assert widget.locator(".gates-number").evaluate_all(seen) == sorted({at, *other}), "what changed"
    legend = widget.locator(".gates-legend")
    for width in (1280, 390):
        resize(page, width)
        expect(legend).to_be_visible()
        expect(legend).to_have_text("Thin frame: as learned.")
    told, back = legend.bounding_box(), widget.locator(".gates-back").bounding_box()
    assert told["height"] < 20 and told["y"] >= back["y"] + back["height"], "a line of its own on a phone"
    labels = widget.locator(".gates-part:first-child .gates-labels > span").all()
    for label, lane in ((-2, ".gates-band"), (-1, ".gates-cell")):
        name, drawn = labels[label].bounding_box(), widget.locator(lane).first.bounding_box()
        middles = [box["y"] + box["height"] / 2 for box in (name, drawn)]
        assert middles[0] == pytest.approx(middles[1], abs=2), "level with what it names"
    clear = """(all) => all.every((e) => {
      const kinds = ["cell", "number", "own", "grip"];
      const [cell, number, own, grip] = kinds.map((kind) => e.querySelector(`.gates-${kind}`));
      const isUnder = getComputedStyle(own).zIndex === "auto" && getComputedStyle(grip).zIndex === "1";
      return isUnder && number.offsetTop >= cell.offsetTop + cell.offsetHeight;
    })"""
    faders = widget.locator(".gates-fader")
    for width in (1280, 390):
        resize(page, width)
        assert faders.evaluate_all(clear), "no frame strikes through a number"
    link(page)
    expect(legend.locator(":scope > :visible")).to_have_text("Drag a gate, tap a letter.")
    expect(legend).to_have_css("opacity", "1")
    widget.get_by_role("button", name="Is keeping better?").click()
    expect(legend).to_have_css("opacity", "0")  # the gates wait for the guess
    expect(faders.nth(8).locator(".gates-was")).to_have_css("border-style", "none")
    assert widget.locator(".gates-number").evaluate_all(seen) == list(SPACES), "calm at first"


def test_the_letter_has_a_gate_of_its_own_which_acts_on_the_old_number(
    opened: tuple[Page, Record], widget: Locator
) -> None:
    expect(widget.locator(".is-at > .gates-grip")).to_have_text(".67")
    drag_gate(opened[0], widget, 6, -0.2)
    gates = [-1.0] * 6 + [0.0]
    says(widget, gates=gates)
    python = following(gates=gates)
    read = python._read()
    added = (read["input"] * read["candidate"])[6, 29].item()
    assert numbers(python)[6] == pytest.approx(added, abs=1e-6), "nothing is left of the old"
    shows(widget, python, 3.0)


def test_control_and_effect_fit_in_one_phone_screen(widget: Locator) -> None:
    top, slider = widget.bounding_box()["y"], widget.locator(".gates-faders").last.bounding_box()
    assert slider["y"] + slider["height"] - top < 640


def test_an_answered_step_fits_the_screen(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path)
    tops = """(all) => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(
      () => all.map((e) => e.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom]))"""
    for width, height in ((1280, 800), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            for step in range(3):
                page.evaluate("scrollTo(0, 0)")
                widget.locator(".d2lrnn-step-title").nth(step).click()
                widget.locator(".d2lrnn-answers button").first.click()
                expect(widget.locator(".d2lrnn-outcome")).to_be_visible()
                (lead, _), (_, bottom) = widget.locator(".d2lrnn-lead, .d2lrnn-step").evaluate_all(tops)
                assert lead >= 0 and bottom <= height, (width, scheme, step, lead, bottom)
                widget.locator(".d2lrnn-step-title").nth(step).click()


SMALL = (
    {"place": 0},
    {"place": 1},
    {"place": 17},
    {"gates": at_spaces(1.0)},
    {"unit": 16, "gates": [0.0] * 18},
    {"text": "a" * 40},
    {"text": "quick", "bias": -4.0},
)


def test_nothing_stands_over_the_edge_of_a_small_phone(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    resize(page, 320)
    widget = show(page, tmp_path)
    for given in SMALL:
        link(page, **given)
        says(widget, **given)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, given
        edge = "(e) => e.getBoundingClientRect().right"
        rights = widget.locator(".is-fate > .gates-share").evaluate_all(f"(all) => all.map({edge})")
        assert max(rights) <= widget.locator(".gates-lines").evaluate(edge) + 1, given
        names = ".gates-part:first-child .gates-faders > .gates-labels > span:not(:empty)"
        tops = """(all) => all.map((e) => {
          const range = new Range();
          range.selectNodeContents(e);
          return [range.getBoundingClientRect().top, range.getBoundingClientRect().bottom];
        })"""
        meets = [a[1] - b[0] for a, b in pairwise(widget.locator(names).evaluate_all(tops))]
        assert max(meets) <= 2, ("names keep clear of each other", given)
        lefts = widget.locator(".gates-labels :is(span, b, i)").evaluate_all(
            "(all) => all.filter((e) => e.checkVisibility()).map((e) => e.getBoundingClientRect().left)"
        )
        assert min(lefts) >= widget.bounding_box()["x"], given
        meeting = """(e) => {
          const range = new Range();
          range.selectNodeContents(e.querySelector("span"));
          const button = e.querySelector("button");
          const [words, back] = [range, button].map((part) => part.getBoundingClientRect());
          const isMeeting = getComputedStyle(button).visibility === "visible" && words.right > back.left;
          return isMeeting || words.height > back.height;
        }"""
        head = widget.locator(".gates-head")
        assert not head.evaluate(meeting), ("what is said of the guesses keeps clear of the button, in one line", given)


def test_a_letter_is_chosen_by_a_tap_a_drag_and_the_keys(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    text = "kept what it had been given to keep"
    widget = show(page, tmp_path, text=text)  # two lines on a phone
    tiles, guesses = widget.locator(".gates-text-row > .gates-tile"), widget.locator(".gates-guesses > .gates-tile")
    tiles.nth(10).click()
    says(widget, text=text, place=11)
    box = guesses.nth(4).bounding_box()  # below the picture
    page.mouse.move(box["x"] + 3, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 10, box["y"] + 9)
    says(widget, text=text, place=5)
    box = tiles.nth(34).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    says(widget, text=text, place=35)
    letter(widget).press("ArrowLeft")
    says(widget, text=text, place=34)
    letter(widget).fill("1")
    says(widget, text=text, place=1)
    expect(letter(widget)).to_have_attribute(
        "aria-valuetext", re.compile("^the k of “kept”: forget gate 0.62, number ")
    )


def test_the_keys_go_on_from_the_letter_or_the_gate_that_was_dragged(
    opened: tuple[Page, Record], widget: Locator
) -> None:
    page, _ = opened
    widget.locator(".gates-text-row > .gates-tile").nth(3).click()
    page.keyboard.press("ArrowRight")
    says(widget, place=5)
    drag_gate(page, widget, 8, 0.5)
    expect(gate(widget)).to_be_focused()
    outline = "(e) => getComputedStyle(e).outlineStyle"
    assert widget.locator(".is-pointed").evaluate(outline) == "none", "a hand has seen what it moved"
    expect(gate(widget)).to_have_attribute("aria-valuetext", "0.50 at the space after “the”")
    page.keyboard.press("ArrowUp")
    expect(gate(widget)).to_have_attribute("aria-valuetext", "0.51 at the space after “the”")
    assert widget.locator(".is-pointed").evaluate(outline) == "solid"
    page.keyboard.press("ArrowLeft")
    expect(gate(widget)).to_have_attribute("aria-valuetext", re.compile(r"^0\.\d\d at the e of “the”$"))
    page.keyboard.press("End")
    says(widget, place=5, gates=[-1.0] * 7 + [1.0, 0.51])


def test_a_gate_is_dragged_up_and_down(opened: tuple[Page, Record], widget: Locator) -> None:
    page, _ = opened
    back = widget.locator(".gates-back")
    expect(back).to_be_hidden()
    widget.locator(".gates-text-row > .gates-tile").nth(7).click()
    drag_gate(page, widget, 8, 1.2)  # past the top
    gates = [-1.0] * 8 + [1.0]
    says(widget, place=8, gates=gates)
    assert shares(widget, "gate") == pytest.approx(following(gates=gates).forget_gates[:, 29].tolist(), abs=0.0006)
    assert shares(widget, "own") == pytest.approx(following().forget_gates[:, 29].tolist(), abs=0.0006)
    expect(widget.locator(".is-told > .gates-share")).to_have_text("100%")
    expect(widget.locator(".gates-head")).to_contain_text("Now 11 of 17 right (was 12)")
    found = "(all, kind) => all.flatMap((e, i) => e.matches(kind) ? [i] : [])"
    assert widget.locator(".gates-fader").evaluate_all(found, ".is-held") == [8], "a neighbour that is touched stays"
    drag_gate(page, widget, 8, -0.2)
    says(widget, place=8, gates=[-1.0] * 8 + [0.0])
    expect(widget.locator(".is-told > .gates-share")).to_have_text("0%")
    back.click()
    says(widget, place=8)
    expect(back).to_be_hidden()
    expect(widget.locator(".gates-head")).to_contain_text("12 of 17 guessed right, with spaces")


def test_a_swipe_scrolls_the_page_and_a_finger_that_rests_takes_hold_of_a_gate(
    browser: Browser, tmp_path: Path
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 500}, has_touch=True, is_mobile=True)
    try:
        page = context.new_page()
        widget = show(page, tmp_path)
        touch = context.new_cdp_session(page)

        def swipe(x: float, y: float, *, by: int = -7, rest: int = 0) -> None:
            points = [{"x": x, "y": y + far * by} for far in range(12)]
            touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": points[:1]})
            page.wait_for_timeout(rest)
            for point in points[1:]:
                touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
            touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

        expect(widget.locator(".gates-legend > :visible")).to_have_text("Hold and drag a gate, tap a letter.")
        fader = widget.locator(".gates-fader").nth(8)
        fader.scroll_into_view_if_needed()
        box, grip = fader.bounding_box(), fader.locator(".gates-grip").bounding_box()
        assert min(grip["width"], grip["height"]) >= 24
        before = page.evaluate("scrollY")
        middle = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
        swipe(*middle, rest=400)  # it takes hold of the gate
        says(widget, gates=[-1.0] * 8 + [1.0])
        assert page.evaluate("scrollY") == before
        expect(fader.locator(".gates-grip")).to_have_css("outline-style", "solid")
        grip = fader.locator(".gates-grip").bounding_box()
        swipe(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2, by=7)  # the hold stays
        says(widget, gates=[-1.0] * 8 + [0.0])
        assert page.evaluate("scrollY") == before
        swipe(box["x"] + box["width"] / 2, grip["y"] + grip["height"] / 2)  # on its way, below the grip
        page.wait_for_function(f"scrollY > {before} + 20")
        says(widget, gates=[-1.0] * 8 + [0.0])
        before = page.evaluate("scrollY")
        grip = widget.locator(".gates-grip").nth(7).bounding_box()
        swipe(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)  # at once, from another gate
        page.wait_for_function(f"scrollY > {before} + 20")
        says(widget, gates=[-1.0] * 8 + [0.0])
    finally:
        context.close()


def test_a_tap_on_a_gate_chooses_its_letter_and_changes_no_gate(opened: tuple[Page, Record], widget: Locator) -> None:
    press_at(opened[0], widget.locator(".gates-fader").nth(11).locator(".gates-grip"), 0.5, 0.5)
    says(widget, place=12)
    expect(widget.locator(".gates-fader.is-held")).to_have_count(0)
    expect(letter(widget)).to_be_focused()
    drag_gate(opened[0], widget, 10, 0.9)
    now = shares(widget, "gate")[10]
    says(widget, place=12, gates=[-1.0] * 10 + [now])
    assert abs(now - 0.9) < 0.06


def test_a_unit_is_chosen_among_a_dozen_and_by_the_keys(opened: tuple[Page, Record], widget: Locator) -> None:
    page, _ = opened
    widget.get_by_text("Other units").click()
    expect(widget.locator(".gates-units span")).to_have_count(12)
    names = widget.locator(".gates-units").inner_text().split()
    for row in (0, 7, 11):
        press_at(page, widget.locator(".gates-map"), 0.2, (row + 0.5) / 12)
        expect(unit(widget)).to_have_attribute("aria-valuenow", str(row))
        says(widget, unit=int(names[row]))
        assert widget.locator(".gates-units").inner_text().split() == names, "all rows stay where they are"
    kept = [sum(following(unit=unit)._left()) for unit in range(32)]
    expect(widget.locator(".gates-units-box")).to_contain_text(
        "The higher a unit stands, the more it keeps, on average"
    )
    paint = "(all) => new Set(all.map((e) => getComputedStyle(e).backgroundColor)).size"
    assert widget.locator(".gates-tile.is-chosen").evaluate_all(paint) == 1, "the letter has one colour"
    assert [round(kept[int(name)], 4) for name in names] == sorted(
        (round(kept[int(name)], 4) for name in names), reverse=True
    )
    assert kept[int(names[0])] == pytest.approx(max(kept), abs=1e-6), "the one that keeps most"
    press_at(page, widget.locator(".gates-map"), 0.2, 1.5 / 12)
    says(widget, unit=int(names[1]))
    unit(widget).press("End")
    expect(unit(widget)).to_have_attribute("aria-valuenow", "11")


def test_another_unit_is_as_learned_and_so_is_the_first_again(opened: tuple[Page, Record], widget: Locator) -> None:
    drag_gate(opened[0], widget, 8, 1)
    widget.get_by_text("Other units").click()
    names = widget.locator(".gates-units").inner_text().split()
    unit(widget).press("Home")
    says(widget, unit=int(names[0]))
    expect(widget.locator(".gates-fader.is-held")).to_have_count(0)
    for _ in range(names.index("29")):
        unit(widget).press("ArrowDown")
    says(widget)
    expect(widget.locator(".gates-head")).to_contain_text("12 of 17 guessed right")
    for name in ("As learned", "Reset"):
        drag_gate(opened[0], widget, 8, 1)
        button(widget, name).click()
        says(widget)


def test_the_fold_of_the_units_says_what_was_found_of_each(widget: Locator) -> None:
    open_folds(widget)
    rule = widget.locator(".gates-units-box > .gates-caption").last
    said = "Unit 29 has learned to be above 0 until a word\u2019s first vowel, then below 0: "
    said += "true at 94% of places in unseen text."
    expect(rule).to_have_text(said)
    letter(widget).fill("6")
    names = widget.locator(".gates-units").inner_text().split()
    unit(widget).press("Home")
    for _ in range(names.index("16")):
        unit(widget).press("ArrowDown")
    says(widget, unit=16, place=6)
    expect(rule).to_have_text("Unit 16 has a long memory, and is nearly always above 0. We found no simple rule.")
    unit(widget).press("End")
    other = following(unit=int(widget.locator(".gates-units .is-chosen").inner_text()), place=6)
    assert other.unit not in (16, 29)
    says(widget, unit=other.unit, place=6)
    expect(rule).to_have_text(f"We did not look for a rule in unit {other.unit}.")


def test_another_unit_closes_a_step_about_the_first(widget: Locator) -> None:
    widget.get_by_role("button", name="Is keeping better?").click()
    widget.get_by_role("button", name="fewer").click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Fewer: 7 of 17, not 12.")
    widget.get_by_text("Other units").click()
    unit(widget).press("Home")
    expect(widget.locator(".d2lrnn-now")).not_to_contain_text("the rule")
    expect(widget.locator(".is-shaded")).to_have_count(0)  # of another unit we know no rule
    expect(widget.locator(".d2lrnn-step")).to_be_hidden()


def test_the_bias_changes_gates_and_guesses_beside_those_that_were_trained(widget: Locator) -> None:
    open_folds(widget)
    bias(widget).press("End")
    says(widget, bias=4.0)
    shows(widget, following(bias=4.0), 4.5)
    expect(widget.locator(".gates-head")).to_contain_text("Now 5 of 17 right (was 12)")
    told = "Perplexity of this text: like guessing blindly among 14.7 equally likely letters (as learned: 3.4)"
    expect(widget.locator(".gates-perplexity")).to_have_text(told)
    expect(widget.locator(".gates-guesses .is-right")).to_have_count(5)
    bias(widget).press("Home")
    says(widget, bias=-4.0)
    expect(widget.get_by_role("status")).to_contain_text("The h of “the” adds ")
    widget.locator(".gates-back").click()
    says(widget)


def test_held_gates_are_outlined_and_changed_ones_have_a_thin_frame(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    widget = show(opened[0], tmp_path, unit=16, place=8, gates=at_spaces(0.0))
    says(widget, unit=16, place=8, gates=at_spaces(0.0))
    expect(widget.locator(".is-told > .gates-share")).to_have_text("0%")  # times 0
    expect(widget.locator(".gates-head")).to_contain_text("Now 11 of 17 right (was 12)")
    gates = [following(unit=16, gates=held).forget_gates[:, 16].tolist() for held in ([], at_spaces(0.0))]
    other = [i for i, (own, now) in enumerate(zip(*gates, strict=True)) if abs(own - now) >= 0.05]
    assert set(other) >= set(SPACES)
    faders = widget.locator(".gates-fader")
    found = "(all, kind) => all.flatMap((e, i) => e.matches(kind) ? [i] : [])"
    assert faders.evaluate_all(found, ".is-held") == list(SPACES)
    assert faders.evaluate_all(found, ".is-other") == other
    assert shares(widget, "own") == pytest.approx(gates[0], abs=0.0006)
    assert shares(widget, "gate") == pytest.approx(gates[1], abs=0.0006)
    assert faders.nth(8).locator(".gates-grip").evaluate("(e) => getComputedStyle(e).boxShadow") != "none"
    assert faders.nth(8).locator(".gates-own").evaluate("(e) => [e.offsetHeight, getComputedStyle(e).borderWidth]") == [
        faders.nth(8).locator(".gates-grip").evaluate("(e) => e.offsetHeight"),
        "1px",
    ]


def test_a_text_of_ones_own(widget: Locator) -> None:
    open_folds(widget)
    field = widget.get_by_label("Another text")
    field.fill("A <b>boat</b>")
    says(widget, text="a b boat b ", place=0)
    field.fill("")
    says(widget, text="")
    expect(unit(widget)).to_be_hidden()
    expect(widget.locator(".gates-lines")).to_be_hidden()
    expect(widget.get_by_text("Other units")).to_be_hidden()
    field.fill("zoe")
    says(widget, text="zoe", place=0)
    expect(widget.locator(".gates-text-row > .is-before")).to_have_count(0)
    letter(widget).press("End")
    says(widget, text="zoe", place=3)
    expect(widget.locator(".gates-units-box")).to_contain_text("No letter follows the e of “zoe”")
    field.fill("z")
    says(widget, text="z")
    expect(widget.locator(".gates-lines")).to_be_visible()
    expect(widget.locator(".gates-guesses > .gates-tile")).to_be_visible()  # its room
    expect(widget.locator(".gates-head > span").first).to_be_hidden()
    lost = widget.locator(".gates-text + .gates-caption")
    expect(lost).to_be_hidden()
    field.fill("tide, 42!")
    expect(lost).to_contain_text("Only a to z is read: 4 other signs became spaces, and spaces in a row are one.")
    field.fill("a text of more than forty letters, all of them read?")
    expect(lost).to_contain_text("Read: the first 40 of 51 characters.")
    says(widget, text="a text of more than forty letters all of"[:40], place=0)
    widget.get_by_role("button", name="Reset").click()
    says(widget)
    expect(field).to_have_value(following().text)
    expect(lost).to_be_hidden()


def test_without_a_text_the_field_for_one_stands_open(opened: tuple[Page, Record], tmp_path: Path) -> None:
    widget = show(opened[0], tmp_path, text="")
    expect(widget.get_by_label("Another text")).to_be_visible()
    expect(widget.locator(".d2lrnn-now")).to_have_text("Type at least two letters, or press Reset.")


STEPS = (
    (
        "Can a gate bring it back?",
        "48%",
        [-1.0] * 8 + [1.0],
        "Right. 48%. A gate of 1 keeps all that comes, but brings nothing back. It costs a guess: 11 right, not 12.",
    ),
    (
        "Is keeping better?",
        "fewer",
        at_spaces(1.0),
        "Right. Fewer: 7 of 17, not 12. On 2\u202f224 unseen lines: 8.1 on average, not 9.1; ",
    ),
    (
        "And forgetting?",
        "fewer",
        [-1.0 if letter == " " else 0.0 for letter in following().text],
        "Right. Fewer: 9 of 17, not 12. On 2\u202f224 unseen lines: 8.6, not 9.1. "
        "It learned both: keep (t of “what”: \u00d7.93), forget (space: \u00d7.01).",
    ),
)


EVIDENCE = {
    "Is keeping better?": (
        "What was before stays: the rule is true at 14 of 18 places.",
        {5: "\u22120.1", 12: "\u22120.1", 13: "\u22120.4", 16: "0.1"},
        {4: "0.2", 8: "0.4"},
    ),
    "And forgetting?": (
        "What was before is forgotten: the rule is true at 15 of 18 places.",
        {3: "0.1", 13: "\u22120.1", 16: "0.6"},
        {},
    ),
}


def points_at_its_evidence(widget: Locator, title: str, gates: list[float]) -> None:
    """The answer's headline, a shade behind the numbers that are against the rule, and nothing else."""
    said, shaded, told = EVIDENCE.get(title, (None, {}, {}))
    found = """(all) => all.flatMap((e, i) =>
      getComputedStyle(e).backgroundColor === "rgba(0, 0, 0, 0)" ? [] : [i])"""
    assert widget.locator(".gates-cell").evaluate_all(found) == list(shaded), title
    if said is None:
        return
    expect(widget.locator(".d2lrnn-now")).to_have_text(said)
    expect(widget.locator(".gates-strips")).to_have_attribute("aria-label", re.compile(re.escape(said)))
    seen = "(all) => all.flatMap((e, i) => getComputedStyle(e).visibility === 'visible' ? [i] : [])"
    written = widget.locator(".gates-number")
    assert written.evaluate_all(seen) == sorted({**shaded, **told}), title
    for i, text in {**shaded, **told}.items():
        expect(written.nth(i)).to_have_text(text)
    framed = "(all) => all.flatMap((e, i) => getComputedStyle(e).borderStyle === 'solid' ? [i] : [])"
    pairs = zip(numbers(following()), numbers(following(gates=gates)), strict=True)
    changed = [i for i, (was, now) in enumerate(pairs) if abs(was - now) >= 0.05]
    assert widget.locator(".gates-was").evaluate_all(framed) == changed, "as the legend says"
    quiet = widget.locator(".gates-band, .gates-share")
    assert quiet.evaluate_all(seen) == [], "the letter keeps quiet"
    grips = widget.locator(".gates-grip").all_text_contents()
    assert [i for i, text in enumerate(grips) if text] == [i for i, gate in enumerate(gates) if gate >= 0], "all set"
    assert widget.locator(".gates-own").evaluate_all(seen) == [], "no frames of gates"


def test_a_guess_comes_before_the_answer(widget: Locator) -> None:
    for title, right, gates, outcome in STEPS:
        letter(widget).press("End")
        widget.get_by_role("button", name=title).click()
        says(widget, place=0 if title in EVIDENCE else FOLLOWED)  # as the question finds it
        expect(widget.locator(".d2lrnn-outcome")).to_be_hidden()
        widget.get_by_role("button", name=right, exact=True).click()
        expect(widget.locator(".d2lrnn-outcome")).to_contain_text(outcome)
        points_at_its_evidence(widget, title, gates)
        widget.locator(".gates-text-row > .gates-tile").nth(7).click()  # a letter is told of again
        says(widget, gates=gates, place=8)
        expect(widget.locator(".is-shaded")).to_have_count(0)
        widget.locator(".d2lrnn-answers .d2lrnn-right").click()
        points_at_its_evidence(widget, title, gates)
        widget.get_by_role("button", name="Reset").click()
        expect(widget.locator(".d2lrnn-step")).to_be_hidden()
        says(widget)


def test_nothing_below_the_sentence_moves(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """Its lines are reserved: whatever letter, unit and gate."""
    page, _ = opened
    widget = show(page, tmp_path)
    tops = """async (node, widths) => {
      const letters = node.querySelector(".gates-keys");
      const found = [];
      for (const width of widths) {
        document.body.style.width = `${width}px`; // the figure asks for its own width, never for the window's
        for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame); // lines may break
        const below = node.querySelectorAll(".gates-faders, .gates-guesses, .d2lrnn-step-titles, .d2lrnn-foot");
        for (let place = 0; place <= 18; place += 1) {
          letters.value = place;
          letters.dispatchEvent(new Event("input", { bubbles: true }));
          await new Promise((done) => setTimeout(done));
          found.push([width, ...[...below].map((e) => Math.round(e.offsetTop))]);
        }
      }
      return found;
    }"""
    resize(page, 1280)
    margin = page.evaluate("innerWidth - document.body.clientWidth")
    widths = [width - margin for width in (1280, 1000, 760, 390, 360, 320)]
    gates = [-1.0] * 8 + [1.0, 0.4, 0.0] + [-1.0] * 5 + [1.0]
    found = set()
    for given in ({}, {"gates": gates[:9]}, {"gates": gates}, {"unit": 16}):
        link(page, **given)
        found |= {tuple(row) for row in widget.evaluate(tops, widths)}
    assert sorted(row[0] for row in found) == sorted(widths), sorted(found)


def test_a_long_text_stands_in_one_line_where_there_is_room(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    rows = show(page, tmp_path, text="kept what it had been given to keep").locator(".gates-row")
    for width, lines in ((1280, 1), (390, 2)):
        resize(page, width)
        tops = rows.evaluate_all("(all) => all.map((e) => Math.round(e.getBoundingClientRect().top))")
        assert (len(tops), len(set(tops))) == (6, 3 * lines), width


def test_gates_wait_for_the_guess_and_the_answers_ask_for_it(opened: tuple[Page, Record], widget: Locator) -> None:
    question = widget.locator(".d2lrnn-question")
    widget.get_by_role("button", name="Is keeping better?").click()
    letter(widget).press("Home")  # a letter tells nothing
    expect(question).to_be_visible()
    opened[0].evaluate(COUNT_URGES)
    at = letter(widget).input_value()
    gate(widget).press("ArrowUp")
    drag_gate(opened[0], widget, 8, 1)
    says(widget, place=int(at))
    expect(question).to_be_visible()
    assert opened[0].evaluate("urges") >= 1
    expect(widget.get_by_role("status")).to_have_text("Guess first: the picture waits.")
    widget.get_by_role("button", name="fewer").click()
    gate(widget).press("ArrowDown")
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Your earlier guess:")


def test_another_letter_is_no_change_of_the_network(widget: Locator) -> None:
    widget.get_by_role("button", name="Is keeping better?").click()
    widget.get_by_role("button", name="fewer").click()
    widget.locator(".gates-text-row > .gates-tile").nth(3).click()
    says(widget, gates=at_spaces(1.0), place=4)
    widget.evaluate("() => new Promise((done) => setTimeout(done))")  # what compares comes after the press
    expect(widget.locator(".d2lrnn-outcome")).not_to_contain_text("Your earlier guess:")
    widget.locator(".gates-back").click()
    expect(widget.locator(".d2lrnn-outcome")).to_contain_text("Your earlier guess:")


def test_guesses_that_are_not_as_learned_are_framed(opened: tuple[Page, Record], tmp_path: Path) -> None:
    widget = show(opened[0], tmp_path, gates=at_spaces(1.0))
    framed = widget.locator(".gates-guesses .is-other")
    expect(framed).to_have_text(["t", "t", "v", "n", "t"])
    assert "inset" in framed.first.evaluate("(e) => getComputedStyle(e).boxShadow")
    right = widget.locator(".gates-guesses .is-right").first
    assert right.evaluate("(e) => getComputedStyle(e).boxShadow") == "none"


def test_the_numbers_of_the_gates_stand_on_their_grips(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """Those that are seen, all gates held."""
    seen = """(all) => all.filter((e) => parseFloat(getComputedStyle(e).fontSize) > 0).map((e) => {
      const range = new Range();
      range.selectNodeContents(e);
      const room = e.getBoundingClientRect().width - range.getBoundingClientRect().width;
      return [e.scrollWidth > e.clientWidth ? -1 : room, parseFloat(getComputedStyle(e).fontSize)];
    })"""
    page, _ = opened
    widget = show(page, tmp_path)
    widths = (1280, 1000, 800, 600, 390, 320)
    for text in ("what the sea keeps", "the tide clock on w", "the cat sat on the mat and the dog ran"):
        link(page, text=text, gates=[0.55] * len(text))
        for width in widths:
            resize(page, width)
            found = widget.locator(".gates-grip").evaluate_all(seen)
            assert len(found) == (len(text) if len(text) <= (20 if width > 760 else 18) else 1), (text, width)
            assert all(room > 1 and size >= 12 for room, size in found), (text, width)
    link(page, unit=16)
    expect(widget.get_by_text("1.0", exact=True).first).to_be_attached()
    for width in widths:
        resize(page, width)
        found = widget.locator(".gates-grip").evaluate_all(seen)
        assert found and all(room > 1 for room, _ in found), width


def test_the_shares_are_written_under_the_band(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """Apart from each other, and none after the first that is under 1%."""
    page, _ = opened
    widget = show(page, tmp_path)
    seen = """(all) => all.filter((e) => e.textContent && getComputedStyle(e).visibility === "visible").map((e) => {
      const range = new Range();
      range.selectNodeContents(e);
      const { left, right, top } = range.getBoundingClientRect();
      return [top, left, right];
    })"""
    open_gate = [-1.0] * 8 + [1.0]
    given: dict[str, object]
    for given in (
        {},
        {"unit": 16},
        {"place": 11},
        {"place": 17},
        {"unit": 28},
        {"gates": open_gate},
        {"place": 8, "gates": open_gate},
    ):
        link(page, **given)
        says(widget, **given)
        python = following(**given)
        at, left = python._at, python._left()
        texts = widget.locator(".gates-share").all_text_contents()
        until = next((k for k, share in enumerate(left) if share < 0.01), len(left) - 1)
        added = (python._read()["input"] * python._read()["candidate"])[at, python.unit].item()
        wanted = [signed(added), *(percent(share) for share in left[1 : until + 1])]
        assert [text for text in texts if text] == wanted and texts[at] == wanted[0], given
        for width in (1000, 390, 375, 360, 320):
            resize(page, width)
            boxes = widget.locator(".gates-share").evaluate_all(seen)
            assert boxes and all(a[0] < b[0] or a[2] < b[1] for a, b in pairwise(boxes)), (given, width)


def test_what_the_letter_adds_is_always_written(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, unit=16, place=2)
    for width in (1280, 390, 320):
        resize(page, width)
        expect(widget.locator(".is-at > .gates-share")).to_be_visible()


def test_a_gate_is_not_written_again_and_again(opened: tuple[Page, Record], tmp_path: Path) -> None:
    widget = show(opened[0], tmp_path, unit=16)
    written = widget.locator(".gates-grip").all_text_contents()
    assert written[6:] == [".19", "1.0", "", "", ".99", ".96", "1.0", "", "", "", "", ".99"]


def test_the_number_of_a_gate_in_a_long_text_covers_no_neighbour(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, text="somewhere the sea keeps what it had been", place=1)
    resize(page, 1280)
    grip, fader = (widget.locator(f".is-pointed{kind}").bounding_box() for kind in (" > .gates-grip", ""))
    assert grip["x"] >= fader["x"] and grip["width"] <= fader["width"]
    drawn = (grip["y"] - fader["y"]) / (widget.locator(".gates-band").first.bounding_box()["y"] - fader["y"])
    assert drawn > 0.5, "a gate of 0.14 stands low"


def test_a_small_change_by_a_key_is_told_too(opened: tuple[Page, Record], tmp_path: Path) -> None:
    widget = show(opened[0], tmp_path, place=8)
    gate(widget).press("ArrowUp")
    says(widget, place=8, gates=[-1.0] * 8 + [0.14])
    expect(widget.locator(".is-told > .gates-share")).to_have_text("14%")


def test_what_the_lane_shows_is_pale_before_the_text_is_read(opened: tuple[Page, Record], tmp_path: Path) -> None:
    opened[0].add_init_script("IntersectionObserver.prototype.observe = () => {}")  # nothing is seen: no reading begins
    widget = show(opened[0], tmp_path)
    lanes, picture = widget.locator(".is-fate > :is(.gates-band, .gates-cell)"), widget.locator(".gates-strips")
    mixed = "(all) => all.map((e) => getComputedStyle(e, '::before').backgroundColor)"
    whole = lanes.evaluate_all(mixed)
    picture.evaluate("(e) => e.style.setProperty('--read', 0)")
    pale = lanes.evaluate_all(mixed)
    assert len(whole) == 2 and not set(whole) & set(pale)
    picture.evaluate("(e) => e.style.setProperty('--read', 9)")  # as far as this letter
    assert lanes.evaluate_all(mixed) == whole


def test_pushed_gates_are_marked_and_their_slider_is_in_sight(opened: tuple[Page, Record], tmp_path: Path) -> None:
    widget = show(opened[0], tmp_path, bias=4.0)
    told = widget.locator(".gates-bias b")
    expect(told).to_have_text("+4.0")
    expect(bias(widget)).to_be_visible()
    assert widget.locator(".gates-fader.is-other").count() > 6
    link(opened[0], text="the cat sat on the mat and the dog ran", bias=4.0)
    says(widget, text="the cat sat on the mat and the dog ran", bias=4.0)
    thin = "(all) => all.filter((e) => getComputedStyle(e).borderWidth === '1px' && e.checkVisibility()).length"
    assert widget.locator(".gates-own").evaluate_all(thin) > 6, "in a long text too, as the legend says"
    thick = "(all) => all.map((e) => getComputedStyle(e).boxShadow.includes('0px 0px 0px 2px'))"
    assert all(widget.locator(".gates-guesses .is-other").evaluate_all(thick))
    link(opened[0], bias=0, text=following().text, gates=at_spaces(1.0))
    expect(told).to_have_text("0.0")  # held gates are not as learned
    expect(bias(widget)).to_have_attribute("aria-valuetext", "0.0 in every gate")
    button(widget, "As learned").click()
    expect(told).to_have_text("0, as learned")


def test_a_link_sets_the_figure(opened: tuple[Page, Record], tmp_path: Path) -> None:
    widget = show(opened[0], tmp_path, "#explore=Gates&unit=16&bias=-1.5&gates=[-1,0.5]")
    says(widget, unit=16, bias=-1.5, gates=[-1.0, 0.5])


def test_with_less_movement_the_picture_is_whole_at_once(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=390, height=900) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        widget = show(page, tmp_path)
        page.wait_for_timeout(100)
        strips = widget.locator(".gates-strips")
        assert strips.evaluate("(e) => e.style.getPropertyValue('--read')") == ""
        assert record.errors == []
