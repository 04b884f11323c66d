"""Clipping, the training loop against one written by hand, state carry, and runs that go wrong."""

from __future__ import annotations

import copy
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import nn

import d2lrnn as d
from d2lrnn.ops.callbacks import KeepBest
from d2lrnn.training import Run

IDS = torch.tensor([0, 1, 2, 3, 2, 1] * 40)


def _model(seed: int = 0, num_hiddens: int = 8) -> d.RNNLM:
    torch.manual_seed(seed)
    return d.RNNLM(d.RNNScratch(4, num_hiddens), vocab_size=4)


def _grads(*values: list[float]) -> list[nn.Parameter]:
    parameters = []
    for value in values:
        parameter = nn.Parameter(torch.zeros(len(value)))
        parameter.grad = torch.tensor(value)
        parameters.append(parameter)
    return parameters


def test_clipping_shortens_the_whole_gradient_and_keeps_its_direction() -> None:
    parameters = _grads([3.0, 0.0], [4.0])
    assert d.clip_gradients(parameters, 1.0) == pytest.approx(5.0)
    assert parameters[0].grad.tolist() == pytest.approx([0.6, 0.0])
    assert parameters[1].grad.tolist() == pytest.approx([0.8])


def test_clipping_leaves_short_gradients_alone() -> None:
    parameters = _grads([3.0, 4.0])
    assert d.clip_gradients(parameters, 5.1) == pytest.approx(5.0)
    assert parameters[0].grad.tolist() == [3.0, 4.0]
    assert d.clip_gradients(parameters, math.inf) == pytest.approx(5.0)
    assert d.clip_gradients([nn.Parameter(torch.zeros(2))], 1.0) == 0.0


def test_one_parameter_is_clipped_as_a_list_of_one() -> None:
    weight = nn.Parameter(torch.zeros(2, 2))
    weight.grad = torch.tensor([[3.0, 0.0], [0.0, 4.0]])
    assert d.clip_gradients(weight, 1.0) == pytest.approx(5.0)
    assert weight.grad.norm() == pytest.approx(1.0)


def test_clipping_equals_torch() -> None:
    torch.manual_seed(0)
    ours = _grads(torch.randn(50).tolist(), torch.randn(7).tolist())
    theirs = copy.deepcopy(ours)
    for a, b in zip(ours, theirs):
        b.grad = a.grad.clone()
    norm = torch.nn.utils.clip_grad_norm_(theirs, 2.0)
    assert d.clip_gradients(ours, 2.0) == pytest.approx(norm.item())
    for a, b in zip(ours, theirs):
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("max_norm", [0, 0.0, -1.0, math.nan])
def test_clipping_to_nothing_is_refused(max_norm: float) -> None:
    with pytest.raises(ValueError, match="must be more than 0"):
        d.clip_gradients(_grads([1.0]), max_norm)


@pytest.mark.parametrize("engine", ["autograd", "closed-form", "auto"])
@pytest.mark.parametrize("carry", [True, False])
def test_fit_is_the_loop_one_would_write(carry: bool, engine: str) -> None:
    """Same weights as a plain loop after two epochs, with the state carried and with it reset."""
    generator = torch.Generator().manual_seed(5)
    make = d.SequentialWindows if carry else lambda *a: d.RandomWindows(*a, generator=generator)
    fitted, by_hand = _model(), _model()
    history = d.fit(
        fitted, make(IDS, 2, 10), epochs=2, lr=0.1, optimizer="sgd", clip=0.4, engine=engine, device="cpu"
    )

    generator.manual_seed(5)
    windows, losses = make(IDS, 2, 10), []
    for _ in range(2):
        state = None
        for X, Y in windows:
            logits, state = by_hand(X, state.detach() if carry and state is not None else None)
            loss = nn.functional.cross_entropy(logits.reshape(-1, 4), Y.reshape(-1))
            by_hand.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(by_hand.parameters(), 0.4)
            with torch.no_grad():
                for parameter in by_hand.parameters():
                    parameter -= 0.1 * parameter.grad
            losses.append(loss.item())
    assert history.step_losses == pytest.approx(losses, rel=1e-5)
    assert min(history.step_grad_norms) < 0.4 < max(history.step_grad_norms), "some are clipped, and not all"
    for a, b in zip(fitted.parameters(), by_hand.parameters()):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)


