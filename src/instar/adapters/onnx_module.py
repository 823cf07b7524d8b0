"""A network of ONNX as a torch module: trained there, and written back into the graph that it came from.

Layers of batch normalisation are part of the weights in such a file, so they stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from instar.core.errors import BadInput

__all__ = ["OnnxModule"]

END = 2**31
"""How ONNX says "to the end" in a slice: anything from here on."""


class OnnxModule(nn.Module):
    """One batch of inputs in, the first output out, whatever the size of the batch.

    Its parameters are the graph's weights of at least one dimension; their names have no dots.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._model = onnx.load(path)
        graph = self._model.graph
        self._nodes = [(node, _attributes(node)) for node in graph.node]
        unknown = sorted({node.op_type for node, _ in self._nodes} - OPERATIONS.keys())
        if unknown:
            raise BadInput(f"{path} cannot be trained: {', '.join(unknown)} of ONNX is not known here")
        self._numbers: dict[str, list[Any]] = {}
        for one in graph.initializer:
            values = onnx.numpy_helper.to_array(one)
            if values.dtype == np.float32 and values.ndim and values.size and not _is_scale(one.name, graph):
                self.register_parameter(_plain(one.name), nn.Parameter(torch.from_numpy(values.copy())))
            else:
                self._numbers[one.name] = values.reshape(-1).tolist()
        (shown,) = [one for one in graph.input if one.name not in self._names()]
        self._input, self._output = shown.name, graph.output[0].name
        self.input_shape, self.output_shape = _shape(shown), _shape(graph.output[0])

    def forward(self, inputs: Tensor) -> Tensor:
        values: dict[str, Any] = {self._input: inputs, **self._names(), **self._numbers}
        for node, attributes in self._nodes:
            given = [values[name] for name in node.input if name]
            values[node.output[0]] = OPERATIONS[node.op_type](given, attributes)
        result: Tensor = values[self._output]
        return result

    def save(self, path: Path) -> None:
        """The same graph with the weights as they are now."""
        learned = self._names()
        for one in self._model.graph.initializer:
            if one.name in learned:
                values = learned[one.name].detach().cpu().numpy()
                one.CopyFrom(onnx.numpy_helper.from_array(values, one.name))
        onnx.save(self._model, path)

    def _names(self) -> dict[str, Tensor]:
        """The weights by the names that the graph has for them."""
        own = dict(self.named_parameters())
        return {
            one.name: own[_plain(one.name)]
            for one in self._model.graph.initializer
            if _plain(one.name) in own
        }


def _shape(value: Any) -> list[int]:
    """As the file has it: the batch for which it was written is the first."""
    return [int(one.dim_value) for one in value.type.tensor_type.shape.dim]


def _plain(name: str) -> str:
    return f"weight_{name}".replace(".", "_")


def _is_scale(name: str, graph: Any) -> bool:
    """Whether a value says how much larger something becomes, which is nothing to be learned."""
    return any(node.op_type == "Resize" and name in node.input for node in graph.node)


def _attributes(node: Any) -> dict[str, Any]:
    return {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}


def _conv(given: Sequence[Tensor], attributes: Mapping[str, Any]) -> Tensor:
    values, weights, *bias = given
    return F.conv2d(
        values,
        weights,
        bias[0] if bias else None,
        list(attributes.get("strides", (1, 1))),
        list(_even_pads(attributes)),
        list(attributes.get("dilations", (1, 1))),
        attributes.get("group", 1),
    )


def _max_pool(given: Sequence[Tensor], attributes: Mapping[str, Any]) -> Tensor:
    pads, strides = _even_pads(attributes), attributes.get("strides", (1, 1))
    return F.max_pool2d(given[0], list(attributes["kernel_shape"]), list(strides), list(pads))


def _even_pads(attributes: Mapping[str, Any]) -> tuple[int, int]:
    top, left, bottom, right = attributes.get("pads", (0, 0, 0, 0))
    if (top, left) != (bottom, right):
        raise BadInput("the network pads one side more than the other; that cannot be trained here")
    return top, left


def _slice(given: Sequence[Any], attributes: Mapping[str, Any]) -> Tensor:
    values, starts, ends, axes, steps = given
    places = [slice(None)] * values.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps):
        places[axis] = slice(start, None if end >= END else end, step)
    cut: Tensor = values[tuple(places)]
    return cut


def _reshape(given: Sequence[Any], attributes: Mapping[str, Any]) -> Tensor:
    """The first dimension is the batch, of which the file knows only one size."""
    values, shape = given
    reshaped: Tensor = values.reshape(len(values), *shape[1:])
    return reshaped


def _resize(given: Sequence[Any], attributes: Mapping[str, Any]) -> Tensor:
    values, *_, scales = given
    if attributes.get("mode") != b"nearest":
        raise BadInput("the network enlarges by other than nearest values; that cannot be trained here")
    return F.interpolate(values, scale_factor=tuple(scales[2:]), mode="nearest")


OPERATIONS: Mapping[str, Callable[[Sequence[Any], Mapping[str, Any]], Tensor]] = {
    "Add": lambda given, _: given[0] + given[1],
    "Concat": lambda given, how: torch.cat(list(given), how["axis"]),
    "Conv": _conv,
    "MaxPool": _max_pool,
    "Mul": lambda given, _: given[0] * given[1],
    "Reshape": _reshape,
    "Resize": _resize,
    "Sigmoid": lambda given, _: torch.sigmoid(given[0]),
    "Slice": _slice,
    "Transpose": lambda given, how: given[0].permute(how["perm"]),
}
