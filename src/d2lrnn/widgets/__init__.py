"""The book's explorables: figures that a reader can touch.

Each one is an `anywidget` (alive in JupyterLab, where Python sees and sets its traits) that also renders itself as
self-contained HTML (alive in the built book, with no kernel and no network). They need the extra ``widgets``.
"""

import importlib.util

# Found, not imported: an explorable's module is read when it is asked for.
if importlib.util.find_spec("anywidget") is None:
    raise ImportError("d2lrnn.widgets needs anywidget, which is not installed: pip install anywidget")

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
