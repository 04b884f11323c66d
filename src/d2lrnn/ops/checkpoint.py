"""A model, its vocabulary and how far its training has come, in one file that is there whole or not at all.

The file is in the safetensors format: tensors, and a header of text. Nothing in it is ever executed, which a pickle
would be. The header holds one JSON document with everything that is not a tensor::

    format, version    of the document
    model              kind and sizes of the recurrent layer, vocabulary size, width of the embedding
    vocabulary         the tokens in the order of their indices
    settings           whatever the caller wants to know again
    progress           what `fit` needs to go on: step, optimiser, random numbers, hidden state, history, best weights

and a SHA-256 of that document with all tensors, so that a damaged file is never taken for a good one. Beside
``NAME.safetensors`` stands ``NAME.json`` with the same for people to read; no program needs it.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from d2lrnn.layers import GRU, LSTM, RNNConcise, RNNScratch
from d2lrnn.model import RNNLM
from d2lrnn.ops.files import replacing
from d2lrnn.text import Vocab

__all__ = ["Checkpoint", "CheckpointError", "load_checkpoint", "save_checkpoint"]

_FORMAT = "d2lrnn checkpoint"
_VERSION = 1
# The layers that a checkpoint may name; a file never names code to be imported.
_LAYERS: dict[str, type[nn.Module]] = {layer.__name__: layer for layer in (RNNScratch, RNNConcise, GRU, LSTM)}
# Names of the first edition, in checkpoints that it wrote.
_LAYERS |= {"GRUConcise": GRU, "LSTMConcise": LSTM}

Tree = Any  # nested dicts, lists and tuples of tensors, numbers, strings and None


class CheckpointError(RuntimeError):
    """A checkpoint could not be written or read, or does not belong to what it is used for."""


@dataclass(frozen=True)
class Checkpoint:
    """What a file held.

    Attributes
    ----------
    model : RNNLM
        On the CPU, in evaluation mode.
    vocab : Vocab or None
    settings : dict
        As given to :func:`save_checkpoint`.
    progress : dict or None
        What :func:`d2lrnn.fit` needs to go on.
    """

    model: RNNLM
    vocab: Vocab | None
    settings: dict[str, Any]
    progress: dict[str, Tree] | None


def save_checkpoint(
    path: str | os.PathLike[str],
    model: RNNLM,
    vocab: Vocab | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    progress: Mapping[str, Tree] | None = None,
) -> None:
    """Write a checkpoint, and beside it a JSON file for people.

    What stood at `path` before stays until the new file is complete and on the disk.

    Parameters
    ----------
    path : str or path
        Usually ``NAME.safetensors``. Its folder must exist.
    model : RNNLM
        Around any of the package's recurrent layers. On any device; stored in its own precision.
    vocab : Vocab, optional
    settings : mapping, optional
        Anything that JSON holds.
    progress : mapping, optional
        Nested mappings, lists and tuples of tensors, numbers, strings and None.

    Raises
    ------
    CheckpointError
        If the file cannot be written. The one before is still there, and nothing half-written is.
    ValueError
        If the vocabulary is not of the model's size, or something cannot be stored.

    Examples
    --------
    >>> import tempfile
    >>> from d2lrnn import RNNScratch
    >>> path = Path(tempfile.mkdtemp()) / "tide.safetensors"
    >>> save_checkpoint(path, RNNLM(RNNScratch(3, 4), 3), Vocab("abc"), settings={"text": "abc"})
    >>> sorted(file.name for file in path.parent.iterdir())
    ['tide.json', 'tide.safetensors']
    >>> load_checkpoint(path).settings
    {'text': 'abc'}
    """
    from safetensors.torch import save  # only here: `import d2lrnn` stays as quick as `import torch`

    if vocab is not None and len(vocab) != model.vocab_size:
        raise ValueError(
            f"The vocabulary has {len(vocab)} tokens and the model is made for {model.vocab_size}; they do not belong "
            "together."
        )
    path = Path(path)
    tensors = {f"model.{name}": _stored(tensor) for name, tensor in model.state_dict().items()}
    about = {
        "format": _FORMAT,
        "version": _VERSION,
        "model": describe_model(model),
        "vocabulary": None if vocab is None else {"tokens": list(vocab.tokens), "unk_token": vocab.unk_token},
        "settings": dict(settings or {}),
    }
    document = json.dumps(about | {"progress": _pack(progress, "progress", tensors)}, ensure_ascii=False)
    metadata = {"d2lrnn": document, "sha256": _sha256(document, tensors)}
    try:
        with replacing(path) as file:
            file.write(save(tensors, metadata=metadata))
        with replacing(_for_people(path)) as file:
            about["progress"] = _in_short(progress)
            file.write(json.dumps(about, ensure_ascii=False, indent=2).encode())
    except OSError as error:
        raise CheckpointError(
            f"The checkpoint {str(path)!r} could not be written ({error.strerror or error}). The one before, if there "
            "was one, is still good. Make room or choose another place, and resume from it."
        ) from error


def load_checkpoint(
    path: str | os.PathLike[str],
    weights: Literal["best", "last"] = "best",
    layers: Mapping[str, type[nn.Module]] | None = None,
) -> Checkpoint:
    """Read a checkpoint. The global random numbers are left as they are.

    Parameters
    ----------
    path : str or path
    weights : "best" or "last"
        The best are those of the epoch with the lowest held-out perplexity, where training kept them; else the last.
    layers : mapping of str to class, optional
        Recurrent layers of your own that the file may name, in addition to the package's.

    Returns
    -------
    Checkpoint

    Raises
    ------
    CheckpointError
        If there is no such file; or it is damaged, cut off, not a checkpoint, of another version, of an unknown
        layer, or contradicts itself.

    Examples
    --------
    >>> import tempfile
    >>> from d2lrnn import RNNScratch
    >>> path = Path(tempfile.mkdtemp()) / "tide.safetensors"
    >>> model = RNNLM(RNNScratch(3, 4), 3)
    >>> save_checkpoint(path, model, Vocab("abc"))
    >>> loaded = load_checkpoint(path)
    >>> torch.equal(loaded.model.W_hq, model.W_hq), loaded.vocab
    (True, <Vocab of 3 tokens: 'abc'>)
    """
    if weights not in ("best", "last"):
        raise ValueError(f"weights is {weights!r}; it must be 'best' or 'last'.")
    path = Path(path)
    about, tensors = _read(path)
    try:
        progress = _unpack(about["progress"], tensors)
        best = (progress or {}).get("best")
        if weights == "best" and best is not None:
            values = best["weights"]
        else:
            values = {name.removeprefix("model."): t for name, t in tensors.items() if name.startswith("model.")}
        model = build_model(about["model"], values, layers)
        stored = about["vocabulary"]
        vocab = None if stored is None else Vocab.from_tokens(stored["tokens"], stored["unk_token"])
        if vocab is not None and len(vocab) != model.vocab_size:
            raise ValueError(f"its vocabulary has {len(vocab)} tokens and its model is made for {model.vocab_size}")
        return Checkpoint(model.eval(), vocab, about["settings"], progress)
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise CheckpointError(f"The checkpoint {str(path)!r} contradicts itself ({reason}). Take another.") from error


def describe_model(model: RNNLM) -> dict[str, Any]:
    """Kind and sizes of a model, from which :func:`build_model` makes one like it.

    Raises
    ------
    ValueError
        If a layer does not keep the arguments that it was made with as attributes of the same names.
    """
    embedding = getattr(model, "embedding", None)
    return {
        "layer": type(model.rnn).__name__,
        "sizes": _arguments(model.rnn),
        "vocab_size": model.vocab_size,
        "embedding_size": None if embedding is None else embedding.embedding_dim,
        **_arguments(model, but=("rnn", "vocab_size", "embedding")),
    }


def build_model(
    about: Mapping[str, Any], weights: Mapping[str, torch.Tensor], layers: Mapping[str, type[nn.Module]] | None = None
) -> RNNLM:
    """A model from its description and its weights.

    Raises
    ------
    ValueError, TypeError, KeyError, RuntimeError
        If the layer is unknown, a size is missing or wrong, or a weight is missing, left over or of another shape.
    """
    about = dict(about)
    known = {**_LAYERS, **(layers or {})}
    name, sizes = about.pop("layer"), about.pop("sizes")
    vocab_size, embedding_size = about.pop("vocab_size"), about.pop("embedding_size")
    if name not in known:
        raise ValueError(f"its layer is {name!r}; known are {', '.join(sorted(known))}")
    with torch.random.fork_rng(devices=[]):  # its first values are overwritten: they cost the caller no random number
        embedding = None if embedding_size is None else nn.Embedding(vocab_size, embedding_size)
        model = RNNLM(known[name](**sizes), vocab_size, embedding, **about)
    model.load_state_dict({name: tensor.clone() for name, tensor in weights.items()}, assign=True)
    return model


def _arguments(module: nn.Module, but: tuple[str, ...] = ()) -> dict[str, Any]:
    names = [name for name in inspect.signature(type(module)).parameters if name not in but]
    for name in names:
        if not isinstance(getattr(module, name, ...), bool | int | float | str | None):
            raise ValueError(
                f"{type(module).__name__} was made with {name!r} and does not keep it as a number or a string in an "
                "attribute of that name, so it cannot be made again from a file."
            )
    return {name: getattr(module, name) for name in names}


def _stored(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().cpu().contiguous().clone()


def _pack(tree: Tree, name: str, tensors: dict[str, torch.Tensor]) -> Any:
    """A tree as JSON; its tensors go into `tensors`, under the names of the branches on which they grow."""
    match tree:
        case torch.Tensor():
            tensors[name] = _stored(tree)
            return {"tensor": name}
        case Mapping():
            return {"dict": {str(key): _pack(value, f"{name}.{key}", tensors) for key, value in tree.items()}}
        case list() | tuple():
            kind = "tuple" if isinstance(tree, tuple) else "list"
            return {kind: [_pack(value, f"{name}.{index}", tensors) for index, value in enumerate(tree)]}
        case None | bool() | int() | float() | str():
            return tree
    raise ValueError(f"{name} is of type {type(tree).__name__}, which a checkpoint cannot hold.")


def _unpack(tree: Any, tensors: Mapping[str, torch.Tensor]) -> Tree:
    if not isinstance(tree, dict):
        return tree
    [(kind, value)] = tree.items()
    if kind == "tensor":
        return tensors[value]
    if kind == "dict":
        return {key: _unpack(branch, tensors) for key, branch in value.items()}
    return {"list": list, "tuple": tuple}[kind](_unpack(branch, tensors) for branch in value)


def _in_short(tree: Tree) -> Any:
    """The same for people: a tensor is its shape."""
    match tree:
        case torch.Tensor():
            return f"tensor of shape {tuple(tree.shape)}"
        case Mapping():
            return {str(key): _in_short(value) for key, value in tree.items()}
        case list() | tuple():
            return [_in_short(value) for value in tree]
    return tree


def _for_people(path: Path) -> Path:
    return path.with_name(f"{path.name.removesuffix('.safetensors')}.json")


def _sha256(document: str, tensors: Mapping[str, torch.Tensor]) -> str:
    sha256 = hashlib.sha256(document.encode())
    for name in sorted(tensors):
        sha256.update(f"{name} {tensors[name].dtype} {tuple(tensors[name].shape)}".encode())
        sha256.update(tensors[name].reshape(-1).view(torch.uint8).numpy().data)
    return sha256.hexdigest()


def _read(path: Path) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    from safetensors import SafetensorError, safe_open

    advice = "Give the path of a file that d2lrnn wrote, or start a new training."
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise CheckpointError(f"The checkpoint {str(path)!r} {what}. {advice}")
    try:
        with safe_open(str(path), framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no dict
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(
            f"{str(path)!r} is no checkpoint, or is damaged or cut off ({str(error).splitlines()[0]}). {advice}"
        ) from error
    if "d2lrnn" not in metadata:
        raise CheckpointError(f"{str(path)!r} holds tensors, but not those of a d2lrnn checkpoint. {advice}")
    document = metadata["d2lrnn"]
    with contextlib.suppress(ValueError):
        about = json.loads(document)
        if about.get("version") != _VERSION:
            raise CheckpointError(
                f"{str(path)!r} is a checkpoint of version {about.get('version')}, and this d2lrnn reads version "
                f"{_VERSION}. Use the d2lrnn that wrote it."
            )
    if metadata.get("sha256") != _sha256(document, tensors):
        raise CheckpointError(f"{str(path)!r} is damaged: its contents do not have the SHA-256 that it names. {advice}")
    return about, tensors
