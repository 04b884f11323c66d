"""Pick the accelerator, say which, and make runs repeatable."""

from __future__ import annotations

import random

import numpy as np
import torch

__all__ = ["describe_device", "pick_device", "seed_everything"]


def pick_device(prefer: str | torch.device | None = None) -> torch.device:
    """The best device at hand: CUDA where there is one, then Apple's MPS, then the CPU.

    Parameters
    ----------
    prefer : str or torch.device, optional
        Take this one instead, for example ``"cpu"`` or ``"cuda:1"``.

    Returns
    -------
    torch.device

    Raises
    ------
    ValueError
        If the preferred device does not exist on this machine.

    Examples
    --------
    >>> pick_device("cpu")
    device(type='cpu')
    """
    if prefer is None:
        if torch.cuda.is_available():
            return torch.device("cuda")
        if torch.backends.mps.is_available():
            return torch.device("mps")
        return torch.device("cpu")
    try:
        device = torch.device(prefer)
        torch.zeros(1, device=device).item()  # one may be well named and not be there, or hold no numbers ("meta")
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ValueError(
            f"The device {str(prefer)!r} cannot be used on this machine ({str(error).splitlines()[0]}). "
            "Name another one, such as 'cpu', or none to take the best there is."
        ) from error
    return device


def describe_device(device: torch.device | str) -> str:
    """A device in words, for people: its kind, and its name or its number of threads.

    Examples
    --------
    >>> describe_device("cpu").startswith("the CPU (")
    True
    """
    device = torch.device(device)
    if device.type == "cuda":
        return f"the GPU ({torch.cuda.get_device_name(device)})"
    if device.type == "mps":
        return "the GPU (Apple MPS)"
    if device.type == "cpu":
        threads = torch.get_num_threads()
        return f"the CPU ({threads} thread{'s' if threads != 1 else ''})"
    return f"the device {device}"


def seed_everything(seed: int) -> torch.Generator:
    """Seed Python's, NumPy's and torch's random numbers (on every device), and return a CPU generator.

    Parameters
    ----------
    seed : int
        From 0 to 2**32 - 1, the range NumPy takes.

    Returns
    -------
    torch.Generator
        A fresh generator on the CPU with the same seed, for code that takes one explicitly.

    Raises
    ------
    ValueError
        If the seed is out of range.

    Examples
    --------
    >>> _ = seed_everything(1); a = torch.rand(2)
    >>> _ = seed_everything(1); bool((a == torch.rand(2)).all())
    True
    """
    if not 0 <= seed < 2**32:
        raise ValueError(f"seed is {seed}; it must be from 0 to 2**32 - 1.")
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - readers' cells may use the global generator
    torch.manual_seed(seed)
    return torch.Generator().manual_seed(seed)
