"""Quads are compared as shapely compares them, whatever the order of their corners."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from instar.tasks.text.polygons import are_inside, bounds, clockwise, quad_areas, quad_intersections, quad_iou

SQUARE = np.array([[0, 0], [4, 0], [4, 4], [0, 4]], np.float32)

# Whole numbers in a small range make collinear, repeated and touching corners common; the others do not.
small_quads = arrays(np.float32, (4, 2), elements=st.integers(0, 6).map(float))
any_quads = arrays(np.float32, (4, 2), elements=st.floats(-300, 300, width=32))
quads = small_quads | any_quads


def region(quad):
    import shapely

    return shapely.make_valid(shapely.Polygon(quad.astype(float)))


@given(quads)
def test_the_area_is_that_of_shapely(quad):
    assert quad_areas(quad[None])[0] == pytest.approx(region(quad).area, rel=1e-9, abs=1e-6)


@given(small_quads, small_quads)
def test_the_common_area_is_that_of_shapely(one, other):
    expected = region(one).intersection(region(other)).area
    assert quad_intersections(one[None], other[None])[0, 0] == pytest.approx(expected, abs=1e-9)


@given(any_quads, any_quads)
def test_the_common_area_is_that_of_shapely_at_any_place(one, other):
    # shapely itself fails on outlines with corners less than a hair apart, hence the rounding.
    one, other = np.round(one, 2), np.round(other, 2)
    expected = region(one).intersection(region(other)).area
    assert quad_intersections(one[None], other[None])[0, 0] == pytest.approx(expected, rel=1e-6, abs=1e-2)


@given(st.lists(quads, max_size=4), st.lists(quads, max_size=4))
def test_all_pairs_at_once_are_the_pairs_one_by_one(first, second):
    a, b = (np.array(some, np.float32).reshape(-1, 4, 2) for some in (first, second))
    together = quad_iou(a, b)
    assert together.shape == (len(a), len(b))
    for i, j in itertools.product(range(len(a)), range(len(b))):
        assert together[i, j] == quad_iou(a[i : i + 1], b[j : j + 1])[0, 0]


@given(quads, quads)
def test_likeness_is_mutual_and_a_share(one, other):
    there, back = quad_iou(one[None], other[None])[0, 0], quad_iou(other[None], one[None])[0, 0]
    assert 0 <= there <= 1
    assert there == pytest.approx(back, rel=1e-6, abs=1e-6)


@given(quads)
def test_a_quad_with_area_is_wholly_like_itself_and_one_without_is_like_nothing(quad):
    expected = 1.0 if quad_areas(quad[None])[0] > 1e-6 else 0.0
    if quad_areas(quad[None])[0] > 1e-6 or quad_areas(quad[None])[0] == 0:
        assert quad_iou(quad[None], quad[None])[0, 0] == pytest.approx(expected, abs=1e-6)


@given(quads, quads, st.integers(0, 3), st.booleans())
def test_neither_the_first_corner_nor_the_direction_matters(one, other, first, backwards):
    told_otherwise = np.roll(one[::-1] if backwards else one, first, axis=0)
    plain, otherwise = quad_iou(one[None], other[None]), quad_iou(told_otherwise[None], other[None])
    assert otherwise[0, 0] == pytest.approx(plain[0, 0], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (SQUARE, 1.0),
        (SQUARE[::-1], 1.0),
        (SQUARE + np.float32([2, 0]), 1 / 3),  # half of each
        (SQUARE + np.float32([4, 0]), 0.0),  # they touch along a side
        (np.array([[2, 0], [4, 2], [2, 4], [0, 2]]), 0.5),  # a diamond inside
        (np.array([[0, 0], [4, 4], [4, 0], [0, 4]]), 0.5),  # a bow tie inside: two of four triangles
        (np.array([[0, 0], [4, 0], [2, 2], [0, 4]]), 0.5),  # three corners and a dent
        (np.array([[0, 0], [4, 0], [4, 4], [4, 4]]), 0.5),  # a triangle written as a quad
        (np.array([[0, 0], [4, 0], [2, 0], [1, 0]]), 0.0),  # a line
        (np.array([[1, 1], [1, 1], [1, 1], [1, 1]]), 0.0),  # a point
    ],
)
def test_likeness_to_a_square(other, expected):
    assert quad_iou(SQUARE[None], np.asarray(other, np.float32)[None])[0, 0] == pytest.approx(
        expected, abs=1e-12
    )


def test_a_hundred_by_a_hundred_is_one_call():
    rng = np.random.default_rng(0)
    many = (rng.uniform(0, 500, (100, 1, 2)) + rng.uniform(0, 90, (100, 4, 2))).astype(np.float32)
    found = quad_iou(many, many)
    assert found.shape == (100, 100)
    assert np.diag(found) == pytest.approx(np.ones(100))


def test_none_at_all_keeps_its_shape():
    none = np.zeros((0, 4, 2), np.float32)
    assert quad_iou(none, SQUARE[None]).shape == (0, 1)
    assert quad_iou(SQUARE[None], none).shape == (1, 0)
    assert quad_areas(none).shape == (0,)
    assert bounds(none).shape == (0, 4)


def test_a_quad_told_backwards_is_turned_around_its_first_corner():
    assert clockwise(SQUARE[[0, 3, 2, 1]][None]).tolist() == [SQUARE.tolist()]
    assert clockwise(SQUARE[None]).tolist() == [SQUARE.tolist()]


@pytest.mark.parametrize(("x", "inside"), [(0, True), (-0.3, True), (-0.5, False), (9.3, True), (9.5, False)])
def test_a_quad_is_inside_with_nine_tenths_of_it(x, inside):
    assert are_inside(SQUARE[None] + np.float32([x, 0]), (20, 13)).tolist() == [inside]


def test_remembered_areas_are_nobody_elses_to_change() -> None:
    quads = np.array([[[0, 0], [2, 0], [2, 2], [0, 2]]], np.float32)
    first = quad_intersections(quads, quads)
    first[:] = -1
    assert quad_intersections(quads, quads).tolist() == [[4.0]]
    areas = quad_areas(quads)
    areas[:] = -1
    assert quad_areas(quads).tolist() == [4.0]
    quads[0, 2:] *= 2  # and what is asked next is not what was asked before
    assert quad_areas(quads).tolist() != [4.0]
