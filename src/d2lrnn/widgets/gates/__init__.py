"""The explorable of the chapter *Gates*: what each letter wrote into the memory of an LSTM, and how long it lasts."""

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
    r"""The memory of one unit of a trained LSTM while it reads a text, as a sum of what each letter wrote.

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

    # ---- the static picture ----

    def _now(self) -> str:
        words, at, text = Words(self._words), self._at, self.text
        if len(text) < 2:
            return words("now_short")
        if at == len(text) - 1:
            return words("now_last", unit=self.unit, letter=self._name(at))
        steps = self.half_life or len(text) - 1 - at
        gates = self.forget_gates[at + 1 : at + steps + 1, self.unit].tolist()
        if steps <= 4:
            passed = " × ".join(f"{gate:.2f}" for gate in gates)  # noqa: RUF001
        else:
            passed = words("range", low=f"{min(gates):.2f}", high=f"{max(gates):.2f}")
        return words(
            "now_kept" if self.half_life is None else "now_gone",
            unit=self.unit,
            letter=self._name(at),
            left=f"{100 * self._left()[steps]:.0f}%",
            count=words("one_letter") if steps == 1 else words("letters", count=steps),
            passed=passed,
        )

    def static_sentence(self) -> str:
        """What the figure shows."""
        return Words(self._words)("sentence", text=self.text, unit=self.unit)

    def static_picture(self) -> str:
        """Letters, the unit's forget gate at each, and its memory as a sum of what the letters wrote."""
        words, text = Words(self._words), self.text
        description = words("picture", unit=self.unit, text=text, now=self._now())
        picture = Picture(440, 230, words("title"), description)
        if not text:
            return str(picture)
        read = {name: values[:, self.unit].tolist() for name, values in self._read().items()}
        column = 420 / len(text)
        for i, (letter, gate) in enumerate(zip(text, read["forget"])):
            x = 10 + column * i
            weight = 700 if i == self._at else 400
            letter = visible_character(letter)
            picture.add("text", letter, x=x + column / 2, y=16, text_anchor="middle", font_size=12, font_weight=weight)
            bar = {"x": x + 0.1 * column, "y": 46 - 22 * gate, "width": 0.8 * column, "height": 22 * gate}
            picture.add("rect", **bar, opacity=0.6)
        picture.add("text", words("gate_row"), x=10, y=58, font_size=9)
        amounts = [gate * value for gate, value in zip(read["input"], read["candidate"])]
        above, below = [0.0] * len(text), [0.0] * len(text)
        streams = []
        for start, amount in enumerate(amounts):
            side = below if amount < 0 else above
            begin, edges = side[start - 1] if start else 0.0, []
            for k, share in enumerate(self._left(start)):
                inner = side[start + k]
                side[start + k] += share * amount
                edges.append((inner, side[start + k]))
            streams.append((begin, edges))
        high, low = max(above), min(below)
        scale = 140 / max(high - low, 1e-6)
        for start, (begin, edges) in enumerate(streams):
            seen = sum(abs(outer - inner) * scale > 0.4 for inner, outer in edges)
            edges = edges[: seen + 1]
            points = [(10 + column * (start + k + 0.5), *edge) for k, edge in enumerate(edges)]
            there = [f"{x:.0f} {74 + scale * (high - inner):.1f}" for x, inner, _ in points]
            back = [f"{x:.0f} {74 + scale * (high - outer):.1f}" for x, _, outer in reversed(points)]
            there.insert(0, f"{10 + column * max(0, start - 0.5):.0f} {74 + scale * (high - begin):.1f}")
            fill = color("vermillion" if start == self._at else "blue")
            pale = start != self._at and text[: start + 1].count(" ") % 2
            picture.add("path", d=f"M{'L'.join(there + back)}Z", fill=fill, opacity=0.5 if pale else 0.85)
        picture.add("text", words("river", unit=self.unit), x=10, y=226, font_size=9)
        return str(picture)
