"""The self-checking exercises of the chapter *The concatenation identity*."""

from __future__ import annotations

import torch

from d2lrnn.checks.exercise import Exercise, Mistake

Pair = tuple[torch.Tensor, torch.Tensor]

WORK = 32 * (27 + 64) * 64
SHAPES = {"wide": (32, 91), "tall": (91, 64), "two products": WORK, "one product": WORK}


def step_arrays() -> list[tuple[torch.Tensor, ...]]:
    """X, H, W_xh, W_hh and b_h: the first example of the chapter, and one with as many inputs as hidden units."""
    generator = torch.Generator().manual_seed(0)
    probes = []
    for batch_size, num_inputs, num_hiddens in ((3, 1, 4), (4, 2, 2)):
        shapes = (
            (batch_size, num_inputs),
            (batch_size, num_hiddens),
            (num_inputs, num_hiddens),
            (num_hiddens, num_hiddens),
            (num_hiddens,),
        )
        probes.append(tuple(torch.randn(*shape, generator=generator) for shape in shapes))
    return probes


def glue(
    X: torch.Tensor,
    H: torch.Tensor,
    W_xh: torch.Tensor,
    W_hh: torch.Tensor,
    b_h: torch.Tensor,
    fill: float = 1.0,
    wide_order: tuple[int, ...] = (0, 1, 2),
    tall_order: tuple[int, ...] = (0, 1, 2),
) -> Pair:
    """Join input, state and a column of `fill`, and their weights, each in the order given."""
    columns = (X, H, X.new_full((len(X), 1), fill))
    rows = (W_xh, W_hh, b_h.reshape(1, -1))
    return torch.cat([columns[k] for k in wide_order], dim=1), torch.cat([rows[k] for k in tall_order], dim=0)


def bias_joins(X: torch.Tensor, H: torch.Tensor, W_xh: torch.Tensor, W_hh: torch.Tensor, b_h: torch.Tensor) -> Pair:
    """The matrices [X H 1], (batch_size, num_inputs + num_hiddens + 1), and [W_xh; W_hh; b_h]."""
    return glue(X, H, W_xh, W_hh, b_h)


def shuffled_weights(B: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    """Weights that give with ``A[:, order]`` what `B` gives with ``A``."""
    return B[order]


def shuffles() -> list[Pair]:
    """Square weights, so that a shuffle of the wrong axis raises no error; no order is its own inverse."""
    generator = torch.Generator().manual_seed(0)
    orders = ([3, 0, 4, 2, 1], [1, 2, 3, 4, 0])
    return [(torch.randn(5, 5, generator=generator), torch.tensor(order)) for order in orders]


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        label="ex-concatenation-1",
        solution=SHAPES,
        mistakes=(
            Mistake(
                {**SHAPES, "tall": (64, 91)},
                "That is how PyTorch would store it, transposed. The tall matrix stands on the right of the wide one, "
                "so its rows must be as many as the wide one's columns.",
            ),
            Mistake(
                {**SHAPES, "wide": (64, 91)},
                "Joining along axis 1 makes a matrix wider and leaves its rows alone: X and H have the same rows, one "
                "for each sequence.",
            ),
            Mistake(
                {**SHAPES, "two products": WORK // 32, "one product": WORK // 32},
                "The shapes are right. Those are the multiplications for one sequence, and the minibatch has 32.",
            ),
            Mistake(
                {**SHAPES, "two products": 32 * 27 * 64 + 32 * 64, "one product": WORK},
                "Adding the two results takes no multiplications, and the second product takes 64 for every entry.",
            ),
        ),
        praise="Not one multiplication is saved. Whatever speed there is to be gained, it lies elsewhere.",
    ),
    Exercise(
        label="ex-concatenation-2",
        solution=bias_joins,
        probes=step_arrays,
        mistakes=(
            Mistake(
                lambda *arrays: glue(*arrays, fill=0.0),
                "A column of zeros switches the bias off: what must b_h be multiplied with, to arrive unchanged?",
            ),
            Mistake(
                lambda *arrays: glue(*arrays, tall_order=(2, 0, 1)),
                "The bias stands at the top of the weights, and the ones stand last: they do not meet.",
            ),
            Mistake(
                lambda *arrays: glue(*arrays, wide_order=(2, 0, 1)),
                "The ones stand first, and the bias stands at the bottom of the weights: they do not meet.",
            ),
            Mistake(
                lambda *arrays: glue(*arrays, wide_order=(2, 0, 1), tall_order=(2, 0, 1)),
                "The product is right, for any order will do that is the same in both. This check wants the input "
                "first, then the state, then the ones.",
            ),
        ),
        praise="Now the whole step is one matrix product and a tanh.",
    ),
    Exercise(
        label="ex-concatenation-3",
        solution=shuffled_weights,
        probes=shuffles,
        mistakes=(
            Mistake(
                lambda B, order: B[:, order],
                "That shuffles the hidden units, the columns of the result. Which axis of B meets the columns of A?",
            ),
            Mistake(
                lambda B, order: B[torch.argsort(order)],
                "That is the shuffle undone. Column k of the shuffled matrix is column order[k] of A; which row of B "
                "must stand at k?",
            ),
            Mistake(
                lambda B, order: B,
                "With B as it is, every shuffled column meets a row that was not meant for it.",
            ),
        ),
        praise="The order of the columns is a convention; that both sides keep the same one is not.",
    ),
)
