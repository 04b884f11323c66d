"""The perplexity explorable on a page without a kernel: it mounts, answers, refuses nonsense, and leaves cleanly."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import traitlets as t
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import Explorable, Perplexity
from pages import LOW_CONTRAST, page_of, served
from watching import Record, watched_page

SCHEMES = ["http", "file"]
HOSTILE = ["</script>", "<img src=x>", "<b onx=1>", "'\"&amp;{w}", "👩\u200d💻👩", "שלום", "\u202eevil", "e\u0301e"]

pytestmark = pytest.mark.browser

# Module sources of test widgets are one line, so that a page holds them as they stand here.
BROKEN = {
    "throws": "export default { render() { throw new Error('no such luck <b>'); } };",
    "syntax": "export default {{{;",
    "rejects": "export default async () => { throw new Error('no such luck <b>'); };",
}


@pytest.fixture
def addresses(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Overrides the book's: the pages of these tests."""
    with served(tmp_path) as found:
        yield found


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=720, height=1000) as (page, record):
        page.emulate_media(reduced_motion="reduce")  # what glides has tests of its own
        yield page, record
        assert record.errors == [] and record.outside == []


def show(page: Page, folder: Path, *widgets: Explorable, address: str | None = None, **arguments: str) -> Locator:
    """Write the page, open it and wait until all its widgets are alive; return the first."""
    (folder / "page.html").write_text(page_of(*widgets, **arguments), encoding="utf-8")
    page.goto(f"{address or folder.as_uri()}/page.html")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(len(widgets))
    page.evaluate("() => document.querySelectorAll('.ppl-tools').forEach((e) => { e.closest('details').open = true; })")
    return page.locator(".d2lrnn-widget").first


def number(widget: Locator) -> Locator:
    return widget.locator(".ppl-number")


def slider(widget: Locator, row: int) -> Locator:
    return widget.locator("input[type=range]").nth(row)


def preset(widget: Locator, name: str) -> Locator:
    return widget.get_by_role("button", name=re.compile(rf"\b{name}$"))


def press_preset(widget: Locator, name: str) -> None:
    preset(widget, name).click()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_it_mounts_and_answers_keys(
    opened: tuple[Page, Record], tmp_path: Path, addresses: dict[str, str], scheme: str
) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Perplexity(), address=addresses[scheme])
    expect(number(widget)).to_have_text("2")
    expect(widget.locator(".d2lrnn-now")).to_have_text("like choosing among 2 equally likely letters")
    expect(widget.locator(".d2lrnn-fallback")).to_be_hidden()
    expect(widget.locator(".ppl-hint")).to_have_text(
        "You are the model. Drag a bar: how likely did you think the bold letter was?"
    )
    first = slider(widget, 0)
    first.focus()
    page.keyboard.press("ArrowLeft")
    expect(widget.locator(".ppl-p").first).to_have_text("26%")
    expect(number(widget)).to_have_text("1.99")
    page.keyboard.press("Home")
    expect(widget.locator(".ppl-p").first).to_have_text("100%")
    page.keyboard.press("End")
    expect(widget.locator(".ppl-p").first).to_have_text("0%")
    expect(number(widget)).to_have_text("∞")
    page.keyboard.press("ArrowLeft")
    expect(widget.locator(".ppl-p").first).to_have_text("0.1%")
    expect(first).to_be_focused()
    expect(first).to_have_attribute("aria-valuetext", "0.1%, like choosing among 1\u202f000")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_presets(opened: tuple[Page, Record], tmp_path: Path, addresses: dict[str, str], scheme: str) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Perplexity(), address=addresses[scheme])
    expected = {
        "certain": ("1", "0.00", "= 1.00", "certain and right, every time"),
        "likely": ("1.25", "0.32", "≈ 1.25", "among 1.25 equally"),
        "unlikely": ("5", "2.32", "≈ 5.00", "among 5 equally"),
        "all alike": ("27", "4.75", "≈ 27.00", "among 27 equally"),
        "ruled out": ("∞", "∞", "", "a letter came that was ruled out"),
    }
    widget.locator("summary").last.click()
    for name, (perplexity, mean, result, sentence) in expected.items():
        button = preset(widget, name)
        button.focus()
        page.keyboard.press("Enter")
        expect(number(widget)).to_have_text(perplexity)
        told = "infinite" if name == "ruled out" else perplexity
        expect(widget.locator(".ppl-flag")).to_have_text(f"perplexity {told}")
        if name == "ruled out":
            expect(widget.locator(".ppl-bits")).to_be_hidden()
        else:
            expect(widget.locator(".ppl-bits")).to_contain_text(f"Their mean is {mean} bits: 2{mean} {result}")
        flag, chart = widget.locator(".ppl-flag").bounding_box(), widget.bounding_box()
        assert flag["x"] + flag["width"] <= chart["x"] + chart["width"], "it stays within the figure"
        expect(widget.locator(".d2lrnn-now")).to_contain_text(sentence)
        expect(button).to_have_attribute("aria-pressed", "true")
        assert "NaN" not in widget.inner_text()


