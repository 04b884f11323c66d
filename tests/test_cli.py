"""The command line as a user meets it: real processes, their output, their exit codes, and what they leave behind."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
import torch

import d2lrnn as d
from d2lrnn.cli.generate import in_words
from d2lrnn.cli.settings import TrainSettings
from d2lrnn.text import count_left_out

COMMAND = [sys.executable, "-m", "d2lrnn"]
SMALL = ["--hidden", "16", "--batch-size", "8", "--num-steps", "16", "--device", "cpu"]
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "D2LRNN_STATIC"} | {
    "OMP_NUM_THREADS": "1",
    "COLUMNS": "200",
    "TERM": "dumb",
}
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and launcher are those of Unix")


# Importing torch takes a hundred times as long as most commands here. A process that has done so waits, and for each
# command makes a copy of itself that runs it: a process of its own, with its own signals, limits and exit code.
WAITING = """
import json, os, resource, sys
from d2lrnn.cli import embed, generate, main, score, train
for command in (embed, generate, score, train):
    command.import_what_is_slow()
for line in sys.stdin:
    request = json.loads(line)
    pid = os.fork()
    if not pid:
        os.chdir(request["cwd"])
        os.dup2(os.open(request["stdin"], os.O_RDONLY), 0)
        for number, name in enumerate(("out", "err"), 1):
            os.dup2(os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        if request["limit"]:
            resource.setrlimit(resource.RLIMIT_FSIZE, (request["limit"], request["limit"]))
        sys.argv = ["d2lrnn", *request["arguments"]]
        sys.stdin = open(0, encoding="utf-8", closefd=False)
        try:
            main()
        except SystemExit as end:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(end.code or 0)  # taking a copy of torch apart is half a second of work for nothing
    print(pid, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


class Shell:
    """Runs commands, one at a time."""

    def __init__(self, folder: Path, cwd: Path) -> None:
        self.out, self.err, self.cwd = folder / "out", folder / "err", cwd
        command = [sys.executable, "-c", WAITING]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
        )

    def start(self, *arguments: object, limit: int = 0, stdin: str = "") -> int:
        request = {"arguments": list(map(str, arguments)), "cwd": str(self.cwd), "limit": limit}
        request["stdin"] = str(self.out.with_name("in"))
        Path(request["stdin"]).write_text(stdin, encoding="utf-8")
        request |= {"out": str(self.out), "err": str(self.err)}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def end(self, code: int) -> tuple[str, str]:
        """What the command printed on stdout and on stderr."""
        returned = int(self.process.stdout.readline())
        stdout, stderr = self.out.read_text(encoding="utf-8"), self.err.read_text(encoding="utf-8")
        assert returned == code, (returned, stdout, stderr)
        assert "Traceback" not in stderr
        return stdout, stderr

    def run(self, *arguments: object, code: int = 0, **how: object) -> tuple[str, str]:
        self.start(*arguments, **how)
        return self.end(code)

    def fails(self, *arguments: object, **how: object) -> str:
        """The one line that says why."""
        stdout, stderr = self.run(*arguments, code=1, **how)
        lines = [line for line in stderr.splitlines() if line.startswith("d2lrnn: error: ")]
        assert stdout == "" and len(lines) == 1, stderr
        return lines[0]


@pytest.fixture(scope="module")
def shell(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    shell = Shell(tmp_path_factory.mktemp("output"), folder)
    with shell.process:  # closes what it reads from, waits, closes the rest
        yield shell
    assert shell.process.returncode == 0


def weights(path: Path) -> dict[str, torch.Tensor]:
    return d.load_checkpoint(path, weights="last").model.state_dict()


def assert_same_weights(one: Path, other: Path) -> None:
    expected = weights(other)
    for name, tensor in weights(one).items():
        assert torch.equal(tensor, expected[name]), name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a text and a model trained on it by the command."""
    folder = tmp_path_factory.mktemp("cli")
    story = d.load_corpus()[:20_000]
    (folder / "tide.txt").write_text(story, encoding="utf-8")
    command = [*COMMAND, "train", "tide.txt", "--updates", "200", "--json", *SMALL]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=ENVIRONMENT, timeout=240)
    assert done.returncode == 0, done.stderr
    (folder / "trained.json").write_text(done.stdout)
    (folder / "trained.log").write_text(done.stderr)
    return folder


def test_train_prints_a_document_on_stdout_and_progress_on_stderr(folder: Path) -> None:
    document, log = json.loads((folder / "trained.json").read_text()), (folder / "trained.log").read_text()
    text = d.load_text(folder / "tide.txt")
    loaded = d.load_checkpoint(folder / "tide.safetensors")
    assert document["checkpoint"] == "tide.safetensors" and document["settings"]["hidden"] == 16
    expected = d.evaluate(loaded.model, text.heldout_ids).perplexity
    assert document["heldout_perplexity"] == pytest.approx(expected, rel=1e-5) and expected < 20 < len(text.vocab)
    assert [record["epoch"] for record in document["epochs"]] == list(range(1, len(document["epochs"]) + 1))
    assert loaded.vocab.tokens == text.vocab.tokens and loaded.settings["text"] == "tide.txt"
    assert loaded.progress["step"] == 200
    assert "17,100 chars to learn from, 900 for validation, 2,000 held out, vocabulary of 5" in log
    assert "200 updates on the CPU" in log
    assert log.count("training perplexity") == log.count("validation") - 1 == len(document["epochs"])
    assert sorted(path.name for path in folder.glob("tide.*")) == ["tide.safetensors", "tide.txt"]


def test_what_is_kept_is_chosen_on_the_validation_part_and_reported_on_the_held_out_one(folder: Path) -> None:
    document = json.loads((folder / "trained.json").read_text())
    text, model = d.load_text(folder / "tide.txt"), d.load_checkpoint(folder / "tide.safetensors").model
    scores = [record["validation_perplexity"] for record in document["epochs"]]
    assert document["kept_epoch"] == scores.index(min(scores)) + 1
    assert document["validation_perplexity"] == min(scores)
    assert d.evaluate(model, text.train_ids[:900]).perplexity == pytest.approx(min(scores), rel=1e-5)


def test_the_best_table_of_counts_stands_beside_it(folder: Path, shell: Shell) -> None:
    document, text = json.loads((folder / "trained.json").read_text()), d.load_text(folder / "tide.txt")
    perplexities = [
        d.NGramLM(text.train_ids, order, len(text.vocab)).evaluate(text.heldout_ids).perplexity for order in range(1, 9)
    ]
    assert document["table_perplexity"] == pytest.approx(min(perplexities))
    assert document["table_order"] == perplexities.index(min(perplexities)) + 1
    stdout, log = shell.run("train", "tide.txt", "--resume")
    assert f"the best table of counts, of runs of {document['table_order']}, has {min(perplexities):.3f} on" in stdout
    assert f"held-out perplexity {document['heldout_perplexity']:.3f}" in stdout
    assert "nothing to do: the training in 'tide.safetensors' is finished (200 updates)" in log


def test_generate(folder: Path, shell: Shell) -> None:
    arguments = ("generate", "tide.safetensors", "--prompt", "The Tide", "--tokens", 40, "--seed", 3)
    text = shell.run(*arguments)[0]
    assert text.startswith("The Tide") and len(text) == 49
    document = json.loads(shell.run(*arguments, "--json", "--top-k", 5, "--top-p", 0.9)[0])
    assert document["text"].startswith("The Tide") and len(document["text"]) == 48
    assert document["settings"]["top_k"] == 5
    loaded = d.load_checkpoint(folder / "tide.safetensors")
    generator = torch.Generator().manual_seed(3)
    assert text == d.generate(loaded.model, loaded.vocab, "The Tide", 40, temperature=0.7, generator=generator) + "\n"
    again = shell.run("generate", "tide.safetensors", "--prefix", "-", "--tokens", 40, "--seed", 3, stdin="The Tide\n")
    assert again[0] == text


def test_show(folder: Path, shell: Shell) -> None:
    document = json.loads(shell.run("show", "tide.safetensors")[0])
    loaded = d.load_checkpoint(folder / "tide.safetensors")
    assert document["settings"] == loaded.settings
    shapes = {name: f"float32{tuple(weight.shape)}" for name, weight in loaded.model.state_dict().items()}
    assert document["weights"] == shapes
    assert "absent.safetensors" in shell.fails("show", "absent.safetensors")


def test_score(folder: Path, shell: Shell) -> None:
    story = "The tide went out and came in again.\nXyzzy qwrtp zxcvb jkqz!\n"
    (folder / "other.txt").write_text(story, encoding="utf-8")
    document = json.loads(shell.run("score", "tide.safetensors", "other.txt", "--json", "--lines", 1)[0])
    loaded = d.load_checkpoint(folder / "tide.safetensors")
    known = [char for char in story if char in loaded.vocab]
    expected = d.evaluate(loaded.model, torch.tensor(loaded.vocab.encode(known)))
    assert document["perplexity"] == pytest.approx(expected.perplexity, rel=1e-5)
    assert document["bits_per_token"] == pytest.approx(expected.bits_per_token, rel=1e-5)
    assert document["num_tokens"] == expected.num_tokens and document["num_unknown"] == len(story) - len(known)
    assert [line["line"] for line in document["lines"]] == [2]
    words = shell.run("score", "tide.safetensors", "other.txt")[0]
    for part in (f"perplexity {expected.perplexity:.3f}", "bits per character", "line 2: Xyzzy"):
        assert part in words
    assert shell.run("score", "tide.safetensors", "-", stdin=story)[0] == words


# ------------------------------------------------------------------------------------------------- anybody's characters


@pytest.fixture(scope="module")
def cleaned(folder: Path, shell: Shell) -> str:
    """What training on cleaned text said."""
    return shell.run("train", "tide.txt", "--clean", "--updates", 2, "--out", "clean.safetensors", *SMALL)[1]


def test_an_own_file_keeps_its_characters(folder: Path, shell: Shell) -> None:
    text = "Grüße aus 東京!\r\n„So“, 3 + 4 = 7.\r\n" * 60
    (folder / "own.txt").write_text(text, encoding="utf-8", newline="")
    for number, more in enumerate(([], ["--raw"])):
        out = f"own{number}.safetensors"
        log = shell.run("train", "own.txt", "--updates", 2, "--out", out, *more, *SMALL)[1]
        assert "left out" not in log and "<unk>" not in log
        assert set(d.load_checkpoint(folder / out).vocab.tokens) == set(text) - {"\r"}


def test_what_cleaning_leaves_out_is_counted(folder: Path, cleaned: str, shell: Shell) -> None:
    text = (folder / "tide.txt").read_text(encoding="utf-8")
    left_out = count_left_out(text)
    assert f"{left_out.total():,} of 20,000 characters left out" in cleaned and "--raw keeps all" in cleaned
    (folder / "small.txt").write_text("The result: 3 + 4 = 7.\nGrüße!!! 2024-01-01 12:00\n", encoding="utf-8")
    document = json.loads(shell.run("score", "clean.safetensors", "small.txt", "--json")[0])
    assert document["num_tokens"] == 15 and document["num_unknown"] == 27 and document["unknown"]["!"] == 3
    words = shell.run("score", "clean.safetensors", "small.txt")[0]
    assert "27 characters ('0' (5), '!' (3), '2' (3), '1' (3), ':' (2), '4' (2), '-' (2), '3' (1), ...)" in words
    assert "are unknown to the model: left out, or a space in their place" in words


def test_a_prefix_in_another_alphabet_is_no_silent_space(folder: Path, cleaned: str, shell: Shell) -> None:
    error = shell.fails("generate", "clean.safetensors", "--prefix", "日本")
    assert "Nothing of the prefix '日本' is known to the model" in error
    stdout, log = shell.run("generate", "clean.safetensors", "--prefix", "Größe", "--tokens", 3, "--json")
    assert "of the prefix, 2 characters ('ö' (1), 'ß' (1)) are unknown to the model" in log
    assert json.loads(stdout)["prefix"] == "Größe" and json.loads(stdout)["prefix_read"] == "gr e"
    stdout, log = shell.run("generate", "tide.safetensors", "--prefix", "the 🌊 tide", "--tokens", 3)
    assert stdout.startswith("the  tide") and "1 character ('🌊' (1)) is unknown to the model: left out" in log


def test_score_counts_what_the_model_does_not_know(folder: Path, shell: Shell) -> None:
    (folder / "foreign.txt").write_text("The tide 🌊 went öut 🌊.", encoding="utf-8")
    words = shell.run("score", "tide.safetensors", "foreign.txt")[0]
    assert "3 characters ('🌊' (2), 'ö' (1)) are unknown to the model: left out" in words


def test_rare_characters_are_gathered_under_a_limit_that_is_told(folder: Path, shell: Shell) -> None:
    many = "".join(map(chr, range(0x4E00, 0x4E00 + 100))) + "潮水会回来的。" * 100
    (folder / "many.txt").write_text(many, encoding="utf-8")
    log = shell.run("train", "many.txt", "--max-vocab", 7, "--updates", 2, *SMALL)[1]
    assert "200 of 800 chars are read as <unk>: the vocabulary has 7 entries (--max-vocab 7, --min-freq 1)" in log
    vocab = d.load_checkpoint(folder / "many.safetensors").vocab
    assert len(vocab) == 7 and vocab.unk_token == "<unk>"
    text = shell.run("generate", "many.safetensors", "--tokens", 50)[0]
    assert "<unk>" not in text and len(text) == 52
    assert "read as <unk>" in shell.run("score", "many.safetensors", "tide.txt")[0]


def test_a_short_text_trains_with_smaller_batches(folder: Path, shell: Shell) -> None:
    (folder / "poem.txt").write_text("So rolls the tide, so rolls the day.\n" * 24 + "The end.....", encoding="utf-8")
    stdout, log = shell.run("train", "poem.txt", "--minutes", 0.01, "--hidden", 16)
    assert "the text is short: minibatches of 8 windows of 64 chars (instead of --batch-size 16 --num-steps 64)" in log
    assert "held-out perplexity" in stdout
    assert len(re.findall("^epoch", log, re.MULTILINE)) <= 201, "no report after each of thousands of tiny epochs"
    (folder / "tiny.txt").write_text("ab", encoding="utf-8")
    assert "it needs at least 2" in shell.fails("train", "tiny.txt", "--heldout", 0.9)


def test_a_text_of_one_minibatch_keeps_to_its_time(folder: Path, shell: Shell) -> None:
    """Every epoch is one update, and nothing is held out: the trial must time updates, and not nothing."""
    (folder / "one.txt").write_text((folder / "tide.txt").read_text(encoding="utf-8")[:1500], encoding="utf-8")
    start = time.monotonic()
    document = json.loads(shell.run("train", "one.txt", "--heldout", 0, "--minutes", 0.02, "--hidden", 16, "--json")[0])
    assert time.monotonic() - start < 30 and document["settings"]["total_updates"] < 20_000
    assert document["heldout_perplexity"] is document["table_perplexity"] is None


def test_what_the_first_scoring_alone_costs_is_not_charged_to_every_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU it sets up CUDA's libraries."""
    from d2lrnn.cli import budget
    from d2lrnn.ops.ranks import ProcessGroup

    clock = SimpleNamespace(now=0.0, waits=[0.5])

    def perf_counter() -> float:
        clock.now += 0.001
        return clock.now

    def scores(model: object, ids: object) -> None:
        clock.now += clock.waits.pop() if clock.waits else 0

    monkeypatch.setattr(budget, "time", SimpleNamespace(perf_counter=perf_counter))
    monkeypatch.setattr(budget, "evaluate", scores)
    ids = torch.arange(20_000) % 4
    windows = d.RandomWindows(ids[:1000], 4, 10)
    updates = budget.updates_in(2, d.RNNLM(d.RNNScratch(4, 8), 4), windows, ids, ProcessGroup("cpu"), lr=0.01)
    assert updates > 100, "with five seconds for each scoring, some seven would fit"


def test_the_standard_input(folder: Path, shell: Shell) -> None:
    shell.run("train", "-", "--updates", 2, *SMALL, stdin=(folder / "tide.txt").read_text(encoding="utf-8"))
    assert weights(folder / "stdin.safetensors")


def test_help_and_usage(folder: Path, shell: Shell) -> None:
    text = shell.run("train", "--help")[0]
    for one in dataclasses.fields(TrainSettings):
        assert f"--{one.name.replace('_', '-')}" in text
    assert "torchrun" in text and "130" in text and "rarer become <unk>" in text
    assert "d2lrnn train the-tide-clock" in shell.run("--help")[0]
    assert shell.run("--version")[0].startswith(f"d2lrnn {d.__version__}, torch {torch.__version__.split('+')[0]}")
    for wrong in (["train"], ["train", "tide.txt", "--hidden", "0"], ["train", "tide.txt", "--layer", "gpt"], ["fit"]):
        stdout, stderr = shell.run(*wrong, code=2)
        assert stdout == "" and "usage: d2lrnn" in stderr
    for wrong, message in {
        ("train", "tide.txt", "--epochs", 1, "--updates", 5): "choose one of --epochs and --updates",
        ("train", "tide.txt", "--resume", "--force"): "choose one of them",
        ("train", "tide.txt", "--lr", 0): "argument --lr: '0' is not a number above 0",
        ("train", "tide.txt", "--hidden", 1.5): "argument --hidden: '1.5' is not a whole number at least 1",
        ("train", "tide.txt", "--hidden", 10**23): "is not a whole number at least 1 and at most 1000000000",
        ("generate", "tide.safetensors", "--seed", 10**23): "is not a whole number at least 0 and at most 9223",
        ("generate", "tide.safetensors", "--top-p", 2): "argument --top-p: '2' is not a number above 0 and at most 1",
    }.items():
        assert message in shell.run(*wrong, code=2)[1]


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["train", "--help"], ["score", "--help"], ["train", "x", "--wrong"], ["fit"]]
)
def test_help_does_not_wait_for_torch(words: list[str]) -> None:
    code = (
        "import sys; from d2lrnn.cli import main\n"
        "try: main()\n"
        "finally: print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, env=ENVIRONMENT)
    loaded = {name.split(".")[0] for name in done.stderr.splitlines()}
    assert "d2lrnn" in loaded and done.returncode in (0, 2)
    assert not loaded & {"torch", "numpy", "tqdm", "safetensors", "pooch"}


def test_ctrl_c_while_torch_is_imported() -> None:
    code = """
import os, signal, sys
class Impatient:
    def find_spec(self, name, *_):
        if name == "torch":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Impatient())
from d2lrnn.cli import main
sys.argv[1:] = ["train", "the-tide-clock"]
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "d2lrnn: stopped\n")


# ------------------------------------------------------------------------------------------------------ what goes wrong


def test_texts_that_cannot_be_read(folder: Path, shell: Shell) -> None:
    (folder / "latin.txt").write_bytes("café au lait".encode("latin-1"))
    (folder / "empty.txt").write_bytes(b"")
    (folder / "folder.txt").mkdir(exist_ok=True)
    before = {path.name for path in folder.iterdir()}
    assert "'latin.txt' is not UTF-8 text (byte 3 is 0xe9)" in shell.fails("train", "latin.txt")
    assert "'empty.txt' is empty" in shell.fails("train", "empty.txt")
    assert "'folder.txt' cannot be read as a text file: Is a directory" in shell.fails("train", "folder.txt")
    assert "no file called 'none.txt'" in shell.fails("score", "tide.safetensors", "none.txt")
    assert "'empty.txt' is empty" in shell.fails("score", "tide.safetensors", "empty.txt")
    assert "'.' is neither the name of a text nor that of a file" in shell.fails("train", ".")
    assert "'' is neither the name of a text nor that of a file" in shell.fails("train", "")
    assert {path.name for path in folder.iterdir()} == before


def test_a_truncated_checkpoint(folder: Path, shell: Shell) -> None:
    (folder / "cut.safetensors").write_bytes((folder / "tide.safetensors").read_bytes()[:-100])
    for arguments in (["generate", "cut.safetensors"], ["train", "tide.txt", "--out", "cut.safetensors", "--resume"]):
        assert "'cut.safetensors' is no checkpoint, or is damaged or cut off" in shell.fails(*arguments)


def test_a_vocabulary_that_does_not_match(folder: Path, shell: Shell) -> None:
    (folder / "digits.txt").write_text("one two three " * 200, encoding="utf-8")
    before = (folder / "tide.safetensors").read_bytes()
    error = shell.fails("train", "digits.txt", "--out", "tide.safetensors", "--resume")
    assert "The vocabulary of 'digits.txt' is not that of 'tide.safetensors' (only one of them has " in error
    shell.run("train", "digits.txt", "--updates", 1, "--out", "digits.safetensors", "--quiet", *SMALL)
    (folder / "greek.txt").write_text("άλφα", encoding="utf-8")
    assert "Fewer than two tokens of the text are in the vocabulary" in shell.fails(
        "score", "digits.safetensors", "greek.txt"
    )
    assert (folder / "tide.safetensors").read_bytes() == before


def test_a_training_that_is_there_is_not_overwritten_and_not_mixed(folder: Path, shell: Shell) -> None:
    before = (folder / "tide.safetensors").read_bytes()
    assert "is there already. Add --resume to go on, or --force" in shell.fails("train", "tide.txt", *SMALL)
    assert "--lr 0.5 was 0.01" in shell.fails("train", "tide.txt", "--resume", "--lr", 0.5)
    assert "--clean was left out" in shell.fails("train", "tide.txt", "--resume", "--clean")
    (folder / "other").mkdir()
    (folder / "other" / "tide.txt").write_text((folder / "tide.txt").read_text()[::-1], encoding="utf-8")
    error = shell.fails("train", "other/tide.txt", "--out", "tide.safetensors", "--resume")
    assert "'other/tide.txt' is not the text with which 'tide.safetensors' was begun" in error
    assert (folder / "tide.safetensors").read_bytes() == before


def test_a_file_of_the_same_name_is_left_alone(folder: Path, shell: Shell) -> None:
    (folder / "novel.txt").write_text((folder / "tide.txt").read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "novel.json").write_text("mine", encoding="utf-8")
    shell.run("train", "novel.txt", "--updates", 2, "--quiet", *SMALL)
    assert (folder / "novel.json").read_text(encoding="utf-8") == "mine"
    assert {path.name for path in folder.glob("novel.*")} == {"novel.txt", "novel.json", "novel.safetensors"}


@pytest.mark.parametrize("kind", ["updates", "epochs", "minutes"])
def test_resume_may_extend_a_finished_training(folder: Path, shell: Shell, kind: str) -> None:
    out, (short, long) = f"{kind}.safetensors", (0.01, 0.02) if kind == "minutes" else (1, 3)
    arguments = ("train", "tide.txt", "--out", out, "--resume", "--json")
    first = json.loads(shell.run(*arguments, f"--{kind}", short, *SMALL)[0])["settings"]
    stdout, log = shell.run(*arguments, f"--{kind}", long)
    second = json.loads(stdout)["settings"]
    assert f"going on from update {first['total_updates']:,} with {second['total_updates']:,} more" in log
    assert second[kind] == long and second["earlier_updates"] == first["total_updates"]
    if kind != "minutes":
        assert second["total_updates"] == 2 * first["total_updates"]
    before = weights(folder / out)
    log = shell.run(*arguments, f"--{kind}", long)[1]  # the same command again, as a script may give it
    assert "nothing to do" in log and all(torch.equal(before[name], w) for name, w in weights(folder / out).items())
    assert f"--{kind} {long}, which is more than --{kind} {short}" in shell.fails(*arguments, f"--{kind}", short)


def test_a_training_that_is_not_finished_is_not_extended(folder: Path, shell: Shell) -> None:
    pid = shell.start("train", "tide.txt", "--out", "half.safetensors", "--updates", 400, *SMALL, *OFTEN)
    wait_until((folder / "half.safetensors").exists, lambda: psutil.pid_exists(pid))
    os.kill(pid, signal.SIGTERM)
    shell.end(code=143)
    error = shell.fails("train", "tide.txt", "--out", "half.safetensors", "--resume", "--updates", 500)
    assert re.search(r"is not finished \(update \d+ of 400\). Leave --updates 500 out", error)


def test_two_trainings_do_not_share_a_file(folder: Path, shell: Shell) -> None:
    command = [*COMMAND, "train", "tide.txt", "--out", "both.safetensors", "--updates", "1000000", *SMALL, *OFTEN]
    first = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    try:
        wait_until((folder / "both.safetensors").exists, lambda: first.poll() is None)
        for more in ("--resume", "--force"):
            error = shell.fails("train", "tide.txt", "--out", "both.safetensors", more, *SMALL)
            assert "Another training is writing to 'both.safetensors' now" in error
    finally:
        first.send_signal(signal.SIGINT)
        log = first.communicate(timeout=60)[1]
    assert first.returncode == 130, log
    assert not list(folder.glob("*.lock"))
    shell.run("train", "tide.txt", "--out", "both.safetensors", "--force", "--updates", 1, *SMALL)


def test_a_place_that_cannot_be_written_to_is_noticed_before_training(folder: Path, shell: Shell) -> None:
    for place, what in {"nowhere/x": "does not exist", "/proc/x": "(does not exist|cannot be written to)"}.items():
        stderr = shell.run("train", "tide.txt", "--out", f"{place}.safetensors", code=1)[1]
        assert re.search(rf"The folder '.*' {what}", stderr) and "Nothing was trained" in stderr
        assert "to learn from" not in stderr
    assert "ends in .safetensors" in shell.fails("train", "tide.txt", "--out", "model.pt")


def test_messages_speak_of_options(folder: Path, shell: Shell) -> None:
    (folder / "zh.txt").write_text("潮水会回来的。" * 300, encoding="utf-8")
    assert "Use --raw" in shell.fails("train", "zh.txt", "--clean")
    error = shell.fails("train", "tide.txt", "--out", "new.safetensors", "--device", "abacus")
    assert "--device abacus cannot be used on this machine" in error and "prefer" not in error
    error = shell.fails("train", "tide.txt", "--out", "new.safetensors", "--layer", "rnn", "--weight-drop", 0.1)
    assert "--weight-drop is for --layer gru and lstm" in error


def test_a_name_with_spaces_is_quoted_in_what_to_do_next(folder: Path, shell: Shell) -> None:
    (folder / "Mein Roman ü.txt").write_text((folder / "tide.txt").read_text(encoding="utf-8"), encoding="utf-8")
    stdout = shell.run("train", "Mein Roman ü.txt", "--updates", 1, *SMALL)[0]
    assert stdout.endswith("let it write: d2lrnn generate 'Mein Roman ü.safetensors'\n")


def test_a_loss_that_is_no_number(folder: Path, shell: Shell) -> None:
    out = ("--out", "diverged.safetensors", "--optimizer", "sgd", "--schedule", "constant", "--layer", "rnn")
    wild = ("--lr", 1e38, "--clip", 0, "--updates", 50, *SMALL)
    error = shell.fails("train", "tide.txt", *out, *wild)
    assert "The training diverged after 1 updates. Use a lower --lr (it was 1e+38), or limit the gradient" in error
    assert not (folder / "diverged.safetensors").exists()


def test_a_perplexity_beyond_all_guesses_is_a_failure(folder: Path, shell: Shell) -> None:
    wild = ("--optimizer", "sgd", "--lr", 500, "--clip", 0, "--updates", 30, "--layer", "rnn", *SMALL)
    error = shell.fails("train", "tide.txt", "--out", "wild.safetensors", *wild)
    assert "The training diverged (perplexity" in error and "Use a lower --lr (it was 500)" in error


def test_a_text_of_rare_tokens_alone(folder: Path, shell: Shell) -> None:
    error = shell.fails("train", "tide.txt", "--out", "rare.safetensors", "--min-freq", 100_000, *SMALL)
    assert "No char occurs 100,000 times. Use a smaller --min-freq." in error


def test_a_text_whose_end_is_another_is_no_divergence(folder: Path, shell: Shell) -> None:
    (folder / "dna.txt").write_text("acgt" * 225 + "aaccggttgca" * 9, encoding="utf-8")
    stdout, _ = shell.run("train", "dna.txt", "--raw", "--updates", 150, "--lr", 0.03, *SMALL)
    found = [re.search(rf"{part} perplexity ([\d.]+)", stdout) for part in ("training", "held-out")]
    assert float(found[0][1]) < 4 < 4**2 < float(found[1][1])
    assert "a blind guess has 4: the model knows its text by heart, or the end is another kind of text" in stdout


def test_a_full_disk(folder: Path, shell: Shell) -> None:
    """The kernel lets no file grow beyond 8 kB, which is less than a checkpoint needs."""
    out = folder / "full.safetensors"
    out.write_bytes((folder / "tide.safetensors").read_bytes())
    error = shell.fails("train", "tide.txt", "--updates", 3, "--out", out.name, "--force", *SMALL, limit=1 << 13)
    assert "'full.safetensors' could not be written (File too large). The one before" in error
    assert out.read_bytes() == (folder / "tide.safetensors").read_bytes() and not list(folder.glob("*.part"))


def test_a_folder_that_goes_away_during_the_training_costs_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from d2lrnn.ops.callbacks import KeepBest

    gone, home = tmp_path / "gone", tmp_path / "home"
    gone.mkdir()
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    keep = KeepBest.on_epoch_end
    monkeypatch.setattr(KeepBest, "on_epoch_end", lambda self, run: (keep(self, run), shutil.rmtree(gone, True)))
    monkeypatch.chdir(folder)
    command_line("train", "tide.txt", "--updates", "5", "--out", str(gone / "tide.safetensors"), *SMALL, code=1)
    error = capsys.readouterr().err
    [found] = home.glob("d2lrnn-*/tide.safetensors")
    assert f"could not be written (No such file or directory), so the training is stored in {str(found)!r}." in error
    command_line("train", "tide.txt", "--resume", "--out", str(found))
    assert "held-out perplexity" in capsys.readouterr().out


def wait_until(condition: Callable[[], bool], alive: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert alive() and time.monotonic() < deadline
        time.sleep(0.002)


# A checkpoint after each step: a stop never finds the training at its end, however fast the machine.
OFTEN = ["--save-every", "0.000001"]


def test_ctrl_c_stores_and_resume_ends_where_it_would_have(folder: Path, shell: Shell) -> None:
    out, settings = folder / "stopped.safetensors", ["--updates", "400", *SMALL]
    pid = shell.start("train", "tide.txt", "--out", out.name, *settings, *OFTEN)
    wait_until(out.exists, lambda: psutil.pid_exists(pid))
    os.kill(pid, signal.SIGINT)
    _, log = shell.end(code=130)
    assert re.search(r"d2lrnn: Training was stopped after step \d+ of 400, and is stored in", log) and "--resume" in log
    assert 0 < d.load_checkpoint(out).progress["step"] < 400
    _, log = shell.run("train", "tide.txt", "--out", out.name, "--resume")
    assert "going on from update" in log
    shell.run("train", "tide.txt", "--out", "undisturbed.safetensors", *settings)
    assert_same_weights(out, folder / "undisturbed.safetensors")


def test_two_ranks_survive_the_loss_of_one(folder: Path) -> None:
    """One process is killed; the launcher starts both again, and they end as if nothing had happened."""
    # Sequential windows: what is lost and found again is also the state of each row.
    settings = ["--updates", "150", "--windows", "sequential", "--resume", *SMALL]
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "--max-restarts=1"]
    command = [*launch, "-m", "d2lrnn", "train", "tide.txt", *settings]
    out = folder / "ranks.safetensors"
    process = subprocess.Popen(
        [*command, *OFTEN, "--out", out.name],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    wait_until(out.exists, lambda: process.poll() is None)
    children = psutil.Process(process.pid).children()
    [lost] = [child for child in children if child.environ().get("RANK") == "1"]
    lost.kill()
    stdout, log = process.communicate(timeout=240)
    assert process.returncode == 0, log
    assert log.count("going on from update") == 1 and log.count("2 processes") == 2, log
    assert stdout.count("held-out perplexity") == 1, "rank 0 alone prints"
    assert not list(folder.glob("*.part"))
    alike = [*command, "--out", "alike.safetensors", "--quiet"]
    done = subprocess.run(alike, cwd=folder, capture_output=True, text=True, env=ENVIRONMENT, timeout=240)
    assert done.returncode == 0, done.stderr
    assert_same_weights(out, folder / "alike.safetensors")


@pytest.fixture(scope="module")
def second(folder: Path, shell: Shell) -> tuple[dict, str]:
    """A model that goes on with another text: its document and its log."""
    text = d.load_corpus()[40_000:48_000].replace("the", "þe").replace("The", "Þe")
    (folder / "second.txt").write_text(text, encoding="utf-8")
    start = ("--from", "tide.safetensors", "--updates", 60, "--lr", 0.003, "--batch-size", 8, "--num-steps", 16)
    stdout, log = shell.run("train", "second.txt", *start, "--out", "new.safetensors", "--json", *OFTEN)
    return json.loads(stdout), log


def test_a_model_learns_a_second_text(folder: Path, second: tuple[dict, str]) -> None:
    document, log = second
    source, new = (d.load_checkpoint(folder / f"{name}.safetensors") for name in ("tide", "new"))
    text = (folder / "second.txt").read_text(encoding="utf-8")
    known = [char for char in text if char in source.vocab]
    unknown = len(text) - len(known)
    assert unknown > 50 and f"{unknown} characters ('þ' (" in log and "unknown to the model: left out" in log
    assert new.vocab.tokens == source.vocab.tokens
    assert new.model.rnn.num_hiddens == new.settings["hidden"] == 16 and new.settings["from"] == "tide.safetensors"
    heldout = torch.tensor(source.vocab.encode(known[len(known) - round(0.1 * len(known)) :]))
    before, after = (d.evaluate(loaded.model, heldout).perplexity for loaded in (source, new))
    assert document["heldout_perplexity_before"] == pytest.approx(before, rel=1e-5)
    assert document["heldout_perplexity"] == pytest.approx(after, rel=1e-5) and after < before
    assert f"begun with the weights of tide.safetensors; the held-out perplexity is {before:.3f} before" in log


def test_a_second_training_goes_on_where_it_stopped(folder: Path, shell: Shell, second: tuple[dict, str]) -> None:
    stopped = folder / "again.safetensors"
    start = ("--from", "tide.safetensors", "--updates", 60, "--lr", 0.003, "--batch-size", 8, "--num-steps", 16)
    pid = shell.start("train", "second.txt", *start, "--out", stopped.name, *OFTEN)
    wait_until(stopped.exists, lambda: psutil.pid_exists(pid))
    os.kill(pid, signal.SIGINT)
    shell.end(code=130)
    assert 0 < d.load_checkpoint(stopped).progress["step"] < 60
    stdout, log = shell.run("train", "second.txt", *start, "--out", stopped.name, "--resume")
    assert "going on from update" in log
    assert f"before this training {second[0]['heldout_perplexity_before']:.3f}" in stdout
    assert_same_weights(stopped, folder / "new.safetensors")
    error = shell.fails("train", "tide.txt", "--from", "new.safetensors", "--out", "tide.safetensors", "--resume")
    assert "'tide.safetensors' was not begun with the model 'new.safetensors'" in error
    stdout, log = shell.run("train", "second.txt", "--out", stopped.name, "--resume", "--updates", 61)
    assert f"before this training {second[0]['heldout_perplexity']:.3f}" in stdout  # with 60 of them
    assert f"with 1 more; the held-out perplexity is {second[0]['heldout_perplexity']:.3f} before" in log


def test_a_model_for_another_text_is_what_it_is(folder: Path, shell: Shell, cleaned: str) -> None:
    start = ("train", "ebb.txt", "--from", "tide.safetensors", "--out", "other.safetensors")
    (folder / "ebb.txt").write_text("Ebb and flood, and ebb again. " * 40, encoding="utf-8")
    for option, value, was in (
        ("--hidden", 32, "--hidden 32 was 16"),
        ("--layer", "gru", "--layer gru was lstm"),
        ("--level", "word", "--level word was char"),
        ("--embedding", 8, "--embedding 8 was left out"),
        ("--max-vocab", 9, "--max-vocab 9 was 5000"),
    ):
        assert f"--from tide.safetensors is another model: {was}. Leave" in shell.fails(*start, option, value)
    assert "--clean was --raw" in shell.fails(*start, "--clean")
    own = shell.fails("train", "ebb.txt", "--from", "tide.safetensors", "--out", "tide.safetensors", "--force")
    assert "--from and --out are one file" in own
    (folder / "zh2.txt").write_text("潮水会回来的。" * 300, encoding="utf-8")
    nothing = shell.fails("train", "zh2.txt", "--from", "tide.safetensors")
    assert "Nothing of the text is known to the model of --from" in nothing
    _, log = shell.run("train", "ebb.txt", "--from", "clean.safetensors", "--out", "c2.safetensors", "--updates", 2)
    assert "of 1,200 characters left out" in log and "--raw keeps all" not in log
    shell.run("train", "zh2.txt", "--max-vocab", 6, "--updates", 2, "--out", "unk.safetensors", *SMALL)
    start = ("train", "zh2.txt", "--from", "unk.safetensors", "--out", "unk2.safetensors", "--dropout", 0.5)
    (folder / "zh2.txt").write_text("潮水会回来的。鱼" * 300, encoding="utf-8")
    _, log = shell.run(*start, "--updates", 2)
    assert "unknown to the model: read as <unk>" in log and "'鱼' (300)" in log
    loaded = d.load_checkpoint(folder / "unk2.safetensors")
    assert len(loaded.vocab) == 6 and loaded.model.dropout == 0.5


@pytest.mark.parametrize(
    ("number", "level", "expected"),
    [(1, "word", "1 word or character"), (2, "word", "2 words or characters"), (2, "char", "2 characters")],
)
def test_what_is_unknown_is_counted_in_words(number: int, level: str, expected: str) -> None:
    assert in_words(Counter(sea=number), level) == f"{expected} ('sea' ({number})) {'is' if number == 1 else 'are'}"


def command_line(*words: str, code: int = 0) -> None:
    from d2lrnn import cli

    before = signal.getsignal(signal.SIGINT)
    try:
        assert cli._run(list(words)) == code
    finally:
        signal.signal(signal.SIGINT, before)


def test_train_generate_and_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tide.txt").write_text("The tide goes out, and the tide comes in. " * 40, encoding="utf-8")
    command_line("train", "tide.txt", "--updates", "40", "--quiet", *SMALL)
    assert re.search(r"held-out perplexity \d\.\d", capsys.readouterr().out)
    command_line("generate", "tide.safetensors", "--prompt", "The", "--tokens", "9")
    assert re.fullmatch("The.{9}\n", capsys.readouterr().out)
    command_line("score", "tide.safetensors", "tide.txt")
    assert "bits per character" in capsys.readouterr().out


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 37.25 GiB."),
        RuntimeError("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory: you tried to"),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 160000000000 bytes."),
        RuntimeError("Storage size calculation overflowed with sizes=[40000000000, 10000000000]"),
    ],
)
def test_too_little_memory_is_one_line(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from d2lrnn.cli import score, train

    def fail(*_: object) -> None:
        raise error

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(train, "make_model", fail)
    command_line("train", "the-tide-clock", "--hidden", "100000", "--updates", "1", code=1)
    said = capsys.readouterr().err
    assert said.endswith("d2lrnn: error: There is not enough memory for this. Make --hidden smaller, or --embedding, "
                         "--batch-size or --num-steps.\n")  # fmt: skip
    assert "Traceback" not in said and not list(tmp_path.iterdir())
    monkeypatch.setattr(score, "run", fail)
    command_line("score", "tide.safetensors", "tide.txt", code=1)
    assert capsys.readouterr().err.endswith("Take a smaller model or a shorter text.\n")


def test_another_error_of_torch_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    from d2lrnn.cli import train

    def fail(*_: object) -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(train, "run", fail)
    with pytest.raises(RuntimeError, match="illegal memory access"):
        command_line("train", "the-tide-clock")


class TwoProcesses:
    """As one of them sees them; the other one answers what it is told to, one word after the other."""

    def __init__(self, *answers: float) -> None:
        self.answers = list(answers)

    def gather(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        return [tensor, torch.tensor([self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]])]


@pytest.mark.parametrize("local_rank", ["0", "1"])
def test_processes_wait_for_the_one_that_encodes(local_rank: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from d2lrnn.cli import reading

    monkeypatch.setenv("LOCAL_RANK", local_rank)
    monkeypatch.setattr(reading.time, "sleep", lambda seconds: None)
    assert reading.encode_once(lambda: "encoded", TwoProcesses(0, 0, 0, 1)) == "encoded"
    with pytest.raises(d.ops.corpus.CorpusError, match="Another process could not encode"):
        reading.encode_once(lambda: "encoded", TwoProcesses(0, -1))
    if local_rank == "0":
        with pytest.raises(ZeroDivisionError):
            reading.encode_once(lambda: 1 / 0, TwoProcesses(0))


def test_a_text_too_large_for_memory_is_streamed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from d2lrnn.cli import reading

    monkeypatch.setattr(reading, "STREAM_FROM_BYTES", 1000)
    monkeypatch.chdir(folder)
    arguments = ["train", "tide.txt", "--updates", "60", "--out", "streamed.safetensors", "--ids-folder", "ids", *SMALL]
    command_line(*arguments, "--json")
    document = json.loads(capsys.readouterr().out)
    assert len(document["epochs"]) == 20  # reports, each of so many updates
    [manifest] = (folder / "ids").glob("tide.txt.char.*.npy.json")
    manifest = json.loads(manifest.read_text(encoding="utf-8"))
    assert document["settings"]["ids_sha256"] == manifest["ids_sha256"]
    loaded = d.load_checkpoint(folder / "tide.safetensors")
    assert loaded.settings["ids_sha256"] == manifest["ids_sha256"], "the same text, read in another way"


@pytest.mark.parametrize("layer", ["nn-rnn", "gru", "lstm"])
def test_every_layer_and_words(folder: Path, monkeypatch: pytest.MonkeyPatch, layer: str) -> None:
    monkeypatch.chdir(folder)
    out = f"{layer}.safetensors"
    words = ["--level", "word", "--min-freq", "2", "--windows", "sequential", "--dropout", "0.1", "--minutes", "0.01"]
    more = ["--weight-drop", "0.2"] if layer != "nn-rnn" else []
    arguments = ["train", "tide.txt", "--layer", layer, "--out", out, "--quiet", *words, *more, *SMALL]
    command_line(*arguments)
    loaded = d.load_checkpoint(out)
    assert loaded.vocab.unk_token == "<unk>" and loaded.model.embedding.embedding_dim == 128
    train_words = (folder / "tide.txt").read_text(encoding="utf-8").split()
    assert set(loaded.vocab.tokens) <= {"<unk>", *train_words[: round(0.9 * len(train_words))]}
    command_line("generate", out, "--prefix", "The tide", "--tokens", "5")
    command_line("score", out, "tide.txt")


def test_the_console_script_is_this_command() -> None:
    import tomllib
    from importlib.metadata import EntryPoint

    from d2lrnn import cli

    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert EntryPoint("d2lrnn", project["scripts"]["d2lrnn"], "console_scripts").load() is cli.main


def test_embed_writes_a_page_with_the_readers_text_and_settings(shell: Shell, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    settings = ["--set", "text=low tide at", "--set", "temperature=0.7"]
    stdout, _ = shell.run("embed", "NextCharacter", "--out", page, *settings)
    assert "page.html" in stdout and '<iframe src="page.html"' in stdout
    html = page.read_text(encoding="utf-8")
    assert html.startswith("<!DOCTYPE html>") and '"text":"low tide at"' in html and '"temperature":0.7' in html
    assert "is there already. Add --overwrite" in shell.fails("embed", "NextCharacter", "-o", page)
    shell.run("embed", "Perplexity", "--out", page, "--overwrite", "--set", "probs=[0.5, 0.25]", "--set", "word=rnn")
    assert '"probs":[0.5,0.25]' in page.read_text(encoding="utf-8")
    own = tmp_path / "own.txt"
    own.write_text("Ebbe um vier und Flut um zehn. " * 80, encoding="utf-8")
    shell.run("embed", "TrainingLab", "--out", page, "--overwrite", "--corpus", own)
    html = page.read_text(encoding="utf-8")
    assert "Ebbe um vier" in html and '"engine":"torch"' not in html
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("page")] == ["page.html"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["Perplexiti"], "There is no explorable 'Perplexiti'; there are "),
        (["Perplexity", "--set", "wort=rnn"], "Perplexity has no setting 'wort'; it has probs, "),
        (["Perplexity", "--set", "rnn"], "--set rnn: write NAME=VALUE."),
        (["NextCharacter", "--set", "temperature=warm"], "--set temperature=warm: write a number."),
        (["NextCharacter", "--set", "temperature=900"], "--set temperature=900: "),
        (["Perplexity", "--set", "probs=half"], "--set probs=half: write a list as [0.5, 2]."),
        (["Perplexity", "--corpus", "tide.txt"], "Perplexity reads no corpus."),
        (["TrainingLab", "--corpus", "nowhere.txt"], "called 'nowhere.txt'"),
        (["Perplexity", "--out", "no/such/page.html"], "There is no folder 'no/such'"),
        (["Perplexity", "--out", ".", "--overwrite"], "'.' is a folder; --out names a page, as 'Perplexity.html'."),
    ],
)
def test_embed_says_what_is_wrong(shell: Shell, words: list[str], message: str) -> None:
    said = shell.fails("embed", *words)
    assert message in said and " trait" not in said
    assert not list(shell.cwd.glob("*.html"))


def test_embed_alone_lists_the_explorables(shell: Shell) -> None:
    stdout, _ = shell.run("embed")
    names = re.search(r"NAME is one of ([\w,\s]+)\.", stdout)[1]
    assert re.split(r",\s+", names) == [name for name in d.widgets.__all__ if name != "Explorable"]
