"""Texts larger than memory: encoded once, a piece at a time, to a file of token indices that is then mapped.

Two files come beside the text (or into a folder of your choice), and are used again as long as they fit it:

    novel.txt.char.3f9a01c2.npy         the indices, 1, 2 or 4 bytes each: `numpy.load` reads it
    novel.txt.char.3f9a01c2.npy.json    the manifest: vocabulary and counts, settings, size, time and SHA-256

The letters and digits in the name stand for the settings, so that texts read in two ways do not get in each other's
way. The text is read twice, first to count its tokens and then to encode them (words three times: first to learn where
the training part ends). What is in memory is one piece of it, the vocabulary and, for characters, a table over all of
Unicode (some 10 MB).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from d2lrnn.ops.corpus import CorpusError, empty, read_chunks
from d2lrnn.ops.files import replacing
from d2lrnn.text import (
    EncodedText,
    Level,
    Vocab,
    build_vocab,
    check_heldout_fraction,
    count_left_out,
    is_cleaned,
    normalize,
    nothing_left,
    tokenize,
)

__all__ = ["ChunkNormalizer", "Manifest", "StreamedText", "ids_fingerprint", "stream_text"]

_FORMAT = "d2lrnn token indices"
_VERSION = 2
_SAMPLES, _SAMPLE_TOKENS = 64, 1 << 16  # of a file of indices, hashed whenever it is opened
_UNICODE = 0x110000  # code points that there are
#: every byte of ASCII as `normalize` has it: small letters, and spaces for the rest
_ASCII_LETTERS = bytes(ord(chr(code).lower()) if chr(code).isalpha() else ord(" ") for code in range(128)).ljust(256)


@dataclass(frozen=True)
class Manifest:
    """What a file of token indices was made from, and how.

    Attributes
    ----------
    format, version : str, int
        Of the manifest itself.
    source_bytes, source_mtime_ns, source_sha256 : int, int, str
        The text file when it was encoded.
    settings : dict
        Those of :func:`stream_text` that decide which indices there are.
    num_tokens, num_chars : int
        Of the whole text.
    left_out : dict of str to int
        The characters that cleaning left out, most frequent first.
    ids_sha256, sample_sha256 : str
        Of all indices, and of pieces spread over them.
    token_freqs : list of [str, int]
        The vocabulary with its counts, most frequent first.
    unk_token : str or None
    """

    source_bytes: int
    source_mtime_ns: int
    source_sha256: str
    settings: dict[str, Any]
    num_tokens: int
    num_chars: int
    left_out: dict[str, int]
    ids_sha256: str
    sample_sha256: str
    token_freqs: list[list[Any]]  # (token, count)
    unk_token: str | None
    format: str = _FORMAT
    version: int = _VERSION

    @property
    def vocab(self) -> Vocab:
        return Vocab({token: count for token, count in self.token_freqs}, unk_token=self.unk_token)


@dataclass(frozen=True, repr=False)
class StreamedText(EncodedText):
    """An :class:`EncodedText` whose indices lie in a file and come into memory as they are read.

    Both parts are read-only views of one memory map, of dtype uint8, uint16 or int32.

    Attributes
    ----------
    manifest : Manifest
    ids_path : Path
    """

    manifest: Manifest
    ids_path: Path


class ChunkNormalizer:
    """:func:`d2lrnn.normalize`, a piece at a time: joined, the results are what the whole text gives.

    Examples
    --------
    >>> clean = ChunkNormalizer()
    >>> [clean(piece) for piece in ("Low -", "- TI", "de, 6", " a.m.")]
    ['low ', 'ti', 'de ', 'a m ']
    """

    def __init__(self) -> None:
        self._ends_in_space = False

    def __call__(self, chunk: str) -> str:
        text = _normalize_ascii(chunk) if chunk.isascii() else normalize(chunk)
        # A space stands for a whole run of other characters, and a run may go on in the next piece.
        if self._ends_in_space and text.startswith(" "):
            text = text[1:]
        if text:
            self._ends_in_space = text.endswith(" ")
        return text


def _normalize_ascii(chunk: str) -> str:
    """`normalize` at several times its speed, which for gigabytes is the difference of minutes."""
    letters = np.frombuffer(chunk.encode("ascii").translate(_ASCII_LETTERS), dtype=np.uint8)
    keep = letters != ord(" ")
    keep[1:] |= keep[:-1].copy()  # the first space of a run, too
    keep[:1] = True
    return letters[keep].tobytes().decode("ascii")


def stream_text(
    path: str | os.PathLike[str],
    level: Level = "char",
    *,
    heldout_fraction: float = 0.1,
    clean: bool | None = None,
    min_freq: int = 1,
    max_vocab: int | None = None,
    unk_token: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    chunk_chars: int = 1 << 20,
    progress: bool = False,
) -> StreamedText:
    """Read, normalise, tokenize, encode and split a text file of any size, with a few dozen megabytes of memory.

    Vocabulary, indices and split are those of :func:`d2lrnn.load_text`, index by index. The first call writes the
    indices to a file; later ones find it and take no time, as long as the text and the settings are the same.

    Parameters
    ----------
    path : str or path
        A UTF-8 text file.
    level : "char" or "word"
        With words the vocabulary is what takes memory, and it grows with the text: see `min_freq`.
    heldout_fraction, clean, min_freq, max_vocab, unk_token
        As in :func:`d2lrnn.load_text`.
    folder : str or path, optional
        Where the indices and their manifest go; the folder of the text if left out. They take 1, 2 or 4 bytes a token.
    chunk_chars : int, default 2**20
        Characters read at a time; it changes memory and speed, not the result.
    progress : bool, default False
        Show a bar while the text is encoded.

    Returns
    -------
    StreamedText
        Both samplers and :func:`d2lrnn.evaluate` take its parts as they take any ids. They are read-only: writing into
        them ends the process.

    Raises
    ------
    CorpusError
        If the text cannot be read, is empty, or changes while it is read; or if the indices cannot be written. Nothing
        half-written stays.
    ValueError
        If a setting is out of range, or nothing is left after cleaning.

    Notes
    -----
    A time stamp and a size decide whether the text is still the same; if only the stamp is new, the SHA-256 does. An
    epoch of :class:`d2lrnn.RandomWindows` over a text of this size is drawn with ``replacement=True``, which needs no
    memory for the order of the windows.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tide.txt"
    >>> _ = path.write_text("Low tide. High tide!")
    >>> text = stream_text(path, heldout_fraction=0.25)
    >>> text
    <StreamedText: 15 training and 5 held-out tokens, vocabulary of 13>
    >>> text.vocab.decode(text.train_ids), text.train_ids.dtype
    ('Low tide. High ', torch.uint8)
    """
    check_heldout_fraction(heldout_fraction)
    if chunk_chars < 1:
        raise ValueError(f"chunk_chars is {chunk_chars}; it must be at least 1.")
    tokenize("", level)  # raises for an unknown level
    path = Path(path).expanduser()
    folder = path.parent if folder is None else Path(folder).expanduser()
    settings: dict[str, Any] = {
        "level": level,
        "clean": is_cleaned(path, clean),
        # The alphabet is the whole text's, so with characters the split does not change the indices.
        "heldout_fraction": heldout_fraction if level == "word" else None,
        "min_freq": min_freq,
        "max_vocab": max_vocab,
        "unk_token": unk_token,
    }
    digest = hashlib.sha256(json.dumps(settings).encode()).hexdigest()
    ids_path = folder / f"{path.name}.{level}.{digest[:8]}.npy"
    manifest = _find(path, ids_path, settings)
    if manifest is None:
        reader = _Reader(path, level, settings["clean"], chunk_chars)
        with tqdm(unit="B", unit_scale=True, desc="encoding", disable=not progress, leave=False) as bar:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                manifest = _encode(reader, ids_path, settings, heldout_fraction, bar)
            except OSError as error:
                raise CorpusError(
                    f"The token indices could not be written to {str(ids_path)!r} ({error.strerror or error}). "
                    "Name a folder with room for one to four bytes a token."
                ) from error
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        ids = torch.from_numpy(_map(ids_path))
    num_train = len(ids) - round(len(ids) * heldout_fraction)
    return StreamedText(manifest.vocab, ids[:num_train], ids[num_train:], manifest, ids_path)


def ids_fingerprint(ids: torch.Tensor, vocab_size: int) -> str:
    """SHA-256 of token indices in the smallest type that holds the vocabulary: the same for a text however it was read.

    Parameters
    ----------
    ids : integer Tensor, shape (num_tokens,)
    vocab_size : int

    Examples
    --------
    >>> a = ids_fingerprint(torch.tensor([1, 0, 2]), vocab_size=3)
    >>> a == ids_fingerprint(torch.tensor([1, 0, 2], dtype=torch.uint8), vocab_size=3)
    True
    """
    sha256 = hashlib.sha256()
    for block in ids.split(1 << 20):
        sha256.update(block.numpy().astype(_smallest_dtype(vocab_size)).data)
    return sha256.hexdigest()


def _smallest_dtype(vocab_size: int) -> np.dtype:
    for dtype in (np.dtype(np.uint8), np.dtype(np.uint16)):
        if vocab_size - 1 <= np.iinfo(dtype).max:
            return dtype
    return np.dtype(np.int32)


def _manifest_path(ids_path: Path) -> Path:
    return ids_path.with_name(f"{ids_path.name}.json")


class _Reader:
    """A text file as pieces of tokens, as often as one likes, with its SHA-256 after each reading."""

    def __init__(self, path: Path, level: Level, clean: bool, chunk_chars: int) -> None:
        self.path, self.level, self.clean, self.chunk_chars = path, level, clean, chunk_chars

    def text(self, bar: tqdm) -> Iterator[str]:
        sha256, num_chars = hashlib.sha256(), 0
        left_out: Counter[str] = Counter()

        def watch(block: memoryview) -> None:
            sha256.update(block)
            bar.update(len(block))

        normalizer: Callable[[str], str] = ChunkNormalizer() if self.clean else str
        blank = True
        for chunk in read_chunks(self.path, self.chunk_chars, watch):
            blank = blank and chunk.isspace()
            num_chars += len(chunk)
            if self.clean:
                left_out += count_left_out(chunk)
            yield normalizer(chunk)
        if blank:
            raise empty(self.path)
        self.sha256, self.left_out, self.num_chars = sha256.hexdigest(), left_out, num_chars

    def count(self, heldout_fraction: float, bar: tqdm) -> tuple[Counter[str], int]:
        """How often each token of the vocabulary occurs, and how many tokens the text has."""
        if self.level == "word":
            num_tokens = sum(map(len, _words(self.text(bar))))
            num_train = num_tokens - round(num_tokens * heldout_fraction)
            words = chain.from_iterable(_words(self.text(bar)))
            return Counter(islice(words, num_train)), num_tokens
        counts = np.zeros(_UNICODE, dtype=np.int64)
        for text in self.text(bar):
            chunk_counts = np.bincount(_code_points(text))
            counts[: len(chunk_counts)] += chunk_counts
        return Counter({chr(code): int(counts[code]) for code in counts.nonzero()[0]}), int(counts.sum())

    def ids(self, vocab: Vocab, dtype: np.dtype, bar: tqdm) -> Iterator[np.ndarray]:
        if self.level == "word":
            for words in _words(self.text(bar)):
                yield np.array(vocab.encode(words), dtype=dtype)
            return
        table = np.zeros(_UNICODE, dtype=dtype)  # a character that is too rare becomes unk_token, whose index is 0
        for index, token in enumerate(vocab.tokens):
            if len(token) == 1:
                table[ord(token)] = index
        for text in self.text(bar):
            yield table[_code_points(text)]


def _code_points(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le"), dtype="<u4")


def _words(chunks: Iterable[str]) -> Iterator[list[str]]:
    rest = ""  # a word that may go on in the next piece
    for chunk in chunks:
        text = rest + chunk
        words = text.split()
        rest = words.pop() if words and not text[-1].isspace() else ""
        yield words
    yield [rest] if rest else []


def _encode(reader: _Reader, ids_path: Path, settings: dict, heldout_fraction: float, bar: tqdm) -> Manifest:
    # Taken first: should the text change from here on, the next call sees it.
    source = reader.path.stat() if reader.path.is_file() else None
    bar.reset(total=(3 if reader.level == "word" else 2) * source.st_size if source else None)
    counts, num_tokens = reader.count(heldout_fraction, bar)
    if not any(token.strip() for token in counts):
        raise nothing_left(reader.path)
    if source is None:
        raise CorpusError(f"{str(reader.path)!r} is no file that can be read twice. Save the text in one.")
    names = ("min_freq", "max_vocab", "unk_token")
    vocab = build_vocab(counts, reader.level, heldout_fraction, **{name: settings[name] for name in names})
    dtype = _smallest_dtype(len(vocab))
    source_sha256, ids_sha256, num_encoded = reader.sha256, hashlib.sha256(), 0
    changed = CorpusError(f"{str(reader.path)!r} was changed while it was read. Try again when it is complete.")
    # Without its manifest a file of indices counts for nothing: it goes first and comes last.
    _manifest_path(ids_path).unlink(missing_ok=True)
    with replacing(ids_path) as file:
        header = {"descr": dtype.str, "fortran_order": False, "shape": (num_tokens,)}
        np.lib.format.write_array_header_2_0(file, header)
        for ids in reader.ids(vocab, dtype, bar):
            file.write(ids.data)
            ids_sha256.update(ids.data)
            num_encoded += len(ids)
        if (reader.sha256, num_encoded) != (source_sha256, num_tokens):
            raise changed
    manifest = Manifest(
        source_bytes=source.st_size,
        source_mtime_ns=source.st_mtime_ns,
        source_sha256=source_sha256,
        settings=settings,
        num_tokens=num_tokens,
        num_chars=reader.num_chars,
        left_out=dict(reader.left_out.most_common()),
        ids_sha256=ids_sha256.hexdigest(),
        sample_sha256=_sample_sha256(_map(ids_path)),
        token_freqs=[list(pair) for pair in vocab.token_freqs],
        unk_token=vocab.unk_token,
    )
    _write(manifest, ids_path)
    return manifest


def _write(manifest: Manifest, ids_path: Path) -> None:
    with replacing(_manifest_path(ids_path)) as file:
        file.write(json.dumps(asdict(manifest), ensure_ascii=False, indent=1).encode())


def _find(path: Path, ids_path: Path, settings: dict) -> Manifest | None:
    """The manifest of an earlier call, if all that it says still holds."""
    try:
        manifest = Manifest(**json.loads(_manifest_path(ids_path).read_text(encoding="utf-8")))
        source, ids = path.stat(), _map(ids_path)
        fits = (
            (manifest.format, manifest.version) == (_FORMAT, _VERSION)
            and manifest.settings == settings
            and source.st_size == manifest.source_bytes
            and (ids.dtype, ids.shape) == (_smallest_dtype(len(manifest.vocab)), (manifest.num_tokens,))
            and _sample_sha256(ids) == manifest.sample_sha256
        )
    except (OSError, ValueError, TypeError):  # not there, cut off, or of another version: made anew
        return None
    if not fits:
        return None
    if source.st_mtime_ns == manifest.source_mtime_ns:
        return manifest
    with path.open("rb") as file:  # copied or touched, perhaps without a change
        if hashlib.file_digest(file, "sha256").hexdigest() != manifest.source_sha256:
            return None
    manifest = replace(manifest, source_mtime_ns=source.st_mtime_ns)
    with contextlib.suppress(OSError):  # a folder that is not ours to write to costs this check each time, no more
        _write(manifest, ids_path)
    return manifest


def _map(ids_path: Path) -> np.ndarray:
    # Read-only and shared: a private, writable map of a file larger than memory is refused by a careful kernel.
    return np.load(ids_path, mmap_mode="r")


def _sample_sha256(ids: np.ndarray) -> str:
    """SHA-256 of pieces spread from the first index to the last: a tenth of a second for a file of any size."""
    sha256 = hashlib.sha256()
    for start in np.unique(np.linspace(0, max(len(ids) - _SAMPLE_TOKENS, 0), _SAMPLES).astype(int)):
        sha256.update(np.ascontiguousarray(ids[start : start + _SAMPLE_TOKENS]).data)
    return sha256.hexdigest()