def test_training_learns_and_records() -> None:
    model = _model()
    windows = d.SequentialWindows(IDS, 2, 12)
    history = d.fit(model, windows, epochs=15, lr=0.03, schedule="one-cycle", heldout_ids=IDS[:60], device="cpu")
    assert history.train_perplexities[0] > 2.5
    assert history.heldout_perplexities[-1] < 1.5  # 0 1 2 3 2 1: only the state tells 1 0 from 1 2
    assert len(history.epochs) == len(history.heldout_perplexities) == 15
    assert len(history.step_losses) == len(history.step_grad_norms) == 15 * len(windows)
    last = history.epochs[-1]
    assert last.epoch == 15
    assert last.train.num_tokens == len(windows) * 2 * 12
    assert last.tokens_per_second > 0
    assert last.heldout.total_nats == pytest.approx(d.evaluate(model, IDS[:60]).total_nats, rel=1e-6)
    assert "15 epochs" in repr(history) and "held-out" in repr(history)


class _Scored:
    """Held-out scores as the test wants them, and the weights at each."""

    def __init__(self, perplexities: list[float]) -> None:
        self.left = list(perplexities)
        self.weights: list[list[torch.Tensor]] = []

    def __call__(self, model: d.RNNLM, ids: torch.Tensor, forward: object = None) -> d.Score:
        self.weights.append([p.detach().clone() for p in model.parameters()])
        return d.Score(10 * math.log(self.left.pop(0)), 10)


@pytest.mark.parametrize("engine", ["autograd", "closed-form"])
@pytest.mark.parametrize(
    ("perplexities", "callbacks", "num_epochs", "kept"),
    [
        ([4, 3, 2, 2.5, 2.4, 9], [d.EarlyStopping(2)], 5, 3),
        ([4, 3, 2, 2.5, 2.4, 9], [d.EarlyStopping(2, keep_best=False)], 5, 5),
        ([4, 3, 2, 2.5, 2.4, 9], [KeepBest()], 6, 3),
        ([4, 3, 2, 2.5, 2.4, 9], [], 6, 6),
        ([4, 5, 3, 6, 2, 7], [d.EarlyStopping(2)], 6, 5),
        ([4, 4, 4, 4, 4, 4], [d.EarlyStopping(1)], 2, 1),
        ([9, 8, 7, 6, 5, 4], [d.EarlyStopping(1)], 6, 6),
        ([math.inf, 8, math.inf, 6, 5, 4], [d.EarlyStopping(2)], 6, 6),
    ],
)
def test_early_stopping_and_the_best_weights(
    perplexities: list[float],
    callbacks: list[d.Callback],
    num_epochs: int,
    kept: int,
    engine: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scored = _Scored(perplexities)
    monkeypatch.setattr("d2lrnn.training.evaluate", scored)
    model, windows = _model(), d.SequentialWindows(IDS, 2, 10)
    settings = {"engine": engine, "device": "cpu", "progress": False, "callbacks": callbacks}
    history = d.fit(model, windows, epochs=6, lr=0.1, heldout_ids=IDS, **settings)
    assert history.heldout_perplexities == pytest.approx(perplexities[:num_epochs])
    assert len(history.epochs) == num_epochs == len(scored.weights)
    assert len(history.step_losses) == num_epochs * len(windows)
    assert history.best.heldout.perplexity == min(history.heldout_perplexities)
    for a, b in zip(model.parameters(), scored.weights[kept - 1]):
        assert torch.equal(a, b)
    assert not torch.equal(scored.weights[0][0], scored.weights[1][0])


def test_the_kept_weights_have_the_score_of_the_best_epoch() -> None:
    """A model that learns its text by heart: held-out perplexity falls and rises again."""
    generator = torch.Generator().manual_seed(0)
    train, heldout = torch.randint(4, (2, 60), generator=generator)
    model = _model(num_hiddens=32)
    windows = d.SequentialWindows(train, 2, 10)
    stopping = d.EarlyStopping(patience=5)
    history = d.fit(model, windows, epochs=60, lr=0.03, heldout_ids=heldout, device="cpu", callbacks=[stopping])
    assert len(history.epochs) == history.best.epoch + 5 < 60
    assert d.evaluate(model, heldout).total_nats == pytest.approx(history.best.heldout.total_nats, rel=1e-6)
    assert history.heldout_perplexities[-1] > history.best.heldout.perplexity
    assert d.fit(_model(), windows, epochs=1, lr=0.1, device="cpu").best is None


def test_same_seed_same_weights() -> None:
    def run() -> list[torch.Tensor]:
        d.seed_everything(7)
        model = d.RNNLM(d.RNNScratch(4, 8), 4)
        d.fit(model, d.RandomWindows(IDS, 4, 6), epochs=2, lr=0.01, device="cpu")
        return list(model.parameters())

    for a, b in zip(run(), run()):
        assert torch.equal(a, b)


@pytest.mark.parametrize("engine", ["autograd", "closed-form"])
def test_fit_with_adamw_and_one_cycle_is_torchs(engine: str) -> None:
    fitted, by_hand = _model(), _model()
    windows = d.SequentialWindows(IDS, 2, 10)
    d.fit(fitted, windows, epochs=3, lr=0.02, schedule="one-cycle", clip=None, engine=engine, device="cpu")
    optimizer = torch.optim.AdamW(by_hand.parameters())
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.02, total_steps=3 * len(windows))
    for _ in range(3):
        state = None
        for X, Y in windows:
            logits, state = by_hand(X, None if state is None else state.detach())
            optimizer.zero_grad()
            by_hand.loss(logits, Y).backward()
            optimizer.step()
            scheduler.step()
    for a, b in zip(fitted.parameters(), by_hand.parameters()):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-5)


