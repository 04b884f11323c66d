"""The explorable GradientFlow in Python: against study.bptt, autograd, and the numbers that the chapter names."""

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
from torch import nn

import d2lrnn as d
from d2lrnn.widgets import GradientFlow
from d2lrnn.widgets.gradient_flow import preset_traits, unrolled_gradients

JS = Path(__file__).parent / "js"


def test_the_stored_cases_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_gradient_flow_cases", JS / "make_gradient_flow_cases.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    stored = json.loads(make.FILE.read_text(encoding="utf-8"))
    found = differences(json.loads(make.text()), stored, rel_tol=1e-7, abs_tol=1e-8)
    assert not found, f"run `python tests/js/make_gradient_flow_cases.py`: {found[:3]}"


def inputs_of(widget: GradientFlow) -> tuple[torch.Tensor, torch.Tensor]:
    """What each step adds to the units, and the gradient of the loss at the last state."""
    last = torch.tensor(widget.networks["matrices"][widget.matrix]["gradient"], dtype=torch.float64)
    inputs = torch.tensor(widget.networks["inputs"], dtype=torch.float64)[: widget.num_steps, : len(last)]
    return widget.input_size * inputs, last


@pytest.mark.parametrize("matrix", ["gaussian", "shear", "source"])
@pytest.mark.parametrize("activation", ["identity", "tanh", "relu"])
def test_the_gradient_of_all_lags_is_autograds(activation: str, matrix: str) -> None:
    widget = GradientFlow(activation=activation, matrix=matrix, radius=1.1, num_steps=20, input_size=0.4)
    inputs, last = inputs_of(widget)
    W_hh, H = widget.W_hh.clone().requires_grad_(), torch.zeros_like(last)
    phi = {"identity": lambda z: z, "tanh": torch.tanh, "relu": torch.relu}[activation]
    for x_t in inputs:
        H = phi(x_t + H @ W_hh)
    (expected,) = torch.autograd.grad((last * H).sum(), W_hh)
    torch.testing.assert_close(widget.full_gradient, expected, rtol=1e-9, atol=1e-12)


def test_the_norms_of_tanh_are_those_of_the_package_and_of_autograd() -> None:
    widget = GradientFlow(activation="tanh", radius=1.1, num_steps=30, input_size=0.3)
    inputs, last = inputs_of(widget)
    H, lags = unrolled_gradients(widget.W_hh, inputs, last, "tanh")
    dH = torch.zeros(30, 1, 24, dtype=torch.float64)
    dH[-1] = last
    by_package = d.bptt.gradients_by_lag(H.unsqueeze(1), dH, widget.W_hh)
    torch.testing.assert_close(by_package.state_norms, lags.state_norms, rtol=1e-10, atol=0)
    torch.testing.assert_close(by_package.dW_hh, lags.dW_hh, rtol=1e-10, atol=1e-14)
    assert widget.norms_by_lag == by_package.state_norms.tolist()
    assert widget.mean_slope == pytest.approx(float((1 - H**2).mean()))


def test_radius_and_eigenvalues_are_exact() -> None:
    for matrix in ("gaussian", "orthogonal", "shear", "source"):
        for radius in (0.2, 1.0, 1.37, 2.0):
            widget = GradientFlow(matrix=matrix, radius=radius)
            assert d.bptt.spectral_radius(widget.W_hh) == pytest.approx(radius, rel=1e-8)
            assert float(widget.eigenvalues.abs().max()) == pytest.approx(radius, rel=1e-8)
    orthogonal = GradientFlow(matrix="orthogonal", radius=1.0)
    torch.testing.assert_close(orthogonal.W_hh @ orthogonal.W_hh.T, torch.eye(24).double(), rtol=0, atol=1e-11)
    sheared = GradientFlow(matrix="shear", radius=1.0)
    known, own = (sorted(w.eigenvalues.angle().tolist()) for w in (orthogonal, sheared))
    assert own == pytest.approx(known, abs=1e-7), "the same eigenvalues"
    assert orthogonal.largest_singular_value == pytest.approx(1) and sheared.largest_singular_value > 8


@pytest.mark.parametrize(("name", "radius"), [("vanishes", 0.8), ("level", 1.0), ("explodes", 1.2)])
def test_in_the_long_run_the_radius_decides(name: str, radius: float) -> None:
    widget = GradientFlow()
    widget.preset(name)
    assert widget.radius == radius and widget.factor_per_step == pytest.approx(radius, abs=0.005)
    left = widget.norms_by_lag[-1] / widget.norms_by_lag[0]
    assert {"vanishes": left < 1e-5, "level": 0.5 < left < 2, "explodes": left > 1e4}[name]


def test_the_other_books_matrix_gives_that_books_numbers() -> None:
    widget = GradientFlow()
    widget.preset("source")
    assert widget.num_steps == 21 and widget.activation == "identity"
    assert widget.norms_by_lag[1] == pytest.approx(1.234, rel=1e-3)
    assert widget.norms_by_lag[20] == pytest.approx(2.379e-4, rel=1e-3)
    assert widget.radius == pytest.approx(0.628, abs=5e-4)
    assert widget.largest_singular_value == pytest.approx(1.33, abs=5e-3)
    widget.radius *= 2
    assert widget.norms_by_lag[1] == pytest.approx(2.468, rel=1e-3)
    assert widget.norms_by_lag[20] == pytest.approx(249.5, rel=1e-3)


