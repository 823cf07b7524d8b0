from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.core.change import Change, change_from_json
from instar.tasks.detection.changes import Insertion, paste

PICTURE = np.random.default_rng(0).integers(0, 256, (60, 80, 3), np.uint8)


class OneCutOut:
    """A red square with a hole, under whatever name."""

    def pixels(self, name: str) -> np.ndarray:
        cutout = np.full((20, 20, 4), (200, 30, 40, 255), np.uint8)
        cutout[:10, :, 0] = 100
        cutout[8:12, 8:12, 3] = 0
        return cutout


ONE = OneCutOut()
INSERTION = Insertion("name", "car", 30, 10, 20, 20, "hard", 1.0, 0.0, anchor=2)


def test_an_insertion_changes_exactly_the_pasted_rectangle() -> None:
    result = paste(PICTURE, INSERTION, ONE)
    expected = PICTURE.copy()
    opaque = ONE.pixels("")[..., 3] > 0
    expected[10:30, 30:50][opaque] = ONE.pixels("")[opaque][:, :3]
    np.testing.assert_array_equal(result, expected)


def test_an_insertion_reaches_out_of_no_picture() -> None:
    for change in (replace(INSERTION, x=-1), replace(INSERTION, x=61), replace(INSERTION, y=41)):
        with pytest.raises(ValueError, match="does not lie inside"):
            paste(PICTURE, change, ONE)


def test_a_pasted_picture_is_nobody_elses() -> None:
    first = paste(PICTURE, INSERTION, ONE)
    expected = first.copy()
    first[:] = 0
    np.testing.assert_array_equal(paste(PICTURE, INSERTION, ONE), expected)


@settings(deadline=None)
@given(st.integers(8, 40), st.integers(8, 40), st.integers(0, 40), st.integers(0, 20))
def test_nothing_outside_the_box_of_an_insertion_changes(width: int, height: int, x: int, y: int) -> None:
    change = replace(INSERTION, x=x, y=y, width=width, height=height, blend="feather", gain=1.2, offset=9.0)
    result = paste(PICTURE, change, ONE)
    x1, y1, x2, y2 = map(int, change.box)
    inside = np.zeros(PICTURE.shape[:2], bool)
    inside[y1:y2, x1:x2] = True
    np.testing.assert_array_equal(result[~inside], PICTURE[~inside])
    assert (result[inside] != PICTURE[inside]).any()


def test_the_placebo_is_the_silhouette_in_its_mean_colour() -> None:
    result = paste(PICTURE, replace(INSERTION, flat=True), ONE)
    opaque = ONE.pixels("")[..., 3] > 0
    blob = result[10:30, 30:50]
    np.testing.assert_array_equal(blob[~opaque], PICTURE[10:30, 30:50][~opaque])
    mean = np.rint(ONE.pixels("")[opaque][:, :3].mean(axis=0))
    assert (blob[opaque] == mean).all()


def test_light_and_colour_are_part_of_the_recipe() -> None:
    change = replace(INSERTION, gain=0.5, offset=10.0)
    assert paste(PICTURE, change, ONE)[28, 31].tolist() == [110, 25, 30]
    grey = paste(PICTURE, replace(INSERTION, saturation=0.0), ONE)[28, 31]
    assert len(set(grey.tolist())) == 1


@pytest.mark.parametrize("blend", ["hard", "feather", "poisson"])
def test_what_is_pasted_is_the_same_each_time_and_the_picture_is_left_as_it_was(blend) -> None:
    before = PICTURE.copy()
    first, second = (paste(PICTURE, replace(INSERTION, blend=blend), ONE) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(PICTURE, before)


@pytest.mark.parametrize("change", [INSERTION, replace(INSERTION, flat=True, start=(3, 4), travelled=0.5)])
def test_a_recipe_survives_storage(change: Change) -> None:
    assert change_from_json(json.loads(json.dumps(change.to_json()))) == change


def test_an_unknown_blend_is_refused() -> None:
    with pytest.raises(ValueError, match="blend is 'soft'; it is one of hard, feather, poisson"):
        replace(INSERTION, blend="soft")


def test_an_insertion_is_told_in_words() -> None:
    assert str(INSERTION) == "a car of 20 x 20 px at (30, 10)"
    assert str(replace(INSERTION, flat=True)) == "a flat blob like a car of 20 x 20 px at (30, 10)"


def test_the_box_of_an_insertion_is_marked_with_what_was_pasted() -> None:
    assert (INSERTION.box, INSERTION.mark) == ((30, 10, 50, 30), "pasted car")
