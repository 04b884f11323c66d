"""The second explorable of the chapter *Perplexity*: the surprise of every letter of a text."""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Any

import torch
import traitlets as t

from d2lrnn.metrics import surprisal_bits
from d2lrnn.study.pretrained import Pretrained, load_pretrained, pretrained_bytes
from d2lrnn.text import normalize
from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color, format_number, visible_character
from d2lrnn.widgets.spec import Spec, Words, unaccented

__all__ = ["SurpriseMap"]

_SPEC = Spec("surprise_map")
_MAX_TEXT = _SPEC.controls["text"]["max"]


@cache
def _network(stage: str) -> Pretrained:
    return load_pretrained(stage.replace("_", "-"))


def _readable(text: str) -> str:
    """Normalised, without accents, signs before the first letter, and whatever follows the last: "Zoë! " is "zoe"."""
    plain = re.sub(r"^[^A-Za-z]+", lambda run: "" if run[0].strip() else " ", unaccented(text))
    return normalize(plain)[:_MAX_TEXT].rstrip()


class SurpriseMap(Explorable):
    r"""The surprisal of every letter under one network, at four stages of its training.

    A letter that the network gave probability :math:`p` costs :math:`-\log_2 p` bits. The mean over the text is its
    cross-entropy in bits a letter, 2 to that power its perplexity, and the sum, over 8, the bytes that an arithmetic
    coder would need.

    Parameters
    ----------
    text : str, optional
        Normalised to letters and spaces, accents left out ("Łukasz" is "lukasz"), and cut to its first 500 characters.
        The first is read and not guessed.
    stage : "untrained", "first_steps", "half_way" or "trained", optional
    place : int, optional
        The letter to look at, from 1; one that the text does not have, as 0, is the letter that costs the trained
        network most.

    Raises
    ------
    traitlets.TraitError
        On an unknown stage or a place below 0.

    Examples
    --------
    >>> SurpriseMap(text="the tide clock", stage="untrained").perplexity > 25
    True
    >>> SurpriseMap(text="the tide clock", stage="trained").perplexity < 6
    True
    """

    _esm = module("surprise_map")
    _css = stylesheet("surprise_map")
    _words = "surprise_map"

    # From the held-out end of the story: no stage was trained on it. A longer text is cut, not refused.
    text = t.Unicode(_SPEC.controls["text"]["default"]).tag(sync=True, control=True)
    stage = _SPEC.trait("stage")
    place = _SPEC.trait("place")
    weights_untrained = t.Bytes().tag(sync=True, shared=True)
    weights_first_steps = t.Bytes().tag(sync=True, shared=True)
    weights_half_way = t.Bytes().tag(sync=True, shared=True)
    weights_trained = t.Bytes().tag(sync=True, shared=True)

    @t.default("weights_untrained")
    def _untrained(self) -> bytes:
        return pretrained_bytes("untrained")

    @t.default("weights_first_steps")
    def _first_steps(self) -> bytes:
        return pretrained_bytes("first-steps")

    @t.default("weights_half_way")
    def _half_way(self) -> bytes:
        return pretrained_bytes("half-way")

    @t.default("weights_trained")
    def _trained(self) -> bytes:
        return pretrained_bytes("trained")

    @t.validate("text")
    def _validate_text(self, proposal: dict[str, Any]) -> str:
        return _readable(proposal["value"])

    @property
    def bits(self) -> list[float]:
        """Surprisal of every character after the first, in bits, computed with torch."""
        return self._bits(self.stage)

    def _bits(self, stage: str) -> list[float]:
        network = _network(stage)
        ids = torch.tensor(network.vocab.encode(self.text))
        if len(ids) < 2:
            return []
        with torch.no_grad():
            probs = network.model(ids[None, :-1])[0][0].softmax(-1)
        return surprisal_bits(probs.gather(1, ids[1:, None])[:, 0].tolist())

    @property
    def bits_per_character(self) -> float:
        """Mean surprisal; NaN for a text of fewer than two characters."""
        bits = self.bits
        return math.fsum(bits) / len(bits) if bits else math.nan

    @property
    def perplexity(self) -> float:
        """2 to the mean surprisal."""
        return 2**self.bits_per_character

    @property
    def packed_bytes(self) -> int:
        """Bytes that an arithmetic coder would need for all but the first character."""
        return math.ceil(math.fsum(self.bits) / 8)

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """What the text costs."""
        words = Words(self._words)
        if len(self.text) < 2:
            return words("now_short")
        before, now = (math.fsum(self._bits(stage)) / (len(self.text) - 1) for stage in ("untrained", self.stage))
        return words("static", rate=format_number(now), before=format_number(before))

    def static_picture(self) -> str:
        """The beginning of the text, a column over each letter."""
        words, bits = Words(self._words), [0.0, *self._bits(self.stage)]
        shown = self.text[:96]
        worst = sorted(range(1, len(shown)), key=lambda i: -bits[i])[:3]
        rows = ", ".join(
            words(
                "picture_row",
                character=visible_character(shown[i]),
                context=shown[max(0, i - 8) : i],
                bits=format_number(bits[i]),
            )
            for i in worst
        )
        description = words(
            "picture",
            text=shown,
            bits=format_number(math.fsum(bits)),
            rate=format_number(math.fsum(bits) / max(len(bits) - 1, 1)),
            updates=format_number(_network(self.stage).num_steps, 0),
            rows=rows,
        )
        width, row_height = 32, 50
        picture = Picture(440, 10 + row_height * math.ceil(len(shown) / width), words("title"), description)
        for i, character in enumerate(shown):
            x, foot = 12 + 13 * (i % width), 50 + row_height * (i // width)
            height = 1.6 * min(bits[i], 16)
            if i > 0:
                opacity = round(0.25 + 0.75 * min(bits[i] / 16, 1), 2)
                picture.add(
                    "rect",
                    x=x,
                    y=foot - 21 - height,
                    width=12,
                    height=height,
                    fill=color("vermillion"),
                    fill_opacity=opacity,
                )
            picture.add("text", character, x=x + 1, y=foot - 6, font_family="ui-monospace, monospace", font_size=16)
        return str(picture)
