"""Starting weights for networks made of torch's own layers."""

from __future__ import annotations

import torch
from torch import nn

from benchmarks.settings import Array


@torch.no_grad()
def fill(rnn: nn.RNN, linear: nn.Linear, weights: dict[str, Array]) -> None:
    """Copy the weights, transposed as torch keeps them.

    ``nn.RNN`` has two biases that are only ever added. Trained both, they would move twice as far as the one of the
    equations; so the second stays at zero and takes no gradient, and the mathematics is everybody's.
    """
    rnn.weight_ih_l0.copy_(torch.from_numpy(weights["W_xh"].T))
    rnn.weight_hh_l0.copy_(torch.from_numpy(weights["W_hh"].T))
    rnn.bias_ih_l0.copy_(torch.from_numpy(weights["b_h"]))
    rnn.bias_hh_l0.zero_()
    rnn.bias_hh_l0.requires_grad_(False)
    linear.weight.copy_(torch.from_numpy(weights["W_hq"].T))
    linear.bias.copy_(torch.from_numpy(weights["b_q"]))
