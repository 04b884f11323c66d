"""The lab's rivals: held-out perplexities of the n-grams of a text, counted by sorting."""

from __future__ import annotations

import math

import torch

from d2lrnn.text import EncodedText

__all__ = ["rivals"]


def rivals(text: EncodedText, longest: int = 5) -> list[dict[str, float]]:
    """Held-out perplexity of the n-grams of a text, n from 0 to `longest`, as `NGramLM` has it, by sorting.

    With a large alphabet the longest are left out: their number of possible n-grams does not fit an integer.

    Examples
    --------
    >>> from d2lrnn import load_text
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
        before = _longer(before[0], train, length, size), _longer(before[1], heldout, length, size)
    return [{"order": order, "perplexity": perplexity} for order, perplexity in enumerate(found)]


def _counts(sorted_codes: torch.Tensor, first: torch.Tensor, width: int) -> torch.Tensor:
    """How many of the sorted codes lie in [first, first + width), for each."""
    return torch.searchsorted(sorted_codes, first + width) - torch.searchsorted(sorted_codes, first)


def _longer(codes: torch.Tensor, ids: torch.Tensor, length: int, size: int) -> torch.Tensor:
    """Codes of the contexts that are one token longer: of place p, tokens p - length - 1 to p - 1."""
    longer = torch.zeros_like(codes)
    longer[length + 1 :] = codes[length + 1 :] + ids[: len(ids) - length - 1] * size**length
    return longer
