"""Open a page and keep a record of everything that goes wrong on it and of everything it asks of other hosts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Response, WebSocketRoute

OUTSIDE = re.compile(r"^(?!file:|data:|blob:|about:|https?://127\.0\.0\.1[:/])")


@dataclass
class Record:
    """Errors, and requests to other hosts; these are refused, but wanting them is wrong enough."""

    errors: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def watch(self, context: BrowserContext) -> None:
        context.on("request", self._on_request)
        context.on("response", self._on_response)
        context.on("console", self._on_console)
        context.on("weberror", lambda event: self.errors.append(f"uncaught: {event.error}"))
        context.on("requestfailed", lambda request: self.errors.append(f"failed: {request.url}: {request.failure}"))
        context.route(OUTSIDE, lambda route: route.abort())
        context.route_web_socket(re.compile(""), self._on_web_socket)

    def _on_request(self, request: Request) -> None:
        if OUTSIDE.match(request.url):
            self.outside.append(request.url)

    def _on_response(self, response: Response) -> None:
        if response.status >= 400:
            self.errors.append(f"{response.status}: {response.url}")

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"console: {message.text}")

    def _on_web_socket(self, socket: WebSocketRoute) -> None:
        self.outside.append(socket.url)


@contextmanager
def watched_page(browser: Browser, width: int = 1280, height: int = 900) -> Iterator[tuple[Page, Record]]:
    """Open an empty page in a context of its own."""
    record = Record()
    context = browser.new_context(viewport={"width": width, "height": height})
    record.watch(context)
    try:
        yield context.new_page(), record
    finally:
        context.close()
