r"""The recurrence: one step, a whole sequence from the equations, and its twin on top of ``nn.RNN``.

.. math::
    \mathbf H_t = \phi(\mathbf X_t \mathbf W_{xh} + \mathbf H_{t-1} \mathbf W_{hh} + \mathbf b_h)

Rows are examples and weights multiply from the right. `RNNScratch` and `RNNConcise` have the same interface, so a
language model takes either.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import nn

__all__ = ["RNNConcise", "RNNScratch", "rnn_step"]

Activation = Callable[[torch.Tensor], torch.Tensor]


def rnn_step(
    X: torch.Tensor,
    H: torch.Tensor,
    W_xh: torch.Tensor,
    W_hh: torch.Tensor,
    b_h: torch.Tensor,
    activation: Activation = torch.tanh,
) -> torch.Tensor:
    r"""One step of the recurrence, :math:`\phi(\mathbf X \mathbf W_{xh} + \mathbf H \mathbf W_{hh} + \mathbf b_h)`.

    Parameters
    ----------
    X : Tensor, shape (batch_size, num_inputs)
        Input of this step.
    H : Tensor, shape (batch_size, num_hiddens)
        Hidden state of the step before.
    W_xh : Tensor, shape (num_inputs, num_hiddens)
    W_hh : Tensor, shape (num_hiddens, num_hiddens)
    b_h : Tensor, shape (num_hiddens,)
    activation : callable, default tanh
        Applied element by element.

    Returns
    -------
    Tensor, shape (batch_size, num_hiddens)
        The new hidden state.

    Notes
    -----
    Taught in the chapter *Hidden state*; Elman, "Finding structure in time", Cognitive Science 14 (1990).

    Examples
    --------
    >>> rnn_step(torch.ones(2, 3), torch.zeros(2, 4), torch.zeros(3, 4), torch.eye(4), torch.zeros(4)).shape
    torch.Size([2, 4])
    """
    return activation(X @ W_xh + H @ W_hh + b_h)


def check_sizes(num_inputs: int, num_hiddens: int) -> None:
    """Raise ValueError for a layer of less than one input or unit."""
    for name, size in (("num_inputs", num_inputs), ("num_hiddens", num_hiddens)):
        if size < 1:
            raise ValueError(f"{name} is {size}; it must be at least 1.")


def check_inputs(inputs: torch.Tensor, H: torch.Tensor | None, num_inputs: int, num_hiddens: int) -> None:
    """Raise ValueError unless inputs (num_steps, batch_size, num_inputs) and state (batch_size, num_hiddens) fit."""
    if inputs.dim() != 3 or inputs.shape[2] != num_inputs or inputs.shape[0] < 1:
        raise ValueError(
            f"inputs have shape {tuple(inputs.shape)}; expected (num_steps, batch_size, {num_inputs}), "
            "with at least one step."
        )
    if H is not None and H.shape != (inputs.shape[1], num_hiddens):
        raise ValueError(
            f"the state has shape {tuple(H.shape)}; expected ({inputs.shape[1]}, {num_hiddens}): one row for each "
            "sequence of the batch. Start with None when the batch changes."
        )


class RNNScratch(nn.Module):
    r"""A tanh recurrent layer written out from its equation.

    Parameters
    ----------
    num_inputs, num_hiddens : int

    Attributes
    ----------
    W_xh : Parameter, shape (num_inputs, num_hiddens)
    W_hh : Parameter, shape (num_hiddens, num_hiddens)
    b_h : Parameter, shape (num_hiddens,)
        All drawn uniformly from :math:`\pm 1/\sqrt{\text{num\_hiddens}}`, as ``nn.RNN`` does.

    Raises
    ------
    ValueError
        If a size is below 1.

    Examples
    --------
    >>> rnn = RNNScratch(num_inputs=27, num_hiddens=8)
    >>> outputs, H = rnn(torch.zeros(5, 2, 27))
    >>> outputs.shape, H.shape, bool((outputs[-1] == H).all())
    (torch.Size([5, 2, 8]), torch.Size([2, 8]), True)
    """

    def __init__(self, num_inputs: int, num_hiddens: int) -> None:
        super().__init__()
        check_sizes(num_inputs, num_hiddens)
        self.num_inputs, self.num_hiddens = num_inputs, num_hiddens
        self.W_xh = nn.Parameter(torch.empty(num_inputs, num_hiddens))
        self.W_hh = nn.Parameter(torch.empty(num_hiddens, num_hiddens))
        self.b_h = nn.Parameter(torch.empty(num_hiddens))
        bound = 1 / math.sqrt(num_hiddens)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound)

    def forward(self, inputs: torch.Tensor, H: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Run over a sequence.

        Parameters
        ----------
        inputs : Tensor, shape (num_steps, batch_size, num_inputs)
        H : Tensor, shape (batch_size, num_hiddens), optional
            State to start from; zeros if left out.

        Returns
        -------
        outputs : Tensor, shape (num_steps, batch_size, num_hiddens)
            The state after every step.
        H : Tensor, shape (batch_size, num_hiddens)
            The last of them, to carry on from.

        Raises
        ------
        ValueError
            If a shape does not fit.
        """
        check_inputs(inputs, H, self.num_inputs, self.num_hiddens)
        if H is None:
            H = inputs.new_zeros(inputs.shape[1], self.num_hiddens)  # (batch_size, num_hiddens)
        outputs = []
        # unbind: under autograd, indexing inputs[t] at every step costs a third more time
        for X in inputs.unbind(0):
            H = rnn_step(X, H, self.W_xh, self.W_hh, self.b_h)
            outputs.append(H)
        return torch.stack(outputs), H  # (num_steps, batch_size, num_hiddens)

    def extra_repr(self) -> str:
        return f"{self.num_inputs}, {self.num_hiddens}"


