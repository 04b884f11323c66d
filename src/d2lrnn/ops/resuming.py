"""What a training must remember, and when, so that it can stop at any step and go on as if nothing had happened."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from d2lrnn.model import RNNLM
from d2lrnn.ops.checkpoint import Checkpoint, CheckpointError, save_checkpoint
from d2lrnn.ops.ranks import Ranks
from d2lrnn.text import Vocab
from d2lrnn.windows import Batch, RandomWindows, SequentialWindows

__all__ = ["Checkpoints", "Interrupts", "Place", "RandomStates", "TrainingInterruptedError"]

Tree = dict[str, Any]


class TrainingInterruptedError(KeyboardInterrupt):
    """Training was told to stop (Ctrl-C, or SIGTERM), and did after the step in hand, with a checkpoint.

    Attributes
    ----------
    path : Path
        Of the checkpoint.
    signal : int
        SIGINT or SIGTERM.
    """

    def __init__(self, message: str, path: Path, signal: int) -> None:
        super().__init__(message)
        self.path, self.signal = path, signal


@dataclass
class Checkpoints:
    """Where and how often `fit` stores how far it has come.

    Parameters
    ----------
    path : str or path
        One file, replaced each time; see :func:`d2lrnn.save_checkpoint`.
    vocab : Vocab, optional
        Stored with the model, so that the file is all one needs to generate and to score.
    settings : mapping, optional
        Stored with it: anything that JSON holds.
    every_seconds : float or None, default 60
    every_steps : int or None
        Store when one of them has passed since the last time; and always at the end, and when interrupted.

    Raises
    ------
    ValueError
        If an interval is not above 0.

    Examples
    --------
    >>> Checkpoints("tide.safetensors", every_seconds=None, every_steps=100).is_due(step=100)
    True
    """

    path: str | os.PathLike[str]
    vocab: Vocab | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    every_seconds: float | None = 60.0
    every_steps: int | None = None

    def __post_init__(self) -> None:
        self.path = Path(self.path)
        for name in ("every_seconds", "every_steps"):
            if (interval := getattr(self, name)) is not None and not interval > 0:
                raise ValueError(f"{name} is {interval}; it must be more than 0, or None to leave it out.")
        self.start(step=0)

    def start(self, step: int) -> None:
        """Begin to count from here."""
        self._step, self._moment = step, time.monotonic()

    def is_due(self, step: int) -> bool:
        """Whether it is time, when so many steps have been made."""
        if self.every_steps is not None and step - self._step >= self.every_steps:
            return True
        return self.every_seconds is not None and time.monotonic() - self._moment >= self.every_seconds

    def save(self, model: RNNLM, progress: Tree, step: int) -> None:
        save_checkpoint(self.path, model, self.vocab, settings=self.settings, progress=progress)
        self.start(step)


@dataclass
class Place:
    """How far an epoch has come: the next minibatch, and the sums over those before it.

    Attributes
    ----------
    epoch, batch : int
        The epoch in hand, counted from 1, and how many of its minibatches are done.
    total_nats, num_tokens, seconds : float, int, float
    """

    epoch: int = 1
    batch: int = 0
    total_nats: float = 0.0
    num_tokens: int = 0
    seconds: float = 0.0


class RandomStates:
    """The states of all random numbers that a training draws: of the windows, and of torch (for dropout) on each rank.

    The order of an epoch's windows is drawn at its beginning. To go on in the middle of it the same order is drawn
    again from the state of that moment, and then everything is set to where it stood when the training stopped.
    """

    def __init__(self, windows: RandomWindows | SequentialWindows, ranks: Ranks) -> None:
        self._generator: torch.Generator | None = None
        if hasattr(windows, "generator"):
            self._generator = windows.generator or torch.default_generator
        self._ranks = ranks
        self.start_epoch()

    def of_windows(self) -> list[int] | None:
        return None if self._generator is None else self._generator.get_state().tolist()

    def start_epoch(self) -> None:
        """Remember where the random numbers stand before the order of an epoch is drawn."""
        self._at_start_of_epoch = None if self._generator is None else self._generator.get_state()

    def take_up(self, state: Tree, windows: RandomWindows | SequentialWindows, batch: int) -> Iterator[Batch]:
        """The minibatches of the epoch that was interrupted, from number `batch` on."""
        self._at_start_of_epoch = state["at_start_of_epoch"]
        if self._generator is not None:
            self._generator.set_state(self._at_start_of_epoch)
        minibatches = windows.batches(batch)
        self.load_state_dict(state)
        return minibatches

    def state_dict(self) -> Tree:
        """All ranks must call it together."""
        device = self._ranks.device
        cuda = torch.cuda.get_rng_state(device) if device.type == "cuda" else torch.empty(0, dtype=torch.uint8)
        return {
            "at_start_of_epoch": self._at_start_of_epoch,
            "windows": None if self._generator is None else self._generator.get_state(),
            "torch": self._ranks.gather(torch.get_rng_state()),
            "cuda": self._ranks.gather(cuda),
        }

    def load_state_dict(self, state: Tree) -> None:
        """To the moment that was stored."""
        ranks = self._ranks
        if len(state["torch"]) == ranks.world_size:  # with other ranks than then, dropout falls otherwise
            torch.set_rng_state(state["torch"][ranks.rank])
            if ranks.device.type == "cuda" and len(cuda := state["cuda"][ranks.rank]):
                torch.cuda.set_rng_state(cuda, ranks.device)
        if self._generator is not None:
            self._generator.set_state(state["windows"])


class Interrupts:
    """While a ``with`` lasts, Ctrl-C and SIGTERM wait until the step in hand is done; a second Ctrl-C does not.

    An update that is cut off in the middle would leave weights that are neither the old nor the new ones.

    Attributes
    ----------
    signal : int or None
        What came.
    """

    def __init__(self, *, active: bool, ranks: Ranks) -> None:
        # Outside the main thread Python takes no signals. Among several ranks the launcher repeats what the terminal
        # sends, so there a second signal means nothing; it ends those that do not listen by itself.
        self._active = active and threading.current_thread() is threading.main_thread()
        self._patient = ranks.world_size > 1
        self._before: dict[int, Any] = {}
        self.signal: int | None = None

    def __enter__(self) -> Interrupts:
        if self._active:
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: object) -> None:
        if self.signal is not None and not self._patient:
            raise KeyboardInterrupt
        self.signal = number


def check_same_run(checkpoint: Checkpoint, path: Path, model: RNNLM, about: Tree) -> None:
    """Whether a stored training is the one that is to go on.

    Raises
    ------
    CheckpointError
        If the model or a setting is another one: the end would be neither that of the one nor of the other.
    """
    if checkpoint.progress is None:
        raise CheckpointError(f"The checkpoint {str(path)!r} holds a model and no training that could go on.")
    stored, given = checkpoint.progress["run"], about
    different = [
        f"{name} was {stored.get(name)!r} and is {given.get(name)!r}"
        for name in sorted({*stored, *given})
        if stored.get(name) != given.get(name)
    ]
    shapes = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    if type(checkpoint.model.rnn) is not type(model.rnn) or shapes != {
        name: tuple(tensor.shape) for name, tensor in checkpoint.model.state_dict().items()
    }:
        different.append("the model is of another kind or size")
    if different:
        raise CheckpointError(
            f"The checkpoint {str(path)!r} is of another training: {'; '.join(different)}. Go on with the same "
            "settings, or begin a new training at another path."
        )


def describe_windows(windows: RandomWindows | SequentialWindows) -> Tree:
    """What decides which minibatches come, but for the text itself."""
    names = ("batch_size", "num_steps", "overlap", "replacement", "num_batches", "offset")
    about = {name: value for name in names if isinstance(value := getattr(windows, name, None), int)}
    return {"windows": type(windows).__name__, "num_tokens": len(windows.ids), "minibatches": len(windows), **about}
