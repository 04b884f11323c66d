"""Layers compared at equal parameters on one text, three seeds each: the recorded runs of two chapters.

    python benchmarks/compare_layers.py gates                # tanh, GRU, LSTM with two forget biases
    python benchmarks/compare_layers.py after_the_chain      # tanh, LSTM, two linear recurrences, attention
    python benchmarks/compare_layers.py after_the_chain --speed-only      # measure tokens per second again
    python benchmarks/compare_layers.py recall               # name the first symbol after so many others

The text is *The Tide Clock*, which comes with the package; its last tenth is held out. Each layer's learning rate is
chosen on the last tenth of the rest, with one seed; then all train on the whole training part with three seeds, and
the held-out part is scored once for each. Everything runs in one thread. Results: src/d2lrnn/data/recorded/NAME.json.
"""

from __future__ import annotations

import argparse
import datetime
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # run as a script
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import torch
from torch import nn

import d2lrnn as d
from benchmarks import machine
from d2lrnn.study import attention, gates, scan

FOLDER = Path(d.__file__).parent / "data" / "recorded"
BATCH_SIZE, NUM_STEPS, UPDATES = 16, 64, 2000
SEEDS = (1, 2, 3)
WIDTH, HIDDEN = 32, 64  # of the embedding, and of the hidden layer on top
NUM_LAGS, NUM_PROBES = 60, 64
TIMED = ("GRU, 71 units", "LSTM, 61 units, forget bias 1")  # these get the tanh layer's processor time as well


def tanh_layer(num_inputs: int, num_hiddens: int) -> d.RNNConcise:
    """``nn.RNN``, started as the package starts its gated layers: orthogonal W_hh, biases 0."""
    layer = d.RNNConcise(num_inputs, num_hiddens)
    nn.init.orthogonal_(layer.rnn.weight_hh_l0)
    nn.init.zeros_(layer.rnn.bias_ih_l0)
    nn.init.zeros_(layer.rnn.bias_hh_l0)
    return layer


def lstm_layer(num_inputs: int, num_hiddens: int, forget_bias: float) -> d.LSTM:
    layer = d.LSTM(num_inputs, num_hiddens)
    with torch.no_grad():
        layer.rnn.bias_ih_l0[num_hiddens : 2 * num_hiddens] = forget_bias
    return layer


def plain(layer: Callable[[int], nn.Module]) -> Callable[[int], d.RNNLM]:
    """One-hot inputs, the layer, the output layer."""
    return lambda vocab_size: d.RNNLM(layer(vocab_size), vocab_size)


def framed(layer: Callable[[int], nn.Module]) -> Callable[[int], d.RNNLM]:
    """An embedding, the layer, a hidden layer of rectifiers, the output layer."""

    def make(vocab_size: int) -> d.RNNLM:
        embedding = nn.Embedding(vocab_size, WIDTH)
        return d.RNNLM(scan.Readout(layer(WIDTH), HIDDEN), vocab_size, embedding)

    return make


MODELS: dict[str, dict[str, Callable[[int], d.RNNLM]]] = {
    "gates": {
        "tanh, 128 units": plain(lambda n: tanh_layer(n, 128)),
        "GRU, 71 units": plain(lambda n: d.GRU(n, 71)),
        "LSTM, 61 units, forget bias 1": plain(lambda n: lstm_layer(n, 61, 1.0)),
        "LSTM, 61 units, forget bias 0": plain(lambda n: lstm_layer(n, 61, 0.0)),
    },
    "after_the_chain": {
        "tanh": framed(lambda n: tanh_layer(n, 105)),
        "LSTM": framed(lambda n: lstm_layer(n, 52, 1.0)),
        "linear": framed(lambda n: scan.LinearRecurrence(n, 220)),
        "gated linear": framed(lambda n: scan.GatedLinearRecurrence(n, 164)),
        "attention": framed(lambda n: attention.CausalAttention(n, 132)),
    },
}


