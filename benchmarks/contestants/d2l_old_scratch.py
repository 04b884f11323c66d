"""D2L's old edition, from scratch: `RNNModelScratch`, `train_epoch_ch8`, `grad_clipping` and `sgd` of d2l 0.17.6.

The three functions that its chapter hands to `RNNModelScratch` are not in the package and are written here from the
chapter's equations, in its style: one-hot inputs, a loop over the steps, an output product at each.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from benchmarks.contestants import Stream, Task, _d2l

TITLE = "D2L old edition, scratch"
ROLE = "peer"
SETTINGS = "ABC"
VERSION = "0.17.6"


def why_not(task: Task) -> str | None:
    return _d2l.why_not(VERSION, task)


def rnn(
    inputs: torch.Tensor, state: tuple[torch.Tensor], params: list[torch.Tensor]
) -> tuple[torch.Tensor, tuple[torch.Tensor]]:
    W_xh, W_hh, b_h, W_hq, b_q = params
    (H,) = state
    outputs = []
    for X in inputs:
        H = torch.tanh(torch.mm(X, W_xh) + torch.mm(H, W_hh) + b_h)
        outputs.append(torch.mm(H, W_hq) + b_q)
    return torch.cat(outputs, dim=0), (H,)


def noting(loss: nn.Module, losses: list[float] | None) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """The loss function itself, or one that notes its values too."""
    if losses is None:
        return loss

    def noted(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        value = loss(logits, targets)
        losses.append(value.item())
        return value

    return noted


def train(task: Task, stream: Stream, losses: list[float] | None) -> None:
    d2l = _d2l.load_d2l(VERSION, task.peers)
    device = torch.device(task.device)

    def get_params(vocab_size: int, num_hiddens: int, device: torch.device) -> list[torch.Tensor]:
        names = ("W_xh", "W_hh", "b_h", "W_hq", "b_q")
        return [torch.tensor(task.weights[name], device=device, requires_grad=True) for name in names]

    def init_state(batch_size: int, num_hiddens: int, device: torch.device) -> tuple[torch.Tensor]:
        return (torch.zeros((batch_size, num_hiddens), device=device),)

    net = d2l.RNNModelScratch(task.setting.vocab_size, task.setting.num_hiddens, device, get_params, init_state, rnn)

    def updater(batch_size: int) -> None:
        d2l.sgd(net.params, task.setting.lr, batch_size)

    d2l.train_epoch_ch8(net, stream, noting(nn.CrossEntropyLoss(), losses), updater, device, use_random_iter=True)
