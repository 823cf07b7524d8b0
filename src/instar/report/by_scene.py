"""Results scene by scene, as test servers want them, and by what a failure is known again in another run."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from instar.core.record import Record
from instar.core.verdict import Finding, Status
from instar.report.causes import finding_words
from instar.report.words import kind_words, readable, when_words

MOST_LISTED = 20
SAME_PLACE = 0.5  # of two boxes: how far they overlap (IoU), at least


class FailureKey(NamedTuple):
    """A failure whatever change showed it; `object` is empty where a relation has no objects."""

    relation: str
    scene: str
    object: str
    kind: str

    @property
    def what(self) -> str:
        return " ".join(filter(None, [self.kind or "violated", self.object]))

    def __str__(self) -> str:
        scene, what, relation = readable(self.scene, 60), readable(self.what, 60), readable(self.relation, 48)
        return f"{scene}: {what} ({relation})"


class FailureObject(NamedTuple):
    """What a failure is about, so that it is known again by an answer that numbers its objects otherwise.

    `words` say what happened, and `case` shows it; both are empty where only the failure is known.
    """

    label: str = ""
    box: tuple[float, ...] = ()
    words: str = ""
    case: str = ""


Failures = Mapping[FailureKey, FailureObject]


def failures_of(record: Record) -> dict[FailureKey, FailureObject]:
    """The failures that a violated case shows."""
    return {failure_key(record, finding): _told(finding, record.case) for finding in record.verdict.failures}


def _told(finding: Finding, case: str) -> FailureObject:
    return object_of(finding)._replace(words=finding_words(finding), case=case)


def failure_key(record: Record, finding: Finding) -> FailureKey:
    return FailureKey(record.relation, record.source, finding.subject, finding.kind)


def object_of(finding: Finding) -> FailureObject:
    told = finding.evidence.get("was", finding.evidence.get("is"))
    if not isinstance(told, Mapping):
        return FailureObject()
    label, box = told.get("label"), told.get("box")
    if not (isinstance(box, Sequence) and len(box) == 4 and all(isinstance(x, (int, float)) for x in box)):
        box = ()
    return FailureObject(label if isinstance(label, str) else "", tuple(float(x) for x in box))


def recogniser(failures: Failures) -> Callable[[FailureKey, FailureObject], FailureKey | None]:
    """What finds a failure among these again: the object by its label and place, else by its name."""
    places: dict[tuple[str, str, str], list[tuple[FailureKey, FailureObject]]] = defaultdict(list)
    for key, thing in failures.items():
        places[key.relation, key.scene, key.kind].append((key, thing))

    def find(key: FailureKey, thing: FailureObject) -> FailureKey | None:
        for other, there in places.get((key.relation, key.scene, key.kind), ()):
            if thing.box and there.box:
                is_same = thing.label == there.label and _overlap(thing.box, there.box) >= SAME_PLACE
            else:
                is_same = key.object == other.object
            if is_same:
                return other
        return None

    return find


def _overlap(a: Sequence[float], b: Sequence[float]) -> float:
    shared = max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    whole = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)) - shared
    return shared / whole if whole > 0 else float(tuple(a) == tuple(b))


def is_in(answer: Any, thing: FailureObject) -> bool:
    """Whether an answer with boxes finds something where a failure's object was; True where neither says."""
    if not (isinstance(answer, Mapping) and {"boxes", "scores"} <= answer.keys() and thing.box):
        return True
    least = answer.get("confidence", 0.0)
    return any(
        score >= least and _overlap(box, thing.box) >= SAME_PLACE
        for box, score in zip(answer["boxes"].tolist(), answer["scores"].tolist())
    )


def key_words(key: FailureKey, thing: FailureObject) -> str:
    """What fails where and under which change.

    >>> key_words(FailureKey("shaken", "a.jpg", "object 3", "invented"), FailureObject("dog"))
    'a.jpg: dog newly found when the camera shakes'
    >>> key_words(FailureKey("noisy", "a", "", ""), FailureObject(words="cup appears, where none was"))
    'a: cup appears, where none was, with noise'
    """
    words = thing.words or (f"{thing.label} {kind_words(key.kind)}" if thing.label else "")
    if not words:
        return str(key)
    comma = "," if " where " in words else ""
    return f"{readable(key.scene, 60)}: {readable(words, 90)}{comma} {when_words(readable(key.relation, 48))}"


def list_keys(
    keys: Sequence[FailureKey], title: str = "", *, among: Failures = MappingProxyType({})
) -> Iterator[str]:
    """A line for each of the first failures, and how many more there are; in words where `among` has them."""
    for key in keys[:MOST_LISTED]:
        thing = among.get(key, FailureObject())
        yield f"  {title}{key_words(key, thing)}" + f" (case {thing.case})" * bool(thing.case)
    if len(keys) > MOST_LISTED:
        yield f"  {title}and {len(keys) - MOST_LISTED:,} more"


@dataclass(slots=True, eq=False)
class Result:
    """What one relation found on one source; `case`, `margin`, `kind` and `told` are of the worst case.

    Only failures count as `violated`; cases with other findings are `dismissed`.
    """

    relation: str
    source: str
    held: int = 0
    violated: int = 0
    dismissed: int = 0
    failed: int = 0
    reason: str = ""
    case: str = ""
    margin: float = math.inf
    kind: str = ""
    told: str = ""
    _shown: dict[FailureKey, tuple[Finding, str]] = field(default_factory=dict)

    @property
    def failures(self) -> dict[FailureKey, FailureObject]:
        """Each failure once, however many cases show it."""
        return {key: _told(*shown) for key, shown in self._shown.items()}

    @property
    def judged(self) -> int:
        return self.held + self.violated + self.dismissed

    def add(self, record: Record) -> None:
        verdict = record.verdict
        if verdict.status is Status.HELD:
            self.held += 1
        elif verdict.status is Status.VIOLATED:
            failures = verdict.failures
            if not failures:
                self.dismissed += 1
                return
            self.violated += 1
            self._shown |= {failure_key(record, one): (one, record.case) for one in failures}
            worst = verdict.plainest
            if (worst.margin, record.case) < (self.margin, self.case):
                self.margin, self.case, self.kind = worst.margin, record.case, worst.kind
                self.told = "; ".join(map(finding_words, failures))
        else:
            is_failed = verdict.status is Status.FAILED
            self.failed += is_failed
            if is_failed or not self.reason:
                self.reason = verdict.reason


@dataclass(slots=True, eq=False)
class ByScene:
    """Collected while records go by: one result for each relation and source."""

    results: dict[tuple[str, str], Result] = field(default_factory=dict)

    def watch(self, records: Iterable[Record]) -> Iterator[Record]:
        """The records, looked at in passing."""
        for record in records:
            if record.role == "case":
                place = (record.relation, record.source)
                if place not in self.results:
                    self.results[place] = Result(*place)
                self.results[place].add(record)
            yield record

    def in_order(self) -> list[Result]:
        return [self.results[place] for place in sorted(self.results)]

    def failures(self) -> dict[FailureKey, FailureObject]:
        """All failures of the run."""
        return {key: thing for one in self.results.values() for key, thing in one.failures.items()}
