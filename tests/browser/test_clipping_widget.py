"""The explorable Clipping on a page without a kernel: the ball, the limit and the arrow dragged, keys, steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import Clipping
from pages import page_of
from watching import Record, watched_page

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=760, height=900) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        yield page, record
        assert record.errors == [] and record.outside == []


def show(page: Page, folder: Path, widget: Clipping) -> Locator:
    (folder / "page.html").write_text(page_of(widget), encoding="utf-8")
    page.goto(f"{folder.as_uri()}/page.html")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(1)
    return page.locator(".d2lrnn-widget")


def now(widget: Locator) -> Locator:
    return widget.locator(".d2lrnn-now")


def unfold(widget: Locator) -> None:
    widget.get_by_text("How it is computed").click()
    expect(widget.locator(".clip-plane")).to_be_visible()


def computed(widget: Locator) -> Locator:
    return widget.locator(".clip-how-now")


def drag(page: Page, widget: Locator, start: tuple[float, float], end: tuple[float, float]) -> None:
    """From one point of the plane to another, in its units."""
    box = widget.locator(".clip-plane").bounding_box()
    unit, middle = box["width"] / 14.4, (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    places = [(middle[0] + x * unit, middle[1] - y * unit) for x, y in (start, end)]
    page.mouse.move(*places[0])
    page.mouse.down()
    page.mouse.move(*places[1], steps=3)
    page.mouse.up()


BALL = "The ball: its weight at the start"


def move(page: Page, widget: Locator, name: str, by: float) -> None:
    """Drag a handle sideways, by so many units of the weight."""
    unit = widget.locator(".clip-valley").bounding_box()["width"] / 8.8
    grip = widget.get_by_role("slider", name=name, exact=True).bounding_box()
    x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by * unit, y, steps=3)
    page.mouse.up()


ALONE = "With no limit, step 3 throws the ball out of the valley. Now limit its steps."


def test_the_ball_that_is_not_clipped_comes_first_and_the_clipped_one_by_a_press_or_a_drag(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    flights, kept = (widget.locator(f".clip-valley .clip-flight.clip-arrow-{kind}") for kind in ("full", "clipped"))
    free, clipped = widget.locator(".clip-shows button").all()
    places = "(all) => all.map((one) => { const { x, y } = one.getBoundingClientRect(); return [x, y]; })"
    scores = widget.locator(".clip-score")
    stands = widget.locator(".clip-shows button, .clip-valley, .d2lrnn-step-titles")
    before = stands.evaluate_all(places)
    for press in (lambda: clipped.click(), lambda: move(page, widget, "limit θ", 0.4)):
        expect(now(widget)).to_have_text(ALONE)
        expect(flights).to_have_count(3)
        expect(kept).to_have_count(0)
        expect(widget.locator(".clip-count")).to_have_text(["1", "2"])  # where it lands; step 3 leads out
        expect(widget.locator(".clip-limit-text")).to_have_text("Drag: no step longer than this")
        expect(scores).to_have_text(["out at step 3", "?"])  # told when it is seen
        press()
        expect(kept).not_to_have_count(0)
        expect(clipped).to_have_attribute("aria-pressed", "true")
        expect(now(widget)).to_contain_text("the ball comes down in 2 steps.")
        expect(scores).to_have_text(["out at step 3", "down in 2 steps"])
        expect(widget.locator(".clip-count")).to_have_text(["1", "2"])  # of the clipped ball
        expect(kept).to_have_count(2)
        assert stands.evaluate_all(places) == before
        free.click()
        expect(free).to_have_attribute("aria-pressed", "true")


def test_a_question_shows_the_first_step_alone_until_its_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping(clips=True))
    flights, titles = widget.locator(".clip-valley .clip-flight"), widget.locator(".d2lrnn-step-title")
    for leave in (
        lambda: widget.locator(".d2lrnn-answers button").first.click(),
        lambda: titles.first.click(),
        lambda: titles.nth(1).click(),
        lambda: widget.locator(".clip-shows button").first.click(),
        lambda: widget.get_by_role("button", name="Reset").click(),
    ):
        if titles.first.get_attribute("aria-expanded") == "true":
            titles.first.click()
        titles.first.click()
        expect(flights).to_have_count(1)
        expect(now(widget)).to_have_text("With no limit, the first step leads to the other wall.")
        expect(widget.locator(".clip-score")).to_have_text(["?", "?"])
        leave()
        expect(flights).not_to_have_count(1)
        expect(widget.locator(".clip-score").first).to_have_text("out at step 3")


def test_the_limit_and_the_ball_can_be_dragged(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    move(page, widget, "limit θ", -1)
    expect(now(widget)).to_have_text(Clipping(clip=1.0).static_sentence())
    move(page, widget, "limit θ", 20)
    expect(now(widget)).to_have_text(Clipping(clip=7.0).static_sentence())
    move(page, widget, "limit θ", -20)
    expect(now(widget)).to_have_text(Clipping(clip=0.1).static_sentence())
    ball = widget.get_by_role("slider", name=BALL)
    move(page, widget, BALL, -2)  # into the valley
    expect(ball).to_have_attribute("aria-valuenow", "0.9")
    move(page, widget, BALL, -3)  # through it, up the other wall
    expect(ball).to_have_attribute("aria-valuenow", "-2.1")
    expect(now(widget)).to_have_text(Clipping(start=-2.1, clip=0.1).static_sentence())
    for by, end in ((-20, "-4"), (20, "4")):
        move(page, widget, BALL, by)
        expect(ball).to_have_attribute("aria-valuenow", end)
    box = widget.locator(".clip-valley").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 100)  # the ball comes
    expect(now(widget)).to_have_text(Clipping(start=0.0).static_sentence())
    expect(widget.locator(".clip-valley .clip-flight")).to_have_count(0)
    widget.get_by_role("button", name="Reset").click()
    expect(now(widget)).to_have_text(ALONE)


def test_a_hint_says_that_the_ball_can_be_dragged_until_it_is(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    hint = widget.locator(".clip-valley .clip-hint")
    expect(hint).to_have_text("drag me")
    expect(hint).to_be_visible()
    move(page, widget, BALL, -0.5)
    expect(hint).to_be_hidden()
    widget.get_by_role("button", name="Reset").click()
    expect(hint).to_be_visible()


@pytest.mark.parametrize("width", [390, 760])
def test_the_plane_has_room_for_any_limit_and_names_its_axes(
    opened: tuple[Page, Record], tmp_path: Path, width: int
) -> None:
    page, _ = opened
    page.set_viewport_size({"width": width, "height": 844})
    for clip in (0.1, 7.0):
        widget = show(page, tmp_path, Clipping(clip=clip))
        unfold(widget)
        expect(widget.locator(".clip-plane .clip-axis-text")).to_have_text(["weight 1", "weight 2"])
        if clip < 1:
            for name in widget.locator(".clip-plane .clip-axis-text").all():
                expect(name).to_be_visible()
        plane, allowed = (widget.locator(part).bounding_box() for part in (".clip-plane", ".clip-allowed"))
        assert plane["x"] <= allowed["x"] and allowed["x"] + allowed["width"] <= plane["x"] + plane["width"]
        assert plane["y"] <= allowed["y"] and allowed["y"] + allowed["height"] <= plane["y"] + plane["height"]


def test_the_arrow_and_its_limit_can_be_dragged(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    unfold(widget)
    expect(widget.locator(".clip-plane .clip-arrow-clipped")).to_have_count(1)
    expect(computed(widget)).to_contain_text("both parts times 0.40. (4.0, 3.0) becomes (1.6, 1.2).")
    drag(page, widget, (4, 3), (1, -1))
    expect(computed(widget)).to_have_text("Length 1.41, limit 2.0: (1.0, −1.0) stays as it is.")  # noqa: RUF001
    expect(widget.locator(".clip-plane .clip-arrow-clipped")).to_have_count(0)
    drag(page, widget, (-2, 0), (-1, 0))
    expect(now(widget)).to_have_text(Clipping(clip=1.0).static_sentence())
    drag(page, widget, (1, -1), (-3, 1))  # the edge is held where it was
    drag(page, widget, (-1, 0), (-1.5, -0.3))
    expect(computed(widget)).to_contain_text("Length 3.16, limit 1.5:")
    drag(page, widget, (-1.5, 0), (-1, 0))
    drag(page, widget, (-3, 1), (20, -20))
    expect(computed(widget)).to_contain_text("Length 8.49, limit 1.0: both parts times 0.12. (6.0, −6.0)")  # noqa: RUF001
    expect(now(widget)).to_have_text(Clipping(clip=1.0).static_sentence())  # the ball lies where it lay
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(".clip-plane")).to_be_hidden()


def test_keys_move_the_ball_the_arrow_and_the_limit(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    unfold(widget)
    tip = widget.get_by_role("slider", name="gradient of the two weights")
    tip.press("ArrowRight")
    tip.press("Shift+ArrowDown")
    assert tip.get_attribute("aria-valuetext") == "(4.1, 2.0), length 4.56"
    edge = widget.get_by_role("slider", name="limit θ", exact=True)
    edge.press("ArrowLeft")
    expect(now(widget)).to_have_text(Clipping(clip=1.9).static_sentence())
    edge.press("End")
    expect(now(widget)).to_have_text(Clipping(clip=7.0).static_sentence())
    assert edge.get_attribute("aria-valuetext") == "7.0"
    expect(widget.get_by_role("status")).to_contain_text("keeps jumping from wall to wall")
    inside = widget.get_by_role("slider", name="limit θ in the plane")
    plane, grip = widget.locator(".clip-plane").bounding_box(), inside.bounding_box()
    assert plane["x"] - 6 <= grip["x"], "also the widest limit can be taken"
    inside.press("ArrowLeft")
    assert edge.get_attribute("aria-valuetext") == "6.9"
    ball = widget.get_by_role("slider", name=BALL)
    ball.press("ArrowLeft")
    ball.press("Shift+ArrowLeft")
    assert ball.get_attribute("aria-valuetext") == "weight 1.8, loss 1.69, slope 2.31"
    for key, end in (("End", "4"), ("Home", "-4")):
        ball.press(key)
        assert ball.get_attribute("aria-valuenow") == end


def test_the_valley_shows_the_steps(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping(clips=True))
    valley = widget.locator(".clip-valley")
    expect(valley.locator(".clip-flight.clip-arrow-full")).to_have_count(3)
    unit = valley.bounding_box()["width"] / 8.8
    bar = valley.locator(".clip-bar").evaluate("(bar) => bar.getBBox().width")
    assert bar == pytest.approx(2 * unit, abs=1)  # no step is longer
    expect(valley.locator(".clip-landed-clipped")).to_have_count(2)  # down: it stays there
    expect(valley.locator(".clip-out")).to_have_text("3: out")
    assert f"weight 2.9, loss 6.02. {Clipping().static_sentence()}" in valley.get_attribute("aria-label")
    widget = show(page, tmp_path, Clipping(start=1.0, clips=True))  # nothing is cut: the same landings, two arcs
    tops = "(all) => all.map((one) => one.getBBox().y)"
    both = [valley.locator(f".clip-flight.clip-arrow-{kind}").evaluate_all(tops) for kind in ("full", "clipped")]
    assert len(both[0]) == len(both[1]) and both[0][0] < both[1][0] - 5
    places = "(all) => all.map((one) => [one.getAttribute('cx'), one.getAttribute('cy')])"
    landed = [valley.locator(f".clip-landed-{kind}").evaluate_all(places) for kind in ("full", "clipped")]
    assert len(landed[0]) == 1 and landed[0] == landed[1]
    expect(valley.locator(".clip-out")).to_have_text("")


def test_too_small_a_limit_is_seen_to_be_slow_and_too_large_a_one_not_to_help(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    for clip, end in (
        (0.1, "down in 28 steps"),
        (0.2, "down in 14 steps"),
        (4.0, "down in 2 steps"),
        (7.0, "still jumps"),
    ):
        figure = Clipping(clip=clip, clips=True)
        widget = show(page, tmp_path, figure)
        expect(widget.locator(".clip-score")).to_have_text(["out at step 3", end])
        down = figure.steps_down[1]
        drawn = 10 if down is None else min(10, down)
        expect(widget.locator(".clip-valley .clip-landed-clipped")).to_have_count(drawn)
        expect(widget.locator(".clip-count").last).to_have_text(str(drawn))


def test_by_value_the_arrow_turns_and_a_link_to_it_unfolds(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping(g_1=4.8, g_2=1.0, clip=1.0))
    expect(widget.locator(".clip-plane")).to_be_hidden()
    page.evaluate("() => { location.hash = '#explore=Clipping&g_1=4.8&g_2=1&clip=1&by=value' }")
    expect(widget.locator(".clip-plane")).to_be_visible()
    expect(computed(widget)).to_have_text("Each part cut to ±1.0: (4.8, 1.0) becomes (1.0, 1.0), turned by 33°.")
    expect(widget.locator(".clip-angle")).to_have_text("33°")
    assert "33 degrees" in widget.locator(".clip-plane").get_attribute("aria-label")


def test_a_step_asks_first_and_tells_after_a_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    outcome = widget.locator(".d2lrnn-outcome")
    for i, (answer, told) in enumerate(
        (
            ("As steep", "No. Steeper: slope 6.0, then 6.8, then 11.0."),
            ("It keeps jumping", "Right. It keeps jumping from wall to wall. A limit helps where it is shorter"),
            ("Just as fast", "No. Safe but slow: 28 steps instead of 2 steps. So one chooses a limit between"),
        )
    ):
        widget.locator(".d2lrnn-step-title").nth(i).click()
        expect(outcome).to_be_hidden()
        widget.get_by_role("button", name=answer, exact=True).click()
        expect(outcome).to_contain_text(told)
        expect(widget.locator(".clip-slope-text")).to_have_text(
            ["slope 6.0", "slope 6.8", "slope 11.0"] if i == 0 else []
        )
        expect(widget.locator(".clip-tangent")).to_have_count(3 if i == 0 else 0)
        expect(widget.locator(".clip-width-text")).to_have_text(["5.8 wide"] if i == 1 else [])
        if i == 1:  # from wall to wall, on the scale of the weight
            line = widget.locator(".clip-width").evaluate("(line) => line.getBBox().width")
            unit = widget.locator(".clip-valley").bounding_box()["width"] / 8.8
            assert line == pytest.approx(2 * 2.9 * unit, abs=1)
            assert "here 5.8." in outcome.inner_text()
        expect(widget.locator(".clip-valley .clip-landed-clipped")).to_have_count(10 if i > 0 else 0)
    widget.get_by_role("slider", name="limit θ", exact=True).press("End")
    expect(now(widget)).to_contain_text("No step longer than 7.0: the ball stays in, but keeps jumping")
    widget.get_by_role("button", name="Reset").click()
    expect(now(widget)).to_have_text(ALONE)


def test_the_slopes_of_a_step_are_gone_when_the_ball_is_moved(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    slopes = widget.locator(".clip-slope-text")
    titles, answers = widget.locator(".d2lrnn-step-title"), widget.locator(".d2lrnn-answers button")
    titles.first.click()
    answers.first.click()
    move(page, widget, "limit θ", 1)  # it changes no slope of the ball that is not clipped
    expect(slopes).to_have_text(["slope 6.0", "slope 6.8", "slope 11.0"])
    move(page, widget, BALL, -1)
    expect(slopes).to_have_count(0)
    titles.first.click()
    titles.first.click()
    answers.first.click()
    expect(slopes).to_have_count(3)
    titles.nth(2).click()
    expect(slopes).to_have_count(0)


def test_the_limit_keeps_its_words_and_its_handle_leaves_a_short_arrow_free(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    for tip in ((4.0, 3.0), (-4.0, -1.0), (0.2, 0.1)):
        widget = show(page, tmp_path, Clipping(g_1=tip[0], g_2=tip[1], clip=0.5))
        unfold(widget)
        expect(widget.locator(".clip-edge-text")).to_be_visible()
        plane, grip = widget.locator(".clip-plane").bounding_box(), widget.locator(".clip-handle-edge").bounding_box()
        assert grip["x"] + grip["width"] < plane["x"] + plane["width"] * (0.5 - 0.45 / 14.4)


@pytest.mark.parametrize("width", [320, 390, 760])
def test_words_in_the_valley_stay_inside_and_apart(opened: tuple[Page, Record], tmp_path: Path, width: int) -> None:
    page, _ = opened
    page.set_viewport_size({"width": width, "height": 900})
    widget = show(page, tmp_path, Clipping())
    ball, limit = (widget.get_by_role("slider", name=name, exact=True) for name in (BALL, "limit θ"))
    for start in (-4.0, -2.9, -1.7, 0.0, 0.6, 2.1, 2.9, 4.0):
        for clip, clips in ((0.1, "true"), (0.3, "true"), (2.0, "true"), (2.0, "false"), (6.9, "true"), (7.0, "false")):
            link = f"explore=Clipping&start={start}&clip={clip}&clips={clips}"
            page.evaluate("(hash) => { location.hash = hash; }", link)
            expect(widget.locator(".clip-valley")).to_have_attribute("data-clips", clips)
            expect(ball).to_have_attribute("aria-valuenow", f"{start:g}")
            expect(limit).to_have_attribute("aria-valuenow", f"{clip:g}")
            expect(widget.locator(".clip-curve")).to_have_attribute("d", re.compile("^M"))  # its width is known
            frame = widget.locator(".clip-valley").bounding_box()
            labels = widget.locator(".clip-valley text:visible")
            boxes = labels.evaluate_all("(all) => all.map((label) => label.getBoundingClientRect().toJSON())")
            assert len(boxes) >= 3
            for i, a in enumerate(boxes):
                end = frame["x"] + frame["width"]
                assert a["x"] >= frame["x"] - 1 and a["right"] <= end + 1, f"{start} {clip}"
                for b in boxes[:i]:
                    apart = a["right"] <= b["x"] or b["right"] <= a["x"]
                    assert apart or abs(a["y"] - b["y"]) > 13, f"{start} {clip}"


@pytest.mark.parametrize("width", [320, 390])
def test_it_fits_a_narrow_phone(opened: tuple[Page, Record], tmp_path: Path, width: int) -> None:
    page, _ = opened
    page.set_viewport_size({"width": width, "height": 700})
    for clips in (False, True):
        widget = show(page, tmp_path, Clipping(clip=0.1, clips=clips))
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        assert widget.locator(".d2lrnn-step-titles").bounding_box()["y"] - widget.bounding_box()["y"] < 700
        for button in widget.locator(".clip-key").all():  # the longest result, too
            assert button.evaluate("(e) => e.scrollWidth <= e.clientWidth")


def test_the_handles_are_as_large_as_a_finger(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 390, "height": 800})
    widget = show(page, tmp_path, Clipping())
    unfold(widget)
    for handle in widget.locator(".clip-handle").all():
        assert min(handle.bounding_box()[side] for side in ("width", "height")) >= 44


@pytest.mark.parametrize("tip", [(6.0, -6.0), (-6.0, -6.0), (6.0, 6.0), (-6.0, 6.0), (0.4, -4.1), (-6.0, 4.1)])
@pytest.mark.parametrize("by", ["norm", "value"])
def test_no_label_is_cut_off_in_a_corner(
    opened: tuple[Page, Record], tmp_path: Path, tip: tuple[float, float], by: str
) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping(g_1=tip[0], g_2=tip[1], clip=5.0, by=by))
    if by == "norm":
        unfold(widget)
    frame = widget.locator(".clip-plane").bounding_box()
    for label in widget.locator(".clip-plane text:visible").all():
        box = label.bounding_box()
        assert frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"]
        assert frame["y"] <= box["y"] and box["y"] + box["height"] <= frame["y"] + frame["height"]


def test_the_opening_motion_takes_step_after_step(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="no-preference")
    page.add_init_script("""addEventListener('DOMContentLoaded', () => new MutationObserver(() => {
        (window.counts ??= new Set()).add(document.querySelectorAll('.clip-landed-clipped').length);
    }).observe(document, { subtree: true, childList: true }))""")
    widget = show(page, tmp_path, Clipping(clip=0.2, clips=True))
    page.wait_for_function("window.counts.size > 6")
    expect(widget.locator(".clip-valley .clip-landed-clipped")).to_have_count(10)
    expect(now(widget)).to_have_text(Clipping(clip=0.2).static_sentence())
