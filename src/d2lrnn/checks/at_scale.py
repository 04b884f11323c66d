"""The self-checking exercises of the chapter *At scale*."""

from __future__ import annotations

import math

import torch

from d2lrnn.checks.exercise import Exercise, Mistake
from d2lrnn.study.scan import scan_levels

AffineMap = tuple[torch.Tensor, torch.Tensor]


def _lstm_flops(vocab_size: int, num_inputs: int, num_hiddens: int) -> int:
    gates = 4 * 2 * num_hiddens * (num_inputs + num_hiddens)
    return gates + 2 * num_hiddens * vocab_size


def _whole_gradient(grads: list[torch.Tensor], counts: list[int]) -> torch.Tensor:
    return sum((count * grad for grad, count in zip(grads, counts)), torch.tensor(0.0)) / sum(counts)


def _shares() -> list[tuple[list[torch.Tensor], list[int]]]:
    first, second, third = torch.randn(3, 2, 2, generator=torch.Generator().manual_seed(0)).double()
    return [([first, second], [3, 1]), ([first, second, third], [5, 2, 8]), ([third, second], [4, 4])]


def _combine(left: AffineMap, right: AffineMap) -> AffineMap:
    return left[0] @ right[0], left[1] @ right[0] + right[1]


def _maps() -> list[tuple[AffineMap, AffineMap]]:
    generator = torch.Generator().manual_seed(0)

    def random_map() -> AffineMap:
        return torch.randn(3, 3, generator=generator).double(), torch.randn(3, generator=generator).double()

    return [(random_map(), random_map()) for _ in range(2)]


def _best_num_ranks(work: float, fixed: float, move: float, send: float) -> float:
    return math.sqrt((work - 2 * send) / (2 * move))


def _num_levels(num_steps: int) -> int:
    return (num_steps - 1).bit_length()


