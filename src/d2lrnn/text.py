"""From text to numbers: normalise, tokenize, build a vocabulary, encode, hold some out."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch

import d2lrnn

__all__ = ["EncodedText", "Vocab", "count_left_out", "encode_text", "load_text", "normalize", "tokenize"]

Level = Literal["char", "word"]


def normalize(text: str) -> str:
    """Lower-case the text and turn every run of anything but the letters a to z into one space.

    What is left has at most 27 symbols: the alphabet and the space. It is the normalisation of *Dive into Deep
    Learning*'s newer edition.

    Examples
    --------
    >>> normalize("Mr. Keld said: 'KINDLY do not tap.'")
    'mr keld said kindly do not tap '
    """
    return re.sub(r"[^a-z]+", " ", text.lower())


def count_left_out(text: str) -> Counter[str]:
    """The characters that :func:`normalize` drops or turns into a space, with their counts; white space is not counted.

    Examples
    --------
    >>> count_left_out("At 6 a.m. -- LOW tide.").most_common()
    [('.', 3), ('-', 2), ('6', 1)]
    """
    counts = Counter(text)
    return Counter({char: n for char, n in counts.items() if not char.isspace() and not normalize(char).strip()})


def tokenize(text: str, level: Level = "char") -> list[str]:
    """Split a text into characters or into words (at white space).

    Parameters
    ----------
    text : str
    level : "char" or "word"

    Raises
    ------
    ValueError
        If `level` is neither.

    Examples
    --------
    >>> tokenize("low tide"), tokenize("low tide", "word")
    (['l', 'o', 'w', ' ', 't', 'i', 'd', 'e'], ['low', 'tide'])
    """
    if level == "char":
        return list(text)
    if level == "word":
        return text.split()
    raise ValueError(f"level is {level!r}; it must be 'char' or 'word'.")


def check_integers(ids: torch.Tensor, name: str) -> None:
    """Raise TypeError for token indices of another type: made integers, they would lose their fractions in silence."""
    if ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool:
        raise TypeError(
            f"The token indices {name} are of type {ids.dtype}; they must be integers (Vocab.encode gives them)."
        )


def as_row(ids: object, name: str = "ids") -> torch.Tensor:
    """Token indices as a tensor of shape (num_tokens,), of whatever integer type they have, as a memory map's.

    Raises TypeError if they are no integers, and ValueError if they are more than one row.
    """
    try:
        row = torch.as_tensor(ids)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(
            f"{name} is of type {type(ids).__name__}; expected a row of token indices, such as the train_ids or "
            "heldout_ids of load_text."
        ) from None
    if row.dim() != 1:
        raise ValueError(f"{name} has shape {tuple(row.shape)}; expected one row of token indices, (num_tokens,).")
    if len(row):  # an empty list becomes a tensor of floats
        check_integers(row, name)
    return row


class Vocab:
    """A two-way table between tokens and the indices 0, 1, 2, ...

    Tokens are numbered by falling frequency, and alphabetically where the counts are equal, so the same text always
    gives the same table.

    Parameters
    ----------
    tokens : iterable of str, or mapping of str to int
        The tokens of a text, repeats and all; or how often each of them occurs, where they have been counted already.
    min_freq : int, default 1
        Leave out tokens that are rarer. Where there are any, an `unk_token` has to stand for them.
    unk_token : str, optional
        The token that stands for every unknown one, at index 0. Without it an unknown token is an error, which is
        the right thing for characters: a symbol that never occurs in training cannot be learned.
    max_size : int, optional
        Keep only the most frequent tokens, so many that the table has no more entries than this, `unk_token` among
        them.

    Attributes
    ----------
    token_freqs : list of (str, int)
        Every kept token with its count, most frequent first.

    Raises
    ------
    ValueError
        If there are no tokens, or rare tokens are to be left out and nothing stands for them.
    TypeError
        If a token is not a string.

    Examples
    --------
    >>> vocab = Vocab("machine")
    >>> len(vocab), vocab.encode("chain"), vocab.decode([3, 0, 2, 4, 5])
    (7, [1, 3, 0, 4, 6], 'haeim')
    >>> Vocab("machine", unk_token="<unk>").encode("max")
    [6, 1, 0]
    """

    def __init__(
        self,
        tokens: Iterable[str] | Mapping[str, int],
        min_freq: int = 1,
        unk_token: str | None = None,
        max_size: int | None = None,
    ) -> None:
        counts = Counter(tokens)
        if not counts:
            raise ValueError("There are no tokens to build a vocabulary from; is the text empty?")
        if other := [token for token in counts if not isinstance(token, str)]:
            raise TypeError(
                f"The token {other[0]!r} is of type {type(other[0]).__name__}; the tokens of a vocabulary are strings, "
                "such as the characters of a text."
            )
        rare = min(counts.values()) < min_freq
        if unk_token is None and (rare or (max_size is not None and len(counts) > max_size)):
            limit = f"min_freq={min_freq}" if rare else f"max_size={max_size}"
            raise ValueError(f"{limit} drops rare tokens, so something must stand for them: pass unk_token='<unk>'.")
        if max_size is not None and max_size < 2:
            raise ValueError(f"max_size is {max_size}; a vocabulary needs at least 2 tokens.")
        # The stand-in comes first, so that no limit drops it; in the table the counts alone decide.
        ranked = sorted(counts.items(), key=lambda item: (item[0] != unk_token, -item[1], item[0]))
        if max_size is not None:
            ranked = ranked[: max_size - (unk_token is not None and unk_token not in counts)]
        ranked.sort(key=lambda item: (-item[1], item[0]))
        self.token_freqs = [(token, count) for token, count in ranked if count >= min_freq]
        self.unk_token = unk_token
        kept = [token for token, _ in self.token_freqs if token != unk_token]
        self._tokens = kept if unk_token is None else [unk_token, *kept]
        self._index = {token: index for index, token in enumerate(self._tokens)}

    @classmethod
    def from_tokens(cls, tokens: Sequence[str], unk_token: str | None = None) -> Vocab:
        """A vocabulary whose order is known, such as one that was stored beside a model.

        Parameters
        ----------
        tokens : sequence of str
            Every token once, in the order of their indices. A plain string is taken character by character.
        unk_token : str, optional
            The token that stands for every unknown one; it must be the first.

        Raises
        ------
        ValueError
            If there are no tokens, one stands there twice, or `unk_token` is not the first.

        Examples
        --------
        >>> vocab = Vocab.from_tokens("haeim")
        >>> vocab.encode("him"), vocab.token_freqs[0]
        ([0, 3, 4], ('h', 0))
        """
        tokens = list(tokens)
        if twice := sorted({token for token, count in Counter(tokens).items() if count > 1}):
            raise ValueError(f"{', '.join(map(repr, twice))} stands in the list twice; an index needs one token.")
        if unk_token is not None and tokens[:1] != [unk_token]:
            raise ValueError(f"The unknown token {unk_token!r} must be the first of the list: its index is 0.")
        vocab = cls(tokens, unk_token=unk_token)
        vocab.token_freqs = [(token, 0) for token in tokens]  # how often they occurred is not known
        vocab._tokens = tokens
        vocab._index = {token: index for index, token in enumerate(tokens)}
        return vocab

    def __len__(self) -> int:
        return len(self._tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._index

    def __repr__(self) -> str:
        if all(len(token) == 1 for token in self._tokens):
            shown = repr("".join(self._tokens[:40]) + "..." * (len(self) > 40))
        else:
            shown = ", ".join(map(repr, self._tokens[:6])) + ", ..." * (len(self) > 6)
        return f"<Vocab of {len(self)} tokens: {shown}>"

    @property
    def tokens(self) -> tuple[str, ...]:
        """All tokens, in the order of their indices."""
        return tuple(self._tokens)

    def index(self, token: str) -> int:
        """Index of one token.

        Raises
        ------
        ValueError
            If the token is unknown and the vocabulary has no `unk_token`.
        TypeError
            If the token is not a string.
        """
        if token in self._index:
            return self._index[token]
        if not isinstance(token, str):
            raise TypeError(f"The token {token!r} is of type {type(token).__name__}; tokens are strings.")
        if self.unk_token is not None:
            return 0
        spelled_out = len(token) == 1 and has_words(self)
        how = "Cut the text by tokenize(text, 'word')" if spelled_out else "Pass the text through d2lrnn.normalize"
        raise ValueError(
            f"{token!r} is not in the vocabulary of {len(self)} tokens ({self!r}). "
            f"{how} first, or build the vocabulary with unk_token='<unk>'."
        )

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Indices of some tokens. A plain string is taken character by character.

        Raises
        ------
        ValueError
            If a token is unknown and the vocabulary has no `unk_token`.
        TypeError
            If a token is not a string.
        """
        return [self.index(token) for token in tokens]

    def decode(self, indices: Sequence[int] | torch.Tensor, sep: str | None = None) -> str:
        """The text of some indices.

        Parameters
        ----------
        indices : sequence of int, or integer Tensor of shape (num_tokens,)
        sep : str, optional
            What goes between tokens. By default nothing if all tokens are single characters, else a space.

        Raises
        ------
        IndexError
            If an index is not in the table.
        ValueError
            If they are more than one row.
        TypeError
            If they are not integers.
        """
        numbers = as_row(indices, "indices").tolist()
        for index in numbers:
            if not 0 <= index < len(self):
                raise IndexError(f"index {index} is not in the vocabulary, which runs from 0 to {len(self) - 1}.")
        if sep is None:
            sep = " " if has_words(self) else ""
        return sep.join(self._tokens[index] for index in numbers)


