"""The explorable of the chapter *Perplexity*: one word, and the probability of each of its characters."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

import traitlets as t

from d2lrnn import metrics
from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color, format_number, format_probability, visible_character
from d2lrnn.widgets.spec import Words

__all__ = ["Perplexity", "axis_position", "branch_layout", "format_choices", "mean_choices", "preset_probs"]

_MIN_CHARACTERS, _MAX_CHARACTERS = 2, 12
_MAX_VOCAB_SIZE = 1_000_000
_AXIS_BITS = 7

# A model that grows surer the more of the word it has read: after "m" nearly anything may come, after "machin" hardly.
_MACHINE = [0.35, 0.1, 0.5, 0.8, 0.9, 0.95]

_PRESETS = ("best", "confident", "unsure", "uniform", "worst", "one_zero")


def preset_probs(name: str, count: int, vocab_size: int = 27) -> list[float]:
    """Probabilities of a preset for `count` predicted characters.

    ``best`` gives each right character 1, ``confident`` 0.8, ``unsure`` 0.2, ``uniform`` ``1 / vocab_size``,
    ``worst`` 0; ``one_zero`` gives all 1 but the last, which gets 0.

    Raises
    ------
    ValueError
        If there is no preset of that name.

    Examples
    --------
    >>> preset_probs("one_zero", 3)
    [1.0, 1.0, 0.0]
    >>> preset_probs("unifrom", 3)
    Traceback (most recent call last):
    ValueError: There is no preset 'unifrom'; choose one of best, confident, unsure, uniform, worst, one_zero.
    """
    if name not in _PRESETS:
        raise ValueError(f"There is no preset {name!r}; choose one of {', '.join(_PRESETS)}.")
    each = {"confident": 0.8, "unsure": 0.2, "uniform": 1 / vocab_size, "worst": 0.0}.get(name, 1.0)
    probs = [each] * count
    if name == "one_zero":
        probs[-1] = 0.0
    return probs


def mean_choices(probs: list[float]) -> dict[str, float]:
    """Geometric, arithmetic and harmonic mean of the choices ``1 / p``; only the first is the perplexity.

    Examples
    --------
    >>> {kind: round(value, 3) for kind, value in mean_choices([0.5, 0.125]).items()}
    {'geometric': 4.0, 'arithmetic': 5.0, 'harmonic': 3.2}
    """
    total = math.fsum(probs)
    return {
        "geometric": metrics.perplexity(probs),
        "arithmetic": math.fsum(_choices(p) for p in probs) / len(probs),
        "harmonic": len(probs) / total if total > 0 else math.inf,
    }


def axis_position(bits: float) -> float:
    """Where `bits` stands on the axis, 0 to 1; the axis ends at 7 bits."""
    return min(bits, _AXIS_BITS) / _AXIS_BITS


def branch_layout(choices: float, limit: int = 32) -> tuple[list[tuple[float, float]], float]:
    """A node with `choices` equally likely branches, as in ``branchLayout`` of ``perplexity.mjs``.

    Returns
    -------
    (branches, more)
        ``(y, weight)`` for each branch, y from -1 to 1; a fractional last branch has its fraction as weight. `more`
        counts the branches beyond `limit`.

    Examples
    --------
    >>> branch_layout(3)
    ([(-1.0, 1.0), (0.0, 1.0), (1.0, 1.0)], 0.0)
    >>> branch_layout(1.5)
    ([(-0.5, 1.0), (0.5, 0.5)], 0.0)
    """
    if choices > limit:
        return [(2 * i / (limit - 1) - 1, 1.0) for i in range(limit)], choices - limit
    whole = max(1, math.floor(choices + 1e-9))
    fraction = max(0.0, choices - whole)
    weights = [1.0] * whole + ([fraction] if fraction > 1e-9 else [])
    if choices <= 1 + 1e-9:
        return [(0.0, weight) for weight in weights], 0.0
    spread = min(1.0, choices - 1)
    return [
        (spread * (2 * min(i, choices - 1) / (choices - 1) - 1), weight) for i, weight in enumerate(weights)
    ], 0.0


def _choices(p: float) -> float:
    return 1 / p if p > 0 else math.inf


def format_choices(choices: float) -> str:
    """A count of choices in a sentence.

    Examples
    --------
    >>> [format_choices(choices) for choices in (1.25, 2.83, 27.0, 1234.0)]
    ['1.25', '2.8', '27', '1\u202f234']
    """
    if choices >= 99.95:
        return format_number(choices, 0)
    return f"{choices:.{2 if choices < 1.995 else 1}f}".rstrip("0").removesuffix(".")


class Perplexity(Explorable):
    r"""Set the probability a model gives to each right next character, and watch the perplexity.

    The model reads a word character by character and predicts each one after the first. With :math:`p_t` the
    probability it gave to the character that came,

    .. math:: \text{perplexity} = 2^{\frac1n\sum_t -\log_2 p_t}.

    Parameters
    ----------
    word : str, optional
        2 to 12 characters (code points), none of them a control character; default ``"machine"``.
    probs : list of float, length ``len(word) - 1``, optional
        Probability given to each character after the first. Assign a new list to change it: a change inside the list
        goes unnoticed. Where another word has more characters, the additional ones get ``1 / vocab_size``.
    vocab_size : int, optional
        Number of characters the model chooses from, 2 to 1,000,000, for the preset "uniform"; default 27 (a to z and
        space).

    Raises
    ------
    traitlets.TraitError
        On any other value; the message says what was expected.

    Examples
    --------
    >>> widget = Perplexity(word="rnn", probs=[0.5, 0.125])
    >>> widget.bits, widget.mean_bits, round(widget.perplexity, 6)
    ([1.0, 3.0], 2.0, 4.0)
    >>> widget.preset("uniform")
    >>> round(widget.perplexity, 6)
    27.0
    >>> widget.reset()
    >>> widget
    Perplexity(word='rnn', probs=[0.5, 0.125], vocab_size=27)
    """

    _esm = module("perplexity")
    _css = stylesheet("perplexity")
    _words = "perplexity"

    word = t.Unicode("machine").tag(sync=True, control=True)
    probs = t.List(t.Float()).tag(sync=True, control=True)
    vocab_size = t.Int(27, min=2, max=_MAX_VOCAB_SIZE).tag(sync=True, control=True)

    @property
    def bits(self) -> list[float]:
        """Surprise of each predicted character, in bits."""
        return metrics.surprisal_bits(self.probs)

    @property
    def mean_bits(self) -> float:
        """Mean surprise, in bits per character."""
        return metrics.bits_per_token(self.probs)

    @property
    def perplexity(self) -> float:
        """Perplexity of the word: the geometric mean of the choices ``1 / p``."""
        return metrics.perplexity(self.probs)

    def preset(self, name: str) -> None:
        """Set all probabilities at once: best, confident, unsure, uniform, worst or one_zero (see `preset_probs`)."""
        self.probs = preset_probs(name, len(self.word) - 1, self.vocab_size)

    @t.default("probs")
    def _default_probs(self) -> list[float]:
        return list(_MACHINE) if self.word == "machine" else self._carried([])

    @t.validate("word")
    def _validate_word(self, proposal: dict[str, Any]) -> str:
        word = proposal["value"]
        if not _MIN_CHARACTERS <= len(word) <= _MAX_CHARACTERS:
            raise t.TraitError(
                f"word has {len(word)} characters; give one of {_MIN_CHARACTERS} to {_MAX_CHARACTERS}, "
                "so that there is something to predict and every character has its row."
            )
        control = next((character for character in word if unicodedata.category(character) in ("Cc", "Cs")), None)
        if control is not None:
            raise t.TraitError(f"word contains U+{ord(control):04X}, which is no printable character; take it out.")
        return word

    @t.validate("probs")
    def _validate_probs(self, proposal: dict[str, Any]) -> list[float]:
        probs = proposal["value"]
        expected = len(self.word) - 1
        if len(probs) != expected:
            raise t.TraitError(
                f"probs has {len(probs)} values, but {self.word!r} has {expected} characters after its first; "
                "give one probability for each (set both at once with update(word=..., probs=...))."
            )
        for position, p in enumerate(probs):
            if not 0.0 <= p <= 1.0:  # also catches NaN
                raise t.TraitError(f"probs[{position}] is {p}; a probability lies between 0 and 1.")
        return probs

    @t.observe("word")
    def _fit_probs(self, _change: dict[str, Any]) -> None:
        if len(self.probs) != len(self.word) - 1:
            self.probs = self._carried(self.probs)

    def _carried(self, probs: list[float]) -> list[float]:
        count = len(self.word) - 1
        return (list(probs) + [1 / self.vocab_size] * count)[:count]

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """The result in words, as the live region says it."""
        words, choices = Words(self._words), self.perplexity
        if choices == math.inf:
            return words("spoken_infinite", sentence=words("sentence_infinite"))
        if choices < 1.0005:
            sentence = words("sentence_certain")
        elif choices < 1.05:
            sentence = words("sentence_almost")
        else:
            sentence = words("sentence", choices=format_choices(choices))
        return words("spoken", perplexity=format_number(choices), sentence=sentence)

    def static_picture(self) -> str:
        """Rows of contexts, characters and surprises, their mean, the perplexity and its branches."""
        words = Words(self._words)
        characters = [visible_character(character) for character in self.word]
        rows = [
            ("".join(characters[: i + 1]), characters[i + 1], p, bits)
            for i, (p, bits) in enumerate(zip(self.probs, self.bits, strict=True))
        ]
        described = "; ".join(
            words("picture_row", context=context, target=target, p=format_probability(p), bits=format_number(bits))
            for context, target, p, bits in rows
        )
        description = words(
            "picture",
            word="".join(characters),
            rows=described,
            bits=format_number(self.mean_bits),
            perplexity=format_number(self.perplexity),
        )
        top, row_height = 132, 26
        bottom = top + row_height * len(rows)
        picture = Picture(440, bottom + 26, words("title"), description)
        self._draw_result(picture, words)
        left, width = 186, 190
        picture.add("text", words("column_row"), x=12, y=top - 12, font_size=12)
        picture.add("text", "p", x=142, y=top - 12, font_size=12)
        picture.add("text", words("column_surprise"), x=left, y=top - 12, font_size=12)
        picture.add("text", words("column_bits"), x=428, y=top - 12, font_size=12, text_anchor="end")
        for i, (context, target, p, bits) in enumerate(rows):
            y = top + row_height * i
            shown = context if len(context) <= 9 else f"…{context[-8:]}"
            mono = {"font_family": "ui-monospace, monospace", "font_size": 13}
            picture.add("text", f"{shown} → {target}", x=12, y=y + 18, **mono)
            picture.add("text", format_probability(p), x=142, y=y + 18)
            bar = max(1.0, width * axis_position(bits))
            picture.add("rect", x=left, y=y + 6, width=bar, height=14, fill=color("vermillion"))
            picture.add("text", format_number(bits), x=428, y=y + 18, text_anchor="end")
        picture.add("path", d=f"M{left} {top}V{bottom}", stroke="currentColor", fill="none")
        mean = left + width * axis_position(self.mean_bits)
        picture.add("path", d=f"M{mean:.2f} {top}V{bottom}", stroke=color("green"), stroke_width=2.5, fill="none")
        label = f"{words('mean')} {words('equation_bits', bits=format_number(self.mean_bits))}"
        picture.add("text", label, x=min(max(mean, left + 20), left + width - 40), y=bottom + 18, text_anchor="middle")
        return str(picture)

    def _draw_result(self, picture: Picture, words: Words) -> None:
        picture.add("text", words("perplexity"), x=12, y=26)
        picture.add("text", format_number(self.perplexity), x=12, y=70, font_size=42, font_weight=650)
        branches, more = branch_layout(self.perplexity)
        right = 360 if more else 428
        for y, weight in branches:
            end = 52 + 44 * y
            picture.add(
                "path",
                d=f"M250 52C300 52 {right - 80} {end:.2f} {right} {end:.2f}",
                fill="none",
                stroke=color("green"),
                stroke_width=1.75,
                stroke_opacity=1 if weight == 1 else 0.25 + 0.75 * weight,
                **({} if weight == 1 else {"stroke_dasharray": "5 4"}),
            )
        picture.add("circle", cx=250, cy=52, r=6)
        if more:
            picture.add("text", words("branches_more", count=format_choices(more)), x=368, y=57)
