"""The paper's oracle: the first answer as truth, the mean average precision of the second must be 100 %.

PASCAL VOC: per class, every-point interpolation, IoU above 0.5. Two holes are known and part of it: a further
box of a class that scores below all right ones leaves the precision where it counts at 100 %, and a box of a
class that was not there before is in no class that is averaged. `same_objects` has neither.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from instar.core.verdict import Finding, Verdict
from instar.imaging.geometry import Box, iou
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.compare import mask_inserted

__all__ = ["area_under_curve", "average_precisions", "map_equal"]

KIND = "average precision"


def map_equal(
    before: Detections, after: Detections, *, pasted: Box | None = None, least_iou: float = 0.5
) -> Verdict:
    """Compare what counts as found in both answers; predictions on the `pasted` box are set aside.

    One finding for every class that is not at 100 %. The margin of a held verdict is how far the weakest
    object that was found again is above the confidence.
    """
    truth = before.confident()
    found = _without_pasted(truth, after.confident(), pasted)
    precisions = average_precisions(truth, found, least_iou)
    mean = float(np.mean(list(precisions.values()))) if precisions else 1.0
    findings = [
        Finding(KIND, f"class {label}", precision - 1, {KIND: round(precision, 4)})
        for label, precision in precisions.items()
        if precision < 1
    ]
    evidence = {"mAP": round(mean, 4), "found": len(truth), "found again": len(found)}
    if findings:
        return Verdict.violated(findings, **evidence)
    return Verdict.held(float(found.scores.min(initial=1.0)) - after.confidence, **evidence)


def average_precisions(truth: Detections, found: Detections, least_iou: float) -> dict[str, float]:
    """VOC's AP of every class of the truth: a box is right when what it overlaps most is not taken yet."""
    order = np.argsort(-found.scores, kind="stable")
    labels = [found.labels[i] for i in order.tolist()]
    same_label = np.array(labels, object)[:, None] == np.array(truth.labels, object)[None, :]
    overlap = np.where(same_label, iou(found.boxes[order], truth.boxes), np.float32(-1))
    right = _right(overlap, least_iou)
    precisions = {}
    for label in sorted(set(truth.labels)):
        hits = [hit for hit, name in zip(right, labels) if name == label]
        precisions[label] = area_under_curve(hits, truth.labels.count(label))
    return precisions


def _right(overlap: npt.NDArray[np.float32], least_iou: float) -> list[bool]:
    """Of each box, strongest first: is the object that it overlaps most not found by a stronger one?"""
    if not overlap.size:
        return [False] * len(overlap)
    taken: set[int] = set()
    right = []
    for k, most in zip(overlap.argmax(axis=1).tolist(), overlap.max(axis=1).tolist()):
        right.append(most > least_iou and k not in taken)
        if right[-1]:
            taken.add(k)
    return right


def area_under_curve(hits: Sequence[bool], objects: int) -> float:
    """Average precision: the area under the curve of precision over recall, each precision being the best
    from there on. `hits` says of each box, strongest first, whether it is right.
    """
    total, best = 0.0, 0.0
    count = sum(hits)
    for rank in range(len(hits), 0, -1):
        if hits[rank - 1]:
            best = max(best, count / rank)
            total += best
            count -= 1
    return total / objects


def _without_pasted(truth: Detections, found: Detections, pasted: Box | None) -> Detections:
    """Without what is about the pasted object, unless it fits an object of the source better."""
    aside, on_pasted = mask_inserted(pasted, found)
    if not aside.any():
        return found
    same_label = np.array(found.labels, object)[:, None] == np.array(truth.labels, object)[None, :]
    best = np.where(same_label, iou(found.boxes, truth.boxes), 0).max(axis=1, initial=0.0)
    return found.select(~aside | (best > on_pasted))
