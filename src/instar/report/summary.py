"""From the records of a run to the numbers in its report."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from operator import attrgetter
from typing import Any

from instar.core.record import Record, Totals
from instar.core.verdict import NO_FAILURE, Finding, Status
from instar.report.causes import finding_words
from instar.report.words import counted
from instar.stats import clustered_rate, wilson
from instar.stats.clusters import counts_by_cluster

MOST_UNSTABLE = 0.1
"""The share of judged cases that may be unstable, and of sources that may contradict themselves when they are
asked again just as they are. A system counts as too unstable to judge when its share is surely above that:
the whole interval is. Few scenes, of which one wavers, do not say so."""
MOST_FAILED = 0.05
"""The share of cases in which the system may fail before it counts as not judged."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many cases ended in which way.

    `unstable` is contained in `inapplicable`: their findings were struck out, since null changes show them
    too or they do not recur. `headline` is contained in `violated`: a finding is a failure as far as is
    known. `unfair` is contained in `held`: referees lose what was found, too.
    """

    held: int = 0
    violated: int = 0
    inapplicable: int = 0
    failed: int = 0
    unstable: int = 0
    headline: int = 0
    unfair: int = 0

    @property
    def cases(self) -> int:
        return self.held + self.violated + self.inapplicable + self.failed

    @property
    def judged(self) -> int:
        """The cases that say something about the system."""
        return self.held + self.violated + self.unstable

    def numbers(self) -> dict[str, float | None]:
        return {"cases": self.cases, **asdict(self)}

    @property
    def rate(self) -> float | None:
        """The violated share of what was judged; None when nothing was."""
        return self.violated / self.judged if self.judged else None

    @property
    def headline_rate(self) -> float | None:
        return self.headline / self.judged if self.judged else None


Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class RelationSummary:
    """One relation's counts, and the intervals of its rates over scenes.

    What a search that looks for failures finds is a yield: it says nothing about how often a change fails, so
    there is neither a rate nor an interval.
    """

    counts: Counts
    interval: Interval | None = None
    headline_interval: Interval | None = None
    is_yield: bool = False

    @property
    def rate(self) -> float | None:
        return None if self.is_yield else self.counts.rate

    @property
    def headline_rate(self) -> float | None:
        return None if self.is_yield else self.counts.headline_rate


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
    headline: bool = True
    words: str = field(default="", compare=False)
    """What happened: "dog 0.83 is lost"."""
    plainness: tuple[Any, ...] = field(default=(), compare=False)
    """What findings are sorted by: failures first, the plainest of them before all."""
    identity: tuple[str, ...] = field(default=(), compare=False)
    """Of findings that have the same one all are the same failure."""


@dataclass(frozen=True, slots=True)
class Break:
    """The lowest level at which a relation with a severity is violated on a scene, on one side of 0."""

    relation: str
    scene: str
    level: float
    case: str


@dataclass(frozen=True, slots=True)
class FalseAlarms:
    """Null changes that were judged, and how many of them have a headline finding all the same."""

    n: int
    violated: int
    interval: Interval

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

    `counts` are those of all cases, `drawn` those of relations whose search does not look for failures: only
    they have a rate. `unconfirmed` is contained in `counts.inapplicable`. `distinct` counts different
    (scene, object) among the findings left, `distinct_failures` among those that count as failures, and
    `distinct_real` among the real ones; `known` has what is known about how many different ones. `kinds` are
    violated cases by the kind of their plainest finding, `reasons` the inapplicable and failed cases; both
    most frequent first. `breaks` are there where verdicts have a `level` in their evidence.
    """

    totals: Totals
    counts: Counts
    drawn: RelationSummary
    unstable_interval: Interval | None
    unconfirmed: int
    distinct: int
    distinct_failures: int
    distinct_real: int
    known: Mapping[str, int]
    scenes_judged: int
    scenes_violated: int
    scenes_failing: int
    false_alarms: FalseAlarms | None
    placebos: Placebos | None
    kinds: Mapping[str, int]
    reasons: Mapping[str, int]
    relations: Mapping[str, RelationSummary]
    findings: Sequence[Violation]
    breaks: Sequence[Break] = ()
    harms: Mapping[str, int] = field(default_factory=dict)
    """Different failures by how bad they are, where findings have a `harm` in their evidence."""
    ended: str = ""
    """Why the run ended with fewer questions than it might have asked; empty where it did not."""
    why_failed: str = ""
    """The most frequent reason of failed cases."""
    names_code: bool = False
    """Whether its plan names code of the user's own, so that replaying a case needs `--trust`."""

    @property
    def called_none(self) -> tuple[int, int]:
        """How many different failures users call none, and of how many."""
        said = self.known.get(NO_FAILURE, 0)
        return said, said + self.distinct_failures

    @property
    def false_alarm_rate(self) -> float | None:
        return None if self.false_alarms is None else self.false_alarms.rate

    def numbers(self) -> dict[str, float | None]:
        """Everything that is one number, by its name in the JSON document; and the rate."""
        totals = self.totals
        return {
            **self.counts.numbers(),
            "rate": self.drawn.rate,
            "headline_rate": self.drawn.headline_rate,
            "unstable_share": self.unstable_share,
            "unconfirmed": self.unconfirmed,
            "distinct": self.distinct,
            "distinct_real": self.distinct_real,
            "queries": totals.queries,
            "asked": totals.asked,
            "referee_queries": totals.referee_queries,
            "seconds": totals.seconds,
            "price": self.price,
            "false_alarm_rate": self.false_alarm_rate,
            "scenes": totals.scenes,
            "scenes_judged": self.scenes_judged,
            "scenes_violated": self.scenes_violated,
        }

    @property
    def unstable_share(self) -> float | None:
        return self.counts.unstable / self.counts.judged if self.counts.judged else None

    @property
    def is_failing(self) -> bool:
        """Whether the system failed to answer too often for anything to be said about it."""
        return self.counts.failed > MOST_FAILED * (self.counts.judged + self.counts.failed)

    @property
    def why_not_judged(self) -> str:
        """Why nothing can be said about the system; empty where something can."""
        counts, totals = self.counts, self.totals
        if self.is_failing:
            of = counted(counts.judged + counts.failed, "case")
            return f"too many failures: the system failed in {counts.failed:,} of {of}"
        if not counts.judged:
            return f"nothing could be judged ({counted(counts.cases, 'case')})"
        if 0 < totals.scenes == totals.empty and not counts.violated:
            return f"nothing was found on any of {counted(totals.scenes, 'scene')}, so nothing could be lost"
        if totals.repeats and wilson(totals.contradicting, totals.repeats)[0] > MOST_UNSTABLE:
            again = counted(totals.repeats, "source")
            return (
                f"too unstable to judge: asked again, {totals.contradicting:,} of {again} got another answer"
            )
        if self.unstable_interval is not None and self.unstable_interval[0] > MOST_UNSTABLE:
            of = counted(counts.judged, "judged case")
            return f"too unstable to judge: {counts.unstable:,} of {of} show what comes and goes by itself"
        return ""

    @property
    def price(self) -> float | None:
        """What the questions sent now cost; None for a system that has no price."""
        price = self.totals.price_per_query
        return self.totals.asked * price if price else None


