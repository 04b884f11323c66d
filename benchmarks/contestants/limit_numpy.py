"""The matrix products of a training step alone, by the BLAS that numpy was built with."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.contestants import Stream, Task
from benchmarks.contestants._layouts import Call, fastest_calls, run
from benchmarks.products import Product, matrix_products
from benchmarks.settings import Array

TITLE = "matrix products alone, numpy"
ROLE = "limit"
SETTINGS = "ABCD"


def why_not(task: Task) -> str | None:
    return "numpy runs on the CPU only" if task.device != "cpu" else None


def make_calls(product: Product, left: bool, right: bool, turned: bool) -> list[Call]:
    rng = np.random.default_rng(0)

    def matrix(rows: int, columns: int, transposed: bool) -> Array:
        shape = (columns, rows) if transposed else (rows, columns)
        values = rng.standard_normal(shape).astype(np.float32)
        return values.T if transposed else values

    B = matrix(product.k, product.n, right)
    calls: list[Call] = []
    for _ in range(product.times):  # its own memory for every step, as the states have
        A = matrix(product.m, product.k, left)
        if turned:
            calls.append(partial(np.matmul, B.T, A.T, out=np.empty((product.n, product.m), np.float32)))
        else:
            calls.append(partial(np.matmul, A, B, out=np.empty((product.m, product.n), np.float32)))
    return calls


def train(task: Task, stream: Stream, losses: list[float] | None) -> None:
    calls = fastest_calls(matrix_products(task.setting), make_calls)
    for _ in stream:
        run(calls)
