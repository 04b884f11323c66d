"""What a training leaves behind: the loss and gradient norm of its steps, the scores of its epochs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import torch

from d2lrnn.metrics import Score

__all__ = ["EpochRecord", "History"]


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
    steps_per_entry : int
        1, until there are 131,072 entries. Then neighbours are merged, into their mean loss and their larger norm: a
        training of days keeps a history of megabytes.
    engine : str
        Who computed the gradients, see :mod:`d2lrnn.engines`.

    Examples
    --------
    >>> from d2lrnn import RNNLM, RandomWindows, RNNScratch, fit
    >>> windows = RandomWindows(torch.arange(200) % 5, batch_size=4, num_steps=10)
    >>> history = fit(RNNLM(RNNScratch(5, 8), 5), windows, epochs=2, lr=0.01, progress=False)
    >>> len(history.epochs), len(history.step_losses)
    (2, 8)
    >>> history.epochs[1].train.perplexity < history.epochs[0].train.perplexity
    True
    """

    epochs: list[EpochRecord] = field(default_factory=list)
    step_losses: list[float] = field(default_factory=list)
    step_grad_norms: list[float] = field(default_factory=list)
    steps_per_entry: int = 1
    engine: str = ""
    _open: list[list[float]] = field(default_factory=list, repr=False)  # steps that do not fill an entry yet

    MAX_ENTRIES = 2**17

    def add_step(self, loss_nats: float, grad_norm: float) -> None:
        """Record one training step."""
        if self.steps_per_entry > 1:
            self._open.append([loss_nats, grad_norm])
            if len(self._open) < self.steps_per_entry:
                return
            loss_nats = sum(loss for loss, _ in self._open) / len(self._open)
            grad_norm = max(norm for _, norm in self._open)
            self._open.clear()
        self.step_losses.append(loss_nats)
        self.step_grad_norms.append(grad_norm)
        if len(self.step_losses) >= self.MAX_ENTRIES:
            losses, norms = self.step_losses, self.step_grad_norms
            self.step_losses = [(a + b) / 2 for a, b in zip(losses[::2], losses[1::2])]
            self.step_grad_norms = [max(pair) for pair in zip(norms[::2], norms[1::2])]
            self.steps_per_entry *= 2

    @property
    def best(self) -> EpochRecord | None:
        """The epoch with the lowest held-out perplexity, the first of equals; None where nothing was held out."""
        scored = [(record.heldout.nats_per_token, record.epoch, record) for record in self.epochs if record.heldout]
        return min(scored)[-1] if scored else None

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
            "steps_per_entry": self.steps_per_entry,
            "open": [list(step) for step in self._open],
            "epochs": [asdict(record) for record in self.epochs],
            "engine": self.engine,
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
        losses, norms = state["step_losses"].tolist(), state["step_grad_norms"].tolist()
        return cls(epochs, losses, norms, state["steps_per_entry"], state["engine"], state["open"])

    def __repr__(self) -> str:
        if not self.epochs:
            return "<History: no epoch finished>"
        last = self.epochs[-1]
        heldout = f", held-out {last.heldout.perplexity:.2f}" if last.heldout else ""
        return f"<History of {len(self.epochs)} epochs: training perplexity {last.train.perplexity:.2f}{heldout}>"
