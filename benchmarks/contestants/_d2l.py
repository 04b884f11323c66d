"""Import of a D2L edition from its own folder, without the packages that it imports and that are not used here."""

from __future__ import annotations

import importlib
import sys
import warnings
from pathlib import Path
from types import ModuleType

import torch

from benchmarks.contestants import Task

# Plots, pictures, tables, downloads: none of it is part of a training step. Always replaced, installed or not, so that
# the contestant is the same on every machine.
NOT_USED = ("IPython", "PIL", "matplotlib", "matplotlib_inline", "pandas", "requests", "scipy", "torchvision")


class _NotHere(ModuleType):
    """A module whose every name is such a module again; calling one fails."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__ = []  # a package: its submodules may be imported

    def __getattr__(self, name: str) -> ModuleType:
        if name.startswith("__"):
            raise AttributeError(name)
        return sys.modules.setdefault(f"{self.__name__}.{name}", _NotHere(f"{self.__name__}.{name}"))


def load_d2l(version: str, peers: Path) -> ModuleType:
    """The module ``d2l.torch`` of that version, from ``peers / d2l-VERSION``."""
    folder = peers / f"d2l-{version}"
    if not (folder / "d2l" / "torch.py").is_file():
        raise ModuleNotFoundError(f"d2l=={version} is not in {folder}")
    warnings.filterwarnings("ignore", module="d2l")  # of torch, that some of its ways are old
    _finish_torch_imports()
    kept = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in NOT_USED}
    for name in kept:
        del sys.modules[name]
    for name in (*NOT_USED, "scipy.spatial"):
        sys.modules[name] = _NotHere(name)
    sys.path.insert(0, str(folder))
    try:
        d2l = importlib.import_module("d2l.torch")
    finally:
        sys.path.remove(str(folder))
        # D2L has its references; to everybody else these packages are again what they were.
        for name in [name for name in sys.modules if name.partition(".")[0] in NOT_USED]:
            del sys.modules[name]
        sys.modules.update(kept)
    found = Path(str(d2l.__file__)).resolve()
    if folder.resolve() not in found.parents:
        raise ModuleNotFoundError(f"d2l was found in {found}, not in {folder}; another copy is in the way")
    return d2l


def _finish_torch_imports() -> None:
    # torch.optim imports more of torch at its first use, and that looks around for installed packages.
    torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)


def why_not(version: str, task: Task) -> str | None:
    if not (task.peers / f"d2l-{version}" / "d2l" / "torch.py").is_file():
        return f"d2l=={version} is not installed"
    return None
