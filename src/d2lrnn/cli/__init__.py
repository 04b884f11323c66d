"""The command line: train a model on a text, continue a text with it, score one, show its file; embed an explorable.

Exit codes: 0 all went well; 1 it did not, and one line on stderr says why; 2 the command was not understood; 130 Ctrl-C
(143 SIGTERM), with a checkpoint from which ``--resume`` goes on. Progress and messages go to stderr, results to stdout.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import warnings
from typing import NoReturn

__all__ = ["main"]

_COMMANDS = {
    "train": "Train a model on a text.",
    "generate": "Let a model continue a text.",
    "score": "How well a model knows a text: perplexity, and the lines that surprise it most.",
    "show": "What a model's file says of itself: layer, weights, vocabulary, settings.",
    "embed": "Write one of the book's explorables as a page of its own, with your text and settings.",
}
_HELP = """\
usage: d2lrnn COMMAND ...

Train small recurrent language models on your own text, let them write, and measure how well they know a text.
Start with `d2lrnn train the-tide-clock`, a story that comes with the package: in a minute you have a model, and the
last line says what to do with it.

Commands (d2lrnn COMMAND --help lists the options):
{commands}

  -h, --help  Show this help and exit.
  --version   Show the version and exit.

Exit codes: 0 all went well, 1 it did not (one line on stderr says why), 2 the command was not understood, 130 stopped
by Ctrl-C. Results go to stdout, progress and messages to stderr.
"""


_SMALLER = {"train": "Make --hidden smaller, or --embedding, --batch-size or --num-steps."}
_NO_MEMORY = ("out of memory", "not enough memory", "allocate memory", "alloc_failed", "size calculation overflow")
_SMALLER_INPUT = "Take a smaller model or a shorter text."


def main() -> NoReturn:
    """Run the command line on ``sys.argv``, and end the process with its exit code."""
    sys.exit(_run(sys.argv[1:]))


def say(message: str) -> None:
    """A message for people, on stderr."""
    print(message, file=sys.stderr, flush=True)


def _is_out_of_memory(error: Exception) -> bool:
    """Memory of the machine or of a device; torch tells it by its words alone."""
    said = str(error).lower() if isinstance(error, RuntimeError) else ""
    return isinstance(error, MemoryError) or any(words in said for words in _NO_MEMORY)


def _run(words: list[str]) -> int:
    """What goes wrong on the way is one line on stderr and an exit code, never a traceback."""
    who = f"d2lrnn (rank {rank})" if (rank := os.environ.get("RANK")) else "d2lrnn"

    def leave(number: int, frame: object) -> NoReturn:
        say(f"{who}: stopped")
        os._exit(128 + number)  # a KeyboardInterrupt in the middle of an import would be caught here and there

    signal.signal(signal.SIGINT, leave)
    warnings.showwarning = lambda message, *_: say(f"{who}: warning: {message}")
    try:
        match words:
            case [] | ["-h" | "--help", *_]:
                commands = "\n".join(f"  {name:10}{what}" for name, what in _COMMANDS.items())
                print(_HELP.format(commands=commands), end="")
                return 0 if words else 2
            case ["--version", *_]:
                from importlib.metadata import version

                print(f"d2lrnn {version('d2lrnn')}, torch {version('torch')}")
                return 0
            case [name, *options] if name in _COMMANDS:
                command = importlib.import_module(f"d2lrnn.cli.{name}")
                arguments = command.parse(options)
                command.import_what_is_slow()
                signal.signal(signal.SIGINT, signal.default_int_handler)
                command.run(*arguments)
                return 0
        say(f"usage: d2lrnn COMMAND ...\nd2lrnn: error: there is no command {words[0]!r}, only {', '.join(_COMMANDS)}")
        return 2
    except KeyboardInterrupt as stopped:
        say(f"{who}: {str(stopped).replace('resume=True', '--resume') or 'stopped'}")
        return 128 + getattr(stopped, "signal", signal.SIGINT)
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if _is_out_of_memory(error):
            say(f"{who}: error: There is not enough memory for this. {_SMALLER.get(words[0], _SMALLER_INPUT)}")
            return 1
        if not isinstance(error, ValueError | OSError) and not type(error).__module__.startswith("d2lrnn."):
            raise
        say(f"{who}: error: {error}")
        return 1
