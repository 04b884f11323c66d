"""The explorable Truncation in Python: its shares are sums of powers, and what its sentence says."""

from __future__ import annotations

import importlib.util
import json
import math
import re
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


@pytest.mark.parametrize(("factor", "tau"), [(0.8, 1), (0.8, 6), (0.5, 12), (0.95, 12)])
def test_what_is_cut_off_is_the_sum_beyond_the_cut(factor: float, tau: int) -> None:
    terms = factor ** np.arange(2000)
    beyond = [terms[j:].sum() / terms.sum() for j in range(1, tau + 1)]
    losses = Truncation(factor=factor, tau=tau, way="losses")
    assert losses.lost == pytest.approx(beyond[-1]) and 1 - losses.kept == pytest.approx(12 * [beyond[-1]])
    windows = Truncation(factor=factor, tau=tau)
    assert 1 - windows.kept == pytest.approx(12 // tau * beyond)
    assert windows.lost == pytest.approx(sum(beyond) / tau)


def test_windows_are_uneven() -> None:
    assert Truncation(tau=4).reaches == 3 * [1, 2, 3, 4]
    assert Truncation(tau=4, way="losses").reaches == 12 * [4]


def test_the_sentence_says_what_the_guess_can_teach() -> None:
    rest = "\u201c(at noon)\u201d {} teach the network to remember \u201c(\u201d."
    assert Truncation().static_sentence() == f"Cut every 6 letters: {rest.format('cannot')}"
    assert Truncation(tau=12).static_sentence() == f"Cut every 12 letters: {rest.format('can')}"
    assert Truncation(tau=12).open_part == pytest.approx(0.2 * 0.8**7)
    short = rest.replace("at noon", "b").format("can")
    assert Truncation(letter=2).static_sentence() == f"Cut every 6 letters: {short}"
    assert Truncation(letter=2).open_part == pytest.approx(0.2 * 0.8)
    assert Truncation(letter=2, tau=1).open_part == 0
    faint = Truncation(tau=12, factor=0.5)  # 0.4%
    assert faint.static_sentence() == f"Cut every 12 letters: {rest.format('can hardly')}"
    assert Truncation(tau=1).static_sentence() == f"Cut at every letter: {rest.format('cannot')}"
    assert Truncation(way="losses", tau=1).static_sentence() == f"Always 1 back: {rest.format('cannot')}"
    other = "{} of the error at \u201c{}\u201d teaches the network."
    assert Truncation(letter=7).static_sentence() == "Cut every 6 letters: " + other.format("20%", "\u2423")
    assert Truncation(way="losses", letter=6).static_sentence() == "Always 6 back: " + other.format("74%", "t")
    assert Truncation(way="losses").open_part == 0


def test_shares_have_as_many_places_as_they_need_and_a_half_goes_up() -> None:
    for factor, tau, said in ((0.5, 3, "87%"), (0.5, 4, "93.7%"), (0.8, 12, "93.1%"), (0.5, 12, "99.98%")):
        assert f">average {said}<" in Truncation(factor=factor, tau=tau, way="losses").static_picture()


@pytest.mark.parametrize(
    "wrong",
    [{"tau": 0}, {"tau": 5}, {"tau": 24}, {"way": "none"}, {"factor": 0.96}, {"factor": math.nan}, {"letter": 13}],
)
def test_bad_values_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(t.TraitError, match=next(iter(wrong))):
        Truncation(**wrong)


def test_the_picture_has_a_row_for_each_guess_their_average_and_the_cuts_of_windows() -> None:
    for tau, way, cuts, mean in ((6, "windows", 2, "51%"), (12, "windows", 1, "69%"), (6, "losses", 0, "74%")):
        flow = Truncation(tau=tau, way=way)
        picture = flow.static_picture()
        assert picture.count("<path") == cuts and picture.count("<rect") == 1
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", picture)
        assert "".join(texts[:13]) == "(b)\u2423(at\u2423noon)" and texts[13:] == [f"average {mean}"]
        assert round(100 * flow.kept.mean()) == int(mean[:-1])
        rows = re.findall(r'<polygon points="([^"]*)"[^>]*(blue|vermillion)', picture)
        xs = [(ink, [float(point.split(",")[0]) for point in points.split()]) for points, ink in rows]
        kept = [(max(x) - min(x)) / 40 for ink, x in xs if ink == "blue"]
        assert kept == pytest.approx([min(reach, place + 2) for place, reach in enumerate(flow.reaches)])
        assert "nan" not in picture


def test_the_lesson_says_what_the_figure_shows() -> None:
    lesson = json.loads((Path(__file__).parent.parent / "chapters/07_bptt_truncation.ipynb").read_text("utf-8"))
    (cell,) = (cell for cell in lesson["cells"] if cell["id"] == "by-autograd-words")
    told = [int(share) for share in re.findall(r"(\d+)%", "".join(cell["source"]))]
    six, twelve, each = Truncation().lost, Truncation(tau=12).lost, Truncation(way="losses").lost
    assert told == [round(100 * share) for share in (1 - six, 1 - twelve, six, twelve, 1 - each)]
    for way in ("windows", "losses"):  # "both ways keep more"
        assert Truncation(way=way, factor=0.5).lost < Truncation(way=way).lost
