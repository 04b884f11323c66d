"""The self-checking exercises of the chapter *The concatenation identity*."""

from __future__ import annotations

from d2lrnn.checks.exercise import Exercise

EXERCISES: tuple[Exercise, ...] = ()
