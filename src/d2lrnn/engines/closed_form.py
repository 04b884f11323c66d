r"""Loss and all gradients of the tanh language model in closed form: the fast path, one function long.

The mathematics is that of :class:`d2lrnn.RNNScratch` and of the chapter *Backpropagation through time*; nothing is
approximated. What is different from the textbook version is the order of the work:

- A one-hot vector times a matrix is a row of the matrix, so input and bias of *all* steps are one lookup in
  ``W_xh + b_h``; its gradient adds rows up by token.
- Only ``H_before @ W_hh`` has to wait for the step before. Everything else, the output layer, the softmax and the
  gradient of each weight, is one operation for all steps together: one large matrix product costs less than
  `num_steps` small ones.
- Every result has its place from the start (:class:`Buffers`); a training step asks for hardly any new memory.
- The products are torch's and the rest numpy's, on the same memory: numpy's tanh is several times faster, and its calls
  cost half as much, which is what small networks wait for.

Time is the first axis and lies flat: row ``t * batch_size + i`` is step t of sequence i.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch

__all__ = ["Buffers", "Weights", "loss_and_gradients", "read", "threads_for"]

#: from so many hidden units, or numbers in one step's states, more than one thread is used, if torch is set to that
MIN_HIDDENS_FOR_THREADS, MIN_STATES_FOR_THREADS = 256, 2**14


class Weights(NamedTuple):
    """The weights of the model, or their gradients: detached tensors on the CPU, all of them float32 or all float64.

    `E` (vocab_size, num_inputs) is the embedding's table, None for one-hot input, where num_inputs is vocab_size.
    """

    E: torch.Tensor | None
    W_xh: torch.Tensor  # (num_inputs, num_hiddens)
    W_hh: torch.Tensor  # (num_hiddens, num_hiddens)
    b_h: torch.Tensor  # (num_hiddens,)
    W_hq: torch.Tensor  # (num_hiddens, vocab_size)
    b_q: torch.Tensor  # (vocab_size,)


class Buffers:
    """Room for one training step with minibatches of one shape.

    Parameters
    ----------
    weights : Weights
        Only their sizes and their type matter.
    batch_size, num_steps : int

    Attributes
    ----------
    states : Tensor, shape (num_steps + 1, batch_size, num_hiddens)
    first_state, last_state : Tensor, shape (batch_size, num_hiddens)
        Views of it: put the state to start from into the first; the last is the one to go on with.
    """

    def __init__(self, weights: Weights, batch_size: int, num_steps: int) -> None:
        num_inputs, num_hiddens = weights.W_xh.shape
        vocab_size = len(weights.b_q)
        num_tokens = batch_size * num_steps

        def room(*shape: int) -> torch.Tensor:
            return torch.zeros(shape, dtype=weights.W_hh.dtype)

        self.shape = (batch_size, num_steps)
        self.ids = torch.zeros(num_steps, batch_size, dtype=torch.int64)
        self.targets = torch.zeros_like(self.ids)
        self.inputs = room(vocab_size, num_hiddens) if weights.E is None else room(num_tokens, num_inputs)
        self.dinputs = torch.empty_like(self.inputs)
        self.states = room(num_steps + 1, batch_size, num_hiddens)
        self.slopes = room(num_steps, batch_size, num_hiddens).numpy()  # of the tanh
        self.deltas = room(num_steps, batch_size, num_hiddens)  # gradient before the tanh
        # The longer axis lies contiguous: it is the one along which a processor works fast.
        by_class = num_tokens > vocab_size
        self.logits = room(vocab_size, num_tokens).T if by_class else room(num_tokens, vocab_size)
        self.probs = self.logits.numpy()
        self.dW_hq_T = room(vocab_size, num_hiddens) if by_class else None
        self.picked = room(num_tokens, 1)
        self.minus_share = torch.full((num_tokens, 1), -1 / num_tokens, dtype=weights.W_hh.dtype)
        self.ones = torch.ones(num_tokens, dtype=weights.W_hh.dtype)
        # numpy's product for small matrices, where the call is what costs; it can't be told how many threads to use,
        # but below this size it uses one.
        small = batch_size * num_hiddens**2 < 2**18
        self.product = room(batch_size, num_hiddens).numpy() if small else None
        # Views: making them anew at every step would cost more than a small product.
        self.state_steps = [(H, H.numpy()) for H in self.states.unbind(0)]
        self.delta_steps = [(delta, delta.numpy()) for delta in self.deltas.unbind(0)]
        self.slope_steps = list(self.slopes)
        self.H_np = self.states[1:].numpy()
        self.first_state, self.last_state = self.states[0], self.states[-1]
        rows = self.states.flatten(0, 1)
        self.H_before, self.H = rows[:num_tokens], rows[batch_size:]  # (num_tokens, num_hiddens)


@contextmanager
def threads_for(num_hiddens: int, batch_size: int = 1) -> Iterator[None]:
    """Run torch in one thread where network and batch are small, and restore the setting at the end.

    A second thread costs a small network more than it brings, and nearly everything when something else runs beside.

    Examples
    --------
    >>> with threads_for(num_hiddens=64):
    ...     torch.get_num_threads()
    1
    """
    before = torch.get_num_threads()
    if num_hiddens < MIN_HIDDENS_FOR_THREADS and batch_size * num_hiddens < MIN_STATES_FOR_THREADS:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


# What overflows shows in the loss, and is reported there once.
_quietly = np.errstate(over="ignore", invalid="ignore", divide="ignore")


@_quietly
def read(weights: Weights, X: torch.Tensor, room: Buffers) -> torch.Tensor:
    r"""All states of a minibatch.

    .. math:: \mathbf H_t = \tanh(\mathbf X_t \mathbf W_{xh} + \mathbf H_{t-1} \mathbf W_{hh} + \mathbf b_h)

    Parameters
    ----------
    weights : Weights
    X : integer Tensor, shape (batch_size, num_steps)
    room : Buffers
        With the state to start from in ``room.first_state``.

    Returns
    -------
    Tensor, shape (num_steps * batch_size, num_hiddens)
        A view of ``room.states``.

    Raises
    ------
    IndexError
        If a token is outside the vocabulary.

    Examples
    --------
    >>> weights = Weights(None, torch.eye(2), torch.zeros(2, 2), torch.zeros(2), torch.zeros(2, 2), torch.zeros(2))
    >>> read(weights, torch.tensor([[0, 1, 1]]), Buffers(weights, 1, 3)).argmax(dim=1).tolist()
    [0, 1, 1]
    """
    E, W_xh, W_hh, b_h, *_ = weights
    ids = room.ids.copy_(X.T).view(-1)
    # Input and bias of every step, laid where its state will be.
    if E is None:
        torch.index_select(torch.add(W_xh, b_h, out=room.inputs), 0, ids, out=room.H)
    else:
        torch.addmm(b_h, torch.index_select(E, 0, ids, out=room.inputs), W_xh, out=room.H)
    W, small = W_hh.numpy(), room.product
    for (before, before_np), (state, state_np) in pairwise(room.state_steps):
        if small is None:
            state.addmm_(before, W_hh)
        else:
            state_np += before_np.dot(W, small)
        np.tanh(state_np, state_np)
    return room.H


@_quietly
def loss_and_gradients(weights: Weights, grads: Weights, X: torch.Tensor, Y: torch.Tensor, room: Buffers) -> float:
    r"""Mean cross-entropy of a minibatch in nats per token, and its gradients by all weights.

    .. math::
        \mathbf H_t = \tanh(\mathbf X_t \mathbf W_{xh} + \mathbf H_{t-1} \mathbf W_{hh} + \mathbf b_h), \qquad
        \mathbf O_t = \mathbf H_t \mathbf W_{hq} + \mathbf b_q, \qquad
        \mathrm d\mathbf O_t = \tfrac1n (\mathrm{softmax}(\mathbf O_t) - \text{onehot}(y_t))

    .. math::
        \mathbf\Delta_t = (\mathrm d\mathbf O_t \mathbf W_{hq}^\top + \mathbf\Delta_{t+1} \mathbf W_{hh}^\top)
            \odot (1 - \mathbf H_t^2), \qquad
        \mathrm d\mathbf W_{hh} = \sum_t \mathbf H_{t-1}^\top \mathbf\Delta_t, \qquad
        \mathrm d\mathbf W_{xh} = \sum_t \mathbf X_t^\top \mathbf\Delta_t

    Parameters
    ----------
    weights : Weights
    grads : Weights
        Written over with the gradients.
    X, Y : integer Tensors, each of shape (batch_size, num_steps)
        Inputs, and the token that follows each.
    room : Buffers
        Made for minibatches of this shape, with the state to start from in ``room.first_state``. No gradient goes
        into that state, which is truncated backpropagation through time. The last one is in ``room.last_state``.

    Returns
    -------
    float
        Not finite where something overflowed; the gradients are of no use then.

    Raises
    ------
    IndexError, RuntimeError
        If a token is outside the vocabulary.

    Notes
    -----
    Taught in the chapter *Backpropagation through time*; Werbos, Proceedings of the IEEE 78 (1990).

    Examples
    --------
    >>> weights = Weights(None, torch.zeros(3, 4), torch.eye(4), torch.zeros(4), torch.zeros(4, 3), torch.zeros(3))
    >>> grads = Weights(None, *(torch.empty_like(weight) for weight in weights[1:]))
    >>> room = Buffers(weights, batch_size=1, num_steps=2)
    >>> loss_nats = loss_and_gradients(weights, grads, torch.tensor([[0, 1]]), torch.tensor([[1, 2]]), room)
    >>> round(np.exp(loss_nats).item(), 4), [round(g, 4) for g in grads.b_q.tolist()]  # uniform, and the truth
    (3.0, [0.3333, -0.1667, -0.1667])
    """
    E, W_xh, W_hh, _, W_hq, b_q = weights
    dE, dW_xh, dW_hh, db_h, dW_hq, db_q = grads
    H_before, H, deltas = room.H_before, room.H, room.deltas.flatten(0, 1)  # (num_steps * batch_size, num_hiddens)
    read(weights, X, room)
    ids, targets = room.ids.view(-1), room.targets.copy_(Y.T).view(-1, 1)

    # Output layer, softmax and loss of all steps.
    logits = torch.mm(H, W_hq, out=room.logits)  # (num_steps * batch_size, vocab_size)
    probs = room.probs  # the same memory
    probs += b_q.numpy()
    probs -= probs.max(axis=1, keepdims=True)
    picked = torch.gather(logits, 1, targets, out=room.picked)
    np.exp(probs, probs)
    total = probs.sum(axis=1, keepdims=True)
    loss_nats = float(np.log(total).sum() - picked.numpy().sum()) / len(ids)

    # And back: (probs - onehot) / num_tokens, through the output layer, then through time.
    total *= len(ids)
    probs /= total
    dlogits = logits.scatter_add_(1, targets, room.minus_share)
    if room.dW_hq_T is None:
        torch.mm(H.T, dlogits, out=dW_hq)
    else:
        dW_hq.copy_(torch.mm(dlogits.T, H, out=room.dW_hq_T).T)
    torch.mv(dlogits.T, room.ones, out=db_q)
    torch.mm(dlogits, W_hq.T, out=deltas)
    np.multiply(room.H_np, room.H_np, room.slopes)
    np.subtract(1, room.slopes, room.slopes)
    small = room.product
    W_T = W_hh.T if small is None else W_hh.numpy().T.copy()  # small products are faster along rows
    later = later_np = None
    for (delta, delta_np), slope in zip(reversed(room.delta_steps), reversed(room.slope_steps)):
        if later is not None:
            if small is None:
                delta.addmm_(later, W_T)
            else:
                delta_np += later_np.dot(W_T, small)
        delta_np *= slope
        later, later_np = delta, delta_np

    # Each weight was used at every step; one product adds all steps up.
    torch.mm(H_before.T, deltas, out=dW_hh)
    if E is None:
        torch.sum(dW_xh.zero_().index_add_(0, ids, deltas), 0, out=db_h)  # every step is in one of the rows
    else:
        torch.mv(deltas.T, room.ones, out=db_h)
        torch.mm(room.inputs.T, deltas, out=dW_xh)
        dE.zero_().index_add_(0, ids, torch.mm(deltas, W_xh.T, out=room.dinputs))
    return loss_nats
