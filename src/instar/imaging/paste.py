"""Pasting a cut-out into a picture. Nothing outside its rectangle changes."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import cv2
import numpy as np
import numpy.typing as npt

from instar.scene import Image

__all__ = ["BLENDS", "RGBA", "Blend", "pasted", "resized", "toned"]

RGBA: TypeAlias = npt.NDArray[np.uint8]
"""`uint8 (H, W, 4)`: a cut-out and how opaque each of its pixels is."""

Blend: TypeAlias = Literal["hard", "feather", "poisson"]
BLENDS: tuple[Blend, ...] = ("hard", "feather", "poisson")


def resized(cutout: RGBA, width: int, height: int) -> RGBA:
    """The cut-out at another size, without colours of transparent pixels bleeding into its edge."""
    if cutout.shape[:2] == (height, width):
        return cutout
    how = cv2.INTER_AREA if width < cutout.shape[1] else cv2.INTER_LINEAR
    alpha = cutout[..., 3:].astype(np.float32) / 255
    weighted = cv2.resize(np.dstack([cutout[..., :3] * alpha, alpha]), (width, height), interpolation=how)
    colour = weighted[..., :3] / np.maximum(weighted[..., 3:], 1e-6)
    return np.dstack([_bytes(colour), _bytes(weighted[..., 3] * 255)])


def toned(cutout: RGBA, gain: float, offset: float) -> RGBA:
    """Every colour times `gain` plus `offset`; the alpha channel as it was."""
    if gain == 1 and offset == 0:
        return cutout
    return np.dstack([_bytes(cutout[..., :3].astype(np.float32) * gain + offset), cutout[..., 3]])


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


def _bytes(values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    rounded: npt.NDArray[np.uint8] = np.clip(np.rint(values), 0, 255).astype(np.uint8)
    return rounded
