"""The self-checking exercises of the chapter *By hand, in numpy*."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from d2lrnn.checks.exercise import Exercise, Mistake

Array = np.ndarray[Any, np.dtype[Any]]

ALL_WEIGHTS = 418 * 100 + 2 * 100 * 100 + 100 + 100 * 418 + 418


def relu_delta(dH: Array, H: Array) -> Array:
    """Gradient before a rectifier: it passes where the unit is on."""
    return dH * (H > 0)


def relu_probes() -> list[tuple[Array, Array]]:
    """States with units on and off, and gradients of both signs on either."""
    rng = np.random.default_rng(0)
    return [(rng.normal(size=shape), np.maximum(rng.normal(size=shape), 0)) for shape in ((2, 4), (3, 3))]


def leaky_back(dH: Array, H_new: Array, W_hh: Array, leak: float) -> Array:
    """Gradient of the state before a leaky step: the direct way, and the way through the tanh."""
    return (1 - leak) * dH + (leak * dH * (1 - H_new**2)) @ W_hh.T


def leaky_probes() -> list[tuple[Array, Array, Array, float]]:
    """Two shares, neither of them a half, with which 1 - leak could be taken for leak."""
    rng = np.random.default_rng(0)
    return [
        (rng.normal(size=(3, 4)), np.tanh(rng.normal(size=(3, 4))), rng.normal(size=(4, 4)), leak)
        for leak in (0.3, 0.9)
    ]


def walk_back(
    doutputs: Array,
    states: Array,
    W_hh: Array,
    *,
    inside: bool = True,
    total: bool = True,
    transposed: bool = True,
) -> Array:
    """Gradient of W_hh over all steps; each of the three switches, off, makes one of the usual mistakes."""
    dH, dW_hh = np.zeros_like(doutputs[0]), np.zeros_like(W_hh)
    for t in reversed(range(len(doutputs))):
        slope = 1 - states[t + 1] ** 2
        delta = (doutputs[t] + dH) * slope if inside else doutputs[t] * slope + dH
        dW_hh = states[t].T @ delta + (dW_hh if total else 0)
        dH = delta @ (W_hh.T if transposed else W_hh)
    return dW_hh


def walk_probes() -> list[tuple[Array, Array, Array]]:
    """Four steps of two sequences and three units."""
    rng = np.random.default_rng(0)
    return [(rng.normal(size=(4, 2, 3)), np.tanh(rng.normal(size=(5, 2, 3))), rng.normal(size=(3, 3)))]


def _walk(**switches: bool) -> Callable[[Array, Array, Array], Array]:
    return lambda doutputs, states, W_hh: walk_back(doutputs, states, W_hh, **switches)


def counted_gradient(probs: Array, Y: Array) -> Array:
    """Gradient of the mean loss over the places whose target is not -1."""
    counts = Y >= 0
    one_hot = np.eye(probs.shape[1])[np.where(counts, Y, 0)]
    return (probs - one_hot) * counts[:, None] / counts.sum()


def last_word_gradient(probs: Array, Y: Array) -> Array:
    """What comes of -1 as an index: the last word is taken for the right one."""
    return (probs - np.eye(probs.shape[1])[Y]) / len(Y)


def counted_probes() -> list[tuple[Array, Array]]:
    """Places that count and places that do not."""
    rng = np.random.default_rng(0)
    targets = [np.array([2, -1, 4, 0]), np.array([-1, 3, -1, 1, 4])]
    return [(rng.dirichlet(np.ones(5), size=len(Y)), Y) for Y in targets]


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        label="ex-by-hand-1",
        solution=(ALL_WEIGHTS, 5000),
        mistakes=(
            Mistake(
                (ALL_WEIGHTS, 418 * 100),
                "The total is right. But only rows that were looked up get a gradient; how many are they at most?",
            ),
            Mistake(
                (ALL_WEIGHTS, 50),
                "The total is right, and so is the number of rows, at most. How many numbers stand in one row?",
            ),
            Mistake(
                (ALL_WEIGHTS - 518, 5000),
                "The second number is right. The first counts the four matrices; what else is learnt?",
            ),
            Mistake(
                (ALL_WEIGHTS - 100 * 100 + 418 * 100, 5000),
                "The second number is right. In the first, W_xh has a row for each word; but words come to it "
                "as rows of the table, 100 numbers wide.",
            ),
        ),
        praise="The table and the output layer have four fifths of the weights, the recurrence has one fifth.",
    ),
    Exercise(
        label="ex-by-hand-2",
        solution=relu_delta,
        probes=relu_probes,
        mistakes=(
            Mistake(
                lambda dH, H: dH * (1 - H**2),
                "That is the slope of tanh. How steep is the rectifier, where it is on and where it is off?",
            ),
            Mistake(
                lambda dH, H: dH * H,
                "That multiplies by the value of the rectifier. The chain rule wants its slope.",
            ),
            Mistake(
                lambda dH, H: np.maximum(dH, 0),
                "That sends the gradient itself through the rectifier. The forward pass decides where it may pass.",
            ),
            Mistake(
                lambda dH, H: dH * (H >= 0),
                "A rectifier never returns anything below 0, so that condition lets everything through.",
            ),
        ),
        praise="The output is enough: it shows whether the input was above 0. With tanh, too, the output gives the "
        "slope.",
    ),
    Exercise(
        label="ex-by-hand-3",
        solution=leaky_back,
        probes=leaky_probes,
        mistakes=(
            Mistake(
                lambda dH, H_new, W_hh, leak: (leak * dH * (1 - H_new**2)) @ W_hh.T,
                "That is the path through the tanh. The old state has another path too, and copying adds.",
            ),
            Mistake(
                lambda dH, H_new, W_hh, leak: dH + (leak * dH * (1 - H_new**2)) @ W_hh.T,
                "Both paths are there. What is the old state multiplied by on the direct path?",
            ),
            Mistake(
                lambda dH, H_new, W_hh, leak: (1 - leak) * dH + (dH * (1 - H_new**2)) @ W_hh.T,
                "Both paths are there. How much of H_new arrives in H, and so how much of dH in H_new?",
            ),
            Mistake(
                lambda dH, H_new, W_hh, leak: (1 - leak) * dH + (leak * dH * (1 - H_new**2)) @ W_hh,
                "Nearly: the shape is right, and shapes do not prove a product with a square matrix.",
            ),
            Mistake(
                lambda dH, H_new, W_hh, leak: (1 - leak) * dH + (leak * dH) @ W_hh.T,
                "Between H_before and H_new there is a matrix product and a tanh; the slope of the tanh is missing.",
            ),
        ),
        praise="One path goes through a matrix and a slope. The other goes through neither, and there the gradient "
        "lasts.",
    ),
    Exercise(
        label="ex-by-hand-4",
        solution=_walk(),
        probes=walk_probes,
        mistakes=(
            Mistake(
                _walk(inside=False, total=False, transposed=False),
                "That is the code as it was given. Compare the gradient of W_hh with central differences.",
            ),
            Mistake(
                _walk(inside=False, total=False),
                "W_hh is transposed now. Two mistakes are left: where does the gradient from the next step come back "
                "to, and how many steps use the weight?",
            ),
            Mistake(
                _walk(inside=False, transposed=False),
                "The steps add up now. Two mistakes are left: one in the line of delta, one in the last line.",
            ),
            Mistake(
                _walk(total=False, transposed=False),
                "The line of delta is right now. Two mistakes are left: how many steps use the weight, and what does a "
                "product multiply by on its way back?",
            ),
            Mistake(
                _walk(inside=False),
                "One mistake is left: both gradients of a state come back to the state itself, behind the tanh.",
            ),
            Mistake(
                _walk(total=False),
                "One mistake is left: this is the gradient of the first step alone, and every step uses the weight.",
            ),
            Mistake(
                _walk(transposed=False),
                "One mistake is left: on its way back a product multiplies by the other factor, transposed.",
            ),
        ),
        praise="Each of the three mistakes passes every check of shapes.",
    ),
    Exercise(
        label="ex-by-hand-5",
        solution=counted_gradient,
        probes=counted_probes,
        mistakes=(
            Mistake(
                last_word_gradient,
                "For numpy the index -1 is the last one, so your model learns the last word at the places that do not "
                "count.",
            ),
            Mistake(
                lambda probs, Y: last_word_gradient(probs, Y) * (Y >= 0)[:, None],
                "The right rows are zero. Over how many places is the mean taken?",
            ),
            Mistake(
                lambda probs, Y: last_word_gradient(probs, Y) * len(Y) * (Y >= 0)[:, None],
                "The right rows are zero, but this is the gradient of a sum, and the loss is a mean.",
            ),
            Mistake(
                lambda probs, Y: np.where(Y[:, None] >= 0, counted_gradient(probs, Y), probs / (Y >= 0).sum()),
                "A place that does not count can't change the loss, whatever the model says there; so what is its row?",
            ),
        ),
        praise="The padding gets no gradient, and it does not make the gradient of the other places smaller.",
    ),
)
