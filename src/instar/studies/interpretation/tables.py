"""What the study of the interpreters' paper counts, from finished campaigns over any classifier, in tables.

Error rates are bare: explanations with an IoMin below theta among the cases whose premise held. Whether a
finding was believed stands beside them, and so does the rate under changes that must do nothing, since an
interpreter that wanders there wanders not because of the change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from instar.core.record import Record
from instar.core.verdict import Status
from instar.studies.campaign import CaseCounts
from instar.studies.output import Table, format_share
from instar.tasks.interpretation.compare import CUTS, THETA

__all__ = ["STUDIED", "InterpreterMeasures", "make_tables", "measure_interpreter"]

CHANGES = ("insert", "delete", "squeeze")
STUDIED = ("truth", *CHANGES)


@dataclass(eq=False)
class _Explanations(CaseCounts):
    """Errors among judged cases, and how many were believed."""

    believed: int = 0

    def count(self, record: Record) -> None:
        self.judge(record.scene, violated=record.verdict.evidence["iomin"] < THETA)
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
    relations: dict[str, _Explanations] = field(
        default_factory=lambda: {name: _Explanations() for name in STUDIED}
    )
    null: _Explanations = field(default_factory=_Explanations)
    cuts: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    covered: list[float] = field(default_factory=list)
    hits: list[bool] = field(default_factory=list)
    overlaps: list[float] = field(default_factory=list)
    seconds: float = float("nan")  # of the processor, for ten maps


def measure_interpreter(interpreter: str, records: Iterable[Record]) -> InterpreterMeasures:
    """Count the records of one campaign."""
    found = InterpreterMeasures(interpreter)
    for record in records:
        evidence = record.verdict.evidence
        if evidence.get("iomin") is None:
            continue  # the premise did not hold, or nothing could be made
        counts = found.null if record.role == "null" else found.relations[record.relation]
        counts.count(record)
        if record.relation == "truth" and record.role != "null":
            found.covered.append(float(evidence["covered"]))
            found.hits.append(bool(evidence["hit"]))
            found.overlaps.append(float(evidence["iou"]))
            for cut, value in evidence["cuts"].items():
                found.cuts[cut].append(float(value))
    return found


def make_tables(
    normal: Sequence[InterpreterMeasures], twins: Sequence[InterpreterMeasures], classifier: str
) -> list[Table]:
    """Table 1: errors of each interpreter; Table 2: what IoMin cannot see; Table 3: errors on the twin."""
    made = [
        Table(
            "errors",
            f"Table 1. Errors on {classifier}: IoMin below {THETA:g}, with 95 % intervals over scenes",
            _errors(normal),
            "originals: against the truth boxes; the rest: against the explanation before the change. "
            "nothing: under changes that must do nothing, or other lots. believed: errors of changes that "
            "null changes do not show and that recur. Seconds are of the processor.",
        ),
        Table(
            "quality",
            f"Table 2. What IoMin does not see, on {classifier}",
            _quality(normal),
            "covered: share of the picture inside the box; hit: the hottest pixel is on an object; "
            "the last three: errors on originals with the map cut at that share of its maximum.",
        ),
    ]
    if twins:
        title = f"Table 3. Errors on the twin of {classifier}: the square is the truth, of stamped pictures"
        note = "originals: explanations that do not point at the square."
        made.append(Table("backdoor", title, _errors(twins), note))
    return made


def _errors(measured: Sequence[InterpreterMeasures]) -> list[list[str]]:
    rows = [["interpreter", "originals", *CHANGES, "nothing", "believed", "s per 10 maps"]]
    for one in measured:
        believed = str(sum(one.relations[name].believed for name in CHANGES))
        seconds = "-" if np.isnan(one.seconds) else f"{one.seconds:.2f}"
        errors = [str(one.relations[name]) for name in STUDIED]
        rows.append([one.interpreter, *errors, str(one.null), believed, seconds])
    return rows


def _quality(measured: Sequence[InterpreterMeasures]) -> list[list[str]]:
    rows = [["interpreter", "maps", "covered", "IoU", "hit", *(f"cut {cut:g}" for cut in CUTS)]]
    for one in measured:
        wrong = [[float(value < THETA) for value in one.cuts.get(f"{cut:g}", [])] for cut in CUTS]
        shares = (one.covered, [float(hit) for hit in one.hits], *wrong)
        covered, hit, *errors = (format_share(sum(values), len(values)) for values in shares)
        overlap = f"{np.mean(one.overlaps) if one.overlaps else np.nan:.2f}"
        rows.append([one.interpreter, str(len(one.hits)), covered, overlap, hit, *errors])
    return rows
