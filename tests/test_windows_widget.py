"""The windows explorable in Python: its cuts are the package's, whatever the page shows."""

from __future__ import annotations

import importlib.util
import json
import re
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
import traitlets as t
from freshness import differences

from d2lrnn import RandomWindows, SequentialWindows, load_text, widgets
from d2lrnn.widgets import TrainingLab, Windows
from d2lrnn.widgets.spec import Words
from d2lrnn.widgets.windows import ROW, _chances, epoch_starts

JS = Path(__file__).parent / "js"
SPEC = json.loads((Path(widgets.__file__).parent / "windows" / "spec.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def make() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_windows_cases", JS / "make_windows_cases.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_stored_cases_are_fresh(make: ModuleType) -> None:
    stored = json.loads(make.FILE.read_text(encoding="utf-8"))
    found = differences(json.loads(json.dumps(make.cases())), stored, rel_tol=0, abs_tol=1.1e-5)  # of the fifth place
    assert found == [], "run: python tests/js/make_windows_cases.py"


@pytest.mark.parametrize("offset", [0, 3])
@pytest.mark.parametrize(("batch_size", "num_steps"), [(1, 4), (2, 10), (6, 7)])
def test_sequential_minibatches_are_the_package_s(batch_size: int, num_steps: int, offset: int) -> None:
    widget = Windows(length=120, batch_size=batch_size, num_steps=num_steps, offset=offset)
    ids = load_text().train_ids[:120]
    assert torch.equal(widget.ids, ids)
    expected = list(SequentialWindows(ids, batch_size, num_steps, offset=offset))
    assert widget.num_minibatches == len(expected) and widget.carries_state
    for k, (X, Y) in enumerate(expected, start=1):
        widget.minibatch = k
        assert torch.equal(widget.X, X) and torch.equal(widget.Y, Y)
    widget.minibatch = len(expected) + 5
    assert torch.equal(widget.X, expected[-1][0]), "beyond the last, the last is shown"
    assert widget.num_pairs_read == sum(X.numel() for X, _ in expected)


@pytest.mark.parametrize("sampling", ["random", "adjoining"])
def test_random_minibatches_are_windows_as_the_package_cuts_them(sampling: str) -> None:
    widget = Windows(source="numbers", length=100, batch_size=3, num_steps=4, sampling=sampling, minibatch=1, seed=0)
    assert not widget.carries_state
    assert len(widget.starts) == widget.num_minibatches == len(widget.cut)
    starts = [start for minibatch in widget.starts for start in minibatch]
    assert len(set(starts)) == len(starts) and min(starts) >= 0 and max(starts) <= 100 - 4 - 1
    if sampling == "adjoining":
        assert len({start % 4 for start in starts}) == 1
    X, Y = next(widget.cut._minibatches([torch.tensor(widget.starts[0])]))
    assert torch.equal(widget.X, X) and torch.equal(widget.Y, Y) and torch.equal(Y, X + 1)
    before = widget.starts
    widget.seed = 1
    assert widget.starts != before
    widget.seed = 0
    assert widget.starts == before


def test_draws_are_uniform_over_the_places() -> None:
    windows = RandomWindows(torch.arange(12), 2, 4)
    visits = torch.zeros(8)
    for seed in range(2000):
        for start in epoch_starts(windows, seed)[0]:
            visits[start] += 1
    # 4000 draws over 8 places: 500 each, with a standard deviation of 19 (two of eight, without repetition)
    assert visits.sum() == 4000 and (visits - 500).abs().max() < 90


def test_the_examples_of_the_sources() -> None:
    five = Windows(source="row", batch_size=1, num_steps=5, minibatch=1)
    assert five.X.tolist() == [[1, 5, 2, 3, 6]] and five.Y.tolist() == [[5, 2, 3, 6, 7]]
    five.minibatch = 2
    assert five.X.tolist() == [[7, 4, 0, 2, 5]] and five.ids.tolist() == list(ROW)
    ten = Windows(source="numbers", length=10, batch_size=1, num_steps=4, sampling="random", seed=68)
    assert ten.starts == [[2], [0]]
    two = Windows(source="numbers", length=1000, batch_size=2, num_steps=10)
    assert (two.num_minibatches, two.starts[0], two.starts[-1]) == (49, [0, 500], [480, 980])
    assert two.num_pairs_read == 980
    two.length = 1001
    assert two.num_minibatches == 50


def test_the_story_is_shared_with_the_other_explorables() -> None:
    assert Windows().text == TrainingLab().text
    assert Windows(length=14).tokens == list("the tide clock")


def test_own_text_is_normalised() -> None:
    widget = Windows(source="own", own_text="Low TIDE, at 4!", batch_size=1, num_steps=4, minibatch=1)
    assert widget.own_text == "low tide at " and "".join(widget.tokens) == "low tide at "
    assert load_text().vocab.decode(widget.X[0]) == "low "
    assert len(Windows(own_text="İ" * 1000).own_text) <= 1000, "its lower case is longer than itself"


@pytest.mark.parametrize("source", ["", "x", "!", "👩"])
def test_a_text_that_is_too_short_is_said_in_words(source: str) -> None:
    widget = Windows(source="own", own_text=source)
    with pytest.raises(ValueError, match=r"tokens, and 12 are needed for batch_size=1"):
        _ = widget.X
    assert "12 are needed" in widget.static_sentence()
    ElementTree.fromstring(widget.static_picture())
    assert "Windows" in widget.static_html()


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"source": "film"}, "source"),
        ({"length": 1}, "length"),
        ({"length": 1201}, "length"),
        ({"own_text": "x" * 1001}, "own_text has 1001 characters; give at most 1000"),
        ({"own_text": 5}, "own_text"),
        ({"batch_size": 0}, "batch_size"),
        ({"batch_size": 7}, "batch_size"),
        ({"num_steps": 0}, "num_steps"),
        ({"num_steps": 33}, "num_steps"),
        ({"num_steps": 2.5}, "num_steps"),
        ({"sampling": "shuffled"}, "sampling"),
        ({"offset": -1}, "offset"),
        ({"seed": 10_000}, "seed"),
        ({"minibatch": 0}, "minibatch"),
        ({"cut_at": 12}, "cut_at"),
        ({"memory": "full"}, "memory"),
        ({"text": "another"}, "read-only"),
    ],
)
def test_bad_values_are_refused(traits: dict[str, object], message: str) -> None:
    with pytest.raises(t.TraitError, match=message):
        Windows(**traits)
    widget = Windows()
    before = repr(widget)
    (name, value), *_ = traits.items()
    with pytest.raises(t.TraitError, match=message):
        setattr(widget, name, value)
    assert repr(widget) == before


