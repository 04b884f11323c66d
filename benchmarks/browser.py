"""How fast the page trains, beside torch, and how smooth it stays: ``python benchmarks/browser.py``.

In headless Chromium, with the training lab's own batch, steps, optimiser and clipping, on the book's story:

- characters a second of the training step in a worker, in WebAssembly SIMD and in plain JavaScript, beside
  :func:`d2lrnn.fit` with one thread on the same machine, at 32, 64 and 128 hidden units. The contestants take turns, so
  that a busy moment of the machine meets all alike; ratios are taken within a round. Seconds are counted twice: on the
  clock, and of the processor, which leaves out the waiting for a core on a machine that has other work too.
- animation frames a second of the page while the lab trains and while it rests.
- the processor time of the page's main thread for every control of every explorable.
- what the lab has learned five seconds after its start button was pressed.

The result goes to ``benchmarks/results/browser.json``, all rounds with it, and a table to the terminal. ``--rounds``
(default 7), ``--seconds`` of each turn (default 0.5), ``--output FILE``.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["D2LRNN_STATIC"] = "1"
ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / folder) for folder in ("src", "tools", "tests/browser")]

import torch  # noqa: E402
from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402

import d2lrnn  # noqa: E402
from chromium import ARGUMENTS, find_chromium  # noqa: E402
from d2lrnn import RNNLM, RNNScratch, SequentialWindows, fit, widgets  # noqa: E402
from d2lrnn.widgets import TrainingLab  # noqa: E402
from pages import page_of, served  # noqa: E402
from tracing import MOVE_EVERYTHING, traced  # noqa: E402

UNITS = (32, 64, 128)
CONTESTANTS = ("simd", "plain", "fit")
SETTINGS = ("num_steps", "batch_size", "learning_rate", "optimizer", "clip", "carry", "seed")
RESULT = ROOT / "benchmarks" / "results" / "browser.json"

NEW_WORKER = """(address) => {
  globalThis.worker = new Worker(`${address}/benchmarks/browser_worker.mjs`, { type: "module" });
}"""
MEASURE = """(order) => new Promise((done, failed) => {
  worker.onmessage = ({ data }) => done(data);
  worker.onerror = (event) => failed(new Error(event.message));
  worker.postMessage(order);
})"""
COUNT_FRAMES = """(seconds) => new Promise((done) => {
  let [frames, start, last, longest] = [0, null, null, 0];
  const count = (now) => {
    start ??= now;
    if (last !== null) longest = Math.max(longest, now - last);
    last = now;
    if (now - start < 1000 * seconds) {
      frames += 1;
      requestAnimationFrame(count);
    } else done({ frames_per_second: (1000 * frames) / (now - start), longest_ms: longest });
  };
  requestAnimationFrame(count);
})"""


# ---- the training step ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Turn:
    """What one contestant did at its turn: so many tokens in so many seconds, of the clock and of the processor."""

    tokens: int
    wall_s: float
    cpu_s: float


class PageEngine:
    """Training in a worker of a page, with either set of kernels."""

    def __init__(self, browser: Browser, page: Page, lab: TrainingLab) -> None:
        self._session, self._page, self._lab = browser.new_browser_cdp_session(), page, lab

    def train(self, kernels: str, units: int, tokens: int) -> Turn:
        order = {"text": self._lab.text, "units": units, "kernels": kernels, "tokens": tokens}
        settings = {name: getattr(self._lab, name) for name in SETTINGS}
        before = self._processor_seconds()
        done = self._page.evaluate(MEASURE, order | {"settings": settings})
        # The worker's is the renderer that has worked.
        cpu_s = max(seconds - before.get(process, 0) for process, seconds in self._processor_seconds().items())
        return Turn(done["tokens"], done["wall_s"], cpu_s)

    def _processor_seconds(self) -> dict[int, float]:
        """Of each process that renders, in hundredths."""
        processes = self._session.send("SystemInfo.getProcessInfo")["processInfo"]
        return {each["id"]: each["cpuTime"] for each in processes if each["type"] == "renderer"}


def train_torch(lab: TrainingLab, units: int, tokens: int) -> Turn:
    """One call of `fit` on about so many tokens."""
    ids, per_step = lab.encoded.train_ids, lab.batch_size * lab.num_steps
    steps = max(1, min(tokens // per_step, (len(ids) - 1) // per_step))
    windows = SequentialWindows(ids[: steps * per_step + 1], lab.batch_size, lab.num_steps)
    torch.manual_seed(0)
    model = RNNLM(RNNScratch(len(lab.encoded.vocab), units), len(lab.encoded.vocab))
    start = time.process_time()
    history = fit(
        model,
        windows,
        epochs=math.ceil(tokens / (steps * per_step)),
        lr=lab.learning_rate,
        clip=lab.clip,
        device="cpu",
        progress=False,
    )
    cpu_s = time.process_time() - start
    records = history.epochs
    return Turn(sum(r.train.num_tokens for r in records), sum(r.seconds for r in records), cpu_s)


def measure_speed(
    browser: Browser, page: Page, lab: TrainingLab, rounds: int, seconds: float
) -> dict[str, dict[str, list[Turn]]]:
    """One turn a round, by size and contestant; each is as long as `seconds` of the processor. Two rounds warm up."""
    engine = PageEngine(browser, page, lab)
    turns: dict[str, dict[str, list[Turn]]] = {str(u): {name: [] for name in CONTESTANTS} for u in UNITS}
    for turn in range(-2, rounds):
        for units in UNITS:
            for name, before in turns[str(units)].items():
                tokens = 20_000 if not before else int(seconds * before[-1].tokens / max(before[-1].cpu_s, 0.01))
                done = train_torch(lab, units, tokens) if name == "fit" else engine.train(name, units, tokens)
                before.append(done)
        print(f"round {turn + 1} of {rounds}" if turn >= 0 else "warming up", file=sys.stderr)
    return {units: {name: done[2:] for name, done in found.items()} for units, found in turns.items()}


def summary(turns: dict[str, dict[str, list[Turn]]]) -> dict[str, dict[str, dict[str, float]]]:
    """Tokens a second of the processor and of the clock, and the median ratio to `fit` of the same round."""

    def rates(done: list[Turn], seconds: str) -> list[float]:
        return [turn.tokens / getattr(turn, seconds) for turn in done]

    found: dict[str, dict[str, dict[str, float]]] = {}
    for units, contestants in turns.items():
        found[units] = {}
        for name, done in contestants.items():
            speeds, fits = rates(done, "cpu_s"), rates(contestants["fit"], "cpu_s")
            found[units][name] = {
                "per_cpu_second": round(statistics.median(speeds)),
                "least": round(min(speeds)),
                "most": round(max(speeds)),
                "per_second": round(statistics.median(rates(done, "wall_s"))),
                "over_fit": round(statistics.median(x / y for x, y in zip(speeds, fits)), 2),
            }
    return found


# ---- the page -------------------------------------------------------------------------------------------------------


@contextmanager
def shown(browser: Browser, *shown_widgets: widgets.Explorable) -> Iterator[Page]:
    """A phone-sized page from disk with these explorables."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(page_of(*shown_widgets), encoding="utf-8")
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.goto(path.as_uri())
        page.locator('.d2lrnn-widget[data-ready="1"]').first.wait_for()
        yield page
        page.close()


