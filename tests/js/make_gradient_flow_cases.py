"""Write the networks and cases on which ``GradientFlow`` in Python and in the page must agree.

Settings under which a tanh network is chaotic are left out: there the last bit of every sum decides what follows.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from d2lrnn.widgets import GradientFlow
from d2lrnn.widgets.gradient_flow import format_length, preset_traits

FILE = Path(__file__).with_name("gradient_flow_cases.json")
PRESETS = ("vanishes", "level", "explodes", "saturated", "source", "orthogonal", "sheared", "cut")
_CASES: tuple[dict[str, Any], ...] = (
    *(preset_traits(name) for name in PRESETS),
    {"activation": "tanh", "radius": 1.0, "input_size": 0.3, "truncation": 10, "clip": 1.0},
    {"activation": "tanh", "radius": 1.2, "input_size": 0.1, "truncation": 20, "clip": 100.0},
    {"activation": "tanh", "matrix": "shear", "radius": 0.9, "input_size": 1.0, "num_steps": 8, "truncation": 1},
    {"activation": "tanh", "matrix": "source", "radius": 1.2552, "input_size": 0.3, "num_steps": 30, "truncation": 7},
    {"activation": "tanh", "matrix": "orthogonal", "radius": 1.0, "input_size": 1e-8, "num_steps": 100},
    {"activation": "relu", "radius": 1.5, "input_size": 1.0, "truncation": 15, "clip": 0.5},
    {"activation": "relu", "matrix": "shear", "radius": 0.95, "num_steps": 25, "truncation": 3},
    {"activation": "identity", "matrix": "shear", "radius": 2.0, "num_steps": 100, "truncation": 75, "clip": 1000.0},
    {"activation": "identity", "radius": 0.2, "num_steps": 100, "input_size": 1e-8, "truncation": 100},
    {"activation": "identity", "radius": 0.85, "num_steps": 2, "truncation": 1},
)


def short(value: float | None) -> float | None:
    """Ten significant digits: more than the two add up alike, and fewer than a file would like to hold."""
    return None if value is None else float(f"{value:.10g}")


def cases() -> dict[str, Any]:
    found = []
    for settings in _CASES:
        widget = GradientFlow(**settings)
        found.append(
            {
                "settings": widget.author_state,
                "norms": [short(norm) for norm in widget.norms_by_lag],
                "sigma": short(widget.largest_singular_value),
                "mean_slope": short(widget.mean_slope),
                "factor": short(widget.factor_per_step),
                "full": short(float(widget.full_gradient.norm())),
                "truncated": short(float(widget.truncated_gradient.norm())),
                "arrives": short(float(widget.gradient.norm())),
                "corner": short(float(widget.full_gradient[0, 1])),
                "angle": short(widget.angle_degrees),
                "lost": short(widget.lost),
                "sentence": widget.static_sentence(),
            }
        )
    values = (0.0, 1e-45, 2.345e-4, 0.001, 0.0123456, 1.0, 12.34, 999.6, 9999.4, 9999.6, 4.5e5, 1e36)
    return {
        "networks": GradientFlow().networks,
        "presets": {name: preset_traits(name) for name in PRESETS},
        "lengths": [[value, format_length(value)] for value in values],
        "cases": found,
    }


def text() -> str:
    return json.dumps(cases(), separators=(",", ":"), ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    print(f"wrote {FILE}")
