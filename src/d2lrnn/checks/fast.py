"""The self-checking exercises of the chapter *Making it fast* and of its closer looks."""

from __future__ import annotations

import torch

from d2lrnn.checks.exercise import Exercise, Mistake


def _training_flops(num_parameters: int, num_tokens: int) -> int:
    return 6 * num_parameters * num_tokens


def _whole_gradient(grads: list[torch.Tensor], counts: list[int]) -> torch.Tensor:
    return sum((count * grad for grad, count in zip(grads, counts)), torch.tensor(0.0)) / sum(counts)


def _shares() -> list[tuple[list[torch.Tensor], list[int]]]:
    first, second, third = torch.randn(3, 2, 2, generator=torch.Generator().manual_seed(0)).double()
    return [([first, second], [3, 1]), ([first, second, third], [5, 2, 8]), ([third, second], [4, 4])]


def _tokens_per_rank(flops_per_second: float, bytes_per_second: float) -> float:
    return 4 * flops_per_second / (3 * bytes_per_second)


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        label="ex-fast-1",
        solution=(39.0625, 6.25, 1.0),
        mistakes=(
            Mistake(
                (6.25, 6.25, 1.0),
                "W_hh has a weight from every unit to every unit. How many weights come with one more unit?",
            ),
            Mistake(
                (39.0625, 39.0625, 1.0),
                "What is kept for the backward pass are the states, not the weights: how many numbers is one state?",
            ),
            Mistake(
                (39.0625, 6.25, 6.25),
                "The units of one step can all be computed at once. What has to wait?",
            ),
            Mistake(
                (39.0625, 6.25, 50.0),
                "Fifty steps wait for each other, before and after. The question is by what factor that has grown.",
            ),
        ),
        praise="The work grows with the square of the width, the memory grows in proportion, and the chain stays "
        "the same.",
    ),
    Exercise(
        label="ex-fast-2",
        solution=_training_flops,
        probes=lambda: [(23_579, 95_000), (1_000, 7), (10**9, 10**6)],
        mistakes=(
            Mistake(
                lambda num_parameters, num_tokens: 2 * num_parameters * num_tokens,
                "That is the forward pass. The backward pass has two products for each of the forward pass.",
            ),
            Mistake(
                lambda num_parameters, num_tokens: 3 * num_parameters * num_tokens,
                "A multiplication and the addition that goes with it are two operations.",
            ),
            Mistake(
                lambda num_parameters, num_tokens: 4 * num_parameters * num_tokens,
                "That is the backward pass alone.",
            ),
            Mistake(
                lambda num_parameters, num_tokens: 6 * num_parameters,
                "That is for one token, and the text has more of them.",
            ),
        ),
        praise="Six operations per weight and token: two forward, four backward.",
    ),
    Exercise(
        label="ex-fast-ranks-1",
        solution=_whole_gradient,
        probes=_shares,
        mistakes=(
            Mistake(
                lambda grads, counts: sum(grads) / len(grads),
                "In the plain mean a token of a small share counts for more than one of a large share.",
            ),
            Mistake(lambda grads, counts: sum(grads), "A sum grows with the number of ranks, and a mean must not."),
            Mistake(
                lambda grads, counts: sum(count * grad for grad, count in zip(grads, counts)),
                "The weights are right, and they sum to the number of all tokens. What should they sum to?",
            ),
            Mistake(
                lambda grads, counts: sum(count * grad for grad, count in zip(grads, counts)) / len(grads),
                "The weights are right, but you divide by the number of ranks. By which number should it be?",
            ),
            Mistake(
                lambda grads, counts: sum(grad / count for grad, count in zip(grads, counts)),
                "The gradients are those of means already. Dividing by the count once more gives the small shares more "
                "weight, and they should have less.",
            ),
        ),
        praise="Equal shares make the weights equal, and only then is the plain mean right.",
        rtol=1e-4,
    ),
    Exercise(
        label="ex-fast-ranks-3",
        solution=_tokens_per_rank,
        probes=lambda: [(33.5e12, 50e9), (400e12, 50e9), (1e11, 1e9)],
        mistakes=(
            Mistake(
                lambda flops_per_second, bytes_per_second: 2 * flops_per_second / (3 * bytes_per_second),
                "A ring sends nearly two gradients' size: the sums go round once, and the results once more.",
            ),
            Mistake(
                lambda flops_per_second, bytes_per_second: flops_per_second / (3 * bytes_per_second),
                "A number of float32 has four bytes.",
            ),
            Mistake(
                lambda flops_per_second, bytes_per_second: 4 * flops_per_second / bytes_per_second,
                "Training takes six operations per weight and token, not two.",
            ),
            Mistake(
                lambda flops_per_second, bytes_per_second: 3 * bytes_per_second / (4 * flops_per_second),
                "Upside down: a faster processor needs more tokens to be kept busy.",
            ),
        ),
        praise="The size of the model has cancelled: only the machine decides how many tokens a rank needs.",
        rtol=1e-6,
    ),
)
