"""From a heat map to boxes, and how well boxes agree.

IoMin forgives a box for being larger or smaller than the other. That makes it blind to an interpreter that
points at everything, so coverage, the pointing game and IoU stand beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from instar.imaging.geometry import Box, areas, intersections, iou, mask_bounds
from instar.tasks.interpretation.answers import HeatMap

KEPT_SHARE = 0.5
"""Pixels above this share of the maximum count as pointed at; the paper does not say."""


@dataclass(frozen=True, slots=True, eq=False)
class Location:
    """Where a heat map points, in pixels of the picture.

    `parts` has a box for each of the regions that the picture was split into, None where nothing in it is
    hot; without a split it has one. `mass` is each part's share of the heat, `peak` the hottest pixel (x, y),
    `covered` the share of the picture inside of `whole`, the box around all, and `hot` that of the hot
    pixels.
    """

    parts: tuple[Box | None, ...]
    mass: tuple[float, ...]
    whole: Box | None
    peak: tuple[float, float]
    covered: float
    hot: float


def locate_heat(
    heat: HeatMap, size: tuple[int, int], *, kept: float = KEPT_SHARE, split: Sequence[Box] = ()
) -> Location:
    """Threshold a heat map and take bounding rectangles in a picture of `size` (height, width).

    With several `split` boxes every pixel belongs to the nearest one, and each gets its own rectangle.
    """
    height, width = size
    large = np.asarray(cv2.resize(heat, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)
    most = float(large.max())
    if most <= 0:
        return Location((None,) * max(1, len(split)), (0.0,) * max(1, len(split)), None, (0.0, 0.0), 0.0, 0.0)
    hot = large > kept * most if kept < 1 else large >= most
    regions = _regions(size, tuple((x1, y1, x2, y2) for x1, y1, x2, y2 in split))
    whole = mask_bounds(hot)
    assert whole is not None
    left, top, right, bottom = whole
    inner = (slice(top, bottom), slice(left, right))
    parts, mass = [], []
    for i in range(max(1, len(split))):
        mine = hot[inner] if regions is None else hot[inner] & (regions[inner] == i)
        bounds = mask_bounds(mine)
        parts.append(bounds and (bounds[0] + left, bounds[1] + top, bounds[2] + left, bounds[3] + top))
        mass.append(float(large[inner][mine].sum()))
    total = sum(mass)
    row, column = np.unravel_index(int(np.argmax(large)), large.shape)
    return Location(
        tuple(parts),
        tuple(one / total for one in mass),
        whole,
        (float(column) + 0.5, float(row) + 0.5),
        (whole[2] - whole[0]) * (whole[3] - whole[1]) / (height * width),
        float(np.count_nonzero(hot)) / hot.size,
    )


def io_min(a: Box, b: Box) -> float:
    """The common area as a share of the smaller box; 0 where one has no area.

    >>> io_min((0, 0, 4, 4), (2, 2, 4, 4))
    1.0
    """
    first, second = np.array([a], np.float32), np.array([b], np.float32)
    least = min(float(areas(first)[0]), float(areas(second)[0]))
    return min(1.0, float(intersections(first, second)[0, 0]) / least) if least > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well two explanations of one class agree, or one with the truth.

    `hit` says whether the hottest pixel lies on a true object (the pointing game).
    """

    io_min: float
    iou: float
    hit: bool = False


def agreement(before: Location, after: Location) -> Agreement:
    """IoMin and IoU of two explanations, averaged over the parts that are hot in both.

    A part that is hot in only one of them is no contradiction by itself, since IoMin forgives a box for
    lying inside of the other; explanations with no part in common have nothing in common.
    """
    both = [(a, b) for a, b in zip(before.parts, after.parts) if a is not None and b is not None]
    if not both:
        return Agreement(0.0, 0.0)
    return Agreement(
        float(np.mean([io_min(a, b) for a, b in both])), float(np.mean([_iou(a, b) for a, b in both]))
    )


def quality(found: Location, truth: Sequence[Box]) -> Agreement:
    """Hold an explanation that was split by the truth boxes against them, each part weighed with its heat."""
    if len(found.parts) != len(truth):
        raise ValueError(f"an explanation in {len(found.parts)} parts is no match for {len(truth)} boxes")
    x, y = found.peak
    hit = any(x1 <= x < x2 and y1 <= y < y2 for x1, y1, x2, y2 in truth)
    pairs = [(part, box, mass) for part, box, mass in zip(found.parts, truth, found.mass) if part is not None]
    overlap = sum(mass * io_min(part, box) for part, box, mass in pairs)
    return Agreement(float(overlap), float(sum(mass * _iou(part, box) for part, box, mass in pairs)), hit)


def _iou(a: Box, b: Box) -> float:
    return float(iou(np.array([a], np.float32), np.array([b], np.float32))[0, 0])


@lru_cache(maxsize=16)
def _regions(size: tuple[int, int], split: tuple[Box, ...]) -> npt.NDArray[np.int16] | None:
    """`int16 (height, width)`: which box each pixel is nearest to; None where there is one at most."""
    if len(split) < 2:
        return None
    x, y = np.arange(size[1]) + 0.5, np.arange(size[0]) + 0.5
    nearest, least = np.zeros(size, np.int16), np.full(size, np.inf)
    for i, (x1, y1, x2, y2) in enumerate(split):
        across = np.maximum(np.maximum(x1 - x, x - x2), 0)
        down = np.maximum(np.maximum(y1 - y, y - y2), 0)
        distance = (across**2)[None, :] + (down**2)[:, None]
        nearest[distance < least] = i
        np.minimum(least, distance, out=least)
    return nearest
