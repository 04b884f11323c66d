"""The explorable NextCharacter in Python: its text, its two distributions, what it writes."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

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
    assert [case["text"] for case in stored] == [case["text"] for case in fresh]
    for old, new in zip(stored, fresh):
        assert old["choices"] == pytest.approx(new["choices"], rel=1e-4), "run tests/js/make_next_character_cases.py"
        for row, other in zip(old["ranked"], new["ranked"]):
            assert row[0] == other[0] and row[1:] == pytest.approx(other[1:], abs=1e-6)


def test_the_distribution_is_that_of_the_pretrained_model() -> None:
    network = d.load_pretrained()
    ids = torch.tensor([network.vocab.encode("the sea ")])
    probs = network.model(ids)[0][0, -1].detach().softmax(0)
    for character, before, after in NextCharacter(text="the sea ").ranked:
        assert before == pytest.approx(float(probs[network.vocab.index(character)]), abs=1e-6) == after


def test_cuts_change_what_is_drawn_from_and_not_what_the_model_thinks() -> None:
    plain, cut = NextCharacter(text="the"), NextCharacter(text="the", top_k=2, temperature=0.5)
    assert [row[1] for row in plain.ranked] == [row[1] for row in cut.ranked]
    assert [row[2] > 0 for row in cut.ranked] == [True] * 2 + [False] * 25
    assert cut.choices[1] < cut.choices[0] == plain.choices[0]
    greedy = NextCharacter(text="the", temperature=0)
    assert greedy.ranked[0][2] == 1 and greedy.choices[1] == 1


def test_text_is_normalised_and_bounded() -> None:
    assert NextCharacter(text="Mr. <Keld>").text == "mr keld "
    assert len(NextCharacter(text="x" * 100_000).text) == 400
    assert NextCharacter(text="").ranked == NextCharacter(text=" ").ranked


def test_it_writes_on_and_repeats_itself_with_the_same_seed() -> None:
    widgets = [NextCharacter(text="the tide ", seed=seed, temperature=0.7) for seed in (1, 1, 2)]
    for widget in widgets:
        widget.write(30)
    assert widgets[0].text == widgets[1].text != widgets[2].text
    assert len(widgets[0].text) == 39 and widgets[0].text.startswith("the tide ")
    with pytest.raises(ValueError, match="at least 0"):
        widgets[0].write(-1)


@pytest.mark.parametrize("wrong", [{"temperature": -0.1}, {"top_k": 28}, {"top_p": 0.0}, {"seed": 10_000}])
def test_settings_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(t.TraitError):
        NextCharacter(**wrong)
