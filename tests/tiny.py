"""Four tasks with a relation each, a task and its relation in under twenty lines: the core fits them all.

`tests/core/test_four_families.py` counts the lines and runs each against a system it must pass and one
it must fail.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import cv2
import numpy as np

import instar


def read(asked, answer):
    return answer


def marks(seen):
    return instar.Panel("", seen.input)


# --- detection: insert a square; everything found before must be found again -----------------------
def compare_names(before, after):
    lost = [instar.Finding("lost", name, -1.0) for name in before.answer if name not in after.answer]
    return instar.Verdict.violated(lost) if lost else instar.Verdict.held(1.0)


def draw_square(source, rng):
    return rng.integers(0, 56, 2).tolist()


def apply_square(image, corner):
    x, y = corner
    return cv2.rectangle(image.copy(), (x, y), (x + 7, y + 7), (0, 0, 255), -1)


names = instar.Task("names", read, compare_names, marks, nulls=instar.USUAL_NULLS)
insertion = instar.Relation("insertion", names, apply_square, draw=draw_square)


# --- text: what is read moves with the picture -----------------------------------------------------
CORNERS = np.float32([(0, 0), (64, 0), (64, 64), (0, 64)])


def carry_points(before, after, frame):
    return before, frame.to_source(after)


def compare_points(before, after):
    drift = float(np.abs(before.answer - after.answer).max())
    return instar.Verdict.at_most(drift, 2.0, "drift in pixels")


def draw_tilt(source, rng):
    return (CORNERS + rng.uniform(-4, 4, (4, 2))).tolist()


def apply_tilt(image, corners):
    matrix = cv2.getPerspectiveTransform(CORNERS, np.float32(corners))
    return instar.Moved(cv2.warpPerspective(image, matrix, (64, 64)), matrix)


points = instar.Task(
    "points", read, compare_points, marks, carry=carry_points, nulls=replace(instar.USUAL_NULLS)
)
perspective = instar.Relation("perspective", points, apply_tilt, draw=draw_tilt)


# --- driving: two blocks, two follow-ups, each slower than the one before ---------------------------
def compare_speed(before, after):
    return instar.Verdict.at_most(abs(before.answer - after.answer), 1.0, "speed")


def draw_pedestrian(source, rng):
    return int(rng.integers(4, 16))


def apply_pedestrian(image, near):
    here, nearer = image.copy(), image.copy()
    here[:near], nearer[: 2 * near] = 255, 255
    return here, nearer


def expect_slower(source, follow_ups, near):
    speeds = [source.answer, *(f.answer for f in follow_ups)]
    return instar.Verdict.at_least(min(a - b for a, b in pairwise(speeds)), 1.0, "slows down")


speed = instar.Task("speed", read, compare_speed, marks, nulls=replace(instar.USUAL_NULLS, with_source=True))
rule = instar.Relation("rule", speed, apply_pedestrian, draw=draw_pedestrian, expect=expect_slower)


# --- interpretation: an (image, class) question, a heat map, a premise -----------------------------
@dataclass(frozen=True)
class Asked:
    image: np.ndarray
    label: str


def ask_sure_classes(scene):
    sure = yield scene.image
    return [(label, partial(Asked, label=label)) for label in sure]


def compare_maps(before, after):
    if min(before.answer["confidence"], after.answer["confidence"]) < 0.6:
        return instar.Verdict.inapplicable("not sure enough")
    drift = np.abs(before.answer["heat"] - after.answer["heat"]).max()
    return instar.Verdict.at_most(float(drift), 0.5, "heat map drift")


def apply_squeeze(image, _):
    return image >> 3 << 3


heat = instar.Task(
    "heat", read, compare_maps, lambda seen: instar.Panel(seen.part, seen.input.image),
    questions=ask_sure_classes, picture=lambda asked: asked.image,
    with_picture=lambda asked, image: Asked(image, asked.label),
)  # fmt: skip
squeeze = instar.Relation("squeeze", heat, apply_squeeze)
