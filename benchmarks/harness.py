"""Runs all contestants in turns: A B C ..., A B C ..., so that a busy moment of the machine meets all alike."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import contestants, machine, products
from benchmarks.settings import ROOT, SETTINGS

SETTLE_SECONDS = 0.05  # between two contestants: a thread pool spins for a while before it sleeps
LEAST_ROUNDS = 3
LEAST_STEPS = 3
WARM_UP_STEPS = 3
SCHEMA = 1


class BenchmarkError(RuntimeError):
    """The contestants do not compute the same thing, or one broke down: there is no result then."""


@dataclass
class Options:
    """What to run, and for how long.

    Attributes
    ----------
    device : "cpu" or "cuda"
    precision : "float32" or "tf32"
        Of torch's matrix products on a GPU.
    settings, contestants : list of str
    threads : list of int
        Every contestant runs with each.
    rounds : int
        At most so many for each setting.
    seconds : float
        Length of one measurement.
    minutes : float
        No round begins after that, beyond the first three of each setting; and after twice that, beyond the first.
    peers : Path
    """

    device: str = "cpu"
    precision: str = "float32"
    settings: list[str] = field(default_factory=lambda: list(SETTINGS))
    contestants: list[str] = field(default_factory=lambda: list(contestants.NAMES))
    threads: list[int] = field(default_factory=lambda: [1])
    rounds: int = 9
    seconds: float = 0.4
    minutes: float = 7.0
    peers: Path = ROOT / "_build" / "bench"


class Contestant:
    """A contestant's process and the pipe to it."""

    def __init__(self, name: str, threads: int, options: Options) -> None:
        self.name, self.threads = name, threads
        arguments = [name, options.device, options.precision, str(threads), str(options.peers)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", *arguments],
            cwd=ROOT,
            env=os.environ | machine.thread_environment(threads) | {"D2LRNN_STATIC": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Send a command and wait for the answer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            raise BenchmarkError(f"{self} ended by itself with exit status {code}; its last words are above.")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise BenchmarkError(f"{self} broke down:\n{answer['error']}")
        return answer

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()

    def __str__(self) -> str:
        return f"{self.name} ({self.threads} thread{'s' * (self.threads > 1)})"


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def benchmark(options: Options, missing: dict[str, str]) -> dict[str, Any]:
    """Run everything.

    Parameters
    ----------
    options : Options
    missing : dict of str to str
        Why a peer could not be installed; the reason goes into its rows.

    Returns
    -------
    dict
        The result, ready for JSON; :mod:`benchmarks.table` reads it.

    Raises
    ------
    BenchmarkError
        If losses differ, or a process ends or fails.
    """
    started = time.monotonic()
    facts = machine.machine_facts()
    say(f"{len(options.contestants)} contestants, each with {options.threads} threads; starting them")
    crew: list[Contestant] = []
    try:
        for name in options.contestants:
            crew += [Contestant(name, threads, options) for threads in options.threads]
        for contestant in crew:
            facts |= contestant.ask("describe")
            threads = facts.pop("threads")
            if set(threads.values()) != {contestant.threads}:
                raise BenchmarkError(f"{contestant} has other numbers of threads: {threads}")
        say(", ".join(f"{key} {value}" for key, value in facts.items()))
        results = []
        for number, setting in enumerate(options.settings):
            left = options.minutes * 60 - (time.monotonic() - started)
            deadline = time.monotonic() + left / (len(options.settings) - number)
            hard_deadline = started + 2 * 60 * options.minutes
            results += _one_setting(setting, crew, options, deadline, hard_deadline, missing)
    finally:
        for contestant in crew:
            contestant.end()
    return {
        "schema": SCHEMA,
        "date": time.strftime("%Y-%m-%d"),
        "device": options.device,
        "precision": options.precision,
        "machine": facts,
        "options": {
            "threads": options.threads,
            "rounds": options.rounds,
            "seconds": options.seconds,
            "minutes": options.minutes,
        },
        "minutes_taken": round((time.monotonic() - started) / 60, 2),
        "settings": {
            name: asdict(SETTINGS[name])
            | {"sizes": str(SETTINGS[name]), "flops_per_token": products.flops_per_token(SETTINGS[name])}
            for name in options.settings
        },
        "results": results,
    }


def _one_setting(
    setting: str,
    crew: list[Contestant],
    options: Options,
    deadline: float,
    hard_deadline: float,
    missing: dict[str, str],
) -> list[dict[str, Any]]:
    say(f"{setting}: {SETTINGS[setting]}")
    rows: list[dict[str, Any]] = []
    running: list[tuple[Contestant, dict[str, Any]]] = []
    for contestant in crew:
        answer = contestant.ask("check", setting=setting)
        if not answer["enters"]:
            continue
        row = {"setting": setting, "contestant": contestant.name, **answer, "threads": contestant.threads}
        del row["enters"]
        if "absent" in answer:
            row["absent"] = with_reason(answer["absent"], missing)
            if all(other["contestant"] != contestant.name for other in rows):
                rows.append(row)
            continue
        rows.append(row)
        running.append((contestant, row))
    check_losses([row for _, row in running])

    rates = {}  # steps per second, from the last time
    for contestant, row in running:
        contestant.ask("open", setting=setting)
        contestant.ask("run", steps=WARM_UP_STEPS)
        rates[contestant] = _first_rate(contestant, options.seconds)
        row["rounds"] = []
    rounds = 0
    while running and rounds < options.rounds:
        now = time.monotonic()
        if rounds and now > deadline and (rounds >= LEAST_ROUNDS or now > hard_deadline):
            break
        for contestant, row in running:
            time.sleep(SETTLE_SECONDS)
            steps = max(LEAST_STEPS, round(rates[contestant] * options.seconds))
            took = contestant.ask("run", steps=steps)
            rates[contestant] = steps / took["seconds"]
            row["rounds"].append({"steps": steps, **took})
        rounds += 1
        say(f"  round {rounds} of at most {options.rounds}")
    for contestant, _ in running:
        contestant.ask("close")
    return rows


def _first_rate(contestant: Contestant, seconds: float) -> float:
    """Steps per second, from a first trial of more and more steps."""
    steps, taken = 1, contestant.ask("run", steps=1)["seconds"]
    while taken < seconds / 8:  # a single step would say little of a small network
        steps *= 4
        taken = contestant.ask("run", steps=steps)["seconds"]
    return steps / taken


def with_reason(absent: str, missing: dict[str, str]) -> str:
    for peer, reason in missing.items():
        if peer.replace("-", "==", 1) in absent:
            return f"{absent}: {reason}"
    return absent


def check_losses(rows: list[dict[str, Any]]) -> None:
    """Compare every contestant's losses with the first one's, and note the greatest difference in its row.

    Raises
    ------
    BenchmarkError
        If one is off by more than it may be, or is not a number.
    """
    learners = [row for row in rows if row["role"] != "limit"]
    if not learners:
        return
    expected = learners[0]["losses_nats"]
    for row in learners:
        if len(row["losses_nats"]) != len(expected):
            raise BenchmarkError(f"{row['contestant']} gave {len(row['losses_nats'])} losses, not {len(expected)}.")
        differences = [abs(loss - wanted) for loss, wanted in zip(row["losses_nats"], expected)]
        row["loss_difference"] = max(differences)
        if not all(off <= row["loss_tolerance"] for off in differences):  # NaN is not less than anything
            raise BenchmarkError(
                f"In setting {row['setting']} {row['contestant']} does not do what {learners[0]['contestant']} does: "
                f"losses {row['losses_nats']} instead of {expected}, which is more than {row['loss_tolerance']} nats "
                "off. No times are taken of something else."
            )
