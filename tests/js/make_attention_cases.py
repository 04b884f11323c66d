"""Write the cases on which ``Attention`` in Python and in the page must agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from d2lrnn.widgets import Attention

FILE = Path(__file__).with_name("attention_cases.json")
_TEXTS = {"And then there was another": (1, 2, 9, 26), "quixotl zz": (10,), "e e e e": (7,), "x" * 60: (36,)}


def cases() -> list[dict[str, Any]]:
    found = []
    for given, places in _TEXTS.items():
        for place in places:
            widget = Attention(text=given, place=place, letter=place // 2)
            found.append(
                {
                    "given": given,
                    "text": widget.text,
                    "place": place,
                    "heads": [[round(p, 6) for p in row] for row in widget.attention_weights.tolist()],
                    "traces": [round(trace, 6) for trace in widget.state_traces],
                    "probs": [[round(p, 6) for p in row] for row in widget.probs.tolist()],
                    "replaced": [[round(p, 6) for p in row] for row in widget.probs_replaced.tolist()],
                    "sentence": widget.static_sentence(),
                }
            )
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"wrote {FILE}")
