"""Write the cases on which ``Attention`` in Python and in the page must agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from d2lrnn.widgets import Attention

FILE = Path(__file__).with_name("attention_cases.json")
_TEXTS = ("A", "And then there was another one", "quixotl zz", "e e e e ", "x" * 60)


def cases() -> list[dict[str, Any]]:
    found = []
    for given in _TEXTS:
        widget = Attention(text=given)
        widget.letter = len(widget.text) // 2
        found.append(
            {
                "given": given,
                "text": widget.text,
                "heads": [[round(p, 6) for p in row] for row in widget.attention_weights.tolist()],
                "effects": [[round(effect, 6) for effect in row] for row in widget.effects.tolist()],
                "probs": [[round(p, 6) for p in row] for row in widget.probs.tolist()],
                "replaced": [[round(p, 6) for p in row] for row in widget.probs_replaced.tolist()],
                "sentence": widget.static_sentence(),
            }
        )
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"wrote {FILE}")
