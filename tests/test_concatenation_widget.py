"""The explorable Concatenation in Python: its numbers, the identity, what is refused."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
import torch
import traitlets as t

import d2lrnn as d
from d2lrnn.widgets import Concatenation

JS = Path(__file__).parent / "js"


def test_the_stored_cases_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_concatenation_cases", JS / "make_concatenation_cases.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    for old, new in zip(json.loads(make.FILE.read_text(encoding="utf-8")), make.cases(), strict=True):
        assert old["matrices"] == new["matrices"] and old["float32"] == new["float32"]
        assert old["exact"] == pytest.approx(new["exact"], abs=1e-12)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (2, 3, 4), (4, 4, 4)])
def test_both_ways_are_the_recurrences_own(sizes: tuple[int, int, int]) -> None:
    widget = Concatenation(**dict(zip("ndh", sizes)), row=0, column=0)
    X, W_xh, H, W_hh = widget.matrices
    expected = d.rnn_step(X, H, W_xh, W_hh, torch.zeros(sizes[2], dtype=torch.float64)).atanh()
    torch.testing.assert_close(widget.apart.tanh(), expected.tanh())
    torch.testing.assert_close(widget.apart, widget.glued)


def test_a_smaller_result_keeps_the_place_inside() -> None:
    widget = Concatenation(n=4, h=4, row=3, column=3)
    widget.update(n=2, h=1)
    assert (widget.row, widget.column) == (1, 0)


@pytest.mark.parametrize("wrong", [{"n": 0}, {"d": 5}, {"seed": -1}, {"n": 2, "row": 2}, {"h": 1, "column": 1}])
def test_what_is_out_of_range_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(t.TraitError):
        Concatenation(**wrong)
