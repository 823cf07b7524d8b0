"""Label maps of scenes: known ones, those that a segmentation system makes, and lane lines in them."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping
from functools import lru_cache, partial
from typing import Any, cast

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput
from instar.core.scene import Image, Mask, Scene
from instar.core.system import System, ask
from instar.imaging.labels import LabelMap
from instar.scenes.palettes import COMMON

__all__ = ["labels_of", "read_label_map", "with_lines", "with_maps"]

KEPT = 32  # maps that were made
# Of a lane line:
BRIGHTER = 9  # grey levels above the asphalt around it, at least
SHARE = 0.14  # of the asphalt's brightness: as much brighter, where that is more
LEAST_LENGTH = 0.035  # of the picture's height
LEAST_SLENDER = 2.2  # how many times as long as wide
LEAST_PIXELS = 12


def labels_of(scene: Scene) -> LabelMap | None:
    """The label map that a scene knows, made when asked for."""
    make: Any = scene.knowledge.get("labels")
    return None if make is None else make()


def with_maps(scene: Scene, maps: System) -> Scene:
    """The scene with label maps of the system, where it knows none."""
    if "labels" in scene.knowledge:
        return scene
    return dataclasses.replace(
        scene, knowledge={**scene.knowledge, "labels": partial(_found, scene, cast(Hashable, maps))}
    )


@lru_cache(maxsize=KEPT)
def _found(scene: Scene, maps: Any) -> LabelMap:
    image = scene.image
    (reply,) = ask(maps, [image], retries=0)
    if reply.error is not None:
        raise BadInput(f"{maps.name} makes no label map of {scene.id}: {reply.error}")
    try:
        labels = read_label_map(reply.answer)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{maps.name}, {scene.id}: {error}") from None
    if labels.ids.shape != image.shape[:2]:
        raise BadInput(
            f"{maps.name}: its map of {scene.id} is {labels.ids.shape}, and the picture {image.shape[:2]}"
        )
    return labels


def read_label_map(answer: Any) -> LabelMap:
    """A label map out of what a segmentation system says: ids `(H, W)` and the names of the classes.

    `{"labels": ids, "names": [...]}`, a pair of both, or a `LabelMap`; names may be those of other data sets.

    >>> read_label_map({"labels": [[0, 1]], "names": ["Road", "Pedestrian"]}).names
    ('road', 'person')
    """
    if isinstance(answer, LabelMap):
        return answer
    if isinstance(answer, Mapping):
        if set(answer) != {"labels", "names"}:
            raise ValueError(f"a label map has the keys labels and names, not {sorted(map(str, answer))}")
        ids, names = answer["labels"], answer["names"]
    elif isinstance(answer, (tuple, list)) and len(answer) == 2:
        ids, names = answer
    else:
        raise TypeError(f"a label map is a mapping with labels and names, not {type(answer).__name__}")
    array = np.asarray(ids)
    if (
        array.ndim != 2
        or array.dtype.kind not in "iu"
        or array.min(initial=0) < 0
        or array.max(initial=0) > 255
    ):
        raise ValueError(
            f"labels are whole numbers from 0 to 255 in rows and columns, not {array.dtype} {array.shape}"
        )
    plain = [str(name).strip().lower().replace("_", " ") for name in names]
    return LabelMap(array.astype(np.uint8), tuple(COMMON.get(name, name) for name in plain))


def with_lines(labels: LabelMap, image: Image) -> LabelMap:
    """The label map with the class "line" inside the road; as it is, where it has that class already."""
    if "line" in labels.names:
        return labels
    road = labels.mask(["road"])
    return labels.relabelled(_lines(image, road), "line") if road.any() else labels


def _lines(image: Image, road: Mask) -> Mask:
    """Slender patches that are brighter than the road to both sides of them.

    Lines are wider near the camera, so a row is compared with what lies a share of the road's width aside.
    """
    height, width = road.shape
    grey = cv2.GaussianBlur(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), (3, 3), 0)
    inner = cv2.erode(road.astype(np.uint8), np.ones((3, 3), np.uint8), borderValue=1)
    filled = np.where(road, grey, np.uint8(np.median(grey[road]))).astype(np.uint8)
    found: npt.NDArray[np.uint8] = np.zeros(road.shape, np.uint8)
    wide = road.sum(axis=1)
    bound = max(BRIGHTER, SHARE * float(np.median(grey[road])))
    for reach in (7, 13, 25, 45):
        # Opening keeps only what is wider than the reach: the difference is what is narrower, like a line.
        size = max(3, round(reach * width / 480) | 1)
        narrow = cv2.subtract(filled, cv2.morphologyEx(filled, cv2.MORPH_OPEN, np.ones((1, size), np.uint8)))
        rows = (wide > 3 * size)[:, None]
        found |= ((narrow > bound) & (inner > 0) & rows).astype(np.uint8)
    found = np.asarray(cv2.morphologyEx(found, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)), np.uint8)
    _, pieces, stats, _ = cv2.connectedComponentsWithStats(found)
    kept = [number for number in range(1, len(stats)) if _is_line(pieces, stats[number], number, height)]
    lines = np.isin(pieces, kept).astype(np.uint8)
    return np.asarray((cv2.dilate(lines, np.ones((3, 3), np.uint8)) > 0) & road)


def _is_line(pieces: np.ndarray, stat: np.ndarray, number: int, height: int) -> bool:
    left, top, wide, tall, area = stat.tolist()
    if area < LEAST_PIXELS or max(wide, tall) < LEAST_LENGTH * height:
        return False
    points = np.argwhere(pieces[top : top + tall, left : left + wide] == number)
    (_, _), (one, other), _ = cv2.minAreaRect(points.astype(np.float32))
    return max(one, other) + 1 >= LEAST_SLENDER * (min(one, other) + 1)
