"""Write the cases on which ``Clipping`` in Python and in the page must agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from d2lrnn.widgets import Clipping

FILE = Path(__file__).with_name("clipping_cases.json")
_CASES: tuple[dict[str, Any], ...] = (
    {},
    {"clip": 0.1},
    {"clip": 7.0},
    {"clip": 1.0},
    {"start": 4.0, "clip": 6.9},
    {"start": -3.6},
    {"start": 2.5},
    {"start": 2.8, "clip": 7.0},
    {"start": 2.828427, "clip": 7.0},
    {"start": 1.2, "clip": 0.1},
    {"start": 1.0},
    {"start": 0.0},
    {"g_1": 0.0, "g_2": 0.0},
    {"g_1": -6.0, "g_2": 6.0, "clip": 0.5},
    {"by": "value"},
    {"by": "value", "g_1": 4.8, "g_2": 1.0, "clip": 1.0},
    {"by": "value", "g_1": -5.5, "g_2": -0.2, "clip": 1.3},
    {"by": "value", "g_1": 0.0, "g_2": -6.0},
    {"by": "value", "g_1": 1.5, "g_2": 1.9},
    {"by": "value", "g_1": 0.0, "g_2": 0.0},
)


def text() -> str:
    found = []
    for settings in _CASES:
        widget = Clipping(**settings)
        found.append(
            {
                "settings": widget.author_state, "length": widget.length, "clipped": widget.clipped,
                "angle": widget.angle_degrees, "paths": widget.paths, "sentence": widget.static_sentence(),
            }
        )
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    print(f"wrote {FILE}")
