"""What the study of the interpreters' paper counts, from finished campaigns over any classifier.

Error rates are bare: explanations with an IoMin below theta among the cases whose premise held. Whether a
finding was believed stands beside them, and so does the rate under changes that must do nothing, since an
interpreter that wanders there wanders not because of the change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from instar.core.record import Record
from instar.core.verdict import Status
from instar.studies.counts import CaseCounts
from instar.studies.output import format_share
from instar.tasks.interpretation.compare import THETA

__all__ = ["CHANGES", "STUDIED", "ExplanationCounts", "InterpreterMeasures", "measure_interpreter"]

CHANGES = ("insert", "delete", "squeeze")
STUDIED = ("truth", *CHANGES)


@dataclass(eq=False)
class ExplanationCounts(CaseCounts):
    """Errors among judged cases, and how many were believed."""

    believed: int = 0

    def count(self, record: Record, *, theta: float) -> None:
        self.judge(record.scene, violated=record.verdict.evidence["iomin"] < theta)
        self.believed += record.verdict.status is Status.VIOLATED

    def __str__(self) -> str:
        if self.interval is None:
            return "-"
        low, high = self.interval
        share = format_share(self.violated, self.judged)
        return f"{share} of {self.judged} ({100 * low:.1f} to {100 * high:.1f})"


@dataclass(eq=False)
class InterpreterMeasures:
    """One interpreter on one classifier; the lists have one entry for each judged original."""

    interpreter: str
    relations: dict[str, ExplanationCounts] = field(
        default_factory=lambda: {name: ExplanationCounts() for name in STUDIED}
    )
    null: ExplanationCounts = field(default_factory=ExplanationCounts)
    cuts: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    covered: list[float] = field(default_factory=list)
    hits: list[bool] = field(default_factory=list)
    overlaps: list[float] = field(default_factory=list)
    seconds: float = float("nan")  # of the processor, for ten maps


def measure_interpreter(
    interpreter: str, records: Iterable[Record], *, theta: float = THETA
) -> InterpreterMeasures:
    """Count the records of one campaign."""
    found = InterpreterMeasures(interpreter)
    for record in records:
        evidence = record.verdict.evidence
        if evidence.get("iomin") is None:
            continue  # the premise did not hold, or nothing could be made
        counts = found.null if record.role == "null" else found.relations[record.relation]
        counts.count(record, theta=theta)
        if record.relation == "truth" and record.role != "null":
            found.covered.append(float(evidence["covered"]))
            found.hits.append(bool(evidence["hit"]))
            found.overlaps.append(float(evidence["iou"]))
            for cut, value in evidence["cuts"].items():
                found.cuts[cut].append(float(value))
    return found
