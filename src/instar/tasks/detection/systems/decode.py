"""From what a network says to detections: the part that all detectors have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput
from instar.core.scene import Image
from instar.tasks.detection.answers import Detections

__all__ = [
    "LEAST_SCORE",
    "SAME_OBJECT",
    "Floats",
    "finished",
    "require_confidence",
    "require_picture",
    "require_threads",
    "strongest",
]

Floats = npt.NDArray[np.float32]

LEAST_SCORE = np.float32(0.05)
"""Weaker boxes are not reported."""
SAME_OBJECT = 0.45
"""The overlap (IoU) above which the weaker of two boxes of one class is dropped."""


def finished(
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
        keep = strongest(boxes, classes, same_object)
        boxes, classes, scores = boxes[keep], classes[keep], scores[keep]
    height, width = size
    boxes = np.clip(boxes, 0, np.array([width, height, width, height], np.float32))
    # A box wholly in the border that a network's input has around the picture has nothing left.
    inside = (boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1])
    labels = tuple([names[i] for i in classes[inside].tolist()])
    return Detections(boxes[inside], labels, np.minimum(scores[inside], np.float32(1)), confidence)


def strongest(
    boxes: Floats, classes: npt.NDArray[np.intp], same_object: float = SAME_OBJECT
) -> npt.NDArray[np.intp]:
    """Indices of the boxes left when each drops the weaker ones of its class that it overlaps.

    `boxes` come strongest first.
    """
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    shared_width = np.minimum(x2[:, None], x2) - np.maximum(x1[:, None], x1)
    shared_height = np.minimum(y2[:, None], y2) - np.maximum(y1[:, None], y1)
    shared = np.maximum(shared_width, 0) * np.maximum(shared_height, 0)
    drops = shared > same_object * (areas[:, None] + areas - shared)
    drops &= classes[:, None] == classes
    alive = np.ones(len(boxes), np.bool_)
    for i in range(len(boxes)):
        if alive[i]:
            alive[i + 1 :] &= ~drops[i, i + 1 :]
    return np.flatnonzero(alive)


def require_picture(image: Image) -> None:
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(f"the picture is {image.dtype} {image.shape}; it must be uint8 (H, W, 3)")


def require_confidence(name: str, confidence: float) -> None:
    if not (isinstance(confidence, (int, float)) and 0 <= confidence <= 1):
        raise BadInput(f"{name}: confidence is {confidence!r}; it must be a number between 0 and 1")


def require_threads(name: str, threads: int) -> None:
    if not (isinstance(threads, int) and threads >= 1):
        raise BadInput(f"{name}: threads is {threads!r}; it must be a whole number of at least 1")
