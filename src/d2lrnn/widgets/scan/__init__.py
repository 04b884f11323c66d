"""The explorable of the chapter *After the chain*: one linear recurrence, walked by a loop and combined by a scan."""

from __future__ import annotations

from itertools import cycle, islice
from typing import Any

import torch
import traitlets as t

from d2lrnn.study.scan import ScanLevel, linear_recurrence_loop, linear_recurrence_scan, scan_levels
from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color
from d2lrnn.widgets.spec import Spec, Words

__all__ = ["Scan", "format_value", "preset_values"]

_SPEC = Spec("scan")
_MIN_STEPS, _MAX_STEPS = 2, _SPEC.controls["a"]["max"]
_MOST_NUMBERS = 16  # beyond so many time steps the static picture has dots in place of numbers
_ROUNDING = 1e-9
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def preset_values(name: str, num_steps: int = 8) -> dict[str, list[float]]:
    """Factors and inputs of an example.

    ``sum`` has only ones, so that the states are a running sum; ``fading`` keeps 0.9 of the state at every step,
    ``halving`` a half (the example that the chapter computes by hand); ``gates`` has factors of 0 and near it, which
    forget, between factors of 1; ``explodes`` has factors of 1.4. What is short goes round.

    Returns
    -------
    dict
        ``{"a": [...], "x": [...]}`` with `num_steps` values each.

    Raises
    ------
    ValueError
        If there is no example of that name, or `num_steps` is not from 2 to 64.

    Examples
    --------
    >>> preset_values("halving", 3)
    {'a': [0.5, 0.5, 0.5], 'x': [1.0, 1.0, 1.0]}
    >>> preset_values("half")
    Traceback (most recent call last):
    ValueError: There is no preset 'half'; choose one of sum, fading, halving, gates, explodes.
    """
    if name not in _SPEC.presets:
        raise ValueError(f"There is no preset {name!r}; choose one of {', '.join(_SPEC.presets)}.")
    if not _MIN_STEPS <= num_steps <= _MAX_STEPS:
        raise ValueError(f"num_steps is {num_steps}; the figure shows {_MIN_STEPS} to {_MAX_STEPS} time steps.")
    return {key: [float(v) for v in islice(cycle(values), num_steps)] for key, values in _SPEC.presets[name].items()}


def _scientific(size: float, digits: int) -> str:
    mantissa, exponent = f"{size:.{digits}e}".split("e")
    return f"{mantissa}×10{str(int(exponent)).translate(_RAISED)}"  # noqa: RUF001


def format_value(value: float) -> str:
    """A number for a small box: two places, more where it is tiny, fewer where it is large or short.

    Examples
    --------
    >>> [format_value(value) for value in (0.9, -2.0, 2.439, 0.125, 1 / 256, 1e-5, 542.27, 2.26e9)]
    ['0.9', '−2', '2.44', '0.13', '0.004', '1×10⁻⁵', '542.3', '2.3×10⁹']
    """
    size, sign = abs(value), "−" if value < 0 else ""  # noqa: RUF001
    if size >= 99_999.5:
        return sign + _scientific(size, 1)
    if size == round(size) or (0.005 <= size < 99.995 and abs(size - round(size, 2)) < _ROUNDING):
        return sign + f"{size:.2f}".rstrip("0").removesuffix(".")
    if size < 0.0005:
        return sign + _scientific(size, 0)
    # Two numbers that differ by rounding alone, one a little below a half and one at it, are to look equal.
    size += _ROUNDING
    places = 3 if size < 0.005 else 2 if size < 99.995 else 1 if size < 999.95 else 0
    return sign + f"{size:.{places}f}"


