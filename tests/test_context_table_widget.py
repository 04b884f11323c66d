"""The table of contexts in Python: its writings and its line against d2lrnn, its traits, and what it refuses."""

from __future__ import annotations

import importlib.util
import json
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


@pytest.mark.slow
def test_the_stored_cases_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_context_table_cases", JS / "make_context_table_cases.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    stored = json.loads((JS / "context_table_cases.json").read_text(encoding="utf-8"))
    found = differences(json.loads(make.text()), stored)
    assert not found, f"run `python tests/js/make_context_table_cases.py`: {found[:3]}"


def _never_seen(table: ContextTable, order: int) -> int:
    counted, places = table.text[: table.num_train], range(table.num_train, len(table.text))
    return sum(table.text[i - order + 1 : i + 1] not in counted for i in places)


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
            "unseen": _never_seen(table, order),
        }
    assert [level["order"] for level in table.levels] == list(range(1, 9))
    assert min(table.levels, key=lambda level: level["perplexity"])["order"] == 5


def test_the_line_is_held_out_and_its_counts_are_those_of_the_story() -> None:
    table, text = ContextTable(), load_text()
    train = table.text[: table.num_train]
    assert table.line in text.vocab.decode(text.heldout_ids) and table.line not in train
    for place in range(len(table.line)):
        table.place = place
        rows = table.rows
        assert [row["n"] for row in rows] == list(range(1, min(6, place + 1) + 1))
        for row in rows:
            context, letter = table.line[place - row["n"] + 1 : place], table.line[place]
            places = [i for i in range(len(context), len(train)) if train.startswith(context, i - len(context))]
            assert row["context"] == context and row["total"] == len(places)
            assert row["hits"] == sum(train[i] == letter for i in places)
    assert sum(table.counts.values()) == rows[-1]["total"]
    assert ContextTable(line="").rows == [] and ContextTable(line="").counts == {}


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
    table = ContextTable(start="Low Tide!", line="A boat!", seed=5, place=3)
    assert table.start == "low tide "
    table.update(start="x", line="y", seed=0, place=0, order=2, view="write")
    table.reset()
    assert repr(table) == "ContextTable(view='read', line='a boat ', place=3, order=6, start='low tide ', seed=5)"
    table.start = "<script>\x00👩"
    assert table.start == " script "
    table.start = "\u0130" * 40
    assert len(table.start) <= 40


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"start": "a" * 41}, "start has 41 characters; give at most 40"),
        ({"start": 5}, "start"),
        ({"line": "a" * 25}, "line has 25 characters; give at most 24"),
        ({"place": -1}, "place"),
        ({"place": 24}, "place"),
        ({"order": 0}, "order"),
        ({"order": 7}, "order"),
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


@pytest.mark.parametrize("name", ["text", "num_train", "vocab", "levels"])
def test_what_belongs_to_the_story_cannot_be_set(name: str) -> None:
    table = ContextTable()
    with pytest.raises(t.TraitError, match="read-only"):
        setattr(table, name, getattr(table, name))


def _described(table: ContextTable) -> str:
    return ElementTree.fromstring(table.static_picture()).findtext("{http://www.w3.org/2000/svg}desc")


@pytest.mark.parametrize("start", ["", "the tide ", "zqzqzq"])
def test_the_picture_of_the_writings_says_what_it_shows(start: str) -> None:
    table = ContextTable(start=start, view="write")
    assert f"5 back: {table.writings[6]}" in _described(table)


def test_the_picture_of_the_counts_says_what_it_shows() -> None:
    told = "Looking 5 back, at “re␣wa”: 40 of 42 times this letter comes next"
    assert told in _described(ContextTable(place=8))
    assert "Looking 5 back, at “titio”: never seen in the counted story" in _described(ContextTable(place=19))
    for line in ("", "a", "zq x"):
        assert "“" in _described(ContextTable(line=line, place=max(0, len(line) - 1)))


def test_the_test_says_which_is_best() -> None:
    table = ContextTable(view="test")
    assert table.static_sentence() == "In new text, looking 4 letters back is best: like guessing among 3.6 letters."
    assert "0 back: 15.9; " in _described(table) and "7 back: 4.2" in _described(table)


def test_the_sentence_says_how_much_is_copied_here_and_on_average() -> None:
    table = ContextTable(view="write")
    assert table.static_sentence() == "The longest, 5 back, copied 67%; 57% in 20 texts from “the tide”."
    table.start = "zqzqzq"
    share = sum(end - begin for begin, end in table.copies[6]) / 64
    assert table.static_sentence() == f"The longest, 5 back, copied {share:.0%} from the story."


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ({"place": 8}, "We counted “re␣wa” 42 times. “s” followed 40 times."),
        ({"place": 19, "order": 4}, "We counted “tio” 18 times. “n” followed each time."),
        ({"place": 19}, "We never counted “titio”. A shorter context gives “n” >99%."),
        ({"line": "all those", "place": 6}, "We counted “ll␣th” 47 times. But “o” never followed."),
        ({"place": 8, "order": 1}, "We counted 94\u202f999 letters and spaces. “s” came 4\u202f107 times."),
        ({"line": ""}, "Type a text. The figure looks up every letter of it."),
    ],
)
def test_the_sentence_says_how_often_the_story_has_the_context(state: dict[str, Any], told: str) -> None:
    assert ContextTable(**state).static_sentence() == told
