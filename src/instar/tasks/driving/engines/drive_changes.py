"""What is painted, built, taken away, exchanged and changed in the air of a drawn drive, word for word."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from instar.core.change import Inapplicable
from instar.tasks.driving.engines import Edit
from instar.tasks.driving.engines.drive_edits import name_things
from instar.tasks.driving.engines.where import SIDES, fits, house_spot, meant, stands
from instar.tasks.driving.engines.words import SIZE_FACTORS, not_there
from instar.tasks.driving.rules.model import Condition, Entity
from instar.worlds.drive import Drive, Thing
from instar.worlds.drive.fixtures import BOARDS
from instar.worlds.drive.houses import NEAREST as NEAREST_HOUSE
from instar.worlds.drive.plan import House
from instar.worlds.drive.sample import PAINTS
from instar.worlds.drive.textures import BAY, FRONTS, front_size

TRIES = 24
LINES = ("centre", "edges")
PAINTED = ("crosswalk", "stop line", "line")
STRENGTHS = {"light": 0.4, "normal": 0.7, "heavy": 1.0}
BAD = ("rain", "snow", "fog")
CHILD = 0.68  # of a grown-up's height
NOTHING = Inapplicable("nothing of that class is there")
KINDS = ("pedestrian", "vehicle", "bicyclist", "tree", "traffic sign", "traffic light")


def _edit(do: str, **fields: Any) -> tuple[Edit, ...]:
    return ({"engine": "rendered", "do": do, **fields},)


def kind_of(thing: Entity, rng: np.random.Generator) -> tuple[str, str, int] | Inapplicable:
    """Kind, variant and look of what is drawn for a thing, or the word that is not drawn."""
    look, properties = int(rng.integers(10_000)), thing.properties
    if thing.element not in KINDS:
        return Inapplicable(f"no {thing.element!r} is drawn")
    kind, variant = thing.element, ""
    if kind == "vehicle":
        kind = properties.get("type") or str(rng.choice(["car", "car", "car", "van", "truck", "bus"]))
        variant = properties.get("color") or str(rng.choice(PAINTS))
        if variant not in PAINTS:
            return Inapplicable(f"nothing here can show {variant!r}")
    elif kind == "traffic sign":
        board = _board(properties)
        if board is None:
            return Inapplicable(f"nothing here can show {properties['type']!r}")
        variant = board
    elif kind == "traffic light":
        variant = properties.get("color", "red")
    return kind, variant, look


def scale_of(thing: Entity) -> float:
    """How many times the usual size it is."""
    child = CHILD if thing.properties.get("age") == "child" else 1.0
    return child * SIZE_FACTORS.get(thing.properties.get("size", ""), 1.0)


def _board(properties: Mapping[str, str]) -> str | None:
    """What is on a sign, as the world names it; None where it has no such board."""
    shape, limit = properties.get("shape", ""), properties.get("limit", "").removesuffix(" mph")
    kind = properties.get("type") or {"square": "turn"}.get("" if limit else shape, "speed limit")
    if kind != "speed limit" and (kind not in BOARDS or limit):
        return None
    name = f"speed limit {limit or 30}" if kind == "speed limit" else kind
    return f"{name}/{shape}" if shape and ("type" in properties or limit) else name


def mark(condition: Condition, drive: Drive, rng: np.random.Generator) -> tuple[Edit, ...] | Inapplicable:
    """Lines, crosswalks and stop lines, where there are none yet."""
    road, properties = drive.road, condition.properties
    if condition.reference not in (None, "road", "scene", "ego-vehicle"):
        return not_there(condition)
    if condition.position not in (None, "on", "in front of"):
        return not_there(condition)
    if condition.element == "line":
        if "state" in properties:
            return Inapplicable(f"nothing here can show {properties['state']!r}")
        free = [name for name in LINES if not getattr(road, name)]
        if len(free) < (condition.count or 1):
            return Inapplicable("it is there already")
        kind = f"{properties.get('type', 'solid')} {properties.get('color', 'white')}"
        return _edit("mark", marks=tuple((name, kind) for name in free[: condition.count]))
    if condition.count is not None and condition.count > 1:
        return Inapplicable(f"there cannot be {condition.count} of them")
    if properties:
        return Inapplicable(f"nothing here can show {next(iter(properties.values()))!r}")
    name = condition.element.replace(" ", "_")
    if getattr(road, name) is not None:
        return Inapplicable("it is there already")
    least, most = condition.distance or (9.0, 22.0)
    if least > 40 or (most is not None and most < 6):
        return Inapplicable(f"{least:g} m away it is not seen")
    at = rng.uniform(max(least, 6.0), min(most or 40.0, 40.0))
    return _edit("mark", marks=((name, round(float(at), 2)),))


def build(condition: Condition, drive: Drive, rng: np.random.Generator) -> tuple[Edit, ...] | Inapplicable:
    """Houses in gaps between houses, on the side that is said."""
    if condition.properties:
        return Inapplicable(f"nothing here can show {next(iter(condition.properties.values()))!r}")
    wanted = [SIDES[condition.position]] if condition.position in SIDES else [-1, 1]
    if condition.position in ("in front of", "behind") or condition.reference in ("lane", "crosswalk"):
        return not_there(condition)
    edits: list[Edit] = []
    houses = list(drive.houses)
    for _ in range(TRIES):
        side, look = int(rng.choice(wanted)), int(rng.integers(FRONTS))
        start, length = round(float(rng.uniform(NEAREST_HOUSE, 50)), 2), front_size(look)[1] * BAY
        others = [house for house in houses if house.side == side]
        house = House(side, start, length, 0.6, look)
        apart = all(start >= h.start + h.length or start + length <= h.start for h in others)
        if apart and (
            condition.distance is None or stands(house_spot(house, drive), condition, drive) is True
        ):
            edits += _edit("build", side=side, start=start, length=length, setback=0.6, look=look)
            houses.append(house)
            if len(edits) == (condition.count or 1):
                return tuple(edits)
    return Inapplicable("no free place")


def _houses(condition: Condition, drive: Drive) -> list[int] | Inapplicable:
    """The houses that a condition speaks of, the nearest first, by their numbers."""
    found = []
    for number, house in sorted(enumerate(drive.houses), key=lambda one: one[1].start):
        there = stands(house_spot(house, drive), _beside_street(condition), drive)
        if isinstance(there, Inapplicable):
            return there
        if there:
            found.append(number)
    if condition.count is not None and len(found) < condition.count:
        return Inapplicable(f"there are not {condition.count} of them")
    return found[: condition.count]


def _beside_street(condition: Condition) -> Condition:
    """Houses "on the roadside" or "on the road" are all houses: they stand along it."""
    if condition.reference in ("sidewalk", "road") and condition.position in ("on", "near", None):
        side = condition.reference_properties.get("position")
        if side is None:
            return dataclasses.replace(condition, reference=None, position=None)
        return dataclasses.replace(
            condition, reference="road", position=f"{side} of", reference_properties={}
        )
    return condition


def take_away(condition: Condition, drive: Drive) -> tuple[Edit, ...] | Inapplicable:
    """What the condition speaks of, and nothing else, is gone."""
    if condition.element in PAINTED:
        return _unmark(condition, drive)
    unknown = _unknown(condition)
    if unknown is not None:
        return unknown
    if condition.element == "building":
        houses = _houses(condition, drive)
        if isinstance(houses, Inapplicable):
            return houses
        return _edit("raze", houses=tuple(houses)) if houses else NOTHING
    found = meant(condition, drive)
    if isinstance(found, Inapplicable):
        return found
    return _edit("take", things=name_things(found)) if found else NOTHING


def _unmark(condition: Condition, drive: Drive) -> tuple[Edit, ...] | Inapplicable:
    if condition.reference not in (None, "road", "scene") or condition.position in SIDES:
        return not_there(condition)
    if condition.element == "line":
        if "state" in condition.properties:
            return Inapplicable(f"nothing here can show {condition.properties['state']!r}")
        which = [name for name in LINES if _is_line(getattr(drive.road, name), condition.properties)]
        if condition.count is not None and len(which) < condition.count:
            return NOTHING
        return _edit("unmark", marks=tuple((n, "") for n in which[: condition.count])) if which else NOTHING
    if condition.properties:
        return Inapplicable(f"nothing here can show {next(iter(condition.properties.values()))!r}")
    return _edit("unmark", marks=((condition.element.replace(" ", "_"), None),))


def _is_line(kind: str, properties: Mapping[str, str]) -> bool:
    style, _, colour = kind.partition(" ")
    solid = "dash" if style == "dash" else "solid"
    return bool(kind) and properties.get("type", solid) == solid and properties.get("color", colour) == colour


def _unknown(condition: Condition) -> Inapplicable | None:
    """The word for something that the description of a drive does not say of what is there."""
    for name in ("size", "age", "state", "heading"):
        if name in condition.properties:
            return Inapplicable(f"nothing here tells which is {condition.properties[name]!r}")
    return None


def exchange(condition: Condition, drive: Drive, rng: np.random.Generator) -> tuple[Edit, ...] | Inapplicable:
    """What the condition speaks of becomes what it says."""
    new = condition.new
    assert new is not None, "what is replaced is replaced by something"
    if condition.element == "line" and new.element == "line":
        return _repaint(condition, new, drive)
    if condition.element in PAINTED or new.element in ("building", *PAINTED):
        return Inapplicable(f"nothing here puts a {new.element} in the place of a {condition.element}")
    unknown = _unknown(condition)
    if unknown is not None:
        return unknown
    if condition.element == "building":
        if new.element != "tree" or new.properties:
            return Inapplicable(f"nothing here puts a {new.element} in the place of houses")
        houses = _houses(condition, drive)
        if isinstance(houses, Inapplicable):
            return houses
        return _edit("plant", seed=int(rng.integers(2**31)), houses=tuple(houses)) if houses else NOTHING
    found = meant(condition, drive)
    if isinstance(found, Inapplicable):
        return found
    found = [thing for thing in found if not _is_so(thing, new)]
    drawn = kind_of(new, rng)
    if isinstance(drawn, Inapplicable) or not found:
        return drawn if isinstance(drawn, Inapplicable) else NOTHING
    if {"heading", "state"} & new.properties.keys():
        return Inapplicable(f"nothing here makes it {next(iter(new.properties.values()))!r}")
    kind, variant, _ = drawn
    if new.element == "vehicle" and "type" not in new.properties and condition.element == "vehicle":
        kind = found[0].kind
        found = [thing for thing in found if thing.kind == kind]
    return _edit("swap", things=name_things(found), kind=kind, variant=variant, scale=scale_of(new))


def _is_so(thing: Thing, new: Entity) -> bool:
    """Whether it already is what it is to become: then nothing would change."""
    return fits(thing, new) and "size" not in new.properties


def _repaint(condition: Condition, new: Entity, drive: Drive) -> tuple[Edit, ...] | Inapplicable:
    if "state" in {**condition.properties, **new.properties}:
        return Inapplicable(f"nothing here can show {new.properties.get('state', 'that')!r}")
    if condition.reference not in (None, "road", "scene") or condition.position in SIDES:
        return not_there(condition)
    which = [name for name in LINES if _is_line(getattr(drive.road, name), condition.properties)]
    kinds = {name: getattr(drive.road, name).split() for name in which[: condition.count]}
    marks = [
        (n, f"{new.properties.get('type', s)} {new.properties.get('color', c)}")
        for n, (s, c) in kinds.items()
    ]
    return _edit("mark", marks=tuple(marks)) if marks else NOTHING


def change_air(condition: Condition, drive: Drive) -> tuple[Edit, ...] | Inapplicable:
    """Another weather or time of day; where it is said what was before, that was checked."""
    assert condition.new is not None, "weather and time are always replaced"
    kind, level = condition.new.properties.get("type"), condition.new.properties.get("level")
    if condition.new.element == "time":
        if kind == drive.time:
            return Inapplicable("it already is in that state")
        if kind == "dusk" and drive.time == "night":
            return Inapplicable("it already is darker")
        return _edit("hour", time=kind)
    strength = STRENGTHS[level or "normal"]
    weather = kind or drive.weather
    if weather == drive.weather and (level is None or strength == drive.level or weather == "clear"):
        return Inapplicable("it already is in that state")
    said = bool(condition.properties)
    if not said and drive.weather in BAD and weather in BAD and weather != drive.weather:
        return Inapplicable("there is other bad weather already")
    return _edit("weather", weather=weather, level=strength)
