"""The training lab of the chapter *A character language model*: watch a recurrent network learn to spell.

In a page without a kernel the network is trained by JavaScript in a worker of the page. With a kernel the same stage
shows the torch model, which `fit` trains on its device, in a thread.
"""

from __future__ import annotations

import math
import os
import threading
import time
from functools import cache
from typing import Any

import torch
import traitlets as t

from d2lrnn.model import RNNLM
from d2lrnn.ops.device import pick_device
from d2lrnn.text import EncodedText, encode_text, load_text
from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color, format_number
from d2lrnn.widgets.spec import Spec, Words
from d2lrnn.widgets.training_lab.ngrams import rivals
from d2lrnn.widgets.training_lab.run import LabRun

__all__ = ["TrainingLab"]

_SPEC = Spec("training_lab")
_REPORT_SECONDS = 0.2
#: so long may a page that started the training leave its reports unanswered
_ALONE_SECONDS = 10.0


@cache
def _story() -> EncodedText:
    return load_text()


@cache
def _story_rivals() -> list[dict[str, float]]:
    return rivals(_story())


class TrainingLab(Explorable):
    r"""Train a recurrent network on a text and watch it learn to spell, or be thrown off.

    Parameters
    ----------
    corpus : str or path, optional
        What to learn with a kernel: a named corpus or a text file, as in :func:`d2lrnn.load_text`. The page without a
        kernel begins with *The Tide Clock*; a reader may paste a text of their own there.
    cell : "tanh", "gru" or "lstm", optional
    num_hiddens, num_steps, batch_size : int, optional
        Units of the state (1 to 256), characters of a window (1 to 64), windows at once (1 to 64). A change starts the
        training again, and so does one of `cell`, `carry` or `seed`.
    learning_rate, clip : float, optional
        Step size; greatest length of the gradient, 0 for no clipping. A change acts at the next update.
    optimizer : "adam" or "sgd", optional
    carry : bool, optional
        Whether a sequence's state goes on into its next window.
    speed : "slow", "normal" or "flat", optional
        Slow begins with a few updates a second, so that a reader can follow; flat is as fast as it goes.
    story : int, optional
        The story whose question is open, 1 to 3; 0 for none.

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

    cell = _SPEC.trait("cell")
    num_hiddens = _SPEC.trait("num_hiddens")
    num_steps = _SPEC.trait("num_steps")
    batch_size = _SPEC.trait("batch_size")
    learning_rate = _SPEC.trait("learning_rate")
    optimizer = _SPEC.trait("optimizer")
    clip = _SPEC.trait("clip")
    carry = _SPEC.trait("carry")
    seed = _SPEC.trait("seed")
    speed = _SPEC.trait("speed")
    story = _SPEC.trait("story")
    engine = t.Enum(["page", "torch"], "page").tag(sync=True)
    report = t.Dict().tag(sync=True)
    text = t.Unicode().tag(sync=True, shared=True)

    def __init__(self, corpus: str | os.PathLike[str] | None = None, **traits: Any) -> None:
        self._thread: threading.Thread | None = None  # first what `close` needs, which is called if the text fails
        self._wanted = threading.Event()
        self._corpus = self.encoded = _story() if corpus is None else load_text(corpus)
        self._levels: list[dict[str, float]] | None = None
        self._device: torch.device | None = None
        self._run: LabRun | None = None
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
        """Held-out perplexities of the n-grams of the text at hand."""
        if self.encoded is _story():
            return _story_rivals()
        if self._levels is None:
            self._levels = rivals(self.encoded)
        return self._levels

    @property
    def known_levels(self) -> list[dict[str, float]]:
        """The same, without waiting: empty as long as they are not counted."""
        return _story_rivals() if self.encoded is _story() else (self._levels or [])

    @property
    def model(self) -> RNNLM | None:
        """The torch model as it is now, None before the first step."""
        return None if self._run is None else self._run.model

    @property
    def heldout_perplexity(self) -> float | None:
        """The last one measured; None before."""
        return None if self._run is None else self._run.heldout.last

    def whole_text(self) -> str:
        """The text at hand, as it is read."""
        return self.encoded.vocab.decode(torch.cat([self.encoded.train_ids, self.encoded.heldout_ids]))

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
            start, last = time.perf_counter(), run.steps + steps
            run.go(pause=lambda: run.steps >= last)
            run.seconds += time.perf_counter() - start
            run.evaluate()
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

    def _begin(self, **order: Any) -> LabRun:
        with self._lock:
            self._run = LabRun(self, **order)
            self._run.score()
            self._run.note()
            self.report = self._run.report()
        return self._run

    def _work(self) -> None:
        run = self._run or self._begin()
        if run.status == "diverged" or run.ended:
            run = self._begin()
        run.status = "running"
        told = last = time.monotonic()
        _ = self.levels  # counted now, where they were not

        def pause() -> bool:
            nonlocal told, last
            now = time.monotonic()
            run.seconds += now - last
            last = now
            if self._seen is not None and now - self._seen > _ALONE_SECONDS:
                self._wanted.clear()
            if now - told > _REPORT_SECONDS and not run.ended:
                self.report, told = run.report(), now
            self._lock.release()  # others may look at the run between two updates
            pace = run.pace()
            if pace < math.inf and not run.ended:
                # no longer than what is left of this update's share, and a pause is heard at once
                rest = 1 / pace - (now - run.ticked)
                end = time.monotonic() + rest
                while rest > 0 and self._wanted.is_set():
                    time.sleep(min(rest, 0.05))
                    rest = end - time.monotonic()
            run.ticked = time.monotonic()
            self._lock.acquire()
            return not self._wanted.is_set() or run.ended is not None

        run.ticked = last
        with self._lock:
            run.go(pause)
        if run.ended:
            run.status = "ended"
            self._wanted.clear()
        elif run.status == "running":
            run.status = "paused"
        if run.status != "diverged":
            run.evaluate()
        self.report = run.report()

    def _on_command(self, _widget: Any, content: dict[str, Any], _buffers: Any) -> None:
        kind = content.get("kind")
        if kind == "go":
            self._seen = time.monotonic()
            self._start()
        elif kind == "seen" and self._seen is not None:
            self._seen = time.monotonic()
        elif kind == "on" and self._run is not None and self._run.ended == "until":
            self._run.go_on()
            self._seen = time.monotonic()
            self._start()
        elif kind == "pause":
            self.stop()
        elif kind == "cat" and self._run is not None:
            self._run.cat_waits = True
        elif kind == "begin":
            running = self._wanted.is_set()
            self.stop()
            self._take(content.get("text"))
            cat, until = int(content.get("cat", 0)), int(content.get("until", 0))
            self._begin(cat=cat, until=until, tells=str(content.get("tells", "")))
            if running:
                self._start()

    def _take(self, text: str | None) -> None:
        """Learn this text from now on; None for the one that the lab was made with."""
        if text is None:
            if self.encoded is not self._corpus:
                self.encoded, self._levels = self._corpus, None
        elif self.encoded is self._corpus or text != self.whole_text():
            self.encoded, self._levels = encode_text(text), None

    @t.default("text")
    def _default_text(self) -> str:
        # What a page trains on that has no kernel, or lost it: a saved notebook.
        text = _story()
        return text.vocab.decode(torch.cat([text.train_ids, text.heldout_ids]))

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """What pressing start would do."""
        return Words(self._words)("sentence", units=self.num_hiddens)

    def static_picture(self) -> str:
        """The rivals that a network has to fall below; without those of a text that nobody has counted yet."""
        words = Words(self._words)
        levels = self.known_levels or [{"order": 0, "perplexity": len(self.encoded.vocab)}]
        orders = [int(level["order"]) for level in levels]
        names = [words("level_n", letters=n - 1) if n > 2 else words(f"level_{n}") for n in orders]
        described = ", ".join(f"{name} {format_number(level['perplexity'])}" for name, level in zip(names, levels))
        size = len(self.encoded.vocab)
        picture = Picture(440, 230, words("title"), words("picture", levels=described, uniform=size))
        picture.add("text", words("curve"), x=12, y=22)

        def height(perplexity: float) -> float:
            return 210 - 165 * math.log(perplexity / 2) / math.log(max(size, 3) / 2)

        for name, level in zip(names, levels):
            y = height(level["perplexity"])
            picture.add("path", d=f"M52 {y:.1f}H428", stroke="currentColor", stroke_dasharray="2 4", fill="none")
            picture.add("text", format_number(level["perplexity"], 1), x=46, y=y + 4, font_size=12, text_anchor="end")
            picture.add("text", name, x=428, y=y - 4, font_size=12, text_anchor="end")
        picture.add("circle", cx=60, cy=height(size), r=5, fill=color("blue"))
        return str(picture)
