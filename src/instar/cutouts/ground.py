"""What an object stands on, and where else that is: told by its colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image, Mask
from instar.cutouts.known_sizes import KNOWN_HEIGHTS
from instar.imaging.geometry import Box, Boxes

ABOVE, BELOW = 0.05, 0.1  # of the object's height: the strip of ground at its feet
SIDES = 0.15  # of its width
LEAST_PIXELS = 40
LEAST_FREE = 0.15  # of the strip: less tells nothing about it
LOOKED_SIDE = 800  # pixels of the longer side, at most
BLUR = 0.006  # of the picture's longer side: finer differences are texture
LEAST_SPREAD = np.array([9, 4, 4, 5], np.float32)  # of light, two colours and contrast on one ground
MOST_SPREAD = np.array([22, 9, 9, 12], np.float32)
STEP = 0.02  # of the picture's longer side: gaps in the ground that do not end it
ALIKE = 3.0  # such spreads
LEAST_OF_ONE_KIND = 0.5  # of what shows at its feet
LEAST_APART = 0.06  # of the picture's height: feet that tell how sizes grow
LEAST_EYE, USUAL_EYE, MOST_EYE = 0.4, 1.4, 6.0  # metres above the ground
USUAL_RISE = 0.8  # heights of a thing from its feet to the horizon, where nobody knows how high it is
STANDING = (
    "person", "bicycle", "motorcycle", "car", "bus", "truck", "train", "horse", "cow", "sheep", "dog", "cat",
    "zebra", "bear", "elephant", "giraffe", "bench", "chair", "couch", "fire hydrant", "suitcase",
)  # fmt: skip
HEIGHTS = {label: KNOWN_HEIGHTS[label] for label in STANDING} | {"boat": 2.0}
"""Metres, roughly, of things that stand on the ground or lie on water and are about equally high."""

Strip = npt.NDArray[np.float64]
"""`float (..., 4)`: x1, y1, x2, y2 of a part of the picture, which may reach out of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Looks:
    """What a picture looks like around each pixel, `float32 (h, w, 4)`: light, two colours, contrast.

    `scale` is how much smaller than the picture that is: large ones would take seconds.
    """

    values: npt.NDArray[np.float32]
    scale: float


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """Sums over pixels, `float64 (2, h + 1, w + 1)`: of what looks like the ground, of what is free."""

    sums: npt.NDArray[np.float64]
    scale: float


def look_at(image: Image) -> Looks:
    """Measured once for a picture, for all that stands in it."""
    scale = min(1.0, LOOKED_SIDE / max(image.shape[:2]))
    if scale < 1:
        image = np.asarray(
            cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8
        )
    blur = BLUR * max(image.shape[:2])
    colours = cv2.cvtColor(image, cv2.COLOR_RGB2LAB).astype(np.float32)
    smooth = cv2.GaussianBlur(colours, (0, 0), blur)
    squares = cv2.GaussianBlur(np.square(colours[..., 0]), (0, 0), blur)
    contrast = np.sqrt(np.maximum(squares - np.square(smooth[..., 0]), 0))
    return Looks(np.asarray(np.dstack([smooth, contrast]), np.float32), scale)


def find_ground(looks: Looks, strip: Strip, hidden: Mask, *, joined: bool) -> Ground | None:
    """Where the picture looks as it does in a strip; `joined`: only what can be walked to from there.

    `hidden` `bool (H, W)` is True where something, the object included, is in front of the ground. None where
    too little of it shows, or where what shows is of several kinds: a kerb, a sill, another thing.
    """
    rows, columns = looks.values.shape[:2]
    free = cv2.resize(hidden.astype(np.uint8), (columns, rows), interpolation=cv2.INTER_NEAREST) == 0
    x1, y1, x2, y2 = _inside(strip * looks.scale, (rows, columns))
    here = looks.values[y1:y2, x1:x2][free[y1:y2, x1:x2]]
    if len(here) < LEAST_PIXELS:
        return None
    middle = np.median(here, axis=0)
    spread = np.clip(1.5 * np.median(np.abs(here - middle), axis=0), LEAST_SPREAD, MOST_SPREAD)
    alike = (np.square((looks.values - middle) / spread).sum(axis=2) < ALIKE**2) & free
    if alike[y1:y2, x1:x2].sum() < LEAST_OF_ONE_KIND * len(here):
        return None
    if joined:
        alike = _joined(alike, (slice(y1, y2), slice(x1, x2)))
    sums = [cv2.integral(one.astype(np.uint8)).astype(np.float64) for one in (alike, free)]
    return Ground(np.stack(sums), looks.scale)


