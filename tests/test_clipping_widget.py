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


@pytest.mark.parametrize("gradient", [(40.0, 30.0), (-5.0, 55.0), (3.0, -2.0), (0.0, 0.0)])
def test_the_norm_is_clipped_as_the_package_does_it(gradient: tuple[float, float]) -> None:
    widget = Clipping(g_1=gradient[0], g_2=gradient[1], clip=15.0)
    weights = [nn.Parameter(torch.zeros(1, dtype=torch.float64)) for _ in gradient]  # the norm is that of all of them
    for weight, part in zip(weights, gradient):
        weight.grad = torch.tensor([part], dtype=torch.float64)
    assert float(d.clip_gradients(weights, 15.0)) == pytest.approx(widget.length)
    assert [float(weight.grad) for weight in weights] == pytest.approx(list(widget.clipped), rel=1e-6)
    assert widget.angle_degrees == 0


def test_values_are_clipped_as_torch_does_it_and_the_arrow_turns() -> None:
    widget = Clipping(g_1=48.0, g_2=10.0, clip=10.0, by="value")
    g = torch.tensor([48.0, 10.0], dtype=torch.float64)
    clipped = g.clamp(-10, 10)
    assert list(widget.clipped) == clipped.tolist()
    cosine = float(torch.cosine_similarity(g, clipped, dim=0))
    assert widget.angle_degrees == pytest.approx(math.degrees(math.acos(cosine)))


@pytest.mark.parametrize(("letters", "start"), [(10, 1.12), (20, 1.05), (20, 0.97)])
def test_the_steps_are_those_of_gradient_descent_on_a_network_of_one_weight(letters: int, start: float) -> None:
    for clip in (0.5, 10.0, 60.0):
        widget = Clipping(start=start, letters=letters, clip=clip)
        for limit, path in zip((math.inf, clip), widget.paths):
            w = nn.Parameter(torch.tensor([start], dtype=torch.float64))
            descent = torch.optim.SGD([w], lr=0.01)
            for after in path[1:]:
                descent.zero_grad()
                state = torch.ones(1, dtype=torch.float64)
                for _ in range(letters):
                    state = w * state
                (0.5 * (state - 1) ** 2).sum().backward()
                d.clip_gradients([w], limit) if limit < math.inf else None
                descent.step()
                assert w.item() == pytest.approx(after, rel=1e-6, abs=1e-9)