@pytest.mark.slow
def test_neither_training_nor_loading_imports_torchs_compiler(tmp_path: Path) -> None:
    """It takes a second; torch's optimisers bring it in, and an embedding that is made without memory."""
    code = (
        "import sys, torch; before = 'torch._dynamo' in sys.modules; import d2lrnn as d; "
        "windows = d.SequentialWindows(torch.tensor([0, 1, 2] * 9), 2, 5); "
        "model = d.RNNLM(d.RNNScratch(2, 4), 3, torch.nn.Embedding(3, 2)); "
        "d.fit(model, windows, epochs=1, lr=0.1); "
        "d.save_checkpoint(sys.argv[1], model); d.load_checkpoint(sys.argv[1]); "
        "print(before, 'torch._dynamo' in sys.modules)"
    )
    command = [sys.executable, "-c", code, tmp_path / "model.safetensors"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False", "False"]


def test_one_cycle_ends_near_zero() -> None:
    """The last update of the cycle hardly moves anything; a constant rate does."""
    moved = {}
    for schedule in ("one-cycle", "constant"):
        model = _model()
        windows = d.SequentialWindows(IDS, 2, 10)
        before = {}

        def remember(*_: object, model: d.RNNLM = model, before: dict = before) -> None:
            before["W_hh"] = model.rnn.W_hh.detach().clone()

        model.register_forward_pre_hook(remember)
        d.fit(model, windows, epochs=2, lr=0.1, optimizer="sgd", schedule=schedule, device="cpu")
        moved[schedule] = (model.rnn.W_hh - before["W_hh"]).norm().item()
    assert moved["one-cycle"] < 0.01 * moved["constant"]


def test_exploding_training_stops_and_says_why() -> None:
    """A loss that overflows: training stops, the history so far is kept, and the last good weights stay."""
    model = _model()
    with torch.no_grad():
        model.W_hq.fill_(1e38)  # logits overflow to infinity once the state is not tiny
    before = [p.detach().clone() for p in model.parameters()]
    with pytest.raises(d.TrainingDivergedError, match=r"epoch 1, at step 1.*Turn on clipping") as caught:
        d.fit(model, d.SequentialWindows(IDS, 2, 10), epochs=1, lr=0.1, clip=None, device="cpu")
    assert caught.value.history.step_losses == [] and str(caught.value).startswith("Training diverged in epoch 1")
    for a, b in zip(model.parameters(), before):
        assert torch.equal(a, b)
    with pytest.raises(d.TrainingDivergedError, match="Lower the learning rate"):
        d.fit(model, d.SequentialWindows(IDS, 2, 10), epochs=1, lr=0.1, device="cpu")


def test_nan_weights_are_noticed_in_the_first_step() -> None:
    model = _model()
    with torch.no_grad():
        model.b_q[0] = math.nan
    with pytest.raises(d.TrainingDivergedError, match="loss is nan"):
        d.fit(model, d.SequentialWindows(IDS, 2, 10), epochs=1, lr=0.1, device="cpu")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"epochs": 0}, "epochs is 0"),
        ({"epochs": None, "updates": 0}, "updates is 0"),
        ({"updates": 5}, "by epochs or by updates"),
        ({"epochs": None}, "by epochs or by updates"),
        ({"lr": 0.0}, "lr is 0"),
        ({"lr": -1.0}, "lr is -1"),
        ({"lr": math.nan}, "lr is nan"),
        ({"clip": 0.0}, "clip is 0"),
        ({"clip": -1.0}, "clip is -1"),
        ({"clip": math.nan}, "clip is nan"),
        ({"optimizer": "lion"}, "'sgd' or 'adamw'"),
        ({"schedule": "step"}, "'constant' or 'one-cycle'"),
        ({"engine": "fast"}, "'auto', 'autograd', 'closed-form' or 'cuda-graph'"),
        ({"device": "cuda:99"}, "cannot be used on this machine"),
        ({"heldout_ids": torch.tensor([1])}, "at least 2"),
        ({"callbacks": [d.EarlyStopping(3)]}, "pass heldout_ids"),
        ({"callbacks": [KeepBest()]}, "pass heldout_ids"),
        ({"callbacks": [d.Checkpointing("a"), d.Checkpointing("b")]}, "two Checkpointing callbacks"),
        ({"heldout_ids": IDS + 1}, "has a token 4, and the model is made for the tokens 0 to 3"),
        ({"heldout_ids": IDS[None]}, r"heldout_ids has shape \(1, \d+\); expected one row"),
        ({"heldout_ids": IDS.float()}, "heldout_ids are of type torch.float32; they must be integers"),
        ({"heldout_ids": d.load_text()}, "heldout_ids is of type EncodedText; expected .*train_ids or heldout_ids"),
        ({"epochs": "3"}, "epochs is '3', of type str; expected a number"),
        ({"epochs": None, "updates": "3"}, "updates is '3', of type str; expected a number"),
        ({"epochs": math.inf}, "epochs is inf; it must be a whole number"),
        ({"epochs": math.nan}, "epochs is nan; it must be a whole number"),
        ({"lr": "0.01"}, "lr is '0.01', of type str; expected a number"),
        ({"lr": None}, "lr is None, of type NoneType; expected a number"),
        ({"clip": "1"}, "clip is '1', of type str; expected a number"),
        ({"callbacks": d.EarlyStopping(2)}, r"callbacks is of type EarlyStopping; expected a list: callbacks=\["),
        ({"callbacks": [d.EarlyStopping]}, "callbacks has <class .*EarlyStopping'>; expected instances"),
        ({"callbacks": [3]}, "callbacks has 3; expected instances of d2lrnn.Callback"),
        ({"optimizer": torch.optim.SGD}, "optimizer is torch's SGD; expected .* d2lrnn.optim.Optimizer"),
        (
            {"optimizer": lambda weights: torch.optim.SGD([weights], lr=0.1)},
            r"optimizer made a SGD, which has no update\(grad, lr, momentum\); expected .* d2lrnn.optim.Optimizer",
        ),
    ],
)
def test_bad_settings_train_nothing(setting: dict, message: str) -> None:
    model = _model()
    before = [p.detach().clone() for p in model.parameters()]
    with pytest.raises((ValueError, TypeError), match=message):
        d.fit(model, d.SequentialWindows(IDS, 2, 10), **{"epochs": 1, "lr": 0.1, "device": "cpu", **setting})
    for a, b in zip(model.parameters(), before):
        assert torch.equal(a, b)


