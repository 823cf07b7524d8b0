"""Whether a piece of a label map is several things that hang together: two people, a row of cars."""

from __future__ import annotations

import cv2
import numpy as np

from instar.core.scene import Mask

DIP = 0.05  # of the height: how far the upper edge of one thing dips, at most
ROW_RISE, ROW_ENDS = 0.3, 2.0  # of a row of cars: how far its feet rise, and how unlike its ends are high
PROFILE = 3.2  # times as wide as high is a car seen from the side


def is_several(piece: Mask, *, vehicle: bool) -> bool:
    """Whether the upper edge has two heads or roofs, or a vehicle is too long or too slanted to be one."""
    rows, columns = np.flatnonzero(piece.any(axis=1)), np.flatnonzero(piece.any(axis=0))
    mask = piece[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    height, width = mask.shape
    top = np.where(mask.any(axis=0), height - mask.argmax(axis=0), 0).astype(np.float32)
    if width >= 5:
        top = cv2.medianBlur(top[None], 5)[0]
    lower = np.minimum(np.maximum.accumulate(top), np.maximum.accumulate(top[::-1])[::-1])
    return float((lower - top).max()) > DIP * height or (
        vehicle and (width > PROFILE * height or _is_row(mask))
    )


def _is_row(mask: Mask) -> bool:
    """Whether one end is far above the other, or far lower: cars that stand one behind the other."""
    height, width = mask.shape
    top, bottom = mask.argmax(axis=0), height - mask[::-1].argmax(axis=0)
    sixth = max(width // 6, 1)
    (left, right), (low, high) = (
        (float(edge[:sixth].mean()), float(edge[-sixth:].mean())) for edge in (bottom, bottom - top)
    )
    return abs(left - right) > ROW_RISE * height or max(low, high) > ROW_ENDS * min(low, high)
