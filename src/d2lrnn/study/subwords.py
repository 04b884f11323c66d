r"""Subword tokens: byte pair encoding, from the bytes of a text up.

A text is bytes (UTF-8), and each byte is a token with a number from 0 to 255, so that nothing is ever unknown. Training
merges the most frequent pair of neighbouring tokens into a new token, again and again; encoding makes the same merges
in the same order. The text is first cut into pieces (a word with the space before it, a run of punctuation, a run of
white space), and no token reaches from one piece into the next.

Where two pairs are equally frequent, the one with the smaller numbers is merged first. A rule for ties belongs to the
tokenizer: with another one the same text gives other tokens. This is the rule of the trainer of Hugging Face's
`tokenizers`, whose merges come out the same (Sennrich, Haddow and Birch, "Neural machine translation of rare words with
subword units", arXiv:1508.07909).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

__all__ = ["PIECE", "Subwords", "learn_merges", "pieces"]

#: A word with the space before it, a run of punctuation likewise, or a run of white space.
PIECE = re.compile(r" ?\w+| ?[^\w\s]+|\s+")

Pair = tuple[int, int]


def pieces(text: str) -> list[bytes]:
    """The pieces of a text as UTF-8; put together they are the text.

    Examples
    --------
    >>> pieces("Low tide, sir!")
    [b'Low', b' tide', b',', b' sir', b'!']
    """
    return [piece.encode("utf-8") for piece in PIECE.findall(text)]


def merge(ids: Sequence[int], pair: Pair, new: int) -> list[int]:
    """Put `new` in place of every occurrence of the pair, from left to right.

    Examples
    --------
    >>> merge([1, 1, 1, 2], (1, 1), 256)
    [256, 1, 2]
    """
    merged, index = [], 0
    while index < len(ids):
        found = tuple(ids[index : index + 2]) == pair
        merged.append(new if found else ids[index])
        index += 2 if found else 1
    return merged


def learn_merges(text: str, num_merges: int) -> dict[Pair, int]:
    """Merge the most frequent pair of neighbours, `num_merges` times.

    Parameters
    ----------
    text : str
    num_merges : int
        How many tokens to add to the 256 bytes; fewer come back if no pair is left.

    Returns
    -------
    dict of (int, int) to int
        Every pair with the number of its token, 256, 257, ..., in the order of the merges.

    Examples
    --------
    >>> learn_merges("hug pug hugs", 2)  # u and g, three times; then h and ug, twice
    {(117, 103): 256, (104, 256): 257}
    """
    frequency = Counter(pieces(text))
    words, times = [list(piece) for piece in frequency], list(frequency.values())
    counts: Counter[Pair] = Counter()
    places: defaultdict[Pair, set[int]] = defaultdict(set)  # the words that have the pair

    def count(word: int, sign: int) -> None:
        for pair in pairwise(words[word]):
            counts[pair] += sign * times[word]
            places[pair].add(word)

    for word in range(len(words)):
        count(word, 1)
    merges: dict[Pair, int] = {}
    for new in range(256, 256 + num_merges):
        best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
        if best is None or counts[best] < 1:
            break
        for word in places.pop(best):  # only these change
            count(word, -1)
            words[word] = merge(words[word], best, new)
            count(word, 1)
        merges[best] = new
    return merges


class Subwords:
    """Text to tokens and back, by the merges of byte pair encoding.

    Parameters
    ----------
    merges : mapping of (int, int) to int
        As :func:`learn_merges` returns them.
    special_tokens : sequence of str, default ()
        Marks such as ``"<|end|>"`` that get the numbers after the merges. Ordinary text never gives them, even if it
        spells them out: only ``encode(text, special=True)`` does.

    Attributes
    ----------
    tokens : tuple of bytes
        What each number stands for.

    Examples
    --------
    >>> tokenizer = Subwords.train("low tide, high tide, low water", num_merges=6, special_tokens=["<|end|>"])
    >>> ids = tokenizer.encode("at low tide")
    >>> [tokenizer.tokens[index] for index in ids], tokenizer.decode(ids)
    ([b'a', b't', b' ', b'low', b' tide'], 'at low tide')
    >>> tokenizer.decode(tokenizer.encode("née 潮")), len(tokenizer)
    ('née 潮', 263)
    """

    def __init__(self, merges: Mapping[Pair, int], special_tokens: Sequence[str] = ()) -> None:
        self.merges = dict(merges)
        tokens = [bytes([byte]) for byte in range(256)]
        for (left, right), new in self.merges.items():
            if new != len(tokens):
                raise ValueError(f"The merge {left, right} makes token {new}; the next free number is {len(tokens)}.")
            tokens.append(tokens[left] + tokens[right])
        self.special = {token: len(tokens) + i for i, token in enumerate(special_tokens)}
        if len(self.special) < len(special_tokens) or "" in self.special:
            raise ValueError("Special tokens must be different from one another, and not empty.")
        self.tokens = (*tokens, *(token.encode("utf-8") for token in special_tokens))
        self._known: dict[bytes, list[int]] = {}  # pieces come again and again

    @classmethod
    def train(cls, text: str, num_merges: int, special_tokens: Sequence[str] = ()) -> Subwords:
        """Learn the merges from a text: the training part of it, and no more."""
        return cls(learn_merges(text, num_merges), special_tokens)

    def __len__(self) -> int:
        return len(self.tokens)

    def _encode_piece(self, piece: bytes) -> list[int]:
        if piece not in self._known:
            ids = list(piece)
            while found := {self.merges[pair]: pair for pair in pairwise(ids) if pair in self.merges}:
                first = min(found)  # the merge that was learned first
                ids = merge(ids, found[first], first)
            self._known[piece] = ids
        return self._known[piece]

    def encode(self, text: str, *, special: bool = False) -> list[int]:
        """Numbers of the tokens of a text.

        Parameters
        ----------
        text : str
        special : bool, default False
            Whether special tokens that the text spells out become their numbers. Leave it off for text that comes from
            somebody else, who could otherwise write control tokens.
        """
        if special and self.special:
            longest_first = sorted(self.special, key=len, reverse=True)
            parts = re.split(f"({'|'.join(map(re.escape, longest_first))})", text)
        else:
            parts = [text]
        ids = []
        for number, part in enumerate(parts):
            if number % 2:  # split puts what it was split at in between
                ids.append(self.special[part])
            else:
                ids += [index for piece in pieces(part) for index in self._encode_piece(piece)]
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """The text of some tokens. Bytes that are no UTF-8, as of half a character, become U+FFFD."""
        return b"".join(self.tokens[int(index)] for index in ids).decode("utf-8", errors="replace")
