"""Tokens, vocabularies and the split."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import d2lrnn as d


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
    with pytest.raises(ValueError, match="unk_token"):
        d.Vocab("aab", min_freq=2)


def test_bad_vocabulary_input() -> None:
    with pytest.raises(ValueError, match="no tokens"):
        d.Vocab([])
    with pytest.raises(IndexError, match="from 0 to 1"):
        d.Vocab("ab").decode([2])
    with pytest.raises(IndexError):
        d.Vocab("ab").decode([-1])
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
        d.load_text(path)
    data = d.load_text(path, clean=False, heldout_fraction=0)
    assert data.vocab.decode(data.train_ids) == "潮水会回来的。潮水会走。"


def test_load_words() -> None:
    data = d.load_text(level="word", max_tokens=1000, min_freq=2, unk_token="<unk>")
    assert len(data.train_ids) + len(data.heldout_ids) == 1000
    assert len(data.vocab) < 300


@pytest.mark.parametrize("bad", [{"heldout_fraction": 1}, {"heldout_fraction": -0.1}, {"max_tokens": 0}])
def test_bad_settings(bad: dict) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        d.load_text(**bad)
