"""Backpropagation through time by hand: against autograd and difference quotients; the spectral radius at work."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch

import d2lrnn as d


def rnn_of_the_run() -> d.RNNScratch:
    torch.manual_seed(0)
    rnn = d.RNNScratch(3, 6).double()
    with torch.no_grad():
        rnn.W_hh.copy_(d.bptt.scale_to_spectral_radius(torch.randn(6, 6).double(), 1.1))
        rnn.b_h.normal_()
    return rnn


@pytest.fixture
def run() -> dict[str, torch.Tensor]:
    """States of a small recurrence, and a loss of every step with its gradient by autograd."""
    rnn = rnn_of_the_run()
    inputs, H_0 = torch.randn(8, 2, 3).double(), torch.randn(2, 6).double()
    weights = torch.randn(8, 2, 6).double()
    H, _ = rnn(inputs, H_0.requires_grad_())
    loss = (weights * torch.sin(H)).sum()
    by_autograd = torch.autograd.grad(loss, [rnn.W_xh, rnn.W_hh, rnn.b_h, H_0])
    H = H.detach()
    return {
        "H": H,
        "H_0": H_0.detach(),
        "dH": weights * torch.cos(H),
        "weights": weights,
        "W_hh": rnn.W_hh.detach(),
        **dict(zip(d.bptt.Gradients._fields, by_autograd)),
        "inputs": inputs,
    }


def by_hand(run: dict[str, torch.Tensor], factors: torch.Tensor | None = None) -> d.bptt.Gradients:
    return d.bptt.bptt(run["inputs"], run["H"], run["dH"], run["W_hh"], H_0=run["H_0"], factors=factors)


def test_bptt_is_autograds(run: dict[str, torch.Tensor]) -> None:
    gradients = by_hand(run)
    for name in gradients._fields:
        torch.testing.assert_close(getattr(gradients, name), run[name], rtol=1e-12, atol=1e-12)


def test_bptt_is_the_difference_quotient(run: dict[str, torch.Tensor]) -> None:
    """Without autograd: the loss a little to either side, for every number that a gradient belongs to."""
    rnn, eps = rnn_of_the_run().requires_grad_(False), 1e-6
    H_0 = run["H_0"].clone()

    def loss() -> float:
        return float((run["weights"] * torch.sin(rnn(run["inputs"], H_0)[0])).sum())

    for parameter, gradient in zip([rnn.W_xh, rnn.W_hh, rnn.b_h, H_0], by_hand(run)):
        assert gradient.shape == parameter.shape
        flat = parameter.view(-1)
        for i, slope in enumerate(gradient.flatten().tolist()):
            there = flat[i].item()
            flat[i] = there + eps
            above = loss()
            flat[i] = there - eps
            below = loss()
            flat[i] = there
            assert slope == pytest.approx((above - below) / (2 * eps), rel=1e-6, abs=1e-7)


def test_bptt_of_a_model_is_what_backward_leaves() -> None:
    """From the loss of a language model down: RNNScratch in single precision, no state before the first step."""
    torch.manual_seed(4)
    model = d.RNNLM(d.RNNScratch(27, 16), 27)
    X, Y = torch.randint(27, (4, 12)), torch.randint(27, (4, 12))
    inputs = model.encode_inputs(X)
    H, _ = model.rnn(inputs)
    H.retain_grad()
    logits = H @ model.W_hq + model.b_q
    torch.nn.functional.cross_entropy(logits.flatten(0, 1), Y.T.flatten()).backward()
    probs = torch.softmax(logits, dim=2)
    dO = (probs - torch.nn.functional.one_hot(Y.T, 27)) / Y.numel()
    gradients = d.bptt.bptt(inputs, H, dO @ model.W_hq.T, model.rnn.W_hh)
    for gradient, parameter in zip(gradients, (model.rnn.W_xh, model.rnn.W_hh, model.rnn.b_h)):
        torch.testing.assert_close(gradient, parameter.grad)
    assert gradients.dH_0.shape == (4, 16) and not gradients.dW_hh.requires_grad


def test_a_sequence_may_have_one_step_and_begin_from_zeros(run: dict[str, torch.Tensor]) -> None:
    H, dH, W_hh = run["H"][:1], run["dH"][:1], run["W_hh"]
    gradients = d.bptt.bptt(run["inputs"][:1], H, dH, W_hh)
    torch.testing.assert_close(gradients.dH_0, (dH * (1 - H**2))[0] @ W_hh.T)
    assert not gradients.dW_hh.any() and not d.bptt.gradients_by_lag(H, dH, W_hh).full.any()


def test_all_lags_together_are_autograds_gradient(run: dict[str, torch.Tensor]) -> None:
    lags = d.bptt.gradients_by_lag(run["H"], run["dH"], run["W_hh"], run["H_0"])
    torch.testing.assert_close(lags.full, run["dW_hh"], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(lags.truncated(8), lags.full)
    assert (lags.truncated(3) - lags.full).abs().max() > 1e-3


def test_the_first_lags_are_autograds_on_cut_sequences(run: dict[str, torch.Tensor]) -> None:
    """Each loss alone, its graph cut tau steps back."""
    rnn = rnn_of_the_run()
    states = torch.cat([run["H_0"].unsqueeze(0), run["H"]])
    lags = d.bptt.gradients_by_lag(run["H"], run["dH"], run["W_hh"], run["H_0"])
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


def with_factors(run: dict[str, torch.Tensor], factors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Autograd's gradients with the same forward pass and each step back multiplied by its factor."""
    rnn, H_0 = rnn_of_the_run(), run["H_0"].clone().requires_grad_()
    H, loss = H_0, 0
    for t, X in enumerate(run["inputs"]):
        scaled = H.detach() + factors[t] * (H - H.detach())  # the value of H, and factors[t] times its gradient
        H = d.rnn_step(X, scaled, rnn.W_xh, rnn.W_hh, rnn.b_h)
        loss = loss + (run["dH"][t] * H).sum()
    torch.testing.assert_close(H.detach(), run["H"][-1])
    return torch.autograd.grad(loss, [rnn.W_xh, rnn.W_hh, rnn.b_h, H_0])


