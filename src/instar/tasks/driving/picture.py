"""A case of a rule as a picture: the source and the picture of each block, with what was answered."""

from __future__ import annotations

from collections.abc import Sequence

import cv2

from instar.core.change import Change
from instar.core.scene import Image, Observation
from instar.core.verdict import Verdict
from instar.imaging.sheets import FONT, INK, LOST, PAPER, panel, sheet
from instar.tasks.driving.answers import Control
from instar.tasks.driving.changes import Redrawn

__all__ = ["picture"]

SIDE = 640


def picture(
    sentence: str, source: Observation, follow_ups: Sequence[Observation], change: Change, verdict: Verdict
) -> Image:
    """The pictures under the sentence; what breaks it is written in red."""
    seen = list(follow_ups)
    if not (isinstance(change, Redrawn) and change.condition):
        seen.insert(0, source)
    broken = {finding.subject for finding in verdict.findings}
    panels = []
    for number, observation in enumerate(seen):
        image, _ = panel(observation.input, side=SIDE)
        title = "source" if number == 0 else f"block {number}"
        colour = LOST if title in broken else INK
        text = f"{title}: {_said(observation.answer)}"
        (width, _), _ = cv2.getTextSize(text, FONT, 0.5, 1)
        cv2.rectangle(image, (0, 0), (width + 12, 22), colour, cv2.FILLED)
        cv2.putText(image, text, (6, 15), FONT, 0.5, PAPER, 1, cv2.LINE_AA)
        panels.append(image)
    return sheet(panels, sentence)


def _said(answer: Control) -> str:
    parts = []
    if answer.speed is not None:
        parts.append(f"{answer.speed:.1f} km/h")
    if answer.steering is not None:
        parts.append(f"{answer.steering:+.1f} degrees")
    return ", ".join(parts)
