"""The training lab in the page: it starts and learns, tells its stories, takes a reader's text, gives a picture."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Browser, Frame, Locator, Page, expect

from d2lrnn.widgets import TrainingLab
from d2lrnn.widgets.page import page_of as whole_page_of
from pages import page_of, served
from watching import Record, watched_page

pytestmark = pytest.mark.browser

FOLDER = Path(str(sys.modules[TrainingLab.__module__].__file__)).parent
SPEC = json.loads((FOLDER / "spec.json").read_text(encoding="utf-8"))
LONG_MS = 90_000
NAMES = ["counting letters", "looking 1 letter back", *(f"looking {n} letters back" for n in (2, 3, 4))]
SHORT = [name.removeprefix("looking ") for name in NAMES]  # on a phone
OWN = "Die Möwe fliegt über das Meer, und das Meer fließt über den Sand. Wer fragt, der hört: »So ist es.« "


@pytest.fixture(params=[1280, 390])
def page(request: pytest.FixtureRequest, browser: Browser, tmp_path: Path) -> Iterator[Page]:
    with watched_page(browser, width=request.param, height=844) as (page, record):
        open_lab(page, tmp_path)
        yield page
        assert_clean(record)


@pytest.fixture
def narrow(request: pytest.FixtureRequest, browser: Browser, tmp_path: Path) -> Iterator[Page]:
    """On a phone; the parameter, if any, holds the traits."""
    with watched_page(browser, width=390, height=844) as (page, record):
        open_lab(page, tmp_path, **getattr(request, "param", {}))
        yield page
        assert_clean(record)


def open_lab(page: Page, folder: Path, fragment: str = "", **traits: object) -> None:
    (folder / "page.html").write_text(page_of(TrainingLab(**traits)), encoding="utf-8")
    calm(page)
    page.goto(f"{folder.as_uri()}/page.html{fragment}")
    has_status(page, "paused")


# While it runs, a report is heard once it has learned for another tenth of its age, as on a slow phone.
FEWER_REPORTS = """if (parent === window) {
  const Before = Worker;
  globalThis.Worker = class extends Before {
    set onmessage(hear) {
      let heard = 0;
      super.onmessage = (event) => {
        const { status, steps } = event.data;
        if (status === "running" && steps < 1.1 * heard && !globalThis.moves) return;
        heard = steps;
        hear(event);
      };
    }
  };
}"""


def calm(page: Page) -> None:
    """What moves and is drawn often costs most of the work of a run: see `moves` for where it does."""
    page.emulate_media(reduced_motion="reduce")
    page.add_init_script(FEWER_REPORTS)


def moves(page: Page) -> None:
    """From here on every report is drawn, the page glides, and its reading goes from letter to letter."""
    page.evaluate("() => { globalThis.moves = true; }")
    page.emulate_media(reduced_motion="no-preference")


def resize(page: Page, width: int, height: int = 844) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def assert_clean(record: Record) -> None:
    assert record.errors == [] and record.outside == []


def has_status(page: Page | Frame, status: str) -> None:
    expect(page.locator(".lab")).to_have_attribute("data-status", status, timeout=LONG_MS)


def press(page: Page | Frame, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def perplexity(page: Page) -> float:
    return float((page.locator(".lab-now-value").text_content() or "").replace("\u202f", ""))


def surprisal(page: Page) -> tuple[float, float]:
    """How high the liquid stands in which the letters do: the share of its room that it fills, and its mean opacity."""
    expect(page.locator(".lab-letter")).not_to_have_count(0)  # the worker scores them
    return page.evaluate(
        "() => { let [full, ink, all] = [0, 0, 0];"
        " for (const c of document.querySelectorAll('.lab-liquid')) {"
        " const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height);"
        " for (let i = 3; i < data.length; i += 4) { all += 1; full += data[i] > 0; ink += data[i] / 255; } }"
        " return [full / all, ink / all]; }"
    )


def now(page: Page | Frame) -> Locator:
    return page.locator(".d2lrnn-now")


# In every frame: what is said and lit up, and where the sentence is ahead of the ticks.
WATCH_RIVALS = """() => {
  [window.seen, window.lagged] = [[], []];
  const shown = (selector) => document.querySelector(selector)?.textContent ?? "";
  const look = () => {
    window.seen.push(`${shown("[role=status]")} ${shown("text.lab-flash")}`);
    const [, beaten] = shown(".d2lrnn-now").match(/^It beats (.+)\\. Next/) ?? [];
    const order = { "blind guessing": 1, "counting letters": 2 }[beaten] ?? Number(beaten?.match(/\\d/)?.[0]) + 2;
    const ticks = document.querySelectorAll(".lab-beaten").length;
    if (beaten && order !== ticks) window.lagged.push(`${beaten}: ${ticks} ticks`);
    requestAnimationFrame(look);
  };
  look();
}"""
# Whether the line of what an n-gram is, and what the curve means, do not overlap.
BESIDE = """() => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector(".lab-means"));
  const [a, b] = [range, document.querySelector(".lab-ngram")].map((e) => e.getBoundingClientRect());
  return a.right <= b.left || a.bottom <= b.top || b.bottom <= a.top;
}"""


def test_the_page_pales_the_curve_falls_the_sentence_says_how_far_and_nothing_moves(page: Page) -> None:
    moves(page)
    wide = page.viewport_size["width"] > 500
    expect(now(page)).to_contain_text("noise turn into words")
    filled, fresh = surprisal(page)
    assert filled > 0.5
    expect(page.locator(".lab-means")).to_have_text("as if guessing among 26.1 letters")
    everyone = ["blind guessing", *(NAMES if wide else SHORT)]  # they stand there from the start
    expect(page.locator(".lab-chart .d2lrnn-level-text")).to_have_text(everyone)
    worst, *_, best = (level.bounding_box()["y"] for level in page.locator(".lab-chart .d2lrnn-level").all())
    down = page.locator(".lab-down").bounding_box()  # from where it starts to the best of them
    assert worst < down["y"] < worst + 30 and abs(down["y"] + down["height"] - best) < 12
    expect(page.locator(".lab-beaten")).to_have_count(0)
    before, writes = page.locator(".lab-before"), page.locator(".lab-writes-text")
    expect(before).to_be_hidden()
    noise = writes.inner_text()
    ngram = page.get_by_text("Its rivals only count which letter followed the last ones. Touch a name.")
    expect(ngram).to_be_visible()
    assert page.evaluate(BESIDE)
    parts = [".lab-chart", ".d2lrnn-step-titles", ".lab-ngram"]
    tops = f"() => {parts}.map((part) => document.querySelector(part).getBoundingClientRect().y)"
    places = page.evaluate(tops)
    page.evaluate(WATCH_RIVALS)
    press(page, "normal")
    press(page, "Start")
    beaten = "It beats looking 1 letter back. Next: 2 letters back."
    expect(now(page)).to_have_text(beaten, timeout=LONG_MS)
    expect(ngram).to_be_visible()
    assert page.evaluate(BESIDE) and page.evaluate(tops) == places
    # What it wrote before it read anything stays beside what it writes.
    expect(before).to_have_text(f"At first: {noise}")
    expect(writes).not_to_have_text(noise)
    size = "(e) => parseFloat(getComputedStyle(e).fontSize)"
    assert writes.evaluate(size) >= 1.5 * before.evaluate(size)
    expect(now(page)).to_contain_text("beats looking 2 letters back", timeout=LONG_MS)
    name = "looking 1 letter back" if wide else SHORT[1]  # it lights up and is said, on a busy machine not for long
    assert f"It beats looking 1 letter back! ✓ {name}" in page.evaluate("() => window.seen")
    assert page.evaluate("() => window.lagged") == []
    assert page.evaluate(tops) == places
    press(page, "Pause")
    has_status(page, "paused")
    page.wait_for_timeout(1500)  # it drains
    assert surprisal(page)[1] < 0.6 * fresh and perplexity(page) < 5.41
    names = (NAMES if wide else SHORT)[:3]
    expect(page.locator(".lab-down")).to_have_count(0)
    expect(page.locator(".lab-beaten")).to_have_text(["✓ blind guessing", *(f"✓ {name}" for name in names)])
    page.get_by_text("What it wrote, by age").click()
    written = [text for text in page.locator(".lab-diary-text").all_inner_texts() if text.strip()]
    assert len(written) >= 3 and " the " in f" {' '.join(written[2:])} "
    assert page.evaluate("() => document.documentElement.scrollWidth") <= page.viewport_size["width"]


def test_the_first_corrections_of_a_slow_run_are_seen_one_by_one_each_from_before_to_after(page: Page) -> None:
    right = page.locator(".lab-right")
    expect(right).to_have_count(1)
    expect(page.locator(".lab-was")).to_have_count(0)
    page.evaluate(  # what stands there with each sentence
        "() => { window.seen = {};"
        " const look = () => { const said = document.querySelector('.d2lrnn-now').textContent;"
        " const step = /^Correction (.): it read 16 passages of the story, and its weights moved[.]$/.exec(said)?.[1];"
        " const bar = document.querySelector('.lab-was');"
        " if (step && bar) seen[step] = [document.querySelector('.lab-net-last > .lab-net-name').textContent,"
        " ...['--lab-was', '--lab-share'].map((name) => 100 * bar.style.getPropertyValue(name))]; };"
        " new MutationObserver(look).observe(document.querySelector('.lab'),"
        " { subtree: true, childList: true, attributes: true, characterData: true }); }"
    )
    press(page, "Start")
    page.wait_for_function("() => seen[6]", timeout=LONG_MS)
    seen = page.evaluate("() => seen")
    assert sorted(seen) == list("123456")
    told = []
    for change, was, share in seen.values():
        told.append([float(share) for share in re.fullmatch(r"e came: ([\d.]+) → ([\d.]+)%", change).groups()])
        assert abs(was - told[-1][0]) < 0.1 and abs(share - told[-1][1]) < 0.1, "the mark stands where the bar ended"
    assert all(before[1] == after[0] for before, after in pairwise(told)), told
    assert told[0][0] < 5 < 10 < told[-1][1], told
    expect(page.locator(".lab-was")).to_have_count(0)  # the pace quickens


def test_labels_stay_inside_the_picture_and_apart(narrow: Page) -> None:
    page = narrow
    for width in (390, 1280):
        resize(page, width)
        expect(page.locator(".lab-chart .d2lrnn-level-text")).to_have_count(6)
        labels_are_apart(page, 6)
        press(page, "No memory")
        labels_are_apart(page, 6)
        press(page, "Reset")


def labels_are_apart(page: Page, count: int) -> None:
    boxes = page.evaluate(
        "() => [...document.querySelectorAll('.lab-chart text')].map((e) => { const b = e.getBoundingClientRect();"
        " const o = e.ownerSVGElement.getBoundingClientRect();"
        " return [b.left - o.left, b.top - o.top, b.right - o.left, b.bottom - o.top, o.width, e.textContent]; })"
    )
    levels = [box for box in boxes if re.search(r"back|guessing|count", box[5])]
    assert len(levels) == count
    for left, top, right, _, width, text in boxes:
        assert left >= -0.5 and top >= -0.5 and right <= width + 0.5, text
    for above, below in pairwise(levels):
        assert below[1] - above[1] > 13


def test_a_tapped_letter_says_what_was_expected_there_by_finger_and_by_key(page: Page) -> None:
    letters = page.locator(".lab-letter")
    expect(letters.nth(40)).to_be_visible()
    count = letters.count()
    if page.viewport_size["width"] < 500:
        assert page.locator(".lab-line").count() == 3 and 66 < count < 96, "three lines of it on a phone"
    else:
        assert count == 96
    slider = page.get_by_role("slider", name="Letter of the sentence")
    expect(slider).to_have_attribute("aria-valuenow", "7")
    wide = page.viewport_size["width"] > 500  # there the network has its room from the start
    expect(page.locator(".lab-net-units")).to_be_visible(visible=wide)
    expect(page.locator(".lab-guess:visible")).to_have_count(5 if wide else 1)
    said = "its guesses; e came" if wide else "e came; it gave e"
    expect(page.locator(".lab-net-last > .lab-net-name")).to_have_text(said)
    letters.nth(6).click()
    expect(page.locator(".lab-net-read")).to_have_text("for th")
    letters.nth(30).click()
    expect(slider).to_have_attribute("aria-valuenow", "31")
    expect(page.locator(".lab-guess")).to_have_count(5)
    slider.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuenow", "32")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^␣ came; its guesses: .*␣ 0"))
    letters.nth(15).click()  # "for the red since the last boat"
    expect(page.locator(".lab-net-read")).to_have_text(re.compile(r"red sin$"))
    expect(page.locator(".lab-net-last")).to_contain_text("its guesses; c came")
    expect(page.locator(".lab-net")).to_contain_text("memory: 64 units")
    expect(page.locator(".lab-guess.lab-right b")).to_have_text("c")  # also where it is not among the likeliest
    slider.press("Home")  # nothing is predicted before the first
    expect(slider).to_have_attribute("aria-valuenow", "2")
    slider.press("End")
    expect(slider).to_have_attribute("aria-valuenow", str(count))


def number(shown: str) -> float:
    """A number as the figure writes it: 7.21, 182 098, 2.0×10⁶."""
    plain = shown.replace("\u202f", "").replace("∞", "inf").replace("×10", "e")  # noqa: RUF001
    return float(plain.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")))


def test_a_story_hides_its_end_until_a_guess_and_tells_what_was_measured(narrow: Page) -> None:
    page = narrow
    press(page, "A cat on the keys")
    outcome = page.locator(".d2lrnn-outcome")
    expect(outcome).to_be_hidden()
    press(page, "it saves the network")
    expect(outcome).to_contain_text("The cat comes after correction 300.")
    expect(page.locator(".lab-norms")).to_be_visible()
    expect(page.locator(".d2lrnn-question")).to_contain_text("a cat lies on the keyboard")
    expect(page.get_by_role("button", name="it saves the network")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".lab-cat-name")).to_have_text(["cat", "cat"])
    page.locator(".lab-norms").scroll_into_view_if_needed()
    page.evaluate("() => scrollBy(0, 200)")
    for part in (".lab-writes-text", ".lab-count"):
        expect(page.locator(part)).to_be_in_viewport(ratio=1)  # it stays in sight
    assert page.locator(".lab-writes").bounding_box()["y"] == 0, "at the edge, with its head"
    expect(page.locator(".lab-before")).to_be_hidden()
    sheet, text = (page.locator(part).bounding_box() for part in (".d2lrnn-step", ".lab-writes-text"))
    assert text["y"] + text["height"] < sheet["y"]
    top = page.evaluate("() => scrollY")
    expect(outcome).to_contain_text("The cat was here and typed zzzzzzzz…: a push of length", timeout=LONG_MS)
    assert abs(page.evaluate("() => scrollY") - top) < 60, "lines that come below do not scroll the page"
    expect(now(page)).to_contain_text("The cat threw it off: its doubt rose from", timeout=LONG_MS)
    expect(outcome).to_contain_text("Next: the same, clipped", timeout=LONG_MS)
    ticks = page.locator(".lab-chart .d2lrnn-tick").all_text_contents()
    expect(page.locator(".lab-means")).to_contain_text("worse than blind guessing")
    expect(page.locator(".lab-norms .lab-head")).to_have_text("Push of each correction")
    expect(outcome).to_contain_text("The same again", timeout=LONG_MS)
    expect(page.locator(".lab-ghost-button")).to_have_count(1)
    expect(page.locator(".lab-ghost-button")).to_have_text(re.compile(r"^A: [^,]+, worse than blind \(no clipping\)$"))
    expect(outcome).to_contain_text("Right. Unclipped, its doubt swung between", timeout=LONG_MS)
    told = r"between (.+?) and (.+?) after the cat; over 27 is worse than blind\. .* stayed at ([\d.]+) or below\."
    least, most, kept = re.search(told, outcome.inner_text()).groups()
    end = re.search(r"A: (.+?),", page.locator(".lab-ghost-button").inner_text()).group(1)
    assert number(least) <= number(end) <= number(most), (least, end, most)
    expect(page.locator(".lab-chart .d2lrnn-tick")).to_have_text(ticks)  # the axes of the run before
    noted = page.locator(".lab-diary-row", has_text=re.compile("^300")).locator(".lab-diary-value").text_content()
    assert float(noted or "inf") < 8.85, "the diary's 300 is what the cat found"
    expect(page.locator(".lab-norms .lab-head")).to_have_text("Push of each correction before clipping")
    assert number(most) > 27 and float(kept) < 1.3 * 8.85
    has_status(page, "ended")
    chart, ages, knob = (page.locator(part).bounding_box() for part in (".lab-chart", ".lab-back", ".lab-back-knob"))
    line = chart["y"] + float(page.locator(".lab-ghost-top").get_attribute("y") or "nan")
    assert line <= ages["y"] - knob["height"] / 2 + 0.5, "clear of the knob where that lies at the upper edge"
    press(page, "Next: 3")
    expect(page.locator(".d2lrnn-question")).to_contain_text("memory is emptied before every letter")
    expect(outcome).to_be_hidden()


def test_a_story_begins_afresh_after_any_run_and_is_over_when_something_else_begins(narrow: Page) -> None:
    page = narrow
    press(page, "fast")
    press(page, "Start")
    page.wait_for_function("() => parseFloat(document.querySelector('.lab-now-value').textContent) < 6")
    press(page, "slow")
    press(page, "No memory")
    press(page, "looking 1 letter back")
    # Afresh: the run before was below 6, and without memory none comes below the 2-gram, 8.85.
    page.wait_for_function("() => parseFloat(document.querySelector('.lab-now-value').textContent) > 8")
    expect(page.locator(".lab-ghost-button")).to_have_count(0)  # it is told with its own runs alone
    page.get_by_text("More settings").click()
    page.get_by_label("seed").press("End")
    expect(page.locator(".d2lrnn-outcome")).to_have_text("The run ended before its time.")
    expect(page.locator(".lab-count")).to_contain_text(re.compile(r"corrections"))
    press(page, "Reset")
    expect(page.locator(".lab-ghost-button")).to_have_count(0)
    expect(now(page)).to_contain_text("noise turn into words")


def test_a_text_of_the_readers_own_is_learned_in_the_page(page: Page) -> None:
    press(page, "Your own text")
    field = page.get_by_label("Paste a text here")
    expect(page.locator(".lab-text")).to_contain_text("Any text of 700 characters or more")
    expect(page.locator(".lab-text")).to_contain_text("nothing is sent anywhere")
    field.fill("Zu kurz.")
    expect(page.locator(".lab-message")).to_have_text("8 characters so far; it needs 700.")
    expect(page.locator(".lab-letters").first).to_contain_text("for")
    expect(page.get_by_role("button", name="Back to the story")).to_be_hidden()
    press(page, "Try: a German tale")
    expect(page.locator(".lab-message")).to_contain_text(
        re.compile("Only \\d+ of the characters are kept for its test: its doubt will be a rough number")
    )
    expect(page.locator(".lab-letters").first).to_contain_text("keinen")  # shown at once, and not yet learned
    shown = re.compile("nothing is read yet. Rivals: blind guessing 34")
    expect(page.locator(".lab-chart")).to_have_attribute("aria-label", shown)
    has_status(page, "paused")
    page.wait_for_function("() => document.querySelector('.lab-main').getBoundingClientRect().y >= 0")
    press(page, "Back to the story")
    expect(page.locator(".lab-letters").first).to_contain_text("for")
    expect(field).to_have_value("")
    field.fill(OWN * 40 + "  %&")
    expect(page.locator(".lab-message")).to_contain_text("2 line ends and extra spaces are dropped.")
    merged = re.compile(r"\d+ different\. The 2 rarest \(“%” “&”\) count as one, □\.")
    expect(page.locator(".lab-message")).to_contain_text(merged)
    expect(page.locator(".lab-reading-head")).to_contain_text("□: a rare sign.")
    expect(page.locator(".lab-blue")).to_have_text("")  # nothing is blue yet
    press(page, "fast")
    press(page, "Start")
    expect(page.locator(".lab-ages")).to_contain_text("Meer", timeout=LONG_MS)
    assert perplexity(page) < 3
    expect(page.get_by_label("Paste a text here")).to_be_hidden()
    press(page, "Reset")
    expect(page.locator(".lab-letters").first).to_contain_text("for")


def test_a_file_is_read_in_the_page(narrow: Page, tmp_path: Path) -> None:
    page = narrow
    (tmp_path / "own.txt").write_text(OWN * 40, encoding="utf-8")
    press(page, "Your own text")
    page.locator("input[type=file]").set_input_files(tmp_path / "own.txt")
    expect(page.locator(".lab-message")).to_contain_text("characters,")
    expect(page.get_by_label("Paste a text here")).to_have_value(OWN * 40)


def test_a_picture_of_the_run_can_be_saved_and_a_change_of_size_starts_again_and_one_of_the_learning_rate_does_not(
    narrow: Page, tmp_path: Path
) -> None:
    page = narrow
    press(page, "fast")
    press(page, "Start")
    page.wait_for_function("() => parseFloat(document.querySelector('.lab-now-value').textContent) < 8")
    press(page, "Pause")
    has_status(page, "paused")
    with page.expect_download() as saved:
        press(page, "Picture to share")
    saved.value.save_as(tmp_path / "run.png")
    expect(page.locator(".lab")).to_contain_text("Saved: my-network.png.")
    assert (tmp_path / "run.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert (tmp_path / "run.png").stat().st_size > 30_000
    page.get_by_text("More settings").click()
    before = page.locator(".lab-count").inner_text()
    page.get_by_label("learning rate").press("End")
    expect(page.locator(".lab-undo")).to_have_text("Undo: learning rate 5")
    assert page.locator(".lab-count").inner_text() == before
    page.get_by_label("memory units").press("Home")
    expect(page.locator(".lab-count")).to_contain_text("0 corrections")
    expect(page.locator(".lab-net")).to_contain_text("memory: 2 units")
    expect(page.locator(".lab-ghost-button")).to_have_count(1)
    press(page, "GRU")
    expect(page.locator(".lab-net")).to_contain_text("2 units, 2 gates")


def test_a_phone_sends_the_picture(browser: Browser, tmp_path: Path) -> None:
    record = Record()
    with browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as context:
        record.watch(context)
        page = context.new_page()
        page.add_init_script("""navigator.canShare = () => true; navigator.share = async ({ files }) => {
          window.sent = files.map((file) => `${file.name} ${file.type} ${file.size > 30_000}`);
          if (window.refused) throw new DOMException("", "AbortError");
        };""")
        open_lab(page, tmp_path)
        press(page, "fast")
        press(page, "Start")
        page.wait_for_function("() => parseFloat(document.querySelector('.lab-now-value').textContent) < 8")
        press(page, "Pause")
        press(page, "Picture to share")
        told = page.locator(".d2lrnn-told")
        expect(told).to_have_text("Sent.")
        assert page.evaluate("() => window.sent") == ["my-network.png image/png true"]
        page.evaluate("() => { window.refused = true; }")
        press(page, "Picture to share")
        expect(told).to_have_text("")
        assert_clean(record)


def test_a_link_reproduces_the_settings(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=390, height=844) as (page, record):
        open_lab(page, tmp_path, "#explore=TrainingLab&cell=gru&num_hiddens=16&speed=normal&story=2")
        expect(page.get_by_role("button", name="normal")).to_have_attribute("aria-pressed", "true")
        expect(page.locator(".d2lrnn-question")).to_contain_text("a cat lies on the keyboard")
        expect(page.locator(".d2lrnn-outcome")).to_be_hidden()
        expect(page.get_by_role("button", name="GRU", exact=True)).to_have_attribute("aria-pressed", "true")
        expect(page.locator(".lab-net")).to_contain_text("16 units, 2 gates")
        assert_clean(record)


def test_a_link_to_a_story_opens_it_as_a_press_does(browser: Browser, tmp_path: Path) -> None:
    for fragment in ("story=2", "story=2&optimizer=sgd&learning_rate=1&clip=1"):  # before the run, and after it
        with watched_page(browser, width=390, height=844) as (page, record):
            open_lab(page, tmp_path, f"#explore=TrainingLab&{fragment}")
            expect(page.locator(".d2lrnn-question")).to_contain_text("a cat lies on the keyboard")
            expect(page.locator(".lab-cat-name")).to_have_text(["cat", "cat"])
            expect(page.locator(".lab-undo")).to_have_text("Undo: learning rate 1, SGD, no clipping")
            press(page, "Link to this")
            expect(page.locator(".d2lrnn-told")).to_contain_text("this question.")
            press(page, "Reset")
            expect(page.locator(".lab-cat-name")).to_have_count(0)
            assert_clean(record)


COUNT = "() => parseInt(document.querySelector('.lab-count').textContent.replace(/\\s/g, ''))"


def runs_before_a_story(page: Page, story: str) -> None:
    press(page, "fast")
    press(page, "Start")
    page.wait_for_function(f"() => ({COUNT})() > 30")
    press(page, story)
    expect(page.locator(".lab-ghost-button")).to_have_count(0)


def goes_on_after_a_story_and_what_ran_before_it_comes_back(page: Page, story: str) -> None:
    go_on = page.get_by_role("button", name="Go on", exact=True)
    told, steps = page.locator(".d2lrnn-outcome").text_content(), page.evaluate(COUNT)
    go_on.click()
    expect(go_on).to_be_hidden()
    page.wait_for_function(f"(steps) => ({COUNT})() > steps + 20", arg=steps)
    expect(page.locator(".d2lrnn-outcome")).to_have_text(told)
    press(page, "Pause")
    has_status(page, "paused")
    press(page, story)  # closed
    expect(page.locator(".lab-ghost-button")).to_have_count(1)
    press(page, "Go on")
    has_status(page, "running")
    press(page, "Reset")
    expect(page.locator(".lab-ghost-button")).to_have_count(0)


def test_the_first_story_tells_its_verdict_as_soon_as_the_words_are_real(narrow: Page) -> None:
    page = narrow
    runs_before_a_story(page, "Learn to spell")
    press(page, "about ten")
    expect(page.get_by_role("button", name="Go on", exact=True)).to_be_hidden()
    outcome = page.locator(".d2lrnn-outcome")
    expect(outcome).to_contain_text(re.compile(r"^Not so. After \d+ corrections \d+ of \d+ words"), timeout=LONG_MS)
    expect(page.locator(".d2lrnn-verdict")).to_have_text("Not so.")
    expect(outcome).to_have_class(re.compile("d2lrnn-missed"))
    expect(page.locator(".d2lrnn-right")).to_have_text("a few hundred")
    pattern = r"After (\d+) corrections (\d+) of (\d+) words stand in the story, (\d+) different ones"
    steps, real, words, different = re.search(pattern, outcome.inner_text()).groups()
    assert int(real) / int(words) >= 0.6
    marked = set(page.locator(".lab-page-text b").all_text_contents())
    assert len({word.lower() for word in marked}) == int(different)
    has_status(page, "ended")  # all of the figure is of the update that the verdict speaks of
    expect(now(page)).to_contain_text(re.compile(r"^Stopped at \d\.\d\d: it beats"))
    expect(page.locator(".lab-count")).to_contain_text(f"{steps} corrections")
    counted = f"After {steps} corrections: {real} of {words} words of 3 letters or more stand in the story"
    expect(page.locator(".lab-counted .lab-head")).to_have_text(counted)
    question = page.locator(".d2lrnn-question")
    expect(question).to_have_css("font-weight", "400")  # on a high screen it stays, and keeps quiet
    press(page, "The whole question")
    expect(question).not_to_have_css("font-weight", "400")
    goes_on_after_a_story_and_what_ran_before_it_comes_back(page, "Learn to spell")


def test_earlier_runs_take_their_room_from_the_curve_where_it_stands_beside_the_text(
    browser: Browser, tmp_path: Path
) -> None:
    with watched_page(browser, width=1280, height=800) as (page, record):
        open_lab(page, tmp_path)
        titles = page.locator(".d2lrnn-step-titles")
        top = titles.bounding_box()["y"]
        press(page, "fast")
        press(page, "Start")
        for i, cell in enumerate(("GRU", "LSTM", "tanh")):
            page.wait_for_function("() => parseInt(document.querySelector('.lab-count').textContent) > 30")
            press(page, cell)
            expect(page.locator(".lab-ghost-button")).to_have_count(i + 1)
            page.wait_for_function(
                "(top) => document.querySelector('.d2lrnn-step-titles').getBoundingClientRect().y === top", arg=top
            )
        assert_clean(record)


def test_it_is_seen_at_one_look(page: Page) -> None:
    wide = page.viewport_size["width"] > 500
    parts = [".lab-main", ".d2lrnn-now", ".lab-writes"]
    if wide:  # what it writes and the page that it reads stand above all, and the network beside the curve
        parts_ = (".lab-writes", ".lab-page", ".lab-curves", ".lab-net", ".lab")
        writes, read, curves, net, whole = (page.locator(part).bounding_box() for part in parts_)
        assert min(writes["width"], read["width"]) > 0.9 * whole["width"]
        assert writes["y"] + writes["height"] <= read["y"] and read["y"] + read["height"] <= curves["y"]
        assert net["x"] >= curves["x"] + curves["width"]
        assert curves["y"] <= net["y"] and net["y"] + net["height"] < curves["y"] + curves["height"]
        assert curves["y"] + curves["height"] <= 760 and whole["y"] + whole["height"] <= 820
        page.set_viewport_size({"width": 720, "height": 800})  # the width that a lesson gives it on a small screen
        page.wait_for_function("() => document.querySelector('.lab-chart').viewBox.baseVal.width > 600")
    parts.append(".lab-page")
    last, most = (".lab-curves", 800) if wide else (".lab-chart", 800)
    boxes = [page.locator(part).bounding_box() for part in [*parts, last]]
    assert all(above["y"] + above["height"] <= below["y"] for above, below in pairwise(boxes))
    assert boxes[-1]["y"] + boxes[-1]["height"] <= most
    if wide:
        press(page, "No memory")
        panel, curves = (page.locator(part).bounding_box() for part in (".d2lrnn-step", ".lab-curves"))
        assert panel["x"] >= curves["x"] + curves["width"] and panel["y"] + panel["height"] <= most, "beside the curve"


def test_a_run_that_goes_on_moves_nothing_where_the_page_is_wide(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=1280, height=800) as (page, record):
        open_lab(page, tmp_path)
        moves(page)
        runs_before_a_story(page, "Learn to spell")
        parts = [".lab-writes", ".lab-chart", ".d2lrnn-step-titles", ".d2lrnn-step"]
        places = f"() => {parts}.map((part) => document.querySelector(part).getBoundingClientRect().y)"
        expect(page.locator(".lab-counted .lab-head")).to_have_text(re.compile("^After 0 corrections: 0 of"))
        before = page.evaluate(places)
        press(page, "a few hundred")
        expect(page.get_by_role("button", name="Go on", exact=True)).to_be_hidden()
        end = "() => document.querySelector('.lab-end').getBoundingClientRect().y"
        foot = page.evaluate(end)
        outcome = page.locator(".d2lrnn-outcome")
        expect(outcome).to_contain_text("Right. After", timeout=LONG_MS)
        assert page.evaluate(places) == before
        assert page.evaluate(end) == foot, "the room of the page is there from the start"
        real, words = re.search(r"(\d+) of (\d+) words", outcome.inner_text()).groups()
        expect(page.locator(".lab-counted")).to_contain_text(f"{real} of {words} words of 3 letters or more")
        marked = page.locator(".lab-page-text b").count()
        assert marked == int(real), "what is bold is what is counted"
        assert page.evaluate("() => document.documentElement.scrollHeight") <= 1100
        goes_on_after_a_story_and_what_ran_before_it_comes_back(page, "Learn to spell")
        assert_clean(record)


def test_what_stands_stays_when_it_starts_and_when_a_question_opens(page: Page) -> None:
    wide = page.viewport_size["width"] > 500
    parts = [".lab-writes", ".lab-chart", ".d2lrnn-step-titles"]
    if wide:
        parts += [".lab-end", ".d2lrnn-foot > :first-child"]
    places = (
        f"() => {parts}.map((part) => document.querySelector(part).getBoundingClientRect())"
        ".map((b) => [Math.round(b.x + scrollX), Math.round(b.y + scrollY)])"
    )
    before = page.evaluate(places)
    stands = len(before) - (2 if wide else 0)  # what a question brings may stand above the foot
    read = page.locator(".lab-page").bounding_box()
    press(page, "Start")
    has_status(page, "running")
    assert page.evaluate(places) == before and page.locator(".lab-page").bounding_box() == read
    press(page, "Pause")
    has_status(page, "paused")
    press(page, "Learn to spell")
    expect(page.locator(".lab-counted")).to_be_visible()
    expect(page.locator(".lab-net-units")).to_be_visible(visible=wide)  # below the question its memory goes on
    expect(page.locator(".lab-guesses")).to_be_visible(visible=not wide)
    assert page.evaluate(places)[:stands] == before[:stands]
    if not wide:  # the page that is counted lies above the question
        page.wait_for_function(
            "() => { const [counted, panel] = ['.lab-counted', '.d2lrnn-step']"
            ".map((part) => document.querySelector(part).getBoundingClientRect().y);"
            " return 0 <= counted && counted < panel - 100; }"
        )
    press(page, "A cat on the keys")
    expect(page.locator(".lab-norms")).to_be_visible()
    if wide:
        assert page.evaluate(places)[:stands] == before[:stands]
        expect(page.locator(".lab-net")).to_be_hidden()  # the pushes have its room


def test_on_a_page_of_its_own_all_of_it_is_seen_at_one_look(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, height=800) as (page, record):

        def at_both_widths(check: Callable[[], None]) -> None:
            for width in (1280, 1920):
                page.set_viewport_size({"width": width, "height": 800})
                page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
                check()

        def fits() -> None:
            assert page.evaluate("() => document.documentElement.scrollHeight") <= 800

        def keeps_clear() -> None:
            letter, arrow = (page.locator(part).first.bounding_box() for part in (".lab-net-letter", ".lab-net-arrow"))
            assert letter["x"] + letter["width"] <= arrow["x"]

        def shows_the_step() -> None:
            assert page.locator(".d2lrnn-step").evaluate("(step) => step.getBoundingClientRect().bottom") <= 800

        calm(page)
        (tmp_path / "page.html").write_text(whole_page_of(TrainingLab()), encoding="utf-8")
        page.goto(f"{tmp_path.as_uri()}/page.html")
        has_status(page, "paused")
        at_both_widths(fits)
        page.locator(".lab-letter").nth(20).click()
        at_both_widths(keeps_clear)
        at_both_widths(fits)
        press(page, "fast")
        press(page, "Start")
        page.wait_for_function(f"() => ({COUNT})() > 30")
        press(page, "GRU")
        press(page, "Pause")
        expect(page.locator(".lab-ghost-button")).to_have_text(
            re.compile(r"^A: [\d.]+ after \d+ corrections \(tanh\)$")
        )
        at_both_widths(fits)  # with an earlier run
        press(page, "Reset")
        press(page, "fast")
        press(page, "A cat on the keys")
        press(page, "nothing")
        expect(page.locator(".d2lrnn-verdict")).to_be_visible(timeout=LONG_MS)
        at_both_widths(shows_the_step)
        assert_clean(record)


STANDS = [
    *(".lab-lead", ".lab-main", ".d2lrnn-now", ".lab-writes", ".lab-before", ".lab-page", ".lab-curves", ".lab-chart"),
    *(".lab-ngram", ".d2lrnn-step-titles", ".lab-knobs", ".lab-end", ".d2lrnn-foot"),
]
WATCH = """(parts) => {
  const places = () => parts.map((part) => { const { x, y } = document.querySelector(part).getBoundingClientRect();
    return `${part} ${Math.round(x + scrollX)} ${Math.round(y + scrollY)}`; });
  const first = places();
  window.moved = new Set();
  let due = 0; // where motion is reduced, things move when the document changes and at no other time
  const look = () => {
    due = 0;
    places().forEach((place, i) => place !== first[i] && window.moved.add(`${first[i]} -> ${place}`));
  };
  const changes = { subtree: true, childList: true, attributes: true, characterData: true };
  window.watching = new MutationObserver(() => { due ||= requestAnimationFrame(look); });
  watching.observe(document, changes);
}"""


WIDTHS = [320, 360, 390, 480, 620, 720, 860, 1100, 1400]
# Frames that share one worker: it gets a message when all of them have sent it, and each hears what it says.
ONE_WORKER = """if (parent !== window) {
  const Before = Worker;
  const shared = (parent.shared ??= { views: [], sent: [] });
  globalThis.Worker = class {
    constructor(url) {
      shared.worker ??= Object.assign(new Before(url), {
        onmessage({ data }) { // as in FEWER_REPORTS
          if (data.status === "running" && data.steps < 1.1 * shared.heard) return;
          shared.heard = data.steps;
          shared.views.forEach((view) => view.onmessage({ data: structuredClone(data) }));
        },
        onerror: (event) => shared.views.forEach((view) => view.onerror(event)),
      });
      this.place = 0;
      shared.views.push(this);
    }
    postMessage(message) {
      const count = (shared.sent[this.place] = (shared.sent[this.place] ?? 0) + 1);
      this.place += 1;
      if (count === parent.frames.length) shared.worker.postMessage(message);
    }
    terminate() {}
  };
}"""
ALL_HAVE = """(status) => [...document.querySelectorAll("iframe")].every((frame) =>
  frame.contentDocument.querySelector(".lab")?.dataset.status === status)"""


def test_nothing_moves_from_the_start_to_the_end_of_a_run_after_which_a_gru_is_one_press_away(
    browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "page.html").write_text(page_of(TrainingLab()), encoding="utf-8")
    frames = "".join(f'<iframe src="page.html" width="{width}" height="844"></iframe>' for width in WIDTHS)
    small = "<style>body { width: 3200px; transform: scale(0.25); transform-origin: 0 0; }</style>"  # quickly painted
    (tmp_path / "frames.html").write_text(f"<!doctype html><title>Frames</title>{small}{frames}", encoding="utf-8")
    with served(tmp_path) as addresses, watched_page(browser, width=820, height=500) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        page.add_init_script(ONE_WORKER)
        page.goto(f"{addresses['http']}/frames.html")
        views = page.frames[1:]
        assert [view.evaluate("() => innerWidth") for view in views] == WIDTHS
        height = "() => document.documentElement.scrollHeight"
        page.wait_for_function(ALL_HAVE, arg="paused")
        heights = []
        for view in views:
            expect(view.get_by_role("button", name="Picture to share")).to_be_disabled()
            expect(view.get_by_role("button", name="Try a GRU")).to_be_hidden()
            heights.append(view.evaluate(height))
            view.evaluate(WATCH, STANDS)
            press(view, "fast")
        for view in views:
            press(view, "Start")
        page.wait_for_function(ALL_HAVE, arg="ended", timeout=LONG_MS, polling=300)
        for view, width, before in zip(views, WIDTHS, heights, strict=True):
            assert view.evaluate("() => [...window.moved]") == []
            assert view.evaluate(height) == before
            expect(now(view)).to_contain_text(
                re.compile(r"letters to 4\.\d+\. Can a GRU beat looking 3 letters back\?$")
            )
            expect(view.get_by_role("button", name="Try a GRU")).to_be_visible()
            expect(view.locator(".lab-ngram")).to_have_text(
                re.compile(r"^The best rival is a table of 31.667 counts; this network has 7.643 weights\.")
            )
            expect(view.locator(".lab-speeds")).to_be_visible(visible=width > 360)
        for view in views:
            press(view, "Try a GRU")
        page.wait_for_function(ALL_HAVE, arg="running")
        page.evaluate("() => shared.worker.terminate()")  # the rest of this run is not looked at
        for view in views:
            expect(view.locator(".lab-ghost-button")).to_have_count(1)
            expect(view.get_by_role("button", name="GRU", exact=True)).to_have_attribute("aria-pressed", "true")
            expect(view.get_by_role("button", name="Try a GRU")).to_be_hidden()
            expect(view.locator(".lab-knobs > .lab-note")).to_have_text("Two gates choose what it keeps.")
        assert_clean(record)


def test_nothing_moves_while_a_story_runs(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser) as (page, record):
        open_lab(page, tmp_path)
        for width, story, answer in (
            (560, "Learn to spell", "about ten"),
            (720, "A cat on the keys", "nothing"),
            (1280, "No memory", "looking 4 letters back"),
        ):
            resize(page, width)
            press(page, "fast")
            press(page, story)
            press(page, answer)
            has_status(page, "running")
            parts = [part for part in STANDS if part != ".lab-writes"]  # where words are counted the page stands for it
            page.evaluate(WATCH, parts)
            expect(page.locator(".d2lrnn-verdict")).to_be_visible(timeout=LONG_MS)
            assert page.evaluate("() => [...window.moved]") == [], width
            page.evaluate("() => watching.disconnect()")
            press(page, "Reset")
            has_status(page, "paused")
            page.evaluate("() => scrollTo(0, 0)")
        assert_clean(record)


TWO_COLOURS = """() => {
  const c = document.querySelector(".lab-net-units");
  const found = { blue: 0, orange: 0 };
  const { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height);
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] < 255) continue;
    if (data[i + 2] > data[i] + 30) found.blue += 1;
    if (data[i] > data[i + 2] + 30) found.orange += 1;
  }
  return found;
}"""


def test_a_memorys_values_have_two_colours_and_one_unit_is_watched_the_one_that_tells_most_or_the_one_that_is_touched(
    page: Page,
) -> None:
    note, strip = page.locator(".lab-strip-note"), page.locator(".lab-strip").first
    button = page.get_by_role("button", name="Watch one unit")
    wide = page.viewport_size["width"] > 500
    expect(button).to_be_visible(visible=wide)
    page.locator(".lab-letter").nth(6).click()
    button.click()
    expect(note).to_contain_text("it is untrained, its weights are random")
    button.click()
    press(page, "normal")
    press(page, "Start")
    page.wait_for_function("() => parseFloat(document.querySelector('.lab-now-value').textContent) < 15")
    press(page, "Pause")
    has_status(page, "paused")
    expect(note).to_be_hidden()
    page.locator(".lab-letter").nth(20).click()
    hues = page.evaluate(TWO_COLOURS)
    assert hues["blue"] > 1000 and hues["orange"] > 1000, hues
    expect(page.locator(".lab-net-key")).to_have_text("\u22121+1")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    starts = " knows where words begin: (high after a space, low|low after a space, high) elsewhere"
    plain = ": blue is above zero, orange below. It does not just follow the spaces"
    expect(note).to_contain_text(re.compile(rf"^Unit \d+({starts}|{plain})\. Touch another square\.$"))
    expect(strip).to_be_visible()
    unit = page.get_by_role("slider", name="Unit of the hidden state")
    unit.press("Home")
    expect(unit).to_have_attribute("aria-valuenow", "1")
    unit.press("ArrowLeft")
    expect(unit).to_have_attribute("aria-valuenow", "1")
    expect(note).to_contain_text(re.compile(r"^Unit 1\b"))
    squares = page.locator(".lab-net-units")
    box = squares.bounding_box()
    second = {"x": box["width"] * 1.5 / 16, "y": box["height"] / 8}  # sixteen in a row
    squares.click(position=second)
    expect(note).to_contain_text(re.compile(r"^Unit 2\b"))
    squares.click(position=second)
    expect(note).to_be_hidden()
    squares.click(position=second)
    expect(note).to_be_visible()
    press(page, "Reset")
    expect(note).to_be_hidden()
    expect(page.locator(".lab-states")).to_have_attribute("aria-pressed", "false")
    expect(page.locator(".lab-net-units")).to_be_visible(visible=wide)


def test_a_run_that_stands_still_can_be_looked_back_at(page: Page) -> None:
    slider = page.get_by_role("slider", name="Corrections, back to the first")
    written, share = page.locator(".lab-writes-text"), page.locator(".lab-right .lab-guess-p")
    noise = written.inner_text()
    expect(slider).to_be_hidden()
    page.locator(".lab-letter").nth(6).click()
    fresh = share.inner_text()
    press(page, "normal")
    press(page, "Start")
    page.wait_for_function("() => parseFloat(document.querySelector('.lab-now-value').textContent) < 10")
    expect(slider).to_be_hidden()
    press(page, "Pause")
    has_status(page, "paused")
    expect(page.locator(".lab-ngram")).to_contain_text("Drag back along the curve")
    shown = [now(page), written, share, page.locator(".lab-count")]
    reached = [part.inner_text() for part in shown]
    at = "() => document.querySelector('.lab-chart').getBoundingClientRect().y + scrollY"
    place = page.evaluate(at)

    slider.press("Home")
    expect(now(page)).to_have_text(re.compile(r"^Back at 0 corrections: its doubt was 2[\d.]+\.$"))
    assert (written.inner_text(), share.inner_text()) == (noise, fresh)
    ticks = page.locator(".lab-chart :is(.lab-beaten, .lab-passed, .lab-next)")
    expect(ticks).to_have_count(0)  # what is beaten later is no tick yet
    expect(page.locator(".lab-now-value")).to_have_text("26.1")
    expect(page.locator(".lab-count")).to_have_text("0 corrections · 0 s")
    slider.press("End")
    assert [part.inner_text() for part in shown] == reached

    box = slider.bounding_box()
    knob = page.locator(".lab-back-knob")
    start = knob.bounding_box()
    levels = TrainingLab().levels
    page.mouse.move(start["x"] + 10, start["y"] + 10)
    page.mouse.down()
    seen = []
    for along in (0.5, 0.3, 0.1):
        page.mouse.move(box["x"] + along * box["width"], box["y"] + 20, steps=4)
        said = now(page).inner_text().replace("\u202f", "")
        found = re.fullmatch(r"Back at (\S+) corrections?: its doubt was ([\d.]+)\.", said)
        seen.append((int(found[1]), float(found[2])))
        value = page.locator(".lab-now-value").inner_text()
        assert found[1] == "0" or float(value) == seen[-1][1]
        beaten = [level for level in levels if found[1] != "0" and seen[-1][1] < level["perplexity"]]
        expect(page.locator(".lab-beaten")).to_have_count(len(beaten))
    page.mouse.up()
    steps, doubts = zip(*seen)
    assert sorted(steps, reverse=True) == list(steps) and steps[0] > steps[-1], seen
    assert doubts[0] < doubts[-1], "it had learned less then"
    assert page.evaluate(at) == place, "nothing moves"
    press(page, "Go on")
    has_status(page, "running")
    expect(slider).to_be_hidden()
    expect(now(page)).not_to_contain_text("Back at")

    press(page, "Pause")
    has_status(page, "paused")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.evaluate(  # another run has begun, and for a while it has told nothing
        "async () => { document.querySelector('[data-cell=gru]').click();"
        " const slider = document.querySelector('.lab-back');"
        " const { x, y } = slider.getBoundingClientRect();"
        " for (let i = 0; i < 20; i += 1) {"
        " slider.dispatchEvent(new KeyboardEvent('keydown', { key: 'Home' }));"
        " slider.dispatchEvent(new PointerEvent('pointerdown', { clientX: x + 30, clientY: y + 30 }));"
        " await new Promise((done) => setTimeout(done)); } }"
    )
    expect(now(page)).to_have_text("Press Start, and watch its noise turn into words.")
    assert errors == []


def test_start_learns_the_text_that_a_reader_has_just_brought(narrow: Page) -> None:
    page = narrow
    press(page, "Your own text")
    page.get_by_label("Paste a text here").fill(OWN * 40)
    press(page, "Start")
    expect(page.get_by_label("Paste a text here")).to_be_hidden()
    has_status(page, "running")
    expect(page.locator(".lab-letters").first).to_contain_text("fliegt")
    press(page, "Pause")
    press(page, "Your own text")
    press(page, "Go on")  # what it is learning already is not begun again
    expect(page.locator(".lab-count")).not_to_contain_text(re.compile(r"^0 corrections"))


def test_a_story_is_asked_over_a_fresh_network_and_leaves_no_settings_behind(page: Page) -> None:
    press(page, "fast")
    press(page, "Start")
    page.wait_for_function("() => parseFloat(document.querySelector('.lab-now-value').textContent) < 10")
    at = "() => document.querySelector('.lab-chart').getBoundingClientRect().y + scrollY"
    top = page.evaluate(at)
    page.locator(".lab-letter").nth(6).click()
    press(page, "No memory")
    expect(now(page)).to_have_text("It has read nothing yet. Make a guess, and it starts.")
    assert page.evaluate(at) == top
    expect(page.locator(".lab-net-units")).to_be_visible(visible=page.viewport_size["width"] > 500)
    if page.viewport_size["width"] < 500:  # there the question lies at the foot of the screen, elsewhere in its place
        page.locator(".lab-letter").nth(6).click()
        expect(page.locator(".lab-net")).to_contain_text("no memory")
    press(page, "looking 1 letter back")
    press(page, "fast")
    has_status(page, "ended")
    stopped = r"^Stopped at [\d.]+: it beats counting letters, but not looking 1 letter back"
    expect(now(page)).to_contain_text(re.compile(stopped))
    expect(page.locator(".d2lrnn-outcome")).to_contain_text("Right.")
    expect(page.get_by_role("button", name="Undo: steps back in time 1")).to_be_visible()
    if page.viewport_size["width"] > 500:  # there the question stands in the place of the network and its choices
        expect(page.locator(".lab-knobs")).to_be_hidden()
        press(page, "No memory")
    press(page, "GRU")
    expect(page.locator(".lab-undo")).to_be_hidden()
    expect(page.locator(".d2lrnn-outcome")).to_be_hidden()
    page.locator(".lab-letter").nth(6).click()
    expect(page.locator(".lab-net")).to_contain_text("64 units, 2 gates")


@pytest.mark.parametrize("narrow", [{"num_hiddens": 32, "num_steps": 16}], indirect=True)  # it is soon at its end
def test_a_network_that_knows_its_text_by_rote_is_said_to_overfit(narrow: Page) -> None:
    page = narrow
    press(page, "Your own text")
    words = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "lmnrst"]
    page.get_by_label("Paste a text here").fill(" ".join(Random(0).choices(words, k=300)))  # no copies
    press(page, "fast")
    press(page, "Start")
    expect(now(page)).to_contain_text(re.compile("^(It learned its pages by|By) heart: doubt"), timeout=LONG_MS)
    has_status(page, "ended")
    mine, new = map(
        number,
        re.search(
            r"^By heart: doubt (\S+) on its pages, but (\S+) on new ones, worse than blind\.",
            now(page).inner_text(),
        ).groups(),
    )
    assert new == perplexity(page) > 2 * mine
    expect(page.locator(".lab-beaten")).to_have_count(0)  # worse than blind: no rival is beaten now
    told = r"^This is overfitting\. Its best was ([\d.]+), after (\d+) corrections: stop there, or give it more text\."
    best, steps = re.search(told, page.locator(".lab-remark").inner_text()).groups()
    expect(page.locator(".lab-best-value")).to_have_text(f"best {best}")
    expect(page.locator(".lab-train")).to_have_count(1)  # drawn however bad it has become on the others
    expect(page.locator(".lab-thin")).to_have_text("pages it learns from")
    end, at_end = perplexity(page), now(page).inner_text()
    press(page, "Back to its best")
    expect(now(page)).to_have_text(re.compile(rf"^Back at {steps} corrections: its doubt was {re.escape(best)}\.$"))
    assert perplexity(page) == number(best) < end
    knob, mark = (page.locator(part).bounding_box() for part in (".lab-back-knob", ".lab-best"))
    assert abs(knob["x"] + knob["width"] / 2 - mark["x"] - mark["width"] / 2) < 4
    press(page, "To its end")
    expect(now(page)).to_have_text(at_end)
    expect(page.get_by_role("button", name="Back to its best")).to_be_visible()


def test_an_open_question_does_not_lie_over_the_field_of_ones_own_text(narrow: Page) -> None:
    page = narrow
    press(page, "A cat on the keys")
    press(page, "Your own text")
    page.wait_for_function(
        "() => { const field = document.querySelector('.lab-paste'), box = field.getBoundingClientRect();"
        " return [0.1, 0.5, 0.9].every((share) =>"
        " document.elementFromPoint(box.x + box.width / 2, box.y + box.height * share) === field); }"
    )


def test_what_is_told_of_a_link_is_seen_whole_on_a_laptop(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=1280, height=800) as (page, record):
        open_lab(page, tmp_path)
        press(page, "Link to this")
        told = page.locator(".d2lrnn-told")
        expect(told).to_contain_text("these settings.")
        expect(told).to_be_in_viewport(ratio=1)
        box, titles = told.bounding_box(), page.locator(".d2lrnn-step-titles").bounding_box()
        assert box["x"] + box["width"] < titles["x"]
        words = page.evaluate(
            "() => { const range = document.createRange();"
            " range.selectNodeContents(document.querySelector('.lab-ngram'));"
            " return range.getBoundingClientRect().bottom; }"
        )
        assert words <= box["y"] and box["y"] + box["height"] <= page.locator(".d2lrnn-foot").bounding_box()["y"]
        assert_clean(record)


@pytest.mark.parametrize("narrow", [{"num_hiddens": 16, "batch_size": 4}], indirect=True)  # it is soon at its end
def test_copied_pages_of_ones_own_text_are_told(narrow: Page) -> None:
    page = narrow
    press(page, "Your own text")
    page.get_by_label("Paste a text here").fill(OWN * 40)
    press(page, "fast")
    press(page, "Start")
    remark = page.locator(".lab-remark")
    expect(remark).to_contain_text("Copies: passages of 30 letters or more")
    told = re.compile(r"^Doubt [\d.]+\. It may memorise: 100% of its test pages are copies\.$")
    expect(now(page)).to_have_text(told, timeout=LONG_MS)
    has_status(page, "ended")
    expect(now(page)).to_have_text(told)  # whether it does cannot be seen: no page of it is new
    expect(page.locator(".lab-reading-head .lab-head")).to_have_text("A test page")
    press(page, "Reset")
    expect(remark).to_be_hidden()
    expect(page.locator(".lab-reading-head .lab-head")).to_have_text("An unseen page")


def test_a_story_is_closed_when_the_reader_chooses_another_cell(narrow: Page) -> None:
    page = narrow
    press(page, "No memory")
    expect(page.locator(".d2lrnn-question")).to_contain_text("memory is emptied before every letter")
    press(page, "looking 1 letter back")
    press(page, "GRU")
    expect(page.locator(".d2lrnn-step")).to_be_hidden()


def test_while_it_learns_a_touched_letter_stays_and_a_mouse_looks_at_others(page: Page) -> None:
    slider = page.get_by_role("slider", name="Letter of the sentence")
    letters = page.locator(".lab-letter")
    moves(page)
    letters.nth(10).hover()
    wide = page.viewport_size["width"] > 500
    expect(page.locator(".lab-net-units")).to_be_visible(visible=wide)  # nothing opens unasked
    press(page, "Start")
    letters.nth(20).click()
    page.mouse.move(0, 0)
    seconds = "() => parseInt(document.querySelector('.lab-count').textContent.split('· ')[1])"
    page.wait_for_function(f"(before) => ({seconds})() > before + 1", arg=page.evaluate(seconds), timeout=LONG_MS)
    expect(slider).to_have_attribute("aria-valuenow", "21")
    letters.nth(10).hover()
    expect(slider).to_have_attribute("aria-valuenow", "11")


def test_what_it_writes_is_seen_whole_at_every_width(narrow: Page) -> None:
    page = narrow
    text = page.locator(".lab-writes-text")
    for width in (320, 360, 390, 480, 481, 620, 720, 895, 896, 1100, 1400, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        for words in ("psimxgwrktphlkgagrz" * 4, "four had the could the sextever the plepels ney wave bon the " * 2):
            found = text.evaluate(
                "(e, text) => { e.textContent = text.slice(0, 60); return e.scrollHeight <= e.clientHeight + 1"
                " && e.scrollWidth <= e.clientWidth; }",
                words,
            )
            assert found, (width, words)


def test_an_earlier_run_that_is_pressed_stands_out_and_nothing_starts(narrow: Page) -> None:
    page = narrow
    press(page, "fast")
    press(page, "Start")
    page.wait_for_function("() => parseInt(document.querySelector('.lab-count').textContent) > 30")
    press(page, "GRU")
    page.wait_for_function("() => parseInt(document.querySelector('.lab-count').textContent) > 30")
    press(page, "Pause")
    has_status(page, "paused")
    count = page.locator(".lab-count").inner_text()
    run = page.locator(".lab-ghost-button")
    expect(page.locator(".lab-picked")).to_have_count(0)
    run.click()
    expect(run).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".lab-picked")).to_have_count(1)
    expect(page.get_by_role("button", name="GRU", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".lab-count")).to_have_text(count)
    run.click()
    expect(page.locator(".lab-picked")).to_have_count(0)


def test_on_a_phone_a_wrong_answer_stays_in_sight_beside_the_right_one_and_a_cat_has_nothing_to_lie_on(
    narrow: Page,
) -> None:
    page = narrow
    page.get_by_text("More settings").click()
    expect(page.get_by_role("button", name="Let a cat lie on the keyboard")).to_be_enabled()
    press(page, "fast")
    press(page, "No memory")
    press(page, "looking 4 letters back")
    expect(page.locator(".d2lrnn-verdict")).to_have_text("Not so.", timeout=LONG_MS)
    expect(page.get_by_role("button", name="looking 4 letters back", exact=True)).to_be_in_viewport()
    expect(page.get_by_role("button", name="looking 1 letter back ✓", exact=True)).to_be_in_viewport()
    expect(page.get_by_role("button", name="counting letters", exact=True)).to_be_hidden()
    has_status(page, "ended")
    expect(page.get_by_role("button", name="No cat: this run is over")).to_be_disabled()
    press(page, "Start again")
    expect(page.get_by_role("button", name="Let a cat lie on the keyboard")).to_be_enabled()


def test_a_storys_run_is_not_slow_until_the_reader_slows_it_down(narrow: Page) -> None:
    page = narrow
    slow, normal, fast = (page.get_by_role("button", name=name, exact=True) for name in ("slow", "normal", "fast"))
    slow.click()
    press(page, "No memory")
    expect(slow).to_have_attribute("aria-pressed", "true")
    press(page, "looking 1 letter back")
    expect(normal).to_have_attribute("aria-pressed", "true")
    slow.click()
    expect(slow).to_have_attribute("aria-pressed", "true")
    fast.click()
    press(page, "A cat on the keys")
    press(page, "nothing")
    expect(fast).to_have_attribute("aria-pressed", "true")


def test_a_drag_along_the_letters_selects_nothing(narrow: Page) -> None:
    page = narrow
    for width in (390, 1280):
        resize(page, width)
        box = page.locator(".lab-page").bounding_box()
        page.mouse.move(box["x"] + 30, box["y"] + 15)
        page.mouse.down()
        page.mouse.move(box["x"] + 250, box["y"] + 20, steps=8)
        page.mouse.up()
        assert page.evaluate("() => String(getSelection())") == "", width


def test_a_touched_rival_says_what_it_counts_at_the_letter_that_is_read(page: Page) -> None:
    line, names = page.locator(".lab-ngram"), page.get_by_role("slider", name="A rival")
    below = "() => document.querySelector('.d2lrnn-step-titles').getBoundingClientRect().y + scrollY"
    top = page.evaluate(below)
    label = page.locator(".d2lrnn-level-text", has_text=re.compile("looking 1 letter back$|^1 letter back"))
    box, column = label.bounding_box(), names.bounding_box()
    names.click(position={"x": 30, "y": box["y"] + box["height"] / 2 - column["y"]})
    told = r"^Looking 1 letter back \(a 2-gram\): after h, e \d+%, \w \d+%\. Doubt 8\.85\.$"
    expect(line).to_have_text(re.compile(told))
    expect(label).to_have_class(re.compile("lab-touched"))
    expect(names).to_have_attribute("aria-valuetext", line.inner_text())
    names.press("End")
    expect(line).to_contain_text("Looking 4 letters back (a 5-gram): after r␣th, e")
    assert page.evaluate(below) == top
    page.locator(".lab-letter").nth(20).click()
    expect(line).to_contain_text("Looking 4 letters back (a 5-gram): after e␣th, e")  # of another place
    top = page.evaluate(below)
    names.press("Home")
    expect(line).to_have_text("Blind guessing: each of 27 letters is as likely.")
    assert page.evaluate(below) == top
    press(page, "Reset")
    expect(line).to_contain_text("Touch a name.")
    wide = page.viewport_size["width"] > 500
    for i, story in enumerate(("No memory", "A cat on the keys", "A cat on the keys")):  # opened, the next, and closed
        expect(names).to_be_visible(visible=not (wide and i == 2))  # there the pushes have the place of its words
        if names.is_visible():
            names.press("End")
            expect(line).to_contain_text("5-gram")
        press(page, story)
        expect(line).to_contain_text("Touch a name.")


def test_what_a_question_sets_stands_with_it_and_an_undo_closes_it_and_starts_nothing(page: Page) -> None:
    set_, undo = page.locator(".lab-set"), page.locator(".lab-undo")
    wide = page.viewport_size["width"] > 500
    press(page, "Learn to spell")
    expect(set_).to_be_hidden()
    press(page, "A cat on the keys")
    expect(set_).to_have_text("Set for this: learning rate 1, SGD, no clipping.")
    expect(set_).to_be_visible()
    press(page, "No memory")
    expect(set_).to_have_text("Set for this: steps back in time 1, sequences at once 64, memory not kept.")
    expect(set_).to_be_in_viewport(ratio=1)
    press(page, "fast")
    press(page, "looking 1 letter back")
    expect(page.locator(".d2lrnn-verdict")).to_be_visible(timeout=LONG_MS)
    has_status(page, "ended")
    undo.click()
    has_status(page, "paused")
    expect(page.locator(".d2lrnn-step")).to_be_hidden()  # its question was of the other settings
    expect(undo).to_be_hidden()
    expect(page.locator(".lab-net")).to_contain_text("memory: 64 units" if wide else "e came")
    expect(now(page)).to_have_text("Press Start, and watch its noise turn into words.")
    page.wait_for_timeout(1000)
    expect(page.locator(".lab-count")).to_have_text("0 corrections · 0 s")
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    expect(page.locator(".lab-ghost-button")).to_have_text(
        re.compile(
            r"^A: [\d.]+ after 2.000 corrections \(tanh, steps back in time 1, sequences at once 64, memory not kept\)$"
        )
    )


def test_on_a_phone_the_colours_of_the_words_and_of_the_page_are_told(narrow: Page) -> None:
    page = narrow
    resize(page, 410)
    surprise = page.locator(".lab-reading-head .lab-note")
    press(page, "fast")
    press(page, "Start")
    expect(page.locator(".lab-blue")).to_be_visible()
    press(page, "Pause")
    has_status(page, "paused")
    expect(page.locator(".lab-short")).to_have_text("Blue: story words, 3+ letters")
    expect(page.locator(".lab-short")).to_be_visible()
    expect(page.locator(".lab-long")).to_be_hidden()
    expect(surprise).to_contain_text("Orange: surprise.")
    page.locator(".lab-letter").nth(6).click()
    expect(page.get_by_role("button", name="Watch one unit")).to_be_visible()
    expect(surprise).to_be_visible()
    assert page.locator(".lab-reading-head").bounding_box()["height"] < 32, "in one line with the button"
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 410


def test_the_longest_names_of_the_bars_buttons_stand_in_one_line(narrow: Page) -> None:
    page = narrow
    bar = page.locator(".lab-bar")
    for width in (360, 390, 480, 620, 720, 940, 1000, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        height = bar.bounding_box()["height"]
        bar.evaluate("""(bar) => { bar.parentElement.dataset.status = "ended";
          bar.querySelector(".lab-main").textContent = "Start again";
          Object.assign(bar.querySelector(".lab-better"), { hidden: false, textContent: "Try an LSTM" }); }""")
        assert bar.bounding_box()["height"] == height, width
        room = bar.evaluate("(bar) => [bar.scrollWidth, bar.clientWidth]")
        assert room[0] <= room[1], (width, room)
        bar.evaluate("(bar) => { bar.querySelector('.lab-better').hidden = true; }")


def test_a_memory_of_two_units_takes_the_room_of_one_of_64(browser: Browser, tmp_path: Path) -> None:
    with watched_page(browser, width=1280, height=844) as (page, record):
        open_lab(page, tmp_path)
        heights = []
        for units, key in ((64, ""), (2, "Home"), (8, "ArrowRight"), (256, "End")):
            if key:
                page.get_by_label("memory units").press(key)
            expect(page.locator(".lab-count")).to_contain_text("0 corrections")
            page.locator(".lab-letter").nth(6).click()
            expect(page.locator(".lab-net")).to_contain_text(f"memory: {units} units")
            heights.append(page.locator(".lab-net").bounding_box()["height"])
        assert max(heights) - min(heights) < 1, heights
        assert_clean(record)
