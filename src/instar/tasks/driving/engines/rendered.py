"""Everything that a rule can say, drawn: the same drive with another description.

This needs to know the drive; pictures from elsewhere are changed by the other engines.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from instar.core.change import Inapplicable
from instar.core.scene import Image
from instar.cutouts import CutOuts
from instar.tasks.driving.engines import Edit, SceneView
from instar.tasks.driving.engines.drive_changes import (
    build,
    change_air,
    exchange,
    kind_of,
    mark,
    scale_of,
    take_away,
)
from instar.tasks.driving.engines.drive_edits import edit_drive, thing_of, write_addition
from instar.tasks.driving.engines.selection import find_shortage
from instar.tasks.driving.engines.spots import propose_places
from instar.tasks.driving.engines.where import Spot, stands
from instar.tasks.driving.engines.words import unshown
from instar.tasks.driving.rules.model import Condition
from instar.worlds.drive import Drive, Thing, drive_of, render, showing
from instar.worlds.drive.render import silhouettes
from instar.worlds.drive.sample import apart

TRIES = 24
CLOSER, LARGER, STRONGER = 0.6, 1.4, 1.35
ALTERED = {
    "closer": ("distance", CLOSER),
    "farther": ("distance", 1 / CLOSER),
    "larger": ("scale", LARGER),
    "smaller": ("scale", 1 / LARGER),
}
NEAREST, FARTHEST = 5.0, 70.0  # metres, after a comparative
SEEN = 0.7  # of a thing's pixels that nothing may hide
LEAST_HEIGHT = 0.05  # of the picture
PROPERTIES = ("type", "color", "size", "age", "shape", "limit", "state", "heading", "level")
"""What is drawn as it is said; `drive_changes` knows which values of them."""
REFERENCE = ("type", "color", "shape", "limit", "position")


def plan(condition: Condition, view: SceneView, rng: np.random.Generator) -> tuple[Edit, ...] | Inapplicable:
    drive = view.drive
    assert drive is not None, "only drawn drives are rendered"
    unsaid = unshown(condition, own=PROPERTIES, new=PROPERTIES, reference=REFERENCE, distance=True)
    if unsaid is not None:
        return unsaid
    if condition.op == "add":
        return _adding(condition, drive, view.size, rng)
    if condition.element in ("weather", "time"):
        return change_air(condition, drive)
    found = find_shortage(condition, view)
    if found is not None:
        return found
    return take_away(condition, drive) if condition.op == "remove" else exchange(condition, drive, rng)


def alter(edit: Edit, comparative: str, view: SceneView) -> Edit | Inapplicable:
    """The same thing closer, farther, larger or smaller; the same weather stronger or weaker."""
    assert view.drive is not None, "only drawn drives are rendered"
    if edit["do"] == "weather" and comparative in ("more", "less"):
        return {**edit, "level": edit["level"] * (STRONGER if comparative == "more" else 1 / STRONGER)}
    if edit["do"] != "add":
        return Inapplicable("what is not added cannot be compared")
    if comparative not in ALTERED:
        return Inapplicable("no engine makes it so")
    (field, factor), thing = ALTERED[comparative], thing_of(edit)
    moved = replace(thing, **{field: round(getattr(thing, field) * factor, 3)})
    if not NEAREST <= moved.distance <= FARTHEST:
        return Inapplicable(
            "it is as close as it can be" if comparative == "closer" else "it would be too far"
        )
    if not _can_stand(moved, view.drive, view.size):
        return Inapplicable("no free place")
    return write_addition(moved)


def move(edit: Edit, distance: tuple[float, float | None], view: SceneView) -> Edit | Inapplicable:
    """The same thing so many metres away."""
    assert view.drive is not None, "only drawn drives are rendered"
    if edit["do"] != "add":
        return Inapplicable("what is not added cannot be moved")
    thing, (least, most) = thing_of(edit), distance
    moved = replace(thing, distance=max(least, min(thing.distance, FARTHEST if most is None else most)))
    if not NEAREST <= moved.distance <= FARTHEST or not _can_stand(moved, view.drive, view.size):
        return Inapplicable("no free place")
    return write_addition(moved)


def less(edit: Edit, view: SceneView) -> Iterator[Sequence[Edit]]:
    """A thing farther by metres, or smaller by hundredths; weaker weather; dusk for night; fewer of many."""
    assert view.drive is not None, "only drawn drives are rendered"
    match edit["do"]:
        case "add":
            thing, drive = thing_of(edit), view.drive
            farther = [float(n) for n in range(int(FARTHEST), math.floor(thing.distance), -1)]
            yield _standing([replace(thing, distance=distance) for distance in farther], drive, view.size)
            smaller = [n / 100 for n in range(1, math.ceil(100 * thing.scale))]
            yield _standing([replace(thing, scale=scale) for scale in smaller], drive, view.size)
        case "weather":
            yield [{**edit, "level": n / 100} for n in range(1, math.ceil(100 * edit["level"]))]
        case "hour" if edit["time"] == "night" and view.drive.time == "day":
            yield [{**edit, "time": "dusk"}]
        case "take" | "swap" if len(edit["things"]) > 1:
            yield from ([{**edit, "things": fewer}] for fewer in _one_left_out(edit["things"]))
        case "mark" | "unmark" if len(edit["marks"]) > 1:
            yield from ([{**edit, "marks": fewer}] for fewer in _one_left_out(edit["marks"]))


def make(image: Image, edit: Edit, cutouts: CutOuts | None) -> Image:
    """The drive with the change, drawn anew."""
    drive = drive_of(image)
    assert drive is not None, "only drawn drives are rendered"
    drawn = render(edit_drive(drive, edit), (image.shape[0], image.shape[1]))
    return showing(drawn.picture, drawn.drive)


def _adding(
    condition: Condition, drive: Drive, size: tuple[int, int], rng: np.random.Generator
) -> tuple[Edit, ...] | Inapplicable:
    if condition.element in ("crosswalk", "stop line", "line"):
        return mark(condition, drive, rng)
    if condition.element == "building":
        return build(condition, drive, rng)
    edits: list[Edit] = []
    for _ in range(2 if condition.count is None else condition.count):
        thing = _placed(condition, drive, size, rng)
        if isinstance(thing, Inapplicable):
            return thing
        edits.append(write_addition(thing))
        drive = drive.with_things(thing)
    return tuple(edits)


def _placed(
    condition: Condition, drive: Drive, size: tuple[int, int], rng: np.random.Generator
) -> Thing | Inapplicable:
    """A thing as the condition wants it, where it says, where it can stand and be seen."""
    places = propose_places(condition, drive, rng)
    if isinstance(places, Inapplicable):
        return places
    facing = condition.properties.get("heading") == "oncoming"
    for _ in range(TRIES):
        distance, offset, away = places(rng)
        drawn = kind_of(condition.thing, rng)
        if isinstance(drawn, Inapplicable):
            return drawn
        kind, variant, look = drawn
        there = stands(Spot(condition.element, distance, offset), condition, drive)
        if isinstance(there, Inapplicable):
            return there
        scale = scale_of(condition.thing)
        thing = Thing(kind, round(distance, 3), round(offset, 3), variant, look, away and not facing, scale)
        if there and _can_stand(thing, drive, size):
            return thing
    return Inapplicable("no free place")


def _standing(things: Sequence[Thing], drive: Drive, size: tuple[int, int]) -> list[Edit]:
    return [write_addition(thing) for thing in things if _can_stand(thing, drive, size)]


def _one_left_out(things: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    yield from (tuple(one for k, one in enumerate(things) if k != i) for i in range(len(things)))


def _can_stand(thing: Thing, drive: Drive, size: tuple[int, int]) -> bool:
    """Whether nothing is in its place, and it is seen whole, or nearly so."""
    if not all(apart(thing, other) for other in drive.things):
        return False
    mask, seen = silhouettes(drive.with_things(thing), len(drive.things), size)
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows) or rows[-1] + 1 - rows[0] < LEAST_HEIGHT * size[0]:
        return False
    at_border = 0 in (rows[0], columns[0]) or rows[-1] == size[0] - 1 or columns[-1] == size[1] - 1
    if at_border and thing.kind != "tree":
        return False
    return bool(seen.sum() >= SEEN * mask.sum())
