"""A trained network as an ONNX file in half precision, with its card inside."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from instar.training.engines.networks import CLASS_COUNT, Painter
from instar.training.engines.translator import CHANNELS, Translator
from instar.training.onnx_file import export_network, in_sixteen_bits, shrink_weights
from instar.user_file import whole_file

EXAMPLE = (64, 96)


def export_engine(model: nn.Module, path: Path, *, card: Mapping[str, Any]) -> None:
    """Write the network for one picture of any size whose sides are multiples of 16.

    Weights are stored in 16 bits; a session makes them 32 bits when it loads, since CPUs compute in these.
    """
    if isinstance(model, Translator):
        channels = {"shown": CHANNELS}
    else:
        more = {"hole": 1, "labels": CLASS_COUNT} if isinstance(model, Painter) else {}
        channels = {"picture": 3} | more
    shown = {name: torch.zeros(1, count, *EXAMPLE) for name, count in channels.items()}
    plain = _with_scales(copy.deepcopy(model).eval().cpu().float())
    axes = {name: {2: "rows", 3: "columns"} for name in (*channels, "answer")}
    with whole_file(path) as unfinished:
        made = export_network(plain, unfinished, shown, "answer", axes, {"card": dict(card)})
        shrink_weights(made, unfinished, in_sixteen_bits)


def _with_scales(model: nn.Module) -> nn.Module:
    """The same with a scale of 1 in every normalisation: the exporter cannot write those that have none."""
    for module in model.modules():
        if isinstance(module, nn.InstanceNorm2d) and not module.affine:
            module.weight = nn.Parameter(torch.ones(module.num_features))
            module.bias = nn.Parameter(torch.zeros(module.num_features))
            module.affine = True
    return model
