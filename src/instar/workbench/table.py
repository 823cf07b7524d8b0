"""The cases of all runs that are looked at, in one table; a page is a filter, an order and a slice of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.store.marks import MARKS
from instar.workbench.columns import NAMED, ROW, STATUSES, Columns, merge_words

UNMARKED, NO_GROUP = "unmarked", "no group"
FACETS = ("status", "known", "relation", "kind", "group", "mark", "system", "run", "scene", "reason")
SORTS = {
    "worst": "plainest first",
    "clearest": "plainest last",
    "natural": "most natural first",
    "unnatural": "least natural first",
    "scene": "scene",
    "relation": "relation",
}

VIOLATED = STATUSES.index("violated")
FAILING = ("real", "not verified")
"""What is known of a finding that counts as a failure."""

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Groups:
    """Violated cases by cause: the title of each group, and for each case the number of its group.

    `distinct` counts different failures as the report does, None before they are counted; `none` those that
    were called no failure.
    """

    titles: tuple[str, ...] = ()
    of: Mapping[str, int] = field(default_factory=dict)
    distinct: int | None = None
    none: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One run as it goes into the table."""

    run: str
    system: str
    task: str
    columns: Columns
    groups: Groups
    marks: Mapping[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class CaseTable:
    """Columns over all runs, null changes left out. `words` says what the codes of each facet stand for.

    Only `codes["mark"]` ever changes, when somebody marks a case.
    """

    case: Array
    codes: Mapping[str, Array]
    words: Mapping[str, Sequence[str]]
    margin: Array
    plain: Array
    naturalness: Array
    level: Array
    tasks: Array
    """The number of each row's task: margins of two tasks have different units."""
    _starts: Mapping[str, tuple[int, int]]
    _orders: dict[str, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.case)

    def row(self, run: str, case: str) -> int | None:
        """Where a case stands; each run's cases are in order."""
        start, end = self._starts.get(run, (0, 0))
        wanted = np.array(case.encode("utf-8", "replace"), self.case.dtype)
        at = start + int(np.searchsorted(self.case[start:end], wanted))
        return at if at < end and self.case[at] == wanted and wanted.item().decode() == case else None

    def beginning_with(self, text: str) -> Iterator[tuple[int, int]]:
        """The stretches of rows whose case id begins so."""
        first = text.encode("ascii", "replace")
        for start, end in self._starts.values():
            ids = self.case[start:end]
            begin, behind = np.searchsorted(ids, [first, first + b"\xff"])
            yield start + int(begin), start + int(behind)

    def name(self, facet: str, row: int) -> str:
        return self.words[facet][int(self.codes[facet][row])]

    def case_id(self, row: int) -> str:
        return bytes(self.case[row]).decode()

    def mark(self, run: str, case: str, mark: str) -> None:
        row = self.row(run, case)
        if row is not None:
            self.codes["mark"][row] = self.words["mark"].index(mark or UNMARKED)

    def order(self, sort: str) -> Array:
        """All rows in that order; made once."""
        if sort not in self._orders:
            self._orders[sort] = self._ordered(sort)
        return self._orders[sort]

    def _ordered(self, sort: str) -> Array:
        if sort in ("scene", "relation"):
            words = self.words[sort]
            rank = np.empty(len(words), np.int32)
            rank[np.array(sorted(range(len(words)), key=words.__getitem__), int)] = np.arange(len(words))
            return np.argsort(rank[self.codes[sort]], kind="stable").astype(np.int32)
        if sort in ("clearest", "unnatural"):
            # The other way round, but what is not known comes last either way.
            column, order = (self.margin, "worst") if sort == "clearest" else (self.naturalness, "natural")
            known = len(column) - int(np.isnan(column).sum())
            forth = self.order(order)
            return np.concatenate([forth[:known][::-1], forth[known:]])
        if sort == "natural":
            return np.argsort(-self.naturalness, kind="stable").astype(np.int32)
        tier = np.where(np.isnan(self.margin), 3, np.where(self.failing, 0, 2))
        tier[(tier == 2) & (self.codes["status"] == VIOLATED)] = 1
        place = np.zeros(len(self), np.int32)
        for task in np.unique(self.tasks):  # the first of every task, then the second of every one
            ours = np.flatnonzero(self.tasks == task)
            place[ours[np.lexsort((self.plain[ours], tier[ours]))]] = np.arange(len(ours))
        return np.lexsort((place, tier)).astype(np.int32)

    @property
    def failing(self) -> Array:
        """Which cases have a failure, as far as is known."""
        wanted = [word in FAILING for word in self.words["known"]]
        fits: Array = np.array([*wanted, False], bool)[self.codes["known"]]
        return np.asarray(fits & (self.codes["status"] == VIOLATED))

    def failing_by_run(self) -> dict[str, int]:
        """How many cases of each run have a failure."""
        counts = np.bincount(self.codes["run"][self.failing], minlength=len(self.words["run"]))
        return dict(zip(self.words["run"], counts.tolist()))


def make_case_table(parts: Sequence[Part]) -> CaseTable:
    """One table of several runs; names that are the same in two runs are one."""
    words: dict[str, Sequence[str]] = dict.fromkeys(FACETS, ())
    words |= {"status": STATUSES, "mark": (UNMARKED, *MARKS), "group": (NO_GROUP,)}
    kinds: dict[str, Any] = {name: ROW[name] for name in ("case", "margin", "plain", "naturalness", "level")}
    kinds |= dict.fromkeys((*FACETS, "task"), np.int32)
    columns: dict[str, list[Array]] = {name: [np.zeros(0, kind)] for name, kind in kinds.items()}
    tasks: dict[str, int] = {}
    starts, at = {}, 0
    for part in parts:
        rows = part.columns.rows[~part.columns.rows["is_null"]]
        starts[part.run] = (at, at + len(rows))
        at += len(rows)
        for name in ("case", "status", "margin", "plain", "naturalness", "level"):
            columns[name].append(rows[name])
        columns["task"].append(np.full(len(rows), tasks.setdefault(part.task, len(tasks)), np.int32))
        for facet in NAMED:
            words[facet], codes = merge_words(words[facet], part.columns.words[facet])
            columns[facet].append(codes[rows[facet]])
        for facet, word in (("run", part.run), ("system", part.system)):
            words[facet], (code,) = merge_words(words[facet], [word])
            columns[facet].append(np.full(len(rows), code, np.int32))
        words["group"], titles = merge_words(words["group"], part.groups.titles)
        columns["group"].append(_placed(rows["case"], {c: titles[n] for c, n in part.groups.of.items()}))
        marks = {case: words["mark"].index(mark) for case, mark in part.marks.items()}
        columns["mark"].append(_placed(rows["case"], marks))
    whole = {name: np.concatenate(some, dtype=kinds[name]) for name, some in columns.items()}
    codes_of = {facet: whole[facet] for facet in FACETS}
    margin, plain, naturalness = (whole[name] for name in ("margin", "plain", "naturalness"))
    level, task = whole["level"], whole["task"]
    return CaseTable(whole["case"], codes_of, words, margin, plain, naturalness, level, task, starts)


def _placed(ids: Array, values: Mapping[str, int]) -> Array:
    """The value of each case in its row, else 0; cases that are not there are passed over."""
    column = np.zeros(len(ids), np.int32)
    if len(ids) and values:
        wanted = np.array([case.encode() for case in values], dtype="S")
        at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
        there = ids[at] == wanted
        column[at[there]] = np.array(list(values.values()), np.int32)[there]
    return column
