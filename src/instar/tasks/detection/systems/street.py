"""Detectors for the drawn street, from pixels alone: vivid hues, connected pieces, boxes around them.

`street_exact` is right: neighbours stay apart because outlines are dark. `street_blobs` has a fault that
many real blob detectors have: it closes small gaps before it looks for pieces, to be safe against noise, and
so takes two objects of a class that stand close together for one.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from instar.adapters.picture_system import PictureSystem, one_by_one
from instar.core.errors import BadInput
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.imaging.geometry import areas
from instar.tasks.detection.answers import Detections
from instar.worlds.sprites import OUTLINE, SPRITE_COLOURS

_SCORE = 0.9
# Objects have over 100 levels between their strongest and weakest channel, the street at most 50.
_LEAST_CHROMA = 64
# Outlines are darker, even where colour has bled into them; interiors are brighter.
_LEAST_BRIGHTNESS = 48
# Smaller pieces are specks that compression left, not objects.
_LEAST_AREA = 16


@recorded
def street_detector(*, name: str = "street", merge: int = 0) -> PictureSystem[Detections]:
    """A detector of drawn street objects, which first closes gaps of up to `merge` pixels between interiors.

    0 separates every two objects by their outlines.
    """
    if merge < 0:
        raise BadInput(f"street detector: merge is {merge}; it must be at least 0")
    return PictureSystem(
        name,
        one_by_one(partial(_detect, merge=merge)),
        fingerprint=f"street-detector 1, merge {merge}",
        recipe=partial(street_detector, name=name, merge=merge),
    )


@recorded
def street_exact() -> PictureSystem[Detections]:
    """Finds exactly what is there."""
    return street_detector(name="street-exact")


@recorded
def street_blobs() -> PictureSystem[Detections]:
    """Fuses neighbours of one class that stand less than about eight pixels apart."""
    return street_detector(name="street-blobs", merge=2 * OUTLINE + 8)


def _detect(image: Image, merge: int) -> Detections:
    classes = _classes(image)
    pieces = [
        (box, label)
        for number, label in enumerate(SPRITE_COLOURS, start=1)
        for box in _pieces((classes == number).view(np.uint8), merge)
    ]
    height, width = image.shape[:2]
    boxes = np.array([box for box, _ in pieces], np.float32).reshape(-1, 4)
    boxes += np.array([-OUTLINE, -OUTLINE, OUTLINE, OUTLINE], np.float32)
    boxes = np.clip(boxes, 0, np.array([width, height, width, height], np.float32))
    whole = ~_inside_another(boxes)
    labels = tuple(label for (_, label), keep in zip(pieces, whole) if keep)
    return Detections(boxes[whole], labels, np.full(len(labels), _SCORE, np.float32), 0.5)


def _classes(image: Image) -> npt.NDArray[np.uint8]:
    """`uint8 (H, W)`: 1 + the class whose hue a vivid pixel has, 0 elsewhere."""
    hue, saturation, value = cv2.split(cv2.cvtColor(image, cv2.COLOR_RGB2HSV))
    chroma = cv2.multiply(saturation, value, scale=1 / 255)
    brightness = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    vivid = (chroma >= _LEAST_CHROMA) & (brightness >= _LEAST_BRIGHTNESS)
    return np.asarray(cv2.LUT(hue, _class_of_hue()) * vivid, np.uint8)


@cache
def _class_of_hue() -> npt.NDArray[np.uint8]:
    """`uint8 (256,)`: 1 + the class with the nearest hue, for each hue in OpenCV's steps of two degrees."""
    colours = np.array([list(SPRITE_COLOURS.values())], np.uint8)
    hues = cv2.cvtColor(colours, cv2.COLOR_RGB2HSV)[0, :, 0].astype(int)
    apart = np.abs(np.arange(256)[:, None] - hues)
    return np.asarray(1 + np.minimum(apart, 180 - apart).argmin(axis=1), np.uint8)


def _pieces(mask: npt.NDArray[np.uint8], merge: int) -> list[tuple[int, int, int, int]]:
    """The extents of the connected pieces of a mask, once gaps of up to `merge` pixels are closed."""
    left, top, width, height = cv2.boundingRect(mask)
    if width == 0:
        return []
    part: npt.NDArray[Any] = mask[top : top + height, left : left + width]
    if merge:
        # Closing needs room on all sides, or it would join pieces to the border.
        part = cv2.copyMakeBorder(part, merge, merge, merge, merge, cv2.BORDER_CONSTANT, value=0)
        part = cv2.morphologyEx(part, cv2.MORPH_CLOSE, np.ones((merge + 1, merge + 1), np.uint8))
        left, top = left - merge, top - merge
    _, _, stats, _ = cv2.connectedComponentsWithStats(part, connectivity=4)
    return [
        (left + x, top + y, left + x + w, top + y + h)
        for x, y, w, h, area in stats[1:].tolist()
        if area >= _LEAST_AREA
    ]


def _inside_another(boxes: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """`bool (n,)`: lies wholly inside a larger box, so it is a part of that object and none of its own."""
    first, second = boxes[:, None], boxes[None]
    within = (first[..., :2] >= second[..., :2]).all(-1) & (first[..., 2:] <= second[..., 2:]).all(-1)
    area = areas(boxes)
    return np.asarray((within & (area[:, None] < area[None])).any(axis=1))
