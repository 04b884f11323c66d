"""The arithmetic coder: every text comes back bit for bit, at the size that the surprise promises."""

from __future__ import annotations

import itertools
import math
import random

import pytest
import torch

import d2lrnn as d
from d2lrnn.study import coding


@pytest.mark.parametrize("seed", range(60))
def test_any_text_comes_back(seed: int) -> None:
    rng = random.Random(seed)
    vocab_size = rng.choice([1, 2, 3, 27, 300])
    ids = torch.tensor([rng.randrange(vocab_size) for _ in range(rng.randrange(80))], dtype=torch.long)
    training = torch.tensor([rng.randrange(vocab_size) if rng.random() < 0.5 else 0 for _ in range(200)])
    model = d.NGramLM(training, order=rng.randrange(4), vocab_size=vocab_size)
    assert torch.equal(d.coding.decompress(model, d.coding.compress(model, ids)), ids)


@pytest.mark.slow
def test_size_is_the_surprise_of_a_table() -> None:
    data = d.load_text()
    model = d.NGramLM(data.train_ids, 5, 27)
    page = data.heldout_ids[:3000]
    packed = d.coding.compress(model, page)
    assert torch.equal(d.coding.decompress(model, packed), page)
    # the first token is predicted too, from the letter counts alone
    first_nats = -math.log(model.next_probs([])[page[0]])
    bits = (model.evaluate(page).total_nats + first_nats) / math.log(2)
    header_bits = 32
    # up to two closing bits and a filled byte; shares rounded to whole parts make a bit of difference either way
    assert bits - 1 <= len(packed) * 8 - header_bits <= bits + 1 + 2 + 7


def test_size_is_the_surprise_of_a_network() -> None:
    torch.manual_seed(0)
    model = d.RNNLM(d.RNNScratch(27, 16), vocab_size=27)
    page = d.load_text().heldout_ids[:400]
    packed = d.coding.compress(model, page)
    assert torch.equal(d.coding.decompress(model, packed), page)
    bits = d.evaluate(model, page).total_nats / math.log(2) + math.log2(27)
    assert len(packed) * 8 - 32 == pytest.approx(bits, abs=12)


def test_certainty_costs_nothing_and_surprise_a_lot() -> None:
    model = d.NGramLM(torch.zeros(10_000, dtype=torch.long), order=1, vocab_size=27)
    assert len(d.coding.compress(model, torch.zeros(1000, dtype=torch.long))) <= 4 + 2
    assert len(d.coding.compress(model, torch.full((100,), 5))) > 100


def test_shares_fill_the_whole_and_none_is_empty() -> None:
    for probs in (torch.full((3,), 1 / 3 - 1e-6), torch.tensor([0.0, 1.0, 0.0, 0.0])):
        shares = coding._cumulative_shares(probs)
        assert shares[0] == 0 and shares[-1] == coding._TOTAL
        assert all(start < end for start, end in itertools.pairwise(shares))


def test_an_interval_is_cut_without_a_gap_and_doubled_only_when_its_first_bit_is_sure() -> None:
    top, half, quarter, total = coding._TOP, coding._HALF, coding._QUARTER, coding._TOTAL
    interval = coding._Interval()
    interval.narrow(0, total)
    assert (interval.low, interval.high) == (0, top - 1)
    for low, high in ((0, top - 1), (12_345, half + 6)):
        ends = []
        for start, end in ((0, 7), (7, 8), (8, total)):
            interval.low, interval.high = low, high
            interval.narrow(start, end)
            ends += [interval.low, interval.high + 1]
        assert ends[0] == low and ends[-1] == high + 1 and ends[1:-1:2] == ends[2::2]
    for low, high, bits in (
        (0, half, ""),
        (quarter, 3 * quarter, ""),
        (quarter - 1, 3 * quarter - 1, ""),
        (0, half - 1, "0"),
        (half, top - 1, "1"),
        (quarter, 3 * quarter - 1, "?"),
    ):
        interval.low, interval.high = low, high
        assert "".join(interval.renormalize()) == bits
        assert (interval.low, interval.high) == ((0, top - 1) if bits else (low, high))


def test_bad_input() -> None:
    model = d.NGramLM(torch.tensor([0, 1]), order=1, vocab_size=2)
    for index in (2, -1):
        with pytest.raises(ValueError, match=f"index {index} is not in the model's vocabulary"):
            d.coding.compress(model, torch.tensor([0, index]))
    with pytest.raises(ValueError, match="too few"):
        d.coding.decompress(model, b"\0\0")


def test_weights_that_are_no_numbers_pack_and_unpack_nothing() -> None:
    model = d.RNNLM(d.RNNScratch(3, 4), vocab_size=3)
    ids = torch.tensor([0, 1, 2] * 20)
    packed = d.coding.compress(model, ids)
    model.b_q.data[1] = math.nan
    with pytest.raises(ValueError, match="logits are not finite"):
        d.coding.compress(model, ids)
    with pytest.raises(ValueError, match="logits are not finite"):
        d.coding.decompress(model, packed)


@pytest.mark.parametrize("order", [0, 1, 3])
def test_a_table_is_asked_with_no_more_context_than_it_uses(order: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = d.load_text().heldout_ids[:200]
    model = d.NGramLM(ids, order, 27)
    lengths, ask = [], model.next_probs
    monkeypatch.setattr(model, "next_probs", lambda context: [lengths.append(len(context)), ask(context)][1])
    d.coding.compress(model, ids)
    assert lengths == [min(read, max(order - 1, 0)) for read in range(200)]


@pytest.mark.parametrize("length", [0, 1, 39, 41, 100, 2**32 - 1])
def test_a_length_that_the_code_cannot_have_is_an_error_and_not_an_hour(length: int) -> None:
    torch.manual_seed(0)
    model = d.RNNLM(d.RNNScratch(27, 16), vocab_size=27)
    packed = d.coding.compress(model, d.load_text().heldout_ids[:40])
    with pytest.raises(ValueError, match=f"not what a text of {length} tokens takes"):
        d.coding.decompress(model, length.to_bytes(4, "big") + packed[4:])


@pytest.mark.parametrize("model", [d.NGramLM(torch.tensor([0, 1, 1]), 1, 2), d.NGramLM(torch.tensor([0, 0, 0]), 0, 1)])
def test_no_text_and_one_token(model: d.NGramLM) -> None:
    for length in (0, 1):
        packed = d.coding.compress(model, torch.zeros(length, dtype=torch.long))
        assert len(packed) == 5 and d.coding.decompress(model, packed).tolist() == [0] * length
