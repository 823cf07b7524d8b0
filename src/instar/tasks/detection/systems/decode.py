"""From a network's boxes to detections: the last step of every detector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from instar.imaging.geometry import areas, intersections
from instar.tasks.detection.answers import Detections

__all__ = ["LEAST_SCORE", "SAME_OBJECT", "Floats", "drop_duplicates", "sides", "to_detections"]

Floats = npt.NDArray[np.float32]

LEAST_SCORE = np.float32(0.05)
"""Weaker boxes are not reported."""
SAME_OBJECT = 0.45
"""The overlap (IoU) above which the weaker of two boxes of one class is dropped."""


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
