"""The explorable HiddenState in Python: states, the cut, the guesses, the static picture."""

from __future__ import annotations

import importlib.util
import json
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
    for old, new in zip(stored, make.cases(), strict=True):
        for name in ("given", "settings", "guesses", "kept"):
            assert old[name] == new[name], "run tests/js/make_hidden_state_cases.py"
        for name in ("state", "distances"):
            assert old[name] == pytest.approx(new[name], abs=1e-4), name
        for before, after in zip(old["probs"], new["probs"], strict=True):
            assert before == pytest.approx(after, abs=1e-5)


def test_the_states_are_the_equation_step_by_step() -> None:
    widget = HiddenState(text="the tide clock", cut=5)
    loaded = d.load_pretrained()
    rnn, H = loaded.model.rnn, torch.zeros(1, 128)
    for i, index in enumerate(loaded.vocab.encode(widget.text)):
        X = torch.nn.functional.one_hot(torch.tensor([index]), 27).float()
        H = d.rnn_step(X, H, rnn.W_xh, rnn.W_hh, rnn.b_h).detach()
        torch.testing.assert_close(widget.states[i], H[0])
    probs = d.next_token_probs(d.warm_up(loaded.model, loaded.vocab.encode(widget.text))[0])
    torch.testing.assert_close(widget.probs, probs)


def test_after_the_cut_it_has_read_only_what_follows() -> None:
    widget = HiddenState(text="and then there was another", cut=22)
    fresh = HiddenState(text="ther")
    assert widget.kept == "ther"
    torch.testing.assert_close(widget.cut_states[22:], fresh.states)
    torch.testing.assert_close(widget.cut_probs, fresh.probs)
    assert not widget.cut_states[21].any()
    torch.testing.assert_close(widget.cut_states[:21], widget.states[:21])
    assert widget.distances[:21] == [0.0] * 21
    assert widget.distances[21] == pytest.approx(float(widget.states[21].norm()))


def test_a_cut_at_the_last_character_leaves_what_the_biases_say() -> None:
    widget = HiddenState(text="the", cut=40)
    assert widget.kept == ""
    torch.testing.assert_close(widget.cut_probs, d.load_pretrained().model.b_q.detach().softmax(-1))


@pytest.mark.parametrize("prefix", ["and then there was another", "ther", "the ti"])
def test_a_guess_is_what_greedy_decoding_writes(prefix: str) -> None:
    loaded = d.load_pretrained()
    written = d.generate(loaded.model, loaded.vocab, prefix, 12, temperature=0)[len(prefix) :]
    first = written.split(" ")[0] + " " if " " in written else written
    assert HiddenState(text=prefix).guesses[0] == first


def test_the_claims_of_its_words() -> None:
    """What the words under the figure, and the chapter beside it, say of the cuts."""
    assert HiddenState().guesses == (" ", "e ")
    other = HiddenState(cut=21)
    assert other.guesses == (" ", " ")
    assert float(other.cut_probs.max()) > 0.95 and other.distances[-1] > 2
    line = "everything that it had ever"
    turned = HiddenState(text=line, cut=19)
    assert turned.kept == "had ever" and turned.guesses == (" ", "y ")
    assert turned.distances[-1] < 0.2 * turned.distances[18]
    story = d.load_text()
    train, heldout = (story.vocab.decode(ids) for ids in (story.train_ids, story.heldout_ids))
    assert f"{line} " in heldout and line not in train
    assert max(HiddenState(cut=1).distances) > 1.1 * HiddenState(cut=1).distances[0]
    far = HiddenState(cut=9)
    assert far.kept == "there was another" and far.distances[-1] < 0.02 * far.distances[8]


def test_texts_are_normalised_and_bounded_and_empty_ones_have_a_state_of_zeros() -> None:
    assert HiddenState(text="Mr. <Keld>").text == "mr keld"
    assert HiddenState(text="in 1789! ").text == "in"
    assert HiddenState(text="the sea! so ").text == "the sea so "
    assert HiddenState(text="Zoë läuft").text == "zoe lauft"
    with pytest.raises(t.TraitError, match="at most 40"):
        HiddenState(text="x" * 41)
    empty = HiddenState(text="")
    assert empty.distances == [] and tuple(empty.states.shape) == tuple(empty.cut_states.shape) == (0, 128)
    torch.testing.assert_close(empty.probs, d.load_pretrained().model.b_q.detach().softmax(-1))


@pytest.mark.parametrize("given", [{}, {"cut": 1}, {"text": ""}, {"text": "x" * 40, "cut": 40}])
def test_the_static_picture_is_small_and_says_the_guesses(given: dict[str, object]) -> None:
    widget = HiddenState(**given)
    assert 200 < len(widget.static_picture()) < 20_000
    sentence = widget.static_sentence()
    for guess in widget.guesses:
        assert f"“{guess.replace(' ', '␣')}”" in sentence


@pytest.mark.parametrize("wrong", [{"unit": 128}, {"unit": -2}, {"cut": 0}, {"cut": 41}])
def test_what_is_out_of_range_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(t.TraitError):
        HiddenState(**wrong)