def parts(validation: bool) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Training ids, scored ids, size of the vocabulary."""
    text = d.load_text()
    if not validation:
        return text.train_ids, text.heldout_ids, len(text.vocab)
    border = len(text.train_ids) * 9 // 10
    return text.train_ids[:border], text.train_ids[border:], len(text.vocab)


def train(make: Callable[[int], d.RNNLM], lr: float, seed: int, updates: int, validation: bool) -> dict[str, Any]:
    train_ids, scored_ids, vocab_size = parts(validation)
    d.seed_everything(seed)
    model = make(vocab_size)
    windows = d.RandomWindows(train_ids, BATCH_SIZE, NUM_STEPS)
    start = time.process_time()
    lags = None if validation else {"untrained": probe(model, scored_ids)}
    history = d.fit(
        model, windows, updates=updates, lr=lr, schedule="one-cycle", engine="autograd", device="cpu", progress=False
    )
    seconds = time.process_time() - start
    result = {
        "seed": seed,
        "lr": lr,
        "updates": updates,
        "cpu_seconds": round(seconds, 1),
        "train_perplexity": round(history.epochs[-1].train.perplexity, 4),
        "perplexity": round(d.evaluate(model, scored_ids).perplexity, 4),
    }
    if lags is not None:
        result["gradient_norms_by_lag"] = lags | {"trained": probe(model, scored_ids)}
    return result


def rates_tried(validate: Callable[[float], float]) -> dict[float, float]:
    """Perplexity by learning rate: 0.01, 0.02, and on in the better direction by factors of 2 until it gets worse."""
    tried = {lr: validate(lr) for lr in (0.01, 0.02)}
    factor = 2 if tried[0.02] < tried[0.01] else 0.5
    lr = min(tried, key=tried.__getitem__)
    while tried[lr] == min(tried.values()):
        lr *= factor
        tried[lr] = validate(lr)
    return tried


def probe(model: d.RNNLM, ids: torch.Tensor) -> list[float] | None:
    """Gradient norms by lag over windows of the scored text; None for layers whose state is no state."""
    if isinstance(model.rnn, scan.Readout):
        return None
    windows = d.SequentialWindows(ids, NUM_PROBES, NUM_LAGS + 1)
    X, Y = next(iter(windows))
    return [float(f"{norm:.5g}") for norm in gates.gradient_norms_by_lag(model.eval(), X, Y).tolist()]


def speeds(models: dict[str, Callable[[int], d.RNNLM]], rounds: int = 9, updates: int = 10) -> dict[str, Any]:
    """Tokens per second of training and of writing one token after the other; all take turns."""
    train_ids, _, vocab_size = parts(validation=False)
    built = {name: make(vocab_size) for name, make in models.items()}
    windows = d.RandomWindows(train_ids, BATCH_SIZE, NUM_STEPS)
    training: dict[str, list[float]] = {name: [] for name in models}
    writing: dict[str, list[float]] = {name: [] for name in models}
    for turn in range(rounds + 1):
        for name, model in built.items():
            start = time.thread_time()
            d.fit(model, windows, updates=updates, lr=1e-4, engine="autograd", device="cpu", progress=False)
            middle = time.thread_time()
            write(model.eval(), train_ids[:64], 64)
            end = time.thread_time()
            if turn:  # the first one warms up
                training[name].append(updates * BATCH_SIZE * NUM_STEPS / (middle - start))
                writing[name].append(64 / (end - middle))
    return {
        name: {
            "training": round(statistics.median(training[name])),
            "writing": round(statistics.median(writing[name])),
            "training_rounds": [round(rate) for rate in training[name]],
            "writing_rounds": [round(rate) for rate in writing[name]],
        }
        for name in models
    }


@torch.no_grad()
def write(model: d.RNNLM, prompt: torch.Tensor, num_tokens: int) -> torch.Tensor:
    """Greedy continuation, a token at a time."""
    logits, state = model(prompt.unsqueeze(0))
    tokens = []
    for _ in range(num_tokens):
        tokens.append(logits[:, -1].argmax(dim=1))
        logits, state = model(tokens[-1].unsqueeze(1), state)
    return torch.cat(tokens)


# ----------------------------------------------------------------------------- the recall task of the closer look

LAGS, RECALL_UPDATES, NUM_SYMBOLS = (10, 40), 1000, 8

RECALLERS: dict[str, Callable[[int], nn.Module]] = {
    "tanh": lambda n: tanh_layer(n, 72),
    "GRU": lambda n: d.GRU(n, 38),
    "LSTM, forget bias 0": lambda n: lstm_layer(n, 32, 0.0),
    "LSTM, forget bias 1": lambda n: lstm_layer(n, 32, 1.0),
    "LSTM, forget bias 3": lambda n: lstm_layer(n, 32, 3.0),
}


def recall_minibatch(lag: int, generator: torch.Generator, batch_size: int = 32) -> tuple[torch.Tensor, torch.Tensor]:
    """Windows that begin with one of eight symbols, go on with others that mean nothing, and end with a question."""
    wanted = torch.randint(NUM_SYMBOLS, (batch_size, 1), generator=generator)
    others = NUM_SYMBOLS + torch.randint(NUM_SYMBOLS, (batch_size, lag - 1), generator=generator)
    question = torch.full((batch_size, 1), 2 * NUM_SYMBOLS)
    return torch.cat([wanted, others, question], dim=1), wanted


class Answers(d.RNNLM):
    """Predicts nothing but what comes after the last token, the question."""

    def forward(self, X: torch.Tensor, state: Any = None) -> tuple[torch.Tensor, Any]:
        logits, state = super().forward(X, state)
        return logits[:, -1:], state


class Questions:
    """Minibatches for :func:`d2lrnn.fit`, fresh ones each time."""

    carries_state = False

    def __init__(self, lag: int, generator: torch.Generator) -> None:
        self.lag, self.generator = lag, generator

    def __len__(self) -> int:
        return RECALL_UPDATES

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        for _ in range(len(self)):
            yield recall_minibatch(self.lag, self.generator)


def recall(make: Callable[[int], nn.Module], lag: int, lr: float, seed: int) -> float:
    """Share of right answers to 1,024 fresh questions after training."""
    d.seed_everything(seed)
    model = Answers(make(2 * NUM_SYMBOLS + 1), 2 * NUM_SYMBOLS + 1)
    generator = torch.Generator().manual_seed(seed)
    d.fit(model, Questions(lag, generator), epochs=1, lr=lr, clip=1.0, device="cpu", progress=False)
    X, wanted = recall_minibatch(lag, generator, 1024)
    with torch.no_grad():
        return (model(X)[0].argmax(dim=-1) == wanted).double().mean().item()


def record_recall() -> None:
    facts = machine.machine_facts() | machine.process_facts("cpu")
    result = {"date": str(datetime.date.today()), "machine": facts, "updates": RECALL_UPDATES, "layers": {}}
    for name, make in RECALLERS.items():
        tried = {lr: recall(make, LAGS[1], lr, 0) for lr in (0.003, 0.01)}
        lr = max(tried, key=tried.__getitem__)
        num_parameters = sum(weight.numel() for weight in make(2 * NUM_SYMBOLS + 1).parameters())
        right = {str(lag): [round(recall(make, lag, lr, seed), 4) for seed in SEEDS] for lag in LAGS}
        result["layers"][name] = {"num_parameters": num_parameters, "lr": lr, "right": right}
        print(name, lr, tried, right, flush=True)
        (FOLDER / "recall.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=[*MODELS, "recall"])
    parser.add_argument("--speed-only", action="store_true", help="measure tokens per second again, and nothing else")
    parser.add_argument("--updates", type=int, default=UPDATES)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.name == "recall":
        record_recall()
        return
    models, path = MODELS[options.name], FOLDER / f"{options.name}.json"
    facts = machine.machine_facts() | machine.process_facts("cpu")
    measured = speeds(models)
    _, _, vocab_size = parts(validation=False)
    if options.speed_only:
        result = json.loads(path.read_text(encoding="utf-8"))
        for name, rates in measured.items():
            result["layers"][name]["tokens_per_second"] = rates
        result["speed_measured"] = {"date": str(datetime.date.today()), "machine": facts}
    else:
        result = {"date": str(datetime.date.today()), "text": "The Tide Clock", "machine": facts, "layers": {}}
        result["settings"] = {"batch_size": BATCH_SIZE, "num_steps": NUM_STEPS, "updates": options.updates}
        for name, make in models.items():
            tried = rates_tried(lambda lr, make=make: train(make, lr, 0, options.updates, True)["perplexity"])
            lr = min(tried, key=tried.__getitem__)
            print(name, tried, flush=True)
            layer = {
                "num_parameters": sum(weight.numel() for weight in make(vocab_size).parameters()),
                "validation": {str(rate): score for rate, score in tried.items()},
                "tokens_per_second": measured[name],
                "equal_updates": [train(make, lr, seed, options.updates, False) for seed in SEEDS],
            }
            if name in TIMED:
                share = measured[name]["training"] / measured["tanh, 128 units"]["training"]
                updates = round(options.updates * share)
                layer["equal_time"] = [train(make, lr, seed, updates, False) for seed in SEEDS]
            print(name, [run["perplexity"] for run in layer["equal_updates"]], flush=True)
            result["layers"][name] = layer
            FOLDER.mkdir(exist_ok=True)
            path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
