"""A number and its spread: the experiment of *Deep Learning from Scratch 2*, chapter 5, with seeds and controls.

    python benchmarks/thousand_words.py                  # both texts, some ten minutes on one core
    python benchmarks/thousand_words.py --texts the-tide-clock --seeds 3
    python benchmarks/thousand_words.py --table          # the table of the closer look, from the stored results

The source trains a small recurrent model on the first 1,000 words of the Penn Treebank and reports training
perplexities of 379.76 in the first epoch and 5.49 in the hundredth. The Treebank's licence forbids redistribution: it
is downloaded, and what is stored here are results. Every run is 150 epochs of 19 minibatches (10 streams, 5 steps),
plain gradient descent with a learning rate of 0.1, in numpy. Results go to benchmarks/results/thousand_words.json.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # run as a script
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np

import d2lrnn as d
from benchmarks import machine
from d2lrnn.study.by_hand import ManualRNNLM, TimeEmbedding, TimeRNN, fit_manual

RESULTS = Path(__file__).parent / "results" / "thousand_words.json"
TEXTS = {"ptb": "Penn Treebank", "the-tide-clock": "*The Tide Clock*"}
NUM_EPOCHS = 150
Array = np.ndarray[Any, np.dtype[Any]]


def thousand_words(text: str) -> tuple[Array, int]:
    """The first 1,000 words as indices, and how many different ones there are."""
    if text == "ptb":
        words = d.load_corpus("ptb").replace("\n", " <eos> ").split()  # line ends count as a word, as in the source
    else:
        words = d.tokenize(d.normalize(d.load_corpus(text)), "word")
    vocab = d.Vocab(words[:1000])
    return np.array(vocab.encode(words[:1000])), len(vocab)


class WrappingWindows:
    """Streams that start a tenth of the text apart and are never called back; after the end comes the beginning."""

    def __init__(self, ids: Array, batch_size: int = 10, num_steps: int = 5) -> None:
        self.inputs, self.targets, self.time, self.num_steps = ids[:-1], ids[1:], 0, num_steps
        length = len(self.inputs) // batch_size
        self.starts, self.num_batches = np.arange(batch_size) * length, length // num_steps

    def __iter__(self) -> Iterator[tuple[Array, Array]]:
        for _ in range(self.num_batches):
            places = (self.starts[:, None] + self.time + np.arange(self.num_steps)) % len(self.inputs)
            self.time += self.num_steps
            yield self.inputs[places], self.targets[places]


class NoRecurrence(TimeRNN):
    """The same layer with W_hh kept at zero: what it knows is the last word alone."""

    def backward(self, doutputs: Array) -> Array:
        dinputs = super().backward(doutputs)
        self.grads["W_hh"][:] = 0
        return dinputs


class ForgetfulEmbedding(TimeEmbedding):
    """The usual mistake: of several equal words in a minibatch, the gradient of one survives."""

    def backward(self, dX: Array) -> None:
        super().backward(dX)
        ids, overwritten = self._recall()[0], np.zeros_like(self.params["E"])
        overwritten[ids] += dX
        self.grads = {"E": overwritten}


def model_of(vocab_size: int, seed: int, *, scale: float = 0.01, recurrent: bool = True) -> ManualRNNLM:
    """The source's model: normal weights, the table with standard deviation `scale`."""
    model = ManualRNNLM(vocab_size, num_inputs=100, num_hiddens=100, seed=seed)
    model.params["E"][:] *= scale / 0.01
    if not recurrent:
        weights = model.rnn.params
        weights["W_hh"][:] = 0
        model.rnn = NoRecurrence(*weights.values(), stateful=True)
        model.layers = (model.embedding, model.rnn, model.affine)
    return model


def curve(model: ManualRNNLM, windows: Any, *, epochs: int = NUM_EPOCHS, reset: bool = False) -> list[float]:
    """Training perplexity of every epoch."""
    history = fit_manual(model, windows, epochs=epochs, lr=0.1, reset_each_epoch=reset)
    return [record.train.perplexity for record in history.epochs]


def forgetful(vocab_size: int, seed: int) -> ManualRNNLM:
    model = model_of(vocab_size, seed)
    model.layers = (ForgetfulEmbedding(model.params["E"]), model.rnn, model.affine)
    return model


def nudged(vocab_size: int, number: int) -> ManualRNNLM:
    """Seed 0 with one weight changed by a millionth, another one for every number."""
    model = model_of(vocab_size, 0)
    model.params["W_hh"][number, number] += 1e-6
    return model


