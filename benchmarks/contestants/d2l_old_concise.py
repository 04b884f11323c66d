"""D2L's old edition, concise: `RNNModel` around ``nn.RNN``, `train_epoch_ch8` and `grad_clipping` of d2l 0.17.6."""

from __future__ import annotations

import torch
from torch import nn

from benchmarks.contestants import Stream, Task, _d2l
from benchmarks.contestants._torch_model import fill
from benchmarks.contestants.d2l_old_scratch import VERSION, noting

TITLE = "D2L old edition, concise"
ROLE = "peer"
SETTINGS = "ABC"


def why_not(task: Task) -> str | None:
    return _d2l.why_not(VERSION, task)


def train(task: Task, stream: Stream, losses: list[float] | None) -> None:
    d2l = _d2l.load_d2l(VERSION, task.peers)
    setting, device = task.setting, torch.device(task.device)
    net = d2l.RNNModel(nn.RNN(setting.vocab_size, setting.num_hiddens), vocab_size=setting.vocab_size)
    fill(net.rnn, net.linear, task.weights)
    net = net.to(device)
    updater = torch.optim.SGD(net.parameters(), setting.lr)
    d2l.train_epoch_ch8(net, stream, noting(nn.CrossEntropyLoss(), losses), updater, device, use_random_iter=True)
