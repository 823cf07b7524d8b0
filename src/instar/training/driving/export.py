"""A trained network as an ONNX file, small, and saying itself what it answers."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from instar.imaging.onnx_session import open_onnx
from instar.installation import MissingExtra
from instar.tasks.driving.systems.network_io import SIZE
from instar.training.driving.networks import Driver

__all__ = ["export_driver"]

Pictures = npt.NDArray[np.uint8]

OPSET = 17
SMALL = 512  # numbers; a smaller tensor is kept as it is
FLOAT = 1  # ONNX's number of that type
MOVED = 0.02
"""Spreads of the answers, on average: a network that moves by more when stored in 8 bits is stored in 16."""


def export_driver(model: Driver, path: Path, *, card: Mapping[str, Any], pictures: Pictures) -> None:
    """Write the network; its input is `uint8 (N, 160, 320, 3)`, its output `float32 (N, outputs)`.

    Matrices and kernels are stored in 8 bits with a scale per output channel, or in half precision where that
    would change the answers to `pictures`; they are made floats again when a session loads them. `card` is
    put into the file's metadata.
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
    facts = {"outputs": ",".join(model.outputs), "card": json.dumps(dict(card), sort_keys=True)}
    onnx.helper.set_model_props(made, facts)
    with torch.inference_mode():
        wanted = model(torch.from_numpy(pictures)).numpy()
    for store in (_in_eight_bits, _in_sixteen_bits):
        small = copy.deepcopy(made)
        _shrink(small.graph, onnx, store)
        onnx.checker.check_model(small, full_check=True)
        onnx.save(small, str(unfinished))
        moved = np.abs(_asked(unfinished, pictures) - wanted) / model.spread.numpy()
        if moved.mean(axis=0).max() <= MOVED:
            break
    unfinished.replace(path)


def _asked(path: Path, pictures: Pictures) -> npt.NDArray[np.float32]:
    session = open_onnx(str(path))
    return np.concatenate([session.run(None, {"pictures": one[None]})[0] for one in pictures])


_Stored = tuple[str, list[npt.NDArray[Any]], dict[str, Any]]
"""The operator that makes floats of what is stored, that, and the operator's attributes."""


def _shrink(graph: Any, onnx: Any, store: Callable[[npt.NDArray[np.float32], int], _Stored]) -> None:
    """Put an operator before every use of a large weight; a session that is told to (`systems.onnx`) folds it
    away when it loads.
    """
    added, kept = [], []
    outputs_first = _weights_of_matmul(graph)
    for tensor in graph.initializer:
        values = onnx.numpy_helper.to_array(tensor)
        if values.dtype != np.float32 or values.size < SMALL or values.ndim < 2:
            kept.append(tensor)
            continue
        name = tensor.name
        operator, parts, attributes = store(values, outputs_first.get(name, 0))
        names = [f"{name}.small", f"{name}.scale"][: len(parts)]
        kept += [onnx.numpy_helper.from_array(part, its_name) for part, its_name in zip(parts, names)]
        added.append(onnx.helper.make_node(operator, names, [name], **attributes))
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


def _in_eight_bits(values: npt.NDArray[np.float32], axis: int) -> _Stored:
    others = tuple(i for i in range(values.ndim) if i != axis)
    scale = np.maximum(np.abs(values).max(axis=others), 1e-12).astype(np.float32) / np.float32(127)
    shape = [-1 if i == axis else 1 for i in range(values.ndim)]
    small = np.rint(values / scale.reshape(shape)).astype(np.int8)
    return "DequantizeLinear", [small, scale], {"axis": axis}


def _in_sixteen_bits(values: npt.NDArray[np.float32], axis: int) -> _Stored:
    return "Cast", [values.astype(np.float16)], {"to": FLOAT}
