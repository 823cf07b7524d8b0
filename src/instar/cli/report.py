"""`instar report`: what a run found, as text, as JSON, or as files for people and for servers."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from instar.cli.execute import read_totals
from instar.cli.opened import OpenedRun, opened
from instar.cli.outcome import Outcome, status_of
from instar.cli.progress import show_steps
from instar.errors import RunError
from instar.report import Summary, render, summarise
from instar.report.causes import Failure
from instar.report.figures import Figures
from instar.report.groups import Group, group_failures
from instar.report.html import Page, render_html
from instar.report.shown import Shown
from instar.report.summary import to_json
from instar.store import RunStore

__all__ = ["arguments", "find_groups", "perform", "write_file"]

PICTURED = 32  # findings with pictures, over all groups
PER_GROUP = 6
PASSING = 6


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", metavar="RUN", help="a run folder")
    add("--html", metavar="FILE", help="also write a page to look at: one file, opened from disk")


def perform(args: argparse.Namespace) -> Outcome:
    with RunStore.read(args.run) as store:
        figures = Figures()
        totals = read_totals(store)
        summary = summarise(figures.watch(store.records(changes=False)), totals)
        groups = find_groups(store)
    if args.html:
        write_file(args.html, render_html(make_page(args.run, summary, figures, groups, quiet=args.json)))
    document = to_json(summary) | {"groups": [group_json(group) for group in groups]}
    return Outcome(render(summary, groups), document, status_of(summary.counts))


def find_groups(store: RunStore) -> list[Group]:
    failures = (Failure(record, recipe) for record, recipe in store.violated())
    return group_failures(failures, store.tried())


def group_json(group: Group) -> dict[str, Any]:
    return {
        "title": group.title,
        "relation": group.relation,
        "kind": group.kind,
        "violations": len(group.cases),
        "scenes": group.scenes,
        "representative": group.representative,
    }


def make_page(
    run: str, summary: Summary, figures: Figures, groups: Sequence[Group], *, quiet: bool = False
) -> Page:
    """The page of a run; its pictures are made now, from the recipes."""
    with opened(run, quiet=quiet) as there:
        chosen, passing = chosen_cases(groups), figures.narrowly_held()[:PASSING]
        with show_steps("drawing findings", len(chosen) + len(passing), quiet=quiet) as steps:
            shown = {case: _shown(there, case, steps) for case in chosen}
            passed = [_shown(there, case, steps) for case in passing]
    return Page(summary, figures, groups, shown, passed)


def chosen_cases(groups: Sequence[Group]) -> list[str]:
    """The cases that get pictures: the representative of every group first, then a second of each, ..."""
    turns = [group.cases[turn] for turn in range(PER_GROUP) for group in groups if turn < len(group.cases)]
    return turns[:PICTURED]


def _shown(there: OpenedRun, case: str, steps: Any) -> Shown:
    shown = there.show(case)
    steps.advance()
    return shown


def write_file(path: str, content: str) -> None:
    """The file as it is to be, its folder made if need be."""
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(content, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror or error}") from error
