"""A case of interpretation as panels: both pictures under their heat maps, and where those point."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from instar.core.marks import Mark, Panel
from instar.core.scene import Observation, Scene
from instar.core.verdict import Status, Verdict
from instar.imaging.nulls import Conditioned, displacement
from instar.tasks.interpretation.answers import Asked, Box, Explanation
from instar.tasks.interpretation.boxes import pointed
from instar.tasks.interpretation.changes import Delete, Insert

__all__ = ["panels"]


def panels(
    source: Observation,
    follow_ups: Sequence[Observation],
    change: Conditioned,
    verdict: Verdict,
    *,
    kept: float,
    truth: Callable[[Scene, Asked], Sequence[Box]] | None = None,
) -> list[Panel]:
    """Before and after; where the explanation was is outlined in both, and after it the objects of the
    class, where it is the `truth` that it was held against.
    """
    asked: Asked = source.input
    before: Explanation = source.answer
    after: Explanation = follow_ups[0].answer
    size = (asked.image.shape[0], asked.image.shape[1])
    was = pointed(before.heat, size, kept=kept).whole
    now = pointed(after.heat, size, kept=kept, shift=displacement(change)).whole
    left = [Mark.box(was, "matched", "explanation")] if was is not None else []
    right = list(left)
    violated = verdict.status is Status.VIOLATED
    if truth is not None:
        objects = truth(source.scene, asked)
        right += [Mark.box(box, "lost" if violated else "matched", asked.label) for box in objects]
    if now is not None:
        right.append(Mark.box(now, "moved" if violated else "matched", "explanation"))
    if isinstance(change, (Insert, Delete)):
        right.append(
            Mark.box(change.touched, "change", "pasted" if isinstance(change, Insert) else "removed")
        )
    return [
        _panel(f"{asked.label}, before", asked, before, left),
        _panel(f"{asked.label}, after", follow_ups[0].input, after, right),
    ]


def _panel(title: str, asked: Asked, found: Explanation, marks: Sequence[Mark]) -> Panel:
    heat = np.clip(found.heat, 0, 1).astype(np.float32)
    return Panel(f"{title}: sure by {found.confidence:.2f}", asked.image, tuple(marks), heat=heat)
