"""The shared base in a browser, on an explorable made for this test: controls, drawing, and the end of a view."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import traitlets as t
from playwright.sync_api import Browser, Page, expect

import d2lrnn.widgets
from d2lrnn.widgets import Explorable
from d2lrnn.widgets.base import stylesheet
from d2lrnn.widgets.bundle import bundle
from pages import page_of
from watching import Record, watched_page

pytestmark = pytest.mark.browser

SOURCE = """
import {
  element, explorable, prefersReducedMotion, rangeControl, selectControl,
} from "./ui.mjs";
import { footRow } from "./shape.mjs";

const SPEC = {
  controls: { amount: { type: "int", min: 0, max: 10 }, kind: { type: "choice", choices: ["a", "b", "c"] } },
  words: { en: { amount: "Amount", kind: "Kind" }, de: { amount: "Menge", kind: "Art" } },
};

function build({ el, t, signal, commit, reset, say, link }) {
  const log = (globalThis.probe = { draws: 0, destroyed: 0, signal });
  const amount = rangeControl({ label: element("span", {}, t("amount")), min: 0, max: 10, signal,
    onInput: (value) => commit({ amount: value }) });
  const options = [["a", "first"], ["b", "<b>second</b>"], ["c", "third"]];
  const kind = selectControl({ label: t("kind"), options, signal,
    onChange: (value) => commit({ kind: value, amount: 1 }) });
  const shown = element("p", { class: "shown", title: false, lang: null });
  const weights = element("p", { class: "weights" });
  el.append(amount.node, kind.node, shown, weights, footRow({ t, reset, link, say, signal }));
  return {
    draw({ amount: value, kind: chosen, weights: view }) {
      log.draws += 1;
      amount.set(value, `${value} pieces`);
      kind.set(chosen);
      shown.textContent = `${value} ${chosen} ${prefersReducedMotion()}`;
      weights.textContent = `${view.getFloat32(0, true)} ${view.getFloat32(4, true)}`;
      if (log.draws > 1) say(`now ${value}`);
      if (chosen === "c") throw new Error("no such kind");
    },
    destroy() { log.destroyed += 1; },
  };
}

