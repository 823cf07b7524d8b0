"""`instar report`: what a run found."""

from __future__ import annotations

import argparse

from instar.cli.execute import read_summary
from instar.cli.outcome import Outcome, status_of
from instar.report import render
from instar.report.summary import to_json
from instar.store import RunStore

__all__ = ["arguments", "perform"]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run folder")


def perform(args: argparse.Namespace) -> Outcome:
    with RunStore.read(args.run) as store:
        summary = read_summary(store)
    return Outcome(render(summary), to_json(summary), status_of(summary.counts))
