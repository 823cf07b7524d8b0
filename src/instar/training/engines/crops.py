"""What a step of training is shown: crops of street pictures in changing light, and holes in them."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from instar.imaging.street_classes import STREET, UNKNOWN

ZOOM = (0.68, 1.0)  # how large things are in a crop; the painter never paints them larger
LEAST = 60  # pixels of a class, to make a hole of it
MOST = 0.7  # of a crop
OFTENER = {"vegetation": 3.0, "building": 2.0, "car": 2.0}  # what rules replace and remove most
GROWN = 7  # pixels: a hole is a little larger than what it is made for
TOLD = 0.5  # of a hole is left where the mean colour of a cell is told
FORGET, FORGET_ALL = 0.4, 0.5  # how often labels in the hole are not told, and of these how often none are


class Crops:
    """Crops of one shape, mirrored at random; `pictures` (N, H, W, 3) and `ids` (N, H, W) lie on the device.

    `often` (N) is how often each picture is chosen, beside the others.
    """

    def __init__(
        self,
        pictures: Tensor,
        ids: Tensor,
        shape: tuple[int, int],
        *,
        zoom: tuple[float, float] = ZOOM,
        often: Tensor | None = None,
    ) -> None:
        self.pictures, self.ids, self.shape, self.zoom = pictures.permute(0, 3, 1, 2), ids, shape, zoom
        self.often = torch.ones(len(ids)) if often is None else often

    def draw(self, count: int) -> tuple[Tensor, Tensor]:
        """Pictures (count, 3, *shape) from -1 to 1, and ids (count, *shape)."""
        rows, columns = self.ids.shape[1:]
        high, wide = self.shape
        where = self.ids.device
        chosen = torch.multinomial(self.often, count, replacement=True).to(where)
        scale = (1 / torch.empty(count, device=where).uniform_(*self.zoom)).clamp(
            max=min(rows / high, columns / wide)
        )
        below, beside = scale * high, scale * wide
        left = torch.rand(count, device=where) * (columns - beside)
        top = torch.rand(count, device=where) * (rows - below)
        flip = torch.where(torch.rand(count, device=where) < 0.5, -1.0, 1.0)
        matrix = torch.zeros(count, 2, 3, device=where)
        matrix[:, 0, 0], matrix[:, 1, 1] = flip * beside / columns, below / rows
        matrix[:, 0, 2], matrix[:, 1, 2] = (2 * left + beside) / columns - 1, (2 * top + below) / rows - 1
        grid = F.affine_grid(matrix, [count, 1, high, wide], align_corners=False)
        pictures = _sample(self.pictures[chosen].float() / 127.5 - 1, grid, "bilinear")
        ids = _sample(self.ids[chosen, None].float(), grid, "nearest")
        return pictures, ids[:, 0].round().long()


def _sample(values: Tensor, grid: Tensor, how: str) -> Tensor:
    return F.grid_sample(values, grid, mode=how, padding_mode="border", align_corners=False)


def one_hot(ids: Tensor) -> Tensor:
    """(N, H, W) to (N, classes, H, W)."""
    return F.one_hot(ids, len(STREET)).permute(0, 3, 1, 2).float()


def draw_holes(ids: Tensor) -> Tensor:
    """Holes (N, 1, H, W): the shape of a class, there or where another crop has it, or plain shapes."""
    count, rows, columns = ids.shape
    where = ids.device

    def often(share: float) -> Tensor:
        return (torch.rand(count, device=where) < share)[:, None, None]

    pixels = one_hot(ids).sum((2, 3))
    pixels[:, UNKNOWN] = 0
    weights = torch.tensor([OFTENER.get(name, 1.0) for name in STREET], device=where)
    chosen = torch.multinomial((pixels > LEAST) * weights + 1e-6, 2, replacement=True)
    first, second = (ids == chosen[:, i, None, None] for i in range(2))
    shaped = (first | (second & often(0.5))).float()
    # A hole in the outline of a car must not mean that there is a car.
    shaped = torch.where(often(0.5), shaped, shaped.roll(1, 0))
    shaped = shaped * (shaped.mean((1, 2), keepdim=True) < MOST) * often(0.6)
    y, x = torch.meshgrid(
        torch.arange(rows, device=where).float(), torch.arange(columns, device=where).float(), indexing="ij"
    )
    holes = shaped
    for number in range(3):
        empty = holes.sum((1, 2), keepdim=True) == 0
        wanted = empty if number else empty | often(0.35)
        wanted = wanted | (often(0.3) & often(0.5))
        centre_y, centre_x = (torch.rand(2, count, 1, 1, device=where)) * rows
        tall, wide = 5 + torch.rand(2, count, 1, 1, device=where) ** 1.5 * 0.36 * rows
        across, down = ((x - centre_x) / wide).abs(), ((y - centre_y) / tall).abs()
        plain = torch.where(often(0.6), across**2 + down**2 < 1, (across < 1) & (down < 1))
        holes = torch.maximum(holes, (plain & wanted).float())
    return F.max_pool2d(holes[:, None], GROWN, 1, GROWN // 2)


def show_cells(pictures: Tensor, lost: Tensor, cell: int) -> tuple[Tensor, Tensor]:
    """The mean colours of cells of the pictures, and the hole: 0.5 where they are told, 1 where they are not.

    A cell of so many pixels is not told where half of it is lost.
    """
    known = F.avg_pool2d(1 - lost, cell)
    told = (known > 0.5).float()
    colours = F.avg_pool2d(pictures * (1 - lost), cell) / known.clamp(min=0.5) * told
    both = torch.cat([colours, 1 - TOLD * told], 1)
    wide = F.interpolate(both, scale_factor=float(cell), mode="nearest")
    return wide[:, :3], wide[:, 3:]


def forget(labels: Tensor, hole: Tensor) -> Tensor:
    """Labels (N, classes, H, W), some of them unknown in the hole or everywhere, as where no map is given."""
    count = len(labels)
    lost = (torch.rand(count, 1, 1, 1, device=labels.device) < FORGET).float()
    everywhere = (torch.rand(count, 1, 1, 1, device=labels.device) < FORGET_ALL).float()
    gone = lost * torch.maximum(hole, everywhere)
    unknown = torch.zeros_like(labels)
    unknown[:, UNKNOWN] = 1
    return labels * (1 - gone) + unknown * gone


def relight(pictures: Tensor, *, dark: float) -> Tensor:
    """The pictures in other light; a share `dark` of them at night with headlights, in haze or in grey."""
    count, _, rows, columns = pictures.shape
    where = pictures.device

    def between(low: float, high: float, channels: int = 1) -> Tensor:
        return low + (high - low) * torch.rand(count, channels, 1, 1, device=where)

    def often(share: float) -> Tensor:
        return torch.rand(count, 1, 1, 1, device=where) < share

    light = ((pictures + 1) / 2).clamp(0, 1)
    light = (light ** between(0.8, 1.25)) * between(0.8, 1.2) * between(0.94, 1.06, 3)
    y = torch.linspace(0, 1, rows, device=where)[:, None]
    x = torch.linspace(-1, 1, columns, device=where)[None]
    cone = torch.exp(-(((x - between(-0.4, 0.4)) / (0.15 + 0.8 * y)) ** 2)) * ((y - 0.35) * 3).clamp(0, 1)
    tint = torch.tensor([0.85, 0.95, 1.15], device=where)[None, :, None, None]
    night = light ** between(1.0, 1.4) * between(0.06, 0.35) * tint + light * cone * between(0.0, 0.6)
    air = between(0.4, 0.9)
    haze = between(0.1, 0.7) * torch.exp(-3 * (y - 0.45).abs())
    dull = light.mean(1, keepdim=True) * 0.6 + light * 0.4
    hazy = dull * (1 - haze) + air * haze
    light = torch.where(often(dark), torch.where(often(0.6), night, hazy), light)
    light = light + torch.randn_like(light) * between(0, 0.02)
    return light.clamp(0, 1) * 2 - 1
