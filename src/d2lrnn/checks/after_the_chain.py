"""The self-checking exercises of the chapter *After the chain: scans and attention*."""

from __future__ import annotations

import math

import torch

from d2lrnn.checks.exercise import Exercise, Mistake
from d2lrnn.study.scan import scan_levels

AffineMap = tuple[torch.Tensor, torch.Tensor]


def _combine(left: AffineMap, right: AffineMap) -> AffineMap:
    return left[0] @ right[0], left[1] @ right[0] + right[1]


def _maps() -> list[tuple[AffineMap, AffineMap]]:
    generator = torch.Generator().manual_seed(0)

    def random_map() -> AffineMap:
        return torch.randn(3, 3, generator=generator).double(), torch.randn(3, generator=generator).double()

    return [(random_map(), random_map()) for _ in range(2)]


def _num_levels(num_steps: int) -> int:
    return (num_steps - 1).bit_length()


def _num_combinations(num_steps: int) -> int:
    return sum(len(level.pairs) for level in scan_levels(num_steps))


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        label="ex-after-the-chain-1",
        solution=(0.0, 4.8),
        mistakes=(
            Mistake((0.0, 2.0), "That is the other order. The pair (0.5, 1) is the first step."),
            Mistake((0.0, 6.0), "The offsets are not simply added: the next factor multiplies what is there."),
            Mistake((0.45, 4.8), "The offset is right. What do the three factors multiply to, with a 0 among them?"),
            Mistake((0.0, 5.7), "The factor 0 also forgets the offset of the first step."),
        ),
        praise="A factor of 0 forgets everything before it: only the last two offsets are left.",
    ),
    Exercise(
        label="ex-after-the-chain-2",
        solution=_combine,
        probes=_maps,
        mistakes=(
            Mistake(
                lambda left, right: _combine(right, left),
                "That applies the right map first. The left one is the earlier step.",
            ),
            Mistake(
                lambda left, right: (right[0] @ left[0], left[1] @ right[0] + right[1]),
                "The offset is right. With rows multiplied from the right, which matrix stands next to h?",
            ),
            Mistake(
                lambda left, right: (right[0] @ left[0], right[0] @ left[1] + right[1]),
                "These are the formulas for columns. Here h is a row, and a matrix stands to the right of it.",
            ),
            Mistake(
                lambda left, right: (left[0] @ right[0], left[1] + right[1]),
                "The offset of the left map is there when the right map begins. What happens to it then?",
            ),
            Mistake(
                lambda left, right: (left[0] * right[0], left[1] * right[0] + right[1]),
                "The star multiplies entry by entry, which is right for diagonal matrices only; these are full ones.",
            ),
        ),
        praise="The product of two matrices costs far more than the product of a state and a matrix. So networks "
        "made for scans usually have diagonal matrices.",
        rtol=1e-6,
        atol=1e-9,
    ),
    Exercise(
        label="ex-after-the-chain-3",
        solution=_num_combinations,
        probes=lambda: [(1,), (2,), (5,), (8,), (1000,), (1024,)],
        mistakes=(
            Mistake(
                lambda num_steps: num_steps - 1,
                "That is the loop. The scan makes more combinations, and makes them in fewer levels.",
            ),
            Mistake(
                _num_levels,
                "That is how many levels wait for each other. Each of them makes many combinations at once.",
            ),
            Mistake(
                lambda num_steps: _num_levels(num_steps) * num_steps,
                "At each level some places on the left have no partner at this distance. How many?",
            ),
            Mistake(
                lambda num_steps: _num_levels(num_steps) * num_steps - num_steps + 1,
                "Right for powers of two. What do the distances 1, 2, 4 of five steps sum to?",
            ),
            Mistake(
                lambda num_steps: num_steps * math.log2(num_steps) - num_steps + 1,
                "Right for powers of two. For others it is not a whole number, but the number of levels is.",
            ),
            Mistake(
                lambda num_steps: sum(len(level.pairs) for level in scan_levels(num_steps, "two-sweep")),
                "That is the scan in two sweeps, which saves work and has more levels.",
            ),
        ),
        praise="A million steps take nearly nineteen times the work of the loop, in twenty levels.",
    ),
)
