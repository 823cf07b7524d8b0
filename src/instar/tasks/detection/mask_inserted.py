"""Which predictions are about the pasted object: they are set aside, whatever their label."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from instar.imaging.geometry import areas, centres_inside, intersections, iou
from instar.tasks.detection.answers import Detections

__all__ = ["Pasted", "mask_inserted"]

Pasted = tuple[float, float, float, float]
MOSTLY = 0.5  # of the smaller box, or of the pasted one: then a prediction is about the pasted object


def mask_inserted(
    pasted: Pasted | None, after: Detections
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float32]]:
    """Which predictions are about the pasted object, whatever their label, and their IoU with it; `(n,)`.

    Those that lie mostly on it, and those that cover at least half of it (the completed box of a half
    figure has its centre outside).
    """
    if pasted is None or not len(after):
        return np.zeros(len(after), bool), np.zeros(len(after), np.float32)
    box = np.array([pasted], np.float32)
    common = intersections(after.boxes, box)[:, 0]
    own, its = areas(after.boxes), float(areas(box)[0])
    on_it = (common >= MOSTLY * np.minimum(own, its)) & centres_inside(after.boxes, box[0])
    return on_it | (common >= MOSTLY * its), iou(after.boxes, box)[:, 0]
