"""Which pixels of a label map a condition speaks of, where something is removed, replaced or looked for."""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np

from instar.core.change import Inapplicable
from instar.core.scene import Mask
from instar.tasks.driving.colours import colour_of, lamp_of
from instar.tasks.driving.engines import SceneView
from instar.tasks.driving.engines.words import not_there, unshown
from instar.tasks.driving.rules.model import Condition, Entity
from instar.tasks.driving.several import is_several

LINES = ("line", "stop line", "crosswalk")
SPREAD = ("building", "tree")  # they cover much, and one piece may be many
KNOWN = {"vehicle": ("type", "color"), "traffic light": ("color",), "line": ("color",)}
"""The properties that a label map and the pixels tell of each element."""
COUNTED = ("pedestrian", "vehicle", "bicyclist", "motorcyclist", "animal")
"""Of these a piece should be one thing."""
LEAST_PIECE = 40  # pixels
ACROSS = 0.1  # of a piece, on one side of the way while the rest is on the other
NOTHING = Inapplicable("nothing of that class is there")
ENTANGLED = Inapplicable("the label map does not tell them from those beside them")


def select_pixels(condition: Condition, view: SceneView) -> Mask | Inapplicable:
    """The pixels of the element where the sentence says, all or as many pieces as are counted."""
    mask = _found(condition, view)
    if isinstance(mask, Inapplicable):
        return mask
    if condition.count is not None:
        pieces = sorted(pieces_of(mask), key=lambda piece: -int(piece.sum()))
        single = [piece for piece in pieces if not _is_entangled(piece, condition)]
        if len(single) < condition.count <= len(pieces) or (pieces and not single):
            return ENTANGLED
        pieces = single
        if 0 < len(pieces) < condition.count:
            return Inapplicable(f"there are not {condition.count} of them")
        mask = np.any([np.zeros_like(mask), *pieces[: condition.count]], axis=0)
    return _shortage(mask, condition, view) or mask


def is_shown(condition: Condition, view: SceneView) -> bool | Inapplicable:
    """Whether the picture shows such a thing there."""
    mask = _found(condition, view)
    return mask if isinstance(mask, Inapplicable) else bool(mask.any())


def find_shortage(condition: Condition, view: SceneView) -> Inapplicable | None:
    """Why the element cannot be removed or replaced, by how much of it is there."""
    return _shortage(_whole(condition.thing, view), condition, view)


def pieces_of(mask: Mask) -> Iterator[Mask]:
    """The pieces of a mask that hang together and are no crumbs."""
    count, numbers, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    for number in range(1, count):
        if stats[number, cv2.CC_STAT_AREA] >= LEAST_PIECE:
            yield np.asarray(numbers == number)


def side_of(view: SceneView) -> Mask:
    """Which pixels are to the right of the ego-vehicle's way, and above it of where the road ends."""
    rows, columns = np.mgrid[0 : view.size[0], 0 : view.size[1]]
    ground = view.ground
    down = np.clip((rows - ground.horizon) / (view.size[0] - 1 - ground.horizon), 0, 1)
    return np.asarray(columns > ground.vanishing + (view.size[1] / 2 - ground.vanishing) * down)


def _found(condition: Condition, view: SceneView) -> Mask | Inapplicable:
    """Where things are that fit every word: class, properties and place."""
    known = KNOWN.get(condition.element, ())
    new = () if condition.new is None else tuple(condition.new.properties)  # the engine's own business
    unsaid = unshown(condition, own=known, new=new, reference=("position",))
    if unsaid is not None:
        return unsaid
    mask = _there(_whole(condition.thing, view), condition, view)
    colour = condition.properties.get("color")
    if isinstance(mask, Inapplicable) or colour is None:
        return mask
    image, is_light = np.asarray(view.image), condition.element == "traffic light"
    of_colour = [
        piece
        for piece in pieces_of(mask)
        if (lamp_of(image[piece]) if is_light else colour_of(image, piece)) == colour
    ]
    if any(_is_entangled(piece, condition) for piece in of_colour):
        return ENTANGLED
    return np.any(of_colour, axis=0) if of_colour else Inapplicable(f"nothing there is {colour!r}")


