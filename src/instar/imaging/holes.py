"""The hole that a removed object leaves: its outline, a margin, and the shadow at its feet."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Mask
from instar.imaging.geometry import mask_bounds

MARGIN = 0.03  # of the object's longer side: its edge, and light that it throws
LEAST_MARGIN = 3  # pixels
LOWER_PART = 0.25  # of its height: where it may stand on the ground
SHADOW_SIDE, SHADOW_BELOW = 0.15, 0.1  # of its width and height: how far the contact shadow may reach


def hole_of(alpha: npt.NDArray[np.uint8]) -> Mask:
    """`bool (H, W)`: everything that would give away that the object `alpha` outlines was there."""
    mask = (alpha > 0).astype(np.uint8)
    bounds = mask_bounds(mask > 0)
    if bounds is None:
        return mask > 0
    left, top, right, bottom = bounds
    margin = max(LEAST_MARGIN, round(MARGIN * max(right - left, bottom - top)))
    feet = mask.copy()
    feet[: round(bottom - LOWER_PART * (bottom - top))] = 0
    across, down = round(SHADOW_SIDE * (right - left)), round(SHADOW_BELOW * (bottom - top))
    around, below = (cv2.dilate(mask, _ellipse(margin, margin)), cv2.dilate(feet, _ellipse(across, down)))
    return np.asarray((around > 0) | (below > 0))


def thickness(hole: Mask) -> float:
    """The radius, in pixels, of the largest circle within a hole; the picture's edge is no edge of it.

    >>> hole = np.zeros((9, 9), np.bool_)
    >>> hole[2:7, :] = True
    >>> round(thickness(hole))
    3
    """
    return float(cv2.distanceTransform(hole.astype(np.uint8), cv2.DIST_L2, 5).max())


def _ellipse(across: int, down: int) -> npt.NDArray[np.uint8]:
    size = (2 * max(1, across) + 1, 2 * max(1, down) + 1)
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, size), np.uint8)
