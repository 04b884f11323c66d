"""The self-checking exercises of the chapter *Perplexity*."""

from __future__ import annotations

from d2lrnn.checks.exercise import Exercise

EXERCISES: tuple[Exercise, ...] = ()
