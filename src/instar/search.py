"""Searches: which changes to try.

A search is a generator over one source that yields a batch of changes and is sent back their
verdicts, in that order. One that learns across scenes is marked with `across_scenes`; it gets all
sources at once and yields rounds of (source, change).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, TypeAlias, TypeVar

import numpy as np

from instar.errors import BadInput
from instar.relation import Change, Inapplicable, Relation
from instar.scene import Observation
from instar.verdict import Status, Verdict

__all__ = [
    "Drawn",
    "Search",
    "SearchAcross",
    "across_scenes",
    "bisect",
    "draws",
    "fitting",
    "is_across_scenes",
    "require_fit",
    "shrink",
    "stored",
    "sweep",
]

Drawn: TypeAlias = "Change | Inapplicable"
Search: TypeAlias = Callable[
    [Relation, Observation, np.random.Generator], Generator[Sequence[Drawn], Sequence[Verdict], None]
]
SearchAcross: TypeAlias = Callable[
    [Relation, Sequence[Observation], np.random.Generator],
    Generator[Sequence[tuple[Observation, Drawn]], Sequence[Verdict], None],
]
AnySearch = TypeVar("AnySearch", bound=Callable[..., Any])


def across_scenes(search: AnySearch) -> AnySearch:
    """Mark a search that wants all sources at once."""
    search.across_scenes = True  # type: ignore[attr-defined]  # functions carry attributes
    return search


def is_across_scenes(search: Callable[..., Any]) -> bool:
    return bool(getattr(search, "across_scenes", False))


def fitting(require: Callable[[Relation], object], search: AnySearch) -> AnySearch:
    """The search, with what it requires of a relation: `require` raises BadInput where that is missing.

    A campaign asks before its first question, so that a search that cannot be done costs nothing.
    """
    search.require = require  # type: ignore[attr-defined]  # functions carry attributes
    return search


def require_fit(search: Callable[..., Any], relation: Relation) -> None:
    """Raise BadInput when the search cannot be done with the relation."""
    getattr(search, "require", lambda relation: None)(relation)


def draws(n: int = 10) -> Search:
    """The plain search: `n` changes, independently drawn."""
    _require(n >= 1, f"draws: n is {n}; it must be at least 1")

    def search(
        relation: Relation, source: Observation, rng: np.random.Generator
    ) -> Generator[Sequence[Drawn], Sequence[Verdict], None]:
        yield [relation.draw(source, rng) for _ in range(n)]

    return search


def sweep(levels: Sequence[float]) -> Search:
    """Every severity in `levels`, for a relation that has `at`."""
    numbers = isinstance(levels, Iterable) and all(map(_is_number, levels))
    _require(numbers, f"sweep: levels is {levels!r}; give a list of numbers")
    _require(len(levels) > 0, "sweep: levels is empty; give at least one number")

    def search(
        relation: Relation, source: Observation, rng: np.random.Generator
    ) -> Generator[Sequence[Drawn], Sequence[Verdict], None]:
        at = _severity(relation)
        yield [at(source, float(level)) for level in levels]

    return fitting(_severity, search)


def bisect(holds: float, breaks: float, *, within: float) -> Search:
    """The severity at which the relation first breaks, between one that should hold and one that may not.

    Ends at once when `breaks` holds after all, or `holds` does not.
    """
    for name, value in (("holds", holds), ("breaks", breaks), ("within", within)):
        _require(_is_number(value), f"bisect: {name} is {value!r}; it must be a number")
    _require(within > 0, f"bisect: within is {within}; it must be above 0")

    def search(
        relation: Relation, source: Observation, rng: np.random.Generator
    ) -> Generator[Sequence[Drawn], Sequence[Verdict], None]:
        at = _severity(relation)
        good, bad = float(holds), float(breaks)
        ends = yield [at(source, good), at(source, bad)]
        if ends[0].status is not Status.HELD or ends[1].status is not Status.VIOLATED:
            return
        while abs(bad - good) > within:
            middle = (good + bad) / 2
            (verdict,) = yield [at(source, middle)]
            if verdict.status is Status.VIOLATED:
                bad = middle
            elif verdict.status is Status.HELD:
                good = middle
            else:
                return

    return fitting(_severity, search)


def shrink(change: Change, *, at_once: int = 8) -> Search:
    """From a failing change to the smallest that still fails.

    Asks `at_once` of `relation.smaller` at a time, follows the first that is still violated, and ends when
    none is. So the result is the first violated case of the last batch that has one, or `change` itself
    where no batch has. What came before the one that was followed has just held for something larger, so
    it is tried last; nothing is tried twice.
    """

    def search(
        relation: Relation, source: Observation, rng: np.random.Generator
    ) -> Generator[Sequence[Drawn], Sequence[Verdict], None]:
        if relation.smaller is None:
            raise BadInput(f"relation {relation.name!r} cannot shrink: it has no smaller()")
        best: Change | None = change
        tried: set[Change] = {change}
        start_at = 0
        while best is not None:
            all_smaller = list(relation.smaller(source, best))
            turned = [*all_smaller[start_at:], *all_smaller[:start_at]]
            candidates = [one for one in dict.fromkeys(turned) if one not in tried]
            best = None
            for start in range(0, len(candidates), at_once):
                batch = candidates[start : start + at_once]
                tried.update(batch)
                verdicts = yield batch
                still = [c for c, v in zip(batch, verdicts) if v.status is Status.VIOLATED]
                if still:
                    best = still[0]
                    start_at = all_smaller.index(best)
                    break

    return search


def stored(changes: Mapping[str, Sequence[Change]]) -> Search:
    """Changes that are there already, by source: those of another system's run, to be asked of this one.

    One that is not fair with what this system answers to the source is inapplicable.
    """

    def search(
        relation: Relation, source: Observation, rng: np.random.Generator
    ) -> Generator[Sequence[Drawn], Sequence[Verdict], None]:
        ours = changes.get(source.id, ())
        if ours:
            fair = relation.fair or (lambda source, change: None)
            yield [fair(source, change) or change for change in ours]

    return search


def _severity(relation: Relation) -> Callable[[Observation, float], Drawn]:
    if relation.at is None:
        raise BadInput(f"relation {relation.name!r} has no severity: it cannot be swept or bisected")
    return relation.at


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise BadInput(message)
