"""Where a picture shows the ground: what looks like the places on which things are seen to stand.

No network tells ground from wall for every kind of photograph. But below the feet of what stands there is
ground for certain, and what looks like it and is joined to it is ground too. The things themselves are left
out: their dark edges would blur into the ground at their feet, and then only such edges would look like it.
"""

from __future__ import annotations

from collections.abc import Iterable

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image, Mask
from instar.imaging.by_identity import by_identity
from instar.imaging.geometry import Box

SIDE = 192  # pixels of the longer side of the copy that is looked at
KINDS = 4  # of ground under the feet: stone, kerb, shadow, ...
NEAR = 3.2  # spreads from the nearest kind
LEAST_SPREAD = np.array([9.0, 4.0, 4.0, 5.0], np.float32)  # of L, a, b (8 bits) and roughness
LEAST_SEEDS = 12  # pixels
LEAST_WEIGHT = 1e-3  # so that nothing is divided by zero amid a thing


def ground_like(image: Image, feet: Iterable[Box], things: Iterable[Box] = ()) -> Mask:
    """`bool (H, W)`: what looks like the ground in the boxes `feet` and is joined to it.

    `things` stand on it and tell nothing about its looks.
    """
    height, width = image.shape[:2]
    scale = min(1.0, SIDE / max(height, width))
    bare, looks = _looks(image, scale, tuple((x1, y1, x2, y2) for x1, y1, x2, y2 in things))
    seeds = _filled(bare.shape, scale, feet) * bare
    if np.count_nonzero(seeds) < LEAST_SEEDS:
        return np.zeros((height, width), np.bool_)
    samples = np.stack([look[seeds > 0] for look in looks], axis=1)
    cv2.setRNGSeed(0)
    criteria = (cv2.TERM_CRITERIA_MAX_ITER, 12, 0.0)
    # Four numbers are few enough for k-means to be at home with any sample.
    count = min(KINDS, len(samples))
    empty = np.empty(0, np.int32)
    _, which, centres = cv2.kmeans(samples, count, empty, criteria, 2, cv2.KMEANS_PP_CENTERS)
    alike = np.zeros(seeds.shape, np.bool_)
    for kind in range(count):
        own = samples[which[:, 0] == kind]
        spread = np.maximum(own.std(axis=0), LEAST_SPREAD)
        squares = [((look - c) / s) ** 2 for look, c, s in zip(looks, centres[kind], spread)]
        alike |= np.sqrt(squares[0] + squares[1] + squares[2] + squares[3]) < NEAR
    opened = cv2.morphologyEx(alike.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    closed = cv2.bitwise_or(cv2.morphologyEx(opened, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8)), seeds)
    number, pieces = cv2.connectedComponents(closed)
    joined = np.zeros(number, np.uint8)
    joined[pieces[seeds > 0]] = 1  # all seeds are closed, so that this is never the background
    full = cv2.resize(joined[pieces], (width, height), interpolation=cv2.INTER_NEAREST)
    return np.asarray(full > 0)


def standing_places(
    ground: Mask, size: tuple[int, int], top: int, left: int, shape: tuple[int, int], *, least: float
) -> Mask:
    """`bool shape`: whether a thing of `size` (height, width) with its corner there has its feet on ground.

    Corners are (top, left) and all to the right and below; `least` is the share of the strip under it that
    must be ground.
    """
    on_ground, area = ground_below(ground, size, top, left, shape)
    return np.asarray(on_ground >= least * area)


def ground_below(
    ground: Mask, size: tuple[int, int], top: int, left: int, shape: tuple[int, int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """For the corners of `standing_places` the pixels of ground in the strip at the feet, and all of them."""
    height, width = size
    strip = max(2, round(0.05 * height))
    inset = width // 6
    rows, columns = ground.shape
    feet, start = top + height, left + inset
    upper, lower = (_within(rows, feet + more, shape[0]) for more in (-strip, strip))
    first, last = (_within(columns, start + more, shape[1]) for more in (0, width - 2 * inset))
    sums = _sums(ground)
    between = sums.take(lower, axis=0) - sums.take(upper, axis=0)
    area = np.maximum((lower - upper)[:, None] * (last - first)[None], 1)
    return between.take(last, axis=1) - between.take(first, axis=1), area


def _within(most: int, start: int, count: int) -> npt.NDArray[np.int64]:
    """So many numbers from `start` on, none below 0 or above `most`; `clip` takes five times as long."""
    return np.minimum(np.maximum(np.arange(start, start + count), 0), most)


def _filled(shape: tuple[int, ...], scale: float, boxes: Iterable[Box]) -> npt.NDArray[np.uint8]:
    """`uint8 shape[:2]`: 1 within the boxes, each of which covers a pixel at least."""
    filled = np.zeros(shape[:2], np.uint8)
    for box in boxes:
        x1, y1, x2, y2 = (round(value * scale) for value in box)
        filled[max(0, y1) : max(y2, y1 + 1), max(0, x1) : max(x2, x1 + 1)] = 1
    return filled


@by_identity(8)
def _sums(ground: Mask) -> npt.NDArray[np.int32]:
    """`int32 (H + 1, W + 1)`: how much ground lies above and to the left."""
    return np.asarray(cv2.integral(ground.view(np.uint8)), np.int32)


@by_identity(8)
def _looks(
    image: Image, scale: float, things: tuple[Box, ...]
) -> tuple[npt.NDArray[np.uint8], list[npt.NDArray[np.float32]]]:
    """Of the copy that is looked at: where it is bare of things, `uint8 (h, w)`; and four of
    `float32 (h, w)`, smoothed colour in Lab and how rough the surface is, of what is bare alone.
    """
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    bare = 1 - _filled(small.shape, scale, things)
    weight = bare.astype(np.float32)
    lab = cv2.cvtColor(small, cv2.COLOR_RGB2LAB).astype(np.float32) * weight[..., None]
    near = np.maximum(cv2.GaussianBlur(weight, (0, 0), 1.5), LEAST_WEIGHT)
    smooth = cv2.GaussianBlur(lab, (0, 0), 1.5) / near[..., None]
    light = np.ascontiguousarray(lab[..., 0])
    around = np.maximum(cv2.blur(weight, (7, 7)), LEAST_WEIGHT)
    mean = cv2.blur(light, (7, 7)) / around
    rough = np.sqrt(np.maximum(cv2.blur(light * light, (7, 7)) / around - mean * mean, 0))
    return bare, [*np.ascontiguousarray(np.moveaxis(smooth, 2, 0)), rough]
