"""Both engines against each other and against plain autograd, in random shapes; flat parameters."""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import nn

import d2lrnn as d
from d2lrnn.engines.closed_form import ClosedForm, Weights, Workspace, loss_and_gradients, threads_for, weights_of
from d2lrnn.engines.eligible import why_not
from d2lrnn.engines.flat import FlatParameters
from d2lrnn.engines.stepper import Stepper, same

TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}


def _model(
    vocab_size: int = 5, num_hiddens: int = 6, num_inputs: int | None = None, dtype: torch.dtype = torch.float64
) -> d.RNNLM:
    embedding = None if num_inputs is None else nn.Embedding(vocab_size, num_inputs)
    return d.RNNLM(d.RNNScratch(num_inputs or vocab_size, num_hiddens), vocab_size, embedding).to(dtype)


def _shapes(count: int = 25) -> Iterator[tuple[int, int, int, int, int | None]]:
    """(batch_size, num_steps, vocab_size, num_hiddens, num_inputs): the edges, large products, then anything."""
    yield from [(1, 1, 1, 1, None), (1, 9, 4, 3, None), (7, 1, 4, 3, 2), (1, 1, 50, 2, 1), (3, 4, 2, 33, None)]
    yield from [(4, 3, 5, 256, None), (7, 3, 4, 200, 3)]
    draw = random.Random(0)
    for _ in range(count):
        embedded = draw.choice([None, draw.randint(1, 20)])
        yield draw.randint(1, 9), draw.randint(1, 12), draw.randint(1, 40), draw.randint(1, 40), embedded


def _close(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    """Each number against the largest of its matrix, which is what rounding is measured by in a sum."""
    tolerance = TOLERANCE[ours.dtype]
    torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance * max(1e-3, float(theirs.abs().max())))


@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize("start", ["zeros", "carried"])
@pytest.mark.parametrize("shape", list(_shapes()), ids=str)
def test_loss_and_every_gradient_are_autograds(
    shape: tuple[int, int, int, int, int | None], start: str, dtype: torch.dtype
) -> None:
    batch_size, num_steps, vocab_size, num_hiddens, num_inputs = shape
    torch.manual_seed(sum(shape[:4]))
    model = _model(vocab_size, num_hiddens, num_inputs, dtype)
    X, Y = torch.randint(vocab_size, (2, batch_size, num_steps))
    H = torch.rand(batch_size, num_hiddens, dtype=dtype) if start == "carried" else None
    logits, state = model(X, H)
    loss = model.loss(logits, Y)
    loss.backward()

    weights = weights_of(model)
    ours = Weights(*(None if w is None else w.detach() for w in weights))
    grads = Weights(*(None if w is None else torch.full_like(w, math.nan) for w in ours))
    workspace = Workspace(ours, batch_size, num_steps)
    for _ in range(2):  # the second time on what the first left lying about
        workspace.start_from(H)
        loss_nats = loss_and_gradients(ours, grads, X, Y, workspace)
        assert loss_nats == pytest.approx(loss.item(), rel=TOLERANCE[dtype], abs=TOLERANCE[dtype])
        _close(workspace.last_state, state.detach())
        for weight, grad in zip(weights, grads):
            if weight is not None:
                _close(grad, weight.grad)


