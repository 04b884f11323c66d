"""Take from the built pages what they don't use: rules of style sheets, glyphs of the icon font, scripts.

The theme brings all of Bootstrap's and sphinx-design's rules, and all of Font Awesome twice, as a font and as a script.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path

import tinycss2
from fontTools import subset
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx
from tinycss2.ast import Node

# Scripts that name no class of any page's: looked through, they would keep rules that nothing needs.
NO_WORDS_FROM = {"fontawesome.js", "searchindex.js", "katex.min.js"}
# The book's own: nothing in it is not used.
LEFT_ALONE = {"hidden-state.css"}
# Of Bootstrap's script, 81 kB, the pages would use two things: on-screen.js opens the menu, a browser shows titles.
BOOTSTRAP, MADE_BY_BOOTSTRAP = "scripts/bootstrap.js", {"dropdown", "tooltip"}
FOR_BOOTSTRAP = re.compile(r' data-bs-(?:toggle|placement)="(\w+)"')
SCRIPT = r'\s*<script[^>]*\bsrc="[^"]*{}[^"]*"[^>]*></script>'
LOADED_EARLY = r'\s*<link[^>]*\bhref="[^"]*{}[^"]*"[^>]*/>'
ICONS = SCRIPT.format(r"scripts/fontawesome\.js")
SEARCH = SCRIPT.format(r"(?:searchtools|language_data|searchindex)\.js")
TOGGLE = '<summary><span class="toctree-toggle"'
TABS = SCRIPT.format(r"design-tabs\.js")
NAMED = re.compile(r"[.#]((?:\\.|[\w-])+)")
NEGATED = re.compile(r":not\([^()]*(?:\([^()]*\)[^()]*)*\)")
GLYPH = re.compile("[\ue000-\uf8ff]")  # private use, where icons are
ICON_FONT = "fa-solid-900"
logging.getLogger("fontTools").setLevel(logging.WARNING)
# The theme measures all boxes that might scroll, on opening and after every change of the page, and so lays out all of
# it each time. on-screen.js measures those that are seen.
MEASURED = """["pre",".nboutput > .output_area",".cell_output > .output",".jp-RenderedHTMLCommon",\
".pst-scrollable-table-container"].join(", ")"""


def used_names(folder: Path) -> set[str]:
    """Return the classes and identifiers of the pages, and every word of the scripts, which may set others."""
    names: set[str] = set()
    for page in folder.rglob("*.html"):
        for value in re.findall(r'\b(?:class|id)="([^"]*)"', page.read_text(encoding="utf-8")):
            names.update(value.split())
    for script in folder.rglob("*.js"):
        if script.name not in NO_WORDS_FROM:
            names.update(re.findall(r"[\w-]+", script.read_text(encoding="utf-8")))
    return names


def without_bootstrap(html: str) -> str:
    """Return the page without Bootstrap's script, and what it would make of titles to the browser.

    >>> print(without_bootstrap('<button data-bs-title="Search" data-bs-toggle="tooltip" class="a">'))
    <button title="Search" class="a">
    """
    if unknown := set(re.findall(r'data-bs-toggle="([^"]*)"', html)) - MADE_BY_BOOTSTRAP:
        raise ValueError(f"The pages would have Bootstrap make a {unknown.pop()}: see tools/lighten.py.")
    for tag in (SCRIPT, LOADED_EARLY):
        html = re.sub(tag.format(re.escape(BOOTSTRAP)), "", html)
    return FOR_BOOTSTRAP.sub("", html).replace(" data-bs-title=", " title=")


def _is_used(selector: str, names: set[str]) -> bool:
    return all(name.replace("\\", "") in names for name in NAMED.findall(NEGATED.sub("", selector)))


def _selectors(prelude: list[Node]) -> list[str]:
    groups: list[list[Node]] = [[]]
    for token in prelude:
        if token.type == "literal" and token.value == ",":
            groups.append([])
        else:
            groups[-1].append(token)
    return [tinycss2.serialize(group).strip() for group in groups]


def _purge(rules: list[Node], names: set[str]) -> str:
    kept = []
    for rule in rules:
        if rule.type == "comment" and rule.value.startswith("!"):  # a licence
            kept.append(rule.serialize())
        elif rule.type == "qualified-rule":
            selectors = [selector for selector in _selectors(rule.prelude) if _is_used(selector, names)]
            if selectors:
                kept.append(f"{','.join(selectors)}{{{tinycss2.serialize(rule.content).strip()}}}")
        elif rule.type == "at-rule" and rule.content and rule.lower_at_keyword in ("media", "supports", "layer"):
            inner = _purge(tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True), names)
            if inner:
                kept.append(f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{inner}}}")
        elif rule.type == "at-rule":
            kept.append(rule.serialize())
    return "\n".join(kept)


def purge(css: str, names: set[str]) -> str:
    """Return the style sheet without the rules that need a class or an identifier of another name.

    >>> print(purge(".a, .b:not(.c) { color: red } @media print { .d p { color: blue } } p { margin: 0 }", {"b"}))
    .b:not(.c){color: red}
    p{margin: 0}
    """
    return _purge(tinycss2.parse_stylesheet(css, skip_whitespace=True), names)


DEFINED = re.compile(r"""(--[\w-]+)\s*:(?:[^;{}"'(]|"[^"]*"|'[^']*'|\([^)]*\))*(?:;|(?=\}))""")


def without_unused_properties(sheets: dict[Path, str], others: str) -> dict[Path, str]:
    """Return the sheets without the custom properties that neither they nor what else the pages are made of read.

    >>> sheet = Path("a.css")
    >>> without_unused_properties({sheet: "p{--a:1;--b:var(--a);color:var(--c);--c:2}"}, "")[sheet]
    'p{color:var(--c);--c:2}'
    """
    read = set(re.findall(r"--[\w-]+", others))
    for css in sheets.values():
        read.update(re.findall(r"var\(\s*(--[\w-]+)", css))
    kept = {path: DEFINED.sub(lambda found: found[0] if found[1] in read else "", css) for path, css in sheets.items()}
    return kept if kept == sheets else without_unused_properties(kept, others)  # what they read may now be unused


def _subset_icons(folder: Path, sheets: dict[Path, str]) -> None:
    """Keep the icons that a rule still names, and let the sheets ask for that font."""
    glyphs = {ord(icon) for css in sheets.values() for icon in GLYPH.findall(css)}
    for path in folder.rglob(f"{ICON_FONT}.ttf"):
        font = TTFont(path)
        subsetter = subset.Subsetter(subset.Options(layout_features=[], notdef_outline=True))
        subsetter.populate(unicodes=glyphs)
        subsetter.subset(font)
        font.save(path)
        path.with_suffix(".woff2").unlink(missing_ok=True)
    woff2 = re.compile(rf'url\([^)]*{ICON_FONT}\.woff2[^)]*\) format\("woff2"\),\s*')
    for path, css in sheets.items():
        escaped = GLYPH.sub(lambda icon: f"\\{ord(icon[0]):x}", woff2.sub("", css))  # each ends its string
        path.write_text(escaped, encoding="utf-8")


def lighten(folder: Path) -> None:
    """Lighten the pages and style sheets of a built book, in place."""
    for page in folder.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        light = without_bootstrap(re.sub(ICONS, "", html))
        # The theme's buttons that fold the pages below a chapter have a picture and no name.
        light = light.replace(TOGGLE, TOGGLE.replace("<summary", '<summary aria-label="Closer looks"'))
        if page.name != "search.html":
            light = re.sub(SEARCH, "", light)
        if 'class="sd-tab-set' not in light:
            light = re.sub(TABS, "", light)
        if light != html:
            page.write_text(light, encoding="utf-8")
    for script in folder.rglob("pydata-sphinx-theme.js"):
        text = script.read_text(encoding="utf-8")
        if MEASURED not in text and '"hs-none"' not in text:  # a preview that changed nothing finds its own
            raise ValueError(f"{script} does not measure its boxes as it did: see MEASURED in tools/lighten.py")
        script.write_text(text.replace(MEASURED, '"hs-none"'), encoding="utf-8")
    for script in [*folder.rglob("fontawesome.js*"), *folder.rglob("bootstrap.js*")]:
        script.unlink()
    names = used_names(folder)
    paths = [path for path in folder.rglob("*.css") if path.name not in LEFT_ALONE]
    sheets = {path: purge(path.read_text(encoding="utf-8"), names) for path in paths}
    others = [*folder.rglob("*.html"), *folder.rglob("*.js"), *(p for p in folder.rglob("*.css") if p not in sheets)]
    read = "\n".join(path.read_text(encoding="utf-8") for path in others if path.name not in NO_WORDS_FROM)
    _subset_icons(folder, without_unused_properties(sheets, read))


def _on_build_finished(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        lighten(Path(app.outdir))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", _on_build_finished, priority=900)  # when every page is as it will be
    return {"parallel_read_safe": True, "parallel_write_safe": True}
