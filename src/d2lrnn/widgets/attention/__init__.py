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

    Each of attention's lines is as thick as its letter weighs, on average over the heads. A letter can be erased:
    replaced by a space (by an e where it is one); then the state's memory differs, less and less. Both models
    were trained on *The Tide Clock* and come with the package.

    Parameters
    ----------
    text : str, optional
        Normalised to letters (without accents) and spaces, and cut to its last 16 characters.
    letter : int, optional
        Which letter is erased, from 1; 0 for none. In the averages, of a passage of 16 letters (0: the 8th).
    view : {"text", "mean"}, optional
        The text, or how often either guess changes, by how far back the erased letter stands.

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
    def weights(self) -> torch.Tensor:
        """How much attention looks at each letter (the erased replaced), the heads' mean. Shape (num_letters,)."""
        model: Any = _network("attention").model
        with torch.no_grad():
            inputs = model.embedding(self._replaced(self._ids())[:, None])
            weights: torch.Tensor = model.rnn.layer.weights(inputs)
        return weights[0, :, -1].mean(dim=0)

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
        """Which letter to try, from 0 (-1: none): that of the step about this text; or the first that can be told.

        It stands once in the text and changes one of the two guesses.
        """
        for step in _SPEC.steps:
            if step["state"].get("text") == self.text:
                return step["state"]["letter"] - 1
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

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """What either guesses, and what with the letter erased; or in how many passages the letter counts."""
        words, text, s = Words(self._words), self.text, self.letter - 1
        if self.view == "mean":
            return words("now_mean", **self._counted(words))
        if not text:
            return words("now_empty")
        vocab = _network("trained").vocab
        before, after = (
            [vocab.decode([int(best)]).replace(" ", words("by_space")) for best in probs.argmax(dim=1)]
            for probs in (self.probs, self.probs_replaced)
        )
        if not 0 <= s < len(text):
            telling = self._telling()
            such = words("such", letter=_which(text, telling, words)) if telling >= 0 else words("such_last")
            return words(
                "now_same" if before[0] == before[1] else "now_none", looks=before[0], holds=before[1], such=such
            )
        changed = [name for name, old, new in zip(("attention", "state"), before, after) if old != new]
        which = changed[0] if len(changed) == 1 else "both" if changed else "neither"
        if len(changed) != 1 and after[0] == after[1]:
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
            "place": words("place_back", back=back) if back else words("place_last"),
        }

    def _back(self) -> int:
        """How far back the letter stands whose averages are told."""
        return _MAX_TEXT - self.letter if self.letter else _BACK

    def static_picture(self) -> str:
        """The text twice: lines from its letters to attention's guess; a memory handed on to the state's."""
        words = Words(self._words)
        if self.view == "mean":
            return self._averages(words)
        weights, number = self.weights.tolist() if self.text else [], len(self.text)
        characters = [visible_character(character) for character in self.text]
        looks, holds = (
            ", ".join(
                words("picture_letter", character=characters[s], share=_percent(row[s]))
                for s in sorted(range(number), key=lambda s: -row[s])[:4]
            )
            for row in (weights, self.effects[1].tolist())
        )
        picture = Picture(440, 236, words("title"), words("picture", context=self.text, looks=looks, holds=holds))
        step, end, told = min(25, 384 / max(number, 1)), 398, self.letter - 1
        left = 388 - step * number
        mono: dict[str, Any] = {"font_family": "ui-monospace, monospace", "font_weight": 600, "text_anchor": "middle"}
        vocab = _network("trained").vocab
        probs = self.probs_replaced if self.text else ()
        guesses = [visible_character(vocab.decode([int(row.argmax())])) for row in probs]
        by = "e" if 0 <= told < number and self.text[told] == " " else visible_character(" ")
        differs = self.differs.tolist()
        for name, y, fill in (("attention", 16, "blue"), ("state", 146, "vermillion")):
            picture.add("text", words(f"name_{name}"), x=12, y=y, font_size=14, font_weight=600, fill=color(fill))
        picture.add("line", x1=left, y1=172, x2=end, y2=172, stroke=color("vermillion"), stroke_width=1.5)
        high = 20.0  # where a line arrives
        for s, character in enumerate(characters):
            x, wide = left + step * (s + 0.5), 24 * weights[s]
            high += wide / 2 + 1
            path = f"M{x:.1f} 92C{x:.1f} {high:.1f} {x + 0.3 * (end - x):.1f} {high:.1f} {end} {high:.1f}"
            high += wide / 2
            picture.add(
                "path",
                d=path,
                fill="none",
                stroke=color("blue"),
                stroke_width=f"{max(wide, 0.6):.1f}",
                opacity=0.7,
            )
            for y in (108, 206):
                if s == told:
                    box: dict[str, Any] = {"x": f"{x - 0.45 * step:.1f}", "width": f"{0.9 * step:.1f}", "height": 21}
                    picture.add("rect", y=y - 15, fill="none", stroke="currentColor", stroke_width=1.5, **box)
                picture.add("text", by if s == told else character, x=x, y=y, font_size=14, **mono)
            bead: dict[str, Any] = {"cx": x, "cy": 172, "r": 0.32 * step}
            picture.add("circle", fill="var(--d2lrnn-surface, white)", stroke=color("vermillion"), **bead)
            if s >= told >= 0:
                picture.add("circle", fill=color("vermillion"), fill_opacity=f"{min(1, differs[s]):.2f}", **bead)
        for y, guess in zip((46, 179), guesses, strict=False):
            picture.add("text", guess, x=end + 16, y=y, font_size=20, **mono)
        return str(picture)

    def _averages(self, words: Words) -> str:
        """How often either guess changes, by how far back the erased letter stands."""
        told = self._counted(words)
        place = str(told["place"])
        picture = Picture(440, 200, words("title"), words("picture_mean", **{**told, "place": place.capitalize()}))
        for name, y, fill, changes in zip(
            ("attention", "state"), (60, 36), ("blue", "vermillion"), _AVERAGES["changes"]
        ):
            shares = [count / _AVERAGES["passages"] for count in changes]
            points = " ".join(f"{414 - 26 * back:.1f},{160 - 140 * share:.1f}" for back, share in enumerate(shares))
            picture.add("polyline", points=points, fill="none", stroke=color(fill), stroke_width=2.5)
            read = f"{words(f'name_{name}')} {_percent(shares[self._back()])}"
            picture.add("text", read, x=12, y=y, font_size=14, font_weight=600, fill=color(fill))
        x = 414 - 26 * self._back()
        picture.add("line", x1=x, y1=20, x2=x, y2=160, stroke="currentColor", stroke_width=1.5)
        picture.add("text", place, x=12, y=16, font_size=13)
        picture.add("line", x1=12, y1=160, x2=428, y2=160, stroke="currentColor")
        picture.add("text", words("end_far"), x=12, y=178, font_size=12)
        picture.add("text", words("end_last"), x=428, y=178, font_size=12, text_anchor="end")
        return str(picture)