def test_a_layer_alone_is_not_trained() -> None:
    with pytest.raises(TypeError, match=r"model is of type RNNScratch; expected .*RNNLM\(rnn, vocab_size\)"):
        d.fit(d.RNNScratch(4, 8), d.SequentialWindows(IDS, 2, 10), epochs=1, lr=0.1)


def test_the_seconds_of_an_epoch_are_those_of_all_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(10_000))
    monkeypatch.setattr("d2lrnn.training.time.perf_counter", lambda: float(next(ticks)))
    windows = d.SequentialWindows(IDS, 2, 10)
    history = d.fit(_model(), windows, epochs=2, lr=0.1, engine="autograd", device="cpu", progress=False)
    assert len(windows) > 2 and [epoch.seconds for epoch in history.epochs] == 2 * [float(len(windows))]


def test_progress_bar_can_be_seen_and_silenced(capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    windows = d.SequentialWindows(IDS, 2, 10)
    d.fit(_model(), windows, epochs=1, lr=0.1, device="cpu")  # the tests run with D2LRNN_STATIC=1
    assert capfd.readouterr().err == ""
    monkeypatch.delenv("D2LRNN_STATIC")
    d.fit(_model(), windows, epochs=1, lr=0.1, device="cpu", progress=False)
    assert capfd.readouterr().err == ""
    d.fit(_model(), windows, epochs=1, lr=0.1, device="cpu")
    assert "training perplexity" in capfd.readouterr().err


def test_fit_leaves_the_model_in_training_mode_and_touches_none_for_an_unknown_schedule() -> None:
    model = _model().eval()
    arguments = {"epochs": 1, "lr": 0.1, "device": "cpu"}
    with pytest.raises(ValueError, match="'constant' or 'one-cycle'"):
        d.fit(model, d.SequentialWindows(IDS, 2, 10), schedule="step", **arguments)
    assert not model.training
    d.fit(model, d.SequentialWindows(IDS, 2, 10), heldout_ids=IDS[:2], **arguments)  # two tokens are one prediction
    assert model.training


def test_a_text_with_tokens_that_the_model_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match="has a token 4, and the model is made for the tokens 0 to 3"):
        d.fit(_model(), d.SequentialWindows(IDS + 1, 2, 10), epochs=1, lr=0.1, device="cpu")
    late = torch.zeros(1_100_000, dtype=torch.uint8)  # only the first million are looked at before the training
    late[1_050_010] = 4
    for engine in ("autograd", "closed-form"):
        with pytest.raises(ValueError, match="has a token 4, and the model is made for the tokens 0 to 3"):
            d.fit(_model(), d.SequentialWindows(late, 1100, 20), epochs=1, lr=0.1, device="cpu", engine=engine)


