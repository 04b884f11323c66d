"""The explorable of clipping: ten steps down the loss of the smallest recurrent network, with and without a limit."""

from __future__ import annotations

import math
from itertools import pairwise

from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color, format_number
from d2lrnn.widgets.spec import Spec, Words

__all__ = ["Clipping"]

_SPEC = Spec("clipping")
_STEPS, _RATE, _RESTS, _PATIENCE, _FLAT = 10, 0.01, 0.005, 10_000, 1  # as in maths.mjs
# Starts for so many letters: a step from higher leads out of the picture.
_HIGHEST = dict(zip(_SPEC.controls["letters"]["choices"], _SPEC.controls["letters"]["highest"], strict=True))


def _loss(weight: float, letters: int) -> float:
    """One weight multiplies the state, 1 at first, at every letter; in the end it should be 1 again."""
    return (weight**letters - 1) ** 2 / 2


def _slope(weight: float, letters: int) -> float:
    return letters * weight ** (letters - 1) * (weight**letters - 1)


def _after(weight: float, letters: int, limit: float) -> float:
    return weight - _RATE * max(-limit, min(limit, _slope(weight, letters)))


def _path(start: float, letters: int, limit: float) -> list[float]:
    """The weight before and after each step."""
    path = [start]
    while len(path) <= _STEPS:
        path.append(_after(path[-1], letters, limit))
    return path


def _run(start: float, letters: int, limit: float) -> tuple[int | None, int | None, int | None, bool]:
    """When the ball rests at the goal, when it first flies from left to right; the last cut step; if by luck."""
    weight, down, across, leaves, cut = start, None, None, False, None
    for step in range(_PATIENCE + 1):
        if _loss(weight, letters) < _RESTS:
            down = step if down is None else down
        else:
            leaves = leaves or down is not None
        if abs(_slope(weight, letters)) > limit:
            cut = step + 1
        before, weight = weight, _after(weight, letters, limit)
        if across is None and before < 1 < weight:
            across = step + 1
        if weight == before:
            break
    leads_out = _RATE * letters**2 > 2 and _loss(1 - _RATE * limit, letters) > _RESTS  # as in maths.mjs
    lucky = down is not None and not leaves and leads_out and abs(weight - 1) < 1e-9
    return None if leaves else down, across, cut, lucky


def how_it_goes(start: float, letters: int, limit: float) -> tuple[str, int | None, int | None]:
    """Whether the limit cuts a step, and how the ball ends; at which step it is down, and at which it swings."""
    down, across, cut, _ = _run(start, letters, limit)
    end = _end(_path(start, letters, limit), down, across, cut, letters)
    return f"{'kept' if cut else 'same'}_{end}", down, across


def _goal(letters: int) -> tuple[float, float]:
    return (1 - math.sqrt(2 * _RESTS)) ** (1 / letters), (1 + math.sqrt(2 * _RESTS)) ** (1 / letters)


def _plateau(letters: int) -> float:
    """Where the plateau ends: from here on the slope is not below 1."""
    left, right = 0.0, ((letters - 1) / (2 * letters - 1)) ** (1 / letters)  # to the steepest place left of the goal
    for _ in range(50):
        middle = (left + right) / 2
        left, right = (middle, right) if -_slope(middle, letters) < _FLAT else (left, middle)
    return left


def _end(path: list[float], down: int | None, across: int | None, cut: int | None, letters: int) -> str:
    """As ``endOf`` in maths.mjs, which explains it."""
    start, (left, right) = path[0], _goal(letters)
    if down == 0:
        return "goal"
    if down is None and across is not None:
        if cut is not None and across > cut:
            return "uncut"
        return "swings" if across <= _STEPS else "late"
    if start > 1 and min(path) < _plateau(letters):
        return "thrown"
    if path[-1] > right:
        return "wall"
    if start < 1 and not (down is not None and down <= _STEPS):
        return "plateau"
    return "past" if start > 1 and min(path) < left else "rest"


def _brief(value: float) -> str:
    return f"{round(value, 3):g}"


