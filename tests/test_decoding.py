"""Warm-up and the ways to pick the next token."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

import d2lrnn as d

VOCAB = d.Vocab("abcd")
LOGITS = torch.tensor([0.0, 2.0, 1.0, -1.0])


@pytest.fixture
def model() -> d.RNNLM:
    torch.manual_seed(0)
    return d.RNNLM(d.RNNScratch(4, 6), vocab_size=4)


def test_warm_up_reads_the_whole_prefix(model: d.RNNLM) -> None:
    logits, state = d.warm_up(model, [0, 1, 2])
    all_logits, final = model(torch.tensor([[0, 1, 2]]))
    torch.testing.assert_close(logits, all_logits[0, -1])
    torch.testing.assert_close(state, final)
    assert not logits.requires_grad
    assert not torch.equal(logits, d.warm_up(model, [3, 1, 2])[0])  # same end, other beginning
    with pytest.raises(ValueError, match="has a token 4, and the model is made for the tokens 0 to 3"):
        d.warm_up(model, [0, 4])


def test_greedy_generation_is_the_argmax_chain(model: d.RNNLM) -> None:
    ids = [0, 1]
    for _ in range(12):
        ids.append(int(model(torch.tensor([ids]))[0][0, -1].argmax()))
    assert d.generate(model, VOCAB, "ab", 12, temperature=0) == VOCAB.decode(ids)


def test_sampling_draws_the_models_own_distribution(model: d.RNNLM) -> None:
    generator = torch.Generator().manual_seed(0)
    expected = torch.softmax(d.warm_up(model, VOCAB.encode("ab"))[0], 0)
    drawn = [d.generate(model, VOCAB, "ab", 1, generator=generator)[-1] for _ in range(4000)]
    counts = torch.tensor([drawn.count(token) / 4000 for token in VOCAB.tokens])
    assert (counts - expected).abs().max() < 0.03  # four standard errors


def test_same_seed_same_text(model: d.RNNLM) -> None:
    texts = [d.generate(model, VOCAB, "ab", 30, generator=torch.Generator().manual_seed(4)) for _ in range(2)]
    assert texts[0] == texts[1]
    assert texts[0] != d.generate(model, VOCAB, "ab", 30, generator=torch.Generator().manual_seed(5))


def test_no_token_to_add_gives_the_prefix_back(model: d.RNNLM) -> None:
    assert d.generate(model, VOCAB, "ab", 0) == "ab"


def test_generation_leaves_the_weights_as_they_were(model: d.RNNLM) -> None:
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    d.generate(model, VOCAB, "ab", 20)
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())


def test_arguments_in_another_order(model: d.RNNLM) -> None:
    for arguments in (("ab", 3, VOCAB), (VOCAB, 3, "ab"), ("ab", VOCAB, 3)):
        with pytest.raises(TypeError, match=r"the order is generate\(model, vocab, prefix, num_tokens\)"):
            d.generate(model, *arguments)
        with pytest.raises(TypeError, match=r"the order is beam_search\(model, vocab, prefix, num_tokens\)"):
            d.beam_search(model, *arguments)


def test_what_is_no_vocabulary_and_no_model(model: d.RNNLM) -> None:
    for function in (d.generate, d.beam_search):
        with pytest.raises(TypeError, match=r"vocab is an EncodedText; .* pass text\.vocab"):
            function(model, d.load_text(), "the", 5)
        with pytest.raises(TypeError, match="model is of type GRU; expected a language model"):
            function(d.GRU(4, 6), VOCAB, "ab", 5)
    with pytest.raises(TypeError, match="model is of type GRU; expected a language model"):
        d.warm_up(d.GRU(4, 6), [0])


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_weights_that_are_no_numbers_write_nothing(model: d.RNNLM, bad: float) -> None:
    model.b_q.data[1] = bad
    for call in (
        lambda: d.beam_search(model, VOCAB, "ab", 3),
        lambda: d.generate(model, VOCAB, "ab", 3),
        lambda: d.generate(model, VOCAB, "ab", 3, temperature=0),
    ):
        with pytest.raises(ValueError, match=r"not finite numbers.* lower learning rate"):
            call()


@pytest.mark.parametrize("settings", [{}, {"temperature": 0}, {"top_k": 2}])
@pytest.mark.parametrize("shape", [(2, 4), (1, 4), ()])
def test_logits_of_several_tokens_are_no_distribution(shape: tuple[int, ...], settings: dict) -> None:
    with pytest.raises(ValueError, match=r"expected \(vocab_size,\).* take logits\[0, -1\]"):
        d.next_token_probs(torch.zeros(shape), **settings)


def test_a_vocabulary_of_another_model(model: d.RNNLM) -> None:
    for function in (d.generate, d.beam_search):
        with pytest.raises(ValueError, match="The vocabulary has 5 tokens and the model is made for 4"):
            function(model, d.Vocab("abcde"), "e", 3)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_temperature_divides_the_logits(temperature: float) -> None:
    torch.testing.assert_close(d.next_token_probs(LOGITS, temperature), torch.softmax(LOGITS / temperature, 0))


def test_extreme_temperatures() -> None:
    greedy = [0.0, 1.0, 0.0, 0.0]
    assert d.next_token_probs(LOGITS, 0).tolist() == greedy
    assert d.next_token_probs(LOGITS * 1e10, 1e-30).tolist() == greedy  # no overflow on the way to greedy
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        assert d.next_token_probs(LOGITS.to(dtype), 1e-50).tolist() == greedy  # less than a float32 can hold
    torch.testing.assert_close(d.next_token_probs(LOGITS, 1e30), torch.full((4,), 0.25))


def test_top_k_keeps_the_k_likeliest_in_proportion() -> None:
    probs = torch.softmax(LOGITS, 0)
    torch.testing.assert_close(
        d.next_token_probs(LOGITS, top_k=2), torch.tensor([0, 1, 1, 0]) * probs / probs[1:3].sum()
    )
    torch.testing.assert_close(d.next_token_probs(LOGITS, top_k=99), probs)
    assert d.next_token_probs(LOGITS, top_k=1).tolist() == [0, 1, 0, 0]


def test_top_p_keeps_the_smallest_sufficient_set() -> None:
    probs = torch.softmax(LOGITS, 0)  # 0.087, 0.644, 0.237, 0.032
    for top_p, kept in [(0.6, [1]), (0.65, [1, 2]), (0.87, [1, 2]), (0.9, [0, 1, 2]), (1.0, [0, 1, 2, 3])]:
        result = d.next_token_probs(LOGITS, top_p=top_p)
        assert result.nonzero().flatten().tolist() == kept
        torch.testing.assert_close(result[kept], probs[kept] / probs[kept].sum())
    assert d.next_token_probs(LOGITS, top_p=1e-9).tolist() == [0, 1, 0, 0]
    assert d.next_token_probs(torch.zeros(4), top_p=0.5).tolist() == [0.5, 0.5, 0, 0]  # reached is enough


def test_top_p_of_one_keeps_every_token() -> None:
    """The float32 sum of these probabilities reaches 1 after seventeen of fifty."""
    logits = torch.randn(50, generator=torch.Generator().manual_seed(0)) * 6
    assert torch.softmax(logits, 0).sort(descending=True).values.cumsum(0)[-10] >= 1
    probs = d.next_token_probs(logits, top_p=1.0)
    assert (probs > 0).all()
    torch.testing.assert_close(probs, torch.softmax(logits, 0))


def test_top_k_comes_before_top_p() -> None:
    # within the two likeliest, the first holds 0.73 of the probability
    assert d.next_token_probs(LOGITS, top_k=2, top_p=0.7).tolist() == [0, 1, 0, 0]
    assert d.next_token_probs(LOGITS, top_p=0.7).nonzero().flatten().tolist() == [1, 2]
    assert d.next_token_probs(LOGITS, top_k=2, top_p=0.8).nonzero().flatten().tolist() == [1, 2]


def test_min_p_brings_back_nothing_that_top_k_or_top_p_has_left_out() -> None:
    for settings in ({"top_k": 1}, {"top_p": 0.6}):
        for min_p in (0.0, 0.1):
            assert d.next_token_probs(LOGITS, **settings, min_p=min_p).tolist() == [0, 1, 0, 0]
    assert d.next_token_probs(LOGITS, top_k=3, min_p=0.3).nonzero().flatten().tolist() == [1, 2]


def test_min_p_keeps_what_is_not_much_less_likely_than_the_first() -> None:
    probs = torch.softmax(LOGITS, 0)  # 0.087, 0.644, 0.237, 0.032; as shares of the largest 0.135, 1, 0.368, 0.050
    for min_p, kept in [(1.0, [1]), (0.4, [1]), (0.3, [1, 2]), (0.1, [0, 1, 2]), (0.0, [0, 1, 2, 3])]:
        result = d.next_token_probs(LOGITS, min_p=min_p)
        assert result.nonzero().flatten().tolist() == kept
        torch.testing.assert_close(result[kept], probs[kept] / probs[kept].sum())
    assert d.next_token_probs(torch.zeros(4), min_p=1.0).tolist() == [0.25] * 4  # all as likely as the first
    # heat first: at temperature 2 the shares are the square roots of those above
    assert d.next_token_probs(LOGITS, temperature=2.0, min_p=0.3).nonzero().flatten().tolist() == [0, 1, 2]


@torch.no_grad()
def log_probability(model: d.RNNLM, text: str, num_read: int) -> float:
    """Logarithm of the probability of what follows the first `num_read` tokens, in one pass over the text."""
    ids = torch.tensor(VOCAB.encode(text))
    log_probs = torch.log_softmax(model(ids[:-1].unsqueeze(0))[0][0], dim=-1)
    return float(log_probs.gather(1, ids[1:].unsqueeze(1))[num_read - 1 :].sum())


@pytest.fixture(params=[d.RNNScratch, d.RNNConcise, d.GRU, d.LSTM], ids=lambda layer: layer.__name__)
def sharp_model(request: pytest.FixtureRequest) -> d.RNNLM:
    torch.manual_seed(1)
    model = d.RNNLM(request.param(4, 6), vocab_size=4)
    model.W_hq.data *= 6  # far from uniform, so that paths differ
    return model


def test_one_beam_is_greedy(sharp_model: d.RNNLM) -> None:
    [(text, log_prob)] = d.beam_search(sharp_model, VOCAB, "ab", 12, num_beams=1)
    assert text == d.generate(sharp_model, VOCAB, "ab", 12, temperature=0)
    assert log_prob == pytest.approx(log_probability(sharp_model, text, 2), abs=1e-4)


def test_with_enough_beams_the_search_is_exhaustive(sharp_model: d.RNNLM) -> None:
    found = d.beam_search(sharp_model, VOCAB, "ab", 3, num_beams=64)
    texts = ["ab" + "".join(end) for end in itertools.product("abcd", repeat=3)]
    expected = sorted(((log_probability(sharp_model, text, 2), text) for text in texts), reverse=True)
    assert [text for text, _ in found] == [text for _, text in expected]
    assert [log_prob for _, log_prob in found] == pytest.approx([log_prob for log_prob, _ in expected], abs=1e-5)
    assert sum(math.exp(log_prob) for _, log_prob in found) == pytest.approx(1, abs=1e-5)


def test_beams_keep_their_own_states(sharp_model: d.RNNLM) -> None:
    found = d.beam_search(sharp_model, VOCAB, "ab", 10, num_beams=5)
    log_probs = [log_prob for _, log_prob in found]
    assert len({text for text, _ in found}) == 5 and log_probs == sorted(log_probs, reverse=True)
    for text, log_prob in found:
        assert log_prob == pytest.approx(log_probability(sharp_model, text, 2), abs=1e-4)


def test_a_beam_search_finds_what_greedy_decoding_misses() -> None:
    class TwoSteps(torch.nn.Module):  # a: 0.6, then anything; b: 0.4, then b for sure
        num_inputs, num_hiddens = 4, 4

        def forward(self, inputs: torch.Tensor, state: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
            return inputs, inputs[-1]

    model = d.RNNLM(TwoSteps(), vocab_size=4)
    table = torch.tensor([[0.25, 0.25, 0.25, 0.25], [0.03, 0.91, 0.03, 0.03], [0.6, 0.4, 1e-9, 1e-9], [0.25] * 4])
    model.W_hq.data, model.b_q.data = table.log(), torch.zeros(4)
    assert d.generate(model, VOCAB, "c", 2, temperature=0) == "caa"
    [(text, log_prob), _] = d.beam_search(model, VOCAB, "c", 2, num_beams=2)
    assert text == "cbb" and math.exp(log_prob) == pytest.approx(0.4 * 0.91, abs=1e-4)


def test_a_beam_search_leaves_the_model_as_it_was_and_may_add_nothing(model: d.RNNLM) -> None:
    model.train()
    assert d.beam_search(model, VOCAB, "ab", 0) == [("ab", 0.0)]
    assert model.training


WORDS = d.Vocab(["the", "tide", "the", "clock", "the", "tide"], unk_token="<unk>")


@pytest.fixture
def word_model() -> d.RNNLM:
    torch.manual_seed(0)
    return d.RNNLM(d.RNNScratch(5, 6), vocab_size=len(WORDS), embedding=torch.nn.Embedding(len(WORDS), 5))


def test_words_are_split_at_white_space_and_joined_with_one(word_model: d.RNNLM) -> None:
    from_list = d.generate(word_model, WORDS, ["the", "tide"], 8, generator=torch.Generator().manual_seed(1))
    from_text = d.generate(word_model, WORDS, " the  tide\n", 8, generator=torch.Generator().manual_seed(1))
    assert from_list == from_text
    written = from_list.split(" ")
    assert written[:2] == ["the", "tide"] and len(written) == 10
    assert all(word in WORDS for word in written)


def test_a_list_is_taken_token_by_token(model: d.RNNLM) -> None:
    assert d.generate(model, VOCAB, ["a", "b"], 0) == "ab"


def test_excluded_tokens_are_never_drawn_and_the_others_keep_their_proportions(word_model: d.RNNLM) -> None:
    word_model.b_q.data[WORDS.index("<unk>")] = 20  # nearly all of the probability
    plain = d.generate(word_model, WORDS, "the", 20, generator=torch.Generator().manual_seed(1))
    assert plain.split()[1:] == ["<unk>"] * 20
    for temperature in (0, 1.0):
        text = d.generate(word_model, WORDS, "the", 20, temperature=temperature, exclude=["<unk>"])
        assert "<unk>" not in text and len(text.split()) == 21
    generator = torch.Generator().manual_seed(0)
    drawn = [
        d.generate(word_model, WORDS, "the", 1, exclude=["<unk>"], generator=generator).split()[-1] for _ in range(4000)
    ]
    logits, _ = d.warm_up(word_model, WORDS.encode(["the"]))
    expected = torch.softmax(logits[1:], 0)
    counts = torch.tensor([drawn.count(word) / 4000 for word in WORDS.tokens[1:]])
    assert (counts - expected).abs().max() < 0.03  # four standard errors


def test_a_single_token_to_exclude_may_be_a_string(word_model: d.RNNLM) -> None:
    assert "the" not in d.generate(word_model, WORDS, "tide", 50, exclude="the").split()


def test_what_cannot_be_excluded_is_an_error(word_model: d.RNNLM) -> None:
    with pytest.raises(ValueError, match="'moon' is to be excluded, and is not in the vocabulary"):
        d.generate(word_model, WORDS, "the", 3, exclude=["moon"])
    with pytest.raises(ValueError, match="Every token is excluded"):
        d.generate(word_model, WORDS, "the", 3, exclude=WORDS.tokens)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"temperature": -0.1}, "temperature is -0.1"),
        ({"temperature": math.nan}, "temperature is nan"),
        ({"temperature": math.inf}, "temperature is inf"),
        ({"top_k": 0}, "top_k is 0"),
        ({"top_p": 0.0}, "top_p is 0"),
        ({"top_p": 1.1}, "top_p is 1.1"),
        ({"min_p": 1.1}, "min_p is 1.1"),
        ({"min_p": -0.1}, "min_p is -0.1"),
        ({"prefix": ""}, "prefix is empty"),
        ({"prefix": "abz"}, "'z' is not in the vocabulary"),
        ({"num_tokens": -1}, "num_tokens is -1"),
    ],
)
def test_bad_input(model: d.RNNLM, setting: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        d.generate(model, VOCAB, **{"prefix": "ab", "num_tokens": 3, **setting})


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"num_beams": 0}, "num_beams is 0"),
        ({"num_tokens": -1}, "num_tokens is -1"),
        ({"prefix": ""}, "prefix is empty"),
    ],
)
def test_bad_input_to_a_beam_search(model: d.RNNLM, setting: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        d.beam_search(model, VOCAB, **{"prefix": "ab", "num_tokens": 3, **setting})
