"""Print the built book: each lesson and closer look as a PDF, and the whole as one, with outline and page numbers.

Chromium prints the pages as they are built; pypdf joins them, numbers their sheets and mends the links. Solutions stand
at the end of their page (``--solutions end``) or are left out (``--solutions no``). An explorable is its static picture
with the address that opens the same figure.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import unquote, urldefrag

from playwright.sync_api import Page, sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, Fit, NameObject, NumberObject
from sphinx_external_toc.parsing import parse_toc_yaml

from chromium import ARGUMENTS, find_chromium
from serving import served

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "_build" / "html"
OUT = ROOT / "_build" / "pdf"
REFERENCE = "book/reference/"  # for the screen: thirty pages of docstrings

SHEET = {"format": "A4", "margin": {"top": "16mm", "bottom": "18mm", "left": "17mm", "right": "17mm"}}

STYLE = """
@page { size: A4; }
html, body { background: #fff; }
:is(.bd-sidebar-primary, .bd-sidebar-secondary, .bd-header, .bd-header-article, .header-article, .bd-footer,
  .bd-footer-article, .prev-next-area, .headerlink, #pst-back-to-top, .toggle-button, .copybtn, #pst-skip-link, footer,
  dialog, script) { display: none !important; }
.bd-container, .bd-container__inner, .bd-main, .bd-content, .bd-article-container, .bd-article {
  display: block !important; width: auto !important; max-width: none !important; margin: 0 !important;
  padding: 0 !important; overflow: visible !important; }
.bd-article { font-size: 10.5pt; }
h1 { margin-top: 0; }
h1, h2, h3, h4 { break-after: avoid; }
section { content-visibility: visible !important; }
pre, code { white-space: pre-wrap !important; overflow-wrap: anywhere; }
pre { max-height: none !important; font-size: 8.5pt; }
table { width: auto; max-width: 100%; }
#jb-print-toc, #print-main-content { display: none !important; }
div.cell, div.cell_output, .d2lrnn-widget, .admonition { break-inside: auto !important; }
.admonition-title { break-after: avoid; }
div.cell_input { break-inside: avoid; }
section#cheat-sheet { zoom: 0.86; }
#jb-print-docs-body { margin: 0 !important; padding: 0 !important; }
#jb-print-docs-body h1 { margin: 0 0 0.4em; text-align: start; font-size: 22pt; font-weight: 700; }
figure, img, .d2lrnn-fallback, tr, li { break-inside: avoid; }
details > * { display: revert; }
.output, .cell_output, .highlight, .pst-scrollable-table-container, .math { overflow: visible !important; }
.hs-address { font-size: 8.5pt; color: #444; }
"""

# What a sheet of paper shows instead of what a screen does. Returns the number of solutions.
PREPARE = """(solutions) => {
  for (const details of document.querySelectorAll("details")) details.open = true;
  for (const image of document.querySelectorAll("img")) image.loading = "eager";
  const places = new Map();
  for (const widget of document.querySelectorAll(".d2lrnn-widget")) {
    const name = widget.dataset.widget;
    const place = places.get(name) ?? 0;
    places.set(name, place + 1);
    const where = location.pathname.replace(/^\\//, "") + `#explore=${name}.${place}`;
    const note = document.createElement("p");
    note.className = "hs-address";
    note.textContent = `To move it, open ${where} in the book.`;
    widget.querySelector(".d2lrnn-fallback p")?.replaceChildren();
    widget.after(note);
  }
  for (const box of document.querySelectorAll(".toggle-hidden")) box.classList.remove("toggle-hidden");
  const found = [...document.querySelectorAll(".admonition.solution")];
  const article = document.querySelector(".bd-article");
  if (found.length && solutions === "end") {
    const end = document.createElement("section");
    end.style.breakBefore = "page";
    end.append(Object.assign(document.createElement("h2"), { textContent: "Solutions" }), ...found);
    article.append(end);
  } else {
    for (const solution of found) solution.remove();
  }
  return found.length;
}"""


class PrintError(Exception):
    """The book can't be printed; the message says why."""


@dataclass
class Printed:
    """One page of the book on paper."""

    name: str
    title: str
    level: int
    pdf: bytes
    sheets: int


def print_page(page: Page, address: str, name: str, solutions: str) -> Printed:
    """Print one page of the built book."""
    page.goto(f"{address}/{name}.html")
    page.wait_for_function(
        "() => [...document.querySelectorAll('.d2lrnn-widget')].every((widget) => widget.dataset.ready === '1')"
    )
    page.add_style_tag(content=STYLE)
    page.evaluate(PREPARE, solutions)
    page.evaluate("() => document.fonts.ready")
    page.wait_for_function("() => [...document.images].every((image) => image.complete)")
    title = page.evaluate(
        "() => document.querySelector('h1').textContent.replace(/#$/, '').replace(/\\u00b6$/, '').trim()"
    )
    page.emulate_media(media="print", color_scheme="light")
    pdf = page.pdf(**SHEET, print_background=True, outline=True, tagged=True)
    return Printed(name, title, 0, pdf, len(PdfReader(io.BytesIO(pdf)).pages))


def numbers(page: Page, count: int, footer: str) -> PdfReader:
    """`count` empty sheets with their numbers at the foot."""
    sheets = "".join(
        f"<div style='height:1122px;position:relative;break-after:page'><p>{escape(footer)} · {i + 1}</p></div>"
        for i in range(count)
    )
    style = "@page{size:A4;margin:0} body{margin:0} p{position:absolute;bottom:20px;width:100%;text-align:center;"
    style += "font:9pt sans-serif;color:#555;margin:0} div:last-child{break-after:auto!important}"
    page.set_content(f"<style>{style}</style>{sheets}")
    reader = PdfReader(io.BytesIO(page.pdf(format="A4", margin=dict.fromkeys(("top", "bottom", "left", "right"), "0"))))
    if len(reader.pages) != count:
        raise PrintError(f"{len(reader.pages)} sheets of numbers instead of {count}")
    return reader


def join(parts: list[Printed], address: str, folios: PdfReader) -> PdfWriter:
    """One document of the parts: outline, sheet numbers, links that lead to other parts or to the outside."""
    writer = PdfWriter()
    first: dict[str, int] = {}
    parents: dict[int, object] = {}
    for part in parts:
        first[part.name] = len(writer.pages)
        # Chromium's own outline of headings comes along below the page's entry.
        writer.append(io.BytesIO(part.pdf), import_outline=False)
        parent = parents.get(part.level - 1) if part.level else None
        parents[part.level] = writer.add_outline_item(
            title=part.title, page_number=first[part.name], parent=parent, fit=Fit.fit()
        )
    for sheet, folio in zip(writer.pages, folios.pages, strict=True):
        sheet.merge_page(folio)
        annotations = sheet.get("/Annots")
        if annotations is not None:
            kept = [a for a in annotations.get_object() if _mended(a.get_object(), address, first, writer)]
            sheet[NameObject("/Annots")] = ArrayObject(kept)
    return writer


def _mended(link: DictionaryObject, address: str, first: dict[str, int], writer: PdfWriter) -> bool:
    """Let a link to another page lead to its sheet; False where there is nothing to lead to."""
    action = link.get("/A")
    target = None if action is None else action.get_object().get("/URI")
    if target is None or not str(target).startswith(address):
        return True
    name = re.sub(r"\.html$", "", unquote(urldefrag(str(target)[len(address) + 1 :])[0]))
    if name not in first:
        return False
    del link[NameObject("/A")]
    sheet, top = writer.pages[first[name]].indirect_reference, NumberObject(842)  # points: the top of an A4 sheet
    link[NameObject("/Dest")] = ArrayObject([sheet, NameObject("/XYZ"), NumberObject(0), top, NumberObject(0)])
    return True


def levels(toc: Path) -> dict[str, int]:
    """How deep each page stands in the table of contents: 0 for chapters, 1 for their closer looks."""
    site = parse_toc_yaml(toc)
    found = {site.root.docname: 0}

    def walk(document: str, level: int) -> None:
        for tree in site[document].subtrees:
            for child in tree.items:
                found[str(child)] = level
                walk(str(child), level + 1)

    walk(site.root.docname, 0)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--solutions", choices=["end", "no"], default="end", help="at the end of each page, or none")
    parser.add_argument("--pages", nargs="*", default=[], help="print these alone, for example chapters/06_perplexity")
    chosen = parser.parse_args()
    try:
        print_book(chosen.solutions, chosen.pages)
    except PrintError as error:
        print(f"Nothing was printed: {error}", file=sys.stderr)
        return 1
    return 0


def print_book(solutions: str, wanted: list[str], book: Path = BOOK, out: Path = OUT) -> list[Path]:
    """Print into `out`: a PDF for each page in ``pages/``, and where nothing else is wanted the whole book."""
    if not (book / "index.html").is_file():
        raise PrintError("there is no built book in _build/html; run `make book` first")
    depth = {name: level for name, level in levels(ROOT / "_toc.yml").items() if not name.startswith(REFERENCE)}
    if unknown := [name for name in wanted if name not in depth]:
        raise PrintError(f"there is no page {', '.join(unknown)}; pages are named as in _toc.yml")
    executable = find_chromium()
    if executable is None:
        raise PrintError("there is no Chromium that works; run `make chromium` or set CHROME=/path/to/chrome")
    written = []
    with served(book) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(ARGUMENTS))
        page = browser.new_page(color_scheme="light", viewport={"width": 760, "height": 1100})
        parts = []
        for name in wanted or depth:
            part = print_page(page, address, name, solutions)
            part.level = depth[name]
            parts.append(part)
            page.emulate_media(media="screen")
            print(f"{name}: {part.sheets} sheets", flush=True)
        jobs = [([part], out / "pages" / f"{Path(part.name).name}.pdf") for part in parts]
        if not wanted:
            jobs.append((parts, out / "hidden-state.pdf"))
        for some, path in jobs:
            footer = "Hidden State" if len(some) > 1 else f"Hidden State · {some[0].title}"
            writer = join(some, address, numbers(page, sum(part.sheets for part in some), footer))
            writer.compress_identical_objects()  # every part has brought its own fonts
            writer.add_metadata({"/Title": footer.replace(" · ", ": "), "/Author": "The Hidden State authors"})
            path.parent.mkdir(parents=True, exist_ok=True)
            writer.write(path)
            written.append(path)
        browser.close()
    print(f"{len(written)} files in {out}")
    return written


if __name__ == "__main__":
    sys.exit(main())
