"""The explorable of the chapter *Predicting what comes next*: Mr Gadd's drawers, with all that is in them."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any

import traitlets as t

from d2lrnn.ngram import NGramLM
from d2lrnn.text import EncodedText, load_text, normalize
from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color, format_number, format_probability, visible_character
from d2lrnn.widgets.randomness import random_source
from d2lrnn.widgets.spec import Words

__all__ = ["ContextTable"]

_MAX_ORDER, _MAX_PAST, _LINE_LENGTH = 6, 40, 36
_MAX_SEED, _MAX_WRITTEN = 9999, 600

# Lines of the story to read along, each as its first 36 characters. The last two are held out: the first of them holds
# the first letter that the 5-gram has never seen where it comes, the second is full of contexts that are new.
_LINES = (
    "a stranger would take the road to be",
    "how it was that the tide clock gave ",
    "the red since the last boat was too ",
    "sets out to be truthful about memory",
)
_FIRST_PLACE = 26  # "a stranger would take the r"


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


@cache
def _followers(context: str) -> Counter[str]:
    """What followed a context in the training text, read off the text itself."""
    train = _characters()[: len(_story().train_ids)]
    return Counter(re.findall(f"(?<={context}).", train))


class ContextTable(Explorable):
    r"""Look into the drawers of an n-gram model of *The Tide Clock*, and let it write.

    With :math:`N(c, x)` the count of :math:`x` after the context :math:`c`, :math:`N(c)` their sum and :math:`T(c)` the
    number of different :math:`x`, the model says

    .. math:: P_n(x \mid c) = \frac{N(c, x) + T(c)\, P_{n-1}(x \mid c')}{N(c) + T(c)},

    where :math:`c'` is the context without its oldest letter (Witten and Bell; see :class:`d2lrnn.NGramLM`).

    Parameters
    ----------
    order : int, optional
        The n of n-gram, 1 to 6; default 5.
    past : str, optional
        Text whose last ``order - 1`` letters are the context. It is normalised as by :func:`d2lrnn.normalize`, and has
        at most 40 characters then.
    line : int, optional
        Which line of the story is shown to read along: 0 and 1 are counted, 2 and 3 held out.
    seed : int, optional
        0 to 9999; equal seeds write equal texts.
    num_written : int, optional
        How many letters it writes, 0 to 600.

    Raises
    ------
    traitlets.TraitError
        On any other value; the message says what was expected.

    Examples
    --------
    >>> table = ContextTable(order=5, past="The tide")
    >>> table.context, dict(table.followers)
    ('tide', {' ': 12, 's': 1})
    >>> round(table.probs["s"], 3), round(table.perplexity, 2)
    (0.076, 3.63)
    >>> table.chain[0]
    {'context': 'tide', 'count': 13, 'different': 2, 'weight': 0.8666666666666667}
    """

    _esm = module("context_table")
    _css = stylesheet("context_table")
    _words = "context_table"

    order = t.Int(5, min=1, max=_MAX_ORDER).tag(sync=True, control=True)
    past = t.Unicode().tag(sync=True, control=True)
    line = t.Int(0, min=0, max=len(_LINES) - 1).tag(sync=True, control=True)
    seed = t.Int(0, min=0, max=_MAX_SEED).tag(sync=True, control=True)
    num_written = t.Int(180, min=0, max=_MAX_WRITTEN).tag(sync=True, control=True)
    text = t.Unicode(read_only=True).tag(sync=True, shared=True)
    num_train = t.Int(read_only=True).tag(sync=True)
    vocab = t.Unicode(read_only=True).tag(sync=True)
    lines = t.List(t.Int(), read_only=True).tag(sync=True)
    levels = t.List(t.Dict(), read_only=True).tag(sync=True)

    # ---- what the reader sees, computed by d2lrnn ----

    @property
    def context(self) -> str:
        """The last ``order - 1`` letters, or as many as there are."""
        return self.past[-(self.order - 1) :] if self.order > 1 else ""

    @property
    def followers(self) -> dict[str, int]:
        """What came after the context in the counted text, the most frequent first; empty if it never occurred."""
        return dict(_followers(self.context).most_common())

    @property
    def chain(self) -> list[dict[str, Any]]:
        """Who is asked, from the longest context to the empty one: how often it was counted, how many different letters
        followed, and the share that its own frequencies have in the answer."""
        rest, rows = 1.0, []
        for skipped in range(len(self.context) + 1):
            followers = _followers(self.context[skipped:])
            count, different = followers.total(), len(followers)
            weight = rest * count / (count + different) if count else 0.0
            rest *= different / (count + different) if count else 1.0
            rows.append(
                {"context": self.context[skipped:], "count": count, "different": different, "weight": weight}
            )
        return rows

    @property
    def probs(self) -> dict[str, float]:
        """Probability of every letter to come next, the likeliest first."""
        vocab = _story().vocab
        values = _model(self.order).next_probs(vocab.encode(self.past)).tolist()
        return dict(sorted(zip(vocab.tokens, values), key=lambda pair: -pair[1]))

    @property
    def num_possible(self) -> int:
        """How many contexts of ``order - 1`` letters there could be."""
        return len(_story().vocab) ** (self.order - 1)

    @property
    def num_seen(self) -> int:
        """How many of them the counted text has."""
        return self.levels[self.order - 1]["contexts"]

    @property
    def perplexity(self) -> float:
        """Held-out perplexity of the model."""
        return self.levels[self.order - 1]["perplexity"]

    @property
    def written(self) -> str:
        """What the model writes after `past`: `num_written` letters, each drawn from its prediction."""
        vocab, numbers, model = _story().vocab, random_source(self.seed), _model(self.order)
        tail = vocab.encode(self.context)
        for _ in range(self.num_written):
            rest = next(numbers)
            context = tail[max(0, len(tail) - self.order + 1) :]
            for index, p in enumerate(model.next_probs(context).tolist()):  # noqa: B007
                rest -= p
                if rest < 0:
                    break
            tail.append(index)
        return vocab.decode(tail)[len(self.context) :]

    # ---- traits ----

    @t.default("past")
    def _default_past(self) -> str:
        end = _characters().index(_LINES[0]) + _FIRST_PLACE + 1
        return _characters()[end - _MAX_PAST : end]

    @t.validate("past")
    def _validate_past(self, proposal: dict[str, Any]) -> str:
        past = proposal["value"]
        if not re.fullmatch("[a-z ]*", past):
            past = normalize(past)
        if len(past) > _MAX_PAST:
            raise t.TraitError(
                f"past has {len(past)} characters; give at most {_MAX_PAST}: only the last "
                f"{_MAX_ORDER - 1} can count, and the page has room for that many."
            )
        return past

    @t.default("text")
    def _default_text(self) -> str:
        return _characters()

    @t.default("num_train")
    def _default_num_train(self) -> int:
        return len(_story().train_ids)

    @t.default("vocab")
    def _default_vocab(self) -> str:
        return "".join(_story().vocab.tokens)

    @t.default("lines")
    def _default_lines(self) -> list[int]:
        return [_characters().index(line) for line in _LINES]

    @t.default("levels")
    def _default_levels(self) -> list[dict[str, float]]:
        return [dict(level) for level in _levels()]

    # ---- the static picture ----

    def _shown_context(self) -> str:
        return "".join(map(visible_character, self.context)) or Words(self._words)("no_letters")

    def static_sentence(self) -> str:
        """What the picture shows."""
        return Words(self._words)("sentence", order=self.order, context=self._shown_context())

    def static_picture(self) -> str:
        """The likeliest letters after the context, and the held-out perplexity of every n."""
        words, rows = Words(self._words), list(self.probs.items())[:8]
        followers = _followers(self.context)
        described = "; ".join(
            words(
                "picture_row",
                character=visible_character(x),
                p=format_probability(p),
                count=followers[x],
            )
            for x, p in rows
        )
        description = words(
            "picture",
            order=self.order,
            context=self._shown_context(),
            times=followers.total(),
            rows=described,
            possible=f"{self.num_possible:,}",
            seen=f"{self.num_seen:,}",
            perplexity=format_number(self.perplexity),
        )
        picture = Picture(440, 300, words("title"), description)
        mono = {"font_family": "ui-monospace, monospace"}
        picture.add("text", self._shown_context(), x=12, y=28, font_size=20, **mono)
        picture.add("text", words("column_probability"), x=428, y=28, font_size=12, text_anchor="end")
        for i, (x, p) in enumerate(rows):
            y = 40 + 20 * i
            picture.add("text", visible_character(x), x=12, y=y + 14, **mono)
            picture.add("rect", x=36, y=y + 3, width=max(1.0, 320 * p), height=13, fill=color("blue"))
            picture.add("text", format_probability(p), x=428, y=y + 14, text_anchor="end")
        picture.add("path", d="M36 40V200", stroke="currentColor", fill="none")
        picture.add("text", words("orders"), x=12, y=226, font_size=12)
        lowest = min(level["perplexity"] for level in self.levels)
        for i, level in enumerate(self.levels):
            left = 12 + 70 * i
            is_now, is_lowest = level["order"] == self.order, level["perplexity"] == lowest
            picture.add(
                "rect", x=left, y=236, width=64, height=52, rx=5, fill="none",
                stroke="currentColor", stroke_width=2.5 if is_now else 0.75,
            )  # fmt: skip
            picture.add("text", str(level["order"]), x=left + 32, y=257, font_weight=650, text_anchor="middle")
            text = format_number(level["perplexity"]) + (" ▾" if is_lowest else "")
            picture.add("text", text, x=left + 32, y=278, font_size=12, text_anchor="middle")
        return str(picture)
