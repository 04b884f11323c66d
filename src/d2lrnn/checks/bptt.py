"""The self-checking exercises of the chapter *Backpropagation through time* and its closer looks."""

from __future__ import annotations

import math

import torch

from d2lrnn.checks.exercise import Exercise, Mistake


def route_variance(keep_prob: float, lag: int) -> float:
    """Variance of a product of `lag` independent factors, each 1 / keep_prob or 0, of mean 1."""
    return keep_prob**-lag - 1


def radius_by_power_iteration(W: torch.Tensor) -> float:
    """Multiply a vector 500 times, with its length set back to 1, and return the last factor."""
    g = torch.ones(len(W), dtype=W.dtype)
    for _ in range(500):
        g = g @ W.T
        factor = g.norm()
        g = g / factor
    return float(factor)


def power_probes() -> list[tuple[torch.Tensor]]:
    """Matrices with one largest eigenvalue; their singular values and diagonals are other numbers."""
    generator = torch.Generator().manual_seed(0)
    positive = torch.rand(4, 4, generator=generator, dtype=torch.float64)
    return [
        (torch.tensor([[0.2, 4.0], [0.1, 0.3]], dtype=torch.float64),),
        (torch.tensor([[1.0, 2.0], [3.0, 1.5]], dtype=torch.float64),),
        (positive / 3,),
    ]


FORGET_GATE = 0.5 ** (1 / 100)

EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        label="ex-bptt-1",
        solution=(0.25, 0.25, 0.25, 0.0),
        mistakes=(
            Mistake(
                (0.25, 0.5, 1.0, 0.0),
                "These are the direct parts b_4, b_3, b_2 and b_1. Multiply each of them by a once for every step of "
                "its lag.",
            ),
            Mistake(
                (0.125, 0.125, 0.125, 0.0),
                "Each term has been multiplied once too often: the product of the term i begins with j = i + 1, so it "
                "is empty for lag 0.",
            ),
            Mistake(
                (0.0, 0.25, 0.25, 0.25),
                "The values are right, in the order of i = 1, 2, 3, 4. Lag 0 is the use of w in step 4.",
            ),
            Mistake(
                (0.25, 0.25, 0.25, 0.125),
                "Look at the oldest use of w once more: by which state is w multiplied in step 1?",
            ),
        ),
        praise="Every term except the oldest has two factors of w.",
    ),
    Exercise(
        label="ex-bptt-3",
        solution=math.degrees(math.atan(0.3) - math.atan(0.01)),
        mistakes=(
            Mistake(
                math.degrees(math.atan(0.3)),
                "That is the angle between the clipped gradient and the first axis. The gradient itself does not lie "
                "quite on that axis.",
            ),
            Mistake(
                math.atan(0.3) - math.atan(0.01),
                "The right angle, in radians. The answer is wanted in degrees.",
            ),
            Mistake(
                0.0,
                "That is clipping by norm, which keeps the direction. The question is about clipping by value: "
                "which of the two elements does it change?",
            ),
        ),
        praise="The large element was cut and the small one was not, so the small one now counts for more.",
        rtol=0,
        atol=0.06,
    ),
    Exercise(
        label="ex-bptt-4",
        solution=radius_by_power_iteration,
        probes=power_probes,
        mistakes=(
            Mistake(
                lambda W: float(torch.linalg.matrix_norm(W, 2)),
                "That is the largest singular value: how much one multiplication can stretch. Multiply many "
                "times, and return the factor of the last step.",
            ),
            Mistake(
                lambda W: float((torch.ones(len(W), dtype=W.dtype) @ W.T).norm() / len(W) ** 0.5),
                "That is the factor of the first multiplication, before the vector has turned towards the eigenvector.",
            ),
            Mistake(
                lambda W: float(torch.linalg.matrix_power(W, 100).norm()),
                "That is a length after many multiplications. By which factor does each of the last ones change it?",
            ),
            Mistake(
                lambda W: float(W.diagonal().abs().max()),
                "That is the largest number on the diagonal, which is an eigenvalue only of a triangular matrix.",
            ),
        ),
        praise="A gradient on its way back does the same, and so the largest eigenvalue wins in the long run.",
    ),
    Exercise(
        label="ex-bptt-5",
        solution=(90, 19),
        mistakes=(
            Mistake(
                (10, 10),
                "That is enough where each loss has its own ten steps. In windows all places but the last reach less.",
            ),
            Mistake(
                (100, 19),
                "The mean is right. For the first number see whether place 10 itself reaches far enough.",
            ),
            Mistake(
                (90, 20),
                "The first is right. The mean reach is that of the numbers 1, 2, ..., tau, which is not quite tau / 2.",
            ),
            Mistake(
                (19, 90),
                "The right numbers, in the other order: first the window for nine losses in ten, then that for the "
                "mean.",
            ),
        ),
        praise="The first nine places of a window do not reach far enough. In a long window they are few.",
    ),
    Exercise(
        label="ex-bptt-growth-1",
        solution=math.log(FORGET_GATE / (1 - FORGET_GATE)),
        mistakes=(
            Mistake(
                FORGET_GATE,
                "That is the value of the gate. The bias is the number whose sigmoid has this value.",
            ),
            Mistake(
                math.log(99),
                "A gate of 0.99 keeps 0.99 to the power of 100, which is nearer to a third than to a half.",
            ),
            Mistake(
                math.log(199),
                "A gate of 0.995 loses half a per cent a step of what is *left*, not of what was there at the start: "
                "after 100 steps more than half remains.",
            ),
            Mistake(
                -math.log(FORGET_GATE / (1 - FORGET_GATE)),
                "The size is right. With this sign the gate would be nearly 0, and forget nearly everything.",
            ),
        ),
        praise="A bias of 1 is small by comparison: its gate keeps less than a twentieth over ten steps.",
        rtol=0,
        atol=0.03,
    ),
    Exercise(
        label="ex-bptt-truncation-1",
        solution=route_variance,
        mistakes=(
            Mistake(
                lambda keep_prob, lag: lag * (1 / keep_prob - 1),
                "You added up the variances of the single factors. Variances add in a sum of independent numbers; "
                "here they are multiplied.",
            ),
            Mistake(
                lambda keep_prob, lag: (1 / keep_prob - 1) ** lag,
                "The variance of a product is not the product of the variances, unless the means are 0. What does "
                "multiply, for independent factors, is the mean of the squares.",
            ),
            Mistake(
                lambda keep_prob, lag: keep_prob**-lag,
                "That is the mean of the square. For the variance something has still to be subtracted.",
            ),
            Mistake(
                lambda keep_prob, lag: keep_prob**lag * (1 - keep_prob**lag),
                "That is the variance of whether the route is kept at all, a number 0 or 1. A route that is kept is "
                "also enlarged.",
            ),
        ),
        praise="It grows exponentially with the lag; the squared gradient of the route has to fall faster than that.",
        probes=lambda: [(0.5, 1), (0.5, 3), (0.9, 10), (0.8, 2), (0.7, 0)],
    ),
)
