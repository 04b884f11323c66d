r"""Linear recurrences: the same states by a loop over time and by a parallel scan.

.. math::
    \mathbf h_t = \mathbf a_t \odot \mathbf h_{t-1} + \mathbf x_t

Each step is an affine map, given by the pair :math:`(\mathbf a_t, \mathbf x_t)`, and two such maps, one after the
other, are an affine map again:

.. math::
    (\mathbf a, \mathbf b) \text{ then } (\mathbf a', \mathbf b')
    \;=\; (\mathbf a \odot \mathbf a', \; \mathbf a' \odot \mathbf b + \mathbf b')

This combination is associative, so that the maps from the beginning to every step can be had by a prefix scan in
about :math:`\log_2` of the number of steps. Two steps with a tanh in them have no such pair.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import torch
from torch import nn

from d2lrnn.layers import RecurrentLayer, check_sizes

__all__ = [
    "GatedLinearRecurrence",
    "LinearRecurrence",
    "Readout",
    "ScanLevel",
    "linear_recurrence_loop",
    "linear_recurrence_scan",
    "scan_levels",
]

Method = Literal["doubling", "two-sweep"]


class ScanLevel(NamedTuple):
    """One level of a scan: combinations that can all be made at the same time.

    Attributes
    ----------
    distance : int
        How far to the left of its target the earlier part of each combination stands.
    targets : range
        Places that are overwritten, each by what stands `distance` to its left, combined with itself.

    Examples
    --------
    >>> ScanLevel(distance=2, targets=range(2, 5)).pairs
    [(0, 2), (1, 3), (2, 4)]
    """

    distance: int
    targets: range

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """All combinations of the level as (earlier, later); the result stands at the place of the later."""
        return [(target - self.distance, target) for target in self.targets]


def scan_levels(num_steps: int, method: Method = "doubling") -> list[ScanLevel]:
    r"""The schedule of an inclusive prefix scan: what is combined with what, level by level.

    Before the first level each place holds its own step alone; after the last one place :math:`t` holds the combination
    of all steps up to and including :math:`t`. All combinations of a level read what the level before has left.

    ========== ========================================= ============================================
    method     levels                                    combinations (`num_steps` a power of two)
    ========== ========================================= ============================================
    doubling   :math:`\lceil \log_2 T \rceil`            :math:`T \log_2 T - T + 1`
    two-sweep  :math:`2 \log_2 T - 1`                    :math:`2 T - 2 - \log_2 T`
    ========== ========================================= ============================================

    Parameters
    ----------
    num_steps : int
        Any number from 1 on; it need not be a power of two.
    method : "doubling" or "two-sweep"
        "doubling" has the fewest levels: the distance doubles from one to the next. "two-sweep" combines least: up a
        tree to the whole, and down again to the places in between.

    Returns
    -------
    list of ScanLevel
        Empty for a single step.

    Raises
    ------
    ValueError
        If there is no step, or `method` is neither.

    Notes
    -----
    Taught in the chapter *After the chain: scans and attention*. Doubling, for this very recurrence: Kogge and Stone,
    "A parallel algorithm for the efficient solution of a general class of recurrence equations", IEEE Transactions on
    Computers C-22 (1973). Two sweeps: Brent and Kung, "A regular layout for parallel adders", IEEE Transactions on
    Computers C-31 (1982).

    Examples
    --------
    >>> for level in scan_levels(4):
    ...     print(level.pairs)
    [(0, 1), (1, 2), (2, 3)]
    [(0, 2), (1, 3)]
    >>> for level in scan_levels(4, "two-sweep"):
    ...     print(level.pairs)
    [(0, 1), (2, 3)]
    [(1, 3)]
    [(1, 2)]
    """
    if num_steps < 1:
        raise ValueError(f"num_steps is {num_steps}; a scan needs at least 1.")
    distances = [1 << level for level in range((num_steps - 1).bit_length())]  # 1, 2, 4, ... below num_steps
    if method == "doubling":
        return [ScanLevel(distance, range(distance, num_steps)) for distance in distances]
    if method == "two-sweep":
        up = [ScanLevel(distance, range(2 * distance - 1, num_steps, 2 * distance)) for distance in distances]
        down = [ScanLevel(distance, range(3 * distance - 1, num_steps, 2 * distance)) for distance in distances[::-1]]
        return [level for level in up + down if level.targets]
    raise ValueError(f"method is {method!r}; it must be 'doubling' or 'two-sweep'.")


def _check(a: torch.Tensor, x: torch.Tensor, h_0: torch.Tensor | None) -> None:
    if x.dim() < 1 or len(x) < 1:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected (num_steps, ...), with at least one step.")
    if a.shape != x.shape:
        raise ValueError(
            f"a has shape {tuple(a.shape)} and x {tuple(x.shape)}; they must be equal, one factor for every input. "
            "A factor that is the same at all steps can be stretched with a.expand_as(x)."
        )
    if h_0 is not None and h_0.shape != x.shape[1:]:
        raise ValueError(f"h_0 has shape {tuple(h_0.shape)}; expected {tuple(x.shape[1:])}, the shape of one step.")
    kinds = {"a": a.dtype, "x": x.dtype} | ({} if h_0 is None else {"h_0": h_0.dtype})
    if len(set(kinds.values())) > 1 or not (x.is_floating_point() or x.is_complex()):
        said = ", ".join(f"{name} {dtype}" for name, dtype in kinds.items())
        raise TypeError(f"The types are {said}; expected one floating point type for all, real or complex.")


def linear_recurrence_loop(a: torch.Tensor, x: torch.Tensor, h_0: torch.Tensor | None = None) -> torch.Tensor:
    r"""All states of a linear recurrence, one after the other.

    .. math:: \mathbf h_t = \mathbf a_t \odot \mathbf h_{t-1} + \mathbf x_t

    Parameters
    ----------
    a : Tensor, shape (num_steps, ...)
        What is kept of each number of the state at each step: 1 all, 0 nothing.
    x : Tensor, shape (num_steps, ...)
        What is added.
    h_0 : Tensor, shape (...), optional
        State to start from; zeros if left out.

    Returns
    -------
    Tensor, shape (num_steps, ...)
        The state after every step.

    Raises
    ------
    ValueError
        If there is no step or the shapes do not fit.
    TypeError
        If the types differ or are not floating point.

    Notes
    -----
    Taught in the chapter *After the chain: scans and attention*: ``num_steps`` steps, each of which waits for the one
    before.

    Examples
    --------
    >>> linear_recurrence_loop(torch.tensor([1.0, 0.5, 0.0]), torch.tensor([4.0, 1.0, 7.0])).tolist()
    [4.0, 3.0, 7.0]
    """
    _check(a, x, h_0)
    h = torch.zeros_like(x[0]) if h_0 is None else h_0
    states = []
    for a_t, x_t in zip(a.unbind(0), x.unbind(0)):
        h = a_t * h + x_t
        states.append(h)
    return torch.stack(states)  # (num_steps, ...)


def linear_recurrence_scan(
    a: torch.Tensor, x: torch.Tensor, h_0: torch.Tensor | None = None, method: Method = "doubling"
) -> torch.Tensor:
    r"""All states of a linear recurrence by a parallel scan, :math:`\lceil \log_2 T \rceil` levels instead of :math:`T`
    steps.

    Within a level nothing waits for anything: each is a few operations on whole tensors. Rounding apart, the result is
    that of :func:`linear_recurrence_loop`; sums are only made in another order. Differentiable in all arguments.

    Parameters
    ----------
    a, x, h_0
        As in :func:`linear_recurrence_loop`.
    method : "doubling" or "two-sweep"
        Which schedule; see :func:`scan_levels`.

    Returns
    -------
    Tensor, shape (num_steps, ...)

    Raises
    ------
    ValueError
        If there is no step, the shapes do not fit, or `method` is neither.
    TypeError
        If the types differ or are not floating point.

    Notes
    -----
    Taught in the chapter *After the chain: scans and attention*; Martin and Cundy, "Parallelizing linear recurrent
    neural nets over sequence length", ICLR 2018.

    Examples
    --------
    >>> a, x = torch.rand(100, 2, 3), torch.randn(100, 2, 3)
    >>> torch.testing.assert_close(linear_recurrence_scan(a, x), linear_recurrence_loop(a, x), rtol=1e-4, atol=1e-5)
    """
    _check(a, x, h_0)
    levels = scan_levels(len(x), method)
    if h_0 is not None:  # the first step's map, applied: nothing stands to the left of it
        x = torch.cat([(a[0] * h_0 + x[0]).unsqueeze(0), x[1:]])
    for number, (distance, targets) in enumerate(levels, start=1):
        later = slice(targets.start, targets.stop, targets.step)
        earlier = slice(targets.start - distance, targets.stop - distance, targets.step)
        new_x, new_a = x.clone(), a.clone()
        new_x[later] = a[later] * x[earlier] + x[later]
        if number < len(levels):  # after the last level nobody asks for the factors
            new_a[later] = a[later] * a[earlier]
        x, a = new_x, new_a
    return x if levels else x.clone()  # never the caller's own tensor


class LinearRecurrence(nn.Module):
    r"""A linear recurrent layer whose factors are learned and the same at all steps.

    .. math:: \mathbf h_t = \mathbf a \odot \mathbf h_{t-1} + \sqrt{1 - |\mathbf a|^2} \odot (\mathbf x_t \mathbf W)

    The factors are complex numbers inside the unit circle: a state can turn while it fades. The layer has the interface
    of :class:`d2lrnn.RNNScratch`; its outputs are real and imaginary parts, side by side.

    Parameters
    ----------
    num_inputs, num_hiddens : int
        `num_hiddens` counts outputs, and is even: two for each complex number of the state.

    Attributes
    ----------
    W_xh : Parameter, shape (num_inputs, num_hiddens)
        Real parts, then imaginary parts.
    log_decay, angle : Parameter, shape (num_hiddens / 2,)
        :math:`\mathbf a = \exp(-\exp(\text{log decay}) + i \, \text{angle})`, drawn so that :math:`|\mathbf a|` starts
        between 0.4 and 0.99.

    Raises
    ------
    ValueError
        If a size is below 1, or `num_hiddens` is odd.

    Notes
    -----
    Taught in the chapter *After the chain: scans and attention*; Orvieto et al., "Resurrecting recurrent neural
    networks for long sequences", ICML 2023.

    Examples
    --------
    >>> layer = LinearRecurrence(3, 8)
    >>> outputs, h = layer(torch.randn(5, 2, 3))
    >>> outputs.shape, h.shape, h.dtype
    (torch.Size([5, 2, 8]), torch.Size([2, 4]), torch.complex64)
    """

    def __init__(self, num_inputs: int, num_hiddens: int) -> None:
        super().__init__()
        num_inputs, num_hiddens = check_sizes(num_inputs, num_hiddens)
        if num_hiddens % 2:
            raise ValueError(f"num_hiddens is {num_hiddens}; it must be even, two for each complex number.")
        self.num_inputs, self.num_hiddens = num_inputs, num_hiddens
        bound = 1 / math.sqrt(num_inputs)
        self.W_xh = nn.Parameter(torch.empty(num_inputs, num_hiddens).uniform_(-bound, bound))
        radius = torch.empty(num_hiddens // 2).uniform_(0.4**2, 0.99**2).sqrt()
        self.log_decay = nn.Parameter((-radius.log()).log())
        self.angle = nn.Parameter(torch.empty(num_hiddens // 2).uniform_(0, math.pi))

    @property
    def factors(self) -> torch.Tensor:
        """The complex factors, shape (num_hiddens / 2,)."""
        return torch.polar((-self.log_decay.exp()).exp(), self.angle)

    def forward(self, inputs: torch.Tensor, h: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Run over a sequence by a scan: as :meth:`d2lrnn.RNNScratch.forward`, with a complex state half as wide."""
        a = self.factors
        x = torch.complex(*(inputs @ self.W_xh).chunk(2, dim=2)) * (1 - a.abs() ** 2).sqrt()
        states = linear_recurrence_scan(a.expand_as(x), x, h)  # (num_steps, batch_size, num_hiddens / 2)
        return torch.cat([states.real, states.imag], dim=2), states[-1]

    def extra_repr(self) -> str:
        return f"{self.num_inputs}, {self.num_hiddens}"