@dataclass(slots=True, eq=False)
class _Tally:
    """Cases of one relation, or null changes, while they are being counted by scene."""

    statuses: Counter[Status] = field(default_factory=Counter)
    judged_in: Counter[str] = field(default_factory=Counter)
    violated_in: Counter[str] = field(default_factory=Counter)
    headline_in: Counter[str] = field(default_factory=Counter)
    unstable_in: Counter[str] = field(default_factory=Counter)
    unfair: int = 0

    def add(self, record: Record) -> None:
        verdict = record.verdict
        self.unfair += verdict.kind == "unfair" and verdict.status is Status.HELD
        unstable = verdict.kind == "unstable" and verdict.status is Status.INAPPLICABLE
        self.statuses[verdict.status] += 1
        self.unstable_in[record.scene] += unstable
        if unstable or verdict.status in (Status.HELD, Status.VIOLATED):
            self.judged_in[record.scene] += 1
        if verdict.status is Status.VIOLATED:
            self.violated_in[record.scene] += 1
            self.headline_in[record.scene] += bool(verdict.failures)

    def merge(self, other: _Tally) -> None:
        for name in ("statuses", "judged_in", "violated_in", "headline_in", "unstable_in"):
            getattr(self, name).update(getattr(other, name))
        self.unfair += other.unfair

    def summary(self, *, is_yield: bool = False) -> RelationSummary:
        ends = {status.value: self.statuses[status] for status in Status}
        inside = {"unstable": self.unstable_in.total(), "headline": self.headline_in.total()}
        counts = Counts(**ends, **inside, unfair=self.unfair)
        if is_yield or not counts.judged:
            return RelationSummary(counts, is_yield=is_yield)
        return RelationSummary(counts, self.interval(self.violated_in), self.interval(self.headline_in))

    def interval(self, part: Counter[str]) -> Interval:
        judged, found = counts_by_cluster(self.judged_in), counts_by_cluster(part)
        clusters = sorted(judged)
        return clustered_rate([found[one] for one in clusters], [judged[one] for one in clusters])


