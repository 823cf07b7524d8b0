"""The cases of all runs that are looked at, in one table; a page is a filter, an order and a slice of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.workbench.columns import STATUSES, Columns
from instar.workbench.reviews import MARKS

__all__ = ["FACETS", "NO_GROUP", "SORTS", "UNMARKED", "CaseTable", "Groups", "Part", "make_case_table"]

UNMARKED, NO_GROUP = "unmarked", "no group"
FACETS = ("status", "relation", "kind", "group", "mark", "system", "run", "scene", "reason")
SORTS = {
    "worst": "margin, worst first",
    "clearest": "margin, best first",
    "natural": "most natural first",
    "unnatural": "least natural first",
    "scene": "scene",
    "relation": "relation",
}

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Groups:
    """Violated cases by cause: the title of each group, and for each case the number of its group.

    `distinct` counts different failures as the report does; None before they are counted.
    """

    titles: tuple[str, ...] = ()
    of: Mapping[str, int] = field(default_factory=dict)
    distinct: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One run as it goes into the table."""

    run: str
    system: str
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
    naturalness: Array
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
        key = self.margin if sort == "worst" else -self.naturalness
        return np.argsort(key, kind="stable").astype(np.int32)


def make_case_table(parts: Sequence[Part]) -> CaseTable:
    """One table of several runs; names that are the same in two runs are one."""
    words: dict[str, dict[str, int]] = {facet: {} for facet in FACETS}
    words["status"] = {status: code for code, status in enumerate(STATUSES)}
    words["mark"] = {mark: code for code, mark in enumerate((UNMARKED, *MARKS))}
    words["group"] = {NO_GROUP: 0}
    columns: dict[str, list[Array]] = {name: [] for name in ("case", "margin", "naturalness", *FACETS)}
    starts, at = {}, 0
    for part in parts:
        cases = np.flatnonzero(~part.columns.is_null)
        starts[part.run] = (at, at + len(cases))
        at += len(cases)
        for name, column in _codes_of(part, words, cases).items():
            columns[name].append(column)
    whole = {
        name: np.concatenate(some) if some else np.zeros(0, _kind(name)) for name, some in columns.items()
    }
    return CaseTable(
        whole["case"],
        {facet: whole[facet] for facet in FACETS},
        {facet: list(words[facet]) for facet in FACETS},
        whole["margin"],
        whole["naturalness"],
        starts,
    )


def _codes_of(part: Part, words: Mapping[str, dict[str, int]], cases: Array) -> dict[str, Array]:
    columns = part.columns

    def code(facet: str, word: str) -> int:
        return words[facet].setdefault(word, len(words[facet]))

    def recoded(facet: str) -> Array:
        codes = np.array([code(facet, word) for word in columns.words[facet]], np.int32)
        return codes[getattr(columns, facet)[cases]] if len(codes) else np.zeros(len(cases), np.int32)

    ids = columns.case[cases]
    group = np.zeros(len(cases), np.int32)
    titles = [code("group", title) for title in part.groups.titles]
    _put(group, ids, {case: titles[number] for case, number in part.groups.of.items()})
    mark = np.zeros(len(cases), np.int32)
    _put(mark, ids, {case: words["mark"][said] for case, said in part.marks.items()})
    return {
        "case": ids,
        "margin": columns.margin[cases],
        "naturalness": columns.naturalness[cases],
        "status": columns.status[cases].astype(np.int32),
        **{facet: recoded(facet) for facet in ("relation", "kind", "scene", "reason")},
        "group": group,
        "mark": mark,
        "system": np.full(len(cases), code("system", part.system), np.int32),
        "run": np.full(len(cases), code("run", part.run), np.int32),
    }


def _put(column: Array, ids: Array, values: Mapping[str, int]) -> None:
    """Write the value of each case into its row; cases that are not there are passed over."""
    if not len(ids) or not values:
        return
    wanted = np.array([case.encode() for case in values], dtype="S")
    at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    there = ids[at] == wanted
    column[at[there]] = np.array(list(values.values()), np.int32)[there]


def _kind(name: str) -> npt.DTypeLike:
    kinds: dict[str, npt.DTypeLike] = {"case": "S16", "margin": np.float64, "naturalness": np.float32}
    return kinds.get(name, np.int32)
