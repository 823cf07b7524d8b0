"""A case as a picture: before and after, with the boxes that were lost and those that are new."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image, Observation
from instar.core.verdict import Verdict
from instar.imaging.nulls import Conditioned
from instar.imaging.sheets import (
    FONT,
    FOUND,
    INK,
    LOST,
    MADE,
    NEW,
    PAPER,
    UNSURE,
    Colour,
    dashed_line,
    panel,
    sheet,
)
from instar.tasks.text.answers import Quads
from instar.tasks.text.changes import Watermark, carried_along
from instar.tasks.text.fates import fates_of
from instar.tasks.text.measures import EPS

__all__ = ["picture"]

SIDE = 760  # pixels per panel, at most


def picture(
    source: Observation,
    follow_ups: Sequence[Observation],
    change: Conditioned,
    verdict: Verdict,
    *,
    eps: float = EPS,
) -> Image:
    """Both pictures under a line in words: green is found in both, red lost, orange new, blue drawn, and grey
    comes and goes by itself.
    """
    before: Quads = source.answer
    after: Quads = follow_ups[0].answer
    fates = fates_of(before, after, change, verdict, eps=eps)
    left = _Panel(source.input, "before")
    for k, quad in enumerate(before.quads):
        colour = LOST if k in fates.lost else UNSURE if k in fates.unsure_before else FOUND
        left.quad(quad, colour, thick=k in fates.lost)
    right = _Panel(follow_ups[0].input, "after")
    if isinstance(change, Watermark):
        right.quad(carried_along(change.quad(air=0.5), change)[0], MADE)
    for k in sorted(fates.kept_after | fates.unsure_after):
        right.quad(after.quads[k], FOUND if k in fates.kept_after else UNSURE)
    for quad in fates.new:
        right.quad(quad, NEW, thick=True)
    for k in sorted(fates.lost):
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


def _sentence(verdict: Verdict) -> str:
    counts: dict[str, int] = {}
    for finding in verdict.findings:
        counts[finding.kind] = counts.get(finding.kind, 0) + 1
    words = [kind if kind == "watermark missed" else f"{n} {kind}" for kind, n in counts.items()]
    return ", ".join(words) or verdict.reason or verdict.status.value