def has_words(vocab: Vocab) -> bool:
    """Whether a token, but for the one that stands for unknown ones, is more than a single character."""
    return any(len(token) != 1 for token in vocab.tokens if token != vocab.unk_token)


@dataclass(frozen=True)
class EncodedText:
    """A text as token indices, cut once into a training part and a held-out part that never overlap.

    Attributes
    ----------
    vocab : Vocab
    train_ids : integer Tensor, shape (num_train_tokens,)
    heldout_ids : integer Tensor, shape (num_heldout_tokens,)
        The end of the text; empty if nothing is held out.

    Examples
    --------
    >>> from d2lrnn import load_text
    >>> text = load_text()
    >>> len(text.vocab), len(text.train_ids), len(text.heldout_ids)
    (27, 94999, 10555)
    """

    vocab: Vocab
    train_ids: torch.Tensor
    heldout_ids: torch.Tensor

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {len(self.train_ids):,} training and {len(self.heldout_ids):,} held-out tokens, "
            f"vocabulary of {len(self.vocab)}>"
        )


def check_heldout_fraction(heldout_fraction: float) -> None:
    if not 0 <= heldout_fraction < 1:
        raise ValueError(f"heldout_fraction is {heldout_fraction}; it must be at least 0 and below 1.")


def nothing_left(name: str | os.PathLike[str]) -> ValueError:
    return ValueError(
        f"Nothing is left of {str(name)!r} after cleaning, which keeps the letters a to z only. Read it without "
        "cleaning (clean=False), which keeps every character."
    )


