"""How a training step is computed: autograd, closed form, CUDA graph."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(__name__, ["closed_form", "cuda_graph", "stepper"])
