"""The explorable of the chapter *Gates*: what a letter adds to the memory of an LSTM, and how long it lasts."""

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
from d2lrnn.widgets.spec import Spec, Words, unaccented

__all__ = ["Gates"]

_SPEC = Spec("gates")
_MAX_TEXT = _SPEC.controls["text"]["max"]
_FOLLOWED = _SPEC.controls["unit"]["default"]  # the unit that has a rule
_PURPLE = "#8f5bb5"  # of its number, as the style sheet mixes it; readable on both themes


@cache
def _trained() -> Pretrained:
    return load_pretrained("lstm")


def _share(share: float, words: Words) -> str:
    """A share as a percentage: "5%", "<1%", ">99%", "0%"."""
    if share < 1e-12:
        return "0%"
    if share > 0.99:
        return words("over", share="99%") if share < 1 else "100%"
    return words("under", share="1%") if share < 0.01 else f"{share:.0%}"


def _signed(value: float) -> str:
    """Two decimals, a true minus."""
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "\u2212")


class Gates(Explorable):
    r"""A number added to the memory of a trained LSTM, and what the forget gates of its unit leave of it.

    From :math:`\mathbf C_t = \mathbf F_t \odot \mathbf C_{t-1} + \mathbf I_t \odot \tilde{\mathbf C}_t` follows

    .. math::
        \mathbf C_t = \sum_{s \le t} \Bigl( \prod_{j=s+1}^{t} \mathbf F_j \Bigr)
            \odot \mathbf I_s \odot \tilde{\mathbf C}_s :

    what a letter adds is multiplied by the forget gate at each letter that follows. `bias` is added to the
    forget biases of all units; the network was trained without it.

    Parameters
    ----------
    text : str, optional
        At most 40 characters, normalised to letters (without accents) and spaces.
    unit : int, optional
        0 to 31.
    place : int, optional
        0 to 40: the letter that is followed; none at 0, the first one where the text has not so many.
    bias : float, optional
        -4 to 4.
    gates : list of float, optional
        At what the forget gates of `unit` are held, from the first letter on: from 0 to 1, or -1 for one that is left
        alone. Letters that are not in the list are left alone.

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
    gates = _SPEC.trait("gates")
    weights = t.Bytes().tag(sync=True, shared=True)

    @t.default("weights")
    def _default_weights(self) -> bytes:
        return pretrained_bytes("lstm")

    @t.validate("text")
    def _validate_text(self, proposal: dict[str, Any]) -> str:
        return normalize(unaccented(proposal["value"]))[:_MAX_TEXT]

    @property
    def forget_gates(self) -> torch.Tensor:
        """Forget gate at every letter. Shape (num_steps, 32)."""
        return self._read()["forget"]

    @property
    def half_life(self) -> int | None:
        """Letters until less than half is left of what `unit` adds at `place`; None if there is no such letter."""
        return next((k for k, share in enumerate(self._left()) if share < 0.5), None)

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
        for i, index in enumerate(_trained().vocab.encode(self.text)):
            blocks = (weights["W_xh"][index] + H @ weights["W_hh"] + b_h).chunk(4)
            I, forget, O = (blocks[k].sigmoid() for k in (0, 1, 3))  # noqa: E741
            if i < len(self.gates) and self.gates[i] >= 0:
                forget[self.unit] = self.gates[i]
            C = forget * C + I * blocks[2].tanh()
            H = O * C.tanh()
            rows.append(torch.stack([I, forget, blocks[2].tanh(), O, C, H]))
        values = torch.stack(rows, dim=1) if rows else torch.zeros(6, 0, num_hiddens)
        return dict(zip(("input", "forget", "candidate", "output", "cell", "state"), values))

    @property
    def _at(self) -> int:
        return 0 if self.place > len(self.text) else self.place - 1  # -1: none

    def _left(self) -> list[float]:
        """What is left of what is added at `place`, there and at each letter after it."""
        if not self.text or self._at < 0:
            return []
        return [1.0, *self.forget_gates[self._at + 1 :, self.unit].double().cumprod(0).tolist()]

    def _name(self, at: int) -> str:
        """How the letter at `at` is called."""
        words, text = Words(self._words), self.text
        if text[at] == " ":
            word = text[:at].split(" ")[-1]
            return words("space_after", word=word) if word else words("space")
        start = text.rfind(" ", 0, at) + 1
        word = text[start:].split(" ")[0]
        same = [start + i for i, letter in enumerate(word) if letter == text[at]]
        which = words("which").split(" ")[min(same.index(at), 3)]
        return words("letter_of" if len(same) == 1 else "letter_again", letter=text[at], word=word, which=which)

    def _now(self) -> str:
        """What the line on top says: what becomes of what the chosen letter adds, or how the number fits its rule."""
        words, at, text = Words(self._words), self._at, self.text
        if len(text) < 2:
            return words("now_short")
        if at < 0:
            below = [number < 0 for number in self._read()["cell"][:, self.unit].tolist()]
            if self.unit != _FOLLOWED:
                return words("now_unit", unit=self.unit, above=below.count(False), all=len(text))
            parts = [text[: i + 1].rpartition(" ")[2] for i in range(len(text))]  # of the word, so far
            fits = sum(is_below == bool(set(part) & set("aeiou")) for is_below, part in zip(below, parts, strict=True))
            return words("now_rule", above=words("above"), below=words("below"), fits=fits, all=len(text))
        space = text.find(" ", at + 1)
        place = len(text) - 1 if space < 0 else space
        key = "now_last" if place == at else "now_end" if space < 0 else "now_space"
        read, name = self._read(), self._name(at)
        added = _signed((read["input"] * read["candidate"])[at, self.unit].item())
        return words(key, added=added, letter=name[0].upper() + name[1:], share=_share(self._left()[place - at], words))

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """What the figure shows."""
        return Words(self._words)("sentence", text=self.text, unit=self.unit)

    def static_picture(self) -> str:
        """The text once; under each letter the forget gate, what is left of what one letter adds, and the number."""
        words, text, at = Words(self._words), self.text, self._at
        description = words("picture" if at >= 0 else "picture_whole", unit=self.unit, text=text, now=self._now())
        picture = Picture(440, 146, words("title"), description)
        column = 432 / max(18, len(text))
        for i, letter in enumerate(text):
            middle = {"x": f"{4 + column * (i + 0.5):.1f}", "text_anchor": "middle"}
            weight = 700 if i == at else 400
            picture.add("text", visible_character(letter), y=16, font_size=15, font_weight=weight, **middle)
        y, left, gates = 38, self._left(), self.forget_gates[:, self.unit].tolist()
        picture.add("text", words("unit", unit=self.unit), x=4, y=y, font_size=12, font_weight=700)
        numbers = self._read()["cell"][:, self.unit].tolist()
        high, low = max([0.0, *numbers]), min([0.0, *numbers])
        top = y + 60 if left else y + 28  # without a letter, its band leaves its room to the numbers
        scale = (122 - top) / max(high - low, 0.1)
        floor, zero = y + 52, top + scale * high
        above = below = gate = ""
        band = f"M{4 + column * at:.1f} {floor}"
        for i, number in enumerate(numbers):
            x, wide = f"{4 + column * (i + 0.04):.1f}", f"{0.92 * column:.1f}"
            bar = f"M{x} {zero:.1f}v{-scale * number:.1f}h{wide}V{zero:.1f}z"
            above, below = (above, below + bar) if number < 0 else (above + bar, below)
            gate += f"M{x} {y + 20}v{-14 * gates[i]:.1f}h{wide}v{14 * gates[i]:.1f}z"
            if left and i >= at:  # the band falls in the middle of a letter, where its gate is
                band += f"{'V' if i == at else f'H{4 + column * (i + 0.5):.1f}V'}{floor - 26 * left[i - at]:.1f}"
        picture.add("path", d=gate, fill=color("blue"))
        if left:
            band += f"H{4 + column * len(text):.1f}V{floor}z"
            picture.add("path", d=band, fill=color("vermillion"), fill_opacity=0.75)
        picture.add("path", d=above, fill=_PURPLE, fill_opacity=0.5)
        picture.add("path", d=below, fill=_PURPLE)
        picture.add("path", d=f"M4 {zero:.1f}h{column * len(text):.1f}", stroke="currentColor", stroke_width=0.7)
        keys = [
            ("gate_key", color("blue"), 1, 4),
            ("left_key", color("vermillion"), 0.75, 214),
            ("number_key" if left else "whole_key", _PURPLE, 1, 278),
        ]
        for key, paint, opacity, at_x in keys if left else keys[::2]:
            picture.add("rect", x=at_x, y=131, width=9, height=9, fill=paint, fill_opacity=opacity)
            picture.add("text", words(key), x=at_x + 13, y=140, font_size=11)
        return str(picture)
