"""Write the cases on which ``Clipping`` in Python and in the page must agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from d2lrnn.widgets import Clipping
from d2lrnn.widgets.clipping import how_it_goes

FILE = Path(__file__).with_name("clipping_cases.json")
_CASES: tuple[dict[str, Any], ...] = (
    {},
    {"clip": 0.5},
    {"clip": 70.0},
    {"clip": 20.0},
    {"clip": 30.5},
    {"clip": 32.5},
    {"start": 1.14, "clip": 60.0},
    {"start": 1.12, "clip": 60.0},
    {"start": 1.05},
    {"start": 1.0},
    {"start": 0.95, "clip": 0.5},
    {"start": 0.999},
    {"start": 0.8, "clip": 0.5},
    {"start": 0.7},
    {"start": 0.1},
    {"start": 0.0},
    {"letters": 20},
    {"letters": 20, "start": 1.05, "clip": 0.5},
    {"letters": 20, "start": 1.05, "clip": 5.0},
    {"letters": 20, "start": 0.99, "clip": 0.5},
    {"letters": 20, "start": 1.04, "clip": 30.0},
    {"letters": 20, "start": 0.97, "clip": 70.0},
    {"letters": 20, "start": 0.8},
    {"letters": 20, "start": 0.8, "clip": 70.0},
    {"letters": 20, "start": 0.8, "clip": 0.5},
    {"letters": 20, "start": 1.03, "clip": 60.0},
    {"letters": 20, "start": 0.5},
    {"letters": 20, "start": 1.0},
    {"g_1": 0.0, "g_2": 0.0},
    {"g_1": -60.0, "g_2": 60.0, "clip": 5.0},
    {"by": "value"},
    {"by": "value", "g_1": 48.0, "g_2": 10.0, "clip": 10.0},
    {"by": "value", "g_1": -55.0, "g_2": -2.0, "clip": 13.0},
    {"by": "value", "g_1": 0.0, "g_2": -60.0},
    {"by": "value", "g_1": 5.0, "g_2": 9.0},
    {"by": "value", "g_1": 0.0, "g_2": 0.0},
)


def text() -> str:
    found = []
    for settings in _CASES:
        widget = Clipping(**settings)
        found.append(
            {
                "settings": widget.author_state, "length": widget.length, "clipped": widget.clipped,
                "angle": widget.angle_degrees, "paths": widget.paths, "steps_down": widget.steps_down,
                "sentence": widget.static_sentence(),
            }
        )
    grid = []
    for letters, highest in ((10, 114), (20, 105)):
        for clip in (0.5, 1.0, 5.0, 10.0, 25.0, 60.0):
            starts = [i / 100 for i in range(1, highest + 1, 4)]
            ends = []
            for start in starts:
                end, down, across = how_it_goes(start, letters, clip)
                ends.append(f"{end} {'-' if down is None else down} {'-' if across is None else across}")
            grid.append({"letters": letters, "clip": clip, "starts": starts, "ends": ends})
    return json.dumps({"cases": found, "grid": grid}, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    print(f"wrote {FILE}")
