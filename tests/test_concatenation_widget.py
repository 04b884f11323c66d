"""The explorable Concatenation in Python: its numbers, the identity, what is refused."""

from __future__ import annotations

import importlib.util
import json
import re
from decimal import Decimal
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch
import traitlets as t

import d2lrnn as d
from d2lrnn.widgets import Concatenation

JS = Path(__file__).parent / "js"
SIZES = ("batch_size", "num_inputs", "num_hiddens")


def test_the_stored_cases_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_concatenation_cases", JS / "make_concatenation_cases.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    for old, new in zip(json.loads(make.FILE.read_text(encoding="utf-8")), make.cases(), strict=True):
        assert old["matrices"] == new["matrices"] and old["settings"] == new["settings"]
        for name in ("exact", "swapped", "memory_first"):
            assert old[name] == pytest.approx(new[name], abs=1e-12)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (2, 3, 4), (4, 4, 4)])
def test_both_ways_are_the_recurrences_own(sizes: tuple[int, int, int]) -> None:
    widget = Concatenation(**dict(zip(SIZES, sizes)), row=0, column=0)
    X, W_xh, H, W_hh = widget.matrices
    expected = d.rnn_step(X, H, W_xh, W_hh, torch.zeros(sizes[2], dtype=torch.float64)).atanh()
    torch.testing.assert_close(widget.two_products.tanh(), expected.tanh())
    torch.testing.assert_close(widget.two_products, widget.one_product)


def test_a_further_text_leaves_the_weights_and_the_texts_before_it_as_they_are() -> None:
    for size in (2, 3, 4):
        less, more = (Concatenation(batch_size=rows).matrices for rows in (size - 1, size))
        for before, after in zip(less, more):
            assert torch.equal(after[: len(before)], before)


def test_swapped_weights_give_another_result_and_no_error() -> None:
    widget = Concatenation(swapped=True)
    torch.testing.assert_close(widget.one_product, widget.two_products)  # apart there is no order
    widget.update(glued=True)
    results = widget.two_products[0, 1], widget.one_product[0, 1]
    assert [f"{float(result):.2f}" for result in results] == ["1.03", "0.76"]
    assert "1.03 either way" in widget.static_sentence()  # the static picture shows the right order
    widget.update(memory_first=True)
    torch.testing.assert_close(widget.one_product, widget.two_products)  # any order, if it is the same on both sides
    widget.update(swapped=False)
    assert f"{float(widget.one_product[0, 0]):.2f}" == "-0.35"


def test_a_repair_by_one_number_is_added_where_something_is_wrong() -> None:
    widget = Concatenation(glued=True, swapped=True, added=0.27)
    assert [f"{float(result):.2f}" for result in widget.one_product[0]] == ["0.37", "1.03", "-0.12"]
    widget.update(memory_first=True)
    torch.testing.assert_close(widget.one_product, widget.two_products)


def test_a_smaller_result_keeps_the_place_inside() -> None:
    widget = Concatenation(batch_size=4, num_hiddens=4, row=3, column=3)
    widget.update(batch_size=2, num_hiddens=1)
    assert (widget.row, widget.column) == (1, 0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"batch_size": 0},
        {"num_inputs": 5},
        {"seed": -1},
        {"glued": 2},
        {"batch_size": 2, "row": 2},
        {"num_hiddens": 1, "column": 1},
        {"added": 0.325},
        {"added": 10},
    ],
)
def test_what_is_out_of_range_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(t.TraitError):
        Concatenation(**wrong)


@pytest.mark.parametrize("seed", range(20))
def test_the_static_picture_prints_true_sums(seed: int) -> None:
    widget = Concatenation(seed=seed)
    svg = ElementTree.fromstring(widget.static_picture())
    texts = [node.text for node in svg.iter("{http://www.w3.org/2000/svg}text")]
    numbers = [Decimal(text.replace("\u2212", "-")) for text in texts if re.fullmatch(r"\u2212?\d+\.\d+", text)]
    n, d, h = widget.batch_size, widget.num_inputs, widget.num_hiddens
    X, H, W_xh, W_hh, result = ([numbers.pop(0) for _ in range(size)] for size in (n * d, n * h, d * h, h * h, n * h))
    assert numbers == [] and not any("-" in text for text in texts)
    for i in range(n):
        for j in range(h):
            from_x = sum(X[i * d + k] * W_xh[k * h + j] for k in range(d))
            from_h = sum(H[i * h + k] * W_hh[k * h + j] for k in range(h))
            assert from_x + from_h == result[i * h + j]
    sentence = widget.static_sentence().replace("\u2212", "-")
    x, s, value = re.search(r"is (\S+) \+ \(?(\S+?)\)? = (\S+) either way", sentence).groups()
    assert Decimal(x) + Decimal(s) == Decimal(value) == result[widget.row * h + widget.column]


def test_the_lesson_tells_the_numbers_that_its_links_show() -> None:
    lesson = json.loads((JS.parent.parent / "chapters" / "03_concatenation.ipynb").read_text(encoding="utf-8"))
    told = next(text for cell in lesson["cells"] if "[Swap the weights" in (text := "".join(cell["source"])))
    right, wrong, again = re.findall(r"\d\.\d\d", told)
    links = [
        {name: json.loads(value) for name, value in re.findall(r"&(\w+)=(\w+)", link)}
        for link in re.findall(r"explore=Concatenation([^)]+)", told)
    ]
    shown = []
    for settings in links:
        figure = Concatenation(**settings)
        shown += [each[figure.row, figure.column].item() for each in (figure.two_products, figure.one_product)]
    assert shown == pytest.approx([float(value) for value in (right, wrong, again, again)], abs=1e-9)
