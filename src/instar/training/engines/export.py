"""A trained network as an ONNX file in half precision, with its card inside."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from instar.installation import MissingExtra
from instar.training.engines.networks import CLASSES, Painter

__all__ = ["export_engine"]

OPSET = 17
SMALL = 512  # numbers; a smaller tensor is kept as it is
EXAMPLE = (64, 96)


def export_engine(model: nn.Module, path: Path, *, card: Mapping[str, Any]) -> None:
    """Write the network for one picture of any size whose sides are multiples of 16.

    Weights are stored in 16 bits; a session makes them 32 bits when it loads, since CPUs compute in these.
    """
    try:
        import onnx
    except ImportError:
        raise MissingExtra("onnx", extra="torch", needed_for="exporting a network") from None
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    channels = {"picture": 3} | ({"hole": 1, "labels": CLASSES} if isinstance(model, Painter) else {})
    shown = tuple(torch.zeros(1, count, *EXAMPLE) for count in channels.values())
    plain = _with_scales(copy.deepcopy(model).eval().cpu().float())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter announces its successor
        torch.onnx.export(
            plain,
            shown,
            str(unfinished),
            dynamo=False,
            opset_version=OPSET,
            input_names=list(channels),
            output_names=["answer"],
            dynamic_axes={name: {2: "rows", 3: "columns"} for name in (*channels, "answer")},
        )
    made = onnx.load(str(unfinished))
    made.producer_name, made.producer_version, made.doc_string = "instar", "", ""
    for node in made.graph.node:
        node.doc_string = ""
    _halve(made.graph, onnx)
    onnx.helper.set_model_props(made, {"card": json.dumps(dict(card), sort_keys=True)})
    onnx.checker.check_model(made, full_check=True)
    onnx.save(made, str(unfinished))
    unfinished.replace(path)


def _with_scales(model: nn.Module) -> nn.Module:
    """The same with a scale of 1 in every normalisation: the exporter cannot write those that have none."""
    for module in model.modules():
        if isinstance(module, nn.InstanceNorm2d) and not module.affine:
            module.weight = nn.Parameter(torch.ones(module.num_features))
            module.bias = nn.Parameter(torch.zeros(module.num_features))
            module.affine = True
    return model


def _halve(graph: Any, onnx: Any) -> None:
    """Large weights in 16 bits, with a Cast before their use that a session folds away when it loads."""
    added, kept = [], []
    for tensor in graph.initializer:
        values = onnx.numpy_helper.to_array(tensor)
        if values.dtype != np.float32 or values.size < SMALL:
            kept.append(tensor)
            continue
        name = f"{tensor.name}.half"
        kept.append(onnx.numpy_helper.from_array(values.astype(np.float16), name))
        added.append(onnx.helper.make_node("Cast", [name], [tensor.name], to=onnx.TensorProto.FLOAT))
    del graph.initializer[:]
    graph.initializer.extend(kept)
    rest = list(graph.node)
    del graph.node[:]
    graph.node.extend([*added, *rest])
