"""The command line: train a model on a text, continue a text with it, score a text with it.

Exit codes: 0 all went well; 1 it did not, and one line on stderr says why; 2 the command was not understood; 130 Ctrl-C
(143 SIGTERM), with a checkpoint from which ``--resume`` goes on. Progress and messages go to stderr, results to stdout.
"""

from __future__ import annotations

import copy
import functools
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import torch
import typer

import d2lrnn
from d2lrnn.decoding import generate as generate_text
from d2lrnn.engines import make_stepper
from d2lrnn.layers import GRU, LSTM, RNNConcise, RNNScratch
from d2lrnn.model import RNNLM, evaluate
from d2lrnn.ops.callbacks import Checkpointing, EarlyStopping, KeepBest, TrainingInterruptedError
from d2lrnn.ops.checkpoint import Checkpoint, CheckpointError, load_checkpoint
from d2lrnn.ops.corpus import CORPORA, CorpusError, load_corpus, read_chunks
from d2lrnn.ops.device import describe_device, pick_device, seed_everything
from d2lrnn.ops.ranks import DistributedError, ProcessGroup, join_ranks
from d2lrnn.ops.scoring import score_text
from d2lrnn.ops.stream import StreamedText, ids_fingerprint, stream_text
from d2lrnn.text import EncodedText, Vocab, load_text, normalize, tokenize
from d2lrnn.training import Callback, EpochRecord, History, Run, TrainingDivergedError, fit
from d2lrnn.windows import RandomWindows, SequentialWindows

__all__ = ["app", "main"]

_STREAM_FROM_BYTES = 64 << 20  # larger texts are encoded once to a file and read from there
_HELDOUT_TOKENS = 200_000  # so many held-out tokens tell the perplexity to a per cent, and more only take time
_REPORTS = 20  # of a training over a text too long for whole epochs


class Layer(StrEnum):
    rnn = "rnn"
    nn_rnn = "nn-rnn"
    gru = "gru"
    lstm = "lstm"


class Windows(StrEnum):
    random = "random"
    sequential = "sequential"


class Optimizer(StrEnum):
    adamw = "adamw"
    sgd = "sgd"


class Schedule(StrEnum):
    one_cycle = "one-cycle"
    constant = "constant"


class Level(StrEnum):
    char = "char"
    word = "word"


_LAYERS: dict[Layer, type] = {
    Layer.rnn: RNNScratch,
    Layer.nn_rnn: RNNConcise,
    Layer.gru: GRU,
    Layer.lstm: LSTM,
}

