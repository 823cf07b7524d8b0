"""Few cases of a run that tell most: what is asked of every new version of a system.

Half of the questions go to cases that show failures, so that each different one is shown at least once; they
tell what is fixed, and that a known failure is still the known one. The other half goes to cases that held,
the narrowest of every relation on every scene first, since only what held can break.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from instar.core.record import Record
from instar.core.verdict import Status
from instar.report.by_scene import FailureKey, Failures, failures_of
from instar.report.words import counted, percent

SURE = 0.95


@dataclass(frozen=True, slots=True)
class GateChoice:
    """The chosen cases, what they cost, and what of the run they keep."""

    cases: tuple[str, ...]
    queries: int
    failures: Failures
    of_failures: int
    held: int
    of_held: int
    scenes: int
    of_scenes: int
    relations: int
    of_relations: int

    @property
    def smallest_share(self) -> float | None:
        """The share of what held that a fault must break, anywhere, to be caught 95 times in 100."""
        return 1 - (1 - SURE) ** (1 / self.held) if self.held else None


@dataclass(slots=True, eq=False)
class _Purse:
    """What the chosen cases cost: each its own questions, and each new source those that it needs."""

    budget: float
    per_source: float
    spent: float = 0.0
    sources: set[str] = field(default_factory=set)
    chosen: dict[str, Record] = field(default_factory=dict)

    def cost(self, record: Record) -> float:
        return max(1, record.queries) + self.per_source * (record.source not in self.sources)

    def buy(self, record: Record, share: float = 1.0) -> bool:
        """Take the case if so much of the budget pays for it."""
        if record.case in self.chosen or self.spent + self.cost(record) > share * self.budget:
            return False
        self.spent += self.cost(record)
        self.sources.add(record.source)
        self.chosen[record.case] = record
        return True


def choose_gate_cases(records: Iterable[Record], *, budget: int, queries: int) -> GateChoice:
    """Choose for at most `budget` questions; `queries` are those of the whole run."""
    judged, spent, sources = [], 0, set()
    for record in records:
        if record.role == "case":
            spent += record.queries
            sources.add(record.source)
            if record.verdict.status in (Status.HELD, Status.VIOLATED):
                judged.append(record)
    failing = [record for record in judged if record.verdict.failures]
    held = [record for record in judged if record.verdict.status is Status.HELD]
    purse = _Purse(budget, max(0.0, (queries - spent) / max(1, len(sources))))
    _cover(failing, purse, share=0.5 if held else 1.0)
    for record in _in_turns(held):
        purse.buy(record)
    _cover(failing, purse, share=1.0)
    chosen = list(purse.chosen.values())
    shown = {key: thing for record in chosen for key, thing in failures_of(record).items()}
    return GateChoice(
        cases=tuple(sorted(purse.chosen)),
        queries=round(purse.spent),
        failures=shown,
        of_failures=len({key for record in failing for key in failures_of(record)}),
        held=sum(record.verdict.status is Status.HELD for record in chosen),
        of_held=len(held),
        scenes=len({record.scene for record in chosen}),
        of_scenes=len({record.scene for record in judged}),
        relations=len({record.relation for record in chosen}),
        of_relations=len({record.relation for record in judged}),
    )


def _cover(failing: Sequence[Record], purse: _Purse, *, share: float) -> None:
    """The case that shows most failures not shown yet for its questions, again and again."""
    shown: set[FailureKey] = {key for one in purse.chosen.values() for key in failures_of(one)}
    left = {one.case: (one, failures_of(one).keys() - shown) for one in failing}
    while left:
        worth = {case: len(keys) / purse.cost(one) for case, (one, keys) in left.items()}
        best = max(worth, key=lambda case: (worth[case], case))
        record, keys = left.pop(best)
        if not keys:
            break
        if purse.buy(record, share):
            left = {case: (one, ours - keys) for case, (one, ours) in left.items()}


def _in_turns(held: Sequence[Record]) -> Iterator[Record]:
    """Relations and scenes in turns, the narrowest case of each first."""
    places: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in sorted(held, key=lambda one: (one.verdict.margin, one.case), reverse=True):
        places[record.relation, record.source].append(record)
    # A relation's scenes one after the other would spend the budget on the first relation.
    rank: dict[str, int] = defaultdict(int)
    order = {}
    for relation, source in sorted(places, key=lambda place: (place[1], place[0])):
        order[relation, source] = rank[relation]
        rank[relation] += 1
    while places:
        for place in sorted(places, key=lambda place: (order[place], place)):
            yield places[place].pop()
        places = {place: cases for place, cases in places.items() if cases}


def choice_words(choice: GateChoice) -> str:
    """What was chosen, and how much it keeps."""
    lines = [
        f"{counted(len(choice.cases), 'case')} for about {counted(choice.queries, 'question')}",
        f"shows {len(choice.failures):,} of {counted(choice.of_failures, 'failure')} of the run "
        "(relation and object)",
        f"asks {choice.held:,} of {counted(choice.of_held, 'case')} that held",
        f"in {choice.scenes:,} of {counted(choice.of_scenes, 'scene')}, by {choice.relations:,} of "
        f"{counted(choice.of_relations, 'relation')}",
    ]
    if choice.smallest_share is not None:
        share = percent(choice.smallest_share)
        lines.append(f"catches a fault that breaks {share} of what held, wherever, 95 times in 100")
    return "\n".join(lines)
