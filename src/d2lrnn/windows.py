"""From one long row of indices to minibatches of windows, at random or in sequence.

A window is `num_steps` tokens of input and the same tokens shifted by one as target. For the ids 0, 1, ..., 20, with
``batch_size=2`` and ``num_steps=4``:

`RandomWindows`: windows start anywhere and may overlap; nothing connects one minibatch to the next, so the hidden state
starts from zeros each time. ::

    minibatch 1:  0 1 2 3 4 5 6 [7 8 9 10] 11 12 13 [14 15 16 17] 18 19 20
    minibatch 2:  0 1 [2 3 4 5] 6 7 8 9 10 [11 12 13 14] 15 16 17 18 19 20

`SequentialWindows`: the text is cut into `batch_size` equal streams, and each minibatch takes the next window of every
stream. Row i of a minibatch goes on where row i of the one before stopped, so its state is carried over. ::

            minibatch 1    minibatch 2
    row 0:  [0  1  2  3]   [4  5  6  7]    8  9    too few for a third window
    row 1:  [10 11 12 13]  [14 15 16 17]   18 19
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from d2lrnn.text import as_row

__all__ = ["RandomWindows", "SequentialWindows"]

Batch = tuple[torch.Tensor, torch.Tensor]


class _Windows:
    """What both ways of cutting share: the ids, the sizes, the check that they fit together, and the position.

    The position is the number of the next minibatch of the epoch that was begun last (so look at a minibatch before a
    training, and not from within it: a second ``for`` moves the position). `state_dict` and
    `load_state_dict` store it and set it, so that the next epoch begins in its middle (as torchdata's
    ``StatefulDataLoader`` does).
    """

    #: whether row i of each minibatch continues row i of the one before
    carries_state: bool
    _num_batches: int

    def __init__(self, ids: torch.Tensor, batch_size: int, num_steps: int) -> None:
        ids = as_row(ids)
        for name, size in (("batch_size", batch_size), ("num_steps", num_steps)):
            if size < 1:
                raise ValueError(f"{name} is {size}; it must be at least 1.")
        self.ids = ids  # of any integer type, as a memory map may be: a minibatch is converted when it is cut
        self.batch_size, self.num_steps = operator.index(batch_size), operator.index(num_steps)  # numpy's, made plain
        self.position = 0
        self._resumed = False

    def __iter__(self) -> Iterator[Batch]:
        """The minibatches of an epoch, or of the rest of one whose state was loaded."""
        if not self._resumed:
            self.position = 0
        self._resumed = False
        return self._from_position()

    def _from_position(self) -> Iterator[Batch]:
        raise NotImplementedError

    def describe(self) -> dict[str, Any]:
        """What decides which minibatches come, but for the text itself: plain values by name."""
        sizes = {"num_tokens": len(self.ids), "batch_size": self.batch_size, "num_steps": self.num_steps}
        return {"windows": type(self).__name__, "minibatches": len(self), **sizes}

    def __len__(self) -> int:
        """Minibatches in an epoch."""
        return self._num_batches

    def state_dict(self) -> dict[str, Any]:
        """The position, and what else decides which minibatches are still to come: numbers and tensors."""
        return {"position": self.position}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up the epoch of :meth:`state_dict`: the next ``for`` goes on there, or begins one if it stood at 0."""
        self.position = int(state["position"])
        self._resumed = self.position > 0

    def _too_short(self, needed: int) -> ValueError:
        room = len(self.ids) - (needed - self.batch_size * self.num_steps)
        if room >= self.num_steps:
            advice = f"Take a longer text, fewer steps or batch_size={room // self.num_steps}."
        else:
            advice = f"Take a longer text{f', or batch_size=1 and num_steps={room}' if room > 0 else ''}."
        return ValueError(
            f"The text has {len(self.ids)} tokens, and {needed} are needed for batch_size={self.batch_size} windows of "
            f"num_steps={self.num_steps} with their targets. {advice}"
        )

    def _minibatches(self, starts: Iterable[torch.Tensor]) -> Iterator[Batch]:
        """Inputs and targets of the windows that begin at each of the `starts`, tensors of shape (batch_size,)."""
        # All windows of the text, one to each place, as views: only those asked for are read.
        X, Y = (part.unfold(0, self.num_steps, 1) for part in (self.ids[:-1], self.ids[1:]))
        for places in starts:
            self.position += 1
            yield X.index_select(0, places).long(), Y.index_select(0, places).long()


