"""Static pictures: what stands in an explorable's place until it is alive, without JavaScript, and on paper.

An inline SVG needs no style sheet to be legible (a code host strips it) and follows one where it stands: `color`
gives a colour with its fallback. Numbers and characters are written as in ``ui.mjs``; shared cases test that.
"""

from __future__ import annotations

import math
import unicodedata
from xml.etree import ElementTree

__all__ = ["Picture", "color", "format_number", "format_probability", "visible_character"]

_COLORS = {"blue": "#0072b2", "vermillion": "#d55e00", "green": "#009e73", "line": "#d3d9df"}
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def color(name: str) -> str:
    """Paint that follows the page's theme, with a fallback where there is no style sheet.

    Examples
    --------
    >>> color("blue")
    'var(--d2lrnn-blue, #0072b2)'
    """
    return f"var(--d2lrnn-{name}, {_COLORS[name]})"


class Picture:
    """An accessible SVG, built element by element; text and attributes are escaped.

    Parameters
    ----------
    width, height : float
        Size of the coordinate system; the picture scales to its place.
    title, description : str
        Its name, and what it shows, for those who cannot see it.

    Examples
    --------
    >>> picture = Picture(10, 10, "Dot", "One dot, <small>.")
    >>> picture.add("circle", cx=5, cy=5, r=2.5, fill="currentColor")
    >>> "<desc>One dot, &lt;small&gt;.</desc>" in str(picture)
    True
    """

    def __init__(self, width: float, height: float, title: str, description: str) -> None:
        self._root = ElementTree.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "viewBox": f"0 0 {_short(width)} {_short(height)}",
                "role": "img",
                "fill": "currentColor",
                "font-family": "system-ui, sans-serif",
                "font-size": "14",
            },
        )
        ElementTree.SubElement(self._root, "title").text = title
        ElementTree.SubElement(self._root, "desc").text = description

    def add(self, tag: str, text: str | None = None, **attributes: object) -> None:
        """Append an element; ``font_size=12`` becomes ``font-size="12"``. `fill` and `stroke` may be `color`\\ s."""
        node = ElementTree.SubElement(self._root, tag)
        node.text = text
        paint = []
        for name, value in attributes.items():
            name = name.rstrip("_").replace("_", "-")
            if isinstance(value, str) and value.startswith("var("):
                paint.append(f"{name}:{value}")  # custom properties work in `style` only
            else:
                node.set(name, _short(value) if isinstance(value, float) else str(value))
        if paint:
            node.set("style", ";".join(paint))

    def __str__(self) -> str:
        return ElementTree.tostring(self._root, encoding="unicode")


def _short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def format_number(value: float, decimals: int = 2) -> str:
    """A number of at least 0 with `decimals` places, fewer where it is large.

    Examples
    --------
    >>> [format_number(value) for value in (2.0, 123.456, 1234.5, 3e7, math.inf)]
    ['2.00', '123.5', '1\\u202f235', '3.0×10⁷', '∞']
    """
    if value == math.inf:
        return "∞"
    if value >= 999_999.5:
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa}×10{str(int(exponent)).translate(_SUPERSCRIPTS)}"  # noqa: RUF001
    if value >= 999.95:
        return f"{math.floor(value + 0.5):,}".replace(",", "\u202f")
    return f"{value:.{min(decimals, 1) if value >= 99.995 else decimals}f}"


def format_probability(p: float) -> str:
    """A probability with as many places as it needs, never a "1.00" that is not 1.

    Examples
    --------
    >>> [format_probability(p) for p in (1, 0.9999, 0.8, 1 / 27, 1e-6, 0)]
    ['1', '>0.999', '0.80', '0.037', '1e-6', '0']
    """
    if p in (0, 1):
        return str(int(p))
    if p < 0.0005:
        mantissa, exponent = f"{p:.0e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    if p < 0.0995:
        return f"{p:.3f}"
    if p < 0.995:
        return f"{p:.2f}"
    return f"{p:.3f}" if p < 0.9995 else ">0.999"


def visible_character(character: str) -> str:
    """A character that can be seen: space as ␣, a combining mark on its circle, an invisible one as its code.

    Examples
    --------
    >>> [visible_character(character) for character in ("a", " ", "\\u0301", "\\u202e")]
    ['a', '␣', '◌́', 'U+202E']
    """
    category = unicodedata.category(character)
    if character == " ":
        return "␣"
    if category[0] == "M":
        return f"◌{character}"
    return f"U+{ord(character):04X}" if category[0] in "CZ" else character