def test_what_the_experiment_promises_happens() -> None:
    widget = GradientFlow()
    widget.preset("explodes")
    widget.activation = "tanh"
    assert widget.norms_by_lag[-1] < 100 and 0.9 < widget.factor_per_step < 1.02 and widget.mean_slope < 0.9
    widget.input_size = 3.0
    assert widget.norms_by_lag[-1] < 1e-12 and widget.mean_slope < 0.3 and widget.radius == 1.2


def test_at_radius_one_tanh_lets_it_fall_the_more_the_larger_the_inputs() -> None:
    widget = GradientFlow(radius=1.0)
    left = [widget.norms_by_lag[-1]]
    for size in (0.01, 0.1, 1.0, 10.0):
        widget.update(activation="tanh", input_size=size)
        left.append(widget.norms_by_lag[-1])
    assert left == sorted(left, reverse=True) and left[0] > 0.5 > 1e-40 > left[-1]


def test_a_sheared_matrix_grows_first() -> None:
    widget = GradientFlow()
    widget.preset("sheared")
    norms = widget.norms_by_lag
    assert max(norms) > 5 and 2 < norms.index(max(norms)) < 15 and norms[-1] < 0.01
    widget.matrix = "orthogonal"
    assert max(widget.norms_by_lag) == widget.norms_by_lag[0]


def test_cut_and_clip() -> None:
    widget = GradientFlow(activation="tanh", radius=1.0, input_size=0.3, num_steps=40)
    assert (widget.lost, widget.angle_degrees, widget.clip_factor) == (0, 0, 1)
    torch.testing.assert_close(widget.gradient, widget.full_gradient)
    widget.update(truncation=5, clip=0.5)
    inputs, last = inputs_of(widget)
    _, lags = unrolled_gradients(widget.W_hh, inputs, last, "tanh")
    kept = lags.dW_hh[:5].sum(0)
    torch.testing.assert_close(widget.truncated_gradient, kept)
    assert widget.lost == pytest.approx(float((lags.full - kept).norm() / lags.full.norm()))
    cosine = torch.cosine_similarity(kept.flatten(), lags.full.flatten(), dim=0)
    assert math.cos(math.radians(widget.angle_degrees)) == pytest.approx(float(cosine), abs=1e-9)
    parameter = nn.Parameter(torch.zeros_like(kept))
    parameter.grad = kept.clone()
    d.clip_gradients([parameter], 0.5)
    torch.testing.assert_close(widget.gradient, parameter.grad, rtol=1e-6, atol=1e-9)
    widget.update(truncation=100, clip=1000)
    assert (widget.lost, widget.clip_factor) == (0, 1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"radius": 0.1}, "radius is 0.1; give a number from 0.2 to 2"),
        ({"radius": 2.01}, "radius is 2.01"),
        ({"radius": math.nan}, "radius is nan"),
        ({"input_size": 0.0}, "input_size is 0.0; give a number from 1e-08 to 10"),
        ({"clip": -1.0}, "clip is -1.0; give a number from 0 to 1000"),
        ({"clip": math.inf}, "clip is inf"),
        ({"num_steps": 1}, "num_steps"),
        ({"num_steps": 101}, "num_steps"),
        ({"truncation": -1}, "truncation"),
        ({"activation": "sin"}, "activation"),
        ({"matrix": "zero"}, "matrix"),
        ({"networks": {}}, "networks"),
    ],
)
def test_bad_values_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(t.TraitError, match=message):
        GradientFlow(**wrong)
    widget = GradientFlow()
    with pytest.raises(t.TraitError, match=message):
        widget.update(**wrong)
    assert repr(widget) == repr(GradientFlow())


def test_names_that_do_not_exist_are_told_with_those_that_do() -> None:
    with pytest.raises(ValueError, match="no preset 'explode'; choose one of vanishes, level, explodes"):
        GradientFlow().preset("explode")
    with pytest.raises(ValueError, match="no activation 'sin' here; choose one of identity, tanh, relu"):
        unrolled_gradients(torch.eye(2), torch.zeros(3, 2), torch.ones(2), "sin")


def test_the_page_sets_what_python_sees() -> None:
    widget = GradientFlow()
    widget.set_state({"radius": 1, "matrix": "orthogonal"})
    assert widget.radius == 1.0 and widget.norms_by_lag[-1] == pytest.approx(1)
    widget.preset("saturated")
    widget.reset()
    assert repr(widget) == repr(GradientFlow())
    for name in ("vanishes", "source", "cut"):
        assert GradientFlow(**preset_traits(name)).author_state == preset_traits(name)


@pytest.mark.parametrize("radius", [0.2, 1.0, 2.0])
@pytest.mark.parametrize("activation", ["identity", "tanh", "relu"])
@pytest.mark.parametrize("matrix", ["gaussian", "source"])
def test_pictures_of_extreme_settings(matrix: str, activation: str, radius: float) -> None:
    for num_steps in (2, 100):
        widget = GradientFlow(
            matrix=matrix, activation=activation, radius=radius, num_steps=num_steps, input_size=10.0, truncation=1
        )
        text = widget.static_picture() + widget.static_sentence()
        assert "nan" not in text and "inf" not in text
