"""Which task a system belongs to, where its name does not tell: by its relations, or by asking it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from instar.campaigns.catalogue import catalogues
from instar.campaigns.plan import Plan, RelationUse, Use
from instar.campaigns.resolve import resolve_system, tasks_of_system
from instar.campaigns.system_names import settle_name
from instar.core.answer_values import short
from instar.core.errors import BadInput
from instar.core.relation import Relation
from instar.core.scene import Scene
from instar.core.system import System, ask
from instar.core.task import TASKS, find_task
from instar.engines.worker import WorkerSystem
from instar.store.foreign_values import to_plain

LOOPBACK = ("", "localhost", "127.0.0.1", "[::1]")
LENIENT = ("classification", "text")  # they read labels and boxes wherever they stand, a detector's too


def choose_tasks(plan: Plan) -> Plan:
    """The plan with the suite of its systems' task where no relation was given, and every relation that
    several tasks have named with its task where the systems' names do not tell which is meant.
    """
    names = [pair.relation.name for pair in plan.relations]
    shared = [name for name in names if len(_having(name)) > 1]
    if names and not shared:
        return plan
    own = [task for use in plan.systems for task in tasks_of_system(use)]
    told = own or _having_all(names)
    task = told[0] if told else task_by_asking(plan.systems[0], shared)
    relations = plan.relations
    if not names:
        catalogue = catalogues()[task]
        search = Use(catalogue.suite_search) if catalogue.suite_search else None
        relations = tuple(RelationUse(Use(name), search) for name in catalogue.suite)
    if not own:  # else the system's name says which is meant, wherever the plan is read
        relations = tuple(
            dataclasses.replace(pair, relation=_named(pair.relation, task)) for pair in relations
        )
    return dataclasses.replace(plan, relations=relations)


def name_tasks(relations: Sequence[str | Relation], system: str | System, use: Use) -> list[str | Relation]:
    """The relations of a campaign in Python, those that several tasks have named with that of the system;
    `use` is what a plan calls it.
    """
    names = [one for one in relations if isinstance(one, str)]
    shared = [name for name in names if len(_having(name)) > 1]
    if not shared:
        return list(relations)
    told = tasks_of_system(settle_name(use)) if use.name else []
    told = told or [one.resolved_task.name for one in relations if isinstance(one, Relation)]
    if not (told := told or _having_all(names)):
        told = [
            task_by_asking(use, shared) if isinstance(system, str) else _task_of(system, use.name, shared)
        ]
    return [_named(Use(one), told[0]).name if isinstance(one, str) else one for one in relations]


def _named(use: Use, task: str) -> Use:
    if len(_having(use.name)) < 2:
        return use
    return dataclasses.replace(use, name=f"{task}.{use.name}")


def _having(name: str) -> list[str]:
    """The tasks that have a relation of that name, which may name its task."""
    task, _, bare = name.rpartition(".")
    if task in TASKS:
        return [task] if bare in catalogues()[task].relations else []
    return [task for task, one in catalogues().items() if name in one.relations]


def _having_all(names: list[str]) -> list[str]:
    """The one task that has all these relations; none where there are several, or a user's own relation."""
    built_in = [_having(name) for name in names if _having(name)]
    common = [task for task in TASKS if built_in and all(task in one for one in built_in)]
    return common if len(common) == 1 else []


def task_by_asking(use: Use, shared: Sequence[str] | None = None) -> str:
    """The one task that can read the answers of a system by name; `shared` are relations of several tasks,
    None where the task itself can be given."""
    if use.name == "elsewhere":
        raise BadInput(_unknown(use.name, shared))
    system = resolve_system(use)
    try:
        return _task_of(system, use.name, shared)
    finally:
        if isinstance(system, WorkerSystem):
            system.close()


def _unknown(name: str, shared: Sequence[str] | None) -> str:
    if shared is None:
        what = "give --task, such as --task detection"
    elif shared:
        having = _having(shared[0])
        named = " or ".join(f"{task}.{shared[0]}" for task in having)
        what = f"{shared[0]!r} is a relation of several tasks; write --relation {named}"
    else:
        what = "no relation was given; name one, such as --relation insertion"
    return f"{what}: the task of {name!r} cannot be told"


def _task_of(system: System, name: str, shared: Sequence[str] | None) -> str:
    """The one task that can read the answers to a black and a grey picture."""
    hint = _unknown(name or system.name, shared)
    host = str(getattr(system, "sends_to", ""))
    if host.rpartition(":")[0] not in LOOPBACK and host not in LOOPBACK:
        raise BadInput(f"{hint} without sending pictures to {host}")
    pictures = [np.full((240, 320, 3), level, np.uint8) for level in (0, 114)]
    replies = ask(system, pictures, retries=1)
    failed = next((reply.error for reply in replies if reply.error is not None), None)
    if failed is not None:
        if own := [task for task in TASKS if _answers(system, task, pictures[1])]:
            return own[0]
        raise BadInput(f"{hint}, a black picture is answered by {failed}")
    answers = [to_plain(reply.answer) for reply in replies]
    able = [task for task in TASKS if all(_reads(task, *pair) for pair in zip(pictures, answers))]
    for task in LENIENT:
        if len(able) > 1 and all(map(_says_something, answers)):
            able = [one for one in able if one != task]
    if len(able) != 1:
        raise BadInput(f"{hint}, a grey picture is answered by {short(answers[1])}")
    return able[0]


def _says_something(answer: Any) -> bool:
    return not isinstance(answer, (list, tuple)) or len(answer) > 0


def _answers(system: System, task: str, picture: Any) -> bool:
    """Whether the task asks something else than pictures, which the system answers."""
    steps = find_task(task).questions(Scene.of("grey", picture))
    question = next(steps, None)
    if question is None:
        return False
    (reply,) = ask(system, [question], retries=1)
    try:
        steps.send(to_plain(reply.answer))
    except StopIteration:
        return reply.error is None
    except Exception:  # whatever a task says of what it cannot read
        return False
    return reply.error is None


def _reads(task: str, picture: Any, answer: Any) -> bool:
    try:
        find_task(task).read(picture, answer)
    except Exception:  # whatever a task says of what it cannot read
        return False
    return True
