"""Runs held against each other, in a process of their own and kept until one of them changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from instar.report.comparison import Comparison, Side, compare_runs
from instar.report.keys import FailureKey
from instar.store import RunStore
from instar.workbench.columns import stamp_of
from instar.workbench.workers import kept_or_begun

__all__ = ["ComparisonTally", "Comparisons", "compare_folders", "tallied"]


@dataclass(frozen=True, slots=True)
class ComparisonTally:
    """Different failures that are newly broken and fixed, of one relation or scene."""

    name: str
    broken: int
    fixed: int


def compare_folders(first: str, second: str) -> Comparison:
    """What changed from one run to another."""
    return compare_runs(_side(first), _side(second))


def tallied(comparison: Comparison, field: str) -> list[ComparisonTally]:
    """By "relation" or "scene", where most has changed first."""
    broken, fixed = (_count(keys, field) for keys in (comparison.keys_broken, comparison.keys_fixed))
    names = sorted(broken.keys() | fixed.keys(), key=lambda name: (-broken[name] - fixed[name], name))
    return [ComparisonTally(name, broken[name], fixed[name]) for name in names]


class Comparisons:
    """Comparisons that were asked for; each is made once for what its runs are now."""

    def __init__(self, workers: Executor) -> None:
        self._workers = workers
        self._made: dict[Hashable, Future[Comparison]] = {}

    def get(self, first: Path, second: Path) -> Future[Comparison]:
        key = (first, second, stamp_of(first), stamp_of(second))
        begin = partial(self._workers.submit, compare_folders, str(first), str(second))
        return kept_or_begun(self._made, key, begin, most=100)


def _side(folder: str) -> Side:
    with RunStore.read(folder) as store:
        totals = store.totals()
        return Side.of(folder, totals.system if totals is not None else folder, store.judged())


def _count(keys: Iterable[FailureKey], field: str) -> Counter[str]:
    return Counter(getattr(key, field) for key in keys)
