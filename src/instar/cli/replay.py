"""`instar replay`: one case made again and asked again, beside what was recorded."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path
from typing import Any

from instar.campaigns.reader import open_run
from instar.cli.flags import named_arguments, named_from
from instar.core.outcome import ALL_HELD, NOT_JUDGED, VIOLATED, Outcome
from instar.core.replay import Replay
from instar.core.verdict import Status
from instar.report.answers import answer_text, answer_to_json, verdict_text, verdict_to_json
from instar.report.case_picture import draw_case
from instar.report.files import keep_picture

EXIT_STATUS = {Status.HELD: ALL_HELD, Status.VIOLATED: VIOLATED}
MOST_ROWS = 12
"""Of an answer that are printed; usually the surest come first."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run folder")
    parser.add_argument("case", metavar="CASE", help="a case's id, or the beginning of it")
    named_arguments(parser)


def perform(args: argparse.Namespace) -> Outcome:
    with open_run(args.run, named=named_from(args), quiet=args.quiet) as reader, reader.asking() as asking:
        again = reader.replay(reader.record(args.case), asking)
        picture = draw_case(reader.panels_of(again), reader.sentence(again.record.case))
    path = keep_picture(Path(args.run) / "replays" / f"{again.record.case}.png", picture)
    status = EXIT_STATUS.get(again.verdict.status, NOT_JUDGED)
    return Outcome(_text(again, path), {"run": args.run, **_document(again, path)}, status)


def _document(again: Replay, picture: str | None) -> dict[str, object]:
    record = again.record
    return {
        "case": record.case,
        "scene": record.scene,
        "relation": record.relation,
        "change": None if record.change is None else answer_to_json(record.change.to_json()),
        "then": verdict_to_json(record.verdict),
        "now": verdict_to_json(again.verdict),
        "same": again.same,
        "source": None if again.source is None else answer_to_json(again.source.answer),
        "follow_ups": [answer_to_json(follow_up.answer) for follow_up in again.follow_ups],
        "picture": picture,
    }


def _text(again: Replay, picture: str | None) -> str:
    record = again.record
    lines = [f"case {record.case}: {record.relation} on {record.scene}"]
    lines += [f"change  {'none was made' if record.change is None else record.change}"]
    lines += [f"then    {verdict_text(record.verdict)}", f"now     {verdict_text(again.verdict)}"]
    lines += [f"same    {'yes' if again.same else 'no'}"]
    if picture is not None:
        lines += [f"picture {picture}"]
    if again.source is not None:
        lines += ["", "answer to the source", _indented(again.source.answer)]
    for follow_up in again.follow_ups:
        lines += ["", "answer to the follow-up", _indented(follow_up.answer)]
    return "\n".join(lines)


def _indented(answer: Any) -> str:
    return textwrap.indent(answer_text(answer, most=MOST_ROWS), "  ")
