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
        for name in ("heads", "probs"):
            assert torch.tensor(old[name]).allclose(torch.tensor(new[name]), atol=1e-4), "make_attention_cases.py"
        assert old["changes"] == pytest.approx(new["changes"], abs=1e-4)


def test_the_weights_of_each_head_sum_to_one_and_a_letter_can_be_chosen() -> None:
    widget = Attention(place=9)
    assert widget.read == "and the c"
    torch.testing.assert_close(widget.attention_weights.sum(dim=1), torch.ones(4))
    assert widget.attention_weights.shape == (4, 9) and len(widget.state_changes) == 9


def test_a_change_is_that_of_the_network_with_the_letter_replaced() -> None:
    widget = Attention(text="the tide", place=8)
    loaded = d.load_pretrained()

    def state(text: str) -> torch.Tensor:
        with torch.no_grad():
            return loaded.model(torch.tensor([loaded.vocab.encode(text)]))[1][0]

    whole = state("the tide")
    for place, other in ((1, "t e tide"), (3, "theetide"), (7, "the tid ")):
        other_state = state(other)
        wanted = (other_state - whole).norm() / (other_state.norm() + whole.norm())
        assert widget.state_changes[place] == pytest.approx(wanted.item(), abs=1e-5)


def test_texts_are_normalised_and_bounded() -> None:
    assert Attention(text="Mr. <Keld>").text == "mr keld "
    assert len(Attention(text="x" * 100_000).text) == 36
    empty = Attention(text="")
    assert empty.state_changes == [] and empty.attention_weights.shape == (4, 0)
    assert empty.static_sentence() == "Type a text." and empty.static_picture()


def test_the_sentence_says_where_attention_looks_and_what_the_state_holds() -> None:
    assert Attention().static_sentence() == (
        "At k, attention puts 33% of its look on d, 17 letters back. In the state it is almost gone: 0.3%."
    )
    assert "on d, 8 letters back" in Attention(place=11, letter=3).static_sentence()
    assert Attention(place=11, letter=12).static_sentence() == Attention(place=11).static_sentence()
    assert "98% of its look on k, the letter just read" in Attention(head=2).static_sentence()


def test_looking_far_back_is_rare() -> None:
    """What step 3 tells: on average 0.02 of the weight lies 10 or more letters back."""
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
