"""The groups of a run, made in a process of their own: reading every violation takes a while."""

from __future__ import annotations

from instar.report.causes import Failure
from instar.report.groups import group_failures
from instar.report.summary import identity_of
from instar.store import RunStore
from instar.workbench.table import Groups

__all__ = ["group_run"]


def group_run(folder: str) -> Groups:
    """The violated cases of a run by cause, and how many different failures they show."""
    distinct: set[tuple[str, ...]] = set()
    failures = []
    with RunStore.read(folder) as store:
        for record, recipe in store.violated():
            failures.append(Failure(record, recipe))
            distinct.update(identity_of(record, finding) for finding in record.verdict.findings)
        groups = group_failures(failures, store.tried())
    of = {case: number for number, group in enumerate(groups) for case in group.cases}
    return Groups(tuple(group.title for group in groups), of, len(distinct))
