"""The network of CRAFT: VGG-16 with batch normalisation, and a decoder that climbs back to half the size.

Written as functions of the weights, after the paper's Figure 2 and the shapes in the weights themselves. Each
batch normalisation is folded into the convolution before it when the weights are read.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from instar.adapters.classifier import limit_threads
from instar.tasks.text.systems.rectangles import Floats

Convolutions = dict[str, tuple[Any, Any]]
"""Weight and bias tensors of each convolution, by its name in the file."""

BACKBONE = (
    *(f"basenet.slice1.{i}" for i in (0, 3, 7, 10)),
    *(f"basenet.slice2.{i}" for i in (14, 17)),
    *(f"basenet.slice3.{i}" for i in (20, 24, 27)),
    *(f"basenet.slice4.{i}" for i in (30, 34, 37)),
)
HALVED_BEFORE = {f"basenet.{name}" for name in ("slice1.7", "slice2.14", "slice3.24", "slice4.34")}
KEPT_BEFORE = {f"basenet.{name}" for name in ("slice2.14", "slice3.20", "slice4.30")}
"""Where the decoder looks in: after the rectifier, before any halving."""
HEAD = tuple(f"conv_cls.{i}" for i in (0, 2, 4, 6, 8))
EPSILON = 1e-5
"""What batch normalisation adds to a variance."""


def read_weights(content: bytes, device: str = "cpu") -> Convolutions:
    """The convolutions of a file of weights; nothing in it is run."""
    state = torch.load(BytesIO(content), map_location=device, weights_only=True)
    state = {name.removeprefix("module."): tensor for name, tensor in state.items()}
    return {
        name: _folded(state, name)
        for name in (key.removesuffix(".weight") for key in state)
        if f"{name}.weight" in state and state[f"{name}.weight"].ndim == 4
    }


def maps(convolutions: Convolutions, image: Floats, threads: int) -> tuple[Floats, Floats]:
    """Region and affinity scores `float32 (H / 2, W / 2)` of a normalised picture `float32 (1, 3, H, W)`."""
    weight, _ = convolutions[BACKBONE[0]]
    with limit_threads(threads), torch.inference_mode(), _exact_on_gpus():
        picture = torch.from_numpy(image).to(weight.device)
        scores = _decoded(convolutions, _features(convolutions, picture))
    region, affinity = scores[0].cpu().numpy()
    return np.ascontiguousarray(region), np.ascontiguousarray(affinity)


def _exact_on_gpus() -> Any:
    """Without the shortcuts by which a GPU would answer the same picture a little differently each time."""
    return torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False)


def _features(convolutions: Convolutions, x: Any) -> list[Any]:
    """What the backbone sees, finest first: at 1/2, 1/4, 1/8 and twice at 1/16 of the size."""
    kept = []
    for name in BACKBONE:
        if name != BACKBONE[0]:
            x = functional.relu(x)
        if name in KEPT_BEFORE:
            kept.append(x)
        if name in HALVED_BEFORE:
            x = functional.max_pool2d(x, 2)
        x = _convolved(convolutions, name, x)
    # The last features of VGG are taken as they are, without rectifier, and once more with a wider view.
    kept.append(x)
    x = functional.max_pool2d(x, 3, stride=1, padding=1)
    x = _convolved(convolutions, "basenet.slice5.1", x, dilation=6)
    return [*kept, _convolved(convolutions, "basenet.slice5.2", x)]


def _decoded(convolutions: Convolutions, features: list[Any]) -> Any:
    """Region and affinity: each level is joined to the one above it and passed through two convolutions."""
    *finer, x = features
    for number, level in enumerate(reversed(finer), start=1):
        if x.shape[2:] != level.shape[2:]:
            x = functional.interpolate(x, size=level.shape[2:], mode="bilinear", align_corners=False)
        x = torch.cat([x, level], dim=1)
        for name in (f"upconv{number}.conv.0", f"upconv{number}.conv.3"):
            x = functional.relu(_convolved(convolutions, name, x))
    for name in HEAD[:-1]:
        x = functional.relu(_convolved(convolutions, name, x))
    return _convolved(convolutions, HEAD[-1], x)


def _convolved(convolutions: Convolutions, name: str, x: Any, *, dilation: int = 1) -> Any:
    weight, bias = convolutions[name]
    padding = dilation * (weight.shape[-1] // 2)
    return functional.conv2d(x, weight, bias, padding=padding, dilation=dilation)


def _folded(state: dict[str, Any], name: str) -> tuple[Any, Any]:
    """A convolution with the batch normalisation that follows it, if the next number is one."""
    weight, bias = state[f"{name}.weight"], state[f"{name}.bias"]
    stem, _, number = name.rpartition(".")
    following = f"{stem}.{int(number) + 1}"
    if f"{following}.running_var" not in state:
        return weight, bias
    scale = state[f"{following}.weight"] / torch.sqrt(state[f"{following}.running_var"] + EPSILON)
    shift = state[f"{following}.bias"] - state[f"{following}.running_mean"] * scale
    return weight * scale[:, None, None, None], bias * scale + shift
