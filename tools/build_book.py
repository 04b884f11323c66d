"""Build the book into ``_build/html``, or fail, say so, and leave the last good one there.

``jupyter-book build`` alone reports success after a failed chapter, and again when the page with a warning is not read
a second time. So: chapters are executed first, pages are always written from nothing with warnings as errors, and the
result takes its place only when all of it is good.
"""

from __future__ import annotations

import argparse
import gc
import shutil
import sys
import time
import traceback
from pathlib import Path

from jupyter_book.sphinx import build_sphinx
from sphinx.util.console import color_terminal, nocolor
from sphinx_external_toc.parsing import parse_toc_yaml

from execute_chapters import execute_chapters

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "_build" / "html"
STAGING = ROOT / "_build" / "staging"
PREVIEW = ROOT / "_build" / "preview" / "html"


class BookError(Exception):
    """The book can't be built; the message says why."""


def _missing_pages(html: Path) -> list[str]:
    expected = ["index", *parse_toc_yaml(ROOT / "_toc.yml")]
    return [page for page in expected if not (html / f"{page}.html").is_file()]


def _write_pages(html: Path, *, strict: bool) -> None:
    """Write the pages into a folder; where one is there already, those alone that changed."""
    gc.set_threshold(50_000, 5, 8)  # as often as by default, the search for garbage takes half of the time
    if not color_terminal():  # Jupyter Book colours even what goes to a file
        nocolor()
    # What `jupyter-book build -W --keep-going` runs; it returns a status code or the exception that ended it.
    status = build_sphinx(
        ROOT,
        html,
        noconfig=True,
        path_config=ROOT / "_config.yml",
        confoverrides={
            "external_toc_path": str(ROOT / "_toc.yml"),
            "latex_individualpages": False,
            "nb_execution_raise_on_error": strict,
        },
        warningiserror=strict,
        keep_going=strict,
    )
    if isinstance(status, KeyboardInterrupt):
        raise status
    if status != 0:
        raise BookError(f"a page has a warning or an error (see above; what there is lies in {html})")
    if missing := _missing_pages(html):
        raise BookError(f"no page was written for {', '.join(missing)}")


def preview(jobs: int) -> None:
    """Write the pages that changed into ``_build/preview``; a warning is shown and stops nothing."""
    execute_chapters(ROOT, jobs)  # a page whose chapter fails shows how
    _write_pages(PREVIEW, strict=False)


def build(jobs: int) -> None:
    """Execute the chapters, write the pages and put them into ``_build/html``, or raise `BookError`."""
    if failed := execute_chapters(ROOT, jobs):
        raise BookError(f"{', '.join(failed)} failed (see above)")
    shutil.rmtree(STAGING, ignore_errors=True)
    staged = STAGING / "html"
    _write_pages(staged, strict=True)

    # The new one is in place before the old one goes.
    old = STAGING / "old"
    if BOOK.exists():
        BOOK.rename(old)
    staged.rename(BOOK)
    shutil.rmtree(STAGING)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1, help="chapters executed at a time")
    parser.add_argument("--preview", action="store_true", help="only the pages that changed, into _build/preview")
    chosen = parser.parse_args()
    start = time.monotonic()
    try:
        (preview if chosen.preview else build)(chosen.jobs)
    except KeyboardInterrupt:
        print("\nInterrupted: the book in _build/html, if there is one, is an earlier one.", file=sys.stderr)
        return 130
    except Exception as error:
        if not isinstance(error, BookError):
            traceback.print_exc()
        print(f"\nThe book was NOT built: {str(error) or type(error).__name__}", file=sys.stderr)
        if BOOK.exists() and not chosen.preview:
            print("The book in _build/html is the last one that was good.", file=sys.stderr)
        return 1
    page = (PREVIEW if chosen.preview else BOOK) / "index.html"
    print(f"\nThe book is built ({time.monotonic() - start:.0f} s): {page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
