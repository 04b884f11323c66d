"""How a model takes a text: its perplexity, the tokens that it does not know, and the lines that surprise it most."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import torch

from d2lrnn.metrics import Score
from d2lrnn.model import RNNLM, evaluating
from d2lrnn.ops.stream import ChunkNormalizer
from d2lrnn.text import Level, Vocab, tokenize

__all__ = ["LineScore", "TextScore", "score_text"]

_TOKENS_AT_A_TIME = 4096
_SHOWN_CHARS = 200


@dataclass(frozen=True)
class LineScore:
    """One line of a text.

    Attributes
    ----------
    number : int
        Counted from 1.
    text : str
        As it stands in the text, shortened to 200 characters.
    score : Score
        Of the line's tokens, the line end among them where the model knows it.
    """

    number: int
    text: str
    score: Score


@dataclass(frozen=True)
class TextScore:
    """What :func:`score_text` found.

    Attributes
    ----------
    score : Score
        Of every known token but the first.
    unknown : Counter of str
        Tokens that are not in the vocabulary, with counts. They were left out, or read as the token that stands for
        unknown ones if the vocabulary has one.
    lines : tuple of LineScore
        The most surprising ones, by bits per token, worst first.
    """

    score: Score
    unknown: Counter[str]
    lines: tuple[LineScore, ...]


@torch.no_grad()
def score_text(
    model: RNNLM,
    vocab: Vocab,
    chunks: Iterable[str],
    *,
    level: Level = "char",
    clean: bool = True,
    num_lines: int = 5,
    min_tokens: int = 20,
) -> TextScore:
    """Score a raw text of any length, read once from beginning to end with the state carried all the way.

    Parameters
    ----------
    model : RNNLM
    vocab : Vocab
    chunks : iterable of str
        The text, whole or in pieces (:func:`d2lrnn.ops.corpus.read_chunks`).
    level, clean
        How the model's own text was read, see :func:`d2lrnn.load_text`.
    num_lines : int, default 5
        How many lines to keep.
    min_tokens : int, default 20
        Lines with fewer tokens are not compared: in a short one a single letter decides.

    Returns
    -------
    TextScore
        Its score is the one that :func:`d2lrnn.evaluate` gives for the encoded text.

    Raises
    ------
    ValueError
        If fewer than two tokens of the text are known.

    Examples
    --------
    >>> from d2lrnn import load_pretrained
    >>> trained = load_pretrained()
    >>> story = "the tide went out and the boats lay still\\nzyx wvu tsr qpo nml kji hgf\\n"
    >>> found = score_text(trained.model, trained.vocab, [story], num_lines=1)
    >>> found.lines[0].number, found.lines[0].score.bits_per_token > found.score.bits_per_token
    (2, True)
    """
    ledger = _Ledger(num_lines, min_tokens)
    reader = _Reader(model)
    unknown: Counter[str] = Counter()
    ids: list[int] = []
    numbers: list[int] = []  # of the line on which each token stands
    with evaluating(model):
        for number, tokens in _tokens_of_lines(chunks, level, clean, ledger):
            for token in tokens:
                if token not in vocab:
                    unknown[token] += 1
                    if vocab.unk_token is None:
                        continue
                ids.append(vocab.index(token))
                numbers.append(number)
            if len(ids) >= _TOKENS_AT_A_TIME:
                ledger.enter(numbers, reader.read(ids))
                ids, numbers = [], []
        if ids:
            ledger.enter(numbers, reader.read(ids))
    lines = ledger.worst()
    if ledger.total.num_tokens == 0:
        raise ValueError(
            f"Fewer than two tokens of the text are in the vocabulary of {len(vocab)} ({vocab!r}), so there is nothing "
            "to score. Is the model one for texts of this kind?"
        )
    return TextScore(ledger.total, unknown, lines)


def _tokens_of_lines(
    chunks: Iterable[str], level: Level, clean: bool, ledger: _Ledger
) -> Iterator[tuple[int, list[str]]]:
    normalizer: Callable[[str], str] = ChunkNormalizer() if clean else str
    number, rest = 1, ""  # a word that may go on in the next piece
    for number, piece in _pieces_of_lines(chunks):
        ledger.see(number, piece)
        text = rest + normalizer(piece)
        tokens = tokenize(text, level)
        rest = tokens.pop() if level == "word" and tokens and not text[-1].isspace() else ""
        yield number, tokens
    yield number, [rest] if rest else []


def _pieces_of_lines(chunks: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Pieces that never go beyond the end of a line, and the number of the line."""
    number = 1
    for chunk in chunks:
        *ended, rest = chunk.split("\n")
        for piece in ended:
            yield number, f"{piece}\n"
            number += 1
        # In moderate pieces: a file may be one single line.
        for start in range(0, len(rest), _TOKENS_AT_A_TIME):
            yield number, rest[start : start + _TOKENS_AT_A_TIME]


class _Reader:
    """A model that reads on: surprise of each token but the very first."""

    def __init__(self, model: RNNLM) -> None:
        self.model, self.state, self.last = model, None, None

    def read(self, ids: list[int]) -> list[float]:
        """Nats of each token; none for the first of the text, which nothing comes before."""
        row = torch.tensor(ids if self.last is None else [self.last, *ids], device=self.model.device)
        self.last = ids[-1]
        if len(row) < 2:
            return []
        logits, self.state = self.model(row[:-1].unsqueeze(0), self.state)
        log_probs = torch.log_softmax(logits.squeeze(0), dim=-1)
        return (-log_probs.gather(1, row[1:].unsqueeze(1)).squeeze(1)).tolist()


class _Ledger:
    """Sums by line, of which only the most surprising stay."""

    def __init__(self, num_lines: int, min_tokens: int) -> None:
        self.total = Score(0.0, 0)
        self._num_lines, self._min_tokens = num_lines, min_tokens
        self._open: dict[int, str] = {}  # the beginnings of lines whose tokens have not all been scored
        self._sums: dict[int, list[float]] = {}  # nats and tokens of each of those
        self._worst: list[tuple[float, int, LineScore]] = []  # a heap, the least surprising first

    def see(self, number: int, piece: str) -> None:
        text = self._open.get(number, "")
        if len(text) < _SHOWN_CHARS:
            self._open[number] = (text + piece.rstrip("\n"))[:_SHOWN_CHARS]

    def enter(self, numbers: list[int], nats: list[float]) -> None:
        numbers = numbers[len(numbers) - len(nats) :]
        for number, surprise in zip(numbers, nats):
            sums = self._sums.setdefault(number, [0.0, 0])
            sums[0] += surprise
            sums[1] += 1
        self._close(before=numbers[-1] if numbers else 0)

    def worst(self) -> tuple[LineScore, ...]:
        self._close(before=None)
        return tuple(line for *_, line in sorted(self._worst, key=lambda entry: entry[:2], reverse=True))

    def _close(self, before: int | None) -> None:
        for number in [n for n in self._sums if before is None or n < before]:
            score = Score(*self._sums.pop(number))
            self.total += score
            if self._num_lines and score.num_tokens >= self._min_tokens:
                # of equal lines the first wins
                entry = (score.nats_per_token, -number, LineScore(number, self._open[number], score))
                push = heapq.heappush if len(self._worst) < self._num_lines else heapq.heappushpop
                push(self._worst, entry)
        for number in [n for n in self._open if before is None or n < before]:
            del self._open[number]
