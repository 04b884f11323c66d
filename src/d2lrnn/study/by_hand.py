r"""Layers over time in plain numpy: every forward pass, and every backward pass written out by hand.

.. math::
    \mathbf H_t = \tanh(\mathbf X_t \mathbf W_{xh} + \mathbf H_{t-1} \mathbf W_{hh} + \mathbf b_h), \qquad
    \mathbf O_t = \mathbf H_t \mathbf W_{hq} + \mathbf b_q

A layer over time has four things: ``forward``, ``backward``, and two dictionaries with the same keys, ``params`` and
``grads``. Time is the first axis, as everywhere in this package; ``ManualRNNLM`` takes minibatches as the windows
give them, ``(batch_size, num_steps)``, and turns them round once. ``backward`` takes the loss's gradient with respect
to what ``forward`` returned, stores those of the weights in ``grads`` and returns that of what ``forward`` was given.
Layers keep the arrays that they are given and do not copy them, so one array may serve two layers; their gradients then
have to be added. Weights in float32 train, weights in float64 are for checks; inputs have the type of the weights.

Taught in the chapter *By hand, in numpy*. The layers and their names are those of K. Saito, *Deep Learning from
Scratch 2* (O'Reilly Japan, 2018), chapter 5; the gradients are derived in the chapter.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import torch

from d2lrnn.history import EpochRecord, History
from d2lrnn.metrics import Score
from d2lrnn.training import TrainingDivergedError

__all__ = [
    "ManualRNNLM",
    "StepGradients",
    "TimeAffine",
    "TimeEmbedding",
    "TimeRNN",
    "TimeSoftmaxWithLoss",
    "fit_manual",
    "rnn_step_backward",
    "rnn_step_forward",
]

Array = np.ndarray[Any, np.dtype[Any]]
Ids = Array | torch.Tensor


def _check_shape(name: str, array: Array, expected: tuple[int | str, ...]) -> None:
    """Compare a shape with the expected one, in which a word stands for a size that is free."""
    shape = np.shape(array)
    fits = len(shape) == len(expected) and all(isinstance(e, str) or s == e for s, e in zip(shape, expected))
    if not fits:
        wanted = ", ".join(map(str, expected)) + ("," if len(expected) == 1 else "")
        raise ValueError(f"The shape of {name} is {shape}; expected ({wanted}).")


def _check_weights(**weights: Array) -> None:
    for name, weight in weights.items():
        if not isinstance(weight, np.ndarray) or not np.issubdtype(weight.dtype, np.floating):
            raise TypeError(f"{name} must be a numpy array of floats, such as np.float32.")
    if len({weight.dtype for weight in weights.values()}) > 1:
        kinds = ", ".join(f"{name} {weight.dtype}" for name, weight in weights.items())
        raise TypeError(f"The weights are of different types ({kinds}); give all of them one dtype.")


def _check_ids(name: str, ids: Array, vocab_size: int) -> None:
    if not np.issubdtype(ids.dtype, np.integer):
        raise TypeError(f"{name} are of type {ids.dtype}; token indices are integers.")
    # numpy would take -1 for the last row and say nothing
    if ids.size and (ids.min() < 0 or ids.max() >= vocab_size):
        raise ValueError(f"{name} run from {ids.min()} to {ids.max()}; the vocabulary has 0 to {vocab_size - 1}.")


def rnn_step_forward(X: Array, H_before: Array, W_xh: Array, W_hh: Array, b_h: Array) -> Array:
    r"""One step.

    .. math:: \mathbf H = \tanh(\mathbf X \mathbf W_{xh} + \mathbf H_\text{before} \mathbf W_{hh} + \mathbf b_h)

    Parameters
    ----------
    X : array, shape (batch_size, num_inputs)
    H_before : array, shape (batch_size, num_hiddens)
    W_xh : array, shape (num_inputs, num_hiddens)
    W_hh : array, shape (num_hiddens, num_hiddens)
    b_h : array, shape (num_hiddens,)

    Returns
    -------
    array, shape (batch_size, num_hiddens)
        The backward pass needs it again, and `X` and `H_before` too.

    Raises
    ------
    ValueError
        If a shape does not fit.

    Notes
    -----
    Taught in the chapter *By hand, in numpy*; Elman, "Finding structure in time", Cognitive Science 14 (1990).

    Examples
    --------
    >>> rnn_step_forward(np.ones((2, 3)), np.zeros((2, 4)), np.zeros((3, 4)), np.eye(4), np.zeros(4)).shape
    (2, 4)
    """
    _check_shape("X", X, ("batch_size", len(W_xh)))
    _check_shape("W_hh", W_hh, (W_xh.shape[1], W_xh.shape[1]))
    _check_shape("b_h", b_h, (len(W_hh),))
    _check_shape("H_before", H_before, (len(X), len(W_hh)))
    return np.tanh(X @ W_xh + H_before @ W_hh + b_h)


class StepGradients(NamedTuple):
    """Gradients of one step, each of the shape of the thing itself: what :func:`rnn_step_backward` returns."""

    dX: Array
    dH_before: Array
    dW_xh: Array
    dW_hh: Array
    db_h: Array


def rnn_step_backward(dH: Array, X: Array, H_before: Array, H: Array, W_xh: Array, W_hh: Array) -> StepGradients:
    r"""One step back.

    .. math::
        \mathbf\Delta = \mathrm d\mathbf H \odot (1 - \mathbf H^2), \quad
        \mathrm d\mathbf X = \mathbf\Delta \mathbf W_{xh}^\top, \quad
        \mathrm d\mathbf H_\text{before} = \mathbf\Delta \mathbf W_{hh}^\top, \quad
        \mathrm d\mathbf W_{xh} = \mathbf X^\top \mathbf\Delta, \quad
        \mathrm d\mathbf W_{hh} = \mathbf H_\text{before}^\top \mathbf\Delta, \quad
        \mathrm d\mathbf b_h = \mathbf 1^\top \mathbf\Delta

    Parameters
    ----------
    dH : array, shape (batch_size, num_hiddens)
        Gradient of the loss with respect to `H`: the sum of what comes back from its output and from the step after.
    X, H_before, W_xh, W_hh
        What the forward step was given.
    H : array, shape (batch_size, num_hiddens)
        What it returned.

    Returns
    -------
    StepGradients

    Raises
    ------
    ValueError
        If `dH` or `H` does not have the shape of the state.

    Notes
    -----
    Taught in the chapter *By hand, in numpy*; Werbos, Proceedings of the IEEE 78 (1990).

    Examples
    --------
    >>> X, H_before, W_xh, W_hh = np.ones((1, 1)), np.zeros((1, 1)), np.zeros((1, 1)), np.full((1, 1), 0.5)
    >>> H = rnn_step_forward(X, H_before, W_xh, W_hh, np.zeros(1))
    >>> grads = rnn_step_backward(np.ones((1, 1)), X, H_before, H, W_xh, W_hh)
    >>> float(grads.dH_before[0, 0]), float(grads.db_h[0])
    (0.5, 1.0)
    """
    _check_shape("H", H, H_before.shape)
    _check_shape("dH", dH, H.shape)
    delta = dH * (1 - H**2)  # (batch_size, num_hiddens), the gradient before the tanh
    return StepGradients(delta @ W_xh.T, delta @ W_hh.T, X.T @ delta, H_before.T @ delta, delta.sum(axis=0))


def _rows(array: Array) -> Array:
    """Steps and sequences laid under each other: (num_steps * batch_size, size)."""
    return array.reshape(-1, array.shape[-1])


class _TimeLayer:
    """The interface: params and grads have the same keys; forward keeps what backward needs."""

    def __init__(self, **params: Array) -> None:
        _check_weights(**params)
        self.params = params
        self.grads = {name: np.zeros_like(param) for name, param in params.items()}
        self._kept: tuple[Array, ...] | None = None

    def _recall(self) -> tuple[Array, ...]:
        if self._kept is None:
            raise RuntimeError(f"{type(self).__name__}.backward needs a forward pass before it; call forward first.")
        return self._kept


class TimeEmbedding(_TimeLayer):
    r"""Rows of a table, :math:`\mathbf X_t = \mathbf E[\text{ids}_t]`; the backward pass adds into the same rows.

    Parameters
    ----------
    E : array, shape (vocab_size, num_inputs)

    Raises
    ------
    ValueError, TypeError
        If the table is no matrix of floats, or ids are no integers from 0 to ``vocab_size - 1``.

    Examples
    --------
    >>> layer = TimeEmbedding(np.eye(3))
    >>> X = layer.forward(np.array([[2, 0], [2, 1]]))
    >>> layer.backward(np.ones_like(X))
    >>> X.shape, layer.grads["E"][:, 0].tolist()  # token 2 was there twice
    ((2, 2, 3), [1.0, 1.0, 2.0])
    """

    def __init__(self, E: Array) -> None:
        super().__init__(E=E)
        _check_shape("E", E, ("vocab_size", "num_inputs"))

    def forward(self, ids: Ids) -> Array:
        """Look up `ids` (num_steps, batch_size); the result is (num_steps, batch_size, num_inputs)."""
        ids = np.asarray(ids)
        _check_shape("ids", ids, ("num_steps", "batch_size"))
        _check_ids("ids", ids, len(self.params["E"]))
        self._kept = (ids,)
        return self.params["E"][ids]

    def backward(self, dX: Array) -> None:
        """Add the rows of `dX` up by token. Indices have no gradient, so nothing is returned."""
        (ids,) = self._recall()
        _check_shape("dX", dX, (*ids.shape, self.params["E"].shape[1]))
        dE = np.zeros_like(self.params["E"])
        np.add.at(dE, ids, dX)  # dE[ids] += dX would keep one of several equal tokens
        self.grads = {"E": dE}


class TimeRNN(_TimeLayer):
    r"""The recurrent layer over all steps of a window.

    Parameters
    ----------
    W_xh : array, shape (num_inputs, num_hiddens)
    W_hh : array, shape (num_hiddens, num_hiddens)
    b_h : array, shape (num_hiddens,)
    stateful : bool, default False
        True: a window starts from the state that the last one ended with. Its gradient stops at the window's edge all
        the same, which is truncated backpropagation through time. False: every window starts from zeros.

    Attributes
    ----------
    H : array, shape (batch_size, num_hiddens), or None
        The state after the last window. :meth:`reset_state` makes it None, and a stateful layer starts from zeros.
    dH_before : array, shape (batch_size, num_hiddens), or None
        Gradient with respect to the state with which the last window began. Truncation throws it away; an encoder
        would want it.

    Raises
    ------
    ValueError, TypeError
        If shapes or types do not fit, or the batch size changes while a state is carried.

    Examples
    --------
    >>> layer = TimeRNN(np.ones((3, 4)), np.eye(4), np.zeros(4), stateful=True)
    >>> outputs = layer.forward(np.zeros((5, 2, 3)))
    >>> layer.backward(np.ones_like(outputs)).shape, layer.dH_before[0].tolist()
    ((5, 2, 3), [5.0, 5.0, 5.0, 5.0])
    """

    def __init__(self, W_xh: Array, W_hh: Array, b_h: Array, stateful: bool = False) -> None:
        super().__init__(W_xh=W_xh, W_hh=W_hh, b_h=b_h)
        _check_shape("W_xh", W_xh, ("num_inputs", "num_hiddens"))
        _check_shape("W_hh", W_hh, (W_xh.shape[1], W_xh.shape[1]))
        _check_shape("b_h", b_h, (W_xh.shape[1],))
        self.stateful = stateful
        self.H: Array | None = None
        self.dH_before: Array | None = None

    def reset_state(self) -> None:
        """Forget the state: the next window starts from zeros."""
        self.H = None

    def forward(self, inputs: Array) -> Array:
        """From inputs (num_steps, batch_size, num_inputs) to all states (num_steps, batch_size, num_hiddens)."""
        W_xh, W_hh, b_h = self.params.values()
        _check_shape("inputs", inputs, ("num_steps", "batch_size", len(W_xh)))
        num_steps, batch_size, _ = inputs.shape
        if num_steps < 1:
            raise ValueError("inputs have no step; a window has at least one.")
        if not self.stateful or self.H is None:
            self.H = np.zeros((batch_size, len(W_hh)), dtype=W_hh.dtype)
        elif self.H.shape != (batch_size, len(W_hh)):
            raise ValueError(
                f"The carried state has shape {self.H.shape}; expected {(batch_size, len(W_hh))}. Call reset_state() "
                "between texts."
            )
        states = np.empty((num_steps + 1, batch_size, len(W_hh)), dtype=W_hh.dtype)
        states[0] = self.H
        from_inputs = inputs @ W_xh + b_h  # of all steps at once: no input has to wait for a state
        for t in range(num_steps):
            states[t + 1] = np.tanh(from_inputs[t] + states[t] @ W_hh)
        self.H = states[-1].copy()
        self._kept = (inputs, states)
        return states[1:]

    def backward(self, doutputs: Array) -> Array:
        """Gradient with respect to the inputs, of their shape, from that of all the states returned.

        Each state was used twice, by the layers above and by the step after; the two gradients add.
        """
        W_xh, W_hh, _ = self.params.values()
        inputs, states = self._recall()
        _check_shape("doutputs", doutputs, states[1:].shape)
        slopes = 1 - states[1:] ** 2  # of the tanh, of all steps
        deltas = np.empty_like(slopes)  # gradients before the tanh
        dH = np.zeros_like(states[0])  # what comes back from the step after; the last step has none
        for t in reversed(range(len(inputs))):
            deltas[t] = (doutputs[t] + dH) * slopes[t]
            dH = deltas[t] @ W_hh.T
        self.dH_before = dH
        # One set of weights, used at every step and for every row: one product of all rows sums over both.
        self.grads = {
            "W_xh": _rows(inputs).T @ _rows(deltas),
            "W_hh": _rows(states[:-1]).T @ _rows(deltas),
            "b_h": _rows(deltas).sum(axis=0),
        }
        return deltas @ W_xh.T


class TimeAffine(_TimeLayer):
    r"""The output layer of all steps in one product, :math:`\mathbf O = \mathbf H \mathbf W_{hq} + \mathbf b_q`.

    Parameters
    ----------
    W_hq : array, shape (num_hiddens, num_outputs)
    b_q : array, shape (num_outputs,)

    Raises
    ------
    ValueError, TypeError
        If shapes or types do not fit.

    Examples
    --------
    >>> layer = TimeAffine(np.ones((4, 7)), np.zeros(7))
    >>> layer.forward(np.ones((5, 2, 4))).shape, layer.backward(np.ones((5, 2, 7))).shape, layer.grads["b_q"][0].item()
    ((5, 2, 7), (5, 2, 4), 10.0)
    """

    def __init__(self, W_hq: Array, b_q: Array) -> None:
        super().__init__(W_hq=W_hq, b_q=b_q)
        _check_shape("W_hq", W_hq, ("num_hiddens", "num_outputs"))
        _check_shape("b_q", b_q, (W_hq.shape[1],))

    def forward(self, H: Array) -> Array:
        """Logits (num_steps, batch_size, num_outputs) of states (num_steps, batch_size, num_hiddens)."""
        W_hq, b_q = self.params.values()
        _check_shape("H", H, ("num_steps", "batch_size", len(W_hq)))
        self._kept = (H,)
        return (_rows(H) @ W_hq + b_q).reshape(*H.shape[:2], -1)

    def backward(self, dO: Array) -> Array:
        """Gradient with respect to the states, of their shape."""
        (H,) = self._recall()
        W_hq = self.params["W_hq"]
        _check_shape("dO", dO, (*H.shape[:2], W_hq.shape[1]))
        self.grads = {"W_hq": _rows(H).T @ _rows(dO), "b_q": _rows(dO).sum(axis=0)}
        return (_rows(dO) @ W_hq.T).reshape(H.shape)


class TimeSoftmaxWithLoss(_TimeLayer):
    r"""Mean cross-entropy over batch and time, in nats per token; no weights.

    .. math::
        \mathbf P = \mathrm{softmax}(\mathbf O), \qquad L = \frac1N \sum -\ln p, \qquad
        \frac{\partial L}{\partial \mathbf O} = \frac1N (\mathbf P - \text{onehot}),

    with :math:`p` the probability of the right token and :math:`N` = ``num_steps * batch_size``.

    Raises
    ------
    ValueError, TypeError
        If shapes do not belong together or targets are no indices of the vocabulary.

    Examples
    --------
    >>> layer = TimeSoftmaxWithLoss()
    >>> round(float(np.exp(layer.forward(np.zeros((5, 2, 27)), np.zeros((5, 2), dtype=int)))), 6)
    27.0
    >>> bool(abs(layer.backward().sum()) < 1e-12)
    True
    """

    def forward(self, logits: Array, Y: Ids) -> float:
        """Mean loss in nats of logits (num_steps, batch_size, vocab_size) and targets (num_steps, batch_size)."""
        Y = np.asarray(Y)
        _check_shape("logits", logits, ("num_steps", "batch_size", "vocab_size"))
        _check_shape("Y", Y, logits.shape[:2])
        if not Y.size:
            raise ValueError("There are no targets; a mean needs at least one.")
        _check_ids("Y", Y, logits.shape[2])
        shifted = logits - logits.max(axis=2, keepdims=True)  # exp can't overflow, and the softmax is the same
        log_probs = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
        self._kept = (log_probs, Y)
        nats = -np.take_along_axis(log_probs, Y[:, :, None], axis=2)
        return float(nats.mean(dtype=np.float64))

    def backward(self) -> Array:
        """Gradient of the mean loss with respect to the logits, of their shape."""
        log_probs, Y = self._recall()
        dO = np.exp(log_probs)
        steps, rows = np.indices(Y.shape)
        dO[steps, rows, Y] -= 1  # each place once, so plain indexing adds up rightly here
        return dO / Y.size


class ManualRNNLM:
    r"""Embedding, recurrence, output layer and loss, without autograd.

    Parameters
    ----------
    vocab_size, num_inputs, num_hiddens : int
        `num_inputs` is the width of the embedding.
    seed : int, default 0
        Weights are normal: the table with standard deviation 0.01, each matrix with :math:`1/\sqrt{\text{rows}}`;
        biases are 0. (As in the source's experiment.)
    dtype : float type, default float32
    stateful : bool, default True
        As in :class:`TimeRNN`.

    Attributes
    ----------
    params, grads : dict of str to array
        ``E``, ``W_xh``, ``W_hh``, ``b_h``, ``W_hq``, ``b_q``.
    rnn : TimeRNN

    Raises
    ------
    ValueError, TypeError
        If a size is below 1, `dtype` is no float type, or tokens do not fit (see the layers).

    Examples
    --------
    >>> model = ManualRNNLM(vocab_size=27, num_inputs=8, num_hiddens=16)
    >>> loss_nats = model.forward(np.zeros((2, 5), dtype=int), np.ones((2, 5), dtype=int))
    >>> model.backward()
    >>> sorted(model.grads), model.grads["W_hq"].shape
    (['E', 'W_hh', 'W_hq', 'W_xh', 'b_h', 'b_q'], (16, 27))
    """

    def __init__(
        self,
        vocab_size: int,
        num_inputs: int,
        num_hiddens: int,
        *,
        seed: int = 0,
        dtype: type[np.floating[Any]] = np.float32,
        stateful: bool = True,
    ) -> None:
        for name, size in (("vocab_size", vocab_size), ("num_inputs", num_inputs), ("num_hiddens", num_hiddens)):
            if size < 1:
                raise ValueError(f"{name} is {size}; it must be at least 1.")
        if not np.issubdtype(np.dtype(dtype), np.floating):
            raise TypeError(f"dtype is {np.dtype(dtype)}; weights are floats, np.float32 or np.float64.")
        rng = np.random.default_rng(seed)

        def normal(rows: int, columns: int, std: float) -> Array:
            return (std * rng.standard_normal((rows, columns))).astype(dtype)

        self.embedding = TimeEmbedding(normal(vocab_size, num_inputs, 0.01))
        self.rnn = TimeRNN(
            normal(num_inputs, num_hiddens, 1 / math.sqrt(num_inputs)),
            normal(num_hiddens, num_hiddens, 1 / math.sqrt(num_hiddens)),
            np.zeros(num_hiddens, dtype=dtype),
            stateful=stateful,
        )
        W_hq = normal(num_hiddens, vocab_size, 1 / math.sqrt(num_hiddens))
        self.affine = TimeAffine(W_hq, np.zeros(vocab_size, dtype=dtype))
        self.loss_layer = TimeSoftmaxWithLoss()
        self.layers = (self.embedding, self.rnn, self.affine)

    @property
    def params(self) -> dict[str, Array]:
        return {name: param for layer in self.layers for name, param in layer.params.items()}

    @property
    def grads(self) -> dict[str, Array]:
        return {name: grad for layer in self.layers for name, grad in layer.grads.items()}

    def forward(self, X: Ids, Y: Ids) -> float:
        """Mean loss in nats per token of a minibatch `X`, `Y`, both (batch_size, num_steps)."""
        values: Array = np.asarray(X).T  # (num_steps, batch_size)
        for layer in self.layers:
            values = layer.forward(values)
        return self.loss_layer.forward(values, np.asarray(Y).T)

    def backward(self) -> None:
        """All gradients of that loss, into :attr:`grads`."""
        dvalues: Any = self.loss_layer.backward()
        for layer in reversed(self.layers):
            dvalues = layer.backward(dvalues)


def fit_manual(
    model: ManualRNNLM,
    windows: Iterable[tuple[Ids, Ids]],
    *,
    epochs: int,
    lr: float,
    reset_each_epoch: bool = True,
) -> History:
    r"""Train with plain gradient descent, :math:`w \leftarrow w - \text{lr} \cdot \mathrm dw`, and nothing else.

    What trains are the layers in ``model.layers``, as they stand there: replace one, or change its class, and training
    changes with it.

    Parameters
    ----------
    model : ManualRNNLM
        Trained in place.
    windows : iterable of (X, Y), each of shape (batch_size, num_steps)
        One epoch, and walked through once for each: :class:`SequentialWindows` for a stateful model. (On the CPU.)
    epochs : int
    lr : float
    reset_each_epoch : bool, default True
        Start every epoch from zeros, as :func:`fit` does: right for :class:`SequentialWindows`, whose epochs all begin
        at the same places. False for windows that read on where the last epoch stopped.

    Returns
    -------
    History
        For each epoch the nats summed over all its predictions, each made with the weights of its moment.

    Raises
    ------
    ValueError
        If a setting is out of range or there are no windows.
    TrainingDivergedError
        If the loss or the gradient norm is not finite. No update is made with such a gradient.

    Notes
    -----
    Taught in the chapter *By hand, in numpy*, with the experiment of *Deep Learning from Scratch 2*, chapter 5.

    Examples
    --------
    >>> from d2lrnn import SequentialWindows
    >>> windows = SequentialWindows(torch.tensor([0, 1, 2] * 50), batch_size=2, num_steps=10)
    >>> history = fit_manual(ManualRNNLM(3, 8, 8), windows, epochs=30, lr=0.5)
    >>> history.epochs[-1].train.perplexity < 1.1
    True
    """
    if epochs < 1:
        raise ValueError(f"epochs is {epochs}; it must be at least 1.")
    if not 0 < lr < math.inf:
        raise ValueError(f"lr is {lr}; a learning rate is a finite number above 0.")
    history = History()
    model.rnn.reset_state()
    for epoch in range(1, epochs + 1):
        if reset_each_epoch:
            model.rnn.reset_state()
        start, train = time.perf_counter(), Score(0.0, 0)
        for X, Y in windows:
            with np.errstate(over="ignore", invalid="ignore"):  # what overflows is reported below, once
                loss_nats = model.forward(X, Y)
                model.backward()
                grads = model.grads
                norm = math.sqrt(sum(float(np.vdot(grad, grad)) for grad in grads.values()))
            if not (math.isfinite(loss_nats) and math.isfinite(norm)):
                message = f"Training diverged in epoch {epoch}: loss {loss_nats}, gradient norm {norm}. Lower lr={lr}."
                raise TrainingDivergedError(message, history)
            for name, param in model.params.items():
                param -= lr * grads[name]  # in place: the layer holds this very array
            history.step_losses.append(loss_nats)
            history.step_grad_norms.append(norm)
            num_tokens = math.prod(np.shape(Y))
            train += Score(loss_nats * num_tokens, num_tokens)
        if not train.num_tokens:
            raise ValueError(f"Epoch {epoch} had no windows; pass something that can be walked through each epoch.")
        history.epochs.append(EpochRecord(epoch, train, None, time.perf_counter() - start))
    return history
