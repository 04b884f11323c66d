"""Tokens, vocabularies and the split."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import d2lrnn as d
from d2lrnn.text import count_left_out, encode_text


def test_normalize_keeps_27_symbols() -> None:
    assert d.normalize("It's 4 o'clock:\n\nTHE tide, café!") == "it s o clock the tide caf "
    assert len(set(d.normalize(d.load_corpus()))) == 27


def test_vocab_order_is_by_frequency_then_alphabet() -> None:
    vocab = d.Vocab("bbaac")
    assert vocab.tokens == ("a", "b", "c")
    assert vocab.token_freqs == [("a", 2), ("b", 2), ("c", 1)]
    assert "a" in vocab and "z" not in vocab


def test_encode_decode_round_trip() -> None:
    text = d.normalize(d.load_corpus())
    vocab = d.Vocab(text)
    assert vocab.decode(vocab.encode(text)) == text
    words = text.split()
    vocab = d.Vocab(words)
    assert vocab.decode(torch.tensor(vocab.encode(words))) == " ".join(words)


def test_unknown_token_is_an_error_or_the_unknown() -> None:
    with pytest.raises(ValueError, match=r"'é' is not in the vocabulary of 4 tokens.*normalize"):
        d.Vocab("cafe").encode("café")
    vocab = d.Vocab("cafe", unk_token="<unk>")
    assert vocab.encode("caé")[-1] == 0
    assert vocab.decode([0, 1]) == "<unk>a"
    assert d.Vocab(["<unk>", "a", "<unk>"], unk_token="<unk>").tokens == ("<unk>", "a")


def test_rare_tokens_need_a_stand_in() -> None:
    assert d.Vocab("aab", min_freq=2, unk_token="<unk>").encode("ab") == [1, 0]
    with pytest.raises(ValueError, match=r"min_freq=2 drops rare tokens.* unk_token"):
        d.Vocab("aab", min_freq=2)
    assert d.Vocab("aabb", min_freq=2).tokens == ("a", "b")  # none is rare


def test_a_vocabulary_in_words() -> None:
    assert repr(d.Vocab(["the", "tide"])) == "<Vocab of 2 tokens: 'the', 'tide'>"
    assert repr(d.Vocab("abc")) == "<Vocab of 3 tokens: 'abc'>"


def test_bad_vocabulary_input() -> None:
    with pytest.raises(ValueError, match="no tokens"):
        d.Vocab([])
    for token in (1, None, ("a", "b"), b"a"):
        with pytest.raises(TypeError, match=rf"The token .* is of type {type(token).__name__}; .* are strings"):
            d.Vocab(["a", token])
        with pytest.raises(TypeError, match="are strings"):
            d.Vocab.from_tokens([token])
    with pytest.raises(ValueError, match=r"'l' is not in the vocabulary of 2 tokens .*tokenize\(text, 'word'\)"):
        d.Vocab(["low", "tide"]).encode("low tide")
    with pytest.raises(ValueError, match=r"'moon' is not in the vocabulary of 2 tokens .*normalize"):
        d.Vocab(["low", "tide"]).encode(["low", "moon"])
    with pytest.raises(IndexError, match="from 0 to 1"):
        d.Vocab("ab").decode([2])
    with pytest.raises(IndexError):
        d.Vocab("ab").decode([-1])
    for bad in ([[0, 1]], torch.tensor([[0], [1]])):
        with pytest.raises(ValueError, match=r"indices has shape .* expected one row"):
            d.Vocab("ab").decode(bad)
    with pytest.raises(TypeError, match="must be integers"):
        d.Vocab("ab").decode([0.9, 1.9])  # type: ignore[list-item]
    for vocab in (d.Vocab("ab"), d.Vocab("ab", unk_token="<unk>")):
        with pytest.raises(TypeError, match="The token 1 is of type int; tokens are strings"):
            vocab.encode([1, 2])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="'char' or 'word'"):
        d.tokenize("a", "byte")  # type: ignore[arg-type]


def test_split_neither_overlaps_nor_loses() -> None:
    whole = d.load_text(heldout_fraction=0)
    data = d.load_text(heldout_fraction=0.1)
    assert len(whole.heldout_ids) == 0
    torch.testing.assert_close(torch.cat([data.train_ids, data.heldout_ids]), whole.train_ids)
    assert len(data.heldout_ids) == round(0.1 * len(whole.train_ids))
    assert data.vocab.tokens == whole.vocab.tokens


def test_load_own_text(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("潮水会回来的。潮水会走。", encoding="utf-8")
    with pytest.raises(ValueError, match="clean=False"):
        d.load_text(path, clean=True)
    data = d.load_text(path, heldout_fraction=0)
    assert data.vocab.decode(data.train_ids) == "潮水会回来的。潮水会走。"


def test_a_file_of_your_own_keeps_its_characters_and_a_named_corpus_is_cleaned(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("Grüße!\n", encoding="utf-8")
    assert set(d.load_text(path).vocab.tokens) == set("Grüße!\n")
    assert set(d.load_text(path, clean=True).vocab.tokens) == set("gr e")
    assert set(d.load_text().vocab.tokens) == set("abcdefghijklmnopqrstuvwxyz ")
    assert len(d.load_text(clean=False).vocab) > 50


def test_what_cleaning_leaves_out_is_counted() -> None:
    text = d.load_corpus()
    left_out = count_left_out(text)
    kept = [char for char in text if char not in left_out]
    assert left_out["."] > 100 and not any(char.isspace() or char.isalpha() for char in left_out)
    assert d.normalize("".join(kept)).replace(" ", "") == d.normalize(text).replace(" ", "")


def test_load_words() -> None:
    data = d.load_text(level="word", max_tokens=1000, min_freq=2, unk_token="<unk>")
    assert len(data.train_ids) + len(data.heldout_ids) == 1000
    assert len(data.vocab) < 300


def test_words_are_those_of_the_training_part(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("one two two three " * 5 + "four", encoding="utf-8")
    data = d.load_text(path, "word")
    assert data.vocab.tokens == ("<unk>", "two", "one", "three")
    assert data.vocab.decode(data.heldout_ids) == "three <unk>"
    assert "four" in d.load_text(path, "word", heldout_fraction=0).vocab.tokens


def test_a_vocabulary_has_a_limit_that_counts_the_unknown_one() -> None:
    assert d.Vocab("aaabbc", unk_token="<unk>", max_size=3).tokens == ("<unk>", "a", "b")
    assert d.Vocab("aaabbc", max_size=3).tokens == ("a", "b", "c")
    words = ["a", "a", "b", "b", "<unk>"]  # as in Penn Treebank, where it is a word of the text
    assert d.Vocab(words, unk_token="<unk>", max_size=2).tokens == ("<unk>", "a")
    with pytest.raises(ValueError, match="max_size=2 drops rare tokens"):
        d.Vocab("aaabbc", max_size=2)
    with pytest.raises(ValueError, match="at least 2"):
        d.Vocab("aaabbc", unk_token="<unk>", max_size=1)
    with pytest.raises(ValueError, match="max_vocab is 1"):
        encode_text("aaabbc", max_vocab=1)
    data = encode_text("aaabbc", max_vocab=2, heldout_fraction=0)
    assert data.vocab.tokens == ("<unk>", "a") and data.train_ids.tolist() == [1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize("bad", [{"heldout_fraction": 1}, {"heldout_fraction": -0.1}, {"max_tokens": 0}])
def test_bad_settings(bad: dict) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        d.load_text(**bad)


@pytest.mark.parametrize(
    ("tokens", "shown"),
    [
        ("machine", "<Vocab of 7 tokens: 'acehimn'>"),
        (["the", "tide"], "<Vocab of 2 tokens: 'the', 'tide'>"),
        (["it's", "a"], """<Vocab of 2 tokens: 'a', "it's">"""),
        ([str(n) for n in range(10, 30)], "<Vocab of 20 tokens: '10', '11', '12', '13', '14', '15', ...>"),
        ([chr(256 + n) for n in range(41)], f"<Vocab of 41 tokens: {''.join(map(chr, range(256, 296))) + '...'!r}>"),
    ],
)
def test_a_vocabulary_shows_its_tokens(tokens: list[str] | str, shown: str) -> None:
    assert repr(d.Vocab(tokens)) == shown
