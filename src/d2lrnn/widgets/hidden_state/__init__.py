"""The explorable of the chapter *Hidden state*: the memory of a trained network, cut where the reader wants."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import torch
import traitlets as t

from d2lrnn.study.pretrained import Pretrained, load_pretrained, pretrained_bytes
from d2lrnn.text import normalize
from d2lrnn.widgets.base import Explorable, module, stylesheet
from d2lrnn.widgets.picture import Picture, color
from d2lrnn.widgets.spec import Spec, Words, unaccented

__all__ = ["HiddenState"]

_SPEC = Spec("hidden_state")
_MAX_TEXT = _SPEC.controls["text"]["max"]
_MAX_GUESS = 12
_NUM_HIDDENS = 128


@cache
def _trained() -> Pretrained:
    return load_pretrained("trained")


def _states(text: str) -> torch.Tensor:
    """The state after every character of a text, from zeros. Shape (num_steps, num_hiddens)."""
    network = _trained()
    if not text:
        return torch.zeros(0, _NUM_HIDDENS)
    ids = torch.tensor(network.vocab.encode(text))
    with torch.no_grad():
        return network.model.rnn(network.model.encode_inputs(ids[None]))[0][:, 0]


class HiddenState(Explorable):
    r"""How a trained network goes on with a text, with its memory whole and with its memory cut.

    The network of 128 units reads :math:`x_1, \ldots, x_T` from :math:`\mathbf H_0 = \mathbf 0` by
    :math:`\mathbf H_t = \tanh(\mathbf X_t \mathbf W_{xh} + \mathbf H_{t-1} \mathbf W_{hh} + \mathbf b_h)`. A second run
    reads the same text, but its state is set to zeros after `cut` characters.

    Parameters
    ----------
    text : str, optional
        At most 40 characters; normalised to letters (without accents) and spaces, without the signs at its end.
    cut : int, optional
        1 to 40: after so many characters the state is set to zeros; at most after the last one.
    unit : int, optional
        0 to 127: the unit whose values are traced; -1 is the one that differs most at the end.

    Raises
    ------
    traitlets.TraitError
        On a longer text or a number out of range.

    Examples
    --------
    >>> widget = HiddenState(text="and then there was another", cut=22)
    >>> tuple(widget.states.shape)
    (26, 128)
    >>> widget.guesses
    (' ', 'e ')
    >>> widget.distances[21] > widget.distances[25] > widget.distances[0] == 0
    True
    """

    _esm = module("hidden_state")
    _css = stylesheet("hidden_state")
    _words = "hidden_state"

    text = _SPEC.trait("text")
    cut = _SPEC.trait("cut")
    unit = _SPEC.trait("unit")
    weights = t.Bytes().tag(sync=True, shared=True)

    @t.default("weights")
    def _default_weights(self) -> bytes:
        return pretrained_bytes("trained")

    @t.validate("text")
    def _validate_text(self, proposal: dict[str, Any]) -> str:
        plain = unaccented(proposal["value"])
        read = normalize(plain)
        return (read.rstrip(" ") if re.search(r"[^A-Za-z\s]\s*\Z", plain) else read)[:_MAX_TEXT]

    @property
    def kept(self) -> str:
        """What has been read since the cut."""
        return self.text[self.cut :]

    @property
    def states(self) -> torch.Tensor:
        """State after every character, computed with torch. Shape (num_steps, 128)."""
        return _states(self.text)

    @property
    def cut_states(self) -> torch.Tensor:
        """The same with the state set to zeros after `cut` characters. Shape (num_steps, 128)."""
        cut = min(self.cut, len(self.text))
        states = self.states.clone()
        states[cut - 1 : cut] = 0
        states[cut:] = _states(self.text[cut:])
        return states

    @property
    def distances(self) -> list[float]:
        """Euclidean distance of the two states after every character; 0 before the cut."""
        return (self.states - self.cut_states).norm(dim=1).tolist()

    @property
    def probs(self) -> torch.Tensor:
        """Probabilities of the next character. Shape (27,)."""
        return self._probs(self._last(self.states))

    @property
    def cut_probs(self) -> torch.Tensor:
        """The same with the memory cut. Shape (27,)."""
        return self._probs(self._last(self.cut_states))

    @property
    def guesses(self) -> tuple[str, str]:
        """How either goes on, always with the likeliest character, to the end of the word: whole, cut."""
        whole, cut = (self._guess(self._last(states)) for states in (self.states, self.cut_states))
        return whole, cut

    @staticmethod
    def _last(states: torch.Tensor) -> torch.Tensor:
        return states[-1] if len(states) else torch.zeros(_NUM_HIDDENS)

    @staticmethod
    def _probs(H: torch.Tensor) -> torch.Tensor:
        model = _trained().model
        with torch.no_grad():
            return (H @ model.W_hq + model.b_q).softmax(-1)

    def _guess(self, H: torch.Tensor) -> str:
        model, vocab = _trained().model, _trained().vocab
        written = ""
        while len(written) < _MAX_GUESS and not written.endswith(" "):
            index = self._probs(H).argmax().view(1, 1)
            written += vocab.decode(index[0])
            with torch.no_grad():
                H = model.rnn(model.encode_inputs(index), H[None])[1][0]
        return written

    # ---- the static picture ----

    def static_sentence(self) -> str:
        """How either run goes on."""
        written, other = (guess.replace(" ", "␣") for guess in self.guesses)
        key = "sentence" if self.kept else "sentence_nothing"
        return Words(self._words)(key, text=self.text, kept=self.kept, written=written, other=other)

    def static_picture(self) -> str:
        """The memory as a thread under the letters: straight where all is kept, hanging where it was cut."""
        words, count = Words(self._words), len(self.text)
        cut = min(self.cut, count)
        apart = self.distances[cut - 1 :] if count else [0.0]
        most = max(apart) or 1
        left = f"{apart[-1] / (apart[0] or 1):.0%}"
        description = words("picture", forgotten=self.text[:cut], left=left)
        column, top, depth = min(24, 420 // (count + 1)), 44, 80
        picture = Picture(440, top + depth + 30, words("title"), description)
        style = {
            "font_family": "ui-monospace, monospace",
            "font_size": min(20.0, 1.5 * column),
            "text_anchor": "middle",
        }
        for j, character in enumerate(f"{self.text}?"):
            opacity = 0.5 if j < cut else 1
            picture.add("text", character, x=10 + column * (j + 0.5), y=20, opacity=opacity, **style)
        edge, end = 10 + column * cut, 10 + column * count
        points = [(edge + column * i, top + depth * distance / most) for i, distance in enumerate(apart)]
        hanging = "L".join(f"{x} {y:.1f}" for x, y in points)
        picture.add("path", d=f"M{edge} {top}L{hanging}L{end} {top}Z", fill=color("vermillion"), fill_opacity=0.2)
        picture.add("path", d=f"M10 {top}H{end}", stroke=color("blue"), stroke_width=4)
        picture.add("path", d=f"M{hanging}", stroke=color("vermillion"), stroke_width=3, fill="none")
        picture.add("path", d=f"M{edge} 2V{points[0][1]:.1f}", stroke="currentColor", stroke_dasharray="5 4")
        if edge > 150:
            picture.add("text", words("memory"), x=10, y=top + 22, fill=color("blue"))
        middle = {"x": min(max(edge, 150), 290), "text_anchor": "middle"}
        picture.add("text", words("emptied"), y=top + depth + 22, fill=color("vermillion"), **middle)
        return str(picture)
