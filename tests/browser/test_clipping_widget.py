"""The explorable Clipping on a page without a kernel: the ball, the limit and the arrow dragged, keys, steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import Clipping
from pages import page_of
from watching import Record, watched_page

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=760, height=1000) as (page, record):
        page.emulate_media(reduced_motion="reduce")
        yield page, record
        assert record.errors == [] and record.outside == []


def show(page: Page, folder: Path, widget: Clipping) -> Locator:
    (folder / "page.html").write_text(page_of(widget), encoding="utf-8")
    page.goto(f"{folder.as_uri()}/page.html")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(1)
    return page.locator(".d2lrnn-widget")


PUT = """async (values) => {
  const link = document.createElement('a');
  link.href = `#explore=Clipping&${values}`;
  document.body.append(link);
  link.click();
  link.remove();
  await null; // it draws
}"""


def put(page: Page, **values: float | str) -> None:
    """Set these and, as for a fresh figure, everything else as it was at first; faster than another page."""
    page.evaluate(PUT, urlencode(values))


def now(widget: Locator) -> Locator:
    return widget.locator(".d2lrnn-now")


def unfold(widget: Locator) -> None:
    widget.get_by_text("How it is computed").click()
    expect(widget.locator(".clip-plane")).to_be_visible()
    expect(widget.locator(".clip-how")).to_contain_text("a loss below 0.005. The ball reaches the goal when it")


def computed(widget: Locator) -> Locator:
    return widget.locator(".clip-how-now")


def drag(page: Page, widget: Locator, start: tuple[float, float], end: tuple[float, float]) -> None:
    """From one point of the plane to another, in tens of the gradient."""
    box = widget.locator(".clip-plane").bounding_box()
    unit, middle = box["width"] / 14.4, (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    places = [(middle[0] + x * unit, middle[1] - y * unit) for x, y in (start, end)]
    page.mouse.move(*places[0])
    page.mouse.down()
    page.mouse.move(*places[1], steps=3)
    page.mouse.up()


BALL = "The ball: its weight at the start"
WIDE = 1.28  # the weights in the picture: from -0.06 to 1.22


def move(page: Page, widget: Locator, name: str, by: float) -> None:
    """Drag a handle sideways, by so many units of the weight."""
    unit = widget.locator(".clip-valley").bounding_box()["width"] / WIDE
    slider = widget.get_by_role("slider", name=name, exact=True)
    slider.scroll_into_view_if_needed()
    grip = slider.bounding_box()
    x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by * unit, y, steps=3)
    page.mouse.up()


ALONE = "One step throws the ball onto the plateau: 1\u202f554 steps to the goal. Try slope limit 10."


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
    for press, steps in (
        (lambda: clipped.click(), "1 step"),
        (lambda: move(page, widget, "limit θ", 0.005), "10 steps"),
    ):
        expect(now(widget)).to_have_text(ALONE)
        expect(flights).to_have_count(1)
        expect(kept).to_have_count(0)
        expect(widget.locator(".clip-count")).to_have_text([f"after {steps}"])
        expect(widget.locator(".clip-limit-text")).to_have_text("Drag: limit the slope")
        expect(scores).to_have_text(["1\u202f554 steps", "?"])  # told when it is seen
        press()
        expect(kept).not_to_have_count(0)
        expect(clipped).to_have_attribute("aria-pressed", "true")
        expect(now(widget)).to_contain_text("the ball reaches the goal in 3 steps, past it and back.")
        expect(scores).to_have_text(["1\u202f554 steps", "3 steps"])
        expect(widget.locator(".clip-limit-text")).to_contain_text(" × 0.01 = 0.")  # noqa: RUF001
        expect(widget.locator(".clip-count")).to_have_count(0)  # it is at the goal
        expect(kept).to_have_count(3)
        assert stands.evaluate_all(places) == before
        free.click()
        expect(free).to_have_attribute("aria-pressed", "true")


def test_a_question_shows_the_first_step_alone_until_its_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping(clips=True))
    titles = widget.locator(".d2lrnn-step-title")
    for leave in (
        lambda: titles.first.click(),
        lambda: titles.nth(1).click(),
        lambda: widget.locator(".clip-shows button").first.click(),
        lambda: widget.locator(".d2lrnn-answers button").first.click(),
    ):
        if titles.first.get_attribute("aria-expanded") == "true":
            titles.first.click()
        titles.first.click()
        expect(widget.locator(".clip-valley :is(.clip-landed-full, .clip-landed-clipped)")).to_have_count(1)
        expect(widget.locator(".clip-count")).to_have_text("after 1 step")
        expect(now(widget)).to_have_text("With no limit, the first step throws the ball onto the plateau.")
        expect(widget.locator(".clip-score")).to_have_text(["?", "?"])
        expect(widget.locator(".clip-bar, .clip-count-full")).to_have_count(0)
        leave()
        expect(widget.locator(".clip-score").first).to_have_text("1\u202f554 steps")
        expect(widget.locator(".clip-valley .clip-landed-full")).to_have_count(10)


def test_a_reset_closes_a_question_where_nothing_else_changes(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    expect(now(widget)).to_have_text(ALONE)
    widget.locator(".d2lrnn-step-title").first.click()
    expect(now(widget)).not_to_have_text(ALONE)
    widget.get_by_role("button", name="Reset").click()
    expect(now(widget)).to_have_text(ALONE)
    expect(widget.locator(".clip-valley .clip-landed-full")).to_have_count(10)
    count, title = widget.locator(".clip-count"), widget.locator(".d2lrnn-step-title").first
    expect(count).to_have_text("after 1 step")  # more would answer the question
    title.click()
    widget.locator(".d2lrnn-answers button").first.click()
    expect(count).to_have_text("after 10 steps")
    widget.get_by_role("button", name="Reset").click()
    expect(count).to_have_text("after 1 step")
    widget.locator(".clip-key").last.click()
    expect(count).to_have_count(0)
    widget.get_by_role("button", name="Reset").click()
    expect(count).to_have_text("after 1 step")
    put(page, start=0.7)  # each step leads on
    expect(count).to_have_text("after 10 steps")


def test_the_limit_and_the_ball_can_be_dragged(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    move(page, widget, "limit θ", 0.05)
    expect(now(widget)).to_have_text(Clipping(clip=5.0).static_sentence())
    move(page, widget, "limit θ", -2)
    expect(now(widget)).to_have_text(Clipping(clip=70.0).static_sentence())
    move(page, widget, "limit θ", 2)
    expect(now(widget)).to_have_text(Clipping(clip=0.5).static_sentence())
    ball = widget.get_by_role("slider", name=BALL)
    move(page, widget, BALL, -0.18)  # over the valley
    expect(ball).to_have_attribute("aria-valuenow", "0.95")
    move(page, widget, BALL, -0.5)  # onto the plateau
    expect(ball).to_have_attribute("aria-valuenow", "0.45")
    expect(now(widget)).to_have_text(Clipping(start=0.45, clip=0.5).static_sentence())
    over = "(text) => text.compareDocumentPosition(document.querySelector('.clip-handle-ball'))"
    assert widget.locator(".clip-count").evaluate(over) == 2, "the ball's halo covers no words"
    for by, end in ((-2, "0"), (2, "1.14")):
        move(page, widget, BALL, by)
        expect(ball).to_have_attribute("aria-valuenow", end)
    box = widget.locator(".clip-valley").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 1.06 / WIDE, box["y"] + 100)  # the ball comes
    expect(now(widget)).to_have_text("The ball is already at the goal.")
    expect(widget.locator(".clip-valley .clip-flight")).to_have_count(0)
    expect(widget.locator(".clip-step-text")).to_have_text("")
    page.mouse.click(box["x"] + box["width"] * 0.86 / WIDE, box["y"] + 100)  # high over the ball: the limit comes
    expect(now(widget)).to_have_text("The ball is already at the goal.")
    expect(widget.locator(".clip-limit-text")).to_have_text("limit 20 cuts nothing here")
    put(page, start=0.95, clip=70, clips="true")  # outside the picture
    grip = widget.locator(".clip-handle-limit")
    expect(grip).to_have_attribute("aria-valuenow", "70")
    edge = grip.bounding_box()
    assert edge["x"] + edge["width"] / 2 <= box["x"] + box["width"] - 15
    move(page, widget, "limit θ", 0)
    expect(grip).to_have_attribute("aria-valuenow", "70")
    move(page, widget, "limit θ", -0.1)
    expect(grip).not_to_have_attribute("aria-valuenow", "70")
    widget.get_by_role("button", name="Reset").click()
    expect(now(widget)).to_have_text(ALONE)


def test_the_plane_has_room_for_any_limit_and_names_its_axes(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    unfold(widget)
    for width in (390, 760):
        page.set_viewport_size({"width": width, "height": 844})
        for clip in (0.5, 70.0):
            put(page, clip=clip)
            expect(widget.locator(".clip-edge-text")).to_have_text(f"limit θ = {clip:g}")
            expect(widget.locator(".clip-plane .clip-axis-text")).to_have_text(["weight 1", "weight 2"])
            if clip < 1:
                for name in widget.locator(".clip-plane .clip-axis-text").all():
                    expect(name).to_be_visible()
            plane, allowed = (widget.locator(part).bounding_box() for part in (".clip-plane", ".clip-allowed"))
            for side, size in (("x", "width"), ("y", "height")):
                assert plane[side] <= allowed[side], (width, clip)
                assert allowed[side] + allowed[size] <= plane[side] + plane[size], (width, clip)


def test_the_arrow_and_its_limit_can_be_dragged(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping(clip=20.0))
    unfold(widget)
    expect(widget.locator(".clip-plane .clip-arrow-clipped")).to_have_count(1)
    expect(computed(widget)).to_contain_text("both parts times 20/50.0 = 0.40. (40, 30) becomes (16.0, 12.0).")
    drag(page, widget, (4, 3), (1, -1))
    expect(computed(widget)).to_have_text("Length 14.1, limit 20: (10, −10) stays as it is.")  # noqa: RUF001
    expect(widget.locator(".clip-plane .clip-arrow-clipped")).to_have_count(0)
    drag(page, widget, (-2, 0), (-1, 0))
    expect(now(widget)).to_have_text(Clipping(clip=10.0).static_sentence())
    drag(page, widget, (1, -1), (-3, 1))  # the edge is held where it was
    drag(page, widget, (-1, 0), (-1.5, -0.3))
    expect(computed(widget)).to_contain_text("Length 31.6, limit 15:")
    drag(page, widget, (-1.5, 0), (-1, 0))
    drag(page, widget, (-3, 1), (20, -20))
    expect(computed(widget)).to_contain_text("Length 84.9, limit 10: both parts times 10/84.9 = 0.12. (60, −60)")  # noqa: RUF001
    expect(now(widget)).to_have_text(Clipping(clip=10.0).static_sentence())  # the ball lies where it lay
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(".clip-plane")).to_be_hidden()


def test_keys_move_the_ball_the_arrow_and_the_limit(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    unfold(widget)
    tip = widget.get_by_role("slider", name="gradient of the two weights")
    tip.press("ArrowRight")
    tip.press("Shift+ArrowDown")
    assert tip.get_attribute("aria-valuetext") == "(41, 20), length 45.6"
    edge = widget.get_by_role("slider", name="limit θ", exact=True)
    edge.press("ArrowLeft")
    expect(now(widget)).to_have_text(Clipping(clip=9.5).static_sentence())
    edge.press("End")
    expect(now(widget)).to_have_text(Clipping(clip=70.0).static_sentence())
    assert edge.get_attribute("aria-valuetext") == "70"
    expect(widget.get_by_role("status")).to_contain_text("flies over the valley")
    inside = widget.get_by_role("slider", name="limit θ in the plane")
    plane, grip = widget.locator(".clip-plane").bounding_box(), inside.bounding_box()
    assert plane["x"] - 6 <= grip["x"], "also the widest limit can be taken"
    inside.press("ArrowLeft")
    assert edge.get_attribute("aria-valuetext") == "69.5"
    ball = widget.get_by_role("slider", name=BALL)
    ball.press("ArrowLeft")
    ball.press("Shift+ArrowLeft")
    assert ball.get_attribute("aria-valuetext") == "weight 1.02, loss 0.02, slope 2.6"
    for key, end in (("End", "1.14"), ("Home", "0")):
        ball.press(key)
        assert ball.get_attribute("aria-valuenow") == end


def test_the_loss_shows_the_steps(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping(clips=True))
    picture = widget.locator(".clip-valley")
    expect(picture.locator(".clip-flight.clip-arrow-full")).to_have_count(1)  # then it hardly moves
    expect(picture.locator(".clip-landed-full")).to_have_count(10)
    unit = picture.bounding_box()["width"] / WIDE
    goal = picture.locator(".clip-goal").evaluate(
        "(goal) => { const { x, width } = goal.getBBox(); return [x, width]; }"
    )
    assert goal == pytest.approx([(0.98952 + 0.06) * unit, (1.00958 - 0.98952) * unit], abs=0.2)  # loss below 0.005
    expect(picture.locator(".clip-landed-clipped")).to_have_count(3)  # it stays there
    ends = [
        goal[0] <= place <= sum(goal)
        for place in picture.locator(".clip-landed-clipped").evaluate_all(
            "(all) => all.map((circle) => Number(circle.getAttribute('cx')))"
        )
    ]
    assert ends == [False, False, True]
    first = Clipping().paths[0][1]
    place = picture.locator(".clip-landed-full").first.evaluate("(circle) => Number(circle.getAttribute('cx'))")
    assert place == pytest.approx((first + 0.06) * unit, abs=1)
    assert f"weight 1.13, loss 2.87. {Clipping().static_sentence()}" in picture.get_attribute("aria-label")
    for letters, start, clip in ((10, 1.08, 30), (20, 0.9, 1), (20, 0.7, 0.5)):  # none, a later, an undrawn step is cut
        put(page, letters=letters, start=start, clip=clip, clips="true")
        alone, kept = Clipping(letters=letters, start=start, clip=clip).paths
        own = sum(a != b for a, b in zip(alone, kept))
        expect(picture.locator(".clip-landed-full")).to_have_count(own)  # the way both go is drawn once
        expect(picture.locator(".clip-landed-clipped")).to_have_count(8 if letters == 10 else 10)
        assert (own > 0) == (start == 0.9)
    expect(picture.locator(".clip-flight.clip-arrow-full")).to_have_count(0)
    put(page, letters=20, start=0.8, clips="false")
    why = "Its steps are too long to stay at the goal."
    expect(now(widget)).to_have_text(f"With no limit, the ball flies to and fro from step 18 on. {why}")


def test_the_first_step_is_an_arrow_that_the_limit_cuts(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    expect(widget.locator(".clip-curve")).to_have_attribute("d", re.compile("^M"))
    unit = widget.locator(".clip-valley").bounding_box()["width"] / WIDE
    weight = "(one) => { const { x, width } = one.getBBox(); return [x, x + width]; }"

    def tip(kind: str, side: int = 0) -> float:
        at = widget.locator(f".clip-head.clip-tip-{kind}").evaluate(weight)[side]
        return at / unit - 0.06

    def handle() -> float:
        frame, box = (widget.locator(part).bounding_box() for part in (".clip-valley", ".clip-handle-limit"))
        return (box["x"] + box["width"] / 2 - frame["x"]) / unit - 0.06

    words = widget.locator(".clip-step-text, .clip-limit-text")
    for start, clip, step, limit, gate in (
        (1.13, 10, "slope 72 × 0.01 = 0.72", "limit 10 × 0.01 = 0.1", 1.03),  # noqa: RUF001
        (1.13, 60, "slope 72 × 0.01 = 0.72", "limit 60 × 0.01 = 0.6", 0.53),  # noqa: RUF001
        (1.08, 30, "slope 23 × 0.01 = 0.23", "limit 30 cuts nothing here", 0.78),  # noqa: RUF001
        (0.9, 10, "slope 2.5 × 0.01 = 0.025", "limit 10 cuts nothing here", 1.0),  # noqa: RUF001
    ):
        put(page, start=start, clip=clip, clips="true")
        expect(words).to_have_text([limit, step])
        assert handle() == pytest.approx(gate, abs=0.002)
        free, kept = (path[1] for path in Clipping(start=start, clip=clip).paths)
        side = int(start < 1)
        assert tip("clipped", side) == pytest.approx(kept, abs=0.002)
        heads = widget.locator(".clip-head.clip-tip-full")
        if clip < 72 and start == 1.13:  # what is cut off
            assert tip("full") == pytest.approx(free, abs=0.002) and kept == pytest.approx(gate)
        else:  # the step ends before the limit, and there is nothing to cut
            expect(heads).to_have_count(0)
            gates = widget.locator(".clip-gate, .clip-handle-limit .clip-halo")
            looks = gates.evaluate_all(
                "(all) => all.map((e) => getComputedStyle(e)).map((e) => [e.strokeDasharray, e.fill])"
            )
            assert looks[0][0] != "none" and looks[1][1] == "rgba(0, 0, 0, 0)"
            assert abs(kept - start) < abs(gate - start)
        landed = widget.locator(".clip-valley .clip-landed-clipped").first.evaluate(weight)
        assert sum(landed) / 2 / unit - 0.06 == pytest.approx(kept, abs=0.002), "straight beneath the tip"
    for start, letters, clips, told in (
        (1.13, 10, False, ["1.13", "0.41"]),  # so that 1.13 - 0.72 = 0.41 is read off
        (1.13, 10, True, ["1.13", "0.53", "0.41"]),
        (1.05, 20, False, ["1.05", "0.21"]),
        (0.7, 10, False, ["0.7"]),  # its step is too short for more
        (0.0, 10, False, ["0"]),
    ):
        put(page, start=start, letters=letters, clip=60, clips=str(clips).lower())
        expect(widget.locator(".clip-at-start, .clip-at-clipped, .clip-at-full")).to_have_text(told)
        expect(widget.locator(".clip-at-goal")).to_have_text("goal: 1")
        expect(widget.locator(".clip-at-name")).to_have_count(1)
    page.set_viewport_size({"width": 320, "height": 844})
    put(page, start=1.13)
    numbers = widget.locator(".clip-at-start, .clip-at-full, .clip-at-name")
    expect(numbers).to_have_text(["1.13", "0.41", "weight w"])  # on the narrowest, too
    page.set_viewport_size({"width": 760, "height": 1000})
    put(page, start=0.9)
    shade = widget.locator(".clip-plateau").evaluate(weight)[1] / unit - 0.06
    assert shade == pytest.approx(0.782, abs=0.002)  # there the slope is 1
    put(page, start=0.2)
    expect(widget.locator(".clip-step-text")).to_have_text("slope < 0.0001")
    page.set_viewport_size({"width": 390, "height": 844})
    places = set()
    for clip in (5, 30, 60):
        put(page, clip=clip, clips="true")
        expect(widget.locator(".clip-step-text tspan")).to_have_text(["slope 72", "× 0.01 = 0.72"])  # noqa: RUF001
        places.add(tuple(widget.locator(".clip-step-text").bounding_box().values()))
    assert len(places) == 1, "the limit moves no words of the slope"
    page.set_viewport_size({"width": 760, "height": 844})
    put(page, clip=33.5, clips="true")
    count, goal = (widget.locator(part).bounding_box() for part in (".clip-count", ".clip-goal"))
    assert count["x"] + count["width"] <= goal["x"] - 8


CENTRES = "(all) => all.map((one) => one.getBoundingClientRect()).map(({ left, right }) => (left + right) / 2)"
BARS = """(all) => all.map((bar) => { const { x, width, height } = bar.getBBox(); return [x + width / 2, height]; })"""


EDGES = "(one) => { const { left, right } = one.getBoundingClientRect(); return [left, right]; }"
MEETING = """(all) => all.map((one) => one.getBoundingClientRect()).flatMap((a, i, boxes) => boxes.slice(0, i).map(
  (b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom))"""


def test_the_name_of_the_bars_keeps_clear_of_their_counts(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    name, words = widget.locator(".clip-strip-name"), widget.locator("[class*=clip-count-], .clip-strip-name")
    for width in (1000, 390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        for start, letters, clip, narrow in (
            (1.13, 10, 60, "steps needed"),
            (1.05, 20, 20.5, "steps"),
            (1.05, 20, 60, "steps needed"),
            (0.2, 10, 5, "steps needed"),
            (1.13, 10, 5, "steps needed"),
        ):
            put(page, start=start, letters=letters, clip=clip, clips="true")
            expect(widget.locator(".clip-limit-text")).to_contain_text(f"limit {clip}")
            expect(name).to_have_text(narrow if width < 400 else "steps needed")
            assert not any(words.evaluate_all(MEETING)), (width, start, letters, clip)
            assert name.evaluate(EDGES)[1] <= widget.locator(".clip-valley").evaluate(EDGES)[1]


def test_the_steps_that_each_limit_needs_are_seen_once_one_has_been_tried(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    row, count = widget.locator(".clip-bar-all"), widget.locator(".clip-count-clipped")
    expect(widget.locator(".clip-count-full")).to_have_text("1\u202f554")
    widget.locator(".clip-key").last.click()
    expect(count).to_have_text("3")
    expect(row).to_have_count(0)
    move(page, widget, "limit θ", -0.1)
    expect(widget.locator(".clip-limit-text")).to_have_text("limit 20 × 0.01 = 0.2")  # noqa: RUF001
    expect(row).to_have_count(1)
    expect(count).to_have_text("4")
    unit = widget.locator(".clip-valley").bounding_box()["width"] / WIDE
    bars = re.findall(r"M([\d.]+) [\d.]+v-([\d.]+)h([\d.]+)", row.get_attribute("d"))
    ends = {(float(x) + float(wide) / 2) / unit - 0.06: float(tall) for x, tall, wide in bars}
    assert sorted(ends) == pytest.approx([0.43 + i / 200 for i in range(140)], abs=0.002)
    lowest = sorted(round(end, 3) for end, tall in ends.items() if tall == min(ends.values()))
    assert lowest == [0.99, 0.995, 1.0, 1.005]  # a first step that ends at the goal
    widget.locator(".d2lrnn-step-title").nth(1).click()
    widget.get_by_role("slider", name="limit θ", exact=True).press("End")
    expect(count).to_have_text("1\u202f078")
    expect(row).to_have_count(0)  # nothing that gives its answer away
    widget.locator(".d2lrnn-answers button").first.click()
    expect(row).to_have_count(1)
    widget.get_by_role("slider", name="limit θ", exact=True).press("End")
    expect(row).to_have_count(1)
    expect(count).to_have_text("1\u202f078")
    move(page, widget, BALL, -0.03)
    expect(widget.get_by_role("slider", name=BALL)).to_have_attribute("aria-valuenow", "1.1")
    expect(row).to_have_count(0)  # bars of several starts are not true together
    widget.get_by_role("slider", name="limit θ", exact=True).press("ArrowLeft")
    expect(row).to_have_count(1)
    widget.get_by_role("button", name="20", exact=True).click()
    expect(row).to_have_count(0)
    widget.get_by_role("slider", name="limit θ", exact=True).press("ArrowLeft")
    expect(row).to_have_count(1)
    # 20 letters: grey where no steps are enough, in words, and green where a limit helps
    never = widget.locator(".clip-bar-never")
    many = [re.findall(r"M([\d.]+)", bars.get_attribute("d")) for bars in (row, never)]
    helps = [limit / 2 for limit in range(1, 141) if Clipping(letters=20, clip=limit / 2).steps_down[1] is not None]
    assert helps == [0.5, 1, 5] and [len(bars) for bars in many] == [3, 137]
    expect(widget.locator(".clip-never-text")).to_have_text("over 10\u202f000 steps")
    words, wall = (part.evaluate(EDGES) for part in (widget.locator(".clip-never-text"), never))
    assert wall[0] + 8 <= words[0] and words[1] <= wall[1] - 8
    put(page, letters=10, clip=20, clips="true")
    widget.get_by_role("slider", name="limit θ", exact=True).press("ArrowLeft")
    expect(row).to_have_count(1)
    expect(widget.locator(".clip-bar-never, .clip-never-text")).to_have_count(0)
    for width in (760, 320):
        page.set_viewport_size({"width": width, "height": 844})
        put(page, start=1.05, letters=20, clip=67, clips="true")  # it lands far on the left
        expect(widget.locator(".clip-bar-full")).to_have_count(1)
        put(page, start=0, clips="true")
        expect(widget.locator(".clip-bar-full")).to_have_count(1)
        put(page, clip=67, clips="true")
        name = widget.locator(".clip-strip-name")
        expect(name).to_have_text("steps needed")
        floor, frame = (widget.locator(part).evaluate(EDGES) for part in (".clip-floor", ".clip-valley"))
        assert floor == pytest.approx(frame, abs=1)  # room for any landing
        highest = min(one.bounding_box()["y"] for one in widget.locator(".clip-valley .clip-bar").all())
        assert name.evaluate("(name) => name.getBoundingClientRect().bottom") < highest
        if width == 760:
            pair = widget.locator(".clip-count-full, .clip-count-clipped")
            expect(pair).to_have_text(["1\u202f554", "632"])  # however close
            left, right = (one.bounding_box() for one in pair.all())
            assert left["x"] + left["width"] <= right["x"]
    widget.get_by_role("slider", name="limit θ", exact=True).press("ArrowLeft")
    expect(row).to_have_count(1)
    widget.get_by_role("button", name="Reset").click()
    expect(row).to_have_count(0)


def test_small_limits_have_room_under_a_finger(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 390, "height": 844})
    widget = show(page, tmp_path, Clipping())
    put(page, start=1.05, letters=20, clip=1.5, clips="true")
    limit = widget.get_by_role("slider", name="limit θ", exact=True)
    expect(limit).to_have_attribute("aria-valuenow", "1.5")
    grip = limit.bounding_box()
    x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    found = []
    for far in range(22):
        page.mouse.move(x + far, y)
        found.append(limit.get_attribute("aria-valuenow"))
    page.mouse.up()
    assert found[0] == "1.5" and found.count("1") >= 6 and found[-4:] == ["0.5"] * 4
    page.mouse.move(x, y)
    page.mouse.down()  # what is taken again does not jump
    expect(limit).to_have_attribute("aria-valuenow", "0.5")
    page.mouse.up()


def test_the_limit_stays_under_the_hand(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 1280, "height": 1000})
    widget = show(page, tmp_path, Clipping())
    put(page, start=1.05, letters=20, clip=0.5, clips="true")
    limit = widget.get_by_role("slider", name="limit θ", exact=True)
    expect(limit).to_have_attribute("aria-valuenow", "0.5")

    def middle() -> float:
        grip = limit.bounding_box()
        return grip["x"] + grip["width"] / 2

    x, y = middle(), limit.bounding_box()["y"] + 20
    page.mouse.move(x, y)
    page.mouse.down()
    for far in (10, 25, 60, 100, 5, 0):
        page.mouse.move(x - far, y)
        assert middle() == pytest.approx(x - far, abs=5), far  # a limit is a multiple of 0.5
    page.mouse.up()
    expect(limit).to_have_attribute("aria-valuenow", "0.5")


def test_a_limit_that_cuts_nothing_has_no_number_to_hide(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    for start, scores in ((0.8, ["10 steps", "10 steps"]), (1.13, ["1\u202f554 steps", "?"])):
        put(page, start=start)
        expect(widget.locator(".clip-score")).to_have_text(scores)


def test_a_limit_that_needs_one_step_is_told_to_be_the_best(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    for clip, is_best in ((12, False), (12.5, True), (14, True), (14.5, False)):
        put(page, clip=clip, clips="true")
        expect(widget.locator(".clip-limit-text")).to_contain_text(f"limit {clip} ")
        assert ("in 1 step. It cannot be faster." in now(widget).inner_text()) == is_best


def test_too_small_a_limit_is_seen_to_be_slow_and_too_large_a_one_not_to_help(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    for clip, end in (
        (0.5, "25 steps"),
        (10.0, "3 steps"),
        (30.0, "9 steps"),
        (60.0, "208 steps"),
        (70.0, "1\u202f078 steps"),
    ):
        put(page, clip=clip, clips="true")
        expect(widget.locator(".clip-score")).to_have_text(["1\u202f554 steps", end])
        drawn = min(10, Clipping(clip=clip).steps_down[1])
        expect(widget.locator(".clip-valley .clip-landed-clipped")).to_have_count(drawn)
        is_counted = clip > 30  # not on the wall, and not at the goal
        expect(widget.locator(".clip-count")).to_have_text([f"after {drawn} steps"] if is_counted else [])
    put(page, start=0.2, clips="true")
    expect(widget.locator(".clip-score")).to_have_text(["over 10\u202f000 steps", "over 10\u202f000 steps"])
    expect(now(widget)).to_contain_text("the ball needs over 10\u202f000 steps")


def test_by_value_the_arrow_turns_and_a_link_to_it_unfolds(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping(g_1=48.0, g_2=10.0, clip=10.0))
    expect(widget.locator(".clip-plane")).to_be_hidden()
    page.evaluate("() => { location.hash = '#explore=Clipping&g_1=48&g_2=10&clip=10&by=value' }")
    expect(widget.locator(".clip-plane")).to_be_visible()
    expect(computed(widget)).to_have_text("Each part cut to ±10: (48, 10) becomes (10.0, 10.0), turned by 33°.")
    expect(widget.locator(".clip-angle")).to_have_text("33°")
    assert "33 degrees" in widget.locator(".clip-plane").get_attribute("aria-label")


def test_a_step_asks_first_and_tells_after_a_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    outcome = widget.locator(".d2lrnn-outcome")
    for i, (answer, told) in enumerate(
        (
            (
                "Back into the valley",
                "Not so. Hardly anywhere: 0.0003 in nine steps. On the wall, the gradient explodes: slope 72. "
                "On the plateau it vanishes: slope 0.0033.",
            ),
            (
                "It flies over the valley",
                "Right. It flies over and needs 208 steps. Drag the limit to find the fewest.",
            ),
            (
                "Just as fast",
                "Not so. It flies over: slope 84, not 9.8. w²⁰ is w¹⁰ squared: above 1 it grows faster, so the wall is "
                "steeper.",
            ),
        )
    ):
        widget.locator(".d2lrnn-step-title").nth(i).click()
        expect(outcome).to_be_hidden()
        if i == 2:
            expect(widget.locator(".d2lrnn-question")).to_contain_text(
                "With 10 letters and no limit, it needs 3 steps."
            )
            expect(widget.get_by_role("slider", name=BALL)).to_have_attribute("aria-valuenow", "1.05")
            expect(widget.locator(".clip-key").last).to_have_text("slope limit 0.5 ?")
        expect(widget.locator(".clip-tangent, .clip-fewer")).to_have_count(0)
        widget.get_by_role("button", name=answer, exact=True).click()
        expect(outcome).to_contain_text(told)
        expect(widget.locator(".clip-slope-text")).to_have_text([["slope 0.0033"], [], ["slope < 0.0001"]][i])
        expect(widget.locator(".clip-tangent")).to_have_count([1, 0, 1][i])
        expect(widget.locator(".clip-fewer-text")).to_have_text(["10 letters"] if i == 2 else [])
        expect(widget.locator(".clip-valley .clip-landed-clipped")).to_have_count([0, 10, 0][i])
        expect(widget.locator(".d2lrnn-lead")).to_contain_text(f"Each of {20 if i == 2 else 10} letters")
    expect(now(widget)).to_have_text(
        "One step throws the ball onto the plateau: over 10\u202f000 steps to the goal. Try slope limit 0.5."
    )
    expect(widget.locator(".clip-score")).to_have_text(["over 10\u202f000 steps", "?"])
    widget.locator(".clip-key").last.click()  # what would help is the reader's to try
    expect(now(widget)).to_have_text(Clipping(start=1.05, letters=20, clip=0.5).static_sentence())
    expect(widget.locator(".clip-score")).to_have_text(["over 10\u202f000 steps", "10 steps"])
    curves = [widget.locator(f".clip-valley .clip-{kind}").get_attribute("d") for kind in ("fewer", "curve")]
    ends = [[float(number) for number in re.findall(r"[-.\d]+", curve)[-2:]] for curve in curves]
    assert ends[1][0] < ends[0][0] - 20 and max(end[1] for end in ends) < 30  # a steeper wall, also out of the picture
    words, head = widget.locator(".clip-step-text"), widget.locator(".clip-head.clip-tip-full")
    limit = widget.get_by_role("slider", name="limit θ", exact=True)
    for _ in range(8):
        limit.press("Shift+ArrowRight")
        said, tip = words.bounding_box(), head.bounding_box()
        assert said["x"] + said["width"] <= tip["x"] - 4, "by its own arrowhead"
    limit.press("End")
    expect(now(widget)).to_have_text(Clipping(start=1.05, letters=20, clip=70.0).static_sentence())
    widget.get_by_role("button", name="Reset").click()
    expect(now(widget)).to_have_text(ALONE)
    expect(widget.locator(".clip-fewer")).to_have_count(0)


def test_the_ball_plays_on_the_loss_of_as_many_letters_as_are_chosen(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping(clips=True))
    few, many = (widget.get_by_role("button", name=name, exact=True) for name in ("10", "20"))
    ball, landed = widget.get_by_role("slider", name=BALL), widget.locator(".clip-valley .clip-landed-clipped")
    expect(few).to_have_attribute("aria-pressed", "true")
    widget.locator(".clip-key").first.click()
    many.click()
    expect(many).to_have_attribute("aria-pressed", "true")
    expect(now(widget)).to_have_text(
        "The ball starts lower, yet one step throws it onto the plateau: over 10\u202f000 steps to the goal."
    )
    offered = widget.locator(".clip-key").last
    expect(offered).to_have_text("slope limit 0.5 ?")  # 10 would be no better than no limit
    few.click()
    expect(offered).to_contain_text("slope limit 10")
    many.click()
    offered.click()
    expect(now(widget)).to_have_text(Clipping(letters=20, clip=0.5).static_sentence())
    limit = widget.get_by_role("slider", name="limit θ", exact=True)
    limit.press("Shift+ArrowRight")
    limit.press("Shift+ArrowRight")
    limit.press("ArrowLeft")
    expect(now(widget)).to_have_text(Clipping(letters=20).static_sentence())
    expect(ball).to_have_attribute("aria-valuenow", "1.05")  # no higher than its steps can be seen
    expect(widget.locator(".clip-valley .clip-text").first).to_have_text("↑ loss ½(w²⁰ − 1)²")  # noqa: RUF001
    expect(landed).to_have_count(10)
    expect(widget.locator(".clip-flight.clip-arrow-full")).not_to_have_count(0)
    places = landed.evaluate_all("(all) => all.map((one) => Number(one.getAttribute('cx')))")
    unit = widget.locator(".clip-valley").bounding_box()["width"] / WIDE
    assert places == pytest.approx([(w + 0.06) * unit for w in Clipping(letters=20).paths[1][1:]], abs=1)
    ball.press("ArrowRight")
    expect(ball).to_have_attribute("aria-valuenow", "1.05")
    few.click()
    expect(now(widget)).to_have_text(Clipping(start=1.05).static_sentence())
    many.click()
    expect(now(widget)).to_have_text(Clipping(letters=20, start=1.05).static_sentence())  # the reader's own limit


AT_GOAL_AND_BALL = """(all) => all.map((picture) => {
  const boxOf = (kind) => picture.querySelector(`.clip-at-${kind}`).getBoundingClientRect();
  const [goal, ball] = [boxOf('goal'), boxOf('start')];
  return [goal.right, ball.left];
})"""
TOPS = "(all) => all.map((one) => one.getBoundingClientRect().top)"


def test_numbers_of_the_axis_stand_apart_and_the_choice_of_letters_beneath_it(browser: Browser, tmp_path: Path) -> None:
    for width in (390, 1280):
        size = {"width": width, "height": 844}
        with browser.new_context(viewport=size, has_touch=True, is_mobile=True) as context:
            page = context.new_page()
            widget = show(page, tmp_path, Clipping())
            for start, letters in ((1.13, 10), (1.05, 20)):
                put(page, start=start, letters=letters)
                expect(widget.locator(".clip-at-start")).to_have_text(str(start))
                # both of one drawing: the first steps are still drawn, and each time the axis is new
                [(goal_end, ball)] = widget.locator(".clip-valley").evaluate_all(AT_GOAL_AND_BALL)
                assert goal_end + 13 <= ball, (width, start)
            floor, choice = widget.locator(".clip-floor, .clip-letters").evaluate_all(TOPS)
            assert floor < choice, width


def test_a_ball_that_never_rests_is_drawn_to_and_fro(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    swung, arrow = widget.locator(".clip-swung"), widget.locator(".clip-swing")
    span = "(one) => { const { left, right } = one.getBoundingClientRect(); return [left, right]; }"
    for width in (760, 390):
        page.set_viewport_size({"width": width, "height": 844})
        for letters, start, clip, clips, leaps in (
            (20, 1.05, 1.5, 1, True),
            (20, 1.05, 17.5, 1, True),
            (20, 1.05, 41, 1, True),  # from step 863 on
            (20, 0.8, 41, 0, True),
            (20, 1.05, 0.5, 1, False),
            (20, 1.05, 60, 1, False),
            (10, 1.13, 60, 1, False),
        ):
            put(page, letters=letters, start=start, clip=clip, clips=str(bool(clips)).lower())
            expect(swung).to_have_count(2 if leaps else 0)
            expect(arrow).to_have_count(1 if leaps else 0)
            if leaps:
                expect(widget.locator(".clip-count")).to_have_count(0)
                ends, goal = swung.evaluate_all(CENTRES), widget.locator(".clip-goal").evaluate(span)
                assert min(ends) < goal[0] and goal[1] < max(ends), clip
                below = "(one) => one.getBoundingClientRect().top"
                post = "(one) => one.getBoundingClientRect().bottom"
                assert arrow.evaluate(below) > widget.locator(".clip-goal").evaluate(post)


def test_dots_that_lie_on_each_other_have_no_pale_edges(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 390, "height": 844})
    widget = show(page, tmp_path, Clipping())
    edges = "(all) => all.map((one) => getComputedStyle(one).stroke === 'none')"
    dots = widget.locator(".clip-valley .clip-landed-clipped")
    for clip, many in ((42, [False] + 9 * [True]), (10, [False, False, True])):  # the last two lie at the goal
        put(page, clip=clip, clips="true")
        expect(widget.locator(".clip-limit-text")).to_contain_text(f"limit {clip} ")
        assert dots.evaluate_all(edges) == many


def test_the_slope_of_a_step_is_gone_when_the_ball_is_moved(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    slopes = widget.locator(".clip-slope-text")
    titles, answers = widget.locator(".d2lrnn-step-title"), widget.locator(".d2lrnn-answers button")
    titles.first.click()
    answers.first.click()
    move(page, widget, "limit θ", 0.1)  # it changes no slope of the ball that is not clipped
    expect(slopes).to_have_text(["slope 0.0033"])
    move(page, widget, BALL, -0.1)
    expect(slopes).to_have_count(0)
    titles.first.click()
    titles.first.click()
    answers.first.click()
    expect(slopes).to_have_count(1)
    titles.nth(2).click()
    expect(slopes).to_have_count(0)


def test_the_limit_keeps_its_words_and_its_handle_leaves_a_short_arrow_free(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    unfold(widget)
    put(page, clip=0.5)
    dot = widget.locator(".clip-plane circle.clip-tip-clipped").evaluate("(one) => one.getBBox().width")
    assert dot >= 8, "also what is left of a long arrow is seen"
    for g_1, g_2 in ((40, 30), (-40, -10), (2, 1)):
        put(page, g_1=g_1, g_2=g_2, clip=5)
        expect(computed(widget)).to_contain_text(f"({g_1}, {g_2})".replace("-", "\u2212"))
        expect(widget.locator(".clip-edge-text")).to_be_visible()
        plane, grip = widget.locator(".clip-plane").bounding_box(), widget.locator(".clip-handle-edge").bounding_box()
        assert grip["x"] + grip["width"] < plane["x"] + plane["width"] * (0.5 - 0.45 / 14.4)
    apart = """() => {
      const [words, knob] = ['.clip-plane .clip-clipped', '.clip-handle-edge .clip-grip']
        .map((one) => document.querySelector(one).getBoundingClientRect());
      return words.right <= knob.x || knob.right <= words.x || words.bottom <= knob.y || knob.bottom <= words.y;
    }"""
    for by in ("norm", "value"):
        for g_1, g_2 in ((-60, -8), (-60, 8), (-50, -20), (-50, 20), (-60, -1), (-45, 45), (-20, -60)):
            for clip in (5, 10, 20, 40):
                put(page, g_1=g_1, g_2=g_2, clip=clip, by=by)
                assert page.evaluate(apart), (by, g_1, g_2, clip)


# What is wrong with the words in the picture: one outside it, on a path, a handle or another word; not whole; far.
WRONG = """() => {
  const frame = document.querySelector('.clip-valley').getBoundingClientRect();
  const boxes = [...document.querySelectorAll('.clip-valley text, .clip-letters > *')]
    .map((label) => [label.textContent, label.getBoundingClientRect()]);
  const [ball, knob, halo] = ['.clip-start', '.clip-handle-limit .clip-grip', '.clip-handle-limit .clip-halo']
    .map((name) => document.querySelector(`.clip-valley ${name}`).getBoundingClientRect());
  const [limit, slope, loss] = ['.clip-limit-text', '.clip-step-text', '.clip-text']
    .map((name) => document.querySelector(`.clip-valley ${name}`));
  const lines = ['flight', 'fewer', 'drop', 'gate'].map((name) => `.clip-valley .clip-${name}`).join();
  const places = [...document.querySelectorAll(lines)].flatMap((path) => {
    const [matrix, length] = [path.getScreenCTM(), path.getTotalLength()];
    return Array.from({ length: 61 }, (_, i) => path.getPointAtLength((length * i) / 60).matrixTransform(matrix));
  });
  const inside = ({ x, y }, box) => x > box.x - 1 && x < box.right + 1 && y > box.y + 2 && y < box.bottom - 2;
  const meet = (a, b) => a.x < b.right && b.x < a.right && a.y + 2 < b.bottom && b.y + 2 < a.bottom;
  if (boxes.length < 9) return ['too few words'];
  const computed = '[0-9.]+ \u00d7 0.01 = [0-9.]+';
  const isWhole = (label, words) => new RegExp(`^(${words})$`).test(label.textContent);
  if (!isWhole(limit, `Drag: limit the slope|limit (${computed}|[0-9.]+ cuts nothing here)`)) return ['limit'];
  const [at, isMoving] = [slope.getBoundingClientRect(), !document.querySelector('.clip-handle-ball')
    .getAttribute('aria-valuetext').endsWith('slope 0')];
  if (isMoving && !isWhole(slope, `slope (< 0.0001|0.00[0-9]+|${computed})`)) return ['slope'];
  const isOnWall = Number(document.querySelector('.clip-handle-ball').getAttribute('aria-valuenow')) > 1.04;
  if (isMoving && isOnWall && Math.abs(at.y + at.height / 2 - ball.y - ball.height / 2) > 45) return ['far'];
  if (meet(halo, loss.getBoundingClientRect())) return ['halo'];
  return boxes.filter(([, box], i) => box.x < frame.x - 1 || box.right > frame.right + 1
    || meet(box, ball) || meet(box, knob)
    || places.some((place) => inside(place, box)) || boxes.some(([, other], k) => k < i && meet(box, other)))
    .map(([name]) => name);
}"""
SWEEP = f"""async (links) => {{
  const wrong = {WRONG};
  const found = [];
  for (const values of links) {{
    await ({PUT})(values);
    const asked = new URLSearchParams(values);
    const shows = (name) => document.querySelector(`.clip-handle-${{name}}`).getAttribute('aria-valuenow');
    const isShown = [['limit', 'clip'], ['ball', 'start']].every(([handle, name]) => shows(handle) === asked.get(name))
      && document.querySelector('.clip-valley').dataset.clips === asked.get('clips');
    const words = isShown ? wrong() : ['not shown'];
    if (words.length > 0) found.push([values, ...words]);
  }}
  return found;
}}"""


@pytest.mark.parametrize("width", [320, 390, 760])
def test_no_word_lies_outside_on_a_path_the_ball_or_another_word_whatever_the_limit(
    opened: tuple[Page, Record], tmp_path: Path, width: int
) -> None:
    page, _ = opened
    page.set_viewport_size({"width": width, "height": 900})
    widget = show(page, tmp_path, Clipping())
    expect(widget.locator(".clip-curve")).to_have_attribute("d", re.compile("^M"))  # its width is known
    starts, clips = (
        (0, 0.2, 0.6, 0.85, 1, 1.04, 1.09, 1.13, 1.14),
        ((0.5, 1), (1, 1), (5, 1), (10, 0), (45, 1), (70, 0)),
    )
    states = [(10, start, clip, seen) for start in starts for clip, seen in clips]
    states += [(letters, start, step + 0.5, 1) for letters, start in ((10, 1.13), (20, 1.05)) for step in range(70)]
    states += [(20, step / 20, 10, 0) for step in range(22)] + [(10, 1.14, 70, 1), (10, 0.6, 42, 1)]
    links = [f"letters={n}&start={at:g}&clip={clip}&clips={str(bool(seen)).lower()}" for n, at, clip, seen in states]
    found = page.evaluate(SWEEP, links)
    assert found == [], found
    limit = widget.get_by_role("slider", name="limit θ", exact=True)
    for step in (0, 2):
        widget.locator(".d2lrnn-step-title").nth(step).click()
        widget.locator(".d2lrnn-answers button").first.click()
        expect(widget.locator(".clip-slope-text")).to_have_count(1)
        assert page.evaluate(WRONG) == [], step
    for _ in range(7):
        limit.press("Shift+ArrowRight")
        assert page.evaluate(WRONG) == [], limit.get_attribute("aria-valuenow")
    expect(widget.locator(".clip-slope-text")).to_have_count(int(width == 760))  # elsewhere there is no room beside


def test_it_fits_a_narrow_phone(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 390, "height": 700})
    widget = show(page, tmp_path, Clipping())
    for width in (320, 390):
        page.set_viewport_size({"width": width, "height": 700})
        for clips in ("false", "true"):
            put(page, clip=0.5, clips=clips)
            expect(widget.locator(".clip-valley")).to_have_attribute("data-clips", clips)
            assert page.evaluate("() => document.documentElement.scrollWidth") <= width
            titles = widget.locator(".d2lrnn-step-titles").bounding_box()
            assert titles["y"] - widget.bounding_box()["y"] < 700, width
            assert now(widget).locator("b").evaluate_all("(all) => all.every((b) => b.getClientRects().length === 1)")
            for button in widget.locator(".clip-key").all():  # the longest result, too
                assert button.evaluate("(e) => e.scrollWidth <= e.clientWidth"), width
            size = widget.locator(".clip-shows").bounding_box()
            put(page, start=1.05, letters=20, clip=12.5, clips="true")
            expect(widget.locator(".clip-key").last).to_have_text("slope limit 12.5 over 10\u202f000 steps")
            for button in widget.locator(".clip-key").all():
                assert button.evaluate("(e) => e.scrollWidth <= e.clientWidth"), width
            assert widget.locator(".clip-shows").bounding_box()["height"] == size["height"]


def test_the_handles_are_as_large_as_a_finger(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 390, "height": 800})
    widget = show(page, tmp_path, Clipping())
    unfold(widget)
    for handle in widget.locator(".clip-handle").all():
        assert min(handle.bounding_box()[side] for side in ("width", "height")) >= 44


def test_no_label_is_cut_off_in_a_corner(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    unfold(widget)
    for g_1, g_2 in ((60, -60), (-60, -60), (60, 60), (-60, 60), (4, -41), (-60, 41)):
        for by in ("norm", "value"):
            put(page, g_1=g_1, g_2=g_2, clip=50, by=by)
            expect(computed(widget)).to_contain_text(f"({g_1}, {g_2})".replace("-", "\u2212"))
            frame, *labels = widget.locator(".clip-plane, .clip-plane text:visible").evaluate_all(
                "(all) => all.map((one) => one.getBoundingClientRect().toJSON())"
            )
            assert len(labels) >= 2
            for box in labels:
                assert frame["x"] <= box["x"] and box["right"] <= frame["right"], (g_1, g_2, by)
                assert frame["y"] <= box["y"] and box["bottom"] <= frame["bottom"], (g_1, g_2, by)


def test_the_opening_motion_takes_step_after_step(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="no-preference")
    page.add_init_script("""addEventListener('DOMContentLoaded', () => new MutationObserver(() => {
        (window.counts ??= new Set()).add(document.querySelectorAll('.clip-landed-clipped').length);
        const score = document.querySelector('.clip-score-clipped')?.textContent;
        const [many, told] = ['.clip-landed-clipped', '.clip-count-clipped']
            .map((name) => document.querySelectorAll(`.clip-valley ${name}`).length);
        const moves = document.querySelector('.d2lrnn-now')?.textContent.includes('step ');
        if (many > 0) (window.waits ??= new Set()).add(`${many < 10} ${score} ${told} ${moves}`);
        document.querySelectorAll('.clip-count').forEach((text) => (window.told ??= new Set()).add(text.textContent));
    }).observe(document, { subtree: true, childList: true }))""")
    widget = show(page, tmp_path, Clipping(clip=0.5, clips=True))
    page.wait_for_function("window.counts.size > 6")
    expect(widget.locator(".clip-valley .clip-landed-clipped")).to_have_count(10)
    expect(now(widget)).to_have_text(Clipping(clip=0.5).static_sentence())
    assert sorted(page.evaluate("[...window.waits]")) == ["false 25 steps 1 false", "true … 0 true"]  # no total before
    widget.locator(".clip-key").first.click()  # after its first step this ball is not seen to move
    expect(widget.locator(".clip-count")).to_have_text("after 10 steps")
    assert page.evaluate("[...window.told]") == ["after 10 steps"]


def test_an_answer_stays_while_the_plane_is_changed(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    widget = show(page, tmp_path, Clipping())
    widget.locator(".d2lrnn-step-title").last.click()
    widget.get_by_role("button", name="It flies over the valley").click()
    outcome = widget.locator(".d2lrnn-outcome")
    expect(outcome).to_contain_text("slope 84, not 9.8.")
    told = outcome.inner_text()
    widget.get_by_text("How it is computed").click()
    widget.get_by_role("button", name="Clip the values").click()
    expect(computed(widget)).to_contain_text("Each part cut to")
    assert outcome.inner_text() == told
    move(page, widget, "limit θ", -0.05)  # this changes what it speaks of
    expect(outcome).not_to_have_text(told)
