"""`instar relations`: what can be demanded of a system, and how failures are looked for."""

from __future__ import annotations

import argparse

from instar.campaigns.descriptions import describe, render_listing
from instar.core.outcome import Outcome


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "your own: --relation module:attr, where attr is an instar.Relation or makes one"


def perform(args: argparse.Namespace) -> Outcome:
    relations, searches = describe("relation"), describe("search")
    text = render_listing("relation", relations) + "\n\n" + render_listing("search", searches)
    return Outcome(text, {"relations": relations, "searches": searches})
