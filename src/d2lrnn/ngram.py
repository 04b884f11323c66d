r"""A table of counts as a language model: the baseline that a network has to beat.

An n-gram model predicts the next token from the :math:`n - 1` before it. Contexts that were rarely or never seen are
the difficulty, and Witten and Bell's answer is to ask the shorter context as often as the long one met something new:

.. math::
    P_n(x \mid c) = \frac{N(c, x) + D(c)\, P_{n-1}(x \mid c')}{N(c) + D(c)},
    \qquad P_0(x) = \frac1{|\mathcal V|},

where :math:`N(c, x)` counts how often :math:`x` followed the context :math:`c`, :math:`N(c)` is their sum over
:math:`x`, :math:`D(c)` the number of different tokens that followed, and :math:`c'` the context without its oldest
token.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import fsum, log

import torch

from d2lrnn.metrics import Score
from d2lrnn.text import as_row

__all__ = ["NGramLM"]


class NGramLM:
    r"""Witten-Bell smoothed n-gram model.

    Parameters
    ----------
    ids : integer Tensor, shape (num_tokens,)
        Training text.
    order : int
        The n of n-gram: 1 uses no context at all, 5 the four tokens before. 0 is the uniform model.
    vocab_size : int

    Attributes
    ----------
    num_contexts : tuple of int, length order
        How many different contexts of 0, 1, ..., ``order - 1`` tokens the text had.

    Raises
    ------
    ValueError
        If the order is negative, the text is empty, or an index does not belong to the vocabulary.
    TypeError
        If the ids are not integers.

    Notes
    -----
    Witten and Bell, "The zero-frequency problem: estimating the probabilities of novel events in adaptive text
    compression", IEEE Transactions on Information Theory 37 (1991), method C.

    Examples
    --------
    >>> model = NGramLM(torch.tensor([0, 1, 0, 1, 0, 2]), order=2, vocab_size=3)
    >>> [round(p, 3) for p in model.next_probs([0]).tolist()]  # after 0 came 1, 1 and 2
    [0.178, 0.533, 0.289]
    """

    def __init__(self, ids: torch.Tensor, order: int, vocab_size: int) -> None:
        if order < 0:
            raise ValueError(f"order is {order}; it must be at least 0 (0 is the uniform model).")
        self.order = order
        self.vocab_size = vocab_size
        tokens = self._checked(ids)
        if not tokens:
            raise ValueError("The training text is empty; there is nothing to count.")
        # _counts[k] maps a context of k tokens to the counts of what followed it
        self._counts: list[dict[tuple[int, ...], Counter[int]]] = []
        for length in range(order):
            table: defaultdict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
            for gram, count in Counter(zip(*(tokens[start:] for start in range(length + 1)))).items():
                table[gram[:-1]][gram[-1]] = count
            self._counts.append(dict(table))

    @property
    def num_contexts(self) -> tuple[int, ...]:
        return tuple(len(table) for table in self._counts)

    def _checked(self, ids: torch.Tensor | Sequence[int]) -> list[int]:
        tokens: list[int] = as_row(ids).tolist()
        for index in tokens:
            if not 0 <= index < self.vocab_size:
                raise ValueError(f"index {index} is not in a vocabulary of {self.vocab_size} tokens.")
        return tokens

    def _seen(self, context: Sequence[int]) -> list[Counter[int]]:
        """What followed the last 0, 1, 2, ... tokens of the context, as far as that was ever seen."""
        counts = []
        for length in range(min(self.order, len(context) + 1)):
            followers = self._counts[length].get(tuple(context[len(context) - length :]))
            if followers is None:  # then no longer context was seen either
                break
            counts.append(followers)
        return counts

    def next_probs(self, context: torch.Tensor | Sequence[int]) -> torch.Tensor:
        """Distribution over the next token.

        Parameters
        ----------
        context : sequence of int
            The tokens before; of a long one only the last ``order - 1`` count, and an empty one will do.

        Returns
        -------
        float64 Tensor, shape (vocab_size,)
            Probabilities, none of them 0, that sum to 1.

        Raises
        ------
        ValueError
            If an index does not belong to the vocabulary.
        TypeError
            If the ids are not integers.
        """
        probs = torch.full((self.vocab_size,), 1 / self.vocab_size, dtype=torch.float64)
        for followers in self._seen(self._checked(context)):
            num_types = len(followers)
            seen = torch.zeros(self.vocab_size, dtype=torch.float64)
            seen[list(followers)] = torch.tensor(list(followers.values()), dtype=torch.float64)
            probs = (seen + num_types * probs) / (followers.total() + num_types)
        return probs

    def evaluate(self, ids: torch.Tensor) -> Score:
        """Score a text: every token but the first is predicted once, as :func:`d2lrnn.evaluate` does for a network.

        Parameters
        ----------
        ids : integer Tensor, shape (num_tokens,)

        Returns
        -------
        Score
            Of ``num_tokens - 1`` predictions.

        Raises
        ------
        ValueError
            If there are fewer than two tokens, or an index does not belong to the vocabulary.
        TypeError
            If the ids are not integers.
        """
        tokens = self._checked(ids)
        if len(tokens) < 2:
            raise ValueError(
                f"The text has {len(tokens)} tokens; scoring needs at least 2: one to read, one to predict."
            )
        longest = max(self.order - 1, 0)
        nats = []
        for index in range(1, len(tokens)):
            p = 1 / self.vocab_size
            for followers in self._seen(tokens[max(0, index - longest) : index]):
                num_types = len(followers)
                p = (followers[tokens[index]] + num_types * p) / (followers.total() + num_types)
            nats.append(-log(p))
        return Score(fsum(nats), len(nats))
