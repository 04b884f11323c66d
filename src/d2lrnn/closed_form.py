r"""Loss and all gradients of the tanh language model in closed form: the fast path, one function long.

The mathematics is that of :class:`d2lrnn.RNNScratch` and of the chapter *Backpropagation through time*; nothing is
approximated. What is different from the textbook version is the order of the work:

- A one-hot vector times a matrix is a row of the matrix, so input and bias of *all* steps are one lookup in
  ``W_xh + b_h``; its gradient adds rows up by token.
- Only ``H_before @ W_hh`` has to wait for the step before. Everything else, the output layer, the softmax and the
  gradient of each weight, is one operation for all steps together: one large matrix product costs less than
  `num_steps` small ones.
- Every result has its place from the start (:class:`Buffers`); a training step asks for no new memory.
- The products are torch's and the rest numpy's, on the same memory: numpy's tanh is several times faster, and its calls
  cost half as much, which is what small networks wait for.

Time is the first axis and lies flat: row ``t * batch_size + i`` is step t of sequence i. Classes lie along axis 0,
where a softmax over few of them runs through memory in one sweep.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch

__all__ = ["Buffers", "Weights", "loss_and_gradients"]


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
        Put the state to start from into ``states[0]``; the last one then stands in ``states[-1]``.
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
        self.states = room(num_steps + 1, batch_size, num_hiddens)
        self.slopes = room(num_steps, batch_size, num_hiddens).numpy()  # of the tanh
        self.deltas = room(num_steps, batch_size, num_hiddens)  # gradient before the tanh
        self.logits = room(vocab_size, num_tokens)
        self.picked = room(1, num_tokens)
        self.dW_hq_T = room(vocab_size, num_hiddens)
        self.minus_share = torch.full((1, num_tokens), -1 / num_tokens, dtype=weights.W_hh.dtype)
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
        rows = self.states.flatten(0, 1)
        self.H_before, self.H = rows[:num_tokens], rows[batch_size:]  # (num_tokens, num_hiddens)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # what overflows shows in the loss
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
        Made for minibatches of this shape, with the state to start from in ``room.states[0]``. No gradient goes into
        that state, which is truncated backpropagation through time. The last state is in ``room.states[-1]``.

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
    E, W_xh, W_hh, b_h, W_hq, b_q = weights
    dE, dW_xh, dW_hh, db_h, dW_hq, db_q = grads
    ids, targets = room.ids.copy_(X.T).view(-1), room.targets.copy_(Y.T).view(1, -1)
    H_before, H, deltas = room.H_before, room.H, room.deltas.flatten(0, 1)  # (num_steps * batch_size, num_hiddens)
    small = room.product

    # Input and bias of every step, laid where its state will be; then the recurrence.
    if E is None:
        torch.index_select(torch.add(W_xh, b_h, out=room.inputs), 0, ids, out=H)
    else:
        torch.addmm(b_h, torch.index_select(E, 0, ids, out=room.inputs), W_xh, out=H)
    W = W_hh.numpy()
    for (before, before_np), (state, state_np) in pairwise(room.state_steps):
        if small is None:
            state.addmm_(before, W_hh)
        else:
            state_np += before_np.dot(W, small)
        np.tanh(state_np, state_np)

    # Output layer, softmax and loss of all steps.
    logits = torch.mm(W_hq.T, H.T, out=room.logits)  # (vocab_size, num_steps * batch_size)
    probs = logits.numpy()  # the same memory
    probs += b_q.numpy()[:, None]
    probs -= probs.max(axis=0)
    picked = torch.gather(logits, 0, targets, out=room.picked).numpy()
    np.exp(probs, probs)
    total = probs.sum(axis=0)
    loss_nats = float(np.log(total).sum() - picked.sum()) / len(ids)

    # And back: (probs - onehot) / num_tokens, through the output layer, then through time.
    total *= len(ids)
    probs /= total
    dlogits = logits.scatter_add_(0, targets, room.minus_share)
    dW_hq.copy_(torch.mm(dlogits, H, out=room.dW_hq_T).T)
    torch.mv(dlogits, room.ones, out=db_q)
    torch.mm(dlogits.T, W_hq.T, out=deltas)
    np.multiply(room.H_np, room.H_np, room.slopes)
    np.subtract(1, room.slopes, room.slopes)
    W_T = W_hh.T if small is None else W.T.copy()  # small products are faster along rows
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
    torch.mv(deltas.T, room.ones, out=db_h)
    if E is None:
        dW_xh.zero_().index_add_(0, ids, deltas)
    else:
        torch.mm(room.inputs.T, deltas, out=dW_xh)
        dE.zero_().index_add_(0, ids, deltas @ W_xh.T)
    return loss_nats
