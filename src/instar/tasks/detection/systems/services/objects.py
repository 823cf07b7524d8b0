"""What detection services have in common: objects, each with a box, a name and a confidence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from instar.tasks.detection.answers import Detections

Found = tuple[Sequence[float], str, float]
"""Corners x1, y1, x2, y2 in pixels, the label, and how sure the service is, from 0 to 1."""


def objects_to_detections(found: Sequence[Found], size: tuple[int, int], confidence: float) -> Detections:
    """The objects within a picture of that size (height, width); those without area are left out."""
    height, width = size
    boxes = np.array([box for box, _, _ in found], np.float32).reshape(-1, 4)
    boxes = np.clip(boxes, 0, np.array([width, height, width, height], np.float32))
    solid = (boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1])
    kept = [one for one, has_area in zip(found, solid) if has_area]
    scores = np.clip(np.array([score for _, _, score in kept], np.float32), 0, 1)
    return Detections(boxes[solid], tuple(label for _, label, _ in kept), scores, confidence)
