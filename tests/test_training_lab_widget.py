"""The training lab with torch behind it: commands, settings that act at once, settings that start again."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import traitlets as t

import d2lrnn as d
from d2lrnn.widgets import TrainingLab
from d2lrnn.widgets.training_lab import counting_levels, score_windows


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[TrainingLab]:
    path = tmp_path / "tide.txt"
    path.write_text("the tide goes out and the tide comes in " * 60, encoding="utf-8")
    found = TrainingLab(path, num_hiddens=16, num_steps=8, batch_size=4, learning_rate=0.02)
    yield found
    found.close()


def wait(condition, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.02)


def command(lab: TrainingLab, kind: str) -> None:
    lab._on_command(lab, {"kind": kind}, [])


def test_it_learns_a_text_of_the_readers_own(lab: TrainingLab) -> None:
    lab.train(steps=400)
    assert lab.report["steps"] == 400 and lab.report["tokens"] == 400 * 32
    assert lab.heldout_perplexity < 2 < len(lab.encoded.vocab)
    score = d.evaluate(lab.model, lab.encoded.heldout_ids)
    assert score.perplexity == pytest.approx(lab.heldout_perplexity)
    assert len(lab.report["sample"]) == 124 and "e" in lab.report["sample"]


def test_the_first_update_is_the_textbooks(lab: TrainingLab) -> None:
    lab.optimizer, lab.learning_rate, lab.clip = "sgd", 0.5, 0.1
    command(lab, "begin")
    before = [p.detach().clone() for p in lab.model.parameters()]
    lab.train(steps=1)
    after = [p.detach() for p in lab.model.parameters()]
    moved = math.sqrt(sum(float((p - q).square().sum()) for p, q in zip(after, before)))
    assert lab.report["norms"]["ys"][0] > 0.1, "the report has the length before clipping"
    assert moved == pytest.approx(0.5 * 0.1, rel=1e-4)


def test_buttons_start_pause_and_step(lab: TrainingLab) -> None:
    command(lab, "begin")
    assert lab.report["steps"] == 0 and lab.report["status"] == "paused"
    assert lab.heldout_perplexity == pytest.approx(len(lab.encoded.vocab), rel=0.4)
    command(lab, "go")
    wait(lambda: lab.report["steps"] > 5)
    assert lab.report["status"] == "running"
    command(lab, "pause")
    steps = lab.report["steps"]
    assert lab.report["status"] == "paused"
    command(lab, "step")
    assert lab.report["steps"] == steps + 1
    command(lab, "nonsense")
    assert lab.report["steps"] == steps + 1


def test_what_a_page_started_pauses_when_no_page_looks_on(lab: TrainingLab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("d2lrnn.widgets.training_lab._ALONE_SECONDS", 1e6)
    command(lab, "go")
    wait(lambda: lab.report.get("steps", 0) > 3)
    with lab._lock:  # between two updates
        lab._seen -= 2e6
        command(lab, "seen")
        steps = lab.report["steps"]
    wait(lambda: lab.report["steps"] > steps)
    assert lab.report["status"] == "running"
    with lab._lock:
        lab._seen -= 2e6
    wait(lambda: lab.report["status"] == "paused" and not lab._thread.is_alive())
    command(lab, "go")
    wait(lambda: lab.report["status"] == "running")


def test_what_python_started_needs_no_page(lab: TrainingLab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("d2lrnn.widgets.training_lab._ALONE_SECONDS", -1)
    lab.start()
    command(lab, "seen")
    wait(lambda: lab.report.get("steps", 0) > 3)
    steps = lab.report["steps"]
    wait(lambda: lab.report["steps"] > steps)
    assert lab.report["status"] == "running"


def test_a_change_of_size_starts_again_when_the_page_says_so_and_goes_on(lab: TrainingLab) -> None:
    command(lab, "go")
    wait(lambda: lab.report.get("steps", 0) > 3)
    lab.num_hiddens = 8
    command(lab, "begin")
    wait(lambda: lab.report["steps"] > 0)
    assert lab.model.rnn.num_hiddens == 8 and lab.report["status"] == "running"


def test_without_carrying_the_state_the_text_is_scored_in_windows_from_zero(lab: TrainingLab) -> None:
    lab.carry = False
    lab.train(steps=20)
    ids = lab.encoded.heldout_ids
    assert score_windows(lab.model, ids, 8).perplexity == pytest.approx(lab.heldout_perplexity)
    one = score_windows(lab.model, ids, 1)
    H = torch.tanh(lab.model.rnn.W_xh + lab.model.rnn.b_h)  # one step from zero, for each letter
    logits = (H @ lab.model.W_hq + lab.model.b_q)[ids[:-1]]
    expected = torch.nn.functional.cross_entropy(logits, ids[1:], reduction="sum")
    assert one.total_nats == pytest.approx(float(expected.detach()), rel=1e-5)


def test_a_run_whose_numbers_are_lost_says_so_and_starts_afresh(lab: TrainingLab) -> None:
    command(lab, "begin")
    with torch.no_grad():
        lab.model.W_hq.fill_(math.nan)
    command(lab, "go")
    wait(lambda: lab.report["status"] == "diverged")
    json.dumps(lab.report, allow_nan=False)
    command(lab, "go")
    wait(lambda: lab.report["steps"] > 2)
    assert lab.report["status"] == "running"


def test_levels_are_those_of_the_counting_models() -> None:
    text = d.load_text()
    for level in counting_levels(text):
        model = d.NGramLM(text.train_ids, level["order"], len(text.vocab))
        assert level["perplexity"] == model.evaluate(text.heldout_ids).perplexity


@pytest.mark.parametrize("wrong", [{"num_hiddens": 0}, {"num_steps": 65}, {"learning_rate": 0.0}, {"clip": -1.0}])
def test_settings_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(t.TraitError):
        TrainingLab(**wrong)


def test_no_steps_are_an_error(lab: TrainingLab) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        lab.train(0)
