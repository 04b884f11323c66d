"""The experiment on a thousand words: its windows, its controls, and a table that shows what is stored."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import numpy as np
import pytest

from benchmarks import thousand_words as experiment
from benchmarks.thousand_words import WrappingWindows

ROOT = Path(__file__).resolve().parents[1]
STORED = json.loads(experiment.RESULTS.read_text(encoding="utf-8"))


def test_streams_go_on_between_epochs_and_wrap_at_the_end() -> None:
    windows = WrappingWindows(np.arange(21), batch_size=2, num_steps=4)
    epochs = [np.concatenate([X for X, _ in windows], axis=1).tolist() for _ in range(3)]
    assert epochs[0] == [[0, 1, 2, 3, 4, 5, 6, 7], [10, 11, 12, 13, 14, 15, 16, 17]]
    assert epochs[1] == [[8, 9, 10, 11, 12, 13, 14, 15], [18, 19, 0, 1, 2, 3, 4, 5]]
    assert epochs[2] == [[16, 17, 18, 19, 0, 1, 2, 3], [6, 7, 8, 9, 10, 11, 12, 13]]
    assert all((Y == X + 1).all() for X, Y in windows)
    assert len(list(WrappingWindows(np.arange(1000)))) == 19


def test_without_recurrence_the_past_changes_nothing() -> None:
    model = experiment.model_of(7, seed=0, recurrent=False)
    ids = np.arange(100) % 7
    experiment.curve(model, WrappingWindows(ids, 2, 4), epochs=3)
    assert not model.params["W_hh"].any() and model.params["W_xh"].any()
    losses = []
    for before in (1, 2):
        model.rnn.reset_state()
        model.forward(np.array([[before]]), np.array([[0]]))
        losses.append(model.forward(np.array([[3]]), np.array([[4]])))
    assert losses[0] == losses[1]


def test_the_forgetful_embedding_forgets_repeated_words_alone() -> None:
    ids = np.array([[0, 1], [0, 2]])
    right, wrong = experiment.model_of(3, seed=0), experiment.forgetful(3, seed=0)
    for model in (right, wrong):
        model.forward(ids.T, ids.T)
        model.backward()
    difference = np.abs(right.grads["E"] - wrong.grads["E"]).max(axis=1)
    assert difference[0] > 0 and not difference[1:].any()


@pytest.mark.parametrize("text", list(experiment.TEXTS))
def test_what_is_stored_is_complete(text: str) -> None:
    stored = STORED[text]
    assert len(stored["curves"]) == 10
    for curves in stored["curves"].values():
        assert len(curves) == 10 and {len(one) for one in curves} == {experiment.NUM_EPOCHS}
    assert abs(stored["untrained"] / stored["vocab_size"] - 1) < 0.01
    assert len(stored["cold_start"]["zeros"]) == len(stored["cold_start"]["carried"]) == 90


def test_the_stored_curves_are_those_of_this_code() -> None:
    """The first epochs: later ones depend on the order in which a machine adds."""
    ids, size = experiment.thousand_words("the-tide-clock")
    stored = STORED["the-tide-clock"]
    assert size == stored["vocab_size"]
    for name, value in experiment.tables(ids, size).items():
        assert value == pytest.approx(stored["tables"][name], abs=1e-4)
    for name, model in (
        ("recurrent, E 0.01", experiment.model_of(size, 3)),
        ("no recurrence, E 1", experiment.model_of(size, 3, scale=1.0, recurrent=False)),
    ):
        assert experiment.curve(model, WrappingWindows(ids), epochs=3) == pytest.approx(
            stored["curves"][name][3][:3], rel=1e-3
        )


@pytest.mark.parametrize("text", list(experiment.TEXTS))
def test_what_the_page_says_of_the_runs(text: str) -> None:
    stored = STORED[text]
    ends = {name: [one[99] for one in curves] for name, curves in stored["curves"].items()}
    one_word = stored["tables"]["one word"]
    assert min(ends["no recurrence, E 0.01"]) > 5 * max(ends["recurrent, E 0.01"])
    assert max(ends["recurrent, E 1"]) < 1.2 < one_word < min(ends["no recurrence, E 1"]) < 5.2
    assert min(one[149] for one in stored["curves"]["no recurrence, E 0.01"]) > 20
    assert max(one[149] for one in stored["curves"]["recurrent, E 0.01"]) < 0.5 * one_word
    assert min(ends["recurrent, E 0.01"]) > one_word
    medians = {name: np.median(values) for name, values in ends.items()}
    assert medians["same places"] < medians["950 words"] < medians["recurrent, E 0.01"]
    cold = {kind: np.array(nats) for kind, nats in stored["cold_start"].items()}
    assert cold["zeros"][:5].mean() - cold["carried"][:5].mean() > 1
    assert abs(cold["zeros"][40:].mean() - cold["carried"][40:].mean()) < 0.1


def test_the_table_of_the_page_is_the_stored_one() -> None:
    notebook = nbformat.read(ROOT / "chapters" / "08_by_hand_thousand_words.ipynb", as_version=4)
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    for row in experiment.rows(STORED):
        assert "\n".join([f"* - {row[0]}", *(f"  - {value}" for value in row[1:])]) in prose, row
