"""The explorable of truncation: which routes of the gradient a cut keeps, and how much is lost with the others."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import torch
import traitlets as t

from d2lrnn.study.bptt import bptt, gradients_by_lag, scale_to_spectral_radius, truncate_every
from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.gradient_flow import small_networks
from d2lrnn.widgets.picture import Picture, color
from d2lrnn.widgets.spec import Spec, Words

__all__ = ["Truncation"]

_SPEC = Spec("truncation")
_NUM_STEPS, _WARM_UP, _INPUT_SIZE, _SEED = 24, 6, 0.3, 11


@cache
def _network() -> dict[str, Any]:
    """The random network of the gradient's way back, with a loss at every one of 24 steps."""
    networks = small_networks()
    inputs = _INPUT_SIZE * np.array(networks["inputs"])[: _WARM_UP + _NUM_STEPS]
    drawn = networks["matrices"]["random"]
    gradients = np.random.RandomState(_SEED).randn(_NUM_STEPS, len(drawn["W"])).round(2)
    return {
        "W": drawn["W"], "radius": drawn["radius"], "inputs": inputs.round(6).tolist(), "gradients": gradients.tolist(),
    }


class Truncation(Explorable):
    r"""Cut the way back through time, in a tanh network of 24 units with a loss at each of 24 steps.

    The gradient of `W_hh` is a sum over routes, from the loss of step :math:`t` back to the use of `W_hh` at step
    :math:`i \le t`. Windows of :math:`\tau` steps keep the routes within a window; counted from each loss, the routes
    with :math:`t - i < \tau` are kept.

    Parameters
    ----------
    tau : int, optional
        1 to 24.
    way : {"windows", "losses"}, optional
    radius : float, optional
        Spectral radius of `W_hh`, 0.5 to 1.1.

    Raises
    ------
    traitlets.TraitError
        On any other value.

    Examples
    --------
    >>> truncation = Truncation(tau=24)
    >>> truncation.num_kept, truncation.lost
    (300, 0.0)
    >>> Truncation(tau=12).num_kept
    156
    """

    _esm = module("truncation")
    _css = stylesheet("truncation")
    _words = "truncation"

    tau = _SPEC.trait("tau")
    way = _SPEC.trait("way")
    radius = _SPEC.trait("radius")
    network = t.Dict(read_only=True).tag(sync=True, shared=True)

    @t.default("network")
    def _default_network(self) -> dict[str, Any]:
        return _network()

    def _gradients(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The whole gradient of `W_hh`, and what is kept of it."""
        network = _network()
        W_hh = scale_to_spectral_radius(torch.tensor(network["W"], dtype=torch.float64), self.radius)
        inputs = torch.tensor(network["inputs"], dtype=torch.float64).unsqueeze(1)
        H, path = torch.zeros_like(inputs[0]), []
        for X in inputs:
            H = torch.tanh(X + H @ W_hh)
            path.append(H)
        states, H_0 = torch.stack(path[_WARM_UP:]), path[_WARM_UP - 1]
        dH = torch.tensor(network["gradients"], dtype=torch.float64).unsqueeze(1)
        lags = gradients_by_lag(states, dH, W_hh, H_0)
        if self.way == "losses":
            return lags.full, lags.truncated(self.tau)
        factors = truncate_every(_NUM_STEPS, self.tau)
        return lags.full, bptt(inputs[_WARM_UP:], states, dH, W_hh, H_0=H_0, factors=factors).dW_hh

    @property
    def full_gradient(self) -> torch.Tensor:
        """Gradient of `W_hh` by all routes, shape (num_hiddens, num_hiddens)."""
        return self._gradients()[0]

    @property
    def truncated_gradient(self) -> torch.Tensor:
        """What is kept of it."""
        return self._gradients()[1]

    def is_kept(self, loss: int, use: int) -> bool:
        """Whether the loss of a step reaches the use of `W_hh` at another, both counted from 0."""
        if self.way == "losses":
            return 0 <= loss - use < self.tau
        return use <= loss and loss // self.tau == use // self.tau

    @property
    def num_kept(self) -> int:
        """Number of routes that are kept, of 300."""
        return sum(self.is_kept(loss, use) for loss in range(_NUM_STEPS) for use in range(loss + 1))

    @property
    def lost(self) -> float:
        """Length of what is missing, as a share of the length of the whole gradient."""
        full, kept = self._gradients()
        return float((full - kept).norm() / full.norm()) if self.tau < _NUM_STEPS else 0.0

    @property
    def angle_degrees(self) -> float:
        """Angle between what is kept and the whole gradient."""
        if self.tau == _NUM_STEPS:
            return 0.0
        u, v = (gradient / gradient.norm() for gradient in self._gradients())
        return math.degrees(2 * math.atan2(float((u - v).norm()), float((u + v).norm())))  # exact for small ones too

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """What the cut keeps, as the figure says it."""
        words, total = Words(self._words), _NUM_STEPS * (_NUM_STEPS + 1) // 2
        if self.num_kept == total:
            return words("now_all", all=total)
        steps = words("steps_one") if self.tau == 1 else words("steps_many", count=self.tau)
        lost = 100 * self.lost
        share = f"{lost:.0f}" if lost >= 9.95 else f"{lost:.1f}" if lost >= 0.095 else f"{lost:.2f}"
        share = "under 0.01" if share == "0.00" else share
        return words(f"now_{self.way}", steps=steps, kept=self.num_kept, all=total, lost=f"{share} %")

    def static_picture(self) -> str:
        """A square for each route, filled where it is kept."""
        words, sentence = Words(self._words), self.static_sentence()
        picture = Picture(300, 300, words("title"), words("picture", count=_NUM_STEPS, now=sentence))
        size, filled, hollow = 11.0, {"fill": color("blue")}, {"fill": "none", "stroke": color("vermillion")}
        for loss in range(_NUM_STEPS):
            for use in range(loss + 1):
                kept = self.is_kept(loss, use)
                side, paint = (7.5, filled) if kept else (5.0, hollow)
                inset = 18 + (size - side) / 2
                picture.add("rect", x=inset + use * size, y=inset + loss * size, width=side, height=side, **paint)
        for kind, paint, y in (("kept", filled, 40), ("lost", hollow, 60)):
            picture.add("rect", x=190.0, y=y - 9.0, width=8.0, height=8.0, **paint)
            picture.add("text", words(kind), x=206, y=y)
        return str(picture)
