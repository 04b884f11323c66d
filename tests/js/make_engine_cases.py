"""Write the cases on which torch and the page's engine agree: ``python tests/js/make_engine_cases.py``.

Torch is the reference, in float64; the engine (``core.mjs``, ``gated.mjs``) works in float32. A test compares the
committed file with a fresh one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import nn

from d2lrnn import (
    GRU,
    LSTM,
    RNNLM,
    NGramLM,
    RNNScratch,
    clip_gradients,
    evaluate,
    load_pretrained,
    next_token_probs,
    normalize,
)
from d2lrnn.study.pretrained import STAGES

FILE = Path(__file__).with_name("engine_cases.json")
LAYERS = {"tanh": RNNScratch, "gru": GRU, "lstm": LSTM}
# vocabulary, units, sequences, steps: sizes that fill blocks of four, and sizes that leave every kind of rest
SIZES = ((7, 8, 4, 6), (5, 6, 3, 7), (6, 5, 1, 4), (28, 16, 2, 5))


def _parameters(model: RNNLM) -> list[tuple[torch.Tensor, bool]]:
    """The parameters in the engine's order, and whether torch keeps them transposed."""
    layer = model.rnn
    if isinstance(layer, RNNScratch):
        own = [(layer.W_xh, False), (layer.W_hh, False), (layer.b_h, False)]
    else:
        own = [(weight, weight.dim() == 2) for weight in layer.rnn.all_weights[0]]
    return [*own, (model.W_hq, False), (model.b_q, False)]


def _flat(model: RNNLM) -> list[float]:
    return torch.cat([(w.T if turned else w).detach().flatten() for w, turned in _parameters(model)]).tolist()


def _flat_gradients(model: RNNLM) -> list[float]:
    return torch.cat([(w.grad.T if turned else w.grad).flatten() for w, turned in _parameters(model)]).tolist()


def _model(vocab_size: int, num_hiddens: int, scale: float = 1.0, cell: str = "tanh") -> RNNLM:
    model = RNNLM(LAYERS[cell](vocab_size, num_hiddens), vocab_size)
    with torch.no_grad():
        for parameter in model.parameters():
            if cell != "tanh":
                # Else the two biases would be equal, and the last digits of an orthogonal matrix are the processor's.
                parameter.uniform_(-0.5, 0.5)
            # float32 values, so that both sides start from exactly the same numbers
            parameter.copy_(scale * parameter)
    return model.double()


def _detached(state: Any) -> Any:
    return tuple(part.detach() for part in state) if isinstance(state, tuple) else state.detach()


def _parts(state: Any) -> list[list[float]]:
    """H, or H and C."""
    parts = state if isinstance(state, tuple) else (state,)
    return [part.flatten().tolist() for part in parts]


def _loss(model: RNNLM, X: torch.Tensor, Y: torch.Tensor, state: Any, cut: int | None) -> torch.Tensor:
    """Mean loss over the window; with `cut`, the state is detached at steps cut, 2 cut, ..."""
    pieces, losses = (cut or X.shape[1]), []
    for x, y in zip(X.split(pieces, dim=1), Y.split(pieces, dim=1)):
        logits, state = model(x, state)
        losses.append(nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="sum"))
        state = _detached(state)
    return sum(losses) / Y.numel()


def _window_case(sizes: tuple[int, int, int, int], cut: int | None, cell: str = "tanh") -> dict[str, Any]:
    vocab_size, num_hiddens, batch_size, num_steps = sizes
    model = _model(vocab_size, num_hiddens, scale=3.0, cell=cell)
    X = torch.randint(vocab_size, (batch_size, num_steps))
    Y = torch.randint(vocab_size, (batch_size, num_steps))
    state: Any = torch.rand(batch_size, num_hiddens).double() - 0.5
    if cell == "lstm":
        state = state, 2 * torch.rand(batch_size, num_hiddens).double() - 1
    case = {
        "cell": cell,
        "sizes": sizes,
        "cut": cut,
        "flat": _flat(model),
        "X": X.T.flatten().tolist(),
        "Y": Y.T.flatten().tolist(),
        "state": _parts(state),
    }
    logits, last = model(X, state)
    loss = _loss(model, X, Y, state, cut)
    loss.backward()
    return case | {
        "probs": logits.softmax(-1).transpose(0, 1).flatten().tolist(),
        "last": _parts(last),
        "loss": loss.item(),
        "gradients": _flat_gradients(model),
    }


