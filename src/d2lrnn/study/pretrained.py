"""Small models that come with the package: a tanh network at four stages of its training, an LSTM, and attention.

All learned *The Tide Clock*. They are what the explorables think with, and what a reader can ask at once, without
training. The files are in the safetensors format, weights in float16, with the vocabulary and an account of the
training in the header: small, and simple enough for the pages to read. ``tools/train_pretrained.py`` makes them anew
from a seed. To store a model of your own, use :func:`d2lrnn.save_checkpoint`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import torch
from torch import nn

from d2lrnn.layers import LSTM, RNNScratch
from d2lrnn.model import RNNLM
from d2lrnn.study.attention import CausalAttention
from d2lrnn.study.scan import Readout
from d2lrnn.text import Vocab

__all__ = ["STAGES", "Pretrained", "load_pretrained", "pretrained_bytes"]

#: The stages of the tanh network, in the order of the training.
STAGES = ("untrained", "first-steps", "half-way", "trained")
_NAMES = (*STAGES, "lstm", "attention")


def stored_tensors(model: RNNLM) -> dict[str, torch.Tensor]:
    """The model's weights as a file names them, matrices for row vectors: views, so what is copied into them is set."""
    layer = model.rnn
    if isinstance(layer, Readout):  # as torch names them
        return {name: parameter.detach() for name, parameter in model.named_parameters()}
    if isinstance(layer, LSTM):  # torch transposes its matrices and has two biases
        own = dict(zip(("W_xh", "W_hh", "b_x", "b_h"), (weight.t() for weight in layer.rnn.all_weights[0])))
    else:
        own = {name: getattr(layer, name) for name in ("W_xh", "W_hh", "b_h")}
    return {name: view.detach() for name, view in (own | {"W_hq": model.W_hq, "b_q": model.b_q}).items()}


def attention_model(vocab_size: int) -> RNNLM:
    """The frame in which the book compares layers, half as wide, around attention."""
    return RNNLM(Readout(CausalAttention(32, 64, num_heads=4), 64), vocab_size, nn.Embedding(vocab_size, 32))


@dataclass(frozen=True)
class Pretrained:
    """A model with what is needed to use it.

    Attributes
    ----------
    model : RNNLM
        In evaluation mode, on the CPU, float32.
    vocab : Vocab
    num_steps : int
        Updates made so far.
    heldout_perplexity : float
        On the last tenth of the story, which the training never saw.

    Examples
    --------
    >>> trained = load_pretrained()
    >>> trained.model.rnn.num_hiddens, trained.num_steps
    (128, 1840)
    """

    model: RNNLM
    vocab: Vocab
    num_steps: int
    heldout_perplexity: float


def pretrained_bytes(stage: str = "trained") -> bytes:
    """The file of one stage, of the LSTM or of the attention layer, as it travels to a page.

    Raises
    ------
    ValueError
        If there is no stage of that name.

    Examples
    --------
    >>> len(pretrained_bytes()) < 50_000
    True
    """
    if stage not in _NAMES:
        raise ValueError(f"There is no stage {stage!r}; choose one of {', '.join(_NAMES)}.")
    return (files("d2lrnn") / "data" / "models" / f"{stage}.safetensors").read_bytes()


def load_pretrained(stage: str = "trained") -> Pretrained:
    """Load a network that learned *The Tide Clock*.

    Parameters
    ----------
    stage : "untrained", "first-steps", "half-way", "trained", "lstm" or "attention"
        The tanh network of 128 units at a stage of its training, the trained LSTM of 32 units, or a trained layer of
        attention with 64 units in 4 heads, between an embedding of width 32 and 64 rectifiers.

    Returns
    -------
    Pretrained

    Raises
    ------
    ValueError
        If there is no stage of that name.

    Examples
    --------
    >>> from d2lrnn import generate
    >>> trained = load_pretrained()
    >>> trained.vocab.decode(trained.vocab.encode("tide")), trained.model.rnn.num_hiddens
    ('tide', 128)
    >>> len(generate(trained.model, trained.vocab, "the tide ", num_tokens=20))
    29
    >>> load_pretrained("attention").model.rnn.layer
    CausalAttention(32, 64, num_heads=4, reach=64)
    """
    from safetensors import safe_open  # only here: `import d2lrnn` stays as quick as `import torch`

    pretrained_bytes(stage)  # raises for an unknown stage
    path = files("d2lrnn") / "data" / "models" / f"{stage}.safetensors"
    with safe_open(str(path), framework="pt") as file:
        about = file.metadata()
        vocab = Vocab.from_tokens(about["vocab"])
        if stage == "attention":
            model = attention_model(len(vocab))
        else:
            layer = LSTM if stage == "lstm" else RNNScratch
            model = RNNLM(layer(len(vocab), file.get_slice("W_hh").get_shape()[0]), vocab_size=len(vocab))
        for name, view in stored_tensors(model).items():
            view.copy_(file.get_tensor(name))
    return Pretrained(model.eval(), vocab, int(about["num_steps"]), float(about["heldout_perplexity"]))
