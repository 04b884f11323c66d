"""How many updates fit into a given time: found by a short trial, so that the run can be repeated exactly."""

from __future__ import annotations

import copy
import time
from typing import Any

import torch

from d2lrnn.model import RNNLM, evaluate
from d2lrnn.ops.callbacks import TrainingInterruptedError
from d2lrnn.ops.ranks import ProcessGroup
from d2lrnn.training import Callback, Run, fit
from d2lrnn.windows import RandomWindows, SequentialWindows

__all__ = ["MAX_REPORTS", "updates_in"]

MAX_REPORTS = 200  # of a training whose epochs are very short


class _Stopwatch(Callback):
    """The time of all steps but the first, which pays for what is made only once."""

    def on_step_end(self, run: Run) -> None:
        if run.step == 1:
            self.start = time.perf_counter()
        self.seconds = time.perf_counter() - self.start


def updates_in(
    seconds: float,
    model: RNNLM,
    windows: RandomWindows | SequentialWindows,
    validation_ids: torch.Tensor | None,
    group: ProcessGroup,
    **how: Any,
) -> int:
    """How many updates take so long together with the scoring after each epoch, the trial included.

    Parameters
    ----------
    seconds : float
    model, windows, group
        As they will train. The model is not changed.
    validation_ids : integer Tensor or None
        What is scored after each epoch.
    how
        Arguments of :func:`d2lrnn.fit`.
    """
    begin = time.perf_counter()
    scoring_s = 0.0
    if validation_ids is not None:
        sample = validation_ids[:2000]
        evaluate(model, sample)  # the first time pays for what is made only once
        start = time.perf_counter()
        evaluate(model, sample)
        scoring_s = (time.perf_counter() - start) * len(validation_ids) / len(sample)
    how["lr"] /= 1000  # a trial must not diverge
    count = 2
    while True:
        watch = _Stopwatch()
        try:
            fit(copy.deepcopy(model), windows, updates=count, progress=False, callbacks=[group, watch], **how)
        except TrainingInterruptedError as stopped:
            stopped.args = ("stopped before the training began",)
            raise
        # Rank 0 decides for all, who must make the same number of steps.
        numbers = torch.tensor([watch.seconds, scoring_s, time.perf_counter() - begin], dtype=torch.float64)
        trial_s, scoring_s, spent_s = group.broadcast(numbers).tolist()
        if trial_s >= seconds / 100:
            break
        count *= 2
    step_s = trial_s / (count - 1)
    left_s = seconds - spent_s
    updates = max(left_s / (step_s + scoring_s / len(windows)), (left_s - MAX_REPORTS * scoring_s) / step_s)
    return max(1, round(updates))
