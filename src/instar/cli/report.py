"""`instar report`: what a run found."""

from __future__ import annotations

import argparse

from instar.cli.builtin import RELATIONS
from instar.cli.execute import read_summary
from instar.cli.outcome import Outcome, status_of
from instar.cli.plan import make_plan
from instar.cli.resolve import find
from instar.cli.toml import parse_toml
from instar.report import render
from instar.report.summary import to_json
from instar.store import RunStore

__all__ = ["arguments", "perform"]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run folder")


def perform(args: argparse.Namespace) -> Outcome:
    with RunStore.read(args.run) as store:
        if (store.folder / "plan.toml").is_file():
            # The changes of a user's own relation can be read only when its module is loaded.
            for pair in make_plan(parse_toml(store.plan())).relations:
                find("relation", pair.relation.name, RELATIONS)
        summary = read_summary(store)
    return Outcome(render(summary), to_json(summary), status_of(summary.counts))
