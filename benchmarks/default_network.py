"""Held-out perplexity of `d2lrnn train` with nothing chosen: three texts, three seeds, a minute each, in one thread.

    python benchmarks/default_network.py tinyshakespeare.txt     # some twelve minutes; The Time Machine is downloaded
    python benchmarks/default_network.py --sentence              # what is stored, as README says it

A minute is one by the clock, so nothing else should run beside it: the load of the machine is stored.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # run as a script
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks import machine

RESULTS = Path(__file__).parent / "results" / "default_network.json"
TEXTS = {"the-tide-clock": "*The Tide Clock*", "time-machine": "*The Time Machine*", "shakespeare": "Shakespeare"}
SEEDS = (0, 1, 2)
KEPT = ("heldout_perplexity", "table_perplexity", "table_order", "num_weights")


def train(text: str, seed: int) -> dict[str, Any]:
    """The command as a reader types it, in a folder of its own; the number of updates it found time for is kept too."""
    command = [sys.executable, "-m", "d2lrnn", "train", text, "--seed", str(seed), "--json", "--quiet"]
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | machine.thread_environment(1)
        told = subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    result = json.loads(told.stdout)
    return {"seed": seed, "updates": result["settings"]["total_updates"]} | {name: result[name] for name in KEPT}


def sentence(found: dict[str, Any]) -> str:
    """The least and the greatest perplexity of each text, and the best table of counts."""
    parts = []
    for name, rows in found["texts"].items():
        values = [row["heldout_perplexity"] for row in rows]
        told = f"{min(values):.2f} to {max(values):.2f} on {TEXTS[name]}"
        parts.append(f"{told} ({rows[0]['table_perplexity']:.2f})")
    return f"held-out perplexity {', '.join(parts)}"


def main(arguments: list[str] | None = None) -> int:
    """Measure, store and print; with ``--sentence`` only print what is stored."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shakespeare", type=Path, nargs="?", help="tinyshakespeare.txt")
    parser.add_argument("--sentence", action="store_true", help="measure nothing: print what is stored")
    chosen = parser.parse_args(arguments)
    if chosen.sentence:
        print(sentence(json.loads(RESULTS.read_text(encoding="utf-8"))))
        return 0
    if chosen.shakespeare is None or not chosen.shakespeare.is_file():
        parser.error("name the file with Shakespeare's text, tinyshakespeare.txt")
    found: dict[str, Any] = {"machine": machine.machine_facts(), "texts": {name: [] for name in TEXTS}}
    for seed in SEEDS:
        for name, rows in found["texts"].items():
            rows.append(train(str(chosen.shakespeare.resolve()) if name == "shakespeare" else name, seed))
            print(name, rows[-1], flush=True)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(sentence(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
