"""The package's layers by hand in numpy, `ManualRNNLM`, one after the other as its chapter walks through them."""

from __future__ import annotations

from benchmarks.contestants import Stream, Task
from benchmarks.contestants._d2lrnn import d

TITLE = "d2lrnn, layers by hand in numpy"
ROLE = "ours"
SETTINGS = "D"


def why_not(task: Task) -> str | None:
    return "numpy runs on the CPU only" if task.device != "cpu" else None


def model_of(task: Task) -> d.by_hand.ManualRNNLM:
    setting = task.setting
    assert setting.num_embedding is not None
    model = d.by_hand.ManualRNNLM(setting.vocab_size, setting.num_embedding, setting.num_hiddens, stateful=False)
    for name, param in model.params.items():
        param[...] = task.weights[name]
    return model


def train(task: Task, stream: Stream, losses: list[float] | None) -> None:
    model = model_of(task)
    for X, Y in stream:
        loss_nats = model.forward(X, Y)
        model.backward()
        grads = model.grads
        for name, param in model.params.items():
            param -= task.setting.lr * grads[name]
        if losses is not None:
            losses.append(loss_nats)
