"""Object detection as a task: boxes with labels and scores, compared with hysteresis."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from instar.core.frame import Frame, transform
from instar.core.marks import Mark, Panel
from instar.core.options import require_fraction
from instar.core.scene import Observation
from instar.core.task import Task
from instar.core.verdict import Finding, Verdict
from instar.imaging.geometry import Boxes, areas, intersections, iou, shifted
from instar.imaging.nulls import USUAL_NULLS
from instar.tasks.detection.answers import Detections, read
from instar.tasks.detection.compare import same_objects

__all__ = ["TASK", "carry", "detection"]

INSIDE = 0.9  # of a box must be inside of both frames


def detection(*, hysteresis: float = 0.1, least_iou: float = 0.5) -> Task:
    """The task with other settings than the usual ones (see `same_objects`)."""
    for name, value in (("hysteresis", hysteresis), ("iou", least_iou)):
        require_fraction("detection", name, value)

    def compare(before: Observation, after: Observation) -> Verdict:
        return same_objects(before.answer, after.answer, hysteresis=hysteresis, least_iou=least_iou)

    return Task("detection", read, compare, marks, carry=carry, nulls=USUAL_NULLS, verify=verify)


def carry(before: Detections, after: Detections, frame: Frame) -> tuple[Detections, Detections]:
    """Both in the source's frame; what either frame does not show to 90 % is set aside."""
    there = _moved(before.boxes, frame, back=False)
    here = _moved(after.boxes, frame, back=True)
    return (
        replace(before, aside=~before.shown | ~_inside(there, frame.size)),
        replace(after, boxes=here, aside=~after.shown | ~_inside(here, frame.source_size)),
    )


def _moved(boxes: Boxes, frame: Frame, *, back: bool) -> Boxes:
    """The boxes around what is in the boxes, seen in the other frame."""
    if frame.shift is not None:
        dx, dy = frame.shift
        return shifted(boxes, -dx, -dy) if back else shifted(boxes, dx, dy)
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


def verify(source: Observation, follow_up: Observation, finding: Finding) -> str:
    """What annotations say: whether what was lost is there, and whether what is new is not."""
    truth, was = source.scene.objects, finding.evidence.get("was")
    if truth is None:
        return "unknown"
    told = was or finding.evidence.get("is")
    if told is None:
        return "unknown"
    boxes = np.array([thing.box for thing in truth if thing.label == told["label"]], np.float32)
    overlap = iou(np.array([told["box"]], np.float32), boxes.reshape(-1, 4))
    is_there = bool(overlap.max(initial=0.0) >= 0.5)
    if was is not None:
        return "real" if is_there else "was false"
    return "now right" if is_there else "real"


TASK = detection()
