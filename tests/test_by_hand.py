"""Layers by hand: against autograd and finite differences in float64, against torch's loss, and as a whole network."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import d2lrnn as d
from d2lrnn.study.by_hand import (
    ManualRNNLM,
    TimeAffine,
    TimeEmbedding,
    TimeRNN,
    TimeSoftmaxWithLoss,
    fit_manual,
)
from d2lrnn.study.by_hand import rnn_step_backward as step_backward
from d2lrnn.study.by_hand import rnn_step_forward as step_forward

# Exact derivatives in float64 agree with autograd's to rounding; central differences with a step of 1e-6 have an error
# of about 1e-12 from the third derivative and 1e-10 from rounding.
AUTOGRAD = {"rtol": 1e-12, "atol": 1e-13}
DIFFERENCES = {"rtol": 1e-7, "atol": 1e-8}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def leaf(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(array.copy()).requires_grad_()


def differences(loss: Callable[[], float], array: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Central differences of a loss by every entry of an array, which is moved in place and put back."""
    grad = np.zeros_like(array)
    for place in np.ndindex(array.shape):
        value = array[place]
        array[place] = value + step
        above = loss()
        array[place] = value - step
        grad[place] = (above - loss()) / (2 * step)
        array[place] = value
    return grad


def weights_of_a_layer(rng: np.random.Generator, num_inputs: int = 3, num_hiddens: int = 4) -> list[np.ndarray]:
    return [rng.normal(size=shape) for shape in ((num_inputs, num_hiddens), (num_hiddens, num_hiddens), num_hiddens)]


def test_step_against_autograd_and_differences(rng: np.random.Generator) -> None:
    X, H_before, dH = rng.normal(size=(2, 3)), rng.normal(size=(2, 4)), rng.normal(size=(2, 4))
    arrays = {"X": X, "H_before": H_before, **dict(zip(("W_xh", "W_hh", "b_h"), weights_of_a_layer(rng)))}
    H = step_forward(**arrays)
    grads = step_backward(dH, X, H_before, H, arrays["W_xh"], arrays["W_hh"])

    tensors = {name: leaf(array) for name, array in arrays.items()}
    state = d.rnn_step(tensors["X"], tensors["H_before"], tensors["W_xh"], tensors["W_hh"], tensors["b_h"])
    np.testing.assert_allclose(H, state.detach(), **AUTOGRAD)
    state.backward(torch.from_numpy(dH))
    for name, array in arrays.items():
        ours = getattr(grads, f"d{name}")
        assert ours.shape == array.shape
        np.testing.assert_allclose(ours, tensors[name].grad, **AUTOGRAD)
        numeric = differences(lambda: float((dH * step_forward(**arrays)).sum()), array)
        np.testing.assert_allclose(ours, numeric, **DIFFERENCES)


def test_layer_over_time_against_autograd_and_differences(rng: np.random.Generator) -> None:
    inputs, doutputs = rng.normal(size=(6, 2, 3)), rng.normal(size=(6, 2, 4))
    layer = TimeRNN(*weights_of_a_layer(rng), stateful=True)
    H_0 = rng.normal(size=(2, 4))
    layer.H = H_0
    outputs = layer.forward(inputs)
    dinputs = layer.backward(doutputs)

    twin = d.RNNScratch(3, 4).double()
    with torch.no_grad():
        for name, param in layer.params.items():
            getattr(twin, name).copy_(torch.from_numpy(param))
    torch_inputs, torch_H_0 = leaf(inputs), leaf(H_0)
    torch_outputs, torch_H = twin(torch_inputs, torch_H_0)
    torch_outputs.backward(torch.from_numpy(doutputs))
    np.testing.assert_allclose(outputs, torch_outputs.detach(), **AUTOGRAD)
    np.testing.assert_allclose(layer.H, torch_H.detach(), **AUTOGRAD)
    np.testing.assert_allclose(dinputs, torch_inputs.grad, **AUTOGRAD)
    np.testing.assert_allclose(layer.dH_before, torch_H_0.grad, **AUTOGRAD)

    def loss() -> float:
        layer.H = H_0
        return float((doutputs * layer.forward(inputs)).sum())

    np.testing.assert_allclose(dinputs, differences(loss, inputs), **DIFFERENCES)
    np.testing.assert_allclose(layer.dH_before, differences(loss, H_0), **DIFFERENCES)
    for name, param in layer.params.items():
        np.testing.assert_allclose(layer.grads[name], getattr(twin, name).grad, **AUTOGRAD)
        np.testing.assert_allclose(layer.grads[name], differences(loss, param), **DIFFERENCES)


