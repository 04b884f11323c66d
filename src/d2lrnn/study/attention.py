r"""One attention layer with the interface of a recurrent layer: what it hands on is a cache and not a state.

.. math::
    \mathbf o_t = \sum_{s \le t} \alpha_{ts} \mathbf v_s, \qquad
    \alpha_{ts} = \operatorname{softmax}_s \Bigl( \frac{\mathbf q_t \cdot \mathbf k_s}{\sqrt d} + b_{t-s} \Bigr)

Taught in the chapter *After the chain: scans and attention*.
"""

from __future__ import annotations

import math

import torch
from torch import nn

__all__ = ["CausalAttention"]

Cache = tuple[torch.Tensor, torch.Tensor]


class CausalAttention(nn.Module):
    """Attention over the last `reach` tokens, with a learned number for each distance.

    The layer has the interface of :class:`d2lrnn.RNNScratch`, so that a language model takes it as it is. Its "state"
    is the cache of keys and values, which grows with the text up to `reach` tokens.

    Parameters
    ----------
    num_inputs, num_hiddens : int
    num_heads : int, default 4
        Must divide `num_hiddens`.
    reach : int, default 64
        How many tokens a query can see, its own included.

    Attributes
    ----------
    W_q, W_k, W_v : Parameter, shape (num_inputs, num_hiddens)
    b : Parameter, shape (num_heads, reach)
        Added to the score of a key by its distance: without it the layer could not tell one order from another.

    Raises
    ------
    ValueError
        If a size is below 1, or the heads do not divide the units.

    Notes
    -----
    Vaswani et al., "Attention is all you need", NeurIPS 2017; a bias for each distance: Raffel et al., "Exploring the
    limits of transfer learning", JMLR 21 (2020).

    Examples
    --------
    >>> layer = CausalAttention(3, 8)
    >>> inputs = torch.randn(5, 2, 3)
    >>> outputs, (K, V) = layer(inputs)
    >>> outputs.shape, K.shape
    (torch.Size([5, 2, 8]), torch.Size([2, 5, 8]))
    >>> first, cache = layer(inputs[:3])
    >>> torch.testing.assert_close(torch.cat([first, layer(inputs[3:], cache)[0]]), outputs)
    >>> layer.weights(inputs).shape
    torch.Size([2, 4, 5, 5])
    """

    def __init__(self, num_inputs: int, num_hiddens: int, num_heads: int = 4, reach: int = 64) -> None:
        super().__init__()
        if min(num_inputs, num_hiddens, num_heads, reach) < 1 or num_hiddens % num_heads:
            raise ValueError(
                f"num_inputs={num_inputs}, num_hiddens={num_hiddens}, num_heads={num_heads}, reach={reach}: all must "
                "be at least 1, and num_heads must divide num_hiddens."
            )
        self.num_inputs, self.num_hiddens, self.num_heads, self.reach = num_inputs, num_hiddens, num_heads, reach
        bound = 1 / math.sqrt(num_inputs)
        self.W_q, self.W_k, self.W_v = (
            nn.Parameter(torch.empty(num_inputs, num_hiddens).uniform_(-bound, bound)) for _ in range(3)
        )
        self.b = nn.Parameter(torch.zeros(num_heads, reach))

    def forward(self, inputs: torch.Tensor, cache: Cache | None = None) -> tuple[torch.Tensor, Cache]:
        """Run over a sequence.

        Parameters
        ----------
        inputs : Tensor, shape (num_steps, batch_size, num_inputs)
        cache : (K, V), each of shape (batch_size, num_past, num_hiddens), optional
            Keys and values of the tokens before.

        Returns
        -------
        outputs : Tensor, shape (num_steps, batch_size, num_hiddens)
        cache : (K, V)
            Of the last `reach` tokens at most.
        """
        X = inputs.transpose(0, 1)  # (batch_size, num_steps, num_inputs)
        Q, K, V = X @ self.W_q, X @ self.W_k, X @ self.W_v
        if cache is not None:
            K, V = torch.cat([cache[0], K], dim=1), torch.cat([cache[1], V], dim=1)
        v = V.unflatten(2, (self.num_heads, -1)).transpose(1, 2)
        outputs = (self._weights(Q, K) @ v).transpose(1, 2).flatten(2)
        return outputs.transpose(0, 1), (K[:, -self.reach :], V[:, -self.reach :])

    def weights(self, inputs: torch.Tensor) -> torch.Tensor:
        r"""What each token looks back at, :math:`\alpha_{ts}`; inputs of shape (num_steps, batch_size, num_inputs).

        Returns
        -------
        Tensor, shape (batch_size, num_heads, num_steps, num_steps)
            Each row sums to 1; the weight of a later token is 0.
        """
        X = inputs.transpose(0, 1)
        return self._weights(X @ self.W_q, X @ self.W_k)

    def _weights(self, Q: torch.Tensor, K: torch.Tensor) -> torch.Tensor:
        num_steps, num_keys = Q.shape[1], K.shape[1]
        place = torch.arange(num_keys, device=K.device)
        distance = place[num_keys - num_steps :, None] - place  # (num_steps, num_keys)
        seen = (distance >= 0) & (distance < self.reach)
        bias = self.b[:, distance.clamp(0, self.reach - 1)].masked_fill(~seen, -torch.inf)
        q, k = (part.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for part in (Q, K))
        scores = q @ k.transpose(2, 3) / math.sqrt(k.shape[3]) + bias  # (batch_size, num_heads, num_steps, num_keys)
        return scores.softmax(dim=3)

    def extra_repr(self) -> str:
        return f"{self.num_inputs}, {self.num_hiddens}, num_heads={self.num_heads}, reach={self.reach}"
