"""The training lab of the chapter *A character language model*: watch a recurrent network learn to spell.

In a page without a kernel the network is trained by JavaScript in a worker of the page. With a kernel the same stage
shows the torch model, which `fit` trains on its device, in a thread.
"""

from __future__ import annotations

import base64
import contextlib
import math
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import torch
import traitlets as t

from d2lrnn.decoding import generate
from d2lrnn.engines.closed_form import threads_for
from d2lrnn.layers import GRU, LSTM, RNNScratch
from d2lrnn.metrics import Score, score_logits
from d2lrnn.model import RNNLM, evaluate
from d2lrnn.ops.device import describe_device, pick_device
from d2lrnn.optim import SGD, AdamW, Optimizer
from d2lrnn.text import EncodedText, encode_text, load_text
from d2lrnn.training import Callback, Run, TrainingDivergedError, fit
from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color, format_number
from d2lrnn.widgets.spec import Spec, Words
from d2lrnn.windows import Batch, RandomWindows, SequentialWindows

__all__ = ["TrainingLab", "rivals", "score_windows"]

_SPEC = Spec("training_lab")
#: updates after which the diary gets a line
_AGES = (0, 10, 40, 100, 300, 1000, 3000)
_SENTENCE, _LINE, _SAMPLE, _WORD, _SPELLED = 96, 60, 400, 3, 0.6
_REPORT_SECONDS, _MOST_UPDATES = 0.2, 50_000
#: so long stands a text that it writes now, to be read
_SAMPLE_SECONDS = 1.0
#: a free run ends when it has not improved by this share while its age doubled
_GAIN, _YOUNG = 0.02, 3000
# So long may a page that started the training leave its reports unanswered.
_ALONE_SECONDS = 10.0
#: updates a second at an age: slow and normal grow with it, so that a logarithmic axis is crossed evenly
_PACES: dict[str, Callable[[int], float]] = {
    "slow": lambda steps: min(400, max(3, 0.3 * steps)),
    "normal": lambda steps: min(1200, max(20, 1.5 * steps)),
    "flat": lambda steps: math.inf,
}


def rivals(text: EncodedText, longest: int = 5) -> list[dict[str, float]]:
    """Held-out perplexity of the n-grams of a text, n from 0 to `longest`, as `NGramLM` has it, by sorting.

    With a large alphabet the longest are left out: their number of possible n-grams does not fit an integer.

    Examples
    --------
    >>> [round(level["perplexity"], 2) for level in rivals(load_text())]
    [27.0, 15.91, 8.85, 5.41, 3.98, 3.63]
    """
    size = len(text.vocab)
    while size**longest >= 2**62:
        longest -= 1
    train, heldout = (ids.long().cpu() for ids in (text.train_ids, text.heldout_ids))
    probs = torch.full((len(heldout) - 1,), 1 / size, dtype=torch.float64)  # of the token that came, by the last n-gram
    seen = torch.ones(len(probs), dtype=torch.bool)
    found = [float(size)]
    before = torch.zeros(len(train), dtype=torch.long), torch.zeros(len(heldout), dtype=torch.long)  # codes of contexts
    for length in range(longest):
        # Whatever begins `length` tokens into the text has a context of that length.
        train_context, heldout_context = before[0][length:], before[1][1:]
        grams = (train_context * size + train[length:]).sort().values
        asked = heldout_context * size + heldout[1:]
        count, total = _counts(grams, asked, 1), _counts(grams, heldout_context * size, size)
        types = _counts(grams.unique_consecutive(), heldout_context * size, size)
        fits = torch.arange(1, len(heldout)) >= length
        seen &= (total > 0) | ~fits  # where a context was never met, no longer one was
        better = (count + types * probs) / (total + types).clamp(min=1)
        probs = torch.where(seen & fits, better, probs)
        found.append(math.exp(-float(probs.log().mean())))
        # The code of one token more: the token at its place is the newest, the others move up.
        before = tuple(_longer(codes, ids, length, size) for codes, ids in zip(before, (train, heldout)))
    return [{"order": order, "perplexity": perplexity} for order, perplexity in enumerate(found)]


def _counts(sorted_codes: torch.Tensor, first: torch.Tensor, width: int) -> torch.Tensor:
    """How many of the sorted codes lie in [first, first + width), for each."""
    return torch.searchsorted(sorted_codes, first + width) - torch.searchsorted(sorted_codes, first)


