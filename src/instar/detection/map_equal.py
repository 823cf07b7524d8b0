"""The paper's oracle: the first answer as truth, the mean average precision of the second must be 100 %.

PASCAL VOC: per class, every-point interpolation, IoU above 0.5. Two holes are known and part of it: a further
box of a class that scores below all right ones leaves the precision where it counts at 100 %, and a box of a
class that was not there before is in no class that is averaged. `same_objects` has neither.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from instar.detection.answers import Detections
from instar.detection.setting_aside import Pasted, about
from instar.imaging.geometry import iou
from instar.verdict import Finding, Verdict

__all__ = ["average_precision", "map_equal"]

KIND = "average precision"


def map_equal(
    before: Detections, after: Detections, *, pasted: Pasted | None = None, least_iou: float = 0.5
) -> Verdict:
    """Compare what counts as found in both answers; predictions on the `pasted` box are set aside.

    One finding for every class that is not at 100 %. The margin of a held verdict is how far the weakest
    object that was found again is above the confidence.
    """
    truth = before.confident()
    found = _without_pasted(truth, after.confident(), pasted)
    precisions = {
        label: average_precision(_of(truth, label), _of(found, label), least_iou=least_iou)
        for label in sorted(set(truth.labels))
    }
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


def average_precision(truth: Detections, found: Detections, *, least_iou: float = 0.5) -> float:
    """VOC's AP of one class: each box is right when the object it overlaps most is not taken yet.

    >>> box = Detections(np.float32([[0, 0, 9, 9]]), ("dog",), np.float32([0.9]))
    >>> average_precision(box, box), average_precision(box, box.select(np.array([False])))
    (1.0, 0.0)
    """
    if not len(truth):
        return 1.0 if not len(found) else 0.0
    right = _right(truth, found, least_iou)
    precision = np.cumsum(right) / np.arange(1, len(right) + 1)
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    return float(envelope[right].sum() / len(truth))


def _right(truth: Detections, found: Detections, least_iou: float) -> npt.NDArray[np.bool_]:
    """`bool (n,)`, strongest first: does the box find an object that no stronger one has found?"""
    overlap = iou(found.boxes, truth.boxes)
    taken: set[int] = set()
    right = np.zeros(len(found), np.bool_)
    for place, i in enumerate(np.argsort(-found.scores, kind="stable").tolist()):
        k = int(overlap[i].argmax())
        if overlap[i, k] > least_iou and k not in taken:
            taken.add(k)
            right[place] = True
    return right


def _without_pasted(truth: Detections, found: Detections, pasted: Pasted | None) -> Detections:
    """Without what is about the pasted object, unless it fits an object of the source better."""
    aside, on_pasted = about(pasted, found)
    if not aside.any():
        return found
    same_label = np.array(found.labels, object)[:, None] == np.array(truth.labels, object)[None, :]
    best = np.where(same_label, iou(found.boxes, truth.boxes), 0).max(axis=1, initial=0.0)
    return found.select(~aside | (best > on_pasted))


def _of(answer: Detections, label: str) -> Detections:
    return answer.select(np.array([one == label for one in answer.labels], np.bool_))
