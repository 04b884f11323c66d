"""The page's random numbers in Python, so that a draw with the same seed is the same on both sides."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["random_source"]

_MASK = 0xFFFFFFFF


def random_source(seed: int) -> Iterator[float]:
    """Uniform numbers in [0, 1), the same as ``randomSource`` of ``core.mjs`` (mulberry32).

    Examples
    --------
    >>> numbers = random_source(0)
    >>> [round(next(numbers), 4) for _ in range(3)]
    [0.2664, 0.0003, 0.2233]
    """
    a = seed & _MASK
    while True:
        a = (a + 0x6D2B79F5) & _MASK
        z = ((a ^ (a >> 15)) * (a | 1)) & _MASK
        z ^= (z + (((z ^ (z >> 7)) * (z | 61)) & _MASK)) & _MASK
        yield (z ^ (z >> 14)) / 2**32
