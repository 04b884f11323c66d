"""The cases that the node tests read are what torch computes."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path
from typing import Any

JS = Path(__file__).parent / "js"


def differences(fresh: Any, stored: Any, place: str = "") -> list[str]:
    """Places where two trees of numbers part; another processor may add up in another order."""
    if isinstance(fresh, float) and isinstance(stored, int | float):
        return [] if math.isclose(fresh, stored, rel_tol=1e-9, abs_tol=1e-12) else [f"{place}: {fresh}, {stored}"]
    if isinstance(fresh, dict) and isinstance(stored, dict) and fresh.keys() == stored.keys():
        return [line for key in fresh for line in differences(fresh[key], stored[key], f"{place}/{key}")]
    if isinstance(fresh, list) and isinstance(stored, list) and len(fresh) == len(stored):
        return [line for i, pair in enumerate(zip(fresh, stored)) for line in differences(*pair, f"{place}[{i}]")]
    return [] if fresh == stored else [f"{place}: {fresh!r}, {stored!r}"]


def test_the_stored_cases_of_the_engine_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_engine_cases", JS / "make_engine_cases.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    stored = json.loads((JS / "engine_cases.json").read_text(encoding="utf-8"))
    found = differences(json.loads(make.text()), stored)
    assert not found, f"run `python tests/js/make_engine_cases.py`: {found[:3]}"
