"""Adding by pasting a cut-out where it can stand, as large as it is there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from instar.cutouts import CutOuts
from instar.cutouts.pool import CutOut
from instar.driving.engines import Edit, View
from instar.driving.ground import Ground
from instar.driving.rules.model import Condition
from instar.imaging.paste import pasted, resized, toned
from instar.imaging.photometric import light_of
from instar.relation import Inapplicable
from instar.scene import Image

__all__ = ["alter", "make", "place_at", "places", "plan"]

TRIES = 60
NEAREST, FARTHEST = 0.95, 0.22  # rows where things may stand, as shares of the way down from the horizon
CLOSER = 0.6  # of the distance
LARGER = 1.4
LEAST_HEIGHT = 0.06  # of the picture; smaller ones could not be seen
GAINS = (0.6, 1.2)  # how far a cut-out's light is matched to the picture's
ROADSIDES = {None, "scene", "sidewalk"}
AHEAD = {"vehicle", "lane", "line"}


def plan(condition: Condition, view: View, rng: np.random.Generator) -> tuple[Edit, ...] | Inapplicable:
    """One paste for each thing that is added; two where the sentence leaves the number open."""
    if "color" in condition.properties:
        return Inapplicable("no cut-out of a given colour")
    assert view.gallery is not None, "a gallery is made before pictures are pasted"
    wanted = _classes(condition, view)
    cutouts = view.gallery.of(wanted, not_from=view.scene)
    if not cutouts:
        return Inapplicable("no cut-out of its class")
    where = places(condition)
    if where is None:
        return Inapplicable("no engine places things there")
    edits: list[Edit] = []
    for _ in range(2 if condition.count is None else condition.count):
        cutout = cutouts[int(rng.integers(len(cutouts)))]
        found = place_at(_paste(cutout, view), where, view.gallery.heights[cutout.label], view, rng)
        if found is None:
            return Inapplicable("no free place")
        edit, ground = found
        edits.append(edit)
        view = replace(view, ground=ground)
    return tuple(edits)


def alter(edit: Edit, comparative: str, view: View) -> Edit | Inapplicable:
    """The same cut-out closer, farther, larger or smaller; its own place counts as free."""
    horizon, height = view.ground.horizon, view.ground.size[0]
    row, size = float(edit["foot"]), float(edit["size"])
    if comparative in ("closer", "farther"):
        row = horizon + (row - horizon) * (1 / CLOSER if comparative == "closer" else CLOSER)
    elif comparative in ("larger", "smaller"):
        size *= LARGER if comparative == "larger" else 1 / LARGER
    else:
        return Inapplicable("no engine makes it more or fewer")
    if row > height - 2:
        return Inapplicable("it is as close as it can be")
    found = _standing(edit, round(row), size, view.ground)
    return found if found is not None else Inapplicable("no free place")


def make(image: Image, edit: Edit, cutouts: CutOuts) -> Image:
    """The picture with the cut-out in it."""
    pixels = resized(cutouts.pixels(edit["cutout"]), edit["width"], edit["height"])
    return pasted(image, toned(pixels, edit["gain"], edit["offset"]), edit["x"], edit["y"], "feather")


def _classes(condition: Condition, view: View) -> list[str]:
    """The classes of the element in the gallery; a kind of vehicle is a class of its own."""
    kind = condition.properties.get("type")
    known = view.ontology.elements[condition.element].classes
    return [name for name in known if kind is None or name == kind]


def places(condition: Condition) -> str | None:
    """roadside, roadside left or right, path, road or crosswalk; None where nothing can be placed."""
    reference, position = condition.reference, condition.position
    if position in ("left of", "right of") and reference in ("road", "ego-vehicle", "scene"):
        return f"roadside {position.split()[0]}"
    if position == "in front of" and reference == "ego-vehicle":
        return "path"
    if position == "on" and reference in ("road", "lane"):
        return "road"
    if position == "on" and reference == "crosswalk":
        return "crosswalk"
    if reference in ROADSIDES or (position == "near" and reference in ("road", "ego-vehicle")):
        return "road" if condition.element in AHEAD and reference in (None, "scene") else "roadside"
    return None


def place_at(
    drawn: Edit, where: str, size: float, view: View, rng: np.random.Generator
) -> tuple[Edit, Ground] | None:
    """The edit with a place to stand, and the ground with that place taken; None where none is free."""
    ground = view.ground
    depth = ground.size[0] - 1 - ground.horizon
    for _ in range(TRIES):
        row = round(ground.horizon + depth * float(rng.uniform(FARTHEST, NEAREST)))
        side = "left" if rng.random() < 0.5 else "right"
        tried = {
            **drawn,
            "where": f"roadside {side}" if where == "roadside" else where,
            "across": float(rng.uniform(0.15, 0.85)),
        }
        found = _standing(tried, row, size, ground)
        if found is not None:
            return found, _taken(ground, found)
    return None


def _paste(cutout: CutOut, view: View) -> Edit:
    """A paste that is not placed yet, in the light of the picture."""
    assert view.gallery is not None, "a gallery is made before pictures are pasted"
    light, own = light_of(view.image), light_of(view.gallery.pool.pixels(cutout.digest))
    gain = float(np.clip(light.mean / max(own.mean, 1.0), *GAINS)) ** 0.5
    return {
        "engine": "paste",
        "cutout": cutout.digest,
        "label": cutout.label,
        "aspect": cutout.width / cutout.height,
        "least": LEAST_HEIGHT,
        "gain": round(gain, 3),
        "offset": 0.0,
    }


def _standing(edit: Edit, row: int, size: float, ground: Ground) -> Edit | None:
    """The edit with its feet in that row, `size` times as high as they are below the horizon, if it fits."""
    height = round(size * (row - ground.horizon))
    width = max(2, round(height * edit["aspect"]))
    if height < edit["least"] * ground.size[0]:
        return None
    where, surface = edit["where"], ground.road
    if where.startswith("roadside"):
        side = -1 if where.endswith("left") else 1
        surface, edge = ground.roadside, ground.edge(row, side)
        if edge is None:
            return None
        away = max(1, round(edit["across"] * width))
        left = edge + away if side > 0 else edge - width - away
    elif where == "path":
        left = round(ground.path(row) - width / 2)
    else:
        if where == "crosswalk":
            surface = ground.crosswalk
        columns = np.flatnonzero(surface[row])
        if not len(columns):
            return None
        left = round(float(np.quantile(columns, edit["across"])) - width / 2)
    top = row + 1 - height
    if not ground.can_stand(left, top, width, height, surface):
        return None
    return {**edit, "foot": row, "size": size, "x": left, "y": top, "width": width, "height": height}


def _taken(ground: Ground, edit: Edit) -> Ground:
    taken = ground.taken.copy()
    taken[edit["y"] : edit["y"] + edit["height"], edit["x"] : edit["x"] + edit["width"]] = True
    return replace(ground, taken=taken)
