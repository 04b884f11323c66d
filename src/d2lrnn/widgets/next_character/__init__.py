"""The explorable of the chapter *A character language model*: what a trained network writes, and from what it draws."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import traitlets as t

from d2lrnn.decoding import next_token_probs, warm_up
from d2lrnn.model import evaluating
from d2lrnn.study.pretrained import Pretrained, load_pretrained, pretrained_bytes
from d2lrnn.text import normalize
from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color, format_probability, visible_character
from d2lrnn.widgets.randomness import random_source
from d2lrnn.widgets.spec import Spec, Words, unaccented

__all__ = ["NextCharacter"]

_SPEC = Spec("next_character")
_SIZES = _SPEC.presets["sizes"]


@cache
def _trained() -> Pretrained:
    return load_pretrained("trained")


class NextCharacter(Explorable):
    r"""Let a trained network write at four temperatures at once; in one text the unlikeliest letters can be forbidden.

    The network read :math:`x_1, \ldots, x_t` and gives :math:`P(x_{t+1} \mid x_1, \ldots, x_t)`. Temperature
    :math:`\kappa` draws from :math:`p^{1/\kappa}` (normalised) instead of :math:`p`, top-k from the k likeliest
    characters only, top-p from the fewest that have probability p together.

    Parameters
    ----------
    text : str, optional
        What all four go on from; normalised to letters (without accents) and spaces, and cut to its last 60 characters.
    seed : int, optional
        0 to 9999. All four draw with the same random numbers; another seed or another `text` has others.
    kind : "top-p" or "top-k", optional
        Which of the two cuts.
    top_p : float, optional
        0.05 to 1 (cuts nothing).
    top_k : int, optional
        1 to 27 (cuts nothing).
    temperature : float, optional
        0 to 2, of the reader's own text, the only one that is cut, and of the compact form; 0 always takes the
        likeliest character.
    place : int, optional
        The letter of the reader's own text whose distribution is shown, 0 to 79.
    compact : bool, optional
        A small form for a first page: one text, which writes itself, and the five likeliest next characters.

    Raises
    ------
    traitlets.TraitError
        On a value out of range.

    Examples
    --------
    >>> widget = NextCharacter(text="The Tide Clo", kind="top-k", top_k=3)
    >>> widget.text, widget.ranked[0][0], sum(p > 0 for _, _, p in widget.ranked)
    ('the tide clo', 'c', 3)
    >>> widget.writings[0][:20]
    'ck the sea he was a '
    """

    _esm = module("next_character")
    _css = stylesheet("next_character")
    _words = "next_character"

    text = _SPEC.trait("text")
    seed = _SPEC.trait("seed")
    kind = _SPEC.trait("kind")
    top_p = _SPEC.trait("top_p")
    top_k = _SPEC.trait("top_k")
    place = _SPEC.trait("place")
    temperature = _SPEC.trait("temperature")
    compact = t.Bool(False).tag(sync=True)
    weights = t.Bytes().tag(sync=True, shared=True)

    @t.default("weights")
    def _default_weights(self) -> bytes:
        return pretrained_bytes("trained")

    @t.validate("text")
    def _validate_text(self, proposal: dict[str, Any]) -> str:
        return normalize(unaccented(proposal["value"]))[-_SPEC.controls["text"]["max"] :]

    def _drawn(self, logits: torch.Tensor, temperature: float, is_cut: bool = True) -> list[float]:
        cut = {"top_k": self.top_k} if self.kind == "top-k" else {"top_p": self.top_p}
        return next_token_probs(logits, temperature, **(cut if is_cut else {})).tolist()

    @property
    def ranked(self) -> list[tuple[str, float, float]]:
        """Characters after `text` by falling probability, each with the model's own and the one after the cut."""
        network = _trained()
        logits, _ = warm_up(network.model, network.vocab.encode(self.text or " "))
        rows = zip(network.vocab.tokens, next_token_probs(logits).tolist(), self._drawn(logits, 1.0))
        return sorted(rows, key=lambda row: -row[1])

    @property
    def writings(self) -> dict[float, str]:
        """What the network writes after `text`, by temperature; at the reader's own, with the cut."""
        free = _SIZES["free_column"]
        fixed = [kappa for column, kappa in enumerate(_SIZES["temperatures"]) if column != free]
        return {kappa: self._written(kappa, False) for kappa in fixed} | {
            self.temperature: self._written(self.temperature)
        }

    @torch.no_grad()
    def _written(self, temperature: float, is_cut: bool = True) -> str:
        text = self.text or " "
        of_the_text = sum(i * ord(character) for i, character in enumerate(text, 1))
        dice = random_source((self.seed + of_the_text) % (_SPEC.controls["seed"]["max"] + 1))
        network, written = _trained(), []
        logits, state = warm_up(network.model, network.vocab.encode(text))
        with evaluating(network.model):
            for _ in range(_SIZES["num_written"]):
                rest = next(dice)
                for index, p in enumerate(self._drawn(logits, temperature, is_cut)):
                    rest -= p
                    if p > 0:
                        last = index
                    if rest < 0:
                        break
                written.append(last)
                outputs, state = network.model(torch.tensor([[last]]), state)
                logits = outputs[0, -1]
        return network.vocab.decode(written)

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """The likeliest next character."""
        character, p, _ = self.ranked[0]
        return Words(self._words)(
            "sentence", text=self.text[-40:], character=visible_character(character), p=format_probability(p)
        )

    def static_picture(self) -> str:
        """The likeliest characters as bars; in the large form also what is written at each temperature."""
        words = Words(self._words)
        rows = self.ranked[: _SIZES["compact_bars"]]
        described = "; ".join(
            words("picture_row", character=visible_character(character), p=format_probability(p))
            for character, p, _ in rows
        )
        texts = {} if self.compact else self.writings
        told = " ".join(words("picture_writing", temperature=kappa, text=text) for kappa, text in texts.items())
        description = words("picture", text=self.text, rows=described, writings=told)
        picture = Picture(440, 50 + 26 * len(rows) + 44 * len(texts), words("title"), description)
        mono = {"font_family": "ui-monospace, monospace"}
        picture.add("text", f"{self.text[-44:]}…", x=12, y=26, font_size=15, **mono)
        for i, (character, p, _) in enumerate(rows):
            y = 44 + 26 * i
            picture.add("text", visible_character(character), x=12, y=y + 15, font_weight=650, **mono)
            picture.add("rect", x=40, y=y + 2, width=max(1.0, 320 * p), height=16, fill=color("blue"))
            picture.add("text", format_probability(p), x=428, y=y + 15, text_anchor="end")
        for i, (kappa, text) in enumerate(texts.items()):
            y = 62 + 26 * len(rows) + 44 * i
            picture.add("text", f"{words('own')} {kappa}", x=12, y=y, font_size=12, font_weight=650)
            picture.add("text", f"{text[:51]}…", x=12, y=y + 18, font_size=13, **mono)
        return str(picture)
