"""The explorable Clipping in Python: against the package's clipping, and what its sentences say."""

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
from d2lrnn.widgets import Clipping

JS = Path(__file__).parent / "js"


def test_the_stored_cases_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_clipping_cases", JS / "make_clipping_cases.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    found = differences(json.loads(make.text()), json.loads(make.FILE.read_text(encoding="utf-8")))
    assert not found, f"run `python tests/js/make_clipping_cases.py`: {found[:3]}"


@pytest.mark.parametrize("gradient", [(4.0, 3.0), (-0.5, 5.5), (0.3, -0.2), (0.0, 0.0)])
def test_the_norm_is_clipped_as_the_package_does_it(gradient: tuple[float, float]) -> None:
    widget = Clipping(g_1=gradient[0], g_2=gradient[1], clip=1.5)
    weights = [nn.Parameter(torch.zeros(1, dtype=torch.float64)) for _ in gradient]  # the norm is that of all of them
    for weight, part in zip(weights, gradient):
        weight.grad = torch.tensor([part], dtype=torch.float64)
    assert float(d.clip_gradients(weights, 1.5)) == pytest.approx(widget.length)
    assert [float(weight.grad) for weight in weights] == pytest.approx(list(widget.clipped), rel=1e-6)
    assert widget.angle_degrees == 0


def test_values_are_clipped_as_torch_does_it_and_the_arrow_turns() -> None:
    widget = Clipping(g_1=4.8, g_2=1.0, clip=1.0, by="value")
    g = torch.tensor([4.8, 1.0], dtype=torch.float64)
    clipped = g.clamp(-1, 1)
    assert list(widget.clipped) == clipped.tolist()
    cosine = float(torch.cosine_similarity(g, clipped, dim=0))
    assert widget.angle_degrees == pytest.approx(math.degrees(math.acos(cosine)))


def test_the_sentence_says_where_the_step_lands() -> None:
    start, free, kept = Clipping().losses
    assert free > start > kept
    said = Clipping().static_sentence()
    assert f"the loss rises to {free:.2f}. Clipped to 2.0, it falls to {kept:.2f}." in said
    assert "still rises" in Clipping(g_1=-6.0, g_2=6.0, clip=5.0).static_sentence()
    assert "lets the whole step through" in Clipping(g_1=0.4, g_2=0.3).static_sentence()
    assert Clipping(g_1=0.0, g_2=0.0).static_sentence().startswith("No slope")


def test_a_turned_step_counts_by_how_far_it_goes_along_the_gradient() -> None:
    turned = Clipping(g_1=4.8, g_2=1.0, clip=1.0, by="value")
    same = Clipping(g_1=4.8, g_2=1.0, clip=(4.8 + 1.0) / turned.length)
    assert turned.losses == pytest.approx(same.losses)


@pytest.mark.parametrize(
    "wrong", [{"g_1": 6.1}, {"g_2": -7.0}, {"clip": 0.4}, {"clip": math.nan}, {"clip": math.inf}, {"by": "length"}]
)
def test_bad_values_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(t.TraitError, match=next(iter(wrong))):
        Clipping(**wrong)


@pytest.mark.parametrize("by", ["norm", "value"])
def test_pictures_of_extreme_settings(by: str) -> None:
    for g_1, g_2 in ((0.0, 0.0), (-6.0, 6.0)):
        text = Clipping(g_1=g_1, g_2=g_2, clip=5.0, by=by).static_picture()
        assert "nan" not in text and "inf" not in text
