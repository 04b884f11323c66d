"""Write the cases on which ``SurpriseMap`` in Python and in the page must agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from d2lrnn.widgets import SurpriseMap

FILE = Path(__file__).with_name("surprise_map_cases.json")
_TEXTS = ("The Tide Clock; quixotl", "he", "x" * 900, SurpriseMap.text.default_value)


def cases() -> list[dict[str, Any]]:
    found = []
    for given in _TEXTS:
        for stage in SurpriseMap.stage.values:
            widget = SurpriseMap(text=given, stage=stage)
            found.append(
                {
                    "given": given,
                    "text": widget.text,
                    "stage": stage,
                    "bits": [round(b, 6) for b in widget.bits[:40]],
                    "rate": round(widget.bits_per_character, 6),
                    "perplexity": round(widget.perplexity, 6),
                    "bytes": widget.packed_bytes,
                }
            )
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"wrote {FILE}")
