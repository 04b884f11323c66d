"""Kernels that need not import torch and Matplotlib first: a process that has imported both, once, is forked for each.

An import of the two takes more than two seconds of a core, and nearly every chapter begins with it; what torch imports
at the first `assert_close` and count of operations takes one more. The package itself is not imported before: each
kernel opens its files, which opened_files.py records.

Run as a script: ``serve SOCKET`` imports and forks, ``start SOCKET ARGUMENTS`` stands for a kernel as long as it lives.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

START_S = 120
IMPORTED = ("torch", "torch._dynamo", "matplotlib.pyplot", "anywidget", "ipykernel.kernelapp", "ipykernel.debugger")


@contextmanager
def warm_kernels() -> Iterator[type]:
    """Give the class of a kernel manager that starts warm kernels as long as the block lasts."""
    from jupyter_client.manager import AsyncKernelManager

    with tempfile.TemporaryDirectory() as folder:
        address = str(Path(folder) / "socket")
        # As in a kernel: Matplotlib draws into the notebook; and no kernel is told of by lines of its own.
        environment = os.environ | {"MPLBACKEND": "module://matplotlib_inline.backend_inline", "JPY_PARENT_PID": "1"}
        # Without frozen modules, as kernels start: else the debugger warns.
        command = [sys.executable, "-X", "frozen_modules=off", "-P", __file__, "serve", address]
        server = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, start_new_session=True)

        class WarmKernelManager(AsyncKernelManager):
            def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
                command = super().format_kernel_cmd(extra_arguments)  # python -m ipykernel_launcher ARGUMENTS
                arguments = command[command.index("ipykernel_launcher") + 1 :]
                return [command[0], "-I", "-S", __file__, "start", address, *arguments]

        try:
            until = time.monotonic() + START_S
            while not Path(address).exists():
                if server.poll() is not None or time.monotonic() > until:
                    raise RuntimeError("the process that forks kernels did not start")
                time.sleep(0.05)
            yield WarmKernelManager
        finally:
            server.stdin.close()
            server.wait()


def serve(address: str) -> None:
    """Import what is slow, then fork a kernel for each connection; end, and end them all, with the standard input."""
    for name in IMPORTED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # no kernel looks for garbage in what it was born with
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{address}.new")
    listener.listen()
    os.rename(f"{address}.new", address)  # where there is a file, somebody answers
    while True:
        asked, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in asked:
            os.killpg(0, signal.SIGKILL)
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            be_a_kernel(connection)
        connection.close()
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass


def be_a_kernel(connection: socket.socket) -> NoReturn:
    """Become the kernel that is asked for, in its folder and environment."""
    with connection.makefile() as file:
        asked = json.loads(file.readline())
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])

    def end_with_who_asked() -> None:
        connection.recv(1)
        os._exit(1)

    threading.Thread(target=end_with_who_asked, daemon=True).start()
    sys.modules["ipykernel.kernelapp"].launch_new_instance(argv=asked["arguments"])
    os._exit(0)


def start(address: str, arguments: list[str]) -> None:
    """Ask for a kernel and wait for its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a kernel that is to end is interrupted first, which needs no story
    asked = {"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        connection.sendall(json.dumps(asked).encode() + b"\n")
        connection.recv(1)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        start(sys.argv[2], sys.argv[3:])
