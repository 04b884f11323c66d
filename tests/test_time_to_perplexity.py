"""Time to perplexity: what is compared is what it says, and pages show what is stored. Nothing here measures time."""

from __future__ import annotations

import ast
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
import torch

from benchmarks import time_to_perplexity as race
from benchmarks.recipes import RECIPES, Recipe

ROOT = Path(__file__).resolve().parents[1]
STORED = json.loads(race.RESULTS.read_text(encoding="utf-8"))


def test_choosing_never_sees_the_test_part() -> None:
    train, test, _ = race.parts("the-tide-clock", validation=False)
    smaller, validation, _ = race.parts("the-tide-clock", validation=True)
    assert torch.equal(torch.cat([smaller, validation]), train)
    assert len(validation) == len(train) - len(train) * 9 // 10
    assert abs(len(test) / (len(train) + len(test)) - 0.1) < 0.001


@pytest.mark.parametrize("name", list(RECIPES))
def test_every_recipe_makes_its_minibatches_and_a_model_that_takes_them(name: str) -> None:
    recipe = RECIPES[name]
    ids = torch.randint(27, (20_000,))
    model = recipe.make_model(27)
    windows = recipe.make_windows(ids)
    X, Y = next(iter(windows))
    assert model(X)[0].shape == (*Y.shape, 27) and len(windows) >= 1


def test_a_run_records_a_falling_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = torch.tensor([0, 1, 2, 3] * 200)
    monkeypatch.setattr(race, "parts", lambda *_: (ids[:600], ids[600:], 4))
    small = Recipe("small", "small", lambda size: _model(size), RECIPES["tanh-128"].make_windows, 200, 0.02)
    result = race.run(small, "any", seed=0, validation=True)
    curve = result["curve"]
    assert [point["step"] for point in curve] == sorted(race.scored_steps(200))
    assert curve[-1]["tokens"] == 200 * 16 * 32 and result["part"] == "validation"
    assert curve[-1]["heldout_perplexity"] < 1.3 < curve[0]["heldout_perplexity"]
    assert all(before["seconds"] <= after["seconds"] for before, after in pairwise(curve))


def _model(vocab_size: int) -> torch.nn.Module:
    import d2lrnn as d

    return d.RNNLM(d.RNNScratch(vocab_size, 8), vocab_size)


def test_a_result_replaces_its_like_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    first = {"recipe": "a", "corpus": "c", "part": "test", "seed": 0, "curve": [1]}
    race.store([first, first | {"seed": 1}], path)
    race.store([first | {"curve": [2]}], path)
    assert [(r["seed"], r["curve"]) for r in json.loads(path.read_text())] == [(1, [1]), (0, [2])]


def test_a_run_that_got_worse_is_quoted_at_its_best_and_at_its_end() -> None:
    falling = [{"heldout_perplexity": value} for value in (9.0, 5.0, 4.99)]
    climbing = [{"heldout_perplexity": value} for value in (9.0, 5.0, 7.0)]
    assert race.points_to_quote(falling) == falling[-1:]
    assert race.points_to_quote(climbing) == climbing[1:]


def test_the_table_in_the_readme_is_the_stored_one() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert race.table(STORED, "time-machine") in readme
    (story,) = [r for r in STORED if r.get("recipe") == "lstm-story" and r["part"] == "test"]
    (tables,) = [r["counts"] for r in STORED if r["corpus"] == "the-tide-clock" and "counts" in r]
    best, end = min(score["heldout_perplexity"] for score in tables.values()), story["curve"][-1]
    sentence = (
        f"where our best table of counts has {best:.2f}, the recipe for a shorter text reaches "
        f"{end['heldout_perplexity']:.2f} after {end['seconds']:.0f} seconds."
    )
    assert sentence in readme


def test_the_chapter_records_the_stored_run() -> None:
    page = (ROOT / "chapters" / "05_character_lm_training.ipynb").read_text(encoding="utf-8")
    (cell,) = [c for c in json.loads(page)["cells"] if c["id"] == "recorded"]
    recorded = re.search(r"recorded = (\{.+?\})", "".join(cell["source"]), re.DOTALL)
    (story,) = [r for r in STORED if r.get("recipe") == "lstm-story" and r["part"] == "test"]
    stored = {point["step"]: point["heldout_perplexity"] for point in story["curve"]}
    quoted = ast.literal_eval(recorded.group(1))
    assert quoted.items() <= stored.items() and max(quoted) == max(stored)


def test_the_figure_is_drawn_from_what_is_stored(tmp_path: Path) -> None:
    race.draw(STORED, "time-machine", tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").read_text() == race.FIGURE.read_text()
