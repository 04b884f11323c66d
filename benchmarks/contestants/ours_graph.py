"""The package's `fit` with the step recorded as a CUDA graph."""

from __future__ import annotations

from benchmarks.contestants import Stream, Task, ours_autograd

TITLE = "d2lrnn, CUDA graph"
ROLE = "ours"
SETTINGS = "ABCD"
DEVICES = ("cuda",)
why_not = ours_autograd.why_not


def train(task: Task, stream: Stream, losses: list[float] | None) -> None:
    ours_autograd.train(task, stream, losses, engine="cuda-graph")