def test_gradients_of_branches_add(rng: np.random.Generator) -> None:
    """The gradient of several losses together is the sum of those of each alone, and each reaches all earlier steps."""
    inputs, doutputs = rng.normal(size=(4, 2, 3)), rng.normal(size=(4, 2, 4))
    layer = TimeRNN(*weights_of_a_layer(rng))
    layer.forward(inputs)
    together, dW_hh = layer.backward(doutputs), layer.grads["W_hh"]
    alone, dW_hh_alone = [], []
    for t in range(4):
        only = np.zeros_like(doutputs)
        only[t] = doutputs[t]
        alone.append(layer.backward(only))
        dW_hh_alone.append(layer.grads["W_hh"])
        assert np.abs(alone[-1][: t + 1]).min() > 0 and not alone[-1][t + 1 :].any()
    np.testing.assert_allclose(sum(alone), together, **AUTOGRAD)
    np.testing.assert_allclose(sum(dW_hh_alone), dW_hh, **AUTOGRAD)


def test_stateful_windows_are_one_long_run(rng: np.random.Generator) -> None:
    inputs, weights = rng.normal(size=(9, 2, 3)), weights_of_a_layer(rng)
    whole = TimeRNN(*weights).forward(inputs)
    carried, forgetful = TimeRNN(*weights, stateful=True), TimeRNN(*weights)
    pieces = [layer.forward(part) for part in np.split(inputs, 3) for layer in (carried, forgetful)]
    np.testing.assert_array_equal(np.concatenate(pieces[::2]), whole)
    assert np.abs(np.concatenate(pieces[1::2])[3:] - whole[3:]).max() > 0.01
    carried.reset_state()
    np.testing.assert_array_equal(carried.forward(inputs[:3]), whole[:3])


def test_gradient_stops_at_the_edge_of_a_window(rng: np.random.Generator) -> None:
    """Two windows with a carried state have the weight gradients of autograd with a detached state."""
    inputs, doutputs = rng.normal(size=(6, 2, 3)), rng.normal(size=(6, 2, 4))
    layer = TimeRNN(*weights_of_a_layer(rng), stateful=True)
    tensors = [leaf(param) for param in layer.params.values()]
    H = torch.zeros(2, 4, dtype=torch.float64)
    total = 0.0
    for window in (slice(0, 3), slice(3, 6)):
        layer.forward(inputs[window])
        layer.backward(doutputs[window])
        total = total + layer.grads["W_hh"]
        H = H.detach()
        for X, dH in zip(inputs[window], doutputs[window]):
            H = d.rnn_step(torch.from_numpy(X), H, *tensors)
            (H * torch.from_numpy(dH)).sum().backward(retain_graph=True)
    np.testing.assert_allclose(total, tensors[1].grad, **AUTOGRAD)
    assert np.abs(layer.dH_before).min() > 0, "what is thrown away is there to be looked at"


def test_the_kept_state_is_not_a_view_into_the_outputs(rng: np.random.Generator) -> None:
    layer = TimeRNN(*weights_of_a_layer(rng), stateful=True)
    outputs = layer.forward(rng.normal(size=(3, 2, 3)))
    last = outputs[-1].copy()
    outputs[:] = 0
    np.testing.assert_array_equal(layer.H, last)


def test_embedding_adds_into_rows(rng: np.random.Generator) -> None:
    ids = np.array([[0, 2], [2, 2], [0, 3]])
    layer, dX = TimeEmbedding(rng.normal(size=(5, 3))), rng.normal(size=(3, 2, 3))
    table = leaf(layer.params["E"])
    out = F.embedding(torch.from_numpy(ids), table)
    np.testing.assert_array_equal(layer.forward(torch.from_numpy(ids)), out.detach())
    layer.backward(dX)
    out.backward(torch.from_numpy(dX))
    np.testing.assert_allclose(layer.grads["E"], table.grad, **AUTOGRAD)
    numeric = differences(lambda: float((dX * layer.forward(ids)).sum()), layer.params["E"])
    np.testing.assert_allclose(layer.grads["E"], numeric, **DIFFERENCES)
    one_hot = np.eye(5)[ids.ravel()]
    np.testing.assert_allclose(layer.grads["E"], one_hot.T @ dX.reshape(-1, 3), **AUTOGRAD)
    overwritten = np.zeros((5, 3))
    overwritten[ids] += dX
    assert np.abs(overwritten - layer.grads["E"]).max() > 0.1, "the test would not see the usual mistake"


