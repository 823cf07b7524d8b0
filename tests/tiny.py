"""Four relations, one per family, each in under fifteen lines: the proof that the core fits them all.

`tests/core/test_four_families.py` counts the lines and runs each against a system it must pass and one
it must fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import cv2
import numpy as np

import instar


# --- detection: insert a square; everything found before must be found again -----------------------
@dataclass(frozen=True)
class Square(instar.Change):
    x: int
    y: int


def _draw_square(source, rng):
    return Square(int(rng.integers(0, 56)), int(rng.integers(0, 56)))


def _apply_square(image, change):
    return (cv2.rectangle(image.copy(), (change.x, change.y), (change.x + 7, change.y + 7), (0, 0, 255), -1),)


def _check_square(source, follow_ups, change):
    lost = set(source.answer) - set(follow_ups[0].answer)
    return instar.Verdict.at_most(len(lost), 0, "objects lost")


insertion = instar.Relation("insertion", _draw_square, _apply_square, _check_square)


# --- text: a homography must carry the quads -------------------------------------------------------
@dataclass(frozen=True)
class Tilt(instar.Change):
    corners: tuple[tuple[float, float], ...]

    def matrix(self):
        return cv2.getPerspectiveTransform(CORNERS, np.float32(self.corners))


CORNERS = np.float32([(0, 0), (63, 0), (63, 63), (0, 63)])


def _draw_tilt(source, rng):
    return Tilt(tuple(map(tuple, (CORNERS + rng.uniform(-4, 4, (4, 2))).tolist())))


def _apply_tilt(image, change):
    return (cv2.warpPerspective(image, change.matrix(), (64, 64)),)


def _check_tilt(source, follow_ups, change):
    carried = cv2.perspectiveTransform(source.answer, change.matrix())
    return instar.Verdict.at_most(float(np.abs(carried - follow_ups[0].answer).max()), 2.0, "drift in pixels")


perspective = instar.Relation("perspective", _draw_tilt, _apply_tilt, _check_tilt)


# --- driving: two blocks, two follow-ups -----------------------------------------------------------
@dataclass(frozen=True)
class Pedestrian(instar.Change):
    near: int


def _apply_pedestrian(image, change):
    near, nearer = image.copy(), image.copy()
    near[: change.near], nearer[: 2 * change.near] = 255, 255
    return near, nearer


def _check_slower(source, follow_ups, change):
    speeds = [source.answer, *(f.answer for f in follow_ups)]
    return instar.Verdict.at_least(min(a - b for a, b in pairwise(speeds)), 1.0, "slows down")


def _draw_pedestrian(source, rng):
    return Pedestrian(int(rng.integers(4, 16)))


rule = instar.Relation("rule", _draw_pedestrian, _apply_pedestrian, _check_slower)


# --- interpretation: an (image, class) question, a heat map, a premise -----------------------------
@dataclass(frozen=True)
class Asked:
    image: np.ndarray
    label: str


@dataclass(frozen=True)
class Squeeze(instar.Change):
    bits: int


def _apply_squeeze(asked, change):
    return (Asked(asked.image >> (8 - change.bits) << (8 - change.bits), asked.label),)


def _check_map(source, follow_ups, change):
    if min(source.answer["confidence"], follow_ups[0].answer["confidence"]) < 0.6:
        return instar.Verdict.inapplicable("not sure enough")
    drift = np.abs(source.answer["heat"] - follow_ups[0].answer["heat"]).max()
    return instar.Verdict.at_most(float(drift), 0.5, "heat map drift")


def _sure_classes(scene, system):
    return [(label, partial(Asked, label=label)) for label in system.sure(scene.image)]


squeeze = instar.Relation(
    "squeeze", lambda s, rng: Squeeze(5), _apply_squeeze, _check_map, expand=_sure_classes
)
