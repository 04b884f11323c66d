"""The same numpy model in the package's `fit_manual`, as a reader calls it."""

from __future__ import annotations

from benchmarks.contestants import Stream, Task, ours_layers
from benchmarks.contestants._d2lrnn import d

TITLE = "d2lrnn, fit_manual"
ROLE = "ours"
SETTINGS = ours_layers.SETTINGS
why_not = ours_layers.why_not


def train(task: Task, stream: Stream, losses: list[float] | None) -> None:
    history = d.by_hand.fit_manual(ours_layers.model_of(task), stream, epochs=1, lr=task.setting.lr)
    if losses is not None:
        losses += history.step_losses
