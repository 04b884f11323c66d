"""The self-checking exercises of the chapter *Hidden state*."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from d2lrnn.checks.exercise import Exercise, Mistake

SIZES = {"W_xh": 100 * 100, "W_hh": 100 * 100, "b_h": 100, "W_hq": 100 * 418, "b_q": 418}


def bias_gradient(dA: torch.Tensor) -> torch.Tensor:
    """Sum the contributions of all rows: (batch_size, num_hiddens) -> (num_hiddens,)."""
    return dA.sum(dim=0)


def gradient_probes() -> list[tuple[torch.Tensor]]:
    """Gradients of several shapes; in the square one the two axes can only be told apart by the numbers."""
    generator = torch.Generator().manual_seed(0)
    return [(torch.randn(*shape, generator=generator),) for shape in ((2, 4), (5, 3), (3, 3))]


def bell(inputs: Sequence[int]) -> list[float]:
    """The ideal bell: -1 until the first 1, and +1 from then on."""
    return [1.0 if any(inputs[: t + 1]) else -1.0 for t in range(len(inputs))]


def bell_probes() -> list[tuple[list[int]]]:
    """No stroke, one stroke after a wait, one at once and a long wait, several strokes."""
    return [([0, 0, 0, 0],), ([0, 0, 0, 1, 0, 0, 0],), ([1] + [0] * 50,), ([0, 1, 0, 1, 1, 0],)]


def torch_weights() -> list[tuple[torch.Tensor, ...]]:
    """Weights as ``nn.RNN`` keeps them, for 3 inputs and 4 hidden units, and for 2 and 2."""
    generator = torch.Generator().manual_seed(0)
    probes = []
    for num_inputs, num_hiddens in ((3, 4), (2, 2)):
        shapes = ((num_hiddens, num_inputs), (num_hiddens, num_hiddens), (num_hiddens,), (num_hiddens,))
        probes.append(tuple(torch.randn(*shape, generator=generator) for shape in shapes))
    return probes


def from_torch(
    weight_ih: torch.Tensor, weight_hh: torch.Tensor, bias_ih: torch.Tensor, bias_hh: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The arrays of the row convention: both matrices transposed, the biases added."""
    return weight_ih.T, weight_hh.T, bias_ih + bias_hh


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        label="ex-hidden-state-1",
        solution=SIZES,
        mistakes=(
            Mistake(
                {**SIZES, "W_xh": 418 * 100},
                "W_xh has a row for every number that comes in at one step: the words come as vectors of 100 numbers, "
                "not as one-hot vectors.",
            ),
            Mistake(
                {**SIZES, "b_q": 100},
                "A bias has as many numbers as the thing it is added to. What does b_q shift: the state or the output?",
            ),
            Mistake(
                {**SIZES, "W_hq": 100 * 100},
                "W_hq leads from the hidden units to the output, which has one number for every word that may come.",
            ),
        ),
        praise="None of the five knows how long the text is, or how many texts are read at once.",
    ),
    Exercise(
        label="ex-hidden-state-3",
        solution=bias_gradient,
        probes=gradient_probes,
        mistakes=(
            Mistake(
                lambda dA: dA.sum(dim=1),
                "That is one number for each sequence. Over which axis do you have to sum, so that one number for each "
                "hidden unit is left?",
            ),
            Mistake(
                lambda dA: dA.sum(dim=0, keepdim=True),
                "The numbers are right, the shape is not yet: b_h has shape (num_hiddens,), and its gradient has the "
                "same.",
            ),
            Mistake(
                lambda dA: dA.mean(dim=0),
                "Nothing here divides by the batch size. If the loss is a mean over the batch, dA has that factor in "
                "it already.",
            ),
            Mistake(
                lambda dA: dA.sum(),
                "That adds up everything. The units have a bias each, so their gradients must be kept apart.",
            ),
        ),
        praise="What broadcasting copies on the way forward is summed on the way back.",
    ),
    Exercise(
        label="ex-hidden-state-4",
        solution=bell,
        probes=bell_probes,
        rtol=0.0,
        atol=0.1,
        mistakes=(
            Mistake(
                lambda inputs: [-1.0] * len(inputs),
                "This bell never rings: the input contributes w_xh, and must outweigh the state, which contributes "
                "-w_hh, and the bias.",
            ),
            Mistake(
                lambda inputs: [1.0] * len(inputs),
                "This bell rings before it is struck. Starting from h = 0 and with no input, the state is tanh(b_h): "
                "what does that say about b_h?",
            ),
            Mistake(
                lambda inputs: [1.0 if x else -1.0 for x in inputs],
                "This bell stops as soon as the stroke is over: with the state at 1 and no input, what is tanh taken "
                "of?",
            ),
            Mistake(
                lambda inputs: [float(any(inputs[: t + 1])) for t in range(len(inputs))],
                "Once struck it rings on, but before that the state is 0, and it should be below -0.9. Which of the "
                "three numbers counts when the input and the state are 0?",
            ),
        ),
        praise="The state has two stable values, and one input moves it from the lower to the upper: a lasting memory.",
    ),
    Exercise(
        label="ex-hidden-state-5",
        solution=from_torch,
        probes=torch_weights,
        mistakes=(
            Mistake(
                lambda w_ih, w_hh, b_ih, b_hh: (w_ih, w_hh, b_ih + b_hh),
                "PyTorch stores both matrices transposed; compare their shapes with those of this book.",
            ),
            Mistake(
                lambda w_ih, w_hh, b_ih, b_hh: (w_ih.T, w_hh, b_ih + b_hh),
                "W_xh is right. W_hh is square, so its shape does not tell you which way round it is stored.",
            ),
            Mistake(
                lambda w_ih, w_hh, b_ih, b_hh: (w_ih.T, w_hh.T, b_ih),
                "The matrices are right. PyTorch adds both biases before tanh, so b_h must be their sum.",
            ),
            Mistake(
                lambda w_ih, w_hh, b_ih, b_hh: (w_ih.T, w_hh.T, (b_ih + b_hh) / 2),
                "The matrices are right. The two biases are added in the equation, not averaged.",
            ),
        ),
        praise="A wrong W_hh or b_h would have raised no error at all.",
    ),
)
