"""Masks from polygons and run lengths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from instar.core.errors import BadInput
from instar.scenes.masks import polygons_mask, run_lengths, runs_mask

masks = hnp.arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 12)))


def runs_of(mask: np.ndarray) -> list[int]:
    """The definition, said slowly: pixels down the columns, runs that begin outside."""
    runs, inside = [0], False
    for pixel in mask.T.ravel():
        if pixel != inside:
            runs.append(0)
            inside = bool(pixel)
        runs[-1] += 1
    return runs


def packed(runs: list[int]) -> str:
    """COCO's compressed form, written from its description."""
    text = ""
    for i, run in enumerate(runs):
        value = run - runs[i - 2] if i > 2 else run
        while True:
            group, value = value & 31, value >> 5
            done = (value == 0 and not group & 16) or (value == -1 and group & 16)
            text += chr(48 + (group if done else group | 32))
            if done:
                break
    return text


@given(masks)
def test_run_lengths_give_back_the_mask(mask):
    np.testing.assert_array_equal(runs_mask(runs_of(mask), mask.shape), mask)


@given(masks)
def test_packed_run_lengths_give_back_the_mask(mask):
    np.testing.assert_array_equal(runs_mask(packed(runs_of(mask)), mask.shape), mask)


@given(st.lists(st.integers(0, 10**7), max_size=20))
def test_unpacking_undoes_packing(runs):
    assert run_lengths(packed(runs)) == runs


def test_a_packed_mask_known_by_hand():
    # 6, 1, 40, 5, 4: the fourth is 5 - 1 and the fifth 4 - 40 = -36 = ...11011 11100.
    assert packed([6, 1, 40, 5, 4]) == "61X14lN"
    assert run_lengths("61X14lN") == [6, 1, 40, 5, 4]


def test_run_lengths_that_do_not_fit_are_refused():
    with pytest.raises(BadInput, match="run lengths of 5 pixels for a mask of 3 x 2"):
        runs_mask([2, 3], (2, 3))
    with pytest.raises(BadInput, match="for a mask of"):
        runs_mask([8, -2], (2, 3))
    with pytest.raises(BadInput, match="contain the character ' '"):
        run_lengths("6 1")
    with pytest.raises(BadInput, match="end in the middle of a number"):
        run_lengths("X")


@given(st.integers(-3, 9), st.integers(-3, 9), st.integers(1, 9), st.integers(1, 9))
def test_a_rectangle_covers_exactly_its_pixels(x, y, width, height):
    corners = np.array([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], np.float32)
    expected = np.zeros((7, 8), bool)
    expected[max(y, 0) : max(y + height, 0), max(x, 0) : max(x + width, 0)] = True
    np.testing.assert_array_equal(polygons_mask([corners], (7, 8)), expected)


@given(st.lists(st.tuples(st.floats(-5, 15, width=32), st.floats(-5, 15, width=32)), min_size=3, max_size=8))
def test_a_pixel_is_in_a_polygon_when_a_ray_from_its_centre_crosses_it_an_odd_number_of_times(corners):
    polygon = np.array(corners, np.float32)
    expected = np.zeros((10, 11), bool)
    for row, column in np.ndindex(10, 11):
        px, py = column + 0.5, row + 0.5
        for (x1, y1), (x2, y2) in zip(polygon.astype(float), np.roll(polygon, -1, axis=0).astype(float)):
            if min(y1, y2) <= py < max(y1, y2):
                expected[row, column] ^= x1 + (py - y1) * ((x2 - x1) / (y2 - y1)) <= px
    np.testing.assert_array_equal(polygons_mask([polygon], (10, 11)), expected)


def test_the_parts_of_an_object_are_united():
    part = np.array([(0, 0), (2, 0), (2, 2), (0, 2)], np.float32)
    both = polygons_mask([part, part + 1], (3, 3))
    np.testing.assert_array_equal(both, [[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    assert polygons_mask([], (2, 3)).shape == (2, 3)
