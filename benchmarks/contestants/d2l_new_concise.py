"""D2L's new edition, concise: `RNN` around ``nn.RNN``, `RNNLM` and the training loop of `Trainer` of d2l 1.0.3."""

from __future__ import annotations

import warnings

import torch

from benchmarks.contestants import Stream, Task, _d2l
from benchmarks.contestants._torch_model import fill
from benchmarks.contestants.d2l_new_scratch import VERSION, train_with

TITLE = "D2L new edition, concise"
ROLE = "peer"
SETTINGS = "ABC"


def why_not(task: Task) -> str | None:
    return _d2l.why_not(VERSION, task)


def train(task: Task, stream: Stream, losses: list[float] | None) -> None:
    d2l = _d2l.load_d2l(VERSION, task.peers)
    setting = task.setting
    rnn = d2l.RNN(setting.vocab_size, setting.num_hiddens)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of lazy layers, that they are new
        model = d2l.RNNLM(rnn, vocab_size=setting.vocab_size, lr=setting.lr)
        model(torch.zeros(1, 1, dtype=torch.int64))  # its output layer learns its width at the first call
    fill(rnn.rnn, model.linear, task.weights)
    train_with(d2l, model, task, stream, losses)