@pytest.mark.parametrize("num_inputs", [None, 3])
def test_scoring_by_the_closed_form_is_the_models_forward_pass(num_inputs: int | None) -> None:
    model = _model(num_inputs=num_inputs)
    X = torch.randint(5, (3, 4))
    for state in (None, torch.rand(3, 6, dtype=torch.float64)):
        for ours, expected in zip(ClosedForm(model).forward(X, state), model(X, state)):
            _close(ours, expected.detach())


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-4), (torch.float64, 1e-9)])
def test_the_same_is_what_differs_by_rounding_alone(dtype: torch.dtype, tolerance: float) -> None:
    one, zero = torch.ones(3, dtype=dtype), torch.zeros(3, dtype=dtype)
    assert same(one * (1 + 0.9 * tolerance), one) and not same(one * (1 + 1.1 * tolerance), one)
    assert same(zero, zero) and same(zero + 0.5 * tolerance**2, zero) and not same(zero + tolerance**2, zero)
    assert same((one, zero), (one, zero)) and not same((one, zero), (one, one))
    for other in (one[:1], (one,), (one, one, one)):
        assert not same(other, one) and not same((one, one), other)


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
@pytest.mark.parametrize("clip", [None, 0.3, 1e9])
@pytest.mark.parametrize("carry", [True, False])
@pytest.mark.parametrize("num_inputs", [None, 3])
def test_weights_after_steps_are_the_same_with_both_engines(
    optimizer: str, clip: float | None, carry: bool, num_inputs: int | None
) -> None:
    torch.manual_seed(0)
    models = [_model(num_inputs=num_inputs)]
    models.append(copy.deepcopy(models[0]))
    data = torch.randint(5, (12, 2, 3, 8))
    results = []
    for engine, model in zip(("autograd", "closed-form"), models):
        rows = []
        with Stepper(model, optimizer=optimizer, clip=clip, engine=engine) as stepper:
            for number, (X, Y) in enumerate(data):
                if number == 6 or not carry:
                    stepper.state = None
                if number > 6:
                    X, Y = X[:, :5], Y[:, :5]  # another shape on the way
                rows.append(stepper(X, Y, lr=0.1, momentum=0.9 if number % 2 else None))
        assert stepper.engine_name == engine
        results.append(torch.tensor(rows, dtype=torch.float64))
    torch.testing.assert_close(*results, rtol=1e-10, atol=0)
    for ours, theirs in zip(*(model.parameters() for model in models)):
        torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-10)
    assert (results[0][:, 1] > 0.3).any(), "nothing was clipped"


def test_carried_state_matters_and_is_cut_off() -> None:
    torch.manual_seed(0)
    model = _model()
    X, Y = torch.randint(5, (2, 3, 4))
    for engine in ("autograd", "closed-form"):
        with Stepper(copy.deepcopy(model), engine=engine, optimizer="sgd") as stepper:
            stepper(X, Y, lr=1e-300)
            state = stepper.state
            assert state.shape == (3, 6) and not state.requires_grad and state.any()
            carried = stepper(X, Y, lr=1e-300)
            stepper.state = state
            assert stepper(X, Y, lr=1e-300) == carried
            stepper.state = None
            assert stepper.state is None
            assert stepper(X, Y, lr=1e-300) != carried
            with pytest.raises(ValueError, match=r"state has shape \(3, 6\); expected \(2, 6\)"):
                stepper(X[:2], Y[:2], lr=0.1)


