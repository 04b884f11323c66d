"""Turn the built chapters into slides, ``_build/html/slides/NAME.html``: reveal.js, offline, the explorables alive.

A slide is one thing to look at (an equation, a figure, an explorable, a table, an exercise) below the heading of its
section and the paragraph that leads to it. What the text says besides stands in the speaker's notes (key S).
"""

from __future__ import annotations

import argparse
import copy
import re
import shutil
import sys
from html import escape
from importlib.resources import files
from pathlib import Path

from bs4 import BeautifulSoup, Tag

from make_pdf import BOOK, ROOT, levels

REVEAL = ("dist/reveal.js", "dist/reveal.css", "plugin/notes/notes.js", "LICENSE")
SLIDE = 15  # lines of text that a slide has room for
LONGEST_LEAD = 60  # words of a paragraph that a slide shows; a longer one is for the speaker
LEFT_OUT = ".headerlink, .solution, .tag_hide-cell, .toctree-wrapper"

PAGE = """<!DOCTYPE html>
<html lang="en" data-theme="light" data-mode="light" data-content_root="../">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}: slides</title>
{links}
<link rel="stylesheet" href="../_static/reveal/reveal.css">
<link rel="stylesheet" href="../_static/slides.css">
</head>
<body>
<div class="reveal"><div class="slides bd-article">
{slides}
</div></div>
<script src="../_static/reveal/reveal.js"></script>
<script src="../_static/reveal/notes.js"></script>
<script>
// No scaling, so that a finger's place on a figure is where it is drawn; keys and swipes on a figure are the figure's.
for (const figure of document.querySelectorAll(".d2lrnn-widget")) figure.setAttribute("data-prevent-swipe", "");
Reveal.initialize({{
  width: "100%", height: "100%", margin: 0, minScale: 1, maxScale: 1, center: false, scrollActivationWidth: null,
  slideNumber: "c/t", transition: "none", plugins: [RevealNotes],
  keyboardCondition: () => !document.activeElement?.closest(".d2lrnn-widget, details"),
}});
</script>
</body>
</html>
"""


class SlidesError(Exception):
    """No slides can be made; the message says why."""


def slides_of(page: str, name: str) -> str:
    """Return the slides of a built page, as a page of its own."""
    soup = BeautifulSoup(page, "html.parser")
    article = soup.select_one("article.bd-article > section")
    if article is None:
        raise SlidesError(f"chapters/{name}.html has no text; run `make book` first")
    for unwanted in article.select(LEFT_OUT):
        unwanted.decompose()
    for content in article.select(".admonition section"):
        content.name = "div"  # a section is a slide to reveal.js
    for link in article.select("a[href]"):
        link["href"] = _from_slides(link["href"], name)
    slides = _slides(article)
    heading = article.h1.get_text().strip()
    links = "\n".join(str(link) for link in soup.head.select('link[rel="stylesheet"]'))
    return PAGE.format(title=escape(heading), links=links, slides="\n".join(slides))


def _from_slides(address: str, name: str) -> str:
    """A link of a page of `chapters`, as seen from the folder beside it."""
    if re.match(r"[a-z]+:|\.\./|#explore=", address):
        return address
    return f"../chapters/{name}.html{address}" if address.startswith("#") else f"../chapters/{address}"


def _slides(section: Tag) -> list[str]:
    """The slides of a section, then those of the sections in it."""
    heading = section.find(re.compile("^h[1-4]$"), recursive=False)
    opening = heading is not None and heading.name == "h1"
    kind = "h1" if opening else "h2"
    deck = _Deck(f"<{kind}>{heading.decode_contents() if heading else ''}</{kind}>")
    inner: list[str] = []
    for part in section.find_all(recursive=False):
        if part is heading or part.name in ("script", "style", "span"):
            continue
        if part.name == "section":
            inner += _slides(part)
        elif part.name == "p" and part.get_text().strip().startswith("What to notice"):
            part["class"] = ["fragment"]
            deck.shown[-1].append(part)
        elif part.name == "p":
            deck.waiting.append(part)
        elif opening and "tip" in part.get("class", []):
            for line in part.find_all(recursive=False):
                if "admonition-title" not in line.get("class", []) and len(line.get_text().split()) > 2:
                    deck.add(line)
        elif _shown(part):
            deck.show(part)
    return deck.slides() + inner


