"""A trained network as an ONNX file, small, and saying itself what it answers."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from instar.imaging.onnx_session import open_onnx
from instar.tasks.driving.systems.network_io import SIZE
from instar.training.driving.networks import Driver
from instar.training.onnx_file import Stored, export_network, in_sixteen_bits, shrink_weights
from instar.user_file import whole_file

Pictures = npt.NDArray[np.uint8]

MOVED = 0.02
"""Spreads of the answers, on average: a network that moves by more when stored in 8 bits is stored in 16."""


def export_driver(model: Driver, path: Path, *, card: Mapping[str, Any], pictures: Pictures) -> None:
    """Write the network; its input is `uint8 (N, 160, 320, 3)`, its output `float32 (N, outputs)`.

    Matrices and kernels are stored in 8 bits with a scale per output channel, or in half precision where that
    would change the answers to `pictures`. `card` is put into the file's metadata.
    """
    shown = {"pictures": torch.zeros(1, *SIZE, 3, dtype=torch.uint8)}
    axes = {"pictures": {0: "n"}, "answers": {0: "n"}}
    facts = {"outputs": ",".join(model.outputs), "card": dict(card)}
    with torch.inference_mode():
        wanted = model.eval()(torch.from_numpy(pictures)).numpy()
    with whole_file(path) as unfinished:
        made = export_network(model, unfinished, shown, "answers", axes, facts)
        for store in (partial(_in_eight_bits, _weights_of_matmul(made.graph)), in_sixteen_bits):
            shrink_weights(copy.deepcopy(made), unfinished, store)
            session = open_onnx(str(unfinished))
            given = np.concatenate([session.run(None, {"pictures": one[None]})[0] for one in pictures])
            if (np.abs(given - wanted) / model.spread.numpy()).mean(axis=0).max() <= MOVED:
                break


def _weights_of_matmul(graph: Any) -> dict[str, int]:
    """Which axis of a weight is that of its outputs, where it is not the first."""
    axes = {}
    for node in graph.node:
        transposed = any(a.name == "transB" and a.i for a in node.attribute)
        if (node.op_type == "Gemm" and not transposed) or node.op_type == "MatMul":
            axes[node.input[1]] = 1
    return axes


def _in_eight_bits(axes: Mapping[str, int], name: str, values: npt.NDArray[np.float32]) -> Stored:
    axis = axes.get(name, 0)
    others = tuple(i for i in range(values.ndim) if i != axis)
    scale = np.maximum(np.abs(values).max(axis=others), 1e-12).astype(np.float32) / np.float32(127)
    shape = [-1 if i == axis else 1 for i in range(values.ndim)]
    small = np.rint(values / scale.reshape(shape)).astype(np.int8)
    return "DequantizeLinear", [small, scale], {"axis": axis}
