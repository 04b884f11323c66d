"""Running it for real: corpora, files larger than memory, checkpoints, several processes, scoring, devices."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__, ["callbacks", "checkpoint", "corpus", "device", "files", "ranks", "scoring", "stream"]
)