class GatedLinearRecurrence(nn.Module):
    r"""A linear recurrent layer whose gates see the input and not the state.

    .. math::
        \mathbf a_t = \sigma(\mathbf x_t \mathbf W_{xa} + \mathbf b_a), \qquad
        \mathbf h_t = \mathbf a_t \odot \mathbf h_{t-1} + (1 - \mathbf a_t) \odot (\mathbf x_t \mathbf W_{xh})

    It is a GRU without its reset gate, its tanh and its products with the state before. Interface as
    :class:`d2lrnn.RNNScratch`.

    Parameters
    ----------
    num_inputs, num_hiddens : int

    Attributes
    ----------
    W_xa, W_xh : Parameter, shape (num_inputs, num_hiddens)
    b_a : Parameter, shape (num_hiddens,)
        Drawn so that the gates start between 0.2 and 0.98.

    Raises
    ------
    ValueError
        If a size is below 1.

    Notes
    -----
    Taught in the chapter *After the chain: scans and attention*; Martin and Cundy, "Parallelizing linear recurrent
    neural nets over sequence length", ICLR 2018; Feng et al., "Were RNNs all we needed?", arXiv:2410.01201 (minGRU).

    Examples
    --------
    >>> layer = GatedLinearRecurrence(3, 4)
    >>> outputs, h = layer(torch.randn(5, 2, 3))
    >>> outputs.shape, bool((outputs[-1] == h).all())
    (torch.Size([5, 2, 4]), True)
    """

    def __init__(self, num_inputs: int, num_hiddens: int) -> None:
        super().__init__()
        num_inputs, num_hiddens = check_sizes(num_inputs, num_hiddens)
        self.num_inputs, self.num_hiddens = num_inputs, num_hiddens
        bound = 1 / math.sqrt(num_inputs)
        self.W_xa = nn.Parameter(torch.empty(num_inputs, num_hiddens).uniform_(-bound, bound))
        self.W_xh = nn.Parameter(torch.empty(num_inputs, num_hiddens).uniform_(-bound, bound))
        self.b_a = nn.Parameter(torch.empty(num_hiddens).uniform_(0.2, 0.98).logit())

    def forward(self, inputs: torch.Tensor, h: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Run over a sequence by a scan: parameters and returns as in :meth:`d2lrnn.RNNScratch.forward`."""
        a = torch.sigmoid(inputs @ self.W_xa + self.b_a)
        states = linear_recurrence_scan(a, (1 - a) * (inputs @ self.W_xh), h)
        return states, states[-1]  # (num_steps, batch_size, num_hiddens)

    def extra_repr(self) -> str:
        return f"{self.num_inputs}, {self.num_hiddens}"


class Readout(nn.Module):
    r"""A sequence layer with a hidden layer of rectifiers on top, :math:`\max(0, \mathbf H \mathbf W + \mathbf b)`.

    At each place by itself: it gives a linear recurrence the nonlinearity that its steps lack, and the other layers the
    same, so that they can be compared.

    Parameters
    ----------
    layer : nn.Module
        Any layer with the interface of :class:`d2lrnn.RNNScratch`.
    num_hiddens : int

    Examples
    --------
    >>> outputs, _ = Readout(GatedLinearRecurrence(3, 4), 8)(torch.randn(5, 2, 3))
    >>> outputs.shape
    torch.Size([5, 2, 8])
    """

    def __init__(self, layer: RecurrentLayer, num_hiddens: int) -> None:
        super().__init__()
        self.num_inputs, self.num_hiddens = layer.num_inputs, num_hiddens
        self.layer, self.hidden = layer, nn.Linear(layer.num_hiddens, num_hiddens)

    def forward(self, inputs: torch.Tensor, state: Any = None) -> tuple[torch.Tensor, Any]:
        """Run over a sequence: as the layer inside."""
        outputs, state = self.layer(inputs, state)
        return self.hidden(outputs).relu(), state
