"""Edits of the description of a drawn drive: how the engine `rendered` writes them, and what they do."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from instar.tasks.driving.engines import Edit
from instar.worlds.drive import Drive, House, Road, Thing
from instar.worlds.drive.ground import KERB

TREES_APART, FARTHEST_TREE = 5.0, 85.0  # metres


def write_addition(thing: Thing) -> Edit:
    """The edit that puts a thing into the street."""
    return {
        "engine": "rendered",
        "do": "add",
        "kind": thing.kind,
        "distance": round(thing.distance, 3),
        "offset": round(thing.offset, 3),
        "variant": thing.variant,
        "look": thing.look,
        "away": thing.away,
        "scale": round(thing.scale, 3),
    }


def thing_of(edit: Edit) -> Thing:
    """The thing that an edit of `write_addition` adds."""
    fields = ("kind", "distance", "offset", "variant", "look", "away", "scale")
    return Thing(**{name: edit[name] for name in fields})


def name_things(things: Sequence[Thing]) -> tuple[tuple[str, float, float], ...]:
    """Things by what they are and where, as an edit names them."""
    return tuple((thing.kind, thing.distance, thing.offset) for thing in things)


def edit_drive(drive: Drive, edit: Edit) -> Drive:
    """The same drive with that change."""
    match edit["do"]:
        case "add":
            return drive.with_things(thing_of(edit))
        case "take":
            return replace(drive, things=tuple(t for t in drive.things if not _is_meant(t, edit)))
        case "swap":
            return replace(drive, things=tuple(_swapped(t, edit) for t in drive.things))
        case "mark" | "unmark":
            return replace(drive, road=_marked(drive.road, edit["marks"]))
        case "raze":
            gone = edit.get("houses", range(len(drive.houses)))
            return replace(drive, houses=tuple(h for n, h in enumerate(drive.houses) if n not in gone))
        case "build":
            house = House(edit["side"], edit["start"], edit["length"], edit["setback"], edit["look"])
            return replace(drive, houses=(*drive.houses, house))
        case "plant":
            return _planted(drive, edit["seed"], edit.get("houses", range(len(drive.houses))))
        case "hour":
            return replace(drive, time=edit["time"])
        case _:
            return replace(drive, weather=edit["weather"], level=edit["level"])


def _is_meant(thing: Thing, edit: Edit) -> bool:
    return (thing.kind, thing.distance, thing.offset) in {tuple(name) for name in edit["things"]}


def _swapped(thing: Thing, edit: Edit) -> Thing:
    if not _is_meant(thing, edit):
        return thing
    return replace(
        thing, kind=edit["kind"], variant=edit["variant"] or thing.variant, scale=edit.get("scale", 1.0)
    )


def _marked(road: Road, marks: Sequence[tuple[str, Any]]) -> Road:
    return replace(road, **dict(marks))


def _planted(drive: Drive, seed: int, gone: Collection[int]) -> Drive:
    """Trees where the houses of these numbers stood."""
    rng = np.random.default_rng(seed)
    trees = []
    for house in [house for number, house in enumerate(drive.houses) if number in gone]:
        edge = drive.road.right + KERB if house.side > 0 else drive.road.left - KERB
        front = edge + house.side * (drive.road.sidewalk + house.setback)
        for distance in np.arange(max(house.start, 5.0), house.start + house.length, TREES_APART).tolist():
            for row in (1.5, 5.5):
                where = (
                    distance + float(rng.uniform(-1.5, 1.5)),
                    front + house.side * (row + float(rng.uniform(0, 1))),
                )
                if where[0] < FARTHEST_TREE:
                    scale = float(rng.uniform(1.0, 1.35))
                    trees.append(Thing("tree", *where, look=int(rng.integers(10_000)), scale=scale))
    left = tuple(house for number, house in enumerate(drive.houses) if number not in gone)
    return replace(drive, houses=left, things=(*drive.things, *trees))
