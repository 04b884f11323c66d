"""Every way in which the two matrices of a product can lie in memory: the limit is that of the fastest."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

from benchmarks.products import Product

Call = Callable[[], None]
MakeCalls = Callable[[Product, bool, bool, bool], list[Call]]
TRIES = 7


def fastest_calls(
    products: list[Product],
    make_calls: MakeCalls,
    finish: Call = lambda: None,
    packed: Callable[[list[Call]], list[Call]] = lambda calls: calls,
) -> list[Call]:
    """Calls that carry out all the products once, each with the layout that was fastest when tried alone.

    Parameters
    ----------
    products : list of Product
    make_calls : callable
        ``make_calls(product, left, right, turned)`` gives the calls for all `times` of a product. `left` and `right`:
        that matrix lies transposed. `turned`: the transposed result is computed, from the transposed matrices.
    finish : callable
        Waits until the device is done.
    packed : callable
        Turns calls into what is to be timed in their place: a GPU's graph of them, free of the cost of launches.
    """
    chosen: list[Call] = []
    for product in products:
        candidates = [make_calls(product, *layout) for layout in itertools.product((False, True), repeat=3)]
        for calls in candidates:
            run(calls)  # libraries set themselves up at the first call of a kind
        timed = [packed(calls) for calls in candidates]
        # Least of several: what else runs on the machine can only make a try slower.
        seconds = [min(_seconds(calls, finish) for _ in range(TRIES)) for calls in timed]
        chosen += candidates[seconds.index(min(seconds))]
    return chosen


def run(calls: list[Call]) -> None:
    for call in calls:
        call()


def _seconds(calls: list[Call], finish: Call) -> float:
    finish()
    start = time.perf_counter()
    run(calls)
    finish()
    return time.perf_counter() - start
