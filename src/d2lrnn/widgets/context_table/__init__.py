"""The explorable of the chapter *Predicting what comes next*: what followed some letters in a story."""

from __future__ import annotations

import re
from collections import Counter
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
_MAX_ORDER, _MAX_TESTED = _SIZES["max_order"], _SIZES["max_tested"]
_NUM_WRITTEN, _SHORTEST_COPY = _SIZES["num_written"], _SIZES["shortest_copy"]


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


def _unseen(order: int) -> int:
    """How many held-out letters never follow their context of ``order - 1`` letters in the counted story."""
    text, num_train = _characters(), len(_story().train_ids)
    known = {text[i - order + 1 : i + 1] for i in range(order - 1, num_train)}
    return sum(text[i - order + 1 : i + 1] not in known for i in range(num_train, len(text)))


@cache
def _levels() -> tuple[dict[str, float], ...]:
    # Scoring takes a second, and every table on a page shows the same numbers.
    heldout = _story().heldout_ids
    return tuple(
        {
            "order": order,
            "contexts": _model(order).num_contexts[-1],
            "perplexity": _model(order).evaluate(heldout).perplexity,
            "unseen": _unseen(order),
        }
        for order in range(1, _MAX_TESTED + 1)
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


@lru_cache(64)
def _followers(context: str) -> Counter[str]:
    """What followed a context in the counted story."""
    return Counter(re.findall(f"(?<={context}).", _characters()[: len(_story().train_ids)]))


def _number(value: int) -> str:
    return f"{value:,}".replace(",", "\u202f")


def _share(share: float) -> str:
    """A share in percent, with as many places as the page shows: 55%, 1.7%, 0.14%."""
    percent = 100 * share
    if percent >= 99.5:
        return ">99%"
    return "<0.01%" if percent < 0.01 else f"{percent:.{0 if percent >= 9.95 else 1 if percent >= 0.995 else 2}f}%"


def _quoted(text: str) -> str:
    return f"“{''.join(map(visible_character, text))}”"


class ContextTable(Explorable):
    """Look up what followed a letter's context in *The Tide Clock*, for n-grams of 1 to 6; test them; let them write.

    The test shows the perplexity of each on held-out text, up to the 8-gram. What a model writes is
    underlined where ten letters or more in a row stand so in the story.

    Parameters
    ----------
    view : str, optional
        What is in sight: "read", the counts for one letter of a line, "test", the perplexities, "write", the writings.
    line : str, optional
        The line. It is normalised as by :func:`d2lrnn.normalize`, and has at most 24 characters.
    place : int, optional
        The letter of the line that is guessed, counted from 0.
    order : int, optional
        The n-gram whose counts are listed, 1 to 6; it looks at ``order - 1`` letters.
    start : str, optional
        What all six go on from, at most 40 characters.
    seed : int, optional
        0 to 9999; all six draw with the same random numbers, and equal seeds write equal texts.

    Raises
    ------
    traitlets.TraitError
        On any other value; the message says what was expected.

    Examples
    --------
    >>> table = ContextTable(line="there was", place=8, start="The tide ")
    >>> table.rows[-1]
    {'n': 6, 'context': 're wa', 'total': 42, 'hits': 40}
    >>> table.writings[4][:30]
    'and who had and you ared i had'
    """

    _esm = module("context_table")
    _css = stylesheet("context_table")
    _words = "context_table"

    view = _SPEC.trait("view")
    line = _SPEC.trait("line")
    place = _SPEC.trait("place")
    order = _SPEC.trait("order")
    start = _SPEC.trait("start")
    seed = _SPEC.trait("seed")
    text = t.Unicode(read_only=True).tag(sync=True, shared=True)
    num_train = t.Int(read_only=True).tag(sync=True)
    vocab = t.Unicode(read_only=True).tag(sync=True)
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
    def rows(self) -> list[dict[str, Any]]:
        """For n = 1, 2, ...: the context of the letter, how often something follows it, and how often this letter."""
        if self.place >= len(self.line):
            return []
        letter, found = self.line[self.place], []
        for n in range(1, min(_MAX_ORDER, self.place + 1) + 1):
            context = self.line[self.place - n + 1 : self.place]
            counts = _followers(context)
            found.append({"n": n, "context": context, "total": counts.total(), "hits": counts[letter]})
        return found

    @property
    def counts(self) -> dict[str, int]:
        """What followed the context of the n-gram in hand, by letter; the most frequent first."""
        if not self.rows:
            return {}
        return dict(_followers(self.rows[min(self.order, len(self.rows)) - 1]["context"]).most_common())

    # ---- traits ----

    @t.validate("start", "line")
    def _validate_text(self, proposal: dict[str, Any]) -> str:
        return normalize(proposal["value"])[-_SPEC.controls[proposal["trait"].name]["max"] :]

    @t.default("text")
    def _default_text(self) -> str:
        return _characters()

    @t.default("num_train")
    def _default_num_train(self) -> int:
        return len(_story().train_ids)

    @t.default("vocab")
    def _default_vocab(self) -> str:
        return "".join(_story().vocab.tokens)

    @t.default("levels")
    def _default_levels(self) -> list[dict[str, float]]:
        return [dict(level) for level in _levels()]

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """How often the story has the context, and this letter after it; or which is best; or who copied most here."""
        words = Words(self._words)
        if self.view == "read":
            return self._counted(words)
        if self.view == "test":
            best = min(self.levels, key=lambda level: level["perplexity"])
            return words("now_test", best=best["order"] - 1, count=f"{best['perplexity']:.1f}")
        copied = sum(end - begin for begin, end in self.copies[_MAX_ORDER])
        share = f"{int(100 * copied / _NUM_WRITTEN + 0.5)}%"
        average = _SPEC.presets["copied"]
        if self.start != average["start"]:
            return words("now", share=share)
        six = f"{int(100 * average['shares'][-1] + 0.5)}%"
        return words("now_average", share=share, lines=average["lines"], start=average["start"].strip(), six=six)

    def _counted(self, words: Words) -> str:
        if not (rows := self.rows):
            return words("now_empty")
        row, letter = rows[min(self.order, len(rows)) - 1], self.line[self.place]
        total, hits, context = row["total"], row["hits"], _quoted(row["context"])
        if total == 0:
            past = _story().vocab.encode(row["context"])
            guess = float(_model(row["n"]).next_probs(past)[_story().vocab.encode(letter)[0]])
            return words("met_never", context=context, letter=_quoted(letter), guess=_share(guess))

        def times(count: int) -> str:
            return words("times_once") if count == 1 else words("times", count=_number(count))

        empty = row["context"] == ""
        first = words("met_all", count=_number(total)) if empty else words("met", context=context, times=times(total))
        if hits == 0:
            return f"{first} {words('hits_never', letter=_quoted(letter))}"
        often = words("each_time") if hits == total > 1 else times(hits)
        return f"{first} {words('hits_all' if empty else 'hits', letter=_quoted(letter), hits=often)}"

    def static_picture(self) -> str:
        """A bar for each n: how often the letter followed its context, or its perplexity. Or six writings."""
        return {"read": self._counts_drawn, "test": self._test_drawn, "write": self._writings_drawn}[self.view]()

    def _test_drawn(self) -> str:
        words, levels = Words(self._words), self.levels
        best = min(level["perplexity"] for level in levels)
        rows = "; ".join(
            words("picture_row", before=level["order"] - 1, text=f"{level['perplexity']:.1f}") for level in levels
        )
        count = _number(len(self.text) - self.num_train)
        picture = Picture(440, 210, words("test_title"), words("picture_test", count=count, rows=rows))
        for i, level in enumerate(levels):
            y, width = 24 + 24 * i, 300 * level["perplexity"] / levels[0]["perplexity"]
            paint = color("blue" if level["perplexity"] == best else "line")
            picture.add("text", words("back", before=level["order"] - 1), x=8, y=y, font_size=12)
            picture.add("rect", x=64, y=y - 12, width=width, height=14, fill=paint)
            picture.add("text", f"{level['perplexity']:.1f}", x=72 + width, y=y, font_size=12)
        return str(picture)

    def _counts_drawn(self) -> str:
        words, rows = Words(self._words), self.rows

        def told(row: dict[str, Any]) -> str:
            context = _quoted(row["context"]) if row["context"] else words("no_context")
            values = {"before": row["n"] - 1, "context": context}
            if row["total"] == 0:
                return words("picture_unseen", **values)
            return words("picture_seen", **values, count=row["hits"], total=row["total"])

        letter = _quoted(self.line[self.place]) if rows else ""
        description = words("picture", letter=letter, line=_quoted(self.line), rows="; ".join(map(told, rows)))
        picture = Picture(440, 200, words("title"), description)
        mono = {"font_family": "ui-monospace, monospace", "xml:space": "preserve"}
        step = 424 / _SPEC.controls["line"]["max"]
        first = self.place - min(self.order, len(rows)) + 1
        for i, character in enumerate(self.line):
            left = 8 + step * i
            if i == self.place:
                picture.add("rect", x=left, y=8, width=step, height=26, fill="none", stroke="currentColor")
            elif first <= i < self.place:
                picture.add("rect", x=left, y=8, width=step, height=26, fill=color("blue"), fill_opacity=0.2)
            middle = {"x": left + step / 2, "text_anchor": "middle"}
            picture.add("text", visible_character(character), y=26, font_size=14, **middle, **mono)
        for i, row in enumerate(rows):
            y = 66 + 24 * i
            context = "".join(map(visible_character, row["context"])) or words("no_context")
            picture.add("text", words("back", before=row["n"] - 1), x=8, y=y, font_size=12)
            picture.add("text", context, x=134, y=y, text_anchor="end", font_size=13, **mono)
            said = words("never_seen")
            if row["total"]:
                said = f"{_number(row['hits'])} {words('of', count=_number(row['total']))}"
                width = 170 * row["hits"] / row["total"]
                picture.add("rect", x=144, y=y - 11, width=width, height=13, fill=color("blue"))
            picture.add("text", said, x=322, y=y, font_size=12)
        return str(picture)

    def _writings_drawn(self) -> str:
        words = Words(self._words)
        rows = "; ".join(words("picture_row", before=n - 1, text=text) for n, text in self.writings.items())
        description = words("picture_write", start=_quoted(self.start), rows=rows)
        picture = Picture(440, 150, words("title"), description)
        mono = {"font_family": "ui-monospace, monospace", "font_size": 9, "xml:space": "preserve"}
        for n, text in self.writings.items():
            y = 22 * n
            picture.add("text", words("back", before=n - 1), x=8, y=y, font_size=11, font_weight=650)
            picture.add("text", text.rstrip(), x=60, y=y, textLength=372 * len(text.rstrip()) / _NUM_WRITTEN, **mono)
            for begin, end in self.copies[n]:
                left, right = (60 + 372 * place / _NUM_WRITTEN for place in (begin, end))
                picture.add("path", d=f"M{left:.2f} {y + 3}H{right:.2f}", stroke=color("vermillion"), stroke_width=1.6)
        return str(picture)
