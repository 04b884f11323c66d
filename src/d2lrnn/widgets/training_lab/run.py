"""One run of the training lab with torch: `fit`, and what the page shows of it."""

from __future__ import annotations

import base64
import contextlib
import json
import math
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from d2lrnn.decoding import generate
from d2lrnn.engines.closed_form import threads_for
from d2lrnn.layers import GRU, LSTM, RNNScratch
from d2lrnn.metrics import Score, score_logits
from d2lrnn.model import RNNLM, evaluate
from d2lrnn.ops.device import describe_device
from d2lrnn.ops.files import finite
from d2lrnn.optim import SGD, AdamW, Optimizer
from d2lrnn.training import Callback, Run, TrainingDivergedError, fit
from d2lrnn.windows import Batch, RandomWindows, SequentialWindows

if TYPE_CHECKING:
    from d2lrnn.widgets.training_lab import TrainingLab

__all__ = ["LabRun", "Trace", "score_windows"]

#: what the worker of a page goes by as well: ages of the diary, paces, when a run ends, what is called spelling
_LAB = json.loads((Path(__file__).parent / "rules.json").read_text(encoding="utf-8"))


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


def _words_of(text: str) -> list[str]:
    return [word for word in re.split(r"[\W\d_]+", text.lower()) if word]


def _known_words(text: str) -> set[str]:
    """The words that count as real: short ones come about by chance."""
    return {word for word in _words_of(text) if len(word) >= _LAB["word"]}


def _mark_real(text: str, words: set[str]) -> list[list[Any]]:
    """A text in pieces, each with whether it is one of the words."""
    pieces = re.split(r"([^\W\d_]+)", text)
    return [[piece, piece.lower() in words] for piece in pieces if piece]


def _ends_in_word(text: str) -> bool:
    """Whether a text ends with a letter: then a word goes on after it."""
    return re.search(r"[^\W\d_]$", text) is not None


def _mark_line(text: str, length: int, words: set[str], before: str) -> list[list[Any]]:
    """The first letters of a text that was written after `before`, in pieces; a word that an edge cuts is not real."""
    line = text[:length]
    pieces = _mark_real(line, words)
    if pieces and _ends_in_word(before):
        pieces[0][1] = False
    if pieces and _ends_in_word(line) and _ends_in_word(text[length : length + 1]):
        pieces[-1][1] = False
    return pieces


class Trace:
    """A curve for a logarithmic axis: fifty bins a power of ten, of each the first, least, largest and newest value.

    So a run of any length fits, no spike is lost, and none is drawn as a climb from the bin before.
    """

    def __init__(self, bins_per_decade: int = 50) -> None:
        self._per_decade = bins_per_decade
        self._bins: dict[int, list[tuple[int, float]]] = {}

    def add(self, x: int, y: float) -> None:
        key = math.floor(self._per_decade * math.log10(x)) if x > 0 else -1
        point = (x, y)
        first, least, most, _ = self._bins.get(key, [point, point, point, point])
        self._bins[key] = [first, point if y < least[1] else least, point if y > most[1] else most, point]

    @property
    def last(self) -> float | None:
        return next(reversed(self._bins.values()))[-1][1] if self._bins else None

    def points(self) -> dict[str, list[float | None]]:
        points = [point for kept in self._bins.values() for point in sorted(set(kept))]
        return {"xs": [x for x, _ in points], "ys": [finite(y) for _, y in points]}


class _WithCat:
    """Windows that a cat can lie on: then one minibatch is the rarest token, over and over."""

    run: LabRun

    def _from_position(self) -> Iterator[Batch]:
        for X, Y in super()._from_position():  # type: ignore[misc]
            if self.run.cat_comes():
                X = Y = torch.full_like(X, len(self.run.text.vocab) - 1)
            yield X, Y


class _Sequential(_WithCat, SequentialWindows):
    pass


class _Random(_WithCat, RandomWindows):
    pass


