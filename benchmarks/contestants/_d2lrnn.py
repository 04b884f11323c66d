"""The package's network with the task's weights."""

from __future__ import annotations

import sys

from benchmarks.contestants import Task
from benchmarks.settings import ROOT

sys.path.insert(0, str(ROOT / "src"))  # this working copy, whatever else is installed

import torch
from torch import nn

import d2lrnn as d


def network(task: Task) -> d.RNNLM:
    setting = task.setting
    embedding = None if setting.num_embedding is None else nn.Embedding(setting.vocab_size, setting.num_embedding)
    model = d.RNNLM(d.RNNScratch(setting.num_inputs, setting.num_hiddens), setting.vocab_size, embedding)
    places = {"W_xh": model.rnn, "W_hh": model.rnn, "b_h": model.rnn, "W_hq": model, "b_q": model}
    with torch.no_grad():
        for name, layer in places.items():
            getattr(layer, name).copy_(torch.from_numpy(task.weights[name]))
        if embedding is not None:
            embedding.weight.copy_(torch.from_numpy(task.weights["E"]))
    return model.to(task.device)
