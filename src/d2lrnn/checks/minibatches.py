"""The self-checking exercises of the chapter *From text to minibatches* and its closer looks."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, log2

import torch

from d2lrnn.checks.exercise import Exercise, Mistake
from d2lrnn.study.subwords import merge

CARRY_OR_RESET = {
    "random": "reset",
    "sequential": "carry",
    "new epoch": "reset",
    "shuffled": "reset",
    "scoring": "carry",
}


def target(ids: torch.Tensor, start: int, num_steps: int) -> torch.Tensor:
    """Targets of the window of `num_steps` inputs that starts at `start`."""
    return ids[start + 1 : start + num_steps + 1]


def num_minibatches(num_tokens: int, batch_size: int, num_steps: int, offset: int) -> int:
    """Minibatches in an epoch of sequential windows."""
    return (num_tokens - offset - 1) // (batch_size * num_steps)


def first_token(row: int, minibatch: int, num_tokens: int, batch_size: int, num_steps: int) -> int:
    """Place of the first token that a row reads in a sequential minibatch, both counted from 0."""
    return row * (num_tokens // batch_size) + minibatch * num_steps


def _target_probes() -> Sequence[tuple]:
    return [(torch.arange(100, 120), 2, 4), (torch.tensor([1, 5, 2, 3, 6, 7, 4, 0, 2, 5, 1, 8]), 1, 5)]


def _count_probes() -> Sequence[tuple]:
    return [(1000, 2, 10, 0), (1001, 2, 10, 0), (1000, 2, 10, 25), (105, 4, 5, 3), (97, 1, 7, 0)]


def _place_probes() -> Sequence[tuple]:
    return [(1, 2, 1000, 2, 10), (0, 3, 1000, 2, 10), (3, 0, 1003, 4, 10), (2, 5, 1003, 4, 7)]


def bits_per_byte(perplexity: float, num_tokens: int, num_bytes: int) -> float:
    """Bits for each byte of a text, from the perplexity per token."""
    return log2(perplexity) * num_tokens / num_bytes


def _keeps_the_second(ids: Sequence[int], pair: tuple[int, int], new: int) -> list[int]:
    return [new if tuple(ids[i : i + 2]) == tuple(pair) else token for i, token in enumerate(ids)]


def _only_the_first(ids: Sequence[int], pair: tuple[int, int], new: int) -> list[int]:
    for i in range(len(ids) - 1):
        if tuple(ids[i : i + 2]) == tuple(pair):
            return [*ids[:i], new, *ids[i + 2 :]]
    return list(ids)


def _merge_probes() -> Sequence[tuple]:
    return [([1, 2, 3, 1, 2], (1, 2), 9), ([1, 1, 1, 4], (1, 1), 9), ([2, 1, 5, 1, 2, 1, 2], (1, 2), 300)]


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        label="ex-minibatches-1",
        solution=(7, 7, 32, 14),
        mistakes=(
            Mistake(
                (7, 6, 32, 14),
                "The unknown token needs a place of its own in the word vocabulary, although it doesn't occur here.",
            ),
            Mistake(
                (7, 8, 32, 14),
                "A vocabulary counts different tokens: is there a word that stands twice in the sentence?",
            ),
            Mistake(
                (7, 7, 32, 13),
                "There is a character that one doesn't see, and it is a token as well as any letter.",
            ),
            Mistake(
                (7, 7, 31, 14),
                "Normalising turns the full stop into something; it doesn't delete it.",
            ),
            Mistake(
                (7, 7, 32, 15),
                "One too many in the character vocabulary: is the full stop still there, or did you reserve an unknown "
                "token where none was asked for?",
            ),
        ),
        praise="Words and vocabulary happen to be seven each; in a long text the two are far apart.",
        rtol=0,
        atol=0,
    ),
    Exercise(
        label="ex-minibatches-2",
        solution=target,
        probes=_target_probes,
        mistakes=(
            Mistake(
                lambda ids, start, num_steps: ids[start : start + num_steps],
                "That is the input window itself: the shift is missing, and a model would learn to copy.",
            ),
            Mistake(
                lambda ids, start, num_steps: ids[start + 1 : start + num_steps],
                "The beginning is right, but the last input has no target: both ends of the slice have to move.",
            ),
            Mistake(
                lambda ids, start, num_steps: ids[start - 1 : start + num_steps - 1],
                "Shifted the wrong way: this asks at every step for the token that came before.",
            ),
            Mistake(
                lambda ids, start, num_steps: ids[start + num_steps : start + 2 * num_steps],
                "That is the window after this one. The target of each step is the very next token, not the one "
                "`num_steps` further on.",
            ),
            Mistake(
                lambda ids, start, num_steps: ids[start : start + num_steps + 1],
                "That holds inputs and targets together, `num_steps + 1` tokens. The first of them is not a target.",
            ),
        ),
        praise="Inputs and targets together take one token more than the window has steps.",
        rtol=0,
        atol=0,
    ),
    Exercise(
        label="ex-minibatches-3",
        solution=num_minibatches,
        probes=_count_probes,
        mistakes=(
            Mistake(
                lambda num_tokens, batch_size, num_steps, offset: (num_tokens - offset) // (batch_size * num_steps),
                "One minibatch too many now and then: can the last token of the text be an input?",
            ),
            Mistake(
                lambda num_tokens, batch_size, num_steps, offset: (num_tokens - 1) // (batch_size * num_steps),
                "Right without an offset. What does an offset do to the number of tokens that are left?",
            ),
            Mistake(
                lambda num_tokens, batch_size, num_steps, offset: num_tokens // (batch_size * num_steps),
                "Neither the offset nor the missing target of the last token has been taken away.",
            ),
            Mistake(
                lambda num_tokens, batch_size, num_steps, offset: (
                    (num_tokens - offset - 1) / (batch_size * num_steps)
                ),
                "The right quotient, but there are no fractions of a minibatch: what doesn't fill one is dropped.",
            ),
            Mistake(
                lambda num_tokens, batch_size, num_steps, offset: (
                    -((num_tokens - offset - 1) // -(batch_size * num_steps))
                ),
                "This rounds up, as if the rest were padded. These windows drop what doesn't fill a minibatch.",
            ),
            Mistake(
                lambda num_tokens, batch_size, num_steps, offset: (num_tokens - offset - 1) // num_steps,
                "That is the number of windows in one long row. A minibatch takes one window from each row.",
            ),
            Mistake(
                lambda num_tokens, batch_size, num_steps, offset: (num_tokens - offset - 1) // batch_size,
                "That is the number of steps that a row has. How many of them go into one minibatch?",
            ),
        ),
        praise="The order of the divisions doesn't matter, as long as each of them is rounded down.",
        rtol=0,
        atol=0,
    ),
    Exercise(
        label="ex-minibatches-4",
        solution=CARRY_OR_RESET,
        mistakes=(
            Mistake(
                {**CARRY_OR_RESET, "new epoch": "carry"},
                "At a new epoch every row goes back to the start of its stream: what did the state read last, and does "
                "that stand before the beginning?",
            ),
            Mistake(
                {**CARRY_OR_RESET, "shuffled": "carry"},
                "Shuffled, the windows are still the same, but does row 0 of one minibatch still go on where row 0 of "
                "the one before stopped?",
            ),
            Mistake(
                {**CARRY_OR_RESET, "shuffled": "carry", "new epoch": "carry"},
                "Sequential windows alone are not enough: the row has to go on at the very next token. Look once more "
                "at the new epoch and at the shuffled minibatches.",
            ),
            Mistake(
                {**CARRY_OR_RESET, "scoring": "reset"},
                "Nothing stands between one piece of the held-out text and the next, so why give up the context?",
            ),
            Mistake(
                {**CARRY_OR_RESET, "random": "carry"},
                "A random window comes from anywhere: the state would be the memory of a different page.",
            ),
            Mistake(
                dict.fromkeys(CARRY_OR_RESET, "carry"),
                "Carrying always is a memory of the wrong page wherever the text jumps. Where does it jump?",
            ),
            Mistake(
                dict.fromkeys(CARRY_OR_RESET, "reset"),
                "Resetting always is never false, but it forgets what could be known. Where does a row read on?",
            ),
        ),
        praise="One question decides them all: does what was read last stand just before what is read next?",
    ),
    Exercise(
        label="ex-minibatches-5",
        solution=first_token,
        probes=_place_probes,
        mistakes=(
            Mistake(
                lambda row, minibatch, num_tokens, batch_size, num_steps: (row + minibatch * batch_size) * num_steps,
                "Here the rows of one minibatch continue each other. They are read side by side, so each needs a "
                "stream of its own.",
            ),
            Mistake(
                lambda row, minibatch, num_tokens, batch_size, num_steps: (
                    row * (num_tokens // batch_size) + (minibatch - 1) * num_steps
                ),
                "One minibatch too early: they are counted from 0 here.",
            ),
            Mistake(
                lambda row, minibatch, num_tokens, batch_size, num_steps: (
                    row * (num_tokens / batch_size) + minibatch * num_steps
                ),
                "Right where the batch size divides the length of the text. A stream has a whole number of tokens.",
            ),
            Mistake(
                lambda row, minibatch, num_tokens, batch_size, num_steps: row * (num_tokens // batch_size) + minibatch,
                "The row is right. By how many tokens does a row advance from one minibatch to the next?",
            ),
            Mistake(
                lambda row, minibatch, num_tokens, batch_size, num_steps: row * num_steps + minibatch * num_steps,
                "Rows would start `num_steps` apart, and read each other's text. How long is a stream?",
            ),
            Mistake(
                lambda row, minibatch, num_tokens, batch_size, num_steps: (
                    row * ((num_tokens - 1) // batch_size) + minibatch * num_steps
                ),
                "That is how loaders cut that set the last target aside before dividing. Those of this chapter divide "
                "all the tokens.",
            ),
        ),
        praise="The row decides where to begin and the minibatch how far to go on; neither touches the other.",
        rtol=0,
        atol=0,
    ),
    Exercise(
        label="ex-minibatches-cutting-1",
        solution=(64, 64),
        mistakes=(
            Mistake(
                (65, 65),
                "One too many: the first held-out window starts one place after the last training window, not at it.",
            ),
            Mistake(
                (63, 63),
                "One too few: a window covers its inputs and its last target. Count its characters once more.",
            ),
            Mistake(
                (0, 0),
                "Cutting the list is not cutting the text: where does the last training window end, and where does the "
                "first held-out window begin?",
            ),
            Mistake(
                (1, 1),
                "Two neighbouring windows have all but one of their characters in common.",
            ),
            Mistake(
                (64, 65),
                "The shared characters are right. If the last training window ends at place e, where may a held-out "
                "window begin at the earliest?",
            ),
        ),
        praise="Cutting the text before the windows costs nothing of the kind.",
        rtol=0,
        atol=0,
    ),
    Exercise(
        label="ex-minibatches-subwords-1",
        solution=merge,
        probes=_merge_probes,
        mistakes=(
            Mistake(
                _keeps_the_second,
                "You write `new` and go on one place later, so the second token of the pair is still there. Skip both.",
            ),
            Mistake(
                lambda ids, pair, new: [new if token in tuple(pair) else token for token in ids],
                "You replace single tokens of the pair. Only the two side by side, in this order, become one.",
            ),
            Mistake(
                _only_the_first,
                "You replace one occurrence. Every occurrence of the pair becomes the new token.",
            ),
            Mistake(
                lambda ids, pair, new: merge(ids, tuple(reversed(pair)), new),
                "You look for the pair the other way round.",
            ),
        ),
        praise="With this and a counter, byte pair encoding is a loop of a few lines.",
        rtol=0,
        atol=0,
    ),
    Exercise(
        label="ex-minibatches-subwords-2",
        solution=bits_per_byte,
        probes=lambda: [(16.0, 1, 4), (3.0, 100, 100), (42.5, 3000, 9600)],
        mistakes=(
            Mistake(
                lambda perplexity, num_tokens, num_bytes: log2(perplexity),
                "Those are the bits per token. A token stands for several bytes.",
            ),
            Mistake(
                lambda perplexity, num_tokens, num_bytes: log2(perplexity) * num_bytes / num_tokens,
                "You multiply by the bytes per token. More bytes in a token mean fewer bits for each of them.",
            ),
            Mistake(
                lambda perplexity, num_tokens, num_bytes: perplexity * num_tokens / num_bytes,
                "Perplexity is a number of choices, not of bits. Which function makes bits of it?",
            ),
            Mistake(
                lambda perplexity, num_tokens, num_bytes: log(perplexity) * num_tokens / num_bytes,
                "The right quotient, in nats. Bits have the logarithm to the base 2.",
            ),
        ),
        praise="This number can be compared between tokenizers, as long as the text is the same.",
    ),
)
