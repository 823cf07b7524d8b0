"""The groups of a run: made in a process of their own, since it takes a while, and kept."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict
from pathlib import Path

from instar.campaigns.dismissals import dismisser_in
from instar.core.verdict import NO_FAILURE
from instar.report.causes import Failure
from instar.report.groups import group_failures
from instar.report.summary import finding_identity
from instar.store import RunStore
from instar.user_file import write_whole
from instar.workbench.table import Groups

FILE = "workbench-groups.json"


def group_run(folder: str, content: str) -> Groups:
    """The failing cases of a run by cause, and how many different failures they show.

    `content` tells what the violations are and which of them were called no failure; the groups of the same
    are taken from where they were kept.
    """
    groups = _load(Path(folder) / FILE, content)
    if groups is None:
        groups = _made(folder)
        with contextlib.suppress(OSError):  # where nothing can be written they are made again next time
            write_whole(Path(folder) / FILE, json.dumps({"content": content, **asdict(groups)}))
    return groups


def _made(folder: str) -> Groups:
    distinct: set[tuple[str, ...]] = set()
    none: set[tuple[str, ...]] = set()
    failures = []
    with RunStore.read(folder) as store:
        dismiss = dismisser_in(store)
        for record, recipe in ((dismiss(record), recipe) for record, recipe in store.violated()):
            if record.verdict.failures:
                failures.append(Failure(record, recipe))
            for finding in record.verdict.findings:
                if finding.is_failure:
                    distinct.add(finding_identity(record, finding))
                elif finding.known == NO_FAILURE:
                    none.add(finding_identity(record, finding))
        groups = group_failures(failures, store.tried())
    of = {case: number for number, group in enumerate(groups) for case in group.cases}
    return Groups(tuple(group.title for group in groups), of, len(distinct), len(none - distinct))


def _load(path: Path, content: str) -> Groups | None:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        titles = tuple(map(str, kept["titles"]))
        of = {str(case): int(number) for case, number in kept["of"].items()}
        if kept["content"] != content or not set(of.values()) <= set(range(len(titles))):
            return None
        return Groups(titles, of, int(kept["distinct"]), int(kept["none"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