def _joined(alike: Mask, strip: tuple[slice, slice]) -> Mask:
    """What is joined to the strip: a wall of the same colour is no ground."""
    step = max(1, round(STEP * max(alike.shape)))
    wide = cv2.morphologyEx(alike.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((1, 2 * step + 1), np.uint8))
    _, pieces = cv2.connectedComponents(wide, connectivity=4)
    here = np.unique(pieces[strip][alike[strip]])
    return np.asarray(alike & np.isin(pieces, here))


def ground_share(ground: Ground, strips: Strip) -> npt.NDArray[np.float64]:
    """`float (n,)`: how much of what shows in each strip `(n, 4)` is such ground; 0 where little shows."""
    sums = ground.sums
    x1, y1, x2, y2 = _inside(strips * ground.scale, (sums.shape[1] - 1, sums.shape[2] - 1)).T
    alike, free = sums[:, y2, x2] - sums[:, y1, x2] - sums[:, y2, x1] + sums[:, y1, x1]
    enough = free >= np.maximum(LEAST_FREE * (x2 - x1) * (y2 - y1), 1)
    return np.asarray(np.where(enough, alike / np.maximum(free, 1), 0.0), np.float64)


def at_feet(boxes: npt.NDArray[Any]) -> Strip:
    """The strips of ground at the feet of boxes `(..., 4)`."""
    x1, y1, x2, y2 = np.moveaxis(np.asarray(boxes, np.float64), -1, 0)
    side, tall = SIDES * (x2 - x1), y2 - y1
    below = np.maximum(3, BELOW * tall)
    return _strips(x1 - side, y2 - ABOVE * tall, x2 + side, y2 + below)


def all_around(boxes: npt.NDArray[Any]) -> Strip:
    """Boxes `(..., 4)` with some of their surroundings."""
    x1, y1, x2, y2 = np.moveaxis(np.asarray(boxes, np.float64), -1, 0)
    side, tall = SIDES * (x2 - x1), SIDES * (y2 - y1)
    return _strips(x1 - side, y1 - tall, x2 + side, y2 + tall)


def find_eye_height(boxes: Boxes, labels: Sequence[str], rows: int) -> float:
    """How high above the ground the camera was, in metres, from how sizes grow; else as people hold one.

    On flat ground the feet of a thing are as many of its own metres below the horizon as the camera is above
    the ground. Any two things whose feet are apart tell; things of known height only.
    """
    known = np.array([label in HEIGHTS for label in labels], np.bool_)
    feet = boxes[known, 3]
    scale = (feet - boxes[known, 1]) / np.array(
        [HEIGHTS[one] for one in labels if one in HEIGHTS], np.float32
    )
    told = [
        float((feet[i] - feet[j]) / (scale[i] - scale[j]))
        for i in range(len(feet))
        for j in range(i)
        if abs(feet[i] - feet[j]) >= LEAST_APART * rows and scale[i] != scale[j]
    ]
    height = float(np.median(told)) if told else USUAL_EYE
    return height if LEAST_EYE <= height <= MOST_EYE else USUAL_EYE


def find_horizon(box: Box, label: str, eye_height: float) -> float:
    """The row at which a thing would have no size, from its own."""
    rise = eye_height / HEIGHTS[label] if label in HEIGHTS else USUAL_RISE
    return box[3] - rise * (box[3] - box[1])


def _strips(*sides: npt.NDArray[np.float64]) -> Strip:
    return np.asarray(np.rint(np.stack(sides, axis=-1)), np.float64)


def _inside(strips: Strip, shape: tuple[int, int]) -> npt.NDArray[np.intp]:
    """As much of the strips `(..., 4)` as lies within the picture."""
    rows, columns = shape
    return np.clip(np.rint(strips), 0, (columns, rows, columns, rows)).astype(np.intp)
