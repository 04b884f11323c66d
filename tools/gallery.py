"""The page *Play*: a tile for each explorable, and each explorable as a page of its own.

The tiles are a list in the page's source. `explorables/NAME.html` is one file that works offline and in a frame; the
line under a tile embeds it.
"""

from __future__ import annotations

import posixpath
import re
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

from thumbnails import thumbnail

FOLDER = "explorables"
MAKES_ONE = re.compile(r"^d\.widgets\.(\w+)\(", re.MULTILINE)
TIME = re.compile(r"\b[Aa]bout \d+ minutes\.$")
FRAME = (
    '<iframe src="{src}" title="{title}" loading="lazy" style="width: 100%; height: {height}rem; border: 0"></iframe>'
)
TILE = """<article class="hs-tile">
<a href="{href}">{picture}<span class="hs-question">{question}</span><span class="hs-where">{where}</span></a>
<details><summary>Embed<span class="visually-hidden"> {title}</span></summary>
<p>As <a href="{page}">a page of its own</a>, or in yours:</p>
<div class="highlight"><pre>{frame}</pre></div></details>
</article>"""


def read_tiles(text: str) -> list[dict[str, Any]]:
    """Return the tiles: explorable, title, page, question, height of its frame in rem, and the state of its link."""
    return [{"state": {}, **tile} for tile in yaml.safe_load(text)]


def names() -> list[str]:
    """Return the names of the package's explorables."""
    from d2lrnn import widgets  # only where a page asks for it: this imports torch

    return [name for name in widgets.__all__ if name != "Explorable"]


class GalleryDirective(SphinxDirective):
    """One tile for each explorable."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        tiles = read_tiles("\n".join(self.content))
        if sorted(tile["explorable"] for tile in tiles) != sorted(names()):
            raise self.error(f"There must be one tile for each of {', '.join(names())}.")
        here = posixpath.dirname(self.env.docname)
        shown = "".join(self._tile(tile, here) for tile in tiles)
        return [nodes.raw("", f'<div class="hs-play">{shown}</div>', format="html")]

    def _tile(self, tile: dict[str, Any], here: str) -> str:
        name, page = tile["explorable"], tile["page"]
        if page not in self.env.found_docs:
            raise self.error(f"{name}: there is no page {page!r}.")
        link = "&".join(filter(None, [f"#explore={name}", urlencode(tile["state"])]))
        own = posixpath.relpath(f"{FOLDER}/{name}.html", here)
        frame = FRAME.format(src=own, title=escape(tile["title"]), height=tile["height"])
        chapter = int(posixpath.basename(page).split("_")[0])
        return TILE.format(
            href=escape(posixpath.relpath(f"{page}.html", here) + link),
            picture=thumbnail(name),
            question=escape(tile["question"]),
            title=escape(tile["title"]),
            where=escape(f"{tile['title']} · chapter {chapter}"),
            page=own,
            frame=escape(frame),
        )


class WayToTheFigure(SphinxTransform):
    """At the top of a chapter, after its time, a link to its first explorable."""

    default_priority = 700

    def apply(self, **_: object) -> None:
        code = "\n".join(block.astext() for block in self.document.findall(nodes.literal_block))
        if made := MAKES_ONE.search(code):
            for paragraph in self.document.findall(nodes.paragraph):
                if TIME.search(paragraph.astext()):
                    link = nodes.reference("", "Go to the figure", refuri=f"#explore={made[1]}")
                    link["classes"].append("hs-to-figure")
                    paragraph.extend([nodes.Text(" "), link])
                    return


def _write_pages(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    from d2lrnn import widgets
    from d2lrnn.widgets.page import page_of

    folder = Path(app.outdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name in names():
        (folder / f"{name}.html").write_text(page_of(getattr(widgets, name)()), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("gallery", GalleryDirective)
    app.add_transform(WayToTheFigure)
    # When the pages of the book have been mended and lightened: these are whole as they are.
    app.connect("build-finished", _write_pages, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
