"""Runs held against each other, in a process of their own and kept until one of them changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from concurrent.futures import Executor, Future
from functools import partial
from pathlib import Path

from instar.campaigns.result import compare_folders
from instar.report.comparison import Comparison
from instar.workbench.columns import stamp_of
from instar.workbench.workers import kept_or_begun

__all__ = ["Comparisons", "tallied"]


def tallied(comparison: Comparison, field: str) -> list[tuple[str, int, int]]:
    """Newly broken and fixed failures by "relation" or "scene", where most has changed first."""
    keys = (comparison.keys_broken, comparison.keys_fixed)
    broken, fixed = (Counter(getattr(key, field) for key in some) for some in keys)
    names = sorted(broken.keys() | fixed.keys(), key=lambda name: (-broken[name] - fixed[name], name))
    return [(name, broken[name], fixed[name]) for name in names]


class Comparisons:
    """Comparisons that were asked for; each is made once for what its runs are now."""

    def __init__(self, workers: Executor) -> None:
        self._workers = workers
        self._made: dict[Hashable, Future[Comparison]] = {}

    def get(self, first: Path, second: Path) -> Future[Comparison]:
        key = (first, second, stamp_of(first), stamp_of(second))
        begin = partial(self._workers.submit, compare_folders, str(first), str(second))
        return kept_or_begun(self._made, key, begin, most=100)
