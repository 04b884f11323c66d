"""Two processes with half of the rows each are one process with all of them: gradients, weights, state, interruptions.

Everything that needs two processes happens in one launch (starting torch twice is what takes the time); what each rank
found is compared here with what this process finds on its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import d2lrnn as d

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="torch on Windows comes without gloo's launcher")

COMMON = '''
import torch
import d2lrnn as d

IDS = torch.tensor([0, 1, 2, 3, 2, 1] * 40)


def make_model(layer=d.RNNScratch):
    torch.manual_seed(0)
    return d.RNNLM(layer(4, 8), 4)


def gradient(engine, ranks):
    """Of one minibatch, with carried state."""
    model = make_model()
    X, Y = next(iter(d.SequentialWindows(IDS, 4, 10)))
    with d.engines.Stepper(model, optimizer="sgd", clip=None, engine=engine) as stepper:
        if ranks.world_size > 1:
            ranks._wishes = ()
            stepper.reduce = ranks._average
        stepper.state = ranks.own_rows(torch.linspace(-1, 1, 32).reshape(4, 8))
        loss_nats, norm = stepper(ranks.rows(X), ranks.rows(Y), 0.0)
        return {"grad": stepper.flat.grad.clone(), "loss": torch.tensor(loss_nats), "norm": torch.tensor(norm),
                "state": ranks.all_rows(stepper.state)}


FITS = {
    "carried": (lambda: d.SequentialWindows(IDS, 4, 7), {"optimizer": "sgd", "lr": 0.5}),
    "random": (lambda: d.RandomWindows(IDS, 4, 7, generator=torch.Generator().manual_seed(1)), {"lr": 0.02}),
    "autograd": (lambda: d.SequentialWindows(IDS, 4, 7), {"engine": "autograd", "lr": 0.02, "schedule": "one-cycle"}),
}


def fit(name, **more):
    make_windows, settings = FITS[name]
    model = make_model()
    # a clip that nearly every step meets: half a gradient is not clipped like a whole one
    history = d.fit(model, make_windows(), epochs=3, clip=0.2, heldout_ids=IDS[:50], **settings, **more)
    return model, history


def numbers(model, history):
    return {
        **{f"weights.{name}": tensor for name, tensor in model.state_dict().items()},
        "losses": torch.tensor(history.step_losses, dtype=torch.float64),
        "norms": torch.tensor(history.step_grad_norms, dtype=torch.float64),
        "scores": torch.tensor([[r.train.total_nats, r.train.num_tokens, r.heldout.total_nats, r.heldout.num_tokens]
                                for r in history.epochs], dtype=torch.float64),
    }
'''

SCRIPT = (
    COMMON
    + '''
import os, signal, sys
from pathlib import Path
from safetensors.torch import save_file
from d2lrnn.ops import resuming

folder, found, errors = Path(sys.argv[1]), {}, []
original_save = resuming.save_checkpoint
saves = []


def save(path, *arguments, **settings):
    saves.append(path)
    original_save(path, *arguments, **settings)


resuming.save_checkpoint = save
with d.ops.ranks.join_ranks("cpu") as ranks:
    assert ranks.world_size == 2
    for engine in ("closed-form", "autograd"):
        found |= {f"{engine}.{key}": value for key, value in gradient(engine, ranks).items()}
    for name in FITS:
        found |= {f"{name}.{key}": value for key, value in numbers(*fit(name, callbacks=[ranks])).items()}

    for error in (
        lambda: d.fit(make_model(), d.SequentialWindows(IDS, 3, 7), epochs=1, lr=0.1, callbacks=[ranks]),
        lambda: d.fit(make_model(), d.RandomWindows(IDS, 4, 7, generator=torch.Generator().manual_seed(ranks.rank)),
                      epochs=1, lr=0.1, callbacks=[ranks]),
        lambda: d.fit(make_model(), d.SequentialWindows(IDS, 4, 7), epochs=1, lr=0.1 + 0.1 * ranks.rank,
                      callbacks=[ranks]),
        lambda: d.fit(make_model(), d.RandomWindows(IDS, 4, 7), epochs=1, lr=0.1, callbacks=[ranks]),
    ):
        try:
            error()
            errors.append("none")
        except d.ops.ranks.DistributedError as error:
            errors.append(str(error))

    class Draw(d.Callback):  # what dropout would draw
        def on_step_end(self, run):
            (folder / f"random{ranks.rank}.txt").write_text(str(torch.rand(4).tolist()))

    fit("carried", callbacks=[ranks, Draw()])

    # One rank alone is told to stop; both do, at one step, and rank 0 writes.
    count, update = [0], d.optim.AdamW.update

    def told_to_stop(self, *arguments):
        count[0] += 1
        if count[0] == 10 and ranks.rank == 1:
            os.kill(os.getpid(), signal.SIGTERM)
        update(self, *arguments)

    d.optim.AdamW.update = told_to_stop
    path = folder / "tide.safetensors"
    try:
        fit("autograd", callbacks=[ranks, d.Checkpointing(path, every_seconds=None)])
        errors.append("none")
    except resuming.TrainingInterruptedError as error:
        errors.append(str(error))
    d.optim.AdamW.update = update
    ranks.gather(torch.zeros(1))  # nobody reads before rank 0 has written
    found["stopped.saves"] = torch.tensor(len(saves))
    (folder / "tide.safetensors").exists()
    resumed = fit("autograd", callbacks=[ranks, d.Checkpointing(path, every_seconds=None, resume=True)])
    found |= {f"resumed.{key}": value for key, value in numbers(*resumed).items()}
    found["resumed.saves"] = torch.tensor(len(saves))
    found |= {f"again.{key}": value for key, value in numbers(*fit("carried", callbacks=[ranks])).items()}
    (folder / f"errors{ranks.rank}.txt").write_text("\\n".join(errors))
    save_file({name: tensor.contiguous().clone() for name, tensor in found.items()}, folder / f"rank{ranks.rank}")
'''
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two ranks found."""
    folder = tmp_path_factory.mktemp("ranks")
    script = folder / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", script, folder]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def ranks(folder: Path) -> list[dict[str, torch.Tensor]]:
    return [load_file(folder / f"rank{rank}") for rank in range(2)]


