"""The explorable of truncation: a line of text is cut, and each letter shows how much of its gradient arrives."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import numpy as np

from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color
from d2lrnn.widgets.spec import Spec, Words

__all__ = ["Truncation"]

_SPEC = Spec("truncation")
_NUM_LETTERS = 12


def _percent_kept(lost: float) -> str:
    """51%, 93.1%, 99.98%, >99.99%: as many places as what is lost has, and a half goes up, as in the page."""
    value = 100 * lost
    if value < 0.005:
        return ">99.99%"
    step = Decimal("1" if value >= 9.95 else "0.1" if value >= 0.095 else "0.01")
    return f"{100 - Decimal(value).quantize(step, ROUND_HALF_UP)}%"


class Truncation(Explorable):
    r"""Cut the way back through time: a line of 12 letters, after each of which a network guesses the next.

    The gradient of each guess goes back over the letters before it, and each letter back keeps the same share of it.
    In windows of :math:`\tau` letters the guesses reach 1, 2, ..., :math:`\tau` letters, their own included, and share
    one way back; counted from each loss, every one reaches :math:`\tau`, on its own way.

    Parameters
    ----------
    tau : int, optional
        1, 2, 3, 4, 6 or 12.
    way : {"windows", "losses"}, optional
        Cut the text into windows, or go back `tau` letters from each loss.
    factor : float, optional
        What each letter back keeps of the gradient, 0.5 to 0.95.
    letter : int, optional
        The letter, 1 to 12, whose guess of the next one is shown.

    Raises
    ------
    traitlets.TraitError
        On any other value.

    Examples
    --------
    >>> Truncation(tau=6).reaches
    [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]
    >>> {way: round(Truncation(way=way).lost, 2) for way in ("windows", "losses")}
    {'windows': 0.49, 'losses': 0.26}
    """

    _esm = module("truncation")
    _css = stylesheet("truncation")
    _words = "truncation"

    tau = _SPEC.trait("tau")
    way = _SPEC.trait("way")
    factor = _SPEC.trait("factor")
    letter = _SPEC.trait("letter")

    @property
    def reaches(self) -> list[int]:
        """How many letters, its own included, the guess after each letter reaches."""
        return [place % self.tau + 1 if self.way == "windows" else self.tau for place in range(_NUM_LETTERS)]

    @property
    def kept(self) -> np.ndarray:
        """The share of each guess's gradient, a sum without end, that is not cut off."""
        return 1 - self.factor ** np.array(self.reaches)

    @property
    def lost(self) -> float:
        """What is cut off: the mean over the guesses."""
        return float(1 - self.kept.mean())

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """What arrives of the chosen guess's message: its gradient."""
        key = f"mean_{self.way}_one" if self.tau == 1 else f"mean_{self.way}"
        return Words(self._words)(key, tau=self.tau, kept=self._own_kept)

    @property
    def _own_kept(self) -> str:
        return _percent_kept(float(self.factor ** self.reaches[self.letter - 1]))

    def static_picture(self) -> str:
        """A bar over each letter, filled as far as its gradient arrives, their average, and the cuts."""
        words = Words(self._words)
        picture = Picture(592, 196, words("title"), self.static_sentence())
        left, top, width, height = 92.0, 16.0, 40.0, 110.0
        for place, (letter, kept) in enumerate(zip(words("text"), self.kept.tolist(), strict=True)):
            x, filled = left + width * place, height * kept
            orange, blue, wide = color("vermillion"), color("blue"), width - 10
            picture.add("rect", x=x + 5, y=top, width=wide, height=height, fill="none", stroke=orange)
            y = top + height - filled
            picture.add("rect", x=x + 5, y=y, width=wide, height=filled, fill=blue, stroke="none")
            picture.add("text", letter, x=x + width / 2, y=top + height + 22, text_anchor="middle")
        end, y = left + width * _NUM_LETTERS, top + height * self.lost
        own = left + width * self.letter
        drawn = {"fill": "none", "stroke": "currentColor"}
        picture.add("rect", x=own - width, y=top + height + 6, width=width, height=22, **drawn)
        share = {"fill": color("blue"), "font_weight": "bold", "text_anchor": "middle"}
        picture.add("text", self._own_kept, x=own - width / 2, y=top + height + 46, **share)
        picture.add("path", d=f"M{left:g} {y:g}H{end:g}", stroke_width=1.5, **drawn)
        for line, said in enumerate((words("average"), _percent_kept(self.lost))):
            picture.add("text", said, x=left - 8, y=y - 2 + 16 * line, text_anchor="end")
        if self.way == "windows":
            for place in range(0, _NUM_LETTERS, self.tau):
                way = f"M{left + width * place:g} 6V162"
                picture.add("path", d=way, stroke_width=1.5, stroke_dasharray="5 4", **drawn)
        return str(picture)
