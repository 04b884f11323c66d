"""Linear recurrences: the scan against the loop, the loop against a closed form, the schedule against its promises."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import get_args

import pytest
import torch

import d2lrnn as d
from d2lrnn.study.scan import Method, linear_recurrence_scan

METHODS = get_args(Method)
LENGTHS = [1, 2, 3, 4, 5, 7, 8, 9, 31, 64, 100]


def random_case(num_steps: int, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(num_steps)
    a, x = torch.randn(2, num_steps, 3, 4, dtype=dtype, generator=generator)
    return a, x, torch.randn(3, 4, dtype=dtype, generator=generator)


def test_the_loop_is_the_equation_written_out() -> None:
    """By powers of a factor that never changes: h_t is the sum of a**(t-s) x_s, and a**t h_0."""
    x, a, h_0 = torch.tensor([1.0, 4.0, -2.0, 3.0], dtype=torch.float64), 0.5, 8.0
    expected = [h_0 * a ** (t + 1) + sum(a ** (t - s) * x[s].item() for s in range(t + 1)) for t in range(4)]
    states = d.scan.linear_recurrence_loop(torch.full_like(x, a), x, torch.tensor(h_0, dtype=torch.float64))
    assert states.tolist() == pytest.approx(expected, rel=1e-14)


def test_factors_of_one_sum_and_factors_of_zero_forget() -> None:
    _, x, _ = random_case(9)
    torch.testing.assert_close(linear_recurrence_scan(torch.ones_like(x), x), x.cumsum(0), rtol=1e-12, atol=1e-12)
    assert torch.equal(linear_recurrence_scan(torch.zeros_like(x), x), x)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("num_steps", LENGTHS)
def test_the_scan_is_the_loop(num_steps: int, method: Method) -> None:
    a, x, h_0 = random_case(num_steps)
    for start in (None, h_0):
        scanned = linear_recurrence_scan(a, x, start, method)
        torch.testing.assert_close(scanned, d.scan.linear_recurrence_loop(a, x, start), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_no_start_is_a_start_from_zeros(method: Method) -> None:
    a, x, h_0 = random_case(13)
    zeros = torch.zeros_like(h_0)
    assert torch.equal(linear_recurrence_scan(a, x, None, method), linear_recurrence_scan(a, x, zeros, method))
    assert torch.equal(d.scan.linear_recurrence_loop(a, x), d.scan.linear_recurrence_loop(a, x, zeros))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("num_steps", [1, 2, 11, 16])
def test_gradients_of_the_scan_are_those_of_the_loop(num_steps: int, method: Method) -> None:
    case = random_case(num_steps)
    weights = torch.randn(num_steps, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    leaves = [tensor.clone().requires_grad_() for tensor in case]
    looped = torch.autograd.grad((weights * d.scan.linear_recurrence_loop(*leaves)).sum(), leaves)
    scanned = torch.autograd.grad((weights * linear_recurrence_scan(*leaves, method)).sum(), leaves)
    for ours, theirs in zip(scanned, looped):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_complex_numbers_turn_and_shrink(method: Method) -> None:
    """A factor with an angle is a linear recurrence that oscillates."""
    num_steps = 20
    a = torch.full((num_steps,), 0.9 * complex(math.cos(0.3), math.sin(0.3)), dtype=torch.complex128)
    x = torch.zeros_like(a)
    x[0] = 1
    states = linear_recurrence_scan(a, x, method=method)
    torch.testing.assert_close(states, a[0] ** torch.arange(num_steps), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_long_sequence_neither_over_nor_underflows(method: Method) -> None:
    """The products of the factors underflow; dividing by them, as a sum of x / a would, gives nonsense."""
    a, x = torch.full((5000,), 0.5), torch.ones(5000)
    states = linear_recurrence_scan(a, x, method=method)
    assert a.cumprod(0)[-1] == 0
    torch.testing.assert_close(states, d.scan.linear_recurrence_loop(a, x))
    assert states[-1] == 2


@pytest.mark.parametrize("num_steps", [1, 2, 6])
def test_arguments_stay_as_they_are(num_steps: int) -> None:
    case = random_case(num_steps)
    before = [tensor.clone() for tensor in case]
    for method in METHODS:
        for result in (linear_recurrence_scan(*case, method), linear_recurrence_scan(*case[:2], None, method)):
            result.zero_()
    d.scan.linear_recurrence_loop(*case[:2]).zero_()
    assert all(torch.equal(tensor, copy) for tensor, copy in zip(case, before))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("num_steps", range(1, 40))
def test_every_place_ends_with_all_the_steps_up_to_its_own(num_steps: int, method: Method) -> None:
    """Only adjoining stretches are ever combined, and each is read as the level before has left it."""
    spans = [(t, t) for t in range(num_steps)]
    for level in d.scan.scan_levels(num_steps, method):
        assert level.pairs
        before = list(spans)
        for earlier, later in level.pairs:
            assert before[earlier][1] + 1 == before[later][0]
            spans[later] = (before[earlier][0], before[later][1])
    assert spans == [(0, t) for t in range(num_steps)]


@pytest.mark.parametrize("log", range(1, 11))
def test_depth_and_work_are_as_the_table_says(log: int) -> None:
    num_steps = 2**log
    doubling, two_sweep = (d.scan.scan_levels(num_steps, method) for method in METHODS)
    assert len(doubling) == log
    assert sum(len(level.pairs) for level in doubling) == num_steps * log - num_steps + 1
    assert len(two_sweep) == 2 * log - 1
    assert sum(len(level.pairs) for level in two_sweep) == 2 * num_steps - 2 - log


def test_depth_of_lengths_between_powers_of_two() -> None:
    assert [len(d.scan.scan_levels(n)) for n in (1, 2, 3, 5, 8, 9, 1000)] == [0, 1, 2, 3, 3, 4, 10]


@pytest.mark.parametrize("function", [d.scan.linear_recurrence_loop, d.scan.linear_recurrence_scan])
def test_bad_input_is_named(function: Callable[..., torch.Tensor]) -> None:
    a, x, h_0 = random_case(4)
    with pytest.raises(ValueError, match="with at least one step"):
        function(a[:0], x[:0])
    with pytest.raises(ValueError, match="with at least one step"):
        function(torch.tensor(1.0), torch.tensor(1.0))
    with pytest.raises(ValueError, match=r"a has shape \(3, 3, 4\) and x \(4, 3, 4\)"):
        function(a[:3], x)
    with pytest.raises(ValueError, match=r"h_0 has shape \(4, 3, 4\); expected \(3, 4\)"):
        function(a, x, x)
    with pytest.raises(TypeError, match=r"a torch.float32, x torch.float64"):
        function(a.float(), x)
    with pytest.raises(TypeError, match=r"h_0 torch.float32"):
        function(a, x, h_0.float())
    with pytest.raises(TypeError, match="floating point"):
        function(a.long(), x.long())


def test_bad_schedules_are_named() -> None:
    with pytest.raises(ValueError, match="num_steps is 0"):
        d.scan.scan_levels(0)
    with pytest.raises(ValueError, match="must be 'doubling' or 'two-sweep'"):
        d.scan.scan_levels(4, "sideways")
    with pytest.raises(ValueError, match="must be 'doubling' or 'two-sweep'"):
        linear_recurrence_scan(*random_case(4)[:2], method="sideways")
