"""How a training step is computed: autograd, closed form, CUDA graph; :class:`Stepper`, or `make_stepper`, chooses."""

from d2lrnn.engines.stepper import Engine, EngineName, Step, Stepper, make_stepper

__all__ = ["Engine", "EngineName", "Step", "Stepper", "make_stepper"]
