"""``d2lrnn train``: read a text, make a model, train it for a while, store it, and say how good it is."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from d2lrnn.cli import say
from d2lrnn.cli.generate import load, pick
from d2lrnn.cli.reading import Text, make_windows, read, short_text_note, window_sizes
from d2lrnn.cli.report import announcement, diverged, lines, report
from d2lrnn.cli.settings import RunOptions, TrainSettings, differences, make_parser, option_name
from d2lrnn.ops.files import finite

if TYPE_CHECKING:
    from d2lrnn.model import RNNLM
    from d2lrnn.ops.checkpoint import Checkpoint
    from d2lrnn.ops.ranks import ProcessGroup
    from d2lrnn.windows import RandomWindows, SequentialWindows

_DURATIONS = ("minutes", "epochs", "updates")

_ORIGIN = ("from", "from_sha256", "heldout_perplexity_before")
_KEPT = ("level", "clean", "min_freq", "max_vocab", "layer", "hidden", "embedding")  # of a model that learns more
_CHANGEABLE = ("dropout", "weight_drop")

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


def run(settings: TrainSettings, options: RunOptions, given: set[str]) -> None:
    """Train, here or together with the other processes that torchrun started."""
    from d2lrnn.ops.ranks import join_ranks

    stem = "stdin" if options.text == "-" else Path(options.text).stem
    if not stem:
        raise ValueError(f"{options.text!r} is neither the name of a text nor that of a file. Give one or the other.")
    out = Path(options.out or f"{stem}.safetensors").expanduser()
    if out.suffix != ".safetensors":
        raise ValueError(f"--out is {str(out)!r}; the name of a model ends in .safetensors.")
    if options.device is not None:
        pick(options.device)
    with join_ranks(options.device) as group, locked(out) if group.is_main else contextlib.nullcontext():
        train(settings, options, given, out, group)


def train(settings: TrainSettings, options: RunOptions, given: set[str], out: Path, group: ProcessGroup) -> None:
    """Read, make or find the model, say what will be done, do it, and say how good it became."""
    import torch

    from d2lrnn.model import evaluate
    from d2lrnn.ops.callbacks import Checkpointing, EarlyStopping, KeepBest
    from d2lrnn.ops.device import seed_everything
    from d2lrnn.text import is_cleaned
    from d2lrnn.training import TrainingDivergedError, fit

    tell = say if group.is_main and not options.quiet else (lambda message: None)
    stored, more = find_stored(out, options), None
    source, origin = find_source(options, stored, out)
    group.check_same(f"The checkpoint {str(out)!r}", stored and stored.progress and stored.progress["step"])
    if stored is not None:
        settings, more = go_on(stored, settings, given, out, say if group.is_main else tell)
    elif source is not None:
        settings = inherit(source, settings, given, origin["from"])
    resume = stored is not None and more is None
    text = read(options, settings, group, source.vocab if source is not None else None)
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
    about |= {"cleaned": is_cleaned(options.text, settings.clean)} | origin
    if stored is not None:
        about["earlier_updates"] = stored.settings["earlier_updates"]
        about["earlier_updates"] += stored.settings["total_updates"] if more is not None else 0
    if not resume and (trained := stored or source) is not None:
        model.load_state_dict(trained.model.state_dict())
        before = None if text.heldout_ids is None else finite(evaluate(model, text.heldout_ids).perplexity)
        about["heldout_perplexity_before"] = before
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


def find_source(options: RunOptions, stored: Checkpoint | None, out: Path) -> tuple[Checkpoint | None, dict[str, Any]]:
    """The model of ``--from``, or the stored training that began with one, and what is stored of where it came from."""
    from d2lrnn.ops.checkpoint import CheckpointError

    before = {} if stored is None else {name: stored.settings[name] for name in _ORIGIN if name in stored.settings}
    if options.model is None:
        return (stored if "from" in before else None), before
    path = Path(options.model).expanduser()
    if path.exists() and out.exists() and path.samefile(out):
        raise CheckpointError(f"--from and --out are one file, {str(out)!r}. Choose another --out.")
    source, _ = load(options.model)
    origin = {"from": options.model, "from_sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    if stored is None:
        return source, origin
    if before.get("from_sha256") != origin["from_sha256"]:
        raise CheckpointError(
            f"{str(out)!r} was not begun with the model {options.model!r}, as it is now. Leave --from out to go on, "
            "or begin a new training at another --out."
        )
    return stored, before


def inherit(source: Checkpoint, settings: TrainSettings, given: set[str], name: str) -> TrainSettings:
    """The settings of a training that begins with another's model: how the text is read, and the layer, are its."""
    from d2lrnn.ops.checkpoint import CheckpointError

    if {*_KEPT, *_CHANGEABLE, "cleaned"} - source.settings.keys():
        raise CheckpointError(f"{name!r} was not written by this version of d2lrnn train, so --from cannot use it.")
    was = {one: source.settings[one] for one in (*_KEPT, *_CHANGEABLE)} | {"clean": source.settings["cleaned"]}
    if different := differences(replace(settings, **was), settings, given & {*_KEPT}):
        raise CheckpointError(f"--from {name} is another model: {'; '.join(different)}. Leave these options out.")
    return replace(settings, **{one: value for one, value in was.items() if one in _KEPT or one not in given})


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
