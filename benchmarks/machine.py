"""What a measurement was made on: processor, versions, threads."""

from __future__ import annotations

import contextlib
import os
import platform
import re
from pathlib import Path
from typing import Any

THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def thread_environment(threads: int) -> dict[str, str]:
    """Variables that fix the threads of whatever BLAS or OpenMP a process meets."""
    return {name: str(threads) for name in THREAD_VARIABLES}


def processor() -> str:
    with contextlib.suppress(OSError):
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
        if found:
            flags = set((re.search(r"^flags\s*:\s*(.+)$", text, re.MULTILINE) or ["", ""])[1].split())
            return found[1] + (" with AVX-512" if "avx512f" in flags else " with AVX2" if "avx2" in flags else "")
    return platform.processor() or platform.machine()


def machine_facts() -> dict[str, Any]:
    """Processor, cores that may be used, system, and how busy it is."""
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "load_average": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
    }


def _pools() -> dict[str, int]:
    """Sizes of the BLAS and OpenMP pools that are loaded, where the package that can ask them is there."""
    try:
        from threadpoolctl import threadpool_info
    except ModuleNotFoundError:
        return {}
    return {Path(pool["filepath"]).name: pool["num_threads"] for pool in threadpool_info()}


def process_facts(device: str) -> dict[str, Any]:
    """Versions, linear algebra and threads, as the process that is asked sees them."""
    import numpy as np
    import torch

    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    gpu: dict[str, Any] = {}
    if device == "cuda":
        gpu = {
            "gpu": torch.cuda.get_device_name(),
            "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version(),
        }
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "blas_numpy": f"{blas.get('name')} {blas.get('version')}",
        "blas_torch": "MKL" if torch.backends.mkl.is_available() else "other",
        "threads": {"torch": torch.get_num_threads()} | _pools(),
        **gpu,
    }
