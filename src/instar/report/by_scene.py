"""Results scene by scene, as test servers want them: what a relation found on each scene."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from instar.core.record import Record
from instar.core.verdict import Status
from instar.report.causes import finding_words
from instar.report.keys import FailureKey, keys_of

__all__ = ["ByScene", "Result"]


@dataclass(slots=True, eq=False)
class Result:
    """What one relation found on one source; `case`, `margin`, `kind` and `told` are of the worst case."""

    relation: str
    source: str
    held: int = 0
    violated: int = 0
    inapplicable: int = 0
    failed: int = 0
    reason: str = ""
    case: str = ""
    margin: float = math.inf
    kind: str = ""
    told: str = ""
    keys: set[FailureKey] = field(default_factory=set)

    @property
    def judged(self) -> int:
        return self.held + self.violated

    def add(self, record: Record) -> None:
        verdict = record.verdict
        if verdict.status is Status.HELD:
            self.held += 1
        elif verdict.status is Status.VIOLATED:
            self.violated += 1
            self.keys |= keys_of(record)
            if (verdict.margin, record.case) < (self.margin, self.case):
                self.margin, self.case, self.kind = verdict.margin, record.case, verdict.kind
                self.told = "; ".join(map(finding_words, verdict.findings))
        else:
            is_failed = verdict.status is Status.FAILED
            self.failed += is_failed
            self.inapplicable += not is_failed
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
