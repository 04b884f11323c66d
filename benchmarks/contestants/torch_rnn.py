"""Plain ``nn.RNN`` with autograd, as torch's documentation would have it: the layer, a linear layer, cross-entropy,
`clip_grad_norm_`, `torch.optim.SGD`."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.contestants import Stream, Task
from benchmarks.contestants._torch_model import fill

TITLE = "nn.RNN with autograd"
ROLE = "peer"
SETTINGS = "ABCD"


def why_not(task: Task) -> str | None:
    return None


class Network(nn.Module):
    def __init__(self, task: Task) -> None:
        super().__init__()
        setting = task.setting
        self.vocab_size = setting.vocab_size
        self.embedding = None
        if setting.num_embedding is not None:
            self.embedding = nn.Embedding.from_pretrained(torch.tensor(task.weights["E"]), freeze=False)
        self.rnn = nn.RNN(setting.num_inputs, setting.num_hiddens)
        self.linear = nn.Linear(setting.num_hiddens, setting.vocab_size)
        fill(self.rnn, self.linear, task.weights)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Logits (num_steps, batch_size, vocab_size) of X (batch_size, num_steps)."""
        inputs = F.one_hot(X.T, self.vocab_size).float() if self.embedding is None else self.embedding(X.T)
        return self.linear(self.rnn(inputs)[0])


def train(task: Task, stream: Stream, losses: list[float] | None) -> None:
    setting = task.setting
    net = Network(task).to(task.device)
    params = [param for param in net.parameters() if param.requires_grad]
    optimizer = torch.optim.SGD(params, lr=setting.lr)
    for X, Y in stream:
        loss = F.cross_entropy(net(X).flatten(0, 1), Y.T.flatten())
        optimizer.zero_grad()
        loss.backward()
        if setting.clip is not None:
            nn.utils.clip_grad_norm_(params, setting.clip)
        optimizer.step()
        if losses is not None:
            losses.append(loss.item())