export default explorable({ spec: SPEC, data: ["weights"], build });
"""


@pytest.fixture
def opened(browser: Browser) -> Iterator[tuple[Page, Record]]:
    with watched_page(browser) as (page, record):
        yield page, record
        assert record.errors == [] and record.outside == []


@pytest.fixture
def probe(opened: tuple[Page, Record], tmp_path: Path) -> Page:
    """A page with the probe on it, alive."""
    package = Path(d2lrnn.widgets.__file__).parent
    for name in ("ui.mjs", "ui.json", "shape.mjs"):
        shutil.copy(package / name, tmp_path)
    (tmp_path / "probe.mjs").write_text(SOURCE)

    class Probe(Explorable):
        _esm = bundle(tmp_path / "probe.mjs")
        _css = stylesheet("perplexity")
        amount = t.Int(3).tag(sync=True, control=True)
        kind = t.Unicode("a").tag(sync=True, control=True)
        weights = t.Bytes(b"\x00\x00\xc0\x3f\x00\x00\x00\xc0").tag(sync=True)  # float32 1.5 and -2

        def static_picture(self) -> str:
            return "<svg></svg>"

        def static_sentence(self) -> str:
            return "A probe."

    html = page_of(Probe()).replace('lang="en-GB"', 'lang="de-CH"')
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    page, _ = opened
    page.goto(f"{tmp_path.as_uri()}/page.html")
    expect(page.locator(".d2lrnn-widget")).to_have_attribute("data-ready", "1")
    return page


def test_controls_have_labels_in_the_language_of_the_page(probe: Page) -> None:
    expect(probe.get_by_label("Menge")).to_have_attribute("type", "range")
    expect(probe.get_by_label("Art")).to_have_value("a")
    expect(probe.get_by_role("button", name="Reset")).to_have_attribute("type", "button")
    expect(probe.get_by_role("option", name="<b>second</b>")).to_have_count(1)
    for control in ("input", "select", "button >> nth=0", "button >> nth=1"):
        assert probe.locator(f".d2lrnn-widget {control}").bounding_box()["height"] >= 24
    assert probe.locator(".shown").evaluate("(e) => [e.title, e.hasAttribute('lang')]") == ["", False]


def test_bytes_reach_the_module_as_a_view(probe: Page) -> None:
    expect(probe.locator(".weights")).to_have_text("1.5 -2")


def test_controls_work_from_the_keyboard(probe: Page) -> None:
    amount = probe.get_by_label("Menge")
    amount.press("ArrowRight")
    expect(probe.locator(".shown")).to_have_text("4 a false")
    expect(amount).to_have_attribute("aria-valuetext", "4 pieces")
    assert amount.evaluate("(e) => e.style.getPropertyValue('--d2lrnn-filled')") == "40%"
    probe.get_by_label("Art").select_option("b")
    expect(probe.locator(".shown")).to_have_text("1 b false")
    expect(probe.get_by_role("status")).to_have_text("now 1")
    probe.get_by_role("button", name="Reset").press("Enter")
    expect(probe.locator(".shown")).to_have_text("3 a false")
    expect(amount).to_have_value("3")


def test_traits_that_change_together_are_drawn_once(probe: Page) -> None:
    probe.get_by_label("Art").select_option("b")  # sets two traits
    expect(probe.locator(".shown")).to_have_text("1 b false")
    assert probe.evaluate("globalThis.probe.draws") == 2

def test_a_link_reproduces_the_state(probe: Page) -> None:
    probe.get_by_label("Menge").press("ArrowRight")
    probe.get_by_label("Art").select_option("b")
    probe.get_by_label("Menge").fill("7")
    probe.get_by_role("button", name="Link to this").click()
    address = probe.url
    assert "#explore=Probe.0&state=" in address
    probe.goto("about:blank")
    probe.goto(address)
    expect(probe.locator(".shown")).to_have_text("7 b false")
    probe.get_by_role("button", name="Reset").click()
    expect(probe.locator(".shown")).to_have_text("3 a false")


def test_a_link_can_set_nothing_out_of_bounds(probe: Page) -> None:
    for state in ('{"amount":9e9,"kind":"b"}', '{"kind":"<i>"}'):
        probe.evaluate("(s) => { location.hash = `#explore=Probe.0&state=${encodeURIComponent(s)}` }", state)
        expect(probe.locator(".shown")).to_have_text("3 b false")


def test_focus_can_be_seen(probe: Page) -> None:
    for control in ("input", "select", "button >> nth=0"):
        locator = probe.locator(f".d2lrnn-widget {control}")
        probe.keyboard.press("Tab")
        expect(locator).to_be_focused()
        outline = locator.evaluate("(e) => [getComputedStyle(e).outlineStyle, getComputedStyle(e).outlineWidth]")
        assert outline == ["solid", "3px"]


def test_a_drawing_that_fails_ends_the_view_and_says_why(probe: Page, opened: tuple[Page, Record]) -> None:
    probe.get_by_label("Art").select_option("c")
    expect(probe.locator(".d2lrnn-widget")).to_have_attribute("data-ready", "error")
    expect(probe.locator(".d2lrnn-error")).to_have_text("This figure stopped: no such kind")
    assert probe.evaluate("[globalThis.probe.destroyed, globalThis.probe.signal.aborted]") == [1, True]
    _, record = opened
    assert len(record.errors) == 1
    record.errors.clear()


def test_the_end_of_a_view(probe: Page) -> None:
    probe.evaluate("() => document.querySelector('.d2lrnn-widget').remove()")
    probe.wait_for_function("() => globalThis.probe.destroyed === 1 && globalThis.probe.signal.aborted")
