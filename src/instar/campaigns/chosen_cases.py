"""Which cases of a run are learned from: one for each failure, and as many that held."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from instar.core.record import Record
from instar.core.verdict import Finding, Status


def failing_cases(records: Iterable[Record], *, verified: bool = False) -> list[Record]:
    """The plainest case of each failure of a source, in the order in which they were found; with `verified`
    only of failures that truth or referees have seen.
    """
    best: dict[tuple[str, str], tuple[Finding, Record]] = {}
    for record in records:
        for finding in record.verdict.failures if record.role == "case" else ():
            key = (record.source, finding.subject)
            if verified and finding.known != "real":
                continue
            if key not in best or finding.plainness < best[key][0].plainness:
                best[key] = finding, record
    return list({record.case: record for _, record in best.values()}.values())


def held_cases(records: Iterable[Record], *, seed: int = 0) -> Sequence[Record]:
    """Cases that held though something was changed, in an order drawn by lot."""
    held = [one for one in records if one.role == "case" and one.verdict.status is Status.HELD]
    held = [one for one in held if not one.verdict.kind]  # what was struck out held for other reasons
    random.Random(f"held {seed}").shuffle(held)
    return held
