"""`instar answers`: what a system elsewhere said to the questions of a run; the campaign goes on."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from instar.cli.flags import gate_arguments, gate_from, trust_argument
from instar.cli.questions import what_is_asked
from instar.core.errors import BadInput
from instar.core.outcome import Outcome

if TYPE_CHECKING:
    from instar.campaigns.plan import Plan
    from instar.campaigns.run import GivenAnswer
    from instar.core.task import Task


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="the run folder that `instar questions` made")
    parser.add_argument("file", metavar="FILE", help="COCO results, or a line of JSON for each picture")
    trust_argument(parser)
    gate_arguments(parser)


def perform(args: argparse.Namespace) -> Outcome:
    gate = gate_from(args)
    from instar.campaigns.plan import make_plan, require_trust, uses_of
    from instar.campaigns.run import execute
    from instar.store import RunStore
    from instar.user_file import parse_toml

    with RunStore.read(args.run) as store:
        plan = dataclasses.replace(make_plan(parse_toml(store.plan())), out=args.run)
    require_trust(uses_of(plan), args.run, trusted=args.trust)
    given = _given(Path(args.run), Path(args.file), plan)
    (folder,) = execute(plan, resume=True, quiet=args.quiet, given=given)
    return what_is_asked(folder, gate)


def _given(folder: Path, file: Path, plan: Plan) -> list[GivenAnswer]:
    """The answers to the questions that wait. COCO results say nothing about a picture without objects.

    One that the task cannot read is refused with the whole file, so that it can be mended.
    """
    from instar.adapters.answer_file import has_only_objects, read_answers
    from instar.adapters.elsewhere import QUESTIONS_FOLDER, read_manifest
    from instar.adapters.labels import read_labels, with_labels
    from instar.campaigns.resolve import resolve_relation
    from instar.campaigns.run import GivenAnswer

    labels = plan.systems[0].options.get("labels")
    wanted = read_manifest(folder / QUESTIONS_FOLDER)
    answers = read_answers(file, labels)
    found = {name: answers[key] for name, id in wanted.items() for key in (str(id), name) if key in answers}
    if not found and (answers or not has_only_objects(file)):
        raise BadInput(
            f"{file} answers none of the {len(wanted)} pictures in {folder / QUESTIONS_FOLDER}; pictures go "
            "by their file's name, in COCO results by the id that questions.json gives them"
        )
    missing = [name for name in wanted if name not in found]
    if missing:
        what = "no result: nothing was found" if has_only_objects(file) else "no answer: they are asked again"
        print(f"{len(missing)} of {len(wanted)} pictures have {what}", file=sys.stderr)
    if others := len(answers) - len(found):
        print(f"{others} of {len(answers)} pictures in {file} are not asked now", file=sys.stderr)
    if has_only_objects(file):
        found |= {name: with_labels([], read_labels(labels)) for name in missing}
    task = resolve_relation(plan.relations[0].relation).resolved_task
    for name, answer in found.items():
        _require_readable(task, folder / QUESTIONS_FOLDER / f"{name}.png", answer, file)
    asked = {name: name.partition("-") for name in found}
    return [GivenAnswer(digest, int(repeat or 0), found[name]) for name, (digest, _, repeat) in asked.items()]


def _require_readable(task: Task, picture: Path, answer: object, file: Path) -> None:
    from instar.imaging.codecs import read_picture

    try:
        task.read(read_picture(picture), answer)
    except (ValueError, TypeError) as wrong:
        raise BadInput(f"{file}, the answer to {picture.name}: {wrong}") from None