class _Deck:
    """The slides of one heading, filled from left to right."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.shown: list[list[Tag]] = [[]]
        self.notes: list[list[Tag]] = [[]]
        self.waiting: list[Tag] = []  # paragraphs that no slide has yet
        self.height = 0

    def add(self, *parts: Tag) -> None:
        """Put parts on the slide, on a new one where they would not fit."""
        height = sum(_height(part) for part in parts)
        if self.shown[-1] and self.height + height > SLIDE:
            self.shown.append([])
            self.notes.append([])
            self.height = 0
        self.shown[-1] += parts
        self.height += height

    def show(self, part: Tag) -> None:
        """Put something to look at on a slide, below the paragraph that leads to it; the speaker says the others."""
        *said, lead = self.waiting or [None]
        if lead is not None and len(lead.get_text().split()) <= LONGEST_LEAD:
            self.add(lead, part)
        else:
            self.add(part)
            said += [lead] if lead is not None else []
        self.notes[-1] += said
        self.waiting = []

    def slides(self) -> list[str]:
        self.notes[-1] += self.waiting
        return [_slide(self.title, shown, said) for shown, said in zip(self.shown, self.notes, strict=True)]


def _height(part: Tag) -> float:
    """About how many lines of text a part is high."""
    if part.select_one("img, svg:not(.katex svg), .d2lrnn-widget"):
        return SLIDE - 4
    code = sum(len(block.get_text().splitlines()) for block in part.select("pre"))
    formulas = sum(2 + len(shown.select(".katex-html .mtr")) for shown in part.select(".katex-display"))
    if code or "math" in part.get("class", []):
        return 2 + code + formulas
    frame = 8 if "admonition" in part.get("class", []) else 1
    return frame + formulas + len(part.select("tr, li")) + len(_plain(part).split()) / 12


def _shown(part: Tag) -> bool:
    """Whether a part is something to look at; a cell without a result, or whose result is a picture, loses its code."""
    if "cell" not in part.get("class", []):
        return part.name in ("div", "figure", "ul", "ol", "table", "details", "blockquote")
    code, output = part.select_one(".cell_input"), part.select_one(".cell_output")
    if output is None or code is None:
        return code is not None and "def " in code.get_text()
    if output.select_one("img, svg, .d2lrnn-widget"):
        code.decompose()
    return True


def _slide(title: str, shown: list[Tag], said: list[Tag]) -> str:
    aside = "".join(f"<p>{escape(_plain(part))}</p>" for part in said)
    body = "".join(str(part) for part in shown)
    return f'<section>{title}{body}<aside class="notes">{aside}</aside></section>'


def _plain(part: Tag) -> str:
    """The text of a paragraph, its formulas as TeX."""
    part = copy.copy(part)
    for formula in part.select(".katex"):
        tex = formula.select_one("annotation")
        formula.replace_with(tex.get_text() if tex else formula.get_text())
    return " ".join(part.get_text().split())


def make_slides(wanted: list[str], book: Path = BOOK) -> list[Path]:
    """Write the slides of the chapters named `wanted`, of all where none is, into ``slides/`` of the built book."""
    if not (book / "index.html").is_file():
        raise SlidesError("there is no built book in _build/html; run `make book` first")
    known = [Path(name).name for name in levels(ROOT / "_toc.yml") if name.startswith("chapters/")]
    if unknown := [name for name in wanted if name not in known]:
        raise SlidesError(f"there is no chapter {', '.join(unknown)}; a chapter is named as its notebook, 07_bptt")
    pages = {name: slides_of((book / f"chapters/{name}.html").read_text(), name) for name in wanted or known}
    reveal = files("sphinx_revealjs") / "_static" / "revealjs"
    (book / "_static" / "reveal").mkdir(exist_ok=True)
    for file in REVEAL:
        shutil.copyfile(str(reveal / file), book / "_static" / "reveal" / Path(file).name)
    shutil.copyfile(ROOT / "tools" / "slides.css", book / "_static" / "slides.css")
    (book / "slides").mkdir(exist_ok=True)
    written = []
    for name, page in pages.items():
        written.append(book / "slides" / f"{name}.html")
        written[-1].write_text(page)
    return written


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapters", nargs="*", help="these alone, for example 07_bptt")
    try:
        written = make_slides(parser.parse_args().chapters)
    except SlidesError as error:
        print(f"No slides: {error}", file=sys.stderr)
        return 1
    print(f"{len(written)} decks of slides in {written[0].parent}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
