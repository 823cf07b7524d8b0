"""The networks: one that paints into a hole what a label map wants there, its critics, one that segments.

All work at half the picture's size and rearrange pixels at both ends, which costs a quarter of the time.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from instar.imaging.street_classes import STREET

CLASS_COUNT = len(STREET)
STYLE = 40  # channels between a label map and what it does to the features
TOLD = CLASS_COUNT + 1 + 3  # channels: labels, hole and light
CELL = 16  # pixels: light is told in such cells


class _Gated(nn.Module):
    """A convolution whose answer is let through as far as a second one allows: holes say nothing."""

    def __init__(self, inside: int, outside: int, *, stride: int = 1, apart: int = 1) -> None:
        super().__init__()
        self.both = nn.Conv2d(inside, 2 * outside, 3, stride, apart, apart)
        self.norm = nn.InstanceNorm2d(outside, affine=True)

    def forward(self, x: Tensor) -> Tensor:
        value, gate = self.both(x).chunk(2, 1)
        let: Tensor = self.norm(F.silu(value)) * torch.sigmoid(gate)
        return let


class _Styled(nn.Module):
    """The same going up, where scale and shift of each place come from its label and light (SPADE)."""

    def __init__(self, inside: int, outside: int) -> None:
        super().__init__()
        self.both = nn.Conv2d(inside, 2 * outside, 3, padding=1)
        self.norm = nn.InstanceNorm2d(outside)
        self.label = nn.Conv2d(TOLD, STYLE, 3, padding=1)
        self.style = nn.Conv2d(STYLE, 2 * outside, 3, padding=1)

    def forward(self, x: Tensor, told: Tensor) -> Tensor:
        value, gate = self.both(x).chunk(2, 1)
        near = F.interpolate(told, x.shape[2:], mode="nearest")
        scale, shift = self.style(F.silu(self.label(near))).chunk(2, 1)
        let: Tensor = (self.norm(F.silu(value)) * (1 + scale) + shift) * torch.sigmoid(gate)
        return let


class Painter(nn.Module):
    """A picture with noise in its hole, the hole, and the wanted label map in; the whole picture out.

    `picture` is (N, 3, H, W) from -1 to 1, `hole` (N, 1, H, W), `labels` (N, classes, H, W) of 0 and 1;
    height and width are multiples of 16. Where `hole` is 0.5 the picture holds but the mean colours of
    cells, so that a whole picture can be painted in its light.
    """

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        w = self.width = width
        self.down = nn.ModuleList(
            [
                _Gated(4 * (3 + 1 + CLASS_COUNT), w),
                _Gated(w, 2 * w, stride=2),
                _Gated(2 * w, 3 * w, stride=2),
                _Gated(3 * w, 4 * w, stride=2),
            ]
        )
        self.middle = nn.ModuleList([_Gated(4 * w, 4 * w, apart=apart) for apart in (1, 2, 4, 8, 1)])
        self.up = nn.ModuleList(
            [_Styled(8 * w, 4 * w), _Styled(7 * w, 3 * w), _Styled(5 * w, 2 * w), _Styled(3 * w, w)]
        )
        self.out = nn.Conv2d(w, 12, 3, padding=1)

    def forward(self, picture: Tensor, hole: Tensor, labels: Tensor) -> Tensor:
        # Normalisations forget how light the picture is, so that it is told beside the labels.
        light = F.interpolate(F.avg_pool2d(picture, CELL), scale_factor=float(CELL), mode="nearest")
        told = torch.cat([labels, hole, light], 1)
        x = F.pixel_unshuffle(torch.cat([picture, hole, labels], 1), 2)
        seen = []
        for layer in self.down:
            x = layer(x)
            seen.append(x)
        for layer in self.middle:
            x = x + layer(x)
        for layer, before in zip(self.up, reversed(seen)):
            if x.shape[2:] != before.shape[2:]:
                x = F.interpolate(x, before.shape[2:], mode="nearest")
            x = layer(torch.cat([x, before], 1), told)
        return torch.tanh(F.pixel_shuffle(self.out(x), 2))


class Critic(nn.Module):
    """Tells painted from real, patch by patch, knowing hole and labels; also gives its features."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        tame = nn.utils.parametrizations.spectral_norm
        sizes = [3 + 1 + CLASS_COUNT, width, 2 * width, 4 * width, 4 * width]
        self.layers = nn.ModuleList(tame(nn.Conv2d(i, o, 4, 2, 1)) for i, o in pairwise(sizes))
        self.out = tame(nn.Conv2d(sizes[-1], 1, 3, padding=1))

    def forward(self, x: Tensor) -> tuple[Tensor, list[Tensor]]:
        features = []
        for layer in self.layers:
            x = F.leaky_relu(layer(x), 0.2)
            features.append(x)
        return self.out(x), features


class _Block(nn.Module):
    """Two convolutions around a shortcut."""

    def __init__(self, inside: int, outside: int, *, stride: int = 1, apart: int = 1) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inside, outside, 3, stride, apart, apart, bias=False),
            nn.BatchNorm2d(outside),
            nn.ReLU(inplace=True),
            nn.Conv2d(outside, outside, 3, 1, 1, bias=False),
            nn.BatchNorm2d(outside),
        )
        same = inside == outside and stride == 1
        self.short = nn.Identity() if same else nn.Conv2d(inside, outside, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.body(x) + self.short(x))


class Segmenter(nn.Module):
    """A picture (N, 3, H, W) from -1 to 1 in, the score of each class but the unknown one out."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        w = self.width = width
        self.down = nn.ModuleList(
            [
                _Block(12, w),
                _Block(w, 2 * w, stride=2),
                _Block(2 * w, 4 * w, stride=2),
                _Block(4 * w, 6 * w, stride=2),
            ]
        )
        self.middle = nn.Sequential(*[_Block(6 * w, 6 * w, apart=apart) for apart in (2, 4, 8)])
        # What is seen of the whole picture tells sky from a white wall, and night from a tunnel.
        self.whole = nn.Conv2d(6 * w, 6 * w, 1)
        self.up = nn.ModuleList([_Block(10 * w, 4 * w), _Block(6 * w, 2 * w), _Block(3 * w, 2 * w)])
        self.drop = nn.Dropout2d(0.1)
        self.out = nn.Conv2d(2 * w, 4 * (CLASS_COUNT - 1), 1)

    def forward(self, picture: Tensor) -> Tensor:
        x = F.pixel_unshuffle(picture, 2)
        seen = []
        for layer in self.down:
            x = layer(x)
            seen.append(x)
        x = self.middle(x)
        x = x + self.whole(x.mean((2, 3), keepdim=True))
        for layer, before in zip(self.up, reversed(seen[:-1])):
            wide = F.interpolate(x, before.shape[2:], mode="bilinear", align_corners=False)
            x = layer(torch.cat([wide, before], 1))
        return F.pixel_shuffle(self.out(self.drop(x)), 2)
