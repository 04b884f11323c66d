"""The explorable Attention in Python: what each guess depends on, and the cases of the page."""

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
        for name in ("heads", "effects", "probs", "replaced"):
            assert torch.tensor(old[name]).allclose(torch.tensor(new[name]), atol=1e-4), "make_attention_cases.py"


def test_the_weights_of_each_head_sum_to_one() -> None:
    weights = Attention(text="the rope ").attention_weights
    assert weights.shape == (4, 9)
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(4))


def test_an_effect_is_how_much_of_the_guess_a_letter_changes() -> None:
    widget = Attention(text="the tide")
    assert widget.effects.shape == (2, 8)
    for place, other in ((1, "t e tide"), (3, "theetide"), (7, "the tid ")):
        wanted = (Attention(text=other).probs - widget.probs).abs().sum(dim=1) / 2  # total variation
        torch.testing.assert_close(widget.effects[:, place], wanted)


def test_a_letter_replaced_is_the_text_with_another_letter() -> None:
    loaded = d.load_pretrained("attention")
    ids = torch.tensor([loaded.vocab.encode("the rope went  uite slac")])
    with torch.no_grad():
        wanted = loaded.model(ids)[0][0, -1].softmax(0)
    torch.testing.assert_close(Attention(letter=15).probs_replaced[0], wanted)
    torch.testing.assert_close(Attention().probs_replaced, Attention().probs)


def test_texts_are_normalised_and_bounded() -> None:
    assert Attention(text="Mr. <Keld>").text == "mr keld "
    assert Attention(text="x" * 100_000).text == "x" * 24
    assert Attention(text="and the red lantern with bot").text == "the red lantern with bot"
    empty = Attention(text="")
    assert empty.effects.shape == (2, 0) and empty.attention_weights.shape == (4, 0)
    assert empty.static_sentence() == "Type a text." and empty.static_picture()


def test_the_sentence_says_what_is_guessed_with_a_letter_replaced() -> None:
    assert Attention().static_sentence() == (
        "Both guess k as the next letter. Press a letter to replace it: whose guess changes?"
    )
    assert Attention(letter=15).static_sentence() == (
        "With a space for the q, 9 letters back, attention now guesses e, the state still k."
    )
    assert Attention(letter=14).static_sentence() == (
        "With an e for the space, 10 letters back, attention still guesses k, the state still k."
    )
    assert "still guesses k, the state now h." in Attention(letter=20).static_sentence()
    assert "c, the last letter, attention now guesses t, the state now" in Attention(letter=24).static_sentence()
    assert Attention(text="the tide", letter=12).static_sentence() == Attention(text="the tide").static_sentence()


def test_attention_hardly_uses_more_than_four_letters_and_the_state_does() -> None:
    """What step 3 and the lesson tell, in all passages of 24 letters of new text that start at a word."""
    attention, trained, text = d.load_pretrained("attention"), d.load_pretrained("trained"), d.load_text()
    heldout = torch.as_tensor(text.heldout_ids)
    space, e = text.vocab.encode(" e")
    for loaded in (attention, trained):
        assert loaded.vocab.encode("abc xyz") == text.vocab.encode("abc xyz")
    rows = torch.stack([heldout[i + 1 : i + 25] for i in range(len(heldout) - 26) if heldout[i] == space])
    assert len(rows) == 2223

    def moved(model: torch.nn.Module, back: int) -> float:
        replaced = rows.clone()
        replaced[:, -1 - back] = torch.where(rows[:, -1 - back] == space, e, space)
        with torch.no_grad():
            found, other = (model(ids)[0][:, -1].softmax(dim=1) for ids in (rows, replaced))
        return ((found - other).abs().sum(dim=1) / 2).mean().item()

    assert moved(attention.model, 5) == pytest.approx(0.006, abs=0.0005)
    assert moved(trained.model, 5) == pytest.approx(0.20, abs=0.005)
    assert [round(moved(attention.model, back), 2) for back in (0, 3, 4, 9)] == [0.82, 0.14, 0.03, 0.0]
    text_of_step = trained.vocab.encode("the red lantern with bot")
    assert (rows == torch.tensor(text_of_step)).all(dim=1).any()


@pytest.mark.parametrize("wrong", [{"letter": 25}, {"letter": -1}, {"bars": "yes"}])
def test_what_is_out_of_range_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(t.TraitError):
        Attention(**wrong)
