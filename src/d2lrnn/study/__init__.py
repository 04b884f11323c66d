"""One module a chapter: what a chapter builds beyond the modules of the first hour."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(__name__, ["bptt", "by_hand", "coding", "pretrained", "scan", "subwords"])
