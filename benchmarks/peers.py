"""The peers' packages, each in a folder of its own: nothing of them gets into the project's environment."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

# Without their requirements: those pin versions that no newer Python has.
PEERS = {
    "d2l-0.17.6": "d2l==0.17.6 --hash=sha256:2698f034d892e02de47ed100e22f114de0c93252c851bf492cf5088bd7c96e25",
    "d2l-1.0.3": "d2l==1.0.3 --hash=sha256:c625a01e66eb5d793a7e0a6f8582b1e1e35dfad02b5e77f3d2ab299d07177ba6",
}


def install(folder: Path) -> dict[str, str]:
    """Install what is missing below `folder`, with pip.

    Returns
    -------
    dict of str to str
        For each peer that could not be installed, the reason.
    """
    reasons = {}
    for name, requirement in PEERS.items():
        target = folder / name
        if (target / "d2l" / "torch.py").is_file():
            continue
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(requirement + "\n")
            file.flush()
            # --upgrade: what an interrupted installation left is replaced
            options = ["--quiet", "--no-deps", "--only-binary=:all:", "--upgrade", "--target", str(target)]
            done = subprocess.run(
                [sys.executable, "-m", "pip", "install", *options, "-r", file.name], capture_output=True, text=True
            )
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["pip said nothing"]
            reasons[name] = said[-1].removeprefix("ERROR: ")
    return reasons
