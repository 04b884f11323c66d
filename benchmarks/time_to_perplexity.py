"""Held-out perplexity against seconds of training: who gets how far, and when, beside a table of counts.

    python benchmarks/time_to_perplexity.py                           # all recipes on The Time Machine
    python benchmarks/time_to_perplexity.py --corpus the-tide-clock --recipes lstm-minute
    python benchmarks/time_to_perplexity.py --validation --recipes tanh-128   # while choosing

The last tenth of the text is the test part. With --validation the models train on the first nine tenths of the rest and
are scored on its last tenth: so the choosing never sees the test part. The seconds are those of training steps with the
making of their minibatches; scoring is not in them. Results are added to benchmarks/results/time_to_perplexity.json.

    python benchmarks/time_to_perplexity.py --draw                    # book/figures/time-to-perplexity.svg, and a table
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # run as a script
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import torch

import d2lrnn as d
from benchmarks import machine
from benchmarks.recipes import RECIPES, Recipe
from d2lrnn.training import Run

RESULTS = Path(__file__).parent / "results" / "time_to_perplexity.json"
FIGURE = Path(__file__).parents[1] / "book" / "figures" / "time-to-perplexity.svg"
NUM_POINTS = 24  # of a curve, more of them early


def parts(corpus: str, validation: bool) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Training ids, scored ids, size of the vocabulary."""
    text = d.load_text(corpus)
    if not validation:
        return text.train_ids, text.heldout_ids, len(text.vocab)
    border = len(text.train_ids) * 9 // 10
    return text.train_ids[:border], text.train_ids[border:], len(text.vocab)


def scored_steps(num_steps: int) -> set[int]:
    """After which updates to look: on a logarithmic scale from 1% on, and at the end."""
    return {round(num_steps * 0.01 ** (1 - i / (NUM_POINTS - 1))) for i in range(NUM_POINTS)} | {num_steps}


class Curve(d.Callback):
    """Looks at the scored part after some of the updates; the clock stands still meanwhile."""

    def __init__(self, looks: set[int], scored_ids: torch.Tensor) -> None:
        self.looks, self.scored_ids, self.points = looks, scored_ids, []
        self.wall = self.cpu = 0.0
        self.scored = 0

    def on_train_begin(self, run: Run) -> None:
        self.start, self.start_cpu = time.perf_counter(), time.process_time()

    def on_step_end(self, run: Run) -> None:
        if run.step not in self.looks:
            return
        self.wall += time.perf_counter() - self.start
        self.cpu += time.process_time() - self.start_cpu
        recent = run.history.step_losses[self.scored :]
        self.scored = len(run.history.step_losses)
        train = math.exp(sum(recent) / len(recent))
        heldout = d.evaluate(run.model, self.scored_ids, forward=run.stepper.forward).perplexity
        self.points.append(
            {
                "step": run.step,
                "tokens": run.step * run.windows.batch_size * run.windows.num_steps,
                "seconds": round(self.wall, 2),
                "cpu_seconds": round(self.cpu, 2),
                "train_perplexity": round(train, 3),
                "heldout_perplexity": round(heldout, 3),
            }
        )
        print(f"{self.wall:7.1f} s  training {train:6.2f}  held out {heldout:6.3f}")
        self.on_train_begin(run)


def run(recipe: Recipe, corpus: str, *, seed: int, validation: bool) -> dict[str, Any]:
    """Train once, and look at the scored part along the way."""
    train_ids, scored_ids, vocab_size = parts(corpus, validation)
    facts = machine.machine_facts() | machine.process_facts("cpu")  # before: how busy the machine was
    d.seed_everything(seed)
    model = recipe.make_model(vocab_size)
    windows = recipe.make_windows(train_ids)
    curve = Curve(scored_steps(recipe.num_steps), scored_ids)
    how = {"lr": recipe.lr, "optimizer": recipe.optimizer, "schedule": recipe.schedule, "clip": 1.0}
    d.fit(model, windows, updates=recipe.num_steps, **how, device="cpu", progress=False, callbacks=[curve])
    return {
        "recipe": recipe.name,
        "corpus": corpus,
        "part": "validation" if validation else "test",
        "seed": seed,
        "num_weights": sum(parameter.numel() for parameter in model.parameters()),
        "machine": facts,
        "curve": curve.points,
    }


def counts(corpus: str, validation: bool) -> dict[str, Any]:
    """The same for tables of counts, which need one reading."""
    train_ids, scored_ids, vocab_size = parts(corpus, validation)
    found = {}
    for n in range(1, 7):
        start = time.perf_counter()
        table = d.NGramLM(train_ids, n, vocab_size)
        seconds = time.perf_counter() - start
        found[str(n)] = {
            "seconds": round(seconds, 2),
            "heldout_perplexity": round(table.evaluate(scored_ids).perplexity, 3),
        }
    return {"corpus": corpus, "part": "validation" if validation else "test", "counts": found}


