"""Lane lines found in the picture, where the label map counts them as road."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image, Mask
from instar.imaging.labels import LabelMap

__all__ = ["with_lines"]

BRIGHTER = 9  # grey levels above the asphalt around it, at least
SHARE = 0.14  # of the asphalt's brightness: as much brighter, where that is more
LEAST_LENGTH = 0.035  # of the picture's height
LEAST_SLENDER = 2.2  # how many times as long as wide
LEAST_PIXELS = 12


def with_lines(labels: LabelMap, image: Image) -> LabelMap:
    """The label map with the class "line" inside the road; as it is, where it has that class already."""
    if "line" in labels.names:
        return labels
    road = labels.mask(["road"])
    return labels.relabelled(_lines(image, road), "line") if road.any() else labels


def _lines(image: Image, road: Mask) -> Mask:
    """Slender patches that are brighter than the road to both sides of them.

    Lines are wider near the camera, so a row is compared with what lies a share of the road's width aside.
    """
    height, width = road.shape
    grey = cv2.GaussianBlur(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), (3, 3), 0)
    inner = cv2.erode(road.astype(np.uint8), np.ones((3, 3), np.uint8), borderValue=1)
    filled = np.where(road, grey, np.uint8(np.median(grey[road]))).astype(np.uint8)
    found: npt.NDArray[np.uint8] = np.zeros(road.shape, np.uint8)
    wide = road.sum(axis=1)
    bound = max(BRIGHTER, SHARE * float(np.median(grey[road])))
    for reach in (7, 13, 25, 45):
        # Opening keeps only what is wider than the reach: the difference is what is narrower, like a line.
        size = max(3, round(reach * width / 480) | 1)
        narrow = cv2.subtract(filled, cv2.morphologyEx(filled, cv2.MORPH_OPEN, np.ones((1, size), np.uint8)))
        rows = (wide > 3 * size)[:, None]
        found |= ((narrow > bound) & (inner > 0) & rows).astype(np.uint8)
    found = np.asarray(cv2.morphologyEx(found, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)), np.uint8)
    _, pieces, stats, _ = cv2.connectedComponentsWithStats(found)
    kept = [number for number in range(1, len(stats)) if _is_line(pieces, stats[number], number, height)]
    lines = np.isin(pieces, kept).astype(np.uint8)
    return np.asarray((cv2.dilate(lines, np.ones((3, 3), np.uint8)) > 0) & road)


def _is_line(pieces: np.ndarray, stat: np.ndarray, number: int, height: int) -> bool:
    left, top, wide, tall, area = stat.tolist()
    if area < LEAST_PIXELS or max(wide, tall) < LEAST_LENGTH * height:
        return False
    points = np.argwhere(pieces[top : top + tall, left : left + wide] == number)
    (_, _), (one, other), _ = cv2.minAreaRect(points.astype(np.float32))
    return max(one, other) + 1 >= LEAST_SLENDER * (min(one, other) + 1)
