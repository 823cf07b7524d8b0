"""Object detection as a task: boxes with labels and scores, compared with hysteresis."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput
from instar.core.frame import Frame, transform
from instar.core.marks import Mark, Panel
from instar.core.scene import Observation
from instar.core.task import Task
from instar.core.verdict import Verdict
from instar.imaging.geometry import Boxes, areas, intersections, shift_boxes
from instar.imaging.nulls import USUAL_NULLS
from instar.tasks.detection.answers import Detections, read
from instar.tasks.detection.compare import same_objects
from instar.tasks.detection.verification import verify

INSIDE = 0.9  # of a box must be inside both frames


def detection(*, hysteresis: float = 0.1, iou: float = 0.5) -> Task:
    """The task with other settings than the usual ones (see `same_objects`)."""
    require_threshold("detection", "hysteresis", hysteresis)
    require_threshold("detection", "iou", iou)

    def compare(before: Observation, after: Observation) -> Verdict:
        return same_objects(before.answer, after.answer, hysteresis=hysteresis, least_iou=iou)

    return Task(
        "detection", read, compare, marks, carry=carry, nulls=USUAL_NULLS, verify=verify, is_empty=is_empty
    )


def require_threshold(owner: str, name: str, value: object) -> None:
    """BadInput unless something can be on both sides of it: at 1 nothing would count, or everything."""
    if isinstance(value, bool) or not (isinstance(value, (int, float)) and 0 <= value < 1):
        raise BadInput(f"{owner}: {name} is {value!r}; it must be a number of at least 0 and below 1")


def carry(before: Detections, after: Detections, frame: Frame) -> tuple[Detections, Detections]:
    """Both answers in the source's frame; boxes of which a frame shows less than 90 % are set aside."""
    there = move_boxes(before.boxes, frame)
    here = move_boxes(after.boxes, frame, back=True)
    return (
        replace(before, aside=~before.shown | ~_inside(there, frame.size)),
        replace(after, boxes=here, aside=~after.shown | ~_inside(here, frame.source_size)),
    )


def move_boxes(boxes: Boxes, frame: Frame, *, back: bool = False) -> Boxes:
    """The upright boxes around these boxes of the source as the follow-up shows them, or `back`."""
    if frame.shift is not None:
        dx, dy = frame.shift
        return shift_boxes(boxes, -dx, -dy) if back else shift_boxes(boxes, dx, dy)
    corners = boxes[:, [[0, 1], [2, 1], [2, 3], [0, 3]]]
    mapped = transform(frame.back if back else frame.matrix, corners)
    return np.concatenate([mapped.min(axis=1), mapped.max(axis=1)], axis=1).astype(np.float32)


def _inside(boxes: Boxes, size: tuple[int, int]) -> npt.NDArray[np.bool_]:
    whole = np.array([[0, 0, size[1], size[0]]], np.float32)
    inside: npt.NDArray[np.bool_] = intersections(boxes, whole)[:, 0] >= INSIDE * areas(boxes)
    return inside


def marks(seen: Observation) -> Panel:
    """Every box that counts as found, with its label and score."""
    found: Detections = seen.answer
    return Panel(
        "",
        seen.input,
        tuple(
            Mark.box(found.boxes[i], label=f"{found.labels[i]} {found.scores[i]:.2f}", subject=f"object {i}")
            for i in np.flatnonzero(found.scores >= found.confidence).tolist()
        ),
    )


def is_empty(found: Detections) -> bool:
    """Whether nothing counts as found."""
    return not (found.scores >= found.confidence).any()


TASK = detection()
