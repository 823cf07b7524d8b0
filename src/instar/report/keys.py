"""By what a failure is known again in another run: relation, scene, source object and kind."""

from __future__ import annotations

from typing import NamedTuple

from instar.core.record import Record

__all__ = ["FailureKey", "keys_of"]


class FailureKey(NamedTuple):
    """A failure whatever change showed it; `object` is empty where a relation has no objects."""

    relation: str
    scene: str
    object: str
    kind: str


def keys_of(record: Record) -> set[FailureKey]:
    """The failures that a violated case shows."""
    return {
        FailureKey(record.relation, record.source, finding.subject, finding.kind)
        for finding in record.verdict.findings
    }
