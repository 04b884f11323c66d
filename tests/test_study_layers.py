"""The layers and steps of the chapters on gates and on what came after the chain, and the recorded runs."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

import d2lrnn as d
from d2lrnn.study.recorded import NAMES


def float64(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def test_the_lstm_step_is_torchs() -> None:
    cell = nn.LSTMCell(3, 5).double()
    X, state = float64(2, 3), (float64(2, 5), float64(2, 5))
    bias = cell.bias_ih + cell.bias_hh
    torch.testing.assert_close(d.gates.lstm_step(X, state, cell.weight_ih.T, cell.weight_hh.T, bias), cell(X, state))


def test_the_gru_step_is_torchs() -> None:
    cell = nn.GRUCell(3, 5).double()
    X, H = float64(2, 3), float64(2, 5)
    weights = cell.weight_ih.T, cell.weight_hh.T, cell.bias_ih, cell.bias_hh
    torch.testing.assert_close(d.gates.gru_step(X, H, *weights), cell(X, H))


def test_gradient_norms_by_lag_are_those_of_the_closed_form() -> None:
    model = d.RNNLM(d.RNNScratch(5, 8), 5).double()
    X, Y = torch.randint(5, (2, 3, 12))
    inputs = model.encode_inputs(X)
    H, _ = model.rnn(inputs)
    logits = H[-1] @ model.W_hq + model.b_q
    dH = torch.zeros_like(H)
    (dH[-1],) = torch.autograd.grad(model.loss(logits.unsqueeze(1), Y[:, -1:]), H, retain_graph=True)[0][-1:]
    wanted = d.bptt.gradients_by_lag(H.detach(), dH, model.rnn.W_hh.detach()).state_norms
    torch.testing.assert_close(d.gates.gradient_norms_by_lag(model, X, Y), wanted)


def test_an_lstms_gradient_by_lag_is_that_of_both_parts_of_its_state() -> None:
    model = d.RNNLM(d.LSTM(4, 6), 4).double()
    X, Y = torch.randint(4, (2, 3, 7))
    inputs = model.encode_inputs(X)
    H, C = (part.detach().requires_grad_() for part in model.rnn(inputs[:4])[1])
    outputs, _ = model.rnn(inputs[4:], (H, C))
    loss = model.loss((outputs[-1] @ model.W_hq + model.b_q).unsqueeze(1), Y[:, -1:])
    wanted = torch.cat(torch.autograd.grad(loss, (H, C))).norm()
    torch.testing.assert_close(d.gates.gradient_norms_by_lag(model, X, Y)[3], wanted)


LAYERS = {
    "linear": lambda: d.scan.LinearRecurrence(3, 8),
    "gated linear": lambda: d.scan.GatedLinearRecurrence(3, 8),
    "attention": lambda: d.attention.CausalAttention(3, 8, reach=5),
    "with a readout": lambda: d.scan.Readout(d.scan.GatedLinearRecurrence(3, 8), 16),
}


@pytest.mark.parametrize("name", LAYERS)
def test_reading_in_pieces_gives_the_outputs_of_reading_at_once(name: str) -> None:
    layer, inputs = LAYERS[name]().double(), float64(17, 2, 3)
    whole, _ = layer(inputs)
    pieces, state = [], None
    for piece in inputs.split([1, 6, 2, 8]):
        outputs, state = layer(piece, state)
        pieces.append(outputs)
    torch.testing.assert_close(torch.cat(pieces), whole)


@pytest.mark.parametrize("name", LAYERS)
def test_no_output_depends_on_a_later_input(name: str) -> None:
    layer, inputs = LAYERS[name]().double(), float64(9, 2, 3)
    changed = inputs.clone()
    changed[6:] += 1
    before, after = layer(inputs)[0], layer(changed)[0]
    torch.testing.assert_close(after[:6], before[:6], rtol=0, atol=0)
    assert not torch.allclose(after[6:], before[6:])


@pytest.mark.parametrize("name", LAYERS)
def test_a_language_model_takes_the_layer_and_trains_it(name: str) -> None:
    d.seed_everything(0)
    layer = LAYERS[name]()
    model = d.RNNLM(layer, 3)
    windows = d.SequentialWindows(torch.tensor([0, 1, 2] * 60), 2, 12)
    d.fit(model, windows, epochs=30, lr=0.02, device="cpu", progress=False)
    assert d.evaluate(model, torch.tensor([0, 1, 2] * 20)).perplexity < 1.5


def test_the_linear_layer_is_a_loop_over_complex_numbers() -> None:
    layer, inputs = d.scan.LinearRecurrence(3, 8).double(), float64(11, 2, 3)
    real, imaginary = (inputs @ layer.W_xh).chunk(2, dim=2)
    a, h, states = layer.factors, torch.zeros(2, 4, dtype=torch.complex128), []
    for x in torch.complex(real, imaginary):
        h = a * h + (1 - a.abs() ** 2).sqrt() * x
        states.append(torch.cat([h.real, h.imag], dim=1))
    torch.testing.assert_close(layer(inputs)[0], torch.stack(states))
    torch.testing.assert_close(a, torch.exp(-layer.log_decay.exp() + 1j * layer.angle))


def test_the_gated_linear_layer_is_its_equation_step_by_step() -> None:
    layer, inputs, h = d.scan.GatedLinearRecurrence(3, 8).double(), float64(11, 2, 3), float64(2, 8)
    states = [h]
    for X in inputs:
        a = torch.sigmoid(X @ layer.W_xa + layer.b_a)
        states.append(a * states[-1] + (1 - a) * (X @ layer.W_xh))
    torch.testing.assert_close(layer(inputs, h)[0], torch.stack(states[1:]))


def test_linear_layers_start_as_their_docstrings_say() -> None:
    d.seed_everything(0)
    linear, gated = d.scan.LinearRecurrence(25, 4000), d.scan.GatedLinearRecurrence(25, 2000)
    for weight in (linear.W_xh, gated.W_xh, gated.W_xa):
        assert -0.2 <= weight.min() < -0.199 and 0.199 < weight.max() <= 0.2
    radius, gate = linear.factors.abs(), torch.sigmoid(gated.b_a)
    assert 0.399 < radius.min() < 0.41 and 0.98 < radius.max() < 0.991
    assert 0.199 < gate.min() < 0.21 and 0.97 < gate.max() < 0.981
    assert 0 <= linear.angle.min() < 0.01 and 3.13 < linear.angle.max() <= math.pi


def test_attention_without_its_distances_is_torchs() -> None:
    layer, inputs = d.attention.CausalAttention(3, 8, num_heads=2, reach=50).double(), float64(13, 2, 3)
    q, k, v = (
        (inputs.transpose(0, 1) @ W).unflatten(2, (2, 4)).transpose(1, 2) for W in (layer.W_q, layer.W_k, layer.W_v)
    )
    wanted = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(layer(inputs)[0], wanted.transpose(1, 2).flatten(2).transpose(0, 1))


def test_the_weights_of_attention_are_those_it_uses() -> None:
    layer, inputs = d.attention.CausalAttention(3, 8, num_heads=2, reach=4).double(), float64(9, 2, 3)
    weights = layer.weights(inputs)
    torch.testing.assert_close(weights.sum(dim=3), torch.ones(2, 2, 9, dtype=torch.float64))
    assert weights.triu(1).count_nonzero() == 0 and weights.tril(-4).count_nonzero() == 0
    v = (inputs.transpose(0, 1) @ layer.W_v).unflatten(2, (2, 4)).transpose(1, 2)
    torch.testing.assert_close(layer(inputs)[0], (weights @ v).transpose(1, 2).flatten(2).transpose(0, 1))


def test_each_distance_up_to_the_reach_has_its_own_bias() -> None:
    layer, inputs = d.attention.CausalAttention(3, 8, num_heads=2, reach=4).double(), float64(9, 1, 3)
    with torch.no_grad():
        plain = layer.weights(inputs)
        layer.b.copy_(float64(2, 4))
    weighed = torch.zeros_like(plain)
    for t in range(9):
        for distance in range(min(t + 1, 4)):
            weighed[..., t, t - distance] = plain[..., t, t - distance] * layer.b.detach()[:, distance].exp()
    torch.testing.assert_close(layer.weights(inputs), weighed / weighed.sum(dim=3, keepdim=True))


def test_attention_starts_without_a_bias_and_may_be_as_small_as_can_be() -> None:
    d.seed_everything(0)
    layer = d.attention.CausalAttention(25, 400)
    for weight in (layer.W_q, layer.W_k, layer.W_v):
        assert -0.2 <= weight.min() < -0.199 and 0.199 < weight.max() <= 0.2
    assert not layer.b.any()
    inputs = torch.randn(5, 2, 1)
    smallest = d.attention.CausalAttention(1, 1, num_heads=1, reach=1)
    torch.testing.assert_close(smallest(inputs)[0], inputs @ smallest.W_v)


def test_attention_sees_no_further_than_its_reach_and_the_distance_counts() -> None:
    layer, inputs = d.attention.CausalAttention(3, 8, reach=4).double(), float64(10, 1, 3)
    changed = inputs.clone()
    changed[:6] += 1
    torch.testing.assert_close(layer(changed)[0][-1], layer(inputs)[0][-1])
    shuffled = inputs[[0, 1, 2, 3, 4, 5, 8, 7, 6, 9]]
    torch.testing.assert_close(layer(shuffled)[0][-1], layer(inputs)[0][-1])
    with torch.no_grad():
        layer.b[:, 1] = 2.0
    assert not torch.allclose(layer(shuffled)[0][-1], layer(inputs)[0][-1])


@pytest.mark.parametrize(
    "build",
    [
        lambda: d.scan.LinearRecurrence(3, 7),
        lambda: d.scan.LinearRecurrence(0, 8),
        lambda: d.scan.GatedLinearRecurrence(3, 0),
        lambda: d.attention.CausalAttention(3, 8, num_heads=3),
        lambda: d.attention.CausalAttention(3, 8, reach=0),
    ],
)
def test_sizes_that_do_not_fit_are_refused(build) -> None:
    with pytest.raises(ValueError, match="num_"):
        build()


@pytest.mark.parametrize("name", NAMES)
def test_recorded_runs_are_there_and_finite(name: str) -> None:
    def numbers(value: object) -> list[float]:
        if isinstance(value, dict | list):
            return [n for part in (value.values() if isinstance(value, dict) else value) for n in numbers(part)]
        return [float(value)] if isinstance(value, int | float) else []

    found = numbers(d.recorded.load_recorded(name))
    assert len(found) > 20 and all(map(math.isfinite, found))


def test_layers_are_compared_at_equal_size_with_three_seeds() -> None:
    for name in ("gates", "after_the_chain"):
        layers = d.recorded.load_recorded(name)["layers"]
        sizes = [layer["num_parameters"] for layer in layers.values()]
        assert max(sizes) < 1.03 * min(sizes)
        assert all(len(layer["equal_updates"]) == 3 for layer in layers.values())


def test_an_unknown_recorded_run_is_refused() -> None:
    with pytest.raises(ValueError, match="choose one of"):
        d.recorded.load_recorded("nothing")
