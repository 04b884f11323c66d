"""The explorable of the chapter *Predicting what comes next*: six n-gram models meet a line of new text, and write."""

from __future__ import annotations

import math
import re
from functools import cache, lru_cache
from typing import Any

import traitlets as t

from d2lrnn.ngram import NGramLM
from d2lrnn.text import EncodedText, load_text, normalize
from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color, visible_character
from d2lrnn.widgets.randomness import random_source
from d2lrnn.widgets.spec import Spec, Words

__all__ = ["ContextTable"]

_SPEC = Spec("context_table")
_SIZES = _SPEC.presets["sizes"]
_MAX_ORDER, _NUM_WRITTEN, _SHORTEST_COPY = _SIZES["max_order"], _SIZES["num_written"], _SIZES["shortest_copy"]


@cache
def _story() -> EncodedText:
    return load_text()


@cache
def _characters() -> str:
    text = _story()
    return text.vocab.decode(text.train_ids) + text.vocab.decode(text.heldout_ids)


@cache
def _model(order: int) -> NGramLM:
    text = _story()
    return NGramLM(text.train_ids, order, len(text.vocab))


@cache
def _levels() -> tuple[dict[str, float], ...]:
    # Scoring takes a second, and every table on a page shows the same numbers.
    heldout = _story().heldout_ids
    return tuple(
        {
            "order": order,
            "contexts": _model(order).num_contexts[-1],
            "perplexity": _model(order).evaluate(heldout).perplexity,
        }
        for order in range(1, _MAX_ORDER + 1)
    )


def _copies(text: str, source: str, start: int = 0) -> list[tuple[int, int]]:
    """Where stretches begin and end that stand so in `source`: the longest, then on both sides of it again."""
    best = (0, 0)
    for i in range(len(text)):
        while i + best[1] - best[0] < len(text) and text[i : i + best[1] - best[0] + 1] in source:
            best = (i, i + best[1] - best[0] + 1)
    if best[1] - best[0] < _SHORTEST_COPY:
        return []
    left, right = text[: best[0]], text[best[1] :]
    found = (start + best[0], start + best[1])
    return [*_copies(left, source, start), found, *_copies(right, source, start + best[1])]


@lru_cache(64)
def _written(order: int, start: str, seed: int) -> str:
    vocab, numbers, model = _story().vocab, random_source(seed), _model(order)
    ids = vocab.encode(start)
    for _ in range(_NUM_WRITTEN):
        rest = next(numbers)
        for index, p in enumerate(model.next_probs(ids[max(0, len(ids) - order + 1) :]).tolist()):  # noqa: B007
            rest -= p
            if rest < 0:
                break
        ids.append(index)
    return vocab.decode(ids)[len(start) :]


