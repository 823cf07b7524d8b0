"""From a picture to what a driving network sees: without the sky on top, at a fixed size."""

from __future__ import annotations

import cv2
import numpy as np

from instar.core.scene import Image

__all__ = ["SIZE", "crop", "preprocess"]

SIZE = (160, 320)
"""Height and width, as in the paper."""


def preprocess(image: Image, size: tuple[int, int] = SIZE) -> Image:
    """The picture at that size (height, width), undistorted.

    Of a picture that is too tall the top rows go, as in the paper, because what matters stands below; of one
    that is too wide both sides.
    """
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(f"the picture is {image.dtype} {image.shape}; it must be uint8 (H, W, 3)")
    tall, wide = size
    kept = image[crop(image.shape[:2], size)]
    if kept.shape[:2] == size:
        return np.ascontiguousarray(kept)
    shrinks = kept.shape[0] >= tall
    seen = cv2.resize(kept, (wide, tall), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)
    return np.asarray(seen, np.uint8)


def crop(shape: tuple[int, int], size: tuple[int, int] = SIZE) -> tuple[slice, slice]:
    """The rows and columns of a picture of that shape (height, width) that are looked at."""
    (height, width), (tall, wide) = shape, size
    rows, columns = min(height, round(width * tall / wide)), min(width, round(height * wide / tall))
    left = (width - columns) // 2
    return slice(height - rows, height), slice(left, left + columns)
