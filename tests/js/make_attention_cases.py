"""Write the cases on which ``Attention`` in Python and in the page must agree, and the averages that it shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

import d2lrnn as d
from d2lrnn.widgets import Attention, attention

FILE = Path(__file__).with_name("attention_cases.json")
AVERAGES = Path(attention.__file__).with_name("averages.json")
_LENGTH = 16  # letters in a passage: as many as the figure reads
_TEXTS = ("A", "And then there was another one", "quixotl zz", "e e e e ", "x" * 60)


def cases() -> list[dict[str, Any]]:
    found = []
    for given in _TEXTS:
        widget = Attention(text=given)
        widget.letter = len(widget.text) // 2
        found.append(
            {
                "given": given,
                "text": widget.text,
                "effects": [[round(effect, 6) for effect in row] for row in widget.effects.tolist()],
                "weights": [round(weight, 6) for weight in widget.weights.tolist()],
                "differs": [round(value, 6) for value in widget.differs.tolist()],
                "probs": [[round(p, 6) for p in row] for row in widget.probs.tolist()],
                "replaced": [[round(p, 6) for p in row] for row in widget.probs_replaced.tolist()],
                "sentence": widget.static_sentence(),
            }
        )
    return found


def passages() -> torch.Tensor:
    """All passages of the held-out text that start at a word. Shape (num_passages, 16)."""
    text = d.load_text()
    ids = torch.as_tensor(text.heldout_ids)
    [space] = text.vocab.encode(" ")
    return torch.stack([ids[i + 1 : i + 1 + _LENGTH] for i in range(len(ids) - 26) if ids[i] == space])


def averages() -> dict[str, Any]:
    """In how many passages the guess changes with the letter 0, 1, ... back erased: attention's, the state's.

    How many letters back the guess reaches: to the farthest that moves a tenth of it; the median. How much attention
    looks at the letter so far back, on average. And the mean perplexities of two networks of equal size, and that size.
    """
    rows = passages()
    space, e = d.load_text().vocab.encode(" e")
    changes, reaches = [], []
    for name in ("attention", "trained"):
        model = d.load_pretrained(name).model
        counts = []
        with torch.no_grad():
            probs = model(rows)[0][:, -1].softmax(dim=1)
            reach = torch.zeros(len(rows))
            for back in range(_LENGTH):
                replaced = rows.clone()
                replaced[:, -1 - back] = torch.where(rows[:, -1 - back] == space, e, space)
                others = model(replaced)[0][:, -1].softmax(dim=1)
                counts.append(int((probs.argmax(dim=1) != others.argmax(dim=1)).sum()))
                reach[(probs - others).clamp(min=0).sum(dim=1) >= 0.1] = back + 1
        changes.append(counts)
        reaches.append(int(reach.median()))
    layers = [d.recorded.load_recorded("after_the_chain")["layers"][name] for name in ("attention", "tanh")]
    found = [[seed["perplexity"] for seed in layer["equal_updates"]] for layer in layers]
    equal = {
        "size": int(round(sum(layer["num_parameters"] for layer in layers) / 2, -3)),
        "perplexities": [round(sum(seeds) / len(seeds), 2) for seeds in found],
    }
    weights = [round(weight, 4) for weight in Attention._looks(rows).mean(dim=0).flip(0).tolist()]
    return {"passages": len(rows), "reaches": reaches, "weights": weights, "equal": equal, "changes": changes}


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), separators=(",", ":")) + "\n", encoding="utf-8")
    AVERAGES.write_text(json.dumps(averages()) + "\n", encoding="utf-8")
    print(f"wrote {FILE} and {AVERAGES}")
