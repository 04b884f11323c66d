"""The explorable Attention in Python: weights, changes of the state, and the cases of the page."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
import torch
import traitlets as t

import d2lrnn as d
from d2lrnn.widgets import Attention

JS = Path(__file__).parent / "js"


def test_the_stored_cases_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_attention_cases", JS / "make_attention_cases.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    for old, new in zip(json.loads(make.FILE.read_text(encoding="utf-8")), make.cases(), strict=True):
        assert (old["text"], old["sentence"]) == (new["text"], new["sentence"])
        for name in ("heads", "probs", "replaced"):
            assert torch.tensor(old[name]).allclose(torch.tensor(new[name]), atol=1e-4), "make_attention_cases.py"
        assert old["traces"] == pytest.approx(new["traces"], abs=1e-4)


def test_the_weights_of_each_head_sum_to_one_and_a_letter_can_be_chosen() -> None:
    widget = Attention(place=9)
    assert widget.read == "the rope "
    torch.testing.assert_close(widget.attention_weights.sum(dim=1), torch.ones(4))
    assert widget.attention_weights.shape == (4, 9) and len(widget.state_traces) == 9


def test_a_trace_is_how_far_apart_the_states_still_are() -> None:
    widget = Attention(text="the tide", place=8)
    loaded = d.load_pretrained()

    def state(text: str) -> torch.Tensor:
        with torch.no_grad():
            return loaded.model(torch.tensor([loaded.vocab.encode(text)]))[1][0]

    for place, other in ((1, "t e tide"), (3, "theetide"), (7, "the tid ")):
        now, first = ((state(other[:end]) - state("the tide"[:end])).norm() for end in (8, place + 1))
        assert widget.state_traces[place] == pytest.approx((now / first).item(), abs=1e-5)
    assert widget.state_traces[-1] == pytest.approx(1)


def test_a_letter_replaced_is_the_text_with_another_letter() -> None:
    loaded = d.load_pretrained("attention")
    ids = torch.tensor([loaded.vocab.encode("the rope went  uite slac")])
    with torch.no_grad():
        wanted = loaded.model(ids)[0][0, -1].softmax(0)
    torch.testing.assert_close(Attention(letter=15).probs_replaced[0], wanted)
    torch.testing.assert_close(Attention().probs_replaced, Attention().probs)


def test_texts_are_normalised_and_bounded() -> None:
    assert Attention(text="Mr. <Keld>").text == "mr keld "
    assert len(Attention(text="x" * 100_000).text) == 36
    empty = Attention(text="")
    assert empty.state_traces == [] and empty.attention_weights.shape == (4, 0)
    assert empty.static_sentence() == "Type a text." and empty.static_picture()


def test_the_sentence_says_what_is_guessed_with_a_letter_replaced() -> None:
    assert Attention().static_sentence() == (
        "Attention guesses k, the state k. Press a letter to replace it by a space."
    )
    assert Attention(letter=15).static_sentence() == (
        "With a space for q, 9 letters back, attention guesses e instead of k. The state still guesses k."
    )
    assert Attention(letter=14).static_sentence() == (
        "With an e for ␣, 10 letters back, attention still guesses k, and the state k."
    )
    assert "the state guesses h instead of k. Attention still" in Attention(letter=20).static_sentence()
    assert "c, the letter just read, attention guesses t instead of k, and" in Attention(letter=24).static_sentence()
    assert Attention(place=11, letter=12).static_sentence() == Attention(place=11).static_sentence()


def test_looking_far_back_is_rare() -> None:
    """What step 1 tells: on average 0.02 of the weight lies 10 or more letters back."""
    loaded, text = d.load_pretrained("attention"), d.load_text()
    heldout = text.heldout_ids
    space = text.vocab.encode(" ")[0]
    assert loaded.vocab.encode("abc xyz") == text.vocab.encode("abc xyz")
    starts = [i + 1 for i in range(len(heldout) - 37) if heldout[i] == space]
    rows = torch.stack([torch.as_tensor(heldout[i : i + 36]) for i in starts])
    model = loaded.model
    with torch.no_grad():
        weights = model.rnn.layer.weights(model.encode_inputs(rows))[:, :, -1, :-10]
    assert weights.sum(dim=-1).mean() == pytest.approx(0.02, abs=0.005)


@pytest.mark.parametrize("wrong", [{"head": 5}, {"head": 0}, {"place": -1}, {"place": 37}, {"letter": 37}])
def test_what_is_out_of_range_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(t.TraitError):
        Attention(**wrong)
