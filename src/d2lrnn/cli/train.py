"""``d2lrnn train``: read a text, make a model, train it for a while, store it, and say how good it is."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shlex
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from d2lrnn.cli import say
from d2lrnn.cli.generate import pick
from d2lrnn.cli.settings import RunOptions, TrainSettings, differences, make_parser, option_name

if TYPE_CHECKING:
    import torch

    from d2lrnn.history import EpochRecord, History
    from d2lrnn.metrics import Score
    from d2lrnn.model import RNNLM
    from d2lrnn.ops.checkpoint import Checkpoint
    from d2lrnn.ops.ranks import ProcessGroup
    from d2lrnn.text import EncodedText
    from d2lrnn.training import Run
    from d2lrnn.windows import RandomWindows, SequentialWindows

STREAM_FROM_BYTES = 64 << 20  # larger texts are encoded once to a file and read from there
_HELDOUT_TOKENS = 200_000  # so many held-out tokens tell the perplexity to a per cent, and more only take time
_VALIDATION_TOKENS = 20_000
_TABLE_TOKENS = 2_000_000
_REPORTS = 20  # of a training over a text too long for whole epochs
_DURATIONS = ("minutes", "epochs", "updates")

_DESCRIPTION = """\
Train a model on a text. The defaults suit a text of a hundred kilobytes to a few megabytes, and give it a minute.
Where the training perplexity is far below the held-out one, the model memorises the text: use a smaller --hidden, more
--dropout, or more text. The weights that are kept are those that were best on the validation part, the beginning of
the text; the held-out part, its end, is scored once, when nothing is left to choose.
"""
_EPILOG = """\
On several devices: torchrun --nproc-per-node=2 -m d2lrnn train TEXT --resume (with --max-restarts=3 a lost process is
started again from the last checkpoint). Exit codes: 0 all went well, 1 error, 2 usage, 130 Ctrl-C.
"""


def parse(words: list[str]) -> list[Any]:
    parser = make_parser("d2lrnn train", _DESCRIPTION, _EPILOG, TrainSettings, RunOptions)
    [settings, options], given = parser(words)
    return [settings, options, given]


def import_what_is_slow() -> None:
    import d2lrnn.cli.budget
    import d2lrnn.ops.callbacks
    import d2lrnn.ops.scoring  # noqa: F401


@dataclass(frozen=True)
class Text:
    """A text in its three parts, and what was left out of it."""

    encoded: EncodedText
    train_ids: torch.Tensor
    validation_ids: torch.Tensor | None
    heldout_ids: torch.Tensor | None
    fingerprint: str
    notes: tuple[str, ...]


def run(settings: TrainSettings, options: RunOptions, given: set[str]) -> None:
    """Train, here or together with the other processes that torchrun started."""
    from d2lrnn.ops.ranks import join_ranks

    out = Path(options.out or f"{'stdin' if options.text == '-' else Path(options.text).stem}.safetensors").expanduser()
    if out.suffix != ".safetensors":
        raise ValueError(f"--out is {str(out)!r}; the name of a model ends in .safetensors.")
    if options.device is not None:
        pick(options.device)
    with join_ranks(options.device) as group, locked(out) if group.is_main else contextlib.nullcontext():
        train(settings, options, given, out, group)


def train(settings: TrainSettings, options: RunOptions, given: set[str], out: Path, group: ProcessGroup) -> None:
    """Read, make or find the model, say what will be done, do it, and say how good it became."""
    import torch

    from d2lrnn.ops.callbacks import Checkpointing, EarlyStopping, KeepBest
    from d2lrnn.ops.device import seed_everything
    from d2lrnn.training import TrainingDivergedError, fit

    tell = say if group.is_main and not options.quiet else (lambda message: None)
    stored, more = find_stored(out, options), None
    group.check_same(f"The checkpoint {str(out)!r}", stored and stored.progress and stored.progress["step"])
    if stored is not None:
        settings, more = go_on(stored, settings, given, out, say if group.is_main else tell)
    resume = stored is not None and more is None
    text = read(options, settings, group)
    if stored is not None:
        check_text(stored, text, options.text, out)
    sizes = window_sizes(settings, len(text.train_ids))
    for note in (*text.notes, *short_text_note(settings, sizes)):
        tell(note)

    seed_everything(settings.seed)
    model = make_model(settings, len(text.encoded.vocab)).to(group.device)
    how: dict[str, Any] = {
        "lr": settings.lr,
        "optimizer": settings.optimizer,
        "schedule": settings.schedule,
        "clip": settings.clip or None,
    }
    about: dict[str, Any] = {"text": options.text, "ids_sha256": text.fingerprint, "earlier_updates": 0}
    about |= asdict(settings)
    about |= {"cleaned": is_cleaned(options.text, settings)}
    if stored is not None:
        about["earlier_updates"] = stored.settings["earlier_updates"]
    if stored is not None and more is not None:
        about["earlier_updates"] += stored.settings["total_updates"]
        model.load_state_dict(stored.model.state_dict())
    if stored is not None and resume:
        about["total_updates"] = stored.settings["total_updates"]
    else:
        windows = make_windows(settings, sizes, text)
        about["total_updates"] = count_updates(settings, more, model, windows, text, group, how)
    windows = make_windows(settings, sizes, text, about["total_updates"])
    torch.manual_seed(settings.seed)

    tell(announcement(about, text, model, group, out, stored, resume))
    on_terminal = sys.stderr.isatty()
    callbacks = [
        group,
        Checkpointing(
            out, text.encoded.vocab, about, every_seconds=options.save_every, resume=resume, overwrite=not resume
        ),
    ]
    if text.validation_ids is not None:
        callbacks.append(KeepBest() if settings.patience is None else EarlyStopping(settings.patience))
    if not on_terminal:
        callbacks.append(lines(tell))
    try:
        history = fit(
            model,
            windows,
            updates=about["total_updates"],
            heldout_ids=text.validation_ids,
            progress=on_terminal and not options.quiet,
            callbacks=callbacks,
            **how,
        )
    except TrainingDivergedError as error:
        raise ValueError(diverged(f"after {len(error.history.step_losses):,} updates", settings)) from None
    if group.is_main:
        report(history, about, text, model, group, out, options.json)


def count_updates(
    settings: TrainSettings,
    more: tuple[str, float] | None,
    model: RNNLM,
    windows: RandomWindows | SequentialWindows,
    text: Text,
    group: ProcessGroup,
    how: dict[str, Any],
) -> int:
    """How many updates the settings ask for, or `more` of a finished training."""
    from d2lrnn.cli.budget import updates_in

    given = [(name, value) for name in _DURATIONS if (value := getattr(settings, name)) is not None]
    kind, amount = more or next(iter(given), ("minutes", 1.0))
    if kind == "minutes":
        return updates_in(60 * amount, model, windows, text.validation_ids, group, **how)
    return int(amount) * (len(windows) if kind == "epochs" else 1)


# --------------------------------------------------------------------------------------------------- what is there


@contextlib.contextmanager
def locked(out: Path) -> Iterator[None]:
    """Nobody else trains into this file meanwhile; and a folder that cannot be written to is noticed now."""
    path = out.with_name(f"{out.name}.lock")
    try:
        while True:
            handle = os.open(path, os.O_RDWR | os.O_CREAT)
            try:
                import fcntl

                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except ModuleNotFoundError:  # Windows
                break
            except BlockingIOError:
                os.close(handle)
                raise ValueError(
                    f"Another training is writing to {str(out)!r} now. Wait for its end, or choose another --out."
                ) from None
            # The holder before us may have removed the file between our opening and locking it.
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(handle), path.stat()):
                    break
            os.close(handle)
    except OSError as error:
        folder = str(out.parent.absolute())
        what = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be written to ({error.strerror})"
        raise ValueError(f"The folder {folder!r} {what}; --out is {str(out)!r}. Nothing was trained.") from None
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(handle)


def find_stored(out: Path, options: RunOptions) -> Checkpoint | None:
    """The training to go on with, or None to begin one."""
    from d2lrnn.ops.checkpoint import CheckpointError, load_checkpoint

    if not out.exists() or options.force:
        return None
    if not options.resume:
        raise CheckpointError(f"{str(out)!r} is there already. Add --resume to go on, or --force to begin anew.")
    stored = load_checkpoint(out)
    missing = {one.name for one in fields(TrainSettings)} | {"total_updates", "earlier_updates"}
    missing -= stored.settings.keys()
    if missing or stored.progress is None or "in_epoch" not in stored.progress:
        raise CheckpointError(
            f"{str(out)!r} was not written by this version of d2lrnn train, so it cannot be resumed by it. Choose "
            "another --out."
        )
    return stored


def go_on(
    stored: Checkpoint, settings: TrainSettings, given: set[str], out: Path, tell: Callable[[str], None]
) -> tuple[TrainSettings, tuple[str, float] | None]:
    """The settings of a stored training; and how much longer it is to go on, if it is finished and that is asked."""
    from d2lrnn.ops.checkpoint import CheckpointError

    was = TrainSettings(**{one.name: stored.settings[one.name] for one in fields(TrainSettings)})
    if different := differences(was, settings, given - {*_DURATIONS}):
        raise CheckpointError(
            f"{str(out)!r} was begun with other settings: {'; '.join(different)}. Leave these options out to go on, or "
            "begin a new training at another --out."
        )
    progress, total = stored.progress or {}, stored.settings["total_updates"]
    finished = not progress["in_epoch"] and (progress["stopped"] is not None or progress["step"] >= total)
    kind = next((name for name in _DURATIONS if name in given), None)
    before = {name: getattr(was, name) for name in _DURATIONS}
    if not any(before.values()):
        before["minutes"] = 1
    if kind is None or getattr(settings, kind) == before[kind]:
        if finished:
            tell(
                f"d2lrnn: nothing to do: the training in {str(out)!r} is finished ({progress['step']:,} updates). "
                "A larger --minutes, --updates or --epochs trains it on."
            )
        return was, None
    asked = option_name(kind, getattr(settings, kind))
    if not finished:
        raise CheckpointError(
            f"The training in {str(out)!r} is not finished (update {progress['step']:,} of {total:,}). Leave {asked} "
            "out to go on to its end."
        )
    amount = getattr(settings, kind) - (before[kind] or 0)
    if amount <= 0:
        raise CheckpointError(
            f"The training in {str(out)!r} had {option_name(kind, before[kind])}, which is more than {asked}. Give a "
            "larger number to train it on."
        )
    duration: dict[str, Any] = dict.fromkeys(_DURATIONS) | {kind: getattr(settings, kind)}
    return replace(was, **duration), (kind, amount)


def check_text(stored: Checkpoint, text: Text, name: str, out: Path) -> None:
    """Raise CheckpointError unless the text is the one with which the stored training was begun."""
    from d2lrnn.ops.checkpoint import CheckpointError

    vocab = text.encoded.vocab
    if stored.vocab is None or stored.vocab.tokens != vocab.tokens:
        mine = set() if stored.vocab is None else set(stored.vocab.tokens)
        other = sorted(mine ^ set(vocab.tokens))[:10]
        what = f"only one of them has {', '.join(map(repr, other))}" if other else "their order is another"
        raise CheckpointError(
            f"The vocabulary of {name!r} is not that of {str(out)!r} ({what}). Give the text with which that training "
            "began, or begin a new one at another --out."
        )
    if stored.settings["ids_sha256"] != text.fingerprint:
        raise CheckpointError(
            f"{name!r} is not the text with which {str(out)!r} was begun. Give that text, or begin a new training at "
            "another --out."
        )


# ---------------------------------------------------------------------------------------------------- text and model


def is_cleaned(name: str, settings: TrainSettings) -> bool:
    """Whether the text is cleaned: if nothing is said, the book's own are."""
    from d2lrnn.ops.corpus import CORPORA

    return name in CORPORA if settings.clean is None else settings.clean


