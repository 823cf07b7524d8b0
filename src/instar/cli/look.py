"""`instar look`: what a system answers, drawn on each picture; with annotations, how accurate it is."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instar.campaigns.catalogue import catalogues, import_home
from instar.campaigns.overrides import add_settings, systems_with
from instar.core.errors import UnreadablePicture
from instar.core.outcome import ALL_HELD, NOT_JUDGED, Outcome
from instar.core.task import TASKS, Task, find_task

if TYPE_CHECKING:
    from instar.core.marks import Panel
    from instar.core.scene import Observation, Scene
    from instar.core.system import System

__all__ = ["arguments", "perform"]

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
    accuracy = _accuracy(names[0], seen)
    empty = task.is_empty is not None and 2 * sum(map(task.is_empty, (one.answer for one in seen))) >= len(
        seen
    )
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
    from instar.core.scene import Observation
    from instar.report.case_picture import draw_case
    from instar.report.files import write_picture

    try:
        image = scene.image
        questions = _questions(system, task, replace(scene, read=lambda: image))
    except UnreadablePicture as error:
        questions = str(error)
    if isinstance(questions, str):
        yield {"scene": scene.id, "found": questions, "picture": None}
        return
    for part, build in questions:
        shown = build(image)
        source = Observation.of(shown, None, scene, part)
        answer, why_not = _ask(system, task, shown)
        if why_not:
            yield {"scene": source.id, "found": f"failed: {why_not}", "picture": None}
            continue
        answered = replace(source, answer=answer)
        panel = task.marks(answered)
        path = folder / f"{_file_name(source.id)}.png"
        drawing = draw_case([panel], f"{system.name} on {source.id}")
        assert drawing is not None
        write_picture(path, drawing)
        seen.append(answered)
        yield {"scene": source.id, "found": _words(panel), "picture": str(path)}


def _questions(system: System, task: Task, scene: Scene) -> Any:
    """What the scene is asked, or the reason why nothing is."""
    from instar.core.follow_up import questions_of
    from instar.core.system import ask
    from instar.core.verdict import Verdict

    asking = questions_of(task, scene)
    reply = None
    while True:
        try:
            query = asking.send(reply)
        except StopIteration as end:
            return end.value.reason if isinstance(end.value, Verdict) else end.value
        (reply,) = ask(system, [query.input])


def _ask(system: System, task: Task, shown: Any) -> tuple[Any, str]:
    """The answer as the task reads it, or why there is none."""
    from instar.core.system import ask, describe_error

    (reply,) = ask(system, [shown])
    if reply.error is not None:
        return None, reply.error
    try:
        return task.read(shown, reply.answer), ""
    except (ValueError, TypeError) as error:
        return None, describe_error(error)


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


def _accuracy(task: str, seen: list[Observation]) -> dict[str, Any]:
    """What the task says about answers where the truth is known."""
    home = catalogues()[task].accuracy if task in TASKS else ""
    return dict(import_home(home)(seen)) if home else {}


def _accuracy_lines(accuracy: dict[str, Any]) -> Iterator[str]:
    listed = {name: value for name, value in accuracy.items() if isinstance(value, list)}
    yield ", ".join(f"{name} {value}" for name, value in accuracy.items() if name not in listed)
    for name, values in listed.items():
        if values:
            yield f"{name}: {', '.join(values)}"


def _file_name(text: str) -> str:
    """A name or an id as the name of one file."""
    return re.sub(r"[^\w.#-]+", "_", text).strip("._") or "picture"
