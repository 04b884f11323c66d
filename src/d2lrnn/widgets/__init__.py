"""The book's explorables: figures that a reader can touch.

Each one is an `anywidget` (alive in JupyterLab, where Python sees and sets its traits) that also renders itself as
self-contained HTML (alive in the built book, with no kernel and no network). They need the extra ``widgets``.
"""

try:
    import anywidget as _anywidget  # noqa: F401
except ImportError as error:
    message = "d2lrnn.widgets needs anywidget, which is not installed: pip install anywidget"
    raise ImportError(message) from error

from d2lrnn.widgets.base import Explorable
from d2lrnn.widgets.concatenation import Concatenation
from d2lrnn.widgets.context_table import ContextTable
from d2lrnn.widgets.gradient_flow import GradientFlow
from d2lrnn.widgets.hidden_state import HiddenState
from d2lrnn.widgets.next_character import NextCharacter
from d2lrnn.widgets.perplexity import Perplexity
from d2lrnn.widgets.scan import Scan
from d2lrnn.widgets.surprise_map import SurpriseMap
from d2lrnn.widgets.training_lab import TrainingLab
from d2lrnn.widgets.windows import Windows

__all__ = [
    "Concatenation",
    "ContextTable",
    "Explorable",
    "GradientFlow",
    "HiddenState",
    "NextCharacter",
    "Perplexity",
    "Scan",
    "SurpriseMap",
    "TrainingLab",
    "Windows",
]
