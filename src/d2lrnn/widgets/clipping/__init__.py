"""The explorable of clipping: a gradient of two weights, and what is left of it."""

from __future__ import annotations

import math

from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color
from d2lrnn.widgets.spec import Spec, Words

__all__ = ["Clipping"]

_SPEC = Spec("clipping")


def _signed(value: float, decimals: int = 1) -> str:
    text = f"{abs(value):.{decimals}f}"
    return f"−{text}" if value < 0 and float(text) > 0 else text  # noqa: RUF001


class Clipping(Explorable):
    r"""Clip a gradient of two weights: its norm, or each of its values.

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

    def static_sentence(self) -> str:
        """What clipping does, as the figure says it."""
        acts = self.length > self.clip if self.by == "norm" else max(abs(self.g_1), abs(self.g_2)) > self.clip
        values = {
            "a": _signed(self.g_1), "b": _signed(self.g_2), "length": f"{self.length:.2f}", "clip": f"{self.clip:.1f}",
            "factor": f"{self.factor:.2f}", "c": _signed(self.clipped[0]), "d": _signed(self.clipped[1]),
            "angle": math.floor(self.angle_degrees + 0.5),
        }
        straight = acts and self.by == "value" and values["angle"] == 0
        key = f"now_{self.by}{'' if acts else '_short'}{'_straight' if straight else ''}"
        return Words(self._words)(key, **values)

    def static_picture(self) -> str:
        """The gradient, what is allowed, and what is left."""
        words, (c, d) = Words(self._words), self.clipped
        description = words(
            "picture", a=_signed(self.g_1), b=_signed(self.g_2), length=f"{self.length:.2f}", c=_signed(c, 2),
            d=_signed(d, 2), clipped=f"{math.hypot(c, d):.2f}", angle=math.floor(self.angle_degrees + 0.5),
        )
        picture = Picture(300, 300, words("title"), description)
        unit, middle, r = 22.0, 150.0, 22.0 * self.clip
        picture.add("path", d=f"M8 {middle}H292M{middle} 8V292", stroke=color("line"), fill="none")
        paint = {"stroke": color("green"), "fill": "none", "stroke_width": 1.5, "stroke_dasharray": "5 3"}
        if self.by == "norm":
            picture.add("circle", None, cx=middle, cy=middle, r=r, **paint)
        else:
            picture.add("rect", None, x=middle - r, y=middle - r, width=2 * r, height=2 * r, **paint)
        for (x, y), name, thickness in (((self.g_1, self.g_2), "blue", 2.5), ((c, d), "green", 6.0)):
            end = f"{middle + unit * x:.1f} {middle - unit * y:.1f}"
            picture.add("path", d=f"M{middle} {middle}L{end}", stroke=color(name), stroke_width=thickness)
        tip = {"cx": middle + unit * self.g_1, "cy": middle - unit * self.g_2}
        picture.add("circle", **tip, r=5.0, fill=color("blue"))
        above = tip["cy"] - 12 if self.g_2 >= 0 else tip["cy"] + 22
        at = {"x": min(max(tip["cx"], 56.0), 244.0), "y": max(above, 14.0), "text_anchor": "middle", "font_size": 13}
        picture.add("text", words("long", length=f"{self.length:.2f}"), **at)
        picture.add("text", words("theta", clip=f"{self.clip:.1f}"), x=middle - r - 6, y=middle - 8, text_anchor="end")
        return str(picture)
