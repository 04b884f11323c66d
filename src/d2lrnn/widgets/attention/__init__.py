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
_STRONG = _SPEC.controls["letter"]["strong"]  # a guess reaches back to the farthest letter that moves so much of it
_BACK = _SPEC.controls["letter"]["back"]  # the distance that the averages show at first

_AVERAGES = json.loads(Path(__file__).with_name("averages.json").read_text(encoding="utf-8"))


@cache
def _network(name: str) -> Pretrained:
    return load_pretrained(name)


def _percent(share: float) -> str:
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 else f"{100 * share:.0f}%"


def _which(text: str, s: int, words: Words) -> str:
    """A letter of the text, and which one where it stands there more than once."""
    letter = text[s]
    if text.count(letter) == 1:
        return letter
    nth = text[: s + 1].count(letter)
    return words("which", nth=words(f"nth_{nth}" if nth < 4 else "nth_more", nth=nth), letter=letter)


class Attention(Explorable):
    r"""Which earlier letters the next guess depends on: of a layer of attention, and of a recurrent state.

    A bar is as high as the part of the guess that moves when its letter is erased: replaced by a space (by an e
    where it is one). Both models were trained on *The Tide Clock* and come with the package.

    Parameters
    ----------
    text : str, optional
        Normalised to letters (without accents) and spaces, and cut to its last 16 characters.
    letter : int, optional
        Which letter is erased, from 1; 0 for none. In the averages, of a passage of 16 letters (0: the 8th).
    view : {"text", "mean", "order"}, optional
        The text; how often either guess changes, by how far back the erased letter stands; or the order of computing.

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
    def reaches(self) -> list[int]:
        """How many letters each guess reaches back: to the farthest that moves a tenth of it."""
        far = [[s for s, effect in enumerate(row) if effect >= _STRONG] for row in self.effects.tolist()]
        return [len(self.text) - found[0] if found else 0 for found in far]

    @property
    def weights(self) -> torch.Tensor:
        """How much attention looks at each letter: the mean of its heads; they sum to 1. Shape (num_letters,)."""
        return self._looks(self._ids()[None])[0] if self.text else torch.zeros(0)

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

    def _telling(self) -> int:
        """Which letter to try, from 0 (-1: none): the first that stands once in the text and changes one guess."""
        ids = self._ids()
        changed = self._predict(self._each_replaced(ids)).argmax(dim=2) != self.probs.argmax(dim=1, keepdim=True)
        told = (
            s
            for s, letter in enumerate(self.text)
            if letter != " " and self.text.count(letter) == 1 and changed[:, s].sum() == 1
        )
        return next(told, -1)

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

    @staticmethod
    def _looks(rows: torch.Tensor) -> torch.Tensor:
        """How much attention looks at each letter, from the last of a row. Shape (num_rows, num_letters)."""
        model: Any = _network("attention").model
        with torch.no_grad():
            return model.rnn.layer.weights(model.embedding(rows.T))[:, :, -1].mean(dim=1)

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """What either guesses, and what with the letter erased; or in how many passages the letter counts."""
        words, text, s = Words(self._words), self.text, self.letter - 1
        if self.view == "mean":
            return words("now_mean", **self._counted(words))
        if not text:
            return words("now_empty")
        if self.view == "order":
            return words("now_order", looks=1, sums=(len(text) - 1).bit_length(), holds=len(text))
        vocab = _network("trained").vocab
        before, after = (
            [vocab.decode([int(best)]).replace(" ", words("by_space")) for best in probs.argmax(dim=1)]
            for probs in (self.probs, self.probs_replaced)
        )
        if not 0 <= s < len(text):
            telling = self._telling()
            such = words("such", letter=_which(text, telling, words)) if telling >= 0 else words("such_last")
            guessed = words(
                "now_asked_same" if before[0] == before[1] else "now_asked", looks=before[0], holds=before[1]
            )
            return f"{guessed} {words('now_press', such=such)}"
        changed = [name for name, old, new in zip(("attention", "state"), before, after) if old != new]
        which = changed[0] if len(changed) == 1 else "both" if changed else "neither"
        if after[0] == after[1]:
            which += "_same"
        without = words("without_space") if text[s] == " " else words("without", letter=_which(text, s, words))
        return words(f"now_{which}", without=without, looks=after[0], holds=after[1])

    def _counted(self, words: Words) -> dict[str, object]:
        """In how many passages the letter so far back changes attention's guess, and the state's."""
        back = self._back()
        numbers = [changes[back] for changes in _AVERAGES["changes"]] + [_AVERAGES["passages"]]
        looks, holds, passages = (f"{number:,}".replace(",", "\u202f") for number in numbers)
        return {
            "looks": looks,
            "holds": holds,
            "passages": passages,
            "nth": back + 1,
            "place": words("place_back", nth=back + 1) if back else words("place_last"),
        }

    def _back(self) -> int:
        """How far back the letter stands whose averages are told."""
        return _MAX_TEXT - self.letter if self.letter else _BACK

    def static_picture(self) -> str:
        """The text: above each letter a bar for attention, below it one for the state; and both guesses."""
        words = Words(self._words)
        if self.view == "mean":
            told = self._counted(words)
            rows = [[count / _AVERAGES["passages"] for count in reversed(changes)] for changes in _AVERAGES["changes"]]
            said = words("picture_mean", **{**told, "place": str(told["place"]).capitalize()})
            shares = [_percent(row[-1 - self._back()]) for row in rows]
            return self._drawn(rows, [str(_MAX_TEXT - place) for place in range(_MAX_TEXT)], shares, said)
        vocab, number = _network("trained").vocab, len(self.text)
        characters = [visible_character(character) for character in self.text]

        def guesses(probs: torch.Tensor) -> list[str]:
            return [visible_character(vocab.decode([int(row.argmax())])) for row in probs]

        if self.view == "order" and self.text:
            return self._drawn([], characters, guesses(self.probs), self.static_sentence())
        rows, at = self.effects.tolist(), self.letter - 1
        looks, holds = (
            ", ".join(
                words("picture_letter", character=characters[s], share=_percent(row[s]))
                for s in sorted(range(number), key=lambda s: -row[s])[:4]
            )
            for row in rows
        )
        if 0 <= at < number:
            characters[at] = "e" if self.text[at] == " " else visible_character(" ")
        found = guesses(self.probs_replaced) if self.text else []
        return self._drawn(rows, characters, found, words("picture", context=self.text, looks=looks, holds=holds))

    def _drawn(self, rows: list[list[float]], characters: list[str], guesses: list[str], said: str) -> str:
        """Two bars for each character, as high as the rows say, and what stands in both boxes.

        Without rows, the order of computing: all lines at once, and the circles one by one, each with its round.
        """
        words = Words(self._words)
        picture = Picture(440, 196, words("title"), said)
        number = len(characters)
        at = {"text": self.letter - 1, "mean": _MAX_TEXT - 1 - self._back()}.get(self.view)
        step, size = min(24, 372 / max(number, 1)), 10 if self.view == "mean" else 14
        left = 384 - step * number
        mono: dict[str, Any] = {"font_family": "ui-monospace, monospace", "font_weight": 600, "text_anchor": "middle"}
        for name, y, fill in (("attention", 16, "blue"), ("state", 190, "vermillion")):
            picture.add("text", words(f"name_{name}"), x=12, y=y, font_size=14, font_weight=600, fill=color(fill))
        for s, character in enumerate(characters):
            x = left + step * (s + 0.5)
            if not rows:
                picture.add("path", d=f"M{x:.1f} 68L412 46", stroke=color("blue"), stroke_width=1.5)
                for turn, y, fill in ((1, 77, "blue"), (s + 1, 128, "vermillion")):
                    picture.add("circle", cx=f"{x:.1f}", cy=y, r=0.36 * step, fill=color(fill), opacity=0.4)
                    picture.add("text", str(turn), x=x, y=y + 4, font_size=10, text_anchor="middle")
            for row, fill, above in zip(rows, ("blue", "vermillion"), (True, False)):
                high = max(1, 62 * row[s])
                box: dict[str, Any] = {"x": f"{x - 0.3 * step:.1f}", "width": f"{0.6 * step:.1f}"}
                opacity = 1 if row[s] >= _STRONG else 0.5
                top = f"{86 - high if above else 110:.1f}"
                picture.add("rect", y=top, height=f"{high:.1f}", fill=color(fill), opacity=opacity, **box)
            if s == at:
                ring: dict[str, Any] = {"x": f"{x - 0.46 * step:.1f}", "width": f"{0.92 * step:.1f}", "height": 20}
                picture.add("rect", y=88, fill="none", stroke="currentColor", stroke_width=1.5, **ring)
            picture.add("text", character, x=x, y=103, font_size=size, **mono)
        for guess, y in zip(guesses, (72, 136), strict=False):
            picture.add("text", guess, x=412, y=y, font_size=20, **mono)
        return str(picture)
