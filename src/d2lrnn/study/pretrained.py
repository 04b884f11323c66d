"""Small models that come with the package: a tanh network at four stages of its training, and an LSTM.

Both learned *The Tide Clock*. They are what the explorables think with, and what a reader can ask at once, without
training. The files are in the safetensors format, weights in float16, with the vocabulary and an account of the
training in the header: small, and simple enough for the pages to read. ``tools/train_pretrained.py`` makes them anew
from a seed. To store a model of your own, use :func:`d2lrnn.save_checkpoint`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import torch

from d2lrnn.layers import LSTM, RNNScratch
from d2lrnn.model import RNNLM
from d2lrnn.text import Vocab

__all__ = ["STAGES", "Pretrained", "load_pretrained", "pretrained_bytes"]

#: The stages of the tanh network, in the order of the training.
STAGES = ("untrained", "first-steps", "half-way", "trained")
_NAMES = (*STAGES, "lstm")


def stored_tensors(model: RNNLM) -> dict[str, torch.Tensor]:
    """The model's weights as a file names them, matrices for row vectors: views, so what is copied into them is set."""
    layer = model.rnn
    if isinstance(layer, LSTM):  # torch transposes its matrices and has two biases
        own = dict(zip(("W_xh", "W_hh", "b_x", "b_h"), (weight.t() for weight in layer.rnn.all_weights[0])))
    else:
        own = {name: getattr(layer, name) for name in ("W_xh", "W_hh", "b_h")}
    return {name: view.detach() for name, view in (own | {"W_hq": model.W_hq, "b_q": model.b_q}).items()}


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
    """The file of one stage, or of the LSTM, as it travels to a page.

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
    stage : "untrained", "first-steps", "half-way", "trained" or "lstm"
        The tanh network of 128 units at a stage of its training, or the trained LSTM of 32 units.

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
    """
    from safetensors import safe_open  # only here: `import d2lrnn` stays as quick as `import torch`

    pretrained_bytes(stage)  # raises for an unknown stage
    path = files("d2lrnn") / "data" / "models" / f"{stage}.safetensors"
    with safe_open(str(path), framework="pt") as file:
        about = file.metadata()
        num_hiddens = file.get_slice("W_hh").get_shape()[0]
        vocab = Vocab.from_tokens(about["vocab"])
        layer = LSTM if stage == "lstm" else RNNScratch
        model = RNNLM(layer(len(vocab), num_hiddens), vocab_size=len(vocab))
        for name, view in stored_tensors(model).items():
            view.copy_(file.get_tensor(name))
    return Pretrained(model.eval(), vocab, int(about["num_steps"]), float(about["heldout_perplexity"]))