class Clipping(Explorable):
    r"""Limit ten steps down the loss of one weight; beneath, clip a gradient of two weights, its norm or its values.

    .. math::
        \mathbf g \leftarrow \min\Bigl(1, \frac{\theta}{\lVert \mathbf g \rVert}\Bigr) \mathbf g
        \qquad \text{or} \qquad g_i \leftarrow \min(\theta, \max(-\theta, g_i)) .

    Parameters
    ----------
    start : float, optional
        The weight before the first step, 0 to 1.14; for 20 letters at most 1.05 counts.
    letters : {10, 20}, optional
        The weight multiplies the state, 1 at first, at each of so many letters; the loss is half the squared distance
        of the last state from 1.
    g_1, g_2 : float, optional
        The gradient of two weights, each part from -60 to 60.
    clip : float, optional
        The threshold :math:`\theta`, 0.5 to 70.
    by : {"norm", "value"}, optional
    clips : bool, optional
        Whether the clipped ball is shown beside the other from the start; the static picture has both.

    Raises
    ------
    traitlets.TraitError
        On any other value.

    Examples
    --------
    >>> clipping = Clipping(g_1=30.0, g_2=40.0, clip=10.0)
    >>> clipping.length, [round(part, 6) for part in clipping.clipped], clipping.angle_degrees
    (50.0, [6.0, 8.0], 0.0)
    >>> free, kept = Clipping().paths
    >>> round(free[-1], 2), round(kept[-1], 2)
    (0.41, 1.0)
    """

    _esm = module("clipping")
    _css = stylesheet("clipping")
    _words = "clipping"

    start = _SPEC.trait("start")
    letters = _SPEC.trait("letters")
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
    def _first(self) -> float:
        return min(self.start, _HIGHEST[self.letters])

    @property
    def paths(self) -> tuple[list[float], list[float]]:
        """The weight before and after each of ten steps of learning rate 0.01, not clipped and clipped."""
        return _path(self._first, self.letters, math.inf), _path(self._first, self.letters, self.clip)

    @property
    def steps_down(self) -> tuple[int | None, int | None]:
        """How many steps bring the ball to the goal, a loss that stays below 0.005, not clipped and clipped.

        More than the ten that are drawn, too; None where it is not there after 10,000.
        """
        return _run(self._first, self.letters, math.inf)[0], _run(self._first, self.letters, self.clip)[0]

    def static_sentence(self) -> str:
        """How the clipped ball ends, as the figure says it."""
        words = Words(self._words)
        end, down, across = how_it_goes(self._first, self.letters, self.clip)
        key = "none" if self._first == 0 else "goal" if down == 0 else end
        lucky = down != 0 and _run(self._first, self.letters, self.clip)[3]
        praise = ["lucky"] if lucky else ["fewest"] if down == 1 else []
        keys = [*["lower"] * (self._first < self.start), key, *praise]
        count = "steps_more" if down is None else "steps_one" if down == 1 else "steps_many"
        steps = words(count, count=format_number(_PATIENCE if down is None else down, 0))
        late = format_number(across or 0, 0)
        return " ".join(words(f"now_{key}", clip=_brief(self.clip), kept=steps, late=late) for key in keys)

    def static_picture(self) -> str:
        """The loss, and the steps of both balls."""
        words = Words(self._words)
        loss = _loss(self._first, self.letters)
        told = {"start": _brief(self._first), "loss": f"{loss:.2f}", "told": self.static_sentence()}
        picture = Picture(460, 272, words("title"), words("picture_valley", **told))

        def at(weight: float) -> tuple[float, float]:
            return 20 + 366 * weight, 236 - 55 * _loss(weight, self.letters)

        points = [at(i / 400) for i in range(-20, 457)]
        curve = " ".join(f"{x:.1f} {y:.1f}" for x, y in points if y > 0)
        picture.add("path", d=f"M{curve}", stroke=color("line"), stroke_width=3, fill="none")
        left, right = (at(weight)[0] for weight in _goal(self.letters))
        picture.add("rect", x=left, y=at(1)[1], width=right - left, height=14)
        picture.add("text", words("goal", weight=1), x=at(1)[0], y=264, text_anchor="middle", font_size=12)
        free, kept = (list(pairwise(path)) for path in self.paths)
        alone = [step for step in free if step not in kept]  # where both go the same way, one is drawn
        for steps, name, width, lift in zip((alone, kept), ("blue", "green"), (2.0, 3.5), (0.42, 0.2)):
            dashes = {"stroke_dasharray": "7 4"} if name == "blue" else {}
            for before, after in steps:
                (x, y), (to_x, to_y) = at(before), at(after)
                line = f"M{x:.1f} {y:.1f}"
                if before == self._first:  # an arrow as long as the step, and a fall
                    way = math.copysign(min(9.0, abs(to_x - x)), x - to_x)
                    head = f"M{to_x:.1f} {y:.1f}l{way:.1f} -4.5v9z"
                    picture.add("path", d=head, fill=color(name))
                    fall = f"M{to_x:.1f} {y:.1f}V{to_y:.1f}"
                    picture.add("path", d=fall, stroke=color(name), stroke_dasharray="2 3", fill="none")
                    line += f"H{to_x + 0.8 * way:.1f}"
                else:
                    top = max(min(y, to_y) - lift * abs(to_x - x), 4.0)
                    line += f"Q{(x + to_x) / 2:.1f} {top:.1f} {to_x:.1f} {to_y:.1f}"
                picture.add("path", d=line, stroke=color(name), stroke_width=width, fill="none", **dashes)
                picture.add("circle", cx=to_x, cy=to_y, r=4.0, fill=color(name))
        x, y = at(self._first)
        picture.add("circle", cx=x, cy=y, r=6.0)
        legend = f"╌ {words('key_free')} · ━ {words('key_kept', clip=_brief(self.clip))}"
        picture.add("text", legend, x=20, y=264, font_size=12)
        return str(picture)
