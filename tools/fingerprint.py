"""Hashes of contents, which decide whether a stored result still holds.

Timestamps can't decide it: they miss a deleted module and a file restored with its old date. ``make nbval`` runs this
module to write one ``NAME.fingerprint`` a chapter, rewritten only when it changes, so that plain make rules can depend
on it.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _digest(parts: Iterable[bytes]) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(hashlib.sha256(part).digest())
    return whole.hexdigest()[:16]


def package_fingerprint(root: Path = ROOT) -> str:
    """Hash all that a chapter's results depend on beside its own cells: package, benchmarks, environment, Python."""
    package, benchmarks = root / "src" / "d2lrnn", root / "benchmarks"
    files = [path for path in sorted(package.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    files += sorted([*benchmarks.glob("*.py"), *benchmarks.glob("results/*.json")])
    parts = [platform.python_implementation().encode(), platform.python_version().encode()]
    for path in [*files, root / "requirements.txt"]:
        parts += [path.relative_to(root).as_posix().encode(), path.read_bytes()]
    return _digest(parts)


def write_chapter_fingerprints(folder: Path, root: Path = ROOT) -> None:
    """Write ``folder/NAME.fingerprint`` for every chapter, leaving a file alone whose content would be the same."""
    folder.mkdir(parents=True, exist_ok=True)
    package = package_fingerprint(root).encode()
    for chapter in sorted((root / "chapters").glob("*.ipynb")):
        fingerprint = _digest([package, chapter.read_bytes()])
        target = folder / f"{chapter.stem}.fingerprint"
        if not target.exists() or target.read_text() != fingerprint:
            target.write_text(fingerprint)


if __name__ == "__main__":
    write_chapter_fingerprints(Path(sys.argv[1]))
