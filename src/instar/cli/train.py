"""`instar train`: a driving network, or an engine that changes street pictures."""

import argparse

from instar.core.outcome import Outcome
from instar.training.driving import command as drivers
from instar.training.engines import command as engines

DRIVERS = ("epoch", "vgg16", "resnet101")


def arguments(parser: argparse.ArgumentParser) -> None:
    parts = parser.add_subparsers(dest="architecture", metavar="NETWORK", required=True)
    for name in DRIVERS:
        what = "a driving network, on pictures whose driver is known"
        drivers.arguments(parts.add_parser(name, help=what, description=what))
    what = "an engine, on street pictures with label maps"
    engines.arguments(parts.add_parser("engine", help=what, description=what))


def perform(args: argparse.Namespace) -> Outcome:
    return engines.perform(args) if args.architecture == "engine" else drivers.perform(args)
