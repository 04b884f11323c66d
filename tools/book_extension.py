"""The book's own Sphinx extension: where executions are cached, search from disk, explorables, the story."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective
from sphinxcontrib.bibtex.plugin import register_plugin
from sphinxcontrib.bibtex.style.referencing import BracketStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle

from execute_chapters import cache_folder

# From disk the browser refuses `fetch`, with which the search page shows an excerpt of each hit.
SEARCH_FROM_DISK = 'if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;'

# What an explorable carries and others may carry too: sources, weights, texts. See d2lrnn.widgets.base.
SHARED_BLOCK = re.compile(
    r'<script type="application/json" class="d2lrnn-(?P<block>shim|module|shared)" data-hash="(?P<hash>[0-9a-f]+)"'
    r"(?P<more>[^>]*)>(?P<json>[^<]+)</script>"
)
SHARED_FOLDER = "_static/d2lrnn"
# An explorable as its `static_html` writes it, and the sources in it.
EXPLORABLE = re.compile(r'<div class="d2lrnn-widget" data-widget="(?P<name>\w+)">.*?<script>.*?</script>', re.DOTALL)
SOURCE_BLOCKS = {
    "style": re.compile(r'<style data-hash="\w+">.*?</style>', re.DOTALL),
    "shim": re.compile(r'<script type="application/json" class="d2lrnn-shim"[^>]*>[^<]*</script>'),
    "module": re.compile(r'<script type="application/json" class="d2lrnn-module"[^>]*>[^<]*</script>'),
    "loader": re.compile(r"<script>.*?</script>", re.DOTALL),
}

STORY = Path(__file__).resolve().parent.parent / "src" / "d2lrnn" / "data" / "the-tide-clock.txt"

# The book starts in a folder, so the address of the whole needs a page that leads there (also where refresh is off).
FRONT_DOOR = """<!DOCTYPE html>
<html lang="{language}">
<head><meta charset="utf-8"><title>{title}</title><meta http-equiv="refresh" content="0; url={page}"></head>
<body><p><a href="{page}">{title}</a></p></body>
</html>
"""


def _set_execution_cache(app: Sphinx, config: Config) -> None:
    config.nb_execution_cache_path = str(cache_folder(Path(app.srcdir)))


def _write_front_door(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        page = f"{app.config.master_doc}.html"
        text = FRONT_DOOR.format(language=app.config.language, title=escape(app.config.html_title), page=page)
        Path(app.outdir, "index.html").write_text(text, encoding="utf-8")
        # GitHub Pages takes folders that begin with an underscore for its own, unless it finds this.
        Path(app.outdir, ".nojekyll").touch()


@dataclass
class RoundBrackets(AuthorYearReferenceStyle):
    """Citations as prose has them: Elman (1990)."""

    bracket_textual: BracketStyle = field(default_factory=lambda: BracketStyle("(", ")", sep="; "))
    bracket_parenthetical: BracketStyle = field(default_factory=lambda: BracketStyle("(", ")", sep="; "))


class ExplorableDirective(SphinxDirective):
    """An explorable on a page that is no notebook: its class, and in the body its traits as YAML."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        from d2lrnn import widgets  # only where a page asks for one: this imports torch

        name = self.arguments[0]
        if name not in widgets.__all__:
            raise self.error(f"There is no explorable {name!r}; there are {', '.join(widgets.__all__)}.")
        widget = getattr(widgets, name)(**(yaml.safe_load("\n".join(self.content)) or {}))
        return [nodes.raw("", f"<div>\n{widget.static_html()}\n</div>", format="html")]


class FigureLinks(SphinxTransform):
    """Words in the text that set a figure, ``[cut after *other*](#explore=HiddenState&cut=12)``, are no anchors."""

    default_priority = 800  # before MyST looks for the anchors that its links name

    def apply(self, **_: object) -> None:
        for node in self.document.findall(nodes.reference):
            if node.get("refuri", "").startswith("#explore="):
                node.attributes.pop("id_link", None)
                node["classes"].append("sets-figure")


class TideClockDirective(SphinxDirective):
    """The story on which the models train, a section for each chapter, from the file that they read."""

    def run(self) -> list[nodes.Node]:
        sections: list[nodes.section] = []
        for heading, paragraphs in story_chapters(STORY.read_text(encoding="utf-8")):
            section = nodes.section("", nodes.title("", heading), *(nodes.paragraph("", text) for text in paragraphs))
            section["names"].append(nodes.fully_normalize_name(heading))
            self.state.document.note_implicit_target(section, section)
            sections.append(section)
        return list(sections)


