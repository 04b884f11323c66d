"""Compile the SIMD kernels of the training lab: ``make kernels``, or ``python tools/build_kernels.py``.

``src/d2lrnn/widgets/kernels.c`` becomes WebAssembly, and that becomes ``kernels.wasm.json``: the module in base64, and
the SHA-256 of the source and of the command that made it, by which a test sees that they belong together. The compiler
is Clang, as Zig packs it. It is needed here alone, and in one version, so that equal sources give equal bytes::

    pip install ziglang==0.13.0
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

WIDGETS = Path(__file__).resolve().parents[1] / "src" / "d2lrnn" / "widgets"
SOURCE = WIDGETS / "kernels.c"
TARGET = WIDGETS / "kernels.wasm.json"
VERSION = "0.13.0"
FLAGS = (
    *("-target", "wasm32-freestanding", "-O3", "-msimd128", "-nostdlib", "-fno-sanitize=all"),
    *("-Wall", "-Wextra", "-Werror"),
    # The page makes the memory; everything above __heap_base is its own.
    *("-Wl,--no-entry", "-Wl,--import-memory", "-Wl,--export=__heap_base", "-Wl,--strip-all", "-Wl,-z,stack-size=4096"),
)


def fingerprint() -> str:
    """SHA-256 of all that decides the bytes: compiler, flags, source."""
    return hashlib.sha256("\n".join((VERSION, *FLAGS, SOURCE.read_text(encoding="utf-8"))).encode()).hexdigest()


def _check_compiler() -> None:
    if importlib.util.find_spec("ziglang") is None:
        sys.exit(f"Compiling the kernels needs Zig's Clang: pip install ziglang=={VERSION}")
    done = subprocess.run([sys.executable, "-m", "ziglang", "version"], capture_output=True, text=True, check=True)
    if (found := done.stdout.strip()) != VERSION:
        sys.exit(f"The kernels are compiled with ziglang {VERSION}, not {found}: pip install ziglang=={VERSION}")


def main() -> None:
    _check_compiler()
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "kernels.wasm"
        command = [sys.executable, "-m", "ziglang", "cc", *FLAGS, "-o", str(module), SOURCE.name]
        subprocess.run(command, cwd=WIDGETS, check=True)
        code = module.read_bytes()
    entry = {"source_sha256": fingerprint(), "wasm": base64.b64encode(code).decode()}
    TARGET.write_text(json.dumps(entry, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {TARGET.name}: {len(code)} bytes of WebAssembly")


if __name__ == "__main__":
    main()
