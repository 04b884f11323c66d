"""The lab's engine in a real browser: both sets of kernels against torch's numbers, and which one the lab takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from d2lrnn.widgets import TrainingLab
from pages import page_of, served
from watching import watched_page

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
# A module worker, as only a page over http may have; the lab's own is tested from disk below.
IN_A_WORKER = """({ address, cases }) => new Promise((done, failed) => {
  const source = `
    import { checkEngine } from "${address}/tests/js/engine_parity.mjs";
    import { PLAIN } from "${address}/src/d2lrnn/widgets/kernels.mjs";
    import { createKernels } from "${address}/src/d2lrnn/widgets/simd.mjs";
    self.onmessage = ({ data }) => {
      try {
        const check = (kernels) => [data, data.gru, data.lstm].map((cases) => checkEngine(cases, kernels));
        self.postMessage([createKernels(), PLAIN].map((kernels) => [kernels.name, check(kernels)]));
      } catch (error) {
        self.postMessage(String(error));
      }
    };`;
  const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })), { type: "module" });
  worker.onmessage = ({ data }) => { worker.terminate(); done(data); };
  worker.onerror = (event) => failed(new Error(event.message));
  worker.postMessage(cases);
})"""
# As in a browser without WebAssembly: it is gone before the worker's script begins.
WITHOUT_WEBASSEMBLY = """
const Before = Blob;
globalThis.Blob = class extends Before {
  constructor(parts, options) { super(["delete globalThis.WebAssembly;\\n", ...parts], options); }
};"""


def test_both_sets_of_kernels_agree_with_torch(browser: Browser) -> None:
    cases = json.loads((ROOT / "tests" / "js" / "engine_cases.json").read_text(encoding="utf-8"))
    with served(ROOT) as addresses, watched_page(browser) as (page, record):
        page.goto(f"{addresses['http']}/book/assets/favicon.svg")
        checked = page.evaluate(IN_A_WORKER, {"address": addresses["http"], "cases": cases})
    assert checked == [["simd", [17, 9, 9]], ["plain", [17, 9, 9]]]
    assert record.errors == [] and record.outside == []


def train(page: Page, address: str) -> float:
    """Open the lab, train until the held-out perplexity says that it learns; return that."""
    page.goto(f"{address}/page.html")
    lab = page.locator('.d2lrnn-widget[data-ready="1"]')
    lab.get_by_role("button", name="Start", exact=True).click()
    lab.get_by_role("button", name="fast", exact=True).click()
    page.wait_for_function("() => parseFloat(document.querySelector('.lab-now-value')?.textContent) < 12")
    lab.get_by_role("button", name="Pause", exact=True).click()
    expect(page.locator(".lab")).to_have_attribute("data-status", "paused")
    return float(lab.locator(".lab-now-value").text_content())


def test_the_lab_computes_with_simd_over_http_and_from_disk(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(page_of(TrainingLab()), encoding="utf-8")
    with served(tmp_path) as addresses:
        for address in addresses.values():
            with watched_page(browser) as (page, record):
                assert 1 < train(page, address) < 12
                expect(page.locator(".lab")).to_have_attribute("data-engine", "simd")
                assert record.errors == [] and record.outside == []


def test_without_webassembly_the_lab_trains_in_plain_javascript(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(page_of(TrainingLab()), encoding="utf-8")
    with watched_page(browser) as (page, record):
        page.add_init_script(WITHOUT_WEBASSEMBLY)
        assert 1 < train(page, tmp_path.as_uri()) < 12
        expect(page.locator(".lab")).to_have_attribute("data-engine", "plain")
        assert record.errors == [] and record.outside == []