def measure_frames(browser: Browser, rounds: int) -> dict[str, list[dict[str, float]]]:
    """Frames a second of the lab's page at rest and in training, in turns."""
    frames: dict[str, list[dict[str, float]]] = {"at_rest": [], "in_training": []}
    with shown(browser, TrainingLab()) as page:
        page.wait_for_timeout(1000)
        for _ in range(rounds):
            frames["at_rest"].append(page.evaluate(COUNT_FRAMES, 1))
            page.get_by_role("button", name="fast", exact=True).click()
            page.get_by_role("button", name="Start", exact=True).click()
            page.wait_for_timeout(300)
            frames["in_training"].append(page.evaluate(COUNT_FRAMES, 1))
            page.get_by_role("button", name="Pause", exact=True).click()
            page.wait_for_timeout(300)
    return {name: [{k: round(v, 1) for k, v in each.items()} for each in found] for name, found in frames.items()}


def measure_training(browser: Browser) -> dict[str, float]:
    """The main thread's share of a core while the lab trains, and its longest task, in processor time."""
    with shown(browser, TrainingLab()) as page:
        page.wait_for_timeout(1000)
        page.get_by_role("button", name="fast", exact=True).click()
        page.get_by_role("button", name="Start", exact=True).click()
        with traced(browser, page) as trace:
            start = time.perf_counter()
            page.wait_for_timeout(3000)
            wall_ms = 1000 * (time.perf_counter() - start)
    return {"busy_share": round(trace.busy_ms / wall_ms, 3), "longest_task_ms": round(trace.longest.thread_ms, 1)}


def measure_controls(browser: Browser) -> dict[str, dict[str, float | str]]:
    """Processor time of each explorable's controls: their own handlers, and the longest task, with drawing."""
    found: dict[str, dict[str, float | str]] = {}
    for name in widgets.__all__:
        if name == "Explorable":
            continue
        with shown(browser, getattr(widgets, name)()) as page:
            with traced(browser, page) as trace:
                page.evaluate(MOVE_EVERYTHING)
            times = sorted(task.thread_ms for task in trace.moves)
            found[name] = {
                "moves": len(times),
                "median_ms": round(statistics.median(times), 2),
                "most_ms": round(times[-1], 1),
                "longest_task_ms": round(trace.longest.thread_ms, 1),
                "longest_task_after": trace.longest.mark,
            }
    return found


