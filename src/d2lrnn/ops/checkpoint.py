"""A model, its vocabulary and how far its training has come, in one file that is there whole or not at all.

The file is in the safetensors format: tensors, and a header of text. Nothing in it is ever executed, which a pickle
would be. The header holds one JSON document with everything that is not a tensor::

    format, version    of the document
    model              classes of the model and of its layer by name, and the arguments that they were made with
    vocabulary         the tokens in the order of their indices
    settings           whatever the caller wants to know again
    progress           what `fit` needs to go on: step, optimiser, random numbers, hidden state, history, best weights

and a SHA-256 of that document with all tensors, so that a damaged file is never taken for a good one.

A file names classes and never brings their code. So the model's logits on a few tokens are stored as well, and a model
that computes others after loading (its ``forward`` is another one) is refused.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch

from d2lrnn.model import RNNLM
from d2lrnn.ops.blueprint import (
    OtherCodeError,
    build_model,
    check_sample,
    cpu_copy,
    describe_model,
    from_version_1,
    load_weights,
    sample_logits,
)
from d2lrnn.ops.files import replacing
from d2lrnn.text import Vocab

__all__ = ["Checkpoint", "CheckpointError", "describe_checkpoint", "load_checkpoint", "save_checkpoint"]

_FORMAT = "d2lrnn checkpoint"
_VERSION = 2
_ADVICE = "Give the path of a file that d2lrnn wrote, or start a new training."

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

    Examples
    --------
    >>> import tempfile
    >>> from d2lrnn import RNNScratch
    >>> path = Path(tempfile.mkdtemp()) / "small.safetensors"
    >>> save_checkpoint(path, RNNLM(RNNScratch(27, 8), 27), settings={"lr": 0.01})
    >>> load_checkpoint(path).settings["lr"]
    0.01
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
    """Write a checkpoint.

    What stood at `path` before stays until the new file is complete and on the disk.

    Parameters
    ----------
    path : str or path
        Usually ``NAME.safetensors``. Its folder must exist.
    model : RNNLM
        Or a subclass, around any recurrent layer. On any device; stored in its own precision. Classes of your own must
        keep the arguments that they are made with as attributes of the same names, numbers or strings.
    vocab : Vocab, optional
    settings : mapping, optional
        Anything that JSON holds.
    progress : mapping, optional
        Nested mappings, lists and tuples of tensors, numbers, strings and None.

    Raises
    ------
    CheckpointError
        If the file cannot be written. The one before is still there, and nothing half-written is.
    TypeError
        If the arguments come in another order.
    ValueError
        If the vocabulary is not of the model's size, or something cannot be stored.

    Examples
    --------
    >>> import tempfile
    >>> from d2lrnn import RNNScratch
    >>> path = Path(tempfile.mkdtemp()) / "tide.safetensors"
    >>> save_checkpoint(path, RNNLM(RNNScratch(3, 4), 3), Vocab("abc"), settings={"text": "abc"})
    >>> load_checkpoint(path).settings
    {'text': 'abc'}
    """
    from safetensors.torch import save  # only here: `import d2lrnn` stays as quick as `import torch`

    if not isinstance(model, RNNLM):
        raise TypeError(
            f"model is a {type(model).__name__} and must be an RNNLM; the order is save_checkpoint(path, model, vocab)."
        )
    about = _about(model, vocab, settings)
    path = Path(path).expanduser()
    tensors = {f"model.{name}": cpu_copy(tensor) for name, tensor in model.state_dict().items()}
    if (sample := sample_logits(model)) is not None:
        tensors["sample"] = sample
    document = json.dumps(about | {"progress": _pack(progress, "progress", tensors)}, ensure_ascii=False)
    metadata = {"d2lrnn": document, "sha256": _sha256(document, tensors)}
    try:
        with replacing(path) as file:
            file.write(save(tensors, metadata=metadata))
    except OSError as error:
        what_to_do = {errno.ENOSPC: "Make room", errno.EDQUOT: "Make room", errno.ENOENT: "Make the folder"}
        raise CheckpointError(
            f"The checkpoint {str(path)!r} could not be written ({error.strerror or error}). The one before, if there "
            f"was one, is still good. {what_to_do.get(error.errno or 0, 'Mend that')}, or choose another path."
        ) from error


def _about(model: RNNLM, vocab: Vocab | None, settings: Mapping[str, Any] | None) -> dict[str, Any]:
    if vocab is not None and len(vocab) != model.vocab_size:
        raise ValueError(
            f"The vocabulary has {len(vocab)} tokens and the model is made for {model.vocab_size}; they do not belong "
            "together."
        )
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "model": describe_model(model),
        "vocabulary": None if vocab is None else {"tokens": list(vocab.tokens), "unk_token": vocab.unk_token},
        "settings": dict(settings or {}),
    }


def check_storable(
    model: RNNLM, vocab: Vocab | None, settings: Mapping[str, Any] | None, progress: Mapping[str, Tree]
) -> None:
    """Raise now, and not after a training, what :func:`save_checkpoint` would raise about these.

    Raises
    ------
    ValueError, TypeError
        If the vocabulary is of another size, or the model, a setting or something of the progress cannot be stored.
    """
    json.dumps(_about(model, vocab, settings) | {"progress": _pack(progress, "progress", {})})


def load_checkpoint(
    path: str | os.PathLike[str],
    weights: Literal["best", "last"] = "best",
    layers: Mapping[str, type] | None = None,
    model: type[RNNLM] | None = None,
) -> Checkpoint:
    """Read a checkpoint. The global random numbers are left as they are.

    Parameters
    ----------
    path : str or path
    weights : "best" or "last"
        The best are those of the epoch with the lowest held-out perplexity, where training kept them; else the last.
    layers : mapping of str to class, optional
        Recurrent layers of your own by their names, such as ``{"Leaky": Leaky}``.
    model : subclass of RNNLM, optional
        Your own class of model, where the file's model is of one.

    Returns
    -------
    Checkpoint

    Raises
    ------
    CheckpointError
        If there is no such file; or it is damaged, cut off, not a checkpoint, of a later version, or contradicts
        itself; or a class of your own is needed, or computes something else than when the file was written.

    Examples
    --------
    >>> import tempfile
    >>> from d2lrnn import RNNScratch
    >>> path = Path(tempfile.mkdtemp()) / "tide.safetensors"
    >>> model = RNNLM(RNNScratch(3, 4), 3)
    >>> save_checkpoint(path, model, Vocab("abc"))
    >>> loaded = load_checkpoint(path)
    >>> torch.equal(loaded.model.W_hq, model.W_hq), loaded.vocab.tokens
    (True, ('a', 'b', 'c'))
    """
    if weights not in ("best", "last"):
        raise ValueError(f"weights is {weights!r}; it must be 'best' or 'last'.")
    path = Path(path).expanduser()
    about, tensors = _read(path)
    try:
        progress = _unpack(about["progress"], tensors)
        last = {name.removeprefix("model."): t for name, t in tensors.items() if name.startswith("model.")}
        described = from_version_1(about["model"]) if about["version"] == 1 else about["model"]
        built = build_model(described, last, layers or {}, model)
        check_sample(built, tensors.get("sample"))
        best = (progress or {}).get("best")
        if weights == "best" and best is not None:
            load_weights(built, best["weights"])
        stored = about["vocabulary"]
        vocab = None if stored is None else Vocab.from_tokens(stored["tokens"], stored["unk_token"])
        if vocab is not None and len(vocab) != built.vocab_size:
            raise ValueError(f"its vocabulary has {len(vocab)} tokens and its model is made for {built.vocab_size}")
        return Checkpoint(built.eval(), vocab, about["settings"], progress)
    except OtherCodeError as error:
        raise CheckpointError(f"The checkpoint {str(path)!r} cannot be loaded like this: {error}.") from None
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError, OverflowError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise CheckpointError(f"The checkpoint {str(path)!r} contradicts itself ({reason}). Take another.") from error


def describe_checkpoint(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a checkpoint says of itself, for people: its document, where each tensor is given by its shape.

    No class is needed and no model is made.

    Raises
    ------
    CheckpointError
        If there is no such file, or it is damaged, cut off, not a checkpoint, or of a later version.

    Examples
    --------
    >>> import tempfile
    >>> from d2lrnn import RNNScratch
    >>> path = Path(tempfile.mkdtemp()) / "tide.safetensors"
    >>> save_checkpoint(path, RNNLM(RNNScratch(3, 4), 3), settings={"lr": 0.1}, progress={"step": 7})
    >>> about = describe_checkpoint(path)
    >>> about["model"]["layer"], about["settings"], about["progress"]
    ({'class': 'd2lrnn.layers.RNNScratch', 'arguments': {'num_inputs': 3, 'num_hiddens': 4}}, {'lr': 0.1}, {'step': 7})
    """
    path = Path(path).expanduser()
    about, tensors = _read(path)
    shapes = {name: f"{str(t.dtype).removeprefix('torch.')}{tuple(t.shape)}" for name, t in tensors.items()}
    weights = {name.removeprefix("model."): shape for name, shape in shapes.items() if name.startswith("model.")}
    try:
        model = from_version_1(about["model"]) if about["version"] == 1 else about["model"]
        return {**about, "model": model, "weights": weights, "progress": _unpack(about["progress"], shapes)}
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"The checkpoint {str(path)!r} contradicts itself. {_ADVICE}") from error


