"""The explorable GradientFlow in Python: against autograd, and the numbers that the chapter names."""

from __future__ import annotations

import importlib.util
import json
import math
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import torch
import traitlets as t
from freshness import differences

import d2lrnn as d
from d2lrnn.widgets import ContextTable, GradientFlow

JS = Path(__file__).parent / "js"


def test_the_stored_cases_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_gradient_flow_cases", JS / "make_gradient_flow_cases.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    stored = json.loads(make.FILE.read_text(encoding="utf-8"))
    found = differences(json.loads(make.text()), stored, rel_tol=1e-7, abs_tol=1e-8)
    assert not found, f"run `python tests/js/make_gradient_flow_cases.py`: {found[:3]}"


def test_the_letters_under_the_bars_are_a_line_of_the_story() -> None:
    spec = json.loads((files("d2lrnn.widgets.gradient_flow") / "spec.json").read_text(encoding="utf-8"))
    line = spec["presets"]["line"]
    assert len(line) == spec["controls"]["num_steps"]["max"]
    text, guess, came = ContextTable().text, spec["presets"]["guess"], spec["presets"]["came"]
    assert line + came in text and guess != came  # what comes after it, and a wrong guess
    assert ">wrong guess: f, not \u2423<" in GradientFlow().static_picture()


@pytest.mark.parametrize("matrix", ["random", "orthogonal"])
@pytest.mark.parametrize("activation", ["linear", "tanh"])
def test_the_lengths_by_lag_are_autograds(activation: str, matrix: str) -> None:
    widget = GradientFlow(activation=activation, matrix=matrix, radius=1.1, num_steps=20, input_size=0.4)
    last = torch.tensor(widget.networks["matrices"][matrix]["gradient"], dtype=torch.float64)
    inputs = 0.4 * torch.tensor(widget.networks["inputs"], dtype=torch.float64)[:20]
    H, states = torch.zeros_like(last), []
    for x_t in inputs:
        H = x_t + H @ widget.W_hh
        H = (torch.tanh(H) if activation == "tanh" else H).requires_grad_()
        states.append(H)
    by_state = torch.autograd.grad((last * H).sum(), states)
    expected = [float(gradient.norm()) for gradient in reversed(by_state)]
    assert widget.norms_by_lag == pytest.approx(expected, rel=1e-10)


def test_radius_and_eigenvalues_are_exact() -> None:
    for matrix in ("random", "orthogonal"):
        for radius in (0.2, 1.0, 1.37):
            widget = GradientFlow(matrix=matrix, radius=radius)
            assert d.bptt.spectral_radius(widget.W_hh) == pytest.approx(radius, rel=1e-8)
    orthogonal = GradientFlow(matrix="orthogonal", radius=1.0)
    torch.testing.assert_close(orthogonal.W_hh @ orthogonal.W_hh.T, torch.eye(24).double(), rtol=0, atol=1e-11)


@pytest.mark.parametrize(("radius", "least", "most"), [(0.8, 0.001, 0.002), (1.0, 0.75, 1.0), (1.2, 150, 200)])
def test_in_the_long_run_the_radius_decides(radius: float, least: float, most: float) -> None:
    widget = GradientFlow(radius=radius)
    norms = widget.norms_by_lag
    assert len(norms) == 29 and widget.factor_per_step == pytest.approx(radius, rel=0.01)
    assert least < norms[-1] / norms[0] < most


def test_tanh_damps_the_more_the_larger_the_inputs() -> None:
    widget = GradientFlow(radius=1.2, activation="tanh")
    left = []
    for size in (1e-8, 0.1, 1.0, 3.0):
        widget.input_size = size
        left.append(widget.norms_by_lag[-1])
    assert left == sorted(left, reverse=True)
    assert left[0] > 100 and 0.1 < left[1] < 10 and left[2] < 0.001


def test_the_sentence_counts_its_steps() -> None:
    assert GradientFlow(num_steps=2).static_sentence().startswith("The message grows: 1 step back, it is 1.02 times")
    assert GradientFlow().static_sentence() == "The message vanishes: 28 steps back, only 0.0019 of it is left."
    assert GradientFlow(radius=1.2).static_sentence().startswith("The message explodes: 28 steps back")
    kept = GradientFlow(radius=1.0, matrix="orthogonal")
    assert kept.static_sentence() == "The message keeps its size: 28 steps back, it is just as large."


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"radius": 0.1}, "radius"),
        ({"radius": 1.61}, "radius"),
        ({"radius": math.nan}, "radius is nan"),
        ({"input_size": 0.0}, "input_size"),
        ({"num_steps": 1}, "num_steps"),
        ({"num_steps": 61}, "num_steps"),
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


def test_the_page_sets_what_python_sees() -> None:
    widget = GradientFlow()
    widget.set_state({"radius": 1, "matrix": "orthogonal"})
    assert widget.radius == 1.0 and widget.norms_by_lag[-1] == pytest.approx(1)
    widget.reset()
    assert repr(widget) == repr(GradientFlow())


def test_the_picture_zooms_out_where_the_message_explodes() -> None:
    for radius, label in ((0.8, None), (1.2, "Zoomed out: 160 fits.")):
        widget = GradientFlow(radius=radius)
        picture, norms = widget.static_picture(), widget.norms_by_lag
        heights = [float(height) for height in re.findall(r'<rect [^>]*?height="([\d.e-]+)"', picture)][-len(norms) :]
        unit = 44 if label is None else 150 / (max(norms) / norms[0])
        assert heights == pytest.approx([unit * norm / norms[0] for norm in norms], abs=0.01)
        assert ("Zoomed out" in picture) == (label is not None) and (label or "") in picture


@pytest.mark.parametrize("radius", [0.2, 1.0, 1.6])
@pytest.mark.parametrize("activation", ["linear", "tanh"])
def test_pictures_of_extreme_settings(activation: str, radius: float) -> None:
    for num_steps in (2, 60):
        widget = GradientFlow(activation=activation, radius=radius, num_steps=num_steps, input_size=3.0)
        text = widget.static_picture() + widget.static_sentence()
        assert "nan" not in text and "inf" not in text
