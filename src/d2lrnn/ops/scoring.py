"""How well a model knows a text: its perplexity, the tokens that it does not know, and the lines that surprise it most;
and the table of counts that it has to beat."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from d2lrnn.metrics import Score, not_finite
from d2lrnn.model import RNNLM, State, evaluating, map_state
from d2lrnn.ops.stream import ChunkNormalizer
from d2lrnn.text import Level, Vocab, count_left_out, normalize, tokenize

__all__ = ["LineScore", "TextScore", "score_table", "score_text"]

_TOKENS_AT_A_TIME = 1 << 18
_ROWS = 64  # of so many tokens, read side by side
_STEPS = 64  # read at a time
_SAME_STATE = 1e-5
_LINE_CHARS = 4096  # a file may be one single line
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
        What the model does not know, with counts: tokens that are not in the vocabulary, which were left out, or read
        as the token that stands for unknown ones if the vocabulary has one; and characters that cleaning left out.
    lines : tuple of LineScore
        The most surprising ones, by bits per token, worst first.
    """

    score: Score
    unknown: Counter[str]
    lines: tuple[LineScore, ...]


def score_text(
    model: RNNLM,
    vocab: Vocab,
    chunks: Iterable[str],
    *,
    level: Level = "char",
    clean: bool | None = None,
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
        How the model's own text was read, see :func:`d2lrnn.load_text`. By default the text is cleaned where the
        vocabulary has nothing else than what :func:`d2lrnn.normalize` leaves.
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
        If fewer than two tokens of the text are known, or the model's weights are not finite.

    Examples
    --------
    >>> from d2lrnn import load_pretrained
    >>> trained = load_pretrained()
    >>> story = "the tide went out and the boats lay still\\nzyx wvu tsr qpo nml kji hgf\\n"
    >>> found = score_text(trained.model, trained.vocab, [story], num_lines=1)
    >>> found.lines[0].number, found.lines[0].score.bits_per_token > found.score.bits_per_token
    (2, True)
    """
    clean = has_cleaned_tokens(vocab) if clean is None else clean
    ledger = _Ledger(num_lines, min_tokens)
    reader = _Reader(model)
    encode = _Encoder(vocab, level)
    unknown: Counter[str] = Counter()
    ids: list[np.ndarray] = []
    numbers: list[int] = []  # of the line on which the tokens of each piece stand
    waiting = 0

    def enter() -> None:
        lines = np.repeat(numbers, list(map(len, ids)))
        ledger.enter(lines, reader.read(np.concatenate(ids)))

    with evaluating(model):
        for number, tokens in _tokens_of_lines(chunks, level, clean, ledger, unknown):
            ids.append(encode(tokens, unknown))
            numbers.append(number)
            waiting += len(ids[-1])
            if waiting >= _TOKENS_AT_A_TIME:
                enter()
                ids, numbers, waiting = [], [], 0
        if waiting:
            enter()
    lines = ledger.worst()
    if ledger.total.num_tokens == 0:
        raise ValueError(
            f"Fewer than two tokens of the text are in the vocabulary of {len(vocab)} ({vocab!r}), so there is nothing "
            "to score. Is the model one for texts of this kind?"
        )
    return TextScore(ledger.total, unknown, lines)


def has_cleaned_tokens(vocab: Vocab) -> bool:
    """Whether every token of a vocabulary is what cleaning leaves of it."""
    return all(normalize(token) == token for token in vocab.tokens if token != vocab.unk_token)


def _tokens_of_lines(
    chunks: Iterable[str], level: Level, clean: bool, ledger: _Ledger, left_out: Counter[str]
) -> Iterator[tuple[int, str | list[str]]]:
    normalizer: Callable[[str], str] = ChunkNormalizer() if clean else str
    number, rest = 1, ""  # a word that may go on in the next piece
    for number, piece in _pieces_of_lines(chunks):
        ledger.see(number, piece)
        if clean:
            left_out += count_left_out(piece)
        text = rest + normalizer(piece)
        if level == "char":
            yield number, text
            continue
        tokens = tokenize(text, level)
        rest = tokens.pop() if tokens and not text[-1].isspace() else ""
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
        for start in range(0, len(rest), _LINE_CHARS):
            yield number, rest[start : start + _LINE_CHARS]


class _Encoder:
    """Indices of tokens, characters all at once by a table over Unicode; the unknown ones are counted."""

    def __init__(self, vocab: Vocab, level: Level) -> None:
        self.vocab, self.of_unknown = vocab, -1 if vocab.unk_token is None else 0
        self.index = {token: index for index, token in enumerate(vocab.tokens)}
        if level == "char":
            self.table = np.full(0x110000, -1, dtype=np.int32)
            for token, index in self.index.items():
                if len(token) == 1:
                    self.table[ord(token)] = index

    def __call__(self, tokens: str | list[str], unknown: Counter[str]) -> np.ndarray:
        if isinstance(tokens, str):
            ids = self.table[np.frombuffer(tokens.encode("utf-32-le"), dtype="<u4")]
        else:
            ids = np.array([self.index.get(token, -1) for token in tokens], dtype=np.int32)
        new = ids < 0
        if new.any():
            unknown.update(tokens[index] for index in new.nonzero()[0])
            ids = np.where(new, self.of_unknown, ids)
            ids = ids[ids >= 0]
        return ids


class _Reader:
    """A model that reads on from block to block: surprisal of each token but the very first.

    A long block is cut into rows that are read side by side, many times faster than one after the other. Each row must
    begin with the state in which the row before ends, which is not known yet: so all rows but the first begin with
    zeros, and are then read again from the right states until these are what they were the first time. A network
    forgets; from there on both readings are the same. One that does not forget reads from beginning to end.
    """

    def __init__(self, model: RNNLM) -> None:
        self.model, self.last = model, np.empty(0, dtype=np.int64)
        self.state: State | None = None
        self.forgets = True

    @torch.no_grad()
    def read(self, ids: np.ndarray) -> np.ndarray:
        """Nats of each token; none for the first of the text, which nothing comes before."""
        block = np.concatenate([self.last, ids])
        self.last = block[-1:]
        row = torch.from_numpy(block.astype(np.int64)).to(self.model.device)
        X, Y = row[:-1], row[1:]
        length, nats = len(X) // _ROWS, None
        if self.forgets and length >= 2 * _STEPS:
            nats = self._read_rows(*(part[: length * _ROWS].view(_ROWS, length) for part in (X, Y)))
        pieces = [] if nats is None else [nats.flatten()]
        done = sum(map(len, pieces))
        for start in range(done, len(X), _STEPS):
            piece = slice(start, start + _STEPS)
            nats, self.state = self._nats(X[None, piece], Y[None, piece], self.state)
            pieces.append(nats[0])
        found = torch.cat([torch.empty(0), *(piece.cpu() for piece in pieces)]).double()
        if found.isnan().any():
            raise not_finite()
        return found.numpy()

    def _read_rows(self, X: torch.Tensor, Y: torch.Tensor) -> torch.Tensor | None:
        """Nats of rows of which each goes on where the one before ends; None where a row is too short to forget."""
        columns = [slice(start, start + _STEPS) for start in range(0, X.shape[1], _STEPS)]
        nats: list[torch.Tensor] = []
        states: list[State] = []
        state = None if self.state is None else map_state(lambda part: _and_zeros(part, len(X)), self.state)
        for piece in columns:
            surprisal, state = self._nats(X[:, piece], Y[:, piece], state)
            nats.append(surprisal)
            states.append(state)
        # Again from the right states; a row is left as soon as its state is the one it had before.
        rows = torch.arange(1, len(X), device=X.device)
        state = map_state(lambda part: part[:-1], states[-1])
        for number, piece in enumerate(columns):
            nats[number][rows], state = self._nats(X[rows, piece], Y[rows, piece], state)
            differs = _differs(state, _rows(states[number], rows))
            if not differs.any():
                self.state = map_state(lambda part: part[-1:], states[-1])
                return torch.cat(nats, dim=1)
            rows, state = rows[differs], _rows(state, differs)
        self.forgets = False
        return None

    def _nats(self, X: torch.Tensor, Y: torch.Tensor, state: State | None) -> tuple[torch.Tensor, State]:
        logits, state = self.model(X, state)
        return torch.nn.functional.cross_entropy(logits.transpose(1, 2), Y, reduction="none"), state


def _rows(state: State, which: torch.Tensor) -> State:
    return map_state(lambda part: part[which], state)


def _and_zeros(part: torch.Tensor, num_rows: int) -> torch.Tensor:
    return torch.cat([part, part.new_zeros(num_rows - 1, *part.shape[1:])])


def _differs(one: State, other: State) -> torch.Tensor:
    """Which rows of two states are not the same but for rounding; a cache may still be shorter in one of them."""
    pairs = list(zip(*(state if isinstance(state, tuple) else (state,) for state in (one, other))))
    if any(a.shape != b.shape for a, b in pairs):
        return torch.ones(len(pairs[0][0]), dtype=torch.bool, device=pairs[0][0].device)
    near = [torch.isclose(a, b, rtol=_SAME_STATE, atol=_SAME_STATE).flatten(1).all(dim=1) for a, b in pairs]
    return ~torch.stack(near).all(dim=0)


class _Ledger:
    """Sums by line, of which only the most surprising stay."""

    def __init__(self, num_lines: int, min_tokens: int) -> None:
        self.total = Score(0.0, 0)
        self._num_lines, self._min_tokens = num_lines, min_tokens
        self._open: dict[int, str] = {}  # the beginnings of lines whose tokens have not all been scored
        self._sums: dict[int, Score] = {}  # of each of those
        self._worst: list[tuple[float, int, LineScore]] = []  # a heap, the least surprising first

    def see(self, number: int, piece: str) -> None:
        text = self._open.get(number, "")
        if len(text) < _SHOWN_CHARS:
            self._open[number] = (text + piece.rstrip("\n"))[:_SHOWN_CHARS]

    def enter(self, numbers: np.ndarray, nats: np.ndarray) -> None:
        numbers = numbers[len(numbers) - len(nats) :]
        if not len(numbers):
            return
        first = numbers[0]
        tokens = np.bincount(numbers - first)
        sums = np.bincount(numbers - first, weights=nats)
        for line in tokens.nonzero()[0]:
            score = self._sums.get(first + line, Score(0.0, 0))
            self._sums[int(first + line)] = score + Score(float(sums[line]), int(tokens[line]))
        self._close(before=int(numbers[-1]))

    def worst(self) -> tuple[LineScore, ...]:
        self._close(before=None)
        return tuple(line for *_, line in sorted(self._worst, key=lambda entry: entry[:2], reverse=True))

    def _close(self, before: int | None) -> None:
        for number in [n for n in self._sums if before is None or n < before]:
            score = self._sums.pop(number)
            self.total += score
            if self._num_lines and score.num_tokens >= self._min_tokens:
                # of equal lines the first wins
                entry = (score.nats_per_token, -number, LineScore(number, self._open[number], score))
                push = heapq.heappush if len(self._worst) < self._num_lines else heapq.heappushpop
                push(self._worst, entry)
        for number in [n for n in self._open if before is None or n < before]:
            del self._open[number]


def score_table(train_ids: torch.Tensor, heldout_ids: torch.Tensor, vocab_size: int, max_order: int = 8) -> list[Score]:
    """What :class:`d2lrnn.NGramLM` scores for each order from 1 to `max_order`, without its tables.

    It takes a second for a million tokens.

    All runs of n tokens, of both parts, are numbered in their order; the counts are then those of numbers.

    Parameters
    ----------
    train_ids, heldout_ids : integer Tensors, shapes (num_train_tokens,) and (num_heldout_tokens,)
    vocab_size : int
    max_order : int, default 8

    Returns
    -------
    list of Score
        Of the held-out text, for orders 1, 2, ...

    Examples
    --------
    >>> ids = torch.tensor([0, 1, 0, 1, 0, 2, 0, 1])
    >>> from d2lrnn import NGramLM
    >>> round(score_table(ids, ids[:5], 3)[1].perplexity, 4), round(NGramLM(ids, 2, 3).evaluate(ids[:5]).perplexity, 4)
    (1.4027, 1.4027)
    """
    ids = torch.cat([train_ids, heldout_ids]).numpy().astype(np.int64)
    num_train = len(train_ids)
    probs = np.full(len(heldout_ids), 1 / vocab_size)
    context = np.zeros(len(ids), dtype=np.int64)  # the number of the run that stands before each token
    scores = []
    for length in range(max_order):  # of the context
        run = np.unique(context * vocab_size + ids, return_inverse=True)[1]  # the context and the token
        counted = slice(length, num_train)
        context_counts = np.bincount(context[counted], minlength=context.max() + 1)  # N(c)
        run_counts = np.bincount(run[counted], minlength=run.max() + 1)  # N(c, x)
        new = np.unique(run[counted], return_index=True)[1]
        num_types = np.bincount(context[counted][new], minlength=len(context_counts))  # D(c)
        here, after = context[num_train:], run[num_train:]
        total = context_counts[here] + num_types[here]
        known = (total > 0) & (np.arange(len(here)) >= length)
        probs = np.where(known, (run_counts[after] + num_types[here] * probs) / np.maximum(total, 1), probs)
        scores.append(Score(float(-np.log(probs[1:]).sum()), len(probs) - 1))
        context = np.roll(run, 1)
    return scores
