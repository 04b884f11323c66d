"""The figures draw what they are given."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import matplotlib
import pytest
import torch

import d2lrnn as d

matplotlib.use("Agg")
from d2lrnn import plotting

plt = plotting.plt


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    yield
    plt.close("all")


def _history(perplexities: list[tuple[float, float]]) -> d.History:
    history = d.History()
    for epoch, (train, heldout) in enumerate(perplexities, start=1):
        scores = [d.Score(10 * torch.tensor(p).log().item(), 10) for p in (train, heldout)]
        history.epochs.append(d.history.EpochRecord(epoch, *scores, seconds=1.0))
    return history


def test_history_curves_and_baselines() -> None:
    ax = plotting.plot_history(_history([(20.0, 21.0), (5.0, 6.0)]), {"uniform": 27})
    train, heldout, uniform = ax.lines
    assert train.get_ydata() == pytest.approx([20, 5], rel=1e-5)
    assert heldout.get_ydata() == pytest.approx([21, 6], rel=1e-5)
    assert list(uniform.get_ydata()) == [27, 27]
    assert ax.get_yscale() == "log"


@pytest.mark.parametrize(
    ("low", "high"), [(7, 15), (4.1, 4.9), (3.51, 3.74), (1.2, 27), (2, 2000), (9.4, 10.7), (5, 5.0001)]
)
def test_the_axis_of_perplexities_has_labels_to_read(low: float, high: float) -> None:
    ax = plotting.plot_history(_history([(high, high), (low, low)]))
    ax.figure.canvas.draw()
    bottom, top = ax.get_ylim()
    ticks = zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)
    labels = [label.get_text() for value, label in ticks if bottom <= value <= top]
    assert 3 <= len(set(labels)) == len(labels) <= 12


def test_epochs_that_were_not_scored_are_left_out_of_the_curve() -> None:
    """A training that was resumed with a held-out text."""
    history = _history([(20.0, 21.0), (5.0, 6.0), (4.0, 5.5)])
    history.epochs[0] = replace(history.epochs[0], heldout=None)
    _, heldout = plotting.plot_history(history).lines
    assert list(heldout.get_xdata()) == [2, 3] and heldout.get_ydata() == pytest.approx([6, 5.5], rel=1e-5)


def test_lags_leave_zeros_out() -> None:
    ax = plotting.plot_lags({"a": torch.tensor([1.0, 0.0, 0.25])})
    assert ax.lines[0].get_xdata().tolist() == [0, 2]
    assert ax.lines[0].get_ydata().tolist() == [1.0, 0.25]


def test_eigenvalues_are_drawn_where_they_lie() -> None:
    ax = plotting.plot_eigenvalues({"rotation": torch.tensor([[0.0, -1.0], [1.0, 0.0]])})
    assert sorted(ax.lines[0].get_ydata().tolist()) == pytest.approx([-1, 1])


def test_every_matrix_is_drawn() -> None:
    ax = plotting.plot_eigenvalues({str(number): number * torch.eye(2) for number in range(9)})
    assert len(ax.lines) == 9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("missing", "code", "said"),
    [
        ("matplotlib", "import d2lrnn.plotting", "needs matplotlib, which is not installed: pip install matplotlib"),
        ("matplotlib", "import d2lrnn as d; d.plotting.plot_lags", "needs matplotlib, which is not installed"),
        ("matplotlib_inline", "from d2lrnn import plotting; plotting.use_book_style(); print('styled')", "styled"),
    ],
)
def test_what_is_not_installed(missing: str, code: str, said: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; {code}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert said in done.stdout + done.stderr


def test_states_and_probabilities() -> None:
    ax = plotting.plot_states(torch.tensor([[-1.0, 0.5], [0.0, 1.0], [0.2, 0.3]]), ["t", " ", "e"])
    torch.testing.assert_close(
        torch.tensor(ax.images[0].get_array().data), torch.tensor([[-1.0, 0, 0.2], [0.5, 1, 0.3]])
    )
    assert [t.get_text() for t in ax.get_xticklabels()] == ["t", "\N{OPEN BOX}", "e"]
    ax = plotting.plot_probs([0.25, 0.75], ["a", "b"])
    assert [bar.get_height() for bar in ax.patches] == [0.25, 0.75]


def test_axes_are_used_when_given() -> None:
    _, ax = plt.subplots()
    assert plotting.plot_lags({"a": [1.0, 2.0]}, ax=ax) is ax


def test_sizes_must_match() -> None:
    with pytest.raises(ValueError, match="one row for each token"):
        plotting.plot_states(torch.zeros(3, 2), ["a", "b"])
    with pytest.raises(ValueError, match="must be as many"):
        plotting.plot_probs([0.5, 0.5], ["a"])
