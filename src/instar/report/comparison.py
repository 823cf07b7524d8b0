"""Two runs held against each other: what is newly broken, what is fixed, and whether that is chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from instar.core.record import Record
from instar.core.verdict import Status
from instar.report.by_scene import FailureKey, keys_of, list_keys
from instar.report.text import table
from instar.report.words import counted, percent, readable
from instar.stats.paired import mcnemar

__all__ = ["Comparison", "Side", "compare_runs", "comparison_json", "render_compared"]


@dataclass(slots=True, eq=False)
class Side:
    """One of the two runs, as far as comparing needs it: judged cases by relation, source and change."""

    system: str
    cases: dict[tuple[str, str, str], tuple[Status, frozenset[FailureKey]]] = field(default_factory=dict)

    @classmethod
    def of(cls, system: str, records: Iterable[tuple[Record, str]]) -> Side:
        """From judged records, each with its change as the run file writes it."""
        side = cls(system)
        for record, recipe in records:
            found = frozenset(keys_of(record)) if record.verdict.status is Status.VIOLATED else frozenset()
            side.cases[record.relation, record.source, recipe] = (record.verdict.status, found)
        return side


@dataclass(frozen=True, slots=True)
class Comparison:
    """`pairs` are cases with the same change in both runs; `broken` and `fixed` those of them that differ.

    `keys_broken` and `keys_fixed` are different failures, by relation, scene, object and kind, among what
    both runs have judged. With pairs they are those of pairs, without any those of all cases.
    """

    first: str
    second: str
    pairs: int
    both_held: int
    both_violated: int
    broken: int
    fixed: int
    p: float | None
    keys_broken: tuple[FailureKey, ...]
    keys_fixed: tuple[FailureKey, ...]
    places: int


def compare_runs(first: Side, second: Side) -> Comparison:
    """What changed from the first run to the second."""
    shared = first.cases.keys() & second.cases.keys()
    outcomes = [(first.cases[case][0], second.cases[case][0]) for case in shared]
    broken = outcomes.count((Status.HELD, Status.VIOLATED))
    fixed = outcomes.count((Status.VIOLATED, Status.HELD))
    judged = [{(relation, source) for relation, source, _ in side.cases} for side in (first, second)]
    places = judged[0] & judged[1]
    cases = (shared, shared) if shared else (first.cases.keys(), second.cases.keys())
    before, after = (
        {key for case in ours for key in side.cases[case][1] if (key.relation, key.scene) in places}
        for side, ours in zip((first, second), cases)
    )
    return Comparison(
        first=first.system,
        second=second.system,
        pairs=len(shared),
        both_held=outcomes.count((Status.HELD, Status.HELD)),
        both_violated=outcomes.count((Status.VIOLATED, Status.VIOLATED)),
        broken=broken,
        fixed=fixed,
        p=mcnemar(broken, fixed) if shared else None,
        keys_broken=tuple(sorted(after - before)),
        keys_fixed=tuple(sorted(before - after)),
        places=len(places),
    )


def comparison_json(comparison: Comparison) -> dict[str, object]:
    plain = ("first", "second", "pairs", "both_held", "both_violated", "broken", "fixed", "p")
    return {
        **{name: getattr(comparison, name) for name in plain},
        "scenes": comparison.places,
        "newly_broken": [key._asdict() for key in comparison.keys_broken],
        "newly_fixed": [key._asdict() for key in comparison.keys_fixed],
    }


def render_compared(comparison: Comparison) -> str:
    """The comparison as text."""
    return "\n".join(_lines(comparison)) + "\n"


def _lines(comparison: Comparison) -> Iterator[str]:
    first, second = readable(comparison.first, 60), readable(comparison.second, 60)
    yield f"{first} and then {second}"
    yield ""
    if comparison.p is None:
        yield "No change was asked of both, so failures are matched by relation, scene, object and kind, and"
        yield "no test can be made; instar run --changes RUN_A --system B asks B the same changes."
    else:
        rate = [comparison.both_violated + n for n in (comparison.fixed, comparison.broken)]
        yield f"{counted(comparison.pairs, 'pair')} of cases with the same change"
        yield table(
            [
                ["", f"{second} held", "violated"],
                [f"{first} held", f"{comparison.both_held:,}", f"{comparison.broken:,}"],
                ["violated", f"{comparison.fixed:,}", f"{comparison.both_violated:,}"],
            ],
            right=[1, 2],
        )
        yield f"rate {percent(rate[0] / comparison.pairs)} before, {percent(rate[1] / comparison.pairs)} now"
        yield f"McNemar's test: p = {comparison.p:.4g}"
    for title, keys in (("newly broken", comparison.keys_broken), ("fixed", comparison.keys_fixed)):
        yield ""
        yield f"{counted(len(keys), 'different failure')} {title}"
        yield from list_keys(keys)
