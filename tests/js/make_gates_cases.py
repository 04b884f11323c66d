"""Write the cases on which ``Gates`` in Python and in the page must agree: ``python tests/js/make_gates_cases.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from d2lrnn.study.pretrained import load_pretrained
from d2lrnn.widgets import Gates

FILE = Path(__file__).with_name("gates_cases.json")
_GIVEN: tuple[dict[str, Any], ...] = (
    {},
    {"place": 7},
    {"unit": 16},
    {"text": "my dog is happy today"},
    {"bias": 2.0},
    {"bias": -4.0, "place": 40},
    {"bias": 4.0, "unit": 6, "place": 1},
    {"unit": 16, "place": 14},
    {"text": "kept what it had been given to keep", "place": 7},
    {"unit": 23, "place": 10, "bias": 0.5},
    {"text": " the  Tide?", "unit": 0, "place": 1},
    {"text": "a", "unit": 31},
    {"unit": 16, "gates": [-1.0, -1.0, -1.0, -1.0, 0.0, -1.0, -1.0, -1.0, 0.0]},
    {"gates": [0.5] * 40},
    {"gates": [-1.0, 0.25, -1.0, 1.0], "bias": 1.0, "place": 2},
    {"gates": [1.0], "text": "quick", "place": 1},
    {"gates": [-1.0, -1.0, -1.0, -1.0, 1.0, -1.0, -1.0, -1.0, 1.0, -1.0, -1.0, -1.0, 1.0]},
    {"text": ""},
    {"text": "zzzzzz", "unit": 12, "place": 3, "bias": -1.5},
)


def _guesses(widget: Gates) -> str:
    """The likeliest letter after each but the last."""
    loaded = load_pretrained("lstm")
    logits = widget._read()["state"][:-1] @ loaded.model.W_hq.detach() + loaded.model.b_q.detach()
    return loaded.vocab.decode(logits.argmax(1).tolist())


def cases() -> list[dict[str, Any]]:
    found = []
    for given in _GIVEN:
        widget = Gates(**given)
        read = widget._read()
        found.append(
            {
                "given": given,
                "settings": widget.author_state,
                "unit": {name: [round(x, 7) for x in values[:, widget.unit].tolist()] for name, values in read.items()},
                "forget": [round(x, 7) for x in widget.forget_gates.sum(1).tolist()],
                "left": [round(x, 7) for x in widget._left()],
                "half_life": widget.half_life,
                "bits": round(widget.bits, 7),
                "now": widget._now(),
                "guesses": _guesses(widget),
            }
        )
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"wrote {FILE}")
