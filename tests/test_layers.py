"""Scratch and concise are one layer; a carried state joins two windows into one."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import d2lrnn as d


@pytest.fixture
def rnn() -> d.RNNScratch:
    torch.manual_seed(0)
    return d.RNNScratch(num_inputs=5, num_hiddens=7).double()


@pytest.fixture
def inputs(rnn: d.RNNScratch) -> torch.Tensor:
    return torch.randn(9, 3, 5, dtype=torch.float64)


def test_step_equals_numpy() -> None:
    rng = np.random.default_rng(0)
    X, H = rng.normal(size=(3, 5)), rng.normal(size=(3, 7))
    W_xh, W_hh, b_h = rng.normal(size=(5, 7)), rng.normal(size=(7, 7)), rng.normal(size=7)
    step = d.rnn_step(*map(torch.from_numpy, (X, H, W_xh, W_hh, b_h)))
    np.testing.assert_allclose(step.numpy(), np.tanh(X @ W_xh + H @ W_hh + b_h), rtol=1e-12)


def test_step_equals_one_layer_on_the_concatenation() -> None:
    torch.manual_seed(0)
    for n, num_inputs, num_hiddens in [(3, 1, 4), (4, 3, 2)]:  # the shapes of both sources
        X, H = torch.randn(n, num_inputs), torch.randn(n, num_hiddens)
        W_xh, W_hh = torch.randn(num_inputs, num_hiddens), torch.randn(num_hiddens, num_hiddens)
        b_h = torch.randn(num_hiddens)
        joined = torch.cat([X, H], 1) @ torch.cat([W_xh, W_hh], 0) + b_h
        torch.testing.assert_close(d.rnn_step(X, H, W_xh, W_hh, b_h), torch.tanh(joined))


def test_step_takes_any_activation() -> None:
    relu = d.rnn_step(-torch.ones(1, 1), torch.zeros(1, 1), *torch.ones(2, 1, 1), torch.zeros(1), activation=torch.relu)
    assert relu.item() == 0


def test_scratch_equals_concise_outputs_and_gradients(rnn: d.RNNScratch, inputs: torch.Tensor) -> None:
    concise = d.RNNConcise.from_scratch(rnn)
    start = torch.randn(3, 7, dtype=torch.float64)
    for H in (None, start):
        for a, b in zip(rnn(inputs, H), concise(inputs, H)):
            torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)
    for layer in (rnn, concise):
        outputs, H = layer(inputs, start)
        (outputs.square().sum() + H.sum()).backward()
    torch.testing.assert_close(concise.rnn.weight_ih_l0.grad.T, rnn.W_xh.grad, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(concise.rnn.weight_hh_l0.grad.T, rnn.W_hh.grad, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(concise.rnn.bias_ih_l0.grad, rnn.b_h.grad, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(concise.rnn.bias_hh_l0.grad, rnn.b_h.grad, rtol=1e-10, atol=1e-12)


def test_twin_is_a_copy(rnn: d.RNNScratch, inputs: torch.Tensor) -> None:
    concise = d.RNNConcise.from_scratch(rnn)
    before = concise(inputs)[0].detach().clone()
    with torch.no_grad():
        rnn.W_hh.zero_()
    torch.testing.assert_close(concise(inputs)[0], before)


def test_gradients_against_finite_differences(rnn: d.RNNScratch, inputs: torch.Tensor) -> None:
    parameters = (rnn.W_xh, rnn.W_hh, rnn.b_h)

    def outputs(*values: torch.Tensor) -> torch.Tensor:
        named = dict(zip(("W_xh", "W_hh", "b_h"), values))
        return torch.func.functional_call(rnn, named, (inputs,))[0]

    assert torch.autograd.gradcheck(outputs, tuple(p.detach().clone().requires_grad_() for p in parameters))


@pytest.mark.parametrize("kind", [d.RNNScratch, d.RNNConcise])
def test_carry_over_two_windows_is_one_long_run(kind, inputs: torch.Tensor) -> None:
    torch.manual_seed(0)
    layer = kind(5, 7).double()
    whole, H_whole = layer(inputs)
    first, H = layer(inputs[:4])
    second, H = layer(inputs[4:], H)
    torch.testing.assert_close(torch.cat([first, second]), whole, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(H, H_whole, rtol=1e-12, atol=1e-14)
    forgotten, _ = layer(inputs[4:])
    assert (forgotten - whole[4:]).abs().max() > 0.01  # without the carry it is another run


def test_number_of_parameters_does_not_depend_on_time(rnn: d.RNNScratch) -> None:
    count = sum(p.numel() for p in rnn.parameters())
    assert count == 5 * 7 + 7 * 7 + 7
    for num_steps in (1, 10, 1000):
        rnn(torch.zeros(num_steps, 1, 5, dtype=torch.float64))
        assert sum(p.numel() for p in rnn.parameters()) == count


@pytest.mark.parametrize("kind", [d.RNNScratch, d.RNNConcise])
def test_bad_shapes(kind) -> None:
    layer = kind(5, 7)
    for shape in [(3, 5), (9, 3, 4), (0, 3, 5)]:
        with pytest.raises(ValueError, match=r"expected \(num_steps, batch_size, 5\)"):
            layer(torch.zeros(shape))
    for shape in [(2, 7), (3, 6), (1, 3, 7)]:
        with pytest.raises(ValueError, match=r"expected \(3, 7\)"):
            layer(torch.zeros(9, 3, 5), torch.zeros(shape))
    for sizes in [(0, 7), (5, 0)]:
        with pytest.raises(ValueError, match="at least 1"):
            kind(*sizes)


def test_initial_weights_are_spread_as_in_nn_rnn() -> None:
    torch.manual_seed(0)
    for layer in (d.RNNScratch(60, 100), d.RNNConcise(60, 100)):
        for parameter in layer.parameters():
            assert parameter.abs().max() <= 0.1  # 1 / sqrt(100)
            assert parameter.abs().max() > 0.09
            assert parameter.abs().mean().item() == pytest.approx(0.05, rel=0.2)  # uniform
