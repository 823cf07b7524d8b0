"""Results scene by scene, as test servers want them, and by what a failure is known again in another run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from instar.core.record import Record
from instar.core.verdict import Status
from instar.report.causes import finding_words
from instar.report.words import readable

__all__ = ["ByScene", "FailureKey", "Result", "keys_of", "list_keys"]

MOST_LISTED = 20


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


def keys_of(record: Record) -> set[FailureKey]:
    """The failures that a violated case shows."""
    return {
        FailureKey(record.relation, record.source, finding.subject, finding.kind)
        for finding in record.verdict.failures
    }


def list_keys(keys: Sequence[FailureKey], title: str = "") -> Iterator[str]:
    """A line for each of the first failures, and how many more there are."""
    for key in keys[:MOST_LISTED]:
        yield f"  {title}{key}"
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
    keys: set[FailureKey] = field(default_factory=set)

    @property
    def judged(self) -> int:
        return self.held + self.violated + self.dismissed

    def add(self, record: Record) -> None:
        verdict = record.verdict
        if verdict.status is Status.HELD:
            self.held += 1
        elif verdict.status is Status.VIOLATED and not verdict.failures:
            self.dismissed += 1
        elif verdict.status is Status.VIOLATED:
            self.violated += 1
            self.keys |= keys_of(record)
            worst = verdict.plainest
            if (worst.margin, record.case) < (self.margin, self.case):
                self.margin, self.case, self.kind = worst.margin, record.case, worst.kind
                self.told = "; ".join(map(finding_words, verdict.failures))
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

    def keys(self) -> set[FailureKey]:
        """All failures of the run."""
        return {key for result in self.results.values() for key in result.keys}
