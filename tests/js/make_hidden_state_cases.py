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
    {"cut": 24},
    {"cut": 9},
    {"cut": 1},
    {"cut": 40},
    {"text": "Mr Keld -- said", "cut": 40},
    {"text": "in 1789! ", "cut": 1},
    {"text": "a", "cut": 1},
    {"text": ""},
    {"text": "<b>" + "wave " * 7, "cut": 7},
    {"text": "the tide ", "cut": 4},
    {"text": "qqqqqqqq", "cut": 3},
    {"text": "i asked my brother about the other clock", "cut": 30},
)


def cases() -> list[dict[str, Any]]:
    found = []
    for given in _GIVEN:
        widget = HiddenState(**given)
        ends = [value for run in (widget.states, widget.cut_states) for value in run[-1:, ::9].flatten().tolist()]
        found.append(
            {
                "given": given,
                "settings": widget.author_state,
                "state": [round(value, 6) for value in ends],
                "distances": [round(distance, 6) for distance in widget.distances],
                "probs": [[round(p, 9) for p in probs.tolist()] for probs in (widget.probs, widget.cut_probs)],
                "guesses": list(widget.guesses),
                "kept": widget.kept,
            }
        )
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"wrote {FILE}")
