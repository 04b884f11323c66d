"""The package as a whole: its public face, its layers, and what an import costs."""

from __future__ import annotations

import ast
import inspect
import json
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest

import d2lrnn as d

SOURCE = Path(d.__file__).parent
#: floors of the house; an import goes to the own floor or to one before it
FLOORS = [
    {"text", "windows", "layers", "metrics", "ngram", "model", "optim", "history", "training", "decoding"},
    {"engines", "ops"},
    {"study", "plotting"},
    {"checks", "widgets", "cli", "__main__"},
]


def test_public_names_exist_once() -> None:
    assert all(hasattr(d, name) for name in d.__all__)
    assert len(set(d.__all__)) == len(d.__all__)


def test_the_public_face_is_small_and_teaches() -> None:
    assert len(d.__all__) <= 40
    assert {"plotting", "widgets", "optim", "bptt"} <= {*dir(d)} and not {"layers", "training", "cli"} & {*dir(d)}
    assert len(pydoc.render_doc(d).splitlines()) < 60, "help(d2lrnn) is a start"
    assert not hasattr(d, "SGD") and not hasattr(d, "cross_entropy"), "these are torch's names for other things"


@pytest.mark.parametrize(("theirs", "ours"), [("train_ch8", "fit"), ("try_gpu", "pick_device"),
                                              ("TimeMachine", "load_text"), ("predict_ch8", "generate")])  # fmt: skip
def test_d2ls_names_answer_with_ours(theirs: str, ours: str) -> None:
    assert hasattr(d, ours)
    with pytest.raises(AttributeError, match=rf"d2l's {theirs} is d2lrnn\.{ours}"):
        getattr(d, theirs)


def test_fit_knows_no_ranks_signals_or_files() -> None:
    source = inspect.getsource(d.fit).replace(d.fit.__doc__, "")
    assert not re.search("rank|signal|path|checkpoint|resum", source, re.IGNORECASE)
    [function] = ast.parse(source).body
    assert function.end_lineno - function.body[0].lineno < 30


@pytest.mark.parametrize("name", [n for n in d.__all__ if not n.isupper() or n == "RNNLM"])
def test_public_objects_are_documented_and_annotated(name: str) -> None:
    thing = getattr(d, name)
    assert inspect.getdoc(thing)
    if inspect.isfunction(thing):
        signature = inspect.signature(thing)
        assert signature.return_annotation is not inspect.Signature.empty
        assert all(p.annotation is not inspect.Parameter.empty for p in signature.parameters.values())
        assert ">>>" in thing.__doc__, "a public function shows an example that runs"


def imports_of(path: Path) -> set[str]:
    """First parts of the package's names that a module imports when it is imported itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    later = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    ]
    inside = {child for node in later for child in ast.walk(node)}
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node not in inside]
    names = [node.module.split(".")[1:] or [alias.name for alias in node.names] for node in nodes
             if node.module and node.module.split(".")[0] == "d2lrnn"]  # fmt: skip
    return {parts[0] for parts in names}


def test_imports_go_down_the_floors() -> None:
    floor = {name: number for number, names in enumerate(FLOORS) for name in names}
    for path in SOURCE.rglob("*.py"):
        own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        for imported in imports_of(path):
            assert floor[imported] <= floor[own], f"{path.relative_to(SOURCE)} imports {imported}"


@pytest.mark.slow
def test_import_brings_in_no_plotting_widgets_or_downloads() -> None:
    """Measured as modules, not as seconds: what torch does not load already must stay small."""
    code = (
        "import json, sys, torch; before = set(sys.modules); import d2lrnn; d2lrnn.fit; "
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in json.loads(result.stdout)}
    assert not loaded & {"matplotlib", "anywidget", "ipywidgets", "pooch", "requests", "IPython"}
    assert loaded - set(sys.stdlib_module_names) <= {"d2lrnn", "lazy_loader"}, loaded


def test_version_is_stated_once() -> None:
    from importlib.metadata import version

    assert version("d2lrnn") == d.__version__