def test_affine_against_autograd_and_differences(rng: np.random.Generator) -> None:
    H, dO = rng.normal(size=(3, 2, 4)), rng.normal(size=(3, 2, 5))
    layer = TimeAffine(rng.normal(size=(4, 5)), rng.normal(size=5))
    tensors = [leaf(array) for array in (H, *layer.params.values())]
    out = tensors[0] @ tensors[1] + tensors[2]
    out.backward(torch.from_numpy(dO))
    np.testing.assert_allclose(layer.forward(H), out.detach(), **AUTOGRAD)
    dH = layer.backward(dO)

    def loss() -> float:
        return float((dO * layer.forward(H)).sum())

    for ours, array, tensor in zip((dH, *layer.grads.values()), (H, *layer.params.values()), tensors):
        np.testing.assert_allclose(ours, tensor.grad, **AUTOGRAD)
        np.testing.assert_allclose(ours, differences(loss, array), **DIFFERENCES)


def test_loss_is_torchs_cross_entropy(rng: np.random.Generator) -> None:
    logits, Y = 5 * rng.normal(size=(3, 2, 7)), rng.integers(7, size=(3, 2))
    layer, tensor = TimeSoftmaxWithLoss(), leaf(logits)
    loss = F.cross_entropy(tensor.flatten(0, 1), torch.from_numpy(Y).flatten())
    loss.backward()
    assert layer.forward(logits, torch.from_numpy(Y)) == pytest.approx(loss.item(), rel=1e-13)
    dO = layer.backward()
    np.testing.assert_allclose(dO, tensor.grad, **AUTOGRAD)
    np.testing.assert_allclose(dO, differences(lambda: layer.forward(logits, Y), logits), **DIFFERENCES)


@pytest.mark.filterwarnings("error")
def test_loss_of_huge_logits_is_finite_and_of_sure_ones_exact() -> None:
    layer = TimeSoftmaxWithLoss()
    logits = np.array([[[1000.0, -1000.0], [-1000.0, 1000.0]]], dtype=np.float32)
    assert layer.forward(logits, np.array([[0, 1]])) == 0.0
    assert layer.forward(logits, np.array([[1, 1]])) == 1000.0


def twin_of(model: ManualRNNLM) -> d.RNNLM:
    vocab_size, num_inputs = model.params["E"].shape
    num_hiddens = len(model.params["W_hh"])
    twin = d.RNNLM(d.RNNScratch(num_inputs, num_hiddens), vocab_size, nn.Embedding(vocab_size, num_inputs)).double()
    with torch.no_grad():
        for name, param in parameters_of(twin).items():
            param.copy_(torch.from_numpy(model.params[name]))
    return twin


def parameters_of(twin: d.RNNLM) -> dict[str, nn.Parameter]:
    rnn, embedding = twin.rnn, twin.embedding
    assert embedding is not None
    return {
        "E": embedding.weight,
        **{name: getattr(rnn, name) for name in ("W_xh", "W_hh", "b_h")},
        **{name: getattr(twin, name) for name in ("W_hq", "b_q")},
    }


def test_whole_network_is_the_torch_one_over_carried_windows() -> None:
    """Losses, gradients and weights of several updates, with a state that is carried and a gradient that is not."""
    ids = torch.randint(11, (200,), generator=torch.Generator().manual_seed(0))
    windows = d.SequentialWindows(ids, batch_size=3, num_steps=5)
    model = ManualRNNLM(11, 6, 8, seed=1, dtype=np.float64)
    twin, state = twin_of(model), None
    for X, Y in windows:
        loss_nats = model.forward(X, Y)
        model.backward()
        logits, state = twin(X, None if state is None else state.detach())
        loss = twin.loss(logits, Y)
        twin.zero_grad()
        loss.backward()
        assert loss_nats == pytest.approx(loss.item(), rel=1e-12)
        for name, param in parameters_of(twin).items():
            np.testing.assert_allclose(model.grads[name], param.grad, rtol=1e-9, atol=1e-13)
            model.params[name] -= 0.5 * model.grads[name]
            param.data -= 0.5 * param.grad
    assert len(windows) > 10