def tables(ids: Array, vocab_size: int) -> dict[str, float]:
    """Perplexity of counts, scored on the very words they were counted on."""
    singles = np.bincount(ids[1:], minlength=vocab_size)
    pairs = np.zeros((vocab_size, vocab_size))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    one_word = pairs[ids[:-1], ids[1:]] / pairs.sum(axis=1)[ids[:-1]]
    frequencies = singles[ids[1:]] / len(ids[1:])
    return {name: math.exp(-np.log(p).mean()) for name, p in (("frequencies", frequencies), ("one word", one_word))}


def cold_start(vocab_size: int, ids: Array, seed: int) -> dict[str, list[float]]:
    """Surprisal in nats by place in ten streams, with frozen weights: from a state of zeros, and from a carried one."""
    model, windows = model_of(vocab_size, seed), WrappingWindows(ids)
    curve(model, windows, epochs=100)
    carried, found = model.rnn.H, {}
    places = (windows.starts[:, None] + windows.time + np.arange(90)) % len(windows.inputs)
    for name, state in (("zeros", None), ("carried", carried)):
        model.rnn.H = state
        values = windows.inputs[places].T
        for layer in model.layers:
            values = layer.forward(values)
        model.loss_layer.forward(values, windows.targets[places].T)
        log_probs, targets = model.loss_layer._recall()
        nats = -np.take_along_axis(log_probs, targets[:, :, None], axis=2)[:, :, 0]
        found[name] = nats.mean(axis=1).tolist()
    return found


def same_places(ids: Array) -> d.SequentialWindows:
    import torch

    return d.SequentialWindows(torch.tensor(ids), batch_size=10, num_steps=5)


def measure(text: str, num_seeds: int) -> dict[str, Any]:
    """All runs on one text: by name, one curve a seed."""
    ids, size = thousand_words(text)
    seeds = range(num_seeds)
    runs: dict[str, list[Callable[[], list[float]]]] = {}
    for scale in (0.01, 0.1, 1.0):
        for recurrent, name in ((True, "recurrent"), (False, "no recurrence")):
            runs[f"{name}, E {scale:g}"] = [
                lambda s=seed, e=scale, r=recurrent: curve(
                    model_of(size, s, scale=e, recurrent=r), WrappingWindows(ids)
                )
                for seed in seeds
            ]
    runs["950 words"] = [lambda s=seed: curve(model_of(size, s), WrappingWindows(ids[:951])) for seed in seeds]
    runs["same places"] = [lambda s=seed: curve(model_of(size, s), same_places(ids), reset=True) for seed in seeds]
    runs["forgetful embedding"] = [lambda s=seed: curve(forgetful(size, s), WrappingWindows(ids)) for seed in seeds]
    runs["one weight nudged"] = [lambda n=number: curve(nudged(size, n), WrappingWindows(ids)) for number in seeds]
    curves = {}
    for name, todo in runs.items():
        curves[name] = [[round(value, 4) for value in run()] for run in todo]
        print(text, name, "epoch 100:", *(f"{one[99]:.2f}" for one in curves[name]), flush=True)
    untrained = model_of(size, 0).forward(*next(iter(WrappingWindows(ids))))
    places = [cold_start(size, ids, seed) for seed in range(min(5, num_seeds))]
    cold = {kind: np.mean([place[kind] for place in places], axis=0).round(4).tolist() for kind in ("zeros", "carried")}
    return {
        "vocab_size": size,
        "untrained": round(math.exp(untrained), 2),
        "tables": {name: round(value, 4) for name, value in tables(ids, size).items()},
        "curves": curves,
        "cold_start": cold,
    }


def spread(values: list[float]) -> str:
    """Least, median, most."""
    return f"{min(values):.2f}, {np.median(values):.2f}, {max(values):.2f}"


def rows(results: dict[str, Any]) -> list[list[str]]:
    """The table of the closer look: a row a variant, a column a text."""
    texts = [results[text] for text in TEXTS]
    lines = [
        ("different words", lambda text: str(text["vocab_size"])),
        ("before training", lambda text: f"{text['untrained']:.1f}"),
        ("table: word frequencies", lambda text: f"{text['tables']['frequencies']:.1f}"),
        ("table: one word of context", lambda text: f"{text['tables']['one word']:.2f}"),
    ]
    for name in next(iter(texts))["curves"]:
        lines.append((name, lambda text, name=name: spread([one[99] for one in text["curves"][name]])))
    return [[name, *(show(text) for text in texts)] for name, show in lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--texts", nargs="+", choices=list(TEXTS), default=list(TEXTS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--table", action="store_true", help="print the table of the stored results")
    arguments = parser.parse_args()
    stored = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    if not arguments.table:
        for text in arguments.texts:
            stored[text] = measure(text, arguments.seeds)
        stored["machine"] = machine.machine_facts() | machine.process_facts("cpu")
        RESULTS.write_text(json.dumps(stored, separators=(",", ":")) + "\n", encoding="utf-8")
    for row in rows(stored):
        print(" | ".join(row))


if __name__ == "__main__":
    main()
