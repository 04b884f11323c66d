"""The package's `fit` as a reader calls it: which engine computes the step is its own choice."""

from __future__ import annotations

from benchmarks.contestants import Stream, Task, ours_autograd

TITLE = "d2lrnn, fit"
ROLE = "ours"
SETTINGS = "ABCD"
why_not = ours_autograd.why_not


def train(task: Task, stream: Stream, losses: list[float] | None) -> None:
    ours_autograd.train(task, stream, losses, engine="auto")
