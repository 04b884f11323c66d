"""The table of counts: probabilities by hand, and the perplexities that a network has to beat."""

from __future__ import annotations

import math

import pytest
import torch

import d2lrnn as d

IDS = torch.tensor([0, 1, 0, 1, 0, 2])


def test_witten_bell_by_hand() -> None:
    unigram = [(3 + 1) / 9, (2 + 1) / 9, (1 + 1) / 9]  # counts 3, 2, 1; three types; the uniform 1/3 behind them
    assert d.NGramLM(IDS, 1, 3).next_probs([]).tolist() == pytest.approx(unigram)
    after_0 = [(count + 2 * p) / 5 for count, p in zip([0, 2, 1], unigram)]  # 0 was followed by 1, 1, 2
    assert d.NGramLM(IDS, 2, 3).next_probs([0]).tolist() == pytest.approx(after_0)
    after_10 = [(count + 2 * p) / 4 for count, p in zip([0, 1, 1], after_0)]  # 1 0 was followed by 1 and by 2
    assert d.NGramLM(IDS, 3, 3).next_probs([1, 0]).tolist() == pytest.approx(after_10)


def test_unseen_contexts_fall_back_to_shorter_ones() -> None:
    model = d.NGramLM(IDS, 3, 3)
    torch.testing.assert_close(model.next_probs([2, 0]), d.NGramLM(IDS, 2, 3).next_probs([0]))
    torch.testing.assert_close(model.next_probs([2]), d.NGramLM(IDS, 1, 3).next_probs([]))
    torch.testing.assert_close(model.next_probs([2, 2, 1, 0]), model.next_probs([1, 0]))


@pytest.mark.parametrize("order", [0, 1, 2, 5])
def test_every_distribution_sums_to_one_and_leaves_nothing_out(order: int) -> None:
    data = d.load_text(max_tokens=3000)
    model = d.NGramLM(data.train_ids, order, 27)
    for context in ([], data.heldout_ids[:7], data.vocab.encode("qqqq"), data.vocab.encode("the ")):
        probs = model.next_probs(context)
        assert probs.sum().item() == pytest.approx(1)
        assert probs.min() > 0


def test_score_is_the_product_of_its_predictions() -> None:
    data = d.load_text(max_tokens=3000)
    model = d.NGramLM(data.train_ids, 4, 27)
    ids = data.heldout_ids[:50]
    nats = -sum(math.log(model.next_probs(ids[:t])[ids[t]]) for t in range(1, 50))
    score = model.evaluate(ids)
    assert score.num_tokens == 49
    assert score.total_nats == pytest.approx(nats)


def test_order_0_is_uniform() -> None:
    assert d.NGramLM(IDS, 0, 27).evaluate(IDS).perplexity == pytest.approx(27)


def test_contexts_are_counted() -> None:
    assert d.NGramLM(IDS, 3, 3).num_contexts == (1, 2, 2)  # nothing; 0, 1; 01, 10


@pytest.mark.slow
def test_baselines_of_the_embedded_corpus() -> None:
    """The curve has its minimum at five: longer contexts are too rarely seen again."""
    data = d.load_text()
    perplexities = [d.NGramLM(data.train_ids, n, 27).evaluate(data.heldout_ids).perplexity for n in range(1, 7)]
    assert perplexities == pytest.approx([15.909, 8.852, 5.410, 3.983, 3.635, 3.675], abs=5e-4)


def test_two_tokens_are_enough_to_score() -> None:
    model = d.NGramLM(IDS, 2, 3)
    assert model.evaluate(IDS[:2]).total_nats == pytest.approx(-math.log(model.next_probs(IDS[:1])[IDS[1]]))


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="order is -1"):
        d.NGramLM(IDS, -1, 3)
    with pytest.raises(ValueError, match="empty"):
        d.NGramLM(IDS[:0], 2, 3)
    with pytest.raises(ValueError, match="index 2 is not in a vocabulary of 2"):
        d.NGramLM(IDS, 2, 2)
    with pytest.raises(ValueError, match="index 9"):
        d.NGramLM(IDS, 2, 3).next_probs([9])
    with pytest.raises(ValueError, match="at least 2"):
        d.NGramLM(IDS, 2, 3).evaluate(IDS[:1])
    model, fractions = d.NGramLM(IDS, 2, 3), torch.tensor([0.9, 1.9])
    for call in (lambda ids: d.NGramLM(ids, 2, 3), model.evaluate, model.next_probs):
        with pytest.raises(TypeError, match=r"ids are of type torch.float32; they must be integers"):
            call(fractions)