class LabRun(Callback):
    """One training with torch, by `fit`, that can pause after any update and go on; it listens to itself."""

    def __init__(self, lab: TrainingLab, cat: int = 0, until: int = 0, tells: str = "") -> None:
        self.lab, self.text, self.cat, self.until, self.tells = lab, lab.encoded, cat, until, tells
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
        self.ticked = 0.0  # when the last update was due
        self.smooth = 0.0
        self.next_look = _LAB["looks"]["first"]
        self.seconds = self.longest = 0.0
        self.scores = self.scored_steps = self.best_steps = 0
        self.evaluated = -1  # the update after which the held-out text was scored last
        self.best = math.inf
        self.cat_waits = self.is_cats = False
        self.cat_norm, self.cat_at = 0.0, 0
        self.status = "paused"
        self.ended: str | None = None
        self.train, self.norms, self.heldout = Trace(), Trace(), Trace()
        self.diary: list[dict[str, Any]] = []
        self.counted: dict[str, Any] | None = None  # of the page that it wrote last how many words were real
        self.spelled: dict[str, Any] | None = None  # the same, when it could spell for the first time
        self.written: list[list[Any]] = []  # what it writes now, in pieces
        self.written_at = 0  # the update after which it wrote that
        self.sampled = -math.inf
        self.kept_at = -1  # the update of the last report that has what it wrote just then, for whoever looks back
        self.words = _known_words(lab.whole_text())
        space = self.text.vocab.index(" ") if " " in self.text.vocab else -1
        first = next((i + 1 for i, token in enumerate(self.text.heldout_ids[:40].tolist()) if token == space), 0)
        self.sentence = self.text.heldout_ids[first : first + _LAB["sentence"]]
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

    def go_on(self) -> None:
        """Lift the end that it was given, once it has come to it: :meth:`go` goes on from there."""
        self.until, self.tells, self.ended = 0, "", None

    def _optimizer(self, weights: torch.Tensor) -> Optimizer:
        self.kind = self.lab.optimizer
        return AdamW(weights, weight_decay=0.0) if self.kind == "adam" else SGD(weights)

    def _obey(self, run: Run) -> None:
        """The controls act at the next update."""
        run.settings["lr"], run.stepper.max_norm = self.lab.learning_rate, self.lab.clip or math.inf
        if self.kind != self.lab.optimizer:
            run.stepper.optimizer = self._optimizer(run.stepper.flat.data)
        self.forward: Callable[..., Any] | None = run.stepper.forward

    def on_train_begin(self, run: Run) -> None:
        if self.progress is not None:
            optimizer = run.stepper.optimizer.state_dict() if self.kind != self.stored_kind else None
            run.load_state_dict(self.progress if optimizer is None else self.progress | {"optimizer": optimizer})
        self._obey(run)

    def on_step_end(self, run: Run) -> None:
        nats, norm = run.history.step_losses[-1], run.history.step_grad_norms[-1]
        self.steps += 1
        self.tokens += self.batch_size * self.num_steps
        self.smooth += max(0.03, min(1.0, 5 / self.steps)) * (nats - self.smooth)
        self.longest = max(self.longest, norm)
        if self.is_cats:
            self.cat_norm, self.cat_at = norm, self.tokens
        self.train.add(self.tokens, exp_or_infinity(self.smooth))
        self.norms.add(self.tokens, norm)
        if self.steps == self.next_look:
            self.next_look = math.ceil(_LAB["looks"]["factor"] * self.next_look)
            self._look_at_words()
        self._look()
        if self.pause():
            self.progress, self.stored_kind = run.state_dict(), self.kind
            run.stop("paused")
        self._obey(run)

    def on_train_end(self, run: Run) -> None:
        self.forward = None  # it reads memory that was the training's

    def pace(self) -> float:
        """Updates a second at this age: slow and normal grow with it, so a logarithmic axis is crossed evenly."""
        if self.lab.speed == "flat":
            return math.inf
        if self.lab.speed == "slow" and self.steps <= _LAB["singles"]["count"]:
            return _LAB["singles"]["pace"]
        if self.cat and self.cat - _LAB["cat"]["before"] <= self.steps < self.cat + _LAB["cat"]["after"]:
            return _LAB["cat"]["pace"]
        rule = _LAB["paces"][self.lab.speed]
        return min(rule["most"], max(rule["least"], rule["of_age"] * self.steps))

    def _look(self) -> None:
        """Score and write at some ages, and see whether the run is over."""
        is_age = self.steps in _LAB["ages"]
        # what the cat does is seen update by update
        is_near = self.cat and self.steps >= self.cat - 1 and (self.steps < self.cat + 40 or self.steps % 5 == 0)
        if is_age or is_near or self.steps == self.until or self._score_is_due():
            self.score()
        if is_age:
            self.note()
        if self.until:
            is_told = self.tells == "spelled" and self.spelled is not None
            self.ended = "until" if self.steps >= self.until or is_told else None
        elif self.steps >= _LAB["most_updates"]:
            self.ended = "most"
        elif self.steps > _LAB["young"] and self.steps > 2 * self.best_steps:
            self.ended = "plateau"

    def _score_is_due(self) -> bool:
        """Evenly on a logarithmic axis, at a share of the training's work at most but for what is free.

        Never by the clock: work is counted in letters read, times weights. An update counts three times.
        """
        rule = _LAB["scores"]
        weights = sum(part.numel() for part in self.model.parameters())
        most = 3 * rule["share"] * self.tokens + rule["free"] / weights
        return self.steps >= rule["factor"] * self.scored_steps and self.scores * len(self.text.heldout_ids) <= most

    def score(self) -> None:
        """A score of the schedule: these, and not one that a pause adds, decide when a run ends."""
        self.evaluate()
        self.scores, self.scored_steps = self.scores + 1, self.steps
        perplexity = self.heldout.last or math.inf
        if perplexity < self.best * (1 - _LAB["gain"]):
            self.best, self.best_steps = perplexity, self.steps

    def evaluate(self) -> None:
        """Score the held-out text, once an update."""
        if self.evaluated == self.steps:
            return
        self.evaluated = self.steps
        ids, forward = self.text.heldout_ids, getattr(self, "forward", None)
        if self.carry:
            score = evaluate(self.model, ids, forward=forward)
        else:
            score = score_windows(self.model, ids, self.num_steps)
        perplexity = exp_or_infinity(score.total_nats / score.num_tokens)
        self.heldout.add(self.tokens, perplexity)

    def _look_at_words(self) -> None:
        """Count the real words on a page that it writes, until three in five are."""
        if self.spelled is not None or len(self.words) <= 50:
            return
        page = self.write(_LAB["sample"])
        # a page's edge may cut a word, but for the first where what stands before ends between words
        start, end = max(0, page.find(" ")) if _ends_in_word(self.prefix) else 0, max(0, page.rfind(" "))
        whole = [word for word in _words_of(page[start:end]) if len(word) >= _LAB["word"]]
        real = sum(word in self.words for word in whole)
        edges = [[[edge, False]] if edge else [] for edge in (page[:start], page[end:])]
        pieces = [*edges[0], *_mark_real(page[start:end], self.words), *edges[1]]
        self.counted = {"steps": self.steps, "real": real, "words": len(whole), "pieces": pieces}
        if len(whole) >= _LAB["least_words"] and real >= _LAB["spelled"] * len(whole):
            self.spelled = {**self.counted, "seconds": self.seconds}

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
        if self.steps == 0:
            self._look_at_words()  # a page of noise
        perplexity = finite(self.heldout.last or math.inf)
        self.diary.append({"age": self.steps, "perplexity": perplexity, "pieces": self.sample()})

    def sample(self) -> list[list[Any]]:
        """A line of text as it writes now, in pieces."""
        length = _LAB["line"]
        return _mark_line(self.write(length + 1), length, self.words, self.prefix)  # does the next letter cut a word?

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
        is_due = self.kept_at < 0 or self.steps >= max(1, _LAB["apart"] * self.kept_at)
        kept = self.sample() if is_due else None
        if kept is not None:
            self.kept_at = self.steps
        wait = "young_sample_seconds" if self.steps > 2 * self.written_at else "sample_seconds"
        is_single = self.lab.speed == "slow" and self.steps <= _LAB["singles"]["count"]
        if self.status != "running" or is_single or now - self.sampled > _LAB[wait]:
            written = self.sample() if kept is None else kept
            self.written, self.written_at, self.sampled = written, self.steps, now
        return {
            "steps": self.steps,
            "tokens": self.tokens,
            "seconds": self.seconds,
            "batchSize": self.batch_size,
            "longest": finite(self.longest),
            "catNorm": finite(self.cat_norm),
            "catAt": self.cat_at,
            "counted": self.counted,
            "spelled": self.spelled,
            "written": self.written,
            "writtenAt": self.written_at,
            "kept": kept,
            "levels": self.lab.known_levels,
            "ended": self.ended,
            "diary": list(self.diary),
            "status": self.status,
            "device": describe_device(self.model.device),
            "train": self.train.points(),
            "norms": self.norms.points(),
            "heldout": self.heldout.points(),
            "perplexity": finite(self.heldout.last or math.inf),
            "sentence": [self.text.vocab.tokens[i] for i in self.sentence.tolist()],
            **self.read(),
        }


def exp_or_infinity(nats: float) -> float:
    return math.exp(nats) if nats < 700 else math.inf
