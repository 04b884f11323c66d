"""Write the cases on which ``Truncation`` in Python and in the page must agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from d2lrnn.widgets import Truncation

FILE = Path(__file__).with_name("truncation_cases.json")
_CASES: tuple[dict[str, Any], ...] = (
    {},
    {"tau": 1},
    {"tau": 4},
    {"tau": 12},
    {"tau": 12, "factor": 0.95},
    {"tau": 4, "letter": 6},
    {"tau": 1, "way": "losses"},
    {"way": "losses"},
    {"factor": 0.5},
    {"factor": 0.5, "tau": 12, "way": "losses"},
    {"factor": 0.95, "tau": 3, "way": "losses"},
    {"factor": 0.5, "tau": 3, "way": "losses"},  # a half: 87.5%
)


def short(value: float) -> float:
    """Ten significant digits: more than the two add up alike."""
    return float(f"{value:.10g}")


def text() -> str:
    found = []
    for settings in _CASES:
        widget = Truncation(**settings)
        found.append(
            {
                "settings": widget.author_state,
                "reaches": widget.reaches,
                "lost": short(widget.lost),
                "kept": [short(share) for share in widget.kept.tolist()],
                "sentence": widget.static_sentence(),
            }
        )
    stored = {"cases": found}
    return json.dumps(stored, separators=(",", ":"), ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    print(f"wrote {FILE}")
