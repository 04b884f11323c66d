"""Gradients through time by hand: against autograd, and the spectral radius at work."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import d2lrnn as d


@pytest.fixture
def run() -> dict[str, torch.Tensor]:
    """States of a small recurrence, and a loss of every step with its gradient by autograd."""
    torch.manual_seed(0)
    rnn = d.RNNScratch(3, 6).double()
    with torch.no_grad():
        rnn.W_hh.copy_(d.scale_to_spectral_radius(torch.randn(6, 6).double(), 1.1))
    inputs, H_0 = torch.randn(8, 2, 3).double(), torch.randn(2, 6).double()
    weights = torch.randn(8, 2, 6).double()
    H, _ = rnn(inputs, H_0)
    loss = (weights * torch.sin(H)).sum()
    (dW_hh,) = torch.autograd.grad(loss, rnn.W_hh)
    H = H.detach()
    return {
        "H": H,
        "H_0": H_0,
        "dH": weights * torch.cos(H),
        "W_hh": rnn.W_hh.detach(),
        "dW_hh": dW_hh,
        "inputs": inputs,
    }


def test_all_lags_together_are_autograds_gradient(run: dict[str, torch.Tensor]) -> None:
    lags = d.gradients_by_lag(run["H"], run["dH"], run["W_hh"], run["H_0"])
    torch.testing.assert_close(lags.full, run["dW_hh"], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(lags.truncated(8), lags.full)
    assert (lags.truncated(3) - lags.full).abs().max() > 1e-3


def test_truncated_gradient_is_autograds_on_cut_sequences(run: dict[str, torch.Tensor]) -> None:
    """Each loss alone, its graph cut tau steps back."""
    torch.manual_seed(0)
    rnn = d.RNNScratch(3, 6).double()  # the fixture's input weights
    states = torch.cat([run["H_0"].unsqueeze(0), run["H"]])
    lags = d.gradients_by_lag(run["H"], run["dH"], run["W_hh"], run["H_0"])
    for tau in (1, 2, 5):
        W_hh = run["W_hh"].clone().requires_grad_()
        loss = 0
        for t in range(8):
            first = max(0, t - tau + 1)
            H = states[first]  # a constant: nothing flows further back
            for X in run["inputs"][first : t + 1]:
                H = d.rnn_step(X, H, rnn.W_xh, W_hh, rnn.b_h)
            loss = loss + (run["dH"][t] * H).sum()
        (expected,) = torch.autograd.grad(loss, W_hh)
        torch.testing.assert_close(lags.truncated(tau), expected, rtol=1e-10, atol=1e-12)


def test_state_norms_are_autograds(run: dict[str, torch.Tensor]) -> None:
    """Follow the loss of the last step back, state by state."""
    torch.manual_seed(0)
    rnn = d.RNNScratch(3, 6).double()
    states = [run["H_0"].requires_grad_()]
    for X in run["inputs"]:
        states.append(d.rnn_step(X, states[-1], rnn.W_xh, run["W_hh"], rnn.b_h))
    last = torch.zeros_like(run["dH"])
    last[-1] = run["dH"][-1]
    grads = torch.autograd.grad((last[-1] * states[-1]).sum(), states[1:])
    lags = d.gradients_by_lag(run["H"], last, run["W_hh"], run["H_0"].detach())
    torch.testing.assert_close(lags.state_norms, torch.stack([g.norm() for g in reversed(grads)]))


def test_step_jacobian_is_autograds(run: dict[str, torch.Tensor]) -> None:
    torch.manual_seed(0)
    rnn = d.RNNScratch(3, 6).double()

    def step(h: torch.Tensor) -> torch.Tensor:
        return d.rnn_step(run["inputs"][0, 0], h, rnn.W_xh.detach(), run["W_hh"], rnn.b_h.detach())

    h = run["H_0"][0]
    torch.testing.assert_close(d.step_jacobian(step(h), run["W_hh"]), torch.autograd.functional.jacobian(step, h))
    assert d.step_jacobian(run["H"], run["W_hh"]).shape == (8, 2, 6, 6)


@pytest.mark.parametrize(("radius", "grows"), [(0.8, False), (1.0, None), (1.2, True)])
def test_spectral_radius_decides(radius: float, grows: bool | None) -> None:
    """With tanh unsaturated, the norm by lag is a straight line of slope ln(radius) on a log axis."""
    torch.manual_seed(1)
    W_hh = d.scale_to_spectral_radius(torch.randn(20, 20).double(), radius)
    H = torch.zeros(200, 1, 20).double()
    dH = torch.zeros_like(H)
    dH[-1] = 1.0
    norms = d.gradients_by_lag(H, dH, W_hh).state_norms
    slope = math.log(norms[199] / norms[99]) / 100
    assert slope == pytest.approx(math.log(radius), abs=0.005)
    if grows is not None:
        assert (norms[199] > 1e6 * norms[0]) == grows
        assert (norms[199] < 1e-6 * norms[0]) == (not grows)


def test_saturation_brakes_the_explosion() -> None:
    torch.manual_seed(1)
    W_hh = d.scale_to_spectral_radius(torch.randn(20, 20).double(), 1.2)
    dH = torch.zeros(60, 1, 20).double()
    dH[-1] = 1.0
    free = d.gradients_by_lag(torch.zeros_like(dH), dH, W_hh).state_norms[-1]
    saturated = d.gradients_by_lag(torch.full_like(dH, 0.9), dH, W_hh).state_norms[-1]
    assert saturated < 1e-20 * free


def test_largest_singular_value_is_not_the_test() -> None:
    """The experiment of Deep Learning from Scratch 2, chapter 6: the halved matrix stretches by 1.33 and vanishes."""
    rng = np.random.RandomState(3)  # the generator that the published figures come from
    Wh = rng.randn(3, 3)
    for factor, first, last, radius, stretch in [(1, 2.468, 249.5, 1.256, 2.66), (0.5, 1.234, 2.38e-4, 0.628, 1.33)]:
        W_hh = torch.from_numpy(factor * Wh)
        assert d.spectral_radius(W_hh) == pytest.approx(radius, abs=1e-3)
        assert torch.linalg.matrix_norm(W_hh, 2).item() == pytest.approx(stretch, abs=5e-3)
        dH = torch.zeros(21, 2, 3).double()
        dH[-1] = 1.0
        norms = d.gradients_by_lag(torch.zeros_like(dH), dH, W_hh).state_norms / 2  # the source divides by N = 2
        assert norms[1].item() == pytest.approx(first, rel=1e-3)
        assert norms[20].item() == pytest.approx(last, rel=1e-2)


def test_spectral_radius_of_known_matrices() -> None:
    rotation = torch.tensor([[0.0, -2.0], [2.0, 0.0]])  # eigenvalues 2i and -2i
    assert d.spectral_radius(rotation) == pytest.approx(2.0)
    assert d.spectral_radius(torch.diag(torch.tensor([0.5, -3.0]))) == pytest.approx(3.0)
    assert d.spectral_radius(d.scale_to_spectral_radius(rotation, 0.25)) == pytest.approx(0.25)


def test_bad_input() -> None:
    H = torch.zeros(4, 2, 3)
    with pytest.raises(ValueError, match="square"):
        d.spectral_radius(torch.zeros(2, 3))
    with pytest.raises(ValueError, match="eigenvalues of W_hh are 0"):
        d.scale_to_spectral_radius(torch.tensor([[0.0, 1.0], [0.0, 0.0]]), 0.9)
    for radius in (-1, math.nan):
        with pytest.raises(ValueError, match="at least 0"):
            d.scale_to_spectral_radius(torch.eye(2), radius)
    with pytest.raises(ValueError, match="expected both"):
        d.gradients_by_lag(H, H[:2], torch.eye(3))
    with pytest.raises(ValueError, match="expected both"):
        d.gradients_by_lag(H, H, torch.eye(4))
    with pytest.raises(ValueError, match="H_0"):
        d.gradients_by_lag(H, H, torch.eye(3), torch.zeros(3, 3))
    with pytest.raises(ValueError, match="num_lags is 0"):
        d.gradients_by_lag(H, H, torch.eye(3)).truncated(0)
    with pytest.raises(ValueError, match="units"):
        d.step_jacobian(torch.zeros(2), torch.eye(3))