def _longer(codes: torch.Tensor, ids: torch.Tensor, length: int, size: int) -> torch.Tensor:
    """Codes of the contexts that are one token longer: of place p, tokens p - length - 1 to p - 1."""
    longer = torch.zeros_like(codes)
    longer[length + 1 :] = codes[length + 1 :] + ids[: len(ids) - length - 1] * size**length
    return longer


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
def _story_rivals() -> list[dict[str, float]]:
    return rivals(_story())


def _words_of(text: str) -> list[str]:
    return [word for word in re.split(r"[\W\d_]+", text.lower()) if word]


def _mark_real(text: str, words: set[str]) -> list[list[Any]]:
    """A text in pieces, each with whether it is one of the words; a letter alone proves nothing."""
    return [[piece, len(piece) > 1 and piece.lower() in words] for piece in re.split(r"([^\W\d_]+)", text) if piece]


class _Trace:
    """A curve for a logarithmic axis: fifty bins a power of ten, of each the least, the largest and the newest value.

    So a run of any length fits, and no spike is lost.
    """

    def __init__(self, bins_per_decade: int = 50) -> None:
        self._per_decade = bins_per_decade
        self._bins: dict[int, list[tuple[int, float]]] = {}

    def add(self, x: int, y: float) -> None:
        key = math.floor(self._per_decade * math.log10(x)) if x > 0 else -1
        point = (x, y)
        least, most, _ = self._bins.get(key, [point, point, point])
        self._bins[key] = [point if y < least[1] else least, point if y > most[1] else most, point]

    @property
    def last(self) -> float | None:
        return next(reversed(self._bins.values()))[2][1] if self._bins else None

    def points(self) -> dict[str, list[float | None]]:
        points = [point for three in self._bins.values() for point in sorted(set(three))]
        return {"xs": [x for x, _ in points], "ys": [_finite(y) for _, y in points]}


def _finite(value: float) -> float | None:
    # JSON knows no infinity
    return value if math.isfinite(value) else None


class _WithCat:
    """Windows that a cat can lie on: then one minibatch is the rarest token, over and over."""

    run: _Run

    def _from_position(self) -> Iterator[Batch]:
        for X, Y in super()._from_position():  # type: ignore[misc]
            if self.run.cat_comes():
                X = Y = torch.full_like(X, len(self.run.text.vocab) - 1)
            yield X, Y


class _Sequential(_WithCat, SequentialWindows):
    pass


class _Random(_WithCat, RandomWindows):
    pass