def test_a_memory_helps_where_it_belongs_and_misleads_elsewhere() -> None:
    lesson = json.loads(
        (Path(__file__).parent.parent / "chapters" / "04_minibatches.ipynb").read_text(encoding="utf-8")
    )
    (table,) = ("".join(o["text"]) for c in lesson["cells"] if c["id"] == "states-table" for o in c["outputs"])
    bits = {name: float(re.search(rf"^{name} +(\S+)", table, re.M)[1]) for name in ("zeros", "another's", "carried")}
    assert bits["carried"] < bits["zeros"] < bits["another's"], "so the lesson measures it on unseen text"
    for step, is_kept in zip(SPEC["steps"][:2], (True, False)):
        widget = Windows(**step["state"])
        for kept, empty in (widget.first_guess, widget.jump_guess or widget.average_guesses[0]):
            assert (kept > 1.2 * empty) == is_kept and (empty > 1.2 * kept) != is_kept
        answer = SPEC["words"]["en"][f"step_{1 + (not is_kept)}_answer_{step['right'] + 1}"]
        assert answer == ("higher" if is_kept else "lower")


@pytest.mark.parametrize("sampling", ["random", "adjoining"])
def test_the_average_over_all_jumps_is_of_every_jump_that_can_be_drawn(sampling: str) -> None:
    """From every piece to every other, but the one where it goes on: one by one, and as they are drawn."""
    widget = Windows(source="own", own_text="low tide at four", num_steps=5, sampling=sampling)
    steps, text = widget.num_steps, "".join(widget.tokens)
    drawn = set()
    for seed in range(1000):
        for (before,), (start,) in pairwise(epoch_starts(widget.cut, seed)):
            drawn.add((before, start))
    jumps = sorted((before, start) for before, start in drawn if start != before + steps)
    assert len(jumps) == (11 * 10 - 6 if sampling == "random" else 5)
    memories = [[text[before : before + steps] for before, _ in jumps], [""] * len(jumps)]
    for found, before in zip(widget.jump_guess, memories, strict=True):
        one_by_one = [_chances(memory, text[start : start + 2])[0] for memory, (_, start) in zip(before, jumps)]
        assert found == pytest.approx(sum(one_by_one) / len(jumps), abs=1e-6)
    one_piece = Windows(length=12 if sampling == "random" else 23, sampling=sampling)
    for nothing in (Windows(), Windows(source="numbers", sampling=sampling), one_piece):
        assert nothing.jump_guess is None


def test_most_cuts_split_a_word() -> None:
    assert SPEC["words"]["en"]["step_1_outcome"].startswith("Most cuts split a word.")
    text, starts = Windows().tokens, [start for (start,) in Windows().starts[1:]]
    assert sum(" " not in text[start - 1 : start + 1] for start in starts) == 9 and len(starts) == 11


