"""The floor: how much explanations differ where nothing matters, pooled over scenes.

An explanation is judged against its own floor. Null changes set it; for relations that add or remove
something, placebos of the same size at the same place; for those that move the picture, small moves. All
pictures are taken together: the worst of a few null changes of one is exceeded every so often.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from instar.core.record import Record
from instar.core.relation import Relation, Workspace
from instar.tasks.interpretation.measures import MEASURES
from instar.tasks.interpretation.searches import distinct
from instar.user_file import read_json

WITHIN = 0.95  # of what is rehearsed stays within the floor
FACTOR = 3.0  # times the floor is a difference
LEAST_COMPARISONS = 10  # fewer say nothing of the one in twenty
USUAL = {"marked": 0.15, "ranks": 0.04, "pointing": 0.1, "centre": 0.02, "inside": 0.06, "leak": 0.08}
"""What is taken where nothing could be rehearsed."""
LEAST = {"marked": 0.45, "ranks": 0.35, "pointing": 0.5, "centre": 0.12, "inside": 0.2, "leak": 0.3}
"""Differences below these nobody would call one."""
MOST = {"marked": 0.75, "ranks": 0.8, "pointing": 0.8, "centre": 0.2, "inside": 0.5, "leak": 0.5}
"""Differences above these anybody would: an interpreter that wanders so far by itself is unstable."""


@dataclass(frozen=True)
class Floor:
    """By measure what nineteen in twenty of `n` comparisons stayed within; the usual values without any."""

    within: tuple[tuple[str, float], ...] = tuple(USUAL.items())
    n: int = 0

    def of(self, measure: str) -> float:
        return dict(self.within).get(measure, USUAL[measure])

    def or_more(self, other: Floor, *, share: float = 1.0) -> Floor:
        """The larger of this and a share of the other, measure by measure; without comparisons that says
        nothing.
        """
        if not other.n:
            return self
        both = {name: max(self.of(name) if name != "leak" else 0.0, share * other.of(name)) for name in USUAL}
        return Floor(tuple(both.items()), other.n)

    def tolerance(self, measure: str) -> float:
        """How much is still no difference."""
        return min(MOST[measure], max(LEAST[measure], FACTOR * self.of(measure)))

    def least(self, measure: str) -> float:
        """Less than this is no reaction."""
        return max(LEAST[measure] / FACTOR, self.of(measure))

    def times(self, measure: str, value: float) -> float:
        """How many times the floor a difference is."""
        return value / self.least(measure)


def floor_of(comparisons: Sequence[Mapping[str, Any]]) -> Floor:
    """The floor that differences under null changes or placebos set."""
    if len(comparisons) < LEAST_COMPARISONS:
        return Floor()
    within = {}
    for measure in (*MEASURES, "leak"):
        values = sorted(float(one[measure]) for one in comparisons if measure in one)
        if values:
            place = min(len(values), math.ceil(WITHIN * (len(values) + 1)))
            within[measure] = round(values[place - 1], 4)
    return Floor(tuple(within.items()), len(comparisons))


def rehearse_floor(workspace: Workspace, relation: Relation, *, n: int) -> Floor:
    """Ask what the relation does to a sample of the scenes; what came of it is kept with the run."""
    path = Path(workspace.folder) / "floors.json"
    kept: dict[str, Any] = read_json(path) if path.is_file() else {}
    records = workspace.rehearse(relation, distinct(n=n))
    if records is None:
        known = kept.get(relation.name)
        return Floor() if known is None else Floor(tuple(known["within"].items()), known["n"])
    floor = floor_of(list(_comparisons(records)))
    kept[relation.name] = {"within": dict(floor.within), "n": floor.n}
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return floor


def _comparisons(records: Iterable[Record]) -> Iterable[Mapping[str, Any]]:
    return (record.verdict.evidence for record in records if "marked" in record.verdict.evidence)
