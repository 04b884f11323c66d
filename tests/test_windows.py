"""Windows: what is in them, what follows what, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch

import d2lrnn as d


def test_sequential_windows_of_the_first_ten_numbers() -> None:
    batches = [(X.tolist(), Y.tolist()) for X, Y in d.SequentialWindows(torch.arange(10), 1, 4)]
    assert batches == [([[0, 1, 2, 3]], [[1, 2, 3, 4]]), ([[4, 5, 6, 7]], [[5, 6, 7, 8]])]


def test_a_batch_of_two_over_a_thousand_starts_at_0_and_500() -> None:
    windows = iter(d.SequentialWindows(torch.arange(1000), batch_size=2, num_steps=10))
    first, second = next(windows), next(windows)
    assert first[0][:, 0].tolist() == [0, 500]
    assert second[0][:, 0].tolist() == [10, 510]
    assert second[0][:, -1].tolist() == [19, 519]


@pytest.mark.parametrize(
    ("num_tokens", "batch_size", "num_steps", "offset"), [(101, 4, 5, 0), (100, 4, 5, 3), (7, 1, 2, 0)]
)
def test_sequential_rows_go_on_where_they_stopped(
    num_tokens: int, batch_size: int, num_steps: int, offset: int
) -> None:
    windows = d.SequentialWindows(torch.arange(num_tokens), batch_size, num_steps, offset=offset)
    batches = list(windows)
    assert len(batches) == len(windows) > 0
    read = torch.cat([X for X, _ in batches], dim=1)  # (batch_size, all steps)
    assert (read[:, 1:] - read[:, :-1] == 1).all()
    assert read[0, 0] == offset
    assert len(read.unique()) == read.numel()  # nothing twice
    for X, Y in batches:
        assert X.shape == Y.shape == (batch_size, num_steps)
        assert (Y == X + 1).all()


@pytest.mark.parametrize("overlap", [True, False])
def test_random_windows_are_shifted_by_one_and_vary(overlap: bool) -> None:
    ids = torch.arange(1000)
    generator = torch.Generator().manual_seed(1)
    windows = d.RandomWindows(ids, batch_size=8, num_steps=5, overlap=overlap, generator=generator)
    epochs = [list(windows), list(windows)]
    for batches in epochs:
        assert len(batches) == len(windows)
        for X, Y in batches:
            assert X.shape == Y.shape == (8, 5)
            assert (Y == X + 1).all()
            assert (X[:, 1:] - X[:, :-1] == 1).all()
    starts = [torch.cat([X[:, 0] for X, _ in batches]) for batches in epochs]
    assert not torch.equal(*starts)
    assert not torch.equal(starts[0], starts[0].sort().values)
    if not overlap:
        for batches in epochs:
            read = torch.cat([X.flatten() for X, _ in batches])
            assert len(read.unique()) == read.numel()
        offsets = {int(X[0, 0]) % 5 for _ in range(40) for X, _ in windows}
        assert offsets == {0, 1, 2, 3, 4}  # each epoch cuts the text elsewhere


def test_windows_drawn_with_replacement() -> None:
    """Every place has its chance at every draw, the first and the last too, and nothing remembers what was drawn."""
    generator = torch.Generator().manual_seed(0)
    ids = torch.arange(30)
    windows = d.RandomWindows(ids, batch_size=3, num_steps=4, replacement=True, generator=generator)
    assert len(windows) == len(d.RandomWindows(ids, 3, 4)) == 2
    drawn, repeated = [], 0
    for _ in range(400):
        starts = []
        for X, Y in windows:
            assert (Y == X + 1).all() and (X[:, 1:] - X[:, :-1] == 1).all()
            starts += X[:, 0].tolist()
        assert len(starts) == 6
        drawn += starts
        repeated += len(set(starts)) < 6
    counts = torch.bincount(torch.tensor(drawn), minlength=26)
    assert len(counts) == 26 and counts.min() > 92 - 4 * 92**0.5 and counts.max() < 92 + 4 * 92**0.5
    assert repeated > 100
    with pytest.raises(ValueError, match="choose one of them"):
        d.RandomWindows(ids, 3, 4, replacement=True, overlap=False)


def test_drawing_with_replacement_needs_no_memory_for_the_text() -> None:
    """A text of a terabyte, of which there is one byte: shuffling its places would need eight."""
    ids = torch.zeros(1, dtype=torch.uint8).expand(2**40)
    X, Y = next(iter(d.RandomWindows(ids, 4, 5, replacement=True)))
    assert X.shape == Y.shape == (4, 5)


def test_random_windows_may_overlap_as_in_the_sources_example() -> None:
    """From 0..9 both [2, 3, 4, 5] and [0, 1, 2, 3] can be drawn."""
    generator = torch.Generator().manual_seed(0)
    windows = d.RandomWindows(torch.arange(10), 2, 4, generator=generator)
    drawn = {tuple(row) for _ in range(200) for X, _ in windows for row in X.tolist()}
    assert drawn == {tuple(range(i, i + 4)) for i in range(6)}


@pytest.mark.parametrize("kind", [d.SequentialWindows, d.RandomWindows])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64])
def test_ids_of_any_integer_type_and_on_disk(kind, dtype: type, tmp_path: Path) -> None:
    plain = np.arange(250)
    path = tmp_path / "ids"
    plain.astype(dtype).tofile(path)
    mapped = np.memmap(path, dtype=dtype, mode="c")  # copy on write: torch warns about arrays that can't be written
    expected, found = (
        (torch.manual_seed(0), list(kind(torch.from_numpy(ids), 3, 7)))[1] for ids in (plain, mapped)
    )
    assert len(found) == len(expected) > 3
    for (X, Y), (X2, Y2) in zip(found, expected):
        assert X.dtype == Y.dtype == torch.int64
        assert torch.equal(X, X2) and torch.equal(Y, Y2)


@pytest.mark.parametrize("kind", [d.SequentialWindows, d.RandomWindows])
def test_a_change_in_a_minibatch_changes_nothing_else(kind) -> None:
    ids = torch.arange(100)
    X, Y = next(iter(kind(ids, 2, 5)))
    kept = Y.clone()
    X += 1000
    assert torch.equal(Y, kept) and torch.equal(ids, torch.arange(100))
    assert X.is_contiguous() and Y.is_contiguous()


def test_same_seed_same_windows() -> None:
    def starts() -> list[list[int]]:
        generator = torch.Generator().manual_seed(3)
        return [X[:, 0].tolist() for X, _ in d.RandomWindows(torch.arange(200), 4, 5, generator=generator)]

    assert starts() == starts()


@pytest.mark.parametrize(
    ("kind", "options", "needed"),
    [
        (d.SequentialWindows, {}, 21),
        (d.SequentialWindows, {"offset": 3}, 24),
        (d.RandomWindows, {}, 21),
        (d.RandomWindows, {"overlap": False}, 25),
    ],
)
def test_shortest_text_that_will_do(kind, options: dict, needed: int) -> None:
    """The message names the true minimum: one token less is refused, that many are enough."""
    assert len(list(kind(torch.arange(needed), batch_size=4, num_steps=5, **options))) == 1
    with pytest.raises(ValueError, match=rf"has {needed - 1} tokens, and {needed} are needed"):
        kind(torch.arange(needed - 1), batch_size=4, num_steps=5, **options)


@pytest.mark.parametrize("length", [0, 1, 2, 3, 6, 11, 20])
@pytest.mark.parametrize(
    ("kind", "options"),
    [(d.SequentialWindows, {}), (d.SequentialWindows, {"offset": 3}), (d.RandomWindows, {}),
     (d.RandomWindows, {"overlap": False})],
)  # fmt: skip
def test_the_advice_for_a_short_text_can_be_followed(kind: type, options: dict, length: int) -> None:
    ids = torch.arange(length)
    with pytest.raises(ValueError, match=r"Take a longer text") as error:
        kind(ids, batch_size=4, num_steps=5, **options)
    advised = {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", str(error.value).partition("Take")[2])}
    if advised:
        kind(ids, **{"batch_size": 4, "num_steps": 5, **advised}, **options)
    else:
        assert length <= 1 + options.get("offset", 0) + 4 * (options.get("overlap") is False)


@pytest.mark.parametrize("kind", [d.SequentialWindows, d.RandomWindows])
def test_bad_windows(kind) -> None:
    ids = torch.arange(100)
    for batch_size, num_steps in [(0, 5), (-1, 5), (4, 0)]:
        with pytest.raises(ValueError, match="must be at least 1"):
            kind(ids, batch_size, num_steps)
    with pytest.raises(ValueError, match="one row"):
        kind(ids.reshape(2, 50), 2, 5)
    with pytest.raises(TypeError, match="integers"):
        kind(ids.float(), 2, 5)
    with pytest.raises(TypeError, match=r"ids is of type EncodedText; expected .*train_ids or heldout_ids"):
        kind(d.load_text(), 2, 5)
    with pytest.raises(ValueError, match="has 0 tokens"):
        kind(torch.arange(0), 1, 1)
    with pytest.raises(ValueError, match="offset"):
        d.SequentialWindows(ids, 2, 5, offset=-1)
    with pytest.raises(TypeError, match="integer"):
        kind(ids, 2.0, 5)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (d.SequentialWindows, {"offset": 3}),
        (d.RandomWindows, {"num_batches": 2}),
        (d.RandomWindows, {"num_batches": 2, "overlap": False}),
        (d.RandomWindows, {"num_batches": 2, "replacement": True}),
    ],
)
def test_sizes_of_numpy_are_sizes(kind, options: dict) -> None:
    numpys = {name: value if isinstance(value, bool) else np.int64(value) for name, value in options.items()}
    one, other = kind(torch.arange(100), 4, 5, **options), kind(torch.arange(100), np.int64(4), np.int64(5), **numpys)
    for windows in (one, other):
        torch.manual_seed(0)
        windows.minibatches = [X.tolist() for X, _ in windows]
    assert one.minibatches == other.minibatches and len(one.minibatches) == len(one)
    assert one.describe() == other.describe()
    assert {type(value) for value in other.describe().values()} <= {str, int, bool}


def test_an_epoch_of_another_length() -> None:
    ids = torch.arange(101)  # 25 windows, 8 minibatches
    for num_batches in (1, 2, 8):
        few = d.RandomWindows(ids, 3, 4, num_batches=num_batches)
        assert len(few) == len(list(few)) == num_batches
    many = d.RandomWindows(ids, 3, 4, replacement=True, num_batches=50)
    assert len(many) == len(list(many)) == 50
    with pytest.raises(ValueError, match="num_batches is 9; it must be from 1 to 8"):
        d.RandomWindows(ids, 3, 4, num_batches=9)
    with pytest.raises(ValueError, match="num_batches is 0; it must be at least 1"):
        d.RandomWindows(ids, 3, 4, num_batches=0, replacement=True)


def resumed_and_done(windows: d.RandomWindows, state: dict) -> d.RandomWindows:
    windows.load_state_dict(state)
    list(windows)
    return windows


def test_an_epoch_taken_up_in_the_middle_leaves_the_source_where_it_stood() -> None:
    """Somebody else, such as dropout, may draw from it as well."""
    generator = torch.Generator().manual_seed(0)
    windows = d.RandomWindows(torch.arange(101), 3, 4, generator=generator)
    assert windows.state_dict()["position"] == 0, "before the first epoch"
    next(iter(windows))
    torch.rand(7, generator=generator)
    state = windows.state_dict()
    assert state["position"] == 1
    windows.load_state_dict(state)
    list(windows)
    assert torch.equal(generator.get_state(), state["now"])


@pytest.mark.parametrize("settings", [{}, {"overlap": False}, {"replacement": True}])
def test_an_epoch_is_taken_up_in_the_middle(settings: dict) -> None:
    def make(seed: int) -> d.RandomWindows:
        return d.RandomWindows(torch.arange(101), 3, 4, generator=torch.Generator().manual_seed(seed), **settings)

    whole, windows = list(make(3)), make(3)
    for number, _ in enumerate(windows, start=1):
        if number == 5:
            state = windows.state_dict()
            break
    fresh = make(99)
    fresh.load_state_dict(state)
    rest = list(fresh)
    assert len(rest) == len(whole) - 5
    assert all(torch.equal(a, b) for one, other in zip(whole[5:], rest) for a, b in zip(one, other))
    assert len(list(fresh)) == len(whole), "the epoch after it is a whole one"
    both = make(3)
    list(both)
    assert torch.equal(next(iter(both))[0], next(iter(resumed_and_done(make(99), state)))[0]), "so is what it draws"


@pytest.mark.parametrize("position", [0, 5])
def test_a_stream_is_taken_up_in_the_middle(position: int) -> None:
    sequential = d.SequentialWindows(torch.arange(101), 3, 4)
    whole = list(sequential)
    sequential.load_state_dict({"position": position})
    for one, other in zip(whole[position:], sequential, strict=True):
        assert torch.equal(one[0], other[0]) and torch.equal(one[1], other[1])