def test_the_first_letters_of_all_lines_get_with_jumps_what_is_told() -> None:
    """Each first letter from line 2 on, over the starts of all lines that read it: there is room for each of them."""
    framed = json.loads((JS / "windows_cases.json").read_text(encoding="utf-8"))["framed"]  # fresh, as tested above
    python, said = Windows(), SPEC["words"]["en"]["step_3_outcome"]
    assert len(python.starts) == 12
    assert python.starts[-1][0] <= len(python.tokens) - python.num_steps - 1 and python.starts[1][0] >= 10
    assert framed["kept"] - 0.05 > framed["jump"] > framed["empty"] + 0.1 and "Best is to read on and keep" in said
    assert [f"{framed[way]:.0%}" for way in ("empty", "jump", "kept")] == ["11%", "31%", "38%"]


def test_the_first_guess_reads_what_the_state_has_read() -> None:
    widget = Windows(minibatch=1)
    kept, empty = widget.first_guess
    assert kept == empty, "nothing was read yet"
    for nothing in (Windows(source="numbers"), Windows(source="row")):
        assert nothing.first_guess is None and nothing.guesses is None and nothing.average_guesses is None
    assert Windows(length=12).average_guesses is None, "one piece"
    guesses = Windows().guesses
    assert len(guesses) == 11 and guesses[0] == Windows().first_guess
    early, late = (sum(abs(kept - empty) for kept, empty in part) for part in (guesses[:3], guesses[-3:]))
    assert late < early / 5, "a window of eleven soon makes up for an empty memory"
    first = Windows(batch_size=2, minibatch=3, offset=2).first_guess
    assert first == pytest.approx(
        Windows(source="own", own_text=Windows().text[2:40], batch_size=1, minibatch=3).first_guess
    )


def test_the_line_that_is_shown_first_begins_within_a_word() -> None:
    widget = Windows()
    kept, empty = widget.first_guess
    start = widget.starts[widget.minibatch - 1][0]
    assert kept > empty + 0.2 and " " not in widget.tokens[start - 1 : start + 2]
    averages = widget.average_guesses
    pieces = [Windows(minibatch=k).guesses for k in range(2, widget.num_minibatches + 1)]
    for n, found in enumerate(averages):
        assert found == pytest.approx([sum(piece[n][i] for piece in pieces) / len(pieces) for i in (0, 1)])


def test_the_story_ends_with_a_word() -> None:
    widget = Windows()
    assert widget.text[widget.length] == " " and widget.tokens[-1] != " "
    assert widget.num_pairs_read == len(widget.tokens) - 1, "in sequence all of it is read"


def test_reset_restores_what_the_author_gave() -> None:
    widget = Windows(source="numbers", length=35, num_steps=5, sampling="adjoining", seed=19)
    widget.update(source="row", batch_size=1, seed=3, sampling="sequential", offset=2, minibatch=2)
    widget.reset()
    assert repr(widget) == repr(Windows(source="numbers", length=35, num_steps=5, sampling="adjoining", seed=19))


@pytest.mark.parametrize("sampling", ["sequential", "random", "adjoining"])
@pytest.mark.parametrize("source", ["story", "numbers", "row", "own"])
def test_pictures_say_the_minibatch(source: str, sampling: str) -> None:
    widget = Windows(source=source, sampling=sampling, batch_size=2, num_steps=3, minibatch=2, length=60)
    if source == "row" and sampling == "adjoining":
        widget.batch_size = 1
    svg = ElementTree.fromstring(widget.static_picture())
    described = svg.findtext("{http://www.w3.org/2000/svg}desc")
    k = min(2, widget.num_minibatches)
    assert f"Minibatch {k} of {widget.num_minibatches}" in described
    assert re.search("goes on from" if sampling == "sequential" and k > 1 else "starts with an empty memory", described)
    if source == "numbers":
        assert "and the right answers are {}".format(" ".join(map(str, widget.Y[0].tolist()))) in described


@pytest.mark.parametrize(
    "traits",
    [
        {},
        {"memory": "kept", "sampling": "random"},
        {"source": "numbers", "length": 1200, "batch_size": 6, "num_steps": 20, "sampling": "random", "minibatch": 5},
    ],
)
def test_the_static_picture_cuts_off_no_words(traits: dict[str, Any]) -> None:
    widget = Windows(**traits)
    svg = ElementTree.fromstring(widget.static_picture())
    texts = [text for text in svg.iter("{http://www.w3.org/2000/svg}text") if text.get("x") == "26"]
    lines = [text for text in texts if text.text not in ("X", "Y")]
    told = " ".join(text.text for text in lines)
    for row in range(widget.batch_size):
        assert f"reader {row + 1}: {widget._state_words(Words('windows'), row)}" in told
    assert all(len(text.text) <= 62 for text in lines)  # 26 and 62 of 6.3 px are less than 440
    assert len(lines) > widget.batch_size, "some are longer than a line"
    levels = [float(text.get("y")) for text in texts]
    assert levels == sorted(levels) and min(b - a for a, b in pairwise(levels)) >= 16
    assert levels[-1] < float(svg.get("viewBox").split()[3])


def test_the_docstring_names_the_length_that_is_shown() -> None:
    assert f"2 to 1,200; default {Windows().length}." in Windows.__doc__
