"""A text scored line by line: the same sum as `evaluate`, every nat on its line, unknown tokens counted."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import d2lrnn as d
from d2lrnn.ops import scoring
from d2lrnn.study.attention import CausalAttention

STORY = "The tide went out.\n\n  The BOATS lay still -- still!\r\nzyx wvu tsr; qpo nml kji hgf\nand the tide came\nin"


@pytest.fixture
def trained() -> d.pretrained.Pretrained:
    return d.load_pretrained()


def pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize("at_a_time", [1, 5, 4096])
def test_the_sum_is_that_of_evaluate(
    trained: d.pretrained.Pretrained, monkeypatch: pytest.MonkeyPatch, size: int, at_a_time: int
) -> None:
    monkeypatch.setattr(scoring, "_TOKENS_AT_A_TIME", at_a_time)
    ids = torch.tensor(trained.vocab.encode(d.normalize(STORY)))
    expected = d.evaluate(trained.model, ids)
    found = d.ops.scoring.score_text(trained.model, trained.vocab, pieces(STORY, size), num_lines=9, min_tokens=1)
    assert found.score.num_tokens == expected.num_tokens == len(ids) - 1
    assert found.score.total_nats == pytest.approx(expected.total_nats, rel=1e-5)
    assert sum(line.score.num_tokens for line in found.lines) == expected.num_tokens
    assert sum(line.score.total_nats for line in found.lines) == pytest.approx(expected.total_nats, rel=1e-5)
    assert found.unknown == {"-": 2, ".": 1, "!": 1, ";": 1}, "what cleaning leaves out is not known to the model"


LONG = d.normalize(d.load_corpus())[:12_000]


@pytest.mark.parametrize("layer", [d.RNNScratch, d.LSTM])
def test_rows_side_by_side_are_the_text_from_beginning_to_end(layer: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks, rows and pieces are made small, so that there are some of each; every nat is the same."""
    torch.manual_seed(0)
    vocab = d.Vocab(LONG)
    model = d.RNNLM(layer(27, 16), 27)
    ids = np.array(vocab.encode(LONG))
    expected = scoring._Reader(model).read(ids)
    for name, value in {"_ROWS": 5, "_STEPS": 50}.items():
        monkeypatch.setattr(scoring, name, value)
    reader = scoring._Reader(model)
    nats = np.concatenate([reader.read(block) for block in np.split(ids, [1, 3000, 3100, 7000])])
    assert reader.forgets and len(nats) == len(expected) == len(ids) - 1
    np.testing.assert_allclose(nats, expected, rtol=2e-5)
    assert nats.sum() == pytest.approx(expected.sum(), rel=1e-6)
    monkeypatch.setattr(scoring, "_TOKENS_AT_A_TIME", 3000)
    found = d.ops.scoring.score_text(model, vocab, pieces(LONG, 100))
    assert found.score.total_nats == pytest.approx(expected.sum(), rel=1e-6)


def test_a_cache_that_grows_across_pieces_is_read_in_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of a first piece the first reading's cache is shorter than that of the second."""
    for name, value in {"_ROWS": 5, "_STEPS": 50}.items():
        monkeypatch.setattr(scoring, name, value)
    torch.manual_seed(0)
    vocab = d.Vocab(LONG)
    model = d.RNNLM(CausalAttention(27, 8, reach=70), 27)
    ids = np.array(vocab.encode(LONG))
    reader = scoring._Reader(model)
    nats = reader.read(ids)
    assert reader.forgets
    assert nats.sum() == pytest.approx(d.evaluate(model, torch.from_numpy(ids)).total_nats, rel=1e-6)


