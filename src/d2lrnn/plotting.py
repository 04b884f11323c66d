"""The book's figures: each function draws data it is given, on axes it is given or makes, and returns the axes.

Nothing here trains. Colours are Okabe and Ito's, which colour-blind readers can tell apart, and curves differ in dash
or marker as well. Backgrounds are transparent and ink is near black, so that a page can invert a figure in dark mode.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from itertools import cycle

import torch

from d2lrnn.history import History

try:
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
except ModuleNotFoundError as error:
    message = "d2lrnn.plotting needs matplotlib, which is not installed: pip install matplotlib"
    raise ModuleNotFoundError(message, name=error.name) from error

__all__ = ["plot_eigenvalues", "plot_history", "plot_lags", "plot_probs", "plot_states", "use_book_style"]

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))
_INK = "#222222"


def use_book_style() -> None:
    """Set matplotlib up as the book does: vector figures, calm axes, colour-blind-safe colours."""
    with contextlib.suppress(ModuleNotFoundError):  # there with Jupyter, and of use there alone
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("svg")
    plt.rcParams.update(
        {
            "figure.figsize": (5.6, 3.3),
            "figure.facecolor": "none",
            "savefig.facecolor": "none",
            "axes.facecolor": "none",
            "axes.edgecolor": _INK,
            "axes.labelcolor": _INK,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": plt.cycler(color=COLORS, linestyle=_DASHES),
            "axes.grid": True,
            "grid.color": "#00000018",
            "text.color": _INK,
            "xtick.color": _INK,
            "ytick.color": _INK,
            "font.size": 12,  # still legible when a phone shows the figure at two thirds of its size
            "legend.frameon": False,
            "lines.linewidth": 2,
            "svg.hashsalt": "d2lrnn",  # ids in the SVG do not change from run to run
        }
    )


def _axes(ax: Axes | None) -> Axes:
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def _visible(token: str) -> str:
    return {" ": "\N{OPEN BOX}", "\n": "\N{RETURN SYMBOL}"}.get(token, token)


def plot_history(history: History, baselines: Mapping[str, float] | None = None, ax: Axes | None = None) -> Axes:
    """Perplexity by epoch, in training and on held-out text, on a log axis.

    Parameters
    ----------
    history : History
    baselines : mapping of str to float, optional
        Perplexities to draw as horizontal lines, such as ``{"uniform": 27}``.
    ax : Axes, optional

    Examples
    --------
    >>> from d2lrnn import History
    >>> ax = plot_history(History(), baselines={"uniform": 27})
    """
    ax = _axes(ax)
    train = {record.epoch: record.train.perplexity for record in history.epochs}
    heldout = {record.epoch: record.heldout.perplexity for record in history.epochs if record.heldout is not None}
    ax.plot([*train], [*train.values()], marker="o", markersize=4, label="training")
    if heldout:
        ax.plot([*heldout], [*heldout.values()], marker="s", markersize=4, label="held-out")
    for name, value in (baselines or {}).items():
        ax.axhline(value, color=_INK, linestyle=":", linewidth=1)
        ax.annotate(
            name, (1, value), (0, 3), xycoords=("axes fraction", "data"), textcoords="offset points", ha="right"
        )
    ax.set_yscale("log")
    low, high = ax.get_ylim()
    if high > 10 * low:
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    else:  # on less than a factor of ten, round numbers at equal distances
        ax.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="epoch", ylabel="perplexity")
    ax.legend()
    return ax


def plot_lags(norms: Mapping[str, torch.Tensor | Sequence[float]], ax: Axes | None = None) -> Axes:
    """Gradient norm by lag on a log axis, one curve for each name.

    Parameters
    ----------
    norms : mapping of str to a row of floats, shape (num_lags,)
        Values that are 0 are left out, since a log axis has no place for them.
    ax : Axes, optional

    Examples
    --------
    >>> ax = plot_lags({"tanh": [1, 0.5, 0.25]})
    """
    ax = _axes(ax)
    for name, values in norms.items():
        row = torch.as_tensor(values).detach().cpu().double().numpy()
        (lags,) = row.nonzero()
        ax.plot(lags, row[lags], label=name)
    ax.set_yscale("log")
    ax.set(xlabel="lag: steps back in time", ylabel="gradient norm")
    ax.legend()
    return ax


def plot_eigenvalues(matrices: Mapping[str, torch.Tensor], ax: Axes | None = None) -> Axes:
    """Eigenvalues in the complex plane with the unit circle.

    Parameters
    ----------
    matrices : mapping of str to Tensor of shape (num_hiddens, num_hiddens)
    ax : Axes, optional

    Examples
    --------
    >>> import torch
    >>> ax = plot_eigenvalues({"W_hh": torch.eye(3)})
    """
    ax = plt.subplots(figsize=(4.6, 4.6), layout="constrained")[1] if ax is None else ax
    ax.add_patch(plt.Circle((0, 0), 1, fill=False, color=_INK, linewidth=1))
    for (name, matrix), marker in zip(matrices.items(), cycle("o^sDvP")):
        values = torch.linalg.eigvals(matrix.detach().cpu().double()).numpy()
        ax.plot(values.real, values.imag, marker, linestyle="none", markersize=5, alpha=0.8, label=name)
    ax.set_aspect("equal")
    ax.set(xlabel="real part", ylabel="imaginary part")
    # Above the axes and stacked: beside them or in one row it would take the width that the circle needs.
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return ax


def plot_states(H: torch.Tensor, tokens: Sequence[str], ax: Axes | None = None) -> Axes:
    """Hidden states as a heat map: time to the right, one row for each unit.

    Parameters
    ----------
    H : Tensor, shape (num_steps, num_hiddens)
        Values from -1 to 1.
    tokens : sequence of str, length num_steps
        What was read at each step.
    ax : Axes, optional

    Raises
    ------
    ValueError
        If there is not one token for each step.

    Examples
    --------
    >>> import torch
    >>> ax = plot_states(torch.rand(4, 8), "tide")
    """
    if H.dim() != 2 or len(H) != len(tokens):
        raise ValueError(
            f"H has shape {tuple(H.shape)}; expected ({len(tokens)}, num_hiddens), one row for each token."
        )
    ax = _axes(ax)
    image = ax.imshow(H.detach().cpu().T.numpy(), aspect="auto", cmap="PuOr", vmin=-1, vmax=1, interpolation="nearest")
    ax.set_xticks(range(len(tokens)), [_visible(token) for token in tokens])
    ax.set(xlabel="character read", ylabel="hidden unit")
    ax.grid(False)
    ax.figure.colorbar(image, ax=ax, label="value")
    return ax


def plot_probs(probs: torch.Tensor | Sequence[float], tokens: Sequence[str], ax: Axes | None = None) -> Axes:
    """A distribution over the vocabulary as bars.

    Parameters
    ----------
    probs : row of floats, shape (vocab_size,)
    tokens : sequence of str, length vocab_size
    ax : Axes, optional

    Raises
    ------
    ValueError
        If there is not one token for each probability.

    Examples
    --------
    >>> ax = plot_probs([0.1, 0.9], ["a", "b"])
    """
    values = torch.as_tensor(probs).detach().cpu().tolist()
    if len(values) != len(tokens):
        raise ValueError(f"There are {len(values)} probabilities and {len(tokens)} tokens; they must be as many.")
    ax = _axes(ax)
    ax.bar(range(len(values)), values, color=COLORS[0])
    ax.set_xticks(range(len(tokens)), [_visible(token) for token in tokens])
    ax.set(xlabel="next character", ylabel="probability")
    ax.grid(False, axis="x")
    return ax