class _Fewer:
    """Windows of one's own: fewer minibatches come than their length says."""

    carries_state = False

    def __len__(self) -> int:
        return 4

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        rows = IDS[:60].reshape(3, 2, 10)
        return iter([(X, X.roll(-1, 1)) for X in rows])

    def state_dict(self) -> dict:
        return {}


class _Listener(d.Callback):
    def __init__(self, fails: bool = False) -> None:
        self.fails, self.heard = fails, []

    def on_train_begin(self, run: Run) -> None:
        self.heard.append(("begin", run.total_steps, run.total_epochs))
        if self.fails:
            raise OSError("no room")

    def on_train_end(self, run: Run) -> None:
        self.heard.append(("end", run.step, run.epoch))


def test_windows_of_ones_own_may_end_early_and_so_does_the_training() -> None:
    listener = _Listener()
    history = d.fit(_model(), _Fewer(), epochs=2, lr=0.1, device="cpu", callbacks=[listener])
    assert len(history.step_losses) == 6 and len(history.epochs) == 2
    assert listener.heard == [("begin", 8, 2), ("end", 6, 3)]


def test_the_last_epoch_may_be_a_part_of_one() -> None:
    windows, listener = d.SequentialWindows(IDS, 2, 10), _Listener()
    assert len(windows) == 11
    history = d.fit(_model(), windows, updates=12, lr=0.1, device="cpu", callbacks=[listener])
    assert len(history.step_losses) == 12 and len(history.epochs) == 2
    assert listener.heard[0] == ("begin", 12, 2)


def test_who_has_begun_hears_of_the_end_where_another_fails_at_the_beginning() -> None:
    first, second = _Listener(), _Listener(fails=True)
    with pytest.raises(OSError, match="no room"):
        d.fit(_model(), d.SequentialWindows(IDS, 2, 10), epochs=1, lr=0.1, device="cpu", callbacks=[first, second])
    assert [event[0] for event in first.heard] == ["begin", "end"]
    assert [event[0] for event in second.heard] == ["begin"]
