"""The training lab with torch behind it: commands, settings that act at once, settings that start again."""

from __future__ import annotations

import base64
import gc
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import traitlets as t

import d2lrnn as d
from d2lrnn.ops.corpus import CorpusError
from d2lrnn.text import encode_text
from d2lrnn.widgets import TrainingLab
from d2lrnn.widgets.training_lab.ngrams import rivals
from d2lrnn.widgets.training_lab.run import _LAB, Trace, _known_words, _mark_line, score_windows


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[TrainingLab]:
    path = tmp_path / "tide.txt"
    path.write_text("the tide goes out and the tide comes in " * 60, encoding="utf-8")
    found = TrainingLab(path, num_hiddens=16, num_steps=8, batch_size=4, learning_rate=0.02, speed="flat")
    yield found
    found.close()


def wait(condition, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.02)


def command(lab: TrainingLab, kind: str, **rest: object) -> None:
    lab._on_command(lab, {"kind": kind, **rest}, [])


def test_it_learns_a_text_of_the_readers_own(lab: TrainingLab) -> None:
    lab.train(steps=400)
    assert lab.report["steps"] == 400 and lab.report["tokens"] == 400 * 32
    assert lab.heldout_perplexity < 2 < len(lab.encoded.vocab)
    score = d.evaluate(lab.model, lab.encoded.heldout_ids)
    assert score.perplexity == pytest.approx(lab.heldout_perplexity)
    diary = lab.report["diary"]
    assert [line["age"] for line in diary] == [0, 10, 40, 100, 300]
    written = ["".join(piece for piece, _ in line["pieces"]) for line in diary]
    assert all(len(text) == 60 for text in written) and ["tide", True] in diary[-1]["pieces"]


def test_the_first_update_is_the_textbooks(lab: TrainingLab) -> None:
    lab.optimizer, lab.learning_rate, lab.clip = "sgd", 0.5, 0.1
    command(lab, "begin")
    before = [p.detach().clone() for p in lab.model.parameters()]
    lab.train(steps=1)
    after = [p.detach() for p in lab.model.parameters()]
    moved = math.sqrt(sum(float((p - q).square().sum()) for p, q in zip(after, before)))
    assert lab.report["norms"]["ys"][0] > 0.1, "the report has the length before clipping"
    assert moved == pytest.approx(0.5 * 0.1, rel=1e-4)


def test_the_page_starts_and_pauses_it(lab: TrainingLab) -> None:
    lab.speed = "normal"
    command(lab, "begin")
    assert lab.report["steps"] == 0 and lab.report["status"] == "paused"
    assert lab.heldout_perplexity == pytest.approx(len(lab.encoded.vocab), rel=0.4)
    command(lab, "go")
    wait(lambda: lab.report["steps"] > 5)
    assert lab.report["status"] == "running"
    command(lab, "pause")
    steps = lab.report["steps"]
    assert lab.report["status"] == "paused"
    command(lab, "nonsense")
    assert lab.report["steps"] == steps
    assert lab.report["seconds"] > 0


def test_a_report_has_what_the_stage_shows(lab: TrainingLab) -> None:
    lab.train(steps=20)
    report = lab.report
    sentence = report["sentence"]
    assert len(sentence) == 96 and "".join(sentence).startswith(("the", "tide", "goes", "out", "and", "comes", "in"))
    assert len(report["nats"]) == len(report["top"]) == 95
    ids = lab.encoded.vocab.encode(sentence)
    with torch.no_grad():
        logits, _ = lab.model(torch.tensor([ids]))
        losses = torch.nn.functional.cross_entropy(logits[0, :-1], torch.tensor(ids[1:]), reduction="none")
    assert report["nats"] == pytest.approx(losses.tolist(), abs=1e-4)
    assert all(len(guesses) == 5 and guesses[0][1] >= guesses[4][1] for guesses in report["top"])
    states = torch.frombuffer(bytearray(base64.b64decode(report["states"])), dtype=torch.int8).view(96, 16)
    H, _ = lab.model.rnn(lab.model.encode_inputs(torch.tensor([ids])))
    torch.testing.assert_close(states.float() / 127, H[:, 0].detach(), atol=0.01, rtol=0)
    assert len("".join(piece for piece, _ in report["written"])) == 60, "what it writes now"
    assert report["writtenAt"] == 20 and report["kept"] == report["written"]
    assert report["norms"]["xs"][-1] == report["tokens"] and report["longest"] == max(report["norms"]["ys"])


