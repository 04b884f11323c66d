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
from d2lrnn.widgets.spec import Spec, Words, unaccented

__all__ = ["Gates"]

_SPEC = Spec("gates")
_MAX_TEXT = _SPEC.controls["text"]["max"]
_FORGETTER, _KEEPER = _SPEC.controls["unit"]["default"], 16  # by their gates at spaces of held-out text, on average


@cache
def _trained() -> Pretrained:
    return load_pretrained("lstm")


class Gates(Explorable):
    r"""A number stored in the memory of a trained LSTM, and what the forget gates of two units leave of it.

    From :math:`\mathbf C_t = \mathbf F_t \odot \mathbf C_{t-1} + \mathbf I_t \odot \tilde{\mathbf C}_t` follows

    .. math::
        \mathbf C_t = \sum_{s \le t} \Bigl( \prod_{j=s+1}^{t} \mathbf F_j \Bigr)
            \odot \mathbf I_s \odot \tilde{\mathbf C}_s :

    what is written at a letter is multiplied by the forget gate at each letter that follows. `bias` is added to the
    forget biases of all units; the network was trained without it.

    Parameters
    ----------
    text : str, optional
        At most 40 characters, normalised to letters (without accents) and spaces.
    unit : int, optional
        0 to 31. Beside it stands unit 16, which on average keeps at spaces, or unit 29, which forgets there.
    place : int, optional
        1 to 40: the letter whose writing is followed; at most the last one.
    bias : float, optional
        -4 to 4.
    turned : {"none", "first", "second"}, optional
        Whose forget gate is held, at each space, at the opposite of its habit in this text: that of `unit`, or of the
        unit beside it. It is held at 0 if its mean at the spaces is above 0.5, else at 1. Only in the view "left".
    view : {"left", "memory"}, optional
        What is left of what the letter writes, or the numbers that `unit` holds, as it is and with its gate at spaces
        held at the opposite.

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
    turned = _SPEC.trait("turned")
    view = _SPEC.trait("view")
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
        """Letters until less than half is left of what `unit` writes at `place`; None if the text ends before."""
        return self._count(self.unit)

    @property
    def bits(self) -> float:
        """Surprisal of the text in bits a letter, over all letters but the first."""
        ids = torch.tensor(_trained().vocab.encode(self.text))
        if len(ids) < 2:
            return 0.0
        model = _trained().model
        logits = self._read()["state"][:-1] @ model.W_hq + model.b_q
        return F.cross_entropy(logits, ids[1:]).item() / math.log(2)

    def _read(self) -> dict[str, torch.Tensor]:
        """Gates, candidate, cell and state at every letter, each of shape (num_steps, 32)."""
        held = None
        if self.turned != "none" and not self._is_memory:
            held = self.unit if self.turned == "first" else self._other
        return self._run(self.bias, held)

    @torch.no_grad()
    def _run(self, bias: float, held: int | None = None) -> dict[str, torch.Tensor]:
        """Read the text; at its spaces the forget gate of unit `held` is the opposite of what was trained."""
        space, gate = _trained().vocab.encode(" ")[0], 0.0
        if held is not None and " " in self.text:
            gate = float(self._opposite(held))
        weights = stored_tensors(_trained().model)
        num_hiddens = weights["W_hh"].shape[0]
        b_h = weights["b_x"] + weights["b_h"]
        b_h[num_hiddens : 2 * num_hiddens] += bias
        H = C = torch.zeros(num_hiddens)
        rows = []
        for index in _trained().vocab.encode(self.text):
            blocks = (weights["W_xh"][index] + H @ weights["W_hh"] + b_h).chunk(4)
            I, forget, O = (blocks[k].sigmoid() for k in (0, 1, 3))  # noqa: E741
            if held is not None and index == space:
                forget[held] = gate
            C = forget * C + I * blocks[2].tanh()
            H = O * C.tanh()
            rows.append(torch.stack([I, forget, blocks[2].tanh(), O, C, H]))
        values = torch.stack(rows, dim=1) if rows else torch.zeros(6, 0, num_hiddens)
        return dict(zip(("input", "forget", "candidate", "output", "cell", "state"), values))

    def _opposite(self, unit: int) -> int:
        """The gate that is the opposite of what a unit does at the spaces of the text."""
        spaces = [letter == " " for letter in self.text]
        return int(self._run(0.0)["forget"][spaces, unit].mean() <= 0.5)

    @property
    def _is_memory(self) -> bool:
        return self.view == "memory" and " " in self.text

    @property
    def _at(self) -> int:
        return max(0, min(self.place, len(self.text)) - 1)

    @property
    def _other(self) -> int:
        """The unit beside `unit`."""
        return _FORGETTER if self.unit == _KEEPER else _KEEPER

    def _left(self, unit: int | None = None, *, trained: bool = False) -> list[float]:
        """What is left of what is written at `place`, there and at each letter after it; by the gates as `trained`."""
        if not self.text:
            return []
        gates = self._run(0.0)["forget"] if trained else self.forget_gates
        forget = gates[self._at + 1 :, self.unit if unit is None else unit].double()
        return [1.0, *forget.cumprod(0).tolist()]

    def _count(self, unit: int, *, trained: bool = False) -> int | None:
        return next((k for k, share in enumerate(self._left(unit, trained=trained)) if share < 0.5), None)

    def _name(self, at: int, beside: int | None = None) -> str:
        """How the letter at `at` is called, alone or beside the earlier one at `beside`."""
        words, text = Words(self._words), self.text
        near = beside is not None and " " not in text[beside + 1 : at]
        if near and text[at] == " ":
            return words("next_space")
        if text[at] == " ":
            word = text[:at].split(" ")[-1]
            return words("space_after", word=word) if word else words("space")
        start = text.rfind(" ", 0, at) + 1
        word = text[start:].split(" ")[0]
        same = [start + i for i, letter in enumerate(word) if letter == text[at]]
        which = words("which").split(" ")[min(same.index(at), 3)]
        key = "letter_of" if len(same) == 1 else "letter_again"
        if near and beside is not None and text[beside] != " ":
            key += "_here"
        return words(key, letter=text[at], word=word, which=which)

    # ---- the static picture ----

    def _now(self) -> str:
        words, at, text = Words(self._words), self._at, self.text
        if len(text) < 2:
            return words("now_short")
        letter = self._name(at)
        if at == len(text) - 1:
            return words("now_last", letter=letter)
        if self._is_memory:
            first, second = (self._held(self._run(self.bias, held)) for held in (None, self.unit))
            turned = words(f"if_{self._opposite(self.unit)}")
            return words("now_memory", first=first, second=second, unit=self.unit, turned=turned)
        first, second = self._kept(self.unit, letter), self._kept(self._other, words("it"))
        return words("now", first=first, second=second, unit=self.unit, other=self._other)

    def _held(self, read: dict[str, torch.Tensor]) -> str:
        """The numbers that the unit holds after each space."""
        cells = zip(read["cell"][:, self.unit].tolist(), self.text, strict=True)
        found = [f"{cell:.1f}".replace("-0.0", "0.0") for cell, letter in cells if letter == " "]
        return ", ".join(found).replace("-", "\u2212")

    def _percent(self, share: float) -> str:
        if share > 0.99:
            return Words(self._words)("over", share="99%") if share < 1 else "100%"
        return Words(self._words)("under", share="1%") if share < 0.01 else f"{math.floor(100 * share + 0.5)}%"

    def _kept(self, unit: int, letter: str) -> str:
        """What becomes of what the letter writes: past where it is forgotten as trained, or where it is lost."""
        words, count, own_count = Words(self._words), self._count(unit), self._count(unit, trained=True)
        left, own_left = (self._left(unit, trained=trained) for trained in (False, True))
        is_passed = own_count is not None and left[own_count] >= 0.5
        at = own_count if own_count is not None and is_passed else len(left) - 1 if count is None else count
        shown = self._percent(left[at])
        if abs(left[at] - own_left[at]) >= 0.05:
            shown = words("from_to", own=self._percent(own_left[at]), share=shown)
        key = "passed" if is_passed else "kept" if count is None else "lost"
        return words(f"now_{key}", letter=letter, where=self._name(self._at + at, self._at), left=shown)

    def static_sentence(self) -> str:
        """What the figure shows."""
        return Words(self._words)("sentence", text=self.text, unit=self.unit)

    def static_picture(self) -> str:
        """The text once; under each letter, for two units, what is left of a number, and the forget gate."""
        words, text, at = Words(self._words), self.text, self._at
        description = words("picture", unit=self.unit, other=self._other, text=text, now=self._now())
        picture = Picture(440, 196, words("title"), description)
        column = 432 / max(18, len(text))
        for i, letter in enumerate(text):
            middle = {"x": f"{4 + column * (i + 0.5):.1f}", "text_anchor": "middle"}
            weight = 700 if i == at else 400
            picture.add("text", visible_character(letter), y=16, font_size=15, font_weight=weight, **middle)
        for row, unit in enumerate((self.unit, self._other)):
            y = 38 + 72 * row
            picture.add("text", words("unit", unit=unit), x=4, y=y, font_size=12, font_weight=700)
            left, gates = self._left(unit), self.forget_gates[:, unit].tolist()
            box, stored, gate = "", "", ""
            for i in range(len(text)):
                x, size = f"{4 + column * (i + 0.04):.1f}", f"{0.92 * column:.1f}"
                share = left[i - at] if i >= at else 0.0
                box += f"M{x} {y + 34}v-28h{size}v28z"
                stored += f"M{x} {y + 34}v{-28 * share:.1f}h{size}v{28 * share:.1f}z" if share > 0.005 else ""
                gate += f"M{x} {y + 50}v{-14 * gates[i]:.1f}h{size}v{14 * gates[i]:.1f}z"
            picture.add("path", d=box, fill="none", stroke=color("line"))
            picture.add("path", d=stored, fill=color("vermillion"), fill_opacity=0.55)
            picture.add("path", d=gate, fill=color("blue"))
        keys = (("left_key", "vermillion", 0.55, 4), ("gate_key", "blue", 1, 222))
        for key, paint, opacity, at_x in keys:
            picture.add("rect", x=at_x, y=179, width=9, height=9, fill=color(paint), fill_opacity=opacity)
            picture.add("text", words(key), x=at_x + 13, y=188, font_size=11)
        return str(picture)
