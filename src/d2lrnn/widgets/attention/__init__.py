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


class Attention(Explorable):
    r"""What a layer of attention looks back at after some letters of a text, and what a recurrent state still holds.

    Of attention it shows the weights :math:`\alpha_{ts}` of all letters :math:`s \le t`; of a state what is left of
    letter :math:`s`: how far the state moves when the letter is replaced by a space (by an e where it is one), as a
    share of how far it moved when the letter had just been read. A letter can be replaced, to see what either model
    guesses then. Both models were trained on *The Tide Clock* and come with the package.

    Parameters
    ----------
    text : str, optional
        Normalised to letters and spaces, and cut to its first 36 characters.
    place : int, optional
        How many letters have been read, from 1; at most all.
    head : int, optional
        Which head's weights are shown, 1 to 4.
    letter : int, optional
        Which letter is replaced, from 1; 0 for none.

    Raises
    ------
    traitlets.TraitError
        On a number out of range.

    Examples
    --------
    >>> widget = Attention(text="the tide clock", place=8)
    >>> tuple(widget.attention_weights.shape), len(widget.state_traces)
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
    def state_traces(self) -> list[float]:
        """What is left of each letter in the state: 1 when it has just been read, and it may grow before it fades."""
        if not self.read:
            return []
        ids = self._ids()
        replaced = ids.repeat(len(ids), 1)
        replaced.diagonal().copy_(self._others(ids))
        model = _network("trained").model
        with torch.no_grad():
            states, changed = (model.rnn(model.encode_inputs(rows))[0] for rows in (ids[None], replaced))
        apart = (changed - states).norm(dim=2)  # (num_letters read, num_letters replaced)
        return (apart[-1] / apart.diagonal()).tolist()

    @property
    def probs(self) -> torch.Tensor:
        """Probabilities of the next letter, by attention and by the tanh network. Shape (2, 27)."""
        return self._predict(self._ids())

    @property
    def probs_replaced(self) -> torch.Tensor:
        """The same with the letter replaced (none: as `probs`). Shape (2, 27)."""
        ids = self._ids()
        if 0 < self.letter <= len(ids):
            ids[self.letter - 1] = self._others(ids)[self.letter - 1]
        return self._predict(ids)

    def _ids(self) -> torch.Tensor:
        return torch.tensor(_network("trained").vocab.encode(self.read))

    @staticmethod
    def _others(ids: torch.Tensor) -> torch.Tensor:
        """What each letter is replaced by."""
        space, e = _network("trained").vocab.encode(" e")
        return torch.where(ids == space, e, space)

    @staticmethod
    def _predict(ids: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            return torch.stack(
                [_network(name).model(ids[None])[0][0, -1].softmax(0) for name in ("attention", "trained")]
            )

    def _weights(self) -> list[float]:
        """Of the head that is shown."""
        return self.attention_weights[self.head - 1].tolist()

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """What either guesses, and what with the letter replaced."""
        words, read, s = Words(self._words), self.read, self.letter - 1
        if not read:
            return words("now_empty")
        vocab = _network("trained").vocab
        before, after = (
            [visible_character(vocab.decode([int(best)])) for best in probs.argmax(dim=1)]
            for probs in (self.probs, self.probs_replaced)
        )
        if not 0 <= s < len(read):
            return words("now_none", looks=before[0], holds=before[1])
        changed = [name for name, old, new in zip(("attention", "state"), before, after) if old != new]
        which = "both" if len(changed) == 2 else changed[0] if changed else "neither"
        count = len(read) - 1 - s
        return words(
            f"now_{which}",
            by=words("by_e" if read[s] == " " else "by_space"),
            character=visible_character(read[s]),
            earlier=words(f"earlier_{count}" if count < 2 else "earlier", count=count),
            looks=before[0],
            holds=before[1],
            looks_then=after[0],
            holds_then=after[1],
        )

    def static_picture(self) -> str:
        """The text; bars above it for the weights, bars below it for what is left in the state."""
        words, read = Words(self._words), self.read
        weights, traces = (self._weights(), self.state_traces) if read else ([], [])
        characters, number = [visible_character(character) for character in read], len(read)
        most = sorted(range(number), key=lambda s: -weights[s])[:3]
        description = words(
            "picture",
            context=read,
            letters=", ".join(
                words("picture_letter", character=characters[s], weight=_share_text(weights[s])) for s in most
            ),
            traces=", ".join(
                words("picture_trace", character=characters[s], trace=_share_text(traces[s]))
                for s in range(number - 1, max(-1, number - 6), -1)
            ),
        )
        picture = Picture(440, 262, words("title"), description)
        step = min(16, 416 / max(number, 1))
        for s, character in enumerate(characters):
            x = 12 + step * s
            up, down = 100 * weights[s], 65 * min(1.6, traces[s])
            picture.add("rect", x=x + 1, y=118 - up, width=step - 3, height=max(1.0, up), fill=color("blue"))
            mono = {"font_family": "ui-monospace, monospace", "font_size": 14, "text_anchor": "middle"}
            picture.add("text", character, x=x + step / 2, y=135, **mono)
            picture.add("rect", x=x + 1, y=143, width=step - 3, height=max(1.0, down), fill=color("vermillion"))
        return str(picture)
