"""A case as a picture: before and after, with the boxes that were lost and those that are new."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from instar.imaging.sheets import FONT, FOUND, INK, LOST, MADE, NEW, PAPER, Colour, dashed_line, panel, sheet
from instar.nulls import Conditioned
from instar.scene import Image, Observation
from instar.text.answers import Quads
from instar.text.changes import Watermark, carried_along
from instar.verdict import Finding, Verdict

__all__ = ["picture"]

SIDE = 760  # pixels per panel, at most


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
        right.quad(carried_along(change.quad(air=0.5), change)[0], MADE)
    new = [finding.evidence["is"] for finding in verdict.findings if "is" in finding.evidence]
    for quad in after.quads:
        if not any(np.allclose(quad, other, atol=0.1) for other in new):
            right.quad(quad, FOUND)
    for other in new:
        right.quad(np.array(other, np.float32), NEW, thick=True)
    for k in lost:
        right.quad(carried_along(before.quads[k][None], change)[0], LOST, dashed=True)
    return sheet([left.image, right.image], f"{change}: {_sentence(verdict)}")


class _Panel:
    """One picture being drawn on, scaled to a common size."""

    def __init__(self, image: Image, title: str) -> None:
        self.image, self._scale = panel(image, side=SIDE)
        (width, _), _ = cv2.getTextSize(title, FONT, 0.45, 1)
        cv2.rectangle(self.image, (0, 0), (width + 12, 20), INK, cv2.FILLED)
        cv2.putText(self.image, title, (6, 14), FONT, 0.45, PAPER, 1, cv2.LINE_AA)

    def quad(
        self, quad: npt.NDArray[np.float32], colour: Colour, *, thick: bool = False, dashed: bool = False
    ) -> None:
        corners = np.rint(quad * self._scale).astype(np.int32)
        if dashed:
            for (x1, y1), (x2, y2) in zip(corners.tolist(), np.roll(corners, -1, axis=0).tolist()):
                dashed_line(self.image, (x1, y1), (x2, y2), colour)
        else:
            cv2.polylines(self.image, [corners], True, colour, 3 if thick else 2, cv2.LINE_AA)


def _number(finding: Finding) -> int:
    """The box of the source that a finding is about: 3 for "box 3"."""
    return int(finding.subject.rpartition(" ")[2])


def _sentence(verdict: Verdict) -> str:
    counts: dict[str, int] = {}
    for finding in verdict.findings:
        counts[finding.kind] = counts.get(finding.kind, 0) + 1
    words = [kind if kind == "watermark missed" else f"{n} {kind}" for kind, n in counts.items()]
    return ", ".join(words) or verdict.reason or verdict.status.value
