"""The package as a whole: its public face, its layers, and what an import costs."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import d2lrnn as d

SOURCE = Path(d.__file__).parent
# An import may only go from right to left: data flows one way.
ORDER = [
    "device",
    "atomic",
    "corpus",
    "text",
    "stream",
    "batching",
    "recurrent",
    "gated",
    "closed_form",
    "cuda_graph",
    "optim",
    "bptt",
    "scan",
    "metrics",
    "ngram",
    "language_model",
    "distributed",
    "checkpoint",
    "resuming",
    "stepping",
    "training",
    "scoring",
    "manual",
    "manual_model",
    "decoding",
    "coding",
    "pretrained",
    "plotting",
    "checks",
    "widgets",
    "cli",
    "__main__",
]


def test_public_names_exist_and_are_sorted() -> None:
    assert all(hasattr(d, name) for name in d.__all__)
    assert len(set(d.__all__)) == len(d.__all__)


@pytest.mark.parametrize("name", [n for n in d.__all__ if not n.isupper() or n == "RNNLM"])
def test_public_objects_are_documented_and_annotated(name: str) -> None:
    thing = getattr(d, name)
    assert inspect.getdoc(thing)
    if inspect.isfunction(thing):
        signature = inspect.signature(thing)
        assert signature.return_annotation is not inspect.Signature.empty
        assert all(p.annotation is not inspect.Parameter.empty for p in signature.parameters.values())
        assert ">>>" in thing.__doc__, "a public function shows an example that runs"


def test_every_module_has_its_place_and_imports_only_from_earlier_ones() -> None:
    modules = {p.stem for p in SOURCE.glob("*.py")} - {"__init__"}
    assert modules <= set(ORDER), f"give {modules - set(ORDER)} a place in ORDER"
    for path in SOURCE.glob("*.py"):
        if path.stem == "__init__":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("d2lrnn."):
                imported = node.module.split(".")[1]
                assert ORDER.index(imported) < ORDER.index(path.stem), f"{path.stem} imports {imported}"


def test_import_brings_in_no_plotting_widgets_or_downloads() -> None:
    """Measured as modules, not as seconds: what torch does not load already must stay small."""
    code = (
        "import json, sys, torch; before = set(sys.modules); import d2lrnn; "
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in json.loads(result.stdout)}
    assert not loaded & {"matplotlib", "anywidget", "ipywidgets", "pooch", "requests", "IPython"}
    assert loaded - set(sys.stdlib_module_names) <= {"d2lrnn", "tqdm"}, loaded


def test_version_is_stated_once() -> None:
    from importlib.metadata import version

    assert version("d2lrnn") == d.__version__
