"""Where in a drawn drive a thing may stand that a sentence places: on the roadside, ahead, behind a truck."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from instar.core.change import Inapplicable
from instar.tasks.driving.rules.model import Condition
from instar.worlds.drive import Drive, Road, Thing
from instar.worlds.drive.ground import CROSSWALK_DEPTH, KERB
from instar.worlds.drive.plan import VEHICLES
from instar.worlds.drive.vehicles import SIZES

__all__ = ["Spot", "spots"]

Place = tuple[float, float, bool]
"""A distance, an offset, and whether what stands there faces away."""
Spot = Callable[[np.random.Generator], Place]

NEAREST, FARTHEST = 8.5, 30.0  # metres
BESIDE = (0.35, 1.2)  # metres beyond the kerb
GAP = 1.2  # metres between a thing and what it stands by
BESIDE_WHAT = ("road", "ego-vehicle", "scene", "sidewalk", "lane")
ROADSIDE = (None, "scene", "sidewalk", "building", "tree")


def spots(condition: Condition, drive: Drive, rng: np.random.Generator) -> Spot | Inapplicable:
    """How places for the thing are drawn, or why there are none."""
    element, reference, position = condition.element, condition.reference, condition.position
    side, road = condition.reference_properties.get("position"), drive.road
    if position in ("left of", "right of") and reference in BESIDE_WHAT:
        return partial(_roadside, element, road, position.split()[0])
    if reference == "sidewalk" and side in ("left", "right"):
        return partial(_roadside, element, road, side)
    if reference == "ego-vehicle" and position == "behind":
        return Inapplicable("behind the ego-vehicle nothing is seen")
    if reference == "ego-vehicle" and position == "in front of":
        return partial(_ahead, road)
    if reference in ("road", "lane") and position == "on":
        return partial(_on_road, element, road, side)
    if reference == "crosswalk":
        if road.crosswalk is None:
            return Inapplicable("there is no crosswalk")
        return partial(_at_crosswalk, road, road.crosswalk, position)
    if reference in ROADSIDE or reference in ("road", "ego-vehicle", "lane"):
        if element == "vehicle" and reference in (None, "scene"):
            return partial(_on_road, element, road, None)
        return partial(_roadside, element, road, None)
    return _by_another(condition, drive, rng)


def _roadside(element: str, road: Road, side: str | None, rng: np.random.Generator) -> Place:
    right = rng.random() < 0.5 if side is None else side == "right"
    beyond = KERB + float(rng.uniform(*BESIDE))
    if element == "vehicle":  # parked, two wheels on the kerb
        beyond = 0.3
    elif element == "bicyclist":
        beyond = -0.5
    offset = road.right + beyond if right else road.left - beyond
    return float(rng.uniform(NEAREST, FARTHEST)), offset, bool(right)


def _ahead(road: Road, rng: np.random.Generator) -> Place:
    return float(rng.uniform(NEAREST, FARTHEST)), road.lane / 2 + float(rng.uniform(-0.3, 0.3)), True


def _on_road(element: str, road: Road, side: str | None, rng: np.random.Generator) -> Place:
    right = rng.random() < 0.5 if side not in ("left", "right") else side == "right"
    if element in ("vehicle", "bicyclist"):
        offset = road.lane / 2 if right else -road.lane / 2
    else:
        offset = float(rng.uniform(0.3, road.right - 0.3) if right else rng.uniform(road.left + 0.3, -0.3))
    return float(rng.uniform(NEAREST, FARTHEST)), offset, bool(right)


def _at_crosswalk(road: Road, at: float, position: str | None, rng: np.random.Generator) -> Place:
    offset = float(rng.uniform(road.left + 0.3, road.right - 0.3))
    if position == "on":
        return at + float(rng.uniform(0.3, CROSSWALK_DEPTH - 0.3)), offset, True
    if position == "near":
        return at + float(rng.uniform(-1, CROSSWALK_DEPTH + 1)), road.right + KERB + 0.6, True
    return (at + CROSSWALK_DEPTH + GAP if position == "behind" else at - GAP), offset, True


def _by_another(condition: Condition, drive: Drive, rng: np.random.Generator) -> Spot | Inapplicable:
    """Beside, before or behind a thing that is there."""
    wanted = condition.reference_properties
    kinds = VEHICLES if condition.reference == "vehicle" else (condition.reference,)
    known = [
        thing
        for thing in drive.things
        if thing.kind in kinds
        and wanted.get("type", thing.kind) == thing.kind
        and wanted.get("color", thing.variant) == thing.variant
        and 6.0 < thing.distance < 45.0
    ]
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
