"""What the figures of a study are worth: how many spoilt maps the same cases would have told.

Faults are planted over the map after each change, and the case is judged anew. An error rate of nothing says
little where nothing spoilt is found either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from instar.campaigns.reader import RunReader
from instar.core.record import Record
from instar.core.verdict import Status
from instar.studies.campaign import CaseCounts
from instar.tasks.interpretation.compare import THETA
from instar.tasks.interpretation.measures import Grid, hot_grid


def _shift(grid: Grid) -> Grid:
    step = grid.shape[1] // 5
    return np.hstack([np.zeros_like(grid[:, :step]), grid[:, :-step]])


def _spot(grid: Grid) -> Grid:
    made = np.zeros_like(grid)
    made.flat[int(grid.argmax())] = 1
    return np.asarray(cv2.GaussianBlur(made, (0, 0), 1), np.float32)


SPOILT: dict[str, Callable[[Grid], Grid]] = {
    "left for right": lambda grid: grid[:, ::-1],
    "upside down": lambda grid: grid[::-1],
    "inverted": lambda grid: 1 - grid,
    "a fifth to the right": _shift,
    "a spot": _spot,
    "nearly everywhere": lambda grid: np.maximum(grid, np.float32(grid > np.quantile(grid, 0.15))),
}
"""What is done to a map of shares of its most."""


@dataclass(eq=False)
class Power:
    """Spoilt maps, and how many of them are told by the floor and by IoMin."""

    by_floor: CaseCounts = field(default_factory=CaseCounts)
    by_iomin: CaseCounts = field(default_factory=CaseCounts)


def measure_power(reader: RunReader, records: Iterable[Record]) -> dict[str, Power]:
    """By relation, from judged cases: the first change of each question."""
    found: dict[str, Power] = {}
    for record in records:
        if record.role == "null" or record.ordinal or "marked" not in record.verdict.evidence:
            continue
        relation, again = (
            reader.relation(record.relation),
            reader.replay(reader.record(record.case), reader.remembered),
        )
        if again.source is None or not again.follow_ups or relation.expect is None:
            continue
        power = found.setdefault(record.relation, Power())
        (seen,) = again.follow_ups
        for spoil in SPOILT.values():
            heat = np.ascontiguousarray(spoil(hot_grid(seen.answer.heat)), np.float32)
            spoilt = replace(seen, answer=replace(seen.answer, heat=heat))
            verdict = relation.expect(again.source, [spoilt], again.record.change)
            if verdict.status in (Status.HELD, Status.VIOLATED):
                power.by_floor.judge(record.scene, violated=verdict.status is Status.VIOLATED)
                power.by_iomin.judge(record.scene, violated=verdict.evidence["iomin"] < THETA)
    return found
