"""Recorded runs: what took longer than a chapter may, stored with the package and drawn by the chapters.

``benchmarks/compare_layers.py`` repeats the trainings, ``benchmarks/run.py`` the timings.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

__all__ = ["NAMES", "load_recorded"]

#: What there is, by name.
NAMES = ("after_the_chain", "benchmarks", "gates", "recall")


def load_recorded(name: str) -> dict[str, Any]:
    """A recorded run by its name.

    Parameters
    ----------
    name : str
        One of `NAMES`.

    Returns
    -------
    dict
        With the machine and the date of the run.

    Raises
    ------
    ValueError
        If there is no run of that name.

    Examples
    --------
    >>> sorted(load_recorded("gates"))[:2]
    ['date', 'layers']
    """
    if name not in NAMES:
        raise ValueError(f"There is no recorded run {name!r}; choose one of {', '.join(NAMES)}.")
    return json.loads(files("d2lrnn").joinpath("data", "recorded", f"{name}.json").read_text(encoding="utf-8"))
