"""Cutting an object out softly: its own colours up to the edge, and the shadow at its feet."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image
from instar.imaging.geometry import mask_bounds
from instar.imaging.paste import RGBA

Alpha = npt.NDArray[np.uint8]
SOLID = 210  # alpha from which on a pixel shows hardly anything but the object
REACH = 0.1  # of the object's height: how far its contact shadow reaches
SIDES = 0.2  # of the object's width: how far beside it the ground is looked at
DARKEST = 0.45  # of the ground's light that a contact shadow leaves


def cut_softly(image: Image, alpha: Alpha) -> RGBA | None:
    """The object `alpha` (H, W) outlines, within the smallest rectangle; None where that is empty.

    At a soft edge a picture shows a mixture of the object and what was behind it. There the object gets the
    colours that it has just inside, so that nothing of the old surroundings comes along.
    """
    bounds = mask_bounds(alpha > 0)
    if bounds is None:
        return None
    left, top, right, bottom = bounds
    crop, own = image[top:bottom, left:right], alpha[top:bottom, left:right]
    solid = (own >= SOLID).astype(np.float32)
    near = cv2.GaussianBlur(solid, (0, 0), 1.0)
    inner = cv2.GaussianBlur(crop * solid[..., None], (0, 0), 1.0) / np.maximum(near, 1e-6)[..., None]
    mixed = (solid == 0) & (near > 1e-3)
    clean = np.where(mixed[..., None], np.rint(inner), crop).astype(np.uint8)
    return np.dstack([clean, own])


def with_shadow(image: Image, alpha: Alpha, others: npt.NDArray[np.bool_]) -> tuple[RGBA, int, int] | None:
    """The object with the shadow at its feet as a darker film, and the corner (x, y) it was cut out at.

    Only what is darker than the ground around counts as shadow, and only close to the feet. `others`
    `bool (H, W)` is what is no ground. None where the outline is empty.
    """
    bounds, cutout = mask_bounds(alpha > 0), cut_softly(image, alpha)
    if bounds is None or cutout is None:
        return None
    (left, top, right, bottom), (rows, columns) = bounds, image.shape[:2]
    reach, side = max(2, round(REACH * (bottom - top))), max(3, round(SIDES * (right - left)))
    x1, x2, y2 = max(0, left - side), min(columns, right + side), min(rows, bottom + reach)
    whole = np.zeros((y2 - top, x2 - x1, 4), np.uint8)
    whole[: bottom - top, left - x1 : right - x1] = cutout
    low = max(0, bottom - top - 2 * reach)  # nothing above the feet is shadow
    shadow = _shadow(image[top + low : y2, x1:x2], whole[low:, :, 3], others[top + low : y2, x1:x2], reach)
    own = whole[low:, :, 3].astype(np.float32) / 255
    total = own + shadow * (1 - own)
    whole[low:, :, :3] = np.rint(whole[low:, :, :3] * (own / np.maximum(total, 1e-6))[..., None])
    whole[low:, :, 3] = np.rint(255 * total)
    return whole, x1, top


def _shadow(
    ground: Image, alpha: Alpha, others: npt.NDArray[np.bool_], reach: int
) -> npt.NDArray[np.float32]:
    """`float32 (H, W)`: how much darker the ground is than usual here, fading with the distance."""
    light = cv2.cvtColor(ground, cv2.COLOR_RGB2GRAY).astype(np.float32)
    free = ((alpha == 0) & ~others).astype(np.float32)
    if np.count_nonzero(free) < 20:
        return np.zeros_like(light)
    usual = float(np.percentile(light[free > 0], 60))
    near = cv2.GaussianBlur(free, (0, 0), max(1.0, reach / 6))
    smooth = cv2.GaussianBlur(light * free, (0, 0), max(1.0, reach / 6)) / np.maximum(near, 1e-3)
    darker = 1 - np.clip(smooth / max(usual, 1.0), DARKEST, 1)
    away = cv2.distanceTransform((alpha < 128).astype(np.uint8), cv2.DIST_L2, 3)
    fading = np.exp(-((2 * away / reach) ** 2)) * (near > 1e-2)
    return np.asarray(darker * fading, np.float32)
