"""The explorable Truncation in Python: its shares are sums of powers, and what its sentence says."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import traitlets as t
from freshness import differences

from d2lrnn.widgets import Truncation

JS = Path(__file__).parent / "js"


def test_the_stored_cases_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_truncation_cases", JS / "make_truncation_cases.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    stored = json.loads(make.FILE.read_text(encoding="utf-8"))
    found = differences(json.loads(make.text()), stored, rel_tol=1e-7, abs_tol=1e-7)
    assert not found, f"run `python tests/js/make_truncation_cases.py`: {found[:3]}"


@pytest.mark.parametrize(("factor", "reach"), [(0.8, 1), (0.8, 6), (0.5, 12), (0.95, 12)])
def test_what_is_lost_is_the_sum_beyond_the_cut(factor: float, reach: int) -> None:
    terms = factor ** np.arange(2000)
    widget = Truncation(factor=factor, tau=reach)
    assert widget.lost["losses"] == pytest.approx(terms[reach:].sum() / terms.sum())
    shares = [terms[j:].sum() / terms.sum() for j in range(1, reach + 1)]
    assert widget.lost["windows"] == pytest.approx(sum(shares) / reach)


def test_windows_are_uneven() -> None:
    assert Truncation(tau=5).reaches == [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2]


def test_the_sentence_says_what_is_lost() -> None:
    told = "Windows of 6 steps lose 49 % of the gradient. Always going 6 steps back loses 26 %."
    assert Truncation().static_sentence() == told
    alike = "Cut after 1 step, both ways are the same: they lose 80 % of the gradient."
    assert Truncation(tau=1).static_sentence() == alike


@pytest.mark.parametrize("wrong", [{"tau": 0}, {"tau": 13}, {"factor": 0.96}, {"factor": math.nan}])
def test_bad_values_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(t.TraitError, match=next(iter(wrong))):
        Truncation(**wrong)


def test_the_picture_has_a_square_for_each_step_of_each_loss_in_both_ways() -> None:
    for tau in (1, 12):
        picture = Truncation(tau=tau).static_picture()
        assert picture.count("<rect") == 288 and "nan" not in picture
