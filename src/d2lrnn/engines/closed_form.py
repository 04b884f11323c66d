r"""Loss and all gradients of the tanh language model in closed form: the fast path, one function long.

The mathematics is that of :class:`d2lrnn.RNNScratch` and of the chapter *Backpropagation through time*; nothing is
approximated. What is different from the textbook version is the order of the work:

- A one-hot vector times a matrix is a row of the matrix, so input and bias of *all* steps are one lookup in
  ``W_xh + b_h``; its gradient adds rows up by token.
- Only ``H_before @ W_hh`` has to wait for the step before. Everything else, the output layer, the softmax and the
  gradient of each weight, is one operation for all steps together: one large matrix product costs less than
  `num_steps` small ones.
- Every result is written into memory that is there from the start (:class:`Workspace`).
- The products are torch's and the rest numpy's, on the same memory: numpy's tanh is several times faster, and its calls
  cost half as much, which is what small networks wait for.

Time is the first axis and lies flat: row ``t * batch_size + i`` is step t of sequence i.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch

from d2lrnn.layers import State
from d2lrnn.model import RNNLM, check_ids

__all__ = ["ClosedForm", "Weights", "Workspace", "hidden_states", "loss_and_gradients", "threads_for"]

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


class Workspace:
    """Workspace of one training step with minibatches of one shape.

    Parameters
    ----------
    weights : Weights
        Only their sizes and their type matter.
    batch_size, num_steps : int
    backward : bool, default True
        False: for :func:`hidden_states` alone.

    Attributes
    ----------
    states : Tensor, shape (num_steps + 1, batch_size, num_hiddens)
    first_state, last_state : Tensor, shape (batch_size, num_hiddens)
        Views of it: put the state to start from into the first; the last is the one to go on with.
    """

    def __init__(self, weights: Weights, batch_size: int, num_steps: int, *, backward: bool = True) -> None:
        num_inputs, num_hiddens = weights.W_xh.shape
        vocab_size = len(weights.b_q)
        num_tokens = batch_size * num_steps

        def zeros(*shape: int) -> torch.Tensor:
            return torch.zeros(shape, dtype=weights.W_hh.dtype)

        self.shape = (batch_size, num_steps)
        self.ids = torch.zeros(num_steps, batch_size, dtype=torch.int64)
        self.inputs = zeros(vocab_size, num_hiddens) if weights.E is None else zeros(num_tokens, num_inputs)
        self.states = zeros(num_steps + 1, batch_size, num_hiddens)
        self.first_state, self.last_state = self.states[0], self.states[-1]
        rows = self.states.flatten(0, 1)
        self.H_before, self.H = rows[:num_tokens], rows[batch_size:]  # (num_tokens, num_hiddens)
        # numpy's product for small matrices, where the call is what costs; it can't be told how many threads to use,
        # but below this size it uses one.
        small = batch_size * num_hiddens**2 < 2**18
        self.product = zeros(batch_size, num_hiddens).numpy() if small else None
        # Views: making them anew at every step would cost more than a small product.
        self.state_steps = [(H, H.numpy()) for H in self.states.unbind(0)]
        if not backward:
            return
        self.targets = torch.zeros_like(self.ids)
        self.dinputs = torch.empty_like(self.inputs)
        self.slopes = zeros(num_steps, batch_size, num_hiddens).numpy()  # of the tanh
        self.deltas = zeros(num_steps, batch_size, num_hiddens)  # gradient before the tanh
        # The longer axis lies contiguous: it is the one along which a processor works fast.
        by_class = num_tokens > vocab_size
        self.logits = zeros(vocab_size, num_tokens).T if by_class else zeros(num_tokens, vocab_size)
        self.probs = self.logits.numpy()
        self.dW_hq_T = zeros(vocab_size, num_hiddens) if by_class else None
        self.picked = zeros(num_tokens, 1)
        self.minus_share = torch.full((num_tokens, 1), -1 / num_tokens, dtype=weights.W_hh.dtype)
        self.ones = torch.ones(num_tokens, dtype=weights.W_hh.dtype)
        self.delta_steps = [(delta, delta.numpy()) for delta in self.deltas.unbind(0)]
        self.slope_steps = list(self.slopes)
        self.H_np = self.states[1:].numpy()

    def start_from(self, state: State | None) -> None:
        """Put a state (batch_size, num_hiddens) into its memory; zeros for None."""
        if state is None:
            self.first_state.zero_()
        elif not isinstance(state, torch.Tensor) or state.shape != self.first_state.shape:
            raise ValueError(
                f"the state has shape {tuple(getattr(state, 'shape', ()))}; expected {tuple(self.first_state.shape)}: "
                "one row for each sequence of the batch. Start with None when the batch changes."
            )
        else:
            self.first_state.copy_(state)


class threads_for:
    """Run torch in one thread where network and batch are small, while a ``with`` lasts.

    A second thread costs a small network more than it brings, and nearly everything when something else runs beside.
    The number of threads belongs to the whole process: the last of several overlapping uses puts it back.

    Examples
    --------
    >>> with threads_for(num_hiddens=64):
    ...     torch.get_num_threads()
    1
    """

    _lock, _users, _before = threading.Lock(), 0, 1

    def __init__(self, num_hiddens: int, batch_size: int = 1) -> None:
        self._small = num_hiddens < MIN_HIDDENS_FOR_THREADS and batch_size * num_hiddens < MIN_STATES_FOR_THREADS

    def __enter__(self) -> None:
        cls = type(self)
        with cls._lock:
            if self._small:
                if not cls._users:
                    cls._before = torch.get_num_threads()
                cls._users += 1
                torch.set_num_threads(1)

    def __exit__(self, *_: object) -> None:
        cls = type(self)
        with cls._lock:
            if self._small:
                cls._users -= 1
                if not cls._users:
                    torch.set_num_threads(cls._before)


def hidden_states(weights: Weights, X: torch.Tensor, workspace: Workspace) -> torch.Tensor:
    r"""All states of a minibatch.

    .. math:: \mathbf H_t = \tanh(\mathbf X_t \mathbf W_{xh} + \mathbf H_{t-1} \mathbf W_{hh} + \mathbf b_h)

    Parameters
    ----------
    weights : Weights
    X : integer Tensor, shape (batch_size, num_steps)
    workspace : Workspace
        With the state to start from in ``workspace.first_state``.

    Returns
    -------
    Tensor, shape (num_steps * batch_size, num_hiddens)
        A view of ``workspace.states``.

    Raises
    ------
    IndexError
        If a token is outside the vocabulary.

    Examples
    --------
    >>> weights = Weights(None, torch.eye(2), torch.zeros(2, 2), torch.zeros(2), torch.zeros(2, 2), torch.zeros(2))
    >>> hidden_states(weights, torch.tensor([[0, 1, 1]]), Workspace(weights, 1, 3)).argmax(dim=1).tolist()
    [0, 1, 1]
    """
    E, W_xh, W_hh, b_h, *_ = weights
    ids = workspace.ids.copy_(X.T).view(-1)
    # Input and bias of every step, laid where its state will be.
    if E is None:
        torch.index_select(torch.add(W_xh, b_h, out=workspace.inputs), 0, ids, out=workspace.H)
    else:
        torch.addmm(b_h, torch.index_select(E, 0, ids, out=workspace.inputs), W_xh, out=workspace.H)
    W, small = W_hh.numpy(), workspace.product
    for (before, before_np), (state, state_np) in pairwise(workspace.state_steps):
        if small is None:
            state.addmm_(before, W_hh)
        else:
            state_np += before_np.dot(W, small)
        np.tanh(state_np, state_np)
    return workspace.H


def loss_and_gradients(
    weights: Weights, grads: Weights, X: torch.Tensor, Y: torch.Tensor, workspace: Workspace
) -> float:
    r"""Mean cross-entropy of a minibatch in nats per token, and its gradients with respect to all weights.

    .. math::
        \mathbf H_t = \tanh(\mathbf X_t \mathbf W_{xh} + \mathbf H_{t-1} \mathbf W_{hh} + \mathbf b_h), \qquad
        \mathbf O_t = \mathbf H_t \mathbf W_{hq} + \mathbf b_q, \qquad
        \mathrm d\mathbf O_t = \tfrac1N (\mathrm{softmax}(\mathbf O_t) - \text{onehot}(y_t))

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
    workspace : Workspace
        Made for minibatches of this shape, with the state to start from in ``workspace.first_state``. No gradient goes
        into that state, which is truncated backpropagation through time. The last one is in ``workspace.last_state``.

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
    >>> workspace = Workspace(weights, batch_size=1, num_steps=2)
    >>> loss_nats = loss_and_gradients(weights, grads, torch.tensor([[0, 1]]), torch.tensor([[1, 2]]), workspace)
    >>> round(np.exp(loss_nats).item(), 4), [round(g, 4) for g in grads.b_q.tolist()]  # uniform, and the truth
    (3.0, [0.3333, -0.1667, -0.1667])
    """
    E, W_xh, W_hh, _, W_hq, b_q = weights
    dE, dW_xh, dW_hh, db_h, dW_hq, db_q = grads
    H_before, H, deltas = workspace.H_before, workspace.H, workspace.deltas.flatten(0, 1)  # (num_tokens, num_hiddens)
    hidden_states(weights, X, workspace)
    ids, targets = workspace.ids.view(-1), workspace.targets.copy_(Y.T).view(-1, 1)

    # Output layer, softmax and loss of all steps.
    logits = torch.mm(H, W_hq, out=workspace.logits)  # (num_steps * batch_size, vocab_size)
    probs = workspace.probs  # the same memory
    probs += b_q.numpy()
    probs -= probs.max(axis=1, keepdims=True)
    picked = torch.gather(logits, 1, targets, out=workspace.picked)
    np.exp(probs, probs)
    total = probs.sum(axis=1, keepdims=True)
    loss_nats = float(np.log(total).sum() - picked.numpy().sum()) / len(ids)

    # And back: (probs - onehot) / num_tokens, through the output layer, then through time.
    total *= len(ids)
    probs /= total
    dlogits = logits.scatter_add_(1, targets, workspace.minus_share)
    if workspace.dW_hq_T is None:
        torch.mm(H.T, dlogits, out=dW_hq)
    else:
        dW_hq.copy_(torch.mm(dlogits.T, H, out=workspace.dW_hq_T).T)
    torch.mv(dlogits.T, workspace.ones, out=db_q)
    torch.mm(dlogits, W_hq.T, out=deltas)
    np.multiply(workspace.H_np, workspace.H_np, workspace.slopes)
    np.subtract(1, workspace.slopes, workspace.slopes)
    small = workspace.product
    W_T = W_hh.T if small is None else W_hh.numpy().T.copy()  # small products are faster along rows
    later: torch.Tensor | None = None
    later_np: Any = None
    for (delta, delta_np), slope in zip(reversed(workspace.delta_steps), reversed(workspace.slope_steps)):
        if later is not None:
            if small is None:
                delta.addmm_(later, W_T)
            else:
                delta_np += later_np.dot(W_T, small)
        delta_np *= slope
        later, later_np = delta, delta_np

    # Each weight was used at every step; one product adds all steps up.
    torch.mm(H_before.T, deltas, out=dW_hh)
    if E is None or dE is None:
        torch.sum(dW_xh.zero_().index_add_(0, ids, deltas), 0, out=db_h)  # every step is in one of the rows
    else:
        torch.mv(deltas.T, workspace.ones, out=db_h)
        torch.mm(workspace.inputs.T, deltas, out=dW_xh)
        dE.zero_().index_add_(0, ids, torch.mm(deltas, W_xh.T, out=workspace.dinputs))
    return loss_nats


def weights_of(model: RNNLM) -> Weights:
    """The parameters of a tanh model by name."""
    rnn: Any = model.rnn  # an RNNScratch
    table = model.embedding
    return Weights(None if table is None else table.weight, rnn.W_xh, rnn.W_hh, rnn.b_h, model.W_hq, model.b_q)


class ClosedForm:
    """The engine: :func:`loss_and_gradients` on a model's own memory. A context manager, see :class:`threads_for`.

    Parameters
    ----------
    model : RNNLM
        With a ``grad`` for each parameter, and nothing changed (:func:`d2lrnn.engines.eligible.why_not` gives None).
    """

    def __init__(self, model: RNNLM) -> None:
        weights = weights_of(model)
        self._weights = Weights._make(None if weight is None else weight.detach() for weight in weights)
        self._grads = Weights._make(None if weight is None else weight.grad for weight in weights)
        self._workspace: Workspace | None = None
        self._stack = ExitStack()

    def __enter__(self) -> ClosedForm:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def __call__(self, X: torch.Tensor, Y: torch.Tensor, state: State | None) -> tuple[float, State]:
        """Mean loss in nats, and the state after the last step; the gradients stand in the parameters' ``grad``."""
        if X.shape != Y.shape or X.dim() != 2 or X.is_floating_point() or Y.is_floating_point():
            raise ValueError(
                f"X is {X.dtype} of shape {tuple(X.shape)} and Y {Y.dtype} of shape {tuple(Y.shape)}; "
                "expected integers, both of shape (batch_size, num_steps)."
            )
        if self._workspace is None or self._workspace.shape != X.shape:
            self._workspace = Workspace(self._weights, *X.shape)
            self._stack.close()
            self._stack.enter_context(threads_for(len(self._weights.W_hh), len(X)))
        self._workspace.start_from(state)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what overflows shows in the loss
            try:
                loss_nats = loss_and_gradients(self._weights, self._grads, X, Y, self._workspace)
            except (IndexError, RuntimeError):
                for ids in (X, Y):
                    check_ids(ids, len(self._weights.b_q))  # only now: it costs a pass over all of them
                raise
        return loss_nats, self._workspace.last_state.clone()

    def forward(self, X: torch.Tensor, state: State | None) -> tuple[torch.Tensor, State]:
        """Logits (batch_size, num_steps, vocab_size) and last state, as the model's own forward pass gives them."""
        workspace = Workspace(self._weights, *X.shape, backward=False)
        workspace.start_from(state)
        with threads_for(len(self._weights.W_hh), len(X)), np.errstate(over="ignore", invalid="ignore"):
            H = hidden_states(self._weights, X, workspace)
            logits = torch.addmm(self._weights.b_q, H, self._weights.W_hq)
        return logits.unflatten(0, (X.shape[1], len(X))).transpose(0, 1), workspace.last_state.clone()
