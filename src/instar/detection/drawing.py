"""A case as a picture: before and after, with what was lost, invented, renamed or moved."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from instar.detection.answers import Detections
from instar.detection.changes import Conditioned, Insertion, carried_back
from instar.scene import Image, Observation
from instar.verdict import Finding, Verdict

__all__ = ["picture"]

Colour = tuple[int, int, int]
FOUND: Colour = (46, 160, 67)
LOST: Colour = (218, 30, 40)
NEW: Colour = (240, 136, 8)
RENAMED: Colour = (163, 72, 214)
MOVED: Colour = (214, 155, 0)
PASTED: Colour = (20, 110, 230)
INK, PAPER, QUIET = (28, 32, 38), (255, 255, 255), (104, 112, 122)
SIDE = 620  # pixels per panel, at most
BAR = 30
FONT = cv2.FONT_HERSHEY_SIMPLEX


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
        left.box(
            before.boxes[i],
            f"{before.labels[i]} {before.scores[i]:.2f}",
            _colour(fate),
            bold=fate is not None,
        )
    right = _Panel(follow_ups[0].input, "after")
    if isinstance(change, Insertion):
        right.box(np.array(change.box, np.float32), f"pasted {change.label}", PASTED, bold=False)
    for i in np.flatnonzero(after.scores >= after.confidence).tolist():
        right.box(after.boxes[i], _label(after, i), FOUND, bold=False)
    for finding in verdict.findings:
        right.finding(finding)
    return _sheet([left.image, right.image], _sentence(change, verdict))


class _Panel:
    """One picture being drawn on, scaled to a common size."""

    def __init__(self, image: Image, title: str) -> None:
        self._scale = min(1.5, SIDE / max(image.shape[:2]))
        how = cv2.INTER_AREA if self._scale < 1 else cv2.INTER_LINEAR
        scaled = cv2.resize(image, None, fx=self._scale, fy=self._scale, interpolation=how)
        self.image: Image = np.ascontiguousarray(scaled)
        self._tag(title, 6, 20, INK)

    def finding(self, finding: Finding) -> None:
        colour = _colour(finding)
        seen = finding.evidence.get("is") or finding.evidence.get("was")
        if seen is None:
            return
        lost = "is" not in finding.evidence
        what = f"{seen['label']} lost" if lost else f"{_word(finding)} {seen['label']} {seen['score']:.2f}"
        self.box(np.array(seen["box"], np.float32), what, colour, bold=True, dashed=lost)

    def box(self, box: np.ndarray, label: str, colour: Colour, *, bold: bool, dashed: bool = False) -> None:
        x1, y1, x2, y2 = (round(float(v) * self._scale) for v in box)
        thickness = 3 if bold else 1
        if dashed:
            for (ax, ay), (bx, by) in (((x1, y1), (x2, y1)), ((x2, y1), (x2, y2)),
                                       ((x2, y2), (x1, y2)), ((x1, y2), (x1, y1))):  # fmt: skip
                self._dashes((ax, ay), (bx, by), colour, thickness)
        else:
            cv2.rectangle(self.image, (x1, y1), (x2 - 1, y2 - 1), colour, thickness, cv2.LINE_AA)
        self._tag(label, x1, y1 if y1 > 18 else min(y2 + 16, self.image.shape[0] - 4), colour, bold=bold)

    def _dashes(self, start: tuple[int, int], end: tuple[int, int], colour: Colour, thickness: int) -> None:
        length = max(abs(end[0] - start[0]), abs(end[1] - start[1]), 1)
        for at in range(0, length, 12):
            a, b = at / length, min(1.0, (at + 7) / length)
            cv2.line(
                self.image,
                (round(start[0] + a * (end[0] - start[0])), round(start[1] + a * (end[1] - start[1]))),
                (round(start[0] + b * (end[0] - start[0])), round(start[1] + b * (end[1] - start[1]))),
                colour,
                thickness,
                cv2.LINE_AA,
            )

    def _tag(self, text: str, x: int, y: int, colour: Colour, *, bold: bool = True) -> None:
        size = 0.45 if bold else 0.38
        (width, height), base = cv2.getTextSize(text, FONT, size, 1)
        x = int(np.clip(x, 0, max(0, self.image.shape[1] - width - 6)))
        cv2.rectangle(self.image, (x, y - height - base - 2), (x + width + 5, y), colour, cv2.FILLED)
        cv2.putText(self.image, text, (x + 3, y - base), FONT, size, PAPER, 1, cv2.LINE_AA)


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


def _sheet(panels: Sequence[Image], sentence: str) -> Image:
    height, width = panels[0].shape[:2]
    beside = width <= 1.6 * height
    gap_shape = (height, 6, 3) if beside else (6, width, 3)
    gap = np.full(gap_shape, 255, np.uint8)
    body = (np.hstack if beside else np.vstack)([panels[0], gap, panels[1]])
    bar = np.full((BAR, body.shape[1], 3), 255, np.uint8)
    size = 0.5
    while size > 0.3 and cv2.getTextSize(sentence, FONT, size, 1)[0][0] > body.shape[1] - 16:
        size -= 0.02
    cv2.putText(bar, sentence, (8, 20), FONT, size, INK, 1, cv2.LINE_AA)
    return np.ascontiguousarray(np.vstack([bar, body]))
