"""One contestant in a process of its own: ``python -m benchmarks.worker NAME DEVICE PRECISION THREADS PEERS``.

It reads commands from standard input and answers on standard output, a line of JSON each:

======================================  ===============================================================
``{"do": "describe"}``                  versions and threads, as this process sees them
``{"do": "check", "setting": "A"}``     ``{"losses_nats": [...]}`` of a few minibatches from the start
``{"do": "open", "setting": "A"}``      ``{}``: starting weights are loaded and training waits
``{"do": "run", "steps": k}``           ``{"seconds": s, "cpu_seconds": c}`` for its next k steps
``{"do": "close"}``                     ``{}``: that training is over
======================================  ===============================================================

The stopwatch is the stream of minibatches: a contestant's own training loop asks it for one minibatch after the other,
and a step lasts from there to the next question. So `fit` is timed as it is, `Trainer` too, and nobody is started anew
for each round.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import time
import traceback
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

from benchmarks import contestants, settings

# Nats, between any contestant and the first one. A module that computes in a precision of its own has its own.
LOSS_TOLERANCE = {"float32": 1e-4, "tf32": 1e-2}
CHECKED_STEPS = 3  # losses before the first step, after one, and after two


class Pipe:
    """Commands in, answers out. What a contestant prints goes to the error stream, so that no answer is garbled."""

    def __init__(self) -> None:
        self._commands = sys.stdin
        self._answers: IO[str] = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)

    def receive(self) -> dict[str, Any]:
        line = self._commands.readline()
        if not line:  # the harness is gone
            sys.exit()
        command: dict[str, Any] = json.loads(line)
        return command

    def send(self, **answer: Any) -> None:
        self._answers.write(json.dumps(answer) + "\n")
        self._answers.flush()


class Windows:
    """Minibatches as `fit` takes them; every one starts from a state of zeros."""

    carries_state = False

    def __init__(self, setting: settings.Setting, batches: Iterator[tuple[Any, Any]], length: int) -> None:
        self.batch_size, self.num_steps = setting.batch_size, setting.num_steps
        self._batches, self._length = batches, length

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return self._batches


class Worker:
    def __init__(self, name: str, device: str, precision: str, threads: int, peers: Path) -> None:
        import torch

        torch.set_num_threads(threads)  # beside the environment variables, which the harness has set
        # One rule for all: by default torch would let cuDNN alone round what it multiplies.
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
        self.name, self.device, self.precision, self.peers, self.torch = name, device, precision, peers, torch
        self.pipe = Pipe()

    def serve(self) -> None:
        while True:
            command = self.pipe.receive()
            try:
                getattr(self, command.pop("do"))(**command)
            except Exception:
                self.pipe.send(error=traceback.format_exc())

    def describe(self) -> None:
        from benchmarks import machine

        if self.device == "cuda" and not self.torch.cuda.is_available():
            raise RuntimeError(f"torch {self.torch.__version__} sees no CUDA GPU here; take --device cpu.")
        self.pipe.send(**machine.process_facts(self.device))

    def _task(self, setting: str) -> contestants.Task:
        chosen = settings.SETTINGS[setting]
        return contestants.Task(chosen, settings.starting_weights(chosen), self.device, self.peers)

    def _batches(self, task: contestants.Task, count: int) -> list[tuple[Any, Any]]:
        move = partial(self.torch.as_tensor, device=self.device)
        return [(move(X), move(Y)) for X, Y in settings.minibatches(task.setting, count)]

    def check(self, setting: str) -> None:
        module = contestants.load(self.name)
        if setting not in module.SETTINGS or self.device not in getattr(module, "DEVICES", self.device):
            self.pipe.send(enters=False)
            return
        answer: dict[str, Any] = {"enters": True, "title": module.TITLE, "role": module.ROLE}
        task = self._task(setting)
        reason = module.why_not(task)
        if reason is not None:
            self.pipe.send(**answer, absent=reason)
            return
        losses: list[float] = []
        if module.ROLE != "limit":
            batches = self._batches(task, CHECKED_STEPS)
            module.train(task, Windows(task.setting, iter(batches), len(batches)), losses)
        tolerance = getattr(module, "LOSS_TOLERANCE", LOSS_TOLERANCE[self.precision])
        self.pipe.send(**answer, losses_nats=losses, loss_tolerance=tolerance)

    def open(self, setting: str) -> None:
        task = self._task(setting)
        batches = self._batches(task, settings.NUM_BATCHES)
        length = 10**7  # more than will ever be asked for; no contestant may stop before it is told to
        contestants.load(self.name).train(task, Windows(task.setting, self._rounds(batches), length), None)
        self.pipe.send()

    def _rounds(self, batches: list[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
        endless = itertools.cycle(batches)
        self.pipe.send()
        while (command := self.pipe.receive())["do"] == "run":
            # What the others did in the meantime, to caches and clocks, is not this contestant's affair.
            yield from itertools.islice(endless, 1 + command["steps"] // 10)
            self._finish()
            start, start_cpu = time.perf_counter(), time.process_time()
            yield from itertools.islice(endless, command["steps"])
            self._finish()
            self.pipe.send(seconds=time.perf_counter() - start, cpu_seconds=time.process_time() - start_cpu)

    def _finish(self) -> None:
        """Wait until the device has done all that it was told."""
        if self.device == "cuda":
            self.torch.cuda.synchronize()


if __name__ == "__main__":
    name, device, precision, threads, peers = sys.argv[1:]
    Worker(name, device, precision, int(threads), Path(peers)).serve()
