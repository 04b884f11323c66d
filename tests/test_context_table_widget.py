"""The table of contexts in Python: its answers against d2lrnn, its traits, and what it refuses."""

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

JS = Path(__file__).parent / "js"


def test_the_stored_cases_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_context_table_cases", JS / "make_context_table_cases.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    stored = json.loads((JS / "context_table_cases.json").read_text(encoding="utf-8"))
    found = differences(json.loads(make.text()), stored)
    assert not found, f"run `python tests/js/make_context_table_cases.py`: {found[:3]}"


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
    table.order = 5
    assert (table.num_possible, table.num_seen) == (27**4, 8770)
    assert [level["order"] for level in table.levels] == [1, 2, 3, 4, 5, 6]
    assert min(table.levels, key=lambda level: level["perplexity"])["order"] == 5
    assert table.perplexity == pytest.approx(3.635, abs=1e-3)


def test_lines_are_whole_words_of_their_part() -> None:
    table = ContextTable()
    for i, start in enumerate(table.lines):
        line = table.text[start : start + 36]
        assert table.text[start - 1] == " " and len(line) == 36
        assert (start + 36 <= table.num_train) if i < 2 else (start >= table.num_train), line
    assert table.past.endswith("a stranger would take the r") and len(table.past) == 40


@pytest.mark.parametrize(
    ("order", "past"), [(1, "the"), (3, "the t"), (5, "the tide"), (6, "truthf"), (6, "th"), (4, "")]
)
def test_the_answers_are_those_of_the_model(order: int, past: str) -> None:
    table, text = ContextTable(order=order, past=past), load_text()
    expected = NGramLM(text.train_ids, order, 27).next_probs(text.vocab.encode(past))
    actual = [table.probs[character] for character in text.vocab.tokens]
    torch.testing.assert_close(torch.tensor(actual, dtype=torch.float64), expected, rtol=1e-12, atol=0)
    assert list(table.probs.values()) == sorted(actual, reverse=True)
    # The chain's weights mix its frequencies to the same answer.
    mixed = dict.fromkeys(table.vocab, (1 - math.fsum(row["weight"] for row in table.chain)) / 27)
    for row in table.chain:
        for character, count in ContextTable(order=len(row["context"]) + 1, past=row["context"]).followers.items():
            mixed[character] += row["weight"] * count / row["count"]
    assert table.probs == pytest.approx(mixed, rel=1e-9)


def test_followers_are_counted_in_the_training_text_alone() -> None:
    table = ContextTable(order=5, past="the tide")
    assert table.followers == {" ": 12, "s": 1}
    train = table.text[: table.num_train]
    assert sum(table.followers.values()) == sum(train.startswith("tide", i) for i in range(len(train) - 4))
    assert table.text.count("tide") > 13, "the held-out part has more of them"
    table.past = "qzxq"
    assert table.followers == {} and [row["count"] for row in table.chain[:2]] == [0, 0]


def test_equal_seeds_write_equal_texts() -> None:
    table = ContextTable(order=4, past="the ", seed=1, num_written=50)
    text = table.written
    assert len(text) == 50 and set(text) <= set(table.vocab)
    table.num_written = 20
    assert table.written == text[:20]
    table.seed = 2
    assert table.written != text[:20]
    table.num_written = 0
    assert table.written == ""


def test_what_is_typed_is_normalised_and_reset_restores() -> None:
    table = ContextTable(order=3, past="Low Tide!", line=2, seed=5, num_written=60)
    assert (table.past, table.context) == ("low tide ", "e ")
    table.update(order=6, past="x", line=0, seed=0, num_written=0)
    table.reset()
    assert repr(table) == "ContextTable(order=3, past='low tide ', line=2, seed=5, num_written=60)"
    table.past = "two  spaces"  # a model may write this, though nobody can type it
    assert table.past == "two  spaces"
    table.past = "<script>\x00👩"
    assert table.past == " script "


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"order": 0}, "order"),
        ({"order": 7}, "order"),
        ({"order": 2.5}, "order"),
        ({"past": "a" * 41}, "past has 41 characters; give at most 40: only the last 5 can count"),
        ({"past": 5}, "past"),
        ({"line": 4}, "line"),
        ({"seed": -1}, "seed"),
        ({"num_written": 601}, "num_written"),
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


@pytest.mark.parametrize("name", ["text", "num_train", "vocab", "lines", "levels"])
def test_what_belongs_to_the_story_cannot_be_set(name: str) -> None:
    table = ContextTable()
    with pytest.raises(t.TraitError, match="read-only"):
        setattr(table, name, getattr(table, name))


@pytest.mark.parametrize(("order", "past"), [(1, ""), (5, "the tide"), (6, "truthf")])
def test_the_picture_says_what_it_shows(order: int, past: str) -> None:
    table = ContextTable(order=order, past=past)
    described = ElementTree.fromstring(table.static_picture()).findtext("{http://www.w3.org/2000/svg}desc")
    context = table.context.replace(" ", "␣") or "any place"
    assert f"n = {order}, after “{context}”" in described
    assert f"held-out perplexity {table.perplexity:.2f}" in described
    assert f"“{context}”" in table.static_sentence()