@pytest.mark.parametrize("engine", ["autograd", "closed-form"])
@pytest.mark.parametrize("dtype", list(TOLERANCE))
def test_a_step_that_is_not_finite_changes_nothing(engine: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    model = _model(dtype=dtype)
    X, Y = torch.randint(5, (2, 3, 4))
    with Stepper(model, engine=engine) as stepper:
        stepper(X, Y, lr=0.1)
        state, stored = stepper.state.clone(), copy.deepcopy(stepper.optimizer.state_dict())
        with torch.no_grad():
            model.W_hq.mul_(torch.finfo(dtype).max)
        kept = [p.detach().clone() for p in model.parameters()]
        loss_nats, grad_norm = stepper(X, Y, lr=0.1)
        assert not math.isfinite(loss_nats) or not math.isfinite(grad_norm)
        for a, b in zip(model.parameters(), kept):
            assert torch.equal(a, b)
        assert torch.equal(stepper.state, state)
        after = stepper.optimizer.state_dict()
        assert after["num_updates"] == stored["num_updates"] == 1 and torch.equal(after["mean"], stored["mean"])


def test_a_first_gradient_that_is_not_finite_is_no_reason_to_leave_the_closed_form() -> None:
    model = _model(dtype=torch.float32)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.W_hq.copy_(torch.eye(6)[:, :5] * 1e25)
        model.rnn.W_hh.copy_(torch.eye(6) * 1e20)
    with Stepper(model) as stepper:
        loss_nats, grad_norm = stepper(*torch.randint(5, (2, 3, 4)), lr=0.1)
        assert loss_nats == pytest.approx(math.log(5)) and not math.isfinite(grad_norm)
        assert stepper.engine_name == "closed-form"


@pytest.mark.parametrize(("X", "Y"), [([[5]], [[0]]), ([[-1]], [[0]]), ([[0]], [[5]]), ([[0]], [[-1]])])
def test_tokens_outside_the_vocabulary_are_refused(X: list, Y: list) -> None:
    message = r"has a token (5|-1), and the model is made for the tokens 0 to 4"
    with Stepper(_model()) as stepper, pytest.raises(ValueError, match=message):
        stepper(torch.tensor(X), torch.tensor(Y), lr=0.1)


@pytest.mark.parametrize(
    ("X", "Y"),
    [([[0, 1]], [[0]]), ([[0], [1]], [[0]]), ([0], [0]), ([[0.0]], [[0]]), ([[0]], [[0.0]])],
)
def test_minibatches_of_no_good_shape_or_type_are_refused(X: list, Y: list) -> None:
    with Stepper(_model()) as stepper, pytest.raises(ValueError, match=r"expected integers, both of shape"):
        stepper(torch.tensor(X), torch.tensor(Y), lr=0.1)


class _Own(d.RNNLM):
    pass


def _hooked() -> d.RNNLM:
    model = _model()
    model.rnn.register_forward_hook(lambda *_: None)
    return model


def _frozen() -> d.RNNLM:
    model = _model()
    model.rnn.b_h.requires_grad_(False)
    return model


def _with_own_loss() -> d.RNNLM:
    model = _model()
    model.loss = lambda logits, Y: logits.sum()
    return model


def _tied() -> d.RNNLM:
    model = _model(vocab_size=6, num_hiddens=6)
    model.W_hq = model.rnn.W_hh
    return model


def _embedding_patched() -> d.RNNLM:
    model = _model(num_inputs=3)
    model.embedding.forward = lambda X: torch.zeros(*X.shape, 3).double()
    return model


def _larger() -> d.RNNLM:
    model = _model()
    model.extra = nn.Parameter(torch.zeros(1).double())
    return model


OTHERS = {
    "concise": lambda: d.RNNLM(d.RNNConcise(5, 6), 5),
    "gated": lambda: d.RNNLM(d.LSTM(5, 6), 5),
    "dropout": lambda: d.RNNLM(d.RNNScratch(5, 6), 5, dropout=0.1),
    "subclass": lambda: _Own(d.RNNScratch(5, 6), 5),
    "hook": _hooked,
    "frozen": _frozen,
    "loss": _with_own_loss,
    "tied": _tied,
    "embedding patched": _embedding_patched,
    "larger": _larger,
    "bfloat16": lambda: _model(dtype=torch.bfloat16),
    "padded": lambda: d.RNNLM(d.RNNScratch(3, 6), 5, nn.Embedding(5, 3, padding_idx=0)),
    "scaled": lambda: d.RNNLM(d.RNNScratch(3, 6), 5, nn.Embedding(5, 3, scale_grad_by_freq=True)),
}


@pytest.mark.parametrize("name", list(OTHERS))
def test_what_the_closed_form_does_not_do_is_left_to_autograd(name: str) -> None:
    model = OTHERS[name]()
    assert why_not(model)
    with pytest.raises(ValueError, match="no closed form for this model"):
        Stepper(model, engine="closed-form")
    with Stepper(model) as stepper:
        assert stepper.engine_name == f"autograd ({why_not(model)})"
    with Stepper(_model()) as stepper:
        assert stepper.engine_name == "closed-form"


def test_a_change_for_all_models_counts_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    model = _model(num_inputs=3)
    module = nn.modules.module
    for register in (
        module.register_module_forward_hook,
        module.register_module_forward_pre_hook,
        module.register_module_full_backward_hook,
        module.register_module_full_backward_pre_hook,
    ):
        hook = register(lambda *_: None)
        try:
            assert why_not(model) == "there are hooks on every module"
        finally:
            hook.remove()
    assert why_not(model) is None
    monkeypatch.setattr(nn.Embedding, "forward", lambda self, X: self.weight[X] + 1)
    assert why_not(model) == "Embedding.forward is not the package's own"


def test_bad_settings() -> None:
    with pytest.raises(ValueError, match="'auto', 'autograd', 'closed-form' or 'cuda-graph'"):
        Stepper(_model(), engine="fast")
    with pytest.raises(ValueError, match="'sgd' or 'adamw'"):
        Stepper(_model(), optimizer="lion")


def test_number_of_threads_comes_back() -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        for num_hiddens, inside in ((255, 1), (256, 2)):
            with pytest.raises(KeyboardInterrupt), Stepper(_model(num_hiddens=num_hiddens)) as stepper:
                stepper(*torch.randint(5, (2, 3, 2)), lr=0.1)
                assert torch.get_num_threads() == inside
                raise KeyboardInterrupt
            assert torch.get_num_threads() == 2
        with Stepper(_model(num_hiddens=16)) as stepper:
            for batch_size, inside in ((1023, 1), (1024, 2), (3, 1)):
                stepper.state = None
                stepper(*torch.randint(5, (2, batch_size, 2)), lr=0.1)
                assert torch.get_num_threads() == inside
        assert torch.get_num_threads() == 2
        with Stepper(_model(), engine="autograd"):
            assert torch.get_num_threads() == 2
        with threads_for(16):
            with threads_for(16):
                pass
            assert torch.get_num_threads() == 1, "the last of those that overlap puts it back"
    finally:
        torch.set_num_threads(before)


class _Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.frozen = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 2)
        self.second.weight = self.first.weight
        self.frozen.requires_grad_(False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.frozen(self.second(self.first(x)))


@pytest.mark.parametrize("make", [_Tied, lambda: nn.RNN(3, 4, num_layers=2), lambda: nn.GRU(3, 5)])
def test_flat_parameters_are_views_inside_and_alone_outside(make) -> None:
    torch.manual_seed(0)
    model = make()
    parameters = list(model.parameters())
    twin = copy.deepcopy(model)
    x = torch.randn(2, 3)

    def loss(module: nn.Module) -> torch.Tensor:
        out = module(x)
        return (out[0] if isinstance(out, tuple) else out).square().sum()

    loss(twin).backward()
    with FlatParameters(model) as flat:
        trained = [p for p in parameters if p.requires_grad]
        loss(model).backward()
        covered = torch.zeros_like(flat.data)
        for p, q in zip(parameters, twin.parameters()):
            assert torch.equal(p, q)
            if q.grad is None:
                assert p.grad is None
                continue
            torch.testing.assert_close(p.grad, q.grad)
            for view, whole in ((p, flat.data), (p.grad, flat.grad)):
                assert view.untyped_storage().data_ptr() == whole.untyped_storage().data_ptr()
                assert view.is_contiguous()
            covered[p.storage_offset() : p.storage_offset() + p.numel()] += 1
        assert covered.max() == 1 and covered.sum() == sum(p.numel() for p in trained)
        assert flat.grad[covered == 0].count_nonzero() == 0
        flat.data += covered
    assert [id(p) for p in model.parameters()] == [id(p) for p in parameters]
    for p, q in zip(parameters, twin.parameters()):
        torch.testing.assert_close(p.detach(), q.detach() + (1 if q.requires_grad else 0))
        assert p.grad is None
        assert p.untyped_storage().nbytes() == p.numel() * p.element_size()
    assert torch.isfinite(loss(model))


def test_parameters_of_torchs_layers_lie_as_cudnn_wants_them() -> None:
    """At the beginning and without gaps, all matrices before all biases; elsewhere cuDNN would copy at every call."""
    model = d.RNNLM(d.RNNConcise(5, 7), 5)
    with FlatParameters(model):
        layer, end = model.rnn.rnn, 0
        for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
            assert getattr(layer, name).storage_offset() == end
            end += getattr(layer, name).numel()
        assert {p.storage_offset() % 16 for p in (model.W_hq, model.b_q)} == {0}
    stacked = nn.LSTM(3, 4, num_layers=2)
    with FlatParameters(stacked):
        in_order = sorted(stacked.named_parameters(), key=lambda named: named[1].storage_offset())
        assert [name.split("_")[0] for name, _ in in_order] == 4 * ["weight"] + 4 * ["bias"]


def test_numpys_warnings_are_as_they_were_after_a_training() -> None:
    before = np.geterr()
    windows = d.SequentialWindows(torch.arange(60) % 7, 2, 4)
    history = d.fit(d.RNNLM(d.RNNScratch(7, 4), 7), windows, epochs=1, lr=0.1, heldout_ids=windows.ids, device="cpu")
    assert history.engine == "closed-form" and np.geterr() == before


def test_flat_parameters_refuse_what_they_cannot_hold() -> None:
    with pytest.raises(ValueError, match="nothing to train"):
        FlatParameters(nn.Tanh())
    mixed = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).double())
    with pytest.raises(ValueError, match=r"float32 on cpu, torch.float64 on cpu"):
        FlatParameters(mixed)
