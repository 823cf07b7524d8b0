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
from instar.studies.campaign import CaseCounts
from instar.studies.interpretation.power import SPOILT, Power
from instar.studies.output import Table, format_share
from instar.tasks.interpretation.compare import CUTS, THETA

CHANGES = ("insert", "delete", "squeeze")
STUDIED = ("truth", *CHANGES)


@dataclass(eq=False)
class _Explanations(CaseCounts):
    """Errors by IoMin among judged cases, and those by the floor that were believed."""

    believed: CaseCounts = field(default_factory=CaseCounts)

    def count(self, record: Record) -> None:
        self.judge(record.scene, violated=record.verdict.evidence["iomin"] < THETA)
        self.believed.add(record)


def _told(counts: CaseCounts) -> str:
    """A share with n and interval."""
    if counts.interval is None:
        return "-"
    low, high = counts.interval
    share = format_share(counts.violated, counts.judged)
    return f"{share} of {counts.judged} ({100 * low:.1f} to {100 * high:.1f})"


def _quartiles(values: Sequence[float]) -> str:
    if not values:
        return "-"
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


@dataclass(eq=False)
class InterpreterMeasures:
    """One interpreter on one classifier; the lists have one entry for each judged original."""

    interpreter: str
    relations: dict[str, _Explanations] = field(
        default_factory=lambda: {name: _Explanations() for name in STUDIED}
    )
    null: _Explanations = field(default_factory=_Explanations)
    cuts: dict[str, CaseCounts] = field(default_factory=lambda: defaultdict(CaseCounts))
    covered: list[float] = field(default_factory=list)
    beside: CaseCounts = field(default_factory=CaseCounts)
    power: dict[str, Power] = field(default_factory=dict)
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
            found.beside.judge(record.scene, violated=not evidence["hit"])
            found.overlaps.append(float(evidence["iou"]))
            for cut, value in evidence["cuts"].items():
                found.cuts[cut].judge(record.scene, violated=float(value) < THETA)
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
            "nothing: under changes that must do nothing, or other lots. Seconds are of the processor.",
        ),
        Table(
            "quality",
            f"Table 2. What IoMin does not see, on {classifier}",
            _quality(normal),
            "covered: share of the picture inside the box, and IoU with the object, each with quartiles; "
            "beside: the hottest pixel is on no object; the last three: errors on originals with the map cut "
            "at that share of its maximum.",
        ),
        _power_table(normal, classifier, "power"),
    ]
    if twins:
        title = f"Table 3. Errors on the twin of {classifier}: the square is the truth, of stamped pictures"
        note = "originals: explanations that do not point at the square."
        made += [Table("backdoor", title, _errors(twins), note)]
        made += [_power_table(twins, f"the twin of {classifier}", "backdoor-power")]
    return made


def _power_table(measured: Sequence[InterpreterMeasures], classifier: str, name: str) -> Table:
    rows = [["interpreter", "change", "error by IoMin", "power", "error by the floor", "power"]]
    for one in measured:
        for change in CHANGES:
            counts, power = one.relations[change], one.power.get(change, Power())
            cells = (counts, power.by_iomin, counts.believed, power.by_floor)
            rows.append([one.interpreter, change, *map(_told, cells)])
    title = f"What these errors are worth, on {classifier}: power beside error"
    note = (
        "error by the floor: violated cases that null changes do not show and that recur; power: the share "
        f"of maps spoilt after the change that are told ({', '.join(SPOILT)})."
    )
    return Table(name, title, rows, note)


def _errors(measured: Sequence[InterpreterMeasures]) -> list[list[str]]:
    rows = [["interpreter", "originals", *CHANGES, "nothing", "s per 10 maps"]]
    for one in measured:
        seconds = "-" if np.isnan(one.seconds) else f"{one.seconds:.2f}"
        errors = [_told(one.relations[name]) for name in STUDIED]
        rows.append([one.interpreter, *errors, _told(one.null), seconds])
    return rows


def _quality(measured: Sequence[InterpreterMeasures]) -> list[list[str]]:
    rows = [["interpreter", "covered", "IoU", "beside", *(f"cut {cut:g}" for cut in CUTS)]]
    for one in measured:
        cuts = [_told(one.cuts[f"{cut:g}"]) for cut in CUTS]
        rows.append(
            [one.interpreter, _quartiles(one.covered), _quartiles(one.overlaps), _told(one.beside), *cuts]
        )
    return rows
