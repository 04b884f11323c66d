"""The API reference: pages from the docstrings, and the ways between them and the chapters.

A name in a chapter's code (`sphinx_codeautolink`) or prose leads to its entry; the entry says which pages use it. Names
answer to the short address by which a reader types them: ``d2lrnn.fit`` is ``d2lrnn.training.fit``.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import sphinx_codeautolink.extension
from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective
from sphinx_codeautolink.extension.block import CodeBlockAnalyser, link_html
from sphinx_external_toc.parsing import parse_toc_yaml

ROOT = Path(__file__).resolve().parent.parent
# `d.fit`, `d2lrnn.fit(...)`, `fit` in the prose of a page; nothing but a name, with or without an empty call.
IN_PROSE = re.compile(r"(?:d2lrnn\.|d\.)?(?P<name>[A-Za-z_][\w.]*)(?:\(\))?")


# A block of code as Sphinx writes it.
CODE = re.compile(
    r'<div class="(?:doctest )?highlight-[\w-]+ notranslate"><div class="highlight"><pre>.*?</pre></div>\s*</div>',
    re.DOTALL,
)
# Methods of nn.Module and NamedTuple that say nothing of the thing itself.
HOUSEKEEPING = {"extra_repr"}


@cache
def full_names() -> dict[str, str]:
    """Return where each name that a reader types is defined: ``fit`` -> ``d2lrnn.training.fit``."""
    import d2lrnn  # only here: this imports torch

    found = {}
    for name in d2lrnn.__all__:
        thing = getattr(d2lrnn, name)
        found[name] = f"{thing.__module__}.{thing.__qualname__}"
    for short in d2lrnn._SUBMODULES:
        module = getattr(d2lrnn, short)
        found[short] = module.__name__
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                found[f"{short}.{name}"] = f"{thing.__module__}.{thing.__qualname__}"
            elif inspect.ismodule(thing):
                found[f"{short}.{name}"] = thing.__name__
    return found


def resolve(name: str) -> str | None:
    """Return the full name for one that a reader types, methods included, or None."""
    name = name.removeprefix("d2lrnn.")
    head, tail = name, ""
    while head:
        if head in full_names():
            return full_names()[head] + tail
        head, _, last = head.rpartition(".")
        tail = f".{last}{tail}"
    return None


def used_names(source: str) -> set[str]:
    """Return the names of the package that a piece of code uses, as `resolve` takes them.

    >>> sorted(used_names("from d2lrnn.widgets import Scan\\nd.fit(d.bptt.bptt)"))
    ['bptt', 'bptt.bptt', 'fit', 'widgets.Scan']
    """
    try:
        tree = ast.parse("\n".join(line for line in source.splitlines() if not line.lstrip().startswith(("%", "!"))))
    except SyntaxError:
        return set()  # an exercise's cell to fill in
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            if match := re.fullmatch(r"(?:d|d2lrnn)\.([\w.]+)", ast.unparse(node)):
                found.add(match[1])
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "d2lrnn":
            below = (node.module or "").removeprefix("d2lrnn").lstrip(".")
            found |= {f"{below}.{alias.name}".lstrip(".") for alias in node.names}
    return found


@cache
def pages_that_use() -> dict[str, list[str]]:
    """Return, for each full name, the notebooks that use it, in the order of the book."""
    found: dict[str, list[str]] = {}
    for page in parse_toc_yaml(ROOT / "_toc.yml"):
        notebook = ROOT / f"{page}.ipynb"
        if not notebook.is_file():
            continue
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        for name in {n for cell in cells if cell["cell_type"] == "code" for n in used_names("".join(cell["source"]))}:
            full = resolve(name)
            if full is not None:
                found.setdefault(full, []).append(page)
    return found


def _say_where_used(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    pages = pages_that_use().get(name, [])
    if pages and what in ("class", "function"):
        links = ", ".join(f":doc:`/{page}`" for page in pages)
        lines += ["", f"**Used in** {links}.", ""]


def _skip_what_is_not_public(
    app: Sphinx, what: str, name: str, obj: object, skip: bool, options: object
) -> bool | None:
    """Entries stand in the order of the source, which `__all__` would change; `__all__` says which there are."""
    if what == "module":
        module = sys.modules[app.env.temp_data["autodoc:module"]]
        return skip or name not in module.__all__
    return True if name in HOUSEKEEPING else None


class TopLevelNames(SphinxDirective):
    """The names of ``d2lrnn.__all__``, each with the first sentence of its docstring."""

    def run(self) -> list[nodes.Node]:
        import d2lrnn

        lines = []
        for name in d2lrnn.__all__:
            summary = (inspect.getdoc(getattr(d2lrnn, name)) or "").split("\n\n")[0].replace("\n", " ")
            lines += [f":py:obj:`~{full_names()[name]}`", f"    {summary}", ""]
        node = nodes.container()
        self.state.nested_parse(StringList(lines, source=""), self.content_offset, node)
        return node.children


class AllExplorables(SphinxDirective):
    """The classes of `d2lrnn.widgets`, each with its docstring."""

    def run(self) -> list[nodes.Node]:
        lines = []
        for name, full in full_names().items():
            if re.fullmatch(r"widgets\.[A-Z]\w+", name):
                lines += [f".. autoclass:: {full}", "    :no-members:", ""]
        node = nodes.container()
        self.state.nested_parse(StringList(lines, source=""), self.content_offset, node)
        return node.children


class CommandHelp(SphinxDirective):
    """What ``d2lrnn COMMAND --help`` prints."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        words = [sys.executable, "-m", "d2lrnn", *self.arguments, "--help"]
        done = subprocess.run(words, capture_output=True, text=True, check=True, env=os.environ | {"COLUMNS": "80"})
        return [nodes.literal_block(done.stdout, done.stdout, language="text")]


