"""The explorable of the chapter *Gates*: what a letter wrote into the memory of an LSTM, and how long it lasts."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import torch
import traitlets as t
from torch.nn import functional as F

from d2lrnn.study.pretrained import Pretrained, load_pretrained, pretrained_bytes, stored_tensors
from d2lrnn.text import normalize
from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color, visible_character
from d2lrnn.widgets.spec import Spec, Words

__all__ = ["Gates"]

_SPEC = Spec("gates")
_MAX_TEXT = _SPEC.controls["text"]["max"]


@cache
def _trained() -> Pretrained:
    return load_pretrained("lstm")


class Gates(Explorable):
    r"""What a letter wrote into the memory of a trained LSTM, and how much the forget gates leave of it.

    From :math:`\mathbf C_t = \mathbf F_t \odot \mathbf C_{t-1} + \mathbf I_t \odot \tilde{\mathbf C}_t` follows

    .. math::
        \mathbf C_t = \sum_{s \le t} \Bigl( \prod_{j=s+1}^{t} \mathbf F_j \Bigr)
            \odot \mathbf I_s \odot \tilde{\mathbf C}_s :

    what is written at a letter is multiplied by the forget gate at each letter that follows. `bias` is added to the
    forget biases of all units; the network was trained without it.

    Parameters
    ----------
    text : str, optional
        At most 40 characters, normalised to letters and spaces.
    unit : int, optional
        0 to 31.
    place : int, optional
        1 to 40: the letter whose writing is followed; at most the last one.
    bias : float, optional
        -4 to 4.

    Raises
    ------
    traitlets.TraitError
        On a longer text or a number out of range.

    Examples
    --------
    >>> widget = Gates(text="the tide clock", unit=23)
    >>> widget.forget_gates.shape
    torch.Size([14, 32])
    >>> bool(widget.forget_gates[3, 23] < 0.05)                     # at the space this unit lets go
    True
    """

    _esm = module("gates")
    _css = stylesheet("gates")
    _words = "gates"

    text = _SPEC.trait("text")
    unit = _SPEC.trait("unit")
    place = _SPEC.trait("place")
    bias = _SPEC.trait("bias")
    weights = t.Bytes().tag(sync=True, shared=True)

    @t.default("weights")
    def _default_weights(self) -> bytes:
        return pretrained_bytes("lstm")

    @t.validate("text")
    def _validate_text(self, proposal: dict[str, Any]) -> str:
        return normalize(proposal["value"])[:_MAX_TEXT]

    @property
    def forget_gates(self) -> torch.Tensor:
        """Forget gate at every letter. Shape (num_steps, 32)."""
        return self._read()["forget"]

    @property
    def half_life(self) -> int | None:
        """Letters until less than half is left of what `unit` writes at `place`; None if the text ends before."""
        left = self._left()
        return next((k for k, share in enumerate(left) if share < 0.5), None)

    @property
    def bits(self) -> float:
        """Surprisal of the text in bits a letter, over all letters but the first."""
        ids = torch.tensor(_trained().vocab.encode(self.text))
        if len(ids) < 2:
            return 0.0
        model = _trained().model
        logits = self._read()["state"][:-1] @ model.W_hq + model.b_q
        return F.cross_entropy(logits, ids[1:]).item() / math.log(2)

    @torch.no_grad()
    def _read(self) -> dict[str, torch.Tensor]:
        """Gates, candidate, cell and state at every letter, each of shape (num_steps, 32)."""
        weights = stored_tensors(_trained().model)
        num_hiddens = weights["W_hh"].shape[0]
        b_h = weights["b_x"] + weights["b_h"]
        b_h[num_hiddens : 2 * num_hiddens] += self.bias
        H = C = torch.zeros(num_hiddens)
        rows = []
        for index in _trained().vocab.encode(self.text):
            blocks = (weights["W_xh"][index] + H @ weights["W_hh"] + b_h).chunk(4)
            I, forget, O = (blocks[k].sigmoid() for k in (0, 1, 3))  # noqa: E741
            C = forget * C + I * blocks[2].tanh()
            H = O * C.tanh()
            rows.append(torch.stack([I, forget, blocks[2].tanh(), O, C, H]))
        values = torch.stack(rows, dim=1) if rows else torch.zeros(6, 0, num_hiddens)
        return dict(zip(("input", "forget", "candidate", "output", "cell", "state"), values))

    @property
    def _at(self) -> int:
        return max(0, min(self.place, len(self.text)) - 1)

    def _left(self, at: int | None = None) -> list[float]:
        """What is left of what is written at a letter, there and at each letter after it."""
        at = self._at if at is None else at
        if not self.text:
            return []
        forget = self.forget_gates[at + 1 :, self.unit].double()
        return [1.0, *forget.cumprod(0).tolist()]

    def _name(self, at: int) -> str:
        words, text = Words(self._words), self.text
        if text[at] == " ":
            word = text[:at].split(" ")[-1]
            return words("space_after", word=word) if word else words("space")
        word = text[text.rfind(" ", 0, at) + 1 :].split(" ")[0]
        return words("letter_of", letter=text[at], word=word)

    def _share(self, share: float) -> str:
        words = Words(self._words)
        if share > 0.99:
            return words("over", share="99%") if share < 1 else "100%"
        return words("under", share="1%") if share < 0.01 else f"{100 * share:.0f}%"

    # ---- the static picture ----

    def _now(self) -> str:
        words, at, text = Words(self._words), self._at, self.text
        if len(text) < 2:
            return words("now_short")
        if at == len(text) - 1:
            return words("now_last", unit=self.unit, letter=self._name(at))
        steps = self.half_life or len(text) - 1 - at
        return words(
            "now_kept" if self.half_life is None else "now_gone",
            unit=self.unit,
            letter=self._name(at),
            left=self._share(self._left()[steps]),
            count=words("one_letter") if steps == 1 else words("letters", count=steps),
        )

    def static_sentence(self) -> str:
        """What the figure shows."""
        return Words(self._words)("sentence", text=self.text, unit=self.unit)

    def static_picture(self) -> str:
        """Letters, what is left of what one of them wrote, and the unit's forget gate at each."""
        words, text, at = Words(self._words), self.text, self._at
        picture = Picture(440, 232, words("title"), words("picture", unit=self.unit, text=text, now=self._now()))
        if not text:
            return str(picture)
        column, size = 404 / len(text), 110
        left, gates = self._left(), self.forget_gates[:, self.unit].tolist()
        for y, mark in ((48, "100%"), (48 + size, "0"), (184, "1"), (220, "0")):
            picture.add("text", mark, x=28, y=y + 3, text_anchor="end", font_size=9)
        picture.add("text", words("left_row_static"), x=32, y=38, font_size=9)
        picture.add("text", words("gate_row"), x=32, y=176, font_size=9)
        for i, letter in enumerate(text):
            x, bar = 32 + column * i, {"width": f"{0.84 * column:.2f}"}
            weight = 700 if i == at else 400
            middle = {"x": x + column / 2, "text_anchor": "middle"}
            picture.add("text", visible_character(letter), y=16, font_size=12, font_weight=weight, **middle)
            bar["x"] = f"{x + 0.08 * column:.2f}"
            if i >= at:
                height = size * left[i - at]
                picture.add("rect", y=48 + size - height, height=height, fill=color("vermillion"), **bar)
            if i > at:
                height = 36 * gates[i]
                picture.add("rect", y=220 - height, height=height, fill=color("blue"), **bar)
        return str(picture)
