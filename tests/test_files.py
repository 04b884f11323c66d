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
    parts = (f"a[1].txt.{'7' * 16}", f"a[1].txt.{'8' * 16}", f"b.txt.{'7' * 16}", "a[1].txt.2")
    abandoned, alive, foreign, reader = (tmp_path / f"{name}.part" for name in parts)
    for part in (abandoned, alive, foreign, reader):
        part.touch()
    for part in (abandoned, foreign, reader):
        os.utime(part, (0, 0))
    with replacing(path) as file:
        file.write(b"new")
    assert names(tmp_path) == sorted(file.name for file in (path, alive, foreign, reader))


def test_two_processes_of_one_number_do_not_write_into_one_file(tmp_path: Path) -> None:
    """In two containers that share a disk both may well be process 7; here the process is one and the same."""
    path = tmp_path / "tide.txt"
    with replacing(path) as one, replacing(path) as other:
        for file, text in ((one, b"low "), (other, b"high ")):
            file.write(text * 1000)
            file.flush()
        one.write(b"tide")
        assert len(names(tmp_path)) == 2
    assert path.read_bytes() == b"low " * 1000 + b"tide"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right of their own")
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    link = tmp_path / "tide.txt"
    link.symlink_to(folder / "tide.txt")
    for text in (b"first", b"second"):  # the file that the link names is made, then replaced
        with replacing(link) as file:
            file.write(text)
        assert link.is_symlink() and (folder / "tide.txt").read_bytes() == text
    assert names(tmp_path) == ["disk", "tide.txt"] and names(folder) == ["tide.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="rights are a matter of Unix")
def test_the_file_has_the_rights_that_any_new_file_has(tmp_path: Path) -> None:
    (tmp_path / "any").touch()
    with replacing(tmp_path / "tide.txt") as file:
        file.write(b"new")
    assert (tmp_path / "tide.txt").stat().st_mode == (tmp_path / "any").stat().st_mode


@pytest.mark.skipif(sys.platform == "win32", reason="rights are a matter of Unix")
@pytest.mark.parametrize("mode", [0o600, 0o664, 0o444])
def test_a_replaced_file_keeps_its_rights(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "tide.txt"
    path.touch()
    path.chmod(mode)
    with replacing(path) as file:
        file.write(b"new")
        assert [part.stat().st_mode & 0o777 for part in tmp_path.glob("*.part")] == [mode], "not even for a moment"
    assert path.read_bytes() == b"new" and path.stat().st_mode & 0o777 == mode
