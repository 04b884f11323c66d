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


def captured(calls: list[Call]) -> list[Call]:
    """The same as one launch of a graph."""
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run(calls)
    return [partial(replay, graph, calls)]


def replay(graph: torch.cuda.CUDAGraph, calls: list[Call]) -> None:
    """Launch the graph; the calls come along only because their matrices must not be freed."""
    graph.replay()


@torch.no_grad()
def train(task: Task, stream: Stream, losses: list[float] | None) -> None:
    products, make = matrix_products(task.setting), partial(make_calls, task.device)
    if task.device == "cuda":
        calls = captured(fastest_calls(products, make, torch.cuda.synchronize, captured))
    else:
        calls = fastest_calls(products, make)
    for _ in stream:
        run(calls)
