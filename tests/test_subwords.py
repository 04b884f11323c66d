"""Byte pair encoding: every text comes back, and the merges are those of a well-kept library."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import pairwise

import pytest
from tokenizers import Tokenizer, models, trainers

import d2lrnn as d
from d2lrnn.study.subwords import Subwords, learn_merges, merge, pieces

TEXTS = {
    "story": d.load_corpus(),
    "ties": "abab baba aabb bbaa " * 3,
    "runs": "aaaa aaaaa aaaaaaa bbb\n\n\n",
    "unicode": "née Zoë naïve 潮の時計 時計 🌊🌊 mañana, año; " * 4,
}


def by_the_library(text: str, num_merges: int) -> Tokenizer:
    """The library's trainer on the same pieces; as Latin-1 every byte is one character, numbered by its value."""
    tokenizer = Tokenizer(models.BPE())
    trainer = trainers.BpeTrainer(
        vocab_size=256 + num_merges, initial_alphabet=[chr(byte) for byte in range(256)], show_progress=False
    )
    tokenizer.train_from_iterator([piece.decode("latin-1") for piece in pieces(text)], trainer)
    return tokenizer


def by_counting_anew(text: str, num_merges: int) -> dict[tuple[int, int], int]:
    """The definition: count all pairs of all pieces, merge the most frequent, and begin again."""
    words = [list(piece) for piece in pieces(text)]
    merges: dict[tuple[int, int], int] = {}
    for new in range(256, 256 + num_merges):
        counts = Counter(pair for word in words for pair in pairwise(word))
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges[best] = new
        words = [merge(word, best, new) for word in words]
    return merges


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_merges_are_those_of_the_library(text: str) -> None:
    num_merges = 1000 if len(text) > 1000 else 20
    model = json.loads(by_the_library(text, num_merges).to_str())["model"]
    theirs = [(model["vocab"][left], model["vocab"][right]) for left, right in model["merges"]]
    assert list(learn_merges(text, num_merges)) == theirs


def test_the_tokens_are_those_of_the_library() -> None:
    tokenizer, library = Subwords.train(TEXTS["story"], 500), by_the_library(TEXTS["story"], 500)
    for piece in {*pieces(TEXTS["story"]), *pieces(TEXTS["unicode"]), b"unheard-of"}:
        assert tokenizer._encode_piece(piece) == library.encode(piece.decode("latin-1")).ids


@pytest.mark.parametrize("name", ["ties", "runs", "unicode"])
def test_counting_only_what_changed_changes_nothing(name: str) -> None:
    assert learn_merges(TEXTS[name], 60) == by_counting_anew(TEXTS[name], 60)


@pytest.mark.parametrize("seed", range(20))
def test_any_text_comes_back(seed: int) -> None:
    rng = random.Random(seed)
    characters = "ab \n\t,.é潮🌊_0'" + "\u00a0\u2028\x00"
    text = "".join(rng.choices(characters, k=rng.randrange(60)))
    tokenizer = Subwords.train("".join(rng.choices(characters, k=200)), rng.randrange(40), ["<|end|>"])
    assert b"".join(pieces(text)) == text.encode("utf-8")
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_a_token_is_its_two_parts_and_reaches_into_no_other_piece() -> None:
    tokenizer = Subwords.train(TEXTS["story"], 300)
    for (left, right), new in tokenizer.merges.items():
        assert tokenizer.tokens[new] == tokenizer.tokens[left] + tokenizer.tokens[right]
        assert b" " not in tokenizer.tokens[new][1:] or not tokenizer.tokens[new].strip()


def test_special_tokens_come_only_when_asked_for() -> None:
    tokenizer = Subwords.train("the end", 3, special_tokens=["<|end|>", "<|end|>!"])
    plain, marked = tokenizer.encode("end<|end|>!"), tokenizer.encode("end<|end|>!", special=True)
    assert max(plain) < len(tokenizer) - 2 and marked[-1] == len(tokenizer) - 1  # the longer one
    assert tokenizer.decode(plain) == tokenizer.decode(marked) == "end<|end|>!"
    assert Subwords({}).encode("<|end|>", special=True) == list(b"<|end|>")


def test_half_a_character_is_shown_as_such() -> None:
    assert Subwords({}).decode("潮".encode()[:2]) == "\ufffd"


def test_fewer_merges_where_nothing_is_left_to_merge() -> None:
    assert learn_merges("ab", 5) == {(97, 98): 256}
    assert learn_merges("", 5) == {}


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(ValueError, match="the next free number is 256"):
        Subwords({(97, 98): 300})
    with pytest.raises(ValueError, match="different from one another"):
        Subwords({}, ["<|end|>", "<|end|>"])
