"""Objects of Cityscapes: polygons drawn one over the other, so that what is in front hides the rest."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.scene import Mask, SceneObject
from instar.scenes.annotation_file import complain_at
from instar.scenes.annotations import boxed, read_size
from instar.user_file import read_json

THINGS = (
    "person", "rider", "car", "truck", "bus", "caravan", "trailer", "train", "motorcycle", "bicycle",
)  # fmt: skip
OF_THE_CAMERA = {"ego vehicle", "rectification border", "out of roi"}
NOT_DRAWN = "license plate"

Polygon = tuple[str, npt.NDArray[np.int32]]


def cityscapes_objects(file: Path) -> tuple[SceneObject, ...] | None:
    """The things of a `..._polygons.json`, as far as they can be seen; a group of them is a crowd.

    None where only the camera's own parts are outlined, as in the pictures for the test.
    """
    document = read_json(file)
    with complain_at(str(file)):
        polygons = _polygons(document)
        if {label for label, _ in polygons} <= OF_THE_CAMERA:
            return None
        visible, found = _visible(document, polygons), []
        for number, (label, points) in enumerate(polygons, start=1):
            kind = label.removesuffix("group")
            if kind not in THINGS:
                continue
            (left, top), (right, bottom) = points.min(axis=0), points.max(axis=0) + 1
            rows, columns = np.nonzero(visible[top:bottom, left:right] == number)
            if len(rows):
                ends = [
                    left + columns.min(),
                    top + rows.min(),
                    left + columns.max() + 1,
                    top + rows.max() + 1,
                ]
                mask = partial(_mask, file, number)
                found += boxed(kind, [float(end) for end in ends], mask=mask, crowd=kind != label)
    return tuple(found)


def _polygons(document: Mapping[str, Any]) -> list[Polygon]:
    """What is drawn, from behind to the front, in whole pixels of the picture."""
    height, width = read_size(document, "imgHeight", "imgWidth")
    found = []
    for entry in document["objects"]:
        if entry.get("deleted") or entry["label"] == NOT_DRAWN:
            continue
        points = np.array(entry["polygon"], np.float64).reshape(-1, 2)
        if not len(points) or not np.isfinite(points).all():
            raise ValueError(f"the outline of a {entry['label']} is no list of points")
        inside = np.clip(points.round(), 0, (width - 1, height - 1)).astype(np.int32)
        found.append((str(entry["label"]), inside))
    return found


def _visible(document: Mapping[str, Any], polygons: list[Polygon]) -> npt.NDArray[np.int32]:
    """Of each pixel, the number of the polygon in front; 0 where there is none."""
    import cv2

    drawn = np.zeros(read_size(document, "imgHeight", "imgWidth"), np.int32)
    for number, (_, points) in enumerate(polygons, start=1):
        cv2.fillPoly(drawn, [points], number)
    return drawn


def _mask(file: Path, number: int) -> Mask:
    document = read_json(file)
    with complain_at(str(file)):
        return np.asarray(_visible(document, _polygons(document)) == number)
