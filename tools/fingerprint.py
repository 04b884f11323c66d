"""Hashes of contents, which decide whether a stored result still holds.

Timestamps can't decide it: they miss a deleted module and a file restored with its old date. A Python file counts by
what it does: comments and docstrings change nothing.
"""

from __future__ import annotations

import ast
import hashlib
import platform
from collections.abc import Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The build takes a page's style sheets and modules from the package as it is then (see book_extension.py), so that a
# change of them executes no chapter.
NOT_EXECUTED = {".css", ".mjs", ".js"}


def digest(parts: Iterable[bytes]) -> str:
    """Hash the parts and where each ends."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(hashlib.sha256(part).digest())
    return whole.hexdigest()[:16]


def _without_docstrings(tree: ast.AST) -> ast.AST:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and type(first.value.value) is str:
                node.body = node.body[1:]
    return tree


@cache
def _python_digest(source: bytes) -> str:
    try:
        return digest([ast.dump(_without_docstrings(ast.parse(source))).encode()])
    except SyntaxError:
        return digest([source])


def file_digest(path: Path) -> str:
    """Hash what a file does to a chapter: of Python code its syntax tree without docstrings, of others their bytes."""
    if not path.is_file():
        return "missing"
    source = path.read_bytes()
    return _python_digest(source) if path.suffix in (".py", ".pyi") else digest([source])


def environment_fingerprint(root: Path = ROOT) -> str:
    """Hash what every chapter depends on: Python and the packages."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return digest([python.encode(), (root / "requirements.txt").read_bytes()])


def package_files(root: Path = ROOT) -> list[Path]:
    """Return the files of package and benchmarks on which a chapter's results may depend."""
    package, benchmarks = root / "src" / "d2lrnn", root / "benchmarks"
    files = [path for path in sorted(package.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    files += sorted([*benchmarks.glob("*.py"), *benchmarks.glob("results/*.json")])
    return [path for path in files if path.suffix not in NOT_EXECUTED]


def data_files(root: Path = ROOT) -> list[Path]:
    """Return the package's data, which libraries not written in Python may open unseen."""
    return [path for path in package_files(root) if "data" in path.parts and path.suffix != ".py"]
