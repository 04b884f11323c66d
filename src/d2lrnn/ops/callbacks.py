"""Callbacks of `fit`: early stopping, snapshots, progress; what stores a training is in ``d2lrnn.ops.resuming``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable

import torch
from tqdm import tqdm

from d2lrnn.history import EpochRecord
from d2lrnn.ops.ranks import ProcessGroup
from d2lrnn.ops.resuming import Checkpointing, Interrupts, TrainingInterruptedError
from d2lrnn.training import Callback, Run

__all__ = [
    "Checkpointing",
    "EarlyStopping",
    "Interrupts",
    "KeepBest",
    "ProgressBar",
    "Snapshots",
    "TrainingInterruptedError",
]


def with_the_usual(
    callbacks: Iterable[Callback], device: str | torch.device | None, progress: bool
) -> tuple[ProcessGroup, list[Callback]]:
    """Who trains together, this process alone unless a group is among the callbacks; and who listens: that group first,
    the caller's callbacks, the progress bar, and what ends an interrupted training."""
    if not isinstance(callbacks, Iterable):
        raise TypeError(f"callbacks is of type {type(callbacks).__name__}; expected a list: callbacks=[...].")
    callbacks = list(callbacks)
    for callback in callbacks:
        if not isinstance(callback, Callback):
            raise TypeError(
                f"callbacks has {callback!r}; expected instances of d2lrnn.Callback, such as EarlyStopping(patience=3)."
            )
    groups = [callback for callback in callbacks if isinstance(callback, ProcessGroup)]
    stored = [callback for callback in callbacks if isinstance(callback, Checkpointing)]
    if len(stored) > 1:
        raise ValueError("There are two Checkpointing callbacks; a training has one checkpoint.")
    others = [callback for callback in callbacks if callback not in stored]
    others.sort(key=lambda callback: not isinstance(callback, ProcessGroup))
    listeners = [*others, *([ProgressBar()] if progress else []), Interrupts(*stored), *stored]
    return groups[0] if groups else ProcessGroup(device), listeners


class KeepBest(Callback):
    """At the end put back the weights of the epoch with the lowest held-out perplexity, ``history.best``.

    A training that diverges or is interrupted leaves the weights it had.

    Raises
    ------
    ValueError
        Before the training: if nothing is held out, or if a training goes on whose best epoch is behind it and whose
        checkpoint holds no weights of that epoch.

    Examples
    --------
    >>> import torch
    >>> import d2lrnn as d
    >>> ids = torch.arange(300) % 5
    >>> model, windows = d.RNNLM(d.RNNScratch(5, 8), 5), d.RandomWindows(ids, batch_size=4, num_steps=10)
    >>> history = d.fit(model, windows, epochs=3, lr=0.1, heldout_ids=ids[:50], progress=False, callbacks=[KeepBest()])
    >>> abs(d.evaluate(model, ids[:50]).perplexity - history.best.heldout.perplexity) < 1e-4
    True
    """

    keep_best = True

    def on_train_begin(self, run: Run) -> None:
        if run.heldout_ids is None:
            raise ValueError(f"{type(self).__name__} goes by the held-out perplexity; pass heldout_ids to fit.")
        best = run.history.best
        if not self.keep_best or best is None or run.best_weights is not None:
            return
        # A training goes on that kept none until now. The best weights may be those at hand, or they are lost.
        if not run._in_epoch:
            KeepBest.on_epoch_end(self, run)
        if run.best_weights is None:
            raise ValueError(
                f"{type(self).__name__} has no weights of the best epoch so far, epoch {best.epoch}: the training that "
                "goes on here was begun without it. Go on without it, or begin anew with it."
            )

    def on_epoch_end(self, run: Run) -> None:
        if run.history.best is run.history.epochs[-1]:
            run.best_weights = {name: tensor.clone() for name, tensor in run.model.state_dict().items()}


class EarlyStopping(KeepBest):
    """End after some epochs in a row without a lower held-out perplexity, and put the best weights back.

    Parameters
    ----------
    patience : int
        How many epochs. With the ``"one-cycle"`` schedule the cycle is still planned for all epochs, and an early end
        never gets to the low rates.
    keep_best : bool, default True

    Examples
    --------
    >>> EarlyStopping(patience=0)
    Traceback (most recent call last):
    ValueError: patience is 0; it counts epochs and must be at least 1.
    """

    def __init__(self, patience: int, *, keep_best: bool = True) -> None:
        if patience < 1:
            raise ValueError(f"patience is {patience}; it counts epochs and must be at least 1.")
        self.patience, self.keep_best = patience, keep_best

    def on_epoch_end(self, run: Run) -> None:
        if self.keep_best:
            super().on_epoch_end(run)
        best = run.history.best
        if best is not None and run.history.epochs[-1].epoch - best.epoch >= self.patience:
            run.stop(f"no better held-out perplexity for {self.patience} epochs")


class Snapshots(Callback):
    """Call a function after given numbers of updates, for example to store the weights of that moment.

    Parameters
    ----------
    steps : iterable of int
        0 is before the first update.
    take : callable
        Is given the :class:`Run`.

    Examples
    --------
    >>> import torch
    >>> import d2lrnn as d
    >>> windows = d.RandomWindows(torch.arange(300) % 5, batch_size=4, num_steps=10)
    >>> shots = Snapshots([0, 20], lambda run: print(run.step))
    >>> _ = d.fit(d.RNNLM(d.RNNScratch(5, 8), 5), windows, updates=20, lr=0.1, progress=False, callbacks=[shots])
    0
    20
    """

    def __init__(self, steps: Iterable[int], take: Callable[[Run], None]) -> None:
        self.steps, self.take = frozenset(steps), take

    def on_train_begin(self, run: Run) -> None:
        self.on_step_end(run)

    def on_step_end(self, run: Run) -> None:
        if run.step in self.steps:
            self.take(run)


class ProgressBar(Callback):
    """A bar of plain text with the perplexities. ``D2LRNN_STATIC=1`` in the environment silences it."""

    def on_train_begin(self, run: Run) -> None:
        # Plain text on purpose: tqdm.auto's widget makes a static page fetch scripts from the network. In a notebook
        # it goes to stdout, because stderr has a red ground there.
        self._bar = tqdm(
            total=run.total_steps,
            initial=run.step,
            unit="step",
            file=sys.stdout if _in_a_notebook() else sys.stderr,
            disable=not run.group.is_main or os.environ.get("D2LRNN_STATIC") == "1",
        )

    def on_step_end(self, run: Run) -> None:
        self._bar.update()

    def on_epoch_end(self, run: Run) -> None:
        end = "" if run.stopped is None else f", stopped: {run.stopped}"
        self._bar.set_postfix_str(in_words(run.history.epochs[-1]) + end)

    def on_train_end(self, run: Run) -> None:
        self._bar.close()


def _in_a_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def in_words(record: EpochRecord) -> str:
    """One epoch in a line."""
    heldout = f", held-out {record.heldout.perplexity:.2f}" if record.heldout else ""
    return f"epoch {record.epoch}: training perplexity {record.train.perplexity:.2f}{heldout}"
