"""Write the cases on which ``NextCharacter`` in Python and in the page must agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from d2lrnn.widgets import NextCharacter

FILE = Path(__file__).with_name("next_character_cases.json")
_GIVEN = ("", "the tide clo", "The TIDE, Mr Keld -- said", "q", "and then the", "<b>wave</b>", " ", "aunt")
_CUTS = (
    {"kind": "top-p", "top_p": 1.0, "top_k": 27},
    {"kind": "top-p", "top_p": 0.9, "top_k": 3},
    {"kind": "top-k", "top_p": 0.5, "top_k": 4},
)


def cases() -> list[dict[str, Any]]:
    found = []
    for i, given in enumerate(_GIVEN):
        cut = _CUTS[i % len(_CUTS)]
        widget = NextCharacter(text=given, seed=i, **cut)
        ranked = [[name, round(p, 9), round(q, 9)] for name, p, q in widget.ranked[:6]]
        written = list(widget.writings.values())
        found.append({"given": given, "text": widget.text, "seed": i, **cut, "ranked": ranked, "written": written})
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), indent=0) + "\n", encoding="utf-8")
    print(f"wrote {FILE}")
