"""The report's figures over whatever is looked at, counted in columns: they follow every filter at once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence, Set
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.report.summary import Counts, FalseAlarms
from instar.report.text import alarm_words
from instar.stats import clustered_rate
from instar.stats.clusters import cluster_of
from instar.workbench.columns import STATUSES
from instar.workbench.library import LibraryRun
from instar.workbench.table import NO_GROUP, CaseTable
from instar.workbench.workers import Results

MOST = 12  # entries of a listing
MOST_GROUPS = 50
VIOLATED, HELD = STATUSES.index("violated"), STATUSES.index("held")

Array = npt.NDArray[Any]


Ends = tuple[float, float]
Interval = Ends | str | None
"""Of a rate: None if nothing was judged, "later" while it is being made."""


@dataclass(frozen=True, slots=True)
class RelationLine:
    name: str
    counts: Counts
    interval: Interval
    is_yield: bool


@dataclass(frozen=True, slots=True)
class GroupLine:
    title: str
    cases: int
    scenes: int
    worst: int
    """The row of its worst case."""


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """What the summary shows. `rate` and `interval` are those of relations whose search does not look for
    failures; `scenes` are those with a judged case.
    """

    counts: Counts
    failing: int
    rate: float | None
    interval: Interval
    scenes: int
    scenes_violated: int
    scenes_failing: int
    relations: Sequence[RelationLine]
    kinds: Sequence[tuple[str, int]]
    reasons: Sequence[tuple[str, int]]
    marks: Sequence[tuple[str, int]]
    groups: Sequence[GroupLine]
    margins: Sequence[tuple[str, Array]]
    known: Sequence[tuple[str, int]]
    severities: Sequence[tuple[str, tuple[Array, Array]]]
    """Of relations with failures: the levels at which it held, and at which it failed."""

    @property
    def are_whole(self) -> bool:
        """Whether every interval is known."""
        return "later" not in [self.interval, *(line.interval for line in self.relations)]


def figures_of(
    table: CaseTable, rows: Array, intervals: Results[Ends], *, yields: Set[str], wait: bool
) -> ColumnFigures:
    """Count these rows; with `wait` also intervals that are not made yet are waited for.

    `yields` are relations whose search looks for failures: they have no rate.
    """

    def interval(ours: Array) -> Interval:
        """Over scenes, for these judged cases: many of them take longer than a page may."""
        if not ours.any():
            return None
        judged_in = np.bincount(cluster[ours])
        violated_in = np.bincount(cluster[ours & violated], minlength=len(judged_in))
        content = judged_in.tobytes() + b"|" + violated_in.tobytes()
        key = hashlib.blake2b(content, digest_size=16).digest()
        future = intervals.get(key, clustered_rate, violated_in, judged_in)
        try:
            return future.result() if wait or future.done() else "later"
        except BrokenExecutor:
            return "later"

    status, relation, scene = (table.codes[name][rows] for name in ("status", "relation", "scene"))
    cluster = _clusters(table.words["scene"])[scene]
    unstable = _is_unstable(table.words["kind"])[table.codes["kind"][rows]] & (status != VIOLATED)
    failing = table.failing[rows]
    violated, judged = status == VIOLATED, (status <= HELD) | unstable
    drawn = judged & ~np.array([name in yields for name in table.words["relation"]], bool)[relation]
    unstable_of = np.bincount(relation[unstable], minlength=len(table.words["relation"])).tolist()
    lines = []
    by_relation = np.bincount(
        relation * len(STATUSES) + status, minlength=len(table.words["relation"]) * len(STATUSES)
    )
    for code, counts in enumerate(by_relation.reshape(-1, len(STATUSES)).tolist()):
        if sum(counts):
            name = table.words["relation"][code]
            known = None if name in yields else interval(judged & (relation == code))
            lines.append(RelationLine(name, _counts(counts, unstable_of[code]), known, name in yields))
    overall = np.bincount(status, minlength=len(STATUSES)).tolist()
    return ColumnFigures(
        counts=_counts(overall, int(unstable.sum())),
        failing=int(failing.sum()),
        rate=float(violated[drawn].mean()) if drawn.any() else None,
        interval=interval(drawn),
        scenes=_different(scene[judged], table, "scene"),
        scenes_violated=_different(scene[violated], table, "scene"),
        scenes_failing=_different(scene[failing], table, "scene"),
        relations=sorted(lines, key=lambda line: (-line.counts.violated, line.name)),
        kinds=_listing(table, "kind", rows[violated]),
        reasons=_listing(table, "reason", rows[~judged]),
        marks=_listing(table, "mark", rows),
        groups=_groups(table, rows[violated]),
        margins=_margins(table, rows[judged]),
        known=_listing(table, "known", rows[violated]),
        severities=_severities(table, rows[judged]),
    )


def _clusters(scenes: Sequence[str]) -> Array:
    """The number of its cluster, by number of scene."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(cluster_of(scene), len(numbers)) for scene in scenes], np.int64)


