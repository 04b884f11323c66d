"""The compiled kernels belong to the source beside them. What they compute is proven in node and in the browser."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest

import build_kernels


def test_the_compiled_kernels_are_those_of_the_source() -> None:
    stored = json.loads(build_kernels.TARGET.read_text(encoding="utf-8"))
    assert stored["source_sha256"] == build_kernels.fingerprint(), "run `make kernels`"
    code = base64.b64decode(stored["wasm"], validate=True)
    assert code[:8] == b"\0asm\1\0\0\0"
    exported = re.findall(r"(?:EXPORT\(|export_name\(\")(\w+)", build_kernels.SOURCE.read_text(encoding="utf-8"))
    named = [name for name in exported if name != "name"]
    assert len(named) == 12
    for name in named:
        assert name.encode() in code, f"{name} is not exported: run `make kernels`"


def test_a_change_of_source_or_flags_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = build_kernels.fingerprint()
    changed = tmp_path / "kernels.c"
    changed.write_text(build_kernels.SOURCE.read_text(encoding="utf-8") + " ", encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(build_kernels, "SOURCE", changed)
        assert build_kernels.fingerprint() != before
    with monkeypatch.context() as patch:
        patch.setattr(build_kernels, "FLAGS", (*build_kernels.FLAGS, "-g"))
        assert build_kernels.fingerprint() != before
    assert build_kernels.fingerprint() == before
