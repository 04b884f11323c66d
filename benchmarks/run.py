"""Train the same networks with everybody's code, in turns, and print who is how fast and how far from the limit.

    make bench                                      # everything, on the processor
    python benchmarks/run.py --device cuda          # on a GPU
    python benchmarks/run.py --settings C --contestants ours,torch_rnn --rounds 3

Needs torch, numpy and what `d2lrnn` needs, and pip with a network the first time, for the peers' packages. The result
goes to benchmarks/results/, and benchmarks/README.md says what it means.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

if __package__ in (None, ""):  # run as a script: a plain python3 finds the package in the folder above
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks import contestants, machine, peers, table
from benchmarks.harness import BenchmarkError, Options, benchmark, say
from benchmarks.settings import ROOT, SETTINGS


def _one_of(known: tuple[str, ...]) -> Callable[[str], list[str]]:
    def parse(text: str) -> list[str]:
        chosen = text.split(",")
        for name in chosen:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is unknown; choose from {', '.join(known)}")
        return chosen

    return parse


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--device", choices=("cpu", "cuda"), default="cpu")
    add("--tf32", action="store_true", help="on a GPU, let all products round to TF32; losses may then be 0.01 off")
    add("--settings", type=_one_of(tuple(SETTINGS)), default=list(SETTINGS), help="such as A,C (default: all)")
    add("--contestants", type=_one_of(contestants.NAMES), default=list(contestants.NAMES), help="(default: all)")
    add("--threads", help="such as 1,2 (default: both on two cores and more, 1 with --device cuda)")
    add("--rounds", type=int, default=9, help="at most, for each setting (default: 9)")
    add("--seconds", type=float, default=0.4, help="length of one measurement (default: 0.4)")
    add("--minutes", type=float, default=7.0, help="begin no round after that, beyond three (default: 7)")
    add("--peers", type=Path, help="folder of the peers' packages (default: _build/bench)")
    add("--no-install", action="store_true", help="do not install peers that are missing")
    add("--name", help="of the result (default: the device and the date)")
    add("--note", default="", help="a sentence for beneath the tables, such as what else the machine was doing")
    add("--results", type=Path, default=ROOT / "benchmarks" / "results", help="folder for the result")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    chosen = parse_arguments(arguments)
    cores = machine.machine_facts()["cores"]
    default_threads = [1] if chosen.device == "cuda" or cores < 2 else [1, 2]
    threads = [int(count) for count in chosen.threads.split(",")] if chosen.threads else default_threads
    folder = (chosen.peers or Options.peers).resolve()
    missing = {} if chosen.no_install else peers.install(folder)
    options = Options(
        device=chosen.device,
        precision="tf32" if chosen.tf32 else "float32",
        settings=chosen.settings,
        contestants=chosen.contestants,
        threads=threads,
        rounds=chosen.rounds,
        seconds=chosen.seconds,
        minutes=chosen.minutes,
        peers=folder,
    )
    try:
        result = benchmark(options, missing)
    except BenchmarkError as error:
        say(f"No result: {error}")
        return 1
    result["note"] = chosen.note
    path = chosen.results / f"{chosen.name or chosen.device + '-' + time.strftime('%Y-%m-%d')}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(table.markdown(result))
    say(f"Written to {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
