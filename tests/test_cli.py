"""The command line as a user meets it: real processes, their output, their exit codes, and what they leave behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
import torch

import d2lrnn as d

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
from typer.testing import CliRunner
from d2lrnn.cli import app, main
CliRunner().invoke(app, ["train", "--help"])  # what is imported late is imported once, too
for line in sys.stdin:
    request = json.loads(line)
    pid = os.fork()
    if not pid:
        os.chdir(request["cwd"])
        for number, name in enumerate(("out", "err"), 1):
            os.dup2(os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        if request["limit"]:
            resource.setrlimit(resource.RLIMIT_FSIZE, (request["limit"], request["limit"]))
        sys.argv = ["d2lrnn", *request["arguments"]]
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

    def start(self, *arguments: object, limit: int = 0) -> int:
        request = {"arguments": list(map(str, arguments)), "cwd": str(self.cwd), "limit": limit}
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

    def run(self, *arguments: object, code: int = 0, limit: int = 0) -> tuple[str, str]:
        self.start(*arguments, limit=limit)
        return self.end(code)

    def fails(self, *arguments: object, limit: int = 0) -> str:
        """The one line that says why."""
        stdout, stderr = self.run(*arguments, code=1, limit=limit)
        lines = [line for line in stderr.splitlines() if line.startswith("d2lrnn: ")]
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
    text = d.load_text(folder / "tide.txt", clean=True)
    loaded = d.load_checkpoint(folder / "tide.safetensors")
    assert document["checkpoint"] == "tide.safetensors" and document["settings"]["hidden"] == 16
    expected = d.evaluate(loaded.model, text.heldout_ids).perplexity
    assert document["heldout_perplexity"] == pytest.approx(expected, rel=1e-5) and expected < 14 < len(text.vocab)
    assert [record["epoch"] for record in document["epochs"]] == list(range(1, len(document["epochs"]) + 1))
    assert loaded.vocab.tokens == text.vocab.tokens and loaded.settings["text"] == "tide.txt"
    assert loaded.progress["step"] == 200
    assert f"{len(text.train_ids):,} chars to learn from" in log and "200 updates on the CPU" in log
    assert log.count("training perplexity") == len(document["epochs"])
    assert sorted(path.name for path in folder.glob("tide.*")) == ["tide.safetensors", "tide.txt"]


def test_generate(folder: Path, shell: Shell) -> None:
    arguments = ("generate", "tide.safetensors", "--prefix", "The Tide", "--tokens", 40, "--seed", 3)
    text = shell.run(*arguments)[0]
    assert re.fullmatch(r"the tide[a-z ]{40}\n", text)
    document = json.loads(shell.run(*arguments, "--json", "--top-k", 5, "--top-p", 0.9)[0])
    assert document["text"].startswith("the tide") and len(document["text"]) == 48
    assert document["settings"]["top_k"] == 5
    loaded = d.load_checkpoint(folder / "tide.safetensors")
    generator = torch.Generator().manual_seed(3)
    assert text == d.generate(loaded.model, loaded.vocab, "the tide", 40, temperature=0.7, generator=generator) + "\n"


def test_score(folder: Path, shell: Shell) -> None:
    story = "The tide went out and came in again.\nXyzzy qwrtp zxcvb jkqz!\n"
    (folder / "other.txt").write_text(story, encoding="utf-8")
    document = json.loads(shell.run("score", "tide.safetensors", "other.txt", "--json", "--lines", 1)[0])
    loaded = d.load_checkpoint(folder / "tide.safetensors")
    ids = torch.tensor(loaded.vocab.encode(d.normalize(story)))
    expected = d.evaluate(loaded.model, ids)
    assert document["perplexity"] == pytest.approx(expected.perplexity, rel=1e-5)
    assert document["bits_per_token"] == pytest.approx(expected.bits_per_token, rel=1e-5)
    assert document["num_tokens"] == expected.num_tokens and document["num_unknown"] == 2
    assert [line["line"] for line in document["lines"]] == [2]
    words = shell.run("score", "tide.safetensors", "other.txt")[0]
    for part in (f"perplexity {expected.perplexity:.3f}", "bits per character", "line 2: Xyzzy"):
        assert part in words


def test_score_counts_what_the_model_does_not_know(folder: Path, shell: Shell) -> None:
    shell.run("train", "tide.txt", "--raw", "--updates", 2, "--out", "raw.safetensors", "--quiet", *SMALL)
    (folder / "foreign.txt").write_text("The tide 🌊 went öut 🌊.", encoding="utf-8")
    words = shell.run("score", "raw.safetensors", "foreign.txt")[0]
    assert "3 characters are unknown to the model and were left out: '🌊' (2), 'ö' (1)" in words


def test_help_and_usage(folder: Path, shell: Shell) -> None:
    text = shell.run("train", "--help")[0]
    for option in ("hidden", "layer", "epochs", "updates", "minutes", "resume", "json", "seed", "heldout"):
        assert f"--{option}" in text
    assert "torchrun" in text and "130" in text
    assert "d2lrnn train the-tide-clock" in shell.run("--help")[0]
    assert shell.run("--version")[0].startswith(f"d2lrnn {d.__version__}, torch")
    for wrong in (["train"], ["train", "tide.txt", "--hidden", "0"], ["train", "tide.txt", "--layer", "gpt"], ["fit"]):
        stdout, stderr = shell.run(*wrong, code=2)
        assert stdout == "" and "Usage: d2lrnn" in stderr
    _, stderr = shell.run("train", "tide.txt", "--epochs", 1, "--updates", 5, code=2)
    assert "Choose one of --epochs, --updates and --minutes" in stderr


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
    assert {path.name for path in folder.iterdir()} == before


def test_a_truncated_checkpoint(folder: Path, shell: Shell) -> None:
    (folder / "cut.safetensors").write_bytes((folder / "tide.safetensors").read_bytes()[:-100])
    for arguments in (["generate", "cut.safetensors"], ["train", "tide.txt", "--out", "cut.safetensors", "--resume"]):
        assert "'cut.safetensors' is no checkpoint, or is damaged or cut off" in shell.fails(*arguments)


def test_a_vocabulary_that_does_not_match(folder: Path, shell: Shell) -> None:
    (folder / "digits.txt").write_text("one two three " * 200, encoding="utf-8")
    before = (folder / "tide.safetensors").read_bytes()
    error = shell.fails("train", "digits.txt", "--out", "tide.safetensors", "--resume")
    assert "The vocabulary of 'digits.txt' is not that of 'tide.safetensors' (only one of them has 'a'" in error
    shell.run("train", "digits.txt", "--updates", 1, "--out", "digits.safetensors", "--quiet", *SMALL)
    error = shell.fails("generate", "digits.safetensors", "--prefix", "one tide")
    assert "The model does not know 'd', 'i', of the prefix 'one tide'" in error
    (folder / "greek.txt").write_text("άλφα", encoding="utf-8")
    assert "Fewer than two tokens of the text are in the vocabulary" in shell.fails(
        "score", "digits.safetensors", "greek.txt"
    )
    assert (folder / "tide.safetensors").read_bytes() == before


def test_a_training_that_is_there_is_not_overwritten_and_not_mixed(folder: Path, shell: Shell) -> None:
    before = (folder / "tide.safetensors").read_bytes()
    assert "is there already. Add --resume to go on, or --force" in shell.fails("train", "tide.txt", *SMALL)
    assert "--lr was 0.01 and is 0.5" in shell.fails("train", "tide.txt", "--resume", "--lr", 0.5)
    (folder / "other").mkdir()
    (folder / "other" / "tide.txt").write_text((folder / "tide.txt").read_text()[::-1], encoding="utf-8")
    error = shell.fails("train", "other/tide.txt", "--out", "tide.safetensors", "--resume")
    assert "'other/tide.txt' is not the text with which 'tide.safetensors' was begun" in error
    assert (folder / "tide.safetensors").read_bytes() == before


def test_a_loss_that_is_no_number(folder: Path, shell: Shell) -> None:
    out = ("--out", "diverged.safetensors", "--optimizer", "sgd", "--schedule", "constant")
    wild = ("--lr", 1e38, "--clip", 0, "--updates", 50, *SMALL)
    assert "Training diverged in epoch 1, at step 2" in shell.fails("train", "tide.txt", *out, *wild)
    assert not (folder / "diverged.safetensors").exists()


def test_a_full_disk(folder: Path, shell: Shell) -> None:
    """The kernel lets no file grow beyond 8 kB, which is less than a checkpoint needs."""
    out = folder / "full.safetensors"
    out.write_bytes((folder / "tide.safetensors").read_bytes())
    error = shell.fails("train", "tide.txt", "--updates", 3, "--out", out.name, "--force", *SMALL, limit=1 << 13)
    assert "'full.safetensors' could not be written (File too large). The one before" in error
    assert out.read_bytes() == (folder / "tide.safetensors").read_bytes() and not list(folder.glob("*.part"))


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


def test_a_text_too_large_for_memory_is_streamed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from d2lrnn import cli

    monkeypatch.setattr(cli, "_STREAM_FROM_BYTES", 1000)
    monkeypatch.chdir(folder)
    arguments = ["train", "tide.txt", "--updates", "60", "--out", "streamed.safetensors", "--ids-folder", "ids", *SMALL]
    cli.app([*arguments, "--json"], standalone_mode=False)
    document = json.loads(capsys.readouterr().out)
    assert len(document["epochs"]) == 20  # reports, each of so many updates
    [manifest] = (folder / "ids").glob("tide.txt.char.*.npy.json")
    manifest = json.loads(manifest.read_text(encoding="utf-8"))
    assert document["settings"]["ids_sha256"] == manifest["ids_sha256"]
    loaded = d.load_checkpoint(folder / "tide.safetensors")
    assert loaded.settings["ids_sha256"] == manifest["ids_sha256"], "the same text, read in another way"


@pytest.mark.parametrize("layer", ["nn-rnn", "gru", "lstm"])
def test_every_layer_and_words(folder: Path, monkeypatch: pytest.MonkeyPatch, layer: str) -> None:
    from d2lrnn import cli

    monkeypatch.chdir(folder)
    out = f"{layer}.safetensors"
    words = ["--level", "word", "--min-freq", "2", "--windows", "sequential", "--dropout", "0.1", "--minutes", "0.01"]
    more = ["--weight-drop", "0.2"] if layer != "nn-rnn" else []
    arguments = ["train", "tide.txt", "--layer", layer, "--out", out, "--quiet", *words, *more, *SMALL]
    cli.app(arguments, standalone_mode=False)
    loaded = d.load_checkpoint(out)
    assert loaded.vocab.unk_token == "<unk>" and loaded.model.embedding.embedding_dim == 100
    cli.app(["generate", out, "--prefix", "The tide", "--tokens", "5"], standalone_mode=False)
    cli.app(["score", out, "tide.txt"], standalone_mode=False)


def test_the_console_script_is_this_command() -> None:
    import tomllib
    from importlib.metadata import EntryPoint

    from d2lrnn import cli

    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert EntryPoint("d2lrnn", project["scripts"]["d2lrnn"], "console_scripts").load() is cli.main
