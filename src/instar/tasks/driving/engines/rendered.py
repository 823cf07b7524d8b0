"""Everything that a rule can say, drawn: the same drive with another description.

This needs to know the drive; pictures from elsewhere are changed by the other engines.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from instar.core.change import Inapplicable
from instar.core.scene import Image
from instar.cutouts import CutOuts
from instar.tasks.driving.engines import Edit, SceneView
from instar.tasks.driving.engines.drive_edits import edit_drive, name_things, thing_of, write_addition
from instar.tasks.driving.engines.selection import find_shortage
from instar.tasks.driving.engines.spots import spots
from instar.tasks.driving.rules.model import Condition, Entity
from instar.worlds.drive import Drive, Thing, drive_of, render, showing
from instar.worlds.drive.houses import NEAREST as NEAREST_HOUSE
from instar.worlds.drive.plan import VEHICLES
from instar.worlds.drive.render import silhouettes
from instar.worlds.drive.sample import PAINTS, apart
from instar.worlds.drive.textures import BAY, FRONTS, front_size

__all__ = ["alter", "less", "make", "plan"]

TRIES = 24
CLOSER, LARGER, STRONGER = 0.6, 1.4, 1.35
ALTERED = {
    "closer": ("distance", CLOSER),
    "farther": ("distance", 1 / CLOSER),
    "larger": ("scale", LARGER),
    "smaller": ("scale", 1 / LARGER),
}
NEAREST, FARTHEST = 5.0, 70.0  # metres, after a comparative
LEVELS = {"light": 0.4, "normal": 0.7, "heavy": 1.0}
SEEN = 0.7  # of a thing's pixels that nothing may hide
LEAST_HEIGHT = 0.05  # of the picture
LINES = ("centre", "edges")
BAD = ("rain", "snow", "fog")
NOTHING = Inapplicable("nothing of that class is there")


def _edit(do: str, **fields: Any) -> tuple[Edit, ...]:
    return ({"engine": "rendered", "do": do, **fields},)


def plan(condition: Condition, view: SceneView, rng: np.random.Generator) -> tuple[Edit, ...] | Inapplicable:
    drive = view.drive
    assert drive is not None, "only drawn drives are rendered"
    if condition.op == "add":
        return _adding(condition, drive, view.size, rng)
    if condition.element == "weather" or condition.element == "time":
        return _in_other_air(condition, drive)
    found = find_shortage(condition, view)
    if found is not None:
        return found
    if condition.op == "remove":
        return _removing(condition, drive)
    return _replacing(condition, drive, rng)


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
        return _marking(condition, drive, rng)
    if condition.element == "building":
        return _building(drive, rng)
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
    """A thing as the condition wants it, where it can stand and be seen."""
    places = spots(condition, drive, rng)
    if isinstance(places, Inapplicable):
        return places
    for _ in range(TRIES):
        distance, offset, away = places(rng)
        kind, variant, look = _kind_of(condition.thing, rng)
        thing = Thing(kind, round(distance, 3), round(offset, 3), variant, look, away)
        if _can_stand(thing, drive, size):
            return thing
    return Inapplicable("no free place")


def _kind_of(thing: Entity, rng: np.random.Generator) -> tuple[str, str, int]:
    """Kind, variant and look."""
    look, properties = int(rng.integers(10_000)), thing.properties
    kind, variant = thing.element, ""
    if kind == "vehicle":
        kind = properties.get("type") or str(rng.choice(["car", "car", "car", "van", "truck", "bus"]))
        variant = properties.get("color") or str(rng.choice(PAINTS))
    elif kind == "traffic sign":
        variant = _board(properties)
    elif kind == "traffic light":
        variant = properties.get("color", "red")
    return kind, variant, look


def _board(properties: Mapping[str, str]) -> str:
    shape = properties.get("shape", "")
    kind = properties.get("type") or {"square": "turn"}.get(shape, "speed limit")
    name = "speed limit 30" if kind == "speed limit" else kind
    return f"{name}/{shape}" if shape and "type" in properties else name


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


def _marking(condition: Condition, drive: Drive, rng: np.random.Generator) -> tuple[Edit, ...] | Inapplicable:
    """Lines, crosswalks and stop lines, where there are none yet."""
    road = drive.road
    if condition.element == "line":
        if road.centre and road.edges:
            return Inapplicable("it is there already")
        style, colour = condition.properties.get("type", "solid"), condition.properties.get("color", "white")
        marks = [(name, f"{style} {colour}") for name in LINES if not getattr(road, name)]
        return _edit("mark", marks=tuple(marks))
    name = condition.element.replace(" ", "_")
    if getattr(road, name) is not None:
        return Inapplicable("it is there already")
    return _edit("mark", marks=((name, round(float(rng.uniform(9, 22)), 2)),))


def _building(drive: Drive, rng: np.random.Generator) -> tuple[Edit, ...] | Inapplicable:
    """A house in a gap between houses."""
    for _ in range(TRIES):
        side, look = int(rng.choice([-1, 1])), int(rng.integers(FRONTS))
        start, length = round(float(rng.uniform(NEAREST_HOUSE, 50)), 2), front_size(look)[1] * BAY
        others = [house for house in drive.houses if house.side == side]
        if all(start >= h.start + h.length or start + length <= h.start for h in others):
            return _edit("build", side=side, start=start, length=length, setback=0.6, look=look)
    return Inapplicable("no free place")


def _removing(condition: Condition, drive: Drive) -> tuple[Edit, ...] | Inapplicable:
    if condition.element == "building":
        return _edit("raze")
    if condition.element == "line":
        which = [name for name in LINES if _is_line(getattr(drive.road, name), condition.properties)]
        return _edit("unmark", marks=tuple((name, "") for name in which)) if which else NOTHING
    if condition.element in ("crosswalk", "stop line"):
        return _edit("unmark", marks=((condition.element.replace(" ", "_"), None),))
    meant = list(_meant(condition, drive))
    return _edit("take", things=name_things(meant)) if meant else NOTHING


def _is_line(kind: str, properties: Mapping[str, str]) -> bool:
    style, _, colour = kind.partition(" ")
    solid = "dash" if style == "dash" else "solid"
    return bool(kind) and properties.get("type", solid) == solid and properties.get("color", colour) == colour


def _meant(condition: Condition, drive: Drive) -> Iterator[Thing]:
    """The things that a condition speaks of, the nearest first, as many as are counted."""
    properties = condition.properties
    kinds = VEHICLES if condition.element == "vehicle" else (condition.element,)
    fitting = [thing for thing in drive.things if thing.kind in kinds and _fits(thing, properties)]
    yield from sorted(fitting, key=lambda thing: thing.distance)[: condition.count]


def _fits(thing: Thing, properties: Mapping[str, str]) -> bool:
    kind = thing.variant.partition("/")[0] if thing.kind == "traffic sign" else thing.kind
    if not kind.startswith(properties.get("type", "")):
        return False
    return properties.get("color", thing.variant) == thing.variant


def _replacing(
    condition: Condition, drive: Drive, rng: np.random.Generator
) -> tuple[Edit, ...] | Inapplicable:
    new = condition.new
    assert new is not None, "what is replaced is replaced by something"
    if condition.element == "building":
        if new.element != "tree":
            return Inapplicable("no engine puts that in the place of houses")
        return _edit("plant", seed=int(rng.integers(2**31)))
    if condition.element == "line" and new.element == "line":
        which = [name for name in LINES if _is_line(getattr(drive.road, name), condition.properties)]
        kinds = {name: getattr(drive.road, name).split() for name in which}
        marks = [
            (n, f"{new.properties.get('type', s)} {new.properties.get('color', c)}")
            for n, (s, c) in kinds.items()
        ]
        return _edit("mark", marks=tuple(marks)) if marks else NOTHING
    painted = condition.element in ("crosswalk", "stop line", "line")
    if painted or new.element in ("building", "line", "crosswalk"):
        return Inapplicable("no engine puts that in its place")
    meant = list(_meant(condition, drive))
    if not meant:
        return NOTHING
    kind, variant, _ = _kind_of(new, rng)
    if new.element == "vehicle" and "type" not in new.properties and condition.element == "vehicle":
        kind = meant[0].kind
    return _edit("swap", things=name_things(meant), kind=kind, variant=variant)


def _in_other_air(condition: Condition, drive: Drive) -> tuple[Edit, ...] | Inapplicable:
    assert condition.new is not None, "weather and time are always replaced"
    kind, level = condition.new.properties.get("type"), condition.new.properties.get("level")
    if condition.new.element == "time":
        if kind == drive.time:
            return Inapplicable("it already is in that state")
        if kind == "dusk" and drive.time == "night":
            return Inapplicable("it already is darker")
        return _edit("hour", time=kind)
    strength = LEVELS[level or "normal"]
    weather = kind or drive.weather
    if weather == drive.weather and (level is None or strength == drive.level or weather == "clear"):
        return Inapplicable("it already is in that state")
    if drive.weather in BAD and weather in BAD and weather != drive.weather:
        return Inapplicable("there is other bad weather already")
    return _edit("weather", weather=weather, level=strength)
