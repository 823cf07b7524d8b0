"""A case as a picture: before and after, with what was lost, invented, renamed or moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image, Observation
from instar.core.verdict import Finding, Verdict
from instar.imaging.nulls import Conditioned
from instar.imaging.sheets import FONT, FOUND, INK, LOST, MADE, NEW, PAPER, Colour, dashed_line, panel, sheet
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.changes import Insertion, carried_back

__all__ = ["picture"]

RENAMED: Colour = (163, 72, 214)
MOVED: Colour = (214, 155, 0)
SIDE = 620  # pixels per panel, at most


def picture(
    source: Observation, follow_ups: Sequence[Observation], change: Conditioned, verdict: Verdict
) -> Image:
    """Both pictures side by side, or one above the other where they are wide, under a line in words."""
    before: Detections = source.answer
    after = carried_back(follow_ups[0].answer, change)
    fates = {finding.subject: finding for finding in verdict.findings}
    left = _Panel(source.input, "before")
    for i in np.flatnonzero(before.scores >= before.confidence).tolist():
        fate = fates.get(f"object {i}")
        left.add(before.boxes[i], _label(before, i), _colour(fate), bold=fate is not None)
    right = _Panel(follow_ups[0].input, "after")
    told = [finding.evidence["is"]["box"] for finding in verdict.findings if "is" in finding.evidence]
    for i in np.flatnonzero(after.scores >= after.confidence).tolist():
        if not any(np.allclose(after.boxes[i], box, atol=0.1) for box in told):
            right.add(after.boxes[i], _label(after, i), FOUND)
    if isinstance(change, Insertion):
        right.add(np.array(change.box, np.float32), f"pasted {change.label}", MADE, below=True)
    for finding in verdict.findings:
        right.add_finding(finding)
    return sheet([left.drawn(), right.drawn()], _sentence(change, verdict))


@dataclass(frozen=True, slots=True, eq=False)
class _Marked:
    """A box to be drawn, in pixels of the panel."""

    corners: tuple[int, int, int, int]
    label: str
    colour: Colour
    bold: bool
    dashed: bool
    below: bool


class _Panel:
    """One picture to be drawn on, scaled to a common size."""

    def __init__(self, image: Image, title: str) -> None:
        self._image, self._scale = panel(image, side=SIDE, most=1.5)
        self._title = title
        self._marked: list[_Marked] = []
        self._tags: list[tuple[int, int, int, int]] = []

    def add(
        self,
        box: npt.NDArray[np.float32],
        label: str,
        colour: Colour,
        *,
        bold: bool = False,
        dashed: bool = False,
        below: bool = False,
    ) -> None:
        x1, y1, x2, y2 = (round(float(v) * self._scale) for v in box)
        self._marked.append(_Marked((x1, y1, x2, y2), label, colour, bold, dashed, below))

    def add_finding(self, finding: Finding) -> None:
        seen = finding.evidence.get("is") or finding.evidence["was"]
        lost = "is" not in finding.evidence
        what = f"{seen['label']} lost" if lost else f"{_word(finding)} {seen['label']} {seen['score']:.2f}"
        self.add(np.array(seen["box"], np.float32), what, _colour(finding), bold=True, dashed=lost)

    def drawn(self) -> Image:
        """What matters most lies on top, and its label gets the best place."""
        for one in sorted(self._marked, key=lambda m: m.bold):
            self._outline(one)
        self._tag(self._title, [(6, 24)], INK, bold=True)
        for one in sorted(self._marked, key=lambda m: (not m.bold, not m.below)):
            x1, y1, x2, y2 = one.corners
            above, under, inside = (x1, y1), (x1, y2 + 17), (x1, y1 + 17)
            places = [under, above, inside] if one.below else [above, under, inside]
            places += [(x2, y1 + 17), (x2, y2), (x1, y2)]
            self._tag(one.label, places, one.colour, bold=one.bold)
        return self._image

    def _outline(self, one: _Marked) -> None:
        x1, y1, x2, y2 = one.corners
        thickness = 3 if one.bold else 2 if one.below else 1
        if one.dashed:
            for (ax, ay), (bx, by) in (((x1, y1), (x2, y1)), ((x2, y1), (x2, y2)),
                                       ((x2, y2), (x1, y2)), ((x1, y2), (x1, y1))):  # fmt: skip
                dashed_line(self._image, (ax, ay), (bx, by), one.colour, thickness=thickness)
        else:
            cv2.rectangle(self._image, (x1, y1), (x2 - 1, y2 - 1), one.colour, thickness, cv2.LINE_AA)

    def _tag(self, text: str, corners: Sequence[tuple[int, int]], colour: Colour, *, bold: bool) -> None:
        """Text on a coloured ground, at the first of its lower left corners where it covers no other.

        Where every place is taken, what matters is written all the same and the rest is left out.
        """
        size = 0.45 if bold else 0.38
        (width, height), base = cv2.getTextSize(text, FONT, size, 1)
        width, height = width + 6, height + base + 3
        rows, columns = self._image.shape[:2]
        places = []
        for x, y in corners:
            left = max(0, min(x, columns - width))
            bottom = max(height, min(y, rows))
            places.append((left, bottom - height, left + width, bottom))
        free = [place for place in places if not any(_cover(place, tag) for tag in self._tags)]
        if not (free or bold):
            return
        place = (free or places)[0]
        self._tags.append(place)
        cv2.rectangle(self._image, place[:2], (place[2] - 1, place[3] - 1), colour, cv2.FILLED)
        at = (place[0] + 3, place[3] - base - 1)
        cv2.putText(self._image, text, at, FONT, size, PAPER, 1, cv2.LINE_AA)


def _cover(a: tuple[int, int, int, int], b: tuple[int, int, int, int]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _label(answer: Detections, i: int) -> str:
    return f"{answer.labels[i]} {answer.scores[i]:.2f}"


def _colour(finding: Finding | None) -> Colour:
    if finding is None:
        return FOUND
    if finding.kind == "recognition":
        return LOST if "was" in finding.evidence else NEW
    return RENAMED if finding.kind == "classification" else MOVED


def _word(finding: Finding) -> str:
    return {"recognition": "new", "classification": "now", "localization": "moved"}.get(finding.kind, "")


def _sentence(change: Conditioned, verdict: Verdict) -> str:
    parts = []
    for finding in verdict.findings:
        was, now = finding.evidence.get("was"), finding.evidence.get("is")
        if was and now and was["label"] != now["label"]:
            parts.append(f"{was['label']} is taken for {now['label']}")
        elif was and now:
            parts.append(f"{was['label']} has moved")
        elif was:
            parts.append(f"{was['label']} ({was['score']:.2f}) is lost")
        elif now:
            parts.append(f"{now['label']} ({now['score']:.2f}) appears from nowhere")
    outcome = ", ".join(parts) or verdict.reason or verdict.status.value
    return f"{change}: {outcome}"