class RandomWindows(_Windows):
    """Minibatches of windows at random places; the state does not carry over.

    An epoch has as many windows as would cover the text once, unless you say otherwise.

    Parameters
    ----------
    ids : integer Tensor, shape (num_tokens,)
        Batches come on the device that holds the ids.
    batch_size, num_steps : int
        Windows in a minibatch; tokens in a window.
    overlap : bool, default True
        True: a window may start anywhere, so epochs cut the text differently and windows may overlap. False: the text
        is cut into adjoining windows from a random offset, and each token is used at most once an epoch (what *Dive
        into Deep Learning* does; here an epoch has as many windows as fit at any offset, so always the same number).
    replacement : bool, default False
        False: no two windows of an epoch start at the same place, for which all places are shuffled, at 8 bytes for
        each token of the text. True: every window is drawn from all places, whatever was drawn before; the memory that
        takes does not grow with the text.
    num_batches : int, optional
        Minibatches in an epoch: fewer than cover the text once, to hear of a long text more often; or with replacement
        as many as you like.
    generator : torch.Generator, optional
        Source of randomness; torch's global one if left out.

    Yields
    ------
    X, Y : int64 Tensors, each of shape (batch_size, num_steps)
        ``Y[:, t]`` is the token that follows ``X[:, t]``.

    Raises
    ------
    ValueError
        If a size is below 1, the text is too short for one minibatch, or windows are to be drawn with replacement that
        may not overlap.
    TypeError
        If the ids are not integers.

    Examples
    --------
    >>> windows = RandomWindows(torch.arange(10), batch_size=2, num_steps=4, generator=torch.Generator().manual_seed(0))
    >>> X, Y = next(iter(windows))
    >>> bool((Y == X + 1).all()), len(windows)
    (True, 1)
    """

    carries_state = False

    def __init__(
        self,
        ids: torch.Tensor,
        batch_size: int,
        num_steps: int,
        *,
        overlap: bool = True,
        replacement: bool = False,
        num_batches: int | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(ids, batch_size, num_steps)
        if replacement and not overlap:
            raise ValueError(
                "replacement=True may draw a window twice, and overlap=False says that no token is used twice; "
                "choose one of them."
            )
        self.overlap = overlap
        self.replacement = replacement
        self.generator = generator
        self._state_at_start = self._source().get_state()
        # Without overlap up to num_steps - 1 tokens are lost to the random offset.
        spare = 0 if overlap else self.num_steps - 1
        self._num_windows = (len(self.ids) - 1 - spare) // self.num_steps
        if self._num_windows < self.batch_size:
            raise self._too_short(self.batch_size * self.num_steps + 1 + spare)
        most = self._num_windows // self.batch_size
        if num_batches is not None and not (num_batches >= 1 and (replacement or num_batches <= most)):
            limit = "at least 1" if replacement else f"from 1 to {most}, which cover the text once"
            raise ValueError(f"num_batches is {num_batches}; it must be {limit}.")
        self._num_batches = most if num_batches is None else num_batches

    def describe(self) -> dict[str, Any]:
        """What decides which minibatches come, but for the text and the random numbers."""
        return {**super().describe(), "overlap": self.overlap, "replacement": self.replacement}

    def _random(self, high: int) -> int:
        return int(torch.randint(high, (1,), generator=self.generator))

    def _drawn_anew(self) -> torch.Tensor:
        starts = torch.randint(len(self.ids) - self.num_steps, (self.batch_size,), generator=self.generator)
        return starts.to(self.ids.device)

    def __iter__(self) -> Iterator[Batch]:
        if not self._resumed:
            self._state_at_start = self._source().get_state()
        return super().__iter__()

    def _from_position(self) -> Iterator[Batch]:
        if self.replacement:
            return self._minibatches(self._drawn_anew() for _ in range(self.position, len(self)))
        # The order of an epoch is drawn at its beginning. In its middle the same order is drawn again, and then the
        # source is set to where it stood.
        now = self._source().get_state()
        self._source().set_state(self._state_at_start)
        count = len(self) * self.batch_size
        if self.overlap:
            starts = torch.randperm(len(self.ids) - self.num_steps, generator=self.generator)[:count]
        else:
            order = torch.randperm(self._num_windows, generator=self.generator)[:count]
            starts = self._random(self.num_steps) + order * self.num_steps
        if self.position:
            self._source().set_state(now)
        return self._minibatches(starts.to(self.ids.device).split(self.batch_size)[self.position :])

    def _source(self) -> torch.Generator:
        return self.generator or torch.default_generator

    def state_dict(self) -> dict[str, Any]:
        """Position, and the random source's state now and at the beginning of the epoch."""
        return {**super().state_dict(), "at_start": self._state_at_start, "now": self._source().get_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up the epoch of :meth:`state_dict`: the next ``for`` goes on there, with the same windows."""
        super().load_state_dict(state)
        self._state_at_start = state["at_start"]
        self._source().set_state(state["now"])


class SequentialWindows(_Windows):
    """Minibatches whose rows each read on through one stream of the text; the state carries over.

    The text is cut into `batch_size` streams of ``num_tokens // batch_size`` tokens, so that 1,000 tokens in a batch of
    two start at 0 and 500. Tokens that do not fill a last window of every stream are left out of the epoch.

    Parameters
    ----------
    ids : integer Tensor, shape (num_tokens,)
        Batches come on the device that holds the ids.
    batch_size, num_steps : int
        Number of streams; tokens of each stream in a minibatch.
    offset : int, default 0
        Skip so many tokens at the beginning. Another offset each epoch varies where the windows are cut.

    Yields
    ------
    X, Y : int64 Tensors, each of shape (batch_size, num_steps)
        ``Y[:, t]`` is the token that follows ``X[:, t]``; ``X`` of the next minibatch begins with what was
        ``Y[:, -1]``.

    Raises
    ------
    ValueError
        If a size is below 1, the offset is negative, or the text is too short for one minibatch.
    TypeError
        If the ids are not integers.

    Examples
    --------
    >>> for X, Y in SequentialWindows(torch.arange(10), batch_size=1, num_steps=4):
    ...     print(X.tolist(), Y.tolist())
    [[0, 1, 2, 3]] [[1, 2, 3, 4]]
    [[4, 5, 6, 7]] [[5, 6, 7, 8]]
    """

    carries_state = True

    def __init__(self, ids: torch.Tensor, batch_size: int, num_steps: int, *, offset: int = 0) -> None:
        super().__init__(ids, batch_size, num_steps)
        if offset < 0:
            raise ValueError(f"offset is {offset}; it must be 0 or more.")
        self.offset = operator.index(offset)
        usable = max(len(self.ids) - self.offset, 0)
        self._stream_length = usable // self.batch_size
        # The last stream has no neighbour to borrow its last target from.
        inputs = min(self._stream_length, usable - 1 - (self.batch_size - 1) * self._stream_length)
        self._num_batches = max(inputs, 0) // self.num_steps
        if self._num_batches < 1:
            raise self._too_short(self.offset + self.batch_size * self.num_steps + 1)

    def describe(self) -> dict[str, Any]:
        """What decides which minibatches come, but for the text itself."""
        return {**super().describe(), "offset": self.offset}

    def _from_position(self) -> Iterator[Batch]:
        streams = torch.arange(self.batch_size, device=self.ids.device) * self._stream_length + self.offset
        return self._minibatches(streams + batch * self.num_steps for batch in range(self.position, len(self)))
