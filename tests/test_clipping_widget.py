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


def test_the_steps_are_those_of_gradient_descent() -> None:
    for clip in (0.1, 2.0, 7.0):
        widget = Clipping(start=-3.3, clip=clip)
        for limit, path in zip((math.inf, clip), widget.paths):
            x = nn.Parameter(torch.tensor([-3.3], dtype=torch.float64))
            descent = torch.optim.SGD([x], lr=1.0)
            for after in path[1:]:
                descent.zero_grad()
                (0.4 * x**2 + 0.0375 * x**4).sum().backward()
                d.clip_gradients([x], limit) if limit < math.inf else None
                descent.step()
                assert x.item() == pytest.approx(after, rel=1e-6, abs=1e-9)


def test_the_sentence_says_how_both_balls_end() -> None:
    free, kept = Clipping().paths
    assert [len(free) - 1, len(kept) - 1] == [3, 10]
    assert abs(free[-1]) > 4.4 and abs(kept[-1]) < 0.01
    for widget, said in (
        (Clipping(), "No step longer than 2.0: the ball comes down in 2 steps."),
        (Clipping(clip=3.0), "No step longer than 3.0: the ball comes down in 1 step."),
        (
            Clipping(clip=0.1),
            "No step longer than 0.1: safe but slow, the ball needs 28 steps. The first ten are drawn.",
        ),
        (Clipping(clip=7.0), "No step longer than 7.0: the ball stays in, but keeps jumping from wall to wall."),
        (Clipping(start=2.5), "No step longer than 2.0: the ball comes down in 2 steps."),
    ):
        assert widget.static_sentence() == said
        assert widget.paths[0] != widget.paths[1]
    assert Clipping(start=1.0).paths[0] == Clipping(start=1.0).paths[1]
    assert Clipping(start=1.0).static_sentence().startswith("The limit 2.0 cuts no step")
    assert Clipping(start=0.0).static_sentence().startswith("At the bottom there is no slope")


@pytest.mark.parametrize("clip", [0.1, 0.5, 2.0, 5.0, 7.0])
@pytest.mark.parametrize("start", [-4.0, -1.3, 0.0, 2.5, 2.9])
def test_the_steps_that_bring_the_ball_down_are_counted(start: float, clip: float) -> None:
    widget = Clipping(start=start, clip=clip)
    for down, path in zip(widget.steps_down, widget.paths):
        lows = [0.4 * x**2 + 0.0375 * x**4 < 0.005 for x in path]
        assert (down is not None and down <= 10) == any(lows)
        if any(lows):
            assert lows.index(True) == down and all(lows[down:]), "where it is down it stays"
    if widget.steps_down[1] is None:
        assert clip > 5, "a limit of up to 5 brings it down from anywhere"


@pytest.mark.parametrize(
    "wrong",
    [{"start": 4.1}, {"g_1": 6.1}, {"g_2": -7.0}, {"clip": 0.0}, {"clip": 7.1}, {"clip": math.nan}, {"by": "length"}],
)
def test_bad_values_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(t.TraitError, match=next(iter(wrong))):
        Clipping(**wrong)


@pytest.mark.parametrize("start", [-4.0, 0.0, 2.9, 4.0])
@pytest.mark.parametrize("clip", [0.1, 7.0])
def test_pictures_of_extreme_settings(start: float, clip: float) -> None:
    widget = Clipping(start=start, clip=clip)
    text = widget.static_picture()
    assert "nan" not in text and "inf" not in text and widget.static_sentence() in text
