"""The self-checking exercises of the chapter *From text to minibatches*."""

from __future__ import annotations

from d2lrnn.checks.exercise import Exercise

EXERCISES: tuple[Exercise, ...] = ()
