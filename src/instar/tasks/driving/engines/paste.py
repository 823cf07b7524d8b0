"""Adding by pasting a cut-out where it can stand, as large as it is there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

import cv2
import numpy as np

from instar.core.change import Inapplicable
from instar.core.scene import Image
from instar.cutouts import CutOuts
from instar.cutouts.pool import CutOut
from instar.imaging.harmony import shaded
from instar.imaging.paste import pasted, resized, toned
from instar.imaging.photometric import light_of
from instar.tasks.driving.engines import Edit, SceneView
from instar.tasks.driving.engines.appearance import at_home, well_lit
from instar.tasks.driving.ground import GroundPlane
from instar.tasks.driving.rules.model import Condition, Entity

__all__ = [
    "alter", "cutout_of", "less", "make", "on_feet", "paste_of", "place_at", "place_each", "places", "plan",
    "size_at",
]  # fmt: skip

TRIES = 60
NEAREST, FARTHEST = 0.95, 0.22  # rows where things may stand, as shares of the way down from the horizon
CLOSER = (0.6, 0.7)  # of the distance: as much as there is room for
LARGER = 1.4
SOFT = 90  # pixels high
LEAST_HEIGHT = 0.06  # of the picture; smaller ones could not be seen
GAINS = (0.6, 1.2)  # how far a cut-out's light is matched to the picture's
DAY, DRAWN_GAINS = 115.0, (0.3, 1.1)  # how light drawn days are, and how far models are matched to others
SHADOW, FLAT = 0.5, 0.22  # how dark the shadow at its feet is, and how high, of its width
ALIKE = 1.7  # times as light: cut-outs of such scenes look at home
ROADSIDES = {None, "scene", "sidewalk"}
AHEAD = {"vehicle", "lane", "line"}

Placed = tuple[Edit, GroundPlane] | Inapplicable | None
"""An edit with a place, and the ground with that place taken; None where none is free."""


def plan(condition: Condition, view: SceneView, rng: np.random.Generator) -> tuple[Edit, ...] | Inapplicable:
    """One paste for each thing that is added; two where the sentence leaves the number open."""
    assert view.gallery is not None, "a gallery is made before pictures are pasted"
    where, heights = places(condition), view.gallery.heights

    def place(view: SceneView) -> Placed:
        cutout = cutout_of(condition.thing, view, rng)
        if isinstance(cutout, Inapplicable):
            return cutout
        drawn, size = paste_of(cutout, view), heights[cutout.label]
        if where is None:
            return place_by(drawn, condition, size, view, rng)
        return place_at(drawn, where, size, view, rng)

    return place_each(condition, view, place)


def place_each(
    condition: Condition, view: SceneView, place: Callable[[SceneView], Placed]
) -> tuple[Edit, ...] | Inapplicable:
    """As many as the condition says, each where those before it leave room."""
    edits: list[Edit] = []
    for _ in range(2 if condition.count is None else condition.count):
        found = place(view)
        if found is None or isinstance(found, Inapplicable):
            return found or Inapplicable("no free place")
        edit, ground = found
        edits.append(edit)
        view = replace(view, ground=ground)
    return tuple(edits)


def cutout_of(thing: Entity, view: SceneView, rng: np.random.Generator) -> CutOut | Inapplicable:
    """Any cut-out of what is wanted, from another scene."""
    assert view.gallery is not None, "a gallery is made before pictures are pasted"
    if "color" in thing.properties:
        return Inapplicable("no cut-out of a given colour")
    kind = thing.properties.get("type")
    classes = [name for name in view.ontology.elements[thing.element].classes if kind is None or name == kind]
    cutouts = _in_such_light(view.gallery.of(classes, not_from=view.scene), view)
    if not cutouts:
        return Inapplicable("no cut-out of its class")
    return cutouts[int(rng.integers(len(cutouts)))]


def _in_such_light(cutouts: list[CutOut], view: SceneView) -> list[CutOut]:
    """Those from scenes about as light as this one; all where there are none."""
    assert view.gallery is not None, "a gallery is made before pictures are pasted"
    lights, own = view.gallery.lights, light_of(view.image).mean
    alike = [c for c in cutouts if own / ALIKE <= lights.get(c.scene, own) <= own * ALIKE]
    return well_lit(alike or cutouts, view.gallery.pool, own)


def alter(edit: Edit, comparative: str, view: SceneView) -> Edit | Inapplicable:
    """The same cut-out closer, farther, larger or smaller; its own place counts as free."""
    horizon, height = view.ground.horizon, view.ground.size[0]
    row, size = float(edit["foot"]), float(edit["size"])
    if comparative in ("closer", "farther"):
        steps = [1 / share if comparative == "closer" else share for share in CLOSER]
        rows = [horizon + (row - horizon) * step for step in steps]
    elif comparative in ("larger", "smaller"):
        size *= LARGER if comparative == "larger" else 1 / LARGER
        rows = [row]
    else:
        return Inapplicable("no engine makes it more or fewer")
    inside = [round(row) for row in rows if row <= height - 2]
    if not inside:
        return Inapplicable("it is as close as it can be")
    found = (_standing(edit, row, size, view.ground) for row in inside)
    return next((one for one in found if one is not None), Inapplicable("no free place"))


def less(edit: Edit, view: SceneView) -> Iterator[Sequence[Edit]]:
    """The same cut-out farther, row by row, and smaller on its feet, pixel by pixel."""
    ground, foot = view.ground, int(edit["foot"])
    rows = range(math.ceil(ground.horizon) + 1, foot)
    found = [_standing(edit, row, float(edit["size"]), ground) for row in rows]
    yield [one for one in found if one is not None]
    heights = range(math.ceil(edit["least"] * ground.size[0]), edit["height"])
    yield [_smaller(edit, height, ground) for height in heights]


def make(image: Image, edit: Edit, cutouts: CutOuts) -> Image:
    """The picture with the cut-out in it."""
    pixels = resized(cutouts.pixels(edit["cutout"]), edit["width"], edit["height"])
    # A soft edge is some pixels wide: of a small thing it would leave a ghost.
    blend: Literal["feather", "hard"] = "feather" if edit["height"] >= SOFT else "hard"
    x, y = edit["x"], edit["y"]
    image = shaded(image, (x, y, x + edit["width"], y + edit["height"]), float(edit.get("shadow", 0)), FLAT)
    lit = toned(pixels, edit["gain"], edit["offset"])
    if edit.get("shadow"):  # a photograph
        lit = at_home(lit, image, x, y)
    return pasted(image, lit, x, y, blend)


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


def place_at(drawn: Edit, where: str, size: float, view: SceneView, rng: np.random.Generator) -> Placed:
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


def paste_of(cutout: CutOut, view: SceneView) -> Edit:
    """A paste that is not placed yet, in the light of the picture."""
    assert view.gallery is not None, "a gallery is made before pictures are pasted"
    light = light_of(view.image).mean
    own = view.gallery.lights.get(cutout.scene) or light_of(view.gallery.pool.pixels(cutout.digest)).mean
    gain = float(np.clip(light / max(own, 1.0), *GAINS)) ** 0.5
    if view.drive is None and not cutout.scene:  # a drawn model in a photograph: it knows only day
        gain = float(np.clip(light / DAY, *DRAWN_GAINS))
    return {
        "engine": "paste",
        "cutout": cutout.digest,
        "label": cutout.label,
        "aspect": cutout.width / cutout.height,
        "least": LEAST_HEIGHT,
        "gain": round(gain, 3),
        "offset": 0.0,
        "shadow": SHADOW if view.drive is None else 0.0,  # drawn drives have a light of their own
    }


def place_by(
    drawn: Edit, condition: Condition, size: float, view: SceneView, rng: np.random.Generator
) -> Placed:
    """A place beside, before or behind a thing of the label map that the sentence names."""
    element, position = condition.reference, condition.position
    if element is None or element not in view.ontology.elements or position is None:
        return Inapplicable("no engine places things there")
    kind = condition.reference_properties.get("type")
    if set(condition.reference_properties) - {"type"}:
        return Inapplicable("the label map does not know its properties")
    classes = [c for c in view.ontology.elements[element].classes if kind is None or c == kind]
    _, _, stats, _ = cv2.connectedComponentsWithStats(view.labels.mask(classes).astype(np.uint8))
    boxes = [box for *box, area in stats[1:].tolist() if area >= 40]
    if not boxes:
        return Inapplicable("nothing of that class is there")
    ground = view.ground
    stand = replace(ground, roadside=ground.roadside | ground.road)
    for _ in range(TRIES):
        left, top, width, height = boxes[int(rng.integers(len(boxes)))]
        row = top + height - 1 + round(_AWAY.get(position, 0.0) * height)
        if row >= ground.size[0] - 2 or row <= ground.horizon + 2:
            continue
        tall, wide = size_at(drawn, row, size, ground)
        side = {"left of": -1, "right of": 1}.get(position, 1 if rng.random() < 0.5 else -1)
        middle = left + width / 2 + side * (width / 2 + wide * float(rng.uniform(0.55, 0.9)))
        if position == "in front of":
            middle = left + width / 2
        x, y = round(middle - wide / 2), row + 1 - tall
        if tall >= drawn["least"] * ground.size[0] and stand.can_stand(x, y, wide, tall, stand.roadside):
            found = on_feet({**drawn, "where": position, "across": 0.5}, row, size, x, (tall, wide))
            return found, _taken(ground, found)
    return None


_AWAY = {"behind": -0.12, "in front of": 0.35}
"""How much lower its feet are than those of what it stands by, in heights of that."""


def _standing(edit: Edit, row: int, size: float, ground: GroundPlane) -> Edit | None:
    """The edit with its feet in that row, `size` times as high as they are below the horizon, if it fits."""
    height, width = size_at(edit, row, size, ground)
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
    elif where not in ("road", "crosswalk"):
        return None  # it stands by something, and would not any more
    else:
        if where == "crosswalk":
            surface = ground.crosswalk
        columns = np.flatnonzero(surface[row])
        if not len(columns):
            return None
        left = round(float(np.quantile(columns, edit["across"])) - width / 2)
    if not ground.can_stand(left, row + 1 - height, width, height, surface):
        return None
    return on_feet(edit, row, size, left, (height, width))


def size_at(edit: Edit, row: int, size: float, ground: GroundPlane) -> tuple[int, int]:
    """Height and width of what is `size` times as high as its feet are below the horizon."""
    height = round(size * (row - ground.horizon))
    return height, max(2, round(height * edit["aspect"]))


def on_feet(edit: Edit, foot: int, size: float, x: int, shape: tuple[int, int]) -> Edit:
    """The edit with its feet in that row."""
    height, width = shape
    where = {"foot": foot, "size": size, "x": x, "y": foot + 1 - height, "width": width, "height": height}
    return {**edit, **where}


def _smaller(edit: Edit, height: int, ground: GroundPlane) -> Edit:
    """Lower, within the place that it has."""
    width = min(edit["width"], max(2, round(height * edit["aspect"])))
    x = edit["x"] + (edit["width"] - width) // 2
    return on_feet(edit, edit["foot"], height / (edit["foot"] - ground.horizon), x, (height, width))


def _taken(ground: GroundPlane, edit: Edit) -> GroundPlane:
    taken = ground.taken.copy()
    taken[edit["y"] : edit["y"] + edit["height"], edit["x"] : edit["x"] + edit["width"]] = True
    return replace(ground, taken=taken)
