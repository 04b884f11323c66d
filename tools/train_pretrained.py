"""Train the small models that the package carries, from a seed: ``make pretrained``.

A tanh network reads *The Tide Clock* in random windows and is stored at four stages; a small LSTM and a layer of
attention are stored once. The metrics go into the header of each file and are printed; on another machine sums are
added up in another order, so the last digits may differ. ``train_pretrained.py lstm`` trains the LSTM alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from safetensors.torch import save

import d2lrnn as d
from d2lrnn.ops.callbacks import Snapshots
from d2lrnn.ops.files import replacing
from d2lrnn.study.pretrained import STAGES, attention_model, stored_tensors
from d2lrnn.study.scan import Readout
from d2lrnn.training import Run

FOLDER = Path(d.__file__).parent / "data" / "models"
SEED, NUM_HIDDENS, EPOCHS, LR = 0, 128, 20, 1e-2
LSTM_HIDDENS, LSTM_EPOCHS, LSTM_LR = 32, 150, 2e-2
ATTENTION_UPDATES, ATTENTION_LR = 4000, 2e-2
STOPS = {0: "untrained", 40: "first-steps", 300: "half-way"}  # updates made before the model is stored


def write(path: Path, model: d.RNNLM, vocab: d.Vocab, about: dict[str, str]) -> None:
    """Write a model over characters in the form that :func:`d2lrnn.load_pretrained` and the explorables read.

    Raises
    ------
    ValueError
        If the model is of another kind, a token has more than one character, or a weight does not fit into float16.
    """
    one_hot = isinstance(model.rnn, d.RNNScratch | d.LSTM) and model.embedding is None
    if not one_hot and not isinstance(model.rnn, Readout):
        raise ValueError("Only a model around RNNScratch or LSTM with one-hot input can be stored in this form.")
    if any(len(token) != 1 for token in vocab.tokens):
        raise ValueError("The vocabulary has tokens of more than one character; the form holds characters.")
    tensors = {name: tensor.half().cpu().contiguous() for name, tensor in stored_tensors(model).items()}
    if not all(tensor.isfinite().all() for tensor in tensors.values()):
        raise ValueError("A weight is infinite, not a number, or beyond what float16 holds (65,504).")
    with replacing(path) as file:
        file.write(save(tensors, metadata={**about, "vocab": "".join(vocab.tokens)}))


def store(name: str, model: d.RNNLM, text: d.EncodedText, num_steps: int) -> None:
    """Round the weights to float16, so that what is scored is what is stored; score; write."""
    for view in stored_tensors(model).values():
        view.copy_(view.half())
    perplexity = d.evaluate(model, text.heldout_ids).perplexity
    about = {
        "corpus": "the-tide-clock",
        "seed": str(SEED),
        "num_steps": str(num_steps),
        "heldout_perplexity": f"{perplexity:.4f}",
        "made_by": "tools/train_pretrained.py",
    }
    write(FOLDER / f"{name}.safetensors", model, text.vocab, about)
    print(f"{name:12} after {num_steps:5} updates: held-out perplexity {perplexity:.3f}")


def train_stages() -> None:
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
    for stage in STAGES:
        num_steps, state = states[stage]
        model.load_state_dict(state)
        store(stage, model, text, num_steps)


def train_lstm() -> None:
    d.seed_everything(SEED)
    text = d.load_text()
    model = d.RNNLM(d.LSTM(len(text.vocab), LSTM_HIDDENS), len(text.vocab))
    windows = d.RandomWindows(text.train_ids, 16, 64)
    d.fit(model, windows, epochs=LSTM_EPOCHS, lr=LSTM_LR, schedule="one-cycle", device="cpu")
    store("lstm", model, text, LSTM_EPOCHS * len(windows))


def train_attention() -> None:
    d.seed_everything(SEED)
    text = d.load_text()
    model = attention_model(len(text.vocab))
    windows = d.RandomWindows(text.train_ids, 16, 64)
    d.fit(model, windows, updates=ATTENTION_UPDATES, lr=ATTENTION_LR, schedule="one-cycle", device="cpu")
    store("attention", model, text, ATTENTION_UPDATES)


TRAININGS = {"stages": train_stages, "lstm": train_lstm, "attention": train_attention}


def main(names: list[str]) -> int:
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names or TRAININGS:
        TRAININGS[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
