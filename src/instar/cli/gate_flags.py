"""The flags by which a command fails on less than any violation; light, since `--help` needs them."""

from __future__ import annotations

import argparse

__all__ = ["gate_arguments"]


def gate_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--known", metavar="FILE", help="known failures (see instar known): only new ones fail")
    add(
        "--fail-on",
        action="append",
        default=[],
        metavar="CONDITION",
        help='exit 1 only when this holds, such as "rate>0.05"; repeat it',
    )