def test_slow_is_slow_at_first_and_a_pause_is_heard_at_once(lab: TrainingLab) -> None:
    lab.speed = "slow"
    command(lab, "begin")
    start = time.monotonic()
    command(lab, "go")
    time.sleep(1.2)
    asked = time.monotonic()
    command(lab, "pause")
    assert time.monotonic() - asked < 1
    assert 1 <= lab.report["steps"] <= _LAB["singles"]["pace"] * (time.monotonic() - start) + 2


def test_a_storys_run_ends_by_itself_and_its_cat_is_seen(lab: TrainingLab) -> None:
    lab.optimizer, lab.learning_rate, lab.clip = "sgd", 0.5, 0.0
    command(lab, "begin", cat=40, until=60)
    command(lab, "go")
    wait(lambda: lab.report["status"] == "ended")
    assert (lab.report["steps"], lab.report["ended"]) == (60, "until")
    norms = dict(zip(lab.report["norms"]["xs"], lab.report["norms"]["ys"]))
    assert lab.report["catNorm"] == norms[40 * 32] > 2 * norms[39 * 32]
    assert lab.report["catAt"] == 40 * 32
    command(lab, "begin", cat=0, until=0)
    assert lab.report["steps"] == 0 and lab.report["ended"] is None
    command(lab, "begin", until=60, tells="spelled")
    lab._run.spelled = {"steps": 0, "real": 3, "words": 5, "pieces": []}  # what it waits for is there
    command(lab, "go")
    wait(lambda: lab.report["status"] == "ended")
    assert (lab.report["steps"], lab.report["ended"]) == (1, "until")


def test_a_run_that_came_to_its_given_end_goes_on_from_there(lab: TrainingLab) -> None:
    command(lab, "begin", until=60)
    command(lab, "on")
    assert lab.report["status"] == "paused", "it has not come to it yet"
    command(lab, "go")
    wait(lambda: lab.report["status"] == "ended")
    assert (lab.report["steps"], lab.report["ended"]) == (60, "until")
    command(lab, "on")
    wait(lambda: lab.report["steps"] > 100)
    command(lab, "pause")
    assert lab.report["ended"] is None and lab.report["diary"][0]["age"] == 0
    assert lab.report["tokens"] == 32 * lab.report["steps"]


