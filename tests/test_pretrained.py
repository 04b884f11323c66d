"""The networks that the package carries: what the files say of them is true."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

import d2lrnn as d
from train_pretrained import write


def test_four_stages_each_better_than_the_one_before() -> None:
    text = d.load_text()
    claimed, measured = [], []
    for stage in d.pretrained.STAGES:
        loaded = d.load_pretrained(stage)
        assert loaded.vocab.tokens == text.vocab.tokens
        claimed.append(loaded.heldout_perplexity)
        measured.append(d.evaluate(loaded.model, text.heldout_ids).perplexity)
    assert measured == pytest.approx(claimed, rel=1e-3)
    assert measured == sorted(measured, reverse=True)
    assert measured[0] > 25 and measured[-1] < 4


def test_the_number_of_updates_grows_from_none() -> None:
    steps = [d.load_pretrained(stage).num_steps for stage in d.pretrained.STAGES]
    assert steps[0] == 0 and steps == sorted(set(steps))


def test_the_lstm_is_as_good_as_its_file_says() -> None:
    text, loaded = d.load_text(), d.load_pretrained("lstm")
    assert isinstance(loaded.model.rnn, d.LSTM) and loaded.vocab.tokens == text.vocab.tokens
    assert not loaded.model.training and loaded.num_steps > 10_000
    measured = d.evaluate(loaded.model, text.heldout_ids).perplexity
    assert measured == pytest.approx(loaded.heldout_perplexity, rel=1e-3) and measured < 4
    assert len(d.pretrained.pretrained_bytes("lstm")) < 20_000


def test_the_attention_layer_is_as_good_as_its_file_says() -> None:
    text, loaded = d.load_text(), d.load_pretrained("attention")
    assert loaded.vocab.tokens == text.vocab.tokens and not loaded.model.training
    measured = d.evaluate(loaded.model, text.heldout_ids).perplexity
    assert measured == pytest.approx(loaded.heldout_perplexity, rel=1e-3) and measured < 4.2
    assert len(d.pretrained.pretrained_bytes("attention")) < 30_000


def test_an_unknown_stage_names_those_there_are() -> None:
    for load in (d.load_pretrained, d.pretrained.pretrained_bytes):
        with pytest.raises(ValueError, match=r"no stage 'ready'; choose one of untrained.* lstm"):
            load("ready")


def small(**settings: object) -> d.RNNLM:
    return d.RNNLM(d.RNNScratch(3, 4), vocab_size=3, **settings)


ABOUT = {"num_steps": "7", "heldout_perplexity": "2.5"}


def test_what_is_written_here_has_no_public_name() -> None:
    """A pair of load and save would promise that one reads what the other writes: checkpoints do."""
    assert not hasattr(d.pretrained, "save_pretrained")


def test_only_what_the_form_holds_is_written_and_nothing_by_halves(tmp_path: Path) -> None:
    vocab = d.Vocab("abc")
    path = tmp_path / "model.safetensors"
    huge = small()
    nn.init.constant_(huge.b_q, 1e6)
    for model, tokens, message in [
        (d.RNNLM(d.RNNConcise(3, 4), 3), vocab, "around RNNScratch or LSTM"),
        (small(embedding=nn.Embedding(3, 3)), vocab, "around RNNScratch"),
        (small(), d.Vocab(["low", "tide", "a"]), "more than one character"),
        (huge, vocab, "float16"),
    ]:
        with pytest.raises(ValueError, match=message):
            write(path, model, tokens, ABOUT)
    assert not list(tmp_path.iterdir())
    write(path, small(), vocab, ABOUT)
    assert [file.name for file in tmp_path.iterdir()] == ["model.safetensors"]


def test_an_lstm_comes_back_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = d.RNNLM(d.LSTM(3, 4), 3).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_((8 * torch.randn_like(parameter)).round() / 16)  # exact in float16
    folder = tmp_path / "data" / "models"
    folder.mkdir(parents=True)
    write(folder / "lstm.safetensors", model, d.Vocab("abc"), ABOUT)
    monkeypatch.setattr("d2lrnn.study.pretrained.files", lambda package: tmp_path)
    loaded = d.load_pretrained("lstm").model
    X = torch.randint(3, (2, 5))
    torch.testing.assert_close(loaded(X), model(X))


def test_weights_come_back_rounded_to_half_precision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = small()
    folder = tmp_path / "data" / "models"
    folder.mkdir(parents=True)
    write(folder / "trained.safetensors", model, d.Vocab("abc"), ABOUT)
    monkeypatch.setattr("d2lrnn.study.pretrained.files", lambda package: tmp_path)
    loaded = d.load_pretrained()
    assert (loaded.num_steps, loaded.heldout_perplexity) == (7, 2.5) and not loaded.model.training
    for name, tensor in model.state_dict().items():
        assert torch.equal(loaded.model.state_dict()[name], tensor.half().float())


def test_a_vocabulary_in_a_given_order() -> None:
    assert d.Vocab.from_tokens("cab").encode("abc") == [1, 2, 0]
    words = d.Vocab.from_tokens(["<unk>", "tide"], unk_token="<unk>")
    assert words.encode(["tide", "ebb"]) == [1, 0]
    with pytest.raises(ValueError, match="'a' stands in the list twice"):
        d.Vocab.from_tokens("abca")
    with pytest.raises(ValueError, match="must be the first"):
        d.Vocab.from_tokens(["tide", "<unk>"], unk_token="<unk>")
    with pytest.raises(ValueError, match="no tokens"):
        d.Vocab.from_tokens([])
