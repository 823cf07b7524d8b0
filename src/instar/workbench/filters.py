"""What is looked at: filters, order and page, all of it in the address; and what a table has of it."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput
from instar.workbench.table import FACETS, SORTS, CaseTable

PER_PAGE = 36
MOST_VALUES, LONGEST_VALUE = 50, 1_000
LONGEST_NAME = 300  # characters that stand in an address as they are
MOST_CHOICES = 12  # of a facet that are listed; the others are reached by typing

Array = npt.NDArray[Any]


def value_of(name: str) -> str:
    """A name as it stands in an address: itself, or its beginning and a hash where it is very long."""
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[:60]}…{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class CaseFilter:
    """The state of a page. Each facet lists the names that are wanted; none means any."""

    chosen: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    least: float | None = None
    most: float | None = None
    natural: float | None = None
    text: str = ""
    sort: str = "worst"
    page: int = 1

    def pairs(self) -> Iterator[tuple[str, str]]:
        for facet in FACETS:
            for value in self.chosen.get(facet, ()):
                yield facet, value
        for name, number in (("least", self.least), ("most", self.most), ("natural", self.natural)):
            if number is not None:
                yield name, f"{number:g}"
        if self.text:
            yield "text", self.text
        if self.sort != "worst":
            yield "sort", self.sort
        if self.page != 1:
            yield "page", str(self.page)

    @property
    def query(self) -> str:
        """The state as the part of an address behind the `?`."""
        return urlencode(list(self.pairs()))

    def on_page(self, page: int) -> CaseFilter:
        return dataclasses.replace(self, page=page)

    def with_only(self, facet: str, *names: str) -> CaseFilter:
        values = tuple(value_of(name) for name in names)
        return dataclasses.replace(self, chosen={**self.chosen, facet: values}, page=1)

    def toggled(self, facet: str, name: str) -> CaseFilter:
        value = value_of(name)
        values = self.chosen.get(facet, ())
        rest = tuple(v for v in values if v != value)
        return self.with_only(facet, *(rest if value in values else (*values, value)))

    def without(self, name: str) -> CaseFilter:
        """The same without what is asked of a facet, the margin, the naturalness or the text."""
        if name in FACETS:
            return self.with_only(name)
        gone: dict[str, Any] = {"margin": {"least": None, "most": None}, "natural": {"natural": None}}
        return dataclasses.replace(self, **gone.get(name, {"text": ""}), page=1)


@dataclass(frozen=True, slots=True)
class Choice:
    """A name of a facet, how many cases have it beside the other filters, and whether it is chosen."""

    name: str
    count: int
    is_chosen: bool


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """What a view shows of a table: all rows that fit, in order, and the choices of each facet."""

    rows: Array
    choices: Mapping[str, Sequence[Choice]]
    hidden: Mapping[str, int]
    """How many more names each facet has than are listed."""

    @property
    def pages(self) -> int:
        return max(1, math.ceil(len(self.rows) / PER_PAGE))

    def on(self, page: int) -> list[int]:
        return [int(row) for row in self.rows[(page - 1) * PER_PAGE : page * PER_PAGE]]

    def beside(self, row: int) -> tuple[int | None, int | None, int | None]:
        """The place of a row, the row before it and the one behind it; None where there is none."""
        at = np.flatnonzero(self.rows == row)
        if not len(at):
            return None, None, (int(self.rows[0]) if len(self.rows) else None)
        place = int(at[0])
        before = int(self.rows[place - 1]) if place else None
        after = int(self.rows[place + 1]) if place + 1 < len(self.rows) else None
        return place, before, after


def read_filter(pairs: Sequence[tuple[str, str]]) -> CaseFilter:
    """The state that an address holds. Names that nothing has are kept: they find nothing."""
    chosen: dict[str, tuple[str, ...]] = {}
    single: dict[str, str] = {}
    for name, value in pairs:
        if len(value) > LONGEST_VALUE:
            raise BadInput(f"{name} has {len(value):,} characters; that is too many")
        if name in FACETS:
            chosen[name] = tuple(dict.fromkeys((*chosen.get(name, ()), value)))
            if len(chosen[name]) > MOST_VALUES:
                raise BadInput(f"{name} is given more than {MOST_VALUES} times")
        else:
            single[name] = value
    sort = single.get("sort") or "worst"
    if sort not in SORTS:
        raise BadInput(f"sort is {sort!r}; it must be one of {', '.join(SORTS)}")
    page = _number(single, "page")
    page = 1 if page is None else page
    if page != int(page) or not 1 <= page <= 1_000_000_000:
        raise BadInput(f"page is {single['page']!r}; it must be a whole number from 1 on")
    numbers = {name: _number(single, name) for name in ("least", "most", "natural")}
    return CaseFilter(chosen, **numbers, text=single.get("text", "").strip(), sort=sort, page=int(page))


def select_cases(table: CaseTable, view: CaseFilter, *, facets: Sequence[str] = FACETS) -> Selection:
    """The rows that fit the view, and how many would fit with each choice of each of these facets."""
    masks = _masks(table, view)
    order = table.order(view.sort)
    rows = order[np.logical_and.reduce(list(masks.values()))[order]] if masks else order
    choices, hidden = {}, {}
    for facet in facets:
        others = [mask for name, mask in masks.items() if name != facet]
        codes = table.codes[facet][np.logical_and.reduce(others)] if others else table.codes[facet]
        counts = np.bincount(codes, minlength=len(table.words[facet]))
        choices[facet], hidden[facet] = _choices(facet, table.words[facet], counts, view)
    return Selection(rows, choices, hidden)


def matching(table: CaseTable, view: CaseFilter) -> Array:
    """The rows that fit the view, in no order that means anything: for counting."""
    masks = _masks(table, view)
    return np.flatnonzero(np.logical_and.reduce(list(masks.values()))) if masks else np.arange(len(table))


def _choices(facet: str, words: Sequence[str], counts: Array, view: CaseFilter) -> tuple[list[Choice], int]:
    """The most frequent names, and those chosen; statuses and marks keep their own order."""
    wanted = {name: _code(words, name) for name in sorted(view.chosen.get(facet, ()))}
    there = np.flatnonzero(counts)
    if facet in ("status", "mark"):
        listed = list(range(len(words)))
    else:
        # Few of many are wanted: a scene column may have a hundred thousand names.
        most = there[np.argsort(-counts[there], kind="stable")[:MOST_CHOICES]].tolist()
        listed = sorted(most, key=lambda code: (-counts[code], words[code]))
    listed += [code for code in wanted.values() if code is not None and code not in listed]
    choices = [
        Choice(words[code], int(counts[code]), words[code] in wanted) for code in listed if words[code]
    ]
    unknown = [Choice(name, 0, True) for name, code in wanted.items() if code is None]
    return [*choices, *unknown], max(0, len(there) - len(listed))


def _code(words: Sequence[str], value: str) -> int | None:
    if value in words:
        return words.index(value)
    return next(
        (i for i, word in enumerate(words) if len(word) > LONGEST_NAME and value_of(word) == value), None
    )


def _fits(table: CaseTable, facet: str, names: Sequence[str]) -> Array:
    words = table.words[facet]
    codes = [code for code in (_code(words, name) for name in names) if code is not None]
    if len(codes) == 1:
        return np.asarray(table.codes[facet] == codes[0])
    wanted = np.zeros(len(words) + 1, bool)
    wanted[codes] = True
    return np.asarray(wanted[table.codes[facet]])


def _masks(table: CaseTable, view: CaseFilter) -> dict[str, Array]:
    """Which rows fit, by each filter in use. What is not known does not fit."""
    masks = {facet: _fits(table, facet, names) for facet, names in view.chosen.items() if names}
    if view.least is not None:
        masks["least"] = table.margin >= view.least
    if view.most is not None:
        masks["most"] = table.margin <= view.most
    if view.natural is not None:
        masks["natural"] = table.naturalness >= np.float32(view.natural)
    if view.text:
        masks["text"] = _with_text(table, view.text)
    return masks


def _with_text(table: CaseTable, text: str) -> Array:
    """Cases whose scene has the text in its name, or whose id begins with it."""
    low = text.lower()
    named = np.array([low in word.lower() for word in table.words["scene"]] + [False])
    fits = np.asarray(named[table.codes["scene"]])
    for begin, end in table.beginning_with(low):
        fits[begin:end] = True
    return fits


def _number(single: Mapping[str, str], name: str) -> float | None:
    text = single.get(name, "").strip()
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise BadInput(f"{name} is {text!r}; it must be a number")
    return number
