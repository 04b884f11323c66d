"""Build the book into ``_build/html``, or fail and leave no book there that could be taken for the new one.

``jupyter-book build`` alone reports success after a failed chapter, and again when the page with a warning is not read
a second time. So: chapters are executed first, pages are always written from nothing with warnings as errors, and the
result takes its place only when all of it is good.
"""

from __future__ import annotations

import argparse
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


class BookError(Exception):
    """The book can't be built; the message says why."""


def _missing_pages(html: Path) -> list[str]:
    expected = ["index", *parse_toc_yaml(ROOT / "_toc.yml")]
    return [page for page in expected if not (html / f"{page}.html").is_file()]


def build(jobs: int) -> None:
    """Execute the chapters, write the pages and put them into ``_build/html``, or raise `BookError`."""
    if failed := execute_chapters(ROOT, jobs):
        raise BookError(f"{', '.join(failed)} failed (see above)")

    if not color_terminal():  # Jupyter Book colours even what goes to a file
        nocolor()
    shutil.rmtree(STAGING, ignore_errors=True)
    staged = STAGING / "html"
    # What `jupyter-book build -W --keep-going` runs; it returns a status code or the exception that ended it.
    status = build_sphinx(
        ROOT,
        staged,
        noconfig=True,
        path_config=ROOT / "_config.yml",
        confoverrides={"external_toc_path": str(ROOT / "_toc.yml"), "latex_individualpages": False},
        warningiserror=True,
        keep_going=True,
    )
    if isinstance(status, KeyboardInterrupt):
        raise status
    if status != 0:
        raise BookError(f"a page has a warning or an error (see above; what there is lies in {staged})")
    if missing := _missing_pages(staged):
        raise BookError(f"no page was written for {', '.join(missing)}")

    shutil.rmtree(BOOK, ignore_errors=True)
    staged.rename(BOOK)
    shutil.rmtree(STAGING)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1, help="chapters executed at a time")
    start = time.monotonic()
    try:
        build(parser.parse_args().jobs)
    except KeyboardInterrupt:
        print("\nInterrupted: the book in _build/html, if there is one, is an earlier one.", file=sys.stderr)
        return 130
    except Exception as error:
        if not isinstance(error, BookError):
            traceback.print_exc()
        print(f"\nThe book was NOT built: {str(error) or type(error).__name__}", file=sys.stderr)
        if BOOK.exists():
            shutil.rmtree(BOOK)
            print("The earlier one was removed from _build/html: nobody shall take it for this one.", file=sys.stderr)
        return 1
    print(f"\nThe book is built ({time.monotonic() - start:.0f} s): {BOOK / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
