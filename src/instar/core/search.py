"""Searches: which changes to try.

A search is a generator over one source that yields a batch of changes and is sent back their
verdicts, in that order. One that learns across scenes is marked with `across_scenes`; it gets all
relations on all sources at once, as `Arm`s, and yields rounds of (arm, change). A change that costs work,
such as a cut-out, may be given as a function that draws it: it is called where pictures are worked on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from instar.core.change import Change, plain
from instar.core.errors import BadInput
from instar.core.options import require_whole_number
from instar.core.recipe import recorded
from instar.core.relation import Drawn, Range, Relation
from instar.core.scene import Observation
from instar.core.verdict import Status, Verdict

Search: TypeAlias = Callable[
    [Relation, Observation, np.random.Generator], Generator[Sequence[Drawn], Sequence[Verdict], None]
]


class Arm(NamedTuple):
    """What a search across scenes can try: a relation on a source."""

    relation: Relation
    source: Observation


SearchAcross: TypeAlias = Callable[
    [Sequence[Arm], np.random.Generator],
    Generator[Sequence[tuple[Arm, "Drawn | Callable[[], Drawn]"]], Sequence[Verdict], None],
]
AnySearch = TypeVar("AnySearch", bound=Callable[..., Any])


def across_scenes(search: AnySearch) -> AnySearch:
    """Mark a search that wants all relations on all sources at once."""
    search.across_scenes = True  # type: ignore[attr-defined]  # functions carry attributes
    return search


def is_across_scenes(search: Callable[..., Any]) -> bool:
    return bool(getattr(search, "across_scenes", False))


def representative(search: AnySearch) -> AnySearch:
    """Mark a search whose changes stand for all that could be drawn: it does not look for failures, so a rate
    follows from what it finds. All others have a yield.
    """
    search.representative = True  # type: ignore[attr-defined]  # functions carry attributes
    return search


def is_representative(search: Callable[..., Any]) -> bool:
    return bool(getattr(search, "representative", False))


def fitting(require: Callable[[Relation], object], search: AnySearch) -> AnySearch:
    """Mark a search with what it needs of a relation: `require` raises BadInput where that is missing.

    A campaign asks before its first question, so that a search that cannot be done costs nothing.
    """
    search.require = require  # type: ignore[attr-defined]  # functions carry attributes
    return search


def require_fit(search: Callable[..., Any], relation: Relation) -> None:
    """Raise BadInput when the search cannot be done with the relation."""
    getattr(search, "require", lambda relation: None)(relation)


@recorded
def draws(n: int = 10) -> Search:
    """The plain search: `n` changes, independently drawn."""
    require_whole_number("draws", "n", n, least=1)

    @representative
    def search(
        relation: Relation, source: Observation, rng: np.random.Generator
    ) -> Generator[Sequence[Drawn], Sequence[Verdict], None]:
        yield [relation.drawn(source, rng) for _ in range(n)]

    return search


@recorded
def sweep(levels: Sequence[float] | None = None) -> Search:
    """Every severity in `levels`, by default five across the range that the relation states."""
    if levels is not None:
        numbers = isinstance(levels, Iterable) and all(map(_is_number, levels))
        _require(numbers, f"sweep: levels is {levels!r}; give a list of numbers")
        _require(len(levels) > 0, "sweep: levels is empty; give at least one number")

    def search(
        relation: Relation, source: Observation, rng: np.random.Generator
    ) -> Generator[Sequence[Drawn], Sequence[Verdict], None]:
        severity = _severity(relation)
        steps = np.linspace(severity.low, severity.high, 5).tolist() if levels is None else levels
        yield [severity.change(source, float(level)) for level in steps]

    return fitting(_severity, search)


@recorded
def bisect(holds: float | None = None, breaks: float | None = None, *, within: float | None = None) -> Search:
    """The severity at which the relation first breaks, between one that should hold and one that may not.

    They are the ends of the range that the relation states, and `within` a hundredth of it, where nothing
    else is said. Ends at once when `breaks` holds after all, or `holds` does not.
    """
    for name, value in (("holds", holds), ("breaks", breaks), ("within", within)):
        _require(value is None or _is_number(value), f"bisect: {name} is {value!r}; it must be a number")
    _require(within is None or within > 0, f"bisect: within is {within}; it must be above 0")

    def search(
        relation: Relation, source: Observation, rng: np.random.Generator
    ) -> Generator[Sequence[Drawn], Sequence[Verdict], None]:
        severity = _severity(relation)
        good = float(severity.low if holds is None else holds)
        bad = float(severity.high if breaks is None else breaks)
        near = abs(bad - good) / 100 if within is None else within
        ends = yield [severity.change(source, good), severity.change(source, bad)]
        if ends[0].status is not Status.HELD or ends[1].status is not Status.VIOLATED:
            return
        while abs(bad - good) > near:
            middle = (good + bad) / 2
            (verdict,) = yield [severity.change(source, middle)]
            if verdict.status is Status.VIOLATED:
                bad = middle
            elif verdict.status is Status.HELD:
                good = middle
            else:
                return

    return fitting(_severity, search)


def shrink(change: Change, *, at_once: int = 8) -> Search:
    """From a failing change to the smallest that still fails.

    `relation.lesser` gives single changes and lines, which are changes along one quantity, the simplest
    first. Single changes are asked `at_once` at a time, and the search goes on from the first that fails. Of
    a line the last change, which is nearest to the one at hand, is asked first. If it fails the line is
    bisected, and the search goes on from its simplest failing change, with the lines behind this one. It ends
    when nothing simpler fails. The result is the first violated case of the last batch that has one, or
    `change` itself. Nothing is asked twice.
    """

    def search(
        relation: Relation, source: Observation, rng: np.random.Generator
    ) -> Generator[Sequence[Drawn], Sequence[Verdict], None]:
        if relation.smaller is None and relation.severity is None:
            raise BadInput(
                f"relation {relation.name!r} cannot shrink: it has neither smaller() nor a severity"
            )
        fails = {change: True}
        best: Change | None = change
        turn = 0
        while best is not None:
            parts = _batches_and_lines(relation.lesser(source, best), at_once)
            best = None
            for number in [*range(turn, len(parts)), *range(min(turn, len(parts)))]:
                one, is_batch = parts[number], isinstance(parts[number], list)
                best = yield from (_first_of if is_batch else _least_of)(one, fails)
                if best is not None:
                    turn = number if is_batch else number + 1
                    break

    return search


_Found: TypeAlias = Generator[Sequence[Drawn], Sequence[Verdict], "Change | None"]
"""Asks, and ends with a change that still fails, if there is one."""


def _batches_and_lines(
    smaller: Iterable[Change | Sequence[Change]], at_once: int
) -> list[list[Change] | tuple[Change, ...]]:
    """Single changes that follow each other in lists of so many; lines as tuples."""
    parts: list[list[Change] | tuple[Change, ...]] = []
    for one in smaller:
        if not isinstance(one, Change):
            parts.append(tuple(one))
        elif parts and isinstance(parts[-1], list) and len(parts[-1]) < at_once:
            parts[-1].append(one)
        else:
            parts.append([one])
    return parts


def _asked(changes: Iterable[Change], fails: dict[Change, bool]) -> Generator[Any, Sequence[Verdict], None]:
    """Ask only the changes whose verdicts are not known yet."""
    unknown = [change for change in dict.fromkeys(changes) if change not in fails]
    if unknown:
        verdicts = yield unknown
        fails |= {one: verdict.status is Status.VIOLATED for one, verdict in zip(unknown, verdicts)}


def _first_of(batch: Sequence[Change], fails: dict[Change, bool]) -> _Found:
    yield from _asked(batch, fails)
    return next((change for change in batch if fails[change]), None)


def _least_of(line: Sequence[Change], fails: dict[Change, bool]) -> _Found:
    """The first failing change of a line, found by bisection: all changes after it are taken to fail too."""
    if not line:
        return None
    yield from _asked(line[-1:], fails)
    if not fails[line[-1]]:
        return None
    holds, breaks = -1, len(line) - 1
    while breaks - holds > 1:
        middle = (holds + breaks) // 2
        yield from _asked([line[middle]], fails)
        holds, breaks = (holds, middle) if fails[line[middle]] else (middle, breaks)
    return line[breaks]


def stored_changes(changes: Mapping[str, Sequence[Change]], *, were_drawn: bool) -> Search:
    """The changes of another system's run, by source, to be asked of this system.

    One that is not fair with what this system answers to the source is inapplicable. `were_drawn` says that
    they were not chosen for failing there.
    """

    def search(
        relation: Relation, source: Observation, rng: np.random.Generator
    ) -> Generator[Sequence[Drawn], Sequence[Verdict], None]:
        ours = changes.get(source.id, ())
        if ours:
            fair = relation.fair or (lambda source, change: None)
            yield [fair(source, plain(change)) or change for change in ours]

    return representative(search) if were_drawn else search


def _severity(relation: Relation) -> Range:
    if relation.severity is None:
        raise BadInput(f"relation {relation.name!r} has no severity: it cannot be swept or bisected")
    return relation.severity


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise BadInput(message)
