r"""Gated layers, GRU and LSTM, with the interface of :class:`d2lrnn.RNNScratch` and dropout for small texts.

The equations are in the chapter *At scale*. Both layers run on torch's own kernels; what is added here is how they
start (orthogonal recurrent weights, an open forget gate) and how they are kept from learning a text by heart: with
`weight_drop` every training step sees a recurrent matrix in which some weights, drawn anew, are zero,

.. math:: \tilde{\mathbf W}_{hh} = \frac{\mathbf M \odot \mathbf W_{hh}}{1 - p}, \qquad
    M_{ij} \sim \text{Bernoulli}(1 - p),

the same ones at all steps of the window (DropConnect on the recurrence; Merity, Keskar and Socher, "Regularizing and
optimizing LSTM language models", arXiv:1708.02182).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from d2lrnn.recurrent import check_inputs, check_sizes

__all__ = ["GRUConcise", "LSTMConcise"]


class _Gated(nn.Module):
    """What GRU and LSTM share: sizes, the start of the weights, weight dropout."""

    _kernel: type[nn.RNNBase]

    def __init__(self, num_inputs: int, num_hiddens: int, *, weight_drop: float = 0.0) -> None:
        super().__init__()
        check_sizes(num_inputs, num_hiddens)
        if not 0 <= weight_drop < 1:
            raise ValueError(f"weight_drop is {weight_drop}; the share of weights left out is from 0 to below 1.")
        self.num_inputs, self.num_hiddens, self.weight_drop = num_inputs, num_hiddens, weight_drop
        self.rnn = self._kernel(num_inputs, num_hiddens)
        with torch.no_grad():
            for gate in self.rnn.weight_hh_l0.split(num_hiddens):
                nn.init.orthogonal_(gate)
            self.rnn.bias_ih_l0.zero_()
            self.rnn.bias_hh_l0.zero_()

    def _run(self, inputs: torch.Tensor, state: Any) -> tuple[torch.Tensor, Any]:
        if not (self.training and self.weight_drop):
            return self.rnn(inputs, state)
        weight = self.rnn.weight_hh_l0
        keep = torch.rand_like(weight) >= self.weight_drop
        dropped = {"weight_hh_l0": weight * keep / (1 - self.weight_drop)}
        return torch.func.functional_call(self.rnn, dropped, (inputs, state))

    def extra_repr(self) -> str:
        return f"{self.num_inputs}, {self.num_hiddens}, weight_drop={self.weight_drop}"


class GRUConcise(_Gated):
    """A gated recurrent unit on top of ``torch.nn.GRU``.

    Parameters
    ----------
    num_inputs, num_hiddens : int
    weight_drop : float in [0, 1), default 0
        Share of recurrent weights left out of each training step.

    Attributes
    ----------
    rnn : nn.GRU
        Recurrent weights start orthogonal, biases at 0.

    Raises
    ------
    ValueError
        If a size is below 1 or the share out of range.

    Notes
    -----
    Cho et al., "Learning phrase representations using RNN encoder-decoder", arXiv:1406.1078.

    Examples
    --------
    >>> outputs, H = GRUConcise(3, 4)(torch.zeros(5, 2, 3))
    >>> outputs.shape, H.shape
    (torch.Size([5, 2, 4]), torch.Size([2, 4]))
    """

    _kernel = nn.GRU

    def forward(self, inputs: torch.Tensor, H: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Run over a sequence: parameters, returns and errors as in :meth:`RNNScratch.forward`."""
        check_inputs(inputs, H, self.num_inputs, self.num_hiddens)
        outputs, H = self._run(inputs, None if H is None else H.unsqueeze(0))
        return outputs, H.squeeze(0)


class LSTMConcise(_Gated):
    """A long short-term memory layer on top of ``torch.nn.LSTM``.

    Parameters
    ----------
    num_inputs, num_hiddens : int
    weight_drop : float in [0, 1), default 0
        Share of recurrent weights left out of each training step.

    Attributes
    ----------
    rnn : nn.LSTM
        Recurrent weights start orthogonal; biases at 0 but for the forget gate's, at 1, so that the cell starts by
        remembering (Jozefowicz, Zaremba and Sutskever, "An empirical exploration of recurrent network architectures",
        ICML 2015).

    Raises
    ------
    ValueError
        If a size is below 1 or the share out of range.

    Notes
    -----
    Hochreiter and Schmidhuber, "Long short-term memory", Neural Computation 9 (1997).

    Examples
    --------
    >>> outputs, (H, C) = LSTMConcise(3, 4)(torch.zeros(5, 2, 3))
    >>> outputs.shape, H.shape, C.shape
    (torch.Size([5, 2, 4]), torch.Size([2, 4]), torch.Size([2, 4]))
    """

    _kernel = nn.LSTM

    def __init__(self, num_inputs: int, num_hiddens: int, *, weight_drop: float = 0.0) -> None:
        super().__init__(num_inputs, num_hiddens, weight_drop=weight_drop)
        with torch.no_grad():
            self.rnn.bias_ih_l0[num_hiddens : 2 * num_hiddens] = 1.0  # gates in torch's order: i, f, g, o

    def forward(
        self, inputs: torch.Tensor, state: tuple[torch.Tensor, torch.Tensor] | None = None
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        """Run over a sequence.

        Parameters
        ----------
        inputs : Tensor, shape (num_steps, batch_size, num_inputs)
        state : (H, C), each of shape (batch_size, num_hiddens), optional
            Hidden state and memory cell to start from; zeros if left out.

        Returns
        -------
        outputs : Tensor, shape (num_steps, batch_size, num_hiddens)
            The hidden state after every step.
        state : (H, C)
            The last ones, to carry on from.

        Raises
        ------
        ValueError
            If a shape does not fit.
        """
        for part in (None,) if state is None else state:
            check_inputs(inputs, part, self.num_inputs, self.num_hiddens)
        outputs, (H, C) = self._run(inputs, None if state is None else tuple(part.unsqueeze(0) for part in state))
        return outputs, (H.squeeze(0), C.squeeze(0))
