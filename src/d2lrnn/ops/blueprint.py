"""A model as a document that names its classes and arguments, and back; and whether it still computes the same."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import nn

from d2lrnn.layers import GRU, LSTM, RNNConcise, RNNScratch
from d2lrnn.model import RNNLM, evaluating

__all__ = [
    "OtherCodeError", "build_model", "check_sample", "cpu_copy", "describe_model", "from_version_1", "load_weights",
    "sample_logits",
]  # fmt: skip

#: The package's own classes by name. Others must be given by the caller: a file never names code to be imported.
_OWN: dict[str, type[nn.Module]] = {
    f"{cls.__module__}.{cls.__qualname__}": cls for cls in (RNNLM, RNNScratch, RNNConcise, GRU, LSTM)
}
#: How version 1, the first edition's, named the layers.
_LAYERS_OF_VERSION_1 = {
    "RNNScratch": "d2lrnn.layers.RNNScratch",
    "RNNConcise": "d2lrnn.layers.RNNConcise",
    "GRUConcise": "d2lrnn.layers.GRU",
    "LSTMConcise": "d2lrnn.layers.LSTM",
}
_EMBEDDING = ("num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse")


class OtherCodeError(Exception):
    """The file is sound, and needs other classes than are here."""


def cpu_copy(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().cpu().contiguous().clone()


def describe_model(model: RNNLM) -> dict[str, Any]:
    """Classes and arguments, from which :func:`build_model` makes a model like this one.

    Raises
    ------
    ValueError
        If a class does not keep the arguments that it was made with as attributes of the same names.
    """
    names = _parameters(type(model))
    layer = embedding = None
    if "rnn" in names:
        layer = {"class": _name(type(model.rnn)), "arguments": _arguments(model.rnn, _parameters(type(model.rnn)))}
    if "embedding" in names and model.embedding is not None:
        if type(model.embedding) is not nn.Embedding:
            raise ValueError(
                f"The embedding is of your own class {type(model.embedding).__name__}, from which a checkpoint cannot "
                "make it again. Use nn.Embedding, or a subclass of RNNLM with its own encode_inputs."
            )
        embedding = _arguments(model.embedding, _EMBEDDING)
    arguments = _arguments(model, [name for name in names if name not in ("rnn", "embedding")])
    return {"class": _name(type(model)), "arguments": arguments, "layer": layer, "embedding": embedding}


def build_model(
    about: Mapping[str, Any],
    weights: Mapping[str, torch.Tensor],
    layers: Mapping[str, type],
    model_class: type[RNNLM] | None,
) -> RNNLM:
    """A model from its description and its weights.

    Raises
    ------
    ValueError, TypeError, KeyError, RuntimeError
        If a class is not given, an argument is missing or wrong, or a weight is missing, left over or of another shape.
    """
    build = model_class or _class_of(about["class"], None)
    layer = None if about["layer"] is None else _class_of(about["layer"]["class"], layers)
    parts: dict[str, nn.Module] = {}
    # The first values are not kept. The package's own classes are made without any, so a small file cannot ask for much
    # memory; classes of the reader's may hold more than weights, and are made as always.
    empty = {build, layer} <= {*_OWN.values(), None}
    with torch.device("meta") if empty else torch.random.fork_rng(devices=[]):
        if layer is not None:
            parts["rnn"] = layer(**about["layer"]["arguments"])
        if about["embedding"] is not None:
            # Given a table, torch draws none, for which it would import its compiler here: a second of work.
            more = dict(about["embedding"])
            table = torch.empty(more.pop("num_embeddings"), more.pop("embedding_dim"))
            parts["embedding"] = nn.Embedding.from_pretrained(table, freeze=False, **more)
        model = build(**parts, **about["arguments"])
    if not isinstance(model, RNNLM):
        raise TypeError(f"its model is a {type(model).__name__} and no RNNLM")
    load_weights(model, weights)
    return model


def load_weights(model: RNNLM, weights: Mapping[str, torch.Tensor]) -> None:
    model.load_state_dict({name: tensor.clone() for name, tensor in weights.items()}, assign=True)


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _class_of(name: str, given: Mapping[str, type] | None) -> type:
    """A class by its name: one that the caller gives, or the package's. ``given=None`` asks for a class of model."""
    short = name.rpartition(".")[2]
    if given and short in given:
        return given[short]
    if name in _OWN:
        return _OWN[name]
    what, how = ("model", f"model={short}") if given is None else ("layer", f'layers={{"{short}": {short}}}')
    if name.startswith("d2lrnn."):
        say = "import it, if this version has it, and say"
        raise OtherCodeError(f"its {what} is {name}; {say} load_checkpoint(path, {how})")
    raise OtherCodeError(f"its {what} is your own class {short!r}; say load_checkpoint(path, {how})")


def _parameters(cls: type) -> list[str]:
    """Names of what a class is made with; what it takes by ``**kwargs`` are its base's."""
    names: list[str] = []
    for base in cls.__mro__:
        if init := vars(base).get("__init__"):
            parameters = list(inspect.signature(init).parameters.values())[1:]
            named = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
            names += [name for name in named if name not in names]
            if len(named) == len(parameters):
                break
    return names


def _arguments(module: object, names: Iterable[str]) -> dict[str, Any]:
    for name in names:
        if not isinstance(getattr(module, name, ...), bool | int | float | str | None):
            raise ValueError(
                f"{type(module).__name__} was made with {name!r} and does not keep it as a plain number or a string in "
                "an attribute of that name, so it cannot be made again from a file."
            )
    return {name: getattr(module, name) for name in names}


def from_version_1(about: Mapping[str, Any]) -> dict[str, Any]:
    """The description of a model as version 2 has it."""
    arguments = dict(about)
    name, sizes, width = arguments.pop("layer"), arguments.pop("sizes"), arguments.pop("embedding_size")
    layer = {"class": _LAYERS_OF_VERSION_1.get(name, name), "arguments": sizes}
    embedding = None if width is None else {"num_embeddings": about["vocab_size"], "embedding_dim": width}
    return {"class": "d2lrnn.model.RNNLM", "arguments": arguments, "layer": layer, "embedding": embedding}


def sample_logits(model: RNNLM) -> torch.Tensor | None:
    """Some logits after a few tokens; None from a model that gives none or others each time."""
    device = model.device
    X = torch.arange(8, device=device).remainder(model.vocab_size).unsqueeze(0)
    # A model that cannot read this may read what it was made for, and must be stored all the same.
    with contextlib.suppress(Exception), torch.no_grad(), evaluating(model):
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            first, again = (cpu_copy(model(X)[0][0, :, :16]) for _ in range(2))
        return first if torch.allclose(first, again, equal_nan=True) else None
    return None


def check_sample(model: RNNLM, stored: torch.Tensor | None) -> None:
    """Raise OtherCodeError if the model computes something else than it did when it was stored."""
    found = None if stored is None else sample_logits(model)
    if stored is None or found is None:
        return
    stored, found = stored.double(), found.double()
    # Other processors add in another order, some in TF32; a model in half precision rounds more.
    tolerance = 1e-2 if model.W_hq.dtype in (torch.float32, torch.float64) else 5e-2
    scale = max(1.0, float(stored.nan_to_num(0, 0, 0).abs().max()))
    if found.shape != stored.shape or not torch.allclose(found, stored, rtol=0, atol=tolerance * scale, equal_nan=True):
        raise OtherCodeError(
            f"the {type(model).__name__} around {type(model.rnn).__name__} that is here computes other logits than the "
            "one that was stored: a method such as forward has been changed since, or had been changed then. Make the "
            "same change before loading"
        )
