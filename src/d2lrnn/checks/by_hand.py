"""The self-checking exercises of the chapter *By hand, in numpy*."""

from __future__ import annotations

from d2lrnn.checks.exercise import Exercise

EXERCISES: tuple[Exercise, ...] = ()
