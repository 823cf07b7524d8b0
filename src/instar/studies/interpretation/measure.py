"""The study of the interpreters' paper over any classifier: Tables 1 to 3, from finished campaigns.

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
from instar.stats.intervals import bootstrap_rate
from instar.studies import Table
from instar.tasks.interpretation.compare import CUTS, THETA

__all__ = ["CHANGES", "STUDIED", "Counted", "Measured", "measure", "tables"]

CHANGES = ("insert", "delete", "squeeze")
STUDIED = ("truth", *CHANGES)


@dataclass(eq=False)
class Counted:
    """Errors among judged cases, by scene; and how many were believed."""

    errors: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    judged: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    believed: int = 0

    def add(self, scene: str, *, error: bool, believed: bool) -> None:
        self.judged[scene] += 1
        self.errors[scene] += error
        self.believed += believed

    @property
    def n(self) -> int:
        return sum(self.judged.values())

    @property
    def rate(self) -> float:
        return sum(self.errors.values()) / self.n if self.n else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """95 %, by bootstrap over scenes."""
        scenes = list(self.judged)
        return bootstrap_rate([self.errors[s] for s in scenes], [self.judged[s] for s in scenes])

    def __str__(self) -> str:
        if not self.n:
            return "-"
        low, high = self.interval
        return f"{100 * self.rate:.1f} % of {self.n} ({100 * low:.1f} to {100 * high:.1f})"


@dataclass(eq=False)
class Measured:
    """One interpreter on one classifier."""

    interpreter: str
    relations: dict[str, Counted]
    null: Counted
    cuts: dict[str, list[float]]
    covered: list[float]
    hits: list[bool]
    overlaps: list[float]
    seconds: float = float("nan")  # of the processor, for ten maps


def measure(interpreter: str, records: Iterable[Record], *, theta: float = THETA) -> Measured:
    """Count the records of one campaign."""
    found = Measured(
        interpreter, {name: Counted() for name in STUDIED}, Counted(), defaultdict(list), [], [], []
    )
    for record in records:
        evidence = record.verdict.evidence
        overlap = evidence.get("iomin")
        if overlap is None:
            continue  # the premise did not hold, or nothing could be made
        error, believed = overlap < theta, record.verdict.status is Status.VIOLATED
        if record.role == "null":
            found.null.add(record.scene, error=error, believed=believed)
            continue
        found.relations.setdefault(record.relation, Counted()).add(
            record.scene, error=error, believed=believed
        )
        if record.relation == "truth":
            found.covered.append(float(evidence["covered"]))
            found.hits.append(bool(evidence["hit"]))
            found.overlaps.append(float(evidence["iou"]))
            for cut, value in evidence["cuts"].items():
                found.cuts[cut].append(float(value))
    return found


def tables(normal: Sequence[Measured], twins: Sequence[Measured], classifier: str) -> list[Table]:
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
        made.append(
            Table(
                "backdoor",
                f"Table 3. Errors on the twin of {classifier}: the square is the truth, of stamped pictures",
                _errors(twins),
                "originals: explanations that do not point at the square.",
            )
        )
    return made


def _errors(measured: Sequence[Measured]) -> tuple[tuple[str, ...], ...]:
    rows: list[tuple[str, ...]] = [
        ("interpreter", "originals", *CHANGES, "nothing", "believed", "s per 10 maps")
    ]
    for one in measured:
        believed = sum(one.relations[name].believed for name in CHANGES)
        seconds = "-" if np.isnan(one.seconds) else f"{one.seconds:.2f}"
        rows.append(
            (
                one.interpreter,
                *(str(one.relations[name]) for name in STUDIED),
                str(one.null),
                str(believed),
                seconds,
            )
        )
    return tuple(rows)


def _quality(measured: Sequence[Measured]) -> tuple[tuple[str, ...], ...]:
    rows: list[tuple[str, ...]] = [
        ("interpreter", "maps", "covered", "IoU", "hit", *(f"cut {cut:g}" for cut in CUTS))
    ]
    for one in measured:
        wrong = [_mean([float(value < THETA) for value in one.cuts.get(f"{cut:g}", [])]) for cut in CUTS]
        rows.append(
            (
                one.interpreter,
                str(len(one.hits)),
                _percent(_mean(one.covered)),
                f"{_mean(one.overlaps):.2f}",
                _percent(_mean([float(hit) for hit in one.hits])),
                *(_percent(share) for share in wrong),
            )
        )
    return tuple(rows)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _percent(share: float) -> str:
    return "-" if np.isnan(share) else f"{100 * share:.1f} %"
