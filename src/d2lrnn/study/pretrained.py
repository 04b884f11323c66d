"""Small models that come with the package: one network at four stages of its training on *The Tide Clock*.

They are what the explorables think with, and what a reader can ask at once, without training. The files are in the
safetensors format, weights in float16, with the vocabulary and an account of the training in the header: small, and
simple enough for the pages to read. ``tools/train_pretrained.py`` makes them anew from a seed. To store a model of your
own, use :func:`d2lrnn.save_checkpoint`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from d2lrnn.layers import RNNScratch
from d2lrnn.model import RNNLM
from d2lrnn.text import Vocab

__all__ = ["PARAMETERS", "STAGES", "Pretrained", "load_pretrained", "pretrained_bytes"]

#: The stages, in the order of the training.
STAGES = ("untrained", "first-steps", "half-way", "trained")

#: The tensors of a file, and what a model calls them.
PARAMETERS = {"W_xh": "rnn.W_xh", "W_hh": "rnn.W_hh", "b_h": "rnn.b_h", "W_hq": "W_hq", "b_q": "b_q"}


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
        tensors = {name: file.get_tensor(name).float() for name in PARAMETERS}
    vocab = Vocab.from_tokens(about["vocab"])
    model = RNNLM(RNNScratch(*tensors["W_xh"].shape), vocab_size=len(vocab))
    model.load_state_dict({PARAMETERS[name]: tensor for name, tensor in tensors.items()})
    return Pretrained(model.eval(), vocab, int(about["num_steps"]), float(about["heldout_perplexity"]))