def test_whole_network_against_differences() -> None:
    rng = np.random.default_rng(2)
    X, Y = rng.integers(5, size=(2, 4)), rng.integers(5, size=(2, 4))
    model = ManualRNNLM(5, 3, 4, dtype=np.float64, stateful=False)
    model.forward(X, Y)
    model.backward()
    for name, param in model.params.items():
        numeric = differences(lambda: model.forward(X, Y), param)
        np.testing.assert_allclose(model.grads[name], numeric, **DIFFERENCES)


def test_training_by_hand_is_fit_with_sgd() -> None:
    data = d.load_text(level="word", max_tokens=300, heldout_fraction=0)
    windows = d.SequentialWindows(data.train_ids, batch_size=4, num_steps=5)
    model = ManualRNNLM(len(data.vocab), 10, 12, dtype=np.float64)
    twin = twin_of(model)
    ours = fit_manual(model, windows, epochs=3, lr=0.1)
    theirs = d.fit(twin, windows, epochs=3, lr=0.1, optimizer="sgd", clip=None, device="cpu")
    perplexities = [[epoch.train.perplexity for epoch in history.epochs] for history in (ours, theirs)]
    np.testing.assert_allclose(*perplexities, rtol=1e-6)
    np.testing.assert_allclose(ours.step_losses, theirs.step_losses, rtol=1e-9)
    np.testing.assert_allclose(ours.step_grad_norms, theirs.step_grad_norms, rtol=1e-9)


def test_perplexity_of_an_epoch_sums_nats_first() -> None:
    ids = torch.arange(60) % 7
    model = ManualRNNLM(7, 4, 4)
    start = time.perf_counter()
    history = fit_manual(model, d.SequentialWindows(ids, 2, 4), epochs=1, lr=0.5)
    assert 0 < history.epochs[0].seconds <= time.perf_counter() - start
    assert history.epochs[0].train.perplexity == pytest.approx(math.exp(np.mean(history.step_losses)))
    assert history.epochs[0].train.num_tokens == 8 * len(history.step_losses)


def test_state_goes_on_between_epochs_only_where_asked() -> None:
    windows = d.SequentialWindows(torch.arange(40) % 7, 1, 39)  # one window an epoch
    for reset in (True, False):
        model = ManualRNNLM(7, 4, 4, dtype=np.float64)
        fit_manual(model, windows, epochs=1, lr=1e-300)  # weights stand still
        after_one = model.rnn.H.copy()
        fit_manual(model, windows, epochs=1, lr=1e-300, reset_each_epoch=reset)
        assert np.array_equal(model.rnn.H, after_one), "a training begins from zeros"
        fit_manual(model, windows, epochs=2, lr=1e-300, reset_each_epoch=reset)
        assert after_one.any()
        assert np.array_equal(model.rnn.H, after_one) is reset


def losses_of_training() -> list[float]:
    windows = d.SequentialWindows(torch.arange(60) % 7, batch_size=2, num_steps=4)
    return fit_manual(ManualRNNLM(7, 4, 4), windows, epochs=2, lr=0.5).step_losses


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        ("TimeRNN", "forward"),
        ("TimeRNN", "backward"),
        ("TimeEmbedding", "forward"),
        ("TimeSoftmaxWithLoss", "backward"),
    ],
)
def test_a_changed_layer_changes_training(monkeypatch: pytest.MonkeyPatch, kind: str, method: str) -> None:
    """What is read is what runs: a reader who edits a class, or puts another method in its place, trains that."""
    usual, layer = losses_of_training(), getattr(d.by_hand, kind)
    original = getattr(layer, method)
    calls = []

    def changed(self: object, *arguments: np.ndarray) -> np.ndarray:
        calls.append(method)
        result = original(self, *arguments)
        return None if result is None else 0.5 * result

    monkeypatch.setattr(layer, method, changed)
    changed_losses = losses_of_training()
    assert len(calls) == len(usual) == len(changed_losses)
    assert abs(usual[-1] - changed_losses[-1]) > 1e-4
    monkeypatch.undo()
    assert losses_of_training() == usual


