"""Perspective: pictures and points through the same homography.

Points are where pictures say they are: pixel (i, j) covers the unit square from (i, j) to (i + 1, j + 1),
so the corners of a picture are (0, 0) and (width, height), and a box is carried exactly as its pixels are.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image

Homography: TypeAlias = npt.NDArray[np.float64]
"""`float64 (3, 3)`, from points (x, y) of one picture to those of another, both in pixels."""

BAND = 64  # rows
_TO_CENTRES = np.array([[1, 0, -0.5], [0, 1, -0.5], [0, 0, 1]])
_FROM_CENTRES = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])


def homography(start: npt.NDArray[Any], end: npt.NDArray[Any]) -> Homography:
    """The one that carries four points `float (4, 2)` to four others; no three may be in line."""
    matrix = cv2.getPerspectiveTransform(np.asarray(start, np.float32), np.asarray(end, np.float32))
    return np.asarray(matrix, np.float64)


def warped(image: Image, matrix: Homography, size: tuple[int, int]) -> Image:
    """The picture through a homography, on a black canvas of `size` (height, width)."""
    # OpenCV counts from the centres of pixels, not from their corners.
    back = np.linalg.inv(_TO_CENTRES @ matrix @ _FROM_CENTRES)
    height, width = size
    along = (back[:, :1] * np.arange(width)).astype(np.float32)
    down = (back[:, 1:2] * np.arange(height) + back[:, 2:]).astype(np.float32)
    # Where pixels come from is worked out for a band of rows that stays in the processor's cache: 0.7 of
    # the time of cv2.warpPerspective, which does it one by one and in double precision.
    room = np.empty((3, BAND, width), np.float32)
    result = np.empty((height, width, *image.shape[2:]), np.uint8)
    for top in range(0, height, BAND):
        band = result[top : top + BAND]
        x, y, w = np.add(along[:, None], down[:, top : top + BAND, None], out=room[:, : len(band)])
        with np.errstate(divide="ignore", invalid="ignore"):  # a point at infinity is outside the picture
            np.reciprocal(w, out=w)
            x *= w
            y *= w
        cv2.remap(image, x, y, cv2.INTER_LINEAR, band, cv2.BORDER_CONSTANT)
    return result


def corners_of(size: tuple[int, int]) -> npt.NDArray[np.float32]:
    """`float32 (4, 2)`: the corners of a picture of `size` (height, width), clockwise from the top left."""
    height, width = size
    return np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
