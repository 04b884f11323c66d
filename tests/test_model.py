"""The language model against a hand-written numpy forward pass, and scoring."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import d2lrnn as d


@pytest.fixture
def model() -> d.RNNLM:
    torch.manual_seed(0)
    return d.RNNLM(d.RNNScratch(6, 5), vocab_size=6).double()


def _numpy_log_probs(model: d.RNNLM, ids: list[int]) -> np.ndarray:
    """ln P(token) after each of the ids, straight from the equations: shape (num_tokens, vocab_size)."""
    W_xh, W_hh, b_h = (p.detach().numpy() for p in (model.rnn.W_xh, model.rnn.W_hh, model.rnn.b_h))
    W_hq, b_q = model.W_hq.detach().numpy(), model.b_q.detach().numpy()
    h, rows = np.zeros(len(b_h)), []
    for index in ids:
        h = np.tanh(W_xh[index] + h @ W_hh + b_h)  # the row that a one-hot vector picks
        o = h @ W_hq + b_q
        rows.append(o - np.log(np.exp(o).sum()))
    return np.array(rows)


def test_forward_equals_numpy(model: d.RNNLM) -> None:
    X = torch.randint(6, (2, 8))
    logits, state = model(X)
    assert logits.shape == (2, 8, 6) and state.shape == (2, 5)
    for row, ids in zip(torch.log_softmax(logits, -1).detach().numpy(), X.tolist()):
        np.testing.assert_allclose(row, _numpy_log_probs(model, ids), rtol=1e-10)


def test_scratch_and_concise_models_agree(model: d.RNNLM) -> None:
    twin = d.RNNLM(d.RNNConcise.from_scratch(model.rnn), vocab_size=6).double()
    twin.W_hq.data.copy_(model.W_hq), twin.b_q.data.copy_(model.b_q)
    X, Y = torch.randint(6, (2, 3, 8))
    torch.testing.assert_close(twin(X)[0], model(X)[0], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(twin.loss(twin(X)[0], Y), model.loss(model(X)[0], Y), rtol=1e-12, atol=1e-12)


def test_one_hot_input_is_an_identity_embedding(model: d.RNNLM) -> None:
    embedded = d.RNNLM(model.rnn, 6, embedding=nn.Embedding.from_pretrained(torch.eye(6).double())).double()
    embedded.W_hq.data.copy_(model.W_hq), embedded.b_q.data.copy_(model.b_q)
    X = torch.randint(6, (2, 8))
    torch.testing.assert_close(embedded(X)[0], model(X)[0])


def test_loss_is_the_mean_over_all_predictions(model: d.RNNLM) -> None:
    X, Y = torch.randint(6, (2, 3, 8))
    logits, _ = model(X)
    by_hand = -torch.log_softmax(logits, -1).gather(-1, Y.unsqueeze(-1)).mean()
    torch.testing.assert_close(model.loss(logits, Y), by_hand)
    assert model.loss(logits, Y).item() == pytest.approx(d.score_logits(logits, Y).nats_per_token)


def test_zero_weights_give_the_uniform_case() -> None:
    model = d.RNNLM(d.RNNScratch(27, 4), vocab_size=27)
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    assert d.evaluate(model, torch.randint(27, (200,))).perplexity == pytest.approx(27, rel=1e-6)


@pytest.mark.parametrize("num_steps", [1, 7, 50, 512])
def test_score_does_not_depend_on_how_the_text_is_read(model: d.RNNLM, num_steps: int) -> None:
    ids = torch.randint(6, (101,), generator=torch.Generator().manual_seed(1))
    log_probs = _numpy_log_probs(model, ids[:-1].tolist())
    nats = -log_probs[np.arange(100), ids[1:].numpy()].sum()
    score = d.evaluate(model, ids, num_steps)
    assert score.num_tokens == 100
    assert score.total_nats == pytest.approx(nats, rel=1e-10)


def test_evaluate_leaves_the_model_as_it_was(model: d.RNNLM) -> None:
    model.train()
    d.evaluate(model, torch.arange(6))
    assert model.training
    assert all(p.grad is None for p in model.parameters())


def test_the_output_layer_starts_within_one_over_the_root_of_the_units() -> None:
    d.seed_everything(0)
    model = d.RNNLM(d.RNNScratch(2000, 25), 2000)
    for weight in (model.W_hq, model.b_q):
        assert -0.2 <= weight.min() < -0.199 and 0.199 < weight.max() <= 0.2


def test_two_tokens_are_enough_to_score(model: d.RNNLM) -> None:
    nats = -torch.log_softmax(model(torch.tensor([[2]]))[0][0, 0], dim=0)[3].item()
    assert d.evaluate(model, torch.tensor([2, 3])).total_nats == pytest.approx(nats)


def test_bad_input(model: d.RNNLM) -> None:
    with pytest.raises(ValueError, match="at least 2"):
        d.evaluate(model, torch.tensor([1]))
    with pytest.raises(ValueError, match="num_steps"):
        d.evaluate(model, torch.arange(5), num_steps=0)
    with pytest.raises(ValueError, match="has a token 6, and the model is made for the tokens 0 to 5"):
        d.evaluate(model, torch.tensor([0, 6]))  # only ever a target
    with pytest.raises(ValueError, match=r"X has shape \(5,\); expected \(batch_size, num_steps\)"):
        model(torch.arange(5))
    for dropout in (1, -0.1):
        with pytest.raises(ValueError, match=f"dropout is {dropout}; "):
            d.RNNLM(d.RNNScratch(6, 5), 6, dropout=dropout)
    with pytest.raises(TypeError, match=r"layer is a RNN, which lacks num_inputs or num_hiddens.*d2lrnn's RNNConcise"):
        d.RNNLM(nn.RNN(6, 5), 6)
    with pytest.raises(ValueError, match="num_inputs=9"):
        d.RNNLM(d.RNNScratch(6, 5), vocab_size=9)
    with pytest.raises(ValueError, match="embedding"):
        d.RNNLM(d.RNNScratch(6, 5), vocab_size=9, embedding=nn.Embedding(9, 4))
    with pytest.raises(ValueError, match="vocab_size"):
        d.RNNLM(d.RNNScratch(6, 5), vocab_size=0)
    with pytest.raises(TypeError, match=r"embedding is of type float; expected an nn.Embedding\(6, 6\).*dropout=0.2"):
        d.RNNLM(d.RNNScratch(6, 5), 6, 0.2)
    with pytest.raises(TypeError, match=r"model is of type RNNScratch; expected .*RNNLM\(rnn, vocab_size\)"):
        d.evaluate(d.RNNScratch(6, 5), torch.arange(5))
    with pytest.raises(ValueError, match=r"ids has shape \(1, 5\); expected one row"):
        d.evaluate(model, torch.arange(5)[None])
    with pytest.raises(TypeError, match=r"ids is of type EncodedText; expected .*train_ids or heldout_ids"):
        d.evaluate(model, d.load_text())


@pytest.mark.parametrize("layer", [d.RNNScratch, d.RNNConcise, d.GRU, d.LSTM])
def test_sizes_of_numpy_are_sizes(layer: type) -> None:
    model = d.RNNLM(layer(np.int64(6), np.int64(5)), np.int64(6), dropout=np.float32(0.5))
    assert model(torch.arange(6)[None])[0].shape == (1, 6, 6)
    sizes = (model.rnn.num_inputs, model.rnn.num_hiddens, model.vocab_size, model.dropout)
    assert sizes == (6, 5, 6, 0.5) and [type(size) for size in sizes] == [int, int, int, float]
    with pytest.raises(TypeError, match="integer"):
        layer(6, 5.0)


@pytest.mark.parametrize("shape", [(8, 3), (3, 7), (24,), (3, 8, 1)])
def test_targets_of_another_shape_have_no_loss(model: d.RNNLM, shape: tuple[int, ...]) -> None:
    """As many in another order, time first, would give a number."""
    logits, _ = model(torch.randint(6, (3, 8)))
    with pytest.raises(ValueError, match=r"expected \(batch_size, num_steps\) = \(3, 8\).* pass Y.T"):
        model.loss(logits, torch.zeros(shape, dtype=torch.long))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bool])
def test_fractions_are_no_tokens(model: d.RNNLM, dtype: torch.dtype) -> None:
    X = torch.zeros(2, 4, dtype=dtype)
    with pytest.raises(TypeError, match=r"The token indices X are of type torch.*must be integers"):
        model(X)
    with pytest.raises(TypeError, match="Y are of type"):
        model.loss(model(X.long())[0], X)
    for call in (d.evaluate, d.warm_up):
        with pytest.raises(TypeError, match="ids are of type"):
            call(model, X[0])


@pytest.mark.parametrize("embedding", [None, nn.Embedding(6, 6)])
@pytest.mark.parametrize("token", [6, 99, -1])
def test_a_token_beyond_the_vocabulary_is_named(embedding: nn.Embedding | None, token: int) -> None:
    with pytest.raises(ValueError, match=f"has a token {token}, and the model is made for the tokens 0 to 5"):
        d.RNNLM(d.RNNScratch(6, 5), 6, embedding)(torch.tensor([[0, token]]))


def test_weights_that_are_no_numbers_have_no_score(model: d.RNNLM) -> None:
    model.b_q.data[0] = torch.nan
    with pytest.raises(ValueError, match=r"not finite numbers.* lower learning rate"):
        d.evaluate(model, torch.arange(5))


def test_perplexity_agrees_with_torch_cross_entropy(model: d.RNNLM) -> None:
    ids = torch.randint(6, (60,))
    logits, _ = model(ids[:-1].unsqueeze(0))
    expected = F.cross_entropy(logits[0], ids[1:]).exp().item()
    assert d.evaluate(model, ids).perplexity == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("embedded", [False, True])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64])
def test_scoring_in_closed_form_is_scoring_by_the_model(embedded: bool, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    table = nn.Embedding(6, 3) if embedded else None
    model = d.RNNLM(d.RNNScratch(3 if embedded else 6, 5), 6, table).double()
    ids = torch.randint(6, (100,)).to(dtype)
    fast = d.evaluate(model, ids, num_steps=17)
    passes = []
    model.register_forward_hook(lambda *_: passes.append(1))  # what has a hook is read by its own forward
    by_model = d.evaluate(model, ids, num_steps=17)
    assert len(passes) == 6
    assert fast.num_tokens == by_model.num_tokens == 99
    assert fast.total_nats == pytest.approx(by_model.total_nats, rel=1e-12)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32])
@pytest.mark.parametrize("embedding", [None, nn.Embedding(6, 6)])
def test_tokens_of_any_integer_type(dtype: torch.dtype, embedding: nn.Embedding | None) -> None:
    """A text that is a memory map hands out bytes."""
    model = d.RNNLM(d.RNNScratch(6, 5), 6, embedding)
    X, Y = torch.randint(6, (2, 3, 8))
    logits, _ = model(X)
    assert torch.equal(model(X.to(dtype))[0], logits)
    assert torch.equal(model.loss(logits, Y.to(dtype)), model.loss(logits, Y))
    assert d.evaluate(model, X[0].to(dtype)) == d.evaluate(model, X[0])
    assert torch.equal(d.warm_up(model, X[0].to(dtype))[0], d.warm_up(model, X[0])[0])
