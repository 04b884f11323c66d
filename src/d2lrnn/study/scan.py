r"""Linear recurrences: the same states by a loop over time and by a parallel scan.

.. math::
    \mathbf h_t = \mathbf a_t \odot \mathbf h_{t-1} + \mathbf x_t

Each step is an affine map, given by the pair :math:`(\mathbf a_t, \mathbf x_t)`, and two such maps, one after the
other, are an affine map again:

.. math::
    (\mathbf a, \mathbf b) \text{ then } (\mathbf a', \mathbf b')
    \;=\; (\mathbf a \odot \mathbf a', \; \mathbf a' \odot \mathbf b + \mathbf b')

This combination is associative, so that the maps from the beginning to every step can be had by a prefix scan in
about :math:`\log_2` of the number of steps. A step with a tanh in it has no such pair, and has to wait for the one
before.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch

__all__ = ["ScanLevel", "linear_recurrence_loop", "linear_recurrence_scan", "scan_levels"]

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
    Taught in the chapter *At scale*. Doubling: Hillis and Steele, "Data parallel algorithms", Communications of the ACM
    29 (1986). Two sweeps: Blelloch, "Prefix sums and their applications", CMU-CS-90-190 (1990), here in the inclusive
    form, which needs no second array.

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
    Taught in the chapter *At scale*: ``num_steps`` steps, each of which waits for the one before.

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
    Taught in the chapter *At scale*; Blelloch, "Prefix sums and their applications", CMU-CS-90-190 (1990); Martin and
    Cundy, "Parallelizing linear recurrent neural nets over sequence length", ICLR 2018.

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
