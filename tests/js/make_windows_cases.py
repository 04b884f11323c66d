"""Write the cuts on which Python and ``windows/index.mjs`` must agree: ``python tests/js/make_windows_cases.py``.

The package's samplers are the reference. Random places are drawn by torch and given to both sides; the page's own draws
are compared with the widget's Python port of them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from d2lrnn import RandomWindows, SequentialWindows
from d2lrnn.widgets import Windows
from d2lrnn.widgets.windows import epoch_starts

FILE = Path(__file__).with_name("windows_cases.json")
SIZES = ((10, 1, 4), (10, 1, 5), (11, 1, 5), (11, 2, 5), (21, 2, 10), (35, 2, 5), (36, 2, 5), (50, 3, 4), (97, 6, 5))
OFFSETS = (0, 1, 5, 9)


def _ids(num_tokens: int) -> torch.Tensor:
    """Tokens that are not their own places, each once."""
    return torch.randperm(num_tokens, generator=torch.Generator().manual_seed(num_tokens)) + 100


def _make(num_tokens: int, sampling: str, batch_size: int, num_steps: int, offset: int, ids: torch.Tensor) -> Any:
    if sampling == "sequential":
        return SequentialWindows(ids, batch_size, num_steps, offset=offset)
    generator = torch.Generator().manual_seed(num_tokens + num_steps)
    return RandomWindows(ids, batch_size, num_steps, overlap=sampling == "random", generator=generator)


def _needed(sampling: str, batch_size: int, num_steps: int, offset: int) -> int:
    """The shortest text that the package takes, found by trying."""
    for num_tokens in range(1, 400):
        try:
            _make(num_tokens, sampling, batch_size, num_steps, offset, torch.arange(num_tokens))
        except ValueError:
            continue
        return num_tokens
    raise AssertionError("no text of 400 tokens is long enough")


def _case(num_tokens: int, sampling: str, batch_size: int, num_steps: int, offset: int) -> dict[str, Any]:
    settings = {"batch_size": batch_size, "num_steps": num_steps, "sampling": sampling, "offset": offset}
    case = {"num_tokens": num_tokens, "settings": settings}
    case["needed"] = _needed(sampling, batch_size, num_steps, offset)
    ids = _ids(num_tokens)
    try:
        windows = _make(num_tokens, sampling, batch_size, num_steps, offset, ids)
    except ValueError:
        return case | {"count": 0}
    batches = list(windows)
    place_of = {int(token): place for place, token in enumerate(ids)}
    starts = [[place_of[int(token)] for token in X[:, 0]] for X, _ in batches]
    read = {place_of[int(token)] for X, _ in batches for token in X.flatten()}
    return case | {
        "count": len(windows),
        "ids": ids.tolist(),
        "starts": starts,
        "X": [X.tolist() for X, _ in batches],
        "Y": [Y.tolist() for _, Y in batches],
        "pairs_read": len(read),
    }


def _draws() -> list[dict[str, Any]]:
    found = []
    for num_tokens, batch_size, num_steps, seed in ((10, 1, 4, 68), (35, 2, 5, 19), (240, 2, 10, 0), (97, 6, 5, 9999)):
        for overlap in (True, False):
            windows = RandomWindows(torch.arange(num_tokens), batch_size, num_steps, overlap=overlap)
            settings = {"batch_size": batch_size, "num_steps": num_steps, "offset": 0, "seed": seed}
            settings["sampling"] = "random" if overlap else "adjoining"
            found.append({"num_tokens": num_tokens, "settings": settings, "starts": epoch_starts(windows, seed)})
    return found


def _guesses() -> list[dict[str, Any]]:
    """All guesses of a piece, rounded: on another machine the last digits may differ."""
    settings: list[dict[str, Any]] = [
        {"sampling": way, "minibatch": k} for way in ("sequential", "random") for k in range(1, 10)
    ]
    settings += [{"batch_size": 3, "num_steps": 7, "offset": 4, "minibatch": 4}, {"length": 1200, "minibatch": 90}]
    settings += [{"sampling": "adjoining", "seed": 3, "minibatch": 6}]
    settings += [{"source": "own", "own_text": "low tide at four high tide at ten ", "minibatch": 3}]
    found = []
    for each in settings:
        guesses = Windows(**each).guesses
        assert guesses is not None
        kept, empty = ([round(chance, 5) for chance in chances] for chances in zip(*guesses))
        found.append({"settings": each, "kept": kept, "empty": empty})
    return found


def _averages() -> list[dict[str, Any]]:
    """The mean of each guess over the pieces after the first."""
    found = []
    for each in ({}, {"sampling": "random"}, {"sampling": "adjoining", "seed": 3}, {"length": 60, "num_steps": 5}):
        averages = Windows(**each).average_guesses
        assert averages is not None
        kept, empty = ([round(chance, 5) for chance in chances] for chances in zip(*averages))
        found.append({"settings": each, "kept": kept, "empty": empty})
    return found


def _jumps() -> list[dict[str, Any]]:
    """What the first guess gets over all jumps."""
    own = {"source": "own", "own_text": "low tide at four high tide at ten ", "num_steps": 5}
    found = []
    for each in ({}, {"seed": 8}, {"sampling": "adjoining"}, own, {**own, "sampling": "adjoining"}, {"length": 300}):
        settings = {"sampling": "random", **each}
        jumps = Windows(**settings).jump_guess
        assert jumps is not None
        found.append({"settings": settings, "kept": round(jumps[0], 5), "empty": round(jumps[1], 5)})
    return found


def _framed() -> dict[str, float]:
    """What the first letters to guess get on average where they are read on, and where every line may read them."""
    python = Windows()
    averages, jumped = python.average_guesses, []
    assert averages is not None
    for (first,) in python.starts[1:]:
        chances = [Windows(offset=first - n, minibatch=1).guesses[n][1] for n in range(11)]
        jumped.append(sum(chances) / len(chances))
    kept, empty = averages[0]
    return {"empty": round(empty, 5), "jump": round(sum(jumped) / len(jumped), 5), "kept": round(kept, 5)}


def cases() -> dict[str, Any]:
    cuts = [
        _case(num_tokens, sampling, batch_size, num_steps, offset)
        for num_tokens, batch_size, num_steps in SIZES
        for sampling, offsets in (("sequential", OFFSETS), ("random", (0,)), ("adjoining", (0,)))
        for offset in offsets
    ]
    batch_of_two = SequentialWindows(torch.arange(1000), 2, 10)
    return {
        "cuts": cuts,
        "draws": _draws(),
        "batch_of_two": [X[:, 0].tolist() for X, _ in batch_of_two],
        "guesses": _guesses(),
        "averages": _averages(),
        "jumps": _jumps(),
        "framed": _framed(),
        "story": Windows().text[:1200],
    }


def text() -> str:
    return json.dumps(cases(), separators=(",", ":")) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    print(f"wrote {FILE}")
