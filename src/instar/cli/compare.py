"""`instar compare`: what is newly broken and what is fixed between two runs."""

from __future__ import annotations

import argparse

from instar.campaigns.result import compare_folders, names_code
from instar.cli.flags import known_argument, known_from
from instar.core.outcome import ALL_HELD, NOT_JUDGED, VIOLATED, Outcome
from instar.report.comparison import comparison_json, render_compared
from instar.report.words import replay_command


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="RUN_A", help="a run folder: how it was")
    parser.add_argument("second", metavar="RUN_B", help="another one: how it is now")
    known_argument(parser, "findings that are no failure (see instar known); repeat it")
    parser.epilog = (
        "pairs of cases need the same changes: instar run --changes RUN_A --system B --out RUN_B\n"
        "exit status: 1 when something is newly broken, 2 when nothing can be compared"
    )


def perform(args: argparse.Namespace) -> Outcome:
    comparison = compare_folders(args.first, args.second, known_from(args))
    status = VIOLATED if comparison.keys_broken or comparison.broken else ALL_HELD
    if not comparison.places:
        status = NOT_JUDGED
    document = {"runs": [args.first, args.second], **comparison_json(comparison)}
    text = render_compared(comparison, brief=args.quiet)
    if comparison.keys_broken and not args.quiet:
        case = comparison.after[comparison.keys_broken[0]].case
        text += f"\nLook at one: {replay_command(args.second, case, trust=names_code(args.second))}\n"
    return Outcome(text, document, status)
