"""Execute the chapters that have changed, a few at a time, into the cache from which the book is rendered.

Sphinx would execute them too, but one after the other, and would stop at the first that fails.
"""

from __future__ import annotations

import os
import shutil
import sys
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path

import nbformat
import yaml
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import ExecutionResult, single_nb_execution
from sphinx_external_toc.parsing import parse_toc_yaml

from book_extension import execution_cache

ROOT = Path(__file__).resolve().parent.parent
CACHES_KEPT = 3


def notebooks_of_the_toc(root: Path = ROOT) -> list[Path]:
    """Return the notebooks that the book shows, in their order."""
    pages = parse_toc_yaml(root / "_toc.yml")
    return [path for page in pages if (path := root / f"{page}.ipynb").exists()]


def _execute(path: Path, timeout: float) -> ExecutionResult:
    notebook = nbformat.read(path, as_version=4)
    return single_nb_execution(
        notebook,
        cwd=str(path.parent),
        timeout=timeout,
        allow_errors=False,
        extra_arguments=["--log-level=ERROR"],  # no warning about an unencrypted kernel among the lines of progress
    )


def _forget_old_caches(current: Path) -> None:
    others = [path for path in current.parent.iterdir() if path.is_dir() and path != current]
    for path in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)[CACHES_KEPT - 1 :]:
        shutil.rmtree(path)


def execute_chapters(root: Path = ROOT, jobs: int = 1) -> list[str]:
    """Execute what the cache does not hold and return the names of the chapters that failed."""
    timeout = yaml.safe_load((root / "_config.yml").read_text())["execute"]["timeout"]
    cache_path = execution_cache(root)
    cache_path.mkdir(parents=True, exist_ok=True)
    cache_path.touch()
    _forget_old_caches(cache_path)
    cache = get_cache(cache_path)

    chapters = notebooks_of_the_toc(root)
    width = max((len(path.stem) for path in chapters), default=0)
    changed = []
    for path in chapters:
        try:
            cache.merge_match_into_notebook(nbformat.read(path, as_version=4))
        except Exception:  # not in the cache, or no notebook at all, which will show when it is executed
            changed.append(path)
    print(f"Chapters: {len(chapters)}, of which {len(changed)} to execute ({jobs} at a time)", flush=True)
    for path in chapters:
        if path not in changed:
            print(f"        {path.stem:{width}}  unchanged since it was executed", flush=True)

    failed: list[str] = []
    with ThreadPoolExecutor(jobs) as pool:
        running: dict[Future[ExecutionResult], Path] = {pool.submit(_execute, path, timeout): path for path in changed}
        try:
            for number, future in enumerate(as_completed(running), 1):
                path = running[future]
                try:
                    result = future.result()
                    problem = result.exc_string
                except Exception as error:  # a kernel that died, a notebook that is no notebook
                    problem = f"{type(error).__name__}: {error}"
                place = f"[{number}/{len(changed)}]"
                if problem:
                    failed.append(path.stem)
                    print(f"{place:7} {path.stem:{width}}  FAILED\n{problem}", flush=True)
                    continue
                bundle = CacheBundleIn(result.nb, str(path), data={"execution_seconds": result.time})
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
                print(f"{place:7} {path.stem:{width}}  {result.time:5.1f} s", flush=True)
        except KeyboardInterrupt:
            # Waiting for the other chapters would take minutes; their kernels end when this process is gone.
            print("Interrupted: a book in _build/html is an earlier one.", file=sys.stderr, flush=True)
            os._exit(130)
    return failed
