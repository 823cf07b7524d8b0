"""Two answers compared: what was found before must be found after, where it was and as what it was.

Two thresholds keep 0.501 -> 0.499 from counting. With the system's `confidence` c and a band h around it,
an object of the source (score >= c) is lost when nothing at its place scores c - h any more, and an
object is new when it scores above c + h and nothing was there at c - h or more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from instar.core.verdict import Finding, Verdict
from instar.imaging.geometry import Box, areas, centres_inside, intersections, iou
from instar.tasks.detection.answers import Detections

MOSTLY = 0.5  # of the smaller box, or of the pasted one: then a prediction is about the pasted object


def same_objects(
    before: Detections,
    after: Detections,
    *,
    pasted: Box | None = None,
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
    overlap = iou(before.boxes, after.boxes)
    labels = np.array(after.labels, object)
    same_label = np.array(before.labels, object)[:, None] == labels[None, :]
    view = _View(before, after, overlap, same_label, least_iou, band)
    about, on_pasted = mask_inserted(pasted, after)
    # One matching for all, in which whatever could be accused goes first: objects that count, and boxes
    # that would be new. A weak duplicate must not take the place of the box that is still there.
    counts_before = (before.scores >= certain) & before.shown
    strong = (after.scores > certain + hysteresis) & after.shown
    objects, alive = np.flatnonzero(counts_before), after.scores >= band
    matched = view.match(before.scores >= band, alive, counts_before, strong)
    pairs = {k: j for k, j in matched.items() if counts_before[k]}
    free, unknown = _without(alive, pairs.values()), _without(alive, matched.values())
    findings = []
    for k in objects.tolist():
        if k not in pairs:
            # A box that covers both the object and the pasted one tells of whichever it fits better.
            may_tell = (after.scores >= certain) & (~about | (overlap[k] > on_pasted))
            finding, used = view.explain(k, renamed=free & may_tell, moved=unknown & may_tell)
            findings.append(finding)
            if used is not None:
                free[used] = unknown[used] = False
    unknown &= ~about
    findings += [view.invented(j) for j in np.flatnonzero(unknown & strong).tolist()]
    counts: dict[str, Any] = {"found": len(objects), "found again": len(pairs)}
    left = {f"object {k}": view.left_of(k, pairs.get(k)) - band for k in objects.tolist()}
    if findings:
        among = sorted(
            (before.labels[k], before.boxes[k].round().astype(int).tolist()) for k in objects.tolist()
        )
        labels_and_places = {"among": [label for label, _ in among], "places": [box for _, box in among]}
        return replace(Verdict.violated(findings, **counts, **labels_and_places), margins=left)
    slack = min(
        float(after.scores[list(pairs.values())].min(initial=np.inf)) - band,
        certain + hysteresis - float(after.scores[unknown].max(initial=-np.inf)),
    )
    return replace(Verdict.held(min(slack, 1.0), **counts), margins=left)


def mask_inserted(
    pasted: Box | None, after: Detections
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


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """Both answers, and how they overlap: `overlap` and `same_label` are `(len(before), len(after))`."""

    before: Detections
    after: Detections
    overlap: npt.NDArray[np.float32]
    same_label: npt.NDArray[np.bool_]
    least_iou: float
    band: float

    def match(
        self,
        rows: npt.NDArray[np.bool_],
        columns: npt.NDArray[np.bool_],
        first_rows: npt.NDArray[np.bool_],
        first_columns: npt.NDArray[np.bool_],
    ) -> dict[int, int]:
        """One to one by label and place: as many of the first as possible, then as much overlap."""
        allowed = self.same_label & (self.overlap > self.least_iou) & rows[:, None] & columns[None, :]
        if not allowed.any():
            return {}
        # One of the first outweighs whatever all pairs together could gain in overlap.
        firsts = first_rows[:, None].astype(np.float64) + first_columns[None, :]
        gain = np.where(allowed, (min(allowed.shape) + 1) * firsts + self.overlap, 0)
        chosen = zip(*linear_sum_assignment(gain, maximize=True))
        return {int(r): int(c) for r, c in chosen if allowed[r, c]}

    def explain(
        self, k: int, *, renamed: npt.NDArray[np.bool_], moved: npt.NDArray[np.bool_]
    ) -> tuple[Finding, int | None]:
        """What became of object k, and the box of the second answer that tells, if one does.

        It may be one of `renamed` under another label, or one of `moved` at another place. A box that was
        weak before may be the new name of its place, but not an object that has come from elsewhere.
        """
        overlap, score, subject = self.overlap[k], float(self.before.scores[k]), f"object {k}"
        evidence = {"was": describe_box(self.before, k)}
        j = _best(overlap, renamed & (overlap > self.least_iou) & ~self.same_label[k])
        if j is not None:
            margin = -min(score, float(self.after.scores[j]))
            return Finding("renamed", subject, margin, evidence | {"is": describe_box(self.after, j)}), j
        j = _best(overlap, moved & (overlap > 0) & self.same_label[k])
        if j is not None:
            margin = -score * (1 - float(overlap[j]))
            return Finding("drifted", subject, margin, evidence | {"is": describe_box(self.after, j)}), j
        return Finding("lost", subject, self.left_of(k, None) - score, evidence), None

    def left_of(self, k: int, j: int | None) -> float:
        """What object k scores now as box j, or what is left of it where no box stands for it."""
        if j is not None:
            return float(self.after.scores[j])
        # Any box above the band stands for another object.
        faded = (self.overlap[k] > self.least_iou) & self.same_label[k] & (self.after.scores < self.band)
        return float(self.after.scores[faded].max(initial=0.0))

    def left_of_any(self, k: int) -> float:
        """The best score of the label of object k at its place."""
        there = (self.overlap[k] > self.least_iou) & self.same_label[k]
        return float(self.after.scores[there].max(initial=0.0))

    def invented(self, j: int) -> Finding:
        there = (self.overlap[:, j] > self.least_iou) & self.same_label[:, j]
        there &= self.before.scores < self.band
        had, has = float(self.before.scores[there].max(initial=0.0)), float(self.after.scores[j])
        evidence = {"is": describe_box(self.after, j)}
        # What is left of an object here may be too little to be found, and too much to be lost.
        found = (self.before.scores >= self.before.confidence) & ~self.same_label[:, j]
        k = _best(self.overlap[:, j], found & (self.overlap[:, j] > self.least_iou))
        if k is not None and self.left_of_any(k) < self.before.confidence:
            evidence["instead of"] = describe_box(self.before, k)
        return Finding("invented", f"new {self.after.labels[j]}", had - has, evidence)


def _without(boxes: npt.NDArray[np.bool_], used: Iterable[int]) -> npt.NDArray[np.bool_]:
    left: npt.NDArray[np.bool_] = boxes.copy()
    left[list(used)] = False
    return left


def _best(overlap: npt.NDArray[np.float32], among: npt.NDArray[np.bool_]) -> int | None:
    return int(np.argmax(np.where(among, overlap, -1))) if among.any() else None


def describe_box(answer: Detections, i: int) -> dict[str, Any]:
    """A box of an answer as evidence."""
    return {
        "label": answer.labels[i],
        "score": round(float(answer.scores[i]), 4),
        "box": [round(float(v), 1) for v in answer.boxes[i]],
    }
