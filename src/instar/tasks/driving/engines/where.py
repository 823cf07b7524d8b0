"""Whether a thing of a drawn drive stands where a sentence says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from instar.core.change import Inapplicable
from instar.tasks.driving.engines.words import not_there
from instar.tasks.driving.rules.model import Condition, Entity
from instar.worlds.drive import Drive, Thing
from instar.worlds.drive.ground import CROSSWALK_DEPTH, KERB
from instar.worlds.drive.plan import VEHICLES, House

NEAR, NEAR_EGO = 4.0, 16.0  # metres: by something, and close to ourselves
LIMITS = {"vehicle": 1.3, "bicyclist": 0.7}  # metres inside the kerb that still are the side of the road
FIXED = ("tree", "building", "traffic sign", "traffic light", "crosswalk", "stop line")
"""What does not stand in a lane when it is ahead."""
SIDES = {"left of": -1, "right of": 1}
OWN, OTHER = ("right", "own"), ("left", "opposite")
"""Lanes by name: traffic keeps to the right, and there are two."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in the street, in metres, of a thing of that element; `facing` us, or its back."""

    element: str
    distance: float
    offset: float
    facing: bool = False


def spot_of(thing: Thing) -> Spot:
    element = "vehicle" if thing.kind in VEHICLES else thing.kind
    return Spot(element, thing.distance, thing.offset, not thing.away)


def house_spot(house: House, drive: Drive) -> Spot:
    road = drive.road
    edge = road.right if house.side > 0 else road.left
    return Spot("building", house.start, edge + house.side * (KERB + road.sidewalk + house.setback))


def meant(condition: Condition, drive: Drive) -> list[Thing] | Inapplicable:
    """The things that a condition speaks of, the nearest first, as many as are counted."""
    found = []
    for thing in drive.things:
        if not fits(thing, condition.thing):
            continue
        there = stands(spot_of(thing), condition, drive)
        if isinstance(there, Inapplicable):
            return there
        if there:
            found.append(thing)
    found.sort(key=lambda thing: thing.distance)
    if condition.count is not None and 0 < len(found) < condition.count:
        return Inapplicable(f"there are not {condition.count} of them")
    return found[: condition.count]


def fits(thing: Thing, said: Entity) -> bool:
    """Whether a thing is what is said, with all that is said of it."""
    kinds = VEHICLES if said.element == "vehicle" else (said.element,)
    if thing.kind not in kinds:
        return False
    board, _, shape = thing.variant.partition("/")
    known: dict[str, object] = {"color": thing.variant}
    if said.element == "vehicle":
        known["type"] = thing.kind
    elif said.element == "traffic sign":
        kind, _, number = board.rpartition(" ")
        is_limit = board.startswith("speed limit")
        known = {"type": "speed limit" if is_limit else board, "shape": shape}
        known |= {"limit": number} if kind else {}
    elif said.element == "traffic light":
        known = {"color": thing.variant or "red"}
    return all(known.get(name) == value for name, value in said.properties.items())


def stands(spot: Spot, condition: Condition, drive: Drive) -> bool | Inapplicable:
    """Whether that spot is where the condition says; Inapplicable where nobody can tell."""
    if condition.distance is not None:
        least, most = condition.distance
        low, high = (0.95 * least, 1.05 * least) if least == most else (least, most)
        if spot.distance < low or (high is not None and spot.distance > high):
            return False
    reference, position, road = condition.reference, condition.position, drive.road
    side = condition.reference_properties.get("position")
    if reference is None or (reference in ("scene", "road") and position is None):
        return True
    if reference == "scene" and position == "on":
        return True
    beyond = max(spot.offset - road.right, road.left - spot.offset) + LIMITS.get(spot.element, 0.0)
    if reference in ("road", "ego-vehicle", "scene", "sidewalk") and position in SIDES:
        if reference == "ego-vehicle":
            return SIDES[position] * (spot.offset - drive.ego) > road.lane / 2
        return SIDES[position] * spot.offset > 0 and beyond > 0
    if reference == "ego-vehicle" and position == "in front of":
        return spot.element in FIXED or in_lane(spot.offset, "own", drive)
    if reference == "ego-vehicle" and position == "near":
        return spot.distance <= NEAR_EGO
    if reference == "road":
        return {"on": beyond <= 0 or spot.element in LIMITS, "near": 0 < beyond <= NEAR}.get(
            position or "", not_there(condition)
        )
    if reference == "lane" and position in ("on", None):
        return beyond <= LIMITS.get(spot.element, 0.0) if side is None else in_lane(spot.offset, side, drive)
    if reference == "sidewalk" and position in ("on", "near", None):
        is_side = side is None or (spot.offset > 0) == (side == "right")
        return is_side and 0 < beyond <= KERB + road.sidewalk + 0.5
    return _by_another(spot, condition, drive)


def in_lane(offset: float, side: str, drive: Drive) -> bool:
    """Whether an offset is in the lane of that name."""
    lane = drive.road.lane
    return 0 < offset <= lane if side in OWN else -lane <= offset < 0 if side in OTHER else False


def _by_another(spot: Spot, condition: Condition, drive: Drive) -> bool | Inapplicable:
    """Whether it is by a thing that is there, on the side that is said."""
    if condition.position == "on" and condition.reference != "crosswalk":
        return not_there(condition)
    for other in _others(condition, drive):
        apart, beside = spot.distance - other.distance, spot.offset - other.offset
        match condition.position:
            case "on":
                near = 0 <= apart <= CROSSWALK_DEPTH and drive.road.left < spot.offset < drive.road.right
            case "near":
                near = abs(apart) <= NEAR and abs(beside) <= 2 * NEAR
            case "left of" | "right of":
                near = abs(apart) <= NEAR and 0 < SIDES[condition.position] * beside <= NEAR
            case "in front of":
                near = -3 * NEAR <= apart < 0 and abs(beside) <= NEAR
            case _:
                near = 0 < apart <= 4 * NEAR and abs(beside) <= NEAR
        if near:
            return True
    return False


def _others(condition: Condition, drive: Drive) -> Iterator[Spot]:
    """Where what the thing stands by may be."""
    if condition.reference == "crosswalk":
        if drive.road.crosswalk is not None:
            edges = (0.0,) if condition.position != "near" else (drive.road.left, drive.road.right)
            yield from (Spot("crosswalk", drive.road.crosswalk, edge) for edge in edges)
    elif condition.reference == "building":
        for house in drive.houses:
            front = house_spot(house, drive)
            steps = range(0, max(1, round(house.length)), 4)
            yield from (replace(front, distance=house.start + step) for step in steps)
    elif condition.reference is not None:
        wanted = Entity(condition.reference, condition.reference_properties)
        yield from (spot_of(thing) for thing in drive.things if fits(thing, wanted))
