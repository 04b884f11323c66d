r"""A recurrent language model: token indices in, logits over the next token out.

.. math::
    \mathbf H_t = \text{recurrence}(\text{input}(x_t), \mathbf H_{t-1}), \qquad
    \mathbf O_t = \mathbf H_t \mathbf W_{hq} + \mathbf b_q

The input layer is a one-hot vector or a row of an embedding table; the recurrence is any layer with the interface of
:class:`d2lrnn.RNNScratch`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import nn
from torch.nn import functional as F

from d2lrnn.layers import RecurrentLayer, State
from d2lrnn.metrics import Score, score_logits
from d2lrnn.text import as_row, check_integers

__all__ = ["RNNLM", "evaluate", "evaluating", "map_state"]


def map_state(function: Callable[[torch.Tensor], torch.Tensor], state: State) -> State:
    """Apply a function to H, or to both H and C of an LSTM.

    >>> map_state(len, (torch.zeros(2, 4), torch.zeros(2, 4)))
    (2, 2)
    """
    return tuple(map(function, state)) if isinstance(state, tuple) else function(state)


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Evaluation mode while a ``with`` lasts: nothing is dropped. Then every module is in the mode it was in before.

    Examples
    --------
    >>> model = nn.Dropout(0.5)
    >>> with evaluating(model):
    ...     print(model.training)
    False
    >>> model.training
    True
    """
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
    rnn : RNNScratch, RNNConcise, GRU, LSTM, or a layer of your own
        The recurrence, see :class:`d2lrnn.layers.RecurrentLayer`. Its `num_inputs` must be `vocab_size` (one-hot
        input), or the width of the embedding.
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
    TypeError
        If `rnn` is not a layer of this kind, or `embedding` has no table.

    Notes
    -----
    Taught in the chapter *A character language model*; Mikolov et al., "Recurrent neural network based language model",
    Interspeech 2010.

    Examples
    --------
    >>> from d2lrnn import RNNScratch
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
        if not (hasattr(rnn, "num_inputs") and hasattr(rnn, "num_hiddens")):
            raise TypeError(
                f"The recurrent layer is a {type(rnn).__name__}, which lacks num_inputs or num_hiddens. A layer has "
                "both, and a forward(inputs, state) that takes (num_steps, batch_size, num_inputs) and returns outputs "
                "(num_steps, batch_size, num_hiddens) and the last state. For torch's nn.RNN, nn.GRU and nn.LSTM take "
                "d2lrnn's RNNConcise, GRU and LSTM."
            )
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout is {dropout}; the share of outputs left out is from 0 to below 1.")
        if vocab_size < 1:
            raise ValueError(f"vocab_size is {vocab_size}; it must be at least 1.")
        if embedding is None and rnn.num_inputs != vocab_size:
            raise ValueError(
                f"The recurrent layer takes {rnn.num_inputs} inputs and one-hot vectors over this vocabulary have "
                f"{vocab_size}. Build it with num_inputs={vocab_size}, or pass an embedding of width {rnn.num_inputs}."
            )
        if embedding is not None and not isinstance(getattr(embedding, "weight", None), torch.Tensor):
            raise TypeError(
                f"embedding is of type {type(embedding).__name__}; expected an nn.Embedding({vocab_size}, "
                f"{rnn.num_inputs}), or None for one-hot input. Dropout is given by its name, dropout=0.2."
            )
        if embedding is not None and tuple(embedding.weight.shape) != (vocab_size, rnn.num_inputs):
            raise ValueError(
                f"The embedding's table has shape {tuple(embedding.weight.shape)}; expected "
                f"(vocab_size, num_inputs) = {(vocab_size, rnn.num_inputs)}."
            )
        self.rnn = rnn
        self.vocab_size = operator.index(vocab_size)  # numpy's, made plain
        self.embedding = embedding
        self.dropout = float(dropout)
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

        Raises
        ------
        TypeError
            If the indices are not integers.
        ValueError
            If one is not in the model's vocabulary. (On a GPU it is torch's own error, and comes later.)
        """
        check_integers(X, "X")
        X = X.long()  # a memory map may hand out bytes
        try:
            if self.embedding is not None:
                return self.embedding(X.T)
            return F.one_hot(X.T, self.vocab_size).to(self.W_hq.dtype)
        except (IndexError, RuntimeError):
            check_ids(X, self.vocab_size)  # only now: looking for the one token costs a pass over all of them
            raise

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

        Raises
        ------
        ValueError
            If a shape does not fit, or a token is not in the model's vocabulary.
        TypeError
            If the indices are not integers.
        """
        if X.dim() != 2:
            raise ValueError(f"X has shape {tuple(X.shape)}; expected (batch_size, num_steps). One text: X[None].")
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

        Raises
        ------
        ValueError
            If `Y` has not the shape of the logits without their last axis.
        TypeError
            If `Y` is not of integers.
        """
        if Y.shape != logits.shape[:-1]:  # as many tokens in another order would give a number, and a wrong one
            raise ValueError(
                f"Y has shape {tuple(Y.shape)}; expected (batch_size, num_steps) = {tuple(logits.shape[:-1])}, that of "
                "the logits. If time comes first in it, pass Y.T."
            )
        check_integers(Y, "Y")
        return F.cross_entropy(logits.flatten(0, 1), Y.flatten().long())


@torch.no_grad()
def evaluate(
    model: RNNLM,
    ids: torch.Tensor,
    num_steps: int = 512,
    *,
    forward: Callable[[torch.Tensor, State | None], tuple[torch.Tensor, State]] | None = None,
) -> Score:
    """Score a model on a text, read once from beginning to end with the state carried all the way.

    Every token but the first is predicted exactly once, whatever `num_steps` is.

    Parameters
    ----------
    model : RNNLM
    ids : integer Tensor, shape (num_tokens,)
        At least two tokens.
    num_steps : int, default 512
        Tokens read at a time; it changes memory and speed, not the score.
    forward : callable, optional
        Computes what the model computes, faster; see :mod:`d2lrnn.engines`. By default the model itself.

    Returns
    -------
    Score
        Of ``num_tokens - 1`` predictions.

    Raises
    ------
    ValueError
        If there are fewer than two tokens, one is not in the model's vocabulary, or the model's weights are not finite.
    TypeError
        If the model is no language model, or the ids are not integers.

    Examples
    --------
    >>> from d2lrnn import RNNScratch
    >>> model = RNNLM(RNNScratch(27, 8), vocab_size=27)
    >>> evaluate(model, torch.zeros(100, dtype=torch.long)).num_tokens
    99
    """
    check_model(model)
    ids = as_row(ids)
    if len(ids) < 2:
        raise ValueError(f"The text has {len(ids)} tokens; scoring needs at least 2: one to read, one to predict.")
    if num_steps < 1:
        raise ValueError(f"num_steps is {num_steps}; it must be at least 1.")
    forward = model if forward is None else forward
    score, state = Score(0.0, 0), None
    with evaluating(model):
        for start in range(0, len(ids) - 1, num_steps):
            piece = ids[start : start + num_steps + 1].long()  # the text may be a memory map of bytes
            check_ids(piece, model.vocab_size)
            piece = piece.to(model.device)
            logits, state = forward(piece[None, :-1], state)
            score += score_logits(logits[0], piece[1:])
    return score


def check_model(model: object) -> None:
    """Raise TypeError for what is no language model, such as a recurrent layer alone."""
    if not hasattr(model, "vocab_size"):
        raise TypeError(
            f"model is of type {type(model).__name__}; expected a language model. Around a recurrent layer it is "
            "d2lrnn.RNNLM(rnn, vocab_size)."
        )


def check_ids(ids: torch.Tensor, vocab_size: int) -> None:
    """Raise ValueError for a token that a model over `vocab_size` tokens does not know."""
    numbers = ids.numpy(force=True)  # torch finds no extremes of uint16
    low, high = int(numbers.min()), int(numbers.max())
    if low < 0 or high >= vocab_size:
        raise ValueError(
            f"The text has a token {low if low < 0 else high}, and the model is made for the tokens 0 to "
            f"{vocab_size - 1}. Are text and model of one vocabulary?"
        )
