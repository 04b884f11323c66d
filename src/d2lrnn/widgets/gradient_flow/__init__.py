"""The explorable of the chapter *Backpropagation through time*: a gradient on its way back, lag by lag."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
import torch
import traitlets as t

from d2lrnn.study.bptt import LagGradients, gradients_by_lag, scale_to_spectral_radius, spectral_radius
from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color
from d2lrnn.widgets.spec import Words

__all__ = ["GradientFlow", "factor_per_step", "preset_traits", "unrolled_gradients"]

_NUM_HIDDENS, _MAX_STEPS, _SEED = 24, 100, 8
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_MATRICES = ("gaussian", "orthogonal", "shear", "source")

_ACTIVATIONS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], Callable[[torch.Tensor], torch.Tensor]]] = {
    # the function, and its slope as a function of its value
    "identity": (lambda z: z, torch.ones_like),
    "tanh": (torch.tanh, lambda h: 1 - h**2),
    "relu": (torch.relu, lambda h: (h > 0).to(h.dtype)),
}

_LINEAR = {
    "num_steps": 60, "activation": "identity", "matrix": "gaussian", "input_size": 0.1, "clip": 0.0, "truncation": 0,
}
_PRESETS: dict[str, dict[str, Any]] = {
    "vanishes": {**_LINEAR, "radius": 0.8},
    "level": {**_LINEAR, "radius": 1.0},
    "explodes": {**_LINEAR, "radius": 1.2},
    "saturated": {**_LINEAR, "radius": 1.2, "activation": "tanh", "input_size": 1.0},
    "source": {**_LINEAR, "radius": 0.5, "matrix": "source", "num_steps": 21},  # 0.5: times that of the source's matrix
    "orthogonal": {**_LINEAR, "radius": 1.0, "matrix": "orthogonal"},
    "sheared": {**_LINEAR, "radius": 0.8, "matrix": "shear"},
    "cut": {**_LINEAR, "radius": 0.95, "truncation": 5, "clip": 2.0},
}


def _rotations(num_hiddens: int, shear: float) -> np.ndarray:
    """Rotations in pairs of nearly the same angle, the first of a pair pushed onto the second; all |λ| are 1."""
    count = num_hiddens // 2
    W = np.kron(np.diag([shear, 0.0] * (count // 2 - 1) + [shear], 1), np.eye(2))
    for i in range(count):
        angle = (i // 2 + 0.5) * np.pi / (count // 2) + 0.03 * (i % 2)
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
        "sigma_max": float(np.linalg.norm(W, 2)),
    }


@cache
def _networks() -> dict[str, Any]:
    """Matrices, the gradient of the loss at the last state, and inputs: from a generator whose stream never changes."""
    rng = np.random.RandomState(_SEED)
    gaussian = rng.randn(_NUM_HIDDENS, _NUM_HIDDENS).round(3)
    gradient = rng.randn(_NUM_HIDDENS)
    gradient /= np.linalg.norm(gradient)
    basis, triangle = np.linalg.qr(rng.randn(_NUM_HIDDENS, _NUM_HIDDENS))
    basis = basis * np.sign(np.diag(triangle))  # unique, whichever signs the library chose
    inputs = rng.randn(_MAX_STEPS, _NUM_HIDDENS).round(2)
    # Deep Learning from Scratch 2, chapter 6: two rows of ones, and norms divided by the batch size 2
    source, ones = np.random.RandomState(3).randn(3, 3), np.ones(3) / math.sqrt(2)
    return {
        "inputs": inputs.tolist(),
        "matrices": {
            "gaussian": _described(gaussian, gradient),
            "orthogonal": _described(basis @ _rotations(_NUM_HIDDENS, 0.0) @ basis.T, gradient),
            "shear": _described(basis @ _rotations(_NUM_HIDDENS, 8.0) @ basis.T, gradient),
            "source": _described(source, ones),
        },
    }


def preset_traits(name: str) -> dict[str, Any]:
    """Values of the traits in a preset.

    ``vanishes``, ``level`` and ``explodes`` are one random matrix in a linear network, with radius 0.8, 1 and 1.2;
    ``saturated`` is the last with tanh and large inputs; ``source`` is the halved matrix of *Deep Learning from Scratch
    2*; ``orthogonal`` and ``sheared`` have the same eigenvalues, but for the radius; ``cut`` truncates and clips.

    Raises
    ------
    ValueError
        If there is no preset of that name.

    Examples
    --------
    >>> preset_traits("explodes")["radius"], round(preset_traits("source")["radius"], 3)
    (1.2, 0.628)
    """
    if name not in _PRESETS:
        raise ValueError(f"There is no preset {name!r}; choose one of {', '.join(_PRESETS)}.")
    traits = dict(_PRESETS[name])
    if traits["matrix"] == "source":
        traits["radius"] *= _networks()["matrices"]["source"]["radius"]
    return traits


def unrolled_gradients(
    W_hh: torch.Tensor, inputs: torch.Tensor, last: torch.Tensor, activation: str = "tanh"
) -> tuple[torch.Tensor, LagGradients]:
    r"""Follow the loss of the last step back by autograd, for any activation, one lag at a time.

    Each step of :math:`\mathbf h_t = \phi(\mathbf x_t + \mathbf h_{t-1} \mathbf W_{hh})` gets a copy of the matrix of
    its own, so that autograd keeps apart what it would otherwise add up.

    Parameters
    ----------
    W_hh : Tensor, shape (num_hiddens, num_hiddens)
    inputs : Tensor, shape (num_steps, num_hiddens)
        What each step adds to the units.
    last : Tensor, shape (num_hiddens,)
        Gradient of the loss with respect to the last state.
    activation : {"identity", "tanh", "relu"}, optional

    Returns
    -------
    (H, lags)
        States, shape (num_steps, num_hiddens), and gradients by lag.

    Raises
    ------
    ValueError
        On another activation.

    Examples
    --------
    >>> inputs = torch.zeros(3, 2); inputs[0] = 1.0
    >>> H, lags = unrolled_gradients(0.5 * torch.eye(2), inputs, torch.ones(2), "identity")
    >>> H[:, 0].tolist(), [round(norm, 3) for norm in lags.state_norms.tolist()]
    ([1.0, 0.5, 0.25], [1.414, 0.707, 0.354])
    """
    if activation not in _ACTIVATIONS:
        raise ValueError(f"There is no activation {activation!r} here; choose one of {', '.join(_ACTIVATIONS)}.")
    phi, _ = _ACTIVATIONS[activation]
    copies = [W_hh.detach().clone().requires_grad_() for _ in inputs]
    states = [torch.zeros_like(last)]
    for x_t, W_t in zip(inputs, copies):
        states.append(phi(x_t + states[-1] @ W_t))
    grads = torch.autograd.grad((last * states[-1]).sum(), [*states[1:], *copies])
    by_state, by_copy = grads[: len(inputs)], grads[len(inputs) :]
    norms = torch.stack([gradient.norm() for gradient in reversed(by_state)])
    lags = LagGradients(norms, torch.stack(list(reversed(by_copy))))
    return torch.stack(states[1:]).detach(), lags


def factor_per_step(norms: list[float]) -> float | None:
    """Factor a step over the older half of the lags: a geometric mean; None where nothing is left to compare with.

    Examples
    --------
    >>> factor_per_step([1.0, 9.0, 4.0, 2.0, 1.0])
    0.5
    """
    end = len(norms) - 1
    start = end // 2
    return (norms[end] / norms[start]) ** (1 / (end - start)) if norms[start] > 0 else None


@dataclass(frozen=True)
class _Flow:
    W_hh: torch.Tensor
    slopes: torch.Tensor
    lags: LagGradients


@lru_cache(maxsize=8)
def _flow(matrix: str, radius: float, num_steps: int, activation: str, input_size: float) -> _Flow:
    network = _networks()["matrices"][matrix]
    W_hh = scale_to_spectral_radius(torch.tensor(network["W"], dtype=torch.float64), radius)
    last = torch.tensor(network["gradient"], dtype=torch.float64)
    inputs = torch.tensor(_networks()["inputs"], dtype=torch.float64)[:num_steps, : len(last)]
    H, lags = unrolled_gradients(W_hh, input_size * inputs, last, activation)
    if activation == "tanh":  # the package's closed form is the one that the chapter teaches
        dH = torch.zeros_like(H).unsqueeze(1)
        dH[-1] = last
        lags = gradients_by_lag(H.unsqueeze(1), dH, W_hh)
    return _Flow(W_hh, _ACTIVATIONS[activation][1](H), lags)


def _angle_degrees(a: torch.Tensor, b: torch.Tensor) -> float | None:
    norms = float(a.norm()), float(b.norm())
    if min(norms) == 0:
        return None
    u, v = a / norms[0], b / norms[1]
    return math.degrees(2 * math.atan2(float((u - v).norm()), float((u + v).norm())))  # exact for small angles too


def _fate(left: float) -> str:
    if left < 0.1:
        return "verdict_vanishes" if left < 0.001 else "verdict_fades"
    if left > 10:
        return "verdict_explodes" if left > 1000 else "verdict_grows"
    return "verdict_lasts"


def format_length(value: float) -> str:
    """A length over many orders of magnitude.

    Examples
    --------
    >>> [format_length(value) for value in (0.0, 1.0, 0.012345, 1234.5, 4.5e5, 1.8e-6)]
    ['0', '1', '0.0123', '1230', '4.5×10⁵', '1.8×10⁻⁶']
    """
    if value == 0:
        return "0"
    if 0.001 <= value < 9999.5:
        return f"{float(f'{value:.3g}'):.6f}".rstrip("0").rstrip(".")
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}×10{str(int(exponent)).translate(_RAISED)}"  # noqa: RUF001


class GradientFlow(Explorable):
    r"""Follow the gradient of the last loss back through a recurrent network, and see it fade or grow.

    With fixed inputs and :math:`\mathbf h_t = \phi(s\,\mathbf x_t + \mathbf h_{t-1} \mathbf W_{hh})`, lag :math:`k` is

    .. math::
        \boldsymbol\delta_k = \mathbf d_k \odot \phi'_{T-k}, \qquad
        \mathbf d_{k+1} = \boldsymbol\delta_k \mathbf W_{hh}^\top, \qquad
        \frac{\partial L}{\partial \mathbf W_{hh}} = \sum_k \mathbf h_{T-k-1}^\top \boldsymbol\delta_k .

    Parameters
    ----------
    radius : float, optional
        Spectral radius of `W_hh`, 0.2 to 2.
    num_steps : int, optional
        2 to 100.
    activation : {"identity", "tanh", "relu"}, optional
    matrix : {"gaussian", "orthogonal", "shear", "source"}, optional
        Random; orthogonal; with the eigenvalues of the orthogonal one and far from normal; or the 3 x 3 matrix of *Deep
        Learning from Scratch 2*, chapter 6. All of them but the last have 24 units.
    input_size : float, optional
        :math:`s`, 1e-8 to 10.
    clip : float, optional
        Greatest length of the gradient of `W_hh`, 0 (none) to 1000.
    truncation : int, optional
        Number of lags that are kept, 0 (all) to 100.

    Raises
    ------
    traitlets.TraitError
        On any other value.

    Examples
    --------
    >>> flow = GradientFlow(radius=0.9, matrix="orthogonal", num_steps=30)
    >>> round(flow.norms_by_lag[10], 6) == round(0.9**10, 6), round(flow.factor_per_step, 6)
    (True, 0.9)
    >>> flow.preset("cut")
    >>> flow.truncation, round(float(flow.gradient.norm()), 6)
    (5, 2.0)
    """

    _esm = module("gradient_flow")
    _css = stylesheet("gradient_flow")
    _words = "gradient_flow"

    radius = t.Float(0.8).tag(sync=True, control=True)
    num_steps = t.Int(60, min=2, max=_MAX_STEPS).tag(sync=True, control=True)
    activation = t.Enum(list(_ACTIVATIONS), "identity").tag(sync=True, control=True)
    matrix = t.Enum(list(_MATRICES), "gaussian").tag(sync=True, control=True)
    input_size = t.Float(0.1).tag(sync=True, control=True)
    clip = t.Float(0.0).tag(sync=True, control=True)
    truncation = t.Int(0, min=0, max=_MAX_STEPS).tag(sync=True, control=True)
    networks = t.Dict(read_only=True).tag(sync=True, shared=True)

    def preset(self, name: str) -> None:
        """Set all controls at once (see `preset_traits`)."""
        self.update(**preset_traits(name))

    @property
    def _run(self) -> _Flow:
        return _flow(self.matrix, self.radius, self.num_steps, self.activation, self.input_size)

    @property
    def W_hh(self) -> torch.Tensor:
        """The matrix, shape (num_hiddens, num_hiddens)."""
        return self._run.W_hh

    @property
    def eigenvalues(self) -> torch.Tensor:
        """Eigenvalues of `W_hh`: complex, shape (num_hiddens,)."""
        return torch.linalg.eigvals(self.W_hh)

    @property
    def largest_singular_value(self) -> float:
        """How much one multiplication by `W_hh` can stretch."""
        return float(torch.linalg.matrix_norm(self.W_hh, 2))

    @property
    def mean_slope(self) -> float:
        """Mean slope of the activation, over all units and steps."""
        return float(self._run.slopes.mean())

    @property
    def norms_by_lag(self) -> list[float]:
        """Length of the gradient of the loss with respect to the state, by lag."""
        return self._run.lags.state_norms.tolist()

    @property
    def factor_per_step(self) -> float | None:
        """What a step multiplies the gradient by, over the older half of the lags."""
        return factor_per_step(self.norms_by_lag)

    @property
    def full_gradient(self) -> torch.Tensor:
        """Gradient of `W_hh`, all lags added up: shape (num_hiddens, num_hiddens)."""
        return self._run.lags.full

    @property
    def truncated_gradient(self) -> torch.Tensor:
        """What truncation leaves of it, before clipping."""
        return self._run.lags.truncated(self.truncation or self.num_steps)

    @property
    def gradient(self) -> torch.Tensor:
        """The gradient of `W_hh` that arrives: truncated, then clipped."""
        return self.truncated_gradient * self.clip_factor

    @property
    def clip_factor(self) -> float:
        """What clipping multiplies the gradient by."""
        norm = float(self.truncated_gradient.norm())
        return self.clip / norm if 0 < self.clip < norm else 1.0

    @property
    def lost(self) -> float | None:
        """Distance of the truncated gradient from the full one, as a share of the full one's length."""
        full = self.full_gradient
        return float((full - self.truncated_gradient).norm() / full.norm()) if float(full.norm()) > 0 else None

    @property
    def angle_degrees(self) -> float | None:
        """Angle between the truncated gradient and the full one."""
        return _angle_degrees(self.truncated_gradient, self.full_gradient)

    @t.default("networks")
    def _default_networks(self) -> dict[str, Any]:
        return _networks()

    @t.validate("radius", "input_size", "clip")
    def _validate_float(self, proposal: dict[str, Any]) -> float:
        name, value = proposal["trait"].name, proposal["value"]
        low, high = {"radius": (0.2, 2.0), "input_size": (1e-8, 10.0), "clip": (0.0, 1000.0)}[name]
        if not low <= value <= high:  # also catches NaN
            raise t.TraitError(f"{name} is {value}; give a number from {low:g} to {high:g}.")
        return value

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """The verdict, as the live region says it."""
        norms, words = self.norms_by_lag, Words(self._words)
        left = norms[-1] / norms[0]
        return words(_fate(left), lag=self.num_steps - 1, left=format_length(left))

    def static_picture(self) -> str:
        """Norm by lag on a logarithmic axis, and the eigenvalues with the unit circle."""
        words, norms = Words(self._words), self.norms_by_lag
        description = words(
            "chart", lag=self.num_steps - 1, first=format_length(norms[0]), last=format_length(norms[-1]),
            radius=format_length(self.radius),
        )
        picture = Picture(440, 240, words("title"), f"{description} {self.static_sentence()}")
        self._draw_norms(picture, words, norms)
        self._draw_eigenvalues(picture, words)
        return str(picture)

    def _draw_norms(self, picture: Picture, words: Words, norms: list[float]) -> None:
        powers = [math.log10(norm) for norm in norms if norm > 0]
        low, high = 6 * math.floor(min(-1, *powers) / 6), 6 * math.ceil(max(1, *powers) / 6)
        left, right, top, bottom = 52, 268, 36, 204

        def place(lag: int, power: float) -> str:
            x = left + (right - left) * lag / (self.num_steps - 1)
            return f"{x:.1f} {bottom - (bottom - top) * (max(power, low) - low) / (high - low):.1f}"

        def path(ys: list[float]) -> str:
            return "M" + "L".join(place(lag, math.log10(y)) for lag, y in enumerate(ys) if y > 0)

        picture.add("text", words("norm"), x=12, y=20)
        for power in range(low, high + 1, max(3, (high - low) // 18 * 3)):
            picture.add("path", d=f"M{place(0, power)}H{right}", stroke=color("line"), fill="none")
            y = float(place(0, power).split()[1])
            shown = "1" if power == 0 else f"10{str(power).translate(_RAISED)}"
            picture.add("text", shown, x=left - 6, y=y + 4, font_size=11, text_anchor="end")
        picture.add("path", d=path(norms), stroke=color("blue"), stroke_width=2.5, fill="none")
        guide = [norms[0] * self.radius**lag for lag in range(self.num_steps)]
        dashed = {"stroke_width": 1.5, "stroke_dasharray": "6 3", "fill": "none"}
        picture.add("path", d=path(guide), stroke=color("vermillion"), **dashed)
        picture.add("text", words("lag"), x=right, y=bottom + 22, font_size=12, text_anchor="end")

    def _draw_eigenvalues(self, picture: Picture, words: Words) -> None:
        x, y, unit = 358, 120, 38
        picture.add("text", words("eigenvalues"), x=x, y=20, text_anchor="middle")
        picture.add("circle", cx=x, cy=y, r=unit, stroke="currentColor", fill="none")
        for value in self.eigenvalues.tolist():
            inside = abs(value) < 1 + 1e-8
            picture.add(
                "circle" if inside else "rect",
                **(
                    {"cx": x + unit * value.real, "cy": y - unit * value.imag, "r": 2.8, "fill": color("blue")}
                    if inside
                    else {
                        "x": x + unit * value.real - 3, "y": y - unit * value.imag - 3,
                        "width": 6, "height": 6, "fill": color("vermillion"),
                    }
                ),
            )
        caption = words("radius_is", radius=format_length(self.radius))
        picture.add("text", caption, x=x, y=226, font_size=12, text_anchor="middle")