class Scan(Explorable):
    r"""Compute the states of a linear recurrence by a loop and by a parallel scan, side by side.

    .. math:: h_t = a_t \, h_{t-1} + x_t, \qquad h_0 = 0

    The loop takes :math:`T - 1` steps one after the other. The scan makes all combinations of a level at once,

    .. math:: (a, b) \bullet (a', b') = (a' a, \; a' b + b'),

    and has all states after :math:`\lceil \log_2 T \rceil` levels (``"doubling"``), or about twice as many with less
    work (``"two-sweep"``).

    Parameters
    ----------
    a, x : list of float, optional
        Factors from -1.5 to 1.5 and inputs from -3 to 3, equally many of both: 2 to 64, one for each time step. Assign
        a new list to change one of them, and use ``update(a=..., x=...)`` where their number changes; see also
        `preset`. Default: 8 steps of the example ``"fading"``.
    method : "doubling" or "two-sweep", optional
        The scan's schedule; see :func:`d2lrnn.scan.scan_levels`.
    step : int, optional
        How many rounds have passed, 0 to 63; beyond the end, the end. In each the loop makes one step, the scan one
        level.
    place : int, optional
        The time step of the box in hand, 1 to 64; 0 if there is none.
    level : int, optional
        Its column: -1 the loop, 0 to 11 the levels of the scan; beyond the last that is reached, that one.

    Raises
    ------
    traitlets.TraitError
        On any other value; the message says what was expected.

    Examples
    --------
    >>> widget = Scan(a=[0.5, 0.5, 0.5, 0.5], x=[1, 1, 1, 1])
    >>> widget.states_by_loop.tolist() == widget.states_by_scan.tolist() == [1.0, 1.5, 1.75, 1.875]
    True
    >>> widget.depths, widget.work
    ({'loop': 3, 'scan': 2}, {'loop': 3, 'scan': 5})
    """

    _esm = module("scan")
    _css = stylesheet("scan")
    _words = "scan"

    a = t.List(t.Float()).tag(sync=True, control=True)
    x = t.List(t.Float()).tag(sync=True, control=True)
    method = _SPEC.trait("method")
    step = _SPEC.trait("step")
    place = _SPEC.trait("place")
    level = _SPEC.trait("level")

    @property
    def num_steps(self) -> int:
        """Time steps."""
        return len(self.x)

    @property
    def levels(self) -> list[ScanLevel]:
        """What the scan combines with what, level by level."""
        return scan_levels(self.num_steps, self.method)

    @property
    def states_by_loop(self) -> torch.Tensor:
        """The states, computed one after the other; float64, shape (num_steps,)."""
        return self._states_by_loop(torch.float64)

    @property
    def states_by_scan(self) -> torch.Tensor:
        """The states, computed by the scan; float64, shape (num_steps,)."""
        return self._states_by_scan(torch.float64)

    @property
    def differences(self) -> dict[str, float]:
        """Largest difference between the two, computed in float64 and in float32."""
        found = {}
        for dtype in (torch.float64, torch.float32):
            difference = self._states_by_loop(dtype) - self._states_by_scan(dtype)
            found[str(dtype).removeprefix("torch.")] = difference.abs().max().item()
        return found

    @property
    def depths(self) -> dict[str, int]:
        """How many steps wait for each other, in the loop and in the scan."""
        return {"loop": self.num_steps - 1, "scan": len(self.levels)}

    @property
    def work(self) -> dict[str, int]:
        """How many combinations each makes."""
        return {"loop": self.num_steps - 1, "scan": sum(len(level.pairs) for level in self.levels)}

    @property
    def multiplications(self) -> dict[str, int]:
        """How many products each makes: one a step of the loop; two a combination, but one where it gives a state."""
        first = list(range(self.num_steps))  # the first time step that each place has seen
        products = 0
        for level in self.levels:
            taken = {later: first[earlier] for earlier, later in level.pairs}
            products += sum(1 if start == 0 else 2 for start in taken.values())
            first = [taken.get(i, start) for i, start in enumerate(first)]
        return {"loop": self.num_steps - 1, "scan": products}

    @property
    def trace(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Factors and offsets (a, b) of all places before the first level and after each; float64, (num_steps,) each.

        After the last level the offsets are the states.
        """
        a, b = self._tensors(torch.float64)
        found = [(a, b)]
        for level in self.levels:
            new_a, new_b = a.clone(), b.clone()
            for earlier, later in level.pairs:
                new_a[later], new_b[later] = a[later] * a[earlier], a[later] * b[earlier] + b[later]
            a, b = new_a, new_b
            found.append((a, b))
        return found

    def preset(self, name: str, num_steps: int | None = None) -> None:
        """Set factors and inputs to an example (see `preset_values`); as many as there are, if no number is given."""
        self.update(**preset_values(name, self.num_steps if num_steps is None else num_steps))

    def _tensors(self, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.tensor(self.a, dtype=dtype), torch.tensor(self.x, dtype=dtype)

    def _states_by_loop(self, dtype: torch.dtype) -> torch.Tensor:
        return linear_recurrence_loop(*self._tensors(dtype))

    def _states_by_scan(self, dtype: torch.dtype) -> torch.Tensor:
        return linear_recurrence_scan(*self._tensors(dtype), method=self.method)

    @t.default("a")
    def _default_a(self) -> list[float]:
        return list(_SPEC.controls["a"]["default"])

    @t.default("x")
    def _default_x(self) -> list[float]:
        return preset_values("fading", len(self.a))["x"]

    @t.validate("a", "x")
    def _validate_values(self, proposal: dict[str, Any]) -> list[float]:
        name, values = proposal["trait"].name, proposal["value"]
        bound, other = _SPEC.controls[name]["of"]["max"], "x" if name == "a" else "a"
        if not _MIN_STEPS <= len(values) <= _MAX_STEPS:
            raise t.TraitError(
                f"{name} has {len(values)} values; give {_MIN_STEPS} to {_MAX_STEPS}, one for each time step."
            )
        for position, value in enumerate(values):
            if not abs(value) <= bound:  # also catches NaN
                raise t.TraitError(f"{name}[{position}] is {value}; it must lie between -{bound:g} and {bound:g}.")
        if len(values) != len(getattr(self, other)):
            raise t.TraitError(
                f"{name} has {len(values)} values and {other} {len(getattr(self, other))}; every time step has one of "
                "both (set both at once with update(a=..., x=...))."
            )
        return values

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """Depths and work in words."""
        words = Words(self._words)
        method = words({"doubling": "in_doubling", "two-sweep": "in_sweeps"}[self.method])
        return words(
            "sentence", steps=self.num_steps, loop=self.depths["loop"], levels=self.depths["scan"],
            work=self.work["scan"], method=method,
        )  # fmt: skip

    def static_picture(self) -> str:
        """One line a time step: factor, input, the loop's state, the scan's levels and its state."""
        words, numbers = Words(self._words), self.num_steps <= _MOST_NUMBERS
        loop = [format_value(value) for value in self.states_by_loop.tolist()]
        scan = [format_value(value) for value in self.states_by_scan.tolist()]
        rows = "; ".join(
            words("picture_row", t=i + 1, a=format_value(a), x=format_value(x), h=loop[i])
            for i, (a, x) in enumerate(zip(self.a, self.x))
        )
        said = words("picture", rows=rows) if numbers else words("picture_large", steps=self.num_steps)
        top, row = 58, 26 if numbers else 400 / self.num_steps
        picture = Picture(440, top + row * self.num_steps + 4, words("title"), said)
        picture.add("text", words("loop"), x=144, y=20, font_weight=650, font_size=13, text_anchor="middle")
        picture.add("text", words("scan"), x=200, y=20, font_weight=650, font_size=13)
        picture.add("text", words("scan_distance"), x=240, y=20, font_size=12)
        heads = (("t", 14), (words("column_a"), 48), (words("column_x"), 92), (words("column_h"), 144))
        for text, x in (*heads, (words("column_h"), 412)):
            picture.add("text", text, x=x, y=44, font_size=12, text_anchor="middle")
        y = [top + row * i + row / 2 for i in range(self.num_steps)]
        for i in range(self.num_steps):
            if i:
                line = f"M144 {y[i] - 16:.1f}v6" if numbers else f"M144 {y[i - 1]:.1f}V{y[i]:.1f}"
                picture.add("path", d=line, stroke=color("vermillion"), stroke_width=2.5 if numbers else 1)
            if not numbers:
                for x in (144, 412):
                    picture.add("circle", cx=x, cy=y[i], r=2.5, fill=color("blue"))
                continue
            for text, x in ((str(i + 1), 14), (format_value(self.a[i]), 48), (format_value(self.x[i]), 92)):
                picture.add("text", text, x=x, y=y[i] + 5, font_size=13, text_anchor="middle")
            for text, x in ((loop[i], 144), (scan[i], 412)):
                picture.add(
                    "rect", x=x - 25, y=y[i] - 10, width=50, height=20, rx=4, fill="none", stroke=color("blue"),
                    stroke_width=2,
                )  # fmt: skip
                picture.add("text", text, x=x, y=y[i] + 5, font_size=13, font_weight=650, text_anchor="middle")
        self._draw_levels(picture, y)
        return str(picture)

    def _draw_levels(self, picture: Picture, y: list[float]) -> None:
        levels, left, width = self.levels, 204, 158
        x = [left + width * level / len(levels) for level in range(len(levels) + 1)]
        first = list(range(self.num_steps))  # the first time step that each place has seen
        dots = [(x[0], y[i], first[i]) for i in range(self.num_steps)]
        for before, after, level in zip(x, x[1:], levels):
            picture.add("text", str(level.distance), x=after, y=44, font_size=12, text_anchor="middle")
            kept, own = (
                "".join(
                    f"M{before:.1f} {y[i]:.1f}H{after:.1f}"
                    for i in range(self.num_steps)
                    if (i in level.targets) == is_own
                )
                for is_own in (False, True)
            )
            slanting = "".join(f"M{before:.1f} {y[s]:.1f}L{after:.1f} {y[i]:.1f}" for s, i in level.pairs)
            picture.add("path", d=kept, stroke_width=1.5, stroke=color("line"))
            picture.add("path", d=own, stroke_width=1.5, stroke="currentColor")
            picture.add("path", d=slanting, stroke_width=1.75, stroke=color("vermillion"), fill="none")
            taken = {later: first[earlier] for earlier, later in level.pairs}
            first = [taken.get(i, first[i]) for i in range(self.num_steps)]
            dots += [(after, y[i], first[i]) for i in range(self.num_steps)]
        size = 1 if self.num_steps <= _MOST_NUMBERS else 0.6
        for at_x, at_y, reaches in dots:  # after the lines, so that they stand on top
            fill, radius = (color("blue"), 4.5 * size) if reaches == 0 else ("currentColor", 2.5 * size)
            picture.add("circle", cx=at_x, cy=at_y, r=radius, fill=fill)
