"""From the records of a run to the numbers in its report."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from instar.core.record import Record, Totals
from instar.core.verdict import Finding, Status
from instar.stats import clustered_rate, wilson

__all__ = [
    "Break",
    "Counts",
    "FalseAlarms",
    "Placebos",
    "RelationSummary",
    "Summary",
    "Violation",
    "identity_of",
    "summarise",
    "summary_to_json",
]

HEADLINE = ("real", "unknown")
RANKS = ("real", "unknown", "slipped", "other label", "was false", "now right")
"""What can be known about a finding, the plainest failure first."""
OBJECT = ("label", "score", "box")
"""What is told of a finding only where it is about an object."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many cases ended in which way."""

    held: int = 0
    violated: int = 0
    inapplicable: int = 0
    failed: int = 0

    @property
    def cases(self) -> int:
        return self.held + self.violated + self.inapplicable + self.failed

    @property
    def judged(self) -> int:
        """The cases that say something about the system."""
        return self.held + self.violated

    @property
    def rate(self) -> float | None:
        """The violated share of what was judged; None when nothing was."""
        return self.violated / self.judged if self.judged else None


@dataclass(frozen=True, slots=True)
class RelationSummary:
    """One relation's counts; `interval` is for the rate, over scenes."""

    counts: Counts
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Violation:
    """A violated case, as the report lists it."""

    case: str
    scene: str
    relation: str
    kind: str
    margin: float
    naturalness: float | None
    known: str = "unknown"
    label: str | None = None
    score: float | None = None
    box: Sequence[float] | None = None

    @property
    def headline(self) -> bool:
        """Whether it is a failure as far as is known: real, or nothing is known that could tell."""
        return self.known in HEADLINE


@dataclass(frozen=True, slots=True)
class Break:
    """The lowest level at which a relation with a severity is violated on a scene, on one side of 0."""

    relation: str
    scene: str
    level: float
    case: str


@dataclass(frozen=True, slots=True)
class FalseAlarms:
    """Null changes that were judged, and how many of them were accused; one for each source."""

    n: int
    violated: int

    @property
    def rate(self) -> float:
        return self.violated / self.n


