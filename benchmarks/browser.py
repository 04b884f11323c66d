"""How fast the page trains, beside torch, and how smooth it stays: ``python benchmarks/browser.py``.

In headless Chromium, with the training lab's own batch, steps, optimiser and clipping, on the book's story:

- characters a second of the training step in a worker, in WebAssembly SIMD and in plain JavaScript, beside
  :func:`d2lrnn.fit` with one thread on the same machine, at 32, 64 and 128 hidden units. The contestants take turns, so
  that a busy moment of the machine meets all alike; ratios are taken within a round.
- animation frames a second of the page while the lab trains and while it rests.
- the processor time of the page's main thread for every control of every explorable.
- what the lab has learned five seconds after its start button was pressed.

The result goes to ``benchmarks/results/browser.json``, all rounds with it, and a table to the terminal. ``--rounds``
(default 7), ``--seconds`` of each turn (default 0.5), ``--output``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
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


def torch_speed(lab: TrainingLab, units: int, seconds: float) -> float:
    """Tokens a second of one call of `fit` that lasts about so long."""
    ids = lab.encoded.train_ids
    tokens_a_step = lab.batch_size * lab.num_steps
    steps = 20
    while True:
        windows = SequentialWindows(ids[: steps * tokens_a_step + 1], lab.batch_size, lab.num_steps)
        torch.manual_seed(0)
        model = RNNLM(RNNScratch(len(lab.encoded.vocab), units), len(lab.encoded.vocab))
        history = fit(model, windows, epochs=1, lr=lab.learning_rate, clip=lab.clip, device="cpu", progress=False)
        record = history.epochs[0]
        longest = (len(ids) - 1) // tokens_a_step
        if record.seconds >= seconds / 2 or steps == longest:
            return record.tokens_per_second
        steps = min(longest, max(2 * steps, int(steps * seconds / record.seconds)))


def measure_speed(page: Page, lab: TrainingLab, rounds: int, seconds: float) -> dict[str, dict[str, list[float]]]:
    """Tokens a second by size and contestant, one number a round; the first round is not counted."""
    settings = {name: getattr(lab, name) for name in SETTINGS}
    speeds: dict[str, dict[str, list[float]]] = {str(u): {name: [] for name in CONTESTANTS} for u in UNITS}
    for turn in range(rounds + 1):
        for units in UNITS:
            for name in CONTESTANTS:
                if name == "fit":
                    speed = torch_speed(lab, units, seconds)
                else:
                    order = {"units": units, "kernels": name, "seconds": seconds, "settings": settings}
                    done = page.evaluate(MEASURE, {"text": lab.text, **order})
                    speed = done["tokens"] / done["seconds"]
                if turn > 0:
                    speeds[str(units)][name].append(round(speed))
        print(f"round {turn} of {rounds}" + (" (to warm up)" if turn == 0 else ""), file=sys.stderr)
    return speeds


def summary(speeds: dict[str, dict[str, list[float]]]) -> dict[str, dict[str, dict[str, float]]]:
    """Medians and spreads, and the median of each contestant's ratio to `fit` in the same round."""
    return {
        units: {
            name: {
                "median": round(statistics.median(rounds)),
                "least": min(rounds),
                "most": max(rounds),
                "over_fit": round(statistics.median(x / y for x, y in zip(rounds, contestants["fit"])), 2),
            }
            for name, rounds in contestants.items()
        }
        for units, contestants in speeds.items()
    }


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
        page.get_by_role("button", name="Start", exact=True).click()
        page.wait_for_timeout(5000)
        perplexity, updates, speed = page.locator(".lab-tile b").all_inner_texts()
        return {
            "heldout_perplexity": float(perplexity),
            "updates": updates,
            "characters_a_second": speed,
            "sample": page.locator(".lab-sample").inner_text(),
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
    lines = ["| characters a second | " + " | ".join(f"{units} units" for units in UNITS) + " |"]
    lines.append("|---|" + "---:|" * len(UNITS))
    for name, words in names.items():
        cells = [result["summary"][str(units)][name] for units in UNITS]
        shown_cells = [f"{c['median']:,} ({c['least']:,} to {c['most']:,}), {c['over_fit']:.2f}x" for c in cells]
        lines.append(f"| {words} | " + " | ".join(shown_cells) + " |")
    lines.append("\nMedian (least to most), and the median of the ratios to `fit` of the same round.\n")
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
            result["rounds"] = measure_speed(page, lab, arguments.rounds, arguments.seconds)
            page.close()
        result["summary"] = summary(result["rounds"])
        result["frames"] = measure_frames(browser, arguments.rounds)
        result["training"] = measure_training(browser)
        result["controls"] = measure_controls(browser)
        browser.close()
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(table(result))


if __name__ == "__main__":
    main()
