"""The weights a training begins with: another training's, or those of a network that comes with instar."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from instar.core.errors import BadInput
from instar.training.driving.networks import Driver
from instar.training.onnx_file import import_onnx

LOOKED_AT = 256
"""Pictures by which normalisation is measured again."""
Layers = list[tuple[nn.Module, nn.BatchNorm2d | None]]


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """Weights by the names that a `Driver` has for them.

    `folded`: they are of a stored network, whose normalisation has become part of its convolutions.
    """

    weights: Mapping[str, Tensor]
    origin: str
    folded: bool = False


def begin_as(model: Driver, start: Start, pictures: np.ndarray[Any, Any]) -> None:
    """Take over the features, and of the head what has the same shape; the units of the answers stay.

    `pictures` are those that will be learned from, `uint8 (n, 160, 320, 3)`.
    """
    mine = model.state_dict()
    fits = {
        name: start.weights[name]
        for name, value in mine.items()
        if name.startswith(("features.", "head."))
        and name in start.weights
        and start.weights[name].shape == value.shape
    }
    if not all(name in fits for name in mine if name.startswith("features.")):
        raise BadInput(f"{start.origin} is of another network; start from one of the same kind and width")
    model.load_state_dict(mine | fits)
    if start.folded:
        _unfold(model, torch.from_numpy(pictures[:: max(1, len(pictures) // LOOKED_AT)]))


def start_of_onnx(path: Path, model: Driver) -> Start:
    """The weights of a network that `export_driver` wrote, of the same kind and width as `model`."""
    onnx = import_onnx("reading a network's weights")
    graph = onnx.load(str(path)).graph
    values = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "DequantizeLinear":
            small, scale = (values[name] for name in node.input)
            axis = next(a.i for a in node.attribute if a.name == "axis")
            shape = [-1 if i == axis else 1 for i in range(small.ndim)]
            values[node.output[0]] = small.astype(np.float32) * scale.reshape(shape)
        elif node.op_type == "Cast" and node.input[0] in values:
            values[node.output[0]] = values[node.input[0]].astype(np.float32)
    stored = [
        [values[name] for name in node.input[1:]] for node in graph.node if node.op_type in ("Conv", "Gemm")
    ]
    layers = _layers(model)
    if len(stored) != len(layers):
        raise BadInput(f"{path.stem} is of another network; start from one of the same kind and width")
    names = {module: name for name, module in model.named_modules()}
    weights: dict[str, Tensor] = {}
    for (layer, norm), parts in zip(layers, stored):
        weight, bias = (torch.from_numpy(np.array(part)) for part in parts)
        weights[f"{names[layer]}.weight"] = weight
        if norm is None:
            weights[f"{names[layer]}.bias"] = bias
            continue
        plain = nn.BatchNorm2d(len(bias)).state_dict()
        plain |= {"bias": bias, "running_var": plain["running_var"] - norm.eps}
        weights |= {f"{names[norm]}.{name}": value for name, value in plain.items()}
    return Start(weights, path.stem, folded=True)


def _layers(model: Driver) -> Layers:
    """Convolutions, each with its normalisation, and matrices, in the order in which they are applied."""
    layers: Layers = []
    for module in model.modules():
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            layers.append((module, None))
        elif isinstance(module, nn.BatchNorm2d):
            layers[-1] = (layers[-1][0], module)
    return layers


def _unfold(model: Driver, pictures: Tensor) -> None:
    """Measure what each normalisation sees and set it so that the network answers as before."""
    hooks = [
        norm.register_forward_pre_hook(_measure)
        for norm in model.modules()
        if isinstance(norm, nn.BatchNorm2d)
    ]
    model.eval()
    with torch.no_grad():
        model(pictures)
    for hook in hooks:
        hook.remove()


def _measure(norm: nn.Module, inputs: tuple[Tensor, ...]) -> None:
    assert isinstance(norm, nn.BatchNorm2d)
    assert norm.running_mean is not None
    assert norm.running_var is not None
    seen = inputs[0].transpose(0, 1).flatten(1)
    mean, spread = seen.mean(dim=1), seen.var(dim=1)
    norm.running_mean.copy_(mean)
    norm.running_var.copy_(spread)
    norm.bias.add_(mean)
    norm.weight.copy_((spread + norm.eps).sqrt())
