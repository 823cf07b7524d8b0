"""What gives a pasted object away, measure by measure, on pictures where the answer is plain."""

from __future__ import annotations

from dataclasses import fields, replace

import cv2
import numpy as np
import pytest

from instar.core.scene import Observation
from instar.cutouts import CutOut, Pool
from instar.cutouts.pool import write_cutout
from instar.tasks.detection import Detections, insertion
from instar.tasks.detection.changes import Insertion
from instar.tasks.detection.naturalness import (
    WEIGHTS,
    Naturalness,
    _mean_and_spread,
    measure_naturalness,
)


class OneCutOut:
    def __init__(self, pixels: np.ndarray) -> None:
        self._pixels = pixels

    def pixels(self, name: str) -> np.ndarray:
        return self._pixels


def street() -> np.ndarray:
    """Blue down to row 110, then a road; a lighter one has strong, soft edges."""
    rng = np.random.default_rng(0)
    picture = np.repeat([(150, 190, 235), (100, 98, 95)], (110, 130), axis=0)[:, None].repeat(320, axis=1)
    picture = np.clip(picture + rng.normal(0, 5, (240, 320, 1)), 0, 255).astype(np.uint8)
    picture[130:200:20, 200:300] = 220
    return cv2.GaussianBlur(picture, (0, 0), 1.0)


IMAGE = street()
LIKE = (40, 100, 80, 180)  # what is pasted takes after this one: 40 x 80, its feet at 180
SOURCE = Observation.of(IMAGE, Detections(np.float32([LIKE]), ("person",), np.float32([0.9])))
NATURAL = Insertion("ab", "person", 120, 100, 40, 80, "hard", 1.0, 0.0, blur=1.0)


def test_mean_and_spread_are_those_of_numpy_to_the_last_bit() -> None:
    rng = np.random.default_rng(4)
    for size in ((1, 1), (97, 61), (480, 640)):
        picture = rng.integers(0, 256, (*size, 3), np.uint8)
        values = picture.reshape(-1, 3).astype(np.float32)
        mean, spread = _mean_and_spread(picture)
        np.testing.assert_array_equal(mean, values.mean(axis=0))
        np.testing.assert_array_equal(spread, values.std(axis=0))


def seen(change: Insertion = NATURAL, colour: tuple[int, int, int] = (90, 88, 85)) -> Naturalness:
    rng = np.random.default_rng(1)
    coarse = np.clip(np.array(colour) + rng.normal(0, 25, (10, 5, 1)), 0, 255).astype(np.uint8)
    piece = coarse.repeat(8, axis=0).repeat(8, axis=1)
    cutout = np.dstack([piece, np.full(piece.shape[:2], 255, np.uint8)])
    follow_up = insertion(pool=OneCutOut(cutout)).apply(IMAGE, change)
    return measure_naturalness(SOURCE, follow_up, change)


def test_every_measure_has_a_weight() -> None:
    assert set(WEIGHTS) == {"", *(one.name for one in fields(Naturalness))}


@pytest.mark.parametrize(
    ("measure", "change", "colour"),
    [
        ("stands_out", NATURAL, (255, 0, 255)),
        ("colour", NATURAL, (255, 0, 255)),
        ("neighbour", replace(NATURAL, y=140, width=20, height=40), (90, 88, 85)),
        ("plane", replace(NATURAL, y=140, width=20, height=40), (90, 88, 85)),
        ("above", replace(NATURAL, y=10), (90, 88, 85)),
        ("blue", replace(NATURAL, y=10), (90, 88, 85)),
        ("area", replace(NATURAL, x=100, y=20, width=80, height=160), (90, 88, 85)),
        ("crisp", replace(NATURAL, blur=0.0), (90, 88, 85)),
    ],
)
def test_each_measure_sees_what_it_is_for(
    measure: str, change: Insertion, colour: tuple[int, int, int]
) -> None:
    assert getattr(seen(change, colour), measure) > getattr(seen(), measure) + 0.1


def test_feet_on_the_road_are_on_the_ground_and_feet_in_the_sky_are_not() -> None:
    assert seen().ground == 1.0
    assert seen(replace(NATURAL, y=10)).ground == 0.0


def test_a_body_in_the_sky_is_less_natural_than_one_on_the_road() -> None:
    assert seen(replace(NATURAL, y=5)).overall < 0.5 * seen().overall


def test_a_garish_one_is_less_natural_than_one_in_the_light_of_its_place() -> None:
    assert seen(colour=(255, 0, 255)).overall < 0.6 * seen().overall


def test_what_is_less_natural_than_asked_for_is_not_drawn(tmp_path) -> None:
    pool = insertion(pool="bundled", least_natural=0.999)
    drawn = pool.draw(SOURCE, np.random.default_rng(0))
    assert getattr(drawn, "reason", None) == "not natural enough"
    assert isinstance(insertion(pool="bundled").draw(SOURCE, np.random.default_rng(0)), Insertion)


@pytest.mark.parametrize("label", ["sheep", "glorp"])
def test_what_nobody_knows_need_not_be_natural(label: str, tmp_path) -> None:
    pixels = np.full((40, 50, 4), 255, np.uint8)
    pixels[::4, ::4, :3] = 90
    cutout = CutOut(write_cutout(tmp_path, pixels), label, "elsewhere", 50, 40, 2000, 0)
    box = np.float32([(40, 130, 100, 180)])
    source = Observation.of(IMAGE, Detections(box, (label,), np.float32([0.9])))
    relation = insertion(pool=Pool(tmp_path, [cutout]), least_natural=0.99)
    assert isinstance(relation.draw(source, np.random.default_rng(0)), Insertion) == (label == "glorp")
