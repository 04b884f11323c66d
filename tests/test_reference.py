"""The API reference: every public name has its entry, with an example, and the ways between code and entry."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

import d2lrnn

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import reference  # noqa: E402

PAGES = ROOT / "book" / "reference"
MODULES = [
    f"d2lrnn.{name}"
    for page in sorted(PAGES.glob("*.md"))
    for name in re.findall(r"automodule:: d2lrnn\.([\w.]+)", page.read_text(encoding="utf-8"))
]
# What stands only in results, raised errors and the engine room is shown where it comes from.
WITHOUT_EXAMPLE = {
    "ClosedForm", "Weights", "Workspace", "CudaGraph", "record_cuda_graph", "Autograd", "Engine",
    "SelfChecked", "Step", "Stepper", "Interrupts", "ProgressBar", "CheckpointError", "CorpusError", "ProcessGroup",
    "DistributedError", "TrainingInterruptedError", "LineScore", "TextScore", "Manifest", "StreamedText",
    "Gradients", "LagGradients", "StepGradients", "EpochRecord", "use_book_style"
}  # fmt: skip


def public(module: str) -> dict[str, object]:
    found = importlib.import_module(module)
    names = {name: getattr(found, name) for name in found.__all__ if name != "Explorable"}
    return {name: thing for name, thing in names.items() if inspect.isclass(thing) or inspect.isfunction(thing)}


def test_every_public_name_has_an_entry() -> None:
    assert len(MODULES) == len(set(MODULES)) > 25
    shown = {f"{thing.__module__}.{name}" for module in MODULES for name, thing in public(module).items()}
    for name in d2lrnn.__all__:
        assert reference.resolve(name) in shown, name


@pytest.mark.parametrize("module", MODULES)
def test_every_entry_says_what_it_is_and_shows_an_example(module: str) -> None:
    for name, thing in public(module).items():
        text = inspect.getdoc(thing)
        assert text, name
        assert name in WITHOUT_EXAMPLE or ">>>" in text or module == "d2lrnn.checks", f"{module}.{name} has no example"


def test_short_names_lead_to_where_they_are_defined() -> None:
    assert reference.resolve("fit") == reference.resolve("d2lrnn.fit") == "d2lrnn.training.fit"
    assert reference.resolve("bptt.bptt") == "d2lrnn.study.bptt.bptt"
    assert reference.resolve("by_hand.TimeRNN.forward") == "d2lrnn.study.by_hand.TimeRNN.forward"
    assert reference.resolve("numpy") is None and reference.resolve("d") is None


def test_names_in_code() -> None:
    code = "import d2lrnn as d\nfrom d2lrnn.widgets import Scan\n%time d.evaluate(1)\nd.fit(d.bptt.bptt).epochs"
    assert reference.used_names(code) == {"widgets.Scan", "bptt", "bptt.bptt", "fit"}
    assert reference.used_names("answer = ...(") == set()


def test_pages_that_use_a_name_stand_in_the_order_of_the_book() -> None:
    pages = reference.pages_that_use()["d2lrnn.training.fit"]
    assert pages == sorted(pages) and "chapters/05_character_lm" in pages
