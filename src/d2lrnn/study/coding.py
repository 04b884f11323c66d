r"""An arithmetic coder driven by a language model: perplexity as a file size.

The coder keeps an interval of numbers. Each token narrows it to the share that the model gives to that token, so a text
of probability :math:`P` ends in an interval of width :math:`P`, and a number inside it can be named in about
:math:`-\log_2 P` bits: the model's total surprisal. The decoder runs the same model, sees in which token's share the
number lies, and narrows its own interval alike.

The interval is held in whole numbers of 32 bits, whose settled leading bits are written out as they become known
(Witten, Neal and Cleary, "Arithmetic coding for data compression", Communications of the ACM 30, 1987).
"""

from __future__ import annotations

import contextlib
from bisect import bisect_right
from collections.abc import Callable, Iterator

import torch

from d2lrnn.metrics import not_finite
from d2lrnn.model import RNNLM, State, evaluating
from d2lrnn.ngram import NGramLM

__all__ = ["compress", "decompress"]

_BITS = 32
_TOP, _HALF, _QUARTER = 1 << _BITS, 1 << (_BITS - 1), 1 << (_BITS - 2)
#: The shares of all tokens sum to this many parts; it must stay well below a quarter of the interval.
_TOTAL = 1 << 24
_LENGTH_BYTES = 4

#: Reads the token that came (None before the first) and returns the probabilities of the next, shape (vocab_size,).
Predictor = Callable[[int | None], torch.Tensor]


def _predictor(model: RNNLM | NGramLM) -> Predictor:
    """A reader of one text, at its beginning."""
    if isinstance(model, NGramLM):
        context: list[int] = []

        def read_counts(token: int | None) -> torch.Tensor:
            if token is not None:
                context.append(token)
            return model.next_probs(context[max(0, len(context) - model.order + 1) :])

        return read_counts

    state: State | None = None

    @torch.no_grad()
    def read_network(token: int | None) -> torch.Tensor:
        nonlocal state
        if token is None:  # nothing has been read, so nothing is known
            return torch.full((model.vocab_size,), 1 / model.vocab_size)
        logits, state = model(torch.tensor([[token]], device=model.device), state)
        return torch.softmax(logits[0, 0].double().cpu(), dim=-1)

    return read_network


def _without_dropout(model: RNNLM | NGramLM) -> contextlib.AbstractContextManager[None]:
    """Nothing is dropped while a text is packed or unpacked: both sides must see the same probabilities."""
    return contextlib.nullcontext() if isinstance(model, NGramLM) else evaluating(model)


def _cumulative_shares(probs: torch.Tensor) -> list[int]:
    """Probabilities as whole parts of `_TOTAL`, summed up from the left; every token gets at least one part.

    Returns
    -------
    list of int, length vocab_size + 1
        Token i has the share from entry i to entry i + 1.
    """
    if probs.isnan().any():  # no share would be left, and the interval would be doubled for ever
        raise not_finite()
    spare = _TOTAL - len(probs)
    ends = (probs.double().cumsum(0).clamp(max=1.0) * spare).long() + torch.arange(1, len(probs) + 1)
    ends[-1] = _TOTAL
    return [0, *ends.tolist()]


class _Interval:
    """The part of the 32-bit numbers that is still possible."""

    def __init__(self) -> None:
        self.low, self.high = 0, _TOP - 1

    def narrow(self, start: int, end: int) -> None:
        width = self.high - self.low + 1
        self.high = self.low + width * end // _TOTAL - 1
        self.low += width * start // _TOTAL

    def renormalize(self) -> Iterator[str]:
        """Double the interval until its ends differ in the first bit and are not both near the middle.

        Yields "0" or "1" where the first bit is settled, and "?" where the interval straddles the middle closely: that
        bit will be the opposite of the next settled one. (In the field: renormalization; "?" is underflow.)
        """
        while True:
            if self.high < _HALF:
                yield "0"
                offset = 0
            elif self.low >= _HALF:
                yield "1"
                offset = _HALF
            elif self.low >= _QUARTER and self.high < 3 * _QUARTER:
                yield "?"
                offset = _QUARTER
            else:
                return
            self.low = (self.low - offset) << 1
            self.high = ((self.high - offset) << 1) + 1


