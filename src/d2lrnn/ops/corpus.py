"""Named texts: one shipped with the package, two downloaded and checked, or a file of your own.

============== =============================================== =================================
name           what                                            where it comes from
============== =============================================== =================================
the-tide-clock a story of 110 kB written for this book (CC0)   inside the package, the default
time-machine   H. G. Wells, *The Time Machine* (1898)          downloaded, 179 kB
ptb            Penn Treebank, Mikolov's 10,000-word edition    downloaded, 2 MB; not redistributed
============== =============================================== =================================

``-`` in place of a name is the standard input. A download goes to the user's cache with `pooch`, which checks its
SHA-256. Set the environment variable ``D2LRNN_DATA`` to a folder that already holds the files, and nothing is
downloaded.
"""

from __future__ import annotations

import errno
import os
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from io import BufferedReader, FileIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

__all__ = ["CORPORA", "DEFAULT_CORPUS", "CorpusError", "load_corpus", "read_chunks"]

DEFAULT_CORPUS = "the-tide-clock"


class CorpusError(RuntimeError):
    """A text is not available, or is not what it should be. The message says what to do."""


@dataclass(frozen=True)
class RemoteFile:
    """A file on the network: its name, address and SHA-256; for an archive, its members by split."""

    filename: str
    url: str
    sha256: str
    members: tuple[tuple[str, str], ...] = ()

    @property
    def splits(self) -> tuple[str, ...]:
        return tuple(split for split, _ in self.members)


# The addresses are those that Dive into Deep Learning's own loaders use.
_REMOTE: dict[str, RemoteFile] = {
    "time-machine": RemoteFile(
        filename="timemachine.txt",
        url="https://d2l-data.s3-accelerate.amazonaws.com/timemachine.txt",
        sha256="8424dbd9532ac81f7e5f0b6add90e6952baea29158309d7d1bf3884f4e12c516",
    ),
    "ptb": RemoteFile(
        filename="ptb.zip",
        url="https://d2l-data.s3-accelerate.amazonaws.com/ptb.zip",
        sha256="310d8f602882a5716613815ed75596e5764ea84ed04c5630eebaaf2b943ec5aa",
        members=(
            ("train", "ptb/ptb.train.txt"),
            ("valid", "ptb/ptb.valid.txt"),
            ("test", "ptb/ptb.test.txt"),
        ),
    ),
}

CORPORA: tuple[str, ...] = (DEFAULT_CORPUS, *_REMOTE)


def load_corpus(name: str | os.PathLike[str] = DEFAULT_CORPUS, split: str | None = None) -> str:
    """The raw text of a named corpus, or of a file of your own.

    Parameters
    ----------
    name : str or path
        One of :data:`CORPORA`; or the path of a UTF-8 text file; or ``"-"``, the standard input. A name wins over a
        file of the same name; write ``./ptb`` to mean the file.
    split : str, optional
        For ``"ptb"`` only: ``"train"`` (the default), ``"valid"`` or ``"test"``.

    Returns
    -------
    str
        The text as it stands in the file, with ``\\n`` line ends.

    Raises
    ------
    CorpusError
        If the file cannot be found, downloaded, verified or decoded, or is empty. A failed download leaves nothing
        behind.
    ValueError
        If `split` is not one that the corpus has.

    Examples
    --------
    >>> text = load_corpus()
    >>> text.splitlines()[0], len(text)
    ('The Tide Clock', 109747)
    """
    if isinstance(name, str) and name in CORPORA:
        return _load_named(name, split)
    if split is not None:
        raise ValueError(f"split={split!r} was given, but only the corpus 'ptb' comes in splits.")
    if name == "":  # a Path of nothing is the folder in which we are
        raise CorpusError(
            f"The name of the text is empty. The named corpora are {', '.join(map(repr, CORPORA))}; anything else is "
            "taken as a path."
        )
    return _read_text(Path(name).expanduser())


def _load_named(name: str, split: str | None) -> str:
    remote = _REMOTE.get(name)
    splits = remote.splits if remote else ()
    if split is not None and split not in splits:
        expected = f"one of {', '.join(map(repr, splits))}" if splits else "left out: this corpus has no splits"
        raise ValueError(f"split={split!r} is not known for the corpus {name!r}; it must be {expected}.")
    if remote is None:
        return resources.files("d2lrnn").joinpath("data", f"{name}.txt").read_text(encoding="utf-8")
    path = _locate(name, remote)
    if not remote.members:
        return _read_text(path)
    with zipfile.ZipFile(path) as archive:
        return archive.read(dict(remote.members)[split or splits[0]]).decode("utf-8")


