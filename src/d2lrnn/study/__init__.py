"""One module a chapter: what a chapter builds beyond the ten modules that are read first."""

import lazy_loader as _lazy

_MODULES = ["attention", "bptt", "by_hand", "coding", "gates", "pretrained", "recorded", "scan", "subwords"]
__getattr__, __dir__, __all__ = _lazy.attach(__name__, _MODULES)
