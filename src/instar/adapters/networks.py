"""The networks of the classifiers, as flat sequences of blocks so that a front part can be kept frozen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn


class Residual(nn.Module):
    """A branch, added to a shortcut; rectified after the sum where the network does so."""

    def __init__(self, branch: Any, shortcut: Any = None, *, rectify: bool) -> None:
        super().__init__()
        self.branch = branch
        self.shortcut = shortcut if shortcut is not None else nn.Identity()
        self.rectify = nn.ReLU() if rectify else nn.Identity()

    def forward(self, x: Any) -> Any:
        return self.rectify(self.branch(x) + self.shortcut(x))


def street_network(classes: int) -> Any:
    """Five convolutions and the maximum over places: 84,000 weights for pictures of 120 x 160."""
    widths = [(3, 16, 2), (16, 32, 2), (32, 48, 2), (48, 64, 1), (64, 64, 1)]
    blocks = [_normalised(a, b, 3, stride=stride) for a, b, stride in widths]
    return nn.Sequential(*blocks, nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(64, classes))


def mobilenet_v2_network() -> Any:
    """MobileNetV2 as the ONNX model zoo has it: ReLU for ReLU6, and an expansion in every block."""
    blocks: list[Any] = [_normalised(3, 32, 3, stride=2)]
    inside = 32
    for expansion, outside, repeats, stride in _INVERTED:
        for i in range(repeats):
            blocks.append(_inverted(inside, outside, expansion, stride if i == 0 else 1))
            inside = outside
    blocks += [_normalised(inside, 1280, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*blocks, nn.Linear(1280, 1000, bias=False))


_INVERTED = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 1), (6, 96, 3, 2), (6, 160, 3, 2),
             (6, 320, 1, 1))  # fmt: skip
"""Expansion, channels, repetitions and stride. This one halves its maps before the 96 channels, not the 64.
"""


def _inverted(inside: int, outside: int, expansion: int, stride: int) -> Any:
    wide = inside * expansion
    branch = nn.Sequential(
        *_normalised(inside, wide, 1),
        *_normalised(wide, wide, 3, stride=stride, groups=wide),
        *_normalised(wide, outside, 1, rectify=False),
    )
    return Residual(branch, rectify=False) if stride == 1 and inside == outside else branch


def resnet50_network() -> Any:
    """ResNet-50 in its first form: the stride is on the first 1 x 1 convolution of a block."""
    blocks: list[Any] = [
        nn.Sequential(*_normalised(3, 64, 7, stride=2, bias=True, epsilon=1e-3)),
        nn.Sequential(nn.ZeroPad2d((1, 1, 1, 1)), nn.MaxPool2d(3, stride=2)),
    ]
    inside = 64
    for width, repeats, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(repeats):
            blocks.append(_bottleneck(inside, width, stride if i == 0 else 1))
            inside = 4 * width
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


def _bottleneck(inside: int, width: int, stride: int) -> Any:
    own: dict[str, Any] = {"bias": True, "epsilon": 1e-3}
    branch = nn.Sequential(
        *_normalised(inside, width, 1, stride=stride, **own),
        *_normalised(width, width, 3, **own),
        *_normalised(width, 4 * width, 1, rectify=False, **own),
    )
    changes = inside != 4 * width or stride != 1
    shortcut = _normalised(inside, 4 * width, 1, stride=stride, rectify=False, **own) if changes else None
    return Residual(branch, shortcut, rectify=True)


def _normalised(
    inside: int,
    outside: int,
    kernel: int,
    *,
    stride: int = 1,
    groups: int = 1,
    rectify: bool = True,
    bias: bool = False,
    epsilon: float = 1e-5,
) -> Any:
    parts: list[Any] = [
        nn.Conv2d(inside, outside, kernel, stride, padding=kernel // 2, groups=groups, bias=bias),
        nn.BatchNorm2d(outside, eps=epsilon),
    ]
    return nn.Sequential(*parts, *([nn.ReLU()] if rectify else []))


def iterate_convolutions(module: Any) -> Iterator[tuple[Any, Any]]:
    """Each convolution with the batch normalisation behind it, in the order in which they were written."""
    parts = [part for part in module.modules() if isinstance(part, (nn.Conv2d, nn.BatchNorm2d))]
    yield from zip(parts[::2], parts[1::2])


def fill_tensor(tensor: Any, values: Any) -> None:
    """Write an array into a tensor of the same shape."""
    with torch.no_grad():
        tensor.copy_(torch.from_numpy(values).reshape(tensor.shape))
