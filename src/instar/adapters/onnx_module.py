"""A network of ONNX as a torch module: trained there, and written back into the graph that it came from.

Layers of batch normalisation are mostly part of the weights in such a file, and what they have measured stays
as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from instar.core.errors import BadInput
from instar.user_file import whole_file

MEASURED = {("BatchNormalization", place) for place in (3, 4)}
"""Where a network keeps what it has measured of its training pictures: it is not learned."""
END = 2**31
"""How ONNX says "to the end" in a slice: anything from here on."""
LEARNED_FROM = "instar.learned_from"


class OnnxModule(nn.Module):
    """One batch of inputs in, the first output out, whatever the size of the batch.

    Its parameters are the graph's weights of at least one dimension; their names have no dots.
    `learned_from` are the digests of pictures that it was trained on here: the file keeps them.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._model = onnx.load(path)
        graph = self._model.graph
        about = {one.key: one.value for one in self._model.metadata_props}
        self.learned_from = frozenset(about.get(LEARNED_FROM, "").split())
        _name_constants(graph)
        known = onnx.helper.get_attribute_value
        self._nodes = [(node, {one.name: known(one) for one in node.attribute}) for node in graph.node]
        unknown = sorted({node.op_type for node, _ in self._nodes} - OPERATIONS.keys())
        if unknown:
            raise BadInput(f"{path} cannot be trained: {', '.join(unknown)} of ONNX is not known here")
        self._numbers: dict[str, Any] = {}
        # By name, what each value is used for, and as which of its inputs.
        uses = {name: (node.op_type, place) for node in graph.node for place, name in enumerate(node.input)}
        for one in graph.initializer:
            values, use = onnx.numpy_helper.to_array(one), uses.get(one.name, ("", 0))
            if values.dtype == np.float32 and use in MEASURED:
                self.register_buffer(_plain(one.name), torch.from_numpy(values.copy()))
            elif values.dtype == np.float32 and values.ndim and values.size and _is_learned(values, use):
                self.register_parameter(_plain(one.name), nn.Parameter(torch.from_numpy(values.copy())))
            elif values.dtype == np.float32 and values.size == 1:
                self._numbers[one.name] = float(values.reshape(-1)[0])
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
        if self.learned_from:
            about = {one.key: one.value for one in self._model.metadata_props}
            told = {LEARNED_FROM: " ".join(sorted(self.learned_from))}
            onnx.helper.set_model_props(self._model, about | told)
        with whole_file(path) as unfinished:
            onnx.save(self._model, unfinished, format="protobuf")

    def _names(self) -> dict[str, Tensor]:
        """The weights by the names that the graph has for them."""
        own = {**dict(self.named_parameters()), **dict(self.named_buffers())}
        return {
            one.name: own[_plain(one.name)]
            for one in self._model.graph.initializer
            if _plain(one.name) in own
        }


def _shape(value: Any) -> list[int]:
    """The dimensions in the file; the first is the batch that it was written for."""
    return [int(one.dim_value) for one in value.type.tensor_type.shape.dim]


def _plain(name: str) -> str:
    return f"weight_{name}".replace(".", "_")


def _name_constants(graph: Any) -> None:
    """Nodes that only hold a value become values like all others."""
    for node in [one for one in graph.node if one.op_type == "Constant"]:
        value = onnx.helper.get_attribute_value(node.attribute[0])
        value.name = node.output[0]
        graph.initializer.append(value)
        graph.node.remove(node)


def _is_learned(values: Any, use: tuple[str, int]) -> bool:
    """Whether a constant is a weight, and not a scale factor or a number such as the 6 of a hard swish."""
    return use[0] != "Resize" and (values.size > 1 or use[0] in ("Conv", "ConvTranspose"))


def _conv(convolve: Callable[..., Tensor], given: Sequence[Tensor], attributes: Mapping[str, Any]) -> Tensor:
    values, weights, *bias = given
    return convolve(
        values,
        weights,
        bias[0] if bias else None,
        list(attributes.get("strides", (1, 1))),
        list(_even_pads(attributes)),
        groups=attributes.get("group", 1),
        dilation=list(attributes.get("dilations", (1, 1))),
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
    values, scales = given[0], given[-1]
    if attributes.get("mode") != b"nearest":
        raise BadInput("the network enlarges by other than nearest values; that cannot be trained here")
    return F.interpolate(values, scale_factor=tuple(scales[2:]), mode="nearest")


def _batch_norm(given: Sequence[Tensor], attributes: Mapping[str, Any]) -> Tensor:
    values, weights, bias, mean, variance = given
    return F.batch_norm(values, mean, variance, weights, bias, eps=attributes.get("epsilon", 1e-5))


def _hard_sigmoid(given: Sequence[Tensor], attributes: Mapping[str, Any]) -> Tensor:
    return torch.clamp(given[0] * attributes.get("alpha", 0.2) + attributes.get("beta", 0.5), 0, 1)


OPERATIONS: Mapping[str, Callable[[Sequence[Any], Mapping[str, Any]], Tensor]] = {
    "Add": lambda given, _: given[0] + given[1],
    "BatchNormalization": _batch_norm,
    "Clip": lambda given, _: torch.clamp(*given),
    "Concat": lambda given, how: torch.cat(list(given), how["axis"]),
    "Conv": partial(_conv, F.conv2d),
    "ConvTranspose": partial(_conv, F.conv_transpose2d),
    "Div": lambda given, _: given[0] / given[1],
    "GlobalAveragePool": lambda given, _: given[0].mean((2, 3), keepdim=True),
    "HardSigmoid": _hard_sigmoid,
    "MaxPool": _max_pool,
    "Mul": lambda given, _: given[0] * given[1],
    "Relu": lambda given, _: torch.relu(given[0]),
    "Reshape": _reshape,
    "Resize": _resize,
    "Sigmoid": lambda given, _: torch.sigmoid(given[0]),
    "Slice": _slice,
    "Transpose": lambda given, how: given[0].permute(how["perm"]),
}
