"""A trained network as an ONNX file, small, and saying itself what it answers."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from instar.installation import MissingExtra
from instar.tasks.driving.systems.network_io import SIZE
from instar.training.driving.networks import Driver

__all__ = ["export_driver"]

OPSET = 17
SMALL = 512  # numbers; a smaller tensor is kept as it is


def export_driver(model: Driver, path: Path, *, card: Mapping[str, Any]) -> None:
    """Write the network; its input is `uint8 (N, 160, 320, 3)`, its output `float32 (N, outputs)`.

    Matrices and kernels are stored in 8 bits with a scale per output channel, and made floats again when a
    session loads them. `card` is put into the file's metadata.
    """
    try:
        import onnx
    except ImportError:
        raise MissingExtra("onnx", extra="torch", needed_for="exporting a network") from None
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter announces its successor
        torch.onnx.export(
            model.eval(),
            (torch.zeros(1, *SIZE, 3, dtype=torch.uint8),),
            str(unfinished),
            dynamo=False,
            opset_version=OPSET,
            input_names=["pictures"],
            output_names=["answers"],
            dynamic_axes={"pictures": {0: "n"}, "answers": {0: "n"}},
        )
    made = onnx.load(str(unfinished))
    made.producer_name, made.producer_version, made.doc_string = "instar", "", ""
    for node in made.graph.node:
        node.doc_string = ""
    _shrink(made.graph, onnx)
    facts = {"outputs": ",".join(model.outputs), "card": json.dumps(dict(card), sort_keys=True)}
    onnx.helper.set_model_props(made, facts)
    onnx.checker.check_model(made, full_check=True)
    onnx.save(made, str(unfinished))
    unfinished.replace(path)


def _shrink(graph: Any, onnx: Any) -> None:
    """Put a DequantizeLinear before every use of a large weight; a session that is told to (`systems.onnx`)
    folds it away when it loads.
    """
    added, kept = [], []
    outputs_first = _weights_of_matmul(graph)
    for tensor in graph.initializer:
        values = onnx.numpy_helper.to_array(tensor)
        if values.dtype != np.float32 or values.size < SMALL or values.ndim < 2:
            kept.append(tensor)
            continue
        name, axis = tensor.name, outputs_first.get(tensor.name, 0)
        names = [f"{name}.small", f"{name}.scale"]
        parts = zip(_in_eight_bits(values, axis), names)
        kept += [onnx.numpy_helper.from_array(part, its_name) for part, its_name in parts]
        added.append(onnx.helper.make_node("DequantizeLinear", names, [name], axis=axis))
    del graph.initializer[:]
    graph.initializer.extend(kept)
    rest = list(graph.node)
    del graph.node[:]
    graph.node.extend([*added, *rest])


def _weights_of_matmul(graph: Any) -> dict[str, int]:
    """Which axis of a weight is that of its outputs, where it is not the first."""
    axes = {}
    for node in graph.node:
        transposed = any(a.name == "transB" and a.i for a in node.attribute)
        if (node.op_type == "Gemm" and not transposed) or node.op_type == "MatMul":
            axes[node.input[1]] = 1
    return axes


def _in_eight_bits(
    values: npt.NDArray[np.float32], axis: int
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    others = tuple(i for i in range(values.ndim) if i != axis)
    scale = np.maximum(np.abs(values).max(axis=others), 1e-12).astype(np.float32) / np.float32(127)
    shape = [-1 if i == axis else 1 for i in range(values.ndim)]
    return np.rint(values / scale.reshape(shape)).astype(np.int8), scale