def story_chapters(text: str) -> list[tuple[str, list[str]]]:
    """Return heading and paragraphs of each chapter; a heading is one line that begins with a Roman number."""
    chapters: list[tuple[str, list[str]]] = []
    for block in text.strip().split("\n\n")[1:]:  # the first is the title
        line = " ".join(block.split())
        if re.match(r"[IVX]+\. \w", line) and "\n" not in block:
            chapters.append((line, []))
        else:
            chapters[-1][1].append(line)
    return chapters


def refresh_sources(html: str) -> str:
    """Give a page's explorables the style sheets and modules of the package as it is now.

    What a chapter printed when it was executed holds those of then. Nothing that Python computed depends on them.
    """
    if 'class="d2lrnn-widget"' not in html:
        return html
    from d2lrnn import widgets  # only where a page has one: this imports torch

    def refresh(match: re.Match[str]) -> str:
        cls = getattr(widgets, match["name"], None)
        if cls is None:
            raise ValueError(f"A page shows the explorable {match['name']!r}, which the package does not have.")
        text = match[0]
        for kind, block in source_blocks(cls).items():
            pattern = SOURCE_BLOCKS[kind]
            text, count = pattern.subn(lambda _, block=block: block, text, count=1)
            assert count == 1, f"{match['name']} has no {kind}"
        return text

    return EXPLORABLE.sub(refresh, html)


def source_blocks(cls: type) -> dict[str, str]:
    """Return the parts of an explorable's HTML that are sources, as the package has them now."""
    from d2lrnn.widgets import base

    style = str(cls._css)
    return {
        "style": f'<style data-hash="{base._hash(style)}">{style}</style>',
        "shim": base._data_block("shim", base.bundle(base._FOLDER / "shim.mjs")),
        "module": base._data_block("module", str(cls._esm)),
        "loader": f"<script>{base._script('loader.js')}</script>",
    }


def share_blocks(html: str, to_static: str, files: dict[str, str]) -> str:
    """Move the shared blocks of a page's explorables into files, to which script elements point.

    A page from disk may not fetch, but it may load a classic script. Every file is loaded once a page, and once for all
    pages by a browser that keeps it.

    Parameters
    ----------
    html : str
        The page.
    to_static : str
        The way from the page to the folder of the files, with a slash at its end.
    files : dict
        Gets the content of each file by its name.
    """
    # A preview comes to a page that it has written before.
    loaded = set(re.findall(rf'<script src="{re.escape(to_static)}(\w+)\.js"></script>', html))

    def replace(match: re.Match[str]) -> str:
        key = match["hash"]
        files[f"{key}.js"] = f"(globalThis.d2lrnnBlocks ??= new Map()).set({key!r}, {match['json']});\n"
        load = "" if key in loaded else f'<script src="{to_static}{key}.js"></script>'
        loaded.add(key)
        empty = match[0].replace(match["json"], "", 1)
        return load + empty

    return SHARED_BLOCK.sub(replace, html)


def _mend_roles(app: Sphinx, exception: Exception | None) -> None:
    # Sphinx calls the entries of a `list` "doc-biblioentry", a role that no list may have: a screen reader counts none.
    if exception is None and app.builder.format == "html":
        for page in Path(app.outdir).rglob("*.html"):
            html = page.read_text(encoding="utf-8")
            if 'role="doc-biblioentry"' in html:
                page.write_text(html.replace('role="doc-biblioentry"', 'role="listitem"'), encoding="utf-8")


def _share_blocks(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    files: dict[str, str] = {}
    for page in sorted(Path(app.outdir).rglob("*.html")):
        html = page.read_text(encoding="utf-8")
        if 'class="d2lrnn-widget"' in html:
            up = "../" * (len(page.relative_to(app.outdir).parts) - 1)
            shared = share_blocks(refresh_sources(html), f"{up}{SHARED_FOLDER}/", files)
            page.write_text(shared, encoding="utf-8")
    folder = Path(app.outdir) / SHARED_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", _set_execution_cache)
    register_plugin("sphinxcontrib.bibtex.style.referencing", "round_brackets", RoundBrackets)
    app.add_directive("explorable", ExplorableDirective)
    app.add_directive("tide-clock", TideClockDirective)
    app.add_transform(FigureLinks)
    app.connect("build-finished", _share_blocks)
    app.connect("build-finished", _mend_roles)
    app.connect("build-finished", _write_front_door, priority=400)  # before external_toc writes a barer one
    app.add_js_file(None, body=SEARCH_FROM_DISK)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