def test_a_network_that_does_not_forget_reads_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its state turns round and round: what a row begins with is there at its end."""
    for name, value in {"_ROWS": 4, "_STEPS": 20}.items():
        monkeypatch.setattr(scoring, name, value)
    torch.manual_seed(0)
    model = d.RNNLM(Turning(27, 2), 27)
    ids = torch.randint(27, (500,))
    reader = scoring._Reader(model)
    nats = np.concatenate([reader.read(block) for block in np.split(ids.numpy(), [300])])
    assert not reader.forgets
    assert nats.sum() == pytest.approx(d.evaluate(model, ids).total_nats, rel=1e-6)


class Turning(torch.nn.Module):
    def __init__(self, num_inputs: int, num_hiddens: int) -> None:
        super().__init__()
        self.num_inputs, self.num_hiddens = num_inputs, num_hiddens
        self.turn = torch.tensor([[0.8, 0.6], [-0.6, 0.8]])
        self.start = torch.randn(num_inputs, num_hiddens)

    def forward(self, inputs: torch.Tensor, H: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        outputs = []
        for X in inputs:
            H = X @ self.start if H is None else H @ self.turn + 0.01 * X @ self.start
            outputs.append(H)
        return torch.stack(outputs), H


@pytest.mark.parametrize("order", [1, 2, 5, 8])
def test_the_table_of_counts_is_the_ngram_model(order: int) -> None:
    text = d.load_text(max_tokens=9000)
    scores = scoring.score_table(text.train_ids, text.heldout_ids, len(text.vocab), order)
    expected = d.NGramLM(text.train_ids, order, len(text.vocab)).evaluate(text.heldout_ids)
    assert len(scores) == order and scores[-1].num_tokens == expected.num_tokens
    assert scores[-1].total_nats == pytest.approx(expected.total_nats, rel=1e-12)


def test_the_table_of_counts_with_letters_that_training_lacks() -> None:
    train, heldout = torch.tensor([0, 1, 0, 1, 1]), torch.tensor([3, 0, 1, 2, 1])
    for order, score in enumerate(scoring.score_table(train, heldout, 4, 4), start=1):
        assert score.total_nats == pytest.approx(d.NGramLM(train, order, 4).evaluate(heldout).total_nats, rel=1e-12)


def test_every_nat_stands_on_its_line(trained: d.pretrained.Pretrained) -> None:
    found = d.ops.scoring.score_text(trained.model, trained.vocab, [STORY], num_lines=9, min_tokens=1)
    assert found.lines[0].number == 4 and found.lines[0].text == "zyx wvu tsr; qpo nml kji hgf"
    by_number = {line.number: line for line in found.lines}
    # Line 2 is empty: its line end belongs to the run of other characters that ended line 1, and has no token.
    assert sorted(by_number) == [1, 3, 4, 5, 6]
    tokens = {n: len(d.normalize(by_number[n].text + "\n").lstrip()) for n in by_number}
    tokens[1] -= 1  # nothing comes before the first token
    tokens[6] -= 1  # the text ends without a line end
    assert {n: line.score.num_tokens for n, line in by_number.items()} == tokens
    first = d.normalize("The tide went out.")
    ids = torch.tensor(trained.vocab.encode(first))
    assert by_number[1].score.total_nats == pytest.approx(d.evaluate(trained.model, ids).total_nats, rel=1e-5)


def test_the_worst_lines_are_chosen_among_long_enough_ones(trained: d.pretrained.Pretrained) -> None:
    all_lines = d.ops.scoring.score_text(trained.model, trained.vocab, [STORY], num_lines=9, min_tokens=17).lines
    assert [line.score.bits_per_token for line in all_lines] == sorted(
        (line.score.bits_per_token for line in all_lines), reverse=True
    )
    assert {line.number for line in all_lines} == {1, 3, 4, 5}
    two = d.ops.scoring.score_text(trained.model, trained.vocab, [STORY], num_lines=2, min_tokens=17).lines
    assert two == all_lines[:2]
    assert d.ops.scoring.score_text(trained.model, trained.vocab, [STORY], num_lines=0).lines == ()


def test_of_lines_that_are_equal_the_first_comes_first() -> None:
    for num_lines in (1, 2):
        ledger = scoring._Ledger(num_lines, 1)
        for number in (1, 2, 3):
            ledger.see(number, "low tide\n")
        ledger.enter(np.array([1, 1, 2, 2, 3, 3]), np.ones(6))
        assert [line.number for line in ledger.worst()] == [1, 2][:num_lines]


def test_a_state_of_two_parts_differs_where_one_of_them_does() -> None:
    H, C = torch.zeros(3, 4), torch.zeros(3, 4)
    H[1, 2] = C[2, 0] = 1
    assert scoring._differs((H, C), (torch.zeros(3, 4), torch.zeros(3, 4))).tolist() == [False, True, True]


def test_unknown_characters_are_counted_and_left_out(trained: d.pretrained.Pretrained) -> None:
    text = "the tide 1 went 22 out"
    found = d.ops.scoring.score_text(trained.model, trained.vocab, [text], clean=False)
    assert found.unknown == {"1": 1, "2": 2}
    known = torch.tensor(trained.vocab.encode("the tide  went  out"))
    assert found.score.total_nats == pytest.approx(d.evaluate(trained.model, known).total_nats, rel=1e-5)


def test_a_text_is_cleaned_where_the_vocabulary_is_one_of_cleaned_texts() -> None:
    text = "Low tide at 6. HIGH tide at 12!\n" * 3
    raw, cleaned = d.Vocab(text), d.Vocab(d.normalize(text))
    for vocab, read in ((raw, text), (cleaned, d.normalize(text))):
        found = d.ops.scoring.score_text(d.RNNLM(d.RNNScratch(len(vocab), 8), len(vocab)), vocab, [text])
        assert found.score.num_tokens == len(read) - 1
        assert found.unknown.total() == (0 if vocab is raw else 15)


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_words_are_never_torn(size: int) -> None:
    vocab = d.Vocab(["low", "tide", "high", "tide", "<unk>"], unk_token="<unk>")
    torch.manual_seed(0)
    model = d.RNNLM(d.RNNScratch(len(vocab), 4), len(vocab))
    text = "low tide\nhigh  ebb tide"
    found = d.ops.scoring.score_text(model, vocab, pieces(text, size), level="word", num_lines=2, min_tokens=1)
    expected = d.evaluate(model, torch.tensor(vocab.encode(text.split())))
    assert found.score.num_tokens == 4 and found.unknown == {"ebb": 1}
    assert found.score.total_nats == pytest.approx(expected.total_nats, rel=1e-5)
    assert sorted((line.number, line.score.num_tokens) for line in found.lines) == [(1, 1), (2, 3)]


def test_one_endless_line(trained: d.pretrained.Pretrained) -> None:
    text = "the tide went out " * 700
    found = d.ops.scoring.score_text(trained.model, trained.vocab, [text], num_lines=3)
    [line] = found.lines
    assert line.number == 1 and line.text == text[:200] and line.score.num_tokens == len(text) - 1


@pytest.mark.parametrize("text", ["", "a", "123", "潮の満ち引き"])
def test_nothing_to_score(trained: d.pretrained.Pretrained, text: str) -> None:
    with pytest.raises(ValueError, match="Fewer than two tokens of the text are in the vocabulary of 27"):
        d.ops.scoring.score_text(trained.model, trained.vocab, [text], clean=False)


@pytest.mark.parametrize("times", [1, 400])  # one row, and rows side by side
def test_weights_that_are_no_numbers_score_nothing(trained: d.pretrained.Pretrained, times: int) -> None:
    trained.model.b_q.data[3] = math.nan
    with pytest.raises(ValueError, match="logits are not finite"):
        d.ops.scoring.score_text(trained.model, trained.vocab, ["the tide went out and came back "] * times)


def test_a_model_stays_in_the_mode_it_was_in(trained: d.pretrained.Pretrained) -> None:
    trained.model.train()
    assert math.isfinite(d.ops.scoring.score_text(trained.model, trained.vocab, ["low tide"]).score.perplexity)
    assert trained.model.training
