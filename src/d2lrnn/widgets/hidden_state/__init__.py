"""The explorable of the chapter *Hidden state*: the state of a trained network, cut, and after texts that end alike."""

from __future__ import annotations

from functools import cache
from itertools import groupby, takewhile
from typing import Any

import torch
import traitlets as t

from d2lrnn.study.pretrained import Pretrained, load_pretrained, pretrained_bytes
from d2lrnn.text import load_text, normalize
from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color, format_number, format_probability, visible_character
from d2lrnn.widgets.spec import Words

__all__ = ["HiddenState"]

_MAX_TEXT = 40
_ROWS = 6
_NUM_HIDDENS = 128


@cache
def _trained() -> Pretrained:
    return load_pretrained("trained")


@cache
def _explained() -> list[float]:
    """For every unit, the share of its variance over the held-out text that the character just read explains."""
    network, text = _trained(), load_text()
    ids = torch.tensor(network.vocab.encode(text.vocab.decode(text.heldout_ids)))
    num_steps = 256
    rows = ids[: len(ids) // num_steps * num_steps].view(-1, num_steps)
    with torch.no_grad():
        states, _ = network.model.rnn(network.model.encode_inputs(rows))  # (num_steps, batch_size, num_hiddens)
    values, read = states.double().flatten(0, 1), rows.T.flatten()
    mean = values.mean(0)
    between = torch.zeros(_NUM_HIDDENS, dtype=torch.float64)
    for index in read.unique():
        after = values[read == index]
        between += len(after) * (after.mean(0) - mean) ** 2
    return [round(share, 4) for share in (between / ((values - mean) ** 2).sum(0)).tolist()]


def _states(text: str) -> torch.Tensor:
    """The state after every character of a text, from zeros. Shape (num_steps, num_hiddens)."""
    network = _trained()
    if not text:
        return torch.zeros(0, _NUM_HIDDENS)
    ids = torch.tensor(network.vocab.encode(text))
    with torch.no_grad():
        return network.model.rnn(network.model.encode_inputs(ids[None]))[0][:, 0]


class HiddenState(Explorable):
    r"""The state after every character, and what it predicts, with its memory whole and cut, or after two texts.

    The trained network of 128 units reads :math:`x_1, \ldots, x_T` from :math:`\mathbf H_0 = \mathbf 0` by
    :math:`\mathbf H_t = \tanh(\mathbf x_t \mathbf W_{xh} + \mathbf H_{t-1} \mathbf W_{hh} + \mathbf b_h)`. A second run
    stands beside it: in the mode "cut" the same text with :math:`\mathbf H_c` set to zeros, in the mode "compare" a
    second text, aligned with the first at its end; where one of them has not begun, its state is zeros.

    Parameters
    ----------
    text, second : str, optional
        Normalised to letters and spaces, and cut to their first 40 characters.
    mode : "cut" or "compare", optional
    cut : int, optional
        1 to 40: after so many characters the state is set to zeros; at most after the last one.
    place : int, optional
        1 to 40: the character, counted in the longer text, after which the odds are taken; at most the last one.
    unit : int, optional
        0 to 127: the unit whose values are traced.

    Raises
    ------
    traitlets.TraitError
        On an unknown mode or a number out of range.

    Examples
    --------
    >>> widget = HiddenState(text="and then there was another", cut=22)
    >>> tuple(widget.states.shape)
    (26, 128)
    >>> [character for character, _, _ in widget.likeliest[:2]]
    [' ', 'e']
    >>> widget.distances[21] > widget.distances[25] > widget.distances[0] == 0
    True
    """

    _esm = module("hidden_state")
    _css = stylesheet("hidden_state")
    _words = "hidden_state"

    mode = t.Enum(["cut", "compare"], "cut").tag(sync=True, control=True)
    text = t.Unicode("and then there was another").tag(sync=True, control=True)
    second = t.Unicode("and nobody else was ther").tag(sync=True, control=True)
    unit = t.Int(9, min=0, max=_NUM_HIDDENS - 1).tag(sync=True, control=True)
    place = t.Int(_MAX_TEXT, min=1, max=_MAX_TEXT).tag(sync=True, control=True)
    cut = t.Int(22, min=1, max=_MAX_TEXT).tag(sync=True, control=True)
    weights = t.Bytes().tag(sync=True, shared=True)
    explained = t.List(t.Float(), read_only=True).tag(sync=True, shared=True)

    @t.default("weights")
    def _default_weights(self) -> bytes:
        return pretrained_bytes("trained")

    @t.default("explained")
    def _default_explained(self) -> list[float]:
        return list(_explained())

    @t.validate("text", "second")
    def _validate_text(self, proposal: dict[str, Any]) -> str:
        return normalize(proposal["value"])[:_MAX_TEXT]

    @property
    def states(self) -> torch.Tensor:
        """State after every character of `text`, computed with torch. Shape (num_steps, 128)."""
        return _states(self.text)

    @property
    def other_states(self) -> torch.Tensor:
        """The other run: `text` with its memory cut, or `second`. Shape (num_steps, 128)."""
        if self.mode == "compare":
            return _states(self.second)
        cut = min(self.cut, len(self.text))
        if cut == 0:
            return self.states
        zeros = torch.zeros(1, _NUM_HIDDENS)
        return torch.cat([_states(self.text[: cut - 1]), zeros, _states(self.text[cut:])])

    @property
    def distances(self) -> list[float]:
        """Euclidean distance of the two runs' states, one for each character of the longer text."""
        whole, other = self._aligned()
        return (whole - other).norm(dim=1).tolist()

    @property
    def odds(self) -> torch.Tensor:
        """Probabilities of the character after `place`. Shape (27,)."""
        return self._odds(0)

    @property
    def other_odds(self) -> torch.Tensor:
        """The same in the other run. Shape (27,)."""
        return self._odds(1)

    @property
    def likeliest(self) -> list[tuple[str, float, float]]:
        """The six characters that either run gives most, each with both probabilities."""
        rows = zip(_trained().vocab.tokens, self.odds.tolist(), self.other_odds.tolist())
        return sorted(rows, key=lambda row: -max(row[1:]))[:_ROWS]

    @property
    def overlap(self) -> float:
        """What the two predictions have in common: the sum of the smaller probabilities, 0 to 1."""
        return float(torch.minimum(self.odds, self.other_odds).sum())

    @property
    def order(self) -> list[int]:
        """Units from the one whose value the character just read explains least to the one it explains best."""
        return sorted(range(_NUM_HIDDENS), key=lambda unit: self.explained[unit])

    def _aligned(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Both runs with zeros before the shorter one. Each of shape (num_steps of the longer one, 128)."""
        runs = self.states, self.other_states
        longest = max(map(len, runs))
        whole, other = (torch.cat([torch.zeros(longest - len(run), _NUM_HIDDENS), run]) for run in runs)
        return whole, other

    def _odds(self, run: int) -> torch.Tensor:
        states = self._aligned()[run]
        model = _trained().model
        H = states[min(self.place, len(states)) - 1] if len(states) else torch.zeros(_NUM_HIDDENS)
        with torch.no_grad():
            return (H @ model.W_hq + model.b_q).softmax(-1)

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """What either run expects."""
        words, rows, (whole, other) = Words(self._words), self.likeliest, self._pasts()
        by_whole, by_other = (max(rows, key=lambda row: row[i]) for i in (1, 2))
        return words(
            "sentence_compare" if self.mode == "compare" else "sentence_cut",
            text=whole or words("nothing"),
            rest=other or words("nothing"),
            character=visible_character(by_whole[0]),
            p=format_probability(by_whole[1]),
            other=visible_character(by_other[0]),
            q=format_probability(by_other[2]),
        )

    def static_picture(self) -> str:
        """Both heat maps with every fourth row, over the text."""
        words = Words(self._words)
        names = [words(f"lane_{self.mode}_{run}") for run in ("first", "second")]
        runs, units = self._aligned(), self.order[::4]
        texts = [self.text, self.text if self.mode == "cut" else self.second]
        rows = "; ".join(
            words(
                "picture_row",
                character=visible_character(character),
                p=format_probability(p),
                q=format_probability(q),
                first=names[0],
                second=names[1],
            )
            for character, p, q in self.likeliest
        )
        summary, values = self._summary()
        description = words(
            "picture",
            texts=" / ".join(f"“{text}”" for text in dict.fromkeys(texts)),
            first=names[0],
            second=names[1],
            summary=words(summary, **values),
            rows=rows,
        )
        left, column, row = 52, min(24, 380 // max(len(runs[0]), 1)), 4
        below = 24 if self.mode == "compare" else 6
        picture = Picture(440, 32 + 2 * row * len(units) + below, words("title"), description)
        for i, (text, states, name) in enumerate(zip(texts, runs, names)):
            top = 26 + i * (row * len(units) + 6)
            picture.add("text", name, x=left - 6, y=top + row * len(units) / 2 + 4, text_anchor="end", font_size=12)
            if i == 0 or self.mode == "compare":
                y = 20 if i == 0 else top + row * len(units) + 15
                self._add_letters(picture, text.rjust(len(states), "\0"), left + column / 2, y, column)
            self._add_map(picture, states[:, units], left, top, column, row)
        return str(picture)

    @staticmethod
    def _add_letters(picture: Picture, text: str, left: float, y: float, column: int) -> None:
        """Each character of a text over its column."""
        style = {"font_family": "ui-monospace", "font_size": min(15.0, 1.5 * column), "text_anchor": "middle"}
        for j, character in enumerate(text):
            if character != "\0":
                picture.add("text", visible_character(character), x=left + column * j, y=y, **style)

    @staticmethod
    def _add_map(picture: Picture, states: torch.Tensor, left: int, top: int, column: int, row: int) -> None:
        """Values rounded to halves, one path for each, so that the picture stays small."""
        paths = {-2: "", -1: "", 1: "", 2: ""}
        for i, values in enumerate((states.T * 2).round().int().tolist()):
            x = left
            for level, run in groupby(values):
                width = column * len(list(run))
                if level != 0:
                    paths[level] += f"M{x} {top + row * i + row // 2}h{width}"
                x += width
        for level, path in paths.items():
            if path:
                stroke = color("blue" if level < 0 else "vermillion")
                picture.add("path", d=path, stroke=stroke, stroke_width=row, opacity=abs(level) / 2, fill="none")

    def _pasts(self) -> tuple[str, str]:
        """What either run has in its memory at `place`."""
        longest = len(self._aligned()[0])
        place = min(self.place, longest)
        pasts = [text.rjust(longest, "\0")[:place].replace("\0", "") for text in (self.text, self.second)]
        if self.mode == "compare":
            return pasts[0], pasts[1]
        cut = min(self.cut, longest)
        return pasts[0], pasts[0][cut:] if place >= cut else pasts[0]

    def _summary(self) -> tuple[str, dict[str, object]]:
        """How far apart the states and the predictions are at `place`: a key of the words, and its values."""
        distances, compare = self.distances, self.mode == "compare"
        count = len(distances)
        if count == 0:
            return "text_short", {}
        place, since = min(self.place, count), min(self.cut, count)
        if compare:
            pairs = zip(reversed(self.text), reversed(self.second))
            since = count - len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
        values = {"distance": format_number(distances[place - 1], 1), "overlap": round(100 * self.overlap)}
        if compare and since == count:
            return "no_shared", values
        if place < since:
            return ("before_shared" if compare else "before_cut"), values
        if place > since:
            values |= {"count": place - since, "peak": format_number(distances[since - 1] if since else 0.0, 1)}
        return f"{'at' if place == since else 'since'}_{self.mode}", values
