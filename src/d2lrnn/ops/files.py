"""Files that are there whole or not at all: write beside the target, force it to the disk, then put it in its place."""

from __future__ import annotations

import contextlib
import glob
import math
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

__all__ = ["finite", "replacing"]

#: a part that nobody has written to for so long belongs to a process that was killed
_ABANDONED_SECONDS = 3600


def finite(value: float) -> float | None:
    """A number as a JSON file can hold it: None for what is not finite.

    Examples
    --------
    >>> finite(2.5), finite(float("inf"))
    (2.5, None)
    """
    return value if math.isfinite(value) else None


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Write a file that takes the place of `path` only when all of it is on the disk.

    Until then whatever stood at `path` stays as it was: a full disk, an error or a loss of power in the middle costs
    the new version, never the last good one.

    Parameters
    ----------
    path : str or path
        Its folder must exist. Of a symbolic link the file is replaced that it leads to, and the link stays. The new
        file has the mode of the one before.

    Yields
    ------
    binary file
        Open for writing, in the same folder (only within one file system can a file be renamed in one go). It is
        removed if the block is left by an exception; after a ``kill -9`` it may stay, and is swept away by a later
        call.

    Raises
    ------
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tide.txt"
    >>> with replacing(path) as file:
    ...     _ = file.write(b"low")
    >>> path.read_bytes(), [other.name for other in path.parent.iterdir()]
    (b'low', ['tide.txt'])
    """
    path = Path(path).resolve()
    for other in path.parent.glob(f"{glob.escape(path.name)}.{'[0-9a-f]' * 16}.part"):
        with contextlib.suppress(OSError):  # another process may just have done the same
            if time.time() - other.stat().st_mtime > _ABANDONED_SECONDS:
                other.unlink()
    # Drawn at random: in containers that share a disk the numbers of processes are equal. (A file made by `tempfile`
    # would be closed to everybody else.)
    part = path.with_name(f"{path.name}.{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as file:
            with contextlib.suppress(FileNotFoundError):
                shutil.copymode(path, part)  # at once: what only its owner could read, nobody else reads now
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    # The new name is an entry of the folder, and reaches the disk with it. Windows has no such call and needs none.
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
