r"""Recurrent layers: one step, a whole sequence from the equation, and torch's own RNN, GRU and LSTM.

.. math::
    \mathbf H_t = \phi(\mathbf X_t \mathbf W_{xh} + \mathbf H_{t-1} \mathbf W_{hh} + \mathbf b_h)

Rows are examples and weights multiply from the right; time is the first axis. All layers have the interface of
:class:`RecurrentLayer`, so a language model takes any of them, or one of your own. "Concise" is *Dive into Deep
Learning*'s word for a layer out of the framework, beside the one from "scratch".
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import nn

__all__ = ["GRU", "LSTM", "RNNConcise", "RNNScratch", "RecurrentLayer", "State", "rnn_step"]

Activation = Callable[[torch.Tensor], torch.Tensor]
#: what a layer hands on from step to step: H (batch_size, num_hiddens), or (H, C) of an LSTM
State = torch.Tensor | tuple[torch.Tensor, ...]


class RecurrentLayer(Protocol):
    """What a layer needs to work in :class:`d2lrnn.RNNLM`; any ``nn.Module`` with these will do.

    Called with inputs (num_steps, batch_size, num_inputs) and a state or None, it returns the outputs of all steps,
    (num_steps, batch_size, num_hiddens), and the last state. To be saved and loaded it keeps the arguments that it was
    made with as attributes of the same names.

    Examples
    --------
    >>> class Leaky(RNNScratch):
    ...     def forward(self, inputs, H=None):
    ...         H = inputs.new_zeros(inputs.shape[1], self.num_hiddens) if H is None else H
    ...         outputs = []
    ...         for X in inputs:
    ...             H = 0.9 * H + 0.1 * rnn_step(X, H, self.W_xh, self.W_hh, self.b_h)
    ...             outputs.append(H)
    ...         return torch.stack(outputs), H
    >>> from d2lrnn import RNNLM
    >>> RNNLM(Leaky(27, 8), vocab_size=27)(torch.zeros(2, 5, dtype=torch.long))[0].shape
    torch.Size([2, 5, 27])
    """

    num_inputs: int
    num_hiddens: int

    def __call__(self, inputs: torch.Tensor, state: Any = None, /) -> tuple[torch.Tensor, Any]: ...


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


def check_sizes(num_inputs: int, num_hiddens: int) -> tuple[int, int]:
    """The sizes as plain integers, which numpy's are not; raise ValueError for less than one input or unit."""
    for name, size in (("num_inputs", num_inputs), ("num_hiddens", num_hiddens)):
        if size < 1:
            raise ValueError(f"{name} is {size}; it must be at least 1.")
    return operator.index(num_inputs), operator.index(num_hiddens)


