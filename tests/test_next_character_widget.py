"""The explorable NextCharacter in Python: its text, its two distributions, what it writes."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
import torch
import traitlets as t

import d2lrnn as d
from d2lrnn.widgets import NextCharacter

JS = Path(__file__).parent / "js"


def test_the_stored_cases_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_next_character_cases", JS / "make_next_character_cases.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    stored = json.loads(make.FILE.read_text(encoding="utf-8"))
    fresh = make.cases()
    for old, new in zip(stored, fresh, strict=True):
        assert {**old, "ranked": 0} == {**new, "ranked": 0}, "run tests/js/make_next_character_cases.py"
        for row, other in zip(old["ranked"], new["ranked"], strict=True):
            assert row[0] == other[0] and row[1:] == pytest.approx(other[1:], abs=1e-6)


def test_the_distribution_is_that_of_the_pretrained_model() -> None:
    network = d.load_pretrained()
    ids = torch.tensor([network.vocab.encode("the sea ")])
    probs = network.model(ids)[0][0, -1].detach().softmax(0)
    for character, before, after in NextCharacter(text="the sea ").ranked:
        assert before == pytest.approx(float(probs[network.vocab.index(character)]), abs=1e-6) == after


def test_only_the_chosen_cut_changes_what_is_drawn_from() -> None:
    plain = NextCharacter(text="the")
    cut = NextCharacter(text="the", kind="top-k", top_k=2, top_p=0.05)
    assert [row[1] for row in plain.ranked] == [row[1] for row in cut.ranked]
    assert [row[2] > 0 for row in cut.ranked] == [True] * 2 + [False] * 25
    cut.kind = "top-p"
    assert [row[2] > 0 for row in cut.ranked] == [True] + [False] * 26


def test_text_is_normalised_and_bounded() -> None:
    assert NextCharacter(text="Mr. <Keld>").text == "mr keld "
    assert NextCharacter(text="").ranked == NextCharacter(text=" ").ranked
    with pytest.raises(t.TraitError, match="text has 61 characters; give at most 60"):
        NextCharacter(text="x" * 61)


def test_it_writes_at_four_temperatures_and_repeats_itself_with_the_same_seed() -> None:
    widgets = [NextCharacter(text="the tide ", seed=seed).writings for seed in (1, 1, 2)]
    assert list(widgets[0]) == [0, 1, 1.5, 0.7] and all(len(text) == 80 for text in widgets[0].values())
    assert widgets[0] == widgets[1] and widgets[0][1] != widgets[2][1]
    network = d.load_pretrained()
    greedy = d.generate(network.model, network.vocab, "the tide ", 80, temperature=0)
    assert greedy == "the tide " + widgets[0][0] == "the tide " + widgets[2][0]
    assert list(NextCharacter(temperature=1.2).writings) == [0, 1, 1.5, 1.2]
    cut = NextCharacter(text="the tide ", kind="top-k", top_k=1, seed=1).writings  # the reader's own is cut, no other
    assert cut == widgets[0] | {0.7: widgets[0][0]}
    assert NextCharacter(text="the tide ", kind="top-k", top_k=1, seed=1, temperature=1).writings[1] == widgets[0][0]


@pytest.mark.parametrize(
    "wrong",
    [{"temperature": 4}, {"top_k": 0}, {"top_k": 28}, {"top_p": 0.0}, {"seed": 10_000}, {"kind": "k"}, {"place": 80}],
)
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(t.TraitError):
        NextCharacter(**wrong)
