"""Install what only the system's package manager has: as root; anybody else is told the line to run."""

from __future__ import annotations

import os
import shutil
import subprocess


def run(command: list[str]) -> bool:
    """Show a command and run it; return whether it succeeded."""
    print("+", *command, flush=True)
    return subprocess.run(command).returncode == 0


def apt_install(package: str) -> bool:
    """Install a package of Debian or Ubuntu; return whether it is there now."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return False
    run(["apt-get", "update", "-qq"])
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq", "--no-install-recommends"]
    return run([*quiet, package])
