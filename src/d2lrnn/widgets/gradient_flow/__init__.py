"""The explorable of the chapter *Backpropagation through time*: a gradient on its way back, lag by lag."""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import Any

import numpy as np
import torch
import traitlets as t

from d2lrnn.study.bptt import gradients_by_lag, scale_to_spectral_radius, spectral_radius
from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color, visible_character
from d2lrnn.widgets.spec import Spec, Words

__all__ = ["GradientFlow", "small_networks"]

_SPEC = Spec("gradient_flow")
_GUESS = {name: visible_character(str(_SPEC.presets[name])) for name in ("guess", "came")}
_NUM_HIDDENS, _SEED = 24, 8
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SENT, _HIGHEST = 44, 150  # of the static picture: height of a message as it was sent, and of the highest
_STAYS = 0.2  # by so much of its length it may differ, and still be about the same
_VANISHED = 0.01  # share of its first length below which the gradient has vanished; above 1/0.01 it has exploded


def _rotations(num_hiddens: int) -> np.ndarray:
    """Rotations of pairs of units, each by an angle of its own: all eigenvalues have the absolute value 1.

    The angles are evenly spaced, with a gap about 64 degrees, where the page's ring is held.
    """
    count = num_hiddens // 2
    W = np.zeros((num_hiddens, num_hiddens))
    for i in range(count):
        angle = (i + 0.5 + 2 * (i > 3)) * np.pi / (count + 2)
        c, s = math.cos(angle), math.sin(angle)
        W[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, s], [-s, c]]
    return W


def _described(W: np.ndarray, gradient: np.ndarray) -> dict[str, Any]:
    """A matrix as the page needs it; the page scales all of it and computes no eigenvalue."""
    W = W.round(12)
    eigenvalues = sorted(np.linalg.eigvals(W).round(9).tolist(), key=lambda z: (z.real, z.imag))
    return {
        "W": W.tolist(),
        "gradient": gradient.round(12).tolist(),
        "eigenvalues": [[z.real, z.imag] for z in eigenvalues],
        "radius": spectral_radius(torch.from_numpy(W)),
    }


@cache
def small_networks() -> dict[str, Any]:
    """Matrices, the gradient of the loss at the last state, and inputs: from a generator whose stream never changes."""
    rng = np.random.RandomState(_SEED)
    drawn = rng.randn(_NUM_HIDDENS, _NUM_HIDDENS).round(3)
    gradient = rng.randn(_NUM_HIDDENS)
    gradient /= np.linalg.norm(gradient)
    basis, triangle = np.linalg.qr(rng.randn(_NUM_HIDDENS, _NUM_HIDDENS))
    basis = basis * np.sign(np.diag(triangle))  # unique, whichever signs the library chose
    inputs = rng.randn(_SPEC.controls["num_steps"]["max"], _NUM_HIDDENS).round(2)
    return {
        "inputs": inputs.tolist(),
        "matrices": {
            "random": _described(drawn, gradient),
            "orthogonal": _described(basis @ _rotations(_NUM_HIDDENS) @ basis.T, gradient),
        },
    }


@lru_cache(maxsize=8)
def _norms(matrix: str, radius: float, num_steps: int, activation: str, input_size: float) -> tuple[float, ...]:
    network = small_networks()["matrices"][matrix]
    W_hh = scale_to_spectral_radius(torch.tensor(network["W"], dtype=torch.float64), radius)
    inputs = input_size * torch.tensor(small_networks()["inputs"], dtype=torch.float64)[:num_steps]
    H, states = torch.zeros_like(inputs[0]), []
    for x_t in inputs:
        # A linear network has the slope 1 everywhere, as tanh has at 0.
        H = torch.tanh(x_t + H @ W_hh) if activation == "tanh" else H
        states.append(H)
    dH = torch.zeros(num_steps, 1, _NUM_HIDDENS, dtype=torch.float64)
    dH[-1] = torch.tensor(network["gradient"], dtype=torch.float64)
    return tuple(gradients_by_lag(torch.stack(states).unsqueeze(1), dH, W_hh).state_norms.tolist())


def format_length(value: float) -> str:
    """A length over many orders of magnitude, with two digits that count, next to 1 three.

    Examples
    --------
    >>> [format_length(value) for value in (0.0, 1.019, 0.012345, 0.0000701, 1234.5, 4.5e5, 1.8e-7)]
    ['0', '1.02', '0.012', '0.00007', '1\\u202f200', '450\\u202f000', '1.8×10⁻⁷']
    """
    if value == 0:
        return "0"
    if 1e-6 <= value < 999_999.5:
        digits = 3 if 0.995 <= value < 1.05 else 2  # so that what is not 1 does not look like it
        return f"{float(f'{value:.{digits}g}'):,.8f}".rstrip("0").rstrip(".").replace(",", "\u202f")
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}×10{str(int(exponent)).translate(_RAISED)}"  # noqa: RUF001