def test_the_sentence_says_how_the_clipped_ball_ends() -> None:
    flies = "the ball flies over the valley onto the plateau and needs"
    why = "Its steps are too long to stay at the goal."
    free, kept = Clipping().paths
    assert [len(free) - 1, len(kept) - 1] == [10, 10]
    assert free[1] == pytest.approx(0.41, abs=0.01) and free[-1] - free[1] < 0.001
    assert kept[-1] == pytest.approx(1, abs=0.001)
    for widget, said in (
        (Clipping(), "Slope limited to 10: the ball reaches the goal in 3 steps, past it and back."),
        (Clipping(clip=0.5), "Slope limited to 0.5: only small steps, and the ball reaches the goal in 25 steps."),
        (Clipping(clip=13.5), "Slope limited to 13.5: the ball reaches the goal in 1 step. It cannot be faster."),
        (Clipping(clip=18.0), "Slope limited to 18: the ball reaches the goal in 3 steps, past it and back."),
        (Clipping(clip=34.5), "Slope limited to 34.5: the ball reaches the goal in 13 steps, past it and back."),
        (Clipping(clip=35.0), f"Slope limited to 35: {flies} 13 steps."),
        (Clipping(clip=60.0), f"Slope limited to 60: {flies} 208 steps."),
        (Clipping(start=0.8, clip=0.5), "Slope limited to 0.5: the ball needs 38 steps to the goal."),
        (
            Clipping(letters=20, clip=0.5),
            "The ball starts lower. Slope limited to 0.5: the ball reaches the goal in 10 steps.",
        ),
        (
            Clipping(letters=20, start=1.05, clip=5.0),
            "Slope limited to 5: the ball reaches the goal in 1 step. Lucky: it lands exactly on 1.",
        ),
        (
            Clipping(letters=20, start=0.99, clip=0.5),
            "Slope limited to 0.5: the ball reaches the goal in 1 step. It cannot be faster.",
        ),
        (Clipping(letters=20, start=1.05), f"Slope limited to 10: the ball flies to and fro. {why}"),
        (
            Clipping(letters=20, start=1.03, clip=26.0),
            "Slope limited to 26: from step 35 on, the ball flies to and fro. The limit cuts no step there.",
        ),
    ):
        assert widget.static_sentence() == said
        assert widget.paths[0] != widget.paths[1]
    later = Clipping(letters=20, start=0.7, clip=0.5)  # it cuts a step that is not drawn
    assert later.paths[0] == later.paths[1] and later.steps_down == (None, 198)
    assert later.static_sentence() == "Slope limited to 0.5: the ball needs 198 steps to the goal."
    late = Clipping(letters=20, start=0.8, clip=70.0).static_sentence()
    assert late == f"The limit 70 cuts no step: from step 18 on, the ball flies to and fro. {why}"
    for start, said in (
        (1.03, "reaches the goal in 2 steps, past it and back."),
        (0.3, "slope is small, the ball needs over 10\u202f000 steps"),
    ):
        widget = Clipping(start=start)
        assert widget.paths[0] == widget.paths[1]
        assert widget.static_sentence().startswith("The limit 10 cuts no step") and said in widget.static_sentence()
    assert Clipping(start=0.0).static_sentence().startswith("Here the loss is level")
    for start in (1.0, 1.005):
        assert Clipping(start=start).static_sentence() == "The ball is already at the goal."


@pytest.mark.parametrize("clip", [0.5, 10.0, 60.0, 70.0])
@pytest.mark.parametrize("start", [0.0, 0.5, 0.9, 1.0, 1.05, 1.13, 1.14])
@pytest.mark.parametrize("letters", [10, 20])
def test_the_steps_that_bring_the_ball_down_are_counted(letters: int, start: float, clip: float) -> None:
    widget = Clipping(start=start, letters=letters, clip=clip)
    for down, path in zip(widget.steps_down, widget.paths):
        lows = [0.5 * (w**letters - 1) ** 2 < 0.005 for w in path]
        if letters == 10:
            assert (down is not None and down <= 10) == any(lows)
        if down is not None and down <= 10:
            assert lows.index(True) == down and all(lows[down:]), "where it is down it stays"


def test_more_letters_make_the_wall_steeper_and_the_plateau_flatter() -> None:
    few, many = (Clipping(start=1.05, letters=letters, clip=0.5) for letters in (10, 20))
    assert few.steps_down == (3, 9) and many.steps_down == (None, 10)
    assert many.paths[0][1] < 0.3 and many.paths[0][1] == pytest.approx(many.paths[0][-1])  # thrown, and stuck there
    assert Clipping(start=1.13, letters=20, clip=0.5).paths == many.paths  # it starts no higher


@pytest.mark.parametrize(
    "wrong",
    [
        {"start": 1.15},
        {"g_1": 61.0},
        {"g_2": -70.0},
        {"clip": 0.0},
        {"clip": 71.0},
        {"clip": math.nan},
        {"by": "length"},
        {"letters": 15},
    ],
)
def test_bad_values_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(t.TraitError, match=next(iter(wrong))):
        Clipping(**wrong)


@pytest.mark.parametrize("start", [0.0, 1.0, 1.13, 1.14])
@pytest.mark.parametrize("clip", [0.5, 70.0])
@pytest.mark.parametrize("letters", [10, 20])
def test_pictures_of_extreme_settings(letters: int, start: float, clip: float) -> None:
    widget = Clipping(start=start, letters=letters, clip=clip)
    text = widget.static_picture()
    assert "nan" not in text and "inf" not in text and widget.static_sentence() in text
    assert ">goal: 1</text>" in text