def _pack(tree: Tree, name: str, tensors: dict[str, torch.Tensor]) -> Any:
    """A tree as JSON; its tensors are put into `tensors`, each under the path that leads to it."""
    match tree:
        case torch.Tensor():
            tensors[name] = cpu_copy(tree)
            return {"tensor": name}
        case Mapping():
            # "%" and "." in a key are escaped, as in URLs: then no two paths are the same
            paths = {key: f"{name}.{str(key).replace('%', '%25').replace('.', '%2E')}" for key in tree}
            if len(set(paths.values())) < len(paths):
                raise ValueError(f"{name} has a key twice, as a number and as a string.")
            if all(isinstance(key, str) for key in tree):
                return {"dict": {key: _pack(value, paths[key], tensors) for key, value in tree.items()}}
            return {"items": [[key, _pack(value, paths[key], tensors)] for key, value in tree.items()]}
        case list() | tuple():
            kind = "tuple" if isinstance(tree, tuple) else "list"
            return {kind: [_pack(value, f"{name}.{index}", tensors) for index, value in enumerate(tree)]}
        case None | bool() | int() | float() | str():
            return tree
    raise ValueError(f"{name} is of type {type(tree).__name__}, which a checkpoint cannot hold.")


def _unpack(tree: Any, tensors: Mapping[str, Any]) -> Tree:
    if not isinstance(tree, dict):
        return tree
    [(kind, value)] = tree.items()
    if kind == "tensor":
        return tensors[value]
    if kind == "dict":
        return {key: _unpack(branch, tensors) for key, branch in value.items()}
    if kind == "items":
        return {key: _unpack(branch, tensors) for key, branch in value}
    return {"list": list, "tuple": tuple}[kind](_unpack(branch, tensors) for branch in value)


