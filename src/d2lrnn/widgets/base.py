"""`Explorable`: an anywidget that also renders itself as self-contained HTML.

One ES module serves two worlds. With a kernel it is an ordinary anywidget: traits are synced, Python sees what the
reader does and may answer. Without one, the widget's HTML carries the module, the style sheet and the traits' values,
and a small stand-in for the widget model (``shim.mjs``); it asks nothing of the network and works from ``file://``.

With the environment variable ``D2LRNN_STATIC=1``, which the book's build sets, a widget opens no comm: no widget state
is stored in the notebook, and its output is text and the self-contained HTML. With a comm the output is the live view,
and a picture for whoever reads the saved notebook without a kernel.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import reprlib
from functools import cache
from pathlib import Path
from typing import Any

import anywidget
import traitlets as t

from d2lrnn.widgets.bundle import bundle
from d2lrnn.widgets.spec import Words

__all__ = ["Explorable", "module", "stylesheet"]

_FOLDER = Path(__file__).parent
_REPR = reprlib.Repr()
_REPR.maxlist, _REPR.maxstring, _REPR.maxother = 12, 60, 60


def module(name: str) -> str:
    """The bundled ES module ``<name>/index.mjs``: what a widget class gives as ``_esm``."""
    return bundle(_FOLDER / name / "index.mjs")


def stylesheet(name: str) -> str:
    """The shared style sheet and ``<name>/style.css``: what a widget class gives as ``_css``."""
    return "\n".join(path.read_text(encoding="utf-8") for path in (_FOLDER / "base.css", _FOLDER / name / "style.css"))


@cache
def _script(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _json(value: object) -> str:
    """JSON that may stand in a script element: no ``<``, so neither ``</script>`` nor ``<!--`` can end it."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def _data_block(block: str, value: object, **data: str) -> str:
    """A script element that holds data; its hash lets the loader, and the build of the book, know two equal ones."""
    text = _json(value)
    more = "".join(f' data-{name}="{html.escape(content)}"' for name, content in data.items())
    return f'<script type="application/json" class="d2lrnn-{block}" data-hash="{_hash(text)}"{more}>{text}</script>'


def _portable(value: object) -> tuple[str, object]:
    """A trait's value as JSON can carry it, and how: ``json`` as it is, bytes as ``base64``."""
    if isinstance(value, bytes | bytearray | memoryview):
        return "base64", base64.b64encode(bytes(value)).decode("ascii")
    return "json", value


