"""A file is replaced whole or not at all."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from d2lrnn.ops.files import replacing

# 64 KiB is all that this process may put into one file: the write fails as it does on a full disk, by the kernel.
LIMITED = """
import resource, sys
from d2lrnn.ops.files import replacing
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
with replacing(sys.argv[1]) as file:
    file.write(b"new" * (1 << 16))
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_old_file_stands_until_the_new_one_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "tide.txt"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new" and names(tmp_path) == ["tide.txt"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_an_error_costs_the_new_version_only(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "tide.txt"
    path.write_bytes(b"old")
    with pytest.raises(type(error)), replacing(path) as file:
        file.write(b"ne")
        raise error
    assert path.read_bytes() == b"old" and names(tmp_path) == ["tide.txt"]


def test_an_error_of_the_disk_at_the_very_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems say only at the sync that there was no room."""

    def no_room(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "tide.txt"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(OSError, match="No space left"), replacing(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"old" and names(tmp_path) == ["tide.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are a matter of Unix")
def test_a_write_that_the_kernel_refuses(tmp_path: Path) -> None:
    path = tmp_path / "tide.txt"
    path.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", LIMITED, path], capture_output=True, text=True)
    assert done.returncode == 1 and "File too large" in done.stderr
    assert path.read_bytes() == b"old" and names(tmp_path) == ["tide.txt"]


def test_parts_that_nobody_writes_any_more_are_swept_away(tmp_path: Path) -> None:
    path = tmp_path / "a[1].txt"
    abandoned, alive, foreign = (tmp_path / name for name in ("a[1].txt.7.part", "a[1].txt.8.part", "b.txt.7.part"))
    for part in (abandoned, alive, foreign):
        part.touch()
    for part in (abandoned, foreign):
        os.utime(part, (0, 0))
    with replacing(path) as file:
        file.write(b"new")
    assert names(tmp_path) == ["a[1].txt", "a[1].txt.8.part", "b.txt.7.part"]
