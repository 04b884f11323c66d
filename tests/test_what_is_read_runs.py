"""What a reader changes changes training, scoring, writing and packing: the habits of D2L's readers, one a row."""

from __future__ import annotations

import functools
import re

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import d2lrnn as d
from d2lrnn import layers
from d2lrnn.engines import Stepper
from d2lrnn.engines.eligible import why_not
from d2lrnn.engines.stepper import Autograd

IDS = torch.tensor([0, 1, 2, 3, 2, 1] * 60)
VOCAB = d.Vocab.from_tokens("abcd")


def relu_forward(self: d.RNNScratch, inputs: torch.Tensor, H: torch.Tensor | None = None) -> tuple:
    H = inputs.new_zeros(inputs.shape[1], self.num_hiddens) if H is None else H
    outputs = []
    for X in inputs:
        H = torch.relu(X @ self.W_xh + H @ self.W_hh + self.b_h)
        outputs.append(H)
    return torch.stack(outputs), H


def relu_step(X: torch.Tensor, H: torch.Tensor, W_xh: torch.Tensor, W_hh: torch.Tensor, b_h: torch.Tensor) -> object:
    return torch.relu(X @ W_xh + H @ W_hh + b_h)


def zero_logits(self: d.RNNLM, X: torch.Tensor, state: object = None) -> tuple:
    H, state = self.rnn(self.encode_inputs(X), state)
    return (0 * H @ self.W_hq + 0 * self.b_q).transpose(0, 1), state


def smoothed_loss(self: d.RNNLM, logits: torch.Tensor, Y: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits.flatten(0, 1), Y.flatten(), label_smoothing=0.3)


def zero_inputs(self: d.RNNLM, X: torch.Tensor) -> torch.Tensor:
    return torch.zeros(*X.T.shape, self.vocab_size)


PATCHES = {
    "forward of the layer": (d.RNNScratch, "forward", relu_forward),
    "step": (layers, "rnn_step", relu_step),
    "forward of the model": (d.RNNLM, "forward", zero_logits),
    "loss": (d.RNNLM, "loss", smoothed_loss),
    "inputs": (d.RNNLM, "encode_inputs", zero_inputs),
}


def train(**settings: object) -> tuple[d.RNNLM, d.History]:
    torch.manual_seed(0)
    model = d.RNNLM(d.RNNScratch(4, 16), 4)
    windows = d.SequentialWindows(IDS, 2, 10)
    return model, d.fit(model, windows, epochs=3, lr=0.05, heldout_ids=IDS[:90], device="cpu", **settings)


def found(model: d.RNNLM) -> dict[str, object]:
    """What scoring, writing and packing make of a model."""
    text = d.generate(model, VOCAB, "ab", 30, generator=torch.Generator().manual_seed(0))
    return {"score": d.evaluate(model, IDS[:90]).total_nats, "text": text, "packed": d.coding.compress(model, IDS[:90])}


@pytest.mark.parametrize("name", list(PATCHES))
def test_a_patched_function_is_trained_scored_written_and_packed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, usual = train()
    assert usual.engine == "closed-form"
    before = found(model)
    monkeypatch.setattr(*PATCHES[name])
    _, changed = train()
    _, by_autograd = train(engine="autograd")
    assert changed.step_losses == by_autograd.step_losses != usual.step_losses
    assert changed.heldout_perplexities == by_autograd.heldout_perplexities
    assert changed.engine.startswith("autograd (") and "is not the package's own" in changed.engine
    after = found(model)  # the same weights, another mathematics
    if name == "loss":  # only training has a loss
        assert after == before
    else:
        assert after["score"] != before["score"] and after["packed"] != before["packed"]
        assert after["text"] != before["text"]


@pytest.mark.parametrize("name", ["forward of the model", "loss", "inputs"])
def test_a_method_put_on_one_model_counts_for_that_model(name: str) -> None:
    _, attribute, function = PATCHES[name]
    torch.manual_seed(0)
    model = d.RNNLM(d.RNNScratch(4, 16), 4)
    setattr(model, attribute, function.__get__(model))
    history = d.fit(model, d.SequentialWindows(IDS, 2, 10), epochs=1, lr=0.05, device="cpu")
    assert history.engine.startswith("autograd (RNNLM.") and history.step_losses != train()[1].step_losses[:17]


