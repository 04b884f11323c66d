"""A training that is stopped anywhere and taken up again ends with the weights of one that never stopped."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import d2lrnn as d
from d2lrnn.ops import checkpoint as checkpoint_module
from d2lrnn.ops.callbacks import KeepBest, TrainingInterruptedError

IDS = torch.tensor([0, 1, 2, 3, 2, 1] * 30)
HELDOUT = IDS[:40]


def make_model(layer: type[nn.Module] = d.RNNScratch) -> d.RNNLM:
    torch.manual_seed(0)
    if layer is d.LSTM:  # its state is a pair, and each step draws random numbers of its own
        return d.RNNLM(layer(4, 8, weight_drop=0.3), 4, dropout=0.2)
    return d.RNNLM(layer(4, 8), 4)


def sequential() -> d.SequentialWindows:
    return d.SequentialWindows(IDS, 2, 10)


def random_windows(**settings: object) -> d.RandomWindows:
    return d.RandomWindows(IDS, 3, 7, generator=torch.Generator().manual_seed(5), **settings)


def other_text() -> d.RandomWindows:
    return d.RandomWindows(IDS.flip(0), 3, 7, generator=torch.Generator().manual_seed(5))


def from_global_numbers() -> d.RandomWindows:
    return d.RandomWindows(IDS, 3, 7)


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of checkpoints are written here; that each is forced to the disk is tested where files are replaced."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


class Stopped(Exception):
    pass


def stop_at(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """As if the power went: nothing runs after this step, not even what tidies up."""
    original, count = d.engines.Stepper.__call__, [0]

    def counting(self: d.engines.Stepper, *arguments: object) -> d.engines.Step:
        if count[0] == step:
            raise Stopped
        count[0] += 1
        return original(self, *arguments)

    monkeypatch.setattr(d.engines.Stepper, "__call__", counting)


def train(
    path: Path | None,
    make_windows: Callable,
    layer: type[nn.Module] = d.RNNScratch,
    resume: bool = False,
    callbacks: Callable[[], list[d.Callback]] = list,
    **settings,
) -> tuple[d.RNNLM, d.History]:
    model, windows, listeners = make_model(layer), make_windows(), callbacks()
    if path is not None:
        every = {"every_seconds": None, "every_steps": 1}
        listeners.append(d.Checkpointing(path, **every, resume=resume, overwrite=not resume))
    settings = {"epochs": 3, "lr": 0.05, "heldout_ids": HELDOUT, "device": "cpu"} | settings
    return model, d.fit(model, windows, callbacks=listeners, **settings)


def assert_same(one: tuple[d.RNNLM, d.History], other: tuple[d.RNNLM, d.History]) -> None:
    for name, tensor in one[0].state_dict().items():
        assert torch.equal(tensor, other[0].state_dict()[name]), name
    a, b = one[1], other[1]
    assert a.step_losses == b.step_losses and a.step_grad_norms == b.step_grad_norms
    assert [(r.epoch, r.train, r.heldout) for r in a.epochs] == [(r.epoch, r.train, r.heldout) for r in b.epochs]


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["constant", "one-cycle"])
@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
@pytest.mark.parametrize(
    ("make_windows", "layer"),
    [
        (sequential, d.RNNScratch),
        (random_windows, d.RNNScratch),
        (lambda: random_windows(overlap=False), d.RNNConcise),
        (from_global_numbers, d.LSTM),
        (sequential, d.LSTM),
        (lambda: d.RandomWindows(IDS, 3, 7, replacement=True), d.LSTM),
    ],
    ids=["sequential", "random", "adjoining", "global and dropout", "carried pair and dropout", "replacement"],
)
def test_stopped_anywhere_the_weights_are_the_same(
    tmp_path: Path, make_windows: Callable, layer: type, optimizer: str, schedule: str
) -> None:
    settings = {"optimizer": optimizer, "schedule": schedule}
    undisturbed = train(None, make_windows, layer, **settings)
    steps_an_epoch = len(make_windows())
    for step in (1, steps_an_epoch - 1, steps_an_epoch, steps_an_epoch + 1, 2 * steps_an_epoch + 3):
        path = tmp_path / f"{step}.safetensors"
        with pytest.MonkeyPatch.context() as patch, pytest.raises(Stopped):
            stop_at(patch, step)
            train(path, make_windows, layer, **settings)
        torch.manual_seed(99)  # whatever else was drawn in between
        assert_same(train(path, make_windows, layer, resume=True, **settings), undisturbed)


def test_stopped_again_and_again(tmp_path: Path) -> None:
    """At each step once: all that a step needs goes through the file."""
    path, count = tmp_path / "tide.safetensors", 0
    undisturbed = train(None, random_windows)
    while True:
        with pytest.MonkeyPatch.context() as patch:
            stop_at(patch, 1)
            try:
                resumed = train(path, random_windows, resume=True)
                break
            except Stopped:
                count += 1
    assert count == len(undisturbed[1].step_losses) - 1  # after the last there is nothing more to stop
    assert_same(resumed, undisturbed)


@pytest.mark.parametrize("callback", [lambda: d.EarlyStopping(patience=2), KeepBest], ids=["stop early", "keep best"])
def test_the_best_weights_and_the_patience_go_on(tmp_path: Path, callback: Callable[[], d.Callback]) -> None:
    """Held out is a text of another kind: at this rate its perplexity rises after a few epochs."""
    settings = {"epochs": 6, "lr": 0.1, "heldout_ids": IDS[:40].flip(0) // 2, "callbacks": lambda: [callback()]}
    undisturbed = train(None, random_windows, **settings)
    best = undisturbed[1].best.epoch
    assert best < len(undisturbed[1].epochs) and (len(undisturbed[1].epochs) < 6) == (callback is not KeepBest)
    for step in (8 * best - 1, 8 * best + 1, 8 * best + 9):
        path = tmp_path / f"{step}.safetensors"
        with pytest.MonkeyPatch.context() as patch, pytest.raises(Stopped):
            stop_at(patch, step)
            train(path, random_windows, **settings)
        assert_same(train(path, random_windows, resume=True, **settings), undisturbed)
        assert_same(train(path, random_windows, resume=True, **settings), undisturbed)
        assert_same((d.load_checkpoint(path).model, undisturbed[1]), undisturbed)


@pytest.mark.parametrize("callback", [lambda: d.EarlyStopping(patience=9), KeepBest], ids=["stop early", "keep best"])
def test_best_weights_that_nobody_kept_are_not_promised(tmp_path: Path, callback: Callable[[], d.Callback]) -> None:
    """As above the perplexity falls to its lowest and rises again: only there are the best weights those at hand."""
    settings = {"lr": 0.1, "heldout_ids": IDS[:40].flip(0) // 2}
    with_best = settings | {"epochs": 6, "callbacks": lambda: [callback()]}
    undisturbed = train(None, random_windows, **with_best)
    best = undisturbed[1].best.epoch
    path, late, inside = (tmp_path / f"{name}.safetensors" for name in ("there", "late", "inside"))
    train(path, random_windows, epochs=best, **settings)
    assert_same(train(path, random_windows, resume=True, **with_best), undisturbed)
    train(late, random_windows, epochs=best + 1, **settings)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Stopped):
        stop_at(patch, 8 * best + 3)
        train(inside, random_windows, epochs=6, **settings)
    for path in (late, inside):
        before = path.read_bytes()
        with pytest.raises(ValueError, match=rf"no weights of the best epoch so far, epoch {best}: the training that"):
            train(path, random_windows, resume=True, **with_best)
        assert path.read_bytes() == before
        without = settings | {"callbacks": lambda: [d.EarlyStopping(patience=9, keep_best=False)]}
        train(path, random_windows, resume=True, epochs=6, **without)


def test_so_many_updates_and_no_more(tmp_path: Path) -> None:
    """11 updates are an epoch of 8 and three more, stopped and taken up or not."""
    path = tmp_path / "tide.safetensors"
    undisturbed = train(None, random_windows, epochs=None, updates=11)
    assert len(undisturbed[1].step_losses) == 11
    assert [record.train.num_tokens for record in undisturbed[1].epochs] == [8 * 21, 3 * 21]
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Stopped):
        stop_at(patch, 9)
        train(path, random_windows, epochs=None, updates=11)
    assert_same(train(path, random_windows, resume=True, epochs=None, updates=11), undisturbed)
    with pytest.raises(d.ops.checkpoint.CheckpointError, match=r"updates was 11 and is 16 \(it ended within an epoch"):
        train(path, random_windows, resume=True, epochs=2)


def test_resuming_what_is_complete_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "tide.safetensors"
    first = train(path, random_windows)
    assert_same(train(path, random_windows, resume=True), first)
    assert_same((d.load_checkpoint(path).model, first[1]), first)


def test_numbers_of_numpy_and_lists_can_be_stored(tmp_path: Path) -> None:
    def windows(kind: type = int) -> d.SequentialWindows:
        return d.SequentialWindows(IDS, kind(2), kind(10), offset=kind(1))

    numbers = {"lr": np.float32(0.5), "clip": np.float32(2), "heldout_ids": HELDOUT.tolist()}
    first = train(tmp_path / "tide.safetensors", lambda: windows(np.int64), **numbers)
    assert_same(first, train(None, windows, lr=0.5, clip=2))
    assert_same(train(tmp_path / "tide.safetensors", windows, resume=True, lr=0.5, clip=2), first)


def test_with_a_constant_rate_more_epochs_may_follow(tmp_path: Path) -> None:
    path = tmp_path / "tide.safetensors"
    train(path, random_windows, epochs=2)
    assert_same(train(path, random_windows, resume=True, epochs=4), train(None, random_windows, epochs=4))
    train(path, random_windows, epochs=2, schedule="one-cycle")
    with pytest.raises(d.ops.checkpoint.CheckpointError, match="updates was 16 and is 32"):
        train(path, random_windows, resume=True, epochs=4, schedule="one-cycle")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lr": 0.1}, r"lr was 0\.05 and is 0\.1"),
        ({"clip": None}, r"clip was 1\.0 and is None"),
        ({"optimizer": "sgd", "schedule": "one-cycle"}, "optimizer was 'adamw' and is 'sgd'; schedule was"),
        ({"make_windows": sequential}, "batch_size was 3 and is 2"),
        ({"make_windows": lambda: random_windows(overlap=False)}, "overlap was True and is False"),
        ({"layer": d.RNNConcise}, "the model is of another kind or size"),
        ({"heldout_ids": HELDOUT.flip(0)}, "heldout was '40 tokens, CRC-32 .*' and is '40 tokens, CRC-32 "),
        ({"make_windows": other_text}, "text was '180 tokens, CRC-32 .*' and is '180 tokens, CRC-32 "),
        ({"layer": d.LSTM}, "dropout was 0.0 and is 0.2; weight_drop was 0.0 and is 0.3"),
    ],
)
def test_another_training_is_not_taken_up(tmp_path: Path, change: dict, message: str) -> None:
    path = tmp_path / "tide.safetensors"
    train(path, random_windows)
    before = path.read_bytes()
    with pytest.raises(d.ops.checkpoint.CheckpointError, match=message):
        train(path, **{"make_windows": random_windows, "resume": True, **change})
    assert path.read_bytes() == before


def test_a_model_without_training_is_not_taken_up(tmp_path: Path) -> None:
    path = tmp_path / "tide.safetensors"
    d.save_checkpoint(path, make_model())
    with pytest.raises(d.ops.checkpoint.CheckpointError, match="holds a model and no training"):
        train(path, random_windows, resume=True)


def test_how_often_a_checkpoint_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = []

    def save(path: object, model: object, vocab: object, *, settings: object, progress: dict) -> None:
        written.append(progress["step"])

    monkeypatch.setattr("d2lrnn.ops.resuming.save_checkpoint", save)

    def steps_written(**settings: object) -> list[int]:
        written.clear()
        checkpoint = d.Checkpointing(tmp_path / "a.safetensors", **settings)
        d.fit(make_model(), sequential(), epochs=1, lr=0.1, device="cpu", callbacks=[checkpoint])
        return list(written)

    assert len(sequential()) == 8
    assert steps_written(every_seconds=None) == [8]
    assert steps_written(every_seconds=None, every_steps=3) == [3, 6, 8]
    assert steps_written() == [8]
    clock = iter(range(0, 1000, 25))
    monkeypatch.setattr("d2lrnn.ops.resuming.time", type("Clock", (), {"monotonic": lambda: next(clock)}))
    # each look at the clock finds it 25 s later, and each start of the count is a look, too
    assert steps_written(every_seconds=60.0) == [3, 6, 8]
    for setting in ({"every_seconds": 0}, {"every_steps": -1}):
        with pytest.raises(ValueError, match="must be more than 0"):
            d.Checkpointing("a", **setting)


def test_a_checkpoint_changes_nothing_in_the_training(tmp_path: Path) -> None:
    stored = train(tmp_path / "a.safetensors", from_global_numbers, d.LSTM)
    assert_same(stored, train(None, from_global_numbers, d.LSTM))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_for_the_step_and_stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """The signal comes in the middle of an update, and the weights that are stored are whole ones."""
    path = tmp_path / "tide.safetensors"
    undisturbed = train(None, random_windows)
    original, count = d.optim.AdamW.update, [0]

    def update(self: d.optim.AdamW, *arguments: object) -> None:
        count[0] += 1
        if count[0] == 11:
            os.kill(os.getpid(), number)
        original(self, *arguments)

    before = signal.getsignal(number)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(TrainingInterruptedError, match="after step") as caught:
        patch.setattr(d.optim.AdamW, "update", update)
        model, windows = make_model(), random_windows()
        checkpoint = d.Checkpointing(path, every_seconds=None)
        d.fit(model, windows, epochs=3, lr=0.05, heldout_ids=HELDOUT, device="cpu", callbacks=[checkpoint])
    assert signal.getsignal(number) == before
    assert caught.value.signal == number and caught.value.path == path
    assert isinstance(caught.value, KeyboardInterrupt)
    assert d.load_checkpoint(path).progress["step"] in (11, 12)
    assert_same(train(path, random_windows, resume=True), undisturbed)


class Signal(d.Callback):
    """SIGTERM at the very end: after the last step, or during the last scoring."""

    def __init__(self, event: str) -> None:
        setattr(self, event, self._send)

    def _send(self, run: d.training.Run) -> None:
        if run.step == run.total_steps:
            os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize("event", ["on_step_end", "on_epoch_end"])
def test_a_signal_at_the_very_end_is_not_swallowed(tmp_path: Path, event: str) -> None:
    path = tmp_path / "tide.safetensors"
    for where in (None, path):
        with pytest.raises(TrainingInterruptedError, match="after step 24 of 24") as caught:
            train(where, random_windows, callbacks=lambda: [Signal(event)])
        assert caught.value.signal == signal.SIGTERM and caught.value.path == where
    assert_same(train(path, random_windows, resume=True), train(None, random_windows))


def test_a_second_interrupt_does_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def update(self: d.optim.AdamW, *arguments: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("the second one should have ended the step")

    monkeypatch.setattr(d.optim.AdamW, "update", update)
    with pytest.raises(KeyboardInterrupt) as caught:
        train(tmp_path / "a.safetensors", random_windows)
    assert not isinstance(caught.value, TrainingInterruptedError) and not list(tmp_path.iterdir())


def test_a_disk_that_fills_up_keeps_the_last_good_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, count = tmp_path / "tide.safetensors", [0]
    undisturbed, replacing = train(None, random_windows), checkpoint_module.replacing

    def full_after_a_while(target: Path) -> object:
        count[0] += 1
        if count[0] > 10:
            raise OSError(28, "No space left on device")
        return replacing(target)

    no_space = pytest.raises(d.ops.checkpoint.CheckpointError, match="No space left on device")
    again = pytest.warns(UserWarning, match="No space left on device.*Training goes on, and this is tried again")
    with pytest.MonkeyPatch.context() as patch, no_space, again:
        patch.setattr(checkpoint_module, "replacing", full_after_a_while)
        train(path, random_windows)
    assert d.load_checkpoint(path).progress["step"] == 10
    assert_same(train(path, random_windows, resume=True), undisturbed)


@pytest.mark.parametrize("home", ["there", "full"])
def test_what_was_trained_is_stored_elsewhere_if_the_folder_is_gone_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    path, homes, temporary = tmp_path / "usb" / "tide.safetensors", tmp_path / "home", tmp_path / "temporary"
    for folder in (path.parent, homes, temporary):
        folder.mkdir()
    monkeypatch.setenv("HOME", str(homes))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    if home == "full":
        original = checkpoint_module.replacing
        full = lambda target: original(target / "full" if homes in target.parents else target)  # noqa: E731
        monkeypatch.setattr(checkpoint_module, "replacing", full)

    class Unplugged(d.Callback):
        def on_step_end(self, run: object) -> None:
            if run.step == 10:
                shutil.rmtree(path.parent)

    best = [KeepBest(), Unplugged()]
    message = r"tide.safetensors' could not be written \(No such file or directory\), so the training is stored in"
    with pytest.raises(d.ops.checkpoint.CheckpointError, match=message) as caught, pytest.warns(UserWarning):
        train(path, random_windows, callbacks=lambda: best)
    [found] = tmp_path.rglob("*.safetensors")
    assert repr(str(found)) in str(caught.value) and found.name == path.name
    assert found.is_relative_to(homes if home == "there" else temporary) and len(list(tmp_path.rglob("d2lrnn-*"))) == 1
    undisturbed = train(None, random_windows, callbacks=lambda: [KeepBest()])
    for name, tensor in d.load_checkpoint(found).model.state_dict().items():
        assert torch.equal(tensor, undisturbed[0].state_dict()[name]), name
    assert_same(train(found, random_windows, resume=True, callbacks=lambda: [KeepBest()]), undisturbed)


KILLED = """
import sys
import torch
import d2lrnn as d

