"""The explorable of attention beside a state: which letters each guess depends on; chapter *After the chain*."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import traitlets as t

from d2lrnn.study.pretrained import Pretrained, load_pretrained, pretrained_bytes
from d2lrnn.text import normalize
from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color, visible_character
from d2lrnn.widgets.spec import Spec, Words

__all__ = ["Attention"]

_SPEC = Spec("attention")
_MAX_TEXT = _SPEC.controls["text"]["max"]


@cache
def _network(name: str) -> Pretrained:
    return load_pretrained(name)


def _share_text(share: float) -> str:
    if 0 < share < 0.0005:
        return "<0.1%"
    if 0.995 <= share < 1:
        return ">99%"
    return f"{100 * share:.{1 if 0 < share < 0.0995 else 0}f}%"


class Attention(Explorable):
    r"""Which earlier letters the next guess depends on: of a layer of attention, and of a recurrent state.

    Each letter in turn is replaced by a space (by an e where it is one). A bar shows how much of the guess changes: the
    total variation distance between the probabilities of the next letter with and without it. Both models were trained
    on *The Tide Clock* and come with the package.

    Parameters
    ----------
    text : str, optional
        Normalised to letters and spaces, and cut to its last 24 characters.
    letter : int, optional
        Which letter is replaced, from 1; 0 for none.
    bars : bool, optional
        Whether all letters have their bars, or only the replaced one.

    Raises
    ------
    traitlets.TraitError
        On a number out of range.

    Examples
    --------
    >>> widget = Attention(text="the tide")
    >>> tuple(widget.effects.shape), tuple(widget.attention_weights.shape)
    ((2, 8), (4, 8))
    """

    _esm = module("attention")
    _css = stylesheet("attention")
    _words = "attention"

    text = t.Unicode(_SPEC.controls["text"]["default"]).tag(sync=True, control=True)  # a longer one is cut, not refused
    letter = _SPEC.trait("letter")
    bars = _SPEC.trait("bars")
    weights_attention = t.Bytes().tag(sync=True, shared=True)
    weights_trained = t.Bytes().tag(sync=True, shared=True)

    @t.default("weights_attention")
    def _attention(self) -> bytes:
        return pretrained_bytes("attention")

    @t.default("weights_trained")
    def _trained(self) -> bytes:
        return pretrained_bytes("trained")

    @t.validate("text")
    def _validate_text(self, proposal: dict[str, Any]) -> str:
        return normalize(proposal["value"])[-_MAX_TEXT:].lstrip()

    @property
    def attention_weights(self) -> torch.Tensor:
        """The weight of every letter, seen from the last one. Shape (4 heads, num_letters); each row sums to 1."""
        model = _network("attention").model
        layer: Any = model.rnn  # around CausalAttention
        if not self.text:
            return torch.zeros(layer.layer.num_heads, 0)
        with torch.no_grad():
            return layer.layer.weights(model.encode_inputs(self._ids()[None]))[0, :, -1]

    @property
    def effects(self) -> torch.Tensor:
        """How much of the guess changes when a letter is replaced, from 0 to 1. Shape (2, num_letters)."""
        if not self.text:
            return torch.zeros(2, 0)
        ids = self._ids()
        replaced = ids.repeat(len(ids), 1)
        replaced.diagonal().copy_(self._others(ids))
        return (self._predict(replaced) - self._predict(ids[None])).clamp(min=0).sum(dim=2)

    @property
    def probs(self) -> torch.Tensor:
        """Probabilities of the next letter, by attention and by the tanh network. Shape (2, 27)."""
        return self._predict(self._ids()[None])[:, 0]

    @property
    def probs_replaced(self) -> torch.Tensor:
        """The same with the letter replaced (none: as `probs`). Shape (2, 27)."""
        ids = self._ids()
        if 0 < self.letter <= len(ids):
            ids[self.letter - 1] = self._others(ids)[self.letter - 1]
        return self._predict(ids[None])[:, 0]

    def _ids(self) -> torch.Tensor:
        return torch.tensor(_network("trained").vocab.encode(self.text))

    @staticmethod
    def _others(ids: torch.Tensor) -> torch.Tensor:
        """What each letter is replaced by."""
        space, e = _network("trained").vocab.encode(" e")
        return torch.where(ids == space, e, space)

    @staticmethod
    def _predict(rows: torch.Tensor) -> torch.Tensor:
        """Probabilities after each row of letters. Shape (2, num_rows, 27)."""
        with torch.no_grad():
            return torch.stack(
                [_network(name).model(rows)[0][:, -1].softmax(dim=1) for name in ("attention", "trained")]
            )

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """What either guesses, and what with the letter replaced."""
        words, text, s = Words(self._words), self.text, self.letter - 1
        if not text:
            return words("now_empty")
        vocab = _network("trained").vocab

        def named(character: str, space: str = "by_space") -> str:
            return words(space) if character == " " else character

        before, after = (
            [named(vocab.decode([int(best)])) for best in probs.argmax(dim=1)]
            for probs in (self.probs, self.probs_replaced)
        )
        if not 0 <= s < len(text):
            return words("now_same" if before[0] == before[1] else "now_none", looks=before[0], holds=before[1])
        changed = [name for name, old, new in zip(("attention", "state"), before, after) if old != new]
        which = "both" if len(changed) == 2 else changed[0] if changed else "neither"
        count = len(text) - 1 - s
        return words(
            f"now_{which}",
            by=words("by_e" if text[s] == " " else "by_space"),
            character=named(text[s], "space"),
            earlier=words(f"earlier_{count}" if count < 2 else "earlier", count=count),
            looks=after[0],
            holds=after[1],
        )

    def static_picture(self) -> str:
        """The text; bars above it for attention, bars below it for the state."""
        words, effects = Words(self._words), self.effects.tolist()
        characters = [visible_character(character) for character in self.text]
        number = len(characters)
        looks, holds = (
            ", ".join(
                words("picture_letter", character=characters[s], share=_share_text(row[s]))
                for s in sorted(range(number), key=lambda s: -row[s])[:4]
            )
            for row in effects
        )
        description = words("picture", context=self.text, looks=looks, holds=holds)
        picture = Picture(440, 276, words("title"), description)
        step = min(17, 416 / max(number, 1))
        for name, y, fill in (("attention", 16, "blue"), ("state", 268, "vermillion")):
            picture.add("text", words(f"name_{name}"), x=13, y=y, font_size=14, font_weight=600, fill=color(fill))
        for s, (character, up, down) in enumerate(zip(characters, *effects)):
            x = 12 + step * s
            up, down = 96 * up, 96 * down
            picture.add("rect", x=x + 1, y=124 - up, width=step - 3, height=max(1.0, up), fill=color("blue"))
            mono = {"font_family": "ui-monospace, monospace", "font_size": 14, "text_anchor": "middle"}
            picture.add("text", character, x=x + step / 2, y=141, **mono)
            picture.add("rect", x=x + 1, y=150, width=step - 3, height=max(1.0, down), fill=color("vermillion"))
        return str(picture)
