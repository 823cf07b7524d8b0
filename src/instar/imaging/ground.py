"""Where a picture shows the ground: what looks like the places on which things are seen to stand.

No network tells ground from wall for every kind of photograph. But below the feet of what stands there is
ground for certain, and what looks like it and is joined to it is ground too.
"""

from __future__ import annotations

from collections.abc import Iterable

import cv2
import numpy as np

from instar.core.scene import Image, Mask
from instar.imaging.geometry import Box

__all__ = ["ground_like", "standing_places"]

SIDE = 192  # pixels of the longer side of the copy that is looked at
KINDS = 4  # of ground under the feet: stone, kerb, shadow, ...
NEAR = 3.2  # spreads from the nearest kind
LEAST_SPREAD = np.array([9.0, 4.0, 4.0, 5.0], np.float32)  # of L, a, b (8 bits) and roughness
LEAST_SEEDS = 12  # pixels


def ground_like(image: Image, feet: Iterable[Box]) -> Mask:
    """`bool (H, W)`: what looks like the ground in these boxes and is joined to it."""
    height, width = image.shape[:2]
    scale = min(1.0, SIDE / max(height, width))
    small = np.asarray(cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
    seeds = np.zeros(small.shape[:2], np.uint8)
    for box in feet:
        x1, y1, x2, y2 = (round(value * scale) for value in box)
        seeds[max(0, y1) : max(y2, y1 + 1), max(0, x1) : max(x2, x1 + 1)] = 1
    if np.count_nonzero(seeds) < LEAST_SEEDS:
        return np.zeros((height, width), np.bool_)
    looks = _looks(small)
    samples = looks[seeds > 0]
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
        alike |= np.sqrt((((looks - centres[kind]) / spread) ** 2).sum(axis=2)) < NEAR
    opened = cv2.morphologyEx(alike.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    closed = cv2.bitwise_or(cv2.morphologyEx(opened, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8)), seeds)
    _, pieces = cv2.connectedComponents(closed)
    joined = np.isin(pieces, np.unique(pieces[seeds > 0])) & (closed > 0)
    full = cv2.resize(joined.astype(np.uint8), (width, height), interpolation=cv2.INTER_NEAREST)
    return np.asarray(full > 0)


def standing_places(
    ground: Mask, size: tuple[int, int], top: int, left: int, shape: tuple[int, int], *, least: float
) -> Mask:
    """`bool shape`: whether a thing of `size` (height, width) with its corner there has its feet on ground.

    Corners are (top, left) and all to the right and below; `least` is the share of the strip under it that
    must be ground.
    """
    height, width = size
    strip = max(2, round(0.05 * height))
    inset = width // 6
    sums = cv2.integral(ground.astype(np.uint8))
    rows, columns = ground.shape
    y = np.arange(top, top + shape[0])[:, None] + height
    x = np.arange(left, left + shape[1])[None] + inset
    upper, lower = np.clip(y - strip, 0, rows), np.clip(y + strip, 0, rows)
    first, last = np.clip(x, 0, columns), np.clip(x + width - 2 * inset, 0, columns)
    on_ground = sums[lower, last] - sums[upper, last] - sums[lower, first] + sums[upper, first]
    area = np.maximum((lower - upper) * (last - first), 1)
    return np.asarray(on_ground >= least * area)


def _looks(image: Image) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """`float32 (H, W, 4)`: smoothed colour in Lab, and how rough the surface is."""
    lab = cv2.cvtColor(image, cv2.COLOR_RGB2LAB).astype(np.float32)
    smooth = cv2.GaussianBlur(lab, (0, 0), 1.5)
    light = np.ascontiguousarray(lab[..., 0])
    mean = cv2.blur(light, (7, 7))
    rough = np.sqrt(np.maximum(cv2.blur(light * light, (7, 7)) - mean * mean, 0))
    return np.dstack([smooth, rough])
