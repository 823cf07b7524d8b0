"""What can be named without a module: each task registers its systems, relations and searches.

A task's `catalogue` module has plain tables of where things are, so that naming imports nothing else:
TITLE, SYSTEMS, RELATIONS, SEARCHES, and where needed USUAL_SEARCHES (by relation), SUITE (the relations of a
run that names none) and SUITE_SEARCH (how they are searched), REFEREES (systems that say what is there),
EXPORTS (formats of `instar export`), FILES (the system that a file of a user's network is given to, by
its ending), DESCRIBE_FILE (what options the file tells), ADAPTER (what makes a system of a user's network),
WORLD (what `street:N` means to the task), ACCURACY (what measures answers where the truth is known:
`instar look`), CARDS (what tells of the networks that come along), POOL (what cuts objects out of scenes),
COMMANDS (commands that are about this task alone), INTERPRETERS, REMARK (what a reader must know of a system
first, such as what it was trained on) and IMPORTED (options whose values are imported or run, each with the
values that are instar's own).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import import_module
from typing import Any

from instar.core.errors import UnknownName
from instar.core.outcome import Outcome
from instar.core.task import TASKS

CORE_SEARCHES = {
    "draws": "instar.core.search:draws",
    "sweep": "instar.core.search:sweep",
    "bisect": "instar.core.search:bisect",
    "adaptive": "instar.campaigns.adaptive_search:adaptive",
}


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A name, the task that registers it ("" for all tasks), and `module:attr` of what makes it."""

    name: str
    task: str
    home: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCatalogue:
    """What a task registers."""

    name: str
    title: str
    systems: Mapping[str, str]
    relations: Mapping[str, str]
    searches: Mapping[str, str] = field(default_factory=dict)
    usual_searches: Mapping[str, str] = field(default_factory=dict)
    suite: tuple[str, ...]
    suite_search: str = ""
    referees: tuple[str, ...] = ()
    exports: Mapping[str, str] = field(default_factory=dict)
    world: str = ""
    adapter: str = ""
    accuracy: str = ""
    cards: str = ""
    pool: str = ""
    commands: Mapping[str, str] = field(default_factory=dict)
    interpreters: tuple[str, ...] = ()
    remark: str = ""
    imported: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    describe_file: str = ""


HOMES = ("systems", "relations", "searches", "exports", "commands")  # tables of `module:attr` in the task
HOME = ("adapter", "accuracy", "cards", "pool", "remark", "describe_file")


@cache
def catalogues() -> Mapping[str, TaskCatalogue]:
    """The catalogue of each task, by its name."""
    return {name: _read(name) for name in TASKS}


def _read(task: str) -> TaskCatalogue:
    tables = vars(import_module(f"instar.tasks.{task}.catalogue"))
    names = [one.name for one in fields(TaskCatalogue) if one.name.upper() in tables]
    told: dict[str, Any] = {"suite": tables["RELATIONS"]} | {name: tables[name.upper()] for name in names}
    for name in names:
        if name in HOMES:
            told[name] = {key: f"instar.tasks.{task}.{home}" for key, home in told[name].items()}
        elif name in HOME:
            told[name] = f"instar.tasks.{task}.{told[name]}"
    return TaskCatalogue(**told | {"name": task, "suite": tuple(told["suite"])})


def catalogue_entries(what: str) -> list[CatalogueEntry]:
    """Everything of a kind ("system", "relation" or "search") that is built in, task by task."""
    tables = {"system": "systems", "relation": "relations", "search": "searches"}
    found = [
        CatalogueEntry(name, task, home)
        for task, catalogue in catalogues().items()
        for name, home in getattr(catalogue, tables[what]).items()
    ]
    if what == "search":
        found += [CatalogueEntry(name, "", home) for name, home in CORE_SEARCHES.items()]
    return found


def find_entry(what: str, name: str, *, tasks: Iterable[str] = ()) -> CatalogueEntry:
    """What a built-in name stands for; of several tasks that have it, the first of `tasks`.

    A name can also be given with its task, such as `classification.mirrored`.
    """
    task, _, bare = name.rpartition(".")
    every = catalogue_entries(what)
    if task in TASKS:
        every, name, what = [one for one in every if one.task == task], bare, f"{what} of {task}"
    found = [one for one in every if one.name == name]
    if not found:
        raise UnknownName(what, name, {one.name for one in every})
    wanted = [one for task in tasks for one in found if one.task == task]
    return (wanted or found)[0]


def usual_search(relation: str) -> str:
    """The search of a relation for which none was given."""
    for catalogue in catalogues().values():
        if relation in catalogue.usual_searches:
            return catalogue.usual_searches[relation]
    return "draws"


def import_home(home: str) -> Any:
    """What `module:attr` of the product's own stands for."""
    module, _, attribute = home.partition(":")
    return getattr(import_module(module), attribute)


def import_command(name: str) -> tuple[Callable[..., None], Callable[..., Outcome]]:
    """The `arguments` and `perform` of a command that a task registers."""
    (home,) = [one.commands[name] for one in catalogues().values() if name in one.commands]
    command = import_module(home)
    return command.arguments, command.perform


def export_formats() -> list[str]:
    """The formats that the tasks can export to."""
    return [format for catalogue in catalogues().values() for format in catalogue.exports]


def find_export(format: str) -> str | None:
    """`module:attr` of what writes an export of this format; None where no task has it."""
    return next((c.exports[format] for c in catalogues().values() if format in c.exports), None)