class GradientFlow(Explorable):
    r"""Follow the gradient of the last loss back through a recurrent network of 24 units, and see it fade or grow.

    With fixed inputs and :math:`\mathbf h_t = \phi(s\,\mathbf x_t + \mathbf h_{t-1} \mathbf W_{hh})`, one step back is

    .. math::
        \mathbf d_{k+1} = (\mathbf d_k \odot \phi'_{T-k}) \, \mathbf W_{hh}^\top .

    Parameters
    ----------
    radius : float, optional
        Spectral radius of `W_hh`, 0.2 to 1.6.
    num_steps : int, optional
        2 to 60.
    activation : {"linear", "tanh"}, optional
    matrix : {"random", "orthogonal"}, optional
    input_size : float, optional
        :math:`s`, 1e-8 to 3. A linear network's gradient does not depend on it.

    Raises
    ------
    traitlets.TraitError
        On any other value.

    Examples
    --------
    >>> flow = GradientFlow(radius=0.9, matrix="orthogonal")
    >>> round(flow.norms_by_lag[10], 6) == round(0.9**10, 6), round(flow.factor_per_step, 6)
    (True, 0.9)
    """

    _esm = module("gradient_flow")
    _css = stylesheet("gradient_flow")
    _words = "gradient_flow"

    radius = _SPEC.trait("radius")
    num_steps = _SPEC.trait("num_steps")
    activation = _SPEC.trait("activation")
    matrix = _SPEC.trait("matrix")
    input_size = _SPEC.trait("input_size")
    networks = t.Dict(read_only=True).tag(sync=True, shared=True)

    @property
    def W_hh(self) -> torch.Tensor:
        """The matrix, shape (num_hiddens, num_hiddens)."""
        drawn = torch.tensor(small_networks()["matrices"][self.matrix]["W"], dtype=torch.float64)
        return scale_to_spectral_radius(drawn, self.radius)

    @property
    def norms_by_lag(self) -> list[float]:
        """Length of the gradient of the loss with respect to the state, by lag."""
        return list(_norms(self.matrix, self.radius, self.num_steps, self.activation, self.input_size))

    @property
    def factor_per_step(self) -> float:
        """What a step multiplies the length by: a geometric mean over all of them."""
        norms = self.norms_by_lag
        return (norms[-1] / norms[0]) ** (1 / (len(norms) - 1))

    @t.default("networks")
    def _default_networks(self) -> dict[str, Any]:
        return small_networks()

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """What becomes of the gradient, as the figure says it."""
        words, lag = Words(self._words), self.num_steps - 1
        norms, factor = self.norms_by_lag, self.factor_per_step
        left = norms[-1] / norms[0]
        steps = words("steps_one") if lag == 1 else words("steps_many", count=lag)
        if left < _VANISHED:
            fate = "fate_vanishes"
        elif left > 1 / _VANISHED:
            fate = "fate_explodes"
        elif abs(left - 1) < 5e-4:
            fate = "fate_keeps"
        elif abs(factor - 1) < 0.01 and abs(left - 1) <= _STAYS:
            fate = "fate_stays"
        else:
            fate = "fate_shrinks" if left < 1 else "fate_grows"
        return words(fate, steps=steps, left=format_length(left))

    def static_picture(self) -> str:
        """What is left of the message at each step, and the eigenvalues with the unit circle."""
        words, sentence = Words(self._words), self.static_sentence()
        picture = Picture(460, 230, words("title"), words("chain", fate=sentence, why="").strip())
        self._draw_chain(picture, words)
        self._draw_eigenvalues(picture, words)
        return str(picture)

    def _draw_chain(self, picture: Picture, words: Words) -> None:
        left, right, middle = 12.0, 280.0, 126.0
        norms, lag = self.norms_by_lag, self.num_steps - 1
        steps = words("steps_one") if lag == 1 else words("steps_many", count=lag)
        picture.add("text", words("chain_title"), x=left, y=20, font_size=13)
        for text, x, anchor in ((words("where", steps=steps), left, "start"), (words("sent", **_GUESS), right, "end")):
            picture.add("text", text, x=x, y=218, font_size=12, text_anchor=anchor)
        room, most = (right - left) / len(norms), max(norms) / norms[0]
        unit = min(_SENT, _HIGHEST / most)
        if unit < _SENT:
            told = words("zoomed", most=format_length(most))
            picture.add("text", told, x=right, y=20, font_size=12, text_anchor="end")
        for k, norm in enumerate(norms):
            share = norm / norms[0]
            x, tall, wide = right - room * (k + 0.5), share * unit, min(14.0, 0.64 * room)
            paint = color("vermillion" if share > 1 / _VANISHED else "blue")
            picture.add("circle", cx=x, cy=middle, r=1.0, fill=color("line"))
            picture.add("rect", x=x - wide / 2, y=middle - tall / 2, width=wide, height=tall, fill=paint)

    def _draw_eigenvalues(self, picture: Picture, words: Words) -> None:
        x, y, unit = 378, 118, 44
        picture.add("circle", cx=x, cy=y, r=unit, stroke="currentColor", fill="none")
        picture.add("text", words("unit_circle"), x=x, y=y - unit - 8, font_size=11, text_anchor="middle")
        picture.add("text", "1", x=x + unit + 4, y=y + 13, font_size=11)
        scale = self.radius / small_networks()["matrices"][self.matrix]["radius"]
        for re, im in small_networks()["matrices"][self.matrix]["eigenvalues"]:
            paint = color("blue" if math.hypot(re, im) * scale < 1 + 1e-8 else "vermillion")
            picture.add("circle", cx=x + unit * scale * re, cy=y - unit * scale * im, r=2.8, fill=paint)
        caption = f"{words('spectral')} {self.radius:g}"
        picture.add("text", caption, x=x, y=218, font_size=12, text_anchor="middle")
