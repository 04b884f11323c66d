"""The explorable of clipping: one step on a cliff, and where its limit lets it land."""

from __future__ import annotations

import math

from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color
from d2lrnn.widgets.spec import Spec, Words

__all__ = ["Clipping"]

_SPEC = Spec("clipping")


_STEEPEST, _FOOT, _TOP, _WALL, _FLAT = 9.0, 0.3, 0.4, 1.3, 3.0  # of the example of a loss, as in maths.mjs


def _loss(u: float) -> float:
    """An example of a loss along the gradient: a valley, a cliff at 0, a plateau above it; sideways flat."""
    if u < 0:
        return _WALL * (math.hypot(1, u) - 1) + _STEEPEST * _FOOT * math.exp(u / _FOOT)
    return _STEEPEST * (_FOOT + _TOP * (1 - math.exp(-u / _TOP)))


class Clipping(Explorable):
    r"""Limit the step on a cliff: clip a gradient of two weights, its norm or each of its values.

    .. math::
        \mathbf g \leftarrow \min\Bigl(1, \frac{\theta}{\lVert \mathbf g \rVert}\Bigr) \mathbf g
        \qquad \text{or} \qquad g_i \leftarrow \min(\theta, \max(-\theta, g_i)) .

    Parameters
    ----------
    g_1, g_2 : float, optional
        The gradient, each part from -6 to 6.
    clip : float, optional
        The threshold :math:`\theta`, 0.5 to 5.
    by : {"norm", "value"}, optional

    Raises
    ------
    traitlets.TraitError
        On any other value.

    Examples
    --------
    >>> clipping = Clipping(g_1=3.0, g_2=4.0, clip=1.0)
    >>> clipping.length, [round(part, 6) for part in clipping.clipped], clipping.angle_degrees
    (5.0, [0.6, 0.8], 0.0)
    """

    _esm = module("clipping")
    _css = stylesheet("clipping")
    _words = "clipping"

    g_1 = _SPEC.trait("g_1")
    g_2 = _SPEC.trait("g_2")
    clip = _SPEC.trait("clip")
    by = _SPEC.trait("by")

    @property
    def length(self) -> float:
        """Norm of the gradient."""
        return math.hypot(self.g_1, self.g_2)

    @property
    def factor(self) -> float:
        """What clipping by the norm multiplies both parts by."""
        return min(1.0, self.clip / self.length) if self.length > 0 else 1.0

    @property
    def clipped(self) -> tuple[float, float]:
        """What is left of the gradient."""
        if self.by == "norm":
            return self.g_1 * self.factor, self.g_2 * self.factor
        return max(-self.clip, min(self.clip, self.g_1)), max(-self.clip, min(self.clip, self.g_2))

    @property
    def angle_degrees(self) -> float:
        """By how much that turns it."""
        if self.by == "norm":
            return 0.0
        (a, b), (c, d) = (self.g_1, self.g_2), self.clipped
        return abs(math.degrees(math.atan2(a * d - b * c, a * c + b * d)))

    @property
    def losses(self) -> tuple[float, float, float]:
        """The example's loss before a step of learning rate 1, after it, and after the clipped one.

        The step starts on the cliff, where the slope is as long as the gradient.
        """
        length = self.length
        start = min(_FLAT, _TOP * math.log(_STEEPEST / length)) if length > 0 else _FLAT
        along = sum(g * c for g, c in zip((self.g_1, self.g_2), self.clipped)) / length if length > 0 else 0.0
        return _loss(start), _loss(start - length), _loss(start - along)

    def static_sentence(self) -> str:
        """Where the step ends, as the figure says it."""
        acts = self.length > self.clip if self.by == "norm" else max(abs(self.g_1), abs(self.g_2)) > self.clip
        start, free, kept = self.losses
        if self.length == 0:
            fate = "none"
        elif not acts and f"{start:.2f}" == f"{free:.2f}":
            fate = "within_same"
        elif not acts:
            fate = "within_rises" if free > start else "within_falls"
        elif free <= start:
            fate = "both"
        else:
            fate = "saves" if float(f"{kept:.2f}") < float(f"{start:.2f}") else "still"
        return Words(self._words)(f"now_{fate}", clip=f"{self.clip:.1f}", free=f"{free:.2f}", kept=f"{kept:.2f}")

    def static_picture(self) -> str:
        """The cliff, the step as it is, and the clipped one."""
        words, length = Words(self._words), self.length
        start = min(_FLAT, _TOP * math.log(_STEEPEST / length)) if length > 0 else _FLAT
        lost = self.losses
        description = words("cliff_picture", start=f"{lost[0]:.2f}", told=self.static_sentence())
        picture = Picture(460, 230, words("title"), description)

        def at(u: float, loss: float) -> tuple[float, float]:
            return 8 + 37 * (u + 8.6), 212 - 20 * loss

        curve = " ".join("{:.1f} {:.1f}".format(*at(u, _loss(u))) for u in (i / 20 - 8.6 for i in range(240)))
        picture.add("path", d=f"M{curve}", stroke=color("line"), stroke_width=3, fill="none")
        x, y = at(start, lost[0])
        along = sum(g * c for g, c in zip((self.g_1, self.g_2), self.clipped)) / length if length > 0 else 0.0
        for by, loss, name, width in ((length, lost[1], "blue", 2.5), (along, lost[2], "green", 5.0)):
            to_x, to_y = at(start - by, loss)
            lift = (60.0 if name == "blue" else 25.0) * min(1.0, by / 2)
            top = max(min(y, to_y) - lift, 14.0)
            arc = f"M{x:.1f} {y:.1f}Q{(x + to_x) / 2:.1f} {top:.1f} {to_x:.1f} {to_y:.1f}"
            picture.add("path", d=arc, stroke=color(name), stroke_width=width, fill="none")
            picture.add("circle", cx=to_x, cy=to_y, r=4.0, fill=color(name))
        picture.add("circle", cx=x, cy=y, r=6.0)
        picture.add("text", words("here_slope", length=f"{length:.2f}"), x=452, y=18, text_anchor="end", font_size=13)
        picture.add("text", words("limit_is", clip=f"{self.clip:.1f}"), x=452, y=38, text_anchor="end", font_size=13)
        return str(picture)
