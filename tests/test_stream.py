"""A text that is streamed is the text that is read at once: index by index, whatever the pieces, in constant memory."""

from __future__ import annotations

import errno
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import d2lrnn as d
from d2lrnn.ops.corpus import read_chunks
from d2lrnn.ops.stream import ChunkNormalizer, ids_fingerprint
from d2lrnn.text import count_left_out

# Letters of one to four bytes, capitals whose small letter depends on the neighbours or is two characters long (the
# Kelvin sign's is a plain k), line ends of all kinds, white space that only some functions take for it, a byte-order
# mark in the middle.
TEXT = (
    "The Tide -- a STORY.\r\n\r\nΠΆΓΣ Σ, İstanbul \u212aELVIN \u017ftraße \ufeff 潮の満ち引き 🌊🌊 "
    "naïve\rTab\there\u00a0and\u2028there\x1cnow;\n   low TIDE, high tide...  the end 1234 \r\n"
) * 7


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "tide.txt"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    return path


def assert_same(streamed: d.ops.stream.StreamedText, loaded: d.EncodedText) -> None:
    assert streamed.vocab.tokens == loaded.vocab.tokens
    assert streamed.vocab.token_freqs == loaded.vocab.token_freqs
    assert streamed.vocab.unk_token == loaded.vocab.unk_token
    assert torch.equal(streamed.train_ids.long(), loaded.train_ids)
    assert torch.equal(streamed.heldout_ids.long(), loaded.heldout_ids)


@pytest.mark.parametrize("chunk_chars", [1, 2, 3, 7, 64, 1 << 20])
@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("level", ["char", "word"])
def test_streamed_equals_loaded(path: Path, chunk_chars: int, clean: bool, level: str) -> None:
    streamed = d.ops.stream.stream_text(path, level, clean=clean, chunk_chars=chunk_chars, heldout_fraction=0.3)
    assert_same(streamed, d.load_text(path, level, clean=clean, heldout_fraction=0.3))
    assert streamed.train_ids.dtype == torch.uint8


@pytest.mark.parametrize("level", ["char", "word"])
def test_rare_tokens_give_way_to_the_unknown_one(path: Path, level: str) -> None:
    path.write_text("a rare word, a raw tide: <unk> " + "a tide " * 9, encoding="utf-8")
    settings = {"min_freq": 3, "unk_token": "<unk>", "clean": False}
    streamed = d.ops.stream.stream_text(path, level, chunk_chars=5, **settings)
    assert_same(streamed, d.load_text(path, level, **settings))
    assert (streamed.train_ids == 0).any()


def test_normalising_by_pieces_is_normalising_the_whole() -> None:
    chance = random.Random(1)
    letters = [*"abzAZ  -\n.", "Σ", "İ", "\u212a", "ß", "🌊"]
    for _ in range(300):
        text = "".join(chance.choices(letters, k=chance.randrange(40)))
        cuts = sorted(chance.randrange(len(text) + 1) for _ in range(chance.randrange(8)))
        clean = ChunkNormalizer()
        pieces = [clean(text[a:b]) for a, b in zip([0, *cuts], [*cuts, len(text)])]
        assert "".join(pieces) == d.normalize(text), (text, cuts)


def test_no_character_is_lowered_by_its_neighbours_into_a_letter_that_stays() -> None:
    """What makes pieces safe: between others, each code point leaves behind what it leaves alone."""
    characters = [chr(code) for code in range(sys.maxunicode + 1)]
    assert d.normalize("q".join(characters)) == "q".join(map(d.normalize, characters))


@pytest.mark.parametrize(
    ("num_characters", "dtype"), [(256, torch.uint8), (257, torch.uint16), (65536, torch.uint16), (65537, torch.int32)]
)
def test_an_index_takes_as_few_bytes_as_needed(path: Path, num_characters: int, dtype: torch.dtype) -> None:
    alphabet = [chr(code) for code in range(33, 100_000) if chr(code).isprintable() and not 0xD800 <= code < 0xE000]
    text = "".join(alphabet[:num_characters])
    path.write_text(text, encoding="utf-8")
    streamed = d.ops.stream.stream_text(path, clean=False, heldout_fraction=0)
    assert len(streamed.vocab) == num_characters and streamed.train_ids.dtype == dtype
    assert streamed.vocab.decode(streamed.train_ids) == text
    assert 0 < streamed.ids_path.stat().st_size - num_characters * streamed.train_ids.element_size() <= 128
    assert np.load(streamed.ids_path).tolist() == streamed.train_ids.tolist()


def test_a_text_of_many_characters_trains(path: Path) -> None:
    path.write_text("".join(map(chr, range(0x4E00, 0x4E00 + 300))) * 3, encoding="utf-8")
    streamed = d.ops.stream.stream_text(path, clean=False)
    assert streamed.train_ids.dtype == streamed.heldout_ids.dtype == torch.uint16
    model = d.RNNLM(d.RNNScratch(300, 4), 300)
    windows = d.RandomWindows(streamed.train_ids, 4, 8)
    history = d.fit(model, windows, updates=2, lr=0.1, heldout_ids=streamed.heldout_ids, progress=False)
    assert len(history.step_losses) == 2
    with pytest.raises(ValueError, match="the tokens 0 to 298"):
        d.evaluate(d.RNNLM(d.RNNScratch(299, 4), 299), streamed.train_ids)


