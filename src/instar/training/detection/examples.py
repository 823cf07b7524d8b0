"""Labelled pictures as a detector learns from them: in its size, and changed as training usually does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image, SceneObject
from instar.tasks.detection.class_names import canonical_class
from instar.tasks.detection.systems.decode import fit_picture

Floats = npt.NDArray[np.float32]
GREY = 114
SMALL = 4.0  # pixels of a side under which a box is no object any more
ZOOM = (0.7, 1.4)
COLOURS = (0.03, 0.4, 0.3)  # how much hue, saturation and brightness change at most


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A picture in the network's size, `float32 (n, 4)` boxes there, `int64 (n,)` classes, and crowds.

    `scene` is where it is from, whatever was done to it since.
    """

    scene: str
    image: Image
    boxes: Floats
    classes: npt.NDArray[np.int64]
    crowds: Floats


def class_numbers(names: Sequence[str]) -> Mapping[str, int]:
    """The number of each class, under the name that all sources share."""
    return {canonical_class(name): number for number, name in enumerate(names)}


def make_example(
    scene: str,
    image: Image,
    objects: Iterable[SceneObject],
    numbers: Mapping[str, int],
    size: tuple[int, int],
) -> Example:
    """Objects of classes that the network does not have are left out."""
    fitted, scale, offset = fit_picture(image, size, "corner", GREY)
    there = [one for one in objects if canonical_class(one.label) in numbers]
    boxes = np.array([one.box for one in there], np.float32).reshape(-1, 4) / scale + offset
    classes = np.array([numbers[canonical_class(one.label)] for one in there], np.int64)
    crowd = np.array([one.crowd for one in there], bool)
    return Example(scene, fitted, boxes[~crowd], classes[~crowd], boxes[crowd])


def augment(example: Example, rng: np.random.Generator) -> Example:
    """Mirrored or not, nearer or farther, elsewhere in its frame, in other colours."""
    height, width = example.image.shape[:2]
    zoom = np.exp(rng.uniform(*np.log(ZOOM)))
    shift = [
        rng.uniform(min(0.0, side * (1 - zoom)), max(0.0, side * (1 - zoom))) for side in (width, height)
    ]
    matrix = np.array([[zoom, 0, shift[0]], [0, zoom, shift[1]]], np.float32)
    if rng.random() < 0.5:
        matrix[0] = [-zoom, 0, width - shift[0]]
    moved = cv2.warpAffine(example.image, matrix, (width, height), borderValue=(GREY,) * 3)
    boxes, kept = _move(example.boxes, matrix, width, height)
    crowds, shown = _move(example.crowds, matrix, width, height)
    image = _recolour(np.asarray(moved, np.uint8), rng)
    return Example(example.scene, image, boxes[kept], example.classes[kept], crowds[shown])


def _move(boxes: Floats, matrix: Floats, width: int, height: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """The boxes in the new frame, and which of them are still large enough and mostly there."""
    ends = boxes.reshape(-1, 2, 2) * np.diag(matrix[:, :2]) + matrix[:, 2]
    whole = np.concatenate([ends.min(1), ends.max(1)], 1)
    inside = whole.clip(0, [width, height, width, height])
    left, all = (one[:, 2:] - one[:, :2] for one in (inside, whole))
    kept = (left > SMALL).all(1) & (left.prod(1) > 0.3 * all.prod(1))
    return inside.astype(np.float32), np.asarray(kept, bool)


def _recolour(image: Image, rng: np.random.Generator) -> Image:
    hue, saturation, brightness = (rng.uniform(-most, most) for most in COLOURS)
    pixels = cv2.cvtColor(image, cv2.COLOR_RGB2HSV).astype(np.float32)
    pixels[..., 0] = (pixels[..., 0] + 180 * hue) % 180
    pixels[..., 1:] = (pixels[..., 1:] * [1 + saturation, 1 + brightness]).clip(0, 255)
    return np.asarray(cv2.cvtColor(pixels.astype(np.uint8), cv2.COLOR_HSV2RGB), np.uint8)
