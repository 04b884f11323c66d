"""The matrix products of one training step, counted: no program can be faster than these alone.

One step of the book's network over a window, from zeros, is these products and much cheaper arithmetic between them:

========================  =========================================  =======================================
when                      product                                    times
========================  =========================================  =======================================
forward, step by step     ``H[t - 1] @ W_hh``                        num_steps
backward, step by step    ``dA[t] @ W_hh.T``                         num_steps - 1: the state is cut off there
weight gradient           ``H[:-1].T @ dA``, all steps at once       1
output layer              ``H @ W_hq``, ``dO @ W_hq.T``, ``H.T @ dO``  1 each, all steps at once
input, one-hot            ``X @ W_xh``, ``X.T @ dA``                 1 each, all steps at once
input, embedding          those two, and ``dA @ W_xh.T``             1 each, all steps at once
========================  =========================================  =======================================

With one-hot inputs the two input products are rows looked up and rows added up, so the limit leaves them out.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.settings import Setting


@dataclass(frozen=True)
class Product:
    """`times` matrix products of an (m, k) by a (k, n) matrix; with ``times > 1`` the second one is always the same."""

    name: str
    times: int
    m: int
    k: int
    n: int

    @property
    def flops(self) -> int:
        """Floating-point operations, a multiplication and an addition counted as two."""
        return 2 * self.times * self.m * self.k * self.n


def matrix_products(setting: Setting, *, one_hot_products: bool = False) -> list[Product]:
    """All products of one training step.

    Parameters
    ----------
    setting : Setting
    one_hot_products : bool, default False
        Count the two products with one-hot inputs as well, which autograd with ``nn.RNN`` does carry out.
    """
    b, t, h, v, i = (
        setting.batch_size,
        setting.num_steps,
        setting.num_hiddens,
        setting.vocab_size,
        setting.num_inputs,
    )
    products = [
        Product("H[t-1] @ W_hh", t, b, h, h),
        Product("dA[t] @ W_hh.T", t - 1, b, h, h),
        Product("H.T @ dA", 1, h, t * b, h),
        Product("H @ W_hq", 1, t * b, h, v),
        Product("dO @ W_hq.T", 1, t * b, v, h),
        Product("H.T @ dO", 1, h, t * b, v),
    ]
    if setting.num_embedding is not None or one_hot_products:
        products += [Product("X @ W_xh", 1, t * b, i, h), Product("X.T @ dA", 1, i, t * b, h)]
    if setting.num_embedding is not None:
        products.append(Product("dA @ W_xh.T", 1, t * b, h, i))
    return [product for product in products if product.times]


def flops_per_token(setting: Setting) -> float:
    """Operations in matrix products for each token predicted and learned from."""
    return sum(product.flops for product in matrix_products(setting)) / setting.tokens_per_step
