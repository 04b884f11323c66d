"""``d2lrnn embed``: an explorable as a page of its own, with the reader's text and settings."""

from __future__ import annotations

import inspect
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from d2lrnn.cli.settings import EmbedOptions, make_parser

if TYPE_CHECKING:
    from d2lrnn.widgets import Explorable

_DESCRIPTION = """\
Write one of the book's explorables as a page of its own: one file that works offline, on a slide and in a frame of
another page. {names}
"""


def parse(words: list[str]) -> list[EmbedOptions]:
    description = _DESCRIPTION.format(names=f"NAME is one of {', '.join(_names())}.")
    return make_parser("d2lrnn embed", description, "", EmbedOptions)(words or ["--help"])[0]


def import_what_is_slow() -> None:
    import d2lrnn.text
    import d2lrnn.widgets.base  # noqa: F401


def run(options: EmbedOptions) -> None:
    from d2lrnn import widgets
    from d2lrnn.ops.files import replacing
    from d2lrnn.widgets.page import page_of

    os.environ["D2LRNN_STATIC"] = "1"  # no front end: the page computes for itself
    if options.name not in _names():
        raise ValueError(f"There is no explorable {options.name!r}; there are {', '.join(_names())}.")
    out = Path(options.out or f"{options.name}.html").expanduser()
    if out.is_dir():
        raise ValueError(f"{str(out)!r} is a folder; --out names a page, as {str(out / f'{options.name}.html')!r}.")
    if out.exists() and not options.overwrite:
        raise ValueError(f"{str(out)!r} is there already. Add --overwrite, or choose another --out.")
    if not out.parent.is_dir():
        raise ValueError(f"There is no folder {str(out.parent)!r}. Make it, or choose another --out.")
    page = page_of(_made(getattr(widgets, options.name), options)).encode("utf-8")
    with replacing(out) as file:
        file.write(page)
    print(f"{out} is written ({len(page) / 1000:.0f} kB). To embed it:")
    print(f'<iframe src="{out.name}" title="{options.name}" style="width: 100%; height: 45rem; border: 0"></iframe>')


def _names() -> list[str]:
    try:
        from d2lrnn import widgets
    except ImportError as missing:
        raise ValueError(missing) from None
    return [name for name in dir(widgets) if name != "Explorable"]


def _made(cls: type[Explorable], options: EmbedOptions) -> Explorable:
    """The explorable with its settings; what is wrong with one is said in the words of the command line."""
    import traitlets

    from d2lrnn.text import load_text

    traits = cls.class_traits(control=True)
    values: dict[str, Any] = {}
    for word in options.set:
        name, equals, text = word.partition("=")
        if not equals:
            raise ValueError(f"--set {word}: write NAME=VALUE.")
        if name not in traits:
            raise ValueError(f"{cls.__name__} has no setting {name!r}; it has {', '.join(sorted(traits))}.")
        values[name] = _value(name, text, traits[name])
    arguments: list[Any] = []
    if options.corpus is not None:
        if "corpus" not in inspect.signature(cls.__init__).parameters:
            raise ValueError(f"{cls.__name__} reads no corpus. Leave --corpus out.")
        corpus = load_text(options.corpus)
        values["text"] = corpus.vocab.decode([*corpus.train_ids.tolist(), *corpus.heldout_ids.tolist()])
        arguments.append(options.corpus)
    try:
        return cls(*arguments, **values)
    except traitlets.TraitError as error:
        reason = str(error).replace(" trait", " setting").replace(f" of a {cls.__name__} instance", "")
        raise ValueError(f"{' '.join(f'--set {word}' for word in options.set)}: {reason}") from None


def _value(name: str, text: str, trait: Any) -> Any:
    """A value as it is written on the command line: a text as it stands, all others as JSON."""
    import traitlets

    if isinstance(trait, traitlets.Unicode | traitlets.Enum):
        return text
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        example = {traitlets.Bool: "true or false", traitlets.List: "a list as [0.5, 2]"}
        kind = next((words for kind, words in example.items() if isinstance(trait, kind)), "a number")
        raise ValueError(f"--set {name}={text}: write {kind}.") from None
