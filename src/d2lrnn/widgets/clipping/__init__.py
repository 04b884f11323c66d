"""The explorable of clipping: ten steps down a valley, and where a limit of each step lets them end."""

from __future__ import annotations

import math
from itertools import pairwise

from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color
from d2lrnn.widgets.spec import Spec, Words

__all__ = ["Clipping"]

_SPEC = Spec("clipping")
_STEPS, _EDGE, _RESTS, _PATIENCE = 10, 4.4, 0.005, 1000  # as in maths.mjs


def _loss(x: float) -> float:
    """An example of a loss of one weight: a valley whose walls get steeper."""
    return x * x * (0.4 + 0.0375 * x * x)


def _slope(x: float) -> float:
    return x * (0.8 + 0.15 * x * x)


def _path(start: float, limit: float) -> list[float]:
    """The weight before and after each step of learning rate 1, until it leaves the picture."""
    path = [start]
    while len(path) <= _STEPS and abs(path[-1]) <= _EDGE:
        path.append(path[-1] - max(-limit, min(limit, _slope(path[-1]))))
    return path


def _steps_down(start: float, limit: float) -> int | None:
    x = start
    for step in range(_PATIENCE + 1):
        if _loss(x) < _RESTS:
            return step
        if abs(x) > _EDGE:
            return None
        x -= max(-limit, min(limit, _slope(x)))
    return None


def _end(path: list[float], down: int | None) -> str:
    if abs(path[-1]) > _EDGE:
        return "out"
    if down is None:
        return "jumps"
    return "rest" if down <= _STEPS else "slow"


class Clipping(Explorable):
    r"""Limit each of ten steps down a valley; beneath, clip a gradient of two weights, its norm or each of its values.

    .. math::
        \mathbf g \leftarrow \min\Bigl(1, \frac{\theta}{\lVert \mathbf g \rVert}\Bigr) \mathbf g
        \qquad \text{or} \qquad g_i \leftarrow \min(\theta, \max(-\theta, g_i)) .

    Parameters
    ----------
    start : float, optional
        The weight before the first step, -4 to 4. Beyond 2.83 the walls are too steep for steps that are not clipped.
    g_1, g_2 : float, optional
        The gradient of two weights, each part from -6 to 6.
    clip : float, optional
        The threshold :math:`\theta`, 0.1 to 7.
    by : {"norm", "value"}, optional
    clips : bool, optional
        Whether the clipped ball is shown beside the other from the start; the static picture has both.

    Raises
    ------
    traitlets.TraitError
        On any other value.

    Examples
    --------
    >>> clipping = Clipping(g_1=3.0, g_2=4.0, clip=1.0)
    >>> clipping.length, [round(part, 6) for part in clipping.clipped], clipping.angle_degrees
    (5.0, [0.6, 0.8], 0.0)
    >>> free, kept = Clipping().paths
    >>> len(free) - 1, round(abs(kept[-1]), 2)
    (3, 0.0)
    """

    _esm = module("clipping")
    _css = stylesheet("clipping")
    _words = "clipping"

    start = _SPEC.trait("start")
    g_1 = _SPEC.trait("g_1")
    g_2 = _SPEC.trait("g_2")
    clip = _SPEC.trait("clip")
    by = _SPEC.trait("by")
    clips = _SPEC.trait("clips")

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
    def paths(self) -> tuple[list[float], list[float]]:
        """The weight of the example before and after each of ten steps of learning rate 1, not clipped and clipped.

        A path that leaves the picture (4.4 on both sides) ends there.
        """
        return _path(self.start, math.inf), _path(self.start, self.clip)

    @property
    def steps_down(self) -> tuple[int | None, int | None]:
        """How many steps bring the ball down, to a loss below 0.005, not clipped and clipped; None where none do.

        More than the ten that are drawn, too; after a thousand it is taken never to come down.
        """
        return _steps_down(self.start, math.inf), _steps_down(self.start, self.clip)

    def static_sentence(self) -> str:
        """How the clipped ball ends, as the figure says it."""
        free, kept = self.paths
        words, down = Words(self._words), self.steps_down[1]
        end = _end(kept, down)
        key = "none" if self.start == 0 else f"same_{end}" if free == kept else f"kept_{end}"
        steps = "" if down is None else words("steps_one" if down == 1 else "steps_many", count=down)
        return words(f"now_{key}", clip=f"{self.clip:.1f}", kept=steps)

    def static_picture(self) -> str:
        """The valley, and the steps of both balls."""
        words = Words(self._words)
        description = words(
            "picture_valley", start=f"{self.start:.1f}", loss=f"{_loss(self.start):.2f}", told=self.static_sentence()
        )
        picture = Picture(460, 272, words("title"), description)

        def at(x: float) -> tuple[float, float]:
            return 230 + 52 * x, 236 - 12 * _loss(x)

        curve = " ".join("{:.1f} {:.1f}".format(*at(i / 20)) for i in range(-82, 83))
        picture.add("path", d=f"M{curve}", stroke=color("line"), stroke_width=3, fill="none")
        for path, name, width, lift in zip(self.paths, ("blue", "green"), (2.0, 3.5), (0.42, 0.2)):
            dashes = {"stroke_dasharray": "7 4"} if name == "blue" else {}
            for before, after in pairwise(path):
                x, y = at(before)
                to_x, to_y = at(after) if abs(after) <= _EDGE else (4.0 if after < 0 else 456.0, 30.0)
                top = max(min(y, to_y) - lift * abs(to_x - x), 4.0)
                arc = f"M{x:.1f} {y:.1f}Q{(x + to_x) / 2:.1f} {top:.1f} {to_x:.1f} {to_y:.1f}"
                picture.add("path", d=arc, stroke=color(name), stroke_width=width, fill="none", **dashes)
                if abs(after) <= _EDGE:
                    picture.add("circle", cx=to_x, cy=to_y, r=4.0, fill=color(name))
        x, y = at(self.start)
        picture.add("circle", cx=x, cy=y, r=6.0)
        limited = words("key_kept", clip=f"{self.clip:.1f}")
        legend = f"╌ {words('key_free')} · ━ {limited}"
        picture.add("text", legend, x=230, y=264, text_anchor="middle", font_size=12)
        return str(picture)
