"""Write the cases on which ``Scan`` in Python and in the page must agree, to the last bit."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import torch

import d2lrnn as d
from d2lrnn.widgets import Scan
from d2lrnn.widgets.scan import format_value, preset_values

FILE = Path(__file__).with_name("scan_cases.json")
_PRESETS = ("sum", "fading", "halving", "gates", "explodes")


def _values() -> list[tuple[list[float], list[float]]]:
    found = [tuple(preset_values(name, num_steps).values()) for name in _PRESETS for num_steps in (5, 16, 24)]
    rng = random.Random(9)
    for num_steps in (*range(2, 17), 33, 64):
        a = [round(rng.uniform(-1.5, 1.5), rng.choice((1, 15))) for _ in range(num_steps)]
        x = [round(rng.uniform(-3, 3), rng.choice((0, 15))) for _ in range(num_steps)]
        found.append((a, x))
    return found


def _state(a: list[float], x: list[float], method: str) -> dict[str, Any]:
    widget = Scan(a=a, x=x, method=method)
    return {
        "a": a,
        "x": x,
        "method": method,
        "loop": widget.states_by_loop.tolist(),
        "scan": widget.states_by_scan.tolist(),
        "loop32": d.scan.linear_recurrence_loop(torch.tensor(a), torch.tensor(x)).tolist(),
        "scan32": d.scan.linear_recurrence_scan(torch.tensor(a), torch.tensor(x), method=method).tolist(),
        "differences": widget.differences,
        "trace": [{"a": a.tolist(), "b": b.tolist()} for a, b in widget.trace],
        "depths": widget.depths,
        "work": widget.work,
        "multiplications": widget.multiplications,
    }


def cases() -> dict[str, Any]:
    """States of both, level by level; the schedules; numbers as text; the examples."""
    numbers = (0.0, -0.0, 1.0, -2.0, 0.9, -0.05, 2.439, 0.125, -0.375, 1.875, 1 / 256, 0.00051, 0.00049, 1e-5, -4.2e-9)
    numbers += (99.99, 99.996, 100.04, 541.98, 999.94, 999.96, 1234.5, -3934.25, 0.1 + 0.2, 0.9**3, 2.999999, 12345.0)
    numbers += (2.095, 2.0949999999999998, 99_999.0, 99_999.6, -2.26e9, 5e10)
    return {
        "levels": [
            {
                "num_steps": num_steps,
                "method": method,
                "levels": [[level.distance, level.pairs] for level in d.scan.scan_levels(num_steps, method)],
            }
            for num_steps in (*range(2, 18), 32, 33, 64)
            for method in ("doubling", "two-sweep")
        ],
        "states": [
            _state(a, x, method)
            for i, (a, x) in enumerate(_values())
            for method in (("doubling", "two-sweep") if i < 3 * len(_PRESETS) else (("doubling", "two-sweep")[i % 2],))
        ],
        "numbers": [[value, format_value(value)] for value in numbers],
        "presets": [
            {"name": name, "num_steps": num_steps, **preset_values(name, num_steps)}
            for name in _PRESETS
            for num_steps in (2, 8, 16, 64)
        ],
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"wrote {FILE}")
