"""A case as a picture: before and after, with the boxes that were lost and those that are new."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from instar.scene import Image, Observation
from instar.text.answers import Quads
from instar.text.changes import Conditioned, Watermark, carried_along
from instar.verdict import Finding, Verdict

__all__ = ["picture"]

Colour = tuple[int, int, int]
FOUND: Colour = (46, 160, 67)
LOST: Colour = (218, 30, 40)
NEW: Colour = (240, 136, 8)
DRAWN: Colour = (20, 110, 230)
INK, PAPER = (28, 32, 38), (255, 255, 255)
SIDE = 760  # pixels per panel, at most
BAR = 30
FONT = cv2.FONT_HERSHEY_SIMPLEX


def picture(
    source: Observation, follow_ups: Sequence[Observation], change: Conditioned, verdict: Verdict
) -> Image:
    """Both pictures under a line in words: green is found in both, red lost, orange new, blue drawn."""
    before: Quads = source.answer
    after: Quads = follow_ups[0].answer
    lost = {_number(finding) for finding in verdict.findings if finding.kind == "lost"}
    left = _Panel(source.input, "before")
    for k, quad in enumerate(before.quads):
        left.quad(quad, LOST if k in lost else FOUND, thick=k in lost)
    right = _Panel(follow_ups[0].input, "after")
    if isinstance(change, Watermark):
        right.quad(carried_along(change.quad(air=0.5), change)[0], DRAWN)
    new = [finding.evidence["is"] for finding in verdict.findings if "is" in finding.evidence]
    for quad in after.quads:
        if not any(np.allclose(quad, other, atol=0.1) for other in new):
            right.quad(quad, FOUND)
    for other in new:
        right.quad(np.array(other, np.float32), NEW, thick=True)
    for k in lost:
        right.quad(carried_along(before.quads[k][None], change)[0], LOST, dashed=True)
    return _sheet([left.image, right.image], f"{change}: {_sentence(verdict)}")


class _Panel:
    """One picture being drawn on, scaled to a common size."""

    def __init__(self, image: Image, title: str) -> None:
        self._scale = min(2.0, SIDE / max(image.shape[:2]))
        how = cv2.INTER_AREA if self._scale < 1 else cv2.INTER_LINEAR
        scaled = cv2.resize(image, None, fx=self._scale, fy=self._scale, interpolation=how)
        self.image: Image = np.ascontiguousarray(scaled)
        (width, _), _ = cv2.getTextSize(title, FONT, 0.45, 1)
        cv2.rectangle(self.image, (0, 0), (width + 12, 20), INK, cv2.FILLED)
        cv2.putText(self.image, title, (6, 14), FONT, 0.45, PAPER, 1, cv2.LINE_AA)

    def quad(
        self, quad: npt.NDArray[np.float32], colour: Colour, *, thick: bool = False, dashed: bool = False
    ) -> None:
        corners = np.rint(quad * self._scale).astype(np.int32)
        if dashed:
            for start, end in zip(corners, np.roll(corners, -1, axis=0)):
                self._dashes(start, end, colour)
        else:
            cv2.polylines(self.image, [corners], True, colour, 3 if thick else 2, cv2.LINE_AA)

    def _dashes(self, start: npt.NDArray[np.int32], end: npt.NDArray[np.int32], colour: Colour) -> None:
        length = max(1.0, float(np.linalg.norm(end - start)))
        for at in np.arange(0, length, 10):
            a, b = (np.rint(start + min(1.0, t / length) * (end - start)) for t in (at, at + 5))
            cv2.line(self.image, a.astype(int).tolist(), b.astype(int).tolist(), colour, 2, cv2.LINE_AA)


def _number(finding: Finding) -> int:
    """The box of the source that a finding is about: 3 for "box 3"."""
    return int(finding.subject.rpartition(" ")[2])


def _sentence(verdict: Verdict) -> str:
    counts: dict[str, int] = {}
    for finding in verdict.findings:
        counts[finding.kind] = counts.get(finding.kind, 0) + 1
    words = [kind if kind == "watermark missed" else f"{n} {kind}" for kind, n in counts.items()]
    return ", ".join(words) or verdict.reason or verdict.status.value


def _sheet(panels: Sequence[Image], sentence: str) -> Image:
    """One above the other where they are wide, else side by side; smaller panels get a white edge."""
    height, width = (max(panel.shape[axis] for panel in panels) for axis in (0, 1))
    beside = width <= 1.6 * height
    framed = []
    for panel in panels:
        frame = np.full((height, width + 6, 3) if beside else (height + 6, width, 3), 255, np.uint8)
        frame[: panel.shape[0], : panel.shape[1]] = panel
        framed.append(frame)
    body = (np.hstack if beside else np.vstack)(framed)
    bar = np.full((BAR, body.shape[1], 3), 255, np.uint8)
    size = 0.5
    while size > 0.3 and cv2.getTextSize(sentence, FONT, size, 1)[0][0] > body.shape[1] - 16:
        size -= 0.02
    cv2.putText(bar, sentence, (8, 20), FONT, size, INK, 1, cv2.LINE_AA)
    return np.ascontiguousarray(np.vstack([bar, body]))
