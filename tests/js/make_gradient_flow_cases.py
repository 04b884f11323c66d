"""Write the networks and cases on which ``GradientFlow`` in Python and in the page must agree.

Settings under which a tanh network is chaotic are left out: there the last bit of every sum decides what follows.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from d2lrnn.widgets import GradientFlow
from d2lrnn.widgets.gradient_flow import _STAYS, _VANISHED, format_length

FILE = Path(__file__).with_name("gradient_flow_cases.json")
_CASES: tuple[dict[str, Any], ...] = (
    {},
    {"radius": 1.0},
    {"radius": 1.2},
    {"radius": 1.6, "num_steps": 60},
    {"radius": 0.2, "num_steps": 60},
    {"radius": 0.85, "num_steps": 2},
    {"radius": 1.6, "num_steps": 2},
    {"radius": 1.2, "num_steps": 3},
    {"radius": 1.0, "matrix": "orthogonal"},
    {"radius": 1.05, "matrix": "orthogonal", "num_steps": 3},
    {"radius": 0.995, "matrix": "orthogonal", "num_steps": 30},
    {"radius": 0.995, "matrix": "orthogonal", "num_steps": 60},
    {"radius": 0.6275, "matrix": "orthogonal", "num_steps": 40},
    {"activation": "tanh", "radius": 1.2},
    {"activation": "tanh", "radius": 1.2, "input_size": 0.1},
    {"activation": "tanh", "radius": 1.2, "input_size": 1e-8},
    {"activation": "tanh", "radius": 1.0, "input_size": 0.3, "matrix": "orthogonal"},
    {"activation": "tanh", "radius": 1.0, "input_size": 1e-8, "matrix": "orthogonal", "num_steps": 60},
    {"activation": "tanh", "radius": 0.9, "input_size": 3.0, "num_steps": 2},
)


def short(value: float) -> float:
    """Ten significant digits: more than the two add up alike, and fewer than a file would like to hold."""
    return float(f"{value:.10g}")


def cases() -> dict[str, Any]:
    found = []
    for settings in _CASES:
        widget = GradientFlow(**settings)
        found.append(
            {
                "settings": widget.author_state,
                "norms": [short(norm) for norm in widget.norms_by_lag],
                "factor": short(widget.factor_per_step),
                "sentence": widget.static_sentence(),
            }
        )
    values = (0.0, 1e-45, 2.345e-4, 0.001, 0.0123456, 0.978, 0.997, 1.0, 1.019, 12.34, 999.6, 9999.4, 4.5e5, 1e36)
    return {
        "networks": GradientFlow().networks,
        "bounds": {"stays": _STAYS, "vanished": _VANISHED},
        "lengths": [[value, format_length(value)] for value in values],
        "cases": found,
    }


def text() -> str:
    return json.dumps(cases(), separators=(",", ":"), ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    print(f"wrote {FILE}")
