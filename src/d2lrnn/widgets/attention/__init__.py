"""The explorable of attention beside a state: which letters each guess depends on; chapter *After the chain*."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import torch
import traitlets as t

from d2lrnn.study.pretrained import Pretrained, load_pretrained, pretrained_bytes
from d2lrnn.text import normalize
from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color, visible_character
from d2lrnn.widgets.spec import Spec, Words, unaccented

__all__ = ["Attention"]

_SPEC = Spec("attention")
_MAX_TEXT = _SPEC.controls["text"]["max"]

_AVERAGES = json.loads(Path(__file__).with_name("averages.json").read_text(encoding="utf-8"))


@cache
def _network(name: str) -> Pretrained:
    return load_pretrained(name)


def _percent(share: float) -> str:
    if 0 < share < 0.0005:
        return "<0.1%"
    if 0.995 <= share < 1:
        return ">99%"
    return f"{100 * share:.{1 if 0 < share < 0.0995 else 0}f}%"


class Attention(Explorable):
    r"""Which earlier letters the next guess depends on: of a layer of attention, and of a recurrent state.

    Each letter in turn is replaced by a space (by an e where it is one). A strip is as wide as the part of the guess
    that changes: the total variation distance between the probabilities of the next letter with and without it. Both
    models were trained on *The Tide Clock* and come with the package.

    Parameters
    ----------
    text : str, optional
        Normalised to letters (without accents) and spaces, and cut to its last 16 characters.
    letter : int, optional
        Which letter is replaced, from 1; 0 for none.
    view : {"text", "mean", "hidden", "mean_hidden"}, optional
        The text's own strips, the averages over many passages; or either without its strips.

    Raises
    ------
    traitlets.TraitError
        On a number out of range.

    Examples
    --------
    >>> widget = Attention(text="the tide")
    >>> tuple(widget.effects.shape)
    (2, 8)
    """

    _esm = module("attention")
    _css = stylesheet("attention")
    _words = "attention"

    text = t.Unicode(_SPEC.controls["text"]["default"]).tag(sync=True, control=True)  # a longer one is cut, not refused
    letter = _SPEC.trait("letter")
    view = _SPEC.trait("view")
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
        return normalize(unaccented(proposal["value"]))[-_MAX_TEXT:].lstrip()

    @property
    def effects(self) -> torch.Tensor:
        """How much of the guess changes when a letter is replaced, from 0 to 1. Shape (2, num_letters)."""
        if not self.text:
            return torch.zeros(2, 0)
        ids = self._ids()
        return (self._predict(self._each_replaced(ids)) - self._predict(ids[None])).clamp(min=0).sum(dim=2)

    @property
    def differs(self) -> torch.Tensor:
        """How much the state differs with the letter replaced (root mean square). Shape (num_letters,)."""
        ids = self._ids()
        others = self._replaced(ids)
        model = _network("trained").model
        found = torch.zeros(len(ids))
        with torch.no_grad():
            for i in range(len(ids)):
                state, other = model(torch.stack([ids, others])[:, : i + 1])[1]
                found[i] = (state - other).square().mean().sqrt()
        return found

    @property
    def probs(self) -> torch.Tensor:
        """Probabilities of the next letter, by attention and by the tanh network. Shape (2, 27)."""
        return self._predict(self._ids()[None])[:, 0]

    @property
    def probs_replaced(self) -> torch.Tensor:
        """The same with the letter replaced (none: as `probs`). Shape (2, 27)."""
        return self._predict(self._replaced(self._ids())[None])[:, 0]

    def _each_replaced(self, ids: torch.Tensor) -> torch.Tensor:
        """A row for each letter, with that letter replaced. Shape (num_letters, num_letters)."""
        rows = ids.repeat(len(ids), 1)
        rows.diagonal().copy_(self._others(ids))
        return rows

    def _telling(self) -> str:
        """A letter that stands once in the text and changes one of the two guesses, the one that moves most."""
        ids, best, telling = self._ids(), 0.0, ""
        changed = self._predict(self._each_replaced(ids)).argmax(dim=2) != self.probs.argmax(dim=1, keepdim=True)
        for s, (letter, moves) in enumerate(zip(self.text, self.effects.T.tolist(), strict=True)):
            if letter == " " or self.text.count(letter) > 1 or changed[:, s].sum() != 1:
                continue
            if (move := moves[int(changed[1, s])]) > best:
                best, telling = move, letter
        return telling

    def _ids(self) -> torch.Tensor:
        return torch.tensor(_network("trained").vocab.encode(self.text))

    def _replaced(self, ids: torch.Tensor) -> torch.Tensor:
        """With the letter replaced."""
        here = torch.arange(1, len(ids) + 1) == self.letter
        return torch.where(here, self._others(ids), ids)

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
        """What either guesses, and what with the letter replaced; or what the averages say."""
        words, text, s = Words(self._words), self.text, self.letter - 1
        if self.view.startswith("mean"):
            return self._mean_sentence(words)
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
            same = "now_asked" if self.view == "hidden" else "now_same"
            letter = self._telling()
            such = words("such", letter=letter) if letter else words("such_last")
            return words(same if before[0] == before[1] else "now_none", looks=before[0], holds=before[1], such=such)
        changed = [name for name, old, new in zip(("attention", "state"), before, after) if old != new]
        which = "both" if len(changed) == 2 else changed[0] if changed else "neither"
        return words(
            f"now_{which}",
            character=named(text[s], "space"),
            by=words("by_e" if text[s] == " " else "by_space"),
            looks=after[0],
            holds=after[1],
        )

    def _mean_sentence(self, words: Words) -> str:
        looks, holds = _AVERAGES["moved"]
        count = _MAX_TEXT - self.letter  # how far back
        if self.letter:
            return words(
                "now_mean_told",
                earlier=words(f"mean_{count}" if count < 2 else "mean_count", count=count),
                looks_moved=_percent(looks[count]),
                holds_moved=_percent(holds[count]),
            )
        return words("now_mean" if self.view == "mean" else "now_mean_asked")

    def static_picture(self) -> str:
        """The text; a strip from each letter up to attention's guess, and one down to the state's memory."""
        words, mean = Words(self._words), self.view.startswith("mean")
        effects = [row[::-1] for row in _AVERAGES["moved"]] if mean else self.effects.tolist()
        number = len(effects[0])
        characters = [str(number - 1 - s) if mean else visible_character(self.text[s]) for s in range(number)]
        looks, holds = (
            ", ".join(
                words("picture_letter", character=characters[s], share=_percent(row[s]))
                for s in sorted(range(number), key=lambda s: -row[s])[:4]
            )
            for row in effects
        )
        description = words("picture_mean") if mean else words("picture", context=self.text, looks=looks, holds=holds)
        picture = Picture(440, 276, words("title"), description)
        step, end = min(25, 384 / max(number, 1)), 398
        left = 388 - step * number
        mono = {"font_family": "ui-monospace, monospace", "font_weight": 600, "text_anchor": "middle"}
        guesses = (
            ["", ""]
            if mean or not self.text
            else [visible_character(_network("trained").vocab.decode([int(best)])) for best in self.probs.argmax(dim=1)]
        )
        for name, y, row, fill, to, guess in (
            ("attention", 16, effects[0], "blue", 40, guesses[0]),
            ("state", 268, effects[1], "vermillion", 236, guesses[1]),
        ):
            picture.add("text", words(f"name_{name}"), x=12, y=y, font_size=14, font_weight=600, fill=color(fill))
            for s, share in enumerate(row):
                x, wide, thick = left + step * (s + 0.5), 0.46 * step * share + 0.2, 6 * share + 0.2
                a, b = x - wide, x + wide
                bend = [edge + 0.3 * (end - edge) for edge in (a, b)]
                path = f"M{a:.1f} 154V{to - 9}H{b:.1f}V154Z"
                if name == "attention":
                    path = (
                        f"M{a:.1f} 122C{a:.1f} {to - thick:.1f} {bend[0]:.1f} {to - thick:.1f} {end} {to - thick:.1f}"
                        f"V{to + thick:.1f}C{bend[1]:.1f} {to + thick:.1f} {b:.1f} {to + thick:.1f} {b:.1f} 122Z"
                    )
                picture.add("path", d=path, fill=color(fill), opacity=0.62)
            picture.add("text", guess, x=end + 16, y=to + 7, font_size=20, **mono)
        picture.add("line", x1=left, y1=236, x2=end, y2=236, stroke="currentColor", stroke_width=1.5)
        for s, character in enumerate(characters):
            at, radius = left + step * (s + 0.5), 0.36 * step
            picture.add("circle", cx=at, cy=236, r=radius, fill="var(--d2lrnn-surface, white)", stroke="currentColor")
            picture.add("text", character, x=left + step * (s + 0.5), y=143, font_size=14, **mono)
        return str(picture)
