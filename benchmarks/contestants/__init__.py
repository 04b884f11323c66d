"""The contestants, one module each, in the order of the tables.

A contestant is a module with

``TITLE``
    its name in the tables;
``ROLE``
    ``"peer"``, ``"ours"``, or ``"limit"`` for the matrix products alone, which learn nothing;
``SETTINGS``
    the letters of the settings that it enters;
``why_not(task)``
    the reason why it can't run here, or None;
``train(task, stream, losses)``
    which starts from ``task.weights`` and takes one training step for every minibatch of the stream, to its end.
    The mean loss of each minibatch before its update, in nats per token, goes into the list `losses`, unless that is
    None. The stream is the stopwatch (see `benchmarks.worker`): a step ends when the next minibatch is asked for.

A module that is of no interest on some devices has ``DEVICES``, those where it enters; elsewhere it has no row.
A module that computes in another precision says in ``LOSS_TOLERANCE`` how far off its losses may be, in nats.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from benchmarks.settings import Array, Setting

NAMES = (
    "d2l_old_scratch",
    "d2l_old_concise",
    "d2l_new_scratch",
    "d2l_new_concise",
    "dlfs2",
    "torch_rnn",
    "ours_manual",
    "ours_autograd",
    "ours_graph",
    "ours",
    "limit_numpy",
    "limit_torch",
)
BASELINE = {"A": "d2l_old_scratch", "B": "d2l_old_scratch", "C": "d2l_old_scratch", "D": "dlfs2"}


@dataclass(frozen=True)
class Task:
    """What a contestant is given.

    Attributes
    ----------
    setting : Setting
    weights : dict of str to float32 array
        See :func:`benchmarks.settings.starting_weights`.
    device : "cpu" or "cuda"
    peers : Path
        Folder with one folder for each peer's package, such as ``d2l-0.17.6``.
    """

    setting: Setting
    weights: dict[str, Array]
    device: str
    peers: Path


class Stream(Protocol):
    """Minibatches ``(X, Y)`` of int64 tensors on the task's device, each (batch_size, num_steps).

    It has what the package's `fit` asks of windows.
    """

    carries_state: bool

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[tuple[Any, Any]]: ...


def load(name: str) -> ModuleType:
    """The contestant's module; what it is made of is imported with it, so only its own process does this."""
    if name not in NAMES:
        raise ValueError(f"There is no contestant {name!r}; the contestants are {', '.join(NAMES)}.")
    return importlib.import_module(f"benchmarks.contestants.{name}")
