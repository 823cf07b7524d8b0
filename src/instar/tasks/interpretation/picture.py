"""A case as a picture: before and after, under their heat maps, with the boxes that were compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import cv2
import numpy as np

from instar.core.scene import Image, Observation, Scene
from instar.core.verdict import Status, Verdict
from instar.imaging.nulls import Conditioned, displacement
from instar.imaging.preview import visible
from instar.imaging.sheets import FONT, FOUND, INK, LOST, MADE, PAPER, Colour, dashed_line, panel, sheet
from instar.tasks.interpretation.answers import Asked, Box, Explanation
from instar.tasks.interpretation.boxes import pointed
from instar.tasks.interpretation.changes import Delete, Insert

__all__ = ["explained", "picture"]

SIDE = 560
TRUE: Colour = (240, 200, 40)


def picture(
    source: Observation,
    follow_ups: Sequence[Observation],
    change: Conditioned,
    verdict: Verdict,
    *,
    kept: float,
    truth: Callable[[Scene, Asked], Sequence[Box]],
) -> Image:
    """Both pictures under their heat maps; where the explanation was is shown beside where it is."""
    asked: Asked = source.input
    size = (asked.image.shape[0], asked.image.shape[1])
    was = pointed(source.answer.heat, size, kept=kept).whole
    objects = truth(source.scene, asked)
    before = explained(
        asked.image, source.answer, f"{asked.label}, before", boxes=[(was, FOUND)], truth=objects
    )
    after: Explanation = follow_ups[0].answer
    shift = displacement(change)
    now = pointed(after.heat, size, kept=kept, shift=shift).whole
    colour = LOST if verdict.status is Status.VIOLATED else FOUND
    boxes = [(was, FOUND), (now, colour)]
    if isinstance(change, (Insert, Delete)):
        boxes.append((change.touched, MADE))
    right = explained(follow_ups[0].input.image, after, "after", boxes=boxes, dashed=1)
    return sheet([before, right], f"{change}: {_outcome(verdict)}")


def explained(
    image: Image,
    found: Explanation,
    title: str,
    *,
    boxes: Sequence[tuple[Box | None, Colour]] = (),
    truth: Sequence[Box] = (),
    dashed: int = 0,
    side: int = SIDE,
) -> Image:
    """A picture under its heat map, with boxes; the first `dashed` of them in dashes."""
    drawn, scale = panel(image, side=side)
    heat = cv2.resize(visible(found.heat), (drawn.shape[1], drawn.shape[0]), interpolation=cv2.INTER_LINEAR)
    levels = np.clip(heat * 255, 0, 255).astype(np.uint8)
    colours = cv2.cvtColor(cv2.applyColorMap(levels, cv2.COLORMAP_INFERNO), cv2.COLOR_BGR2RGB)
    weight = (0.65 * np.sqrt(np.clip(heat, 0, 1)))[..., None]
    mixed = drawn.astype(np.float32) * (1 - weight) + colours.astype(np.float32) * weight
    drawn = np.ascontiguousarray(np.clip(mixed, 0, 255).astype(np.uint8))
    for box in truth:
        _outline(drawn, box, scale, TRUE, 1, dashes=False)
    for i, (one, colour) in enumerate(boxes):
        if one is not None:
            _outline(drawn, one, scale, colour, 2, dashes=i < dashed)
    _tag(drawn, f"{title}, sure by {found.confidence:.2f}")
    return drawn


def _outline(drawn: Image, box: Box, scale: float, colour: Colour, thickness: int, *, dashes: bool) -> None:
    x1, y1, x2, y2 = (round(value * scale) for value in box)
    x2, y2 = x2 - 1, y2 - 1
    if not dashes:
        cv2.rectangle(drawn, (x1, y1), (x2, y2), colour, thickness, cv2.LINE_AA)
        return
    corners = [(x1, y1), (x2, y1), (x2, y2), (x1, y2)]
    for start, end in zip(corners, [*corners[1:], corners[0]]):
        dashed_line(drawn, start, end, colour, thickness=thickness)


def _tag(drawn: Image, text: str) -> None:
    (width, height), base = cv2.getTextSize(text, FONT, 0.45, 1)
    cv2.rectangle(drawn, (0, 0), (width + 8, height + base + 6), INK, cv2.FILLED)
    cv2.putText(drawn, text, (4, height + 3), FONT, 0.45, PAPER, 1, cv2.LINE_AA)


def _outcome(verdict: Verdict) -> str:
    if verdict.status is Status.VIOLATED:
        told = {
            "moved": "the explanation has moved",
            "everywhere": "the explanation is everywhere",
            "beside the object": "the explanation is beside the object",
        }
        overlap = verdict.evidence.get("iomin")
        words = ", ".join(told.get(finding.kind, finding.kind) for finding in verdict.findings)
        return words if overlap is None else f"{words}, IoMin {overlap:.2f}"
    return verdict.reason or f"{verdict.status.value}, IoMin {verdict.evidence.get('iomin', 0):.2f}"
