"""A model is asked: the answer is that of evaluation mode in whatever mode the model is, and the mode stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import d2lrnn as d
from d2lrnn.model import evaluating
from d2lrnn.ops.scoring import score_text

VOCAB = d.Vocab("the tide")
SIZE = len(VOCAB)
TEXT = "the tide the tied hide " * 3
IDS = torch.tensor(VOCAB.encode("the tide" * 6))
MINIBATCH = IDS[:16].view(2, 8), IDS[1:17].view(2, 8)


def make_model(layer: type[nn.Module]) -> d.RNNLM:
    """As `fit` leaves it: trained a little, with dropout, in training mode."""
    torch.manual_seed(0)
    rnn = layer(SIZE, 8) if layer in (d.RNNScratch, d.RNNConcise) else layer(SIZE, 8, weight_drop=0.5)
    model = d.RNNLM(rnn, SIZE, dropout=0.5)
    d.fit(model, d.RandomWindows(IDS, 2, 8), epochs=2, lr=0.1, device="cpu", progress=False)
    return model


def generated(model: d.RNNLM, folder: Path) -> str:
    return d.generate(model, VOCAB, "the ", 30, generator=torch.Generator().manual_seed(0))


def saved_and_loaded(model: d.RNNLM, folder: Path) -> list[float]:
    d.save_checkpoint(folder / "tide.safetensors", model, VOCAB)
    return d.load_checkpoint(folder / "tide.safetensors").model(IDS[None])[0].flatten().tolist()


#: each public function that asks a model something, with an answer that can be compared
ASK: dict[str, Callable[[d.RNNLM, Path], Any]] = {
    "evaluate": lambda model, folder: d.evaluate(model, IDS),
    "generate": generated,
    "beam_search": lambda model, folder: d.beam_search(model, VOCAB, "the ", 10),
    "warm_up": lambda model, folder: d.warm_up(model, IDS)[0].tolist(),
    "compress": lambda model, folder: d.coding.compress(model, IDS),
    "decompress": lambda model, folder: d.coding.decompress(model, d.coding.compress(model, IDS)).tolist(),
    "score_text": lambda model, folder: score_text(model, VOCAB, [TEXT]).score,
    "save_checkpoint, load_checkpoint": saved_and_loaded,
    "gradient_norms_by_lag": lambda model, folder: d.gates.gradient_norms_by_lag(model, *MINIBATCH).tolist(),
}
LAYERS = [d.RNNScratch, d.RNNConcise, d.GRU, d.LSTM]


def modes(model: nn.Module) -> list[bool]:
    return [module.training for module in model.modules()]


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.__name__)
@pytest.mark.parametrize("name", ASK)
def test_the_answer_does_not_depend_on_the_mode(name: str, layer: type[nn.Module], tmp_path: Path) -> None:
    model = make_model(layer)
    answers = []
    for training in (True, False):
        model.train(training)
        model.rnn.train(not training)  # a part may be in a mode of its own, and keeps it too
        before = modes(model)
        answers.append(ASK[name](model, tmp_path))
        assert modes(model) == before
    assert answers[0] == answers[1]
    if name == "decompress":
        assert answers[0] == IDS.tolist()


@pytest.mark.parametrize("name", ASK)
def test_the_mode_stays_when_it_goes_wrong(name: str, tmp_path: Path) -> None:
    model = make_model(d.GRU)
    parameters = len(list(model.modules()))

    def interrupted(*inputs: object) -> None:
        assert not model.training
        raise KeyboardInterrupt

    handle = model.rnn.register_forward_pre_hook(interrupted)
    with pytest.raises(KeyboardInterrupt):
        ASK[name](model, tmp_path)
    handle.remove()
    assert modes(model) == [True] * parameters


def test_a_layer_in_a_mode_of_its_own_keeps_it() -> None:
    model = make_model(d.GRU)
    model.rnn.eval()
    with evaluating(model):
        assert not any(modes(model))
    assert model.training and not model.rnn.training
