"""Whether the closed form may stand in for a model: only if nobody has changed what the model does."""

from __future__ import annotations

from types import FunctionType

import torch
from torch import nn

from d2lrnn import layers
from d2lrnn import model as model_module
from d2lrnn.engines.closed_form import weights_of
from d2lrnn.layers import RNNScratch
from d2lrnn.model import RNNLM

__all__ = ["why_not"]


def why_not(model: nn.Module) -> str | None:
    """Why a model cannot be trained by :func:`d2lrnn.engines.closed_form.loss_and_gradients`, in words; None if it can.

    What the closed form does not do must be what the model does not do: all that a subclass, a patched method, a hook,
    a shared or a frozen weight may change is left to autograd.

    Examples
    --------
    >>> from d2lrnn import GRU, RNNScratch
    >>> why_not(RNNLM(RNNScratch(3, 4), 3)) is None, why_not(RNNLM(GRU(3, 4), 3)) is None
    (True, False)
    """
    if type(model) is not RNNLM or type(model.rnn) is not RNNScratch:
        return "the closed form is written for RNNLM around RNNScratch, and not for their subclasses or other layers"
    if model.dropout:
        return "the model drops outputs at random"
    table = model.embedding
    if table is not None and (type(table) is not nn.Embedding or table.padding_idx is not None or table.max_norm):
        return "the embedding does more than to look up rows"
    if table is not None and (table.sparse or table.scale_grad_by_freq):
        return "the embedding's gradient is a special one"
    if changed := _changed_code(model):
        return f"{changed} is not the package's own"
    hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    if any(getattr(module, name) for module in model.modules() for name in hooks):
        return "the model has hooks"
    if any(getattr(nn.modules.module, f"_global{name}") for name in hooks):
        return "there are hooks on every module"
    weights = [weight for weight in weights_of(model) if weight is not None]
    if {(w.device.type, w.dtype) for w in weights} not in ({("cpu", torch.float32)}, {("cpu", torch.float64)}):
        return "the weights are not all float32 or all float64 on the CPU"
    hooked = any(w._backward_hooks or getattr(w, "_post_accumulate_grad_hooks", None) for w in weights)
    if hooked or any(not w.requires_grad for w in weights):
        return "a weight is frozen or has a hook"
    if {id(w) for w in weights} != {id(p) for p in model.parameters()} or len({id(w) for w in weights}) < len(weights):
        return "a weight is shared, or there are more than the usual ones"
    return None


def _is_from(function: object, file: str | None) -> bool:
    return isinstance(function, FunctionType) and function.__code__.co_filename == file


def _changed_code(model: RNNLM) -> str | None:
    """The name of a function on the model's way that somebody has put in the place of the package's own.

    The embedding is torch's, and its class is known to be nn.Embedding here.
    """
    for module, home, names in (
        (model, model_module, ("encode_inputs", "forward", "loss")),
        (model.rnn, layers, ("forward",)),
        *([] if model.embedding is None else [(model.embedding, nn.modules.sparse, ("forward",))]),
    ):
        kind = type(module)
        for name in names:
            if not _is_from(vars(kind).get(name), home.__file__):
                return f"{kind.__name__}.{name}"
        if own := {name for name in vars(module) if callable(getattr(kind, name, None))}:
            return f"{kind.__name__}.{min(own)}"
        if kind.__call__ is not nn.Module.__call__:
            return f"{kind.__name__}.__call__"
    for name in ("rnn_step", "check_inputs"):
        if not _is_from(getattr(layers, name), layers.__file__):
            return f"d2lrnn.layers.{name}"
    return None