def is_cleaned(name: str | os.PathLike[str], clean: bool | None) -> bool:
    """Whether a text is cleaned: if nothing is said, the named corpora are, and nobody's own files."""
    return (isinstance(name, str) and name in d2lrnn.ops.corpus.CORPORA) if clean is None else clean


def build_vocab(
    counts: Mapping[str, int],
    level: Level,
    heldout_fraction: float,
    min_freq: int,
    max_vocab: int | None,
    unk_token: str | None,
) -> Vocab:
    """The vocabulary of a text that was counted.

    ``<unk>`` joins it where a limit leaves tokens out, and with words wherever a part is held out.
    """
    if max_vocab is not None and max_vocab < 2:
        raise ValueError(f"max_vocab is {max_vocab}; a vocabulary needs at least 2 tokens.")
    too_many = max_vocab is not None and len(counts) > max_vocab
    if unk_token is None and (too_many or (level == "word" and heldout_fraction)):
        unk_token = "<unk>"
    return Vocab(counts, min_freq, unk_token, max_vocab)


def encode_text(
    text: str,
    level: Level = "char",
    *,
    heldout_fraction: float = 0.1,
    max_tokens: int | None = None,
    min_freq: int = 1,
    max_vocab: int | None = None,
    unk_token: str | None = None,
) -> EncodedText:
    """Tokenize, encode and split a text as it stands: :func:`load_text` without the reading and the cleaning.

    Examples
    --------
    >>> encode_text("潮水会回来的。潮水会走。", heldout_fraction=0.25)
    <EncodedText: 9 training and 3 held-out tokens, vocabulary of 8>
    """
    check_heldout_fraction(heldout_fraction)
    if max_tokens is not None and max_tokens < 1:
        raise ValueError(f"max_tokens is {max_tokens}; it must be at least 1, or None for the whole text.")
    tokens = tokenize(text, level)[:max_tokens]
    num_train = len(tokens) - round(len(tokens) * heldout_fraction)
    counts = Counter(tokens[:num_train] if level == "word" else tokens)
    vocab = build_vocab(counts, level, heldout_fraction, min_freq, max_vocab, unk_token)
    ids = torch.tensor(vocab.encode(tokens), dtype=torch.long)  # (num_tokens,)
    return EncodedText(vocab, ids[:num_train], ids[num_train:])


