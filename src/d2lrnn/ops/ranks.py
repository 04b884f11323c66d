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
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import torch

from d2lrnn.layers import State
from d2lrnn.metrics import Score
from d2lrnn.model import map_state
from d2lrnn.ops.device import pick_device
from d2lrnn.training import Callback, Run

__all__ = ["DistributedError", "ProcessGroup", "join_ranks"]


class DistributedError(RuntimeError):
    """The processes do not fit together, or one of them was lost."""


class ProcessGroup(Callback):
    """The processes that train together; this class is a process on its own. A callback of `fit`.

    Attributes
    ----------
    rank, world_size : int
        Which one this is, counted from 0, and how many there are.
    device : torch.device
    """

    begins_first = True  # before a stored training is taken up, whose random numbers are then the ones that count
    rank = 0
    world_size = 1

    def __init__(self, device: str | torch.device | None = None) -> None:
        self.device = pick_device(device)

    @property
    def is_main(self) -> bool:
        """Whether this process is the one that shows progress, scores held-out text and writes files."""
        return self.rank == 0

    def rows(self, X: torch.Tensor) -> torch.Tensor:
        """This process's rows of a minibatch (batch_size, ...)."""
        return X

    def all_rows(self, state: State | None) -> State | None:
        """The hidden state of the whole minibatch out of everyone's rows. All processes call it together."""
        return state

    def own_rows(self, state: State | None) -> State | None:
        """This process's rows of the hidden state of a whole minibatch, on its device."""
        return None if state is None else map_state(lambda part: part.to(self.device), state)

    def consensus(self, *wishes: bool) -> tuple[bool, ...]:
        """What anybody wishes, such as to stop: on all processes the same, in the same step."""
        return wishes

    def score_once(self, score: Callable[[], Score]) -> Score:
        """A score as the main process finds it: all processes must come to the same decisions."""
        return score()

    def gather(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        """A tensor of the CPU, of the same shape everywhere, from each process."""
        return [tensor]

    def broadcast(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor as the main process has it, of the same shape everywhere; changed in place."""
        return tensor

    def check_same(self, what: str, value: object) -> None:
        """Raise :class:`DistributedError` on all processes if something is not the same on all of them."""


class _TorchProcessGroup(ProcessGroup):
    """Processes of torch's distributed runtime, over gloo on CPUs and nccl on CUDA devices."""

    def __init__(self, device: torch.device) -> None:
        from torch import distributed

        self._distributed = distributed
        self.device = device
        self.rank, self.world_size = distributed.get_rank(), distributed.get_world_size()

    def on_train_begin(self, run: Run) -> None:
        """Let all processes begin with the same weights, and each drop other outputs."""
        self._wishes: tuple[bool, ...] = ()
        self._agreed: tuple[bool, ...] = ()
        run.stepper.reduce = self._average
        generator = getattr(run.windows, "generator", ...)
        if generator is None:
            raise DistributedError(
                "The windows draw from torch's global generator, from which the processes draw other numbers as well: "
                "they would soon cut different minibatches. Give the windows a generator of their own: "
                "RandomWindows(..., generator=torch.Generator().manual_seed(0))."
            )
        self._check_windows(run)
        self.broadcast(run.stepper.flat.data)
        torch.manual_seed(torch.initial_seed() + self.rank)

    def on_epoch_end(self, run: Run) -> None:
        """Make sure that all processes still cut the same minibatches."""
        self._check_windows(run)

    def _check_windows(self, run: Run) -> None:
        generator = getattr(run.windows, "generator", None)
        state = None if generator is None else generator.get_state().tolist()
        self.check_same("Settings, windows and seed", (run.settings, run.step, state))

    def rows(self, X: torch.Tensor) -> torch.Tensor:
        return X[self._mine(len(X))]

    def all_rows(self, state: State | None) -> State | None:
        return None if state is None else map_state(lambda part: torch.cat(self.gather(part.cpu())), state)

    def own_rows(self, state: State | None) -> State | None:
        if state is None:
            return None
        return map_state(lambda part: part[self._mine(len(part))].to(self.device, copy=True), state)

    def _mine(self, batch_size: int) -> slice:
        size, left_over = divmod(batch_size, self.world_size)
        if left_over or not size:
            raise DistributedError(
                f"A minibatch of {batch_size} rows cannot be divided evenly among {self.world_size} processes. Choose "
                f"a batch size that is a multiple of {self.world_size}."
            )
        return slice(self.rank * size, (self.rank + 1) * size)

    def _average(self, grad: torch.Tensor, loss_nats: float) -> float:
        """Replace the gradient by everyone's average; return everyone's mean loss. The wishes travel along."""
        message = torch.cat([grad, grad.new_tensor([loss_nats, *self._wishes])])
        with _lost_rank():
            self._distributed.all_reduce(message)
        torch.div(message[: len(grad)], self.world_size, out=grad)
        loss_sum, *wishes = message[len(grad) :].tolist()
        self._agreed = tuple(wish > 0 for wish in wishes)
        return loss_sum / self.world_size

    def consensus(self, *wishes: bool) -> tuple[bool, ...]:
        """Of the wishes that were said after the step before: they travel with the gradients of this one."""
        agreed = self._agreed or tuple(False for _ in wishes)
        # What is done now need not be wished once more; whoever still wishes it says so after the next step.
        self._wishes = tuple(False for _ in wishes) if any(agreed) else wishes
        return agreed

    def score_once(self, score: Callable[[], Score]) -> Score:
        found = score() if self.is_main else Score(0.0, 0)
        numbers = self.broadcast(torch.tensor([found.total_nats, found.num_tokens], dtype=torch.float64))
        return Score(float(numbers[0]), int(numbers[1]))

    def gather(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        mine = tensor.to(self.device)  # nccl speaks between GPUs alone
        everyone = [torch.empty_like(mine) for _ in range(self.world_size)]
        with _lost_rank():
            self._distributed.all_gather(everyone, mine)
        return [other.cpu() for other in everyone]

    def broadcast(self, tensor: torch.Tensor) -> torch.Tensor:
        there = tensor.to(self.device)
        with _lost_rank():
            self._distributed.broadcast(there, src=0)
        return tensor.copy_(there)

    def check_same(self, what: str, value: object) -> None:
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
) -> Iterator[ProcessGroup]:
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
    ProcessGroup
        To be passed to `fit` among its callbacks. All processes call `fit` with the same arguments.

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
        yield ProcessGroup(device)
        return
    from torch import distributed  # only here: `import d2lrnn` stays as quick as `import torch`

    own_device = _device_of_this_rank(device)
    try:
        store, rank, world_size = next(distributed.rendezvous("env://", timeout=timeout))
        distributed.init_process_group(
            "nccl" if own_device.type == "cuda" else "gloo",
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
        yield _TorchProcessGroup(own_device)
    finally:
        distributed.destroy_process_group()


def _fresh_part(store: Any, rank: int, world_size: int, timeout: timedelta) -> Any:
    """A prefix in the store under which no earlier attempt has left anything.

    torchrun keeps its store when it starts lost processes again (pytorch issue #135712): without a prefix of their own,
    the new ones read there the addresses of the dead, and cannot connect. Rank 0 proposes to meet those whose names it
    finds, which may be names of the dead, too; a meeting takes place when everyone who is named has agreed to it.
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
            prefix = f"d2lrnn/{hashlib.sha256(meeting.encode()).hexdigest()}"
            count = store.add(f"{prefix}/agreed", int(meeting != agreed_to))
            agreed_to = meeting
            if count == world_size:
                return PrefixStore(prefix, store)
        time.sleep(0.02)
    raise RuntimeError(f"no meeting of {world_size} processes within {timeout}")


def _device_of_this_rank(device: str | torch.device | None) -> torch.device:
    picked = pick_device(device)
    if picked.type != "cuda":
        return torch.device("cpu")
    number = int(os.environ.get("LOCAL_RANK", 0))
    if number >= torch.cuda.device_count():
        raise DistributedError(
            f"This is process {number} on its machine, counted from 0, and there are {torch.cuda.device_count()} CUDA "
            "devices. Start no more processes than devices (--nproc-per-node), or train on the CPU (--device cpu)."
        )
    picked = torch.device("cuda", number)
    torch.cuda.set_device(picked)
    return picked
