"""What README, CONTRIBUTING and the pages of the book say of the repository is true, and their code runs."""

from __future__ import annotations

import ast
import doctest
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import d2lrnn as d

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "book").glob("*.md"))]
FENCE = re.compile(r"^(`{3,})(\w+)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
# From GitHub's choosealicense.com; CC0 is byte for byte the one that Debian installs.
LEGAL_TEXTS = {
    "LICENSE-CC0": "a2010f343487d3f7618affe54f789f5487602331c0a8d03f49e9a7c547cf0499",
    "LICENSE-CC-BY-4.0": "f5b745ef98087f531e719ee8ca6a96809444573ecc7173c6fa68eaad39b3cc3f",
}


def blocks(path: Path, language: str) -> list[str]:
    return [text for _, kind, text in FENCE.findall(path.read_text(encoding="utf-8")) if kind == language]


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def section(title: str) -> str:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"README has no section {title!r}"
    return found[1]


def paths_of_the_tree() -> Iterator[str]:
    """Yield what the annotated tree names: four spaces of indentation put an entry into the folder above it."""
    [tree] = [text for _, kind, text in FENCE.findall(section("What is where")) if kind == "text"]
    folders: list[str] = []
    for line in tree.splitlines():
        name = line.split()[0]
        depth = (len(line) - len(line.lstrip())) // 4
        folders[depth:] = [name]
        yield "".join(folders)


def make_targets(path: Path) -> set[str]:
    """Targets named in code: in a command of a block, or as inline code."""
    text = path.read_text(encoding="utf-8")
    in_blocks = re.findall(r"^make ([a-z]\w*)", "\n".join(blocks(path, "bash")), re.MULTILINE)
    return {*in_blocks, *re.findall(r"`make ([a-z]\w*)`", text)}


@pytest.mark.slow
def test_the_example_of_the_readme_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    part = section("The package in ten lines")
    code, expected = (next(text for _, kind, text in FENCE.findall(part) if kind == k) for k in ("python", "text"))
    lines = [line for line in code.splitlines() if line.strip()]
    assert len(lines) <= 11, "an import and ten lines"
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS), printed
    written = printed.splitlines()[-1]
    assert len(written) == len("the tide ") + 80, "the text that README promises"
    known = set(d.normalize(d.load_corpus()).split())
    words = written.split()[1:]
    assert sum(word in known for word in words) >= len(words) / 3, f"few words in {written!r}"


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_examples_with_a_prompt_print_what_stands_beneath_them(page: Path) -> None:
    """One session a page, from top to bottom, as a reader would type it."""
    names: dict[str, Any] = {}
    for number, block in enumerate(blocks(page, "python")):
        if not block.startswith(">>>"):
            continue
        test = doctest.DocTestParser().get_doctest(block, names, f"{relative(page)}, block {number}", None, None)
        runner, report = doctest.DocTestRunner(verbose=False), []
        runner.run(test, out=report.append, clear_globs=False)
        assert runner.failures == 0, "".join(report)
        names = test.globs


def test_the_corrections_come_with_proofs() -> None:
    assert sum(block.startswith(">>>") for block in blocks(ROOT / "book" / "sources.md", "python")) >= 10


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_examples_use_names_that_the_package_has(page: Path) -> None:
    for block in blocks(page, "python"):
        code = "\n".join(line[4:] for line in block.splitlines() if line.startswith((">>> ", "... ")))
        for node in ast.walk(ast.parse(code if block.startswith(">>>") else block)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "d":
                assert node.attr in dir(d), f"{relative(page)} uses d.{node.attr}"


def test_every_path_of_the_annotated_tree_exists() -> None:
    paths = list(paths_of_the_tree())
    assert "src/d2lrnn/text.py" in paths and len(paths) > 20
    missing = [path for path in paths if not (ROOT / path).exists() or path.endswith("/") != (ROOT / path).is_dir()]
    assert missing == []


def test_the_annotated_tree_names_every_module() -> None:
    named = {path for path in paths_of_the_tree() if path.startswith("src/d2lrnn/")}
    top = (path for path in (ROOT / "src" / "d2lrnn").iterdir() if path.suffix == ".py" or path.is_dir())
    there = {path.name for path in top if not path.name.startswith("__")} | {"d2lrnn"}
    assert there == {Path(path).name for path in named}, "README leaves out a module or a folder"


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_make_targets_exist(page: Path) -> None:
    rules = set(re.findall(r"^([a-z]\w*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert make_targets(page) <= rules
    if page.name == "README.md":
        assert {"book", "test", "quick", "lab"} <= make_targets(page)


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_links_are_inline_and_lead_to_files_that_exist(page: Path) -> None:
    text = re.sub(r"(`+).*?\1", "", FENCE.sub("", page.read_text(encoding="utf-8")))
    assert not re.search(r"^\[[^\]]+\]:\s", text, re.MULTILINE), "a link by reference gets lost in translation"
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not target.startswith(("https://", "#")):
            assert (page.parent / target).is_file(), f"{relative(page)} links to {target}"


def test_citation_and_changelog_are_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    newest = re.search(r"^## \[(.+?)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest
    for entry in (citation, citation["preferred-citation"]):
        assert (entry["version"], str(entry["date-released"])) == newest.groups()
    assert newest[1] == d.__version__


@pytest.mark.parametrize("name", LEGAL_TEXTS)
def test_legal_texts_are_whole(name: str) -> None:
    assert hashlib.sha256((ROOT / name).read_bytes()).hexdigest() == LEGAL_TEXTS[name]
