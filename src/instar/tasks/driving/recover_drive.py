"""What a picture of a drawn drive shows after it was edited by an engine that does not know the world.

A careful driver judges such a picture by what can be seen in it: what was placed, and how far away and how
far aside it is, going by where it meets the ground.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from instar.core.scene import Image
from instar.worlds.drive.canvas import Camera
from instar.worlds.drive.plan import VEHICLES, Drive, Thing

__all__ = ["recover_drive"]

KINDS = {"person": "pedestrian", "rider": "bicyclist", "bicycle": "bicyclist", "vegetation": "tree"}


def recover_drive(drive: Drive | None, edit: Mapping[str, Any], image: Image) -> Drive | None:
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


def _placed(drive: Drive, edit: Mapping[str, Any], size: tuple[int, int]) -> Thing:
    """The thing that was pasted, going by its feet."""
    view = Camera.of(drive, size)
    column = edit["x"] + edit["width"] / 2
    column = size[1] - column if drive.mirrored else column
    distance, offset = view.ground_at(column, edit["y"] + edit["height"])
    kind = KINDS.get(edit["label"], edit["label"])
    return Thing(kind, distance, offset, edit.get("variant", ""), away=offset > 0)
