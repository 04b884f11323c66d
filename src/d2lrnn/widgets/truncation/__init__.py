"""The explorable of truncation: a line of text is cut, and each guess shows how much of its gradient teaches."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import numpy as np

from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color, visible_character
from d2lrnn.widgets.spec import Spec, Words

__all__ = ["Truncation"]

_SPEC = Spec("truncation")
_NUM_LETTERS = 12
_LITTLE = 0.01  # of an error, which hardly teaches
# Of the letter before a closing bracket, the one that opens it.
_OPENS = {int(letter): place for letter, place in _SPEC.controls["letter"]["opens"].items()}


def _percent_kept(lost: float) -> str:
    """51%, 95%, 93.1%, 99.98%, >99.99%: as many places as what is lost has, and a half goes up, as in the page."""
    value = 100 * lost
    if value < 0.005:
        return ">99.99%"
    step = Decimal("1" if value >= 9.95 else "0.1" if value >= 0.095 else "0.01")
    return f"{100 - Decimal(value).quantize(step, ROUND_HALF_UP)}".removesuffix(".0") + "%"


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

    @property
    def open_part(self) -> float:
        """The share of a closing bracket's gradient that the opening one takes: 0 behind a cut."""
        lag = self.letter - _OPENS[self.letter]
        return (1 - self.factor) * self.factor**lag if self.reaches[self.letter - 1] > lag else 0.0

    def static_sentence(self) -> str:
        """Whether the error of a closing bracket, its gradient, gets to the opening one; of another, what teaches."""
        words = Words(self._words)
        text = words("text") + words("next")
        cut = words(f"{self.way}_one" if self.tau == 1 else self.way, tau=self.tau)
        if self.letter not in _OPENS:
            kept = _percent_kept(float(self.factor ** self.reaches[self.letter - 1]))
            return f"{cut} {words('share', guess=visible_character(text[self.letter]), kept=kept)}"
        part = self.open_part
        can = words("can" if part >= _LITTLE else "hardly" if part > 0 else "cannot")
        pair = text[_OPENS[self.letter] - 1 : self.letter + 1]
        return f"{cut} {words('teach', pair=pair, can=can)}"

    def static_picture(self) -> str:
        """Under the letters an error back for each guess, up to its cut and beyond; the chosen guess has a frame."""
        words = Words(self._words)
        picture = Picture(592, 226, words("title"), self.static_sentence())
        left, top, width, height = 60.0, 50.0, 40.0, 14.0
        for place, letter in enumerate(words("text") + words("next")):
            middle = left + width * (place + 0.5)
            picture.add("text", visible_character(letter), x=middle, y=top - 12, text_anchor="middle")
        chosen = {"fill": "none", "stroke": "currentColor"}
        picture.add("rect", x=left + width * self.letter + 4, y=top - 28, width=width - 8, height=22, **chosen)
        for place, reach in enumerate(self.reaches):
            for ink, near, far in (("blue", 0, reach), ("vermillion", reach, place + 2)):
                lags = np.arange(near, min(far, place + 2) + 1)
                x, y = left + width * (place + 1 - lags), top + height * (place + 0.5)
                half = 0.43 * height * self.factor**lags
                points = [*zip(x, y - half, strict=True), *zip(x[::-1], (y + half)[::-1], strict=True)]
                if len(lags) > 1:
                    picture.add("polygon", points=" ".join(f"{a:g},{b:.4g}" for a, b in points), fill=color(ink))
        if self.way == "windows":
            for place in range(0, _NUM_LETTERS, self.tau):
                way = f"M{left + width * place:g} {top:g}v{height * _NUM_LETTERS:g}"
                picture.add("path", d=way, stroke_width=1.5, stroke_dasharray="5 4", **chosen)
        said = f"{words('average')} {_percent_kept(self.lost)}"
        picture.add("text", said, x=left + width * _NUM_LETTERS, y=top + 14, text_anchor="end")
        return str(picture)
