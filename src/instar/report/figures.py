"""What a page draws besides the counts: margins, naturalness, and the cases that held most narrowly."""

from __future__ import annotations

import math
from array import array
from bisect import insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from instar.core.record import Record
from instar.core.verdict import Status
from instar.report.groups import in_turns

NARROWEST = 4  # held cases that are kept of each relation


@dataclass(slots=True, eq=False)
class Figures:
    """Collected while records go by; eight bytes for each judged case, and little else."""

    margins: dict[str, array[float]] = field(default_factory=lambda: defaultdict(lambda: array("d")))
    naturalness: array[float] = field(default_factory=lambda: array("d"))
    held_at: dict[str, array[float]] = field(default_factory=lambda: defaultdict(lambda: array("d")))
    """By relation, at which severities it held (or differed by no failure), and at which it failed."""
    failed_at: dict[str, array[float]] = field(default_factory=lambda: defaultdict(lambda: array("d")))
    queries_of_cases: int = 0
    queries_of_nulls: int = 0
    _narrow: dict[str, list[tuple[float, str]]] = field(default_factory=lambda: defaultdict(list))

    def watch(self, records: Iterable[Record]) -> Iterator[Record]:
        """The records, looked at in passing."""
        for record in records:
            verdict = record.verdict
            if record.role == "null":
                self.queries_of_nulls += record.queries
            else:
                self.queries_of_cases += record.queries
                if verdict.status in (Status.HELD, Status.VIOLATED) and math.isfinite(verdict.margin):
                    self.margins[record.relation].append(verdict.margin)
                if verdict.status is Status.HELD:
                    # Ties by case, so that no order of records matters.
                    kept = self._narrow[record.relation]
                    insort(kept, (verdict.margin, record.case))
                    del kept[NARROWEST:]
                elif verdict.status is Status.VIOLATED and record.naturalness is not None:
                    self.naturalness.append(record.naturalness)
            yield record

    def note_levels(self, levels: Iterable[tuple[str, str, float]], failing: Set[str]) -> None:
        """The severities of judged cases: case, relation and level."""
        for case, relation, level in levels:
            (self.failed_at if case in failing else self.held_at)[relation].append(level)

    def narrowly_held(self) -> list[str]:
        """Cases that passed, the narrowest of each relation first."""
        ranked = [(relation, case) for relation, kept in self._narrow.items() for _, case in kept]
        return [case for _, case in in_turns(ranked, lambda pair: pair[0])]


def kept_at(naturalness: npt.ArrayLike, *, steps: int = 20) -> list[tuple[float, int]]:
    """For thresholds from 0 to 1 how many failures are at least so natural; unknown ones are left out.

    >>> kept_at([0.2, 0.95], steps=2)
    [(0.0, 2), (0.5, 1), (1.0, 0)]
    """
    values = np.asarray(naturalness, np.float32)
    known = np.sort(values[~np.isnan(values)])
    thresholds = np.arange(steps + 1, dtype=np.float32) / np.float32(steps)
    counts = len(known) - np.searchsorted(known, thresholds)
    return list(zip(thresholds.tolist(), counts.tolist())) if len(known) else []
