"""Write what Python says of the story's n-grams: ``python tests/js/make_context_table_cases.py``.

The node tests count the same story with JavaScript and must find the same numbers and write the same letters. A test
compares the committed file with a fresh one.
"""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

from d2lrnn import NGramLM, load_text, normalize
from d2lrnn.widgets import ContextTable
from d2lrnn.widgets.context_table import random_source

FILE = Path(__file__).with_name("context_table_cases.json")
# n and what stands before: contexts that are frequent, rare, new at every length, too short, and none
PLACES = (
    (1, "the tide"),
    (2, "the tide"),
    (3, "a grey ho"),
    (4, "said "),
    (5, "the tide"),
    (5, "qzxq"),
    (6, "truthf"),
    (6, "th"),
    (6, ""),
    (6, "x  "),
)
STARTS = (("the tide ", 18), ("the tide ", 0), ("", 1), ("zqzqzq", 18), ("be truthf", 9999), ("x  ", 7))
LOOKS = (
    ("there was a petition", 8, 6),
    ("there was a petition", 19, 4),
    ("there was a petition", 19, 6),
    ("a petition of all those", 20, 6),
    ("a petition of all those", 20, 1),
    ("qzx ", 3, 3),
    ("th", 1, 6),
    ("e", 0, 6),
)
TYPED = ("", "Mr. Keld: 'KINDLY", "<b onx=1>&amp;", "\u0130stanbul", "e\u0301e\u0000\u202e x", "  a\n\tb ", "9" * 50)


def _place(order: int, past: str) -> dict[str, Any]:
    text = load_text()
    probs = NGramLM(text.train_ids, order, len(text.vocab)).next_probs(text.vocab.encode(past)).tolist()
    ranked = sorted(zip(text.vocab.tokens, probs), key=lambda pair: -pair[1])
    return {"order": order, "past": past, "probs": probs, "ranking": "".join(x for x, _ in ranked)}


def _start(start: str, seed: int) -> dict[str, Any]:
    table = ContextTable(start=start, seed=seed)
    return {
        "start": table.start,
        "seed": seed,
        "writings": list(table.writings.values()),
        "copies": list(table.copies.values()),
    }


def _look(line: str, place: int, order: int) -> dict[str, Any]:
    table = ContextTable(line=line, place=place, order=order)
    return {"line": line, "place": place, "order": order, "rows": table.rows, "counts": table.counts}


def cases() -> dict[str, Any]:
    table = ContextTable()
    return {
        "vocab": table.vocab,
        "num_train": table.num_train,
        "text_length": len(table.text),
        "looks": [_look(*look) for look in LOOKS],
        "levels": table.levels,
        "random": {str(seed): list(islice(random_source(seed), 5)) for seed in (0, 1, 9999)},
        "typed": [{"typed": typed, "start": normalize(typed)[-40:]} for typed in TYPED],
        "places": [_place(*place) for place in PLACES],
        "starts": [_start(*start) for start in STARTS],
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
