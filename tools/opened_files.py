"""Run in a chapter's kernel before its first cell: keep a record of every file of the project that it opens.

So the build knows what a chapter depends on, modules and data alike, without guessing it from the text of its cells.
"""

from __future__ import annotations

import os
import sys

PROCESSES = ("subprocess.Popen", "os.posix_spawn", "os.exec")
STARTS_PROCESSES = ("multiprocessing.popen_spawn_posix", "multiprocessing.popen_forkserver")


def record(to: str, root: str) -> None:
    """Write to a file, line by line, what is opened below ``root``; ``*`` where another Python is started."""
    descriptor = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    seen: set[str] = set()
    inside = os.path.join(os.path.abspath(root), "")

    def write(line: str) -> None:
        if line not in seen:
            seen.add(line)
            os.write(descriptor, f"{line}\n".encode())

    def hook(event: str, arguments: tuple) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes):
            path = os.path.abspath(os.fsdecode(arguments[0]))
            if path.startswith(inside):
                write(path)
        elif (event in PROCESSES and "python" in f"{arguments[0]} {arguments[1]}") or (
            event == "import" and arguments[0] in STARTS_PROCESSES
        ):
            write("*")

    sys.addaudithook(hook)
