"""The explorable of truncation: how far back a cut lets each loss reach, and how much of the gradient is lost."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np
import traitlets as t

from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.gradient_flow import small_networks
from d2lrnn.widgets.picture import Picture, color
from d2lrnn.widgets.spec import Spec, Words

__all__ = ["Truncation"]

_SPEC = Spec("truncation")
_NUM_LOSSES, _NUM_STEPS, _INPUT_SIZE = 12, 40, 0.3


@cache
def _network() -> dict[str, Any]:
    """The random network of the gradient's way back, and a text of 40 steps; the losses are those of the last 12."""
    networks = small_networks()
    inputs = _INPUT_SIZE * np.array(networks["inputs"])[:_NUM_STEPS]
    drawn = networks["matrices"]["random"]
    return {"W": drawn["W"], "radius": drawn["radius"], "inputs": inputs.round(6).tolist()}


@lru_cache(maxsize=8)
def _squares_by_lag(radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Squared lengths by lag: of what the use of `W_hh` so many steps back adds, and of all from there on.

    They are averages over the losses, and over loss gradients of independent normal numbers.
    """
    network = _network()
    W_hh = np.array(network["W"]) * (radius / network["radius"])
    H = [np.zeros(len(W_hh))]
    for x_t in np.array(network["inputs"]):
        H.append(np.tanh(x_t + H[-1] @ W_hh))
    each, rest = np.zeros(_NUM_LOSSES), np.zeros(_NUM_LOSSES + 1)
    for loss in range(_NUM_STEPS - _NUM_LOSSES, _NUM_STEPS):
        D, pieces = np.eye(len(W_hh)), []  # a row for each unit of the state that the loss sees
        for step in range(loss, -1, -1):
            D = D * (1 - H[step + 1] ** 2)
            pieces.append(np.multiply.outer(H[step], D))
            D = D @ W_hh.T
        each += [np.square(piece).sum() for piece in pieces[:_NUM_LOSSES]]
        sums = np.cumsum(pieces[::-1], axis=0)[::-1]
        rest += np.square(sums[: _NUM_LOSSES + 1]).sum(axis=(1, 2, 3))
    return each, rest


def _percent(share: float) -> str:
    """47 %, 3.1 %, 0.04 %."""
    value = 100 * share
    written = f"{value:.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.095 else f"{value:.2f}"
    return f"{'under 0.01' if written == '0.00' else written} %"


class Truncation(Explorable):
    r"""Cut the way back through time, in a tanh network of 24 units with a loss at each step.

    Two ways stand side by side. In windows of :math:`\tau` steps the losses reach 1, 2, ..., :math:`\tau` steps, their
    own included, and share one way back; counted from each loss, every one reaches :math:`\tau`, on its own way.

    Parameters
    ----------
    tau : int, optional
        1 to 12.
    radius : float, optional
        Spectral radius of `W_hh`, 0.5 to 1.1: how slowly the gradient fades.

    Raises
    ------
    traitlets.TraitError
        On any other value.

    Examples
    --------
    >>> Truncation(tau=6).reaches
    [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]
    >>> {way: round(share, 2) for way, share in Truncation(tau=6).lost.items()}
    {'windows': 0.52, 'losses': 0.25}
    """

    _esm = module("truncation")
    _css = stylesheet("truncation")
    _words = "truncation"

    tau = _SPEC.trait("tau")
    radius = _SPEC.trait("radius")
    network = t.Dict(read_only=True).tag(sync=True, shared=True)

    @t.default("network")
    def _default_network(self) -> dict[str, Any]:
        return _network()

    @property
    def reaches(self) -> list[int]:
        """How many steps, its own included, each of 12 losses reaches in windows."""
        return [row % self.tau + 1 for row in range(_NUM_LOSSES)]

    @property
    def lost_by_reach(self) -> np.ndarray:
        """What a loss that reaches 1, 2, ..., 12 steps loses: the length of the rest, by that of the whole gradient.

        Both lengths are roots of mean squares, over the losses and over random loss gradients.
        """
        _, rest = _squares_by_lag(self.radius)
        return np.sqrt(rest[1:] / rest[0])

    @property
    def lost(self) -> dict[str, float]:
        """The same for the whole gradient: ``windows``, on average over where they may begin, and ``losses``."""
        reached = self.lost_by_reach[: self.tau]
        return {"windows": float(np.sqrt(np.mean(reached**2))), "losses": float(reached[-1])}

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """What the two cuts lose, as the figure says it."""
        shares = {way: _percent(share) for way, share in self.lost.items()}
        if self.tau == 1:
            return Words(self._words)("now_one", tau=1, windows=shares["windows"])
        return Words(self._words)("now", tau=self.tau, **shares)

    def static_picture(self) -> str:
        """Both ways: a row for each loss, a square for each step back, filled where it is reached."""
        words, (each, _) = Words(self._words), _squares_by_lag(self.radius)
        picture = Picture(500, 262, words("title"), self.static_sentence())
        size, filled, hollow = 18.0, {"fill": color("blue")}, {"fill": "none", "stroke": color("vermillion")}
        for left, way, reaches in ((20, "windows", self.reaches), (270, "losses", _NUM_LOSSES * [self.tau])):
            picture.add("text", words(f"way_{way}", tau=self.tau), x=left, y=20, font_weight=600)
            for loss, reach in enumerate(reaches):
                for step in range(_NUM_LOSSES):
                    side = (size - 5) * min(1.0, float(each[step] / each[0]) ** 0.25)
                    x, y = left + size * (step + 0.5) - side / 2, 36 + size * (loss + 0.5) - side / 2
                    picture.add("rect", x=x, y=y, width=side, height=side, **(filled if step < reach else hollow))
        return str(picture)
