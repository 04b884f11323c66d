"""The page *Play*: one tile for each explorable, in a state that it may have; and explorables as pages of their own."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import pytest

import d2lrnn as d
from d2lrnn import widgets
from d2lrnn.widgets.page import page_of
from gallery import MAKES_ONE, names, read_tiles
from thumbnails import THUMBNAILS, thumbnail

ROOT = Path(__file__).resolve().parent.parent
[LIST] = re.findall(r"^```\{gallery\}\n(.*?)^```$", (ROOT / "book/play.md").read_text(), re.MULTILINE | re.DOTALL)
TILES = read_tiles(LIST)
NAMES = [name for name in widgets.__all__ if name != "Explorable"]


def test_there_is_one_tile_for_each_explorable() -> None:
    assert sorted(tile["explorable"] for tile in TILES) == sorted(NAMES) == sorted(names())
    assert set(NAMES) <= THUMBNAILS.keys()
    pages = [tile["page"] for tile in TILES]
    assert pages == sorted(pages), "in the order of the chapters"


@pytest.mark.parametrize("tile", TILES, ids=lambda tile: tile["explorable"])
def test_a_tile_asks_a_question_and_names_a_page_that_has_the_figure(tile: dict[str, Any]) -> None:
    assert tile["question"].endswith("?") and len(tile["question"]) < 90 and len(tile["title"]) < 30
    cells = nbformat.read(ROOT / f"{tile['page']}.ipynb", as_version=4).cells
    made = [match[1] for cell in cells if cell.cell_type == "code" and (match := MAKES_ONE.search(cell.source))]
    assert tile["explorable"] in made
    cls = getattr(widgets, tile["explorable"])
    assert set(tile["state"]) <= set(cls.class_trait_names(control=True))
    cls(**tile["state"])


@pytest.mark.parametrize("name", sorted(THUMBNAILS))
def test_a_thumbnail_is_a_small_drawing_in_the_colours_of_the_page(name: str) -> None:
    svg = thumbnail(name)
    root = ElementTree.fromstring(svg)
    assert root.get("aria-hidden") == "true" and len(svg) < 40_000
    assert not re.search(r"#[0-9a-f]{3,6}\b|rgb\(|\bid=|<style|<script", svg)
    assert 'class="m-' in svg, "something moves"


def lengths(name: str, move: str, side: str) -> list[float]:
    """The heights or widths of the boxes of a thumbnail that move so."""
    boxes = ElementTree.fromstring(thumbnail(name)).iter("rect")
    return [float(box.get(side, "")) for box in boxes if box.get("class", "").startswith(f"m-{move} ")]


def test_the_bars_of_thumbnails_are_those_of_the_figures() -> None:
    text = d.load_text()
    story = text.vocab.decode(text.train_ids)
    followed = re.findall("(?<=ere w).", story)
    shares = [followed.count(letter) / len(followed) for letter in "aeoh"]
    assert lengths("ContextTable", "in", "width") == pytest.approx([270 * share for share in shares], abs=0.1)
    bits = widgets.SurpriseMap(text="low tide quixotl", stage="trained").bits
    assert lengths("SurpriseMap", "up", "height") == pytest.approx([1, *(5.4 * cost + 1 for cost in bits)], abs=0.3)
    usual = widgets.Attention()
    looks, holds = usual.effects.tolist()
    assert lengths("Attention", "up", "height") == pytest.approx([46 * effect for effect in looks[11:]], abs=0.06)
    assert max(looks[:11]) < 0.006, "what is not drawn"
    assert lengths("Attention", "in", "height") == pytest.approx([46 * effect for effect in holds], abs=0.06)
    drawn = {tag: len([*ElementTree.fromstring(thumbnail("Attention")).iter(tag)]) for tag in ("rect", "text", "path")}
    assert drawn == {"rect": 4 + 15, "text": 1, "path": 0}, "bars and letters alone: the figure has no lines of reach"
    likeliest = widgets.HiddenState(text="the tide ").probs.topk(7)
    letters = ElementTree.fromstring(thumbnail("NextCharacter")).findall("text")[1:]
    assert "".join(letter.text for letter in letters) == text.vocab.decode(likeliest.indices)
    heights = [230 * p for p in likeliest.values.tolist()]
    assert lengths("NextCharacter", "up", "height") == pytest.approx(heights, abs=0.2)
    pieces, costs = widgets.Windows(memory="empty"), []
    for pieces.minibatch in range(5, 9):
        costs += [-math.log2(emptied) for _, emptied in pieces.guesses[:10]]
    cells = list(ElementTree.fromstring(thumbnail("Windows")).iter("rect"))[:-1]
    drawn = [float(cell.get("fill-opacity", "")) for cell in cells]
    assert drawn == pytest.approx([min(1, cost / 12) for cost in costs], abs=0.01)
    after_h = widgets.Gates(text="what the sea keeps").forget_gates[7:]
    left = [[1.0, *after_h[:, unit].cumprod(0).tolist()] for unit in (18, 16)]
    drawn = [36 * share for shares in left for share in shares if share > 0.005]
    assert lengths("Gates", "up", "height") == pytest.approx(drawn, abs=0.3)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_of_its_own_is_whole(name: str) -> None:
    widget = getattr(widgets, name)()
    html = page_of(widget)
    assert html.startswith('<!DOCTYPE html>\n<html lang="en">') and widget.static_html() in html
    assert not re.search(r'\b(src|href)="(?!data:,)', html)
    [title] = re.findall(r"<title>(.*?)</title>", html.split("<main")[0])
    assert len(title) > 10