def drag(page: Page, track: Locator, start: float, end: float) -> None:
    box = track.bounding_box()
    page.mouse.move(box["x"] + box["width"] * start, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * end, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()


def test_a_bar_is_dragged(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Perplexity())
    row = widget.locator(".ppl-track").nth(2)
    drag(page, row, 1 / 8, 2 / 8)  # from 1 bit to 2
    expect(widget.locator(".ppl-p").nth(2)).to_have_text("25%")
    tick = widget.locator(".ppl-tick", has_text=re.compile("^4$")).bounding_box()
    grip = widget.locator(".ppl-grip").nth(2).bounding_box()
    assert tick["x"] + tick["width"] / 2 == pytest.approx(grip["x"] + grip["width"] / 2, abs=2), "25% is like 4"
    drag(page, row, 2 / 8, -0.2)
    expect(widget.locator(".ppl-p").nth(2)).to_have_text("100%")
    drag(page, row, 0, 1.2)
    expect(widget.locator(".ppl-p").nth(2)).to_have_text("0%")
    expect(number(widget)).to_have_text("∞")
    expect(slider(widget, 2)).to_have_attribute("aria-valuetext", "0%, like choosing among infinite")
    bar = widget.locator(".ppl-bar").nth(2).bounding_box()
    assert bar["width"] == pytest.approx(row.bounding_box()["width"], abs=2), "the bar ends under the pointer"


def test_keys_go_on_where_a_drag_ended(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Perplexity())
    drag(page, widget.locator(".ppl-track").nth(2), 1 / 8, 2 / 8)
    page.keyboard.press("ArrowRight")
    expect(widget.locator(".ppl-p").nth(2)).not_to_have_text("25%")
    page.keyboard.press("ArrowLeft")
    expect(widget.locator(".ppl-p").nth(2)).to_have_text("25%")


STEPS = [
    ("The average", "26", "2", "Not so. 26 is the middle of 2 and 50, but choices are not added: they multiply.", "10"),
    ("The average", "50", "2", "Not so. 50 are the choices at the worst letters alone. It is 10, because 2 ", "10"),
    ("The average", "10", "2", "Right. It is 10, because 2 ", "10"),
    ("One doubt", "about 1.1", "1", "Right. It is 1.12: one doubt is shared by all six bars.", "1.12"),
    ("One doubt", "2", "1", "Not so. 2 are the choices at that letter alone. It is 1.12", "1.12"),
    ("Zero chance", "infinite", "1", "Right. It is infinite", "∞"),
    ("Zero chance", "6", "1", "Not so. 6 is only the number of bars. It is infinite", "∞"),
]


def test_a_step_asks_first_and_shows_then(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Perplexity())
    for title, guess, before, told, after in STEPS:
        widget.get_by_role("button", name=title).click()
        expect(number(widget), title).to_have_text(before)
        expect(widget.locator(".d2lrnn-outcome"), title).to_be_hidden()
        widget.get_by_role("button", name=guess, exact=True).click()
        expect(number(widget), f"{title}: {guess}").to_have_text(after)
        expect(widget.locator(".d2lrnn-outcome"), f"{title}: {guess}").to_contain_text(told)
        widget.get_by_role("button", name="Reset").click()
        expect(number(widget), f"{title}: {guess}").to_have_text("2")
        expect(widget.locator(".d2lrnn-step"), f"{title}: {guess}").to_be_hidden()


def test_a_hand_on_the_bars_leaves_a_question_and_keeps_an_answer(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Perplexity())
    question, outcome = widget.locator(".d2lrnn-question"), widget.locator(".d2lrnn-outcome")
    for act in (lambda: slider(widget, 1).press("ArrowRight"), lambda: press_preset(widget, "likely")):
        widget.get_by_role("button", name="The average").click()
        expect(question).to_be_visible()
        act()
        expect(question).to_be_hidden()
    widget.get_by_role("button", name="The average").click()
    widget.get_by_role("button", name="26", exact=True).click()
    slider(widget, 1).press("ArrowRight")
    expect(outcome).to_contain_text("Your earlier guess")


def test_what_stands_above_the_mean_is_what_is_missing_below_it(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Perplexity())
    level = widget.get_by_role("button", name="Level the bars")
    widths = (
        "(e) => ['above', 'below'].map((part) => [...e.querySelectorAll(`.ppl-${part}`)]"
        ".map((x) => x.getBoundingClientRect().width).reduce((a, b) => a + b))"
    )
    for row in range(6):
        slider(widget, row).evaluate("(e, at) => { e.value = at; e.dispatchEvent(new Event('input')); }", 15 * row)
        assert widget.evaluate(widths) == [0, 0], "plain bars at rest"
        level.click()
        above, below = widget.evaluate(widths)
        assert above == pytest.approx(below, abs=1) and above > 20
    key = widget.locator(".ppl-key").first
    expect(key).to_be_visible()
    for row in range(6):
        slider(widget, row).press("Home")
    expect(key).to_be_hidden()  # bars of no length
    slider(widget, 0).evaluate("(e) => { e.value = 5; e.dispatchEvent(new Event('input')); }")
    expect(key).to_be_visible()
    slider(widget, 0).press("End")
    slider(widget, 0).press("ArrowLeft")  # p is 0.001: this bar is broken, the mean still stands on the scale
    expect(widget.locator(".ppl-beyond")).to_have_count(1)
    expect(key).to_be_hidden()
    expect(widget.get_by_text("is longer than it is drawn")).to_be_visible()
    slider(widget, 0).press("End")  # beyond the scale there is nothing to compare
    assert widget.evaluate(widths) == [0, 0]
    expect(key).to_be_hidden()


@pytest.mark.parametrize("wish", ["no-preference", "reduce"])
def test_what_sticks_out_flows_into_the_gaps_at_a_press(browser: Browser, tmp_path: Path, wish: str) -> None:
    with watched_page(browser) as (page, record):
        page.emulate_media(reduced_motion=wish)
        page.clock.install()
        widget = show(page, tmp_path, Perplexity())
        level, back = (widget.get_by_role("button", name=name, exact=True) for name in ("Level the bars", "Back"))
        chart, grip = widget.locator(".ppl-chart"), widget.locator(".ppl-grip").nth(4)

        def flowed(share: str) -> None:
            for _ in range(4):  # what is under way comes to its end, and what begins then
                page.clock.fast_forward(3000)
                if f"--ppl-flow: {share};" in (chart.get_attribute("style") or ""):
                    break
            expect(chart).to_have_attribute("style", re.compile(rf"--ppl-flow: {share};"), timeout=15_000)

        def times(factors: list[str]) -> list[str]:
            return [f"\u00d7 {factor}" for factor in factors]

        def told(column: list[str], factors: list[str]) -> None:
            texts = widget.locator(".ppl-p:visible").all_inner_texts()
            assert [text.strip() for text in texts] == column
            assert widget.locator(".ppl-factor:visible").all_inner_texts() == times(factors)

        for _ in range(2):
            box = level.bounding_box()
            level.click()
            flowed("1.000")
            expect(grip).to_have_css("opacity", "0")
            told(["50%"] * 6, ["2"] * 6)
            expect(widget.locator(".ppl-done")).to_have_text(
                "All are level: 2 \u00d7 2 \u00d7 … is the same product as before."
            )
            expect(widget.locator(".ppl-done")).to_be_visible()
            flowed("1.000")  # it stays
            assert back.bounding_box() == box
            back.click()
            flowed("0.000")
            expect(grip).to_have_css("opacity", "1")
            expect(widget.locator(".ppl-pieces")).to_have_count(0)
            told(["25%", "25%", "50%", "50%", "100%", "100%"], [])
            expect(widget.locator(".ppl-done")).to_be_hidden()
        level.click()
        widget.get_by_role("button", name="Reset").click()  # also where nothing else is to be reset
        flowed("0.000")
        expect(level).to_be_visible()
        level.click()
        drag(page, widget.locator(".ppl-track").nth(2), 1 / 8, 3 / 8)
        flowed("0.000")
        expect(level).to_be_visible()
        expect(widget.locator(".ppl-factor:visible")).to_have_count(0)
        shared = (
            ("One doubt", "2", ["2"] + ["1"] * 5, "89.1%", "1.12"),
            ("The average", "50", ["2", "50"] * 3, "10%", "10"),
        )
        for title, answer, factors, chance, factor in shared:
            widget.get_by_role("button", name=title).click()
            flowed("0.000")
            widget.locator(".d2lrnn-answers").get_by_role("button", name=answer, exact=True).click()
            if wish == "no-preference":
                expect(widget.locator(".ppl-factor:visible")).to_have_text(times(factors))  # one has time to read
            flowed("1.000")  # the bars show the answer
            expect(back).to_be_visible()
            told([chance] * 6, [factor] * 6)
        widget.get_by_role("button", name="Reset").click()
        flowed("0.000")
        assert record.errors == []


def test_the_numbers_beside_the_bars_go_along_with_them(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser) as (page, record):
        widget = show(page, tmp_path, Perplexity(probs=[0.5, 0.02] * 3))
        slider(widget, 0).press("ArrowRight")
        slider(widget, 0).press("ArrowLeft")
        seen = widget.evaluate("""async (e) => {
          const chart = e.querySelector(".ppl-chart");
          const seen = [];
          e.querySelector(".ppl-lay").click();
          for (let i = 0; i < 2000 && !chart.classList.contains("ppl-level"); i += 1) {
            await new Promise(requestAnimationFrame);
            const texts = (name) => [...e.querySelectorAll(name)].slice(0, 2)
              .map((x) => parseFloat(x.textContent.replace(/[^0-9.]/g, "")));
            seen.push([Number(chart.style.getPropertyValue("--ppl-flow")), texts(".ppl-factor"), texts(".ppl-p"),
              e.querySelector(".ppl-done").checkVisibility({ visibilityProperty: true })]);
          }
          return seen;
        }""")
        assert len({flow for flow, *_ in seen}) > 3 and seen[-1] == [1, [10, 10], [10, 10], True]
        for flow, (low, high), chances, told in seen:
            assert flow == 1 or not told, "nothing is called level that is not"
            assert low == pytest.approx(2 * 5**flow, rel=0.01) and high == pytest.approx(50 / 5**flow, rel=0.01)
            assert chances == pytest.approx([50 / 5**flow, 2 * 5**flow], abs=0.1)  # the flow has three decimals
        assert record.errors == []


def test_the_first_letter_is_given(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Perplexity())
    given = widget.locator(".ppl-given")
    expect(given).to_have_text("m is given")
    for word, told in (("rnn", "r"), (" ab", "␣"), ("語語", "語"), ("WW", "W")):
        widget.get_by_label("Word").fill(word)
        expect(given).to_have_text(f"{told} is given")
    for width in (320, 390, 1280):
        page.set_viewport_size({"width": width, "height": 1000})
        tick = widget.locator(".ppl-tick").first.bounding_box()
        box = given.bounding_box()
        assert box["x"] + given.evaluate("(e) => e.scrollWidth") < tick["x"], width


def test_a_step_that_is_opened_again_can_be_answered_anew(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Perplexity())
    told, chances = widget.locator(".d2lrnn-outcome"), widget.locator(".ppl-p")
    for title, answer in (("The average", "26"), ("One doubt", "2"), ("The average", None)):
        widget.get_by_role("button", name=title).click()
        if answer is not None:
            widget.get_by_role("button", name=answer, exact=True).click()
    expect(told).to_contain_text("26 is the middle of 2 and 50")
    expect(chances).to_have_text(["10%"] * 6)  # and its bars are level again
    widget.locator(".d2lrnn-answers button", has_text="10").click()
    expect(told).to_have_text("Right. It is 10, because 2 \u00d7 50 = 10 \u00d7 10.")
    expect(chances).to_have_text(["10%"] * 6)
    slider(widget, 0).press("ArrowRight")
    expect(chances).to_have_text(["49%", "2%", "50%", "2%", "50%", "2%"])


def test_more_choices_than_letters_are_worse_than_a_blind_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    worse = Perplexity(word="rnn", probs=[0.03, 0.02])
    widget = show(page, tmp_path, worse, Perplexity(word="rnn!", probs=[0.03, 0.02, 0.02]))
    now = "as if among 40.82 letters: worse than guessing blindly"
    expect(widget.locator(".d2lrnn-now")).to_have_text(now)
    assert worse.static_sentence() == f"Perplexity 40.82: {now}."
    press_preset(widget, "all alike")
    expect(widget.locator(".d2lrnn-now")).to_have_text("like a blind guess among 27 equally likely letters")
    assert Perplexity(word="rnn", probs=[1 / 27] * 2).static_sentence() == (
        "Perplexity 27.00: like a blind guess among 27 equally likely letters."
    )
    other = page.locator(".d2lrnn-widget").last  # nobody knows among how many characters it chooses
    expect(other.locator(".d2lrnn-now")).to_contain_text("equally likely letters")


def test_the_three_means_are_folded_away(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Perplexity(word="ab", probs=[0.5]))
    expect(widget.locator(".ppl-means")).to_be_hidden()
    widget.locator("summary").last.click()
    widget.get_by_label("Word").fill("abc")
    press_preset(widget, "ruled out")
    expect(widget.get_by_text("the three means agree")).to_be_hidden()  # of three times infinity nothing can be said
    slider(widget, 0).press("Home")
    expect(widget.locator(".ppl-means dd")).to_have_text(["2.00", "∞", "∞"])
    expect(widget.get_by_text("the three means agree")).to_be_hidden()
    press_preset(widget, "likely")
    expect(widget.get_by_text("the three means agree")).to_be_visible()


def test_branches_follow_the_perplexity(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Perplexity())
    for name, branches, label in [("certain", 1, "1"), ("all alike", 27, "27"), ("ruled out", 32, "infinite")]:
        press_preset(widget, name)
        expect(widget.locator(".ppl-branch")).to_have_count(branches)
        expect(widget.locator(".ppl-fork")).to_have_attribute("aria-label", re.compile(rf"\b{label} equally likely"))
    press_preset(widget, "likely")
    expect(widget.locator(".ppl-branch")).to_have_count(2)
    expect(widget.locator(".ppl-branch-part")).to_have_attribute("stroke-opacity", "0.438")


def test_own_word(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Perplexity())
    field = widget.get_by_label("Word")
    field.fill("rnn!")
    expect(widget.locator("input[type=range]")).to_have_count(3)
    expect(widget.locator(".ppl-prediction").last.locator(":visible")).to_have_text(["rnn", "!"])
    expect(slider(widget, 2)).to_have_accessible_name("How likely was ! after rnn?")
    expect(widget.locator(".ppl-p")).to_have_text(["3.7%"] * 3)  # nobody has predicted anything yet
    expect(preset(widget, "all alike")).to_be_disabled()
    note = widget.locator(".ppl-note").first
    expect(note).to_contain_text("so 1/27 is only where its bars begin, and “all alike” is off.")
    field.press_sequentially("s")
    expect(widget.locator(".ppl-p")).to_have_text(["3.7%"] * 4)
    expect(number(widget)).to_have_text("27")
    for text, message in [("r", "this one has 1"), ("", "this one has 0"), ("x" * 100_000, "this one has 100000")]:
        field.fill(text)
        if len(text) < 2:  # it has only begun: told to whoever leaves it so
            expect(widget.locator(".ppl-message")).to_be_hidden()
            if text:  # or stops there
                field.blur()
        expect(widget.locator(".ppl-message")).to_contain_text(f"A word has 2 to 12 characters; {message}.")
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(widget.locator(".ppl-message")).to_contain_text("still show “rnn!s”")
        expect(widget.locator(".ppl-stale")).to_have_count(2)
        assert widget.locator(".ppl-result").evaluate("(e) => getComputedStyle(e).filter") == "none", "it stays opaque"
        expect(widget.locator("input[type=range]")).to_have_count(4)
    field.fill("a\u0007b")
    expect(widget.locator(".ppl-message")).to_contain_text("U+0007")
    field.fill("ab")
    expect(widget.locator(".ppl-message")).to_be_hidden()
    expect(widget.locator(".ppl-stale")).to_have_count(0)
    expect(field).not_to_have_attribute("aria-invalid", "true")


# Of every row of a figure: whether its context is cut, what it says, and how far its letter sticks out.
READ = """(e) => [...e.querySelectorAll(".ppl-prediction")].map((row) => {
  const [context, target] = [...row.querySelectorAll("*")].filter((part) => part.checkVisibility());
  const isWhole = context.scrollWidth <= context.clientWidth + 1 || getComputedStyle(context).display === "inline";
  return [isWhole, context.innerText, target.getBoundingClientRect().right - row.getBoundingClientRect().right];
})"""


def test_the_last_letters_of_a_long_word_are_read_in_full(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    words = ("intelligence", "mmmmmmmmmmmm", "          ab", "語語語語語語語語語語語語")
    show(page, tmp_path, *(Perplexity(word=word) for word in words))
    for width in (390, 680, 1280):
        page.set_viewport_size({"width": width, "height": 1000})
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        for figure, word in enumerate(words):
            read = word.replace(" ", "␣")
            rows = page.locator(".d2lrnn-widget").nth(figure).evaluate(READ)
            assert len(rows) == len(word) - 1
            for i, (is_whole, told, beyond) in enumerate(rows):
                assert is_whole, f"{width}, {word} {i}: nothing is cut"
                assert (read[: i + 1]).endswith(told.removeprefix("…")), (width, word, told)
                assert told == read[: i + 1] or told.startswith("…"), (width, word, told)
                assert word != "intelligence" or width == 390 or told == read[: i + 1], (width, told)
                assert beyond <= 1, (width, word, i)


def test_a_break_of_the_axis_is_explained_where_it_is_shown(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    for width in (390, 720):
        page.set_viewport_size({"width": width, "height": 1000})
        widget = show(page, tmp_path, Perplexity())
        cut, told = widget.locator(".ppl-tick", has_text="//"), widget.get_by_text("is longer than it is drawn")
        top = "(e) => e.querySelector('.d2lrnn-steps').getBoundingClientRect().y + scrollY"
        start = widget.evaluate(top)
        expect(cut).to_be_hidden()
        expect(told).to_be_hidden()
        slider(widget, 0).press("End")
        expect(cut).to_be_visible()
        expect(told).to_be_visible()
        assert widget.evaluate(top) == start
        track, box = widget.locator(".ppl-beyond").bounding_box(), cut.bounding_box()
        place = float(widget.locator(".ppl-beyond").evaluate("(e) => parseFloat(getComputedStyle(e, '::after').left)"))
        edge = 1  # the track's own, from whose inside its parts are placed
        assert track["x"] + edge + place == pytest.approx(box["x"] + box["width"] / 2, abs=1.5), "one above the other"


def test_what_is_done_to_the_bars_gives_up_a_word_that_was_refused(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Perplexity())
    field, stale = widget.get_by_label("Word"), widget.locator(".ppl-stale")
    acts = (
        lambda: press_preset(widget, "likely"),
        lambda: slider(widget, 0).press("End"),
        lambda: widget.get_by_role("button", name="Zero chance").click(),
    )
    for act in acts:
        field.fill("x" * 13)
        expect(stale).to_have_count(2)
        act()
        expect(stale).to_have_count(0)
        expect(field).to_have_value("machine")
        expect(widget.locator(".ppl-message")).to_be_hidden()


def test_perplexities_to_compare_with_are_folded_away(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Perplexity())
    known = widget.locator(".ppl-known")
    expect(known).to_be_hidden()
    widget.locator("summary", has_text="What is a good perplexity?").click()
    expect(known.locator("dt")).to_have_text(["1", "3.6", "3.9", "27"])
    expect(known.locator("dd").nth(2)).to_have_text("our small trained network, on the same text; a larger one has 3.3")


def test_a_step_says_that_it_put_its_word_in_place(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Perplexity())
    note = widget.locator(".ppl-tools .ppl-note")
    alike = "1/27: 27 letters, a to z and the space, all equally likely."
    widget.locator(".d2lrnn-step-title").first.click()
    expect(note).to_have_text(alike)
    widget.get_by_label("Word").fill("sea")
    widget.locator(".d2lrnn-step-title").nth(1).click()
    expect(note).to_have_text("The steps use the word “machine”.")
    widget.get_by_role("button", name="1.5").click()
    expect(note).to_contain_text("The steps use")
    widget.get_by_role("button", name="Reset").click()
    expect(note).to_have_text(alike)


def test_typed_text_is_data(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Perplexity())
    elements = "(root) => new Set([...root.querySelectorAll('*')].map((e) => e.tagName)).size"
    before = widget.evaluate(elements)
    for word in HOSTILE:
        widget.get_by_label("Word").fill(word)
        expect(widget.locator("input[type=range]")).to_have_count(len(word) - 1)
        assert widget.evaluate(elements) == before, word
        press_preset(widget, "unlikely")
        expect(number(widget)).to_have_text("5")
    assert page.locator("img").count() == 0


def test_words_of_the_author_are_data(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    show(page, tmp_path, *(Perplexity(word=word) for word in HOSTILE))
    for i, word in enumerate(HOSTILE):
        widget = page.locator(".d2lrnn-widget").nth(i)
        expect(widget.get_by_label("Word")).to_have_value(word)
        expect(widget.locator("input[type=range]"), word).to_have_count(len(word) - 1)
    assert page.locator("img, section script:not([type]):not(.d2lrnn-widget > *)").count() == 0


def test_reset_restores_what_the_author_gave(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Perplexity(word="rnn", probs=[0.5, 0.125]))
    expect(number(widget)).to_have_text("4")
    widget.get_by_label("Word").fill("gated")
    press_preset(widget, "ruled out")
    expect(number(widget)).to_have_text("∞")
    widget.get_by_label("Word").fill("!")
    widget.get_by_role("button", name="Reset").click()
    expect(number(widget)).to_have_text("4")
    expect(widget.get_by_label("Word")).to_have_value("rnn")
    expect(widget.locator(".ppl-message")).to_be_hidden()


def test_several_on_one_page_are_apart_and_share_module_and_style(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    imports: list[str] = []
    page.on("request", lambda request: imports.append(request.url) if request.url.startswith("blob:") else None)
    page.add_init_script(
        "const make = URL.createObjectURL; globalThis.made = 0;"
        "URL.createObjectURL = (blob) => { globalThis.made += 1; return make.call(URL, blob); };"
    )
    show(page, tmp_path, Perplexity(), Perplexity(word="rnn", probs=[0.5, 0.125]), Perplexity())
    first, second, third = (page.locator(".d2lrnn-widget").nth(i) for i in range(3))
    press_preset(second, "unlikely")
    expect(number(second)).to_have_text("5")
    expect(number(first)).to_have_text("2")
    expect(number(third)).to_have_text("2")
    assert page.evaluate("globalThis.made") == 2, "one module for the stand-in, one for the widget"
    assert page.evaluate("globalThis.d2lrnnModules.size") == 2
    assert page.locator("style").count() == 1
    # The style stays when the widget that brought it leaves.
    first.evaluate("(e) => e.remove()")
    radius = page.locator(".d2lrnn-widget").last.evaluate("(e) => getComputedStyle(e).borderRadius")
    assert radius == "12px"


def test_live_region_speaks_once_after_a_pause(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Perplexity())
    region = widget.get_by_role("status")
    expect(region).to_have_attribute("aria-live", "polite")
    expect(region).to_have_text("")
    region.evaluate(
        "(e) => { globalThis.said = []; new MutationObserver(() => said.push(e.textContent))"
        ".observe(e, { childList: true, characterData: true, subtree: true }); }"
    )
    # A drag, in one go, so that no slow machine can make a pause of it.
    slider(widget, 0).evaluate(
        "(e) => { for (let i = 0; i < 15; i += 1) { e.stepDown(); e.dispatchEvent(new Event('input')); } }"
    )
    expect(region).to_have_text("Perplexity 1.85: like choosing among 1.85 equally likely letters.")
    assert page.evaluate("said.length") == 1
    press_preset(widget, "ruled out")
    expect(region).to_have_text("Perplexity infinite: a letter came that was ruled out.")


# A theme as the book says it, or JupyterLab, or neither.
CHOOSE = """([selector, theme]) => {
  if (selector === "theme") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  if (selector === "lab") document.body.dataset.jpThemeLight = String(theme === "light");
  else delete document.body.dataset.jpThemeLight;
}"""


def test_contrast(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Perplexity())
    widget.get_by_label("Word").fill("x")  # shows the message
    press_preset(widget, "ruled out")
    widget.locator("summary").last.click()
    for selector, theme in itertools.product(("theme", "system", "lab"), ("light", "dark")):
        page.emulate_media(color_scheme=theme if selector == "system" else "light")
        page.evaluate(CHOOSE, [selector, theme])
        background = widget.evaluate("(e) => getComputedStyle(e).backgroundColor")
        assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 27, 34)"}[theme], selector
        result = page.evaluate(LOW_CONTRAST, 4.5)
        assert result["checked"] > 40 and result["found"] == [], (selector, theme)
        # Lines, bars and the edges of controls: 3 to 1.
        graphics = {".ppl-bar": "backgroundColor", ".ppl-branch": "stroke", ".ppl-mean": "borderLeftColor"}
        graphics |= {".ppl-preset": "borderTopColor", ".d2lrnn-text": "borderTopColor"}
        contrast = """([colour, back]) => { const l = (c) => { const [r, g, b] = c.match(/\\d+/g).map((v) => (v /= 255)
          <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05; };
          const [a, b] = [l(colour), l(back)]; return Math.max(a, b) / Math.min(a, b); }"""
        for name, style in graphics.items():
            colour = widget.locator(name).last.evaluate(f"(e) => getComputedStyle(e).{style}")
            assert page.evaluate(contrast, [colour, background]) >= 3, (selector, theme, name)


def test_a_page_theme_wins_over_the_system(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser) as (page, _):
        page.emulate_media(color_scheme="dark")
        widget = show(page, tmp_path, Perplexity(), theme="light")
        assert widget.evaluate("(e) => getComputedStyle(e).backgroundColor") == "rgb(255, 255, 255)"


def test_phone(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.emulate_media(reduced_motion="reduce")
    head = "<style>body { margin: 0 } main { padding: 0 16px }</style>"
    words = ("ab", "machine", "perplexities", "WWWWWWWWWWWW", "👩\u200d👩\u200d👩\u200d👩")
    show(page, tmp_path, *(Perplexity(word=word) for word in words), head=head)
    for i, word in enumerate(words):
        widget = page.locator(".d2lrnn-widget").nth(i)
        for name in ("all alike", "certain", "likely", "ruled out"):
            if name == "all alike" and re.search("[^a-z ]", word):  # where it is off, the figure opens on 1/27 each
                expect(preset(widget, name)).to_be_disabled()
                expect(number(widget)).to_have_text("27")
            else:
                press_preset(widget, name)
            assert page.evaluate("document.documentElement.scrollWidth") == 360, (word, name)
            clipped = widget.evaluate(
                "(e) => [...e.querySelectorAll('.d2lrnn-view *')].filter((x) => x.getBoundingClientRect().right >"
                " e.getBoundingClientRect().right + 0.5 && !x.closest('.d2lrnn-hidden')).map((x) => x.className)"
            )
            assert clipped == [], (word, name)
        sizes = widget.evaluate(
            "(e) => [...e.querySelectorAll('button, input')].filter((x) => x.checkVisibility())"
            ".map((x) => x.getBoundingClientRect())"
            ".map((box) => [box.width, box.height])"
        )
        assert all(width >= 44 and height >= 40 for width, height in sizes), (word, sizes)
    context.close()


def test_control_and_effect_share_a_phone_screen(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    page = context.new_page()
    widget = show(page, tmp_path, Perplexity(), head="<style>body { margin: 0 }</style>")
    foot = widget.locator(".ppl-row", has=page.locator(".ppl-flag")).bounding_box()
    assert foot["y"] + foot["height"] - widget.bounding_box()["y"] <= 740
    # With the longest word the result stays in sight while its last slider is used.
    widget.get_by_label("Word").fill("perplexities")
    last = slider(widget, 10)
    last.evaluate("(e) => e.scrollIntoView({ block: 'center' })")
    assert page.evaluate("scrollY") > 100
    expect(last).to_be_in_viewport(ratio=1)
    expect(number(widget)).to_be_in_viewport(ratio=1)
    context.close()


def test_motion_only_where_it_is_wanted(browser: Browser, tmp_path: Path) -> None:
    watch = """(e) => { globalThis.ends = []; new MutationObserver(() =>
      globalThis.ends.push(e.querySelector('.ppl-track').style.getPropertyValue('--ppl-end')))
      .observe(e.querySelector('.ppl-track'), { attributeFilter: ['style'] }); }"""
    for wish in ("no-preference", "reduce"):
        with watched_page(browser) as (page, _):
            page.emulate_media(reduced_motion=wish)
            widget = show(page, tmp_path, Perplexity())
            slider(widget, 0).press("ArrowRight")  # a touch: what moves by itself at first may be under way
            widget.evaluate(watch)
            press_preset(widget, "all alike")
            page.wait_for_function("() => globalThis.ends.at(-1) === '59.44%'")
            assert (page.evaluate("new Set(ends).size") == 1) == (wish == "reduce")
            page.evaluate("() => { globalThis.ends = []; }")
            slider(widget, 0).press("Home")
            page.wait_for_timeout(100)
            assert page.evaluate("[...new Set(ends)]") == ["0.00%"], "a bar answers at once"


def test_it_opens_by_itself_and_a_hand_stops_it(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser) as (page, _):
        widget = show(page, tmp_path, Perplexity())
        end = "(e) => e.querySelector('.ppl-track').style.getPropertyValue('--ppl-end')"
        page.wait_for_timeout(1500)
        assert widget.evaluate(end) == "25.00%"
        page.reload()
        slider(page.locator(".d2lrnn-widget"), 0).press("End")
        page.wait_for_timeout(1500)
        assert page.locator(".d2lrnn-widget").evaluate(end) == "100.00%"


def test_the_static_picture_stands_in_print_and_without_javascript(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser) as (page, record):
        widget = show(page, tmp_path, Perplexity())
        page.emulate_media(media="print")
        expect(widget.locator(".d2lrnn-fallback svg")).to_be_visible()
        expect(widget.locator(".d2lrnn-view")).to_be_hidden()
        assert record.errors == []
    context = browser.new_context(java_script_enabled=False, viewport={"width": 360, "height": 740})
    page = context.new_page()
    page.goto(f"{tmp_path.as_uri()}/page.html")
    picture = page.get_by_role("img", name=re.compile("Perplexity of a word"))
    expect(picture).to_be_visible()
    expect(page.get_by_text("Perplexity 2.00: like choosing among 2 ")).to_be_visible()
    assert picture.bounding_box()["width"] <= 360 and picture.bounding_box()["height"] > 100
    context.close()


@pytest.mark.parametrize("kind", BROKEN)
def test_a_widget_that_fails_says_so_and_leaves_the_picture(browser: Browser, tmp_path: Path, kind: str) -> None:
    class Broken(Perplexity):
        _esm = BROKEN[kind]

    with watched_page(browser) as (page, record):
        (tmp_path / "page.html").write_text(page_of(Broken(), Perplexity()), encoding="utf-8")
        page.goto(f"{tmp_path.as_uri()}/page.html")
        broken, sound = page.locator(".d2lrnn-widget").first, page.locator(".d2lrnn-widget").last
        expect(broken).to_have_attribute("data-ready", "error")
        expect(broken.locator(".d2lrnn-error")).to_contain_text("This figure stopped: ")
        if kind != "syntax":
            expect(broken.locator(".d2lrnn-error")).to_contain_text("no such luck <b>")
        expect(broken.locator(".d2lrnn-fallback svg")).to_be_visible()
        expect(sound).to_have_attribute("data-ready", "1")
        assert len(record.errors) == 1, "the console says what went wrong"


class Faulty(Perplexity):
    """Its state does not fit its module: drawing fails after building did not."""

    word = t.Unicode("ab").tag(sync=True, control=True)
    _FAULT = '"vocab_size":27'

    def static_html(self) -> str:
        return super().static_html().replace(self._FAULT, '"vocab_size":"x"').replace('"probs":', '"brobs":')


def test_a_view_that_cannot_draw_says_so(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser) as (page, record):
        (tmp_path / "page.html").write_text(page_of(Faulty()), encoding="utf-8")
        page.goto(f"{tmp_path.as_uri()}/page.html")
        widget = page.locator(".d2lrnn-widget")
        expect(widget).to_have_attribute("data-ready", "error")
        expect(widget.locator(".d2lrnn-error")).to_contain_text("This figure stopped")
        expect(widget.locator(".d2lrnn-fallback svg")).to_be_visible()
        assert len(record.errors) == 1


# Mount the module by hand, on a model that counts its handlers, as a live front end would.
BY_HAND = """async () => {
  const source = JSON.parse(document.querySelector("script.d2lrnn-module").textContent);
  const { default: widget } = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const author_state = { word: "ab", probs: [0.5], vocab_size: 27 };
  const values = { ...author_state, author_state };
  const handlers = new Set();
  let saves = 0;
  const model = {
    get: (name) => values[name],
    set: (name, value) => {
      values[name] = value;
      for (const [event, f] of handlers) if (event === `change:${name}`) f();
    },
    save_changes: () => { saves += 1; },
    on: (event, f) => { handlers.add([event, f]); },
    off: (event, f) => {
      for (const entry of handlers) if (entry[0] === event && entry[1] === f) handlers.delete(entry);
    },
  };
  const el = document.body.appendChild(document.createElement("div"));
  Object.assign(globalThis, { widget, model, handlers, el, values, saves: () => saves });
}"""


@pytest.mark.parametrize("how", ["cleanup", "signal"])
def test_a_view_leaves_nothing_behind(opened: tuple[Page, Record], tmp_path: Path, how: str) -> None:
    page, _ = opened
    show(page, tmp_path, Perplexity())
    page.evaluate(BY_HAND)
    page.evaluate(
        "() => { globalThis.controller = new AbortController();"
        " globalThis.cleanup = widget.render({ model, el, signal: controller.signal }); }"
    )
    assert page.evaluate("[el.className, el.dataset.ready, handlers.size]") == ["d2lrnn-widget", "1", 3]
    text = page.evaluate("el.querySelector('.ppl-number').textContent")
    assert text == "2"
    # One message to Python for what belongs together, and one drawing for several changes.
    page.evaluate(
        "() => { const field = el.querySelector('input[type=text]'); field.value = 'abc';"
        " field.dispatchEvent(new Event('input')); globalThis.field = field; }"
    )
    assert page.evaluate("[saves(), values.word, values.probs.length]") == [1, "abc", 2]
    page.evaluate("how => how === 'signal' ? controller.abort() : cleanup()", how)
    assert page.evaluate("handlers.size") == 0
    page.evaluate("() => { field.value = 'abcd'; field.dispatchEvent(new Event('input')); }")
    assert page.evaluate("[saves(), values.word]") == [1, "abc"]
    page.evaluate("cleanup()")  # a host may call it after the signal; twice is once
    assert page.evaluate("[el.childElementCount, el.dataset.ready ?? null]") == [0, None]


def test_changes_of_python_redraw_and_disagreeing_traits_are_survived(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    show(page, tmp_path, Perplexity())
    page.evaluate(BY_HAND)
    page.evaluate("() => { widget.render({ model, el }); }")
    page.evaluate("() => model.set('word', 'abcde')")  # the message with the probabilities has not come yet
    by_hand = page.locator("body > .d2lrnn-widget")
    expect(by_hand.locator("input[type=range]")).to_have_count(4)
    page.evaluate("() => model.set('probs', [0.2, 0.2, 0.2, 0.2])")
    expect(number(by_hand)).to_have_text("5")
    page.evaluate("() => model.set('vocab_size', 100)")
    by_hand.get_by_text("Your own word").click()
    press_preset(by_hand, "all alike")
    expect(preset(by_hand, "all alike")).to_contain_text("1/100")
    expect(number(by_hand)).to_have_text("100")
    expect(by_hand.locator(".ppl-fork-more")).to_have_text("+ 68")


def test_a_widget_ends_when_it_leaves_the_page(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Perplexity(), Perplexity())
    # Moved, it lives on; removed, it is taken down.
    page.evaluate("() => { globalThis.root = document.querySelector('.d2lrnn-widget'); document.body.append(root); }")
    press_preset(page.locator("body > .d2lrnn-widget"), "unlikely")
    expect(number(page.locator("body > .d2lrnn-widget"))).to_have_text("5")
    page.evaluate("() => root.remove()")
    page.wait_for_function("() => root.dataset.ready === undefined && !root.querySelector('.ppl')")
    press_preset(widget, "unlikely")
    expect(number(widget)).to_have_text("5")


def test_words_without_a_translation_are_english(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    (tmp_path / "page.html").write_text(page_of(Perplexity()).replace('lang="en-GB"', 'lang="xx"'), encoding="utf-8")
    page.goto(f"{tmp_path.as_uri()}/page.html")
    expect(page.locator(".ppl-label")).to_have_text("perplexity")


def test_five_hundred_random_moves(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="no-preference")
    widget = show(page, tmp_path, Perplexity())
    nodes = "() => document.querySelectorAll('.d2lrnn-widget *').length"
    moves = """() => {
      let seed = 5;
      const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
      const root = document.querySelector(".d2lrnn-widget");
      const words = ["ab", "machine", "perplexities", "", "x", "<i>&amp;", "\\u0000a", "👩👩👩"];
      for (let i = 0; i < 500; i += 1) {
        const control = [...root.querySelectorAll("input, button")];
        const one = control[random(control.length)];
        if (one.type === "range") one.value = random(Number(one.max) + 1);
        if (one.type === "text") one.value = words[random(words.length)];
        if (one.tagName === "BUTTON") one.click();
        else one.dispatchEvent(new Event("input"));
      }
    }"""
    page.evaluate(moves)
    assert not re.search(r"NaN|undefined|null|\[object", widget.inner_text())
    widget.get_by_role("button", name="Reset").click()
    expect(number(widget)).to_have_text("2")
    page.wait_for_timeout(1000)  # the fork glides
    before = page.evaluate(nodes)
    page.evaluate(moves)
    widget.get_by_role("button", name="Reset").click()
    expect(number(widget)).to_have_text("2")
    page.wait_for_timeout(1000)
    assert page.evaluate(nodes) == before


def test_a_step_on_a_phone_shows_all_rows_between_the_result_and_the_question(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 760}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, Perplexity(), head="<style>body { margin: 0 } main { padding: 400px 12px }</style>")
    for title, answer in (("One doubt", "about 1.1"), ("The average", "26")):
        widget.get_by_role("button", name=title).tap()
        rows, result = widget.locator(".ppl-rows"), widget.locator(".ppl-result")
        for _ in range(2):  # when it is asked, and when it is answered
            box, above = rows.bounding_box(), result.bounding_box()
            sheet = widget.locator(".d2lrnn-steps").bounding_box()
            assert above["y"] + above["height"] <= box["y"] and box["y"] + box["height"] <= sheet["y"]
            if widget.locator(".d2lrnn-outcome").is_hidden():
                widget.get_by_role("button", name=answer, exact=True).tap()
    context.close()
