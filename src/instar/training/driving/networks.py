"""The three networks of the paper as regressors of speed and steering: Epoch, VGG16 and ResNet101.

They look at 320x160 pixels. `width` multiplies every number of channels and of hidden neurons; 1 is the
network as published. The pictures come as they are, `uint8 (N, H, W, 3)` or the same as floats: scaling them
is the first layer, and giving km/h and degrees is the last, so that whoever runs a network needs no recipe.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from instar.core.errors import BadInput, UnknownName
from instar.installation import MissingExtra
from instar.tasks.driving.systems.network_io import SIZE

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:  # pragma: no cover  # the tests that need torch have it
    raise MissingExtra("torch", extra="torch", needed_for="a driving network of one's own") from error

LEAST_CHANNELS = 4


class Driver(nn.Module):
    """Features of a picture and a head over them, between the scaling of its input and of its answers.

    `outputs` are the names of the answers, in their order; `centre` and `spread` the mean and the deviation
    of each over the data that it was trained with.
    """

    centre: Tensor
    spread: Tensor

    def __init__(self, parts: Parts, outputs: Sequence[str], *, grey: bool = False) -> None:
        super().__init__()
        self.features, self.head, self.channels = parts
        self.outputs = tuple(outputs)
        self.grey = grey
        self.register_buffer("centre", torch.zeros(len(self.outputs)))
        self.register_buffer("spread", torch.ones(len(self.outputs)))

    def forward(self, pictures: Tensor) -> Tensor:
        """`float (N, outputs)` in km/h and degrees."""
        return self.decide(self.encode(pictures))

    def encode(self, pictures: Tensor) -> Tensor:
        """The features, `float (N, channels, rows, columns)`."""
        light = pictures.permute(0, 3, 1, 2).float() / 127.5 - 1
        if self.grey:
            light = light.mean(dim=1, keepdim=True)
        features: Tensor = self.features(light)
        return features

    def decide(self, features: Tensor) -> Tensor:
        answers: Tensor = self.head(features) * self.spread + self.centre
        return answers


def build_network(
    architecture: str, outputs: Sequence[str], *, width: float = 1.0, grey: bool = False
) -> Driver:
    """The network of that name, with fresh weights from torch's random numbers."""
    if architecture not in ARCHITECTURES:
        raise UnknownName("architecture", architecture, ARCHITECTURES)
    if not 0 < width <= 4:
        raise BadInput(f"width is {width}; it must be above 0 and at most 4")

    def scale(channels: int) -> int:
        return max(LEAST_CHANNELS, round(channels * width))

    return Driver(ARCHITECTURES[architecture](scale, len(outputs), 1 if grey else 3), outputs, grey=grey)


_Scale = Callable[[int], int]
Parts = tuple[nn.Module, nn.Module, int]
"""Features, the head over them, and how many channels lie between."""


def _epoch(scale: _Scale, outputs: int, colours: int) -> Parts:
    """Three convolutions, each halved by pooling, and one hidden layer: 32, 64, 128 and 1024."""
    a, b, c, hidden = scale(32), scale(64), scale(128), scale(1024)

    def stage(before: int, after: int, drop: float) -> list[nn.Module]:
        convolution = nn.Conv2d(before, after, 3, padding=1)
        return [convolution, nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Dropout(drop)]

    features = nn.Sequential(*stage(colours, a, 0.25), *stage(a, b, 0.25), *stage(b, c, 0.5))
    head = nn.Sequential(
        nn.Flatten(),
        nn.Linear(c * (SIZE[0] // 8) * (SIZE[1] // 8), hidden),
        nn.ReLU(inplace=True),
        nn.Dropout(0.5),
        nn.Linear(hidden, outputs),
    )
    return features, head, c


def _head(features: int, scale: _Scale, outputs: int) -> list[nn.Module]:
    """The three layers that take the place of a classifier."""
    first, second = scale(1024), scale(256)
    return [
        nn.Linear(features, first),
        nn.ReLU(inplace=True),
        nn.Linear(first, second),
        nn.ReLU(inplace=True),
        nn.Linear(second, outputs),
    ]


def _convolution(before: int, after: int, kernel: int, *, stride: int = 1) -> list[nn.Module]:
    convolution = nn.Conv2d(before, after, kernel, stride=stride, padding=kernel // 2, bias=False)
    return [convolution, nn.BatchNorm2d(after), nn.ReLU(inplace=True)]


VGG16 = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))  # channels, convolutions before the pooling


def _vgg16(scale: _Scale, outputs: int, colours: int) -> Parts:
    """Thirteen convolutions with batch normalisation, five poolings, and the head."""
    layers: list[nn.Module] = []
    before = colours
    for channels, convolutions in VGG16:
        for _ in range(convolutions):
            layers += _convolution(before, scale(channels), 3)
            before = scale(channels)
        layers.append(nn.MaxPool2d(2))
    cells = (SIZE[0] // 32) * (SIZE[1] // 32)
    head = nn.Sequential(nn.Flatten(), *_head(before * cells, scale, outputs))
    return nn.Sequential(*layers), head, before


RESNET101 = ((64, 3, 1), (128, 4, 2), (256, 23, 2), (512, 3, 2))  # channels, blocks, stride
EXPANSION = 4


class _Bottleneck(nn.Module):
    """1x1 down, 3x3, 1x1 up, and the input added to it."""

    def __init__(self, before: int, middle: int, after: int, stride: int) -> None:
        super().__init__()
        last = nn.BatchNorm2d(after)
        # A block begins as nothing but its shortcut, so that a hundred layers train from the first step.
        nn.init.zeros_(last.weight)
        self.straight = nn.Sequential(
            *_convolution(before, middle, 1),
            *_convolution(middle, middle, 3, stride=stride),
            nn.Conv2d(middle, after, 1, bias=False),
            last,
        )
        self.shortcut: nn.Module = nn.Identity()
        if before != after or stride != 1:
            self.shortcut = nn.Sequential(
                nn.Conv2d(before, after, 1, stride=stride, bias=False), nn.BatchNorm2d(after)
            )

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.straight(x) + self.shortcut(x))


def _resnet101(scale: _Scale, outputs: int, colours: int) -> Parts:
    """A stem, thirty-three bottlenecks, the average over the picture, and the head."""
    before = scale(64)
    layers = [*_convolution(colours, before, 7, stride=2), nn.MaxPool2d(3, stride=2, padding=1)]
    for channels, blocks, stride in RESNET101:
        after = EXPANSION * scale(channels)
        for block in range(blocks):
            layers.append(_Bottleneck(before, scale(channels), after, stride if block == 0 else 1))
            before = after
    head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), *_head(before, scale, outputs))
    return nn.Sequential(*layers), head, before


ARCHITECTURES: dict[str, Callable[[_Scale, int, int], Parts]] = {
    "epoch": _epoch,
    "vgg16": _vgg16,
    "resnet101": _resnet101,
}
