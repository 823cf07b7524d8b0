"""`instar study FAMILY`: the tables of a family's paper, for whatever systems are given."""

from __future__ import annotations

import argparse
from importlib import import_module

from instar.core.errors import BadInput
from instar.core.outcome import Outcome
from instar.studies.arguments import ARGUMENTS

FAMILIES = {
    "detection": "what insertion finds in object detectors, and how far to believe it",
    "text": "how stable text locators are, and what makes them unstable",
    "driving": "which rules driving systems break, and from which threshold on",
    "interpretation": "how far explanations of a classifier can be trusted",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    families = parser.add_subparsers(dest="family", metavar="FAMILY", help=", ".join(FAMILIES))
    for name, purpose in FAMILIES.items():
        ARGUMENTS[name](families.add_parser(name, description=purpose))


def perform(args: argparse.Namespace) -> Outcome:
    if args.family is None:
        raise BadInput("study of what? give a family: " + ", ".join(FAMILIES))
    outcome: Outcome = import_module(f"instar.studies.{args.family}.command").perform(args)
    return outcome