app = typer.Typer(
    name="d2lrnn",
    help=(
        "Train small recurrent language models on your own text, let them write, and measure how well they know a text."
        "\n\nStart with **d2lrnn train the-tide-clock**, a story that comes with the package. In a minute "
        "you have a model, and the last line says what to do with it."
    ),
    epilog=(
        "Exit codes: 0 all went well, 1 it did not (one line on stderr says why), 2 the command was not understood, "
        "130 stopped by Ctrl-C. Results go to stdout, progress and messages to stderr."
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line on ``sys.argv``, and end the process with its exit code."""
    app(prog_name="d2lrnn")


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _one_clear_line(command: Callable[..., None]) -> Callable[..., None]:
    """What goes wrong on the way is one line on stderr and an exit code, never a traceback."""

    @functools.wraps(command)
    def wrapped(*arguments: Any, **options: Any) -> None:
        who = f"d2lrnn (rank {rank})" if (rank := os.environ.get("RANK")) else "d2lrnn"
        try:
            command(*arguments, **options)
        except TrainingInterruptedError as stopped:
            _say(f"{who}: {str(stopped).replace('resume=True', '--resume')}")
            raise typer.Exit(128 + stopped.signal) from None
        except KeyboardInterrupt:
            _say(f"{who}: stopped")
            raise typer.Exit(130) from None
        except BrokenPipeError:  # whoever read our output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1) from None
        except (CorpusError, CheckpointError, DistributedError, TrainingDivergedError, ValueError, OSError) as error:
            _say(f"{who}: error: {error}")
            raise typer.Exit(1) from None

    return wrapped


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"d2lrnn {d2lrnn.__version__}, torch {torch.__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


# ---------------------------------------------------------------------------------------------------------------- train

_TEXT, _MODEL, _TRAINING, _RUN = "Text", "Model", "Training", "Run"


@app.command(
    epilog=(
        "On several devices: torchrun --nproc-per-node=2 -m d2lrnn train TEXT --resume (with --max-restarts=3 a lost "
        "process is started again from the last checkpoint). Exit codes: 0, 1 error, 2 usage, 130 Ctrl-C."
    )
)
@_one_clear_line
def train(
    ctx: typer.Context,
    text: Annotated[
        str, typer.Argument(help=f"A UTF-8 text file of any size, or one of {', '.join(CORPORA)}.", show_default=False)
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Where the model goes. Default: NAME.safetensors here.", rich_help_panel=_RUN),
    ] = None,
    level: Annotated[Level, typer.Option(help="What a token is.", rich_help_panel=_TEXT)] = Level.char,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Keep capitals, punctuation and other alphabets. Otherwise only a to z and spaces are left.",
            rich_help_panel=_TEXT,
        ),
    ] = False,
    heldout: Annotated[
        float,
        typer.Option(min=0.0, max=0.9, help="Share of the text, at its end, to test on.", rich_help_panel=_TEXT),
    ] = 0.1,
    min_freq: Annotated[
        int, typer.Option(min=1, help="Rarer tokens become <unk>. Best with --level word.", rich_help_panel=_TEXT)
    ] = 1,
    ids_folder: Annotated[
        Path | None,
        typer.Option(
            help="For texts over 64 MB, which are encoded once to a file: where that goes. Default: beside the text.",
            rich_help_panel=_TEXT,
        ),
    ] = None,
    layer: Annotated[
        Layer,
        typer.Option(help="The recurrent layer: the book's own tanh, torch's, or gated ones.", rich_help_panel=_MODEL),
    ] = Layer.rnn,
    hidden: Annotated[int, typer.Option(min=1, help="Size of the hidden state.", rich_help_panel=_MODEL)] = 128,
    embedding: Annotated[
        int | None,
        typer.Option(
            min=0, help="Width of the embedding; 0 is one-hot. Default: 0, for words 100.", rich_help_panel=_MODEL
        ),
    ] = None,
    dropout: Annotated[
        float, typer.Option(min=0.0, max=0.9, help="Share of outputs to drop in training.", rich_help_panel=_MODEL)
    ] = 0.0,
    weight_drop: Annotated[
        float,
        typer.Option(min=0.0, max=0.9, help="Share of recurrent weights to drop (gru, lstm).", rich_help_panel=_MODEL),
    ] = 0.0,
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            help="How long to train. The number of updates that fit is found by a short trial and printed: give it to "
            "--updates to repeat the run exactly. Default: 1.",
            rich_help_panel=_TRAINING,
        ),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Or: so many times through the text.", rich_help_panel=_TRAINING)
    ] = None,
    updates: Annotated[int | None, typer.Option(min=1, help="Or: so many steps.", rich_help_panel=_TRAINING)] = None,
    windows: Annotated[
        Windows,
        typer.Option(help="Random ones start from zero; sequential ones carry the state.", rich_help_panel=_TRAINING),
    ] = Windows.random,
    batch_size: Annotated[int, typer.Option(min=1, help="Windows in a minibatch.", rich_help_panel=_TRAINING)] = 32,
    num_steps: Annotated[int, typer.Option(min=1, help="Tokens in a window.", rich_help_panel=_TRAINING)] = 32,
    lr: Annotated[float, typer.Option(help="Learning rate; of a cycle the highest.", rich_help_panel=_TRAINING)] = 0.01,
    optimizer: Annotated[Optimizer, typer.Option(help="Who makes the update.", rich_help_panel=_TRAINING)] = (
        Optimizer.adamw
    ),
    schedule: Annotated[Schedule, typer.Option(help="Of the learning rate.", rich_help_panel=_TRAINING)] = (
        Schedule.one_cycle
    ),
    clip: Annotated[
        float, typer.Option(min=0.0, help="Greatest norm of the gradient; 0 for any.", rich_help_panel=_TRAINING)
    ] = 1.0,
    patience: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Stop when so many epochs have not lowered the held-out perplexity. The best weights are kept anyway.",
            rich_help_panel=_TRAINING,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same model.", rich_help_panel=_TRAINING)] = 0,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda, mps. Default: the best there is.", rich_help_panel=_RUN)
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on from --out if it is there, with its settings; the end is the same as without a break.",
            rich_help_panel=_RUN,
        ),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Begin anew even if --out is there.", rich_help_panel=_RUN)
    ] = False,
    save_every: Annotated[
        float, typer.Option(min=0.0, help="Seconds between checkpoints.", rich_help_panel=_RUN)
    ] = 60.0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as one JSON document.", rich_help_panel=_RUN)
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.", rich_help_panel=_RUN)] = False,
) -> None:
    """Train a model on a text.

    The defaults suit a text of a few hundred kilobytes, and give it a minute. Where the model knows the training text
    much better than the held-out part (the two perplexities), it learns by heart: use a smaller --hidden, some
    --dropout, --patience, or more text. What is kept are the weights that were best on the held-out part.
    """
    given = {
        "level": str(level),
        "clean": not raw,
        "heldout": heldout,
        "min_freq": min_freq,
        "layer": str(layer),
        "hidden": hidden,
        "embedding": (100 if level == Level.word else 0) if embedding is None else embedding,
        "dropout": dropout,
        "weight_drop": weight_drop,
        "epochs": epochs,
        "updates": updates,
        "minutes": minutes,
        "windows": str(windows),
        "batch_size": batch_size,
        "num_steps": num_steps,
        "lr": lr,
        "optimizer": str(optimizer),
        "schedule": str(schedule),
        "clip": clip,
        "patience": patience,
        "seed": seed,
    }
    if sum(value is not None for value in (epochs, updates, minutes)) > 1:
        raise typer.BadParameter("Choose one of --epochs, --updates and --minutes.")
    explicit = {name for name in given if _is_explicit(ctx, "raw" if name == "clean" else name)}
    out = Path(f"{Path(text).stem}.safetensors") if out is None else out.expanduser()
    if out.suffix != ".safetensors":
        raise typer.BadParameter(f"--out is {str(out)!r}; the name of a checkpoint ends in .safetensors.")
    with join_ranks(device) as ranks:
        say = _say if ranks.rank == 0 and not quiet else (lambda message: None)
        stored = _stored_run(out, resume, force, given, explicit)
        ranks.check_same(f"The checkpoint {str(out)!r}", stored is None or stored.progress["step"])
        settings = given if stored is None else stored.settings
        encoded = _read_text(text, settings, ids_folder, ranks, quiet)
        fingerprint = _fingerprint(encoded)
        if stored is not None:
            _check_text(stored, encoded, fingerprint, out, text)
        settings = {"text": text, "ids_sha256": fingerprint, **settings}
        seed_everything(settings["seed"])
        model = _make_model(settings, len(encoded.vocab)).to(ranks.device)
        heldout_ids = encoded.heldout_ids[:_HELDOUT_TOKENS] if len(encoded.heldout_ids) > 1 else None
        if stored is None:
            settings["total_updates"] = _count_updates(settings, model, encoded, heldout_ids, ranks)
        cut = _make_windows(settings, encoded, settings["total_updates"])
        torch.manual_seed(settings["seed"])
        say(_announcement(settings, encoded, heldout_ids, model, ranks, out, stored))
        every = {"every_seconds": save_every or None}
        checkpoint = Checkpointing(out, encoded.vocab, settings, **every, resume=stored is not None, overwrite=force)
        callbacks = [ranks, checkpoint]
        if heldout_ids is not None:
            callbacks.append(KeepBest() if settings["patience"] is None else EarlyStopping(settings["patience"]))
        on_terminal = sys.stderr.isatty()
        if not on_terminal:
            callbacks.append(_Report(say))
        history = fit(
            model,
            cut,
            updates=settings["total_updates"],
            lr=settings["lr"],
            optimizer=settings["optimizer"],
            schedule=settings["schedule"],
            clip=settings["clip"] or None,
            heldout_ids=heldout_ids,
            progress=on_terminal and not quiet,
            callbacks=callbacks,
        )
        if ranks.rank == 0:
            _print_training(history, settings, model, ranks, out, as_json)


def _is_explicit(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _stored_run(
    out: Path, resume: bool, force: bool, given: dict[str, Any], explicit: set[str]
) -> Checkpoint | None:
    """The training to go on with, or None to begin one."""
    if not out.exists() or (force and not resume):
        return None
    if not resume:
        raise CheckpointError(f"{str(out)!r} is there already. Add --resume to go on, or --force to begin anew.")
    stored = load_checkpoint(out, weights="last")
    missing = {*given, "total_updates"} - stored.settings.keys()
    if missing or stored.progress is None:
        what = ", ".join(sorted(missing)) or "how far it came"
        raise CheckpointError(
            f"{str(out)!r} was not written by this command (it does not say {what}), so it cannot be resumed by it. "
            "Choose another --out."
        )
    different = [
        f"--{name.replace('_', '-')} was {stored.settings[name]!r} and is {given[name]!r}"
        for name in sorted(explicit)
        if stored.settings[name] != given[name]
    ]
    if different:
        raise CheckpointError(
            f"{str(out)!r} was begun with other settings: {'; '.join(different)}. Leave these options out to go on, or "
            "begin a new training at another --out."
        )
    return stored


def _read_text(
    text: str, settings: dict[str, Any], folder: Path | None, ranks: ProcessGroup, quiet: bool
) -> EncodedText:
    unk_token = "<unk>" if settings["min_freq"] > 1 else None
    options = {
        "level": settings["level"],
        "heldout_fraction": settings["heldout"],
        "clean": settings["clean"],
        "min_freq": settings["min_freq"],
        "unk_token": unk_token,
    }
    path = Path(text).expanduser()
    if text in CORPORA or not path.is_file() or path.stat().st_size < _STREAM_FROM_BYTES:
        return load_text(text, **options)
    first_here = os.environ.get("LOCAL_RANK", "0") == "0"
    show = sys.stderr.isatty() and not quiet and ranks.rank == 0
    # One process of each machine encodes; the others find what it left.
    encoded = stream_text(path, folder=folder, progress=show, **options) if first_here else None
    ranks.gather(torch.zeros(1))
    return stream_text(path, folder=folder, **options) if encoded is None else encoded


def _fingerprint(encoded: EncodedText) -> str:
    if isinstance(encoded, StreamedText):
        return encoded.manifest.ids_sha256
    return ids_fingerprint(torch.cat([encoded.train_ids, encoded.heldout_ids]), len(encoded.vocab))


def _check_text(stored: Checkpoint, encoded: EncodedText, fingerprint: str, out: Path, text: str) -> None:
    if stored.vocab is None or stored.vocab.tokens != encoded.vocab.tokens:
        mine = set() if stored.vocab is None else set(stored.vocab.tokens)
        other = sorted(mine ^ set(encoded.vocab.tokens))[:10]
        what = f"only one of them has {', '.join(map(repr, other))}" if other else "their order is another"
        raise CheckpointError(
            f"The vocabulary of {text!r} is not that of {str(out)!r} ({what}). Give the text with which that training "
            "began, or begin a new one at another --out."
        )
    if stored.settings["ids_sha256"] != fingerprint:
        raise CheckpointError(
            f"{text!r} is not the text with which {str(out)!r} was begun. Give that text, or begin a new training at "
            "another --out."
        )


def _make_model(settings: dict[str, Any], vocab_size: int) -> RNNLM:
    layer = _LAYERS[Layer(settings["layer"])]
    gated = layer in (GRU, LSTM)
    if settings["weight_drop"] and not gated:
        raise ValueError("--weight-drop is for --layer gru and lstm.")
    options = {"weight_drop": settings["weight_drop"]} if gated else {}
    width = settings["embedding"]
    rnn = layer(width or vocab_size, settings["hidden"], **options)
    if isinstance(rnn, RNNScratch):
        torch.nn.init.orthogonal_(rnn.W_hh)  # a state that neither fades nor grows at first learns in half the time
    table = torch.nn.Embedding(vocab_size, width) if width else None
    return RNNLM(rnn, vocab_size, table, dropout=settings["dropout"])


def _make_windows(
    settings: dict[str, Any], encoded: EncodedText, updates: int | None = None
) -> RandomWindows | SequentialWindows:
    sizes = encoded.train_ids, settings["batch_size"], settings["num_steps"]
    if settings["windows"] == Windows.sequential:
        return SequentialWindows(*sizes)
    generator = torch.Generator().manual_seed(settings["seed"])
    if not isinstance(encoded, StreamedText):
        return RandomWindows(*sizes, generator=generator)
    # The order of all windows of such a text would itself need gigabytes, and an epoch may last for days.
    num_batches = None
    if updates is not None:
        num_batches = max(1, min(len(RandomWindows(*sizes, replacement=True)), -(-updates // _REPORTS)))
    return RandomWindows(*sizes, replacement=True, num_batches=num_batches, generator=generator)


def _count_updates(
    settings: dict[str, Any], model: RNNLM, encoded: EncodedText, heldout_ids: torch.Tensor | None, ranks: ProcessGroup
) -> int:
    if settings["updates"] is not None:
        return settings["updates"]
    windows = _make_windows(settings, encoded)
    if settings["epochs"] is not None:
        return settings["epochs"] * len(windows)
    minutes = 1.0 if settings["minutes"] is None else settings["minutes"]
    count = _updates_in(60 * minutes, copy.deepcopy(model), windows, heldout_ids, settings, ranks)
    return int(ranks.broadcast(torch.tensor([count], dtype=torch.float64)))


def _updates_in(
    seconds: float,
    model: RNNLM,
    windows: RandomWindows | SequentialWindows,
    heldout_ids: torch.Tensor | None,
    settings: dict[str, Any],
    ranks: ProcessGroup,
) -> int:
    """How many updates take so long, scoring included, by a trial of a fiftieth of the time on a copy of the model."""
    scoring_s = 0.0
    if heldout_ids is not None:
        sample = heldout_ids[:2000]
        start = time.perf_counter()
        evaluate(model, sample)
        scoring_s = (time.perf_counter() - start) * len(heldout_ids) / len(sample)
    model.train()
    trial_s, count = seconds / 50, 0
    with make_stepper(model, optimizer=settings["optimizer"], clip=settings["clip"] or None) as stepper:
        start = None
        for X, Y in windows:
            stepper.state = None
            stepper(ranks.rows(X).to(ranks.device), ranks.rows(Y).to(ranks.device), settings["lr"] / 1000)
            if start is None:
                start = time.perf_counter()  # the first step pays for what is made only once
                continue
            count += 1
            if time.perf_counter() - start > trial_s:
                break
    step_s = (time.perf_counter() - start) / max(count, 1)
    step_s += scoring_s / len(windows)
    return max(1, round((seconds - 2 * trial_s) / step_s)) if step_s else len(windows)


def _announcement(
    settings: dict[str, Any],
    encoded: EncodedText,
    heldout_ids: torch.Tensor | None,
    model: RNNLM,
    ranks: ProcessGroup,
    out: Path,
    stored: Checkpoint | None,
) -> str:
    several = f", {ranks.world_size} processes" if ranks.world_size > 1 else ""
    scored = 0 if heldout_ids is None else len(heldout_ids)
    not_all = f" (the first {scored:,} are scored)" if scored < len(encoded.heldout_ids) else ""
    number = sum(parameter.numel() for parameter in model.parameters())
    begun = "" if stored is None else f"\ngoing on from update {stored.progress['step']:,}"
    return (
        f"{settings['text']}: {len(encoded.train_ids):,} {settings['level']}s to learn from, "
        f"{len(encoded.heldout_ids):,} held out{not_all}, vocabulary of {len(encoded.vocab)}\n"
        f"{settings['layer']} of {settings['hidden']}, {number:,} weights, {settings['total_updates']:,} updates on "
        f"{describe_device(ranks.device)}{several}; stored in {out}{begun}"
    )


class _Report(Callback):
    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say

    def on_epoch_end(self, run: Run) -> None:
        self.say(_record_in_words(run.history.epochs[-1]))


def _record_in_words(record: EpochRecord) -> str:
    heldout = f", held-out {record.heldout.perplexity:.3f}" if record.heldout else ""
    return (
        f"epoch {record.epoch}: training perplexity {record.train.perplexity:.3f}{heldout}, "
        f"{record.tokens_per_second:,.0f} tokens/s"
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None  # JSON has no infinity


def _print_training(
    history: History, settings: dict[str, Any], model: RNNLM, ranks: ProcessGroup, out: Path, as_json: bool
) -> None:
    last = history.best or history.epochs[-1]  # the one whose weights are kept
    if as_json:
        document = {
            "checkpoint": str(out),
            "settings": settings,
            "num_weights": sum(parameter.numel() for parameter in model.parameters()),
            "device": str(ranks.device),
            "num_processes": ranks.world_size,
            "kept_epoch": last.epoch,
            "train_perplexity": _finite(last.train.perplexity),
            "heldout_perplexity": last.heldout and _finite(last.heldout.perplexity),
            "heldout_bits_per_token": last.heldout and _finite(last.heldout.bits_per_token),
            "epochs": [
                {
                    "epoch": record.epoch,
                    "train_perplexity": _finite(record.train.perplexity),
                    "heldout_perplexity": record.heldout and _finite(record.heldout.perplexity),
                    "seconds": record.seconds,
                    "tokens_per_second": record.tokens_per_second,
                }
                for record in history.epochs
            ],
        }
        print(json.dumps(document, ensure_ascii=False, indent=2))
        return
    if last.epoch < len(history.epochs):
        print(f"kept: the weights after epoch {last.epoch}, which were best on the held-out part")
    print(f"training perplexity {last.train.perplexity:.3f} ({last.train.bits_per_token:.3f} bits per token)")
    if last.heldout:
        print(f"held-out perplexity {last.heldout.perplexity:.3f} ({last.heldout.bits_per_token:.3f} bits per token)")
    print(f"the model is in {out}; let it write: d2lrnn generate {out}")


# ------------------------------------------------------------------------------------------------------------- generate

_CHECKPOINT = Annotated[Path, typer.Argument(help="A model that d2lrnn train wrote.", show_default=False)]
_DEVICE = Annotated[str | None, typer.Option(help="cpu, cuda, mps. Default: cpu, which is fast enough.")]
_JSON = Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")]


@app.command()
@_one_clear_line
def generate(
    checkpoint: _CHECKPOINT,
    prefix: Annotated[
        str | None, typer.Option(help="Text to go on from. Default: the most frequent token.", show_default=False)
    ] = None,
    tokens: Annotated[int, typer.Option(min=0, help="How many tokens to add.")] = 300,
    temperature: Annotated[
        float, typer.Option(min=0.0, help="Below 1 more careful, above 1 bolder; 0 always takes the likeliest.")
    ] = 0.7,
    top_k: Annotated[int | None, typer.Option(min=1, help="Draw from the so many likeliest tokens only.")] = None,
    top_p: Annotated[
        float | None, typer.Option(help="Draw from the fewest tokens that reach this probability together.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Same seed, same text.", show_default=False)] = None,
    device: _DEVICE = "cpu",
    as_json: _JSON = False,
) -> None:
    """Let a model continue a text."""
    loaded, vocab = _load(checkpoint)
    model = loaded.model.to(pick_device(device))
    level, clean = _how_to_read(loaded, vocab)
    if prefix is None:
        prefix = next(token for token in vocab.tokens if token != vocab.unk_token)
    start = tokenize(normalize(prefix) if clean else prefix, level)
    if unknown := sorted({token for token in start if token not in vocab}):
        raise ValueError(
            f"The model does not know {', '.join(map(repr, unknown))}, of the prefix {prefix!r}. It was trained on "
            f"these tokens: {vocab!r}."
        )
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    written = generate_text(
        model,
        vocab,
        start,
        tokens,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        exclude=[] if vocab.unk_token is None else [vocab.unk_token],
        generator=generator,
    )
    if as_json:
        settings = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
        print(json.dumps({"prefix": prefix, "text": written, "settings": settings}, ensure_ascii=False, indent=2))
    else:
        print(written)


# ---------------------------------------------------------------------------------------------------------------- score


@app.command()
@_one_clear_line
def score(
    checkpoint: _CHECKPOINT,
    text: Annotated[
        str, typer.Argument(help=f"A UTF-8 text file, or one of {', '.join(CORPORA)}.", show_default=False)
    ],
    lines: Annotated[int, typer.Option(min=0, help="How many of the most surprising lines to show.")] = 5,
    min_tokens: Annotated[int, typer.Option(min=1, help="Shorter lines are not compared.")] = 20,
    device: _DEVICE = "cpu",
    as_json: _JSON = False,
) -> None:
    """How well a model knows a text: perplexity, bits per character, and the lines that surprise it most.

    Perplexity is the number of equally likely tokens among which the model would be as uncertain: 27 for a guess among
    letters and the space, 1 for a text known by heart. Bits per character are what an arithmetic coder driven by the
    model would need. Characters that the model has never seen are left out and counted.
    """
    loaded, vocab = _load(checkpoint)
    level, clean = _how_to_read(loaded, vocab)
    found = score_text(
        loaded.model.to(pick_device(device)),
        vocab,
        _raw_text(text),
        level=level,
        clean=clean,
        num_lines=lines,
        min_tokens=min_tokens,
    )
    total, unknown = found.score, found.unknown
    unit = "character" if level == "char" else "word"
    if as_json:
        document = {
            "text": text,
            "perplexity": _finite(total.perplexity),
            "bits_per_token": total.bits_per_token,
            "total_nats": total.total_nats,
            "num_tokens": total.num_tokens,
            "token": unit,
            "num_unknown": unknown.total(),
            "unknown": dict(unknown.most_common(100)),
            "lines": [
                {"line": line.number, "bits_per_token": line.score.bits_per_token, "text": line.text}
                for line in found.lines
            ],
        }
        print(json.dumps(document, ensure_ascii=False, indent=2))
        return
    bits = f"{total.bits_per_token:.3f} bits per {unit}"
    print(f"perplexity {total.perplexity:.3f}, {bits}, {total.num_tokens:,} {unit}s")
    if unknown:
        shown = ", ".join(f"{token!r} ({count:,})" for token, count in unknown.most_common(8))
        fate = "left out" if vocab.unk_token is None else f"read as {vocab.unk_token}"
        print(f"{unknown.total():,} {unit}s are unknown to the model and were {fate}: {shown}")
    if found.lines:
        print(f"the most surprising lines, in bits per {unit}:")
    for line in found.lines:
        print(f"  {line.score.bits_per_token:6.3f}  line {line.number}: {line.text.strip()}")


def _load(path: Path) -> tuple[Checkpoint, Vocab]:
    loaded = load_checkpoint(path.expanduser())
    if loaded.vocab is None:
        raise CheckpointError(f"The checkpoint {str(path)!r} has no vocabulary, so its tokens have no letters.")
    return loaded, loaded.vocab


def _how_to_read(loaded: Checkpoint, vocab: Vocab) -> tuple[str, bool]:
    """Level and cleaning of the text that the model was trained on, as it says or as its vocabulary shows."""
    tokens = [token for token in vocab.tokens if token != vocab.unk_token]
    level = "word" if any(len(token) > 1 for token in tokens) else "char"
    clean = all(normalize(token) == token for token in tokens)
    return loaded.settings.get("level", level), loaded.settings.get("clean", clean)


def _raw_text(text: str) -> Iterator[str]:
    if text in CORPORA:
        yield load_corpus(text)
        return
    blank = True
    for chunk in read_chunks(Path(text).expanduser()):
        blank = blank and chunk.isspace()
        yield chunk
    if blank:
        raise CorpusError(f"{text!r} is empty; a corpus needs at least a few words.")
