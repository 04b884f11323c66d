"""The explorable of the chapter *The concatenation identity*: two products and a sum, or one product."""

from __future__ import annotations

import math
from typing import Any

import torch
import traitlets as t

from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color
from d2lrnn.widgets.randomness import random_source
from d2lrnn.widgets.spec import Spec, Words

__all__ = ["Concatenation"]

_SPEC = Spec("concatenation")


class Concatenation(Explorable):
    r"""Compute :math:`\mathbf X \mathbf W_{xh} + \mathbf H \mathbf W_{hh}` and
    :math:`[\mathbf X\ \mathbf H] \begin{bmatrix}\mathbf W_{xh}\\\mathbf W_{hh}\end{bmatrix}` number by number.

    Parameters
    ----------
    glued : bool, optional
        Whether the blocks stand together; default False.
    swapped : bool, optional
        Whether W_hh stands on top of W_xh; default False. Counts only when glued. Wrong unless memory_first.
    memory_first : bool, optional
        Whether H stands before X; default False. Counts only when glued.
    added : float, optional
        A number added to every result to repair it, with at most two decimals, from -9.99 to 9.99; default 0. Counts
        only where just one side of the glued tables is the other way round.
    row, column : int, optional
        The number of the result to look at, from 0.
    batch_size, num_inputs, num_hiddens : int, optional
        Sequences, inputs and hidden units, 1 to 4 each.
    seed : int, optional
        Which numbers stand in the matrices, from -1 to 1; each has one decimal, so that every sum of products has two.

    Raises
    ------
    traitlets.TraitError
        On a size or a place out of range, or more than two decimals in `added`.

    Examples
    --------
    >>> widget = Concatenation(batch_size=2, num_inputs=3, num_hiddens=4)
    >>> widget.two_products.shape, bool((widget.two_products - widget.one_product).abs().max() < 1e-12)
    (torch.Size([2, 4]), True)
    """

    _esm = module("concatenation")
    _css = stylesheet("concatenation")
    _words = "concatenation"

    glued = _SPEC.trait("glued")
    swapped = _SPEC.trait("swapped")
    memory_first = _SPEC.trait("memory_first")
    added = _SPEC.trait("added")
    row = _SPEC.trait("row")
    column = _SPEC.trait("column")
    batch_size = _SPEC.trait("batch_size")
    num_inputs = _SPEC.trait("num_inputs")
    num_hiddens = _SPEC.trait("num_hiddens")
    seed = _SPEC.trait("seed")

    @t.validate("added")
    def _validate_added(self, proposal: dict[str, Any]) -> float:
        if proposal["value"] != round(proposal["value"], 2):
            raise t.TraitError(f"added is {proposal['value']}; give at most two decimals, as the results have.")
        return proposal["value"]

    @t.validate("row", "column")
    def _validate_place(self, proposal: dict[str, Any]) -> int:
        name, place = proposal["trait"].name, proposal["value"]
        size = self.batch_size if name == "row" else self.num_hiddens
        if place >= size:
            raise t.TraitError(f"{name} is {place}; the result has {size} of them, counted from 0.")
        return place

    @t.observe("batch_size", "num_hiddens")
    def _keep_inside(self, _change: dict[str, Any]) -> None:
        self.row, self.column = min(self.row, self.batch_size - 1), min(self.column, self.num_hiddens - 1)

    @property
    def matrices(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """X, W_xh, H and W_hh in their shapes, float64."""
        outer, inner = self.num_inputs, self.num_hiddens
        numbers = random_source(self.seed)

        def drawn(rows: int, columns: int, most: int = 10) -> torch.Tensor:
            values = [[_tenths(next(numbers), most) for _ in range(columns)] for _ in range(rows)]
            return torch.tensor(values, dtype=torch.float64)

        # H is out of tanh, so below 1. Further rows come last, text by text: the same weights serve all texts.
        X, W_xh, H, W_hh = drawn(1, outer), drawn(outer, inner), drawn(1, inner, 9), drawn(inner, inner)
        for _ in range(self.batch_size - 1):
            X, H = torch.cat([X, drawn(1, outer)]), torch.cat([H, drawn(1, inner, 9)])
        return X, W_xh, H, W_hh

    @property
    def two_products(self) -> torch.Tensor:
        """X W_xh + H W_hh, shape (batch_size, num_hiddens), float64."""
        X, W_xh, H, W_hh = self.matrices
        return X @ W_xh + H @ W_hh

    @property
    def one_product(self) -> torch.Tensor:
        """The same from one product of the glued matrices, unless only one of the two has the memory's part first: then
        with `added`.
        """
        X, W_xh, H, W_hh = self.matrices
        rows = [H, X] if self.glued and self.memory_first else [X, H]
        weights = [W_hh, W_xh] if self.glued and self.swapped else [W_xh, W_hh]
        is_wrong = self.glued and self.swapped != self.memory_first
        return torch.cat(rows, dim=1) @ torch.cat(weights) + (self.added if is_wrong else 0)

    # ---- the static picture ----

    def _told(self) -> dict[str, object]:
        X, W_xh, H, W_hh = self.matrices
        x, h = (float((A[self.row] * B[:, self.column]).sum()) for A, B in ((X, W_xh), (H, W_hh)))
        place = {"row": self.row + 1, "column": self.column + 1}
        second = _written(h, 2) if h >= 0 else f"({_written(h, 2)})"
        return place | {"x": _written(x, 2), "h": second, "value": _written(x + h, 2)}

    def static_sentence(self) -> str:
        """The number looked at, and its two parts."""
        return Words(self._words)("sentence", **self._told())

    def static_picture(self) -> str:
        """The glued matrices, the weights above and the rows at the left; the result stands where they cross."""
        X, W_xh, H, W_hh = self.matrices
        rows, inner, columns = self.batch_size, self.num_inputs + self.num_hiddens, self.num_hiddens
        words = Words(self._words)
        description = words("picture", rows=rows, inner=inner, columns=columns, **self._told())
        left, broad, high = 44, 58, 32
        corner = (12 + left * inner + 10, 12 + high * inner + 10)
        picture = Picture(corner[0] + broad * columns + 12, corner[1] + high * rows + 12, words("title"), description)

        def block(
            values: torch.Tensor, x: float, y: float, wide: float, paint: str, dashes: str, decimals: int
        ) -> None:
            for i, line in enumerate(values.tolist()):
                for j, number in enumerate(line):
                    place = {"x": x + wide * j + 1, "y": y + high * i + 1, "width": wide - 2, "height": high - 2}
                    picture.add("rect", None, **place, fill="none", stroke=paint, stroke_dasharray=dashes)
                    where = {"x": x + wide * (j + 0.5), "y": y + high * (i + 0.5) + 5, "text_anchor": "middle"}
                    picture.add("text", _written(number, decimals), **where)

        x_part, h_part = (color("blue"), "none", 1), (color("vermillion"), "4 3", 1)
        block(X, 12, corner[1], left, *x_part)
        block(H, 12 + left * self.num_inputs, corner[1], left, *h_part)
        block(W_xh, corner[0], 12, broad, *x_part)
        block(W_hh, corner[0], 12 + high * self.num_inputs, broad, *h_part)
        block(self.two_products, *corner, broad, "currentColor", "none", 2)
        for name, x, y, anchor in (
            ("X", 12 + left * self.num_inputs / 2, corner[1] - 8, "middle"),
            ("H", 12 + left * (self.num_inputs + inner) / 2, corner[1] - 8, "middle"),
            ("W_xh", corner[0] - 8, 12 + high * self.num_inputs / 2 + 5, "end"),
            ("W_hh", corner[0] - 8, 12 + high * (self.num_inputs + inner) / 2 - 5, "end"),
        ):
            picture.add("text", name, x=x, y=y, text_anchor=anchor, font_family="ui-monospace, monospace")
        return str(picture)


def _tenths(u: float, most: int) -> float:
    # From -most to most tenths, rounded as in JavaScript: halves upwards.
    return math.floor(2 * most * u - most + 0.5) / 10


def _written(value: float, decimals: int) -> str:
    """A number that has no more than so many decimals, with a true minus."""
    return f"{round(float(value), decimals) + 0.0:.{decimals}f}".replace("-", "\u2212")