def test_another_layer_in_the_list_is_the_one_that_trains() -> None:
    class Mute(TimeEmbedding):
        def forward(self, ids: np.ndarray) -> np.ndarray:
            return 0 * super().forward(ids)

    model = ManualRNNLM(7, 4, 4)
    model.layers = (Mute(model.params["E"]), *model.layers[1:])
    fit_manual(model, d.SequentialWindows(torch.arange(60) % 7, 2, 4), epochs=1, lr=0.5)
    fresh = ManualRNNLM(7, 4, 4).params
    np.testing.assert_array_equal(model.params["W_xh"], fresh["W_xh"])  # it was never given anything but zeros
    assert (model.params["b_h"] != fresh["b_h"]).any()


def test_the_layer_is_its_steps_one_after_the_other(rng: np.random.Generator) -> None:
    """One product for all steps, forward and back, against a walk from step to step."""
    inputs, doutputs = rng.normal(size=(6, 2, 3)), rng.normal(size=(6, 2, 4))
    layer = TimeRNN(*weights_of_a_layer(rng))
    W_xh, W_hh, b_h = layer.params.values()
    states = [np.zeros((2, 4))]
    for X in inputs:
        states.append(step_forward(X, states[-1], W_xh, W_hh, b_h))
    np.testing.assert_allclose(layer.forward(inputs), states[1:], **AUTOGRAD)
    dinputs, from_later, total = layer.backward(doutputs), 0.0, 0.0
    for t in reversed(range(6)):
        step = step_backward(doutputs[t] + from_later, inputs[t], states[t], states[t + 1], W_xh, W_hh)
        np.testing.assert_allclose(dinputs[t], step.dX, **AUTOGRAD)
        from_later, total = step.dH_before, total + step.dW_hh
    np.testing.assert_allclose(layer.grads["W_hh"], total, **AUTOGRAD)
    np.testing.assert_allclose(layer.dH_before, from_later, **AUTOGRAD)


def test_inputs_of_whole_numbers_get_gradients_that_are_not(rng: np.random.Generator) -> None:
    """A one-hot input may come as integers; its gradient has the type of the weights."""
    inputs = np.eye(3, dtype=int)[rng.integers(3, size=(6, 2))]
    weights, doutputs, gradients = weights_of_a_layer(rng), rng.normal(size=(6, 2, 4)), []
    for dtype in (int, float):
        layer = TimeRNN(*weights)
        layer.forward(inputs.astype(dtype))
        gradients.append(layer.backward(doutputs))
    assert gradients[0].dtype == np.float64
    np.testing.assert_array_equal(*gradients)


def test_precision_is_that_of_the_weights() -> None:
    X = np.zeros((2, 3), dtype=int)
    for dtype in (np.float32, np.float64):
        model = ManualRNNLM(5, 3, 4, dtype=dtype)
        model.forward(X, X)
        model.backward()
        assert {array.dtype for array in (*model.params.values(), *model.grads.values(), model.rnn.H)} == {
            np.dtype(dtype)
        }
        fit_manual(model, [(X, X)], epochs=2, lr=0.1)
        assert model.params["W_hh"].dtype == dtype


def test_weights_are_drawn_as_the_docstring_says() -> None:
    model = ManualRNNLM(300, 100, 400)
    spreads = {"E": 0.01, "W_xh": 0.1, "W_hh": 0.05, "W_hq": 0.05}
    for name, param in model.params.items():
        assert param.std() == pytest.approx(spreads.get(name, 0), rel=0.02) and abs(param.mean()) <= param.std() / 30
        assert model.grads[name].shape == param.shape and not model.grads[name].any(), "nothing has gone back yet"
    assert not model.params["b_h"].any() and not model.params["b_q"].any()
    assert ManualRNNLM(1, 1, 1).forward(np.array([[0]]), np.array([[0]])) == 0, "one unit and one token will do"