def test_both_samplers_and_the_score_take_mapped_indices(path: Path) -> None:
    streamed, loaded = d.ops.stream.stream_text(path), d.load_text(path)
    for make in (
        lambda ids: d.SequentialWindows(ids, 3, 5),
        lambda ids: d.RandomWindows(ids, 3, 5, generator=torch.Generator().manual_seed(2)),
    ):
        for mapped, plain in zip(make(streamed.train_ids), make(loaded.train_ids), strict=True):
            assert mapped[0].dtype == mapped[1].dtype == torch.int64
            assert torch.equal(mapped[0], plain[0]) and torch.equal(mapped[1], plain[1])
    vocab_size = len(loaded.vocab)
    model = d.RNNLM(d.RNNScratch(vocab_size, 4), vocab_size)
    assert d.evaluate(model, streamed.heldout_ids) == d.evaluate(model, loaded.heldout_ids)


def test_the_fingerprint_is_of_the_indices_and_not_of_their_type(path: Path) -> None:
    streamed, loaded = d.ops.stream.stream_text(path, clean=True), d.load_text(path, clean=True)
    whole = torch.cat([loaded.train_ids, loaded.heldout_ids])
    assert ids_fingerprint(whole, len(loaded.vocab)) == streamed.manifest.ids_sha256
    whole[5] += 1
    assert ids_fingerprint(whole, len(loaded.vocab)) != streamed.manifest.ids_sha256


def test_two_ways_to_read_a_text_lie_side_by_side(path: Path, encodings: SimpleNamespace) -> None:
    ways = [{"min_freq": n, "unk_token": "<unk>", "clean": clean} for n in (2, 3) for clean in (True, False)]
    first = [d.ops.stream.stream_text(path, **way) for way in ways]
    assert len({text.ids_path for text in first}) == encodings.count == 4
    for way, text in zip(ways, first):
        again = d.ops.stream.stream_text(path, **way)
        assert again.ids_path == text.ids_path
        assert_same(again, d.load_text(path, **way))
    assert encodings.count == 4


def test_words_are_those_of_the_training_part(path: Path, encodings: SimpleNamespace) -> None:
    for heldout in (0.5, 0.1, 0):
        streamed = d.ops.stream.stream_text(path, "word", heldout_fraction=heldout, chunk_chars=9)
        assert_same(streamed, d.load_text(path, "word", heldout_fraction=heldout))
        assert ("<unk>" in streamed.vocab) == (heldout > 0)
    assert encodings.count == 3, "another split is another vocabulary"


def test_what_cleaning_left_out_is_in_the_manifest(path: Path) -> None:
    text = d.load_corpus(path)
    manifest = d.ops.stream.stream_text(path, clean=True, chunk_chars=5).manifest
    assert manifest.num_chars == len(text) and manifest.left_out == dict(count_left_out(text))
    assert next(iter(manifest.left_out)) == max(manifest.left_out, key=manifest.left_out.get)
    assert d.ops.stream.stream_text(path).manifest.left_out == {}


def test_a_limit_of_the_vocabulary(path: Path) -> None:
    for level in ("char", "word"):
        streamed = d.ops.stream.stream_text(path, level, max_vocab=9)
        assert_same(streamed, d.load_text(path, level, max_vocab=9))
        assert len(streamed.vocab) == 9 and streamed.vocab.unk_token == "<unk>"