@pytest.mark.parametrize("H", ["0.9 * H", "H.detach()"])  # another loss; the same loss and another gradient
def test_a_function_that_the_check_by_name_cannot_see_is_found_by_its_numbers(
    monkeypatch: pytest.MonkeyPatch, H: str
) -> None:
    """As after an edit of layers.py itself: the file is the package's own, and the mathematics is another."""
    source = compile(f"def rnn_step(X, H, W_xh, W_hh, b_h): return (X @ W_xh + {H} @ W_hh + b_h).tanh()",
                     layers.__file__, "exec")  # fmt: skip
    names: dict = {}
    exec(source, names)
    monkeypatch.setattr(layers, "rnn_step", names["rnn_step"])
    with pytest.warns(UserWarning, match="give different numbers .* training goes on by autograd") as told:
        _, changed = train()
    losses, norms = re.findall(r"(?:loss|gradient norm) (\S+) and ([\d.e-]+)", str(told[0].message))
    assert (losses[0] != losses[1]) == (H == "0.9 * H") and norms[0] != norms[1]
    _, by_autograd = train(engine="autograd")
    assert changed.step_losses == by_autograd.step_losses and changed.engine == "autograd"
    assert changed.heldout_perplexities == pytest.approx(by_autograd.heldout_perplexities, rel=1e-6)


def test_the_fast_engine_proves_itself_once_and_then_works_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, original = [], Autograd.__call__

    def counting(self: Autograd, *arguments: object) -> tuple:
        calls.append(1)
        return original(self, *arguments)

    monkeypatch.setattr(Autograd, "__call__", counting)
    _, history = train()
    assert len(calls) == 1 and len(history.step_losses) > 30 and history.engine == "closed-form"


def test_scoring_within_fit_proves_itself_as_well() -> None:
    torch.manual_seed(0)
    model = d.RNNLM(d.RNNScratch(4, 16), 4)
    with Stepper(model) as stepper:
        torch.testing.assert_close(
            d.evaluate(model, IDS, forward=stepper.forward).total_nats, d.evaluate(model, IDS).total_nats
        )
        stepper._forward_checked = False
        model.register_forward_hook(lambda module, args, output: (2 * output[0], output[1]))
        assert d.evaluate(model, IDS, forward=stepper.forward) == d.evaluate(model, IDS)


