"""The explorable Attention in Python: what each guess depends on, and the cases of the page."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest
import torch
import traitlets as t

import d2lrnn as d
from d2lrnn.widgets import Attention

JS = Path(__file__).parent / "js"
FAR = "head upon her k"  # the text of step 2


@pytest.fixture(scope="module")
def make() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_attention_cases", JS / "make_attention_cases.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stored_cases_are_fresh(make: ModuleType) -> None:
    for old, new in zip(json.loads(make.FILE.read_text(encoding="utf-8")), make.cases(), strict=True):
        for name in ("text", "sentence"):
            assert old[name] == new[name]
        for name in ("effects", "weights", "probs", "replaced", "differs"):
            assert torch.tensor(old[name]).allclose(torch.tensor(new[name]), atol=1e-4), "make_attention_cases.py"


def test_an_effect_is_how_much_of_the_guess_a_letter_changes() -> None:
    widget = Attention(text="the tide")
    assert widget.effects.shape == (2, 8)
    for place, other in ((1, "t e tide"), (3, "theetide"), (7, "the tid ")):
        wanted = (Attention(text=other).probs - widget.probs).abs().sum(dim=1) / 2  # total variation
        torch.testing.assert_close(widget.effects[:, place], wanted)


def test_a_letter_replaced_is_the_text_with_another_letter() -> None:
    loaded = d.load_pretrained("attention")
    ids = torch.tensor([loaded.vocab.encode("hea  upon her k")])
    with torch.no_grad():
        wanted = loaded.model(ids)[0][0, -1].softmax(0)
    torch.testing.assert_close(Attention(text=FAR, letter=4).probs_replaced[0], wanted)
    torch.testing.assert_close(Attention().probs_replaced, Attention().probs)


def test_a_guess_reaches_back_to_the_farthest_letter_that_moves_a_tenth_of_it() -> None:
    widget = Attention(text=FAR)
    for reach, row in zip(widget.reaches, widget.effects.tolist(), strict=True):
        assert row[-reach] >= 0.1 > max(row[:-reach])
    assert widget.reaches == [12, 10]
    assert (Attention().reaches, Attention(text="").reaches) == ([3, 8], [0, 0])


def test_attention_finds_a_d_wherever_it_stands() -> None:
    """A d makes the n likelier at each distance; of the others but z, none does. The text is new, and goes on so."""
    story = d.load_text()
    n = story.vocab.encode("n")[0]

    def chance(text: str) -> float:
        return Attention(text=text).probs[0, n].item()

    for between in range(10):
        assert chance("d" + "e" * between + " her k") > 0.08 + chance("b" + "e" * between + " her k")
    others = [chance(f"hea{other} upon her k") for other in "abcefghijklmnopqrstuvwxy "]
    assert chance(FAR) > 0.5 and max(others) < 0.4
    assert f"{FAR}nees " in story.vocab.decode(story.heldout_ids)
    assert f"{FAR}nees" not in story.vocab.decode(story.train_ids)


def test_weights_are_where_the_layer_looks() -> None:
    loaded = d.load_pretrained("attention")
    assert loaded.model.embedding is not None
    for text, letter in ((FAR, 15), (FAR, 0), ("x", 1)):
        found = Attention(text=text, letter=letter).weights
        with torch.no_grad():
            inputs = loaded.model.embedding(torch.tensor(loaded.vocab.encode(text))[:, None])
            wanted = loaded.model.rnn.layer.weights(inputs)[0, :, -1].mean(dim=0)
        torch.testing.assert_close(found, wanted)  # of the whole text, as the bars
        torch.testing.assert_close(found.sum(), torch.tensor(1.0))
    assert Attention(text=FAR).weights[:10].argmax() == 3, "of the letters far back"
    assert Attention(text="").weights.shape == (0,)


def test_texts_are_normalised_and_bounded() -> None:
    assert Attention(text="Mr. <Keld>").text == "mr keld "
    assert Attention(text="Zoë läuft").text == "zoe lauft"
    assert Attention(text="x" * 100_000).text == "x" * 16
    assert Attention(text="and the red lantern with bot").text == "lantern with bot"
    empty = Attention(text="")
    assert empty.effects.shape == (2, 0)
    assert empty.static_sentence() == "Type a text." and empty.static_picture()


def test_the_sentence_says_what_is_guessed_with_a_letter_replaced() -> None:
    def said(letter: int) -> str:
        return Attention(text="went quite slac", letter=letter).static_sentence()

    assert said(0) == "Both guess k next. Erase the\u00a0q: press or drag."
    assert Attention(text=FAR).static_sentence() == (
        "Attention guesses n next, the RNN e. Erase the\u00a0d: press or drag."
    )
    assert Attention(text=FAR, letter=4).static_sentence() == (
        "Without the\u00a0d, attention\u2019s guess changes: both guess e."
    )
    assert said(6) == "Without the\u00a0q, attention guesses e, the RNN still k."
    assert said(5) == "Without that space, both still guess k."
    assert said(11) == "Without that space, the RNN guesses h, attention still k."
    assert said(15).startswith("Without the\u00a0c, attention guesses t, and the RNN ")
    assert said(4) == "Without the\u00a0first t, both still guess k."
    assert Attention(text="a" * 16, letter=11).static_sentence().startswith("Without the\u00a011th a, ")
    assert Attention(text="the tide", letter=12).static_sentence() == Attention(text="the tide").static_sentence()


def test_the_averages_are_told_and_drawn() -> None:
    shown = Attention(view="mean")
    assert shown.static_sentence() == "Letter 9: the RNN\u2019s guess changes 232 times, attention\u2019s 10."
    picture = shown.static_picture()
    assert "the RNN\u2019s in 232 of 2\u202f223 passages, attention\u2019s in 10." in picture
    assert ">10%</text>" in picture and ">&lt;1%</text>" in picture and ">16</text>" in picture
    last = Attention(view="mean", letter=16)
    assert last.static_sentence().startswith("Letter 1: ") and ">89%</text>" in last.static_picture()


def test_the_picture_has_the_text_and_two_bars_for_each_letter() -> None:
    picture = Attention(text=FAR, letter=4).static_picture()
    assert picture.count("<rect") == 2 * 15 + 1, "and the empty place"
    assert picture.count(">p</text>") == 1 and ">d</text>" not in picture


def test_the_averages_shown_are_those_of_the_networks(make: ModuleType) -> None:
    """What steps 1 and 2 and the lesson tell, in all passages of 16 letters of new text that start at a word."""
    for name in ("attention", "trained"):
        assert d.load_pretrained(name).vocab.encode("abc xyz") == d.load_text().vocab.encode("abc xyz")
    stored, found = json.loads(make.AVERAGES.read_text(encoding="utf-8")), make.averages()
    assert stored["passages"] == found["passages"] == 2223
    assert stored["reaches"] == found["reaches"] == Attention().reaches, "the first text is a usual one"
    assert stored["equal"] == found["equal"], "make_attention_cases.py"
    assert stored["weights"] == pytest.approx(found["weights"], abs=1e-3)
    for old, new in zip(stored["changes"], found["changes"], strict=True):
        assert old == pytest.approx(new, abs=1)


def test_of_networks_of_equal_size_the_rnn_guesses_better(make: ModuleType) -> None:
    """What the fold tells."""
    stored = json.loads(make.AVERAGES.read_text(encoding="utf-8"))["equal"]
    layers = d.recorded.load_recorded("after_the_chain")["layers"]
    for name, wanted in zip(("attention", "tanh"), stored["perplexities"], strict=True):
        assert round(layers[name]["num_parameters"], -3) == stored["size"] == 24_000
        found = [seed["perplexity"] for seed in layers[name]["equal_updates"]]
        assert round(sum(found) / len(found), 2) == wanted
    assert stored["perplexities"][1] < stored["perplexities"][0]


def test_the_order_of_computing_is_told_and_drawn() -> None:
    shown = Attention(text="tide", view="order", letter=2)
    assert shown.static_sentence() == "All lines take 1 round, their sum 2. The circles take 4."
    picture = shown.static_picture()
    assert [picture.count(f"<{kind} ") for kind in ("path", "circle", "rect")] == [4, 8, 0], "no bars; none is erased"
    assert re.findall(r">(\d+)</text>", picture) == [*"11121314"], "the rounds of each line and circle"
    assert ">t</text>" in picture and Attention(view="order", text="").static_picture()


@pytest.mark.parametrize("wrong", [{"letter": 17}, {"letter": -1}, {"view": "bars"}])
def test_what_is_out_of_range_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(t.TraitError):
        Attention(**wrong)
