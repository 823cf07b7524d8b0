"""`instar gate`: few cases of a run that are asked of every new version of the system."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

from instar.campaigns.dismissals import dismisser_in, said_in
from instar.campaigns.result import names_code, plan_of
from instar.campaigns.run import read_totals
from instar.core.errors import BadInput
from instar.core.outcome import Outcome
from instar.report.files import whole_folder
from instar.report.gate_choice import choice_words, choose_gate_cases
from instar.report.known import Known, render_known
from instar.store import RunStore
from instar.store.subset import write_subset
from instar.user_file import write_file

KNOWN_FILE = "known-failures.json"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", metavar="RUN", help="a run of the system as it is now")
    add("--budget", type=int, default=500, metavar="N", help="questions to ask of a new version (500)")
    add("--out", required=True, metavar="GATE", help="where to: a small run folder, to be kept with the code")
    parser.epilog = (
        "then, for each new version: instar run --changes GATE --known GATE/known-failures.json --system S\n"
        "exits with 1 only where a failure is new"
    )


def perform(args: argparse.Namespace) -> Outcome:
    if args.budget < 1:
        raise BadInput(f"--budget is {args.budget}; it must be at least 1")
    folder = Path(args.out)
    if folder.exists():
        raise BadInput(f"{folder} exists; give another --out, or remove it")
    with RunStore.read(args.run) as store:
        totals, said, named = read_totals(store), said_in(store), _system_named(store)
        records = map(dismisser_in(store), store.records(changes=False))
        choice = choose_gate_cases(records, budget=args.budget, queries=totals.queries)
    if not choice.cases:
        raise BadInput(f"{args.run} has no judged case for {args.budget} questions; give more with --budget")
    with whole_folder(folder):
        write_subset(Path(args.run), folder, choice.cases, queries=choice.queries)
        known = Known(choice.failures, said.dismissals)
        write_file(folder / KNOWN_FILE, render_known(known, system=totals.system))
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    document = {
        "run": args.run,
        "gate": args.out,
        "cases": len(choice.cases),
        "queries": choice.queries,
        "failures": len(choice.failures),
        "of_failures": choice.of_failures,
        "held": choice.held,
        "of_held": choice.of_held,
        "smallest_share": choice.smallest_share,
        "bytes": size,
    }
    system = shlex.quote(named or totals.system) + " --trust" * names_code(args.run)
    command = f"instar run --changes {args.out} --known {args.out}/{KNOWN_FILE} --system {system} --out RUN"
    return Outcome(
        f"{choice_words(choice)}\n{max(0.1, size / 1e6):.1f} MB in {args.out}\n\n{command}", document
    )


def _system_named(store: RunStore) -> str:
    """What to give to `--system` for the system of a run; a file by the path that leads there from here."""
    plan = plan_of(store)
    if plan is None or not plan.systems:
        return ""
    model = plan.systems[0].options.get("model")
    return (
        os.path.relpath(model) if isinstance(model, str) and os.path.isfile(model) else plan.systems[0].name
    )