def truncated(run: dict[str, torch.Tensor], factors: torch.Tensor) -> torch.Tensor:
    return by_hand(run, factors).dW_hh


def test_any_factors_give_autograds_gradient(run: dict[str, torch.Tensor]) -> None:
    torch.manual_seed(2)
    for factors in (torch.rand(8), 3 * torch.rand(8), d.bptt.truncate_at_random(8, 0.6)):
        for gradient, expected in zip(by_hand(run, factors), with_factors(run, factors.double())):
            torch.testing.assert_close(gradient, expected, rtol=1e-6, atol=1e-9)


def test_factors_of_one_give_the_full_gradient_and_zeros_lag_0(run: dict[str, torch.Tensor]) -> None:
    lags = d.bptt.gradients_by_lag(run["H"], run["dH"], run["W_hh"], run["H_0"])
    torch.testing.assert_close(truncated(run, torch.ones(8)), run["dW_hh"], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(truncated(run, torch.zeros(8)), lags.truncated(1), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", [1, 3, 4, 8, 9])
def test_window_factors_give_the_gradient_of_detached_windows(run: dict[str, torch.Tensor], size: int) -> None:
    rnn = rnn_of_the_run()
    state = run["H_0"]
    for X, dH in zip(run["inputs"].split(size), run["dH"].split(size)):
        outputs, state = rnn(X, state.detach())
        (dH * outputs).sum().backward()
    torch.testing.assert_close(truncated(run, d.bptt.truncate_every(8, size)), rnn.W_hh.grad, rtol=1e-10, atol=1e-12)


def test_draws_are_walked_back_together(run: dict[str, torch.Tensor]) -> None:
    torch.manual_seed(3)
    factors = d.bptt.truncate_at_random(8, 0.7, num_draws=5)
    together = truncated(run, factors)
    assert together.shape == (5, 6, 6)
    for i, row in enumerate(factors):
        for one, all_draws in zip(by_hand(run, row), by_hand(run, factors)):
            torch.testing.assert_close(one, all_draws[i], rtol=1e-12, atol=1e-12)
    first = {name: run[name][:1] for name in ("inputs", "H", "dH")}
    one_step = d.bptt.bptt(**first, W_hh=run["W_hh"], H_0=run["H_0"], factors=factors[:, :1])
    assert [tuple(g.shape) for g in one_step] == [(5, 3, 6), (5, 6, 6), (5, 6), (5, 2, 6)]


@pytest.mark.parametrize("keep", [torch.full((8,), 0.5), torch.linspace(0.3, 1.0, 8)], ids=["same", "by step"])
def test_randomised_truncation_is_unbiased(run: dict[str, torch.Tensor], keep: torch.Tensor) -> None:
    """Exactly: all 256 outcomes of the draws, each with its probability."""
    keep = keep.double()
    kept = torch.tensor(list(itertools.product([0.0, 1.0], repeat=8))).double()  # (256, 8)
    probs = torch.where(kept == 1, keep, 1 - keep).prod(dim=1)
    gradients = truncated(run, kept / keep)
    assert probs.sum().item() == pytest.approx(1)
    mean = (probs[:, None, None] * gradients).sum(dim=0)
    torch.testing.assert_close(mean, run["dW_hh"], rtol=1e-10, atol=1e-12)
    variance = (probs[:, None, None] * (gradients - mean) ** 2).sum(dim=0)
    assert variance.sum() > 0.01 * (mean**2).sum()


def outcomes(num_steps: int, keep_prob: float) -> tuple[torch.Tensor, torch.Tensor]:
    """All outcomes of the draws as factors, (2**num_steps, num_steps), and their probabilities."""
    kept = torch.tensor(list(itertools.product([0.0, 1.0], repeat=num_steps))).double()
    num_kept = kept.sum(dim=1)
    return kept / keep_prob, keep_prob**num_kept * (1 - keep_prob) ** (num_steps - num_kept)


def test_measured_mean_and_variance_are_the_exact_ones(run: dict[str, torch.Tensor]) -> None:
    factors, probs = outcomes(8, 0.8)
    variance = (probs[:, None, None] * (truncated(run, factors) - run["dW_hh"]) ** 2).sum(dim=0)
    draws = truncated(run, d.bptt.truncate_at_random(8, 0.8, 20_000, torch.Generator().manual_seed(0)))
    z_scores = (draws.mean(dim=0) - run["dW_hh"]) / (variance / 20_000).sqrt()
    assert z_scores.abs().max() < 4.5  # 36 entries
    assert (draws.var(dim=0).sum() / variance.sum()).item() == pytest.approx(1, abs=0.05)


def test_random_factors_are_zero_or_make_up_for_it() -> None:
    generator = torch.Generator().manual_seed(0)
    keep = torch.tensor([0.1, 0.5, 0.9, 1.0])
    factors = d.bptt.truncate_at_random(4, keep, 50_000, generator)
    assert factors.shape == (50_000, 4) and factors.dtype == torch.float64
    for column, prob in zip(factors.unbind(1), keep.double()):
        assert set(column.unique().tolist()) <= {0.0, float(1 / prob)}
        error = math.sqrt((1 / prob - 1) / 50_000)  # the variance of a factor is 1 / pi - 1
        assert abs(column.mean() - 1) <= 4.5 * error
    assert (factors[:, 3] == 1).all() and d.bptt.truncate_at_random(4, 1.0).tolist() == [1.0] * 4
    assert d.bptt.truncate_at_random(1, 1.0, num_draws=1).tolist() == [[1.0]]
    again = d.bptt.truncate_at_random(4, keep, 50_000, torch.Generator().manual_seed(0))
    assert torch.equal(again, factors)


def test_variance_of_a_route_grows_with_its_lag() -> None:
    """A linear recurrence of one unit and a loss at the last step: the route of lag k is a product of k factors."""
    factors, probs = outcomes(6, 0.7)
    H, dH = torch.zeros(6, 1, 1).double(), torch.zeros(6, 1, 1).double()
    dH[-1] = 1.0
    for lag in range(6):
        H_0 = torch.zeros(1, 1).double()
        states = H.clone()
        if lag < 5:
            states[4 - lag] = 1e-9  # only this use of the weight has something to multiply
        else:
            H_0 += 1e-9
        gradients = d.bptt.bptt(H, states, dH, torch.ones(1, 1).double(), H_0=H_0, factors=factors)
        route = gradients.dW_hh.flatten() / 1e-9
        assert (probs * route).sum().item() == pytest.approx(1)
        assert (probs * (route - 1) ** 2).sum().item() == pytest.approx(0.7**-lag - 1, abs=1e-9)


def test_state_norms_are_autograds(run: dict[str, torch.Tensor]) -> None:
    """Follow the loss of the last step back, state by state."""
    rnn = rnn_of_the_run()
    states = [run["H_0"].requires_grad_()]
    for X in run["inputs"]:
        states.append(d.rnn_step(X, states[-1], rnn.W_xh, run["W_hh"], rnn.b_h))
    last = torch.zeros_like(run["dH"])
    last[-1] = run["dH"][-1]
    grads = torch.autograd.grad((last[-1] * states[-1]).sum(), states[1:])
    lags = d.bptt.gradients_by_lag(run["H"], last, run["W_hh"], run["H_0"].detach())
    torch.testing.assert_close(lags.state_norms, torch.stack([g.norm() for g in reversed(grads)]))


def test_step_jacobian_is_autograds(run: dict[str, torch.Tensor]) -> None:
    rnn = rnn_of_the_run()

    def step(h: torch.Tensor) -> torch.Tensor:
        return d.rnn_step(run["inputs"][0, 0], h, rnn.W_xh.detach(), run["W_hh"], rnn.b_h.detach())

    h = run["H_0"][0]
    torch.testing.assert_close(d.bptt.step_jacobian(step(h), run["W_hh"]), torch.autograd.functional.jacobian(step, h))
    assert d.bptt.step_jacobian(run["H"], run["W_hh"]).shape == (8, 2, 6, 6)


@pytest.mark.parametrize(("radius", "grows"), [(0.8, False), (1.0, None), (1.2, True)])
def test_spectral_radius_decides(radius: float, grows: bool | None) -> None:
    """With tanh unsaturated, the norm by lag is a straight line of slope ln(radius) on a log axis."""
    torch.manual_seed(1)
    W_hh = d.bptt.scale_to_spectral_radius(torch.randn(20, 20).double(), radius)
    H = torch.zeros(200, 1, 20).double()
    dH = torch.zeros_like(H)
    dH[-1] = 1.0
    norms = d.bptt.gradients_by_lag(H, dH, W_hh).state_norms
    slope = math.log(norms[199] / norms[99]) / 100
    assert slope == pytest.approx(math.log(radius), abs=0.005)
    if grows is not None:
        assert (norms[199] > 1e6 * norms[0]) == grows
        assert (norms[199] < 1e-6 * norms[0]) == (not grows)


def test_saturation_brakes_the_explosion() -> None:
    torch.manual_seed(1)
    W_hh = d.bptt.scale_to_spectral_radius(torch.randn(20, 20).double(), 1.2)
    dH = torch.zeros(60, 1, 20).double()
    dH[-1] = 1.0
    free = d.bptt.gradients_by_lag(torch.zeros_like(dH), dH, W_hh).state_norms[-1]
    saturated = d.bptt.gradients_by_lag(torch.full_like(dH, 0.9), dH, W_hh).state_norms[-1]
    assert saturated < 1e-20 * free


def test_largest_singular_value_is_not_the_test() -> None:
    """The experiment of Deep Learning from Scratch 2, chapter 6: the halved matrix stretches by 1.33 and vanishes."""
    rng = np.random.RandomState(3)  # the generator that the published figures come from
    Wh = rng.randn(3, 3)
    for factor, first, last, radius, stretch in [(1, 2.468, 249.5, 1.256, 2.66), (0.5, 1.234, 2.38e-4, 0.628, 1.33)]:
        W_hh = torch.from_numpy(factor * Wh)
        assert d.bptt.spectral_radius(W_hh) == pytest.approx(radius, abs=1e-3)
        assert torch.linalg.matrix_norm(W_hh, 2).item() == pytest.approx(stretch, abs=5e-3)
        dH = torch.zeros(21, 2, 3).double()
        dH[-1] = 1.0
        norms = d.bptt.gradients_by_lag(torch.zeros_like(dH), dH, W_hh).state_norms / 2  # the source divides by N = 2
        assert norms[1].item() == pytest.approx(first, rel=1e-3)
        assert norms[20].item() == pytest.approx(last, rel=1e-2)


def test_spectral_radius_of_known_matrices() -> None:
    rotation = torch.tensor([[0.0, -2.0], [2.0, 0.0]])  # eigenvalues 2i and -2i
    assert d.bptt.spectral_radius(rotation) == pytest.approx(2.0)
    assert d.bptt.spectral_radius(torch.diag(torch.tensor([0.5, -3.0]))) == pytest.approx(3.0)
    assert d.bptt.spectral_radius(d.bptt.scale_to_spectral_radius(rotation, 0.25)) == pytest.approx(0.25)
    assert not d.bptt.scale_to_spectral_radius(torch.nn.Parameter(rotation), 0).requires_grad


def test_bad_input() -> None:
    H = torch.zeros(4, 2, 3)
    with pytest.raises(ValueError, match="square"):
        d.bptt.spectral_radius(torch.zeros(2, 3))
    with pytest.raises(ValueError, match="square"):
        d.bptt.step_jacobian(torch.zeros(1), torch.zeros(1, 3))
    with pytest.raises(ValueError, match="square"):
        d.bptt.gradients_by_lag(H, H, torch.zeros(3, 4))
    with pytest.raises(ValueError, match="eigenvalues of W_hh are 0"):
        d.bptt.scale_to_spectral_radius(torch.tensor([[0.0, 1.0], [0.0, 0.0]]), 0.9)
    for radius in (-1, math.nan):
        with pytest.raises(ValueError, match="at least 0"):
            d.bptt.scale_to_spectral_radius(torch.eye(2), radius)
    with pytest.raises(ValueError, match="expected both"):
        d.bptt.gradients_by_lag(H, H[:2], torch.eye(3))
    with pytest.raises(ValueError, match="expected both"):
        d.bptt.gradients_by_lag(H, H, torch.eye(4))
    with pytest.raises(ValueError, match="H_0"):
        d.bptt.gradients_by_lag(H, H, torch.eye(3), torch.zeros(3, 3))
    with pytest.raises(ValueError, match="num_lags is 0"):
        d.bptt.gradients_by_lag(H, H, torch.eye(3)).truncated(0)
    with pytest.raises(ValueError, match="units"):
        d.bptt.step_jacobian(torch.zeros(2), torch.eye(3))
    for factors in (torch.ones(3), torch.ones(4, 2), torch.ones(2, 2, 4), torch.tensor(1.0)):
        with pytest.raises(ValueError, match="factors have shape"):
            d.bptt.bptt(H, H, H, torch.eye(3), factors=factors)
    for inputs in (torch.zeros(4, 2), torch.zeros(3, 2, 5), torch.zeros(4, 1, 5)):
        with pytest.raises(ValueError, match="inputs have shape"):
            d.bptt.bptt(inputs, H, H, torch.eye(3))
    with pytest.raises(ValueError, match="expected both"):
        d.bptt.bptt(H, H, H[:2], torch.eye(3))
    with pytest.raises(ValueError, match="H_0"):
        d.bptt.bptt(H, H, H, torch.eye(3), H_0=torch.zeros(3, 3))
    with pytest.raises(ValueError, match="window_size is 0"):
        d.bptt.truncate_every(4, 0)
    with pytest.raises(ValueError, match="num_steps is 0"):
        d.bptt.truncate_every(0, 4)
    with pytest.raises(ValueError, match="num_draws is 0"):
        d.bptt.truncate_at_random(4, 0.5, num_draws=0)
    for keep_prob in (0.0, -0.1, 1.1, math.nan, torch.tensor([0.5, 0.5, 0.5, 0.0])):
        with pytest.raises(ValueError, match="above 0 and at most 1"):
            d.bptt.truncate_at_random(4, keep_prob)
    with pytest.raises(ValueError, match="one number, or 4"):
        d.bptt.truncate_at_random(4, torch.full((3,), 0.5))
