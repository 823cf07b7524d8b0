"""What several commands share, their flags above all; light, since `--help` needs them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from instar.core.errors import BadInput

if TYPE_CHECKING:
    from instar.campaigns.reader import Named
    from instar.campaigns.result import Gate
    from instar.report.known import Known


def gate_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags by which a command fails on less than any violation."""
    known_argument(parser, "known failures (see instar known): exit 1 only for others; repeat it")
    only = 'exit 1 only when this holds, such as "rate>0.05"; repeat it'
    parser.add_argument("--fail-on", action="append", default=[], metavar="CONDITION", help=only)


def gate_from(args: argparse.Namespace) -> Gate:
    """What the flags say, refused before anything is asked where it makes no sense."""
    from instar.campaigns.result import Gate
    from instar.report.gate import read_condition

    conditions = tuple(map(read_condition, args.fail_on))
    known = known_from(args)
    for condition in conditions:
        if condition.name in ("new", "fixed") and known is None:
            raise BadInput(f"--fail-on {condition} needs --known FILE")
    return Gate(conditions, known)


def known_argument(parser: argparse.ArgumentParser, about: str) -> None:
    parser.add_argument("--known", action="append", metavar="FILE", help=about)


def known_from(args: argparse.Namespace) -> Known | None:
    """What the files of `--known` say together; None where none was given."""
    from instar.report.known import Known, read_known

    known = None
    for file in args.known or ():
        known = (known or Known()).merge(read_known(Path(file)))
    return known


def named_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags that stand for what a plan names, where a run was made in Python with unnamed things."""
    add = parser.add_argument
    add("--system", metavar="NAME", help="the system, where it is not the one that the plan names")
    add("--relation", action="append", metavar="NAME", help="a relation, likewise; repeat it")
    add("--scenes", metavar="PATH", help="the scenes, likewise")
    trust_argument(parser)


def trust_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--trust", action="store_true", help="import the code that the run's plan names")


def named_from(args: argparse.Namespace) -> Named:
    from instar.campaigns.reader import Named

    return Named(args.system, args.relation or (), args.scenes, args.trust)


def installed_version() -> str | None:
    """The version of instar; None where it is run from a source tree."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("instar")
    except PackageNotFoundError:
        return None
