"""What a picture is like for a text locator: how bright, how many boxes, how sharp the text in them."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image
from instar.tasks.text.polygons import bounds

FIRST = 0.2  # of the singular values: what blur leaves
LEAST_SIDE = 5  # pixels; less has too few singular values to tell


@dataclass(frozen=True, slots=True)
class Look:
    """Mean grey level, number of boxes, and mean clarity of their text (NaN without any)."""

    brightness: float
    boxes: int
    clarity: float


def measure_look(image: Image, quads: npt.NDArray[np.float32]) -> Look:
    """How a picture looks around the quads `float32 (n, 4, 2)` that were found in it."""
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    height, width = grey.shape
    values = []
    for x1, y1, x2, y2 in bounds(quads):
        patch = grey[max(0, int(y1)) : min(height, int(y2) + 1), max(0, int(x1)) : min(width, int(x2) + 1)]
        if min(patch.shape) >= LEAST_SIDE:
            values.append(clarity(np.asarray(patch, np.uint8)))
    return Look(float(grey.mean()), len(quads), float(np.mean(values)) if values else float("nan"))


def clarity(patch: npt.NDArray[np.uint8]) -> float:
    """From 0 to 1: the share of a grey patch `uint8 (h, w)` that its first singular values do not explain.

    Blur leaves the coarse layers of a picture, which come first, and takes the fine ones. Brightness is
    taken out before; a patch of one colour has no detail and a clarity of 0.
    """
    detail = patch.astype(np.float64) - patch.mean()
    values = np.linalg.svd(detail, compute_uv=False)
    total = float(values.sum())
    if total <= 1e-9:
        return 0.0
    return 1 - float(values[: max(1, round(FIRST * len(values)))].sum()) / total
