"""Which device, in which order, and seeds."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

import d2lrnn as d


@pytest.mark.parametrize(
    ("cuda", "mps", "expected"), [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")]
)
def test_order_of_preference(cuda: bool, mps: bool, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert d.pick_device().type == expected


def test_it_says_which() -> None:
    assert "thread" in d.describe_device("cpu")
    assert d.describe_device("mps") == "the GPU (Apple MPS)"


@pytest.mark.parametrize("bad", ["cuda:99", "tpu9000", "meta"])
def test_a_device_that_is_not_there(bad: str) -> None:
    with pytest.raises(ValueError, match="cannot be used on this machine"):
        d.pick_device(bad)


def test_seed_reaches_every_generator() -> None:
    def draw() -> tuple:
        generator = d.seed_everything(11)
        numpy_draw = np.random.rand()  # noqa: NPY002 - the global generator is what is being tested
        return random.random(), numpy_draw, torch.rand(1).item(), torch.rand(1, generator=generator).item()

    assert draw() == draw()
    for seed in (-1, 2**32):
        with pytest.raises(ValueError, match="seed"):
            d.seed_everything(seed)
