"""A network that paints what a label map wants: into a hole of a street photograph, or a whole picture.

Where the map says "unlabelled" it paints what the surroundings suggest. A whole picture is painted in the
light of a photograph: the network is told the mean colours of its cells.
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image, Mask
from instar.imaging.harmony import grain_of
from instar.imaging.street_classes import STREET
from instar.imaging.street_networks import as_input, session

HEIGHT = 360  # the size of pictures it was trained on; larger ones are painted at this height
CROP, AROUND = 256, 64  # pixels: what it was shown in training, and what it sees at least around a hole
SKY, LEAST_SKY = STREET.index("sky"), 0.005  # of the picture: less says little about the rest
GROUND = tuple(STREET.index(name) for name in ("road", "sidewalk"))
LEAST_GROUND, ENOUGH, MOST = 200, 0.15, 60.0  # pixels; of the neighbourhood; grey levels
COARSE = 4  # pixels: colour is told at a quarter of the size
NOISE = 0.3  # as in training
CELL, TOLD = 8, 0.5  # pixels of a cell, and what its hole is where its colour is told, as in training
SOFT = 1.2  # sigma in pixels of the seam, which lies inside the hole

Ids = npt.NDArray[np.uint8]


def paint(image: Image, hole: Mask, ids: Ids, *, painter: str, seed: int = 0) -> Image:
    """The picture with the hole painted as the `STREET` classes in `ids` want it; outside nothing changes."""
    if not hole.any():
        same: Image = image.copy()
        return same
    small, gap, wanted = _at_height(image, hole, ids)
    clear, gap = clear_sky(small, gap, wanted)
    painted = clear.copy()
    if gap.any():
        seen = _window(gap)
        painted[seen] = _paint(clear[seen], gap[seen], wanted[seen], painter, seed)
        painted[seen] = _matched(painted[seen], clear[seen], gap[seen], wanted[seen])
        painted = np.where(gap[..., None], painted, clear)
    return _compose(image, hole, _as_large(painted, hole.shape), seed)


def paint_whole(image: Image, lost: Mask, ids: Ids, *, painter: str) -> Image:
    """A picture of what `ids` say everywhere, in the light of this one, but for what is `lost` of it.

    The noise is always the same, so that two paintings of a picture differ by what is lost and wanted alone.
    """
    small, gap, wanted = _at_height(image, lost, ids)
    colours, hole = in_cells(small, gap)
    painted = _as_large(_painted(colours, hole, wanted, painter, 0), lost.shape)
    return _compose(image, np.ones(lost.shape, np.bool_), painted, 0)


def in_cells(image: Image, lost: Mask) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """The mean colours of cells of the picture from -1 to 1, and the hole: 0.5 where they are told, else 1.

    A cell is not told where half of it is lost. The edges are repeated up to whole cells.
    """
    rows, columns = lost.shape
    around = ((0, -rows % CELL), (0, -columns % CELL))
    known = np.pad(~lost, around, mode="edge").astype(np.float32)[..., None]
    light = np.pad(image, (*around, (0, 0)), mode="edge").astype(np.float32) / np.float32(127.5) - 1
    share, mean = _cell_means(known), _cell_means(light * known)
    told = (share > TOLD).astype(np.float32)
    cells = np.dstack([mean / np.maximum(share, TOLD) * told, 1 - TOLD * told])
    wide = np.repeat(np.repeat(cells, CELL, axis=0), CELL, axis=1)[:rows, :columns]
    return wide[..., :3], wide[..., 3:]


def _cell_means(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    rows, columns, channels = values.shape
    cells = values.reshape(rows // CELL, CELL, columns // CELL, CELL, channels)
    return np.asarray(cells.mean(axis=(1, 3)), np.float32)


def _at_height(image: Image, hole: Mask, ids: Ids) -> tuple[Image, Mask, Ids]:
    """All three no higher than the pictures in training."""
    rows, columns = hole.shape
    scale = min(1.0, HEIGHT / rows)
    size = (round(columns * scale), round(rows * scale))
    small = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)
    wanted = np.asarray(cv2.resize(ids, size, interpolation=cv2.INTER_NEAREST), np.uint8)
    return small, cv2.resize(hole.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST) > 0, wanted


def _as_large(painted: Image, shape: tuple[int, ...]) -> Image:
    if painted.shape[:2] == shape:
        return painted
    return np.asarray(cv2.resize(painted, shape[::-1], interpolation=cv2.INTER_CUBIC), np.uint8)


def _window(hole: Mask) -> tuple[slice, slice]:
    """What the network has to see: the hole and some way around it, no less than in training."""
    x, y, width, height = cv2.boundingRect(hole.astype(np.uint8))
    window = []
    for first, length, most in ((y, height, hole.shape[0]), (x, width, hole.shape[1])):
        missing = max(2 * AROUND, CROP - length)
        start = max(0, min(first - missing // 2, most - length - missing))
        window.append(slice(start, min(most, start + length + missing)))
    return window[0], window[1]


def clear_sky(image: Image, hole: Mask, ids: Ids, *, edge: int = 5) -> tuple[Image, Mask]:
    """The picture with sky spread into the hole where sky is wanted, and the hole that is left.

    Sky is smooth, so that nothing has to be invented but along the edge of what stands before it, so many
    pixels wide.
    """
    sky = ids == SKY
    known = cv2.erode((sky & ~hole).astype(np.uint8), np.ones((5, 5), np.uint8)).astype(np.float32)
    free = cv2.erode((sky | ~hole).astype(np.uint8), np.ones((edge, edge), np.uint8)) > 0
    free &= hole & sky
    if known.sum() < LEAST_SKY * known.size or not free.any():
        return image, hole
    spread, weight = np.zeros(image.shape, np.float32), np.zeros(hole.shape, np.float32)
    for share in (0.02, 0.08, 0.3):  # of the height: what is near counts, where something is near
        near = cv2.GaussianBlur(known, (0, 0), share * hole.shape[0])
        mean = cv2.GaussianBlur(image * known[..., None], (0, 0), share * hole.shape[0])
        part = np.minimum(near, 1 - weight)
        spread += mean / np.maximum(near, 1e-6)[..., None] * part[..., None]
        weight += part
    usual = image[known > 0].mean(axis=0)
    smooth = spread + usual * (1 - weight)[..., None]
    cleared = np.where(free[..., None], np.clip(np.rint(smooth), 0, 255).astype(np.uint8), image)
    return cleared, hole & ~free


def _paint(image: Image, hole: Mask, ids: Ids, painter: str, seed: int) -> Image:
    known = np.where(hole[..., None], 0, image.astype(np.float32) / np.float32(127.5) - 1)
    return _painted(known, hole[..., None], ids, painter, seed)


def _painted(
    known: npt.NDArray[np.float32], hole: npt.NDArray[Any], ids: Ids, painter: str, seed: int
) -> Image:
    rows, columns = ids.shape
    noise = np.random.default_rng(seed).normal(0, NOISE, ids.shape).astype(np.float32)[..., None]
    light = known + np.where(hole > 0, noise, np.float32(0))
    labels = np.eye(len(STREET), dtype=np.float32)[ids]
    inputs = {"picture": as_input(light), "hole": as_input(hole), "labels": as_input(labels)}
    (made,) = session(f"painter-{painter}").run(None, inputs)
    levels = (made[0, :, :rows, :columns].transpose(1, 2, 0) + 1) * np.float32(127.5)
    return np.asarray(np.clip(np.rint(levels), 0, 255), np.uint8)


def _matched(painted: Image, image: Image, hole: Mask, ids: Ids) -> Image:
    """What was painted, with ground in the colour of the same ground nearby, since that goes on evenly."""
    result = painted.astype(np.float32)
    for number in GROUND:
        inside, known = hole & (ids == number), ~hole & (ids == number)
        if inside.any() and known.sum() > LEAST_GROUND:
            real, made = _spread(image, known), _spread(painted, inside)
            result += np.where(inside[..., None], np.clip(real - made, -MOST, MOST), 0)
    return np.asarray(np.clip(np.rint(result), 0, 255), np.uint8)


def _spread(image: Image, known: Mask) -> npt.NDArray[np.float32]:
    """For every place the mean of the known pixels around it, farther ones where none are near."""
    rows, columns = known.shape
    size = (max(1, columns // COARSE), max(1, rows // COARSE))
    weight = cv2.resize(known.astype(np.float32), size, interpolation=cv2.INTER_AREA)[..., None]
    light = cv2.resize(image * known[..., None].astype(np.float32), size, interpolation=cv2.INTER_AREA)
    spread = light.sum(axis=(0, 1)) / weight.sum() * np.ones_like(light)
    for sigma in (80.0, 40.0, 20.0, 10.0):  # pixels
        near = cv2.GaussianBlur(weight, (0, 0), sigma / COARSE)[..., None]
        mean = cv2.GaussianBlur(light, (0, 0), sigma / COARSE) / np.maximum(near, 1e-6)
        share = np.minimum(1, near / ENOUGH)
        spread = spread * (1 - share) + mean * share
    return np.asarray(cv2.resize(spread, (columns, rows), interpolation=cv2.INTER_LINEAR), np.float32)


def _compose(image: Image, hole: Mask, painted: Image, seed: int) -> Image:
    """What was painted, with the grain of the picture and a soft seam, in the hole alone."""
    missing = max(0.0, grain_of(image) ** 2 - grain_of(painted) ** 2) ** 0.5
    noise = np.random.default_rng(seed + 1).normal(0, missing, hole.shape).astype(np.float32)[..., None]
    inner = cv2.erode(hole.astype(np.uint8), np.ones((3, 3), np.uint8)).astype(np.float32)
    share = np.maximum(cv2.GaussianBlur(inner, (0, 0), SOFT), inner)[..., None]
    mixed = image * (1 - share) + (painted + noise) * share
    return np.where(hole[..., None], np.clip(np.rint(mixed), 0, 255).astype(np.uint8), image)
