"""Install what only the system's package manager has, where that can be done without asking anybody."""

from __future__ import annotations

import os
import shutil
import subprocess


def as_root() -> list[str] | None:
    """Return what to put before a command to run it as root without a question, None if that can't be."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0:
        return ["sudo", "-n"]
    return None


def run(command: list[str]) -> bool:
    """Show a command and run it; return whether it succeeded."""
    print("+", *command, flush=True)
    return subprocess.run(command).returncode == 0


def apt_install(package: str) -> bool:
    """Install a package of Debian or Ubuntu; return whether it is there now."""
    root = as_root()
    if root is None or shutil.which("apt-get") is None:
        return False
    run([*root, "apt-get", "update", "-qq"])
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq", "--no-install-recommends"]
    return run([*root, *quiet, package])
