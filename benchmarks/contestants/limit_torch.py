"""The matrix products of a training step alone, by torch; on a GPU one graph of them, so that launches cost nothing."""

from __future__ import annotations

from functools import partial

import torch

from benchmarks.contestants import Stream, Task
from benchmarks.contestants._layouts import Call, fastest_calls, run
from benchmarks.products import Product, matrix_products

TITLE = "matrix products alone, torch"
ROLE = "limit"
SETTINGS = "ABCD"


def why_not(task: Task) -> str | None:
    return None


def make_calls(device: str, product: Product, left: bool, right: bool, turned: bool) -> list[Call]:
    generator = torch.Generator(device).manual_seed(0)

    def matrix(rows: int, columns: int, transposed: bool) -> torch.Tensor:
        shape = (columns, rows) if transposed else (rows, columns)
        values = torch.randn(shape, generator=generator, device=device)
        return values.T if transposed else values

    B = matrix(product.k, product.n, right)
    calls: list[Call] = []
    for _ in range(product.times):  # its own memory for every step, as the states have
        A = matrix(product.m, product.k, left)
        if turned:
            calls.append(partial(torch.mm, B.T, A.T, out=torch.empty(product.n, product.m, device=device)))
        else:
            calls.append(partial(torch.mm, A, B, out=torch.empty(product.m, product.n, device=device)))
    return calls


@torch.no_grad()
def train(task: Task, stream: Stream, losses: list[float] | None) -> None:
    finish = torch.cuda.synchronize if task.device == "cuda" else lambda: None
    calls = fastest_calls(matrix_products(task.setting), partial(make_calls, task.device), finish)
    if task.device == "cuda":
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            run(calls)
        calls = [graph.replay]
    for _ in stream:
        run(calls)
