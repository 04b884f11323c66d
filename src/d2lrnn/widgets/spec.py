"""What an explorable declares once, in the ``spec.json`` of its folder, for Python and JavaScript alike.

``controls`` are the traits that a reader changes, with type, default and range; ``presets`` and ``steps`` are values
for them; ``words`` are its texts, keyed by language. A text is a template: ``"{bits} bits"``. JavaScript picks the
language of the page it stands on; Python draws the static picture in English, the language of the book.
"""

from __future__ import annotations

import json
import math
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

import traitlets as t

__all__ = ["Spec", "Words", "unaccented"]

_FOLDER = Path(__file__).parent

# Latin letters whose stroke or ligature Unicode does not take apart, as in JavaScript.
_NOT_DECOMPOSED = str.maketrans(
    {"Ł": "L", "ł": "l", "Ø": "O", "ø": "o", "Đ": "D", "đ": "d", "Ħ": "H", "ħ": "h", "\u0131": "i"}
    | {"ẞ": "SS", "ß": "ss", "Æ": "AE", "æ": "ae", "Œ": "OE", "œ": "oe", "Þ": "Th", "þ": "th", "Ð": "D", "ð": "d"}
)


@cache
def _read(name: str) -> dict[str, Any]:
    path = _FOLDER / "ui.json" if name == "ui" else _FOLDER / name / "spec.json"
    return json.loads(path.read_text(encoding="utf-8"))


def _trait(control: dict[str, Any]) -> t.TraitType:
    """A control as a trait: int, float, choice, flag, text or list (of one of these)."""
    kind, default = control["type"], control.get("default")
    bounds = {bound: control[bound] for bound in ("min", "max") if bound in control}
    if kind == "int":
        return t.Int(default if default is not None else 0, **bounds)
    if kind == "float":
        return _Float(default if default is not None else 0.0, **bounds)
    if kind == "choice":
        return t.Enum(control["choices"], default)
    if kind == "flag":
        return t.Bool(default)
    if kind == "text":
        return _Text(default or "", longest=control["max"])
    if kind == "list":
        return t.List(_trait(control["of"]), default, maxlen=control["max"])
    raise ValueError(f"There is no control of type {kind!r}; use int, float, choice, flag, text or list.")


class _Float(t.Float):
    """A number within its bounds: traitlets' own would let NaN through."""

    def validate(self, obj: Any, value: Any) -> float:
        number = super().validate(obj, value)
        if math.isnan(number):
            raise t.TraitError(f"{self.name} is nan; give a number.")
        return number


class _Text(t.Unicode):
    """A text of at most `longest` characters (code points)."""

    def __init__(self, default: str, longest: int) -> None:
        super().__init__(default)
        self.longest = longest

    def validate(self, obj: Any, value: Any) -> str:
        text = super().validate(obj, value)
        if len(text) > self.longest:
            raise t.TraitError(f"{self.name} has {len(text)} characters; give at most {self.longest}.")
        return text


class Spec:
    """The ``spec.json`` of a widget.

    Parameters
    ----------
    name : str
        The widget's folder.

    Attributes
    ----------
    controls, presets : dict
    steps : list

    """

    def __init__(self, name: str) -> None:
        spec = _read(name)
        self.controls: dict[str, dict[str, Any]] = spec.get("controls", {})
        self.presets: dict[str, dict[str, Any]] = spec.get("presets", {})
        self.steps: list[dict[str, Any]] = spec.get("steps", [])

    def trait(self, name: str) -> t.TraitType:
        """The control of that name as a trait that is synced and that a reset restores."""
        return _trait(self.controls[name]).tag(sync=True, control=True)


class Words:
    """Look up texts by key and fill in values.

    Parameters
    ----------
    name : str
        The widget's folder: ``"perplexity"`` reads ``perplexity/spec.json`` on top of the shared ``ui.json``.
    language : str
        A language of the table; default ``"en"``.

    Raises
    ------
    KeyError
        On an unknown language or key, or a template whose value is not given.

    Examples
    --------
    >>> Words("perplexity")("equation_bits", bits="1.06")
    '1.06 bits'
    """

    def __init__(self, name: str, language: str = "en") -> None:
        self._texts = _read("ui")["words"][language] | _read(name)["words"][language]

    def __call__(self, key: str, **values: object) -> str:
        return self._texts[key].format_map(values)


def unaccented(text: str) -> str:
    """A text without its accents: "Zoë" is "Zoe", "Łukasz" "Lukasz"."""
    plain = text.translate(_NOT_DECOMPOSED)
    return "".join(char for char in unicodedata.normalize("NFKD", plain) if unicodedata.category(char)[0] != "M")
