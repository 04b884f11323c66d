"""A text scored line by line: the same sum as `evaluate`, every nat on its line, unknown tokens counted."""

from __future__ import annotations

import math

import pytest
import torch

import d2lrnn as d
from d2lrnn.ops import scoring

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
    assert not found.unknown


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


def test_unknown_characters_are_counted_and_left_out(trained: d.pretrained.Pretrained) -> None:
    text = "the tide 1 went 22 out"
    found = d.ops.scoring.score_text(trained.model, trained.vocab, [text], clean=False)
    assert found.unknown == {"1": 1, "2": 2}
    known = torch.tensor(trained.vocab.encode("the tide  went  out"))
    assert found.score.total_nats == pytest.approx(d.evaluate(trained.model, known).total_nats, rel=1e-5)


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


def test_a_model_stays_in_the_mode_it_was_in(trained: d.pretrained.Pretrained) -> None:
    trained.model.train()
    assert math.isfinite(d.ops.scoring.score_text(trained.model, trained.vocab, ["low tide"]).score.perplexity)
    assert trained.model.training
