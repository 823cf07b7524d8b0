"""How a picture gets the size that a network wants."""

from __future__ import annotations

from typing import Literal

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image

__all__ = ["FITS", "Fit", "fit_picture"]

Fit = Literal["letterbox", "corner", "stretch"]
FITS: tuple[Fit, ...] = ("letterbox", "corner", "stretch")


def fit_picture(
    image: Image, size: tuple[int, int], fit: Fit, padding: int
) -> tuple[Image, npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """The picture at that size (height, width), in the middle, in the top left corner, or stretched.

    Also returns the way back for boxes: x1, y1, x2, y2 less the offset, times the scale, both
    `float32 (4,)`.
    """
    (height, width), (rows, columns) = image.shape[:2], size
    if fit == "stretch":
        scale = np.array([width / columns, height / rows] * 2, np.float32)
        return np.asarray(cv2.resize(image, (columns, rows)), np.uint8), scale, np.zeros(4, np.float32)
    ratio = min(rows / height, columns / width)
    inner = max(1, round(height * ratio)), max(1, round(width * ratio))
    top, left = ((rows - inner[0]) // 2, (columns - inner[1]) // 2) if fit == "letterbox" else (0, 0)
    canvas = np.full((rows, columns, 3), padding, np.uint8)
    canvas[top : top + inner[0], left : left + inner[1]] = cv2.resize(image, (inner[1], inner[0]))
    scale = np.array([width / inner[1], height / inner[0]] * 2, np.float32)
    return canvas, scale, np.array([left, top, left, top], np.float32)
