"""Rotated rectangles as quads, and the sizes at which pictures are looked at."""

from __future__ import annotations

import cv2
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from instar.tasks.text.polygons import clip_quads, clockwise, quad_areas
from instar.tasks.text.systems.locator import LONGEST_SIDE, MULTIPLE, fit_size, resize_picture
from instar.tasks.text.systems.rectangles import (
    reading_order,
    rectangle_corners,
    smallest_rectangles,
    start_at_top_left,
)


def corners(centre, sides, turn):
    return rectangle_corners(np.float32([centre]), np.float32([sides]), np.float32([turn]))


def test_an_upright_rectangle_has_its_corners_clockwise_from_the_top_left():
    assert corners((10, 20), (8, 4), 0).tolist() == [[[6, 18], [14, 18], [14, 22], [6, 22]]]


def test_a_turn_is_clockwise_as_one_sees_it():
    # A quarter turn takes the top left corner of a wide rectangle to the top right of a tall one.
    np.testing.assert_allclose(corners((0, 0), (8, 4), 90), [[[2, -4], [2, 4], [-2, 4], [-2, -4]]], atol=1e-5)


@given(
    st.tuples(st.floats(-500, 500), st.floats(-500, 500)),
    st.tuples(st.floats(2, 300), st.floats(2, 300)),
    st.floats(0, 90),
)
def test_any_rectangle_runs_clockwise_from_its_top_left_and_is_found_again_around_its_corners(c, s, turn):
    quads = start_at_top_left(corners(c, s, turn))
    np.testing.assert_array_equal(clockwise(quads), quads)
    assert quads[0].sum(axis=1).argmin() == 0
    np.testing.assert_allclose(quad_areas(quads), [s[0] * s[1]], rtol=1e-3)
    again = rectangle_corners(*smallest_rectangles(quads))
    np.testing.assert_allclose(quad_areas(again), quad_areas(quads), rtol=5e-3)
    np.testing.assert_allclose(again.mean(axis=1), quads.mean(axis=1), atol=0.05)


def test_quads_are_moved_into_the_picture_and_read_line_by_line():
    quads = np.float32([
        [[50, 40], [90, 40], [90, 60], [50, 60]],
        [[-3, 10], [20, 10], [20, 30], [-3, 30]],
        [[60, 10], [120, 10], [120, 30], [60, 30]],
    ])  # fmt: skip
    kept = clip_quads(quads, (50, 100))
    assert kept[0].tolist() == [[50, 40], [90, 40], [90, 50], [50, 50]]
    assert kept[1].tolist() == [[0, 10], [20, 10], [20, 30], [0, 30]]
    assert kept[2].tolist() == [[60, 10], [100, 10], [100, 30], [60, 30]]
    assert reading_order(kept).tolist() == [1, 2, 0]


def test_a_picture_is_enlarged_to_the_least_shorter_side_and_never_reduced_by_it():
    assert fit_size((191, 384), 736, "min") == (736, 1472)
    assert fit_size((1000, 1500), 736, "min") == (992, 1504)


def test_a_picture_is_reduced_to_the_greatest_longer_side_and_never_enlarged_by_it():
    assert fit_size((1500, 1000), 960, "max") == (960, 640)
    assert fit_size((100, 60), 960, "max") == (96, 64)


@given(st.integers(1, 20000), st.integers(1, 20000), st.integers(32, 4000), st.sampled_from(["min", "max"]))
def test_every_size_is_a_multiple_of_32_that_fits_into_the_memory(height, width, limit, kind):
    size = fit_size((height, width), limit, kind)
    assert all(side % MULTIPLE == 0 and MULTIPLE <= side <= LONGEST_SIDE for side in size)


def test_coordinates_go_back_to_the_picture():
    image = np.zeros((100, 300, 3), np.uint8)
    image[40:60, 120:180] = 255
    resized, scale = resize_picture(image, 736, "min")
    assert resized.shape == (736, 2208, 3)
    x, y, width, height = cv2.boundingRect((resized[..., 0] > 127).astype(np.uint8))
    found = np.float32([[x, y], [x + width, y + height]]) * scale
    np.testing.assert_allclose(found, [[120, 40], [180, 60]], atol=0.2)