class Leaky(nn.Module):
    """A layer of one's own, with what `RecurrentLayer` asks for."""

    def __init__(self, num_inputs: int, num_hiddens: int) -> None:
        super().__init__()
        self.num_inputs, self.num_hiddens = num_inputs, num_hiddens
        self.cell = nn.RNNCell(num_inputs, num_hiddens)

    def forward(self, inputs: torch.Tensor, state: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        outputs = []
        for X in inputs:
            state = self.cell(X, state)
            outputs.append(state)
        return torch.stack(outputs), state


def test_a_layer_of_ones_own_trains_scores_writes_and_packs() -> None:
    torch.manual_seed(0)
    model = d.RNNLM(Leaky(4, 16), 4)
    untrained = d.evaluate(model, IDS).perplexity
    d.fit(model, d.SequentialWindows(IDS, 2, 10), epochs=12, lr=0.05, device="cpu")
    assert d.evaluate(model, IDS).perplexity < 1.2 < 3 < untrained
    packed = d.coding.compress(model, IDS[:60])
    assert d.coding.decompress(model, packed).tolist() == IDS[:60].tolist()


@pytest.mark.parametrize("layer", [nn.RNN(4, 8), nn.LSTM(4, 8), nn.Linear(4, 8)])
def test_what_is_no_layer_of_this_kind_is_told_what_one_needs(layer: nn.Module) -> None:
    with pytest.raises(TypeError, match=r"lacks num_inputs or num_hiddens.*forward\(inputs, state\)"):
        d.RNNLM(layer, 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda model: d.fit(model, [(IDS[:5], IDS[1:6])], epochs=1, lr=0.1), "windows is a list; expected RandomW"),
        (lambda model: d.fit(model, d.SequentialWindows(IDS, 2, 10), epochs=1, lr=0.1,
                             optimizer=torch.optim.SGD(model.parameters(), lr=0.1)), "optimizer is a SGD; expected"),
    ],
)  # fmt: skip
def test_what_readers_of_other_books_pass_to_fit(call, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call(d.RNNLM(d.RNNScratch(4, 8), 4))


@pytest.mark.parametrize("ids", [IDS, IDS[None, None]])
def test_a_model_says_which_shape_it_reads(ids: torch.Tensor) -> None:
    with pytest.raises(ValueError, match=r"expected \(batch_size, num_steps\)"):
        d.RNNLM(d.RNNScratch(4, 8), 4)(ids)


def test_an_optimiser_of_ones_own() -> None:
    class SignDescent:
        def __init__(self, weights: torch.Tensor) -> None:
            self.weights = weights

        def update(self, grad: torch.Tensor, lr: float, momentum: float | None = None) -> None:
            self.weights.sub_(lr * grad.sign())

        def state_dict(self) -> dict:
            return {}

        def load_state_dict(self, state: dict) -> None:
            pass

    _, history = train(optimizer=SignDescent)
    assert history.train_perplexities[-1] < history.train_perplexities[0]
    sizes = []
    for decay in (0.0, 0.5):
        model, _ = train(optimizer=lambda weights, decay=decay: d.optim.AdamW(weights, weight_decay=decay))
        sizes.append(sum(float(weight.detach().norm()) for weight in model.parameters()))
    assert sizes[1] < sizes[0]


def test_a_long_history_stays_of_one_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(d.History, "MAX_ENTRIES", 8)
    history = d.History()
    for step in range(100):
        history.add_step(float(step), float(step))
    assert len(history.step_losses) < 8 and history.steps_per_entry == 16
    assert history.step_losses[0] == sum(range(16)) / 16 and history.step_grad_norms[0] == 15.0
    again = d.History.from_state_dict(history.state_dict())
    assert again == history


def test_callbacks_hear_of_everything_in_order_and_of_the_end_after_an_error() -> None:
    heard: list[str] = []

    class Ear(d.Callback):
        def on_train_begin(self, run: object) -> None:
            heard.append("begin")

        def on_step_end(self, run: object) -> None:
            heard.append(f"step {run.step}")
            if run.step == 20:
                raise RuntimeError("enough")

        def on_epoch_end(self, run: object) -> None:
            heard.append(f"epoch {run.history.epochs[-1].epoch}")

        def on_train_end(self, run: object) -> None:
            heard.append(f"end, {run.is_finished}")

    with pytest.raises(RuntimeError, match="enough"):
        train(callbacks=[Ear()])
    assert heard[:2] == ["begin", "step 1"] and heard[17:19] == ["step 17", "epoch 1"] and heard[-1] == "end, False"


def test_a_callback_may_stop_the_training_in_the_middle_of_an_epoch() -> None:
    class Enough(d.Callback):
        def on_step_end(self, run: object) -> None:
            if run.step == 20:
                run.stop("twenty are enough")

    _, history = train(callbacks=[Enough()])
    assert len(history.step_losses) == 20 and len(history.epochs) == 2 and history.epochs[1].train.num_tokens == 60


def test_a_change_in_the_middle_of_a_training_counts_from_the_next_epoch_on() -> None:
    class Change(d.Callback):
        def on_epoch_end(self, run: object) -> None:
            run.model.loss = lambda logits, Y: 0 * F.cross_entropy(logits.flatten(0, 1), Y.flatten())

    _, history = train(callbacks=[Change()])
    assert history.step_losses[0] > 1 and history.step_losses[-1] == 0 and "RNNLM.loss" in history.engine


@pytest.mark.parametrize("patch", [functools.partial(layers.rnn_step, activation=torch.relu), abs])
def test_what_is_no_plain_function_counts_as_changed(patch: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "rnn_step", patch)
    assert why_not(d.RNNLM(d.RNNScratch(4, 8), 4)) == "d2lrnn.layers.rnn_step is not the package's own"


def test_a_hook_on_a_gradient_counts_as_changed() -> None:
    model = d.RNNLM(d.RNNScratch(4, 8), 4)
    model.W_hq.register_post_accumulate_grad_hook(lambda weight: None)
    assert why_not(model) == "a weight is frozen or has a hook"


def test_callbacks_may_be_any_iterable() -> None:
    heard = []

    class Ear(d.Callback):
        def on_epoch_end(self, run: object) -> None:
            heard.append(run.epoch)

    train(callbacks=(callback for callback in [Ear()]))
    assert heard == [2, 3, 4]


def test_an_optimiser_that_cannot_be_made_leaves_the_model_as_it_was() -> None:
    model = d.RNNLM(d.RNNScratch(4, 8), 4)
    with pytest.raises(TypeError), Stepper(model, optimizer=torch.optim.AdamW):
        raise AssertionError("it should not have been made")
    assert model.W_hq.grad is None
    assert model.W_hq.untyped_storage().nbytes() == model.W_hq.numel() * model.W_hq.element_size()