@pytest.fixture(scope="module")
def alone() -> dict:
    names: dict = {}
    exec(COMMON, names)
    return names


def assert_close(found: dict, prefix: str, expected: dict, tolerance: float) -> None:
    for name, tensor in expected.items():
        torch.testing.assert_close(found[f"{prefix}.{name}"], tensor, rtol=tolerance, atol=tolerance)


def test_both_ranks_hold_the_same_to_the_bit(ranks: list[dict[str, torch.Tensor]]) -> None:
    for name, tensor in ranks[0].items():
        if not name.endswith(".saves"):
            assert torch.equal(tensor, ranks[1][name]), name


@pytest.mark.parametrize("engine", ["closed-form", "autograd"])
def test_two_half_gradients_are_the_whole_one(ranks: list, alone: dict, engine: str) -> None:
    expected = alone["gradient"](engine, d.ops.ranks.ProcessGroup("cpu"))
    assert expected["norm"] > 0.01
    assert_close(ranks[0], engine, expected, 1e-6)


@pytest.mark.parametrize("name", ["carried", "random", "autograd"])
def test_after_a_whole_training_the_weights_are_those_of_one_process(ranks: list, alone: dict, name: str) -> None:
    model, history = alone["fit"](name, device="cpu")
    norms = torch.tensor(history.step_grad_norms)
    assert (norms > 0.2).float().mean() > 0.5, "most steps are clipped"
    expected = alone["numbers"](model, history)
    assert_close(ranks[0], name, {key: value for key, value in expected.items() if key != "scores"}, 1e-5)
    torch.testing.assert_close(ranks[0][f"{name}.scores"], expected["scores"], rtol=1e-6, atol=0.0)


def test_ranks_that_do_not_fit_together_are_refused(folder: Path) -> None:
    for rank in range(2):
        uneven, seeds, settings, shared, stopped = (folder / f"errors{rank}.txt").read_text().splitlines()
        assert "A minibatch of 3 rows cannot be divided evenly among 2 processes" in uneven
        for error in (seeds, settings):
            assert "Settings, windows and seed must be the same in all processes, and ranks 1 differ" in error
        assert "Give the windows a generator of their own" in shared
        assert "Training was stopped after step 11 of 24" in stopped or "after step 10 of 24" in stopped


def test_each_rank_drops_other_outputs(folder: Path) -> None:
    assert (folder / "random0.txt").read_text() != (folder / "random1.txt").read_text()


def test_after_an_interrupted_training_the_ranks_may_train_again(folder: Path, ranks: list) -> None:
    """Nothing that was wished then is done in the next one, which has no checkpoint."""
    for found in ranks:
        torch.testing.assert_close(found["again.losses"], found["carried.losses"], rtol=0, atol=0)


def test_rank_0_alone_writes(folder: Path, ranks: list) -> None:
    assert [int(found["stopped.saves"]) for found in ranks] == [1, 0]
    assert [int(found["resumed.saves"]) for found in ranks] == [2, 0]
    assert not list(folder.glob("*.part"))


def test_stopped_by_one_and_taken_up_by_both(folder: Path, ranks: list, alone: dict) -> None:
    for name, tensor in ranks[0].items():
        if name.startswith("autograd.weights"):
            assert torch.equal(tensor, ranks[0][name.replace("autograd", "resumed")]), name
    torch.testing.assert_close(ranks[0]["resumed.losses"], ranks[0]["autograd.losses"], rtol=0, atol=0)


def test_what_two_ranks_stored_one_process_takes_up(folder: Path, alone: dict) -> None:
    """The stored state is that of the whole minibatch."""
    loaded = d.load_checkpoint(folder / "tide.safetensors")
    assert loaded.progress["state"].shape == (4, 8) and len(loaded.progress["random"]["torch"]) == 2
    checkpoint = d.Checkpointing(folder / "tide.safetensors", every_seconds=None, resume=True)
    model, history = alone["fit"]("autograd", device="cpu", callbacks=[checkpoint])
    assert torch.equal(model.W_hq, loaded.model.W_hq) and len(history.epochs) == 3


def test_alone_one_needs_no_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    X = torch.arange(6).reshape(3, 2)
    with d.ops.ranks.join_ranks("cpu") as ranks:
        assert (ranks.rank, ranks.world_size) == (0, 1)
        assert torch.equal(ranks.rows(X), X) and ranks.all_rows(None) is None
        assert ranks.consensus(True, False) == (True, False)
        ranks.check_same("anything", 1)
    assert not torch.distributed.is_initialized()


def test_more_processes_than_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    from d2lrnn.ops import ranks as distributed

    monkeypatch.setattr(distributed, "pick_device", lambda device: torch.device("cuda"))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setenv("LOCAL_RANK", "1")
    with pytest.raises(d.ops.ranks.DistributedError, match=r"there are 1 CUDA devices\. Start no more processes"):
        distributed._device_of_this_rank(None)
