"""Compare stored cases with fresh ones."""

from __future__ import annotations

import math
from typing import Any


def differences(
    fresh: Any, stored: Any, place: str = "", *, rel_tol: float = 1e-9, abs_tol: float = 1e-12
) -> list[str]:
    """Places where two trees of numbers part; another processor may add up in another order."""

    def within(new: Any, old: Any, where: str) -> list[str]:
        return differences(new, old, where, rel_tol=rel_tol, abs_tol=abs_tol)

    if isinstance(fresh, float) and isinstance(stored, int | float):
        close = math.isclose(fresh, stored, rel_tol=rel_tol, abs_tol=abs_tol)
        return [] if close else [f"{place}: {fresh}, {stored}"]
    if isinstance(fresh, dict) and isinstance(stored, dict) and fresh.keys() == stored.keys():
        return [line for key in fresh for line in within(fresh[key], stored[key], f"{place}/{key}")]
    if isinstance(fresh, list) and isinstance(stored, list) and len(fresh) == len(stored):
        return [line for i, pair in enumerate(zip(fresh, stored)) for line in within(*pair, f"{place}[{i}]")]
    return [] if fresh == stored else [f"{place}: {fresh!r}, {stored!r}"]
