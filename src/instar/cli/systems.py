"""`instar systems`: what can be tested without writing anything."""

from __future__ import annotations

import argparse

from instar.campaigns.descriptions import describe, render_listing
from instar.core.outcome import Outcome


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "your own: --system module:attr, where attr is a system, a factory or a predict function"


def perform(args: argparse.Namespace) -> Outcome:
    systems = describe("system")
    return Outcome(render_listing("system", systems), {"systems": systems})
