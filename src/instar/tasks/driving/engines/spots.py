"""Where in a drawn drive a thing may stand that a sentence places: on the roadside, ahead, behind a truck.

Places are proposed here; `where` says whether one is where the sentence says.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from instar.core.change import Inapplicable
from instar.tasks.driving.engines.where import FIXED, NEAR_EGO, OWN, SIDES, fits, house_spot
from instar.tasks.driving.engines.words import not_there
from instar.tasks.driving.rules.model import Condition, Entity
from instar.worlds.drive import Drive, Road, Thing
from instar.worlds.drive.ground import CROSSWALK_DEPTH, KERB
from instar.worlds.drive.vehicles import SIZES

Place = tuple[float, float, bool]
"""A distance, an offset, and whether what stands there faces away."""
Proposal = Callable[[np.random.Generator], Place]

NEAREST, FARTHEST = 8.5, 30.0  # metres
BESIDE = (0.35, 1.2)  # metres beyond the kerb
GAP = 1.2  # metres between a thing and what it stands by
BEHIND_US = Inapplicable("behind the ego-vehicle nothing is seen")


def propose_places(condition: Condition, drive: Drive, rng: np.random.Generator) -> Proposal | Inapplicable:
    """How places for the thing are drawn, or why there are none."""
    element, reference, position = condition.element, condition.reference, condition.position
    side = condition.reference_properties.get("position")
    reach = _reach(condition)
    if isinstance(reach, Inapplicable):
        return reach
    oncoming = condition.properties.get("heading") == "oncoming"
    roadside = partial(_roadside, element, drive.road, reach)
    if position == "behind" and reference == "ego-vehicle":
        return BEHIND_US
    if oncoming and (reference in (None, "scene", "road", "lane") or position == "in front of"):
        return partial(_in_lane, element, drive.road, reach, "opposite")
    if condition.properties.get("state") == "parked" and reference in (None, "scene", "road"):
        return partial(roadside, position.split()[0] if position in SIDES else None)
    if position in SIDES and reference in ("road", "ego-vehicle", "scene", "sidewalk"):
        return partial(roadside, position.split()[0])
    if reference == "ego-vehicle" and position == "in front of":
        return partial(roadside, "right") if element in FIXED else partial(_ahead, drive.road, reach)
    if reference in ("road", "lane") and position == "on":
        if element in FIXED:
            return not_there(condition)
        return partial(_in_lane, element, drive.road, reach, side)
    if reference == "sidewalk" and position in ("on", "near"):
        return partial(roadside, side)
    if reference in (None, "scene") and position in (None, "on"):
        on_road = element in ("vehicle", "motorcyclist")
        return partial(_in_lane, element, drive.road, reach, None) if on_road else partial(roadside, None)
    if position == "near" and reference in ("road", "ego-vehicle"):
        return partial(roadside, None)
    if reference == "crosswalk":
        if drive.road.crosswalk is None:
            return Inapplicable("there is no crosswalk")
        return partial(_at_crosswalk, drive.road, drive.road.crosswalk, position)
    if reference == "building" and position in ("near", "in front of"):
        return _by_a_house(drive, element, rng)
    return _by_another(condition, drive, rng)


def _reach(condition: Condition) -> tuple[float, float] | Inapplicable:
    """The nearest and the farthest that it may be, in metres."""
    near, far = NEAREST, NEAR_EGO if _is_near_ego(condition) else FARTHEST
    if condition.distance is None:
        return near, far
    least, most = condition.distance
    if least == most:
        return least, least
    near, far = max(least, 6.0), 70.0 if most is None else min(most, 70.0)
    return (near, far) if near <= far else Inapplicable(f"within {most:g} m nothing is seen whole")


def _is_near_ego(condition: Condition) -> bool:
    return condition.reference == "ego-vehicle" and condition.position == "near"


def _roadside(
    element: str, road: Road, reach: tuple[float, float], side: str | None, rng: np.random.Generator
) -> Place:
    right = rng.random() < 0.5 if side is None else side == "right"
    beyond = KERB + float(rng.uniform(*BESIDE))
    if element == "vehicle":  # parked, two wheels on the kerb
        beyond = 0.3
    elif element == "bicyclist":
        beyond = -0.5
    offset = road.right + beyond if right else road.left - beyond
    return float(rng.uniform(*reach)), offset, bool(right)


def _ahead(road: Road, reach: tuple[float, float], rng: np.random.Generator) -> Place:
    return float(rng.uniform(*reach)), road.lane / 2 + float(rng.uniform(-0.3, 0.3)), True


def _in_lane(
    element: str, road: Road, reach: tuple[float, float], side: str | None, rng: np.random.Generator
) -> Place:
    """In the lane of that name; in either where none is named."""
    right = bool(rng.random() < 0.5) if side is None else side in OWN
    if element in ("vehicle", "bicyclist"):
        offset = road.lane / 2 if right else -road.lane / 2
    else:
        offset = float(rng.uniform(0.3, road.lane - 0.3)) * (1 if right else -1)
    return float(rng.uniform(*reach)), offset, right


def _at_crosswalk(road: Road, at: float, position: str | None, rng: np.random.Generator) -> Place:
    offset = float(rng.uniform(road.left + 0.3, road.right - 0.3))
    deep = at + float(rng.uniform(0.3, CROSSWALK_DEPTH - 0.3))
    match position:
        case "on":
            return deep, offset, True
        case "near":
            right = rng.random() < 0.5
            return deep, road.right + KERB + 0.6 if right else road.left - KERB - 0.6, bool(right)
        case "left of" | "right of":
            right = position == "right of"
            return deep, road.right + KERB + 0.6 if right else road.left - KERB - 0.6, right
        case "behind":
            return at + CROSSWALK_DEPTH + GAP, offset, True
    return at - GAP, offset, True


def _by_a_house(drive: Drive, element: str, rng: np.random.Generator) -> Proposal | Inapplicable:
    """On the pavement before a house."""
    houses = [h for h in drive.houses if h.start + h.length > NEAREST and h.start < FARTHEST]
    if not houses:
        return Inapplicable("nothing of that class is there")
    house = houses[int(rng.integers(len(houses)))]
    side = "right" if house_spot(house, drive).offset > 0 else "left"
    reach = (max(house.start, NEAREST), min(house.start + house.length, FARTHEST))
    return partial(_roadside, element, drive.road, reach, side)


def _by_another(condition: Condition, drive: Drive, rng: np.random.Generator) -> Proposal | Inapplicable:
    """Beside, before or behind a thing that is there."""
    if condition.reference is None or condition.position in (None, "on"):
        return not_there(condition)
    wanted = Entity(condition.reference, condition.reference_properties)
    known = [thing for thing in drive.things if fits(thing, wanted) and 6.0 < thing.distance < 45.0]
    if not known:
        return Inapplicable("nothing of that class is there")
    other = known[int(rng.integers(len(known)))]
    length, width, _ = SIZES.get(other.kind, (0.5, 0.5, 1.8))
    own_length, own_width, _ = SIZES.get(condition.properties.get("type", ""), (0.5, 0.5, 1.8))
    if condition.element == "vehicle":
        own_length, own_width, _ = SIZES[condition.properties.get("type", "car")]
    return partial(_beside, other, condition.position, length, own_length, (width + own_width) / 2 + 0.4)


def _beside(
    other: Thing, position: str | None, length: float, own: float, beside: float, rng: np.random.Generator
) -> Place:
    apart = float(rng.uniform(0.0, GAP))
    match position:
        case "behind":  # as seen from here: beyond it, and a little aside so that it can be seen
            sign = -1 if other.offset > 0 else 1
            return other.distance + length + GAP + apart, other.offset + sign * beside, other.away
        case "in front of":
            return max(NEAREST - 2, other.distance - own - GAP - apart), other.offset, other.away
        case "left of":
            return other.distance, other.offset - beside - apart, other.away
        case "right of":
            return other.distance, other.offset + beside + apart, other.away
        case _:
            sign = -1 if rng.random() < 0.5 else 1
            return other.distance, other.offset + sign * (beside + apart), other.away
