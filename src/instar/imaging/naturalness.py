"""How much of a picture's structure is left: the intersection of gradient histograms.

HOG with raw 8-pixel cells, as in the MetaOD paper; block normalisation would lift unrelated photographs
from about 0.34 to 0.57. It is blind to what people see (a JPEG copy scores lower than an insertion).
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from instar.scene import Image

__all__ = ["gradient_histogram", "hog_intersection"]

CELL, BINS = 8, 9


def gradient_histogram(image: Image) -> npt.NDArray[np.float32]:
    """`float32 (H // 8, W // 8, 9)`: gradient strength by direction, per cell."""
    height, width = (side // CELL * CELL for side in image.shape[:2])
    grey = cv2.cvtColor(image[:height, :width], cv2.COLOR_RGB2GRAY).astype(np.float32)
    strength, angle = cv2.cartToPolar(
        cv2.Sobel(grey, cv2.CV_32F, 1, 0, ksize=1), cv2.Sobel(grey, cv2.CV_32F, 0, 1, ksize=1)
    )
    direction = (angle * (BINS / np.pi)).astype(np.int32) % BINS
    rows, columns = height // CELL, width // CELL
    cell = (np.arange(height) // CELL)[:, None] * columns + (np.arange(width) // CELL)[None, :]
    counts = np.bincount((cell * BINS + direction).ravel(), strength.ravel(), minlength=rows * columns * BINS)
    return counts.reshape(rows, columns, BINS).astype(np.float32)


def hog_intersection(a: Image, b: Image) -> float:
    """1 for the same picture, about a third for unrelated photographs of the same size."""
    first, second = gradient_histogram(a), gradient_histogram(b)
    if first.shape != second.shape:
        raise ValueError(f"pictures of {a.shape[:2]} and {b.shape[:2]} cannot be compared")
    larger = float(np.maximum(first, second).sum())
    return float(np.minimum(first, second).sum()) / larger if larger > 0 else 1.0