def summarise(records: Iterable[Record], totals: Totals) -> Summary:
    """Count the records in one pass; what is kept grows with scenes and violations, not with cases."""
    tallies: dict[str, _Tally] = defaultdict(_Tally)
    nulls = _Tally()
    unconfirmed = 0
    kinds: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    placebos: Counter[bool] = Counter()
    distinct: dict[tuple[str, ...], Finding] = {}
    violations: list[Violation] = []
    breaks: dict[tuple[str, str, bool], Break] = {}
    for record in records:
        verdict = record.verdict
        if record.role == "null":
            nulls.add(record)
            continue
        tallies[record.relation].add(record)
        if verdict.status is Status.VIOLATED:
            worst = verdict.plainest
            kinds[worst.kind] += 1
            for finding in verdict.findings:
                identity = finding_identity(record, finding)
                known = distinct.setdefault(identity, finding)
                if known is not finding and finding.plainness < known.plainness:
                    distinct[identity] = finding
            violations.append(_violation(record, worst))
            if verdict.failures:
                _note_break(breaks, record)
            if "placebo" in verdict.evidence:
                placebos[_reproduced(verdict.findings, verdict.evidence["placebo"])] += 1
        elif verdict.status is not Status.HELD:
            reasons[verdict.reason or verdict.status.value] += 1
            if verdict.status is Status.FAILED:
                failures[verdict.reason] += 1
            unconfirmed += verdict.kind == "unconfirmed"
    everything, drawn = _Tally(), _Tally()
    for name, tally in tallies.items():
        everything.merge(tally)
        if name not in totals.yields:
            drawn.merge(tally)
    return Summary(
        totals=totals,
        counts=everything.summary(is_yield=True).counts,
        drawn=drawn.summary(is_yield=not drawn.statuses and bool(everything.statuses)),
        unstable_interval=everything.interval(everything.unstable_in) if everything.judged_in else None,
        unconfirmed=unconfirmed,
        distinct=len(distinct),
        distinct_failures=sum(finding.is_failure for finding in distinct.values()),
        distinct_real=sum(finding.known == "real" for finding in distinct.values()),
        known=_most_frequent_first(Counter(finding.known for finding in distinct.values())),
        scenes_judged=len(everything.judged_in),
        scenes_violated=len({violation.scene for violation in violations}),
        scenes_failing=len({violation.scene for violation in violations if violation.headline}),
        false_alarms=_false_alarms(nulls),
        placebos=Placebos(placebos.total(), placebos[True]) if placebos else None,
        kinds=_most_frequent_first(kinds),
        reasons=_most_frequent_first(reasons),
        why_failed=next(iter(_most_frequent_first(failures)), ""),
        relations={name: tallies[name].summary(is_yield=name in totals.yields) for name in sorted(tallies)},
        findings=sorted(violations, key=attrgetter("plainness")),
        breaks=[breaks[key] for key in sorted(breaks)],
        harms=_most_frequent_first(
            Counter(f.evidence["harm"] for f in distinct.values() if f.is_failure and "harm" in f.evidence)
        ),
    )


def finding_identity(record: Record, finding: Finding) -> tuple[str, ...]:
    """What makes two findings one: the object where there is one, else the relation and the kind."""
    if finding.subject:
        return (record.scene, "object", finding.subject)
    return (record.scene, "relation", record.relation, finding.kind)


def _reproduced(findings: Iterable[Finding], placebo: Mapping[str, Any]) -> bool:
    recurring = {tuple(key) for key in placebo["recurs"]}
    return all(finding.key in recurring for finding in findings)


def _violation(record: Record, worst: Finding) -> Violation:
    """The case by its plainest finding."""
    told = worst.evidence.get("was", worst.evidence.get("is"))
    thing: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
    rank, degree, _ = worst.plainness
    plainness = (not worst.is_failure, rank, math.isnan(degree), degree, record.case)
    return Violation(
        record.case, record.scene, record.relation, worst.kind, worst.margin, record.naturalness,
        worst.known, thing.get("label"), thing.get("score"), thing.get("box"), worst.is_failure,
        finding_words(worst), plainness, finding_identity(record, worst),
    )  # fmt: skip


def _false_alarms(nulls: _Tally) -> FalseAlarms | None:
    if not nulls.judged_in:
        return None
    return FalseAlarms(nulls.judged_in.total(), nulls.headline_in.total(), nulls.interval(nulls.headline_in))


def _note_break(breaks: dict[tuple[str, str, bool], Break], record: Record) -> None:
    level = record.verdict.evidence.get("level")
    if level is None:
        return
    key = (record.relation, record.scene, level > 0)
    if key not in breaks or abs(level) < abs(breaks[key].level):
        breaks[key] = Break(record.relation, record.scene, float(level), record.case)


def _most_frequent_first(counted: Counter[str]) -> dict[str, int]:
    return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))
