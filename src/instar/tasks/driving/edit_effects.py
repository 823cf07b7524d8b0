"""What is known of a picture after an edit: its label map, and the drive that it shows.

What a careful driver can see in a picture of a drawn drive that was edited by an engine which does not know
the world: what was placed, and how far away and how far aside it is, going by where it meets the ground.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from instar.core.scene import Image, Mask
from instar.cutouts import CutOuts
from instar.imaging.labels import LabelMap
from instar.imaging.mask_text import ids_from_text, mask_from_text
from instar.imaging.paste import resized
from instar.tasks.driving.engines import Edit
from instar.tasks.driving.engines.sign import draw_sign
from instar.tasks.driving.ground import GroundPlane, ground_of
from instar.worlds.drive.canvas import Camera
from instar.worlds.drive.plan import VEHICLES, Drive, Thing

KINDS = {"person": "pedestrian", "rider": "bicyclist", "bicycle": "bicyclist", "vegetation": "tree"}
WEATHERS = ("clear", "cloud", "rain", "snow", "fog")
"""What an engine of one's own calls otherwise, a drive does not know."""
IN_PLACE_OF = {"line": "road", "crosswalk": "road", "stop line": "road"}
"""What is left where something painted is removed; elsewhere nobody knows what was behind."""
BEHIND = "unlabelled"
OPAQUE = 128
ELSEWHERE = 255  # in the map of a patch: nothing changes


def ground_in(labels: LabelMap, rise: float, drive: Drive | None) -> GroundPlane | None:
    """The ground plane of a label map; of a drawn drive the horizon is known, whatever hides it."""
    ground = ground_of(labels, rise=rise)
    if ground is None or drive is None:
        return ground
    return replace(ground, horizon=Camera.of(drive, ground.size).horizon)


def relabel(labels: LabelMap, edit: Edit, cutouts: CutOuts) -> LabelMap:
    """The label map of the edited picture."""
    if "foot" in edit:
        return labels.relabelled(_covered(labels, edit, cutouts), edit["label"])
    if "map" in edit:
        return _repainted(labels, edit)
    if "mask" not in edit or "state" in edit:
        return labels
    name = edit.get("becomes") or IN_PLACE_OF.get(edit["of"], BEHIND)
    return labels.relabelled(mask_from_text(edit["mask"]), name)


def _repainted(labels: LabelMap, edit: Edit) -> LabelMap:
    """The map with what was painted: each class where its patch shows it."""
    ids = ids_from_text(edit["map"])
    for number, name in enumerate(edit["names"].split(",")):
        where = ids == number
        if where.any():
            labels = labels.relabelled(where, name)
    return labels


def changed_by(edit: Edit) -> Mask:
    """Where a patch shows something else than was there."""
    return np.asarray(ids_from_text(edit["map"]) != ELSEWHERE)


def _covered(labels: LabelMap, edit: Edit, cutouts: CutOuts) -> Mask:
    """Where what was pasted hides the picture."""
    if "cutout" in edit:
        pixels = resized(cutouts.pixels(edit["cutout"]), edit["width"], edit["height"])
    elif edit["engine"] == "sign":
        pixels = draw_sign(edit)
    else:  # an engine of one's own: its box is all that is known
        pixels = np.full((edit["height"], edit["width"], 4), 255, np.uint8)
    mask = np.zeros(labels.ids.shape, np.bool_)
    rows, columns = slice(edit["y"], edit["y"] + edit["height"]), slice(edit["x"], edit["x"] + edit["width"])
    mask[rows, columns] = pixels[..., 3] >= OPAQUE
    return mask


def recover_drive(drive: Drive | None, edit: Edit, image: Image) -> Drive | None:
    """The drive as it looks after the edit; None for pictures that are of none."""
    if drive is None:
        return None
    if "foot" in edit:
        return drive.with_things(_placed(drive, edit, (image.shape[0], image.shape[1])))
    if "placed" in edit:
        new = [_placed(drive, one, (image.shape[0], image.shape[1])) for one in edit["placed"]]
        return _without(drive, edit).with_things(*new)
    match edit.get("of"):
        case "time" if edit.get("kind") in ("day", "dusk", "night"):
            return replace(drive, time=edit["kind"])
        case "road surface" if "state" in edit:
            return replace(drive, road=replace(drive.road, surface=edit["state"]))
        case "weather" if edit.get("kind") in WEATHERS:
            return replace(drive, weather=edit["kind"], level=min(1.0, edit.get("strength", 1.0)))
        case "line" if edit.get("state"):
            return drive  # worn, and still there
        case "line":
            return replace(drive, road=replace(drive.road, centre="", edges=""))
        case "crosswalk":
            return replace(drive, road=replace(drive.road, crosswalk=None))
        case "pedestrian" | "bicyclist" | "traffic sign" | "traffic light" | "vehicle" if (
            "mask" in edit or "map" in edit
        ):
            return _without(drive, edit)
    return drive


def _without(drive: Drive, edit: Edit) -> Drive:
    """The drive without those things of a class whose feet were painted over."""
    mask = mask_from_text(edit["mask"]) if "mask" in edit else changed_by(edit)
    view = Camera.of(drive, (mask.shape[0], mask.shape[1]))
    gone = VEHICLES if edit["of"] == "vehicle" else (edit["of"],)

    def is_left(thing: Thing) -> bool:
        x, y = view.project(thing.offset, 0.0, thing.distance)
        x = mask.shape[1] - x if drive.mirrored else x
        reach = max(3, round(view.scale(thing.distance)))
        rows = slice(max(0, round(y) - 2 * reach), max(0, round(y) + 2))
        return not mask[rows, max(0, round(x) - reach) : max(0, round(x) + reach)].any()

    return replace(drive, things=tuple(t for t in drive.things if t.kind not in gone or is_left(t)))


def _placed(drive: Drive, edit: Edit, size: tuple[int, int]) -> Thing:
    """The thing that was pasted, going by its feet."""
    view = Camera.of(drive, size)
    column = edit["x"] + edit["width"] / 2
    column = size[1] - column if drive.mirrored else column
    distance, offset = view.ground_at(column, edit["y"] + edit["height"])
    kind = KINDS.get(edit["label"], str(edit["label"]))
    return Thing(kind, distance, offset, edit.get("variant", ""), away=offset > 0)
