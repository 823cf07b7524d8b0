"""The network that brings a made night or dusk closer to photographs, and the critics that it learns from.

It does not paint. It says how much brighter each place is to be, what light falls on it, and what shines;
`exposed` makes the picture of that, as `imaging.street_light` does without torch.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from instar.imaging.street_classes import STREET
from instar.imaging.street_light import CROWN, CROWN_EDGE, HALO, LAMPS, MOST, SHINING
from instar.training.engines.crops import one_hot
from instar.training.engines.networks import CLASS_COUNT

CHANNELS = 3 + 3 + 1 + CLASS_COUNT + 1  # even light, the made picture, sky, labels, whether it is night
BRIGHTER, TINT, FALLING, BRIGHT = 1.0, 0.06, 1.0, 3.0
"""The most: of a logarithm of light and of its colours apart, of light that falls, of what shines."""
SMOOTH = 8  # pixels of the maps: light that falls has no sharp edges
NEAR = 15  # pixels of the maps: what shines is smaller than half of that


class Translator(nn.Module):
    """`CHANNELS` in (N, ., H, W), sides multiples of 16; at half the size 11 maps out.

    The maps are how much brighter the sky is (3), and the rest (3), how much warm and white
    light falls (2), and what shines warm, white and red (3).
    """

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        w = self.width = width
        sizes = [4 * CHANNELS, w, 2 * w, 3 * w, 4 * w]
        self.down = nn.ModuleList(
            _Layer(i, o, stride=1 if number == 0 else 2) for number, (i, o) in enumerate(pairwise(sizes))
        )
        self.middle = nn.ModuleList(_Layer(4 * w, 4 * w, apart=apart) for apart in (2, 4))
        self.up = nn.ModuleList([_Layer(7 * w, 3 * w), _Layer(5 * w, 2 * w), _Layer(3 * w, w)])
        self.out = nn.Conv2d(w, 11, 3, padding=1)
        nn.init.zeros_(self.out.weight)
        assert self.out.bias is not None, "it has one"
        nn.init.zeros_(self.out.bias)

    def forward(self, shown: Tensor) -> Tensor:
        x = F.pixel_unshuffle(shown, 2)
        seen = []
        for layer in self.down:
            x = layer(x)
            seen.append(x)
        for layer in self.middle:
            x = x + layer(x)
        for layer, before in zip(self.up, reversed(seen[:-1])):
            x = F.interpolate(x, before.shape[2:], mode="bilinear", align_corners=False)
            x = layer(torch.cat([x, before], 1))
        above, below, falling, shines = self.out(x).split((3, 3, 2, 3), 1)
        return torch.cat(
            [
                _smooth(_tinted(above)),
                _smooth(_tinted(below)),
                _smooth(FALLING * torch.sigmoid(falling - 4.5)),
                _spots(BRIGHT * torch.sigmoid(shines - 6.0)),
            ],
            1,
        )


def _spots(maps: Tensor) -> Tensor:
    """What is brighter than around it: a lamp or a pane, and never a wall that glows."""
    around = F.avg_pool2d(maps, NEAR, 1, NEAR // 2, count_include_pad=False)
    return F.relu(maps - 2 * around)


def _tinted(x: Tensor) -> Tensor:
    """Brighter or darker, and hardly of another colour."""
    same = x.mean(1, keepdim=True)
    return BRIGHTER * torch.tanh(same) + TINT * torch.tanh(x - same)


def _smooth(maps: Tensor) -> Tensor:
    """Without what is finer than `SMOOTH` pixels."""
    small = F.avg_pool2d(maps, SMOOTH)
    return F.interpolate(small, maps.shape[2:], mode="bilinear", align_corners=False)


class _Layer(nn.Module):
    """A convolution and its normalisation."""

    def __init__(self, inside: int, outside: int, *, stride: int = 1, apart: int = 1) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inside, outside, 3, stride, apart, apart)
        self.norm = nn.GroupNorm(4, outside)

    def forward(self, x: Tensor) -> Tensor:
        let: Tensor = F.silu(self.norm(self.conv(x)))
        return let


class LightCritic(nn.Module):
    """Tells made from photographed, by patches of 38 pixels: it must not see what place that is."""

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        tame = nn.utils.parametrizations.spectral_norm
        sizes = [3, width, 2 * width, 4 * width]
        self.layers = nn.ModuleList(tame(nn.Conv2d(i, o, 4, 2, 1)) for i, o in pairwise(sizes))
        self.out = tame(nn.Conv2d(sizes[-1], 1, 3, padding=1))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = F.leaky_relu(layer(x), 0.2)
        score: Tensor = self.out(x)
        return score


def shown_of(even: Tensor, made: Tensor, sky: Tensor, ids: Tensor, is_night: Tensor) -> Tensor:
    """What the translator is shown; light from 0 to 1, `is_night` (N, 1, 1, 1)."""
    rest = [sky, one_hot(ids), is_night.expand(-1, 1, *ids.shape[1:])]
    return torch.cat([2 * even - 1, 2 * made.sqrt() - 1, *rest], 1)


def exposed(maps: Tensor, even: Tensor, made: Tensor, sky: Tensor, ids: Tensor) -> Tensor:
    """The picture that the maps make of a made one, from 0 to 1."""
    may = torch.isin(ids, torch.tensor([STREET.index(name) for name in SHINING], device=ids.device))
    colours = maps.new_tensor(LAMPS)
    sources = torch.einsum("nlhw,lc->nchw", maps[:, 8:], colours) * F.max_pool2d(may[:, None].float(), 2)
    shining = F.interpolate(
        sources + sum(weight * _blurred(sources, sigma) for sigma, weight in HALO),
        even.shape[2:],
        mode="bilinear",
        align_corners=False,
    )
    wide = F.interpolate(maps[:, :8], even.shape[2:], mode="bilinear", align_corners=False)
    above, below, falling = wide.split((3, 3, 2), 1)
    falling = torch.einsum("nlhw,lc->nchw", falling, colours[:2])
    trees = _blurred((ids == STREET.index("vegetation"))[:, None].float(), CROWN_EDGE)
    falling = falling * (1 - (1 - CROWN) * trees)
    light = -torch.log1p(-made.clamp(0, MOST))
    lit = light * torch.exp(above * sky + below * (1 - sky)) + even * falling * (1 - sky) ** 2
    more = lit - light
    light = light + more / (1 + F.relu(more)) + shining
    return 1 - torch.exp(-light)


def _blurred(maps: Tensor, sigma: float) -> Tensor:
    reach = max(1, round(3 * sigma))
    at = torch.arange(-reach, reach + 1, device=maps.device, dtype=maps.dtype)
    bell = torch.exp(-0.5 * (at / sigma) ** 2)
    bell = (bell / bell.sum()).repeat(maps.shape[1], 1)
    maps = F.pad(maps, (reach, reach, reach, reach), mode="replicate")
    maps = F.conv2d(maps, bell[:, None, :, None], groups=maps.shape[1])
    return F.conv2d(maps, bell[:, None, None, :], groups=maps.shape[1])
