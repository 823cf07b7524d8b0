from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.core.change import Change, change_from_json
from instar.imaging.codecs import jpeg_round_trip
from instar.imaging.nulls import Brighten, Conditioned, Reencode, Shift, fixed_nulls, fresh_null
from instar.imaging.photometric import brightened, moved
from instar.tasks.detection import Detections
from instar.tasks.detection.changes import Insertion, carried_back, made

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
    result = made(PICTURE, INSERTION, ONE)
    expected = PICTURE.copy()
    opaque = ONE.pixels("")[..., 3] > 0
    expected[10:30, 30:50][opaque] = ONE.pixels("")[opaque][:, :3]
    np.testing.assert_array_equal(result, expected)


@settings(deadline=None)
@given(st.integers(8, 40), st.integers(8, 40), st.integers(0, 40), st.integers(0, 20))
def test_nothing_outside_the_box_of_an_insertion_changes(width: int, height: int, x: int, y: int) -> None:
    change = replace(INSERTION, x=x, y=y, width=width, height=height, blend="feather", gain=1.2, offset=9.0)
    result = made(PICTURE, change, ONE)
    x1, y1, x2, y2 = map(int, change.box)
    inside = np.zeros(PICTURE.shape[:2], bool)
    inside[y1:y2, x1:x2] = True
    np.testing.assert_array_equal(result[~inside], PICTURE[~inside])
    assert (result[inside] != PICTURE[inside]).any()


def test_the_placebo_is_the_silhouette_in_its_mean_colour() -> None:
    result = made(PICTURE, replace(INSERTION, flat=True), ONE)
    opaque = ONE.pixels("")[..., 3] > 0
    blob = result[10:30, 30:50]
    np.testing.assert_array_equal(blob[~opaque], PICTURE[10:30, 30:50][~opaque])
    mean = np.rint(ONE.pixels("")[opaque][:, :3].mean(axis=0))
    assert (blob[opaque] == mean).all()


def test_light_and_colour_are_part_of_the_recipe() -> None:
    change = replace(INSERTION, gain=0.5, offset=10.0)
    assert made(PICTURE, change, ONE)[28, 31].tolist() == [110, 25, 30]
    grey = made(PICTURE, replace(INSERTION, saturation=0.0), ONE)[28, 31]
    assert len(set(grey.tolist())) == 1


def test_null_changes_do_what_they_say() -> None:
    np.testing.assert_array_equal(made(PICTURE, Brighten(2), ONE), brightened(PICTURE, 2))
    np.testing.assert_array_equal(made(PICTURE, Shift(1, -1), ONE), moved(PICTURE, 1, -1))
    np.testing.assert_array_equal(made(PICTURE, Reencode(90), ONE), jpeg_round_trip(PICTURE, 90))


def test_a_condition_comes_on_top_of_the_change() -> None:
    plain = made(PICTURE, INSERTION, ONE)
    shifted = made(PICTURE, replace(INSERTION, condition="shift"), ONE)
    np.testing.assert_array_equal(shifted, moved(plain, 1, 0))
    encoded = made(PICTURE, replace(INSERTION, condition="jpeg"), ONE)
    np.testing.assert_array_equal(encoded, jpeg_round_trip(plain, 95))


@pytest.mark.parametrize(
    ("change", "back"),
    [
        (Shift(1, -1), (-1, 1)),
        (Shift(1, 0, condition="shift"), (-2, 0)),
        (replace(INSERTION, condition="shift"), (-1, 0)),
        (Brighten(1, condition="jpeg"), (0, 0)),
    ],
)
def test_boxes_are_carried_back_even_out_of_the_picture(change: Conditioned, back: tuple[int, int]) -> None:
    answer = Detections(np.float32([[0, 0, 10, 9]]), ("car",), np.float32([0.9]), 0.3)
    dx, dy = back
    result = carried_back(answer, change)
    assert result.boxes.tolist() == [[dx, dy, 10 + dx, 9 + dy]]
    assert (result.labels, result.scores.tolist(), result.confidence) == (
        answer.labels,
        answer.scores.tolist(),
        0.3,
    )


def test_seven_changes_strike_findings_out() -> None:
    assert list(fixed_nulls()) == [
        Reencode(95),
        Brighten(1),
        Brighten(-1),
        Shift(1, 0),
        Shift(-1, 0),
        Shift(0, 1),
        Shift(0, -1),
    ]


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_a_fresh_null_change_is_none_of_the_seven(seed: int) -> None:
    assert fresh_null(np.random.default_rng(seed)) not in set(fixed_nulls())


@pytest.mark.parametrize("change", [INSERTION, replace(INSERTION, condition="jpeg"), *fixed_nulls()])
def test_a_recipe_survives_storage(change: Change) -> None:
    assert change_from_json(json.loads(json.dumps(change.to_json()))) == change


def test_an_unknown_blend_is_refused() -> None:
    with pytest.raises(ValueError, match="blend is 'soft'; it is one of hard, feather, poisson"):
        replace(INSERTION, blend="soft")


def test_an_insertion_is_told_in_words() -> None:
    assert str(INSERTION) == "a car of 20 x 20 px at (30, 10)"
    assert str(replace(INSERTION, flat=True)) == "a flat blob like a car of 20 x 20 px at (30, 10)"


def test_a_foreign_change_is_a_mistake() -> None:
    with pytest.raises(TypeError, match="Conditioned is no change of this family"):
        made(PICTURE, Conditioned(), ONE)
