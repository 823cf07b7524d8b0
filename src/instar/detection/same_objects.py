"""The oracle: what was found before must be found after, where it was and as what it was.

Two thresholds keep 0.501 -> 0.499 from counting. With the system's `confidence` c and a band h around it,
an object of the source (score >= c) is lost when nothing at its place scores c - h any more, and an
object is new when it scores above c + h and nothing was there at c - h or more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from instar.detection.answers import Detections
from instar.imaging.geometry import areas, centres_inside, intersections, iou
from instar.verdict import Finding, Verdict

__all__ = ["same_objects"]

MOSTLY = 0.5  # of the smaller box, or of the pasted one: then a prediction is about the pasted object


def same_objects(
    before: Detections,
    after: Detections,
    *,
    pasted: tuple[float, float, float, float] | None = None,
    hysteresis: float = 0.1,
    least_iou: float = 0.5,
) -> Verdict:
    """Compare two answers about the same objects; predictions on the `pasted` box are set aside.

    The margin of a held verdict is how far the weakest object is from being lost, or the strongest
    newcomer from being new, whichever is less. Outside, it is minus the score that changed hands: of a
    lost object what it lost, of a new one what it gained, of a relabelled one the weaker of both labels'
    scores, of a drifted one its score times the share that does not overlap.
    """
    certain, band = before.confidence, before.confidence - hysteresis
    about, on_pasted = _about(pasted, after)
    overlap = iou(before.boxes, after.boxes)
    same_label = np.array(before.labels, object)[:, None] == np.array(after.labels, object)[None, :]
    alive = after.scores >= band
    close = overlap > least_iou
    objects = np.flatnonzero(before.scores >= certain)
    # Certain objects choose first; what they leave may explain boxes that were merely weak before.
    pairs = _match(overlap, (before.scores >= certain)[:, None] & alive & same_label & close)
    weak = (before.scores >= band) & (before.scores < certain)
    taken = _without(alive, pairs)
    pairs |= _match(overlap, weak[:, None] & taken & same_label & close)
    unmatched = _without(alive, pairs)
    view = _View(before, after, overlap, same_label)
    findings = []
    for k in (int(k) for k in objects if int(k) not in pairs):
        # A box that covers both the object and the pasted one tells of whichever it fits better.
        candidates = unmatched & (after.scores >= certain) & (~about | (overlap[k] > on_pasted))
        finding, used = view.explain(k, candidates, least_iou)
        findings.append(finding)
        if used is not None:
            unmatched[used] = False
    unmatched &= ~about
    newcomers = np.flatnonzero(unmatched & (after.scores > certain + hysteresis))
    findings += [view.invented(int(j), least_iou) for j in newcomers]
    counts = {"found": len(objects), "found again": sum(int(k) in pairs for k in objects)}
    if findings:
        return Verdict.violated(findings, **counts)
    slacks = [float(after.scores[pairs[int(k)]]) - band for k in objects]
    slacks += [certain + hysteresis - float(after.scores[j]) for j in np.flatnonzero(unmatched)]
    return Verdict.held(min(slacks, default=1.0), **counts)


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """Both answers and how they overlap."""

    before: Detections
    after: Detections
    overlap: npt.NDArray[np.float32]
    same_label: npt.NDArray[np.bool_]

    def explain(
        self, k: int, candidates: npt.NDArray[np.bool_], least_iou: float
    ) -> tuple[Finding, int | None]:
        """What became of object k, and the box of the second answer that explains it."""
        score, subject = float(self.before.scores[k]), f"object {k}"
        relabelled = candidates & (self.overlap[k] > least_iou) & ~self.same_label[k]
        drifted = candidates & (self.overlap[k] > 0) & self.same_label[k]
        evidence = {"was": _described(self.before, k)}
        if relabelled.any():
            j = _best(self.overlap[k], relabelled)
            margin = -min(score, float(self.after.scores[j]))
            evidence["is"] = _described(self.after, j)
            return Finding("classification", subject, margin, evidence), j
        if drifted.any():
            j = _best(self.overlap[k], drifted)
            margin = -score * (1 - float(self.overlap[k, j]))
            evidence["is"] = _described(self.after, j)
            return Finding("localization", subject, margin, evidence), j
        here = (self.overlap[k] > least_iou) & self.same_label[k]
        left = float(self.after.scores[here].max(initial=0.0))
        return Finding("recognition", subject, min(left, score) - score, evidence), None

    def invented(self, j: int, least_iou: float) -> Finding:
        there = (self.overlap[:, j] > least_iou) & self.same_label[:, j]
        had = float(self.before.scores[there].max(initial=0.0))
        margin = min(had, float(self.after.scores[j])) - float(self.after.scores[j])
        return Finding(
            "recognition", f"new {self.after.labels[j]}", margin, {"is": _described(self.after, j)}
        )


def _about(
    pasted: tuple[float, float, float, float] | None, after: Detections
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float32]]:
    """Which predictions are about the pasted object, whatever their label, and their IoU with it; `(n,)` each.

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


def _match(overlap: npt.NDArray[np.float32], allowed: npt.NDArray[np.bool_]) -> dict[int, int]:
    """One to one, as many as possible and then with as much overlap as possible."""
    if not allowed.any():
        return {}
    gain = np.where(allowed, 1 + overlap, 0)
    rows, columns = linear_sum_assignment(gain, maximize=True)
    return {int(k): int(j) for k, j in zip(rows, columns) if allowed[k, j]}


def _without(alive: npt.NDArray[np.bool_], pairs: dict[int, int]) -> npt.NDArray[np.bool_]:
    left: npt.NDArray[np.bool_] = alive.copy()
    left[list(pairs.values())] = False
    return left


def _best(overlap: npt.NDArray[np.float32], among: npt.NDArray[np.bool_]) -> int:
    return int(np.argmax(np.where(among, overlap, -1)))


def _described(answer: Detections, i: int) -> dict[str, Any]:
    return {
        "label": answer.labels[i],
        "score": round(float(answer.scores[i]), 4),
        "box": [round(float(v), 1) for v in answer.boxes[i]],
    }
