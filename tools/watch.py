"""Serve a preview of the book, build again what a change concerns, and let the browser reload."""

from __future__ import annotations

import argparse
import subprocess
import sys

from livereload import Server

from build_book import PREVIEW, ROOT

WATCHED = ("book", "chapters", "src/d2lrnn", "_config.yml", "_toc.yml")
IGNORED = ("__pycache__", ".ipynb_checkpoints")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1, help="chapters executed at a time")
    parser.add_argument("--port", type=int, default=8000)
    chosen = parser.parse_args()

    def build() -> None:
        # A process of its own sees the package and the tools as they are now.
        subprocess.run([sys.executable, ROOT / "tools" / "build_book.py", "--preview", f"--jobs={chosen.jobs}"])

    build()
    server = Server()
    for place in WATCHED:
        server.watch(str(ROOT / place), build, ignore=lambda path: any(name in path for name in IGNORED))
    print(f"The preview is at http://127.0.0.1:{chosen.port}; Ctrl-C ends it.", flush=True)
    server.serve(root=str(PREVIEW), host="127.0.0.1", port=chosen.port)
    return 0


if __name__ == "__main__":
    sys.exit(main())
