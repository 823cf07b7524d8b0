"""`instar known`: the failures of a run as a baseline, so that later only new ones fail."""

from __future__ import annotations

import argparse

from instar.campaigns.run import read_totals
from instar.core.outcome import Outcome
from instar.report.by_scene import keys_of
from instar.report.gate import render_known
from instar.report.words import counted
from instar.store import RunStore
from instar.user_file import write_file

__all__ = ["arguments", "perform"]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run folder")
    parser.add_argument(
        "--out", default="known-failures.json", metavar="FILE", help="where to (known-failures.json)"
    )


def perform(args: argparse.Namespace) -> Outcome:
    with RunStore.read(args.run) as store:
        totals = read_totals(store)
        keys = sorted({key for record, _ in store.violated() for key in keys_of(record)})
    write_file(args.out, render_known(keys, system=totals.system))
    document = {"file": args.out, "system": totals.system, "failures": [key._asdict() for key in keys]}
    return Outcome(f"{counted(len(keys), 'known failure')} of {totals.system} in {args.out}", document)
