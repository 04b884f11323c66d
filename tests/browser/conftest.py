"""A real Chromium, and the built book over http and from disk."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from chromium import ARGUMENTS, find_chromium

ROOT = Path(__file__).resolve().parent.parent.parent
BOOK = ROOT / "_build" / "html"


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="session")
def book() -> Path:
    if not (BOOK / "index.html").is_file():
        pytest.fail("There is no built book in _build/html: run `make book` first.")
    return BOOK


@pytest.fixture(scope="session")
def addresses(book: Path) -> Iterator[dict[str, str]]:
    """The book's address by scheme: http, from a server on a free port, and file."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_QuietHandler, directory=str(book))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield {"http": f"http://127.0.0.1:{server.server_port}", "file": book.as_uri()}
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = find_chromium()
    if executable is None:
        pytest.fail("There is no Chromium that works: run `make chromium` or set CHROME=/path/to/chrome.")
    # No name is resolved, so that nothing gets out even by a way that is no page's request.
    arguments = [*ARGUMENTS, "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=arguments)
        yield chromium
        chromium.close()
