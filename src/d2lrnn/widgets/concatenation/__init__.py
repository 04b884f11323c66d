"""The explorable of the chapter *The concatenation identity*: two products and a sum, or one product."""

from __future__ import annotations

import math
from typing import Any

import torch
import traitlets as t

from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color
from d2lrnn.widgets.randomness import random_source
from d2lrnn.widgets.spec import Words

__all__ = ["Concatenation"]

_MOST = 4


class Concatenation(Explorable):
    r"""Compute :math:`\mathbf X \mathbf W_{xh} + \mathbf H \mathbf W_{hh}` and
    :math:`[\mathbf X\ \mathbf H] \begin{bmatrix}\mathbf W_{xh}\\\mathbf W_{hh}\end{bmatrix}` number by number.

    Parameters
    ----------
    n, d, h : int, optional
        Sequences, inputs and hidden units, 1 to 4 each.
    seed : int, optional
        Which numbers stand in the matrices.
    row, column : int, optional
        The number of the result to look at, from 0.

    Raises
    ------
    traitlets.TraitError
        On a size or a place out of range.

    Examples
    --------
    >>> widget = Concatenation(n=2, d=3, h=4)
    >>> widget.apart.shape, bool((widget.apart - widget.glued).abs().max() < 1e-12)
    (torch.Size([2, 4]), True)
    """

    _esm = module("concatenation")
    _css = stylesheet("concatenation")
    _words = "concatenation"

    n = t.Int(2, min=1, max=_MOST).tag(sync=True, control=True)
    d = t.Int(3, min=1, max=_MOST).tag(sync=True, control=True)
    h = t.Int(3, min=1, max=_MOST).tag(sync=True, control=True)
    seed = t.Int(3, min=0, max=9999).tag(sync=True, control=True)
    row = t.Int(0, min=0, max=_MOST - 1).tag(sync=True, control=True)
    column = t.Int(1, min=0, max=_MOST - 1).tag(sync=True, control=True)

    @t.validate("row", "column")
    def _validate_place(self, proposal: dict[str, Any]) -> int:
        name, size = proposal["trait"].name, self.n if proposal["trait"].name == "row" else self.h
        if proposal["value"] >= size:
            raise t.TraitError(f"{name} is {proposal['value']}; the result has {size} of them, counted from 0.")
        return proposal["value"]

    @t.observe("n", "h")
    def _keep_inside(self, _change: dict[str, Any]) -> None:
        self.row, self.column = min(self.row, self.n - 1), min(self.column, self.h - 1)

    @property
    def matrices(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """X (n, d), W_xh (d, h), H (n, h) and W_hh (h, h), float64."""
        shapes = [(self.n, self.d), (self.d, self.h), (self.n, self.h), (self.h, self.h)]
        numbers = random_source(self.seed)
        return tuple(
            torch.tensor([[_two_decimals(next(numbers)) for _ in range(c)] for _ in range(r)], dtype=torch.float64)
            for r, c in shapes
        )

    @property
    def apart(self) -> torch.Tensor:
        """X W_xh + H W_hh, shape (n, h), float64."""
        X, W_xh, H, W_hh = self.matrices
        return X @ W_xh + H @ W_hh

    @property
    def glued(self) -> torch.Tensor:
        """The same from one product of the glued matrices."""
        X, W_xh, H, W_hh = self.matrices
        return torch.cat([X, H], dim=1) @ torch.cat([W_xh, W_hh])

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """The number looked at."""
        value = f"{float(self.apart[self.row, self.column]):.2f}"
        return Words(self._words)("sentence", row=self.row + 1, column=self.column + 1, value=value)

    def static_picture(self) -> str:
        """The glued matrices and their product."""
        words = Words(self._words)
        value = f"{float(self.apart[self.row, self.column]):.2f}"
        description = words(
            "picture", n=self.n, d=self.d, h=self.h, row=self.row + 1, column=self.column + 1, value=value
        )
        X, W_xh, H, W_hh = self.matrices
        left, right = torch.cat([X, H], dim=1), torch.cat([W_xh, W_hh])
        cell = min(34, 400 / (self.d + 3 * self.h + 2))
        height = 30 + cell * max(self.n, self.d + self.h)
        picture = Picture(440, height, words("title"), description)

        def block(values: torch.Tensor, x: float, split: int, along: int, marked: tuple) -> None:
            for i, line in enumerate(values.tolist()):
                for j, number in enumerate(line):
                    part = color("blue" if (i, j)[along] < split else "vermillion")
                    wide = 2.5 if i == marked[0] or j == marked[1] else 1
                    place = {"x": x + cell * j + 1, "y": 12 + cell * i, "width": cell - 2, "height": cell - 2}
                    picture.add("rect", **place, fill="none", stroke=part, stroke_width=wide)
                    where = {"x": x + cell * (j + 0.5), "y": 12 + cell * (i + 0.6), "text_anchor": "middle"}
                    picture.add("text", f"{number:.1f}", **where, font_size=round(0.36 * cell))

        block(left, 4, self.d, 1, (self.row, None))
        middle = 4 + cell * (self.d + self.h + 1)
        block(right, middle, self.d, 0, (None, self.column))
        block(self.glued, middle + cell * (self.h + 1), self.n + 1, 0, (self.row, None))
        picture.add("text", "×", x=middle - 0.6 * cell, y=12 + 0.7 * cell)  # noqa: RUF001
        picture.add("text", "=", x=middle + cell * (self.h + 0.35), y=12 + 0.7 * cell)
        return str(picture)


def _two_decimals(u: float) -> float:
    # As JavaScript rounds: halves upwards.
    return math.floor(400 * u - 200 + 0.5) / 100
