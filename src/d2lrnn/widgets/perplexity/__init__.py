"""The explorable of the chapter *Perplexity*: one word, and the probability of each of its characters."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Any

import traitlets as t

from d2lrnn import metrics
from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color, format_number, format_probability, visible_character
from d2lrnn.widgets.spec import Spec, Words

__all__ = ["Perplexity", "axis_position", "format_choices"]

_SPEC = Spec("perplexity")
_MIN_CHARACTERS, _MAX_CHARACTERS = 2, _SPEC.controls["word"]["max"]
_AXIS_BITS = 7


def axis_position(bits: float) -> float:
    """Where `bits` stands on the axis, 0 to 1: to scale up to 7 bits, infinity at the end."""
    return 1.0 if bits == math.inf else min(bits, _AXIS_BITS + 0.5) / (_AXIS_BITS + 1)


def format_choices(choices: float) -> str:
    """A count of choices in a sentence: as the number beside it, without zeros at its end.

    Examples
    --------
    >>> [format_choices(choices) for choices in (1.25, 2.834, 27.0, 1234.0)]
    ['1.25', '2.83', '27', '1\u202f234']
    """
    text = format_number(choices)
    return text.rstrip("0").removesuffix(".") if text.replace(".", "", 1).isdecimal() and "." in text else text


class Perplexity(Explorable):
    r"""Set the probability a model gives to each right next character, and watch the perplexity.

    The model reads a word character by character and predicts each one after the first. With :math:`p_t` the
    probability it gave to the character that came,

    .. math:: \text{perplexity} = 2^{\frac1N\sum_t -\log_2 p_t}.

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

    word = _SPEC.trait("word")
    probs = t.List(t.Float()).tag(sync=True, control=True)  # bounds: see _validate_probs, whose message helps more
    vocab_size = _SPEC.trait("vocab_size")

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
        """Set all probabilities: best (1), confident (0.8), unsure (0.2), uniform (1 / vocab_size) or worst (0).

        Raises
        ------
        ValueError
            If there is no preset of that name.
        """
        if name not in _SPEC.presets:
            raise ValueError(f"There is no preset {name!r}; choose one of {', '.join(_SPEC.presets)}.")
        p = _SPEC.presets[name]["p"]
        self.probs = [1 / self.vocab_size if p is None else p] * (len(self.word) - 1)

    @t.default("probs")
    def _default_probs(self) -> list[float]:
        controls = _SPEC.controls
        return list(controls["probs"]["default"]) if self.word == controls["word"]["default"] else self._carried([])

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

    @property
    def _blind_choices(self) -> float:
        """Among how many letters a blind guess chooses; infinitely many where nobody knows how many there are."""
        is_default = self.vocab_size == _SPEC.controls["vocab_size"]["default"]
        return math.inf if is_default and re.fullmatch("[a-z ]*", self.word) is None else self.vocab_size

    def static_sentence(self) -> str:
        """The result in words, as the live region says it."""
        words, choices = Words(self._words), self.perplexity
        if choices == math.inf:
            return words("spoken", perplexity=words("infinite"), sentence=words("sentence_infinite"))
        if choices < 1.0005:
            sentence = words("sentence_certain")
        elif choices > 1.0005 * self._blind_choices:
            sentence = words("sentence_worse", choices=format_choices(choices))
        elif choices > 0.9995 * self._blind_choices:
            sentence = words("sentence_blind", choices=format_choices(choices))
        elif choices < 1.05:
            sentence = words("sentence_almost")
        else:
            sentence = words("sentence", choices=format_choices(choices))
        return words("spoken", perplexity=format_number(choices), sentence=sentence)

    def static_picture(self) -> str:
        """The perplexity, and rows of contexts, characters and surprisals with their mean."""
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
        top, row_height, left, width = 90, 26, 186, 190
        bottom = top + row_height * len(rows)
        picture = Picture(440, bottom + 26, words("title"), description)
        picture.add("text", words("perplexity"), x=12, y=36)
        picture.add("text", format_number(self.perplexity), x=96, y=40, font_size=36, font_weight=650)
        picture.add("text", words("column_row"), x=12, y=top - 10, font_size=12)
        picture.add("text", words("column_p"), x=142, y=top - 10, font_size=12)
        picture.add("text", words("column_bits"), x=428, y=top - 10, font_size=12, text_anchor="end")
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
