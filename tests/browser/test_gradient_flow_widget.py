"""The explorable GradientFlow on a page without a kernel: the message runs back, the ring dragged, steps, links."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
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
    """The message has come where it ends; the look inside a step is unfolded, if wished."""
    (folder / "page.html").write_text(page_of(*widgets), encoding="utf-8")
    page.goto(f"{address or folder.as_uri()}/page.html")
    expect(page.locator('.d2lrnn-widget[data-ready="1"]')).to_have_count(len(widgets))
    widget = page.locator(".d2lrnn-widget").first
    expect(widget.locator(".flow-end")).to_have_count(1, timeout=10_000)
    if inside:
        widget.get_by_text("Why this factor?").click()
        expect(widget.locator(".flow-plane")).to_be_visible()
    return widget


def resize(page: Page, width: int) -> None:
    """The page is so wide, and the figures have drawn themselves anew."""
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def ring(widget: Locator) -> Locator:
    """The handle of the ring, a slider for the keyboard."""
    return widget.get_by_role("slider", name=re.compile("^The ring"))


def now(widget: Locator) -> Locator:
    return widget.locator(".d2lrnn-now")


def left(widget: Locator) -> str:
    """The size that stands at the far end."""
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
            bars = widget.locator(".flow-bar").evaluate_all(
                "(all) => all.map((bar) => [Number(bar.getAttribute('x')), Number(bar.getAttribute('height'))])"
            )
            heights = [height for _, height in sorted(bars, reverse=True)]  # from the wrong guess, at the right, back
            shares = [norm / flow.norms_by_lag[0] for norm in flow.norms_by_lag]
            assert len(heights) == 29 and heights == pytest.approx([104 * share for share in shares], abs=0.006)
            expect(widget.locator(".flow-sent")).to_have_attribute("height", "104")
            expect(widget.locator(".flow-where")).to_have_text("28 steps back")
            expect(widget.locator(".flow-mark.flow-inside")).to_have_count(24)
            assert flow.static_sentence() in widget.locator(".flow-chain").get_attribute("aria-label")


def test_the_ring_can_be_dragged_and_so_can_an_eigenvalue(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, GradientFlow(matrix="orthogonal"))
    slider = ring(widget)
    widget.locator(".flow-plane").scroll_into_view_if_needed()
    box = widget.locator(".flow-plane").bounding_box()
    unit, x = box["width"] * 56 / 254, box["x"] + box["width"] / 2
    y = box["y"] + box["height"] * 120 / 218  # the name of an axis is above it

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
    assert left(widget) == expected(
        GradientFlow(matrix="orthogonal", radius=float(slider.get_attribute("aria-valuenow")))
    )
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
    re_, im = next(
        z
        for z in ((a / drawn["radius"], b / drawn["radius"]) for a, b in drawn["eigenvalues"])
        if 0.45 < (z[0] ** 2 + z[1] ** 2) ** 0.5 < 0.75
    )
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
    probe = widget.get_by_role("slider", name="One step on the way back")
    probe.press("ArrowLeft")
    length = format_length(flow.norms_by_lag[1] / flow.norms_by_lag[0])
    assert probe.get_attribute("aria-valuetext") == f"1 step back: {length}"
    probe.press("Home")  # to the left, as the arrow
    assert probe.get_attribute("aria-valuetext") == f"28 steps back: {expected(flow)}"
    assert probe.get_attribute("aria-valuenow") == probe.get_attribute("aria-valuemin") == "-28"
    probe.press("End")
    assert probe.get_attribute("aria-valuenow") == probe.get_attribute("aria-valuemax") == "0"
    for _ in range(5):
        probe.press("ArrowLeft")
    expect(widget.locator(".flow-where")).to_have_text("5 steps back")
    assert left(widget) == format_length(flow.norms_by_lag[5] / flow.norms_by_lag[0])
    mark, bar = widget.locator(".flow-asked"), widget.locator(".flow-bar").nth(5)
    expect(mark).to_have_attribute("d", re.compile("^M"))
    middles = [box["x"] + box["width"] / 2 for box in (mark.bounding_box(), bar.bounding_box())]
    assert abs(middles[0] - middles[1]) < 1
    widget.get_by_role("button", name="Reset").press("Enter")
    expect(mark).to_have_attribute("d", "")
    expect(widget.locator(".flow-where")).to_have_text("28 steps back")
    expect(widget.locator(".flow-handle")).to_have_attribute("aria-valuenow", "0.8")


def test_the_message_runs_back_when_seen_and_after_a_change(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    (tmp_path / "page.html").write_text(page_of(GradientFlow()), encoding="utf-8")
    page.goto(f"{tmp_path.as_uri()}/page.html")
    widget = page.locator(".d2lrnn-widget")
    ahead = widget.locator(".flow-ahead")
    expect(ahead).not_to_have_count(0)
    number = "(w) => w.querySelector('.flow-ahead') && w.querySelector('.flow-end').textContent"
    assert widget.evaluate(number) == expected(GradientFlow()), "as the sentence says, not what is on its way"
    expect(widget.locator(".flow-bar")).to_have_count(29)  # all stand from the start
    expect(now(widget)).to_have_text(GradientFlow().static_sentence())
    expect(ahead).to_have_count(0, timeout=10_000)
    expect(widget.locator(".flow-end")).to_have_text(expected(GradientFlow()))
    expect(widget.locator(".flow-where")).to_have_text("28 steps back")
    widget.get_by_text("Why this factor?").click()
    widget.get_by_role("button", name="turn").click()
    turned = GradientFlow(matrix="orthogonal")
    expect(now(widget)).to_have_text(turned.static_sentence())
    expect(ahead).not_to_have_count(0)
    ring(widget).press("ArrowRight")  # a touch ends the motion; after it, it runs again
    turned.radius = 0.81
    assert left(widget) == expected(turned)
    expect(ahead).not_to_have_count(0)
    expect(ahead).to_have_count(0, timeout=10_000)
    assert left(widget) == expected(turned)
    page.emulate_media(reduced_motion="reduce")
    widget.get_by_role("button", name="random").click()
    page.wait_for_timeout(400)
    expect(ahead).to_have_count(0)


def test_arrows_of_a_turn_point_where_the_first_two_numbers_of_the_message_do(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    flows = (
        GradientFlow(matrix="orthogonal", radius=0.9),
        GradientFlow(matrix="orthogonal", radius=1.0, num_steps=60),
        GradientFlow(matrix="orthogonal", radius=1.2, activation="tanh"),
    )
    show(page, tmp_path, *flows, inside=False)
    for widget, flow in zip(page.locator(".d2lrnn-widget").all(), flows):
        message = torch.tensor(flow.networks["matrices"][flow.matrix]["gradient"], dtype=torch.float64)
        assert len(message) == 24
        expect(widget.locator(".flow-legend")).to_have_text(
            "Arrow: direction (first 2 of 24 numbers). Grey: the message\u2019s size at the guess (\u00d7\u00a01)."
        )
        inputs, states, h = torch.tensor(flow.networks["inputs"], dtype=torch.float64), [], torch.zeros(24)
        for step in range(flow.num_steps if flow.activation == "tanh" else 0):
            h = torch.tanh(flow.input_size * inputs[step] + h @ flow.W_hh.to(h.dtype))
            states.append(h)
        angles = []
        for _ in range(flow.num_steps):
            angles.append(math.degrees(math.atan2(message[1], message[0])))
            slopes = 1 - states.pop() ** 2 if flow.activation == "tanh" else 1
            message = (message * slopes) @ flow.W_hh.T
        for width in (320, 390, 1280):
            resize(page, width)
            drawn = widget.locator(".flow-arrow").evaluate_all(
                """(all) => all.map((e) => [
                    e.dataset.lag, e.getAttribute('transform').match(/rotate\\((.+)\\)/)[1],
                    e.transform.baseVal[0].matrix.e, Number(e.getAttribute('d').match(/H([^M]+)/)[1]) * 2,
                ])"""
            )
            assert len(drawn) == flow.num_steps if width == 1280 else len(drawn) > 0
            for lag, angle, _, _ in drawn:
                turned = math.remainder(-float(angle) - angles[int(lag)], 360)
                assert turned == pytest.approx(0, abs=0.01), f"{width}: up is positive"
            middles = [middle for _, _, middle, _ in drawn]
            least = min(a - b for a, b in itertools.pairwise(middles))
            assert 6 <= drawn[0][3] < least, f"{width}: no arrow lies on another"
            foot, letters = (widget.locator(part).bounding_box() for part in (".flow-foot", ".flow-letters"))
            arrows = widget.locator(".flow-arrows").bounding_box()
            assert letters["y"] + letters["height"] <= arrows["y"] + 2, f"{width}: they are below the letters"
            assert arrows["y"] + arrows["height"] <= foot["y"] + foot["height"], width
    # Random weights turn it anyhow: there they would explain nothing.
    widget.get_by_text("Why this factor?").click()
    widget.get_by_role("button", name="random").click()
    expect(widget.locator(".flow-arrow")).to_have_count(0)
    expect(widget.locator(".flow-legend")).to_have_text("Grey: the message\u2019s size at the guess (\u00d7\u00a01).")


def test_the_wrong_guess_stands_at_the_right_end(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, GradientFlow(), inside=False)
    expect(widget.locator(".flow-ends")).to_contain_text("wrong guess: f, not \u2423")
    guess, came = widget.locator(".flow-guess"), widget.locator(".flow-came")
    expect(guess).to_have_text("f")
    expect(came).to_have_text("\u2423")
    for width in (320, 390, 760, 1280):
        resize(page, width)
        picture, last = widget.locator(".flow-bars").bounding_box(), widget.locator(".flow-bar").first.bounding_box()
        box, right = guess.bounding_box(), came.bounding_box()
        assert last["x"] + last["width"] < box["x"], f"{width}: beside the bar that it begins with"
        assert box["x"] + box["width"] <= picture["x"] + picture["width"], width
        middle = last["y"] + last["height"] / 2
        assert box["y"] + box["height"] / 2 == pytest.approx(middle, abs=2.5), width
        assert box["x"] + box["width"] / 2 == pytest.approx(right["x"] + right["width"] / 2, abs=1.5), width
        letter = widget.locator(".flow-letters > text").first.bounding_box()
        assert letter["x"] + letter["width"] <= right["x"], f"{width}: after the line"
        texts = widget.locator(".flow-letters > text").all_text_contents()
        assert "".join(texts[::-1]) == "the\u2423sea\u2423would\u2423simply\u2423be\u2423there", width


def test_where_the_message_grows_the_picture_zooms_out_until_the_largest_fits(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, GradientFlow(), GradientFlow(matrix="orthogonal"), inside=False)
    told, legend = widget.locator(".flow-zoomed"), widget.locator(".flow-legend")
    slider = widget.get_by_label("factor of each step")
    turned = page.locator(".d2lrnn-widget").last
    for width in (320, 360, 390, 720, 760, 1280):
        resize(page, width)
        places, turns = set(), set()
        for radius in (0.8, 1.0, 1.2, 1.4, 1.6):
            slider.fill(str(round(100 * radius)))
            norms = GradientFlow(radius=radius).norms_by_lag
            shares = [norm / norms[0] for norm in norms]
            picture = widget.locator(".flow-bars").bounding_box()["height"]
            sent = {142: 84, 196: 104}[picture]
            unit = min(sent, picture / max(shares))
            bars = widget.locator(".flow-bar").evaluate_all(
                """(all) => all.map((bar) => [
                    ...['y', 'height', 'width'].map((name) => Number(bar.getAttribute(name))),
                    parseFloat(bar.style.getPropertyValue('--flow-heat')),
                ])"""
            )
            tops, heights, thick, heats = zip(*bars)
            assert heights == pytest.approx([share * unit for share in shares], abs=0.006), f"{width}, {radius}"
            assert tops == pytest.approx([(picture - height) / 2 for height in heights], abs=0.011), f"{width}: inside"
            assert len(set(thick)) == 1, f"{width}: as thick where it explodes as where it vanishes"
            zooms = unit < sent
            assert zooms == (radius > 1) and (max(heights) == pytest.approx(picture, abs=0.006)) == zooms
            band = widget.locator(".flow-sent").bounding_box()
            assert band["height"] == pytest.approx(max(1.5, unit), abs=0.01), f"{width}: a line at least"
            expect(told).to_be_visible(visible=zooms)
            if zooms:
                expect(told).to_have_text(f"Zoomed out: {format_length(max(shares))} fits.")
            expect(legend).to_have_text(
                "Grey: \u00d7\u00a01. Blue to orange: \u00d7\u00a01 to \u00d7\u00a01\u202f000."
                if zooms
                else "Grey: the message\u2019s size at the guess (\u00d7\u00a01)."
            )
            assert all(heat == 0 for heat, share in zip(heats, shares) if share <= 1), f"{width}: blue"
            assert all(heat == 100 for heat, share in zip(heats, shares) if share >= 1000), f"{width}: orange"
            assert all(0 <= heat < 100 for heat, share in zip(heats, shares) if share < 970), width
            places.add(round(slider.bounding_box()["y"] - widget.bounding_box()["y"]))
            turned.get_by_label("factor of each step").fill(str(round(100 * radius)))
            turns.add(round(turned.locator(".flow-control").bounding_box()["y"] - turned.bounding_box()["y"]))
        assert len(places) == len(turns) == 1, width


def test_the_picture_is_seen_to_zoom_out_at_a_leap_and_a_touch_ends_that(
    opened: tuple[Page, Record], tmp_path: Path
) -> None:
    page, _ = opened
    widget = show(page, tmp_path, GradientFlow(radius=1.0), inside=False)
    slider, last = widget.get_by_label("factor of each step"), widget.locator(".flow-bar").last
    expect(widget.locator(".flow-ahead")).to_have_count(0, timeout=10_000)
    height = "(bar) => Number(bar.getAttribute('height'))"
    leap = """async (input, value) => {
      const bar = [...document.querySelectorAll('.flow-bar')].at(-1);
      input.value = value;
      input.dispatchEvent(new Event('input', { bubbles: true }));
      const seen = [];
      for (let i = 0; i < 4; i += 1) {
        await new Promise(requestAnimationFrame);
        seen.push(Number([...document.querySelectorAll('.flow-bar')].at(-1).getAttribute('height')));
      }
      return seen;
    }"""
    assert slider.evaluate(leap, "120")[0] > 1000, "at first on the scale of before"
    expect(last).to_have_attribute("height", "196.00")
    expect(widget.locator(".flow-ahead")).not_to_have_count(0)  # then the message runs back
    assert slider.evaluate(leap, "122") == [196.0] * 4, "a small move is followed at once"
    slider.evaluate(leap, "80")
    box = widget.locator(".flow-bars").bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 50)
    assert widget.locator(".flow-bar").first.evaluate(height) == 104, "who points at a bar sees it as it ends"
    expect(widget.locator(".flow-zoomed")).to_be_hidden()


def test_a_finger_is_told_to_touch_a_letter(browser: Browser, tmp_path: Path) -> None:
    for touch, text in ((False, "point at a letter"), (True, "touch a letter")):
        context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=touch, is_mobile=touch)
        page = context.new_page()
        page.emulate_media(reduced_motion="reduce")
        hint = show(page, tmp_path, GradientFlow(), inside=False).locator(".flow-hint").filter(visible=True)
        expect(hint).to_have_text(text)
        context.close()


def test_the_slider_stays_whatever_reason_stands_above_it(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    flows = (
        GradientFlow(),
        GradientFlow(num_steps=4),
        GradientFlow(matrix="orthogonal"),
        GradientFlow(matrix="orthogonal", radius=0.8123),
        GradientFlow(radius=1.2, activation="tanh"),
        GradientFlow(radius=1.2, activation="tanh", input_size=1e-8),
        GradientFlow(radius=1.2, activation="tanh", num_steps=2, input_size=0.1),
    )
    show(page, tmp_path, *flows, inside=False)
    sliders, widgets = page.get_by_label("factor of each step"), page.locator(".d2lrnn-widget")
    told = {re.sub(r"[\d.]+", "", text) for text in widgets.locator(".flow-factor").all_inner_texts()}
    assert len(told) >= 6, told
    for width in (320, 390, 760, 1280):
        resize(page, width)
        tops = "(all) => all.map((e) => e.getBoundingClientRect().y)"
        places, mains = sliders.evaluate_all(tops), widgets.locator(".flow-main").evaluate_all(tops)
        assert len(places) == len(mains) == len(flows)
        assert len({round(place - main) for place, main in zip(places, mains)}) == 1, width


def test_no_bar_leaves_the_picture_and_a_hotter_one_is_larger(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, GradientFlow(matrix="orthogonal", radius=1.6, num_steps=60), inside=False)
    for width in (390, 760):
        resize(page, width)
        picture = widget.locator(".flow-bars").bounding_box()
        bars = widget.locator(".flow-bar").evaluate_all(
            """(all) => all.map((bar) => {
                const { x, right, height } = bar.getBoundingClientRect();
                return [parseFloat(bar.style.getPropertyValue('--flow-heat')), x, right, height];
            })"""
        )
        heats, lefts, rights, high = zip(*bars)
        assert list(heats) == sorted(heats) and (heats[0], heats[-1]) == (0, 100), width
        assert list(high) == sorted(high) and high[-1] == pytest.approx(picture["height"], abs=0.1), width
        assert high[-2] == pytest.approx(high[-1] / 1.6, abs=0.1), f"{width}: 1.6 times the one before"
        assert picture["x"] - 1 <= min(lefts) and max(rights) <= picture["x"] + picture["width"] + 1, width
        assert widget.locator(".flow-bars").evaluate("(e) => getComputedStyle(e).overflow") == "hidden"


def test_what_is_asked_stands_above_its_letter(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    flow = GradientFlow(radius=1.6)
    widget = show(page, tmp_path, flow, inside=False)
    where, size, probe = (widget.locator(f".flow-{part}") for part in ("where", "end", "probe"))
    others = widget.locator(".flow-way, .flow-ends > span:last-of-type, .flow-start, .flow-zoomed")
    for width in (320, 390, 760, 1280):
        resize(page, width)
        page.mouse.move(1, 1)
        frame = widget.locator(".flow-chain").bounding_box()
        assert where.bounding_box()["x"] == pytest.approx(frame["x"], abs=1), "what has arrived, at the left"
        expect(others).to_have_count(4)
        assert all(other.is_visible() for other in others.all())
        letters = widget.locator(".flow-letters > text")
        for lag in (0, 4, 10, 20, 28):
            box = letters.nth(lag).bounding_box()
            middle = box["x"] + box["width"] / 2
            page.mouse.move(middle, box["y"] + box["height"] / 2)
            expect(where).to_have_text(f"{lag} steps back")
            expect(size).to_have_text(format_length(flow.norms_by_lag[lag] / flow.norms_by_lag[0]))
            assert not any(other.is_visible() for other in others.all()), f"{width}: nothing lies in its way"
            for word in (where.bounding_box(), size.bounding_box()):
                start, end = word["x"], word["x"] + word["width"]
                assert frame["x"] - 0.5 <= start and end <= frame["x"] + frame["width"] + 0.5, f"{width}, {lag}"
                is_at_edge = start < frame["x"] + 1 or end > frame["x"] + frame["width"] - 1
                assert is_at_edge or (start + end) / 2 == pytest.approx(middle, abs=1.5), f"{width}, {lag}"
                assert start - 1 <= middle <= end + 1, f"{width}, {lag}: above it"
                assert word["y"] + word["height"] <= probe.bounding_box()["y"] + 1, width
            line = widget.locator(".flow-guide").bounding_box()
            assert line["x"] + line["width"] / 2 == pytest.approx(middle, abs=1.5), f"{width}: a line leads to it"


def test_the_lead_says_whose_guess_and_is_short(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    lead = show(page, tmp_path, GradientFlow(), inside=False).locator(".d2lrnn-lead")
    expect(lead).to_have_text(
        "An untrained network\u2019s wrong guess sends a message back: the gradient. "
        "What it does not reach, this guess does not teach."
    )
    lines = "(e) => Math.round(e.getBoundingClientRect().height / parseFloat(getComputedStyle(e).lineHeight))"
    for width, most in ((390, 3), (760, 2), (1280, 2)):
        resize(page, width)
        assert 1 <= lead.evaluate(lines) <= most, width


def test_a_step_asks_first_and_tells_after_a_guess(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, GradientFlow())
    outcome = widget.locator(".d2lrnn-outcome")
    large, small, tanh = GradientFlow(radius=1.2), GradientFlow(), GradientFlow(radius=1.2, activation="tanh")

    expect(widget.locator(".flow-squash")).to_be_hidden()
    widget.get_by_role("button", name="More than 1?").click()
    expect(now(widget)).to_contain_text("About the same size: 28 steps back")
    expect(outcome).to_be_hidden()
    assert expected(large) not in widget.inner_text()
    widget.get_by_label("factor of each step").fill("120")  # who tries it out is no longer asked
    expect(widget.locator(".d2lrnn-step")).to_be_hidden()
    widget.get_by_role("button", name="More than 1?").click()
    widget.get_by_role("button", name="over 100 times").click()
    expect(outcome).to_contain_text(f"Right. It is {expected(large)} times as large: about 1.2")
    expect(outcome).to_contain_text("…, 28 times. Steps multiply, they do not add.")
    assert left(widget) == expected(large)

    widget.locator(".d2lrnn-step-title").nth(1).click()
    expect(widget.locator(".flow-squash")).to_be_hidden()
    expect(widget.locator(".d2lrnn-question")).to_contain_text("letters that come in as numbers of about 1")
    widget.get_by_role("button", name="Yes, just as fast").click()
    expect(outcome).to_contain_text("Not so. It vanishes. Where a number is squeezed hard, little passes: × 0.59 on")  # noqa: RUF001
    expect(outcome).to_contain_text("on top of × 1.20. Small inputs (0.1) are squeezed less: it grows to")  # noqa: RUF001
    still = expected(GradientFlow(radius=1.2, activation="tanh", input_size=0.1))
    expect(outcome).to_contain_text(f"are squeezed less: it grows to {still} times its size.")
    assert still == "1.8"
    assert left(widget) == expected(tanh)
    expect(widget.locator(".flow-factor")).to_have_text("About × 0.71 a step: weights × 1.20, squeezed × 0.59")  # noqa: RUF001
    assert f"{tanh.factor_per_step:.2f} {tanh.factor_per_step / 1.2:.2f}" == "0.71 0.59"
    expect(widget.locator(".flow-eigen .flow-head")).to_contain_text("how steep the curve is where its dots lie")
    expect(widget.locator(".flow-passes")).to_be_visible()
    expect(widget.locator(".flow-unit-dot")).to_have_count(24)

    widget.get_by_label("factor of each step").fill("146")  # the answer is of before
    expect(outcome).to_contain_text("Your earlier guess: Not so. It vanishes")
    expect(widget.locator(".flow-factor")).to_contain_text("weights × 1.46")  # noqa: RUF001

    widget.locator(".d2lrnn-step-title").nth(2).click()
    expect(widget.locator(".d2lrnn-question")).to_contain_text(
        "Again without tanh: these random weights leave 0.051 of the message"
    )
    kinds = widget.locator(".d2lrnn-answers button").all_inner_texts()
    assert kinds == ["random ones at \u00d7\u00a01", "ones that only turn it", "ones that are all 1"]
    widget.get_by_role("button", name="ones that are all 1").click()  # each answer is answered
    expect(outcome).to_contain_text(
        "All 1, they add up the 24 numbers: soon \u00d7\u00a024 a step. Without tanh, weights"
    )
    widget.get_by_role("button", name="random ones at \u00d7\u00a01").click()
    expect(outcome).to_contain_text(
        "At \u00d7\u00a01, random weights keep its size only roughly. Without tanh, weights"
    )
    widget.locator(".d2lrnn-step-title").nth(2).click()
    widget.locator(".d2lrnn-step-title").nth(2).click()
    widget.get_by_role("button", name="ones that only turn it").click()
    expect(widget.locator(".flow-arrow")).to_have_count(29)
    expect(outcome).to_contain_text(
        "Right. A turn changes its direction (the arrows), not its size. "
        "Without tanh, weights that only turn it (orthogonal"
    )
    expect(widget.locator(".flow-factor")).to_have_text("Each step back: exactly × 1.00")  # noqa: RUF001
    expect(widget.locator(".flow-squash")).to_be_hidden()
    turned = GradientFlow(radius=1.0, matrix="orthogonal", activation="tanh")
    expect(outcome).to_contain_text(
        f"With tanh and inputs of about 1, even they leave only {expected(turned)}. A later lesson opens"
    )
    widget.get_by_role("button", name="yes: tanh").click()
    expect(now(widget)).to_contain_text(turned.static_sentence())

    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(".d2lrnn-step")).to_be_hidden()
    expect(now(widget)).to_contain_text(small.static_sentence())


def test_the_factor_is_slid_and_a_bar_is_pointed_at(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, GradientFlow(), inside=False)
    expect(widget.locator(".flow-plane")).to_be_hidden()
    value = widget.locator(".flow-factor b").first
    expect(value).to_have_text("0.80")
    slider = widget.get_by_label("factor of each step")
    flow = GradientFlow()
    for place in (120, 20, 160, 95):
        slider.fill(str(place))
        flow.radius = place / 100
        expect(value).to_have_text(f"{flow.radius:.2f}")
        assert left(widget) == expected(flow)
    for lag in (0, 3, 28):
        box = widget.locator(".flow-bar").nth(lag).bounding_box()
        picture = widget.locator(".flow-bars").bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, picture["y"] + 20)  # above a small bar, too
        assert left(widget) == format_length(flow.norms_by_lag[lag] / flow.norms_by_lag[0])
        expect(widget.locator(".flow-where")).to_have_text(f"{lag} steps back")
    page.mouse.move(1, 1)
    expect(widget.locator(".flow-where")).to_have_text("28 steps back")
    widget.get_by_role("button", name="Reset").click()
    expect(value).to_have_text("0.80")


# At each key: the words that leave the figure or lie on others, and the place of the bars.
SWEEP = """async (ring, keys) => {
  const widget = ring.closest('.d2lrnn-widget');
  const found = [];
  const places = new Set();
  for (const key of keys) {
    ring.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    await null; // it draws
    const frame = widget.getBoundingClientRect();
    const ends = [...widget.querySelectorAll('.flow-ends :is(span, b):not(.flow-way)')];
    const words = ends.filter((e) => e.getClientRects().length > 0);
    if (words.length < 2) throw new Error('too few words');
    const boxes = words.map((word) => word.getBoundingClientRect());
    boxes.forEach((a, i) => {
      const leaves = a.x < frame.x || a.right > frame.right;
      const meets = (b) => a.x < b.right && b.x < a.right && a.bottom > b.y + 1 && b.bottom > a.y + 1;
      const isWrong = leaves || boxes.slice(0, i).some(meets);
      if (isWrong) found.push([key, ring.getAttribute('aria-valuenow'), words[i].textContent]);
    });
    places.add(Math.round(widget.querySelector('.flow-probe').getBoundingClientRect().y));
  }
  return [found, places.size];
}"""


def test_no_words_lie_on_others_and_none_leaves_the_figure(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    flow = GradientFlow(num_steps=60, radius=1.6)
    widget = show(page, tmp_path, flow)
    assert left(widget) == expected(flow)
    for width in (320, 390, 760, 1280):
        resize(page, width)
        found, places = ring(widget).evaluate(SWEEP, ["End", "Home", *["PageUp"] * 14])
        assert found == [], width
        assert ring(widget).get_attribute("aria-valuenow") == "1.6"  # from one end to the other
        assert places == 1, f"{width}: the bars stay where they are"


def test_the_names_of_the_axes_lie_outside_the_ring(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, GradientFlow(radius=1.6, matrix="orthogonal"))
    names = widget.locator(".flow-axis:not(.flow-one)")
    expect(names).to_have_text(["real", "imaginary"])
    for width in (320, 390, 1280):
        resize(page, width)
        handle, whole = widget.locator(".flow-handle").bounding_box(), widget.locator(".flow-plane").bounding_box()
        ring_box = widget.locator(".flow-ring").bounding_box()
        marks = [mark.bounding_box() for mark in widget.locator(".flow-mark").all()]
        right = max(ring_box["x"] + ring_box["width"], *(mark["x"] + mark["width"] for mark in marks))
        top = min(ring_box["y"], *(mark["y"] for mark in marks))
        real, imaginary = (name.bounding_box() for name in names.all())
        assert right < real["x"] and real["x"] + real["width"] <= whole["x"] + whole["width"], width
        assert whole["y"] - 1 <= imaginary["y"] and imaginary["y"] + imaginary["height"] < top - 1, width
        assert imaginary["x"] + imaginary["width"] < handle["x"], f"{width}: clear of what is dragged"


def test_the_fold_holds_inputs_radius_and_steps(opened: tuple[Page, Record], tmp_path: Path) -> None:
    page, _ = opened
    page.emulate_media(reduced_motion="reduce")
    widget = show(page, tmp_path, GradientFlow(radius=1.2, activation="tanh"))
    inputs = widget.get_by_label(re.compile("^size of the inputs"))
    inputs.press("Home")
    expect(widget.locator(".flow-factor")).to_contain_text("tanh is almost linear")
    expect(widget.locator(".flow-squash")).to_be_visible()
    expect(widget.locator(".flow-unit-dot")).to_have_count(24)
    expect(widget.locator(".flow-eigen .flow-head")).to_contain_text("slopes below 1")
    widget.get_by_role("button", name="no", exact=True).click()
    expect(widget.locator(".flow-eigen .flow-head")).not_to_contain_text("slopes")
    expect(widget.locator(".flow-squash")).to_be_hidden()
    expect(inputs).to_be_hidden()  # they change nothing without tanh
    widget.get_by_label("factor of each step").press("Home")
    expect(ring(widget)).to_have_attribute("aria-valuenow", "0.2")
    steps = widget.get_by_label(re.compile("^letters"))
    steps.press("Home")
    expect(now(widget)).to_contain_text("1 step back")
    expect(widget.locator(".flow-bar")).to_have_count(2)
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
