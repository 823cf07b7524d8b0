"""A plan with nothing in it that depends on where it is read, and the identity of its run."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from instar.campaigns.catalogue import catalogue_entries, catalogues, find_entry, import_home, usual_search
from instar.campaigns.plan import Plan, RelationUse, Use
from instar.campaigns.resolve import THROTTLE_OPTIONS
from instar.campaigns.system_names import settle_name
from instar.campaigns.task_choice import choose_tasks
from instar.core.campaign import Campaign
from instar.core.fingerprint import fingerprint_of
from instar.core.recipe import find_name
from instar.cutouts.pool import INDEX

UNNAMED = ""
"""What a plan says of a thing that was made in Python and has no name."""


def _is_a_name(key: str, value: Path) -> bool:
    """Whether a task knows by name what could be a path."""
    if key == "pool":
        return value.name == str(value) and not (value / INDEX).is_file()
    return key == "palette" and not value.is_file()


def settle_plan(plan: Plan) -> Plan:
    """The same plan, with nothing in it that depends on where it is read."""
    paths = {
        key: os.path.abspath(value)
        for key in ("pool", "truth", "changes", "palette", "referee_labels")
        if (value := getattr(plan, key)) is not None and not _is_a_name(key, Path(value))
    }
    plan = dataclasses.replace(plan, systems=tuple(map(settle_name, plan.systems)))
    plan = choose_tasks(plan)
    return dataclasses.replace(
        plan,
        scenes=os.path.abspath(plan.scenes) if are_files(plan) else world_for(plan.scenes, _tasks(plan)),
        relations=tuple(
            RelationUse(one.relation, one.search or Use(usual_search(one.relation.name)))
            for one in plan.relations
        ),
        **paths,
    )


def _tasks(plan: Plan) -> set[str]:
    """The tasks of the built-in relations of a plan."""
    names = [pair.relation.name for pair in plan.relations]
    return {find_entry("relation", name).task for name in names if name != UNNAMED and ":" not in name}


def world_for(scenes: str, tasks: Iterable[str]) -> str:
    """`street:N` as all of the tasks see it: to a driver it is `drive:N`; other scenes as they are."""
    world, colon, rest = scenes.partition(":")
    worlds = {catalogues()[task].world for task in tasks}
    if world == "street" and colon and len(worlds) == 1 and "" not in worlds:
        return f"{worlds.pop()}:{rest}"
    return scenes


def are_files(plan: Plan) -> bool:
    return bool(plan.scenes) and (plan.format is not None or Path(plan.scenes).exists())


def run_folders(plan: Plan, *, resume: bool = False) -> list[str]:
    """A run folder for each system, by its name; a second one of that name gets `-2`.

    Where the plan names none, a run that is there already is left alone: the next one is numbered too, and
    the last one is resumed; of several systems the first ones are.
    """
    if plan.out and len(plan.systems) == 1:
        return [plan.out]
    folder = Path(plan.out or "runs")
    names: list[str] = []
    for use in plan.systems:
        own = folder_name(use.called or use.name)
        numbered = (f"{own}-{n}" if n > 1 else own for n in itertools.count(1))
        free = (name for name in numbered if name not in names)
        name = next(free)
        while not plan.out and (folder / name).exists():
            following = next(free)
            if resume and (len(plan.systems) > 1 or not (folder / following).exists()):
                break
            name = following
        names.append(name)
    return [str(folder / name) for name in names]


def folder_name(system: str) -> str:
    """The name of a system as that of a folder."""
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in system)


def plan_identity(plan: Plan, campaign: Campaign) -> dict[str, Any]:
    """What a resumed run must agree with, one short value a key: the first that differs is told.

    Options count, since other ones make other cases; how patiently a server is asked does not.
    """
    (system,) = plan.systems
    ids = [scene.id for scene in campaign.scenes]
    digest = hashlib.sha256(json.dumps(ids).encode()).hexdigest()[:8]
    identity: dict[str, Any] = {
        "system": campaign.system.name,
        "fingerprint": fingerprint_of(campaign.system),
        "relations": [relation.name for relation, _ in campaign.relations],
        "seed": campaign.seed,
        "scenes": f"{plan.scenes}: {len(ids)} in all, {digest}",
        "scenes.format": plan.format,
    }
    identity |= {
        key: getattr(plan, key)
        for key in ("objects", "pool", "truth", "changes", "palette", "maps", "referees", "referee_labels")
    }
    if remark := remark_on(campaign):
        identity["remark"] = remark
    named = [("system", system)]
    for (relation, _), pair in zip(campaign.relations, plan.relations):
        assert pair.search is not None, "the plan is not settled"
        named += [(relation.name, pair.relation), (f"{relation.name}.search", pair.search)]
    for owner, use in named:
        options = {key: value for key, value in use.options.items() if key not in THROTTLE_OPTIONS}
        identity |= {f"{owner}.use": use.name} | {f"{owner}.{key}": value for key, value in options.items()}
    return identity


def remark_on(campaign: Campaign) -> str:
    """What the tasks have to say of the system on these scenes, before anything is asked."""
    tasks = {relation.resolved_task.name for relation, _ in campaign.relations}
    homes = [catalogues()[task].remark for task in sorted(tasks) if task in catalogues()]
    said = [import_home(home)(campaign.system, campaign.scenes) for home in homes if home]
    return "; ".join(filter(None, said))


def use_of(what: str, given: Any, called: str) -> Use:
    """What a plan says of something that was given in Python."""
    if isinstance(given, str):
        return Use(given)
    named = find_name(given)
    if named is None:
        return Use(UNNAMED, called=called or None)
    path, options = named
    built_in = [one.name for one in catalogue_entries(what) if one.home == path]
    return Use(built_in[0] if built_in else path, dict(options))
