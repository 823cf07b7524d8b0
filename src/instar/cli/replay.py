"""`instar replay`: one case made again and asked again, beside what was recorded."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

from instar.cli.answers import answer_text, answer_to_json, verdict_text, verdict_to_json
from instar.cli.case_replay import keep_picture, replaying
from instar.cli.outcome import ALL_HELD, NOT_JUDGED, VIOLATED, Outcome
from instar.core.replay import Replay
from instar.core.verdict import Status

__all__ = ["arguments", "perform"]

EXIT_STATUS = {Status.HELD: ALL_HELD, Status.VIOLATED: VIOLATED}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run folder")
    parser.add_argument("case", metavar="CASE", help="a case's id, or the beginning of it")


def perform(args: argparse.Namespace) -> Outcome:
    with replaying(args.run, quiet=args.json) as make_again:
        again = make_again(args.case)
    path: Path | None = None
    if again.picture is not None:
        path = keep_picture(Path(args.run) / "replays", f"{again.replay.record.case}.png", again.picture)
    status = EXIT_STATUS.get(again.replay.verdict.status, NOT_JUDGED)
    return Outcome(_text(again.replay, path), {"run": args.run, **_document(again.replay, path)}, status)


def _document(again: Replay, picture: Path | None) -> dict[str, object]:
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
        "picture": None if picture is None else str(picture),
    }


def _text(again: Replay, picture: Path | None) -> str:
    record = again.record
    lines = [f"case {record.case}: {record.relation} on {record.scene}"]
    lines += [f"change  {'none was made' if record.change is None else record.change}"]
    lines += [f"then    {verdict_text(record.verdict)}", f"now     {verdict_text(again.verdict)}"]
    lines += [f"same    {'yes' if again.same else 'no'}"]
    if picture is not None:
        lines += [f"picture {picture}"]
    if again.source is not None:
        lines += ["", "answer to the source", textwrap.indent(answer_text(again.source.answer), "  ")]
    for follow_up in again.follow_ups:
        lines += ["", "answer to the follow-up", textwrap.indent(answer_text(follow_up.answer), "  ")]
    return "\n".join(lines)