class Explorable(anywidget.AnyWidget):
    """Base class of the book's explorables.

    A subclass sets ``_esm`` and ``_css`` (see `module` and `stylesheet`), tags its traits with ``sync=True`` and those
    that the reader changes with ``control=True`` as well, and defines `static_picture` and `static_sentence`. A trait
    holds JSON values or, as a whole, bytes: a ``Bytes`` trait reaches the module as a ``DataView``. Large values that
    several explorables share (weights, a text) are tagged ``shared=True``: each stands in a block of its own, under
    the hash of its content, so that a page can keep one copy of it.

    Parameters
    ----------
    **traits
        Values for the traits. Those of the control traits are what `reset`, and the widget's own reset button, restore.

    Attributes
    ----------
    author_state : dict
        The control traits' values as they were constructed (read-only, synced).
    """

    #: The folder of the widget's ``spec.json``.
    _words: str = "ui"

    author_state = t.Dict(read_only=True).tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.set_trait("author_state", self._control_state())

    def open(self) -> None:
        """Open a comm to the front end, unless the environment says that there is none."""
        if os.environ.get("D2LRNN_STATIC") != "1":
            super().open()

    def update(self, **traits: Any) -> None:
        """Set several traits at once: they are checked together and reach the view in one message."""
        with self.hold_sync(), self.hold_trait_notifications():
            for name, value in traits.items():
                if name not in self._state_names():
                    known = ", ".join(self._state_names())
                    raise t.TraitError(f"{type(self).__name__} has no trait {name!r} to set; it has {known}.")
                setattr(self, name, value)

    def reset(self) -> None:
        """Restore the control traits to the values they were constructed with."""
        self.update(**self.author_state)

    def static_picture(self) -> str:
        """The SVG that stands in the widget's place until it is alive. Subclasses draw it from their traits."""
        raise NotImplementedError(f"{type(self).__name__} draws no static picture yet; define static_picture().")

    def static_sentence(self) -> str:
        """One sentence beneath the static picture."""
        raise NotImplementedError(f"{type(self).__name__} has no static sentence yet; define static_sentence().")

    def static_html(self) -> str:
        """The widget as self-contained HTML, alive with no kernel and no network.

        Returns
        -------
        str
            An element ``.d2lrnn-widget`` with the static picture, the values of the traits, the sources and a loader.
            Equal widgets give an equal text. Once it is mounted, the element carries ``data-ready="1"``; where it
            could not be, ``data-ready="error"`` and a message.

        Raises
        ------
        ValueError
            If a trait holds NaN or infinity, which JSON does not know.
        """
        name = type(self).__name__
        style, source = str(self._css), str(self._esm)
        parts = (
            f'<div class="d2lrnn-widget" data-widget="{name}">',
            f'<style data-hash="{_hash(style)}">{style}</style>',
            f'<div class="d2lrnn-fallback">{self._picture_and("static_note")}</div>',
            '<div class="d2lrnn-view"></div>',
            _data_block("state", self._static_state()),
            *self._shared_blocks(),
            _data_block("shim", bundle(_FOLDER / "shim.mjs")),
            _data_block("module", source),
            f"<script>{_script('loader.js')}</script>",
            "</div>",
        )
        return "\n".join(parts)

    def __repr__(self) -> str:
        # The default repr holds a memory address, which would make every build differ.
        values = ", ".join(f"{name}={_REPR.repr(value)}" for name, value in self._control_state().items())
        return f"{type(self).__name__}({values})"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data: dict[str, Any] = {"text/plain": repr(self)}
        metadata: dict[str, Any] = {}
        if self.comm is not None:
            data, metadata = super()._repr_mimebundle_(**kwargs) or (data, metadata)
            # Editors show the live view. The picture is for readers of the saved notebook, which would grow by half a
            # megabyte at every display if it held the sources as well.
            data["text/html"] = f"<div>{self._picture_and('saved_note')}</div>"
        else:
            data["text/html"] = self.static_html()
        return data, metadata

    def _picture_and(self, note: str) -> str:
        """The static picture, and beneath it its sentence and a note."""
        sentences = f"{self.static_sentence()} {Words('ui')(note)}"
        return f"{self.static_picture()}<p>{html.escape(sentences)}</p>"

    def _state_names(self) -> list[str]:
        """Synced traits of the explorable itself, without those of ipywidgets and anywidget."""
        inherited = anywidget.AnyWidget.class_trait_names(sync=True)
        return [name for name in self.trait_names(sync=True) if name not in inherited and not name.startswith("_")]

    def _control_state(self) -> dict[str, Any]:
        controls = self.trait_names(control=True)
        in_order = (name for cls in reversed(type(self).__mro__) for name in vars(cls) if name in controls)
        return {name: getattr(self, name) for name in in_order}

    def _static_state(self) -> dict[str, dict[str, Any]]:
        """Values for the page, but for the shared ones: JSON under ``state``, base64 under ``buffers``."""
        shared = self.trait_names(shared=True)
        own = {name: _portable(getattr(self, name)) for name in self._state_names() if name not in shared}
        return {
            "state": {name: value for name, (kind, value) in own.items() if kind == "json"},
            "buffers": {name: value for name, (kind, value) in own.items() if kind == "base64"},
        }

    def _shared_blocks(self) -> list[str]:
        """One block for each shared trait."""
        blocks = []
        for name in self._state_names():
            if name in self.trait_names(shared=True):
                kind, value = _portable(getattr(self, name))
                blocks.append(_data_block("shared", value, name=name, kind=kind))
        return blocks