def test_pauses_change_nothing_of_a_run_and_nothing_is_scored_twice(
    lab: TrainingLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored: list[int] = []

    def scoring(*args: object, **rest: object) -> object:
        scored.append(lab._run.steps)
        return d.evaluate(*args, **rest)

    monkeypatch.setattr("d2lrnn.widgets.training_lab.run.evaluate", scoring)

    def train(is_halting: bool) -> tuple[object, ...]:
        scored.clear()
        command(lab, "begin", until=400)
        while lab.report["status"] != "ended":
            command(lab, "go")
            if is_halting:
                time.sleep(0.02)
                command(lab, "pause")
            else:
                wait(lambda: lab.report["status"] == "ended")
        assert len(set(scored)) == len(scored), scored
        return lab.report["steps"], lab.report["ended"], lab.report["perplexity"], lab.report["counted"]

    whole, halting = train(False), train(True)
    assert whole[:2] == (400, "until") and halting == whole


def test_a_text_that_the_page_sends_is_learned_and_given_back(lab: TrainingLab) -> None:
    made_with = lab.encoded
    own = "潮水会回来的。潮水会走。" * 250
    lab.update(batch_size=64, num_steps=64)
    command(lab, "begin", text=own)
    assert lab.whole_text() == own and lab.report["batchSize"] < 64
    command(lab, "go")
    wait(lambda: lab.report["steps"] > 2 and len(lab.report["levels"]) == 6)
    command(lab, "begin", text=None)
    assert lab.encoded is made_with
    command(lab, "pause")


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_gated_layers_are_the_packages(lab: TrainingLab, cell: str) -> None:
    lab.cell = cell
    lab.train(steps=60)
    assert type(lab.model.rnn).__name__ == cell.upper()
    assert lab.heldout_perplexity < 10


def test_a_curve_stays_small_and_loses_no_spike() -> None:
    trace = Trace()
    for i in range(1, 20_001):
        trace.add(512 * i, 1e6 if i == 7_777 else 1.0 + i % 7)
    points = trace.points()
    assert len(points["xs"]) < 1000 and points["xs"] == sorted(points["xs"])
    assert points["ys"][points["xs"].index(512 * 7_777)] == 1e6
    assert points["xs"][-1] == 512 * 20_000


def test_a_leap_is_drawn_where_it_is() -> None:
    trace = Trace()
    for step, y in ((230, 7.8), (299, 7.6), (300, 8.74), (301, 8.2), (305, 7.5), (309, 7.55)):
        trace.add(512 * step, y)
    points = trace.points()
    assert points["ys"][points["xs"].index(512 * 300) - 1] == 7.6


def test_what_a_page_started_pauses_when_no_page_looks_on(lab: TrainingLab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("d2lrnn.widgets.training_lab._ALONE_SECONDS", 1e6)
    lab.speed = "normal"  # flat out so small a run is soon at its end
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
    lab.speed = "normal"  # flat out so small a run is soon at its end
    lab.start()
    command(lab, "seen")
    wait(lambda: lab.report.get("steps", 0) > 3)
    steps = lab.report["steps"]
    wait(lambda: lab.report["steps"] > steps)
    assert lab.report["status"] == "running"


def test_a_change_of_size_starts_again_when_the_page_says_so_and_goes_on(lab: TrainingLab) -> None:
    lab.speed = "normal"
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
    lab.speed = "normal"
    command(lab, "begin")
    with torch.no_grad():
        lab.model.W_hq.fill_(math.nan)
    command(lab, "go")
    wait(lambda: lab.report["status"] == "diverged")
    json.dumps(lab.report, allow_nan=False)
    command(lab, "go")
    wait(lambda: lab.report["steps"] > 2)
    assert lab.report["status"] == "running"


@pytest.mark.slow
@pytest.mark.parametrize("own", [None, "潮水会回来的。潮水会走。" * 100, "ab" * 60 + "cd" * 5])
def test_rivals_are_the_n_grams_of_the_package(own: str | None) -> None:
    text = d.load_text() if own is None else encode_text(own)
    for rival in rivals(text):
        model = d.NGramLM(text.train_ids, rival["order"], len(text.vocab))
        assert rival["perplexity"] == pytest.approx(model.evaluate(text.heldout_ids).perplexity, rel=1e-9)


def test_a_corpus_of_the_readers_own_is_not_counted_before_anything_appears(
    lab: TrainingLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("d2lrnn.widgets.training_lab.rivals", lambda text: pytest.fail("it counts"))
    assert "guessing" in lab.static_html()
    command(lab, "begin")
    assert lab.report["levels"] == []


@pytest.mark.parametrize("wrong", [{"num_hiddens": 0}, {"num_steps": 65}, {"learning_rate": 0.0}, {"clip": -1.0}])
def test_settings_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(t.TraitError):
        TrainingLab(**wrong)


@pytest.mark.parametrize("text", ["ab" * 400, "a" * 800])
def test_a_text_of_one_or_two_letters_has_a_picture(tmp_path: Path, text: str) -> None:
    (tmp_path / "small.txt").write_text(text, encoding="utf-8")
    assert TrainingLab(tmp_path / "small.txt").static_picture().count("<circle") == 1


def test_a_lab_that_could_not_be_made_goes_without_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trouble: list[object] = []
    monkeypatch.setattr("sys.unraisablehook", trouble.append)
    with pytest.raises(CorpusError):
        TrainingLab(tmp_path / "no such text.txt")
    gc.collect()
    assert trouble == []


def test_words_are_counted_at_set_ages_and_a_chapters_number_is_none(tmp_path: Path) -> None:
    assert _known_words("ii the tide and the am am once") == {"and", "once", "the", "tide"}
    lab = TrainingLab(num_hiddens=8, batch_size=4)
    lab.train(steps=21)
    counted = lab.report["counted"]
    assert counted["steps"] == 20
    marked = sum(is_real for _, is_real in counted["pieces"])
    assert marked == counted["real"]
    assert len("".join(piece for piece, _ in counted["pieces"])) == 600, "all of the page, also what its edges may cut"
    lab.close()


def test_in_a_line_a_word_that_an_edge_cuts_is_not_real() -> None:
    def real(text: str, length: int, before: str) -> str:
        pieces = _mark_line(text, length, {"the", "tide"}, before)
        return "".join(piece.upper() if is_real else piece for piece, is_real in pieces)

    assert real("the tide tide", 12, "The ") == "THE TIDE tid"
    assert real("the tide thea", 12, "the ") == "THE TIDE the"  # the next letter goes on with it
    assert real("the tide the ", 12, "the ") == real("the tide the", 12, "the ") == "THE TIDE THE"
    assert real("the tide the ", 12, "ba") == "the TIDE THE"  # it goes on with what was given
    assert real("", 12, "the ") == ""


def test_no_steps_are_an_error(lab: TrainingLab) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        lab.train(0)


def test_a_corpus_that_is_not_there_leaves_one_error_and_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    ignored: list[object] = []
    monkeypatch.setattr("sys.unraisablehook", ignored.append)
    with pytest.raises(d.ops.corpus.CorpusError, match=r"no file called 'nowhere\.txt'"):
        TrainingLab("nowhere.txt")
    gc.collect()
    assert not ignored
