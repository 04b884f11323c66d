"""D2L's new edition, from scratch: `RNNScratch`, `RNNLMScratch` and the training loop of `Trainer` of d2l 1.0.3."""

from __future__ import annotations

import math
from typing import Any

import torch

from benchmarks.contestants import Stream, Task, _d2l

TITLE = "D2L new edition, scratch"
ROLE = "peer"
SETTINGS = "ABC"
VERSION = "1.0.3"


def why_not(task: Task) -> str | None:
    return _d2l.why_not(VERSION, task)


def train_with(d2l: Any, model: Any, task: Task, stream: Stream, losses: list[float] | None) -> None:
    """`Trainer.fit_epoch` over the stream. The step's own bookkeeping stays, drawing the curve is left out."""

    def draw(x: float, perplexity: Any, label: str, every_n: int = 1) -> None:
        if losses is not None:
            losses.append(math.log(perplexity))

    model.board.draw = draw
    trainer = d2l.Trainer(max_epochs=1, num_gpus=int(task.device == "cuda"), gradient_clip_val=task.setting.clip)
    trainer.prepare_model(model)
    trainer.train_dataloader, trainer.val_dataloader = stream, None
    trainer.num_train_batches, trainer.num_val_batches = len(stream), 0
    trainer.optim = model.configure_optimizers()
    trainer.epoch = trainer.train_batch_idx = trainer.val_batch_idx = 0
    trainer.fit_epoch()


def train(task: Task, stream: Stream, losses: list[float] | None) -> None:
    d2l = _d2l.load_d2l(VERSION, task.peers)
    setting = task.setting
    rnn = d2l.RNNScratch(setting.vocab_size, setting.num_hiddens)
    model = d2l.RNNLMScratch(rnn, vocab_size=setting.vocab_size, lr=setting.lr)
    with torch.no_grad():
        for layer, names in ((rnn, ("W_xh", "W_hh", "b_h")), (model, ("W_hq", "b_q"))):
            for name in names:
                getattr(layer, name).copy_(torch.from_numpy(task.weights[name]))
    train_with(d2l, model, task, stream, losses)
