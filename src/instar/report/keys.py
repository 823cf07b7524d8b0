"""By what a failure is known again in another run: relation, scene, source object and kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from instar.core.record import Record
from instar.report.markup import readable

__all__ = ["FailureKey", "keys_of", "list_keys"]

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
        for finding in record.verdict.findings
    }


def list_keys(keys: Sequence[FailureKey], title: str = "") -> Iterator[str]:
    """A line for each of the first failures, and how many more there are."""
    for key in keys[:MOST_LISTED]:
        yield f"  {title}{key}"
    if len(keys) > MOST_LISTED:
        yield f"  {title}and {len(keys) - MOST_LISTED:,} more"
