"""The explorable Truncation in Python: against autograd with a detached state, and what its sentence says."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import traitlets as t
from freshness import differences

import d2lrnn as d
from d2lrnn.widgets import Truncation

JS = Path(__file__).parent / "js"


def test_the_stored_cases_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_truncation_cases", JS / "make_truncation_cases.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    stored = json.loads(make.FILE.read_text(encoding="utf-8"))
    found = differences(json.loads(make.text()), stored, rel_tol=1e-7, abs_tol=1e-7)
    assert not found, f"run `python tests/js/make_truncation_cases.py`: {found[:3]}"


def squared_lengths(widget: Truncation, reach: int) -> tuple[float, float]:
    """By autograd with a detached state: mean square of the part that is missing, and of the whole gradient."""
    drawn = torch.tensor(widget.network["W"], dtype=torch.float64)
    W_hh = d.bptt.scale_to_spectral_radius(drawn, widget.radius).requires_grad_()
    inputs = torch.tensor(widget.network["inputs"], dtype=torch.float64)
    states = [torch.zeros(24, dtype=torch.float64)]
    for x_t in inputs:
        states.append(torch.tanh(x_t + states[-1] @ W_hh))
    missing = whole = 0.0
    for step in range(len(inputs) - 12, len(inputs)):
        first = step - reach + 1
        H = states[first].detach()
        for x_t in inputs[first : step + 1]:
            H = torch.tanh(x_t + H @ W_hh)
        every = torch.eye(24, dtype=torch.float64)  # a loss for each unit: independent loss gradients add in squares
        full, kept = (
            torch.stack([torch.autograd.grad(h, W_hh, unit, retain_graph=True)[0] for unit in every])
            for h in (states[step + 1], H)
        )
        missing += float((full - kept).square().sum())
        whole += float(full.square().sum())
    return missing, whole


@pytest.mark.parametrize(("radius", "reach"), [(0.9, 1), (0.9, 6), (1.1, 12)])
def test_what_is_lost_is_what_detach_takes_away(radius: float, reach: int) -> None:
    widget = Truncation(radius=radius, tau=reach)
    missing, whole = squared_lengths(widget, reach)
    assert widget.lost["losses"] == pytest.approx(math.sqrt(missing / whole), rel=1e-8)
    assert widget.lost_by_reach[reach - 1] == widget.lost["losses"]


def test_the_mean_is_that_of_random_losses() -> None:
    """Windows that begin anywhere, losses with random gradients: the drawn mean comes near the exact one."""
    rng, widget = np.random.RandomState(0), Truncation(tau=6)
    W = np.array(widget.network["W"]) * (widget.radius / widget.network["radius"])
    H = [np.zeros(24)]
    for x_t in np.array(widget.network["inputs"]):
        H.append(np.tanh(x_t + H[-1] @ W))
    missing = whole = 0.0
    for draw in range(120):
        lost, full = np.zeros((24, 24)), np.zeros((24, 24))
        for loss in range(28, 40):
            dH = rng.randn(24)
            for step in range(loss, -1, -1):
                dZ = dH * (1 - H[step + 1] ** 2)
                full += (piece := np.outer(H[step], dZ))
                lost += piece * (loss - step > (loss + draw) % 6)
                dH = dZ @ W.T
        missing, whole = missing + np.square(lost).sum(), whole + np.square(full).sum()
    assert math.sqrt(missing / whole) == pytest.approx(widget.lost["windows"], abs=0.03)


def test_windows_are_uneven() -> None:
    assert Truncation(tau=5).reaches == [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2]
    squares = Truncation().lost_by_reach[:6] ** 2
    assert Truncation(tau=6).lost["windows"] == pytest.approx(math.sqrt(squares.mean()))


def test_the_sentence_says_what_is_lost() -> None:
    told = "Restarting every 6 steps loses 52 % of the gradient. Always going 6 steps back loses 25 %."
    assert Truncation().static_sentence() == told
    alike = "Cut after 1 step, both ways are the same: they lose 81 % of the gradient."
    assert Truncation(tau=1).static_sentence() == alike


@pytest.mark.parametrize("wrong", [{"tau": 0}, {"tau": 13}, {"radius": 1.2}, {"radius": math.nan}, {"network": {}}])
def test_bad_values_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(t.TraitError, match=next(iter(wrong))):
        Truncation(**wrong)


def test_the_picture_has_a_square_for_each_step_of_each_loss_in_both_ways() -> None:
    for tau in (1, 12):
        picture = Truncation(tau=tau).static_picture()
        assert picture.count("<rect") == 288 and "nan" not in picture
