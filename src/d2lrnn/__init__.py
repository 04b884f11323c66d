"""d2lrnn: the helper package of *Hidden State*, an interactive book about recurrent neural networks.

Train a character language model, score it on text that it has not seen, and let it write::

    import d2lrnn as d

    text = d.load_text()                                            # the story that ships with the package
    model = d.RNNLM(d.RNNScratch(len(text.vocab), 64), len(text.vocab))
    windows = d.RandomWindows(text.train_ids, batch_size=32, num_steps=32)
    d.fit(model, windows, epochs=3, lr=0.01, heldout_ids=text.heldout_ids)
    print(d.generate(model, text.vocab, "the tide ", 100))

Beside the names of ``d2lrnn.__all__``: ``d.subwords``, ``d.bptt``, ``d.by_hand``, ``d.scan``, ``d.coding`` and
``d.pretrained`` belong to one chapter each, ``d.optim`` has the optimisers, ``d.plotting`` the figures (needs
matplotlib), ``d.widgets`` the explorables (needs anywidget), ``d.checks`` the exercises, ``d.ops`` what long trainings
need. ``help(d.fit)`` explains a name.
"""

# Names are imported when they are asked for, so that `d2lrnn --help` need not wait for torch. The list of them, which
# type checkers read as well, is __init__.pyi.
import sys as _sys
from typing import Any as _Any

import lazy_loader as _lazy

__version__ = "0.2.0"

_load, _names, _ = _lazy.attach_stub(__name__, __file__)
_SUBMODULES = (
    "attention", "bptt", "by_hand", "checks", "coding", "engines", "gates", "ops", "optim", "plotting", "pretrained",
    "recorded", "scan", "study", "subwords", "widgets",
)  # fmt: skip
__all__ = sorted(set(_names()) - set(_SUBMODULES))

_NAMES_OF_D2L = {
    "TimeMachine": "load_text('time-machine')",
    "Trainer": "fit",
    "grad_clipping": "clip_gradients",
    "load_data_time_machine": "load_text('time-machine')",
    "predict_ch8": "generate",
    "predict_rnn": "generate",
    "RNN": "RNNConcise",
    "RNNLMScratch": "RNNLM(RNNScratch(...), vocab_size)",
    "RNNModel": "RNNLM(RNNConcise(...), vocab_size)",
    "RNNModelScratch": "RNNLM(RNNScratch(...), vocab_size)",
    "seq_data_iter_random": "RandomWindows",
    "seq_data_iter_sequential": "SequentialWindows",
    "train_ch8": "fit",
    "train_epoch_ch8": "fit",
    "try_gpu": "pick_device",
}


def __getattr__(name: str) -> _Any:
    if name in _NAMES_OF_D2L:
        raise AttributeError(f"d2l's {name} is d2lrnn.{_NAMES_OF_D2L[name]} here; see the page 'Coming from D2L'.")
    return _load(name)


def __dir__() -> list[str]:
    # help() would print every class with all that torch gives it, ten thousand lines: it shows the docstring above.
    if _sys._getframe(1).f_globals.get("__name__") == "inspect":
        return []
    return sorted([*__all__, *_SUBMODULES])