def _there(mask: Mask, condition: Condition, view: SceneView) -> Mask | Inapplicable:
    """The part of a mask that is where the condition says."""
    reference, position = condition.reference, condition.position
    side = condition.reference_properties.get("position")
    if reference is None or (reference in ("road", "scene") and position in (None, "on")):
        is_ground = reference == "road" and position == "on" and condition.element not in LINES
        return _standing_on(mask, view.ground.road) if is_ground else mask
    if position in ("left of", "right of") and reference in ("road", "ego-vehicle", "scene", "sidewalk"):
        return _on_side(mask, position.split()[0], condition, view)
    if reference == "sidewalk" and position in ("on", "near", None):
        placed = mask
        if condition.element not in SPREAD:
            placed = _standing_on(mask, view.ground.roadside)
        return placed if side is None else _on_side(placed, side, condition, view)
    if reference == "ego-vehicle" and position == "in front of":
        return (
            mask
            if condition.element in ("traffic light", "traffic sign")
            else _in_path(mask, condition, view)
        )
    return not_there(condition)


def _on_side(mask: Mask, side: str, condition: Condition, view: SceneView) -> Mask | Inapplicable:
    """What is on that side: of what is spread the pixels, of things those that stand there."""
    there = side_of(view) if side == "right" else ~side_of(view)
    if condition.element in SPREAD:
        return mask & there
    pieces = list(pieces_of(mask))
    across = [piece for piece in pieces if ACROSS < float(there[piece].mean()) < 1 - ACROSS]
    if any(_is_entangled(piece, condition) for piece in across):
        return ENTANGLED
    return _any(mask, [piece for piece in pieces if there[_foot(piece)]])


def _standing_on(mask: Mask, ground: Mask) -> Mask:
    """The pieces whose feet are on that ground, or just above it."""
    grown = cv2.dilate(ground.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    return _any(mask, [piece for piece in pieces_of(mask) if grown[_foot(piece)]])


def _in_path(mask: Mask, condition: Condition, view: SceneView) -> Mask | Inapplicable:
    """The pieces that stand in the way of the ego-vehicle."""
    found = []
    for piece in pieces_of(mask):
        row, _ = _foot(piece)
        columns = np.flatnonzero(piece.any(axis=0))
        if row > view.ground.horizon and columns[0] <= view.ground.path(row) <= columns[-1]:
            found.append(piece)
    return ENTANGLED if any(_is_entangled(piece, condition) for piece in found) else _any(mask, found)


def _is_entangled(piece: Mask, condition: Condition) -> bool:
    """Whether a piece is several things of which not all are meant."""
    return condition.element in COUNTED and is_several(piece, vehicle=condition.element == "vehicle")


def _foot(piece: Mask) -> tuple[int, int]:
    """The lowest row of a piece and the middle of what is in it."""
    row = int(np.flatnonzero(piece.any(axis=1))[-1])
    return row, int(np.flatnonzero(piece[row]).mean())


def _any(mask: Mask, pieces: list[Mask]) -> Mask:
    return np.asarray(np.any([np.zeros_like(mask), *pieces], axis=0))


def _whole(thing: Entity, view: SceneView) -> Mask:
    classes = view.ontology.elements[thing.element].classes
    kind = thing.properties.get("type")
    if thing.element == "vehicle" and kind:
        classes = tuple(name for name in classes if name == kind)
    return view.labels.mask(classes)


def _shortage(mask: Mask, condition: Condition, view: SceneView) -> Inapplicable | None:
    least = view.least_lines if condition.element in LINES else view.least_objects
    if not mask.any():
        return NOTHING
    return Inapplicable("too little of that class is there") if mask.mean() < least else None