def compress(model: RNNLM | NGramLM, ids: torch.Tensor) -> bytes:
    """Pack a text into as many bits as its surprisal under the model.

    Parameters
    ----------
    model : RNNLM or NGramLM
        The unpacking side needs the same one, on the same kind of device: probabilities must agree to the last bit.
    ids : integer Tensor, shape (num_tokens,)

    Returns
    -------
    bytes
        Four bytes for the number of tokens, then the code, at most two bits longer than the total surprisal under the
        shares of the coder, rounded up to a byte.

    Raises
    ------
    ValueError
        If an index does not belong to the model's vocabulary, the text is too long for its header, or the model's
        weights are not finite.

    Examples
    --------
    >>> ids = torch.tensor([0, 1] * 500)
    >>> model = NGramLM(ids, order=3, vocab_size=2)
    >>> packed = compress(model, ids)
    >>> len(packed), torch.equal(decompress(model, packed), ids)
    (5, True)
    """
    if len(ids) >= 1 << (8 * _LENGTH_BYTES):
        raise ValueError(f"The text has {len(ids)} tokens; the header holds at most 2**32 - 1. Pack it in parts.")
    for token in ids.tolist():
        if not 0 <= token < model.vocab_size:
            raise ValueError(f"index {token} is not in the model's vocabulary of {model.vocab_size} tokens.")
    interval, read = _Interval(), _predictor(model)
    bits: list[str] = []
    pending = 0  # bits that will be the opposite of the next settled one

    def write(settled: str) -> None:
        nonlocal pending
        if settled == "?":
            pending += 1
            return
        bits.append(settled + ("1" if settled == "0" else "0") * pending)
        pending = 0

    before: int | None = None
    with _without_dropout(model):
        for token in ids.tolist():
            shares = _cumulative_shares(read(before))
            interval.narrow(shares[token], shares[token + 1])
            for settled in interval.renormalize():
                write(settled)
            before = token
    # Two more bits name a quarter that lies wholly inside the interval.
    pending += 1
    write("0" if interval.low < _QUARTER else "1")
    code = "".join(bits)
    code += "0" * (-len(code) % 8)
    return len(ids).to_bytes(_LENGTH_BYTES, "big") + int(code, 2).to_bytes(len(code) // 8, "big")


def decompress(model: RNNLM | NGramLM, packed: bytes) -> torch.Tensor:
    """Unpack what :func:`compress` packed with the same model.

    Parameters
    ----------
    model : RNNLM or NGramLM
    packed : bytes

    Returns
    -------
    int64 Tensor, shape (num_tokens,)
        Damaged bytes, or another model, give some other text or an error: the code itself has no check.

    Raises
    ------
    ValueError
        If the bytes are too few to hold a length, or are more or fewer than a text of that length takes, or the model's
        weights are not finite.

    Examples
    --------
    >>> model = NGramLM(torch.tensor([0, 1, 1]), order=1, vocab_size=2)
    >>> decompress(model, compress(model, torch.tensor([1, 1, 0]))).tolist()
    [1, 1, 0]
    """
    if len(packed) < _LENGTH_BYTES:
        raise ValueError(f"{len(packed)} bytes are too few to be a packed text; its length alone takes 4.")
    num_tokens = int.from_bytes(packed[:_LENGTH_BYTES], "big")
    bits = (byte >> shift & 1 for byte in packed[_LENGTH_BYTES:] for shift in range(7, -1, -1))
    value = 0
    for _ in range(_BITS):
        value = value << 1 | next(bits, 0)

    interval, read = _Interval(), _predictor(model)
    tokens: list[int] = []
    num_bits = 8 * (len(packed) - _LENGTH_BYTES)
    num_used = 2  # so many close the code; one more for each bit that is settled
    with _without_dropout(model):
        while len(tokens) < num_tokens and num_used <= num_bits:
            shares = _cumulative_shares(read(tokens[-1] if tokens else None))
            width = interval.high - interval.low + 1
            part = ((value - interval.low + 1) * _TOTAL - 1) // width
            token = bisect_right(shares, part) - 1  # the last one whose share starts at or before this part
            interval.narrow(shares[token], shares[token + 1])
            for settled in interval.renormalize():
                offset = {"0": 0, "1": _HALF, "?": _QUARTER}[settled]
                value = (value - offset) << 1 | next(bits, 0)
                num_used += 1
            tokens.append(token)
    if not num_used <= num_bits < num_used + 8:
        raise ValueError(
            f"{len(packed)} bytes are not what a text of {num_tokens} tokens takes with this model: they are damaged, "
            "or another model packed them."
        )
    return torch.tensor(tokens, dtype=torch.long)