def read(options: RunOptions, settings: TrainSettings, group: ProcessGroup) -> Text:
    """The text, encoded, in its three parts."""
    import torch

    from d2lrnn.ops.corpus import CORPORA, load_corpus
    from d2lrnn.ops.stream import ids_fingerprint, stream_text
    from d2lrnn.text import count_left_out, encode_text, normalize

    how: dict[str, Any] = {
        "level": settings.level,
        "heldout_fraction": settings.heldout,
        "min_freq": settings.min_freq,
        "max_vocab": settings.max_vocab,
        "unk_token": "<unk>" if settings.min_freq > 1 else None,
    }
    clean, path = is_cleaned(options.text, settings), Path(options.text).expanduser()
    if options.text not in CORPORA and path.is_file() and path.stat().st_size >= STREAM_FROM_BYTES:
        show = sys.stderr.isatty() and not options.quiet and group.is_main
        encode = lambda: stream_text(path, clean=clean, folder=options.ids_folder, progress=show, **how)  # noqa: E731
        encoded = encode() if group.world_size == 1 else encode_once(encode, group)
        manifest = encoded.manifest
        fingerprint, left_out, num_chars = manifest.ids_sha256, manifest.left_out, manifest.num_chars
    else:
        raw = load_corpus(options.text)
        left_out, num_chars = dict((count_left_out(raw) if clean else Counter()).most_common()), len(raw)
        whole = normalize(raw) if clean else raw
        if not whole.strip():
            raise ValueError(
                f"Nothing is left of {options.text!r} after cleaning, which keeps the letters a to z only. Use --raw."
            )
        encoded = encode_text(whole, **how)
        fingerprint = ids_fingerprint(torch.cat([encoded.train_ids, encoded.heldout_ids]), len(encoded.vocab))
    notes = []
    if left_out:
        shown = " ".join(list(left_out)[:8]) + (" ..." if len(left_out) > 8 else "")
        notes.append(
            f"{sum(left_out.values()):,} of {num_chars:,} characters left out ({shown}): only a to z and spaces are "
            "kept; --raw keeps all"
        )
    vocab = encoded.vocab
    if vocab.unk_token is not None:
        counted = len(encoded.train_ids) + (len(encoded.heldout_ids) if settings.level == "char" else 0)
        unknown = counted - sum(count for token, count in vocab.token_freqs if token != vocab.unk_token)
        notes.append(
            f"{unknown:,} of {counted:,} {settings.level}s are read as {vocab.unk_token}: the vocabulary has "
            f"{len(vocab):,} entries (--max-vocab {settings.max_vocab}, --min-freq {settings.min_freq})"
        )
    count = min(round(len(encoded.train_ids) * settings.validation), _VALIDATION_TOKENS)
    count = count if count > 1 else 0
    heldout_ids = encoded.heldout_ids[:_HELDOUT_TOKENS]
    return Text(
        encoded,
        encoded.train_ids[count:],
        encoded.train_ids[:count] if count else None,
        heldout_ids if len(heldout_ids) > 1 else None,
        fingerprint,
        tuple(notes),
    )


