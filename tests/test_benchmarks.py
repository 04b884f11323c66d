"""The benchmark compares like with like: same losses, the right count of products, tables that are the stored results.

Nothing here measures time.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

import d2lrnn as d
from benchmarks import contestants, harness, machine, peers, table
from benchmarks.contestants import Task, _layouts, dlfs2, limit_numpy, limit_torch, torch_rnn
from benchmarks.products import Product, flops_per_token, matrix_products
from benchmarks.run import parse_arguments
from benchmarks.settings import SETTINGS, Setting, minibatches, starting_weights, token_ids
from benchmarks.worker import CHECKED_STEPS, Windows, Worker
from benchmarks.worker import LOSS_TOLERANCE as TOLERANCES

ROOT = Path(__file__).resolve().parents[1]
SMALL = {
    "one-hot, clipped": Setting("small", 3, 5, 8, 28),
    "one-hot, wide batch": Setting("small", 17, 2, 4, 28),
    "one step, one row": Setting("small", 1, 1, 3, 28),
    "embedding": Setting("small", 4, 5, 6, 50, num_embedding=7, lr=0.1, clip=None),
}
LOSS_TOLERANCE = TOLERANCES["float32"]
IN_THE_REPOSITORY = ("dlfs2", "torch_rnn", "ours_layers", "ours_manual", "ours_autograd", "ours")


def task(setting: Setting) -> Task:
    return Task(setting, starting_weights(setting), "cpu", ROOT / "_build" / "bench")


def losses_of(name: str, setting: Setting) -> list[float]:
    batches = [(torch.from_numpy(X), torch.from_numpy(Y)) for X, Y in minibatches(setting, CHECKED_STEPS)]
    losses: list[float] = []
    contestants.load(name).train(task(setting), Windows(setting, iter(batches), len(batches)), losses)
    return losses


def textbook(setting: Setting) -> tuple[list[float], list[float]]:
    """Losses and gradient norms in float64, by autograd over the equations and nothing else."""
    weights = {n: torch.tensor(w, dtype=torch.float64).requires_grad_() for n, w in starting_weights(setting).items()}
    table = weights.get("E", torch.eye(setting.vocab_size, dtype=torch.float64))
    losses, norms = [], []
    for X, Y in minibatches(setting, CHECKED_STEPS):
        H, loss = torch.zeros(setting.batch_size, setting.num_hiddens, dtype=torch.float64), torch.tensor(0.0)
        for x, y in zip(torch.from_numpy(X).T, torch.from_numpy(Y).T):
            H = torch.tanh(table[x] @ weights["W_xh"] + H @ weights["W_hh"] + weights["b_h"])
            loss = loss + F.cross_entropy(H @ weights["W_hq"] + weights["b_q"], y, reduction="sum")
        loss = loss / Y.size
        grads = torch.autograd.grad(loss, list(weights.values()))
        norm = math.sqrt(sum(float((grad**2).sum()) for grad in grads))
        shrink = 1.0 if setting.clip is None else min(1.0, setting.clip / norm)
        with torch.no_grad():
            for weight, grad in zip(weights.values(), grads):
                weight -= setting.lr * shrink * grad
        losses.append(loss.item())
        norms.append(norm)
    return losses, norms


@pytest.mark.parametrize("name", IN_THE_REPOSITORY)
@pytest.mark.parametrize("kind", SMALL)
def test_every_contestant_computes_the_same_losses(name: str, kind: str) -> None:
    setting = SMALL[kind]
    if setting.num_embedding is None and name in ("dlfs2", "ours_layers", "ours_manual"):
        assert contestants.load(name).SETTINGS == "D", "it has an embedding and does not clip"
        return
    expected, _ = textbook(setting)
    assert expected[2] != pytest.approx(expected[0], abs=100 * LOSS_TOLERANCE), "steps must show in the loss"
    assert losses_of(name, setting) == pytest.approx(expected, abs=LOSS_TOLERANCE / 2)


@pytest.mark.parametrize("name", "ABC")
def test_the_settings_put_clipping_to_the_test(name: str) -> None:
    setting = SETTINGS[name]
    small = replace(setting, batch_size=min(setting.batch_size, 32))
    _, norms = textbook(small)
    assert max(norms[:2]) > 1, "the checked losses must depend on clipping"


def test_the_losses_would_show_a_second_bias() -> None:
    """Why the second bias of nn.RNN is frozen: trained too, it changes the mathematics by more than may be."""
    setting = SMALL["one-hot, clipped"]
    net = torch_rnn.Network(task(setting))
    net.rnn.bias_hh_l0.requires_grad_(True)
    optimizer, losses = torch.optim.SGD(net.parameters(), lr=setting.lr), []
    for X, Y in minibatches(setting, CHECKED_STEPS):
        loss = F.cross_entropy(net(torch.from_numpy(X)).flatten(0, 1), torch.from_numpy(Y).T.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    assert abs(losses[2] - textbook(setting)[0][2]) > 2 * LOSS_TOLERANCE


@pytest.mark.parametrize(("name", "engine"), [("ours", "auto"), ("ours_autograd", "autograd")])
def test_ours_runs_the_engine_that_its_row_names(name: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, fit = [], d.fit
    monkeypatch.setattr(d, "fit", lambda *args, **settings: seen.append(settings["engine"]) or fit(*args, **settings))
    losses_of(name, SMALL["one-hot, clipped"])
    assert seen == [engine]


def test_the_network_of_the_other_book_has_the_gradients_of_autograd() -> None:
    setting = SMALL["embedding"]
    weights = starting_weights(setting)
    [(X, Y)] = minibatches(setting, 1)
    net = dlfs2.Network(weights)
    net.forward(X, Y)
    net.backward(*X.shape)
    theirs = torch_rnn.Network(task(setting))
    F.cross_entropy(theirs(torch.from_numpy(X)).flatten(0, 1), torch.from_numpy(Y).T.flatten()).backward()
    expected = {
        "E": theirs.embedding.weight.grad,
        "W_xh": theirs.rnn.weight_ih_l0.grad.T,
        "W_hh": theirs.rnn.weight_hh_l0.grad.T,
        "b_h": theirs.rnn.bias_ih_l0.grad,
        "W_hq": theirs.linear.weight.grad.T,
        "b_q": theirs.linear.bias.grad,
    }
    assert net.grads.keys() == expected.keys()
    for name, grad in net.grads.items():
        torch.testing.assert_close(torch.from_numpy(grad), expected[name], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", SMALL)
def test_products_are_those_that_torch_counts(kind: str) -> None:
    setting = SMALL[kind]
    net = torch_rnn.Network(task(setting))
    [(X, Y)] = minibatches(setting, 1)
    with FlopCounterMode(display=False) as counter:
        F.cross_entropy(net(torch.from_numpy(X)).flatten(0, 1), torch.from_numpy(Y).T.flatten()).backward()
    counted = sum(product.flops for product in matrix_products(setting, one_hot_products=True))
    assert counted == counter.get_total_flops()


def test_one_hot_inputs_need_no_product() -> None:
    names = {product.name for product in matrix_products(SETTINGS["A"])}
    assert not {"X @ W_xh", "X.T @ dA"} & names
    assert {"X @ W_xh", "X.T @ dA", "dA @ W_xh.T"} <= {product.name for product in matrix_products(SETTINGS["D"])}
    # By hand, for each token: two products each way but for the last step back, and three of the output layer
    assert flops_per_token(SETTINGS["A"]) == 2 * (512**2 * (1 + 34 / 35 + 1) + 3 * 512 * 28)


@pytest.mark.parametrize(
    "make", [limit_numpy.make_calls, lambda *a: limit_torch.make_calls("cpu", *a)], ids=["numpy", "torch"]
)
@pytest.mark.parametrize("layout", [(left, right, turned) for left in (0, 1) for right in (0, 1) for turned in (0, 1)])
def test_the_limit_carries_out_the_products_that_it_counts(make: Any, layout: tuple[int, int, int]) -> None:
    product = Product("small", 3, 4, 5, 6)
    calls = make(product, *map(bool, layout))
    assert len(calls) == product.times
    for call in calls:
        left, right = (np.asarray(matrix) for matrix in call.args)
        assert {left.shape, right.shape} == ({(6, 5), (5, 4)} if layout[2] else {(4, 5), (5, 6)})
        call()
        np.testing.assert_allclose(np.asarray(call.keywords["out"]), left @ right, rtol=1e-5, atol=1e-6)


def test_the_limit_runs_every_product_once_a_step() -> None:
    done: list[str] = []

    def make_calls(product: Product, *layout: bool) -> list[Any]:
        return [lambda: done.append(product.name)] * product.times

    products = matrix_products(SMALL["embedding"])
    calls = _layouts.fastest_calls(products, make_calls)
    done.clear()
    _layouts.run(calls)
    assert done == [product.name for product in products for _ in range(product.times)]


def test_ids_are_those_of_the_story() -> None:
    letters, words = token_ids(28), token_ids(418)
    assert (letters.min(), letters.max()) == (1, 27) and len(letters) > 100_000
    assert (words.min(), words.max()) == (0, 417) and len(words) > 15_000
    X, Y = minibatches(SETTINGS["C"], 2)[0]
    assert X.shape == Y.shape == (16, 32) and X.dtype == np.int64
    assert (X[:, 1:] == Y[:, :-1]).all(), "the target is the next token"


def test_the_stream_gives_the_minibatches_that_were_asked_for_and_reports_at_their_end() -> None:
    commands = [{"do": "run", "steps": 20}, {"do": "run", "steps": 3}, {"do": "close"}]
    answers: list[tuple[int, list[str]]] = []
    seen: list[int] = []

    class Pipe:
        def receive(self) -> dict[str, Any]:
            return commands.pop(0)

        def send(self, **answer: Any) -> None:
            answers.append((len(seen), sorted(answer)))

    worker = Worker.__new__(Worker)
    worker.pipe, worker.device = Pipe(), "cpu"
    for batch in worker.rounds([0, 1, 2, 3, 4]):
        seen.append(batch)
    times = ["cpu_seconds", "seconds"]
    assert answers == [(0, []), (3 + 20, times), (3 + 20 + 1 + 3, times)], "a tenth and one to warm up, then the timed"
    assert seen == [number % 5 for number in range(27)]


def row(contestant: str, losses: list[float], role: str = "peer") -> dict[str, Any]:
    return {
        "setting": "A",
        "contestant": contestant,
        "role": role,
        "losses_nats": losses,
        "loss_tolerance": LOSS_TOLERANCE,
    }


def test_other_losses_stop_the_benchmark() -> None:
    good = [3.0, 2.5, 2.0]
    rows = [row("first", good), row("second", [3.0, 2.5, 2.00009]), row("products", [], "limit")]
    harness.check_losses(rows)
    assert rows[1]["loss_difference"] == pytest.approx(9e-5)
    for bad in ([3.0, 2.5, 2.0002], [3.0, 2.5, math.nan], [3.0, 2.5]):
        with pytest.raises(harness.BenchmarkError, match="second"):
            harness.check_losses([row("first", good), row("second", bad)])


class Scripted(harness.Contestant):
    """A contestant without a process: a step takes it a time that is written down, and all commands are noted."""

    def __init__(self, name: str, log: list[str], *, step_seconds: float = 0.01, **answer: Any) -> None:
        self.name, self.threads, self.enters = name, 1, "C"
        self.log, self.step_seconds, self.answer = log, step_seconds, answer

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        if do == "check":
            losses = {"losses_nats": [3.0, 2.5, 2.0], "loss_tolerance": LOSS_TOLERANCE}
            return {"title": self.name, "role": "peer"} | (self.answer or losses)
        if do == "run":
            self.log.append(f"{self.name} {arguments['steps']}")
            return {"seconds": arguments["steps"] * self.step_seconds}
        return {}


def run_scripted(crew: list[Scripted], *, deadline: float = math.inf, hard: float = math.inf) -> list[dict[str, Any]]:
    options = harness.Options(rounds=5, seconds=0.4)
    return harness.run_setting("C", crew, options, deadline, hard, {"d2l-0.17.6": "no network"})


def test_contestants_run_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "SETTLE_SECONDS", 0)
    log: list[str] = []
    crew = [Scripted("first", log), Scripted("slow", log, step_seconds=1.0), Scripted("last", log, step_seconds=0.1)]
    crew.insert(1, Scripted("gone", log, absent="d2l==0.17.6 is not installed"))
    rows = run_scripted(crew)
    assert log[-15:] == ["first 40", "slow 3", "last 4"] * 5, "0.4 s each, but never fewer than three steps"
    assert [row["contestant"] for row in rows] == ["first", "gone", "slow", "last"]
    assert rows[1]["absent"] == "d2l==0.17.6 is not installed: no network"
    assert rows[0]["rounds"] == [{"steps": 40, "seconds": pytest.approx(0.4)}] * 5


@pytest.mark.parametrize(("deadline", "hard", "rounds"), [(math.inf, math.inf, 5), (0, math.inf, 3), (0, 0, 1)])
def test_rounds_end_when_the_time_is_used_up(
    deadline: float, hard: float, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness, "SETTLE_SECONDS", 0)
    [row] = run_scripted([Scripted("first", [])], deadline=deadline, hard=hard)
    assert len(row["rounds"]) == rounds


def test_nothing_is_timed_when_losses_differ() -> None:
    log: list[str] = []
    other = {"losses_nats": [3.0, 2.5, 2.1], "loss_tolerance": LOSS_TOLERANCE}
    with pytest.raises(harness.BenchmarkError, match="second does not do what first does"):
        run_scripted([Scripted("first", log), Scripted("second", log, **other)])
    assert log == []


@pytest.mark.slow
def test_a_worker_answers_trains_and_reports_its_failures(tmp_path: Path) -> None:
    """The real pipe to a real process, once, with the cheapest contestant."""
    contestant = harness.Contestant("limit_numpy", 1, harness.Options(peers=tmp_path))
    try:
        described = contestant.ask("describe")
        assert described["enters"] == "ABCD" and described["facts"]["threads"]["torch"] == 1
        assert contestant.ask("check", setting="C")["losses_nats"] == []
        assert contestant.ask("open", setting="C") == {}
        assert contestant.ask("run", steps=2)["seconds"] > 0
        assert contestant.ask("close") == {}
        with pytest.raises(harness.BenchmarkError, match="KeyError: 'Z'"):
            contestant.ask("open", setting="Z")
    finally:
        contestant.end()


@pytest.mark.parametrize("name", ["d2l_old_scratch", "d2l_old_concise", "d2l_new_scratch", "d2l_new_concise"])
def test_a_peer_that_is_not_there_gets_a_row_with_the_reason(name: str, tmp_path: Path) -> None:
    module = contestants.load(name)
    reason = module.why_not(replace(task(SETTINGS["A"]), peers=tmp_path))
    assert reason == f"d2l=={module.VERSION} is not installed"
    assert harness.with_reason(reason, {f"d2l-{module.VERSION}": "no network"}) == f"{reason}: no network"
    assert {f"d2l-{module.VERSION}"} <= peers.PEERS.keys()


def test_what_a_result_says_of_the_machine() -> None:
    facts = machine.machine_facts() | machine.process_facts("cpu")
    assert facts["cores"] >= 1 and facts["torch"] == torch.__version__ and facts["numpy"] == np.__version__


def test_unknown_names_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_arguments(["--settings", "A,Q"])
    assert "'Q' is unknown; choose from A, B, C, D" in capsys.readouterr().err


def test_a_plain_python_runs_it_as_a_script() -> None:
    done = subprocess.run([sys.executable, "benchmarks/run.py", "--help"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and "--device {cpu,cuda}" in done.stdout, done.stderr


def a_result() -> dict[str, Any]:
    setting = {"title": "t", "sizes": "s", "batch_size": 10, "num_steps": 10, "flops_per_token": 1.0}

    def measured(contestant: str, role: str, threads: int, seconds: list[float]) -> dict[str, Any]:
        name = {"setting": "A", "contestant": contestant, "title": contestant, "role": role}
        return name | {"threads": threads, "rounds": [{"steps": 10, "seconds": took} for took in seconds]}

    absent = {"setting": "A", "contestant": "gone", "title": "gone", "role": "peer", "absent": "not installed"}
    return {
        "device": "cpu",
        "date": "2026-01-02",
        "note": "A note.",
        "machine": {"processor": "P", "cores": 2, "python": "3", "torch": "2", "numpy": "1"},
        "options": {"seconds": 0.5},
        "settings": {"A": setting},
        "results": [
            measured("d2l_old_scratch", "peer", 1, [1.0, 2.0, 0.5]),
            measured("d2l_old_scratch", "peer", 2, [4.0, 4.0, 4.0]),
            absent,
            measured("ours", "ours", 1, [0.5, 0.5, 0.5]),
            measured("limit_numpy", "limit", 1, [0.25, 0.25, 0.25]),
            measured("limit_torch", "limit", 1, [0.4, 0.4, 0.4]),
        ],
    }


def test_the_table_by_hand() -> None:
    lines = table.markdown(a_result()).splitlines()
    assert lines[0] == "**A: t** (s)"
    assert lines[2] == "| | tokens/s | least to most | times d2l_old_scratch | of the limit | threads |"
    # 1,000 tokens in a round; of two numbers of threads the better one, of two libraries the faster
    assert lines[4:8] == [
        "| d2l_old_scratch | 1.00 k | 500 to 2.00 k | 1.00 | 25% | 1 |",
        "| gone | *not installed* | | | | |",
        "| **ours** | 2.00 k | 2.00 k to 2.00 k | 2.00 | 50% | 1 |",
        "| *limit_numpy* | 4.00 k | 4.00 k to 4.00 k | 4.00 | 100% | 1 |",
    ]
    assert lines[9] == "P, 2 cores, Python 3, torch 2, numpy 1. 2026-01-02, medians of 3 rounds of 0.5 s. A note."


def test_a_marked_place_is_filled_in_and_stays(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps(a_result()), encoding="utf-8")
    page = "before\n<!-- benchmark r A -->\nformer\n<!-- /benchmark -->\nafter\n"
    filled = table.fill_in(page, tmp_path)
    assert filled.startswith("before\n<!-- benchmark r A -->\n\n**A: t**") and "former" not in filled
    assert filled.endswith("\n<!-- /benchmark -->\nafter\n")
    assert table.fill_in(filled, tmp_path) == filled


def test_a_notebook_is_filled_in_too(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps(a_result()), encoding="utf-8")
    source = ["text\n", "<!-- benchmark r -->\n", "<!-- /benchmark -->"]
    cells = [{"cell_type": kind, "source": source} for kind in ("markdown", "code")]
    page = tmp_path / "page.ipynb"
    page.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    filled, code = json.loads(table.updated(page, tmp_path))["cells"]
    assert code["source"] == source
    assert "| *limit_numpy* | 4.00 k | 4.00 k to 4.00 k | 4.00 | 100% | 1 |\n" in filled["source"]


def pages_with_results() -> list[Path]:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("benchmarks/*.md"), *ROOT.glob("book/*.md"), *ROOT.glob("chapters/*.ipynb")]
    return [page for page in pages if re.search(r"^\W*<!-- benchmark ", page.read_text(encoding="utf-8"), re.MULTILINE)]


@pytest.mark.parametrize("page", pages_with_results(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_tables_in_pages_are_those_of_the_stored_results(page: Path) -> None:
    assert table.updated(page) == page.read_text(encoding="utf-8"), (
        f"run: python benchmarks/table.py --update {page.relative_to(ROOT)}"
    )


def test_what_the_package_carries_is_what_was_recorded() -> None:
    assert d.recorded.load_recorded("benchmarks") == table.for_the_package(), "python benchmarks/table.py --package"
