"""The figures draw what they are given."""

from __future__ import annotations

from collections.abc import Iterator

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
        history.epochs.append(d.training.EpochRecord(epoch, *scores, seconds=1.0))
    return history


def test_history_curves_and_baselines() -> None:
    ax = plotting.plot_history(_history([(20.0, 21.0), (5.0, 6.0)]), {"uniform": 27})
    train, heldout, uniform = ax.lines
    assert train.get_ydata() == pytest.approx([20, 5], rel=1e-5)
    assert heldout.get_ydata() == pytest.approx([21, 6], rel=1e-5)
    assert list(uniform.get_ydata()) == [27, 27]
    assert ax.get_yscale() == "log"


def test_lags_leave_zeros_out() -> None:
    ax = plotting.plot_lags({"a": torch.tensor([1.0, 0.0, 0.25])})
    assert ax.lines[0].get_xdata().tolist() == [0, 2]
    assert ax.lines[0].get_ydata().tolist() == [1.0, 0.25]


def test_eigenvalues_are_drawn_where_they_lie() -> None:
    ax = plotting.plot_eigenvalues({"rotation": torch.tensor([[0.0, -1.0], [1.0, 0.0]])})
    assert sorted(ax.lines[0].get_ydata().tolist()) == pytest.approx([-1, 1])


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
