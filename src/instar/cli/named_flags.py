"""The flags that stand for what a plan names: needed where a run was made in Python with unnamed things."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from instar.campaigns.reader import Named

__all__ = ["named_arguments", "named_from"]


def named_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--system", metavar="NAME", help="the system, where it is not the one that the plan names")
    add("--relation", action="append", metavar="NAME", help="a relation, likewise; repeat it")
    add("--scenes", metavar="PATH", help="the scenes, likewise")


def named_from(args: argparse.Namespace) -> Named:
    from instar.campaigns.reader import Named

    return Named(args.system, args.relation or (), args.scenes)
