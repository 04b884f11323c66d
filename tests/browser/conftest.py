"""A real Chromium, and the built book over http and from disk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

import visits
from chromium import ARGUMENTS, find_chromium
from pages import served
from visits import Visit

chromium_once = cache(find_chromium)
ROOT = Path(__file__).resolve().parent.parent.parent
BOOK = ROOT / "_build" / "html"


@pytest.fixture(scope="session")
def book() -> Path:
    if not (BOOK / "index.html").is_file():
        pytest.fail("There is no built book in _build/html: run `make book` first.")
    return BOOK


@pytest.fixture(scope="session")
def addresses(book: Path) -> Iterator[dict[str, str]]:
    """The book's address by scheme: http, from a server on a free port, and file."""
    with served(book) as found:
        yield found


def pytest_configure_node(node: WorkerController) -> None:
    """Find a Chromium that works once for all workers."""
    node.workerinput["chromium"] = chromium_once()


@pytest.fixture(scope="session")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    executable = getattr(request.config, "workerinput", {}).get("chromium") or chromium_once()
    if executable is None:
        pytest.fail("There is no Chromium that works: run `make chromium` or set CHROME=/path/to/chrome.")
    # No name is resolved, so that nothing gets out even by a way that is no page's request.
    arguments = [*ARGUMENTS, "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=arguments)
        yield chromium
        chromium.close()


@pytest.fixture(params=visits.VISITS, ids="-".join, scope="session")
def visit(
    request: pytest.FixtureRequest,
    browser: Browser,
    addresses: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Visit:
    """A page on a phone or a laptop; the tests that look at it, in whatever file, run one after the other."""
    name, where = request.param
    if hasattr(request.config, "workerinput"):  # all workers have one folder, in which each visit leaves its name
        seen = tmp_path_factory.getbasetemp().parent / f"{name}-{where}".replace("/", "-")
        assert not seen.exists(), "opened a second time: its tests were not kept together"
        seen.touch()
    if where == "phone":
        return visits.visit(browser, addresses["http"], name, visits.PHONE, axe=False)
    return visits.visit(browser, addresses["file"], name, visits.LAPTOP, axe=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs the built book."""
    for item in items:
        if "book" in getattr(item, "fixturenames", []):
            item.add_marker(pytest.mark.built)


class Together(LoadScopeScheduling):
    """Keep together, for one worker, what shares a visit or the JupyterLab; all others go where there is room.

    (``--dist loadgroup`` would do, but xdist 3.8 writes a group into an attribute that pytest 9.2 no longer reads.)
    """

    def _split_scope(self, nodeid: str) -> str:
        if "/test_lab.py::" in nodeid:
            return "lab"
        visited = re.search(r"\[(.+-(?:phone|laptop))\]$", nodeid)
        return visited[1] if visited else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Together | None:
    return Together(config, log) if config.getvalue("dist") in ("load", "loadgroup") else None
