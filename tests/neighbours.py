"""A relation for the lesson of `tests/cli/test_lesson.py`: whoever stands beside a car does not hide it."""

from __future__ import annotations

import cv2
import numpy as np

import instar
from instar.cutouts.pool import bundled_pool
from instar.tasks.detection.compare import same_objects

CLASS = "person"


def neighbour_of(box, rng: np.random.Generator) -> dict:
    """One of the pool, as high as most of the car, and on its ground."""
    cutouts = [one for one in bundled_pool().cutouts if one.label == CLASS]
    x1, y1, x2, y2 = map(int, box)
    return {"who": cutouts[rng.integers(len(cutouts))].digest, "box": [x1, y1, x2, y2]}


def place_of(change: dict, width: int) -> tuple[int, int, int, int]:
    """To the right of the car, or to the left at the margin."""
    x1, y1, x2, y2 = change["box"]
    cutout = bundled_pool().pixels(change["who"])
    high = max(8, round(1.2 * (y2 - y1)))
    wide = max(4, round(high * cutout.shape[1] / cutout.shape[0]))
    left = x2 + 3 if x2 + 3 + wide <= width else max(0, x1 - 3 - wide)
    return left, y2 - high, left + wide, y2


def paste(image, change: dict):
    x1, y1, x2, y2 = place_of(change, image.shape[1])
    cutout = cv2.resize(bundled_pool().pixels(change["who"]), (x2 - x1, y2 - y1))
    changed, alpha = image.copy(), cutout[..., 3:] / 255
    place = changed[max(y1, 0) : y2, x1:x2]
    alpha, colour = alpha[-len(place) :, : place.shape[1]], cutout[-len(place) :, : place.shape[1], :3]
    place[:] = alpha * colour + (1 - alpha) * place
    return changed


def draw(source, rng: np.random.Generator):
    found = source.answer
    cars = [box for box, label in zip(found.boxes, found.labels) if label == "car"]
    if not cars:
        return instar.Inapplicable("no car")
    return neighbour_of(cars[rng.integers(len(cars))], rng)


def expect(source, follow_ups, change: dict):
    return same_objects(source.answer, follow_ups[0].answer, pasted=place_of(change, source.input.shape[1]))


beside = instar.Relation("beside", "detection", apply=paste, draw=draw, expect=expect)
