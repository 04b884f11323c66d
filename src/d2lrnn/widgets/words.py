"""The words of an explorable: one JSON table a widget, read by Python and by JavaScript, keyed by language.

A text is a template: ``"{bits} bits"``. JavaScript picks the language of the page it stands on; Python draws the
static picture in English, the language of the book.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

__all__ = ["Words"]

_FOLDER = Path(__file__).parent


class Words:
    """Look up texts by key and fill in values.

    Parameters
    ----------
    name : str
        The widget's module: ``"perplexity"`` reads ``perplexity.words.json`` on top of the shared ``ui.words.json``.
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
        self._texts = _table("ui")[language] | _table(name)[language]

    def __call__(self, key: str, **values: object) -> str:
        return self._texts[key].format_map(values)


@cache
def _table(name: str) -> dict[str, dict[str, str]]:
    return json.loads((_FOLDER / f"{name}.words.json").read_text(encoding="utf-8"))
