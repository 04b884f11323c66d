"""The explorable GradientFlow on a page without a kernel: the ring dragged, the pulse sent, steps, links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from d2lrnn.widgets import GradientFlow
from d2lrnn.widgets.gradient_flow import format_length
from pages import page_of, served
from watching import Record, watched_page

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser, width=760, height=900) as (page, record):
        yield page, record
        assert record.errors == [] and record.outside == []


def show(page: Page, folder: Path, *widgets: GradientFlow, address: str | None = None, inside: bool = True) -> Locator:
    """The chain stands where it ends; the look inside a step is unfolded, if wished."""
    (folder / "page.html").write_text(page_of(*widgets), encoding="utf-8")
    page.goto(f"{address or folder.as_uri()}/page.html")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(len(widgets))
    widget = page.locator(".d2lrnn-widget").first
    expect(widget.locator(".flow-end")).to_have_count(1, timeout=10_000)
    if inside:
        widget.get_by_text("Why this factor?").click()
        expect(widget.locator(".flow-plane")).to_be_visible()
    return widget


def ring(widget: Locator) -> Locator:
    """The handle of the ring, a slider for the keyboard."""
    return widget.get_by_role("slider", name=re.compile("^The ring"))


def now(widget: Locator) -> Locator:
    return widget.locator(".d2lrnn-now")


def left(widget: Locator) -> str:
    """The length that stands at the far end of the chain."""
    return widget.locator(".flow-end").text_content()


def expected(flow: GradientFlow) -> str:
    return format_length(flow.norms_by_lag[-1] / flow.norms_by_lag[0])


def test_it_draws_what_python_computes_from_disk_and_over_http(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    flow = GradientFlow()
    with served(tmp_path) as addresses:
        for address in addresses.values():
            widget = show(page, tmp_path, flow, address=address)
            expect(now(widget)).to_contain_text(flow.static_sentence())
            assert left(widget) == expected(flow)
            expect(widget.locator(".flow-bead")).to_have_count(29)
            expect(widget.locator(".flow-mark.flow-inside")).to_have_count(24)
            vanished = sum(norm < 0.01 for norm in flow.norms_by_lag)
            expect(widget.locator(".flow-bead.flow-vanished")).to_have_count(vanished)
            assert flow.static_sentence() in widget.locator(".flow-chain").get_attribute("aria-label")


def test_the_ring_can_be_dragged_and_so_can_an_eigenvalue(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, GradientFlow(matrix="orthogonal"))
    slider = ring(widget)
    widget.locator(".flow-plane").scroll_into_view_if_needed()
    box = widget.locator(".flow-plane").bounding_box()
    unit, x, y = box["width"] * 56 / 196, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def drag(start: float, end: float) -> None:
        page.mouse.move(x, y + start * unit)
        page.mouse.down()
        page.mouse.move(x, y + (start + end) / 2 * unit)
        page.mouse.move(x, y + end * unit)
        page.mouse.up()

    drag(0.8, 1.2)
    expect(slider).to_have_attribute("aria-valuenow", re.compile(r"^1\.(19|2|21)$"))
    expect(widget.locator(".flow-mark.flow-outside")).to_have_count(24)
    expect(now(widget)).to_contain_text("The message explodes")
    expect(widget.locator(".flow-bead.flow-exploded").first).to_be_visible()
    drag(1.2, 1.01)  # near 1 it is 1
    expect(slider).to_have_attribute("aria-valuenow", "1")
    expect(widget.locator(".flow-mark.flow-on")).to_have_count(24)
    expect(now(widget)).to_contain_text("The message keeps its size: 28 steps back, it is just as large.")
    drag(1.0, 5.0)
    expect(slider).to_have_attribute("aria-valuenow", "1.6")
    drag(1.6, 0.0)
    expect(slider).to_have_attribute("aria-valuenow", "0.2")
    drag(0.2, 1.0)
    # an eigenvalue of the random matrix, half way out, goes where the pointer goes
    widget.get_by_role("button", name="random").click()
    expect(slider).to_have_attribute("aria-valuenow", "1")
    drawn = GradientFlow().networks["matrices"]["random"]
    re_, im = next(z for z in ((a / drawn["radius"], b / drawn["radius"]) for a, b in drawn["eigenvalues"])
                   if 0.45 < (z[0] ** 2 + z[1] ** 2) ** 0.5 < 0.75)
    page.mouse.move(x + re_ * unit, y - im * unit)
    page.mouse.down()
    page.mouse.move(x + 1.3 * re_ * unit, y - 1.3 * im * unit)
    page.mouse.up()
    expect(slider).to_have_attribute("aria-valuenow", re.compile(r"^1\.(2[6-9]|3|3[0-4])$"))


def test_keys_move_the_radius_and_ask_a_bead(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    flow = GradientFlow()
    widget = show(page, tmp_path, flow)
    slider = ring(widget)
    slider.press("End")
    assert slider.get_attribute("aria-valuetext") == "1.60"
    flow.radius = 1.6
    assert left(widget) == expected(flow)
    expect(widget.get_by_role("status")).to_contain_text("The message explodes: 28 steps back")
    probe = widget.get_by_role("slider", name="One step of the chain")
    probe.press("ArrowLeft")
    length = format_length(flow.norms_by_lag[1] / flow.norms_by_lag[0])
    assert probe.get_attribute("aria-valuetext") == f"1 step back: {length}"
    probe.press("End")
    assert probe.get_attribute("aria-valuetext") == f"28 steps back: {expected(flow)}"
    expect(widget.locator(".flow-asked-text")).to_have_text(f"28 steps back: {expected(flow)}")
    widget.get_by_role("button", name="Reset").press("Enter")
    expect(widget.locator(".flow-asked-text")).to_have_count(0)
    expect(widget.locator(".flow-handle")).to_have_attribute("aria-valuenow", "0.8")


def test_a_pulse_runs_when_seen_and_beads_go_from_one_curve_to_the_next(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    (tmp_path / "page.html").write_text(page_of(GradientFlow()), encoding="utf-8")
    page.goto(f"{tmp_path.as_uri()}/page.html")
    widget = page.locator(".d2lrnn-widget")
    expect(widget.locator(".flow-pulse")).to_be_visible()
    expect(widget.locator(".flow-bead")).to_have_count(29)  # all stand from the start
    expect(widget.locator(".flow-end")).to_have_text(expected(GradientFlow()))
    expect(now(widget)).to_have_text(GradientFlow().static_sentence())
    expect(widget.locator(".flow-pulse")).to_be_hidden(timeout=10_000)
    expect(now(widget)).to_have_text(GradientFlow().static_sentence())
    expect(widget.locator(".flow-ghost")).to_have_count(0)
    widget.get_by_text("Why this factor?").click()
    widget.get_by_role("button", name="turn").click()
    expect(widget.locator(".flow-end")).to_have_count(0)  # the beads are on their way from the curve before
    expect(widget.locator(".flow-bead")).to_have_count(29)
    expect(widget.locator(".flow-end")).to_have_text(expected(GradientFlow(matrix="orthogonal")))
    widget.get_by_role("button", name="random").click()
    expect(widget.locator(".flow-end")).to_have_count(0)
    ring(widget).press("ArrowRight")  # a touch ends the motion
    expect(widget.locator(".flow-end")).to_have_text(expected(GradientFlow(radius=0.81)))


def test_on_a_small_phone_the_curve_of_tanh_and_the_arrows_of_a_turn_stand_above_the_answer(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    page.set_viewport_size({"width": 375, "height": 580})
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, GradientFlow(), inside=False)
    for step, drawing in ((1, ".flow-squash"), (2, ".flow-turn")):
        widget.locator(".d2lrnn-step-title").nth(step).click()
        widget.locator(".d2lrnn-answers button").first.click()
        sheet = widget.locator(".d2lrnn-steps")
        expect(sheet).to_have_css("position", "sticky")
        page.wait_for_timeout(100)  # it has been scrolled
        chain, drawn = (widget.locator(part).bounding_box() for part in (".flow-chain", drawing))
        assert chain["y"] >= 0 and drawn["y"] + drawn["height"] <= sheet.bounding_box()["y"] + 1


def test_a_step_asks_first_and_tells_after_a_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, GradientFlow())
    outcome = widget.locator(".d2lrnn-outcome")
    large, small, tanh = GradientFlow(radius=1.2), GradientFlow(), GradientFlow(radius=1.2, activation="tanh")

    expect(widget.locator(".flow-squash")).to_be_hidden()
    widget.get_by_role("button", name="And × 1.2?").click()  # noqa: RUF001
    expect(now(widget)).to_contain_text("About the same size: 28 steps back")
    expect(outcome).to_be_hidden()
    assert expected(large) not in widget.inner_text()
    widget.get_by_label("factor of each step").fill("120")  # who tries it out is no longer asked
    expect(widget.locator(".d2lrnn-step")).to_be_hidden()
    widget.get_by_role("button", name="And × 1.2?").click()  # noqa: RUF001
    widget.get_by_role("button", name="over 100 times").click()
    expect(outcome).to_contain_text(f"Right. It is {expected(large)} times as large: about 1.2")
    expect(outcome).to_contain_text("…, 28 times. Steps multiply, they do not add.")
    assert left(widget) == expected(large)

    widget.locator(".d2lrnn-step-title").nth(1).click()
    expect(widget.locator(".flow-ghost")).to_have_count(0)  # a question begins with one curve
    expect(widget.locator(".flow-squash")).to_be_visible()  # what tanh does, not yet what it lets through
    expect(widget.locator(".flow-unit-dot")).to_have_count(0)
    expect(widget.locator(".flow-passes")).to_be_hidden()
    widget.locator(".d2lrnn-step-title").nth(1).click()
    expect(widget.locator(".flow-squash")).to_be_hidden()
    widget.locator(".d2lrnn-step-title").nth(1).click()
    expect(widget.locator(".d2lrnn-question")).to_contain_text("(inputs of size 1)")
    widget.get_by_role("button", name="Yes, just as fast").click()
    expect(outcome).to_contain_text("No. It vanishes: many of the network’s numbers (the dots)")  # noqa: RUF001
    assert left(widget) == expected(tanh)
    expect(widget.locator(".flow-factor")).to_have_text("About × 0.71 a step: weights × 1.20, tanh × 0.59")  # noqa: RUF001
    assert f"{tanh.factor_per_step:.2f} {tanh.factor_per_step / 1.2:.2f}" == "0.71 0.59"
    expect(widget.locator(".flow-ghost-text")).to_have_text(f"before: {expected(large)}")  # to compare
    expect(widget.locator(".flow-eigen .flow-head")).to_contain_text("how steep the curve is where its dots lie")
    expect(widget.locator(".flow-passes")).to_be_visible()
    expect(widget.locator(".flow-unit-dot")).to_have_count(24)

    widget.get_by_label("factor of each step").fill("146")  # the answer is of before
    expect(outcome).to_contain_text("Before your change: No. It vanishes")
    expect(widget.locator(".flow-factor")).to_contain_text("weights × 1.46")  # noqa: RUF001

    widget.locator(".d2lrnn-step-title").nth(2).click()
    expect(widget.locator(".d2lrnn-question")).to_contain_text("leave 0.0512 of the message")
    widget.get_by_role("button", name="smaller random ones").click()  # each answer is answered
    expect(outcome).to_contain_text("No. Smaller random weights make it vanish sooner. Weights that only turn it")
    widget.get_by_role("button", name="larger random ones").click()
    expect(outcome).to_contain_text("No. Larger random weights keep its size only roughly, at best. Weights that")
    widget.locator(".d2lrnn-step-title").nth(2).click()
    widget.locator(".d2lrnn-step-title").nth(2).click()
    widget.get_by_role("button", name="ones that only turn it").click()
    expect(outcome).to_contain_text("Right. A turn changes its direction (the arrows), not its size. Weights that")
    expect(outcome).to_contain_text("They are called orthogonal.")
    expect(widget.locator(".flow-factor")).to_have_text("Each step back: exactly × 1.00")  # noqa: RUF001
    expect(widget.locator(".flow-squash")).to_be_hidden()
    arrows = widget.locator(".flow-turn:visible .flow-arrow")
    expect(arrows).to_have_count(8)
    assert len({way.get_attribute("d") for way in arrows.all()}) == 1, "each as long as the others"
    assert len({way.get_attribute("transform") for way in arrows.all()}) == 8, "each turned from the one before"
    expect(widget.locator(".flow-ghost-text")).to_have_text("before: 0.0512")
    turned = GradientFlow(radius=1.0, matrix="orthogonal", activation="tanh")
    widget.get_by_role("button", name="yes: tanh").click()
    expect(now(widget)).to_contain_text(turned.static_sentence())

    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(".d2lrnn-step")).to_be_hidden()
    expect(widget.locator(".flow-ghost")).to_have_count(0)
    expect(now(widget)).to_contain_text(small.static_sentence())


@pytest.mark.parametrize("width", [390, 760])
def test_beads_grow_and_shrink_and_what_is_asked_stays_in_the_picture(
    opened: tuple[Page, Record], tmp_path: Path, width: int
) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": 900})
    widget = show(page, tmp_path, GradientFlow(matrix="orthogonal"), inside=False)
    for radius, order in ((0.8, -1), (1.1, 1)):
        widget.get_by_label("factor of each step").fill(str(round(100 * radius)))
        beads = widget.locator("circle.flow-bead").all()
        places = sorted((-float(bead.get_attribute("cx")), float(bead.get_attribute("r"))) for bead in beads)
        sizes = [size for _, size in places]
        assert len(sizes) == 29 and sizes == sorted(sizes, reverse=order < 0)
        assert (sizes[-1] / sizes[0] > 1.05) == (order > 0)
    widget.get_by_role("slider", name="One step of the chain").press("ArrowLeft")
    beads, plumb = (widget.locator(part).bounding_box() for part in (".flow-beads", ".flow-plumb"))
    assert beads["y"] <= plumb["y"] and plumb["y"] + plumb["height"] <= beads["y"] + beads["height"]
    # the ring is taken hold of from beside it too
    grip = widget.locator(".flow-grip").bounding_box()
    assert grip["width"] >= 64 and grip["height"] >= 80


@pytest.mark.parametrize("width", [390, 760])
def test_a_curve_that_leaves_the_scale_says_so(opened: tuple[Page, Record], tmp_path: Path, width: int) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": 900})
    widget = show(page, tmp_path, GradientFlow(radius=0.2), inside=False)
    assert left(widget) == f"▼ {expected(GradientFlow(radius=0.2))}"
    slider = widget.locator(".flow-control input")
    slider.dispatch_event("pointerdown")
    slider.fill("100")
    expect(widget.locator(".flow-ghost-text")).to_have_text(f"before: ▼ {expected(GradientFlow(radius=0.2))}")
    # no line runs along the edge of the scale
    assert widget.locator(".flow-ghost").evaluate("(line) => line.getAttribute('d').split('L').length") < 12


@pytest.mark.parametrize("width", [390, 760])
@pytest.mark.parametrize("start, end", [("0.8", "20"), ("1.2", "20"), ("1.6", "120"), ("0.2", "160"), ("0.9", "80")])
def test_the_words_of_the_curve_before_lie_on_no_bead(
    opened: tuple[Page, Record], tmp_path: Path, width: int, start: str, end: str
) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": 900})
    widget = show(page, tmp_path, GradientFlow(radius=float(start)), inside=False)
    slider = widget.locator(".flow-control input")
    slider.dispatch_event("pointerdown")
    slider.fill(end)
    words = widget.locator(".flow-ghost-text")
    was = GradientFlow(radius=float(start))
    mark = "▼ " if was.norms_by_lag[-1] < 1e-6 else ""
    expect(words).to_have_text(f"before: {mark}{expected(was)}")
    box = words.bounding_box()
    for other in [*widget.locator(".flow-bead").all(), widget.locator(".flow-end")]:
        b = other.bounding_box()
        apart = box["x"] + box["width"] <= b["x"] or b["x"] + b["width"] <= box["x"]
        assert apart or box["y"] + box["height"] <= b["y"] + 2 or b["y"] + b["height"] <= box["y"] + 2
    assert box["x"] + box["width"] <= widget.bounding_box()["x"] + widget.bounding_box()["width"]


def test_what_stood_when_the_ring_was_taken_stays_to_compare(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, GradientFlow())
    widget.locator(".flow-plane").scroll_into_view_if_needed()
    box = widget.locator(".flow-plane").bounding_box()
    unit, x, y = box["width"] * 56 / 196, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for start, end in ((0.8, 1.2), (1.2, 0.95)):
        before = left(widget)
        page.mouse.move(x, y + start * unit)
        page.mouse.down()
        page.mouse.move(x, y + end * unit, steps=8)
        page.mouse.up()
        expect(widget.locator(".flow-ghost-text")).to_have_text(f"before: {before}")
    widget.get_by_role("button", name="turn").click()
    expect(widget.locator(".flow-eigen .flow-head")).to_contain_text("multiplies it by 0.9")


def test_the_far_end_can_be_dragged_and_the_factor_slid(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, GradientFlow(), inside=False)
    expect(widget.locator(".flow-plane")).to_be_hidden()
    value = widget.locator(".flow-factor b").first
    expect(value).to_have_text("0.80")

    def drag(by: float) -> None:
        grip = widget.locator(".flow-grip").bounding_box()
        x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x, y + by, steps=4)
        page.mouse.up()
        after = widget.locator(".flow-grip").bounding_box()["y"] - grip["y"]
        assert abs(after - by) < 4 or abs(by) > 100, "the bead is where the pointer is"

    drag(-100)
    assert float(value.inner_text()) > 1.1
    expect(now(widget)).to_contain_text("The message explodes")
    drag(70)
    drag(-400)
    expect(now(widget)).to_contain_text("explodes")
    drag(400)
    assert float(value.inner_text()) < 0.7
    slider = widget.get_by_label("factor of each step")
    slider.press("Home")
    expect(value).to_have_text("0.20")
    drag(-30)
    assert float(value.inner_text()) > 0.6, "from beyond the scale"
    widget.get_by_role("button", name="Reset").click()
    expect(value).to_have_text("0.80")


def test_no_words_lie_on_others(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    for width in (390, 760, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        flow = GradientFlow(num_steps=60, radius=1.6)
        widget = show(page, tmp_path, flow)
        assert left(widget) == f"▲ {expected(flow)}"
        for key in ("End", "Home", *["PageUp"] * 14):
            ring(widget).press(key)
            words = widget.locator(":is(.flow-end, .flow-label, .flow-ghost-text)")
            boxes = [word.bounding_box() for word in words.all()]
            for i, a in enumerate(boxes):
                for b in boxes[:i]:
                    apart = a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"]
                    assert apart or abs(a["y"] - b["y"]) > 12, f"{width} {key}"


def test_the_fold_holds_inputs_radius_and_steps(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, GradientFlow(radius=1.2, activation="tanh"))
    inputs = widget.get_by_label(re.compile("^size of the inputs"))
    inputs.press("Home")
    expect(widget.locator(".flow-factor")).to_contain_text("tanh is almost linear")
    expect(widget.locator(".flow-eigen .flow-head")).to_contain_text("slopes below 1")
    widget.get_by_role("button", name="no", exact=True).click()
    expect(widget.locator(".flow-eigen .flow-head")).not_to_contain_text("slopes")
    expect(inputs).to_be_hidden()  # they change nothing without tanh
    widget.get_by_label("factor of each step").press("Home")
    expect(ring(widget)).to_have_attribute("aria-valuenow", "0.2")
    steps = widget.get_by_label(re.compile("^letters"))
    steps.press("Home")
    expect(now(widget)).to_contain_text("1 step back")
    expect(widget.locator(".flow-bead")).to_have_count(2)
    assert "1 steps" not in widget.inner_text()


def test_a_link_restores_and_a_hostile_one_changes_nothing(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, GradientFlow(), GradientFlow(radius=1.5))
    widget.get_by_role("button", name="turn").last.click()
    widget.get_by_role("button", name="Link to this").click()
    address, told = page.url, now(widget).inner_text()
    page.goto("about:blank")
    page.goto(address)
    expect(now(widget)).to_have_text(told)
    page.goto("about:blank")
    state = '{"radius":"<img src=x onerror=alert(1)>","num_steps":1e9,"matrix":"__proto__","input_size":-1}'
    page.goto(f"{address.split('#')[0]}#explore=GradientFlow.0&state={state}")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(2)
    expect(now(widget)).to_contain_text(GradientFlow().static_sentence())


def test_on_a_phone_control_and_effect_share_a_screen(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 390, "height": 844})
    widget = show(page, tmp_path, GradientFlow(), inside=False)
    top, steps = widget.bounding_box()["y"], widget.locator(".d2lrnn-step-titles").bounding_box()["y"]
    assert steps - top < 700
    slider = widget.get_by_label("factor of each step")
    slider.press("Home")
    places = set()
    for _ in range(12):
        slider.press("PageUp")
        places.add(round(slider.bounding_box()["y"]))
    assert len(places) == 1, "the slider stays under the finger"
    page.set_viewport_size({"width": 320, "height": 700})
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 320
