"""A case as a report shows it: its pictures with what is marked on them, and what is said about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from instar.core.marks import Panel
from instar.core.verdict import Finding, Status

__all__ = ["CaseView"]


@dataclass(frozen=True, slots=True, eq=False)
class CaseView:
    """One case. `panels` is empty where its pictures cannot be made, and `why` then says why.

    `smallest` says what was left of the change when it was shrunk, where that was asked for.
    """

    case: str
    scene: str
    relation: str
    status: Status
    margin: float
    change: str
    findings: Sequence[Finding]
    panels: Sequence[Panel]
    naturalness: float | None = None
    why: str = ""
    smallest: str = ""