def measure_five_seconds(browser: Browser) -> dict[str, float | str]:
    """Open the lab from disk, press start, wait five seconds."""
    with shown(browser, TrainingLab()) as page:
        page.get_by_role("button", name="fast", exact=True).click()
        page.get_by_role("button", name="Start", exact=True).click()
        page.wait_for_timeout(5000)
        updates, speed = page.locator(".lab-count").inner_text().split(" · ")
        return {
            "heldout_perplexity": float(page.locator(".lab-now-value").text_content() or "nan"),
            "updates": updates.removesuffix(" corrections"),
            "characters_a_second": speed.removesuffix(" letters a second"),
            "sample": page.locator(".lab-writes-text").inner_text(),
        }


# ---- the report -----------------------------------------------------------------------------------------------------


def machine(browser: Browser) -> dict[str, Any]:
    cpu = next(
        (line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor(),
    )
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "load_average": [round(x, 2) for x in os.getloadavg()],
        "system": platform.platform(),
        "chromium": browser.version,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "torch_threads": torch.get_num_threads(),
        "d2lrnn": d2lrnn.__version__,
    }


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []


def table(result: dict[str, Any]) -> str:
    """What was measured, in Markdown."""
    names = {"simd": "page, WebAssembly SIMD", "plain": "page, plain JavaScript", "fit": "d2lrnn.fit, one thread"}
    lines = ["| characters a second of the processor | " + " | ".join(f"{units} units" for units in UNITS) + " |"]
    lines.append("|---|" + "---:|" * len(UNITS))
    for name, words in names.items():
        cells = [result["summary"][str(units)][name] for units in UNITS]
        shown_cells = [f"{c['per_cpu_second']:,} ({c['least']:,} to {c['most']:,}), {c['over_fit']}x" for c in cells]
        lines.append(f"| {words} | " + " | ".join(shown_cells) + " |")
    lines.append("\nMedian (least to most), and the median of the ratios to `fit` of the same round. By the clock:")
    for name, words in names.items():
        speeds = ", ".join(f"{result['summary'][str(units)][name]['per_second']:,}" for units in UNITS)
        lines.append(f"- {words}: {speeds}")
    lines.append(f"\nLoad of the machine at the start: {result['machine']['load_average'][0]}.\n")
    for name, rounds in result["frames"].items():
        rates = [each["frames_per_second"] for each in rounds]
        when = name.replace("_", " ")
        lines.append(f"Frames a second {when}: {statistics.median(rates):.1f} (least {min(rates):.1f}).")
    training = result["training"]
    lines.append(
        f"While the lab trains the main thread is busy for {100 * training['busy_share']:.1f}% of the time; "
        f"its longest task takes {training['longest_task_ms']} ms."
    )
    lines.append("\n| explorable | moves | median, ms | most, ms | longest task, ms |\n|---|---:|---:|---:|---:|")
    for name, c in result["controls"].items():
        lines.append(f"| {name} | {c['moves']} | {c['median_ms']} | {c['most_ms']} | {c['longest_task_ms']} |")
    five = result["five_seconds"]
    lines.append(f"\nFive seconds after start: held-out perplexity {five['heldout_perplexity']}, it writes")
    lines.append(f"“{five['sample']}”")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the page's engine and its smoothness in headless Chromium.")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each turn")
    parser.add_argument("--output", type=Path, default=RESULT)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    executable = find_chromium()
    if executable is None:
        sys.exit("There is no Chromium that works: run `make chromium` or set CHROME=/path/to/chrome.")
    lab = TrainingLab()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        result: dict[str, Any] = {
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": machine(browser),
            "settings": {name: getattr(lab, name) for name in SETTINGS} | {"vocab_size": len(lab.encoded.vocab)},
            "five_seconds": measure_five_seconds(browser),
        }
        with served(ROOT) as addresses:
            page = browser.new_page()
            page.goto(f"{addresses['http']}/book/assets/favicon.svg")
            page.evaluate(NEW_WORKER, addresses["http"])
            turns = measure_speed(browser, page, lab, arguments.rounds, arguments.seconds)
            page.close()
        result["summary"] = summary(turns)
        result["rounds"] = {
            units: {name: [asdict(turn) for turn in done] for name, done in found.items()}
            for units, found in turns.items()
        }
        result["frames"] = measure_frames(browser, arguments.rounds)
        result["training"] = measure_training(browser)
        result["controls"] = measure_controls(browser)
        browser.close()
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(table(result))


if __name__ == "__main__":
    main()