@lru_cache(64)
def _copied(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(_copies(text, _characters()[: len(_story().train_ids)]))


def _quoted(text: str) -> str:
    return f"“{''.join(map(visible_character, text))}”"


class ContextTable(Explorable):
    """Walk along a line that six n-gram models of *The Tide Clock* have not counted, or let them write at once.

    What a model writes is underlined where ten letters or more in a row stand so in the story.

    Parameters
    ----------
    start : str, optional
        What all six go on from. It is normalised as by :func:`d2lrnn.normalize`, and has at most 40 characters.
    seed : int, optional
        0 to 9999; all six draw with the same random numbers, and equal seeds write equal texts.
    place : int, optional
        The letter of the held-out line up to which the reader has come, 5 to 37.
    view : str, optional
        What is in sight: "read", the held-out line, or "write", the writings.

    Raises
    ------
    traitlets.TraitError
        On any other value; the message says what was expected.

    Examples
    --------
    >>> table = ContextTable(start="The tide ")
    >>> table.writings[4][:30]
    'and who had and you ared i had'
    >>> table.heldout_line, [step["order"] for step in table.walk][10:16]
    ('and there was a petition of all those ', [6, 6, 6, 6, 5, 4])
    """

    _esm = module("context_table")
    _css = stylesheet("context_table")
    _words = "context_table"

    view = _SPEC.trait("view")
    start = _SPEC.trait("start")
    seed = _SPEC.trait("seed")
    place = _SPEC.trait("place")
    text = t.Unicode(read_only=True).tag(sync=True, shared=True)
    num_train = t.Int(read_only=True).tag(sync=True)
    vocab = t.Unicode(read_only=True).tag(sync=True)
    line_start = t.Int(read_only=True).tag(sync=True)
    levels = t.List(t.Dict(), read_only=True).tag(sync=True)

    # ---- what the reader sees, computed by d2lrnn ----

    @property
    def writings(self) -> dict[int, str]:
        """What each n-gram model writes after `start`, by n."""
        return {order: _written(order, self.start, self.seed) for order in range(1, _MAX_ORDER + 1)}

    @property
    def copies(self) -> dict[int, list[tuple[int, int]]]:
        """Which stretches of the writings stand so in the counted story: where each begins and ends, by n."""
        return {n: list(_copied(text)) for n, text in self.writings.items()}

    @property
    def heldout_line(self) -> str:
        """The line to walk along."""
        return _SIZES["line"]

    @property
    def walk(self) -> list[dict[str, Any]]:
        """For every letter with five before it: the longest n-gram that has seen these, and the surprisal in bits."""
        text, line, steps = _story(), self.heldout_line, []
        train = text.vocab.decode(text.train_ids[:-1])  # nothing follows the last letter
        for i in range(_MAX_ORDER - 1, len(line)):
            past = line[i - _MAX_ORDER + 1 : i]
            order = max(n for n in range(1, _MAX_ORDER + 1) if past[len(past) - n + 1 :] in train)
            p = float(_model(_MAX_ORDER).next_probs(text.vocab.encode(past))[text.vocab.index(line[i])])
            steps.append({"letter": line[i], "order": order, "bits": -math.log2(p)})
        return steps

    # ---- traits ----

    @t.validate("start")
    def _validate_start(self, proposal: dict[str, Any]) -> str:
        return normalize(proposal["value"])[-_SPEC.controls["start"]["max"] :]

    @t.default("text")
    def _default_text(self) -> str:
        return _characters()

    @t.default("num_train")
    def _default_num_train(self) -> int:
        return len(_story().train_ids)

    @t.default("vocab")
    def _default_vocab(self) -> str:
        return "".join(_story().vocab.tokens)

    @t.default("line_start")
    def _default_line_start(self) -> int:
        return _characters().index(_SIZES["line"])

    @t.default("levels")
    def _default_levels(self) -> list[dict[str, float]]:
        return [dict(level) for level in _levels()]

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """What is known at the place in the line; or who copied most here, and who predicts new text best."""
        words = Words(self._words)
        if self.view == "read":
            past = self.heldout_line[self.place - _MAX_ORDER + 1 : self.place]
            order = self.walk[self.place - _MAX_ORDER + 1]["order"]
            known = past[len(past) - order + 1 :]
            if order == _MAX_ORDER:
                train = _characters()[: len(_story().train_ids) - 1]  # nothing follows the last letter
                times = len(re.findall(f"(?={known})", train))
                told = words("times_once") if times == 1 else words("times", count=times)
                return words("met", context=_quoted(known), times=told)
            return words("fell" if known else "fell_far", lost=_quoted(past), context=_quoted(known))
        best = words("the_n_gram", n=min(_levels(), key=lambda level: level["perplexity"])["order"])
        copied = {n: sum(end - begin for begin, end in found) for n, found in self.copies.items()}
        if (most := max(copied.values())) == 0:
            return words("now_none", best=best)
        copiers = words("and").join(words("the_n_gram", n=n) for n, length in copied.items() if length == most)
        return words("now", copiers=copiers, share=f"{int(100 * most / _NUM_WRITTEN + 0.5)}%", best=best)

    def static_picture(self) -> str:
        """Six writings, copies underlined; above a held-out line the longest n that has seen what is before."""
        words = Words(self._words)
        rows = "; ".join(words("picture_row", n=n, text=text) for n, text in self.writings.items())
        orders = [step["order"] for step in self.walk]
        description = words(
            "picture", start=self.start, rows=rows, line=self.heldout_line, orders=" ".join(map(str, orders))
        )
        picture = Picture(440, 270, words("title"), description)
        mono = {"font_family": "ui-monospace, monospace", "font_size": 9, "xml:space": "preserve"}
        for n, text in self.writings.items():
            y = 22 * n
            picture.add("text", words("n_gram", n=n), x=8, y=y, font_size=11, font_weight=650)
            picture.add("text", text.rstrip(), x=60, y=y, textLength=372 * len(text.rstrip()) / _NUM_WRITTEN, **mono)
            for begin, end in self.copies[n]:
                left, right = (60 + 372 * place / _NUM_WRITTEN for place in (begin, end))
                picture.add("path", d=f"M{left:.2f} {y + 3}H{right:.2f}", stroke=color("vermillion"), stroke_width=1.6)
        width = 424 / len(self.heldout_line)
        for i, letter in enumerate(self.heldout_line):
            left = 8 + width * i
            picture.add(
                "text",
                visible_character(letter),
                x=left + 2,
                y=242,
                font_family="ui-monospace, monospace",
                font_size=13,
            )
            if i >= _MAX_ORDER - 1:
                high = 12 * orders[i - _MAX_ORDER + 1]
                picture.add("rect", x=left + 1, y=226 - high, width=width - 2, height=float(high), fill=color("blue"))
        picture.add("text", words("picture_line"), x=8, y=262, font_size=11)
        return str(picture)
