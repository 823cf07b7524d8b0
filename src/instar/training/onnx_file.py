"""Trained networks as small ONNX files that say themselves what they are."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from instar.installation import import_extra

OPSET = 17
SMALL = 512  # numbers; a smaller tensor is kept as it is
FLOAT = 1  # ONNX's number of that type

Stored = tuple[str, list[npt.NDArray[Any]], dict[str, Any]]
"""The operator that turns stored weights back into floats, these weights, and the operator's attributes."""


def import_onnx(needed_for: str) -> Any:
    """The module; MissingExtra where it is not installed."""
    return import_extra("onnx", "onnx", extra="torch", needed_for=needed_for)


def export_network(
    model: nn.Module,
    path: Path,
    shown: Mapping[str, torch.Tensor],
    output: str,
    axes: Mapping[str, Mapping[int, str]],
    facts: Mapping[str, Any],
) -> Any:
    """The network as an ONNX model, with `facts` as its metadata; `path` is only written on the way."""
    onnx = import_onnx("exporting a network")
    path.parent.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter announces its successor
        torch.onnx.export(
            model,
            tuple(shown.values()),
            str(path),
            dynamo=False,
            opset_version=OPSET,
            input_names=list(shown),
            output_names=[output],
            dynamic_axes=dict(axes),
        )
    made = onnx.load(str(path))
    made.producer_name, made.producer_version, made.doc_string = "instar", "", ""
    for node in made.graph.node:
        node.doc_string = ""
    told = {
        key: one if isinstance(one, str) else json.dumps(one, sort_keys=True) for key, one in facts.items()
    }
    onnx.helper.set_model_props(made, told)
    return made


def shrink_weights(model: Any, path: Path, store: Callable[[str, npt.NDArray[np.float32]], Stored]) -> None:
    """Write the model with its large weights `store`d small, each behind an operator that makes floats of it.

    A session that is told to (`systems.onnx`) folds the operators away when it loads.
    """
    onnx = import_onnx("exporting a network")
    graph, added, kept = model.graph, [], []
    for tensor in graph.initializer:
        values = onnx.numpy_helper.to_array(tensor)
        if values.dtype != np.float32 or values.size < SMALL or values.ndim < 2:
            kept.append(tensor)
            continue
        operator, parts, attributes = store(tensor.name, values)
        names = [f"{tensor.name}.small", f"{tensor.name}.scale"][: len(parts)]
        kept += [onnx.numpy_helper.from_array(part, its_name) for part, its_name in zip(parts, names)]
        added.append(onnx.helper.make_node(operator, names, [tensor.name], **attributes))
    del graph.initializer[:]
    graph.initializer.extend(kept)
    rest = list(graph.node)
    del graph.node[:]
    graph.node.extend([*added, *rest])
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, str(path))


def in_sixteen_bits(name: str, values: npt.NDArray[np.float32]) -> Stored:
    return "Cast", [values.astype(np.float16)], {"to": FLOAT}
