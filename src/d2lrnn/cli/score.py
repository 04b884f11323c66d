"""``d2lrnn score``: how well a model knows a text."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

from d2lrnn.cli.generate import fate, how_to_read, in_words, load, pick
from d2lrnn.cli.settings import ScoreOptions, make_parser
from d2lrnn.ops.files import finite

_DESCRIPTION = """\
How well a model knows a text: perplexity, bits per character, and the lines that surprise it most. Perplexity is the
number of equally likely tokens among which the model would be as uncertain: 27 for a guess among letters and the space,
1 for a memorised text. Bits per character are what an arithmetic coder driven by the model would need. Characters
that the model does not know are left out and counted.
"""


def parse(words: list[str]) -> list[ScoreOptions]:
    return make_parser("d2lrnn score", _DESCRIPTION, "", ScoreOptions)(words)[0]


def import_what_is_slow() -> None:
    import d2lrnn.ops.checkpoint
    import d2lrnn.ops.scoring  # noqa: F401


def run(options: ScoreOptions) -> None:
    from d2lrnn.ops.scoring import score_text

    loaded, vocab = load(options.checkpoint)
    level, clean = how_to_read(loaded, vocab)
    found = score_text(
        loaded.model.to(pick(options.device)),
        vocab,
        _chunks(options.text, sys.stderr.isatty() and not options.quiet),
        level=level,
        clean=clean,
        num_lines=options.lines,
        min_tokens=options.min_tokens,
    )
    total, unknown = found.score, found.unknown
    unit = "character" if level == "char" else "word"
    if options.json:
        document = {
            "text": options.text,
            "perplexity": finite(total.perplexity),
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
        print(f"{in_words(unknown, level)} unknown to the model: {fate(vocab, clean)}")
    if found.lines:
        print(f"the most surprising lines, in bits per {unit}:")
    for line in found.lines:
        print(f"  {line.score.bits_per_token:6.3f}  line {line.number}: {line.text.strip()}")


def _chunks(text: str, show: bool) -> Iterator[str]:
    """The text in pieces, with a bar that shows how much of it has been read."""
    from pathlib import Path

    from tqdm import tqdm

    from d2lrnn.ops.corpus import CORPORA, empty, load_corpus, read_chunks

    if text in CORPORA:
        yield load_corpus(text)
        return
    path, blank = Path(text).expanduser(), True
    total = path.stat().st_size if path.is_file() else None
    with tqdm(total=total, unit="B", unit_scale=True, desc="scoring", disable=not show, leave=False) as bar:
        for chunk in read_chunks(path, 1 << 16, lambda block: bar.update(len(block))):
            blank = blank and chunk.isspace()
            yield chunk
    if blank:
        raise empty(text)