def _training_case(kind: str, max_norm: float | None, cell: str = "tanh") -> dict[str, Any]:
    """Three steps on three windows of one text, the state carried."""
    vocab_size, num_hiddens, batch_size, num_steps = SIZES[0]
    learning_rate = 0.5 if kind == "sgd" else 0.02
    model = _model(vocab_size, num_hiddens, cell=cell)
    make = torch.optim.SGD if kind == "sgd" else torch.optim.Adam
    optimiser = make(model.parameters(), lr=learning_rate)
    ids = torch.randint(vocab_size, (batch_size, 3 * num_steps + 1))
    state: Any = torch.zeros(batch_size, num_hiddens).double()
    if cell == "lstm":
        state = state, state
    case = {"cell": cell, "kind": kind, "max_norm": max_norm, "learning_rate": learning_rate, "sizes": SIZES[0]}
    case |= {"flat": _flat(model), "ids": ids.tolist(), "losses": [], "norms": []}
    for start in range(0, 3 * num_steps, num_steps):
        X, Y = ids[:, start : start + num_steps], ids[:, start + 1 : start + num_steps + 1]
        logits, state = model(X, _detached(state))
        loss = model.loss(logits, Y)
        optimiser.zero_grad()
        loss.backward()
        norm = clip_gradients(model.parameters(), max_norm if max_norm is not None else float("inf"))
        optimiser.step()
        case["losses"].append(loss.item())
        case["norms"].append(float(norm))
    return case | {"after": _flat(model)}


def _score_case(cell: str = "tanh") -> dict[str, Any]:
    model = _model(7, 8, cell=cell)
    ids = torch.randint(7, (150,))
    return {
        "cell": cell,
        "sizes": [7, 8],
        "flat": _flat(model),
        "ids": ids.tolist(),
        "nats": evaluate(model, ids).total_nats,
    }


def _gated_cases(cell: str) -> dict[str, Any]:
    return {
        "windows": [_window_case(sizes, cut, cell) for sizes in SIZES[:3] for cut in (None, 3)],
        "training": [_training_case(kind, 0.1, cell) for kind in ("sgd", "adam")],
        "score": _score_case(cell),
    }


def _ngram_case() -> dict[str, Any]:
    vocab_size = 5
    text = torch.multinomial(torch.tensor([0.5, 0.2, 0.15, 0.1, 0.05]), 300, replacement=True)
    ids, held_out = text[:220], text[220:]
    contexts = [[], [0], [1, 2], [0, 0, 0], [4, 4, 4], [3, 0, 1, 0], ids[-3:].tolist()]
    models = [NGramLM(ids, order, vocab_size) for order in range(1, 7)]
    return {
        "vocab_size": vocab_size,
        "ids": ids.tolist(),
        "held_out": held_out.tolist(),
        "contexts": contexts,
        "num_contexts": list(models[-1].num_contexts),
        "orders": [
            {
                "order": model.order,
                "probs": [model.next_probs(context).tolist() for context in contexts],
                "nats": model.evaluate(held_out).total_nats,
            }
            for model in models
        ],
    }


def _reshape_cases() -> list[dict[str, Any]]:
    logits = torch.tensor([0.3, 2.0, -1.0, 2.0, 0.9, -4.0], dtype=torch.float64)
    settings = [(1.0, None, None), (0.5, None, None), (2.0, 3, None), (1.0, None, 0.7), (0.7, 4, 0.9)]
    settings += [(0.0, None, None), (1.0, 1, None), (1.0, 6, 1.0), (0.05, None, 0.5)]
    return [
        {
            "probs": logits.softmax(0).tolist(),
            "temperature": temperature,
            "topK": top_k,
            "topP": top_p,
            "expected": next_token_probs(logits, temperature, top_k, top_p).tolist(),
        }
        for temperature, top_k, top_p in settings
    ]


def _pretrained_cases() -> list[dict[str, Any]]:
    text = "The tide, said Mr Keld; the TIDE is 3 minutes late -- again"
    cases = []
    for stage in STAGES:
        loaded = load_pretrained(stage)
        ids = torch.tensor(loaded.vocab.encode(normalize(text)))
        logits, state = loaded.model.double()(ids.unsqueeze(0))
        cases.append(
            {
                "stage": stage,
                "text": text,
                "vocab": "".join(loaded.vocab.tokens),
                "ids": ids.tolist(),
                "probs": logits[0, -1].softmax(0).tolist(),
                "state": state[0].tolist(),
                "nats": evaluate(loaded.model, ids).total_nats,
            }
        )
    return cases


def _rounded(value: Any) -> Any:
    """Twelve digits: far more than float32 holds."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list | tuple) else value


def cases() -> dict[str, Any]:
    torch.manual_seed(0)
    return _rounded(
        {
            "windows": [_window_case(sizes, cut) for sizes in SIZES for cut in (None, 1, 3)],
            "training": [_training_case(kind, norm) for kind in ("sgd", "adam") for norm in (None, 0.1)],
            "score": _score_case(),
            "ngram": _ngram_case(),
            "reshape": _reshape_cases(),
            "pretrained": _pretrained_cases(),
            "gru": _gated_cases("gru"),
            "lstm": _gated_cases("lstm"),
        }
    )


def text() -> str:
    return json.dumps(cases(), separators=(",", ":"), allow_nan=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    print(f"wrote {FILE}")
