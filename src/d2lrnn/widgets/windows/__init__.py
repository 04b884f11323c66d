"""The explorable of the chapter *From text to minibatches*: a text, its windows, and the state of each row."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from textwrap import wrap
from typing import Any

import torch
import traitlets as t

from d2lrnn.study.pretrained import Pretrained, load_pretrained, pretrained_bytes
from d2lrnn.text import EncodedText, load_text, normalize
from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color, visible_character
from d2lrnn.widgets.randomness import random_source
from d2lrnn.widgets.spec import Spec, Words
from d2lrnn.windows import RandomWindows, SequentialWindows

__all__ = ["ROW", "Windows", "epoch_starts"]

_SPEC = Spec("windows")
_LINE = 62  # characters of the static picture
_COLORS = ("blue", "green")  # and by their numbers
_SAMPLING_WORDS = {"sequential": "in_sequential", "random": "in_random", "adjoining": "in_adjoining"}

#: The row of indices on which the chapter shows windows of five.
ROW = (1, 5, 2, 3, 6, 7, 4, 0, 2, 5, 1)


@cache
def _story() -> EncodedText:
    return load_text()


@cache
def _trained() -> Pretrained:
    return load_pretrained("trained")


def _chances(before: str, text: str) -> list[float]:
    """How likely the trained network finds each letter of `text` after its first, having read `before` from zeros."""
    network = _trained()
    ids = torch.tensor(network.vocab.encode(before + text))
    with torch.no_grad():
        H = network.model.rnn(network.model.encode_inputs(ids[None, :-1]))[0][len(before) :, 0]
        probs = (H @ network.model.W_hq + network.model.b_q).softmax(-1)
    return [float(row[right]) for row, right in zip(probs, ids[len(before) + 1 :])]


def _drawn(n: int, take: int, source: Iterator[float]) -> list[int]:
    """The first `take` places of a random order of 0 to n - 1 (Fisher and Yates)."""
    places = list(range(n))
    for i in range(take):
        j = i + int(next(source) * (n - i))
        places[i], places[j] = places[j], places[i]
    return places[:take]


def epoch_starts(windows: SequentialWindows | RandomWindows, seed: int = 0) -> list[list[int]]:
    """Where the windows of an epoch start, one list a minibatch; random ones as the page draws them.

    Parameters
    ----------
    windows : SequentialWindows or RandomWindows
        What cuts the text. Its own generator is not used: the page and Python must draw the same.
    seed : int
        Of the draw; a sequential reader draws nothing.

    Examples
    --------
    >>> epoch_starts(SequentialWindows(torch.arange(10), 1, 4))
    [[0], [4]]
    >>> epoch_starts(RandomWindows(torch.arange(10), 1, 4), seed=68)
    [[2], [0]]
    """
    if isinstance(windows, SequentialWindows):
        places = SequentialWindows(torch.arange(len(windows.ids)), windows.batch_size, windows.num_steps,
                                   offset=windows.offset)  # fmt: skip
        return [X[:, 0].tolist() for X, _ in places]
    num_tokens, batch_size, num_steps = len(windows.ids), windows.batch_size, windows.num_steps
    source, take = random_source(seed), len(windows) * windows.batch_size
    if windows.overlap:
        starts = _drawn(num_tokens - num_steps, take, source)
    else:
        order = _drawn((num_tokens - num_steps) // num_steps, take, source)
        offset = int(next(source) * num_steps)
        starts = [offset + window * num_steps for window in order]
    return [starts[i : i + batch_size] for i in range(0, take, batch_size)]


class Windows(Explorable):
    r"""Cut a text into minibatches, and see what a memory is worth where a reader goes on, and where it jumps.

    A window that starts at place :math:`s` has the inputs :math:`x_s, \ldots, x_{s+T-1}` and the targets one place
    further on, :math:`y_t = x_{t+1}`; a minibatch has `batch_size` of them. The cuts are those of
    :class:`d2lrnn.SequentialWindows` and :class:`d2lrnn.RandomWindows`. The trained network of the package makes the
    guesses of reader 1 in its window, with the state of what it has read before and with zeros.

    Parameters
    ----------
    source : "story", "numbers", "row" or "own", optional
        What is cut: the beginning of *The Tide Clock*, the numbers 0, 1, 2, ..., the row 1, 5, 2, 3, 6, 7, ..., or
        `own_text`.
    length : int, optional
        How many characters of the story, or numbers: 2 to 1,200; default 133.
    own_text : str, optional
        At most 1,000 characters. It is normalised as the story was, to a to z and space.
    batch_size, num_steps : int, optional
        Windows in a minibatch, 1 to 6; tokens in a window, 1 to 32.
    sampling : "sequential", "random" or "adjoining", optional
        In sequence; at random anywhere; at random from adjoining windows at a random offset.
    offset : int, optional
        Tokens that a sequential reader skips at the beginning, 0 to 1,200.
    seed : int, optional
        Of a random draw, 0 to 9,999.
    memory : "empty" or "kept", optional
        With which memory the lines are tinted: how surprised the network is, where a new piece finds its memory
        emptied, and where it keeps it. Of one reader of a text.
    minibatch : int, optional
        Which one is shown, from 1; beyond the last, the last.
    cut_at : int, optional
        1 to 11 shows, for the other defaults, how well the c of "the tide clock" is guessed after a line that begins
        with this letter (the h is 1), and an empty memory; at random, every such line. 0 (default): the lines.

    Raises
    ------
    traitlets.TraitError
        On any other value. A text that is too short for one minibatch is no error of the figure, which says so;
        `cut`, and what is computed from it, raises the ValueError of the package.

    Examples
    --------
    >>> widget = Windows(source="numbers", length=1000, batch_size=2, num_steps=10, minibatch=2)
    >>> widget.num_minibatches, widget.starts[1]
    (49, [10, 510])
    >>> widget.minibatch = 2
    >>> widget.X[1, 0].item(), widget.Y[1, 0].item(), widget.carries_state
    (510, 511, True)
    >>> [round(chance, 2) for chance in Windows().first_guess]
    [0.52, 0.01]
    >>> [round(chance, 2) for chance in Windows().average_guesses[0]]
    [0.38, 0.11]
    >>> [round(chance, 2) for chance in Windows(sampling="random").jump_guess]
    [0.13, 0.17]
    """

    _esm = module("windows")
    _css = stylesheet("windows")
    _words = "windows"

    source = _SPEC.trait("source")
    length = _SPEC.trait("length")
    own_text = _SPEC.trait("own_text")
    batch_size = _SPEC.trait("batch_size")
    num_steps = _SPEC.trait("num_steps")
    sampling = _SPEC.trait("sampling")
    offset = _SPEC.trait("offset")
    seed = _SPEC.trait("seed")
    memory = _SPEC.trait("memory")
    minibatch = _SPEC.trait("minibatch")
    cut_at = _SPEC.trait("cut_at")
    text = t.Unicode(read_only=True).tag(sync=True, shared=True)
    weights = t.Bytes(read_only=True).tag(sync=True, shared=True)

    @property
    def tokens(self) -> list[str]:
        """The tokens that are cut, as texts."""
        if self.source == "numbers":
            return [str(number) for number in range(self.length)]
        if self.source == "row":
            return [str(number) for number in ROW]
        return list(self.own_text if self.source == "own" else self.text[: self.length])

    @property
    def ids(self) -> torch.Tensor:
        """Their indices, shape (num_tokens,): the numbers themselves, or places in the story's vocabulary."""
        if self.source in ("numbers", "row"):
            return torch.tensor([int(token) for token in self.tokens])
        return torch.tensor(_story().vocab.encode(self.tokens), dtype=torch.long)

    @property
    def cut(self) -> SequentialWindows | RandomWindows:
        """The package's sampler with these settings; ValueError if the text is too short for one minibatch."""
        if self.sampling == "sequential":
            return SequentialWindows(self.ids, self.batch_size, self.num_steps, offset=self.offset)
        return RandomWindows(self.ids, self.batch_size, self.num_steps, overlap=self.sampling == "random")

    @property
    def carries_state(self) -> bool:
        """Whether row i of a minibatch goes on with the state of row i of the one before."""
        return self.sampling == "sequential"

    @property
    def num_minibatches(self) -> int:
        """Minibatches in an epoch."""
        return len(self.cut)

    @property
    def starts(self) -> list[list[int]]:
        """Where the windows of every minibatch start, as the figure shows them."""
        return epoch_starts(self.cut, self.seed)

    @property
    def X(self) -> torch.Tensor:
        """Inputs of the minibatch that is shown, shape (batch_size, num_steps)."""
        return self.ids[self._places()]

    @property
    def Y(self) -> torch.Tensor:
        """Its targets, shape (batch_size, num_steps)."""
        return self.ids[self._places() + 1]

    @property
    def num_pairs_read(self) -> int:
        """How many of the ``len(ids) - 1`` pairs of a token and its successor an epoch reads at least once."""
        return len({start + step for starts in self.starts for start in starts for step in range(self.num_steps)})

    @property
    def first_guess(self) -> tuple[float, float] | None:
        """Probability of the right letter in reader 1's first guess: memory kept, and emptied. None for numbers."""
        guesses = self.guesses
        return None if guesses is None else guesses[0]

    @property
    def guesses(self) -> list[tuple[float, float]] | None:
        """The same for every guess of reader 1 in its window.

        Its memory is of all that it has read where it goes on, and of its last window where it jumps.
        """
        return None if self.source in ("numbers", "row") else self._guesses_in(self._shown())

    @property
    def average_guesses(self) -> list[tuple[float, float]] | None:
        """The same on average over the pieces of reader 1 after the first; None also where there is no second piece."""
        if self.source in ("numbers", "row") or self.num_minibatches < 2:
            return None
        pieces = [self._guesses_in(k) for k in range(1, self.num_minibatches)]
        return [
            (sum(kept for kept, _ in guess) / len(guess), sum(empty for _, empty in guess) / len(guess))
            for guess in zip(*pieces)
        ]

    @property
    def jump_guess(self) -> tuple[float, float] | None:
        """What the first guess gets on average, kept and emptied, over all jumps that one reader can make.

        From every place where a window can start to every other that can be drawn with it, but that where it goes on.
        None for numbers, in sequence, and where there is no second piece.
        """
        if self.average_guesses is None or self.carries_state:
            return None
        steps, network = self.num_steps, _trained()
        rnn, model = network.model.rnn, network.model
        ids = torch.tensor(network.vocab.encode("".join(self.tokens)))
        starts = torch.arange(len(ids) - steps)
        with torch.no_grad():
            _, memory = rnn(model.encode_inputs(ids[starts[:, None] + torch.arange(steps)]))
            found = []
            for H in (memory, torch.zeros_like(memory)):
                after = []  # how likely each letter is after each other one
                for letter in range(len(network.vocab)):
                    last = rnn(model.encode_inputs(torch.full((len(starts), 1), letter)), H)[0].reshape(len(starts), -1)
                    after.append((last @ model.W_hq + model.b_q).softmax(-1))
                found.append(torch.stack(after)[ids[starts], :, ids[starts + 1]].T)
        jumps = (starts[:, None] != starts) & (starts[:, None] + steps != starts)
        if self.sampling == "adjoining":
            jumps &= (starts[:, None] - starts) % steps == 0
            drawn = starts // steps < len(RandomWindows(self.ids, 1, steps, overlap=False))
            jumps &= drawn & drawn[:, None]
        kept, empty = (float(chances[jumps].mean()) for chances in found)
        return kept, empty

    def _guesses_in(self, k: int) -> list[tuple[float, float]]:
        starts, tokens = self.starts, self.tokens
        start = starts[k][0]
        before = [] if k == 0 else tokens[starts[0][0] : start]
        if k > 0 and not self.carries_state:
            before = tokens[starts[k - 1][0] : starts[k - 1][0] + self.num_steps]
        text = "".join(tokens[start : start + self.num_steps + 1])
        return list(zip(_chances("".join(before), text), _chances("", text)))

    def _shown(self) -> int:
        return min(self.minibatch, self.num_minibatches) - 1

    def _places(self) -> torch.Tensor:
        return torch.tensor(self.starts[self._shown()]).unsqueeze(1) + torch.arange(self.num_steps)

    @t.validate("own_text")
    def _validate_own_text(self, proposal: dict[str, Any]) -> str:
        # a lower-case letter may be longer than its capital
        return normalize(proposal["value"])[: _SPEC.controls["own_text"]["max"]]

    @t.default("weights")
    def _default_weights(self) -> bytes:
        return pretrained_bytes("trained")

    @t.default("text")
    def _default_text(self) -> str:
        story = _story()
        return story.vocab.decode(torch.cat([story.train_ids, story.heldout_ids]))

    # ---- the static picture ----

    def _problem(self) -> str | None:
        try:
            self.cut  # noqa: B018
        except ValueError as error:
            return str(error)
        return None

    def static_sentence(self) -> str:
        """The minibatch in words."""
        if problem := self._problem():
            return problem
        words = Words(self._words)
        return words(
            "sentence", k=self._shown() + 1, count=self.num_minibatches, rows=self.batch_size, steps=self.num_steps,
            sampling=words(_SAMPLING_WORDS[self.sampling]), read=self.num_pairs_read, pairs=len(self.ids) - 1,
        )  # fmt: skip

    def _state_words(self, words: Words, row: int) -> str:
        k = self._shown()
        is_in_lines = self.source in ("story", "own") and self.batch_size == 1 and self.num_steps > 1
        piece = words("unit_line" if is_in_lines else "unit_piece")
        if k == 0:
            return words("state_begin", piece=piece) if self.carries_state else words("state_random")
        is_kept = self.memory == "kept" if is_in_lines else self.carries_state
        keys = {
            (True, True): "state_carried",
            (True, False): "state_emptied",
            (False, True): "state_jumped",
            (False, False): "state_torn",
        }
        stopped = self.starts[k - 1][row] + self.num_steps - 1
        unit = words("text_one" if self.source in ("story", "own") else "numbers_one")
        return words(
            keys[self.carries_state, is_kept],
            piece=piece, previous=k, unit=unit, stopped=stopped, start=self.starts[k][row],
        )  # fmt: skip

    def static_picture(self) -> str:
        """The whole text on a line with its windows, and the minibatch beneath: inputs over targets."""
        words = Words(self._words)
        if problem := self._problem():
            return str(Picture(440, 60, words("title"), problem))
        shown = [visible_character(token) if len(token) == 1 else token for token in self.tokens]
        starts, k, num_steps = self.starts, self._shown(), self.num_steps
        rows = [
            (shown[start : start + num_steps], shown[start + 1 : start + num_steps + 1], self._state_words(words, row))
            for row, start in enumerate(starts[k])
        ]
        described = " ".join(
            words("picture_row", reader=row + 1, state=state, X=" ".join(X), Y=" ".join(Y))
            for row, (X, Y, state) in enumerate(rows)
        )
        sampling = words(_SAMPLING_WORDS[self.sampling])
        described = words("picture", k=k + 1, count=len(starts), sampling=sampling, rows=described)
        named = [wrap(f"{words('row', reader=row + 1)}: {state}", _LINE) for row, (_, _, state) in enumerate(rows)]
        extra = [16 * (len(lines) - 1) for lines in named]
        picture = Picture(440, 84 + 74 * len(rows) + sum(extra), words("title"), described)
        title = words("place", k=k + 1, count=len(starts)).capitalize()
        picture.add("text", title, x=12, y=20)
        self._draw_line(picture, starts, k)
        cell = min(34.0, 388 / num_steps)
        for row, (X, Y, _) in enumerate(rows):
            y = 84 + 74 * row + sum(extra[: row + 1])
            paint = color(_COLORS[row % len(_COLORS)])
            picture.add("rect", x=12, y=y - extra[row] - 11, width=6, height=52 + extra[row], fill=paint)
            for i, words_of_line in enumerate(named[row]):
                picture.add("text", words_of_line, x=26, y=y - extra[row] + 16 * i, font_size=12)
            for name, line, texts in (("X", 20, X), ("Y", 38, Y)):
                picture.add("text", name, x=26, y=y + line, font_size=12, font_weight=650)
                for i, text in enumerate(texts):
                    picture.add(
                        "text", text, x=46 + cell * (i + 0.5), y=y + line, text_anchor="middle",
                        font_size=min(13.0, cell * 1.6 / max(1, len(text))), font_family="ui-monospace, monospace",
                    )  # fmt: skip
        return str(picture)

    def _draw_line(self, picture: Picture, starts: list[list[int]], k: int) -> None:
        left, width, num_tokens = 12, 416, len(self.ids)
        picture.add("rect", x=left, y=34, width=width, height=18, fill="none", stroke="currentColor")
        for row, start in enumerate(starts[k]):
            x = left + width * start / num_tokens
            span = max(2.0, width * self.num_steps / num_tokens)
            paint = color(_COLORS[row % len(_COLORS)])
            picture.add("rect", x=x, y=34, width=span, height=18, fill=paint, fill_opacity=0.8)
            picture.add("text", str(row + 1), x=x, y=64, font_size=11)
