"""The explorable Scan in Python: values, schedules, both ways to the states, what is refused, the picture."""

from __future__ import annotations

import importlib.util
import json
import math
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch
import traitlets as t

import d2lrnn as d
from d2lrnn.widgets import Scan
from d2lrnn.widgets.scan import format_value, preset_values

JS = Path(__file__).parent / "js"
PRESETS = ("sum", "fading", "halving", "gates", "explodes")


def test_the_stored_cases_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_scan_cases", JS / "make_scan_cases.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    stored = json.loads(make.FILE.read_text(encoding="utf-8"))
    assert stored == json.loads(json.dumps(make.cases())), "run: python tests/js/make_scan_cases.py"


@pytest.mark.parametrize("method", ["doubling", "two-sweep"])
@pytest.mark.parametrize("name", PRESETS)
def test_both_ways_end_with_the_states_of_the_equation(name: str, method: str) -> None:
    for num_steps in (*range(2, 17), 33, 64):
        widget = Scan(**preset_values(name, num_steps), method=method)
        h, states = 0.0, []
        for a_t, x_t in zip(widget.a, widget.x):
            h = a_t * h + x_t
            states.append(h)
        assert widget.states_by_loop.tolist() == states
        torch.testing.assert_close(widget.states_by_scan, torch.tensor(states, dtype=torch.float64))
        torch.testing.assert_close(widget.trace[-1][1], widget.states_by_scan, rtol=0, atol=0)
        assert len(widget.trace) == widget.depths["scan"] + 1
        assert widget.levels == d.scan.scan_levels(num_steps, method)


def test_the_last_pair_is_the_one_that_the_chapter_computes_by_hand() -> None:
    widget = Scan(**preset_values("halving"))
    assert [(a[7].item(), b[7].item()) for a, b in widget.trace] == [
        (1 / 2, 1), (1 / 4, 3 / 2), (1 / 16, 15 / 8), (1 / 256, 255 / 128),
    ]  # fmt: skip


def test_depth_work_and_products() -> None:
    widget = Scan()
    assert (widget.num_steps, widget.depths, widget.work) == (8, {"loop": 7, "scan": 3}, {"loop": 7, "scan": 17})
    assert widget.multiplications == {"loop": 7, "scan": 2 * 17 - 7}, "a state needs no factor"
    widget.update(**preset_values("sum", 16), method="two-sweep")
    assert (widget.depths["scan"], widget.work["scan"]) == (7, 26)
    assert widget.multiplications["scan"] == 2 * 26 - 15
    assert [Scan(**preset_values("sum", t)).multiplications["scan"] for t in (5, 64)] == [12, 579]


def test_differences_are_of_the_size_of_rounding() -> None:
    assert Scan(**preset_values("sum", 16)).differences == {"float64": 0.0, "float32": 0.0}
    found = Scan(**preset_values("fading", 16)).differences
    assert 0 < found["float64"] < 1e-14 and 1e-8 < found["float32"] < 1e-5


def test_presets_keep_the_number_of_steps_unless_told_otherwise() -> None:
    widget = Scan(a=[0.5, 0.5], x=[1, 2])
    widget.preset("explodes")
    assert (widget.a, widget.x) == ([1.4, 1.4], [1.0, 1.0])
    widget.preset("fading", 16)
    assert widget.num_steps == 16 and widget.x[:3] == [2.0, -1.0, 1.0]
    widget.reset()
    assert (widget.a, widget.x) == ([0.5, 0.5], [1.0, 2.0])
    with pytest.raises(ValueError, match="no preset 'fade'; choose one of sum, fading"):
        widget.preset("fade")
    with pytest.raises(ValueError, match="num_steps is 65; the figure shows 2 to 64"):
        widget.preset("sum", 65)


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"a": [1.0], "x": [1.0]}, "has 1 values; give 2 to 64"),
        ({"a": [1.0] * 65, "x": [1.0] * 65}, "has 65 values; give 2 to 64"),
        ({"a": [1.0] * 7 + [1.6]}, r"a\[7\] is 1.6; it must lie between -1.5 and 1.5"),
        ({"a": [math.nan] * 8}, r"a\[0\] is nan"),
        ({"x": [0.0, -3.5] + [0.0] * 6}, r"x\[1\] is -3.5; it must lie between -3 and 3"),
        ({"x": [math.inf] * 8}, r"x\[0\] is inf"),
        ({"x": [1.0] * 5}, "x has 5 values and a 8; every time step has one of both"),
        ({"x": ["1"] * 8}, "x"),
        ({"method": "blelloch"}, "method"),
        ({"step": 64}, "step"),
        ({"place": 65}, "place"),
        ({"level": -2}, "level"),
    ],
)
def test_bad_values_are_refused(traits: dict[str, object], message: str) -> None:
    with pytest.raises(t.TraitError, match=message):
        Scan(**traits)
    widget = Scan()
    before = repr(widget)
    with pytest.raises(t.TraitError, match=message):
        widget.update(**traits)
    assert repr(widget) == before


def test_both_lists_from_the_front_end_are_taken_as_a_whole() -> None:
    widget = Scan()
    widget.set_state({"a": [0.5, 1], "x": [1, 2], "step": 1, "place": 2})
    assert (widget.a, widget.x, widget.states_by_loop.tolist()) == ([0.5, 1.0], [1.0, 2.0], [1.0, 3.0])
    with pytest.raises(t.TraitError, match="every time step has one of both"):
        widget.set_state({"a": [0.5, 1, 1]})
    assert widget.a == [0.5, 1.0]


def test_one_of_the_lists_alone_may_be_given_if_it_fits() -> None:
    assert Scan(a=[0.5] * 4).x == preset_values("fading", 4)["x"]
    assert Scan(x=[1.0] * 8).a == [0.9] * 8
    widget = Scan()
    with pytest.raises(t.TraitError, match="a has 4 values and x 8"):
        widget.a = [0.5] * 4
    assert widget.a == [0.9] * 8


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("num_steps", [2, 5, 16])
def test_the_picture_shows_every_state_and_every_combination(name: str, num_steps: int) -> None:
    for method in ("doubling", "two-sweep"):
        widget = Scan(**preset_values(name, num_steps), method=method)
        root = ElementTree.fromstring(widget.static_picture())
        space = "{http://www.w3.org/2000/svg}"
        texts = [node.text for node in root.iter(f"{space}text")]
        for state in widget.states_by_loop.tolist():
            assert texts.count(format_value(state)) >= 2
        assert sum(node.get("d").count("L") for node in root.iter(f"{space}path")) == widget.work["scan"]
        assert not re.search(r"\bnan\b|\binf\b", " ".join(texts))
        assert f"depth {widget.depths['scan']}, work {widget.work['scan']}" in widget.static_sentence()


def test_the_picture_of_many_steps_has_dots_in_place_of_numbers() -> None:
    widget = Scan(**preset_values("explodes", 64))
    picture = widget.static_picture()
    assert len(picture) < 70_000 and "nan" not in picture
    root = ElementTree.fromstring(picture)
    assert sum(node.get("d").count("L") for node in root.iter("{http://www.w3.org/2000/svg}path")) == 321
    assert "64 time steps" in widget.static_sentence()