def store(new: list[dict[str, Any]], path: Path) -> None:
    """Add results; one of the same recipe, corpus, part and seed gives way."""

    def key(result: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(result.get(name) for name in ("recipe", "corpus", "part", "seed"))

    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    fresh = {key(result) for result in new}
    kept = [result for result in old if key(result) not in fresh]
    path.parent.mkdir(exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(kept + new, indent=1) + "\n", encoding="utf-8")
    part.replace(path)


def table(results: list[dict[str, Any]], corpus: str, part: str = "test") -> str:
    """What is stored for one corpus, as a table in Markdown: counts first, then the recipes."""
    lines = [
        "| model | weights | after | training perplexity | held-out perplexity |",
        "|---|--:|--:|--:|--:|",
    ]
    for result in (r for r in results if r["corpus"] == corpus and r["part"] == part and "counts" in r):
        for n, found in result["counts"].items():
            seconds, heldout = found["seconds"], found["heldout_perplexity"]
            lines.append(f"| table of counts, n = {n} | | {seconds:.1f} s | | {heldout:.2f} |")
    by_name = {r["recipe"]: r for r in results if r["corpus"] == corpus and r["part"] == part and "recipe" in r}
    for recipe in RECIPES.values():
        if recipe.name not in by_name:
            continue
        result = by_name[recipe.name]
        for point in points_to_quote(result["curve"]):
            lines.append(
                f"| {recipe.title} | {result['num_weights']:,} | {point['seconds']:.0f} s | "
                f"{point['train_perplexity']:.2f} | {point['heldout_perplexity']:.2f} |"
            )
    return "\n".join(lines)


def points_to_quote(curve: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The end of a run; before it the best point, where the end is worse by more than 2%."""
    best = min(curve, key=lambda point: point["heldout_perplexity"])
    overfitted = curve[-1]["heldout_perplexity"] > 1.02 * best["heldout_perplexity"]
    return [best, curve[-1]] if overfitted else [curve[-1]]


def draw(results: list[dict[str, Any]], corpus: str, path: Path) -> None:
    """Held-out perplexity against seconds, both on logarithmic axes, with the tables of counts as lines."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    from d2lrnn.plotting import use_book_style

    use_book_style()
    figure, ax = plt.subplots(figsize=(5.6, 5.2), layout="constrained")
    chosen = [r for r in results if r["corpus"] == corpus and r["part"] == "test"]
    by_name = {r["recipe"]: r for r in chosen if "recipe" in r}
    for recipe in RECIPES.values():
        if recipe.name in by_name:
            points = [p for p in by_name[recipe.name]["curve"] if p["seconds"] >= 0.8]
            seconds, heldout = ([p[key] for p in points] for key in ("seconds", "heldout_perplexity"))
            ax.plot(seconds, heldout, label=recipe.title, linewidth=1.8)
    for result in (r for r in chosen if "counts" in r):
        for n in ("2", "3", "5"):
            value = result["counts"][n]["heldout_perplexity"]
            ax.axhline(value, color="#222222", linestyle=":", linewidth=1)
            ax.annotate(
                f"counts, n = {n}", (1, value), (0, 3), xycoords=("axes fraction", "data"), textcoords="offset points",
                ha="right", fontsize=10,
            )
    ax.set(xscale="log", yscale="log", xlim=(0.8, 600), ylim=(3.4, 30))
    ax.set(xlabel="seconds of training", ylabel="held-out perplexity")
    ax.xaxis.set_major_locator(FixedLocator([1, 3, 10, 30, 60, 180, 600]))
    ax.yaxis.set_major_locator(FixedLocator([3.5, 4, 5, 6, 8, 10, 15, 20, 30]))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    figure.legend(loc="outside upper left", fontsize=11)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default="time-machine")
    parser.add_argument("--recipes", nargs="*", choices=list(RECIPES), default=list(RECIPES))
    parser.add_argument("--validation", action="store_true", help="score the validation part")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--draw", action="store_true", help="train nothing: draw what is stored, print it as a table")
    chosen = parser.parse_args(arguments)
    if chosen.draw:
        results = json.loads(chosen.results.read_text(encoding="utf-8"))
        draw(results, chosen.corpus, FIGURE)
        print(table(results, chosen.corpus, "validation" if chosen.validation else "test"))
        return 0
    torch.set_num_threads(chosen.threads)
    store([counts(chosen.corpus, chosen.validation)], chosen.results)
    for name in chosen.recipes:
        result = run(RECIPES[name], chosen.corpus, seed=chosen.seed, validation=chosen.validation)
        store([result], chosen.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
