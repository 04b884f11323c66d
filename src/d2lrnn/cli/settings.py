"""The options of the command line: each is one field of a dataclass, with its default, its limits and its help.

The options, the help, what is stored with a model and what `--resume` compares are all made from these fields. Nothing
here imports torch: ``d2lrnn --help`` answers at once.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from types import UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

__all__ = [
    "EmbedOptions", "GenerateOptions", "RunOptions", "ScoreOptions", "ShowOptions", "TrainSettings", "make_parser",
]  # fmt: skip

CORPORA = "the-tide-clock, time-machine, ptb"
T = TypeVar("T")


def option(
    default: Any,
    help: str,
    *,
    group: str = "Options",
    names: tuple[str, ...] = (),
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
) -> Any:
    """A field that is an option: its limits say that a number is at least `least`, above `above`, at most `most`."""
    about = {"help": help, "group": group, "names": names, "least": least, "above": above, "most": most}
    return field(default=default, metadata=about)


def argument(help: str) -> Any:
    """A field that stands on the command line without a name."""
    return field(metadata={"help": help})


@dataclass(frozen=True)
class TrainSettings:
    """What decides the outcome of a training: stored with the model, and compared on ``--resume``."""

    level: Literal["char", "word"] = option("char", "What a token is.", group="Text")
    clean: bool | None = option(
        None,
        "Keep only the letters a to z, in small, and spaces. Without --clean or --raw the named texts are cleaned and "
        "your own files are not.",
        group="Text",
        names=("--clean", "--raw"),
    )
    heldout: float = option(
        0.1, "Share of the text, at its end, that is scored once, at the end.", group="Text", least=0, most=0.9
    )
    validation: float = option(
        0.05,
        "Share of the rest, at its beginning, that is scored after each epoch to keep the best weights (20,000 tokens "
        "at most).",
        group="Text",
        least=0,
        most=0.5,
    )
    min_freq: int = option(1, "Tokens that are rarer become <unk>.", group="Text", least=1)
    max_vocab: int = option(
        5000, "Greatest size of the vocabulary; the rarest tokens beyond it become <unk>.", group="Text", least=2
    )
    layer: Literal["lstm", "gru", "rnn", "nn-rnn"] = option(
        "lstm", "The recurrent layer. rnn is the tanh layer that the book builds, nn-rnn torch's.", group="Model"
    )
    hidden: int = option(192, "Size of the hidden state.", group="Model", least=1)
    embedding: int | None = option(
        None,
        "Width of the embedding; 0 is one-hot. Default: 32, or 128 for a vocabulary of more than 256.",
        group="Model",
        least=0,
    )
    dropout: float = option(0.2, "Share of outputs to drop in training.", group="Model", least=0, most=0.9)
    weight_drop: float = option(
        0.0, "Share of recurrent weights to drop in training (lstm, gru).", group="Model", least=0, most=0.9
    )
    minutes: float | None = option(
        None,
        "How long to train. A short trial finds the number of updates and prints it: give it to --updates to repeat "
        "the run exactly. Default: 1.",
        group="Training",
        least=0.01,
    )
    epochs: int | None = option(
        None, "Instead of --minutes: how often to go through the text.", group="Training", least=1
    )
    updates: int | None = option(None, "Instead of --minutes: how many updates to make.", group="Training", least=1)
    windows: Literal["random", "sequential"] = option(
        "random", "Random windows start from a state of zeros, sequential ones carry it on.", group="Training"
    )
    batch_size: int = option(16, "Windows in a minibatch; fewer where the text is short.", group="Training", least=1)
    num_steps: int = option(64, "Tokens in a window; fewer where the text is short.", group="Training", least=1)
    lr: float = option(0.01, "Learning rate; with one-cycle the highest.", group="Training", above=0)
    optimizer: Literal["adamw", "sgd"] = option("adamw", "The optimiser.", group="Training")
    schedule: Literal["one-cycle", "constant"] = option(
        "one-cycle", "How the learning rate changes: up and down once, or not at all.", group="Training"
    )
    clip: float = option(1.0, "Greatest norm of the gradient; 0 is no limit.", group="Training", least=0)
    patience: int | None = option(
        None,
        "Stop after so many epochs without a lower validation perplexity. (The best weights are kept in any case.)",
        group="Training",
        least=1,
    )
    seed: int = option(0, "The same seed gives the same model.", group="Training", least=0, most=2**32 - 1)


@dataclass(frozen=True)
class RunOptions:
    """What is read and written, and what changes nothing in the outcome of a training."""

    text: str = argument(f"A UTF-8 text file of any size, or - for the standard input, or one of {CORPORA}.")
    out: str | None = option(
        None, "Where the model goes. Default: NAME.safetensors in this folder.", group="Run", names=("--out", "-o")
    )
    model: str | None = option(
        None,
        "Begin with the weights of this model, which d2lrnn train wrote, and learn another text. Its vocabulary, "
        "--level, --clean or --raw and layer stay; --dropout and --weight-drop do unless they are given.",
        group="Run",
        names=("--from",),
    )
    device: str | None = option(None, "cpu, cuda or mps. Default: the best there is.", group="Run")
    resume: bool = option(
        False,
        "Go on from --out if it is there, with its settings, to the weights of a training without a break. With a "
        "larger --minutes, --updates or --epochs than that training had, a finished one is trained for the difference.",
        group="Run",
    )
    force: bool = option(False, "Begin anew even if --out is there.", group="Run")
    save_every: float = option(60.0, "Seconds between checkpoints.", group="Run", above=0)
    ids_folder: str | None = option(
        None, "Where the encoded text goes if it is larger than 64 MB. Default: beside the text.", group="Run"
    )
    json: bool = option(False, "Print the result as one JSON document.", group="Run")
    quiet: bool = option(False, "No progress.", group="Run", names=("--quiet", "-q"))


@dataclass(frozen=True)
class GenerateOptions:
    """Options of ``d2lrnn generate``."""

    checkpoint: str = argument("A model that d2lrnn train wrote.")
    prefix: str | None = option(
        None, "Text to go on from; - reads it from the standard input. Default: the most frequent token.",
        names=("--prefix", "--prompt"),
    )  # fmt: skip
    tokens: int = option(300, "How many tokens to add.", least=0)
    temperature: float = option(0.7, "Below 1 more careful, above 1 bolder; 0 always takes the likeliest.", least=0)
    top_k: int | None = option(None, "Draw only from this many likeliest tokens.", least=1)
    top_p: float | None = option(
        None, "Draw only from the fewest tokens that have this probability together.", above=0, most=1
    )
    seed: int | None = option(None, "The same seed gives the same text.", least=0, most=2**63 - 1)
    device: str = option("cpu", "cpu, cuda or mps.")
    json: bool = option(False, "Print the result as one JSON document.")


@dataclass(frozen=True)
class ScoreOptions:
    """Options of ``d2lrnn score``."""

    checkpoint: str = argument("A model that d2lrnn train wrote.")
    text: str = argument(f"A UTF-8 text file, or - for the standard input, or one of {CORPORA}.")
    lines: int = option(5, "How many of the most surprising lines to show.", least=0)
    min_tokens: int = option(20, "Shorter lines are not compared.", least=1)
    device: str = option("cpu", "cpu, cuda or mps.")
    json: bool = option(False, "Print the result as one JSON document.")
    quiet: bool = option(False, "No progress.", names=("--quiet", "-q"))


@dataclass(frozen=True)
class ShowOptions:
    """Options of ``d2lrnn show``."""

    checkpoint: str = argument("A model that d2lrnn train wrote.")


@dataclass(frozen=True)
class EmbedOptions:
    """Options of ``d2lrnn embed``."""

    name: str = argument("The explorable.")
    out: str | None = option(None, "Where the page goes. Default: NAME.html in this folder.", names=("--out", "-o"))
    set: tuple[str, ...] = option(
        (), 'A setting, as often as you like: --set text="my text" --set temperature=0.7. A wrong one lists all.'
    )
    corpus: str | None = option(None, "A UTF-8 text file on which the network of TrainingLab learns.")
    overwrite: bool = option(False, "Write even if --out is there.")


class _Help(argparse.HelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=min(shutil.get_terminal_size().columns, 110) - 2)


def make_parser(
    prog: str, description: str, epilog: str, *about: type
) -> Callable[[list[str]], tuple[list[Any], set[str]]]:
    """A function from the words of a command line to one instance of each dataclass, and the names that were given."""
    parser = argparse.ArgumentParser(
        prog,
        description=description,
        epilog=epilog,
        formatter_class=_Help,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
        add_help=False,
    )
    groups = {"Arguments": parser.add_argument_group("Arguments")}
    positional = " ".join(one.name.upper() for cls in about for one in fields(cls) if one.default is MISSING)
    parser.usage = f"{prog} {positional} [options]   ({prog} --help lists them)"
    for cls in about:
        hints = get_type_hints(cls)
        for one in fields(cls):
            name = one.metadata.get("group", "Arguments")
            if name not in groups:
                groups[name] = parser.add_argument_group(name)
            _add(groups[name], one, hints[one.name])
    groups[next(reversed(groups))].add_argument("-h", "--help", action="help", help="Show this help and exit.")

    def parse(words: list[str]) -> tuple[list[Any], set[str]]:
        given = vars(parser.parse_args(words))
        if len(too_many := [f"--{name}" for name in ("minutes", "epochs", "updates") if name in given]) > 1:
            parser.error(f"choose one of {' and '.join(too_many)}")
        if given.get("resume") and given.get("force"):
            parser.error("--resume goes on and --force begins anew; choose one of them")
        made = [cls(**{one.name: given[one.name] for one in fields(cls) if one.name in given}) for cls in about]
        return made, {*given}

    return parse


def _add(parser: Any, one: Field[Any], hint: Any) -> None:
    help = one.metadata["help"].replace("%", "%%")
    if one.default is MISSING:
        parser.add_argument(one.name, help=help, metavar=one.name.upper())
        return
    names = one.metadata["names"] or (f"--{one.name.replace('_', '-')}",)
    kind = next((kind for kind in get_args(hint) if kind is not type(None)), hint) if _is_union(hint) else hint
    if one.name == "clean":  # two options for one setting
        parser.add_argument("--clean", dest="clean", action="store_const", const=True, help=help)
        parser.add_argument("--raw", dest="clean", action="store_const", const=False, help="Keep every character.")
        return
    if get_origin(kind) is tuple:
        parser.add_argument(*names, dest=one.name, action="append", help=help, metavar="NAME=VALUE")
        return
    if kind is bool:
        parser.add_argument(*names, dest=one.name, action="store_true", help=help)
        return
    if one.default is not None:
        help += f" Default: {one.default:g}." if kind is float else f" Default: {one.default}."
    if get_origin(kind) is Literal:
        parser.add_argument(*names, dest=one.name, choices=get_args(kind), help=help)
        return
    metavar = {int: "N", float: "X", str: one.name.upper()}[kind]
    parser.add_argument(*names, dest=one.name, type=_checked(kind, one), help=help, metavar=metavar)


def _is_union(hint: Any) -> bool:
    return isinstance(hint, UnionType)


def _checked(kind: type, one: Field[Any]) -> Callable[[str], Any]:
    least, above, most = (one.metadata[name] for name in ("least", "above", "most"))
    if kind is int and most is None:
        most = 10**9  # torch's own words about sizes beyond its integers are many, and of C++
    limits = [
        f"{words} {limit}"
        for words, limit in (("at least", least), ("above", above), ("at most", most))
        if limit is not None
    ]

    def convert(word: str) -> Any:
        try:
            value = kind(word)
            fits = (
                (least is None or value >= least)
                and (above is None or value > above)
                and (most is None or value <= most)
                and (kind is not float or abs(value) < float("inf"))
            )
        except ValueError:
            fits = False
        if not fits:
            what = "a whole number" if kind is int else "a number"
            raise argparse.ArgumentTypeError(f"{word!r} is not {' '.join([what, ' and '.join(limits)]).strip()}")
        return value

    return convert


def differences(before: TrainSettings, now: TrainSettings, among: set[str]) -> list[str]:
    """Options that were given and are not what they were."""
    old, new = asdict(before), asdict(now)
    return [
        f"{option_name(name, new[name])} was {spoken(name, old[name])}"
        for name in sorted(among & old.keys())
        if old[name] != new[name]
    ]


def option_name(name: str, value: Any) -> str:
    """How a setting is said on the command line."""
    if name == "clean":
        return "--clean" if value else "--raw"
    return f"--{name.replace('_', '-')} {value}"


def spoken(name: str, value: Any) -> str:
    """A stored value in the words of the command line."""
    if name == "clean":
        return {True: "--clean", False: "--raw", None: "left out"}[value]
    return "left out" if value is None else str(value)