def encode_once(encode: Callable[[], Any], group: ProcessGroup) -> Any:
    """One process of each machine encodes and the others wait, however long it takes: nobody is silent for minutes."""
    import torch

    from d2lrnn.ops.corpus import CorpusError

    outcome: list[Any] = []

    def work() -> None:
        try:
            outcome.append(encode())
        except Exception as error:
            outcome.append(error)

    if os.environ.get("LOCAL_RANK", "0") == "0":
        threading.Thread(target=work, daemon=True).start()
    else:
        outcome.append(None)
    while True:
        state = 0.0 if not outcome else -1.0 if isinstance(outcome[0], Exception) else 1.0
        states = [float(other) for other in group.gather(torch.tensor([state]))]
        if min(states) < 0:
            raise outcome[0] if state < 0 else CorpusError("Another process could not encode the text.")
        if min(states) > 0:
            return encode() if outcome[0] is None else outcome[0]
        time.sleep(1)


def window_sizes(settings: TrainSettings, num_tokens: int) -> tuple[int, int]:
    """Batch size and number of steps, halved as often as a short text makes it necessary."""
    batch_size, num_steps = settings.batch_size, settings.num_steps
    while batch_size * num_steps + 1 > num_tokens:
        if batch_size * num_steps == 1:
            raise ValueError(f"The text has {num_tokens} tokens to learn from; it needs at least 2.")
        if batch_size == 1 or (batch_size <= 4 and num_steps > 16):
            num_steps = max(1, num_steps // 2)
        else:
            batch_size = max(1, batch_size // 2)
    return batch_size, num_steps


def short_text_note(settings: TrainSettings, sizes: tuple[int, int]) -> list[str]:
    if sizes == (settings.batch_size, settings.num_steps):
        return []
    return [
        f"the text is short: minibatches of {sizes[0]} windows of {sizes[1]} {settings.level}s (instead of "
        f"--batch-size {settings.batch_size} --num-steps {settings.num_steps})"
    ]


def make_model(settings: TrainSettings, vocab_size: int) -> RNNLM:
    import torch

    from d2lrnn.layers import GRU, LSTM, RNNConcise, RNNScratch
    from d2lrnn.model import RNNLM

    layer = {"rnn": RNNScratch, "nn-rnn": RNNConcise, "gru": GRU, "lstm": LSTM}[settings.layer]
    gated = layer in (GRU, LSTM)
    if settings.weight_drop and not gated:
        raise ValueError("--weight-drop is for --layer gru and lstm.")
    width = (32 if vocab_size <= 256 else 128) if settings.embedding is None else settings.embedding
    options = {"weight_drop": settings.weight_drop} if gated else {}
    rnn: Any = layer(width or vocab_size, settings.hidden, **options)
    if isinstance(rnn, RNNScratch):
        torch.nn.init.orthogonal_(rnn.W_hh)  # a state that neither fades nor grows at first learns in half the time
    table = torch.nn.Embedding(vocab_size, width) if width else None
    return RNNLM(rnn, vocab_size, table, dropout=settings.dropout)


def make_windows(
    settings: TrainSettings, sizes: tuple[int, int], text: Text, updates: int | None = None
) -> RandomWindows | SequentialWindows:
    """Windows whose epochs are passes through the text, unless it is so long or so short that reports would be too few
    or too many."""
    import torch

    from d2lrnn.cli.budget import MAX_REPORTS
    from d2lrnn.ops.stream import StreamedText
    from d2lrnn.windows import RandomWindows, SequentialWindows

    if settings.windows == "sequential":
        return SequentialWindows(text.train_ids, *sizes)
    generator = torch.Generator().manual_seed(settings.seed)
    windows = RandomWindows(text.train_ids, *sizes, replacement=True, generator=generator)
    if isinstance(text.encoded, StreamedText):
        # The order of all windows of such a text would itself need gigabytes, and an epoch may last for days.
        if updates is None:
            return windows
        num_batches = max(1, min(len(windows), -(-updates // _REPORTS)))
    elif updates is not None and updates > MAX_REPORTS * len(windows):
        num_batches = -(-updates // MAX_REPORTS)
    else:
        return RandomWindows(text.train_ids, *sizes, generator=generator)
    return RandomWindows(text.train_ids, *sizes, replacement=True, num_batches=num_batches, generator=generator)


# ------------------------------------------------------------------------------------------------------ what is said


def announcement(
    about: dict[str, Any],
    text: Text,
    model: RNNLM,
    group: ProcessGroup,
    out: Path,
    stored: Checkpoint | None,
    resume: bool,
) -> str:
    from d2lrnn.ops.device import describe_device

    several = f", {group.world_size} processes" if group.world_size > 1 else ""
    scored = 0 if text.heldout_ids is None else len(text.heldout_ids)
    not_all = f" (the first {scored:,} are scored)" if 0 < scored < len(text.encoded.heldout_ids) else ""
    validation = 0 if text.validation_ids is None else len(text.validation_ids)
    number = sum(parameter.numel() for parameter in model.parameters())
    begun = ""
    if stored is not None:
        begun = f"\ngoing on from update {(stored.progress or {})['step']:,}"
        begun += "" if resume else f" with {about['total_updates']:,} more"
    return (
        f"{about['text']}: {len(text.train_ids):,} {about['level']}s to learn from, {validation:,} for validation, "
        f"{len(text.encoded.heldout_ids):,} held out{not_all}, vocabulary of {len(text.encoded.vocab):,}\n"
        f"{about['layer']} of {about['hidden']}, {number:,} weights, {about['total_updates']:,} updates on "
        f"{describe_device(group.device)}{several}; stored in {out}{begun}"
    )


def lines(tell: Callable[[str], None]) -> Any:
    """A callback that says a line after each epoch, where no bar is shown."""
    from d2lrnn.training import Callback

    class Lines(Callback):
        def on_epoch_end(self, run: Run) -> None:
            tell(in_words(run.history.epochs[-1]))

    return Lines()


def in_words(record: EpochRecord) -> str:
    validation = f", validation {record.heldout.perplexity:.3f}" if record.heldout else ""
    return (
        f"epoch {record.epoch}: training perplexity {record.train.perplexity:.3f}{validation}, "
        f"{record.tokens_per_second:,.0f} tokens/s"
    )


def diverged(when: str, settings: TrainSettings) -> str:
    clip = "" if settings.clip else ", or limit the gradient with --clip 1"
    return f"The training diverged {when}. Use a lower --lr (it was {settings.lr:g}){clip}."


def finite(value: float) -> float | None:
    return value if math.isfinite(value) else None  # JSON has no infinity


def report(
    history: History, about: dict[str, Any], text: Text, model: RNNLM, group: ProcessGroup, out: Path, as_json: bool
) -> None:
    """The scores of the weights that were kept, beside the best table of counts."""
    from d2lrnn.model import evaluate
    from d2lrnn.ops.scoring import score_table

    vocab_size = len(text.encoded.vocab)
    last = history.best or history.epochs[-1]  # the one whose weights are kept
    heldout: Score | None = None
    table: list[Score] = []
    if text.heldout_ids is not None:
        heldout = evaluate(model, text.heldout_ids)
        counted = text.encoded.train_ids[-_TABLE_TOKENS:].long()
        table = score_table(counted, text.heldout_ids.long(), vocab_size)
    judged = heldout or last.train
    if not judged.nats_per_token < 2 * math.log(max(vocab_size, 2)):
        settings = TrainSettings(**{one.name: about[one.name] for one in fields(TrainSettings)})
        raise ValueError(
            diverged(f"(perplexity {judged.perplexity:,.0f}, where a guess has {vocab_size})", settings)
            + f" The model in {str(out)!r} is of no use."
        )
    order = min(range(len(table)), key=lambda n: table[n].total_nats) + 1 if table else None
    if as_json:
        document = {
            "checkpoint": str(out),
            "settings": about,
            "num_weights": sum(parameter.numel() for parameter in model.parameters()),
            "device": str(group.device),
            "num_processes": group.world_size,
            "kept_epoch": last.epoch,
            "train_perplexity": finite(last.train.perplexity),
            "validation_perplexity": last.heldout and finite(last.heldout.perplexity),
            "heldout_perplexity": heldout and finite(heldout.perplexity),
            "heldout_bits_per_token": heldout and finite(heldout.bits_per_token),
            "table_order": order,
            "table_perplexity": order and table[order - 1].perplexity,
            "epochs": [
                {
                    "epoch": record.epoch,
                    "train_perplexity": finite(record.train.perplexity),
                    "validation_perplexity": record.heldout and finite(record.heldout.perplexity),
                    "seconds": record.seconds,
                    "tokens_per_second": record.tokens_per_second,
                }
                for record in history.epochs
            ],
        }
        print(json.dumps(document, ensure_ascii=False, indent=2))
        return
    unit = "character" if about["level"] == "char" else "word"
    if last.epoch < len(history.epochs):
        print(f"kept: the weights after epoch {last.epoch}, which were best on the validation part")
    print(f"training perplexity {last.train.perplexity:.3f} ({last.train.bits_per_token:.3f} bits per {unit})")
    if heldout:
        print(f"held-out perplexity {heldout.perplexity:.3f} ({heldout.bits_per_token:.3f} bits per {unit})")
    if order:
        best = table[order - 1]
        print(f"the best table of counts, of runs of {order}, has {best.perplexity:.3f} on the same held-out part")
    print(f"the model is in {out}; let it write: d2lrnn generate {shlex.quote(str(out))}")
