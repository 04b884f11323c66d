"""Write the cases on which ``NextCharacter`` in Python and in the page must agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from d2lrnn.widgets import NextCharacter

FILE = Path(__file__).with_name("next_character_cases.json")
_GIVEN = ("", "the tide clo", "The TIDE, Mr Keld -- said", "q", "x" * 450 + " and then the", "<b>wave</b>", " ", "aunt")
_SETTINGS = (
    {"temperature": 1.0, "top_k": 0, "top_p": 1.0},
    {"temperature": 0.5, "top_k": 4, "top_p": 0.9},
    {"temperature": 0.0, "top_k": 0, "top_p": 1.0},
    {"temperature": 2.0, "top_k": 0, "top_p": 0.6},
)


def cases() -> list[dict[str, Any]]:
    found = []
    for i, given in enumerate(_GIVEN):
        settings = _SETTINGS[i % len(_SETTINGS)]
        widget = NextCharacter(text=given, **settings)
        ranked = [[name, round(p, 9), round(q, 9)] for name, p, q in widget.ranked[:6]]
        found.append(
            {
                "given": given,
                "text": widget.text,
                "settings": settings,
                "ranked": ranked,
                "choices": [round(value, 6) for value in widget.choices],
            }
        )
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), indent=0) + "\n", encoding="utf-8")
    print(f"wrote {FILE}")
