"""Filling a hole in a picture: by OpenCV from its surroundings, or by a network that invents."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeAlias

import cv2
import numpy as np

from instar.core.scene import Image, Mask
from instar.imaging.geometry import mask_bounds
from instar.imaging.onnx_session import open_onnx

Filling: TypeAlias = Literal["telea", "navier-stokes", "mi-gan"]
FILLINGS: tuple[Filling, ...] = ("telea", "navier-stokes", "mi-gan")

Fill: TypeAlias = Callable[[Image, Mask], Image]
"""The picture with the hole filled; no pixel outside of the hole changes."""

RADIUS = 4  # pixels around a hole that it is filled from
AROUND = 3 * RADIUS  # of it that is looked at


def opencv(how: Filling = "telea") -> Fill:
    """By OpenCV, from the edge of the hole inwards: smooth, and good for small and thin holes."""
    method = cv2.INPAINT_TELEA if how == "telea" else cv2.INPAINT_NS

    def fill(image: Image, hole: Mask) -> Image:
        result: Image = image.copy()
        bounds = mask_bounds(hole)
        if bounds is not None:
            # What is farther away than the radius makes no difference, and only takes time.
            left, top, right, bottom = bounds
            part = (
                slice(max(0, top - AROUND), bottom + AROUND),
                slice(max(0, left - AROUND), right + AROUND),
            )
            where = hole[part].astype(np.uint8)
            guessed = cv2.inpaint(np.ascontiguousarray(image[part]), where, RADIUS, method)
            cv2.copyTo(guessed, where, result[part])
        return result

    return fill


@lru_cache(maxsize=1)
def migan(model: Path) -> Fill:
    """By the MI-GAN network in a file, which takes pictures of any size; large holes get blobs."""
    session = open_onnx(str(model))
    names = [one.name for one in session.get_inputs()]

    def fill(image: Image, hole: Mask) -> Image:
        picture = np.ascontiguousarray(image.transpose(2, 0, 1)[None])
        keep = np.where(hole, 0, 255).astype(np.uint8)[None, None]
        (made,) = session.run(None, dict(zip(names, (picture, keep))))
        guessed = np.asarray(made[0], np.uint8).transpose(1, 2, 0)
        return np.ascontiguousarray(np.where(hole[..., None], guessed, image))

    return fill
