"""``d2lrnn show``: what a model's file says of itself."""

from __future__ import annotations

import json

from d2lrnn.cli.settings import ShowOptions, make_parser

_DESCRIPTION = """\
What a model that d2lrnn train wrote says of itself, as a JSON document: its layer, the shape of each weight, its
vocabulary, the settings of its training, and how far that has come. No model is made, and no code of the file's is run.
"""


def parse(words: list[str]) -> list[ShowOptions]:
    return make_parser("d2lrnn show", _DESCRIPTION, "", ShowOptions)(words)[0]


def import_what_is_slow() -> None:
    import d2lrnn.ops.checkpoint  # noqa: F401


def run(options: ShowOptions) -> None:
    from d2lrnn.ops.checkpoint import describe_checkpoint

    print(json.dumps(describe_checkpoint(options.checkpoint), indent=2, ensure_ascii=False, default=str))
