"""Find a Chromium for the browser tests, or install one; each candidate is proven by a page that it really opens.

In this order: the one that the environment variable CHROME names, the system's, Playwright's, and then, installing,
Playwright's download and the distribution's package. A headless shell is the same engine without the windows of a
browser around it, which nobody sees here: a page costs a quarter of the time to open.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Error, sync_playwright

from system import apt_install, run

SYSTEM_NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
# Playwright itself adds --no-sandbox, without which nothing starts as root or in most containers. These keep the
# browser's own housekeeping off the network.
ARGUMENTS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-first-run",
)


def _candidates() -> Iterator[str]:
    if named := os.environ.get("CHROME"):
        yield named
        return
    for name in SYSTEM_NAMES:
        if path := shutil.which(name):
            yield path
    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)  # .../chromium-1234/chrome-linux/chrome
    yield from sorted(str(path) for path in own.parents[2].glob("chromium_headless_shell-*/*/*headless*shell"))
    if own.exists():
        yield str(own)


def _problem(executable: str) -> str | None:
    """Open a page in this browser; return what went wrong, None if nothing did."""
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS, timeout=60_000)
            page = browser.new_page()
            page.set_content("<p>ready</p>")
            text = page.inner_text("p")
            browser.close()
    except Error as error:
        return error.message.strip().splitlines()[0]
    return None if text == "ready" else "a page came out empty"


def find_chromium() -> str | None:
    """Return the path of the first Chromium that opens a page, None if there is none."""
    for candidate in _candidates():
        problem = _problem(candidate)
        if problem is None:
            return candidate
        print(f"{candidate} does not work: {problem}", file=sys.stderr)
    return None


def _install_steps() -> Iterator[None]:
    """Try one way of installing after the other; after each the caller looks again."""
    playwright = [sys.executable, "-m", "playwright"]
    if run([*playwright, "install", "--only-shell", "chromium"]):
        yield
        if os.geteuid() == 0 and run([*playwright, "install-deps", "chromium"]):
            yield
    for package in ("chromium-headless-shell", "chromium"):
        if apt_install(package):
            yield


def main() -> int:
    found = find_chromium()
    if found is None and not os.environ.get("CHROME"):
        print("No Chromium on this machine: installing one for the browser tests.", flush=True)
        for _ in _install_steps():
            if found := find_chromium():
                break
    if found is None:
        print(
            "The browser tests need a Chromium and none could be had. Install one (Debian: apt-get install chromium; "
            "Ubuntu: .venv/bin/playwright install --with-deps chromium) or name one: CHROME=/path/to/chrome make test",
            file=sys.stderr,
        )
        return 1
    print(f"Chromium: {found}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
