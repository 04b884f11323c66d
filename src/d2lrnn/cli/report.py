"""What ``d2lrnn train`` says: what it will do, how it goes, and how good the model became."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from d2lrnn.cli.reading import Text
from d2lrnn.cli.settings import TrainSettings
from d2lrnn.ops.files import finite

if TYPE_CHECKING:
    from d2lrnn.history import EpochRecord, History
    from d2lrnn.metrics import Score
    from d2lrnn.model import RNNLM
    from d2lrnn.ops.checkpoint import Checkpoint
    from d2lrnn.ops.ranks import ProcessGroup
    from d2lrnn.training import Run

_TABLE_TOKENS = 2_000_000


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
    begun = f"\nbegun with the weights of {about['from']}" if "from" in about else ""
    if stored is not None:
        begun += f"\ngoing on from update {(stored.progress or {})['step']:,}"
        begun += "" if resume else f" with {about['total_updates']:,} more"
    if not resume and (before := about.get("heldout_perplexity_before")) is not None:
        begun += f"; the held-out perplexity is {before:.3f} before"
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
            tell(epoch_line(run.history.epochs[-1]))

    return Lines()


def epoch_line(record: EpochRecord) -> str:
    validation = f", validation {record.heldout.perplexity:.3f}" if record.heldout else ""
    return (
        f"epoch {record.epoch}: training perplexity {record.train.perplexity:.3f}{validation}, "
        f"{record.tokens_per_second:,.0f} tokens/s"
    )


def diverged(when: str, settings: TrainSettings) -> str:
    clip = "" if settings.clip else ", or limit the gradient with --clip 1"
    return f"The training diverged {when}. Use a lower --lr (it was {settings.lr:g}){clip}."


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
    guess_nats = math.log(max(vocab_size, 2))
    if not last.train.nats_per_token < 2 * guess_nats:
        settings = TrainSettings(**{one.name: about[one.name] for one in fields(TrainSettings)})
        raise ValueError(
            diverged(f"(perplexity {last.train.perplexity:,.0f}, where a guess has {vocab_size})", settings)
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
            "heldout_perplexity_before": about.get("heldout_perplexity_before"),
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
        before = about.get("heldout_perplexity_before")
        print(
            f"held-out perplexity {heldout.perplexity:.3f} ({heldout.bits_per_token:.3f} bits per {unit})"
            + (f"; before this training {before:.3f}" if before is not None else "")
        )
        if heldout.nats_per_token > guess_nats:
            why = "the model knows its text by heart, or the end is another kind of text"
            print(f"a blind guess has {vocab_size}: {why}")
    if order:
        best = table[order - 1]
        print(f"the best table of counts, of runs of {order}, has {best.perplexity:.3f} on the same held-out part")
    print(f"the model is in {out}; let it write: d2lrnn generate {shlex.quote(str(out))}")
