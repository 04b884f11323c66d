"""Several processes that train one model: each takes its rows of every minibatch, and the gradients are averaged.

``torchrun --nproc-per-node=2 -m d2lrnn train my.txt`` starts two processes on one machine, with more options on many.
Every process ("rank") cuts the same minibatches from the same text and keeps its part of the rows, always the same
ones, so the hidden state of row i stays where row i is::

                  minibatch of 4 rows
        rank 0:   rows 0, 1     gradient of their mean loss  \\
                                                               average -> clip -> the same update everywhere
        rank 1:   rows 2, 3     gradient of their mean loss  /

All parts are of one size, so the average of the gradients is the gradient of the whole minibatch, and what comes out is
what one process would have computed but for rounding. One message a step carries everything: the gradient as one flat
vector, the loss, and whether somebody wants to stop or to store.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import torch

from d2lrnn.model import State
from d2lrnn.ops.device import pick_device

__all__ = ["DistributedError", "Ranks", "join_ranks"]


class DistributedError(RuntimeError):
    """The processes do not fit together, or one of them was lost."""


class Ranks:
    """The company of processes that train together; this one is a process on its own.

    Attributes
    ----------
    rank, world_size : int
        Which one this is, counted from 0, and how many there are.
    device : torch.device
    """

    rank = 0
    world_size = 1

    def __init__(self, device: str | torch.device | None = None) -> None:
        self.device = pick_device(device)
        self._request = (False, False)

    def rows(self, X: torch.Tensor) -> torch.Tensor:
        """This rank's rows of a minibatch (batch_size, ...)."""
        return X

    def whole(self, state: State | None) -> State | None:
        """The hidden state of the whole minibatch out of everyone's rows. All ranks must call it together."""
        return state

    def part(self, state: State | None) -> State | None:
        """This rank's rows of the hidden state of a whole minibatch."""
        return state

    def request(self, *, stop: bool, store: bool) -> None:
        """What this process would like after the coming step."""
        self._request = (stop, store)

    def average(self, grad: torch.Tensor, loss_nats: float) -> float:
        """Replace the gradient by everyone's average; return everyone's mean loss."""
        return loss_nats

    def agreed(self) -> tuple[bool, bool]:
        """Whether anybody wanted to stop, or to store, before the step that was just made."""
        return self._request

    def gather(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        """A tensor of the CPU, of the same shape everywhere, from each rank."""
        return [tensor]

    def of_rank_0(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor as rank 0 has it, of the same shape everywhere; changed in place."""
        return tensor

    def insist_on_the_same(self, what: str, value: object) -> None:
        """Raise :class:`DistributedError` on all ranks if something is not the same on all of them."""


class _TorchRanks(Ranks):
    """Processes of torch's distributed runtime, over gloo on CPUs and nccl on CUDA devices."""

    def __init__(self, device: torch.device) -> None:
        from torch import distributed

        self._distributed = distributed
        self.device = device
        self.rank, self.world_size = distributed.get_rank(), distributed.get_world_size()
        self._request = self._agreed = (False, False)

    def rows(self, X: torch.Tensor) -> torch.Tensor:
        return X[self._mine(len(X))]

    def whole(self, state: State | None) -> State | None:
        if isinstance(state, tuple):
            return tuple(self.whole(part) for part in state)
        return None if state is None else torch.cat(self.gather(state.cpu()))

    def part(self, state: State | None) -> State | None:
        if isinstance(state, tuple):
            return tuple(self.part(part) for part in state)
        return None if state is None else state[self._mine(len(state))].clone()

    def _mine(self, batch_size: int) -> slice:
        size, left_over = divmod(batch_size, self.world_size)
        if left_over or not size:
            raise DistributedError(
                f"A minibatch of {batch_size} rows cannot be divided evenly among {self.world_size} processes. Choose "
                f"a batch size that is a multiple of {self.world_size}."
            )
        return slice(self.rank * size, (self.rank + 1) * size)

    def average(self, grad: torch.Tensor, loss_nats: float) -> float:
        message = torch.cat([grad, grad.new_tensor([loss_nats, *self._request])])
        with _lost_rank():
            self._distributed.all_reduce(message)
        torch.div(message[: len(grad)], self.world_size, out=grad)
        loss_sum, *requests = message[len(grad) :].tolist()
        self._agreed = tuple(request > 0 for request in requests)
        return loss_sum / self.world_size

    def agreed(self) -> tuple[bool, bool]:
        return self._agreed

    def gather(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        mine = tensor.to(self.device)  # nccl speaks between GPUs alone
        everyone = [torch.empty_like(mine) for _ in range(self.world_size)]
        with _lost_rank():
            self._distributed.all_gather(everyone, mine)
        return [other.cpu() for other in everyone]

    def of_rank_0(self, tensor: torch.Tensor) -> torch.Tensor:
        there = tensor.to(self.device)
        with _lost_rank():
            self._distributed.broadcast(there, src=0)
        return tensor.copy_(there)

    def insist_on_the_same(self, what: str, value: object) -> None:
        digest = hashlib.sha256(repr(value).encode()).digest()
        everyone = self.gather(torch.frombuffer(bytearray(digest), dtype=torch.uint8))
        different = [rank for rank, other in enumerate(everyone) if not torch.equal(other, everyone[0])]
        if different:
            raise DistributedError(
                f"{what} must be the same in all processes, and ranks {', '.join(map(str, different))} differ from "
                "rank 0. Give all of them the same text, settings and seed."
            )


@contextlib.contextmanager
def _lost_rank() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:  # gloo's and nccl's own errors are subclasses of it, or it
        raise DistributedError(
            f"Another process of this training does not answer any more ({str(error).splitlines()[0]})."
        ) from error


@contextlib.contextmanager
def join_ranks(
    device: str | torch.device | None = None, timeout: timedelta = timedelta(minutes=30)
) -> Iterator[Ranks]:
    """Meet the other processes of a training that ``torchrun`` started, or go alone where none did.

    Parameters
    ----------
    device : str or torch.device, optional
        ``"cpu"`` for gloo on the CPU. Otherwise each process takes the CUDA device of its number on its machine, and
        they speak over nccl; where there is no CUDA, the CPU.
    timeout : timedelta, default 30 minutes
        How long to wait for a process that says nothing.

    Yields
    ------
    Ranks

    Raises
    ------
    DistributedError
        If there are more processes on this machine than CUDA devices, or the others cannot be reached.

    Examples
    --------
    >>> with join_ranks("cpu") as ranks:
    ...     print(ranks.rank, ranks.world_size, ranks.device)
    0 1 cpu
    """
    if not {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"} <= os.environ.keys():
        yield Ranks(device)
        return
    from torch import distributed  # only here: `import d2lrnn` stays as quick as `import torch`

    place = _device_of_this_rank(device)
    try:
        store, rank, world_size = next(distributed.rendezvous("env://", timeout=timeout))
        distributed.init_process_group(
            "nccl" if place.type == "cuda" else "gloo",
            store=_fresh_part(store, rank, world_size, timeout),
            rank=rank,
            world_size=world_size,
            timeout=timeout,
        )
    except (RuntimeError, ValueError) as error:
        raise DistributedError(
            f"The other processes could not be reached ({str(error).splitlines()[0]}). Are all of them started by one "
            "torchrun, or with the same --rdzv-endpoint?"
        ) from error
    try:
        yield _TorchRanks(place)
    finally:
        distributed.destroy_process_group()


def _fresh_part(store: Any, rank: int, world_size: int, timeout: timedelta) -> Any:
    """A part of the store in which no earlier attempt has left anything.

    torchrun keeps its store when it starts lost processes again. Without a part of their own, the new ones read there
    the addresses of the dead, and cannot connect. Rank 0 proposes to meet those whose names it finds, which may be
    names of the dead, too; a meeting takes place when everyone who is named has agreed to it.
    """
    from torch.distributed import PrefixStore

    my_name, deadline = uuid.uuid4().hex, time.monotonic() + timeout.total_seconds()
    store.set(f"d2lrnn/name/{rank}", my_name)
    agreed_to = None
    while time.monotonic() < deadline:
        if rank == 0:
            names = [store.get(f"d2lrnn/name/{other}").decode() for other in range(world_size)]
            store.set("d2lrnn/meeting", ",".join(names))
        meeting = store.get("d2lrnn/meeting").decode()
        if my_name in meeting:
            place = f"d2lrnn/{hashlib.sha256(meeting.encode()).hexdigest()}"
            count = store.add(f"{place}/agreed", int(meeting != agreed_to))
            agreed_to = meeting
            if count == world_size:
                return PrefixStore(place, store)
        time.sleep(0.02)
    raise RuntimeError(f"no meeting of {world_size} processes within {timeout}")


def _device_of_this_rank(device: str | torch.device | None) -> torch.device:
    place = pick_device(device)
    if place.type != "cuda":
        return torch.device("cpu")
    number = int(os.environ.get("LOCAL_RANK", 0))
    if number >= torch.cuda.device_count():
        raise DistributedError(
            f"This is process {number} on its machine, counted from 0, and there are {torch.cuda.device_count()} CUDA "
            "devices. Start no more processes than devices (--nproc-per-node), or train on the CPU (--device cpu)."
        )
    place = torch.device("cuda", number)
    torch.cuda.set_device(place)
    return place
