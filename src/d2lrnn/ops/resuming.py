"""Trainings that can stop and go on: checkpoints on the way, and an end without a broken step."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import threading
import time
import warnings
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from d2lrnn.history import History
from d2lrnn.model import RNNLM
from d2lrnn.ops.checkpoint import CheckpointError, check_storable, load_checkpoint, save_checkpoint
from d2lrnn.ops.ranks import ProcessGroup
from d2lrnn.text import Vocab
from d2lrnn.training import Callback, Run

__all__ = ["Checkpointing", "Interrupts", "TrainingInterruptedError"]


class TrainingInterruptedError(KeyboardInterrupt):
    """Training was told to stop (Ctrl-C, or SIGTERM), and did after the step in hand.

    Attributes
    ----------
    path : Path or None
        Of the checkpoint, if there is one to go on from.
    signal : int
        SIGINT or SIGTERM.
    history : History
    """

    def __init__(self, message: str, path: Path | None, signal: int, history: History) -> None:
        super().__init__(message)
        self.path, self.signal, self.history = path, signal, history


class Interrupts(Callback):
    """Let Ctrl-C and SIGTERM wait until the step in hand is done; a second Ctrl-C does not wait.

    An update that is cut off in the middle would leave weights that are neither the old nor the new ones. `fit` adds
    it by itself. After the step it raises :class:`TrainingInterruptedError`, or leaves that to `checkpointing`, which
    stores first.
    """

    begins_first = True

    def __init__(self, checkpointing: Checkpointing | None = None) -> None:
        self.checkpointing = checkpointing
        self._before: dict[int, Any] = {}

    def on_train_begin(self, run: Run) -> None:
        # Outside the main thread Python takes no signals. Among several processes the launcher repeats what the
        # terminal sends, so there a second signal means nothing; it ends those that do not listen by itself.
        def note(number: int, frame: object) -> None:
            if run.interrupted is not None and run.group.world_size == 1:
                raise KeyboardInterrupt
            run.interrupted = number

        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, note)

    def on_step_end(self, run: Run) -> None:
        if run.interrupted is not None and self.checkpointing is None:
            raise interrupted(run, None)

    def on_train_end(self, run: Run) -> None:
        for number, handler in self._before.items():
            if handler is not None:  # None: it was not installed by Python
                signal.signal(number, handler)
        if run.is_finished and run.interrupted is not None:  # during the last step or the last scoring
            raise interrupted(run, None if self.checkpointing is None else self.checkpointing.path)


def interrupted(run: Run, path: Path | None) -> TrainingInterruptedError:
    where = "" if path is None else f", and is stored in {str(path)!r}: it goes on from there with resume=True"
    return TrainingInterruptedError(
        f"Training was stopped after step {run.step:,} of {run.total_steps:,}{where}.",
        path,
        run.interrupted or signal.SIGINT,  # of another process, where this one got none
        run.history,
    )


class Checkpointing(Callback):
    """Store the training in a file every now and then, at the end, and when it is interrupted.

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
        Store when one of them has passed since the last time.
    resume : bool, default False
        Go on where the training in the file stopped, at any step; begin if there is no file yet. Model, windows and
        settings must be made as they were then (with a constant learning rate, more steps may follow if the last epoch
        was complete). The weights come out as those of a training that never stopped, bit for bit on one device (on
        Apple's MPS not with dropout, whose random numbers are not stored).
    overwrite : bool, default False
        Begin anew even if the file is there.

    Raises
    ------
    ValueError
        If an interval is not above 0, or `resume` and `overwrite` are both asked for.
    CheckpointError
        Before the training: if the file is there and neither is, if it is of another training, if its folder cannot
        be written to, or if a folder is in its place. At its end: if the file cannot be written; then the training is
        stored in a new folder in the home folder or among the temporary files, which the message names. In between that
        is a warning, and tried again.

    Examples
    --------
    >>> Checkpointing("tide.safetensors", every_steps=100).path.name
    'tide.safetensors'
    """

    begins_first = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        vocab: Vocab | None = None,
        settings: Mapping[str, Any] | None = None,
        *,
        every_seconds: float | None = 60.0,
        every_steps: int | None = None,
        resume: bool = False,
        overwrite: bool = False,
    ) -> None:
        for name, interval in (("every_seconds", every_seconds), ("every_steps", every_steps)):
            if interval is not None and not interval > 0:
                raise ValueError(f"{name} is {interval}; it must be more than 0, or None to leave it out.")
        if resume and overwrite:
            raise ValueError("resume=True goes on with the file, and overwrite=True begins anew; choose one of them.")
        self.path, self.vocab, self.settings = Path(path).expanduser(), vocab, settings
        self.every_seconds, self.every_steps = every_seconds, every_steps
        self.resume, self.overwrite = resume, overwrite

    def on_train_begin(self, run: Run) -> None:
        ids = getattr(run.windows, "ids", None)  # the beginning: a memory map may hold gigabytes
        run.settings |= {"text": fingerprint(ids[:1_000_000]) if isinstance(ids, torch.Tensor) else None}
        run.settings |= {"heldout": None if run.heldout_ids is None else fingerprint(run.heldout_ids)}
        run.settings |= {"dropout": run.model.dropout, "dtype": str(run.model.W_hq.dtype)}
        run.settings |= {"weight_drop": getattr(run.model.rnn, "weight_drop", 0.0)}
        for what, example in ((run.windows, "RandomWindows"), (run.stepper.optimizer, "optim.AdamW")):
            if not (hasattr(what, "state_dict") and hasattr(what, "load_state_dict")):
                raise TypeError(
                    f"Checkpointing stores windows and optimiser, and {type(what).__name__} has no state_dict and "
                    f"load_state_dict, as {example} has."
                )
        there = bool(run.group.broadcast(torch.tensor(float(self.path.exists()))))
        check_writable(self.path)
        if there and not (self.resume or self.overwrite):
            raise CheckpointError(
                f"{str(self.path)!r} is there already. Pass resume=True to go on with that training, overwrite=True to "
                "begin anew, or another path."
            )
        check_storable(run.model, self.vocab, self.settings, run.state_dict())
        if there and self.resume:
            self._resume(run)
        self._start_counting(run)

    def on_step_end(self, run: Run) -> None:
        stop, store = run.group.consensus(run.interrupted is not None, self._is_due(run))
        if stop:
            self._store(run, last=True)
            raise interrupted(run, self.path)
        if store:
            try:
                self._store(run)
            except CheckpointError as error:
                warnings.warn(f"{error} Training goes on, and this is tried again.", stacklevel=2)
                self._start_counting(run)

    def on_train_end(self, run: Run) -> None:
        if run.is_finished:
            self._store(run, last=True)

    def _is_due(self, run: Run) -> bool:
        if self.every_steps is not None and run.step - self._step >= self.every_steps:
            return True
        return self.every_seconds is not None and time.monotonic() - self._moment >= self.every_seconds

    def _start_counting(self, run: Run) -> None:
        self._step, self._moment = run.step, time.monotonic()

    def _store(self, run: Run, last: bool = False) -> None:
        """All processes together; the main one writes. The last time it writes elsewhere if it cannot write here."""
        progress = run.state_dict() | {"random": random_state(run.group)}

        def write(path: Path) -> None:
            save_checkpoint(path, run.model, self.vocab, settings=self.settings, progress=progress)

        if run.group.is_main:
            try:
                write(self.path)
            except CheckpointError as error:
                if last and (other := write_elsewhere(self.path.name, write)):
                    reason = error.__cause__.strerror if isinstance(error.__cause__, OSError) else error
                    raise CheckpointError(
                        f"The checkpoint {str(self.path)!r} could not be written ({reason}), so the training is stored "
                        f"in {str(other)!r}."
                    ) from error
                raise
        self._start_counting(run)

    def _resume(self, run: Run) -> None:
        layer = type(run.model.rnn)
        loaded = load_checkpoint(self.path, weights="last", layers={layer.__name__: layer}, model=type(run.model))
        progress = check_same_run(self.path, loaded.model, loaded.progress, run)
        run.model.load_state_dict(loaded.model.state_dict())
        run.load_state_dict(progress)
        set_random_state(run.group, progress["random"])


def check_writable(path: Path) -> None:
    """Raise :class:`CheckpointError` now, and not after the training, if a file cannot be written there."""
    if path.is_dir():
        raise CheckpointError(f"The checkpoint {str(path)!r} cannot be written: a folder is there. Name a file in it.")
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.touch()
    except OSError as error:
        raise CheckpointError(
            f"The checkpoint {str(path)!r} cannot be written ({error.strerror}). Choose a path in a folder that exists "
            "and that you may write to."
        ) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


def write_elsewhere(name: str, write: Callable[[Path], None]) -> Path | None:
    """Write a file of this name into a new folder in the home folder or, if need be, among the temporary files."""
    for place in (os.path.expanduser("~"), tempfile.gettempdir()):
        with contextlib.suppress(OSError, CheckpointError), contextlib.ExitStack() as undo:
            folder = Path(tempfile.mkdtemp(prefix="d2lrnn-", dir=place))
            undo.callback(folder.rmdir)
            write(folder / name)
            undo.pop_all()
            return folder / name
    return None


def fingerprint(ids: torch.Tensor) -> str:
    """A short name for a row of token indices."""
    return f"{len(ids)} tokens, CRC-32 {zlib.crc32(ids.to(torch.int64).cpu().numpy().tobytes()):08x}"


def random_state(group: ProcessGroup) -> dict[str, Any]:
    """The state of torch's random numbers (for dropout) on each process. All of them call it together."""
    cuda = torch.cuda.get_rng_state(group.device) if group.device.type == "cuda" else torch.empty(0, dtype=torch.uint8)
    return {"torch": group.gather(torch.get_rng_state()), "cuda": group.gather(cuda)}


def set_random_state(group: ProcessGroup, state: Mapping[str, Any]) -> None:
    """To the moment that was stored, if there were as many processes."""
    if len(state["torch"]) == group.world_size:
        torch.set_rng_state(state["torch"][group.rank])
        if group.device.type == "cuda" and len(cuda := state["cuda"][group.rank]):
            torch.cuda.set_rng_state(cuda, group.device)


def check_same_run(path: Path, model: RNNLM, progress: dict[str, Any] | None, run: Run) -> dict[str, Any]:
    """The stored progress, if it is of the training that is to go on.

    Raises
    ------
    CheckpointError
        If the model or a setting is another one: the end would be neither that of the one nor of the other.
    """
    if progress is None or "settings" not in progress:
        what = "holds a model and no training" if progress is None else "is of a version whose trainings are not kept"
        raise CheckpointError(f"The checkpoint {str(path)!r} {what} that could go on; its model can be loaded.")
    stored, given = progress["settings"], run.settings
    # With a constant rate, more steps change nothing in those that were made, if their epoch was made to its end.
    if given["schedule"] == "constant" and (progress["in_epoch"] or progress["step"] % given["minibatches"] == 0):
        stored = stored | {"updates": max(given["updates"], progress["step"])}
    different = [
        f"{name} was {stored.get(name)!r} and is {given.get(name)!r}"
        for name in sorted({*stored, *given})
        if stored.get(name) != given.get(name)
    ]
    shapes = {name: tuple(tensor.shape) for name, tensor in run.model.state_dict().items()}
    if type(model.rnn) is not type(run.model.rnn) or shapes != {
        name: tuple(tensor.shape) for name, tensor in model.state_dict().items()
    }:
        different.append("the model is of another kind or size")
    if len(different) == 1 and given["schedule"] == "constant" and stored["updates"] < given["updates"]:
        different[0] += " (it ended within an epoch, and more updates can follow only a complete one)"
    if different:
        raise CheckpointError(
            f"The checkpoint {str(path)!r} is of another training: {'; '.join(different)}. Go on with the same "
            "settings, or begin a new training at another path."
        )
    return progress
