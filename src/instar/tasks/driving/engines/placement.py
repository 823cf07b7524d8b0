"""Where a thing can stand in a picture, as large as it is there: on the roadside, ahead, in a lane."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import cv2
import numpy as np

from instar.core.change import Inapplicable
from instar.tasks.driving.engines import Edit, SceneView
from instar.tasks.driving.engines.words import not_there
from instar.tasks.driving.gallery import METRES
from instar.tasks.driving.ground import TRAFFIC, GroundPlane
from instar.tasks.driving.rules.model import Condition
from instar.worlds.drive.canvas import Camera

TRIES = 60
NEAREST, FARTHEST = 0.95, 0.22  # rows where things may stand, as shares of the way down from the horizon
FAR = {"tree": 0.05, "vegetation": 0.05, "traffic light": 0.1, "traffic sign": 0.1}
"""What is tall is whole only farther away."""
TREES = ("tree", "vegetation")
VERGE = (0.12, 0.4)  # of a lane: how far from the road trees stand
SLENDER = ("vegetation", "traffic light", "traffic sign")
CLOSE = 0.5  # where "near the ego-vehicle" begins
CLOSER = (0.6, 0.7)  # of the distance: as much as there is room for
LARGER = 1.4
LANE = 3.3  # metres wide
MOST_METRES = 70.0  # "more than 20 m" is no farther
BENT = 0.3  # of a lane: where the road bends by more, its lanes are not known
BY_THE_ROAD = ("traffic light", "traffic sign", "tree")  # even when they are ahead
ON_WHEELS = ("vehicle", "bicyclist", "motorcyclist")  # at the roadside they stand along the kerb

Metres = tuple[float, float | None]
Placed = tuple[Edit, GroundPlane] | Inapplicable | None
"""An edit with a place, and the ground with that place taken; None where none is free."""


def places(condition: Condition) -> str | Inapplicable:
    """roadside, kerb, path, road, crosswalk or lane, maybe with a side; "by" another thing; or why not."""
    reference, position, element = condition.reference, condition.position, condition.element
    side = condition.reference_properties.get("position", "")
    beside = "kerb" if element in ON_WHEELS else "roadside"
    is_ahead = reference in (None, "scene", "road", "lane") or position == "in front of"
    if condition.properties.get("heading") == "oncoming" and is_ahead:
        return "lane opposite"
    if position in ("left of", "right of") and reference in ("road", "ego-vehicle", "scene", "sidewalk"):
        return f"{beside} {position.split()[0]}"
    if reference == "ego-vehicle" and position == "behind":
        return Inapplicable("behind the ego-vehicle nothing is seen")
    if reference == "ego-vehicle" and position == "in front of":
        return "roadside" if element in BY_THE_ROAD else "path"
    if reference == "lane" and position == "on" and element not in BY_THE_ROAD:
        return f"lane {side or 'any'}"
    if reference in ("road", "crosswalk") and position == "on" and element not in BY_THE_ROAD:
        return reference
    if reference == "sidewalk" and position in ("on", "near"):
        return f"{beside} {side}".rstrip()
    if reference in (None, "scene") and position in (None, "on"):
        parked = condition.properties.get("state") == "parked"
        return "road" if element in ON_WHEELS and not parked else beside
    if position == "near" and reference in ("road", "ego-vehicle"):
        return f"{beside} near" if reference == "ego-vehicle" else beside
    if reference in ("road", "ego-vehicle", "scene", "lane", "crosswalk") or position in (None, "on"):
        return not_there(condition)
    return "by"


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


def place_at(
    drawn: Edit,
    where: str,
    size: float,
    view: SceneView,
    rng: np.random.Generator,
    distance: Metres | None = None,
) -> Placed:
    """The edit with a place to stand, and the ground with that place taken; None where none is free."""
    rows = None if distance is None else _rows(distance, view)
    if isinstance(rows, Inapplicable):
        return rows
    ground, far = view.ground, FAR.get(drawn["label"], FARTHEST)
    depth = ground.size[0] - 1 - ground.horizon
    if where.endswith(" near"):
        where, far = where.removesuffix(" near"), CLOSE
    # What is tall is whole only where its top is inside the picture.
    near = max(far, min(NEAREST, ground.horizon / max(size - 1, 1e-3) / depth))
    rows = rows or (ground.horizon + depth * far, ground.horizon + depth * near)
    if rows[0] > ground.size[0] - 2:
        return None  # it would be below the picture
    rows = rows[0], min(rows[1], ground.size[0] - 2)
    person = view.gallery.person if view.gallery is not None else None
    keeps = _keeps(view) if where == "lane opposite" else ""
    if where == "lane opposite" and not keeps:
        return Inapplicable("which lane is the opposite one, the pictures do not tell")
    for _ in range(TRIES):
        row = round(float(rng.uniform(*rows)))
        side = "left" if rng.random() < 0.5 else "right"
        tried = {
            **drawn,
            "where": f"{where} {side}" if where in ("roadside", "kerb") else where,
            "across": float(rng.uniform(0.15, 0.85)),
            "lane": round(LANE / METRES["person"] * (person or 0.0), 4),
            **({"keeps": keeps} if keeps else {}),
        }
        found = _standing(tried, row, size, ground)
        if found is not None:
            return found, take_place(ground, found)
    return Inapplicable("no free place in the opposite lane") if where == "lane opposite" else None


def _keeps(view: SceneView) -> str:
    """The side of the road that people drive on, if it is known."""
    if view.drive is not None:
        return "left" if view.drive.mirrored else "right"
    return view.gallery.keeps if view.gallery is not None else ""


def _rows(distance: Metres, view: SceneView) -> tuple[float, float] | Inapplicable:
    """The rows in which things stand that are so far away, the farthest first."""
    least, most = max(distance[0], 1.0), MOST_METRES if distance[1] is None else distance[1]
    if view.drive is not None:
        camera = Camera.of(view.drive, view.size)
        return _whole(float(camera.project(0.0, 0.0, most)[1]), float(camera.project(0.0, 0.0, least)[1]))
    person = view.gallery.person if view.gallery is not None else None
    if view.lens is None or person is None:
        return Inapplicable(
            "how many metres away anything is, the picture does not tell without rule.lens, its degrees"
        )
    # Whoever stands with the feet so far below the horizon is as high as the camera.
    focal = view.size[1] / 2 / math.tan(math.radians(view.lens / 2))
    below = focal * METRES["person"] / person
    return _whole(view.ground.horizon + below / most, view.ground.horizon + below / least)


def _whole(far: float, near: float) -> tuple[float, float]:
    """The rows above both edges in which feet may be: a row ends where the next begins."""
    first, last = math.ceil(far) - 1, math.floor(near) - 1
    return (first, last) if first <= last else (round((far + near) / 2) - 1,) * 2


_AWAY = {"behind": -0.12, "in front of": 0.35}
"""How much lower its feet are than those of what it stands by, in heights of that."""


def place_by(
    drawn: Edit, condition: Condition, size: float, view: SceneView, rng: np.random.Generator
) -> Placed:
    """A place beside, before or behind a thing of the label map that the sentence names."""
    element, position = condition.reference, condition.position
    assert element is not None, "places told so"
    assert position is not None, "places told so"
    kind = condition.reference_properties.get("type")
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
            return found, take_place(ground, found)
    return None


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


def move(edit: Edit, distance: Metres, view: SceneView) -> Edit | Inapplicable:
    """The same cut-out so many metres away."""
    rows = _rows(distance, view)
    if isinstance(rows, Inapplicable):
        return rows
    row = round(max(rows[0], min(float(edit["foot"]), rows[1])))
    is_inside = view.ground.horizon < row <= view.ground.size[0] - 2
    found = _standing(edit, row, float(edit["size"]), view.ground) if is_inside else None
    return found or Inapplicable("no free place")


def less(edit: Edit, view: SceneView) -> Iterator[Sequence[Edit]]:
    """The same cut-out farther, row by row, and smaller on its feet, pixel by pixel."""
    ground, foot = view.ground, int(edit["foot"])
    rows = range(math.ceil(ground.horizon) + 1, foot)
    found = [_standing(edit, row, float(edit["size"]), ground) for row in rows]
    yield [one for one in found if one is not None]
    heights = range(math.ceil(edit["least"] * ground.size[0]), edit["height"])
    yield [_smaller(edit, height, ground) for height in heights]


def _standing(edit: Edit, row: int, size: float, ground: GroundPlane) -> Edit | None:
    """The edit with its feet in that row, `size` times as high as they are below the horizon, if it fits."""
    height, width = size_at(edit, row, size, ground)
    if height < edit["least"] * ground.size[0]:
        return None
    left = _column(edit, row, width, ground)
    if left is None:
        return None
    surfaces = {"roadside": ground.roadside, "crosswalk": ground.crosswalk}
    surface = surfaces.get(edit["where"].split()[0], ground.road)
    kind = {"slender": edit["label"] in SLENDER, "traffic": edit["label"] in TRAFFIC}
    if not ground.can_stand(left, row + 1 - height, width, height, surface, **kind):
        return None
    return on_feet(edit, row, size, left, (height, width))


def _column(edit: Edit, row: int, width: int, ground: GroundPlane) -> int | None:
    """The left column of a thing of that width in that row, where the edit says it stands."""
    where, _, side = edit["where"].partition(" ")
    match where:
        case "roadside" | "kerb":
            right = side == "right"
            reach = edit["lane"] * (row - ground.horizon) or math.inf  # where sizes are not known, any
            edge = ground.edge(row, 1 if right else -1, reach)
            if edge is None:
                return None
            if where == "kerb":
                return edge - width - 1 if right else edge + 1
            away = max(1, round(float(edit["across"]) * width))
            if edit["label"] in TREES and math.isfinite(reach):  # the trunk stands there, not the crown
                trunk = VERGE[0] + float(edit["across"]) * (VERGE[1] - VERGE[0])
                away = max(2, round(trunk * reach)) - width // 2
            return edge + away if right else edge - width - away
        case "path" | "lane" if ground.is_bent(row, BENT * edit["lane"] * (row - ground.horizon)):
            return None
        case "path":
            return round(ground.path(row) - width / 2)
        case "lane":
            middles = ground.lanes(row, edit["lane"] * (row - ground.horizon))
            if len(middles) < (2 if side in ("left", "right") else 1):
                return None
            own = ground.path(row)
            opposite = middles[-1] if edit.get("keeps") == "left" else middles[0]
            if side == "opposite" and round(opposite) == round(own):
                return None  # what is beside us is on our side
            chosen = {"left": middles[0], "right": middles[-1], "own": own, "opposite": opposite}
            return round(chosen.get(side, middles[int(edit["across"] * len(middles))]) - width / 2)
        case "road" | "crosswalk":
            columns = np.flatnonzero((ground.crosswalk if where == "crosswalk" else ground.road)[row])
            return round(float(np.quantile(columns, edit["across"])) - width / 2) if len(columns) else None
    return None  # it stands by something, and would not any more


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


def take_place(ground: GroundPlane, edit: Edit) -> GroundPlane:
    """The ground with the place of an edit taken."""
    placed = ground.placed.copy()
    placed[edit["y"] : edit["y"] + edit["height"], edit["x"] : edit["x"] + edit["width"]] = True
    return replace(ground, placed=placed)
