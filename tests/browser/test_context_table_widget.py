"""The table of contexts on a page without a kernel: what followed the letters in the box, and six models that write."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.ngram import NGramLM
from d2lrnn.text import load_text
from d2lrnn.widgets import ContextTable
from pages import LOW_CONTRAST, page_of, served
from watching import Record, watched_page

pytestmark = pytest.mark.browser

HOSTILE = ["", "</script>", "<img src=x onerror=alert(1)>", "👩\u200d💻👩", "שלום", "\u202eevil\u0000", "{x}", "  "]


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=720, height=1000) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        yield page, record
        assert record.errors == [] and record.outside == []


def show(page: Page, folder: Path, *tables: ContextTable, address: str | None = None, **arguments: str) -> Locator:
    """Write the page, open it and wait until the story is counted; return the first table."""
    (folder / "page.html").write_text(page_of(*tables, **arguments), encoding="utf-8")
    page.goto(f"{address or folder.as_uri()}/page.html")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(len(tables))
    expect(page.locator(".ctx-waiting")).to_have_count(0)
    return page.locator(".d2lrnn-widget").first


def written(widget: Locator) -> dict[int, str]:
    """What is in sight of the six writings."""
    texts = widget.locator(".ctx-text").evaluate_all(
        "(all) => all.map((text) => [...text.childNodes]"
        ".filter((e) => !['ctx-prompt', 'ctx-to-come'].includes(e.className)).map((e) => e.textContent).join(''))"
    )
    return dict(enumerate(texts, start=1))


def line(widget: Locator) -> Locator:
    return widget.get_by_role("slider", name="Letter to guess")


def read(widget: Locator) -> None:
    widget.get_by_role("button", name="Look up", exact=True).click()


def test_it_writes_what_python_writes_and_says_what_is_copied(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    tables = ContextTable(view="write"), ContextTable(view="write", seed=ContextTable().seed + 1)
    writings, sentences = [table.writings for table in tables], [table.static_sentence() for table in tables]
    copies = tables[0].copies
    copied = [writings[0][n][begin:end] for n in range(1, 7) for begin, end in copies[n]]
    shares = [sum(end - begin for begin, end in copies[n]) / 64 for n in range(1, 7)]
    with served(tmp_path) as addresses:
        for scheme in ("http", "file"):
            widget = show(page, tmp_path, tables[0], address=addresses[scheme])
            assert written(widget) == writings[0], scheme
            expect(widget.locator(".ctx-prompt")).to_have_text(["the tide "] * 6)
            expect(widget.locator("li .ctx-copied-share")).to_have_text([f"{share:.0%}" for share in shares])
            expect(widget.locator(".d2lrnn-now")).to_have_text(sentences[0])
            assert widget.locator(".ctx-text .ctx-copy").all_text_contents() == copied, scheme
            widget.get_by_role("button", name="Write again").press("Enter")
            assert written(widget) == writings[1], scheme
            expect(widget.get_by_role("status")).to_have_text(sentences[1])


# What is in sight at each frame of a writing: the lengths of the six, the height, the sentence and the last share.
WATCH_IT_WRITE = """(e) => new Promise((done) => {
  const frames = [];
  const look = () => {
    const lengths = [...e.querySelectorAll(".ctx-text")].map((text) => [...text.childNodes]
      .filter((x) => !["ctx-prompt", "ctx-to-come"].includes(x.className)).map((x) => x.textContent).join("").length);
    frames.push([lengths, e.getBoundingClientRect().height, e.querySelector(".d2lrnn-now").innerText,
      [...e.querySelectorAll("li .ctx-copied-share")].at(-1).innerText]);
    if (lengths[5] === 64 && new Set(frames.map(([[first]]) => first)).size > 3) done(frames);
    else requestAnimationFrame(look);
  };
  [...e.querySelectorAll("button")].find((x) => x.textContent.includes("Write again")).click();
  requestAnimationFrame(look);
})"""


def test_it_rests_at_once_and_writes_again_letter_by_letter(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=720, height=1000) as (page, record):
        table = ContextTable(view="write")
        widget = show(page, tmp_path, table)
        assert written(widget) == table.writings
        table.seed += 1
        sentence = table.static_sentence()
        frames = widget.evaluate(WATCH_IT_WRITE)
        assert all(len(set(lengths)) == 1 for lengths, *_ in frames), "all six at once"
        assert len({height for _, height, *_ in frames}) == 1
        expect(widget.locator(".d2lrnn-now")).to_have_text(sentence)
        assert all((share == "") == (lengths[0] < 64) for lengths, *_, share in frames), "of a whole text, or none"
        assert written(widget) == table.writings
        told = {told for _, _, told, _ in frames}
        assert told <= {"All six go on from the same beginning, with the same random numbers…", sentence}
        assert record.errors == []


def test_another_beginning(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(view="write"))
    widget.get_by_label("Go on from").fill("Mr. Keld ")
    assert written(widget) == ContextTable(start="mr keld ").writings
    expect(widget.get_by_label("Go on from")).to_have_value("Mr. Keld ")
    note = widget.locator(".ctx-note").last
    expect(note).to_have_text("Read as “mr␣keld␣”: the story has only a to z and single spaces.")
    widget.get_by_label("Go on from").fill("Привет!")
    expect(note).to_have_text("Read as “␣”: the story has only a to z and single spaces.")
    widget.get_by_label("Go on from").fill("the sea was grey and the wind blew from the north all day")
    told = "Only the last 40 of these 57 letters and spaces are read: “and␣the␣wind␣blew␣from␣the␣north␣all␣day”."
    expect(note).to_have_text(told)
    widget.get_by_label("Go on from").fill("The sea")
    expect(note).to_be_hidden()


def models(widget: Locator) -> list[str]:
    """What the six rows say, in one line each."""
    seen = """(all) => all.map((e) => [...e.children].filter((x) => !x.matches(".ctx-counted"))
      .map((x) => x.textContent).join(" "))"""
    return [re.sub(r" +", " ", each).strip() for each in widget.locator(".ctx-model").evaluate_all(seen)]


def test_walking_along_the_line(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(view="write", place=8))
    expect(line(widget)).to_have_count(0)
    read(widget)
    slider, now = line(widget), widget.locator(".d2lrnn-now")
    expect(slider).to_have_attribute("aria-valuenow", "8")
    expect(now).to_have_text("We counted “re␣wa” 42 times. “s” followed 40 times.")
    expect(widget.locator(".ctx-seen")).to_have_text(["r", "e", "␣", "w", "a"])
    expect(widget.locator(".ctx-here")).to_have_text("s")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(now).to_have_text(re.compile("^We counted “ere␣w” "))
    page.keyboard.press("Home")
    expect(widget.locator(".ctx-seen")).to_have_count(0)
    expect(widget.locator(".ctx-model:enabled")).to_have_count(1)
    expect(widget.locator(".ctx-back button:enabled")).to_have_count(1)
    expect(widget.locator(".ctx-rule")).to_have_text("Looking at no letters is called a 1-gram: the letter alone.")
    page.keyboard.press("PageUp")
    expect(widget.locator(".ctx-seen")).to_have_text(["t", "h", "e", "r", "e"])
    rule = "Looking 5 letters back is called a 6-gram: the letter and the 5 before it."
    expect(widget.locator(".ctx-rule")).to_have_text(rule)
    page.keyboard.press("PageDown")
    page.keyboard.press("ArrowRight")
    expect(widget.locator(".ctx-model[aria-pressed=true]")).to_contain_text("1 back")
    page.keyboard.press("End")
    expect(now).to_have_text("We never counted “titio”. A shorter context gives “n” >99%.")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^Letter “n”. We never counted “titio”"))
    expect(widget.get_by_role("status")).to_contain_text("We never counted “titio”")
    expect(widget.locator(".ctx-others")).to_have_text(
        "Never seen, so there is nothing to count. Look back at fewer letters."
    )
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuenow", "19")


def test_the_letter_and_the_edge_of_the_box_are_dragged(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(place=8))
    slider = line(widget)
    box = slider.bounding_box()
    cell, y = box["width"] / 20, box["y"] + 20
    pressed = widget.locator(".ctx-model[aria-pressed=true] .ctx-name")

    def drag(start: float, *places: float) -> None:
        page.mouse.move(box["x"] + cell * start, y)
        page.mouse.down()
        for place in places:
            page.mouse.move(box["x"] + cell * place, y)
        page.mouse.up()

    drag(3, 6.1)  # the edge, inwards
    expect(pressed).to_have_text("2 back")
    expect(slider).to_have_attribute("aria-valuenow", "8")
    drag(5.8, 12)  # beyond the letter: nothing is looked at
    expect(pressed).to_have_text("0 back")
    drag(7.8, 0.2)
    expect(pressed).to_have_text("5 back")
    drag(8.5, 14.5)
    expect(slider).to_have_attribute("aria-valuenow", "14")
    drag(14.5, 40)
    expect(slider).to_have_attribute("aria-valuenow", "19")
    drag(2.5)
    expect(slider).to_have_attribute("aria-valuenow", "2")
    expect(pressed).to_have_text("2 back")


LEFT = "(e) => { const r = new Range(); r.selectNodeContents(e); return r.getBoundingClientRect().left }"


def test_buttons_say_how_far_back(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(place=3))
    now, pressed = widget.locator(".d2lrnn-now"), widget.locator(".ctx-back [aria-pressed=true]")
    expect(pressed).to_have_text("3")  # the line has no more before this letter
    expect(widget.locator(".ctx-back button:enabled")).to_have_text(["0", "1", "2", "3"])
    widget.get_by_role("button", name="Look back 1 letter").press("Enter")
    expect(pressed).to_have_text("1")
    expect(widget.locator(".ctx-seen")).to_have_text(["e"])
    expect(now).to_have_text(re.compile("^We counted “e” "))
    # A count stands where its bar ends.
    for row in widget.locator(".ctx-follower").all():
        bar, count = row.locator(".ctx-bar").bounding_box(), row.locator(".ctx-count")
        assert bar and 4 < count.evaluate(LEFT) - bar["x"] - bar["width"] < 16


def test_the_six_models_stand_in_one_column(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    table = ContextTable(place=19)
    widget = show(page, tmp_path, table)
    widget.locator("summary").click()
    contexts = ["no context", "o", "io", "tio", "itio", "titio"]
    text = load_text()
    past, letter = text.vocab.encode("there was a petitio"), text.vocab.encode("n")[0]
    guesses = [float(NGramLM(text.train_ids, n, 27).next_probs(past)[letter]) for n in range(1, 7)]
    percent = [">99%" if g >= 0.995 else f"{100 * g:.{0 if g >= 0.0995 else 1}f}%" for g in guesses]
    assert models(widget) == [f"{n} back {c} {g}" for n, (c, g) in enumerate(zip(contexts, percent, strict=True))]
    widths = "(all) => all.map((bar) => bar.offsetWidth / bar.parentElement.offsetWidth)"
    shares = [row["hits"] / row["total"] if row["total"] else 0 for row in table.rows]
    assert widget.locator(".ctx-model .ctx-bar").evaluate_all(widths) == pytest.approx(guesses, abs=0.01)
    marks = widget.locator(".ctx-model .ctx-mark")  # by counts alone; none where nothing was counted
    assert marks.evaluate_all("(all) => all.map((e) => e.hidden)") == [row["total"] == 0 for row in table.rows]
    at = "(all) => all.map((e) => Number(e.style.getPropertyValue('--at')))"
    assert marks.evaluate_all(at) == pytest.approx(shares, abs=0.0001)
    said = widget.locator(".ctx-counted").all_text_contents()
    assert said[4:] == ["never seen,"] * 2 and said[1] == "counted 732 of 5\u202f736,"
    widget.get_by_role("button", name="1 back o").click()
    assert models(widget)[1] == f"1 back o {percent[1]}"
    told = "We counted “o” 5\u202f736 times. “n” followed 732 times."
    expect(widget.locator(".d2lrnn-now")).to_have_text(told)
    table.order = 2
    most = list(table.counts.items())[:5]
    shown = widget.locator(".ctx-follower").all_inner_texts()
    said = [f"{letter.replace(' ', '␣')} {count}" for letter, count in most]
    assert [" ".join(each.replace("\u202f", "").split()) for each in shown] == said
    expect(widget.locator(".ctx-real .ctx-letter")).to_have_text("n")
    parts = [count / sum(table.counts.values()) for _, count in most]  # left and right a full track is 100%
    assert widget.locator(".ctx-follower .ctx-bar").evaluate_all(widths) == pytest.approx(parts, abs=0.01)
    left = len(table.counts) - 5, sum(list(table.counts.values())[5:])
    expect(widget.locator(".ctx-others")).to_have_text(f"{left[0]} other letters: {left[1]:,}".replace(",", "\u202f"))


WORDS_IN_ROWS = """(all) => all.map((row) => {
                  const box = (e) => {
                    const range = new Range();
                    range.selectNodeContents(e);
                    return range.getBoundingClientRect();
                  };
                  const [name, context, told] = [".ctx-name", ".ctx-context", ".ctx-told"]
                    .map((e) => box(row.querySelector(e)));
                  const [own, track] = [row, row.querySelector(".ctx-track")].map((e) => e.getBoundingClientRect());
                  const middle = (e) => e.top + e.height / 2;
                  return {
                    unseen: row.classList.contains("ctx-short"),
                    told: told.left - track.left, right: own.right - told.right,
                    context: context.width === 0 || context.left >= name.right && context.right <= track.left,
                    line: Math.abs(middle(told) - middle(name)) };
})"""


def test_no_word_leaves_its_row(opened: tuple[Page, Record], tmp_path: Path) -> None:
    """At the first letter, at the last of "petition" and in a rare text; all words begin where the bars begin."""
    page, _ = opened
    widget = show(page, tmp_path, ContextTable())
    widget.locator("summary").click()
    places = (
        (lambda: line(widget).press("Home"), "0", True),
        (lambda: line(widget).press("End"), "19", False),
        (lambda: widget.get_by_label("Your own text").fill("zqxjkv"), "5", False),
    )
    for go, place, has_unseen in places:
        go()
        expect(line(widget)).to_have_attribute("aria-valuenow", place)
        for width in (320, 390, 720, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            found = widget.locator(".ctx-model").evaluate_all(WORDS_IN_ROWS)
            assert len(found) == 6 and any(row["unseen"] for row in found) == has_unseen, (width, place)
            for row in found:
                assert row["right"] >= 0 and row["context"] and row["line"] < 3, (width, place, row)
                if row["unseen"]:
                    assert abs(row["told"]) < 1, (width, place, row)


def test_a_letter_that_never_followed_is_guessed_with_the_help_of_shorter_contexts(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    text = load_text()
    letter = text.vocab.encode("o")[0]
    guesses = [float(NGramLM(text.train_ids, n, 27).next_probs(text.vocab.encode("of all th"))[letter]) for n in (5, 6)]
    widget = show(page, tmp_path, ContextTable(line="a petition of all those", place=20))
    widget.locator("summary").click()
    origin = widget.locator(".ctx-origin")
    expect(origin).to_have_text("The whole text is not in the counted story.")
    assert models(widget)[4:] == [f"4 back l␣th {guesses[0]:.2%}", f"5 back ll␣th {guesses[1]:.2%}"]
    assert widget.locator(".ctx-counted").all_text_contents()[4:] == ["counted 0 of 70,", "counted 0 of 47,"]
    key = widget.locator(".ctx-mark-key")
    expect(key).to_have_text("by counts alone")
    expect(widget.locator(".ctx-mixed")).to_contain_text("with the shorter contexts mixed in")  # beside both
    mark, track = widget.locator(".ctx-track > .ctx-mark").last, widget.locator(".ctx-model .ctx-track").last
    assert mark.bounding_box()["x"] == pytest.approx(track.bounding_box()["x"], abs=0.5), "at 0, below the guess"
    widget.get_by_label("Your own text").fill("the tide")
    expect(origin).to_have_text("The whole text is in the counted story.")


def test_an_own_text_is_looked_up_at_its_last_letter(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable())
    own = widget.get_by_label("Your own text")
    own.fill("The Sea")
    expect(widget.locator(".ctx-here")).to_have_text("a")
    expect(widget.locator(".ctx-seen")).to_have_text(["h", "e", "␣", "s", "e"])
    now = widget.locator(".d2lrnn-now")
    expect(now).to_have_text(ContextTable(line="the sea", place=6).static_sentence())
    own.fill("Zoë")
    expect(widget.locator(".ctx-note:visible")).to_have_text(
        "Read as “zo␣”: the story has only a to z and single spaces."
    )
    expect(widget.locator(".ctx-model:enabled")).to_have_count(3)
    own.fill("   ")  # one space, and all that is said of it agrees
    expect(widget.locator(".ctx-cell")).to_have_text(["␣"])
    expect(widget.locator(".ctx-note:visible")).to_have_text(
        "Read as “␣”: the story has only a to z and single spaces."
    )
    expect(widget.locator(".ctx-origin")).to_have_text("The whole text is in the counted story.")
    own.fill("tho")  # r followed more often than o, and is not in sight
    apart = widget.locator(".ctx-apart")
    expect(apart).to_have_text("o 77, in place 6")
    own.fill("the")
    expect(apart).to_have_count(0)
    own.fill("")
    expect(now).to_have_text("Type a text. The figure looks up every letter of it.")
    expect(line(widget)).to_have_count(0)
    own.fill("x" * 40)
    expect(widget.locator(".ctx-cell")).to_have_count(24)
    own.fill("we went down to the harbour wall")  # cut where a word begins
    note = "Only the last 24 of these 32 letters and spaces are read: “down␣to␣the␣harbour␣wall”."
    expect(widget.locator(".ctx-cell")).to_have_count(24)
    expect(widget.locator(".ctx-note:visible")).to_have_text(note)
    own.fill("a story about the long grey harbour")
    expect(widget.locator(".ctx-note:visible")).to_contain_text("Only the last 21 of these 35")
    expect(widget.locator(".ctx-cell").first).to_have_text("t")  # a whole word
    widget.get_by_role("button", name="Reset").click()
    expect(own).to_have_value("there was a petition")


def test_one_of_the_two_is_in_sight_and_nothing_moves(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(view="write"))
    height = widget.bounding_box()["height"]
    read(widget)
    expect(widget.get_by_role("button", name="Write again")).to_have_count(0)
    expect(widget.locator(".d2lrnn-now")).to_contain_text("“ere␣w” 67 times.")
    assert widget.bounding_box()["height"] == height
    widget.get_by_role("button", name="Write", exact=True).click()
    expect(widget.get_by_role("button", name="Write again")).to_be_visible()


def test_the_test_shows_how_unsure_each_is(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    table = ContextTable(view="test")
    widget = show(page, tmp_path, table)
    now, key = widget.locator(".d2lrnn-now"), widget.locator(".ctx-seen-key")
    other = "Looking 5 back is like guessing among 3.7 letters. Best is 4 back: 3.6."
    expect(now).to_have_text(other)
    of, after = "of 10\u202f555 new letters", "before them in the story."
    mixed = "in, guess those."
    expect(key).to_have_text(f"5 back: 1\u202f981 {of} never followed the 5 {after} Shorter contexts, mixed {mixed}")
    rows = widget.locator(".ctx-test button")
    expect(rows).to_have_count(6)
    rows.nth(4).click()
    expect(now).to_have_text(table.static_sentence())
    expect(rows.nth(4)).to_have_attribute("aria-pressed", "true")
    expect(widget.get_by_role("status")).to_have_text(table.static_sentence())
    rows.nth(1).click()
    expect(key).to_have_text(re.compile(f"^1 back: 5 {of} never followed the one {after} A shorter context, mixed in"))
    rows.nth(0).click()
    expect(key).to_have_text(f"0 back: each {of} was seen in the story.")
    rows.nth(5).click()
    shown = [round(level["perplexity"], 1) for level in table.levels]
    told = [f"{score} best" if score == min(shown) else f"{score}" for score in shown]
    expect(widget.locator(".ctx-tested b")).to_have_text(told)
    expect(widget.locator(".ctx-longer + li")).to_contain_text("6 back")  # the other two views end at 5
    never = [f"{level['unseen']:,}".replace(",", "\u202f") for level in table.levels]
    expect(widget.locator(".ctx-never")).to_have_text(never)
    widths = widget.locator(".ctx-units").evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().width)")
    perplexities = [level["perplexity"] for level in table.levels]
    shares = [perplexity / perplexities[0] for perplexity in perplexities]
    assert [width / widths[0] for width in widths] == pytest.approx(shares, rel=0.01)
    read(widget)
    widget.get_by_role("button", name="Test", exact=True).click()
    expect(widget.get_by_role("status")).to_have_text(other)


def test_the_steps(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable())
    widget.locator("summary").click()  # what is folded tells nothing ahead either
    start = widget.locator(".ctx").inner_text()
    told, answers = widget.locator(".d2lrnn-outcome"), widget.locator(".d2lrnn-answers")

    def hidden(*tells: str) -> bool:
        return all(not one.is_visible() for each in tells for one in widget.locator(each).all())

    widget.get_by_role("button", name="When counts fail").click()
    expect(line(widget)).to_have_attribute("aria-valuenow", "20")
    expect(widget.get_by_label("Your own text")).to_have_value("a petition of all those")
    expect(widget.locator(".ctx-rule")).to_contain_text("the 5 before it")
    told_by = (".ctx-told", ".ctx-follower", ".ctx-models .ctx-bar", ".ctx-track > .ctx-mark")
    assert hidden(*told_by), "a step that asks tells nothing ahead"
    asked = "(e) => getComputedStyle(e, '::after').content"
    assert widget.locator(".ctx-counts").evaluate(asked) == '"?"', "where the counts will be"
    expect(widget.get_by_role("status")).to_have_text("We counted “ll␣th” 47 times.")
    answers.get_by_role("button", name="5 times").click()
    gets = "by counts alone, the letter that really came would be impossible. But after “␣th”, the last 3 letters,"
    expect(told).to_contain_text(f"Not so. Never: {gets}")
    expect(widget.locator(".ctx-real")).to_have_text("o 0")
    assert widget.locator(".ctx-counts").evaluate(asked) == "none"
    assert widget.locator(".ctx-told").first.is_visible()
    widget.get_by_role("button", name="How far back?").click()
    assert widget.locator(".ctx-told").first.is_visible(), "here all is in sight"
    assert hidden(".ctx-test")
    answers.get_by_role("button", name="4 letters").click()
    expect(told).to_contain_text(
        "Right. 4 letters. Further back, more and more letters never came after these in the story"
    )
    expect(told).to_contain_text("A large network does better: 3.3 (chapter 5).")
    expect(widget.locator(".ctx-least")).to_have_text("4 back 3.6 best 883")
    widget.get_by_role("button", name="Does it copy?").click()
    assert hidden("li .ctx-copied-share", ".ctx-heads")
    expect(widget.locator(".d2lrnn-now")).to_have_text("All six go on from the same beginning.")
    expect(widget.locator(".ctx-text .ctx-copy").first).to_have_css("text-decoration-line", "none")
    answers.get_by_role("button", name="more than half").click()
    expect(told).to_contain_text(
        "Right. 57% on average, 67% here: so much stands in pieces of 10 or more that the story has"
    )
    assert widget.locator("li .ctx-copied-share").last.is_visible()
    widget.get_by_role("button", name="Reset").click()
    assert widget.locator(".ctx").inner_text() == start


def test_on_wide_the_writings_share_the_room_and_a_bar_lies_on_the_whole(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 1280, "height": 800})
    widget = show(page, tmp_path, ContextTable(view="write"))
    rows = [row.bounding_box() for row in widget.locator(".ctx-writings li").all()]
    gaps = [after["y"] - before["y"] for before, after in itertools.pairwise(rows)]
    assert min(gaps) > 40 and max(gaps) - min(gaps) < 1
    assert widget.locator(".ctx-tools").last.bounding_box()["y"] - rows[-1]["y"] - rows[-1]["height"] < 60
    read(widget)
    track = widget.locator(".ctx-follower .ctx-track").first
    assert track.evaluate("(e) => getComputedStyle(e).backgroundColor") != "rgba(0, 0, 0, 0)"


def test_who_walks_on_is_asked_no_more(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable())
    walks = (
        lambda: line(widget).press("ArrowLeft"),
        lambda: widget.locator(".ctx-back button").nth(1).click(),
        lambda: widget.get_by_role("button", name="Test", exact=True).click(),
    )
    question = widget.locator(".d2lrnn-question")
    for move in walks:
        widget.get_by_role("button", name="When counts fail").click()
        move()
        expect(question).to_be_hidden()
        expect(widget.locator(".ctx-asks")).to_have_count(0)
    # An answered one stays while its line is in sight, and no longer.
    widget.get_by_role("button", name="When counts fail").click()
    widget.locator(".d2lrnn-answers").get_by_role("button", name="never").click()
    walks[0]()
    walks[1]()
    expect(question).to_be_visible()
    walks[2]()
    expect(question).to_be_hidden()
    widget.get_by_role("button", name="How far back?").click()
    widget.get_by_role("button", name="Write", exact=True).click()
    expect(question).to_be_hidden()
    widget.get_by_role("button", name="Does it copy?").click()
    widget.locator(".d2lrnn-answers").get_by_role("button", name="5%").click()
    widget.get_by_role("button", name="Write again").click()  # another text: its share is another
    expect(question).to_be_hidden()


def test_an_own_beginning_closes_a_step(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(view="write"))
    widget.get_by_role("button", name="Does it copy?").click()
    widget.get_by_label("Go on from", exact=True).fill("a ship ")
    expect(widget.locator(".d2lrnn-question")).to_be_hidden()


def test_reset_and_link(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(start="low tide", seed=3, view="write"))
    start = widget.locator(".ctx").inner_text()
    widget.get_by_label("Go on from").fill("The Sea")
    widget.get_by_role("button", name="Write again").click()
    shown = written(widget)
    read(widget)
    line(widget).press("Home")
    widget.get_by_role("button", name="Link to this").click()
    address = page.url
    assert "#explore=ContextTable.0&state=" in address
    page.goto("about:blank")
    page.goto(address)
    expect(line(widget)).to_have_attribute("aria-valuenow", "0")
    widget.get_by_role("button", name="Write", exact=True).click()
    expect(widget.get_by_label("Go on from")).to_have_value("the sea")
    assert written(widget) == shown
    widget.get_by_role("button", name="Reset").click()
    expect(widget.get_by_label("Go on from")).to_have_value("low tide")
    assert widget.locator(".ctx").inner_text() == start
    for state in ('{"place":99,"seed":-1}', '{"start":["x"],"seed":1e9}', "[1]"):
        page.evaluate("(s) => { location.hash = `#explore=ContextTable.0&state=${encodeURIComponent(s)}` }", state)
        assert written(widget) == ContextTable(start="low tide", seed=3).writings
    page.evaluate("() => { location.hash = '#explore=ContextTable&view=read&start=Mr.+Keld&line=The+Sea&place=20' }")
    expect(widget.get_by_label("Your own text")).to_have_value("the sea")
    expect(line(widget)).to_have_attribute("aria-valuenow", "6")
    widget.get_by_role("button", name="Write", exact=True).click()
    expect(widget.get_by_label("Go on from")).to_have_value("mr keld")
    expect(widget).to_have_attribute("data-ready", "1")


def test_whatever_is_typed_is_text(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(view="write"))
    for text in HOSTILE:
        read(widget)
        widget.get_by_label("Your own text").fill(text)
        assert not re.search(r"NaN|undefined|null|\[object", widget.inner_text()), text
        widget.get_by_role("button", name="Write", exact=True).click()
        field = widget.get_by_label("Go on from")
        field.fill(text)
        assert all(len(each) == 64 for each in written(widget).values())
        assert not re.search(r"NaN|undefined|null|\[object", widget.inner_text()), text
        assert widget.locator(".d2lrnn-view").locator("img, script").count() == 0
    field.evaluate("(e) => { e.value = 'the tide </b> '.repeat(8000); e.dispatchEvent(new Event('input')); }")
    expect(widget).to_have_attribute("data-ready", "1")


def test_counting_lets_the_page_have_a_turn_after_every_slice(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    # On a clock that leaps 10 ms at every look each step is a slice of its own; a timer of ours runs between them.
    page.add_init_script(
        "let now = 0; performance.now = () => (now += 10); globalThis.turns = 0;"
        "const tick = () => { if (document.querySelector('.ctx-waiting')) { turns += 1; setTimeout(tick, 0); } };"
        "const begin = () => { if (document.querySelector('.ctx-waiting')) { wait.disconnect(); tick(); } };"
        "const wait = new MutationObserver(begin);"
        "wait.observe(document, { childList: true, subtree: true });"
    )
    show(page, tmp_path, ContextTable(view="write"))
    assert page.evaluate("turns") >= 20


def test_a_view_ends_with_its_element(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable(view="write"), ContextTable(seed=2, view="write"))
    expect(page.locator(".ctx-text")).to_have_count(12)
    page.evaluate("() => { globalThis.root = document.querySelector('.d2lrnn-widget'); root.remove(); }")
    page.wait_for_function("() => root.dataset.ready === undefined && !root.querySelector('.ctx')")
    widget.get_by_role("button", name="Write again").click()  # the other one, now the first
    assert written(widget) == ContextTable(seed=3).writings


def test_contrast(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, ContextTable())
    widget.locator("summary").click()
    for theme, colour in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(22, 27, 34)")):
        page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
        expect(widget).to_have_css("background-color", colour)
        for view in ("Write", "Look up", "Test"):
            widget.get_by_role("button", name=view, exact=True).click()
            result = page.evaluate(LOW_CONTRAST, 4.5)
            assert result["checked"] > 30 and result["found"] == [], (theme, view)


def test_phone(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, ContextTable(), head="<style>body { margin: 0 } main { padding: 0 12px }</style>")
    height = "(e) => e.querySelector('.d2lrnn-step-titles').getBoundingClientRect().top - e.getBoundingClientRect().top"
    assert widget.evaluate(height) <= 700
    tops = widget.locator(".d2lrnn-step-title").evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().top)")
    assert len(set(tops)) == 1, "the steps stand in one row"
    tall = widget.evaluate(height)
    line(widget).press("ArrowRight")  # only three letters followed there
    expect(widget.locator(".ctx-none")).to_have_count(2)
    assert widget.evaluate(height) == pytest.approx(tall, abs=0.5), "fewer followers move nothing"
    for width in (390, 360, 320):
        widget.get_by_role("button", name="Reset").click()
        page.set_viewport_size({"width": width, "height": 844})
        widget.get_by_role("button", name="How far back?").click()
        widget.locator(".d2lrnn-answers").get_by_role("button", name="2 letters").click()
        assert page.evaluate("document.documentElement.scrollWidth") == width
        read(widget)
        widget.locator("details:not([open]) summary").evaluate_all("(all) => all.forEach((e) => e.click())")
        expect(widget.locator(".ctx-models")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") == width
        clipped = widget.evaluate(
            "(e) => [...e.querySelectorAll('.d2lrnn-view *')].filter((x) => x.getBoundingClientRect().right >"
            " e.getBoundingClientRect().right + 0.5 && !x.closest('.d2lrnn-hidden'))"
            ".map((x) => x.className || x.tagName)"
        )
        assert clipped == [], width
        box = line(widget).bounding_box()
        line(widget).tap(position={"x": box["width"] * 0.625, "y": box["height"] / 2})
        expect(line(widget)).to_have_attribute("aria-valuenow", "12")
    context.close()
