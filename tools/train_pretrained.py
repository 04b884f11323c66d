"""Train the small models that the package carries, from a seed: ``make pretrained``.

One network reads *The Tide Clock* in random windows and is stored at four stages. The metrics go into the header of
each file and are printed; on another machine sums are added up in another order, so the last digits may differ.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from safetensors.torch import save

import d2lrnn as d
from d2lrnn.ops.callbacks import Snapshots
from d2lrnn.ops.files import replacing
from d2lrnn.study.pretrained import PARAMETERS, STAGES
from d2lrnn.training import Run

FOLDER = Path(d.__file__).parent / "data" / "models"
SEED, NUM_HIDDENS, EPOCHS, LR = 0, 128, 20, 1e-2
STOPS = {0: "untrained", 40: "first-steps", 300: "half-way"}  # updates made before the model is stored


def write(path: Path, model: d.RNNLM, vocab: d.Vocab, about: dict[str, str]) -> None:
    """Write a model over one-hot characters in the form that :func:`d2lrnn.load_pretrained` and the explorables read.

    Raises
    ------
    ValueError
        If the model is of another kind, a token has more than one character, or a weight does not fit into float16.
    """
    if not isinstance(model.rnn, d.RNNScratch) or model.embedding is not None:
        raise ValueError("Only a model around RNNScratch with one-hot input can be stored in this form.")
    if any(len(token) != 1 for token in vocab.tokens):
        raise ValueError("The vocabulary has tokens of more than one character; the form holds characters.")
    state = model.state_dict()
    tensors = {name: state[key].half().cpu().contiguous() for name, key in PARAMETERS.items()}
    if not all(tensor.isfinite().all() for tensor in tensors.values()):
        raise ValueError("A weight is infinite, not a number, or beyond what float16 holds (65,504).")
    with replacing(path) as file:
        file.write(save(tensors, metadata={**about, "vocab": "".join(vocab.tokens)}))


def main() -> int:
    torch.set_num_threads(1)
    d.seed_everything(SEED)
    text = d.load_text()
    scratch = d.RNNScratch(len(text.vocab), NUM_HIDDENS)
    torch.nn.init.orthogonal_(scratch.W_hh)
    model = d.RNNLM(scratch, len(text.vocab))
    windows = d.RandomWindows(text.train_ids, 32, 32)
    stops = STOPS | {EPOCHS * len(windows): "trained"}
    states: dict[str, tuple[int, dict[str, torch.Tensor]]] = {}

    def keep(run: Run) -> None:
        states[stops[run.step]] = run.step, {name: tensor.clone() for name, tensor in run.model.state_dict().items()}

    settings = {"epochs": EPOCHS, "lr": LR, "schedule": "one-cycle", "device": "cpu"}
    d.fit(model, windows, **settings, callbacks=[Snapshots(stops, keep)])
    FOLDER.mkdir(parents=True, exist_ok=True)
    for stage in STAGES:
        num_steps, state = states[stage]
        # What is scored is what is stored: weights rounded to float16.
        model.load_state_dict({name: tensor.half().float() for name, tensor in state.items()})
        perplexity = d.evaluate(model, text.heldout_ids).perplexity
        about = {
            "corpus": "the-tide-clock",
            "seed": str(SEED),
            "num_steps": str(num_steps),
            "heldout_perplexity": f"{perplexity:.4f}",
            "made_by": "tools/train_pretrained.py",
        }
        write(FOLDER / f"{stage}.safetensors", model, text.vocab, about)
        print(f"{stage:12} after {num_steps:5} updates: held-out perplexity {perplexity:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
