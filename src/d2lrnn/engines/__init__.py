"""How a training step is computed: autograd, closed form, CUDA graph; :class:`Stepper` chooses."""

from d2lrnn.engines.stepper import Engine, EngineName, Step, Stepper

__all__ = ["Engine", "EngineName", "Step", "Stepper"]
