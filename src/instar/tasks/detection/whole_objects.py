"""The things in a picture, and which of them are seen whole and alone, with their outlines."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image, Mask, Observation
from instar.cutouts.extraction import LEAST_REACH, hidden_by, is_part_of_a_body, why_box_unfit, why_mask_unfit
from instar.cutouts.outlines import Outliner, SoftOutline
from instar.imaging.geometry import Box, Boxes, areas, intersections, iou, mask_bounds
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.class_names import canonical_class

SURE = 0.1  # above the confidence: what is found so clearly is hardly ever a mistake
SAME = 0.6  # IoU of two boxes around one thing
TOUCHING = 0.02  # of a box that another may overlap without any question of who hides whom
LEAST_QUALITY = 0.85  # of an outline
WITHIN, LARGER = 0.95, 4.0  # of a box within another, and how many times as large that is


@dataclass(frozen=True, slots=True, eq=False)
class Things:
    """All that is known or found in a picture, `n` boxes with labels, in the words of COCO where it has one.

    `usable` `bool (n,)` are annotated objects, or where there are none what was clearly found.
    """

    boxes: Boxes
    labels: tuple[str, ...]
    usable: npt.NDArray[np.bool_]

    def others(self, k: int) -> Boxes:
        """The boxes of everything else; neither a second box around the same thing, nor what surrounds it."""
        rest = (iou(self.boxes[k][None], self.boxes)[0] < SAME) & ~self.surrounding(k)
        rest[k] = False
        return np.asarray(self.boxes[rest])

    def surrounding(self, k: int) -> npt.NDArray[np.bool_]:
        """`bool (n,)`: what thing k stands on or before, such as a table or a bus: it hides nothing of it."""
        return is_surrounded(box_of(self, k), self.boxes)


def find_things(source: Observation, *, hysteresis: float) -> Things:
    """What is annotated and what was found, down to the weakest box that could count."""
    found: Detections = source.answer
    alive = found.scores >= found.confidence - hysteresis
    boxes, scores = found.boxes[alive], found.scores[alive]
    labels = tuple(canonical_class(label) for label, one in zip(found.labels, alive) if one)
    known = source.scene.objects
    if known is None:
        return Things(boxes, labels, scores >= found.confidence + SURE)
    truth = np.array([thing.box for thing in known], np.float32).reshape(-1, 4)
    usable = np.array([not thing.crowd for thing in known] + [False] * len(boxes), np.bool_)
    names = tuple(canonical_class(thing.label) for thing in known)
    return Things(np.concatenate([truth, boxes]), names + labels, usable)


def outline_whole(picture: Image, things: Things, k: int, outline: Outliner) -> SoftOutline | None:
    """The outline of thing k; None unless it is seen whole: not cut off, not hidden, not half a body.

    Cheap questions come first, since outlines are slow.
    """
    box, shape = box_of(things, k), (picture.shape[0], picture.shape[1])
    if why_box_unfit(box, shape, np.zeros((0, 4), np.float32)):
        return None
    found = outline(picture, box)
    mask = found.alpha > 127
    if (
        found.quality < LEAST_QUALITY
        or why_mask_unfit(mask, box)
        or is_part_of_a_body(mask, things.labels[k])
    ):
        return None
    around: Mask = np.zeros(shape, np.bool_)
    others = things.others(k)
    reaching = intersections(things.boxes[k][None], others)[0]
    for other in others[reaching > TOUCHING * areas(things.boxes[k][None])[0]]:
        around |= outline(picture, as_box(other)).alpha > 127
    return None if hidden_by(mask, around & ~mask) else found


def is_alone(hole: Mask, others: Boxes) -> bool:
    """Whether no other box reaches into the mask."""
    sums = cv2.integral(hole.astype(np.uint8))
    low, high = np.floor(others[:, :2]).astype(int), np.ceil(others[:, 2:]).astype(int)
    (x1, y1), (x2, y2) = np.maximum(low, 0).T, np.minimum(high, (hole.shape[1], hole.shape[0])).T
    return not (sums[y2, x2] - sums[y1, x2] - sums[y2, x1] + sums[y1, x1]).any()


def fills_box(mask: Mask, box: Box) -> bool:
    """Whether a mask reaches, roughly, from edge to edge of a box."""
    bounds = mask_bounds(mask)
    if bounds is None:
        return False
    across, down = (bounds[2] - bounds[0]) / (box[2] - box[0]), (bounds[3] - bounds[1]) / (box[3] - box[1])
    return min(across, down) >= LEAST_REACH


def is_surrounded(box: Box, others: Boxes) -> npt.NDArray[np.bool_]:
    """`bool (n,)`: which boxes are much larger than a box and have it within them."""
    own = np.array([box], np.float32)
    common, area = intersections(others, own)[:, 0], float(areas(own)[0])
    return np.asarray((common >= WITHIN * area) & (areas(others) >= LARGER * area))


def box_of(things: Things, k: int) -> Box:
    return as_box(things.boxes[k])


def as_box(box: npt.NDArray[np.float32]) -> Box:
    x1, y1, x2, y2 = (float(side) for side in box)
    return x1, y1, x2, y2
