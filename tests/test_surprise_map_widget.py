"""The explorable SurpriseMap in Python: bits, totals, and what an arithmetic coder really needs."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path

import pytest
import torch
import traitlets as t

import d2lrnn as d
from d2lrnn.widgets import SurpriseMap

JS = Path(__file__).parent / "js"


def test_the_stored_cases_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_surprise_map_cases", JS / "make_surprise_map_cases.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    for old, new in zip(json.loads(make.FILE.read_text(encoding="utf-8")), make.cases(), strict=True):
        assert (old["text"], old["stage"], old["bytes"]) == (new["text"], new["stage"], new["bytes"])
        assert old["bits"] == pytest.approx(new["bits"], abs=1e-4), "run tests/js/make_surprise_map_cases.py"


def test_the_total_is_the_models_score() -> None:
    widget = SurpriseMap(text="the company took it from me", stage="trained")
    loaded = d.load_pretrained()
    score = d.evaluate(loaded.model, torch.tensor(loaded.vocab.encode(widget.text)))
    assert math.fsum(widget.bits) * math.log(2) == pytest.approx(score.total_nats, rel=1e-5)
    assert widget.perplexity == pytest.approx(score.perplexity, rel=1e-5)


def test_the_bytes_are_those_of_the_coder() -> None:
    widget = SurpriseMap(stage="trained")
    loaded = d.load_pretrained()
    packed = d.coding.compress(loaded.model, torch.tensor(loaded.vocab.encode(widget.text)))
    header, first_letter = 4, math.log2(27) / 8  # the coder's length field; the letter that nobody guesses
    assert abs(len(packed) - header - first_letter - widget.packed_bytes) <= 2


def test_every_stage_is_less_surprised_than_the_one_before() -> None:
    rates = [SurpriseMap(stage=stage).bits_per_character for stage in SurpriseMap.stage.values]
    assert rates == sorted(rates, reverse=True) and rates[0] > 4.6 and rates[-1] < 2.4


def test_texts_are_normalised_and_bounded_and_short_ones_have_no_surprise() -> None:
    assert SurpriseMap(text="Mr. <Keld>").text == "mr keld"
    assert SurpriseMap(text="Zoë, 42!").text == "zoe"
    assert SurpriseMap(text="Łukasz Weiß").text == "lukasz weiss"
    assert SurpriseMap(text="łøđħ\u0131ßæœþð ŁØĐĦẞÆŒÞÐ").text == "lodhissaeoethd lodhssaeoethd"
    for typed in ("Anna", "Anna ", "Anna\n", "anna -- "):
        assert SurpriseMap(text=typed).text == "anna"
    assert SurpriseMap(text=" the ").text == " the"
    assert SurpriseMap(text="x" * 499 + " y").text == "x" * 499
    assert len(SurpriseMap(text="x" * 100_000).text) == 500
    for text in ("", "a"):
        widget = SurpriseMap(text=text)
        assert widget.bits == [] and math.isnan(widget.perplexity) and widget.packed_bytes == 0


def test_the_name_of_the_third_step_stands_in_the_training_text() -> None:
    text = d.load_text()
    assert text.vocab.decode(text.train_ids).count(" phoebe ") > 20


def test_no_letter_comes_as_often_as_a_space() -> None:
    text = d.load_text()
    story = text.vocab.decode(text.train_ids)
    assert max(set(story), key=story.count) == " "


def test_the_default_text_is_held_out() -> None:
    text = d.load_text()
    assert SurpriseMap().text in text.vocab.decode(text.heldout_ids)
    assert SurpriseMap().text not in text.vocab.decode(text.train_ids)


def test_first_letters_surprise_more_in_the_whole_held_out_text_not_in_the_line_of_the_beginning_alone() -> None:
    text = d.load_text()
    held_out = text.vocab.decode(text.heldout_ids)
    first, other = [], []
    for at in range(0, len(held_out), 500):
        widget = SurpriseMap(text=held_out[at : at + 500])
        for before, here, bits in zip(widget.text[:-1], widget.text[1:], widget.bits, strict=True):
            if here != " ":
                (first if before == " " else other).append(bits)
    assert math.fsum(first) / len(first) > 1.8 * math.fsum(other) / len(other)


@pytest.mark.parametrize("wrong", [{"stage": "best"}, {"place": -1}])
def test_what_is_out_of_range_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(t.TraitError):
        SurpriseMap(**wrong)


def test_a_made_up_word_surprises_the_trained_network_more_than_the_untrained_one() -> None:
    untrained, trained = (SurpriseMap(text="quixotl", stage=stage) for stage in ("untrained", "trained"))
    assert trained.perplexity > 2 * untrained.perplexity
    assert trained.static_sentence() == "6.42 bits of surprise a letter; before training, 4.85."
    assert SurpriseMap().static_sentence() == "2.01 bits of surprise a letter; before training, 4.78."
    assert SurpriseMap(text="a").static_sentence().startswith("Type at least two letters")
