"""The paper's oracle: the first answer as truth, the mean average precision of the second must be 100 %.

PASCAL VOC: per class, every-point interpolation, IoU above 0.5. Two holes are known and part of it: a further
box of a class that scores below all right ones leaves the precision where it counts at 100 %, and a box of a
class that was not there before is in no class that is averaged. `same_objects` has neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from instar.core.verdict import Finding, Verdict
from instar.imaging.geometry import Box, iou
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.compare import describe_box, mask_inserted

KIND = "average precision"


def map_equal(
    before: Detections, after: Detections, *, pasted: Box | None = None, least_iou: float = 0.5
) -> Verdict:
    """Compare what counts as found in both answers; predictions on the `pasted` box are set aside.

    Where the mean is not 100 %, there is a finding for every object that no right box is about, named as
    `same_objects` names it, and for every box that costs precision. The margin of a held verdict is how far
    the weakest object that was found again is above the confidence.
    """
    numbers = np.flatnonzero((before.scores >= before.confidence) & before.shown)
    truth = before.select(numbers)
    found = _without_pasted(truth, after.confident(), pasted)
    found = found.select(np.argsort(-found.scores, kind="stable"))
    objects = _objects_of(truth, found, least_iou)
    precisions = _precisions(truth, found, objects)
    mean = float(np.mean(list(precisions.values()))) if precisions else 1.0
    evidence = {"mAP": round(mean, 4), "found": len(truth), "found again": len(found)}
    findings = [
        replace(one, evidence={**one.evidence, KIND: round(precisions[label], 4)})
        for label, one in _findings(truth, found, objects, numbers.tolist(), least_iou)
        if precisions[label] < 1
    ]
    if findings:
        return Verdict.violated(findings, **evidence)
    return Verdict.held(float(found.scores.min(initial=1.0)) - after.confidence, **evidence)


def _precisions(truth: Detections, found: Detections, objects: Sequence[int | None]) -> dict[str, float]:
    """VOC's AP of every class of the truth: a box is right when what it overlaps most is not taken yet."""
    return {
        label: area_under_curve(
            [k is not None for k, name in zip(objects, found.labels) if name == label],
            truth.labels.count(label),
        )
        for label in sorted(set(truth.labels))
    }


def _objects_of(truth: Detections, found: Detections, least_iou: float) -> list[int | None]:
    """Of each box, strongest first: the object that it overlaps most, unless a stronger one has found it."""
    if not len(truth):
        return [None] * len(found)
    overlap = np.where(_same_label(truth, found), iou(truth.boxes, found.boxes), np.float32(-1)).T
    taken: set[int] = set()
    objects: list[int | None] = []
    for k, most in zip(overlap.argmax(axis=1).tolist(), overlap.max(axis=1).tolist()):
        is_right = most > least_iou and k not in taken
        objects.append(k if is_right else None)
        taken |= {k} if is_right else set()
    return objects


def _findings(
    truth: Detections, found: Detections, objects: Sequence[int | None], numbers: Sequence[int], least: float
) -> Iterator[tuple[str, Finding]]:
    """What became of objects that no box is right about, and boxes above a right one; each with its class."""
    overlap, same_label = iou(truth.boxes, found.boxes), _same_label(truth, found)
    free = np.array([k is None for k in objects], bool)
    for k in range(len(truth)):
        if k in objects:
            continue
        label, score, was = truth.labels[k], float(truth.scores[k]), {"was": describe_box(truth, k)}
        renamed = free & (overlap[k] > least) & ~same_label[k]
        moved = free & (overlap[k] > 0) & same_label[k]
        kind, among = ("renamed", renamed) if renamed.any() else ("drifted", moved)
        if not among.any():
            yield label, Finding("lost", f"object {numbers[k]}", -score, was)
            continue
        j = int(np.argmax(np.where(among, overlap[k], -1)))
        free[j] = False
        margin = -min(score, float(found.scores[j])) if kind == "renamed" else -score * (1 - overlap[k, j])
        yield (
            label,
            Finding(kind, f"object {numbers[k]}", float(margin), was | {"is": describe_box(found, j)}),
        )
    for j in np.flatnonzero(free).tolist():
        label = found.labels[j]
        weaker = (k is not None for k, name in zip(objects[j:], found.labels[j:]) if name == label)
        if any(weaker):
            evidence = {"is": describe_box(found, j)}
            yield label, Finding("invented", f"new {label}", -float(found.scores[j]), evidence)


def _same_label(truth: Detections, found: Detections) -> npt.NDArray[np.bool_]:
    """`(len(truth), len(found))`"""
    same = np.array(truth.labels, object)[:, None] == np.array(found.labels, object)[None, :]
    return np.asarray(same, np.bool_)


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
    best = np.where(_same_label(truth, found), iou(truth.boxes, found.boxes), 0).max(axis=0, initial=0.0)
    return found.select(~aside | (best > on_pasted))
