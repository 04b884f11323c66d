"""The text of a training: read, encoded, cut into its parts and into windows."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from d2lrnn.cli.generate import fate, in_words
from d2lrnn.cli.settings import RunOptions, TrainSettings

if TYPE_CHECKING:
    import torch

    from d2lrnn.ops.ranks import ProcessGroup
    from d2lrnn.text import EncodedText, Vocab
    from d2lrnn.windows import RandomWindows, SequentialWindows

STREAM_FROM_BYTES = 64 << 20  # larger texts are encoded once to a file and read from there
_HELDOUT_TOKENS = 200_000  # so many held-out tokens tell the perplexity to a per cent, and more only take time
_VALIDATION_TOKENS = 20_000
_REPORTS = 20  # of a training over a text too long for whole epochs


@dataclass(frozen=True)
class Text:
    """A text in its three parts, and what was left out of it."""

    encoded: EncodedText
    train_ids: torch.Tensor
    validation_ids: torch.Tensor | None
    heldout_ids: torch.Tensor | None
    fingerprint: str
    notes: tuple[str, ...]


def read(options: RunOptions, settings: TrainSettings, group: ProcessGroup, vocab: Vocab | None = None) -> Text:
    """The text, encoded, in its three parts; with the vocabulary of a model that goes on, if one is given."""
    import torch

    from d2lrnn.ops.corpus import CORPORA, load_corpus
    from d2lrnn.ops.stream import ids_fingerprint, stream_text
    from d2lrnn.text import count_left_out, encode_text, is_cleaned, normalize

    how: dict[str, Any] = {
        "level": settings.level,
        "heldout_fraction": settings.heldout,
        "min_freq": settings.min_freq,
        "max_vocab": settings.max_vocab,
        "unk_token": "<unk>" if settings.min_freq > 1 else None,
    }
    clean, path = is_cleaned(options.text, settings.clean), Path(options.text).expanduser()
    notes = []
    if options.text not in CORPORA and path.is_file() and path.stat().st_size >= STREAM_FROM_BYTES:
        if vocab is not None:
            raise ValueError(f"--from learns texts below {STREAM_FROM_BYTES >> 20} MB; {options.text!r} is larger.")
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
        if vocab is None:
            encoded = encode_text(whole, **how)
        else:
            encoded, unknown = encode_known(whole, vocab, settings)
            if unknown:
                notes.append(f"{in_words(unknown, settings.level)} unknown to the model: {fate(vocab, clean=False)}")
        fingerprint = ids_fingerprint(torch.cat([encoded.train_ids, encoded.heldout_ids]), len(encoded.vocab))
    if left_out:
        shown = " ".join(list(left_out)[:8]) + (" ..." if len(left_out) > 8 else "")
        notes.append(
            f"{sum(left_out.values()):,} of {num_chars:,} characters left out ({shown}): only a to z and spaces are "
            f"kept{'; --raw keeps all' if vocab is None else ''}"
        )
    if vocab is None and (vocab := encoded.vocab).unk_token is not None:
        counted = len(encoded.train_ids) + (len(encoded.heldout_ids) if settings.level == "char" else 0)
        known = sum(count for token, count in vocab.token_freqs if token != vocab.unk_token)
        if known == 0:
            raise ValueError(f"No {settings.level} occurs {settings.min_freq:,} times. Use a smaller --min-freq.")
        notes.append(
            f"{counted - known:,} of {counted:,} {settings.level}s are read as {vocab.unk_token}: the vocabulary has "
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


def encode_known(text: str, vocab: Vocab, settings: TrainSettings) -> tuple[EncodedText, Counter[str]]:
    """A text in a given vocabulary, and its tokens that are not in it: ``<unk>`` or, if it has none, left out."""
    import torch

    from d2lrnn.text import EncodedText, tokenize

    tokens = tokenize(text, settings.level)
    unknown = Counter(token for token in tokens if token not in vocab)
    if unknown.total() == len(tokens):
        raise ValueError(f"Nothing of the text is known to the model of --from, which was trained on {vocab!r}.")
    if vocab.unk_token is None:
        tokens = [token for token in tokens if token in vocab]
    ids = torch.tensor(vocab.encode(tokens), dtype=torch.long)
    num_train = len(ids) - round(len(ids) * settings.heldout)
    return EncodedText(vocab, ids[:num_train], ids[num_train:]), unknown


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
