"""Training: walk over minibatches, carry the state where that makes sense, clip, step, and keep a history."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn
from tqdm import tqdm

from d2lrnn.engines.stepper import Engine, make_stepper
from d2lrnn.metrics import Score
from d2lrnn.model import RNNLM, State, evaluate
from d2lrnn.ops.checkpoint import load_checkpoint
from d2lrnn.ops.ranks import Ranks
from d2lrnn.ops.resuming import (
    Checkpoints,
    Interrupts,
    Place,
    RandomStates,
    TrainingInterruptedError,
    check_same_run,
    describe_windows,
)
from d2lrnn.optim import cycled_momentum, learning_rate
from d2lrnn.windows import RandomWindows, SequentialWindows

__all__ = ["EpochRecord", "History", "TrainingDivergedError", "clip_gradients", "fit"]


@dataclass(frozen=True)
class EpochRecord:
    """What one epoch came to.

    Attributes
    ----------
    epoch : int
        Counted from 1.
    train : Score
        Of all the epoch's predictions, each made with the weights of its moment.
    heldout : Score or None
        Of the held-out text, after the epoch.
    seconds : float
        Time spent on training steps; scoring the held-out text is not in it.
    tokens_per_second : float
    """

    epoch: int
    train: Score
    heldout: Score | None
    seconds: float

    @property
    def tokens_per_second(self) -> float:
        return self.train.num_tokens / self.seconds


@dataclass
class History:
    """Everything `fit` recorded.

    Attributes
    ----------
    epochs : list of EpochRecord
    step_losses : list of float
        Mean loss of each minibatch, in nats per token, before its update.
    step_grad_norms : list of float
        Global gradient norm of each minibatch, before clipping.
    """

    epochs: list[EpochRecord] = field(default_factory=list)
    step_losses: list[float] = field(default_factory=list)
    step_grad_norms: list[float] = field(default_factory=list)

    @property
    def best(self) -> EpochRecord | None:
        """The epoch with the lowest held-out perplexity, the first of equals; None where nothing was held out."""
        scored = [record for record in self.epochs if record.heldout is not None]
        return min(scored, key=lambda record: record.heldout.nats_per_token, default=None)

    @property
    def train_perplexities(self) -> list[float]:
        """One for each epoch."""
        return [record.train.perplexity for record in self.epochs]

    @property
    def heldout_perplexities(self) -> list[float]:
        """One for each epoch that scored the held-out text."""
        return [record.heldout.perplexity for record in self.epochs if record.heldout is not None]

    def state_dict(self) -> dict[str, Any]:
        """Everything as tensors, numbers and None, for a checkpoint."""
        return {
            "step_losses": torch.tensor(self.step_losses, dtype=torch.float64),
            "step_grad_norms": torch.tensor(self.step_grad_norms, dtype=torch.float64),
            "epochs": [asdict(record) for record in self.epochs],
        }

    @classmethod
    def from_state_dict(cls, state: dict[str, Any]) -> History:
        """What :meth:`state_dict` was taken of."""
        epochs = [
            EpochRecord(
                record["epoch"],
                Score(**record["train"]),
                None if record["heldout"] is None else Score(**record["heldout"]),
                record["seconds"],
            )
            for record in state["epochs"]
        ]
        return cls(epochs, state["step_losses"].tolist(), state["step_grad_norms"].tolist())

    def __repr__(self) -> str:
        if not self.epochs:
            return "<History: no epoch finished>"
        last = self.epochs[-1]
        heldout = f", held-out {last.heldout.perplexity:.2f}" if last.heldout else ""
        return f"<History of {len(self.epochs)} epochs: training perplexity {last.train.perplexity:.2f}{heldout}>"


class TrainingDivergedError(ArithmeticError):
    """The loss or the gradient stopped being a finite number.

    The weights are those before the step that failed, and :attr:`history` holds all that was recorded until then.
    """

    def __init__(self, message: str, history: History) -> None:
        super().__init__(message)
        self.history = history


def clip_gradients(parameters: Iterable[nn.Parameter], max_norm: float) -> float:
    r"""Shrink the gradient to a given length if it is longer, and leave its direction alone.

    .. math:: \mathbf g \leftarrow \min\left(1, \frac{\theta}{\|\mathbf g\|}\right) \mathbf g,

    where :math:`\mathbf g` is *all* parameters' gradients as one long vector and :math:`\theta` is `max_norm`.

    Parameters
    ----------
    parameters : iterable of Parameter
        Those without a gradient are passed over. Gradients are changed in place.
    max_norm : float
        Greatest length allowed; more than 0, and ``inf`` to measure only.

    Returns
    -------
    float
        The norm before clipping. A norm that is not finite is returned as it is, and nothing is changed.

    Raises
    ------
    ValueError
        If `max_norm` is not more than 0.

    Notes
    -----
    Taught in the chapter *Backpropagation through time*; Pascanu, Mikolov and Bengio, "On the difficulty of training
    recurrent neural networks", ICML 2013.

    Examples
    --------
    >>> w = nn.Parameter(torch.zeros(2)); w.grad = torch.tensor([3.0, 4.0])
    >>> norm = clip_gradients([w], max_norm=1.0)
    >>> round(norm, 4), [round(g, 4) for g in w.grad.tolist()]
    (5.0, [0.6, 0.8])
    """
    if not max_norm > 0:  # also catches NaN
        raise ValueError(
            f"The greatest gradient norm is {max_norm}; it must be more than 0 (zero would stop all learning). "
            "To train without clipping use clip=None."
        )
    grads = [p.grad for p in parameters if p.grad is not None]
    if not grads:
        return 0.0
    norm = float(torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in grads])))
    if math.isfinite(norm) and norm > max_norm:
        for grad in grads:
            grad.mul_(max_norm / norm)
    return norm


def _check_settings(
    epochs: int | None,
    updates: int | None,
    lr: float,
    clip: float | None,
    heldout_ids: torch.Tensor | None,
    patience: int | None,
    keep_best: bool | None,
) -> None:
    if (epochs is None) == (updates is None):
        raise ValueError("Say how long to train by epochs or by updates, and not by both.")
    for name, number in (("epochs", epochs), ("updates", updates)):
        if number is not None and number < 1:
            raise ValueError(f"{name} is {number}; it must be at least 1.")
    if not 0 < lr < math.inf:
        raise ValueError(f"lr is {lr}; a learning rate is a finite number above 0.")
    if clip is not None and not clip > 0:
        raise ValueError(f"clip is {clip}; the greatest gradient norm must be more than 0, or None for no clipping.")
    if heldout_ids is not None and len(heldout_ids) < 2:
        raise ValueError(
            f"The held-out text has {len(heldout_ids)} tokens; scoring needs at least 2. "
            "Hold out more, or pass heldout_ids=None."
        )
    if patience is not None and patience < 1:
        raise ValueError(f"patience is {patience}; it counts epochs and must be at least 1, or None for no early end.")
    if heldout_ids is None and (patience is not None or keep_best):
        raise ValueError("patience and keep_best go by the held-out perplexity; pass heldout_ids, or leave them out.")


def fit(
    model: RNNLM,
    windows: RandomWindows | SequentialWindows,
    *,
    epochs: int | None = None,
    updates: int | None = None,
    lr: float,
    optimizer: Literal["sgd", "adamw"] = "adamw",
    schedule: Literal["constant", "one-cycle"] = "constant",
    clip: float | None = 1.0,
    engine: Engine = "auto",
    heldout_ids: torch.Tensor | None = None,
    patience: int | None = None,
    keep_best: bool | None = None,
    device: str | torch.device | None = None,
    progress: bool = True,
    checkpoint: Checkpoints | str | os.PathLike[str] | None = None,
    resume: bool = False,
    ranks: Ranks | None = None,
    on_epoch: Callable[[EpochRecord], None] | None = None,
) -> History:
    """Train a language model.

    Sequential windows carry the hidden state from each minibatch to the next within an epoch, cut off from the gradient
    (truncated backpropagation through time); every epoch starts from zeros. Random windows start every minibatch from
    zeros.

    Parameters
    ----------
    model : RNNLM
        Trained in place and moved to the device.
    windows : RandomWindows or SequentialWindows
    epochs : int
        How long to train, at most (see `patience`); or
    updates : int
        so many steps, where the last epoch may end in the middle.
    lr : float
        Learning rate; with ``"one-cycle"`` the highest one.
    optimizer : "adamw" or "sgd"
    schedule : "constant" or "one-cycle"
        One cycle rises to `lr` over the first 30% of the steps and falls to almost nothing at the last, while momentum
        goes down and comes back; see :func:`learning_rate` and :func:`cycled_momentum` in ``d2lrnn.optim``.
    clip : float or None, default 1.0
        Greatest global gradient norm; None switches clipping off.
    engine : "auto", "autograd", "closed-form" or "cuda-graph"
        Who computes the gradients, see :func:`d2lrnn.engines.stepper.make_stepper`; it changes the speed and nothing else.
    heldout_ids : integer Tensor, shape (num_tokens,), optional
        Text to score after each epoch.
    patience : int, optional
        Early stopping: end after so many epochs in a row without a lower held-out perplexity. Without it all epochs are
        trained. (With ``"one-cycle"`` the cycle is still planned for all of them, and an early end never gets to the
        low rates.)
    keep_best : bool, optional
        At the end put back the weights of the epoch with the lowest held-out perplexity, ``history.best``. By default
        that is done where `patience` is given. Training that diverges or is interrupted leaves the weights it had.
    device : str or torch.device, optional
        By default :func:`pick_device` decides.
    progress : bool, default True
        Show a bar with the perplexities. ``D2LRNN_STATIC=1`` in the environment silences it.
    checkpoint : Checkpoints or path, optional
        Store the training in this file every now and then, at the end, and when it is interrupted.
    resume : bool, default False
        Go on where the training in that file stopped, at any step; begin if there is no file yet. Model, windows and
        settings must be made as they were then (with a constant learning rate, more epochs may follow whole ones). The
        weights come out as those of a training that never stopped, bit for bit.
    ranks : Ranks, optional
        Train together with other processes, see :func:`d2lrnn.ops.ranks.join_ranks`. All of them call `fit` with the
        same arguments; rank 0 alone shows progress, scores the held-out text and writes. `device` is not asked then.
    on_epoch : callable, optional
        Is given the record of each epoch as it ends.

    Returns
    -------
    History
        Of all epochs, those before an interruption too.

    Raises
    ------
    ValueError
        If a setting is out of range; nothing has been trained then.
    CheckpointError
        If a checkpoint cannot be written, or is of another training.
    TrainingInterruptedError
        At Ctrl-C or SIGTERM, where there is a checkpoint to go on from. (Without one, Ctrl-C ends it as it does
        everywhere.)
    DistributedError
        If the ranks do not fit together, or one is lost.
    TrainingDivergedError
        If the loss or the gradient norm is not finite. No update is made with such a gradient.

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
    _check_settings(epochs, updates, lr, clip, heldout_ids, patience, keep_best)
    keep_best = patience is not None if keep_best is None else keep_best
    total_steps = epochs * len(windows) if updates is None else updates
    epochs = -(-total_steps // len(windows))  # rounded up
    learning_rate(0, total_steps, lr, schedule)  # refuses an unknown schedule before the model is moved
    if checkpoint is not None and not isinstance(checkpoint, Checkpoints):
        checkpoint = Checkpoints(checkpoint)
    ranks = Ranks(device) if ranks is None else ranks
    device = ranks.device
    model.to(device).train()

    history, place, best_weights = History(), Place(), None
    stepper = make_stepper(model, optimizer=optimizer, clip=clip, engine=engine)
    randomness = RandomStates(windows, ranks)
    run = {"updates": total_steps, "lr": lr, "optimizer": optimizer, "schedule": schedule, "clip": clip}
    run |= {"patience": patience, "keep_best": keep_best}
    if checkpoint is not None or ranks.world_size > 1:
        run |= describe_windows(windows)

    def store() -> None:
        """All ranks together; rank 0 writes."""
        state, random = ranks.whole(stepper.state), randomness.state_dict()
        if ranks.rank == 0:
            everything = {
                "run": run,
                "step": len(history.step_losses),
                "place": asdict(place),
                "optimizer": stepper.optimizer.state_dict(),
                "state": state,
                "random": random,
                "history": history.state_dict(),
                "best": None if best_weights is None else {"weights": best_weights},
            }
            checkpoint.save(model, everything, len(history.step_losses))

    interrupts = Interrupts(active=checkpoint is not None, ranks=ranks)
    bar = _progress_bar(total_steps, progress and ranks.rank == 0)
    with stepper, interrupts, bar:
        stored = _stored_progress(checkpoint, model, run, ranks) if checkpoint is not None and resume else None
        if stored is not None:
            history, place = History.from_state_dict(stored["history"]), Place(**stored["place"])
            stepper.optimizer.load_state_dict(stored["optimizer"])
            stepper.state = _to(ranks.part(stored["state"]), device)
            randomness.load_state_dict(stored["random"])
            best_weights = stored["best"] and stored["best"]["weights"]
            bar.initial = bar.n = len(history.step_losses)
        if checkpoint is not None:
            checkpoint.start(len(history.step_losses))
        if ranks.world_size > 1:
            stepper.average = ranks.average
            ranks.insist_on_the_same("Settings, windows and seed", (run, asdict(place), randomness.of_windows()))
            ranks.of_rank_0(stepper.flat.data)
        for epoch in range(place.epoch, epochs + 1):
            if place.batch and place.epoch == epoch:  # in the middle of it
                minibatches = randomness.take_up(stored["random"], windows, place.batch)
            else:
                place = Place(epoch)
                stepper.reset_state()
                randomness.start_epoch()
                minibatches = iter(windows)
            start = time.perf_counter() - place.seconds
            for X, Y in islice(minibatches, total_steps - len(history.step_losses)):
                if not windows.carries_state:
                    stepper.reset_state()
                step = len(history.step_losses)
                if checkpoint is not None:
                    ranks.request(stop=interrupts.signal is not None, store=checkpoint.is_due(step + 1))
                loss_nats, grad_norm = stepper.step(
                    ranks.rows(X).to(device),
                    ranks.rows(Y).to(device),
                    learning_rate(step, total_steps, lr, schedule),
                    cycled_momentum(step, total_steps, schedule),
                )
                _check_finite(loss_nats, grad_norm, history, epoch, clip)
                history.step_losses.append(loss_nats)
                history.step_grad_norms.append(grad_norm)
                place.total_nats += loss_nats * Y.numel()
                place.num_tokens += Y.numel()
                place.batch += 1
                bar.update()
                if any(wanted := ranks.agreed()):
                    place.seconds = time.perf_counter() - start
                    store()
                    start = time.perf_counter() - place.seconds  # writing is not training
                    if wanted[0]:
                        raise _interrupted(checkpoint.path, interrupts.signal, step + 1, total_steps)
            place.seconds = time.perf_counter() - start
            heldout = None if heldout_ids is None else _evaluate_once(model, heldout_ids, ranks)
            record = EpochRecord(epoch, Score(place.total_nats, place.num_tokens), heldout, place.seconds)
            history.epochs.append(record)
            bar.set_postfix_str(_in_words(record))
            if on_epoch is not None and ranks.rank == 0:
                on_epoch(record)
            if keep_best and history.best is record:
                best_weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
            if patience is not None and epoch - history.best.epoch >= patience:
                bar.set_postfix_str(f"{_in_words(history.best)}, no better one for {patience} epochs: stopped")
                break
        if checkpoint is not None and place.epoch <= epochs:
            place = Place(epochs + 1)
            store()
        if keep_best:
            model.load_state_dict(best_weights)
    return history


def _stored_progress(
    checkpoint: Checkpoints, model: RNNLM, run: dict[str, Any], ranks: Ranks
) -> dict[str, Any] | None:
    """What an earlier training left, its last weights put into the model; None if there is no file yet."""
    there = ranks.of_rank_0(torch.tensor(float(checkpoint.path.exists())))
    if not there:
        return None
    loaded = load_checkpoint(checkpoint.path, weights="last", layers={type(model.rnn).__name__: type(model.rnn)})
    if loaded.progress is not None and run["schedule"] == "constant":
        before, place, step = (loaded.progress[name] for name in ("run", "place", "step"))
        # With a constant rate, more epochs change nothing in those that were made, if they were made to their end.
        if (place["epoch"] - 1) * before["minibatches"] + place["batch"] == step:
            before["updates"] = max(run["updates"], step)
    check_same_run(loaded, checkpoint.path, model, run)
    model.load_state_dict(loaded.model.state_dict())
    return loaded.progress


def _to(state: State | None, device: torch.device) -> State | None:
    if isinstance(state, tuple):
        return tuple(part.to(device) for part in state)
    return None if state is None else state.to(device)


def _evaluate_once(model: RNNLM, heldout_ids: torch.Tensor, ranks: Ranks) -> Score:
    """Score of the held-out text as rank 0 finds it: all ranks must come to the same decisions."""
    score = evaluate(model, heldout_ids) if ranks.rank == 0 else Score(0.0, 0)
    numbers = ranks.of_rank_0(torch.tensor([score.total_nats, score.num_tokens], dtype=torch.float64))
    return Score(float(numbers[0]), int(numbers[1]))


def _interrupted(path: Path, number: int | None, step: int, total_steps: int) -> TrainingInterruptedError:
    return TrainingInterruptedError(
        f"Training was stopped after step {step:,} of {total_steps:,}, and is stored in {str(path)!r}: it goes on from "
        "there with resume=True.",
        path,
        number or signal.SIGINT,  # of another rank, where this one got none
    )


def _progress_bar(total: int, progress: bool) -> tqdm:
    # The plain text bar on purpose: tqdm.auto's widget makes a static page fetch scripts from the network.
    silent = not progress or os.environ.get("D2LRNN_STATIC") == "1"
    return tqdm(total=total, unit="step", disable=silent, leave=True)


def _in_words(record: EpochRecord) -> str:
    heldout = f", held-out {record.heldout.perplexity:.2f}" if record.heldout else ""
    return f"epoch {record.epoch}: training perplexity {record.train.perplexity:.2f}{heldout}"


def _check_finite(loss_nats: float, grad_norm: float, history: History, epoch: int, clip: float | None) -> None:
    if math.isfinite(loss_nats) and math.isfinite(grad_norm):
        return
    advice = "Turn on clipping (clip=1.0) or lower the learning rate." if clip is None else "Lower the learning rate."
    raise TrainingDivergedError(
        f"Training diverged in epoch {epoch}, at step {len(history.step_losses) + 1}: the loss is {loss_nats} and the "
        f"gradient norm {grad_norm}. The weights are those of the step before. {advice}",
        history,
    )
