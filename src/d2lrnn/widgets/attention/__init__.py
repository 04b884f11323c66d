"""The explorable of attention beside a state: what each looks back at, in the chapter *After the chain*."""

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


def _verdict(change: float) -> str:
    if change < 0.05:
        return "forgotten"
    return "fading" if change < 0.15 else "held"


class Attention(Explorable):
    r"""What a layer of attention looks back at after some letters of a text, and what a recurrent state still holds.

    Of attention it shows the weights :math:`\alpha_{ts}` of all letters :math:`s \le t`; of a state how far it moves
    when letter :math:`s` is replaced by a space, or by an e where it is one: the distance of the two states, as a share
    of their two lengths together. Both models were trained on *The Tide Clock* and come with the package.

    Parameters
    ----------
    text : str, optional
        Normalised to letters and spaces, and cut to its first 36 characters.
    place : int, optional
        How many letters have been read, from 1; at most all.
    head : int, optional
        Which head's weights are shown, 1 to 4.
    letter : int, optional
        Which letter's numbers are told, from 1; 0 for the one with most weight.

    Raises
    ------
    traitlets.TraitError
        On a number out of range.

    Examples
    --------
    >>> widget = Attention(text="the tide clock", place=8)
    >>> tuple(widget.attention_weights.shape), len(widget.state_changes)
    ((4, 8), 8)
    """

    _esm = module("attention")
    _css = stylesheet("attention")
    _words = "attention"

    text = t.Unicode(_SPEC.controls["text"]["default"]).tag(sync=True, control=True)  # a longer one is cut, not refused
    place = _SPEC.trait("place")
    head = _SPEC.trait("head")
    letter = _SPEC.trait("letter")
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
        return normalize(proposal["value"])[:_MAX_TEXT]

    @property
    def read(self) -> str:
        """The letters that have been read."""
        return self.text[: max(1, self.place)]

    @property
    def attention_weights(self) -> torch.Tensor:
        """The weight of every letter read, for each head. Shape (4, num_letters); each row sums to 1."""
        model = _network("attention").model
        layer: Any = model.rnn  # around CausalAttention
        if not self.read:
            return torch.zeros(layer.layer.num_heads, 0)
        with torch.no_grad():
            return layer.layer.weights(model.encode_inputs(self._ids()[None]))[0, :, -1]

    @property
    def state_changes(self) -> list[float]:
        """How far the state moves when each letter is replaced, as a share of the two states' lengths together."""
        if not self.read:
            return []
        ids = self._ids()
        space, e = _network("trained").vocab.encode(" e")
        replaced = ids.repeat(len(ids), 1)
        replaced.diagonal().copy_(torch.where(ids == space, e, space))
        state, changed = self._states(ids[None]), self._states(replaced)
        return ((changed - state).norm(dim=1) / (changed.norm(dim=1) + state.norm())).tolist()

    @property
    def probs(self) -> torch.Tensor:
        """Probabilities of the next letter, by attention and by the tanh network. Shape (2, 27)."""
        with torch.no_grad():
            ids = self._ids()[None]
            return torch.stack([_network(name).model(ids)[0][0, -1].softmax(0) for name in ("attention", "trained")])

    def _ids(self) -> torch.Tensor:
        return torch.tensor(_network("trained").vocab.encode(self.read))

    @staticmethod
    def _states(rows: torch.Tensor) -> torch.Tensor:
        model = _network("trained").model
        with torch.no_grad():
            return model.rnn(model.encode_inputs(rows))[0][-1]

    def _weights(self) -> list[float]:
        """Of the head that is shown."""
        return self.attention_weights[self.head - 1].tolist()

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """What either looks back at."""
        words, read = Words(self._words), self.read
        if not read:
            return words("now_empty")
        weights, changes = self._weights(), self.state_changes
        s = self.letter - 1 if 0 < self.letter <= len(read) else weights.index(max(weights))
        count = len(read) - 1 - s
        return words(
            "now",
            last=visible_character(read[-1]),
            weight=_share_text(weights[s]),
            character=visible_character(read[s]),
            earlier=words(f"earlier_{count}" if count < 2 else "earlier", count=count),
            change=_share_text(changes[s]),
            verdict=words(_verdict(changes[s])),
        )

    def static_picture(self) -> str:
        """The text; bars above it for the weights, bars below it for the changes of the state."""
        words, read = Words(self._words), self.read
        weights, changes = (self._weights(), self.state_changes) if read else ([], [])
        characters, number = [visible_character(character) for character in read], len(read)
        most = sorted(range(number), key=lambda s: -weights[s])[:3]
        description = words(
            "picture",
            context=read,
            letters=", ".join(
                words("picture_letter", character=characters[s], weight=_share_text(weights[s])) for s in most
            ),
            changes=", ".join(
                words("picture_change", character=characters[s], change=_share_text(changes[s]))
                for s in range(number - 1, max(-1, number - 6), -1)
            ),
        )
        picture = Picture(440, 262, words("title"), description)
        step = min(16, 416 / max(number, 1))
        for s, character in enumerate(characters):
            x = 12 + step * s
            up, down = (100 * values[s] for values in (weights, changes))
            picture.add("rect", x=x + 1, y=118 - up, width=step - 3, height=max(1.0, up), fill=color("blue"))
            mono = {"font_family": "ui-monospace, monospace", "font_size": 14, "text_anchor": "middle"}
            picture.add("text", character, x=x + step / 2, y=135, **mono)
            picture.add("rect", x=x + 1, y=143, width=step - 3, height=max(1.0, down), fill=color("vermillion"))
        return str(picture)
