"""The training lab of the chapter *A character language model*: watch a recurrent network learn, and interfere.

In a page without a kernel the network is trained by JavaScript in a worker of the page. With a kernel the same controls
train the torch model on its device, in a thread, and the curve streams back.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
import traitlets as t

from d2lrnn.decoding import generate
from d2lrnn.layers import RNNScratch
from d2lrnn.metrics import Score, score_logits
from d2lrnn.model import RNNLM, evaluate
from d2lrnn.ngram import NGramLM
from d2lrnn.ops.device import describe_device, pick_device
from d2lrnn.optim import SGD, AdamW, Optimizer
from d2lrnn.text import EncodedText, load_text
from d2lrnn.training import Callback, Run, TrainingDivergedError, fit
from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color, format_number
from d2lrnn.widgets.spec import Words
from d2lrnn.windows import RandomWindows, SequentialWindows

__all__ = ["TrainingLab", "counting_levels", "score_windows"]

_ORDERS = (0, 1, 2, 3, 5)
_REPORT_SECONDS, _WRITE_SECONDS, _SAMPLE_LENGTH, _MOST_POINTS = 0.25, 1.0, 120, 400
# So long may a page that started the training leave its reports unanswered.
_ALONE_SECONDS = 10.0


def counting_levels(text: EncodedText) -> list[dict[str, float]]:
    """Held-out perplexity of models that count, by their order.

    Examples
    --------
    >>> [round(level["perplexity"], 2) for level in counting_levels(load_text())]
    [27.0, 15.91, 8.85, 5.41, 3.63]
    """
    size = len(text.vocab)
    models = [NGramLM(text.train_ids, order, size) for order in _ORDERS]
    return [{"order": m.order, "perplexity": m.evaluate(text.heldout_ids).perplexity} for m in models]


@torch.no_grad()
def score_windows(model: RNNLM, ids: torch.Tensor, num_steps: int) -> Score:
    """Score a text in windows that each start from a zero state, as a model is trained that never carries it on.

    Parameters
    ----------
    model : RNNLM
    ids : integer Tensor, shape (num_tokens,)
    num_steps : int

    Returns
    -------
    Score
        Of all whole windows.
    """
    count = (len(ids) - 1) // num_steps
    X = ids[: count * num_steps].view(count, num_steps).to(model.device)
    Y = ids[1 : count * num_steps + 1].view(count, num_steps).to(model.device)
    score = Score(0.0, 0)
    for x, y in zip(X.split(512), Y.split(512)):
        score += score_logits(model(x)[0].flatten(0, 1), y.flatten())
    return score


@cache
def _story() -> EncodedText:
    return load_text()


@cache
def _story_levels() -> list[dict[str, float]]:
    # counting takes seconds, and every lab on a page shows the same levels
    return counting_levels(_story())


class _Trace:
    """A list of points that halves its density whenever it is full, so that a run of any length fits."""

    def __init__(self) -> None:
        self.xs: list[int] = []
        self.ys: list[float] = []
        self._every, self._seen = 1, 0

    def add(self, x: int, y: float) -> None:
        self._seen += 1
        if self._seen % self._every:
            return
        self.xs.append(x)
        self.ys.append(y)
        if len(self.xs) == _MOST_POINTS:
            self.xs, self.ys = self.xs[1::2], self.ys[1::2]
            self._every *= 2

    def points(self) -> dict[str, list[float]]:
        # JSON knows no infinity; a gap is what the chart draws for it
        return {"xs": list(self.xs), "ys": [y if math.isfinite(y) else None for y in self.ys]}


class _Run(Callback):
    """One training with torch, by `fit`, that can pause after any update and go on; it listens to itself."""

    def __init__(self, lab: TrainingLab) -> None:
        self.lab, self.text = lab, lab.encoded
        size = len(self.text.vocab)
        torch.manual_seed(lab.seed)
        scratch = RNNScratch(size, lab.num_hiddens)
        torch.nn.init.orthogonal_(scratch.W_hh)
        self.model = RNNLM(scratch, size).to(lab.device)
        cut = self.text.train_ids, lab.batch_size, lab.num_steps
        generator = torch.Generator().manual_seed(lab.seed)
        self.windows = SequentialWindows(*cut) if lab.carry else RandomWindows(*cut, generator=generator)
        self.progress: dict[str, Any] | None = None  # where the last `go` stopped
        self.steps = self.tokens = 0
        self.smooth = self.weight = 0.0
        self.seconds = self.heldout_cost = self.last_heldout = 0.0
        self.status, self.sample = "paused", ""
        self.train, self.norms, self.heldout = _Trace(), _Trace(), _Trace()

    def go(self, pause: Callable[[], bool]) -> bool:
        """Update until `pause`, asked after each update, is true; False once the numbers are lost."""
        self.pause = pause
        settings = {"lr": self.lab.learning_rate, "optimizer": self._optimizer, "clip": None, "device": self.lab.device}
        try:
            fit(self.model, self.windows, updates=10**12, **settings, progress=False, callbacks=[self])
        except TrainingDivergedError:
            self.status = "diverged"
            return False
        return True

    def _optimizer(self, weights: torch.Tensor) -> Optimizer:
        self.kind = self.lab.optimizer
        return AdamW(weights, weight_decay=0.0) if self.kind == "adam" else SGD(weights)

    def _obey(self, run: Run) -> None:
        """The controls act at the next update."""
        run.settings["lr"], run.stepper.max_norm = self.lab.learning_rate, self.lab.clip or math.inf
        if self.kind != self.lab.optimizer:
            run.stepper.optimizer = self._optimizer(run.stepper.flat.data)
        self.forward = run.stepper.forward
        self._clock = time.perf_counter()

    def on_train_begin(self, run: Run) -> None:
        if self.progress is not None:
            optimizer = run.stepper.optimizer.state_dict() if self.kind != self.stored_kind else None
            run.load_state_dict(self.progress if optimizer is None else self.progress | {"optimizer": optimizer})
        self._obey(run)

    def on_step_end(self, run: Run) -> None:
        self.seconds += time.perf_counter() - self._clock
        nats, norm = run.history.step_losses[-1], run.history.step_grad_norms[-1]
        self.steps += 1
        self.tokens += self.windows.batch_size * self.windows.num_steps
        self.smooth, self.weight = 0.97 * self.smooth + 0.03 * nats, 0.97 * self.weight + 0.03
        self.train.add(self.tokens, _exp(self.smooth / self.weight))
        self.norms.add(self.tokens, norm)
        if self.pause():
            self.progress, self.stored_kind = run.state_dict(), self.kind
            run.stop("paused")
        self._obey(run)

    def on_train_end(self, run: Run) -> None:
        self.forward = None  # it reads memory that was the training's

    def evaluate(self) -> None:
        start = time.perf_counter()
        ids, forward = self.text.heldout_ids, getattr(self, "forward", None)
        if self.lab.carry:
            score = evaluate(self.model, ids, forward=forward)
        else:
            score = score_windows(self.model, ids, self.lab.num_steps)
        self.heldout.add(self.tokens, _exp(score.total_nats / score.num_tokens))
        self.heldout_cost, self.last_heldout = time.perf_counter() - start, self.seconds

    def write(self) -> None:
        self.sample = generate(self.model, self.text.vocab, self.lab.prefix, _SAMPLE_LENGTH, temperature=0.7)

    def report(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "tokens": self.tokens,
            "seconds": self.seconds,
            "sample": self.sample,
            "status": self.status,
            "device": describe_device(self.model.device),
            "levels": self.lab.levels,
            "train": self.train.points(),
            "norms": self.norms.points(),
            "heldout": self.heldout.points(),
        }


def _exp(nats: float) -> float:
    return math.exp(nats) if nats < 700 else math.inf


class TrainingLab(Explorable):
    r"""Train a tanh recurrent network on a text and watch its perplexity fall, or explode.

    Parameters
    ----------
    corpus : str or path, optional
        What to learn with a kernel: a named corpus or a text file, as in :func:`d2lrnn.load_text`. The page without a
        kernel always learns *The Tide Clock*.
    num_hiddens, num_steps, batch_size : int, optional
        Units of the state (1 to 256), characters of a window (1 to 64), windows at once (1 to 64). A change starts the
        training again, and so does one of `carry` or `seed`.
    learning_rate, clip : float, optional
        Step size; greatest length of the gradient, 0 for no clipping. A change acts at the next update.
    optimizer : "adam" or "sgd", optional
    carry : bool, optional
        Whether a sequence's state goes on into its next window.

    Raises
    ------
    traitlets.TraitError
        On a value out of range.

    Examples
    --------
    >>> lab = TrainingLab(num_hiddens=16, batch_size=8)
    >>> lab.train(steps=30)
    >>> lab.report["steps"], lab.heldout_perplexity < 27
    (30, True)
    """

    _esm = module("training_lab")
    _css = stylesheet("training_lab")
    _words = "training_lab"

    num_hiddens = t.Int(64, min=1, max=256).tag(sync=True, control=True)
    num_steps = t.Int(32, min=1, max=64).tag(sync=True, control=True)
    batch_size = t.Int(16, min=1, max=64).tag(sync=True, control=True)
    learning_rate = t.Float(0.01, min=1e-5, max=10).tag(sync=True, control=True)
    optimizer = t.Enum(["adam", "sgd"], "adam").tag(sync=True, control=True)
    clip = t.Float(1.0, min=0, max=100).tag(sync=True, control=True)
    carry = t.Bool(True).tag(sync=True, control=True)
    seed = t.Int(0, min=0, max=9999).tag(sync=True, control=True)
    engine = t.Enum(["page", "torch"], "page").tag(sync=True)
    report = t.Dict().tag(sync=True)
    text = t.Unicode().tag(sync=True, shared=True)

    def __init__(self, corpus: str | os.PathLike[str] | None = None, **traits: Any) -> None:
        self.encoded = _story() if corpus is None else load_text(corpus)
        self.prefix = self.encoded.vocab.decode(self.encoded.train_ids[:4])
        self._levels: list[dict[str, float]] | None = None
        self._device: torch.device | None = None
        self._run: _Run | None = None
        self._thread: threading.Thread | None = None
        self._wanted = threading.Event()
        self._seen: float | None = None  # when a page last looked on; None where none has to
        self._lock = threading.RLock()
        live = os.environ.get("D2LRNN_STATIC") != "1"
        super().__init__(**{"engine": "torch" if live else "page", **traits})
        self.on_msg(self._on_command)

    @property
    def device(self) -> torch.device:
        """Where the torch model is trained."""
        self._device = self._device or pick_device()
        return self._device

    @property
    def levels(self) -> list[dict[str, float]]:
        """Held-out perplexities of the models that count."""
        if self._levels is None:
            self._levels = _story_levels() if self.encoded is _story() else counting_levels(self.encoded)
        return self._levels

    @property
    def model(self) -> RNNLM | None:
        """The torch model as it is now, None before the first step."""
        return None if self._run is None else self._run.model

    @property
    def heldout_perplexity(self) -> float | None:
        """The last one measured; None before."""
        return None if self._run is None or not self._run.heldout.ys else self._run.heldout.ys[-1]

    def train(self, steps: int) -> None:
        """Make so many updates with torch, here and now, and score the held-out text after them.

        Raises
        ------
        ValueError
            If `steps` is below 1.
        """
        if steps < 1:
            raise ValueError(f"steps is {steps}; it must be at least 1.")
        self.stop()
        with self._lock:
            run = self._run or self._begin()
            last = run.steps + steps
            run.go(pause=lambda: run.steps >= last)
            run.evaluate()
            run.write()
            self.report = run.report()

    def start(self) -> None:
        """Train with torch in a thread until :meth:`stop`.

        What the start button began pauses by itself when no page has looked on for ten seconds: its notebook is closed.
        """
        self._seen = None
        self._start()

    def _start(self) -> None:
        if self._thread is not None and self._thread.is_alive() and self._wanted.is_set():
            return
        self.stop()
        self._wanted.set()
        self._thread = threading.Thread(target=self._work, daemon=True, name="d2lrnn training lab")
        self._thread.start()

    def stop(self) -> None:
        """Pause; returns when the thread has ended."""
        self._wanted.clear()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
            self._thread = None

    def close(self) -> None:
        """End the training and the widget."""
        self.stop()
        super().close()

    def _begin(self) -> _Run:
        with self._lock:
            self._run = _Run(self)
            self._run.evaluate()
            self._run.write()
            self.report = self._run.report()
        return self._run

    def _work(self) -> None:
        run = self._run or self._begin()
        if run.status == "diverged":
            run = self._begin()
        run.status = "running"
        told = written = time.monotonic()

        def pause() -> bool:
            nonlocal told, written
            now = time.monotonic()
            if run.seconds - run.last_heldout > max(0.5, 10 * run.heldout_cost):
                run.evaluate()
            if now - written > _WRITE_SECONDS:
                run.write()
                written = now
            if self._seen is not None and now - self._seen > _ALONE_SECONDS:
                self._wanted.clear()
            if now - told > _REPORT_SECONDS:
                self.report, told = run.report(), now
            self._lock.release()  # others may look at the run between two updates
            self._lock.acquire()
            return not self._wanted.is_set()

        with self._lock:
            run.go(pause)
        if run.status == "running":
            run.status = "paused"
            run.evaluate()
        self.report = run.report()

    def _on_command(self, _widget: Any, content: dict[str, Any], _buffers: Any) -> None:
        kind = content.get("kind")
        if kind == "go":
            self._seen = time.monotonic()
            self._start()
        elif kind == "seen" and self._seen is not None:
            self._seen = time.monotonic()
        elif kind == "pause":
            self.stop()
        elif kind == "step":
            self.train(1)
        elif kind == "begin":
            running = self._wanted.is_set()
            self.stop()
            self._begin()
            if running:
                self._start()

    @t.default("text")
    def _default_text(self) -> str:
        # What a page trains on that has no kernel, or lost it: a saved notebook.
        text = _story()
        return text.vocab.decode(torch.cat([text.train_ids, text.heldout_ids]))

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """What pressing start would do."""
        return Words(self._words)("sentence", units=self.num_hiddens, steps=self.num_steps)

    def static_picture(self) -> str:
        """The levels that a network has to fall below."""
        words = Words(self._words)
        names = [self._level_name(int(level["order"]), words) for level in self.levels]
        described = ", ".join(f"{name} {format_number(level['perplexity'])}" for name, level in zip(names, self.levels))
        picture = Picture(
            440, 230, words("title"), words("picture", levels=described, uniform=len(self.encoded.vocab))
        )
        picture.add("text", words("perplexity"), x=12, y=22)
        for name, level in zip(names, self.levels):
            y = 210 - 170 * math.log(level["perplexity"] / 2) / math.log(16)
            picture.add("path", d=f"M52 {y:.1f}H428", stroke="currentColor", stroke_dasharray="2 4", fill="none")
            picture.add("text", format_number(level["perplexity"], 1), x=46, y=y + 4, font_size=12, text_anchor="end")
            picture.add("text", name, x=428, y=y - 5, font_size=12, text_anchor="end")
        picture.add("circle", cx=60, cy=210 - 170 * math.log(13.5) / math.log(16), r=5, fill=color("blue"))
        return str(picture)

    @staticmethod
    def _level_name(order: int, words: Words) -> str:
        if order == 0:
            return words("uniform")
        return words("unigram") if order == 1 else words("ngram", order=order)