def load_text(
    name: str | os.PathLike[str] = "the-tide-clock",
    level: Level = "char",
    *,
    heldout_fraction: float = 0.1,
    clean: bool | None = None,
    max_tokens: int | None = None,
    min_freq: int = 1,
    max_vocab: int | None = None,
    unk_token: str | None = None,
) -> EncodedText:
    """Read, clean, tokenize, encode and split a corpus in one go.

    The alphabet is that of the whole text, so that held-out text has no unknown characters, which gives nothing away
    but the alphabet. Words are those of the training part: a list of all words would tell which new ones are coming.

    Parameters
    ----------
    name : str or path
        A named corpus or a text file, as in :func:`d2lrnn.load_corpus`.
    level : "char" or "word"
    heldout_fraction : float in [0, 1), default 0.1
        Share of the tokens, at the end of the text, that training never sees.
    clean : bool, optional
        Apply :func:`normalize`. By default the named corpora are cleaned, and a file of your own keeps every character.
    max_tokens : int, optional
        Use only the first so many tokens.
    min_freq, unk_token
        As in :class:`Vocab`. With words and a held-out part, or more tokens than `max_vocab`, the vocabulary has
        ``"<unk>"`` for what it lacks if you name nothing else.
    max_vocab : int, optional
        The vocabulary's greatest size.

    Returns
    -------
    EncodedText

    Raises
    ------
    CorpusError
        If the corpus cannot be had.
    ValueError
        If a parameter is out of range, or nothing is left after cleaning.

    Examples
    --------
    >>> load_text()
    <EncodedText: 94,999 training and 10,555 held-out tokens, vocabulary of 27>
    """
    check_heldout_fraction(heldout_fraction)
    text = d2lrnn.ops.corpus.load_corpus(name)  # at run time: files and downloads are no matter of this module
    if is_cleaned(name, clean):
        text = normalize(text)
        if not text.strip():
            raise nothing_left(name)
    return encode_text(
        text,
        level,
        heldout_fraction=heldout_fraction,
        max_tokens=max_tokens,
        min_freq=min_freq,
        max_vocab=max_vocab,
        unk_token=unk_token,
    )