@pytest.fixture
def encodings(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """How often a text was really read."""
    from d2lrnn.ops import stream

    seen, encode = SimpleNamespace(count=0), stream._encode

    def counting(*arguments: object) -> object:
        seen.count += 1
        return encode(*arguments)

    monkeypatch.setattr(stream, "_encode", counting)
    return seen


def test_a_second_call_finds_the_indices(path: Path, encodings: SimpleNamespace) -> None:
    first = d.ops.stream.stream_text(path)
    again = d.ops.stream.stream_text(path, heldout_fraction=0.5)  # the split is not in the files
    assert encodings.count == 1 and again.manifest == first.manifest
    assert len(again.heldout_ids) > len(first.heldout_ids)
    os.utime(path, (1, 1))  # another time, the same text
    d.ops.stream.stream_text(path)
    assert encodings.count == 1
    assert json.loads(Path(f"{first.ids_path}.json").read_text(encoding="utf-8"))["source_mtime_ns"] == 10**9


@pytest.mark.parametrize(
    "change", ["text", "same length", "cut ids", "other ids", "cut manifest", "no manifest", "newer", "min_freq"]
)
def test_whatever_no_longer_fits_is_made_anew(path: Path, encodings: SimpleNamespace, change: str) -> None:
    ids_path = d.ops.stream.stream_text(path).ids_path
    manifest, settings = Path(f"{ids_path}.json"), {}
    content = path.read_bytes()
    match change:
        case "text":
            path.write_bytes(content + b" and more")
        case "same length":
            path.write_bytes(content.replace(b"Tide", b"Ebbs"))
            os.utime(path, (2, 2))
        case "cut ids":
            ids_path.write_bytes(ids_path.read_bytes()[:-1])
        case "other ids":  # as many of the same type
            ids = np.load(ids_path)
            np.save(ids_path, ids[::-1])
        case "cut manifest":
            manifest.write_bytes(manifest.read_bytes()[:-9])
        case "no manifest":
            manifest.unlink()
        case "newer":
            manifest.write_text(json.dumps(json.loads(manifest.read_text("utf-8")) | {"version": 3}), "utf-8")
        case "min_freq":
            settings = {"min_freq": 2, "unk_token": "<unk>"}
    assert_same(d.ops.stream.stream_text(path, **settings), d.load_text(path, **settings))
    assert encodings.count == 2
    d.ops.stream.stream_text(path, **settings)
    assert encodings.count == 2


def test_another_folder_and_an_unwritable_one(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "ids" / "here"
    ids_path = d.ops.stream.stream_text(path, folder=folder).ids_path
    assert re.fullmatch(r"tide\.txt\.char\.[0-9a-f]{8}\.npy", ids_path.name)
    assert sorted(folder.iterdir()) == [ids_path, Path(f"{ids_path}.json")]
    with pytest.raises(d.ops.corpus.CorpusError, match="could not be written"):
        d.ops.stream.stream_text(path, folder=path)  # a file where a folder should be


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \r\n\t ", "is empty"),
        (b"a" * 70_000 + b"caf\xe9 ", r"is not UTF-8 text \(byte 70003 is 0xe9\)"),
        (b"\xef\xbb\xbfcaf\xe9 ", r"is not UTF-8 text \(byte 6 is 0xe9\)"),
        ("wave 🌊".encode()[:-1], r"is not UTF-8 text \(byte 5 is 0xf0\)"),
    ],
)
@pytest.mark.parametrize("read", [d.ops.stream.stream_text, d.load_text])
def test_texts_that_cannot_be_used(path: Path, content: bytes, message: str, read: object) -> None:
    path.write_bytes(content)
    with pytest.raises(d.ops.corpus.CorpusError, match=message):
        read(path)
    assert [p.name for p in path.parent.iterdir()] == ["tide.txt"]


def test_paths_and_settings_that_cannot_be_used(path: Path, tmp_path: Path) -> None:
    with pytest.raises(d.ops.corpus.CorpusError, match="no file called"):
        d.ops.stream.stream_text(tmp_path / "none.txt")
    with pytest.raises(d.ops.corpus.CorpusError, match="cannot be read as a text file: Is a directory"):
        d.ops.stream.stream_text(tmp_path)
    with pytest.raises(ValueError, match="heldout_fraction is 1"):
        d.ops.stream.stream_text(path, heldout_fraction=1)
    with pytest.raises(ValueError, match="level is 'line'"):
        d.ops.stream.stream_text(path, "line")
    with pytest.raises(ValueError, match="chunk_chars is 0"):
        d.ops.stream.stream_text(path, chunk_chars=0)
    with pytest.raises(ValueError, match="pass unk_token"):
        d.ops.stream.stream_text(path, min_freq=10**9)
    path.write_text("潮 の 満ち引き", encoding="utf-8")
    with pytest.raises(ValueError, match="Nothing is left of"):
        d.ops.stream.stream_text(path, clean=True)
    assert [p.name for p in path.parent.iterdir()] == ["tide.txt"]


def test_a_disk_that_fills_up_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(d.ops.corpus.CorpusError, match=r"could not be written to .*No space left on device"):
        d.ops.stream.stream_text(path)
    assert [p.name for p in path.parent.iterdir()] == ["tide.txt"]


def test_a_text_that_changes_while_it_is_read_is_noticed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from d2lrnn.ops import stream

    def growing(*arguments: object) -> object:
        yield from read_chunks(*arguments)
        with path.open("ab") as file:
            file.write(b" more")

    monkeypatch.setattr(stream, "read_chunks", growing)
    with pytest.raises(d.ops.corpus.CorpusError, match="was changed while it was read"):
        d.ops.stream.stream_text(path)
    assert [p.name for p in path.parent.iterdir()] == ["tide.txt"]


PEAK = """
import resource, sys
import d2lrnn as d
text = d.ops.stream.stream_text(sys.argv[1])
print(len(text.train_ids) + len(text.heldout_ids), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss counts in other units elsewhere")
def test_ten_times_the_text_takes_no_more_memory(path: Path) -> None:
    """The greatest resident size while encoding 5 MB and 50 MB: the same to 8 MB, one sixth of what is added."""
    peaks, text = [], d.load_corpus()
    for size in (5_000_000, 50_000_000):
        with path.open("w", encoding="utf-8") as file:
            for _ in range(size // len(text)):
                file.write(text)
        done = subprocess.run([sys.executable, "-c", PEAK, path], capture_output=True, text=True, check=True)
        num_tokens, peak_kib = map(int, done.stdout.split())
        assert num_tokens > 0.9 * size
        peaks.append(peak_kib)
    assert peaks[1] - peaks[0] < 8 * 1024, peaks