def _sha256(document: str, tensors: Mapping[str, torch.Tensor]) -> str:
    sha256 = hashlib.sha256(document.encode())
    for name in sorted(tensors):
        sha256.update(f"{name} {tensors[name].dtype} {tuple(tensors[name].shape)}".encode())
        sha256.update(tensors[name].reshape(-1).view(torch.uint8).numpy().data)
    return sha256.hexdigest()


def _read(path: Path) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise CheckpointError(f"The checkpoint {str(path)!r} {what}. {_ADVICE}")
    try:
        with safe_open(str(path), framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no dict
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(
            f"{str(path)!r} is no checkpoint, or is damaged or cut off ({str(error).splitlines()[0]}). {_ADVICE}"
        ) from error
    if "d2lrnn" not in metadata:
        raise CheckpointError(f"{str(path)!r} holds tensors, but not those of a d2lrnn checkpoint. {_ADVICE}")
    document = metadata["d2lrnn"]
    try:
        about = json.loads(document)
    except (ValueError, RecursionError):
        about = None
    if not isinstance(about, dict) or about.get("format") != _FORMAT:
        raise CheckpointError(f"{str(path)!r} is damaged: its header is not that of a d2lrnn checkpoint. {_ADVICE}")
    if about.get("version") not in range(1, _VERSION + 1):
        raise CheckpointError(
            f"{str(path)!r} is a checkpoint of version {about.get('version')}, and this d2lrnn reads versions 1 to "
            f"{_VERSION}. Use the d2lrnn that wrote it."
        )
    if metadata.get("sha256") != _sha256(document, tensors):
        raise CheckpointError(f"{str(path)!r} is damaged: its contents do not have the SHA-256 it names. {_ADVICE}")
    return about, tensors
