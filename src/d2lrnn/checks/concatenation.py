"""The self-checking exercises of the chapter *The concatenation identity*."""

from __future__ import annotations

import torch

from d2lrnn.checks.exercise import Exercise, Mistake

Pair = tuple[torch.Tensor, torch.Tensor]

SHAPES = {"wide": (16, 150), "tall": (150, 50), "one product": 16 * 50 * 150, "lookup": 16 * 50 * 50}


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
    *,
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


def import_kernel(kernel: torch.Tensor, num_hiddens: int) -> Pair:
    """W_xh and W_hh out of one matrix whose first rows belong to the state."""
    return kernel[num_hiddens:], kernel[:num_hiddens]


def kernels() -> list[tuple[torch.Tensor, int]]:
    """One input, and as many inputs as hidden units, where no shape tells the two apart."""
    generator = torch.Generator().manual_seed(0)
    return [(torch.randn(rows, 4, generator=generator), 4) for rows in (5, 8)]


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
                {**SHAPES, "tall": (50, 150)},
                "That is how PyTorch would store it, transposed. The tall matrix stands on the right of the wide one, "
                "so it must have as many rows as the wide one has columns.",
            ),
            Mistake(
                {**SHAPES, "wide": (32, 150)},
                "Joining along axis 1 makes a matrix wider and keeps its rows: X and H have the same rows, one "
                "for each sequence.",
            ),
            Mistake(
                {**SHAPES, "one product": 50 * 150, "lookup": 50 * 50},
                "The shapes are right. Those are the multiplications for one sequence, and the minibatch has 16.",
            ),
            Mistake(
                {**SHAPES, "lookup": 16 * 50 * 100},
                "That is what the input costs if it is multiplied. A lookup saves just that; what is left?",
            ),
        ),
        praise="The lookup saves the larger part here: the vocabulary is larger than the state.",
    ),
    Exercise(
        label="ex-concatenation-2",
        solution=bias_joins,
        probes=step_arrays,
        mistakes=(
            Mistake(
                lambda *arrays: glue(*arrays, fill=0.0),
                "A column of zeros switches the bias off. By what must b_h be multiplied, so that it stays unchanged?",
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
                "The product is right, because any order will do that is the same in both. This check wants the "
                "input first, then the state, then the ones.",
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
    Exercise(
        label="ex-concatenation-4",
        solution=import_kernel,
        probes=kernels,
        mistakes=(
            Mistake(
                lambda kernel, num_hiddens: (kernel[:num_hiddens], kernel[num_hiddens:]),
                "Those are the weights of the state and of the input, in this order. The exercise asks for W_xh first.",
            ),
            Mistake(
                lambda kernel, num_hiddens: (kernel[:-num_hiddens], kernel[-num_hiddens:]),
                "That is right for a program that puts the input first. This one puts the state first.",
            ),
        ),
        praise="Compare the outputs after every import: where all sizes agree, shapes cannot tell you.",
    ),
)
