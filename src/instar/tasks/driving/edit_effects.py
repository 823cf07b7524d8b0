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
from instar.worlds.drive.canvas import Camera
from instar.worlds.drive.plan import VEHICLES, Drive, Thing

__all__ = ["recover_drive", "relabel"]

KINDS = {"person": "pedestrian", "rider": "bicyclist", "bicycle": "bicyclist", "vegetation": "tree"}
IN_PLACE_OF = {"line": "road", "crosswalk": "road", "stop line": "road"}
"""What is left where something painted is removed; elsewhere nobody knows what was behind."""
BEHIND = "unlabelled"
OPAQUE = 128


def relabel(labels: LabelMap, edit: Edit, cutouts: CutOuts) -> LabelMap:
    """The label map of the edited picture."""
    if "foot" in edit:
        return labels.relabelled(_covered(labels, edit, cutouts), edit["label"])
    if "map" in edit:
        return _repainted(labels, edit)
    if "mask" not in edit:
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


def _covered(labels: LabelMap, edit: Edit, cutouts: CutOuts) -> Mask:
    """Where what was pasted hides the picture."""
    if "cutout" in edit:
        pixels = resized(cutouts.pixels(edit["cutout"]), edit["width"], edit["height"])
    else:
        pixels = draw_sign(edit)
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
    match edit.get("of"):
        case "time":
            return replace(drive, time=edit["kind"])
        case "weather":
            return replace(drive, weather=edit["kind"], level=min(1.0, edit["strength"]))
        case "line":
            return replace(drive, road=replace(drive.road, centre="", edges=""))
        case "crosswalk":
            return replace(drive, road=replace(drive.road, crosswalk=None))
        case "pedestrian" | "bicyclist" | "traffic sign" | "traffic light" | "vehicle":
            gone = VEHICLES if edit["of"] == "vehicle" else (edit["of"],)
            return replace(drive, things=tuple(t for t in drive.things if t.kind not in gone))
    return drive


def _placed(drive: Drive, edit: Edit, size: tuple[int, int]) -> Thing:
    """The thing that was pasted, going by its feet."""
    view = Camera.of(drive, size)
    column = edit["x"] + edit["width"] / 2
    column = size[1] - column if drive.mirrored else column
    distance, offset = view.ground_at(column, edit["y"] + edit["height"])
    kind = KINDS.get(edit["label"], str(edit["label"]))
    return Thing(kind, distance, offset, edit.get("variant", ""), away=offset > 0)
