"""`instar known`: failures that are known, and findings that are none, in a file that a team shares."""

from __future__ import annotations

import argparse
from pathlib import Path

from instar.campaigns.dismissals import said_in
from instar.campaigns.run import read_totals
from instar.core.errors import BadInput
from instar.core.outcome import ALL_HELD, VIOLATED, Outcome
from instar.core.record import Record
from instar.report.by_scene import FailureKey, FailureObject, failures_of
from instar.report.known import Known, dismisser, read_known, render_known
from instar.report.words import counted
from instar.store import RunStore
from instar.store.marks import Marks
from instar.user_file import read_json, write_file


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", metavar="RUN", help="a run folder")
    add("cases", metavar="CASE", nargs="*", help="cases that are no failure; without any, all are known")
    add("--reason", metavar="TEXT", help="why they are none")
    add("--undo", action="store_true", help="take back that they are none")
    add("--check", action="store_true", help="instead of a run, files of known failures: put them in order")
    add("--out", default="known-failures.json", metavar="FILE", help="where to (known-failures.json)")
    parser.epilog = (
        "instar known RUN writes all failures of a run as a baseline; words in FILE and marks made in the\n"
        "workbench are kept. instar known RUN CASE --reason TEXT adds to FILE that a finding is no failure.\n"
        "Give FILE to later runs: instar run ... --known FILE"
    )


def perform(args: argparse.Namespace) -> Outcome:
    if args.check:
        return _check([args.run, *args.cases])
    out = Path(args.out)
    before = read_known(out) if out.is_file() else Known()
    if not args.cases and (args.reason or args.undo):
        raise BadInput("--reason and --undo are about a case: instar known RUN CASE --reason TEXT")
    if args.cases and not args.undo and not (args.reason or "").strip():
        raise BadInput("give --reason TEXT: why is it no failure?")
    with RunStore.read(args.run) as store:
        system = read_totals(store).system
        records = [_finding(store, case) for case in args.cases]
        for record in records:  # in the run too, where the workbench shows it
            mark, reason = ("", "") if args.undo else ("acceptable", args.reason)
            Marks(store.folder).add(record.case, mark, reason)
        known = before.merge(said_in(store))
        if args.undo:
            gone = {key for record in records for key in failures_of(record)}
            kept = [one for one in known.dismissals if one.system != system or one.key not in gone]
            known = Known(known.failures, tuple(kept))
        if not args.cases:
            dismiss = dismisser(known.dismissals, system)
            failures: dict[FailureKey, FailureObject] = {}
            for record, _ in store.violated():
                failures |= failures_of(dismiss(record))
            known = Known(failures, known.dismissals)
    write_file(out, render_known(known, system=system))
    document = {
        "file": args.out,
        "system": system,
        "failures": [key._asdict() for key in sorted(known.failures)],
        "no_failure": [one.key._asdict() | {"reason": one.reason} for one in known.dismissals],
    }
    none = f", {len(known.dismissals):,} called none" if known.dismissals else ""
    return Outcome(
        f"{counted(len(known.failures), 'known failure')} of {system}{none} in {args.out}", document
    )


def _finding(store: RunStore, case: str) -> Record:
    record = store.record(case, change=False)
    if record.role != "case" or not record.verdict.failures:
        raise BadInput(f"case {case} of {store.folder} has no failure that could be called none")
    return record


def _check(files: list[str]) -> Outcome:
    """As a pre-commit hook: a damaged file is refused, one in another order is written anew."""
    rewritten = []
    for file in files:
        path = Path(file)
        known = read_known(path)
        empty = next((one.key for one in known.dismissals if not one.reason.strip()), None)
        if empty is not None:
            raise BadInput(f"{file}: no reason is given why this is no failure: {empty}")
        whole = render_known(known, system=read_json(path, "list of known failures").get("system", ""))
        if path.read_text(encoding="utf-8") != whole:
            write_file(path, whole)
            rewritten.append(file)
    told = f"put in order: {', '.join(rewritten)}" if rewritten else f"{counted(len(files), 'file')} in order"
    return Outcome(told, {"files": files, "rewritten": rewritten}, VIOLATED if rewritten else ALL_HELD)
