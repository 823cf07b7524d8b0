"""`instar relations`: what can be demanded of a system, and how failures are looked for."""

from __future__ import annotations

import argparse

from instar.cli.catalogue import RELATIONS, SEARCHES
from instar.cli.descriptions import describe, render_listing
from instar.cli.outcome import Outcome

__all__ = ["arguments", "perform"]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "your own: --relation module:attr, where attr is an instar.Relation or makes one"


def perform(args: argparse.Namespace) -> Outcome:
    relations, searches = describe("relation", RELATIONS), describe("search", SEARCHES)
    text = render_listing("relation", relations) + "\n\n" + render_listing("search", searches)
    return Outcome(text, {"relations": relations, "searches": searches})
