"""Small models that come with the package: one network at four stages of its training on *The Tide Clock*.

They are what the explorables think with, and what a reader can ask at once, without training. The files are in the
safetensors format, weights in float16, with the vocabulary and an account of the training in the header.
``tools/train_pretrained.py`` makes them anew from a seed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.resources import files

from d2lrnn.layers import RNNScratch
from d2lrnn.model import RNNLM
from d2lrnn.ops.files import replacing
from d2lrnn.text import Vocab

__all__ = ["STAGES", "Pretrained", "load_pretrained", "pretrained_bytes", "save_pretrained"]

#: The stages, in the order of the training.
STAGES = ("untrained", "first-steps", "half-way", "trained")

_PARAMETERS = {"W_xh": "rnn.W_xh", "W_hh": "rnn.W_hh", "b_h": "rnn.b_h", "W_hq": "W_hq", "b_q": "b_q"}


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
    """

    model: RNNLM
    vocab: Vocab
    num_steps: int
    heldout_perplexity: float


def pretrained_bytes(stage: str = "trained") -> bytes:
    """The file of one stage, as it travels to a page.

    Raises
    ------
    ValueError
        If there is no stage of that name.

    Examples
    --------
    >>> len(pretrained_bytes()) < 50_000
    True
    """
    if stage not in STAGES:
        raise ValueError(f"There is no stage {stage!r}; choose one of {', '.join(STAGES)}.")
    return (files("d2lrnn") / "data" / "models" / f"{stage}.safetensors").read_bytes()


def load_pretrained(stage: str = "trained") -> Pretrained:
    """Load the network that learned *The Tide Clock*, at one stage of its training.

    Parameters
    ----------
    stage : "untrained", "first-steps", "half-way" or "trained"

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
        tensors = {name: file.get_tensor(name).float() for name in _PARAMETERS}
    vocab = Vocab.from_tokens(about["vocab"])
    model = RNNLM(RNNScratch(*tensors["W_xh"].shape), vocab_size=len(vocab))
    model.load_state_dict({_PARAMETERS[name]: tensor for name, tensor in tensors.items()})
    return Pretrained(model.eval(), vocab, int(about["num_steps"]), float(about["heldout_perplexity"]))


def save_pretrained(path: str | os.PathLike[str], model: RNNLM, vocab: Vocab, about: dict[str, str]) -> None:
    """Write a model over one-hot characters in the form that :func:`load_pretrained` and the explorables read.

    Parameters
    ----------
    path : str or path
        Written whole or not at all.
    model : RNNLM
        Around an :class:`RNNScratch`, without an embedding. Stored in float16.
    vocab : Vocab
        Of single characters.
    about : dict of str
        Goes into the header; ``num_steps`` and ``heldout_perplexity`` are expected there.

    Raises
    ------
    ValueError
        If the model is of another kind, a token has more than one character, or a weight does not fit into float16.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> vocab = Vocab("abcab")
    >>> model = RNNLM(RNNScratch(3, 4), vocab_size=3)
    >>> path = Path(tempfile.mkdtemp()) / "small.safetensors"
    >>> save_pretrained(path, model, vocab, {"num_steps": "0", "heldout_perplexity": "3.0"})
    >>> path.stat().st_size < 1000
    True
    """
    from safetensors.torch import save

    if not isinstance(model.rnn, RNNScratch) or model.embedding is not None:
        raise ValueError("Only a model around RNNScratch with one-hot input can be stored in this form.")
    tokens = vocab.tokens
    if any(len(token) != 1 for token in tokens):
        raise ValueError("The vocabulary has tokens of more than one character; the form holds characters.")
    state = model.state_dict()
    tensors = {name: state[key].half().cpu().contiguous() for name, key in _PARAMETERS.items()}
    if not all(tensor.isfinite().all() for tensor in tensors.values()):
        raise ValueError("A weight is infinite, not a number, or beyond what float16 holds (65,504).")
    with replacing(path) as file:
        file.write(save(tensors, metadata={**about, "vocab": "".join(tokens)}))