def test_seeds_repeat_and_differ() -> None:
    first, same, other = (ManualRNNLM(5, 3, 4, seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.params["E"], same.params["E"])
    assert (first.params["E"] != other.params["E"]).any()


def test_divergence_is_told_and_makes_no_update() -> None:
    X = np.zeros((2, 3), dtype=int)
    model = ManualRNNLM(5, 3, 4)
    model.params["W_hq"][:] = np.inf
    kept = model.params["E"].copy()
    with pytest.raises(d.TrainingDivergedError, match=r"epoch 1.*Lower lr=0\.1"):
        fit_manual(model, [(X, X)], epochs=1, lr=0.1)
    np.testing.assert_array_equal(model.params["E"], kept)


def test_a_loss_or_a_gradient_alone_that_is_not_finite_is_divergence() -> None:
    X = np.zeros((2, 3), dtype=int)
    steep, sure = ManualRNNLM(5, 3, 4), ManualRNNLM(5, 3, 4)
    steep.params["E"][:], steep.params["W_xh"][:] = 0, 1e30
    sure.params["b_q"][0] = -np.inf
    for model, numbers in ((steep, r"loss \d.*norm inf"), (sure, r"loss inf.*norm \d")):
        with pytest.raises(d.TrainingDivergedError, match=numbers):
            fit_manual(model, [(X, X)], epochs=1, lr=0.1)


def affine_backward_of_another_batch() -> np.ndarray:
    layer = TimeAffine(np.ones((4, 7)), np.ones(7))
    layer.forward(np.ones((5, 2, 4)))
    return layer.backward(np.ones((2, 5, 7)))


def embedding_backward_of_one_column() -> None:
    layer = TimeEmbedding(np.eye(3))
    layer.forward(np.array([[0, 1]]))
    layer.backward(np.ones((1, 2, 1)))


def rnn_backward_of_one_row() -> np.ndarray:
    layer = TimeRNN(np.ones((3, 4)), np.eye(4), np.ones(4))
    layer.forward(np.ones((5, 2, 3)))
    return layer.backward(np.ones((5, 1, 4)))


def fit_on(X: list, Y: list) -> d.History:
    return fit_manual(ManualRNNLM(3, 3, 4), [(np.array(X), np.array(Y))], epochs=1, lr=0.1)


BAD = [
    (lambda: step_forward(np.ones((2, 5)), np.ones((2, 4)), np.ones((3, 4)), np.eye(4), np.ones(4)), "of X is"),
    (lambda: step_forward(np.ones((2, 3)), np.ones((1, 4)), np.ones((3, 4)), np.eye(4), np.ones(4)), "H_before"),
    (lambda: step_forward(np.ones((2, 3)), np.ones((2, 4)), np.ones((3, 4)), np.eye(4), np.ones((2, 1))), "b_h"),
    (lambda: step_backward(*(np.ones((1, 4)), *3 * [np.ones((2, 4))], *2 * [np.eye(4)])), r"dH is.*\(2, 4\)"),
    (lambda: step_backward(*2 * [np.ones((2, 4))], np.ones((2, 4)), np.ones((1, 4)), *2 * [np.eye(4)]), "of H is"),
    (lambda: step_forward(np.ones((2, 3)), np.ones((2, 1)), np.ones((3, 4)), np.ones((1, 4)), np.ones(1)), "W_hh"),
    (lambda: TimeRNN(np.ones((3, 4)), np.ones((4, 3)), np.ones(4)), "W_hh"),
    (lambda: TimeRNN(np.ones(4), np.eye(4), np.ones(4)), "W_xh"),
    (lambda: TimeRNN(np.ones((3, 4)), np.eye(4), np.ones(1)), "b_h"),
    (lambda: rnn_backward_of_one_row(), "doutputs"),
    (lambda: embedding_backward_of_one_column(), "dX"),
    (lambda: TimeEmbedding(np.ones(3)), "of E is"),
    (lambda: TimeEmbedding(np.eye(3)).forward(np.array([[0, 3]])), "run from 0 to 3"),
    (lambda: TimeEmbedding(np.eye(3)).forward(np.array([[-1, 2]])), "run from -1 to 2"),
    (lambda: TimeAffine(np.ones(4), np.ones(4)), "W_hq"),
    (lambda: TimeAffine(np.ones((4, 7)), np.ones(7)).forward(np.ones((5, 4))), "of H is"),
    (lambda: TimeSoftmaxWithLoss().forward(np.ones((2, 7)), np.ones((2, 7), dtype=int)), "logits"),
    (lambda: TimeRNN(np.ones((3, 4)), np.eye(4), np.ones(4)).forward(np.ones((0, 2, 3))), "no step"),
    (lambda: TimeRNN(np.ones((3, 4)), np.eye(4), np.ones(4)).forward(np.ones((5, 3))), "inputs"),
    (lambda: TimeEmbedding(np.eye(3)).forward(np.array([[-1]])), "run from -1 to -1; the vocabulary has 0 to 2"),
    (lambda: TimeEmbedding(np.eye(3)).forward(np.array([[3]])), "run from 3"),
    (lambda: TimeEmbedding(np.eye(3)).forward(np.array([1, 2])), "shape of ids is"),
    (lambda: TimeAffine(np.ones((4, 7)), np.ones(4)), "b_q"),
    (lambda: affine_backward_of_another_batch(), r"dO is \(2, 5, 7\); expected \(5, 2, 7\)"),
    (lambda: TimeSoftmaxWithLoss().forward(np.ones((5, 2, 7)), np.ones((2, 5), dtype=int)), r"Y is.*\(5, 2\)"),
    (lambda: TimeSoftmaxWithLoss().forward(np.ones((1, 1, 7)), np.array([[7]])), "Y run from 7"),
    (lambda: TimeSoftmaxWithLoss().forward(np.ones((0, 1, 7)), np.ones((0, 1), dtype=int)), "no targets"),
    (lambda: ManualRNNLM(0, 3, 4), "vocab_size is 0"),
    (lambda: fit_manual(ManualRNNLM(3, 3, 4), [], epochs=0, lr=0.1), "epochs is 0"),
    *(
        (lambda lr=lr: fit_manual(ManualRNNLM(3, 3, 4), [], epochs=1, lr=lr), f"lr is {lr}")
        for lr in (0, math.inf, math.nan)
    ),
    (lambda: fit_manual(ManualRNNLM(3, 3, 4), [], epochs=1, lr=0.1), "no windows"),
    (lambda: fit_on([[3]], [[0]]), "ids run from 3 to 3; the vocabulary has 0 to 2"),
    (lambda: fit_on([[0]], [[-1]]), "Y run from -1"),
    (lambda: fit_on([[0, 1]], [[0]]), "shape of"),
    (lambda: fit_on([0], [0]), "shape of"),
    (lambda: fit_manual(ManualRNNLM(3, 3, 4), [([[0]], [[0]]), ([[0]] * 2,) * 2], epochs=1, lr=0.1), "reset_state"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input_is_told(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_wrong_types_are_told() -> None:
    with pytest.raises(TypeError, match="token indices are integers"):
        fit_on([[0.0]], [[0]])
    with pytest.raises(TypeError, match="token indices are integers"):
        TimeEmbedding(np.eye(3)).forward(np.ones((2, 2)))
    with pytest.raises(TypeError, match="numpy array of floats"):
        TimeEmbedding(np.eye(3, dtype=int))
    with pytest.raises(TypeError, match="W_xh float32, W_hh float64"):
        TimeRNN(np.ones((3, 4), dtype=np.float32), np.eye(4), np.ones(4))
    with pytest.raises(TypeError, match="dtype is int64"):
        ManualRNNLM(3, 3, 4, dtype=np.int64)


def test_backward_before_forward_and_a_new_batch_size_are_told() -> None:
    layer = TimeRNN(np.ones((3, 4)), np.eye(4), np.zeros(4), stateful=True)
    with pytest.raises(RuntimeError, match=r"TimeRNN\.backward needs a forward pass"):
        layer.backward(np.ones((5, 2, 4)))
    layer.forward(np.ones((5, 2, 3)))
    with pytest.raises(ValueError, match=r"carried state has shape \(2, 4\); expected \(3, 4\).*reset_state"):
        layer.forward(np.ones((5, 3, 3)))
    layer.H = np.ones((2, 1))
    with pytest.raises(ValueError, match=r"carried state has shape \(2, 1\); expected \(2, 4\)"):
        layer.forward(np.ones((5, 2, 3)))
