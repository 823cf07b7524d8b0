"""Pasting a cut-out into a picture. Nothing outside its rectangle changes."""

from __future__ import annotations

from typing import Literal, TypeAlias

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image
from instar.imaging.by_identity import by_identity

RGBA: TypeAlias = npt.NDArray[np.uint8]
"""`uint8 (H, W, 4)`: a cut-out and how opaque each of its pixels is."""

Blend: TypeAlias = Literal["hard", "feather", "poisson"]
BLENDS: tuple[Blend, ...] = ("hard", "feather", "poisson")


@by_identity(32)  # what is measured first is pasted next
def resized(cutout: RGBA, width: int, height: int) -> RGBA:
    """The cut-out at another size, without colours of transparent pixels bleeding into its edge."""
    if cutout.shape[:2] == (height, width):
        return cutout
    how = cv2.INTER_AREA if width < cutout.shape[1] else cv2.INTER_LINEAR
    # Colours weighted by alpha, so that they are averaged over opaque pixels only.
    weighted = cv2.multiply(cutout, _alpha_of_colours(cutout), scale=1 / 255)
    small = np.asarray(cv2.resize(weighted, (width, height), interpolation=how), np.uint8)
    return np.asarray(cv2.divide(small, _alpha_of_colours(small), scale=255), np.uint8)


def toned(cutout: RGBA, gain: float, offset: float, saturation: float = 1.0) -> RGBA:
    """Every colour times `gain` plus `offset`, `saturation` of the way from grey; alpha as it was."""
    if saturation < 1:
        grey = cv2.cvtColor(cv2.cvtColor(cutout, cv2.COLOR_RGBA2GRAY), cv2.COLOR_GRAY2RGBA)
        grey[..., 3] = cutout[..., 3]
        cutout = np.asarray(cv2.addWeighted(cutout, saturation, grey, 1 - saturation, 0), np.uint8)
    if gain == 1 and offset == 0:
        return cutout
    table = np.empty((256, 1, 4), np.uint8)
    table[..., :3] = np.clip(np.rint(np.arange(256) * gain + offset), 0, 255)[:, None, None]
    table[:, 0, 3] = np.arange(256)
    return np.asarray(cv2.LUT(cutout, table), np.uint8)


def pasted(image: Image, cutout: RGBA, x: int, y: int, blend: Blend) -> Image:
    """The picture with the cut-out's top left corner at (x, y); it must lie wholly inside."""
    height, width = cutout.shape[:2]
    if x < 0 or y < 0 or x + width > image.shape[1] or y + height > image.shape[0]:
        raise ValueError(f"a cut-out of {width} x {height} at ({x}, {y}) does not lie inside the picture")
    result: Image = image.copy()
    place = result[y : y + height, x : x + width]
    if blend == "poisson":
        place[:] = _poisson(place, cutout)
        return result
    alpha = cutout[..., 3]
    if blend == "feather":
        alpha = _feathered(alpha)
    weight = alpha.astype(np.float32) * np.float32(1 / 255)
    colour = np.ascontiguousarray(cutout[..., :3])
    place[:] = cv2.blendLinear(colour, np.ascontiguousarray(place), weight, 1 - weight)
    return result


def _feathered(alpha: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """A soft edge of about two pixels, inside the mask only: no halo of the old surroundings shows."""
    # The picture's edge of the cut-out must fade as well, hence the border of nothing around it.
    framed = cv2.copyMakeBorder(alpha, 2, 2, 2, 2, cv2.BORDER_CONSTANT, value=0)
    soft = cv2.blur(cv2.erode(framed, np.ones((3, 3), np.uint8)), (3, 3))
    return np.minimum(soft[2:-2, 2:-2], alpha)


def _poisson(place: Image, cutout: RGBA) -> Image:
    """Gradients of the cut-out, colours of the surroundings; kept to the mask."""
    mask = np.where(cutout[..., 3] > 127, 255, 0).astype(np.uint8)
    if not mask.any():
        return place
    # OpenCV centres the bounding rectangle of the mask, and wants room around it.
    framed = cv2.copyMakeBorder(place, 2, 2, 2, 2, cv2.BORDER_REPLICATE)
    source = cv2.copyMakeBorder(np.ascontiguousarray(cutout[..., :3]), 2, 2, 2, 2, cv2.BORDER_REPLICATE)
    where = cv2.copyMakeBorder(mask, 2, 2, 2, 2, cv2.BORDER_CONSTANT, value=0)
    left, top, width, height = cv2.boundingRect(where)
    cloned = cv2.seamlessClone(
        source, framed, where, (left + width // 2, top + height // 2), cv2.NORMAL_CLONE
    )
    inside = mask[..., None] > 0
    return np.where(inside, cloned[2:-2, 2:-2], place)


def _alpha_of_colours(cutout: RGBA) -> npt.NDArray[np.uint8]:
    """`uint8 (H, W, 4)`: what each channel is weighted with; alpha itself counts in full."""
    alpha = cutout[..., 3]
    return np.asarray(cv2.merge([alpha, alpha, alpha, np.full_like(alpha, 255)]), np.uint8)
