"""The first and the last step of every detector: a picture in its size, and detections out of its boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image
from instar.imaging.geometry import areas, intersections
from instar.tasks.detection.answers import Detections

Floats = npt.NDArray[np.float32]
Fit = Literal["letterbox", "corner", "stretch"]
FITS: tuple[Fit, ...] = ("letterbox", "corner", "stretch")

LEAST_SCORE = np.float32(0.05)
"""Weaker boxes are not reported."""
SAME_OBJECT = 0.45
"""The overlap (IoU) above which the weaker of two boxes of one class is dropped."""


def fit_picture(image: Image, size: tuple[int, int], fit: Fit, padding: int) -> tuple[Image, Floats, Floats]:
    """The picture at that size (height, width), in the middle, in the top left corner, or stretched.

    Also returns the way back for boxes: x1, y1, x2, y2 less the offset, times the scale, both
    `float32 (4,)`.
    """
    (height, width), (rows, columns) = image.shape[:2], size
    if fit == "stretch":
        scale = np.array([width / columns, height / rows] * 2, np.float32)
        return np.asarray(cv2.resize(image, (columns, rows)), np.uint8), scale, np.zeros(4, np.float32)
    ratio = min(rows / height, columns / width)
    inner = max(1, round(height * ratio)), max(1, round(width * ratio))
    top, left = ((rows - inner[0]) // 2, (columns - inner[1]) // 2) if fit == "letterbox" else (0, 0)
    canvas = np.full((rows, columns, 3), padding, np.uint8)
    canvas[top : top + inner[0], left : left + inner[1]] = cv2.resize(image, (inner[1], inner[0]))
    scale = np.array([width / inner[1], height / inner[0]] * 2, np.float32)
    return canvas, scale, np.array([left, top, left, top], np.float32)


def to_detections(
    boxes: Floats,
    classes: npt.NDArray[np.intp],
    scores: Floats,
    *,
    names: Sequence[str],
    size: tuple[int, int],
    confidence: float,
    same_object: float | None = SAME_OBJECT,
) -> Detections:
    """Detections strongest first, clipped to a picture of `size` (height, width).

    `boxes` are in pixels of the picture, `classes` index `names`. Of boxes of one class that overlap by more
    than `same_object` only the strongest stays; None where the network has seen to that.
    """
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] >= LEAST_SCORE]
    boxes, classes, scores = boxes[order], classes[order], scores[order]
    if same_object is not None:
        keep = drop_duplicates(boxes, classes, same_object)
        boxes, classes, scores = boxes[keep], classes[keep], scores[keep]
    height, width = size
    boxes = np.clip(boxes, 0, np.array([width, height, width, height], np.float32))
    # A box wholly in the border that a network's input has around the picture has nothing left.
    inside = (boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1])
    labels = tuple([names[i] for i in classes[inside].tolist()])
    return Detections(boxes[inside], labels, np.minimum(scores[inside], np.float32(1)), confidence)


def drop_duplicates(
    boxes: Floats, classes: npt.NDArray[np.intp], same_object: float = SAME_OBJECT
) -> npt.NDArray[np.intp]:
    """Indices of the boxes that are left when each drops the weaker ones of its class that it overlaps.

    `boxes` come strongest first.
    """
    own, shared = areas(boxes), intersections(boxes, boxes)
    drops = shared > same_object * (own[:, None] + own - shared)
    drops &= classes[:, None] == classes
    alive = np.ones(len(boxes), np.bool_)
    for i in range(len(boxes)):
        if alive[i]:
            alive[i + 1 :] &= ~drops[i, i + 1 :]
    return np.flatnonzero(alive)


def sides(size: tuple[int, int]) -> Floats:
    """Width, height, width, height: makes pixels of corners x1, y1, x2, y2 that are shares of a picture."""
    return np.array([size[1], size[0], size[1], size[0]], np.float32)
