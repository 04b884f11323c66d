"""Write the cases on which ``Concatenation`` in Python and in the page must agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from d2lrnn.widgets import Concatenation

FILE = Path(__file__).with_name("concatenation_cases.json")


def one_product(widget: Concatenation, swapped: bool = False, memory_first: bool = False) -> list[float]:
    widget.update(glued=True, swapped=swapped, memory_first=memory_first)
    return widget.one_product.flatten().tolist()


def cases() -> list[dict[str, Any]]:
    found = []
    for n, d, h, seed in [(2, 3, 3, 3), (1, 1, 1, 0), (4, 4, 4, 17), (3, 1, 4, 9999), (2, 4, 2, 5)]:
        settings = {"batch_size": n, "num_inputs": d, "num_hiddens": h, "seed": seed}
        widget = Concatenation(**settings, row=0, column=0)
        X, W_xh, H, W_hh = (m.tolist() for m in widget.matrices)
        found.append(
            {
                "settings": settings,
                "matrices": {"X": X, "W_xh": W_xh, "H": H, "W_hh": W_hh},
                "exact": widget.two_products.flatten().tolist(),
                "swapped": one_product(widget, swapped=True),
                "memory_first": one_product(widget, memory_first=True),
            }
        )
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"wrote {FILE}")
