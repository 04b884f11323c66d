"""The explorable HiddenState in Python: states, the cut, the comparison, the order of its rows."""

from __future__ import annotations

import importlib.util
import json
import math
from itertools import pairwise
from pathlib import Path

import pytest
import torch
import traitlets as t

import d2lrnn as d
from d2lrnn.widgets import HiddenState

JS = Path(__file__).parent / "js"


def test_the_stored_cases_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_hidden_state_cases", JS / "make_hidden_state_cases.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    stored = json.loads(make.FILE.read_text(encoding="utf-8"))
    assert stored["explained"] == pytest.approx(HiddenState().explained, abs=2e-4)
    for old, new in zip(stored["cases"], make.cases(), strict=True):
        assert (old["given"], old["settings"], old["pasts"]) == (new["given"], new["settings"], list(new["pasts"]))
        assert old["summary"] == list(new["summary"]), "run tests/js/make_hidden_state_cases.py"
        for name in ("state", "distances", "overlap"):
            assert old[name] == pytest.approx(new[name], abs=1e-4), name
        for (old_name, *old_odds), (new_name, *new_odds) in zip(old["likeliest"], new["likeliest"], strict=True):
            assert old_name == new_name and old_odds == pytest.approx(new_odds, abs=1e-5)


def test_the_states_are_the_equation_step_by_step() -> None:
    widget = HiddenState(text="the tide clock", cut=5)
    loaded = d.load_pretrained()
    rnn, H = loaded.model.rnn, torch.zeros(1, 128)
    for i, index in enumerate(loaded.vocab.encode(widget.text)):
        X = torch.nn.functional.one_hot(torch.tensor([index]), 27).float()
        H = d.rnn_step(X, H, rnn.W_xh, rnn.W_hh, rnn.b_h).detach()
        torch.testing.assert_close(widget.states[i], H[0])
    probs = d.next_token_probs(d.warm_up(loaded.model, loaded.vocab.encode(widget.text))[0])
    torch.testing.assert_close(widget.odds, probs)


def test_after_the_cut_it_has_read_only_what_follows() -> None:
    widget = HiddenState(text="and then there was another", cut=22)
    fresh = HiddenState(text="ther")
    torch.testing.assert_close(widget.other_states[22:], fresh.states)
    torch.testing.assert_close(widget.other_odds, fresh.odds)
    assert not widget.other_states[21].any()
    torch.testing.assert_close(widget.other_states[:21], widget.states[:21])
    assert widget.distances[:21] == [0.0] * 21
    assert widget.distances[21] == pytest.approx(float(widget.states[21].norm()))


def test_a_cut_at_the_last_character_leaves_what_the_biases_say() -> None:
    widget = HiddenState(text="the", cut=40)
    torch.testing.assert_close(widget.other_odds, d.load_pretrained().model.b_q.detach().softmax(-1))


def test_two_texts_are_aligned_at_their_ends() -> None:
    widget = HiddenState(mode="compare", text="another", second="ther")
    assert len(widget.distances) == 7
    assert widget.distances[2] == pytest.approx(float(widget.states[2].norm()))
    last = widget.states[-1] - HiddenState(text="ther").states[-1]
    assert widget.distances[-1] == pytest.approx(float(last.norm()))
    assert widget._pasts() == ("another", "ther")


def test_the_claims_of_its_words() -> None:
    """What the words under the figure, and the chapter beside it, say of the presets."""
    cut, earlier = HiddenState(), HiddenState(cut=21)
    assert cut.likeliest[0][0] == " " and cut.odds.max() > 0.9
    assert _best(cut.other_odds) == "e" and _best(earlier.other_odds) == " "
    assert earlier.distances[-1] > 0.25 * earlier.distances[20] and earlier.overlap > 0.9
    compare = HiddenState(mode="compare")
    apart = compare.distances[-5:]
    shares = [after / before for before, after in pairwise(apart)]
    assert 0.75 < math.prod(shares) ** (1 / 4) < 0.85, "about a fifth goes with each letter"
    assert compare.overlap < 0.1
    further = HiddenState(mode="compare", text=f"{compare.text} man", second=f"{compare.second} man")
    assert further.overlap > 0.88


def _best(odds: torch.Tensor) -> str:
    return d.load_pretrained().vocab.decode([int(odds.argmax())])


def test_the_rows_are_ordered_by_what_the_character_just_read_explains() -> None:
    """The same share as R squared of a regression on one-hot characters, over one run with the state carried."""
    loaded, text = d.load_pretrained(), d.load_text()
    ids = text.heldout_ids
    with torch.no_grad():
        states = loaded.model.rnn(loaded.model.encode_inputs(ids[None]))[0][:, 0].double()
    X = torch.nn.functional.one_hot(ids, 27).double()
    residual = states - X @ torch.linalg.lstsq(X, states).solution
    expected = 1 - residual.var(0) / states.var(0)
    widget = HiddenState()
    torch.testing.assert_close(torch.tensor(widget.explained).double(), expected, atol=0.01, rtol=0)
    assert sorted(widget.order) == list(range(128))
    ordered = [widget.explained[unit] for unit in widget.order]
    assert ordered == sorted(ordered) and ordered[0] < 0.1 and ordered[-1] > 0.5


def test_texts_are_normalised_and_bounded_and_empty_ones_have_a_state_of_zeros() -> None:
    widget = HiddenState(text="Mr. <Keld>", second="x" * 100_000)
    assert widget.text == "mr keld " and len(widget.second) == 40
    empty = HiddenState(text="")
    assert empty.distances == [] and tuple(empty.states.shape) == (0, 128)
    assert empty.overlap == pytest.approx(1)
    torch.testing.assert_close(empty.odds, d.load_pretrained().model.b_q.detach().softmax(-1))


@pytest.mark.parametrize("given", [{}, {"mode": "compare"}, {"text": ""}, {"mode": "compare", "second": ""}])
def test_the_static_picture_is_small_and_says_the_odds(given: dict[str, str]) -> None:
    widget = HiddenState(**given)
    picture = widget.static_picture()
    assert len(picture) < 20_000
    character, p, _ = widget.likeliest[0]
    assert f"{character.replace(' ', '␣')}: {p:.2f} (" in picture or p < 0.0995
    assert len(widget.static_sentence()) > 40


@pytest.mark.parametrize("wrong", [{"mode": "both"}, {"unit": 128}, {"unit": -1}, {"place": 0}, {"cut": 41}])
def test_what_is_out_of_range_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(t.TraitError):
        HiddenState(**wrong)


def test_the_shares_are_not_the_readers_to_set() -> None:
    with pytest.raises(t.TraitError, match="read-only"):
        HiddenState().explained = []
