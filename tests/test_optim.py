"""The book's own optimisers and schedules against torch's, over many steps."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from d2lrnn.optim import SGD, AdamW, clip_gradients, cycled_momentum, learning_rate

START = torch.linspace(-1, 1, 37)


def _grad(weights: torch.Tensor, step: int) -> torch.Tensor:
    """A gradient that depends on the weights, so that a wrong step shows in all later ones, and changes its scale."""
    noise = torch.randn(weights.shape, generator=torch.Generator().manual_seed(step), dtype=weights.dtype)
    return (weights.tanh() + 0.3 * noise) * 10.0 ** (step % 3 - 1)


CASES = {
    "sgd": (lambda w: SGD(w), lambda p: torch.optim.SGD(p, lr=0.01)),
    "sgd, weight decay": (lambda w: SGD(w, weight_decay=0.1), lambda p: torch.optim.SGD(p, lr=0.01, weight_decay=0.1)),
    "adamw": (lambda w: AdamW(w), lambda p: torch.optim.AdamW(p, lr=0.01)),
    "adamw, weight decay": (
        lambda w: AdamW(w, weight_decay=0.3, betas=(0.8, 0.95), eps=1e-3),
        lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.3, betas=(0.8, 0.95), eps=1e-3),
    ),
}


@pytest.mark.parametrize("schedule", ["constant", "one-cycle"])
@pytest.mark.parametrize("case", list(CASES))
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 2e-5), (torch.float64, 1e-12)])
def test_weights_after_many_steps_are_torchs(
    case: str, schedule: str, dtype: torch.dtype, tolerance: float, num_steps: int = 200
) -> None:
    make_ours, make_theirs = CASES[case]
    ours = START.to(dtype).clone()
    theirs = torch.nn.Parameter(ours.clone())
    optimizer, reference = make_ours(ours), make_theirs([theirs])
    scheduler = None
    if schedule == "one-cycle":
        has_momentum = "adamw" in case
        scheduler = torch.optim.lr_scheduler.OneCycleLR(reference, 0.01, num_steps, cycle_momentum=has_momentum)
    for step in range(num_steps):
        lr, momentum = learning_rate(step, num_steps, 0.01, schedule), cycled_momentum(step, num_steps, schedule)
        optimizer.update(_grad(ours, step), lr, momentum)
        theirs.grad = _grad(theirs.detach(), step)
        reference.step()
        if scheduler:
            scheduler.step()
    torch.testing.assert_close(ours, theirs.detach(), rtol=tolerance, atol=tolerance)
    assert (ours - START).abs().max() > 0.05


@pytest.mark.parametrize("total_steps", [1, 2, 3, 4, 7, 10, 100, 333])
@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.AdamW])
def test_one_cycle_is_torchs_at_every_step(kind: Callable[..., torch.optim.Optimizer], total_steps: int) -> None:
    reference = kind([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(reference, max_lr=0.7, total_steps=total_steps)
    for step in range(total_steps):
        group = reference.param_groups[0]
        momentum = group["momentum"] if "momentum" in group else group["betas"][0]
        assert learning_rate(step, total_steps, 0.7, "one-cycle") == pytest.approx(group["lr"], rel=1e-12)
        assert cycled_momentum(step, total_steps, "one-cycle") == pytest.approx(momentum, rel=1e-12)
        reference.step()
        scheduler.step()


def test_constant_schedule_leaves_everything_alone() -> None:
    assert {learning_rate(step, 9, 0.3) for step in range(9)} == {0.3}
    assert {cycled_momentum(step, 9) for step in range(9)} == {None}


@pytest.mark.parametrize("schedule", ["constant", "one-cycle"])
@pytest.mark.parametrize("function", [lambda *a: learning_rate(*a[:2], 0.1, a[2]), cycled_momentum])
def test_steps_outside_the_run_are_refused(function: Callable[..., object], schedule: str) -> None:
    for step in (-1, 5):
        with pytest.raises(ValueError, match=f"step is {step}; a run of 5 steps has 0 to 4"):
            function(step, 5, schedule)
    with pytest.raises(ValueError, match="'constant' or 'one-cycle'"):
        function(0, 5, "cosine")


@pytest.mark.parametrize("kind", [SGD, AdamW])
@pytest.mark.parametrize("momentum", [None, 0.9])
def test_stored_and_loaded_it_goes_on_bit_for_bit(kind: Callable[..., SGD | AdamW], momentum: float | None) -> None:
    whole, part = START.clone(), START.clone()
    through, before = kind(whole), kind(part)
    for step in range(10):
        through.update(_grad(whole, step), 0.01, momentum)
    for step in range(5):
        before.update(_grad(part, step), 0.01, momentum)
    stored = {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in before.state_dict().items()}
    before.update(_grad(part.clone(), 9), 0.5, momentum)  # the stored state is not the live one
    resumed_weights = START.clone()
    earlier = kind(resumed_weights)
    for step in range(5):
        earlier.update(_grad(resumed_weights, step), 0.01, momentum)
    resumed = kind(resumed_weights)
    resumed.load_state_dict(stored)
    for step in range(5, 10):
        resumed.update(_grad(resumed_weights, step), 0.01, momentum)
    assert torch.equal(resumed_weights, whole)
    if stored:
        again = kind(START.clone())
        again.load_state_dict(stored)
        for name, tensor in again.state_dict().items():
            assert name == "num_updates" or not torch.equal(tensor, resumed.state_dict()[name]), "one state for two"
        fresh = kind(resumed_weights.clone())
        fresh.update(_grad(resumed_weights, 3), 0.01, momentum)
        resumed.update(_grad(resumed_weights, 3), 0.01, momentum)
        assert not torch.equal(fresh.weights, resumed.weights), "the test would not see a state that is not loaded"


@pytest.mark.parametrize("make", [SGD, AdamW])
def test_a_rate_of_zero_changes_nothing(make: type[SGD] | type[AdamW]) -> None:
    weights = torch.tensor([1.0, 2.0])
    make(weights).update(torch.tensor([3.0, 4.0]), lr=0.0)
    assert weights.tolist() == [1.0, 2.0]


def test_what_clipping_cannot_use() -> None:
    with pytest.raises(TypeError, match=r"parameters is of type Linear; expected .*model\.parameters\(\)"):
        clip_gradients(torch.nn.Linear(2, 2), 1.0)  # type: ignore[arg-type]
    for max_norm in (0, -1, float("nan")):
        with pytest.raises(ValueError, match=f"max_norm is {max_norm}; it must be more than 0.* math.inf"):
            clip_gradients(torch.nn.Linear(2, 2).parameters(), max_norm)
