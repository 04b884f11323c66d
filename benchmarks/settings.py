"""What everybody trains: the sizes, the starting weights, and the minibatches.

Standard library and numpy alone, because every contestant's process imports it, whatever that contestant is made of.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
STORY = ROOT / "src" / "d2lrnn" / "data" / "the-tide-clock.txt"
ALPHABET = " abcdefghijklmnopqrstuvwxyz"  # 28 symbols with the unknown one, as The Time Machine has in D2L
NUM_BATCHES = 32  # made once and walked through again and again: nobody is timed at making them

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Setting:
    """One network, one size of minibatch, one recipe.

    Attributes
    ----------
    title : str
    batch_size, num_steps, num_hiddens, vocab_size : int
    num_embedding : int or None
        Width of the embedding; None for one-hot inputs.
    lr : float
        Learning rate of plain gradient descent.
    clip : float or None
        Greatest global gradient norm; None for no clipping.
    """

    title: str
    batch_size: int
    num_steps: int
    num_hiddens: int
    vocab_size: int
    num_embedding: int | None = None
    lr: float = 1.0
    clip: float | None = 1.0

    @property
    def num_inputs(self) -> int:
        return self.num_embedding or self.vocab_size

    @property
    def tokens_per_step(self) -> int:
        """Predictions in one training step."""
        return self.batch_size * self.num_steps

    def __str__(self) -> str:
        embedding = f", embedding {self.num_embedding}" if self.num_embedding else ""
        return (
            f"batch {self.batch_size:,}, {self.num_steps} steps, {self.num_hiddens} hidden{embedding}, "
            f"{self.vocab_size} symbols"
        )


SETTINGS = {
    "A": Setting("D2L's old edition", 32, 35, 512, 28),
    "B": Setting("D2L's new edition", 1024, 32, 32, 28),
    "C": Setting("a small network", 16, 32, 64, 28),
    "D": Setting("Deep Learning from Scratch 2", 10, 5, 100, 418, num_embedding=100, lr=0.1, clip=None),
}


def starting_weights(setting: Setting, seed: int = 0) -> dict[str, Array]:
    """The weights with which all contestants begin, float32.

    ``W_xh``, ``W_hh``, ``b_h``, ``W_hq``, ``b_q``, and the table ``E`` if there is an embedding. The output weights are
    drawn wide on purpose: the first gradients are then longer than 1, so that equal losses prove equal clipping too.
    """
    rng = np.random.default_rng(seed)
    h, v, i = setting.num_hiddens, setting.vocab_size, setting.num_inputs

    def normal(std: float, *shape: int) -> Array:
        return (std * rng.standard_normal(shape)).astype(np.float32)

    input_std = 1.0 if setting.num_embedding is None else i**-0.5
    weights = {
        "W_xh": normal(input_std, i, h),
        "W_hh": normal(0.9 * h**-0.5, h, h),  # spectral radius about 0.9: memory, and no explosion
        "b_h": normal(0.1, h),
        "W_hq": normal(4 * h**-0.5, h, v),
        "b_q": normal(0.1, v),
    }
    if setting.num_embedding is not None:
        weights["E"] = normal(1.0, v, i)
    return weights


def token_ids(vocab_size: int) -> Array:
    """The embedded story as indices below `vocab_size`: letters if 28 symbols do, else its commonest words."""
    text = re.sub("[^a-z]+", " ", STORY.read_text(encoding="utf-8").lower()).strip()
    if vocab_size == len(ALPHABET) + 1:
        return np.array([ALPHABET.index(char) + 1 for char in text])  # 0 is the unknown symbol
    words = text.split()
    common = {word: rank for rank, (word, _) in enumerate(Counter(words).most_common(vocab_size - 1), start=1)}
    return np.array([common.get(word, 0) for word in words])


def minibatches(setting: Setting, num_batches: int = NUM_BATCHES, seed: int = 0) -> list[tuple[Array, Array]]:
    """Windows at random places: inputs and targets, each int64 of shape (batch_size, num_steps)."""
    ids = token_ids(setting.vocab_size).astype(np.int64)
    rng = np.random.default_rng(seed)
    starts = rng.integers(len(ids) - setting.num_steps, size=(num_batches, setting.batch_size, 1))
    places = starts + np.arange(setting.num_steps)  # (num_batches, batch_size, num_steps)
    return list(zip(ids[places], ids[places + 1]))
