"""Training: windows give a minibatch, a step gives loss and gradient norm, a record is kept, callbacks hear of it."""

from __future__ import annotations

import math
import numbers
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import Any, Literal

import torch

import d2lrnn
from d2lrnn.history import EpochRecord, History
from d2lrnn.metrics import Score
from d2lrnn.model import RNNLM, check_ids, check_model, evaluate
from d2lrnn.optim import Optimizer, Schedule, cycled_momentum, learning_rate
from d2lrnn.text import as_row
from d2lrnn.windows import Batch, RandomWindows, SequentialWindows

__all__ = ["Callback", "EpochRecord", "History", "Run", "TrainingDivergedError", "fit"]


class TrainingDivergedError(ArithmeticError):
    """The loss or the gradient stopped being a finite number.

    The weights are those before the step that failed, and :attr:`history` holds all that was recorded until then.

    Examples
    --------
    >>> from d2lrnn import RNNLM, RandomWindows, RNNScratch
    >>> windows = RandomWindows(torch.arange(200) % 5, batch_size=4, num_steps=10)
    >>> try:
    ...     _ = fit(RNNLM(RNNScratch(5, 8), 5), windows, epochs=9, lr=1e38, optimizer="sgd", clip=None, progress=False)
    ... except TrainingDivergedError as error:
    ...     print(len(error.history.step_losses) > 0)
    True
    """

    def __init__(self, message: str, history: History) -> None:
        super().__init__(message)
        self.history = history


class Callback:
    """Listens to a training: subclass it, override what you want to hear, and pass an instance to :func:`fit`.

    Each method is given the :class:`Run`. The package's own are in ``d2lrnn.ops.callbacks``: `Checkpointing`,
    `EarlyStopping`, `KeepBest`, `ProgressBar`, `Snapshots`.

    Examples
    --------
    >>> class StopAt(Callback):
    ...     def on_step_end(self, run):
    ...         if run.history.step_losses[-1] < 1.0:
    ...             run.stop("the loss is below one nat")
    """

    #: whether `on_train_begin` comes before that of the others: of what takes up a stored training
    begins_first = False

    def on_train_begin(self, run: Run) -> None:
        """Model, windows and optimiser are ready."""

    def on_step_end(self, run: Run) -> None:
        """After every update: ``run.step`` of them have been made."""

    def on_epoch_end(self, run: Run) -> None:
        """``run.history.epochs[-1]`` is the epoch's record."""

    def on_train_end(self, run: Run) -> None:
        """Always called, after an error as well: ``run.is_finished`` says whether all went to the end."""