def train(path):
    torch.manual_seed(0)
    ids = torch.tensor([0, 1, 2, 3, 2, 1] * 100)
    model = d.RNNLM(d.RNNScratch(4, 32), 4)
    windows = d.RandomWindows(ids, 3, 7, generator=torch.Generator().manual_seed(5))
    callbacks = [] if path is None else [d.Checkpointing(path, every_seconds=None, every_steps=1, resume=True)]
    print("ready", flush=True)
    history = d.fit(model, windows, epochs=4, lr=0.02, schedule="one-cycle", device="cpu", callbacks=callbacks)
    return model, history

if __name__ == "__main__":
    train(sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a matter of Unix")
def test_killed_at_any_moment_the_last_checkpoint_is_whole(tmp_path: Path) -> None:
    """A file is written after each of the 112 steps, so most kills fall into the writing of one."""
    path, here = tmp_path / "tide.safetensors", {"__name__": "here"}
    exec(KILLED, here)
    undisturbed = here["train"](None)
    assert len(undisturbed[1].step_losses) == 112
    for wait_s in (0.02, 0.1, 0.2):
        with subprocess.Popen([sys.executable, "-c", KILLED, path], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "ready\n"
            time.sleep(wait_s)
            process.send_signal(signal.SIGKILL)
        if path.exists():
            d.load_checkpoint(path)
    assert_same(here["train"](path), undisturbed)


class Broken(d.Callback):
    def on_epoch_end(self, run: object) -> None:
        if run.is_finished:
            raise Stopped


def test_an_error_in_the_last_epoch_is_no_finished_training(tmp_path: Path) -> None:
    path = tmp_path / "tide.safetensors"
    with pytest.raises(Stopped):
        train(path, random_windows, callbacks=lambda: [Broken(), KeepBest()])
    assert d.load_checkpoint(path).progress["in_epoch"], "what is stored is the last step, before the end of its epoch"
    assert_same(
        train(path, random_windows, resume=True, callbacks=lambda: [KeepBest()]),
        train(None, random_windows, callbacks=lambda: [KeepBest()]),
    )


def test_what_can_never_be_stored_is_noticed_before_the_training(tmp_path: Path) -> None:
    for checkpoint in (
        d.Checkpointing(tmp_path / "a.safetensors", d.Vocab("abc")),
        d.Checkpointing(tmp_path / "a.safetensors", settings={"text": object()}),
        d.Checkpointing(tmp_path / "no folder" / "a.safetensors"),
        d.Checkpointing(tmp_path, overwrite=True),
    ):
        model = make_model()
        before = model.W_hq.detach().clone()
        with pytest.raises((ValueError, TypeError, d.ops.checkpoint.CheckpointError)):
            d.fit(model, sequential(), epochs=1, lr=0.1, device="cpu", callbacks=[checkpoint])
        assert torch.equal(before, model.W_hq) and not list(tmp_path.glob("**/*.safetensors"))


class SignSGD:
    """All that `fit` needs; it has nothing to store."""

    def __init__(self, weights: torch.Tensor) -> None:
        self.weights = weights

    def update(self, grad: torch.Tensor, lr: float, momentum: float | None = None) -> None:
        self.weights -= lr * grad.sign()


class Counting(SignSGD):
    def state_dict(self) -> dict:
        return {"step": np.int64(0)}

    def load_state_dict(self, state: dict) -> None:
        pass


def test_what_cannot_be_stored_is_said_before_the_training(tmp_path: Path) -> None:
    path, steps = tmp_path / "tide.safetensors", []

    class Ear(d.Callback):
        def on_step_end(self, run: object) -> None:
            steps.append(run.step)

    train(None, sequential, optimizer=SignSGD)
    with pytest.raises(TypeError, match="SignSGD has no state_dict"):
        train(path, sequential, optimizer=SignSGD, callbacks=lambda: [Ear()])
    with pytest.raises(ValueError, match=r"progress\.optimizer\.step is of type int64, which a checkpoint cannot hold"):
        train(path, sequential, optimizer=Counting, callbacks=lambda: [Ear()])
    assert not steps and not path.exists()


def test_an_existing_checkpoint_is_not_overwritten_unasked(tmp_path: Path) -> None:
    path = tmp_path / "tide.safetensors"
    train(path, random_windows)
    before = path.read_bytes()
    with pytest.raises(d.ops.checkpoint.CheckpointError, match=r"resume=True to go on .* overwrite=True to begin anew"):
        d.fit(make_model(), sequential(), epochs=1, lr=0.1, device="cpu", callbacks=[d.Checkpointing(path)])
    assert path.read_bytes() == before
    for how in ({}, {"resume": True}, {"overwrite": True}):
        checkpoint = d.Checkpointing(tmp_path, **how)
        with pytest.raises(d.ops.checkpoint.CheckpointError, match="a folder is there"):
            d.fit(make_model(), sequential(), epochs=1, lr=0.1, device="cpu", callbacks=[checkpoint])


def test_callbacks_before_a_checkpoint_see_the_training_that_was_taken_up(tmp_path: Path) -> None:
    path, seen = tmp_path / "tide.safetensors", []

    class Ear(d.Callback):
        def on_train_begin(self, run: object) -> None:
            seen.append(run.step)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Stopped):
        stop_at(patch, 9)
        train(path, random_windows)
    train(path, random_windows, resume=True, callbacks=lambda: [Ear()])
    assert seen == [9]