@dataclass(frozen=True, slots=True)
class Placebos:
    """Violated cases that were tried with a placebo, and how many of them it reproduces entirely."""

    tried: int
    reproduced: int


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything that a report says about a run.

    `unstable` and `unconfirmed` are contained in `counts.inapplicable`. `distinct` counts different
    (scene, object, kind) among the findings left. `interval` is for the rate of all relations together.
    `kinds` are violated cases by the kind of their worst
    finding, `reasons` the inapplicable and failed cases; both most frequent first. `breaks` are there
    where verdicts have a `level` in their evidence.
    """

    totals: Totals
    counts: Counts
    interval: tuple[float, float] | None
    unstable: int
    unconfirmed: int
    distinct: int
    distinct_real: int
    scenes_judged: int
    scenes_violated: int
    false_alarms: FalseAlarms | None
    placebos: Placebos | None
    kinds: Mapping[str, int]
    reasons: Mapping[str, int]
    relations: Mapping[str, RelationSummary]
    findings: Sequence[Violation]
    breaks: Sequence[Break] = ()
    harms: Mapping[str, int] = field(default_factory=dict)
    """Different failures by how bad they are, where findings have a `harm` in their evidence."""

    @property
    def false_alarm_rate(self) -> float | None:
        return None if self.false_alarms is None else self.false_alarms.rate

    def numbers(self) -> dict[str, float | None]:
        """Everything that is one number, by its name in the JSON document; and the rate."""
        totals = self.totals
        return {
            **_counts_json(self.counts),
            "rate": self.counts.rate,
            "unstable": self.unstable,
            "unconfirmed": self.unconfirmed,
            "distinct": self.distinct,
            "headline": sum(violation.headline for violation in self.findings),
            "distinct_real": self.distinct_real,
            "queries": totals.queries,
            "asked": totals.asked,
            "seconds": totals.seconds,
            "price": self.price,
            "false_alarm_rate": self.false_alarm_rate,
            "scenes": totals.scenes,
            "scenes_judged": self.scenes_judged,
            "scenes_violated": self.scenes_violated,
        }

    @property
    def price(self) -> float | None:
        """What the questions sent now cost; None for a system that has no price."""
        price = self.totals.price_per_query
        return self.totals.asked * price if price else None


@dataclass(slots=True, eq=False)
class _Tally:
    """Cases of one relation, or of all, while they are being counted."""

    statuses: Counter[Status] = field(default_factory=Counter)
    violated_in: Counter[str] = field(default_factory=Counter)
    judged_in: Counter[str] = field(default_factory=Counter)

    def add(self, record: Record) -> None:
        status = record.verdict.status
        self.statuses[status] += 1
        self.judged_in[record.scene] += status in (Status.HELD, Status.VIOLATED)
        self.violated_in[record.scene] += status is Status.VIOLATED

    def summary(self) -> RelationSummary:
        counts = _counts(self.statuses)
        if counts.rate is None:
            return RelationSummary(counts, None)
        scenes = sorted(self.judged_in)
        violated = [self.violated_in[scene] for scene in scenes]
        judged = [self.judged_in[scene] for scene in scenes]
        return RelationSummary(counts, clustered_rate(violated, judged))


def summarise(records: Iterable[Record], totals: Totals) -> Summary:
    """Count the records in one pass; what is kept grows with scenes and violations, not with cases."""
    everything = _Tally()
    tallies: dict[str, _Tally] = defaultdict(_Tally)
    nulls: Counter[bool] = Counter()
    not_believed: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    placebos: Counter[bool] = Counter()
    distinct: dict[tuple[str, ...], str | None] = {}
    real: set[tuple[str, ...]] = set()
    violations: list[Violation] = []
    breaks: dict[tuple[str, str, bool], Break] = {}
    for record in records:
        verdict = record.verdict
        if record.role == "null":
            # A null change whose findings were struck out was judged, and not accused.
            if verdict.status in (Status.HELD, Status.VIOLATED) or verdict.kind == "unstable":
                nulls[verdict.status is Status.VIOLATED] += 1
            continue
        everything.add(record)
        tallies[record.relation].add(record)
        if verdict.status is Status.VIOLATED:
            kinds[verdict.kind] += 1
            distinct.update((identity_of(record, f), f.evidence.get("harm")) for f in verdict.findings)
            real.update(identity_of(record, f) for f in verdict.findings if f.known == "real")
            violations.append(_violation(record))
            _note_break(breaks, record)
            if "placebo" in verdict.evidence:
                placebos[_reproduced(verdict.findings, verdict.evidence["placebo"])] += 1
        elif verdict.status is not Status.HELD:
            reasons[verdict.reason or verdict.status.value] += 1
            not_believed[verdict.kind] += 1
    overall = everything.summary()
    return Summary(
        totals=totals,
        counts=overall.counts,
        interval=overall.interval,
        unstable=not_believed["unstable"],
        unconfirmed=not_believed["unconfirmed"],
        distinct=len(distinct),
        distinct_real=len(real),
        scenes_judged=sum(1 for judged in everything.judged_in.values() if judged),
        scenes_violated=len({violation.scene for violation in violations}),
        false_alarms=FalseAlarms(nulls.total(), nulls[True]) if nulls else None,
        placebos=Placebos(placebos.total(), placebos[True]) if placebos else None,
        kinds=_most_frequent_first(kinds),
        reasons=_most_frequent_first(reasons),
        relations={name: tallies[name].summary() for name in sorted(tallies)},
        findings=sorted(violations, key=_plainness),
        breaks=[breaks[key] for key in sorted(breaks)],
        harms=_most_frequent_first(Counter(level for level in distinct.values() if level)),
    )


def summary_to_json(summary: Summary) -> dict[str, Any]:
    """The summary as a JSON document; a number that JSON does not have becomes null."""
    totals = summary.totals
    return {
        "run": totals.run,
        "system": totals.system,
        "task": totals.task,
        "seed": totals.seed,
        "finished": totals.finished,
        **{name: number for name, number in summary.numbers().items() if name != "rate"},
        "false_alarms": None if summary.false_alarms is None else _alarms_json(summary.false_alarms),
        "placebo": None if summary.placebos is None else asdict(summary.placebos),
        "skipped": [asdict(skipped) for skipped in totals.skipped],
        "kinds": dict(summary.kinds),
        "reasons": dict(summary.reasons),
        "relations": {
            name: {
                **_counts_json(relation.counts),
                "rate": relation.counts.rate,
                "interval": None if relation.interval is None else list(relation.interval),
            }
            for name, relation in summary.relations.items()
        },
        **({"harms": dict(summary.harms)} if summary.harms else {}),
        "findings": [_violation_json(violation) for violation in summary.findings],
        "breaks": [asdict(one) for one in summary.breaks],
    }


def _counts(statuses: Mapping[Status, int]) -> Counts:
    return Counts(**{status.value: statuses.get(status, 0) for status in Status})


def identity_of(record: Record, finding: Finding) -> tuple[str, ...]:
    """What makes two findings one: the object where there is one, else the relation."""
    if finding.subject:
        return (record.scene, finding.kind, "object", finding.subject)
    return (record.scene, finding.kind, "relation", record.relation)


def _reproduced(findings: Iterable[Finding], placebo: Mapping[str, Any]) -> bool:
    recurring = {tuple(key) for key in placebo["recurs"]}
    return all(finding.key in recurring for finding in findings)


def _violation(record: Record) -> Violation:
    """The case by its worst finding; a real one before all others."""
    verdict = record.verdict
    worst = min(verdict.findings, key=lambda f: (RANKS.index(f.known), f.margin, f.key))
    told = worst.evidence.get("was", worst.evidence.get("is"))
    thing: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
    return Violation(
        record.case, record.scene, record.relation, worst.kind, worst.margin, record.naturalness,
        worst.known, thing.get("label"), thing.get("score"), thing.get("box"),
    )  # fmt: skip


def _plainness(violation: Violation) -> tuple[int, bool, float, str]:
    """Real failures first, then by margin."""
    margin = violation.margin
    return RANKS.index(violation.known), math.isnan(margin), margin, violation.case


def _alarms_json(alarms: FalseAlarms) -> dict[str, Any]:
    low, high = wilson(alarms.violated, alarms.n)
    return {"n": alarms.n, "violated": alarms.violated, "interval": [low, high]}


def _note_break(breaks: dict[tuple[str, str, bool], Break], record: Record) -> None:
    level = record.verdict.evidence.get("level")
    if level is None:
        return
    key = (record.relation, record.scene, level > 0)
    if key not in breaks or abs(level) < abs(breaks[key].level):
        breaks[key] = Break(record.relation, record.scene, float(level), record.case)


def _most_frequent_first(counted: Counter[str]) -> dict[str, int]:
    return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


def _counts_json(counts: Counts) -> dict[str, float | None]:
    return {"cases": counts.cases, **asdict(counts)}


def _violation_json(violation: Violation) -> dict[str, Any]:
    told = {key: value for key, value in asdict(violation).items() if value is not None or key not in OBJECT}
    return told | {
        "headline": violation.headline,
        "margin": _finite(violation.margin),
        "naturalness": _finite(violation.naturalness),
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
