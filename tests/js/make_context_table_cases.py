"""Write what Python says of the story's n-grams: ``python tests/js/make_context_table_cases.py``.

The node tests count the same story with JavaScript and must find the same numbers and write the same letters. A test
compares the committed file with a fresh one.
"""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

from d2lrnn import normalize
from d2lrnn.widgets import ContextTable
from d2lrnn.widgets.context_table import random_source

FILE = Path(__file__).with_name("context_table_cases.json")
# order, text so far, seed: contexts that are frequent, rare, new at every length, too short, and none
PLACES = (
    (1, "the tide", 0),
    (2, "the tide", 1),
    (3, "a grey ho", 2),
    (4, "said ", 3),
    (5, "the tide", 4),
    (5, "since the last ", 5),
    (5, "qzxq", 6),
    (6, "truthf", 7),
    (6, "th", 8),
    (6, "", 9),
    (6, "x  ", 9999),
)
TYPED = ("", "Mr. Keld: 'KINDLY", "<b onx=1>&amp;", "\u0130stanbul", "e\u0301e\u0000\u202e x", "  a\n\tb ", "9" * 50)


def _place(order: int, past: str, seed: int) -> dict[str, Any]:
    table = ContextTable(order=order, past=past, seed=seed, num_written=80)
    return {
        "order": order,
        "past": past,
        "seed": seed,
        "chain": table.chain,
        "probs": [table.probs[character] for character in table.vocab],
        "ranking": "".join(table.probs),
        "written": table.written,
    }


def cases() -> dict[str, Any]:
    table = ContextTable()
    return {
        "vocab": table.vocab,
        "num_train": table.num_train,
        "text_length": len(table.text),
        "lines": table.lines,
        "past": table.past,
        "levels": table.levels,
        "random": {str(seed): list(islice(random_source(seed), 5)) for seed in (0, 1, 9999)},
        "typed": [{"typed": typed, "past": normalize(typed)[-40:]} for typed in TYPED],
        "places": [_place(*place) for place in PLACES],
    }


def _rounded(value: Any) -> Any:
    """Twelve digits."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list | tuple) else value


def text() -> str:
    return json.dumps(_rounded(cases()), separators=(",", ":"), allow_nan=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    print(f"wrote {FILE}")