def account_of(runs: Sequence[LibraryRun]) -> dict[str, Any]:
    """What the report says of whole runs besides their cases, whatever the filters.

    `distinct` is None while failures are being grouped.
    """
    judged_in: list[int] = []
    accused_in: list[int] = []
    for run in runs:
        if run.columns is None:
            continue
        rows = run.columns.rows
        is_unstable = _is_unstable(run.columns.words["kind"])[rows["kind"]]
        # A null change whose findings were struck out was judged, and not accused.
        judged = rows["is_null"] & ((rows["status"] <= HELD) | is_unstable)
        cluster = _clusters(run.columns.words["scene"])[rows["scene"]]
        scenes = np.bincount(cluster[judged])
        accused = cluster[judged & (rows["status"] == VIOLATED)]
        judged_in += scenes.tolist()
        accused_in += np.bincount(accused, minlength=len(scenes)).tolist()
    alarms = None
    if sum(judged_in):
        alarms = FalseAlarms(sum(judged_in), sum(accused_in), clustered_rate(accused_in, judged_in))
    distinct = [run.groups.distinct for run in runs if run.columns is not None]
    known = [number for number in distinct if number is not None]
    totals = [run.totals for run in runs if run.totals is not None]
    return {
        "distinct": sum(known) if known and len(known) == len(distinct) else None,
        "called_none": sum(run.groups.none for run in runs if run.columns is not None),
        "accused": None if alarms is None else alarms.violated,
        "false_alarms": alarm_words(alarms),
        **{name: sum(getattr(one, name) for one in totals) for name in ("queries", "asked", "seconds")},
    }


def yields_of(runs: Sequence[LibraryRun]) -> set[str]:
    """The relations whose search looks for failures."""
    return {name for run in runs if run.totals is not None for name in run.totals.yields}


def _is_unstable(kinds: Sequence[str]) -> Array:
    """For each code of a kind, and for one that is missing."""
    return np.array([kind == "unstable" for kind in kinds] + [False], bool)


def _counts(by_status: Sequence[int], unstable: int) -> Counts:
    return Counts(**dict(zip(STATUSES, by_status)), unstable=unstable)


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
            worst = int(ours[np.argmin(table.plain[ours])])
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


def _severities(table: CaseTable, judged: Array) -> list[tuple[str, tuple[Array, Array]]]:
    """The levels of the six relations with the most failures that have any."""
    rows = judged[np.isfinite(table.level[judged])]
    codes, levels, failing = table.codes["relation"][rows], table.level[rows], table.failing[rows]
    counts = np.bincount(codes[failing], minlength=1)
    most = np.argsort(-counts, kind="stable")[:6].tolist()
    parts = [(code, codes == code) for code in most if counts[code]]
    return [
        (table.words["relation"][code], (levels[of & ~failing], levels[of & failing])) for code, of in parts
    ]
