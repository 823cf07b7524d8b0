"""`instar questions`: the first round of a campaign whose system is elsewhere."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from instar.cli import run
from instar.cli.flags import gate_from
from instar.core.outcome import Outcome
from instar.report.words import counted

if TYPE_CHECKING:
    from instar.campaigns.result import Gate


def arguments(parser: argparse.ArgumentParser) -> None:
    run.arguments(parser)
    parser.epilog = (
        "--system is any name for the system, and --set system.labels= names its numbered classes. Answer "
        "the pictures in RUN/questions, then: instar answers RUN FILE"
    )


def perform(args: argparse.Namespace) -> Outcome:
    called = args.system or "elsewhere"
    args.system = "elsewhere"
    args.set = [*args.set, f"system.called={json.dumps(called)}"]
    plan, gate = run.plan_from(args), gate_from(args)
    from instar.campaigns.run import execute

    (folder,) = execute(plan, resume=args.resume, quiet=args.quiet)
    return what_is_asked(folder, gate)


def what_is_asked(folder: str, gate: Gate) -> Outcome:
    """What is to be asked next; the result of the campaign where nothing is."""
    from instar.adapters.elsewhere import QUESTIONS_FILE, QUESTIONS_FOLDER, read_manifest

    questions = Path(folder) / QUESTIONS_FOLDER
    if not (questions / QUESTIONS_FILE).is_file():
        return run.outcome_of([folder], gate)
    n = len(read_manifest(questions))
    text = (
        f"{counted(n, 'picture')} to ask in {questions}, listed in {QUESTIONS_FILE}. Then: instar "
        f"answers {folder} FILE, with COCO results or a line of JSON for each picture, such as\n"
        '{"file": "NAME.png", "boxes": [[12, 40, 88, 120]], "labels": ["dog"], "scores": [0.9]}'
    )
    return Outcome(text, {"run": folder, "questions": n, "folder": str(questions)})
