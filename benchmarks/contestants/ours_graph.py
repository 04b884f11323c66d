"""The package's `fit` with the step recorded as a CUDA graph."""

from __future__ import annotations

from benchmarks.contestants import Stream, Task, ours_autograd

TITLE = "d2lrnn, CUDA graph"
ROLE = "ours"
SETTINGS = "ABCD"


def why_not(task: Task) -> str | None:
    return None if task.device == "cuda" else "needs a CUDA device"


def train(task: Task, stream: Stream, losses: list[float] | None) -> None:
    ours_autograd.train(task, stream, losses, engine="cuda-graph")
