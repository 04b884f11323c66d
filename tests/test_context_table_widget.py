"""The table of contexts in Python: its writings and its line against d2lrnn, its traits, and what it refuses."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
import traitlets as t
from freshness import differences

from d2lrnn import NGramLM, load_text
from d2lrnn.widgets import ContextTable
from d2lrnn.widgets.context_table import _SPEC

JS = Path(__file__).parent / "js"


@pytest.mark.slow
def test_the_stored_cases_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_context_table_cases", JS / "make_context_table_cases.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    stored = json.loads((JS / "context_table_cases.json").read_text(encoding="utf-8"))
    found = differences(json.loads(make.text()), stored)
    assert not found, f"run `python tests/js/make_context_table_cases.py`: {found[:3]}"


@pytest.mark.slow
def test_the_page_carries_the_story_and_its_levels() -> None:
    table, text = ContextTable(), load_text()
    assert table.text == text.vocab.decode(torch.cat([text.train_ids, text.heldout_ids]))
    assert (table.num_train, table.vocab) == (len(text.train_ids), "".join(text.vocab.tokens))
    for order in (2, 5):
        model = NGramLM(text.train_ids, order, 27)
        assert table.levels[order - 1] == {
            "order": order,
            "contexts": model.num_contexts[-1],
            "perplexity": model.evaluate(text.heldout_ids).perplexity,
        }
    assert [level["order"] for level in table.levels] == [1, 2, 3, 4, 5, 6]
    assert min(table.levels, key=lambda level: level["perplexity"])["order"] == 5


def test_the_line_is_held_out_and_its_surprisals_are_those_of_the_model() -> None:
    table, text = ContextTable(), load_text()
    line, train = table.heldout_line, table.text[: table.num_train]
    assert table.line_start >= table.num_train and table.text[table.line_start :].startswith(line)
    assert table.text[table.line_start - 1] == " " and line.endswith(" ")
    model = NGramLM(text.train_ids, 6, 27)
    assert len(table.walk) == len(line) - 5
    for i, step in enumerate(table.walk, start=5):
        assert step["letter"] == line[i]
        p = model.next_probs(text.vocab.encode(line[:i]))[text.vocab.index(line[i])]
        assert step["bits"] == pytest.approx(-math.log2(p))
        assert line[i - step["order"] + 1 : i] in train[:-1]
        assert step["order"] == 6 or line[i - step["order"] : i] not in train[:-1]


def test_equal_seeds_write_equal_texts() -> None:
    table = ContextTable(start="the ", seed=1)
    texts = table.writings
    assert list(texts) == [1, 2, 3, 4, 5, 6]
    assert all(len(text) == 64 and set(text) <= set(table.vocab) for text in texts.values())
    assert ContextTable(start="the ", seed=1).writings == texts
    table.seed = 2
    assert all(table.writings[n] != texts[n] for n in texts)


def test_copies_stand_in_the_counted_story() -> None:
    table = ContextTable()
    train, seen = table.text[: table.num_train], 0
    for n, text in table.writings.items():
        ends = [0]
        for begin, end in table.copies[n]:
            assert begin >= ends[-1] and end - begin >= 10 and text[begin:end] in train
            ends.append(end)
            seen += end - begin
    assert seen > 64


def test_what_is_typed_is_normalised_and_reset_restores() -> None:
    table = ContextTable(start="Low Tide!", seed=5, place=9, view="read")
    assert table.start == "low tide "
    table.update(start="x", seed=0, place=5, view="write")
    table.reset()
    assert repr(table) == "ContextTable(view='read', start='low tide ', seed=5, place=9)"
    table.start = "<script>\x00👩"
    assert table.start == " script "
    table.start = "\u0130" * 40
    assert len(table.start) <= 40


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"start": "a" * 41}, "start has 41 characters; give at most 40"),
        ({"start": 5}, "start"),
        ({"place": 4}, "place"),
        ({"place": 38}, "place"),
        ({"seed": -1}, "seed"),
        ({"view": "sing"}, "view"),
    ],
)
def test_bad_values_are_refused(traits: dict[str, Any], message: str) -> None:
    with pytest.raises(t.TraitError, match=message):
        ContextTable(**traits)
    table = ContextTable()
    before = repr(table)
    (name, value), *_ = traits.items()
    with pytest.raises(t.TraitError, match=message):
        setattr(table, name, value)
    assert repr(table) == before


@pytest.mark.parametrize("name", ["text", "num_train", "vocab", "line_start", "levels"])
def test_what_belongs_to_the_story_cannot_be_set(name: str) -> None:
    table = ContextTable()
    with pytest.raises(t.TraitError, match="read-only"):
        setattr(table, name, getattr(table, name))


@pytest.mark.parametrize("start", ["", "the tide ", "zqzqzq"])
def test_the_picture_says_what_it_shows(start: str) -> None:
    table = ContextTable(start=start)
    described = ElementTree.fromstring(table.static_picture()).findtext("{http://www.w3.org/2000/svg}desc")
    assert f"The 6-gram: {table.writings[6]}" in described and "6 6 5 4 3 4 4 5 6" in described


def test_the_sentence_says_who_copied_most_here_and_who_predicts_best() -> None:
    told = "Copied most from the story here: the 6-gram (67%). Guesses new text best: the 5-gram."
    table = ContextTable(view="write")
    assert table.static_sentence() == told
    told = set()
    for table.seed in range(8, 28):
        shares = {n: sum(end - begin for begin, end in found) for n, found in table.copies.items()}
        first = table.static_sentence().split(".")[0]
        assert all((f"the {n}-gram" in first) == (0 < max(shares.values()) == shares[n]) for n in shares)
        told.add(first)
    assert any("-gram and the " in each for each in told)


def test_the_sentence_says_what_the_story_knows_of_the_five_letters_before() -> None:
    assert ContextTable(place=21).static_sentence() == "The story has no “petit”, only “it”."
    assert ContextTable(place=34).static_sentence() == "The story has “ll␣th” 47 times."


def test_the_6_gram_loses_where_the_five_letters_are_known_but_never_with_this_next_letter() -> None:
    text = load_text()
    train, heldout = text.train_ids.tolist(), text.heldout_ids.tolist()
    contexts = {tuple(train[i : i + 5]) for i in range(len(train) - 5)}
    grams = {tuple(train[i : i + 6]) for i in range(len(train) - 5)}
    short, long = (NGramLM(text.train_ids, n, 27) for n in (5, 6))
    more = {"new": [], "followed": [], "never": []}  # the bits that the 6-gram needs more than the 5-gram
    for i in range(5, len(heldout)):
        past, letter = heldout[i - 5 : i], heldout[i]
        where = "new" if tuple(past) not in contexts else "followed" if (*past, letter) in grams else "never"
        p, q = (float(model.next_probs(past[6 - n :])[letter]) for n, model in ((6, long), (5, short)))
        more[where].append(math.log2(q / p))
    assert max(map(abs, more["new"])) < 1e-6, "an unknown context: both answer alike"
    assert min(more["never"]) > 0 and sum(more["never"]) > -sum(more["followed"]) > 0
    num = sum(map(len, more.values()))
    bits = [bit for each in more.values() for bit in each]
    surer, less = ([b for b in bits if sign * b > 1e-6] for sign in (-1, 1))
    duel = _SPEC.presets["duel"]
    assert (duel["better"], duel["worse"]) == pytest.approx((len(surer) / num, len(less) / num), abs=0.0005)
    gain, loss = 2 ** (-sum(surer) / len(surer)), 2 ** (sum(less) / len(less))
    assert (duel["gain"], duel["loss"]) == pytest.approx((gain, loss), abs=0.005)
    assert sum(less) > -sum(surer), "the losses weigh more"
    assert sum(more["never"]) > sum(less) / 2, "mostly five known letters and a new next one"
    assert len(more["never"]) / num == pytest.approx(1 / 10, abs=0.005)
    assert 2 ** -(sum(more["never"]) / len(more["never"])) == pytest.approx(1 / 3, abs=0.005)
