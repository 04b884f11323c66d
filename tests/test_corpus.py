"""The embedded text, the real downloads where they are at hand, and downloads that go wrong."""

from __future__ import annotations

import hashlib
import http.server
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

import d2lrnn as d
from d2lrnn.ops import corpus

BODY = b"one two three\n" * 500


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/missing":
            self.send_error(404)
            return
        body = BODY.replace(b"two", b"too") if self.path == "/tampered" else BODY
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if self.path == "/truncated" else body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()
        thread.join()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty user cache, and no folder of ready files."""
    import pooch

    folder = tmp_path / "cache"
    monkeypatch.delenv("D2LRNN_DATA", raising=False)
    monkeypatch.setattr(pooch, "os_cache", lambda project: folder)
    return folder


def _offer(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    remote = corpus.RemoteFile("time.txt", url, hashlib.sha256(BODY).hexdigest())
    monkeypatch.setitem(corpus._REMOTE, "time-machine", remote)


def test_embedded_corpus_needs_nothing(cache: Path) -> None:
    text = d.load_corpus()
    assert text == d.load_corpus("the-tide-clock")
    assert hashlib.sha256(text.encode()).hexdigest().startswith("a19164ce8b5afa68")
    assert not cache.exists()


def test_download_once_then_from_cache(server: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _offer(monkeypatch, f"{server}/good")
    assert d.load_corpus("time-machine") == BODY.decode()
    assert [p.name for p in cache.iterdir()] == ["time.txt"]
    _offer(monkeypatch, f"{server}/missing")  # the network is gone; the cache is not
    assert d.load_corpus("time-machine") == BODY.decode()


@pytest.mark.parametrize("fault", ["missing", "truncated", "tampered"])
def test_failed_download_leaves_nothing(fault: str, server: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _offer(monkeypatch, f"{server}/{fault}")
    with pytest.raises(d.ops.corpus.CorpusError, match="D2LRNN_DATA"):
        d.load_corpus("time-machine")
    assert [p for p in cache.rglob("*") if p.is_file()] == []


def test_no_network_at_all(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _offer(monkeypatch, "http://127.0.0.1:9/nobody-listens")
    with pytest.raises(d.ops.corpus.CorpusError, match="the-tide-clock"):
        d.load_corpus("time-machine")


def test_damaged_cache_is_replaced(server: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.mkdir()
    (cache / "time.txt").write_bytes(b"damaged")
    _offer(monkeypatch, f"{server}/good")
    assert d.load_corpus("time-machine") == BODY.decode()


def test_data_folder_comes_first_and_is_checked(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("D2LRNN_DATA", str(tmp_path))
    _offer(monkeypatch, "http://127.0.0.1:9/nobody-listens")
    (tmp_path / "time.txt").write_bytes(BODY)
    assert d.load_corpus("time-machine") == BODY.decode()
    (tmp_path / "time.txt").write_bytes(BODY + b"x")
    with pytest.raises(d.ops.corpus.CorpusError, match="SHA-256"):
        d.load_corpus("time-machine")
    assert not cache.exists()


def test_real_time_machine(data_folder: Path) -> None:
    text = d.load_corpus("time-machine")
    assert len(text.encode()) == 178_979
    assert len(text.splitlines()) == 3_221
    assert len(d.normalize(text).split()) == 32_775
    # the counts that Dive into Deep Learning's newer edition prints
    assert len(d.normalize(text)) == 173_428
    data = d.load_text("time-machine", unk_token="<unk>")
    assert len(data.vocab) == 28
    assert len(data.train_ids) + len(data.heldout_ids) == 173_428


def test_real_ptb(data_folder: Path) -> None:
    words = d.load_corpus("ptb").replace("\n", "<eos>").split()
    assert len(words) == 929_589
    assert len(set(words)) == 10_000
    assert len(set(words[:1000])) == 418  # the vocabulary of Deep Learning from Scratch 2's experiment
    assert (
        len(d.load_corpus("ptb", split="valid")) < len(d.load_corpus("ptb", split="test")) < len(d.load_corpus("ptb"))
    )


def test_own_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(b"\xef\xbb\xbfA text\r\nof my own\r\n")  # byte-order mark, Windows line ends
    assert d.load_corpus(path) == d.load_corpus(str(path)) == "A text\nof my own\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "empty"), (b" \n\t ", "empty"), (b"caf\xe9", "not UTF-8")],
)
def test_unusable_file(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(content)
    with pytest.raises(d.ops.corpus.CorpusError, match=message):
        d.load_corpus(path)


def test_the_standard_input() -> None:
    """Through a pipe, which can be read only once and does not know its position."""
    code = "from d2lrnn.ops.corpus import load_corpus; print(ascii(load_corpus('-')))"
    read = partial(subprocess.run, [sys.executable, "-c", code], capture_output=True)
    assert read(input=b"\xef\xbb\xbfl\xc3\xb6w\r\ntide\n").stdout.split() == [b"'l\\xf6w\\ntide\\n'"]
    assert b"The standard input is empty" in read(input=b" \n").stderr
    wrong = b"a" * 200_000 + b"\xff" + b"b" * 100_000
    assert b"The standard input is not UTF-8 text (byte 200000 is 0xff)" in read(input=wrong).stderr


def test_neither_a_name_nor_a_file(tmp_path: Path) -> None:
    with pytest.raises(d.ops.corpus.CorpusError, match=r"the-tide-clock.*time-machine.*ptb"):
        d.load_corpus("the-tied-clock")
    with pytest.raises(d.ops.corpus.CorpusError, match=r"name of the text is empty.*the-tide-clock"):
        d.load_text("")
    with pytest.raises(d.ops.corpus.CorpusError, match="cannot be read"):
        d.load_corpus(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(d.ops.corpus.CorpusError, match="cannot be read"):
        d.load_corpus(tmp_path / "file" / "inside")
    with pytest.raises(d.ops.corpus.CorpusError, match=r"'(the tide ){4}the …' cannot .*encode_text") as caught:
        d.load_corpus("the tide " * 1000)
    assert len(str(caught.value)) < 200
    with pytest.raises(ValueError, match="chunk_chars is 0"):
        next(d.ops.corpus.read_chunks(tmp_path / "file", chunk_chars=0))


def test_unknown_split() -> None:
    for name, split in [("ptb", "dev"), ("time-machine", "train"), ("the-tide-clock", "train"), ("mine.txt", "train")]:
        with pytest.raises(ValueError, match="split"):
            d.load_corpus(name, split=split)