class Run:
    """A training in progress: what the callbacks see.

    Attributes
    ----------
    model, windows, stepper
        What is trained, on what, and by what (:class:`d2lrnn.engines.Stepper`).
    settings : dict
        What decides the outcome, but for the weights and the text: a checkpoint compares it.
    step, epoch : int
        Updates that have been made; the epoch in hand, counted from 1.
    total_steps, total_epochs : int
        Planned.
    history : History
    heldout_ids : Tensor or None
    best_weights : dict or None
        If a callback puts a state dict here, the model gets it at the end.
    stopped : str or None
        Why the training ends early.
    interrupted : int or None
        The signal that asked for it.
    group : ProcessGroup
        The processes that train together; mostly this one alone.

    Examples
    --------
    >>> class EveryTenth(Callback):
    ...     def on_step_end(self, run):
    ...         if run.step % 10 == 0:
    ...             print(run.step, run.epoch, len(run.history.step_losses))
    >>> from d2lrnn import RNNLM, RandomWindows, RNNScratch
    >>> windows = RandomWindows(torch.arange(200) % 5, batch_size=4, num_steps=10)
    >>> model = RNNLM(RNNScratch(5, 8), 5)
    >>> _ = fit(model, windows, updates=20, lr=0.01, progress=False, callbacks=[EveryTenth()])
    10 3 10
    20 5 20
    """

    def __init__(
        self,
        model: RNNLM,
        windows: RandomWindows | SequentialWindows,
        stepper: d2lrnn.engines.Stepper,
        settings: dict[str, Any],
        heldout_ids: torch.Tensor | None,
        group: d2lrnn.ops.ranks.ProcessGroup,
        callbacks: Iterable[Callback],
    ) -> None:
        self.model, self.windows, self.stepper, self.group = model, windows, stepper, group
        self.settings, self.heldout_ids, self.callbacks = settings, heldout_ids, list(callbacks)
        self.total_steps: int = settings["updates"]
        self.total_epochs = -(-self.total_steps // len(windows))  # rounded up
        self.history = History()
        self.step, self.epoch = 0, 1
        self.best_weights: dict[str, torch.Tensor] | None = None
        self.stopped: str | None = None
        self.interrupted: int | None = None
        self._failed = False
        self._in_epoch, self._nats, self._tokens, self._seconds = False, 0.0, 0, 0.0
        self._clock, self._num_tokens = 0.0, 0  # of the minibatch in hand: when it was begun, and how large it is

    def __enter__(self) -> Run:
        with ExitStack() as begun:  # whoever has begun hears of the end, if another one fails at the beginning
            for callback in sorted(self.callbacks, key=lambda callback: not callback.begins_first):
                callback.on_train_begin(self)
                begun.callback(callback.on_train_end, self)
            begun.pop_all()
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        self._failed = error is not None
        with ExitStack() as ending:  # all are told, even if one of them fails; what is entered last is done first
            if self.is_finished and self.best_weights is not None:
                ending.callback(self.model.load_state_dict, self.best_weights)
            for callback in reversed(self.callbacks):
                ending.callback(callback.on_train_end, self)

    @property
    def is_finished(self) -> bool:
        """Whether the planned steps are made, or a callback has stopped the training, and the last epoch is closed."""
        done = self.step >= self.total_steps or self.epoch > self.total_epochs
        return not self._in_epoch and not self._failed and (done or self.stopped is not None)

    def stop(self, reason: str) -> None:
        """End the training after this step; the epoch in hand still gets its record."""
        self.stopped = reason

    def tell(self, event: str) -> None:
        """Call a method of every callback."""
        for callback in self.callbacks:
            getattr(callback, event)(self)

    def minibatches(self) -> Iterator[Batch]:
        """The rest of the epoch: all of it, unless the run was resumed in its middle."""
        if not self._in_epoch:
            self._in_epoch, self._nats, self._tokens, self._seconds = True, 0.0, 0, 0.0
            self.stepper.state = None
        self.stepper.check_engine()
        iterator = iter(self.windows)
        while self.step < self.total_steps and self.stopped is None:
            self._clock = time.perf_counter()
            if (minibatch := next(iterator, None)) is None:
                return
            if not self.windows.carries_state:
                self.stepper.state = None
            self._num_tokens = minibatch[1].numel()
            X, Y = (self.group.rows(part).to(self.group.device) for part in minibatch)
            yield X, Y

    def rates(self) -> tuple[float, float | None]:
        """Learning rate and momentum of the next step."""
        schedule = self.settings["schedule"]
        rate = learning_rate(self.step, self.total_steps, self.settings["lr"], schedule)
        return rate, cycled_momentum(self.step, self.total_steps, schedule)

    def record(self, step: d2lrnn.engines.Step) -> None:
        """Keep what a step came to; raise :class:`TrainingDivergedError` where it is not finite."""
        if not step.is_finite:
            advice = "Turn on clipping (clip=1.0) or lower" if self.settings["clip"] is None else "Lower"
            raise TrainingDivergedError(
                f"Training diverged in epoch {self.epoch}, at step {self.step + 1}: the loss is {step.loss_nats} and "
                f"the gradient norm {step.grad_norm}. The weights are those of the step before. {advice} the learning "
                "rate.",
                self.history,
            )
        self.history.add_step(*step)
        self._nats += step.loss_nats * self._num_tokens
        self._tokens += self._num_tokens
        self._seconds += time.perf_counter() - self._clock
        self.step += 1

    def close_epoch(self) -> None:
        """Score the held-out text and keep the epoch's record."""
        heldout = None
        if self.heldout_ids is not None:
            heldout = self.group.score_once(self._score)
        self.history.epochs.append(EpochRecord(self.epoch, Score(self._nats, self._tokens), heldout, self._seconds))
        self.history.engine = self.stepper.engine_name
        self._in_epoch = False
        self.epoch += 1

    def _score(self) -> Score:
        assert self.heldout_ids is not None
        return evaluate(self.model, self.heldout_ids, forward=self.stepper.forward)

    def state_dict(self) -> dict[str, Any]:
        """All that is needed to go on. All processes of the group call it together."""
        return {
            "settings": self.settings,
            "step": self.step,
            "epoch": self.epoch,
            "in_epoch": self._in_epoch,
            "sums": [self._nats, self._tokens, self._seconds],
            "stopped": self.stopped,
            "history": self.history.state_dict(),
            "windows": self.windows.state_dict() | ({} if self._in_epoch else {"position": 0}),
            "optimizer": self.stepper.optimizer.state_dict(),
            "state": self.group.all_rows(self.stepper.state),
            "best": None if self.best_weights is None else {"weights": self.best_weights},
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where :meth:`state_dict` was taken."""
        self.step, self.epoch, self._in_epoch = state["step"], state["epoch"], state["in_epoch"]
        self._nats, self._tokens, self._seconds = state["sums"]
        self.stopped = state["stopped"] if self.total_steps <= state["settings"]["updates"] else None
        self.history = History.from_state_dict(state["history"])
        self.windows.load_state_dict(state["windows"])
        self.stepper.optimizer.load_state_dict(state["optimizer"])
        self.stepper.state = self.group.own_rows(state["state"])
        self.best_weights = state["best"] and state["best"]["weights"]


def fit(
    model: RNNLM,
    windows: RandomWindows | SequentialWindows,
    *,
    epochs: int | None = None,
    updates: int | None = None,
    lr: float,
    optimizer: Literal["adamw", "sgd"] | Callable[[torch.Tensor], Optimizer] = "adamw",
    schedule: Literal["constant", "one-cycle"] = "constant",
    clip: float | None = 1.0,
    heldout_ids: torch.Tensor | None = None,
    engine: d2lrnn.engines.EngineName = "auto",
    device: str | torch.device | None = None,
    progress: bool = True,
    callbacks: Iterable[Callback] = (),
) -> History:
    """Train a language model.

    Sequential windows carry the hidden state from each minibatch to the next within an epoch, cut off from the gradient
    (truncated backpropagation through time); every epoch starts from zeros. Random windows start every minibatch from
    zeros.

    Parameters
    ----------
    model : RNNLM
        Trained in place, moved to the device, and left in training mode.
    windows : RandomWindows or SequentialWindows
    epochs : int
        How long to train; or
    updates : int
        so many steps, where the last epoch may end in the middle.
    lr : float
        Learning rate; with ``"one-cycle"`` the highest one.
    optimizer : "adamw", "sgd", or a callable
        A callable makes one from the flat vector of weights, for example
        ``lambda weights: d2lrnn.optim.AdamW(weights, weight_decay=0)``.
    schedule : "constant" or "one-cycle"
        One cycle rises to `lr` over the first 30% of the steps and falls to almost nothing at the last, while the
        momentum goes down and comes back; see :func:`d2lrnn.optim.learning_rate`. Gradient descent has no momentum with
        either.
    clip : float or None, default 1.0
        Greatest global gradient norm; None switches clipping off.
    heldout_ids : integer Tensor, shape (num_tokens,), optional
        Text to score after each epoch.
    engine : "auto", "autograd", "closed-form" or "cuda-graph"
        How the gradients are computed, see :class:`d2lrnn.engines.Stepper`. The closed form checks itself against
        autograd on the first minibatch, and leaves the work to it where your model computes something else.
    device : str or torch.device, optional
        By default :func:`pick_device` decides.
    progress : bool, default True
        Show a bar with the perplexities. ``D2LRNN_STATIC=1`` in the environment silences it.
    callbacks : iterable of Callback
        Who else wants to hear of steps and epochs: ``EarlyStopping(patience=3)``, ``Checkpointing("tide.safetensors")``
        and others in ``d2lrnn.ops.callbacks``, or your own.

    Returns
    -------
    History

    Raises
    ------
    ValueError, TypeError
        If a setting is out of range or of another kind; nothing has been trained then.
    TrainingDivergedError
        If the loss or the gradient norm is not finite. No update is made with such a gradient.
    TrainingInterruptedError
        At Ctrl-C, after the step in hand; a KeyboardInterrupt with the history.

    Examples
    --------
    >>> from d2lrnn import RNNScratch, seed_everything
    >>> _ = seed_everything(0)
    >>> ids = torch.tensor([0, 1, 2] * 50)
    >>> model = RNNLM(RNNScratch(3, 8), vocab_size=3)
    >>> history = fit(model, SequentialWindows(ids, 2, 10), epochs=20, lr=0.02, device="cpu", progress=False)
    >>> history.train_perplexities[-1] < 1.1
    True
    """
    check_model(model)
    settings = _checked_settings(windows, epochs, updates, lr, optimizer, schedule, clip)
    heldout_ids = None if heldout_ids is None else as_row(heldout_ids, "heldout_ids")
    _check_texts(model, windows, heldout_ids)
    # `d2lrnn.ops` and `d2lrnn.engines` at run time: the loop does not know who listens, or how a step is computed.
    group, listeners = d2lrnn.ops.callbacks.with_the_usual(callbacks, device, progress)
    model.to(group.device).train()
    with d2lrnn.engines.Stepper(model, optimizer=optimizer, clip=clip, engine=engine) as stepper:
        run = Run(model, windows, stepper, settings, heldout_ids, group, listeners)
        with run:
            while not run.is_finished:
                for X, Y in run.minibatches():
                    run.record(stepper(X, Y, *run.rates()))
                    run.tell("on_step_end")
                run.close_epoch()
                run.tell("on_epoch_end")
    return run.history


def _checked_settings(
    windows: RandomWindows | SequentialWindows,
    epochs: int | None,
    updates: int | None,
    lr: float,
    optimizer: object,
    schedule: Schedule,
    clip: float | None,
) -> dict[str, Any]:
    """What decides the outcome, as plain values."""
    if not hasattr(windows, "carries_state"):
        raise TypeError(
            f"windows is a {type(windows).__name__}; expected RandomWindows or SequentialWindows, for example "
            "d2lrnn.RandomWindows(text.train_ids, batch_size=32, num_steps=32)."
        )
    if (epochs is None) == (updates is None):
        raise ValueError("Say how long to train by epochs or by updates, and not by both.")
    for name, value in (("epochs", epochs), ("updates", updates), ("lr", lr), ("clip", clip)):
        if not isinstance(value, numbers.Real) and (value is not None or name == "lr"):
            raise TypeError(f"{name} is {value!r}, of type {type(value).__name__}; expected a number.")
    for name, number in (("epochs", epochs), ("updates", updates)):
        if number is not None and not (1 <= number < math.inf and number == int(number)):
            raise ValueError(f"{name} is {number}; it must be a whole number of at least 1.")
    if not 0 < lr < math.inf:
        raise ValueError(f"lr is {lr}; a learning rate is a finite number above 0.")
    if clip is not None and not clip > 0:
        raise ValueError(f"clip is {clip}; the greatest gradient norm must be more than 0, or None for no clipping.")
    total_steps = int(updates or 0) if epochs is None else int(epochs) * len(windows)
    learning_rate(0, total_steps, lr, schedule)  # refuses an unknown schedule before the model is moved
    optimizer = optimizer if isinstance(optimizer, str) else getattr(optimizer, "__name__", type(optimizer).__name__)
    lr, clip = float(lr), None if clip is None else float(clip)  # numpy's, made plain
    settings = {"updates": total_steps, "lr": lr, "optimizer": optimizer, "schedule": schedule, "clip": clip}
    # Of windows of your own only these are needed: carries_state, a length, and minibatches (X, Y).
    return settings | {"minibatches": len(windows), **getattr(windows, "describe", dict)()}


def _check_texts(
    model: RNNLM, windows: RandomWindows | SequentialWindows, heldout_ids: torch.Tensor | None
) -> None:
    if isinstance(ids := getattr(windows, "ids", None), torch.Tensor):
        check_ids(ids[:1_000_000], model.vocab_size)  # the beginning: a memory map may hold gigabytes
    if heldout_ids is not None:
        if len(heldout_ids) < 2:
            raise ValueError(
                f"The held-out text has {len(heldout_ids)} tokens; scoring needs at least 2. "
                "Hold out more, or pass heldout_ids=None."
            )
        check_ids(heldout_ids[:1_000_000], model.vocab_size)
