"""Write the cases on which Python and JavaScript must agree: ``python tests/js/make_cases.py``.

Python is the reference: it computes every expected value here, and the node tests read the file. A test compares the
committed file with a fresh one.
"""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

from d2lrnn import metrics
from d2lrnn.widgets.perplexity import axis_position, format_choices
from d2lrnn.widgets.picture import format_number, format_probability, visible_character

FILE = Path(__file__).with_name("perplexity_cases.json")


def _probability_lists() -> list[list[float]]:
    rng = random.Random(7)
    by_hand = [
        [1.0],
        [0.0],
        [0.8],
        [0.2],
        [1 / 27] * 6,
        [1.0] * 5 + [0.0],
        [0.35, 0.1, 0.5, 0.8, 0.9, 0.95],
        [1e-300, 1.0],
        [5e-324, 0.5],
        [math.nextafter(1.0, 0.0)] * 3,
    ]
    drawn = [[rng.random() ** rng.choice((0.2, 1, 8)) for _ in range(rng.randint(1, 11))] for _ in range(40)]
    return by_hand + drawn


def _means(probs: list[float]) -> dict[str, float]:
    """Three means of the choices ``1 / p``."""
    return {
        "geometric": metrics.perplexity(probs),
        "arithmetic": math.fsum(1 / p if p > 0 else math.inf for p in probs) / len(probs),
        "harmonic": len(probs) / math.fsum(probs) if any(probs) else math.inf,
    }


def cases() -> dict[str, Any]:
    """All cases, with infinity written as a string, because JSON has no number for it."""
    sentences = (1.06, 1.25, 1.994, 1.996, 2.0, 2.834, 5.000000000000001, 10.04, 20.0, 99.9, 100.04, 1234.5, 2.5e7)
    numbers = (0.0, 0.07, 1.0, 2.094, 27.0, 99.99, 99.996, 333.33, 999.94, 999.96, 1234.5, 999_999.0, 2.5e7, math.inf)
    probabilities = (0, 1, 0.8, 0.123, 0.0994, 0.0996, 1 / 27, 0.00051, 4e-5, 1e-300, 0.994, 0.9951, 0.9994, 0.9996)
    characters = ("a", "Z", " ", "é", "\u0301", "\u00a0", "\u200d", "\u202e", "\u0007", "ש", "字", "👩")
    return _without_infinity(
        {
            "probs": [
                {
                    "probs": probs,
                    "bits": metrics.surprisal_bits(probs),
                    "mean_bits": metrics.bits_per_token(probs),
                    "perplexity": metrics.perplexity(probs),
                    "means": _means(probs),
                    "axis": [axis_position(bits) for bits in metrics.surprisal_bits(probs)],
                }
                for probs in _probability_lists()
            ],
            "sentences": [
                {"choices": value, "text": format_choices(value)}
                for value in sentences
            ],
            "numbers": [
                {"value": value, "decimals": decimals, "text": format_number(value, decimals)}
                for value in numbers
                for decimals in (0, 1, 2)
            ],
            "probabilities": [{"value": value, "text": format_probability(value)} for value in probabilities],
            "characters": [{"character": value, "text": visible_character(value)} for value in characters],
        }
    )


def _without_infinity(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_infinity(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_infinity(item) for item in value]
    return "Infinity" if value == math.inf else value


def text() -> str:
    return json.dumps(cases(), ensure_ascii=True, indent=1, allow_nan=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    print(f"wrote {FILE}")
