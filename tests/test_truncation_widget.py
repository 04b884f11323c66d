"""The explorable Truncation in Python: against autograd with a detached state, and what its sentence says."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path
from typing import Any

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


def by_autograd(widget: Truncation) -> torch.Tensor:
    """The gradient that is kept: a detached state where a window begins, or one start of its own for each loss."""
    drawn = torch.tensor(widget.network["W"], dtype=torch.float64)
    W_hh = d.bptt.scale_to_spectral_radius(drawn, widget.radius).requires_grad_()
    inputs, gradients = (
        torch.tensor(widget.network[name], dtype=torch.float64) for name in ("inputs", "gradients")
    )
    warm_up = len(inputs) - len(gradients)
    H, before = torch.zeros(24, dtype=torch.float64), []
    for x_t in inputs:
        before.append(H.detach())
        H = torch.tanh(x_t + H @ W_hh)
    loss = 0.0
    for step in range(24):
        first = step // widget.tau * widget.tau if widget.way == "windows" else max(0, step - widget.tau + 1)
        H = before[warm_up + first]
        for x_t in inputs[warm_up + first : warm_up + step + 1]:
            H = torch.tanh(x_t + H @ W_hh)
        loss = loss + (gradients[step] * H).sum()
    return torch.autograd.grad(loss, W_hh)[0]


@pytest.mark.parametrize("way", ["windows", "losses"])
@pytest.mark.parametrize("tau", [1, 5, 6, 24])
def test_what_is_kept_is_what_detach_leaves(way: str, tau: int) -> None:
    widget = Truncation(way=way, tau=tau)
    kept, whole = by_autograd(widget), by_autograd(Truncation(tau=24))
    torch.testing.assert_close(widget.truncated_gradient, kept, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(widget.full_gradient, whole, rtol=1e-9, atol=1e-12)
    assert widget.lost == pytest.approx(float((whole - kept).norm() / whole.norm()), abs=1e-12)
    cosine = float(torch.cosine_similarity(whole.flatten(), kept.flatten(), dim=0))
    assert math.cos(math.radians(widget.angle_degrees)) == pytest.approx(cosine, abs=1e-9)


def test_routes_are_counted() -> None:
    assert [Truncation(tau=tau).num_kept for tau in (1, 6, 12, 24)] == [24, 84, 156, 300]
    assert Truncation(tau=6, way="losses").num_kept == 24 * 6 - 15


def test_the_sentence_says_what_is_lost() -> None:
    told = Truncation().static_sentence()
    assert told.startswith("Windows of 6 steps keep 84 of 300 routes from a loss back to a step.")
    assert told.endswith("add up to 52 % of the length of the gradient.")
    assert Truncation(tau=1).static_sentence().startswith("Windows of 1 step keep 24")
    assert Truncation(tau=24, way="losses").static_sentence().startswith("Nothing is cut: all 300 routes")


@pytest.mark.parametrize(
    "wrong", [{"tau": 0}, {"tau": 25}, {"way": "both"}, {"radius": 1.2}, {"radius": math.nan}, {"network": {}}]
)
def test_bad_values_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(t.TraitError, match=next(iter(wrong))):
        Truncation(**wrong)


@pytest.mark.parametrize("way", ["windows", "losses"])
def test_the_picture_has_a_square_for_each_route(way: str) -> None:
    for tau in (1, 24):
        picture = Truncation(tau=tau, way=way).static_picture()
        assert picture.count("<rect") == 302 and "nan" not in picture
