"""The explorable of the chapter *A character language model*: what a trained network expects to come next."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import torch
import traitlets as t

from d2lrnn.decoding import generate, next_token_probs, warm_up
from d2lrnn.study.pretrained import Pretrained, load_pretrained, pretrained_bytes
from d2lrnn.text import normalize
from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color, format_probability, visible_character
from d2lrnn.widgets.spec import Words

__all__ = ["NextCharacter"]

_MAX_TEXT = 400
_ROWS = 9


@cache
def _trained() -> Pretrained:
    return load_pretrained("trained")


class NextCharacter(Explorable):
    r"""Type, see the distribution over the next character, cut it, and let the network write on.

    The network read :math:`x_1, \ldots, x_t` and gives :math:`P(x_{t+1} \mid x_1, \ldots, x_t)`. Temperature
    :math:`\tau` draws from :math:`p^{1/\tau}` (normalised) instead of :math:`p`, top-k from the k likeliest characters
    only, top-p from the fewest that have probability p together.

    Parameters
    ----------
    text : str, optional
        What it has read; normalised to letters and spaces, and cut to its last 400 characters.
    temperature : float, optional
        0 to 3; 0 always takes the likeliest character.
    top_k : int, optional
        0 (no bound) to 27.
    top_p : float, optional
        0.05 to 1 (no bound).
    seed : int, optional
        0 to 9999. The same seed, text and settings go on in the same way.
    compact : bool, optional
        Only the field, the buttons and the five likeliest characters.

    Raises
    ------
    traitlets.TraitError
        On a value out of range.

    Examples
    --------
    >>> widget = NextCharacter(text="The Tide Clo", top_k=3)
    >>> widget.text, widget.ranked[0][0], sum(p > 0 for _, _, p in widget.ranked)
    ('the tide clo', 'c', 3)
    """

    _esm = module("next_character")
    _css = stylesheet("next_character")
    _words = "next_character"

    text = t.Unicode("the tide clo").tag(sync=True, control=True)
    temperature = t.Float(1.0, min=0, max=3).tag(sync=True, control=True)
    top_k = t.Int(0, min=0, max=27).tag(sync=True, control=True)
    top_p = t.Float(1.0, min=0.05, max=1).tag(sync=True, control=True)
    seed = t.Int(0, min=0, max=9999).tag(sync=True, control=True)
    compact = t.Bool(False).tag(sync=True)
    weights = t.Bytes().tag(sync=True, shared=True)

    @t.default("weights")
    def _default_weights(self) -> bytes:
        return pretrained_bytes("trained")

    @t.validate("text")
    def _validate_text(self, proposal: dict[str, Any]) -> str:
        return normalize(proposal["value"])[-_MAX_TEXT:]

    @property
    def logits(self) -> torch.Tensor:
        """Logits over the next character, computed with torch. Shape (27,)."""
        network = _trained()
        return warm_up(network.model, network.vocab.encode(self.text or " "))[0]

    @property
    def ranked(self) -> list[tuple[str, float, float]]:
        """Characters by falling probability, each with the model's probability and the one that it is drawn with."""
        logits = self.logits
        before = next_token_probs(logits).tolist()
        after = next_token_probs(logits, self.temperature, self.top_k or None, self.top_p).tolist()
        rows = zip(_trained().vocab.tokens, before, after)
        return sorted(rows, key=lambda row: -row[1])

    @property
    def choices(self) -> tuple[float, float]:
        """2 to the entropy of both distributions: among how many equally likely characters one would be as unsure."""
        rows = self.ranked
        return tuple(2 ** -math.fsum(p * math.log2(p) for p in column if p > 0) for column in list(zip(*rows))[1:])

    def write(self, num_characters: int) -> None:
        """Let the network go on, with the widget's settings; the draw is torch's.

        Raises
        ------
        ValueError
            If `num_characters` is negative.
        """
        network = _trained()
        self.text = generate(
            network.model,
            network.vocab,
            self.text or " ",
            num_characters,
            temperature=self.temperature,
            top_k=self.top_k or None,
            top_p=self.top_p,
            generator=torch.Generator().manual_seed(self.seed),
        )

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """The likeliest next character."""
        character, p, _ = self.ranked[0]
        return Words(self._words)(
            "sentence", text=self.text[-40:], character=visible_character(character), p=format_probability(p)
        )

    def static_picture(self) -> str:
        """The likeliest characters as bars."""
        words = Words(self._words)
        rows = self.ranked[: 5 if self.compact else _ROWS]
        described = "; ".join(
            words("picture_row", character=visible_character(character), p=format_probability(p))
            for character, p, _ in rows
        )
        picture = Picture(440, 50 + 26 * len(rows), words("title"), words("picture", text=self.text, rows=described))
        mono = {"font_family": "ui-monospace, monospace"}
        picture.add("text", f"{self.text[-44:]}…", x=12, y=26, font_size=15, **mono)
        for i, (character, p, after) in enumerate(rows):
            y = 44 + 26 * i
            picture.add("text", visible_character(character), x=12, y=y + 15, font_weight=650, **mono)
            picture.add("rect", x=40, y=y + 4, width=max(1.0, 320 * after), height=11, fill=color("blue"))
            picture.add("rect", x=40, y=y, width=max(1.0, 320 * p), height=19, fill="none", stroke="currentColor")
            picture.add("text", format_probability(p), x=428, y=y + 15, text_anchor="end")
        return str(picture)
