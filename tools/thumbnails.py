"""A small moving picture for each explorable, for the page *Play*.

Each is an SVG of 240 by 120 that stands in the page, so that its colours follow the theme. It is drawn in its last
state; what has a class ``m-...`` comes in when the tile is seen or pointed at (hidden-state.css), the parts in the
order of ``--i``. The picture is decoration: the tile's question says what the figure is about.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

__all__ = ["THUMBNAILS", "thumbnail"]

# Paints are classes, `f-` and a letter to fill and `s-` to draw with: see hidden-state.css.
INK, SOFT, RULE, PAPER, BLUE, VERMILLION, GREEN, NONE = "k", "m", "r", "p", "b", "v", "g", "n"


def _node(tag: str, inner: str = "", move: str = "", i: float = 0, style: str = "", **attributes: object) -> str:
    classes = [f"m-{move}"] if move else []
    classes += [f"{paint[0]}-{attributes.pop(paint)}" for paint in ("fill", "stroke") if paint in attributes]
    if move and i:
        style = f"{style};--i:{i:g}".strip(";")
    attributes = {"class": " ".join(classes), "style": style, **attributes}
    written = "".join(
        f' {name.replace("_", "-")}="{round(value, 1) if isinstance(value, float) and value > 1 else value}"'
        for name, value in attributes.items()
        if value != ""
    )
    return f"<{tag}{written}>{inner}</{tag}>" if inner else f"<{tag}{written}/>"


def _box(x: float, y: float, width: float, height: float, **more: object) -> str:
    return _node("rect", x=x, y=y, width=width, height=height, **{"rx": 2, **more})


def _text(x: float | str, y: float, text: str, **more: object) -> str:
    return _node("text", text, x=x, y=y, **{"fill": INK, "font_size": 13, "text_anchor": "middle", **more})


def _letters(text: str, x: float, y: float, step: float, **more: object) -> str:
    """A text whose letters stand at even distances, the middle of the first at `x`."""
    more = {"font_family": "ui-monospace, monospace", "style": "white-space:pre", **more}
    if step > 10:
        return _text(" ".join(f"{x + k * step:g}" for k in range(len(text))), y, text, **more)
    wide = {"textLength": round(step * len(text), 1), "lengthAdjust": "spacingAndGlyphs", "text_anchor": "start"}
    return _text(round(x - step / 2, 1), y, text, **wide, **more)


def _group(parts: Iterable[str], **more: object) -> str:
    return _node("g", "".join(parts), **more)


def _line(*points: tuple[float, float], **more: object) -> str:
    path = "M" + "L".join(f"{round(x, 1):g} {round(y, 1):g}" for x, y in points)
    return _curve(path, **more)


def _curve(path: str, **more: object) -> str:
    return _node("path", d=path, **{"fill": NONE, "stroke": INK, "stroke_width": 2, **more})


def _dot(x: float, y: float, r: float, **more: object) -> str:
    return _node("circle", cx=x, cy=y, r=r, **{"fill": INK, **more})


def _context_table() -> Iterable[str]:
    # What followed "ere w" in the story, 67 times in all: an a 40 times, an e 19, an o 5, an h and an i once.
    yield _box(49.2, 8, 84, 28, fill=BLUE, fill_opacity=0.2)
    yield _box(133.2, 8, 16.8, 28, fill=INK)
    yield _letters("there was a ", 24, 28, 16.8, font_size=15)
    yield _letters("a", 141.6, 28, 16.8, font_size=15, fill=PAPER)
    for k, (letter, count) in enumerate((("a", 40), ("e", 19), ("o", 5), ("h", 1))):
        yield _text(30, 59 + 18 * k, letter, font_size=14)
        shade = 0.5 if k else 1
        yield _box(48, 48 + 18 * k, 270 * count / 67, 13, fill=BLUE, fill_opacity=shade, move="in", i=3 * k)


def _hidden_state() -> Iterable[str]:
    text, cut, line = "and then there was another", 18, 46
    yield _letters(text[:cut], 12, 26, 8.6, fill=SOFT)
    yield _letters(text[cut:], 12 + 8.6 * cut, 26, 8.6)
    edge, end = 7.6 + 8.6 * cut, 7.6 + 8.6 * len(text)
    hanging = [(edge + 8.6 * k, line + 58 * math.exp(-k / 3.2)) for k in range(len(text) - cut + 1)]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in hanging)
    yield _line((8, line), (end, line), stroke=BLUE, stroke_width=4)
    yield _curve(f"M{edge:.1f} {line}L{path}V{line}Z", fill=VERMILLION, fill_opacity=0.2, stroke=NONE, move="in", i=2)
    yield _curve(f"M{path}", stroke=VERMILLION, stroke_width=3, move="in", i=6)
    yield _line((edge, 8), (edge, hanging[0][1]), stroke_dasharray="4 3")


def _concatenation() -> Iterable[str]:
    def matrix(x: float, y: float, rows: int, columns: int, fill: str, **more: object) -> str:
        cells = (
            _box(x + 14 * c, y + 14 * r, 13, 13, fill_opacity=0.4 + 0.15 * ((3 * r + 2 * c) % 5))
            for r in range(rows) for c in range(columns)
        )  # fmt: skip
        return _group(cells, fill=fill, **more)

    yield matrix(10, 46, 2, 3, BLUE, move="slide", style="--dx:-14px")
    yield matrix(53, 46, 2, 3, VERMILLION, move="slide", style="--dx:14px")
    yield _text(109, 65, "@", font_size=16)
    yield matrix(123, 18, 3, 3, BLUE, move="slide", style="--dy:-12px")
    yield matrix(123, 61, 3, 3, VERMILLION, move="slide", style="--dy:12px")
    yield _text(177, 65, "=", font_size=16)
    yield matrix(189, 46, 2, 3, GREEN, move="in", i=6)


def _windows() -> Iterable[str]:
    # Four lines of the story; what each letter costs the trained network, in bits, with its memory emptied at each.
    lines = (
        ("came to ste", (3.2, 1.3, 0.2, 0.1, 2.6, 1.3, 0.2, 3.0, 3.2, 2.2)),
        ("nnet in a c", (7.6, 0.8, 4.9, 0.4, 2.3, 1.6, 0.1, 2.5, 0.7, 4.0)),
        ("arrier s ca", (2.9, 5.9, 1.7, 3.5, 3.4, 1.0, 2.9, 2.7, 4.5, 3.8)),
        ("rt with thr", (6.7, 2.0, 3.4, 1.8, 0.4, 0.0, 0.3, 1.8, 0.2, 6.8)),
    )
    for row, (line, bits) in enumerate(lines):
        y = 8 + 27 * row
        for k, cost in enumerate(bits):
            shade = round(min(1, cost / 12), 2)
            yield _box(39 + 18 * k, y, 17, 23, fill=VERMILLION, fill_opacity=shade, move="in", i=2 * row + k)
        yield _text(29, y + 17, line[0], font_size=15, fill=SOFT)
        yield _letters(line[1:], 47.5, y + 17, 18, font_size=15)
    yield _box(37, 5, 21, 110, fill=NONE, stroke=INK, stroke_width=2)


def _training_lab() -> Iterable[str]:
    for k, (y, name) in enumerate(((44, "looking 1 letter back"), (68, "2 letters"), (88, "3 letters"))):
        yield _line((26, y), (232, y), stroke=SOFT, stroke_width=1, stroke_dasharray="2 4")
        yield _text(232, y - 4, name, fill=SOFT, font_size=10, text_anchor="end", move="in", i=4 + 4 * k)
    yield _line((26, 10), (26, 108), (232, 108), stroke=RULE, stroke_width=1.5)
    path = "M28 16C48 18 54 34 70 40S96 60 112 68S146 84 166 92S206 99 228 100"
    yield _curve(path, stroke=BLUE, stroke_width=3, move="draw", pathLength=1)
    yield _dot(228, 100, 4, fill=BLUE, move="in", i=14)


def _next_character() -> Iterable[str]:
    yield _text(16, 26, "the tide", font_size=14, text_anchor="start")
    yield _box(80, 12, 14, 18, fill=BLUE, fill_opacity=0.2)
    guesses = (("t", 0.258), ("a", 0.103), ("i", 0.1), ("w", 0.091), ("c", 0.078), ("o", 0.073), ("h", 0.044))
    for k, (letter, share) in enumerate(guesses):
        x, height = 22 + 29 * k, 230 * share
        yield _box(x, 102 - height, 20, height, fill=BLUE, fill_opacity=1 if k == 0 else 0.55, move="up", i=k)
        yield _text(x + 10, 115, letter, font_size=12)


def _perplexity() -> Iterable[str]:
    yield _dot(40, 60, 6)
    for k, (y, share) in enumerate(((30, 1), (74, 1), (104, 0.3))):
        color = BLUE if share == 1 else SOFT
        path = f"M46 60C90 60 90 {y} 150 {y}"
        yield _curve(path, stroke=color, stroke_width=1 + 5 * share, move="draw", i=2 * k, pathLength=1)
        yield _dot(154, y, 3 + 4 * share, fill=color, move="in", i=2 * k + 8)
    yield _text(204, 66, "2.3", font_size=26, font_weight=650, move="in", i=14)


def _surprise_map() -> Iterable[str]:
    # What each letter of "low tide quixotl" cost the trained network, in bits.
    bits = (0, 2.8, 1.7, 1.0, 2.3, 6.8, 4.3, 0.1, 1.0, 10.0, 0.0, 0.8, 10.1, 11.1, 4.2, 12.1)
    for k, cost in enumerate(bits):
        x = 8 + 14 * k
        height, opacity = 5.4 * cost + 1, round(0.25 + 0.06 * cost, 2)
        yield _box(x, 82 - height, 13, height, fill=VERMILLION, fill_opacity=opacity, move="up", i=k)
    yield _letters("low tide quixotl", 14.5, 100, 14, font_size=15)


def _gradient_flow() -> Iterable[str]:
    # What is left of the message at each step back, where each keeps 0.8.
    yield _box(10, 38, 220, 44, fill=RULE, fill_opacity=0.4)
    for k in range(16):
        x, height = 216 - 13.6 * k, 44 * 0.8**k
        yield _box(x, 60 - height / 2, 9, height, fill=BLUE, move="in", i=k)
    yield _curve("M146 20H94m7 -5l-7 5l7 5", stroke=SOFT, stroke_width=1.5)
    yield _text(200, 25, "a guess", fill=SOFT, font_size=12)
    yield _text(12, 108, "15 steps back: 0.035", fill=SOFT, font_size=12, text_anchor="start")


def _attention() -> Iterable[str]:
    # How much each guess after "in the middle o" moves without a letter: above, attention's; below, the state's.
    text, wide = "in the middle o", 14.6
    above = {11: 2.9, 12: 16.3, 13: 30.4, 14: 38.8}
    below = (0.3, 1.1, 1.1, 0.8, 1.1, 1.2, 4.6, 14.7, 6.7, 17.5, 26.6, 27.7, 29.4, 34.1, 40.5)
    yield _letters(text, 18, 64, wide, font_size=13)
    for k in range(len(text)):
        x = 14 + wide * k
        if k in above:
            yield _box(x, 52 - above[k], 9, above[k], fill=BLUE, rx=1, move="up", i=k)
        yield _box(x, 68, 9, below[k], fill=VERMILLION, rx=1, move="in", i=k)


def _scan() -> Iterable[str]:
    xs = [22 + 28 * k for k in range(8)]
    for x in xs:
        yield _line((x, 104), (x, 14), stroke=RULE, stroke_width=1.5)
    for level, (reach, y) in enumerate(((1, 104), (2, 74), (4, 44))):
        ways = (_line((xs[k - reach], y), (xs[k], y - 30), stroke=BLUE) for k in range(reach, 8))
        yield _group(ways, move="in", i=6 * level)
    for y in (104, 74, 44, 14):
        yield from (_dot(x, y, 4.5, fill=INK if y == 104 else BLUE) for x in xs)


def _gates() -> Iterable[str]:
    # What is left of what the h adds, under each letter: one unit loses it at the space, the other keeps it.
    yield _letters("the sea keeps", 12 + 216 / 26, 20, 216 / 13, font_size=15)
    rows = (0, 1, 0.99, 0.04, 0.04, 0.02) + (0,) * 7, (0, 1, 1, 1, 1, 0.99) + (0.95,) * 6 + (0.94,)
    for row, left in enumerate(rows):
        y = 32 + 43 * row
        yield _box(12, y, 216, 36, fill=RULE, fill_opacity=0.4)
        for k, share in enumerate(left):
            if share:
                x, height = 12 + 216 / 13 * k, 36 * share
                yield _box(x + 1, y + 36 - height, 14.6, height, fill=VERMILLION, fill_opacity=0.6, move="up", i=k)


def _clipping() -> Iterable[str]:
    # The loss of one weight that multiplies the state at each of ten letters: a step, and one that is cut.
    def at(weight: float) -> tuple[float, float]:
        return 6 + 196 * weight, 108 - 26 * (weight**10 - 1) ** 2 / 2

    yield _curve("M" + "L".join("{:.0f} {:.1f}".format(*at(k / 50)) for k in range(58)), stroke=SOFT, stroke_width=3)
    (x, y), (far, level), (wall, low), (bottom, lowest) = (at(weight) for weight in (1.13, 0.41, 1.03, 0.98))
    yield _curve(f"M{x:.0f} {y:.1f}H{far + 6:.0f}", stroke=BLUE, stroke_width=2.5, stroke_dasharray="6 4")
    yield _curve(f"M{far:.0f} {y:.1f}l9 -5v10z", fill=BLUE, stroke=NONE)
    for left, ground, paint, i in ((far, level, BLUE, 3), (wall, low, GREEN, 6)):
        fall = f"M{left:.0f} {y:.1f}V{ground:.1f}"
        yield _curve(fall, stroke=paint, stroke_dasharray="1 4", stroke_linecap="round", move="in", i=i)
        yield _dot(left, ground, 5, fill=paint, move="in", i=i + 1)
    yield _curve(f"M{x:.0f} {y:.1f}H{wall:.0f}", stroke=GREEN, stroke_width=5, move="draw", pathLength=1)
    yield _curve(f"M{wall:.0f} {y:.1f}V13", stroke=GREEN, stroke_width=2.5)  # the limit
    yield _dot(wall, 13, 6, fill=PAPER, stroke=GREEN, stroke_width=2.5)
    yield _dot(bottom, lowest, 6, fill=GREEN, move="in", i=9)
    yield _dot(x, y, 7)


def _truncation() -> Iterable[str]:
    # The messages back of twelve guesses, each letter of which passes on 0.8, up to the cuts of two windows of six.
    for k in range(12):
        end, y, cut = 33 + 17 * k, 14 + 8.4 * k, 16 + 102 * (k // 6)
        for near, far, paint in ((end, cut, BLUE), (cut, 4, VERMILLION)):
            a, b = (3.8 * 0.8 ** ((end - x) / 17) for x in (near, far))
            path = f"M{near} {y - a:.1f}L{far} {y - b:.1f}V{y + b:.1f}L{near} {y + a:.1f}Z"
            yield _curve(path, fill=paint, stroke=NONE, move="in", i=k)
    for x in (16, 118):
        yield _line((x, 6), (x, 114), stroke_dasharray="4 3")


THUMBNAILS: dict[str, Callable[[], Iterable[str]]] = {
    "Attention": _attention,
    "Clipping": _clipping,
    "Concatenation": _concatenation,
    "ContextTable": _context_table,
    "Gates": _gates,
    "GradientFlow": _gradient_flow,
    "HiddenState": _hidden_state,
    "NextCharacter": _next_character,
    "Perplexity": _perplexity,
    "Scan": _scan,
    "SurpriseMap": _surprise_map,
    "TrainingLab": _training_lab,
    "Truncation": _truncation,
    "Windows": _windows,
}


def thumbnail(name: str) -> str:
    """Return the picture of an explorable as SVG."""
    parts = "".join(THUMBNAILS[name]())
    return f'<svg viewBox="0 0 240 120" aria-hidden="true">{parts}</svg>'
