"""What all tests share: where real corpora may lie, one thread for torch, a silent tqdm."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Beside the repository there may be a folder with The Time Machine and PTB: the loaders then meet the real files.
_BESIDE = ROOT.parent / "shared" / "data"

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["D2LRNN_STATIC"] = "1"
if "D2LRNN_DATA" not in os.environ and _BESIDE.is_dir():
    os.environ["D2LRNN_DATA"] = str(_BESIDE)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage in what is imported, neither while it is imported, which takes twice as long, nor later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


# What these fixtures make takes seconds (a model trained in a process of its own, or by two), so their tests are slow.
SLOW_FIXTURES = {"test_cli.py": {"folder", "shell"}, "test_ranks.py": {"folder"}}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if SLOW_FIXTURES.get(item.path.name, set()).intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


def pytest_report_header() -> str:
    folder = os.environ.get("D2LRNN_DATA")
    if folder:
        return f"corpora: The Time Machine and PTB are looked for in {folder}"
    return "corpora: D2LRNN_DATA is not set, so tests on the real Time Machine and PTB are skipped"


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder with the real downloads; tests that need it are skipped, with a reason, where there is none."""
    folder = os.environ.get("D2LRNN_DATA")
    if not folder:
        pytest.skip("D2LRNN_DATA is not set: no real Time Machine or PTB on this machine")
    return Path(folder)
