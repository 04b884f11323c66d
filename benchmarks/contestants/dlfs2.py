"""The numpy network of *Deep Learning from Scratch 2*, chapter 5, written anew from its mathematics.

Its plan is kept, because its plan is what costs time: the batch is the first axis and time the second, every step has
a layer object of its own that remembers what its backward pass needs, and the gradients of the steps are added up one
after the other. (K. Saito, O'Reilly Japan, 2018. None of its code is copied.)
"""

from __future__ import annotations

import numpy as np

from benchmarks.contestants import Stream, Task
from benchmarks.settings import Array

TITLE = "Deep Learning from Scratch 2, numpy"
ROLE = "peer"
SETTINGS = "D"


def why_not(task: Task) -> str | None:
    return "numpy runs on the CPU only" if task.device != "cpu" else None


class Step:
    """One step, ``H = tanh(H_before @ W_hh + X @ W_xh + b_h)``."""

    def __init__(self, W_xh: Array, W_hh: Array, b_h: Array) -> None:
        self.weights = (W_xh, W_hh, b_h)
        self.grads = [np.zeros_like(weight) for weight in self.weights]

    def forward(self, X: Array, H_before: Array) -> Array:
        W_xh, W_hh, b_h = self.weights
        H = np.tanh(H_before @ W_hh + X @ W_xh + b_h)
        self.kept = (X, H_before, H)
        return H

    def backward(self, dH: Array) -> tuple[Array, Array]:
        W_xh, W_hh, _ = self.weights
        X, H_before, H = self.kept
        dA = dH * (1 - H**2)  # gradient before the tanh
        for grad, value in zip(self.grads, (X.T @ dA, H_before.T @ dA, dA.sum(axis=0))):
            grad[...] = value
        return dA @ W_xh.T, dA @ W_hh.T


class Rows:
    """One step's rows of the table."""

    def __init__(self, E: Array) -> None:
        self.E, self.grad = E, np.zeros_like(E)

    def forward(self, ids: Array) -> Array:
        self.ids = ids
        return self.E[ids]

    def backward(self, dX: Array) -> None:
        self.grad[...] = 0
        np.add.at(self.grad, self.ids, dX)  # a token may be there more than once


class Network:
    def __init__(self, weights: dict[str, Array]) -> None:
        self.weights = {name: weight.copy() for name, weight in weights.items()}
        self.grads = {name: np.zeros_like(weight) for name, weight in weights.items()}

    def forward(self, X: Array, Y: Array) -> float:
        """Mean loss in nats per token; X and Y are (batch_size, num_steps)."""
        w = self.weights
        batch_size, num_steps = X.shape
        self.rows, self.steps = [], []
        inputs = np.empty((batch_size, num_steps, w["E"].shape[1]), dtype=np.float32)
        for t in range(num_steps):
            rows = Rows(w["E"])
            inputs[:, t] = rows.forward(X[:, t])
            self.rows.append(rows)
        states = np.empty((batch_size, num_steps, len(w["W_hh"])), dtype=np.float32)
        H = np.zeros((batch_size, len(w["W_hh"])), dtype=np.float32)
        for t in range(num_steps):
            step = Step(w["W_xh"], w["W_hh"], w["b_h"])
            H = step.forward(inputs[:, t], H)
            states[:, t] = H
            self.steps.append(step)
        self.flat = states.reshape(batch_size * num_steps, -1)
        logits = self.flat @ w["W_hq"] + w["b_q"]  # (batch_size * num_steps, vocab_size)
        exp = np.exp(logits - logits.max(axis=1, keepdims=True))
        self.probs, self.targets = exp / exp.sum(axis=1, keepdims=True), Y.reshape(-1)
        return -float(np.log(self.probs[np.arange(Y.size), self.targets]).sum()) / Y.size

    def backward(self, batch_size: int, num_steps: int) -> None:
        """All gradients of that loss."""
        w, grads = self.weights, self.grads
        dO = self.probs
        dO[np.arange(len(dO)), self.targets] -= 1
        dO /= len(dO)
        grads["b_q"][...] = dO.sum(axis=0)
        grads["W_hq"][...] = self.flat.T @ dO
        dstates = (dO @ w["W_hq"].T).reshape(batch_size, num_steps, -1)
        dinputs = np.empty((batch_size, num_steps, len(w["W_xh"])), dtype=np.float32)
        sums = [np.zeros_like(w[name]) for name in ("W_xh", "W_hh", "b_h")]
        from_later: Array | float = 0.0
        for t in reversed(range(num_steps)):
            dinputs[:, t], from_later = self.steps[t].backward(dstates[:, t] + from_later)
            for total, grad in zip(sums, self.steps[t].grads):
                total += grad
        for name, total in zip(("W_xh", "W_hh", "b_h"), sums):
            grads[name][...] = total
        table = np.zeros_like(w["E"])
        for t, rows in enumerate(self.rows):
            rows.backward(dinputs[:, t])
            table += rows.grad
        grads["E"][...] = table


def train(task: Task, stream: Stream, losses: list[float] | None) -> None:
    net = Network(task.weights)
    for X, Y in stream:
        loss_nats = net.forward(np.asarray(X), np.asarray(Y))
        net.backward(*X.shape)
        for name, weight in net.weights.items():
            weight -= task.setting.lr * net.grads[name]
        if losses is not None:
            losses.append(loss_nats)
