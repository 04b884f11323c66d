"""Text out of a model: warm it up on a prefix, then draw one token after the other."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch

from d2lrnn.metrics import not_finite
from d2lrnn.model import RNNLM, State, check_ids, check_model, evaluating
from d2lrnn.text import EncodedText, Vocab, as_row, has_words, tokenize

__all__ = ["beam_search", "generate", "next_token_probs", "warm_up"]


@torch.no_grad()
def warm_up(model: RNNLM, prefix_ids: list[int] | torch.Tensor) -> tuple[torch.Tensor, State]:
    """Read a prefix without emitting anything, so that the state knows where the text stands.

    Parameters
    ----------
    model : RNNLM
    prefix_ids : list of int, or integer Tensor of shape (num_tokens,)
        At least one token.

    Returns
    -------
    logits : Tensor, shape (vocab_size,)
        For the token after the prefix.
    state : Tensor, shape (1, num_hiddens)
        For an LSTM a pair.

    Raises
    ------
    ValueError
        If the prefix is empty, or one of its tokens is not in the model's vocabulary.
    TypeError
        If the model is no language model, or the indices are not integers.

    Examples
    --------
    >>> from d2lrnn import RNNScratch
    >>> logits, state = warm_up(RNNLM(RNNScratch(27, 8), 27), [3, 1, 4])
    >>> logits.shape, state.shape
    (torch.Size([27]), torch.Size([1, 8]))
    """
    check_model(model)
    if len(prefix_ids) == 0:
        raise ValueError(
            "The prefix is empty, so there is nothing to predict from. Give at least one token; a single space will do."
        )
    X = as_row(prefix_ids, "prefix_ids").unsqueeze(0)  # (1, num_tokens)
    check_ids(X, model.vocab_size)
    with evaluating(model):
        logits, state = model(X.to(model.device))
    return logits[0, -1], state


def next_token_probs(
    logits: torch.Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
) -> torch.Tensor:
    r"""The distribution that decoding draws from.

    The logits are divided by the temperature, :math:`p_i \propto e^{o_i / \kappa}`; then only the `top_k` most probable
    tokens are kept, of those the fewest whose probabilities reach `top_p`, and of those the ones that are at least
    `min_p` times as probable as the first; what is left is scaled to sum to 1.

    Parameters
    ----------
    logits : Tensor, shape (vocab_size,)
    temperature : float, default 1.0
        Below 1 sharpens, above 1 flattens; 0 is greedy: all probability on the largest logit (the first, if equal).
    top_k : int, optional
        At least 1. More than the vocabulary has no effect.
    top_p : float in (0, 1], optional
        Nucleus sampling (Holtzman et al., arXiv:1904.09751).
    min_p : float in [0, 1], optional
        Smallest probability that is kept, as a share of the largest one (Nguyen et al., arXiv:2407.01082).

    Returns
    -------
    Tensor, shape (vocab_size,)
        Probabilities that sum to 1.

    Raises
    ------
    ValueError
        If a setting is out of range, the logits are more than one row, or the largest of them is no finite number.

    Examples
    --------
    >>> next_token_probs(torch.tensor([2.0, 1.0, 0.0]), temperature=0).tolist()
    [1.0, 0.0, 0.0]
    >>> next_token_probs(torch.zeros(4), top_k=2).tolist()
    [0.5, 0.5, 0.0, 0.0]
    >>> next_token_probs(torch.tensor([0.5, 0.5, 0.1]).log(), min_p=0.4).tolist()  # 0.1 is less than 0.4 times 0.5
    [0.5, 0.5, 0.0]
    """
    if not 0 <= temperature < math.inf:
        raise ValueError(
            f"temperature is {temperature}; it must be a finite number of at least 0 (0 takes the likeliest token)."
        )
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k is {top_k}; it must be at least 1, or None to keep every token.")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p is {top_p}; it must be above 0 and at most 1, or None to keep every token.")
    if min_p is not None and not 0 <= min_p <= 1:
        raise ValueError(f"min_p is {min_p}; it must be from 0 to 1, or None to keep every token.")
    if logits.dim() != 1:
        raise ValueError(
            f"logits have shape {tuple(logits.shape)}; expected (vocab_size,), those of one token. Of a model's "
            "(batch_size, num_steps, vocab_size) take logits[0, -1]."
        )
    largest = _largest(logits)
    if temperature == 0:
        return torch.nn.functional.one_hot(logits.argmax(), len(logits)).to(logits.dtype)
    # Subtracting the maximum first keeps a tiny temperature from overflowing. As a float32 one below 1e-37 may be 0.
    probs = torch.softmax((logits - largest) / max(temperature, 1e-37), dim=-1)
    if top_k is None and top_p is None and min_p is None:
        return probs
    ranked, order = probs.sort(descending=True, stable=True)
    keep = torch.ones_like(ranked, dtype=torch.bool)
    if top_k is not None:
        keep[top_k:] = False
        ranked = ranked / ranked[keep].sum()
    if top_p is not None and top_p < 1:  # a float32 sum may reach 1 before its last terms
        # A token stays while those before it have not reached top_p, so the first always stays.
        keep &= ranked.cumsum(0) - ranked < top_p
    if min_p is not None:
        keep &= ranked >= min_p * ranked[0]
    kept = torch.zeros_like(probs)
    kept[order[keep]] = probs[order[keep]]
    return kept / kept.sum()


@torch.no_grad()
def generate(
    model: RNNLM,
    vocab: Vocab,
    prefix: str | Iterable[str],
    num_tokens: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    exclude: Iterable[str] = (),
    generator: torch.Generator | None = None,
) -> str:
    """Continue a prefix.

    Parameters
    ----------
    model : RNNLM
    vocab : Vocab
    prefix : str or iterable of str
        Text to warm up on. A plain string is cut into characters, or at white space if the vocabulary is one of words;
        a list is taken token by token.
    num_tokens : int
        How many tokens to add; at least 0.
    temperature, top_k, top_p, min_p
        As in :func:`next_token_probs`.
    exclude : iterable of str, optional
        Tokens that are never drawn, such as the one that stands for unknown words: their probability goes to the
        others before anything else happens.
    generator : torch.Generator, optional
        A CPU generator, so that the same seed gives the same text on every device that computes the same logits;
        torch's global one if left out.

    Returns
    -------
    str
        The prefix and what follows it, words with a space between them.

    Raises
    ------
    TypeError
        If the arguments come in another order, or are not what they should be.
    ValueError
        If the prefix is empty or has an unknown token, a token to exclude is not in the vocabulary or none is left,
        a setting is out of range, or the model's weights are not finite.

    Examples
    --------
    >>> from d2lrnn import RNNScratch
    >>> vocab = Vocab("abc")
    >>> len(generate(RNNLM(RNNScratch(3, 8), 3), vocab, "ab", num_tokens=10))
    12
    >>> words = Vocab(["low", "tide", "tide"], unk_token="<unk>")
    >>> text = generate(RNNLM(RNNScratch(3, 8), 3), words, "low tide", num_tokens=3, exclude=["<unk>", "low"])
    >>> text
    'low tide tide tide tide'
    """
    _check_vocab("generate", model, vocab, num_tokens)
    if num_tokens < 0:
        raise ValueError(f"num_tokens is {num_tokens}; it must be at least 0.")
    ids = vocab.encode(_split(prefix, vocab))
    excluded = _indices_to_exclude(exclude, vocab).to(model.device)
    with evaluating(model):
        logits, state = warm_up(model, ids)
        for _ in range(num_tokens):
            allowed = logits.index_fill(0, excluded, -math.inf)
            probs = next_token_probs(allowed, temperature, top_k, top_p, min_p).cpu()
            ids.append(int(torch.multinomial(probs, 1, generator=generator)))
            logits, state = model(torch.tensor([[ids[-1]]], device=model.device), state)
            logits = logits[0, -1]  # (vocab_size,)
    return vocab.decode(ids)


@torch.no_grad()
def beam_search(
    model: RNNLM, vocab: Vocab, prefix: str | Iterable[str], num_tokens: int, num_beams: int = 4
) -> list[tuple[str, float]]:
    r"""Look for likely continuations: after every token, keep the `num_beams` most probable texts.

    One beam is greedy decoding. More beams see more texts, and still not all: the most probable text of all may be
    missed, because one of its beginnings was dropped.

    Parameters
    ----------
    model : RNNLM
    vocab : Vocab
    prefix : str or iterable of str
        As in :func:`generate`.
    num_tokens : int
        How many tokens to add; at least 0. All texts are equally long, so their probabilities can be compared.
    num_beams : int, default 4

    Returns
    -------
    list of (str, float)
        At most `num_beams` texts, prefix included, the most probable first; each with the logarithm of the probability
        of what follows the prefix, :math:`\sum_t \ln P(x_t \mid \text{all before})`, in nats.

    Raises
    ------
    ValueError
        If the prefix is empty or has an unknown token, a number is out of range, or the model's weights are not finite.
    TypeError
        If the arguments come in another order, or are not what they should be.

    Examples
    --------
    >>> from d2lrnn import RNNScratch
    >>> vocab = Vocab("abc")
    >>> found = beam_search(RNNLM(RNNScratch(3, 8), 3), vocab, "ab", num_tokens=5, num_beams=2)
    >>> [len(text) for text, _ in found]
    [7, 7]
    >>> found[0][1] >= found[1][1]
    True
    """
    _check_vocab("beam_search", model, vocab, num_tokens)
    if num_tokens < 0:
        raise ValueError(f"num_tokens is {num_tokens}; it must be at least 0.")
    if num_beams < 1:
        raise ValueError(f"num_beams is {num_beams}; it must be at least 1.")
    ids = vocab.encode(_split(prefix, vocab))
    with evaluating(model):
        logits, state = warm_up(model, ids)
        logits = logits.unsqueeze(0)  # (num_texts, vocab_size), one text so far
        texts, nats = torch.tensor([ids], device=model.device), torch.zeros(1, 1, device=model.device)
        for _ in range(num_tokens):
            _largest(logits)
            totals = nats + torch.log_softmax(logits, dim=-1)  # of every text with every next token
            best, where = totals.flatten().topk(min(num_beams, totals.numel()))
            parents, tokens = where // totals.shape[1], where % totals.shape[1]
            texts = torch.cat([texts[parents], tokens.unsqueeze(1)], dim=1)
            state = tuple(part[parents] for part in state) if isinstance(state, tuple) else state[parents]
            logits, state = model(tokens.unsqueeze(1), state)
            logits, nats = logits[:, -1], best.unsqueeze(1)
    return [(vocab.decode(text), total) for text, total in zip(texts.tolist(), nats.flatten().tolist())]


def _largest(logits: torch.Tensor) -> torch.Tensor:
    """The largest logit; an error unless it is a finite number, for one NaN among them makes it NaN."""
    largest = logits.max()
    if not torch.isfinite(largest):
        raise not_finite()
    return largest


def _check_vocab(function: str, model: RNNLM, vocab: object, num_tokens: object) -> None:
    check_model(model)
    if isinstance(vocab, EncodedText):
        raise TypeError(f"vocab is an EncodedText; {function} needs its vocabulary: pass text.vocab instead of text.")
    if not isinstance(vocab, Vocab) or isinstance(num_tokens, str):
        raise TypeError(
            f"vocab is a {type(vocab).__name__} and num_tokens a {type(num_tokens).__name__}; the order is "
            f"{function}(model, vocab, prefix, num_tokens)."
        )
    if len(vocab) != model.vocab_size:
        raise ValueError(
            f"The vocabulary has {len(vocab)} tokens and the model is made for {model.vocab_size}; they do not belong "
            "together."
        )


def _split(prefix: str | Iterable[str], vocab: Vocab) -> list[str]:
    """The prefix as tokens. Spelling a string out to a vocabulary of words would make every letter an unknown word."""
    if not isinstance(prefix, str):
        return list(prefix)
    return tokenize(prefix, "word" if has_words(vocab) else "char")


def _indices_to_exclude(exclude: Iterable[str], vocab: Vocab) -> torch.Tensor:
    tokens = {exclude} if isinstance(exclude, str) else set(exclude)
    for token in tokens:
        if token not in vocab:
            raise ValueError(f"{token!r} is to be excluded, and is not in the vocabulary ({vocab!r}).")
    if len(tokens) == len(vocab):
        raise ValueError("Every token is excluded, so there is nothing left to draw. Exclude fewer.")
    return torch.tensor(sorted(vocab.index(token) for token in tokens), dtype=torch.long)
