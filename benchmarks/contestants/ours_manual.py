"""The package's layers by hand in numpy, `ManualRNNLM` and `fit_manual`: the code that a chapter teaches."""

from __future__ import annotations

from benchmarks.contestants import Stream, Task
from benchmarks.contestants._d2lrnn import d

TITLE = "d2lrnn, layers by hand in numpy"
ROLE = "ours"
SETTINGS = "D"


def why_not(task: Task) -> str | None:
    return "numpy runs on the CPU only" if task.device != "cpu" else None


def train(task: Task, stream: Stream, losses: list[float] | None) -> None:
    setting = task.setting
    assert setting.num_embedding is not None
    model = d.ManualRNNLM(setting.vocab_size, setting.num_embedding, setting.num_hiddens, stateful=False)
    for name, param in model.params.items():
        param[...] = task.weights[name]
    history = d.fit_manual(model, stream, epochs=1, lr=setting.lr)
    if losses is not None:
        losses += history.step_losses
