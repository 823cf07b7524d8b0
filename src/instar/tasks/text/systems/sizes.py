"""Pictures in the sizes that fully convolutional networks take."""

from __future__ import annotations

import cv2
import numpy as np

from instar.core.scene import Image
from instar.tasks.text.systems.rectangles import Floats

__all__ = ["LIMIT_TYPES", "LONGEST_SIDE", "MULTIPLE", "fit_picture", "fit_size"]

LIMIT_TYPES = ("min", "max")
MULTIPLE = 32
"""Sides are whole multiples of it: the networks halve their input five times."""
LONGEST_SIDE = 4096
"""No side becomes longer, so that a strip of pixels whose short side is enlarged does not fill the memory."""


def fit_size(size: tuple[int, int], limit_side: int, limit_type: str) -> tuple[int, int]:
    """The (height, width) at which a picture of that (height, width) is looked at.

    With "min" a picture is enlarged until its shorter side has `limit_side` pixels, with "max" it is
    reduced until its longer side has no more; otherwise it stays, but for rounding to multiples of 32.

    >>> fit_size((720, 1280), 736, "min"), fit_size((720, 1280), 960, "max")
    ((736, 1312), (544, 960))
    """
    shorter, longer = min(size), max(size)
    scale = max(1.0, limit_side / shorter) if limit_type == "min" else min(1.0, limit_side / longer)
    scale = min(scale, LONGEST_SIDE / longer)
    height, width = (max(MULTIPLE, round(side * scale / MULTIPLE) * MULTIPLE) for side in size)
    return height, width


def fit_picture(image: Image, limit_side: int, limit_type: str) -> tuple[Image, Floats]:
    """The picture in that size, and what x and y of it are multiplied by to get back: `float32 (2,)`."""
    height, width = image.shape[:2]
    new_height, new_width = fit_size((height, width), limit_side, limit_type)
    scale = np.array([width / new_width, height / new_height], np.float32)
    return np.asarray(cv2.resize(image, (new_width, new_height)), np.uint8), scale
