"""All weights of a model in one vector, so that norm, clipping and update are a few operations each."""

from __future__ import annotations

import torch
from torch import nn

__all__ = ["FlatParameters"]


class FlatParameters:
    """All trainable weights of a model as one vector, and their gradients as another, for as long as a ``with`` lasts.

    Inside, each parameter and its ``grad`` are views of their part; the parts do not overlap, and what two modules
    share is there once. Afterwards each parameter has memory of its own again, with the values of that moment, and no
    ``grad``.

    Parameters
    ----------
    model : nn.Module
        On any device.

    Attributes
    ----------
    data, grad : Tensor, shape (num_weights,)
        Between the parts there may be a few zeros: each part is aligned to 64 bytes.

    Raises
    ------
    ValueError
        If there is nothing to train, or the parameters are of different types or on different devices.

    Examples
    --------
    >>> model = nn.Linear(2, 1)
    >>> with FlatParameters(model) as flat:
    ...     _ = flat.data.fill_(0.5)
    >>> model.weight.tolist(), model.bias.tolist()
    ([[0.5, 0.5]], [0.5])
    """

    _ALIGN_BYTES = 64

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._packed = _cudnn_weight_layout(model)
        self._parameters = [p for p in dict.fromkeys([*self._packed, *model.parameters()]) if p.requires_grad]
        if not self._parameters:
            raise ValueError("The model has no parameter that requires a gradient; there is nothing to train.")
        kinds = {(p.dtype, p.device) for p in self._parameters}
        if len(kinds) > 1:
            words = ", ".join(sorted(f"{dtype} on {device}" for dtype, device in kinds))
            raise ValueError(f"The parameters differ in type or device ({words}); bring them together: model.to(...).")

    def __enter__(self) -> FlatParameters:
        first = self._parameters[0]
        unit = max(1, self._ALIGN_BYTES // first.element_size())
        slices, end = [], 0
        for number, parameter in enumerate(self._parameters):
            if number >= len(self._packed):
                end = -(-end // unit) * unit  # rounded up
            slices.append(slice(end, end + parameter.numel()))
            end += parameter.numel()
        self.data = torch.zeros(end, dtype=first.dtype, device=first.device)
        self.grad = torch.zeros_like(self.data)
        for parameter, part in zip(self._parameters, slices):
            self.data[part] = parameter.detach().reshape(-1)
            parameter.data = self.data[part].view(parameter.shape)
            parameter.grad = self.grad[part].view(parameter.shape)
        return self

    def __exit__(self, *_: object) -> None:
        for parameter in self._parameters:
            parameter.data = parameter.detach().clone()
            parameter.grad = None
        for layer in _torchs_own_layers(self._model):
            layer.flatten_parameters()  # on a GPU cuDNN's layers have one memory for all that is theirs


def _torchs_own_layers(model: nn.Module) -> list[nn.RNNBase]:
    return [module for module in model.modules() if isinstance(module, nn.RNNBase)]


def _cudnn_weight_layout(model: nn.Module) -> list[nn.Parameter]:
    """The parameters of the model's one layer of torch's own: at the very beginning, without gaps, matrices before
    biases. Found otherwise, cuDNN copies them together at every call, and torch warns."""
    layers = _torchs_own_layers(model)
    parameters = list(layers[0].parameters()) if len(layers) == 1 else []
    return sorted(parameters, key=lambda p: p.dim() == 1) if all(p.requires_grad for p in parameters) else []