def check_inputs(inputs: torch.Tensor, H: torch.Tensor | None, num_inputs: int, num_hiddens: int) -> None:
    """Raise ValueError unless inputs (num_steps, batch_size, num_inputs) and state (batch_size, num_hiddens) fit."""
    if inputs.dim() != 3 or inputs.shape[2] != num_inputs or inputs.shape[0] < 1:
        raise ValueError(
            f"inputs have shape {tuple(inputs.shape)}; expected (num_steps, batch_size, {num_inputs}), "
            "with at least one step."
        )
    if H is not None and (not isinstance(H, torch.Tensor) or H.shape != (inputs.shape[1], num_hiddens)):
        found = f"has shape {tuple(H.shape)}" if isinstance(H, torch.Tensor) else f"is a {type(H).__name__}"
        raise ValueError(
            f"the state {found}; expected ({inputs.shape[1]}, {num_hiddens}): one row for each "
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
        num_inputs, num_hiddens = check_sizes(num_inputs, num_hiddens)
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
        # unbind: the gradient of each inputs[t] would be a tensor as large as all inputs (where they have a gradient)
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
        num_inputs, num_hiddens = check_sizes(num_inputs, num_hiddens)
        self.num_inputs, self.num_hiddens = num_inputs, num_hiddens
        self.rnn = nn.RNN(num_inputs, num_hiddens)

    @classmethod
    def from_scratch(cls, scratch: RNNScratch) -> RNNConcise:
        """A twin with the same weights (copied), on the same device and in the same precision."""
        twin = cls(scratch.num_inputs, scratch.num_hiddens).to(scratch.W_hh)
        with torch.no_grad():
            weight_ih, weight_hh, bias_ih, bias_hh = twin.rnn.all_weights[0]
            weight_ih.copy_(scratch.W_xh.T)
            weight_hh.copy_(scratch.W_hh.T)
            bias_ih.copy_(scratch.b_h)
            bias_hh.zero_()
        return twin

    def forward(self, inputs: torch.Tensor, H: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Run over a sequence: parameters, returns and errors as in :meth:`RNNScratch.forward`."""
        check_inputs(inputs, H, self.num_inputs, self.num_hiddens)
        # nn.RNN has an axis for stacked layers in front of the state; there is one layer here
        outputs, H = self.rnn(inputs, None if H is None else H.unsqueeze(0))
        return outputs, H.squeeze(0)


class _Gated(nn.Module):
    r"""What GRU and LSTM share: sizes, the start of the weights, weight dropout.

    With `weight_drop` every training step sees a recurrent matrix in which some weights, drawn anew, are zero, the same
    ones at all steps of the window (DropConnect; Merity, Keskar and Socher, arXiv:1708.02182):

    .. math:: \tilde{\mathbf W}_{hh} = \frac{\mathbf M \odot \mathbf W_{hh}}{1 - p}, \qquad
        M_{ij} \sim \text{Bernoulli}(1 - p).
    """

    _kernel: type[nn.GRU] | type[nn.LSTM]

    def __init__(self, num_inputs: int, num_hiddens: int, *, weight_drop: float = 0.0) -> None:
        super().__init__()
        num_inputs, num_hiddens = check_sizes(num_inputs, num_hiddens)
        if not 0 <= weight_drop < 1:
            raise ValueError(f"weight_drop is {weight_drop}; the share of weights left out is from 0 to below 1.")
        self.num_inputs, self.num_hiddens, self.weight_drop = num_inputs, num_hiddens, weight_drop
        self.rnn = self._kernel(num_inputs, num_hiddens)
        _, weight_hh, *biases = self.rnn.all_weights[0]
        with torch.no_grad():
            for gate in weight_hh.split(num_hiddens):
                nn.init.orthogonal_(gate)
            for bias in biases:
                bias.zero_()

    def _run(self, inputs: torch.Tensor, state: Any) -> tuple[torch.Tensor, Any]:
        if not (self.training and self.weight_drop):
            return self.rnn(inputs, state)
        weight = self.rnn.all_weights[0][1]
        keep = torch.rand_like(weight) >= self.weight_drop
        dropped = {"weight_hh_l0": weight * keep / (1 - self.weight_drop)}
        return torch.func.functional_call(self.rnn, dropped, (inputs, state))

    def extra_repr(self) -> str:
        return f"{self.num_inputs}, {self.num_hiddens}, weight_drop={self.weight_drop}"


class GRU(_Gated):
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
    Cho et al., "Learning phrase representations using RNN encoder-decoder", arXiv:1406.1078. There, and in D2L, the
    reset gate multiplies the state before its product with the weights; in ``torch.nn.GRU``, and so here, it multiplies
    that product, bias and all.

    Examples
    --------
    >>> outputs, H = GRU(3, 4)(torch.zeros(5, 2, 3))
    >>> outputs.shape, H.shape
    (torch.Size([5, 2, 4]), torch.Size([2, 4]))
    """

    _kernel = nn.GRU

    def forward(self, inputs: torch.Tensor, H: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Run over a sequence: parameters, returns and errors as in :meth:`RNNScratch.forward`."""
        check_inputs(inputs, H, self.num_inputs, self.num_hiddens)
        outputs, H = self._run(inputs, None if H is None else H.unsqueeze(0))
        return outputs, H.squeeze(0)


class LSTM(_Gated):
    """A long short-term memory layer on top of ``torch.nn.LSTM``; parameters and errors are those of :class:`GRU`.

    Attributes
    ----------
    rnn : nn.LSTM
        Recurrent weights start orthogonal; biases at 0 but for the forget gate's, at 1, so that the cell starts by
        remembering (Jozefowicz, Zaremba and Sutskever, "An empirical exploration of recurrent network architectures",
        ICML 2015).

    Notes
    -----
    Hochreiter and Schmidhuber, "Long short-term memory", Neural Computation 9 (1997); the forget gate: Gers,
    Schmidhuber and Cummins, "Learning to forget", Neural Computation 12 (2000).

    Examples
    --------
    >>> outputs, (H, C) = LSTM(3, 4)(torch.zeros(5, 2, 3))
    >>> outputs.shape, H.shape, C.shape
    (torch.Size([5, 2, 4]), torch.Size([2, 4]), torch.Size([2, 4]))
    """

    _kernel = nn.LSTM

    def __init__(self, num_inputs: int, num_hiddens: int, *, weight_drop: float = 0.0) -> None:
        super().__init__(num_inputs, num_hiddens, weight_drop=weight_drop)
        with torch.no_grad():
            bias_ih = self.rnn.all_weights[0][2]
            bias_ih[num_hiddens : 2 * num_hiddens] = 1.0  # gates in torch's order: i, f, g, o

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
        is_tuple = isinstance(state, tuple | list)
        if state is not None and not (is_tuple and [isinstance(part, torch.Tensor) for part in state] == [True, True]):
            parts = f" of {', '.join(type(part).__name__ for part in state)}" if is_tuple else ""
            raise ValueError(
                f"the state is a {type(state).__name__}{parts}; expected a pair of tensors (H, C). Start with None in "
                "place of the pair."
            )
        for part in (None,) if state is None else state:
            check_inputs(inputs, part, self.num_inputs, self.num_hiddens)
        outputs, (H, C) = self._run(inputs, None if state is None else tuple(part.unsqueeze(0) for part in state))
        return outputs, (H.squeeze(0), C.squeeze(0))
