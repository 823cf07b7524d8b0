from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.imaging.naturalness import gradient_histogram, hog_intersection


def noise(seed: int, shape: tuple[int, int] = (48, 64)) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (*shape, 3), np.uint8)


def test_the_same_picture_is_wholly_natural_and_so_is_a_flat_one() -> None:
    assert hog_intersection(noise(0), noise(0)) == 1.0
    assert hog_intersection(np.zeros((16, 16, 3), np.uint8), np.full((16, 16, 3), 9, np.uint8)) == 1.0


def test_pictures_without_anything_in_common_score_nothing() -> None:
    left, right = np.zeros((32, 64, 3), np.uint8), np.zeros((32, 64, 3), np.uint8)
    left[8:24, 8:24] = 255
    right[8:24, 40:56] = 255
    assert hog_intersection(left, right) == 0.0


def test_structure_added_to_nothing_counts_against_a_picture() -> None:
    one, two = np.zeros((32, 64, 3), np.uint8), np.zeros((32, 64, 3), np.uint8)
    one[8:24, 8:24] = 255
    two[8:24, 8:24] = two[8:24, 40:56] = 255
    assert hog_intersection(one, two) == pytest.approx(2 / 3)


@settings(deadline=None)
@given(st.integers(0, 1000), st.integers(0, 1000))
def test_the_measure_is_symmetric_and_between_0_and_1(a: int, b: int) -> None:
    one, other = noise(a), noise(b)
    assert hog_intersection(one, other) == hog_intersection(other, one)
    assert 0 <= hog_intersection(one, other) <= 1


def test_a_vertical_edge_is_in_the_first_bin_of_its_cells_whichever_side_is_bright() -> None:
    bright_left = np.zeros((8, 16, 3), np.uint8)
    bright_left[:, :4] = 90
    for image in (bright_left, 90 - bright_left):
        histogram = gradient_histogram(image)
        assert histogram.shape == (1, 2, 9)
        assert histogram[0, 0].tolist() == [8 * 2 * 90, 0, 0, 0, 0, 0, 0, 0, 0]
        assert histogram[0, 1].sum() == 0


def test_pixels_beyond_whole_cells_are_left_out() -> None:
    assert gradient_histogram(noise(0, (23, 41))).shape == (2, 5, 9)


def test_pictures_of_different_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot be compared"):
        hog_intersection(noise(0, (16, 16)), noise(0, (16, 24)))


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_looking_only_where_a_picture_changed_gives_the_same_to_the_last_bit(data: st.DataObject) -> None:
    height, width = data.draw(st.integers(8, 90)), data.draw(st.integers(8, 90))
    x1, y1 = data.draw(st.integers(0, width - 1)), data.draw(st.integers(0, height - 1))
    x2, y2 = data.draw(st.integers(x1 + 1, width)), data.draw(st.integers(y1 + 1, height))
    before = noise(1, (height, width))
    after = before.copy()
    after[y1:y2, x1:x2] = noise(2, (y2 - y1, x2 - x1))
    assert hog_intersection(before, after, changed=(x1, y1, x2, y2)) == hog_intersection(before, after)
