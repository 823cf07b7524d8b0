"""`instar look`: what a system answers, drawn on each picture; with annotations, how accurate it is."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instar.campaigns.catalogue import catalogues, import_home
from instar.campaigns.overrides import add_settings, systems_with
from instar.core.errors import UnreadablePicture
from instar.core.outcome import ALL_HELD, NOT_JUDGED, Outcome
from instar.core.task import TASKS, Task, find_task

if TYPE_CHECKING:
    from instar.core.follow_up import Query
    from instar.core.marks import Panel
    from instar.core.scene import Observation, Scene
    from instar.core.system import Reply, System

MOST_NAMED = 8
"""Things of a picture that its line names."""
WHAT_TO_CHECK = (
    "Hardly anything was found. Check what the system is shown (order of colours, scale of values, size), "
    "what its answers mean (head, labels) and its confidence."
)


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("system", metavar="SYSTEM", help="a built-in name or module:attr")
    add("pictures", metavar="PICTURES", help="what --scenes takes: a folder, a picture, a COCO json, ...")
    add("--task", metavar="NAME", help=f"what your own system answers: {', '.join(TASKS)}, or module:attr")
    add("--out", metavar="FOLDER", help="where the drawn pictures go (looks/SYSTEM)")
    add("--limit", type=int, metavar="N", help="pictures to look at, at most")
    add_settings(parser, "SYSTEM.KEY=VALUE", "an option of the system; repeat it")


def perform(args: argparse.Namespace) -> Outcome:
    # Loads OpenCV, which neither --help nor a wrong flag should wait for.
    from instar.campaigns.definite_plan import world_for
    from instar.campaigns.resolve import find_by_name, resolve_system, tasks_of_system
    from instar.campaigns.task_choice import task_by_asking
    from instar.scenes import load_scenes, require_one_readable

    (use,) = systems_with([args.system], args.set)
    names = [args.task] if args.task else tasks_of_system(use) or [task_by_asking(use)]
    task = find_task(find_by_name("task", names[0]) if ":" in names[0] else names[0])
    scenes = load_scenes(world_for(args.pictures, names[:1] if names[0] in TASKS else ()), limit=args.limit)
    require_one_readable(scenes)
    system = resolve_system(use, tasks=names)
    folder = Path(args.out or Path("looks") / _file_name(system.name))
    seen: list[Observation] = []
    rows = [row for scene in scenes for row in _look(system, task, scene, folder, seen)]
    measure = catalogues()[names[0]].accuracy if names[0] in TASKS else ""
    accuracy = dict(import_home(measure)(seen)) if measure else {}
    is_empty = task.is_empty or (lambda answer: False)
    empty = 2 * sum(is_empty(one.answer) for one in seen) >= len(seen)
    lines = [f"{row['scene']}: {row['found']}" for row in rows]
    lines += ["", *_accuracy_lines(accuracy)] if accuracy else []
    lines += ["", WHAT_TO_CHECK] if seen and empty else []
    lines += ["", f"drawn in {folder}"] if seen else []
    document = {
        "system": system.name,
        "task": task.name,
        "folder": str(folder),
        "pictures": rows,
        "accuracy": accuracy or None,
    }
    return Outcome("\n".join(lines), document, ALL_HELD if seen else NOT_JUDGED)


def _look(
    system: System, task: Task, scene: Scene, folder: Path, seen: list[Observation]
) -> Iterator[dict[str, Any]]:
    """A row for every question that the task asks of the scene; what was answered goes to `seen`."""
    from instar.core.replay import answer_source, ask_questions
    from instar.core.scene import Observation
    from instar.core.system import ask
    from instar.core.verdict import Verdict
    from instar.report.case_picture import draw_case
    from instar.report.files import write_picture

    def asking(queries: Sequence[Query]) -> list[Reply]:
        return ask(system, [query.input for query in queries])

    try:
        image = scene.image
        questions = ask_questions(task, replace(scene, read=lambda: image), asking)
    except UnreadablePicture as error:
        questions = Verdict.inapplicable(str(error))
    if isinstance(questions, Verdict):
        yield {"scene": scene.id, "found": questions.reason, "picture": None}
        return
    for part, build in questions:
        source = Observation.of(build(image), None, scene, part)
        answered = answer_source(task, source, asking)
        if isinstance(answered, str):
            yield {"scene": source.id, "found": f"failed: {answered}", "picture": None}
            continue
        panel = task.marks(answered)
        path = folder / f"{_file_name(source.id)}.png"
        drawing = draw_case([panel], f"{system.name} on {source.id}")
        assert drawing is not None
        write_picture(path, drawing)
        seen.append(answered)
        yield {"scene": source.id, "found": _words(panel), "picture": str(path)}


def _words(panel: Panel) -> str:
    """What a panel shows, in one line."""
    named = [mark.label for mark in panel.marks if mark.label]
    unnamed = len(panel.marks) - len(named)
    words = [panel.title] if panel.title else []
    words += [f"{dial.name} {dial.value:.1f} {dial.unit}" for dial in panel.dials]
    words += named[:MOST_NAMED]
    if len(named) > MOST_NAMED:
        words.append(f"and {len(named) - MOST_NAMED} more")
    if unnamed:
        words.append(f"{unnamed} found")
    return ", ".join(words) or "nothing found"


def _accuracy_lines(accuracy: dict[str, Any]) -> Iterator[str]:
    listed = {name: value for name, value in accuracy.items() if isinstance(value, list)}
    yield ", ".join(f"{name} {value}" for name, value in accuracy.items() if name not in listed)
    for name, values in listed.items():
        if values:
            yield f"{name}: {', '.join(values)}"


def _file_name(text: str) -> str:
    """A name or an id as the name of one file."""
    return re.sub(r"[^\w.#-]+", "_", text).strip("._") or "picture"
