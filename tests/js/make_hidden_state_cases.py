"""Write the cases on which ``HiddenState`` in Python and in the page must agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from d2lrnn.widgets import HiddenState

FILE = Path(__file__).with_name("hidden_state_cases.json")
_GIVEN: tuple[dict[str, Any], ...] = (
    {},
    {"cut": 21},
    {"place": 10},
    {"cut": 22, "place": 22},
    {"text": "Mr Keld -- said", "cut": 40},
    {"text": "a", "cut": 1},
    {"text": ""},
    {"text": "<b>" + "wave " * 30, "cut": 7, "place": 30},
    {"mode": "compare"},
    {"mode": "compare", "place": 5},
    {"mode": "compare", "place": 22},
    {"mode": "compare", "text": "ther", "second": "He saw another"},
    {"mode": "compare", "text": "the tide", "second": "the tide"},
    {"mode": "compare", "text": "the sea", "second": "mr gadd"},
    {"mode": "compare", "text": "the sea", "second": ""},
    {"mode": "compare", "text": "", "second": ""},
)


def cases() -> list[dict[str, Any]]:
    found = []
    for given in _GIVEN:
        widget = HiddenState(**given)
        key, values = widget._summary()
        settings = widget.author_state
        found.append(
            {
                "given": given,
                "settings": settings,
                "state": [round(value, 6) for run in widget._aligned() for value in run[-1:, ::9].flatten().tolist()],
                "distances": [round(distance, 6) for distance in widget.distances],
                "likeliest": [[name, round(p, 9), round(q, 9)] for name, p, q in widget.likeliest],
                "overlap": round(widget.overlap, 6),
                "summary": [key, values],
                "pasts": widget._pasts(),
            }
        )
    return found


if __name__ == "__main__":
    stored = {"explained": HiddenState().explained, "order": HiddenState().order, "cases": cases()}
    FILE.write_text(json.dumps(stored, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"wrote {FILE}")