class _Run(Callback):
    """One training with torch, by `fit`, that can pause after any update and go on; it listens to itself."""

    def __init__(self, lab: TrainingLab, cat: int = 0, until: int = 0) -> None:
        self.lab, self.text, self.cat, self.until = lab, lab.encoded, cat, until
        size = len(self.text.vocab)
        torch.manual_seed(lab.seed)
        if lab.cell == "tanh":
            layer: Any = RNNScratch(size, lab.num_hiddens)
            torch.nn.init.orthogonal_(layer.W_hh)
        else:
            layer = (GRU if lab.cell == "gru" else LSTM)(size, lab.num_hiddens)
        self.model = RNNLM(layer, size).to(lab.device)
        self.carry, self.num_steps = lab.carry, lab.num_steps
        # A short text gets fewer sequences at once: as many as it has room for.
        self.batch_size = max(1, min(lab.batch_size, (len(self.text.train_ids) - 1) // self.num_steps))
        cut = self.text.train_ids, self.batch_size, self.num_steps
        generator = torch.Generator().manual_seed(lab.seed)
        self.windows = _Sequential(*cut) if self.carry else _Random(*cut, generator=generator)
        self.windows.run = self
        self.progress: dict[str, Any] | None = None  # where the last `go` stopped
        self.steps = self.tokens = 0
        self.smooth = self.weight = 0.0
        self.seconds = self.heldout_seconds = self.longest = 0.0
        self.scored_tokens, self.best, self.best_steps = 0, math.inf, 0
        self.cat_waits = self.is_cats = False
        self.cat_norm = 0.0
        self.status, self.ended = "paused", None
        self.train, self.norms, self.heldout = _Trace(), _Trace(), _Trace()
        self.diary: list[dict[str, Any]] = []
        self.counted: dict[str, int] | None = None  # of the words that it wrote last how many were real
        self.spelled: dict[str, Any] | None = None  # the same with its age, when it could spell for the first time
        self.written: list[list[Any]] = []  # what it writes now, in pieces
        self.sampled = -math.inf
        self.words = set(_words_of(lab.whole_text()))
        space = self.text.vocab.index(" ") if " " in self.text.vocab else -1
        first = next((i + 1 for i, token in enumerate(self.text.heldout_ids[:40].tolist()) if token == space), 0)
        self.sentence = self.text.heldout_ids[first : first + _SENTENCE]
        self.prefix = self.text.vocab.decode(self.text.train_ids[:4])

    def cat_comes(self) -> bool:
        """Whether the next minibatch is the cat's."""
        self.is_cats, self.cat_waits = self.cat_waits or self.steps + 1 == self.cat, False
        return self.is_cats

    def go(self, pause: Callable[[], bool]) -> bool:
        """Update until `pause`, asked after each update, is true; False once the numbers are lost."""
        self.pause = pause
        settings = {"lr": self.lab.learning_rate, "optimizer": self._optimizer, "clip": None, "device": self.lab.device}
        small = threads_for(self.lab.num_hiddens, self.batch_size) if self.lab.device.type == "cpu" else None
        try:
            with small or contextlib.nullcontext():
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

    def on_train_begin(self, run: Run) -> None:
        if self.progress is not None:
            optimizer = run.stepper.optimizer.state_dict() if self.kind != self.stored_kind else None
            run.load_state_dict(self.progress if optimizer is None else self.progress | {"optimizer": optimizer})
        self._obey(run)

    def on_step_end(self, run: Run) -> None:
        nats, norm = run.history.step_losses[-1], run.history.step_grad_norms[-1]
        self.steps += 1
        self.tokens += self.batch_size * self.num_steps
        self.smooth, self.weight = 0.97 * self.smooth + 0.03 * nats, 0.97 * self.weight + 0.03
        self.longest = max(self.longest, norm)
        self.cat_norm = norm if self.is_cats else self.cat_norm
        self.train.add(self.tokens, _exp(self.smooth / self.weight))
        self.norms.add(self.tokens, norm)
        self._look()
        if self.pause():
            self.progress, self.stored_kind = run.state_dict(), self.kind
            run.stop("paused")
        self._obey(run)

    def on_train_end(self, run: Run) -> None:
        self.forward = None  # it reads memory that was the training's

    def _look(self) -> None:
        """Score and write at some ages, and see whether the run is over."""
        is_age = self.steps in _AGES
        is_near = self.cat and self.cat - 1 <= self.steps < self.cat + 20  # what the cat does, update by update
        # Elsewhere the scores lie evenly on a logarithmic axis, and cost a quarter of the time at most.
        is_due = self.tokens >= 1.05 * self.scored_tokens and self.heldout_seconds <= 0.3 * (self.seconds + 0.3)
        if is_age or is_near or self.steps == self.until or is_due:
            self.evaluate()
        if is_age:
            self.note()
        if self.until:
            self.ended = "until" if self.steps >= self.until else None
        elif self.steps >= _MOST_UPDATES:
            self.ended = "most"
        elif self.steps > _YOUNG and self.steps > 2 * self.best_steps:
            self.ended = "plateau"

    def evaluate(self) -> None:
        """Score the held-out text."""
        start = time.perf_counter()
        ids, forward = self.text.heldout_ids, getattr(self, "forward", None)
        if self.carry:
            score = evaluate(self.model, ids, forward=forward)
        else:
            score = score_windows(self.model, ids, self.num_steps)
        perplexity = _exp(score.total_nats / score.num_tokens)
        self.heldout.add(self.tokens, perplexity)
        if perplexity < self.best * (1 - _GAIN):
            self.best, self.best_steps = perplexity, self.steps
        if self.spelled is None and len(self.words) > 50 and self.steps >= 50:
            self._spell()
        self.scored_tokens = self.tokens
        self.heldout_seconds += time.perf_counter() - start

    def _spell(self) -> None:
        """Note when three in five of the words that it writes are real."""
        written = self.write(_SAMPLE).partition(" ")[2].rpartition(" ")[0]
        whole = [word for word in _words_of(written) if len(word) >= _WORD]
        real = sum(word in self.words for word in whole)
        self.counted = {"real": real, "words": len(whole)}
        if len(whole) >= 20 and real >= _SPELLED * len(whole):
            self.spelled = {"steps": self.steps, "real": real, "words": len(whole), "seconds": self.seconds}

    def write(self, length: int) -> str:
        """So many characters, after the text's first four; nothing where its numbers are lost."""
        is_finite = all(bool(weights.isfinite().all()) for weights in self.model.parameters())
        if not is_finite or not math.isfinite(self.heldout.last or math.inf):
            return ""
        generator = torch.Generator(self.model.device).manual_seed(self.lab.seed + 2)
        written = generate(self.model, self.text.vocab, self.prefix, length, temperature=0.7, generator=generator)
        return written[len(self.prefix) :]

    def note(self) -> None:
        """A line of the diary."""
        perplexity = _finite(self.heldout.last or math.inf)
        self.diary.append({"age": self.steps, "perplexity": perplexity, "pieces": self.sample()})

    def sample(self) -> list[list[Any]]:
        """A line of text as it writes now, in pieces."""
        return _mark_real(self.write(_LINE), self.words)

    @torch.no_grad()
    def read(self) -> dict[str, Any]:
        """The sentence: the price of each letter but the first, the five likeliest there, all states as bytes."""
        ids = self.sentence.to(self.model.device)
        windows = [ids] if self.carry else ids.split(self.num_steps)
        H = torch.cat([self.model.rnn(self.model.encode_inputs(window[None]))[0] for window in windows])[:, 0]
        probs = torch.softmax(H @ self.model.W_hq + self.model.b_q, dim=1)[:-1].nan_to_num(0.0).cpu()
        nats = -probs.gather(1, self.sentence[1:, None].cpu())[:, 0].clamp(min=1e-30).log()
        top = probs.topk(min(5, probs.shape[1]))
        name = self.text.vocab.tokens
        likeliest = [[[name[i], p] for i, p in zip(*row)] for row in zip(top.indices.tolist(), top.values.tolist())]
        states = (127 * H.nan_to_num(0.0)).round().to(torch.int8).cpu().contiguous()
        return {
            "nats": nats.tolist(),
            "top": likeliest,
            "states": base64.b64encode(states.numpy().tobytes()).decode("ascii"),
        }

    def report(self) -> dict[str, Any]:
        now = time.monotonic()
        if self.status != "running" or now - self.sampled > _SAMPLE_SECONDS:
            self.written, self.sampled = self.sample(), now
        return {
            "steps": self.steps,
            "tokens": self.tokens,
            "seconds": self.seconds,
            "busy": self.seconds,
            "batchSize": self.batch_size,
            "longest": _finite(self.longest),
            "catNorm": _finite(self.cat_norm),
            "counted": self.counted,
            "spelled": self.spelled,
            "written": self.written,
            "levels": self.lab.known_levels,
            "ended": self.ended,
            "diary": list(self.diary),
            "status": self.status,
            "device": describe_device(self.model.device),
            "train": self.train.points(),
            "norms": self.norms.points(),
            "heldout": self.heldout.points(),
            "perplexity": _finite(self.heldout.last or math.inf),
            "sentence": [self.text.vocab.tokens[i] for i in self.sentence.tolist()],
            **self.read(),
        }


def _exp(nats: float) -> float:
    return math.exp(nats) if nats < 700 else math.inf


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
        self._corpus = self.encoded = _story() if corpus is None else load_text(corpus)
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

    def _begin(self, **order: int) -> _Run:
        with self._lock:
            self._run = _Run(self, **order)
            self._run.evaluate()
            self._run.note()
            self.report = self._run.report()
        return self._run

    def _work(self) -> None:
        run = self._run or self._begin()
        if run.status == "diverged" or run.ended:
            run = self._begin()
        run.status = "running"
        told = last = time.monotonic()
        if not self.known_levels:
            _ = self.levels

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
            pace = _PACES[self.speed](run.steps)
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
        elif kind == "pause":
            self.stop()
        elif kind == "cat" and self._run is not None:
            self._run.cat_waits = True
        elif kind == "begin":
            running = self._wanted.is_set()
            self.stop()
            self._take(content.get("text"))
            self._begin(cat=int(content.get("cat", 0)), until=int(content.get("until", 0)))
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
        names = [words("level_n", order=level["order"]) if level["order"] else words("level_0") for level in levels]
        described = ", ".join(f"{name} {format_number(level['perplexity'])}" for name, level in zip(names, levels))
        size = len(self.encoded.vocab)
        picture = Picture(440, 230, words("title"), words("picture", levels=described, uniform=size))
        picture.add("text", words("curve"), x=12, y=22)

        def height(perplexity: float) -> float:
            return 210 - 165 * math.log(perplexity / 2) / math.log(size / 2)

        for name, level in zip(names, levels):
            y = height(level["perplexity"])
            picture.add("path", d=f"M52 {y:.1f}H428", stroke="currentColor", stroke_dasharray="2 4", fill="none")
            picture.add("text", format_number(level["perplexity"], 1), x=46, y=y + 4, font_size=12, text_anchor="end")
            picture.add("text", name, x=428, y=y - 4, font_size=12, text_anchor="end")
        picture.add("circle", cx=60, cy=height(size), r=5, fill=color("blue"))
        return str(picture)
