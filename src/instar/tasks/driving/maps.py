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

KEPT = 32  # maps that were made
# Of a lane line:
ROUNDS = 2
BRIGHTER = 6  # grey levels above the asphalt around it, at least
SHARE = 0.14  # of the asphalt's brightness: as much brighter, where that is more
FAINT = 0.5  # of that: the edge of a stroke
GRAIN, MOST_GRAIN = 4.5, 8  # times as bright as the asphalt wavers; grey levels, for more is paint
REACHES = (7, 13, 25, 45)  # pixels of a picture 480 wide: narrower than one of these
LEAST_LENGTH = 0.02  # of the picture's height
LEAST_SLENDER = 2.7  # how many times as long as wide
LEAST_PIXELS = 8


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
    lines = find_lines(labels, image)
    return labels.relabelled(lines, "line") if lines.any() else labels


def find_lines(labels: LabelMap, image: Image) -> Mask:
    """Where the picture shows paint on the road of a label map, whatever the map calls it.

    Faint paint shows where bright paint beside it is gone, so it is looked for again.
    """
    road = labels.mask(["road", "line"])
    # Some maps leave crumbs without a label along the edges of paint: those are road too.
    whole = cv2.morphologyEx(road.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8)) > 0
    road = road | (whole & ~labels.mask([name for name in labels.names if name != "unlabelled"]))
    lines = np.zeros_like(road)
    for _ in range(ROUNDS if road.any() else 0):
        found = _lines(image, road)
        lines |= found
        image = np.asarray(cv2.inpaint(image, found.astype(np.uint8), 4, cv2.INPAINT_TELEA), np.uint8)
    return lines


def _lines(image: Image, road: Mask) -> Mask:
    """Strokes of paint: slender patches that are brighter than the road to both sides of them.

    Lines are wider near the camera, so a pixel is compared with what lies aside at several reaches: along the
    row and, for lines across the road, along the column.
    """
    height, width = road.shape
    plain = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    asphalt = float(np.median(plain[road]))
    filled = np.where(road, cv2.GaussianBlur(plain, (3, 3), 0), np.uint8(asphalt)).astype(np.uint8)
    inner = cv2.erode(road.astype(np.uint8), np.ones((3, 3), np.uint8), borderValue=1) > 0
    bound = np.maximum(max(BRIGHTER, SHARE * asphalt), GRAIN * _grain(filled))
    wide = road.sum(axis=1)
    lines: npt.NDArray[np.uint8] = np.zeros(road.shape, np.uint8)
    for reach in REACHES:
        # Opening keeps only what is wider than the reach: the difference is what is narrower, like a line.
        size = max(3, round(reach * width / 480) | 1)
        rows = (wide > 3 * size)[:, None]
        for shape in ((1, size), (max(3, size // 3 | 1), 1)):
            narrow = cv2.subtract(filled, cv2.morphologyEx(filled, cv2.MORPH_OPEN, np.ones(shape, np.uint8)))
            lines |= _strokes(np.where(inner & rows, narrow / bound, 0.0), height)
    return np.asarray((cv2.dilate(lines, np.ones((3, 3), np.uint8)) > 0) & road)


def _grain(grey: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """How much the light of the road wavers around each pixel; paint hardly counts."""
    off = np.minimum(cv2.absdiff(grey, cv2.medianBlur(grey, 15)), MOST_GRAIN).astype(np.float32)
    reach = round(grey.shape[0] / 8) | 1
    return np.asarray(cv2.blur(off, (reach, reach)), np.float32)


def _strokes(contrast: npt.NDArray[np.float64], height: int) -> npt.NDArray[np.uint8]:
    """The long pieces that are surely brighter, each with its fainter edge."""
    sure = cv2.morphologyEx((contrast > 1).astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    count, pieces, stats, _ = cv2.connectedComponentsWithStats(sure)
    kept = [
        number
        for number in range(1, count)
        if stats[number, cv2.CC_STAT_AREA] >= LEAST_PIXELS
        and _is_stroke(pieces, stats[number], number, height)
    ]
    strokes = np.isin(pieces, kept).astype(np.uint8)
    edge = (cv2.dilate(strokes, np.ones((5, 5), np.uint8)) > 0) & (contrast > FAINT)
    return np.asarray((strokes > 0) | edge, np.uint8)


def _is_stroke(pieces: np.ndarray, stat: np.ndarray, number: int, height: int) -> bool:
    """Whether a piece is long for how thick it is, as lines, letters and hatching are."""
    left, top, wide, tall, _ = stat.tolist()
    if max(wide, tall) < LEAST_LENGTH * height:
        return False
    piece = np.pad((pieces[top : top + tall, left : left + wide] == number).astype(np.uint8), 1)
    thick = 2 * float(cv2.distanceTransform(piece, cv2.DIST_L2, 5).max())
    return bool(np.hypot(tall, wide) >= LEAST_SLENDER * thick)
