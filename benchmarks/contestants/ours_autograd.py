"""The package's `fit` over the textbook's recurrence, with autograd."""

from __future__ import annotations

from benchmarks.contestants import Stream, Task
from benchmarks.contestants._d2lrnn import d, network

TITLE = "d2lrnn, autograd"
ROLE = "ours"
SETTINGS = "ABCD"


def why_not(task: Task) -> str | None:
    return None


def train(task: Task, stream: Stream, losses: list[float] | None, engine: str = "autograd") -> None:
    history = d.fit(
        network(task),
        stream,
        epochs=1,
        lr=task.setting.lr,
        optimizer="sgd",
        clip=task.setting.clip,
        engine=engine,
        device=task.device,
        progress=False,
    )
    if losses is not None:
        losses += history.step_losses
