"""Small ONNX networks that answer every picture with the same numbers, so that what is decoded is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIZE = (96, 128)  # height and width of their input


def save_network(
    path: Path,
    answers: Mapping[str, np.ndarray],
    *,
    further: Mapping[str, int] | None = None,
    kind: str = "FLOAT",
    shape: Sequence[int | str] = (1, 3, *SIZE),
) -> str:
    """A network for pictures of `SIZE` with these outputs; `further` are inputs of so many whole numbers."""
    inputs = [helper.make_tensor_value_info("picture", getattr(TensorProto, kind), shape)]
    inputs += [
        helper.make_tensor_value_info(name, TensorProto.INT64, [1, n]) for name, n in (further or {}).items()
    ]
    nodes = [
        helper.make_node("Constant", [], [name], value=numpy_helper.from_array(value, f"{name}-value"))
        for name, value in answers.items()
    ]
    outputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in answers.items()
    ]
    # A session warns of weights that nothing uses.
    idle = numpy_helper.from_array(np.zeros(3, np.float32), "idle")
    graph = helper.make_graph(nodes, "answers", inputs, outputs, initializer=[idle])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, str(path))
    return str(path)
