"""The language model out of the numpy layers, and its trainer: the network of one well-known experiment.

Taught in the chapter *By hand, in numpy*; the network and its starting weights are those of K. Saito, *Deep Learning
from Scratch 2* (O'Reilly Japan, 2018), chapter 5.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from d2lrnn.closed_form import Buffers, Weights, loss_and_gradients, threads_for
from d2lrnn.manual import Array, Ids, TimeAffine, TimeEmbedding, TimeRNN, TimeSoftmaxWithLoss
from d2lrnn.metrics import Score
from d2lrnn.training import EpochRecord, History, TrainingDivergedError

__all__ = ["ManualRNNLM", "fit_manual"]


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


class _LayerByLayer:
    """Loss and gradients of a minibatch, and the step down along them."""

    def __init__(self, model: ManualRNNLM) -> None:
        self.model = model

    def __call__(self, X: Ids, Y: Ids) -> tuple[float, float]:
        """Loss in nats per token, and the gradient's norm."""
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is reported by the trainer, once
            loss_nats = self.model.forward(X, Y)
            self.model.backward()
            return loss_nats, math.sqrt(sum(float(np.vdot(grad, grad)) for grad in self.model.grads.values()))

    def descend(self, lr: float) -> None:
        grads = self.model.grads
        for name, param in self.model.params.items():
            param -= lr * grads[name]


class _InClosedForm(_LayerByLayer):
    """The same through :mod:`d2lrnn.closed_form`, on the memory of the layers' weights and with the layer's state."""

    def __init__(self, model: ManualRNNLM) -> None:
        super().__init__(model)
        params = model.params
        self.weights = Weights(*(torch.from_numpy(params[name]) for name in Weights._fields))
        # One memory for all gradients, whose norm is then one product; the layers file views of it.
        self.flat = torch.zeros(sum(weight.numel() for weight in self.weights), dtype=self.weights.E.dtype)
        parts = self.flat.split([weight.numel() for weight in self.weights])
        self.grads = Weights(*(part.view_as(weight) for part, weight in zip(parts, self.weights)))
        self.room: Buffers | None = None
        self._file_gradients()

    def _file_gradients(self) -> None:
        for layer in self.model.layers:
            layer.grads = {name: getattr(self.grads, name).numpy() for name in layer.params}

    def __call__(self, X: Ids, Y: Ids) -> tuple[float, float]:
        X_ids, Y_ids, H = _as_ids(X), _as_ids(Y), self.model.rnn.H if self.model.rnn.stateful else None
        if X_ids is None or Y_ids is None or X_ids.shape != Y_ids.shape or (H is not None and len(H) != len(X_ids)):
            return self._by_layers(X, Y)
        if self.room is None or self.room.shape != X_ids.shape:
            self.room = Buffers(self.weights, *X_ids.shape)
        self.room.first_state[:] = 0 if H is None else torch.from_numpy(H)
        try:
            loss_nats = loss_and_gradients(self.weights, self.grads, X_ids, Y_ids, self.room)
        except (IndexError, RuntimeError):
            return self._by_layers(X, Y)
        self.model.rnn.H = self.room.last_state.numpy().copy()
        return loss_nats, math.sqrt(torch.dot(self.flat, self.flat))

    def _by_layers(self, X: Ids, Y: Ids) -> tuple[float, float]:
        """What does not fit is for the layers, which say what is wrong with it."""
        result = super().__call__(X, Y)
        for name, grad in zip(Weights._fields, self.grads):
            grad.copy_(torch.from_numpy(self.model.grads[name]))
        self._file_gradients()
        return result

    def descend(self, lr: float) -> None:
        for weight, grad in zip(self.weights, self.grads):
            weight.add_(grad, alpha=-lr)


def _as_ids(ids: Ids) -> torch.Tensor | None:
    """Indices (batch_size, num_steps) as a tensor, or None if that is not what they are."""
    if not isinstance(ids, torch.Tensor):
        ids = np.asarray(ids)
        if ids.dtype.kind not in "iu":
            return None
        ids = torch.tensor(np.ascontiguousarray(ids, dtype=np.int64))
    usable = ids.dim() == 2 and ids.numel() and not ids.is_floating_point() and ids.device.type == "cpu"
    return ids if usable else None


def _has_closed_form(model: ManualRNNLM) -> bool:
    """Whether everything is as the constructor made it; whatever a reader put in its place has its own say."""
    usual = {model.embedding: TimeEmbedding, model.rnn: TimeRNN, model.affine: TimeAffine}
    loss_layer = model.loss_layer
    return (
        type(model) is ManualRNNLM
        and tuple(model.layers) == tuple(usual)
        and all(type(layer) is kind for layer, kind in {**usual, loss_layer: TimeSoftmaxWithLoss}.items())
        and not any({"forward", "backward"} & set(vars(thing)) for thing in (model, *usual, loss_layer))
        and {param.dtype for param in model.params.values()} in ({np.dtype(np.float32)}, {np.dtype(np.float64)})
        and all(param.flags.c_contiguous and param.flags.writeable for param in model.params.values())
    )


def fit_manual(
    model: ManualRNNLM,
    windows: Iterable[tuple[Ids, Ids]],
    *,
    epochs: int,
    lr: float,
    reset_each_epoch: bool = True,
) -> History:
    r"""Train with plain gradient descent, :math:`w \leftarrow w - \text{lr} \cdot \mathrm dw`, and nothing else.

    Parameters
    ----------
    model : ManualRNNLM
        Trained in place. Out of the usual layers its gradients are computed by :mod:`d2lrnn.closed_form`, which is the
        same mathematics in another order and faster; with layers of your own in ``model.layers``, by those.
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
    >>> history.train_perplexities[-1] < 1.1
    True
    """
    if epochs < 1:
        raise ValueError(f"epochs is {epochs}; it must be at least 1.")
    if not 0 < lr < math.inf:
        raise ValueError(f"lr is {lr}; a learning rate is a finite number above 0.")
    history = History()
    model.rnn.reset_state()
    gradients = (_InClosedForm if _has_closed_form(model) else _LayerByLayer)(model)
    with threads_for(len(model.rnn.params["W_hh"])):
        _train(model, windows, gradients, history, epochs, lr, reset_each_epoch)
    return history


def _train(
    model: ManualRNNLM,
    windows: Iterable[tuple[Ids, Ids]],
    gradients: _LayerByLayer,
    history: History,
    epochs: int,
    lr: float,
    reset_each_epoch: bool,
) -> None:
    for epoch in range(1, epochs + 1):
        if reset_each_epoch:
            model.rnn.reset_state()
        start, train = time.perf_counter(), Score(0.0, 0)
        for X, Y in windows:
            loss_nats, norm = gradients(X, Y)
            if not (math.isfinite(loss_nats) and math.isfinite(norm)):
                message = f"Training diverged in epoch {epoch}: loss {loss_nats}, gradient norm {norm}. Lower lr={lr}."
                raise TrainingDivergedError(message, history)
            gradients.descend(lr)
            history.step_losses.append(loss_nats)
            history.step_grad_norms.append(norm)
            num_tokens = math.prod(np.shape(Y))
            train += Score(loss_nats * num_tokens, num_tokens)
        if not train.num_tokens:
            raise ValueError(f"Epoch {epoch} had no windows; pass something that can be walked through each epoch.")
        history.epochs.append(EpochRecord(epoch, train, None, time.perf_counter() - start))
