"""What cameras and weather do: the same in every resolution, and more with every severity."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from instar.core.frame import Moved
from instar.core.task import find_task
from instar.imaging import camera
from instar.imaging.whole_picture import whole_picture_relations

RELATIONS = whole_picture_relations(find_task("detection"))


def photograph(height: int = 120, width: int = 160) -> np.ndarray:
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 256, (24, 32, 3)).astype(np.uint8)
    return cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR)


def picture_of(made) -> np.ndarray:
    return made.picture if isinstance(made, Moved) else made


@pytest.mark.parametrize("name", RELATIONS)
def test_the_source_stays_as_it_is_and_the_same_change_is_the_same_picture(name: str) -> None:
    relation, picture = RELATIONS[name], photograph()
    before = picture.copy()
    level = None if relation.severity is None else relation.severity.high
    first, again = (picture_of(relation.apply(picture, level)) for _ in range(2))
    np.testing.assert_array_equal(picture, before)
    np.testing.assert_array_equal(first, again)
    assert first.dtype == np.uint8
    assert first.shape[2] == 3
    assert first.flags.c_contiguous


IN_PLACE = [name for name, one in RELATIONS.items() if not isinstance(one.apply(photograph(), 10), Moved)]


@pytest.mark.parametrize("name", IN_PLACE)
def test_more_severity_is_more_change(name: str) -> None:
    relation, picture = RELATIONS[name], photograph(480, 640)
    severity = relation.severity
    levels = np.linspace(severity.low, severity.high, 5).tolist()
    changed = [np.abs(relation.apply(picture, level) - picture.astype(np.int16)).mean() for level in levels]
    assert changed == sorted(changed)
    assert changed[0] > 0


@pytest.mark.parametrize("name", ["mirrored", "shifted", "cropped", "reduced"])
def test_a_mark_is_where_the_matrix_says(name: str) -> None:
    picture = np.zeros((240, 320, 3), np.uint8)
    picture[100:140, 150:190] = 255  # its middle is (170, 120)
    relation = RELATIONS[name]
    made = relation.apply(picture, None if relation.severity is None else relation.severity.high)
    rows, columns = np.nonzero(made.picture[..., 0] > 127)
    middle = np.array([columns.mean() + 0.5, rows.mean() + 0.5, 1.0])
    np.testing.assert_allclose(middle[:2], (made.matrix @ [170, 120, 1])[:2], atol=0.6)


@pytest.mark.parametrize("function", [camera.defocus, camera.shake])
def test_a_severity_means_the_same_in_every_resolution(function) -> None:
    small, large = photograph(120, 160), photograph(480, 640)
    reduced = cv2.resize(function(large, 6), (160, 120), interpolation=cv2.INTER_AREA).astype(np.int16)
    assert np.abs(reduced - function(small, 6)).mean() < 2.5


def test_a_stop_is_twice_the_light() -> None:
    grey = np.full((2, 2, 3), 100, np.uint8)
    light = [(picture[0, 0, 0] / 255) ** camera.GAMMA for picture in (grey, camera.expose(grey, 1))]
    assert light[1] / light[0] == pytest.approx(2, rel=0.02)


def test_grain_has_the_deviation_that_was_asked_for() -> None:
    noisy = camera.add_grain(np.full((200, 300, 3), 128, np.uint8), 10).astype(np.float32)
    assert noisy.std() == pytest.approx(10, rel=0.05)
    assert noisy.mean() == pytest.approx(128, abs=0.3)


def test_one_pixel_and_tiny_pictures_are_no_trouble() -> None:
    for relation in RELATIONS.values():
        level = None if relation.severity is None else relation.severity.high
        for shape in ((1, 1), (1, 7), (9, 2)):
            assert picture_of(relation.apply(np.full((*shape, 3), 90, np.uint8), level)).size
