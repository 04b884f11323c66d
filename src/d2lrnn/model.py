r"""A recurrent language model: token indices in, logits over the next token out.

.. math::
    \mathbf H_t = \text{recurrence}(\text{input}(x_t), \mathbf H_{t-1}), \qquad
    \mathbf O_t = \mathbf H_t \mathbf W_{hq} + \mathbf b_q

The input layer is a one-hot vector or a row of an embedding table; the recurrence is any layer with the interface of
:class:`d2lrnn.RNNScratch`.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator

import torch
from torch import nn
from torch.nn import functional as F

from d2lrnn.engines.closed_form import Buffers, Weights, read, threads_for
from d2lrnn.layers import GRU, LSTM, RNNConcise, RNNScratch
from d2lrnn.metrics import Score, score_logits

__all__ = ["RNNLM", "RecurrentLayer", "State", "detach_state", "evaluate", "evaluating"]

RecurrentLayer = RNNScratch | RNNConcise | GRU | LSTM
#: what a layer hands on from step to step: H, or (H, C) of an LSTM
State = torch.Tensor | tuple[torch.Tensor, ...]


def detach_state(state: State) -> State:
    """The same values without the way back: a gradient that arrives here stops."""
    return tuple(part.detach() for part in state) if isinstance(state, tuple) else state.detach()


@contextlib.contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Evaluation mode while a ``with`` lasts: nothing is dropped. Then every module is in the mode it was in before."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training


class RNNLM(nn.Module):
    r"""Language model around a recurrent layer.

    Parameters
    ----------
    rnn : RNNScratch, RNNConcise, GRU or LSTM
        The recurrence. Its `num_inputs` must be `vocab_size` (one-hot input), or the width of the embedding.
    vocab_size : int
    embedding : nn.Embedding, optional
        Table of shape (vocab_size, num_inputs). Without it tokens enter as one-hot vectors, which is the same as an
        embedding whose table is the identity.
    dropout : float in [0, 1), default 0
        Share of the outputs of the recurrence that each training step sets to zero on their way to the output layer
        (the others grow by 1 / (1 - dropout)); in evaluation mode nothing is dropped. The state that is carried on is
        never touched (Zaremba, Sutskever and Vinyals, "Recurrent neural network regularization", arXiv:1409.2329).

    Attributes
    ----------
    W_hq : Parameter, shape (num_hiddens, vocab_size)
    b_q : Parameter, shape (vocab_size,)
        Both drawn uniformly from :math:`\pm 1/\sqrt{\text{num\_hiddens}}`, as ``nn.Linear`` does.

    Raises
    ------
    ValueError
        If the sizes do not fit together, or the dropout is out of range.

    Notes
    -----
    Taught in the chapter *A character language model*; Mikolov et al., "Recurrent neural network based language model",
    Interspeech 2010.

    Examples
    --------
    >>> model = RNNLM(RNNScratch(27, 16), vocab_size=27)
    >>> logits, state = model(torch.zeros(2, 5, dtype=torch.long))
    >>> logits.shape, state.shape
    (torch.Size([2, 5, 27]), torch.Size([2, 16]))
    """

    def __init__(
        self,
        rnn: RecurrentLayer,
        vocab_size: int,
        embedding: nn.Embedding | None = None,
        *,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout is {dropout}; the share of outputs left out is from 0 to below 1.")
        if vocab_size < 1:
            raise ValueError(f"vocab_size is {vocab_size}; it must be at least 1.")
        if embedding is None and rnn.num_inputs != vocab_size:
            raise ValueError(
                f"The recurrent layer takes {rnn.num_inputs} inputs and one-hot vectors over this vocabulary have "
                f"{vocab_size}. Build it with num_inputs={vocab_size}, or pass an embedding of width {rnn.num_inputs}."
            )
        if embedding is not None and tuple(embedding.weight.shape) != (vocab_size, rnn.num_inputs):
            raise ValueError(
                f"The embedding's table has shape {tuple(embedding.weight.shape)}; expected "
                f"(vocab_size, num_inputs) = {(vocab_size, rnn.num_inputs)}."
            )
        self.rnn = rnn
        self.vocab_size = vocab_size
        self.embedding = embedding
        self.dropout = dropout
        bound = 1 / math.sqrt(rnn.num_hiddens)
        self.W_hq = nn.Parameter(torch.empty(rnn.num_hiddens, vocab_size).uniform_(-bound, bound))
        self.b_q = nn.Parameter(torch.empty(vocab_size).uniform_(-bound, bound))

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.W_hq.device

    def encode_inputs(self, X: torch.Tensor) -> torch.Tensor:
        """Token indices as vectors.

        Parameters
        ----------
        X : integer Tensor, shape (batch_size, num_steps)

        Returns
        -------
        Tensor, shape (num_steps, batch_size, num_inputs)
            Time comes first, because the recurrence walks along it.
        """
        X = X.long()  # a memory map may hand out bytes
        if self.embedding is not None:
            return self.embedding(X.T)
        return F.one_hot(X.T, self.vocab_size).to(self.W_hq.dtype)

    def forward(self, X: torch.Tensor, state: State | None = None) -> tuple[torch.Tensor, State]:
        """Logits for the token after each input token.

        Parameters
        ----------
        X : integer Tensor, shape (batch_size, num_steps)
        state : Tensor, shape (batch_size, num_hiddens), optional
            State to start from; zeros if left out. For an LSTM a pair of such tensors.

        Returns
        -------
        logits : Tensor, shape (batch_size, num_steps, vocab_size)
        state : Tensor, shape (batch_size, num_hiddens)
            State after the last token; for an LSTM a pair.
        """
        H, state = self.rnn(self.encode_inputs(X), state)  # H: (num_steps, batch_size, num_hiddens)
        H = F.dropout(H, self.dropout, self.training)
        logits = H @ self.W_hq + self.b_q  # (num_steps, batch_size, vocab_size)
        return logits.transpose(0, 1), state

    def loss(self, logits: torch.Tensor, Y: torch.Tensor) -> torch.Tensor:
        """Mean cross-entropy in nats per token, for training.

        Parameters
        ----------
        logits : Tensor, shape (batch_size, num_steps, vocab_size)
        Y : integer Tensor, shape (batch_size, num_steps)

        Returns
        -------
        Tensor, shape ()
        """
        return F.cross_entropy(logits.flatten(0, 1), Y.flatten().long())


def closed_form_weights(model: RNNLM) -> Weights:
    """The weights of a model by name, for :func:`d2lrnn.engines.closed_form.loss_and_gradients`."""
    rnn = model.rnn
    return Weights(
        E=None if model.embedding is None else model.embedding.weight,
        W_xh=rnn.W_xh,
        W_hh=rnn.W_hh,
        b_h=rnn.b_h,
        W_hq=model.W_hq,
        b_q=model.b_q,
    )


def no_closed_form(model: nn.Module, *, training: bool = True) -> str | None:
    """Why a model cannot be trained by :func:`d2lrnn.engines.closed_form.loss_and_gradients`; None if it can.

    What the closed form would not do must be what the model does not do: anything that a subclass, a hook, a shared or
    a frozen weight may change is left to autograd. For reading alone (``training=False``) the last two do not matter.
    """
    if type(model) is not RNNLM or type(model.rnn) is not RNNScratch:
        return "it is written for RNNLM around RNNScratch, and not for their subclasses or other layers"
    if training and model.dropout:
        return "it drops outputs at random"
    table = model.embedding
    if table is not None and (type(table) is not nn.Embedding or table.padding_idx is not None or table.max_norm):
        return "the embedding does more than to look up rows"
    if table is not None and (table.sparse or table.scale_grad_by_freq):
        return "the embedding's gradient is a special one"
    for module in model.modules():
        hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
        if any(getattr(module, name) for name in hooks) or {"forward", "loss"} & set(vars(module)):
            return "it has hooks, or a method of its own"
    weights = [weight for weight in closed_form_weights(model) if weight is not None]
    if {(w.device.type, w.dtype) for w in weights} not in ({("cpu", torch.float32)}, {("cpu", torch.float64)}):
        return "the weights are not all float32 or all float64 on the CPU"
    if not training:
        return None
    if any(not w.requires_grad or w._backward_hooks for w in weights):
        return "a weight is frozen or has a hook"
    if {id(w) for w in weights} != {id(p) for p in model.parameters()} or len({id(w) for w in weights}) < len(weights):
        return "a weight is shared, or there are more than the usual ones"
    return None


def _logits_piece_by_piece(model: RNNLM, pieces: Iterable[torch.Tensor]) -> Iterator[torch.Tensor]:
    """Logits (num_steps, vocab_size) of each of the consecutive pieces of one text, with the state carried along."""
    if no_closed_form(model, training=False):
        state = None
        for piece in pieces:
            logits, state = model(piece.unsqueeze(0), state)
            yield logits.squeeze(0)
        return
    weights = Weights(*(None if weight is None else weight.detach() for weight in closed_form_weights(model)))
    H = torch.zeros(1, len(weights.W_hh), dtype=weights.W_hh.dtype)
    for piece in pieces:
        room = Buffers(weights, 1, len(piece))
        room.first_state[:] = H
        yield torch.addmm(weights.b_q, read(weights, piece.unsqueeze(0), room), weights.W_hq)
        H = room.last_state


@torch.no_grad()
def evaluate(model: RNNLM, ids: torch.Tensor, num_steps: int = 512) -> Score:
    """Score a model on a text, read once from beginning to end with the state carried all the way.

    Every token but the first is predicted exactly once, whatever `num_steps` is.

    Parameters
    ----------
    model : RNNLM
    ids : integer Tensor, shape (num_tokens,)
        At least two tokens.
    num_steps : int, default 512
        Tokens read at a time; it changes memory and speed, not the score.

    Returns
    -------
    Score
        Of ``num_tokens - 1`` predictions.

    Raises
    ------
    ValueError
        If there are fewer than two tokens.

    Examples
    --------
    >>> model = RNNLM(RNNScratch(27, 8), vocab_size=27)
    >>> evaluate(model, torch.zeros(100, dtype=torch.long)).num_tokens
    99
    """
    if len(ids) < 2:
        raise ValueError(f"The text has {len(ids)} tokens; scoring needs at least 2: one to read, one to predict.")
    if num_steps < 1:
        raise ValueError(f"num_steps is {num_steps}; it must be at least 1.")
    ids = ids.to(model.device)
    score = Score(0.0, 0)
    with evaluating(model), threads_for(model.rnn.num_hiddens):
        # converted piece by piece: the text may be a memory map of bytes
        X, Y = ((piece.long() for piece in part.split(num_steps)) for part in (ids[:-1], ids[1:]))
        for logits, targets in zip(_logits_piece_by_piece(model, X), Y):
            score += score_logits(logits, targets)
    return score
