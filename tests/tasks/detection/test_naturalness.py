"""What gives a pasted object away, measure by measure, on pictures where the answer is plain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from instar.core.change import Inapplicable
from instar.core.scene import Observation
from instar.tasks.detection import Detections, insertion
from instar.tasks.detection.changes import Insertion
from instar.tasks.detection.naturalness import measure_naturalness


class OneCutOut:
    def __init__(self, pixels: np.ndarray) -> None:
        self._pixels = pixels

    def pixels(self, name: str) -> np.ndarray:
        return self._pixels


def scene() -> np.ndarray:
    rng = np.random.default_rng(0)
    coarse = rng.integers(60, 200, (24, 32, 3)).repeat(10, axis=0).repeat(10, axis=1)
    return np.clip(coarse + rng.integers(-30, 30, (240, 320, 3)), 0, 255).astype(np.uint8)


IMAGE = scene()
LIKE = (40, 100, 80, 180)  # what is pasted takes after this one: 40 x 80, its feet at 180
SOURCE = Observation.of(IMAGE, Detections(np.float32([LIKE]), ("person",), np.float32([0.9])))
NATURAL = Insertion("ab", "person", 120, 100, 40, 80, "hard", 1.0, 0.0)


def seen(change: Insertion = NATURAL, pixels: np.ndarray | None = None):
    piece = IMAGE[20:100, 200:240] if pixels is None else pixels
    cutout = np.dstack([piece, np.full(piece.shape[:2], 255, np.uint8)])
    follow_up = insertion(pool=OneCutOut(cutout)).apply(IMAGE, change)
    return measure_naturalness(SOURCE, follow_up, change)


def test_a_piece_of_the_picture_itself_in_the_right_place_looks_natural():
    assert seen().overall > 0.9


@pytest.mark.parametrize(
    ("measure", "change", "pixels"),
    [
        ("colour", NATURAL, np.full((80, 40, 3), (255, 0, 255), np.uint8)),
        ("contrast", NATURAL, np.full((80, 40, 3), 128, np.uint8)),
        ("sharpness", NATURAL, np.full((80, 40, 3), 128, np.uint8)),
        ("scale", replace(NATURAL, y=160, width=10, height=20), None),
        ("ground", replace(NATURAL, y=5), None),
        ("ground", replace(NATURAL, y=155), None),
    ],
)
def test_each_measure_sees_what_it_is_for(measure: str, change: Insertion, pixels: np.ndarray | None):
    assert getattr(seen(change, pixels), measure) < 0.75 < getattr(seen(), measure)
    assert seen(change, pixels).overall < seen().overall


def test_a_smaller_one_may_stand_farther_back():
    assert seen(replace(NATURAL, y=100, width=20, height=40)).ground == 1.0


def test_a_threshold_filters_by_what_is_left_of_the_gradients():
    cutout = np.full((200, 200, 4), 255, np.uint8)
    large = replace(NATURAL, x=10, y=10, width=200, height=200)
    strict = insertion(pool=OneCutOut(cutout), least_natural=0.95)
    assert strict.apply(IMAGE, large) == Inapplicable("not natural enough")
    assert not isinstance(strict.apply(IMAGE, replace(large, width=10, height=10)), Inapplicable)
    assert not isinstance(insertion(pool=OneCutOut(cutout)).apply(IMAGE, large), Inapplicable)
