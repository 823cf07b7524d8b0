"""The report's figures over whatever is looked at, counted in columns: they follow every filter at once."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.report.summary import Counts
from instar.stats import clustered_rate
from instar.workbench.columns import STATUSES
from instar.workbench.library import Run
from instar.workbench.table import NO_GROUP, CaseTable
from instar.workbench.workers import kept_or_begun

__all__ = [
    "VIOLATED",
    "Account",
    "ColumnFigures",
    "GroupLine",
    "Intervals",
    "RelationLine",
    "account_of",
    "figures_of",
]

MOST = 12  # entries of a listing
MOST_GROUPS = 50
VIOLATED, HELD = STATUSES.index("violated"), STATUSES.index("held")

Array = npt.NDArray[Any]


class Intervals:
    """Intervals over scenes, made by `workers` and kept: many of them take longer than a page may."""

    def __init__(self, workers: Executor) -> None:
        self._workers = workers
        self._made: dict[Hashable, Future[tuple[float, float]]] = {}

    def get(self, scenes: Array, violated: Array, *, wait: bool) -> tuple[float, float] | str | None:
        """For the rate of violated cases, of which each is in a scene; "later" while it is being made."""
        judged_in = np.bincount(scenes)
        if not judged_in.any():
            return None
        violated_in = np.bincount(scenes[violated], minlength=len(judged_in))
        content = judged_in.tobytes() + b"|" + violated_in.tobytes()
        key = hashlib.blake2b(content, digest_size=16).digest()
        begin = partial(self._workers.submit, clustered_rate, violated_in, judged_in)
        future = kept_or_begun(self._made, key, begin, most=5_000)
        try:
            return future.result() if wait or future.done() else "later"
        except BrokenExecutor:
            return "later"


@dataclass(frozen=True, slots=True)
class RelationLine:
    """One relation's counts, and the interval of its rate: None if nothing was judged, "later" if unknown."""

    name: str
    counts: Counts
    interval: tuple[float, float] | str | None


@dataclass(frozen=True, slots=True)
class GroupLine:
    title: str
    cases: int
    scenes: int
    worst: int
    """The row of its worst case."""


@dataclass(frozen=True, slots=True)
class Account:
    """Of whole runs, whatever the other filters: `distinct` is None while failures are being grouped."""

    distinct: int | None
    false_alarms: float | None
    unstable: int
    queries: int
    asked: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """What the summary shows. `margins` are (where bins begin, their width, counts) of each relation."""

    counts: Counts
    interval: tuple[float, float] | str | None
    scenes: int
    scenes_violated: int
    relations: Sequence[RelationLine]
    kinds: Sequence[tuple[str, int]]
    reasons: Sequence[tuple[str, int]]
    marks: Sequence[tuple[str, int]]
    groups: Sequence[GroupLine]
    margins: Sequence[tuple[str, Array]]

    @property
    def are_whole(self) -> bool:
        """Whether every interval is known."""
        return "later" not in [self.interval, *(line.interval for line in self.relations)]


def figures_of(table: CaseTable, rows: Array, intervals: Intervals, *, wait: bool) -> ColumnFigures:
    """Count these rows; with `wait` also intervals that are not made yet are waited for."""
    status, relation, scene = (table.codes[name][rows] for name in ("status", "relation", "scene"))
    violated, judged = status == VIOLATED, status <= HELD
    lines = []
    by_relation = np.bincount(
        relation * len(STATUSES) + status, minlength=len(table.words["relation"]) * len(STATUSES)
    )
    for code, counts in enumerate(by_relation.reshape(-1, len(STATUSES)).tolist()):
        if sum(counts):
            ours = judged & (relation == code)
            known = intervals.get(scene[ours], violated[ours], wait=wait) if ours.any() else None
            lines.append(RelationLine(table.words["relation"][code], _counts(counts), known))
    overall = np.bincount(status, minlength=len(STATUSES)).tolist()
    return ColumnFigures(
        counts=_counts(overall),
        interval=intervals.get(scene[judged], violated[judged], wait=wait) if judged.any() else None,
        scenes=_different(scene, table, "scene"),
        scenes_violated=_different(scene[violated], table, "scene"),
        relations=sorted(lines, key=lambda line: (-line.counts.violated, line.name)),
        kinds=_listing(table, "kind", rows[violated]),
        reasons=_listing(table, "reason", rows[~judged]),
        marks=_listing(table, "mark", rows),
        groups=_groups(table, rows[violated]),
        margins=_margins(table, rows[judged]),
    )


def account_of(runs: Sequence[Run]) -> Account:
    """What the report says of whole runs besides their cases."""
    nulls = accused = unstable = 0
    for run in runs:
        columns = run.columns
        if columns is None:
            continue
        kinds = np.array([kind == "unstable" for kind in columns.words["kind"]] + [False])
        is_unstable = kinds[columns.kind]
        # A null change whose findings were struck out was judged, and not accused.
        judged = columns.is_null & ((columns.status <= HELD) | is_unstable)
        nulls += int(judged.sum())
        accused += int((judged & (columns.status == VIOLATED)).sum())
        unstable += int((is_unstable & ~columns.is_null).sum())
    distinct = [run.groups.distinct for run in runs if run.columns is not None]
    known = [number for number in distinct if number is not None]
    totals = [run.totals for run in runs if run.totals is not None]
    return Account(
        distinct=sum(known) if known and len(known) == len(distinct) else None,
        false_alarms=accused / nulls if nulls else None,
        unstable=unstable,
        queries=sum(one.queries for one in totals),
        asked=sum(one.asked for one in totals),
        seconds=sum(one.seconds for one in totals),
    )


def _counts(by_status: Sequence[int]) -> Counts:
    return Counts(**dict(zip(STATUSES, by_status)))


def _different(codes: Array, table: CaseTable, facet: str) -> int:
    return int(np.count_nonzero(np.bincount(codes, minlength=len(table.words[facet]))))


def _listing(table: CaseTable, facet: str, rows: Array) -> list[tuple[str, int]]:
    counts = np.bincount(table.codes[facet][rows], minlength=len(table.words[facet]))
    most = np.argsort(-counts, kind="stable")[:MOST]
    return [(table.words[facet][code], int(counts[code])) for code in most.tolist() if counts[code]]


def _groups(table: CaseTable, violated: Array) -> list[GroupLine]:
    """Groups from the largest on."""
    codes = table.codes["group"][violated]
    counts = np.bincount(codes, minlength=len(table.words["group"]))
    lines = []
    for code in np.argsort(-counts, kind="stable")[:MOST_GROUPS].tolist():
        if counts[code] and table.words["group"][code] != NO_GROUP:
            ours = violated[codes == code]
            worst = int(ours[np.argmin(table.margin[ours])])
            scenes = _different(table.codes["scene"][ours], table, "scene")
            lines.append(GroupLine(table.words["group"][code], len(ours), scenes, worst))
    return lines


def _margins(table: CaseTable, judged: Array) -> list[tuple[str, Array]]:
    """The finite margins of the six largest relations."""
    codes, margins = table.codes["relation"][judged], table.margin[judged]
    counts: Mapping[int, int] = dict(enumerate(np.bincount(codes).tolist()))
    largest = sorted(counts, key=lambda code: (-counts[code], table.words["relation"][code]))[:6]
    found = [(table.words["relation"][code], margins[codes == code]) for code in largest if counts[code]]
    return [(name, values[np.isfinite(values)]) for name, values in found]
