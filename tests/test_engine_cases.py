"""The cases that the node tests read are what torch computes."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from freshness import differences

JS = Path(__file__).parent / "js"


@pytest.mark.slow
def test_the_stored_cases_of_the_engine_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_engine_cases", JS / "make_engine_cases.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    stored = json.loads((JS / "engine_cases.json").read_text(encoding="utf-8"))
    found = differences(json.loads(make.text()), stored)
    assert not found, f"run `python tests/js/make_engine_cases.py`: {found[:3]}"
