"""GRU and LSTM: the interface of the other layers, torch's own numbers, their start, and weight dropout."""

from __future__ import annotations

import pytest
import torch

import d2lrnn as d

LAYERS = [d.GRU, d.LSTM]


@pytest.mark.parametrize("layer", LAYERS)
def test_two_halves_with_the_state_carried_equal_one_run(layer: type) -> None:
    torch.manual_seed(0)
    rnn, inputs = layer(3, 4).double(), torch.randn(7, 2, 3, dtype=torch.float64)
    whole, _ = rnn(inputs)
    first, state = rnn(inputs[:4])
    second, _ = rnn(inputs[4:], state)
    torch.testing.assert_close(torch.cat([first, second]), whole, rtol=1e-12, atol=1e-12)


def test_lstm_equals_its_equations() -> None:
    torch.manual_seed(1)
    rnn, X = d.LSTM(3, 4).double(), torch.randn(5, 2, 3, dtype=torch.float64)
    outputs, (H_last, C_last) = rnn(X)
    H = C = torch.zeros(2, 4, dtype=torch.float64)
    w = rnn.rnn
    for x, expected in zip(X, outputs):
        gates = x @ w.weight_ih_l0.T + w.bias_ih_l0 + H @ w.weight_hh_l0.T + w.bias_hh_l0
        i, f, g, o = gates.chunk(4, dim=1)
        C = torch.sigmoid(f) * C + torch.sigmoid(i) * torch.tanh(g)
        H = torch.sigmoid(o) * torch.tanh(C)
        torch.testing.assert_close(H, expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close((H, C), (H_last, C_last))


def test_gru_equals_its_equations() -> None:
    torch.manual_seed(2)
    rnn, X = d.GRU(3, 4).double(), torch.randn(5, 2, 3, dtype=torch.float64)
    outputs, _ = rnn(X)
    H = torch.zeros(2, 4, dtype=torch.float64)
    w = rnn.rnn
    for x, expected in zip(X, outputs):
        i_r, i_z, i_n = (x @ w.weight_ih_l0.T + w.bias_ih_l0).chunk(3, dim=1)
        h_r, h_z, h_n = (H @ w.weight_hh_l0.T + w.bias_hh_l0).chunk(3, dim=1)
        r, z = torch.sigmoid(i_r + h_r), torch.sigmoid(i_z + h_z)
        H = (1 - z) * torch.tanh(i_n + r * h_n) + z * H
        torch.testing.assert_close(H, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("layer", LAYERS)
def test_recurrent_weights_start_orthogonal_and_the_forget_gate_open(layer: type) -> None:
    rnn = layer(3, 8)
    for gate in rnn.rnn.weight_hh_l0.split(8):
        torch.testing.assert_close(gate @ gate.T, torch.eye(8), rtol=0, atol=1e-5)
    bias = (rnn.rnn.bias_ih_l0 + rnn.rnn.bias_hh_l0).detach().split(8)
    ones = 1 if layer is d.LSTM else None
    for number, part in enumerate(bias):
        assert part.eq(float(number == ones)).all()


@pytest.mark.parametrize("layer", LAYERS)
def test_weight_dropout_acts_in_training_alone_and_is_fair(layer: type) -> None:
    torch.manual_seed(3)
    rnn, inputs = layer(3, 4, weight_drop=0.5).double(), torch.randn(6, 2, 3, dtype=torch.float64)
    plain = layer(3, 4).double()
    plain.load_state_dict(rnn.state_dict())
    before = {name: value.clone() for name, value in rnn.state_dict().items()}
    draws = torch.stack([rnn(inputs)[0] for _ in range(3)])
    assert not torch.equal(draws[0], draws[1])
    torch.testing.assert_close(draws[0, 0], draws[1, 0])  # the first step starts from zeros: nothing recurrent in it
    torch.testing.assert_close(rnn.eval()(inputs)[0], plain(inputs)[0])
    assert all(torch.equal(value, before[name]) for name, value in rnn.state_dict().items())


@pytest.mark.parametrize("layer", LAYERS)
def test_the_gradient_of_a_dropped_weight_is_zero_and_of_a_kept_one_scaled(
    layer: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    rnn, inputs = layer(2, 3, weight_drop=0.25).double(), torch.randn(4, 2, 2, dtype=torch.float64)
    weight = rnn.rnn.weight_hh_l0
    draw = torch.linspace(0, 1, weight.numel(), dtype=torch.float64).view_as(weight)
    monkeypatch.setattr(torch, "rand_like", lambda _: draw)
    rnn(inputs)[0].sum().backward()
    kept = draw >= 0.25
    assert weight.grad[~kept].eq(0).all() and weight.grad[kept].ne(0).all()

    masked = layer(2, 3).double()
    masked.load_state_dict(rnn.state_dict())
    masked.rnn.weight_hh_l0.data.mul_(kept / 0.75)
    masked(inputs)[0].sum().backward()
    torch.testing.assert_close(weight.grad[kept], masked.rnn.weight_hh_l0.grad[kept] / 0.75)


@pytest.mark.parametrize("layer", LAYERS)
def test_bad_sizes_and_shapes_are_refused(layer: type) -> None:
    with pytest.raises(ValueError, match="weight_drop is 1"):
        layer(3, 4, weight_drop=1.0)
    with pytest.raises(ValueError, match="num_hiddens is 0"):
        layer(3, 0)
    with pytest.raises(ValueError, match="expected \\(num_steps, batch_size, 3\\)"):
        layer(3, 4)(torch.zeros(5, 2, 4))
    state = torch.zeros(3, 4)
    with pytest.raises(ValueError, match="the state has shape \\(3, 4\\)"):
        layer(3, 4)(torch.zeros(5, 2, 3), (state, state) if layer is d.LSTM else state)
    other = torch.zeros(2, 2, 4) if layer is d.LSTM else (state,)
    with pytest.raises(ValueError, match=f"the state is a {type(other).__name__}"):
        layer(3, 4)(torch.zeros(5, 2, 3), other)


@pytest.mark.parametrize("state", [(torch.zeros(2, 4), None), (None, None), [torch.zeros(2, 4)] * 3])
def test_half_a_state_of_an_lstm_is_refused(state: tuple) -> None:
    with pytest.raises(ValueError, match=r"the state is a (tuple|list) of .*; expected a pair of tensors \(H, C\)"):
        d.LSTM(3, 4)(torch.zeros(5, 2, 3), state)


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("windows", [d.RandomWindows, d.SequentialWindows])
def test_a_language_model_trains_scores_and_generates_with_them(layer: type, windows: type) -> None:
    d.seed_everything(0)
    vocab = d.Vocab("abcd" * 10)
    ids = torch.tensor(vocab.encode("abcd" * 60))
    model = d.RNNLM(layer(4, 16, weight_drop=0.1), vocab_size=4, dropout=0.1)
    history = d.fit(model, windows(ids, 4, 12), epochs=30, lr=0.02, device="cpu", progress=False)
    assert history.train_perplexities[-1] < 1.2
    assert d.evaluate(model, ids, num_steps=7).perplexity == pytest.approx(d.evaluate(model, ids).perplexity, rel=1e-5)
    assert d.generate(model, vocab, "ab", num_tokens=6, temperature=0) == "abcdabcd"


def test_dropout_of_the_language_model_acts_on_outputs_in_training_alone() -> None:
    torch.manual_seed(4)
    model = d.RNNLM(d.RNNScratch(5, 6), 5, dropout=0.5).double()
    plain = d.RNNLM(model.rnn, 5).double()
    plain.load_state_dict(model.state_dict())
    X = torch.randint(5, (2, 7))
    assert not torch.equal(model(X)[0], model(X)[0])
    torch.testing.assert_close(model(X)[1], plain(X)[1])  # the state goes on whole
    torch.testing.assert_close(model.eval()(X)[0], plain(X)[0])
    mean = torch.stack([model.train()(X)[0] for _ in range(4000)]).mean(0)
    assert (mean - plain(X)[0]).abs().max() < 0.05
    with pytest.raises(ValueError, match=r"dropout is -0\.1"):
        d.RNNLM(model.rnn, 5, dropout=-0.1)
