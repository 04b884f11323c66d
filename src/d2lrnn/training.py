"""Training: walk over minibatches, carry the state where that makes sense, clip, step, and keep a history."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import nn
from tqdm import tqdm

from d2lrnn.batching import RandomWindows, SequentialWindows
from d2lrnn.device import pick_device
from d2lrnn.language_model import RNNLM, evaluate
from d2lrnn.metrics import Score
from d2lrnn.optim import cycled_momentum, learning_rate
from d2lrnn.stepping import Engine, make_stepper

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
    def train_perplexities(self) -> list[float]:
        """One for each epoch."""
        return [record.train.perplexity for record in self.epochs]

    @property
    def heldout_perplexities(self) -> list[float]:
        """One for each epoch that scored the held-out text."""
        return [record.heldout.perplexity for record in self.epochs if record.heldout is not None]

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


def _check_settings(epochs: int, lr: float, clip: float | None, heldout_ids: torch.Tensor | None) -> None:
    if epochs < 1:
        raise ValueError(f"epochs is {epochs}; it must be at least 1.")
    if not 0 < lr < math.inf:
        raise ValueError(f"lr is {lr}; a learning rate is a finite number above 0.")
    if clip is not None and not clip > 0:
        raise ValueError(f"clip is {clip}; the greatest gradient norm must be more than 0, or None for no clipping.")
    if heldout_ids is not None and len(heldout_ids) < 2:
        raise ValueError(
            f"The held-out text has {len(heldout_ids)} tokens; scoring needs at least 2. "
            "Hold out more, or pass heldout_ids=None."
        )


def fit(
    model: RNNLM,
    windows: RandomWindows | SequentialWindows,
    *,
    epochs: int,
    lr: float,
    optimizer: Literal["sgd", "adamw"] = "adamw",
    schedule: Literal["constant", "one-cycle"] = "constant",
    clip: float | None = 1.0,
    engine: Engine = "auto",
    heldout_ids: torch.Tensor | None = None,
    device: str | torch.device | None = None,
    progress: bool = True,
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
    lr : float
        Learning rate; with ``"one-cycle"`` the highest one.
    optimizer : "adamw" or "sgd"
    schedule : "constant" or "one-cycle"
        One cycle rises to `lr` over the first 30% of the steps and falls to almost nothing at the last, while momentum
        goes down and comes back; see :func:`learning_rate` and :func:`cycled_momentum` in ``d2lrnn.optim``.
    clip : float or None, default 1.0
        Greatest global gradient norm; None switches clipping off.
    engine : "auto", "autograd" or "closed-form"
        Who computes the gradients, see :func:`d2lrnn.stepping.make_stepper`; it changes the speed and nothing else.
    heldout_ids : integer Tensor, shape (num_tokens,), optional
        Text to score after each epoch.
    device : str or torch.device, optional
        By default :func:`pick_device` decides.
    progress : bool, default True
        Show a bar with the perplexities. ``D2LRNN_STATIC=1`` in the environment silences it.

    Returns
    -------
    History

    Raises
    ------
    ValueError
        If a setting is out of range; nothing has been trained then.
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
    _check_settings(epochs, lr, clip, heldout_ids)
    total_steps = epochs * len(windows)
    learning_rate(0, total_steps, lr, schedule)  # refuses an unknown schedule before the model is moved
    device = pick_device(device)
    model.to(device).train()

    history = History()
    stepper = make_stepper(model, optimizer=optimizer, clip=clip, engine=engine)
    with stepper, _progress_bar(total_steps, progress) as bar:
        for epoch in range(1, epochs + 1):
            start = time.perf_counter()
            total_nats, num_tokens = 0.0, 0
            stepper.reset_state()
            for X, Y in windows:
                if not windows.carries_state:
                    stepper.reset_state()
                step = len(history.step_losses)
                loss_nats, grad_norm = stepper.step(
                    X.to(device),
                    Y.to(device),
                    learning_rate(step, total_steps, lr, schedule),
                    cycled_momentum(step, total_steps, schedule),
                )
                _check_finite(loss_nats, grad_norm, history, epoch, clip)
                history.step_losses.append(loss_nats)
                history.step_grad_norms.append(grad_norm)
                total_nats += loss_nats * Y.numel()
                num_tokens += Y.numel()
                bar.update()
            seconds = time.perf_counter() - start
            heldout = None if heldout_ids is None else evaluate(model, heldout_ids)
            history.epochs.append(EpochRecord(epoch, Score(total_nats, num_tokens), heldout, seconds))
            bar.set_postfix_str(_in_words(history.epochs[-1]))
    return history


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