class NamesInProse(SphinxTransform):
    """``d.fit`` between backquotes in a page's prose leads to the reference."""

    default_priority = 700

    def apply(self, **_: object) -> None:
        if self.env.docname.startswith("book/reference/"):
            return
        for literal in list(self.document.findall(nodes.literal)):
            match = IN_PROSE.fullmatch(literal.astext())
            inside = isinstance(literal.parent, nodes.reference | addnodes.pending_xref | nodes.title)
            full = None if match is None or inside else resolve(match["name"])
            if full is None:
                continue
            reference = addnodes.pending_xref(
                "", refdomain="py", reftype="obj", reftarget=full, refdoc=self.env.docname, refexplicit=True
            )
            literal.replace_self(reference)
            reference += literal


def _answer_to_short_names(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.Element
) -> nodes.Element | None:
    """Resolve ``d2lrnn.fit``, as docstrings name it, to where it is defined."""
    if node.get("refdomain") != "py":
        return None
    full = resolve(node["reftarget"])
    if full is None or full == node["reftarget"]:
        return None
    return env.get_domain("py").resolve_xref(env, node["refdoc"], app.builder, "obj", full, node, content)


class _Analyser(CodeBlockAnalyser):
    """`sphinx_codeautolink`'s, which fails on sections without a title, as sphinx-exercise makes them."""

    def depart_section(self, node: nodes.section) -> None:
        if self.title_stack:
            super().depart_section(node)


def _link_code(document: str, out_dir: str, *arguments: object, **options: object) -> None:
    """`sphinx_codeautolink`'s, which would parse and write the whole page: it gets the blocks of code alone."""
    file = Path(out_dir, f"{document}.html")
    page = file.read_text(encoding="utf-8")
    file.write_text("\n".join(CODE.findall(page)), encoding="utf-8")
    link_html(document, out_dir, *arguments, **options)
    linked = CODE.findall(file.read_text(encoding="utf-8"))
    assert len(linked) == len(CODE.findall(page)), document
    blocks = iter(linked)
    file.write_text(CODE.sub(lambda _: next(blocks), page), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    sphinx_codeautolink.extension.CodeBlockAnalyser = _Analyser
    sphinx_codeautolink.extension.link_html = _link_code
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.napoleon")
    app.setup_extension("sphinx_codeautolink")
    app.connect("autodoc-process-docstring", _say_where_used, priority=900)
    app.connect("autodoc-skip-member", _skip_what_is_not_public)
    app.connect("missing-reference", _answer_to_short_names)
    app.add_directive("top-level-names", TopLevelNames)
    app.add_directive("all-explorables", AllExplorables)
    app.add_directive("command-help", CommandHelp)
    app.add_transform(NamesInProse)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
