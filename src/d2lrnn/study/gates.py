r"""Gates: one step of an LSTM and of a GRU from their equations, and how far a gradient reaches in any layer.

Taught in the chapter *Gates: LSTM and GRU*. The layers that train are :class:`d2lrnn.LSTM` and :class:`d2lrnn.GRU`.
"""

from __future__ import annotations

import torch

from d2lrnn.model import RNNLM, evaluating

__all__ = ["gradient_norms_by_lag", "gru_step", "lstm_step"]


def lstm_step(
    X: torch.Tensor,
    state: tuple[torch.Tensor, torch.Tensor],
    W_xh: torch.Tensor,
    W_hh: torch.Tensor,
    b_h: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    r"""One step of an LSTM.

    .. math::
        \mathbf I, \mathbf F, \mathbf O = \sigma(\ldots), \quad \tilde{\mathbf C} = \tanh(\ldots), \quad
        \mathbf C_t = \mathbf F \odot \mathbf C_{t-1} + \mathbf I \odot \tilde{\mathbf C}, \quad
        \mathbf H_t = \mathbf O \odot \tanh(\mathbf C_t)

    Parameters
    ----------
    X : Tensor, shape (batch_size, num_inputs)
    state : (H, C), each of shape (batch_size, num_hiddens)
    W_xh : Tensor, shape (num_inputs, 4 * num_hiddens)
        Four blocks side by side, in torch's order: input gate, forget gate, candidate, output gate.
    W_hh : Tensor, shape (num_hiddens, 4 * num_hiddens)
    b_h : Tensor, shape (4 * num_hiddens,)

    Returns
    -------
    H, C : Tensor, shape (batch_size, num_hiddens)

    Notes
    -----
    Hochreiter and Schmidhuber, "Long short-term memory", Neural Computation 9 (1997); the forget gate: Gers,
    Schmidhuber and Cummins, "Learning to forget", Neural Computation 12 (2000).

    Examples
    --------
    >>> zeros = torch.zeros(2, 5)
    >>> H, C = lstm_step(torch.zeros(2, 3), (zeros, zeros + 1), torch.zeros(3, 20), torch.zeros(5, 20), torch.zeros(20))
    >>> C[0, 0].item()                                          # all gates are half open
    0.5
    """
    H, C = state
    I, F, G, O = (X @ W_xh + H @ W_hh + b_h).chunk(4, dim=1)  # noqa: E741
    C = F.sigmoid() * C + I.sigmoid() * G.tanh()
    return O.sigmoid() * C.tanh(), C


def gru_step(
    X: torch.Tensor,
    H: torch.Tensor,
    W_xh: torch.Tensor,
    W_hh: torch.Tensor,
    b_xh: torch.Tensor,
    b_hh: torch.Tensor,
) -> torch.Tensor:
    r"""One step of a GRU, in the form of ``torch.nn.GRU`` and cuDNN.

    .. math::
        \mathbf R, \mathbf Z = \sigma(\ldots), \quad
        \tilde{\mathbf H} = \tanh(\mathbf X \mathbf W_{xn} + \mathbf b_{xn} + \mathbf R \odot
            (\mathbf H_{t-1} \mathbf W_{hn} + \mathbf b_{hn})), \quad
        \mathbf H_t = \mathbf Z \odot \mathbf H_{t-1} + (1 - \mathbf Z) \odot \tilde{\mathbf H}

    Parameters
    ----------
    X : Tensor, shape (batch_size, num_inputs)
    H : Tensor, shape (batch_size, num_hiddens)
    W_xh : Tensor, shape (num_inputs, 3 * num_hiddens)
        Three blocks side by side: reset gate, update gate, candidate.
    W_hh : Tensor, shape (num_hiddens, 3 * num_hiddens)
    b_xh, b_hh : Tensor, shape (3 * num_hiddens,)
        Two biases: the reset gate multiplies the second one of the candidate.

    Returns
    -------
    Tensor, shape (batch_size, num_hiddens)

    Notes
    -----
    Cho et al., "Learning phrase representations using RNN encoder-decoder", EMNLP 2014; there, and in D2L, the reset
    gate multiplies the state before the product.

    Examples
    --------
    >>> bias = torch.zeros(15)
    >>> gru_step(torch.zeros(2, 3), torch.ones(2, 5), torch.zeros(3, 15), torch.zeros(5, 15), bias, bias)[0, 0].item()
    0.5
    """
    R_x, Z_x, N_x = (X @ W_xh + b_xh).chunk(3, dim=1)
    R_h, Z_h, N_h = (H @ W_hh + b_hh).chunk(3, dim=1)
    R, Z = (R_x + R_h).sigmoid(), (Z_x + Z_h).sigmoid()
    return Z * H + (1 - Z) * (N_x + R * N_h).tanh()


def gradient_norms_by_lag(model: RNNLM, X: torch.Tensor, Y: torch.Tensor) -> torch.Tensor:
    r"""How long the gradient of the last prediction's loss still is, so many steps back.

    .. math:: \Bigl\| \frac{\partial L_T}{\partial \mathbf S_{T-k}} \Bigr\|, \qquad k = 0, 1, \ldots, T - 1,

    where :math:`\mathbf S` is all that a step hands on: the state of a tanh layer or a GRU, the pair
    :math:`(\mathbf H, \mathbf C)` of an LSTM. It is computed by autograd, one step at a time, for any layer.

    Parameters
    ----------
    model : RNNLM
    X, Y : integer Tensor, shape (batch_size, num_steps)

    Returns
    -------
    Tensor, shape (num_steps,)
        The norm over the batch at lags 0, 1, ...

    Examples
    --------
    >>> from d2lrnn import GRU
    >>> X = torch.zeros(2, 6, dtype=torch.long)
    >>> gradient_norms_by_lag(RNNLM(GRU(3, 4), 3), X, X).shape
    torch.Size([6])
    """
    state, states = None, []
    # Nothing is dropped; and cuDNN's layers have no gradient then, torch's own do.
    with evaluating(model), torch.backends.cudnn.flags(enabled=False):
        for x in model.encode_inputs(X):
            outputs, state = model.rnn(x.unsqueeze(0), state)
            states.append(state if isinstance(state, tuple) else (state,))
        logits = outputs[0] @ model.W_hq + model.b_q  # (batch_size, vocab_size)
        loss = model.loss(logits.unsqueeze(1), Y[:, -1:])
        parts = [part for state in states for part in state]
        grads = torch.autograd.grad(loss, parts, allow_unused=True, materialize_grads=True)
    width = len(states[0])
    norms = [torch.cat([g.flatten() for g in grads[t : t + width]]).norm() for t in range(0, len(grads), width)]
    return torch.stack(norms[::-1])
