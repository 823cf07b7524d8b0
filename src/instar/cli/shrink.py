"""`instar shrink`: the smallest change of a case that still fails."""

from __future__ import annotations

import argparse
from pathlib import Path

from instar.campaigns.reader import open_run
from instar.campaigns.shrink import MOST_QUESTIONS, format_shrunk
from instar.cli.flags import named_arguments, named_from
from instar.core.errors import BadInput
from instar.core.outcome import VIOLATED, Outcome
from instar.report.answers import answer_to_json, verdict_text, verdict_to_json
from instar.report.files import keep_picture


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", metavar="RUN", help="a run folder")
    add("case", metavar="CASE", help="a violated case's id, or the beginning of it")
    most = f"questions to the system, at most ({MOST_QUESTIONS})"
    add("--budget", type=int, default=MOST_QUESTIONS, metavar="N", help=most)
    named_arguments(parser)


def perform(args: argparse.Namespace) -> Outcome:
    if args.budget < 1:
        raise BadInput(f"--budget is {args.budget}; it must be at least 1")
    with open_run(args.run, named=named_from(args), quiet=args.quiet) as reader, reader.asking() as asking:
        record = reader.record(args.case)
        shrunk = reader.shrink(args.case, asking, most=args.budget)
        relation = reader.relation(record.relation)
        drawn = reader.picture_with(record, shrunk.change, asking)
        words = format_shrunk(relation, shrunk)
    path = keep_picture(Path(args.run) / "shrunk" / f"{record.case}.png", drawn)
    lines = [
        f"case {record.case}: {record.relation} on {record.source}",
        f"was     {record.change}",
        f"now     {words}",
        f"verdict {verdict_text(shrunk.verdict)}",
        f"asked   {shrunk.questions} questions",
        *([f"picture {path}"] if path else []),
    ]
    document = {
        "run": args.run,
        "case": record.case,
        "scene": record.source,
        "relation": record.relation,
        "from": None if record.change is None else answer_to_json(record.change.to_json()),
        "to": answer_to_json(shrunk.change.to_json()),
        "words": words,
        "verdict": verdict_to_json(shrunk.verdict),
        "questions": shrunk.questions,
        "complete": shrunk.complete,
        "picture": path,
    }
    return Outcome("\n".join(lines), document, VIOLATED)
