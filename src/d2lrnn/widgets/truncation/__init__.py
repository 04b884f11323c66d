"""The explorable of truncation: how far back a cut lets each loss reach, and how much of the gradient is lost."""

from __future__ import annotations

import numpy as np

from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color
from d2lrnn.widgets.spec import Spec, Words

__all__ = ["Truncation"]

_SPEC = Spec("truncation")
_NUM_LOSSES = 12


def _percent(share: float) -> str:
    """47 %, 3.1 %, 0.04 %."""
    value = 100 * share
    return f"{value:.0f} %" if value >= 9.95 else f"{value:.1f} %" if value >= 0.095 else f"{value:.2f} %"


class Truncation(Explorable):
    r"""Cut the way back through time: each step back keeps the same share of the gradient, and each step has a loss.

    Two ways stand side by side. In windows of :math:`\tau` steps the losses reach 1, 2, ..., :math:`\tau` steps, their
    own included, and share one way back; counted from each loss, every one reaches :math:`\tau`, on its own way.

    Parameters
    ----------
    tau : int, optional
        1 to 12.
    factor : float, optional
        What each step back keeps of the gradient, 0.5 to 0.95.

    Raises
    ------
    traitlets.TraitError
        On any other value.

    Examples
    --------
    >>> Truncation(tau=6).reaches
    [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]
    >>> {way: round(share, 2) for way, share in Truncation(tau=6).lost.items()}
    {'windows': 0.49, 'losses': 0.26}
    """

    _esm = module("truncation")
    _css = stylesheet("truncation")
    _words = "truncation"

    tau = _SPEC.trait("tau")
    factor = _SPEC.trait("factor")

    @property
    def reaches(self) -> list[int]:
        """How many steps, its own included, each of 12 losses reaches in windows."""
        return [row % self.tau + 1 for row in range(_NUM_LOSSES)]

    @property
    def lost_by_reach(self) -> np.ndarray:
        """What a loss that reaches 1, 2, ..., 12 steps loses of the sum of its terms; its past has no end."""
        return self.factor ** np.arange(1, _NUM_LOSSES + 1)

    @property
    def lost(self) -> dict[str, float]:
        """What is lost: ``windows``, the mean over the losses of a window, and ``losses``, cut from each loss."""
        reached = self.lost_by_reach[: self.tau]
        return {"windows": float(reached.mean()), "losses": float(reached[-1])}

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """What the two cuts lose, as the figure says it."""
        shares = {way: _percent(share) for way, share in self.lost.items()}
        if self.tau == 1:
            return Words(self._words)("now_one", tau=1, windows=shares["windows"])
        return Words(self._words)("now", tau=self.tau, **shares)

    def static_picture(self) -> str:
        """Both ways: a row for each loss, a square for each step back, filled where it is reached."""
        words = Words(self._words)
        picture = Picture(500, 262, words("title"), self.static_sentence())
        size, filled, hollow = 18.0, {"fill": color("blue")}, {"fill": "none", "stroke": color("vermillion")}
        for left, way, reaches in ((20, "windows", self.reaches), (270, "losses", _NUM_LOSSES * [self.tau])):
            picture.add("text", words(f"way_{way}", tau=self.tau), x=left, y=20, font_weight=600)
            for loss, reach in enumerate(reaches):
                for step in range(_NUM_LOSSES):
                    side = (size - 5) * self.factor ** (step / 2)
                    x, y = left + size * (step + 0.5) - side / 2, 36 + size * (loss + 0.5) - side / 2
                    picture.add("rect", x=x, y=y, width=side, height=side, **(filled if step < reach else hollow))
        return str(picture)
