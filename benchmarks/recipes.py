"""Ways to train one small character model, to be compared by what they reach and when.

The search that chose the best of them looked at the validation part alone: the last tenth of the training text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

import d2lrnn as d


@dataclass(frozen=True)
class Recipe:
    """One network and one way to train it.

    Attributes
    ----------
    name, title : str
        For the command line, and for people.
    make_model : callable
        From the size of the vocabulary to a model.
    make_windows : callable
        From ids to an epoch's minibatches.
    num_steps : int
        Updates.
    lr : float
    optimizer, schedule : str
    """

    name: str
    title: str
    make_model: Callable[[int], d.RNNLM]
    make_windows: Callable[[torch.Tensor], d.RandomWindows | d.SequentialWindows]
    num_steps: int
    lr: float
    optimizer: str = "adamw"
    schedule: str = "one-cycle"


def _d2l_model(vocab_size: int) -> d.RNNLM:
    """512 tanh units; weights normal with standard deviation 0.01, biases 0."""
    model = d.RNNLM(d.RNNScratch(vocab_size, 512), vocab_size)
    for parameter in model.parameters():
        nn.init.zeros_(parameter) if parameter.dim() == 1 else nn.init.normal_(parameter, std=0.01)
    return model


def _tanh_model(vocab_size: int) -> d.RNNLM:
    model = d.RNNLM(d.RNNScratch(vocab_size, 128), vocab_size)
    nn.init.orthogonal_(model.rnn.W_hh)
    return model


def _lstm_model(num_hiddens: int, dropout: float, weight_drop: float = 0.0) -> Callable[[int], d.RNNLM]:
    def make(vocab_size: int) -> d.RNNLM:
        return d.RNNLM(d.LSTM(vocab_size, num_hiddens, weight_drop=weight_drop), vocab_size, dropout=dropout)

    return make


def _random(batch_size: int, num_steps: int) -> Callable[[torch.Tensor], d.RandomWindows]:
    return lambda ids: d.RandomWindows(ids, batch_size, num_steps)


def _sequential(batch_size: int, num_steps: int, first: int | None = None) -> Callable[..., d.SequentialWindows]:
    return lambda ids: d.SequentialWindows(ids[:first], batch_size, num_steps)


RECIPES = {
    recipe.name: recipe
    for recipe in (
        # Dive into Deep Learning, old edition: 512 units, plain gradient descent, state carried, 500 epochs of 8 steps
        Recipe(
            "d2l-10000",
            "D2L's old recipe: tanh 512, 10,000 characters",
            _d2l_model,
            _sequential(32, 35, 10_000),
            num_steps=4_000,
            lr=1.0,
            optimizer="sgd",
            schedule="constant",
        ),
        Recipe(
            "d2l-whole-text",
            "the same, whole text",
            _d2l_model,
            _sequential(32, 35),
            num_steps=4_000,
            lr=1.0,
            optimizer="sgd",
            schedule="constant",
        ),
        Recipe("tanh-128", "tanh 128", _tanh_model, _random(16, 32), num_steps=12_000, lr=8e-3),
        Recipe("lstm-minute", "LSTM 256, a minute", _lstm_model(256, 0.2), _random(16, 32), num_steps=5_200, lr=5e-3),
        Recipe(
            "lstm-long",
            "LSTM 256, longer, more dropout",
            _lstm_model(256, 0.4, 0.2),
            _random(16, 32),
            num_steps=20_000,
            lr=4e-3,
        ),
        Recipe(
            "lstm-story",
            "LSTM 256, dropout, for a shorter text",
            _lstm_model(256, 0.5, 0.3),
            _random(16, 32),
            num_steps=12_000,
            lr=4e-3,
        ),
    )
}