def _num_combinations(num_steps: int) -> int:
    return sum(len(level.pairs) for level in scan_levels(num_steps))


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        label="ex-at-scale-1",
        solution=(39.0625, 6.25, 1.0),
        mistakes=(
            Mistake(
                (6.25, 6.25, 1.0),
                "A rod leads from every wheel to every wheel. How many rods come with a wheel that is added?",
            ),
            Mistake(
                (39.0625, 39.0625, 1.0),
                "What is kept for the way back is how the wheels stood, and not how the screws were set: "
                "how many numbers is that for one wave?",
            ),
            Mistake(
                (39.0625, 6.25, 6.25),
                "With a helper at every wheel, all wheels are turned at once. What is left to wait for?",
            ),
            Mistake(
                (39.0625, 6.25, 50.0),
                "Fifty is the number of waits, before and after. The question is by what factor it has grown.",
            ),
        ),
        praise="The work grows with the square, the memory with the size, and the waiting not at all: "
        "a wide state costs work, and a long text costs time.",
    ),
    Exercise(
        label="ex-at-scale-2",
        solution=_lstm_flops,
        probes=lambda: [(28, 28, 64), (10_000, 100, 200), (256, 64, 32)],
        mistakes=(
            Mistake(
                lambda vocab_size, num_inputs, num_hiddens: _lstm_flops(vocab_size, num_inputs, num_hiddens) // 2,
                "A multiplication and the addition that goes with it are two operations.",
            ),
            Mistake(
                lambda vocab_size, num_inputs, num_hiddens: (
                    2 * num_hiddens * (num_inputs + num_hiddens) + 2 * num_hiddens * vocab_size
                ),
                "That is the tanh layer's bill. How many blocks of that size does an LSTM compute at each step?",
            ),
            Mistake(
                lambda vocab_size, num_inputs, num_hiddens: (
                    4 * 2 * num_hiddens * (num_inputs + num_hiddens + vocab_size)
                ),
                "The output layer reads the state once; it has no gates.",
            ),
            Mistake(
                lambda vocab_size, num_inputs, num_hiddens: 4 * 2 * num_hiddens * (num_inputs + num_hiddens),
                "The gates are right. Something turns the state into scores for every symbol, and costs too.",
            ),
            Mistake(
                lambda vocab_size, num_inputs, num_hiddens: (
                    _lstm_flops(vocab_size, num_inputs, num_hiddens) + 2 * vocab_size * num_inputs
                ),
                "An embedding is looked up: copying a row costs no multiplication.",
            ),
            Mistake(
                lambda vocab_size, num_inputs, num_hiddens: 3 * _lstm_flops(vocab_size, num_inputs, num_hiddens),
                "That is the bill of a training step, and the exercise asks for the forward pass alone.",
            ),
        ),
        praise="Gates cost a factor of four in the recurrence and nothing in the output layer: "
        "with a large vocabulary they are nearly free.",
    ),
    Exercise(
        label="ex-at-scale-3",
        solution=_whole_gradient,
        probes=_shares,
        mistakes=(
            Mistake(
                lambda grads, counts: sum(grads) / len(grads),
                "The plain mean lets a token of a small share speak louder than one of a large share.",
            ),
            Mistake(lambda grads, counts: sum(grads), "A sum grows with the number of ranks, and a mean must not."),
            Mistake(
                lambda grads, counts: sum(count * grad for grad, count in zip(grads, counts)),
                "The weights are right, and they add up to the number of all tokens. What should they add up to?",
            ),
            Mistake(
                lambda grads, counts: sum(count * grad for grad, count in zip(grads, counts)) / len(grads),
                "The weights are right; what you divide by is the number of ranks, and it should be that of something "
                "else.",
            ),
            Mistake(
                lambda grads, counts: sum(grad / count for grad, count in zip(grads, counts)),
                "The gradients are those of means already. Dividing by the count once more gives the small shares more "
                "weight, and they should have less.",
            ),
        ),
        praise="Equal shares make the weights equal, and only then is the plain mean right.",
        rtol=1e-6,
        atol=1e-9,
    ),
    Exercise(
        label="ex-at-scale-4",
        solution=_combine,
        probes=_maps,
        mistakes=(
            Mistake(
                lambda left, right: _combine(right, left),
                "That applies the right map first. The left one is the earlier.",
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
                "The star multiplies entry by entry, which is right for numbers or diagonal matrices; these are full "
                "ones.",
            ),
        ),
        praise="The product of two matrices costs far more than that of a state and a matrix, "
        "which is why the networks that are scanned keep theirs diagonal.",
        rtol=1e-6,
        atol=1e-9,
    ),
    Exercise(
        label="ex-at-scale-5",
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
                "In each level some boxes on the left have nothing so far away to take in. How many?",
            ),
            Mistake(
                lambda num_steps: _num_levels(num_steps) * num_steps - num_steps + 1,
                "Right for powers of two. What do the distances 1, 2, 4 of five steps sum to?",
            ),
            Mistake(
                lambda num_steps: num_steps * math.log2(num_steps) - num_steps + 1,
                "Right for powers of two. For others it is not even a whole number: a level is made, or it is not.",
            ),
            Mistake(
                lambda num_steps: sum(len(level.pairs) for level in scan_levels(num_steps, "two-sweep")),
                "That is the scan in two sweeps, which saves work and has more levels.",
            ),
        ),
        praise="A million steps take nearly nineteen times the work of the loop, in twenty levels.",
    ),
    Exercise(
        label="ex-at-scale-9",
        solution=_best_num_ranks,
        probes=lambda: [(0.14, 0.002, 5e-6, 0.0005), (9.0, 1.0, 0.5, 0.25), (100.0, 3.0, 2.0, 10.0)],
        mistakes=(
            Mistake(
                lambda work, fixed, move, send: math.sqrt(work / (2 * move)),
                "Sending depends on R as well. Multiply 2 (R - 1) (λ + b / R) out and collect what is divided by R.",
            ),
            Mistake(
                lambda work, fixed, move, send: math.sqrt((work + 2 * send) / (2 * move)),
                "More ranks send more: 2 b (R - 1) / R grows with R. With which sign does b / R stand in it?",
            ),
            Mistake(
                lambda work, fixed, move, send: math.sqrt((work - send) / (2 * move)),
                "Nearly. How often does a gradient go round the ring, once or twice?",
            ),
            Mistake(
                lambda work, fixed, move, send: math.sqrt((work - 2 * send) / move),
                "By how many moves does the ring grow when one rank joins?",
            ),
            Mistake(
                lambda work, fixed, move, send: (work - 2 * send) / (2 * move),
                "That is a good number, of the wrong power: what is the derivative of w / R?",
            ),
            Mistake(
                lambda work, fixed, move, send: math.sqrt((work + fixed - 2 * send) / (2 * move)),
                "What is the same for every R makes all of them slower, and none of them better than another.",
            ),
            Mistake(
                lambda work, fixed, move, send: round(math.sqrt((work - 2 * send) / (2 * move))),
                "Right, and then rounded. Here R need not be a whole number.",
            ),
        ),
        praise="Four times the work feeds only twice the ranks: they share out the work, and each adds moves.",
    ),
)
