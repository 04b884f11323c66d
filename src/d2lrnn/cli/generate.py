"""``d2lrnn generate``: let a model continue a text."""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from d2lrnn.cli import say
from d2lrnn.cli.settings import GenerateOptions, make_parser

if TYPE_CHECKING:
    from d2lrnn.ops.checkpoint import Checkpoint
    from d2lrnn.text import Level, Vocab


def parse(words: list[str]) -> list[GenerateOptions]:
    parser = make_parser("d2lrnn generate", "Let a model continue a text.", "", GenerateOptions)
    return parser(words)[0]


def import_what_is_slow() -> None:
    import d2lrnn.decoding
    import d2lrnn.ops.checkpoint  # noqa: F401


def run(options: GenerateOptions) -> None:
    import torch

    from d2lrnn.decoding import generate

    loaded, vocab = load(options.checkpoint)
    model = loaded.model.to(pick(options.device))
    prefix = sys.stdin.read().removesuffix("\n") if options.prefix == "-" else options.prefix
    if prefix is None:
        start = [token for token in vocab.tokens if token != vocab.unk_token][:1]
        if not start:
            raise ValueError(f"The model {options.checkpoint!r} knows no token but {vocab.unk_token}.")
    else:
        start = _known(prefix, loaded, vocab)
    generator = None if options.seed is None else torch.Generator().manual_seed(options.seed)
    written = generate(
        model,
        vocab,
        start,
        options.tokens,
        temperature=options.temperature,
        top_k=options.top_k,
        top_p=options.top_p,
        exclude=[] if vocab.unk_token is None else [vocab.unk_token],
        generator=generator,
    )
    if options.json:
        settings = {name: getattr(options, name) for name in ("temperature", "top_k", "top_p", "seed")}
        read = "" if prefix is None else vocab.decode(vocab.encode(start))
        document = {"prefix": prefix, "prefix_read": read, "text": written, "settings": settings}
        print(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        print(written)


def _known(prefix: str, loaded: Checkpoint, vocab: Vocab) -> list[str]:
    """The tokens of a prefix, as the model's own text was read; those that it does not know are counted, and said."""
    from d2lrnn.text import count_left_out, normalize, tokenize

    level, clean = how_to_read(loaded, vocab)
    unknown = count_left_out(prefix) if clean else Counter()
    tokens = tokenize(normalize(prefix) if clean else prefix, level)
    missing = Counter(token for token in tokens if token not in vocab)
    if vocab.unk_token is None:
        tokens = [token for token in tokens if token in vocab]
    if (unknown or missing) and not any(token.strip() for token in tokens):
        raise ValueError(f"Nothing of the prefix {prefix!r} is known to the model, which was trained on {vocab!r}.")
    if unknown or missing:
        say(f"d2lrnn: of the prefix, {in_words(unknown + missing, level)} unknown to the model: {fate(vocab, clean)}")
    return tokens


def in_words(unknown: Counter[str], level: str) -> str:
    """How many tokens, and which; the beginning of a sentence."""
    one = unknown.total() == 1
    units = {"char": ("character", "characters"), "word": ("word or character", "words or characters")}
    shown = ", ".join(f"{token!r} ({count:,})" for token, count in unknown.most_common(8))
    more = ", ..." if len(unknown) > 8 else ""
    return f"{unknown.total():,} {units[level][not one]} ({shown}{more}) {'is' if one else 'are'}"


def fate(vocab: Vocab, clean: bool) -> str:
    """What becomes of unknown tokens."""
    if clean:
        return "left out, or a space in their place" + ("" if vocab.unk_token is None else f", or {vocab.unk_token}")
    return "left out" if vocab.unk_token is None else f"read as {vocab.unk_token}"


def pick(device: str | None) -> Any:
    """The device of an option; what is wrong with it is said of the option."""
    from d2lrnn.ops.device import pick_device

    try:
        return pick_device(device)
    except ValueError as error:
        reason = str(error.__cause__ or error).splitlines()[0]
        raise ValueError(f"--device {device} cannot be used on this machine ({reason}). Leave it out.") from None


def load(path: str) -> tuple[Checkpoint, Vocab]:
    """A model and its vocabulary."""
    from pathlib import Path

    from d2lrnn.ops.checkpoint import CheckpointError, load_checkpoint

    loaded = load_checkpoint(Path(path).expanduser())
    if loaded.vocab is None:
        raise CheckpointError(f"The checkpoint {path!r} has no vocabulary, so its tokens have no letters.")
    return loaded, loaded.vocab


def how_to_read(loaded: Checkpoint, vocab: Vocab) -> tuple[Level, bool]:
    """Level and cleaning of the text that the model was trained on, as it says or as its vocabulary shows."""
    from d2lrnn.ops.scoring import has_cleaned_tokens

    level = "word" if any(len(token) > 1 for token in vocab.tokens if token != vocab.unk_token) else "char"
    clean = loaded.settings.get("clean", has_cleaned_tokens(vocab))
    return loaded.settings.get("level", level), loaded.settings.get("cleaned", clean)