def _locate(name: str, remote: RemoteFile) -> Path:
    """Path of a verified copy: in D2LRNN_DATA, in the cache, or freshly downloaded."""
    import pooch  # 0.1 s, and only downloads need it

    folder = os.environ.get("D2LRNN_DATA")
    if folder and (path := Path(folder).expanduser() / remote.filename).is_file():
        if not pooch.hashes.hash_matches(path, f"sha256:{remote.sha256}"):
            raise CorpusError(
                f"{path} is not the file that the corpus {name!r} needs: its SHA-256 is not {remote.sha256}. "
                "Replace it by the original, or unset D2LRNN_DATA to download it."
            )
        return path
    try:
        return Path(
            pooch.retrieve(
                remote.url,
                known_hash=f"sha256:{remote.sha256}",
                fname=remote.filename,
                path=pooch.os_cache("d2lrnn"),
                downloader=pooch.HTTPDownloader(timeout=30, progressbar=False),
            )
        )
    except Exception as error:  # requests, urllib3, pooch and the file system each raise their own
        raise CorpusError(
            f"The corpus {name!r} could not be downloaded from {remote.url} ({type(error).__name__}: {error}). "
            "Nothing was kept. Try again when the network is there; or put the file "
            f"{remote.filename} into a folder and name that folder in the environment variable D2LRNN_DATA; or use "
            f"{DEFAULT_CORPUS!r}, which needs no network."
        ) from error


def read_chunks(
    path: str | os.PathLike[str], chunk_chars: int = 1 << 20, watch: Callable[[memoryview], object] | None = None
) -> Iterator[str]:
    """The text of a UTF-8 file in pieces, so that no more than a piece is ever in memory.

    A character of several bytes and a line end of two are never torn apart; a byte-order mark is no text.

    Parameters
    ----------
    path : str or path
        ``"-"`` is the standard input.
    chunk_chars : int, default 2**20
        Characters in a piece; the last one may have fewer.
    watch : callable, optional
        Is shown every block of bytes in the order of the file, for a hash or a progress bar.

    Yields
    ------
    str
        Joined, they are the text with ``\\n`` line ends.

    Raises
    ------
    CorpusError
        If the file cannot be read, or is not UTF-8.
    ValueError
        If `chunk_chars` is below 1.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tide.txt"
    >>> _ = path.write_text("the tide")
    >>> list(read_chunks(path, chunk_chars=3))
    ['the', ' ti', 'de']
    """
    if chunk_chars < 1:
        raise ValueError(f"chunk_chars is {chunk_chars}; it must be at least 1.")
    path = Path(path)
    try:
        with _Watched(path, watch) as raw, TextIOWrapper(_Counted(raw, 1 << 16), encoding="utf-8-sig") as file:
            while chunk := _read_decoded(file, chunk_chars, path):
                yield chunk
    except FileNotFoundError:
        raise CorpusError(
            f"There is no corpus and no file called {str(path)!r}. "
            f"The named corpora are {', '.join(map(repr, CORPORA))}; anything else is taken as a path."
        ) from None
    except OSError as error:
        name, hint = str(path), ""
        if error.errno == errno.ENAMETOOLONG:
            name, hint = f"{name[:40]}…", " To pass a text itself, use d2lrnn.text.encode_text(text)."
        raise CorpusError(f"{name!r} cannot be read as a text file: {error.strerror}.{hint}") from error


def _read_decoded(file: TextIOWrapper[_Counted], chunk_chars: int, path: Path) -> str:
    try:
        return file.read(chunk_chars)
    except UnicodeDecodeError as error:
        # The decoder counts from the start of its own block, which ends where the file has been read to.
        place = file.buffer.num_bytes - len(error.object) + error.start
        raise CorpusError(
            f"{_name_of(path)} is not UTF-8 text (byte {place} is {error.object[error.start]:#04x}). "
            "Save it as UTF-8 and try again."
        ) from error


class _Watched(FileIO):
    """A file that shows what is read from it."""

    def __init__(self, path: Path, watch: Callable[[memoryview], object] | None) -> None:
        stdin = path == Path("-")
        super().__init__(0 if stdin else path, closefd=not stdin)
        self._watch = watch

    def readinto(self, buffer: Buffer) -> int | None:
        size = super().readinto(buffer)
        if size and self._watch is not None:
            self._watch(memoryview(buffer)[:size])
        return size


class _Counted(BufferedReader):
    """A buffer that counts the bytes handed on: a pipe does not know its position."""

    num_bytes = 0

    def read1(self, size: int = -1) -> bytes:
        block = super().read1(size)
        self.num_bytes += len(block)
        return block


def _name_of(path: Path) -> str:
    return "The standard input" if path == Path("-") else repr(str(path))


def empty(path: str | os.PathLike[str]) -> CorpusError:
    return CorpusError(f"{_name_of(Path(path))} is empty; a corpus needs at least a few words.")


def _read_text(path: Path) -> str:
    text = "".join(read_chunks(path))
    if not text.strip():
        raise empty(path)
    return text
