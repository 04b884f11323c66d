"""The recorded step: what surrounds the recording is proven on any machine, the recording itself where a GPU is."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch import nn

import d2lrnn as d
from d2lrnn.engines import Stepper
from d2lrnn.engines.cuda_graph import CudaGraph
from d2lrnn.study.attention import CausalAttention


class _FromLearned(d.RNNScratch):
    """Begins with a state that is learned; at the beginning of the training it is that of other layers, zeros."""

    def __init__(self, num_inputs: int, num_hiddens: int) -> None:
        super().__init__(num_inputs, num_hiddens)
        self.H_0 = nn.Parameter(torch.zeros(num_hiddens))

    def forward(self, inputs: torch.Tensor, H: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        return super().forward(inputs, self.H_0.expand(inputs.shape[1], -1) if H is None else H)


MODELS = {
    "scratch": lambda: d.RNNLM(d.RNNScratch(5, 6), 5),
    "concise": lambda: d.RNNLM(d.RNNConcise(5, 6), 5),
    "embedding": lambda: d.RNNLM(d.RNNScratch(3, 6), 5, torch.nn.Embedding(5, 3)),
    "gru": lambda: d.RNNLM(d.GRU(5, 6), 5),
    "lstm": lambda: d.RNNLM(d.LSTM(5, 6), 5),
    "learned state": lambda: d.RNNLM(_FromLearned(5, 6), 5),
    "growing cache": lambda: d.RNNLM(CausalAttention(5, 6, num_heads=2, reach=16), 5),
}


def _again(task: Callable[[], None]) -> Callable[[], None]:
    """A recording without a GPU: run a few times, as the real one is, then do the same thing again."""
    for _ in range(4):
        task()
    return task


class _Graphed(Stepper):
    """A stepper whose engine repeats what was recorded, on any device."""

    def __enter__(self) -> Stepper:
        super().__enter__()
        self.engine = CudaGraph(self.model, self.flat.grad, record=_again)
        return self


def _train(stepper: Stepper, carry: bool, device: str = "cpu") -> list[float]:
    generator = torch.Generator().manual_seed(1)
    losses = []
    with stepper:
        for shape in [(3, 7)] * 4 + [(2, 5)] * 3 + [(3, 7)] * 2:  # a change of shape is recorded anew
            if not carry or shape != (3, 7):
                stepper.state = None
            X, Y = torch.randint(5, (2, *shape), generator=generator).to(device)
            losses += stepper(X, Y, lr=0.05)
            if shape != (3, 7):
                stepper.state = None
    return losses


@pytest.mark.parametrize("carry", [True, False])
@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
@pytest.mark.parametrize("name", list(MODELS))
def test_repeated_step_equals_autograd(name: str, optimizer: str, carry: bool) -> None:
    torch.manual_seed(0)
    model = MODELS[name]().double()
    twin = copy.deepcopy(model)
    ours = _train(_Graphed(model, optimizer=optimizer, clip=0.5), carry)
    theirs = _train(Stepper(twin, optimizer=optimizer, clip=0.5, engine="autograd"), carry)
    assert ours == pytest.approx(theirs, rel=1e-12)
    for weight, other in zip(model.parameters(), twin.parameters()):
        torch.testing.assert_close(weight, other, rtol=1e-12, atol=1e-12)


def test_inputs_are_copied_and_nothing_of_the_caller_is_kept() -> None:
    torch.manual_seed(0)
    X, Y = torch.randint(5, (2, 2, 4))
    with _Graphed(MODELS["scratch"](), optimizer="sgd") as stepper:
        first, _ = stepper(X, Y, lr=0.0)
        state = stepper.state.clone()
        X.zero_()
        stepper.state = None
        changed, _ = stepper(X, Y, lr=0.0)
    assert changed != first
    assert not torch.equal(stepper.state, state)


def test_every_shape_is_recorded_once() -> None:
    recorded = []
    model = MODELS["lstm"]()
    with Stepper(model, engine="autograd") as stepper:
        stepper.engine = CudaGraph(model, stepper.flat.grad, record=lambda task: [recorded.append(task), task][1])
        for _ in range(3):  # epochs
            stepper.state = None
            for _ in range(3):
                stepper(*torch.randint(5, (2, 2, 4)), lr=0.1)
    assert len(recorded) == 2  # without a state and with one


def test_recording_draws_no_random_numbers_of_the_training() -> None:
    losses = []
    for kind, settings in ((_Graphed, {}), (Stepper, {"engine": "autograd"})):
        torch.manual_seed(0)
        model = d.RNNLM(d.LSTM(5, 6, weight_drop=0.3), 5, dropout=0.3)
        losses.append(_train(kind(model, **settings), carry=True))
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_a_state_of_another_batch_is_refused() -> None:
    with _Graphed(MODELS["lstm"]()) as stepper:
        stepper(*torch.randint(5, (2, 2, 4)), lr=0.1)
        with pytest.raises(ValueError, match=r"the state has shape \(2, 6\); expected \(3, 6\)"):
            stepper(*torch.randint(5, (2, 3, 4)), lr=0.1)


def test_it_is_asked_for_by_name_and_needs_a_gpu() -> None:
    model = MODELS["scratch"]()
    with pytest.raises(ValueError, match="on a CUDA device"):
        Stepper(model, engine="cuda-graph")
    with pytest.raises(ValueError, match="on a CUDA device"):
        windows = d.RandomWindows(torch.arange(5).repeat(20), 2, 4)
        d.fit(model, windows, epochs=1, lr=0.1, device="cpu", engine="cuda-graph")


if torch.cuda.is_available():  # no test at all elsewhere, rather than one that reports success without having run

    @pytest.mark.parametrize("name", list(MODELS))
    def test_recorded_step_equals_autograd_on_the_gpu(name: str) -> None:
        torch.manual_seed(0)
        model = MODELS[name]().cuda()
        twin = copy.deepcopy(model)
        ours = _train(Stepper(model, clip=0.5, engine="cuda-graph"), True, "cuda")
        assert ours == pytest.approx(_train(Stepper(twin, clip=0.5, engine="autograd"), True, "cuda"), rel=1e-4)