class RNNConcise(nn.Module):
    """The same layer on top of ``torch.nn.RNN``, which runs it in fused C++ or on cuDNN.

    Parameters
    ----------
    num_inputs, num_hiddens : int

    Attributes
    ----------
    rnn : nn.RNN
        Its weights are transposed, and it keeps *two* biases that are only ever added:
        ``weight_ih_l0 = W_xh.T``, ``weight_hh_l0 = W_hh.T``, ``bias_ih_l0 + bias_hh_l0 = b_h``.

    Raises
    ------
    ValueError
        If a size is below 1.

    Examples
    --------
    >>> scratch = RNNScratch(3, 4)
    >>> concise = RNNConcise.from_scratch(scratch)
    >>> inputs = torch.randn(5, 2, 3)
    >>> torch.testing.assert_close(concise(inputs)[0], scratch(inputs)[0])
    """

    def __init__(self, num_inputs: int, num_hiddens: int) -> None:
        super().__init__()
        check_sizes(num_inputs, num_hiddens)
        self.num_inputs, self.num_hiddens = num_inputs, num_hiddens
        self.rnn = nn.RNN(num_inputs, num_hiddens)

    @classmethod
    def from_scratch(cls, scratch: RNNScratch) -> RNNConcise:
        """A twin with the same weights (copied), on the same device and in the same precision."""
        twin = cls(scratch.num_inputs, scratch.num_hiddens).to(scratch.W_hh)
        with torch.no_grad():
            twin.rnn.weight_ih_l0.copy_(scratch.W_xh.T)
            twin.rnn.weight_hh_l0.copy_(scratch.W_hh.T)
            twin.rnn.bias_ih_l0.copy_(scratch.b_h)
            twin.rnn.bias_hh_l0.zero_()
        return twin

    def forward(self, inputs: torch.Tensor, H: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Run over a sequence: parameters, returns and errors as in :meth:`RNNScratch.forward`."""
        check_inputs(inputs, H, self.num_inputs, self.num_hiddens)
        # nn.RNN has an axis for stacked layers in front of the state; there is one layer here
        outputs, H = self.rnn(inputs, None if H is None else H.unsqueeze(0))
        return outputs, H.squeeze(0)
